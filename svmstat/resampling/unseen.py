"""What is said of each row by fits, and by maps from decision values to probabilities, that have not seen it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import (
    VENN_ABERS,
    Calibration,
    Labelled,
    Maps,
    fit_calibration,
    fit_maps_of,
    held_out_venn_abers,
    maps_without,
)
from svmstat.machine import Machine, vote
from svmstat.resampling.deletions import different_deletions
from svmstat.resampling.folds import FoldFits, hold_out
from svmstat.resampling.leave_one_out import LeaveOneOut
from svmstat.resampling.loops import Outlook, run_pieces
from svmstat.resampling.splits import Splits, stratified

MOST_LEFT_OUT = 5000
"""Of more rows none is left out on its own unless that is asked for."""

FOLDS = 10
"""In which rows are held out where they are not left out one by one."""

MAP_FOLDS = 5
"""Those of calibration="kfold"."""

BY_LEAVING_OUT = ("loo", VENN_ABERS)
"""The kinds of maps that are fitted to leave-one-out values."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Held-out predictions of n rows. A row of weight zero, which no fit has seen, has those of the fit.

    Attributes
    ----------
    decision_values : (n, P) f(x_k) by a fit without row k; NaN where that has lost a class
    probability : (n, K) π_k, by a map without row k too
    log_likelihood : (n,) log π_k[y_k]
    winner : (n,) the class that is predicted, −1 where there is none
    failed : (n,) whether the fit is not certified, has lost a class, or the map did not converge
    folds : what they were, None where every row or unit was left out on its own
    """

    decision_values: Floats
    probability: Floats
    log_likelihood: Floats
    winner: Codes
    failed: NDArray[np.bool_]
    folds: str | None = None


class Part(NamedTuple):
    """What a fit says of the m rows of which it has a share among those that it has not seen; as in `Unseen`.

    Attributes
    ----------
    decision_values : (m, P)
    probability : (m, K)
    log_likelihood : (m,)
    failed : (m,)
    """

    decision_values: Floats
    probability: Floats
    log_likelihood: Floats
    failed: NDArray[np.bool_]


class Fitted(NamedTuple):
    """Maps, and what they were fitted to.

    Attributes
    ----------
    maps : Calibration
    by : (n, P) held-out decision values; None for those of the fit
    own : (P,) pairs of which a class has no such values, so that those of the fit take their place
    """

    maps: Calibration
    by: Floats | None
    own: NDArray[np.bool_]


def unseen(machine: Machine, left: LeaveOneOut, maps: Calibration, by: Floats | None) -> Unseen:
    """By the leave-one-out.

    Parameters
    ----------
    machine : the fit to all n rows
    left : its leave-one-out
    maps : the maps that the fit reports
    by : (n, P) the held-out decision values to which they were fitted: π_k is by the map of those of the other rows. If
        None, the maps are those of the fit's own decision values, and π_k is by that of the fit without row k

    Returns
    -------
    Unseen
    """
    found = Unseen(left.decision_values, left.probability, left.log_likelihood, left.winner, left.failed)
    return found if by is None else mapped_by_others(machine, found, maps, by)


def unseen_by_folds(
    machine: Machine, maps: Calibration, by: Floats | None, splits: Splits, n_jobs: int | None = None,
    progress: bool = False,
) -> Unseen:  # fmt: skip
    """By folds; other arguments as in `unseen`.

    A row that no fold predicts is NaN, and has failed; of one that is divided among folds it is the mean over its
    cases.
    """
    parts, resolution = [], np.zeros(machine.decision_values.shape)
    for rows, place, part in _by_folds(machine, maps.coupling, splits, by is None, n_jobs, progress):
        values = part.decision_values[:, place]
        resolution[rows] = np.maximum(resolution[rows], part.resolution[0])
        lost = ~part.certified[0] | np.isnan(values[0]).any(axis=1)
        said = np.full((len(rows), machine.n_classes), np.nan), np.full(len(rows), np.nan)
        if by is None:
            lost |= ~part.calibrated[0]
            said = part.maps.probabilities(values)[0], part.log_likelihood[0, place]
        parts.append(Part(values[0], *said, lost))
    found = averaged(machine, splits, parts, resolution, lambda: maps)
    return found if by is None else mapped_by_others(machine, found, maps, by)


def averaged(
    machine: Machine, splits: Splits, parts: Sequence[Part], resolution: Floats, maps: Callable[[], Calibration]
) -> Unseen:
    """What fits say of rows that they have not seen, by their shares in these.

    Parameters
    ----------
    machine : the fit to all n rows
    splits : what each of the fits holds out
    parts : what they say, fit by fit
    resolution : (P,) or (n, P) what their decision values are sure to
    maps : those of the fit, which with its decision values speak for rows of weight zero

    Returns
    -------
    Unseen
        NaN, and failed, for a row of positive weight that no fit predicts.
    """
    n, K, P = len(machine.codes), machine.n_classes, len(machine.pairs)
    f, probability, logs = np.full((n, P), np.nan), np.full((n, K), np.nan), np.full(n, np.nan)
    failed = splits.never(machine.weights)
    weightless = np.flatnonzero(machine.weights == 0.0)
    if len(weightless):
        f[weightless] = machine.decision_values[weightless]
        probability[weightless] = maps().probabilities(f[weightless])
        logs[weightless] = maps().log_likelihoods(f[weightless], machine.codes[weightless])
    for (rows, _), part in zip(splits.shares, parts, strict=True):
        failed[rows] |= part.failed
    f = machine.tied(_means(f, splits, [part.decision_values for part in parts]), resolution)
    return Unseen(
        f,
        _means(probability, splits, [part.probability for part in parts]),
        _means(logs, splits, [part.log_likelihood for part in parts]),
        vote(f, machine.classes),
        failed,
        splits.how,
    )


def _means(own: Floats, splits: Splits, parts: Sequence[Floats]) -> Floats:
    """(n, …) the numbers of the fits (m, …), by their shares in their rows; of rows that none predicts their own."""
    found = own.copy()
    found[splits.fold >= 0] = 0.0
    for (rows, share), part in zip(splits.shares, parts, strict=True):
        found[rows] += share.reshape(-1, *(1,) * (own.ndim - 1)) * part
    return found


def mapped_log_likelihoods(rows: Labelled, f: Floats, coupling: str, kind: str) -> Floats:
    """(n,) log π_k[y_k] for held-out values f (n, P), each by the map of the others; NaN where that did not converge.

    Rows have positive weight, and none is a copy of another.
    """
    if kind == VENN_ABERS:
        return held_out_venn_abers(rows, f, coupling).log_likelihood
    maps = fit_maps_of(rows, f, coupling, kind)
    if rows.units is None:
        own = maps_without(rows, maps, f, np.arange(len(f)), np.minimum(rows.weights, 1.0))
    else:
        which, start = rows.units.rows()
        of_unit = maps_without(rows, maps, f, which, rows.weights[which], start)
        at = rows.units.of_row
        own = replace(
            of_unit, slope=of_unit.slope[at], intercept=of_unit.intercept[at], converged=of_unit.converged[at],
            totals=of_unit.totals[at],
        )  # fmt: skip
    return np.where(own.converged.all(axis=1), own.log_likelihoods(f, rows.codes), np.nan)


def held_out_maps(machine: Machine, insample: Maps, kind: str, left: Callable[[], LeaveOneOut]) -> Fitted:
    """The maps of a kind for a machine, which need its leave-one-out for "loo" and "venn-abers"."""
    if kind == "insample":
        return Fitted(insample, None, np.zeros(len(machine.pairs), bool))
    by = fold_values(machine, insample.coupling, MAP_FOLDS) if kind == "kfold" else left().decision_values
    own = _one_sided(machine, by)
    by = np.where(own, machine.decision_values, by)
    return Fitted(fit_calibration(machine, by, insample.coupling, kind), by, own)


def _one_sided(machine: Machine, f: Floats) -> NDArray[np.bool_]:
    """(P,) whether a class of a pair has no values among f (n, P)."""
    there = ~np.isnan(f) & (machine.weights > 0)[:, None]
    signs = np.where(there, machine.signs, 0.0)
    return np.asarray(~((signs > 0).any(axis=0) & (signs < 0).any(axis=0)))


def fold_values(machine: Machine, coupling: str, folds: int) -> Floats:
    """(n, P) decision values by stratified folds, each by the fit to the others; NaN where that has lost a class."""
    splits = stratified(machine, folds if machine.units is None else min(folds, machine.units.count))
    parts, resolution = [], np.zeros(machine.decision_values.shape)
    for rows, place, part in _by_folds(machine, coupling, splits, with_maps=False):
        parts.append(part.decision_values[0, place])
        resolution[rows] = np.maximum(resolution[rows], part.resolution[0])
    return machine.tied(_means(machine.decision_values, splits, parts), resolution)


def _by_folds(
    machine: Machine, coupling: str, splits: Splits, with_maps: bool, n_jobs: int | None = None, progress: bool = False
) -> Iterator[tuple[Codes, Codes, FoldFits]]:
    """The rows that each fit predicts, their places among the groups that it does not see, and what it says of these.

    The groups are those of equal rows.
    """
    machine.keep_all_rows()
    aways = list(splits.left_out(machine))
    pieces = [(machine, away, [machine.C], coupling, with_maps) for away in aways]
    parts = run_pieces(hold_out, pieces, n_jobs=n_jobs, progress=progress, what=splits.how, outlook=Outlook())
    for (rows, _), away, part in zip(splits.shares, aways, parts, strict=True):
        yield rows, np.searchsorted(np.flatnonzero(away > 0.0), machine.groups.of_row[rows]), part


def mapped_by_others(machine: Machine, found: Unseen, maps: Calibration, by: Floats) -> Unseen:
    """The held-out values, mapped to probabilities by what was fitted to those of the other rows, or other units.

    By Venn and Abers they are the very values that are mapped, but for pairs that have none of a class.
    """
    f, n = found.decision_values, len(machine.codes)
    if not isinstance(maps, Maps):
        by_others = held_out_venn_abers(machine, f, maps.coupling, np.where(_one_sided(machine, f), by, f))
        unknown = np.isnan(by_others.log_likelihood) & (machine.codes >= 0)
        return replace(
            found,
            probability=by_others.probability,
            log_likelihood=by_others.log_likelihood,
            failed=np.asarray(found.failed | unknown),
        )
    left = different_deletions(machine.groups, machine.weights, machine.units, by)
    without = maps_without(machine, maps, by, left.row, left.copies, left.start)
    each: dict[str, Any] = {
        name: left.given_out(getattr(without, name), getattr(maps, name), n)
        for name in ("slope", "intercept", "converged", "totals")
    }
    own = replace(maps, **each)
    lost = ~own.converged.all(axis=1)
    return replace(
        found,
        probability=own.probabilities(f),
        log_likelihood=own.log_likelihoods(f, machine.codes),
        failed=np.asarray(np.isnan(f).any(axis=1) | found.failed | lost),
    )
