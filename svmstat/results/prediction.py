"""What a fit says of rows: decision values, levels, probabilities."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes
from svmstat._tools.checks import flag, fraction, one_of, refuse
from svmstat._tools.frames import in_kind, of_any_kind
from svmstat.calibration import COUPLINGS, POINTWISE, VennAbersMaps, pointwise, probability_interval
from svmstat.errors import ArgumentError, DataError, UnavailableError
from svmstat.formula import case_weights, counted_rows
from svmstat.machine import vote
from svmstat.objective import measures
from svmstat.results.two_levels import WEIGHTS_OF_NEWDATA, TwoLevels


@dataclass(frozen=True, repr=False, eq=False)
class Predicting(TwoLevels):
    """Predictions for the rows of the fit, and for new ones."""

    @in_kind
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

    @in_kind
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

    @in_kind
    def predict_proba(
        self,
        newdata: pd.DataFrame | None = None,
        *,
        method: str = "platt",
        interval: bool = False,
        tightness: float = 1.0,
        coupling: str | None = None,
    ) -> pd.DataFrame:
        """Probabilities of the levels, or the loss-implied interval of that of the event.

        They are those of the population that the sample comes from, also where priors or costs were given.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.
        method : {"platt", "sollich", "semiparametric"}
            The map from decision values: "platt" that of the fit's `calibration`, 1/(1 + exp(A f + B)) if it is not
            "venn-abers"; the others follow from the loss alone and lie in the interval [002: 8, 9], for two levels.
        interval : bool
            Whether to give the loss-implied interval of the probability of the event [002: 7] instead; ``method`` is
            not used. For two levels. It is no confidence interval: see the notes.
        tightness : float
            In (0, 1]: 1 gives the narrowest loss-implied interval, smaller values wider ones around it.
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

        Notes
        -----
        The loss-implied interval says which probabilities the loss cannot tell apart at this f. It is no confidence
        interval: of 100 and 200 rows, tuned or not, it covers the true probability in 0.26 to 0.89 of the rows, least
        where the truth is rough (``python -m benchmarks validity sets``). How far an estimate moves from sample to
        sample is what `get_prediction` says.

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
        between_ends = flag("interval", interval)
        if fraction("tightness", tightness) != 1.0 and not between_ends:
            raise refuse("tightness", tightness, "left out without interval=True")
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

    @in_kind
    def calibration_bounds(self, newdata: pd.DataFrame | None = None) -> pd.DataFrame:
        """p₀ and p₁ of Venn and Abers: the isotonic probability of the event with the row added as other, and as event.

        One of the two is calibrated, nearly so of leave-one-out values; together they bound the calibration of p and
        are no confidence interval.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.

        Returns
        -------
        DataFrame (m, 2)
            Columns ``p_low`` and ``p_high``; NaN where a predictor is missing.

        Raises
        ------
        UnavailableError
            For more than two levels, and for another calibration than "venn-abers".

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> mackerel = datasets.load("mackerel")
        >>> fit = svm("egg_count > 0 ~ lon + lat", mackerel, calibration="venn-abers")
        >>> fit.calibration_bounds(mackerel.head(1)).columns.tolist()
        ['p_low', 'p_high']
        """
        self._pair("calibration_bounds", "predict_proba()")
        maps = self.maps
        if not isinstance(maps, VennAbersMaps):
            raise UnavailableError(
                f"calibration_bounds exists for calibration='venn-abers' only; that of this fit is {maps.kind!r}."
            )
        index, f = self.decision_at(newdata)
        ends = maps.alone.bounds(f[:, 0])
        return pd.DataFrame({"p_low": ends.p0, "p_high": ends.p1}, index=index)

    @of_any_kind
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
        ArgumentError
            For weights without newdata.
        DataError
            If no new row has both the response and the predictors, or a column cannot be used.
        """
        self.shape.require_many("error", "risk(), which is the error rate where costs are 1, or apparent_error")
        if newdata is None:
            if weights is not None:
                raise ArgumentError(WEIGHTS_OF_NEWDATA)
            return self.apparent_error
        winner = self.predicted_codes(newdata)
        codes = self.frame.observed(newdata, partial(counted_rows, weights, newdata, winner >= 0))
        known = (winner >= 0) & (codes >= 0)
        if not known.any():
            raise DataError("newdata has no row with the response and all predictors.")
        w = case_weights(weights, newdata, known)
        return measures.share(winner[known] != codes[known], w[known])
