"""Values that only rounding tells apart: equal in the fit, left out, and by folds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from svmstat import svm
from svmstat.machine import tied, tied_to
from svmstat.objective.predictive import auc

VALUES = arrays(float, st.integers(0, 30), elements=st.integers(-40, 40).map(lambda k: k / 8.0))


def factors():
    """Two factors only: six sorts of rows, which have both labels."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame({name: rng.integers(0, levels, 150).astype(str) for name, levels in (("a", 3), ("b", 2))})
    eta = -0.6 + 0.8 * (data["a"] == "1") - 0.5 * (data["b"] == "1")
    return data.assign(y=rng.random(150) < 1.0 / (1.0 + np.exp(-eta)))


@given(VALUES, st.floats(0.0, 1.0))
def test_what_is_tied(f, resolution):
    found = tied(f[:, None], np.array([resolution]))[:, 0]
    assert (np.abs(found - f) <= resolution).all()
    assert (found * f >= 0.0).all()
    order = np.argsort(f, kind="stable")
    assert (np.diff(found[order]) >= 0.0).all()
    assert ((found[:, None] == found)[f[:, None] == f]).all()
    firsts = np.array([f[found == value].min() for value in np.unique(found)])
    assert (np.diff(firsts) > resolution).all()


@given(VALUES)
def test_without_rounding_nothing_is(f):
    np.testing.assert_array_equal(tied(f[:, None], np.zeros(1))[:, 0], f)


def test_what_is_not_a_number_is_left():
    f = np.array([[np.nan], [1.0], [1.0 + 1e-15], [np.nan], [2.0]])
    found = tied(f, np.full((5, 1), 1e-14))[:, 0]
    np.testing.assert_array_equal(found, [np.nan, 1.0, 1.0, np.nan, 2.0])


def test_each_value_has_its_own():
    f, each = np.array([[1.0], [1.1], [2.0], [2.1]]), np.array([[0.0], [0.2], [0.0], [0.1]])
    assert tied(f, each)[:, 0].tolist() == [1.0, 1.0, 2.0, 2.1]


@pytest.mark.parametrize("C", [0.1, 30.0])
def test_what_is_held_out_is_tied_to_the_fit(C):
    """A row whose deletion changes nothing keeps its value to the last bit, and so do those that are equal to it."""
    fit = svm("y ~ a + b", factors(), kernel="linear", C=C)
    f, held_out = np.asarray(fit.decision_values, float), np.asarray(fit.loo().decision_values, float)
    equal = f.round(8)[:, None] == held_out.round(8)
    assert equal.any()
    np.testing.assert_array_equal(f[:, None] == held_out, equal)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_no_number_depends_on_the_order_of_what_is_equal(kernel, C):
    """The area under the curve, in-sample and held out, is that of values rounded to far fewer digits."""
    data = factors()
    fit = svm("y ~ a + b", data, kernel=kernel, C=C)
    event, held_out = data["y"].to_numpy(), fit.loo()
    for values, area in ((fit.decision_values, fit.apparent.auc), (held_out.decision_values, held_out.auc)):
        f = np.asarray(values, float)
        assert len(np.unique(f)) == len(np.unique(f.round(8))) < 40
        assert area == auc(f.round(8), event, np.ones(len(f))).value


def test_rows_that_all_lie_on_their_margins():
    """Of two binary columns: f is 1 or −1, which rounding had told apart, and so it is without any of the rows."""
    x = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (12, 1))
    y = np.r_[np.tile([0, 0, 1, 1], 11), 1, 0, 0, 1]
    fit = svm("y ~ u + v", pd.DataFrame(x, columns=["u", "v"]).assign(y=y), kernel="linear", C=40.0)
    assert np.unique(np.asarray(fit.decision_values)).size == 2
    assert np.unique(np.asarray(fit.loo().decision_values)).size <= 4


def test_by_folds():
    """Values of different fits are equal too."""
    f = np.asarray(svm("y ~ a + b", factors(), kernel="linear", C=1.0).kfold(5).decision_values, float)
    assert len(np.unique(f)) == len(np.unique(f.round(8))) < 40


@given(VALUES, VALUES, st.floats(0.0, 1.0))
def test_to_what_is_known(f, known, resolution):
    found = tied_to(f[:, None], known[:, None], np.array([resolution]))[:, 0]
    distance = np.abs(f[:, None] - known).min(axis=1, initial=np.inf)
    np.testing.assert_array_equal(np.isin(found, known), distance <= resolution)
    np.testing.assert_array_equal(np.abs(found - f), np.where(distance <= resolution, distance, 0.0))


def test_label_sets_of_new_rows_see_ties():
    """A row like those of the fit, a little off: its set is theirs; scores that tie count as strange as the row."""
    data = factors()
    fit = svm("y ~ a + b", data, kernel="linear", C=30.0)
    apart = data[["a", "b"]].drop_duplicates()
    together = pd.concat([apart] * 3, ignore_index=True)
    sets = fit.label_sets(together).pvalues.to_numpy().reshape(3, len(apart), 2)
    np.testing.assert_array_equal(sets[0], sets[1])
    f, held_out = np.asarray(fit.decision_function(apart), float), np.asarray(fit.loo().decision_values, float)
    event = data["y"].to_numpy()
    same = held_out[event].round(8)[:, None] <= f.round(8)
    np.testing.assert_allclose(sets[0][:, 1], (1.0 + same.sum(axis=0)) / (event.sum() + 1.0))


def rounded(seed):
    """Few distinct rows, of which most lie on their margins; columns that tell nearly the same."""
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(20, 60)), int(rng.choice([2, 2, 3]))
    codes = rng.integers(0, K, n)
    codes[: 2 * K] = np.tile(np.arange(K), 2)
    x, z = np.round(rng.normal(size=n) + codes * rng.choice([0.3, 1])), np.round(rng.normal(size=n))
    if rng.random() < 0.3:
        x = x + rng.normal(size=n) * 1e-3
    return pd.DataFrame({"x": x, "z": z, "y": codes.astype(str)})


@pytest.mark.parametrize(("seed", "C"), [(439, 0.3), (611, 0.3), (1115, 3.0), (1203, 3.0)])
def test_ranks_do_not_hang_on_the_order_of_terms(seed, C):
    """Where free rows nearly depend on each other f is off by several times its violation."""
    areas = [
        np.ravel(svm(f"y ~ {terms}", rounded(seed), kernel="linear", C=C).loo().auc) for terms in ("x + z", "z + x")
    ]
    np.testing.assert_allclose(*areas, atol=1e-9)
