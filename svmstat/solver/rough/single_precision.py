"""Sequential minimal optimisation over all rows, on kernel rows in slots and in single precision.

The steps are those of `smo`. Every pass over the rows is over numbers of four bytes, and where the largest value is
found is known to a block of rows, so that nothing has to be written for the sake of finding it. β is in double
precision, so that it stays in its box and its sum what it was; h is as good as single precision leaves it, and has to
be computed anew.
"""

import numpy as np

from svmstat._tools.compiled import compiled
from svmstat.solver.rough.extremes import larger, smaller
from svmstat.solver.rough.inverse import rough_inverse

FAR = np.float32(1e30)
"""Beyond every h."""

DONE, FAILED, WANTING = 0, 1, 2
"""How a walk ended: within its tolerance or after its steps; at what is not a number; for want of a row."""

_FLAT = np.float32(1e-6)
"""The least curvature of a pair, as a share of K_ii + K_jj: a few roundings of these."""

_NONE = np.float32(0.0)
_TINY = np.float32(1e-30)
_TWO = np.float32(2.0)
_BLOCK = 64
"""Rows of which it is known where the largest value is. A row-step of 1600 rows takes 0.7 ns with 64 and 1.1 with 512,
since the row is then looked for among fewer."""

_FAST = {"nnan", "nsz"}


@compiled()
def walk(values, slot_of, used, diagonal, lo, hi, beta, h, ceiling, floor, state, tolerance, max_steps):
    """Improve (β, h) in place until the violation is ≤ tolerance, ``max_steps`` are done or a row is missing.

    Parameters
    ----------
    values, slot_of, used : the `Slots`
    diagonal : (m,) float32, K_ii
    lo, hi, beta : (m,) float64
    h : (m,) float32
    ceiling, floor : (m,) float32: −FAR and FAR in rows whose β cannot rise and cannot fall, otherwise 0
    state : (4,) the row i that rises, −1 if it is not known, and that which falls, −1 likewise; steps; clock

    Returns
    -------
    code : DONE, FAILED, or WANTING: the row j of the state, or i if that is −1
    top, bottom : the ends, which cross by the violation
    """
    i, j = state[0], state[1]
    top, bottom, block = _ends(h, ceiling, floor)
    while True:
        if i < 0:
            i = _place(h, ceiling, top, block)
        if not (top - bottom > tolerance and state[2] < max_steps):
            state[0], state[1] = -1, -1
            return DONE, top, bottom
        if i < 0:
            return FAILED, top, bottom
        state[0], state[1] = i, -1
        state[3] += 1
        if slot_of[i] < 0:
            return WANTING, top, bottom
        used[slot_of[i]] = state[3]
        row_i = values[slot_of[i]]
        if j < 0:
            most, block = _promises(top, h, floor, diagonal[i], diagonal, row_i)
            j = _partner(top, h, floor, diagonal[i], diagonal, row_i, most, block)
            if j < 0:
                return FAILED, top, bottom
        if slot_of[j] < 0:
            state[1] = j
            return WANTING, top, bottom
        used[slot_of[j]] = state[3]
        step = _take(i, j, top, row_i[j], diagonal, lo, hi, beta, h, ceiling, floor)
        if step < 0.0:
            return FAILED, top, bottom
        state[2] += 1
        top, bottom, block = _move_h(h, row_i, values[slot_of[j]], np.float32(step), ceiling, floor)
        i, j = -1, -1


@compiled(inside=True)
def _take(i, j, top, between, diagonal, lo, hi, beta, h, ceiling, floor):
    """Raise β_i, whose h is ``top``, and lower β_j by the step that is returned; −1 if it is not a number."""
    step = np.float64((top - h[j]) / _curvature(diagonal[i] + diagonal[j], between))
    room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
    step = min(step, room_i, room_j)
    if not (step >= 0.0 and np.isfinite(step * (top - h[j]))):
        return -1.0
    beta[i] = hi[i] if step == room_i else beta[i] + step
    beta[j] = lo[j] if step == room_j else beta[j] - step
    for k in (i, j):
        ceiling[k] = _NONE if beta[k] < hi[k] else -FAR
        floor[k] = _NONE if beta[k] > lo[k] else FAR
    return step


@compiled(inside=True)
def _curvature(both, between):
    """K_ii + K_jj − 2 K_ij, or what is certainly positive: of a pair with the sum K_ii + K_jj and K_ij between them."""
    return larger(both - _TWO * between, _FLAT * abs(both) + _TINY)


@compiled(inside=True)
def _promise(top, h_k, floor_k, both, between):
    """Nearly twice the decrease of the objective with a row as the partner of the one at the top: see `smo`."""
    slack = larger(top - (h_k + floor_k), _NONE)
    return slack * slack * rough_inverse(_curvature(both, between))


@compiled(inside=True, fastmath=_FAST)
def _promises(top, h, floor, diagonal_i, diagonal, row_i):
    """The greatest promise, and the first row of the block that makes it."""
    n, most, block = h.shape[0], _NONE, 0
    for start in range(0, n, _BLOCK):
        best = _NONE
        for k in range(np.uint64(start), np.uint64(min(start + _BLOCK, n))):
            best = larger(best, _promise(top, h[k], floor[k], diagonal_i + diagonal[k], row_i[k]))
        if best > most:
            most, block = best, start
    return most, block


@compiled(inside=True)
def _partner(top, h, floor, diagonal_i, diagonal, row_i, most, block):
    """The first row of a block that makes the promise; −1 if there is none."""
    for k in range(block, min(block + _BLOCK, h.shape[0])):
        if most > _NONE and _promise(top, h[k], floor[k], diagonal_i + diagonal[k], row_i[k]) == most:
            return k
    return -1


@compiled(inside=True, fastmath=_FAST)
def _move_h(h, row_i, row_j, step, ceiling, floor):
    """h after a step, in place; its two ends, and the first row of the block that has the upper one."""
    n, top, bottom, block = h.shape[0], -FAR, FAR, 0
    for start in range(0, n, _BLOCK):
        high, low = -FAR, FAR
        for k in range(np.uint64(start), np.uint64(min(start + _BLOCK, n))):
            value = h[k] - step * (row_i[k] - row_j[k])
            h[k] = value
            high = larger(high, value + ceiling[k])
            low = smaller(low, value + floor[k])
        if high > top:
            top, block = high, start
        bottom = smaller(bottom, low)
    return top, bottom, block


@compiled(inside=True, fastmath=_FAST)
def _ends(h, ceiling, floor):
    """The same without a step."""
    n, top, bottom, block = h.shape[0], -FAR, FAR, 0
    for start in range(0, n, _BLOCK):
        high, low = -FAR, FAR
        for k in range(np.uint64(start), np.uint64(min(start + _BLOCK, n))):
            high = larger(high, h[k] + ceiling[k])
            low = smaller(low, h[k] + floor[k])
        if high > top:
            top, block = high, start
        bottom = smaller(bottom, low)
    return top, bottom, block


@compiled(inside=True)
def _place(h, ceiling, top, block):
    """The first row of a block whose h is the upper end; −1 if there is none."""
    for k in range(block, min(block + _BLOCK, h.shape[0])):
        if h[k] + ceiling[k] == top:
            return k
    return -1
