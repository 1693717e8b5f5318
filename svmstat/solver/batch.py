"""The one entry to the solver: one or many bound vectors on one kernel matrix, every solution with its certificate."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from svmstat.solver.case import case_of
from svmstat.solver.chain import chain, moved_on, walk_to
from svmstat.solver.compact import TOO_LONG, compact_all
from svmstat.solver.flat import is_noise, left_over, may_be_flat, may_be_outweighed, outweighed
from svmstat.solver.follow import (
    NOT_TRIED,
    Paths,
    Wanted,
    certify_all,
    correct_all,
    follow_tableau,
    origin_of,
    settle_all,
    stay_all,
    two_classes,
)
from svmstat.solver.gram import Floats
from svmstat.solver.hulls import feasible
from svmstat.solver.path import ARRIVED
from svmstat.solver.problem import BoxQP
from svmstat.solver.single import arrived, basis_of, solve_single
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
    rounding_of,
    sizes_beside,
)
from svmstat.solver.tableau import Tableau, make_tableau

_PATH_EVENTS = 5000

_FEW = 20
"""Bounds that may change before a path from the start is given up for a new descent; above 400 rows 5 %."""

_LARGEST_COMPACT = 4000
"""Rows of the largest problem whose open rows are gathered for each bound vector (128 MB)."""

_SETTING_OFF, _EVENTS, _EVENT = 200, 0.3, 5
"""What the path from the start to distant bounds costs, in descent steps: to set off, and so many events for each
support vector, each as many steps as there are free rows, and some more."""

_START = 3
"""Where the start's own descent took more steps than so many times that price, the path is taken at once.

Measured on bootstrap replicates of mackerel and simulated rows, linear, quadratic and rbf kernels, C from 0.1 to 100:
the descent from the start, scaled, takes a half to a third of the start's own steps. Linear kernel, C = 16 and 100:
1.08 instead of 1.28 and 0.86 instead of 1.42 ms a replicate; the rbf kernel never comes near it.
"""


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
        return solve_single(problem, problem.upper, beta, Road.WARM)
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
    paths = Paths.empty(B, n)
    steps, road = np.zeros(B, np.int64), np.full(B, Road.PATH, np.int8)
    if arrived(origin) and problem.gram.fits:
        distant = _distant(uppers, origin.upper) if n <= _LARGEST_COMPACT else np.zeros(B, bool)
        road[distant], road[~distant] = Road.COMPACT, Road.TABLEAU
        if distant.any():
            _solve_compactly(problem, origin, uppers, both & distant, paths, steps, road)
        near = np.flatnonzero(~distant)
        if len(near) == B:
            _follow_all(problem, anchor, uppers, paths, road)
        elif len(near):
            some, its_road = Paths.empty(len(near), n), road[near]
            _follow_all(problem, anchor, uppers[near], some, its_road)
            paths.put_many(near, some)
            road[near] = its_road
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


def _cancel(problem: BoxQP, uppers: Floats, both: NDArray[np.bool_], paths: "Paths") -> Floats:
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


def _flatten(problem: BoxQP, uppers: Floats, noise: NDArray[np.bool_], paths: "Paths") -> NDArray[np.bool_]:
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


def _distant(uppers: Floats, upper: Floats) -> NDArray[np.bool_]:
    """Where so many bounds (B, n) differ from the start's that the path from there would be long."""
    return np.asarray(np.count_nonzero(uppers != upper, axis=1) > max(_FEW, 0.05 * len(upper)))


def _solve_compactly(
    problem: BoxQP, origin: Solution, uppers: Floats, chosen: NDArray[np.bool_], paths: Paths,
    steps: NDArray[np.int64], road: NDArray[np.int8],
) -> None:  # fmt: skip
    """By a descent on the open rows; where that is long, by the path from the start with all rows taking part."""
    gram, wanted = problem.gram.complete(), Wanted(problem.signs, uppers)
    beta = problem.signs * origin.alpha
    events = _EVENTS * np.count_nonzero(beta)
    patience = _SETTING_OFF + int(events * (_EVENT + np.count_nonzero(origin.free)))
    if origin.steps > _START * patience:
        long = np.flatnonzero(chosen)
    else:
        compact_all(gram, problem.linear, beta, origin.upper, wanted, chosen, patience, paths, steps)
        long = np.flatnonzero(paths.code == TOO_LONG)
    _walk_all(problem, origin, uppers, long, paths, road)
    settle_all(gram, wanted, paths)


def _stay_all(problem: BoxQP, origin: Solution, uppers: Floats, paths: Paths) -> None:
    """All that is done without a kernel matrix in memory: where no β has to move the solution stays."""
    start = origin_of(problem, case_of(problem, origin.upper), origin)
    stay_all(start, problem.linear - origin.field, Wanted(problem.signs, uppers), paths)


def _follow_all(problem: BoxQP, anchor: Anchor, uppers: Floats, paths: Paths, road: NDArray[np.int8]) -> None:
    """By the tableau; where it does not lead to the end, by the path that keeps R."""
    origin, tableau, wanted = anchor.solution, anchor.tableau, Wanted(problem.signs, uppers)
    start = origin_of(problem, case_of(problem, origin.upper), origin)
    gram, h = problem.gram.complete(), problem.linear - origin.field
    if tableau is not None:
        follow_tableau(tableau, start, wanted, _PATH_EVENTS, paths)
        left = np.flatnonzero(paths.code != ARRIVED)
        certify_all(gram, start, h, wanted, paths)
        correct_all(gram, tableau, wanted, paths)
    else:
        left = np.arange(len(uppers))
    _walk_all(problem, origin, uppers, left, paths, road)
    settle_all(gram, wanted, paths)


def _walk_all(
    problem: BoxQP, origin: Solution, uppers: Floats, some: NDArray[np.intp], paths: Paths, road: NDArray[np.int8]
) -> None:
    """Some of the bounds (B, n), each by the path that keeps R, on which all rows take part."""
    if len(some) == 0:
        return
    results, case = Paths.empty(len(some), problem.n), case_of(problem, origin.upper)
    origin = replace(origin, basis=basis_of(problem, origin))
    for k, q in enumerate(some):
        walked = walk_to(problem, case_of(problem, uppers[q]), origin, _PATH_EVENTS)
        if walked is not None:
            results.beta[k], results.code[k], results.events[k] = walked.beta, ARRIVED, walked.events
    start = origin_of(problem, case, origin)
    certify_all(
        problem.gram.complete(), start, problem.linear - origin.field, Wanted(problem.signs, uppers[some]), results
    )  # fmt: skip
    paths.put_many(some, results)
    road[some] = Road.PATH
