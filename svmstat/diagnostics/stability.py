"""How predicted probabilities vary from sample to sample."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.frames import PANDAS, alike
from svmstat._tools.texts import counted, probability_of
from svmstat.diagnostics.band import OTHER_MAPS, WHAT, Band, told_outside, why_lost
from svmstat.diagnostics.outcome import FLAT
from svmstat.diagnostics.shape import Shape
from svmstat.reporting.plots import stability_plot
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table
from svmstat.reporting.rendering.values import or_none, percent
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling.replicates import Spread

_NOTES = (
    "se, lower and upper are of refits to rows, or groups if the fit has them, drawn with replacement, each with a map "
    "of the rows that it left out: where the estimate would lie with other samples of this size.",
    "It is no confidence interval for the true probability. In simulations with C and gamma fixed (python -m "
    "benchmarks validity sets) the 95 % interval covers the mean of the estimate over samples in 0.95 to 1.00 of rows, "
    "the true probability in 0.49 to 0.99: least where a level is rare or the truth rougher than the fit; where levels "
    "were nearly separated, in 0.77 to 0.98 and 0.15 to 0.50; the mean in 0.92 to 0.93 where columns have heavy tails, "
    "whose scaling refits keep (tails).",
)
_BEYOND = (
    "{rows} {has} a value beyond those of the fit's rows, of a predictor or of what the formula makes of some: no data "
    "tell what holds there, and se and interval do not know that. The f of an rbf kernel goes to its intercept far "
    "from all rows."
)
_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PredictionResult(Printed):
    """Probabilities of m rows, with the stability of the estimate: no confidence interval of the true probability.

    Attributes
    ----------
    index : Index (m,)
    shape : Shape
        The K levels.
    probability : ndarray (m, K)
        Of the fit, as `predict_proba`; NaN where a predictor is missing.
    spread : Spread
        Over the replicates: standard deviations and percentiles, each (m, K); NaN too where too few have probabilities.
    level : float
        The share of the replicates between the percentiles.
    B : int
        Number of replicates.
    n_failed : int
        How many of them have no probabilities: a class lost or not left out, no certificate, or no converged map.
    kind : str
        The library of the data frame that the rows are of.
    other_maps : str
        The calibration of the probabilities where the replicates have maps of another kind, Platt's of the rows that
        they left out; otherwise empty.
    flat : bool
        Whether all rows have the same probability, whatever their f.
    beyond : int
        How many rows have a column of the design beyond the values of the rows of the fit.
    """

    index: pd.Index
    shape: Shape
    probability: Floats
    spread: Spread
    level: float
    B: int
    n_failed: int
    kind: str = PANDAS
    other_maps: str = ""
    flat: bool = False
    beyond: int = 0

    def summary_frame(self) -> Any:
        """``prob``, ``se``, ``lower`` and ``upper`` of the event (m, 4), in the kind of frame of the rows.

        Of more than two levels K rows for each one, with the ``level`` in the first column and its numbers beside it.
        """
        return alike(self._frame(), self.kind)

    def _frame(self) -> pd.DataFrame:
        """The same as a frame of pandas."""
        spread, levels = self.spread, self.shape.levels
        columns = {"prob": self.probability, "se": spread.se, "lower": spread.lower, "upper": spread.upper}
        if self.shape.two:
            event = self.shape.response.event_code
            return pd.DataFrame({name: values[:, event] for name, values in columns.items()}, index=self.index)
        first = {"level": np.tile(np.asarray(levels), len(self.index))}
        long = {name: values.ravel() for name, values in columns.items()}
        return pd.DataFrame(first | long, index=self.index.repeat(len(levels)))

    def plot(self, ax: Any = None) -> Any:
        """Probabilities of the event, or of each of more levels, in their order, with the band. Returns the Axes."""
        response, shown = self.shape.response, self.shape.shown
        names = [probability_of(response.name, response.levels[k]) for k in shown]
        prob, lower, upper = (each[:, shown] for each in (self.probability, self.spread.lower, self.spread.upper))
        return stability_plot(prob, lower, upper, names, level=self.level, ax=ax)

    def summary(self) -> Summary:
        """What was drawn, the first rows, and what the interval is not."""
        frame = self._frame()
        width = (frame["upper"] - frame["lower"]).mean()
        block = Block(
            left=(
                Entry("Rows", len(self.index), "count"),
                Entry("  without a prediction", int(np.isnan(self.probability).any(axis=1).sum()), "count"),
                Entry("Mean width", or_none(width), "share"),
            ),
            right=(
                *self._band.entries,
                Entry("  estimates outside", None if np.isnan(width) else int(self.outside.sum()), "count"),
            ),
        )
        parts: tuple[Part, ...] = (block,)
        if len(frame):
            parts += (self._first_rows(frame),)
        notes = _NOTES if self._band.is_known else _NOTES[:1]
        beyond = _BEYOND.format(rows=counted(self.beyond, "row"), has="has" if self.beyond == 1 else "have")
        notes = (*notes, *filter(None, [OTHER_MAPS[self.other_maps], FLAT * self.flat, beyond * (self.beyond > 0)]))
        return Summary(f"Predicted probabilities, {WHAT}", parts, notes, self._warnings())

    def _first_rows(self, frame: pd.DataFrame) -> Table:
        shown = frame.head(_MOST_SHOWN)
        index = [str(label) for label in shown.index]
        if not self.shape.two:
            index = [f"{label}: {level}" for label, level in zip(index, shown["level"], strict=True)]
        numbers = shown[["prob", "se", "lower", "upper"]].astype(object)
        numbers = numbers.where(numbers.notna(), None)
        more = "" if len(frame) == len(shown) else f" (the first {len(shown)} of {len(frame)})"
        of = probability_of(self.shape.response.name, self.shape.response.event) if self.shape.two else "P(level)"
        return Table.from_frame(numbers.set_axis(index), "share", f"{of}{more}")

    @property
    def outside(self) -> NDArray[np.bool_]:
        """(m,) whether the probability of some level lies outside its interval."""
        return np.asarray(self._band.outside(self.probability).any(axis=1))

    @property
    def _band(self) -> Band:
        return Band(self.spread.lower, self.spread.upper, self.level, self.B, self.n_failed, self.other_maps)

    def _warnings(self) -> tuple[str, ...]:
        if not self._band.is_known:
            return (
                f"{self.n_failed} of {self.B} replicates have no probabilities: {why_lost(self.shape.by_nu)}; too few "
                "are left for an interval.",
            )
        told = told_outside(self.outside, self.level, "rows", self.other_maps)
        return tuple(f"{each}; se says how much it varies." for each in told)

    def __repr__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        rows = counted(len(self.index), "row")
        return (
            f"<PredictionResult: probabilities of {rows} with the {WHAT}, {percent(self.level)} of "
            f"{self.B} replicates{failed}>"
        )
