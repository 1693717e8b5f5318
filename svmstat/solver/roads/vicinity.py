"""From one exact solution to those for other bounds where K = AA' with a factor A (n, r): the path near the margin.

When bounds move, as all do with the cost, f hardly does: only rows near their margin become free or cease to be. They
alone take part in the path. All others are at a bound and move with it, and what the path has to know of them is how
the sums of their β and of their βx change. There is no descent, and no step of Newton's on the primal.
"""

from dataclasses import dataclass

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.solver.case import Case, case_of
from svmstat.solver.exact.basis import MOVED, Point, basis_in, exclude_where
from svmstat.solver.exact.path import ARRIVED, move
from svmstat.solver.exact.polish import make_basis
from svmstat.solver.exact.sharpen import corrected
from svmstat.solver.gram import Rows
from svmstat.solver.low_rank import LowRank
from svmstat.solver.normal import normal_vector, project
from svmstat.solver.problem import BoxQP, Sums
from svmstat.solver.roads.conclude import concluded
from svmstat.solver.roads.low_rank import overrun_solved
from svmstat.solver.roads.paths import blank, origin_of, set_off
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE, TOLERANCE, Basis, Road, Solution, settle

_LEAST_ROWS, _PER_FREE, _MOST_ROWS = 256, 9, 4000
"""Rows that take part: so many for each that is free, at least some, and at most as many as a block should have."""

_PER_COLUMN, _ENOUGH = 4, 1200
"""And so many for each column, up to enough: with fewer rows than columns they do not tell how far f will move."""

_RIDGE = 1e-12
"""What the squares of w are weighed by, as a share of those of all columns, where the rows do not tell all of w."""

_AT_MOST, _OF_ROOT = 1000, 3.0
"""With more rows, and more than so many times √n, the primal is quicker."""

_REACH = 2.5
"""Rows take part whose distance from their margin is so many times what f is about to move."""

_PATIENCE = 3
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
    upper : (n,) its bounds
    w : (r,) its A'β, as far as the rows that are near tell it
    distance : (n,) how far the rows are from their margin; zero if they are free
    rows : (w,) those that are free and those that are nearest
    K : (w, w) their kernel values
    """

    gram: LowRank
    origin: Point
    field: Floats
    upper: Floats
    w: Floats
    distance: Floats
    rows: Rows
    K: Floats


@dataclass(frozen=True, slots=True)
class _Walked:
    """The end of a path: β and h = s − Kβ, both (n,), the basis there, and the events on the way."""

    beta: Floats
    h: Floats
    basis: Basis
    events: int


def vicinity_of(problem: BoxQP, gram: LowRank, solution: Solution) -> Vicinity:
    """The vicinity of a solution of the problem, whose kernel matrix is ``gram``, for any bounds."""
    origin = origin_of(problem, solution)
    distance = np.where(origin.status == FREE, 0.0, np.abs(origin.g))
    wanted = _PER_FREE * int(np.count_nonzero(origin.status == FREE)), min(_PER_COLUMN * gram.factor.shape[1], _ENOUGH)
    size = min(max(_LEAST_ROWS, *wanted), _MOST_ROWS)
    rows = np.arange(problem.n) if size >= problem.n else np.sort(np.argpartition(distance, size)[:size])
    Z = gram.factor[rows]
    squares = Z.T @ Z
    squares.flat[:: len(squares) + 1] += max(_RIDGE * float(np.trace(squares)), np.finfo(float).tiny)
    w = np.asarray(np.linalg.solve(squares, Z.T @ solution.field[rows]), float)
    return Vicinity(gram, origin, solution.field, solution.upper, w, distance, rows, Z @ Z.T)


def solve_near(problem: BoxQP, upper: Floats, vicinity: Vicinity) -> Solution | None:
    """The solution for upper bounds (n,) at the end of the path; None if the path is long or does not lead there."""
    case = case_of(problem, upper)
    walked = _walk(vicinity, case, upper) if case.lo.any() and case.hi.any() else None
    if walked is None:
        return None
    beta, h = walked.beta, walked.h
    near = overrun_solved(case, vicinity.gram, beta, h, walked.basis)
    if not near.exact:
        return None
    return concluded(problem, case, upper, beta, h, near.basis, Road.LOW_RANK, 0, walked.events + near.events)


def _walk(vicinity: Vicinity, case: Case, upper: Floats) -> _Walked | None:
    """Along the path to the bounds of the case; None if it breaks off or would be long."""
    origin, A, beta = vicinity.origin, vicinity.gram.factor, _carried(vicinity, case, upper)
    carried = normal_vector(A, np.flatnonzero(beta), beta[beta != 0.0])
    part = _taking_part(vicinity, upper, carried[0] - vicinity.w, float(beta.sum()))
    if part is None:
        return None
    rows, K = part
    others = normal_vector(A, rows, -beta[rows], carried)
    beta[rows] = 0.0
    point, change = blank(len(rows), 1)
    set_off(rows, np.arange(len(rows)), origin, case.lo, case.hi, point, change)
    before = vicinity.field[rows] - K @ origin.beta[rows]  # what the others made of h at these rows
    change.s[:], change.sums[0] = before - A[rows] @ others[0], beta.sum() + origin.beta[rows].sum()
    sums = Sums(np.zeros(len(rows), np.int64), np.zeros(1))
    free = make_basis(K, sums, point)
    code, events = move(K, sums, point, free, change, _PATIENCE * len(rows))
    if code != ARRIVED or not np.isfinite(point.beta).all():
        return None
    lo, hi = case.lo[rows], case.hi[rows]
    settle(point.beta, lo, hi)
    exclude_where(sums, free, ~((lo < point.beta) & (point.beta < hi)))
    beta[rows] = point.beta
    members = free.members[: free.size[0]]
    members[:] = rows[members]
    basis, w = basis_in(free, 1), normal_vector(A, rows, point.beta, others)
    return _Walked(beta, _settled(case, A, beta, point.b, basis, *w), basis, int(events))


def _carried(vicinity: Vicinity, case: Case, upper: Floats) -> Floats:
    """β (n,) taken along by the bounds: those at a bound with it, free ones in proportion."""
    status, free = vicinity.origin.status, np.flatnonzero(vicinity.origin.status == FREE)
    up = (status == AT_UPPER) | ((status != AT_LOWER) & (vicinity.origin.g < 0.0))  # or it comes into the problem
    beta = np.where(up, case.hi, case.lo)
    beta[free] = vicinity.origin.beta[free] * (upper[free] / vicinity.upper[free])
    return beta


def _taking_part(vicinity: Vicinity, upper: Floats, excess: Floats, sum_excess: float) -> tuple[Rows, Floats] | None:
    """The rows (w,) that f may reach, and their K (w, w), if A'β and Σβ change by so much; None if they are many."""
    rows, n = vicinity.rows, len(vicinity.distance)
    if len(rows) == n:
        return rows, vicinity.K
    reach = _REACH * _movement(vicinity, upper, excess, sum_excess)
    if not reach > vicinity.distance[rows].max():
        return rows, vicinity.K
    rows = np.flatnonzero(vicinity.distance <= reach)
    if len(rows) > max(_AT_MOST, _OF_ROOT * np.sqrt(n)):
        return None
    Z = vicinity.gram.factor[rows]
    return rows, Z @ Z.T


def _movement(vicinity: Vicinity, upper: Floats, excess: Floats, sum_excess: float) -> float:
    """By how much f is about to move, the root of its mean square over the rows that are near.

    Newton's step on the primal, its second derivative that of these rows: as if the h of `smoothed` were twice their
    largest distance from the margin.
    """
    rows = vicinity.rows
    d = upper[rows] / max(2.0 * float(vicinity.distance[rows].max()), TOLERANCE)
    total = max(float(d.sum()), np.finfo(float).tiny)
    Z = vicinity.gram.factor[rows]
    mean = d @ Z / total
    Z = Z - mean
    step = np.linalg.solve((Z.T * d) @ Z + np.eye(Z.shape[1]), excess - sum_excess * mean)
    return float(np.sqrt(np.mean((Z @ step + sum_excess / total) ** 2)))


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
