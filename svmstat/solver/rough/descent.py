"""Rough solutions at any size: sequential minimal optimisation on the rows that can still move.

Most rows settle at a bound early. A round takes the free rows and those bound rows that violate optimality, gathers
their block of the kernel matrix contiguously, improves them, and brings the other rows up to date once.
"""

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.solver.case import Case, Verdict, judge
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
    may_rise, may_fall = beta < case.hi, beta > case.lo
    b, half = case.shifts(verdict.b), 0.5 * reach
    rising, falling = may_rise & (h > b - half), may_fall & (h < b + half)
    chosen = (may_rise & may_fall) | rising | falling
    if np.count_nonzero(chosen) > largest:
        excess = np.maximum(np.where(rising, h - b + half, 0.0), np.where(falling, b + half - h, 0.0))
        worst = np.argpartition(np.where(chosen, -excess, 1.0), largest)[:largest]
        return np.sort(worst)
    return np.flatnonzero(chosen)


def _improve(case: Case, rows: Rows, beta: Floats, h: Floats, tolerance: float, max_steps: int, room: Room) -> int:
    gram, group = case.gram, case.sums.group
    if case.lead == 1 and gram.keeps and len(rows) > _ALMOST_ALL * gram.n:
        return int(smo(gram.complete(), gram.n, case.lo, case.hi, beta, h, tolerance, max_steps)[0])
    first = int(np.count_nonzero(group[rows] == 0))
    if 0 < first < len(rows):
        rows = rows[np.argsort(group[rows], kind="stable")]
    some_beta, some_h = beta[rows], h[rows]
    steps, _ = smo(
        gram.block(rows, room), first or len(rows), case.lo[rows], case.hi[rows], some_beta, some_h, tolerance,
        max_steps,
    )  # fmt: skip
    change = beta[rows] - some_beta
    moved = change != 0.0
    gram.add(rows[moved], change[moved], h)
    beta[rows], h[rows] = some_beta, some_h
    return int(steps)
