"""The search over the weights θ of the terms of an additive kernel."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import at_least, refuse
from svmstat._tools.texts import counted
from svmstat.errors import DataError
from svmstat.formula import Response
from svmstat.kernels import Additive
from svmstat.machine import vote
from svmstat.objective.measures import share
from svmstat.objective.units import Units
from svmstat.reporting.plots import profiles_plot, selection_plot
from svmstat.reporting.plots.style import Axes
from svmstat.reporting.rendering.parts import Block, Entry, Table
from svmstat.reporting.rendering.values import brief
from svmstat.reporting.summary import Summary
from svmstat.resampling.loops import Outlook, progress_bar, run_pieces
from svmstat.tuning.by_cost import CostPlan, of_nested, of_nesting, plan_by_cost
from svmstat.tuning.coordinates import descend
from svmstat.tuning.cosso import LEAST, Selected, equal_weights, folds_of, held_out_loss, select
from svmstat.tuning.criteria import Criterion
from svmstat.tuning.edges import notes_of_edges, warn_of_edges, warn_of_failed
from svmstat.tuning.grid import Grid
from svmstat.tuning.plan import (
    Asked,
    Found,
    LeftOut,
    Nested,
    Plan,
    TuneResult,
    held_at,
    note_of_groups,
    notes_of_copies,
    theta_of,
    warnings_of_copies,
)
from svmstat.tuning.sample import Effort, Folds, Sample
from svmstat.tuning.scores import TIED, Parts, Point, columns_of, failed, first_least, paired_se

SEARCHES = ("coordinate", "cosso")
"""What ``theta=`` of `tune` may be, besides values."""

SHARES = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
"""The values of M, as shares of the number of terms, which is Σθ of equal θ."""

_OFTEN = 20
"""Points for each number that is moved: 13 to 28 were seen with two to five terms."""

_SAME = 1e-9
_LED = (
    "The score led the search from point to point, and is too low for that, by more than the least of a grid: what "
    "corrects that of a grid does not correct it"
)
_NOT_TESTED = (
    "theta are those of the terms in a sum of kernels of one size, with the sum of their number. They were chosen by "
    "the score, which is too low for that, and so are fits of the chosen terms alone: no p-value of such a fit counts "
    "the choice."
)


@dataclass(frozen=True, slots=True)
class Trail:
    """What was tried with one kernel of the terms.

    Attributes
    ----------
    first : DataFrame (k, …) M, C and the number of terms of each point, or some of these
    theta : (k, T) the weights of the terms
    points : k of them
    chosen, least : which of these is taken, and which the scores of all are compared with
    params : (1 + T,) C and the θ that are taken, of mean one
    """

    first: pd.DataFrame
    theta: Floats
    points: list[Point]
    chosen: int
    least: int
    params: Floats

    @classmethod
    def without_score(cls, reason: str, T: int) -> "Trail":
        """A kernel with which no point could be scored."""
        return cls(pd.DataFrame(index=[0]), np.full((1, T), np.nan), [failed(reason)], 0, 0, np.full(1 + T, np.nan))


@dataclass(frozen=True, slots=True)
class ThetaPlan(Plan):
    """A search over θ and C, for one kernel of the terms after another."""

    first_found = "score"

    def refuse_grid(self, grid: Grid) -> None:
        """Refuse a joint kernel."""
        if not isinstance(grid.kernels[0], Additive):
            raise refuse("theta", self.name, "left out: the formula has no smooth term such as s(x)")

    @property
    @abstractmethod
    def name(self) -> str:
        """What ``theta`` of `tune` calls it."""

    @abstractmethod
    def search_with(self, sample: Sample, grid: Grid, effort: Effort) -> Trail:
        """Search θ and C for the one kernel of a grid; `DataError` if no point could be scored."""

    def search(self, sample: Sample, grid: Grid, effort: Effort) -> Found:
        """The search for one kernel after another; of what each has found, that of the least score."""
        names = cast("Additive", grid.kernels[0]).names
        every: list[Trail] = []
        errors: list[DataError] = []
        for k in range(len(grid.kernels)):
            try:
                every.append(self.search_with(sample, grid.only(k), effort))
            except DataError as error:
                every.append(Trail.without_score(str(error), len(names)))
                errors.append(error)
        scores = np.array([each.points[each.chosen].score for each in every])
        if np.isnan(scores).all():
            raise errors[0]
        which = first_least([(scores, TIED * abs(np.nanmin(scores)))])
        own = every[which]
        C, *theta = own.params.tolist()
        params = {"C": C, "theta": dict(zip(names, theta, strict=True)), **grid.arguments[which]}
        before = sum(len(each.points) for each in every[:which])
        table = _table(every, own.points[own.least], names, grid.parameters)
        return Found(table, before + own.chosen, which, params, C, theta=tuple(theta))

    @property
    def error_name(self) -> str:
        """What the error rate of a point is of."""
        return Criterion.error_name

    def _head(self, result: TuneResult) -> tuple[Block, Table]:
        """The best point with its θ."""
        row, params = result.best_row, result.best_params
        widths = {name: value for name, value in params.items() if name not in ("C", "theta", "kernel")}
        block = Block(
            left=(
                Entry("Best C", float(params["C"]), "setting"),
                *(Entry(f"Best {name}", value, "setting") for name, value in widths.items()),
                Entry("Terms", sum(value > 0 for value in params["theta"].values()), "count"),
                Entry("  of", len(params["theta"]), "count"),
            ),
            right=(
                Entry("Score", float(row["score"])),
                *(() if self.of_full_fit else (Entry("  standard error", float(row["score_se"])),)),
                Entry(self.error_name, float(row["error"]), "share"),
                Entry("Points", len(result.table), "count"),
            ),
        )
        theta = result.best_params["theta"]
        table = Table(("theta",), tuple(theta), tuple((value,) for value in theta.values()), ("setting",), "Terms")
        return block, table

    def finished(self, result: TuneResult, held: pd.DataFrame | None) -> TuneResult:  # noqa: ARG002
        """The result as it is, after a word on where the widths end and on points without a score."""
        warn_of_edges(result, _kernel_columns(result))
        warn_of_failed(result)
        return result


@dataclass(frozen=True, slots=True)
class CoordinatePlan(ThetaPlan):
    """θ and C moved one after the other, by the criterion of a `CostPlan`.

    Attributes
    ----------
    cost : the search over C and the kernels with equal θ, from whose best point it sets off
    """

    cost: CostPlan

    @property
    def name(self) -> str:
        return "coordinate"

    @property
    def folds(self) -> int | None:
        return self.cost.folds

    @property
    def score_name(self) -> str:
        return self.cost.score_name

    @property
    def is_of_probabilities(self) -> bool:
        return self.cost.is_of_probabilities

    def refuse_levels(self, response: Response) -> None:
        self.cost.refuse_levels(response)

    def refuse_units(self, units: Units) -> None:
        self.cost.refuse_units(units)

    def refuse_folds(self, folds: Folds) -> None:
        self.cost.refuse_folds(folds)

    def search_with(self, sample: Sample, grid: Grid, effort: Effort) -> Trail:
        equal, kernel = self.cost.search(sample, grid, effort), cast("Additive", grid.kernels[0])
        stored, T = sample.storing(kernel), len(kernel.names)
        tried: list[tuple[Floats, Point]] = []

        def scores(at: Sequence[Floats]) -> list[float]:
            pieces = [(self.cost.criterion, stored, kernel, each) for each in at]
            whole = None if tried else Outlook([(partial(_scored, *pieces[0]), float(_OFTEN * (1 + T)))])
            points = run_pieces(_scored, pieces, n_jobs=effort.n_jobs, progress=False, what="tune", outlook=whole)
            tried.extend(zip(at, points, strict=True))
            bar.update(len(points))
            return [point.score for point in points]

        with progress_bar(effort.progress, desc="tune, theta", unit=" points") as bar:
            end = descend(scores, np.concatenate([[equal.C], np.ones(T)]))
        values = np.array([_of_one_size(each) for each, _ in tried])
        chosen = next(k for k, (at, _) in enumerate(tried) if np.array_equal(at, end))
        first = pd.DataFrame({"C": values[:, 0]})
        return Trail(first, values[:, 1:], [point for _, point in tried], chosen, chosen, values[chosen])

    def judged(self, sample: Sample, left: LeftOut) -> Nested:
        return self.cost.judged(sample, left)

    @property
    def of_full_fit(self) -> bool:
        return self.cost.of_full_fit

    @property
    def error_name(self) -> str:
        """As the criterion has it."""
        return self.cost.criterion.error_name

    def figure(self, result: TuneResult, ax: Axes | None) -> Axes:
        """The score over each θ and C, the others held at their best values."""
        table = _with_its_kernel(result)
        names = [_column_of(name, table.columns) for name in result.best_params["theta"]]
        products = np.log2(table[names].to_numpy(float) * table[["C"]].to_numpy(float))  # on which alone f depends
        moved, scores = products - products[table.index == result.chosen], table["score"].to_numpy(float)
        lines = {"C": _along(moved, moved[:, :1], scores)}
        for t, name in enumerate(names):
            lines[name] = _along(np.delete(moved, t, axis=1), 0.0, scores, moved[:, t])
        return profiles_plot(lines, what=_score_of(result), ax=ax)

    def summary(self, result: TuneResult) -> Summary:
        block, table = self._head(result)
        notes = (
            f"The score is the {result.score_name}; C and each theta were moved in turn, by factors of 1/16 to 16 and "
            "at last of sqrt(2), from the best C with equal theta and by 2^12 at most, until no move made it less by "
            f"more than 0.01 %{_each_kernel(result)}.",
            f"{_LED}{'.' if self.of_full_fit else of_nesting(result)}",
            _NOT_TESTED,
            *notes_of_edges(result, _kernel_columns(result)),
            *note_of_groups(result.best),
            *notes_of_copies(result),
        )
        blocks: tuple[Block | Table, ...] = (block, *of_nested(result), table)
        warnings = (*_lost(result), *warnings_of_copies(result))
        return Summary("Search over the weights of terms", blocks, notes, warnings)


def _along(moved: Floats, to: Floats | float, scores: Floats, along: Floats | None = None) -> tuple[Floats, Floats]:
    """Where the points are whose ``moved`` (k, …) are ``to``, ``along`` (k,) or by that much, and their scores."""
    same = (np.abs(moved - to) < _SAME).all(axis=1)
    return (moved[:, 0] if along is None else along)[same], scores[same]


def _scored(criterion: Criterion, sample: Sample, kernel: Additive, at: Floats) -> Point:
    """The point of a cost and θ."""
    return criterion.points(sample, [kernel.with_theta(at[1:])], [float(at[0])], {}, Effort(1))[0][0]


def _of_one_size(at: Floats) -> Floats:
    """C and θ (1 + T,) of the same machine with Σθ = T."""
    factor = float(np.mean(at[1:]))
    return np.concatenate([[at[0] * factor], at[1:] / factor])


def _table(
    every: Sequence[Trail], least: Point, names: Sequence[str], parameters: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """One row for each point: C, what tells the kernels from each other, θ, and the scores beside the least."""
    points = [point for each in every for point in each.points]
    scored = columns_of(points, [paired_se(point, least) for point in points], least.score)
    first = pd.concat([each.first for each in every], ignore_index=True)
    kernels = pd.DataFrame([own for own, each in zip(parameters, every, strict=True) for _ in each.points])
    taken = {"M", "C", "terms", *kernels, *scored}
    theta = pd.DataFrame(
        np.concatenate([each.theta for each in every]),
        columns=[theta_of(name) if name in taken else name for name in names],
    )
    counts = first[["terms"]] if "terms" in first else first[[]]
    return pd.concat([first.drop(columns=counts), kernels, theta, counts, pd.DataFrame(scored)], axis=1)


def _kernel_columns(result: TuneResult) -> list[str]:
    """Which columns of the table tell the kernels from each other."""
    others = {"M", "C", "terms", *(_column_of(name, result.table.columns) for name in result.best_params["theta"])}
    return [name for name in result.searched if name not in others]


def _with_its_kernel(result: TuneResult) -> pd.DataFrame:
    """The rows of the table with the best kernel."""
    return held_at(result.table, {name: result.best_row[name] for name in _kernel_columns(result)})


def _score_of(result: TuneResult) -> str:
    """What a figure calls the score of the points with the best kernel."""
    held = ", ".join(f"{name} = {brief(result.best_row[name])}" for name in _kernel_columns(result))
    return f"{result.score_name} ({held})" if held else result.score_name


def _each_kernel(result: TuneResult) -> str:
    """What a summary says of the search where there are several kernels."""
    names = ", ".join(_kernel_columns(result))
    return f"; so for each {names} of the grid, and that of the least score was kept" if names else ""


def _column_of(name: str, columns: pd.Index) -> str:
    """Where the θ of a term is."""
    return theta_of(name) if theta_of(name) in columns else name


def _lost(result: TuneResult) -> tuple[str, ...]:
    points = counted(result.n_failed, "point")
    lost = f"{points} could not be scored: see the column reason of .table."
    return (lost,) if result.n_failed else ()


@dataclass(frozen=True, slots=True)
class CossoPlan(ThetaPlan):
    """Terms selected by COSSO, M by the mean loss of held-out folds.

    Attributes
    ----------
    n_folds : how many
    """

    n_folds: int

    @property
    def name(self) -> str:
        return "cosso"

    @property
    def folds(self) -> int | None:
        return self.n_folds

    @property
    def score_name(self) -> str:
        return "k-fold loss"

    def refuse_levels(self, response: Response) -> None:
        """Any number of levels will do: the loss is the mean over the pairs of a row's level."""

    def search_with(self, sample: Sample, grid: Grid, effort: Effort) -> Trail:
        kernel = cast("Additive", grid.kernels[0])
        stored, T = sample.storing(kernel), len(kernel.names)
        C, bounds = self._equal(stored, kernel, grid.costs, effort), [T * each for each in SHARES]
        outs = [*folds_of(stored), None]
        trial, often = partial(select, stored, kernel, C, bounds[:1], None), float(len(bounds) * len(outs))
        parts = run_pieces(
            select, [(stored, kernel, C, bounds, out) for out in outs], n_jobs=effort.n_jobs, progress=effort.progress,
            what="tune", outlook=Outlook([(trial, often)]),
        )  # fmt: skip
        points = [_point(stored, [part[j] for part in parts[:-1]], parts[-1][j]) for j in range(len(bounds))]
        scores = np.array([point.score for point in points])
        if np.isnan(scores).all():
            raise DataError(f"no M could be scored; the first: {points[0].reason}.")
        best = int(np.nanargmin(scores))
        chosen = int(np.flatnonzero(scores <= scores[best] + points[best].score_se)[0])  # one se: the smallest M
        theta = np.array([each.theta for each in parts[-1]])
        first = pd.DataFrame({"M": bounds, "C": C, "terms": (theta > 0).sum(axis=1)})
        return Trail(first, theta, points, chosen, best, _of_one_size(np.concatenate([[C], theta[chosen]])))

    def _equal(self, stored: Sample, kernel: Additive, costs: Sequence[float], effort: Effort) -> float:
        """The C of the least held-out loss with equal θ."""
        outs = folds_of(stored)
        pieces = [(stored, kernel, C, out) for C in costs for out in outs]
        parts = run_pieces(
            equal_weights, pieces, n_jobs=effort.n_jobs, progress=effort.progress, what="tune",
            outlook=Outlook([(partial(equal_weights, *pieces[len(pieces) // 2]), float(len(pieces)))]),
        )  # fmt: skip
        scores = np.array([
            _point(stored, parts[j * len(outs) : (j + 1) * len(outs)], None).score for j in range(len(costs))
        ])  # fmt: skip
        if np.isnan(scores).all():
            raise DataError("no cost could be scored with equal theta: a fold leaves a class without any row.")
        return costs[first_least([(scores, TIED * abs(np.nanmin(scores)))])]

    def judged(self, sample: Sample, left: LeftOut) -> Nested:
        used = sample.weights > 0
        codes, weights = sample.codes[used], sample.weights[used]
        losses = held_out_loss(sample.contrasts, codes, left.decision_values[used])
        units = None if sample.units is None else sample.units.among(used)
        parts = Parts(losses, weights, np.ones(len(codes)), 1.0, units)
        error = share(left.winner[used] != codes, weights)
        return Nested(parts.score, float(np.linalg.norm(parts.deviations)), {"error": error}, left.choices, left.fold)

    def figure(self, result: TuneResult, ax: Axes | None) -> Axes:
        """θ of each term over M, the chosen M marked."""
        table = _with_its_kernel(result)
        thetas = {name: table[_column_of(name, table.columns)].to_numpy(float) for name in result.best_params["theta"]}
        chosen = int(np.flatnonzero(table.index == result.chosen)[0])
        return selection_plot(
            table["M"].to_numpy(float), thetas, table["score"].to_numpy(float), chosen, what=_score_of(result), ax=ax
        )

    def summary(self, result: TuneResult) -> Summary:
        block, table = self._head(result)
        chosen = ", ".join(["C", *_kernel_columns(result)])
        notes = (
            "The score is the mean loss of rows in folds that were left out. C is that of the least score with equal "
            "theta; then theta under sum(theta) <= M by COSSO (Zhang 2006), M the smallest whose score is within one "
            f"standard error of the least{_each_kernel(result)}. Terms with less than {100 * LEAST:g} % of the sum are "
            "left out, and C is at last that of theta with their number as its sum.",
            f"The score chose {chosen} and M, and is too low for that{of_nesting(result)}",
            _NOT_TESTED,
            *notes_of_edges(result, _kernel_columns(result)),
            *note_of_groups(result.best),
        )
        return Summary(
            "Selection of terms", (block, *of_nested(result), table), notes, (*_at_an_end(result), *_lost(result))
        )


def _at_an_end(result: TuneResult) -> tuple[str, ...]:
    """What is said where the C with which θ were selected is the first or the last of several."""
    C = result.best_row["C"]
    costs = result.costs or (C,)
    if min(costs) == max(costs) or min(costs) < C < max(costs):
        return ()
    end = "smallest" if min(costs) == C else "largest"
    return (f"the best C with equal theta, {C:.6g}, is the {end} of its grid: a wider one may hold a better.",)


def _point(sample: Sample, parts: Sequence[Selected], whole: Selected | None) -> Point:
    """How fits without each fold predict its rows; ``whole`` is that to all rows, if there is one."""
    reasons = [f"fold {which + 1}: {part.reason}" for which, part in enumerate(parts) if part.reason]
    if whole is not None and whole.reason:
        reasons.append(f"all rows: {whole.reason}")
    n_support = float(np.mean([part.n_support for part in parts]))
    if reasons:
        return failed("; ".join(reasons), n_support)
    f = np.empty((len(sample.group_codes), len(sample.contrasts)))
    for out, part in zip(folds_of(sample), parts, strict=True):
        f[out] = part.decision_values[out]
    codes, weights = sample.group_codes, sample.folded.groups.weights
    scored = Parts(held_out_loss(sample.contrasts, codes, f), weights, np.ones(len(codes)), 1.0, sample.group_units)
    winner = vote(f, np.array([(pair.first, pair.second) for pair in sample.contrasts]))
    error = share(winner != codes, weights)
    return Point(scored.score, float(np.linalg.norm(scored.deviations)), error, n_support, parts=scored)


def plan_by_theta(name: str, criterion: object, asked: Asked) -> ThetaPlan:
    """Check what is asked of a search over θ, one of `SEARCHES`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For what the search does not use.
    """
    cost = plan_by_cost(criterion, asked)
    if cost.further:
        raise refuse("further", asked.further, f"left out with theta={name!r}")
    if name == "coordinate":
        return CoordinatePlan(cost)
    if cost.name not in ("loo", "kfold"):
        raise refuse("criterion", criterion, "left out with theta='cosso', whose score is the loss of held-out folds")
    if asked.score not in ("deviance", "loss"):
        raise refuse("score", asked.score, "left out with theta='cosso', whose score is the loss of held-out folds")
    return CossoPlan(at_least("folds", asked.folds, 2))
