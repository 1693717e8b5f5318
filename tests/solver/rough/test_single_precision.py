"""Steps in single precision: what they keep, where they end, and what they ask for."""

import numpy as np
import pytest
from hypothesis import given
from problems import seeds

from svmstat.solver.rough.single_precision import DONE, FAILED, FAR, WANTING, walk

TOL_H = 1e-4  # h after some hundred steps in single precision, relative to Σ|β|


def start(K, y, upper):
    """All that `walk` needs, from zero: every row in a slot."""
    n = len(y)
    lo, hi, beta = np.minimum(y * upper, 0.0), np.maximum(y * upper, 0.0), np.zeros(n)
    return {
        "values": K.astype(np.float32),
        "slot_of": np.arange(n),
        "used": np.zeros(n, np.int64),
        "diagonal": K.diagonal().astype(np.float32),
        "lo": lo,
        "hi": hi,
        "beta": beta,
        "h": y.astype(np.float32),
        "ceiling": np.where(beta < hi, np.float32(0.0), -FAR),
        "floor": np.where(beta > lo, np.float32(0.0), FAR),
        "state": np.array([-1, -1, 0, 0]),
    }


def clouds(n, seed):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.5 * y[:, None]
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)), y


@given(seed=seeds)
def test_every_end_is_feasible_and_h_belongs_to_beta(seed):
    K, y = clouds(int(seed % 90) + 2, seed)
    given_ = start(K, y, 10.0)
    code, top, bottom = walk(*given_.values(), 1e-3, 100_000)
    beta, h = given_["beta"], given_["h"]
    assert code == DONE and top - bottom <= 1e-3
    assert (beta >= given_["lo"]).all() and (beta <= given_["hi"]).all()
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    np.testing.assert_allclose(h, y - K @ beta, rtol=0, atol=TOL_H * max(1.0, np.abs(beta).sum()))
    assert top == pytest.approx(h[beta < given_["hi"]].max())
    assert bottom == pytest.approx(h[beta > given_["lo"]].min())


def test_more_rows_than_one_block():
    K, y = clouds(1300, 4)
    given_ = start(K, y, 1.0)
    code, _, _ = walk(*given_.values(), 1e-3, 100_000)
    h = y - K @ given_["beta"]
    assert code == DONE
    assert h[given_["beta"] < given_["hi"]].max() - h[given_["beta"] > given_["lo"]].min() <= 1.1e-3


def test_a_missing_row_is_asked_for_and_nothing_else_changes():
    """With one row at a time in the slots, the steps are those with all of them."""
    K, y = clouds(40, 1)
    whole, poor = start(K, y, 1.0), start(K, y, 1.0)
    poor["slot_of"][:] = -1
    walk(*whole.values(), 1e-3, 1000)
    asked = 0
    while walk(*poor.values(), 1e-3, 1000)[0] == WANTING:
        i, j = poor["state"][:2]
        wanted = j if j >= 0 else i
        assert poor["slot_of"][wanted] < 0
        if j < 0:
            poor["slot_of"][:] = -1
        poor["slot_of"][wanted] = wanted
        asked += 1
    np.testing.assert_array_equal(poor["beta"], whole["beta"])
    np.testing.assert_array_equal(poor["h"], whole["h"])
    assert poor["state"][2] == whole["state"][2]
    assert asked > 40


def test_it_stops_after_the_steps_allowed_and_goes_on():
    K, y = clouds(60, 2)
    straight, halting = start(K, y, 5.0), start(K, y, 5.0)
    walk(*straight.values(), 1e-4, 10_000)
    for limit in range(7, 10_000, 7):
        code, top, bottom = walk(*halting.values(), 1e-4, limit)
        assert code == DONE and halting["state"][2] <= limit
        if top - bottom <= 1e-4:
            break
    np.testing.assert_array_equal(halting["beta"], straight["beta"])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@given(seed=seeds)
def test_no_index_leaves_the_rows_where_numbers_are_not_finite(value, seed):
    rng = np.random.default_rng(seed)
    K, y = clouds(int(rng.integers(3, 40)), seed)
    for i, j in rng.integers(0, len(y), size=(int(rng.integers(1, 4)), 2)):
        K[i, j] = K[j, i] = value
    given_ = start(K, y, 2.0)
    given_["h"][rng.integers(0, len(y))] = rng.choice([value, 1.0])
    code, _, _ = walk(*given_.values(), 1e-6, 500)
    assert code in (DONE, FAILED)
    assert ((given_["beta"] >= given_["lo"]) & (given_["beta"] <= given_["hi"])).all()
