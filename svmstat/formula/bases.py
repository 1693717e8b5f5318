"""R's ``poly()`` and ``ns()``: several columns of one, learnt from the rows of the fit and the same for new ones.

They have the columns that R gives, since a machine, other than a regression, depends on which basis of a space it has.
"""

import numbers
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from patsy import stateful_transform

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import at_least, finite, flag, refuse
from svmstat.errors import ArgumentError, DataError

_ORDER = 4  # of cubic splines


def _numbers(name: str, x: Any) -> Floats:
    """The one column (n,) that a basis is made of."""
    values = np.asarray(x, dtype=float)
    if values.ndim != 1:
        raise DataError(f"{name}() takes one column, not {values.shape[1]}.")
    return values


class Poly:
    """poly(x, degree=1, raw=False): orthogonal polynomials of degree 1, …, as R has them; or with raw x, x², ….

    p_0 = 1, p_{k+1}(x) = (x − a_k) p_k(x) − c_k p_{k−1}(x) with a_k = Σ x p_k² / Σ p_k² and c_k = Σ p_k² / Σ p_{k−1}²
    over the rows of the fit, divided by √Σ p_k² there [Kennedy & Gentle 1980: 343].
    """

    centers: Floats
    norms: Floats

    def memorize_chunk(self, x: Any, degree: int = 1, raw: bool = False) -> None:
        """Learn the a_k (degree,), and Σ p_k² (1 + degree,), of all rows."""
        x, m = _numbers("poly", x), at_least("poly(...): degree", degree, 1)
        distinct = len(np.unique(x))
        if not flag("poly(...): raw", raw) and distinct <= m:
            raise DataError(f"poly(..., degree={m}) needs {m + 1} distinct values, and there are {distinct}.")
        middle = x.mean()
        before, p = np.zeros_like(x), np.ones_like(x)
        self.centers, self.norms = np.zeros(m), np.ones(m + 1)
        for k in range(m):
            self.norms[k] = p @ p
            self.centers[k] = middle + (x - middle) @ p**2 / self.norms[k]
            before, p = p, self._next(x, k, p, before)
        self.norms[m] = p @ p

    def memorize_finish(self) -> None:
        """All is known."""

    def transform(self, x: Any, degree: int = 1, raw: bool = False) -> Floats:
        """The columns (n, degree)."""
        x = _numbers("poly", x)
        if raw:
            return np.asarray(x[:, None] ** np.arange(1, degree + 1))
        before, p, columns = np.zeros_like(x), np.ones_like(x), []
        for k in range(degree):
            before, p = p, self._next(x, k, p, before)
            columns.append(p / np.sqrt(self.norms[k + 1]))
        return np.column_stack(columns)

    def _next(self, x: Floats, k: int, p: Floats, before: Floats) -> Floats:
        """p_{k+1} from p_k and p_{k−1}."""
        ratio = self.norms[k] / self.norms[k - 1] if k else 0.0
        return np.asarray((x - self.centers[k]) * p - ratio * before)


class NaturalSpline:
    """ns(x, df=4): natural cubic splines, straight beyond the outer knots, as R has them; or with knots=[…].

    The cubic B-splines without the first one, times the orthogonal complement of their second derivatives at the outer
    knots, by the reflections of a QR factorisation [Hastie 1992].
    """

    knots: Floats
    combined: Floats

    def memorize_chunk(
        self, x: Any, df: int | None = None, knots: Sequence[float] | None = None,
        lower_bound: float | None = None, upper_bound: float | None = None,
    ) -> None:  # fmt: skip
        """Learn the knots, and which combinations (df + 2, df) of the B-splines are straight beyond them."""
        x = _numbers("ns", x)
        ends = np.array([
            x.min() if lower_bound is None else finite("ns(...): lower_bound", lower_bound),
            x.max() if upper_bound is None else finite("ns(...): upper_bound", upper_bound),
        ])  # fmt: skip
        inner = _inner_knots(x[(ends[0] <= x) & (x <= ends[1])], df, knots)
        if not (np.diff([ends[0], *inner, ends[1]]) > 0).all():
            raise DataError(
                f"ns(...) has the knots {_listed([ends[0], *inner, ends[1]])}, which must be increasing: a column of "
                "few distinct values needs a smaller df, or knots of its own."
            )
        self.knots = np.concatenate([np.repeat(ends[0], _ORDER), inner, np.repeat(ends[1], _ORDER)])
        curvature = self._splines(ends, 2)[:, 1:]
        self.combined = np.linalg.qr(curvature.T, mode="complete")[0][:, 2:]

    def memorize_finish(self) -> None:
        """All is known."""

    def transform(self, x: Any, *_: Any, **__: Any) -> Floats:
        """The columns (n, df)."""
        x = _numbers("ns", x)
        inside = np.clip(x, self.knots[0], self.knots[-1])
        splines = self._splines(inside, 0) + (x - inside)[:, None] * self._splines(inside, 1)
        return np.asarray(splines[:, 1:] @ self.combined)

    def _splines(self, x: Floats, derivative: int) -> Floats:
        """(n, df + 3) the cubic B-splines, or their derivatives."""
        interpolate = import_module("scipy.interpolate")  # takes a tenth of a second, for splines only
        each = interpolate.BSpline(self.knots, np.eye(len(self.knots) - _ORDER), _ORDER - 1)
        return np.asarray(each(x, nu=derivative))


def _inner_knots(x: Floats, df: int | None, knots: Sequence[float] | None) -> Floats:
    """Those that are given, or quantiles of x."""
    if (df is None) == (knots is None):
        raise ArgumentError("ns(...) takes either df, the number of its columns, or knots, such as ns(x, df=4).")
    if df is not None:
        shares = np.linspace(0.0, 1.0, at_least("ns(...): df", df, 1) + 1)[1:-1]
        return np.asarray(np.quantile(x, shares))
    given = np.atleast_1d(np.asarray(knots, dtype=object))
    if given.ndim != 1 or not all(isinstance(each, numbers.Real) for each in given):
        raise refuse("ns(...): knots", knots, "a list of numbers")
    return np.sort(given.astype(float))


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


poly = stateful_transform(Poly)
ns = stateful_transform(NaturalSpline)
