"""From arguments to kernels, and what is refused."""

import numpy as np
import pytest

from svmstat import kernels
from svmstat.errors import ArgumentError, DataError
from svmstat.kernels import (
    RBF,
    CustomKernel,
    Linear,
    Polynomial,
    Precomputed,
    Spline,
    make_kernel,
    resolve_gamma,
)

X = np.random.default_rng(4).normal(size=(50, 3))


def make(kernel="rbf", *, gamma="scale", degree=3, coef0=0.0, X=X, weights=None):
    return make_kernel(kernel, gamma=gamma, degree=degree, coef0=coef0, X=X, weights=weights)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"kernel": "linear"}, Linear()),
        ({"kernel": "rbf", "gamma": 2}, RBF(2.0)),
        ({"kernel": "rbf"}, RBF(resolve_gamma("scale", X))),
        ({"kernel": "rbf", "gamma": "median"}, RBF(resolve_gamma("median", X))),
        ({"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1}, Polynomial(0.5, 1.0, 2)),
        ({"kernel": "poly"}, Polynomial(resolve_gamma("scale", X), 0.0, 3)),
        ({"kernel": "precomputed"}, Precomputed()),
    ],
)
def test_kernels(arguments, expected):
    assert make(**arguments) == expected


@pytest.mark.parametrize("name", ["rbf", "poly", "spline"])
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
