"""Settings of Hypothesis; samples of several classes, and refits to altered weights, which define all resampling."""

import os
import sys
from importlib import import_module
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_iris, load_wine

from svmstat import datasets
from svmstat.calibration import fit_maps
from svmstat.machine import contrasts, fit_machine, pairs_of

# The checks of the fuzz lie beside the package and are not installed with it, nor are the samples of the tests. Last,
# so that what is tested is the package that is installed.
sys.path.extend(map(str, Path(__file__).parents[1::-1]))

os.environ["SVMSTAT_COMPILE_AHEAD"] = "0"  # the workers of the tests have the cores

settings.register_profile("svmstat", deadline=None, derandomize=True, max_examples=50, print_blob=True)
settings.load_profile("svmstat")


@pytest.fixture(params=[2, 3, 6], ids=["two", "three", "six"])
def K(request):
    """The number of levels; what holds for any number is stated once."""
    return request.param


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


@pytest.fixture(scope="session")
def data():
    """X (n, p) and classes (n,) of three data sets; iris has a row twice."""
    liver, iris, wine = datasets.load("liver"), load_iris(), load_wine()
    enzymes = np.log(liver[["ast", "alt", "gldh"]].to_numpy(float))
    return {
        "liver": (standardised(enzymes), np.unique(liver["disease"].to_numpy(), return_inverse=True)[1]),
        "iris": (standardised(iris.data), iris.target),
        "wine": (standardised(wine.data), wine.target),
    }


def make_clouds(n, n_classes=3, p=2, seed=0, apart=1.0):
    """X (n, p) and classes (n,), the first rows 0, 1, … K − 1 twice."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    codes[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    return rng.normal(size=(n, p)) + apart * rng.normal(size=(n_classes, p))[codes], codes


@pytest.fixture(scope="session")
def clouds():
    return make_clouds


def fit_with_maps(
    kernel, X, codes, weights=None, *, C=1.0, loss="hinge", class_weight=None, coupling="wu-lin-weng", near=None,
    order=None,
):  # fmt: skip
    """The machines and their maps; ``order`` are the pairs, by default i < j."""
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, float)
    asked = contrasts(pairs_of(codes.max() + 1) if order is None else order, loss, class_weight)
    machine = fit_machine(kernel, X, codes, weights, asked, C=C, near=near)
    return machine, fit_maps(machine, coupling)


@pytest.fixture(scope="session")
def fit():
    return fit_with_maps


def refitted(machine, weights, coupling):
    """The fit with the same kernel, cost and losses to other case weights (n,), and what it says of the n rows."""
    L = {}
    for pair in machine.pairs:
        L[pair.first], L[pair.second] = pair.loss.weight_event, pair.loss.weight_other
    name = machine.pairs[0].loss.name
    reduced, maps = fit_with_maps(
        machine.kernel, machine.X, machine.codes, weights, C=machine.C, loss=name, class_weight=L, coupling=coupling,
        order=machine.classes,
    )  # fmt: skip
    p = maps.probabilities(reduced.decision_values)
    own = np.log(p[np.arange(len(p)), machine.codes])
    used = weights > 0
    return SimpleNamespace(
        machine=reduced,
        maps=maps,
        f=reduced.decision_values,
        p=p,
        log_likelihood=own,
        deviance=-2.0 * weights[used] @ own[used],
    )


@pytest.fixture(scope="session")
def refit():
    return refitted


@pytest.fixture(scope="session")
def pairs():
    """The pairs i < j, independently of the package."""
    return lambda n_classes: list(combinations(range(n_classes), 2))


@pytest.fixture
def few_envelopes(monkeypatch):
    """Envelopes of a few replicates, for reports of which something else is looked at."""
    monkeypatch.setattr("svmstat.report.LEAST", 9)
    monkeypatch.setattr("svmstat.diagnostics.influence.LEAST", 9)
    monkeypatch.setattr("svmstat.resampling.influences._LEAST_SECOND", 5)


@pytest.fixture
def nothing_is_solved(monkeypatch):
    """Whatever would be fitted from here on is an error: bad input has to be refused before."""

    def fail(*_, **__):
        raise AssertionError("something was solved")

    for module, name in (
        ("svmstat.prepared", "fit_machine"),
        ("svmstat.tuning.sample", "fit_machine"),
        ("svmstat.tuning.sample", "pose"),
        ("svmstat.tuning.nu_grid", "sweep_grid"),
        ("svmstat.tuning.nu_baselines", "sweep_line"),
    ):
        monkeypatch.setattr(import_module(module), name, fail)
