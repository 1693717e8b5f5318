"""The one entry to the solver: one or many bound vectors on one kernel matrix, every solution with its certificate."""

from dataclasses import replace
from typing import overload

import numpy as np

from svmstat.solver.descent import descend
from svmstat.solver.follow import follow
from svmstat.solver.gram import Floats
from svmstat.solver.path import ARRIVED, FREE
from svmstat.solver.polish import partition, polish
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import TOLERANCE, Basis, Batch, Road, Solution, Status, certify

_HANDOVERS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""KKT violations at which the descent hands over to the path, the next one when the path became dearer than descending:
an event costs about as much as a step for every free row."""

_RESCUE_BELOW = 1e-5

_MOST_EVENTS = 100_000
_STEPS_PER_ROW = 500
_LEAST_STEPS = 200_000

_ALL_NEAR = 800
_NEAR = 0.5
_FURTHER_ROWS = 16
"""Rows outside the near set whose bounds may move in one path; more make a restart cheaper."""


@overload
def solve(problem: BoxQP, uppers: None = None, *, start: Solution | None = None) -> Solution: ...
@overload
def solve(problem: BoxQP, uppers: Floats, *, start: Solution | None = None) -> Batch: ...
def solve(
    problem: BoxQP, uppers: Floats | None = None, *, start: Solution | None = None
) -> Solution | Batch:
    """Solve a problem for its own upper bounds, or for many others.

    Parameters
    ----------
    problem : the kernel matrix, signs, margins and upper bounds
    uppers : (B, n) upper bounds u ≥ 0; without them those of the problem
    start : a solution of the same problem, for its own or other bounds, to set off from. With ``uppers`` the
        solution for the problem's own bounds is computed if it is not given.

    Returns
    -------
    Solution, or Batch for ``uppers``
        A bound vector that leaves one class only is a status and NaN, not an exception.
    """
    if uppers is None:
        return _single(problem, problem.upper, start)
    uppers = np.ascontiguousarray(uppers, dtype=float)
    if start is None:
        start = _single(problem, problem.upper, None)
    return _many(problem, uppers, start)


def _single(problem: BoxQP, upper: Floats, start: Solution | None) -> Solution:
    lo, hi = problem.box(upper)
    if not (lo.any() and hi.any()):
        return _one_class(problem, upper)
    beta = np.zeros(problem.n) if start is None else _feasible(problem.signs * start.alpha, start.upper, lo, hi)
    linear = problem.linear
    h = linear.copy()
    support = np.flatnonzero(beta)
    if len(support):
        problem.gram.add(support, -beta[support], h)
    steps, events = 0, 0
    most = max(_LEAST_STEPS, _STEPS_PER_ROW * problem.n)
    for tolerance in _HANDOVERS:
        steps += descend(problem.gram, lo, hi, beta, h, tolerance, most)
        n_free = np.count_nonzero((beta > lo) & (beta < hi))
        patience = 100 + 2 * steps // (n_free + 1) if tolerance > _HANDOVERS[-1] else _MOST_EVENTS
        polished = polish(problem.gram, linear, lo, hi, beta, h, patience)
        events += polished.events
        if polished.exact:
            break
    road = Road.COLD if tolerance >= _RESCUE_BELOW else Road.RESCUE
    return _certified(problem, upper, lo, hi, beta, h, polished.basis, road, steps, events)


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


def _many(problem: BoxQP, uppers: Floats, start: Solution) -> Batch:
    B, n = uppers.shape
    lo, hi = problem.box(uppers)
    two_classes = lo.any(axis=1) & hi.any(axis=1)
    beta, h = np.empty((B, n)), np.empty((B, n))
    interval = np.empty((B, 2))
    violation, gap = np.empty(B), np.empty(B)
    code, events, steps = np.full(B, -1, np.int8), np.zeros(B, np.int64), np.zeros(B, np.int64)
    road = np.full(B, Road.PATH, np.int8)
    if start.status is Status.CERTIFIED and problem.gram.is_complete:
        _follow_all(problem, start, lo, hi, beta, h, interval, violation, gap, code, events)
    for q in np.flatnonzero(two_classes & (code != ARRIVED)):
        single = _single(problem, uppers[q], start)
        beta[q] = problem.signs * single.alpha
        h[q] = problem.linear - single.field
        interval[q], violation[q], gap[q] = single.intercept_interval, single.violation, single.gap
        road[q] = Road.RESCUE
        steps[q], events[q] = single.steps, events[q] + single.events
    status = np.where(violation <= TOLERANCE, Status.CERTIFIED, Status.UNCERTIFIED).astype(np.int8)
    status[~two_classes] = Status.ONE_CLASS
    for array in (beta, h, interval, violation, gap):
        array[~two_classes] = np.nan
    return Batch(problem.signs * beta, problem.linear - h, interval, violation, gap, status, road, steps, events)


def _follow_all(
    problem: BoxQP, start: Solution, new_lo: Floats, new_hi: Floats, beta: Floats, h: Floats, interval: Floats,
    violation: Floats, gap: Floats, code: np.ndarray, events: np.ndarray,
) -> None:  # fmt: skip
    lo, hi = problem.box(start.upper)
    beta0, h0 = problem.signs * start.alpha, problem.linear - start.field
    status = partition(beta0, lo, hi)
    g = start.intercept - h0
    near = np.flatnonzero((status == FREE) | (np.abs(g) <= _NEAR) | (problem.n <= _ALL_NEAR))
    place = np.full(problem.n, -1)
    place[near] = np.arange(len(near))
    follow(
        problem.gram.complete(), problem.gram.block(near), near, _FURTHER_ROWS, beta0, h0, start.intercept, status,
        lo, hi, place[start.basis.rows], start.basis.inverse, new_lo, new_hi, TOLERANCE, 1000 + 20 * len(near),
        beta, h, interval, violation, gap, code, events,
    )  # fmt: skip
