"""What every fit knows of its data and settings, whether its response has two levels or more."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat import measures
from svmstat._checks import at_least, between, flag, one_of, workers
from svmstat._random import seed_sequence
from svmstat.decision import Decision
from svmstat.diagnostics import GofResult, InfluenceResult, LeftOut
from svmstat.errors import DataError, UnavailableError
from svmstat.formula import ModelFrame, Response
from svmstat.kernels import Kernel, Linear, Precomputed
from svmstat.machine import Machine
from svmstat.multiclass import PairsMachine
from svmstat.plots import region_plot, surface_plot
from svmstat.resampling import METHODS, Replicates
from svmstat.summary import Summary

Floats = NDArray[np.float64]

_MOST_COPIES = 2.0**53
"""Larger whole numbers are no longer all doubles."""


@dataclass(frozen=True, repr=False, eq=False)
class Fitted(ABC):
    """The part of a fit that does not depend on the number of levels.

    Attributes
    ----------
    frame : ModelFrame
        The arrays that the formula gave, and how to do the same to new data.
    machine : Machine or PairsMachine
        The kernel machine on these arrays.
    loss : str
    C : float
    decision : Decision
        Costs, priors and class weights.
    """

    frame: ModelFrame
    machine: Machine | PairsMachine
    loss: str
    C: float
    decision: Decision

    @abstractmethod
    def summary(self) -> Summary:
        """The fit at a glance: prints as text, shows as HTML in a notebook, converts by ``.as_latex()``."""

    @property
    @abstractmethod
    def llf(self) -> float:
        """Log-likelihood Σ w_i log p_{y_i}(x_i)."""

    @abstractmethod
    def loo(self, n_jobs: int | None = None, progress: bool = False) -> LeftOut:
        """Leave every row out in turn; computed once and kept."""

    @abstractmethod
    def _bootstrap(self, **how: Any) -> Replicates:
        """The bootstrapped deviances."""

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    @property
    def formula(self) -> str:
        """The formula, with ``.`` written out."""
        return self.frame.design.formula

    @property
    def response(self) -> Response:
        """The response: its name, levels and event."""
        return self.frame.response

    @property
    def response_name(self) -> str:
        """The left side of the formula."""
        return self.response.name

    @property
    def classes(self) -> tuple[Any, ...]:
        """The levels of the response, in their order."""
        return self.response.levels

    @property
    def nobs(self) -> float:
        """The number of observations, Σw."""
        return float(self.frame.weights.sum())

    @property
    def n_rows(self) -> int:
        """The number n of rows that are used, those of weight zero among them."""
        return len(self.frame.y)

    @property
    def n_missing(self) -> int:
        """The number of rows dropped because of missing values."""
        return self.frame.n_missing

    @property
    def n_outside_subset(self) -> int:
        """The number of rows outside the subset."""
        return self.frame.n_subset_dropped

    @property
    def n_zero_weight(self) -> int:
        """The number of rows of weight zero."""
        return int((self.frame.weights == 0).sum())

    @property
    def weights_given(self) -> bool:
        """Whether there were case weights."""
        return self.frame.weights_given

    @property
    def class_weight(self) -> dict[Any, float] | None:
        """L for each level; None if there were neither class weights nor costs nor priors."""
        return self.decision.class_weight if self.decision.given else None

    @property
    def priors(self) -> dict[Any, float] | None:
        """The shares of the levels in the target population, None if they were not given."""
        return self.decision.priors

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self.machine.kernel

    @property
    def kernel_name(self) -> str:
        """The name of the kernel; of one that is made of others, what it is made of."""
        return self.kernel.title

    @property
    def kernel_parameters(self) -> dict[str, Any]:
        """The parameters of the kernel, by name."""
        return self.kernel.parameters

    @property
    def lambda_(self) -> float:
        """λ = 1/(2 C Σw) of the penalised form."""
        return 1.0 / (2.0 * self.C * self.nobs)

    @property
    def scaled(self) -> bool:
        """Whether columns were standardised."""
        return self.frame.design.scaled

    @property
    def n_columns(self) -> int:
        """The number p of columns of the design."""
        return len(self.frame.design.column_names)

    @property
    def n_constant(self) -> int:
        """The number of columns dropped from the design because they were constant."""
        return len(self.frame.design.dropped)

    @property
    def deviance(self) -> float:
        """−2 log-likelihood of the Platt probabilities [003]."""
        return -2.0 * self.llf

    @cached_property
    def null_deviance(self) -> float:
        """−2 log-likelihood of the class frequencies."""
        return measures.null_deviance(self.frame.codes, self.frame.weights)

    @property
    def pseudo_rsquared(self) -> float:
        """McFadden's R², 1 − deviance / null deviance."""
        return 1.0 - self.deviance / self.null_deviance

    @property
    def has_params(self) -> bool:
        """Whether f is a linear function of the columns of the design."""
        return isinstance(self.kernel, Linear)

    def _require_linear(self, name: str) -> None:
        if not self.has_params:
            raise UnavailableError(
                f"{name} exists for kernel='linear' only, where f is linear; this fit has kernel {self.kernel_name!r}."
            )

    def _by_row(self, values: NDArray[Any], name: str) -> pd.Series:
        return pd.Series(values, index=self.frame.index, name=name, copy=True)

    def _at_complete(self, newdata: pd.DataFrame) -> tuple[pd.Index, NDArray[np.bool_], Floats]:
        """The index of new rows (m,), which of them have all predictors, and the decision values of these."""
        rows = self.frame.design.transform(newdata)
        complete = ~rows.missing
        X = rows.X[complete]
        if isinstance(self.kernel, Precomputed):
            X = np.ascontiguousarray(X[:, self.frame.rows])
        return rows.index, complete, self.machine.decision_function(X)

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
        return InfluenceResult(self.loo(n_jobs, progress))

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
        replicates = self._bootstrap(B=B, method=method, seed=seed, n_jobs=n_jobs, progress=progress)
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
        draw = surface_plot if len(self.classes) == 2 else region_plot
        return draw(self, data, x, y, at=at, ax=ax)
