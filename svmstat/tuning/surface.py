"""Estimated error rates over kernels and pairs (ν₊, ν₋), and the best of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.tuning.error_control import Minimax, NeymanPearson, best_cell
from svmstat.tuning.smoothing import smooth

Cell = tuple[int, int, int]
"""A point (s, j, i): the s-th kernel, the j-th ν₋ and the i-th ν₊."""


@dataclass(frozen=True, slots=True, eq=False)
class ErrorSurface:
    """Cross-validated error rates of S kernels and a grid (J, I) of ν₋ and ν₊, or a line (1, I) of both.

    Attributes
    ----------
    nu_event, nu_other : (J, I)
    p_f, p_m : (S, J, I) estimates of P_F and P_M; NaN where there are none
    shift : (S, J, I) what is added to f
    unresolved, constant : (S, J, I) of how many folds ρ could not be resolved, or is zero
    known : (S, J, I) whether the point was looked at
    compared : (S, J, I) whether it was for its own sake, and not for smoothed rates beside it
    """

    nu_event: Floats
    nu_other: Floats
    p_f: Floats
    p_m: Floats
    shift: Floats
    unresolved: NDArray[np.int64]
    constant: NDArray[np.int64]
    known: NDArray[np.bool_]
    compared: NDArray[np.bool_]

    @classmethod
    def unknown(cls, n_kernels: int, nu_event: Floats, nu_other: Floats) -> "ErrorSurface":
        """A surface of which nothing is known, over values (J, I) of ν₊ and ν₋."""
        shape = (n_kernels, *nu_event.shape)
        return cls(
            nu_event, nu_other, np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape),
            np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, bool), np.zeros(shape, bool),
        )  # fmt: skip

    def compare(self, cells: Iterable[Cell]) -> None:
        """Note that points are looked at for their own sake."""
        self.compared[tuple(np.array(list(cells)).T)] = True

    @property
    def shape(self) -> tuple[int, int, int]:
        """(S, J, I): how many kernels, values of ν₋ and values of ν₊ there are."""
        return self.p_f.shape

    def smoothed(self, kind: str | None) -> tuple[Floats, Floats]:
        """P_F and P_M (S, J, I), averaged over the neighbours that are known."""
        return smooth(self.p_f, kind), smooth(self.p_m, kind)

    def best(
        self, criterion: Minimax | NeymanPearson, kind: str | None, cells: Iterable[Cell] | None = None
    ) -> Cell | None:
        """The best of some points, or of all, by the smoothed rates; None if none could be estimated.

        Equal points are decided by P_F + P_M, then for the smoother fit: the earlier kernel, the larger ν.
        """
        some = np.ndindex(*self.shape) if cells is None else cells
        listed = sorted(set(some), key=lambda cell: (cell[0], -cell[1], -cell[2]))
        p_f, p_m = self.smoothed(kind)
        at = tuple(np.array(listed).T)
        chosen = best_cell(criterion, p_f[at], p_m[at])
        return None if chosen < 0 else listed[chosen]
