"""What a machine predicts for rows that it has not seen, from nothing but how its probabilities are made."""

from dataclasses import dataclass

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import Calibration, Maps, fit_calibration, fit_maps
from svmstat.machine import Machine, vote
from svmstat.resampling.leave_one_out import LeaveOneOut, held_out_values, leave_one_out
from svmstat.resampling.splits import stratified
from svmstat.resampling.unseen import (
    BY_LEAVING_OUT,
    FOLDS,
    MAP_FOLDS,
    Unseen,
    fold_values,
    mapped_by_others,
    unseen,
    unseen_by_folds,
)


@dataclass(frozen=True, slots=True)
class How:
    """How the probabilities of a fit are made.

    Attributes
    ----------
    coupling : how those of the pairs of classes are coupled
    kind : which decision values the maps are fitted to, "insample", "loo", "kfold", "venn-abers"
    folds : into how many folds rows are held out; None where each is left out on its own, as it is for "loo"
    """

    coupling: str
    kind: str
    folds: int | None = None


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a fit says of its rows.

    Attributes
    ----------
    machine : the fit
    insample : the maps of its own decision values
    maps : those that its probabilities are by
    unseen : held-out predictions
    left : the leave-one-out with all that it says of the other rows, where that was asked for
    """

    machine: Machine
    insample: Maps
    maps: Calibration
    unseen: Unseen
    left: LeaveOneOut | None = None

    @property
    def deviance(self) -> float:
        """D, by the in-sample maps."""
        each = self.insample.log_likelihoods(self.machine.group_values, self.machine.group_codes)
        return float(-2.0 * self.machine.groups.weights @ each)

    @property
    def probability(self) -> Floats:
        """(G, K) that the fit reports."""
        return self.maps.probabilities(self.machine.group_values)


def predicted(machine: Machine, how: How, influence: bool = False) -> Predicted | None:
    """Maps and held-out predictions of a fit whose weights are whole numbers, none of them zero.

    Parameters
    ----------
    machine : the fit
    how : how its probabilities are made
    influence : whether the leave-one-out is to say what it does to the other rows

    Returns
    -------
    Predicted
        None where a map does not converge or a row cannot be held out.
    """
    insample = fit_maps(machine, how.coupling)
    if not insample.converged.all():
        return None
    left, found, by = None, None, None
    maps: Calibration = insample
    whole = how.kind == "insample" or machine.units is not None
    if influence or (whole and how.folds is None):
        left = leave_one_out(machine, insample, influence=influence, at_once=True, n_jobs=1)
        found = unseen(machine, left, insample, None)
    elif how.folds is None:
        found = _values(machine)
    if how.kind == "kfold" or found is None:
        by = None if how.kind == "insample" else fold_values(machine, how.coupling, MAP_FOLDS)
    elif how.kind in BY_LEAVING_OUT:
        by = found.decision_values
    if by is not None:
        if np.isnan(by).any():
            return None
        maps = fit_calibration(machine, by, how.coupling, how.kind)
    if found is None:
        found = unseen_by_folds(machine, maps, by, stratified(machine, how.folds or FOLDS), n_jobs=1)
    elif by is not None:
        found = mapped_by_others(machine, found, maps, by)
    bad = found.failed.any() or not maps.converged.all()
    return None if bad else Predicted(machine, insample, maps, found, left)


def held_out_score(how: How, machine: Machine, point: Codes, rng: np.random.Generator) -> float | None:
    """−2 Σ w log π of a fit; None where a row cannot be held out."""
    del point, rng  # a score does not care where rows are
    found = predicted(machine, how)
    return None if found is None else float(-2.0 * machine.weights @ found.unseen.log_likelihood)


def _values(machine: Machine) -> Unseen:
    """The held-out decision values, without probabilities."""
    found, of_row = held_out_values(machine), machine.groups.of_row
    values = found.decision_values[of_row]
    nothing = np.full(len(values), np.nan)
    K = machine.n_classes
    winner = vote(values, machine.classes)
    return Unseen(values, np.tile(nothing[:, None], K), nothing, winner, ~found.certified[of_row])
