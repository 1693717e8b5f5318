"""A search repeated without each of some folds, whose rows it then predicts: what is chosen has not seen them.

The least of many cross-validated scores is too low, for having been chosen; this is not [Varma & Simon 2006].

Rows are left out by a weight of zero, which is the bound u = 0. The scaling of the columns and the grid, with the
values that "scale" and "median" stand for, are those of all rows: they do not look at the response.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import fit_maps
from svmstat.errors import DataError
from svmstat.machine import vote
from svmstat.objective.units import are_groups, fewest_units
from svmstat.resampling import leave_one_out
from svmstat.resampling.loops import Outlook, run_pieces
from svmstat.tuning.grid import Grid
from svmstat.tuning.plan import LeftOut, Plan, theta_of
from svmstat.tuning.sample import Effort, Sample


@dataclass(frozen=True, slots=True)
class Outer:
    """The folds that are left out of a whole search.

    Attributes
    ----------
    sample : the rows, or their parts, in these folds
    fold : Series (n,) the fold 0 … k − 1 of each row, −1 for rows of weight zero
    kept : (k,) the sample without each of them, in folds of their own if the search has some
    """

    sample: Sample
    fold: pd.Series
    kept: tuple[Sample, ...]


def outer_folds(sample: Sample, k: int, inner: int | None, index: pd.Index, rng: np.random.Generator) -> Outer:
    """Draw k stratified folds of the rows with this index, and ``inner`` folds of the rows that each of them leaves.

    Raises
    ------
    DataError
        If a class has too few different rows.
    """
    split = sample.in_folds(k, rng, "nested")
    kept = [split.without(split.folded.of_row == which) for which in range(k)]
    for which, each in enumerate(kept):
        with _told_of(which):
            if inner is not None:
                kept[which] = each.in_folds(inner, rng)
            else:
                _refuse_lone(each)
    return Outer(split, pd.Series(split.fold_of_rows, index, name="fold"), tuple(kept))


def _refuse_lone(sample: Sample) -> None:
    """Refuse a level of which nothing is left where one is left out."""
    code, fewest = fewest_units(sample.codes, sample.weights, sample.units)
    if fewest < 2.0:
        what = "group" if are_groups(sample.units) else "row"
        raise DataError(
            f"the level {sample.levels[code]!r} has {fewest:.6g} {what}{'s' * (fewest != 1.0)}, and nothing where one "
            "is left out: more folds leave more of them, and each level needs three at least."
        )


@contextmanager
def _told_of(which: int) -> Iterator[None]:
    """What cannot be done with the rows of the other folds says that it is these."""
    try:
        yield
    except DataError as error:
        raise DataError(f"nested: without the rows of fold {which}, {error}") from error


def search_without(outer: Outer, plan: Plan, grid: Grid, effort: Effort) -> LeftOut:
    """Repeat the search without each fold, and predict its rows by what it chose."""
    k, fold, trial = len(outer.kept), outer.sample.folded.of_row, grid.only(len(grid.kernels) // 2)
    parts = run_pieces(
        _predicted,
        [(plan, sample, fold == which, grid, which) for which, sample in enumerate(outer.kept)],
        n_jobs=effort.n_jobs,
        progress=effort.progress,
        what="nested",
        outlook=Outlook([(lambda: plan.search(outer.kept[0], trial, Effort(1)), float(k * len(grid.kernels)))]),
    )
    n, pairs = len(fold), parts[0].f.shape[1]
    f, winner, log_likelihood = np.full((n, pairs), np.nan), np.full(n, -1), np.full(n, np.nan)
    for which, part in enumerate(parts):
        out = fold == which
        f[out], winner[out], log_likelihood[out] = part.f, part.winner, part.log_likelihood
    choices = pd.DataFrame([part.choice for part in parts]).rename_axis("fold")
    return LeftOut(outer.fold, f, winner, log_likelihood, choices)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is predicted of m rows, and the best parameters without them; f is (m, P)."""

    f: Floats
    winner: Codes
    log_likelihood: Floats
    choice: dict[str, object]


def _predicted(plan: Plan, sample: Sample, out: NDArray[np.bool_], grid: Grid, which: int) -> _Part:
    """The rows that are ``out`` (n,) by the best fit to the others."""
    with _told_of(which):
        found = plan.search(sample, grid, Effort(1))
    kernel = found.kernel_of(grid)
    machine = sample.fit(kernel, found.C) if found.nu is None else sample.fit_nu(kernel, found.nu)
    out = out if sample.part_of is None else out[sample.part_of]
    shift = plan.shift(found)
    f = machine.decision_values[out] + shift
    insample = fit_maps(machine, sample.coupling)
    left = partial(leave_one_out, machine, insample, influence=False)
    maps = sample.held_out_maps(machine, insample, left).maps
    log_likelihood = maps.log_likelihoods(f, sample.codes[out])
    choice = {"C": found.C} if found.nu is None else {"nu_event": found.nu.event, "nu_other": found.nu.other}
    weights = found.params["theta"] if found.theta is not None else {}
    choice |= grid.parameters[found.kernel]
    choice |= {"shift": shift} if "shift" in found.table else {}
    weights = {theta_of(name) if name in choice else name: value for name, value in weights.items()}
    return _Part(f, vote(f, machine.classes), log_likelihood, {**choice, **weights})
