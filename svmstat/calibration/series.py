"""The cross-entropy of Platt's map as a series around one map, whose terms are sums over rows.

Without some of many rows the log odds a x + b change by a few hundredths, and the sums less those of the rows say where
the gradient of the others is zero: no other row is looked at.
"""

from typing import NamedTuple

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled, copy_into

_SMALL = 0.05
"""Log odds that change by no more are known by the series. What that leaves out is 2e-11 of the curvature at most, and
changes them by about as much, and by more at a row that is far from all others."""

_ORDERS, _POWERS = 5, 7
"""The second to sixth derivatives by the log odds, times x⁰ to x⁶."""

_STEPS = 2
"""Newton's steps on the series, after one with its first term: each squares what the one before has left."""

_VARIED = 1e-4
"""With less variance of x, which is one of all rows, it may be constant."""


class Series(NamedTuple):
    """The series around a map (a, b) of all rows, and what it becomes without some, changed in place.

    Attributes
    ----------
    x : (n,) standardised decision values
    slopes, curvatures : (n,) first and second derivatives of the rows, of weight one, by the log odds
    farthest : (1,) the largest |x|
    sums, left_sums : (2, 5) of the rows of each class: w, w x, w x² and the gradient in a and b
    terms, left_terms : (5, 7) the higher derivatives times powers of x
    step : (2,) the last step in a and b
    orders, powers : (5,), (2, 7) memory
    """

    x: Floats
    slopes: Floats
    curvatures: Floats
    farthest: Floats
    sums: Floats
    left_sums: Floats
    terms: Floats
    left_terms: Floats
    step: Floats
    orders: Floats
    powers: Floats


@compiled(inside=True)
def series_of(x, y, weights, slopes, curvatures):
    """The series of rows; x, y, weights and the derivatives of each by the log odds, all (n,)."""
    series = Series(
        x, slopes, curvatures, np.zeros(1), np.zeros((2, 5)), np.empty((2, 5)), np.zeros((_ORDERS, _POWERS)),
        np.empty((_ORDERS, _POWERS)), np.zeros(2), np.empty(_ORDERS), np.empty((2, _POWERS)),
    )  # fmt: skip
    for i in range(x.shape[0]):
        _add(series, y, i, weights[i], series.sums, series.terms)
        series.farthest[0] = max(series.farthest[0], abs(x[i]))
    return series


@compiled(inside=True, borrowing=True)
def without_rows(series, y, rows, copies, start, stop):
    """Make it that without ``copies`` of the ``rows``, those from ``start`` to ``stop`` of both."""
    for c in range(2):
        copy_into(series.left_sums[c], series.sums[c])
    for c in range(_ORDERS):
        copy_into(series.left_terms[c], series.terms[c])
    for e in range(start, stop):
        _add(series, y, rows[e], -copies[e], series.left_sums, series.left_terms)


@compiled(inside=True, borrowing=True)
def _add(series, y, i, w, sums, terms):
    """Add w copies of a row to the sums and the terms.

    By q = p(1 − p) its derivatives are q, q t, q(1 − 6q), q t(1 − 12q) and q(1 − 30q + 120q²), where t = 1 − 2p and p
    is what the slope of an event is.
    """
    x, slope, q, orders = series.x[i], series.slopes[i], series.curvatures[i], series.orders
    own = sums[1 if y[i] > 0.0 else 0]
    own[0] += w
    own[1] += w * x
    own[2] += w * x * x
    own[3] += w * slope * x
    own[4] += w * slope
    t = (1.0 if y[i] > 0.0 else -1.0) - 2.0 * slope
    orders[0], orders[1], orders[2] = q, q * t, q * (1.0 - 6.0 * q)
    orders[3], orders[4] = q * t * (1.0 - 12.0 * q), q * (1.0 - 30.0 * q + 120.0 * q * q)
    power = w
    for j in range(_POWERS):
        for c in range(_ORDERS):
            terms[c, j] += orders[c] * power
        power *= x


@compiled(inside=True, borrowing=True)
def step_without(series):
    """The step in a and b to where the gradient of the rows that are left is zero, and whether the series tells.

    With u = a x + b what follows its last term is less than u⁶/6! of the curvature.
    """
    sums, terms, powers = series.left_sums, series.left_terms, series.powers
    doubt_0, doubt_1 = 1.0 / (sums[0, 0] + 2.0), 1.0 / (sums[1, 0] + 2.0)
    start_a = sums[0, 3] + sums[1, 3] + doubt_0 * sums[0, 1] - doubt_1 * sums[1, 1]
    start_b = sums[0, 4] + sums[1, 4] + doubt_0 * sums[0, 0] - doubt_1 * sums[1, 0]
    total, first, second = sums[0, 0] + sums[1, 0], sums[0, 1] + sums[1, 1], sums[0, 2] + sums[1, 2]
    if not total * second - first**2 > _VARIED * total**2:
        return 0.0, 0.0, False
    a, b, decrement = newton_step(start_a, start_b, terms[0, 2], terms[0, 1], terms[0, 0])
    for _ in range(_STEPS):
        if not (abs(a) * series.farthest[0] + abs(b) <= _SMALL and np.isfinite(decrement)):
            return 0.0, 0.0, False
        _fill(powers, a, b)
        g_a, g_b, h_aa, h_ab, h_bb = start_a, start_b, 0.0, 0.0, 0.0
        for k in range(_ORDERS + 1):  # the terms with u^k / k!
            for j in range(k + 1):
                share = powers[0, j] * powers[1, k - j]
                if k > 0:
                    g_a += share * terms[k - 1, j + 1]
                    g_b += share * terms[k - 1, j]
                if k < _ORDERS:
                    h_aa += share * terms[k, j + 2]
                    h_ab += share * terms[k, j + 1]
                    h_bb += share * terms[k, j]
        step_a, step_b, decrement = newton_step(g_a, g_b, h_aa, h_ab, h_bb)
        a += step_a
        b += step_b
    series.step[0], series.step[1] = a, b
    return a, b, bool(np.isfinite(decrement))


@compiled(inside=True, borrowing=True)
def risen_without(series):
    """By how much −Σ w log p of the rows that are left rises with the last step."""
    sums, terms, powers = series.left_sums, series.left_terms, series.powers
    a, b = series.step[0], series.step[1]
    _fill(powers, a, b)
    risen = a * (sums[0, 3] + sums[1, 3]) + b * (sums[0, 4] + sums[1, 4])
    for k in range(_ORDERS):  # the terms with u^(k + 2) / (k + 2)!
        for j in range(k + 3):
            risen += powers[0, j] * powers[1, k + 2 - j] * terms[k, j]
    return risen


@compiled(inside=True, borrowing=True)
def _fill(powers, a, b):
    """Write aʲ/j! and bʲ/j!, whose products are the shares of (a x + b)ᵏ/k!."""
    powers[0, 0], powers[1, 0] = 1.0, 1.0
    for j in range(1, _POWERS):
        powers[0, j], powers[1, j] = powers[0, j - 1] * a / j, powers[1, j - 1] * b / j


@compiled(inside=True)
def newton_step(g_a, g_b, h_aa, h_ab, h_bb):
    """Newton's step in a and b, and its decrement; infinite where there is no curvature."""
    ridge = 1e-14 * (h_aa + h_bb) + 1e-300
    h_aa += ridge
    h_bb += ridge
    determinant = h_aa * h_bb - h_ab * h_ab
    if not determinant > 0.0:
        return 0.0, 0.0, np.inf
    step_a = -(h_bb * g_a - h_ab * g_b) / determinant
    step_b = -(h_aa * g_b - h_ab * g_a) / determinant
    return step_a, step_b, -(g_a * step_a + g_b * step_b)
