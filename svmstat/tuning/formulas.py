"""Several formulas in one search: the columns of all side by side, each kernel on those of its formula."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from svmstat._tools.checks import refuse
from svmstat.errors import ArgumentError, DataError
from svmstat.kernels import Kernel
from svmstat.kernels.columns import alone, beside_others
from svmstat.prepared import Prepared
from svmstat.tuning.grid import Candidates, Grid, make_grid

NAME = "formula"
"""The column of the table that tells them apart."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What is searched on.

    Attributes
    ----------
    prepared : of each formula, all of the same rows
    joined : with the columns of all of them
    grid : the kernels of all of them
    which : the formula of each kernel
    blocks : where the columns of each formula begin and end; none of a single one
    """

    prepared: tuple[Prepared, ...]
    joined: Prepared
    grid: Grid
    which: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...] = ()

    def chosen(self, kernel: int, found: Kernel) -> tuple[Prepared, Kernel]:
        """The data and the kernel ``found`` of a point, as a fit of its formula has them."""
        own = self.which[kernel]
        return self.prepared[own], alone(found, self.blocks[own][0]) if self.blocks else found


def check_formulas(formula: str | Sequence[str], of_rows: bool, by_cost: bool, theta: object = None) -> tuple[str, ...]:
    """The formulas that are given, which must be different and of a search that can compare them."""
    if not isinstance(formula, list | tuple):
        return (formula,)  # type: ignore[return-value]  # what is no text either is refused where it is read
    if not formula:
        raise refuse(NAME, formula, "a formula or several, not an empty list")
    for place, each in enumerate(formula):
        if each in formula[:place]:
            raise refuse(f"{NAME}[{place}]", each, "another formula than those before")
    if len(formula) > 1 and not of_rows:
        raise ArgumentError("several formulas are not for kernel='precomputed', whose one matrix has no terms.")
    if len(formula) > 1 and isinstance(theta, str):
        raise ArgumentError(f"theta={theta!r} is for one formula: tune each on its own, and compare() the best fits.")
    if len(formula) > 1 and not by_cost:
        raise ArgumentError("several formulas are not for minimax() and neyman_pearson(a): tune each on its own.")
    return tuple(formula)


def prepare_all(
    formulas: Sequence[str], prepare_on: Callable[..., Prepared], subset: object
) -> tuple[list[Prepared], bool]:
    """The data of every formula, of the rows of which none lacks a value, and whether some have lost rows for others.

    Raises
    ------
    DataError
        If the responses differ, or no row has the values of all formulas.
    """
    found = [prepare_on(formula=each, subset=subset) for each in formulas]
    first = found[0].frame
    for text, each in zip(formulas, found, strict=True):
        if each.frame.response != first.response:
            raise DataError(
                f"the formulas must have one response: {text!r} has {each.frame.response.name!r} with the levels "
                f"{each.frame.response.levels}, and the first one {first.response.name!r} with {first.response.levels}."
            )
    common = np.bincount(np.concatenate([each.frame.rows for each in found]), minlength=len(first.data)) == len(found)
    if all(len(each.frame.rows) == common.sum() for each in found):
        return found, False
    if not common.any():
        raise DataError("no row of the data has values for all formulas.")
    outside = first.n_subset_dropped
    missing = len(first.data) - outside - int(common.sum())
    again = [prepare_on(formula=each, subset=common) for each in formulas]
    frames = [replace(each.frame, n_missing=missing, n_subset_dropped=outside) for each in again]
    return [replace(each, frame=frame) for each, frame in zip(again, frames, strict=True)], True


def join(formulas: Sequence[str], prepared: Sequence[Prepared], wanted: Candidates) -> Searched:
    """All of them as one search."""
    grids = [make_grid(wanted, each) for each in prepared]
    if len(grids) == 1:
        return Searched((prepared[0],), prepared[0], grids[0], (0,) * len(grids[0].kernels))
    blocks = tuple(pairwise(np.cumsum([0, *(each.X.shape[1] for each in prepared)]).tolist()))
    kernels = [
        beside_others(kernel, *block) for grid, block in zip(grids, blocks, strict=True) for kernel in grid.kernels
    ]
    named = [({NAME: text}, grid) for text, grid in zip(formulas, grids, strict=True)]
    lacking = {name: np.nan for one in grids for each in one.parameters for name in each}  # terms with their own widths
    grid = Grid(
        grids[0].costs,
        tuple(kernels),
        tuple({**name, **lacking, **each} for name, one in named for each in one.parameters),
        tuple({**name, **each} for name, one in named for each in one.arguments),
    )
    X = np.hstack([each.X for each in prepared])
    which = tuple(place for place, one in enumerate(grids) for _ in one.kernels)
    return Searched(tuple(prepared), replace(prepared[0], X=X), grid, which, blocks)
