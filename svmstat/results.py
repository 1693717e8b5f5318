"""What a fit knows: its numbers by row and level, predictions for new data, its summary."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat import measures
from svmstat._checks import flag, fraction, one_of, refuse, workers
from svmstat.bounds import check_range
from svmstat.calibration import POINTWISE, Platt, pointwise, probability_interval
from svmstat.cost_path import PathResult, check_costs_along, follow_costs
from svmstat.decision import check_costs
from svmstat.diagnostics import LooResult
from svmstat.errors import ArgumentError, DataError, UnavailableError
from svmstat.fitted import Fitted
from svmstat.formula import case_weights, true_probabilities
from svmstat.gacv import machine_gacv
from svmstat.machine import Machine
from svmstat.plots import probability_plot
from svmstat.resampling import LeaveOneOut, Replicates, bootstrap_deviance, leave_one_out
from svmstat.rules import BiasTuned, error_rates, labels_of
from svmstat.solver import Nearest, Status
from svmstat.summary import Summary, abridged, summarize

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class SVMResults(Fitted):
    """A fitted two-class support vector machine; made by `svm`.

    n is the number of rows that are used, on the index of the data; p the number of columns of the design.

    Attributes
    ----------
    frame : ModelFrame
        The arrays that the formula gave, and how to do the same to new data.
    machine : Machine
        The kernel machine on these arrays, with its solution and certificate.
    calibration : Platt
        The map from decision values to probabilities: ``slope`` A, ``intercept`` B, ``converged``.
    insample : Platt
        The map fitted to the in-sample decision values, which deviance, leave-one-out and goodness of fit use;
        ``calibration`` itself unless that was asked to be otherwise.
    loss : str
    C : float
        The cost; with nu that of the equivalent fit, 1/(ρn).
    decision : Decision
        Costs, priors and class weights.
    """

    machine: Machine
    calibration: Platt
    insample: Platt

    def __repr__(self) -> str:
        cost = f"C = {self.C:g}" if self.nu is None else "nu = ({:g}, {:g})".format(*self.nu)
        return (
            f"<SVMResults: {abridged(self.formula, 100)}; kernel {self.kernel_name}, {cost}, "
            f"n = {self.n_rows}, {len(self.support)} support vectors>"
        )

    # The two classes

    @property
    def event(self) -> Any:
        """The level that f > 0 predicts."""
        return self.response.event

    @property
    def costs(self) -> dict[str, float] | None:
        """The costs of a false positive "fp" and of a false negative "fn", None if they were not given."""
        return self.decision.costs

    @property
    def nu(self) -> tuple[float, float] | None:
        """ν₊ of the event and ν₋ of the other level; None if C was given."""
        nu = self.machine.nu
        return None if nu is None else (nu.event, nu.other)

    @property
    def rho(self) -> float:
        """ρ of the 2ν-SVM, by which f is divided for the margins to be at −1 and 1; 0 where h = 0.

        Raises
        ------
        UnavailableError
            If C was given.
        """
        return self._require_nu("rho").rho

    @property
    def rho_interval(self) -> tuple[float, float]:
        """All optimal ρ, a point if each class has a free support vector; otherwise midpoints or finite ends are used.

        Raises
        ------
        UnavailableError
            If C was given.
        """
        return self._require_nu("rho_interval").rho_interval

    @cached_property
    def nu_bounds(self) -> pd.DataFrame:
        """By class: ``margin_errors`` ≤ ``nu`` ≤ ``support``, the shares with y f < 1 and with α > 0 [004: 1].

        Raises
        ------
        UnavailableError
            If C was given.
        """
        nearest = self._require_nu("nu_bounds")
        event, w = self.frame.y > 0, self.frame.weights
        margin = 1.0 if nearest.rho > 0 else 0.0
        inside = self.frame.y * self.machine.decision_values < margin - 1e-7
        chosen = [(event if level == self.event else ~event) for level in self.classes]
        return pd.DataFrame(
            {
                "margin_errors": [measures.share(inside[rows], w[rows]) for rows in chosen],
                "nu": [self.nu[int(level != self.event)] for level in self.classes],  # type: ignore[index]
                "support": [measures.share(self.machine.alpha[rows] > 0, w[rows]) for rows in chosen],
            },
            index=pd.Index(self.classes),
        )

    def _require_nu(self, name: str) -> Nearest:
        nearest = self.machine.solution.nearest
        if nearest is None:
            raise UnavailableError(f"{name} exists for fits with nu only; this fit has C = {self.C:g}.")
        return nearest

    @property
    def threshold(self) -> float:
        """P0 = L(−1) / (L(−1) + L(+1)): what f > 0 estimates is whether P(event | x) exceeds it."""
        return self.machine.loss.threshold

    # The solution

    @property
    def _by_level(self) -> list[int]:
        """Where each level stands in (other, event)."""
        return [int(level == self.event) for level in self.classes]

    @property
    def alpha(self) -> pd.Series:
        """Dual variables α (n,), 0 ≤ α_i ≤ u_i."""
        return self._by_row(self.machine.alpha, "alpha")

    @property
    def decision_values(self) -> pd.Series:
        """f(x_i) (n,) of the rows that are used."""
        return self._by_row(self.machine.decision_values, "decision_value")

    @property
    def fittedvalues(self) -> pd.Series:
        """P(event) (n,) of the rows that are used."""
        return self._by_row(self.calibration.probability(self.machine.decision_values), "probability")

    @property
    def support(self) -> pd.Index:
        """The labels of the rows with α > 0."""
        return self.frame.index[self.machine.alpha > 0]

    @property
    def n_support(self) -> pd.DataFrame:
        """Support vectors by class: columns ``rows`` (all rows), ``free``, ``bounded``, ``total``.

        Sums of weights where weights were given. A vector is free if 0 < α < u, bounded if α = u.
        """
        solution, groups = self.machine.solution, self.machine.groups
        is_event = self.machine.problem.signs > 0
        counts = measures.support_counts(is_event, solution.free, solution.bounded, groups.weights)
        table = pd.DataFrame(
            counts[self._by_level], index=pd.Index(self.classes), columns=["rows", "free", "bounded", "total"]
        )
        whole = bool((groups.weights == np.round(groups.weights)).all())
        return table.astype(int) if whole else table

    @property
    def intercept(self) -> float:
        """b, on the scale of the fit; the midpoint of `intercept_interval`."""
        return self.machine.solution.intercept

    @property
    def intercept_interval(self) -> tuple[float, float]:
        """All optimal b: a point if a support vector is free."""
        point = (self.intercept, self.intercept)
        return point if self.intercept_is_unique else self.machine.solution.intercept_interval

    @property
    def intercept_is_unique(self) -> bool:
        """Whether b is determined, that is, a support vector is free or the interval is a point."""
        solution = self.machine.solution
        low, high = solution.intercept_interval
        free = bool(solution.free.any()) and solution.nearest is None
        return free or high - low <= 1e-12 * max(1.0, abs(low))

    @property
    def margin(self) -> float:
        """2/‖h‖, infinite for h = 0."""
        norm_squared = self.machine.solution.norm_squared
        return 2.0 / float(np.sqrt(norm_squared)) if norm_squared > 0 else float("inf")

    @property
    def objective(self) -> float:
        """The minimum of ½‖h‖² + Σ u_i [m_i − y_i f(x_i)]₊, as the dual gives it.

        From below, and to second order in the violation: at a large C the primal value would carry C times the rounding
        of f.
        """
        return -self.machine.solution.objective

    @property
    def kkt_violation(self) -> float:
        """The largest violation of the optimality conditions."""
        return self.machine.solution.violation

    @property
    def duality_gap(self) -> float:
        """The primal minus the dual objective, ≥ 0: neither is farther from the minimum."""
        return self.machine.solution.gap

    @property
    def rounding(self) -> float:
        """A bound on the rounding of the decision values."""
        return self.machine.solution.rounding

    @property
    def status(self) -> Status:
        """Whether the solution can be relied on, and if not, why; ``status.advice`` says what helps."""
        return self.machine.solution.status

    @property
    def converged(self) -> bool:
        """Whether the certificate holds: KKT violation ≤ 1e-8, and a rounding of f ≤ 1e-6 of its spread."""
        return self.status is Status.CERTIFIED

    # How well it fits

    @cached_property
    def llf(self) -> float:
        """Log-likelihood Σ w_i log p_{y_i}(x_i) of the Platt probabilities."""
        each = self.insample.log_likelihoods(self.machine.decision_values, self.frame.y)
        return measures.log_likelihood(each, self.frame.weights)

    @property
    def confusion(self) -> pd.DataFrame:
        """Sums of weights by observed (rows) and predicted (columns) class."""
        observed, predicted = self.frame.y > 0, self.machine.decision_values > 0
        cells = measures.cross_table(observed, predicted, self.frame.weights)
        return pd.DataFrame(
            cells[np.ix_(self._by_level, self._by_level)],
            index=pd.Index(self.classes, name="observed"),
            columns=pd.Index(self.classes, name="predicted"),
        )

    @cached_property
    def apparent_error(self) -> float:
        """Weighted share of rows that are predicted wrongly."""
        wrong = (self.frame.y > 0) != (self.machine.decision_values > 0)
        return measures.share(wrong, self.frame.weights)

    @cached_property
    def disagreement(self) -> float:
        """Weighted share of rows where f > 0 and P(event) > P0 disagree; P0 is ½ without costs and weights."""
        differ = (self.machine.decision_values > 0) != (self.fittedvalues.to_numpy() > self.threshold)
        return measures.share(differ, self.frame.weights)

    # Coefficients

    @cached_property
    def params_standardized(self) -> pd.Series:
        """Intercept and coefficients (1 + p,) of f for the columns as they were scaled; linear kernel only.

        Raises
        ------
        UnavailableError
            For another kernel.
        """
        self._require_linear("params_standardized")
        return self._coefficients(self.machine.direction(), self.intercept)

    @cached_property
    def params(self) -> pd.Series:
        """Intercept and coefficients (1 + p,) of f for the columns on their own scale; linear kernel only.

        Raises
        ------
        UnavailableError
            For another kernel.
        """
        self._require_linear("params")
        design = self.frame.design
        slopes = self.machine.direction() / design.scale_
        return self._coefficients(slopes, self.intercept - float(slopes @ design.center))

    def _coefficients(self, slopes: Floats, intercept: float) -> pd.Series:
        names = ["Intercept", *self.frame.design.column_names]
        return pd.Series([intercept, *slopes], index=names, name="coefficient")

    # Prediction and report

    def decision_function(self, newdata: pd.DataFrame | None = None) -> pd.Series:
        """f(x), the event being predicted where it is positive.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows with the columns of the right side; by default the n rows of the fit.

        Returns
        -------
        Series (m,)
            On the index of ``newdata``; NaN where a predictor is missing.

        Raises
        ------
        DataError
            If a column is missing, has a new level, an infinite value or a wrong type.
        """
        if newdata is None:
            return self.decision_values
        index, complete, f = self._at_complete(newdata)
        values = np.full(len(index), np.nan)
        values[complete] = f
        return pd.Series(values, index=index, name="decision_value")

    def predict(self, newdata: pd.DataFrame | None = None) -> pd.Series:
        """The predicted level: the event where f > 0. It never follows the probabilities.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.

        Returns
        -------
        Series (m,)
            Levels of the response's own type; missing where a predictor is missing.
        """
        return labels_of(self.response, self.decision_function(newdata))

    def predict_proba(
        self,
        newdata: pd.DataFrame | None = None,
        *,
        method: str = "platt",
        interval: bool = False,
        tightness: float = 1.0,
    ) -> pd.DataFrame:
        """Probabilities of the two levels, or the interval that the loss allows for that of the event.

        They are those of the population that the sample comes from, also where priors or costs were given.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.
        method : {"platt", "sollich", "semiparametric"}
            The map from decision values: Platt's 1/(1 + exp(A f + B)), or a map that follows from the loss alone
            and lies in the interval [002: 8, 9].
        interval : bool
            Whether to give the lower and upper probability of the event [002: 7] instead; ``method`` is not used.
        tightness : float
            In (0, 1]: 1 gives the narrowest interval that the loss allows, smaller values wider ones around it.

        Returns
        -------
        DataFrame (m, 2)
            One column per level, in the order of `classes`; with ``interval`` the columns ``p_low`` and ``p_high``. NaN
            where a predictor is missing.

        Raises
        ------
        ArgumentError
            For an argument outside what is allowed.

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
        values = self.decision_function(newdata)
        f, loss = values.to_numpy(), self.machine.loss
        if between_ends:
            ends = probability_interval(f, loss, float(tightness))
            return pd.DataFrame(np.column_stack(ends), index=values.index, columns=pd.Index(["p_low", "p_high"]))
        p = self.calibration.probability(f) if method == "platt" else pointwise(f, loss, method)
        columns = [p if level == self.event else 1.0 - p for level in self.classes]
        return pd.DataFrame(np.column_stack(columns), index=values.index, columns=pd.Index(self.classes))

    # Costs

    def risk(
        self, newdata: pd.DataFrame | None = None, *, weights: Any = None, costs: Mapping[str, float] | None = None
    ) -> float:
        """What a decision costs in the mean: (N_fn c_fn + N_fp c_fp) / n.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            Rows with the response and the predictors; by default the n rows of the fit with their weights.
        weights : column name or array_like (m,), optional
            Case weights of the new rows.
        costs : mapping, optional
            Other costs than those of the fit, as in `svm`.

        Returns
        -------
        float
            With costs 1, the default of `svm`, the error rate.

        Raises
        ------
        DataError
            If no new row has both the response and the predictors, or a column cannot be used.
        """
        fp, fn = self._costs(costs)
        f, y, w = self._observed(newdata, weights)
        return measures.mean_cost(f > 0, y > 0, w, fp, fn)

    def tune_bias(
        self, validation: pd.DataFrame, *, weights: Any = None, costs: Mapping[str, float] | None = None
    ) -> "BiasTuned":
        """The rule f + shift > 0 whose risk on a validation sample is smallest.

        Parameters
        ----------
        validation : DataFrame (m, …)
            Rows with the response and the predictors that the fit has not seen.
        weights : column name or array_like (m,), optional
            Their case weights.
        costs : mapping, optional
            Other costs than those of the fit, as in `svm`.

        Returns
        -------
        BiasTuned
            With ``shift``, and ``predict`` and ``risk`` of the shifted rule.
        """
        fp, fn = self._costs(costs)
        if validation is None:
            raise refuse("validation", validation, "a DataFrame of rows that the fit has not seen")
        f, y, w = self._observed(validation, weights)
        shift, risk = measures.best_shift(f, y > 0, w, fp, fn)
        return BiasTuned(self, shift, {"fp": fp, "fn": fn}, risk)

    def error_rates(self, newdata: pd.DataFrame | None = None, *, weights: Any = None) -> pd.Series:
        """False alarms and misses: ``p_f`` = P(f > 0 | other level), ``p_m`` = P(f ≤ 0 | event) [004: 1, 2].

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            Rows with the response and the predictors; by default the n rows of the fit with their weights.
        weights : column name or array_like (m,), optional
            Case weights of the new rows.

        Returns
        -------
        Series (2,)
            NaN where there is no row of the level.
        """
        return error_rates(*self._observed(newdata, weights))

    def _costs(self, costs: Mapping[str, float] | None) -> tuple[float, float]:
        """What a false positive and a false negative cost."""
        if costs is None:
            return self.decision.cost_fp, self.decision.cost_fn
        checked = check_costs("costs", costs)
        return checked["fp"], checked["fn"]

    def _observed(self, newdata: pd.DataFrame | None, weights: Any) -> tuple[Floats, Floats, Floats]:
        """Decision values, labels and weights (m,) of the rows that have both response and predictors."""
        if newdata is None:
            if weights is not None:
                raise ArgumentError("weights are those of newdata: without it the rows of the fit keep their own.")
            return self.machine.decision_values, self.frame.y, self.frame.weights
        f, codes = self.decision_function(newdata).to_numpy(), self.frame.observed(newdata)
        known = ~np.isnan(f) & (codes >= 0)
        if not known.any():
            raise DataError("newdata has no row with the response and all predictors.")
        w = case_weights(weights, newdata, known)
        return f[known], np.where(codes[known] == self.response.event_code, 1.0, -1.0), w[known]

    # GACV and the path in C

    def gacv(self) -> float:
        """The generalized approximate cross validation, an estimate of `LooResult.mean_loss` without refits [000: 12].

        Returns
        -------
        float
            (1/Σw) Σ w L [1 − y f]₊ + D̂: see `svmstat.gacv`. D̂ uses α, which is not determined where the kernel matrix
            is singular on the support vectors; there GACV is that of the α that was found.

        Raises
        ------
        UnavailableError
            For another loss than the hinge loss.

        Notes
        -----
        D̂ grows with C K(x, x) for every bounded vector. Where many are bounded GACV lies far above the leave-one-out
        loss that it approximates, and its minimum at too small a C; ``loo().mean_loss`` is exact.
        """
        if self.loss != "hinge":
            raise UnavailableError(f"gacv exists for loss='hinge' only; this fit has loss={self.loss!r}.")
        return machine_gacv(self.machine)

    def path(
        self,
        C: Any = None,
        *,
        data: pd.DataFrame | None = None,
        truth: Any = None,
        loo: bool = False,
        n_jobs: int | None = None,
    ) -> PathResult:
        """The fits for other values of C, by following the solution from one to the next, exactly.

        Parameters
        ----------
        C : sequence of float, optional
            Values > 0; by default 200 between C/64 and 64 C of this fit, evenly on the logarithmic scale.
        data : DataFrame, optional
            The data of the fit, for ``truth``.
        truth : column name of ``data`` or array_like of one probability per row of ``data``, optional
            The true P(event | x), in a simulation, from which GCKL is computed. Without ``data`` one probability
            for each of the n rows of the fit.
        loo : bool
            Whether to compute the leave-one-out loss V₀ at every C.
        n_jobs
            As in `loo`.

        Returns
        -------
        PathResult

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth", datasets.load("mackerel"))
        >>> path = fit.path([0.5, 1.0, 2.0])
        >>> bool(abs(path.decision_values.loc[1.0] - fit.decision_values).max() < 1e-8)
        True
        """
        if np.isinf(self.C):
            raise UnavailableError("path exists for fits with a finite C only; here rho = 0, and the fit is h = 0.")
        costs = check_costs_along(C, self.C)
        counted = self.machine.upper > 0
        for cost in (costs.max(), costs.min()):
            check_range({"C": cost, "weights": self.machine.upper[counted] / self.C})
        with_loo = flag("loo", loo)
        n_jobs = workers("n_jobs", n_jobs)
        known = None
        if truth is not None:
            if data is not None:
                self.frame.rows_of(data)
            source = pd.DataFrame(index=self.frame.index) if data is None else data
            known = true_probabilities(truth, source, np.arange(self.n_rows) if data is None else self.frame.rows)
        return follow_costs(self.machine, self.frame.index, costs, known, with_loo, n_jobs)

    # Resampling

    def loo(self, n_jobs: int | None = None, progress: bool = False) -> LooResult:
        """Leave every row out in turn; computed once and kept.

        Scaling, kernel width and factor coding are those of this fit. A row of weight w loses min(w, 1), one copy.

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
        """
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        if "_loo" not in self.__dict__:
            self.__dict__["_loo"] = leave_one_out(self.machine, self.insample, n_jobs=n_jobs, progress=progress)
        arrays: LeaveOneOut = self.__dict__["_loo"]
        frame = self.frame
        return LooResult(
            arrays, frame.index, frame.y, frame.weights, self.machine.decision_values, self.deviance, self.machine.loss
        )

    def _bootstrap(self, **how: Any) -> Replicates:
        return bootstrap_deviance(self.machine, self.insample, **how)

    def plot_probability(self, ax: Any = None) -> Any:
        """Probabilities against decision values: Platt's map, the two that follow from the loss, and its interval.

        Parameters
        ----------
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes
        """
        f, loss = self.machine.decision_values, self.machine.loss
        reach = 1.25 * max(loss.margin_event, loss.margin_other, float(np.quantile(np.abs(f), 0.98)))
        grid = np.linspace(-reach, reach, 801)
        maps = {"Platt": self.calibration.probability(grid)}
        maps |= {kind: pointwise(grid, loss, kind) for kind in POINTWISE}
        shown = np.abs(f) <= reach
        return probability_plot(
            grid, *probability_interval(grid, loss), maps, f[shown], self.frame.y[shown] > 0, self.threshold, ax=ax
        )

    def summary(self) -> Summary:
        """The fit at a glance: prints as text, shows as HTML in a notebook, converts by ``.as_latex()``."""
        return summarize(self)
