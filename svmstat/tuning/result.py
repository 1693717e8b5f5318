"""What a search has found: the best fit, the table of all points, the criterion as a figure."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from svmstat._checks import one_of, refuse
from svmstat.plots import criteria_plot
from svmstat.plots.style import Axes
from svmstat.plots.tuning import contour_plot, line_plot
from svmstat.rendering.parts import Block, Entry
from svmstat.rendering.values import brief
from svmstat.results import SVMResults
from svmstat.summary import Summary
from svmstat.tuning.search import FURTHER

CRITERIA = {"loo": "leave-one-out", "kfold": "k-fold", "gacv": "GACV", "gckl": "GCKL"}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TuneResult:
    """The result of `tune`.

    Attributes
    ----------
    best : SVMResults
        The fit with the best parameters, as ``svm`` gives it.
    best_params : dict
        C and the parameters of the kernel, or the kernel if that was passed as an object or in a list:
        ``svm(..., **best_params)``.
    table : DataFrame
        One row for each grid point, C rising, then the others: the parameters, ``score`` (the smaller the better),
        ``score_se``, ``error`` (the error rate of held-out rows, for "gacv" and "gckl" the apparent error),
        ``n_support`` (sum of the weights of the support vectors; for "kfold" the mean over the folds), the ``further``
        criteria, ``status`` ("ok" or "failed"), ``reason`` (why the score is NaN, else empty).
    chosen : int
        Which row of the table is the best point.
    criterion : str
        "loo", "kfold", "gacv" or "gckl".
    measure : str
        What the score of "loo" and "kfold" is: "deviance", "error", "weighted_error" or "loss".
    fold : Series or None
        For "kfold" the fold 0 … k − 1 of each row, −1 for rows of weight zero.
    further : tuple of str
        The criteria that were computed beside the score.
    """

    best: SVMResults
    best_params: dict[str, Any]
    table: pd.DataFrame
    chosen: int
    criterion: str
    measure: str
    fold: pd.Series | None
    further: tuple[str, ...] = ()

    @property
    def of_full_fit(self) -> bool:
        """Whether the score is one of the fit to all rows, and not of held-out rows."""
        return self.criterion in ("gacv", "gckl")

    @property
    def score_name(self) -> str:
        """What tables and figures call the score, the number that was made as small as possible."""
        if self.of_full_fit:
            return CRITERIA[self.criterion]
        return f"{CRITERIA[self.criterion]} {self.measure.replace('_', ' ')}"

    @property
    def best_row(self) -> pd.Series:
        """The row of `table` that was chosen."""
        return self.table.iloc[self.chosen]

    @property
    def searched(self) -> dict[str, Any]:
        """The best values of what the table lists before the score: C, and what tells the kernels from each other."""
        names = self.table.columns[: self.table.columns.get_loc("score")]
        return {name: self.best_row[name] for name in names}

    @property
    def n_failed(self) -> int:
        """The number of grid points without a score."""
        return int((self.table["status"] != "ok").sum())

    def _varies(self, name: str) -> bool:
        return len(self.table[name].unique()) > 1

    def plot(self, ax: Axes | None = None) -> Axes:
        """The criterion over the grid, the best point marked.

        Contours over C and gamma where both vary. Otherwise lines over the parameter that varies, one for each value
        of a second; where several kernels are compared, lines over C, one for each. Further parameters are held at
        their best value.

        Parameters
        ----------
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes
        """
        best = self.searched
        varied = [name for name in best if self._varies(name)]
        shown = (["C", "gamma"] if {"C", "gamma"} <= set(varied) else varied[:2]) or ["C"]
        if "kernel" in varied:
            shown = ["C", "kernel"]
        held = {name: best[name] for name in varied if name not in shown}
        table = self.table
        for name, value in held.items():
            table = table[table[name] == value]
        what = self.score_name + "".join(f", {name} = {brief(value)}" for name, value in held.items())
        if shown == ["C", "gamma"]:
            grid = table.set_index(["gamma", "C"])["score"].unstack()  # noqa: PD010
            C, gamma = grid.columns.to_numpy(float), grid.index.to_numpy(float)
            return contour_plot(C, gamma, grid.to_numpy(float), (best["C"], best["gamma"]), what=what, ax=ax)
        first, *second = shown
        by = (
            {"": table}
            if not second
            else {f"{second[0]} = {brief(v)}": part for v, part in table.groupby(second[0], sort=False)}
        )
        lines = {label: (part[first].to_numpy(float), part["score"].to_numpy(float)) for label, part in by.items()}
        chosen = (float(best[first]), float(self.best_row["score"]))
        return line_plot(lines, chosen, name=first, logarithmic=first in ("C", "gamma"), what=what, ax=ax)

    def plot_criteria(self, along: str = "C", ax: Axes | None = None) -> Axes:
        """The score and the further criteria along one parameter, the others held at their best values.

        Parameters
        ----------
        along : str
            "C" or "gamma", whichever has several values.
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes
        """
        varied = [name for name in self.searched if name in ("C", "gamma") and self._varies(name)]
        if not varied:
            raise refuse("along", along, "a parameter with several values, and this grid has one of each")
        one_of("along", along, varied)
        line, held = self.table, {name: value for name, value in self.searched.items() if name != along}
        for name, value in held.items():
            line = line[line[name] == value]
        lines = {self.score_name: line["score"].to_numpy()}
        lines |= {FURTHER[name]: line[name].to_numpy() for name in self.further}
        at = ", ".join(f"{name} = {brief(value)}" for name, value in held.items())
        title = "dots: the least value of each" + (f"; {at}" if at else "")
        return criteria_plot(line[along].to_numpy(), lines, name=along, title=title, ax=ax)

    def summary(self) -> Summary:
        """The best point and how it was found: prints as text, shows as HTML in a notebook."""
        row = self.best_row
        block = Block(
            left=tuple(Entry(f"Best {name}", value, "setting") for name, value in self.searched.items()),
            right=(
                Entry("Score", float(row["score"])),
                *(() if self.of_full_fit else (Entry("  standard error", float(row["score_se"])),)),
                Entry("Apparent error" if self.of_full_fit else "Error of held-out rows", float(row["error"]), "share"),
                Entry("Grid points", len(self.table), "count"),
            ),
        )
        lost = "grid points could not be scored: see the column reason of .table."
        warnings = (f"{self.n_failed} {lost}",) if self.n_failed else ()
        notes = (f"The score is the {self.score_name}.",)
        return Summary("Grid search", (block,), notes, warnings)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()
