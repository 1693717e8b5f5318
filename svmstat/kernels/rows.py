"""A gram matrix in parts: blocks of it on demand, or all of it at once."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.threads import in_threads
from svmstat.kernels.pairs import FloatArray

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

    @property
    def vectors(self) -> FloatArray | None:
        """A (n, r), if the kernel values are the products AA'; None if they are something else."""
        return None

    @property
    def blur(self) -> float:
        """How far values K_ij may be off, in units in the last place of √(K_ii K_jj)."""
        return 1.0

    @abstractmethod
    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns] (len(rows), len(columns)), float64 and C-contiguous.

        A block on the diagonal, whose rows and columns are one slice, is exactly symmetric.
        """

    def gram(self) -> FloatArray:
        """The whole matrix (n, n), exactly symmetric: tiles on and below the diagonal, each written twice, on all cores
        if it is large.
        """
        n = len(self.diagonal)
        out = np.empty((n, n))
        sides = [slice(start, min(start + TILE, n)) for start in range(0, n, TILE)]

        def tile(position: tuple[int, int]) -> None:
            below, left = sides[position[0]], sides[position[1]]
            values = self.block(below, left)
            out[below, left] = values
            if below != left:
                out[left, below] = values.T

        positions = [(i, j) for i in range(len(sides)) for j in range(i + 1)]
        for _ in in_threads(tile, positions) if len(positions) >= WORTH_THREADS else map(tile, positions):
            pass
        return out
