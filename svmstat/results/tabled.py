"""What makers of tables ask of a model: the plug-in format of maketables, which needs nothing of it imported."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat.results.tidied import Tidied

_LABELS = {
    "N": "Observations",
    "cv_score": "CV score",
    "r_squared": "R-squared, held out",
    "error_rate": "Error rate, held out",
    "n_support": "Support vectors",
    "kernel": "Kernel",
    "C": "C",
}
"""The numbers of `glance` that a table has below its coefficients, and what they are called."""


@dataclass(frozen=True, repr=False, eq=False)
class Tabled(Tidied):
    """Columns of ``maketables.ETable([fit, …])``.

    Numbers that are called held out are so where `glance` has them, for the larger fits after ``fit.loo()``; otherwise
    they are missing.
    """

    @property
    def __maketables_coef_table__(self) -> pd.DataFrame:
        """Coefficients ``b`` of a linear machine, without p-values, which they do not have; refused as by `tidy`."""
        found = self.tidy()
        names = found["term"].astype(str)
        if not self.shape.two:
            names = found["positive"].astype(str) + " vs " + found["negative"].astype(str) + ", " + names
        table = pd.DataFrame({"b": found["estimate"].to_numpy(float)}, index=pd.Index(names, name="Coefficient"))
        return table.assign(se=np.nan, t=np.nan, p=np.nan)

    @property
    def __maketables_depvar__(self) -> str:
        """The left side of the formula."""
        return self.response_name

    def __maketables_stat__(self, key: str) -> Any:
        """A number of `glance`; None without one."""
        numbers = self.glance().iloc[0]
        if numbers["held_out"] is None and key in ("cv_score", "r_squared", "error_rate"):
            return None
        return numbers.get("nobs" if key == "N" else key)

    @property
    def __maketables_stat_labels__(self) -> dict[str, str]:
        """What the numbers are called."""
        return dict(_LABELS)

    @property
    def __maketables_default_stat_keys__(self) -> list[str]:
        """The numbers that stand in every table."""
        return list(_LABELS)
