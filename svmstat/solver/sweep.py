"""All (ν₊, ν₋) of a grid on one kernel matrix, each exact, by the path from a neighbouring pair.

With the sum of each class given, ν₊ and ν₋ are bounds alone: β_i ≤ w_i / (ν₊n₊) for an event, and likewise for the
others. At ν₊ = ν₋ = 1 every row is at its bound, so that the first solution needs no work. From there a sweep goes down
ν₋, and from every ν₋ down ν₊. The sums of the kernel rows of the bounded rows, one for each class, are kept up to date
with the partition: a fresh h = −Kβ then costs a row of K for each free row only.

Smaller ν make larger hulls, and the distance of larger hulls is smaller. Where it is zero f is zero, there and for all
smaller pairs. Where ρ is so small that f/ρ has not eight digits a cell is unresolved, and so are all smaller pairs: a
rule that does not depend on the way through the grid.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from svmstat.solver.basis import exclude
from svmstat.solver.bordered import bordered_classes
from svmstat.solver.gram import Floats, combine
from svmstat.solver.hulls import class_ends
from svmstat.solver.path import ARRIVED, UNSTABLE, move
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE, TOLERANCE, middle

SOLVED, MET, UNRESOLVED, FAILED = 0, 1, 2, 3
"""How a cell ended: certified; the hulls meet; no eight digits of f beside ρ; no exact solution was reached."""

_SNAP = 1e-10
"""A free row this near to a bound, as a share of its box, is put there: rounding alone may have kept it free."""

_MOST_EVENTS = 4000
_REFINEMENTS = 3
_FACTORISATIONS = 8


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sweep stands: arrays that the kernels change in place.

    Attributes
    ----------
    beta, g, lo, hi : (m,) weights of the hulls' points, gradients, bounds
    status : (m,) partition codes
    members, inverse : the free rows and R
    b : (2,) multipliers
    sums : (2, n) Σ w_i K_i over the rows at their bound, by class
    size : (1,) the number of free rows
    f : (n,) decision values on the scale of the margins
    numbers : (3,) ρ on the scale of the hulls, the violation as a share of it, path events so far
    """

    beta: Floats
    g: Floats
    lo: Floats
    hi: Floats
    status: NDArray[np.int8]
    members: NDArray[np.int64]
    inverse: Floats
    b: Floats
    sums: Floats
    size: NDArray[np.int64]
    f: Floats
    numbers: Floats

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """In the order of the kernels' arguments."""
        return (
            self.beta, self.g, self.lo, self.hi, self.status, self.members, self.inverse, self.b, self.sums, self.size,
            self.f, self.numbers,
        )  # fmt: skip

    def copy_to(self, other: "Place") -> None:
        """Make the other place the same."""
        k = int(self.size[0])
        for mine, its in zip(self.arrays, other.arrays, strict=True):
            if mine is self.inverse:
                its[: k + 2, : k + 2] = mine[: k + 2, : k + 2]
            elif mine is self.numbers:
                its[:2] = mine[:2]  # the events are each place's own
            elif mine is self.members:
                its[:k] = mine[:k]
            else:
                its[...] = mine


def all_bounded(K: Floats, group: NDArray[np.int64], weights: Floats) -> Place:
    """The solution for ν₊ = ν₋ = 1: K (m, n), group and weights (m,)."""
    m, n = K.shape
    share = weights / np.bincount(group, weights, 2)[group]
    event = group == 0
    lo, hi = np.where(event, 0.0, -share), np.where(event, share, 0.0)
    place = Place(
        np.where(event, share, -share), np.empty(m), lo, hi, np.where(event, AT_UPPER, AT_LOWER).astype(np.int8),
        np.empty(m + 2, np.int64), np.zeros((m + 4, m + 4)), np.empty(2), np.zeros((2, n)), np.zeros(1, np.int64),
        np.zeros(n), np.zeros(3),
    )  # fmt: skip
    bounded_sums(K, group, weights, place.status, place.sums)
    return place


def bounded_sums(K: Floats, group: NDArray[np.int64], weights: Floats, status: NDArray[np.int8], sums: Floats) -> None:
    """Write Σ w_i K_i over the rows at their bound, by class, into ``sums`` (2, n)."""
    sums[:] = 0.0
    for c, outer in ((0, AT_UPPER), (1, AT_LOWER)):
        rows = np.flatnonzero((group == c) & (status == outer))
        combine(K, rows, weights[rows], sums[c])


@njit(cache=True, nogil=True)
def _stays(group, weights, caps, beta, lo, hi, status, size):
    """Whether the last solution, all of whose rows are free or zero where a bound moves, is that for the new caps."""
    if size[0] == 0:
        return False
    for i in range(beta.shape[0]):
        cap = caps[group[i]] * weights[i]
        if status[i] == AT_UPPER and group[i] == 0 and hi[i] != cap:
            return False
        if status[i] == AT_LOWER and group[i] == 1 and lo[i] != -cap:
            return False
        if status[i] == FREE and abs(beta[i]) >= (1.0 - 1e-6) * cap:
            return False
    for i in range(beta.shape[0]):
        if group[i] == 0:
            hi[i] = caps[0] * weights[i]
        else:
            lo[i] = -caps[1] * weights[i]
    return True


@njit(cache=True, nogil=True)
def _bound_sum(K, group, weights, sums, i, sign):
    """Row i joins (+1) or leaves (−1) the rows at their bound."""
    w, row, target = sign * weights[i], K[i], sums[group[i]]
    for k in range(target.shape[0]):
        target[k] += w * row[k]


@njit(cache=True, nogil=True)
def step(
    K, group, weights, caps, nothing, rounding, beta, g, lo, hi, status, members, inverse, b, sums, size, f, numbers
):
    """Move a place to other caps (2,), the bounds per unit of weight; returns how it ended.

    K (m, n) holds the rows that take part, all columns, theirs first.
    """
    m, n = K.shape
    was = status.copy()
    dlo, dhi = np.zeros(m), np.zeros(m)
    code, k = UNSTABLE, size[0]
    for attempt in range(_FACTORISATIONS):
        if attempt > 0 and not bordered_classes(K, group, members[:k], inverse):
            break
        for i in range(m):
            cap = caps[group[i]] * weights[i]
            change = cap - (hi[i] - lo[i])
            if abs(change) <= 1e-14 * cap:  # rounding is no way to go
                change = 0.0
            if group[i] == 0:
                dhi[i] = change
            else:
                dlo[i] = -change
        code, k, events = move(
            K, group, beta, g, lo, hi, dlo, dhi, np.zeros(m), status, members, k, inverse, b, _MOST_EVENTS
        )
        numbers[2] += events
        if code != UNSTABLE:
            break
    if code != ARRIVED:
        return FAILED
    for i in range(m):
        if group[i] == 0:
            hi[i] = caps[0] * weights[i]
        else:
            lo[i] = -caps[1] * weights[i]
        if status[i] == AT_UPPER:
            beta[i] = hi[i]
        elif status[i] == AT_LOWER:
            beta[i] = lo[i]
    for a in range(k - 1, -1, -1):
        i = members[a]
        margin = _SNAP * (hi[i] - lo[i])
        if beta[i] - lo[i] <= margin or hi[i] - beta[i] <= margin:
            status[i] = AT_LOWER if beta[i] - lo[i] <= margin else AT_UPPER
            beta[i] = lo[i] if status[i] == AT_LOWER else hi[i]
            k = exclude(group, members, k, inverse, a)
    size[0] = k
    for i in range(m):
        outer = AT_UPPER if group[i] == 0 else AT_LOWER
        if (was[i] == outer) != (status[i] == outer):
            _bound_sum(K, group, weights, sums, i, 1.0 if status[i] == outer else -1.0)

    h = np.empty(n)
    for i in range(n):
        h[i] = caps[1] * sums[1, i] - caps[0] * sums[0, i]
    free = members[:k]
    combine(K, free, -beta[free], h)
    if not _refine(K, group, lo, hi, beta, h, members, k, inverse, b):
        return FAILED
    norm = 0.0
    for i in range(m):
        norm -= beta[i] * h[i]
    low, high = np.empty(2), np.empty(2)
    unbalanced = class_ends(h[:m], beta, lo, hi, group, low, high)
    for c in range(2):
        b[c] = middle(low[c], high[c])
    rho = 0.5 * (b[1] - b[0])
    violation = max(low[0] - high[0], low[1] - high[1], 0.0)
    if norm <= nothing:
        f[:] = 0.0
        numbers[0] = numbers[1] = 0.0
        return MET if unbalanced <= TOLERANCE else FAILED
    if not (rho > 0.0 and violation <= TOLERANCE * rho and unbalanced <= TOLERANCE):
        return FAILED
    for i in range(n):
        f[i] = (0.5 * (b[0] + b[1]) - h[i]) / rho
    for i in range(m):
        g[i] = 0.0 if status[i] == FREE else b[group[i]] - h[i]
    numbers[0], numbers[1] = rho, max(violation, rounding) / rho
    return SOLVED if numbers[1] <= TOLERANCE else UNRESOLVED


@njit(cache=True, nogil=True)
def _refine(K, group, lo, hi, beta, h, members, k, inverse, b):
    """Newton corrections of the free rows (h follows) while they are not below rounding; False if a bound is met."""
    residual, x = np.empty(k + 2), np.empty(k + 2)
    m = beta.shape[0]
    for _ in range(_REFINEMENTS):
        if k == 0:
            return True
        residual[0], residual[1] = -1.0, 1.0
        for i in range(m):
            residual[group[i]] += beta[i]
        worst = 0.0
        for a in range(k):
            residual[a + 2] = b[group[members[a]]] - h[members[a]]
            worst = max(worst, abs(residual[a + 2]))
        scale = abs(b[1] - b[0])
        if worst <= 1e-13 * scale and max(abs(residual[0]), abs(residual[1])) <= 1e-14:
            return True
        x[:] = 0.0
        for c in range(k + 2):
            row, factor = inverse[c], residual[c]
            for a in range(k + 2):
                x[a] -= factor * row[a]
        for a in range(k):
            i = members[a]
            if not lo[i] < beta[i] + x[a + 2] < hi[i]:
                return worst <= TOLERANCE * scale
        for a in range(k):
            beta[members[a]] += x[a + 2]
        b[0] += x[0]
        b[1] += x[1]
        combine(K, members[:k], -x[2:], h)
    return True


@njit(cache=True, nogil=True)
def sweep_row(
    K, group, weights, inner, inner_caps, outer_cap, start, stop, nothing, rounding, beta, g, lo, hi, status, members,
    inverse, b, sums, size, f, numbers, positive, held_group, held_weights, wrong, rho, violation, code,
):  # fmt: skip
    """Steps to inner_caps[start : stop] of class ``inner`` in turn, until one does not end SOLVED; where it stopped.

    The cap of the other class stays the same.
    The columns of K beyond its rows are held out: ``wrong`` (2, stop) gets the weight of their rows that f puts on the
    wrong side, by class. ``positive`` is the least f that counts as positive.
    """
    m = K.shape[0]
    caps = np.empty(2)
    for i in range(start, stop):
        caps[inner], caps[1 - inner] = inner_caps[i], outer_cap
        code[i] = SOLVED
        if not _stays(group, weights, caps, beta, lo, hi, status, size):
            code[i] = step(
                K, group, weights, caps, nothing, rounding, beta, g, lo, hi, status, members, inverse, b, sums, size, f,
                numbers,
            )  # fmt: skip
        rho[i], violation[i] = numbers[0], numbers[1]
        if code[i] != SOLVED:
            return i
        wrong[0, i] = wrong[1, i] = 0.0
        for k in range(held_group.shape[0]):
            if (f[m + k] > positive) != (held_group[k] == 0):
                wrong[held_group[k], i] += held_weights[k]
    return stop
