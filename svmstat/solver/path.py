"""Exact path following: an optimal solution moved along a straight line of problem data.

While lower bounds, upper bounds and linear term move as lo + t·dlo, hi + t·dhi, s + t·ds, t: 0 → 1, the optimal
β, b and the gradient g = Kβ + b − s are piecewise linear in t. Between two events the free set M obeys

    [[0, 1'], [1, K_MM]] (ḃ, β̇_M) = (−Σ_E β̇_E, ṡ_M − K_ME β̇_E)                                        (1)

with E the rows that sit on a moving bound; an event is a free β reaching a bound or the gradient of a bound
row reaching zero. R, the inverse of the bordered matrix in (1), follows each event by a rank-one change. Where the sum
of each class is given, (1) has a border row and a multiplier for each: see `basis`.

References: Cauwenberghs & Poggio (2000); Hastie, Rosset, Tibshirani & Zhu (2004); Best (1996).
"""

import numpy as np
from numba import njit

from svmstat.solver.basis import apply, enter, exclude, free_in, lead_of, slot
from svmstat.solver.gram import combine
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE

ARRIVED, TOO_MANY_EVENTS, NO_COMPENSATION, BASIS_FULL, UNSTABLE = 0, 1, 2, 3, 4
"""How a move ended. Everything but ARRIVED sends the problem to the rough solver."""

_FAST = {"nnan", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _bound_rate(i, status, dlo, dhi):
    """How fast the β of a row at a bound moves with it."""
    if status[i] == AT_LOWER:
        return dlo[i]
    if status[i] == AT_UPPER:
        return dhi[i]
    return 0.0


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _direction(gram, group, members, m, inverse, drive, dsum, rhs, x, slope):
    """Solve (1) for (ḃ, β̇_M) = x and form the slope ġ of every gradient; returns whether it can be trusted."""
    n, lead = drive.shape[0], lead_of(group)
    for g in range(lead):
        rhs[g] = -dsum[g]
    for a in range(m):
        rhs[a + lead] = -drive[members[a]]
    apply(inverse, m + lead, rhs, x)
    for i in range(n):
        slope[i] = drive[i] + x[slot(group, i)]
    combine(gram, members[:m], x[lead:], slope)
    scale = 0.0
    for g in range(lead):
        scale += abs(x[g])
    for a in range(m):
        scale += abs(x[a + lead]) * gram[members[a], members[a]]
    total = np.empty(lead)
    correction = np.empty(0)
    for attempt in range(3):
        for g in range(lead):
            total[g] = dsum[g]
        worst = 0.0
        for a in range(m):
            total[slot(group, members[a])] += x[a + lead]
            worst = max(worst, abs(slope[members[a]]))
        for g in range(lead):
            if free_in(members, m, group, g) == 0:
                total[g] = 0.0
            worst = max(worst, abs(total[g]))
        if worst <= 1e-10 * scale:
            return True
        if attempt == 2:
            return worst <= 1e-7 * scale
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
            slope[i] += correction[slot(group, i)]
        combine(gram, members[:m], correction[lead:], slope)
    return True


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _next_event(beta, gradient, lo, hi, dlo, dhi, status, members, m, rates, slope, noise, remaining):
    """The first event within ``remaining``: its time, its row (−1 if none) and the row's place in M (−1 if bound)."""
    when = remaining
    row = -1
    place = -1
    for i in range(beta.shape[0]):
        outward = 1.0 if status[i] == AT_LOWER else -1.0 if status[i] == AT_UPPER else 0.0
        towards = -outward * slope[i]
        if towards > noise and outward * gradient[i] < towards * when and (hi[i] > lo[i] or dhi[i] > dlo[i]):
            when = max(outward * gradient[i] / towards, 0.0)
            row = i
    for a in range(m):
        i = members[a]
        closing = rates[a] - dhi[i]
        if closing > 0.0 and hi[i] - beta[i] < closing * when:
            when = max((hi[i] - beta[i]) / closing, 0.0)
            row, place = i, a
        closing = dlo[i] - rates[a]
        if closing > 0.0 and beta[i] - lo[i] < closing * when:
            when = max((beta[i] - lo[i]) / closing, 0.0)
            row, place = i, a
    return when, row, place


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _compensator(gradient, group, g, lo, hi, status, dsum):
    """With no free row: the bound row that b meets first on its way to where Σβ̇ can be balanced (−1 if none)."""
    chosen = -1
    for i in range(gradient.shape[0]):
        if (
            slot(group, i) == g
            and hi[i] > lo[i]
            and (
                (dsum < 0.0 and status[i] == AT_LOWER and (chosen < 0 or gradient[i] < gradient[chosen]))
                or (dsum > 0.0 and status[i] == AT_UPPER and (chosen < 0 or gradient[i] > gradient[chosen]))
            )
        ):
            chosen = i
    return chosen


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def move(gram, group, beta, gradient, lo, hi, dlo, dhi, ds, status, members, m, inverse, scalars, max_events):
    """Follow the optimal solution from t = 0 to t = 1; every array is changed in place.

    Parameters
    ----------
    gram : (n, n) kernel matrix of the rows that may take part
    group : None, or (n,) the border row of each row where the sum of each class is given
    beta, gradient : (n,) optimal for (lo, hi, s) at t = 0, gradient zero on the free rows
    lo, hi, dlo, dhi, ds : (n,) data and their total change
    status : (n,) partition codes
    members, m : the m free rows, in the order of ``inverse``
    inverse : (cap + lead, cap + lead), its leading (m + lead, m + lead) block is R
    scalars : (lead,) the intercept b, or the multipliers of the two classes
    max_events : after so many events the move gives up

    Returns
    -------
    (code, m, events)
    """
    n, lead = beta.shape[0], lead_of(group)
    width = inverse.shape[0]
    border, z, rhs, x = np.empty(width), np.empty(width), np.empty(width), np.zeros(width)
    drive, slope = np.empty(n), np.empty(n)
    moving = np.empty(n, np.int64)
    rates = np.empty(n)
    n_moving = 0
    dsum = np.zeros(lead)
    activity = 0.0
    for i in range(n):
        drive[i] = -ds[i]
        if dlo[i] != 0.0 or dhi[i] != 0.0:
            moving[n_moving] = i
            rates[n_moving] = _bound_rate(i, status, dlo, dhi)
            dsum[slot(group, i)] += rates[n_moving]
            activity += abs(dlo[i]) + abs(dhi[i])
            n_moving += 1
    combine(gram, moving[:n_moving], rates, drive)
    lo_end, hi_end = lo + dlo, hi + dhi

    remaining = 1.0
    events = 0
    while True:
        stuck = -1
        for g in range(lead):
            if abs(dsum[g]) > 1e-13 * activity and free_in(members, m, group, g) == 0:
                stuck = g
        if stuck >= 0:
            j = _compensator(gradient, group, stuck, lo, hi, status, dsum[stuck])
            if j < 0:
                return NO_COMPENSATION, m, events
            if m + lead + 1 > width:
                return BASIS_FULL, m, events
            shift = gradient[j]
            scalars[stuck] -= shift
            for i in range(n):
                if slot(group, i) == stuck:
                    gradient[i] -= shift
            rate = _bound_rate(j, status, dlo, dhi)
            if rate != 0.0:
                dsum[stuck] -= rate
                for i in range(n):
                    drive[i] -= rate * gram[j, i]
            m, _ = enter(gram, group, beta, lo, hi, status, members, m, inverse, j, 1.0, border, z, scalars)
            gradient[j] = 0.0
            events += 1
            continue
        if m == 0:
            x[:lead] = 0.0
            slope[:] = drive
        elif not _direction(gram, group, members, m, inverse, drive, dsum, rhs, x, slope):
            return UNSTABLE, m, events

        scale = 0.0
        for g in range(lead):
            scale += abs(x[g])
        for a in range(m):
            scale += abs(x[a + lead]) * abs(gram[members[a], members[a]])
            slope[members[a]] = 0.0
        when, row, place = _next_event(
            beta, gradient, lo, hi, dlo, dhi, status, members, m, x[lead:], slope, 1e-13 * scale, remaining
        )

        for i in range(n):
            gradient[i] += when * slope[i]
        for a in range(m):
            beta[members[a]] += when * x[a + lead]
        for g in range(lead):
            scalars[g] += when * x[g]
        remaining -= when
        for c in range(n_moving):
            i = moving[c]
            lo[i] = lo_end[i] - remaining * dlo[i] if row >= 0 else lo_end[i]
            hi[i] = hi_end[i] - remaining * dhi[i] if row >= 0 else hi_end[i]
            if status[i] == AT_LOWER:
                beta[i] = lo[i]
            elif status[i] == AT_UPPER:
                beta[i] = hi[i]
        if row < 0:
            return ARRIVED, m, events

        events += 1
        if events > max_events:
            return TOO_MANY_EVENTS, m, events
        if place >= 0:
            up = x[place + lead] - dhi[row] > 0.0 and abs(hi[row] - beta[row]) <= abs(beta[row] - lo[row])
            status[row] = AT_UPPER if up else AT_LOWER
            beta[row] = hi[row] if up else lo[row]
            m = exclude(group, members, m, inverse, place)
            gone = row
        else:
            if status[row] == FREE:  # only if something is not a number; M must not hold a row twice
                return UNSTABLE, m, events
            if m + lead + 1 > width:
                return BASIS_FULL, m, events
            gradient[row] = 0.0
            inward = 1.0 if status[row] == AT_LOWER else -1.0
            rate = _bound_rate(row, status, dlo, dhi)
            if rate != 0.0:
                dsum[slot(group, row)] -= rate
                for i in range(n):
                    drive[i] -= rate * gram[row, i]
            m, gone = enter(gram, group, beta, lo, hi, status, members, m, inverse, row, inward, border, z, scalars)
        if gone >= 0:
            rate = _bound_rate(gone, status, dlo, dhi)
            if rate != 0.0:
                dsum[slot(group, gone)] += rate
                for i in range(n):
                    drive[i] += rate * gram[gone, i]
