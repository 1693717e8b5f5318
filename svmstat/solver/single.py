"""One bound vector: rough from zero or from a neighbouring solution, then exact."""

from dataclasses import replace
from operator import itemgetter

import numpy as np

from svmstat.solver.bordered import fresh_basis
from svmstat.solver.descent import descend
from svmstat.solver.flat import is_noise, left_over, may_be_flat, outweighed
from svmstat.solver.gram import Floats, Room
from svmstat.solver.hulls import (
    Hulls,
    class_ends,
    hulls_gap,
    hulls_of,
    judge,
    may_reach,
    shifts,
    towards_each_other,
)
from svmstat.solver.newton import MANY, Outcome, newton
from svmstat.solver.polish import Polished, fresh, no_basis, polish
from svmstat.solver.problem import BoxQP
from svmstat.solver.sharpen import correct, hides, sharpen
from svmstat.solver.solution import (
    PRECISION,
    TOLERANCE,
    Basis,
    Nearest,
    Road,
    Solution,
    Status,
    certify,
    doubtful,
    is_rough,
    judgement,
    middle,
    rounding_of,
    sizes_beside,
)

_HANDOVERS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7)
"""KKT violations at which the descent may hand over to the path."""

_RESCUE_BELOW = 1e-5

_FUTILE = 3
"""After so many descents of the most steps that end short of their tolerance a further one would too."""

_FINER = 2
"""How often a solution that meets the tolerance is polished again where that hides too much of h, as for a tiny C."""

_MOST_EVENTS = 20_000
_STEPS_PER_ROW = 100
_LEAST_STEPS = 20_000


def solve_single(problem: BoxQP, upper: Floats, beta: Floats | None, road: Road) -> Solution:
    """The solution for upper bounds (n,), from a feasible β (n,) or from zero.

    A start that does not lead to a solution which meets the tolerance is given up for a cold one; where it does, and
    too much of h is hidden by its violation, the better of the two is taken.
    """
    lo, hi = problem.box(upper)
    if not (lo.any() and hi.any()):
        return unsolved(problem, upper, Status.ONE_CLASS)
    alpha = outweighed(problem, upper)
    if alpha is not None:
        beta = problem.signs * alpha
        return certified(problem, None, upper, lo, hi, beta, problem.linear, None, road, 0, 0, left_over(problem, beta))
    hulls = hulls_of(problem)
    if hulls is not None and not may_reach(lo, hi):
        return unsolved(problem, upper, Status.INFEASIBLE)
    warm = None
    if beta is not None and beta.any():
        warm = _reach(problem, upper, lo, hi, beta, road, hulls)
        if arrived(warm) and not _may_be_finer(warm):
            return warm
        road = Road.RESCUE
    cold = _reach(problem, upper, lo, hi, np.zeros(problem.n), road, hulls)
    return warm if warm is not None and arrived(warm) and warm.violation < cold.violation else cold


def _may_be_finer(solution: Solution) -> bool:
    """Whether the violation hides too much of h, and that of another solution might not."""
    return solution.status is Status.IMPRECISE and bool(
        is_rough(solution.violation, solution.rounding, np.ptp(solution.field))
    )


def _reach(
    problem: BoxQP, upper: Floats, lo: Floats, hi: Floats, beta: Floats, road: Road, hulls: Hulls | None
) -> Solution:
    """From a feasible β, which is overwritten, to the solution."""
    linear = problem.linear
    h = fresh(problem.gram, linear, beta)
    if hulls is not None and not beta.any():
        beta, h = towards_each_other(problem.gram, lo, hi, hulls.group)
    steps, events, room = 0, 0, Room()
    basis: Basis | None = None
    polished_exactly = False
    nearest = np.inf, beta, h  # the best that a path which led nowhere has left
    most = max(_LEAST_STEPS, _STEPS_PER_ROW * problem.n)
    for tolerance in _HANDOVERS:
        if steps >= _FUTILE * most:
            continue
        spent = descend(problem.gram, lo, hi, beta, h, tolerance, most, room, hulls)
        steps += spent
        if not np.isfinite(h).all():  # nothing that follows could be certified
            break
        n_free = int(np.count_nonzero((beta > lo) & (beta < hi)))
        may_go_on = tolerance > 1e-5 and spent < most
        many = n_free >= MANY
        expected = _expected_events(h, beta, lo, hi, hulls) if may_go_on else 0
        if expected * n_free > (0.3 if many else 0.7) * steps:
            continue
        if many and hulls is None:
            outcome = newton(problem.gram, lo, hi, beta, h, room)
            if outcome is Outcome.EXACT:
                basis = None
                break
            if outcome is Outcome.BLOCKED and may_go_on:
                continue
        rough = judge(h, beta, lo, hi, hulls).violation, beta.copy(), h.copy()
        patience = 100 + 2 * steps // (n_free + 1) if tolerance > _HANDOVERS[-1] else _MOST_EVENTS
        polished = polish(problem.gram, linear, lo, hi, beta, h, patience, hulls)
        events += polished.events
        basis = polished.basis
        polished_exactly = polished.exact
        if polished_exactly:
            break
        nearest = min(nearest, rough, key=itemgetter(0))
    else:
        if nearest[0] < judge(h, beta, lo, hi, hulls).violation:
            (_, beta, h), basis = nearest, None
    finer = _finer(problem, lo, hi, beta, h)
    events, basis = events + sum(each.events for each in finer), finer[-1].basis if finer else basis
    if not polished_exactly:
        h[:] = fresh(problem.gram, linear, beta)
    reached = road if tolerance >= _RESCUE_BELOW else Road.RESCUE
    basis = settled_basis(problem, hulls, lo, hi, beta, h, basis)
    return certified(problem, hulls, upper, lo, hi, beta, h, basis, reached, steps, events)


def _finer(problem: BoxQP, lo: Floats, hi: Floats, beta: Floats, h: Floats) -> list[Polished]:
    """Polish (β, h) further, in place, where the tolerance is met and hides too much of h; what was done.

    With a total the violation is a share of ρ, which is small where h is.
    """
    done: list[Polished] = []
    limit, linear = float(rounding_of(beta, problem.gram.diagonal)), problem.linear
    while len(done) < _FINER and problem.total is None:
        violation = certify(h, beta, lo, hi)[2]
        if violation > TOLERANCE or not is_rough(violation, limit, np.ptp(linear - h)):
            break
        done.append(polish(problem.gram, linear, lo, hi, beta, h, _MOST_EVENTS))
    return done


def settled_basis(
    problem: BoxQP, hulls: Hulls | None, lo: Floats, hi: Floats, beta: Floats, h: Floats, basis: Basis | None,
    noise: float = 0.0,
) -> Basis | None:  # fmt: skip
    """Put doubtful rows of (β, h) at their bound, in place, if the certificate then holds; the basis without them.

    A row that rounding keeps from its bound would otherwise count as free and pin the intercept to it.
    """
    rows, distance = doubtful(beta, lo, hi, noise)
    if len(rows) == 0:
        return basis
    part = beta.copy()
    part[rows] -= distance
    part_h = fresh(problem.gram, problem.linear, part)
    if not judge(part_h, part, lo, hi, hulls).certified:
        return basis
    beta[:], h[:] = part, part_h
    return None


def basis_of(problem: BoxQP, solution: Solution) -> Basis:
    """The basis of a solution, computed if it was found without one."""
    return fresh_basis(problem.gram, solution.free, problem.group) if solution.basis is None else solution.basis


def _expected_events(h: Floats, beta: Floats, lo: Floats, hi: Floats, hulls: Hulls | None) -> int:
    """How many bound rows the path will probably meet: those whose |g| is smaller than the violation to be removed.

    An event costs about as much as a descent step for every free row, and a third of the violation about a third of
    the steps so far.
    """
    verdict = judge(h, beta, lo, hi, hulls)
    g = shifts(verdict.b, None if hulls is None else hulls.group) - h
    at_bound = ((beta <= lo) | (beta >= hi)) & (hi > lo)
    return int(np.count_nonzero(at_bound & (np.abs(g) < verdict.violation)))


def feasible(beta: Floats, upper: Floats, lo: Floats, hi: Floats) -> Floats:
    """β (n,), a solution for the bounds ``upper``, carried over to the box [lo, hi] with Σβ = 0.

    Rows at a bound stay there; the free rows of the heavier side give way, and where they do not suffice all its rows.
    """
    bounded = np.abs(beta) >= upper
    moved = np.where(bounded & (beta > 0), hi, np.where(bounded & (beta < 0), lo, np.clip(beta, lo, hi)))
    excess = moved.sum()
    heavier = moved * excess > 0
    if abs(excess) <= 1e-14 * np.abs(moved).sum():
        return moved
    for giving in (heavier & (moved > lo) & (moved < hi), heavier):
        total = moved[giving].sum()
        if abs(total) >= abs(excess):
            moved[giving] *= 1.0 - excess / total
            return moved
    return np.zeros(len(beta))


def certified(
    problem: BoxQP, hulls: Hulls | None, upper: Floats, lo: Floats, hi: Floats, beta: Floats, h: Floats,
    basis: Basis | None, road: Road, steps: int, events: int, left: float = 0.0,
) -> Solution:  # fmt: skip
    """The solution β with h = s − Kβ, both (n,) and h to within ``left``, and its certificate, which may not hold.

    Where rounding might hide too much of it (β, h) are sharpened in place.
    """
    if hulls is not None:
        if hides(judge(h, beta, lo, hi, hulls), hulls):
            correct(problem.gram, problem.linear, lo, hi, beta, h, hulls, basis)
            hulls = replace(hulls, rounding=float(np.finfo(float).eps * np.abs(h).max()))
        return _of_hulls(problem, hulls, upper, lo, hi, beta, h, basis, road, steps, events)
    linear = problem.linear
    rounding = limit = float(rounding_of(beta, problem.gram.diagonal)) + left
    ends, extent = certify(h, beta, lo, hi), np.ptp(linear - h)
    if is_rough(ends[2], rounding, extent) and _may_be_flat(problem, beta, h, ends[3], rounding):
        correct(problem.gram, linear, lo, hi, beta, h, None, basis)
        ends = certify(h, beta, lo, hi)
    elif limit > PRECISION * extent and not _may_be_flat(problem, beta, h, ends[3], rounding):
        rounding = sharpen(problem, lo, hi, beta, h, limit, basis)
        ends = certify(h, beta, lo, hi)
    field, flat = linear - h, False
    left = float(np.abs(field).max())
    if is_noise(left, ends[2], rounding) and _may_be_flat(problem, beta, h, ends[3], rounding):
        without = certify(linear, beta, lo, hi)
        flat = bool(without[2] <= TOLERANCE)
        if flat:
            field, ends, rounding = np.zeros(problem.n), without, rounding + left
    b_low, b_high, violation, gap = ends
    norm_squared = float(beta @ field)
    spread = 1.0 if flat else float(np.ptp(field))
    judged = judgement(violation, rounding, limit, sizes_beside(middle(b_low, b_high), linear), spread)
    alpha = problem.signs * beta
    return Solution(
        alpha=alpha,
        upper=upper,
        field=field,
        intercept_interval=(float(b_low), float(b_high)),
        violation=float(violation),
        gap=float(gap),
        rounding=float(judged.rounding),
        resolution=float(judged.resolution),
        delicate=bool(limit > PRECISION * spread),
        flat=flat,
        norm_squared=norm_squared,
        objective=0.5 * norm_squared - float(problem.margin @ alpha),
        status=Status(int(judged.status)),
        road=road,
        steps=steps,
        events=events,
        basis=basis,
    )


def _may_be_flat(problem: BoxQP, beta: Floats, h: Floats, gap: float, rounding: float) -> bool:
    return bool(may_be_flat(problem.linear - h, beta, gap, rounding, problem.gram.diagonal))


def _of_hulls(
    problem: BoxQP, hulls: Hulls, upper: Floats, lo: Floats, hi: Floats, beta: Floats, h: Floats,
    basis: Basis | None, road: Road, steps: int, events: int,
) -> Solution:  # fmt: skip
    """The same for the nearest points β of two hulls: divided by ρ."""
    total = float(problem.total or 0.0)
    verdict = judge(h, beta, lo, hi, hulls)
    low, high = np.empty(2), np.empty(2)
    unbalanced = class_ends(h, beta, lo, hi, hulls.group, low, high)
    norm_squared = max(-float(beta @ h), 0.0)
    meet = norm_squared <= hulls.nothing or verdict.scale == 0.0
    rho = 0.0 if meet else verdict.scale
    # What α and f are divided by: ρ on the scale of the hulls, or what brings back the α of the 2ν form.
    unit, f_unit = (1.0 / total, 1.0) if meet else (rho, rho)
    half = float(min((high - verdict.b).min(), (verdict.b - low).min()))
    b = 0.0 if meet else float(verdict.b.mean())
    half = 0.0 if meet else max(half, 0.0)
    gap = norm_squared if meet else float(hulls_gap(h, beta, lo, hi, hulls.group, verdict.b)) / rho / rho
    violation = 0.0 if meet else max(verdict.violation, hulls.rounding) / rho
    alpha = problem.signs * beta / unit
    field = np.zeros(problem.n) if meet else -h / f_unit
    violation = max(violation, float(unbalanced))
    rounding, extent = float(rounding_of(beta, problem.gram.diagonal)) / f_unit, 1.0 if meet else float(np.ptp(field))
    judged = judgement(violation, rounding, rounding, abs(b) / f_unit, extent)
    nearest = Nearest(beta, np.maximum(hi, -lo), h, total * rho, (0.0, 0.0), verdict.certified)
    spread = (float(0.5 * total * (low[1] - high[0])), float(0.5 * total * (high[1] - low[0])))
    return Solution(
        alpha=alpha,
        upper=np.maximum(hi, -lo) / unit,
        field=field,
        intercept_interval=((b - half) / f_unit, (b + half) / f_unit),
        violation=violation,
        gap=gap,
        rounding=float(judged.rounding),
        resolution=float(judged.resolution),
        delicate=rounding > PRECISION * extent,
        flat=meet,
        norm_squared=0.0 if meet else norm_squared / rho / rho,
        objective=0.0 if meet else 0.5 * norm_squared / rho / rho - float(alpha.sum()),
        status=Status(int(judged.status)) if verdict.certified else Status.UNCERTIFIED,
        road=road,
        steps=steps,
        events=events,
        basis=basis,
        nearest=nearest if meet else replace(nearest, rho_interval=(max(spread[0], 0.0), spread[1])),
    )


def arrived(solution: Solution) -> bool:
    """Whether the tolerance is met, for the nearest points of two hulls as far as the digits of h go."""
    return bool(solution.violation <= TOLERANCE) if solution.nearest is None else solution.nearest.exact


def unsolved(problem: BoxQP, upper: Floats, status: Status) -> Solution:
    """What stands for the solution where there is none."""
    nothing = np.full(problem.n, np.nan)
    nearest = None if problem.total is None else Nearest(nothing, nothing, nothing, np.nan, (np.nan, np.nan), False)
    return Solution(
        nothing, upper, nothing, (np.nan, np.nan), np.nan, np.nan, np.nan, np.nan, False, False, np.nan, np.nan, status,
        Road.COLD, 0, 0, no_basis(1 if problem.total is None else 2), nearest,
    )  # fmt: skip
