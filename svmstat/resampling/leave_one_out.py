"""Leave-one-out [003]: every row deleted in turn, each fit exact, with the kernel matrix shared.

Of the pairs of classes, those that hold the class of the deleted row are refitted. Scaling, kernel width and factor
coding are those of the fit to all rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from svmstat._repeats import distinct_rows
from svmstat.bounds import deletions
from svmstat.calibration import Maps, fit_map
from svmstat.calibration import deviance as map_deviance
from svmstat.machine import Groups, Machine, Pair, elsewhere, vote
from svmstat.machine.pairs import others_of
from svmstat.resampling.loops import WORTH_WORKERS, one_blas_thread, run_pieces
from svmstat.solver import Anchor, Batch, Road, Status, anchor_at, solve

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

_CHUNK = 128
"""Deletions per task, whatever the number of workers, so that their results do not depend on it."""

_ROOM = 2**22
"""Pairwise probabilities in memory at a time."""


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """What each of n rows says when it is left out. f^{[−k]}, A, B: the reduced fits of the P pairs and their maps.

    Attributes
    ----------
    decision_values : (n, P) f^{[−k]}(x_k); NaN for the pairs that lose the class of k with it
    slope, intercept : (n, P) A and B from the remaining rows
    probability : (n, K) class probabilities of x_k by the reduced fits and their maps
    log_likelihood : (n,) log p^{[−k]}_{y_k}(x_k)
    winner : (n,) the class that is predicted, −1 where there is none
    deviance_deleted : (n,) D_(k), the deviance of the reduced fit over the remaining rows
    max_change, rms_change : (n,) largest and root mean square |f^{[−k]} − f| over rows and pairs
    violation : (n,) largest KKT violation of the reduced fits
    calibrated : (n,) whether all their Platt maps converged
    n_refits : how many pairs were refitted in all
    n_rescued : how many of these left the exact path and were solved anew
    n_events : path events in all
    n_failed : how many rows are NaN, not certified or not calibrated

    The deviances and changes are NaN where they were not asked for.
    """

    decision_values: Floats
    slope: Floats
    intercept: Floats
    probability: Floats
    log_likelihood: Floats
    winner: Codes
    deviance_deleted: Floats
    max_change: Floats
    rms_change: Floats
    violation: Floats
    calibrated: NDArray[np.bool_]
    n_refits: int
    n_rescued: int
    n_events: int
    n_failed: int


def leave_one_out(
    machine: Machine, maps: Maps, *, influence: bool = True, n_jobs: int | None = None, progress: bool = False
) -> LeaveOneOut:
    """Leave each row out in turn.

    A row of weight w loses min(w, 1), that is one copy; a row of weight zero loses nothing.

    Parameters
    ----------
    machine : the fit to all n rows
    maps : its Platt maps
    influence : whether to compute what the fits without a row say of the other rows: the deviances and changes
    n_jobs : number of workers, as in `joblib.Parallel`; the backend is chosen by ``joblib.parallel_config``
    progress : whether to show a progress bar

    Returns
    -------
    LeaveOneOut
    """
    left = different_deletions(machine.groups, machine.weights)
    with one_blas_thread():
        anchors = [anchor_at(pair.problem, pair.solution) for pair in machine.pairs]
    order, pieces = [], []
    for some, concerned in _batches(machine, left, influence):
        order.append(some)
        starts = {p: anchors[p] for p in concerned}
        pieces.append((machine, maps, starts, left.group[some], left.copies[some], influence))
    n_jobs = n_jobs if len(pieces) >= WORTH_WORKERS else 1
    parts = run_pieces(_without, pieces, n_jobs=n_jobs, progress=progress, what="leave-one-out")
    place = np.argsort(np.concatenate(order))
    found = {name: np.concatenate([part[name] for part in parts])[place] for name in parts[0]}
    return _by_row(machine, maps, left, found)


@dataclass(frozen=True, slots=True)
class Deletions:
    """The D different deletions of n rows.

    Attributes
    ----------
    group : (D,) a group of equal rows
    copies : (D,) how much of its weight is taken away
    used : the rows of positive weight
    of_used : which deletion is that of each of them
    """

    group: Codes
    copies: Floats
    used: Codes
    of_used: Codes


def different_deletions(groups: Groups, weights: Floats) -> Deletions:
    """What it is to leave out each row in turn: min(w, 1) of its group; weights (n,) of the rows."""
    used = np.flatnonzero(weights > 0)
    copies = np.minimum(weights[used], 1.0)
    found = distinct_rows(np.column_stack([groups.of_row[used], copies]), copies)
    return Deletions(groups.of_row[used[found.first]], copies[found.first], used, found.of_row)


def _batches(machine: Machine, left: Deletions, influence: bool) -> Iterator[tuple[Codes, list[int]]]:
    """Deletions that concern the same pairs, and these pairs."""
    code, size = machine.group_codes[left.group], _CHUNK
    if len(machine.pairs) > 1 and influence:
        size = max(1, min(size, _ROOM // (len(machine.group_codes) * machine.n_classes**2)))
    concerned = np.column_stack([pair.holds(code) for pair in machine.pairs])
    for pattern in np.unique(concerned, axis=0):
        same = np.flatnonzero((concerned == pattern).all(axis=1))
        for start in range(0, len(same), size):
            yield same[start : start + size], np.flatnonzero(pattern).tolist()


def _without(
    machine: Machine, maps: Maps, anchors: Mapping[int, Anchor], group: Codes, copies: Floats, influence: bool
) -> dict[str, NDArray]:
    """The numbers of `LeaveOneOut` for the deletion of ``copies`` of each ``group`` (B,), by name.

    Only the pairs that have an anchor are refitted.
    """
    B, alone = len(group), len(machine.pairs) == 1
    own, slope, intercept = machine.group_values[group], np.tile(maps.slope, (B, 1)), np.tile(maps.intercept, (B, 1))
    calibrated, certified = np.tile(maps.converged, (B, 1)), np.tile(_certified(machine), (B, 1))
    violation, changes = np.tile(_violations(machine), (B, 1)), np.full((3, B), np.nan)
    events, rescued = np.zeros(B, np.int64), np.zeros(B, np.int64)
    f = np.tile(machine.group_values, (B, 1, 1)) if influence and not alone else np.empty(0)
    for p, anchor in anchors.items():
        pair, full = machine.pairs[p], machine.pairs[p].solution
        weights, place = machine.groups.weights[pair.rows], np.searchsorted(pair.rows, group)
        moved, batch = _refit(pair, anchor, weights, place, copies)
        reduced = _moved(full.decision, moved, batch.decision, B)
        numbers, fitted = np.empty((6, B)), np.zeros(B, bool)
        _diagnose(
            reduced, pair.problem.signs, weights, full.decision, place, copies, maps.slope[p], maps.intercept[p],
            alone and influence, numbers, fitted,
        )  # fmt: skip
        own[:, p], slope[:, p], intercept[:, p], changes = numbers[0], numbers[1], numbers[2], numbers[3:]
        calibrated[:, p], violation[moved, p] = fitted, batch.violation
        certified[moved, p] = batch.status == Status.CERTIFIED
        rescued[moved] += batch.road == Road.RESCUE
        events[moved] += batch.events
        if len(f):
            others = others_of(pair.rows, machine.gram.n)
            h = elsewhere(machine.gram, pair.rows, others, batch.alpha * pair.problem.signs)
            f[:, pair.rows, p] = reduced
            f[:, others, p] = _moved(machine.group_values[others, p], moved, batch.decided(h), B)
    totals = _totals_without(machine, group, copies)
    if len(f):
        changes = _coupled_changes(machine, maps, group, copies, f, slope, intercept, totals)
    return {
        "decision_values": own, "slope": slope, "intercept": intercept, "totals": totals,
        "calibrated": calibrated.all(axis=1), "certified": certified.all(axis=1), "violation": violation.max(axis=1),
        "deviance_deleted": changes[0], "max_change": changes[1], "rms_change": changes[2],
        "refits": np.full(B, len(anchors)), "rescued": rescued, "events": events,
    }  # fmt: skip


def _refit(pair: Pair, anchor: Anchor, weights: Floats, place: Codes, copies: Floats) -> tuple[Codes, Batch]:
    """Which of B deletions move the solution of a pair, and their solutions.

    Its rows have ``weights`` (m,), and lose ``copies`` in ``place`` (B,) in turn. Where a vector is free, so that the
    intercept is determined, the deletion of a row with α = 0 changes nothing but Platt's map.
    """
    full = pair.solution
    determined = bool(full.free.any()) and full.nearest is None
    moved = np.flatnonzero((full.alpha[place] > 0) | (not determined))
    uppers = deletions(pair.problem.upper, weights, place[moved], copies[moved])
    return moved, solve(pair.problem, uppers, start=anchor)


def _moved(full: Floats, moved: Codes, values: Floats, B: int) -> Floats:
    """(B, k) what the full fit has (k,), and in the place of the ``moved`` what the refits have."""
    whole = np.tile(full, (B, 1))
    whole[moved] = values
    return whole


@njit(cache=True, nogil=True)
def _diagnose(f, y, weights, full, place, copies, slope, intercept, influence, numbers, calibrated):
    """Fill ``numbers`` (6, B): own f, A, B, deviance, largest and root mean square change; ``calibrated`` (B,).

    f (B, m) decision values of the reduced fits, full (m,) those of the full fit; y, weights (m,); place, copies (B,).
    """
    reduced = weights.copy()
    for q in range(f.shape[0]):
        k = place[q]
        numbers[:, q] = np.nan
        if np.isnan(f[q, k]):
            continue
        reduced[k] = weights[k] - copies[q]
        a, b, calibrated[q] = fit_map(f[q], y, reduced, slope, intercept)
        numbers[0, q], numbers[1, q], numbers[2, q] = f[q, k], a, b
        if influence:
            largest, squares, total = 0.0, 0.0, 0.0
            for i in range(full.shape[0]):
                change = abs(f[q, i] - full[i])
                largest = max(largest, change)
                squares += weights[i] * change * change
                total += weights[i]
            numbers[3, q] = map_deviance(f[q], y, reduced, a, b)
            numbers[4, q], numbers[5, q] = largest, np.sqrt(squares / total)
        reduced[k] = weights[k]


def _coupled_changes(
    machine: Machine, maps: Maps, group: Codes, copies: Floats, f: Floats, slope: Floats, intercept: Floats,
    totals: Floats,
) -> Floats:  # fmt: skip
    """Deleted deviance, largest and root mean square change (3, B) for f (B, G, P), A, B (B, P) and totals (B, K)."""
    reduced = replace(maps, slope=slope[:, None], intercept=intercept[:, None], totals=totals[:, None])
    weights = np.tile(machine.groups.weights, (len(group), 1))
    weights[np.arange(len(group)), group] -= copies
    deviances = -2.0 * (weights * reduced.log_likelihoods(f, machine.group_codes)).sum(axis=1)
    change = f - machine.group_values
    shares = machine.groups.weights / (machine.groups.weights.sum() * f.shape[2])
    return np.array([deviances, np.abs(change).max(axis=(1, 2)), np.sqrt((change**2).sum(axis=2) @ shares)])


def _totals_without(machine: Machine, group: Codes, copies: Floats) -> Floats:
    """(B, K) weights of the classes that are left."""
    totals = np.tile(machine.totals, (len(group), 1))
    totals[np.arange(len(group)), machine.group_codes[group]] -= copies
    return totals


def _certified(machine: Machine) -> NDArray[np.bool_]:
    """(P,) whether the certificates of the fit to all rows hold."""
    return np.array([pair.solution.status is Status.CERTIFIED for pair in machine.pairs])


def _violations(machine: Machine) -> Floats:
    """(P,) those of the fit to all rows."""
    return np.array([pair.solution.violation for pair in machine.pairs])


def _by_row(machine: Machine, maps: Maps, left: Deletions, found: Mapping[str, NDArray]) -> LeaveOneOut:
    """The numbers of the D deletions, given to the n rows; rows of weight zero have those of the full fit."""
    deviance = -2.0 * machine.groups.weights @ maps.log_likelihoods(machine.group_values, machine.group_codes)
    full = {
        "decision_values": machine.decision_values, "slope": maps.slope, "intercept": maps.intercept,
        "totals": maps.totals, "calibrated": bool(maps.converged.all()), "certified": _certified(machine).all(),
        "violation": _violations(machine).max(), "deviance_deleted": deviance, "max_change": 0.0, "rms_change": 0.0,
    }  # fmt: skip
    rows = {}
    for name, value in full.items():
        rows[name] = np.empty((len(machine.codes), *found[name].shape[1:]), found[name].dtype)
        rows[name][:] = value
        rows[name][left.used] = found[name][left.of_used]
    totals, certified, f = rows.pop("totals"), rows.pop("certified"), rows["decision_values"]
    reduced = replace(maps, slope=rows["slope"], intercept=rows["intercept"], totals=totals)
    failed = np.isnan(f).any(axis=1) | ~certified | ~rows["calibrated"]
    return LeaveOneOut(
        **rows,
        probability=reduced.probabilities(f),
        log_likelihood=reduced.log_likelihoods(f, machine.codes),
        winner=vote(f, machine.classes),
        n_refits=int(found["refits"].sum()),
        n_rescued=int(found["rescued"].sum()),
        n_events=int(found["events"].sum()),
        n_failed=int(np.count_nonzero(failed)),
    )
