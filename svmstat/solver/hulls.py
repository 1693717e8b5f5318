"""The problem with a sum for each class: the nearest points of the reduced convex hulls of the classes.

With β = yα / total, h = −Kβ and Σβ = ±1 over a class, optimality is for each class c

    max{h_i: β_i < hi_i} ≤ b_c ≤ min{h_i: β_i > lo_i}

The margins are at f = ±ρ with f = Kβ + b, b = (b₊ + b₋)/2 and ρ = (b₋ − b₊)/2. Divided by ρ all this is the solution
without sums for the bounds u/(ρ total) and margins one [004: Theorem 2], which is how it is reported and on whose scale
it is certified: a violation of b₊ or b₋ counts as a share of ρ. A class without a free row has an interval of
multipliers, whose midpoint is taken, or its finite end if all its rows are at their bounds.

f/ρ has no more digits than h has beside ρ: where ρ is so small that the rounding of h exceeds the tolerance, as it is
for smooth kernels and for classes that all but touch, h is computed in twice the precision (`sharpen`). What then
remains is due to the digits of β, and where that exceeds the tolerance the solution is not certified.

Where the hulls meet the distance is zero, the multipliers agree and f = 0 everywhere; to rounding, ρ has no digits
there, so that the distance decides.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled
from svmstat._tools.doubles import EPS, FAR
from svmstat.solver.gram import Gram
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import Judgement, Nearest, judgement, middles, rounding_of

_Share = Callable[[Floats, float], Floats]
"""How much of the room (m,) that rows have each gives of an excess."""

MEET = 1e-12
"""Hulls nearer than this share of the data's squared spread meet."""

_ROUNDING = 1e-15
_FULL = 1e-12
"""Bounds whose sum exceeds that of the class by no more than this share leave one β only."""

_BALANCED = 1e-14
"""Sums that differ by this share are equal."""


def digits(gram: Gram) -> tuple[float, float]:
    """The squared distance that counts as none, by the spread of the rows about the first; how exactly h is known.

    Both are those of ordinary rows.
    """
    rows = np.arange(gram.n)[gram.ordinary.rows]
    diagonal = gram.diagonal[rows]
    column = gram.columns(rows[:1])[0][rows]
    spread, largest = float(np.abs(diagonal + diagonal[0] - 2.0 * column).max()), float(np.abs(diagonal).max())
    return max(MEET * spread, _ROUNDING * largest), EPS * largest


@compiled()
def class_ends(h, beta, lo, hi, group, low, high):
    """Write the ends of both intervals into low, high (2,); by how much a sum of a class is not ±1.

    Compiled functions call it and Python does: a new array that it returned would not outlive numba's cache.
    """
    low[:], high[:] = -FAR, FAR
    total = np.zeros(2)
    for i in range(h.shape[0]):
        g = group[i]
        total[g] += beta[i]
        if beta[i] < hi[i]:
            low[g] = max(low[g], h[i])
        if beta[i] > lo[i]:
            high[g] = min(high[g], h[i])
    for g in range(2):
        if low[g] == -FAR:
            low[g] = -np.inf
        if high[g] == FAR:
            high[g] = np.inf
    return max(abs(total[0] - 1.0), abs(total[1] + 1.0))


def intercepts_by_nu(problem: BoxQP, nearest: Nearest) -> tuple[float, float]:
    """All optimal b/ρ, low and high, for the ρ of these nearest points: with another b ρ may be another."""
    assert problem.total is not None
    low, high = np.empty(2), np.empty(2)
    class_ends(nearest.h, nearest.beta, *problem.sides(nearest.caps), problem.sums.group, low, high)
    rho = nearest.rho / problem.total
    return float(low.mean() / rho), float(high.mean() / rho)


@dataclass(frozen=True, slots=True)
class Divided:
    """Nearest points divided by ρ: the solution without sums that they are, and its certificate.

    Attributes
    ----------
    alpha, field : (..., n)
    interval : (..., 2) of the intercept
    violation, gap, rounding : (...,)
    extent : (...,) the spread of f over the rows
    rho : (...,) what they were divided by
    judged : what the certificate comes to
    """

    alpha: Floats
    field: Floats
    interval: Floats
    violation: Floats
    gap: Floats
    rounding: Floats
    extent: Floats
    rho: Floats
    judged: Judgement


def divided(
    problem: BoxQP, beta: Floats, h: Floats, ends: Floats, gap: Floats | float, unbalanced: Floats | float,
    digits: float,
) -> Divided:  # fmt: skip
    """Divide β, h (..., n) by ρ > 0. ``ends`` (2, ..., 2) are the lower and the upper ends of both multipliers.

    ``gap`` and the ``digits`` to which h is known are on the scale of h; by ``unbalanced`` the sums are amiss.
    """
    low, high = ends
    b = middles(np.moveaxis(ends, 0, -1))
    centre, rho = b.mean(axis=-1), 0.5 * (b[..., 1] - b[..., 0])
    half = np.maximum(np.minimum(high - b, b - low).min(axis=-1), 0.0)
    crossed = np.maximum(np.maximum(low - high, digits).max(axis=-1) / rho, unbalanced)
    field, rounding = h / -rho[..., None], rounding_of(beta, problem.gram.sizes) / rho
    ordinary = problem.gram.ordinary
    extent = ordinary.spread(field)
    return Divided(
        problem.signs * beta / rho[..., None],
        field,
        np.stack([centre - half, centre + half], axis=-1) / rho[..., None],
        crossed,
        gap / rho / rho,
        rounding,
        extent,
        rho,
        judgement(crossed, rounding, rounding, np.abs(centre) / rho, extent, share=ordinary.share),
    )


@compiled()
def hulls_gap(h, beta, lo, hi, group, b):
    """The duality gap on the scale of h: terms ≥ 0 that lose no digits, and what the sums are amiss."""
    gap = 0.0
    total = np.zeros(2)
    for i in range(h.shape[0]):
        g = b[group[i]] - h[i]
        total[group[i]] += beta[i]
        gap += (beta[i] - lo[i]) * max(g, 0.0) + (hi[i] - beta[i]) * max(-g, 0.0)
    return gap + abs(b[0] * (total[0] - 1.0)) + abs(b[1] * (total[1] + 1.0))


def may_reach(problem: BoxQP, lo: Floats, hi: Floats) -> bool:
    """Whether the bounds allow the sums: with a total, Σβ = 1 over the events and −1 over the others."""
    return problem.total is None or bool(hi.sum() >= 1.0 - _FULL and -lo.sum() >= 1.0 - _FULL)


def feasible(
    beta: Floats, upper: Floats, lo: Floats, hi: Floats, total: float | None = None, *, one_by_one: bool = False
) -> Floats:
    """β (n,), a solution for bounds ``upper`` of |β|, carried over to the box [lo, hi] with Σ|β| = total in each class.

    Without a total that is the smaller of the two sums. Rows at a bound stay there; the free rows of a class give way
    in proportion, and where they do not suffice all its rows. Of these only the last is free if they go ``one_by_one``:
    with 800 free rows too many a path takes 0.3 s to a solution with 50.
    """
    sizes, bounds = np.abs(beta), np.maximum(hi, -lo)
    at_bound = (sizes > 0.0) & (sizes >= upper)
    moved = np.where(at_bound, bounds, np.minimum(sizes, bounds))
    classes = [(1.0, np.flatnonzero(hi > 0.0)), (-1.0, np.flatnonzero(lo < 0.0))]
    goal = min(float(moved[rows].sum()) for _, rows in classes) if total is None else total
    for sign, rows in classes:
        a = moved[rows]
        if not _adds_up(a, goal):
            a = _given_way(a, bounds[rows], at_bound[rows], goal, _in_order if one_by_one else _in_proportion)
        moved[rows] = sign * a
    return moved


def _adds_up(a: Floats, goal: float) -> bool:
    return abs(float(a.sum()) - goal) <= _BALANCED * goal


def _given_way(a: Floats, u: Floats, bounded: np.ndarray, goal: float, shared: _Share) -> Floats:
    """Σa = goal by the free rows of a class, and where they do not suffice by others, as they are ``shared``."""
    free = ~bounded & (a > 0.0)
    a = _filled(a, u, free, goal, _in_proportion)
    for giving in (free | bounded, np.ones(len(a), bool)):
        a = _filled(a, u, giving, goal, shared)
    return a


def _filled(a: Floats, u: Floats, giving: np.ndarray, goal: float, shared: _Share) -> Floats:
    """Σa = goal with 0 ≤ a ≤ u, as far as the rows that are ``giving`` do, moved towards zero or their bound."""
    if _adds_up(a, goal):
        return a
    excess = float(a.sum()) - goal
    room = np.where(giving, a if excess > 0.0 else u - a, 0.0)
    step = shared(room, abs(excess))
    return a - step if excess > 0.0 else np.where(giving & (step >= room), u, a + step)


def _in_proportion(room: Floats, excess: float) -> Floats:
    total = float(room.sum())
    return room * min(excess / total, 1.0) if total > 0.0 else room


def _in_order(room: Floats, excess: float) -> Floats:
    some = np.minimum(room, excess)
    return np.clip(excess - (np.cumsum(some) - some), 0.0, room)
