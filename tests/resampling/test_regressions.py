"""Regressions without some of their rows: identities; against statsmodels in tests/comparison."""

from dataclasses import replace

import numpy as np
import pytest

from svmstat.resampling.regressions import Logits, Regression, left_out, refit, refits_per_task, well_posed

TOL = 1e-9  # two roads to one maximum, each to 1e-10 of the linear predictors


@pytest.fixture(params=[2, 3, 5])
def model(request):
    """A regression of K classes with an offset, a penalty and weights, at its maximum."""
    K, n = request.param, 60
    rng = np.random.default_rng(K)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    codes = rng.integers(0, K, n)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    weights[: 3 * K] = 1.0
    codes[: 3 * K] = np.tile(np.arange(K), 3)
    start = Regression(
        X, codes, weights, 0.3 * rng.normal(size=n), np.diag([0.0, 0.1, 0.2]), Logits(), np.zeros((3, K - 1))
    )
    found = refit(start, weights[None])
    assert found.converged.all()
    return replace(start, params=found.params[0])


def test_the_maximum_has_no_gradient(model):
    _, gradient, _ = model.link.judge(model.eta(model.params[None]), model.codes)
    score = model.X.T @ (model.weights[:, None] * gradient[0]) - model.penalty @ model.params
    np.testing.assert_allclose(score, 0.0, atol=1e-9)


def test_weights_are_repeats_and_zero_is_a_deletion(model):
    whole = np.round(2 * model.weights).astype(int)
    rows = np.repeat(np.arange(len(whole)), whole)
    repeated = replace(
        model, X=model.X[rows], codes=model.codes[rows], offset=model.offset[rows], weights=np.ones(len(rows))
    )
    one, other = refit(model, whole[None].astype(float)), refit(repeated, repeated.weights[None])
    np.testing.assert_allclose(one.params, other.params, atol=TOL)


def test_many_refits_are_each_of_them(model):
    weights = np.tile(model.weights, (7, 1))
    weights[np.arange(7), np.arange(7)] = 0.0
    together = refit(model, weights)
    alone = np.concatenate([refit(model, each[None]).params for each in weights])
    np.testing.assert_allclose(together.params, alone, atol=TOL)
    assert together.converged.all()


def test_left_out_rows_are_predicted_by_the_others(model):
    lots = [np.array([20]), np.array([30, 5, 41])]
    found, converged = left_out(model, lots, [np.minimum(model.weights[lot], 1.0) for lot in lots])
    assert converged.all()
    for lot, p in zip(lots, found, strict=True):
        weights = model.weights.copy()
        weights[lot] -= np.minimum(weights[lot], 1.0)
        expected = model.link.probabilities(model.eta(refit(model, weights[None]).params)[0, lot])
        np.testing.assert_allclose(p, expected, atol=TOL)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-14)


def test_a_design_that_a_backend_has_put_at_an_odd_address_has_the_same_digits(model):
    memory = np.empty(model.X.nbytes + 1, np.uint8)[1:]
    moved = memory.view(np.float64).reshape(model.X.shape)
    moved[...] = model.X
    assert not moved.flags.aligned
    lots = [np.array([k]) for k in range(60)]
    copies = [np.minimum(model.weights[lot], 1.0) for lot in lots]
    for p, expected in zip(*(left_out(replace(model, X=X), lots, copies)[0] for X in (moved, model.X)), strict=True):
        np.testing.assert_array_equal(p, expected)


def test_of_a_lost_class_nothing_is_known(model):
    lost = np.flatnonzero(model.codes == 1)
    (of_lost, of_other), converged = left_out(model, [lost, np.array([0])], [model.weights[lost], np.ones(1)])
    assert np.isnan(of_lost).all() and not np.isnan(of_other).any()
    np.testing.assert_array_equal(converged, [False, True])


def test_any_coordinates_of_the_design_will_do(model):
    """Columns of other sizes, and without a penalty even dependent ones, change no prediction."""
    lots = [np.array([k]) for k in range(10)]
    copies = [np.minimum(model.weights[lot], 1.0) for lot in lots]
    expected, _ = left_out(model, lots, copies)
    found, _ = left_out(well_posed(model), lots, copies)
    np.testing.assert_allclose(found, expected, atol=TOL)

    free = replace(model, penalty=np.zeros((3, 3)))
    expected, _ = left_out(free, lots, copies)
    X = np.column_stack([free.X * [1.0, 1e9, 1e-9], free.X[:, 1] - 2.0 * free.X[:, 2]])
    start = np.zeros((4, model.params.shape[1]))
    posed = well_posed(replace(free, X=X, penalty=np.zeros((4, 4)), params=start))
    assert posed.X.shape[1] == 3
    np.testing.assert_allclose(left_out(posed, lots, copies)[0], expected, atol=TOL)


def test_separated_classes_do_not_converge():
    x = np.linspace(-1, 1, 20)
    X, codes = np.column_stack([np.ones(20), x]), (x > 0).astype(int)
    codes[12] = 0  # the only row that is on the wrong side
    model = Regression(X, codes, np.ones(20), np.zeros(20), np.zeros((2, 2)), Logits(), np.zeros((2, 1)))
    found, converged = left_out(model, [np.array([12]), np.array([3])], [np.ones(1)] * 2)
    np.testing.assert_array_equal(converged, [False, True])
    assert found[0][0, 0] < 1e-6 and np.isfinite(found[1]).all()


def test_tasks_shrink_with_the_model(model):
    wide = replace(model, X=np.tile(model.X, (50, 20)), params=np.tile(model.params, (20, 1)))
    assert refits_per_task(model) > refits_per_task(wide) >= 1
