"""Refits of a fit to drawn rows, whatever they are wanted for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import at_least, between, flag, workers
from svmstat._tools.frames import read_frame
from svmstat._tools.randomness import check_draws
from svmstat.diagnostics import Coefficients, PredictionResult
from svmstat.errors import ArgumentError
from svmstat.reporting.rendering.lines import line
from svmstat.resampling.averages import is_flat, other_maps
from svmstat.resampling.replicates import PairsReplicates, Spread, least_replicates, spread
from svmstat.results.prediction import Predicting

_ROUNDING = 1e-12
"""By which share of the largest value of a column one is no further than it."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bootstrap:
    """Refits of a fit to rows drawn with replacement; made by `SVMResults.bootstrap`.

    Scaling, kernel width and factor coding are those of the fit.

    Attributes
    ----------
    fit : SVMResults
    replicates : PairsReplicates
        The arrays: how often each group of equal rows was drawn, α y and b of each pair, maps of the rows left out, and
        the seed.
    """

    fit: Predicting
    replicates: PairsReplicates

    @property
    def B(self) -> int:
        """The number of replicates."""
        return len(self.replicates.counts)

    @property
    def n_failed(self) -> int:
        """How many replicates have no decision values: a class was not drawn, or the solution is not certified."""
        return int(self.replicates.failed.sum())

    def decision_function(self, newdata: pd.DataFrame | None = None) -> Floats:
        """Decision values by every replicate.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.

        Returns
        -------
        ndarray (B, m, P)
            NaN where a pair has lost a class or is not certified, or a predictor is missing.
        """
        return self._at(newdata, self.replicates.decision_function, len(self.fit.machine.pairs))

    def predict_proba(self, newdata: pd.DataFrame | None = None) -> Floats:
        """Probabilities of the levels by every replicate, each by Platt's map of the rows that it left out.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.

        Returns
        -------
        ndarray (B, m, K)
            In the order of the fit's `classes`; NaN where a replicate has no map or a predictor is missing.
        """
        return self._at(newdata, self.replicates.probabilities, len(self.fit.classes))

    def _at(self, newdata: pd.DataFrame | None, compute: Callable[[Floats], Floats], size: int) -> Floats:
        """(B, m, size) what is computed of the rows that lack no predictor; NaN of the others."""
        _, complete, X = self.fit.rows_at(newdata)
        found = np.full((self.B, len(complete), size), np.nan)
        found[:, complete] = compute(X)
        return found

    def get_prediction(
        self,
        newdata: pd.DataFrame | None = None,
        level: float = 0.95,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> PredictionResult:
        """The fit's probabilities with their stability over these replicates, as `SVMResults.get_prediction`."""
        level = checked_level(level, self.B)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        new = None if newdata is None else read_frame("newdata", newdata)
        data, kind = (None, self.fit.kind) if new is None else (new.data, new.kind)
        index, complete, X = self.fit.rows_at(data)
        decision = self.fit.decision_at(data)[1]
        found = spread(self.replicates, X, level, n_jobs, progress)
        every = np.full((3, len(index), len(self.fit.classes)), np.nan)
        every[:, complete] = found.se, found.lower, found.upper
        maps, n_failed = self.fit.maps, int(self.replicates.unmapped.sum())
        probability = maps.probabilities(decision)
        return PredictionResult(
            index,
            self.fit.shape,
            probability,
            Spread(*every),
            level,
            self.B,
            n_failed,
            kind,
            other_maps(maps),
            is_flat(maps),
            _count_beyond(self.fit, X),
        )

    def params(self) -> pd.DataFrame:
        """Intercept and coefficients of every replicate, on the scale of the fit's `params`; linear kernel only.

        Returns
        -------
        DataFrame (B, 1 + p)
            Of more than two levels (B, P (1 + p)), the columns being those of ``fit.params.unstack()``. NaN where a
            pair has lost a class or is not certified.
        """
        return self._params("params()")

    def confint(self, level: float = 0.95) -> Coefficients:
        """The fit's coefficients with their spread over these replicates, as `SVMResults.confint`."""
        level = checked_level(level, self.B)
        replicates = self._coefficients("confint()")
        estimate = self.fit.params.to_numpy().reshape(replicates.shape[1:])
        return Coefficients(self.fit.shape, self.fit.param_names, estimate, replicates, level)

    def vcov(self) -> pd.DataFrame:
        """Covariances of the coefficients over these replicates, as `SVMResults.vcov`."""
        return self._params("vcov()").dropna().cov()

    def _params(self, name: str) -> pd.DataFrame:
        labels = self.fit.param_labels
        values = self._coefficients(name).swapaxes(1, 2).reshape(self.B, len(labels))
        return pd.DataFrame(values, pd.RangeIndex(self.B, name="replicate"), labels)

    def _coefficients(self, name: str) -> Floats:
        """(B, 1 + p, P)."""
        self.fit.require_linear(name)
        return self.fit.unscaled(self.replicates.directions, self.replicates.intercept)

    def __repr__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        what = "groups" if self.fit.grouped else "rows"
        return line(f"<Bootstrap: {self.B} replicates of drawn {what}{failed}, of ", self.fit.formula, ">")


class Drawing(Protocol):
    """A fit whose rows can be drawn."""

    def bootstrap(
        self, B: int, rng: int | np.random.Generator | None, n_jobs: int | None, progress: bool
    ) -> Bootstrap:  # fmt: skip
        """Fits to rows that are drawn with replacement."""


def checked_level(level: float, B: int) -> float:
    """The level of an interval between percentiles, for which B replicates must do."""
    level = between("level", level, 0.0, 1.0)
    if least_replicates(level) > B:
        at_least(f"with level={level:g}, B", B, least_replicates(level))
    return level


def own_bootstrap(fit: object, B: Bootstrap) -> Bootstrap:
    """Replicates that were made of this very fit."""
    if B.fit is not fit:
        raise ArgumentError("B is the bootstrap of another fit: it must be bootstrap() of this one, or a number.")
    return B


def count_of(fit: object, B: int | Bootstrap) -> int:
    """How many replicates are given, or asked for."""
    return own_bootstrap(fit, B).B if isinstance(B, Bootstrap) else at_least("B", B, 1)


def made_of(
    fit: Drawing, B: int | Bootstrap, rng: int | np.random.Generator | None, n_jobs: int | None, progress: bool
) -> Bootstrap:
    """The replicates that are given, or as many new ones as are asked for."""
    check_draws(rng, n_jobs, progress)
    return own_bootstrap(fit, B) if isinstance(B, Bootstrap) else fit.bootstrap(B, rng, n_jobs, progress)


def replicates_of(
    fit: Drawing, B: int | Bootstrap, level: float, rng: int | np.random.Generator | None, n_jobs: int | None,
    progress: bool,
) -> PairsReplicates | None:  # fmt: skip
    """Those that are given or asked for, enough of them for intervals of the level; None for B = 0."""
    if not (isinstance(B, Bootstrap) or at_least("B", B, 0)):
        check_draws(rng, n_jobs, progress)
        return None
    checked_level(level, count_of(fit, B))
    return made_of(fit, B, rng, n_jobs, progress).replicates


def _count_beyond(fit: Predicting, rows: Floats) -> int:
    """How many of them (m, p), as the machine takes them, have a column beyond the values of the rows of the fit."""
    if not fit.kernel.of_rows:
        return 0
    seen = fit.machine.X[fit.frame.weights > 0]
    low, high = seen.min(axis=0), seen.max(axis=0)
    slack = _ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return int(np.count_nonzero(((rows < low - slack) | (rows > high + slack)).any(axis=1)))
