"""The margin where terms of ‖h‖² cancel: against sums of exact fractions."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from svmstat import svm


def sample(scale, n=70):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    data = pd.DataFrame(X * scale, columns=list("abc"))
    return data.assign(y=X[:, 0] - X[:, 1] ** 2 + rng.normal(size=n) > -1.0)


def exact_square(coefficients, X):
    """‖Σ_i β_i x_i‖²."""
    normal = [sum(Fraction(c) * Fraction(x) for c, x in zip(coefficients, column, strict=True)) for column in X.T]
    return float(sum(each * each for each in normal))


@pytest.mark.parametrize(("scale", "C", "scaled"), [(1e3, 1.0, False), (1e4, 1.0, False), (1.0, 1e8, True)])
def test_the_margin_of_a_linear_fit_is_that_of_its_coefficients(scale, C, scaled):
    data = sample(scale)
    fit = svm("y ~ a + b + c", data, kernel="linear", C=C, scale=scaled)
    assert fit.status == 0
    beta = np.where(data["y"], 1.0, -1.0) * fit.alpha
    assert fit.margin == pytest.approx(2.0 / np.sqrt(exact_square(beta, fit.machine.X)), rel=1e-9)
    rows = sample(scale, 700).drop(columns="y")  # others, by which f = b + x'w tells w
    design = np.column_stack([np.ones(len(rows)), rows])
    w = np.linalg.lstsq(design, np.asarray(fit.decision_function(rows)), rcond=None)[0][1:]
    if not scaled:
        assert fit.margin == pytest.approx(2.0 / np.linalg.norm(w), rel=1e-5)


def test_path_has_the_norm_of_the_margin():
    fit = svm("y ~ a + b + c", sample(1e3), kernel="linear", scale=False)
    assert fit.path([1.0, 2.0]).table["norm"].iloc[0] == pytest.approx(2.0 / fit.margin, rel=1e-9)


@pytest.mark.parametrize("C", [1e5, 1e6, 1e7])
def test_what_the_digits_of_kernel_values_hide_of_a_margin_is_said(C):
    """Of K = (1 + x'z)² by its features, of which the coefficients keep the digits."""
    data = sample(1.0)
    fit = svm("y ~ a + b + c", data, kernel="poly", degree=2, coef0=1.0, gamma=1.0, C=C)
    X = fit.machine.X
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    features = [X[:, i] * X[:, j] * (1.0 if i == j else np.sqrt(2.0)) for i, j in pairs]
    beta = np.where(data["y"], 1.0, -1.0) * fit.alpha
    true = 2.0 / np.sqrt(exact_square(beta, np.column_stack([np.sqrt(2.0) * X, *features])))
    text = " ".join(str(fit.summary()).split())
    found = re.search(r"the last digits of the kernel values may hide (\S+) of the margin", text)
    assert (found is not None) == (C > 1e5)
    assert abs(fit.margin / true - 1.0) <= (float(found[1]) if found else 1e-3)


def test_a_kernel_with_a_negative_square_has_no_margin():
    def negative(X, Z):
        return -(X @ Z.T)

    with pytest.warns(UserWarning, match="clearly negative eigenvalues"):
        fit = svm("y ~ a + b + c", sample(1.0), kernel=negative)
    assert np.isnan(fit.margin)


@pytest.mark.parametrize("weight", [1.4e17, 1e22])
def test_sums_of_weights_beyond_whole_numbers_of_64_bits_are_no_negative_counts(weight):
    data = sample(1.0, 60)
    data["three"] = np.digitize(data["a"], [-0.5, 0.5])
    plain, heavy = (svm("three ~ a + b", data, weights=np.full(60, w), C=1.0 / w) for w in (1.0, weight))
    assert (heavy.n_support >= 0).all(axis=None)
    np.testing.assert_allclose(heavy.n_support / weight, plain.n_support, rtol=1e-12)
    assert heavy.support_share == pytest.approx(plain.support_share, rel=1e-12)
