"""A kernel matrix K = AA' of which only the factor A (n, r) is held."""

from typing import Any, ClassVar

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.solver.gram import Gram, Rows
from svmstat.solver.normal import normal_vector, project

_STRIP = 256
"""Rows of the matrix that are made symmetric at a time."""


class Factor:
    """The rows of a factor A (n, r) as a source of kernel values K = AA'."""

    __slots__ = ("diagonal", "factor")
    blur: ClassVar[float] = 0.0

    def __init__(self, factor: Floats) -> None:
        self.factor = factor
        self.diagonal = np.einsum("ik,ik->i", factor, factor)

    @property
    def vectors(self) -> Floats:
        """A."""
        return self.factor

    def block(self, rows: Rows, columns: Rows | slice) -> Floats:
        """K[rows][:, columns]."""
        return np.asarray(self.factor[rows] @ self.factor[columns].T)

    def gram(self) -> Floats:
        """The full (n, n) matrix, exactly symmetric, in the memory of one."""
        K = self.factor @ self.factor.T
        for start in range(0, len(K), _STRIP):
            strip = slice(start, start + _STRIP)
            K[:start, strip] = K[strip, :start].T
            corner = K[strip, strip]
            corner[:] = np.tril(corner) + np.tril(corner, -1).T
        return K


class LowRank(Gram):
    """The kernel matrix of rows with an explicit map, K = AA'.

    Kβ = A(A'β) takes n·r products where rows of K would take n·n. The normal vector A'β is summed in twice the working
    precision: with a large C its terms cancel.

    Parameters
    ----------
    factor : (n, r), C-contiguous
    """

    __slots__ = ("factor",)
    _is_kept: ClassVar[bool] = False

    def __init__(self, factor: Floats) -> None:
        super().__init__(Factor(factor))
        self.factor = factor

    def __reduce__(self) -> tuple[Any, ...]:
        return LowRank, (self.factor,)

    def part(self, rows: Rows) -> "LowRank":
        """The gram matrix of some of the rows (m,)."""
        return LowRank(self.factor[rows])

    def add(self, rows: Rows, coefficients: Floats, out: Floats) -> None:
        """Add Σ_a coefficients[a] · K[rows[a], :] to ``out``, (n,)."""
        project(self.factor, normal_vector(self.factor, rows, coefficients)[0], out)
