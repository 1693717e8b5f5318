"""One bound vector after another, each exact solution the start of the path to the next."""

from collections.abc import Iterator

import numpy as np

from svmstat.solver.basis import exclude
from svmstat.solver.follow import set_off
from svmstat.solver.gram import Floats
from svmstat.solver.path import ARRIVED, move
from svmstat.solver.polish import refine
from svmstat.solver.problem import BoxQP
from svmstat.solver.single import basis_of, certified, feasible, settled_basis, solve_single
from svmstat.solver.solution import FREE, TOLERANCE, Basis, Road, Solution, Status, partition, settle

_PATIENCE = 300
"""Events after which a descent from the last solution is the shorter way."""

_ROOM = 64
"""How many rows may become free on the way to the next solution."""


def chain(problem: BoxQP, uppers: Floats, start: Solution) -> Iterator[Solution]:
    """Solutions for each of the bound vectors (B, n) in their order, the first path setting off from ``start``."""
    last = start
    for upper in uppers:
        last = _next(problem, upper, last)
        yield last


def _next(problem: BoxQP, upper: Floats, last: Solution) -> Solution:
    if last.status is Status.CERTIFIED and problem.gram.fits:
        solution = _moved(problem, upper, last)
        if solution is not None:
            return solution
    if last.status is Status.ONE_CLASS:
        return solve_single(problem, upper, None, Road.COLD)
    share = np.divide(upper, last.upper, out=np.zeros(len(upper)), where=last.upper > 0)
    lo, hi = problem.box(upper)
    return solve_single(problem, upper, feasible(problem.signs * last.alpha * share, upper, lo, hi), Road.PATH)


def _moved(problem: BoxQP, upper: Floats, last: Solution) -> Solution | None:
    """The solution at the end of the path, None if it breaks off, is long, or does not end at a certified one."""
    lo0, hi0 = problem.box(last.upper)
    lo1, hi1 = problem.box(upper)
    if not (lo1.any() and hi1.any()):
        return None
    gram, basis, n = problem.gram.complete(), basis_of(problem, last), problem.n
    beta0, h0, b0 = problem.signs * last.alpha, problem.linear - last.field, last.intercept
    beta, g, status = np.empty(n), np.empty(n), np.empty(n, np.int8)
    lo, hi, dlo, dhi = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    codes = partition(beta0, lo0, hi0)
    set_off(np.arange(n), n, beta0, h0, b0, codes, lo0, hi0, lo1, hi1, beta, g, lo, hi, dlo, dhi, status)
    m = len(basis.rows)
    members, inverse = np.empty(m + _ROOM, np.int64), np.empty((m + _ROOM, m + _ROOM))
    members[:m], inverse[: m + 1, : m + 1] = basis.rows, basis.inverse
    for position in range(m - 1, -1, -1):
        if status[members[position]] != FREE:
            m = exclude(None, members, m, inverse, position)
    scalars = np.array([b0])
    code, m, events = move(
        gram, None, beta, g, lo, hi, dlo, dhi, np.zeros(n), status, members, m, inverse, scalars, _PATIENCE
    )
    if code != ARRIVED:
        return None
    settle(beta, lo1, hi1)
    for position in range(m - 1, -1, -1):
        if not lo1[members[position]] < beta[members[position]] < hi1[members[position]]:
            m = exclude(None, members, m, inverse, position)
    h = problem.linear.copy()
    support = np.flatnonzero(beta)
    problem.gram.add(support, -beta[support], h)
    reached = Basis(members[:m].copy(), inverse[: m + 1, : m + 1].copy())
    refine(problem.gram, lo1, hi1, beta, h, float(scalars[0]), reached)
    noise = min(1e-14 * np.abs(beta0).max(), 1e-6 * np.abs(beta).max())  # what is left of the larger β at the start
    settled = settled_basis(problem, lo1, hi1, beta, h, reached, float(noise))
    solution = certified(problem, upper, lo1, hi1, beta, h, settled, Road.PATH, 0, int(events))
    return solution if solution.violation <= TOLERANCE else None
