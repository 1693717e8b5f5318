"""What the machines of a fit know: the solutions and their certificates, the deviance, the confusion table."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.frames import alike, label_at
from svmstat.errors import DataError, UnavailableError
from svmstat.kernels import Precomputed
from svmstat.machine import Pair, vote
from svmstat.objective import measures
from svmstat.objective.units import are_whole
from svmstat.results.calibrated import Calibrated
from svmstat.solver import Solution, Status, intercepts_by_nu

_HEAVY = 1000.0
"""A weight above which it may be what makes a cost large."""

_MOST_COUNTED = 2.0**63
"""Sums of weights from this on are no integers of 64 bits."""

_ROUNDING = 2.0**-50
_TIED = 1e-9
"""Up to this share of the largest L P, that of another level ties with it."""


@dataclass(frozen=True, repr=False, eq=False)
class Solved(Calibrated):
    """A fit's solution; what there is of each pair is a number for two levels, and has an entry for each of more."""

    @property
    def model_frame(self) -> Any:
        """The columns of the data that the formula reads, those of the response first, of the n rows that are used."""
        return alike(self.frame.read, self.kind)

    @property
    def model_matrix(self) -> Any:
        """The design (n, p) as the kernel sees it, standardised where the fit is; a gram matrix where it has one."""
        names = list(self.frame.design.column_names)
        return alike(pd.DataFrame(self.frame.X, index=self.frame.index, columns=names), self.kind)

    def _by_pair(self, value: Callable[[Solution], Any]) -> list[Any]:
        return [value(pair.solution) for pair in self.machine.pairs]

    @cached_property
    def pairs(self) -> pd.MultiIndex:
        """The P pairs of levels; a decision value > 0 stands for the first."""
        return self.shape.pairs

    @property
    def alpha(self) -> Any:
        """Dual variables α, 0 ≤ α_i ≤ u_i, zero in rows of other levels: Series (n,); DataFrame (n, P) by pair."""
        return alike(self.shape.of_pairs(self.machine.alpha, self.frame.index, "alpha"), self.kind)

    @property
    def decision_values(self) -> Any:
        """f(x_i) of the rows that are used: Series (n,); DataFrame (n, P), by pairs of more than two levels."""
        return alike(self.shape.of_pairs(self.machine.decision_values, self.frame.index, "decision_value"), self.kind)

    def rows_at(self, newdata: pd.DataFrame | None) -> tuple[pd.Index, NDArray[np.bool_], Floats]:
        """The index of new rows (m,), which of them have all predictors (m,), and these as the machine takes them."""
        if newdata is None:
            return self.frame.index, np.ones(self.n_rows, bool), self.machine.X
        rows = self.frame.design.transform(newdata)
        complete = ~rows.missing
        return rows.index, complete, self.as_the_machine_takes(rows.X[complete])

    def as_the_machine_takes(self, X: Floats) -> Floats:
        """Rows (m, p) of a design; of kernel values those for the rows that are used."""
        return np.ascontiguousarray(X[:, self.frame.rows]) if isinstance(self.kernel, Precomputed) else X

    def decision_at(self, newdata: pd.DataFrame | None) -> tuple[pd.Index, Floats]:
        """The index of new rows (m,) and their decision values (m, P), NaN where a predictor is missing.

        Raises
        ------
        DataError
            For a row that is so far away that the kernel has no finite value there.
        """
        if newdata is None:
            return self.frame.index, self.machine.decision_values
        index, complete, X = self.rows_at(newdata)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below, in words
            found = self.machine.decision_function(X)
        lost = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if len(lost):
            raise DataError(
                f"newdata is so far from the rows of the fit in row {label_at(index[complete], lost[0])!r} that its "
                f"decision value is not finite: the kernel {self.kernel_name!r} is too large there."
            )
        if complete.all():
            return index, found
        values = np.full((len(index), len(self.machine.pairs)), np.nan)
        values[complete] = found
        return index, values

    @cached_property
    def _probabilities(self) -> Floats:
        return self.maps.probabilities(self.machine.decision_values)

    @property
    def fittedvalues(self) -> Any:
        """P(event) of the rows that are used: Series (n,); DataFrame (n, K) of all levels if they are more."""
        return alike(self.shape.of_classes(self._probabilities, self.frame.index, "probability"), self.kind)

    @property
    def support(self) -> pd.Index:
        """The labels of the rows with α > 0, in any pair."""
        return self.frame.index[np.flatnonzero((self.machine.alpha > 0).any(axis=1))]

    @property
    def n_support(self) -> pd.DataFrame:
        """Support vectors by class, or by pair: columns ``rows`` (all rows), ``free``, ``bounded``, ``total``.

        Sums of weights where weights were given. A vector is free if 0 < α < u, bounded if α = u. Where free rows
        depend on each other under the kernel, as more of them than columns do under a linear one, several α give
        the same f, and which of them is counted hangs on the order of the rows and columns.
        """
        counts = []
        weights = self.machine.groups.weights
        for pair in self.machine.pairs:
            solution, is_first = pair.solution, pair.problem.signs > 0
            found = measures.support_counts(is_first, solution.free, solution.bounded, weights[pair.rows])
            counts.append(found[::-1])
        table = self.shape.counts(np.array(counts), ["rows", "free", "bounded", "total"])
        return table.astype(int) if are_whole(weights) and weights.sum() < _MOST_COUNTED else table

    @property
    def support_share(self) -> float:
        """The share of the rows that are support vectors, by weight; of several pairs of all their rows together."""
        of_all = self.n_support.astype(float).sum()
        return float(of_all["total"] / of_all["rows"])

    @property
    def intercept(self) -> Any:
        """b, or that of every pair (P,), on the scale of the fit; the midpoint of `intercept_interval`."""
        return self.shape.numbers(self.machine.intercept, "intercept")

    @property
    def intercept_interval(self) -> Any:
        """All optimal b, low and high, of every pair: a point if a support vector is free, by nu one of each class.

        By nu another b goes with another ρ; it is on the scale of this fit, of h/ρ.
        """
        return self.shape.intervals([_optimal_intercepts(pair) for pair in self.machine.pairs])

    @property
    def intercept_is_unique(self) -> bool:
        """Whether b is determined: the interval is a point; for two levels."""
        self.shape.require_two("intercept_is_unique", "intercept_interval")
        low, high = self.intercept_interval
        return bool(low == high)

    @property
    def margin(self) -> Any:
        """2/‖h‖, infinite for h = 0, NaN where ‖h‖² < 0, as of an indefinite kernel."""
        norms = np.sqrt(self._by_pair(lambda solution: solution.norm_squared))
        values = np.divide(2.0, norms, out=np.full(len(norms), np.inf), where=norms != 0.0)
        return self.shape.numbers(values, "margin")

    @property
    def objective(self) -> float:
        """The minimum of ½‖h‖² + Σ u_i [m_i − y_i f(x_i)]₊, as the dual gives it; for two levels.

        From below, and to second order in the violation: at a large C the primal value would carry C times the rounding
        of f.
        """
        self.shape.require_two("objective", "duality_gap and kkt_violation, the largest of all pairs")
        return -self.machine.pairs[0].solution.objective

    @property
    def kkt_violation(self) -> float:
        """The largest violation of the optimality conditions, of any pair."""
        return float(max(self._by_pair(lambda solution: solution.violation)))

    @property
    def duality_gap(self) -> float:
        """The primal minus the dual objective, ≥ 0, of any pair: neither is farther from the minimum.

        That is but for the `rounding` of f, which moves the losses of the rows by up to that times their costs.
        """
        return float(max(self._by_pair(lambda solution: solution.gap)))

    @property
    def rounding(self) -> float:
        """A bound on the rounding of the decision values of any pair."""
        return float(max(self._by_pair(lambda solution: solution.rounding)))

    @property
    def status(self) -> Status:
        """Whether the solutions can be relied on, and if not, why; ``status.advice`` says what helps.

        It is that of the first pair whose certificate fails.
        """
        found = self._by_pair(lambda solution: solution.status)
        return next((status for status in found if status is not Status.CERTIFIED), Status.CERTIFIED)

    @property
    def advice(self) -> str:
        """What the status says, and what helps: by nu there is no C to be made smaller."""
        found = self.status.advice
        if self.nu is not None:
            return found.replace("smaller C", "larger nu")
        heaviest = float(self.frame.weights.max())
        heavy = heaviest > _HEAVY and self.status in (Status.UNCERTIFIED, Status.IMPRECISE)
        return f"{found}; so do smaller weights, of which the largest, {heaviest:.3g}, multiplies C" if heavy else found

    @property
    def converged(self) -> bool:
        """Whether every certificate holds: KKT violation ≤ 1e-8, a rounding of h ≤ 1e-6 of its spread.

        Beside an intercept that is large, as for a tiny C, that of f = h + b is a thousandth at most: see `rounding`.
        """
        return self.status is Status.CERTIFIED

    # How well it fits

    @cached_property
    def llf(self) -> float:
        """Log-likelihood Σ w_i log p_{y_i}(x_i) of the Platt probabilities."""
        each = self.insample_maps.log_likelihoods(self.machine.decision_values, self.frame.codes)
        return measures.log_likelihood(each, self.frame.weights)

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

    @cached_property
    def _winner(self) -> Codes:
        return vote(self.machine.decision_values, self.machine.classes)

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
        """Weighted share of rows where the prediction and the largest L(y) P(y) disagree; L is 1 without weights.

        For two levels that is where f > 0 and P(event) > P0 disagree; P0 is ½ without costs and weights. Where L P of
        the level that is predicted ties with the largest they agree: a map that is flat calls for no level.
        """
        if self.shape.two:
            pair = self.machine.pairs[0]
            L = np.where(np.arange(2) == pair.first, 1.0 - pair.loss.threshold, pair.loss.threshold)
        else:
            L = self.decision.factors(self.classes)
        called_for = L * self._probabilities
        predicted = np.take_along_axis(called_for, self._winner[:, None], axis=1)[:, 0]
        return measures.share(predicted < (1.0 - _TIED) * called_for.max(axis=1), self.frame.weights)

    # Coefficients

    @property
    def params_standardized(self) -> Any:
        """Intercept and coefficients of f for the columns as they were scaled; linear kernel only.

        Series (1 + p,); DataFrame (1 + p, P), by pairs of more than two levels.

        Raises
        ------
        UnavailableError
            For another kernel.
        """
        self.require_linear("params_standardized")
        return self._by_term(np.vstack([self.machine.intercept, self.machine.directions]))

    @property
    def params(self) -> Any:
        """Intercept and coefficients of f for the columns on their own scale; linear kernel only.

        Series (1 + p,); DataFrame (1 + p, P), by pairs of more than two levels.

        Raises
        ------
        UnavailableError
            For another kernel.
        """
        self.require_linear("params")
        return self._by_term(self.unscaled(self.machine.directions, self.machine.intercept))

    @property
    def param_names(self) -> pd.Index:
        """What the 1 + p coefficients of a linear f are called: "Intercept", and the columns of the design."""
        return pd.Index(["Intercept", *self.frame.design.column_names])

    @property
    def param_labels(self) -> pd.Index:
        """The names; of more than two levels those of each of the P pairs, in the order of ``params.unstack()``."""
        return self.shape.of_each_pair(self.param_names)

    def unscaled(self, directions: Floats, intercept: Floats) -> Floats:
        """Intercept and coefficients (…, 1 + p, P) of the columns on their own scale.

        From those of the columns as they were scaled: h (…, p, P) and b (…, P). An intercept that is nothing but
        rounding is 0.
        """
        design = self.frame.design
        slopes = directions / design.scale_[:, None]
        at_origin = intercept - design.center @ slopes
        rounding = _ROUNDING * (1.0 + np.abs(intercept) + np.abs(design.center) @ np.abs(slopes))  # f has margin 1
        at_origin = np.where(np.abs(at_origin) <= rounding, 0.0, at_origin)
        return np.concatenate([at_origin[..., None, :], slopes], axis=-2)

    def _by_term(self, coefficients: Floats) -> Any:
        return self.shape.of_pairs(coefficients, self.param_names, "coefficient")

    def require_linear(self, name: str) -> None:
        """Refuse what is made of the coefficients of a linear f.

        Raises
        ------
        UnavailableError
            For another kernel.
        """
        if not self.has_params:
            instead = ": effects() shows what each predictor does, drop1() what it is worth" * self.kernel.of_rows
            raise UnavailableError(
                f"{name} exists for kernel='linear' only, where f is linear; this fit has kernel {self.kernel_name!r}"
                f"{instead}."
            )


def _optimal_intercepts(pair: Pair) -> tuple[float, float]:
    """All optimal b of a pair, low and high: twice the one there is if a free row tells it."""
    solution, nearest = pair.solution, pair.solution.nearest
    low, high = solution.intercept_interval
    told = bool(solution.free.any())
    if nearest is not None and nearest.rho > 0.0:
        low, high = intercepts_by_nu(pair.problem, nearest)
        told = all(solution.free[side].any() for side in (pair.problem.signs > 0, pair.problem.signs < 0))
    if told or high - low <= 1e-12 * max(1.0, abs(solution.intercept)):
        return solution.intercept, solution.intercept
    return low, high
