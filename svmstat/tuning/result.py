"""What a search has found: the best fit, the table of all points, the criterion as a figure."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat.plots.style import Axes
from svmstat.plots.tuning import contour_plot, line_plot
from svmstat.rendering.parts import Block, Entry
from svmstat.results import SVMResults
from svmstat.summary import Summary

CRITERIA = {"loo": "leave-one-out", "kfold": "k-fold"}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TuneResult:
    """The result of `tune`.

    Attributes
    ----------
    best : SVMResults
        The fit with the best parameters, as ``svm`` gives it.
    best_params : dict
        C and the parameters of the kernel: ``svm(..., **best_params)``.
    table : DataFrame
        One row for each grid point, C rising, then the others: the parameters, ``score`` (the smaller the better),
        ``score_se``, ``error`` (the error rate of held-out rows), ``n_support`` (sum of the weights of the support
        vectors; for "kfold" the mean over the folds), ``status`` ("ok" or "failed"), ``reason`` (why the score is
        NaN, else empty).
    criterion : str
        "loo" or "kfold".
    measure : str
        What the score is: "deviance", "error" or "weighted_error".
    fold : Series or None
        For "kfold" the fold 0 … k − 1 of each row, −1 for rows of weight zero.
    """

    best: SVMResults
    best_params: dict[str, Any]
    table: pd.DataFrame
    criterion: str
    measure: str
    fold: pd.Series | None

    @property
    def best_row(self) -> pd.Series:
        """The row of `table` that was chosen."""
        chosen = np.ones(len(self.table), bool)
        for name, value in self.best_params.items():
            chosen &= (self.table[name] == value).to_numpy()
        return self.table.loc[chosen].iloc[0]

    @property
    def n_failed(self) -> int:
        """The number of grid points without a score."""
        return int((self.table["status"] != "ok").sum())

    def plot(self, ax: Axes | None = None) -> Axes:
        """The criterion over the grid, the best point marked.

        Contours over C and gamma where both vary. Otherwise lines over the parameter that varies, one for each value
        of a second. Further parameters are held at their best value.

        Parameters
        ----------
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes
        """
        best = self.best_params
        varied = [name for name in best if len(self.table[name].unique()) > 1]
        shown = (["C", "gamma"] if {"C", "gamma"} <= set(varied) else varied[:2]) or ["C"]
        held = {name: best[name] for name in varied if name not in shown}
        table = self.table
        for name, value in held.items():
            table = table[table[name] == value]
        what = f"{CRITERIA[self.criterion]} {self.measure.replace('_', ' ')}"
        what += "".join(f", {name} = {value:g}" for name, value in held.items())
        if shown == ["C", "gamma"]:
            grid = table.set_index(["gamma", "C"])["score"].unstack()  # noqa: PD010
            C, gamma = grid.columns.to_numpy(float), grid.index.to_numpy(float)
            return contour_plot(C, gamma, grid.to_numpy(float), (best["C"], best["gamma"]), what=what, ax=ax)
        first, *second = shown
        by = {"": table} if not second else {f"{second[0]} = {v:g}": part for v, part in table.groupby(second[0])}
        lines = {label: (part[first].to_numpy(float), part["score"].to_numpy(float)) for label, part in by.items()}
        chosen = (float(best[first]), float(self.best_row["score"]))
        return line_plot(lines, chosen, name=first, logarithmic=first in ("C", "gamma"), what=what, ax=ax)

    def summary(self) -> Summary:
        """The best point and how it was found: prints as text, shows as HTML in a notebook."""
        row = self.best_row
        block = Block(
            left=tuple(Entry(f"Best {name}", value, "setting") for name, value in self.best_params.items()),
            right=(
                Entry("Score", float(row["score"])),
                Entry("  standard error", float(row["score_se"])),
                Entry("Error of held-out rows", float(row["error"]), "share"),
                Entry("Grid points", len(self.table), "count"),
            ),
        )
        lost = "grid points could not be scored: see the column reason of .table."
        warnings = (f"{self.n_failed} {lost}",) if self.n_failed else ()
        notes = (f"The score is the {CRITERIA[self.criterion]} {self.measure.replace('_', ' ')}.",)
        return Summary("Grid search", (block,), notes, warnings)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()
