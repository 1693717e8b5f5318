"""Kernels of one's own: what they hold goes along in a pickle, and they are told apart."""

import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from svmstat import svm, tune
from svmstat.errors import GridWarning
from svmstat.kernels import RBF, PointKernel


def gaussian(points, columns, out):
    out[:] = np.exp(-((points[:, :, None] - columns[None]) ** 2).sum(axis=1))


class Plain(PointKernel):
    """No dataclass, and its attribute no field."""

    width = 0.1

    def __init__(self, width):
        object.__setattr__(self, "width", width)

    def fill(self, points, columns, out):
        gaussian(np.sqrt(self.width) * points, np.sqrt(self.width) * columns, out)


@dataclass(frozen=True)
class Mahalanobis(PointKernel):
    """A field, and what is derived from it once."""

    M: tuple = ((1.0, 0.0), (0.0, 1.0))

    def __post_init__(self):
        object.__setattr__(self, "root", np.linalg.cholesky(np.array(self.M)))

    def fill(self, points, columns, out):
        gaussian(points @ self.root, self.root.T @ columns, out)


@dataclass(frozen=True, slots=True)
class Slotted(PointKernel):
    width: float = 1.0

    def fill(self, points, columns, out):
        gaussian(np.sqrt(self.width) * points, np.sqrt(self.width) * columns, out)


@dataclass(frozen=True)
class ByColumn(PointKernel):
    """A field that is an array, which == compares number by number."""

    widths: np.ndarray

    def fill(self, points, columns, out):
        gaussian(np.sqrt(self.widths) * points, np.sqrt(self.widths)[:, None] * columns, out)


@dataclass(frozen=True)
class Periodic(RBF):
    """A kernel of the package with a field more, and what is derived from it."""

    period: float = 2.0

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "frequency", 2.0 * np.pi / self.period)

    def prepare(self, X):
        return super().prepare(np.hstack([np.sin(self.frequency * X), np.cos(self.frequency * X)]))


OWN = [Periodic(0.5), Plain(2.0), Mahalanobis(((2.0, 0.5), (0.5, 1.0))), Slotted(0.7), ByColumn(np.array([1.0, 0.1]))]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    found = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    return found.assign(y=2.0 * np.sin(2.0 * found["a"]) + rng.logistic(size=60) > 0)


@pytest.mark.parametrize("kernel", OWN, ids=lambda kernel: type(kernel).__name__)
def test_a_pickle_has_all_that_they_hold(kernel, data):
    fit = svm("y ~ a + b", data, kernel=kernel)
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.decision_function(data), fit.decision_function(data))
    np.testing.assert_array_equal(again.update().decision_values, fit.decision_values)


@pytest.mark.parametrize(
    "kernels",
    [[Plain(0.1), Plain(2.0)], [ByColumn(np.array([1.0, 0.1])), ByColumn(np.array([0.1, 1.0]))]],
    ids=["plain", "arrays"],
)
def test_they_are_told_apart_in_a_search(kernels, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune("y ~ a + b", data, kernel=kernels, C=[1.0])
    scores = [svm("y ~ a + b", data, kernel=kernel).loo().score for kernel in kernels]
    np.testing.assert_allclose(found.table["score"], scores, rtol=1e-9)


def test_those_of_the_package_are_equal_by_their_parameters():
    assert RBF(0.5) == RBF(0.5) != RBF(0.7)
    assert pickle.loads(pickle.dumps(RBF(0.5))) == RBF(0.5)
    assert Slotted(0.7) == Slotted(0.7) != Slotted(0.8) and Plain(1.0) != Plain(1.0)
