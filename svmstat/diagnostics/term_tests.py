"""What terms of a formula are worth, and whether the response depends on them given the others."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.checks import refuse
from svmstat._tools.texts import counted
from svmstat.diagnostics.copies import copies_note
from svmstat.diagnostics.evidence import Evidence
from svmstat.diagnostics.worth import as_about, count_as_few, few_rows, on_one_row
from svmstat.objective.predictive import Estimate
from svmstat.objective.units import Units, are_groups
from svmstat.reporting.plots import differences_plot
from svmstat.reporting.rendering.lines import abridged, listed
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table
from svmstat.reporting.rendering.values import or_none, show
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling.covariance import Dependence, holm
from svmstat.resampling.nested import folds_for

NONE = "<none>"
"""How R's drop1 calls the model that nothing was dropped from."""

_TITLES = {"drop1": "Single term deletions", "add1": "Single term additions"}
_SAME = 1e-8
"""What f of two fits differs by, as a share of its spread, if it is the same."""
_OF_A_SEARCH = {
    "drop1": (
        "The fit is the best of many by tune(), and those without a term have its C and kernel: after a search of "
        "their own they may lose less, or nothing. tune([formula, ...], ...) searches for each formula."
    ),
    "add1": (
        "The fit is the best of many by tune(), and those with a term have its C and kernel: after a search of their "
        "own they may gain more. tune([formula, ...], ...) searches for each formula."
    ),
}
_DONE = {"drop1": "dropped", "add1": "added"}
_WORTH = {
    "delta_score": ("change", "estimate"),
    "se": ("paired se", "estimate"),
    "delta_nested": ("nested change", "estimate"),
    "nested_se": ("nested se", "estimate"),
}
_TEST = {
    "statistic": ("statistic", "estimate"),
    "df": ("df", "count"),
    "pvalue": ("p-value", "pvalue"),
    "pvalue_holm": ("Holm p", "pvalue"),
    "concurvity": ("concurvity", "share"),
}


@dataclass(frozen=True, slots=True)
class TermTest:
    """A term that was dropped from a fit, or added to it.

    Attributes
    ----------
    name : str
    with_it : tuple of str
        The terms that contain it, which were dropped too.
    evidence : Evidence
        What the other fit says of rows that it has not seen.
    dependence : Dependence
        The test of the response against the term's columns, given the others.
    nested : Estimate or None
        The change of the score by nested cross-validation.
    is_constant : bool
        Whether f of the other fit is constant, though there are predictors.
    fewest : float
        Of a term of levels: how many rows of its rarest level would have the rarest level of the response by chance.
        NaN of numbers.
    is_flat : bool
        Whether the other fit says the class frequencies of all rows that are held out, though its f is not constant.
    """

    name: str
    with_it: tuple[str, ...]
    evidence: Evidence
    dependence: Dependence
    nested: Estimate | None = None
    is_constant: bool = False
    fewest: float = math.nan
    is_flat: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class TermTests(Printed):
    """Terms, each dropped from a fit or added to it with everything else as it was.

    Attributes
    ----------
    kind : {"drop1", "add1"}
    formula : str
        Of the fit.
    evidence : Evidence
        What the fit says of rows that it has not seen.
    tests : tuple of TermTest
    repeats : int
        The number of splits of the nested folds, 0 without.
    function : str
        The name of the user's function that is the kernel or a part of it, if there is one.
    """

    kind: str
    formula: str
    evidence: Evidence
    tests: tuple[TermTest, ...]
    repeats: int = 0
    function: str = ""

    def __getitem__(self, name: str) -> TermTest:
        """The test of a term by its name.

        Raises
        ------
        ArgumentError
            If there is none.
        """
        known = {test.name: test for test in self.tests}
        if name not in known:
            raise refuse("name", name, f"one of {', '.join(map(repr, known))}")
        return known[name]

    def _change(self, test: TermTest) -> Estimate:
        return test.evidence.score_above(self.evidence)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each term.

        ``delta_score``, the score of the other fit minus that of the fit, and ``se``, 2 √(n · var(log π − log π')),
        paired; ``delta_nested`` and ``nested_se`` if they were asked for; ``statistic``, ``df`` and ``pvalue`` of the
        generalised covariance measure, NaN where there is no test, and ``pvalue_holm``, adjusted for all that there
        are; ``concurvity``, the part of the variance of the term's columns that the other predictors explain.
        """
        changes, found = [self._change(test) for test in self.tests], [test.dependence for test in self.tests]
        columns: dict[str, Any] = {
            "delta_score": [each.value for each in changes],
            "se": [each.se for each in changes],
        }
        nested = [test.nested for test in self.tests if test.nested is not None]
        if nested:
            columns["delta_nested"] = [each.value for each in nested]
            columns["nested_se"] = [each.se for each in nested]
        pvalues = np.array([each.pvalue for each in found])
        columns |= {
            "statistic": [each.statistic for each in found],
            "df": [each.df for each in found],
            "pvalue": pvalues,
            "pvalue_holm": holm(pvalues),
            "concurvity": [each.concurvity for each in found],
        }
        return pd.DataFrame(columns, index=pd.Index([test.name for test in self.tests], name="term"))

    def plot(self, ax: Any = None) -> Any:
        """Changes of the score, with ± their standard errors. Returns the Axes."""
        table = self.table
        names, delta, se = [NONE, *table.index], [0.0, *table["delta_score"]], [np.nan, *table["se"]]
        nested = None
        if "delta_nested" in table:
            nested = ([np.nan, *table["delta_nested"]], [np.nan, *table["nested_se"]])
        word = "without" if self.kind == "drop1" else "with"
        return differences_plot(
            names, delta, se, nested=nested, xlabel=f"CV score {word} the term minus that of the fit", ax=ax
        )

    def summary(self) -> Summary:
        """The table, what was dropped with what, and what the numbers are."""
        table, score = self.table, or_none(self.evidence.score)
        table.loc[self._same, ["delta_score", "se"]] = 0.0  # what else they are is rounding
        parts: tuple[Part, ...] = (
            Block(wide=(Entry("Model", abridged(self.formula)), Entry(f"CV score, {self.evidence.how}", score))),
            _part(table, _WORTH, f"With the term {_DONE[self.kind]}"),
            _part(table, _TEST, "Does the response depend on it, given the other predictors?"),
        )
        together = tuple(Entry(test.name, ", ".join(test.with_it)) for test in self.tests if test.with_it)
        if together:
            parts += (Block("Dropped with it, since they contain it", wide=together),)
        return Summary(_TITLES[self.kind], parts, tuple(self._notes()), tuple(self._warnings()))

    def _notes(self) -> list[str]:
        units = self.evidence.units
        what = "groups" if are_groups(units) else "rows"
        sense = "positive where it helps" if self.kind == "drop1" else "negative where it helps"
        notes = [
            f"Change: of the CV score, -2 log-likelihood of rows by fits without them, with the term "
            f"{_DONE[self.kind]}, {self.evidence.shape.strength} and kernel as they were: {sense}. Its se takes {what} "
            "for independent and makes no test: all fits have seen the same rows."
        ]
        notes += copies_note(self.evidence.weights, units)
        if self.evidence.optimism is not None:
            notes.append(_OF_A_SEARCH[self.kind])
        if self.function:
            notes.append(
                f"{self.function}() is called with the columns of each fit, in their order: a function that picks some "
                "of them by position has others then, and the change of the score is not of the term."
            )
        if are_groups(units):
            notes.append(
                f"The test of the generalised covariance measure is over {units.count} groups: residuals are held out "
                "by group, and the variance is that of their sums in groups. It needs 10 groups for each df."
            )
        if self.repeats:
            splits = "1 split" if self.repeats == 1 else f"{self.repeats} splits"
            folds = folds_for(self.evidence.weights, units)
            notes.append(f"Nested: {splits} into {folds} folds (Bates, Hastie & Tibshirani 2023), as in compare().")
        notes += [
            "Statistic, df, p-value: a sum of squares by the generalised covariance measure (Shah & Peters 2020), for "
            "H0, that the response does not depend on the term given the other predictors: do held-out residuals of "
            "the fit without it go with those of its columns, or of x and x squared? It is chi-squared for many rows, "
            "if both regressions are near the conditional means. " + SIZE,
            "It sees no effect that averages out over the other predictors, as one that changes its sign with another, "
            "and hardly one of a term of concurvity near 1: so much of it the others explain. Holm p: adjusted "
            "for the number of tests. Terms chosen by p-values leave a fit whose numbers look too good: "
            "tune([formula, ...], ...) compares formulas honestly.",
        ]
        return notes

    def _warnings(self) -> list[str]:
        lacking: dict[str, list[str]] = {}
        for test in self.tests:
            if test.dependence.why_not:
                lacking.setdefault(test.dependence.why_not, []).append(test.name)
        found = [
            f"{', '.join(names)}: no test, since {why if len(names) == 1 else why.replace('its ', 'their ', 1)}."
            for why, names in lacking.items()
        ]
        found += self._of_changes()
        if any(not test.dependence.why_not for test in self.tests):
            found += [*self._few_rows(), *self._rare_levels(), *self._many_levels(), *self._few_groups()]
        for name, each in [(NONE, self.evidence), *((test.name, test.evidence) for test in self.tests)]:
            if (of_one := on_one_row(each)) is not None:
                found.append(f"{name}: of the score {of_one}.")
            if each.n_failed:
                rows = counted(each.n_failed, "row")
                why = "held out, and the score is missing" if np.isnan(each.score) else "held out exactly"
                found.append(f"{name}: {rows} could not be {why}.")
        return found

    def _of_changes(self) -> list[str]:
        """Which changes of the score are not what they seem to be."""
        found = []
        how = "without" if self.kind == "drop1" else "with"
        if self.evidence.is_of_frequencies:
            found.append(
                "of rows that are held out this fit says the class frequencies, whatever its f: changes are from "
                "these, and do not say what a term tells beside the others."
            )
        if constant := [test.name for test in self.tests if test.is_constant]:
            found.append(
                f"{', '.join(constant)}: {how} it f is constant, with C, or nu, as it was: the change is that to the "
                "class frequencies, and not what the term adds to the others."
            )
        if flat := [test.name for test in self.tests if test.is_flat]:
            found.append(
                f"{', '.join(flat)}: {how} it held-out values tell nothing of the response, and the map from f to "
                "probabilities is flat: the change is that to the class frequencies, and not what the term adds to the "
                "others."
            )
        if same := self._same:
            found.append(
                f"{', '.join(same)}: every prediction is the same with the term and without, as where no part of the "
                "kernel reads its columns, or h of the term is 0: a change of 0 does not say what it could tell."
            )
        return found

    @property
    def _same(self) -> list[str]:
        """The terms with and without which the fit is the same."""
        return [test.name for test in self.tests if self._is_same(test)]

    def _is_same(self, test: TermTest) -> bool:
        """Whether f of the other fit is that of the fit at all rows, to 1e-8 of its spread, while either varies."""
        own, other = self.evidence.values, test.evidence.values
        seen = np.isfinite(own).all(axis=1)
        if own.shape != other.shape or not seen.any():
            return False
        spread = float(np.ptp(own[seen], axis=0).max())
        return spread > 0.0 and np.allclose(own, other, rtol=0.0, atol=_SAME * spread, equal_nan=True)

    def _few_rows(self) -> list[str]:
        """What the test does where a level is rare."""
        response, rows = self.evidence.shape.response.name, self.evidence.rows_of_levels
        if few := few_rows(response, rows):
            return [
                f"{few}the test of a number rejects a true H0 too often, at 0.05 in 0.11 of samples with 10 "
                "and 20 events of 200 rows, that of a factor whose levels have a third of the rows each in 0.03 to "
                "0.06 (python -m benchmarks validity rare-terms)."
            ]
        if rows.min() < _RARE_ROWS and rows.min() < _RARE_SHARE * rows.sum():
            least, total = (show(count, "count") for count in (rows.min(), rows.sum()))
            return [
                f"{least} of {total} rows have {response} = {rows.idxmin()}: where a level is so rare the test of a "
                "skewed number rejects a true H0 too often, at 0.05 in 0.18 to 0.24 of samples with "
                "40 to 60 events of 400 to 600 rows, that of a normal one, such as its logarithm may be, in 0.11 "
                "(python -m benchmarks validity rare-terms)."
            ]
        return []

    def _rare_levels(self) -> list[str]:
        """What the test does where a level of a factor has next to no rows of a level of the response."""
        rare = [test for test in self.tests if not test.dependence.why_not and test.fewest < _FEWEST]
        if not rare:
            return []
        each = ", ".join(f"{test.name} ({test.fewest:.2g})" for test in rare)
        name, rows = self.evidence.shape.response.name, self.evidence.rows_of_levels
        kind = "groups" if are_groups(self.evidence.units) else "rows"
        joined = any(test.with_it or ":" in test.name for test in rare)
        rarest = "combination of levels of each with its interactions" if joined else "level of each"
        return [
            f"{each}: so many {kind} of the rarest {rarest} would have {name} = {rows.idxmin()} by chance, fewer "
            f"than {_FEWEST}. There the test rejected a true H0 at 0.05 in 0.30 to 0.32 of samples where one row "
            "would, in 0.10 to 0.16 where about two, in 0.05 to 0.12 where about three (python -m benchmarks validity "
            "rare-levels)."
        ]

    def _many_levels(self) -> list[str]:
        """What the test does where a term has many degrees of freedom for the rows."""
        units, weights = self.evidence.units, self.evidence.weights
        rows = weights.sum() if units is None else units.count
        each = [(test.name, test.dependence) for test in self.tests if not test.dependence.why_not]
        names = [name for name, found in each if found.df >= _MANY_DF and rows < _FEW_FOR_EACH * found.df]
        if not names:
            return []
        return [
            f"{', '.join(names)}: fewer than {_FEW_FOR_EACH} rows or groups for each df. There the test rejected a "
            "true H0 at 0.05 in 0.05 to 0.14 of samples (python -m benchmarks validity many-levels)."
        ]

    def _few_groups(self) -> list[str]:
        """What the test does over few groups, or where rows are mostly in some of them."""
        units = self.evidence.units
        if units is None:
            return []
        alike = units.alike(self.evidence.weights)
        if not units.grouped:
            return _uneven_weights(units, alike)
        if alike >= _FEW_ALIKE:
            return []
        return [
            f"the {units.count} groups count as about {as_about(alike)} of one size [Kish 1965]. With 6 to 12 the "
            "test rejected a true H0 at 0.05 in 0.16 to 0.29 of samples, with 20 and more in 0.05 to 0.08 (python -m "
            "benchmarks validity group-terms)."
        ]

    def __repr__(self) -> str:
        changes = [f"{test.name} {self._change(test).value:+.4g}" for test in self.tests]
        return listed(f"<TermTests: {self.kind}, {self.evidence.how}, score {self.evidence.score:.6g}; ", changes, ">")


def _uneven_weights(units: Units, alike: float) -> list[str]:
    """What the test does where probability weights are far from equal."""
    if not count_as_few(units, alike, _FEW_ROWS):
        return []
    return [
        f"the rows count as about {as_about(alike)} of one weight [Kish 1965]. Where they counted as 36 to 39 the "
        "test rejected a true H0 at 0.05 in 0.14 to 0.15 of samples, where as 89 to 94 in 0.05 to 0.07 (python -m "
        "benchmarks validity other-terms)."
    ]


_MANY_DF, _FEW_FOR_EACH = 8, 50
"""Degrees of freedom from which on, and rows for each of them below which, the size was found to be too large."""

_FEWEST = 4
"""Rows to be expected below which the size was found to be too large."""

_RARE_ROWS, _RARE_SHARE = 100, 0.15
"""Rows of a level, and their share, below which the size was found to be too large for numbers that are skewed."""

_FEW_ALIKE = 20
"""Groups, of one size, below which the size was found to be too large."""

_FEW_ROWS = 80
"""Rows, of one weight, below which the size was found to be too large where weights are far from equal."""

SIZE = (
    "In simulations (python -m benchmarks validity terms; 200 and 634 rows, two and three classes) it rejected a true "
    "H0 at 0.05 in 0.02 to 0.10 of samples (Monte-Carlo se 0.01 to 0.03), most where other columns tell part of the "
    "term; beside eight to twenty other columns that tell most of it in 0.03 to 0.08 (other-terms); where response "
    "and term follow another predictor along one curve, with 60 to 400 rows, in 0.01 to 0.09 if it is slow "
    "(few-rows-terms), in 0.01 to 0.13 if it is faster, or beside more predictors, and in 0.23 to 0.46 if it is too "
    "fast for the rows: what is missed of it passes for dependence (curve-terms)."
)


def _part(table: pd.DataFrame, columns: dict[str, tuple[str, str]], title: str) -> Table:
    shown = {name: how for name, how in columns.items() if name in table}
    cells = tuple(
        tuple(None if np.isnan(value) or (name == "df" and value == 0) else value for name, value in row.items())
        for row in table[list(shown)].to_dict("records")
    )
    headers, styles = zip(*shown.values(), strict=True)
    return Table(headers, tuple(map(str, table.index)), cells, styles, title)
