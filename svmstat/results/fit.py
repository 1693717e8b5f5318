"""The fit: predictions for new data, resampling, its summary."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes
from svmstat._tools.checks import at_least, between, flag, fraction, one_of, workers
from svmstat._tools.randomness import seed_sequence
from svmstat.calibration import COUPLINGS, POINTWISE, pointwise, probability_interval
from svmstat.diagnostics import GofResult, InfluenceResult, LooResult
from svmstat.errors import DataError
from svmstat.formula import case_weights
from svmstat.machine import vote
from svmstat.objective import measures
from svmstat.reporting.plots import region_plot, surface_plot
from svmstat.reporting.summary import Summary
from svmstat.resampling import METHODS, LeaveOneOut, bootstrap_deviance, leave_one_out
from svmstat.results.summary import abridged, summarize
from svmstat.results.two_levels import TwoLevels

Value = TypeVar("Value")

_MOST_COPIES = 2.0**53
"""Larger whole numbers are no longer all doubles."""


@dataclass(slots=True)
class Once:
    """What is computed when it is first asked for, and kept.

    Examples
    --------
    >>> once = Once()
    >>> once.get(lambda: [1]) is once.get(lambda: [2])
    True
    """

    value: Any = None

    def get(self, compute: Callable[[], Value]) -> Value:
        """The value, which is not None."""
        if self.value is None:
            self.value = compute()
        found: Value = self.value
        return found


@dataclass(frozen=True, repr=False, eq=False)
class SVMResults(TwoLevels):
    """A fitted support vector machine; made by `svm`.

    n is the number of rows that are used, on the index of the data; p the number of columns of the design. Of two
    levels one is the event, which f > 0 predicts. Of K > 2 levels there is a machine for each of the P = K(K − 1)/2
    pairs (i, j), i before j in the order of `classes`, whose decision value is positive where it predicts i; what is a
    number or a column for two levels is then a Series or a DataFrame with an entry for each pair, or each level.

    Attributes
    ----------
    frame : ModelFrame
        The arrays that the formula gave, and how to do the same to new data.
    machine : Machine
        The kernel machine on these arrays, with the solution and certificate of each pair.
    decision : Decision
        Costs, priors and class weights.
    maps : Maps
        The Platt maps of the pairs, which `calibration` shows.
    insample_maps : Maps
        The maps fitted to the in-sample decision values, which deviance, leave-one-out and goodness of fit use;
        ``maps`` itself unless that was asked to be otherwise.
    """

    _loo: Once = field(default_factory=Once, init=False)

    def __repr__(self) -> str:
        cost = f"C = {self.C:g}" if self.nu is None else "nu = ({:g}, {:g})".format(*self.nu)
        many = "" if self.shape.two else f"{len(self.classes)} classes, "
        return (
            f"<SVMResults: {abridged(self.formula, 100)}; {many}kernel {self.kernel_name}, {cost}, "
            f"n = {self.n_rows}, {len(self.support)} support vectors>"
        )

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    # Prediction

    def decision_function(self, newdata: pd.DataFrame | None = None) -> Any:
        """f(x), the event being predicted where it is positive; of more than two levels that of every pair.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows with the columns of the right side; by default the n rows of the fit.

        Returns
        -------
        Series (m,), or DataFrame (m, P)
            On the index of ``newdata``; NaN where a predictor is missing.

        Raises
        ------
        DataError
            If a column is missing, has a new level, an infinite value or a wrong type.
        """
        index, values = self.decision_at(newdata)
        return self.shape.of_pairs(values, index, "decision_value")

    def predicted_codes(self, newdata: pd.DataFrame | None = None) -> Codes:
        """The position (m,) of the predicted level among `classes`, −1 where a predictor is missing."""
        return self._winner if newdata is None else vote(self.decision_at(newdata)[1], self.machine.classes)

    def predict(self, newdata: pd.DataFrame | None = None) -> pd.Series:
        """The predicted level: the event where f > 0, or that for which most pairs vote; never by the probabilities.

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

    def predict_proba(
        self,
        newdata: pd.DataFrame | None = None,
        *,
        method: str = "platt",
        interval: bool = False,
        tightness: float = 1.0,
        coupling: str | None = None,
    ) -> pd.DataFrame:
        """Probabilities of the levels, or the interval that the loss allows for that of the event.

        They are those of the population that the sample comes from, also where priors or costs were given.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.
        method : {"platt", "sollich", "semiparametric"}
            The map from decision values: Platt's 1/(1 + exp(A f + B)), or a map that follows from the loss alone
            and lies in the interval [002: 8, 9]; of more than two levels "platt".
        interval : bool
            Whether to give the lower and upper probability of the event [002: 7] instead; ``method`` is not used. For
            two levels.
        tightness : float
            In (0, 1]: 1 gives the narrowest interval that the loss allows, smaller values wider ones around it.
        coupling : {"wu-lin-weng", "hastie-tibshirani"}, optional
            How the probabilities of the pairs of more than two levels are coupled; by default as in the fit.

        Returns
        -------
        DataFrame (m, K)
            One column per level, in the order of `classes`; with ``interval`` the columns ``p_low`` and ``p_high``. NaN
            where a predictor is missing.

        Raises
        ------
        ArgumentError
            For an argument outside what is allowed.
        UnavailableError
            For another method than Platt's, or the interval, with more than two levels.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> mackerel = datasets.load("mackerel")
        >>> fit = svm("egg_count > 0 ~ lon + lat", mackerel, costs={"fp": 1, "fn": 3}, loss="p0")
        >>> fit.threshold
        0.25
        >>> fit.predict_proba(mackerel.head(2), interval=True).round(3)
           p_low  p_high
        0  0.609     1.0
        1  0.598     1.0
        """
        one_of("method", method, ("platt", *POINTWISE))
        fraction("tightness", tightness)
        between_ends = flag("interval", interval)
        maps = self.maps
        if coupling is not None:
            self.shape.require_many("predict_proba(coupling=…)", "method, which chooses the map of the one pair")
            maps = maps.with_coupling(one_of("coupling", coupling, COUPLINGS))
        if between_ends or method != "platt":
            what = "predict_proba(interval=True)" if between_ends else f"predict_proba(method={method!r})"
            loss = self._pair(what, "method='platt'").loss
        index, f = self.decision_at(newdata)
        if between_ends:
            ends = probability_interval(f[:, 0], loss, float(tightness))
            return pd.DataFrame(np.column_stack(ends), index=index, columns=pd.Index(["p_low", "p_high"]))
        if method == "platt":
            return pd.DataFrame(maps.probabilities(f), index=index, columns=self.shape.levels)
        p = pointwise(f[:, 0], loss, method)
        columns = [p if level == self.event else 1.0 - p for level in self.classes]
        return pd.DataFrame(np.column_stack(columns), index=index, columns=self.shape.levels)

    def error(self, newdata: pd.DataFrame | None = None, *, weights: Any = None) -> float:
        """The weighted share of rows that are predicted wrongly, of a fit with more than two levels.

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
        self.shape.require_many("error", "risk(), which is the error rate where costs are 1, or apparent_error")
        if newdata is None:
            return self.apparent_error
        winner, codes = self.predicted_codes(newdata), self.frame.observed(newdata)
        known = (winner >= 0) & (codes >= 0)
        if not known.any():
            raise DataError("newdata has no row with the response and all predictors.")
        w = case_weights(weights, newdata, known)
        return measures.share(winner[known] != codes[known], w[known])

    # Resampling

    def loo(self, n_jobs: int | None = None, progress: bool = False) -> LooResult:
        """Leave every row out in turn; computed once and kept.

        Only the pairs that hold the row's level are refitted. Scaling, kernel width and factor coding are those of
        this fit. A row of weight w loses min(w, 1), one copy.

        Parameters
        ----------
        n_jobs : int, optional
            Number of workers, as in `joblib.Parallel`; ``joblib.parallel_config`` chooses the backend. The numbers do
            not depend on it.
        progress : bool
            Whether to show a progress bar.

        Returns
        -------
        LooResult

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> formula = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
        >>> loo = svm(formula, datasets.load("mackerel"), C=16, gamma=0.25).loo()
        >>> round(loo.score, 1), round(loo.error_rate, 4), round(loo.excess_error, 4)
        (488.2, 0.1625, 0.0284)
        >>> liver = datasets.load("liver")
        >>> loo = svm("disease ~ np.log(ast) + np.log(alt) + np.log(gldh)", liver, C=4).loo()
        >>> loo.n_refits == 3 * len(liver), loo.n_failed
        (True, 0)
        """
        return self._left_out(self.shape.two, n_jobs, progress)

    def get_influence(self, n_jobs: int | None = None, progress: bool = False) -> InfluenceResult:
        """The deletion deviances ΔD_k = D − D_(k) [003], from the leave-one-out.

        Parameters
        ----------
        n_jobs, progress
            As in `loo`, if that has not been computed yet.

        Returns
        -------
        InfluenceResult
        """
        return InfluenceResult(self._left_out(True, n_jobs, progress))

    def _left_out(self, influence: bool, n_jobs: int | None, progress: bool) -> LooResult:
        """The leave-one-out; with ``influence`` what it says of the other rows is computed in the same pass."""
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        arrays: LeaveOneOut = self._loo.get(
            lambda: leave_one_out(
                self.machine, self.insample_maps, influence=influence, n_jobs=n_jobs, progress=progress
            )
        )
        frame, losses = self.frame, tuple(pair.loss for pair in self.machine.pairs)
        return LooResult(
            arrays, frame.index, self.shape, frame.codes, frame.weights, self._winner, self.deviance, losses
        )

    def gof(
        self,
        B: int = 999,
        method: str = "pairs",
        level: float = 0.95,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> GofResult:
        """Goodness of fit: the deviance against its bootstrap distribution [003: 2.3].

        Scaling, kernel width and factor coding are those of this fit.

        Parameters
        ----------
        B : int
            Number of replicates, at least 1.
        method : {"pairs", "parametric"}
            "pairs" draws rows with replacement; "parametric" draws new labels from the fitted probabilities, which
            gives the distribution of the deviance under the fitted model, and needs whole weights.
        level : float
            Between 0 and 1: the percentile of the replicates that D is compared with.
        rng : int or Generator, optional
            On which alone the replicates depend.
        n_jobs, progress
            As in `loo`.

        Returns
        -------
        GofResult

        Raises
        ------
        ArgumentError
            For an argument outside what is allowed.
        DataError
            For fractional weights with method="parametric", and for weights that add up to more than 9e15.

        Notes
        -----
        The pairs test of [003] is no exact test: in a simulation under a true model (``python -m benchmarks
        simulation``) it never rejected smooth fits and, at a level of 0.05, a quarter of flexible ones, the parametric
        test none and 0.075. A replicate of drawn rows repeats some of them, and a flexible kernel fits these closely.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", datasets.load("mackerel"))
        >>> gof = fit.gof(B=19, method="parametric", rng=1)
        >>> gof.B, gof.n_failed
        (19, 0)
        """
        at_least("B", B, 1)
        one_of("method", method, METHODS)
        between("level", level, 0.0, 1.0)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        weights = self.frame.weights
        if method == "parametric" and (weights != np.round(weights)).any():
            raise DataError(
                "method='parametric' draws a label for every copy of a row: the weights must be whole numbers."
            )
        if weights.sum() > _MOST_COPIES:
            raise DataError(
                f"the weights add up to {weights.sum():.3g}, and a replicate draws that many copies of the rows: it "
                f"can count {_MOST_COPIES:.3g} of them. Divide the weights, which count as repeats of rows."
            )
        seed = seed_sequence("rng", rng)
        replicates = bootstrap_deviance(
            self.machine, self.insample_maps, B=B, method=method, seed=seed, n_jobs=n_jobs, progress=progress
        )
        return GofResult(self.deviance, replicates.deviance, method, float(level))

    def plot_surface(
        self, data: pd.DataFrame, x: Any = None, y: Any = None, *, at: dict[Any, Any] | None = None, ax: Any = None
    ) -> Any:
        """The decision surface, or the predicted one of several levels, over two predictors; with the rows of the fit.

        Parameters
        ----------
        data : DataFrame
            The data of the fit.
        x, y : column names, optional
            By default the first two numeric predictors.
        at : dict, optional
            Values at which the other predictors are held; by default their median or most frequent level.
        ax : Axes, optional

        Returns
        -------
        Axes
        """
        draw = surface_plot if self.shape.two else region_plot
        return draw(self, data, x, y, at=at, ax=ax)

    def summary(self) -> Summary:
        """The fit at a glance: prints as text, shows as HTML in a notebook, converts by ``.as_latex()``."""
        return summarize(self)
