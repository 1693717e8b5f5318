"""Effects of predictors on the predictions of a fit, on the axes of the data."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import refuse
from svmstat._tools.texts import written
from svmstat.diagnostics.band import NO_BAND, Band
from svmstat.diagnostics.contrasts import Contrasts
from svmstat.diagnostics.effect_plans import near
from svmstat.diagnostics.outcome import Outcome, rows_averaged
from svmstat.formula import Variable
from svmstat.reporting.plots import effects as figures
from svmstat.reporting.plots.style import MOST_PANELS, told_apart
from svmstat.reporting.rendering.lines import cut, line, listed
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table
from svmstat.reporting.rendering.values import briefs, or_none
from svmstat.reporting.summary import Printed, Summary

_MOST_SHOWN, _LONG = 12, 28
_CALLED = {
    "ale": "accumulated local effect",
    "pdp": "partial dependence",
    "ice": "curves of rows (ICE)",
    "average": "average prediction",
}
_MEANINGS = {
    "ale": "Accumulated local effect: the mean change of the prediction from the lower to the upper edge of the bin "
    "that a row is in, all else as it is, added up from bin to bin and moved to a mean of zero (Apley & Zhu 2020).",
    "ale, pair": "Second-order accumulated local effect: what the two columns do together beyond what each does alone, "
    "which is not shown (Apley & Zhu 2020).",
    "pdp": "Partial dependence: the mean prediction with the column at this value in every row, all else as it is "
    "(Friedman 2001). Where predictors depend on each other that averages over rows that cannot be.",
    "pdp, pair": "Partial dependence: the mean prediction with both columns at these values in every row, all else as "
    "it is (Friedman 2001). Where predictors depend on each other that averages over rows that cannot be.",
    "average": "Average prediction: the mean with the column at this level in every row, all else as it is.",
    "average, pair": "Average prediction: the mean with both columns at these values in every row, all else as it is.",
    "ice": "Individual conditional expectations: the prediction of each row with the column at other values, all else "
    "as it is (Goldstein et al. 2015); estimate is their mean, the partial dependence.",
}
_ELSEWHERE = "Intervals are in the printouts of single effects. There"
_DRAWN = "The bands of the figure:"

_OF_THE_FIT = "An effect is one on what the fit predicts, not on the response: it is no causal effect."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Effect(Printed):
    """The effect of one column, or two, on the predictions.

    Attributes
    ----------
    variables : tuple of Variable, length 1 or 2
    kind : str
        "ale", "pdp", "ice", or in the place of the first two "average" where a column goes by levels.
    outcome : Outcome
        What is predicted, with q entries.
    grid : tuple of ndarray
        The values of each column: numbers, or positions of its levels.
    estimate : ndarray (v, q) or (v, w, q)
        On the grid.
    band : Band or None
        Over replicates, of the shape of the estimate.
    near : ndarray of bool (v,) or (v, w)
        Whether there are data near.
    weights : ndarray (n,)
        Of the rows.
    differences : Contrasts or None
        Of one column that goes by levels: each level minus the first.
    curves : DataFrame (n, v q) or None
        Of "ice" the predictions of each row, on its index: a column for each value, or for each level and value.
    """

    variables: tuple[Variable, ...]
    kind: str
    outcome: Outcome
    grid: tuple[np.ndarray, ...]
    estimate: Floats
    band: Band | None
    near: NDArray[np.bool_]
    weights: Floats
    differences: Contrasts | None = None
    curves: pd.DataFrame | None = None

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The columns."""
        return tuple(variable.name for variable in self.variables)

    @property
    def name(self) -> str:
        """The columns in one word."""
        return ":".join(map(str, self.names))

    def summary_frame(self) -> pd.DataFrame:
        """A row for each value: the columns by their names, ``estimate``, ``lower`` and ``upper``.

        Of more than two levels a row for each of them, with the ``level``, or of decision values the ``pair``.
        ``lower`` and ``upper`` are NaN without replicates, and all is of two columns where there are no data near. A
        column that has one of these names is called ``…_value``.
        """
        q = self.estimate.shape[-1]
        taken = {"estimate", "lower", "upper", self.outcome.key_name}
        axes = np.meshgrid(*map(np.arange, map(len, self.grid)), indexing="ij")
        columns: dict[Any, Any] = {}
        for variable, values, place in zip(self.variables, self.grid, axes, strict=True):
            name = variable.name
            while name in taken or name in columns:
                name = f"{name}_value"
            columns[name] = np.repeat(labelled(variable, values)[place.ravel()], q)
        if q > 1:
            columns[self.outcome.key_name] = np.tile(self.outcome.keys, self.near.size)
        nothing = np.full(self.estimate.shape, np.nan)
        band = (nothing, nothing) if self.band is None else (self.band.lower, self.band.upper)
        for name, each in zip(("estimate", "lower", "upper"), (self.estimate, *band), strict=True):
            columns[name] = np.where(self.near[..., None], each, np.nan).ravel()
        return pd.DataFrame(columns)

    @property
    def spread(self) -> Floats:
        """(q,) the greatest minus the least estimate where there are data near."""
        shown = self.estimate[self.near]
        return np.asarray(shown.max(axis=0) - shown.min(axis=0))

    @property
    def what(self) -> str:
        """What stands on the axis of its figure."""
        if self.kind == "ale" and len(self.variables) == 2:
            return f"second-order ALE of {self.outcome.name}"
        change = {"ale": "ALE, change of ", "average": "average ", "pdp": "mean "}.get(self.kind, "")
        return f"{change}{self.outcome.name}"

    @property
    def _axis(self) -> str:
        """The same, in two lines if it is long."""
        long = len(self.what) > _LONG
        return self.what.replace(f" {self.outcome.name}", f"\n{self.outcome.name}") if long else self.what

    def plot(self, ax: Any = None) -> Any:
        """Lines with their bands over a number, dots over levels, a map of two numbers, blank where there are no data.

        Returns the Axes; an array of them, one for each level, where there are more than two of a map or "ice".
        """
        draw = {1: self._plot_one, 2: self._plot_two}[len(self.variables)]
        return draw(ax)

    def _plot_one(self, ax: Any) -> Any:
        (variable,), (values,) = self.variables, self.grid
        look = figures.Labels(str(variable.name), self._axis, self.outcome.names, self._title)
        if self.curves is not None:
            curves = self.curves.to_numpy().reshape(len(self.curves), -1, len(values))
            return figures.curves_plot(labelled(variable, values), curves, self.estimate, look, ax=ax)
        return self.draw(ax, look)

    def draw(self, ax: Any, look: figures.Labels | None = None, heading: str = "") -> Any:
        """The figure of one column; under a heading for a panel of a page, without what stands on the page once."""
        (variable,), (values,) = self.variables, self.grid
        panel = look is None
        look = look or figures.Labels(heading, "", self.outcome.names, "")
        band = None if self.band is None else (self.band.lower, self.band.upper)
        if variable.levels is None:
            rug = np.unique(variable.values)
            return figures.lines_plot(values, self.estimate, band, look, rug=rug, panel=panel, ax=ax)
        return figures.dots_plot(labelled(variable, values), self.estimate, band, look, panel=panel, ax=ax)

    def _plot_two(self, ax: Any) -> Any:
        names, q = self.outcome.names, self.estimate.shape[-1]
        first, second = self.variables
        turned = first.levels is not None and second.levels is None
        x, y = (second, first) if turned else (first, second)
        if self._is_map:
            data = np.column_stack([first.values, second.values])
            look = figures.Labels(str(first.name), str(second.name), names, self._title)
            return figures.map_plot(
                self.grid, self.estimate, data, look, what=self._axis, diverging=self.kind == "ale",
                inside=lambda points: near(self.variables, points), ax=ax,
            )  # fmt: skip
        (at, codes), estimate, known = self.grid, self.estimate, self.near
        if turned:
            at, codes, estimate, known = codes, at, np.swapaxes(estimate, 0, 1), known.T

        def inside(values: Floats) -> NDArray[np.bool_]:
            places = np.column_stack([np.repeat(values, len(codes)), np.tile(codes, len(values))])
            return near(self.variables, places[:, ::-1] if turned else places).reshape(len(values), -1)

        groups = tuple(f"{y.name} = {level}" for level in y.levels or ())
        look = figures.Labels(str(x.name), self._axis, groups, self._title)
        outcomes, shown = names if q > 1 else (), np.where(known[..., None], estimate, np.nan)
        if x.levels is not None:
            return figures.grouped_plot(labelled(x, at), shown, look, outcomes, by_levels=True, ax=ax)
        return figures.grouped_plot(at, estimate, look, outcomes, by_levels=False, inside=inside, ax=ax)

    @property
    def _is_map(self) -> bool:
        return len(self.variables) == 2 and all(variable.numeric for variable in self.variables)

    @property
    def _title(self) -> str:
        if self.kind == "ice":
            return "thick: their mean, the partial dependence"
        if len(self.variables) == 2:
            beyond = ", beyond what either does alone" if self.kind == "ale" else ""
            return f"{_CALLED[self.kind]}{beyond};\n{'blank' if self._is_map else 'nothing'} where no data are near"
        return "" if self.band is None else f"{'band' if self.variables[0].numeric else 'lines'}: {self.band.title}"

    def summary(self) -> Summary:
        """The effect at some of its values, how it was made, and what its band is not."""
        warnings = () if self.band is None else self.band.told_of(self._shown)
        parts: tuple[Part, ...] = (self._block(), *self._tables())
        if self.differences is not None and len(self.differences.labels):
            parts += self.differences.tables("Differences")
        return Summary(f"Effect of {self.name} on {self.outcome.name}", parts, self._notes(), warnings)

    def _block(self) -> Block:
        by = ", ".join(f"{len(values)}" for values in self.grid)
        left = [
            Entry("Kind", _CALLED[self.kind]),
            Entry("Values", by if len(self.grid) == 1 else by.replace(", ", " x ")),
            *rows_averaged(self.weights),
        ]
        if not self.near.all():
            left.append(Entry("Values without data near", int((~self.near).sum()), "count"))
        return Block(left=tuple(left), right=() if self.band is None else self.band.beside(self._shown))

    @property
    def _shown(self) -> Floats:
        """The estimates, NaN where no data are near."""
        return np.where(self.near[..., None], self.estimate, np.nan)

    def _tables(self) -> Iterator[Table]:
        frame, key = self.summary_frame(), self.outcome.key_name
        named = ["estimate", "lower", "upper"] if self.band is not None else ["estimate"]
        known = np.flatnonzero(self.near)
        shown = known[np.unique(np.linspace(0, len(known) - 1, min(_MOST_SHOWN, len(known))).round().astype(int))]
        some = "" if len(shown) == len(known) else f" (at {len(shown)} of {len(known)} values)"
        axes = [name for name in frame.columns if name not in ("estimate", "lower", "upper", key)]
        q = len(self.outcome.keys)
        at = frame[axes].iloc[::q].iloc[shown]
        if q == 1:
            yield _table(at, self.variables, frame[named].iloc[shown], f"{self.what}{some}")
            return
        by_level = frame["estimate"].to_numpy().reshape(-1, q)[shown]
        columns = list(map(str, self.outcome.keys))
        yield _table(at, self.variables, pd.DataFrame(by_level, columns=columns), f"{self.what}, estimates{some}")

    def _notes(self) -> tuple[str, ...]:
        kind = f"{self.kind}, pair" if len(self.variables) == 2 else self.kind
        band = NO_BAND if self.band is None else self.band.note(self.outcome.on)
        return (*self.outcome.notes, _MEANINGS[kind], _OF_THE_FIT, *filter(None, [band]))

    def __repr__(self) -> str:
        bands = "no replicates" if self.band is None else f"{self.band.B} replicates"
        what = f"{cut(self.name, 30)} on {cut(self.outcome.name, 30)}"
        return line(f"<Effect: {what}, ", _CALLED[self.kind], f", {self.near.size} values, {bands}>")


def _of_the_spread(flat: bool, drawn: bool) -> tuple[str, ...]:
    """What the ranges in a table are not, and where more is."""
    if drawn:
        return () if flat else ("Greatest minus least is above zero for noise too.",)
    if flat:
        return ("Each effect has a printout of its own, result[name].",)
    return ("Greatest minus least is above zero for noise too; each effect has a printout of its own, result[name].",)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Effects(Printed):
    """The effects of all predictors, from the same replicates.

    Attributes
    ----------
    effects : tuple of Effect
    constant : tuple
        Columns that have one value only, and so no effect.
    """

    effects: tuple[Effect, ...]
    constant: tuple[Hashable, ...] = ()

    def __getitem__(self, name: Hashable) -> Effect:
        """The effect of a column.

        Raises
        ------
        ArgumentError
            If there is none.
        """
        for effect in self.effects:
            if effect.names == (name,):
                return effect
        raise refuse("name", name, f"one of {', '.join(repr(each.names[0]) for each in self.effects)}")

    def __iter__(self) -> Iterator[Effect]:
        return iter(self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    def summary_frame(self) -> pd.DataFrame:
        """The frames of all, one below the other: ``term`` and ``value`` in the place of the column."""
        frames = []
        for effect in self.effects:
            frame = effect.summary_frame()
            frame = frame.rename(columns={frame.columns[0]: "value"}).astype({"value": object})
            frame.insert(0, "term", pd.Series([effect.names[0]] * len(frame), dtype=object))
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def plot(self, ax: Any = None) -> Any:
        """A page with a panel for each predictor, with one scale for each kind. Returns an array of Axes.

        Of more than 50 it shows those whose effects have the largest range, and says so.
        """
        first, shown = self.effects[0], self._widest
        some = "" if len(shown) == len(self) else f"the {len(shown)} of {len(self)} predictors with the largest ranges"
        title = "" if first.band is None else f"bands and lines: {first.band.title}"
        title = ";\n".join(filter(None, (some, title)))
        kinds = [effect.kind for effect in shown]
        one = len(set(kinds)) == 1
        if kinds[0] == "ice":
            raise refuse(
                "kind", "ice", "'ale' or 'pdp' for a page: effects(kind='ice')[name].plot() shows the curves of one"
            )
        look = figures.Labels("", first.what if one else f"effect on {first.outcome.name}", first.outcome.names, title)
        headings = told_apart([each.name if one else f"{each.name}: {_called(each)}" for each in shown])
        draw = [partial(each.draw, heading=name) for each, name in zip(shown, headings, strict=True)]
        return figures.page_plot(draw, kinds, look, ax=ax)

    @property
    def _widest(self) -> list[Effect]:
        """Those with the largest ranges, as many as a page shows, in their order."""
        ranges = np.array([each.spread.max() for each in self.effects])
        return [self.effects[k] for k in np.sort(np.argsort(-ranges, kind="stable")[:MOST_PANELS])]

    def summary(self) -> Summary:
        """How much the prediction changes over each predictor, and what the numbers are not."""
        return self._summary(drawn=False)

    def beside_figure(self) -> Summary:
        """The same on a page that has their figure, and no printouts of single effects."""
        return self._summary(drawn=True)

    def _summary(self, drawn: bool) -> Summary:
        first = self.effects[0]
        names = ("range",) if len(first.outcome.keys) == 1 else tuple(map(str, first.outcome.keys))
        cells = tuple(
            (_called(each), _where(each.variables[0]), *map(float, each.spread)) for each in self.effects
        )  # fmt: skip
        table = Table(
            ("effect", "over", *names), tuple(each.name for each in self.effects), cells,
            ("share",) * (2 + len(names)), f"Greatest minus least effect on {first.outcome.name}",
        )  # fmt: skip
        kinds = dict.fromkeys(each.kind for each in self.effects)
        constant = ", ".join(map(str, self.constant))
        band = "" if first.band is None else first.band.note(first.outcome.on)
        notes = (
            *(_MEANINGS[kind] for kind in kinds),
            *first.outcome.notes,
            *_of_the_spread(first.outcome.flat, drawn),
            _OF_THE_FIT,
            *((f"Without an effect, having one value only: {constant}.",) if constant else ()),
            *((NO_BAND,) if first.band is None else ()),
            *((f"{_DRAWN if drawn else _ELSEWHERE} {band}",) if band else ()),
        )
        right = first.band.entries if drawn and first.band is not None and first.band.is_known else ()
        block = Block(wide=rows_averaged(first.weights), right=right)
        warnings = () if first.band is None else first.band.warnings  # those of each effect are in its own printout
        return Summary(f"Effects on {first.outcome.name}", (block, table), notes, warnings)

    def __repr__(self) -> str:
        names = [each.name for each in self.effects]
        return listed("<Effects: of ", names, f" on {cut(self.effects[0].outcome.name, 40)}>")


def labelled(variable: Variable, values: np.ndarray) -> np.ndarray:
    """Values of a grid: numbers, or the levels at their positions."""
    if variable.levels is None:
        return values
    found = np.empty(len(variable.levels), object)
    found[:] = variable.levels
    return np.asarray(found[values])


def _called(effect: Effect) -> str:
    return {"ale": "ALE", "pdp": "PDP"}.get(effect.kind, effect.kind)


def _where(variable: Variable) -> str:
    if variable.levels is not None:
        return f"{len(variable.levels)} levels"
    return " to ".join(briefs([float(variable.values.min()), float(variable.values.max())]))


def _table(at: pd.DataFrame, variables: Sequence[Variable], values: pd.DataFrame, title: str) -> Table:
    """Rows of numbers, each at the values of one variable or more."""
    ways = (briefs if variable.levels is None else written for variable in variables)
    texts = {name: way(at[name].tolist()) for name, way in zip(at, ways, strict=True)}
    index = tuple(", ".join(f"{name} = {each[k]}" for name, each in texts.items()) for k in range(len(at)))
    cells = tuple(tuple(map(or_none, row)) for row in values.to_numpy(float))
    return Table(tuple(values.columns), index, cells, ("share",) * values.shape[1], title)
