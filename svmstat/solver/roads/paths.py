"""From one exact solution to many others, each along its own path of bounds.

Only rows near an event take part in a path; the others are brought up to date once, at the end, where the certificate
on every row, with freshly computed gradients, tells whether one of them was overrun.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import clear, compiled, copy_into
from svmstat.solver.case import case_of, judge
from svmstat.solver.exact.basis import Point
from svmstat.solver.exact.path import ARRIVED, Change
from svmstat.solver.gram import combine
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import (
    AT_LOWER,
    AT_UPPER,
    FIXED,
    FREE,
    TOLERANCE,
    Solution,
    certify,
    doubtful,
    off_the_sum,
    partition,
)

OVERRUN, NOT_TRIED = 5, 6
"""The path arrived, but the certificate does not hold on some row; no path was followed."""

_TOGETHER = 4
"""Problems for which a kernel row is read once: `_combine_four`."""


class Wanted(NamedTuple):
    """What is asked for: signs (n,) and upper bounds (B, n)."""

    signs: Floats
    uppers: Floats


class Paths(NamedTuple):
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
    def empty(cls, B: int, n: int) -> "Paths":
        """Nothing yet."""
        return cls(
            np.zeros((B, n)), np.zeros((B, n)), np.zeros((B, 2)), np.full(B, np.inf), np.full(B, np.inf),
            np.full(B, NOT_TRIED, np.int8), np.zeros(B, np.int64),
        )  # fmt: skip

    def put(self, q: int, beta: Floats, h: Floats, single: Solution) -> None:
        """The result of one that was solved for itself."""
        self.beta[q], self.h[q] = beta, h
        self.interval[q], self.violation[q], self.gap[q] = single.intercept_interval, single.violation, single.gap
        self.events[q] += single.events

    def put_many(self, rows: NDArray[np.intp], some: "Paths") -> None:
        """The results of some of them."""
        for name in self._fields:
            getattr(self, name)[rows] = getattr(some, name)


def origin_of(problem: BoxQP, solution: Solution) -> Point:
    """A solution as a path sets off from it, with the gradient b − h at every row."""
    nearest = solution.nearest
    if nearest is None:
        lo, hi = problem.box(solution.upper)
        beta, b = problem.signs * solution.alpha, np.array([solution.intercept])
        return Point(beta, b - (problem.linear - solution.field), lo, hi, partition(beta, lo, hi), b)
    event, beta, h = problem.signs > 0, nearest.beta, nearest.h
    lo, hi = np.where(event, 0.0, -nearest.caps), np.where(event, nearest.caps, 0.0)
    case = replace(case_of(problem, solution.upper), lo=lo, hi=hi)
    b = judge(case, beta, h).b
    return Point(beta, case.shifts(b) - h, lo, hi, partition(beta, lo, hi), b)


def blank(w: int, lead: int) -> tuple[Point, Change]:
    """Memory for a path of w rows."""
    point = Point(np.empty(w), np.empty(w), np.empty(w), np.empty(w), np.empty(w, np.int8), np.empty(lead))
    return point, Change(np.empty(w), np.empty(w), np.zeros(w), np.zeros(lead))


@compiled(inside=True)
def active_bound_moves(status, beta, g, lo0, hi0, lo1, hi1):
    """Whether a change of a row's bounds changes its β, at first sight."""
    if status == FIXED:
        return (g < 0.0 and hi1 > hi0) or (g > 0.0 and lo1 < lo0)
    if status == AT_UPPER:
        return hi1 != hi0
    if status == AT_LOWER:
        return lo1 != lo0
    return beta > hi1 or beta < lo1 or hi1 <= lo1


@compiled(inside=True)
def open_box(signs, upper, lo, hi):
    """Write the bounds of β for upper bounds (n,) of α into lo, hi (n,)."""
    for i in range(signs.shape[0]):
        lo[i] = 0.0 if signs[i] > 0.0 else -upper[i]
        hi[i] = upper[i] if signs[i] > 0.0 else 0.0


@compiled()
def set_off(rows, places, origin, lo1, hi1, point, change):
    """Load rows (m,) of the origin into their places in the arrays of a path to the bounds lo1, hi1 (n,).

    A free row that the new bounds cut off sits on a bound that moves from its β to the new one.
    """
    for k in range(rows.shape[0]):
        i, a = rows[k], places[k]
        beta, status, g = origin.beta[i], origin.status[i], origin.g[i]
        if status == FREE:
            g = 0.0
        point.beta[a], point.status[a], point.g[a] = beta, status, g
        point.lo[a], point.hi[a], change.lo[a], change.hi[a] = lo1[i], hi1[i], 0.0, 0.0
        lo0, hi0 = origin.lo[i], origin.hi[i]
        if lo1[i] == lo0 and hi1[i] == hi0:
            continue
        if not active_bound_moves(status, beta, g, lo0, hi0, lo1[i], hi1[i]):
            if hi1[i] <= lo1[i]:
                point.status[a] = FIXED
            elif status == FIXED:
                point.status[a] = AT_LOWER if g >= 0.0 else AT_UPPER
            continue
        up = status == AT_UPPER
        if status == FREE:
            up = beta > hi1[i] or beta > 0.0
        elif status == FIXED:
            up = g < 0.0
        point.status[a] = AT_UPPER if up else AT_LOWER
        if up:
            point.hi[a], change.hi[a] = beta, hi1[i] - beta
        else:
            point.lo[a], change.lo[a] = beta, lo1[i] - beta
    copy_into(point.b, origin.b)


@compiled(inside=True)
def has_to_move(i, origin, lo1, hi1):
    """Whether the β of row i has to move on the way to the bounds lo1, hi1 (n,)."""
    lo0, hi0 = origin.lo[i], origin.hi[i]
    return active_bound_moves(origin.status[i], origin.beta[i], origin.g[i], lo0, hi0, lo1[i], hi1[i])


@compiled(inside=True)
def changed_bounds(origin, lo1, hi1, rows):
    """Write the rows whose bounds are other ones than those of the origin into ``rows`` (n,); returns their number."""
    m = 0
    for i in range(lo1.shape[0]):
        if lo1[i] != origin.lo[i] or hi1[i] != origin.hi[i]:
            rows[m] = i
            m += 1
    return m


@compiled()
def put_certificate(lo, hi, q, paths):
    """The certificate of result q, and whether the tolerance is met."""
    low, high, violation, gap = certify(paths.h[q], paths.beta[q], lo, hi)
    paths.interval[q, 0], paths.interval[q, 1], paths.violation[q], paths.gap[q] = low, high, violation, gap
    paths.code[q] = OVERRUN if violation > TOLERANCE else ARRIVED


@compiled(inside=True)
def _combine_four(stored, rows, delta, h):
    """h[q] −= Σ_a delta[q, a] · stored[rows[a]] for four problems q at a time.

    Row by row, so that a row whose delta is zero changes no bit: which problems are together must not matter.
    """
    n, m = h.shape[1], rows.shape[0]
    for start in range(0, n, 512):
        stop = min(start + 512, n)
        h0, h1, h2, h3 = h[0, start:stop], h[1, start:stop], h[2, start:stop], h[3, start:stop]
        a = 0
        while a + 2 <= m:
            r, s = stored[rows[a], start:stop], stored[rows[a + 1], start:stop]
            c0, c1, c2, c3 = delta[0, a], delta[1, a], delta[2, a], delta[3, a]
            d0, d1, d2, d3 = delta[0, a + 1], delta[1, a + 1], delta[2, a + 1], delta[3, a + 1]
            for i in range(stop - start):
                h0[i] = (h0[i] - c0 * r[i]) - d0 * s[i]
                h1[i] = (h1[i] - c1 * r[i]) - d1 * s[i]
                h2[i] = (h2[i] - c2 * r[i]) - d2 * s[i]
                h3[i] = (h3[i] - c3 * r[i]) - d3 * s[i]
            a += 2
        if a < m:
            r = stored[rows[a], start:stop]
            c0, c1, c2, c3 = delta[0, a], delta[1, a], delta[2, a], delta[3, a]
            for i in range(stop - start):
                h0[i] -= c0 * r[i]
                h1[i] -= c1 * r[i]
                h2[i] -= c2 * r[i]
                h3[i] -= c3 * r[i]


@compiled()
def follow_h(stored, origin, h0, paths):
    """Bring h = s − Kβ up to date for every arrived β.

    Rows of β (B, n) are gathered four at a time, so that every kernel row is read once for four of them.
    """
    n, B, beta = h0.shape[0], paths.beta.shape[0], paths.beta
    queue, rows, moved = np.empty(_TOGETHER, np.int64), np.empty(n, np.int64), np.empty(n, np.bool_)
    waiting = 0
    for q in range(B):
        if paths.code[q] == ARRIVED:
            queue[waiting] = q
            waiting += 1
        if waiting == 0 or (waiting < _TOGETHER and q + 1 < B):
            continue
        clear(moved, n)
        for c in range(waiting):
            for i in range(n):
                moved[i] |= beta[queue[c], i] != origin.beta[i]
        m = 0
        for i in range(n):
            if moved[i]:
                rows[m] = i
                m += 1
        delta, part = np.zeros((_TOGETHER, m)), np.empty((_TOGETHER, n))
        for c in range(_TOGETHER):
            copy_into(part[c], h0)
        for c in range(waiting):
            for a in range(m):
                delta[c, a] = beta[queue[c], rows[a]] - origin.beta[rows[a]]
        _combine_four(stored, rows[:m], delta, part)
        for c in range(waiting):
            copy_into(paths.h[queue[c]], part[c])
        waiting = 0


@compiled()
def certify_all(stored, origin, h0, wanted, paths):
    """Bring h up to date for every arrived β and check each certificate."""
    lo, hi = np.empty(h0.shape[0]), np.empty(h0.shape[0])
    follow_h(stored, origin, h0, paths)
    for q in range(paths.beta.shape[0]):
        if paths.code[q] == ARRIVED:
            open_box(wanted.signs, wanted.uppers[q], lo, hi)
            put_certificate(lo, hi, q, paths)


@compiled()
def settle_all(stored, wanted, paths):
    """Put doubtful rows at their bound, where the certificate then still holds.

    A row that rounding keeps from its bound would otherwise count as free and pin the intercept to it.
    """
    lo, hi = np.empty(wanted.signs.shape[0]), np.empty(wanted.signs.shape[0])
    for q in range(paths.beta.shape[0]):
        if paths.code[q] == ARRIVED:
            open_box(wanted.signs, wanted.uppers[q], lo, hi)
            rows, distance = doubtful(paths.beta[q], lo, hi, off_the_sum(paths.beta[q]))
            if rows.shape[0] > 0:
                part, part_h = paths.beta[q].copy(), paths.h[q].copy()
                for a in range(rows.shape[0]):
                    part[rows[a]] -= distance[a]
                combine(stored, rows, distance, part_h)
                if certify(part_h, part, lo, hi)[2] <= TOLERANCE:
                    copy_into(paths.beta[q], part)
                    copy_into(paths.h[q], part_h)
                    put_certificate(lo, hi, q, paths)
