"""The search over costs and kernels, for criteria of any kind of fit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.checks import at_least, entries, one_of, refuse
from svmstat._tools.texts import counted
from svmstat.errors import ArgumentError, DataError
from svmstat.formula import Response, two_sides
from svmstat.objective import losses, predictive
from svmstat.objective.units import Units
from svmstat.reporting.plots import criteria_plot
from svmstat.reporting.plots.style import Axes
from svmstat.reporting.plots.tuning import contour_plot, line_plot
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.rendering.values import brief
from svmstat.reporting.summary import Summary
from svmstat.tuning.choice import corrected_score, in_order
from svmstat.tuning.criteria import FURTHER, NAMES, Criterion, KFold, named, rated
from svmstat.tuning.edges import is_tied, notes_of_edges, warn_of_edges, warn_of_failed
from svmstat.tuning.grid import Grid
from svmstat.tuning.plan import (
    OUTER,
    Asked,
    Found,
    LeftOut,
    Nested,
    Plan,
    TuneResult,
    held_at,
    note_of_groups,
    notes_of_copies,
    searched_in,
    warnings_of_copies,
)
from svmstat.tuning.sample import Effort, Folds, Sample
from svmstat.tuning.scores import MEASURES, TIED, Point, columns_of, first_least, paired_se

_TOO_LOW = (
    "The least of many scores is too low, for having been chosen. Corrected, it is that of rows that had no part in "
    "the choice: of {what}s drawn with replacement the best point is taken, and rated on the others [Tsamardinos, "
    "Greasidou & Borboudakis 2018]"
)
_SIMULATED = (
    ". Simulated (python -m benchmarks validity tuning), the least is up to 0.08 a row of deviance too low, the "
    "corrected one 0.03 too low to 0.02 too high, with one event in nine rows to 0.07"
)
_ASK = "; nested=True tunes anew without each of ten folds, which takes ten times as long."
_ASK_OF_FEW = "; nested={k} tunes anew without each of {k} folds, which takes {k} times as long."
_OF_TOO_FEW = "; rows that had no part in the search tell, these being too few to tune anew without some."
_OF_BLOCKS = "; rows that had no part in the search tell, none being nested in folds that are given."
_NESTED = (
    ": see the optimism, which also holds what tuning on fewer rows costs. The nested standard error is that of a mean "
    "over the {what}s, as if the searches were independent."
)
_PAIRED = (
    "As good as the best: the score is above the least by at most the standard error of that difference, {what} by "
    "{what}. The simplest of these points has the smallest C, then the first formula or kernel of a list, and the "
    "smallest gamma."
)
_UNPAIRED = (
    "Which points are as good as the best is not known: the parts of the rows in all scores take too much memory."
)


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

    @property
    def is_of_probabilities(self) -> bool:
        return self.measure == "deviance" and not self.of_full_fit

    @property
    def of_full_fit(self) -> bool:
        return self.criterion.of_full_fit

    def refuse_levels(self, response: Response) -> None:
        found = f"for two levels only: the response {response.name!r} has {len(response.levels)}"
        if not self.criterion.any_levels:
            raise refuse(
                "criterion", self.name, f"'loo', 'kfold' or 'span', {self.criterion.label} being defined {found}"
            )
        if self.measure == "loss":
            raise refuse("score", self.measure, f"another measure, the mean loss being defined {found}")
        if self.further:
            raise refuse("further", self.further, f"left out, these criteria being defined {found}")

    def refuse_units(self, units: Units) -> None:
        what = "groups" if units.grouped else "weight_type='probability'"
        asked = [(f"criterion={self.name!r}", self.criterion)]
        asked += [(f"further=[{name!r}]", FURTHER[name][1]) for name in self.further]
        for name, each in asked:
            if each.of_copies:
                raise ArgumentError(
                    f"{each.label} and {what} are not allowed together ({name}): it approximates leaving out single "
                    "rows. criterion='loo' and 'kfold' leave out groups, and rows with all of their weight."
                )

    def refuse_folds(self, folds: Folds) -> None:
        """Any will do."""

    def search(self, sample: Sample, grid: Grid, effort: Effort) -> Found:
        also = {name: FURTHER[name][1] for name in self.further}
        along = self.criterion.points(sample, grid.kernels, grid.costs, also, effort)
        points = [of_kernel[j] for j in range(len(grid.costs)) for of_kernel in along]  # C rising, for each the kernels
        scores = np.array([point.score for point in points])
        chosen = -1 if np.isnan(scores).all() else first_least([(scores, TIED * abs(np.nanmin(scores)))])
        if chosen < 0:
            raise DataError(f"no point of the grid could be scored; the first: {points[0].reason}.")
        row, at = divmod(chosen, len(grid.kernels))
        C = grid.costs[row]
        delta_se = None if self.of_full_fit else [paired_se(point, points[chosen]) for point in points]
        table = _table(grid, points, delta_se, scores[chosen], self.further)
        return Found(table, chosen, at, {"C": C, **grid.arguments[at]}, C, corrected=corrected_of(points))

    def finished(self, result: TuneResult, held: pd.DataFrame | None) -> TuneResult:  # noqa: ARG002
        """The result as it is, after a word on where the grid ends and on points without a score."""
        warn_of_edges(result)
        warn_of_failed(result)
        return result

    def judged(self, sample: Sample, left: LeftOut) -> Nested:
        point = rated(sample, left.decision_values, left.winner, left.log_likelihood, self.measure, np.nan)
        return Nested(point.score, point.score_se, {"error": point.error}, left.choices, left.fold)

    def figure(self, result: TuneResult, ax: Axes | None) -> Axes:
        """Contours over C and gamma where both vary; otherwise lines, further parameters held at their best value."""
        best, table = result.searched, result.table
        varied = [name for name in best if _varies(table, name)]
        shown = (["C", "gamma"] if {"C", "gamma"} <= set(varied) else varied[:2]) or ["C"]
        by_name = next((name for name in ("formula", "kernel") if name in varied), None)
        if by_name is not None:
            shown = ["C", by_name]
        table = table.assign(near=self._near(result))
        held = {name: best[name] for name in varied if name not in shown}
        if by_name == "formula":  # each has a grid of its own
            table = table.loc[table.dropna(subset="score").groupby(shown, sort=False)["score"].idxmin()]
            what = result.score_name + "".join(f", least over {name}" for name in held)
        else:
            table = held_at(table, held)
            what = result.score_name + "".join(f", {name} = {brief(value)}" for name, value in held.items())
        if shown == ["C", "gamma"]:
            grid = table.set_index(["gamma", "C"])
            score = grid["score"].unstack()  # noqa: PD010
            C, gamma = score.columns.to_numpy(float), score.index.to_numpy(float)
            near = grid["near"].unstack().to_numpy(bool)  # noqa: PD010
            return contour_plot(C, gamma, score.to_numpy(float), (best["C"], best["gamma"]), near, what=what, ax=ax)
        first, *second = shown
        by = (
            {"": table}
            if not second
            else {_named(second[0], v): part for v, part in table.groupby(second[0], sort=False)}
        )
        lines = {label: (part[first].to_numpy(float), part["score"].to_numpy(float)) for label, part in by.items()}
        chosen = (float(best[first]), float(result.best_row["score"]))
        near = table.loc[table["near"], [first, "score"]].to_numpy(float)
        return line_plot(lines, chosen, near, name=first, logarithmic=first in ("C", "gamma"), what=what, ax=ax)

    def _near(self, result: TuneResult) -> NDArray[np.bool_]:
        """Which other points than the best are as good, as far as can be told."""
        if self.of_full_fit:
            return np.zeros(len(result.table), bool)
        return np.asarray(result.table["within_se"] & (np.arange(len(result.table)) != result.chosen))

    def criteria_figure(self, result: TuneResult, along: str, ax: Axes | None) -> Axes:
        """The score and the further criteria along one parameter."""
        varied = [name for name in result.searched if name in ("C", "gamma") and _varies(result.table, name)]
        if not varied:
            raise refuse("along", along, "a parameter with several values, and this grid has one of each")
        one_of("along", along, varied)
        held = {name: value for name, value in result.searched.items() if name != along}
        line = held_at(result.table, held)
        lines = {result.score_name: line["score"].to_numpy()}
        lines |= {FURTHER[name][0]: line[name].to_numpy() for name in self.further}
        at = ", ".join(f"{name} = {brief(value)}" for name, value in held.items())
        title = "dots: the least value of each" + (f"; {at}" if at else "")
        return criteria_plot(line[along].to_numpy(), lines, name=along, title=title, ax=ax)

    def summary(self, result: TuneResult) -> Summary:
        row, of_full_fit = result.best_row, self.of_full_fit
        wide, best = _apart(result.searched)
        null = self._of_frequencies(result)
        block = Block(
            wide=tuple(Entry(f"Best {name}", value) for name, value in wide),
            left=tuple(Entry(f"Best {name}", value, "setting") for name, value in best),
            right=(
                Entry("Score", float(row["score"])),
                *(() if of_full_fit else (Entry("  standard error", float(row["score_se"])),)),
                *(() if result.corrected_score is None else (Entry("  corrected", result.corrected_score),)),
                *(() if null is None else (Entry("  class frequencies", null),)),
                Entry(self.criterion.error_name, float(row["error"]), "share"),
                Entry("Grid points", len(result.table), "count"),
            ),
        )
        notes = [f"The score is the {result.score_name}.{_never(result)}", *notes_of_edges(result)]
        notes += [*note_of_groups(result.best), *notes_of_copies(result), *_hard(result)]
        blocks = [block] if of_full_fit else [block, *of_nested(result), *_within_se(result)]
        if not of_full_fit and len(result.table) > 1:
            what = "group" if result.best.grouped else "row"
            simulated = _SIMULATED * self.is_of_probabilities
            notes.append(f"{_TOO_LOW.format(what=what)}{simulated}{of_nesting(result)}")
            notes.append(_UNPAIRED if result.table["delta_se"].isna().all() else _PAIRED.format(what=what))
        points = counted(result.n_failed, "grid point")
        lost = [f"{points} could not be scored: see the column reason of .table."] if result.n_failed else []
        if null is not None:
            lost += _no_better(float(row["score"]), result.corrected_score, null)
        lost += warnings_of_copies(result)
        return Summary("Grid search", tuple(blocks), tuple(notes), tuple(lost))

    def _of_frequencies(self, result: TuneResult) -> float | None:
        """The deviance of the class frequencies among the rows that fits have seen; None for other scores.

        None also for folds that are given, of which some may be predicted by a part of the others.
        """
        if not self.is_of_probabilities or result.given:
            return None
        frame, units = result.best.frame, result.best.machine.units
        used = frame.weights > 0.0
        codes, weights = frame.codes[used], frame.weights[used]
        if result.fold is None:
            units = None if units is None else units.among(used)
            logs = predictive.null_log_likelihoods(codes, weights, True, units)
        else:
            fold = result.fold.to_numpy()[used]
            held_out = np.zeros((fold.max() + 1, len(frame.response.levels)))
            np.add.at(held_out, (fold, codes), weights)
            logs = predictive.seen_log_likelihoods(codes, (held_out.sum(axis=0) - held_out)[fold])
        return predictive.score(logs, weights).value


def _no_better(score: float, corrected: float | None, null: float) -> list[str]:
    """Where the deviance of the best point, corrected if that is known, is none below that of the class frequencies."""
    if score >= null * (1.0 - TIED):
        return ["no point of the grid predicts better than the class frequencies."]
    if corrected is not None and corrected >= null * (1.0 - TIED):
        return ["corrected for the choice, the best point predicts no better than the class frequencies."]
    return []


def _never(result: TuneResult) -> str:
    """How many rows no fold holds out; nothing where there are none."""
    if result.fold is None:
        return ""
    never = int(np.count_nonzero((result.fold.to_numpy() < 0) & (result.best.frame.weights > 0)))
    rows, do = ("row", "does") if never == 1 else ("rows", "do")
    return f" {never} {rows} that no fold holds out {do} not count." if never else ""


def _hard(result: TuneResult) -> Iterator[str]:
    """What is said where the grid is beyond all C that make a difference, as with more columns than rows."""
    costs = result.table["C"]
    if costs.min() < costs.max() and is_tied(result.table) and not result.best.n_support["bounded"].any():
        yield (
            "No row is at its bound in the best fit: a larger C gives the same, and only a far smaller one gives "
            "another."
        )


def of_nesting(result: TuneResult) -> str:
    """What tells how good the best point is."""
    if result.nested is not None:
        return _NESTED.format(what="group" if result.best.grouped else "row")
    if result.given:
        return _OF_BLOCKS
    if result.nestable == OUTER:
        return _ASK
    return _ASK_OF_FEW.format(k=result.nestable) if result.nestable else _OF_TOO_FEW


def of_nested(result: TuneResult) -> Iterator[Block]:
    """The score of rows for which all was tuned without them, beside that of the best point."""
    nested = result.nested
    if nested is not None:
        left = (Entry("Nested score", nested.score), Entry("  standard error", nested.score_se))
        optimism = Entry("Optimism of the score", nested.score - float(result.best_row["score"]))
        error = Entry("Error of rows left out", nested.rates["error"], "share")
        yield Block(title=nested.title, left=left, right=(optimism, error))


def _within_se(result: TuneResult) -> Iterator[Block]:
    """How many points are as good as the best, as far as can be told, and the simplest of them."""
    near = result.table[result.table["within_se"]]
    if len(result.table) > 1 and len(near):
        wide, simplest = _apart(searched_in(near.iloc[0], result.plan.first_found))
        count = Entry("Points within one paired se", len(near), "count")
        yield Block(
            title="As good as the best",
            wide=tuple(Entry(f"Simplest {name}", value) for name, value in wide),
            left=tuple(Entry(f"Simplest {name}", value, "setting") for name, value in simplest),
            right=(count,),
        )


def _apart(point: Mapping[str, Any]) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """The formula of a point, which needs a line of its own, and the rest."""
    long = [(name, value) for name, value in point.items() if name == "formula"]
    return long, [(name, value) for name, value in point.items() if name != "formula"]


def plan_by_cost(criterion: object, asked: Asked) -> CostPlan:
    """Check what is asked of a criterion that has a name.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a name that does not exist, what is for another criterion, and what the criterion lacks.
    """
    name = one_of("criterion", criterion, NAMES, also=", minimax() or neyman_pearson(a)")
    others = f" with criterion={name!r}; others are for minimax() and neyman_pearson(a)"
    one_of("search", asked.search, ("grid",), also=others)
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
    one_of("loss", asked.loss, losses.NAMES)
    for each in all_of_them:
        if asked.loss != "hinge" and not each.any_loss:
            allowed = f"'hinge' where {each.label} is asked for, which exists for no other loss"
            raise refuse("loss", asked.loss, allowed)
    if asked.nested is not None and made.of_full_fit:
        allowed = f"left out with {made.label}, a number of the fit to all rows, which rows that were left out have not"
        raise refuse("nested", asked.nested, allowed)
    return CostPlan(name, made, measure, further)


def _further(names: object) -> tuple[str, ...]:
    """The criteria beside the score, each once."""
    given = entries(names)
    if given is None:
        raise refuse("further", names, f"a sequence of {', '.join(map(repr, FURTHER))}")
    return tuple(dict.fromkeys(one_of("further", name, FURTHER) for name in given))


def corrected_of(points: list[Point]) -> float | None:
    """The best score without the choice, where there is one and the parts of the scores are known."""
    parts = [point.parts for point in points if not point.reason]
    known = [each for each in parts if each is not None]
    return corrected_score(in_order(known)) if len(points) > 1 and len(known) == len(parts) else None


def _table(
    grid: Grid, points: list[Point], delta_se: list[float] | None, least: float, further: tuple[str, ...]
) -> pd.DataFrame:
    """The table of all points; with ``delta_se`` those whose score is within it of the ``least`` are marked."""
    searched = zip(*((cost, *each.values()) for cost in grid.costs for each in grid.parameters), strict=True)
    columns: dict[str, Any] = dict(zip(grid.names, map(list, searched), strict=True))
    return pd.DataFrame(columns | columns_of(points, delta_se, least, further))


def _named(name: str, value: object) -> str:
    """What a line of a figure is called."""
    return two_sides(str(value))[1] if name == "formula" else f"{name} = {brief(value)}"


def _varies(table: pd.DataFrame, name: str) -> bool:
    return len(table[name].unique()) > 1
