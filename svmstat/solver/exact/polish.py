"""From a rough solution to an exact one, by the path.

A rough β is the exact solution for a slightly wrong linear term s̃, with g = Kβ + b − s̃ equal to zero on the free rows
and has the right sign on the others. Moving s̃ → s along the path ends at the solution for s, to rounding.
"""

from dataclasses import dataclass

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.solver.case import Case, followed, fresh, judge
from svmstat.solver.exact.basis import MOVED, Free, Point, basis_in, complete_basis, exclude_where, with_room
from svmstat.solver.exact.bordered import bordered_inverse
from svmstat.solver.exact.path import Change, move, right_signs
from svmstat.solver.exact.sharpen import correct, corrected, hides
from svmstat.solver.gram import Rows
from svmstat.solver.problem import Sums
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FIXED, FREE, Basis, partition, settle

_REACH = 0.02
"""Bound rows whose |g| is larger, and larger than a few times the violation, meet no event, as a rule."""

_LARGEST_NEAR_SET = {True: 8000, False: 2000}
"""Rows that are followed, also where kernel values are not kept: there a further round, if others are met, is cheap."""

_ROOM = {1: 64, 2: 500}
"""Rows that may become free on the way. A class at its bounds becomes free as a whole where its rows are alike."""

_CORRECTIONS = 2
_LEAST = {1: 1e-13, 2: 0.0}
"""A g up to this is rounding; that of hulls is measured by ρ, which may be as small."""

_RIDGES = (0.0, 1e-6, 0.0, 1e-8, 0.0, 1e-7, 0.0)
"""Multiples of the mean K_ii to add to the diagonal, round by round.

A ridge δ makes the round a proximal step: the rough β is exact for the same s̃ if ½δ‖β − β_rough‖² is added to the
objective. The path is then well conditioned and sheds the free rows that nearly depend on others; a round without
ridge follows.
"""

_LEAST_RIDGE, _MOST_RIDGE = 1e-10, 1e-6
"""The same where the tolerance is met: free rows that nearly depend on others leave a round without one as it was."""

_ROUNDS_FURTHER = 24
_EVENTS_FURTHER = 400
"""For each of these rounds: more of them go in a circle."""

_STUCK = 1e-3
"""A round that changes the violation by no more than this share has led nowhere."""


def no_basis(lead: int) -> Basis:
    """The basis without a free row."""
    return Basis(np.empty(0, np.intp), np.zeros((lead, lead)))


@dataclass(frozen=True, slots=True)
class Polished:
    """Where polishing ended: ``exact`` tells whether the certificate holds; ``basis`` belongs to the last β."""

    exact: bool
    basis: Basis
    events: int


def polish(case: Case, beta: Floats, h: Floats, max_events: int, *, dependent: bool = False) -> Polished:
    """Make (β, h), both (n,), exact in place, as far as the path leads within ``max_events`` events.

    Every round ends with h = s − Kβ computed afresh and a Newton correction of the free rows. A further round follows
    if rows outside the near set were overrun or the path broke off on its way: what it did is not lost. Free rows that
    depend on others, if they are expected, slide to a bound at once.
    """
    events = 0
    verdict = judge(case, beta, h)
    for attempt, ridge in enumerate(_RIDGES):
        basis, spent = _round(case, beta, h, verdict.violation, ridge, max_events - events, attempt > 0 or dependent)
        events += spent
        verdict = judge(case, beta, h)
        if ridge == 0.0 and hides(case, verdict):
            correct(case, beta, h, basis)
            verdict = judge(case, beta, h)
        if verdict.certified and ridge == 0.0 and not case.gram.fits:
            h[:] = fresh(case, beta)
            refine(case, beta, h, verdict.b, basis)
            verdict = judge(case, beta, h)
        if verdict.certified and ridge == 0.0:
            return Polished(True, basis, events)
        if events >= max_events:
            break
    return Polished(False, basis, events)


def polish_further(case: Case, beta: Floats, h: Floats, enough: float) -> int:
    """Lessen the violation of a (β, h), both (n,) and in place, to ``enough``, as far as that goes; the best is kept.

    Free rows that depend on others slide to a bound: where h is small beside the margins there are many. Every third
    round has no ridge; that of the others grows while they lead nowhere. The number of events is returned.
    """
    events, ridge = 0, _LEAST_RIDGE
    least = violation = judge(case, beta, h).violation
    best, best_h = beta.copy(), h.copy()
    for attempt in range(1, _ROUNDS_FURTHER + 1):
        if least <= enough:
            break
        proximal, was = attempt % 3 > 0, violation
        events += _round(case, beta, h, was, ridge if proximal else 0.0, _EVENTS_FURTHER, True)[1]
        violation = judge(case, beta, h).violation
        if violation < least:
            least, best, best_h = violation, beta.copy(), h.copy()
        if proximal:
            stuck = abs(violation - was) <= _STUCK * was
            ridge = min(100.0 * ridge, _MOST_RIDGE) if stuck else _LEAST_RIDGE
    beta[:], h[:] = best, best_h
    return events


def _round(
    case: Case, beta: Floats, h: Floats, violation: float, ridge: float, max_events: int, may_slide: bool
) -> tuple[Basis, int]:
    was = beta.copy()
    settle(beta, case.lo, case.hi)
    status = partition(beta, case.lo, case.hi)
    verdict = judge(case, beta, h)
    g = case.shifts(verdict.b) - h
    wrong = (status == FREE) | ((status == AT_LOWER) & (g < 0.0)) | ((status == AT_UPPER) & (g > 0.0))
    reach, largest = max(_REACH * verdict.scale, 8.0 * violation), _LARGEST_NEAR_SET[case.gram.fits]
    near = _near_rows(status, g, wrong, reach, largest)
    K = case.gram.block(near)
    K.flat[:: len(near) + 1] += ridge * case.gram.diagonal.mean()
    sums = Sums(case.sums.group[near], case.sums.target)
    part = Point(beta[near], g[near], case.lo[near], case.hi[near], status[near], verdict.b)
    free = make_basis(K, sums, part)
    if free.size[0] < np.count_nonzero(status == FREE) and not may_slide:
        h[:] = _h_after(case, beta, was, h)
        return no_basis(case.lead), 0
    # Dependent free rows have slid to a bound: along such a slide no gradient changes.
    target = right_signs(part.g, part.status, violation)
    still = np.zeros(len(near))
    change = Change(still, still, target - part.g, np.zeros(case.lead))
    part.g[:] = target
    _, events = move(K, sums, part, free, change, max_events)
    if not np.isfinite(part.beta).all():
        return no_basis(case.lead), int(events)
    settle(part.beta, part.lo, part.hi)
    exclude_where(sums, free, ~((part.lo < part.beta) & (part.beta < part.hi)))
    beta[near] = part.beta
    h[:] = _h_after(case, beta, was, h)
    members = free.members[: free.size[0]]
    members[:] = near[members]
    basis = basis_in(free, case.lead)
    refine(case, beta, h, part.b, basis)
    return basis, int(events)


def _h_after(case: Case, beta: Floats, was: Floats, h: Floats) -> Floats:
    """h (n,) of a β that ``was`` another, h then: computed anew, or followed where kernel values are not kept."""
    return fresh(case, beta) if case.gram.fits else followed(case, beta, was, h)


def _near_rows(status: np.ndarray, g: Floats, wrong: np.ndarray, reach: float, largest: int) -> Rows:
    near = wrong | ((np.abs(g) <= reach) & (status != FIXED))
    if np.count_nonzero(near) > largest:
        keep = max(largest, int(np.count_nonzero(wrong)))
        distance = np.where(wrong, -1.0, np.where(near, np.abs(g), np.inf))
        return np.sort(np.argpartition(distance, keep)[:keep]) if keep < len(g) else np.flatnonzero(near)
    return np.flatnonzero(near)


def make_basis(K: Floats, sums: Sums, point: Point) -> Free:
    """The free rows and the inverse R of their bordered matrix, with room to grow.

    Free rows that depend on others slide to a bound; the point follows in place.
    """
    rows = np.flatnonzero(point.status == FREE)
    lead = len(sums.target)
    independent, R = bordered_inverse(K[np.ix_(rows, rows)], sums.group[rows], lead)
    room = min(len(point.beta), len(rows) + max(_ROOM[lead], len(rows) // 4)) + 3 - len(R)
    free = with_room(rows[independent], R, room)
    if len(independent) < len(rows):
        complete_basis(K, sums, point, free)
    return free


def refine(case: Case, beta: Floats, h: Floats, b: Floats, basis: Basis) -> None:
    """Newton corrections of the free rows, in place: their g and the sums become right to rounding."""
    b, x = b.copy(), np.empty(len(basis.inverse))
    for _ in range(_CORRECTIONS):
        if corrected(case, beta, h, b, basis, _LEAST[case.lead], x) != MOVED:
            return
        if np.abs(x[case.lead :]).sum() > np.abs(beta).sum():  # its rounding would outlast it
            h[:] = fresh(case, beta)
        else:
            case.gram.add(basis.rows, -x[case.lead :], h)
