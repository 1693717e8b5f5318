"""What a search over costs and kernels makes as small as possible; a new criterion is one class here.

A criterion says what it is for, and scores a fit to all rows. What it refuses follows from what it says.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import fit_maps, fit_maps_of
from svmstat.diagnostics.gacv import gckl, machine_gacv
from svmstat.diagnostics.span import machine_span
from svmstat.kernels import Kernel
from svmstat.machine import Machine, vote
from svmstat.objective.measures import share
from svmstat.resampling import leave_one_out
from svmstat.resampling.leave_one_out import LeaveOneOut
from svmstat.resampling.unseen import unseen
from svmstat.solver import TOLERANCE, Status
from svmstat.tuning.cost_search import search_fits, search_folds
from svmstat.tuning.sample import Effort, Sample
from svmstat.tuning.scores import Point, Predicted, failed, rate, rate_loss


class Criterion(ABC):
    """What is made as small as possible.

    Attributes
    ----------
    any_levels, any_loss : whether it is defined for more than two levels, and for other losses than the hinge loss
    of_full_fit : whether it is a number of the fit to all rows, without a standard error, and not of held-out rows
    needs_truth : whether it is computed from the true probabilities
    of_copies : whether it is about leaving out single copies of rows, and so neither groups nor probability weights
    error_name : what a summary calls the error rate beside it
    """

    __slots__ = ()
    any_levels: ClassVar[bool] = True
    any_loss: ClassVar[bool] = True
    of_full_fit: ClassVar[bool] = False
    needs_truth: ClassVar[bool] = False
    of_copies: ClassVar[bool] = False
    error_name: ClassVar[str] = "Error of held-out rows"

    @property
    @abstractmethod
    def label(self) -> str:
        """What tables and figures call the score."""

    @abstractmethod
    def points(
        self, sample: Sample, kernels: Sequence[Kernel], costs: Sequence[float], further: "Further", effort: Effort
    ) -> list[list[Point]]:
        """The points of every kernel with each of the rising costs, with ``further`` criteria beside the score."""


class OfFits(Criterion):
    """A criterion that is computed from each fit to all rows."""

    __slots__ = ()

    @abstractmethod
    def score(self, machine: Machine, sample: Sample, n_jobs: int | None) -> Point:
        """The point of a certified fit."""

    def points(
        self, sample: Sample, kernels: Sequence[Kernel], costs: Sequence[float], further: "Further", effort: Effort
    ) -> list[list[Point]]:
        """The points of every kernel with each of the rising costs, with ``further`` criteria beside the score."""
        return search_fits(sample, kernels, costs, partial(_point, self, further), effort)


Further = Mapping[str, OfFits]


def _point(criterion: OfFits, further: Further, machine: Machine, sample: Sample, n_jobs: int | None) -> Point:
    """The point of any fit, with further criteria beside the score."""
    solutions = [pair.solution for pair in machine.pairs]
    if any(each.status is not Status.CERTIFIED for each in solutions):
        worst = max(each.violation for each in solutions)
        why = f"its KKT violation is {worst:.2g}" if worst > TOLERANCE else "rounding hides too much of f"
        return failed(f"the fit is not certified, {why}", machine.n_support)
    also = {name: each.score(machine, sample, n_jobs).score for name, each in further.items()}
    return replace(criterion.score(machine, sample, n_jobs), further=also)


@dataclass(frozen=True, slots=True)
class Loo(OfFits):
    """Each row is predicted by the fit without it, and by the map that the calibration has for it.

    With calibration="insample" that is the Platt map of the fit without the row [003]. ``measure`` is one of
    `MEASURES`.
    """

    measure: str = "deviance"

    @property
    def label(self) -> str:
        return f"leave-one-out {self.measure.replace('_', ' ')}"

    def score(self, machine: Machine, sample: Sample, n_jobs: int | None) -> Point:
        used = machine.weights > 0
        insample = fit_maps(machine, sample.coupling)
        left = leave_one_out(machine, insample, influence=False, n_jobs=n_jobs)
        reason = self._trouble(left, used)
        if reason:
            return failed(reason, machine.n_support)
        log_likelihood = left.log_likelihood
        if self.measure == "deviance" and sample.calibration != "insample":
            maps, by, _ = sample.held_out_maps(machine, insample, lambda: left)
            found = unseen(machine, left, maps, by)
            log_likelihood = np.where(found.failed, np.nan, found.log_likelihood)
            if np.isnan(log_likelihood[used]).any():
                return failed("no converged Platt map", machine.n_support)
        return rated(sample, left.decision_values, left.winner, log_likelihood, self.measure, machine.n_support)

    def _trouble(self, left: LeaveOneOut, used: NDArray[np.bool_]) -> str:
        """What keeps the deletions of the ``used`` rows (n,) from being scored; empty if nothing does."""
        lost, calibrated = left.winner[used] < 0, left.calibrated[used]
        coarse = ~lost & (left.violation[used] > TOLERANCE)
        troubles = [
            (lost, "left without a class"),
            (coarse, "not certified"),
            (~lost & ~coarse & calibrated & left.failed[used], "not certified, rounding hiding too much of f"),
            (~lost & ~calibrated & (self.measure == "deviance"), "without a converged Platt map"),
        ]
        return "; ".join(
            f"{np.count_nonzero(rows)} of {len(lost)} deletions {what}" for rows, what in troubles if rows.any()
        )


@dataclass(frozen=True, slots=True)
class KFold(Criterion):
    """Each of ``folds`` stratified folds is predicted by the fit to the others; ``measure`` is one of `MEASURES`."""

    folds: int
    measure: str = "deviance"

    @property
    def label(self) -> str:
        return f"k-fold {self.measure.replace('_', ' ')}"

    def points(
        self, sample: Sample, kernels: Sequence[Kernel], costs: Sequence[float], further: Further, effort: Effort
    ) -> list[list[Point]]:
        assert not further
        return search_folds(sample, kernels, costs, self.measure, effort)


@dataclass(frozen=True, slots=True)
class Span(OfFits):
    """Each row is predicted by what the span says of the fit without it; ``measure`` is one of `MEASURES`.

    Probabilities are those of Platt's map of these values, as with calibration="loo".
    """

    error_name = "Error by the span"
    of_copies = True

    measure: str = "deviance"

    @property
    def label(self) -> str:
        return f"span estimate of the leave-one-out {self.measure.replace('_', ' ')}"

    def score(self, machine: Machine, sample: Sample, n_jobs: int | None) -> Point:  # noqa: ARG002
        f = machine_span(machine)
        lost = np.isnan(f).any(axis=1)
        if lost.any():
            return failed(f"{np.count_nonzero(lost)} of {len(f)} rows leave a class without any", machine.n_support)
        maps = fit_maps_of(machine, f, sample.coupling, "loo")
        if self.measure == "deviance" and not maps.converged.all():
            return failed("no converged Platt map", machine.n_support)
        log_likelihood = maps.log_likelihoods(f, machine.codes)
        return rated(sample, f, vote(f, machine.classes), log_likelihood, self.measure, machine.n_support)


@dataclass(frozen=True, slots=True)
class GACV(OfFits):
    """The generalized approximate cross validation of the fit to all rows [000: section 4]."""

    any_levels = False
    any_loss = False
    of_full_fit = True
    of_copies = True
    error_name = "Apparent error"

    @property
    def label(self) -> str:
        return "GACV"

    def score(self, machine: Machine, sample: Sample, n_jobs: int | None) -> Point:  # noqa: ARG002
        return _of_full_fit(machine, machine_gacv(machine))


@dataclass(frozen=True, slots=True)
class GCKL(OfFits):
    """What GACV estimates, where the true probabilities are known."""

    any_levels = False
    of_full_fit = True
    needs_truth = True
    error_name = "Apparent error"

    @property
    def label(self) -> str:
        return "GCKL"

    def score(self, machine: Machine, sample: Sample, n_jobs: int | None) -> Point:  # noqa: ARG002
        assert sample.truth is not None
        f, loss = machine.decision_values[:, 0], machine.pairs[0].loss
        return _of_full_fit(machine, gckl(f, sample.truth, machine.weights, loss))


def rated(sample: Sample, f: Floats, winner: Codes, log_likelihood: Floats, measure: str, n_support: float) -> Point:
    """Score what is predicted of the n rows, of which those of weight zero do not count.

    Parameters
    ----------
    f : (n, P) decision values
    winner, log_likelihood : (n,) the classes that are predicted, and the log probabilities of those that were seen
    """
    used = sample.weights > 0
    codes, weights = sample.codes[used], sample.weights[used]
    units = None if sample.units is None else sample.units.among(used)
    if measure == "loss":
        pair = sample.contrasts[0]
        return rate_loss(f[used, 0], pair.signs(codes), weights, pair.loss, n_support, units)
    seen = Predicted(codes, weights, sample.class_weight[codes], winner[used], log_likelihood[used], units)
    return rate(seen, measure, n_support)


def _of_full_fit(machine: Machine, score: float) -> Point:
    """The point of a criterion of the fit itself, whose error is the apparent one."""
    wrong = (machine.decision_values > 0)[:, 0] != (machine.signs > 0)[:, 0]
    return Point(score, np.nan, share(wrong, machine.weights), machine.n_support)


FURTHER: dict[str, tuple[str, OfFits]] = {
    "gacv": ("GACV", GACV()),
    "loo_loss": ("leave-one-out loss V0", Loo("loss")),
    "span_loss": ("span estimate of V0", Span("loss")),
    "gckl": ("GCKL", GCKL()),
}
"""What a table may have beside the score: how figures call it, and the criterion."""


NAMES = ("loo", "kfold", "span", "gacv", "gckl")


def named(name: str, measure: str, folds: int) -> Criterion:
    """The criterion of that name, one of `NAMES`, with what is measured of held-out rows and the number of folds."""
    of_rows = {"loo": Loo(measure), "kfold": KFold(folds, measure), "span": Span(measure)}
    return (of_rows | {"gacv": GACV(), "gckl": GCKL()})[name]
