"""The one entry to the solver: one or many bound vectors on one kernel matrix, every solution with its certificate."""

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from svmstat.solver.descent import descend
from svmstat.solver.follow import NOT_TRIED, OVERRUN, certify_all, correct_all, follow, follow_tableau
from svmstat.solver.gram import Floats
from svmstat.solver.path import ARRIVED
from svmstat.solver.polish import polish
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import FREE, TOLERANCE, Basis, Batch, Road, Solution, Status, certify, partition
from svmstat.solver.tableau import ALL_NEAR, NEAR, Tableau, make_tableau

_HANDOVERS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""KKT violations at which the descent hands over to the path, the next one when the path became dearer than descending:
an event costs about as much as a step for every free row."""

_RESCUE_BELOW = 1e-5

_MOST_EVENTS = 20_000
_PATH_EVENTS = 5000
_STEPS_PER_ROW = 100
_LEAST_STEPS = 20_000

_FURTHER_ROWS = 16
"""Rows outside the near set whose bounds may move in one path; more make a restart cheaper."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A solution made ready to set off from many times."""

    solution: Solution
    tableau: Tableau | None


def anchor_at(problem: BoxQP, solution: Solution) -> Anchor:
    """Prepare a solution of the problem, for any bounds, as the start of many batches."""
    return Anchor(solution, make_tableau(problem, solution) if solution.status is Status.CERTIFIED else None)


@overload
def solve(problem: BoxQP, uppers: None = None, *, start: Solution | None = None) -> Solution: ...
@overload
def solve(problem: BoxQP, uppers: Floats, *, start: Solution | Anchor | None = None) -> Batch: ...
def solve(problem: BoxQP, uppers: Floats | None = None, *, start: Solution | Anchor | None = None) -> Solution | Batch:
    """Solve a problem for its own upper bounds, or for many others.

    Parameters
    ----------
    problem : the kernel matrix, signs, margins and upper bounds
    uppers : (B, n) upper bounds u ≥ 0; without them those of the problem
    start : a solution of the same problem, for its own or other bounds, to set off from. With ``uppers`` the
        solution for the problem's own bounds is computed if it is not given, and the `Anchor` of a solution saves its
        preparation when there are several batches.

    Returns
    -------
    Solution, or Batch for ``uppers``
        A bound vector that leaves one class only is a status and NaN, not an exception.
    """
    if uppers is None:
        return _single(problem, problem.upper, start.solution if isinstance(start, Anchor) else start)
    uppers = np.ascontiguousarray(uppers, dtype=float)
    return _many(problem, uppers, _single(problem, problem.upper, None) if start is None else start)


def _single(problem: BoxQP, upper: Floats, start: Solution | None) -> Solution:
    lo, hi = problem.box(upper)
    if not (lo.any() and hi.any()):
        return _one_class(problem, upper)
    if start is None or start.status is Status.ONE_CLASS:
        return _descend_and_polish(problem, upper, lo, hi, np.zeros(problem.n), Road.COLD)
    beta = _feasible(problem.signs * start.alpha, start.upper, lo, hi)
    return _descend_and_polish(problem, upper, lo, hi, beta, Road.PATH)


def _descend_and_polish(problem: BoxQP, upper: Floats, lo: Floats, hi: Floats, beta: Floats, road: Road) -> Solution:
    """From a feasible β to the solution."""
    linear = problem.linear
    h = linear.copy()
    support = np.flatnonzero(beta)
    if len(support):
        problem.gram.add(support, -beta[support], h)
    steps, events = 0, 0
    most = max(_LEAST_STEPS, _STEPS_PER_ROW * problem.n)
    for tolerance in _HANDOVERS:
        steps += descend(problem.gram, lo, hi, beta, h, tolerance, most)
        n_free = int(np.count_nonzero((beta > lo) & (beta < hi)))
        patience = 100 + 2 * steps // (n_free + 1) if tolerance > _HANDOVERS[-1] else _MOST_EVENTS
        polished = polish(problem.gram, linear, lo, hi, beta, h, patience)
        events += polished.events
        if polished.exact:
            break
    reached = road if tolerance >= _RESCUE_BELOW else Road.RESCUE
    return _certified(problem, upper, lo, hi, beta, h, polished.basis, reached, steps, events)


def _feasible(beta: Floats, upper: Floats, lo: Floats, hi: Floats) -> Floats:
    """β of a neighbouring problem, rows at a bound moved with it and Σβ = 0 restored by shrinking one side."""
    bounded = np.abs(beta) >= upper
    moved = np.where(bounded & (beta > 0), hi, np.where(bounded & (beta < 0), lo, np.clip(beta, lo, hi)))
    positive, negative = moved[moved > 0].sum(), -moved[moved < 0].sum()
    if positive == 0.0 or negative == 0.0:
        return np.zeros(len(beta))
    target = min(positive, negative)
    return np.where(moved > 0, moved * (target / positive), moved * (target / negative))


def _certified(
    problem: BoxQP, upper: Floats, lo: Floats, hi: Floats, beta: Floats, h: Floats,
    basis: Basis, road: Road, steps: int, events: int,
) -> Solution:  # fmt: skip
    b_low, b_high, violation, gap = certify(h, beta, lo, hi)
    alpha = problem.signs * beta
    field = problem.linear - h
    norm_squared = float(beta @ field)
    return Solution(
        alpha=alpha,
        upper=upper,
        field=field,
        intercept_interval=(float(b_low), float(b_high)),
        violation=float(violation),
        gap=float(gap),
        norm_squared=norm_squared,
        objective=0.5 * norm_squared - float(problem.margin @ alpha),
        status=Status.CERTIFIED if violation <= TOLERANCE else Status.UNCERTIFIED,
        road=road,
        steps=steps,
        events=events,
        basis=basis,
    )


def _one_class(problem: BoxQP, upper: Floats) -> Solution:
    nothing = np.full(problem.n, np.nan)
    return Solution(
        nothing, upper, nothing, (np.nan, np.nan), np.nan, np.nan, np.nan, np.nan, Status.ONE_CLASS, Road.COLD, 0, 0,
        Basis(np.empty(0, np.intp), np.empty((1, 1))),
    )  # fmt: skip


def _many(problem: BoxQP, uppers: Floats, start: Solution | Anchor) -> Batch:
    B, n = uppers.shape
    anchor = start if isinstance(start, Anchor) else anchor_at(problem, start)
    origin = anchor.solution
    lo, hi = problem.box(uppers)
    two_classes = lo.any(axis=1) & hi.any(axis=1)
    paths = _Paths.empty(B, n)
    if origin.status is Status.CERTIFIED and problem.gram.fits:
        _follow_all(problem, anchor, lo, hi, paths)
    steps, road = np.zeros(B, np.int64), np.full(B, Road.PATH, np.int8)
    for q in np.flatnonzero(two_classes & (paths.code != ARRIVED)).tolist():
        from_path = paths.code[q] == OVERRUN
        beta = paths.beta[q] if from_path else _feasible(problem.signs * origin.alpha, origin.upper, lo[q], hi[q])
        single = _descend_and_polish(problem, uppers[q], lo[q], hi[q], beta, Road.RESCUE)
        paths.put(q, problem.signs * single.alpha, problem.linear - single.field, single)
        road[q], steps[q] = Road.RESCUE, single.steps
    status = np.where(paths.violation <= TOLERANCE, Status.CERTIFIED, Status.UNCERTIFIED).astype(np.int8)
    status[~two_classes] = Status.ONE_CLASS
    for array in (paths.beta, paths.h, paths.interval, paths.violation, paths.gap):
        array[~two_classes] = np.nan
    return Batch(
        problem.signs * paths.beta, problem.linear - paths.h, paths.interval, paths.violation, paths.gap,
        status, road, steps, paths.events,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Paths:
    """Results of B paths, filled in by the kernels: arrays as in `Batch`, and the code of each path."""

    beta: Floats
    h: Floats
    interval: Floats
    violation: Floats
    gap: Floats
    code: NDArray[np.int8]
    events: NDArray[np.int64]

    @classmethod
    def empty(cls, B: int, n: int) -> "_Paths":
        return cls(
            np.empty((B, n)), np.empty((B, n)), np.empty((B, 2)), np.full(B, np.inf), np.full(B, np.inf),
            np.full(B, NOT_TRIED, np.int8), np.zeros(B, np.int64),
        )  # fmt: skip

    def put(self, q: int, beta: Floats, h: Floats, single: Solution) -> None:
        self.beta[q], self.h[q] = beta, h
        self.interval[q], self.violation[q], self.gap[q] = single.intercept_interval, single.violation, single.gap
        self.events[q] += single.events


def _follow_all(problem: BoxQP, anchor: Anchor, new_lo: Floats, new_hi: Floats, paths: _Paths) -> None:
    """By the tableau; where it does not lead to the end, by the path that keeps R."""
    origin = anchor.solution
    lo, hi = problem.box(origin.upper)
    beta, h, b = problem.signs * origin.alpha, problem.linear - origin.field, origin.intercept
    status = partition(beta, lo, hi)
    gram, t = problem.gram.complete(), anchor.tableau
    if t is not None:
        follow_tableau(
            t.rows, t.T, t.T_b, t.side, t.diagonal, beta, h, b, status, lo, hi, new_lo, new_hi, _PATH_EVENTS,
            paths.beta, paths.code, paths.events,
        )  # fmt: skip
    left = np.flatnonzero(paths.code != ARRIVED)
    if len(left):
        near = np.flatnonzero((status == FREE) | (np.abs(b - h) <= NEAR) | (problem.n <= ALL_NEAR))
        place = np.full(problem.n, -1)
        place[near] = np.arange(len(near))
        some = _Paths.empty(len(left), problem.n)
        follow(
            gram, problem.gram.block(near), near, _FURTHER_ROWS, place[origin.basis.rows], origin.basis.inverse,
            beta, h, b, status, lo, hi, new_lo[left], new_hi[left], _PATH_EVENTS, some.beta, some.code, some.events,
        )  # fmt: skip
        paths.beta[left], paths.code[left] = some.beta, some.code
        paths.events[left] += some.events
    certify_all(
        gram, beta, h, new_lo, new_hi, TOLERANCE, paths.beta, paths.h, paths.interval, paths.violation, paths.gap,
        paths.code,
    )  # fmt: skip
    if t is not None:
        correct_all(
            gram, t.rows, t.T, t.side, new_lo, new_hi, TOLERANCE, paths.beta, paths.h, paths.interval,
            paths.violation, paths.gap, paths.code,
        )  # fmt: skip
