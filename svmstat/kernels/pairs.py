"""Loops over pairs of rows: one order of summation, so that a value never depends on the block it came from.

Every sum runs over the columns in their order, without fused or reassociated operations. Hence the value of
a pair is the same, bit for bit, in a gram matrix, in a kernel row and alone, and for (i, j) and (j, i).
"""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.compiled import compiled

FloatArray = NDArray[np.float64]

CHUNK = 256  # columns at a time: a chunk of the output stays in the first-level cache


def plain(array: FloatArray) -> FloatArray:
    """The array, copied unless it is C-contiguous and writable: numba compiles anew for any other kind."""
    return np.require(array, dtype=float, requirements=["C", "W"])


@compiled(inside=True)
def distances_from(x, columns, start, power, out):  # type: ignore[no-untyped-def]
    """Write Σ_k |x_k − z_jk|^power for j = start, start + 1, … into out (w,), power 1 or 2.

    x (p,), columns (p, n) holds the z_j.
    """
    p, w = x.size, out.size
    out[:] = 0.0
    if power == 1:
        for k in range(p):
            xk, c = x[k], columns[k, start : start + w]
            for j in range(w):
                out[j] += abs(xk - c[j])
        return
    whole = p - p % 4
    for k in range(0, whole, 4):  # four columns at a time save loads and stores, not roundings
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        c0 = columns[k, start : start + w]
        c1 = columns[k + 1, start : start + w]
        c2 = columns[k + 2, start : start + w]
        c3 = columns[k + 3, start : start + w]
        for j in range(w):
            d0, d1, d2, d3 = x0 - c0[j], x1 - c1[j], x2 - c2[j], x3 - c3[j]
            out[j] = (((out[j] + d0 * d0) + d1 * d1) + d2 * d2) + d3 * d3
    for k in range(whole, p):
        xk, c = x[k], columns[k, start : start + w]
        for j in range(w):
            d = xk - c[j]
            out[j] += d * d


@compiled()
def distances(points, columns, power, factor, out):  # type: ignore[no-untyped-def]
    """Write factor · Σ_k |x_ik − z_jk|^power into out (m, n), power 1 or 2; points (m, p), columns (p, n)."""
    for start in range(0, columns.shape[1], CHUNK):
        for i in range(points.shape[0]):
            chunk = out[i, start : start + CHUNK]
            distances_from(points[i], columns, start, power, chunk)
            for j in range(chunk.size):
                chunk[j] *= factor


@compiled()
def products(points, columns, out):  # type: ignore[no-untyped-def]
    """Write x_i'z_j into out (m, n); points (m, p), columns (p, n)."""
    for start in range(0, columns.shape[1], CHUNK):
        for i in range(points.shape[0]):
            chunk = out[i, start : start + CHUNK]
            chunk[:] = 0.0
            for k in range(points.shape[1]):
                x, c = points[i, k], columns[k, start : start + CHUNK]
                for j in range(chunk.size):
                    chunk[j] += x * c[j]


@compiled()
def powers(values, factor, constant, degree):  # type: ignore[no-untyped-def]
    """Replace the values v (m, n) by (factor · v + constant)^degree, degree ≥ 1, by repeated squaring."""
    square = np.empty(CHUNK)
    for i in range(values.shape[0]):
        for start in range(0, values.shape[1], CHUNK):
            chunk = values[i, start : start + CHUNK]
            for j in range(chunk.size):
                square[j] = factor * chunk[j] + constant
                chunk[j] = 1.0
            exponent = degree
            while exponent > 0:
                if exponent % 2 == 1:
                    for j in range(chunk.size):
                        chunk[j] *= square[j]
                exponent //= 2
                if exponent > 0:
                    for j in range(chunk.size):
                        square[j] *= square[j]


@compiled()
def spline_sums(points, columns, out):  # type: ignore[no-untyped-def]
    """Write Σ_k 1 + k1(s)k1(t) + k2(s)k2(t) − k4(|s − t|) into out (m, n) for s, t in [0, 1]."""
    for start in range(0, columns.shape[1], CHUNK):
        for i in range(points.shape[0]):
            chunk = out[i, start : start + CHUNK]
            chunk[:] = 0.0
            for k in range(points.shape[1]):
                s, c = points[i, k], columns[k, start : start + CHUNK]
                k1s = s - 0.5
                k2s = (k1s * k1s - 1 / 12) / 2
                for j in range(chunk.size):
                    k1t = c[j] - 0.5
                    k2t = (k1t * k1t - 1 / 12) / 2
                    u = abs(s - c[j]) - 0.5
                    u2 = u * u
                    k4 = (u2 * u2 - u2 / 2 + 7 / 240) / 24
                    chunk[j] += (1 + k1s * k1t + k2s * k2t) - k4


@compiled()
def weighted_sums(values, weights, out):  # type: ignore[no-untyped-def]
    """Write Σ_j weights[j] · values[i, j] into out (m,), added in the order of j; values (m, n)."""
    for i in range(values.shape[0]):
        total = 0.0
        for j in range(values.shape[1]):
            total += weights[j] * values[i, j]
        out[i] = total
