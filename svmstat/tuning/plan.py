"""A search, with what it refuses, finds, tabulates and draws; and its result, which knows the search that it is of."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat.errors import UnavailableError
from svmstat.formula import Response
from svmstat.model import Prepared
from svmstat.objective.nu import Nu
from svmstat.reporting.plots.style import Axes
from svmstat.reporting.summary import Summary
from svmstat.results import SVMResults
from svmstat.results.rules import ShiftedRule
from svmstat.tuning.grid import Grid
from svmstat.tuning.sample import Effort, Sample


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of `tune` that are not for every criterion, as the caller gave them."""

    C: object
    nu: object
    search: object
    smooth: object
    score: object
    folds: object
    truth: object
    further: object
    loss: str
    weighing: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found.

    Attributes
    ----------
    table : one row for each point
    chosen : which of them is the best
    kernel : which kernel of the grid it has
    params : its parameters as arguments of `svm`
    C, nu : its cost, or its ν in the place of one
    """

    table: pd.DataFrame
    chosen: int
    kernel: int
    params: dict[str, Any]
    C: float = 1.0
    nu: Nu | None = None


class Plan(ABC):
    """A search as the arguments of `tune` describe it.

    Attributes
    ----------
    first_found : the first column of the table after those that tell the kernels, and costs, from each other
    """

    __slots__ = ()
    first_found: str

    @property
    @abstractmethod
    def folds(self) -> int | None:
        """Into how many folds the rows are divided."""

    @property
    @abstractmethod
    def score_name(self) -> str:
        """What tables and figures call the score, the number that is made as small as possible."""

    @abstractmethod
    def refuse_levels(self, response: Response) -> None:
        """Refuse a response of more than two levels where that has no meaning."""

    def refuse_grid(self, grid: Grid) -> None:
        """Refuse kernels for which there is no such search."""

    def held_out(
        self, prepared: Prepared, n_data: int, keep_outside: bool, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]] | None:
        """Positions in the data of rows that take no part in the search, and the mask of the others, if there are such.

        ``keep_outside`` says whether rows that were not used stay in the mask.
        """
        return None

    @abstractmethod
    def search(self, sample: Sample, grid: Grid, effort: Effort) -> Found:
        """Search the grid; `DataError` if no point could be scored."""

    def finished(self, result: "TuneResult", held: pd.DataFrame | None) -> "TuneResult":
        """The result with what follows from the best fit and the rows that were held out."""
        return result

    @abstractmethod
    def figure(self, result: "TuneResult", ax: Axes | None) -> Axes:
        """The score over what was searched."""

    def criteria_figure(self, result: "TuneResult", along: str, ax: Axes | None) -> Axes:
        """The score and the further criteria along one parameter."""
        raise UnavailableError("plot_criteria() is for searches over C; minimax and Neyman-Pearson have plot_roc().")

    def roc_figure(self, result: "TuneResult", ax: Axes | None) -> Axes:
        """The error rates of all points."""
        raise UnavailableError("plot_roc() is for minimax() and neyman_pearson(a), which estimate both error rates.")

    @abstractmethod
    def summary(self, result: "TuneResult") -> Summary:
        """The best point and how it was found."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TuneResult:
    """The result of `tune`.

    Attributes
    ----------
    best : SVMResults
        The fit with the best parameters, as ``svm`` gives it.
    best_params : dict
        C, or with minimax and Neyman–Pearson ``nu``, and the parameters of the kernel, or the kernel if that was passed
        as an object or in a list: ``svm(..., **best_params)``.
    table : DataFrame
        One row for each point that was looked at. With a cost, C rising, then the others: the parameters, ``score``
        (the smaller the better), ``score_se``, ``error`` (the error rate of held-out rows, for "gacv" and "gckl" the
        apparent error), ``n_support`` (sum of the weights of the support vectors; for "kfold" the mean over the
        folds), the ``further`` criteria. With minimax and Neyman–Pearson the parameters of the kernel, ``nu_event``,
        ``nu_other``, the estimates ``p_f`` and ``p_m``, with smoothing ``p_f_smooth`` and ``p_m_smooth``, with
        search="bias" the ``shift``, and the ``score`` of the (smoothed) rates. Last ``status`` ("ok" or "failed") and
        ``reason`` (why there is no score, else empty).
    chosen : int
        Which row of the table is the best point.
    plan : Plan
        What was searched for, and how.
    fold : Series or None
        Where folds were held out the fold 0 … k − 1 of each row, −1 for rows of weight zero.
    rule : ShiftedRule or None
        The rule f + shift > 0 that replaces f > 0: with search="bias", and with a guarantee on P_F.
    n_threshold, order : int or None
        With a guarantee: how many rows of the other level set the threshold, and which of their scores it is.
    """

    best: SVMResults
    best_params: dict[str, Any]
    table: pd.DataFrame
    chosen: int
    plan: Plan
    fold: pd.Series | None
    rule: ShiftedRule | None = None
    n_threshold: int | None = None
    order: int | None = None

    @property
    def score_name(self) -> str:
        """What tables and figures call the score, the number that was made as small as possible."""
        return self.plan.score_name

    @property
    def best_row(self) -> pd.Series:
        """The row of `table` that was chosen."""
        return self.table.iloc[self.chosen]

    @property
    def searched(self) -> dict[str, Any]:
        """The best values of what the table lists first: C, and what tells the kernels from each other."""
        names = self.table.columns[: self.table.columns.get_loc(self.plan.first_found)]
        return {name: self.best_row[name] for name in names}

    @property
    def n_failed(self) -> int:
        """The number of points without a score."""
        return int((self.table["status"] != "ok").sum())

    def predict(self, newdata: pd.DataFrame | None = None) -> pd.Series:
        """The predicted level by the `rule`, or by the best fit where there is none."""
        return (self.rule or self.best).predict(newdata)

    def error_rates(self, newdata: pd.DataFrame | None = None, *, weights: Any = None) -> pd.Series:
        """P_F and P_M by the `rule`, or by the best fit where there is none."""
        return (self.rule or self.best).error_rates(newdata, weights=weights)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The score over what was searched, the best point marked.

        With a cost, contours over C and gamma where both vary; otherwise lines over the parameter that varies, one for
        each value of a second, and where several kernels are compared over C, one for each. With minimax and
        Neyman–Pearson a surface over (ν₊, ν₋) for the best kernel [004: figure 1], or with one ν the score against it.
        Further parameters are held at their best value.

        Parameters
        ----------
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes
        """
        return self.plan.figure(self, ax)

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

        Raises
        ------
        ArgumentError
            If the parameter has one value only.
        UnavailableError
            For minimax and Neyman–Pearson.
        """
        return self.plan.criteria_figure(self, along, ax)

    def plot_roc(self, ax: Axes | None = None) -> Axes:
        """The estimated (P_F, P_M) of all points that were looked at, with the chosen one.

        Parameters
        ----------
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        UnavailableError
            For other criteria than minimax and Neyman–Pearson.
        """
        return self.plan.roc_figure(self, ax)

    def summary(self) -> Summary:
        """The best point and how it was found: prints as text, shows as HTML in a notebook."""
        return self.plan.summary(self)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()
