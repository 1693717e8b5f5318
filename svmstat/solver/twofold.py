"""Sums of products as if in twice the working precision, rounded once at the end.

Reference: Ogita, Rump & Oishi (2005), Accurate sum and dot product, SIAM Journal on Scientific Computing 26.
"""

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled

_SPLIT = 134217729.0
"""2²⁷ + 1: what splits the 53 digits of a double into two halves, whose products are exact [Dekker 1971]."""


def products_twofold(K: Floats, beta: Floats) -> Floats:
    """Kβ for K (r, m) and β (m,), each value rounded once."""
    sums = np.empty(len(K))
    subtract_twofold(np.ascontiguousarray(K), -beta, np.zeros(len(K)), sums)
    return sums


@compiled(inside=True)
def lost_in(total, added, grown):
    """What rounding has taken from total + added, which is ``grown`` but for that."""
    part = grown - total
    return (total - (grown - part)) + (added - part)


@compiled()
def subtract_twofold(K, beta, linear, out):
    """out[i] = linear[i] − Σ_j K[i, j] β[j]; K (r, m), β (m,), linear and out (r,)."""
    high, low = np.empty(beta.shape[0]), np.empty(beta.shape[0])
    for j in range(beta.shape[0]):
        c = _SPLIT * beta[j]
        high[j] = c - (c - beta[j])
        low[j] = beta[j] - high[j]
    for i in range(K.shape[0]):
        total, error = linear[i], 0.0
        for j in range(beta.shape[0]):
            k = K[i, j]
            product = -k * beta[j]
            c = _SPLIT * k
            k_high = c - (c - k)
            k_low = k - k_high
            lost = -((k_high * high[j] + product) + k_high * low[j] + k_low * high[j] + k_low * low[j])
            grown = total + product
            error += lost_in(total, product, grown) + lost
            total = grown
        out[i] = total + error


@compiled()
def add_twofold(values, rows, coefficients, high, low):
    """Add Σ_a coefficients[a] · values[rows[a]] to high + low, (n,): all of a row at a time."""
    for a in range(rows.shape[0]):
        c, row = coefficients[a], values[rows[a]]
        t = _SPLIT * c
        c_high = t - (t - c)
        c_low = c - c_high
        for k in range(row.shape[0]):
            x = row[k]
            t = _SPLIT * x
            x_high = t - (t - x)
            x_low = x - x_high
            product = c * x
            lost = ((c_high * x_high - product) + c_high * x_low + c_low * x_high) + c_low * x_low
            total = high[k]
            grown = total + product
            low[k] += lost_in(total, product, grown) + lost
            high[k] = grown
