"""From one exact solution to those for other bounds where K = AA' with a factor A (n, r): the path near the margin.

When bounds move, as all do with the cost, f hardly does: only rows near their margin become free or cease to be. They
alone take part in the path. All others are at a bound and move with it, and what the path has to know of them is how
the sums of their β and of their βx change. There is no descent, and no step of Newton's on the primal.
"""

from dataclasses import dataclass

import numpy as np

from svmstat.solver.case import Case, case_of
from svmstat.solver.exact.basis import MOVED, Point, basis_in, exclude_where
from svmstat.solver.exact.path import ARRIVED, move
from svmstat.solver.exact.polish import make_basis
from svmstat.solver.exact.sharpen import corrected
from svmstat.solver.gram import Floats, Rows
from svmstat.solver.low_rank import LowRank, normal_vector, project
from svmstat.solver.problem import BoxQP, Sums
from svmstat.solver.roads.low_rank import overrun_solved
from svmstat.solver.roads.paths import blank, origin_of, set_off
from svmstat.solver.roads.single import certified, settled_basis
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE, Basis, Road, Solution, settle

_LEAST_ROWS, _PER_COLUMN = 256, 8
"""Rows that take part beside those that are free: so many for each column, and at least some."""

_AT_MOST, _OF_ROOT = 1000, 5.0
"""With more rows, and more than so many times √n, the primal is quicker."""

_REACH = 2.5
"""Rows take part whose distance from their margin is so many times what f is about to move."""

_PATIENCE = 4
"""Events for each row that takes part after which the path is given up: one or two are usual."""

_CORRECTIONS, _LEAST = 2, 1e-13
"""Newton corrections at the end, and a g that is rounding."""


@dataclass(frozen=True, slots=True)
class Vicinity:
    """A solution made ready for paths to other bounds.

    Attributes
    ----------
    gram : K, and with it A
    origin : the solution
    field : (n,) its h
    rows : (w,) the rows that take part
    K : (w, w) their kernel values
    """

    gram: LowRank
    origin: Point
    field: Floats
    rows: Rows
    K: Floats


@dataclass(frozen=True, slots=True)
class _Walked:
    """The end of a path: β and h = s − Kβ, both (n,), the basis there, and the events on the way."""

    beta: Floats
    h: Floats
    basis: Basis
    events: int


def vicinity_of(problem: BoxQP, gram: LowRank, solution: Solution, factor: float = 1.0) -> Vicinity | None:
    """The vicinity of a solution of the problem, whose kernel matrix is ``gram``, for bounds some ``factor`` larger.

    None if so many rows would have to take part that the primal is quicker.
    """
    origin = origin_of(problem, case_of(problem, solution.upper), solution)
    distance = np.where(origin.status == FREE, 0.0, np.abs(origin.g))
    size = max(_LEAST_ROWS, _PER_COLUMN * (gram.factor.shape[1] + 1)) + int(np.count_nonzero(origin.status == FREE))
    rows = np.arange(problem.n)
    if size < problem.n:
        rows = np.sort(np.argpartition(distance, size)[:size])
        reach = _REACH * _movement(gram.factor[rows], solution.field[rows], solution.upper[rows], distance[rows], factor)
        if reach > distance[rows].max():
            rows = np.flatnonzero(distance <= reach)
    if len(rows) > max(_AT_MOST, _OF_ROOT * np.sqrt(problem.n)):
        return None
    Z = gram.factor[rows]
    return Vicinity(gram, origin, solution.field, rows, Z @ Z.T)


def _movement(Z: Floats, field: Floats, upper: Floats, distance: Floats, factor: float) -> float:
    """By how much f will move if all bounds become larger by this factor: the root of its mean square.

    Newton's step on the primal, its second derivative that of the rows Z (m, r) near the margin, all (m,) of which lie
    within the largest ``distance`` of it: as if h of `smoothed` were so wide.
    """
    Z = Z - Z.mean(axis=0)
    w = np.linalg.lstsq(Z.T @ Z, Z.T @ field, rcond=None)[0]
    H = np.eye(Z.shape[1]) + (Z.T * (factor * upper)) @ Z / max(2.0 * float(distance.max()), np.finfo(float).tiny)
    step = np.linalg.solve(H, (factor - 1.0) * w)
    return float(np.sqrt(np.mean((Z @ step) ** 2)))


def solve_near(problem: BoxQP, upper: Floats, vicinity: Vicinity) -> Solution | None:
    """The solution for upper bounds (n,) at the end of the path; None if the path is long or does not lead there."""
    case = case_of(problem, upper)
    walked = _walk(vicinity, case) if case.lo.any() and case.hi.any() else None
    if walked is None:
        return None
    beta, h = walked.beta, walked.h
    near = overrun_solved(case, vicinity.gram, beta, h, walked.basis)
    if not near.exact:
        return None
    basis, events = settled_basis(case, beta, h, near.basis), walked.events + near.events
    return certified(problem, case, upper, beta, h, basis, Road.LOW_RANK, near.steps, events)


def _walk(vicinity: Vicinity, case: Case) -> _Walked | None:
    """Along the path to the bounds of the case; None if it breaks off or would be long."""
    origin, rows, K, A = vicinity.origin, vicinity.rows, vicinity.K, vicinity.gram.factor
    up = (origin.status == AT_UPPER) | ((origin.status != AT_LOWER) & (origin.g < 0.0))
    beta = np.where(up, case.hi, case.lo)
    point, change = blank(len(rows), 1)
    set_off(rows, origin, case.lo, case.hi, point, change)
    beta[rows] = 0.0
    away = normal_vector(A, np.flatnonzero(beta), beta[beta != 0.0])
    # What the others were is h less what these rows were.
    change.s[:] = (vicinity.field[rows] - K @ origin.beta[rows]) - A[rows] @ away[0]
    change.sums[0] = beta.sum() + origin.beta[rows].sum()
    sums = Sums(np.zeros(len(rows), np.int64), np.zeros(1))
    free = make_basis(K, sums, point)
    code, events = move(K, sums, point, free, change, _PATIENCE * len(rows))
    if code != ARRIVED or not np.isfinite(point.beta).all():
        return None
    lo, hi = case.lo[rows], case.hi[rows]
    settle(point.beta, lo, hi)
    exclude_where(sums, free, ~((lo < point.beta) & (point.beta < hi)))
    members = free.members[: free.size[0]]
    members[:] = rows[members]
    basis = basis_in(free, 1)
    beta[rows] = point.beta
    w = normal_vector(A, rows, point.beta, away)
    return _Walked(beta, _settled(case, A, beta, point.b, basis, *w), basis, int(events))


def _settled(case: Case, A: Floats, beta: Floats, b: Floats, basis: Basis, w: Floats, low: Floats) -> Floats:
    """h = s − Aw (n,) after Newton corrections of the free rows of β, in place; w + low (r,) is A'β before these."""
    rows, Z, h, x = basis.rows, A[basis.rows], case.linear.copy(), np.empty(len(basis.inverse))
    for _ in range(_CORRECTIONS):
        h[rows] = (case.linear[rows] - Z @ low) - Z @ w
        if corrected(case, beta, h, b, basis, _LEAST, x) != MOVED:
            break
        w = w + x[1:] @ Z
    h[rows] = case.linear[rows]
    project(A, -w, h)
    return h
