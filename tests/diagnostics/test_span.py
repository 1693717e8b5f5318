"""The span against deletions that are solved: equal where no set changes, and where it has to; near it elsewhere."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from levels import repeated, sample
from scipy.special import expit

from svmstat import datasets, svm, tune
from svmstat.diagnostics.span import machine_span, span_values
from svmstat.kernels import Linear
from svmstat.machine import contrasts, fit_machine
from svmstat.objective.bounds import deletions
from svmstat.solver import Status, solve

TOL = 1e-6  # two certified solutions, times a span
NEAR = 0.06  # of V0, at machines as they are chosen: what changes in the sets comes to

FITS = [
    {"C": 0.5, "gamma": 0.3},
    {"C": 4.0, "gamma": 1.0, "weights": "w"},
    {"C": 2.0, "gamma": 0.5, "loss": "p0"},
    {"C": 1.0, "kernel": "linear", "class_weight": {"b": 3.0}},
    {"C": 20.0, "gamma": 3.0, "weights": "w"},
]


def deleted(pair, weights, k):
    """The solution without a copy of row k."""
    upper = deletions(pair.problem.upper, weights, np.array([k]), np.minimum(weights[[k]], 1.0))[0]
    return solve(replace(pair.problem, upper=upper))


def same_sets(one, other, k):
    kept = np.arange(len(one.alpha)) != k
    left = one.alpha[k] <= other.upper[k] or other.bounded[k] or other.upper[k] == 0
    return left and all((getattr(one, name) == getattr(other, name))[kept].all() for name in ("free", "bounded"))


@pytest.mark.parametrize("options", FITS, ids=str)
def test_equal_to_a_deletion_that_changes_no_set(options, K):
    machine, compared = svm("y ~ x + z", sample(K, 72, seed=2), **options).machine, {"free": 0, "bounded": 0}
    for pair in machine.pairs:
        weights = machine.groups.weights[pair.rows]
        got = span_values(pair.problem, pair.solution, weights)
        for k in np.flatnonzero(pair.solution.alpha):
            other = deleted(pair, weights, k)
            if other.status is Status.CERTIFIED and pair.solution.free.any() and same_sets(pair.solution, other, k):
                assert got[k] == pytest.approx(other.decision[k], abs=TOL * max(1.0, abs(got[k])))
                compared["free" if pair.solution.free[k] else "bounded"] += 1
    assert sum(compared.values()) >= 3


@pytest.mark.parametrize(("C", "gamma"), [(1.0, 0.25), (4.0, 0.25), (2.0, 0.5)])
def test_near_the_leave_one_out_loss(C, gamma):
    fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", datasets.load("mackerel"), C=C, gamma=gamma)
    loss, y = fit.machine.pairs[0].loss, fit.machine.signs[:, 0]
    assert loss.values(machine_span(fit.machine)[:, 0], y).mean() == pytest.approx(fit.loo().mean_loss, rel=NEAR)


def line(x, codes, C, weights=None):
    """The pair of a linear kernel on a line, class 1 being the event, and the weights of its rows."""
    x, codes = np.array(x, float)[:, None], np.array(codes)
    weights = np.ones(len(x)) if weights is None else np.array(weights)
    return fit_machine(Linear(), x, codes, weights, contrasts([(1, 0)], "hinge"), C=C).pairs[0], weights


@pytest.mark.parametrize(("weight", "n_free"), [(2.0, 0), (2.5, 1)])
def test_one_free_vector_or_none(weight, n_free):
    """The intercept goes to the end of its interval, where another vector becomes free."""
    pair, weights = line([-3, -1, 1], [0, 0, 1], 0.01, [1.0, 1.0, weight])
    assert pair.solution.free.sum() == n_free and (pair.solution.alpha > 0).all()
    got = span_values(pair.problem, pair.solution, weights)
    rows = np.arange(2 + n_free)  # with none, a copy of the event takes another row to zero, and no vector is free then
    np.testing.assert_allclose(got[rows], [deleted(pair, weights, k).decision[k] for k in rows], atol=TOL)


def test_rows_that_are_no_support_vectors_and_hold_the_intercept():
    """Where no vector is free the interval may be wider without a row that has α = 0."""
    pair, weights = line([-1.4, -1, 1, 1.4], [0, 0, 1, 1], 0.4)
    assert pair.solution.bounded.tolist() == [False, True, True, False] and not pair.solution.free.any()
    got = span_values(pair.problem, pair.solution, weights)
    np.testing.assert_allclose(got[[0, 3]], [deleted(pair, weights, k).decision[k] for k in (0, 3)], atol=TOL)
    assert got[0] != pytest.approx(pair.solution.decision[0], abs=0.01)


def test_free_vectors_that_depend_on_each_other():
    """The corners of a square: without one of them the others are the same machine."""
    X, codes = np.array([[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 0, 1, 1])
    pair = fit_machine(Linear(), X, codes, np.ones(4), contrasts([(1, 0)], "hinge"), C=9.0).pairs[0]
    spread = replace(pair.solution, alpha=np.full(4, 0.25), basis=None)
    got = span_values(pair.problem, spread, np.ones(4))
    np.testing.assert_allclose(got, pair.problem.signs, atol=TOL)
    exact = [deleted(pair, np.ones(4), k).decision[k] for k in range(4)]
    np.testing.assert_allclose(got, exact, atol=TOL)


def test_a_class_that_is_lost_has_no_value():
    pair, _ = line([-1, 1, 2], [0, 1, 1], 1.0)
    got = span_values(pair.problem, pair.solution, np.ones(3))
    assert np.isnan(got).tolist() == (pair.problem.signs < 0).tolist()
    assert not np.isnan(span_values(pair.problem, pair.solution, np.full(3, 2.0))).any()


def test_a_weight_of_two_is_the_row_twice(K):
    data = sample(K, 72, seed=2)
    weighted = svm("y ~ x + z", data, C=2.0, gamma=0.5, weights="w")
    copied = svm("y ~ x + z", repeated(data), C=2.0, gamma=0.5)
    w = data["w"].to_numpy()
    np.testing.assert_allclose(
        np.repeat(machine_span(weighted.machine), w, axis=0), machine_span(copied.machine), atol=TOL
    )
    np.testing.assert_array_equal(machine_span(weighted.machine)[w == 0], weighted.machine.decision_values[w == 0])


@pytest.mark.parametrize("K", [3], ids=["three"])
def test_pairs_without_a_row_keep_their_values(K):
    machine = svm("y ~ x + z", sample(K, 72, seed=2), C=2.0, gamma=0.5).machine
    got, elsewhere = machine_span(machine), machine.signs == 0
    np.testing.assert_array_equal(got[elsewhere], machine.decision_values[elsewhere])
    assert (got[~elsewhere] != machine.decision_values[~elsewhere]).any()


@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("seed", [4, 13, 27, 34])
def test_no_value_depends_on_which_of_many_solutions_was_found(kernel, seed):
    """Of rows on a grid, or where h = 0, many α have the same f: one alone finds another than a path of costs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(20, 60)), 2))
    data = pd.DataFrame(X.round() if seed % 2 else X, columns=["a", "b"])
    data["y"] = rng.random(len(X)) < expit(X[:, 0])
    data.loc[:3, "y"] = [True, False, True, False]
    costs, search = [0.01, 0.1, 1.0, 10.0, 100.0], {"kernel": kernel, "criterion": "span", "score": "loss"}
    along = tune("y ~ a + b", data, C=costs, **search).table["score"]
    for C, score in zip(costs, along, strict=True):
        alone = tune("y ~ a + b", data, C=[C], **search).table["score"].iloc[0]
        assert score == pytest.approx(alone, rel=1e-6)
