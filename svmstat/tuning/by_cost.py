"""The search over costs and kernels, for criteria of any kind of fit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.checks import at_least, one_of, refuse
from svmstat._tools.warn import warn
from svmstat.errors import ArgumentError, DataError, GridWarning
from svmstat.formula import Response
from svmstat.reporting.plots import criteria_plot
from svmstat.reporting.plots.style import Axes
from svmstat.reporting.plots.tuning import contour_plot, line_plot
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.rendering.values import brief
from svmstat.reporting.summary import Summary
from svmstat.tuning.criteria import FURTHER, NAMES, Criterion, KFold, named
from svmstat.tuning.grid import Grid
from svmstat.tuning.plan import Asked, Found, Plan, TuneResult
from svmstat.tuning.sample import Effort, Sample
from svmstat.tuning.scores import MEASURES, Point, first_least

_TIED = 1e-7
"""Scores that differ by less than this share are the same: the digits beyond are those of the solver's tolerance."""


@dataclass(frozen=True, slots=True)
class CostPlan(Plan):
    """A search over C and the kernels.

    Attributes
    ----------
    name : what the argument ``criterion`` of `tune` calls the criterion
    criterion : what is made as small as possible
    measure : what "loo" and "kfold" measure, one of `MEASURES`
    further : names of criteria beside the score
    """

    first_found = "score"

    name: str
    criterion: Criterion
    measure: str
    further: tuple[str, ...]

    @property
    def folds(self) -> int | None:
        return self.criterion.folds if isinstance(self.criterion, KFold) else None

    @property
    def score_name(self) -> str:
        return self.criterion.label

    def refuse_levels(self, response: Response) -> None:
        found = f"for two levels only: the response {response.name!r} has {len(response.levels)}"
        if not self.criterion.any_levels:
            raise refuse("criterion", self.name, f"'loo' or 'kfold', {self.criterion.label} being defined {found}")
        if self.measure == "loss":
            raise refuse("score", self.measure, f"another measure, the mean loss being defined {found}")
        if self.further:
            raise refuse("further", self.further, f"left out, these criteria being defined {found}")

    def search(self, sample: Sample, grid: Grid, effort: Effort) -> Found:
        also = {name: FURTHER[name][1] for name in self.further}
        table = _table(grid, self.criterion.points(sample, grid.kernels, grid.costs, also, effort), self.further)
        scores = table["score"].to_numpy(float)
        chosen = -1 if np.isnan(scores).all() else first_least([(scores, _TIED * abs(np.nanmin(scores)))])
        if chosen < 0:
            raise DataError(f"no point of the grid could be scored; the first: {table['reason'].iloc[0]}.")
        row, at = divmod(chosen, len(grid.kernels))
        C = grid.costs[row]
        _warn_of(table, {"C": C, **grid.parameters[at]})
        return Found(table, chosen, at, {"C": C, **grid.arguments[at]}, C)

    def figure(self, result: TuneResult, ax: Axes | None) -> Axes:
        """Contours over C and gamma where both vary; otherwise lines, further parameters held at their best value."""
        best, table = result.searched, result.table
        varied = [name for name in best if _varies(table, name)]
        shown = (["C", "gamma"] if {"C", "gamma"} <= set(varied) else varied[:2]) or ["C"]
        if "kernel" in varied:
            shown = ["C", "kernel"]
        held = {name: best[name] for name in varied if name not in shown}
        table = _held_at(table, held)
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
        chosen = (float(best[first]), float(result.best_row["score"]))
        return line_plot(lines, chosen, name=first, logarithmic=first in ("C", "gamma"), what=what, ax=ax)

    def criteria_figure(self, result: TuneResult, along: str, ax: Axes | None) -> Axes:
        """The score and the further criteria along one parameter."""
        varied = [name for name in result.searched if name in ("C", "gamma") and _varies(result.table, name)]
        if not varied:
            raise refuse("along", along, "a parameter with several values, and this grid has one of each")
        one_of("along", along, varied)
        held = {name: value for name, value in result.searched.items() if name != along}
        line = _held_at(result.table, held)
        lines = {self.score_name: line["score"].to_numpy()}
        lines |= {FURTHER[name][0]: line[name].to_numpy() for name in self.further}
        at = ", ".join(f"{name} = {brief(value)}" for name, value in held.items())
        title = "dots: the least value of each" + (f"; {at}" if at else "")
        return criteria_plot(line[along].to_numpy(), lines, name=along, title=title, ax=ax)

    def summary(self, result: TuneResult) -> Summary:
        row, of_full_fit = result.best_row, self.criterion.of_full_fit
        block = Block(
            left=tuple(Entry(f"Best {name}", value, "setting") for name, value in result.searched.items()),
            right=(
                Entry("Score", float(row["score"])),
                *(() if of_full_fit else (Entry("  standard error", float(row["score_se"])),)),
                Entry("Apparent error" if of_full_fit else "Error of held-out rows", float(row["error"]), "share"),
                Entry("Grid points", len(result.table), "count"),
            ),
        )
        lost = f"{result.n_failed} grid points could not be scored: see the column reason of .table."
        notes = (f"The score is the {self.score_name}.",)
        return Summary("Grid search", (block,), notes, (lost,) if result.n_failed else ())


def plan_by_cost(criterion: object, asked: Asked) -> CostPlan:
    """Check what is asked of a criterion that has a name.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a name that does not exist, what is for another criterion, and what the criterion lacks.
    """
    name = one_of("criterion", criterion, NAMES)
    one_of("search", asked.search, ("grid",))
    for which, value in (("smooth", asked.smooth), ("nu", asked.nu)):
        if value is not None:
            raise refuse(which, value, f"left out with criterion={name!r}: it is for minimax() and neyman_pearson(a)")
    measure = one_of("score", asked.score, MEASURES)
    made = named(name, measure, at_least("folds", asked.folds, 2))
    further = _further(asked.further)
    if further and isinstance(made, KFold):
        raise refuse("further", asked.further, "left out with criterion='kfold', which has no fit to all rows")
    all_of_them = (made, *(FURTHER[each][1] for each in further))
    needs_truth = [each.label for each in all_of_them if each.needs_truth]
    if needs_truth and asked.truth is None:
        raise refuse(
            "truth", asked.truth, f"the true probabilities of the rows: {needs_truth[0]} is computed from them"
        )
    if asked.truth is not None and not needs_truth:
        raise ArgumentError("truth is used for GCKL only: give criterion='gckl' or further=['gckl'] with it.")
    for each in all_of_them:
        if asked.loss != "hinge" and not each.any_loss:
            allowed = f"'hinge' where {each.label} is asked for, which exists for no other loss"
            raise refuse("loss", asked.loss, allowed)
    return CostPlan(name, made, measure, further)


def _further(names: object) -> tuple[str, ...]:
    """The criteria beside the score, each once."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise refuse("further", names, f"a sequence of {', '.join(map(repr, FURTHER))}")
    return tuple(dict.fromkeys(one_of("further", name, FURTHER) for name in names))


def _table(grid: Grid, points: list[list[Point]], further: tuple[str, ...]) -> pd.DataFrame:
    """The table of all points: C rising, and for each the kernels."""
    rows = []
    for j, cost in enumerate(grid.costs):
        for parameters, along in zip(grid.parameters, points, strict=True):
            point = along[j]
            status = "failed" if point.reason else "ok"
            numbers_found = (point.score, point.score_se, point.error, point.n_support)
            others = [point.further.get(name, np.nan) for name in further]
            rows.append((cost, *parameters.values(), *numbers_found, *others, status, point.reason))
    columns = [*grid.names, "score", "score_se", "error", "n_support", *further, "status", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _warn_of(table: pd.DataFrame, best: Mapping[str, Any]) -> None:
    """Tell where the grid ends at the best point, and how many points have no score."""
    for name, value in best.items():
        if name == "kernel":  # these are in no order
            continue
        values = table[name]
        low, high = values.min(), values.max()
        if low < high and value in (low, high) and not (name == "degree" and value == 1):
            end = "smallest" if value == low else "largest"
            warn(f"the best {name} = {value:.6g} is the {end} of its grid: a wider one may hold a better", GridWarning)
    n_failed = int((table["status"] == "failed").sum())
    if n_failed:
        warn(f"{n_failed} of {len(table)} grid points could not be scored: see .table", GridWarning)


def _varies(table: pd.DataFrame, name: str) -> bool:
    return len(table[name].unique()) > 1


def _held_at(table: pd.DataFrame, held: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of a table that have these values."""
    for name, value in held.items():
        table = table[table[name] == value]
    return table
