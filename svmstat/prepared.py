"""What a fit is made of before anything is solved: checked arguments, arrays that a formula gave; and the fit of it."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import flag, one_of, refuse
from svmstat._tools.texts import counted
from svmstat._tools.warn import warn
from svmstat.calibration import COUPLINGS
from svmstat.errors import CertificateWarning, DataError, DesignWarning
from svmstat.formula import ModelFrame, build_design
from svmstat.kernels import NOT_CONVEX, Inherited, Kernel, additive_kernel, check_gram
from svmstat.machine import Contrast, Machine, contrasts, fit_machine, nu_contrast
from svmstat.objective import losses
from svmstat.objective.bounds import check_range
from svmstat.objective.decision import Decision, decide
from svmstat.objective.nu import Nu
from svmstat.objective.units import units_of
from svmstat.results import CALIBRATIONS, SVMResults


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What is the same for every cost and every kernel parameter.

    Attributes
    ----------
    frame : ModelFrame
        The arrays that the formula gave.
    X : ndarray (n, p)
        The design, or the gram matrix (n, n) of the rows that are used.
    loss : str
        The name of the loss.
    decision : Decision
        Costs, priors and class weights.
    calibration : str
        The decision values to which the Platt map is fitted.
    coupling : str
        How probabilities of pairs are coupled.
    theta : mapping, optional
        θ of the terms of an additive formula that have one given.
    """

    frame: ModelFrame
    X: Floats
    loss: str
    decision: Decision
    calibration: str
    coupling: str
    theta: Mapping[str, float] | None = None

    def resolve(self, kernel: Kernel) -> Kernel:
        """The kernel with numbers for all that it learns from these rows; in an additive formula that of all terms."""
        if self.frame.design.additive:
            kernel = additive_kernel(self.frame.design.terms, kernel, self.theta)
        return kernel.resolve(self.X, self.frame.weights, self.frame.design.named_slices)

    @property
    def many(self) -> bool:
        """Whether the response has more than two levels."""
        return len(self.frame.response.levels) > 2

    def check_bounds(self, costs: Sequence[float], nu: Nu | None = None) -> None:
        """Refuse costs, or ν, whose upper bounds doubles cannot carry; all else that the bounds depend on is known.

        Raises
        ------
        ArgumentError
            If a bound C · w · L is not between 1e-100 and 1e100.
        """
        used = self.frame.weights > 0
        w, codes = self.frame.weights[used], self.frame.codes[used]
        if nu is not None:
            event = codes == self.frame.response.event_code
            check_range({"weights": w, "nu": np.where(event, nu.gamma, 1.0 - nu.gamma) / nu.n})
            return
        L = self.level_weights[codes]
        for cost in (max(costs), min(costs)):
            check_range({"C": cost, "weights": w, self.decision.source: L})

    def contrasts(self, nu: Nu | None = None) -> tuple[Contrast, ...]:
        """The pairs of classes with their losses; ν takes the place of the loss."""
        pairs = self.frame.response.pairs
        return contrasts(pairs, self.loss, self.class_weight) if nu is None else (nu_contrast(*pairs[0], nu),)

    @property
    def level_weights(self) -> Floats:
        """(K,) L of the levels."""
        return self.decision.factors(self.frame.response.levels)

    @property
    def class_weight(self) -> dict[int, float]:
        """L by the position of the level."""
        return dict(enumerate(self.level_weights.tolist()))


def prepare(  # noqa: PLR0913  the arguments of svm() that are no numbers of the machine
    formula: str,
    data: pd.DataFrame,
    *,
    loss: str,
    of_rows: bool,
    theta: Mapping[str, float] | None,
    weights: Hashable | ArrayLike | None,
    weight_type: str,
    class_weight: Mapping[Any, float] | str | None,
    costs: Mapping[str, float] | None,
    priors: Mapping[Any, float] | None,
    groups: Hashable | ArrayLike | None,
    event: object,
    subset: str | ArrayLike | None,
    na_action: str,
    scale: bool,
    calibration: str,
    coupling: str,
    env: Mapping[str, Any],
    ignored: Collection[Hashable] = (),
) -> Prepared:
    """Check the arguments of `svm` that are no numbers of the machine, and read the formula.

    ``of_rows`` says whether the kernel is one of rows, and not a gram matrix; ``env`` are the caller's names.
    """
    one_of("loss", loss, losses.NAMES)
    one_of("calibration", calibration, CALIBRATIONS)
    one_of("coupling", coupling, COUPLINGS)
    scale = flag("scale", scale)
    frame = build_design(
        formula, data, weights=weights, weight_type=weight_type, groups=groups, subset=subset, event=event,
        na_action=na_action, scale=scale and of_rows, drop_constant=of_rows, env=env, ignored=ignored,
    )  # fmt: skip
    if theta is not None and not frame.design.additive and not isinstance(theta, Inherited):
        allowed = "left out: the formula has no smooth term such as s(x), and so one joint kernel"
        raise refuse("theta", theta, allowed)
    decision = decide(frame, class_weight, costs, priors)
    X = frame.X if of_rows or frame.design.additive else _gram_columns(frame, len(data))
    return Prepared(frame, X, loss, decision, calibration, coupling, theta)


def fit(
    prepared: Prepared, kernel: Kernel, C: float, nu: Nu | None = None, untuned: tuple[str, ...] = ()
) -> SVMResults:
    """The machine on the data that were prepared, and warnings of what the user should know."""
    frame = prepared.frame
    machine = fit_machine(kernel, prepared.X, frame.codes, frame.weights, prepared.contrasts(nu), C=C)
    results = results_of(prepared, machine, untuned)
    _warn_of(results)
    return results


def results_of(prepared: Prepared, machine: Machine, untuned: tuple[str, ...], **known: Any) -> SVMResults:
    """The results of a machine on the data that were prepared, with what else is known of it."""
    frame = prepared.frame
    labels = None if frame.grouping is None else frame.grouping.codes
    units = units_of(labels, frame.weights, frame.weight_type == "frequency", machine.groups.of_row)
    machine = replace(machine, units=units)
    return SVMResults(frame, machine, prepared.decision, untuned, prepared.coupling, prepared.calibration, **known)


def _gram_columns(frame: ModelFrame, n: int) -> Floats:
    """The gram matrix of the rows that are used, its columns those of the design."""
    columns = frame.X.shape[1]
    if columns != n:
        raise DataError(
            "kernel='precomputed' needs a square matrix: "
            f"the design has {counted(columns, 'column')} for {n} rows of data."
        )
    return check_gram(frame.X[:, frame.rows], "the design of kernel='precomputed'")


def _warn_of(fit: SVMResults) -> None:
    """Tell what the user should know of a fit."""
    if not fit.is_convex:
        warn(NOT_CONVEX, DesignWarning)
    tell_of_certificate(fit)


def tell_of_certificate(fit: SVMResults) -> None:
    """Warn if the optimality of a solution could not be certified."""
    if not fit.converged:
        found = f"KKT violation {fit.kkt_violation:.2g}, duality gap {fit.duality_gap:.2g}, rounding {fit.rounding:.2g}"
        warn(f"{found}: {fit.advice}", CertificateWarning)
