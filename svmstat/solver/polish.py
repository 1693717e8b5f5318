"""From a rough solution to an exact one, by the path.

A rough β is the exact solution for a slightly wrong linear term s̃, with g = Kβ + b − s̃ equal to zero on the free rows
and has the right sign on the others. Moving s̃ → s along the path ends at the solution for s, to rounding.
"""

from dataclasses import dataclass

import numpy as np

from svmstat.solver.basis import complete_basis, exclude
from svmstat.solver.bordered import bordered_inverse
from svmstat.solver.gram import Floats, Gram, Rows
from svmstat.solver.hulls import Hulls, judge, missing, shifts
from svmstat.solver.path import move
from svmstat.solver.sharpen import correct, hides
from svmstat.solver.solution import (
    AT_LOWER,
    AT_UPPER,
    FIXED,
    FREE,
    Basis,
    partition,
    settle,
)

_REACH = 0.02
"""Bound rows whose |g| is larger, and larger than a few times the violation, meet no event, as a rule."""

_LARGEST_NEAR_SET = 8000

_ROOM, _ROOM_IN_CLASSES = 64, 500
"""Rows that may become free on the way. A class at its bounds becomes free as a whole where its rows are alike."""

_RIDGES = (0.0, 1e-6, 0.0, 1e-8, 0.0, 1e-7, 0.0)
"""Multiples of the mean K_ii to add to the diagonal, round by round.

A ridge δ makes the round a proximal step: the rough β is exact for the same s̃ if ½δ‖β − β_rough‖² is added to the
objective. The path is then well conditioned and sheds the free rows that nearly depend on others; a round without
ridge follows.
"""


def no_basis(lead: int) -> Basis:
    """The basis without a free row."""
    return Basis(np.empty(0, np.intp), np.zeros((lead, lead)))


@dataclass(frozen=True, slots=True)
class Polished:
    """Where polishing ended: ``exact`` tells whether the certificate holds; ``basis`` belongs to the last β."""

    exact: bool
    basis: Basis
    events: int


def polish(
    gram: Gram, linear: Floats, lo: Floats, hi: Floats, beta: Floats, h: Floats, max_events: int,
    hulls: Hulls | None = None,
) -> Polished:  # fmt: skip
    """Make (β, h), both (n,), exact in place, as far as the path leads within ``max_events`` events.

    Every round ends with h = s − Kβ computed afresh and a Newton correction of the free rows. A further round follows
    if rows outside the near set were overrun or the path broke off on its way: what it did is not lost.
    """
    events = 0
    verdict = judge(h, beta, lo, hi, hulls)
    for attempt, ridge in enumerate(_RIDGES):
        basis, spent = _round(
            gram, linear, lo, hi, beta, h, verdict.violation, ridge, max_events - events, attempt > 0, hulls
        )
        events += spent
        verdict = judge(h, beta, lo, hi, hulls)
        if hulls is not None and ridge == 0.0 and hides(verdict, hulls):
            correct(gram, linear, lo, hi, beta, h, hulls, basis)
            verdict = judge(h, beta, lo, hi, hulls)
        if verdict.certified and ridge == 0.0:
            return Polished(True, basis, events)
        if events >= max_events:
            break
    return Polished(False, basis, events)


def _round(
    gram: Gram, linear: Floats, lo: Floats, hi: Floats, beta: Floats, h: Floats,
    violation: float, ridge: float, max_events: int, may_slide: bool, hulls: Hulls | None,
) -> tuple[Basis, int]:  # fmt: skip
    settle(beta, lo, hi)
    status = partition(beta, lo, hi)
    verdict, group = judge(h, beta, lo, hi, hulls), None if hulls is None else hulls.group
    g = shifts(verdict.b, group) - h
    wrong = (status == FREE) | ((status == AT_LOWER) & (g < 0.0)) | ((status == AT_UPPER) & (g > 0.0))
    near = _near_rows(status, g, wrong, max(_REACH * verdict.scale, 8.0 * violation))
    K = gram.block(near)
    K.flat[:: len(near) + 1] += ridge * gram.diagonal.mean()
    part_lo, part_hi, part_beta, part_status = lo[near], hi[near], beta[near], status[near]
    part_group, scalars = None if group is None else group[near], verdict.b.copy()
    lead = len(scalars)
    members, m, inverse = make_basis(K, part_group, part_beta, part_lo, part_hi, part_status, scalars)
    if m < np.count_nonzero(status == FREE) and not may_slide:
        h[:] = fresh(gram, linear, beta)
        return no_basis(lead), 0
    # Dependent free rows have slid to a bound: along such a slide no gradient changes.
    part_g = shifts(verdict.b, part_group) - h[near]
    target = _right_signs(part_g, part_status, violation)
    ds = target - part_g
    _, m, events = move(
        K, part_group, part_beta, target, part_lo.copy(), part_hi.copy(), np.zeros(len(near)), np.zeros(len(near)), ds,
        part_status, members, m, inverse, scalars, max_events,
    )  # fmt: skip
    if not np.isfinite(part_beta).all():
        return no_basis(lead), int(events)
    settle(part_beta, part_lo, part_hi)
    for position in range(m - 1, -1, -1):
        if not part_lo[members[position]] < part_beta[members[position]] < part_hi[members[position]]:
            m = exclude(part_group, members, m, inverse, position)
    beta[near] = part_beta
    h[:] = fresh(gram, linear, beta)
    basis = Basis(near[members[:m]], inverse[: m + lead, : m + lead].copy())
    refine(gram, group, lo, hi, beta, h, scalars, basis)
    return basis, int(events)


def fresh(gram: Gram, linear: Floats, beta: Floats) -> Floats:
    """h = s − Kβ (n,) computed anew: in what steps add up to, their rounding has gathered."""
    h, support = linear.copy(), np.flatnonzero(beta)
    gram.add(support, -beta[support], h)
    return h


def _right_signs(g: Floats, status: np.ndarray, violation: float) -> Floats:
    """The g for which the rough β is exact: 0 for free rows, that of bound rows where its sign is right.

    The others get a g of the size of the violation, so that they cross zero one after the other.
    """
    target = np.where(status == FREE, 0.0, g)
    target[(status == AT_LOWER) & (g < 0.0)] = violation
    target[(status == AT_UPPER) & (g > 0.0)] = -violation
    return target


def _near_rows(status: np.ndarray, g: Floats, wrong: np.ndarray, reach: float) -> Rows:
    near = wrong | ((np.abs(g) <= reach) & (status != FIXED))
    if np.count_nonzero(near) > _LARGEST_NEAR_SET:
        keep = max(_LARGEST_NEAR_SET, int(np.count_nonzero(wrong)))
        distance = np.where(wrong, -1.0, np.where(near, np.abs(g), np.inf))
        return np.sort(np.argpartition(distance, keep)[:keep]) if keep < len(g) else np.flatnonzero(near)
    return np.flatnonzero(near)


def make_basis(
    K: Floats, group: Rows | None, beta: Floats, lo: Floats, hi: Floats, status: np.ndarray, scalars: Floats
) -> tuple[Rows, int, Floats]:
    """The free rows, their number and the inverse R of their bordered matrix, with room to grow.

    Free rows that depend on others slide to a bound; β, status and b = scalars follow in place.
    """
    free = np.flatnonzero(status == FREE)
    more = _ROOM if group is None else _ROOM_IN_CLASSES
    room = min(len(beta), len(free) + max(more, len(free) // 4)) + 3
    members = np.zeros(room, np.int64)
    inverse = np.zeros((room, room))
    independent, R = bordered_inverse(K[np.ix_(free, free)], None if group is None else group[free])
    m = len(independent)
    members[:m] = free[independent]
    inverse[: len(R), : len(R)] = R
    m = complete_basis(K, group, beta, lo, hi, status, members, m, inverse, scalars)
    return members, int(m), inverse


def refine(
    gram: Gram, group: Rows | None, lo: Floats, hi: Floats, beta: Floats, h: Floats, b: Floats, basis: Basis
) -> None:
    """Newton corrections of the free rows: their g and Σβ become zero to rounding, if no bound is met."""
    rows, b = basis.rows, b.copy()
    lead, part = len(b), None if group is None else group[rows]
    least = 1e-13 if group is None else 0.0
    if not np.isfinite(basis.inverse).all():
        return
    for _ in range(2):
        if len(rows) == 0:
            return
        excess, g = missing(beta, group), shifts(b, part) - h[rows]
        if np.abs(excess).max() <= 1e-15 * np.abs(beta).sum() and np.abs(g).max() <= least:
            return
        x = -(basis.inverse @ np.concatenate([excess, g]))
        corrected = beta[rows] + x[lead:]
        if not ((corrected > lo[rows]) & (corrected < hi[rows])).all():
            return
        beta[rows] = corrected
        b += x[:lead]
        gram.add(rows, -x[lead:], h)
