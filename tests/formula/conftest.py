import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def table():
    """Eight rows with a column of each kind; the labels are no positions."""
    return pd.DataFrame(
        {
            "y": [0, 1, 1, 0, 1, 0, 1, 0],
            "x": [0.5, -1.0, 2.0, 3.5, -2.5, 1.0, 0.0, 4.0],
            "z": [2, 3, 5, 7, 11, 13, 17, 19],
            "a": ["u", "v", "w", "u", "v", "w", "u", "v"],
            "b": [True, False, False, True, True, False, True, False],
            "g": pd.Categorical(list("qpqpqpqp"), categories=["q", "p", "r"]),
            "hole": [1.0, np.nan, 3.0, 4.0, np.nan, 6.0, 7.0, 8.0],
            "mean depth": [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 1.0],
        },
        index=[f"r{k}" for k in range(8)],
    )
