"""One bound vector after another, each exact solution the start of the path to the next."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.solver.case import Case, Neighbour, case_of, fresh
from svmstat.solver.exact.basis import basis_in, exclude_where, with_room
from svmstat.solver.exact.path import ARRIVED, move
from svmstat.solver.exact.polish import refine
from svmstat.solver.flat import outweighed
from svmstat.solver.hulls import feasible, may_reach
from svmstat.solver.low_rank import LowRank
from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.conclude import arrived, certified, concluded, is_hidden, made_finer, settled_basis
from svmstat.solver.roads.paths import Paths, Wanted, blank, certify_all, origin_of, set_off
from svmstat.solver.roads.single import basis_of, solve_single
from svmstat.solver.roads.vicinity import solve_near, vicinity_of
from svmstat.solver.solution import FREE, Basis, Road, Solution, Status, settle

_MOST_EVENTS = 5000
"""Events after which a path from the start of a batch is given up."""

_PATIENCE = 300
"""Events after which a descent from the last solution is the shorter way."""

_SAME, _TINY = 1e-14, 1e-300
"""Up to this share of the largest |β| two of them are the same; what makes their size positive where β is zero."""

_FEW_BOUND = 0.3
"""Up to so many rows at their bound, as a share of the free ones, they are few: of 0, 0.1, 0.3 and 1 that with which
`python -m benchmarks grids` took least."""

_ROOM = 64
"""How many rows may become free on the way to the next solution."""


def chain(problem: BoxQP, uppers: Floats, start: Solution) -> Iterator[Solution]:
    """Solutions for each of the bound vectors (B, n) in their order, the first path setting off from ``start``."""
    last = start
    for upper in uppers:
        last = moved_on(problem, upper, last)
        yield last


def moved_on(problem: BoxQP, upper: Floats, last: Solution) -> Solution:
    """The solution for upper bounds (n,) from another one, along the path if that is not long."""
    factored = problem.gram if isinstance(problem.gram, LowRank) and problem.total is None else None
    if arrived(last) and (problem.gram.fits or factored is not None) and outweighed(problem, upper) is None:
        solution = unmoved(problem, upper, last)
        if solution is None and factored is None:
            solution = _moved(problem, upper, last)
        elif solution is None and factored is not None:
            solution = solve_near(problem, upper, vicinity_of(problem, factored, last))
        if solution is not None:
            return solution
    if last.status in (Status.ONE_CLASS, Status.INFEASIBLE):
        return solve_single(problem, upper, None, Road.COLD)
    return set_off_from(problem, upper, last)


def set_off_from(problem: BoxQP, upper: Floats, last: Solution) -> Solution:
    """The solution for upper bounds (n,) by a descent from what another one, which has both classes, carries over."""
    beta = carried_over(problem, upper, last)
    h = carried_h(problem, beta, last)
    near = None if beta is None or h is None else _carried(problem, beta, h, last)
    return solve_single(problem, upper, beta, Road.WARM, h, near)


def _moved(problem: BoxQP, upper: Floats, last: Solution) -> Solution | None:
    """The solution at the end of the path, None if it breaks off, is long, or does not end at a certified one."""
    case = case_of(problem, upper)
    walked = walk_to(problem, case, last, _PATIENCE)
    if walked is None:
        return None
    beta = walked.beta
    h = fresh(case, beta)
    refine(case, beta, h, walked.b, walked.basis)
    start = problem.signs * last.alpha if last.nearest is None else last.nearest.beta
    basis, further = made_finer(case, beta, h, walked.basis)
    basis = settled_basis(case, beta, h, basis, float(np.abs(start).max()))
    if case.lead == 1 and is_hidden(case, beta, h):  # the walk has gone astray: what it ended at is no noise
        return None
    solution = certified(problem, case, upper, beta, h, basis, Road.PATH, 0, walked.events + further)
    return solution if arrived(solution) else None


@dataclass(frozen=True, slots=True)
class Walked:
    """The end of a path: β (n,), the multipliers b (lead,), the basis there, and the events on the way."""

    beta: Floats
    b: Floats
    basis: Basis
    events: int


def walk_to(problem: BoxQP, case: Case, last: Solution, patience: int) -> Walked | None:
    """By the path from another solution, keeping R on the way; None where it breaks off or would be long."""
    if not (case.lo.any() and case.hi.any() and last.rho > 0.0 and may_reach(problem, case.lo, case.hi)):
        return None
    origin = origin_of(problem, last)
    basis, everything = basis_of(problem, last), np.arange(problem.n)
    free = with_room(basis.rows, basis.inverse, _ROOM)
    point, change = blank(problem.n, case.lead)
    set_off(everything, everything, origin, case.lo, case.hi, point, change)
    exclude_where(case.sums, free, point.status != FREE)
    code, events = move(problem.gram.complete(), case.sums, point, free, change, patience)
    if code != ARRIVED:
        return None
    settle(point.beta, case.lo, case.hi)
    exclude_where(case.sums, free, ~case.free(point.beta))
    return Walked(point.beta, point.b, basis_in(free, case.lead), int(events))


def unmoved(problem: BoxQP, upper: Floats, last: Solution) -> Solution | None:
    """The last solution where it is still the one, since only bounds change that no α touches; else None."""
    if not arrived(last):
        return None
    return _unmoved_alpha(problem, upper, last) if problem.total is None else _unmoved_hulls(problem, upper, last)


def _unmoved_alpha(problem: BoxQP, upper: Floats, last: Solution) -> Solution | None:
    """Where rows that are free stay so, and no row at zero may leave it for the first time.

    So it is for every larger cost once no row is at its bound.
    """
    free = last.free
    if last.nearest is not None or last.flat or not free.any():
        return None
    stays = np.where(last.alpha == 0.0, (last.upper > 0.0) | (upper == 0.0), free & (last.alpha < upper))
    if not (stays | (upper == last.upper)).all():
        return None
    beta, h = problem.signs * last.alpha, problem.linear - last.field
    case = case_of(problem, upper)
    # α may be at the new bound but for rounding
    found = concluded(problem, case, upper, beta, h, last.basis, Road.PATH, 0, 0)
    return found if found.status is Status.CERTIFIED else None


def _unmoved_hulls(problem: BoxQP, upper: Floats, last: Solution) -> Solution | None:
    """Where `hulls_stay`."""
    nearest = last.nearest
    if nearest is None or problem.total is None or not hulls_stay(problem, upper, last):
        return None
    caps = upper / problem.total
    unit = problem.total / last.rho if last.rho > 0.0 else problem.total
    scaled = np.where(caps != nearest.caps, caps * unit, last.upper)  # α at a bound must equal it exactly
    return replace(last, upper=scaled, nearest=replace(nearest, caps=caps), road=Road.PATH, steps=0, events=0)


def hulls_stay(problem: BoxQP, uppers: Floats, last: Solution) -> NDArray[np.bool_]:
    """For which bounds (..., n) the nearest points stay what they are.

    Where smaller bounds of rows that are zero are all that changes, and each class has a free row: a class without one
    could take another multiplier. Hulls that meet do so for all bounds that allow the point in which they meet.
    """
    nearest = last.nearest
    assert nearest is not None and problem.total is not None
    caps, beta = uppers / problem.total, nearest.beta
    moves = (beta != 0.0) & (caps != nearest.caps) | (caps > nearest.caps)
    may_stay = arrived(last) and len(np.unique(problem.signs[last.free])) == 2
    if last.rho == 0.0:
        moves, may_stay = np.abs(beta) > caps, arrived(last)
    return np.asarray(may_stay & ~moves.any(axis=-1))


def carried_over(problem: BoxQP, upper: Floats, last: Solution) -> Floats | None:
    """A feasible β (n,) for upper bounds (n,) from another solution; None if there is none.

    Without a total every α is the same share of its bound: nearer than the same α where all bounds move together, as
    they do with the cost, unless few are at theirs: the same α is nearer then.
    """
    lo, hi = problem.box(upper)
    if problem.total is None or last.nearest is None:
        if _hardly_moves(upper, last):
            return problem.signs * last.alpha
        share = np.divide(upper, last.upper, out=np.zeros(len(upper)), where=last.upper > 0)
        return feasible(problem.signs * last.alpha * share, last.upper * share, lo, hi)
    if not np.isfinite(last.rho) or not may_reach(problem, lo, hi):
        return None
    return feasible(last.nearest.beta, last.nearest.caps, lo, hi, 1.0)


def _hardly_moves(upper: Floats, last: Solution) -> bool:
    """Whether every α of the last solution is allowed, and few were at their bound."""
    few = np.count_nonzero(last.bounded) <= _FEW_BOUND * np.count_nonzero(last.free)
    return bool(few and (upper >= last.alpha).all())


def carried_h(problem: BoxQP, beta: Floats | None, last: Solution) -> Floats | None:
    """h = s − Kβ (n,) without a kernel value, where β is a multiple of that of another solution; else None."""
    if beta is None or last.nearest is not None or last.flat:
        return None
    was = problem.signs * last.alpha
    times = _multiple(beta, was)
    same = np.abs(beta - times * was).max() <= _SAME * np.abs(beta).max()
    return np.asarray(problem.linear - times * last.field) if same else None


def _multiple(beta: Floats, was: Floats) -> float:
    """Which multiple of another one β is, or is nearest to."""
    return float(beta @ was) / max(float(was @ was), _TINY)


def _carried(problem: BoxQP, beta: Floats, h: Floats, last: Solution) -> Neighbour:
    """The start (β, h), for what h may be followed from on the way; see `carried_h`."""
    was = problem.signs * last.alpha
    times = _multiple(beta, was)
    rounding = abs(times) * last.rounding + float(np.abs(beta - times * was).sum()) * problem.gram.sizes.largest
    return Neighbour(beta.copy(), h.copy(), rounding)


def walk_all(
    problem: BoxQP, origin: Solution, uppers: Floats, some: NDArray[np.intp], paths: Paths, road: NDArray[np.int8]
) -> None:
    """Some of the bounds (B, n), each by the path that keeps R, on which all rows take part."""
    if len(some) == 0:
        return
    results = Paths.empty(len(some), problem.n)
    origin = replace(origin, basis=basis_of(problem, origin))
    for k, q in enumerate(some):
        case = case_of(problem, uppers[q])
        walked = walk_to(problem, case, origin, _MOST_EVENTS)
        if walked is not None:
            refine(case, walked.beta, fresh(case, walked.beta), walked.b, walked.basis)
            results.beta[k], results.code[k], results.events[k] = walked.beta, ARRIVED, walked.events
    start = origin_of(problem, origin)
    certify_all(
        problem.gram.complete(), start, problem.linear - origin.field, Wanted(problem.signs, uppers[some]), results
    )  # fmt: skip
    paths.put_many(some, results)
    road[some] = Road.PATH
