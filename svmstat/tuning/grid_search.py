"""``tune()``: the best cost and kernel parameters over a grid, and the fit with them."""

import sys
import warnings
from collections import ChainMap
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from svmstat._checks import at_least, flag, one_of, refuse, workers
from svmstat._random import seed_sequence
from svmstat._warn import warn
from svmstat.errors import ArgumentError, DataError, DesignWarning, GridWarning
from svmstat.formula import Response, named_column, true_probabilities
from svmstat.kernels import Kernel
from svmstat.machine import Groups, group_rows
from svmstat.model import Prepared, fit, prepare
from svmstat.resampling.folds import assign_folds
from svmstat.tuning.criteria import MEASURES, Point
from svmstat.tuning.error_control import Minimax, NeymanPearson
from svmstat.tuning.grid import Candidates, Grid, check_values, make_grid
from svmstat.tuning.nu_result import NuTuneResult
from svmstat.tuning.nu_tune import NuPlan, guaranteed, hold_out_others, make_plan, tune_errors
from svmstat.tuning.pairs_search import PairsSample, search_pair_folds, search_pairs
from svmstat.tuning.result import CRITERIA, TuneResult
from svmstat.tuning.search import FURTHER, Effort, Sample, Wanted, search_fits, search_folds

Floats = NDArray[np.float64]
AnyKernel = str | Kernel | Callable[[Floats, Floats], ArrayLike]

_TIED = 1e-7
"""Scores that differ by less than this share are the same: the digits beyond are those of the solver's tolerance."""


def tune(  # noqa: PLR0913  those of svm(), the grid and the criterion; all but two have defaults
    formula: str,
    data: pd.DataFrame,
    *,
    C: float | ArrayLike | None = None,
    gamma: float | str | ArrayLike | None = None,
    degree: int | ArrayLike | None = None,
    coef0: float | ArrayLike | None = None,
    nu: Sequence[Any] | None = None,
    criterion: str | Minimax | NeymanPearson = "loo",
    search: str = "grid",
    smooth: str | None = None,
    score: str = "deviance",
    folds: int = 5,
    truth: Hashable | ArrayLike | None = None,
    further: Sequence[str] = (),
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    loss: str = "hinge",
    kernel: AnyKernel | Sequence[AnyKernel] = "rbf",
    weights: Hashable | ArrayLike | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    costs: Mapping[str, float] | None = None,
    priors: Mapping[Any, float] | None = None,
    event: object = None,
    subset: str | ArrayLike | None = None,
    na_action: str = "drop",
    scale: bool = True,
    calibration: str = "insample",
    coupling: str = "wu-lin-weng",
) -> TuneResult | NuTuneResult:
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
        Of the kernels "rbf", "laplace" and "poly"; by default the value of "scale" times 2^-4, 2^-3, …, 2^3, and for
        "poly" that of "scale".
    degree, coef0 : int, float or sequences, optional
        Of the kernel "poly"; by default 3 and 0.
    nu : sequence of float, or two sequences, optional
        Values of ν₊ and ν₋ of the 2ν-SVM, in (0, 1], for `minimax` and `neyman_pearson`; two sequences are those for
        the event and for the other level. By default 1/25, 2/25, …, 1 for both. C is not used then.
    criterion : {"loo", "kfold", "gacv", "gckl"}, minimax() or neyman_pearson(a)
        Leave-one-out, each row being predicted by the fit and the Platt map without it [003]; stratified k-fold; the
        generalized approximate cross validation of the fit to all rows, for the hinge loss [000: 12]; or GCKL, which
        that estimates, in a simulation where the true probabilities are known. `minimax` and `neyman_pearson` choose
        (ν₊, ν₋) and the kernel by false alarms P_F and misses P_M in stratified k-fold [004].
    search : {"grid", "coordinate", "coordinate_2d", "balanced", "bias"}
        All combinations of the values. The others are for minimax and Neyman–Pearson: coordinate descent in
        (γ, ν₋, ν₊), or in (ν₋, ν₊) for each γ; ν₊ = ν₋; the ordinary ν-SVM with a shifted decision function
        [004: 3.2, 4.3].
    smooth : {"2d", "3d"}, optional
        For minimax and Neyman–Pearson: whether the estimates of P_F and P_M are averaged over neighbouring (ν₊, ν₋), or
        also over neighbouring γ, before they are compared [004: 3.1].
    score : {"deviance", "error", "weighted_error", "loss"}
        What "loo" and "kfold" make as small as possible: the deviance −2 Σ w log p of the left-out rows, with "loo" the
        CV score of `SVMResults.loo`; their weighted error rate; the error rate with each row counted by its class
        weight, which with ``costs`` is in proportion to the risk; or the mean loss (1/Σw) Σ w L [m − y f]₊, with "loo"
        and the hinge loss the V₀ of [000: 11]. The last is for two levels only; so are "gacv" and "gckl".
        Among equal scores the smallest C is chosen, then the smallest gamma, degree and coef0.
    folds : int
        The number of folds of "kfold", minimax and Neyman–Pearson, ≥ 2. Rows that agree in all predictors and the
        response share a fold, so that no fit is tested on rows that it has seen; a row of weight two is one such pair.
        All grid points have the same folds.
    truth : column name or array_like of shape (n,), optional
        The true P(event | x) of each row of ``data``, for GCKL.
    further : sequence of {"gacv", "loo_loss", "gckl"}
        Criteria to be computed beside the score, as columns of the table; not with "kfold".
    rng : int or Generator, optional
        Where the folds come from; nothing else is random.
    n_jobs : int, optional
        Workers, as in `joblib.Parallel`: threads unless ``joblib.parallel_config`` names another backend. The result
        does not depend on them.
    progress : bool
        Whether to show a progress bar.
    kernel : as in `svm`, or a list of such
        With a kernel that is passed as an object, a parameter that has its default there is searched,
        ``kernel=Polynomial(degree=2), gamma=[0.1, 1]``; one that was set is held. The kernels of a list are compared as
        they are, ``kernel=["linear", RBF(gamma=0.1), Linear() + RBF()]``, each with every C; what else varies is
        written into the list.
    loss, weights, class_weight, costs, priors, event, subset, na_action, scale, calibration, coupling
        As in `svm`; ``calibration`` is that of the best fit, while the scores use the in-sample map of each fit.

    Returns
    -------
    TuneResult, or NuTuneResult for minimax and Neyman–Pearson

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
    plan, named = None, ""
    if isinstance(criterion, Minimax | NeymanPearson):
        plan = make_plan(criterion, search, smooth, nu)
        weighing = {"class_weight": class_weight, "costs": costs, "priors": priors}
        _refuse_beside(criterion, {"C": C, **weighing}, loss, score)
    else:
        named = one_of("criterion", criterion, CRITERIA)
        one_of("search", search, ("grid",))
        _refuse_without(named, smooth, nu)
    one_of("score", score, MEASURES)
    folds = at_least("folds", folds, 2)
    effort = Effort(workers("n_jobs", n_jobs), flag("progress", progress))
    also = _further(named, further, truth, loss)
    wanted = check_values(kernel, C, {"gamma": gamma, "degree": degree, "coef0": coef0})
    seed = seed_sequence("rng", rng)
    caller = sys._getframe(1)
    prepare_on = partial(
        prepare, formula, data, loss=loss, of_rows=wanted.of_rows, weights=weights, class_weight=class_weight,
        costs=costs, priors=priors, event=event, na_action=na_action, scale=scale, calibration=calibration,
        coupling=coupling, env=ChainMap(caller.f_locals, caller.f_globals), ignored=_column_of(truth, data),
    )  # fmt: skip
    prepared = prepare_on(subset=subset)
    prepared.check_bounds(wanted.costs)
    if plan is not None:
        return _by_errors(prepared, prepare_on, plan, wanted, data, folds, seed, effort, subset is None)
    frame, X = prepared.frame, prepared.X
    if prepared.many:
        _refuse_for_many(frame.response, named, score, also)
    grid = make_grid(wanted, prepared)
    known = None if truth is None else true_probabilities(truth, data, frame.rows)
    if named == "kfold":
        groups = group_rows(X, frame.codes.astype(float), frame.weights)
        of_group = _stratified(prepared, groups, folds, np.random.default_rng(seed))
        points = _scored_by_folds(prepared, grid, groups, of_group, score, effort)
        fold = pd.Series(groups.to_rows(of_group), index=frame.index, name="fold")
    else:
        points, fold = _scored(prepared, grid, Wanted(named, score, also), known, effort), None
    table = _table(grid, points, also)
    chosen = _least(table)
    row, at = divmod(chosen, len(grid.kernels))
    cost = grid.costs[row]
    best = fit(prepared, grid.kernels[at], cost)
    _warn_of(table, {"C": cost, **grid.parameters[at]})
    return TuneResult(best, {"C": cost, **grid.arguments[at]}, table, chosen, named, score, fold, also)


def _refuse_beside(criterion: Minimax | NeymanPearson, given: Mapping[str, object], loss: str, score: str) -> None:
    """What minimax and Neyman–Pearson have no place for."""
    for name, value in given.items():
        if value is not None:
            raise refuse(name, value, f"left out with criterion={criterion}: nu takes its place")
    if loss != "hinge":
        raise refuse("loss", loss, f"'hinge' with criterion={criterion}: the 2nu-SVM has one margin for both levels")
    if score != "deviance":
        raise refuse("score", score, f"left out with criterion={criterion}, which is a measure of its own")


def _refuse_without(criterion: str, smooth: object, nu: object) -> None:
    """What exists for minimax and Neyman–Pearson only."""
    for name, value in (("smooth", smooth), ("nu", nu)):
        if value is not None:
            allowed = f"left out with criterion={criterion!r}: it is for minimax() and neyman_pearson(a)"
            raise refuse(name, value, allowed)


def _by_errors(
    prepared: Prepared, prepare_on: Callable[..., Prepared], plan: NuPlan, wanted: Candidates, data: pd.DataFrame,
    folds: int, seed: np.random.SeedSequence, effort: Effort, whole: bool,
) -> NuTuneResult:  # fmt: skip
    """The search for minimax or Neyman–Pearson, with rows held out if P_F is to be guaranteed.

    These take no part in anything before the threshold is set on them: not in the scaling, nor in gamma="scale".
    """
    response, criterion = prepared.frame.response, plan.criterion
    if prepared.many:
        found = f"for two levels only: the response {response.name!r} has {len(response.levels)}"
        raise refuse("criterion", criterion, f"another, minimax and Neyman-Pearson being defined {found}")
    held = None
    if isinstance(criterion, NeymanPearson) and criterion.delta is not None:
        draw = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 1)))
        held, mask = hold_out_others(prepared, criterion, len(data), whole, draw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DesignWarning)  # it has been given for all rows
            prepared = prepare_on(subset=mask)
        _refuse_unseen(prepared, data.iloc[held])
    grid = make_grid(wanted, prepared)
    if plan.smooth == "3d" and not grid.ordered:
        raise refuse("smooth", plan.smooth, "'2d' for a kernel with several parameters, which have no one order")
    groups = group_rows(prepared.X, prepared.frame.codes.astype(float), prepared.frame.weights)
    fold = _stratified(prepared, groups, folds, np.random.default_rng(seed))
    result = tune_errors(prepared, grid, plan, groups, fold, effort)
    if held is None or not isinstance(criterion, NeymanPearson):
        return result
    return guaranteed(result, criterion, data.iloc[held])


def _refuse_unseen(prepared: Prepared, held: pd.DataFrame) -> None:
    """Held-out rows with a level of a factor that no other row has have no decision value."""
    try:
        prepared.frame.design.transform(held)
    except DataError as error:
        raise DataError(
            f"the rows that are held out to set the threshold cannot be predicted by a fit to the others ({error}) "
            "Another rng holds out others; a rare level of a factor may be joined with another."
        ) from error


def _further(criterion: str, further: object, truth: object, loss: str) -> tuple[str, ...]:
    """The criteria beside the score, after a look at whether all that is asked for exists."""
    if isinstance(further, str) or not isinstance(further, Iterable):
        raise refuse("further", further, f"a sequence of {', '.join(map(repr, FURTHER))}")
    names = tuple(dict.fromkeys(one_of("further", name, FURTHER) for name in further))
    if names and criterion == "kfold":
        raise refuse("further", further, "left out with criterion='kfold', which has no fit to all rows")
    if names and not criterion:
        raise refuse("further", further, "left out with minimax() and neyman_pearson(a), which have no fit to all rows")
    asked = {criterion, *names}
    if "gckl" in asked and truth is None:
        raise refuse("truth", truth, "the true probabilities of the rows: GCKL is computed from them")
    if truth is not None and "gckl" not in asked:
        raise ArgumentError("truth is used for GCKL only: give criterion='gckl' or further=['gckl'] with it.")
    if "gacv" in asked and loss != "hinge":
        raise refuse("loss", loss, "'hinge' where GACV is asked for, which exists for no other loss")
    return names


def _column_of(truth: object, data: pd.DataFrame) -> tuple[Hashable, ...]:
    """The column that holds the truth, which ``.`` in a formula does not stand for."""
    column = named_column("truth", truth, data) if isinstance(data, pd.DataFrame) else None
    return () if column is None else (column,)


def _refuse_for_many(response: Response, criterion: str, score: str, further: tuple[str, ...]) -> None:
    """Criteria that exist for two levels only."""
    found = f"for two levels only: the response {response.name!r} has {len(response.levels)}"
    if criterion not in ("loo", "kfold"):
        raise refuse("criterion", criterion, f"'loo' or 'kfold', {CRITERIA[criterion]} being defined {found}")
    if score == "loss":
        raise refuse("score", score, f"another measure, the mean loss being defined {found}")
    if further:
        raise refuse("further", further, f"left out, these criteria being defined {found}")


def _scored(prepared: Prepared, grid: Grid, wanted: Wanted, truth: Floats | None, effort: Effort) -> list[list[Point]]:
    """The points of the grid by fits to all rows, for every kernel."""
    if prepared.many:
        return search_pairs(_pairs_sample(prepared), grid.kernels, grid.costs, wanted.measure, effort)
    return search_fits(_sample(prepared, truth), grid.kernels, grid.costs, wanted, effort)


def _scored_by_folds(
    prepared: Prepared, grid: Grid, groups: Groups, fold: NDArray[np.intp], score: str, effort: Effort
) -> list[list[Point]]:
    """The points of the grid by k-fold, for every kernel."""
    if prepared.many:
        return search_pair_folds(_pairs_sample(prepared), fold, grid.kernels, grid.costs, score, effort)
    return search_folds(_sample(prepared, None), groups, fold, grid.kernels, grid.costs, score, effort)


def _sample(prepared: Prepared, truth: Floats | None) -> Sample:
    return Sample(prepared.X, prepared.frame.codes, prepared.frame.weights, prepared.contrasts(), truth)


def _pairs_sample(prepared: Prepared) -> PairsSample:
    frame = prepared.frame
    contrasts, L = prepared.contrasts(), prepared.class_weight
    return PairsSample(prepared.X, frame.codes, frame.weights, contrasts, L, prepared.coupling)


def _stratified(prepared: Prepared, groups: Groups, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A fold for each group of equal rows, after a look at whether every fold finds one of each class."""
    codes = prepared.frame.codes[groups.first]
    for code, level in enumerate(prepared.frame.response.levels):
        n = int(np.count_nonzero(codes == code))
        if n < k:
            raise DataError(f"folds={k} needs {k} different rows of each level: the level {level!r} has {n}.")
    return assign_folds(codes, k, rng)


def _table(grid: Grid, points: list[list[Point]], further: tuple[str, ...]) -> pd.DataFrame:
    """The table of all points: C rising, and for each the kernels."""
    rows = []
    for j, cost in enumerate(grid.costs):
        for parameters, along in zip(grid.parameters, points, strict=True):
            point = along[j]
            status = "failed" if point.reason else "ok"
            numbers_found = (point.score, point.score_se, point.error, point.n_support)
            others = [point.further.get(name, np.nan) for name in further]
            rows.append((cost, *parameters.values(), *numbers_found, *others, status, point.reason))
    columns = [*grid.names, "score", "score_se", "error", "n_support", *further, "status", "reason"]
    return pd.DataFrame(rows, columns=columns)


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
        if name == "kernel":  # these are in no order
            continue
        values = table[name]
        low, high = values.min(), values.max()
        if low < high and value in (low, high) and not (name == "degree" and value == 1):
            end = "smallest" if value == low else "largest"
            warn(f"the best {name} = {value:.6g} is the {end} of its grid: a wider one may hold a better", GridWarning)
    n_failed = int((table["status"] == "failed").sum())
    if n_failed:
        warn(f"{n_failed} of {len(table)} grid points could not be scored: see .table", GridWarning)
