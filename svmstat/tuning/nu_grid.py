"""False alarms and misses of the 2ν-SVM for all (ν₊, ν₋) of a grid and several kernels, by k-fold [004: section 3].

P_F = P(f > 0 | other) and P_M = P(f ≤ 0 | event) are estimated from the rows of each fold by the fit without it. ν₊ and
ν₋ are fractions of the rows that are kept, so that every pair in (0, 1]² has a solution in every fold; scaling and
kernel width are those of all rows. The rows are distinct (see `machine.group_rows`) and their weights sums over copies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import refuse
from svmstat.errors import DataError
from svmstat.kernels import Kernel, centred_gram
from svmstat.resampling.loops import Outlook, run_pieces, watched_steps
from svmstat.solver import Sample, sweep_grid

_MATRICES = 3
"""Of the size of the kernel matrix, that a kernel takes at a time."""


@dataclass(frozen=True, slots=True)
class NuErrors:
    """Errors on held-out rows for S kernels and J × I pairs (ν₋, ν₊).

    Attributes
    ----------
    nu_event, nu_other : (I,) ν₊ and (J,) ν₋
    false_alarms : (S, J, I) weight of the other rows with f > 0; NaN where some fold is not resolved
    misses : (S, J, I) weight of the events with f ≤ 0; likewise
    n_event, n_other : sums of the weights of all events and of all other rows
    unresolved : (S, J, I) folds where ρ is too small for f/ρ to have eight digits, or where no exact fit was found
    constant : (S, J, I) folds where the reduced hulls meet, so that f = 0 everywhere
    violation : (S, J, I) largest KKT violation, as a share of ρ, of the folds that are resolved; NaN if none is
    n_events, n_rescued : path events in all; fits that were found by a descent
    """

    nu_event: Floats
    nu_other: Floats
    false_alarms: Floats
    misses: Floats
    n_event: float
    n_other: float
    unresolved: NDArray[np.int64]
    constant: NDArray[np.int64]
    violation: Floats
    n_events: int
    n_rescued: int

    @property
    def false_alarm_rate(self) -> Floats:
        """(S, J, I) the estimate of P_F."""
        return self.false_alarms / self.n_other

    @property
    def miss_rate(self) -> Floats:
        """(S, J, I) the estimate of P_M."""
        return self.misses / self.n_event


def nu_grid_errors(
    kernels: Sequence[Kernel], X: Floats, y: Floats, weights: Floats, fold: NDArray[np.intp], nu_event: Floats,
    nu_other: Floats, *, n_jobs: int | None = None, progress: bool = False,
) -> NuErrors:  # fmt: skip
    """Estimate both errors for every kernel and every pair.

    Parameters
    ----------
    kernels : S kernels
    X : (n, p) distinct rows; for precomputed kernels the gram matrix (n, n)
    y : (n,) labels, −1 or +1
    weights : (n,) > 0
    fold : (n,) the fold of each row, 0 … k − 1
    nu_event, nu_other : (I,) and (J,) values in (0, 1], in any order
    n_jobs, progress : as in `run_pieces`, a piece being a kernel; no number depends on them

    Returns
    -------
    NuErrors

    Raises
    ------
    ArgumentError
        For values outside (0, 1].
    DataError
        If a class has no row outside some fold.

    Examples
    --------
    >>> from svmstat.kernels import RBF
    >>> X, y = np.arange(8.0)[:, None], np.repeat([-1.0, 1.0], 4)
    >>> nu = np.array([0.25, 0.5, 1.0])
    >>> errors = nu_grid_errors([RBF(0.1)], X, y, np.ones(8), np.arange(8) % 4, nu, nu)
    >>> errors.false_alarm_rate[0]
    array([[0.  , 0.  , 0.  ],
           [0.25, 0.  , 0.  ],
           [0.25, 0.25, 0.  ]])
    """
    falling = [_falling(name, values) for name, values in (("nu_event", nu_event), ("nu_other", nu_other))]
    for k in np.unique(fold):
        if len(np.unique(y[fold != k])) < 2:
            raise DataError(
                f"fold {k} holds all rows of a class: there is nothing to fit without it; take fewer folds."
            )
    pieces = [(kernel, X, y, weights, fold, falling[0][0], falling[1][0]) for kernel in kernels]
    outlook = outlook_of_sweeps(len(y))
    parts = run_pieces(_of_kernel, pieces, n_jobs=n_jobs, progress=progress, what="nu grid", outlook=outlook)
    wrong, unresolved, constant, violation = (np.array([part[k] for part in parts]) for k in range(4))
    back = np.ix_(np.arange(len(kernels)), falling[1][1], falling[0][1])
    return NuErrors(
        np.asarray(nu_event, float), np.asarray(nu_other, float), wrong[:, 1][back], wrong[:, 0][back],
        float(weights[y > 0].sum()), float(weights[y < 0].sum()), unresolved[back], constant[back], violation[back],
        sum(part[4] for part in parts), sum(part[5] for part in parts),
    )  # fmt: skip


def _falling(name: str, values: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """The distinct values, falling, and which of them each value is."""
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or len(array) == 0 or not ((array > 0) & (array <= 1)).all():
        raise refuse(name, values, "a sequence of numbers in (0, 1]")
    distinct, place = np.unique(-array, return_inverse=True)
    return -distinct, place


def _of_kernel(
    kernel: Kernel, X: Floats, y: Floats, weights: Floats, fold: NDArray[np.intp], nu_event: Floats, nu_other: Floats
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64], Floats, int, int]:
    """Sums over the folds of the errors (2, J, I) and of both flags (J, I), the violation (J, I), two counts."""
    K = centred_gram(kernel, X)
    grids = [
        sweep_grid(sample_without(K, y, weights, fold == k), nu_event, nu_other)
        for k in watched_steps("nu grid", np.unique(fold).tolist())
    ]
    wrong = np.sum([grid.wrong for grid in grids], axis=0).transpose(1, 0, 2)
    codes = np.array([grid.code for grid in grids])
    violation = np.fmax.reduce([grid.violation for grid in grids])
    events, rescued = (sum(int(getattr(grid, name)[0]) for grid in grids) for name in ("events", "rescued"))
    return wrong, (codes > 1).sum(axis=0), (codes == 1).sum(axis=0), violation, events, rescued


def outlook_of_sweeps(n: int) -> Outlook:
    """What a kernel takes: its matrix, that of the rows without a fold, and that of their distinct points."""
    reason = f"it holds {_MATRICES} matrices of the kernel values of {n} rows: half of the rows take a quarter"
    return Outlook(each=8.0 * _MATRICES * n**2, reason=reason)


def sample_without(K: Floats, y: Floats, weights: Floats, out: NDArray[np.bool_]) -> Sample:
    """The rows of a sweep that leaves some ``out`` (n,) and predicts them: K (n, n), y, weights (n,)."""
    kept, held = np.flatnonzero(~out), np.flatnonzero(out)
    group = np.where(y > 0, 0, 1)
    block = np.ascontiguousarray(K[np.ix_(kept, np.concatenate([kept, held]))])
    return Sample(block, group[kept], weights[kept], group[held], weights[held])
