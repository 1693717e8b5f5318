"""What the parts of the validity study share: truths, a data set, and a row of a table."""

from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels

LINEAR = {"kernel": "linear", "C": 1.0}
SMOOTH = {"C": 1.0, "gamma": 0.25}
FLEXIBLE = {"C": 10.0, "gamma": 1.0}
TRUTHS = {
    "linear": (lambda X: 1.5 * X[:, 0] - X[:, 1], LINEAR),
    "smooth": (lambda X: 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1] ** 2, SMOOTH),
    "flexible": (lambda X: 3.0 * np.sin(3.0 * X[:, 0]) * np.sin(2.0 * X[:, 1]), FLEXIBLE),
}
"""The logit of an event at X (m, 2), up to a constant, and a machine that suits it."""

LBW = "low ~ age + lwt + C(race) + smoke + ptl + ht + ui + ftv"


def low_birth_weight():
    """Low birth weight, 189 rows, as statsmodels' tests have it."""
    return pd.read_csv(Path(statsmodels.__file__).parent / "genmod" / "tests" / "results" / "stata_lbw_glm.csv")


def row(part, design, n, quantity, nominal, values):
    """A row of a table: the mean of the samples' values and its standard error."""
    values = np.asarray(values, float)
    return {
        "part": part, "design": design, "n": n, "quantity": quantity, "nominal": nominal,
        "value": float(values.mean()), "se": float(values.std(ddof=1) / np.sqrt(len(values))), "samples": len(values),
    }  # fmt: skip
