"""Leave-one-out of two classes, with its labels [003]."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat.diagnostics.left_out import LeftOut
from svmstat.gacv import observed_loss
from svmstat.losses import Loss
from svmstat.measures import share
from svmstat.plots import calibration_plot
from svmstat.resampling import LeaveOneOut

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LooResult(LeftOut):
    """The leave-one-out of a fit with two classes; n rows on the index of the data.

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
    def max_change(self) -> pd.Series:
        """The largest |f^{[−k]} − f| over the rows (n,)."""
        return self._by_row(self.arrays.max_change, "max_change")

    @property
    def rms_change(self) -> pd.Series:
        """The root mean square f^{[−k]} − f over the rows (n,)."""
        return self._by_row(self.arrays.rms_change, "rms_change")

    @property
    def mean_loss(self) -> float:
        """V₀ = (1/Σw) Σ w L [m − y f^{[−k]}(x_k)]₊ [000: 11]; NaN if a row could not be left out."""
        return observed_loss(self.arrays.decision_values, self.y, self.weights, self.loss)

    @property
    def error(self) -> pd.Series:
        """Whether the fit without a row predicts it wrongly (n,), 1 or 0; NaN where the class vanished with it."""
        f = self.arrays.decision_values
        return self._by_row(np.where(np.isnan(f), np.nan, (f > 0) != (self.y > 0)), "error")

    @property
    def apparent_error(self) -> float:
        """Weighted share of rows that the fit to all of them predicts wrongly."""
        return share((self.full_decision_values > 0) != (self.y > 0), self.weights)

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
        return pd.DataFrame(
            {
                "decision_value": self.arrays.decision_values,
                "probability": self.arrays.probability,
                "log_likelihood": self.arrays.log_likelihood,
                "error": self.error,
                "deviance_deleted": self.arrays.deviance_deleted,
                "kkt_violation": self.arrays.violation,
            },
            index=self.index,
        )

    def plot_calibration(self, ax: Any = None) -> Any:
        """Leave-one-out probabilities against how often the event was observed. Returns the Axes."""
        return calibration_plot(self.prob, self.y > 0, self.weights, ax=ax)
