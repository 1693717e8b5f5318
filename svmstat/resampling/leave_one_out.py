"""Leave-one-out [003]: every row deleted in turn, each fit exact, with the kernel matrix shared.

Scaling, kernel width and factor coding are those of the fit to all rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from svmstat._repeats import distinct_rows
from svmstat.bounds import deletions
from svmstat.calibration import Platt, deviance, fit_map
from svmstat.machine import Groups, Machine
from svmstat.resampling.loops import (
    WORTH_WORKERS,
    Outlook,
    matrix_bytes,
    matrix_reason,
    one_blas_thread,
    run_pieces,
)
from svmstat.solver import Anchor, BoxQP, Gram, Road, Status, anchor_at, resolved, solve

Floats = NDArray[np.float64]

_CHUNK = 128
"""Deletions per task, whatever the number of workers, so that their results do not depend on it."""

_CHUNK_ON_DEMAND = 4
"""The same where the kernel matrix is not in memory, and each deletion of a support vector takes a second or so."""

_TRIAL = 500
"""One deletion of so many is timed before they start."""

_ARRAYS = 9
"""Arrays (deletions, rows) that a task holds at a time."""

_COLUMNS = (
    "decision_values", "slope", "intercept", "log_likelihood", "deviance_deleted", "max_change", "rms_change",
    "violation",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """What each of n rows says when it is left out. f^{[−k]}, A, B: the reduced fit and its Platt map.

    Attributes
    ----------
    decision_values : (n,) f^{[−k]}(x_k); NaN if the class of k vanishes with it
    slope, intercept : (n,) A and B from the remaining rows
    log_likelihood : (n,) log p^{[−k]}_{y_k}(x_k)
    deviance_deleted : (n,) D_(k), the deviance of the reduced fit over the remaining rows
    max_change, rms_change : (n,) largest and root mean square |f^{[−k]} − f| over the rows
    violation : (n,) KKT violation of the reduced fit
    calibrated : (n,) whether the Platt map converged
    n_rescued : how many left the exact path and were solved anew
    n_events : path events in all
    n_failed : how many rows are NaN, not certified or not calibrated
    """

    decision_values: Floats
    slope: Floats
    intercept: Floats
    log_likelihood: Floats
    deviance_deleted: Floats
    max_change: Floats
    rms_change: Floats
    violation: Floats
    calibrated: NDArray[np.bool_]
    n_rescued: int
    n_events: int
    n_failed: int

    @property
    def probability(self) -> Floats:
        """(n,) P(event | x_k) by the fit without row k."""
        z = self.slope * self.decision_values + self.intercept
        small = np.exp(-np.abs(z))
        return np.where(z >= 0, small, 1.0) / (1.0 + small)


def leave_one_out(machine: Machine, platt: Platt, *, n_jobs: int | None = None, progress: bool = False) -> LeaveOneOut:
    """Leave each row out in turn.

    A row of weight w loses min(w, 1), that is one copy; a row of weight zero loses nothing.

    Parameters
    ----------
    machine : the fit to all n rows
    platt : its Platt map
    n_jobs : number of workers, as in `joblib.Parallel`; the backend is chosen by ``joblib.parallel_config``
    progress : whether to show a progress bar

    Returns
    -------
    LeaveOneOut
    """
    groups, left = machine.groups, different_deletions(machine.groups, machine.weights)
    which, removed, used = left.group, left.copies, left.used
    with one_blas_thread():
        anchor = anchor_at(machine.problem, machine.solution)
    chunk = deletions_per_task(machine.gram)
    pieces = [slice(start, start + chunk) for start in range(0, len(which), chunk)]

    def task(p: slice | NDArray[np.intp]) -> tuple[Any, ...]:
        return machine.problem, anchor, groups.weights, which[p], removed[p], platt.slope, platt.intercept

    parts = run_pieces(
        _without,
        [task(p) for p in pieces],
        n_jobs=n_jobs if len(pieces) >= WORTH_WORKERS else 1,
        progress=progress,
        what="leave-one-out",
        outlook=_outlook(machine.problem, anchor, which, task),
    )
    numbers = np.concatenate([part[0] for part in parts], axis=1)
    calibrated, status, road, events = (np.concatenate([part[k] for part in parts]) for k in range(1, 5))
    columns = {name: np.zeros(len(machine.y)) for name in _COLUMNS}
    for name, values in zip(_COLUMNS, numbers, strict=True):
        columns[name][used] = values[left.of_used]
    _full_fit(machine, platt, columns)
    good = np.ones(len(machine.y), bool)
    good[used] = ((status == Status.CERTIFIED) & calibrated)[left.of_used]
    mapped = np.ones(len(machine.y), bool)
    mapped[used] = calibrated[left.of_used]
    return LeaveOneOut(
        **columns,
        calibrated=mapped,
        n_rescued=int(np.count_nonzero(road == Road.RESCUE)),
        n_events=int(events.sum()),
        n_failed=int(np.count_nonzero(~good)),
    )


def deletions_per_task(gram: Gram) -> int:
    """How many deletions are a task: the bar of a long run should move from its beginning."""
    return _CHUNK if gram.fits else _CHUNK_ON_DEMAND


def trials(moved: NDArray[np.bool_], gram: Gram) -> list[tuple[NDArray[np.intp], float]]:
    """A few of D deletions, how many times as many there are: some whose β is ``moved`` (D,), and others."""
    found = []
    for alike in (np.flatnonzero(moved), np.flatnonzero(~moved)):
        if len(alike):
            few = alike[:: _TRIAL if gram.fits else len(alike)]
            found.append((few, len(alike) / len(few)))
    return found


def memory_of_deletions(gram: Gram, n_support: int, kept: float) -> tuple[float, float]:
    """Bytes that deletions take once, ``kept`` among them, and for every worker.

    A worker holds its numbers of every row and, where no tableau is kept, the kernel values of the rows near an event
    twice, once with room for more.
    """
    numbers = 8.0 * _ARRAYS * deletions_per_task(gram) * gram.n
    near = min(gram.n, 3 * n_support + _CHUNK) if gram.fits and kept == 0.0 else 0
    return matrix_bytes(gram) + kept, numbers + 16.0 * near**2


def _outlook(
    problem: BoxQP, anchor: Anchor, which: NDArray[np.intp], task: Callable[[NDArray[np.intp]], tuple[Any, ...]]
) -> Outlook:
    """What the deletions of the groups ``which`` (D,) will cost."""
    moved = anchor.solution.alpha[which] > 0
    timed = [(partial(_without, *task(rows)), often) for rows, often in trials(moved, problem.gram)]
    tableau = 0.0 if anchor.tableau is None else float(anchor.tableau.T.nbytes)
    n_support = int(np.count_nonzero(anchor.solution.alpha))
    reason = matrix_reason(problem.gram) or f"{np.count_nonzero(moved)} of {len(which)} rows are support vectors"
    return Outlook(timed, *memory_of_deletions(problem.gram, n_support, tableau), reason)


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

    group: NDArray[np.intp]
    copies: Floats
    used: NDArray[np.intp]
    of_used: NDArray[np.intp]


def different_deletions(groups: Groups, weights: Floats) -> Deletions:
    """What it is to leave out each row in turn: min(w, 1) of its group; weights (n,) of the rows."""
    used = np.flatnonzero(weights > 0)
    copies = np.minimum(weights[used], 1.0)
    found = distinct_rows(np.column_stack([groups.of_row[used], copies]), copies)
    return Deletions(groups.of_row[used[found.first]], copies[found.first], used, found.of_row)


def _full_fit(machine: Machine, platt: Platt, columns: dict[str, Floats]) -> None:
    """Fill in the rows of weight zero, without which the fit is the full fit."""
    rows = np.flatnonzero(machine.weights == 0)
    if len(rows) == 0:
        return
    f = machine.decision_values[rows]
    columns["decision_values"][rows] = f
    columns["slope"][rows], columns["intercept"][rows] = platt.slope, platt.intercept
    columns["log_likelihood"][rows] = platt.log_likelihoods(f, machine.y[rows])
    full = deviance(machine.decision_values, machine.y, machine.weights, platt.slope, platt.intercept)
    columns["deviance_deleted"][rows] = full


def _without(
    problem: BoxQP, anchor: Anchor, weights: Floats, rows: NDArray[np.intp], copies: Floats, slope: float,
    intercept: float,
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.int8], NDArray[np.int8], NDArray[np.int64]]:  # fmt: skip
    """The numbers of `_COLUMNS` (8, B) and four flags (B,) for the deletion of ``copies`` of each of ``rows`` (B,)."""
    batch = solve(problem, deletions(problem.upper, weights, rows, copies), start=anchor)
    f = np.add(batch.field, batch.intercept[:, None], out=batch.field)
    own = np.arange(len(rows)), rows
    f[own] = resolved(f[own], batch.resolution)
    numbers, calibrated = np.empty((len(_COLUMNS), len(rows))), np.zeros(len(rows), bool)
    _diagnose(f, problem.signs, weights, anchor.solution.decision, rows, copies, slope, intercept, numbers, calibrated)
    numbers[-1] = batch.violation
    return numbers, calibrated, batch.status, batch.road, batch.events


@njit(cache=True, nogil=True)
def _diagnose(f, y, weights, full, rows, copies, slope, intercept, numbers, calibrated):
    """Fill ``numbers`` (8, B) but its last row, and ``calibrated`` (B,).

    f (B, n) decision values of the reduced fits, full (n,) those of the full fit; y, weights (n,); rows, copies (B,).
    """
    reduced = weights.copy()
    for q in range(f.shape[0]):
        k = rows[q]
        if np.isnan(f[q, k]):
            numbers[:, q] = np.nan
            continue
        reduced[k] = weights[k] - copies[q]
        a, b, calibrated[q] = fit_map(f[q], y, reduced, slope, intercept)
        z = y[k] * (a * f[q, k] + b)
        largest, squares, total = 0.0, 0.0, 0.0
        for i in range(full.shape[0]):
            change = abs(f[q, i] - full[i])
            largest = max(largest, change)
            squares += weights[i] * change * change
            total += weights[i]
        numbers[0, q], numbers[1, q], numbers[2, q] = f[q, k], a, b
        numbers[3, q] = -(max(z, 0.0) + np.log1p(np.exp(-abs(z))))
        numbers[4, q] = deviance(f[q], y, reduced, a, b)
        numbers[5, q], numbers[6, q] = largest, np.sqrt(squares / total)
        reduced[k] = weights[k]
