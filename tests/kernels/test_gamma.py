"""The rules for γ against plain computations, with weights as repeats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from svmstat.errors import ArgumentError, DataError
from svmstat.kernels import resolve_gamma
from svmstat.kernels.gamma import typical_distance

TOL = 1e-12  # sums in another order

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 4)) * [1, 2, 3, 4] + 5


def median(X):
    """1/(2m²) with the median over all pairs, from the squared distances summed column by column."""
    i, j = np.tril_indices(len(X), -1)
    squares = np.zeros(i.size)
    for column in X.T:
        squares += (column[i] - column[j]) ** 2
    return 0.5 / np.median(np.sqrt(squares)) ** 2


def test_scale_is_that_of_scikit_learn():
    y = np.arange(len(X)) % 2
    assert resolve_gamma("scale", X) == pytest.approx(SVC(gamma="scale").fit(X, y)._gamma, rel=TOL)
    assert resolve_gamma("scale", X) == pytest.approx(1 / (4 * X.var()), rel=TOL)


@pytest.mark.parametrize("n", [2, 3, 4, 59, 60])
def test_median_is_exact(n):
    assert resolve_gamma("median", X[:n]) == pytest.approx(median(X[:n]), rel=4e-16)
    assert resolve_gamma("median", X[:n]) == pytest.approx(0.5 / np.median(pdist(X[:n])) ** 2, rel=TOL)


def test_median_over_several_strips_of_rows():
    many = np.random.default_rng(1).normal(size=(700, 3))
    assert resolve_gamma("median", many) == pytest.approx(median(many), rel=4e-16)


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize("seed", range(5))
def test_weights_are_repeats_and_zero_is_absent(rule, seed):
    weights = np.random.default_rng(seed).integers(0, 4, size=len(X))
    repeated = resolve_gamma(rule, np.repeat(X, weights, axis=0))
    assert resolve_gamma(rule, X, weights) == pytest.approx(repeated, rel=TOL if rule == "scale" else 4e-16)


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_fractional_weights_by_their_ratio(rule):
    """Without copies of a row (weights up to 1) only the ratios of the weights count."""
    weights = rng.uniform(0.1, 1.0, size=len(X))
    assert resolve_gamma(rule, X, weights / 2) == pytest.approx(resolve_gamma(rule, X, weights), rel=TOL)
    equal = np.full(len(X), 0.3)
    assert resolve_gamma(rule, X, equal) == pytest.approx(resolve_gamma(rule, X), rel=TOL)


@pytest.mark.parametrize("value", [0.25, 3, np.float32(0.5), np.int64(2)])
def test_a_number_is_itself(value):
    assert resolve_gamma(value, np.empty((0, 0))) == value
    assert type(resolve_gamma(value, X)) is float


@pytest.mark.parametrize("value", ["auto", "Scale", "0.5", 0, 0.0, -1, np.inf, np.nan, 10**400, True, None, [1.0], 1j])
def test_what_is_not_allowed(value):
    with pytest.raises(ArgumentError, match=r"gamma=.* is not allowed: it must be 'scale', 'median' or a"):
        resolve_gamma(value, X)


@pytest.mark.parametrize(
    ("rule", "data", "error", "message"),
    [
        ("scale", np.full((3, 2), 4.0), ArgumentError, "gamma='scale' needs entries that differ.* 4.0"),
        ("median", np.eye(5)[:, :1], ArgumentError, "gamma='median' needs rows that"),
        ("scale", np.empty((4, 0)), DataError, "the design has 4 rows of weight > 0 and 0 columns"),
        ("median", np.empty((0, 2)), DataError, "0 rows"),
        ("scale", np.array([[1e-200], [-1e-200]]), ArgumentError, "gamma='scale' gives inf"),
        ("scale", np.array([[1e200], [-1e200]]), ArgumentError, "gamma='scale' gives 0.0"),
    ],
)
def test_data_for_which_a_rule_has_no_answer(rule, data, error, message):
    with pytest.raises(error, match=message):
        resolve_gamma(rule, data)


def sample_of_distances(power):
    """All |x_ik − x_jk|^power, summed, of the pairs."""
    i, j = np.tril_indices(len(X), -1)
    return (np.abs(X[i] - X[j]) ** power).sum(axis=1)


@pytest.mark.parametrize("power", [1, 2])
def test_rounding_is_no_distance(power):
    """sin(pi k) is 1e-16 and not 0: most rows are at one point."""
    quarter = np.array([1.0, 2.0, 2.0, 4.0, 4.0, 4.0, 6.0, 8.0, 3.0])
    wave = np.sin(2.0 * np.pi * quarter / 4.0)[:, None]
    with pytest.raises(ArgumentError, match="the median distance between two rows is 0"):
        resolve_gamma("median", wave, power=power)
    w = np.ones(9)
    assert typical_distance(wave, w) == pytest.approx(typical_distance(np.round(wave, 9), w), rel=1e-9)


def test_the_rules_for_absolute_distances():
    assert resolve_gamma("scale", X, power=1) == pytest.approx(1 / (4 * X.std()), rel=TOL)
    assert resolve_gamma("median", X, power=1) == pytest.approx(1 / np.median(sample_of_distances(1)), rel=TOL)
    assert resolve_gamma("median", X) == pytest.approx(0.5 / np.median(sample_of_distances(2)), rel=1e-4)
    assert resolve_gamma(0.3, X, power=1) == 0.3


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_absolute_distances_with_weights_and_in_other_units(rule):
    weights = np.random.default_rng(1).integers(0, 4, size=len(X))
    found = resolve_gamma(rule, X, weights, power=1)
    assert found == pytest.approx(resolve_gamma(rule, np.repeat(X, weights, axis=0), power=1), rel=TOL)
    assert found == pytest.approx(7 * resolve_gamma(rule, 7 * X, weights, power=1), rel=TOL)


def test_one_row_has_no_pairs():
    with pytest.raises(ArgumentError, match="gamma='median'"):
        resolve_gamma("median", X[:1])


matrices = arrays(float, (9, 2), elements=st.integers(-20, 20).map(float)).filter(
    lambda Y: len(np.unique(Y, axis=0)) == 9
)


@given(matrices, st.permutations(range(9)), st.sampled_from(["scale", "median"]))
def test_the_order_of_the_rows_does_not_matter(Y, order, rule):
    assert resolve_gamma(rule, Y[order]) == pytest.approx(resolve_gamma(rule, Y), rel=TOL)


@given(matrices, st.sampled_from(["scale", "median"]), st.sampled_from([0.5, 4.0]))
def test_gamma_has_the_unit_of_an_inverse_square(Y, rule, factor):
    assert resolve_gamma(rule, factor * Y) == pytest.approx(resolve_gamma(rule, Y) / factor**2, rel=TOL)


@pytest.mark.parametrize(
    ("X", "more", "message"),
    [
        (np.arange(5.0), {}, r"X has the shape \(5,\): it must be \(n, p\)"),
        (np.eye(5), {"power": 3}, "power=3 is not allowed: it must be 1 or 2"),
        (
            np.eye(5),
            {"weights": np.ones(3)},
            r"weights have the shape \(3,\): there must be one for each",
        ),
    ],
)
@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_what_the_rules_cannot_be_applied_to(gamma, X, more, message):
    with pytest.raises(ArgumentError, match=message):
        resolve_gamma(gamma, X, **more)
