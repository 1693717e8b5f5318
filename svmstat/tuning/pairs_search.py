"""Every point of a grid for more than two classes: for each kernel one gram matrix, on it a warm path of costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from svmstat.calibration import fit_maps
from svmstat.kernels import Kernel
from svmstat.machine import Contrast, Machine, Posed, fit_machine, group_rows, pose
from svmstat.resampling import leave_one_out
from svmstat.resampling.folds import HeldOut, hold_out
from svmstat.resampling.loops import Outlook, run_pieces
from svmstat.solver import TOLERANCE
from svmstat.tuning.criteria import Point, failed, rate_errors, trouble_of_deletions, trouble_of_fold
from svmstat.tuning.search import Effort, middle

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class PairsSample:
    """The rows of a fit with more than two classes.

    Attributes
    ----------
    X : (n, p) rows of the design; for a precomputed kernel its gram matrix (n, n)
    codes : (n,) classes
    weights : (n,) case weights ≥ 0
    contrasts : the pairs of classes with their losses
    class_weight : L of each class
    coupling : how the probabilities of pairs are coupled
    """

    X: Floats
    codes: Codes
    weights: Floats
    contrasts: tuple[Contrast, ...]
    class_weight: Mapping[int, float]
    coupling: str

    def fit(self, kernel: Kernel, C: float, near: Machine | None = None) -> Machine:
        """The machines of all pairs; ``near`` as in `fit_machine`."""
        return fit_machine(kernel, self.X, self.codes, self.weights, self.contrasts, C=C, near=near)

    def pose(self, kernel: Kernel) -> Posed:
        """Their problems for C = 1."""
        return pose(kernel, self.X, self.codes, self.weights, self.contrasts, C=1.0)

    def of_class(self, codes: Codes) -> Floats:
        """L (m,) of classes (m,)."""
        return np.array([self.class_weight[code] for code in codes.tolist()])


def search_pairs(
    sample: PairsSample, kernels: Sequence[Kernel], costs: Sequence[float], measure: str, effort: Effort
) -> list[list[Point]]:
    """Score each kernel with each of the rising costs by leave-one-out: a list of points for every kernel."""
    side_by_side = len(kernels) > 1
    pieces = [(sample, kernel, costs, measure, 1 if side_by_side else effort.n_jobs) for kernel in kernels[::-1]]
    trial = partial(_points_along, sample, middle(kernels), [middle(costs)], measure, 1)
    scored = run_pieces(
        _points_along, pieces, n_jobs=effort.n_jobs if side_by_side else 1, progress=effort.progress, what="tune",
        outlook=Outlook([(trial, float(len(kernels) * len(costs)))]),
    )  # fmt: skip
    return scored[::-1]


def _points_along(
    sample: PairsSample, kernel: Kernel, costs: Sequence[float], measure: str, n_jobs: int | None
) -> list[Point]:
    points: list[Point] = []
    machine: Machine | None = None
    for cost in costs:
        machine = sample.fit(kernel, cost, machine)
        points.append(_loo_point(machine, sample, measure, n_jobs))
    return points


def _loo_point(machine: Machine, sample: PairsSample, measure: str, n_jobs: int | None) -> Point:
    n_support = float(sample.weights[(machine.alpha > 0).any(axis=1)].sum())
    violation = max(pair.solution.violation for pair in machine.pairs)
    if violation > TOLERANCE:
        return failed(f"the fit is not certified, its KKT violation is {violation:.2g}", n_support)
    left = leave_one_out(machine, fit_maps(machine, sample.coupling), influence=False, n_jobs=n_jobs)
    used = sample.weights > 0
    lost = left.winner[used] < 0
    reason = trouble_of_deletions(lost, left.violation[used], left.calibrated[used], measure)
    if reason:
        return failed(reason, n_support)
    codes = sample.codes[used]
    return rate_errors(
        left.winner[used] != codes, left.log_likelihood[used], sample.weights[used], sample.of_class(codes), measure,
        n_support,
    )  # fmt: skip


def search_pair_folds(
    sample: PairsSample, fold: Codes, kernels: Sequence[Kernel], costs: Sequence[float], measure: str, effort: Effort
) -> list[list[Point]]:
    """k-fold at each kernel and each of the rising costs; ``fold`` (G,) is that of each group of equal rows."""
    k = int(fold.max()) + 1
    pieces = [(sample, kernel, fold == which, costs) for kernel in kernels[::-1] for which in range(k)]
    trial = partial(_held_out, sample, middle(kernels), fold == 0, [middle(costs)])
    parts = run_pieces(
        _held_out, pieces, n_jobs=effort.n_jobs, progress=effort.progress, what="tune",
        outlook=Outlook([(trial, float(len(pieces) * len(costs)))]),
    )  # fmt: skip
    groups = group_rows(sample.X, sample.codes, sample.weights)
    codes = sample.codes[groups.first]
    points = [
        _fold_points(parts[k * i : k * i + k], fold, codes, groups.weights, sample, measure)
        for i in range(len(kernels))
    ]
    return points[::-1]


def _held_out(sample: PairsSample, kernel: Kernel, out: NDArray[np.bool_], costs: Sequence[float]) -> HeldOut:
    return hold_out(sample.pose(kernel), out, costs, sample.coupling)


def _fold_points(
    parts: list[HeldOut], fold: Codes, codes: Codes, weights: Floats, sample: PairsSample, measure: str
) -> list[Point]:
    """The points of one kernel from its folds; codes and weights (G,) of the groups."""
    n_costs = len(parts[0].n_support)
    winner, log_likelihood = np.empty((n_costs, len(fold)), np.intp), np.empty((n_costs, len(fold)))
    for which, part in enumerate(parts):
        winner[:, fold == which], log_likelihood[:, fold == which] = part.winner, part.log_likelihood
    L = sample.of_class(codes)
    points = []
    for j in range(n_costs):
        n_support = float(np.mean([part.n_support[j] for part in parts]))
        troubles = [(which + 1, _trouble(part, j, measure)) for which, part in enumerate(parts)]
        reasons = [f"fold {which}: {trouble}" for which, trouble in troubles if trouble]
        points.append(
            failed("; ".join(reasons), n_support)
            if reasons
            else rate_errors(winner[j] != codes, log_likelihood[j], weights, L, measure, n_support)
        )
    return points


def _trouble(part: HeldOut, j: int, measure: str) -> str:
    return trouble_of_fold(bool((part.winner[j] < 0).any()), part.certified[j], part.calibrated[j], measure)
