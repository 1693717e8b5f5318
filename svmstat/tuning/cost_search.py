"""Every point of a grid of kernels and costs: for each kernel one gram matrix, on it a warm path along the costs.

The workers keep all cores busy, so BLAS gets one thread: with more they wait for each other, five times as long in all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from svmstat._tools.arrays import Codes
from svmstat.kernels import Kernel
from svmstat.machine import Machine, tied
from svmstat.resampling.folds import FoldFits, hold_out
from svmstat.resampling.loops import Outlook, run_pieces, watched_steps
from svmstat.resampling.unseen import mapped_log_likelihoods
from svmstat.tuning.sample import Effort, Sample, middle
from svmstat.tuning.scores import Point, Predicted, failed, rate, rate_loss

KEPT = 2**28
"""Bytes that the parts of the rows in the scores of all points may take: 256 MiB, as 80 points of 400 000 rows."""

Score = Callable[[Machine, Sample, int | None], Point]
"""What a criterion makes of a fit to all rows, with a number of workers."""


def search_fits(
    sample: Sample, kernels: Sequence[Kernel], costs: Sequence[float], score: Score, effort: Effort
) -> list[list[Point]]:
    """Score the fit to all rows at each kernel and each of the rising costs: a list of points for every kernel."""
    side_by_side, keep = len(kernels) > 1, parts_fit(sample, len(kernels) * len(costs))
    pieces = [(sample, kernel, costs, score, keep, 1 if side_by_side else effort.n_jobs) for kernel in kernels]
    trial = partial(_points_along, sample, middle(kernels), [middle(costs)], score, keep, 1)
    scored = run_pieces(
        _points_along,
        pieces[::-1],  # gamma rises, and with it the work: the longest piece first
        n_jobs=effort.n_jobs if side_by_side else 1,
        progress=effort.progress,
        what="tune",
        outlook=Outlook([(trial, float(len(kernels) * len(costs)))]),
    )
    return scored[::-1]


def parts_fit(sample: Sample, n_points: int) -> bool:
    """Whether the parts of all rows in the scores of so many points may be kept."""
    return 8 * len(sample.codes) * n_points <= KEPT


def _points_along(
    sample: Sample, kernel: Kernel, costs: Sequence[float], score: Score, keep: bool, n_jobs: int | None
) -> list[Point]:
    points: list[Point] = []
    machine: Machine | None = None
    for cost in watched_steps("tune", costs):
        machine = sample.fit(kernel, cost, machine)
        points.append(_kept(score(machine, sample, n_jobs), keep))
    return points


def _kept(point: Point, keep: bool) -> Point:
    return point if keep else replace(point, parts=None)


def search_folds(
    sample: Sample, kernels: Sequence[Kernel], costs: Sequence[float], measure: str, effort: Effort
) -> list[list[Point]]:
    """k-fold at each kernel and each of the rising costs."""
    k, keep = sample.folded.count, parts_fit(sample, len(kernels) * len(costs))
    with_maps = measure == "deviance" and sample.calibration == "insample"
    pieces = _FoldPieces(sample, kernels[::-1], costs, k, with_maps)
    one = _FoldPieces(sample, [middle(kernels)], [middle(costs)], k, with_maps)
    parts = run_pieces(
        hold_out, pieces, n_jobs=effort.n_jobs, progress=effort.progress, what="tune",
        outlook=Outlook([(lambda: hold_out(*next(iter(one))), float(len(pieces) * len(costs)))]),
    )  # fmt: skip
    places = sample.folded.places()
    scored = [
        [_kept(_fold_point(parts[k * i : k * i + k], j, sample, places, measure), keep) for j in range(len(costs))]
        for i in range(len(kernels))
    ]
    return scored[::-1]


class _FoldPieces(Sequence[tuple[Any, ...]]):
    """The arguments of `hold_out`, kernel by kernel and fold by fold; a gram matrix is made when it is asked for."""

    def __init__(
        self, sample: Sample, kernels: Sequence[Kernel], costs: Sequence[float], k: int, with_maps: bool
    ) -> None:
        self._sample, self._kernels, self._costs, self._k, self._with_maps = sample, kernels, costs, k, with_maps

    def __len__(self) -> int:
        return len(self._kernels) * self._k

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for kernel in self._kernels:
            posed = self._sample.pose(kernel)
            posed.keep_all_rows()
            for which in range(self._k):
                yield posed, self._sample.folded.away(which), self._costs, self._sample.coupling, self._with_maps


def _fold_point(
    parts: list[FoldFits], j: int, sample: Sample, places: list[tuple[Codes, Codes]], measure: str
) -> Point:  # fmt: skip
    """The point of one kernel and the j-th cost from its folds, whose predictions have their ``places``."""
    n_support = float(np.mean([part.n_support[j] for part in parts]))
    with_maps = measure == "deviance" and sample.calibration == "insample"
    troubles = [(which + 1, _trouble(part, j, with_maps)) for which, part in enumerate(parts)]
    reasons = [f"fold {which}: {trouble}" for which, trouble in troubles if trouble]
    if reasons:
        return failed("; ".join(reasons), n_support)
    fold, weights, codes = sample.folded.of_group, sample.folded.groups.weights, sample.group_codes
    f, winner = np.full((len(fold), len(sample.contrasts)), np.nan), np.full(len(fold), -1)
    resolution, log_likelihood = np.zeros(f.shape), np.full(len(fold), np.nan)
    for part, (out, at) in zip(parts, places, strict=True):
        f[out], winner[out] = part.decision_values[j, at], part.winner[j, at]
        resolution[out], log_likelihood[out] = part.resolution[j], part.log_likelihood[j, at]
    if measure == "deviance" and sample.calibration != "insample":
        f = tied(f, resolution)
        log_likelihood = mapped_log_likelihoods(sample.labelled_groups, f, sample.coupling, sample.calibration)
        if np.isnan(log_likelihood[fold >= 0]).any():
            return failed("no converged Platt map", n_support)
    units, known = sample.group_units, fold >= 0
    units = None if units is None else units.among(known)
    if measure == "loss":
        loss = sample.contrasts[0].loss
        return rate_loss(f[known, 0], sample.group_signs[known], weights[known], loss, n_support, units)
    codes = codes[known]
    seen = Predicted(codes, weights[known], sample.class_weight[codes], winner[known], log_likelihood[known], units)
    return rate(seen, measure, n_support)


def _trouble(part: FoldFits, j: int, with_maps: bool) -> str:
    """What keeps a fold from being scored; empty if nothing does."""
    if np.isnan(part.n_support[j]):
        return "left without a class"
    if not part.certified[j]:
        return "not certified"
    return "no converged Platt map" if with_maps and not part.calibrated[j] else ""
