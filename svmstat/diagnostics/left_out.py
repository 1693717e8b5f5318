"""What every leave-one-out has in common, whether of two classes or more [003]."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat.summary import Summary, summarize_loo

Floats = NDArray[np.float64]


class LeftOut(ABC):
    """What every leave-one-out has, of two classes or more; n rows on the index of the data.

    Attributes
    ----------
    index : Index (n,)
    weights : ndarray (n,)
        Case weights.
    deviance : float
        D of the fit to all rows.
    """

    __slots__ = ()
    index: pd.Index
    weights: Floats
    deviance: float

    @property
    @abstractmethod
    def log_likelihood(self) -> pd.Series:
        """log p^{[−k]}_{y_k}(x_k) (n,)."""

    @property
    @abstractmethod
    def error(self) -> pd.Series:
        """Whether the fit without a row predicts it wrongly (n,), 1 or 0; NaN where there is no prediction."""

    @property
    @abstractmethod
    def apparent_error(self) -> float:
        """Weighted share of rows that the fit to all of them predicts wrongly."""

    @property
    @abstractmethod
    def deviance_deleted(self) -> pd.Series:
        """D_(k) (n,), the deviance of the fit without row k over the remaining rows."""

    @property
    @abstractmethod
    def max_change(self) -> pd.Series:
        """The largest |f^{[−k]} − f| over the rows (n,)."""

    @property
    @abstractmethod
    def rms_change(self) -> pd.Series:
        """The root mean square f^{[−k]} − f over the rows (n,)."""

    @property
    @abstractmethod
    def n_failed(self) -> int:
        """How many rows could not be left out: a class lost, no certificate, or no converged Platt map."""

    @abstractmethod
    def plot_calibration(self, ax: Any = None) -> Any:
        """Leave-one-out probabilities against how often the classes were observed. Returns the Axes."""

    def _by_row(self, values: NDArray[Any], name: str) -> pd.Series:
        return pd.Series(values, index=self.index, name=name)

    @property
    def score(self) -> float:
        """CV score −2 Σ w_k log p^{[−k]}_{y_k}(x_k); NaN if a row could not be left out."""
        used = self.weights > 0
        return float(-2.0 * self.weights[used] @ self.log_likelihood.to_numpy()[used])

    @property
    def score_se(self) -> float:
        """Standard error of the score, 2 √(n · var of the log-likelihoods), weights being repeats."""
        used = self.weights > 0
        w, values = self.weights[used], self.log_likelihood.to_numpy()[used]
        total = w.sum()
        variance = w @ (values - w @ values / total) ** 2 / (total - 1.0)
        return float(2.0 * np.sqrt(total * variance))

    @property
    def error_rate(self) -> float:
        """Weighted share of rows that the fit without them predicts wrongly; NaN if a row could not be left out."""
        used = self.weights > 0
        return float(self.weights[used] @ self.error.to_numpy()[used] / self.weights.sum())

    @property
    def excess_error(self) -> float:
        """Leave-one-out error minus apparent error."""
        return self.error_rate - self.apparent_error

    def summary(self) -> Summary:
        """Score, errors and what went wrong."""
        return summarize_loo(self)

    def __repr__(self) -> str:
        failed = f", {self.n_failed} row{'s'[: self.n_failed != 1]} failed" if self.n_failed else ""
        return (
            f"<{type(self).__name__}: n = {len(self.index)}, CV score {self.score:.6g}, leave-one-out error "
            f"{self.error_rate:.4g}, apparent error {self.apparent_error:.4g}{failed}>"
        )

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()
