"""One bound vector after another, each exact solution the start of the path to the next."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from svmstat.solver.basis import exclude
from svmstat.solver.flat import outweighed
from svmstat.solver.follow import set_off
from svmstat.solver.gram import Floats
from svmstat.solver.hulls import feasible_in_classes, hulls_of, judge, may_reach, shifts
from svmstat.solver.path import ARRIVED, move
from svmstat.solver.polish import fresh, refine
from svmstat.solver.problem import BoxQP
from svmstat.solver.single import arrived, basis_of, certified, feasible, settled_basis, solve_single
from svmstat.solver.solution import FREE, Basis, Road, Solution, Status, partition, settle

_PATIENCE = 300
"""Events after which a descent from the last solution is the shorter way."""

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
    if arrived(last) and problem.gram.fits and outweighed(problem, upper) is None:
        same = _unmoved(problem, upper, last)
        solution = _moved(problem, upper, last) if same is None else same
        if solution is not None:
            return solution
    if last.status in (Status.ONE_CLASS, Status.INFEASIBLE):
        return solve_single(problem, upper, None, Road.COLD)
    if last.nearest is not None:
        return solve_single(problem, upper, carried_over(problem, upper, last), Road.PATH)
    share = np.divide(upper, last.upper, out=np.zeros(len(upper)), where=last.upper > 0)
    lo, hi = problem.box(upper)
    return solve_single(problem, upper, feasible(problem.signs * last.alpha * share, upper, lo, hi), Road.PATH)


def _moved(problem: BoxQP, upper: Floats, last: Solution) -> Solution | None:
    """The solution at the end of the path, None if it breaks off, is long, or does not end at a certified one."""
    hulls = hulls_of(problem)
    lo0, hi0 = problem.box(last.upper)
    if last.nearest is not None:
        caps, event = last.nearest.caps, problem.signs > 0
        lo0, hi0 = np.where(event, 0.0, -caps), np.where(event, caps, 0.0)
    lo1, hi1 = problem.box(upper)
    if not (lo1.any() and hi1.any()) or (hulls is not None and not (last.rho > 0.0 and may_reach(lo1, hi1))):
        return None
    gram, basis, n = problem.gram.complete(), basis_of(problem, last), problem.n
    beta0, h0 = problem.signs * last.alpha, problem.linear - last.field
    if last.nearest is not None:
        beta0, h0 = last.nearest.beta, last.nearest.h
    b, group = np.array([last.intercept]), problem.group
    if hulls is not None:
        b = judge(h0, beta0, lo0, hi0, hulls).b
    lead = len(b)
    beta, g, status = np.empty(n), np.empty(n), np.empty(n, np.int8)
    lo, hi, dlo, dhi = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    codes = partition(beta0, lo0, hi0)
    set_off(
        np.arange(n), n, beta0, h0 - shifts(b, group), 0.0, codes, lo0, hi0, lo1, hi1, beta, g, lo, hi, dlo, dhi, status
    )
    m = len(basis.rows)
    members, inverse = np.empty(m + _ROOM, np.int64), np.empty((m + _ROOM, m + _ROOM))
    members[:m], inverse[: m + lead, : m + lead] = basis.rows, basis.inverse
    for position in range(m - 1, -1, -1):
        if status[members[position]] != FREE:
            m = exclude(group, members, m, inverse, position)
    scalars = b.copy()
    code, m, events = move(
        gram, group, beta, g, lo, hi, dlo, dhi, np.zeros(n), status, members, m, inverse, scalars, _PATIENCE
    )
    if code != ARRIVED:
        return None
    settle(beta, lo1, hi1)
    for position in range(m - 1, -1, -1):
        if not lo1[members[position]] < beta[members[position]] < hi1[members[position]]:
            m = exclude(group, members, m, inverse, position)
    h = fresh(problem.gram, problem.linear, beta)
    reached = Basis(members[:m].copy(), inverse[: m + lead, : m + lead].copy())
    refine(problem.gram, group, lo1, hi1, beta, h, scalars, reached)
    noise = min(1e-14 * np.abs(beta0).max(), 1e-6 * np.abs(beta).max())  # what is left of the larger β at the start
    settled = settled_basis(problem, hulls, lo1, hi1, beta, h, reached, float(noise))
    solution = certified(problem, hulls, upper, lo1, hi1, beta, h, settled, Road.PATH, 0, int(events))
    return solution if arrived(solution) else None


def _unmoved(problem: BoxQP, upper: Floats, last: Solution) -> Solution | None:
    """The last solution where sums are given and smaller bounds of rows that are zero are all that changes.

    Each class must have a free row: a class without one could take another multiplier.
    """
    nearest, group = last.nearest, problem.group
    if nearest is None or group is None or problem.total is None or last.rho == 0.0:
        return None
    caps = upper / problem.total
    changed = caps != nearest.caps
    if (nearest.beta[changed] != 0.0).any() or (caps > nearest.caps).any():
        return None
    if len(np.unique(group[last.free])) < 2:
        return None
    scaled = np.where(changed, caps * (problem.total / last.rho), last.upper)  # α at a bound must equal it exactly
    return replace(
        last, upper=scaled, nearest=replace(nearest, caps=caps), road=Road.PATH, steps=0,
        events=0,
    )  # fmt: skip


def carried_over(problem: BoxQP, upper: Floats, last: Solution) -> Floats | None:
    """A feasible β (n,) for upper bounds (n,) from a solution with sums of the classes; None if there is none."""
    if last.nearest is None or problem.group is None or problem.total is None or not np.isfinite(last.rho):
        return None
    lo, hi = problem.box(upper)
    if not may_reach(lo, hi):
        return None
    return feasible_in_classes(last.nearest.beta, last.nearest.caps, lo, hi, problem.group)
