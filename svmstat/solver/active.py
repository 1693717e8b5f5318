"""What active sets with a triangular factor share: the step that fits the box, its equations, and the row that leaves.

U (m, m) is upper triangular, its rows those of free rows in their order; what is below the diagonal is not read.
"""

import numpy as np

from svmstat._tools.compiled import compiled


@compiled(inside=True)
def share_in_box(rows, x, d, lo, hi, m, most):
    """How much of a step d (m,) of some rows fits the box, at most so much, and the place of the row at its bound then.

    That is −1 if no bound is met.
    """
    share, first = most, -1
    for a in range(m):
        i = rows[a]
        if d[a] != 0.0:
            left = ((hi[i] if d[a] > 0.0 else lo[i]) - x[i]) / d[a]
            if left < share:
                share, first = left, a
    return share, first


@compiled(inside=True)
def solve_lower(U, x, m):
    """U'z = x for the first m rows, z in place of x."""
    for k in range(m):
        row = U[k]
        x[k] /= row[k]
        for j in range(k + 1, m):
            x[j] -= row[j] * x[k]


@compiled(inside=True)
def solve_upper(U, x, m):
    """Uz = x for the first m rows, z in place of x."""
    for k in range(m - 1, -1, -1):
        row, rest = U[k], x[k]
        for j in range(k + 1, m):
            rest -= row[j] * x[j]
        x[k] = rest / row[k]


@compiled(inside=True)
def downdate(U, Q, gone, m):
    """The factor of m − 1 rows, that with the number ``gone`` taken out of m, in place; Q (m, k) is turned with U."""
    for k in range(m):
        row = U[k]
        for j in range(max(k - 1, gone), m - 1):
            row[j] = row[j + 1]
    for k in range(gone, m - 1):  # below the diagonal stands one entry of the next row
        row, below = U[k], U[k + 1]
        length = np.sqrt(row[k] ** 2 + below[k] ** 2)
        c, s = row[k] / length, below[k] / length
        row[k] = length
        _turn(row, below, k + 1, m - 1, c, s)
        _turn(Q[k], Q[k + 1], 0, Q.shape[1], c, s)


@compiled(inside=True)
def _turn(one, other, start, stop, c, s):
    for j in range(start, stop):
        above, under = one[j], other[j]
        one[j] = c * above + s * under
        other[j] = c * under - s * above
