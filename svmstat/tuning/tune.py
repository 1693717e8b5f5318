"""``tune()``: the best cost or ν and kernel parameters, and the fit with them."""

import warnings
from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import at_least, flag, one_of, refuse, workers
from svmstat._tools.frames import read_frame, unshared
from svmstat._tools.keywords import calling_frame, helpful
from svmstat._tools.randomness import check_rng, seed_sequence
from svmstat.errors import ArgumentError, DataError, DesignWarning
from svmstat.formula import ModelFrame, fold_labels, named_column, true_probabilities
from svmstat.kernels import Additive, Kernel, arguments_of, on_other_columns
from svmstat.model import call_of
from svmstat.prepared import Prepared, fit, prepare
from svmstat.resampling.splits import given_splits, is_number, is_splitter
from svmstat.results.calibrated import kind_of
from svmstat.tuning.by_cost import plan_by_cost
from svmstat.tuning.by_errors import plan_by_errors
from svmstat.tuning.by_theta import SEARCHES, plan_by_theta
from svmstat.tuning.error_control import Minimax, NeymanPearson
from svmstat.tuning.formulas import check_formulas, join, prepare_all
from svmstat.tuning.grid import check_values
from svmstat.tuning.nested import outer_folds, search_without
from svmstat.tuning.plan import OUTER, Asked, Plan, TuneResult
from svmstat.tuning.retuned import Retuned
from svmstat.tuning.sample import Effort, Sample

_ROUNDING = 1e-12
"""Of the least score, up to which what corrects it is rounding: where another point is never the best of drawn rows."""

AnyKernel = str | Kernel | Callable[[Floats, Floats], ArrayLike]


@helpful
def tune(  # noqa: C901, PLR0913, PLR0915  those of svm(), the grid and the criterion, read one after the other
    formula: str | Sequence[str],
    data: Any,
    *,
    C: float | ArrayLike | None = None,
    gamma: float | str | ArrayLike | None = None,
    degree: int | ArrayLike | None = None,
    coef0: float | ArrayLike | None = None,
    nu: Sequence[Any] | None = None,
    theta: str | Mapping[str, float] | None = None,
    criterion: str | Minimax | NeymanPearson = "loo",
    search: str = "grid",
    smooth: str | None = None,
    score: str = "deviance",
    folds: Any = 5,
    nested: bool | int = False,
    truth: Hashable | ArrayLike | None = None,
    further: Sequence[str] = (),
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    loss: str = "hinge",
    kernel: AnyKernel | Sequence[AnyKernel] = "rbf",
    weights: Hashable | ArrayLike | None = None,
    weight_type: str = "frequency",
    class_weight: Mapping[Any, float] | str | None = None,
    costs: Mapping[str, float] | None = None,
    priors: Mapping[Any, float] | None = None,
    groups: Hashable | ArrayLike | None = None,
    event: object = None,
    subset: str | ArrayLike | None = None,
    na_action: str = "drop",
    scale: bool = True,
    calibration: str = "auto",
    coupling: str = "wu-lin-weng",
) -> TuneResult:
    """Choose the cost and the parameters of the kernel by the prediction of rows that are left out.

    Every fit is exact (KKT violation ≤ 1e-8). Scaling and factor coding are those of all rows, also where some are
    left out; so are the values that gamma="scale" and "median" stand for.

    Parameters
    ----------
    formula : str or list of str
        As in `svm`. Several formulas with one response are compared in one search, on the rows that have the values of
        all of them; `TuneResult.corrected_score` and ``nested`` judge the choice among them too. Not for minimax,
        Neyman–Pearson and a search over θ.
    data : data frame
        Of pandas, polars, pyarrow or another library, as in `svm`.
    C : float or sequence of float, optional
        Values > 0; by default 2^-2, 2^-1, …, 2^7.
    gamma : float, "scale", "median" or a sequence of these, optional
        Of the kernels "rbf", "laplace" and "poly"; by default the value of "scale" times 2^-4, 2^-3, …, 2^3, and for
        "poly" that of "scale". In a formula with smooth terms it is not searched by default; values are those of all
        terms that set none, and with ``theta`` each has a search over θ of its own.
    degree, coef0 : int, float or sequences, optional
        Of the kernel "poly"; by default 3 and 0.
    nu : sequence of float, or two sequences, optional
        Values of ν₊ and ν₋ of the 2ν-SVM, in (0, 1], for `minimax` and `neyman_pearson`; two sequences are those for
        the event and for the other level. By default 1/25, 2/25, …, 1 for both. C is not used then. With
        search="bias" values of the one ν of the ordinary ν-SVM, which is at most twice the share of the smaller class,
        of all rows and of those without each fold: by default these parts of that, and larger ones are left out.
    theta : {"coordinate", "cosso"} or mapping, optional
        Of an additive formula, see docs/additive.md: values for the terms as in `svm`, or how they are chosen.
        "coordinate": from the best C with equal θ, C and each θ in turn by factors of 1/16 to 16, at last of √2, and by
        2^12 at most, for as long as the criterion becomes smaller by more than 0.01 %. "cosso" selects terms [Zhang
        2006]: θ under Σθ ≤ M, by turns with the machine, M the smallest whose mean loss in stratified folds is within
        one standard error (its own, not that of the difference) of the least. The θ that are found add up to the number
        of terms.
    criterion : {"loo", "kfold", "span", "gacv", "gckl"}, minimax() or neyman_pearson(a)
        Leave-one-out, each row being predicted by the fit without it and by the map of what the others were held out
        with, or of ``calibration``: with "insample" by that of the fit without it [003]; stratified k-fold;
        leave-one-out as the span of the support vectors tells it from the fit to all rows, without refits [Vapnik &
        Chapelle 2000], for where these take too long: see `svmstat.diagnostics.span`; the generalized approximate cross
        validation of the fit to all rows, for the hinge loss [000: section 4], which where α is not unique depends on
        which of the solutions was found, see `SVMResults.gacv`; or GCKL, which that estimates, in a simulation where
        the true probabilities are known. `minimax` and `neyman_pearson` choose (ν₊, ν₋) and the kernel by false
        alarms P_F and misses P_M in stratified k-fold [004].
    search : {"grid", "coordinate", "coordinate_2d", "balanced", "bias"}
        All combinations of the values. The others are for minimax and Neyman–Pearson: coordinate descent in
        (γ, ν₋, ν₊), or in (ν₋, ν₊) for each γ; ν₊ = ν₋; the ordinary ν-SVM with a shifted decision function
        [004: 3.2, 4.3].
    smooth : {"2d", "3d"}, optional
        For minimax and Neyman–Pearson: whether the estimates of P_F and P_M are averaged over neighbouring (ν₊, ν₋), or
        also over neighbouring γ, before they are compared [004: 3.1].
    score : {"deviance", "error", "weighted_error", "loss"}
        What "loo", "kfold" and "span" make as small as possible: the deviance −2 Σ w log p of the left-out rows, with
        "loo" the CV score of `SVMResults.loo`; their weighted error rate; the error rate with each row counted by its
        class weight, which with ``costs`` is in proportion to the risk; or the mean loss (1/Σw) Σ w L [m − y f]₊, with
        "loo" and the hinge loss the V₀ of [000: section 4]. The last is for two levels only; so are "gacv" and "gckl".
        Among equal scores the smallest C is chosen, then the smallest gamma, degree and coef0; of a search by ν that
        of the least P_F + P_M, then the earlier kernel, the larger ν of the other level and that of the event.
    folds : int, splitter, column name or array_like of shape (n,)
        The folds of "kfold", minimax and Neyman–Pearson: their number, ≥ 2, and no more than a level has different
        rows; a splitter of scikit-learn that holds out no row twice; or the fold label of each row, as for blocks of
        time or space. With groups these are held out whole. Otherwise rows that agree in all predictors and the
        response share a fold that is drawn, so that no fit is tested on rows that it has seen, unless labels differ at
        a tenth of what agrees in the predictors: these have few values then, and each row is a case of its own, or as
        many as it counts. All grid points have the same folds. With another criterion a number is not used, and other
        folds are refused.
    nested : bool or int
        Whether to repeat the whole search without each of ten stratified folds, or of as many as are given, and to
        score their rows with the fit that was chosen, and the map of the rows kept: `TuneResult.nested`. The best of
        many scores is too low, this one is not. Scaling and the values of the grid are those of all rows here too.
        Not for "gacv" and "gckl", where delta guarantees the level, nor for folds that are given.
    truth : column name or array_like of shape (n,), optional
        The true P(event | x) of each row of ``data``, for GCKL.
    further : sequence of {"gacv", "loo_loss", "span_loss", "gckl"}
        Criteria to be computed beside the score, as columns of the table; not with "kfold", minimax, Neyman–Pearson and
        a search over θ.
    rng : int or Generator, optional
        Where the folds, those of ``nested`` too, and rows that set a threshold come from; nothing else is random. Folds
        hang on the columns, their order and signs and the names of the levels besides, and not on the order of rows, if
        the kernel is not "precomputed"; rows that set a threshold are drawn by their places in the data.
    n_jobs : int, optional
        Workers, as in `joblib.Parallel`: threads unless ``joblib.parallel_config`` names another backend. The result
        does not depend on them.
    progress : bool
        Whether to show a progress bar.
    kernel : as in `svm`, or a list of such
        With a kernel that is passed as an object, a parameter that has its default there is searched,
        ``kernel=Polynomial(degree=2), gamma=[0.1, 1]``; one that was set is held. The kernels of a list are compared as
        they are, ``kernel=["linear", RBF(gamma=0.1), Linear() + RBF()]``, each with every C; what else varies is
        written into the list. So it is for a sum of kernels, one times a number and one ``on`` some columns: none of
        their parameters is searched.
    loss, weights, weight_type, class_weight, costs, priors, groups
        As in `svm`; with groups "loo" leaves out groups, and standard errors are over them. "span" and "gacv", which
        approximate leaving out single rows, and neyman_pearson(a, delta), which counts rows, are not for groups.
    event, subset, na_action, scale, calibration, coupling
        As in `svm`. With "loo" the score is of the probabilities that a fit with this ``calibration`` reports, as
        `SVMResults.loo` has it. With "kfold" they are by one map of this kind for the held-out values of all folds,
        without the row, or the fold that was given; `SVMResults.kfold` makes the map of each fold anew, which at every
        point would cost a leave-one-out for each fold. With "span" they are by Platt's map of the values that it tells,
        whatever the calibration, for speed with the row itself.

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
        If the best value of a parameter other than nu and θ is the first or the last of several, or points of a search
        over C could not be scored. Where C of theta="cosso" is, summary() says so.

    Examples
    --------
    >>> from svmstat import datasets
    >>> mackerel = datasets.load("mackerel")
    >>> formula = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
    >>> found = tune(formula, mackerel, C=[16, 32, 64], gamma=[0.125, 0.25, 0.5])
    >>> found.best_params
    {'C': 32.0, 'gamma': 0.25}
    >>> round(float(found.best_row["score"]), 1), round(found.best.deviance, 1)
    (471.0, 394.7)
    """
    weighing = {"class_weight": class_weight, "costs": costs, "priors": priors}
    counted = is_number(folds)
    asked = Asked(C, nu, search, smooth, score, folds if counted else 2, truth, further, loss, weighing, _outer(nested))
    plan = _plan(criterion, asked, theta)
    if not counted:
        _refuse_given_folds(plan, folds, asked.nested)
    effort = Effort(workers("n_jobs", n_jobs), flag("progress", progress))
    wanted = check_values(kernel, C, {"gamma": gamma, "degree": degree, "coef0": coef0})
    of_data: dict[str, Any] = {
        "loss": loss, "theta": None if isinstance(theta, str) else theta, "weights": weights,
        "weight_type": weight_type, "class_weight": class_weight, "costs": costs, "priors": priors, "groups": groups,
        "event": event, "na_action": na_action, "scale": scale, "calibration": calibration, "coupling": coupling,
    }  # fmt: skip
    check_rng("rng", rng)
    caller, source = calling_frame(), read_frame("data", unshared(data))
    shared, data, subset = data, source.data, unshared(subset)
    of_data = {name: unshared(each) for name, each in of_data.items()}
    formulas = check_formulas(formula, wanted.of_rows, isinstance(criterion, str), theta)
    ignored = (*_column_of("truth", truth, data), *_column_of("folds", None if counted else folds, data))
    prepare_on = partial(
        prepare, data=data, of_rows=wanted.of_rows, env=ChainMap(caller.f_locals, caller.f_globals), ignored=ignored,
        **of_data,
    )  # fmt: skip
    every, lost = prepare_all(formulas, prepare_on, subset)
    every[0].check_bounds(wanted.costs)
    if every[0].many:
        plan.refuse_levels(every[0].frame.response)
    if (units := _sample(every[0], None).units) is not None:
        plan.refuse_units(units)
    seed = seed_sequence("rng", rng)
    apart = plan.held_out(every[0], len(data), subset is None, _another(seed, 1))
    held = None if apart is None else data.iloc[apart[0]]
    if apart is not None and held is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DesignWarning)  # it has been given for all rows
            every = [prepare_on(formula=formulas[0], subset=apart[1])]
        _refuse_unseen(every[0], held)
    searched = join(formulas, every, wanted)
    prepared, grid = searched.joined, searched.grid
    plan.refuse_grid(grid)
    known = None if truth is None else true_probabilities(truth, data, prepared.frame.rows)
    sample = replace(_sample(prepared, known), of_rows=wanted.of_rows, blocks=searched.blocks)
    index, fold, outer, whole = prepared.frame.index, None, None, sample
    if not counted:
        sample = _in_given_folds(sample, folds, prepared.frame)
        plan = _plan(criterion, replace(asked, folds=sample.folded.count), theta)
        plan.refuse_folds(sample.folded)
    if asked.nested is not None:
        outer = outer_folds(sample, asked.nested, plan.folds, index, _another(seed, 2))
    if plan.folds is not None:
        sample = sample.in_folds(plan.folds, np.random.default_rng(seed))
        fold = pd.Series(sample.fold_of_rows, index, name="fold")
    found = plan.search(sample, grid, effort)
    judged = None if outer is None else plan.judged(outer.sample, search_without(outer, plan, grid, effort))
    own, kernel_found = searched.chosen(found.kernel, found.kernel_of(grid))
    best = fit(own, kernel_found, found.C, found.nu)
    text = formulas[searched.which[found.kernel]]
    if ignored:  # for which a dot does not stand, here and where the call is repeated
        text = type(text)(own.frame.design.formula)
    call = {"formula": text, "data": source.native, **of_data}
    rows = np.isin(np.arange(len(data)), own.frame.rows) if lost else subset
    call |= {"subset": rows if apart is None else apart[1]}
    of_others = {} if call["subset"] is subset else {"subset": subset}
    call |= {name: found.params[name] for name in ("C", "theta") if name in found.params}
    call |= {} if found.nu_asked is None else {"nu": found.nu_asked}
    kernel_of = arguments_of(on_other_columns(kernel_found, own.X, own.frame.weights))
    if isinstance(kernel_found, Additive):
        named = {name: value for name, value in grid.arguments[found.kernel].items() if name != "formula"}
        kernel_of = {"kernel": wanted.given[0], **named}
    best = replace(best, call=call_of({**call, **kernel_of}, shared, of_others), kind=source.kind)
    if len(found.table) > 1:
        of_rows = counted and plan.is_of_probabilities  # not of blocks, of which leave-one-out knows nothing
        corrected = found.corrected if of_rows and found.corrected is not None else np.nan
        least = float(found.table["score"].iloc[found.chosen])
        best = replace(best, optimism=0.0 if abs(corrected - least) <= _ROUNDING * abs(least) else corrected - least)
    alone = len(formulas) == 1
    copies = sample.units is None and counted
    if alone and held is None and known is None and copies:  # held-out rows and the truth are not those of other labels
        best = replace(best, retuned=Retuned(plan, grid, whole, seed))
    result = TuneResult(
        best, found.params, found.table, found.chosen, plan, fold, found.corrected, judged, given=not counted,
        costs=grid.costs,
    )  # fmt: skip
    return plan.finished(result, held)


def _plan(criterion: object, asked: Asked, theta: object) -> Plan:
    """The search that the arguments describe."""
    if theta is not None and not isinstance(theta, str | Mapping):
        raise refuse("theta", theta, "'coordinate', 'cosso' or values such as {'s(x)': 2}")
    if isinstance(theta, str):
        one_of("theta", theta, SEARCHES)
        if isinstance(criterion, Minimax | NeymanPearson):
            raise refuse("theta", theta, "left out, or values, with minimax() and neyman_pearson(a)")
        return plan_by_theta(theta, criterion, asked)
    if isinstance(criterion, Minimax | NeymanPearson):
        return plan_by_errors(criterion, asked)
    return plan_by_cost(criterion, asked)


def _outer(nested: object) -> int | None:
    """Without how many folds in turn all is tuned anew; None if that is not asked for."""
    if isinstance(nested, bool | np.bool_):
        return OUTER if nested else None
    return at_least("nested", nested, 2, also=", True or False")


def _another(seed: np.random.SeedSequence, which: int) -> np.random.Generator:
    """A generator that draws independently of the folds."""
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, which)))


def _sample(prepared: Prepared, truth: Floats | None) -> Sample:
    """What is searched on."""
    frame = prepared.frame
    sample = Sample(
        prepared.X, frame.codes, frame.weights, prepared.contrasts(), prepared.level_weights, frame.response.levels,
        prepared.coupling, kind_of(prepared.calibration, int(np.count_nonzero(frame.weights > 0))), truth=truth,
    )  # fmt: skip
    labels = None if frame.grouping is None else frame.grouping.codes
    return sample.with_units(labels, frame.weight_type == "frequency")


def _in_given_folds(sample: Sample, folds: Any, frame: ModelFrame) -> Sample:
    """The sample in folds that are no number."""
    labels = None if is_splitter(folds) else fold_labels(folds, frame.data, frame.rows, frame.weights > 0)
    groups = None if frame.grouping is None else frame.grouping.ordered
    given = given_splits(folds, labels, frame.X, frame.codes, frame.weights > 0, sample.units, groups)
    return replace(sample, given=given).in_folds(given.count, np.random.default_rng())


def _refuse_given_folds(plan: Plan, folds: Any, nested: int | None) -> None:
    """Refuse folds that are no number where none are held out, or where further ones must be drawn."""
    what = type(folds).__name__ if is_splitter(folds) else "labels of rows"
    if plan.folds is None:
        raise ArgumentError(
            f"folds ({what}) is for criterion='kfold', minimax and neyman_pearson, which hold out folds."
        )
    if nested is not None:
        raise ArgumentError(f"folds ({what}) and nested are not allowed together: nested draws folds within folds.")


def _refuse_unseen(prepared: Prepared, held: pd.DataFrame) -> None:
    """Held-out rows with a level of a factor that no other row has have no decision value."""
    try:
        prepared.frame.design.transform(held)
    except DataError as error:
        raise DataError(
            f"the rows that are held out to set the threshold cannot be predicted by a fit to the others ({error}) "
            "Another rng holds out others; a rare level of a factor may be joined with another."
        ) from error


def _column_of(name: str, given: object, data: pd.DataFrame) -> tuple[Hashable, ...]:
    """The column that an argument names, which ``.`` in a formula does not stand for."""
    column = named_column(name, given, data, "label" if name == "folds" else "number")
    return () if column is None else (column,)
