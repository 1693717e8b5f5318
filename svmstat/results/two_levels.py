"""What exists for fits with two levels only: costs of decisions, the 2ν-SVM, GACV and the path in C."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import flag, refuse, workers
from svmstat._tools.frames import as_pandas, of_any_kind
from svmstat.calibration import POINTWISE, VENN_ABERS, pointwise, probability_interval
from svmstat.diagnostics.gacv import machine_gacv
from svmstat.errors import ArgumentError, DataError, UnavailableError
from svmstat.formula import case_weights, counted_rows, true_probabilities
from svmstat.machine import Pair
from svmstat.objective import measures
from svmstat.objective.bounds import check_range
from svmstat.objective.decision import check_costs
from svmstat.reporting.plots import probability_plot
from svmstat.resampling.accumulated import quantiles
from svmstat.results.cost_path import PathResult, check_costs_along, follow_costs
from svmstat.results.rules import BiasTuned, error_rates
from svmstat.results.solution import Solved
from svmstat.solver import Nearest

WEIGHTS_OF_NEWDATA = "weights are those of newdata: without it the rows of the fit keep their own."


@dataclass(frozen=True, repr=False, eq=False)
class TwoLevels(Solved):
    """What a fit with more than two levels refuses with an `UnavailableError`."""

    def _pair(self, name: str, instead: str) -> Pair:
        """The one pair of two levels."""
        self.shape.require_two(name, instead)
        return self.machine.pairs[0]

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

    @property
    def nu_bounds(self) -> pd.DataFrame:
        """By class: ``margin_errors`` ≤ ``nu`` ≤ ``support``, the shares with y f < 1, and α > 0 [004: Proposition 1].

        Raises
        ------
        UnavailableError
            If C was given.
        """
        nearest = self._require_nu("nu_bounds")
        event, w = self.frame.y > 0, self.frame.weights
        margin = 1.0 if nearest.rho > 0 else 0.0
        inside = self.frame.y * self.machine.decision_values[:, 0] < margin - 1e-7
        support = self.machine.alpha[:, 0] > 0
        chosen = [(event if level == self.event else ~event) for level in self.classes]
        return pd.DataFrame(
            {
                "margin_errors": [measures.share(inside[rows], w[rows]) for rows in chosen],
                "nu": [self.nu[int(level != self.event)] for level in self.classes],  # type: ignore[index]
                "support": [measures.share(support[rows], w[rows]) for rows in chosen],
            },
            index=pd.Index(self.classes),
        )

    def _require_nu(self, name: str) -> Nearest:
        nearest = self._pair(name, "C, class_weight and priors in the place of nu").solution.nearest
        if nearest is None:
            raise UnavailableError(f"{name} exists for fits with nu only; this fit has C = {self.C:g}.")
        return nearest

    @property
    def threshold(self) -> float:
        """P0 = L(−1) / (L(−1) + L(+1)): with a kernel rich enough, f > 0 estimates whether P(event | x) exceeds it."""
        return self._pair("threshold", "class_weight, by which the levels are weighed").loss.threshold

    # Costs

    @of_any_kind
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
        self._pair("risk", "error(), the share of wrong predictions")
        fp, fn = self._costs(costs)
        f, y, w = self.observed_values(newdata, weights)
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

        Raises
        ------
        DataError
            If a level has no row with weight.
        """
        self._pair("tune_bias", "class_weight and priors, which move the rule")
        fp, fn = self._costs(costs)
        if validation is None:
            raise refuse("validation", validation, "a DataFrame of rows that the fit has not seen")
        f, y, w = self.observed_values(as_pandas("validation", validation), weights)
        if not (w[y > 0].any() and w[y <= 0].any()):
            raise DataError("validation must have rows of both levels, whose errors the shift is to balance.")
        shift, risk = measures.best_shift(f, y > 0, w, fp, fn)
        return BiasTuned(self, shift, {"fp": fp, "fn": fn}, risk)

    @of_any_kind
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
        self._pair("error_rates", "error() and the table confusion")
        return error_rates(*self.observed_values(newdata, weights))

    def _costs(self, costs: Mapping[str, float] | None) -> tuple[float, float]:
        """What a false positive and a false negative cost."""
        if costs is None:
            return self.decision.cost_fp, self.decision.cost_fn
        checked = check_costs(costs)
        return checked["fp"], checked["fn"]

    def observed_values(self, newdata: pd.DataFrame | None, weights: Any) -> tuple[Floats, Floats, Floats]:
        """Decision values, labels and weights (m,) of the rows that have both response and predictors."""
        if newdata is None:
            if weights is not None:
                raise ArgumentError(WEIGHTS_OF_NEWDATA)
            return self.machine.decision_values[:, 0], self.frame.y, self.frame.weights
        f = self.decision_at(newdata)[1][:, 0]
        codes = self.frame.observed(newdata, partial(counted_rows, weights, newdata, ~np.isnan(f)))
        known = ~np.isnan(f) & (codes >= 0)
        if not known.any():
            raise DataError("newdata has no row with the response and all predictors.")
        w = case_weights(weights, newdata, known)
        return f[known], np.where(codes[known] == self.response.event_code, 1.0, -1.0), w[known]

    # GACV and the path in C

    def gacv(self) -> float:
        """The generalized approximate cross validation, which estimates `LooResult.mean_loss` without refits.

        From [000: section 4].

        Returns
        -------
        float
            (1/Σw) Σ w L [1 − y f]₊ + D̂: see `svmstat.diagnostics.gacv`. D̂ uses α, which is not determined where the
            kernel matrix is singular on the support vectors; there GACV is that of the α that was found.

        Raises
        ------
        UnavailableError
            For another loss than the hinge loss, groups, probability weights and more than two levels.

        Notes
        -----
        D̂ grows with C K(x, x) for every bounded vector. Where many are bounded GACV lies far above the leave-one-out
        loss that it approximates, and its minimum at too small a C; ``loo().mean_loss`` is exact. Of a kernel with
        negative eigenvalues K(x, x) is that of K about its means, which is the same machine.
        """
        self._pair("gacv", "loo()")
        self.require_copies("gacv()", "it approximates leaving out rows one by one; loo().mean_loss is exact")
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
        progress: bool = False,
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
        n_jobs, progress
            As in `loo`.

        Returns
        -------
        PathResult

        Raises
        ------
        UnavailableError
            For more than two levels, for a fit by ν with ρ = 0, and with ``loo`` for groups and probability weights.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth", datasets.load("mackerel"))
        >>> path = fit.path([0.5, 1.0, 2.0])
        >>> bool(abs(path.decision_values.loc[1.0] - fit.decision_values).max() < 1e-8)
        True
        """
        self._pair("path", "tune(), or fits at several values of C")
        if flag("loo", loo):
            self.require_copies("path(loo=True)", "tune() has leave-one-out along C")
        if np.isinf(self.C):
            raise UnavailableError("path exists for fits with a finite C only; here rho = 0, and the fit is h = 0.")
        costs = check_costs_along(C, self.C)
        bounds = self.machine.upper
        for cost in (costs.max(), costs.min()):
            check_range({"C": cost, "weights": bounds[bounds > 0] / self.C})
        if data is not None and truth is None:
            raise ArgumentError("data are for truth, a column of them: without it they are not read.")
        with_loo = flag("loo", loo)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        known = None
        if truth is not None:
            if data is not None:
                data = as_pandas("data", data)
                self.frame.rows_of(data)
            source = pd.DataFrame(index=self.frame.index) if data is None else data
            known = true_probabilities(truth, source, np.arange(self.n_rows) if data is None else self.frame.rows)
        return follow_costs(self.machine, self.frame.index, costs, known, with_loo, n_jobs, progress)

    def plot_probability(self, ax: Any = None) -> Any:
        """Probabilities against decision values: the fit's map, two that the loss gives, the loss-implied interval.

        The interval says which probabilities the loss cannot tell apart at an f; it is no confidence interval.

        Parameters
        ----------
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes
        """
        loss = self._pair("plot_probability", "loo().plot_calibration()").loss
        used = self.frame.weights > 0
        f, y = self.machine.decision_values[used, 0], self.frame.y[used]
        most = float(quantiles(np.abs(f), self.frame.weights[used], np.array([0.98]))[0])
        reach = 1.25 * max(loss.margin_event, loss.margin_other, most)
        grid = np.linspace(-reach, reach, 801)
        name = "Venn-Abers" if self.maps.kind == VENN_ABERS else "Platt"
        maps = {name: self.maps.alone.probability(grid)}
        maps |= {kind: pointwise(grid, loss, kind) for kind in POINTWISE}
        shown = np.abs(f) <= reach
        beyond = int(np.count_nonzero(~shown))
        return probability_plot(
            grid, *probability_interval(grid, loss), maps, f[shown], y[shown] > 0, self.threshold, beyond=beyond, ax=ax
        )
