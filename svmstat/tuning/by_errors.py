"""The search for minimax or Neyman–Pearson: (ν₊, ν₋) and kernels by false alarms and misses [004]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import at_least, entries, fraction, one_of, refuse
from svmstat._tools.texts import counted
from svmstat.errors import ArgumentError, DataError
from svmstat.formula import Response
from svmstat.objective.measures import share
from svmstat.objective.nu import nu_of_sample
from svmstat.objective.predictive import proportion
from svmstat.prepared import Prepared
from svmstat.reporting.plots.nu import roc_plot, share_surface_plot
from svmstat.reporting.plots.style import Axes
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.rendering.values import brief
from svmstat.reporting.summary import Summary
from svmstat.results import SVMResults
from svmstat.results.rules import ShiftedRule
from svmstat.tuning.edges import notes_of_edges, warn_of_edges
from svmstat.tuning.error_control import Minimax, NeymanPearson
from svmstat.tuning.grid import Grid
from svmstat.tuning.guarantee import left_out_values, order_of_threshold, refuse_ties, rows_needed, threshold
from svmstat.tuning.nu_baselines import along_lines, most_in_folds
from svmstat.tuning.nu_search import ErrorRates, coordinate_descent, coordinate_descent_by_kernel, search_grid
from svmstat.tuning.plan import OUTER, Asked, Found, LeftOut, Nested, Plan, TuneResult, held_at, note_of_groups
from svmstat.tuning.sample import Distinct, Effort, Sample
from svmstat.tuning.scores import MEASURES
from svmstat.tuning.smoothing import SMOOTHINGS
from svmstat.tuning.surface import Cell, ErrorSurface

SEARCHES: dict[str, Callable[..., Cell | None]] = {
    "grid": search_grid,
    "coordinate": coordinate_descent,
    "coordinate_2d": coordinate_descent_by_kernel,
}
BASELINES = ("balanced", "bias")
_NU = {"nu_event": "nu of the event", "nu_other": "nu of the other level"}
_IN_PART = ("coordinate", "coordinate_2d")
"""What does not look at all points of a grid."""
_CALLED = {
    "grid": "all grid points",
    "coordinate": "coordinate descent in gamma, nu of the event and nu of the other level",
    "coordinate_2d": "coordinate descents in both nu, one for each kernel",
    "balanced": "equal nu of both levels",
    "bias": "nu-SVM with a shifted decision function",
}
_BESIDE = "looked at for the smoothed rates of its neighbours only"
"""Why a point of a search down coordinates has no score."""

_ROUNDING = 1e-9
"""A ν₋ this much below the largest possible one is possible in doubles."""

NU = tuple(k / 25 for k in range(1, 26))
"""The values of ν₊ and ν₋ if they are not given."""


@dataclass(frozen=True, slots=True)
class NuPlan(Plan):
    """A search for minimax or Neyman–Pearson over both ν and the kernels.

    Attributes
    ----------
    criterion : minimax or Neyman–Pearson
    kind : how it searches, one of `SEARCHES` or `BASELINES`
    smooth : None, "2d" or "3d"
    nu_event, nu_other : (I,) and (J,) rising values of ν₊ and ν₋
    n_folds : number of folds
    of_largest : whether these are parts of the largest single ν, for the ordinary ν-SVM
    """

    first_found = "nu_event"

    criterion: Minimax | NeymanPearson
    kind: str
    smooth: str | None
    nu_event: Floats
    nu_other: Floats
    n_folds: int
    of_largest: bool = False

    @property
    def folds(self) -> int:
        return self.n_folds

    @property
    def score_name(self) -> str:
        return self.criterion.name

    def refuse_levels(self, response: Response) -> None:
        found = f"for two levels only: the response {response.name!r} has {len(response.levels)}"
        raise refuse("criterion", self.criterion, f"another, minimax and Neyman-Pearson being defined {found}")

    def refuse_grid(self, grid: Grid) -> None:
        if self.smooth == "3d" and not grid.ordered:
            raise refuse("smooth", self.smooth, "'2d' for a kernel with several parameters, which have no one order")

    def held_out(
        self, prepared: Prepared, n_data: int, keep_outside: bool, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]] | None:
        """Of the rows of the other level those that set the threshold, where P_F is to be guaranteed."""
        if not isinstance(self.criterion, NeymanPearson) or self.criterion.delta is None:
            return None
        held = _others(prepared, self.criterion, self.criterion.delta, rng)
        if self.criterion.by_loo:
            used = prepared.frame.weights > 0.0
            refuse_ties(prepared.X[used], prepared.frame.y[used] < 0)
            return None
        mask = np.full(n_data, keep_outside)
        mask[prepared.frame.rows] = True
        mask[held] = False
        return held, mask

    def search(self, sample: Sample, grid: Grid, effort: Effort) -> Found:
        rows = sample.distinct(grid.kernels[0].of_rows)
        surface, cell = (self._searched if self.kind in SEARCHES else self._along_lines)(rows, grid, effort)
        if cell is None:
            most = f", here of {most_in_folds(rows):.4g} at most," if self.kind == "bias" else ""
            raise DataError(
                "no point that was looked at could be estimated: for each of them rho is too small in some fold for "
                f"the decision function to have digits; larger nu{most} or another gamma help."
            )
        s, j, i = cell
        both = float(surface.nu_event[j, i]), float(surface.nu_other[j, i])
        chosen = int(np.count_nonzero(surface.known.ravel()[: np.ravel_multi_index(cell, surface.shape)]))
        asked = self._single(rows)[i] if self.kind == "bias" else both
        nu = nu_of_sample(asked, rows.y, rows.weights)
        params = {"nu": both, **grid.arguments[s]}
        return Found(self._table(surface, grid), chosen, s, params, nu=nu, nu_asked=asked)

    def _possible(self, nu_other: Floats, n_other: float) -> Floats:
        """ν₋ such that each of the rows of the other level can be left out, where that is wanted."""
        if not isinstance(self.criterion, NeymanPearson) or not self.criterion.by_loo:
            return nu_other
        return np.minimum(nu_other, (1.0 - 1.0 / n_other) * (1.0 - _ROUNDING))

    def _searched(self, rows: Distinct, grid: Grid, effort: Effort) -> tuple[ErrorSurface, Cell | None]:
        nu_other = np.unique(self._possible(self.nu_other, rows.weights[rows.y < 0].sum()))
        rates = ErrorRates(rows, grid.kernels, self.nu_event, nu_other, effort)
        chosen = SEARCHES[self.kind](rates, self.criterion, self.smooth)
        return rates.surface, chosen

    def _along_lines(self, rows: Distinct, grid: Grid, effort: Effort) -> tuple[ErrorSurface, Cell | None]:
        """The same for a grid of kernels and one ν."""
        event, shifted_for = self.nu_event, None
        other = self._possible(self.nu_event, rows.weights[rows.y < 0].sum())
        if self.kind == "bias":
            both = [nu_of_sample(nu, rows.y, rows.weights) for nu in self._single(rows)]
            shifted_for = self.criterion
            event, other = np.array([nu.event for nu in both]), np.array([nu.other for nu in both])
        surface = along_lines(rows, grid.kernels, event, other, shifted_for, effort, single=self.kind == "bias")
        return surface, surface.best(self.criterion, self.smooth)

    def _single(self, rows: Distinct) -> list[float]:
        """The values of ν that the ordinary ν-SVM has on these rows, and without each fold."""
        most = most_in_folds(rows)
        values = self.nu_event * most if self.of_largest else self.nu_event
        single: list[float] = values[values <= most * (1.0 + 1e-12)].tolist()
        if not single:
            raise DataError(
                f"every nu is above twice the share of the smaller class, {most:.4g}, where the ordinary nu-SVM has "
                "no solution: of all rows, and of those without each fold. Give smaller ones, or none for parts of it."
            )
        return single

    def _table(self, surface: ErrorSurface, grid: Grid) -> pd.DataFrame:
        """One row for each point that was looked at."""
        s, j, i = np.nonzero(surface.known)
        at = s, j, i
        columns = {"nu_event": surface.nu_event[j, i], "nu_other": surface.nu_other[j, i]}
        columns |= {"p_f": surface.p_f[at], "p_m": surface.p_m[at]}
        compared = surface.compared[at]
        p_f, p_m = (np.where(compared, each[at], np.nan) for each in surface.smoothed(self.smooth))
        if self.smooth is not None:
            columns |= {"p_f_smooth": p_f, "p_m_smooth": p_m}
        if self.kind == "bias":
            columns["shift"] = surface.shift[at]
        columns["score"] = self.criterion.score(p_f, p_m)
        lost = surface.unresolved[at]
        status = np.where(lost > 0, "failed", "ok")
        reason = [
            f"rho is too small to be resolved in {counted(count, 'fold')}" if count else "" if is_candidate else _BESIDE
            for count, is_candidate in zip(lost, compared, strict=True)
        ]
        parameters = pd.DataFrame(list(grid.parameters)).iloc[s].reset_index(drop=True)
        return pd.concat([parameters, pd.DataFrame({**columns, "status": status, "reason": reason})], axis=1)

    def shift(self, found: Found) -> float:
        """What is added to f of the best point: with search="bias" its shift."""
        return float(found.table["shift"].iloc[found.chosen]) if self.kind == "bias" else 0.0

    def judged(self, sample: Sample, left: LeftOut) -> Nested:
        """The error rates of the rows that were left out, with the standard errors of shares."""
        f, rates = left.decision_values[:, 0], {}
        y = np.where(sample.weights > 0, sample.contrasts[0].signs(sample.codes), 0.0)
        for name, of_level, wrong in (("p_f", y < 0, f > 0), ("p_m", y > 0, f <= 0)):
            total = sample.weights[of_level].sum()
            rates[name] = rate = share(wrong[of_level], sample.weights[of_level])
            rates[f"{name}_se"] = float(np.sqrt(rate * (1.0 - rate) / (total - 1.0))) if total > 1.0 else np.nan
            if sample.units is not None:
                units = sample.units.among(of_level)
                rates[f"{name}_se"] = proportion(wrong[of_level], sample.weights[of_level], units).se
        score = float(self.criterion.score(np.array(rates["p_f"]), np.array(rates["p_m"])))
        return Nested(score, np.nan, rates, left.choices, left.fold)

    def finished(self, result: TuneResult, held: pd.DataFrame | None) -> TuneResult:
        """With the rule that replaces f > 0: shifted, or with a threshold that the held-out rows set.

        Before it a word on where the grid of kernels ends. Points without a score are in the summary: where the hulls
        of small ν meet that is no failure.
        """
        warn_of_edges(result)
        if self.kind == "bias":
            return replace(result, rule=ShiftedRule(result.best, float(result.best_row["shift"])))
        if not isinstance(self.criterion, NeymanPearson) or self.criterion.delta is None:
            return result
        a, delta = self.criterion.a, self.criterion.delta
        if held is None:
            scores = left_out_values(result.best.machine)
        else:
            scores = result.best.decision_function(held).to_numpy()
        rule = ShiftedRule(result.best, 0.0 - threshold(scores, a, delta))  # and no −0
        return replace(result, rule=rule, n_threshold=len(scores), order=order_of_threshold(len(scores), a, delta))

    def figure(self, result: TuneResult, ax: Axes | None) -> Axes:
        """The score over (ν₊, ν₋) for the best kernel [004: figure 1]; with one ν only, the score against it."""
        row, parameters = result.best_row, result.searched
        held = ", ".join(f"{name} = {brief(value)}" for name, value in parameters.items())
        what = self.criterion.name + ("" if self.smooth is None else ", smoothed")
        table = held_at(result.table, parameters)
        if self.kind in BASELINES:
            event, other, score = (table[name].to_numpy(float)[None] for name in ("nu_event", "nu_other", "score"))
        else:
            square = table.pivot(index="nu_other", columns="nu_event", values="score")  # noqa: PD010
            machine = result.best.machine
            nu_other = np.unique(self._possible(self.nu_other, machine.totals[machine.pairs[0].second]))
            square = square.reindex(index=nu_other, columns=self.nu_event)
            event, other = np.meshgrid(self.nu_event, nu_other)
            score = square.to_numpy(float)
        chosen = np.flatnonzero(((event == row["nu_event"]) & (other == row["nu_other"])).ravel())[0]
        at = divmod(int(chosen), score.shape[1])
        return share_surface_plot(event, other, score, at, what=what, held=held, ax=ax)

    def roc_figure(self, result: TuneResult, ax: Axes | None) -> Axes:
        """The estimated (P_F, P_M) of all points that were looked at, with the chosen one."""
        known = result.table[result.table["status"] == "ok"]
        level = self.criterion.a if isinstance(self.criterion, NeymanPearson) else None
        p_f, p_m = (known[self._compared(name)].to_numpy(float) for name in ("p_f", "p_m"))
        chosen = float(result.best_row[self._compared("p_f")]), float(result.best_row[self._compared("p_m")])
        return roc_plot(p_f, p_m, chosen, level=level, ax=ax)

    def _compared(self, name: str) -> str:
        """The column with the rates that are compared."""
        return name if self.smooth is None else f"{name}_smooth"

    def summary(self, result: TuneResult) -> Summary:
        row = result.best_row
        kernel = [Entry(f"Best {name}", value, "setting") for name, value in result.searched.items()]
        nu = result.best.machine.pairs[0].nu
        single = None if nu is None or not nu.single else 2.0 * nu.event * nu.n_event / nu.n

        def rates(label: str, name: str) -> list[Entry]:
            smoothed = float(row[self._compared(name)])
            beside = [] if self.smooth is None else [Entry(f"  smoothed ({self.smooth})", smoothed, "share")]
            return [Entry(label, float(row[name]), "share"), *beside]

        block = Block(
            wide=(Entry("Criterion", str(self.criterion)), Entry("Search", _CALLED[self.kind])),
            left=(
                *([] if single is None else [Entry("nu", single, "setting")]),
                Entry("nu of the event", float(row["nu_event"]), "setting"),
                Entry("nu of the other level", float(row["nu_other"]), "setting"),
                *kernel,
                Entry("Points looked at", len(result.table), "count"),
            ),
            right=(
                *rates("False alarms, P_F", "p_f"),
                *rates("Misses, P_M", "p_m"),
                Entry("Folds", self.n_folds, "count"),
            ),
        )
        by_loo = isinstance(self.criterion, NeymanPearson) and self.criterion.by_loo
        rule = () if result.rule is None else (_rule_block(result.rule, result.n_threshold, result.order, by_loo),)
        nested = () if result.nested is None else (_nested_block(result.nested),)
        ask = "rows that had no part in it tell"
        if result.nestable and not result.given:
            ask = f"nested={True if result.nestable == OUTER else result.nestable} estimates by how much"
        known = ask if result.nested is None else "see the rates of rows left out"
        chosen = f": the chosen point looks better than it is; {known}" if len(result.table) > 1 else ""
        notes = [f"P_F and P_M are estimated by cross-validation{chosen}."]
        if result.order is not None:
            notes = ["P_F and P_M are those of f > 0 by cross-validation, not of the rule with its threshold."]
        notes += [*self._left_out(result), *notes_of_edges(result), *self._ends_of_nu(result)]
        notes += note_of_groups(result.best)
        if result.n_threshold is not None and not by_loo:
            notes.append(_without_held_out(result.best, result.n_threshold))
        if by_loo:
            notes.append(
                "The threshold is approximate: for a = delta = 0.1 P_F exceeded a in 0.03 to 0.08 of simulated samples "
                "of 200 rows, and in 0.05 to 0.15 of 80 (python -m benchmarks validity neyman-pearson). No "
                "theorem says so, since leave-one-out values depend on each other; rows with equal predictors break it."
            )
        lost = f"{counted(result.n_failed, 'point')} without an estimate: see the column reason of .table."
        warnings = [lost] if result.n_failed else []
        if result.order is None and bool(self.criterion.violated(np.array(row[self._compared("p_f")]))):
            which, more = (" that was looked at", " search='grid' looks at all.") if self.kind in _IN_PART else ("", "")
            rate = "P_F" if self.smooth is None else "the smoothed P_F"
            warnings.append(
                f"no point{which} keeps {rate} at the level: the one with the least Neyman-Pearson score was taken."
                f"{more}"
            )
        if result.best.rho == 0.0:
            warnings.append(
                "the reduced hulls of the best point meet (rho = 0): f = 0 in all rows, and one level is predicted for "
                "all. Larger nu reduce them further."
            )
        elif not result.best.intercept_is_unique:
            notes.append(
                "A level has no free support vector at the best point, so that many intercepts, each with its rho, are "
                "optimal: the error rates are those of their midpoint, or of the end that is finite."
            )
        return Summary("Search with controlled errors", (block, *rule, *nested), tuple(notes), tuple(warnings))

    def _ends_of_nu(self, result: TuneResult) -> list[str]:
        """Which ν is at an end of its grid, and could be beyond it."""
        found = []
        grids = {} if self.kind in BASELINES else {"nu_event": self.nu_event, "nu_other": self.nu_other}
        for name, grid in grids.items():
            looked_at, value = result.table[name], float(result.best_row[name])
            low, high = looked_at.min(), looked_at.max()
            is_end = {"smallest": value == low < high, "largest": low < value == high and np.max(grid) < 1.0}
            found += [
                f"The best {_NU[name]} = {value:.6g} is the {end} of its grid: a wider one may hold a better."
                for end, holds in is_end.items()
                if holds
            ]
        return found

    def _left_out(self, result: TuneResult) -> list[str]:
        """How many values of ν the ordinary ν-SVM does not have."""
        asked = len(self.nu_event)
        lost = asked - result.table["nu_event"].nunique() if self.kind == "bias" else 0
        if not lost:
            return []
        are = "is" if lost == 1 else "are"
        return [
            f"{lost} of {asked} values of nu {are} left out: above twice the share of the smaller class, of all rows "
            "or of those without a fold, the ordinary nu-SVM has no solution."
        ]


def _without_held_out(best: SVMResults, n_threshold: int) -> str:
    """That the fit is of a sample with more events than the data have."""
    shares = best.confusion.sum(axis=1)
    event, n = shares[best.event], shares.sum()
    rows = f"The {n_threshold} held-out rows are" if n_threshold > 1 else "The held-out row is"
    return (
        f"{rows} in no number of .best: in its rows, and so in its probabilities, "
        f"{best.event} has a share of {event / n:.4f}, in the data one of {event / (n + n_threshold):.4f}."
    )


def _nested_block(nested: Nested) -> Block:
    """The error rates of rows for which all was tuned without them."""
    false_alarms, misses = (
        (Entry(label, nested.rates[name], "share"), Entry("  standard error", nested.rates[f"{name}_se"], "share"))
        for label, name in (("False alarms, P_F", "p_f"), ("Misses, P_M", "p_m"))
    )
    return Block(title=nested.title, left=false_alarms, right=misses)


def _rule_block(rule: ShiftedRule, n_threshold: int | None, order: int | None, by_loo: bool) -> Block:
    entries = [Entry("Threshold on f", -rule.shift)]
    if order is not None:
        rows = "Rows left out in turn" if by_loo else "Held-out rows"
        entries += [Entry(rows, n_threshold, "count"), Entry("Its rank among them", order, "count")]
    return Block(title="Rule", left=tuple(entries))


def plan_by_errors(criterion: Minimax | NeymanPearson, asked: Asked) -> NuPlan:
    """Check what is asked of minimax or Neyman–Pearson.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a search or a smoothing that does not exist, values of ν outside (0, 1], and what has no place here.
    """
    kind = one_of("search", asked.search, (*SEARCHES, *BASELINES))
    if asked.smooth is not None:
        one_of("smooth", asked.smooth, [name for name in SMOOTHINGS if name is not None], also=", or None")
    nu_event, nu_other = _both("nu", asked.nu)
    if kind == "bias" and isinstance(criterion, NeymanPearson) and criterion.delta is not None:
        raise refuse("search", kind, "another with delta, which sets the threshold on f itself")
    if kind in BASELINES and not np.array_equal(nu_event, nu_other):
        raise refuse("nu", asked.nu, f"one sequence of numbers with search={kind!r}, which has one nu for both levels")
    _refuse_costs(criterion, asked)
    folds = at_least("folds", asked.folds, 2)
    of_largest = kind == "bias" and asked.nu is None
    return NuPlan(criterion, kind, asked.smooth, nu_event, nu_other, folds, of_largest)  # type: ignore[arg-type]


def _refuse_costs(criterion: Minimax | NeymanPearson, asked: Asked) -> None:
    """Refuse what is for searches over a cost, or has no meaning with a guarantee."""
    for name, value in {"C": asked.C, **asked.weighing}.items():
        if value is not None:
            raise refuse(name, value, f"left out with criterion={criterion}: nu takes its place")
    if not isinstance(asked.loss, str) or asked.loss != "hinge":
        allowed = f"'hinge' with criterion={criterion}: the 2nu-SVM has one margin for both levels"
        raise refuse("loss", asked.loss, allowed)
    if one_of("score", asked.score, MEASURES) != "deviance":
        raise refuse("score", asked.score, f"left out with criterion={criterion}, which is a measure of its own")
    if asked.truth is not None:
        raise ArgumentError("truth is used for GCKL only: give criterion='gckl' or further=['gckl'] with it.")
    if entries(asked.further) != ():
        raise refuse(
            "further", asked.further, "left out with minimax() and neyman_pearson(a), which have no fit to all rows"
        )
    if asked.nested is not None and isinstance(criterion, NeymanPearson) and criterion.delta is not None:
        raise refuse("nested", asked.nested, "left out with delta, which bounds P_F of the rule with its own threshold")


def _both(name: str, nu: object) -> tuple[Floats, Floats]:
    """The values of ν₊ and of ν₋: a sequence for both, or two sequences."""
    allowed = "a sequence of numbers in (0, 1], or two sequences, for the event and for the other level"
    if nu is None:
        return np.array(NU), np.array(NU)
    if not _is_sequence(nu):
        raise refuse(name, nu, allowed)
    each = list(nu)  # type: ignore[call-overload]
    if len(each) == 2 and all(map(_is_sequence, each)):
        return _values(f"{name}[0]", each[0]), _values(f"{name}[1]", each[1])
    if any(isinstance(value, list | tuple | np.ndarray | pd.Series) for value in each):
        raise refuse(name, nu, allowed)
    values = _values(name, each)
    return values, values


def _is_sequence(values: object) -> bool:
    """Whether it is a list, an array or the like, of one dimension and not empty."""
    if isinstance(values, np.ndarray | pd.Series):
        return values.ndim == 1 and len(values) > 0
    return isinstance(values, Sequence) and not isinstance(values, str | bytes) and len(values) > 0


def _values(name: str, values: Any) -> Floats:
    numbers = (each.item() if isinstance(each, np.generic) else each for each in values)
    return np.unique([fraction(f"{name}[{k}]", number) for k, number in enumerate(numbers)])


def _others(prepared: Prepared, criterion: NeymanPearson, delta: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Positions in the data of rows of the other level that set the threshold.

    Raises
    ------
    DataError
        If the rows do not suffice, or have weights.
    """
    frame = prepared.frame
    if frame.grouping is not None:
        raise DataError(
            "neyman_pearson(a, delta) counts rows that were drawn independently: groups are not allowed with it. "
            "neyman_pearson(a) controls P_F as far as its estimate by folds of groups goes."
        )
    if (frame.weights[frame.weights > 0.0] != 1.0).any():
        raise DataError(
            "neyman_pearson(a, delta) counts rows that were drawn independently: case weights other than 1 are not "
            "allowed with it."
        )
    others = frame.rows[(frame.y < 0) & (frame.weights > 0.0)]
    portion = 1.0 if isinstance(criterion.holdout, str) else criterion.holdout
    m = int(portion * len(others) + 1e-9)
    needed = rows_needed(criterion.a, delta)
    if m < needed:
        least = int(np.ceil(needed / portion - 1e-9))
        kind = "" if criterion.by_loo else "held-out "
        raise DataError(
            f"a = {criterion.a:g} with delta = {delta:g} needs at least {needed} {kind}rows of the other level, so "
            f"that with holdout = {criterion.holdout} the data must have {least} of them: there are {len(others)}."
        )
    return np.sort(rng.permutation(others)[:m])
