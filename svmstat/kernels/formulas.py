"""Kernels with a formula, each an object whose docstring it is."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, cast

import numpy as np

from svmstat._tools.checks import at_least, entries, finite, refuse
from svmstat.errors import ArgumentError
from svmstat.kernels.base import Kernel
from svmstat.kernels.gamma import check_gamma, resolve_gamma
from svmstat.kernels.magnitude import check_magnitude, log10_squared_norm
from svmstat.kernels.names import named
from svmstat.kernels.pairs import FloatArray, distances, powers, products, spline_sums
from svmstat.kernels.parameters import parameter
from svmstat.kernels.points import PointKernel

_LOG10_2 = np.log10(2.0)


def widths(gamma: float) -> tuple[float, ...]:
    """The values of γ that are searched by default: 2^-4, 2^-3, …, 2^3 times that of the default."""
    return tuple(2.0**k * gamma for k in range(-4, 4))


@named("linear")
@dataclass(frozen=True, slots=True)
class Linear(PointKernel):
    """K(x, z) = x'z.

    Examples
    --------
    >>> import numpy as np
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    is_product: ClassVar[bool] = True

    def check_rows(self, X: FloatArray) -> None:
        """Refuse rows (n, p) on which values are of a size that cannot be computed with."""
        check_magnitude(log10_squared_norm(X), "kernel='linear'", "use scale=True, or scale the columns")

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write x_i'z_j into ``out`` (m, n)."""
        products(points, columns, out)

    def features(self, X: FloatArray) -> FloatArray:
        """The rows (n, p) themselves."""
        return np.ascontiguousarray(X, dtype=float)


class Radial(PointKernel):
    """K(x, z) = exp(−γ d(x, z)), γ > 0, d a measure of distance; K(x, x) = 1."""

    __slots__ = ()
    gamma: float | str

    @abstractmethod
    def exponents(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write −γ d(x_i, z_j) into ``out`` (m, n); ``points`` and ``columns`` as in ``fill``."""

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write exp(−γ d(x_i, z_j)) into ``out`` (m, n)."""
        self.exponents(points, columns, out)
        with np.errstate(under="ignore"):
            np.exp(out, out=out)

    def without_constant(self) -> Kernel:
        """K − 1, which has digits where γ is so small that K has none left."""
        return RadialLessOne(self)


@dataclass(frozen=True, slots=True)
class RadialLessOne(PointKernel):
    """K(x, z) = exp(−γ d(x, z)) − 1, for use where a constant does not matter: alone it is no kernel."""

    radial: Radial

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write exp(−γ d(x_i, z_j)) − 1 into ``out`` (m, n)."""
        self.radial.exponents(points, columns, out)
        np.expm1(out, out=out)


@named("rbf")
@dataclass(frozen=True, slots=True)
class RBF(Radial):
    """K(x, z) = exp(−γ‖x − z‖²), γ > 0.

    Parameters
    ----------
    gamma : float, "scale" or "median"
        See `svmstat.kernels.resolve_gamma`.

    Notes
    -----
    The same kernel in other notations: exp(−‖x − z‖²/(2σ²)) of [000] has γ = 1/(2σ²), exp(−‖x − z‖²/σ²)
    of [001] has γ = 1/σ²; R's kernlab calls γ ``sigma``; e1071 and scikit-learn call it ``gamma``.
    Distances are summed from differences, not expanded, so that near-duplicates keep their digits
    and duplicates have K = 1 exactly.

    Examples
    --------
    >>> import numpy as np
    >>> RBF(gamma=0.5)(np.array([[0.0], [1.0]]), np.array([[1.0]])).round(4)
    array([[0.6065],
           [1.    ]])
    """

    gamma: float | str = parameter("scale", check_gamma, learn=resolve_gamma, grid=widths)

    def exponents(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write −γ‖x_i − z_j‖² into ``out`` (m, n)."""
        distances(points, columns, 2, -float(self.gamma), out)


@named("poly")
@dataclass(frozen=True, slots=True)
class Polynomial(PointKernel):
    """K(x, z) = (γ x'z + r)^degree, γ > 0, r = ``coef0``.

    A negative ``coef0`` is allowed, although K is then indefinite as a rule.

    Parameters
    ----------
    gamma : float, "scale" or "median"
        See `svmstat.kernels.resolve_gamma`.
    coef0 : float
    degree : int
        At least 1.

    Examples
    --------
    >>> import numpy as np
    >>> Polynomial(gamma=1.0, coef0=1.0, degree=2)(np.array([[2.0]]), np.array([[3.0]]))
    array([[49.]])
    """

    gamma: float | str = parameter("scale", check_gamma, learn=resolve_gamma)
    coef0: float = parameter(0.0, finite)
    degree: int = parameter(3, partial(at_least, least=1))

    @property
    def blur(self) -> float:
        """That of γx'z + r as often as it is multiplied, and of the products."""
        return 2.0 * self.degree

    @property
    def may_be_indefinite(self) -> bool:
        """Whether its gram matrices can have negative eigenvalues."""
        return self.coef0 < 0

    def check_rows(self, X: FloatArray) -> None:
        """Refuse rows (n, p) on which values are of a size that cannot be computed with."""
        product, constant = np.log10(float(self.gamma)) + log10_squared_norm(X), abs(self.coef0)
        base = product if constant == 0.0 else np.logaddexp2(product / _LOG10_2, np.log2(constant)) * _LOG10_2
        check_magnitude(
            float(self.degree * base), f"kernel='poly' of degree={self.degree}",
            "use scale=True, scale the columns, or choose another degree or gamma",
        )  # fmt: skip

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write (γ x_i'z_j + r)^degree into ``out`` (m, n)."""
        products(points, columns, out)
        powers(out, float(self.gamma), self.coef0, self.degree)


def _bounds(name: str, value: object) -> tuple[float, ...] | None:
    """A number for each column, or None: to be found in the training rows."""
    if value is None:
        return None
    given = entries(value)
    if given is None:
        raise refuse(name, value, "a finite number for each column, or None")
    return tuple(finite(f"{name}[{k}]", each) for k, each in enumerate(given))


def _end(which: str, _: object, X: FloatArray, weights: FloatArray | None) -> tuple[float, ...]:
    """The least or the greatest value of each column, in rows of positive weight."""
    present = X if weights is None else X[np.asarray(weights) > 0]
    return tuple(getattr(np, which)(present, axis=0).tolist())


@named("spline")
@dataclass(frozen=True, slots=True)
class Spline(PointKernel):
    """K(x, z) = Σ_k 1 + k1(s)k1(t) + k2(s)k2(t) − k4(|s − t|), the additive cubic spline kernel.

    s and t are the k-th entries of x and z, mapped to [0, 1] by the training range of column k, and
    k1(s) = s − ½, k2 = (k1² − 1/12)/2, k4 = (k1⁴ − k1²/2 + 7/240)/24, the Bernoulli polynomials B_r/r!.

    Parameters
    ----------
    lower, upper : sequence of p floats, optional
        The range of each column; by default that of the training rows.

    Notes
    -----
    The space is one of functions on [0, 1], and the formula is a kernel for |s − t| ≤ 1 only. An entry
    outside the range is moved to the nearer end: the decision function is constant in a column
    beyond its data, and K stays positive semidefinite. A column without range is mapped to 0.

    References
    ----------
    [000: section 3]

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Spline(lower=[0.0], upper=[10.0])
    >>> kernel(np.array([[0.0]]), np.array([[10.0], [99.0]])).round(4)
    array([[0.7583, 0.7583]])
    """

    lower: tuple[float, ...] | None = parameter(None, _bounds, learn=partial(_end, "min"), shown=False)
    upper: tuple[float, ...] | None = parameter(None, _bounds, learn=partial(_end, "max"), shown=False)

    def check_rows(self, X: FloatArray) -> None:
        """Refuse rows (n, p) for which the range is of another p, or ends before it begins."""
        lower, upper = cast("tuple[float, ...]", self.lower), cast("tuple[float, ...]", self.upper)
        for name, ends in (("lower", lower), ("upper", upper)):
            if len(ends) != X.shape[1]:
                raise ArgumentError(f"{name} has {len(ends)} numbers, but the spline kernel has {X.shape[1]} columns.")
        for k, (low, high) in enumerate(zip(lower, upper, strict=True)):
            if low > high:
                raise ArgumentError(f"lower[{k}]={low} is above upper[{k}]={high}: a range ends above where it begins.")

    def prepare(self, X: FloatArray) -> FloatArray:
        """The rows mapped to [0, 1]."""
        lower, upper = np.array(self.lower, dtype=float), np.array(self.upper, dtype=float)
        width = np.where(upper > lower, upper - lower, 1.0)
        unit = (np.asarray(X, dtype=float) - lower) / width
        return np.ascontiguousarray(np.clip(unit, 0.0, 1.0, out=unit))

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write the sums over the columns into ``out`` (m, n)."""
        spline_sums(points, columns, out)
