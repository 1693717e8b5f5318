"""What a reader of a summary should not overlook, in words."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Floats
from svmstat._tools.texts import counted
from svmstat.diagnostics import Evidence
from svmstat.diagnostics.copies_seen import warning_of_copies
from svmstat.diagnostics.worth import balanced_folds, few_rows, short_of_balance
from svmstat.kernels import Kernel
from svmstat.machine import Pair
from svmstat.objective import predictive
from svmstat.reporting.rendering.lines import listed
from svmstat.reporting.rendering.values import literal
from svmstat.results.resampled import Resampled
from svmstat.solver import lost_beside_margins

_ALIKE, _UNLIKE = 0.95, 0.05
"""Mean kernel value of two rows, in units of K(x, x), beyond which a kernel sees all rows alike, or none."""

_NEAR = 0.1
"""The kernel value of a row and its nearest from which on it does resemble one."""

_MOST_BOUNDED, _RANKS, _WRONG_WAY = 0.9, 0.8, 0.4
"""The share of rows at their bound where a larger C changes f, the in-sample AUC from which on f has an order, and the
held-out AUC up to which it is turned round."""

_OFTEN = 0.05
"""The share of rows in which the rule and the probabilities may call for different levels without a word."""

_RARE = 0.1
"""Probabilities that are all below this are told to two digits."""

_MOVING = 1.2
"""How many times the least weight of a class that of another is where weights may be why it is always predicted."""

_LONG, _SHORT = 100, 60
"""Characters of a formula that is not repeated, and of another argument that is."""

_FOLDS = 5
"""Those of a search if nobody says how many."""

_SAMPLE = 200
"""Rows from which that is estimated."""

_LARGER = "larger C"
"""What is advised where C is too small."""

_ADVISED = {"C": (_LARGER,), "gamma": ("larger gamma", "smaller gamma")}
"""By which words another value of what was given is."""

_ROUNDING = 1e-9
"""The share of a score by which two of them may differ without a word."""


def trouble(fit: Resampled, held_out: Evidence | None) -> Iterator[str]:
    """What makes a fit worthless, and what to do about it."""
    if held_out is not None:
        turned = _turned_round(fit, held_out)
        yield from _not_held_out(held_out)
        yield from _no_better(held_out, held_out.rsquared <= 0.0 and _errs_less(held_out), hidden=bool(turned))
        yield from _hides_its_order(fit, held_out, turned)
        yield from warning_of_copies(held_out)
    level = fit.apparent.predicts_one_level
    if level is not None:
        yield f"it predicts {fit.response_name} = {level} for every row: {_cause(fit, level)}."
    elif held_out is not None:
        yield from _more_errors(fit, held_out)
    if _has_own_maps(fit):
        yield (
            "Probabilities are by the map of the fit's own decision values where a level has no row that can be held "
            "out; they promise too much."
        )


def _not_held_out(held_out: Evidence) -> Iterator[str]:
    """Where numbers are missing since rows could not be held out."""
    if held_out.n_failed and np.isnan(held_out.score):
        yield (
            f"{counted(held_out.n_failed, 'row')} could not be held out, and held-out numbers that need them are "
            "missing. Sensitivity, specificity and confusion are of the others."
        )


def _has_own_maps(fit: Resampled) -> bool:
    """Whether a map had to be that of the fit's own decision values."""
    return fit.has_maps and bool(fit.fitted_maps().own.any())


def _more_errors(fit: Resampled, held_out: Evidence) -> Iterator[str]:
    """Where who always says the same errs no more, each error weighed as the fit weighs it."""
    own, base, of, same = held_out.error_rate, held_out.base_error, "of the rows", "the commonest level"
    if fit.class_weight is not None and not np.isnan(own):
        cells = held_out.confusion.to_numpy() * np.array([[fit.class_weight[level]] for level in fit.classes])
        by_level = cells.sum(axis=1)
        own, base = 1.0 - np.array([cells.trace(), by_level.max()]) / by_level.sum()
        of, same = "of what errors can cost", fit.classes[int(by_level.argmax())]
    if own >= base:
        yield f"held out it errs in {own:.4f} {of}, and who always says {same} in {base:.4f}."


def _errs_less(held_out: Evidence) -> bool:
    """Whether it errs less than who always says the commonest level, beyond two standard errors."""
    return bool(held_out.error_rate + 2.0 * held_out.error_rate_se < held_out.base_error)


def _no_better(held_out: Evidence, errs_less: bool = False, *, hidden: bool = False) -> Iterator[str]:
    """Where the class frequencies predict as well, as far as can be told, and what f tells may be ``hidden``."""
    found, se = held_out.rsquared, held_out.rsquared_se
    corrected = " corrected for tuning" if held_out.is_corrected else ""
    numbers = f"(R-squared{corrected} {found:.3f}{'' if np.isnan(se) else f' +- {se:.3f}'}"
    if found <= 0.0:
        what = (
            "what f tells, if anything, is hidden, see below." if hidden else "this fit does not tell the levels apart."
        )
        if errs_less:
            errors = f"({held_out.error_rate:.4f}, {held_out.base_error:.4f})"
            what = f"it errs less than who always says the commonest level {errors}, but its probabilities are off."
        yield f"held out, the probabilities are no better than the class frequencies {numbers}): {what}"
    elif found <= 2.0 * se:
        yield (
            f"held out, the probabilities are hardly better than the class frequencies {numbers}, less than two "
            "standard errors)."
        )


def _hides_its_order(fit: Resampled, held_out: Evidence, turned: list[float]) -> Iterator[str]:
    """Where f ranks the levels of its rows, and moves by more than it differs when one of them is left out."""
    if turned:
        folds = balanced_folds(held_out)
        by_folds = fit.event is not None and folds is not None and not short_of_balance(held_out, folds)
        pairs = "" if fit.event is not None else f" of {counted(len(turned), 'pair')} of levels"
        yield (
            f"f{pairs} ranks its own rows (AUC {min(turned):.3f}{' or more' * (len(turned) > 1)}), and held-out rows "
            f"the wrong way: at C = {fit.C:.4g} nearly all are at their bound, and without a row of a level the "
            f"intercept moves away from it. A {_LARGER}{', or folds, tell' if by_folds else ' tells'} what f is worth."
        )


def _turned_round(fit: Resampled, held_out: Evidence) -> list[float]:
    """The in-sample AUC of the pairs of levels that f ranks in its own rows, and the wrong way in held-out ones."""
    if fit.nu is not None or np.min(held_out.auc) > 0.5 or not held_out.levels_move:
        return []
    bounded = fit.n_support["bounded"]
    shares = [bounded.sum() / fit.nobs] if fit.event is not None else bounded / fit.n_support["rows"]
    found = []
    for p, (pair, share) in enumerate(zip(fit.machine.pairs, shares, strict=True)):
        of_pair = np.isin(fit.frame.codes, (pair.first, pair.second)) & (fit.frame.weights > 0)
        event, weights = fit.frame.codes[of_pair] == pair.first, fit.frame.weights[of_pair]
        own, unseen = (
            predictive.auc(values[of_pair, p], event, weights).value
            for values in (fit.machine.decision_values, held_out.values)
        )
        if share > _MOST_BOUNDED and own > _RANKS and unseen < _WRONG_WAY:
            found.append(own)
    return [] if found and _are_all_unlike(fit) else found


def caution(fit: Resampled, held_out: Evidence | None, by_row: Evidence | None = None) -> Iterator[str]:
    """What the numbers depend on."""
    if held_out is not None and by_row is not None:
        yield from _knows_groups(held_out, by_row)
    if held_out is not None and fit.event is not None:
        yield from _undecided(fit, held_out)
    if few := few_rows(fit.response_name, _rows_of_levels(fit)):
        kind = "a map of held-out values" if fit.asked == "auto" else "the map of the probabilities"
        yield f"{few}{kind} is noisy, and so are all numbers of held-out rows."
    yield from _without_rows(fit)
    if fit.has_maps and fit.disagreement > _OFTEN:
        rule = "the votes of the pairs" if fit.event is None else "the sign of f"
        yield (
            f"predict() goes by {rule}, predict_proba() by maps of f: in {fit.disagreement:.4f} of the rows they call "
            "for different levels."
        )
    in_vain = tuple(fit.untuned) == ("C",) and _is_constant_for_all_costs(fit)
    if fit.untuned and not _has_own_maps(fit) and not in_vain:  # tune() has no score where a row cannot be held out
        values = {"C": fit.C, **fit.kernel_parameters}
        named = " and ".join(f"{name} = {values[name]:.4g}" for name in fit.untuned)
        many = len(fit.untuned) > 1
        yield (
            f"{named} {'are defaults' if many else 'is the default'}, chosen without a look at how well "
            f"{'they predict' if many else 'it predicts'}{_span(fit, held_out)}.{_by_the_data(fit, held_out)}"
        )


def _undecided(fit: Resampled, held_out: Evidence) -> Iterator[str]:
    """Where rows lie on the boundary itself, and which level they count as."""
    n = int(np.count_nonzero((held_out.values[:, 0] == 0.0) & (held_out.weights > 0.0)))
    other = next(level for level in fit.classes if level != fit.event)
    if n:
        yield (
            f"Held out, f is 0 in {counted(n, 'row')}: neither level is predicted, and errors count "
            f"{'it' if n == 1 else 'them'} as {fit.response_name} = {other}."
        )


def _rows_of_levels(fit: Resampled) -> pd.Series:
    """How many rows have each level; copies are counted where rows are independent."""
    if fit.weight_type == "frequency" and not fit.grouped:
        return fit.confusion.sum(axis=1)
    codes = fit.frame.codes[fit.frame.weights > 0]
    return pd.Series(np.bincount(codes, minlength=len(fit.classes)), index=fit.confusion.index)


def _without_rows(fit: Resampled) -> Iterator[str]:
    """Which levels of a categorical response no row has."""
    kind = getattr(getattr(fit, "response", None), "dtype", None)
    declared = kind.categories if isinstance(kind, pd.CategoricalDtype) else ()
    if lost := [str(level) for level in declared if fit.response.find(level) is None]:
        levels = "this level" if len(lost) == 1 else "these levels"
        yield f"No row has {fit.response_name} = {listed('', lost, '')}: the fit knows nothing of {levels}."


def _by_the_data(fit: Resampled, held_out: Evidence | None) -> str:
    """The search that would choose what was not chosen, of the same rows and machine; there is none for given nu.

    It leaves C, or gamma, open where another one is advised: no gamma helps where C is too small.
    """
    given = getattr(getattr(fit, "call", None), "given", {})
    if "nu" in given:
        return ""
    unheard = {"gamma", "degree", "coef0"} - set(fit.kernel_parameters)
    told_of = " ".join(trouble(fit, held_out))
    opened = [name for name, words in _ADVISED.items() if name in given and any(each in told_of for each in words)]
    left = {"formula", "data", *fit.untuned, *unheard, *opened}
    formula = "formula" if len(fit.formula) > _LONG else repr(fit.formula)
    told = "".join(f", {name}={_told(value)}" for name, value in given.items() if name not in left)
    if (folds := fit.usual_folds) is not None:  # of so many rows that leaving each of them out takes a while
        told += ", criterion='kfold'" + (f", folds={folds}" if folds < _FOLDS else "")
    also = f", {' and '.join(opened)} too" if opened else ""
    return f" By the data{also}: tune({formula}, data{told})."


def _told(value: object) -> str:
    """A short value as it was written.

    Examples
    --------
    >>> _told("linear"), _told({"fp": 1, "fn": np.float64(5.0)}), _told(np.arange(9))
    ("'linear'", "{'fp': 1, 'fn': 5.0}", '...')
    """
    text = literal(value) if isinstance(value, str | int | float | np.generic | dict | Kernel) else ""
    return text if 0 < len(text) <= _SHORT else "..."


def _knows_groups(by_group: Evidence, by_row: Evidence) -> Iterator[str]:
    """Where rows are predicted much better from other rows of their group than from other groups."""
    used = (by_group.weights > 0) & ~by_group.failed & ~by_row.failed
    if by_group.units is None or not used.any():
        return
    gain = (by_row.gains - by_group.gains)[used]
    found = predictive.score(gain, by_group.weights[used], by_group.units.among(used))
    if -found.value > max(2.0 * found.se, _ROUNDING * by_group.score) and by_row.score < by_group.score:
        yield (
            f"Held out by row the score, less that of the class frequencies, is {-found.value:.4g} better than by "
            f"group (standard error {found.se:.2g}): "
            "rows are predicted from other rows of their own group. For rows of new groups the column by group counts, "
            "and by row would promise too much."
        )


def _span(fit: Resampled, held_out: Evidence | None) -> str:
    if held_out is None or fit.event is None:
        return ""
    p = held_out.prob[fit.frame.weights > 0]
    if p.isna().any():
        return ""
    style = ".2g" if p.max() < _RARE else ".2f"
    return f" (the held-out probabilities span {p.min():{style}} to {p.max():{style}})"


def means_meet(fit: Resampled) -> bool:
    """Whether the means of both levels are one point to the kernel, of every pair without a margin."""
    lost = [pair for pair in fit.machine.pairs if pair.solution.norm_squared == 0.0]
    for pair in lost:
        y, w = pair.problem.signs, fit.machine.groups.weights[pair.rows]
        of_level = np.where(y > 0, w[y > 0].sum(), w[y < 0].sum())
        if lost_beside_margins(pair.problem, y * w / of_level) > 0.0:
            return False
    return bool(lost)


def _cause_by_nu(fit: Resampled) -> str:
    """Why the hulls of the levels meet."""
    if means_meet(fit):
        return (
            "to this kernel the means of the levels are the same, so that h = 0 whatever nu is; another kernel may "
            "tell rows apart"
        )
    return (
        "at this nu the reduced hulls of the levels meet (rho = 0); a larger nu reduces them further, and helps "
        "where they are only nearer to each other than rounding tells"
    )


def _are_all_unlike(fit: Resampled) -> bool:
    """Whether to the kernel no row resembles another."""
    alike = _alikeness(fit)
    return alike is not None and alike < _UNLIKE and _nearest(fit) < _NEAR


def _cause(fit: Resampled, level: object) -> str:
    """What most likely made it predict one level, and the remedy: rows on the wrong side are at their bound."""
    if not fit.converged:
        return "the solution is not certified, and its violation hides f"
    given = [name for name in ("priors", "costs") if getattr(fit.decision, name) is not None] or ["class weights"]
    weights = fit.decision.class_weight
    if weights[level] > _MOVING * min(weights.values()):
        return (
            f"{' and '.join(given)} move the rule so far that no row is beyond it; without them, or with a {_LARGER}, "
            "it may tell rows apart"
        )
    alike = _alikeness(fit)
    if alike is not None and alike > _ALIKE:
        return f"to this kernel all rows look alike; a larger gamma, or a {_LARGER}, lets f follow the predictors"
    if _are_all_unlike(fit):
        return "to this kernel no row resembles another; a smaller gamma lets rows learn from each other"
    if fit.nu is not None:
        return _cause_by_nu(fit)
    lost = _lost_of_constants(fit, level)
    if lost is not None:
        if min(lost) > 0.0:
            return (
                f"values of h, up to {max(lost):.1g}, are lost beside the intercept; a {_LARGER}, or predictors on a "
                "larger scale, shows them"
            )
        return (
            f"to this kernel a mean of the rows with {fit.response_name} = {level} is one of the others, so that h = 0 "
            "whatever C is; costs, class_weight or another kernel may tell rows apart"
        )
    more = "costs or class_weight for" if fit.class_weight is None else "more weight of"
    return (
        f"at C = {fit.C:.4g} all rows of a level are at their bound; a {_LARGER}, or {more} other levels, may tell "
        "rows apart"
    )


def _lost_of_constants(fit: Resampled, level: object) -> list[float] | None:
    """Of the pairs of a level, if h = 0 in all of them, what of h may be lost beside the intercept."""
    own = [fit.classes.index(level) in pair for pair in fit.machine.classes.tolist()]
    if not np.all(np.isinf(np.atleast_1d(fit.margin)[own])):
        return None
    return _lost([pair for pair, holds in zip(fit.machine.pairs, own, strict=True) if holds])


def _lost(pairs: Sequence[Pair]) -> list[float]:
    return [lost_beside_margins(each.problem, each.problem.signs * each.solution.alpha) for each in pairs]


def _is_constant_for_all_costs(fit: Resampled) -> bool:
    """Whether h = 0 in all pairs, and no other C changes that."""
    return bool(np.isinf(fit.margin).all() and fit.nu is None and max(_lost(fit.machine.pairs)) == 0.0)


def _alikeness(fit: Resampled) -> float | None:
    """The mean kernel value of different rows, in units of the mean K(x, x); None where that is not what it is."""
    if "gamma" not in fit.kernel_parameters or fit.kernel_name == "poly":
        return None
    return _mean_off_diagonal(_of_some_rows(fit))


def _nearest(fit: Resampled) -> float:
    """The median over rows of the kernel value with that which is most like it, in the same units."""
    K = _of_some_rows(fit)
    unit = K.diagonal().mean()
    return float(np.median((K - np.diag(np.full(len(K), np.inf))).max(axis=1)) / unit)


def _of_some_rows(fit: Resampled) -> Floats:
    X = fit.machine.X
    rows = np.linspace(0, len(X) - 1, min(len(X), _SAMPLE)).astype(int)
    return np.asarray(fit.kernel(X[rows], X[rows]))


def _mean_off_diagonal(K: Floats) -> float:
    """Of a matrix (m, m) in units of the mean of its diagonal.

    Examples
    --------
    >>> _mean_off_diagonal(np.array([[2.0, 1.0], [1.0, 2.0]]))
    0.5
    """
    m = len(K)
    return float((K.sum() - np.trace(K)) / (m * (m - 1)) / (np.trace(K) / m)) if m > 1 else 1.0
