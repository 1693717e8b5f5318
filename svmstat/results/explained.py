"""What predictors do to predictions: effects and average comparisons, with bands from one set of replicates."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_hashable

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import at_least, between, flag, number, one_of, refuse, workers
from svmstat._tools.texts import written
from svmstat.diagnostics.band import Band
from svmstat.diagnostics.contrasts import SD, Contrasts
from svmstat.diagnostics.effect_plans import KINDS, Contrast, Plan, plan, planned_contrasts
from svmstat.diagnostics.effects import Effect, Effects, labelled
from svmstat.diagnostics.outcome import ON, Outcome
from svmstat.errors import UnavailableError
from svmstat.formula import AlteredRows, Variable, check_inside, check_varies, within
from svmstat.formula.scaling import mean_and_sd
from svmstat.kernels import Precomputed
from svmstat.resampling.averages import Predictor, SignedMeans, is_flat, means
from svmstat.results.bootstrap import Bootstrap, replicates_of
from svmstat.results.uncertainty import Uncertain

_BINS, _PAIR_BINS, _PAIR_STEPS = 20, 10, 15
"""Of one column; of two for accumulated local effects, and for partial dependence."""

Step = float | str | tuple[Any, Any]


@dataclass(frozen=True, repr=False, eq=False)
class Explained(Uncertain):
    """Effects of predictors."""

    def effects(
        self,
        x: Hashable | Sequence[Hashable] | None = None,
        kind: str = "ale",
        on: str = "prob",
        B: int | Bootstrap = 0,
        level: float = 0.95,
        rng: int | np.random.Generator | None = None,
        grid: int | Sequence[float] | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> Any:
        """What a predictor does to the predictions, on the axis of the data: all terms that read it move together.

        Parameters
        ----------
        x : column name, or pair of them, optional
            Of the data, not of the formula: ``"ast"`` for the term ``np.log(ast)``. Of two columns it is a map, or a
            line for each level of one that goes by levels. By default all predictors, one by one.
        kind : {"ale", "pdp", "ice"}
            Accumulated local effects [Apley & Zhu 2020]; partial dependence [Friedman 2001]; the curves of single rows
            [Goldstein, Kapelner, Bleich & Pitkin
            2015]. A column that goes by levels (text, booleans, categories, numbers in ``C(x)``, two
            numbers) has average predictions by level and their differences.
        on : {"prob", "decision"}
            P(event), of more than two levels that of each; or decision values, of each pair.
        B : int or Bootstrap
            Replicates for the band: 0 for none; at least 2/(1 − level) − 1; or `bootstrap` of this fit, for several
            calls with the same replicates.
        level : float
            Between 0 and 1: the share of the replicates inside the band.
        rng : int or Generator, optional
            On which alone the replicates depend.
        grid : int or array_like, optional
            How many bins between quantiles (20), of two columns of either (10; 15 even steps of partial dependence); or
            for "pdp" and "ice" of one number the values, none outside the data.
        n_jobs, progress
            As in `loo`.

        Returns
        -------
        Effect or Effects
            ``.summary_frame()``, ``.plot()``; a printout.

        Raises
        ------
        ArgumentError
            For an argument outside what is allowed.
        DataError
            If a term cannot be computed where other predictors keep their values, as log(x − z).
        UnavailableError
            For a precomputed kernel.

        Notes
        -----
        The band is the stability of the estimate: percentiles over refits to drawn rows, averaged over the rows of the
        fit. It is no confidence interval for a true effect. Accumulated local effects take two predictions of each row,
        partial dependence one at each value.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth", datasets.load("mackerel"))
        >>> fit.effects("b_depth", grid=4).summary_frame()[["b_depth", "estimate"]].round(2)
           b_depth  estimate
        0     ...
        """
        one_of("kind", kind, KINDS)
        variables, rows = self._variables(x)
        if x is not None and len(variables) == 2 and kind == "ice":
            raise refuse("kind", kind, "'ale' or 'pdp' for two columns")
        if kind == "ice" and (isinstance(B, Bootstrap) or at_least("B", B, 0) > 0):
            raise refuse("B", B, "0 with kind='ice', whose curves have no bands")
        every = variables if x is not None else tuple(each for each in variables if each.varies)
        groups = [every] if len(variables) == 2 and x is not None else [(each,) for each in every]
        plans = [plan(rows, group, kind, _grid(group, kind, grid)) for group in groups]
        differences = [_by_levels(rows, each.variables[0]) if len(each.variables) == 1 else [] for each in plans]
        wanted = [each.wanted for each in plans]
        wanted += [planned_contrasts(rows, each) for each in differences if each]
        predict, level = self._predictor(wanted, on, B, level, rng, n_jobs, progress)
        found = means(predict, wanted, n_jobs, progress)
        outcome, rest = self._outcome(on), iter(found[len(plans) :])
        effects = []
        for each, values, contrasts in zip(plans, found, differences, strict=False):
            compared = _contrasts(outcome, rows, contrasts, next(rest), level, predict) if contrasts else None
            effects.append(self._effect(each, outcome, rows, values, compared, level, predict))
        if x is not None:
            return effects[0]
        return Effects(tuple(effects), tuple(each.name for each in variables if not each.varies))

    def comparisons(
        self,
        x: Hashable | None = None,
        step: Step = 1,
        on: str = "prob",
        B: int | Bootstrap = 0,
        level: float = 0.95,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> Contrasts:
        """By how much predictions change, in the mean over all rows, when one predictor does and all else stays.

        As avg_comparisons() of marginaleffects for R has it [Arel-Bundock, Greifer & Heiss 2024]: of a number the
        forward difference from each row's x to x + step, of levels each one minus the first.

        Parameters
        ----------
        x : column name, optional
            Of the data; by default all predictors.
        step : number, "sd" or (low, high)
            Of a number: a step from where each row is; "sd" from half a standard deviation below the mean to half of
            one above it, in every row; or between two values, none outside the data. Of a column that goes by levels,
            which takes no other: (first, second), for the one difference. Without x, columns of numbers that lie
            closer than the default step have "sd" in its place.
        on, B, level, rng, n_jobs, progress
            As in `effects`.

        Returns
        -------
        Contrasts
            ``.summary_frame()``, ``.plot()``; a printout.

        Raises
        ------
        ArgumentError, DataError, UnavailableError
            As `effects`; and for a step that leaves the data in every row.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + temp_20m", datasets.load("mackerel"))
        >>> fit.comparisons("temp_20m").summary_frame()[["term", "contrast", "estimate"]].round(3)
               term contrast  estimate
        0  temp_20m       +1  ...
        """
        variables, rows = self._variables(x)
        if len(variables) > 1 and x is not None:
            raise refuse("x", x, "one column, or None for all of them")
        if isinstance(step, tuple | list) and x is None:
            raise refuse("step", step, "a number or 'sd', where x names no column")
        contrasts = [
            each
            for variable in variables
            if x is not None or variable.varies
            for each in _planned(rows, variable, step, x is not None)
        ]
        wanted = [planned_contrasts(rows, list(each)) for _, each in groupby(contrasts, attrgetter("variable"))]
        predict, level = self._predictor(wanted, on, B, level, rng, n_jobs, progress)
        values = np.concatenate(means(predict, wanted, n_jobs, progress, what="comparisons"), axis=1)
        return _contrasts(self._outcome(on), rows, contrasts, values, level, predict)

    def _refuse_given_kernel(self, needs: str) -> None:
        """Refuse what looks at columns, for a fit that has none."""
        if isinstance(self.kernel, Precomputed):
            raise UnavailableError(
                f"{needs} kernel values of altered rows, and a precomputed kernel has those of given rows only: "
                "use a kernel of the columns, or a function K(X, Z)."
            )

    def _variables(self, x: Any) -> tuple[tuple[Variable, ...], AlteredRows]:
        """The columns that are asked for, each of which varies; without any all, of which one does."""
        self._refuse_given_kernel("effects need")
        rows = AlteredRows.of(self.frame)
        if x is None:
            return rows.variables(), rows
        single = not isinstance(x, list | tuple) or (is_hashable(x) and x in self.frame.design.predictors)
        names = [x] if single else list(x)
        if len(names) not in (1, 2) or not all(map(is_hashable, names)) or len(set(names)) < len(names):
            raise refuse("x", x, "a column, two different ones for a map, or None for all of them")
        return tuple(check_varies("x", rows.variable("x", name)) for name in names), rows

    def _predictor(
        self,
        wanted: Sequence[SignedMeans],
        on: str,
        B: int | Bootstrap,
        level: float,
        rng: Any,
        n_jobs: int | None,
        progress: bool,
    ) -> tuple[Predictor, float]:
        """What is averaged, by the fit and its replicates; what is ``wanted`` and cannot be is refused first."""
        one_of("on", on, ON)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        level = between("level", level, 0.0, 1.0)
        if not isinstance(B, Bootstrap) and at_least("B", B, 0):
            for each in wanted:
                each.X.check()
        replicates = replicates_of(self, B, level, rng, n_jobs, progress)
        return Predictor(self.machine, self.maps if on == "prob" else self.insample_maps, replicates, on), level

    def _outcome(self, on: str) -> Outcome:
        """What effects are shown of."""
        return Outcome(on, self.shape, on == "prob" and is_flat(self.maps))

    def _effect(
        self,
        planned: Plan,
        outcome: Outcome,
        rows: AlteredRows,
        values: Floats,
        compared: Contrasts | None,
        level: float,
        predict: Predictor,
    ) -> Effect:
        curves = None
        if planned.kind == "ice":
            each = outcome.shown(values[0]).reshape(-1, len(rows.weights), len(outcome.keys))
            curves = self._curves(planned, outcome, each)
            values = np.average(each, axis=1, weights=rows.weights)[None]
        else:
            values = outcome.shown(planned.finish(values, self._drawn(planned, predict)))
        return Effect(
            planned.variables, planned.kind, outcome, planned.grid, values[0], _band(values, level, predict, outcome),
            planned.near, rows.weights, compared, curves,
        )  # fmt: skip

    def _drawn(self, planned: Plan, predict: Predictor) -> Floats | None:
        """The weights in the bins of one column, by replicate."""
        if planned.cell is None:
            return None
        place = np.full(len(self.frame.weights), -1)
        place[self.frame.weights > 0] = planned.cell
        return predict.drawn(place, planned.wanted.size)

    def _curves(self, planned: Plan, outcome: Outcome, curves: Floats) -> pd.DataFrame:
        """Curves (v, n, q) on the index of the rows, a column for each value, or each key and value."""
        (variable,), (grid,) = planned.variables, planned.grid
        columns = pd.Index(labelled(variable, grid), name=variable.name)
        if len(outcome.keys) > 1:
            name = f"{variable.name}_value" if variable.name == outcome.key_name else variable.name
            columns = pd.MultiIndex.from_product([outcome.keys, columns], names=[outcome.key_name, name])
        index = self.frame.index[self.frame.weights > 0]
        return pd.DataFrame(curves.transpose(1, 2, 0).reshape(len(index), -1), index=index, columns=columns)


def _grid(variables: tuple[Variable, ...], kind: str, grid: Any) -> tuple[np.ndarray, ...] | int:
    """The values of the grid, or how many bins or steps it has."""
    if grid is None:
        return _BINS if len(variables) == 1 else _PAIR_BINS if kind == "ale" else _PAIR_STEPS
    if isinstance(grid, str | Mapping):
        raise refuse("grid", grid, "an integer, or a list of values")
    if not np.iterable(grid):
        return at_least("grid", grid, 1 if len(variables) == 1 else 2)
    if kind == "ale" or len(variables) == 2 or variables[0].levels is not None:
        raise refuse("grid", grid, "an integer, except for 'pdp' and 'ice' of one column of numbers")
    return (np.unique(check_inside("grid", variables[0], list(grid))),)


def _by_levels(rows: AlteredRows, variable: Variable) -> list[Contrast]:
    return [] if variable.levels is None else _planned(rows, variable, 1, False)


def _planned(rows: AlteredRows, variable: Variable, step: Step, named: bool) -> list[Contrast]:
    """The comparisons of one column; ``named`` if the step was meant for it alone."""
    n = len(rows.weights)
    pair = isinstance(step, tuple | list)
    if np.ndim(step) > 0 and (not pair or len(step) != 2):  # type: ignore[arg-type]
        raise refuse("step", step, "a number, 'sd' or a pair (low, high)")
    if pair and not any(each is pd.NA for each in step) and step[0] == step[1]:  # type: ignore[index, union-attr]
        raise refuse("step", step, "a pair of two values")
    if variable.levels is not None:
        if pair:
            first, *others = (variable.position("step", level) for level in step)  # type: ignore[union-attr]
        elif named and step != 1:
            raise refuse("step", step, f"a pair of levels of {variable.name!r}, which goes by levels")
        else:
            first, others = 0, list(range(1, len(variable.levels)))
        return [
            Contrast(variable, f"{variable.called(k)} - {variable.called(first)}", 0, np.full(n, first), np.full(n, k))
            for k in others
        ]
    if pair:
        low, high = (float(check_inside("step", variable, [_real(value)])[0]) for value in step)  # type: ignore[union-attr]
        start, end = written([low, high])
        start = f"({start})" if low < 0.0 else start
        return [Contrast(variable, f"{end} - {start}", 0, np.full(n, low), np.full(n, high))]
    if isinstance(step, str) and step == SD:
        low, high = _around_mean(variable.values, rows.weights)
        return [Contrast(variable, SD, 0, np.full(n, low), np.full(n, high))]
    by = _real(step)
    ends, outside = within(variable, variable.values + by)
    beyond = int(np.count_nonzero(outside))
    if beyond == n and not named and step == 1:
        return _planned(rows, variable, SD, named)
    if by == 0.0 or beyond == n:
        reach = np.ptp(variable.values)
        raise refuse(
            "step",
            step,
            f"a number other than 0, of a size up to {reach:g}, the range of {variable.name!r}, or a pair, or 'sd'",
        )
    return [Contrast(variable, f"{by:+g}", beyond, variable.values, ends)]


def _real(value: Any) -> float:
    return number("step", value, math.isfinite, "a finite number, 'sd' or a pair (low, high)")


def _around_mean(values: Floats, weights: Floats) -> tuple[float, float]:
    """Half a standard deviation below and above the mean, moved so far that both ends are inside the data."""
    total = float(weights.sum())
    if total <= 1.0:
        raise refuse("step", SD, f"a number or a pair: with weights that add up to {total:.6g} there is no sd")
    mean, sd = mean_and_sd(values, weights, total)
    least, most = float(values.min()), float(values.max())
    sd = min(sd, most - least)
    low = min(max(mean - sd / 2.0, least), most - sd)
    return low, min(low + sd, most)


def _band(values: Floats, level: float, predict: Predictor, outcome: Outcome) -> Band | None:
    """Of values (1 + B, …) that of the replicates, if there are any."""
    return Band.of(values[1:], level, predict.other_maps, outcome.shape.by_nu) if len(values) > 1 else None


def _contrasts(
    outcome: Outcome, rows: AlteredRows, contrasts: list[Contrast], values: Floats, level: float, predict: Predictor
) -> Contrasts:
    """Of means (1 + B, v, Q)."""
    shown = outcome.shown(values)
    return Contrasts(
        outcome, tuple(each.variable.name for each in contrasts), tuple(each.label for each in contrasts),
        tuple(each.beyond for each in contrasts), rows.weights, shown[0],
        _band(shown, level, predict, outcome),
    )  # fmt: skip
