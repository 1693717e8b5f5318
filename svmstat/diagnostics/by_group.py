"""A table of rows, group by group."""

from typing import Any

import pandas as pd

from svmstat._tools.arrays import Floats


def sums_by_group(label: pd.Index, weights: Floats, log_likelihoods: Floats, error: Floats) -> pd.DataFrame:
    """What rows (n,) of groups come to: their number and weight, score and error rate; NaN where a row has none.

    Examples
    --------
    >>> import numpy as np
    >>> label = pd.Index(["a", "b", "a"], name="patient")
    >>> sums_by_group(label, np.array([1.0, 1.0, 2.0]), np.array([-0.5, -0.2, -1.0]), np.array([0.0, 0.0, 1.0]))
             rows  weight  score  score_per_row  error_rate
    patient
    a           2     3.0    5.0       1.666667    0.666667
    b           1     1.0    0.4       0.400000    0.000000
    """
    each = {"rows": 1, "weight": weights, "score": -2.0 * weights * log_likelihoods, "error_rate": weights * error}
    found = pd.DataFrame(each).groupby(label).agg(_sum)
    found["error_rate"] /= found["weight"]
    found.insert(3, "score_per_row", found["score"] / found["weight"])
    return found


def _sum(part: pd.Series) -> Any:
    return part.sum(skipna=False)
