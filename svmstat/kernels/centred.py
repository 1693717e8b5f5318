"""Kernels about the centre of their rows, with the digits that a large constant would take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from svmstat._tools.checks import refuse
from svmstat._tools.repeats import distinct_rows
from svmstat._tools.threads import in_threads
from svmstat.kernels.base import Kernel, Wrapped, check_part
from svmstat.kernels.gram_checks import about_means
from svmstat.kernels.pairs import FloatArray, plain, weighted_sums
from svmstat.kernels.rows import TILE, Indices, Rows


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
    return about_means(kernel.without_constant().bind(X).gram())


@dataclass(frozen=True, slots=True, eq=False)
class Centre:
    """Where φ̄ is: a mean over rows, equal to another where all numbers are.

    Attributes
    ----------
    rows : (G, p) the distinct rows, in the order of their values
    weights : (G,) the sums of their weights
    level : the mean ⟨φ̄, φ̄⟩ over all pairs of them of the kernel without its constant
    """

    rows: FloatArray
    weights: FloatArray
    level: float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Centre) and self._numbers() == other._numbers()

    def __hash__(self) -> int:
        return hash(self._numbers())

    def _numbers(self) -> tuple[object, ...]:
        return self.rows.shape, self.rows.tobytes(), self.weights.tobytes(), self.level


@dataclass(frozen=True, slots=True, repr=False)
class Centred(Wrapped):
    """K(x, z) = ⟨φ(x) − φ̄, φ(z) − φ̄⟩, φ̄ the weighted mean over the training rows of φ, the feature map of K_1.

    That is K_1(x, z) − m(x) − m(z) + m̄ with m(x) = Σ_i w_i K_1(x, x_i) / Σw and m̄ the mean of m. The functions of its
    space have the mean Σ_i w_i h(x_i) = 0. A machine has the same f with it as with K_1, its intercept taking the rest.

    Parameters
    ----------
    kernel : Kernel
        K_1.
    centre : Centre, optional
        The rows and their weights, which `resolve` finds.

    Notes
    -----
    A value needs those of K_1 with all training rows: the gram matrix costs twice that of K_1, new rows as much as
    prediction with all rows as support vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import Linear
    >>> X = np.array([[1.0], [3.0], [8.0]])
    >>> Centred(Linear()).resolve(X)(X, X)
    array([[ 9.,  3., -12.],
           [ 3.,  1.,  -4.],
           [-12., -4., 16.]])
    """

    kernel: Kernel
    centre: Centre | None = None
    name: ClassVar[str] = "centred"

    def __post_init__(self) -> None:
        check_part("kernel", self.kernel)
        if self.centre is not None and not isinstance(self.centre, Centre):
            raise refuse("centre", self.centre, "a Centre, or None: to be found in the training rows")

    def written(self, text: Callable[[Any], str]) -> str:
        """Centred(K_1)."""
        return f"Centred({text(self.kernel)})"

    def without_constant(self) -> Kernel:
        """The kernel itself, which has none."""
        return self

    @property
    def unresolved(self) -> tuple[str, ...]:
        """The names of what has no number yet, the centre among it."""
        return (*(() if self.centre is not None else ("centre",)), *self.kernel.unresolved)

    def resolve(
        self, X: FloatArray, weights: FloatArray | None = None, columns: Mapping[str, slice] | None = None
    ) -> Kernel:
        """The kernel resolved on these rows, and centred there unless it has a centre."""
        kernel = self.kernel.resolve(X, weights, columns)
        if self.centre is not None:
            return Centred(kernel, self.centre)
        X = np.asarray(X, dtype=float)
        w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
        X, w = X[w > 0], w[w > 0]
        found = distinct_rows(X, w)
        rows, sums = plain(X[found.first]), found.weights
        means = _means(kernel.without_constant(), rows, rows, sums)
        return Centred(kernel, Centre(rows, sums, float((sums * means).sum() / sums.sum())))

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The cross-gram matrix K(x_i, z_j) (n, m)."""
        return self.kernel.without_constant()(X, Z) - (self._shift(X)[:, None] + self._shift(Z))

    def bind(self, X: FloatArray) -> "CentredRows":
        """The kernel on the rows of X, and what is subtracted from each."""
        shift, bound = self._shift(X), self.kernel.without_constant().bind(X)
        return CentredRows(bound, shift, bound.diagonal - (shift + shift))

    def _shift(self, X: FloatArray) -> FloatArray:
        """m(x_i) − m̄/2 (n,): K is K_1 less the sum of those of its two rows."""
        self.require_resolved()
        assert self.centre is not None
        means = _means(self.kernel.without_constant(), X, self.centre.rows, self.centre.weights)
        return means - 0.5 * self.centre.level


@dataclass(frozen=True, slots=True)
class CentredRows(Rows):
    """Rows less what is subtracted from each row and each column: ``shift`` (n,)."""

    bound: Rows
    shift: FloatArray
    diagonal: FloatArray

    @property
    def blur(self) -> float:
        """That of the values from which means are subtracted."""
        return self.bound.blur

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns]."""
        return self.bound.block(rows, columns) - (self.shift[rows][:, None] + self.shift[columns])


def _means(kernel: Kernel, X: FloatArray, rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Σ_j w_j K(x_i, z_j) / Σw (n,) for each row of X, each in the same order of addition whatever the other rows."""
    sums, weights = np.empty(len(X)), plain(weights)
    height, between = max(1, TILE * TILE // len(rows)), values_between(kernel, X, rows)

    def strip(start: int) -> None:
        some = slice(start, start + height)
        weighted_sums(plain(between(some)), weights, sums[some])

    for _ in in_threads(strip, range(0, len(X), height)):
        pass
    return np.asarray(sums / weights.sum())


def values_between(kernel: Kernel, X: FloatArray, rows: FloatArray) -> Callable[[slice], FloatArray]:
    """K(X[some], rows); of a kernel with centred parts, a call of which takes means over all rows, these taken once."""
    if not _has_centres(kernel):
        return lambda some: kernel(X[some], rows)
    n, bound = len(X), kernel.bind(np.vstack([X, rows]))
    return lambda some: bound.block(np.arange(n)[some], slice(n, n + len(rows)))


def _has_centres(kernel: Kernel) -> bool:
    return isinstance(kernel, Centred) or any(map(_has_centres, kernel.parts))
