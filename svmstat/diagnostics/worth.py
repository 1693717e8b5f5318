"""How evidence is printed: in-sample beside held out, with what each number does not say."""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Floats
from svmstat.diagnostics.copies import copies_note
from svmstat.diagnostics.copies_seen import copies_left, warning_of_copies
from svmstat.diagnostics.evidence import Evidence
from svmstat.objective import predictive
from svmstat.objective.predictive import Estimate
from svmstat.objective.units import Units, are_groups
from svmstat.reporting.rendering.parts import Part, Table
from svmstat.reporting.rendering.values import or_none

_OF_ALL = {
    "score": ("-2 log-likelihood", "estimate"),
    "null_score": ("  by class frequencies", "estimate"),
    "ratio": ("R-squared, 1 - ratio", "share"),
    "rsquared": ("  corrected for tuning", "share"),
    "brier": ("Brier score", "share"),
    "error_rate": ("Error rate", "share"),
    "base_error": ("  always the commonest", "share"),
}
_OF_LEVEL = {
    "auc": "AUC",
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "calibration_slope": "Calibration slope",
    "calibration_intercept": "Calibration intercept",
}
LABELS = (*(label for label, _ in _OF_ALL.values()), *_OF_LEVEL.values())
"""In the order of the tables."""
_NOTHING = Estimate(math.nan, math.nan)

_OF_HELD_OUT = ("calibration_slope", "calibration_intercept")
"""In-sample the map makes these what they should be."""

_HELD_OUT = (
    "Standard errors take rows for independent; they are of what fits to samples of this size are worth, not of this "
    "fit. In simulations (python -m benchmarks validity evidence) +-1.96 of them, but for those of calibration, covers "
    "this in 0.79 to 0.97 of samples of 100 to 634 rows and in 0.66 to 0.93 of 50, of sensitivity and specificity in "
    "0.70 to 0.92 and 0.56 to 0.84: least for flexible kernels and columns of noise."
)
_OF_RARE = (
    " {where} one row in eleven was an event, that held for -2 log-likelihood and Brier score; the other numbers, in "
    "which fits to such samples differ widely, were covered in 0.00 to 0.99, and those of this very fit in 0.45 to "
    "0.98."
)
_RARE = 0.15
"""The share of one of two levels below which that is said; of more in proportion."""
_OF_WEAK = (
    " {where} the signal was weak, or a level had a fourth or a fifth of the rows, -2 log-likelihood and Brier score "
    "were covered in 0.75 to 0.94, R-squared and AUC in 0.45 to 0.91, sensitivity and specificity in 0.33 to 0.77, "
    "those of this very fit in 0.59 to 0.95 (python -m benchmarks validity evidence-weak); less where f is next to "
    "constant in some samples, for fits differ most then."
)
_UNEVEN_LEVELS, _WEAK = 0.6, 0.1
"""The share of a level, times the number of levels, and R², below which that is said."""
_OF_WEIGHED = (
    " {where} costs or priors, as here, weighed even levels 1 : 3 or 1 : 4, -2 log-likelihood, R-squared and Brier "
    "score were covered in 0.63 to 0.95, AUC and error rate in 0.43 to 0.95, sensitivity and specificity in 0.22 to "
    "0.94; where 1 : 10 in 0.31 to 0.60, in 0.67 to 0.95 and in 0.00 to 0.09; those of this very fit in 0.69 to 1.00 "
    "(python -m benchmarks validity evidence-weighed)."
)
"""Said where the weighed share of a level, times the number of levels, is that of uneven ones."""
_OF_SUPPORT = (
    " {where} three in four rows or more were support vectors, as of this fit, -2 log-likelihood, R-squared and Brier "
    "score were covered in 0.56 to 0.96, AUC and error rate in 0.60 to 0.97, sensitivity and specificity in 0.00 to "
    "0.80, those of this very fit in 0.53 to 0.99 (python -m benchmarks validity evidence-small-costs): with a small C "
    "fits differ in whom they call what."
)
_MOST_SUPPORT = 0.75
"""The share of support vectors from which on that is said."""

_KNOWN = 0.1
"""The largest standard error of an AUC that tells something, where others do: of a level of a few rows it is larger."""

_FEW_OF_A_LEVEL = 30
"""Rows of a level; with fewer numbers of held-out rows are noisy."""

_RANKS = (
    "AUC of pooled held-out values is biased downwards, by 0.03 at 50 rows and 0.01 at 100 in the mean of simulations, "
    "by 0.03 at 100 where the signal is weak{rare} (python -m benchmarks validity evidence evidence-weak).{covered}"
)
_RANKS_OF_RARE = ", with one event in eleven rows by up to 0.13 at 50 and 0.04 at 100"
_RANKS_OF_SUPPORT = (
    " With C = 0.003 to 0.1, of 100 rows that are left out one by one, it was by up to 0.14 too low, in ten folds by "
    "0.03, and +-1.96 of its standard error covered it in 0.60 to 0.97 of samples (few evidence-small-costs)."
)
_USUAL = " +-1.96 of its standard error covered it with C = 1 in 0.80 to 0.96 of samples (few)."
"""Said where nothing else is."""
_RANKS_OF_MORE = (
    "AUC of pooled held-out values is biased downwards, in simulations of three levels by up to 0.07 of 100 rows that "
    "are left out one by one, with C = 0.003 by 0.14, in ten folds by 0.03. +-1.96 of its standard error covered it in "
    "0.68 to 0.91 of samples, with C = 0.003 in 0.54 to 0.89 (python -m benchmarks validity few)."
)
_NO_RANKS = (
    "AUC, errors, sensitivity and specificity of pooled values hang on more than the predictors where these tell "
    "little, or f little of them, as with a small C: without {one} the intercept moves away from its level, by which "
    "alone AUC may come near 0 and the error rate near 1, and standard errors know nothing of it."
)
_BALANCED = " fit.kfold({folds}) keeps the levels in balance{but}."
"""Where rows or groups are left out one by one."""
_BUT_FOR_A_ROW = " but for a row in each fold, by which an f next to constant moves too"
_BUT_FOR_GROUPS = " as far as whole groups allow"
_BUT_FOR_WEIGHTS = " as far as rows of such weights allow"
_OUT_OF_BALANCE = (
    "AUC is {alike:.3f} among rows whose fits have seen as many of each level, and {auc:.3f} of all: from fold to fold "
    "the intercept moves by more than f tells the levels apart, and errors, sensitivity and specificity suffer from it "
    "as well. {remedy}."
)
_NUMBERS_THAT_DIVIDE = "Folds whose number divides the rows of each level, or a larger C, avoid that"
_CLEARLY_LESS = 0.05
"""By how much AUC of all rows is less than that of these where it is said."""

_CALIBRATED = "Calibrated probabilities have slope 1 and intercept 0; "
_NEAR_BY = 0.25
"""How far from 1 a slope is still near it."""
_NEAR = (
    "where the map was fitted to held-out values they are near that by construction, and {how}.reliability() tells "
    "more."
)
_FAR = (
    "maps of held-out values bring them near that where there is much to be seen, and not with few events, a weak "
    "signal, or folds or groups whose fits differ. {how}.reliability() tells more."
)
NO_LINE = "there are none where the probabilities are all the same or class frequencies, or separate the levels."
_LACKING = "Without a prediction of every row there is no AUC, and no calibration."
_OF_LEVELS = (
    "the maps are of pairs of levels, and those of a level against the rest may be far from it: {how}.reliability() "
    "tells more."
)
_NO_LINE_OF_SOME = (
    " There are none for a level whose probabilities are all the same or class frequencies, or separate it from the "
    "rest."
)

_BY_GROUP = (
    "Groups are held out whole, and standard errors are over {G} groups, independent of each other: they are of what "
    "fits to this many groups are worth for rows of new groups, not of this fit. In simulations (python -m benchmarks "
    "validity groups groups-evidence) +-1.96 of that of -2 log-likelihood covers this in 0.82 to 0.89 of samples of 30 "
    "and 60 groups, and by row, where groups have an effect, in 0.68 to 0.82; by group that of R-squared, Brier score, "
    "AUC and error rate in 0.62 to 0.95, and of sensitivity and specificity in 0.50 to 0.82, least for a weak signal "
    "and large effects of groups.{few}"
)
_ROUND = 9.5
"""From here on such numbers are whole."""

_FEW_GROUPS = 30
"""Of one size; of fewer it is said that standard errors over them are too small, which has no sharp limit."""
_FEW = " With fewer than {least} groups such standard errors are too small in the mean [Cameron & Miller 2015]."
_UNEVEN = " Their sizes differ, and they count as about {alike} of one size [Kish 1965]."
_ALIKE = (
    "A standard error of 0 says that the rows are alike in this, as where none errs, and not that it is known without "
    "error what fits to such samples are worth."
)
_PROBABILITY = (
    "Weights are probability weights: numbers are weighted means, and standard errors those of {n} independent rows "
    "that carry their weights; strata and finite populations are not allowed for."
)

_ALIKE_ROWS, _MOSTLY = 100, 0.75
"""Rows of one weight below which standard errors were found to be too small; weights of which rows count as so large a
share of their number are nearly equal."""
_UNEVEN_WEIGHTS = (
    "The weights are uneven: {n} rows count as about {alike} of one weight [Kish 1965]. In simulations of weights that "
    "count as 18 to 89 rows (python -m benchmarks validity weights) {found}."
)
_OF_NUMBERS = (
    "+-1.96 of a standard error, but for those of calibration, covered what such fits are worth in 0.61 to 0.86 of "
    "samples, and of calibration what the very fit is worth in 0.60 to 0.86, but what such fits are worth in 0.00 to "
    "1.00; what follows is of equal weights"
)


def few_rows(response: str, rows: pd.Series) -> str:
    """That the rarest level, of ``rows`` (K,) by level, has few, as the beginning of a sentence; otherwise nothing."""
    least = rows.min()
    if least >= _FEW_OF_A_LEVEL:
        return ""
    have = "row has" if least == 1 else "rows have"
    return f"Only {least:.4g} {have} {response} = {rows.idxmin()}: with fewer than {_FEW_OF_A_LEVEL} "


_SCORE = "-2 log-likelihood of the rows by the fits without them is the CV score."

_NO_SE = 1e-12
"""A standard error up to this is 0, but for rounding."""

_FEW_LOSSES, _MOST_OF_ONE = 20, 0.25
"""Of so many rows or groups one may have this share of the score without a word."""

_LARGE_LOSS = -2.0 * np.log(0.02)
"""So large a mean loss of its copies or rows is that of next to no probability."""


def held_out_notes(held_out: Evidence) -> tuple[str, ...]:
    """What the numbers of held-out rows, and their standard errors, do not say."""
    *first, of_order, of_line = remarks = held_out_remarks(held_out)
    return remarks if of_line == _LACKING else (*first, f"{of_order} {of_line}")


def held_out_remarks(held_out: Evidence, by_level: bool = True) -> tuple[str, ...]:
    """The same one by one, as those of several fits are told apart; the last two are of ranks and of calibration.

    Without numbers that more than two levels have ``by_level`` these are not spoken of.
    """
    units = held_out.units
    of_ranks = _of_ranks(held_out) if by_level or held_out.shape.two else _of_errors(held_out)
    alike = (_ALIKE,) if any(each.se <= _NO_SE for _, _, each in numbers_of(held_out)) else ()
    if are_groups(units):
        units, weights = _left_out(units, held_out)
        few = few_groups(units, weights)
        of_hard = _of_hard(held_out, "Of independent rows, where")
        return _BY_GROUP.format(G=units.count, few=few) + of_hard, *alike, *of_ranks
    covered = _HELD_OUT + _of_hard(held_out, "Where")
    if units is None:
        return covered, *alike, *of_ranks
    carried = _PROBABILITY.format(n=units.count), *uneven_note(held_out.weights, units, _OF_NUMBERS)
    return *carried, covered, *alike, *of_ranks


def _left_out(groups: Units, held_out: Evidence) -> tuple[Units, Floats]:
    """The groups of which rows could be held out, which standard errors are over, and the weights of these rows."""
    if not lacks_predictions(held_out):
        return groups, held_out.weights
    rows = held_out.winner >= 0
    return groups.among(rows), held_out.weights[rows]


def _of_ranks(held_out: Evidence) -> tuple[str, ...]:
    """What is to be known of ranks and of calibration, or why there is nothing to be known."""
    if lacks_predictions(held_out):
        return (_LACKING,)
    return _of_order(held_out), f"{_CALIBRATED}{_of_line(held_out)}"


def _of_errors(held_out: Evidence) -> tuple[str, ...]:
    """What is to be known of error rates where there is no AUC beside them."""
    hangs = not lacks_predictions(held_out) and hang_on_the_intercept(held_out)
    return (_of_order(held_out),) if hangs else ()


def lacks_predictions(held_out: Evidence) -> bool:
    """Whether rows could not be predicted, and not only without a certificate, so that what needs all is missing."""
    return bool(getattr(held_out, "n_failed", 0) and np.isnan(np.asarray(held_out.auc, float)).all())


def uneven_note(weights: Floats, units: Units | None, found: str) -> tuple[str, ...]:
    """What was found in simulations of probability weights (n,) as uneven as these; nothing where they are not."""
    if units is None or units.grouped:
        return ()
    alike = units.alike(weights)
    if not count_as_few(units, alike, _ALIKE_ROWS):
        return ()
    return (_UNEVEN_WEIGHTS.format(n=units.count, alike=as_about(alike), found=found),)


def count_as_few(units: Units, alike: float, enough: int) -> bool:
    """Whether rows of probability weights count as fewer than are enough, and as clearly fewer than they are."""
    return alike < min(enough, _MOSTLY * units.count)


def few_groups(units: Units, weights: Floats) -> str:
    """That groups are few, or count as few since rows of weights (n,) are mostly in some of them; otherwise nothing."""
    alike = units.alike(weights)
    if alike >= _FEW_GROUPS:
        return ""
    return _UNEVEN.format(alike=as_about(alike)) * (units.count >= _FEW_GROUPS) + _FEW.format(least=_FEW_GROUPS)


def as_about(alike: float) -> str:
    """How many units of one size there are, not rounded to ten or more that they do not reach.

    Examples
    --------
    >>> as_about(7.24), as_about(29.6), as_about(30.0 - 1e-9)
    ('7.2', '29', '30')
    """
    return f"{alike:.2g}" if alike < _ROUND else str(int(round(alike, 6)))


def _of_hard(held_out: Evidence, where: str) -> str:
    """What standard errors cover where levels are uneven, the signal is weak, or C is small; otherwise nothing."""
    return _of_signal(held_out, where) + _OF_SUPPORT.format(where=where) * _are_support(held_out)


def _are_support(held_out: Evidence) -> bool:
    """Whether so many rows are support vectors that C is small."""
    return (getattr(held_out, "support", None) or 0.0) >= _MOST_SUPPORT


def _of_signal(held_out: Evidence, where: str) -> str:
    """The same of the levels and the signal."""
    rarest = _rarest(held_out)
    if np.isnan(rarest):
        return ""
    if rarest < 2.0 * _RARE:
        return _OF_RARE.format(where=where)
    if _are_weighed(held_out):
        return _OF_WEIGHED.format(where=where)
    return _OF_WEAK.format(where=where) * (rarest < _UNEVEN_LEVELS or held_out.rsquared < _WEAK)


def _rarest(held_out: Evidence) -> float:
    """The share of the rarest level, times the number of levels that were observed; NaN if none was."""
    observed = held_out.confusion.sum(axis=1)
    observed = observed[observed > 0.0]
    return float(observed.min()) * len(observed) / float(observed.sum()) if len(observed) else np.nan


def _are_weighed(held_out: Evidence) -> bool:
    """Whether costs, priors or class weights make levels uneven, more than their shares are."""
    factors = getattr(held_out, "level_weights", None)
    if factors is None:
        return False
    observed = held_out.confusion.sum(axis=1).to_numpy()
    shares = [each / each.sum() * len(each) for each in (observed * factors, observed)]
    return bool(shares[0].min() < min(_UNEVEN_LEVELS, shares[1].min()))


def on_one_row(held_out: Evidence) -> str | None:
    """What a single row, or group, has of the score, where that is so much that the score is of little else."""
    used = held_out.weights > 0
    units = held_out.units_of(used)
    weights = held_out.weights[used]
    of_rows = -2.0 * weights * held_out.log_likelihoods[used]
    losses, total = (of_rows, weights) if units is None else (units.sums(of_rows), units.sums(weights))
    if len(losses) < _FEW_LOSSES or not np.isfinite(losses).all() or losses.max() <= _MOST_OF_ONE * losses.sum():
        return None
    if losses.max() < _LARGE_LOSS * total[np.argmax(losses)] or np.sort(losses)[-2] > _MOST_OF_ONE * losses.sum():
        return None
    grouped = are_groups(units)
    one = "one group" if grouped else f"one row, {held_out.index[used][int(np.argmax(of_rows))]},"
    return (
        f"{one} has {losses.max():.4g} of {losses.sum():.4g}: what was fitted without it gave its level next to no "
        "probability, and what holds for the others is hardly seen"
    )


def _of_order(held_out: Evidence) -> str:
    """What is to be known of AUC and errors."""
    if not (hang_on_the_intercept(held_out) or ranks_a_level_the_wrong_way(held_out)):
        return _of_pooled_auc(held_out) if held_out.shape.two else _RANKS_OF_MORE
    folds = balanced_folds(held_out)
    advice = _BALANCED.format(folds=folds, but=short_of_balance(held_out, folds)) if folds else ""
    return _NO_RANKS.format(one=what_is_left_out(held_out)) + advice


def _of_pooled_auc(held_out: Evidence) -> str:
    """How far AUC is off where C, the folds and the levels are as here."""
    if told := out_of_balance(held_out):
        return told
    covered = "" if _of_hard(held_out, "") else _USUAL
    return _RANKS.format(
        rare=_RANKS_OF_RARE * (_rarest(held_out) < _UNEVEN_LEVELS),
        covered=_RANKS_OF_SUPPORT if _are_support(held_out) else covered,
    )


def out_of_balance(held_out: Evidence) -> str:
    """What folds with more of a level than others do to numbers of pooled rows, where that is much."""
    if not held_out.shape.two:
        return ""
    alike = _auc_of_alike(held_out)
    if not alike > held_out.auc + _CLEARLY_LESS:
        return ""
    remedy = "A larger C avoids that" if _has_weights(held_out) else _NUMBERS_THAT_DIVIDE
    return _OUT_OF_BALANCE.format(alike=alike, auc=held_out.auc, remedy=remedy)


def _has_weights(held_out: Evidence) -> bool:
    """Whether rows that count are not all one."""
    return bool((held_out.weights[held_out.weights > 0] != 1.0).any())


def _auc_of_alike(held_out: Evidence) -> float:
    """Of two levels, the area over pairs of rows whose fits have seen the same weights of both; NaN if none have.

    Where folds are not in balance, f is that of another intercept from one to the next. Those of groups, and given
    ones, differ in more than that.
    """
    seen = getattr(held_out, "seen", None)
    if seen is None or not re.fullmatch(r"\d+ folds", held_out.how):
        return np.nan
    used = held_out.weights > 0
    strata = np.unique(seen[used], axis=0, return_inverse=True)[1].ravel()
    event = held_out.codes[used] == held_out.shape.shown[0]
    return predictive.auc_within(held_out.values[used, 0], event, held_out.weights[used], strata)


def balanced_folds(held_out: Evidence) -> int | None:
    """How many folds keep the levels in balance where rows, or groups, are left out one by one; None if none do.

    Each has two or more of them, and one of every level. A number that divides the rows of every level is taken unless
    it is less than half of the largest there can be. Copies of rows, which folds hold out together, are in no balance.
    """
    if not held_out.how.startswith("leave-one") or (held_out.copies and held_out.copies.seen):
        return None
    units, of_level = held_out.units, held_out.rows_of_levels.to_numpy()
    count = int(of_level.sum())
    if are_groups(units):
        used = held_out.weights > 0
        members = np.eye(len(of_level))[held_out.codes[used]]
        of_level, count = (units.among(used).sums(members) > 0).sum(axis=0), units.count
    most = min(10, count // 2, int(of_level.min()))
    exact = (folds for folds in range(most, (most - 1) // 2, -1) if not short_of_balance(held_out, folds))
    folds = next(exact, most)
    return folds if folds > 1 else None


def short_of_balance(held_out: Evidence, folds: int) -> str:
    """What so many folds lack of keeping the levels in balance."""
    if are_groups(held_out.units):
        return _BUT_FOR_GROUPS
    if _has_weights(held_out):
        return _BUT_FOR_WEIGHTS
    return _BUT_FOR_A_ROW * bool((held_out.rows_of_levels % folds).any())


def what_is_left_out(held_out: Evidence) -> str:
    """What a fit has not seen."""
    if not held_out.how.startswith("leave-one"):
        return "a fold"
    return "a group" if are_groups(held_out.units) else "a row"


def hang_on_the_intercept(held_out: Evidence) -> bool:
    """Whether AUC and errors may say more of the intercept of fits without a row than of the predictors.

    That is where rows or groups are left out one by one, and there is no signal to be seen, neither by R² nor by AUC,
    or a weak one that ranks some level the wrong way. A few rows to which next to no probability was given make an R²
    below 0 of a good ranking. A level of a few rows, whose AUC nobody knows, tells nothing beside others that are
    ranked.
    """
    found, se = held_out.rsquared, held_out.rsquared_se
    if found > 2.0 * se or not held_out.levels_move:
        return False
    auc, auc_se = np.atleast_1d(held_out.auc).astype(float), np.atleast_1d(held_out.auc_se).astype(float)
    lowest, known = auc - 2.0 * auc_se, auc_se <= _KNOWN
    if known.any() and lowest[known].min() > 0.5:
        auc, lowest = auc[known], lowest[known]
    ranks = bool(lowest.min() > 0.5)
    return bool(np.min(auc) < 0.5) or (found <= 0.0 and not ranks)


def ranks_a_level_the_wrong_way(held_out: Evidence) -> bool:
    """Whether that is so beyond doubt of two levels, or of one of several while others may be told apart."""
    if not np.min(held_out.auc) < 0.5 or not held_out.levels_move:
        return False
    return bool(np.any(held_out.auc + 2.0 * held_out.auc_se < 0.5))


def _of_line(held_out: Evidence) -> str:
    """What is to be known of the calibration."""
    how = _method_of(getattr(held_out, "how", ""))
    if not held_out.shape.two:
        return _OF_LEVELS.format(how=how) + _NO_LINE_OF_SOME * bool(np.isnan(held_out.calibration_slope).any())
    slope = held_out.calibration_slope
    return NO_LINE if np.isnan(slope) else (_NEAR if abs(slope - 1.0) <= _NEAR_BY else _FAR).format(how=how)


def _method_of(how: str) -> str:
    """Which method of a fit holds rows out as they are, of its own folds or of some that are given to it.

    Examples
    --------
    >>> [_method_of(how) for how in ("leave-one-out", "10 folds of groups", "4 folds of KFold, 3 rows never")]
    ['loo()', 'kfold(10)', 'kfold(...)']
    """
    own = re.match(r"(\d+) folds( of groups)?$", how)
    return f"kfold({own[1]})" if own else "kfold(...)" if "folds" in how else "loo()"


_CHOSEN = "The held-out numbers are those of the best of many fits, and too good for that: "
_CORRECTED = (
    "R-squared corrected for tuning is of rows that had no part in the choice [Tsamardinos, Greasidou & Borboudakis "
    "2018]. Its standard error is that of the ratio: in simulations (python -m benchmarks validity tuning) +-1.96 of "
    "it covers what the fit is worth on new rows in 0.82 to 0.92 of samples of 100 and 200 rows, with one event in "
    "nine rows in 0.60 to 0.70, without a signal in 0.50 to 0.58. The other numbers here are not corrected; "
    "nested=True in tune() repeats the search without the rows."
)
_NOT_CORRECTED = (
    "by how much is not known here. Rows that had no part in the choice tell, as in a nested search. If the search was "
    "by blocks of rows, which leave-one-out does not keep together, fit.kfold() of these blocks says more."
)


def chosen_notes(optimism: Sequence[float | None]) -> tuple[str, ...]:
    """What a choice does to the held-out numbers of fits, by how much their scores are too good; None: not chosen."""
    chosen = [each for each in optimism if each is not None]
    if not chosen:
        return ()
    return (_CHOSEN + (_NOT_CORRECTED if np.isnan(chosen).all() else _CORRECTED),)


def notes_of_held_out_alone(held_out: Evidence) -> tuple[str, ...]:
    """What is to be said where nothing but held-out numbers is printed."""
    copies = copies_note(held_out.weights, held_out.units)
    return _SCORE, *copies, *copies_left(held_out), *held_out_notes(held_out), *chosen_notes([held_out.optimism])


def warnings_of_held_out(held_out: Evidence) -> tuple[str, ...]:
    """What makes held-out numbers other than they seem."""
    of_one = on_one_row(held_out)
    return (*([] if of_one is None else [f"of the score {of_one}."]), *warning_of_copies(held_out))


def evidence_tables(apparent: Evidence, held_out: Evidence | None, by_row: Evidence | None = None) -> list[Part]:
    """The numbers of the fit's own rows and those of held-out rows, with standard errors of the latter.

    With R² of the latter as it would be if cost and kernel had not been chosen by them, where that is known; and of
    groups that are held out, for contrast, what it would be ``by_row``.
    """
    both = [apparent] if held_out is None else [apparent, held_out]
    found = [{label: value for label, _, value in _of_all(each)} for each in both]
    rows = [_row([each.get(label, _NOTHING) for each in found], label, style) for label, style, _ in _of_all(both[-1])]
    beside = {} if by_row is None else {label: value.value for label, _, value in numbers_of(by_row)}
    title = "Evidence" if held_out is None else f"Evidence (held out: {held_out.how})"
    if apparent.shape.two:
        of_event = [next(each.by_level())[1] for each in both]
        for name, label in _OF_LEVEL.items():
            known = [numbers[name] for numbers in of_event]
            if name in _OF_HELD_OUT:
                known[0] = _NOTHING
            if len(known) > 1 or name not in _OF_HELD_OUT:
                rows.append(_row(known, label, "share"))
    headers: tuple[str, ...] = ("in-sample", "held out", "std. error")[: 1 if held_out is None else 3]
    if by_row is not None:
        headers = ("in-sample", "held out by group", "std. error", "by row")
        rows = [(label, style, (*cells, or_none(beside.get(label, math.nan)))) for label, style, cells in rows]
    first = _table(headers, rows, title)
    return [first] if apparent.shape.two else [first, _by_level(both[-1])]


def held_out_tables(held_out: Evidence) -> list[Part]:
    """The numbers of held-out rows, with standard errors."""
    rows = [_row([each], label, style, se=True) for label, style, each in numbers_of(held_out)]
    table = _table(("value", "std. error"), rows, "")
    return [table] if held_out.shape.two else [table, _by_level(held_out)]


def numbers_of(evidence: Evidence) -> list[tuple[str, str, Estimate]]:
    """Label, style and value of the numbers of all levels; of two levels also those of the event."""
    rows = _of_all(evidence)
    if evidence.shape.two:
        of_event = next(evidence.by_level())[1]
        rows += [(label, "share", of_event[name]) for name, label in _OF_LEVEL.items()]
    return rows


def _of_all(evidence: Evidence) -> list[tuple[str, str, Estimate]]:
    """Those of all levels; a corrected R² has the standard error of the ratio."""
    found = evidence.estimates()
    shown = [name for name in _OF_ALL if name != "rsquared" or evidence.is_corrected]
    return [(*_OF_ALL[name], found[name]) for name in shown]


def _row(known: list[Estimate], label: str, style: str, se: bool = False) -> tuple[str, str, tuple[object, ...]]:
    """Label, style and cells; the standard error, if any, is that of the last."""
    values = [or_none(each.value) for each in known]
    return label, style, (*values, or_none(known[-1].se)) if se or len(known) > 1 else tuple(values)


def _table(headers: tuple[str, ...], rows: list[tuple[str, str, tuple[object, ...]]], title: str) -> Table:
    labels, styles, cells = zip(*rows, strict=True)
    return Table(headers, labels, cells, ("estimate",) * len(headers), title, row_styles=styles)


def _by_level(evidence: Evidence) -> Table:
    """One level against the rest; the standard errors are in the attributes."""
    found = list(evidence.by_level())
    names = [name for name in _OF_LEVEL if evidence.how != "in-sample" or name not in _OF_HELD_OUT]
    return Table(
        headers=tuple(_OF_LEVEL[name] for name in names),
        index=tuple(str(level) for level, _ in found),
        cells=tuple(tuple(or_none(numbers[name].value) for name in names) for _, numbers in found),
        styles=("share",) * len(names),
        title=f"By level, one against the rest ({evidence.how})",
    )
