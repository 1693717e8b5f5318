"""Leave-one-out on the engine: every row deleted in turn, each fit exact, with the kernel matrix shared.

Scaling, kernel width and factor coding are those of the fit to all rows.
"""

from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from svmstat.bounds import deletions
from svmstat.machine import Machine
from svmstat.solver import Anchor, BoxQP, Road, Status, anchor_at, solve

Floats = NDArray[np.float64]

_CHUNK = 128
"""Deletions per task, whatever the number of workers, so that their results do not depend on it."""

_WORTH_WORKERS = 8
"""With fewer tasks than this the first would be done before a second worker has started."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Decision values of rows on which the machine was not trained.

    Attributes
    ----------
    decision_values : (n,) f^{[−k]}(x_k), the fit without one copy of row k at x_k; NaN if its class vanishes
    violation : (n,) KKT violation of each of these fits
    n_rescued : how many left the exact path and were solved anew
    n_events : path events in all
    n_failed : how many are NaN or not certified
    """

    decision_values: Floats
    violation: Floats
    n_rescued: int
    n_events: int
    n_failed: int


def leave_one_out(machine: Machine, n_jobs: int | None = None) -> LeftOut:
    """Leave each row out in turn.

    A row of weight w loses min(w, 1), that is one copy; a row of weight zero loses nothing.

    Parameters
    ----------
    machine : the fit to all n rows
    n_jobs : number of workers, as in `joblib.Parallel`; the backend is chosen by ``joblib.parallel_config``

    Returns
    -------
    LeftOut
    """
    groups = machine.groups
    used = np.flatnonzero(machine.weights > 0)
    group, copies = groups.of_row[used], np.minimum(machine.weights[used], 1.0)
    distinct, inverse = np.unique(np.column_stack([group, copies]), axis=0, return_inverse=True)
    which, removed = distinct[:, 0].astype(np.intp), distinct[:, 1]
    pieces = [slice(start, start + _CHUNK) for start in range(0, len(which), _CHUNK)]
    anchor = anchor_at(machine.problem, machine.solution)
    workers = n_jobs if len(pieces) >= _WORTH_WORKERS else 1
    parts = joblib.Parallel(n_jobs=workers, prefer="threads")(
        joblib.delayed(_without)(machine.problem, anchor, groups.weights, which[piece], removed[piece])
        for piece in pieces
    )
    values, violation, status, road, events = (np.concatenate(column) for column in zip(*parts, strict=True))
    decision_values, all_violations = machine.decision_values.copy(), np.zeros(len(machine.y))
    decision_values[used], all_violations[used] = values[inverse], violation[inverse]
    return LeftOut(
        decision_values=decision_values,
        violation=all_violations,
        n_rescued=int(np.count_nonzero(road == Road.RESCUE)),
        n_events=int(events.sum()),
        n_failed=int(np.count_nonzero(status[inverse] != Status.CERTIFIED)),
    )


def _without(
    problem: BoxQP, start: Anchor, weights: Floats, rows: NDArray[np.intp], copies: Floats
) -> tuple[Floats, Floats, NDArray[np.int8], NDArray[np.int8], NDArray[np.int64]]:
    batch = solve(problem, deletions(problem.upper, weights, rows, copies), start=start)
    at_rows = batch.field[np.arange(len(rows)), rows] + batch.intercept
    return at_rows, batch.violation, batch.status, batch.road, batch.events
