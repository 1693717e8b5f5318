"""What probabilities are worth: their score beside that of the class frequencies, errors, ranking, calibration."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.checks import one_of
from svmstat._tools.randomness import seed_sequence
from svmstat._tools.texts import counted
from svmstat.calibration import Calibration
from svmstat.diagnostics.by_group import sums_by_group
from svmstat.diagnostics.reliability import SAMPLES, Reliability, reliability
from svmstat.diagnostics.shape import Shape
from svmstat.errors import UnavailableError
from svmstat.objective import measures, predictive
from svmstat.objective.predictive import Estimate, Line
from svmstat.objective.residuals import KINDS, of_levels
from svmstat.objective.units import Units, are_groups, are_whole
from svmstat.resampling.copies import Copies

_DIGITS = 12
"""Of probabilities by which rows are told apart."""

_SAME = 1e-9
"""Log-likelihoods of a row that differ by no more are the same."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Evidence:
    """Predictions of n rows beside what was observed; rows of weight zero do not count.

    Standard errors take rows for independent, or units where there are some. That of the score is of the expected score
    of fits of this size: in simulations (``python -m benchmarks validity``) it covers that less often the more of the
    fit is noise.

    Attributes
    ----------
    how : str
        "in-sample", or how the rows were held out, such as "leave-one-out".
    index : Index (n,)
    shape : Shape
        The levels.
    codes : ndarray (n,) of int
        The positions of the rows' levels.
    weights : ndarray (n,)
        Case weights.
    values : ndarray (n, P)
        Decision values of the pairs.
    probability : ndarray (n, K)
        Probabilities of the levels.
    log_likelihoods : ndarray (n,)
        Logarithms of the probabilities of what was observed.
    winner : ndarray (n,) of int
        The positions of the predicted levels, −1 where there is none.
    failed : ndarray (n,) of bool
        Whether the row could not be held out: a class lost, too few for nu, no certificate or no converged map.
    units : Units or None
        What is independent: groups of rows, or rows with their weight; None for each copy of a row.
    points : ndarray (n,) of int or None
        Which rows have the same predictors, where these have few values, so that most rows share theirs with rows of
        another level: the probabilities of such rows differ by which of them was left out, and by nothing else.
    maps : maps or None
        Those that all rows share, where the probabilities of each are by a map without it.
    seen : ndarray (n, K) or None
        The weights of the levels among the rows that the fit of each row has seen, where these are not all but the row
        or its unit.
    level_weights : ndarray (K,) or None
        By what costs, priors or class weights multiply the bounds of each level; None without any.
    optimism : float or None
        By how much the score is too good because cost and kernel were chosen by it, with `tune`: NaN if that is not
        known, None where nothing was chosen.
    support : float or None
        The share of the rows of the fit that are support vectors; None of other models.
    groups : Series (n,) or None
        The group of each row, where there are groups.
    copies : Copies or None
        Rows of which the fits without them have seen copies, equal rows that are no different cases; None where folds
        keep them together, and of other models.
    """

    how: str
    index: pd.Index
    shape: Shape
    codes: Codes
    weights: Floats
    values: Floats
    probability: Floats
    log_likelihoods: Floats
    winner: Codes
    failed: NDArray[np.bool_]
    units: Units | None = None
    points: Codes | None = None
    maps: Calibration | None = None
    seen: Floats | None = None
    level_weights: Floats | None = None
    optimism: float | None = None
    support: float | None = None
    groups: pd.Series | None = None
    copies: Copies | None = None

    def __repr__(self) -> str:
        failed = f", {counted(self.n_failed, 'row')} failed" if self.n_failed else ""
        numbers = f"score {self.score:.6g}, by class frequencies {self.null_score:.6g}, error {self.error_rate:.4g}"
        return f"<{type(self).__name__}: {self.how}, n = {len(self.index)}, {numbers}{failed}>"

    @property
    def n_failed(self) -> int:
        """How many rows could not be held out."""
        return int(np.count_nonzero(self.failed))

    def _by_row(self, values: NDArray[Any], name: str) -> pd.Series:
        return pd.Series(values, index=self.index, name=name, copy=True)

    @property
    def decision_values(self) -> Any:
        """Decision values f(x_k), each by a fit without its row if held out; NaN where that has lost a class.

        Series (n,); DataFrame (n, P), by pairs of more than two levels.
        """
        return self.shape.of_pairs(self.values, self.index, "decision_value")

    @property
    def prob(self) -> Any:
        """π_k, P(event | x_k), each by a fit and a map without its row if held out.

        Series (n,); DataFrame (n, K) of all levels if there are more than two.
        """
        return self.shape.of_classes(self.probability, self.index, "probability")

    @property
    def log_likelihood(self) -> pd.Series:
        """log π_k[y_k] (n,)."""
        return self._by_row(self.log_likelihoods, "log_likelihood")

    @property
    def error(self) -> pd.Series:
        """Whether a row is predicted wrongly (n,), 1 or 0; NaN without a prediction or level."""
        known = (self.winner >= 0) & (self.codes >= 0)
        return self._by_row(np.where(known, self.winner != self.codes, np.nan), "error")

    def summary_frame(self, by: str = "row") -> pd.DataFrame:
        """One row for each row: what is predicted, the log-likelihood of what was observed, and whether it errs.

        The first columns are ``decision_value`` and ``probability`` of the event; of more than two levels ``predicted``
        and the ``probability`` of the level that was observed.

        Parameters
        ----------
        by : {"row", "group"}
            "group" gives a row for each group instead: ``rows`` and their ``weight``, ``score`` −2 Σ w log π,
            ``score_per_row`` and ``error_rate``.

        Raises
        ------
        UnavailableError
            With by="group" for a fit without groups.
        """
        one_of("by", by, ("row", "group"))
        if by == "group":
            used = self._used
            each = self.weights[used], self.log_likelihoods[used], self.error.to_numpy(float)[used]
            return sums_by_group(self._label, *each)
        if self.shape.two:
            first = {"decision_value": self.decision_values, "probability": self.prob}
        else:
            own = self.probability[np.arange(len(self.codes)), np.maximum(self.codes, 0)]
            predicted = self.shape.response.labels(self.winner, self.index)
            first = {"predicted": predicted, "probability": np.where(self.codes >= 0, own, np.nan)}
        return pd.DataFrame({**first, "log_likelihood": self.log_likelihoods, "error": self.error}, index=self.index)

    def residuals(self, kind: str = "deviance", rng: int | np.random.Generator | None = None) -> Any:
        """How far what was observed is from its probability π.

        Single binary responses do not show misfit by themselves: they fall on two curves over π. Where they are
        averaged over rows with similar predictors they should be near zero.

        Parameters
        ----------
        kind : {"deviance", "pearson", "response", "quantile"}
            ± √(−2 log π[observed]); (1{event} − π)/√(π(1 − π)); 1{event} − π; or quantiles of the normal distribution
            drawn within the step of the observed outcome, standard normal where π is right [Dunn & Smyth 1996].
        rng : int or Generator, optional
            For "quantile", on which and on the order of the rows the draws depend.

        Returns
        -------
        Series or DataFrame
            (n,) of the event; (n, K) of every level against the rest if there are more than two. A row of weight w has
            the residual of each of its copies. NaN where a row has no level, or could not be held out.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> loo = svm("egg_count > 0 ~ lon + lat + b_depth", datasets.load("mackerel")).loo()
        >>> bool(abs((loo.residuals("deviance") ** 2).sum() - loo.score) < 1e-9)
        True
        """
        one_of("kind", kind, KINDS)
        generator = np.random.default_rng(seed_sequence("rng", rng))
        order = np.argsort(self.weights <= 0, kind="stable")  # the others draw as if rows of weight zero were absent
        found = np.empty_like(self.probability)
        found[order] = of_levels(kind, self.codes[order], self.probability[order], generator)
        return self.shape.of_classes(found, self.index, f"{kind}_residual")

    @property
    def _used(self) -> NDArray[np.bool_]:
        return self.weights > 0

    @property
    def _label(self) -> pd.Index:
        """The groups of the rows that count."""
        if self.groups is None:
            raise UnavailableError("by='group' needs a fit with groups: svm(..., groups=...).")
        return pd.Index(self.groups.to_numpy()[self._used], name=self.groups.name, tupleize_cols=False)

    @property
    def _units(self) -> Units | None:
        """Those of the rows that count."""
        return self.units_of(self._used)

    def units_of(self, rows: NDArray[np.bool_]) -> Units | None:
        """Those of some rows (n,), where there are any."""
        return None if self.units is None else self.units.among(rows)

    def score_above(self, other: "Evidence") -> Estimate:
        """The score less that of another fit to the same rows, with the paired standard error, on its weights."""
        used = other.weights > 0
        both = self.log_likelihoods[used], other.log_likelihoods[used]
        return predictive.score_difference(*both, other.weights[used], other.units_of(used))

    def without(self, rows: NDArray[np.bool_]) -> Self:
        """The same where some rows (n,) were never held out: they do not count, and have no prediction."""
        if not rows.any():
            return self
        weights = np.where(rows, 0.0, self.weights)
        units = None if self.units is None else self.units.kept(weights)
        optimism = None if self.optimism is None else self.optimism * float(weights.sum() / self.weights.sum())
        values, probability = (np.where(rows[:, None], np.nan, each) for each in (self.values, self.probability))
        return replace(
            self, weights=weights, failed=self.failed & ~rows, units=units, optimism=optimism, values=values,
            probability=probability, log_likelihoods=np.where(rows, np.nan, self.log_likelihoods),
            winner=np.where(rows, -1, self.winner),
        )  # fmt: skip

    @property
    def _observed(self) -> tuple[Codes, Floats]:
        """Classes and weights of the rows that count."""
        return self.codes[self._used], self.weights[self._used]

    @property
    def rows_of_levels(self) -> pd.Series:
        """(K,) how many rows have each level; copies are counted where rows are independent."""
        codes, weights = self._observed
        counted = weights if self.units is None else None
        return pd.Series(np.bincount(codes, counted, len(self.shape.levels)), index=self.shape.levels)

    @property
    def levels_move(self) -> bool:
        """Whether the fit without a row has seen clearly fewer of its level, as where rows are left out one by one.

        That is half of what one row of n makes, or more. Decision values that are all the same have not moved.
        """
        f = self.values[self._used]
        if (f == f[:1]).all():
            return False
        codes, seen = self._observed[0], self.seen
        if seen is None and self.how.startswith("leave-one") and self.units is not None and self.units.grouped:
            seen = self.units.others(np.eye(len(self.shape.levels))[self.codes] * self.weights[:, None])
        if seen is None:
            return self.how.startswith("leave-one")
        seen = seen[self._used]
        copies = np.ones(len(codes)) if self.units is not None and not are_groups(self.units) else self._observed[1]
        shares, n = seen / seen.sum(axis=1, keepdims=True), copies.sum()
        mean = np.average(shares, axis=0, weights=copies)
        fewer = float(np.average(mean[codes] - shares[np.arange(len(codes)), codes], weights=copies))
        of_one = 1.0 - float((np.bincount(codes, copies) ** 2).sum()) / n**2
        return bool(fewer >= 0.5 * of_one / max(n - 1.0, 1.0))

    # Against the class frequencies

    @property
    def _score(self) -> Estimate:
        return predictive.score(self.log_likelihoods[self._used], self._observed[1], self._units)

    @property
    def score(self) -> float:
        """−2 Σ w_k log π_k[y_k], held out the CV score; NaN if a row could not be left out."""
        return self._score.value

    @property
    def score_se(self) -> float:
        """Standard error of the score, 2 √(n · var of the log-likelihoods), weights being repeats; or over groups."""
        return self._score.se

    @property
    def _null(self) -> Floats:
        if self.seen is not None:
            return predictive.seen_log_likelihoods(self._observed[0], self.seen[self._used])
        return predictive.null_log_likelihoods(*self._observed, self.how != "in-sample", self._units)

    @property
    def gains(self) -> Floats:
        """(n,) log π of what was observed above that of the class frequencies; NaN in rows that do not count."""
        found = np.full(len(self.codes), np.nan)
        found[self._used] = self.log_likelihoods[self._used] - self._null
        return found

    @property
    def null_score(self) -> float:
        """The score of the class frequencies; held out, of those of the rows that the fit of a row has seen."""
        return predictive.score(self._null, self._observed[1]).value

    @property
    def is_corrected(self) -> bool:
        """Whether R² is corrected for the choice of cost and kernel: there was one, and its optimism is known."""
        return self.optimism is not None and not np.isnan(self.optimism)

    @property
    def _ratio(self) -> Estimate:
        """1 − score / null score, whatever was chosen by the score."""
        return predictive.rsquared(self.log_likelihoods[self._used], self._null, self._observed[1], self._units)

    @property
    def _rsquared(self) -> Estimate:
        ratio, optimism = self._ratio, self.optimism or 0.0
        if not self.is_corrected:
            return ratio
        return ratio._replace(value=predictive.beyond_rounding(ratio.value - optimism / self.null_score))

    @property
    def rsquared(self) -> float:
        """1 − score / null score: in-sample McFadden's R²; held out it is negative for what is worse than nothing.

        Of a fit that `tune` chose by such scores it is 1 − (score + optimism) / null score, as it is for rows that had
        no part in the choice.
        """
        return self._rsquared.value

    @property
    def rsquared_se(self) -> float:
        """Its standard error, by the delta method."""
        return self._rsquared.se

    # Errors

    @property
    def _error(self) -> Estimate:
        used = self._used
        if (self.winner[used] < 0).any():
            return Estimate(np.nan, np.nan)
        return predictive.proportion(self.winner[used] != self.codes[used], self.weights[used], self._units)

    @property
    def error_rate(self) -> float:
        """Weighted share of rows that are predicted wrongly; NaN if a row could not be left out."""
        return self._error.value

    @property
    def error_rate_se(self) -> float:
        """√(e (1 − e)/n) for the error rate e; or over groups."""
        return self._error.se

    @property
    def base_error(self) -> float:
        """The error of always predicting the commonest level."""
        codes, weights = self._observed
        return float(1.0 - np.bincount(codes, weights).max() / weights.sum())

    @property
    def predicts_one_level(self) -> Any:
        """The level that is predicted for every row, None if there are several."""
        found = np.unique(self.winner[self._used])
        return self.shape.response.levels[found[0]] if len(found) == 1 and found[0] >= 0 else None

    @property
    def confusion(self) -> pd.DataFrame:
        """Sums of weights by observed (rows) and predicted (columns) level; rows without a prediction do not count."""
        known = self.winner >= 0
        cells = measures.cross_table(
            self.codes[known], self.winner[known], self.weights[known], len(self.shape.response.levels)
        )
        levels = self.shape.response.levels
        return pd.DataFrame(cells, pd.Index(levels, name="observed"), pd.Index(levels, name="predicted"))

    def _of_level(self, of_it: bool) -> list[Estimate]:
        """By level, the share of its rows, or of the others, that are said to be of it, or not to be."""
        used, found = self._used & (self.winner >= 0), []
        for level in self.shape.shown:
            rows = used & ((self.codes == level) == of_it)
            hit = (self.winner[rows] == level) == of_it
            found.append(predictive.proportion(hit, self.weights[rows], self.units_of(rows)))
        return found

    @property
    def sensitivity(self) -> Any:
        """Share of the events that are predicted as such; of more than two levels a Series of every level's."""
        return self._shown([each.value for each in self._of_level(True)], "sensitivity")

    @property
    def specificity(self) -> Any:
        """Share of the other rows that are not predicted as events; of more than two levels a Series."""
        return self._shown([each.value for each in self._of_level(False)], "specificity")

    def _shown(self, values: list[float], name: str) -> Any:
        return values[0] if self.shape.two else pd.Series(values, index=self.shape.levels, name=name)

    # Probabilities and their order

    @property
    def _brier(self) -> Estimate:
        return predictive.brier(self.probability[self._used], *self._observed, self._units)

    @property
    def brier(self) -> float:
        """The Brier score: mean square of 1{event} − π; of more levels the mean sum of squares over them."""
        return self._brier.value

    @property
    def brier_se(self) -> float:
        """Its standard error."""
        return self._brier.se

    def _auc(self) -> list[Estimate]:
        used, (codes, weights) = self._used, self._observed
        points = None if self.points is None else self.points[used]
        if self.shape.two:
            return [predictive.auc(self.values[used, 0], codes == self.shape.shown[0], weights, self._units, points)]
        ranked, tied = self.probability[used].round(_DIGITS), dict.fromkeys(self.shape.shown, points)
        if self.maps is not None:
            shared = self._shared[used]
            if points is None:
                tied = {level: _ties(shared[:, level]) for level in self.shape.shown}
            else:
                ranked, tied = shared, dict.fromkeys(self.shape.shown)
        return [
            predictive.auc(ranked[:, level], codes == level, weights, self._units, tied[level])
            for level in self.shape.shown
        ]

    @property
    def _shared(self) -> Floats:
        """(n, K) the probabilities by the maps that all rows share; NaN where rows do not count."""
        found, known = np.full(self.probability.shape, np.nan), self._used
        if self.maps is None:
            found[known] = self.probability[known]
            return found
        known = known & np.isfinite(self.values).all(axis=1)
        found[known] = self.maps.probabilities(self.values[known]).round(_DIGITS)
        return found

    def along(self, level: int) -> Floats:
        """(n,) the probability of a level by maps that all rows share, of rows with few values the mean at each point.

        Bins of rows are along it: leaving a row out moves its own probability away from its level, so that bins along
        that would put rows that are equal apart by what was observed. NaN where rows do not count.
        """
        return self.along_all[:, level]

    @property
    def along_all(self) -> Floats:
        """(n, K) the same of all levels."""
        found = self._shared
        if self.points is None:
            return found
        known = np.isfinite(found).all(axis=1)
        at, w = self.points[known], self.weights[known]
        total = np.maximum(np.bincount(at, w), np.finfo(float).tiny)
        means = np.column_stack([np.bincount(at, w * each) / total for each in found[known].T])
        found[known] = means[at]
        return found.round(_DIGITS)

    @property
    def auc(self) -> Any:
        """Area under the ROC curve of f; of more than two levels of P(level), one against the rest, a Series.

        Values by fits without their row are pooled, which biases it slightly downwards: leaving a row out moves its own
        probability away from its level. Where predictors have few values, most rows sharing theirs with rows of another
        level, those with the same ones count as tied, and of more than two levels all are ranked by P(level) of the
        maps that all rows share, at their held-out decision values; these are the in-sample maps of the fit where each
        fold has its own. Rows that these maps do not tell apart are tied everywhere.
        """
        return self._shown([each.value for each in self._auc()], "auc")

    @property
    def auc_se(self) -> Any:
        """Its standard error of DeLong, DeLong & Clarke-Pearson (1988); over groups that of Obuchowski (1997)."""
        return self._shown([each.se for each in self._auc()], "auc_se")

    def _lines(self) -> list[Line]:
        codes, weights = self._observed
        if self.is_of_frequencies:  # which differ by how many of a level were left out, and by nothing else
            return [predictive.NO_LINE for _ in self.shape.shown]
        p = self.probability[self._used]
        others = p @ (1.0 - np.eye(p.shape[1]))  # and not 1 − p, which has no digits where p is near 1
        return [
            predictive.calibration_line(p[:, level], codes == level, weights, self._units, others[:, level])
            for level in self.shape.shown
        ]

    @property
    def is_of_frequencies(self) -> bool:
        """Whether the probabilities are those of the class frequencies of other rows, to rounding."""
        return bool((np.abs(self.log_likelihoods[self._used] - self._null) <= _SAME).all())

    @property
    def calibration_slope(self) -> Any:
        """Slope of the logistic regression of the outcome on logit π, 1 if calibrated, below it if too extreme.

        Of more than two levels one against the rest, a Series. NaN where the probabilities separate the levels, or
        are the class frequencies.
        """
        return self._shown([line.slope.value for line in self._lines()], "calibration_slope")

    @property
    def calibration_slope_se(self) -> Any:
        """Its standard error."""
        return self._shown([line.slope.se for line in self._lines()], "calibration_slope_se")

    @property
    def calibration_intercept(self) -> Any:
        """Intercept of that regression, 0 if calibrated."""
        return self._shown([line.intercept.value for line in self._lines()], "calibration_intercept")

    @property
    def calibration_intercept_se(self) -> Any:
        """Its standard error."""
        return self._shown([line.intercept.se for line in self._lines()], "calibration_intercept_se")

    @property
    def draws_labels(self) -> bool:
        """Whether each copy of a row can draw a label independently of others: without groups, of whole weights."""
        return self.units is None and are_whole(self.weights)

    def reliability(self, B: int | None = None, level: float = 0.9, rng: Any = None) -> Reliability:
        """The probabilities beside their isotonic recalibration: CORP diagram, with consistency bands.

        Parameters
        ----------
        B : int, optional
            Samples of outcomes for the bands, 0 for no bands, which need whole weights and independent rows; by default
            199, without these 0.
        level : float
            That of the bands, point by point.
        rng : int or Generator, optional
            On which alone the bands depend.

        Returns
        -------
        Reliability
            Of the event, or of each of more than two levels against the rest.
        """
        response = self.shape.response
        code = response.event_code if self.shape.two else None
        if self.units is not None and B:
            raise UnavailableError(
                "bands are of samples of independent rows, each so many copies: with groups or probability weights "
                "there are none, B=0."
            )
        B = SAMPLES * self.draws_labels if B is None else B
        return reliability(self.probability, self.codes, self.weights, response.levels, code, B=B, level=level, rng=rng)

    def estimates(self) -> dict[str, Estimate]:
        """The numbers of all levels, by name."""
        return {
            "score": self._score,
            "null_score": Estimate(self.null_score, np.nan),
            "ratio": self._ratio,
            "rsquared": self._rsquared,
            "brier": self._brier,
            "error_rate": self._error,
            "base_error": Estimate(self.base_error, np.nan),
        }

    def by_level(self) -> Iterator[tuple[Any, dict[str, Estimate]]]:
        """The numbers of the event, or of each of more than two levels, by name."""
        names = self.shape.response.levels
        found = zip(
            self.shape.shown, self._auc(), self._of_level(True), self._of_level(False), self._lines(), strict=True
        )
        for level, area, sensitivity, specificity, line in found:
            yield (
                names[level],
                {
                    "auc": area,
                    "sensitivity": sensitivity,
                    "specificity": specificity,
                    "calibration_slope": line.slope,
                    "calibration_intercept": line.intercept,
                },
            )


def _ties(values: Floats) -> Codes | None:
    """Which of the values (n,) are equal; None where all differ."""
    different, which = np.unique(values, return_inverse=True)
    return which if len(different) < len(values) else None
