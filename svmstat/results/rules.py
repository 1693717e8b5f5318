"""Rules that follow from decision values: the sign of f, or of f shifted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Floats
from svmstat._tools.frames import in_kind, of_any_kind
from svmstat.formula import Response
from svmstat.objective import measures


def labels_of(response: Response, f: pd.Series) -> pd.Series:
    """The event where f > 0, missing where f is."""
    codes = np.where(f > 0, response.event_code, 1 - response.event_code)
    codes[f.isna()] = -1
    return response.labels(codes, f.index)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ShiftedRule:
    """The rule f(x) + shift > 0.

    Attributes
    ----------
    fit : SVMResults
        The fit whose decision function it shifts.
    shift : float
        What is added to f.
    """

    fit: Any
    shift: float

    @property
    def kind(self) -> str:
        """The library of the data of the fit."""
        return str(self.fit.kind)

    @property
    def intercept(self) -> float:
        """The intercept of the shifted rule."""
        return float(self.fit.intercept + self.shift)

    @in_kind
    def predict(self, newdata: pd.DataFrame | None = None) -> pd.Series:
        """The predicted level, as `SVMResults.predict` for the shifted rule."""
        index, f = self.fit.decision_at(newdata)
        return labels_of(self.fit.response, pd.Series(f[:, 0] + self.shift, index))

    @of_any_kind
    def error_rates(self, newdata: pd.DataFrame | None = None, *, weights: Any = None) -> pd.Series:
        """P_F and P_M, as `SVMResults.error_rates` for the shifted rule."""
        f, y, w = self.fit.observed_values(newdata, weights)
        return error_rates(f + self.shift, y, w)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: f {self.shift:+.6g} > 0>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BiasTuned(ShiftedRule):
    """The rule f(x) + shift > 0 with a shift chosen on a validation sample; made by `SVMResults.tune_bias`.

    Attributes
    ----------
    fit : SVMResults
        The fit whose decision function it shifts.
    shift : float
        What is added to f: the middle between two decision values, of all that do equally well the one nearest to zero.
    costs : dict
        {"fp": …, "fn": …}, of the risk that was made as small as possible.
    validation_risk : float
        The risk on the validation sample, the smallest that a shift can reach there.
    """

    costs: dict[str, float]
    validation_risk: float

    @of_any_kind
    def risk(self, newdata: pd.DataFrame | None = None, *, weights: Any = None) -> float:
        """What a decision costs in the mean, as `SVMResults.risk` for the shifted rule."""
        f, y, w = self.fit.observed_values(newdata, weights)
        return measures.mean_cost(f + self.shift > 0, y > 0, w, self.costs["fp"], self.costs["fn"])

    def __repr__(self) -> str:
        return f"<BiasTuned: f {self.shift:+.6g} > 0, validation risk {self.validation_risk:.6g}>"


def error_rates(f: Floats, y: Floats, weights: Floats) -> pd.Series:
    """P_F and P_M of the rule f > 0; NaN without a row of the level."""
    rates = {}
    for name, of_level, wrong in (("p_f", y < 0, f > 0), ("p_m", y > 0, f <= 0)):
        total = weights[of_level].sum()
        rates[name] = float(weights[of_level & wrong].sum() / total) if total > 0 else np.nan
    return pd.Series(rates, name="error_rate")
