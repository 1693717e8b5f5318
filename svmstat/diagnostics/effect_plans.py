"""What must be averaged for an effect, and what becomes of the averages."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.near import too_far
from svmstat.formula import AlteredDesign, AlteredRows, Variable
from svmstat.resampling.accumulated import accumulated, accumulated_pair, bins_of, quantiles
from svmstat.resampling.averages import SignedMeans

KINDS = ("ale", "pdp", "ice")


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An effect of one column or two, before anything is predicted.

    Attributes
    ----------
    variables : tuple of Variable, length 1 or 2
    kind : str
        "ale", "pdp", "ice", or "average" where a column goes by levels.
    grid : tuple of ndarray
        The values of each column: numbers, or positions of levels.
    wanted : SignedMeans
    totals : ndarray or None
        Of accumulated local effects the weight in each bin (K,) or cell (K, L).
    cell : ndarray (n,) or None
        And of one column which of these each row is in.
    near : ndarray of bool
        Whether there are data near, of the shape of the grid.
    """

    variables: tuple[Variable, ...]
    kind: str
    grid: tuple[np.ndarray, ...]
    wanted: SignedMeans
    totals: Floats | None
    cell: Codes | None
    near: NDArray[np.bool_]

    def finish(self, values: Floats, drawn: Floats | None) -> Floats:
        """The effect (1 + B, …, Q) on the grid, of means (1 + B, size, Q).

        The weights in bins of the rows that were ``drawn``, (B, K), are those over which the curve of a replicate of
        one column is centred, as that of the fit is over its own.
        """
        R, _, Q = values.shape
        if self.totals is None:
            return values.reshape(R, *map(len, self.grid), Q)
        delta = values.reshape(R, *self.totals.shape, Q)
        if drawn is None:
            return accumulated_pair(delta, self.totals, (self.grid[0], self.grid[1]))
        return accumulated(delta, np.vstack([self.totals, drawn]))


def plan(rows: AlteredRows, variables: tuple[Variable, ...], kind: str, grid: tuple[np.ndarray, ...] | int) -> Plan:
    """How an effect is computed.

    Parameters
    ----------
    rows : of the fit
    variables : one or two, each of which varies
    kind : "ale", "pdp" or "ice"
    grid : the values of each column, or how many bins there are, between quantiles, or even steps on a map; of levels
        all
    """
    numeric = all(variable.numeric for variable in variables)
    if isinstance(grid, tuple):
        return _averaged(rows, variables, kind, grid)
    if kind == "ale" and numeric:
        return _accumulated(rows, variables, grid)
    even = numeric and len(variables) == 2
    steps = tuple(_values(each, rows.weights, np.linspace(0.0, 1.0, grid + 1), even) for each in variables)
    return _averaged(rows, variables, kind if kind == "ice" or numeric else "average", steps)


def _values(variable: Variable, weights: Floats, shares: Floats, even: bool) -> np.ndarray:
    """All levels; of numbers those in even steps, or the quantiles at these shares."""
    if variable.levels is not None:
        return np.arange(len(variable.levels))
    x = variable.values
    return x.min() + shares * np.ptp(x) if even else np.unique(quantiles(x, weights, shares))


def _averaged(rows: AlteredRows, variables: tuple[Variable, ...], kind: str, grid: tuple[np.ndarray, ...]) -> Plan:
    """Every row at every value, or pair of values; for "ice" each by itself."""
    n, cells = len(rows.weights), np.array(list(product(*grid)))
    which = np.repeat(np.arange(len(cells)), n)
    row = np.tile(np.arange(n), len(cells))
    changes = {each.name: (each, _typed(each, cells[which, j])) for j, each in enumerate(variables)}
    share = np.tile(rows.weights / rows.weights.sum(), len(cells))
    averaged, single = (which, share, len(cells)), (np.arange(len(row)), np.ones(len(row)), len(row))
    wanted = SignedMeans(AlteredDesign(rows, row, changes), *(single if kind == "ice" else averaged))
    return Plan(variables, kind, grid, wanted, None, None, near(variables, cells).reshape(*map(len, grid)))


def _typed(variable: Variable, values: np.ndarray) -> np.ndarray:
    return values if variable.levels is None else values.astype(np.intp)


def _accumulated(rows: AlteredRows, variables: tuple[Variable, ...], count: int) -> Plan:
    """Every row at the edges of its bin, or the corners of its cell, with + and −."""
    n, w = len(rows.weights), rows.weights
    bins = [bins_of(variable.values, w, count) for variable in variables]
    shape = tuple(len(each.edges) - 1 for each in bins)
    cell = np.ravel_multi_index([each.of_row for each in bins], shape)
    totals = np.bincount(cell, w, int(np.prod(shape))).astype(float)
    corners = list(product((1, 0), repeat=len(bins)))
    ends = ([each.edges[each.of_row + corner[j]] for corner in corners] for j, each in enumerate(bins))
    changes = {each.name: (each, np.concatenate(end)) for each, end in zip(variables, ends, strict=True)}
    signs = [(-1.0) ** (len(bins) - sum(corner)) for corner in corners]
    wanted = SignedMeans(
        AlteredDesign(rows, np.tile(np.arange(n), len(corners)), changes), np.tile(cell, len(corners)),
        np.outer(signs, w / totals[cell]).ravel(), len(totals),
    )  # fmt: skip
    grid = tuple(each.edges for each in bins)
    cells = np.array(list(product(*grid)))
    found = near(variables, cells).reshape(*map(len, grid))
    return Plan(variables, "ale", grid, wanted, totals.reshape(shape), cell if len(bins) == 1 else None, found)


def near(variables: tuple[Variable, ...], points: Floats) -> NDArray[np.bool_]:
    """Whether there are rows near points (m, q): all points of one column are; of two, within a tenth of the ranges.

    What goes by levels is near at the same level only.
    """
    if len(variables) == 1:
        return np.ones(len(points), bool)
    data = np.column_stack([each.values for each in variables]).astype(float)
    reach = np.array([1.0 if each.levels is not None else np.ptp(each.values) for each in variables])
    return ~too_far(points, data, reach)


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """An average comparison, before anything is predicted.

    Attributes
    ----------
    variable : Variable
    label : str
        Such as "+1" or "b - a".
    beyond : int
        Of how many rows the step ends beyond the observed values.
    low, high : ndarray (n,)
        The values that are compared, of every row.
    """

    variable: Variable
    label: str
    beyond: int
    low: Floats | Codes
    high: Floats | Codes


def planned_contrasts(rows: AlteredRows, contrasts: Sequence[Contrast]) -> SignedMeans:
    """The means of contrasts of one column: prediction at the high minus that at the low value, over all rows."""
    n, share, count = len(rows.weights), rows.weights / rows.weights.sum(), len(contrasts)
    values = np.concatenate([end for each in contrasts for end in (each.high, each.low)])
    variable = contrasts[0].variable
    return SignedMeans(
        AlteredDesign(rows, np.tile(np.arange(n), 2 * count), {variable.name: (variable, values)}),
        np.repeat(np.arange(count), 2 * n), np.tile(np.concatenate([share, -share]), count), count,
    )  # fmt: skip
