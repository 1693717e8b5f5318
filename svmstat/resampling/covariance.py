"""Do residuals of y and of x given all else go together? A sum of squares by the generalised covariance measure.

Shah & Peters (2020) take the largest of the single statistics; both need regressions that are near the conditional
means.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.special import chdtrc

from svmstat._tools.arrays import Floats
from svmstat._tools.repeats import distinct_rows
from svmstat.objective.units import Units
from svmstat.resampling.ridge import canonical_residuals, left_out_residuals

LEAST_ROWS = 10
"""Of each degree of freedom, below which χ² is no approximation."""

_RANK = 1e-8
"""Singular values below, as parts of the largest one, are taken for rounding."""

_UNEXPLAINED = 1e-4
"""A part of the variance that is taken for what kernel ridge regression misses of a function of the others."""

_MOST_KNOWN = 0.5
"""Others that are more, as a share of the rows, are linear functions of which no row tells anything."""

_FEWER = 1e-10
"""A share of the largest variance of products, each in units of its own, below which one does not vary."""

_ALIKE = "what its columns and the response have in common does not vary in all directions, as where they tell a level"
ARE_CONSTANT = "its columns are constant in these rows"
_FUNCTIONS = "its columns are functions of the other predictors"


@dataclass(frozen=True, slots=True)
class Dependence:
    """A test that the response does not depend on some columns, given the others.

    Attributes
    ----------
    statistic : T, asymptotically χ² with ``df`` degrees of freedom if it does not and the regressions are right; NaN
        where it cannot be tested
    df : q (L − 1) for L levels
    pvalue : P(χ² ≥ T)
    concurvity : the part of the variance of the columns that the others explain, of rows not seen: where it is near one
        there is little left of them that could be seen to matter
    why_not : why it cannot be tested, empty if it was
    """

    statistic: float
    df: int
    pvalue: float
    concurvity: float
    why_not: str = ""


def untested(df: int, why: str, concurvity: float = np.nan) -> Dependence:
    """What is known where there is no test."""
    return Dependence(np.nan, df, np.nan, concurvity, why)


def generalised_covariance(
    residuals: Floats, columns: Floats, others: Floats, weights: Floats, units: Units | None = None
) -> Dependence:
    """The test for some columns of a design, the residuals of the response being given.

    w_k = vec(r_k e_k'), with e_k the residuals of an orthonormal basis of the columns by kernel ridge regression on the
    others without row k, in canonical directions, so that neither units nor reference levels matter; T = n w̄' Ŝ⁻¹ w̄,
    where Ŝ is the covariance matrix (divisor n) of the w_k. Directions of the basis that are sums of the others do not
    count (`outside`). Where there are units the e are residuals without the unit, and n Ŝ is the sum of the products of
    the sums of each unit, which alone are independent: T is χ² for many units, whatever goes on within.

    Parameters
    ----------
    residuals : (n, L) 1{y = level} − π of all L levels, by a fit without the columns that has not seen the row
    columns : (n, c) a single one that has more than two values counts with its square
    others : (n, p)
    weights : (n,) positive, as repeats
    units : what is independent; None for copies of rows

    Returns
    -------
    Dependence
    """
    apart = [] if units is None else [units.of_row[:, None].astype(float)]
    rows = distinct_rows(np.hstack([columns, others, *apart]), weights)
    columns, others = columns[rows.first], others[rows.first]
    around = _centred(columns, rows.weights)
    basis = orthonormal(np.hstack([around, around**2]) if columns.shape[1] == 1 else around, rows.weights)
    own = outside(basis, _functions(others, columns), rows.weights)
    held = None if units is None else units.among(rows.first)
    n, df = float(weights.sum()), own.shape[1] * (residuals.shape[1] - 1)
    if columns.shape[1] > 0 and basis.shape[1] == 0:
        return untested(df, ARE_CONSTANT)
    if df == 0:
        return untested(df, _FUNCTIONS, 1.0)
    count, what = (n, "rows") if units is None else (units.count, "groups" if units.grouped else "rows")
    fewer = f"fewer than {LEAST_ROWS} for {f'each of {df} degrees' if df > 1 else 'one degree'} of freedom"
    if count < LEAST_ROWS * df:
        return untested(df, f"{count:.6g} {what} are {fewer}")
    if units is not None and not units.grouped and (alike := units.alike(weights)) < LEAST_ROWS * df:
        return untested(df, f"by their weights the rows count as about {alike:.3g} [Kish 1965], {fewer}")
    e = canonical_residuals(others, own, rows.weights, held)[rows.of_row]
    alone = left_out_residuals(others[:, :0], own, rows.weights, held)[rows.of_row]
    missed = eigh((weights * e.T) @ e, (weights * alone.T) @ alone, eigvals_only=True)
    concurvity = 1.0 - float(missed.sum()) / basis.shape[1]
    if missed[0] < _UNEXPLAINED:
        return untested(df, _FUNCTIONS, concurvity)
    products = (residuals[:, 1:, None] * e[:, None, :]).reshape(len(e), df)
    mean = np.average(products, axis=0, weights=weights)
    centred = products - mean
    if units is None:
        scatter = (weights * centred.T) @ centred
    else:
        sums = units.sums(weights[:, None] * centred)
        scatter = sums.T @ sums
    root = np.sqrt(scatter.diagonal())
    if not root.all() or eigh(scatter / np.outer(root, root), eigvals_only=True)[0] < _FEWER:
        return untested(df, _ALIKE, concurvity)
    statistic = float(n * mean @ np.linalg.solve(scatter / n, mean))
    return Dependence(statistic, df, float(chdtrc(df, statistic)), concurvity)


def _functions(others: Floats, columns: Floats) -> Floats:
    """The others (n, p), and their squares beside a column that counts with its square, unless they are too many."""
    if columns.shape[1] > 1 or 2 * LEAST_ROWS * others.shape[1] > len(others):
        return others
    return np.hstack([others, others**2])


def orthonormal(columns: Floats, weights: Floats) -> Floats:
    """(n, r) a basis of the centred columns (n, c), of mean square one and uncorrelated.

    Examples
    --------
    >>> orthonormal(np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]), np.ones(4)).round(6).ravel() ** 2
    array([1., 1., 1., 1.])
    """
    root = np.sqrt(weights / weights.sum())[:, None]
    centred = _centred(columns, weights)
    centred = centred[:, centred.any(axis=0)]
    if centred.shape[1] == 0:
        return centred
    centred /= np.sqrt((root**2 * centred**2).sum(axis=0))
    vectors, values, _ = np.linalg.svd(root * centred, full_matrices=False)
    return np.asarray(vectors[:, values > _RANK * values[0]] / root)


def _centred(columns: Floats, weights: Floats) -> Floats:
    """Columns (n, c) less their means, each in units of its largest value, so that no square of one is out of range."""
    centred = columns - np.average(columns, axis=0, weights=weights)
    largest = np.abs(centred).max(axis=0)
    return np.asarray(centred / np.where(largest > 0.0, largest, 1.0))


def outside(basis: Floats, others: Floats, weights: Floats) -> Floats:
    """The part (n, q) of the space of an `orthonormal` basis (n, r) that is no linear function of the others (n, p).

    Of a direction of which linear functions of the others leave less than 0.01 % of the variance, as of the sum over g
    of the columns of x:g beside x, kernel ridge regression would leave its own error, and T would count it. Where the
    others are more than half as many as the rows every column is nearly such a function: then all directions stay.

    Examples
    --------
    >>> levels, group = np.repeat(np.eye(4), 5, axis=0), np.repeat([[0.0], [1.0]], 10, axis=0)
    >>> outside(orthonormal(levels, np.ones(20)), group, np.ones(20)).shape
    (20, 2)
    """
    root = np.sqrt(weights / weights.sum())[:, None]
    left, known = root * basis, root * orthonormal(others, weights)
    if known.shape[1] > _MOST_KNOWN * weights.sum():
        return basis
    left -= known @ (known.T @ left)
    _, values, directions = np.linalg.svd(left, full_matrices=False)
    return np.asarray(basis @ directions[values**2 > _UNEXPLAINED].T)


def holm(pvalues: Floats) -> Floats:
    """p-values adjusted for their number by the steps of Holm (1979); NaN do not count.

    Examples
    --------
    >>> holm(np.array([0.01, np.nan, 0.04, 0.03]))
    array([0.03,  nan, 0.06, 0.06])
    """
    adjusted = np.full(len(pvalues), np.nan)
    order = np.argsort(pvalues)[: np.count_nonzero(~np.isnan(pvalues))]
    steps = pvalues[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
