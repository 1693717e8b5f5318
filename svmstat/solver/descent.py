"""Rough solutions at any size: sequential minimal optimisation on the rows that can still move.

Most rows settle at a bound early. A round takes the free rows and those bound rows that violate optimality, gathers
their block of the kernel matrix contiguously, improves them, and brings the other rows up to date once.
"""

import numpy as np

from svmstat.solver.gram import Floats, Gram, Room, Rows
from svmstat.solver.smo import smo
from svmstat.solver.solution import certify, middle

_SMALL = 400
"""Up to so many rows a smaller block saves nothing."""

_ALMOST_ALL = 0.5
"""With a larger share of the rows the whole matrix is used in place."""

_LARGEST_BLOCK = 6000
"""Rows of the largest block (288 MB)."""

_SAMPLE = 1200
"""Rows of the first block where there are more than twice as many."""


def descend(
    gram: Gram, lo: Floats, hi: Floats, beta: Floats, h: Floats, tolerance: float, max_steps: int, room: Room
) -> int:
    """Improve a feasible (β, h = s − Kβ), all (n,), in place; returns the number of SMO steps.

    Ends when the KKT violation is ≤ ``tolerance``, after ``max_steps`` steps, or when rounding stops all progress;
    ``room`` is memory for its blocks of the kernel matrix.
    """
    if gram.is_complete and gram.n <= _SMALL:
        steps, _ = smo(gram.complete(), lo, hi, beta, h, tolerance, max_steps)
        return int(steps)
    steps = 0
    if not beta.any():
        small = gram.is_complete and gram.n <= 2 * _SAMPLE
        first, most = (np.arange(gram.n), gram.n // 2) if small else (_sample(lo, hi), max_steps)
        steps = _improve(gram, first, lo, hi, beta, h, tolerance, min(most, max_steps), room)
    largest = gram.n if gram.n <= 2 * _SAMPLE else _SAMPLE
    while steps < max_steps:
        n_free = int(np.count_nonzero((beta > lo) & (beta < hi)))
        largest = min(int(1.2 * max(largest, n_free)), _LARGEST_BLOCK)
        b_low, b_high, violation, _ = certify(h, beta, lo, hi)
        if violation <= tolerance:
            break
        reach = 1.0 if violation <= 10.0 * tolerance else 0.0
        rows = _movable(h, beta, lo, hi, b_low, b_high, reach, largest)
        inner = max(0.9 * tolerance, 0.03 * violation)
        done = _improve(gram, rows, lo, hi, beta, h, inner, min(20 * len(rows), max_steps - steps), room)
        if done == 0:
            break
        steps += done
    return int(steps)


def _sample(lo: Floats, hi: Floats) -> Rows:
    """Rows spread evenly over a fixed random order."""
    rows = np.flatnonzero(hi > lo)
    picked = np.random.default_rng(20061126).permutation(rows)[:_SAMPLE]
    return np.sort(picked)


def _movable(
    h: Floats, beta: Floats, lo: Floats, hi: Floats, b_low: float, b_high: float, reach: float, largest: int
) -> Rows:
    """The free rows and the violating bound rows, the worst of them if they are more than ``largest``.

    A bound row violates optimality for the middle b of the crossed interval (``reach`` 0) or for some b in it (1).
    """
    may_rise, may_fall = beta < hi, beta > lo
    b, half = middle(b_low, b_high), 0.5 * reach * (b_low - b_high)
    rising, falling = may_rise & (h > b - half), may_fall & (h < b + half)
    chosen = (may_rise & may_fall) | rising | falling
    if np.count_nonzero(chosen) > largest:
        excess = np.maximum(np.where(rising, h - b + half, 0.0), np.where(falling, b + half - h, 0.0))
        worst = np.argpartition(np.where(chosen, -excess, 1.0), largest)[:largest]
        return np.sort(worst)
    return np.flatnonzero(chosen)


def _improve(
    gram: Gram, rows: Rows, lo: Floats, hi: Floats, beta: Floats, h: Floats, tolerance: float, max_steps: int,
    room: Room,
) -> int:  # fmt: skip
    if gram.is_complete and len(rows) > _ALMOST_ALL * gram.n:
        return int(smo(gram.complete(), lo, hi, beta, h, tolerance, max_steps)[0])
    some_beta, some_h = beta[rows], h[rows]
    steps, _ = smo(gram.block(rows, room), lo[rows], hi[rows], some_beta, some_h, tolerance, max_steps)
    change = beta[rows] - some_beta
    moved = change != 0.0
    gram.add(rows[moved], change[moved], h)
    beta[rows], h[rows] = some_beta, some_h
    return int(steps)
