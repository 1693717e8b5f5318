"""``neyman_pearson(a, delta, holdout="loo")``: an order statistic of values without each row; refusals."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import quiet

from svmstat import tune
from svmstat.errors import ArgumentError, DataError
from svmstat.solver import Status
from svmstat.tuning import neyman_pearson
from svmstat.tuning.guarantee import order_of_threshold

matplotlib.use("Agg")

TOL = 1e-6  # two certified fits of the same problem
BY_LOO = {"criterion": neyman_pearson(0.2, 0.15, holdout="loo"), "gamma": [0.2, 1.0], "folds": 3, "rng": 1}


def sample(n=60, seed=2):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    y = np.where(x + z**2 + rng.normal(size=n) > 1.0, "yes", "no")
    return pd.DataFrame({"x": x, "z": z, "y": y})


DATA = sample()


@pytest.mark.parametrize("nu", [[0.3, 0.6], [1.0]], ids=str)
def test_the_threshold_is_an_order_statistic_of_deletions(nu):
    """With ν₋ = 1 no row could be left out: it becomes 1 − 1/n₋."""
    found = quiet("y ~ x + z", DATA, nu=nu, event="yes", **BY_LOO)
    other = (DATA["y"] == "no").to_numpy()
    loo = found.best.loo()
    assert (loo.decision_values[other]).notna().all() and found.best.status is Status.CERTIFIED
    k = order_of_threshold(other.sum(), 0.2, 0.15)
    assert (found.n_threshold, found.order) == (other.sum(), k)
    assert -found.rule.shift == pytest.approx(np.sort(loo.decision_values[other])[k - 1], abs=TOL)
    assert found.best_params["nu"][1] <= 1 - 1 / other.sum()
    assert found.fold.index.equals(DATA.index)  # none is held out
    f = found.best.decision_function(DATA)
    np.testing.assert_array_equal(found.predict(DATA), np.where(f > -found.rule.shift, "yes", "no"))
    plt.close(found.plot().figure)


@pytest.mark.parametrize("search", ["coordinate", "balanced"])
def test_other_searches(search):
    found = quiet("y ~ x + z", DATA, nu=[0.5, 1.0], search=search, event="yes", **BY_LOO)
    assert found.rule is not None and found.best_params["nu"][1] < 1
    plt.close(found.plot().figure)


def test_it_says_that_it_is_approximate():
    text = " ".join(str(quiet("y ~ x + z", DATA, nu=[0.5], event="yes", **BY_LOO)).split())
    assert "delta = 0.15 (approximate)" in text and "Rows left out in turn: " in text
    assert "No theorem says so" in text and "rows with equal predictors break it" in text


def test_many_rows_with_the_predictors_of_another():
    """Three of some thirty rows of the other level are allowed to have a twin, of either level."""
    tied = DATA.copy()
    others = np.flatnonzero(DATA["y"] == "no")
    tied.loc[others[:2], ["x", "z"]] = DATA.loc[np.flatnonzero(DATA["y"] == "yes")[:2], ["x", "z"]].to_numpy()
    assert quiet("y ~ x + z", tied, nu=[0.5], event="yes", **BY_LOO).order is not None
    tied.loc[others[2:6], ["x", "z"]] = tied.loc[others[6:10], ["x", "z"]].to_numpy()
    with pytest.raises(DataError) as caught:
        tune("y ~ x + z", tied, nu=[0.5], event="yes", **BY_LOO)
    assert "holdout='loo' allows 10 % of the rows of the other level to have the predictors of" in str(caught.value)
    assert f"10 of {len(others)} have" in str(caught.value)


@pytest.mark.parametrize("holdout", ["loo", 0.5])
def test_rows_of_weight_zero_are_as_good_as_absent(holdout):
    used = np.resize([True, True, False, True, True], len(DATA))
    asked = BY_LOO | {"criterion": neyman_pearson(0.3, 0.2, holdout=holdout), "rng": 1}
    with_them = quiet("y ~ x + z", DATA.assign(w=used.astype(float)), nu=[0.5], event="yes", weights="w", **asked)
    without = quiet("y ~ x + z", DATA[used], nu=[0.5], event="yes", **asked)
    assert with_them.rule.shift == pytest.approx(without.rule.shift, abs=1e-9)
    assert with_them.rule.predict(DATA).equals(without.rule.predict(DATA))


REFUSED = [
    ({"weights": "w"}, DataError, "case weights other than 1 are not allowed"),
    ({"criterion": neyman_pearson(0.01, 0.05, holdout="loo")}, DataError, "needs at least 299 rows of the other level"),
    ({"search": "bias"}, ArgumentError, "search='bias' is not allowed: it must be another with delta"),
    ({"nested": True}, ArgumentError, "nested=10 is not allowed: it must be left out with delta"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), REFUSED, ids=[str(case[0])[:40] for case in REFUSED])
def test_what_is_refused(arguments, error, message):
    with pytest.raises(error) as caught:
        tune("y ~ x + z", DATA.assign(w=2.0), event="yes", **(BY_LOO | arguments))
    assert message in str(caught.value)


@pytest.mark.filterwarnings("ignore:the best gamma")
def test_a_row_without_a_value_is_told(monkeypatch):
    monkeypatch.setattr("svmstat.tuning.guarantee.TOLERANCE", -1.0)
    with pytest.raises(DataError, match=r"holdout='loo' needs the leave-one-out values of all rows .* could not be"):
        tune("y ~ x + z", DATA, nu=[0.5], event="yes", **BY_LOO)
