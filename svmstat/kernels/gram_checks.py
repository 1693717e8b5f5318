"""Gram matrices from outside: checked, and a warning when no kernel can have made them."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal, eigvalsh

from svmstat._tools.doubles import EPS
from svmstat._tools.warn import warn
from svmstat.errors import DataError, DesignWarning
from svmstat.kernels.magnitude import check_magnitude, log10_largest
from svmstat.kernels.pairs import FloatArray

BLOCK = 256  # rows at a time, so that no temporary has the size of the matrix
SYMMETRY = 1e-8  # asymmetry, relative to the largest entry, that is taken for rounding
INDEFINITE = 1e-8  # negative eigenvalue, relative to the largest, that is more than rounding

NOT_CONVEX = (
    "the kernel matrix has clearly negative eigenvalues, so the problem is not convex: "
    "the fit is a stationary point, and its certificate does not say that it is the best one. "
    "What is held out is by stationary points near it."
)


def check_gram(K: ArrayLike, name: str = "data") -> FloatArray:
    """A precomputed gram matrix, checked.

    Parameters
    ----------
    K : array_like of shape (n, n)
        The matrix.
    name : str
        What to call it in an error.

    Returns
    -------
    ndarray of shape (n, n)
        ``K`` itself if it is float64, C-contiguous and exactly symmetric, else a copy that is.

    Raises
    ------
    DataError
        When K is not a square matrix of finite numbers, not symmetric to 1e-8 of its largest entry, or of a size that
        cannot be computed with.

    Examples
    --------
    >>> check_gram([[1, 2], [3, 4]])
    Traceback (most recent call last):
    svmstat.errors.DataError: data is not a symmetric matrix: entry (0, 1) is 2.0, but (1, 0) is 3.0.
    """
    try:
        matrix = np.ascontiguousarray(K, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} is not a gram matrix of numbers: {error}.") from error
    if np.ndim(K) != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise DataError(f"{name} is not a gram matrix: it must be square, got shape {np.shape(K)}.")
    checked = symmetric(matrix, name)
    check_magnitude(log10_largest(checked), name, "multiply the matrix by a number")
    return checked


def clearly_indefinite(K: FloatArray, *, sum_given: bool = False) -> bool:
    """Whether K has a negative eigenvalue beyond rounding: below −1e-8 times its largest in absolute value.

    Up to n = 1000 from all eigenvalues. Beyond that from 100 steps of Lanczos with a fixed start: its values
    lie inside the spectrum, so True is certain, while a small negative eigenvalue can be missed.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A symmetric matrix.
    sum_given : bool
        Ask this of K about its means, which is β'Kβ where Σβ = 0: the dual of a machine with an intercept is convex
        wherever that is never negative [Schölkopf 2000], as for K = −‖x − z‖.

    Examples
    --------
    >>> import numpy as np
    >>> clearly_indefinite(np.array([[1.0, 2.0], [2.0, 1.0]])), clearly_indefinite(np.ones((2, 2)))
    (True, False)
    >>> x = np.array([1.0, 2.0, 4.0])
    >>> distances = np.abs(x[:, None] - x)
    >>> clearly_indefinite(-distances), clearly_indefinite(-distances, sum_given=True)
    (True, False)
    """
    rounding = 0.0
    if sum_given:
        rounding = len(K) * EPS * np.abs(K).max()
        K = about_means(K)
    values = _eigenvalues(K)
    return bool(values.min() < -max(INDEFINITE * np.abs(values).max(), rounding))


def about_means(K: FloatArray) -> FloatArray:
    """K_ij − mean of row i − mean of column j + mean, exactly symmetric as K (n, n) is."""
    means = K.mean(axis=1)
    shift = means - 0.5 * means.mean()
    return np.asarray(K - (shift[:, None] + shift))


def _eigenvalues(K: FloatArray) -> FloatArray:
    """Those of the symmetric matrix K (n, n), or some values inside its spectrum."""
    return np.asarray(eigvalsh(K)) if len(K) <= 1000 else _lanczos(K, steps=100)


def warn_if_indefinite(K: FloatArray) -> None:
    """Issue a `DesignWarning` when the gram matrix K (n, n) is clearly indefinite.

    Examples
    --------
    >>> import numpy as np
    >>> warn_if_indefinite(np.eye(2))
    """
    if clearly_indefinite(K):
        warn(NOT_CONVEX, DesignWarning)


def symmetric(K: FloatArray, name: str) -> FloatArray:
    """K (n, n) with rounding differences between (i, j) and (j, i) averaged; K itself when there are none."""
    blocks = [slice(start, start + BLOCK) for start in range(0, len(K), BLOCK)]
    largest = np.max([np.abs(K[some]).max() for some in blocks], initial=0.0)
    if not np.isfinite(largest):
        i = next(i for i, row in enumerate(K) if not np.isfinite(row).all())
        j = int(np.argmin(np.isfinite(K[i])))
        raise DataError(f"{name} must be finite, but entry ({i}, {j}) is {K[i, j]}.")
    exact = True
    for some in blocks:
        difference = np.abs(K[some, some.start :] - K[some.start :, some].T)
        if difference.max() > SYMMETRY * largest:
            i, j = (np.argwhere(difference > SYMMETRY * largest)[0] + some.start).tolist()
            raise DataError(
                f"{name} is not a symmetric matrix: entry ({i}, {j}) is {K[i, j]}, but ({j}, {i}) is {K[j, i]}."
            )
        exact = exact and not difference.any()
    if exact:
        return K
    K = K.copy()
    for some in blocks:
        mean = 0.5 * K[some, some.start :] + 0.5 * K[some.start :, some].T
        K[some, some.start :], K[some.start :, some] = mean, mean.T
    return K


def _lanczos(K: FloatArray, steps: int) -> FloatArray:
    """Ritz values (at most ``steps``) of the symmetric matrix K (n, n), all inside its spectrum."""
    basis = np.zeros((steps, len(K)))
    # Multiples of the golden ratio modulo 1: fixed, and orthogonal to no eigenvector with a simple pattern.
    start = np.modf(np.arange(1, len(K) + 1) * 0.6180339887498949)[0] - 0.4
    basis[0] = start / np.linalg.norm(start)
    alpha, beta = np.zeros(steps), np.zeros(steps)
    for k in range(steps):
        following = K @ basis[k]
        alpha[k] = following @ basis[k]
        for _ in range(2):  # once leaves rounding that the second removes
            following -= (basis[: k + 1] @ following) @ basis[: k + 1]
        beta[k] = np.linalg.norm(following)
        if k + 1 == steps or beta[k] <= 1e-12 * np.abs(alpha[: k + 1]).max():
            break
        basis[k + 1] = following / beta[k]
    return np.asarray(eigh_tridiagonal(alpha[: k + 1], beta[:k], eigvals_only=True))
