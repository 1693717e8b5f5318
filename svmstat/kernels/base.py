"""What a kernel is, and how the rows of its gram matrix are computed: on demand or all at once."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from svmstat.kernels.pairs import FloatArray, in_threads, plain

Indices = NDArray[np.intp] | list[int] | slice

WORTH_THREADS = 12  # tiles that take longer than starting threads
TILE = 256  # rows and columns of a block of the gram matrix; 512 KiB stay in the second-level cache


class Rows(ABC):
    """One gram matrix, computed in parts on demand or all at once.

    Attributes
    ----------
    diagonal : ndarray of shape (n,)
        K(x_i, x_i).
    """

    __slots__ = ()
    diagonal: FloatArray

    @abstractmethod
    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns] (len(rows), len(columns)), float64 and C-contiguous."""

    @abstractmethod
    def gram(self) -> FloatArray:
        """The whole matrix (n, n), exactly symmetric."""


class Kernel(ABC):
    """A symmetric function K(x, z) of two rows."""

    __slots__ = ()
    name: ClassVar[str]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, for the summary."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.repr}  # type: ignore[arg-type]

    @abstractmethod
    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The cross-gram matrix K(x_i, z_j) (n, m), float64 and C-contiguous."""

    @abstractmethod
    def bind(self, X: FloatArray) -> Rows:
        """What does not change from row to row of the gram matrix of ``X``, computed once."""

    def diagonal(self, X: FloatArray) -> FloatArray:
        """K(x_i, x_i) (n,)."""
        return self.bind(X).diagonal

    def rows(self, X: FloatArray, indices: Indices) -> FloatArray:
        """The rows K[indices, :] (len(indices), n) of the gram matrix of ``X``."""
        return self.bind(X).block(indices, slice(None))


class PointKernel(Kernel):
    """A kernel with a formula: its values depend on the two rows only, bit for bit."""

    __slots__ = ()

    @abstractmethod
    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write K(x_i, z_j) into ``out`` (m, n); the x_i are rows of (m, p), the z_j columns of (p, n)."""

    def prepare(self, X: FloatArray) -> FloatArray:
        """The rows (n, p) in the form that ``fill`` reads."""
        return np.array(X, dtype=float, order="C")  # a copy, that later changes of X do not reach

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The cross-gram matrix K(x_i, z_j) (n, m), float64 and C-contiguous."""
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
        points = self.prepare(X)
        return PointRows(self, points, np.ascontiguousarray(points.T), _diagonal(self, points))


@dataclass(frozen=True, slots=True)
class PointRows(Rows):
    """Rows from a formula: ``points`` (n, p), ``columns`` (p, n) its transpose, both C-contiguous."""

    kernel: PointKernel
    points: FloatArray
    columns: FloatArray
    diagonal: FloatArray

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns], each value as in the whole matrix."""
        points = plain(self.points[rows])
        across = plain(self.columns[:, columns]) if isinstance(columns, slice) else self.columns.take(columns, axis=1)
        out = np.empty((len(points), across.shape[1]))
        self.kernel.fill(points, across, out)
        return out

    def gram(self) -> FloatArray:
        """The whole matrix: tiles on and below the diagonal, each written twice, on all cores if it is large."""
        n = len(self.points)
        out = np.empty((n, n))
        blocks = [slice(start, min(start + TILE, n)) for start in range(0, n, TILE)]
        points, columns = plain(self.points), [plain(self.columns[:, block]) for block in blocks]

        def tile(position: tuple[int, int]) -> None:
            below, left = blocks[position[0]], blocks[position[1]]
            values = np.empty((below.stop - below.start, left.stop - left.start))
            self.kernel.fill(points[below], columns[position[1]], values)
            out[below, left] = values
            if below != left:
                out[left, below] = values.T

        positions = [(i, j) for i in range(len(blocks)) for j in range(i + 1)]
        for _ in in_threads(tile, positions) if len(positions) >= WORTH_THREADS else map(tile, positions):
            pass
        return out


def _diagonal(kernel: PointKernel, points: FloatArray, width: int = 32) -> FloatArray:
    """K(x_i, x_i) (n,) from small tiles, by the same arithmetic as the rows."""
    diagonal = np.empty(len(points))
    for start in range(0, len(points), width):
        block = points[start : start + width]
        values = np.empty((len(block), len(block)))
        kernel.fill(block, np.ascontiguousarray(block.T), values)
        diagonal[start : start + width] = values.diagonal()
    return diagonal


def gram(kernel: Kernel, X: FloatArray) -> FloatArray:
    """The gram matrix of all pairs of rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, p)
        The rows; for `Precomputed` the gram matrix itself, which is returned uncopied.

    Returns
    -------
    ndarray of shape (n, n)
        Exactly symmetric, C-contiguous. For a kernel with a formula its rows are, bit for bit, those of
        ``kernel.rows``, and the memory beyond the result is a few small blocks.

    Raises
    ------
    DataError
        When a custom kernel is not symmetric on ``X``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import Linear
    >>> gram(Linear(), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([[1., 1.],
           [1., 2.]])
    """
    return kernel.bind(X).gram()
