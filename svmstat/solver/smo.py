"""Sequential minimal optimisation with second-order working-set selection: near the optimum from anywhere.

With h = s − Kβ the optimality of β is  max{h_i: β_i < hi_i} ≤ min{h_i: β_i > lo_i}; a step raises the β of the row
with the largest h and lowers that of the partner which promises the greatest decrease of the objective.

Where h is no longer finite there may be no such row: every descent then ends where it is, and the certificate fails.

Reference: Fan, Chen & Lin (2005), Working set selection using second order information, JMLR 6.
"""

import numpy as np
from numba import njit

from svmstat.solver.extremes import larger, smaller

_FAR = 1e300
_FLAT = 1e-12
"""The least curvature of a pair, as a share of K_ii + K_jj: below it there is little but their rounding."""

_ZERO = 1e-300
"""Makes it positive where K is zero."""


_FAST = {"nnan", "nsz"}
"""For the passes over the rows only: what they find is looked at by code that is not told that it is a number."""


@njit(cache=True, nogil=True, error_model="numpy")
def smo(gram, lo, hi, beta, h, tolerance, max_steps):
    """Improve (β, h) in place until the KKT violation is ≤ tolerance; returns (steps, violation).

    gram (n, n); lo, hi, beta, h (n,). Every pass over the rows is a plain vectorisable loop. The violation is infinite
    where h, or a step, is not finite: nothing can be gained then.
    """
    n = h.shape[0]
    diagonal, places = np.empty(n), np.empty(n)
    cannot_rise, cannot_fall = np.empty(n), np.empty(n)
    rising, gains = np.empty(n), np.empty(n)
    for i in range(n):
        diagonal[i] = gram[i, i]
        places[i] = i
        cannot_rise[i] = 0.0 if beta[i] < hi[i] else -_FAR
        cannot_fall[i] = 0.0 if beta[i] > lo[i] else _FAR
    top, bottom = _move_h(h, diagonal, diagonal, 0.0, cannot_rise, cannot_fall, rising)

    steps = 0
    while top - bottom > tolerance and steps < max_steps:
        i = _place(rising, top, places)
        if i < 0:
            return steps, np.inf
        row_i = gram[i]
        most = _promises(top, h, cannot_fall, diagonal[i], diagonal, row_i, gains)
        j = _place(gains, most, places)
        if j < 0:
            return steps, np.inf
        row_j = gram[j]

        step = (top - h[j]) / _curvature(diagonal[i] + diagonal[j], row_i[j])
        room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
        step = min(step, room_i, room_j)
        if not (step >= 0.0 and np.isfinite(step * (top - h[j]))):
            return steps, np.inf
        beta[i] = hi[i] if step == room_i else beta[i] + step
        beta[j] = lo[j] if step == room_j else beta[j] - step
        cannot_rise[i] = 0.0 if beta[i] < hi[i] else -_FAR
        cannot_fall[i] = 0.0 if beta[i] > lo[i] else _FAR
        cannot_rise[j] = 0.0 if beta[j] < hi[j] else -_FAR
        cannot_fall[j] = 0.0 if beta[j] > lo[j] else _FAR
        top, bottom = _move_h(h, row_i, row_j, step, cannot_rise, cannot_fall, rising)
        steps += 1
    return steps, top - bottom


@njit(cache=True, nogil=True)
def _curvature(both, between):
    """K_ii + K_jj − 2 K_ij, or what is certainly positive: of a pair with the sum K_ii + K_jj and K_ij between them."""
    return larger(both - 2.0 * between, _FLAT * abs(both) + _ZERO)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _promises(top, h, cannot_fall, diagonal_i, diagonal, row_i, gains):
    """Twice the decrease of the objective with each row as the partner of i, into ``gains`` (n,); the largest."""
    most = 0.0
    for k in range(h.shape[0]):
        slack = larger(top - (h[k] + cannot_fall[k]), 0.0)
        curvature = _curvature(diagonal_i + diagonal[k], row_i[k])
        gains[k] = slack * slack / curvature
        most = larger(most, gains[k])
    return most


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _move_h(h, row_i, row_j, step, cannot_rise, cannot_fall, rising):
    """h after a step, in place, and over the rows that may rise, into ``rising`` (n,); its two ends."""
    top, bottom = -_FAR, _FAR
    for k in range(h.shape[0]):
        value = h[k] - step * (row_i[k] - row_j[k])
        h[k] = value
        rising[k] = value + cannot_rise[k]
        top = larger(top, rising[k])
        bottom = smaller(bottom, value + cannot_fall[k])
    return top, bottom


@njit(cache=True, nogil=True)
def _place(values, value, places):
    """The first place where ``values`` (n,) has the value, −1 if it has not.

    ``first`` is one of the n places or _FAR, whatever the comparisons with what is not a number give.
    """
    first = _FAR
    for k in range(values.shape[0]):
        first = smaller(first, places[k] if values[k] == value else _FAR)
    return int(first) if first < values.shape[0] else -1


@njit(cache=True, nogil=True)
def _between(top, bottom):
    """The middle of the two ends of a class, the other end where one is far."""
    if top <= -_FAR:
        return bottom
    if bottom >= _FAR:
        return top
    return 0.5 * (top + bottom)


@njit(cache=True, nogil=True, error_model="numpy")
def smo_in_classes(gram, p, lo, hi, beta, h, tolerance, least, max_steps):
    """`smo` with the sum of each class kept: a pair is of one class, that with the larger violation.

    The first p rows are the events. Ends when the violation is ≤ tolerance times the larger of ``least`` and ρ, half
    the distance of the classes in h; returns the number of steps.
    """
    n = h.shape[0]
    diagonal, places = np.empty(n), np.empty(n)
    cannot_rise, cannot_fall = np.empty(n), np.empty(n)
    rising, gains = np.empty(n), np.empty(n)
    for i in range(n):
        diagonal[i] = gram[i, i]
        places[i] = i
        cannot_rise[i] = 0.0 if beta[i] < hi[i] else -_FAR
        cannot_fall[i] = 0.0 if beta[i] > lo[i] else _FAR
    step, i, j = 0.0, 0, 0
    steps = 0
    while True:
        row_i, row_j = gram[i], gram[j]
        top0, bottom0 = _move_h(h[:p], row_i[:p], row_j[:p], step, cannot_rise[:p], cannot_fall[:p], rising[:p])
        top1, bottom1 = _move_h(h[p:], row_i[p:], row_j[p:], step, cannot_rise[p:], cannot_fall[p:], rising[p:])
        rho = 0.5 * (_between(top1, bottom1) - _between(top0, bottom0))
        worst = max(top0 - bottom0, top1 - bottom1)
        if worst <= tolerance * max(rho, least) or steps >= max_steps:
            return steps
        first, stop, top = 0, p, top0
        if top1 - bottom1 > top0 - bottom0:
            first, stop, top = p, n, top1
        i = _place(rising[first:stop], top, places)
        if i < 0:
            return steps
        i += first
        row_i = gram[i]
        most = _promises(
            top, h[first:stop], cannot_fall[first:stop], diagonal[i], diagonal[first:stop], row_i[first:stop],
            gains[first:stop],
        )  # fmt: skip
        j = _place(gains[first:stop], most, places)
        if j < 0:
            return steps
        j += first
        step = (top - h[j]) / _curvature(diagonal[i] + diagonal[j], row_i[j])
        room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
        step = min(step, room_i, room_j)
        if not (step >= 0.0 and np.isfinite(step * (top - h[j]))):
            return steps
        beta[i] = hi[i] if step == room_i else beta[i] + step
        beta[j] = lo[j] if step == room_j else beta[j] - step
        for k in (i, j):
            cannot_rise[k] = 0.0 if beta[k] < hi[k] else -_FAR
            cannot_fall[k] = 0.0 if beta[k] > lo[k] else _FAR
        steps += 1
