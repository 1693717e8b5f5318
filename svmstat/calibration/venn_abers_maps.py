"""Venn–Abers probabilities of all pairs of classes, coupled as Platt's are.

A Venn–Abers probability is Platt's with A = −1 and B = 0 at its log odds; there is one coupling for both.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.texts import counted
from svmstat.calibration.maps import Maps, fit_maps_of
from svmstat.calibration.protocol import Calibration, Labelled
from svmstat.calibration.venn_abers import KIND, Bounds, Odds, VennAbers, fit_venn_abers, held_out, held_out_units
from svmstat.machine import Machine
from svmstat.objective.units import Units


@dataclass(frozen=True, slots=True, repr=False)
class VennAbersMaps:
    """The Venn–Abers probabilities of each of the P pairs, and how they are coupled.

    Attributes
    ----------
    each : length P
    pairs : (P, 2) the classes; the maps give the probability of the first
    totals : (K,) sums of the case weights of the classes
    coupling : "wu-lin-weng" or "hastie-tibshirani"; immaterial for two classes
    """

    each: tuple[VennAbers, ...]
    pairs: Codes
    totals: Floats
    coupling: str

    def __repr__(self) -> str:
        return f"<VennAbersMaps: {counted(len(self.each), 'pair')}, coupled by {self.coupling}>"

    @property
    def kind(self) -> str:
        """The name of the maps."""
        return KIND

    @property
    def converged(self) -> NDArray[np.bool_]:
        """(P,) all True: nothing is iterated."""
        return np.ones(len(self.each), dtype=bool)

    @property
    def alone(self) -> VennAbers:
        """The map of two classes."""
        return self.each[0]

    def with_coupling(self, coupling: str) -> "VennAbersMaps":
        """The same maps, coupled in another way."""
        return replace(self, coupling=coupling)

    def odds(self, f: Floats) -> Odds:
        """1 − p₀ and p₁ (..., P) of the first class of each pair for decision values (..., P)."""
        found = [each.odds(f[..., p]) for p, each in enumerate(self.each)]
        return Odds(*(np.stack(some, axis=-1) for some in zip(*found, strict=True)))

    def bounds(self, f: Floats) -> Bounds:
        """p₀ and p₁ (..., P) of the first class of each pair, which of two is the event, for decision values (..., P).

        Bounds of calibration; they are no confidence interval.
        """
        return self.odds(f).bounds

    def probabilities(self, f: Floats) -> Floats:
        """(..., K) class probabilities for decision values (..., P); NaN where one of these is."""
        return _coupler(self.pairs, self.totals, self.coupling).probabilities(self.odds(f).logit)

    def log_likelihoods(self, f: Floats, codes: Codes) -> Floats:
        """(..., m) log p_{y_i} for decision values (..., m, P) and classes (m,), finite; NaN for the class −1."""
        return _coupler(self.pairs, self.totals, self.coupling).log_likelihoods(self.odds(f).logit, codes)


@dataclass(frozen=True, slots=True)
class HeldOutProbabilities:
    """What the maps of the other rows say of each of n rows.

    Attributes
    ----------
    probability : (n, K)
    log_likelihood : (n,) log π_{y_k}
    """

    probability: Floats
    log_likelihood: Floats


def fit_venn_abers_maps(
    rows: Labelled, f: Floats, coupling: str = "wu-lin-weng", resolution: Floats | float = 0.0
) -> VennAbersMaps:  # fmt: skip
    """The Venn–Abers map of each pair, by its own rows.

    Parameters
    ----------
    rows : classes and weights
    f : (n, P) leave-one-out decision values, NaN where there are none
    coupling : how their probabilities are to be coupled
    resolution : (P,) or one, differences of other decision values from these up to this mean nothing
    """
    each, fine = [], np.broadcast_to(resolution, len(rows.pairs)).tolist()
    for p, pair in enumerate(rows.pairs):
        y = pair.signs(rows.codes)
        each.append(fit_venn_abers(f[y != 0.0, p], y[y != 0.0], rows.weights[y != 0.0], fine[p]))
    return VennAbersMaps(tuple(each), rows.classes, rows.totals, coupling)


def fit_calibration(machine: Machine, f: Floats, coupling: str, kind: str) -> Calibration:
    """The maps of a kind, of the held-out decision values f (n, P) of a machine."""
    if kind == KIND:
        return fit_venn_abers_maps(machine, f, coupling, machine.resolution)
    return fit_maps_of(machine, f, coupling, kind)


def held_out_venn_abers(
    rows: Labelled, f: Floats, coupling: str = "wu-lin-weng", by: Floats | None = None
) -> HeldOutProbabilities:
    """The Venn–Abers probabilities of each row by the other rows; arguments as in `fit_venn_abers_maps`.

    A row of weight w loses min(w, 1), that is one copy, or its unit. The pairs that do not hold its class lose nothing.
    Values ``by`` (n, P) of which the maps are made, if they are not f, are those of the fit for some pairs.
    """
    by = f if by is None else by
    odds = fit_venn_abers_maps(rows, by, coupling).odds(f)
    units = rows.units
    for p, pair in enumerate(rows.pairs):
        y = pair.signs(rows.codes)
        own = y != 0.0
        if not np.array_equal(by[:, p], f[:, p], equal_nan=True):
            for some in np.flatnonzero(own)[:, None] if units is None else units:
                kept = rows.weights.copy()
                kept[some] = np.maximum(kept[some] - 1.0, 0.0) if units is None else 0.0
                odds.other[some, p], odds.event[some, p] = _by_weights(by[:, p], f[some, p], y, kept)
            continue
        if units is None:
            found = held_out(f[own, p], y[own], rows.weights[own])
        else:
            found = held_out_units(f[own, p], y[own], rows.weights[own], units.among(own))
        odds.other[own, p], odds.event[own, p] = found
        if units is not None and len(rows.pairs) > 1:
            _of_other_classes(f[:, p], y, rows.weights, units, odds.other[:, p], odds.event[:, p])
    known = np.flatnonzero(rows.codes >= 0)
    if units is None:
        totals = np.tile(rows.totals, (len(f), 1))
        totals[known, rows.codes[known]] -= np.minimum(rows.weights[known], 1.0)
    else:
        members = np.zeros((len(f), len(rows.totals)))
        members[known, rows.codes[known]] = rows.weights[known]
        totals = units.others(members)
    coupler = _coupler(rows.classes, totals, coupling)
    logit = odds.logit
    return HeldOutProbabilities(coupler.probabilities(logit), coupler.log_likelihoods(logit, rows.codes))


def _by_weights(by: Floats, at: Floats, y: Floats, weights: Floats) -> Odds:
    """What the map of a pair (y not 0) by values (n,) of these weights says at values (m,); NaN if all are zero."""
    own = y != 0.0
    if not weights[own].any():
        return Odds(np.full(len(at), np.nan), np.full(len(at), np.nan))
    return fit_venn_abers(by[own], y[own], weights[own]).odds(at)


def _of_other_classes(f: Floats, y: Floats, weights: Floats, units: Units, other: Floats, event: Floats) -> None:
    """Overwrite what rows of other classes than the pair's (y = 0) have, where their unit holds some of the pair."""
    for rows in units:
        beside, inside = rows[y[rows] == 0.0], rows[y[rows] != 0.0]
        if len(beside) and len(inside):
            kept = weights.copy()
            kept[inside] = 0.0
            other[beside], event[beside] = _by_weights(f, f[beside], y, kept)


def _coupler(pairs: Codes, totals: Floats, coupling: str) -> Maps:
    """The maps from log odds to probabilities, Platt's with A = −1 and B = 0."""
    P = len(pairs)
    return Maps(np.full(P, -1.0), np.zeros(P), np.ones(P, dtype=bool), pairs, totals, coupling, KIND)
