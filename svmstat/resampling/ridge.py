"""Kernel ridge regression: what it misses of rows that it has not seen, in closed form."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.kernels import RBF, Kernel, Sum
from svmstat.kernels.gamma import typical_distance
from svmstat.objective.units import Units

MOST_ROWS = 2000
"""Of more different rows the kernel is that of some of them, its landmarks."""

LANDMARKS = 500
"""Of more rows a sum of kernels of single columns, which has few directions, is that of so many at once."""

_ROWS_OF_A_CURVE = 10
"""Fewer rows for each column tell nothing of a curve over each: then no sum of their kernels is tried."""

_NOTHING = 1e-200
"""The largest value of a spectrum that has none."""

_PENALTIES = np.logspace(0.5, -8.0, 18)
"""λ as parts of the largest eigenvalue."""

_RANK = 1e-14
"""Smaller eigenvalues, as parts of the largest one, are taken for rounding."""

_RANK_OF_LANDMARKS = 1e-10
"""The same of the kernel of the landmarks, by the roots of which their features are divided."""

_SEED = 0
"""The landmarks are the same whenever they are asked for."""


class _Spectrum(NamedTuple):
    """The kernel of S rows of weight w, centred by w, with √w on both sides: vectors diag(values) vectors'."""

    values: Floats
    vectors: Floats


def left_out_residuals(points: Floats, targets: Floats, weights: Floats, units: Units | None = None) -> Floats:
    """y_k less the prediction of kernel ridge regression without row k, or its unit, for each of some targets.

    f = m + h minimises Σ w (y − f(x))² + λ‖h‖² for an rbf kernel of width 1/median ‖x − x'‖². λ is the one, of
    eighteen, for which Σ w e² over rows and targets is least. Without a copy of row k, e_k = r_k / (1 − c H_kk / w_k),
    where H takes targets to their fit, r = y − H y and c = min(w_k, 1). Without a unit of rows √w e = (I − H̃)⁻¹ √w r of
    these, with H̃ = √w H/√w.

    Parameters
    ----------
    points : (n, p) different rows, or rows with different targets; p = 0 for the mean alone
    targets : (n, q)
    weights : (n,) positive, as repeats
    units : what is left out together; None for one copy of a row

    Returns
    -------
    ndarray (n, q)

    Examples
    --------
    >>> left_out_residuals(np.empty((3, 0)), np.array([[1.0], [2.0], [6.0]]), np.ones(3)).ravel()
    array([-3. , -1.5,  4.5])
    """
    spectrum = next(_spectra(points, weights))
    missed = _missed(_centred(targets, weights), spectrum, weights, units)
    best = min(map(missed, _shrunk(spectrum)), key=lambda e: float((e**2).sum()))
    return np.asarray(best / np.sqrt(weights)[:, None])


def canonical_residuals(points: Floats, targets: Floats, weights: Floats, units: Units | None = None) -> Floats:
    """The same with a kernel and a λ for each canonical direction of targets of mean square one, uncorrelated.

    These are the eigenvectors of Σ w e e' by the one pair for which its trace is least, from what the points tell most
    of to what they tell least of, as [Breiman & Friedman 1997] shrink each canonical coordinate for itself: one λ for
    all would follow a curve in some direction as little as the noise in the others. Three kernels are tried, since few
    rows tell little of a function of several columns at once: the rbf kernel of all, the sum of those of each, of width
    one over its variance, where there are several columns, but not more than a tenth of the rows, and the linear
    kernel. If the targets are turned, the residuals turn with them.

    Returns
    -------
    ndarray (n, q), of the targets themselves

    Examples
    --------
    >>> x, others = np.arange(6.0)[:, None], np.array([[0.0], [1.0], [0.0], [1.0], [0.0], [2.0]])
    >>> missed = [find(others, x, np.ones(6)) for find in (canonical_residuals, left_out_residuals)]
    >>> bool((missed[0] ** 2).sum() <= (missed[1] ** 2).sum())
    True
    """
    y = _centred(targets, weights)
    every = [
        (_missed(y, spectrum, weights, units), shrunk)
        for spectrum in _spectra(points, weights)
        for shrunk in _shrunk(spectrum)
    ]
    scatter = np.array([e.T @ e for e in (missed(shrunk) for missed, shrunk in every)])
    directions = np.linalg.eigh(scatter[scatter.trace(axis1=1, axis2=2).argmin()])[1]
    chosen = np.einsum("kij,ia,ja->ka", scatter, directions, directions).argmin(axis=0)
    e = np.zeros_like(targets)
    for k in np.unique(chosen):
        of, (missed, shrunk) = directions[:, chosen == k], every[k]
        e += missed(shrunk) @ of @ of.T
    return np.asarray(e / np.sqrt(weights)[:, None])


def _centred(targets: Floats, w: Floats) -> Floats:
    return np.asarray(np.sqrt(w)[:, None] * (targets - np.average(targets, axis=0, weights=w)))


def _shrunk(spectrum: _Spectrum) -> Iterator[Floats]:
    """What is left of each direction of the spectrum, λ by λ."""
    for penalty in _PENALTIES * spectrum.values.max(initial=_NOTHING):
        yield spectrum.values / (spectrum.values + penalty)


def _missed(y: Floats, spectrum: _Spectrum, w: Floats, units: Units | None) -> Callable[[Floats], Floats]:
    """√w e of √w y without a copy of each row, or its unit, by what is left of each direction of the spectrum."""
    vectors, projected = spectrum.vectors, spectrum.vectors.T @ y
    share, root = np.minimum(w, 1.0) / w, np.sqrt(w)[:, None]

    def by(shrunk: Floats) -> Floats:
        missed = y - vectors @ (shrunk[:, None] * projected)
        if units is None:
            of_itself = w / w.sum() + np.einsum("ij,ij,j->i", vectors, vectors, shrunk)
            return np.asarray(missed / (1.0 - share * of_itself)[:, None])
        for rows in units:
            V, r = vectors[rows], root[rows]
            missed[rows] = np.linalg.solve(np.eye(len(rows)) - r @ r.T / w.sum() - (V * shrunk) @ V.T, missed[rows])
        return missed

    return by


def _spectra(points: Floats, w: Floats) -> Iterator[_Spectrum]:
    """Of the rbf kernel of all columns; then of a sum of kernels of single columns, and of the linear kernel."""
    points = points[:, (points != points[:1]).any(axis=0)]
    S, p = points.shape
    if p == 0:
        yield _Spectrum(np.empty(0), np.empty((S, 0)))
        return
    sizes = np.frexp(np.ptp(points, axis=0))[1]  # taken out, the squares of distances are within range
    joint, columns = np.ldexp(points, -sizes.max()), np.ldexp(points, -sizes)
    yield _spectrum(RBF(1.0 / typical_distance(joint, w)), joint, w, MOST_ROWS)
    columns -= np.average(columns, axis=0, weights=w)
    columns /= np.sqrt(np.average(columns**2, axis=0, weights=w))
    if 1 < p <= w.sum() / _ROWS_OF_A_CURVE:
        yield _spectrum(Sum(tuple(RBF(1.0).on(j) for j in range(p))), columns, w, LANDMARKS)
    yield _of_features(np.sqrt(w)[:, None] * columns)


def _spectrum(kernel: Kernel, points: Floats, w: Floats, most: int) -> _Spectrum:
    """The eigenvalues that are no rounding, and their vectors (S, r); by landmarks of more than so many rows."""
    S, root = len(points), np.sqrt(w)[:, None]
    if most >= S:
        K = kernel(points, points)
        means = K @ w / w.sum()
        K += (w @ means) / w.sum() - means[:, None] - means
        return _kept(*np.linalg.eigh(root * K * root.T))
    some = np.sort(np.random.default_rng(_SEED).choice(S, LANDMARKS, replace=False, p=w / w.sum()))
    inner = _kept(*np.linalg.eigh(kernel(points[some], points[some])), _RANK_OF_LANDMARKS)
    features = kernel(points, points[some]) @ (inner.vectors / np.sqrt(inner.values))
    return _of_features(root * (features - np.average(features, axis=0, weights=w)))


def _of_features(features: Floats) -> _Spectrum:
    """That of features features', by the smaller of the two products."""
    S, r = features.shape
    if r > S:
        return _kept(*np.linalg.eigh(features @ features.T))
    inner = _kept(*np.linalg.eigh(features.T @ features), _RANK_OF_LANDMARKS)
    return _Spectrum(inner.values, features @ (inner.vectors / np.sqrt(inner.values)))


def _kept(values: Floats, vectors: Floats, rank: float = _RANK) -> _Spectrum:
    kept = values > rank * values[-1]
    return _Spectrum(values[kept], vectors[:, kept])
