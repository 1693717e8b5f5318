"""Gram matrices about the centre of their rows, with the digits that a large constant would take."""

import numpy as np

from svmstat.kernels.base import Kernel
from svmstat.kernels.formulas import RBF
from svmstat.kernels.given import Precomputed
from svmstat.kernels.pairs import FloatArray, squared_distances


def centred_gram(kernel: Kernel, X: FloatArray) -> FloatArray:
    """⟨φ(x_i) − φ̄, φ(x_j) − φ̄⟩ (n, n) = K_ij − mean of row i − mean of column j + mean, φ̄ the mean of φ over the rows.

    A decision function Σ β_i K(x_i, ·) + b with Σβ = 0 is the same with it, but for its b. For a wide rbf kernel, whose
    values are all nearly one, it starts from K − 1, which has digits where K has none left.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, p)
        The rows; for `Precomputed` the gram matrix.

    Returns
    -------
    ndarray of shape (n, n)
        Exactly symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import RBF, Linear
    >>> centred_gram(Linear(), np.array([[1.0], [3.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> centred_gram(RBF(1e-20), np.array([[1.0], [3.0]]))
    array([[ 2.e-20, -2.e-20],
           [-2.e-20,  2.e-20]])
    """
    K = _without_constant(kernel, X)
    means = K.mean(axis=1)
    shift = means - 0.5 * means.mean()
    return K - (shift[:, None] + shift)


def _without_constant(kernel: Kernel, X: FloatArray) -> FloatArray:
    """K, or K − 1 for the rbf kernel, (n, n)."""
    if isinstance(kernel, RBF):
        points = kernel.prepare(X)
        K = np.empty((len(points), len(points)))
        squared_distances(points, np.ascontiguousarray(points.T), -float(kernel.gamma), K)
        return np.expm1(K, out=K)
    if isinstance(kernel, Precomputed):
        return np.array(X, dtype=float)
    return kernel.bind(X).gram()
