"""``compare()``: models of the same rows by what they say of rows that they have not seen."""

import math
from collections import ChainMap, Counter
from collections.abc import Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from svmstat._tools.arrays import Codes
from svmstat._tools.checks import at_least, flag, workers
from svmstat._tools.keywords import calling_frame
from svmstat._tools.randomness import check_rng, seed_sequence
from svmstat.comparison import classifiers, regressions
from svmstat.comparison.judge import evidence, held_out, turned
from svmstat.comparison.machines import Machines
from svmstat.comparison.member import Member
from svmstat.comparison.observed import Observed, agreement, same_units
from svmstat.diagnostics import Comparison
from svmstat.diagnostics.comparison import IMPOSSIBLE
from svmstat.diagnostics.shape import Shape
from svmstat.errors import ArgumentError, ArgumentTypeError
from svmstat.formula import fold_labels
from svmstat.formula.response import Response
from svmstat.objective.units import are_groups
from svmstat.resampling.loops import one_blas_thread
from svmstat.resampling.nested import folds_for, log_likelihoods, nested_estimate, splits
from svmstat.resampling.splits import Splits, check_folds, given_splits, is_number, is_splitter, refuse_tables
from svmstat.results import SVMResults
from svmstat.results.resampled import copies_of
from svmstat.results.updated import data_of_folds


def compare(
    *models: Any,
    folds: Any = None,
    nested: bool = False,
    repeats: int = 5,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    **named: Any,
) -> Comparison:
    """Compare models of the same rows by their predictions of rows that they have not seen.

    Every row is left out in turn, or every group where the fits by `svm` have groups: these must be the same in all,
    hold for the other models too, and standard errors are over them. Everything else of a model stays as it was: the
    kernel, its parameters and the scaling of a machine, the smoothers and penalties of an additive model, the
    parameters of a classifier.

    Parameters
    ----------
    *models : model
        The first is the one that the others are compared with, of those that are named if all are. Each is a fit by
        `svm`; results of statsmodels: Logit, MNLogit, GLM or GLMGam with the family Binomial; or a classifier as those
        of scikit-learn with formula and data, ``(classifier, "y ~ x1 + x2", data)``. Its formula is read as that of
        `svm`, but the columns are not scaled, for which there are pipelines; it counts rows as often as the weights of
        the other models say, and its labels are the levels of the response, which its parameters may name.
    folds : int, splitter, column name or array_like, optional
        Leave out each of so many stratified folds instead of each row or group; or those of a splitter of scikit-learn
        that holds out no row twice, or of fold labels of the rows of the data of a fit by `svm`. Of a number of folds,
        and for ``nested``, a row of weight w is in one fold with all its weight; rows that are copies of each other may
        be in several, as may all that share a few discrete values, and are predicted by fits that have seen their like.
    nested : bool
        Whether to compute the difference of scores by nested cross-validation too [Bates, Hastie & Tibshirani 2023],
        for which every model is fitted 55 times for each of the ``repeats``.
    repeats : int
        The number of splits into ten folds for ``nested``; of fewer than 20 rows into folds of two or three.
    rng : int or Generator, optional
        On which, and on the order of the rows, the folds depend. Classifiers draw by a ``random_state`` of their own:
        with None their numbers are others in each call.
    n_jobs : int, optional
        Number of workers, as in `joblib.Parallel`.
    progress : bool
        Whether to show progress bars.
    **named : model
        Further models with the names that the table shows: ``compare(fit, logistic=logit)``.

    Returns
    -------
    Comparison

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For something that is no such model, or is not at the maximum of its likelihood.
    DataError
        If models differ in their rows, in the response, in the weights or in the groups; it says in which row first.
        If folds are to be drawn of a table of counts, whose rows can only be held out whole.

    Warns
    -----
    RefitWarning
        If refits of a classifier warned.
    LongRunWarning
        Before refits of a classifier that will take long.

    Examples
    --------
    >>> import statsmodels.api as sm
    >>> from svmstat import compare, datasets, svm
    >>> mackerel = datasets.load("mackerel")
    >>> columns = ["lon", "lat", "b_depth", "c_dist", "temp_20m"]
    >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", mackerel, C=16, gamma=0.25)
    >>> logit = sm.Logit(mackerel["egg_count"] > 0, sm.add_constant(mackerel[columns])).fit(disp=False)
    >>> compare(fit, logistic=logit).table[["score", "delta", "delta_se", "error_rate"]].round(3)
                score   delta  delta_se  error_rate
    model
    svm rbf   486.578   0.000       NaN       0.162
    logistic  508.171  21.593    19.237       0.192
    """
    env = calling_frame()
    at_least("repeats", repeats, 1)
    nested, progress, n_jobs = flag("nested", nested), flag("progress", progress), workers("n_jobs", n_jobs)
    check_rng("rng", rng)
    if nested and folds is not None and not is_number(folds):
        raise ArgumentError(
            f"folds={_called(folds)} and nested=True are not allowed together: the standard errors of nested "
            "splits are of random folds, and not of blocks of rows. Give a number of folds, or leave one of the two."
        )
    called = _named(models, named)
    with one_blas_thread():
        members, shape = _members(called, ChainMap(env.f_locals, env.f_globals), folds)
    reference = _reference(members)
    orders = [agreement(reference, member.observed) for member in members]
    for member in members:
        if isinstance(member, Machines):
            same_units(reference, member.observed)
    of_folds, of_nested = seed_sequence("rng", rng).spawn(2)
    rows, units = (reference.codes, reference.weights, reference.levels), reference.units
    grouped = are_groups(units)
    held = None if folds is None else _splits(folds, reference, members, of_folds)
    _refuse_tables(members, folds, nested)
    inner = splits(*rows, folds_for(reference.weights, units), repeats if nested else 0, of_nested, units)
    one_by_one = "leave-one-group-out" if grouped else "leave-one-out"
    how = one_by_one if held is None else held.told(reference.weights)
    found, tables = [], []
    for member, order in zip(members, orders, strict=True):
        said = turned(held_out(member, held, units, n_jobs, progress), member.observed, reference, order)
        optimism = member.fit.optimism if isinstance(member, Machines) else None
        copies = copies_of(member.fit, held) if isinstance(member, Machines) else None
        judged = evidence(how, shape, reference, said, order, held, optimism, member.observed.points, copies)
        found.append(judged if held is None else judged.without(held.never(reference.weights)))
        if nested:
            without = partial(member.without, n_jobs=n_jobs, progress=progress)
            tables.append(log_likelihoods(without, order, inner, reference.codes))
    differences = [nested_estimate(2.0 * (tables[0] - table), inner, reference.weights, units) for table in tables[1:]]
    rules, lost = tuple(map(_thresholds, members, orders)), tuple(int((table < IMPOSSIBLE).sum()) for table in tables)
    return Comparison(tuple(called), tuple(found), tuple(differences), repeats if nested else 0, rules, lost)


def _refuse_tables(members: Sequence[Member], folds: Any, nested: bool) -> None:
    """Refuse to draw folds of a table of counts, a row of which is all of a level at its point."""
    drawn = is_number(folds)
    if not (drawn or nested):
        return
    given = f"folds={folds}" if drawn else "nested=True"
    for member in members:
        if isinstance(member, Machines):
            refuse_tables(member.fit.machine, given)


def _thresholds(member: Member, order: Codes) -> tuple[float, ...]:
    """Those of the pairs of a machine, i before j in the ``order`` of the reference; empty where all are 1/2.

    Of a classifier whose rule weighs the levels they are not known.
    """
    if isinstance(member, classifiers.Classifiers) and classifiers.weighs_levels(member.classifier):
        return (math.nan,)
    if not isinstance(member, Machines):
        return ()
    place, fit = np.argsort(order), member.fit
    of_pair = {}
    for (one, other), pair in zip(place[np.array(fit.shape.response.pairs)], fit.machine.pairs, strict=True):
        p = pair.loss.threshold
        of_pair[min(one, other), max(one, other)] = round(float(p if one < other else 1.0 - p), 12)
    found = tuple(of_pair[pair] for pair in sorted(of_pair))
    return () if set(found) <= {0.5} else found


def _splits(folds: Any, reference: Observed, members: Sequence[Member], seed: np.random.SeedSequence) -> Splits:
    """What is held out together: a number of folds, or as they are given."""
    units, used = reference.units, reference.weights > 0
    n = len(used)
    if is_number(folds):
        n_groups = units.count if are_groups(units) else None
        count = check_folds(folds, n_groups, n_rows=int(np.count_nonzero(used)))
        fold = splits(reference.codes, reference.weights, reference.levels, count, 1, seed, units, nested=False)[0]
        how = f"{count} folds{' of groups' if are_groups(units) else ''}"
        return Splits(fold, fold == np.arange(count)[:, None], how)
    labels, fits = None, [member.fit for member in members if isinstance(member, Machines)]
    if not is_splitter(folds):
        if not fits:
            raise ArgumentTypeError(f"folds={_called(folds)} is not allowed: labels need a fit by svm().")
        known = [(data_of_folds(fit, folds), fit.frame.rows) for fit in fits]
        has = (each for each in known if isinstance(folds, str | int) and folds in each[0].columns)
        labels = fold_labels(folds, *next(has, known[0]), used)
    groups = next((fit.frame.grouping.ordered for fit in fits if fit.frame.grouping is not None), None)
    return given_splits(folds, labels, np.zeros((n, 1)), reference.codes, used, units, groups)


def _called(folds: Any) -> str:
    """What a message calls folds that are no number: a column by its name, all else by its kind."""
    return repr(folds) if isinstance(folds, str) else type(folds).__name__


def _named(given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The models by name; of models without one the kind is the name, numbered if there are several."""
    if len(given) == 1 and isinstance(given[0], list | dict) and not named:
        raise ArgumentError("the models are given one by one, as in compare(fit, logit): of a list, compare(*models).")
    if len(given) + len(named) < 2:
        number = "one" if given or named else "no"
        raise ArgumentError(f"{number} model is given: there must be two to compare, as in compare(fit, logit).")
    found, names = {}, [_default_name(model) for model in given]
    counts, seen = Counter(names), Counter[str]()
    for name, model in zip(names, given, strict=True):
        seen[name] += 1
        found[f"{name} {seen[name]}" if counts[name] > 1 else name] = model
    twice = next((name for name in named if name in found), None)
    if twice is not None:
        raise ArgumentError(f"the name {twice!r} is given to one model, and is what another is called without one.")
    for name, model in named.items():
        try:
            _default_name(model)
        except ArgumentTypeError as error:
            options = [each.name for each in signature(compare).parameters.values() if each.kind is each.KEYWORD_ONLY]
            raise ArgumentTypeError(f"{name}: {error} Options are {', '.join(options)}.") from error
        found[name] = model
    return found


def _default_name(model: Any) -> str:
    if isinstance(model, SVMResults):
        return f"svm {model.kernel_name}"
    if regressions.is_of_statsmodels(model) and hasattr(model, "model"):
        return regressions.default_name(model)
    if isinstance(model, tuple) and len(model) == 3 and classifiers.is_classifier(model[0]):
        return classifiers.default_name(model[0])
    if classifiers.is_classifier(model):
        raise ArgumentTypeError(
            f"the classifier {type(model).__name__} has no rows to be fitted to: give it with formula and data, as "
            f"({type(model).__name__}(...), 'y ~ x1 + x2', data)."
        )
    if isinstance(model, tuple):
        raise ArgumentTypeError(
            f"a tuple of {len(model)} is no model that can be compared: it must be a classifier of scikit-learn with "
            f"predict_proba, a formula and data, as (RandomForestClassifier(), 'y ~ x1 + x2', data).{_why(model)}"
        )
    if isinstance(getattr(model, "best", None), SVMResults):
        raise ArgumentTypeError(f"a {type(model).__name__} is no model that can be compared: give its .best.")
    raise ArgumentTypeError(
        f"an object of type {type(model).__name__} is no model that can be compared: give a fit by svm(), results of "
        f"statsmodels ({regressions.KINDS}), or a classifier with predict_proba, formula and data."
    )


def _why(given: tuple[Any, ...]) -> str:
    """What the first of a tuple lacks to be a classifier."""
    if len(given) != 3 or isinstance(given[0], str | type):
        return ""
    return f" {type(given[0]).__name__} has no {' and no '.join(classifiers.lacking(given[0]))}."


def _members(models: Mapping[str, Any], env: Mapping[str, Any], folds: Any) -> tuple[list[Member], Shape]:
    """The models as members, and the response; a classifier counts rows as often as the first other model does.

    A dot does not stand for the column that names the folds.
    """
    found: dict[str, Member] = {}
    responses: list[Response] = []
    for name, model in models.items():
        if isinstance(model, SVMResults):
            found[name] = Machines(name, model)
            responses.append(model.response)
        elif not isinstance(model, tuple):
            found[name] = regressions.read_results(name, model)
    known = [found[name].observed for name in models if name in found]
    for name, model in models.items():
        if isinstance(model, tuple):
            classifiers.refuse_frozen(name, model[0])
            frame = classifiers.design_of(model[1], model[2], env, (folds,) if isinstance(folds, str) else ())
            observed = classifiers.observed_of(name, frame, known[0].copies if known else None)
            found[name] = classifiers.Classifiers(observed, model[0], frame.X)
            responses.append(frame.response)
    if not responses:
        levels = known[0].levels
        responses = [Response("response", levels, levels[-1], np.dtype(object))]
    return [found[name] for name in models], Shape(responses[0])


def _reference(members: Sequence[Member]) -> Observed:
    """The rows by which the others are judged: those of a machine, a classifier, or else of the first model."""
    for kind in (Machines, classifiers.Classifiers):
        for member in members:
            if isinstance(member, kind):
                return member.observed
    return members[0].observed
