"""One bound vector: rough from zero or from a neighbouring solution, then exact."""

import numpy as np

from svmstat.solver.bordered import bordered_inverse
from svmstat.solver.descent import descend
from svmstat.solver.gram import Floats, Room
from svmstat.solver.newton import MANY, Outcome, newton
from svmstat.solver.polish import polish
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import TOLERANCE, Basis, Road, Solution, Status, certify, doubtful, middle, without_noise

_HANDOVERS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7)
"""KKT violations at which the descent may hand over to the path."""

_RESCUE_BELOW = 1e-5

_MOST_EVENTS = 20_000
_STEPS_PER_ROW = 100
_LEAST_STEPS = 20_000


def solve_single(problem: BoxQP, upper: Floats, beta: Floats | None, road: Road) -> Solution:
    """The solution for upper bounds (n,), from a feasible β (n,) or from zero.

    A start that does not lead to a certified solution is given up for a cold one.
    """
    lo, hi = problem.box(upper)
    if not (lo.any() and hi.any()):
        return _one_class(problem, upper)
    if beta is not None and beta.any():
        solution = _reach(problem, upper, lo, hi, beta, road)
        if solution.status is Status.CERTIFIED:
            return solution
        road = Road.RESCUE
    return _reach(problem, upper, lo, hi, np.zeros(problem.n), road)


def _reach(problem: BoxQP, upper: Floats, lo: Floats, hi: Floats, beta: Floats, road: Road) -> Solution:
    """From a feasible β, which is overwritten, to the solution."""
    linear = problem.linear
    h = linear.copy()
    support = np.flatnonzero(beta)
    if len(support):
        problem.gram.add(support, -beta[support], h)
    steps, events, room = 0, 0, Room()
    basis: Basis | None = None
    most = max(_LEAST_STEPS, _STEPS_PER_ROW * problem.n)
    for tolerance in _HANDOVERS:
        spent = descend(problem.gram, lo, hi, beta, h, tolerance, most, room)
        steps += spent
        n_free = int(np.count_nonzero((beta > lo) & (beta < hi)))
        may_go_on = tolerance > 1e-5 and spent < most
        many = n_free >= MANY
        expected = _expected_events(h, beta, lo, hi) if may_go_on else 0
        if expected * n_free > (0.3 if many else 0.7) * steps:
            continue
        if many:
            outcome = newton(problem.gram, lo, hi, beta, h, room)
            if outcome is Outcome.EXACT:
                basis = None
                break
            if outcome is Outcome.BLOCKED and may_go_on:
                continue
        patience = 100 + 2 * steps // (n_free + 1) if tolerance > _HANDOVERS[-1] else _MOST_EVENTS
        polished = polish(problem.gram, linear, lo, hi, beta, h, patience)
        events += polished.events
        basis = polished.basis
        if polished.exact:
            break
    reached = road if tolerance >= _RESCUE_BELOW else Road.RESCUE
    basis = settled_basis(problem, lo, hi, beta, h, basis)
    return certified(problem, upper, lo, hi, beta, h, basis, reached, steps, events)


def settled_basis(
    problem: BoxQP, lo: Floats, hi: Floats, beta: Floats, h: Floats, basis: Basis | None, noise: float = 0.0
) -> Basis | None:
    """Put doubtful rows of (β, h) at their bound, in place, if the certificate then holds; the basis without them.

    A row that rounding keeps from its bound would otherwise count as free and pin the intercept to it.
    """
    rows, distance = doubtful(beta, lo, hi, noise)
    if len(rows) == 0:
        return basis
    part, part_h = beta.copy(), h.copy()
    part[rows] -= distance
    problem.gram.add(rows, distance, part_h)
    if certify(part_h, part, lo, hi)[2] > TOLERANCE:
        return basis
    beta[:], h[:] = part, part_h
    return None


def basis_of(problem: BoxQP, solution: Solution) -> Basis:
    """The basis of a solution, computed if it was found without one."""
    if solution.basis is not None:
        return solution.basis
    free = np.flatnonzero(solution.free)
    independent, inverse = bordered_inverse(problem.gram.block(free))
    return Basis(free[independent], inverse)


def _expected_events(h: Floats, beta: Floats, lo: Floats, hi: Floats) -> int:
    """How many bound rows the path will probably meet: those whose |g| is smaller than the violation to be removed.

    An event costs about as much as a descent step for every free row, and a third of the violation about a third of
    the steps so far.
    """
    b_low, b_high, violation, _ = certify(h, beta, lo, hi)
    at_bound = ((beta <= lo) | (beta >= hi)) & (hi > lo)
    return int(np.count_nonzero(at_bound & (np.abs(middle(b_low, b_high) - h) < violation)))


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
    problem: BoxQP, upper: Floats, lo: Floats, hi: Floats, beta: Floats, h: Floats,
    basis: Basis | None, road: Road, steps: int, events: int,
) -> Solution:  # fmt: skip
    """The solution β with h = s − Kβ, both (n,), and its certificate, which may not hold."""
    b_low, b_high, violation, gap = certify(h, beta, lo, hi)
    alpha = problem.signs * beta
    field = without_noise(problem.linear - h, beta, violation, problem.gram.diagonal)
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
