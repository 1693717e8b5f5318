"""A search, with what it refuses, finds, tabulates and draws; and its result, which knows the search that it is of."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.copied import read_as_copies
from svmstat._tools.texts import counted
from svmstat.diagnostics.copies import other_copies_note
from svmstat.diagnostics.copies_seen import told_of_copies
from svmstat.errors import ArgumentError, UnavailableError
from svmstat.formula import Response
from svmstat.kernels import Additive, Kernel
from svmstat.objective.nu import Nu
from svmstat.objective.units import Units
from svmstat.prepared import Prepared
from svmstat.reporting.plots.style import Axes
from svmstat.reporting.rendering.lines import cut, listed
from svmstat.reporting.rendering.values import is_number
from svmstat.reporting.summary import Summary
from svmstat.resampling.splits import Splits, most_folds
from svmstat.results import SVMResults
from svmstat.results.resampled import copies_of
from svmstat.results.rules import ShiftedRule
from svmstat.tuning.grid import Grid
from svmstat.tuning.sample import Effort, Folds, Sample

OUTER = 10
"""Without how many folds in turn all is tuned anew with ``nested=True``."""

_LEAST_LEFT = 2
"""Rows of a level, or groups, of which one can be left out."""


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
    nested: int | None


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
    nu_asked : ν as an argument of `svm`: one number for the ordinary ν-SVM, two for the 2ν-SVM
    corrected : its score as it would be without the choice; None if that is not known
    theta : the weights of the terms of an additive kernel, if they were searched
    """

    table: pd.DataFrame
    chosen: int
    kernel: int
    params: dict[str, Any]
    C: float = 1.0
    nu: Nu | None = None
    nu_asked: float | tuple[float, float] | None = None
    corrected: float | None = None
    theta: tuple[float, ...] | None = None

    def kernel_of(self, grid: Grid) -> Kernel:
        """The kernel that was found."""
        kernel = grid.kernels[self.kernel]
        return kernel.with_theta(self.theta) if isinstance(kernel, Additive) and self.theta is not None else kernel


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is predicted of n rows, or parts of rows, by fits for which all was chosen without them.

    Attributes
    ----------
    fold : Series with which others a row was left out, most of it if it is divided, −1 for rows of weight zero
    decision_values : (n, P) f(x_i)
    winner : (n,) the classes that are predicted
    log_likelihood : (n,) log p_{y_i}(x_i) by the maps of the rows that were kept
    choices : one row for each fold, with the best parameters
    """

    fold: pd.Series
    decision_values: Floats
    winner: Codes
    log_likelihood: Floats
    choices: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Nested:
    """What the whole search is worth on rows that it has not seen: it was repeated without each of k folds.

    The standard error is that of a mean over the rows, or over groups. What it leaves out is that the searches share
    most of their rows. Both are about searches on the share 1 − 1/k of the rows.

    Attributes
    ----------
    score, score_se : the score of the rows when they were left out, and its standard error, NaN for minimax and
        Neyman–Pearson, whose scores are not means over rows
    rates : error rates of these rows: ``error``, or ``p_f``, ``p_m`` and their standard errors ``p_f_se``, ``p_m_se``
    choices : DataFrame (k, …) what was chosen without each fold
    fold : Series (n,) with which others a row was left out, most of it if it is divided, −1 for rows of weight zero
    """

    score: float
    score_se: float
    rates: dict[str, float]
    choices: pd.DataFrame
    fold: pd.Series = field(repr=False)

    @property
    def title(self) -> str:
        """What a summary calls it."""
        return f"All tuned anew without each of {len(self.choices)} folds"


def note_of_groups(best: SVMResults) -> tuple[str, ...]:
    """What rows were held out with, where they come in groups."""
    if not best.grouped:
        return ()
    return (f"Rows are held out with their whole group, and standard errors are over {best.n_groups} groups.",)


def notes_of_copies(result: "TuneResult") -> tuple[str, ...]:
    """What leaving out one copy of a row leaves, where rows are left out one by one and weights are repeats."""
    if result.fold is not None or result.plan.of_full_fit:
        return ()
    return other_copies_note(result.best.frame.weights, result.best.machine.units, "criterion='kfold'")


def warnings_of_copies(result: "TuneResult") -> list[str]:
    """That fits have seen copies of what they predict, unless nothing is held out."""
    best, fold, splits = result.best, result.fold, None
    if result.plan.of_full_fit:
        return []
    if fold is not None:
        of_row = fold.to_numpy()
        splits = Splits(of_row, of_row == np.arange(of_row.max() + 1)[:, None], "")
    by = "criterion='kfold'" if fold is None and not best.grouped else ""
    return list(told_of_copies(copies_of(best, splits), float(best.frame.weights.sum()), by))


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

    @property
    def is_of_probabilities(self) -> bool:
        """Whether the score is −2 log likelihood of rows that were held out."""
        return False

    @property
    def of_full_fit(self) -> bool:
        """Whether the score is a number of the fit to all rows, and not of held-out rows."""
        return False

    @abstractmethod
    def refuse_levels(self, response: Response) -> None:
        """Refuse a response of more than two levels where that has no meaning."""

    def refuse_units(self, units: Units) -> None:
        """Refuse groups, or probability weights, where the criterion takes copies of rows for independent."""

    def refuse_folds(self, folds: Folds) -> None:
        """Refuse folds that are no partition of the rows, where that is needed."""
        if not folds.partition:
            raise ArgumentError(
                f"folds: the {self.score_name} needs folds that hold out every row once, each fit seeing all others; "
                "criterion='kfold' takes the others, such as TimeSeriesSplit."
            )

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

    def shift(self, found: Found) -> float:
        """What is added to f of the best point."""
        return 0.0

    @abstractmethod
    def judged(self, sample: Sample, left: LeftOut) -> Nested:
        """What was predicted of rows that were left out of the search, by the score of the search."""

    def finished(self, result: "TuneResult", held: pd.DataFrame | None) -> "TuneResult":
        """The result with what follows from the best fit and the rows that were held out."""
        return result

    @abstractmethod
    def figure(self, result: "TuneResult", ax: Axes | None) -> Axes:
        """The score over what was searched."""

    def criteria_figure(self, result: "TuneResult", along: str, ax: Axes | None) -> Axes:
        """The score and the further criteria along one parameter."""
        raise UnavailableError(
            "plot_criteria() is for searches over C and gamma; minimax and Neyman-Pearson have plot_roc(), searches "
            "over theta plot()."
        )

    def roc_figure(self, result: "TuneResult", ax: Axes | None) -> Axes:
        """The error rates of all points."""
        raise UnavailableError("plot_roc() is for minimax() and neyman_pearson(a), which estimate both error rates.")

    @abstractmethod
    def summary(self, result: "TuneResult") -> Summary:
        """The best point and how it was found."""


@read_as_copies("best_params", "table")
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TuneResult:
    """The result of `tune`.

    Attributes
    ----------
    best : SVMResults
        The fit with the best parameters, as ``svm`` gives it.
    best_params : dict
        C, or with minimax and Neyman–Pearson ``nu``, and the parameters of the kernel, or the kernel if that was passed
        as an object or in a list; of several formulas ``formula`` too, and of a search over the weights of terms
        ``theta``: ``svm(..., **best_params)``.
    table : DataFrame
        Read as a copy, as ``best_params`` are.
        One row for each point that was looked at. With a cost, C rising, then the others: the parameters,
        ``score`` (the smaller the better), ``score_se`` (of an error rate e by e(1 − e)/(n − 1), where `loo`
        has n), where rows are predicted ``delta_se`` (the standard error of the difference from the best point,
        row by row) and ``within_se`` (whether the score is above the best by no more than that; NaN and False
        where the parts of all rows would take more than 256 MiB), ``error`` (the error rate of held-out rows,
        for "gacv" and "gckl" the apparent error), ``n_support`` (sum of the weights of the support vectors; for
        "kfold" the mean over the folds), the ``further`` criteria. With minimax and Neyman–Pearson the
        parameters of the kernel, ``nu_event``, ``nu_other``, the estimates ``p_f`` and ``p_m``, with smoothing
        ``p_f_smooth`` and ``p_m_smooth``, with search="bias" the ``shift``, and the ``score`` of the (smoothed)
        rates, which Neyman–Pearson compares among points with P_F ≤ a, if there are any; points that a search
        down coordinates looked at for the mean of others only have no smoothed rates and no score.
        Last ``status`` ("ok" or "failed") and ``reason`` (why there is no score, else empty).
    chosen : int
        Which row of the table is the best point.
    plan : Plan
        What was searched for, and how.
    fold : Series or None
        Where folds were held out the fold 0 … k − 1 of each row, −1 for rows of weight zero; of a row that counts
        cases, and is divided, where most of it is.
    rule : ShiftedRule or None
        The rule f + shift > 0 that replaces f > 0: with search="bias", and with a guarantee on P_F.
    corrected_score : float or None
        What the best score is on rows that had no part in the choice [Tsamardinos, Greasidou & Borboudakis 2018]: rows
        are drawn with replacement, the point that is best on these is rated on the others. On noise it promises
        nothing; where there is signal it may be a little too good or too bad. None where the score is no mean over
        held-out rows, for one point, or for a search over θ, whose points follow from each other.
    nested : Nested or None
        With ``nested=True`` the score of rows that were left out of the whole search, with its standard error, error
        rates and what was chosen without each fold.
    n_threshold, order : int or None
        With a guarantee: how many rows of the other level set the threshold, and which of their scores it is.
    given : bool
        Whether the folds were given, as blocks of rows, so that none could be drawn for a nested search.
    costs : tuple of float
        The values of C of the grid; a search over θ by "coordinate" goes on from there.
    """

    best: SVMResults
    best_params: dict[str, Any]
    table: pd.DataFrame
    chosen: int
    plan: Plan
    fold: pd.Series | None
    corrected_score: float | None = None
    nested: Nested | None = None
    rule: ShiftedRule | None = None
    n_threshold: int | None = None
    order: int | None = None
    given: bool = False
    costs: tuple[float, ...] = ()

    @property
    def nestable(self) -> int:
        """In how many folds the search can be nested, `OUTER` at most; 0 if too little is left without one."""
        most = most_folds(self.best.machine)
        k = min(OUTER, most)
        return k if k > 1 and most - math.ceil(most / k) >= (self.plan.folds or _LEAST_LEFT) else 0

    @property
    def score_name(self) -> str:
        """What tables and figures call the score, which is least at the chosen point, of those that are allowed."""
        name = self.plan.score_name
        return name.replace("leave-one-out", "leave-one-group-out") if self.best.grouped else name

    @property
    def nested_score(self) -> float:
        """The score of rows that were left out of the whole search, on the scale of ``score``."""
        return self._nested("nested_score").score

    @property
    def nested_score_se(self) -> float:
        """Its standard error: see `Nested`."""
        return self._nested("nested_score_se").score_se

    def _nested(self, name: str) -> Nested:
        if self.nested is None:
            raise UnavailableError(f"{name} is for tune(…, nested=True), which tunes anew without each of ten folds.")
        return self.nested

    @property
    def best_row(self) -> pd.Series:
        """The row of `table` that was chosen."""
        return self.table.iloc[self.chosen]

    @property
    def searched(self) -> dict[str, Any]:
        """The best values of what the table lists first: C, and what tells the kernels from each other."""
        return searched_in(self.best_row, self.plan.first_found)

    @property
    def n_failed(self) -> int:
        """The number of points that could not be estimated."""
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
        best = [f"{name}={_brief(value)}" for name, value in self.best_params.items()]
        score = f"{self.score_name}: {float(self.best_row['score']):.6g}"
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        return listed("<TuneResult: best ", best, f" | {cut(score, 50)} | {counted(len(self.table), 'point')}{failed}>")

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()


def _brief(value: object) -> str:
    """A parameter in few letters: numbers, also several, to four digits."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_brief, value))})"
    return f"{value:.4g}" if is_number(value) else cut(str(value), 40)


def searched_in(row: pd.Series, first_found: str) -> dict[str, Any]:
    """What a row of the table has before the column of what was found first, without what its kernel has not."""
    before = row.iloc[: row.index.get_loc(first_found)]
    return {str(name): value for name, value in before.items() if not pd.isna(value)}


def held_at(table: pd.DataFrame, held: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of a table that have these values."""
    for name, value in held.items():
        table = table[table[name] == value]
    return table


def theta_of(name: str) -> str:
    """What the θ of a term is called where another column has the name of the term."""
    return f"theta({name})"
