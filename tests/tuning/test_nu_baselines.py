"""The simpler ways to control errors: equal ν is the diagonal of the grid, and no shift does better than the chosen."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat import svm
from svmstat.errors import ArgumentError, DataError
from svmstat.kernels import RBF
from svmstat.tuning import minimax, neyman_pearson, tune
from svmstat.tuning.nu_baselines import along_lines, error_curve
from svmstat.tuning.nu_search import ErrorRates
from svmstat.tuning.sample import Distinct, Effort

pytestmark = pytest.mark.filterwarnings("ignore:the best gamma")  # grids of two or three widths

TOL_ROUNDING = 1e-12  # shares of the same weights, summed in another order
TOL_DECISION = 1e-6  # decision values of two certified fits

GAMMAS = (0.2, 1.0)
KERNELS = [RBF(gamma) for gamma in GAMMAS]
NU = np.array([0.4, 0.6, 0.8, 1.0])
CRITERIA = [minimax(), neyman_pearson(0.15)]


def sample(n=50, seed=5, weighted=False):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 5 < 2, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.8 * (y > 0)[:, None]
    w = rng.choice([0.5, 1.0, 2.0, 3.0], n) if weighted else np.ones(n)
    return Distinct(X, y, w, np.arange(n) // 5 % 5)


def held_out_values(given, gamma, event, other):
    """Decision values (n,) of each fold by the fit of `svm` without it."""
    data = pd.DataFrame({"a": given.X[:, 0], "b": given.X[:, 1], "y": given.y, "w": given.weights})
    f = np.empty(len(data))
    for k in np.unique(given.fold):
        out = given.fold == k
        fit = svm("y ~ a + b", data[~out], weights="w", nu=(event, other), gamma=gamma, scale=False)
        f[out] = fit.decision_function(data[out])
    return f


def rates_by_hand(f, y, w, shift=0.0):
    """P_F and P_M of the rule f + shift > 0."""
    predicted = f + shift > 0
    return w[predicted & (y < 0)].sum() / w[y < 0].sum(), w[~predicted & (y > 0)].sum() / w[y > 0].sum()


# -- every shift -------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 14), ties=st.booleans())
def test_the_curve_by_hand(seed, n, ties):
    """As many rules as there are cuts between different values, each with the rates that its shift has."""
    rng = np.random.default_rng(seed)
    f = rng.integers(-2, 3, n) / 2.0 if ties else rng.normal(size=n)
    y, w = rng.permutation(np.where(np.arange(n) < rng.integers(1, n), 1.0, -1.0)), rng.choice([0.5, 1.0, 3.0], n)
    p_f, p_m, shifts = error_curve(f, y, w)
    assert len(shifts) == len(np.unique(f)) + 1
    assert (np.diff(shifts) > 0).all() and (np.diff(p_f) >= 0).all() and (np.diff(p_m) <= TOL_ROUNDING).all()
    for k, shift in enumerate(shifts):
        assert (p_f[k], p_m[k]) == pytest.approx(rates_by_hand(f, y, w, shift), abs=TOL_ROUNDING)
    assert (p_f[0], p_m[0]) == (0.0, 1.0) and (p_f[-1], p_m[-1]) == pytest.approx((1.0, 0.0), abs=TOL_ROUNDING)
    predictions = {tuple(f + shift > 0) for shift in shifts}
    assert predictions == {tuple(f > cut) for cut in (*np.unique(f), f.min() - 1.0)}


def test_a_curve_of_four_rows():
    f, y = np.array([0.0, 2.0, 1.0, 1.0]), np.array([-1.0, 1.0, 1.0, -1.0])
    p_f, p_m, shifts = error_curve(f, y, np.array([1.0, 1.0, 3.0, 1.0]))
    np.testing.assert_array_equal(shifts, [-3.0, -1.5, -0.5, 1.0])
    np.testing.assert_array_equal(p_f, [0.0, 0.0, 0.5, 1.0])
    np.testing.assert_array_equal(p_m, [1.0, 0.75, 0.0, 0.0])


@pytest.mark.parametrize("low", [1.0, 1.0 + 2**-52, -1.0 - 2**-51, 0.5 + 3 * 2**-53])
def test_a_cut_between_neighbouring_numbers(low):
    """As rounding makes them: there is no number in the middle, but the rates are still those of the shift."""
    f, y = np.array([low, np.nextafter(low, np.inf)]), np.array([-1.0, 1.0])
    p_f, p_m, shifts = error_curve(f, y, np.ones(2))
    for k, shift in enumerate(shifts):
        assert (p_f[k], p_m[k]) == rates_by_hand(f, y, np.ones(2), shift)


# -- lines -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_nu_are_the_diagonal_of_the_grid(weighted):
    given = sample(weighted=weighted)
    lines = along_lines(given, KERNELS, NU, NU, None, Effort())
    grid = ErrorRates(given, KERNELS, NU, NU, Effort())
    grid.estimate((range(2), range(4), range(4)))
    for name in ("p_f", "p_m"):
        diagonal = np.diagonal(getattr(grid.surface, name), axis1=1, axis2=2)
        np.testing.assert_allclose(getattr(lines, name)[:, 0], diagonal, rtol=TOL_ROUNDING)
    np.testing.assert_array_equal(lines.shift, np.zeros((2, 1, 4)))
    assert not np.isnan(lines.p_f).any()


def test_equal_nu_are_the_diagonal_also_where_nothing_is_resolved():
    given, nu = sample(), np.arange(1, 11) / 10.0
    lines = along_lines(given, [RBF(0.01)], nu, nu, None, Effort())
    grid = ErrorRates(given, [RBF(0.01)], nu, nu, Effort())
    grid.estimate((range(1), range(10), range(10)))
    for name in ("p_f", "p_m", "unresolved", "constant"):
        diagonal = np.diagonal(getattr(grid.surface, name)[0])
        np.testing.assert_allclose(getattr(lines, name)[0, 0], diagonal, rtol=TOL_ROUNDING)
    assert (lines.unresolved > 0).any()
    np.testing.assert_array_equal(np.isnan(lines.p_f), lines.unresolved > 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_no_shift_of_the_held_out_values_is_better(criterion, weighted):
    given = sample(weighted=weighted)
    event, other = np.array([0.5, 0.9]), np.array([0.6, 0.6])
    lines = along_lines(given, KERNELS, event, other, criterion, Effort())
    for s, d in np.ndindex(2, 2):
        f = held_out_values(given, GAMMAS[s], event[d], other[d])
        found = rates_by_hand(f, given.y, given.weights, lines.shift[s, 0, d])
        assert (lines.p_f[s, 0, d], lines.p_m[s, 0, d]) == pytest.approx(found, abs=TOL_ROUNDING)
        values = np.unique(f)
        cuts = [values[0] - 1.0, *(0.5 * (values[:-1] + values[1:])), values[-1] + 1.0]
        rivals = [rates_by_hand(f, given.y, given.weights, -cut) for cut in cuts]
        if criterion != minimax():
            assert lines.p_f[s, 0, d] <= 0.15 + TOL_ROUNDING  # there is always the rule without events
            rivals = [each for each in rivals if each[0] <= 0.15 + TOL_ROUNDING]
            least = min(p_m for _, p_m in rivals)
            assert lines.p_m[s, 0, d] == pytest.approx(least, abs=TOL_ROUNDING)
        else:
            assert max(found) == pytest.approx(min(max(each) for each in rivals), abs=TOL_ROUNDING)
            unshifted = rates_by_hand(f, given.y, given.weights)
            assert max(found) <= max(unshifted) + TOL_ROUNDING


def test_shifts_lie_in_the_middle_between_held_out_values():
    given = sample()
    lines = along_lines(given, KERNELS[:1], NU[:1], NU[:1], minimax(), Effort())
    f = np.sort(held_out_values(given, GAMMAS[0], NU[0], NU[0]))
    middles = 0.5 * (f[:-1] + f[1:])
    assert np.abs(middles + lines.shift[0, 0, 0]).min() < TOL_DECISION


def test_workers_do_not_matter():
    given = sample(weighted=True)
    one, two = (along_lines(given, KERNELS, NU, NU, minimax(), Effort(n_jobs)) for n_jobs in (1, 2))
    for name in ("p_f", "p_m", "shift", "unresolved", "constant"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


# -- by tune() ---------------------------------------------------------------------------------------------------------


def table_data(n=60, seed=2):
    rng = np.random.default_rng(seed)
    yes = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, 2)) + 1.0 * yes[:, None]
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.where(yes, "yes", "no")})


DATA = table_data()
OPTIONS = {"gamma": [0.1, 0.4], "rng": 3, "folds": 4}


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_equal_nu_by_tune(criterion):
    grid = tune("y ~ a + b", DATA, criterion=criterion, nu=NU, **OPTIONS).table
    found = tune("y ~ a + b", DATA, criterion=criterion, nu=NU, search="balanced", **OPTIONS)
    expected = grid[grid["nu_event"] == grid["nu_other"]].reset_index(drop=True)
    pd.testing.assert_frame_equal(found.table, expected, rtol=TOL_ROUNDING)
    assert found.best_params["nu"][0] == found.best_params["nu"][1]
    assert found.rule is None
    assert found.table["score"].min() >= grid["score"].min() - TOL_ROUNDING


def test_nu_that_the_nu_svm_does_not_have_are_left_out():
    """A single ν is at most twice the share of the smaller class, here 2/3."""
    found = tune("y ~ a + b", DATA, criterion=minimax(), nu=[0.4, 0.5, 2 / 3, 0.7, 1.0], search="bias", **OPTIONS)
    table = found.table[found.table["gamma"] == 0.1]
    np.testing.assert_allclose(table["nu_event"], [0.6, 0.75, 1.0], rtol=TOL_ROUNDING)
    np.testing.assert_allclose(table["nu_other"], [0.3, 0.375, 0.5], rtol=TOL_ROUNDING)
    event, other = found.best_params["nu"]
    assert event == pytest.approx(2.0 * other)
    same = svm("y ~ a + b", DATA, nu=event * 2.0 / 3.0, gamma=found.best_params["gamma"])
    np.testing.assert_allclose(found.best.decision_values, same.decision_values, atol=TOL_DECISION)


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_ordinary_machine_is_that_of_the_rows_that_a_fold_leaves(blocks, weighted):
    """A single ν stays, and not the two that it is of all rows."""
    data, nu = DATA.assign(w=1.0 + weighted * (np.arange(60) % 4 == 1)), [0.25, 0.4]
    block = np.repeat(["one", "two", "three"], [10, 18, 32])
    options = OPTIONS | ({"folds": block} if blocks else {}) | {"gamma": 0.4, "weights": "w", "scale": False}
    found = tune("y ~ a + b", data, criterion=minimax(), nu=nu, search="bias", **options)
    y, w, rates = np.where(data["y"] == "yes", 1.0, -1.0), data["w"].to_numpy(), []
    for each in nu:
        f = np.empty(60)
        for k in np.unique(found.fold):
            out = (found.fold == k).to_numpy()
            fit = svm("y ~ a + b", data[~out], nu=each, gamma=0.4, weights="w", scale=False)
            f[out] = fit.decision_function(data[out])
        p_f, p_m, _ = error_curve(f, y, w)
        rates.append(np.maximum(p_f, p_m).min())
    np.testing.assert_allclose(found.table["score"], rates, rtol=TOL_ROUNDING)


def test_nu_that_the_rows_without_a_fold_do_not_have_are_left_out():
    """Without the last block a fifth of the rows are of the smaller class."""
    block = np.where(np.arange(60) < 45, "most", "last")
    data = DATA.assign(y=np.where((np.arange(60) % 3 == 0) & (np.arange(60) > 20), "yes", "no"))
    few = (data["y"][block == "most"] == "yes").mean()
    options = OPTIONS | {"folds": block, "gamma": 0.4}
    found = tune("y ~ a + b", data, criterion=minimax(), nu=[few, 2.0 * few, 2.1 * few], search="bias", **options)
    assert len(found.table) == 2 and (found.table["status"] == "ok").all()


def test_nu_that_are_left_out_are_counted():
    lost = "2 of 5 values of nu are left out: above twice the share of the smaller class"
    nu = [0.4, 0.5, 2 / 3, 0.7, 1.0]
    assert lost in " ".join(str(tune("y ~ a + b", DATA, criterion=minimax(), nu=nu, search="bias", **OPTIONS)).split())
    for options in ({"nu": nu[:3], "search": "bias"}, {"nu": nu, "search": "balanced"}, {"search": "bias"}):
        found = tune("y ~ a + b", DATA, criterion=minimax(), **options, **OPTIONS)
        assert "left out: above twice" not in " ".join(str(found).split())


def uneven(n_events, seed=1):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    return data.assign(y=np.where((data["a"] + 0.7 * rng.normal(size=200)).rank() > 200 - n_events, "yes", "no"))


@pytest.mark.parametrize("n_events", [5, 20, 100])
def test_nu_are_parts_of_the_largest_by_default(n_events):
    """Whatever the share of the smaller class, and in no fold more than there can be."""
    found = tune("y ~ a + b", uneven(n_events), criterion=minimax(), search="bias", gamma=0.1, rng=1, folds=5)
    single = 2.0 * found.table["nu_event"] * n_events / 200
    assert len(single) == 25
    # without one of five folds a fifth fewer of both, as far as rows can be divided
    np.testing.assert_allclose(single, np.arange(1, 26) / 25 * single.max(), rtol=TOL_ROUNDING)
    assert single.max() == pytest.approx(2.0 * n_events / 200, rel=0.02) and single.max() <= 2.0 * n_events / 200
    assert found.best_row["status"] == "ok"


def test_larger_nu_are_named_with_the_largest():
    with pytest.raises(DataError, match=r"larger nu, here of 0\.2 at most, or another gamma help"):
        tune("y ~ a + b", uneven(20), criterion=minimax(), search="bias", nu=[0.01], gamma=0.1, rng=1)


def test_the_best_is_the_ordinary_machine_also_when_it_is_fitted_anew():
    data, block = uneven(31), np.arange(200) // 7 % 4
    options = {"criterion": minimax(), "search": "bias", "nu": [0.1, 0.2], "gamma": 0.3, "rng": 0}
    found = tune("y ~ a + b", data, folds=block, **options)
    nu = 2.0 * found.best_row["nu_event"] * 31 / 200
    assert min(abs(nu - 0.1), abs(nu - 0.2)) < TOL_ROUNDING and re.search(rf"nu: +{nu:.6g}", str(found))
    same = svm("y ~ a + b", data, nu=round(nu, 9), gamma=0.3)
    f = found.best.kfold(block).decision_values
    np.testing.assert_allclose(f, same.kfold(block).decision_values, rtol=1e-6, atol=1e-6)
    no = data["y"] == "no"
    rates = ((f + found.rule.shift > 0)[no].mean(), (f + found.rule.shift <= 0)[~no].mean())
    assert rates == pytest.approx(tuple(found.best_row[["p_f", "p_m"]]), abs=TOL_ROUNDING)
    np.testing.assert_allclose(found.best.update(event="no").decision_values, -found.best.decision_values, atol=1e-6)
    other = uneven(40, seed=2)
    assert found.best.refit(other).nu == svm("y ~ a + b", other, nu=round(nu, 9), gamma=0.3).nu


def test_no_nu_is_left():
    with pytest.raises(DataError, match=r"every nu is above twice the share of the smaller class, 0\.6667"):
        tune("y ~ a + b", DATA, criterion=minimax(), nu=[0.7, 1.0], search="bias", **OPTIONS)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_the_shifted_rule_of_tune(criterion):
    found = tune("y ~ a + b", DATA, criterion=criterion, nu=[0.4, 0.6], search="bias", **OPTIONS)
    row = found.table.query("gamma == @found.best_params['gamma'] and nu_event == @found.best_params['nu'][0]").iloc[0]
    assert found.rule.shift == row["shift"] != 0.0
    assert found.rule.fit is found.best and found.order is None
    f = found.best.decision_function(DATA) + row["shift"]
    assert (found.predict(DATA) == np.where(f > 0, "yes", "no")).all()
    assert tuple(found.error_rates(DATA)) == pytest.approx(
        rates_by_hand(f.to_numpy(), np.where(DATA["y"] == "yes", 1.0, -1.0), np.ones(60)), abs=TOL_ROUNDING
    )
    if criterion != minimax():
        assert (found.table["p_f"] <= 0.15 + TOL_ROUNDING).all()


@pytest.mark.parametrize("smoothing", [None, "2d", "3d"])
@pytest.mark.parametrize("search", ["balanced", "bias"])
def test_the_chosen_point_is_the_best_of_the_table(search, smoothing):
    chosen = set()
    for a in (0.08, 0.15, 0.3, 0.6):
        options = {"criterion": neyman_pearson(a), "search": search, "smooth": smoothing, **OPTIONS}
        found = tune("y ~ a + b", DATA, nu=[0.3, 0.4, 0.5, 0.6], **options)
        end = "_smooth" if smoothing else ""
        violated = found.table[f"p_f{end}"] > a + TOL_ROUNDING
        candidates = found.table if violated.all() else found.table[~violated]
        row = found.best_row
        at = (found.table["nu_event"] == row["nu_event"]) & (found.table["gamma"] == found.best_params["gamma"])
        (least,) = found.table.loc[at, "score"]
        assert (
            least == pytest.approx(candidates["score"].min(), abs=TOL_ROUNDING) and violated[at].all() == violated.all()
        )
        assert (row["nu_event"], row["nu_other"]) == found.best_params["nu"]
        chosen.add(row["nu_event"])
    assert smoothing is not None or chosen != {found.table["nu_event"].max()}  # not the largest in all of them


@pytest.mark.parametrize("search", ["balanced", "bias"])
def test_of_equal_points_the_smoothest_fit(search):
    """Classes far apart: no error at any point; the smallest gamma and the largest ν that the nu-SVM has."""
    yes = (DATA["y"] == "yes").to_numpy()
    apart = DATA.assign(a=DATA["a"] + 20.0 * yes)
    found = tune("y ~ a + b", apart, criterion=minimax(), nu=[0.4, 0.5, 0.6], search=search, **OPTIONS)
    assert (found.table["score"] == 0.0).all()
    nu = (0.6, 0.6) if search == "balanced" else (0.9, 0.45)
    assert found.best_params["nu"] == pytest.approx(nu) and found.best_params["gamma"] == 0.1


@pytest.mark.parametrize("search", ["balanced", "bias"])
def test_two_sequences_are_not_swallowed(search):
    """They have one ν, so that the second sequence is refused."""
    with pytest.raises(ArgumentError, match=r"^nu=.* must be one sequence of numbers"):
        tune("y ~ a + b", DATA, nu=[[0.4, 0.6], [0.5, 0.55]], criterion=minimax(), search=search, **OPTIONS)


def tenths(seed, n=60):
    """Two columns of four values: many rows have f = 0, or the same f, but for rounding."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.integers(0, 4, n) * 1.0, "z": rng.integers(0, 4, n) * 1.0})
    return data.assign(y=np.where(data["x"] + data["z"] + 1.5 * rng.normal(size=n) > 3.0, "b", "a"))


@pytest.mark.parametrize("seed", [1, 4, 6, 9])
def test_rounding_is_no_false_alarm(seed):
    how = {"criterion": minimax(), "kernel": "linear", "nu": [0.8], "folds": 4, "rng": 1}
    grid, balanced = (tune("y ~ x + z", tenths(seed), search=each, **how).table for each in ("grid", "balanced"))
    np.testing.assert_allclose(balanced[["p_f", "p_m"]], grid[["p_f", "p_m"]], rtol=1e-12)


@pytest.mark.parametrize("seed", [18, 22, 31])
def test_a_shift_does_not_part_what_rounding_parts(seed):
    found = tune(
        "y ~ x + z", tenths(seed), criterion=minimax(), search="bias", kernel="linear", nu=[0.6], folds=4, rng=1
    )
    row, fold, data = found.table.iloc[0], found.fold.to_numpy(), tenths(seed)
    f = np.empty(len(data))
    standard = data.assign(**{name: (data[name] - data[name].mean()) / data[name].std(ddof=0) for name in ("x", "z")})
    for k in range(4):
        out = fold == k
        kept = svm("y ~ x + z", standard[~out], kernel="linear", nu=0.6, scale=False)
        f[out] = kept.decision_function(standard[out])
    moved = f + row["shift"]
    assert np.abs(moved).min() > 1e-6
    event = (data["y"] == "b").to_numpy()
    assert row["p_f"] == pytest.approx((moved[~event] > 0).mean()) and row["p_m"] == pytest.approx(
        (moved[event] <= 0).mean()
    )
