"""Newton's step for free rows that stop at the first bound, go on without that row, and so on to the end.

K_MM d + b1 = h_M and 1'd = −Σβ are solved by a Cholesky factor of K_MM + c·11', which is regular as soon as the
bordered matrix is: what it adds is part of b. The factor loses the row that met its bound by rotations, so that every
meeting costs m² where a factor costs a third of m³. Rows that depend on others have a little added to their pivot:
along the direction in which no gradient changes one of them meets its bound at once.

Reference: Nocedal & Wright (2006), Numerical Optimization, Algorithm 16.3.
"""

import numpy as np

from svmstat._tools.compiled import compiled

_MEETINGS = 40
"""Rows that may meet their bound one after the other before the path is shorter."""

_LEAST, _RIDGE = 1e-13, 1e-10
"""A pivot below this share of the mean diagonal is that of a dependent row; what it is raised to."""


@compiled()
def inside(K, x, target, total, lo, hi, step):
    """Move x (m,) in place to where the equations hold of all rows that have not met their bound on the way.

    K (m, m) and the target h_M (m,) are overwritten; ``total`` is Σβ, and ``step`` (m,) what x has moved before any
    rounding. Returns whether it came to the end.
    """
    m = x.shape[0]
    raised, rows, d, v = _factor(K), np.arange(m), np.empty(m), np.empty(m)
    for i in range(m):
        step[i] = 0.0
    for _ in range(_MEETINGS):
        _direction(K, rows, target, total, d, v, m)
        share, first = _room(rows, x, d, lo, hi, m)
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
        _drop(K, first, m)
        m -= 1
        for a in range(first, m):
            rows[a] = rows[a + 1]
        if m == 0:
            break
    return False


@compiled(inside=True)
def _direction(U, rows, target, total, d, v, m):
    """d (m,) of the first m rows, with U'U d + b1 = target for some b and 1'd = −total; v (m,) is memory."""
    for a in range(m):
        d[a], v[a] = target[rows[a]], 1.0
    _solve(U, d, m)
    _solve(U, v, m)
    sum_d, sum_v = 0.0, 0.0
    for a in range(m):
        sum_d += d[a]
        sum_v += v[a]
    shift = (sum_d + total) / sum_v
    for a in range(m):
        d[a] -= v[a] * shift


@compiled(inside=True)
def _room(rows, x, d, lo, hi, m):
    """Which share of d (m,) can be gone, and the place of the row that is at its bound then; −1 for the whole way."""
    share, first = 1.0, -1
    for a in range(m):
        i = rows[a]
        if d[a] != 0.0:
            most = ((hi[i] if d[a] > 0.0 else lo[i]) - x[i]) / d[a]
            if most < share:
                share, first = most, a
    return share, first


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


@compiled(inside=True)
def _solve(U, x, m):
    """U'U z = x for the first m rows, z in place of x."""
    for k in range(m):
        row = U[k]
        x[k] /= row[k]
        for j in range(k + 1, m):
            x[j] -= row[j] * x[k]
    for k in range(m - 1, -1, -1):
        row, rest = U[k], x[k]
        for j in range(k + 1, m):
            rest -= row[j] * x[j]
        x[k] = rest / row[k]


@compiled(inside=True)
def _drop(U, gone, m):
    """The factor of m − 1 rows, that with the number ``gone`` taken out of m, in place."""
    for k in range(m):
        row = U[k]
        for j in range(max(k - 1, gone), m - 1):
            row[j] = row[j + 1]
    for k in range(gone, m - 1):  # below the diagonal stands one entry of the next row
        row, below = U[k], U[k + 1]
        length = np.sqrt(row[k] ** 2 + below[k] ** 2)
        c, s = row[k] / length, below[k] / length
        row[k] = length
        for j in range(k + 1, m - 1):
            above, under = row[j], below[j]
            row[j] = c * above + s * under
            below[j] = c * under - s * above
