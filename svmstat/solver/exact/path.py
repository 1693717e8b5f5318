"""Exact path following: an optimal solution moved along a straight line of problem data.

While lower bounds, upper bounds and linear term move as lo + t·dlo, hi + t·dhi, s + t·ds, t: 0 → 1, the optimal
β, b and the gradient g = Kβ + b − s are piecewise linear in t. Between two events the free set M obeys

    [[0, 1'], [1, K_MM]] (ḃ, β̇_M) = (−Σ_E β̇_E, ṡ_M − K_ME β̇_E)                                        (1)

with E the rows that sit on a moving bound; an event is a free β reaching a bound or the gradient of a bound
row reaching zero. R, the inverse of the bordered matrix in (1), follows each event by a rank-one change. Where the sum
of each class is given, (1) has a border row and a multiplier for each: see `basis`.

References: Cauwenberghs & Poggio (2000); Hastie, Rosset, Tibshirani & Zhu (2004); Best (1996).
"""

from typing import NamedTuple

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import clear, compiled, copy_into
from svmstat.solver.exact.basis import apply, enter, exclude, free_in, to_bound
from svmstat.solver.exact.events import may_open, next_event, outward_sign
from svmstat.solver.gram import combine
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE

ARRIVED, TOO_MANY_EVENTS, NO_COMPENSATION, BASIS_FULL, UNSTABLE = 0, 1, 2, 3, 4
"""How a move ended. Everything but ARRIVED sends the problem to the rough solver."""

_EXACT, _TRUSTED, _CORRECTIONS = 1e-10, 1e-7, 2
"""A direction is corrected until its error is a share of it, at most so often; with a larger one R is worn out."""

_FAST = {"nnan", "nsz"}


class Change(NamedTuple):
    """By how much the data change in all.

    Attributes
    ----------
    lo, hi, s : (n,) changes of the bounds and of the linear term
    sums : (lead,) changes of what rows that take no part add to the sums
    """

    lo: Floats
    hi: Floats
    s: Floats
    sums: Floats


@compiled()
def right_signs(g, status, violation):
    """The g for which a rough β is exact: 0 for free rows, that of bound rows where its sign is right.

    The others get a g of the size of the violation, so that they cross zero one after the other.
    """
    target = g.copy()
    for i in range(g.shape[0]):
        if status[i] == FREE:
            target[i] = 0.0
        elif status[i] == AT_LOWER and g[i] < 0.0:
            target[i] = violation
        elif status[i] == AT_UPPER and g[i] > 0.0:
            target[i] = -violation
    return target


@compiled(inside=True, borrowing=True, fastmath=_FAST)
def bound_rate(i, status, dlo, dhi):
    """How fast the β of a row at a bound moves with it."""
    if status[i] == AT_LOWER:
        return dlo[i]
    if status[i] == AT_UPPER:
        return dhi[i]
    return 0.0


@compiled(inside=True, fastmath=_FAST)
def _direction(K, sums, free, drive, dsum, x, slope):
    """Solve (1) for (ḃ, β̇_M) = x and form the slope ġ of every gradient; returns whether it can be trusted."""
    members, inverse, m = free.members, free.inverse, free.size[0]
    n, lead, group = drive.shape[0], dsum.shape[0], sums.group
    rhs, total = np.empty(m + lead), np.empty(lead)
    for g in range(lead):
        rhs[g] = -dsum[g]
    for a in range(m):
        rhs[a + lead] = -drive[members[a]]
    apply(inverse, m + lead, rhs, x)
    for i in range(n):
        slope[i] = drive[i] + x[group[i]]
    combine(K, members[:m], x[lead:], slope)
    scale = 0.0
    for g in range(lead):
        scale += abs(x[g])
    for a in range(m):
        scale += abs(x[a + lead]) * K[members[a], members[a]]
    correction = np.empty(0)
    for attempt in range(_CORRECTIONS + 1):
        copy_into(total, dsum)
        worst = 0.0
        for a in range(m):
            total[group[members[a]]] += x[a + lead]
            worst = max(worst, abs(slope[members[a]]))
        for g in range(lead):
            if free_in(sums, free, g) == 0:
                total[g] = 0.0
            worst = max(worst, abs(total[g]))
        if worst <= _EXACT * scale or attempt == _CORRECTIONS:
            break
        for g in range(lead):
            rhs[g] = -total[g]
        for a in range(m):
            rhs[a + lead] = -slope[members[a]]
        if correction.shape[0] == 0:
            correction = np.empty(m + lead)
        apply(inverse, m + lead, rhs, correction)
        for a in range(m + lead):
            x[a] += correction[a]
        for i in range(n):
            slope[i] += correction[group[i]]
        combine(K, members[:m], correction[lead:], slope)
    return worst <= _TRUSTED * scale


@compiled(inside=True, borrowing=True, fastmath=_FAST)
def compensator(group, g, gradient, lo, hi, status, dsum):
    """With no free row: the bound row that b meets first on its way to where Σβ̇ can be balanced (−1 if none)."""
    chosen = -1
    for i in range(gradient.shape[0]):
        if (
            group[i] == g
            and hi[i] > lo[i]
            and (
                (dsum < 0.0 and status[i] == AT_LOWER and (chosen < 0 or gradient[i] < gradient[chosen]))
                or (dsum > 0.0 and status[i] == AT_UPPER and (chosen < 0 or gradient[i] > gradient[chosen]))
            )
        ):
            chosen = i
    return chosen


@compiled(inside=True, fastmath=_FAST)
def _drives(K, group, drive, dsum, i, rate):
    """The bound of row i takes its β along with it at a rate that is other by so much."""
    if rate != 0.0:
        dsum[group[i]] += rate
        row = K[i]
        for k in range(drive.shape[0]):
            drive[k] += rate * row[k]


@compiled(inside=True, borrowing=True, fastmath=_FAST)
def advance(beta, status, lo, hi, dlo, dhi, moving, n_moving, lo_end, hi_end, remaining):
    """The bounds that move, and the rows at them, where ``remaining`` of the change is left."""
    for c in range(n_moving):
        i = moving[c]
        lo[i] = lo_end[i] - remaining * dlo[i] if remaining > 0.0 else lo_end[i]
        hi[i] = hi_end[i] - remaining * dhi[i] if remaining > 0.0 else hi_end[i]
        if status[i] == AT_LOWER:
            beta[i] = lo[i]
        elif status[i] == AT_UPPER:
            beta[i] = hi[i]


@compiled(fastmath=_FAST)
def move(K, sums, point, free, change, max_events):
    """Follow the optimal solution while the data change; ``point`` and ``free`` are changed in place.

    K (n, n) is the kernel matrix of the rows that may take part. At the start the point is optimal, its gradient zero
    on the free rows. After ``max_events`` events the move gives up. Returns (code, events).
    """
    beta, gradient, status, group = point.beta, point.g, point.status, sums.group
    lo, hi, dlo, dhi = point.lo, point.hi, change.lo, change.hi
    n, lead, width = beta.shape[0], sums.target.shape[0], free.inverse.shape[0]
    border, z, x = np.empty(width), np.empty(width), np.zeros(width)
    drive, slope, times = np.empty(n), np.empty(n), np.empty(n)
    outward, opens = np.empty(n), np.empty(n, np.bool_)
    moving = np.empty(n, np.int64)
    rates = np.empty(n)
    n_moving = np.int64(0)
    dsum = change.sums.copy()
    activity = 0.0
    for g in range(lead):
        activity += abs(dsum[g])
    lo_end, hi_end = np.empty(n), np.empty(n)
    for i in range(n):
        drive[i] = -change.s[i]
        lo_end[i], hi_end[i] = lo[i] + dlo[i], hi[i] + dhi[i]
        opens[i] = may_open(lo[i], hi[i], dlo[i], dhi[i])
        outward[i] = outward_sign(status[i], opens[i])
        if dlo[i] != 0.0 or dhi[i] != 0.0:
            moving[n_moving] = i
            rates[n_moving] = bound_rate(i, status, dlo, dhi)
            dsum[group[i]] += rates[n_moving]
            activity += abs(dlo[i]) + abs(dhi[i])
            n_moving += 1
    moving = moving[:n_moving]
    combine(K, moving, rates, drive)

    remaining = 1.0
    events = 0
    while True:
        stuck = np.int64(-1)
        for g in range(lead):
            if abs(dsum[g]) > 1e-13 * activity and free_in(sums, free, g) == 0:
                stuck = np.int64(g)
        if free.size[0] + lead + 1 > width:
            return BASIS_FULL, events
        if stuck >= 0:
            j = compensator(group, stuck, gradient, lo, hi, status, dsum[stuck])
            if j < 0:
                return NO_COMPENSATION, events
            shift = gradient[j]
            point.b[stuck] -= shift
            for i in range(n):
                if group[i] == stuck:
                    gradient[i] -= shift
            _drives(K, group, drive, dsum, j, -bound_rate(j, status, dlo, dhi))
            enter(K, sums, point, free, j, 1.0, border, z)
            gradient[j], outward[j] = 0.0, 0.0
            events += 1
            continue
        m = free.size[0]
        if m == 0:
            clear(x, lead)
            copy_into(slope, drive)
        elif not _direction(K, sums, free, drive, dsum, x, slope):
            return UNSTABLE, events

        scale = 0.0
        for g in range(lead):
            scale += abs(x[g])
        for a in range(m):
            i = free.members[a]
            scale += abs(x[a + lead]) * abs(K[i, i])
            slope[i] = 0.0
        when, place, row = next_event(
            point, change, free.members, m, x[lead:], gradient, slope, outward, 1e-13 * scale, remaining, times
        )

        for i in range(n):
            gradient[i] += when * slope[i]
        for a in range(m):
            beta[free.members[a]] += when * x[a + lead]
        for g in range(lead):
            point.b[g] += when * x[g]
        remaining -= when
        left = remaining if row >= 0 else 0.0
        advance(beta, status, lo, hi, dlo, dhi, moving, n_moving, lo_end, hi_end, left)
        if row < 0:
            return ARRIVED, events

        events += 1
        if events > max_events:
            return TOO_MANY_EVENTS, events
        if place >= 0:
            rising = x[place + lead] - dhi[row] > 0.0
            to_bound(point, row, rising and abs(hi[row] - beta[row]) <= abs(beta[row] - lo[row]))
            exclude(sums, free, place)
            gone = row
        else:
            if status[row] == FREE:  # only if something is not a number; M must not hold a row twice
                return UNSTABLE, events
            gradient[row] = 0.0
            inward = outward[row]
            _drives(K, group, drive, dsum, row, -bound_rate(row, status, dlo, dhi))
            gone = enter(K, sums, point, free, row, inward, border, z)
        outward[row] = outward_sign(status[row], opens[row])
        if gone >= 0:
            outward[gone] = outward_sign(status[gone], opens[gone])
            _drives(K, group, drive, dsum, gone, bound_rate(gone, status, dlo, dhi))
