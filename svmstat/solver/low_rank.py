"""A kernel matrix K = AA' of which only the factor A (n, r) is held."""

from typing import Any, ClassVar

import numpy as np

from svmstat._tools.compiled import compiled
from svmstat.solver.gram import Floats, Gram, Rows
from svmstat.solver.twofold import SPLIT, subtract_twofold


class Factor:
    """The rows of a factor A (n, r) as a source of kernel values K = AA'."""

    __slots__ = ("diagonal", "factor")

    def __init__(self, factor: Floats) -> None:
        self.factor = factor
        self.diagonal = np.einsum("ik,ik->i", factor, factor)

    def block(self, rows: Rows, columns: Rows | slice) -> Floats:
        """K[rows][:, columns]."""
        return np.asarray(self.factor[rows] @ self.factor[columns].T)

    def gram(self) -> Floats:
        """The full (n, n) matrix, exactly symmetric."""
        K = self.factor @ self.factor.T
        return np.tril(K) + np.tril(K, -1).T


class LowRank(Gram):
    """The kernel matrix of rows with an explicit map, K = AA'.

    Kβ = A(A'β) takes n·r products where rows of K would take n·n. The normal vector A'β is summed in twice the working
    precision: with a large C its terms cancel.

    Parameters
    ----------
    factor : (n, r), C-contiguous
    """

    __slots__ = ("factor",)
    _is_kept: ClassVar[bool] = False

    def __init__(self, factor: Floats) -> None:
        super().__init__(Factor(factor))
        self.factor = factor

    def __reduce__(self) -> tuple[Any, ...]:
        return LowRank, (self.factor,)

    def part(self, rows: Rows) -> "LowRank":
        """The gram matrix of some of the rows (m,)."""
        return LowRank(self.factor[rows])

    def add(self, rows: Rows, coefficients: Floats, out: Floats) -> None:
        """Add Σ_a coefficients[a] · K[rows[a], :] to ``out``, (n,)."""
        project(self.factor, normal_vector(self.factor, rows, coefficients)[0], out)

    def across(self, places: Rows, rows: Rows, coefficients: Floats) -> tuple[Floats, Floats]:
        """Two arrays whose product is Σ_a coefficients[a] · K[places, rows[a]], (k,) or (k, P)."""
        return self.factor[places], self.normal(rows, coefficients)

    def normal(self, rows: Rows, coefficients: Floats) -> Floats:
        """Σ_a coefficients[a] · A[rows[a]], (r,) or (r, P), for coefficients (m,) or (m, P)."""
        each = [normal_vector(self.factor, rows, np.ascontiguousarray(c))[0] for c in np.atleast_2d(coefficients.T)]
        return each[0] if coefficients.ndim == 1 else np.column_stack(each)

    def residual(self, beta: Floats, linear: Floats) -> Floats:
        """s − Kβ (n,) for s and β (n,), as if in twice the working precision and rounded once."""
        high, low = normal_vector(self.factor, np.flatnonzero(beta), beta[beta != 0.0])
        start, h = linear.copy(), np.empty(self.n)
        project(self.factor, -low, start)
        subtract_twofold(self.factor, high, start, h)
        return h


def normal_vector(
    factor: Floats, rows: Rows, coefficients: Floats, others: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Σ_a coefficients[a] · A[rows[a]] (r,) and what its rounding leaves (r,), with those of ``others`` if given."""
    start = np.zeros((2, factor.shape[1])) if others is None else np.array(others)
    high, low = start[0], start[1]
    _accumulate(factor, rows, coefficients, high, low)
    total = high + low
    return total, (high - total) + low


@compiled()
def _accumulate(factor, rows, coefficients, high, low):
    """Add coefficients[a] · factor[rows[a]] to high + low, (r,)."""
    for a in range(rows.shape[0]):
        c, row = coefficients[a], factor[rows[a]]
        t = SPLIT * c
        c_high = t - (t - c)
        c_low = c - c_high
        for k in range(row.shape[0]):
            x = row[k]
            t = SPLIT * x
            x_high = t - (t - x)
            x_low = x - x_high
            product = c * x
            lost = ((c_high * x_high - product) + c_high * x_low + c_low * x_high) + c_low * x_low
            total = high[k]
            grown = total + product
            part = grown - total
            low[k] += ((total - (grown - part)) + (product - part)) + lost
            high[k] = grown


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
