"""``tune()``: the best cost and kernel parameters over a grid, and the fit with them."""

import numbers
import sys
from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from svmstat._checks import at_least, flag, one_of, refuse
from svmstat._random import seed_sequence
from svmstat._warn import warn
from svmstat.errors import DataError, GridWarning
from svmstat.machine import Groups, group_rows
from svmstat.model import Prepared, fit, prepare
from svmstat.resampling.folds import assign_folds
from svmstat.tuning.criteria import MEASURES, Point
from svmstat.tuning.grid import Grid, check_values, make_grid
from svmstat.tuning.result import CRITERIA, TuneResult
from svmstat.tuning.search import Effort, Sample, search_folds, search_loo

Floats = NDArray[np.float64]

_TIED = 1e-7
"""Scores that differ by less than this share are the same: the digits beyond are those of the solver's tolerance."""


def tune(
    formula: str,
    data: pd.DataFrame,
    *,
    C: float | ArrayLike | None = None,
    gamma: float | str | ArrayLike | None = None,
    degree: int | ArrayLike | None = None,
    coef0: float | ArrayLike | None = None,
    criterion: str = "loo",
    search: str = "grid",
    score: str = "deviance",
    folds: int = 5,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    loss: str = "hinge",
    kernel: str | Callable[[Floats, Floats], ArrayLike] = "rbf",
    weights: Hashable | ArrayLike | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    event: object = None,
    subset: str | ArrayLike | None = None,
    na_action: str = "drop",
    scale: bool = True,
    calibration: str = "insample",
) -> TuneResult:
    """Choose the cost and the parameters of the kernel by the prediction of rows that are left out.

    Every fit is exact (KKT violation ≤ 1e-8). Scaling and factor coding are those of all rows, also where some are
    left out; so are the values that gamma="scale" and "median" stand for.

    Parameters
    ----------
    formula, data
        As in `svm`.
    C : float or sequence of float, optional
        Values > 0; by default 2^-2, 2^-1, …, 2^7.
    gamma : float, "scale", "median" or a sequence of these, optional
        Of the kernels "rbf" and "poly"; by default for "rbf" the value of "scale" times 2^-4, 2^-3, …, 2^3, and for
        "poly" that of "scale".
    degree, coef0 : int, float or sequences, optional
        Of the kernel "poly"; by default 3 and 0.
    criterion : {"loo", "kfold"}
        Leave-one-out, each row being predicted by the fit and the Platt map without it [003], or stratified k-fold.
    search : {"grid"}
        All combinations of the values.
    score : {"deviance", "error", "weighted_error"}
        What is made as small as possible: the deviance −2 Σ w log p of the left-out rows, with "loo" the CV score of
        `SVMResults.loo`; their weighted error rate; or the error rate with each row counted by its class weight.
        Among equal scores the smallest C is chosen, then the smallest gamma, degree and coef0.
    folds : int
        The number of folds of "kfold", ≥ 2. Rows that agree in all predictors and the response share a fold, so that
        no fit is tested on rows that it has seen; a row of weight two is one such pair. All grid points have the same
        folds.
    rng : int or Generator, optional
        Where the folds come from; nothing else is random.
    n_jobs : int, optional
        Workers, as in `joblib.Parallel`: threads unless ``joblib.parallel_config`` names another backend. The result
        does not depend on them.
    progress : bool
        Whether to show a progress bar.
    loss, kernel, weights, class_weight, event, subset, na_action, scale, calibration
        As in `svm`; ``calibration`` is that of the best fit, while the scores use the in-sample map of each fit.

    Returns
    -------
    TuneResult

    Raises
    ------
    ArgumentError, ArgumentTypeError, FormulaError, DataError
        For arguments, formulas and data that cannot be used, before anything has been solved; and DataError if no
        grid point could be scored.

    Warns
    -----
    GridWarning
        If the best value of a parameter is the first or the last of several, or points could not be scored.

    Examples
    --------
    >>> from svmstat import datasets
    >>> mackerel = datasets.load("mackerel")
    >>> formula = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
    >>> found = tune(formula, mackerel, C=[16, 32, 64], gamma=[0.125, 0.25, 0.5])
    >>> found.best_params
    {'C': 32.0, 'gamma': 0.25}
    >>> round(float(found.best_row["score"]), 1), round(found.best.deviance, 1)
    (474.4, 394.7)
    """
    one_of("criterion", criterion, CRITERIA)
    one_of("search", search, ("grid",))
    one_of("score", score, MEASURES)
    folds = at_least("folds", folds, 2)
    effort = Effort(_workers(n_jobs), flag("progress", progress))
    given = check_values(kernel, C, gamma, degree, coef0)
    seed = seed_sequence("rng", rng)
    caller = sys._getframe(1)
    prepared = prepare(
        formula, data, loss=loss, kernel=kernel, weights=weights, class_weight=class_weight, event=event,
        subset=subset, na_action=na_action, scale=scale, calibration=calibration,
        env=ChainMap(caller.f_locals, caller.f_globals),
    )  # fmt: skip
    frame, X = prepared.frame, prepared.X
    grid = make_grid(kernel, given, X, frame.weights)
    sample = Sample(X, frame.y, frame.weights, prepared.weighted_loss)
    fold: pd.Series | None = None
    if criterion == "loo":
        points = search_loo(sample, grid.kernels, grid.costs, score, effort)
    else:
        groups = group_rows(X, frame.y, frame.weights)
        of_group = _stratified(prepared, groups, folds, np.random.default_rng(seed))
        points = search_folds(sample, groups, of_group, grid.kernels, grid.costs, score, effort)
        of_row = np.where(groups.of_row >= 0, of_group[groups.of_row], -1)
        fold = pd.Series(of_row, index=frame.index, name="fold")
    table, kernels = _table(grid, points)
    chosen = _least(table)
    row = table.iloc[chosen]
    best_params = {name: int(row[name]) if name == "degree" else float(row[name]) for name in grid.names}
    best = fit(prepared, kernels[chosen], best_params["C"])
    _warn_of(table, best_params)
    return TuneResult(best, best_params, table, criterion, score, fold)


def _workers(n_jobs: object) -> int | None:
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise refuse("n_jobs", n_jobs, "a number of workers, -1 for all cores, or None")
    return int(n_jobs)


def _stratified(prepared: Prepared, groups: Groups, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A fold for each group of equal rows, after a look at whether every fold finds one of each class."""
    y, response = prepared.frame.y[groups.first], prepared.frame.response
    for level in response.levels:
        n = int(np.count_nonzero((y > 0) == (level == response.event)))
        if n < k:
            raise DataError(f"folds={k} needs {k} different rows of each level: the level {level!r} has {n}.")
    return assign_folds(y, k, rng)


def _table(grid: Grid, points: list[list[Point]]) -> tuple[pd.DataFrame, list[Any]]:
    """The table of all points, and the kernel of each."""
    rows, kernels = [], []
    for j, cost in enumerate(grid.costs):
        for kernel, parameters, along in zip(grid.kernels, grid.parameters, points, strict=True):
            point = along[j]
            status = "failed" if point.reason else "ok"
            numbers_found = (point.score, point.score_se, point.error, point.n_support)
            rows.append((cost, *parameters.values(), *numbers_found, status, point.reason))
            kernels.append(kernel)
    columns = [*grid.names, "score", "score_se", "error", "n_support", "status", "reason"]
    return pd.DataFrame(rows, columns=columns), kernels


def _least(table: pd.DataFrame) -> int:
    """Which row has the smallest score, the first among those that tie."""
    scores = table["score"].to_numpy(float)
    if np.isnan(scores).all():
        raise DataError(f"no point of the grid could be scored; the first: {table['reason'].iloc[0]}.")
    least = np.nanmin(scores)
    return int(np.flatnonzero(scores <= least + _TIED * abs(least))[0])


def _warn_of(table: pd.DataFrame, best: Mapping[str, Any]) -> None:
    """Tell where the grid ends at the best point, and how many points have no score."""
    for name, value in best.items():
        values = table[name]
        low, high = values.min(), values.max()
        if low < high and value in (low, high) and not (name == "degree" and value == 1):
            end = "smallest" if value == low else "largest"
            warn(f"the best {name} = {value:.6g} is the {end} of its grid: a wider one may hold a better", GridWarning)
    n_failed = int((table["status"] == "failed").sum())
    if n_failed:
        warn(f"{n_failed} of {len(table)} grid points could not be scored: see .table", GridWarning)
