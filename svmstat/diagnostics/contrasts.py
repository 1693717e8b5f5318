"""Average comparisons: by how much predictions change, in the mean over all rows, when a predictor does."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Floats
from svmstat._tools.texts import counted
from svmstat.diagnostics.band import NO_BAND, Band
from svmstat.diagnostics.outcome import Outcome, rows_averaged
from svmstat.reporting.plots import comparisons_plot
from svmstat.reporting.rendering.lines import cut
from svmstat.reporting.rendering.parts import Block, Part, Table
from svmstat.reporting.rendering.values import or_none
from svmstat.reporting.summary import Printed, Summary

_WHAT = (
    "Each is a mean over the rows of the fit: the prediction with the column at its value after the change minus that "
    "before, all else as it is in the row."
)
_STEP, _FROM = "A step of a number goes from x to x + step", "b - a is from a to b"

_ROUNDING = 1e-12
"""Changes up to this are of rounding."""

_SMALL = 0.01
"""Changes that are all smaller have three digits: with four decimals the sign of a bound might be lost."""

SD = "sd"
_SD = (
    "sd is from half a standard deviation below the mean of the column to half of one above it, in every row; where "
    "that would leave the data, from their end."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contrasts(Printed):
    """What avg_comparisons() of marginaleffects calls average comparisons [Arel-Bundock, Greifer & Heiss 2024].

    Attributes
    ----------
    outcome : Outcome
        What is predicted, with q entries.
    terms : tuple, length v
        The column that each is of.
    labels : tuple of str, length v
        What is compared, such as "+1" or "b - a".
    beyond : tuple of int, length v
        Of how many rows the step ends beyond the observed values.
    weights : ndarray (n,)
        Those of the rows.
    estimate : ndarray (v, q)
    band : Band or None
        Over replicates, (v, q).
    """

    outcome: Outcome
    terms: tuple[Hashable, ...]
    labels: tuple[str, ...]
    beyond: tuple[int, ...]
    weights: Floats
    estimate: Floats
    band: Band | None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.weights)

    def summary_frame(self) -> pd.DataFrame:
        """``term``, ``contrast``, ``estimate``, ``lower`` and ``upper``; NaN without replicates.

        Of more than two levels a row for each of them, with the ``level``, or of decision values the ``pair``.
        """
        keys = self.outcome.keys
        v, q = self.estimate.shape
        columns: dict[str, Any] = {"term": np.repeat(np.array([*self.terms, None], object)[:-1], q)}
        columns["contrast"] = np.repeat(np.array(self.labels, object), q)
        if q > 1:
            columns[self.outcome.key_name] = np.tile(keys, v)
        nothing = np.full((v, q), np.nan)
        band = (nothing, nothing) if self.band is None else (self.band.lower, self.band.upper)
        for name, values in zip(("estimate", "lower", "upper"), (self.estimate, *band), strict=True):
            columns[name] = values.ravel()
        return pd.DataFrame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Dots with their intervals, a line for each comparison. Returns the Axes."""
        band = None if self.band is None else (self.band.lower, self.band.upper)
        one = len(set(self.terms)) == 1
        names = (
            self.labels if one else [f"{term}: {label}" for term, label in zip(self.terms, self.labels, strict=True)]
        )
        return comparisons_plot(
            names, self.estimate, band, self.outcome.names, what=f"average change of\n{self.outcome.name}",
            title="\n".join([str(self.terms[0])] * one + ([] if self.band is None else [f"lines: {self.band.title}"])),
            ax=ax,
        )  # fmt: skip

    def summary(self) -> Summary:
        """The table, how it was made, and what its intervals are not."""
        return Summary(
            f"Average comparisons of {self.outcome.name}", (self._block(), *self.tables()), self.notes(),
            () if self.band is None else self.band.told_of(self.estimate),
        )  # fmt: skip

    def _block(self) -> Block:
        right = () if self.band is None else self.band.beside(self.estimate)
        return Block(left=rows_averaged(self.weights), right=right)

    def tables(self, title: str = "") -> tuple[Part, ...]:
        """A table of estimates and intervals; of more than two levels one for each."""
        index = tuple(f"{term}: {label}" for term, label in zip(self.terms, self.labels, strict=True))
        found = []
        for k, name in enumerate(self.outcome.names):
            columns = {"estimate": self.estimate[:, k]}
            if self.band is not None:
                columns |= {"lower": self.band.lower[:, k], "upper": self.band.upper[:, k]}
            heading = f"{title}{', ' if title and len(self.outcome.names) > 1 else ''}"
            heading += name if len(self.outcome.names) > 1 else ""
            values = np.column_stack(list(columns.values()))
            values[np.abs(values) < _ROUNDING] = 0.0
            cells = tuple(tuple(map(or_none, row)) for row in values.tolist())
            sizes = np.fmax.reduce(np.abs(values), axis=1)  # bounds may be missing
            row_styles = tuple("rough" if size < _SMALL else "share" for size in sizes)
            styles = ("share",) * len(columns)
            found.append(Table(tuple(columns), index, cells, styles, heading, row_styles=row_styles))
        return tuple(found)

    def notes(self) -> tuple[str, ...]:
        """What is compared, where a step leaves the data, and what the intervals are."""
        outside = "; ".join(
            f"{term} {label}: {count}"
            for term, label, count in zip(self.terms, self.labels, self.beyond, strict=True)
            if count
        )
        beyond = (f"Rows of {self.n_rows} whose step ends beyond the values observed: {outside}.",) if outside else ()
        sd = (_SD,) if SD in self.labels else ()
        band = NO_BAND if self.band is None else self.band.note(self.outcome.on)
        return (*self.outcome.notes, self._what, *sd, *beyond, *filter(None, [band]))

    @property
    def _what(self) -> str:
        """What an estimate is, and what its label stands for."""
        pairs = [" - " in label for label in self.labels]
        steps = [label != SD and not pair for label, pair in zip(self.labels, pairs, strict=True)]
        if any(steps):
            return f"{_WHAT} {_STEP}; {_FROM}." if any(pairs) else f"{_WHAT} {_STEP}."
        return f"{_WHAT} A label {_FROM}." if any(pairs) else _WHAT

    def __repr__(self) -> str:
        bands = "no replicates" if self.band is None else f"{self.band.B} replicates"
        count = counted(len(self.labels), "average comparison")
        return f"<Contrasts: {count} of {cut(self.outcome.name, 50)}, {bands}>"
