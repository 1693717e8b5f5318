"""Rough solutions at any size: sequential minimal optimisation on the rows that can still move.

Most rows settle at a bound early. A round takes the free rows and those bound rows that violate optimality, gathers
their block of the kernel matrix contiguously, improves them, and brings the other rows up to date once.
"""

import numpy as np

from svmstat.solver.gram import Floats, Gram, Room, Rows
from svmstat.solver.hulls import Hulls, judge, shifts
from svmstat.solver.smo import smo, smo_in_classes
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
    gram: Gram, lo: Floats, hi: Floats, beta: Floats, h: Floats, tolerance: float, max_steps: int, room: Room,
    hulls: Hulls | None = None,
) -> int:  # fmt: skip
    """Improve a feasible (β, h = s − Kβ), all (n,), in place; returns the number of SMO steps.

    Ends when the KKT violation is ≤ ``tolerance``, after ``max_steps`` steps, or when rounding stops all progress;
    ``room`` is memory for its blocks of the kernel matrix. With the sums of the classes given, the tolerance is a share
    of ρ, and hulls that meet end it too.
    """
    if hulls is not None:
        return _descend_in_classes(gram, lo, hi, beta, h, tolerance, max_steps, room, hulls)
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


def _descend_in_classes(
    gram: Gram, lo: Floats, hi: Floats, beta: Floats, h: Floats, tolerance: float, max_steps: int, room: Room,
    hulls: Hulls,
) -> int:  # fmt: skip
    """The same where a pair of rows is of one class: blocks of open rows, the events first."""
    steps, most = 0, 100
    least = 0.1 * float(np.sqrt(hulls.nothing))
    while steps < max_steps:
        verdict = judge(h, beta, lo, hi, hulls)
        if verdict.certified or verdict.violation <= tolerance * verdict.scale:
            break
        rows = np.flatnonzero(hi > lo)
        inner = tolerance
        if len(rows) > 2 * _SAMPLE:
            g = shifts(verdict.b, hulls.group) - h
            wrong = np.where(beta < hi, -g, -np.inf)
            wrong = np.maximum(wrong, np.where(beta > lo, g, -np.inf))
            wrong[(beta > lo) & (beta < hi)] = np.inf
            candidates = rows[wrong[rows] > 0.0]
            worst = np.argsort(-wrong[candidates], kind="stable")[: 2 * _SAMPLE]
            rows = np.sort(candidates[worst])
            inner = max(0.9 * tolerance, 0.03 * verdict.violation / max(verdict.scale, least))
        rows = rows[np.argsort(hulls.group[rows], kind="stable")]
        events = int(np.count_nonzero(hulls.group[rows] == 0))
        if events in (0, len(rows)):
            rows = np.concatenate([rows, [int(np.flatnonzero((hi > lo) & (hulls.group == (events > 0)))[0])]])
            rows = rows[np.argsort(hulls.group[rows], kind="stable")]
            events = int(np.count_nonzero(hulls.group[rows] == 0))
        part, part_h = beta[rows], h[rows]
        done = smo_in_classes(
            gram.block(rows, room), events, lo[rows], hi[rows], part, part_h, inner, least,
            min(most * len(rows), max_steps - steps),
        )  # fmt: skip
        change = beta[rows] - part
        moved = change != 0.0
        gram.add(rows[moved], change[moved], h)
        beta[rows], h[rows] = part, part_h
        if done == 0:
            break
        steps += int(done)
    return steps


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
