"""Models side by side: what each says of rows that it has not seen, and how far apart they are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import refuse
from svmstat._tools.texts import counted
from svmstat.diagnostics.copies import copies_note
from svmstat.diagnostics.copies_seen import copies_left, copies_seen
from svmstat.diagnostics.evidence import Evidence
from svmstat.diagnostics.worth import (
    NO_LINE,
    balanced_folds,
    few_groups,
    hang_on_the_intercept,
    lacks_predictions,
    out_of_balance,
    short_of_balance,
    uneven_note,
    what_is_left_out,
)
from svmstat.objective.predictive import Estimate
from svmstat.objective.units import are_groups
from svmstat.reporting.plots import differences_plot
from svmstat.reporting.rendering.lines import cut, listed
from svmstat.reporting.rendering.parts import Table
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling.nested import folds_for

_PAIRED = "2 sqrt(n var(log p1 - log p2))"
_PAIRED_OF_WEIGHTED = "2 sqrt(n/(n - 1) sum w^2 (d - mean of w d)^2), d = log p1 - log p2, w with mean 1"

FEW = 100
"""With fewer rows a standard error is itself too uncertain [Sivula, Magnusson, Matamoros & Vehtari 2020]."""

_LEAST = float(np.log(np.finfo(float).tiny))

IMPOSSIBLE = float(np.log(1e-6))
"""The logarithm of what is next to no probability: of nested estimates, which square losses, a few such are all."""

_SCORES = {
    "score": ("CV score", "estimate"),
    "delta": ("difference", "estimate"),
    "delta_se": ("paired se", "estimate"),
    "delta_nested": ("nested difference", "estimate"),
    "nested_se": ("nested se", "estimate"),
}
_PREDICTIONS = {
    "rsquared": ("R-squared", "share"),
    "error_rate": ("error", "share"),
    "brier": ("Brier", "share"),
    "auc": ("AUC", "share"),
    "calibration_slope": ("slope", "share"),
    "mcnemar": ("McNemar p", "pvalue"),
}

_POOLED = (
    "AUC of pooled held-out values is biased downwards, most where rows are few and the signal is weak: "
    "fit.loo().summary() says by how much."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Printed):
    """M models of the same n rows.

    Attributes
    ----------
    names : tuple of str, length M
    evidence : tuple of Evidence, length M
        What each says of the rows by fits without them.
    nested : tuple of Estimate, length M − 1
        The score of each model but the first minus that of the first, by nested cross-validation; empty without.
    repeats : int
        The number of its splits.
    thresholds : tuple of tuple of float, length M
        The probabilities above which the rule of a model calls for a level, where costs, priors, class weights or ν
        make them others than 1/2; empty where they do not; NaN where they are not known, as of a classifier of
        scikit-learn with class weights.
    impossible : tuple of int, length M
        How many predictions of nested refits gave next to no probability to what was observed; empty without.
    """

    names: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    nested: tuple[Estimate, ...] = ()
    repeats: int = 0
    thresholds: tuple[tuple[float, ...], ...] = ()
    impossible: tuple[int, ...] = ()

    def __getitem__(self, name: str) -> Evidence:
        """The evidence of a model by its name.

        Raises
        ------
        ArgumentError
            If there is none.
        """
        known = dict(zip(self.names, self.evidence, strict=True))
        if name not in known:
            raise refuse("name", name, f"one of {', '.join(map(repr, self.names))}")
        return known[name]

    @property
    def how(self) -> str:
        """How rows were held out, such as "leave-one-out"."""
        return self.evidence[0].how

    def _differences(self) -> list[Estimate]:
        """Score minus that of the first model, with the paired standard error 2 √(n · var(log π¹ − log π²))."""
        first, *others = self.evidence
        return [Estimate(0.0, np.nan), *(other.score_above(first) for other in others)]

    @property
    def table(self) -> pd.DataFrame:
        """A row for each model.

        ``rows`` that count; ``score``, −2 Σ w log π; ``delta`` to the first model and ``delta_se``, paired;
        ``delta_nested`` and ``nested_se`` if they were asked for; ``rsquared``, ``error_rate`` and ``brier`` as an
        `Evidence` has them, R² corrected where `tune` has chosen, of two levels ``auc`` and ``calibration_slope``;
        ``mcnemar``, the exact p-value of the errors against those of the first model, NaN where weights are no whole
        numbers, rows not independent, a row has no prediction, a rule weighs the levels, or rows were left out one by
        one and one of the models tells next to nothing.
        """
        differences = self._differences()
        columns: dict[str, Any] = {
            "rows": [int((each.weights > 0).sum()) for each in self.evidence],
            "score": [each.score for each in self.evidence],
            "delta": [each.value for each in differences],
            "delta_se": [each.se for each in differences],
        }
        if self.nested:
            columns["delta_nested"] = [0.0, *(each.value for each in self.nested)]
            columns["nested_se"] = [np.nan, *(each.se for each in self.nested)]
        names = ["rsquared", "error_rate", "brier"]
        if self.evidence[0].shape.two:
            names += ["auc", "calibration_slope"]
        columns |= {name: [getattr(each, name) for each in self.evidence] for name in names}
        columns["mcnemar"] = [np.nan, *map(self._mcnemar, range(1, len(self.names)))]
        return pd.DataFrame(columns, index=pd.Index(self.names, name="model"))

    def _mcnemar(self, k: int) -> float:
        return np.nan if k in self._weighed else mcnemar(self.evidence[0], self.evidence[k])

    @property
    def _other_rules(self) -> tuple[int, ...]:
        """The places of models that weigh the levels otherwise than the first: these do not aim at the same errors."""
        return tuple(k for k, each in enumerate(self.thresholds) if each != self.thresholds[0])

    @property
    def _weighed(self) -> tuple[int, ...]:
        """The places of models of which, or of the first, the rule weighs the levels: errors are not what it is for."""
        return tuple(k for k, each in enumerate(self.thresholds) if k > 0 and (each or self.thresholds[0]))

    def plot(self, ax: Any = None) -> Any:
        """Differences of the scores from the first model, with ± their standard errors. Returns the Axes."""
        table = self.table
        nested = (table["delta_nested"], table["nested_se"]) if self.nested else None
        return differences_plot(self.names, table["delta"], table["delta_se"], nested=nested, ax=ax)

    def summary(self) -> Summary:
        """The table, what its standard errors cover, and what went wrong."""
        table = self.table
        if not self._tested_by_errors or (self._weighed and table["mcnemar"].isna().all()):
            table = table.drop(columns="mcnemar")
        slope = " (slope: of their calibration, 1 is best)" if "calibration_slope" in table else ""
        parts = tuple(
            _part(table, {name: shown for name, shown in columns.items() if name in table}, title)
            for columns, title in (
                (_SCORES, ""),
                (_PREDICTIONS, f"Predictions of rows not seen{slope}"),
            )
        )
        units = self.evidence[0].units
        groups = f" in {units.count} groups" if are_groups(units) else ""
        title = f"Comparison of models ({self.how}, {table['rows'].iloc[0]} rows{groups})"
        return Summary(title, parts, tuple(self._notes(table)), tuple(self._warnings()))

    def _notes(self, table: pd.DataFrame) -> list[str]:
        first, units, weights = self.names[0], self.evidence[0].units, self.evidence[0].weights
        n = float(weights.sum() if units is None else np.count_nonzero(weights))
        notes = [
            f"CV score: -2 log-likelihood of the rows by fits without them; differences are from {first}, and negative "
            "where a model is better.",
            f"Paired se: over {units.count} groups, independent of each other, of the sums of 2 (log p1 - log p2) in "
            "each; it is of the expected difference of models fitted to this many groups." + few_groups(units, weights)
            if are_groups(units)
            else f"Paired se: {_PAIRED if units is None else _PAIRED_OF_WEIGHTED}, rows taken as independent; it is of "
            "the expected difference of models fitted to samples of this size. "
            + COVERAGE
            + _OF_WEIGHED * any(self.thresholds),
            *copies_note(self.evidence[0].weights, units),
            *copies_left(self.evidence[0]),
            *uneven_note(self.evidence[0].weights, units, _OF_UNEVEN),
        ]
        if self.nested:
            folds = folds_for(self.evidence[0].weights, units)
            splits = "1 split" if self.repeats == 1 else f"{self.repeats} splits"
            notes.append(
                f"Nested: {splits} into {folds} folds (Bates, Hastie & Tibshirani 2023), corrected for the size of the "
                f"fits; its se is kept between the naive one of these folds and sqrt({folds}) of it."
            )
        notes.append("No such standard error makes a test: both models, and all their refits, have seen the same rows.")
        notes += filter(None, map(_choice, self.names, self.evidence))
        if n < FEW and not are_groups(units):
            notes.append(
                f"With {n:.6g} rows, fewer than {FEW}, se is itself too uncertain for a judgement of differences that "
                "are not large (Sivula, Magnusson, Matamoros & Vehtari 2020)."
            )
        if not self._tested_by_errors:
            untestable = not self.evidence[0].draws_labels
            needs = "independent rows whose weights are whole numbers" if untestable else "a prediction of every row"
            notes.append(f"No McNemar p: it takes {needs}.")
        elif "mcnemar" in table and table["mcnemar"].notna().any():
            few_values = any(each.points is not None for each in self.evidence)
            notes.append(_MCNEMAR + _OF_FEW_VALUES * few_values)
        no_p = "No McNemar p" if self._tested_by_errors else "The error rates are not to be compared"
        if self._other_rules:
            others = [self.names[k] for k in self._other_rules]
            own, weigh = ("its rule", "weighs") if len(others) == 1 else ("their rules", "weigh")
            notes.append(
                f"{no_p} of {', '.join(others)}: {own} {weigh} the levels otherwise than that of {first} (costs, "
                "priors, class_weight or nu), and the number of errors is not what both are to keep small."
            )
        if alike := [k for k in self._weighed if k not in self._other_rules]:
            notes.append(
                f"{no_p} of {', '.join(self.names[k] for k in alike)} and {first}: their rules weigh the levels "
                "(costs, priors, class_weight or nu), the number of errors is not what they are to keep small, and it "
                "varies much from fit to fit."
            )
        two, untold = self.evidence[0].shape.two, self._without_errors()
        if untold or two:
            notes.append(untold or _POOLED)
        named = zip(self.names, self.evidence, strict=True)
        notes += [f"{name}: {told}" for name, each in named if (told := out_of_balance(each))]
        if not two:
            notes.append("Of more than two levels AUC and calibration are by level: comparison[name].auc.")
        else:
            notes += self._without_slopes()
        return notes

    def _without_slopes(self) -> list[str]:
        """Why some models have no calibration line."""
        without = [k for k, each in enumerate(self.evidence) if np.isnan(each.calibration_slope)]
        lost = [self.names[k] for k in without if lacks_predictions(self.evidence[k])]
        none = [self.names[k] for k in without if not lacks_predictions(self.evidence[k])]
        found = [f"No slope of {', '.join(lost)}: there is none without a prediction of every row."] if lost else []
        return found + ([f"No slope of {', '.join(none)}: {NO_LINE}"] if none else [])

    @property
    def _tested_by_errors(self) -> bool:
        """Whether the errors of some model could be tested against those of the first."""
        return any(_error_counts(self.evidence[0], each) is not None for each in self.evidence[1:])

    def _without_errors(self) -> str | None:
        """Why there is no p-value of the errors of some models."""
        which = [name for name, each in zip(self.names, self.evidence, strict=True) if hang_on_the_intercept(each)]
        if not which:
            return None
        first = self.evidence[0]
        one, folds = what_is_left_out(first), balanced_folds(first)
        but = short_of_balance(first, folds) if folds else ""
        others_tell = any(each.rsquared > 2.0 * each.rsquared_se for each in self.evidence)
        they = "it tells" if len(which) == 1 else "they tell"
        since = f"{they} little of what the predictors do" if others_tell else "the predictors tell little"
        told = (
            f"AUC and errors of {', '.join(which)} hang on how the intercept moves when {one} is left out, since "
            f"{since}{f'; folds={folds} keeps the levels in balance{but}' if folds else ''}."
        )
        if not self._tested_by_errors:
            return told
        return (
            f"{told} So McNemar p is left out: of models that err equally often it was 0.05 or less in 0.23-0.29 of "
            "such samples."
        )

    def _of_copies(self) -> list[str]:
        """Which models have seen copies of what they predict."""
        of: dict[str, list[str]] = {}
        for name, each in zip(self.names, self.evidence, strict=True):
            for seen in copies_seen(each):
                of.setdefault(seen, []).append(name)
        return [f"{', '.join(names)}: {seen}" for seen, names in of.items()]

    def _warnings(self) -> list[str]:
        found = self._of_copies()
        for name, each in zip(self.names, self.evidence, strict=True):
            if each.n_failed:
                what = "row was" if each.n_failed == 1 else "rows were"
                found.append(
                    f"{name}: {each.n_failed} {what} predicted by refits that are not at their optimum or have lost a "
                    "class, as where classes can be separated, or where too few rows are left for nu; their "
                    "probabilities are those of the last step, and missing where there is no fit."
                )
            if lost := dict(zip(self.names, self.impossible, strict=False)).get(name, 0):
                found.append(
                    f"{name}: {counted(lost, 'prediction')} of nested refits gave what was observed next to no "
                    "probability, as where levels are separated without some rows: the nested difference and its se "
                    "are of little else."
                )
            never = int(np.count_nonzero((each.log_likelihoods <= _LEAST) & (each.weights > 0)))
            if never:
                what = "row has" if never == 1 else "rows have"
                least = f"{np.exp(_LEAST):.1e}"
                found.append(f"{name}: {never} {what} a level to which it gave probability 0, which counts as {least}.")
        return found

    def __repr__(self) -> str:
        first = f"{cut(self.names[0], 30)}: score {self.evidence[0].score:.6g}"
        others = zip(self.names[1:], self._differences()[1:], strict=True)
        differences = [f"{name} {each.value:+.4g}" for name, each in others]
        return listed(f"<Comparison: n = {len(self.evidence[0].index)}, {self.how}; {first}; ", differences, ">")


def _choice(name: str, evidence: Evidence) -> str | None:
    """What it means for a model that `tune` has chosen it."""
    if evidence.optimism is None:
        return None
    by = f", its score by some {evidence.optimism:.2g}" if evidence.is_corrected and evidence.optimism else ""
    corrected = " (R-squared is corrected)" if evidence.is_corrected else ""
    return (
        f"{name} is the best of many fits by tune(): its numbers are too good for that{by}{corrected}, and so are its "
        "differences from models that were not chosen by the same rows [Tsamardinos, Greasidou & Borboudakis 2018]."
    )


_OF_UNEVEN = (
    "+-1.96 of the paired se covered the difference of the two fits in 0.73 to 0.84 of samples and the expected one in "
    "0.77 to 0.88"
)

_MCNEMAR = (
    "McNemar p: exact, of the rows that one model predicts wrongly and the other rightly, taken as independent. In "
    "simulations of models that err equally often it is 0.05 or less in 0.00-0.10 of samples (python -m benchmarks "
    "validity errors)."
)
_OF_FEW_VALUES = (
    " Of models of a factor alone it was in 0.02-0.20 (errors-factors): rows with equal predictors are predicted "
    "rightly or wrongly together."
)
COVERAGE = (
    "In simulations (n = 100 and 200) +-1.96 of it covers the difference of the two fits themselves, on new rows, in "
    "0.81-0.89 of samples and the expected one in 0.78-0.97, +-1.96 of the nested se in 0.90-0.95 and 0.89-0.99; where "
    "one row in five was an event in 0.71-0.89 and 0.60-0.97, 0.84-0.93 and 0.75-0.99 (Monte-Carlo se up to 0.04; "
    "python -m benchmarks validity comparison)."
)


_OF_WEIGHED = (
    " Where costs or priors weighed even levels 1 : 4, the difference from a logistic model was covered in 0.45-0.94 "
    "and 0.09-0.93, least with a linear kernel, with which f is constant in some samples (comparison-weighed)."
)


def mcnemar(first: Evidence, other: Evidence) -> float:
    """The exact p-value of the test of McNemar (1947) that either of two models is as often the only one that errs.

    NaN where weights are no whole numbers, rows come in groups, a row has no prediction, or the errors of one hang on
    the intercept of fits without a row.
    """
    counts = _error_counts(first, other)
    if counts is None or any(map(hang_on_the_intercept, (first, other))):
        return float("nan")
    return _binomial(counts)


def _error_counts(first: Evidence, other: Evidence) -> Floats | None:
    """(2,) how often either alone errs; None where that makes no test."""
    used = first.weights > 0
    weights = first.weights[used]
    one, two = first.error.to_numpy()[used], other.error.to_numpy()[used]
    if not first.draws_labels or np.isnan(one + two).any():
        return None
    return np.array([weights[one > two].sum(), weights[two > one].sum()])


def _binomial(counts: Floats) -> float:
    """Two-sided, of counts that are equally likely."""
    return float(min(1.0, 2.0 * bdtr(counts.min(), int(counts.sum()), 0.5)))


def _part(table: pd.DataFrame, columns: dict[str, tuple[str, str]], title: str) -> Table:
    cells = tuple(
        tuple(None if isinstance(value, float) and np.isnan(value) else value for value in row)
        for row in table[list(columns)].itertuples(index=False, name=None)
    )
    headers, styles = zip(*columns.values(), strict=True)
    return Table(headers, tuple(map(str, table.index)), cells, styles, title)
