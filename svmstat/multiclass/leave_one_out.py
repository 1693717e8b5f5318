"""Leave-one-out with many classes [003]: of the pairs, those that hold the class of the deleted row are refitted.

Scaling, kernel width and factor coding are those of the fit to all rows.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat.bounds import deletions
from svmstat.calibration import fit_maps
from svmstat.multiclass.pairs import Pair, PairsMachine, elsewhere, others_of
from svmstat.multiclass.probabilities import PairMaps, coupled, log_likelihoods, vote
from svmstat.resampling.leave_one_out import Deletions, different_deletions, memory_of_deletions, trials
from svmstat.resampling.loops import WORTH_WORKERS, Outlook, matrix_bytes, matrix_reason, one_blas_thread, run_pieces
from svmstat.solver import TOLERANCE, Anchor, BoxQP, Road, anchor_at, solve

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

_CHUNK = 256
"""Deletions per task, whatever the number of workers, so that their results do not depend on it."""

_CHUNK_ON_DEMAND = 4
"""The same where the kernel matrix is not in memory."""

_ROOM = 2**22
"""Pairwise probabilities in memory at a time."""


@dataclass(frozen=True, slots=True)
class PairsLeaveOneOut:
    """What each of n rows says when it is left out. f^{[−k]}: the pairs without row k.

    Attributes
    ----------
    decision_values : (n, P) f^{[−k]}(x_k); NaN for the pairs that lose the class of k with it
    probability : (n, K) class probabilities of x_k by the reduced fits and their maps
    log_likelihood : (n,) log p^{[−k]}_{y_k}(x_k)
    winner : (n,) the class that has most votes, −1 where there is none
    violation : (n,) largest KKT violation of the reduced fits
    calibrated : (n,) whether all their Platt maps converged
    n_refits : how many pairs were refitted in all
    n_rescued : how many of these left the exact path and were solved anew
    n_failed : how many rows are NaN, not certified or not calibrated
    """

    decision_values: Floats
    probability: Floats
    log_likelihood: Floats
    winner: Codes
    violation: Floats
    calibrated: NDArray[np.bool_]
    n_refits: int
    n_rescued: int
    n_failed: int


@dataclass(frozen=True, slots=True)
class PairsDeletion:
    """How the fit to the other rows changes when each of n rows is left out.

    Attributes
    ----------
    deviance_deleted : (n,) D_(k), the deviance of the reduced fit over the remaining rows
    max_change, rms_change : (n,) largest and root mean square |f^{[−k]} − f| over rows and pairs
    """

    deviance_deleted: Floats
    max_change: Floats
    rms_change: Floats


def leave_one_out(
    machine: PairsMachine, maps: PairMaps, *, n_jobs: int | None = None, progress: bool = False
) -> PairsLeaveOneOut:
    """Leave each row out in turn.

    A row of weight w loses min(w, 1), that is one copy; a row of weight zero loses nothing.

    Parameters
    ----------
    machine : the fit to all n rows
    maps : its Platt maps
    n_jobs : number of workers, as in `joblib.Parallel`; the backend is chosen by ``joblib.parallel_config``
    progress : whether to show a progress bar

    Returns
    -------
    PairsLeaveOneOut
    """
    left = different_deletions(machine.groups, machine.weights)
    code = machine.group_codes[left.group]
    f, slope, intercept = _full(machine, maps, left.group)
    violation = np.tile(_violations(machine), (len(f), 1))
    calibrated = np.tile(maps.converged, (len(f), 1))
    anchors, pieces, targets = _anchors(machine), [], []
    chunk = _CHUNK if machine.gram.fits else _CHUNK_ON_DEMAND
    for p, anchor in enumerate(anchors):
        concerned = np.flatnonzero(_holds(machine.pairs[p], code))
        for start in range(0, len(concerned), chunk):
            some = concerned[start : start + chunk]
            pieces.append(_refit(machine, maps, p, anchor, left.group[some], left.copies[some]))
            targets.append((some, p))
    n_jobs = n_jobs if len(pieces) >= WORTH_WORKERS else 1
    parts = run_pieces(
        _left_out, pieces, n_jobs=n_jobs, progress=progress, what="leave-one-out",
        outlook=_outlook(machine, maps, anchors, left, code),
    )  # fmt: skip
    n_rescued = 0
    for at, part in zip(targets, parts, strict=True):
        f[at], slope[at], intercept[at], calibrated[at], violation[at] = part[:5]
        n_rescued += int(np.count_nonzero(part[5]))
    totals = _totals_without(machine, code, left.copies)
    probability = coupled(f, slope, intercept, totals, maps.coupling)
    return _by_row(
        machine, maps, left, f, probability, violation.max(axis=1),
        np.asarray(calibrated.all(axis=1)), sum(len(some) for some, _ in targets), n_rescued,
    )  # fmt: skip


def deletion_changes(
    machine: PairsMachine, maps: PairMaps, *, n_jobs: int | None = None, progress: bool = False
) -> PairsDeletion:
    """What the fits without each of the n rows say of the other rows; arguments as in `leave_one_out`."""
    left = different_deletions(machine.groups, machine.weights)
    code = machine.group_codes[left.group]
    anchors = _anchors(machine)
    chunk = max(1, min(_CHUNK, _ROOM // (len(machine.group_codes) * machine.n_classes**2)))
    chunk = chunk if machine.gram.fits else min(chunk, _CHUNK_ON_DEMAND)

    def task(c: int, some: Codes) -> tuple[Any, ...]:
        group, copies = left.group[some], left.copies[some]
        concerned = [p for p, pair in enumerate(machine.pairs) if c in (pair.first, pair.second)]
        refits = [(p, _refit(machine, maps, p, anchors[p], group, copies)) for p in concerned]
        return machine, maps, group, copies, refits

    pieces, order, timed = [], [], []
    for c in range(machine.n_classes):
        of_class = np.flatnonzero(code == c)
        timed.append((partial(_changes, *task(c, of_class[:1])), float(len(of_class))))
        for start in range(0, len(of_class), chunk):
            order.append(of_class[start : start + chunk])
            pieces.append(task(c, order[-1]))
    parts = run_pieces(
        _changes, pieces, n_jobs=n_jobs, progress=progress, what="deletion deviances",
        outlook=Outlook(timed, matrix_bytes(machine.gram), reason=matrix_reason(machine.gram)),
    )  # fmt: skip
    found = np.empty((3, len(left.group)))
    for some, part in zip(order, parts, strict=True):
        found[:, some] = part
    columns = np.zeros((3, len(machine.codes)))
    columns[:, left.used] = found[:, left.of_used]
    unused = machine.weights == 0
    p = maps.probabilities(machine.group_values)
    columns[0, unused] = -2.0 * machine.groups.weights @ log_likelihoods(p, machine.group_codes)
    return PairsDeletion(*columns)


def _outlook(machine: PairsMachine, maps: PairMaps, anchors: list[Anchor], left: Deletions, code: Codes) -> Outlook:
    """What the refits will cost, from some of those of the largest pair."""
    concerned = [np.flatnonzero(_holds(pair, code)) for pair in machine.pairs]
    largest = int(np.argmax([len(rows) for rows in concerned]))
    pair, rows = machine.pairs[largest], concerned[largest]
    moved = pair.solution.alpha[np.searchsorted(pair.rows, left.group[rows])] > 0
    share = sum(map(len, concerned)) / max(len(rows), 1)
    timed = [
        (partial(_left_out, *_refit(machine, maps, largest, anchors[largest], *some)), share * often)
        for some, often in (
            ((left.group[rows[few]], left.copies[rows[few]]), often) for few, often in trials(moved, machine.gram)
        )
    ]
    kept = sum(float(anchor.tableau.T.nbytes) for anchor in anchors if anchor.tableau is not None)
    memory = memory_of_deletions(machine.gram, int(np.count_nonzero(pair.solution.alpha)), kept)
    return Outlook(timed, *memory, matrix_reason(machine.gram) or f"{sum(map(len, concerned))} pairs are refitted")


def _violations(machine: PairsMachine) -> Floats:
    """(P,) those of the fit to all rows."""
    return np.array([pair.solution.violation for pair in machine.pairs])


def _holds(pair: Pair, code: Codes) -> NDArray[np.bool_]:
    return (code == pair.first) | (code == pair.second)


def _anchors(machine: PairsMachine) -> list[Anchor]:
    with one_blas_thread():
        return [anchor_at(pair.problem, pair.solution) for pair in machine.pairs]


def _full(machine: PairsMachine, maps: PairMaps, group: Codes) -> tuple[Floats, Floats, Floats]:
    """Decision values of groups (D,) by the full fit, and its A and B, all (D, P)."""
    return (
        machine.group_values[group],
        np.tile(maps.slope, (len(group), 1)),
        np.tile(maps.intercept, (len(group), 1)),
    )


def _refit(
    machine: PairsMachine, maps: PairMaps, p: int, anchor: Anchor, group: Codes, copies: Floats
) -> tuple[Any, ...]:
    """The arguments of `_without` for pair p and groups (B,) of its classes."""
    pair = machine.pairs[p]
    place = np.searchsorted(pair.rows, group)
    return pair.problem, anchor, machine.groups.weights[pair.rows], place, copies, maps.slope[p], maps.intercept[p]


@dataclass(frozen=True, slots=True)
class _Reduced:
    """B reduced fits of a pair of m rows: decision values (B, m), α y (B, m), the others (B,)."""

    f: Floats
    beta: Floats
    intercept: Floats
    violation: Floats
    rescued: NDArray[np.bool_]
    maps: tuple[Floats, Floats, NDArray[np.bool_]]


def _without(
    problem: BoxQP, anchor: Anchor, weights: Floats, place: Codes, copies: Floats, slope: float, intercept: float
) -> _Reduced:
    """The pair without copies of each row in ``place`` (B,).

    Where a vector is free, so that the intercept is determined, the deletion of a row with α = 0 changes nothing but
    Platt's map.
    """
    full, B = anchor.solution, len(place)
    f, beta = np.tile(full.decision, (B, 1)), np.tile(problem.signs * full.alpha, (B, 1))
    b, violation, rescued = np.full(B, full.intercept), np.full(B, full.violation), np.zeros(B, bool)
    moved = np.flatnonzero((full.alpha[place] > 0) | (not full.free.any()))
    batch = solve(problem, deletions(problem.upper, weights, place[moved], copies[moved]), start=anchor)
    f[moved], beta[moved], b[moved] = batch.decision, problem.signs * batch.alpha, batch.intercept
    violation[moved], rescued[moved] = batch.violation, batch.road == Road.RESCUE
    reduced = np.tile(weights, (B, 1))
    reduced[np.arange(B), place] -= copies
    return _Reduced(f, beta, b, violation, rescued, fit_maps(f, problem.signs, reduced, slope, intercept))


def _left_out(*refit: Any) -> tuple[Floats, Floats, Floats, NDArray[np.bool_], Floats, NDArray[np.bool_]]:
    """Decision value, A, B, whether they converged, violation and rescue (B,) of the deletions in ``refit``."""
    place, found = refit[3], _without(*refit)
    return found.f[np.arange(len(place)), place], *found.maps, found.violation, found.rescued


def _totals_without(machine: PairsMachine, code: Codes, copies: Floats) -> Floats:
    """(D, K) weights of the classes that are left."""
    totals = np.tile(machine.totals, (len(code), 1))
    totals[np.arange(len(code)), code] -= copies
    return totals


def _changes(
    machine: PairsMachine, maps: PairMaps, group: Codes, copies: Floats, refits: list[tuple[int, tuple[Any, ...]]]
) -> Floats:
    """Deleted deviance, largest and root mean square change (3, B) for groups (B,) of one class."""
    B, G = len(group), len(machine.group_codes)
    f = np.tile(machine.group_values, (B, 1, 1))
    slope, intercept = np.tile(maps.slope, (B, 1, 1)), np.tile(maps.intercept, (B, 1, 1))
    for p, refit in refits:
        pair = machine.pairs[p]
        found, others = _without(*refit), others_of(pair.rows, G)
        f[:, pair.rows, p], (slope[:, 0, p], intercept[:, 0, p], _) = found.f, found.maps
        f[:, others, p] = elsewhere(machine.gram, pair.rows, others, found.beta) + found.intercept[:, None]
    totals = _totals_without(machine, machine.group_codes[group], copies)
    weights = np.tile(machine.groups.weights, (B, 1))
    weights[np.arange(B), group] -= copies
    probability = coupled(f, slope, intercept, totals[:, None], maps.coupling)
    deviance = -2.0 * (weights * log_likelihoods(probability, machine.group_codes)).sum(axis=1)
    change = f - machine.group_values
    shares = machine.groups.weights / (machine.groups.weights.sum() * f.shape[2])
    rms = np.sqrt((change**2).sum(axis=2) @ shares)
    return np.array([deviance, np.abs(change).max(axis=(1, 2)), rms])


def _by_row(
    machine: PairsMachine, maps: PairMaps, left: Deletions, f: Floats, p: Floats, violation: Floats,
    calibrated: NDArray[np.bool_], n_refits: int, n_rescued: int,
) -> PairsLeaveOneOut:  # fmt: skip
    """The numbers of the D deletions, given to the n rows; rows of weight zero have those of the full fit."""
    full = maps.probabilities(machine.decision_values)
    values, probability = machine.decision_values.copy(), full
    values[left.used], probability[left.used] = f[left.of_used], p[left.of_used]
    largest = np.full(len(values), _violations(machine).max())
    good = np.full(len(values), bool(maps.converged.all()))
    largest[left.used], good[left.used] = violation[left.of_used], calibrated[left.of_used]
    failed = np.isnan(values).any(axis=1) | (largest > TOLERANCE) | ~good
    return PairsLeaveOneOut(
        decision_values=values,
        probability=probability,
        log_likelihood=log_likelihoods(probability, machine.codes),
        winner=vote(values, machine.n_classes),
        violation=largest,
        calibrated=good,
        n_refits=n_refits,
        n_rescued=n_rescued,
        n_failed=int(np.count_nonzero(failed)),
    )
