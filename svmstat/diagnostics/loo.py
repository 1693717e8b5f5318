"""Leave-one-out, with its labels [003]."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.diagnostics.gacv import observed_loss
from svmstat.diagnostics.shape import Shape
from svmstat.objective.losses import Loss
from svmstat.objective.measures import share
from svmstat.reporting.plots import calibration_plot, class_calibration_plot
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.summary import Summary
from svmstat.resampling import LeaveOneOut


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LooResult:
    """The leave-one-out of a fit; n rows on the index of the data.

    Attributes
    ----------
    arrays : LeaveOneOut
        The numbers, row by row.
    index : Index (n,)
    shape : Shape
        The levels and their pairs.
    codes : ndarray (n,) of int
        The positions of the rows' levels.
    weights : ndarray (n,)
        Case weights.
    full_winner : ndarray (n,) of int
        The levels that the fit to all rows predicts.
    deviance : float
        D of the fit to all rows.
    losses : tuple of Loss
        Margins and class weights of each pair.
    """

    arrays: LeaveOneOut
    index: pd.Index
    shape: Shape
    codes: Codes
    weights: Floats
    full_winner: Codes
    deviance: float
    losses: tuple[Loss, ...]

    def _by_row(self, values: NDArray[Any], name: str) -> pd.Series:
        return pd.Series(values, index=self.index, name=name)

    @property
    def decision_values(self) -> Any:
        """f^{[−k]}(x_k), each by the fit without its row; NaN where the class vanished with it.

        Series (n,); DataFrame (n, P), by pairs of more than two levels.
        """
        return self.shape.of_pairs(self.arrays.decision_values, self.index, "decision_value")

    @property
    def prob(self) -> Any:
        """P(event | x_k), each by the fit and the Platt map without its row.

        Series (n,); DataFrame (n, K) of all levels if there are more than two.
        """
        return self.shape.of_classes(self.arrays.probability, self.index, "probability")

    @property
    def log_likelihood(self) -> pd.Series:
        """log p^{[−k]}_{y_k}(x_k) (n,)."""
        return self._by_row(self.arrays.log_likelihood, "log_likelihood")

    @property
    def deviance_deleted(self) -> pd.Series:
        """D_(k) (n,), the deviance of the fit without row k over the remaining rows."""
        return self._by_row(self.arrays.changes.deviance_deleted, "deviance_deleted")

    @property
    def max_change(self) -> pd.Series:
        """The largest |f^{[−k]} − f| over rows and pairs (n,)."""
        return self._by_row(self.arrays.changes.max_change, "max_change")

    @property
    def rms_change(self) -> pd.Series:
        """The root mean square f^{[−k]} − f over rows and pairs (n,)."""
        return self._by_row(self.arrays.changes.rms_change, "rms_change")

    @property
    def mean_loss(self) -> float:
        """V₀ = (1/Σw) Σ w L [m − y f^{[−k]}(x_k)]₊ [000: 11]; NaN if a row could not be left out.

        Raises
        ------
        UnavailableError
            For more than two levels.
        """
        self.shape.require_two("mean_loss", "score or error_rate")
        y = np.where(self.codes == self.shape.response.event_code, 1.0, -1.0)
        return observed_loss(self.arrays.decision_values[:, 0], y, self.weights, self.losses[0])

    @property
    def error(self) -> pd.Series:
        """Whether the fit without a row predicts it wrongly (n,), 1 or 0; NaN without a prediction or level."""
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
        """How many pairs were refitted in all: for each different row those that hold its class."""
        return self.arrays.n_refits

    @property
    def n_rescued(self) -> int:
        """How many refits left the exact path and were solved anew."""
        return self.arrays.n_rescued

    def summary_frame(self) -> pd.DataFrame:
        """One row for each row of the fit: prediction, probability, log-likelihood, error, deleted deviance.

        The first columns are ``decision_value`` and ``probability`` of the event; of more than two levels ``predicted``
        and the ``probability`` of the level that was observed.
        """
        arrays = self.arrays
        if self.shape.two:
            first = {"decision_value": self.decision_values, "probability": self.prob}
        else:
            own = arrays.probability[np.arange(len(self.codes)), np.maximum(self.codes, 0)]
            predicted = self.shape.response.labels(arrays.winner, self.index)
            first = {"predicted": predicted, "probability": np.where(self.codes >= 0, own, np.nan)}
        return pd.DataFrame(
            {
                **first,
                "log_likelihood": arrays.log_likelihood,
                "error": self.error,
                "deviance_deleted": arrays.changes.deviance_deleted,
                "kkt_violation": arrays.violation,
            },
            index=self.index,
        )

    def plot_calibration(self, ax: Any = None) -> Any:
        """Leave-one-out probabilities against how often the event, or each of more levels, was observed.

        Returns the Axes.
        """
        response = self.shape.response
        if self.shape.two:
            return calibration_plot(self.prob, self.codes == response.event_code, self.weights, ax=ax)
        observed = self.codes[:, None] == np.arange(len(response.levels))
        return class_calibration_plot(self.arrays.probability, observed, self.weights, response.levels, ax=ax)

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
        block = Block(
            left=(
                Entry("CV score", self.score),
                Entry("  standard error", self.score_se),
                Entry("Rows left out", int((self.weights > 0).sum()), "count"),
            ),
            right=(
                Entry("Leave-one-out error", self.error_rate, "share"),
                Entry("Apparent error", self.apparent_error, "share"),
                Entry("Excess error", self.excess_error, "share"),
            ),
        )
        rows = "row" if self.n_failed == 1 else "rows"
        lost = f"{rows} could not be left out: a class lost, too few for nu, no certificate or no converged Platt map."
        warnings = (f"{self.n_failed} {lost}",) if self.n_failed else ()
        notes = ("The CV score is -2 times the log-likelihood of the rows by the fits without them.",)
        return Summary("Leave-one-out", (block,), notes, warnings)

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
