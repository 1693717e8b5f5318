"""Kernels given from outside: a matrix or a function."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from svmstat._tools.checks import refuse
from svmstat.errors import ArgumentError, DataError
from svmstat.kernels.base import Kernel
from svmstat.kernels.gram_checks import SYMMETRY, symmetric
from svmstat.kernels.magnitude import check_magnitude, log10_largest
from svmstat.kernels.names import named
from svmstat.kernels.pairs import FloatArray, plain
from svmstat.kernels.rows import Indices, Rows

_FEW = 16
"""Rows on which a function is tried."""


@named("precomputed")
@dataclass(frozen=True, slots=True)
class Precomputed(Kernel):
    """K(x_i, x_j) given: the data are the gram matrix itself.

    ``X`` is the gram matrix (n, n) in `gram`, `bind`, `rows` and `diagonal`; in a call it holds the kernel
    values (m, n) of new rows against the n training rows ``Z``.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> Precomputed().rows(K, [1])
    array([[1., 2.]])
    """

    of_rows: ClassVar[bool] = False
    may_be_indefinite: ClassVar[bool] = True

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The kernel values ``X`` (m, n) themselves; ``Z`` has the n training rows."""
        K = np.ascontiguousarray(X, dtype=float)
        if K.ndim != 2 or K.shape[1] != len(Z):
            raise DataError(
                f"kernel='precomputed': new data must have one column for each of the {len(Z)} training "
                f"rows, got shape {K.shape}."
            )
        return K

    def bind(self, X: FloatArray) -> "GramRows":
        """The gram matrix, not copied unless it is read-only or not C-contiguous."""
        matrix = plain(X)
        return GramRows(matrix, matrix.diagonal().copy())


@dataclass(frozen=True, slots=True)
class GramRows(Rows):
    """Rows of a gram matrix in memory: ``matrix`` (n, n)."""

    matrix: FloatArray
    diagonal: FloatArray

    @property
    def blur(self) -> float:
        """They are what is given."""
        return 0.0

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns]."""
        return np.ascontiguousarray(self.matrix[rows][:, columns])

    def gram(self) -> FloatArray:
        """The matrix itself."""
        return self.matrix


@dataclass(frozen=True, slots=True)
class CustomKernel(Kernel):
    """K(x, z) by a function of the user: ``function(X, Z)`` returns the cross-gram matrix (n, m).

    It is called with parts of the data, possibly in several threads at once.

    Raises
    ------
    ArgumentError
        When it is no function, or returns anything but a finite real array of shape (n, m).

    Examples
    --------
    >>> import numpy as np
    >>> def tanimoto(X, Z):
    ...     both = X @ Z.T
    ...     return both / ((X**2).sum(1)[:, None] + (Z**2).sum(1) - both)
    >>> CustomKernel(tanimoto)(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]]))
    array([[0.5]])
    """

    function: Callable[[FloatArray, FloatArray], ArrayLike]
    name: ClassVar[str] = "custom"
    may_be_indefinite: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise refuse("function", self.function, "a function K(X, Z)")

    @property
    def parameters(self) -> dict[str, Any]:
        """The name of the function."""
        return {"function": called(self.function)}

    def __repr__(self) -> str:
        return f"CustomKernel({called(self.function)})"

    def __str__(self) -> str:
        return called(self.function)

    def check_rows(self, X: FloatArray) -> None:
        """Refuse a function that is not a symmetric function of pairs of rows on the first few rows of X (n, p)."""
        what, few = f"kernel={called(self.function)}", np.ascontiguousarray(X[:_FEW], dtype=float)
        try:
            whole, part, other = self(few, few), self(few, few[:3]), self(few[-3:], few)
        except ArgumentError:
            raise
        except Exception as error:
            shown = f"{type(error).__name__}: {error} ({X.shape[1]} columns)"
            raise ArgumentError(f"{what} failed on rows of the data: {shown}") from error
        tolerance = SYMMETRY * np.abs(whole).max(initial=0.0)
        if (np.abs(whole - whole.T) > tolerance).any():
            raise ArgumentError(f"{what} is not symmetric on rows of the data: K(X, Z) must equal K(Z, X)'.")
        if (np.abs(whole[:, :3] - part) > tolerance).any() or (np.abs(whole[-3:] - other) > tolerance).any():
            raise ArgumentError(f"{what} gives a pair of rows another value when other rows are absent.")

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The cross-gram matrix (n, m) that the function returns, checked."""
        X, Z = (np.asarray(rows, dtype=float) for rows in (X, Z))
        K = np.asarray(self.function(X, Z))
        what = f"kernel={called(self.function)}"
        if K.shape != (len(X), len(Z)) or K.dtype.kind not in "biuf":
            raise ArgumentError(
                f"{what} returned an array of shape {K.shape} and type {K.dtype}: "
                f"for {len(X)} and {len(Z)} rows it must return real numbers of shape {(len(X), len(Z))}."
            )
        K = np.ascontiguousarray(K, dtype=float)
        if not np.isfinite(K).all():
            i, j = np.argwhere(~np.isfinite(K))[0].tolist()
            raise ArgumentError(f"{what} returned {K[i, j]} at ({i}, {j}): its values must be finite.")
        return K

    def bind(self, X: FloatArray) -> "CustomRows":
        """The rows and, from small blocks of them, the diagonal."""
        points = np.array(X, dtype=float, order="C")
        starts = range(0, len(points), 32)
        blocks = [self(block, block) for block in (points[start : start + 32] for start in starts)]
        largest = max((log10_largest(block) for block in blocks), default=-np.inf)
        check_magnitude(largest, f"kernel={called(self.function)}", "multiply the function by a number")
        return CustomRows(self, points, np.concatenate([block.diagonal() for block in blocks]))


@dataclass(frozen=True, slots=True)
class CustomRows(Rows):
    """Rows by the user's function: ``points`` (n, p)."""

    kernel: CustomKernel
    points: FloatArray
    diagonal: FloatArray

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns], by one call."""
        K = self.kernel(self.points[rows], self.points[columns])
        return symmetric(K, self._called) if isinstance(rows, slice) and rows == columns else K

    def gram(self) -> FloatArray:
        """The whole matrix by one call, made exactly symmetric."""
        return symmetric(self.kernel(self.points, self.points), self._called)

    @property
    def _called(self) -> str:
        return f"the matrix of kernel={called(self.kernel.function)}"


def called(function: object) -> str:
    """The name of a function."""
    return getattr(function, "__name__", type(function).__name__)
