"""Rough solutions at any size: sequential minimal optimisation on the rows that can still move.

Most rows settle at a bound early. A round takes the free rows and those bound rows that violate optimality, gathers
their block of the kernel matrix contiguously, improves them, and brings the other rows up to date once.
"""

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled
from svmstat.solver.case import Case, Verdict, difference, judge
from svmstat.solver.gram import Room, Rows
from svmstat.solver.rough.smo import smo

_SMALL = 400
"""Up to so many rows a smaller block saves nothing."""

_ALMOST_ALL = 0.5
"""With a larger share of the rows the whole matrix is used in place."""

_LARGEST_BLOCK = 6000
"""Rows of the largest block (288 MB)."""

_SAMPLE = 1200
"""Rows of the first block where there are more than twice as many."""

_SHARE = 0.2
"""The first block of fewer, as a share of them, where their kernel values are not known."""


def descend(case: Case, beta: Floats, h: Floats, tolerance: float, max_steps: int, room: Room) -> int:
    """Improve a feasible (β, h = s − Kβ), both (n,), in place; returns the number of SMO steps.

    Ends when the KKT violation is ≤ ``tolerance``, for hulls a share of ρ, or these meet; after ``max_steps`` steps, or
    when rounding stops all progress. ``room`` is memory for its blocks of the kernel matrix.
    """
    n, steps = case.gram.n, 0
    small, halved = n <= _SMALL and case.gram.at_once, n <= 2 * _SAMPLE
    least = 0.1 * float(np.sqrt(max(case.nothing, 0.0)))
    if not small and not beta.any():
        at_once = halved and case.gram.at_once
        size = max(_SMALL // 2, int(_SHARE * n)) if halved else _SAMPLE
        rows, most = (np.arange(n), n // 2) if at_once else (_sample(case.lo, case.hi, size), max_steps)
        steps = _improve(case, rows, beta, h, tolerance, min(most, max_steps), room)
    largest = n if halved else _SAMPLE
    while steps < max_steps:
        verdict = judge(case, beta, h)
        violation, aim = verdict.violation, tolerance * max(verdict.scale, least)
        if violation <= tolerance * verdict.scale or (case.lead > 1 and verdict.certified):
            break
        rows, inner, most = np.arange(n), aim, max_steps
        if not small:
            n_free = int(np.count_nonzero(case.free(beta)))
            largest = min(int(1.2 * max(largest, n_free)), _LARGEST_BLOCK)
            rows = _movable(case, beta, h, verdict, violation if violation <= 10.0 * aim else 0.0, largest)
            inner, most = max(0.9 * aim, 0.03 * violation), 20 * len(rows)
        done = _improve(case, rows, beta, h, inner, min(most, max_steps - steps), room)
        if done == 0:
            break
        steps += done
    return steps


def _sample(lo: Floats, hi: Floats, size: int) -> Rows:
    """So many rows, spread evenly over a fixed random order."""
    rows = np.flatnonzero(hi > lo)
    picked = np.random.default_rng(20061126).permutation(rows)[:size]
    return np.sort(picked)


def _movable(case: Case, beta: Floats, h: Floats, verdict: Verdict, reach: float, largest: int) -> Rows:
    """The free rows and the violating bound rows, the worst of them if they are more than ``largest``.

    A bound row violates optimality for the middle b of the crossed interval, or for some b within half of ``reach``.
    """
    half, rows = 0.5 * reach, np.empty(len(h), np.int64)
    m = _put_in_motion(h, beta, case.lo, case.hi, case.sums.group, verdict.b, half, rows)
    rows = rows[:m]
    if m <= largest:
        return rows
    b, rising, falling = case.shifts(verdict.b, rows), beta[rows] < case.hi[rows], beta[rows] > case.lo[rows]
    above, below = np.maximum(h[rows] - b + half, 0.0), np.maximum(b + half - h[rows], 0.0)
    lacking = np.ones(len(h))
    lacking[rows] = -np.maximum(np.where(rising, above, 0.0), np.where(falling, below, 0.0))
    return np.sort(np.argpartition(lacking, largest)[:largest])


@compiled(borrowing=True)
def _put_in_motion(h, beta, lo, hi, group, b, half, rows):
    """The rows that are free, or violate optimality by more than −``half`` for the b of their group, first; m."""
    m = 0
    for i in range(h.shape[0]):  # without a branch: it is as good as random which way it would go
        may_rise, may_fall, shift = beta[i] < hi[i], beta[i] > lo[i], b[group[i]]
        rows[m] = i
        m += (may_rise & may_fall) | (may_rise & (h[i] > shift - half)) | (may_fall & (h[i] < shift + half))
    return m


def _improve(case: Case, rows: Rows, beta: Floats, h: Floats, tolerance: float, max_steps: int, room: Room) -> int:
    gram, group, first = case.gram, case.sums.group, len(rows)
    if case.lead == 1 and gram.keeps and len(rows) > _ALMOST_ALL * gram.n:
        return int(smo(gram.complete(), gram.n, case.lo, case.hi, beta, h, tolerance, max_steps)[0])
    if case.lead > 1:
        rows = rows[np.argsort(group[rows], kind="stable")]
        first = int(np.count_nonzero(group[rows] == 0)) or len(rows)
    some_beta, some_h = beta[rows], h[rows]
    steps, _ = smo(
        gram.block(rows, room), first, case.lo[rows], case.hi[rows], some_beta, some_h, tolerance, max_steps
    )  # fmt: skip
    places, change = difference(beta[rows], some_beta)
    gram.add(rows[places], change, h)
    beta[rows], h[rows] = some_beta, some_h
    return int(steps)
