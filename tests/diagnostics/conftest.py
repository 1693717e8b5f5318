"""The mackerel fit, whose diagnostics are known, and a fit with a level of one row."""

import pytest
from levels import sample

from svmstat import datasets, svm

MACKEREL = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"


def fit_mackerel():
    return svm(MACKEREL, datasets.load("mackerel"), C=16, gamma=0.25, calibration="insample")


@pytest.fixture(scope="session")
def mackerel():
    return fit_mackerel()


@pytest.fixture
def another_mackerel():
    return fit_mackerel()


@pytest.fixture
def lonely(K):
    """K levels of which the last has one row, r7."""
    data = sample(K - 1, 40, seed=10).set_axis([f"r{k}" for k in range(40)])
    data.loc["r7", "y"] = "only"
    data.loc["r7", ["x", "z"]] = [4.0, 70.0]
    return data
