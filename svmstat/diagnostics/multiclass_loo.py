"""Leave-one-out of more than two classes, with its labels [003]."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat.diagnostics.left_out import LeftOut
from svmstat.formula import Response
from svmstat.measures import share
from svmstat.multiclass import PairsDeletion, PairsLeaveOneOut
from svmstat.plots import class_calibration_plot

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassLooResult(LeftOut):
    """The leave-one-out of a fit with more than two classes; n rows on the index of the data.

    Attributes
    ----------
    arrays : PairsLeaveOneOut
        The numbers, row by row.
    index : Index (n,)
    response : Response
        With its K levels.
    pair_names : MultiIndex (P,)
        The pairs of levels.
    codes : ndarray (n,) of int
        The positions of the rows' levels.
    weights : ndarray (n,)
        Case weights.
    full_winner : ndarray (n,) of int
        The levels that the fit to all rows predicts.
    deviance : float
        D of the fit to all rows.
    changes : callable
        Gives the `PairsDeletion`; the first call computes it.
    """

    arrays: PairsLeaveOneOut
    index: pd.Index
    response: Response
    pair_names: pd.MultiIndex
    codes: NDArray[np.intp]
    weights: Floats
    full_winner: NDArray[np.intp]
    deviance: float
    changes: Callable[[], PairsDeletion]

    @property
    def decision_values(self) -> pd.DataFrame:
        """f^{[−k]}(x_k) (n, P) of every pair; NaN for pairs that lose the class with the row."""
        return pd.DataFrame(self.arrays.decision_values, self.index, self.pair_names, copy=True)

    @property
    def prob(self) -> pd.DataFrame:
        """Class probabilities of x_k (n, K), each row by the fits and the Platt maps without it."""
        return pd.DataFrame(self.arrays.probability, self.index, pd.Index(self.response.levels), copy=True)

    @property
    def log_likelihood(self) -> pd.Series:
        """log p^{[−k]}_{y_k}(x_k) (n,)."""
        return self._by_row(self.arrays.log_likelihood, "log_likelihood")

    @property
    def deviance_deleted(self) -> pd.Series:
        """D_(k) (n,), the deviance of the fit without row k over the other rows; computed when first asked for."""
        return self._by_row(self.changes().deviance_deleted, "deviance_deleted")

    @property
    def max_change(self) -> pd.Series:
        """The largest |f^{[−k]} − f| over rows and pairs (n,); computed when first asked for."""
        return self._by_row(self.changes().max_change, "max_change")

    @property
    def rms_change(self) -> pd.Series:
        """The root mean square f^{[−k]} − f over rows and pairs (n,); computed when first asked for."""
        return self._by_row(self.changes().rms_change, "rms_change")

    @property
    def error(self) -> pd.Series:
        """Whether the votes without a row predict it wrongly (n,), 1 or 0; NaN without a prediction or level."""
        winner = self.arrays.winner
        known = (winner >= 0) & (self.codes >= 0)
        return self._by_row(np.where(known, winner != self.codes, np.nan), "error")

    @property
    def apparent_error(self) -> float:
        """Weighted share of rows that the fit to all of them predicts wrongly."""
        return share(self.full_winner != self.codes, self.weights)

    @property
    def n_failed(self) -> int:
        """How many rows could not be left out: a class lost, no certificate, or no converged Platt map."""
        return self.arrays.n_failed

    @property
    def n_refits(self) -> int:
        """How many pairs were refitted in all: for each row those that hold its class."""
        return self.arrays.n_refits

    @property
    def n_rescued(self) -> int:
        """How many refitted pairs left the exact path and were solved anew."""
        return self.arrays.n_rescued

    def summary_frame(self) -> pd.DataFrame:
        """One row for each row of the fit: predicted level, probability of its own level, error, deleted deviance."""
        own = self.arrays.probability[np.arange(len(self.codes)), np.maximum(self.codes, 0)]
        return pd.DataFrame(
            {
                "predicted": self.response.labels(self.arrays.winner, self.index),
                "probability": np.where(self.codes >= 0, own, np.nan),
                "log_likelihood": self.arrays.log_likelihood,
                "error": self.error,
                "deviance_deleted": self.deviance_deleted,
                "kkt_violation": self.arrays.violation,
            },
            index=self.index,
        )

    def plot_calibration(self, ax: Any = None) -> Any:
        """Leave-one-out probabilities against observed frequencies, one curve for each class. Returns the Axes."""
        levels = self.response.levels
        observed = self.codes[:, None] == np.arange(len(levels))
        return class_calibration_plot(self.arrays.probability, observed, self.weights, levels, ax=ax)
