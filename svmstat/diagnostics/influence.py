"""Influence: how much each row changes the deviance of the others [003]."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc, chdtri

from svmstat._tools.checks import between
from svmstat.diagnostics.loo import LooResult
from svmstat.reporting.plots import index_plot


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InfluenceResult:
    """How the fit changes when a row is left out.

    Attributes
    ----------
    loo : LooResult
    """

    loo: LooResult

    def __repr__(self) -> str:
        return f"<InfluenceResult: deletion deviances of {len(self.loo.index)} rows, deviance {self.loo.deviance:.6g}>"

    @property
    def delta_deviance(self) -> pd.Series:
        """ΔD_k = D − D_(k) (n,)."""
        return (self.loo.deviance - self.loo.deviance_deleted).rename("delta_deviance")

    def critical_value(self, level: float = 0.95) -> float:
        """The ``level`` quantile of χ²(1), to which ΔD_k is referred."""
        return float(chdtri(1, 1.0 - between("level", level, 0.0, 1.0)))

    def summary_frame(self) -> pd.DataFrame:
        """One row for each row of the fit: ΔD, its χ²(1) p-value, largest and root mean square change of f."""
        delta = self.delta_deviance
        return pd.DataFrame(
            {
                "delta_deviance": delta,
                "pvalue": chdtrc(1, np.maximum(delta, 0.0)),
                "max_change": self.loo.max_change,
                "rms_change": self.loo.rms_change,
            },
            index=self.loo.index,
        )

    def plot_index(self, level: float = 0.95, ax: Any = None) -> Any:
        """ΔD by row with the χ²(1) line at ``level``; rows above it are labelled. Returns the Axes."""
        return index_plot(
            self.delta_deviance.to_numpy(), list(map(str, self.loo.index)), self.critical_value(level), level=level,
            ax=ax,
        )  # fmt: skip
