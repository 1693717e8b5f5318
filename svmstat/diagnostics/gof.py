"""Goodness of fit: the deviance against its bootstrap distribution [003: 2.3]."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.reporting.plots import replicates_plot
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.summary import Summary


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GofResult:
    """The deviance against its bootstrap distribution.

    Attributes
    ----------
    statistic : float
        D of the fit.
    replicates : ndarray (B,)
        Bootstrapped deviances; NaN where a replicate failed.
    method : str
        "pairs" or "parametric".
    level : float
    """

    statistic: float
    replicates: Floats
    method: str
    level: float

    @property
    def B(self) -> int:
        """The number of replicates."""
        return len(self.replicates)

    @property
    def n_failed(self) -> int:
        """How many replicates failed: a class lost, no certificate, or no converged Platt map."""
        return int(np.isnan(self.replicates).sum())

    @property
    def critical_value(self) -> float:
        """The ``level`` quantile of the replicates that did not fail; NaN if all did."""
        good = self.replicates[~np.isnan(self.replicates)]
        return float(np.quantile(good, self.level)) if len(good) else float("nan")

    @property
    def pvalue(self) -> float:
        """(1 + #{D* ≥ D}) / (1 + B) over the replicates that did not fail."""
        good = self.replicates[~np.isnan(self.replicates)]
        return float((1 + np.count_nonzero(good >= self.statistic)) / (1 + len(good)))

    @property
    def reject(self) -> bool:
        """Whether D exceeds the critical value."""
        return bool(self.statistic > self.critical_value)

    def plot(self, ax: Any = None) -> Any:
        """Histogram of the replicates with D and the critical value. Returns the Axes."""
        return replicates_plot(self.replicates, self.statistic, self.critical_value, level=self.level, ax=ax)

    def summary(self) -> Summary:
        """Statistic, critical value, p-value, decision, failed replicates."""
        block = Block(
            left=(
                Entry("Deviance", self.statistic),
                Entry(f"{100 * self.level:g} % of replicates below", self.critical_value),
                Entry("p-value", self.pvalue, "share"),
                Entry("Reject the fit", self.reject),
            ),
            right=(
                Entry("Method", self.method),
                Entry("Replicates", self.B, "count"),
                Entry("  failed", self.n_failed, "count"),
            ),
        )
        return Summary("Goodness of fit by the bootstrapped deviance", (block,))

    def __repr__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        return (
            f"<GofResult: deviance {self.statistic:.6g}, {self.method} bootstrap of {self.B} replicates{failed}, "
            f"critical value {self.critical_value:.6g} at level {self.level:g}, p-value {self.pvalue:.4g}>"
        )

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()
