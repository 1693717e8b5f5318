"""All (ν₊, ν₋) of a grid on one kernel matrix, each exact, by the path from a neighbouring pair.

With the sum of each class given, ν₊ and ν₋ are bounds alone: β_i ≤ w_i / (ν₊n₊) for an event, and likewise for the
others. At ν₊ = ν₋ = 1 every row is at its bound, so that the first solution needs no work. From there a sweep goes down
ν₋, and from every ν₋ down ν₊. The sums of the kernel rows of the bounded rows, one for each class, are kept up to date
with the partition: a fresh h = −Kβ then costs a row of K for each free row only.

Smaller ν make larger hulls, and the distance of larger hulls is smaller. Where it is zero f is zero, there and for all
smaller pairs. Where ρ is so small that f/ρ has not eight digits a cell is unresolved, and so are all smaller pairs: a
rule that does not depend on the way through the grid.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled
from svmstat.solver.exact.basis import Free, Point, correct_free, exclude, to_bound
from svmstat.solver.exact.bordered import REGULAR, bordered_block
from svmstat.solver.exact.path import ARRIVED, UNSTABLE, Change, move
from svmstat.solver.gram import combine
from svmstat.solver.hulls import class_ends
from svmstat.solver.problem import Sums
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE, TOLERANCE, middle

SOLVED, MET, UNRESOLVED, FAILED = 0, 1, 2, 3
"""How a cell ended: certified; the hulls meet; no eight digits of f beside ρ; no exact solution was reached."""

_SNAP = 1e-10
"""A free row this near to a bound, as a share of its box, is put there: rounding alone may have kept it free."""

_MOST_EVENTS = np.int64(4000)  # numba takes a whole number of Python for a type of its own and would compile anew
_REFINEMENTS, _LEAST = np.int64(3), 1e-13
"""Newton corrections at the end of a step, unless every g is a smaller share of 2ρ."""

_SUMS = np.int64(2)

_FACTORISATIONS = 8


class Place(NamedTuple):
    """Where a sweep stands: arrays that the kernels change in place.

    Attributes
    ----------
    point : the m rows, β the weights of the hulls' points
    free : the free rows and R
    sums : (2, n) Σ w_i K_i over the rows at their bound, by class
    f : (n,) decision values on the scale of the margins
    numbers : (3,) ρ on the scale of the hulls, the violation as a share of it, path events so far
    """

    point: Point
    free: Free
    sums: Floats
    f: Floats
    numbers: Floats

    def copy_to(self, other: "Place") -> None:
        """Make the other place the same, but for its events, which are its own."""
        k = int(self.free.size[0])
        for name in Point._fields:
            getattr(other.point, name)[:] = getattr(self.point, name)
        other.free.members[:k] = self.free.members[:k]
        other.free.inverse[: k + 2, : k + 2] = self.free.inverse[: k + 2, : k + 2]
        other.free.size[:] = self.free.size
        other.sums[:], other.f[:], other.numbers[:2] = self.sums, self.f, self.numbers[:2]


class Ground(NamedTuple):
    """What a sweep stands on.

    Attributes
    ----------
    K : (m, n) kernel values of the rows that take part, with themselves and then with the held-out rows
    sums : the sums of the classes (m,)
    weights : (m,) of the rows
    nothing, rounding : see `case.Case`
    """

    K: Floats
    sums: Sums
    weights: Floats
    nothing: float
    rounding: float


class Cells(NamedTuple):
    """A row of the grid: the caps of the classes, the inner one's (I,), and the results.

    Attributes
    ----------
    inner : the class whose caps change along the row
    inner_caps, outer_cap : bounds per unit of weight
    held_group, held_weights : (n − m,) class and weight of the held-out rows
    wrong : (2, I) weight of the held-out rows that f puts on the wrong side, by class
    rho, violation, code : (I,) see `NuGrid`
    """

    inner: int
    inner_caps: Floats
    outer_cap: float
    held_group: NDArray[np.int64]
    held_weights: Floats
    wrong: Floats
    rho: Floats
    violation: Floats
    code: NDArray[np.int8]


def all_bounded(ground: Ground) -> Place:
    """The solution for ν₊ = ν₋ = 1."""
    m, n = ground.K.shape
    group, weights = ground.sums.group, ground.weights
    share = weights / np.bincount(group, weights, 2)[group]
    event = group == 0
    point = Point(
        np.where(event, share, -share), np.empty(m), np.where(event, 0.0, -share), np.where(event, share, 0.0),
        np.where(event, AT_UPPER, AT_LOWER).astype(np.int8), np.empty(2),
    )  # fmt: skip
    free = Free(np.empty(m + 2, np.int64), np.zeros((m + 4, m + 4)), np.zeros(1, np.int64))
    place = Place(point, free, np.zeros((2, n)), np.zeros(n), np.zeros(3))
    bounded_sums(ground, place)
    return place


def bounded_sums(ground: Ground, place: Place) -> None:
    """Compute the place's sums of kernel rows anew."""
    place.sums[:] = 0.0
    for c, outer in ((0, AT_UPPER), (1, AT_LOWER)):
        rows = np.flatnonzero((ground.sums.group == c) & (place.point.status == outer))
        combine(ground.K, rows, ground.weights[rows], place.sums[c])


@compiled(inside=True)
def _set_caps(ground, caps, lo, hi):
    """The bounds for caps (2,)."""
    for i in range(lo.shape[0]):
        if ground.sums.group[i] == 0:
            hi[i] = caps[0] * ground.weights[i]
        else:
            lo[i] = -caps[1] * ground.weights[i]


@compiled(inside=True)
def _stays(ground, caps, place):
    """Whether the last solution, all of whose rows are free or zero where a bound moves, is that for the new caps."""
    beta, lo, hi, status = place.point.beta, place.point.lo, place.point.hi, place.point.status
    group, weights = ground.sums.group, ground.weights
    if place.free.size[0] == 0:
        return False
    for i in range(beta.shape[0]):
        cap = caps[group[i]] * weights[i]
        if status[i] == AT_UPPER and group[i] == 0 and hi[i] != cap:
            return False
        if status[i] == AT_LOWER and group[i] == 1 and lo[i] != -cap:
            return False
        if status[i] == FREE and abs(beta[i]) >= (1.0 - 1e-6) * cap:
            return False
    _set_caps(ground, caps, lo, hi)
    return True


@compiled(inside=True)
def _bound_sum(K, group, weights, sums, i, sign):
    """Row i joins (+1) or leaves (−1) the rows at their bound."""
    w, row, target = sign * weights[i], K[i], sums[group[i]]
    for k in range(target.shape[0]):
        target[k] += w * row[k]


@compiled()
def step(ground, caps, place):
    """Move a place to other caps (2,), the bounds per unit of weight; returns how it ended."""
    K, group, weights = ground.K, ground.sums.group, ground.weights
    point, free, f, numbers = place.point, place.free, place.f, place.numbers
    beta, lo, hi, status, b = point.beta, point.lo, point.hi, point.status, point.b
    m = K.shape[0]
    was = status.copy()
    change = Change(np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(_SUMS))
    code = UNSTABLE
    for attempt in range(_FACTORISATIONS):
        k = free.size[0]
        if attempt > 0 and bordered_block(K, group, free.members[:k], REGULAR, free.inverse, _SUMS) < k:
            break
        for i in range(m):
            cap = caps[group[i]] * weights[i]
            wider = cap - (hi[i] - lo[i])
            if abs(wider) <= 1e-14 * cap:  # rounding is no way to go
                wider = 0.0
            if group[i] == 0:
                change.hi[i] = wider
            else:
                change.lo[i] = -wider
        code, events = move(K, ground.sums, point, free, change, _MOST_EVENTS)
        numbers[2] += events
        if code != UNSTABLE:
            break
    if code != ARRIVED:
        return FAILED
    _set_caps(ground, caps, lo, hi)
    for i in range(m):
        if status[i] != FREE:
            to_bound(point, i, status[i] == AT_UPPER)
    for a in range(free.size[0] - 1, -1, -1):
        i = free.members[a]
        margin = _SNAP * (hi[i] - lo[i])
        if beta[i] - lo[i] <= margin or hi[i] - beta[i] <= margin:
            to_bound(point, i, beta[i] - lo[i] > margin)
            exclude(ground.sums, free, a)
    for i in range(m):
        outer = AT_UPPER if group[i] == 0 else AT_LOWER
        if (was[i] == outer) != (status[i] == outer):
            _bound_sum(K, group, weights, place.sums, i, 1.0 if status[i] == outer else -1.0)

    h, coefficients = np.empty(K.shape[1]), np.empty(free.size[0])
    for i in range(h.shape[0]):
        h[i] = caps[1] * place.sums[1, i] - caps[0] * place.sums[0, i]
    for a in range(free.size[0]):
        coefficients[a] = -beta[free.members[a]]
    combine(K, free.members[: free.size[0]], coefficients, h)
    correct_free(K, ground.sums, lo, hi, beta, h, b, free, _LEAST * abs(b[1] - b[0]), _REFINEMENTS)
    norm = 0.0
    for i in range(m):
        norm -= beta[i] * h[i]
    low, high = np.empty(2), np.empty(2)
    unbalanced = class_ends(h[:m], beta, lo, hi, group, low, high)
    for c in range(2):
        b[c] = middle(low[c], high[c])
    rho = 0.5 * (b[1] - b[0])
    violation = max(low[0] - high[0], low[1] - high[1], 0.0)
    if norm <= ground.nothing:
        f[:] = 0.0
        numbers[0] = numbers[1] = 0.0
        return MET if unbalanced <= TOLERANCE else FAILED
    if not (rho > 0.0 and violation <= TOLERANCE * rho and unbalanced <= TOLERANCE):
        return FAILED
    for i in range(f.shape[0]):
        f[i] = (0.5 * (b[0] + b[1]) - h[i]) / rho
    for i in range(m):
        point.g[i] = 0.0 if status[i] == FREE else b[group[i]] - h[i]
    numbers[0], numbers[1] = rho, max(violation, ground.rounding) / rho
    return SOLVED if numbers[1] <= TOLERANCE else UNRESOLVED


@compiled()
def sweep_row(ground, place, cells, start, stop):
    """Steps to inner_caps[start : stop] in turn, until one does not end SOLVED; where it stopped.

    The cap of the other class stays the same. The least f that counts as positive is the tolerance.
    """
    m, held_group = ground.K.shape[0], cells.held_group
    caps = np.empty(2)
    for i in range(start, stop):
        caps[cells.inner], caps[1 - cells.inner] = cells.inner_caps[i], cells.outer_cap
        cells.code[i] = SOLVED
        if not _stays(ground, caps, place):
            cells.code[i] = step(ground, caps, place)
        cells.rho[i], cells.violation[i] = place.numbers[0], place.numbers[1]
        if cells.code[i] != SOLVED:
            return i
        cells.wrong[0, i] = cells.wrong[1, i] = 0.0
        for k in range(held_group.shape[0]):
            if (place.f[m + k] > TOLERANCE) != (held_group[k] == 0):
                cells.wrong[held_group[k], i] += cells.held_weights[k]
    return stop
