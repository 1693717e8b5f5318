"""Landmarks: what the approximation is at them and with all rows, its map, what it captures, and whole fits with it."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from levels import quiet, sample

from svmstat import svm
from svmstat.errors import ArgumentError, DataError
from svmstat.kernels import (
    RBF,
    Centred,
    CustomKernel,
    Laplace,
    Linear,
    Normed,
    Nystrom,
    Precomputed,
    on_fewer_columns,
)
from svmstat.solver import LowRank

# The map has digits for eigenvalues down to 1e-10 of the largest.
TOL = 1e-5
X = np.random.default_rng(0).normal(size=(60, 3))
FORMULA = "y ~ x + np.log(z + 60) + site"


def drawn(m=20, kernel=RBF(gamma=0.5), **options):  # noqa: B008  kernels are values
    return Nystrom(kernel, landmarks=m, **options).resolve(X)


@pytest.mark.parametrize("inner", [RBF(gamma=0.5), Laplace(gamma=0.5)])
def test_at_a_landmark_it_is_the_kernel(inner):
    kernel = drawn(kernel=inner)
    np.testing.assert_allclose(kernel(X, kernel.at.rows), inner(X, kernel.at.rows), atol=TOL)
    assert (kernel(X, X).diagonal() < inner.diagonal(X) + TOL).all()


def test_the_values_are_those_of_the_map():
    kernel = drawn()
    phi = kernel.features(X)
    np.testing.assert_allclose(kernel(X, X[:7]), phi @ phi[:7].T, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(kernel.bind(X).gram(), kernel(X, X))
    by_definition = RBF(gamma=0.5)(X, kernel.at.rows)
    inside = RBF(gamma=0.5)(kernel.at.rows, kernel.at.rows)
    np.testing.assert_allclose(phi @ phi.T, by_definition @ np.linalg.pinv(inside) @ by_definition.T, atol=TOL)


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_rows():
    assert drawn() == drawn() == Nystrom(RBF(gamma=0.5), landmarks=20).resolve(X[::-1])
    assert drawn(seed=1) != drawn() and hash(drawn()) == hash(drawn())
    copies = Nystrom(RBF(gamma=0.5), landmarks=20).resolve(np.repeat(X, 2, axis=0))
    assert copies == drawn() and pickle.loads(pickle.dumps(copies)) == copies
    weights = np.resize([1.0, 0.0], 60)
    assert Nystrom(RBF(gamma=0.5), landmarks=20).resolve(X, weights) == Nystrom(RBF(gamma=0.5), 20).resolve(X[::2])


def test_what_is_written_makes_it():
    kernel = Nystrom(RBF(gamma=0.5), landmarks=20, seed=3)
    assert eval(repr(kernel)) == kernel and str(kernel) == repr(kernel)
    assert kernel.unresolved == ("landmarks",) and Nystrom(RBF()).unresolved == ("landmarks", "gamma")


def test_it_can_be_added_scaled_and_put_on_columns():
    one = (2.0 * Nystrom(RBF(gamma=0.5), landmarks=20) + Linear()).resolve(X)
    np.testing.assert_allclose(one(X, X), 2.0 * drawn()(X, X) + X @ X.T, atol=1e-12)
    some = Nystrom(RBF(gamma=0.5), landmarks=20).on(0, 2).resolve(X)
    alone = Nystrom(RBF(gamma=0.5), landmarks=20).resolve(X[:, [0, 2]])
    np.testing.assert_array_equal(some(X, X), alone(X[:, [0, 2]], X[:, [0, 2]]))
    fewer = on_fewer_columns(drawn(), [0, 2])
    np.testing.assert_allclose(
        fewer(X[:, [0, 2]], fewer.at.rows), RBF(gamma=0.5)(X[:, [0, 2]], fewer.at.rows), atol=TOL
    )


def test_negative_eigenvalues_have_no_map():
    kernel = Nystrom(CustomKernel(lambda X, Z: -np.abs(X[:, :1] - Z[:, :1].T)), landmarks=20)
    with pytest.raises(
        ArgumentError, match=r"Nystrom\(<lambda>\) is not allowed: <lambda> has clearly negative eigenva"
    ):
        kernel.resolve(X)


def test_of_zero_nothing_is_captured():
    data = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(y=np.arange(len(X)) % 2)
    found = svm("y ~ a + b", data, kernel=Nystrom(CustomKernel(lambda X, Z: np.zeros((len(X), len(Z)))), 20))
    assert np.isnan(found.captured_trace)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Nystrom(RBF(), landmarks=1), "landmarks=1 is not allowed"),
        (lambda: Nystrom(RBF(), landmarks=2.5), "landmarks=2.5 is not allowed"),
        (lambda: Nystrom(RBF(), seed=-1), "seed=-1 is not allowed"),
        (lambda: Nystrom("rbf"), "kernel='rbf' is not allowed"),
        (lambda: Nystrom(Precomputed()), "cannot be a part"),
        (lambda: Nystrom(RBF() + Linear()), re.escape("landmarks are of a kernel that has no parts")),
    ],
)
def test_what_has_no_landmarks_is_refused(make, message):
    with pytest.raises((ArgumentError, DataError), match=message):
        make()


# Fits


def test_with_all_rows_as_landmarks_it_is_the_fit(K):
    data = sample(K, 72, seed=4)
    whole = svm(FORMULA, data, C=2.0, gamma=0.4, weights="w")
    found = svm(FORMULA, data, C=2.0, kernel=Nystrom(RBF(gamma=0.4), landmarks=500), weights="w")
    np.testing.assert_allclose(found.decision_values, whole.decision_values, atol=TOL)
    np.testing.assert_allclose(found.loo().probability, whole.loo().probability, atol=1e-3)
    assert found.captured_trace == pytest.approx(1.0, abs=TOL) and whole.captured_trace == 1.0


def test_the_summary_says_what_it_is_and_how_well(K):
    fit = svm(FORMULA, sample(K, 72, seed=4), C=2.0, kernel=Nystrom(RBF(gamma=0.4), landmarks=12))
    text = " ".join(str(fit.summary()).split())
    phi = fit.kernel.features(fit.machine.X)
    assert fit.captured_trace == pytest.approx((phi**2).sum() / 72, rel=1e-9)
    assert "captured trace:" in text and "approximated by its values at landmarks" in text and fit.is_approximate
    assert fit.converged and fit.kkt_violation <= 1e-8
    other = svm(FORMULA, sample(K, 72, seed=4), C=2.0, gamma=0.4)
    assert "landmarks" not in str(other.summary()) and not other.is_approximate


@pytest.mark.parametrize("landmarks", [12, 500])
def test_what_is_captured_is_that_of_a_kernel_with_a_factor_or_on_some_columns(landmarks):
    data, of = sample(2, 72, seed=4), Nystrom(RBF(gamma=0.4), landmarks=landmarks)
    on_all, on_some = svm("y ~ x", data, kernel=of), svm(FORMULA, data, kernel=of.on("x"))
    for fit, share in ((svm(FORMULA, data, kernel=2.0 * of), svm(FORMULA, data, kernel=of).captured_trace),
                       (on_some, on_all.captured_trace)):  # fmt: skip
        assert fit.captured_trace == pytest.approx(share, rel=1e-9)
        text = " ".join(str(fit.summary()).split())
        assert f"captured trace: {share:.4f}" in text and "the captured part of its trace says how well" in text


@pytest.mark.parametrize("combined", [lambda k: k + Linear(), Centred, Normed])
def test_without_a_captured_part_none_is_spoken_of(combined):
    fit = svm(FORMULA, sample(2, 72, seed=4), kernel=combined(Nystrom(RBF(gamma=0.4), landmarks=12)))
    text = " ".join(str(fit.summary()).split())
    assert np.isnan(fit.captured_trace) and "captured" not in text and "landmarks" in text


def test_a_part_of_a_sum_is_told_of():
    kernel = Nystrom(RBF(gamma=0.4), landmarks=12) + Linear()
    fit = svm(FORMULA, sample(2, 72, seed=4), C=2.0, kernel=kernel)
    assert fit.is_approximate and np.isnan(fit.captured_trace) and "at landmarks" in str(fit.summary())


def test_everything_else_takes_it_for_a_kernel():
    data = sample(2, 72, seed=4)
    fit = svm(FORMULA, data, C=2.0, kernel=Nystrom(RBF(gamma=0.4), landmarks=12))
    np.testing.assert_allclose(fit.decision_function(data), fit.decision_values, atol=1e-10)
    assert np.isfinite(fit.drop1().table["delta_score"]).all()
    assert fit.gof(B=9, rng=1).n_failed == 0 and fit.bootstrap(B=5, rng=1).n_failed == 0
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.predict_proba(data), fit.predict_proba(data))


def test_gamma_is_searched_as_without_landmarks():
    data = sample(2, 72, seed=4)
    plain = quiet(FORMULA, data, C=[0.5, 4.0])
    all_rows = quiet(FORMULA, data, C=[0.5, 4.0], kernel=Nystrom(RBF(), landmarks=100))
    np.testing.assert_array_equal(all_rows.table[["C", "gamma"]], plain.table[["C", "gamma"]])
    np.testing.assert_allclose(all_rows.table["score"], plain.table["score"], rtol=1e-3)
    some = quiet(FORMULA, data, C=[0.5, 4.0], kernel=Nystrom(RBF(), landmarks=12), gamma=[0.1, 1.0])
    refit = svm(FORMULA, data, **some.best_params)
    np.testing.assert_array_equal(refit.decision_values, some.best.decision_values)
    assert set(some.table["gamma"]) == {0.1, 1.0}


def test_of_many_rows_nothing_n_by_n_is_computed():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(6000, 3)), columns=list("abc"))
    data["y"] = np.sin(2.0 * data["a"]) * data["b"] + 0.5 * rng.normal(size=6000) > 0
    fit = svm("y ~ .", data, kernel=Nystrom(RBF(gamma=0.5), landmarks=60), C=1.0)
    assert isinstance(fit.machine.gram, LowRank) and fit.machine.gram.factor.shape[1] <= 60
    assert fit.converged and fit.kkt_violation <= 1e-8
    np.testing.assert_allclose(fit.decision_function(data), fit.decision_values, atol=1e-9)


def test_landmarks_do_not_depend_on_the_order_of_columns_and_their_signs(clouds):
    X, _ = clouds(60, 2, 4, seed=5)
    found = Nystrom(RBF(0.5), landmarks=20).resolve(X)
    for columns, signs in (([3, 1, 0, 2], [1, 1, 1, 1]), ([0, 1, 2, 3], [-1, 1, -1, 1])):
        other = Nystrom(RBF(0.5), landmarks=20).resolve(X[:, columns] * signs)
        np.testing.assert_allclose(other(X[:, columns] * signs, X[:, columns] * signs), found(X, X), atol=1e-10)
