"""Searches of (γ, ν₋, ν₊) for the 2ν-SVM: the whole grid, or coordinate descent along its lines [004: section 3].

A point of the grid is (s, j, i): the s-th kernel, the j-th ν₋ and the i-th ν₊. Error rates are estimated where they are
needed, and kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat.kernels import Kernel
from svmstat.tuning.error_control import Minimax, NeymanPearson, best_cell
from svmstat.tuning.nu_grid import nu_grid_errors
from svmstat.tuning.search import Effort
from svmstat.tuning.smoothing import SMOOTHINGS, smooth

Floats = NDArray[np.float64]
Cell = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class NuSample:
    """The distinct rows of a fit.

    Attributes
    ----------
    X : (n, p) rows of the design; for a precomputed kernel its gram matrix (n, n)
    y : (n,) labels, −1 or +1
    weights : (n,) sums of the case weights
    fold : (n,) the fold of each row
    """

    X: Floats
    y: Floats
    weights: Floats
    fold: NDArray[np.intp]


class ErrorRates:
    """Estimates of P_F and P_M on a grid, filled in block by block.

    Attributes
    ----------
    p_f, p_m : (S, J, I) NaN where they are not known
    known : (S, J, I) whether the point was estimated
    unresolved, constant : (S, J, I) of how many folds ρ could not be resolved, or is zero
    """

    def __init__(
        self, sample: NuSample, kernels: Sequence[Kernel], nu_event: Floats, nu_other: Floats, effort: Effort
    ) -> None:
        self._sample, self._kernels, self._effort = sample, kernels, effort
        self.nu_event, self.nu_other = nu_event, nu_other
        shape = (len(kernels), len(nu_other), len(nu_event))
        self.p_f, self.p_m = np.full(shape, np.nan), np.full(shape, np.nan)
        self.known = np.zeros(shape, bool)
        self.unresolved, self.constant = np.zeros(shape, np.int64), np.zeros(shape, np.int64)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(S, J, I): how many kernels, values of ν₋ and values of ν₊ the grid has."""
        return self.p_f.shape

    def estimate(self, block: tuple[range, range, range]) -> None:
        """Make the points of a block known: those kernels in which one is not yet are swept."""
        lacking = [s for s in block[0] if not self.known[np.ix_([s], *block[1:])].all()]
        if not lacking:
            return
        j, i, sample = list(block[1]), list(block[2]), self._sample
        found = nu_grid_errors(
            [self._kernels[s] for s in lacking], sample.X, sample.y, sample.weights, sample.fold, self.nu_event[i],
            self.nu_other[j], n_jobs=self._effort.n_jobs, progress=self._effort.progress,
        )  # fmt: skip
        at = np.ix_(lacking, j, i)
        self.p_f[at], self.p_m[at] = found.false_alarm_rate, found.miss_rate
        self.unresolved[at], self.constant[at], self.known[at] = found.unresolved, found.constant, True

    def smoothed(self, kind: str | None) -> tuple[Floats, Floats]:
        """P_F and P_M (S, J, I), averaged over the neighbours that are known."""
        return smooth(self.p_f, kind), smooth(self.p_m, kind)

    def best(self, criterion: Minimax | NeymanPearson, kind: str | None, cells: Iterable[Cell]) -> Cell | None:
        """The best of some points by the smoothed rates; None if none could be estimated.

        Equal points are decided by P_F + P_M, then for the smoother fit: the earlier kernel, the larger ν.
        """
        listed = sorted(set(cells), key=lambda cell: (cell[0], -cell[1], -cell[2]))
        p_f, p_m = self.smoothed(kind)
        at = tuple(np.array(listed).T)
        chosen = best_cell(criterion, p_f[at], p_m[at])
        return None if chosen < 0 else listed[chosen]


def search_grid(rates: ErrorRates, criterion: Minimax | NeymanPearson, kind: str | None) -> Cell | None:
    """The best point of the whole grid [004: Algorithm 1]."""
    S, J, I = rates.shape  # noqa: E741
    rates.estimate((range(S), range(J), range(I)))
    return rates.best(criterion, kind, np.ndindex(S, J, I))


def coordinate_descent(rates: ErrorRates, criterion: Minimax | NeymanPearson, kind: str | None) -> Cell | None:
    """Lines through the best point so far along γ, ν₋ and ν₊, until it stays the best of them [004: Algorithm 2].

    It starts from ν₊ = ν₋ = ½ and the middle kernel.
    """
    start = (rates.shape[0] - 1) // 2, _nearest(rates.nu_other, 0.5), _nearest(rates.nu_event, 0.5)
    return _descend(rates, criterion, kind, start, axes=(0, 1, 2))


def coordinate_descent_by_kernel(
    rates: ErrorRates, criterion: Minimax | NeymanPearson, kind: str | None
) -> Cell | None:
    """The best point of coordinate descents in (ν₊, ν₋), one for each kernel."""
    middle = _nearest(rates.nu_other, 0.5), _nearest(rates.nu_event, 0.5)
    found = [_descend(rates, criterion, kind, (s, *middle), axes=(1, 2)) for s in range(rates.shape[0])]
    ends = [cell for cell in found if cell is not None]
    return rates.best(criterion, kind, ends) if ends else None


def _nearest(values: Floats, target: float) -> int:
    return int(np.abs(values - target).argmin())


def _descend(
    rates: ErrorRates, criterion: Minimax | NeymanPearson, kind: str | None, start: Cell, axes: tuple[int, ...]
) -> Cell | None:
    at: Cell = start
    while True:
        cells: list[Cell] = []
        for axis in axes:
            rates.estimate(_tube(rates.shape, at, axis, SMOOTHINGS[kind]))
            cells += [_moved(at, axis, value) for value in range(rates.shape[axis])]
        best = rates.best(criterion, kind, cells)
        if best is None or best == at:
            return best
        at = best


def _moved(cell: Cell, axis: int, value: int) -> Cell:
    s, j, i = (value if each == axis else cell[each] for each in range(3))
    return s, j, i


def _tube(shape: tuple[int, int, int], at: Cell, axis: int, smoothed: tuple[int, ...]) -> tuple[range, range, range]:
    """The line through a point along an axis, with the lines beside it that smoothing needs."""

    def along(each: int) -> range:
        if each == axis:
            return range(shape[each])
        width = 1 if each in smoothed else 0
        return range(max(0, at[each] - width), min(shape[each], at[each] + width + 1))

    return along(0), along(1), along(2)
