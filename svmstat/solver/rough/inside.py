"""Newton's step for free rows that stop at the first bound, go on without that row, and so on to the end.

K_MM d + b1 = h_M and 1'd = −Σβ are solved by a Cholesky factor of K_MM + c·11', which is regular as soon as the
bordered matrix is: what it adds is part of b. The factor loses the row that met its bound by rotations, so that every
meeting costs m² where a factor costs a third of m³. Rows that depend on others have a little added to their pivot:
along the direction in which no gradient changes one of them meets its bound at once.

Reference: Nocedal & Wright (2006), Numerical Optimization, Algorithm 16.3.
"""

import numpy as np

from svmstat._tools.compiled import compiled, number_from_zero
from svmstat.solver.active import downdate, share_in_box, solve_lower, solve_upper

_MEETINGS = 40
"""Rows that may meet their bound one after the other before the path is shorter."""

_LEAST, _RIDGE = 1e-13, 1e-10
"""A pivot below this share of the mean diagonal is that of a dependent row; what it is raised to."""

_SPENT = 1e-14
"""What is left of the sum where all rows are at their bound is rounding up to this share of the largest x."""


@compiled()
def inside(K, x, target, total, lo, hi, step):
    """Move x (m,) in place to where the equations hold of all rows that have not met their bound on the way.

    K (m, m) and the target h_M (m,) are overwritten; ``total`` is Σβ, and ``step`` (m,) what x has moved before any
    rounding. Returns whether it came to the end.
    """
    m = x.shape[0]
    raised, rows, d, v, nothing = _factor(K), np.empty(m, np.int64), np.empty(m), np.empty(m), np.empty((m, 0))
    number_from_zero(rows)
    for i in range(m):
        step[i] = 0.0
    for _ in range(_MEETINGS):
        _direction(K, rows, target, total, d, v, m)
        share, first = share_in_box(rows, x, d, lo, hi, m, 1.0)
        for a in range(m):
            i = rows[a]
            moved = share * d[a]
            x[i] = min(max(x[i] + moved, lo[i]), hi[i])  # beyond it by rounding at most
            step[i] += moved
            total += moved
            target[i] -= share * (target[i] - raised[i] * d[a])
        if first < 0:
            return bool(np.isfinite(total))
        x[rows[first]] = hi[rows[first]] if d[first] > 0.0 else lo[rows[first]]
        downdate(K, nothing, first, m)
        m -= 1
        for a in range(first, m):
            rows[a] = rows[a + 1]
        if m == 0:
            return bool(abs(total) <= _SPENT * _largest(x))
    return False


@compiled(inside=True)
def _largest(x):
    """The largest |x_i| of x (m,)."""
    largest = 0.0
    for i in range(x.shape[0]):
        largest = max(largest, abs(x[i]))
    return largest


@compiled(inside=True)
def _direction(U, rows, target, total, d, v, m):
    """d (m,) of the first m rows, with U'U d + b1 = target for some b and 1'd = −total; v (m,) is memory."""
    mean = 0.0  # what all have in common is b's, and would outweigh a tiny d
    for a in range(m):
        mean += target[rows[a]] / m
    for a in range(m):
        d[a], v[a] = target[rows[a]] - mean, 1.0
    for x in (d, v):
        solve_lower(U, x, m)
        solve_upper(U, x, m)
    sum_d, sum_v = 0.0, 0.0
    for a in range(m):
        sum_d += d[a]
        sum_v += v[a]
    shift = (sum_d + total) / sum_v
    for a in range(m):
        d[a] -= v[a] * shift


@compiled(inside=True)
def _factor(U):
    """The factor of U + c·11' (m, m), symmetric, in place of its upper triangle; what was added to the pivots (m,)."""
    m, size = U.shape[0], _add_mean(U)
    raised = np.zeros(m)
    for start in range(0, m, 4):
        stop = min(start + 4, m)
        for k in range(start, stop):
            row = U[k]
            if not row[k] > _LEAST * size:
                raised[k] = _RIDGE * size - row[k]
                row[k] = _RIDGE * size
            root = np.sqrt(row[k])
            for j in range(k, m):
                row[j] /= root
            for i in range(k + 1, stop):
                other, f = U[i], row[i]
                for j in range(i, m):
                    other[j] -= f * row[j]
        if stop < m:
            _take_four(U, start, m)
    return raised


@compiled(inside=True)
def _add_mean(U):
    """Add the mean c of the diagonal to the upper triangle of U (m, m); c."""
    m, size = U.shape[0], 0.0
    for i in range(m):
        size += U[i, i] / m
    for i in range(m):
        for j in range(i, m):
            U[i, j] += size
    return size


@compiled(inside=True)
def _take_four(U, start, m):
    """What four finished rows of the factor take from the rows below: these are read once for all four."""
    p, q, r, s = U[start], U[start + 1], U[start + 2], U[start + 3]
    for i in range(start + 4, m):
        row, a, b, c, d = U[i], p[i], q[i], r[i], s[i]
        for j in range(i, m):
            row[j] -= a * p[j] + b * q[j] + c * r[j] + d * s[j]
