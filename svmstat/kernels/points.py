"""Kernels with a formula: every value is computed from its two rows alone."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmstat._tools.threads import in_threads
from svmstat.errors import ArgumentError
from svmstat.kernels.base import Kernel
from svmstat.kernels.pairs import FloatArray, plain
from svmstat.kernels.rows import TILE, Indices, Rows

_SMALL = 32
"""Rows of a tile on the diagonal."""


class PointKernel(Kernel):
    """A kernel with a formula: its values depend on the two rows only, bit for bit.

    Attributes
    ----------
    is_product : bool
        Whether values are the products of prepared rows.
    """

    __slots__ = ()
    is_product: ClassVar[bool] = False

    @property
    def blur(self) -> float:
        """How far values may be off, as in `Rows`."""
        return 1.0

    @abstractmethod
    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write K(x_i, z_j) into ``out`` (m, n); the x_i are rows of (m, p), the z_j columns of (p, n)."""

    def prepare(self, X: FloatArray) -> FloatArray:
        """The rows (n, p) in the form that ``fill`` reads."""
        return np.array(X, dtype=float, order="C")  # a copy, that later changes of X do not reach

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The cross-gram matrix K(x_i, z_j) (n, m), float64 and C-contiguous."""
        self.require_resolved()
        if np.shape(X)[1] != np.shape(Z)[1]:
            found = f"{np.shape(X)[1]} and {np.shape(Z)[1]}"
            raise ArgumentError(f"{self!r} is of two rows with the same columns: X and Z have {found}.")
        points, columns = self.prepare(X), np.ascontiguousarray(self.prepare(Z).T)
        out = np.empty((len(points), columns.shape[1]))
        height = max(1, TILE * TILE // max(1, columns.shape[1]))

        def strip(start: int) -> None:
            some = slice(start, start + height)
            self.fill(points[some], columns, out[some])

        for _ in in_threads(strip, range(0, len(points), height)):
            pass
        return out

    def bind(self, X: FloatArray) -> "PointRows":
        """The prepared rows, their transpose and the diagonal."""
        self.require_resolved()
        points = self.prepare(X)
        return PointRows(self, points, np.ascontiguousarray(points.T), _diagonal(self, points))


@dataclass(frozen=True, slots=True)
class PointRows(Rows):
    """Rows from a formula: ``points`` (n, p), ``columns`` (p, n) its transpose, both C-contiguous."""

    kernel: PointKernel
    points: FloatArray
    columns: FloatArray
    diagonal: FloatArray

    @property
    def vectors(self) -> FloatArray | None:
        """The points, if their products are the values."""
        return self.points if self.kernel.is_product else None

    @property
    def blur(self) -> float:
        """That of the kernel."""
        return self.kernel.blur

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns], each value as in the whole matrix."""
        points = plain(self.points[rows])
        across = plain(self.columns[:, columns]) if isinstance(columns, slice) else self.columns.take(columns, axis=1)
        out = np.empty((len(points), across.shape[1]))
        self.kernel.fill(points, across, out)
        return out


def _diagonal(kernel: PointKernel, points: FloatArray) -> FloatArray:
    """K(x_i, x_i) (n,) from small tiles, by the same arithmetic as the rows."""
    diagonal = np.empty(len(points))
    for start in range(0, len(points), _SMALL):
        block = points[start : start + _SMALL]
        values = np.empty((len(block), len(block)))
        kernel.fill(block, np.ascontiguousarray(block.T), values)
        diagonal[start : start + _SMALL] = values.diagonal()
    return diagonal
