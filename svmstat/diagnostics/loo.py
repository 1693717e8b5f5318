"""Leave-one-out, with its labels [003]."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes
from svmstat._tools.texts import counted
from svmstat.diagnostics.evidence import Evidence
from svmstat.diagnostics.gacv import observed_loss
from svmstat.diagnostics.worth import held_out_tables, notes_of_held_out_alone, warnings_of_held_out
from svmstat.objective.losses import Loss
from svmstat.objective.measures import share
from svmstat.objective.units import are_groups
from svmstat.reporting.plots import calibration_plot, class_calibration_plot
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.rendering.values import or_none
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling import LeaveOneOut


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class LooResult(Printed, Evidence):
    """The leave-one-out of a fit; n rows on the index of the data.

    Attributes
    ----------
    arrays : LeaveOneOut
        The numbers, row by row.
    full_winner : ndarray (n,) of int
        The levels that the fit to all rows predicts.
    deviance : float
        D of the fit to all rows.
    losses : tuple of Loss
        Margins and class weights of each pair.
    """

    arrays: LeaveOneOut
    full_winner: Codes
    deviance: float
    losses: tuple[Loss, ...]

    @property
    def deviance_deleted(self) -> pd.Series:
        """D_(k) (n,), the deviance of the fit without row k, or its group, and of its map, over the remaining rows."""
        return self._by_row(self.arrays.changes.deviance_deleted, "deviance_deleted")

    @property
    def max_change(self) -> pd.Series:
        """The largest |f^{[−k]} − f| over rows and pairs (n,)."""
        return self._by_row(self.arrays.changes.max_change, "max_change")

    @property
    def rms_change(self) -> pd.Series:
        """The root mean square f^{[−k]} − f over the other rows, and pairs (n,)."""
        return self._by_row(self.arrays.changes.rms_change, "rms_change")

    @property
    def mean_loss(self) -> float:
        """V₀ = (1/Σw) Σ w L [m − y f^{[−k]}(x_k)]₊ [000: section 4]; NaN if a row could not be left out.

        Raises
        ------
        UnavailableError
            For more than two levels.
        """
        self.shape.require_two("mean_loss", "score or error_rate")
        y = np.where(self.codes == self.shape.response.event_code, 1.0, -1.0)
        return observed_loss(self.values[:, 0], y, self.weights, self.losses[0])

    @property
    def apparent_error(self) -> float:
        """Weighted share of rows that the fit to all of them predicts wrongly."""
        return share(self.full_winner != self.codes, self.weights)

    @property
    def n_refits(self) -> int:
        """How many pairs were refitted in all: for each different row those that hold its class."""
        return self.arrays.n_refits

    @property
    def n_rescued(self) -> int:
        """How many refits left the exact path and were solved anew."""
        return self.arrays.n_rescued

    def summary_frame(self, by: str = "row") -> pd.DataFrame:
        """One row for each row of the fit: prediction, probability, log-likelihood, error, deleted deviance.

        The first columns are ``decision_value`` and ``probability`` of the event; of more than two levels ``predicted``
        and the ``probability`` of the level that was observed.

        Parameters
        ----------
        by : {"row", "group"}
            "group" gives a row for each group instead: ``rows`` and their ``weight``, ``score`` −2 Σ w log π,
            ``score_per_row``, ``error_rate``, ``deviance_deleted`` and ``kkt_violation``.

        Raises
        ------
        UnavailableError
            With by="group" for a fit without groups.
        """
        # Evidence and not super(): a class with slots is made anew
        found, arrays = Evidence.summary_frame(self, by), self.arrays
        of_fit = {"deviance_deleted": arrays.changes.deviance_deleted, "kkt_violation": arrays.violation}
        if by == "row":
            return found.assign(**of_fit)
        return found.join(pd.DataFrame(of_fit)[self._used].groupby(self._label).first())

    def plot_calibration(self, ax: Any = None) -> Any:
        """Leave-one-out probabilities against how often the event, or each of more levels, was observed.

        Returns the Axes, of more than two levels an array of them.
        """
        response = self.shape.response
        what, independent = f"predicted probability ({self.how})", self.units is None
        if self.shape.two:
            event = self.codes == response.event_code
            along = self.along(response.event_code)
            return calibration_plot(
                self.prob, event, self.weights, ax=ax, xlabel=what, independent=independent, along=along
            )
        observed = self.codes[:, None] == np.arange(len(response.levels))
        return class_calibration_plot(
            self.probability, observed, self.weights, response.levels, ax=ax, xlabel=what, independent=independent,
            along=self.along_all,
        )  # fmt: skip

    @property
    def excess_error(self) -> float:
        """Leave-one-out error minus apparent error."""
        return self.error_rate - self.apparent_error

    def what_failed(self) -> tuple[str, ...]:
        """How many rows have no numbers, and how many have some that are not exact."""
        lost = self.failed & (self.arrays.winner < 0)
        found = []
        for rows, what in (
            (lost, "could not be left out: a class lost, or too few for nu"),
            (self.failed & ~lost, "left out without a certificate or a converged Platt map: numbers are not exact"),
        ):
            if count := int(np.count_nonzero(rows)):
                of = ""
                if self.groups is not None:
                    G = self.groups[rows].nunique()
                    of = f", of {counted(G, 'group')},"
                found.append(f"{counted(count, 'row')}{of} {what}.")
        return tuple(found)

    def summary(self) -> Summary:
        """Score, errors, ranking and calibration of the rows by the fits without them, and what went wrong."""
        warnings = (*self.what_failed(), *warnings_of_held_out(self))
        errors = Block(
            left=(
                *([Entry("Groups left out", self._n_groups, "count")] if are_groups(self.units) else []),
                Entry("Rows left out", int((self._used & (self.arrays.winner >= 0)).sum()), "count"),
            ),
            right=(
                Entry("Apparent error", self.apparent_error, "share"),
                Entry("Excess error", or_none(self.excess_error), "share"),
            ),
        )
        return Summary(self.how.capitalize(), (*held_out_tables(self), errors), notes_of_held_out_alone(self), warnings)

    @property
    def _n_groups(self) -> int:
        """How many groups could be left out."""
        units = self.units_of(self.arrays.winner >= 0)
        return units.count if are_groups(units) else 0

    def __repr__(self) -> str:
        groups = f"{self._n_groups} groups, " if are_groups(self.units) else ""
        failed = f", {counted(self.n_failed, 'row')} failed" if self.n_failed else ""
        return (
            f"<{type(self).__name__}: n = {len(self.index)}, {groups}CV score {self.score:.6g}, {self.how} error "
            f"{self.error_rate:.4g}, apparent error {self.apparent_error:.4g}{failed}>"
        )
