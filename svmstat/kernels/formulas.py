"""Kernels with a formula, each an object whose docstring it is."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from svmstat._checks import at_least, finite, positive
from svmstat.kernels.base import PointKernel
from svmstat.kernels.pairs import FloatArray, powers, products, spline_sums, squared_distances


@dataclass(frozen=True, slots=True)
class Linear(PointKernel):
    """K(x, z) = x'z.

    Examples
    --------
    >>> import numpy as np
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    name: ClassVar[str] = "linear"

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write x_i'z_j into ``out`` (m, n)."""
        products(points, columns, out)


@dataclass(frozen=True, slots=True)
class RBF(PointKernel):
    """K(x, z) = exp(−γ‖x − z‖²), γ > 0.

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

    gamma: float
    name: ClassVar[str] = "rbf"

    def __post_init__(self) -> None:
        positive("gamma", self.gamma)

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write exp(−γ‖x_i − z_j‖²) into ``out`` (m, n)."""
        squared_distances(points, columns, -float(self.gamma), out)
        np.exp(out, out=out)


@dataclass(frozen=True, slots=True)
class Polynomial(PointKernel):
    """K(x, z) = (γ x'z + r)^degree, γ > 0, r = ``coef0``.

    A negative ``coef0`` is allowed, although K is then indefinite as a rule.

    Examples
    --------
    >>> import numpy as np
    >>> Polynomial(gamma=1.0, coef0=1.0, degree=2)(np.array([[2.0]]), np.array([[3.0]]))
    array([[49.]])
    """

    gamma: float
    coef0: float
    degree: int
    name: ClassVar[str] = "poly"

    def __post_init__(self) -> None:
        positive("gamma", self.gamma)
        finite("coef0", self.coef0)
        at_least("degree", self.degree, 1)

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write (γ x_i'z_j + r)^degree into ``out`` (m, n)."""
        products(points, columns, out)
        powers(out, float(self.gamma), float(self.coef0), int(self.degree))


@dataclass(frozen=True, slots=True, eq=False)
class Spline(PointKernel):
    """K(x, z) = Σ_k 1 + k1(s)k1(t) + k2(s)k2(t) − k4(|s − t|), the additive cubic spline kernel.

    s and t are the k-th entries of x and z, mapped to [0, 1] by the training range of column k, and
    k1(s) = s − ½, k2 = (k1² − 1/12)/2, k4 = (k1⁴ − k1²/2 + 7/240)/24, the Bernoulli polynomials B_r/r!.

    Parameters
    ----------
    lower, upper : ndarray of shape (p,)
        Training range of each column.

    Notes
    -----
    The space is one of functions on [0, 1], and the formula is a kernel for |s − t| ≤ 1 only. An entry
    outside the training range is moved to the nearer end: the decision function is constant in a column
    beyond its data, and K stays positive semidefinite. A column without range is mapped to 0.

    References
    ----------
    Wahba, Lin & Zhang, "GACV for support vector machines", section 3 [000].

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Spline(lower=np.array([0.0]), upper=np.array([10.0]))
    >>> kernel(np.array([[0.0]]), np.array([[10.0], [99.0]])).round(4)
    array([[0.7583, 0.7583]])
    """

    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    name: ClassVar[str] = "spline"

    def prepare(self, X: FloatArray) -> FloatArray:
        """The rows mapped to [0, 1]."""
        width = np.where(self.upper > self.lower, self.upper - self.lower, 1.0)
        unit = (np.asarray(X, dtype=float) - self.lower) / width
        return np.ascontiguousarray(np.clip(unit, 0.0, 1.0, out=unit))

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write the sums over the columns into ``out`` (m, n)."""
        spline_sums(points, columns, out)
