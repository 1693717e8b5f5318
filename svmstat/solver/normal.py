"""The normal vector A'β of a kernel matrix K = AA' with a factor A (n, r), summed in twice the working precision.

With a large C, or far from the origin, its terms cancel; and so do those of Kβ, of which A'β keeps the digits that
kernel values do not have.
"""

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.compiled import compiled
from svmstat.solver.twofold import add_twofold, subtract_twofold


def residual_by_factor(factor: Floats, beta: Floats, linear: Floats) -> Floats:
    """s − A(A'β) (n,) for s and β (n,), as if in twice the working precision and rounded once."""
    high, low = normal_vector(factor, np.flatnonzero(beta), beta[beta != 0.0])
    start, h = linear.copy(), np.empty(len(factor))
    project(factor, -low, start)
    subtract_twofold(factor, high, start, h)
    return h


def normal_vector(
    factor: Floats, rows: Codes, coefficients: Floats, others: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Σ_a coefficients[a] · A[rows[a]] (r,) and what its rounding leaves (r,), with those of ``others`` if given."""
    start = np.zeros((2, factor.shape[1])) if others is None else np.array(others)
    high, low = start[0], start[1]
    add_twofold(factor, rows, coefficients, high, low)
    total = high + low
    return total, (high - total) + low


@compiled()
def project(factor, w, out):
    """out += factor @ w; factor (n, r), w (r,), out (n,). Every sum is in the order of the columns, four at a time."""
    n, r = factor.shape
    whole = n - n % 4
    for i in range(0, whole, 4):
        row0, row1, row2, row3 = factor[i], factor[i + 1], factor[i + 2], factor[i + 3]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for k in range(r):
            s0 += row0[k] * w[k]
            s1 += row1[k] * w[k]
            s2 += row2[k] * w[k]
            s3 += row3[k] * w[k]
        out[i] += s0
        out[i + 1] += s1
        out[i + 2] += s2
        out[i + 3] += s3
    for i in range(whole, n):
        row, total = factor[i], 0.0
        for k in range(r):
            total += row[k] * w[k]
        out[i] += total
