"""From the decision values of all pairs of classes to class probabilities [003: section 3]."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.texts import counted
from svmstat.calibration.coupling import couple, coupled_by_squares, pairwise
from svmstat.calibration.platt import Platt, fit_maps_without, fit_platt
from svmstat.calibration.protocol import Labelled
from svmstat.machine import Machine

_AT_ONCE = 2**22
"""Pairwise probabilities in memory at a time."""

LEAST = float(np.finfo(float).tiny)
"""A probability below this counts as this in a log-likelihood."""


@dataclass(frozen=True, slots=True, repr=False)
class Maps:
    """Platt's map of each of the P pairs, and how they are coupled.

    Attributes
    ----------
    slope, intercept : (P,) A and B; of other maps than those of the fit (..., P), as they broadcast to decision values
    converged : (P,) whether Newton's method reached the minimum
    pairs : (P, 2) the classes; the maps give the probability of the first
    totals : (K,) sums of the case weights of the classes, which may broadcast too
    coupling : "wu-lin-weng" or "hastie-tibshirani"; immaterial for two classes
    kind : which decision values the maps were fitted to, "insample", "loo" or "kfold"
    """

    slope: Floats
    intercept: Floats
    converged: NDArray[np.bool_]
    pairs: Codes
    totals: Floats
    coupling: str
    kind: str

    def __repr__(self) -> str:
        pairs = counted(len(self.pairs), "pair")
        return f"<Maps: Platt's of {pairs}, {self.kind}, coupled by {self.coupling}>"

    def with_coupling(self, coupling: str) -> "Maps":
        """The same maps, coupled in another way."""
        return replace(self, coupling=coupling)

    @property
    def alone(self) -> Platt:
        """The map of two classes."""
        return self.of_pair(0)

    def of_pair(self, p: int) -> Platt:
        """The map of one of the pairs."""
        return Platt(float(self.slope[p]), float(self.intercept[p]), bool(self.converged[p]), self.kind)

    def probabilities(self, f: Floats) -> Floats:
        """(..., K) class probabilities for decision values (..., P); NaN where one of these is."""
        if len(self.pairs) > 1:
            return coupled(f, self.slope, self.intercept, self.totals, self.coupling)
        z = self.slope * f + self.intercept
        of_pair = pairwise(z.reshape(-1, 1), 2)[:, [0, 1], [1, 0]]
        return np.asarray(of_pair[:, np.argsort(self.pairs[0])].reshape(*z.shape[:-1], 2))

    def log_likelihoods(self, f: Floats, codes: Codes) -> Floats:
        """(..., m) log p_{y_i} for decision values (..., m, P) and classes (m,); NaN for the class −1.

        Two classes lose no digits near p = 1; of more, a probability that underflows counts as 2.2e-308.
        """
        if len(self.pairs) > 1:
            return log_of_own(self.probabilities(f), codes)
        z = np.where(codes == self.pairs[0, 0], 1.0, -1.0) * (self.slope * f + self.intercept)[..., 0]
        return np.where(codes >= 0, -(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z)))), np.nan)


def fit_maps(machine: Machine, coupling: str = "wu-lin-weng", near: Maps | None = None) -> Maps:
    """Platt's map of each pair, fitted to the decision values of its own rows; ``near`` as in `fit_maps_of`."""
    return fit_maps_of(machine, machine.own_values, coupling, near=near)


def fit_maps_of(rows: Labelled, f: Floats, coupling: str, kind: str = "insample", near: Maps | None = None) -> Maps:
    """Platt's map of each pair, fitted to its own rows; of held-out values A ≤ 0, see `fit_falling_map`.

    Parameters
    ----------
    rows : classes and weights
    f : (n, P) decision values, NaN where there are none
    coupling : how the probabilities of the pairs are to be coupled
    kind : where f comes from
    near : the maps of similar values, where the search for these sets off
    """
    found = []
    for p, pair in enumerate(rows.pairs):
        y = pair.signs(rows.codes)
        known = (y != 0.0) & ~np.isnan(f[:, p])
        found.append(
            fit_platt(f[known, p], y[known], rows.weights[known], kind, None if near is None else near.of_pair(p))
        )
    slope, intercept, converged = zip(*((each.slope, each.intercept, each.converged) for each in found), strict=True)
    numbers = np.array(slope), np.array(intercept), np.array(converged)
    return Maps(*numbers, rows.classes, rows.totals, coupling, kind)


def maps_without(
    rows: Labelled, maps: Maps, f: Floats, which: Codes, copies: Floats, start: Codes | None = None
) -> Maps:
    """The maps of the fit, fitted again without the own values of some rows: slope, intercept, converged (D, P).

    Parameters
    ----------
    rows : classes and weights
    maps : what `fit_maps_of` made of f
    f : (n, P) decision values, NaN where there are none
    which : (E,) the rows that D deletions are of
    copies : (E,) how much of their weight is taken away
    start : (D + 1,) where the rows of each deletion begin; by default each row is a deletion
    """
    start = np.arange(len(which) + 1) if start is None else start
    of = np.repeat(np.arange(len(start) - 1), np.diff(start))
    shape = len(start) - 1, len(rows.pairs)
    slope, intercept = np.tile(maps.slope, (shape[0], 1)), np.tile(maps.intercept, (shape[0], 1))
    converged, totals = np.tile(maps.converged, (shape[0], 1)), np.tile(maps.totals, (shape[0], 1))
    np.subtract.at(totals, (of, rows.codes[which]), copies)
    for p, pair in enumerate(rows.pairs):
        y = pair.signs(rows.codes)
        there = np.flatnonzero((y != 0.0) & ~np.isnan(f[:, p]) & (rows.weights > 0.0))
        place = np.full(len(y), -1)
        place[there] = np.arange(len(there))
        known = place[which] >= 0
        mine, of_mine = np.unique(of[known], return_inverse=True)
        begin = np.searchsorted(of_mine, np.arange(len(mine) + 1))
        found, good = np.empty((2, len(mine))), np.empty(len(mine), bool)
        fit_maps_without(
            f[there, p], y[there], rows.weights[there], begin, place[which[known]], copies[known], maps.slope[p],
            maps.intercept[p], found, good,
        )  # fmt: skip
        slope[mine, p], intercept[mine, p], converged[mine, p] = found[0], found[1], good
    return replace(maps, slope=slope, intercept=intercept, converged=converged, totals=totals)


def coupled(f: Floats, slope: Floats, intercept: Floats, totals: Floats, method: str) -> Floats:
    """The probabilities of K classes from all their pairs i < j.

    Parameters
    ----------
    f : (..., P) decision values of the pairs
    slope, intercept : Platt's A and B, of shapes that broadcast to that of f
    totals : (..., K) weights of the classes, n_ij of the coupling being their sums; they broadcast too
    method : the coupling

    Returns
    -------
    (..., K) array
        NaN where a decision value is.

    Examples
    --------
    >>> coupled(np.array([[1.0, 2.0, 1.0]]), np.full(3, -1.0), np.zeros(3), np.ones(3), "wu-lin-weng").round(3)
    array([[0.665, 0.245, 0.09 ]])
    """
    z, n_classes = slope * f + intercept, totals.shape[-1]
    shape, z = z.shape[:-1], z.reshape(-1, z.shape[-1])
    if method == "wu-lin-weng":
        return np.asarray(coupled_by_squares(z, n_classes).reshape(*shape, n_classes))
    n = np.broadcast_to(totals, (*shape, n_classes)).reshape(-1, n_classes)
    p, size = np.empty(n.shape), max(1, _AT_ONCE // n_classes**2)
    for rows in (slice(start, start + size) for start in range(0, len(z), size)):
        p[rows] = couple(pairwise(z[rows], n_classes), method, n[rows, :, None] + n[rows, None, :])
    return p.reshape(*shape, n_classes)


def log_of_own(p: Floats, codes: Codes) -> Floats:
    """(..., m) log p_{y_i} for probabilities (..., m, K) and classes (m,); NaN for the class −1."""
    own = np.take_along_axis(p, np.broadcast_to(codes[:, None], (*p.shape[:-1], 1)), axis=-1)[..., 0]
    return np.where(codes >= 0, np.log(np.maximum(own, LEAST)), np.nan)
