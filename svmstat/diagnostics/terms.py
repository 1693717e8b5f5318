"""The functions of an additive fit, term by term, at the points where they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.near import too_far
from svmstat.formula.design import Design
from svmstat.formula.smooth import TermColumns
from svmstat.machine import Machine, term_at, term_values
from svmstat.resampling.replicates import PairsReplicates, least_replicates, percentiles

CURVE, MAP = 101, 41
"""Points of a curve, and along each side of a map."""


@dataclass(frozen=True, slots=True)
class TermEffect:
    """h_t where it is drawn.

    Attributes
    ----------
    name : str
        The term.
    kind : str
        "curve" over a column, with a line for each level or value of ``by``; "points", one for each level of a factor;
        "map" over two columns; "rows", where it is a function of more: its values in the rows, in their order.
    labels : tuple of str
        What the axes are.
    lines : tuple of L str
        What the lines are, or the levels of the points; one empty name if there is one line.
    x : ndarray (L, m), or (2, m) for a map
        Where: on the scale of the data.
    estimate, lower, upper : ndarray (P, L, m), or (P, 1, m) for a map
        h_t, and the percentiles of the replicates; NaN without these, and on a map farther than a tenth of the ranges
        from every row.
    rug : ndarray (n,), or (2, n) for a map
        Where the rows of positive weight are.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    lines: tuple[str, ...]
    x: Floats
    estimate: Floats
    lower: Floats
    upper: Floats
    rug: Floats


@dataclass(frozen=True, slots=True)
class _Probe:
    """Rows (L · m, p) at which a term is evaluated, with what a `TermEffect` says of them."""

    kind: str
    rows: Floats
    x: Floats
    labels: tuple[str, ...]
    lines: tuple[str, ...] = ("",)
    rug: Floats = field(default_factory=lambda: np.empty(0))
    blank: NDArray[np.bool_] | bool = False


def term_effects(
    machine: Machine, design: Design, names: Sequence[str], replicates: PairsReplicates | None, level: float
) -> list[TermEffect]:
    """The functions of some terms, with the percentiles of replicates.

    Parameters
    ----------
    machine : an additive machine
    design : its columns
    names : which terms
    replicates : of the machine; without them there are no bands
    level : the share of the replicates between the percentiles
    """
    known = {term.name: term for term in design.terms}
    order = list(machine.kernel.names)  # type: ignore[attr-defined]
    found = []
    for name in names:
        probe, t = _probe(known[name], design, machine), order.index(name)
        estimate = term_values(machine, probe.rows)[:, :, t].T
        lower, upper = _percentiles(machine, t, probe.rows, replicates, level)
        shape = (len(estimate), *((1, -1) if probe.kind == "map" else probe.x.shape))
        each = (np.where(probe.blank, np.nan, values).reshape(shape) for values in (estimate, lower, upper))
        estimate, lower, upper = each
        if probe.kind == "rows":
            by_size = np.argsort(estimate, axis=2, kind="stable")
            estimate, lower, upper = (np.take_along_axis(v, by_size, axis=2) for v in (estimate, lower, upper))
        found.append(
            TermEffect(name, probe.kind, probe.labels, probe.lines, probe.x, estimate, lower, upper, probe.rug)
        )
    return found


def _percentiles(
    machine: Machine, t: int, X: Floats, replicates: PairsReplicates | None, level: float
) -> tuple[Floats, Floats]:
    """Lower and upper percentiles (P, m) of h_t over the replicates; NaN where there are too few."""
    bounds = np.full((2, len(machine.pairs), len(X)), np.nan)
    if replicates is None:
        return bounds[0], bounds[1]
    good = ~replicates.failed
    if good.sum() >= least_replicates(level):
        for p in range(len(machine.pairs)):
            h = term_at(machine, t, X, p, replicates.rows[p], replicates.coefficients[p][good])
            bounds[:, p] = percentiles(h.T, level)
    return bounds[0], bounds[1]


def _probe(term: TermColumns, design: Design, machine: Machine) -> _Probe:
    """Where a term is drawn: over its column, its levels, its two columns, or in the rows."""
    used = machine.X[machine.weights > 0]
    widths = [len(part) for part in term.parts]
    if term.kind == "linear" and term.is_factor:
        return _levels(term, design, used)
    if widths == [1] and not term.by:
        return _curve(term, design, used)
    if widths == [1]:
        return _curves(term, design, used, machine.weights[machine.weights > 0])
    if widths == [1, 1] and not term.by:
        return _map(term, design, used)
    rows = np.arange(1.0, len(used) + 1.0)[None]
    return _Probe("rows", used, rows, ("rows, in the order of the function",))


def _on_scale_of_data(design: Design, k: int, values: Floats) -> Floats:
    return np.asarray(design.center[k] + design.scale_[k] * values)


def _levels(term: TermColumns, design: Design, used: Floats) -> _Probe:
    """A row for each level of a factor; a level whose indicator is constant is the only one."""
    columns = list(term.columns)
    rows = np.repeat(used[:1], len(columns), axis=0)
    rows[:, columns] = (np.eye(len(columns)) - design.center[columns]) / design.scale_[columns]
    names = tuple(design.column_names[k].removeprefix(f"{term.name}[").removesuffix("]") for k in columns)
    counts = (design.center[columns] + design.scale_[columns] * used[:, columns] > 0.5).sum(axis=0)
    return _Probe("points", rows, np.arange(float(len(columns)))[:, None], (term.name,), names, counts.astype(float))


def _curve(term: TermColumns, design: Design, used: Floats) -> _Probe:
    """A grid over the range of one column."""
    k = term.parts[0][0]
    rows = np.repeat(used[:1], CURVE, axis=0)
    rows[:, k] = np.linspace(used[:, k].min(), used[:, k].max(), CURVE)
    x = _on_scale_of_data(design, k, rows[:, k])[None]
    return _Probe("curve", rows, x, (term.labels[0],), rug=_on_scale_of_data(design, k, used[:, k]))


def _curves(term: TermColumns, design: Design, used: Floats, weights: Floats) -> _Probe:
    """A grid for each level of ``by`` over the range of its rows; for a number at its mean and a deviation around."""
    k, by = term.parts[0][0], list(term.by or ())
    label = term.labels[-1]
    if term.is_factor:
        own = [_on_scale_of_data(design, j, used[:, j]) > 0.5 for j in by]
        settings = [(np.eye(len(by))[j] - design.center[by]) / design.scale_[by] for j in range(len(by))]
        names = [design.column_names[j].partition(f"[{label}[")[2].removesuffix("]]") for j in by]
    else:
        own, j = [np.ones(len(used), bool)] * 3, by[0]
        middle = np.average(used[:, j], weights=weights)
        around = np.sqrt(np.average((used[:, j] - middle) ** 2, weights=weights))
        settings = [np.array([middle + each * around]) for each in (-1.0, 0.0, 1.0)]
        names = [f"{label} = {_on_scale_of_data(design, j, each)[0]:.3g}" for each in settings]
    pieces, xs = [], []
    for mine, setting in zip(own, settings, strict=True):
        rows = np.repeat(used[:1], CURVE, axis=0)
        rows[:, k] = np.linspace(used[mine, k].min(), used[mine, k].max(), CURVE)
        rows[:, by] = setting
        pieces.append(rows)
        xs.append(_on_scale_of_data(design, k, rows[:, k]))
    rug = _on_scale_of_data(design, k, used[:, k])
    return _Probe("curve", np.vstack(pieces), np.array(xs), (term.labels[0],), tuple(names), rug)


def _map(term: TermColumns, design: Design, used: Floats) -> _Probe:
    """A grid over two columns."""
    first, second = term.parts[0][0], term.parts[1][0]
    sides = [np.linspace(used[:, k].min(), used[:, k].max(), MAP) for k in (first, second)]
    grid = np.stack(np.meshgrid(*sides, indexing="ij")).reshape(2, -1)
    rows = np.repeat(used[:1], grid.shape[1], axis=0)
    rows[:, [first, second]] = grid.T
    both = (first, second)
    x, rug = (
        np.array([_on_scale_of_data(design, k, each) for k, each in zip(both, values, strict=True)])
        for values in (grid, used[:, list(both)].T)
    )
    blank = too_far(x.T, rug.T, np.ptp(rug, axis=1))
    return _Probe("map", rows, x, term.labels[:2], rug=rug, blank=blank)
