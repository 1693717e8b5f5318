"""Every point of a grid: for each kernel one gram matrix, on it a warm path along the costs, kernels side by side.

The workers keep all cores busy, so BLAS gets one thread: with more they wait for each other, five times as long in all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from svmstat.calibration import fit_maps
from svmstat.gacv import gckl, machine_gacv
from svmstat.kernels import Kernel
from svmstat.machine import Contrast, Groups, Machine, fit_machine, pose
from svmstat.measures import share
from svmstat.resampling.folds import HeldOut, hold_out
from svmstat.resampling.leave_one_out import leave_one_out
from svmstat.resampling.loops import Outlook, run_pieces
from svmstat.solver import Status
from svmstat.tuning.criteria import Observed, Point, failed, rate, trouble_of_deletions, trouble_of_fold

Floats = NDArray[np.float64]
Value = TypeVar("Value")

FURTHER = {"gacv": "GACV", "loo_loss": "leave-one-out loss V0", "gckl": "GCKL"}
"""Criteria that may stand beside the score in a table."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows of a fit.

    Attributes
    ----------
    X : (n, p) rows of the design; for a precomputed kernel its gram matrix (n, n)
    codes : (n,) classes
    weights : (n,) case weights ≥ 0
    contrasts : the one pair of classes
    truth : (n,) P(event | x) where it is known
    """

    X: Floats
    codes: NDArray[np.intp]
    weights: Floats
    contrasts: tuple[Contrast, ...]
    truth: Floats | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """Workers, as in `joblib.Parallel`, and whether there is a progress bar."""

    n_jobs: int | None = None
    progress: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which criteria a search computes for each fit to all rows.

    Attributes
    ----------
    criterion : "loo", "gacv" or "gckl"
    measure : for "loo" what is measured, one of `MEASURES`
    further : criteria to be computed beside the score, of `FURTHER`
    """

    criterion: str
    measure: str
    further: tuple[str, ...] = ()


def search_fits(
    sample: Sample, kernels: Sequence[Kernel], costs: Sequence[float], wanted: Wanted, effort: Effort
) -> list[list[Point]]:
    """Score the fit to all rows at each kernel and each of the rising costs: a list of points for every kernel."""
    side_by_side = len(kernels) > 1
    pieces = [(sample, kernel, costs, wanted, 1 if side_by_side else effort.n_jobs) for kernel in kernels]
    trial = partial(_points_along, sample, middle(kernels), [middle(costs)], wanted, 1)
    scored = run_pieces(
        _points_along,
        pieces[::-1],  # gamma rises, and with it the work: the longest piece first
        n_jobs=effort.n_jobs if side_by_side else 1,
        progress=effort.progress,
        what="tune",
        outlook=Outlook([(trial, float(len(kernels) * len(costs)))]),
    )
    return scored[::-1]


def middle(values: Sequence[Value]) -> Value:
    """The value in the middle of a grid, whose point is taken for all of them where time is estimated."""
    return values[len(values) // 2]


def _points_along(
    sample: Sample, kernel: Kernel, costs: Sequence[float], wanted: Wanted, n_jobs: int | None
) -> list[Point]:
    points: list[Point] = []
    machine: Machine | None = None
    for cost in costs:
        machine = fit_machine(kernel, sample.X, sample.codes, sample.weights, sample.contrasts, C=cost, near=machine)
        points.append(_point(machine, sample, wanted, n_jobs))
    return points


def _point(machine: Machine, sample: Sample, wanted: Wanted, n_jobs: int | None) -> Point:
    solution = machine.pairs[0].solution
    n_support = float(machine.groups.weights[solution.alpha > 0].sum())
    if solution.status is not Status.CERTIFIED:
        return failed(f"the fit is not certified, its KKT violation is {solution.violation:.2g}", n_support)
    further = {name: _criterion(name, machine, sample, n_jobs) for name in wanted.further}
    if wanted.criterion == "loo":
        return replace(loo_point(machine, wanted.measure, n_jobs), further=further)
    score = _criterion(wanted.criterion, machine, sample, n_jobs)
    wrong = (machine.decision_values > 0)[:, 0] != (machine.signs > 0)[:, 0]
    return Point(score, np.nan, share(wrong, machine.weights), n_support, further=further)


def _criterion(name: str, machine: Machine, sample: Sample, n_jobs: int | None) -> float:
    """The criterion of this name, one of `FURTHER`, for a fit."""
    if name == "gacv":
        return machine_gacv(machine)
    if name == "gckl" and sample.truth is not None:
        return gckl(machine.decision_values[:, 0], sample.truth, machine.weights, machine.pairs[0].loss)
    return loo_point(machine, "loss", n_jobs).score


def loo_point(machine: Machine, measure: str, n_jobs: int | None = None) -> Point:
    """Score a certified machine by leaving each of its rows out in turn."""
    pair = machine.pairs[0]
    n_support = float(machine.groups.weights[pair.solution.alpha > 0].sum())
    left = leave_one_out(machine, fit_maps(machine), influence=False, n_jobs=n_jobs)
    used = machine.weights > 0
    lost = np.isnan(left.decision_values[used, 0])
    reason = trouble_of_deletions(lost, left.violation[used], left.calibrated[used], measure)
    if reason:
        return failed(reason, n_support)
    observed = Observed(machine.signs[used, 0], machine.weights[used], pair.loss)
    return rate(left.decision_values[used, 0], left.log_likelihood[used], observed, measure, n_support)


def search_folds(
    sample: Sample, groups: Groups, fold: NDArray[np.intp], kernels: Sequence[Kernel], costs: Sequence[float],
    measure: str, effort: Effort,
) -> list[list[Point]]:  # fmt: skip
    """k-fold at each kernel and each of the rising costs; ``fold`` (G,) is that of each group of equal rows."""
    k = int(fold.max()) + 1
    pieces = _FoldPieces(sample, groups, fold, kernels[::-1], costs, k, measure == "deviance")
    one = _FoldPieces(sample, groups, fold, [middle(kernels)], [middle(costs)], k, measure == "deviance")
    parts = run_pieces(
        hold_out, pieces, n_jobs=effort.n_jobs, progress=effort.progress, what="tune",
        outlook=Outlook([(lambda: hold_out(*next(iter(one))), float(len(pieces) * len(costs)))]),
    )  # fmt: skip
    contrast = sample.contrasts[0]
    observed = Observed(contrast.signs(sample.codes[groups.first]), groups.weights, contrast.loss)
    scored = [_fold_points(parts[k * i : k * i + k], fold, observed, measure) for i in range(len(kernels))]
    return scored[::-1]


class _FoldPieces(Sequence[tuple[Any, ...]]):
    """The arguments of `hold_out`, kernel by kernel and fold by fold; a gram matrix is made when it is asked for."""

    def __init__(
        self, sample: Sample, groups: Groups, fold: NDArray[np.intp], kernels: Sequence[Kernel],
        costs: Sequence[float], k: int, with_map: bool,
    ) -> None:  # fmt: skip
        self._sample, self._groups, self._fold = sample, groups, fold
        self._kernels, self._costs, self._k, self._with_map = kernels, costs, k, with_map

    def __len__(self) -> int:
        return len(self._kernels) * self._k

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        sample = self._sample
        for kernel in self._kernels:
            posed = pose(kernel, sample.X, sample.codes, sample.weights, sample.contrasts, C=1.0, groups=self._groups)
            if posed.gram.fits:
                posed.gram.complete()  # workers may not add rows to the same matrix
            for which in range(self._k):
                yield posed, self._fold == which, self._costs, "wu-lin-weng", self._with_map


def _fold_points(parts: list[HeldOut], fold: NDArray[np.intp], observed: Observed, measure: str) -> list[Point]:
    """The points of one kernel from its folds."""
    n_costs = len(parts[0].n_support)
    f, log_likelihood = np.empty((n_costs, len(fold))), np.empty((n_costs, len(fold)))
    for which, part in enumerate(parts):
        f[:, fold == which], log_likelihood[:, fold == which] = part.decision_values[..., 0], part.log_likelihood
    points = []
    for j in range(n_costs):
        n_support = float(np.mean([part.n_support[j] for part in parts]))
        reasons = [
            f"fold {which + 1}: {_trouble(part, j, measure)}"
            for which, part in enumerate(parts)
            if _trouble(part, j, measure)
        ]
        points.append(
            failed("; ".join(reasons), n_support)
            if reasons
            else rate(f[j], log_likelihood[j], observed, measure, n_support)
        )
    return points


def _trouble(part: HeldOut, j: int, measure: str) -> str:
    return trouble_of_fold(np.isnan(part.n_support[j]), part.certified[j], part.calibrated[j], measure)
