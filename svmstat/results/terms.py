"""Terms dropped from a fit and added to it: what they are worth, and whether the response depends on them."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.checks import at_least, entries, flag, nearest, refuse, workers
from svmstat._tools.frames import PANDAS
from svmstat._tools.keywords import calling_frame
from svmstat._tools.randomness import check_rng, seed_sequence
from svmstat._tools.repeats import distinct_rows
from svmstat.calibration import log_of_own
from svmstat.diagnostics import Evidence, TermTest, TermTests
from svmstat.errors import ArgumentTypeError, DataError, UnavailableError
from svmstat.formula import Design, ModelFrame
from svmstat.kernels import Additive, CustomKernel, on_fewer_columns, on_other_columns
from svmstat.kernels.additive import term_called
from svmstat.kernels.base import family
from svmstat.machine import fit_machine
from svmstat.reporting.summary import Summary
from svmstat.resampling.covariance import ARE_CONSTANT, Dependence, generalised_covariance, untested
from svmstat.resampling.frequencies import Frequencies
from svmstat.resampling.loops import Outlook, run_pieces
from svmstat.resampling.nested import folds_for, log_likelihoods, nested_estimate
from svmstat.resampling.nested import splits as splits_of
from svmstat.resampling.said import Said
from svmstat.resampling.splits import refuse_tables
from svmstat.results.resampled import Resampled
from svmstat.results.updated import data_since

_OF_R = re.compile(r"^\s*\.?\s*~\s*\.\s*\+\s*")
"""What stands before a term in add1() of R, ``~ . + w``."""

_TWO = 2
"""Values of a column that tells levels apart."""


@dataclass(frozen=True, repr=False, eq=False)
class Termed(Resampled):
    """A fit beside those with one term less, or one more."""

    def drop1(
        self,
        terms: Sequence[str] | None = None,
        *,
        nested: bool = False,
        repeats: int = 5,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> TermTests:
        """Drop each term: the change of the CV score, and a test that the response depends on it given the others.

        A term goes with all that contain it, x with x:z, s(x) with ti(x, z). The other columns, C and the kernel stay
        as they are, the width of a rule such as ``gamma="scale"`` as the number that it is in this fit.

        Parameters
        ----------
        terms : sequence of str, optional
            Which of the terms; by default all.
        nested : bool
            Whether the change is computed by nested cross-validation too [Bates, Hastie & Tibshirani 2023], as in
            `compare`, for which there are 55 fits for each term and each of the ``repeats``. The folds are those of
            `compare`: a row of weight w is in one of them, and copies of a row may be in several.
        repeats : int
            The number of splits into ten folds for ``nested``.
        rng : int or Generator, optional
            On which, and on the order of the rows, the folds of ``nested`` depend.
        n_jobs, progress
            As in `loo`.

        Returns
        -------
        TermTests

        Raises
        ------
        ArgumentError
            For a term that the formula does not have.
        UnavailableError
            For a precomputed kernel, which has no terms.

        Notes
        -----
        The test is by the generalised covariance measure [Shah & Peters 2020], of which it takes a sum of squares, they
        the largest. With r_k = 1{y_k = level} − π_k for all levels but one, π being held out of the fit without the
        term, and e_k the residuals of the term's columns by kernel ridge regression on the other columns without row k,
        kernel and λ being chosen for each of their canonical directions: T = n w̄'Ŝ⁻¹w̄ of w_k = vec(r_k e_k') is nearly
        χ² with as many degrees of freedom as w has entries, if the response does not depend on the term given the
        others, rows are many and both regressions are near the conditional means: without such a condition there is no
        valid test of this. A single column counts with its square, a factor with all its indicators but one. Of a term
        whose data the others read too, such as x:z beside x and z, there is nothing to test.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth", datasets.load("mackerel"), C=16, gamma=0.25)
        >>> fit.drop1().table[["delta_score", "df"]].round(1)
                 delta_score  df
        term
        lon  ...
        """
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        design, how = self._design_of_terms("drop1()"), self.left_out_folds
        names = _known("terms", terms, tuple(design.term_slices))
        splits = self._splits(flag("nested", nested), at_least("repeats", repeats, 1), rng)
        gone = [design.containing(name) for name in names]
        base = self.judged(how, n_jobs, progress)
        found = run_pieces(
            _smaller, [(self, each, how, splits) for each in gone], n_jobs=n_jobs, progress=progress, what="terms",
            outlook=Outlook(),
        )  # fmt: skip
        with_it = [tuple(each for each in group if each != name) for name, group in zip(names, gone, strict=True)]
        return self._tests("drop1", base, names, with_it, found, splits)

    def add1(
        self,
        scope: str | Sequence[str],
        *,
        nested: bool = False,
        repeats: int = 5,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> TermTests:
        """Add each of some terms: the change of the CV score, and a test that the response depends on it.

        Parameters
        ----------
        scope : str or sequence of str
            The terms, each as a formula has it, such as ``["z", "x:z", "np.log(w)"]``. C and the kernel stay.
        nested, repeats, rng, n_jobs, progress
            As in `drop1`, which says what the test is.

        Returns
        -------
        TermTests

        Raises
        ------
        DataError
            If a value of a new term is missing in a row of the fit: all fits must be of the same rows.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel"), C=16, gamma=0.25)
        >>> fit.add1(["b_depth", "c_dist"]).table["delta_score"].round(1).to_dict()
        {'b_depth': ..., 'c_dist': ...}
        """
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        additive = self._design_of_terms("add1()").additive
        nested, repeats = flag("nested", nested), at_least("repeats", repeats, 1)
        check_rng("rng", rng)
        names = _names("scope", scope)
        caller = calling_frame()
        joint = {} if additive else {"kernel": on_other_columns(self.kernel, self.frame.X, self.frame.weights)}
        since = [data_since(self, each) if self.kind == PANDAS else None for each in names]
        larger = [self._again(f". ~ . + {each}", data, joint, caller) for each, data in zip(names, since, strict=True)]
        for name, other in zip(names, larger, strict=True):
            self._check_addition(name, other)
        how, splits = self.left_out_folds, self._splits(nested, repeats, rng)
        base = self.judged(how, n_jobs, progress)
        pieces = [(self, other, base, how, splits) for other in larger]
        found = run_pieces(_larger, pieces, n_jobs=n_jobs, progress=progress, what="terms", outlook=Outlook())
        return self._tests("add1", base, names, [()] * len(names), found, splits)

    def _deletions(self, tests: TermTests) -> Summary:
        """The summary of the `drop1` of this fit; `ArgumentError` for that of another."""
        if isinstance(tests, TermTests) and tests.kind == "drop1" and tests.formula == self.formula:
            for folds in dict.fromkeys((self.left_out_folds, self.usual_folds)):  # which loo() may have changed since
                own = self.judged(folds).log_likelihoods
                if np.array_equal(tests.evidence.log_likelihoods, own, equal_nan=True):
                    return tests.summary()
        raise refuse("terms", tests, "what the method drop1() of this very fit gave")

    def _design_of_terms(self, what: str) -> Design:
        if not self.kernel.of_rows:
            raise UnavailableError(f"{what} needs the columns of terms, of which a precomputed kernel knows nothing.")
        return self.frame.design

    def _check_addition(self, name: str, other: Self) -> None:
        own, rows = self.frame.design.term_slices, self.frame.rows
        if other.frame.design.additive and not self.frame.design.additive:
            raise refuse(
                "scope",
                name,
                "a term of the one joint kernel that this fit has: with a smooth the machine is additive, and plain "
                "terms of it are linear. Begin with an additive formula, such as y ~ s(x)",
            )
        if not np.array_equal(other.frame.rows, rows):
            missing = len(rows) - len(np.intersect1d(other.frame.rows, rows))
            raise DataError(
                f"scope: {name!r} is missing in {missing} of the {len(rows)} rows of the fit, and all fits must be of "
                "the same rows: leave these out first, as by update(subset=...)."
            )
        if other.frame.design.term_slices.keys() <= own.keys() or own.keys() - other.frame.design.term_slices.keys():
            raise refuse("scope", name, f"a term that is none of {', '.join(map(repr, own))}, and takes none away")

    def _splits(self, nested: bool, repeats: int, rng: int | np.random.Generator | None) -> Codes:
        """(R, n) the folds of nested cross-validation, none unless it is asked for."""
        frame, seed = self.frame, seed_sequence("rng", rng).spawn(2)[1]  # as compare() does
        if nested:
            refuse_tables(self.machine, "nested=True")
        units = self.machine.units
        often = repeats if nested else 0
        return splits_of(frame.codes, frame.weights, self.classes, folds_for(frame.weights, units), often, seed, units)

    def without_terms(self, gone: Collection[str]) -> Self | None:
        """The fit without some terms, everything else as it is; None where no column is left."""
        frame, columns = self.frame, _columns(self.frame.design, gone)
        kernel = on_fewer_columns(self.kernel, np.flatnonzero(~columns).tolist())
        if kernel is None:
            return None
        X = np.ascontiguousarray(frame.X[:, ~columns])
        if isinstance(kernel, CustomKernel):
            kernel.check_rows(X)
        machine = fit_machine(kernel, X, frame.codes, frame.weights, self.machine.pairs, C=self.machine.C)
        machine = replace(machine, units=self.machine.units)
        frame = replace(frame, X=X, design=frame.design.without(gone))
        return replace(self, frame=frame, machine=machine, call=None, optimism=None)

    def _tests(
        self, kind: str, base: Evidence, names: Sequence[str], with_it: Sequence[tuple[str, ...]],
        found: Sequence["_Found"], splits: Codes,
    ) -> TermTests:  # fmt: skip
        changes: Sequence[Any] = [None] * len(found)
        if len(splits):
            own = _nested_table(self.said_without, self.frame, splits)
            units = self.machine.units
            changes = [nested_estimate(2.0 * (own - each.table), splits, self.frame.weights, units) for each in found]
        tests = [
            TermTest(name, group, each.evidence, each.dependence, change, each.is_constant, each.fewest, each.is_flat)
            for name, group, each, change in zip(names, with_it, found, changes, strict=True)
        ]
        function = next((str(each) for each in family(self.kernel) if isinstance(each, CustomKernel)), "")
        return TermTests(
            kind=kind, formula=self.formula, evidence=base, tests=tuple(tests), repeats=len(splits), function=function
        )


class _Found(NamedTuple):
    """Of a fit with other terms.

    Attributes
    ----------
    evidence : what it says of rows that it has not seen
    dependence : the test of the terms by which it differs
    table : log-likelihoods by nested folds
    is_constant : whether its f is constant, though there are predictors
    is_flat : whether it says the class frequencies though it is not
    fewest : of terms of levels, see `TermTest`
    """

    evidence: Evidence
    dependence: Dependence
    table: Floats
    is_constant: bool = False
    fewest: float = np.nan
    is_flat: bool = False


def _smaller(fit: Termed, gone: tuple[str, ...], folds: int | None, splits: Codes) -> _Found:
    """Without some terms."""
    design, frame = fit.frame.design, fit.frame
    other = fit.without_terms(gone)
    if other is None:
        null = Frequencies(frame.codes, frame.weights, fit.machine.units)
        evidence, without = _of_frequencies(fit, null.one_by_one()), null.without
    else:
        evidence, without = other.judged(folds, n_jobs=1), partial(other.said_without, n_jobs=1)
    rest = _at_work(fit) - set(gone)
    dependence, fewest = _tested(evidence, design, frame.X, gone, rest, "the terms that stay read the same data")
    constant, flat = (False, False) if other is None else _tells_nothing(other, evidence)
    return _Found(evidence, dependence, _nested_table(without, frame, splits), constant, fewest, flat)


def _tells_nothing(fit: Termed, held_out: Evidence) -> tuple[bool, bool]:
    """Whether f is the same at all rows; whether it is not, and what is said of rows are the class frequencies."""
    constant = not np.ptp(fit.machine.decision_values[fit.frame.weights > 0], axis=0).any()
    return constant, not constant and held_out.is_of_frequencies


def _larger(fit: Termed, other: Termed, evidence: Evidence, folds: int | None, splits: Codes) -> _Found:
    """With a further term."""
    design, X = other.frame.design, other.frame.X
    new = design.term_slices.keys() - fit.frame.design.term_slices.keys()
    why_not = "the terms that are there read the same data"
    dependence, fewest = _tested(evidence, design, X, new, _at_work(fit), why_not)
    table = _nested_table(partial(other.said_without, n_jobs=1), fit.frame, splits)
    judged = other.judged(folds, n_jobs=1)
    constant, flat = _tells_nothing(other, judged)
    return _Found(judged, dependence, table, constant, fewest, flat)


def _at_work(fit: Termed) -> set[str]:
    """The terms that the machine reads: not those whose columns are constant, nor those that are left out by θ = 0."""
    slices, kernel = fit.frame.design.term_slices, fit.kernel
    names = {name for name, place in slices.items() if place.stop > place.start}
    if isinstance(kernel, Additive):
        names -= {name for name, theta in zip(kernel.names, kernel.theta, strict=True) if theta == 0.0}
    return names


def _columns(design: Design, names: Collection[str]) -> NDArray[np.bool_]:
    """(p,) whether a column of the design is of one of these terms."""
    found, slices = np.zeros(len(design.column_names), bool), design.term_slices
    for name in names:
        found[slices[name]] = True
    return found


def _tested(
    evidence: Evidence, design: Design, X: Floats, names: Collection[str], rest: Collection[str], why_not: str
) -> tuple[Dependence, float]:
    """The test of some terms beside the rest, and what `_fewest` has of their columns; none where they read no more."""
    if design.read_by(names) <= design.read_by(rest):
        return untested(0, why_not), np.nan
    if not _columns(design, names).any():
        return untested(0, ARE_CONSTANT), np.nan
    own, others = _apart(design, X, names, rest)
    return _dependence(evidence, own, others), _fewest(evidence, own)


def _dependence(evidence: Evidence, columns: Floats, others: Floats) -> Dependence:
    """The test of columns (n, c) by what a fit without them says of rows that it has not seen."""
    p = evidence.probability
    used = (evidence.weights > 0) & np.isfinite(p).all(axis=1)
    if set(evidence.codes[evidence.weights > 0]) != set(evidence.codes[used]):
        return untested(0, "no row of a level could be held out")
    residuals = (evidence.codes[used, None] == np.arange(p.shape[1])) - p[used]
    weights = evidence.weights[used]
    return generalised_covariance(residuals, columns[used], others[used], weights, evidence.units_of(used))


def _fewest(evidence: Evidence, columns: Floats) -> float:
    """How many rows, or groups, of the rarest level of a term would have the rarest level of the response by chance.

    The levels of a term are what its columns (n, c) of two values each tell apart; NaN where one has more values.
    """
    used, units = evidence.weights > 0, evidence.units
    own = columns[used]
    if own.shape[1] == 0 or any(len(np.unique(column)) > _TWO for column in own.T):
        return np.nan
    levels = distinct_rows(own, evidence.weights[used])
    counts = levels.weights
    if units is not None:
        unit = units.of_row[used]
        counts = np.array([len(np.unique(unit[levels.of_row == k])) for k in range(len(levels.first))], float)
    rows = evidence.rows_of_levels
    return float(counts.min() * rows.min() / rows.sum())


def _apart(design: Design, X: Floats, gone: Collection[str], rest: Collection[str]) -> tuple[Floats, Floats]:
    """The columns of X (n, p) of some terms and of others; of smooths once, and not beside others, as z of s(x, z)."""
    own, others = X[:, _columns(design, gone)], X[:, _columns(design, rest)]
    if not design.additive:
        return own, others
    known, new = {each.tobytes() for each in others.T}, []
    for place in range(own.shape[1]):
        column = own[:, place].tobytes()
        if column not in known:
            new.append(place)
        known.add(column)
    return own[:, new], others


def _of_frequencies(fit: Termed, said: Said) -> Evidence:
    """What the class frequencies of the other rows say."""
    frame, p = fit.frame, said.probability
    return Evidence(
        how="leave-one-out", index=frame.index, shape=fit.shape, codes=frame.codes, weights=frame.weights,
        values=np.zeros((len(p), len(fit.machine.pairs))), probability=p,
        log_likelihoods=log_of_own(p, frame.codes), winner=said.winner, failed=said.failed,
        units=fit.machine.units,
    )  # fmt: skip


def _nested_table(without: Callable[[list[Codes]], list[Said]], frame: ModelFrame, splits: Codes) -> Floats:
    """(R, K, n) log-likelihoods by nested folds, for no splits none."""
    if not len(splits):
        return np.empty((0, 0, len(frame.codes)))
    return log_likelihoods(without, np.arange(len(frame.response.levels)), splits, frame.codes)


def _names(argument: str, given: str | Sequence[str]) -> tuple[str, ...]:
    """The names of one term or several, each once."""
    names = (given,) if isinstance(given, str) else entries(given)
    if not names or not all(isinstance(each, str) for each in names):
        raise ArgumentTypeError(f"{argument}={given!r} is not allowed: it must be the text of a term, or several.")
    return _different(argument, given, [_OF_R.sub("", each) for each in names])


def _different(argument: str, given: object, names: Sequence[str]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise refuse(argument, given, "different terms")
    return tuple(names)


def _known(argument: str, given: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """The names that are given, blanks aside, all by default; one that there is not is refused."""
    if given is None:
        return known
    found = [(each, term_called(known, each)) for each in _names(argument, given)]
    for each, name in found:
        if name is None:
            raise refuse(argument, each, f"one of {', '.join(map(repr, known))}{nearest(each, known)}")
    return _different(argument, given, [name for _, name in found if name is not None])
