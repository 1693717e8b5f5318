"""From arguments to kernels, and what is refused."""

import inspect
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from svmstat import kernels, svm, tune
from svmstat._tools.checks import positive
from svmstat.errors import ArgumentError, DataError, GridWarning
from svmstat.kernels import (
    ARGUMENTS,
    KERNELS,
    RBF,
    CustomKernel,
    Laplace,
    Linear,
    PointKernel,
    Polynomial,
    Precomputed,
    Spline,
    arguments_of,
    declared,
    make_kernel,
    named,
    parameter,
    resolve_gamma,
)

X = np.random.default_rng(4).normal(size=(50, 3))


def make(kernel="rbf", *, X=X, weights=None, **given):
    return make_kernel(kernel, given).resolve(X, weights)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"kernel": "linear"}, Linear()),
        ({"kernel": "rbf", "gamma": 2}, RBF(2.0)),
        ({"kernel": "rbf"}, RBF(resolve_gamma("scale", X))),
        ({"kernel": "rbf", "gamma": "median"}, RBF(resolve_gamma("median", X))),
        ({"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1}, Polynomial(0.5, 1.0, 2)),
        ({"kernel": "poly"}, Polynomial(resolve_gamma("scale", X), 0.0, 3)),
        ({"kernel": "laplace"}, Laplace(resolve_gamma("scale", X, power=1))),
        ({"kernel": "laplace", "gamma": "median"}, Laplace(resolve_gamma("median", X, power=1))),
        ({"kernel": "precomputed"}, Precomputed()),
        ({"kernel": RBF(0.5)}, RBF(0.5)),
        ({"kernel": RBF("median")}, RBF(resolve_gamma("median", X))),
        ({"kernel": Linear() + 2 * RBF()}, Linear() + 2 * RBF(resolve_gamma("scale", X))),
    ],
)
def test_kernels(arguments, expected):
    assert make(**arguments) == expected


@pytest.mark.parametrize("name", ["rbf", "poly", "spline", "laplace"])
def test_rows_of_weight_zero_are_absent(name):
    weights = np.arange(50) % 3 != 0
    one, other = make(name, weights=weights * 1.0), make(name, X=X[weights])
    assert (one(X, X) == other(X, X)).all()


def test_spline_has_the_range_of_the_rows():
    kernel = make("spline")
    assert isinstance(kernel, Spline)
    assert (kernel.lower == X.min(axis=0)).all()
    assert (kernel.upper == X.max(axis=0)).all()


def test_a_function():
    def cubic(X, Z):
        return (X @ Z.T) ** 3

    kernel = make(cubic)
    assert kernel == CustomKernel(cubic)
    assert kernel.name == "custom"


def boom(X, Z):
    raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"kernel": "rfb"},
            r"kernel='rfb' is not allowed: it must be one of 'linear', .*; did you mean 'rbf'\?",
        ),
        ({"kernel": "gaussian"}, r"or a function K\(X, Z\)\."),
        ({"kernel": "RBF"}, "kernel='RBF' is not allowed"),
        ({"kernel": RBF}, r"kernel=RBF is a class of kernels: pass a kernel, RBF\(…\)"),
        (
            {"kernel": RBF(0.5), "gamma": 0.5},
            r"gamma=0.5 and kernel=RBF\(gamma=0.5\) are not allowed together: a kernel that is passed as an object has",
        ),
        (
            {"kernel": 2 * Linear(), "degree": 2, "coef0": 1},
            r"degree=2 and coef0=1 and kernel=2.0 \* Linear\(\) are not allowed together",
        ),
        ({"kernel": Spline([0, 0], [1, 1])}, "lower has 2 numbers, but the spline kernel has 3 columns"),
        ({"kernel": Spline([-9, -9, 4], [9, 9, 3])}, r"lower\[2\]=4.0 is above upper\[2\]=3.0"),
        ({"kernel": None}, "kernel=None is not allowed"),
        ({"kernel": 3}, "kernel=3 is not allowed"),
        ({"kernel": ["rbf"]}, r"kernel=\['rbf'\] is not allowed"),
        ({"gamma": 0}, "gamma=0 is not allowed: it must be 'scale', 'median' or a finite number > 0"),
        ({"gamma": "auto"}, "gamma='auto' is not allowed"),
        ({"kernel": "linear", "gamma": -1}, "gamma=-1 is not allowed"),
        ({"degree": 0}, "degree=0 is not allowed: it must be an integer >= 1"),
        ({"degree": 2.5}, "degree=2.5 is not allowed"),
        ({"degree": True}, "degree=True is not allowed"),
        ({"degree": "3"}, "degree='3' is not allowed"),
        ({"coef0": np.nan}, "coef0=nan is not allowed: it must be a finite number"),
        ({"coef0": None}, "coef0=None is not allowed"),
        ({"kernel": boom}, "kernel=boom failed on rows of the data: KeyError: 'no such thing'"),
        ({"kernel": lambda X: X}, "kernel=<lambda> failed on rows of the data: TypeError"),
        ({"kernel": lambda X, Z: X}, r"kernel=<lambda> returned an array of shape \(16, 3\)"),
        ({"kernel": lambda X, Z: X[:, :1] - Z[:, 0]}, "kernel=<lambda> is not symmetric on rows of the data"),
        (
            {"kernel": lambda X, Z: (X @ Z.T) / len(Z)},
            "gives a pair of rows another value when other rows are absent",
        ),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        make(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"kernel": "linear", "X": X * 1e155},
            r"kernel='linear' has values of about 1e\+311 on these data, .* use scale=T",
        ),
        ({"kernel": "linear", "X": X * 1e-150}, "kernel='linear' has values of about 1e-299 "),
        ({"kernel": "poly", "gamma": 1.0, "degree": 200, "X": X * 100}, r"kernel='poly' of degree=200 has .* 1e\+10"),
        ({"kernel": "poly", "gamma": 1.0, "degree": 5, "X": X * 1e-100}, "of degree=5 has values of about 1e-99"),
        ({"kernel": "poly", "gamma": 1e-9, "degree": 3, "coef0": -1e60}, r"of degree=3 has values of about 1e\+180"),
        ({"kernel": lambda X, Z: 1e200 * X @ Z.T}, r"kernel=<lambda> has values of about 1e\+201 .* multiply"),
        (
            {"kernel": lambda X, Z: 1e200 * np.abs(X[:, :1] - Z[:, :1].T)},
            r"<lambda> has values of about 1e\+201 .* mul",
        ),
    ],
)
def test_values_that_cannot_be_computed_with(arguments, message):
    with pytest.raises(DataError, match=message):
        make(**{"X": X, **arguments}).bind(arguments.get("X", X))


@pytest.mark.parametrize("arguments", [{"kernel": "linear"}, {"kernel": "poly", "gamma": 1.0}])
def test_a_kernel_that_is_zero_is_no_vanishing_one(arguments):
    assert make(X=np.zeros((50, 3)), **arguments).name == arguments["kernel"]
    assert make(X=X * 1e70, kernel="rbf").name == "rbf"  # bounded, however far the rows are apart


def test_everything_named_can_be_imported():
    assert sorted(kernels.__all__) == sorted(set(kernels.__all__))
    assert all(hasattr(kernels, name) for name in kernels.__all__)


def test_every_name_makes_a_kernel_of_its_class_from_its_defaults():
    for name, kind in KERNELS.items():
        assert type(make_kernel(name, {})) is kind
        assert make_kernel(name, {}).name == name


def test_what_is_declared_is_what_svm_has_as_its_defaults():
    arguments = inspect.signature(svm).parameters
    for kind in KERNELS.values():
        for name in declared(kind).keys() & set(ARGUMENTS):
            assert declared(kind)[name].default == arguments[name].default


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(0.5, 1.0, 2), Linear(), Laplace(2.0), Precomputed()])
def test_the_arguments_of_a_kernel_make_it(kernel):
    found = arguments_of(kernel)
    assert isinstance(found["kernel"], str)
    assert make_kernel(found.pop("kernel"), found) == kernel


@pytest.mark.parametrize("kernel", [Linear() + RBF(1.0), 2 * Linear(), RBF(1.0).on("x"), CustomKernel(np.outer)])
def test_a_kernel_that_no_arguments_make_is_its_own(kernel):
    assert arguments_of(kernel) == {"kernel": kernel}


@pytest.fixture
def cosine():
    """A kernel of somebody else's: one class, with a parameter that svm() does not have."""

    @named("cosine")
    @dataclass(frozen=True, slots=True)
    class Cosine(PointKernel):
        """K(x, z) = Π_k cos(period · (x_k − z_k))… for one column."""

        period: float = parameter(1.0, positive, grid=lambda period: (period, 2 * period))

        def fill(self, points, columns, out):
            np.cos(self.period * (points[:, :1] - columns[:1]), out=out)

    yield Cosine
    del KERNELS["cosine"]


def test_a_class_of_one_s_own_is_known_everywhere(cosine):
    data = pd.DataFrame({"x": X[:, 0], "y": X[:, 0] > 0.2})
    fit = svm("y ~ x", data, kernel="cosine")
    assert (fit.kernel_name, fit.kernel_parameters) == ("cosine", {"period": 1.0})
    assert "cosine" in str(fit.summary()) and "period" in str(fit.summary())
    same = svm("y ~ x", data, kernel=cosine(period=1))
    np.testing.assert_array_equal(same.decision_values, fit.decision_values)
    assert arguments_of(fit.kernel) == {"kernel": cosine()}
    with pytest.raises(ArgumentError, match="period=0 is not allowed: it must be a finite number > 0"):
        cosine(period=0)
    with pytest.raises(ArgumentError, match="'laplace', 'cosine', a kernel such as"):
        svm("y ~ x", data, kernel="cosinus")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune("y ~ x", data, kernel="cosine", C=1)
    assert found.table["period"].tolist() == [1.0, 2.0]


def test_a_name_belongs_to_one_class(cosine):
    with pytest.raises(ArgumentError, match=r"'rbf' is the name of the kernel svmstat.kernels.formulas.RBF already"):
        named("rbf")(cosine)
    assert KERNELS["rbf"] is RBF


@pytest.mark.parametrize(
    "kernel",
    [
        lambda X, Z: np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2) / np.ptp(X)),
        lambda X, Z: np.exp(-np.abs(np.arange(len(X))[:, None] - np.arange(len(Z)))),
    ],
    ids=["width of the first rows", "positions"],
)
def test_values_that_depend_on_the_other_rows_are_refused(kernel):
    """The first argument is that of new rows: each would have another prediction in other company."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=40), "z": rng.normal(size=40), "y": np.arange(40) % 2})
    with pytest.raises(ArgumentError, match="gives a pair of rows another value when other rows are absent"):
        svm("y ~ x + z", data, kernel=kernel)
