"""Searches of (γ, ν₋, ν₊) for the 2ν-SVM: the whole grid, or coordinate descent along its lines [004: section 3].

A point of the grid is (s, j, i): the s-th kernel, the j-th ν₋ and the i-th ν₊. Error rates are estimated where they are
needed, and kept.
"""

from collections.abc import Sequence

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.kernels import Kernel
from svmstat.tuning.error_control import Minimax, NeymanPearson
from svmstat.tuning.nu_grid import nu_grid_errors
from svmstat.tuning.sample import Distinct, Effort
from svmstat.tuning.smoothing import SMOOTHINGS
from svmstat.tuning.surface import Cell, ErrorSurface


class ErrorRates:
    """Estimates of P_F and P_M on a grid of (I,) ν₊ and (J,) ν₋, filled in block by block.

    Attributes
    ----------
    surface : the estimates, NaN where they are not known
    """

    def __init__(
        self, sample: Distinct, kernels: Sequence[Kernel], nu_event: Floats, nu_other: Floats, effort: Effort
    ) -> None:
        self._sample, self._kernels, self._effort = sample, kernels, effort
        self.nu_event, self.nu_other = nu_event, nu_other
        self.surface = ErrorSurface.unknown(len(kernels), *np.broadcast_arrays(nu_event, nu_other[:, None]))

    @property
    def shape(self) -> tuple[int, int, int]:
        """(S, J, I): how many kernels, values of ν₋ and values of ν₊ the grid has."""
        return self.surface.shape

    def estimate(self, block: tuple[range, range, range]) -> None:
        """Make the points of a block known: those kernels in which one is not yet are swept."""
        surface = self.surface
        lacking = [s for s in block[0] if not surface.known[np.ix_([s], *block[1:])].all()]
        if not lacking:
            return
        j, i, sample = list(block[1]), list(block[2]), self._sample
        found = nu_grid_errors(
            [self._kernels[s] for s in lacking], sample.X, sample.y, sample.weights, sample.fold, self.nu_event[i],
            self.nu_other[j], n_jobs=self._effort.n_jobs, progress=self._effort.progress,
        )  # fmt: skip
        at = np.ix_(lacking, j, i)
        surface.p_f[at], surface.p_m[at] = found.false_alarm_rate, found.miss_rate
        surface.unresolved[at], surface.constant[at], surface.known[at] = found.unresolved, found.constant, True


def search_grid(rates: ErrorRates, criterion: Minimax | NeymanPearson, kind: str | None) -> Cell | None:
    """The best point of the whole grid [004: Algorithm 1]."""
    S, J, I = rates.shape  # noqa: E741
    rates.estimate((range(S), range(J), range(I)))
    rates.surface.compare(np.ndindex(S, J, I))
    return rates.surface.best(criterion, kind)


def coordinate_descent(rates: ErrorRates, criterion: Minimax | NeymanPearson, kind: str | None) -> Cell | None:
    """Lines through the best point so far along γ, ν₋ and ν₊, until it stays the best of them [004: Algorithm 2].

    It starts from ν₊ = ν₋ = ½ and the middle kernel.
    """
    start = (rates.shape[0] - 1) // 2, _nearest_half(rates.nu_other), _nearest_half(rates.nu_event)
    return _descend(rates, criterion, kind, start, axes=(0, 1, 2))


def coordinate_descent_by_kernel(
    rates: ErrorRates, criterion: Minimax | NeymanPearson, kind: str | None
) -> Cell | None:
    """The best point of coordinate descents in (ν₊, ν₋), one for each kernel."""
    middle = _nearest_half(rates.nu_other), _nearest_half(rates.nu_event)
    found = [_descend(rates, criterion, kind, (s, *middle), axes=(1, 2)) for s in range(rates.shape[0])]
    ends = [cell for cell in found if cell is not None]
    return rates.surface.best(criterion, kind, ends) if ends else None


def _nearest_half(values: Floats) -> int:
    return int(np.abs(values - 0.5).argmin())


def _descend(
    rates: ErrorRates, criterion: Minimax | NeymanPearson, kind: str | None, start: Cell, axes: tuple[int, ...]
) -> Cell | None:
    at: Cell = start
    while True:
        cells: list[Cell] = []
        for axis in axes:
            rates.estimate(_tube(rates.shape, at, axis, SMOOTHINGS[kind]))
            cells += [_moved(at, axis, value) for value in range(rates.shape[axis])]
        rates.surface.compare(cells)
        best = rates.surface.best(criterion, kind, cells)
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
