"""The one entry to the solver: one or many bound vectors on one kernel matrix, every solution with its certificate."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from svmstat.solver.chain import chain, moved_on
from svmstat.solver.compact import TOO_LONG, compact_all
from svmstat.solver.flat import is_noise, left_over, may_be_flat, may_be_outweighed, outweighed
from svmstat.solver.follow import (
    NOT_TRIED,
    certify_all,
    correct_all,
    follow,
    follow_tableau,
    settle_all,
    stay_all,
    two_classes,
)
from svmstat.solver.gram import Floats, Rows
from svmstat.solver.path import ARRIVED
from svmstat.solver.problem import BoxQP
from svmstat.solver.single import arrived, basis_of, feasible, solve_single
from svmstat.solver.solution import (
    PRECISION,
    TOLERANCE,
    Batch,
    Road,
    Solution,
    Status,
    certify,
    is_rough,
    judgement,
    middles,
    partition,
    rounding_of,
    sizes_beside,
)
from svmstat.solver.tableau import Tableau, make_tableau, near_rows

_PATH_EVENTS = 5000

_FEW = 20
"""Bounds that may change before a path from the start is given up for a new descent; above 400 rows 5 %."""

_LARGEST_COMPACT = 4000
"""Rows of the largest problem whose open rows are gathered for each bound vector (128 MB)."""

_SETTING_OFF, _EVENTS, _EVENT = 200, 0.3, 5
"""What the path from the start to distant bounds costs, in descent steps: to set off, and so many events for each
support vector, each as many steps as there are free rows, and some more."""

_FURTHER_ROWS = 16
"""Rows outside the near set whose bounds may move in one path; more make a restart cheaper."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A solution made ready to set off from many times."""

    solution: Solution
    tableau: Tableau | None


def anchor_at(problem: BoxQP, solution: Solution) -> Anchor:
    """Prepare a solution of the problem, for any bounds, as the start of many batches."""
    if not arrived(solution):
        return Anchor(solution, None)
    basis = basis_of(problem, solution)
    if problem.total is not None:
        return Anchor(replace(solution, basis=basis), None)
    return Anchor(replace(solution, basis=basis), make_tableau(problem, solution, basis))


@overload
def solve(problem: BoxQP, uppers: None = None, *, start: Solution | None = None) -> Solution: ...
@overload
def solve(problem: BoxQP, uppers: Floats, *, start: Solution | Anchor | None = None) -> Batch: ...
@overload
def solve(
    problem: BoxQP, uppers: Floats, *, start: Solution | None = None, in_turn: Literal[True]
) -> Iterator[Solution]: ...
def solve(
    problem: BoxQP, uppers: Floats | None = None, *, start: Solution | Anchor | None = None, in_turn: bool = False
) -> Solution | Batch | Iterator[Solution]:
    """Solve a problem for its own upper bounds, or for many others.

    Parameters
    ----------
    problem : the kernel matrix, signs, margins and upper bounds
    uppers : (B, n) upper bounds u ≥ 0; without them those of the problem
    start : a solution of the same problem, for its own or other bounds, to set off from. With ``uppers`` the
        solution for the problem's own bounds is computed if it is not given, and the `Anchor` of a solution saves its
        preparation when there are several batches.
    in_turn : whether each of the ``uppers`` is solved from the solution before it: for a fine line of bounds

    Returns
    -------
    Solution, or for ``uppers`` a Batch, or one Solution after another if they are solved in turn
        A bound vector that leaves one class only, or whose sum over a class is less than the total, is a status and
        NaN, not an exception.
    """
    if uppers is None:
        origin = start.solution if isinstance(start, Anchor) else start
        if origin is None or origin.status is Status.ONE_CLASS:
            return solve_single(problem, problem.upper, None, Road.COLD)
        if problem.total is not None:
            return moved_on(problem, problem.upper, origin)
        beta = feasible(problem.signs * origin.alpha, origin.upper, *problem.box(problem.upper))
        return solve_single(problem, problem.upper, beta, Road.PATH)
    uppers = np.ascontiguousarray(uppers, dtype=float)
    if in_turn:
        origin = start.solution if isinstance(start, Anchor) else start
        return chain(problem, uppers, solve(problem) if origin is None else origin)
    first = solve(problem) if start is None else start
    if problem.total is not None:
        origin = first.solution if isinstance(first, Anchor) else first
        return _collected(problem.n, [moved_on(problem, upper, origin) for upper in uppers])
    return _many(problem, uppers, first)


def _many(problem: BoxQP, uppers: Floats, start: Solution | Anchor) -> Batch:
    B, n = uppers.shape
    anchor = start if isinstance(start, Anchor) else anchor_at(problem, start)
    origin = anchor.solution
    both = two_classes(problem.signs, uppers)
    paths = _Paths.empty(B, n)
    steps, road = np.zeros(B, np.int64), np.full(B, Road.PATH, np.int8)
    if arrived(origin) and problem.gram.fits:
        distant = _distant(uppers, origin.upper) if n <= _LARGEST_COMPACT else np.zeros(B, bool)
        road[distant] = Road.COLD
        if distant.any():
            _solve_compactly(problem, origin, uppers, both & distant, paths, steps, road)
        near = np.flatnonzero(~distant)
        if len(near) == B:
            _follow_all(problem, anchor, uppers, paths)
        elif len(near):
            some = _Paths.empty(len(near), n)
            _follow_all(problem, anchor, uppers[near], some)
            paths.put_many(near, some)
    elif arrived(origin):
        _stay_all(problem, origin, uppers, paths)
    paths.h[paths.code != ARRIVED], paths.beta[paths.code == NOT_TRIED] = problem.linear, 0.0
    left = _cancel(problem, uppers, both, paths)
    set_off = origin.rounding if arrived(origin) else 0.0
    limit = rounding_of(paths.beta, problem.gram.diagonal) + set_off + left
    field = problem.linear - paths.h
    highest, lowest = field.max(axis=1), field.min(axis=1)
    spread, dropped = highest - lowest, np.maximum(highest, -lowest)
    rough = is_rough(paths.violation, limit, spread)
    noise = is_noise(dropped, paths.violation, limit) & ~rough
    maybe = np.flatnonzero(noise)
    noise[maybe] = may_be_flat(field[maybe], paths.beta[maybe], paths.gap[maybe], limit[maybe], problem.gram.diagonal)
    flat = _flatten(problem, uppers, noise, paths)
    limit, spread = limit + np.where(flat, dropped, 0.0), np.where(flat, 1.0, spread)
    beside = sizes_beside(middles(paths.interval), problem.linear)
    judged = judgement(paths.violation, limit, limit, beside, spread)
    status, rounding, resolution = judged.status, judged.rounding, judged.resolution
    delicate = rough | (~flat & (limit > PRECISION * spread))
    for q in np.flatnonzero(both & ((paths.code != ARRIVED) | delicate)).tolist():
        from_path = paths.code[q] != NOT_TRIED and np.isfinite(paths.beta[q]).all()
        beta, upper = (paths.beta[q], uppers[q]) if from_path else (problem.signs * origin.alpha, origin.upper)
        single = solve_single(problem, uppers[q], feasible(beta, upper, *problem.box(uppers[q])), Road.RESCUE)
        paths.put(q, problem.signs * single.alpha, problem.linear - single.field, single)
        rounding[q], resolution[q], status[q] = single.rounding, single.resolution, single.status
        road[q] = Road.RESCUE
        steps[q] += single.steps
    status[~both] = Status.ONE_CLASS
    for array in (paths.beta, paths.h, paths.interval, paths.violation, paths.gap, rounding, resolution):
        array[~both] = np.nan
    alpha = np.multiply(paths.beta, problem.signs, out=paths.beta)
    field = np.subtract(problem.linear, paths.h, out=paths.h)
    rho = np.where(both, 1.0, np.nan)
    return Batch(
        alpha, field, paths.interval, paths.violation, paths.gap, rounding, resolution, status, road, steps,
        paths.events, rho,
    )  # fmt: skip


def _cancel(problem: BoxQP, uppers: Floats, both: NDArray[np.bool_], paths: "_Paths") -> Floats:
    """Put the solution that needs no solving where one class outweighs the other at every point.

    How far from it (B,) the h of its β may be.
    """
    left = np.zeros(len(uppers))
    for q in np.flatnonzero(both & may_be_outweighed(problem, uppers)):
        alpha = outweighed(problem, uppers[q])
        if alpha is not None:
            paths.beta[q], paths.h[q], paths.code[q] = problem.signs * alpha, problem.linear, ARRIVED
            ends = certify(problem.linear, paths.beta[q], *problem.box(uppers[q]))
            paths.interval[q], paths.violation[q], paths.gap[q] = ends[:2], ends[2], ends[3]
            left[q] = left_over(problem, paths.beta[q])
    return left


def _flatten(problem: BoxQP, uppers: Floats, noise: NDArray[np.bool_], paths: "_Paths") -> NDArray[np.bool_]:
    """Make h exactly s where Kβ is noise (B,) and the certificate holds for f = b, and tell where.

    A map of such a field would take what rounding left of it for a signal.
    """
    flat = noise.copy()
    for q in np.flatnonzero(noise):
        ends = certify(problem.linear, paths.beta[q], *problem.box(uppers[q]))
        flat[q] = ends[2] <= TOLERANCE
        if flat[q]:
            paths.h[q] = problem.linear
            paths.interval[q], paths.violation[q], paths.gap[q] = ends[:2], ends[2], ends[3]
    return flat


def _collected(n: int, solutions: list[Solution]) -> Batch:
    """Solutions, each found for itself, as a batch."""
    B = len(solutions)
    return Batch(
        alpha=np.array([s.alpha for s in solutions]).reshape(B, n),
        field=np.array([s.field for s in solutions]).reshape(B, n),
        intercept_interval=np.array([s.intercept_interval for s in solutions]).reshape(B, 2),
        violation=np.array([s.violation for s in solutions], float),
        gap=np.array([s.gap for s in solutions], float),
        rounding=np.array([s.rounding for s in solutions], float),
        resolution=np.array([s.resolution for s in solutions], float),
        status=np.array([s.status for s in solutions], np.int8),
        road=np.array([s.road for s in solutions], np.int8),
        steps=np.array([s.steps for s in solutions], np.int64),
        events=np.array([s.events for s in solutions], np.int64),
        rho=np.array([s.rho for s in solutions], float),
    )


@dataclass(frozen=True, slots=True)
class _Paths:
    """Results of B paths, filled in by the kernels: arrays as in `Batch`, and the code of each path.

    They are zero where no path has led, so that nothing that is computed of them overflows.
    """

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
            np.zeros((B, n)), np.zeros((B, n)), np.zeros((B, 2)), np.full(B, np.inf), np.full(B, np.inf),
            np.full(B, NOT_TRIED, np.int8), np.zeros(B, np.int64),
        )  # fmt: skip

    def put(self, q: int, beta: Floats, h: Floats, single: Solution) -> None:
        self.beta[q], self.h[q] = beta, h
        self.interval[q], self.violation[q], self.gap[q] = single.intercept_interval, single.violation, single.gap
        self.events[q] += single.events

    def put_many(self, rows: NDArray[np.intp], some: "_Paths") -> None:
        for field in fields(self):
            getattr(self, field.name)[rows] = getattr(some, field.name)


def _distant(uppers: Floats, upper: Floats) -> NDArray[np.bool_]:
    """Where so many bounds (B, n) differ from the start's that the path from there would be long."""
    return np.asarray(np.count_nonzero(uppers != upper, axis=1) > max(_FEW, 0.05 * len(upper)))


def _solve_compactly(
    problem: BoxQP, origin: Solution, uppers: Floats, wanted: NDArray[np.bool_], paths: _Paths,
    steps: NDArray[np.int64], road: NDArray[np.int8],
) -> None:  # fmt: skip
    """By a descent on the open rows; where that is long, by the path from the start with all rows taking part."""
    gram, signs, linear = problem.gram.complete(), problem.signs, problem.linear
    results = (paths.beta, paths.h, paths.interval, paths.violation, paths.gap, paths.code)
    beta = signs * origin.alpha
    events = _EVENTS * np.count_nonzero(beta)
    patience = _SETTING_OFF + int(events * (_EVENT + np.count_nonzero(origin.free)))
    compact_all(
        gram, signs, linear, beta, origin.upper, uppers, wanted, patience, TOLERANCE, *results, steps, paths.events
    )  # fmt: skip
    long = np.flatnonzero(paths.code == TOO_LONG)
    if len(long):
        some = _Paths.empty(len(long), problem.n)
        _follow_keeping_inverse(problem, origin, np.arange(problem.n), uppers[long], some)
        certify_all(
            gram, beta, linear - origin.field, signs, uppers[long], TOLERANCE, some.beta, some.h, some.interval,
            some.violation, some.gap, some.code,
        )  # fmt: skip
        paths.put_many(long, some)
        road[long] = Road.PATH
    settle_all(gram, signs, uppers, TOLERANCE, *results)


def _stay_all(problem: BoxQP, origin: Solution, uppers: Floats, paths: _Paths) -> None:
    """All that is done without a kernel matrix in memory: where no β has to move the solution stays."""
    lo, hi = problem.box(origin.upper)
    beta, h = problem.signs * origin.alpha, problem.linear - origin.field
    stay_all(
        beta, h, origin.intercept, partition(beta, lo, hi), lo, hi, problem.signs, uppers, TOLERANCE, paths.beta,
        paths.h, paths.interval, paths.violation, paths.gap, paths.code,
    )  # fmt: skip


def _follow_all(problem: BoxQP, anchor: Anchor, uppers: Floats, paths: _Paths) -> None:
    """By the tableau; where it does not lead to the end, by the path that keeps R."""
    origin = anchor.solution
    lo, hi = problem.box(origin.upper)
    beta, h, b = problem.signs * origin.alpha, problem.linear - origin.field, origin.intercept
    status = partition(beta, lo, hi)
    gram, t = problem.gram.complete(), anchor.tableau
    if t is not None:
        follow_tableau(
            t.rows, t.T, t.T_b, t.side, t.diagonal, beta, h, b, status, lo, hi, problem.signs, uppers, _PATH_EVENTS,
            paths.beta, paths.code, paths.events,
        )  # fmt: skip
    left = np.flatnonzero(paths.code != ARRIVED)
    if len(left):
        some = _Paths.empty(len(left), problem.n)
        _follow_keeping_inverse(problem, origin, near_rows(beta, b - h, hi > lo), uppers[left], some)
        paths.beta[left], paths.code[left] = some.beta, some.code
        paths.events[left] += some.events
    results = (paths.beta, paths.h, paths.interval, paths.violation, paths.gap, paths.code)
    certify_all(gram, beta, h, problem.signs, uppers, TOLERANCE, *results)
    if t is not None:
        correct_all(gram, t.rows, t.T, t.side, problem.signs, uppers, TOLERANCE, *results)
    settle_all(gram, problem.signs, uppers, TOLERANCE, *results)


def _follow_keeping_inverse(problem: BoxQP, origin: Solution, near: Rows, uppers: Floats, paths: _Paths) -> None:
    """By the path that keeps R, on the rows ``near`` an event; β, code and events of ``paths`` are filled in."""
    lo, hi = problem.box(origin.upper)
    beta, h, b = problem.signs * origin.alpha, problem.linear - origin.field, origin.intercept
    basis, gram = basis_of(problem, origin), problem.gram.complete()
    place = np.full(problem.n, -1)
    place[near] = np.arange(len(near))
    follow(
        gram, gram if len(near) == problem.n else problem.gram.block(near), near, _FURTHER_ROWS, place[basis.rows],
        basis.inverse, beta, h, b, partition(beta, lo, hi), lo, hi, problem.signs, uppers, _PATH_EVENTS, paths.beta,
        paths.code, paths.events,
    )  # fmt: skip
