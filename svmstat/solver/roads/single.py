"""One bound vector: rough from zero or from a neighbouring solution, then exact."""

from dataclasses import replace
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.solver.case import Case, Neighbour, by_itself, case_of, fresh, judge
from svmstat.solver.exact.bordered import fresh_basis
from svmstat.solver.exact.factored import finish
from svmstat.solver.exact.polish import polish
from svmstat.solver.flat import left_over, outweighed
from svmstat.solver.gram import Room
from svmstat.solver.hulls import may_reach
from svmstat.solver.low_rank import LowRank
from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.conclude import arrived, by_short_factor, certified, concluded, made_finer, unsolved
from svmstat.solver.roads.low_rank import approach, set_off
from svmstat.solver.rough.newton import MANY, Outcome, newton
from svmstat.solver.rough.wide import way_down
from svmstat.solver.solution import Basis, Road, Solution, Status, is_rough

_HANDOVERS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7)
"""KKT violations at which the descent may hand over to the path."""

_WORTH = {False: 0.7, True: 0.3}
"""The path sets off when its events cost less than this share of the steps so far; with many free rows later."""

_RESCUE_BELOW = 1e-5
"""A descent that had to go below this violation counts as a rescue."""

_FUTILE = 3
"""After so many descents of the most steps that end short of their tolerance a further one would too; after one where
K = AA' by a short factor, which leads there at once."""

_MANY_ROWS, _LONG = 1000, 10
"""From so many rows on, and so many times as many as columns, the primal of a short map comes before any descent: 3 ms
for 1000 x 20 and C from 0.1 to 100, where descent and path take 2 to 280, and 5 for 4000 x 20, where they take 40 to
800."""

_MOST_EVENTS = 20_000
_STEPS_PER_ROW = 100
_LEAST_STEPS = 20_000


def solve_single(
    problem: BoxQP, upper: Floats, beta: Floats | None, road: Road, h: Floats | None = None,
    neighbour: Neighbour | None = None,
) -> Solution:  # fmt: skip
    """The solution for upper bounds (n,), from a feasible β (n,), and its h = s − Kβ if that is known, or from zero.

    A start that does not lead to a solution which meets the tolerance is given up for a cold one; where it does, and
    too much of h is hidden by its violation, the better of the two is taken.
    """
    case = case_of(problem, upper, neighbour)
    if not (case.lo.any() and case.hi.any()):
        return unsolved(problem, upper, Status.ONE_CLASS)
    alpha = outweighed(problem, upper)
    if alpha is not None:
        beta = problem.signs * alpha
        return certified(problem, case, upper, beta, problem.linear, None, road, 0, 0, left_over(problem, beta))
    if not may_reach(problem, case.lo, case.hi):
        return unsolved(problem, upper, Status.INFEASIBLE)
    warm = None
    if beta is not None and beta.any():
        warm = _reach(problem, case, upper, beta, road, h)
        if arrived(warm) and not _may_be_finer(warm):
            return warm
        road = Road.RESCUE
    cold = _reach(problem, case, upper, np.zeros(problem.n), road)
    return cold if warm is None or not arrived(warm) else _better(cold, warm)


def _better(one: Solution, other: Solution) -> Solution:
    """The first if it is certified or its violation is less."""
    return one if one.status is Status.CERTIFIED or one.violation < other.violation else other


def _may_be_finer(solution: Solution) -> bool:
    """Whether too much of h is hidden, by the violation or as h is noise, and another solution might do better."""
    spread = np.ptp(solution.field)
    hidden = is_rough(solution.violation, solution.rounding, spread) or spread <= solution.rounding
    return solution.status is Status.IMPRECISE and bool(hidden)


def _reach(
    problem: BoxQP, case: Case, upper: Floats, beta: Floats, road: Road, known: Floats | None = None
) -> Solution:  # fmt: skip
    """From a feasible β, which is overwritten, as is its h if that is known, to the solution."""
    if isinstance(case.gram, LowRank) and case.lead == 1:
        return _by_primal(problem, case, case.gram, upper, beta, road)
    A = _long_map(case, road)
    at_once = None if A is None else _by_map(problem, case, A, upper, beta.copy(), road, tied=False)
    return _by_values(problem, case, upper, beta, road, known) if at_once is None else at_once


def _by_values(
    problem: BoxQP, case: Case, upper: Floats, beta: Floats, road: Road, known: Floats | None
) -> Solution:  # fmt: skip
    """The same by kernel values, and by a short factor where they do not lead to the tolerance."""
    if case.neighbour is not None and not case.gram.fits:
        known = fresh(case, beta) if known is None else known
        beside = _stepped(problem, case, upper, beta, known, road)
        if beside is not None:
            return beside
    if (road is Road.RESCUE or case.lead > 1) and beta.any() and case.gram.fits:
        shortly = _factored(problem, case, upper, beta, road)
        if shortly is not None:
            return shortly
    if case.lead > 1 and not beta.any():
        beta = _towards_each_other(case)
    found = _descended(problem, case, upper, beta, road, known)
    A = None if arrived(found) else _short_map(case)
    further = None if A is None else _by_map(problem, case, A, upper, np.zeros(problem.n), road, tied=True)
    found = found if further is None else _better(further, found)
    return found if arrived(found) else _walked_on(problem, case, upper, found, road)


def _walked_on(problem: BoxQP, case: Case, upper: Floats, found: Solution, road: Road) -> Solution:
    """Where the tolerance is not met, the solution by a short factor from there, if more is known of its f.

    Rounding may hide the violation of an f which the factor leaves at once, for another that stays where it is.
    """
    G = case.gram.short_factor() if case.lead == 1 else None
    if G is None or np.isnan(found.gap):
        return found
    beta, h = problem.signs * found.alpha, np.empty(problem.n)
    events = found.events + finish(case, G, beta, h)
    other = certified(problem, case, upper, beta, fresh(case, beta), None, road, found.steps, events)
    as_good = other.violation <= max(found.violation, found.rounding)
    return other if as_good and other.resolution < found.resolution else found


def _by_primal(problem: BoxQP, case: Case, gram: LowRank, upper: Floats, beta: Floats, road: Road) -> Solution:
    """The same where K = AA' by a factor A alone, and from there by descent and path."""
    h = np.empty(problem.n)
    set_off(case, gram, beta, h)
    return _led_on(problem, case, upper, beta, h, approach(case, gram, beta, h), road)


def _by_map(
    problem: BoxQP, case: Case, A: Floats, upper: Floats, beta: Floats, road: Road, *, tied: bool
) -> Solution | None:  # fmt: skip
    """The same for a known matrix K = AA'; None where many rows tie at the margin, unless they may be ``tied``."""
    gram, h = LowRank(np.ascontiguousarray(A)), np.empty(problem.n)
    near = replace(case, gram=gram)
    if set_off(near, gram, beta, h) and not tied:
        return None
    return _led_on(problem, case, upper, beta, h, approach(near, gram, beta, h), road)


def _led_on(
    problem: BoxQP, case: Case, upper: Floats, beta: Floats, h: Floats, events: int, road: Road
) -> Solution:  # fmt: skip
    """What the primal has led to, (β, h), or what descent and path make of it, unless only rounding is left."""
    found, found_h = beta.copy(), h.copy()
    solution = concluded(problem, case, upper, found, found_h, None, Road.LOW_RANK, 0, events)
    no_descent_helps = solution.status is Status.IMPRECISE and solution.violation > _HANDOVERS[0]
    if arrived(solution) or no_descent_helps:
        return solution
    return _better(_descended(problem, case, upper, beta, road, h), solution)


def _short_map(case: Case) -> Floats | None:
    """A (n, r), of fewer columns than rows, where K = AA' is known and one sum is given."""
    A = None if case.lead > 1 or isinstance(case.gram, LowRank) else case.gram.vectors
    return None if A is None or A.shape[1] >= case.gram.n else A


def _has_map(case: Case) -> bool:
    return isinstance(case.gram, LowRank) or _short_map(case) is not None


def _long_map(case: Case, road: Road) -> Floats | None:
    """The same where the primal comes before a descent: not where a path has just failed, the solution being near."""
    A = _short_map(case) if case.gram.n >= _MANY_ROWS and road is not Road.RESCUE else None
    return None if A is None or _LONG * A.shape[1] >= case.gram.n else A


def _stepped(problem: BoxQP, case: Case, upper: Floats, beta: Floats, h: Floats, road: Road) -> Solution | None:
    """The same from a (β, h) near the solution by Newton steps alone; None, and both as they were, if they miss it.

    Without one of 20 000 rows, interaction × 10, C = 1, by these in 0.17 to 0.2 s, by descent in 0.3 to 0.5.
    """
    case = replace(case, gram=case.gram.passing())
    if newton(case, beta, h, Room()) is not Outcome.EXACT:
        return None
    return concluded(problem, case, upper, beta, h, None, road, 0, 0)


def _factored(problem: BoxQP, case: Case, upper: Floats, beta: Floats, road: Road) -> Solution | None:
    """The same by a short factor of K, where paths have led to no end; None where there is none, or it does not do."""
    trial, h = beta.copy(), np.empty(problem.n)
    events = by_short_factor(case, trial, h)
    if events is None:
        return None
    found = concluded(problem, case, upper, trial, h, None, road, 0, events)
    return found if found.status is Status.CERTIFIED else None


def _descended(
    problem: BoxQP, case: Case, upper: Floats, beta: Floats, road: Road, known: Floats | None
) -> Solution:  # fmt: skip
    """The same by descent and path, whatever the kernel."""
    case, down = way_down(case)
    h = fresh(case, beta) if known is None else known
    steps, events, futile, room = 0, 0, 0, Room()
    basis: Basis | None = None
    polished_exactly = False
    nearest = np.inf, beta, h  # the best that a path which led nowhere has left
    most = max(_LEAST_STEPS, _STEPS_PER_ROW * problem.n)
    for tolerance in _HANDOVERS:
        if futile >= _FUTILE or (futile and _has_map(case)):
            continue
        spent = down(case, beta, h, tolerance, most, room)
        steps, futile = steps + spent, futile + (spent >= most)
        if not np.isfinite(h).all():  # nothing that follows could be certified
            break
        case = by_itself(case, beta, h)
        n_free = int(np.count_nonzero(case.free(beta)))
        may_go_on = tolerance > 1e-5 and spent < most
        many = n_free >= MANY
        expected = _expected_events(case, beta, h) if may_go_on else 0
        if expected * n_free > _WORTH[many] * steps:
            continue
        if case.lead == 1:
            outcome = newton(case, beta, h, room)
            if outcome is Outcome.EXACT:
                basis, polished_exactly = None, True
                break
            if outcome is Outcome.BLOCKED and may_go_on and n_free:  # further down they end, mostly
                continue
        rough = judge(case, beta, h).violation, beta.copy(), h.copy()
        patience = 100 + 2 * steps // (n_free + 1) if tolerance > _HANDOVERS[-1] else _MOST_EVENTS
        polished_exactly, basis, spent = _polished(case, beta, h, patience, tolerance <= _RESCUE_BELOW)
        events += spent
        if polished_exactly:
            break
        nearest = min(nearest, rough, key=itemgetter(0))
    else:
        h[:] = fresh(case, beta)  # rounding on the way may have moved it by more than is left of the violation
        if nearest[0] < judge(case, beta, h).violation:
            (_, beta, h), basis = nearest, None
        if case.lead > 1 and by_short_factor(case, beta, h, last=True) is not None:
            basis = None
    basis, further = made_finer(case, beta, h, basis)
    if not polished_exactly:
        h[:] = fresh(case, beta)
    reached = road if tolerance >= _RESCUE_BELOW else Road.RESCUE
    return concluded(problem, case, upper, beta, h, basis, reached, steps, events + further)


def _polished(
    case: Case, beta: Floats, h: Floats, patience: int, late: bool
) -> tuple[bool, Basis | None, int]:  # fmt: skip
    """By `polish` and, where that does not do, a short factor of K, or the other way round where it is ``late``.

    Whether (β, h) is exact, its basis if it is known, and the events.
    """
    further = by_short_factor(case, beta, h) if late else None
    if further is not None:
        return True, None, further
    polished = polish(case, beta, h, patience)
    if not (polished.exact or late):
        further = by_short_factor(case, beta, h)
    if further is None:
        return polished.exact, polished.basis, polished.events
    return True, None, polished.events + further


def _towards_each_other(case: Case) -> Floats:
    """A start β (n,) for hulls: of each class the rows nearest to the other's centre at their bounds.

    For bounds that leave one β only this is the solution.
    """
    h = fresh(case, case.hi / case.hi.sum() - case.lo / case.lo.sum())
    beta = np.zeros(len(h))
    for sign, bound in ((1.0, case.hi), (-1.0, -case.lo)):
        rows = np.flatnonzero(bound > 0.0)
        rows = rows[np.argsort(-sign * h[rows], kind="stable")]
        before = np.cumsum(bound[rows]) - bound[rows]
        beta[rows] = sign * np.clip(1.0 - before, 0.0, bound[rows])
    return beta


def basis_of(problem: BoxQP, solution: Solution, rows: NDArray[np.bool_] | None = None) -> Basis:
    """The basis of a solution, computed if it was found without one; or of other ``rows`` (n,) than its free ones."""
    if rows is not None and (rows != solution.free).any():
        return fresh_basis(problem.gram, rows, problem.sums)
    return fresh_basis(problem.gram, solution.free, problem.sums) if solution.basis is None else solution.basis


def _expected_events(case: Case, beta: Floats, h: Floats) -> int:
    """How many bound rows the path will probably meet: those whose |g| is smaller than the violation to be removed.

    An event costs about as much as a descent step for every free row, and a third of the violation about a third of
    the steps so far.
    """
    verdict = judge(case, beta, h)
    at_bound = ~case.free(beta) & (case.hi > case.lo)
    return int(np.count_nonzero(at_bound & (np.abs(case.shifts(verdict.b) - h) < verdict.violation)))
