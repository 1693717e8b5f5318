"""What comes next on a path: a free row meets its bound, or the gradient of a row at a bound reaches zero.

Every search is in two passes over plain arrays: the time of each row, without a branch, so that a processor does many
of them at once, and then the least of the times.
"""

import numpy as np

from svmstat._tools.compiled import compiled
from svmstat.solver.solution import AT_LOWER, AT_UPPER

_BLOCK = 64
_FAST = {"nnan", "nsz"}


@compiled(inside=True)
def outward_sign(status, may_enter):
    """The sign of g that keeps a row at its bound, 0 for a free row and for one that cannot enter."""
    if not may_enter:
        return 0.0
    return 1.0 if status == AT_LOWER else -1.0 if status == AT_UPPER else 0.0


@compiled(inside=True)
def may_open(lo, hi, dlo, dhi):
    """Whether there is, or will be, room between the bounds of a row."""
    return hi > lo or dhi > dlo


@compiled(inside=True, fastmath=_FAST)
def _time_for(room, pace, noise, never):
    """How long a room (≥ 0 but for rounding) lasts at a pace; ``never`` where that is no more than noise."""
    shrinks = pace > noise
    return (max(room, 0.0) if shrinks else never) / (pace if shrinks else 1.0)


@compiled(inside=True, borrowing=True)
def _least(times, size, before):
    """The least of the first ``size`` times that is less than ``before``: (time, place), place −1 if none."""
    least, place = before, -1
    for a in range(size):
        if times[a] < least:
            least, place = times[a], a
    return least, place


@compiled(inside=True, borrowing=True, fastmath=_FAST)
def _first_free_event(point, change, free, n_free, speed, when, times):
    """The first free row that meets a bound before ``when``: (time, place in ``free``), place −1 if none."""
    beta, lo, hi = point.beta, point.lo, point.hi
    dlo, dhi = change.lo, change.hi
    for a in range(n_free):
        i = np.uintp(free[a])
        above = _time_for(hi[i] - beta[i], speed[a] - dhi[i], 0.0, when)
        below = _time_for(beta[i] - lo[i], dlo[i] - speed[a], 0.0, when)
        times[a] = min(above, below)
    return _least(times, n_free, when)


@compiled(inside=True, borrowing=True, fastmath=_FAST)
def _first_bound_event(g, slope, outward, noise, when, times):
    """The first bound row whose g reaches zero before ``when``: (time, row), row −1 if none.

    ``outward`` (w,) has the signs of `outward_sign`. Of most blocks of rows none is earlier than one of a block before,
    which is seen without a division.
    """
    w = g.shape[0]
    first, row = when, -1
    for start in range(0, w, _BLOCK):
        size = min(_BLOCK, w - start)
        earlier = False
        for a in range(size):
            i = np.uintp(start + a)
            earlier |= max(outward[i] * g[i], 0.0) < -outward[i] * slope[i] * first
        if earlier:
            for a in range(size):
                i = np.uintp(start + a)
                times[a] = _time_for(outward[i] * g[i], -outward[i] * slope[i], noise, first)
            first, place = _least(times, size, first)
            if place >= 0:
                row = start + place
    return first, row


@compiled(inside=True, borrowing=True)
def next_event(point, change, free, n_free, speed, g, slope, outward, noise, remaining, times):
    """(when, place, row): ``place`` is where the row is among the free ones, −1 for one at a bound; −1, −1 for none."""
    when, place = _first_free_event(point, change, free, n_free, speed, remaining, times)
    when, row = _first_bound_event(g, slope, outward, noise, when, times)
    if row >= 0:
        return when, -1, row
    return when, place, free[place] if place >= 0 else -1
