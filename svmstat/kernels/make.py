"""From the arguments of ``svm()`` to a kernel."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from svmstat._checks import at_least, finite, nearest, refuse
from svmstat.errors import ArgumentError
from svmstat.kernels.base import Kernel
from svmstat.kernels.formulas import RBF, Linear, Polynomial, Spline
from svmstat.kernels.gamma import check_gamma, resolve_gamma
from svmstat.kernels.given import CustomKernel, Precomputed, called
from svmstat.kernels.gram_checks import SYMMETRY
from svmstat.kernels.magnitude import check_magnitude, log10_squared_norm
from svmstat.kernels.pairs import FloatArray

NAMES = ("linear", "rbf", "poly", "spline", "precomputed")

_LOG10_2 = np.log10(2.0)


def make_kernel(
    kernel: str | Callable[[FloatArray, FloatArray], ArrayLike],
    *,
    gamma: object,
    degree: object,
    coef0: object,
    X: FloatArray,
    weights: FloatArray | None = None,
) -> Kernel:
    """The kernel that the arguments of ``svm()`` describe, its parameters resolved on the training rows.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "spline", "precomputed"} or callable
        Name of the kernel, or a function K(X, Z) that returns the cross-gram matrix.
    gamma : {"scale", "median"} or float
        Width of "rbf" and "poly", see `svmstat.kernels.resolve_gamma`.
    degree : int
        Degree of "poly", at least 1.
    coef0 : float
        Constant r of "poly".
    X : ndarray of shape (n, p)
        Training rows on the scale of the fit.
    weights : ndarray of shape (n,), optional
        Case weights; rows of weight zero count as absent.

    Returns
    -------
    Kernel
        The kernel.

    Raises
    ------
    ArgumentError
        For an unknown kernel, a parameter outside what is allowed (also one that the kernel does not use), or
        a function that does not behave like a kernel on a few rows of ``X``.
    DataError
        When the values of the kernel on ``X`` are of a size that cannot be computed with.

    Examples
    --------
    >>> import numpy as np
    >>> make_kernel("rbf", gamma="scale", degree=3, coef0=0.0, X=np.array([[1.0], [3.0]]))
    RBF(gamma=1.0)
    """
    check_gamma(gamma)
    exponent, constant = at_least("degree", degree, 1), finite("coef0", coef0)
    present = X if weights is None else X[np.asarray(weights) > 0]
    if callable(kernel):
        custom = CustomKernel(kernel)
        _probe(custom, np.ascontiguousarray(present[:16], dtype=float))
        return custom
    if not isinstance(kernel, str) or kernel not in NAMES:
        hint = nearest(kernel, NAMES) if isinstance(kernel, str) else ""
        raise refuse("kernel", kernel, f"one of {', '.join(map(repr, NAMES))} or a function K(X, Z){hint}")
    match kernel:
        case "linear":
            return _of_products(Linear(), present)
        case "rbf":
            return RBF(resolve_gamma(gamma, X, weights))
        case "poly":
            poly = Polynomial(resolve_gamma(gamma, X, weights), constant, exponent)
            return _of_products(poly, present)
        case "spline":
            return Spline(present.min(axis=0), present.max(axis=0))
        case _:
            return Precomputed()


def _of_products(kernel: Linear | Polynomial, X: FloatArray) -> Kernel:
    """The kernel, if its values on the rows of X (m, p) are of a size that can be computed with."""
    squared = log10_squared_norm(X)
    if isinstance(kernel, Linear):
        check_magnitude(squared, "kernel='linear'", "use scale=True, or scale the columns")
        return kernel
    product, constant = np.log10(kernel.gamma) + squared, abs(kernel.coef0)
    base = product if constant == 0.0 else np.logaddexp2(product / _LOG10_2, np.log2(constant)) * _LOG10_2
    check_magnitude(
        float(kernel.degree * base), f"kernel='poly' of degree={kernel.degree}",
        "use scale=True, scale the columns, or choose another degree or gamma",
    )  # fmt: skip
    return kernel


def _probe(kernel: CustomKernel, X: FloatArray) -> None:
    """Refuse a function that is not a symmetric function of pairs of rows on the few rows of X (m, p)."""
    what = f"kernel={called(kernel.function)}"
    try:
        whole, part = kernel(X, X), kernel(X, X[:3])
    except ArgumentError:
        raise
    except Exception as error:
        raise ArgumentError(f"{what} failed on rows of the data: {type(error).__name__}: {error}") from error
    tolerance = SYMMETRY * np.abs(whole).max(initial=0.0)
    if (np.abs(whole - whole.T) > tolerance).any():
        raise ArgumentError(f"{what} is not symmetric on rows of the data: K(X, Z) must equal K(Z, X)'.")
    if (np.abs(whole[:, :3] - part) > tolerance).any():
        raise ArgumentError(f"{what} gives a pair of rows another value when other rows are absent.")
