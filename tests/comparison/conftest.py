"""Data on which svmstat, statsmodels and scikit-learn are compared."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def data():
    """80 rows with labels of their own, two levels as numbers and three as text, whole weights, some of them zero."""
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, 80))
    frame = pd.DataFrame({"x": x, "z": z}, index=[f"r{k}" for k in range(80)])
    frame["y"] = (x - 0.5 * z + rng.logistic(size=80) > 0).astype(int)
    frame["kind"] = np.array(["a", "b", "c"])[np.digitize(x + rng.normal(size=80), [-0.6, 0.6])]
    frame["w"] = rng.choice([0, 1, 1, 2, 3], 80)
    return frame
