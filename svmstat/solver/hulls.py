"""The problem with a sum for each class: the nearest points of the reduced convex hulls of the classes.

With β = yα / total, h = −Kβ and Σβ = ±1 over a class, optimality is for each class c

    max{h_i: β_i < hi_i} ≤ b_c ≤ min{h_i: β_i > lo_i}

The margins are at f = ±ρ with f = Kβ + b, b = (b₊ + b₋)/2 and ρ = (b₋ − b₊)/2. Divided by ρ all this is the solution
without sums for the bounds u/ρ and margins one [004: Theorem 2], which is how it is reported and on whose scale it is
certified: a violation of b₊ or b₋ counts as a share of ρ. A class without a free row has an interval of multipliers,
whose midpoint is taken, or its finite end if all its rows are at their bounds.

f/ρ has no more digits than h has beside ρ: where ρ is so small that the rounding of h exceeds the tolerance, as it is
for smooth kernels and for classes that all but touch, h is computed in twice the precision (`sharpen`). What then
remains is due to the digits of β, and where that exceeds the tolerance the solution is not certified.

Where the hulls meet the distance is zero, the multipliers agree and f = 0 everywhere; to rounding, ρ has no digits
there, so that the distance decides.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from svmstat.solver.gram import Floats, Gram, Rows
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import TOLERANCE, certify, middle

MEET = 1e-12
"""Hulls nearer than this share of the data's squared spread meet."""

_ROUNDING = 1e-15
_FULL = 1e-12
"""Bounds whose sum exceeds that of the class by no more than this share leave one β only."""

_FAR = 1e300


@dataclass(frozen=True, slots=True)
class Hulls:
    """What the solver must know of the two sums.

    Attributes
    ----------
    group : (n,) 0 for an event, 1 for another row
    nothing : squared distance below which hulls meet
    rounding : how exactly h can be known
    """

    group: Rows
    nothing: float
    rounding: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """How good a (β, h) is.

    Attributes
    ----------
    b : (1,) the intercept, or (2,) the multipliers of the classes
    violation : by how much the ends cross, on the scale of h; never negative
    scale : what it is measured against: 1, or ρ
    certified : whether the tolerance is met, as far as the digits of h go
    """

    b: Floats
    violation: float
    scale: float
    certified: bool


def hulls_of(problem: BoxQP) -> Hulls | None:
    """None for a problem without a total."""
    if problem.group is None:
        return None
    return Hulls(problem.group, *digits(problem.gram))


def digits(gram: Gram) -> tuple[float, float]:
    """The squared distance that counts as none, by the spread of the rows about the first; how exactly h is known."""
    diagonal = gram.diagonal
    column = gram.columns(np.zeros(1, np.intp))[0]
    spread, largest = float(np.abs(diagonal + diagonal[0] - 2.0 * column).max()), float(np.abs(diagonal).max())
    return max(MEET * spread, _ROUNDING * largest), float(np.finfo(float).eps) * largest


def judge(h: Floats, beta: Floats, lo: Floats, hi: Floats, hulls: Hulls | None) -> Verdict:
    """The certificate of (β, h), both (n,), with or without sums of the classes."""
    if hulls is None:
        b_low, b_high, violation, _ = certify(h, beta, lo, hi)
        b = np.array([middle(b_low, b_high)])
        return Verdict(b, max(float(violation), 0.0), 1.0, bool(violation <= TOLERANCE))
    low, high = np.empty(2), np.empty(2)
    unbalanced = class_ends(h, beta, lo, hi, hulls.group, low, high)
    b = np.array([middle(low[0], high[0]), middle(low[1], high[1])])
    violation, rho = max(0.0, float((low - high).max())), float(0.5 * (b[1] - b[0]))
    squared = float(-beta @ h)
    if not np.isfinite(violation + squared):
        return Verdict(b, np.inf, 0.0, False)
    holds = squared <= hulls.nothing or violation <= TOLERANCE * rho
    return Verdict(b, violation, max(rho, 0.0), bool(holds and unbalanced <= TOLERANCE))


@njit(cache=True, nogil=True)
def class_ends(h, beta, lo, hi, group, low, high):
    """Write the ends of both intervals into low, high (2,); by how much a sum of a class is not ±1.

    Compiled functions call it and Python does: a new array that it returned would not outlive numba's cache.
    """
    low[:], high[:] = -_FAR, _FAR
    total = np.zeros(2)
    for i in range(h.shape[0]):
        g = group[i]
        total[g] += beta[i]
        if beta[i] < hi[i]:
            low[g] = max(low[g], h[i])
        if beta[i] > lo[i]:
            high[g] = min(high[g], h[i])
    for g in range(2):
        if low[g] == -_FAR:
            low[g] = -np.inf
        if high[g] == _FAR:
            high[g] = np.inf
    return max(abs(total[0] - 1.0), abs(total[1] + 1.0))


@njit(cache=True, nogil=True)
def hulls_gap(h, beta, lo, hi, group, b):
    """The duality gap on the scale of h: terms ≥ 0 that lose no digits, and what the sums are amiss."""
    gap = 0.0
    total = np.zeros(2)
    for i in range(h.shape[0]):
        g = b[group[i]] - h[i]
        total[group[i]] += beta[i]
        gap += (beta[i] - lo[i]) * max(g, 0.0) + (hi[i] - beta[i]) * max(-g, 0.0)
    return gap + abs(b[0] * (total[0] - 1.0)) + abs(b[1] * (total[1] + 1.0))


def shifts(b: Floats, group: Rows | None) -> Floats:
    """The b of each row: (n,), or (1,) where it is the same for all."""
    return b if group is None else b[group]


def missing(beta: Floats, group: Rows | None) -> Floats:
    """By how much Σβ, or the sum of each class, exceeds what is given: (1,) or (2,)."""
    if group is None:
        return np.array([beta.sum()])
    return np.array([beta[group == 0].sum() - 1.0, beta[group == 1].sum() + 1.0])


def may_reach(lo: Floats, hi: Floats) -> bool:
    """Whether the bounds allow Σβ = 1 over the events and −1 over the others."""
    return bool(hi.sum() >= 1.0 - _FULL and -lo.sum() >= 1.0 - _FULL)


def feasible_in_classes(beta: Floats, upper: Floats, lo: Floats, hi: Floats, group: Rows) -> Floats:
    """β (n,), a solution for bounds ``upper`` of |β|, carried over to the box [lo, hi] with its sums.

    Rows at a bound stay there; the free rows of a class give way, and where they do not suffice all its rows.
    """
    moved = np.zeros(len(beta))
    for g, sign, bound in ((0, 1.0, hi), (1, -1.0, -lo)):
        rows = np.flatnonzero((group == g) & (bound > 0.0))
        u, a = bound[rows], sign * beta[rows]
        at_bound = a >= upper[rows]
        a = np.where(at_bound, u, np.clip(a, 0.0, u))
        free = ~at_bound & (a > 0.0)
        for giving in (free, free | at_bound, np.ones(len(a), bool)):
            a = _filled(a, u, giving)
        moved[rows] = sign * a
    return moved


def _filled(a: Floats, u: Floats, giving: np.ndarray) -> Floats:
    """Σa = 1 with 0 ≤ a ≤ u, the rows that are ``giving`` moved in proportion towards zero or their bound."""
    excess = float(a.sum()) - 1.0
    if excess == 0.0 or not giving.any():
        return a
    room = np.where(giving, a if excess > 0.0 else u - a, 0.0)
    total = float(room.sum())
    if total <= 0.0:
        return a
    share = min(abs(excess) / total, 1.0)
    return a - room * share if excess > 0.0 else np.where(giving & (share == 1.0), u, a + room * share)


def towards_each_other(gram: Gram, lo: Floats, hi: Floats, group: Rows) -> tuple[Floats, Floats]:
    """A start (β, h), both (n,): of each class the rows nearest to the other's centre at their bounds.

    For bounds that leave one β only this is the solution.
    """
    n = len(lo)
    centre = hi / hi.sum() - lo / lo.sum()
    h = np.zeros(n)
    opened = np.flatnonzero(centre)
    gram.add(opened, -centre[opened], h)
    beta = np.zeros(n)
    for g, sign, bound in ((0, 1.0, hi), (1, -1.0, -lo)):
        rows = np.flatnonzero((group == g) & (bound > 0.0))
        rows = rows[np.argsort(-sign * h[rows], kind="stable")]
        before = np.cumsum(bound[rows]) - bound[rows]
        beta[rows] = sign * np.clip(1.0 - before, 0.0, bound[rows])
    h[:] = 0.0
    support = np.flatnonzero(beta)
    gram.add(support, -beta[support], h)
    return beta, h
