"""What a fit with more than two levels knows: pairs, coupled probabilities, votes [003: section 3]."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat import measures
from svmstat._checks import flag, one_of, workers
from svmstat.calibration import COUPLINGS
from svmstat.diagnostics import MulticlassLooResult
from svmstat.errors import DataError
from svmstat.fitted import Fitted
from svmstat.formula import case_weights
from svmstat.multiclass import (
    PairMaps,
    PairsDeletion,
    PairsLeaveOneOut,
    PairsMachine,
    bootstrap_deviance,
    deletion_changes,
    leave_one_out,
    log_likelihoods,
    pairs_of,
    vote,
)
from svmstat.resampling import Replicates
from svmstat.solver import Solution, Status
from svmstat.summary import Summary, abridged
from svmstat.summary_multiclass import summarize_multiclass

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, repr=False, eq=False)
class MulticlassSVMResults(Fitted):
    """A fitted support vector machine for K > 2 levels, one machine for each pair of them; made by `svm`.

    n is the number of rows that are used, on the index of the data; P = K(K − 1)/2 the number of pairs (i, j), i before
    j in the order of `classes`. The decision value of a pair is positive where it predicts i.

    Attributes
    ----------
    frame : ModelFrame
        The arrays that the formula gave, and how to do the same to new data.
    machine : PairsMachine
        The machines of the pairs, each with its solution and certificate.
    loss : str
    C : float
    decision : Decision
        Priors and class weights.
    calibration : PairMaps
        The Platt maps of the pairs: ``slope`` A, ``intercept`` B, ``converged`` (P,), and the ``coupling``.
    insample : PairMaps
        The maps fitted to the in-sample decision values, which deviance, leave-one-out and goodness of fit use;
        ``calibration`` itself unless that was asked to be otherwise.
    """

    machine: PairsMachine
    calibration: PairMaps
    insample: PairMaps

    def __repr__(self) -> str:
        return (
            f"<MulticlassSVMResults: {abridged(self.formula, 100)}; {len(self.classes)} classes, "
            f"kernel {self.kernel_name}, C = {self.C:g}, n = {self.n_rows}, {len(self.support)} support vectors>"
        )

    # The pairs

    @property
    def event(self) -> None:
        """None: an event is one of two levels."""
        return

    @property
    def nu(self) -> None:
        """None: the 2ν-SVM is for two levels."""
        return

    @property
    def coupling(self) -> str:
        """How class probabilities are made from those of the pairs."""
        return self.calibration.coupling

    @cached_property
    def pairs(self) -> pd.MultiIndex:
        """The P pairs of levels; a decision value > 0 stands for the first."""
        levels = [[self.classes[code] for code in column] for column in pairs_of(len(self.classes)).T]
        return pd.MultiIndex.from_arrays(levels, names=["positive", "negative"])

    def _by_pair(self, value: Callable[[Solution], Any]) -> list[Any]:
        return [value(pair.solution) for pair in self.machine.pairs]

    def _values(self, values: Floats, index: pd.Index) -> pd.DataFrame:
        return pd.DataFrame(values, index=index, columns=self.pairs, copy=True)

    @property
    def alpha(self) -> pd.DataFrame:
        """Dual variables α (n, P), zero in rows of other levels than those of the pair."""
        return self._values(self.machine.alpha, self.frame.index)

    @property
    def decision_values(self) -> pd.DataFrame:
        """f(x_i) (n, P) of the rows that are used, those of other levels included."""
        return self._values(self.machine.decision_values, self.frame.index)

    @cached_property
    def _probabilities(self) -> Floats:
        return self.calibration.probabilities(self.machine.decision_values)

    @property
    def fittedvalues(self) -> pd.DataFrame:
        """Class probabilities (n, K) of the rows that are used."""
        return pd.DataFrame(self._probabilities, self.frame.index, pd.Index(self.classes), copy=True)

    @property
    def support(self) -> pd.Index:
        """The labels of the rows that are a support vector of a pair."""
        return self.frame.index[np.flatnonzero((self.machine.alpha > 0).any(axis=1))]

    @property
    def n_support(self) -> pd.DataFrame:
        """Support vectors by pair: columns ``rows`` (all rows of the two levels), ``free``, ``bounded``, ``total``.

        Sums of weights where weights were given. A vector is free if 0 < α < u, bounded if α = u.
        """
        counts = []
        for pair in self.machine.pairs:
            weights = self.machine.groups.weights[pair.rows]
            solution, is_first = pair.solution, pair.problem.signs > 0
            counts.append(measures.support_counts(is_first, solution.free, solution.bounded, weights).sum(axis=0))
        table = pd.DataFrame(counts, index=self.pairs, columns=["rows", "free", "bounded", "total"])
        weights = self.machine.groups.weights
        return table.astype(int) if bool((weights == np.round(weights)).all()) else table

    @property
    def intercept(self) -> pd.Series:
        """b of every pair (P,), on the scale of the fit; the midpoint of `intercept_interval`."""
        return pd.Series(self.machine.intercept, index=self.pairs, name="intercept")

    @property
    def intercept_interval(self) -> pd.DataFrame:
        """All optimal b of every pair (P, 2), columns ``low`` and ``high``: a point if a support vector is free."""
        ends = self._by_pair(
            lambda solution: (solution.intercept,) * 2 if solution.free.any() else solution.intercept_interval
        )
        return pd.DataFrame(ends, index=self.pairs, columns=["low", "high"])

    @property
    def margin(self) -> pd.Series:
        """2/‖h‖ of every pair (P,), infinite for h = 0."""
        norms = np.sqrt(self._by_pair(lambda solution: max(solution.norm_squared, 0.0)))
        values = np.divide(2.0, norms, out=np.full(len(norms), np.inf), where=norms > 0)
        return pd.Series(values, index=self.pairs, name="margin")

    @property
    def kkt_violation(self) -> float:
        """The largest violation of the optimality conditions of a pair."""
        return float(max(self._by_pair(lambda solution: solution.violation)))

    @property
    def duality_gap(self) -> float:
        """The largest duality gap of a pair."""
        return float(max(self._by_pair(lambda solution: solution.gap)))

    @property
    def rounding(self) -> float:
        """A bound on the rounding of the decision values of any pair."""
        return float(max(self._by_pair(lambda solution: solution.rounding)))

    @property
    def status(self) -> Status:
        """Whether the solutions can be relied on, and if not, why: that of the first pair whose certificate fails."""
        found = self._by_pair(lambda solution: solution.status)
        return next((status for status in found if status is not Status.CERTIFIED), Status.CERTIFIED)

    @property
    def converged(self) -> bool:
        """Whether the certificate of every pair holds: KKT violation ≤ 1e-8, rounding of f ≤ 1e-6 of its spread."""
        return self.status is Status.CERTIFIED

    # How well it fits

    @cached_property
    def llf(self) -> float:
        """Log-likelihood Σ w_i log p_{y_i}(x_i) of the coupled Platt probabilities."""
        p = self.insample.probabilities(self.machine.decision_values)
        return measures.log_likelihood(log_likelihoods(p, self.frame.codes), self.frame.weights)

    @cached_property
    def _winner(self) -> Codes:
        return vote(self.machine.decision_values, len(self.classes))

    @property
    def confusion(self) -> pd.DataFrame:
        """Sums of weights by observed (rows) and predicted (columns) class."""
        cells = measures.cross_table(self.frame.codes, self._winner, self.frame.weights, len(self.classes))
        return pd.DataFrame(cells, pd.Index(self.classes, name="observed"), pd.Index(self.classes, name="predicted"))

    @cached_property
    def apparent_error(self) -> float:
        """Weighted share of rows that are predicted wrongly."""
        return measures.share(self._winner != self.frame.codes, self.frame.weights)

    @cached_property
    def disagreement(self) -> float:
        """Weighted share of rows where the votes and the largest L(y) P(y) disagree; L is 1 without class weights."""
        L = np.array([self.decision.class_weight[level] for level in self.classes])
        likeliest = (L * self._probabilities).argmax(axis=1)
        return measures.share(self._winner != likeliest, self.frame.weights)

    # Coefficients

    @property
    def params_standardized(self) -> pd.DataFrame:
        """Intercept and coefficients (1 + p, P) of every f for the columns as they were scaled; linear kernel only.

        Raises
        ------
        UnavailableError
            For another kernel.
        """
        self._require_linear("params_standardized")
        return self._coefficients(self._directions, self.machine.intercept)

    @property
    def params(self) -> pd.DataFrame:
        """Intercept and coefficients (1 + p, P) of every f for the columns on their own scale; linear kernel only.

        Raises
        ------
        UnavailableError
            For another kernel.
        """
        self._require_linear("params")
        design = self.frame.design
        slopes = self._directions / design.scale_[:, None]
        return self._coefficients(slopes, self.machine.intercept - design.center @ slopes)

    @property
    def _directions(self) -> Floats:
        """(p, P) the normal vectors Σ_i α_i y_i x_i."""
        first = pairs_of(len(self.classes))[:, 0]
        signs = np.where(self.frame.codes[:, None] == first, 1.0, -1.0)
        return np.asarray(self.machine.X.T @ (self.machine.alpha * signs))

    def _coefficients(self, slopes: Floats, intercept: Floats) -> pd.DataFrame:
        names = pd.Index(["Intercept", *self.frame.design.column_names])
        return pd.DataFrame(np.vstack([intercept, slopes]), index=names, columns=self.pairs)

    # Prediction and report

    def decision_function(self, newdata: pd.DataFrame | None = None) -> pd.DataFrame:
        """f(x) of every pair, which predicts its first level where f is positive, else its second.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows with the columns of the right side; by default the n rows of the fit.

        Returns
        -------
        DataFrame (m, P)
            On the index of ``newdata``; NaN where a predictor is missing.

        Raises
        ------
        DataError
            If a column is missing, has a new level, an infinite value or a wrong type.
        """
        if newdata is None:
            return self.decision_values
        index, complete, f = self._at_complete(newdata)
        values = np.full((len(index), len(self.pairs)), np.nan)
        values[complete] = f
        return self._values(values, index)

    def predicted_codes(self, newdata: pd.DataFrame | None = None) -> Codes:
        """The position (m,) of the predicted level among `classes`, −1 where a predictor is missing."""
        if newdata is None:
            return self._winner
        return vote(self.decision_function(newdata).to_numpy(), len(self.classes))

    def predict(self, newdata: pd.DataFrame | None = None) -> pd.Series:
        """The level for which most pairs vote; it never follows the probabilities.

        Of levels with equally many votes the one with the largest sum of decision values is taken (f where the pair
        has it first, −f where second), then the first.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.

        Returns
        -------
        Series (m,)
            Levels of the response's own type; missing where a predictor is missing.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> liver = datasets.load("liver")
        >>> fit = svm("disease ~ np.log(ast) + np.log(alt) + np.log(gldh)", liver, C=4)
        >>> fit.predict(liver.head(3)).tolist()
        ['AVH', 'AVH', 'AVH']
        """
        codes = self.predicted_codes(newdata)
        return self.response.labels(codes, self.frame.index if newdata is None else newdata.index)

    def predict_proba(self, newdata: pd.DataFrame | None = None, *, coupling: str | None = None) -> pd.DataFrame:
        """Class probabilities: the Platt probabilities of the pairs, coupled.

        They are those of the population that the sample comes from, also where priors were given.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.
        coupling : {"wu-lin-weng", "hastie-tibshirani"}, optional
            By default that of the fit.

        Returns
        -------
        DataFrame (m, K)
            One column per level, in the order of `classes`; rows sum to 1. NaN where a predictor is missing.

        Raises
        ------
        ArgumentError
            For an unknown coupling.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> liver = datasets.load("liver")
        >>> fit = svm("disease ~ np.log(ast) + np.log(alt) + np.log(gldh)", liver, C=4)
        >>> p = fit.predict_proba(liver)
        >>> p.shape, bool(abs(p.sum(axis=1) - 1).max() < 1e-12)
        ((218, 4), True)
        """
        method = self.coupling if coupling is None else one_of("coupling", coupling, COUPLINGS)
        values = self.decision_function(newdata)
        maps = self.calibration.with_coupling(method)
        return pd.DataFrame(maps.probabilities(values.to_numpy()), values.index, pd.Index(self.classes))

    def error(self, newdata: pd.DataFrame | None = None, *, weights: Any = None) -> float:
        """The weighted share of rows that are predicted wrongly.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            Rows with the response and the predictors; by default the n rows of the fit with their weights.
        weights : column name or array_like (m,), optional
            Case weights of the new rows.

        Raises
        ------
        DataError
            If no new row has both the response and the predictors, or a column cannot be used.
        """
        if newdata is None:
            return self.apparent_error
        winner, codes = self.predicted_codes(newdata), self.frame.observed(newdata)
        known = (winner >= 0) & (codes >= 0)
        if not known.any():
            raise DataError("newdata has no row with the response and all predictors.")
        w = case_weights(weights, newdata, known)
        return measures.share(winner[known] != codes[known], w[known])

    # Resampling

    def loo(self, n_jobs: int | None = None, progress: bool = False) -> MulticlassLooResult:
        """Leave every row out in turn; computed once and kept.

        Only the pairs that hold the row's level are refitted. Scaling, kernel width and factor coding are those of
        this fit. A row of weight w loses min(w, 1), one copy. What the fits without a row say of the other rows
        (``deviance_deleted``, influence) is computed when it is first asked for.

        Parameters
        ----------
        n_jobs : int, optional
            Number of workers, as in `joblib.Parallel`; ``joblib.parallel_config`` chooses the backend. The numbers do
            not depend on it.
        progress : bool
            Whether to show a progress bar.

        Returns
        -------
        MulticlassLooResult

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> liver = datasets.load("liver")
        >>> loo = svm("disease ~ np.log(ast) + np.log(alt) + np.log(gldh)", liver, C=4).loo()
        >>> loo.n_refits == 3 * len(liver), loo.n_failed
        (True, 0)
        """
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        if "_loo" not in self.__dict__:
            self.__dict__["_loo"] = leave_one_out(self.machine, self.insample, n_jobs=n_jobs, progress=progress)
        arrays: PairsLeaveOneOut = self.__dict__["_loo"]
        frame = self.frame
        return MulticlassLooResult(
            arrays, frame.index, self.response, self.pairs, frame.codes, frame.weights, self._winner, self.deviance,
            partial(self._deletion_changes, n_jobs, progress),
        )  # fmt: skip

    def _deletion_changes(self, n_jobs: int | None, progress: bool) -> PairsDeletion:
        if "_changes" not in self.__dict__:
            self.__dict__["_changes"] = deletion_changes(self.machine, self.insample, n_jobs=n_jobs, progress=progress)
        changes: PairsDeletion = self.__dict__["_changes"]
        return changes

    def _bootstrap(self, **how: Any) -> Replicates:
        return bootstrap_deviance(self.machine, self.insample, **how)

    def summary(self) -> Summary:
        """The fit at a glance: prints as text, shows as HTML in a notebook, converts by ``.as_latex()``."""
        return summarize_multiclass(self)
