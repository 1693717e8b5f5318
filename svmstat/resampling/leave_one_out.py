"""Leave-one-out [003]: every row deleted in turn, each fit exact, with the kernel matrix shared.

Of the pairs of classes, those that hold the class of the deleted row are refitted. Scaling, kernel width and factor
coding are those of the fit to all rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.compiled import compiled
from svmstat.calibration import Maps, deviance_risen, fit_map, map_without, series_at
from svmstat.calibration import deviance as map_deviance
from svmstat.machine import Machine, elsewhere, others_of, tied_where_coarse, vote
from svmstat.objective.bounds import ROUNDING, deletions
from svmstat.objective.units import are_groups
from svmstat.resampling.deletions import (
    Deletions,
    deletions_per_task,
    different_deletions,
    memory_of_deletions,
    of_other_classes,
    trials,
)
from svmstat.resampling.loops import WORTH_WORKERS, Outlook, matrix_reason, one_blas_thread, run_pieces
from svmstat.solver import Anchor, Road, Solution, Status, anchor_at, resolved, solve

Array = NDArray[Any]

_ROUNDING, _VARIES = 1e-12, 1e-3
"""Changes of f that are no larger share of what it varies by are rounding; where it varies by that part of a margin or
more, so are those within the violation."""

_ROOM = 2**22
"""Pairwise probabilities in memory at a time."""


def _read_only(found: "Changes | LeaveOneOut") -> None:
    """Let nothing be written into its arrays."""
    for each in fields(found):
        if isinstance(value := getattr(found, each.name), np.ndarray):
            value.setflags(write=False)


@dataclass(frozen=True, slots=True)
class Changes:
    """What the fits without each of n rows say of the other rows; nothing can be written into it.

    Attributes
    ----------
    deviance_deleted : (n,) D_(k), the deviance of the reduced fit over the remaining rows
    max_change : (n,) largest |f^{[−k]} − f| over rows and pairs
    rms_change : (n,) its root mean square over the other rows, and pairs
    """

    deviance_deleted: Floats
    max_change: Floats
    rms_change: Floats

    def __post_init__(self) -> None:
        _read_only(self)


class Later:
    """Changes that are computed when they are first asked for; a pickle holds them, and not the machine behind them.

    Examples
    --------
    >>> later = Later(lambda: Changes(np.ones(1), np.zeros(1), np.zeros(1)))
    >>> later.get() is later.get()
    True
    """

    __slots__ = ("_found",)

    def __init__(self, found: Changes | Callable[[], Changes]) -> None:
        self._found = found

    def get(self) -> Changes:
        """The changes."""
        found = self._found
        if not isinstance(found, Changes):
            self._found = found = found()
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Later, (self.get(),)


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """What each of n rows says when it is left out. f^{[−k]}, A, B: the reduced fits of the P pairs and their maps.

    Nothing can be written into it: a fit keeps it.

    Attributes
    ----------
    decision_values : (n, P) f^{[−k]}(x_k); NaN for the pairs that lose the class of k with it
    slope, intercept : (n, P) A and B from the remaining rows
    probability : (n, K) class probabilities of x_k by the reduced fits and their maps
    log_likelihood : (n,) log p^{[−k]}_{y_k}(x_k)
    winner : (n,) the class that is predicted, −1 where there is none
    violation : (n,) largest KKT violation of the reduced fits
    calibrated : (n,) whether all their Platt maps converged
    n_refits : how many pairs were refitted in all
    n_rescued : how many of these left the exact path and were solved anew
    n_events : path events in all
    failed : (n,) whether the row is NaN, not certified or not calibrated
    later : what the fits say of the other rows
    """

    decision_values: Floats
    slope: Floats
    intercept: Floats
    probability: Floats
    log_likelihood: Floats
    winner: Codes
    violation: Floats
    calibrated: NDArray[np.bool_]
    n_refits: int
    n_rescued: int
    n_events: int
    failed: NDArray[np.bool_]
    later: Later

    def __post_init__(self) -> None:
        _read_only(self)

    @property
    def n_failed(self) -> int:
        """How many rows failed."""
        return int(np.count_nonzero(self.failed))

    @property
    def changes(self) -> Changes:
        """What the fits say of the other rows; if they were not asked at first, all rows are left out once more."""
        return self.later.get()


def leave_one_out(
    machine: Machine, maps: Maps, *, influence: bool = True, at_once: bool = False, n_jobs: int | None = None,
    progress: bool = False,
) -> LeaveOneOut:  # fmt: skip
    """Leave each row out in turn.

    A row of weight w loses min(w, 1), that is one copy; a row of weight zero loses nothing.

    Parameters
    ----------
    machine : the fit to all n rows
    maps : its Platt maps
    influence : whether to compute what the fits without a row say of the other rows in the same pass: little work for
        two classes; for more all probabilities are coupled anew without each row, which of ten classes takes longer
        than the refits by far
    at_once : whether this is a piece of work that one worker does, so that tasks may be large
    n_jobs : number of workers, as in `joblib.Parallel`; the backend is chosen by ``joblib.parallel_config``
    progress : whether to show a progress bar

    Returns
    -------
    LeaveOneOut
    """
    left = different_deletions(machine.groups, machine.weights, machine.units)
    _ = machine.group_values  # computed once: a worker that is a process has a copy of the machine for every task
    with one_blas_thread():
        share = 1.0 / len(machine.pairs)
        anchors = [anchor_at(pair.problem, pair.solution, share) for pair in machine.pairs]

    def task(some: Codes) -> tuple[Any, ...]:
        return machine, maps, anchors, left.some(some), influence

    D, size = left.size, _size(machine, influence, at_once)
    pieces = [np.arange(start, min(start + size, D)) for start in range(0, D, size)]
    parts = run_pieces(
        _without,
        list(map(task, pieces)),
        n_jobs=n_jobs if len(pieces) * len(machine.pairs) >= WORTH_WORKERS else 1,
        progress=progress,
        what="leave-one-out",
        outlook=_outlook(machine, anchors, left, task),
    )
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    again = partial(deletion_changes, machine, maps, n_jobs=n_jobs, progress=progress)
    return _by_row(
        machine, maps, left, found, Later(_changes_by_row(machine, maps, left, found) if influence else again)
    )


@dataclass(frozen=True, slots=True)
class HeldOutValues:
    """What the G groups of a machine are said to be by fits without one copy of them.

    Attributes
    ----------
    decision_values : (G, P) f^{[−k]}(x_k); NaN for the pairs that lose the class of k with it
    certified : (G,) whether all certificates hold
    """

    decision_values: Floats
    certified: NDArray[np.bool_]


def held_out_values(machine: Machine) -> HeldOutValues:
    """Leave one copy of each group out in turn, for its own decision value and nothing else: no map is fitted.

    Parameters
    ----------
    machine : the fit; the weights of its groups are at least one
    """
    values, certified = machine.group_values.copy(), np.tile(machine.certified.all(), len(machine.group_codes))
    resolution = np.tile(machine.resolution, (len(values), 1))
    size = deletions_per_task(machine.gram, at_once=True)
    for p, pair in enumerate(machine.pairs):
        anchor, weights = anchor_at(pair.problem, pair.solution), machine.groups.weights[pair.rows]
        moved = np.flatnonzero(_moves(pair.solution, np.arange(len(pair.rows))))
        for place in (moved[start : start + size] for start in range(0, len(moved), size)):
            uppers = deletions(pair.problem.upper, weights, place, np.ones(len(place)))
            batch = solve(pair.problem, uppers, start=anchor)
            f = batch.field[np.arange(len(place)), place] + batch.intercept
            values[pair.rows[place], p] = resolved(f, batch.resolution)
            resolution[pair.rows[place], p] = batch.resolution
            certified[pair.rows[place]] &= batch.status == Status.CERTIFIED
    return HeldOutValues(machine.tied(values, resolution), certified)


def deletion_changes(machine: Machine, maps: Maps, *, n_jobs: int | None = None, progress: bool = False) -> Changes:
    """What the fits without a row say of the other rows; arguments as in `leave_one_out`."""
    return leave_one_out(machine, maps, influence=True, n_jobs=n_jobs, progress=progress).changes


def _outlook(
    machine: Machine, anchors: Sequence[Anchor], left: Deletions, task: Callable[[Codes], tuple[Any, ...]]
) -> Outlook:
    """What the deletions will cost, from a few of them."""
    pairs, moved = machine.pairs, np.logical_or.reduceat(machine.is_support[left.group], left.start[:-1])
    timed = [(partial(_without, *task(few)), often) for few, often in trials(moved, machine.gram, len(pairs))]
    kept = sum(float(anchor.tableau.T.nbytes) for anchor in anchors if anchor.tableau is not None)
    n_support = max(int(np.count_nonzero(pair.solution.alpha)) for pair in pairs)
    memory = memory_of_deletions(machine.gram, n_support, kept)
    reason = f"{np.count_nonzero(moved)} of {len(moved)} rows are support vectors"
    if are_groups(machine.units):
        reason = f"{np.count_nonzero(moved)} of {len(moved)} groups hold support vectors"
    if len(pairs) > 1:
        reason += f" and {len(pairs)} pairs of classes are refitted"
    return Outlook(timed, *memory, matrix_reason(machine.gram) or reason)


def _size(machine: Machine, influence: bool, at_once: bool) -> int:
    """How many deletions are a task; where the probabilities of all rows are needed they are fewer.

    Of K > 2 classes a pair has 2/K of them: with half as many, ten classes took 1.2 times as long.
    """
    size = deletions_per_task(machine.gram, at_once)
    if len(machine.pairs) == 1:
        return size
    if influence:
        return max(1, min(size, _ROOM // (len(machine.group_codes) * machine.n_classes**2)))
    return size * machine.n_classes


def _of_deletions(of: Codes, moved: Codes, numbers: Floats, others: Floats) -> Floats:
    """Of rows (E,) the number of their deletion ``of`` (E,), if it is ``moved`` (D,), ascending; else the other."""
    return np.where(np.isin(of, moved), numbers[np.searchsorted(moved, of).clip(max=len(moved) - 1)], others)


def _without(
    machine: Machine, maps: Maps, anchors: Sequence[Anchor], left: Deletions, influence: bool
) -> dict[str, Array]:
    """The numbers of `LeaveOneOut` and `Changes` for B deletions of E rows in all, by name."""
    B, alone, of = left.size, len(machine.pairs) == 1, left.of
    own, resolution = machine.group_values[left.group], np.tile(machine.resolution, (len(left.group), 1))
    slope, intercept = np.tile(maps.slope, (B, 1)), np.tile(maps.intercept, (B, 1))
    calibrated, certified = np.tile(maps.converged, (B, 1)), np.tile(machine.certified, (B, 1))
    violation, changes = np.tile(_violations(machine), (B, 1)), np.empty((3, B))
    refits, events, rescued = np.zeros((3, B), np.int64)
    f = np.tile(machine.group_values, (B, 1, 1)) if influence and not alone else np.empty(0)
    codes = machine.group_codes[left.group]
    for p, (pair, anchor) in enumerate(zip(machine.pairs, anchors, strict=True)):
        holds = pair.holds(codes)
        mine, which_of = np.unique(of[holds], return_inverse=True)
        if len(mine) == 0:
            continue
        weights, full = machine.groups.weights[pair.rows], pair.decision
        place, taken = np.searchsorted(pair.rows, left.group[holds]), left.copies[holds]
        reduced, moves = np.tile(full, (len(mine), 1)), np.zeros(len(mine), bool)
        np.logical_or.at(moves, which_of, _moves(pair.solution, place))
        which = np.flatnonzero(moves)
        if len(which):
            of_moved, moved = moves[which_of], mine[which]
            rank = np.searchsorted(which, which_of[of_moved])
            uppers = deletions(pair.problem.upper, weights, place[of_moved], taken[of_moved], rank)
            batch = solve(pair.problem, uppers, start=anchor)
            reduced[which] = tied_where_coarse(
                np.add(batch.field, batch.intercept[:, None], out=batch.field), batch.resolution, full,
                pair.solution.resolution,
            )  # fmt: skip
            at = which_of[of_moved], place[of_moved]
            reduced[at] = resolved(reduced[at], batch.resolution[rank])
            resolution[:, p] = _of_deletions(of, moved, batch.resolution, resolution[:, p])
            violation[moved, p], certified[moved, p] = batch.violation, batch.status == Status.CERTIFIED
            rescued[moved] += batch.road == Road.RESCUE
            events[moved] += batch.events
            if len(f):
                others = others_of(pair.rows, machine.gram.n)
                h = elsewhere(machine.gram, pair.rows, others, batch.alpha * pair.problem.signs)
                f[moved[:, None], others, p] = h + batch.intercept[:, None]
            if not holds.all():  # rows of other classes that are deleted with some of this pair
                own[:, p] = of_other_classes(machine.gram, pair, batch, moved, left, holds, own[:, p])
        numbers, fitted = np.empty((5 if alone and influence else 2, len(mine))), np.zeros(len(mine), bool)
        start = np.searchsorted(which_of, np.arange(len(mine) + 1))
        _diagnose(
            reduced, pair.problem.signs, weights, full, moves, start, place, taken, maps.slope[p], maps.intercept[p],
            numbers, fitted,
        )  # fmt: skip
        own[holds, p] = reduced[which_of, place]
        slope[mine, p], intercept[mine, p], changes = numbers[0], numbers[1], numbers[2:]
        calibrated[mine, p] = fitted
        refits[mine] += 1
        if len(f):
            f[mine[:, None], pair.rows, p] = reduced
    totals = machine.totals - left.taken(machine.group_codes, machine.n_classes)
    found = {
        "decision_values": own, "resolution": resolution, "slope": slope, "intercept": intercept, "totals": totals,
        "calibrated": calibrated.all(axis=1), "certified": certified.all(axis=1), "violation": violation.max(axis=1),
        "refits": refits, "rescued": rescued, "events": events,
    }  # fmt: skip
    if not influence:
        return found
    if not alone:
        changes = _coupled_changes(machine, maps, left, f, slope, intercept, totals)
    return found | {"deviance_deleted": changes[0], "max_change": changes[1], "rms_change": changes[2]}


def _moves(full: Solution, place: Codes) -> NDArray[np.bool_]:
    """Whether deletions of rows in ``place`` (B,) move a solution.

    Where a vector is free, so that the intercept is determined, the deletion of a row with α = 0 changes nothing but
    Platt's map.
    """
    determined = bool(full.free.any()) and full.nearest is None
    return (full.alpha[place] > 0) | (not determined)


@compiled()
def _diagnose(  # noqa: PLR0913, PLR0917  arrays of a numba loop
    f, y, weights, full, moves, start, place, copies, slope, intercept, numbers, calibrated
):
    """Fill ``numbers`` (2, B) or (5, B): A, B, deviance, largest and rms change; and ``calibrated`` (B,).

    f (B, m) decision values of the reduced fits, full (m,) those of the full fit, which they are unless the deletion
    ``moves`` (B,) it; y, weights (m,); place, copies (E,) the deleted rows, those of each deletion from ``start``
    (B + 1,).
    """
    around, reduced = series_at(full, y, weights, slope, intercept), weights.copy()
    whole = map_deviance(full, y, weights, slope, intercept)
    for q in range(f.shape[0]):
        for c in range(numbers.shape[0]):
            numbers[c, q] = np.nan
        if np.isnan(f[q, place[start[q]]]):
            continue
        if not moves[q]:
            calibrated[q] = _other_map(around, whole, y, place, copies, start[q], start[q + 1], numbers[:, q])
            if calibrated[q]:
                continue
        _take(reduced, weights, place, copies, start[q], start[q + 1])
        a, b, calibrated[q] = fit_map(f[q], y, reduced, slope, intercept)
        numbers[0, q], numbers[1, q] = a, b
        if numbers.shape[0] > 2:
            numbers[2, q] = map_deviance(f[q], y, reduced, a, b)
            numbers[3, q], numbers[4, q] = _changes_of(f[q], full, reduced)
        for e in range(start[q], start[q + 1]):
            reduced[place[e]] = weights[place[e]]


@compiled(inside=True, borrowing=True)
def _take(reduced, weights, place, copies, start, stop):
    """Take the copies of a deletion from the weights (m,), which are ``reduced`` in place."""
    for e in range(start, stop):
        reduced[place[e]] -= copies[e]
    for e in range(start, stop):
        if reduced[place[e]] < ROUNDING * weights[place[e]]:
            reduced[place[e]] = 0.0


@compiled(inside=True, borrowing=True)
def _other_map(around, whole, y, place, copies, start, stop, numbers):
    """Fill the numbers (2,) or (5,) of a deletion that changes nothing but the map; whether its series tells."""
    numbers[0], numbers[1], known = map_without(around, y, place, copies, start, stop)
    if known and numbers.shape[0] > 2:
        numbers[2] = whole + deviance_risen(around, y, place, copies, start, stop)
        numbers[3], numbers[4] = 0.0, 0.0
    return known


@compiled(inside=True, borrowing=True)
def _changes_of(f, full, weights):
    """The largest change of f (m,), and the root of its mean square by the weights."""
    largest, squares, total = 0.0, 0.0, 0.0
    for i in range(full.shape[0]):
        change = abs(f[i] - full[i])
        largest = max(largest, change)
        squares += weights[i] * change * change
        total += weights[i]
    return largest, np.sqrt(squares / total)


def _coupled_changes(
    machine: Machine, maps: Maps, left: Deletions, f: Floats, slope: Floats, intercept: Floats, totals: Floats
) -> Floats:
    """Deleted deviance, largest and root mean square change (3, B) for f (B, G, P), A, B (B, P) and totals (B, K)."""
    reduced = replace(maps, slope=slope[:, None], intercept=intercept[:, None], totals=totals[:, None])
    weights = np.tile(machine.groups.weights, (left.size, 1))
    np.subtract.at(weights, (left.of, left.group), left.copies)
    weights[weights < ROUNDING * machine.groups.weights] = 0.0
    deviances = -2.0 * (weights * reduced.log_likelihoods(f, machine.group_codes)).sum(axis=1)
    change = f - machine.group_values
    squares = ((change**2).mean(axis=2) * weights).sum(axis=1) / weights.sum(axis=1)
    return np.array([deviances, np.abs(change).max(axis=(1, 2)), np.sqrt(squares)])


def _violations(machine: Machine) -> Floats:
    """(P,) those of the fit to all rows."""
    return np.array([pair.solution.violation for pair in machine.pairs])


def _changes_by_row(machine: Machine, maps: Maps, left: Deletions, found: Mapping[str, Array]) -> Changes:
    """The changes by the D deletions, given to the n rows; without a row of weight zero nothing changes."""
    deviance = -2.0 * machine.groups.weights @ maps.log_likelihoods(machine.group_values, machine.group_codes)
    full = {"deviance_deleted": deviance, "max_change": 0.0, "rms_change": 0.0}
    range_of_f = float(np.ptp(machine.group_values))
    within = np.where(found["certified"] & (range_of_f >= _VARIES), found["violation"], 0.0)
    least = np.maximum(_ROUNDING * range_of_f, within)
    seen = {name: np.where(found[name] <= least, 0.0, found[name]) for name in ("max_change", "rms_change")}
    changes = {"deviance_deleted": found["deviance_deleted"], **seen}
    return Changes(**{name: left.given_out(changes[name], value, len(machine.codes)) for name, value in full.items()})


def _by_row(machine: Machine, maps: Maps, left: Deletions, found: Mapping[str, Array], later: Later) -> LeaveOneOut:
    """The numbers of the D deletions, given to the n rows."""
    full = {
        "slope": maps.slope, "intercept": maps.intercept, "totals": maps.totals,
        "calibrated": bool(maps.converged.all()), "certified": machine.certified.all(),
        "violation": _violations(machine).max(),
    }  # fmt: skip
    rows = {name: left.given_out(found[name], value, len(machine.codes)) for name, value in full.items()}
    values = machine.tied(found["decision_values"], found["resolution"])
    rows["decision_values"] = left.given_out(values, machine.decision_values, len(machine.codes), own=True)
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
        failed=failed,
        later=later,
    )
