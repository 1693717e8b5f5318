"""Resampling results with their labels: leave-one-out, influence, goodness of fit [003]."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from svmstat._checks import between
from svmstat.gacv import observed_loss
from svmstat.losses import Loss
from svmstat.plots import calibration_plot, index_plot, replicates_plot
from svmstat.resampling import LeaveOneOut
from svmstat.summary import Summary, summarize_gof, summarize_loo

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LooResult:
    """The leave-one-out of a fit; n rows on the index of the data.

    Attributes
    ----------
    arrays : LeaveOneOut
        The numbers, row by row.
    index : Index (n,)
    y, weights : ndarray (n,)
        Labels, −1 or +1, and case weights.
    full_decision_values : ndarray (n,)
        f(x_k) of the fit to all rows.
    deviance : float
        D of the fit to all rows.
    loss : Loss
        Margins and class weights.
    """

    arrays: LeaveOneOut
    index: pd.Index
    y: Floats
    weights: Floats
    full_decision_values: Floats
    deviance: float
    loss: Loss

    def _by_row(self, values: NDArray[Any], name: str) -> pd.Series:
        return pd.Series(values, index=self.index, name=name)

    @property
    def decision_values(self) -> pd.Series:
        """f^{[−k]}(x_k) (n,), each by the fit without its row; NaN where the class vanished with it."""
        return self._by_row(self.arrays.decision_values, "decision_value")

    @property
    def prob(self) -> pd.Series:
        """P(event | x_k) (n,), each by the fit and the Platt map without its row."""
        return self._by_row(self.arrays.probability, "probability")

    @property
    def log_likelihood(self) -> pd.Series:
        """log p^{[−k]}_{y_k}(x_k) (n,)."""
        return self._by_row(self.arrays.log_likelihood, "log_likelihood")

    @property
    def deviance_deleted(self) -> pd.Series:
        """D_(k) (n,), the deviance of the fit without row k over the remaining rows."""
        return self._by_row(self.arrays.deviance_deleted, "deviance_deleted")

    @property
    def score(self) -> float:
        """CV score −2 Σ w_k log p^{[−k]}_{y_k}(x_k); NaN if a row could not be left out."""
        used = self.weights > 0
        return float(-2.0 * self.weights[used] @ self.arrays.log_likelihood[used])

    @property
    def score_se(self) -> float:
        """Standard error of the score, 2 √(n · var of the log-likelihoods), weights being repeats."""
        used = self.weights > 0
        w, values = self.weights[used], self.arrays.log_likelihood[used]
        total = w.sum()
        variance = w @ (values - w @ values / total) ** 2 / (total - 1.0)
        return float(2.0 * np.sqrt(total * variance))

    @property
    def mean_loss(self) -> float:
        """V₀ = (1/Σw) Σ w L [m − y f^{[−k]}(x_k)]₊ [000: 11]; NaN if a row could not be left out."""
        return observed_loss(self.arrays.decision_values, self.y, self.weights, self.loss)

    @property
    def error_rate(self) -> float:
        """Weighted share of rows that the fit without them predicts wrongly; NaN if a row could not be left out."""
        return self._error(self.arrays.decision_values)

    @property
    def apparent_error(self) -> float:
        """Weighted share of rows that the fit to all of them predicts wrongly."""
        return self._error(self.full_decision_values)

    @property
    def excess_error(self) -> float:
        """Leave-one-out error minus apparent error."""
        return self.error_rate - self.apparent_error

    def _error(self, f: Floats) -> float:
        used = self.weights > 0
        if np.isnan(f[used]).any():
            return float("nan")
        return float(self.weights[(f > 0) != (self.y > 0)].sum() / self.weights.sum())

    @property
    def n_failed(self) -> int:
        """How many rows could not be left out: a class lost, no certificate, or no converged Platt map."""
        return self.arrays.n_failed

    @property
    def n_rescued(self) -> int:
        """How many reduced fits left the exact path and were solved anew."""
        return self.arrays.n_rescued

    def summary_frame(self) -> pd.DataFrame:
        """One row for each row of the fit: decision value, probability, log-likelihood, error, deleted deviance."""
        wrong = (self.arrays.decision_values > 0) != (self.y > 0)
        return pd.DataFrame(
            {
                "decision_value": self.arrays.decision_values,
                "probability": self.arrays.probability,
                "log_likelihood": self.arrays.log_likelihood,
                "error": np.where(np.isnan(self.arrays.decision_values), np.nan, wrong.astype(float)),
                "deviance_deleted": self.arrays.deviance_deleted,
                "kkt_violation": self.arrays.violation,
            },
            index=self.index,
        )

    def plot_calibration(self, ax: Any = None) -> Any:
        """Leave-one-out probabilities against how often the event was observed. Returns the Axes."""
        return calibration_plot(self.prob, self.y > 0, self.weights, ax=ax)

    def summary(self) -> Summary:
        """Score, errors and what went wrong."""
        return summarize_loo(self)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()


@dataclass(frozen=True, slots=True, eq=False)
class InfluenceResult:
    """How the fit changes when a row is left out.

    Attributes
    ----------
    loo : LooResult
    """

    loo: LooResult

    @property
    def delta_deviance(self) -> pd.Series:
        """ΔD_k = D − D_(k) (n,)."""
        values = self.loo.deviance - self.loo.arrays.deviance_deleted
        return pd.Series(values, index=self.loo.index, name="delta_deviance")

    def critical_value(self, level: float = 0.95) -> float:
        """The ``level`` quantile of χ²(1), to which ΔD_k is referred."""
        return float(chdtri(1, 1.0 - between("level", level, 0.0, 1.0)))

    def summary_frame(self) -> pd.DataFrame:
        """One row for each row of the fit: ΔD, its χ²(1) p-value, largest and root mean square change of f."""
        delta = self.delta_deviance
        return pd.DataFrame(
            {
                "delta_deviance": delta,
                "pvalue": chdtrc(1, np.maximum(delta, 0.0)),
                "max_change": self.loo.arrays.max_change,
                "rms_change": self.loo.arrays.rms_change,
            },
            index=self.loo.index,
        )

    def plot_index(self, level: float = 0.95, ax: Any = None) -> Any:
        """ΔD by row with the χ²(1) line at ``level``; rows above it are labelled. Returns the Axes."""
        return index_plot(
            self.delta_deviance.to_numpy(), list(map(str, self.loo.index)), self.critical_value(level), level=level,
            ax=ax,
        )  # fmt: skip


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
        return summarize_gof(self)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()
