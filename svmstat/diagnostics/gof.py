"""Goodness of fit: held-out residuals, or the deviance [003: section 2.3], against their distribution under the fit."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.diagnostics.failed import failed_warning
from svmstat.objective.replicated import above, failures, pvalue, quantile, upper_point
from svmstat.reporting.plots import replicates_plot
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.rendering.values import or_none, percent
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling.replicates import least_replicates

METHODS = ("residual", "pairs", "parametric")

DEVIANCE_NOTE = (
    "The deviance of single binary responses hardly depends on how well they fit (McCullagh & Nelder 1989, 4.4.5): "
    "it is shown beside its replicates, and is no verdict."
)
_FLEXIBLE = (
    "Replicates are of {drawn}; gof() draws labels from the probabilities that the fit reports, and its p-value of the "
    "deviance is another. Of a flexible machine D may lie above all of them whatever is true: p was 0.05 or less in "
    "0.53 to 0.70 of samples drawn from such a fit's own probabilities, and in none from those of smooth ones "
    "(python -m benchmarks validity gof, 189 and 200 rows)."
)
_DRAWN = {
    "residual": "labels drawn from the probabilities that the fit reports",
    "pairs": "rows drawn with replacement",
    "parametric": "labels drawn from the in-sample probabilities",
}
_GROUPS = "groups drawn with replacement"
_H0 = {
    2: "H0: P(event | x) is the probability that this fit reports",
    3: "H0: P(level | x) are the probabilities that this fit reports",
}
RATES = (
    "Simulated at level 0.05 (python -m benchmarks validity gof gof-large populations gof-uneven gof-rare gof-others, "
    "n = 120 to 634, 40 to 300 samples each): rejected 0.01 to 0.08 of samples drawn from a fit's own probabilities, "
    "se 0.01 to 0.04, least for smooth ones, but up to 0.22 for the default machine on nine columns where the log odds "
    "of these have a standard deviation of 0.56 or less, 0.10 to 0.40 for C = 100 and a weak signal in 120 rows, 0.01 "
    "to 0.17 where one row in four to eight is an event, 0.05 to 0.16 for two or four factors alone, and 0.09 to 0.12 "
    "with costs or priors that are not equal; and 1.00 where a linear kernel misses an interaction. A rejection under "
    "a smooth truth is no false alarm if the probabilities of the fit are smoother."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class GofResult(Printed):
    """A statistic of the fit against its distribution in B replicates, with the deviance of [003] beside it.

    Attributes
    ----------
    statistic : float
        With method="residual" T, which adds up products of held-out residuals of rows that are near each other;
        otherwise the deviance D.
    replicates : ndarray (B,)
        What the statistic is compared with, NaN where a replicate failed: deviances, or T* + slope · (V − V*) of the
        replicates, which is T* as it would be at the noise V of the fit.
    noise, noise_replicates : float, ndarray (B,); or None
        With method="residual" V = Σ π(1 − π) of held-out probabilities, of more than two levels the sum over them; V*.
    slope : float
        Of the least-squares line of T on V through the fit and its replicates, if it falls and these have more noise;
        otherwise 0.
    deviance : float
        D of the fit.
    deviance_replicates : ndarray (B,)
        Bootstrapped deviances.
    method : str
        "residual", "pairs" or "parametric".
    level : float
    retuned : bool
        Whether cost and kernel were chosen anew in every replicate.
    n_levels : int
        The number of levels of the response.
    n_groups : int or None
        The number of groups, where rows come in groups.
    of_weights : tuple of str
        As how many rows those with weights, and copies, count, for the printout; empty where each is one.
    """

    statistic: float
    replicates: Floats
    deviance: float
    deviance_replicates: Floats
    method: str
    level: float
    noise: float | None = None
    noise_replicates: Floats | None = None
    slope: float = 0.0
    retuned: bool = False
    n_levels: int = 2
    n_groups: int | None = None
    of_weights: tuple[str, ...] = ()

    @property
    def B(self) -> int:
        """The number of replicates."""
        return len(self.replicates)

    @property
    def n_failed(self) -> int:
        """How many replicates failed: a class lost, no certificate, no converged Platt map, a row not held out."""
        return failures(self.replicates)

    @property
    def critical_value(self) -> float:
        """Above it the fit is rejected: the ``level`` quantile of the replicates that did not fail; NaN if all did.

        Of T the replicate from which on pvalue ≤ 1 − level; infinite where they are too few for that.
        """
        return (upper_point if self.by_residuals else quantile)(self.replicates, self.level)

    @property
    def pvalue(self) -> float:
        """(1 + #{T* ≥ T}) / (1 + B), of the deviance (1 + #{D* ≥ D}) / (1 + B), over those that did not fail.

        NaN if all did.
        """
        return pvalue(self.replicates, self.statistic) if self._n_good else math.nan

    @property
    def _of_drawn_deviances(self) -> float | None:
        """The p-value of the deviance, of the replicates that T has too."""
        return pvalue(self.deviance_replicates, self.deviance) if self._n_good else None

    @property
    def reject(self) -> bool:
        """Whether the statistic exceeds the critical value, which says something where `is_decided`."""
        return bool(above(self.statistic, self.critical_value))

    @property
    def is_decided(self) -> bool:
        """Whether there are enough replicates for a p-value of 1 − level: with fewer no statistic could be rejected."""
        return self._n_good >= self._n_needed

    @property
    def _is_between(self) -> bool:
        """Whether the deviance exceeds the critical value for that lying between two replicates, and by no p-value."""
        return self.reject and self.pvalue > 1.0 - self.level

    @property
    def _n_good(self) -> int:
        return self.B - self.n_failed

    @property
    def _n_needed(self) -> int:
        return least_replicates(self.level, sides=1)

    @property
    def by_residuals(self) -> bool:
        """Whether the statistic is T."""
        return self.method == "residual"

    @property
    def verdict(self) -> str:
        """What the test says, in words."""
        if not self._n_good:
            return "No replicate could be fitted: there is nothing to compare with."
        if not self.is_decided:
            return (
                f"No verdict: a p-value of {1.0 - self.level:.4g} or less takes at least {self._n_needed} replicates "
                f"that do not fail, and there are {self._n_good}."
            )
        if not self.by_residuals:
            than = "exceeds" if self.reject else "does not exceed"
            told = f", between two of which that lies: the p-value is above {1.0 - self.level:.4g}"
            more = told if self._is_between else ""
            return f"The deviance {than} the {self.level:.4g} point of its replicates{more}."
        if self.reject:
            return (
                "Rejected: structure is left that these probabilities do not explain; the decision rule may still be "
                "good."
            )
        return (
            "Not rejected: no structure was found that these probabilities do not explain; what changes within "
            "the median distance between rows is hardly seen."
        )

    def plot(self, ax: Any = None) -> Any:
        """Histogram of the replicates with the statistic of the fit and the critical value. Returns the Axes."""
        names = {"letter": "T", "xlabel": "T* of replicates"} if self.by_residuals else {}
        return replicates_plot(self.replicates, self.statistic, self.critical_value, level=self.level, ax=ax, **names)

    def summary(self) -> Summary:
        """Statistic, critical value, p-value, decision, what they are worth, and failed replicates."""
        of = "T, of held-out residuals" if self.by_residuals else "Deviance"
        block = Block(
            left=(
                Entry(of, self.statistic),
                self._point(self.critical_value),
                Entry("p-value", or_none(self.pvalue), "share"),
                Entry(
                    "Reject the fit" if self.by_residuals else "Above that point",
                    self.reject if self.is_decided else "undecided",
                ),
            ),
            right=(
                Entry("Method", self.method),
                Entry("Replicates", self.B, "count"),
                Entry("  failed", self.n_failed, "count"),
                *((Entry("Tuned in each", self.retuned),) if self.by_residuals else ()),
            ),
        )
        of_rows = self.of_weights if self.n_groups is None else (self._note_of_groups(),)
        lost = failed_warning(self.n_failed, self.B)
        if not self.by_residuals:
            undecided = () if self.is_decided and not self._is_between else (self.verdict,)
            notes = (*undecided, *of_rows, self._of_deviance, _FLEXIBLE.format(drawn=self.drawn))
            return Summary("Goodness of fit by the bootstrapped deviance", (block,), notes, lost)
        beside = Block(
            title="Beside it: the bootstrapped deviance",
            left=(
                Entry("Deviance", self.deviance),
                self._point(quantile(self.deviance_replicates, self.level)),
            ),
            right=(Entry("p-value", self._of_drawn_deviances, "share"),),
        )
        notes = (
            f"{_H0[min(self.n_levels, 3)]}. {self.verdict}",
            *self._note_of_noise(),
            *of_rows,
            RATES,
            self._of_deviance,
        )
        return Summary("Goodness of fit by held-out residuals", (block, beside), notes, lost)

    def _point(self, below: float) -> Entry:
        return Entry(f"{percent(self.level)} of replicates below", below if self.is_decided else None)

    @property
    def drawn(self) -> str:
        """What the replicates of a bootstrapped deviance are of."""
        return _GROUPS if self.method == "pairs" and self.n_groups is not None else _DRAWN[self.method]

    @property
    def _of_deviance(self) -> str:
        return DEVIANCE_NOTE if self.n_levels == 2 else DEVIANCE_NOTE.replace("binary ", "")

    def _note_of_noise(self) -> tuple[str, ...]:
        if self.noise is None or self.noise_replicates is None or self.slope == 0.0:
            return ()
        theirs, own = (f"{noise:.4g}" for noise in (np.nanmean(self.noise_replicates), self.noise))
        if theirs == own:
            return ()
        return (
            f"The replicates report more noise than the fit, sum pi(1 - pi) of held-out rows: {theirs} in the mean "
            f"against {own}. T falls with it, and theirs are moved along a line to what they would be at the noise of "
            "the fit.",
        )

    def _note_of_groups(self) -> str:
        if self.method == "pairs":
            return f"Replicates draw the {self.n_groups} groups, whole."
        return (
            f"Rows come in {self.n_groups} groups, and replicates draw their labels independently of each other, given "
            "the predictors: where rows of one group share what the predictors do not have, H0 is rejected for that."
        )

    def __repr__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        statistic = "T" if self.by_residuals else "deviance"
        known = self.is_decided and math.isfinite(self.critical_value)
        critical = f"{self.critical_value:.6g}" if known else "none"
        return (
            f"<GofResult: {statistic} {self.statistic:.6g}, critical value {critical} at level "
            f"{self.level:g}, p-value {self.pvalue:.4g}; {self.method}, {self.B} replicates{failed}>"
        )
