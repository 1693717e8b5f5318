"""Sequential minimal optimisation with second-order working-set selection: near the optimum from anywhere.

With h = s − Kβ the optimality of β is  max{h_i: β_i < hi_i} ≤ min{h_i: β_i > lo_i}; a step raises the β of the row
with the largest h and lowers that of the partner which promises the greatest decrease of the objective.

Reference: Fan, Chen & Lin (2005), Working set selection using second order information, JMLR 6.
"""

import numpy as np
from numba import njit

_BLOCK = 64
_FAR = 1e300


@njit(
    cache=True,
    nogil=True,
    fastmath={"nnan", "nsz", "reassoc"},
    error_model="numpy",
)
def smo(gram, lo, hi, beta, h, tolerance, max_steps):
    """Improve (β, h) in place until the KKT violation is ≤ tolerance; returns (steps, violation).

    gram (n, n); lo, hi, beta, h (n,). Maxima are kept for blocks of rows, so that every pass over the rows is a plain
    vectorisable reduction and a row is looked for only within its block.
    """
    n = h.shape[0]
    n_blocks = (n + _BLOCK - 1) // _BLOCK
    block_top = np.empty(n_blocks)
    diagonal = np.empty(n)
    cannot_rise = np.empty(n)
    cannot_fall = np.empty(n)
    top, bottom = -_FAR, _FAR
    for i in range(n):
        diagonal[i] = gram[i, i]
        cannot_rise[i] = 0.0 if beta[i] < hi[i] else -_FAR
        cannot_fall[i] = 0.0 if beta[i] > lo[i] else _FAR
    for c in range(n_blocks):
        highest = -_FAR
        for i in range(c * _BLOCK, min(n, (c + 1) * _BLOCK)):
            highest = max(highest, h[i] + cannot_rise[i])
            bottom = min(bottom, h[i] + cannot_fall[i])
        block_top[c] = highest
        top = max(top, highest)

    steps = 0
    while top - bottom > tolerance and steps < max_steps:
        c = 0
        while block_top[c] != top:
            c += 1
        i = c * _BLOCK
        while h[i] + cannot_rise[i] != top:
            i += 1
        row_i = gram[i]
        diagonal_i = diagonal[i]

        best, best_block = -1.0, 0
        for c in range(n_blocks):
            gain = 0.0
            for k in range(c * _BLOCK, min(n, (c + 1) * _BLOCK)):
                slack = max(top - (h[k] + cannot_fall[k]), 0.0)
                curvature = max(diagonal_i + diagonal[k] - 2.0 * row_i[k], 1e-12)
                gain = max(gain, slack * slack / curvature)
            if gain > best:
                best, best_block = gain, c
        best, j = -1.0, 0
        for k in range(best_block * _BLOCK, min(n, (best_block + 1) * _BLOCK)):
            slack = max(top - (h[k] + cannot_fall[k]), 0.0)
            curvature = max(diagonal_i + diagonal[k] - 2.0 * row_i[k], 1e-12)
            if slack * slack / curvature > best:
                best, j = slack * slack / curvature, k
        row_j = gram[j]

        step = (top - h[j]) / max(diagonal_i + diagonal[j] - 2.0 * row_i[j], 1e-12)
        room_i, room_j = hi[i] - beta[i], beta[j] - lo[j]
        step = min(step, room_i, room_j)
        beta[i] = hi[i] if step == room_i else beta[i] + step
        beta[j] = lo[j] if step == room_j else beta[j] - step
        cannot_rise[i] = 0.0 if beta[i] < hi[i] else -_FAR
        cannot_fall[i] = 0.0 if beta[i] > lo[i] else _FAR
        cannot_rise[j] = 0.0 if beta[j] < hi[j] else -_FAR
        cannot_fall[j] = 0.0 if beta[j] > lo[j] else _FAR

        top, bottom = -_FAR, _FAR
        for c in range(n_blocks):
            highest = -_FAR
            for k in range(c * _BLOCK, min(n, (c + 1) * _BLOCK)):
                value = h[k] - step * (row_i[k] - row_j[k])
                h[k] = value
                highest = max(highest, value + cannot_rise[k])
                bottom = min(bottom, value + cannot_fall[k])
            block_top[c] = highest
            top = max(top, highest)
        steps += 1
    return steps, top - bottom
