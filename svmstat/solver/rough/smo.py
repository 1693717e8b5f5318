"""Sequential minimal optimisation with second-order working-set selection: near the optimum from anywhere.

With h = s − Kβ the optimality of β is  max{h_i: β_i < hi_i} ≤ min{h_i: β_i > lo_i}; a step raises the β of the row
with the largest h and lowers that of the partner which promises the greatest decrease of the objective. Where each
class has a sum of its own both are of one class.

Where h is no longer finite there may be no such row: every descent then ends where it is, and the certificate fails.

Reference: Fan, Chen & Lin (2005), Working set selection using second order information, JMLR 6.
"""

import numpy as np

from svmstat._tools.compiled import compiled
from svmstat._tools.doubles import FAR
from svmstat.solver.rough.extremes import larger, smaller
from svmstat.solver.rough.inverse import rough_inverse

_FLAT = 1e-12
"""The least curvature of a pair, as a share of K_ii + K_jj: below it there is little but their rounding."""

_ZERO = 1e-300
"""Makes it positive where K is zero."""


_FAST = {"nnan", "nsz"}
"""For the passes over the rows only: what they find is looked at by code that is not told that it is a number."""


@compiled()
def smo(gram, p, lo, hi, beta, h, tolerance, max_steps):
    """Improve (β, h) in place until the KKT violation is ≤ tolerance; returns (steps, violation).

    gram (n, n); lo, hi, beta, h (n,). The sum of the first p rows is kept and that of the others, if there are any: a
    pair is of one class, that with the larger violation. Every pass over the rows is a plain vectorisable loop. The
    violation is infinite where h, or a step, is not finite: nothing can be gained then.
    """
    n = h.shape[0]
    diagonal, places = np.empty(n), np.empty(n)
    cannot_rise, cannot_fall = np.empty(n), np.empty(n)
    rising, gains = np.empty(n), np.empty(n)
    for i in range(n):
        diagonal[i] = gram[i, i]
        places[i] = i
        cannot_rise[i] = 0.0 if beta[i] < hi[i] else -FAR
        cannot_fall[i] = 0.0 if beta[i] > lo[i] else FAR
    step, i, j, steps = 0.0, 0, 0, 0
    while True:
        row_i, row_j = gram[i], gram[j]
        first, stop = np.int64(0), p
        top, bottom = _move_h(h, row_i, row_j, step, cannot_rise, cannot_fall, rising, first, stop)
        if p < n:
            other_top, other_bottom = _move_h(h, row_i, row_j, step, cannot_rise, cannot_fall, rising, p, n)
            if other_top - other_bottom > top - bottom:
                first, stop, top, bottom = p, n, other_top, other_bottom
        if not (top - bottom > tolerance and steps < max_steps):
            return steps, top - bottom
        i = _place(rising, top, places, first, stop)
        if i < 0:
            return steps, np.inf
        row_i = gram[i]
        most = _promises(top, h, cannot_fall, diagonal[i], diagonal, row_i, gains, first, stop)
        j = _place(gains, most, places, first, stop)
        if j < 0:
            return steps, np.inf
        step = (top - h[j]) / _curvature(diagonal[i] + diagonal[j], row_i[j])
        room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
        step = min(step, room_i, room_j)
        if not (step >= 0.0 and np.isfinite(step * (top - h[j]))):
            return steps, np.inf
        beta[i] = hi[i] if step == room_i else beta[i] + step
        beta[j] = lo[j] if step == room_j else beta[j] - step
        for k in (i, j):
            cannot_rise[k] = 0.0 if beta[k] < hi[k] else -FAR
            cannot_fall[k] = 0.0 if beta[k] > lo[k] else FAR
        steps += 1


@compiled(inside=True)
def _curvature(both, between):
    """K_ii + K_jj − 2 K_ij, or what is certainly positive: of a pair with the sum K_ii + K_jj and K_ij between them."""
    return larger(both - 2.0 * between, _FLAT * abs(both) + _ZERO)


@compiled(inside=True, fastmath=_FAST)
def _promises(top, h, cannot_fall, diagonal_i, diagonal, row_i, gains, first, stop):
    """Nearly twice what the objective falls by with each row of a class as partner of i, into ``gains``; the largest.

    A choice need not be exact, and a division would take as long as all the rest.
    """
    most = 0.0
    for k in range(np.uint64(first), np.uint64(stop)):
        slack = larger(top - (h[k] + cannot_fall[k]), 0.0)
        curvature = _curvature(diagonal_i + diagonal[k], row_i[k])
        gains[k] = slack * slack * rough_inverse(curvature)
        most = larger(most, gains[k])
    return most


@compiled(inside=True, fastmath=_FAST)
def _move_h(h, row_i, row_j, step, cannot_rise, cannot_fall, rising, first, stop):
    """h of a class after a step, in place, and over the rows that may rise, into ``rising``; its two ends."""
    top, bottom = -FAR, FAR
    for k in range(np.uint64(first), np.uint64(stop)):
        value = h[k] - step * (row_i[k] - row_j[k])
        h[k] = value
        rising[k] = value + cannot_rise[k]
        top = larger(top, rising[k])
        bottom = smaller(bottom, value + cannot_fall[k])
    return top, bottom


@compiled()
def _place(values, value, places, first, stop):
    """The first place in a class where ``values`` has the value, −1 if it has not.

    ``found`` is one of its places or FAR, whatever the comparisons with what is not a number give.
    """
    found = FAR
    for k in range(np.uint64(first), np.uint64(stop)):
        found = smaller(found, places[k] if values[k] == value else FAR)
    return int(found) if found < stop else -1
