"""``svm()``: a formula and a data frame in, a fitted model out."""

import sys
import warnings
from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from svmstat import losses
from svmstat._checks import is_real, one_of, positive, refuse
from svmstat.calibration import Platt, fit_platt
from svmstat.errors import CalibrationWarning, CertificateWarning, DataError, UnavailableError
from svmstat.formula import ModelFrame, Response, build_design
from svmstat.kernels import (
    CustomKernel,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    check_gram,
    make_kernel,
    warn_if_indefinite,
)
from svmstat.machine import Machine, fit_machine
from svmstat.solver import Status
from svmstat.summary import Summary, summarize

Floats = NDArray[np.float64]


def svm(
    formula: str,
    data: pd.DataFrame,
    *,
    loss: str = "hinge",
    kernel: str | Callable[[Floats, Floats], ArrayLike] = "rbf",
    C: float = 1.0,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    weights: Hashable | ArrayLike | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
    event: object = None,
    subset: str | ArrayLike | None = None,
    na_action: str = "drop",
    scale: bool = True,
    calibration: str = "insample",
) -> "SVMResults":
    """Fit a two-class support vector machine.

    Minimises ½‖h‖² + Σ_i u_i [1 − y_i f(x_i)]₊ over f(x) = h(x) + b with u_i = C · w_i · L(y_i), y_i = +1 for the
    event and −1 otherwise, to a KKT violation ≤ 1e-8.

    Parameters
    ----------
    formula : str
        A patsy formula such as ``"y ~ x1 + C(site)"``; ``y ~ .`` takes all other columns. There is no intercept
        column, and every factor is coded by all its levels. Names that are not columns are looked up where ``svm``
        is called.
    data : DataFrame
        One row per observation.
    loss : {"hinge"}
        The loss function.
    kernel : {"rbf", "linear", "poly", "spline", "precomputed"} or callable
        The kernel: see `svmstat.kernels` for the formulas. With "precomputed" the columns of the design are those of
        the gram matrix, in the order of the rows of ``data``: ``svm("y ~ .", frame_of_K_and_y, kernel="precomputed")``.
        A function K(X, Z) of two arrays (m, p) and (k, p) returns (m, k).
    C : float
        Cost, > 0. The λ of the penalised form (1/Σw) Σ w [..]₊ + λ‖h‖² is 1/(2 C Σw).
    gamma : float, "scale" or "median"
        Width of the rbf and polynomial kernels: a number > 0, 1/(p · variance of all entries of the scaled design), or
        1/(2 · squared median distance).
    degree, coef0 : int, float
        Of the polynomial kernel (γ x'z + coef0)^degree.
    weights : column name or array_like of shape (n,), optional
        Case weights w ≥ 0. A row of weight two counts as the row given twice, in every number of the fit; a row of
        weight zero as absent, but it is predicted.
    class_weight : mapping or "balanced", optional
        L for each level of the response, > 0; levels that are not named have 1. "balanced" is Σw / (2 Σw of the class).
    event : optional
        The level called positive; by default the last level, True, or the larger number.
    subset : str or array_like of bool, optional
        Rows to use: an expression in the columns, or one boolean per row.
    na_action : {"drop", "raise"}
        What to do about rows with missing values.
    scale : bool
        Standardise the columns that are not 0/1 indicators, by weighted mean and standard deviation (ddof 1).
    calibration : {"insample"}
        The decision values to which the Platt map is fitted.

    Returns
    -------
    SVMResults

    Raises
    ------
    ArgumentError, ArgumentTypeError, FormulaError, DataError
        For arguments, formulas and data that cannot be used; nothing has been solved then.

    Warns
    -----
    DesignWarning
        For constant columns and indefinite kernel matrices.
    CertificateWarning, CalibrationWarning
        If the optimality of the solution or the convergence of the Platt map could not be certified.

    Examples
    --------
    >>> from svmstat import datasets, svm
    >>> mackerel = datasets.load("mackerel")
    >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", mackerel, C=16, gamma=0.25)
    >>> round(fit.deviance, 2), round(fit.apparent_error, 4)
    (418.1, 0.1341)
    >>> fit.predict(mackerel.head(2)).tolist()
    [False, False]
    """
    one_of("loss", loss, losses.NAMES)
    positive("C", C)
    one_of("calibration", calibration, ("insample",))
    given = isinstance(kernel, str) and kernel == "precomputed"
    caller = sys._getframe(1)
    frame = build_design(
        formula, data, weights=weights, subset=subset, event=event, na_action=na_action,
        scale=scale and not given, drop_constant=not given, env=ChainMap(caller.f_locals, caller.f_globals),
    )  # fmt: skip
    X = _gram_columns(frame, len(data)) if given else frame.X
    chosen = make_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0, X=X, weights=frame.weights)
    level_weights = _class_weights(class_weight, frame)
    response = frame.response
    other = response.levels[1 - response.event_code]
    weighted_hinge = losses.hinge(level_weights[response.event], level_weights[other])
    machine = fit_machine(chosen, X, frame.y, frame.weights, C=float(C), loss=weighted_hinge)
    platt = fit_platt(machine.decision_values, frame.y, frame.weights, kind=calibration)
    fit = SVMResults(frame, machine, platt, loss, float(C), None if class_weight is None else level_weights)
    _warn(fit)
    return fit


def _gram_columns(frame: ModelFrame, n: int) -> Floats:
    """The gram matrix of the rows that are used, its columns those of the design."""
    if frame.X.shape[1] != n:
        raise DataError(
            f"kernel='precomputed' needs a square matrix: the design has {frame.X.shape[1]} columns for {n} rows of data."
        )
    return check_gram(frame.X[:, frame.rows], "the design of kernel='precomputed'")


def _class_weights(class_weight: object, frame: ModelFrame) -> dict[Any, float]:
    """L for each level."""
    levels = frame.response.levels
    if class_weight is None:
        return dict.fromkeys(levels, 1.0)
    if isinstance(class_weight, str) and class_weight == "balanced":
        event = frame.response.event
        totals = {level: frame.weights[(frame.y > 0) == (level == event)].sum() for level in levels}
        return {level: float(frame.weights.sum() / (2.0 * total)) for level, total in totals.items()}
    if not isinstance(class_weight, Mapping):
        raise refuse("class_weight", class_weight, "'balanced' or a mapping of levels to numbers > 0")
    weights = dict.fromkeys(levels, 1.0)
    for level, value in class_weight.items():
        known = frame.response.find(level)
        if known is None:
            raise refuse("class_weight", class_weight, f"a mapping of levels, which are {', '.join(map(repr, levels))}")
        if not is_real(value) or not 0 < value < np.inf:
            raise refuse(f"class_weight[{level!r}]", value, "a finite number > 0")
        weights[known] = float(value)
    return weights


def _warn(fit: "SVMResults") -> None:
    """Tell what the user should know of a fit, at the line that called ``svm``."""
    kernel, gram = fit.kernel, fit.machine.problem.gram
    may_be_indefinite = isinstance(kernel, Precomputed | CustomKernel) or (
        isinstance(kernel, Polynomial) and kernel.coef0 < 0
    )
    if may_be_indefinite and gram.fits:
        warn_if_indefinite(gram.complete(), stacklevel=4)
    solution = fit.machine.solution
    if solution.status is not Status.CERTIFIED:
        warnings.warn(
            f"KKT violation {solution.violation:.2g}, duality gap {solution.gap:.2g}: {solution.status.advice}",
            CertificateWarning,
            stacklevel=3,
        )
    if not fit.calibration.converged:
        warnings.warn("the Platt calibration did not converge", CalibrationWarning, stacklevel=3)


@dataclass(frozen=True, repr=False, eq=False)
class SVMResults:
    """A fitted two-class support vector machine; made by `svm`.

    n is the number of rows that were used, on the index of the data; p is the number of columns of the design.

    Attributes
    ----------
    frame : ModelFrame
        The arrays that the formula gave, and how to do the same to new data.
    machine : Machine
        The kernel machine on these arrays, with its solution and certificate.
    calibration : Platt
        The map from decision values to probabilities: ``slope`` A, ``intercept`` B, ``converged``.
    loss : str
    C : float
    class_weight : dict or None
        L for each level, None if it was not given.
    """

    frame: ModelFrame
    machine: Machine
    calibration: Platt
    loss: str
    C: float
    class_weight: dict[Any, float] | None

    def __repr__(self) -> str:
        return (
            f"<SVMResults: {self.formula}; kernel {self.kernel_name}, C = {self.C:g}, n = {self.n_rows}, "
            f"{int((self.machine.alpha > 0).sum())} support vectors>"
        )

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    # What was fitted

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
        """The two levels of the response, in their order."""
        return self.response.levels

    @property
    def event(self) -> Any:
        """The level that f > 0 predicts."""
        return self.response.event

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
    def kernel(self) -> Kernel:
        """The kernel."""
        return self.machine.kernel

    @property
    def kernel_name(self) -> str:
        """The name of the kernel."""
        return self.kernel.name

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

    # The solution

    def _by_row(self, values: NDArray[Any], name: str) -> pd.Series:
        return pd.Series(values, index=self.frame.index, name=name)

    @cached_property
    def alpha(self) -> pd.Series:
        """Dual variables α (n,), 0 ≤ α_i ≤ u_i."""
        return self._by_row(self.machine.alpha, "alpha")

    @cached_property
    def decision_values(self) -> pd.Series:
        """f(x_i) (n,) of the rows that are used."""
        return self._by_row(self.machine.decision_values, "decision_value")

    @cached_property
    def fittedvalues(self) -> pd.Series:
        """P(event) (n,) of the rows that are used."""
        return self._by_row(self.calibration.probability(self.machine.decision_values), "probability")

    @property
    def support(self) -> pd.Index:
        """The labels of the rows with α > 0."""
        return self.frame.index[self.machine.alpha > 0]

    @cached_property
    def n_support(self) -> pd.DataFrame:
        """Support vectors by class: columns ``rows`` (all rows of the class), ``free``, ``bounded``, ``total``.

        Sums of weights where weights were given. A vector is free if 0 < α < u, bounded if α = u.
        """
        solution, groups = self.machine.solution, self.machine.groups
        labels = self.machine.problem.signs > 0
        counts = [
            [groups.weights[of_class & kind].sum() for kind in (True, solution.free, solution.bounded)]
            for of_class in (labels == (level == self.event) for level in self.classes)
        ]
        table = pd.DataFrame(counts, index=pd.Index(self.classes), columns=["rows", "free", "bounded"])
        table["total"] = table["free"] + table["bounded"]
        whole = bool((groups.weights == np.round(groups.weights)).all())
        return table.astype(int) if whole else table

    @property
    def intercept(self) -> float:
        """b, on the scale of the fit; the midpoint of `intercept_interval`."""
        return self.machine.solution.intercept

    @property
    def intercept_interval(self) -> tuple[float, float]:
        """All optimal b: a point if a support vector is free."""
        solution = self.machine.solution
        return (solution.intercept, solution.intercept) if self.intercept_is_unique else solution.intercept_interval

    @property
    def intercept_is_unique(self) -> bool:
        """Whether b is determined, that is, a support vector is free or the interval is a point."""
        solution = self.machine.solution
        low, high = solution.intercept_interval
        return bool(solution.free.any()) or high - low <= 1e-12 * max(1.0, abs(low))

    @property
    def margin(self) -> float:
        """2/‖h‖, infinite for h = 0."""
        norm_squared = self.machine.solution.norm_squared
        return 2.0 / float(np.sqrt(norm_squared)) if norm_squared > 0 else float("inf")

    @property
    def objective(self) -> float:
        """½‖h‖² + Σ u_i [1 − y_i f(x_i)]₊ at the solution."""
        return self.machine.solution.gap - self.machine.solution.objective

    @property
    def kkt_violation(self) -> float:
        """The largest violation of the optimality conditions."""
        return self.machine.solution.violation

    @property
    def duality_gap(self) -> float:
        """`objective` minus the dual objective, ≥ 0; the objective is at most so far from its minimum."""
        return self.machine.solution.gap

    @property
    def converged(self) -> bool:
        """Whether the certificate holds: KKT violation ≤ 1e-8."""
        return self.machine.solution.status is Status.CERTIFIED

    # How well it fits

    @cached_property
    def llf(self) -> float:
        """Log-likelihood Σ w_i log p_{y_i}(x_i) of the Platt probabilities."""
        used = self.frame.weights > 0
        each = self.calibration.log_likelihoods(self.machine.decision_values[used], self.frame.y[used])
        return float(self.frame.weights[used] @ each)

    @property
    def deviance(self) -> float:
        """−2 log-likelihood of the Platt probabilities [003]."""
        return -2.0 * self.llf

    @cached_property
    def null_deviance(self) -> float:
        """−2 log-likelihood of the class frequencies."""
        totals = np.array([self.frame.weights[self.frame.y * sign > 0].sum() for sign in (1, -1)])
        return float(-2.0 * totals @ np.log(totals / totals.sum()))

    @property
    def pseudo_rsquared(self) -> float:
        """McFadden's R², 1 − deviance / null deviance."""
        return 1.0 - self.deviance / self.null_deviance

    @cached_property
    def confusion(self) -> pd.DataFrame:
        """Sums of weights by observed (rows) and predicted (columns) class."""
        observed, predicted = self.frame.y > 0, self.machine.decision_values > 0
        cells = [
            [self.frame.weights[(observed == (o == self.event)) & (predicted == (p == self.event))].sum() for p in self.classes]
            for o in self.classes
        ]
        index = pd.Index(self.classes, name="observed")
        return pd.DataFrame(cells, index=index, columns=pd.Index(self.classes, name="predicted"))

    @property
    def apparent_error(self) -> float:
        """Weighted share of rows that are predicted wrongly."""
        return 1.0 - float(np.trace(self.confusion.to_numpy())) / self.nobs

    @cached_property
    def disagreement(self) -> float:
        """Weighted share of rows where f > 0 and P(event) > ½ disagree."""
        by_sign = self.machine.decision_values > 0
        by_probability = self.fittedvalues.to_numpy() > 0.5
        return float(self.frame.weights[by_sign != by_probability].sum() / self.nobs)

    # Coefficients

    @property
    def has_params(self) -> bool:
        """Whether f is a linear function of the columns of the design."""
        return isinstance(self.kernel, Linear)

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
        """Intercept and coefficients (1 + p,) of f for the columns on their original scale; linear kernel only.

        Raises
        ------
        UnavailableError
            For another kernel.
        """
        self._require_linear("params")
        design = self.frame.design
        slopes = self.machine.direction() / design.scale_
        return self._coefficients(slopes, self.intercept - float(slopes @ design.center))

    def _require_linear(self, name: str) -> None:
        if not self.has_params:
            raise UnavailableError(
                f"{name} exists for kernel='linear' only, where f is linear; this fit has kernel {self.kernel_name!r}."
            )

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
        rows = self.frame.design.transform(newdata)
        values = np.full(len(rows.missing), np.nan)
        complete = ~rows.missing
        X = rows.X[complete]
        if isinstance(self.kernel, Precomputed):
            X = np.ascontiguousarray(X[:, self.frame.rows])
        values[complete] = self.machine.decision_function(X)
        return pd.Series(values, index=rows.index, name="decision_value")

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
        f = self.decision_function(newdata)
        event_code = self.response.event_code
        codes = np.where(f > 0, event_code, 1 - event_code)
        codes[f.isna()] = -1
        return self.response.labels(codes, f.index)

    def predict_proba(self, newdata: pd.DataFrame | None = None) -> pd.DataFrame:
        """Platt probabilities 1/(1 + exp(A f + B)) of the two levels.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.

        Returns
        -------
        DataFrame (m, 2)
            One column per level, in the order of `classes`; NaN where a predictor is missing.
        """
        f = self.decision_function(newdata)
        p = self.calibration.probability(f.to_numpy())
        columns = [p if level == self.event else 1.0 - p for level in self.classes]
        return pd.DataFrame(np.column_stack(columns), index=f.index, columns=pd.Index(self.classes))

    def summary(self) -> Summary:
        """The fit at a glance: prints as text, shows as HTML in a notebook, converts by ``.as_latex()``."""
        return summarize(self)
