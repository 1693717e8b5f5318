"""``tune()`` for minimax and Neyman–Pearson: the fit that was found, tables, refusals, the guarantee, the texts."""

import re
import warnings

import joblib
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from svmstat import TuneResult, datasets, svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, GridWarning
from svmstat.results.rules import BiasTuned, ShiftedRule
from svmstat.tuning import minimax, neyman_pearson, tune
from svmstat.tuning.guarantee import order_of_threshold
from svmstat.tuning.smoothing import smooth

matplotlib.use("Agg")

pytestmark = pytest.mark.filterwarnings("ignore:the best (gamma|degree)")  # grids of two or three values

TOL_ROUNDING = 1e-12  # shares of the same weights, summed in another order
TOL_SAME = 1e-6  # decision values of two certified fits of the same problem

NU = [0.4, 0.6, 0.8, 1.0]
OPTIONS = {"criterion": minimax(), "nu": NU, "gamma": [0.1, 0.3, 1.0], "rng": 4}
SEARCHES = ["grid", "coordinate", "coordinate_2d", "balanced", "bias"]


def sample(n=90, seed=3, apart=1.1):
    rng = np.random.default_rng(seed)
    yes = rng.random(n) < 0.4
    X = rng.normal(size=(n, 2)) * [1.0, 20.0] + apart * yes[:, None] * [1.0, 20.0]
    data = pd.DataFrame({"a": X[:, 0].round(3), "b": X[:, 1].round(3), "y": np.where(yes, "yes", "no")})
    return data.set_axis([f"r{k}" for k in range(n)])


DATA = sample()
EVENT = (DATA["y"] == "yes").to_numpy()


def found_by(data=DATA, formula="y ~ a + b", **options):
    return tune(formula, data, **{**OPTIONS, **options})


@pytest.fixture(scope="module")
def plain():
    return found_by()


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


# -- what is found -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", [minimax(), neyman_pearson(0.1)], ids=str)
def test_the_best_is_the_fit_of_svm_digit_by_digit(search, criterion):
    found = found_by(search=search, criterion=criterion, event="no")
    assert isinstance(found, TuneResult) and set(found.best_params) == {"nu", "gamma"}
    same = svm("y ~ a + b", DATA, event="no", **found.best_params)
    np.testing.assert_array_equal(found.best.decision_values, same.decision_values)
    assert (found.best.event, found.best.nu, found.best.rho) == ("no", found.best_params["nu"], same.rho)


def held_out_rates(fold, scaled, event, other):
    """P_F and P_M of fits to all folds but one, on columns that are scaled already."""
    predicted = np.zeros(len(scaled), bool)
    for k in range(5):
        out = (fold == k).to_numpy()
        fit = svm("y ~ a + b", scaled[~out], nu=(event, other), gamma=0.3, scale=False)
        predicted[out] = fit.predict(scaled[out]) == "yes"
    return predicted[~EVENT].mean(), (~predicted[EVENT]).mean()


def test_rates_by_hand():
    found = found_by(nu=[[0.5], [0.7]], gamma=0.3)
    p_f, p_m = held_out_rates(found.fold, standardized(DATA), 0.5, 0.7)
    row = found.table.iloc[0]
    assert 0 < p_f < 1 and 0 < p_m < 1
    assert (row["p_f"], row["p_m"], row["score"]) == pytest.approx((p_f, p_m, max(p_f, p_m)), rel=TOL_ROUNDING)


def test_folds_are_stratified_and_by_rng(plain):
    fold = plain.fold
    assert fold.index.equals(DATA.index) and fold.name == "fold"
    for rows in (EVENT, ~EVENT):
        assert np.ptp(fold[rows].value_counts().reindex(range(5), fill_value=0)) <= 1
    assert fold.equals(found_by(search="balanced").fold)
    assert not fold.equals(found_by(rng=5).fold)
    kfold = tune("y ~ a + b", DATA, criterion="kfold", rng=4, C=1.0, gamma=0.3)
    assert fold.equals(kfold.fold)


def test_the_table_has_a_row_for_each_point(plain):
    table = plain.table
    columns = ["gamma", "nu_event", "nu_other", "p_f", "p_m", "score", "status", "reason"]
    assert list(table) == columns and len(table) == 3 * 4 * 4
    expected = [(gamma, event, other) for gamma in OPTIONS["gamma"] for other in NU for event in NU]
    np.testing.assert_array_equal(table[columns[:3]], expected)
    np.testing.assert_array_equal(table["score"], np.maximum(table["p_f"], table["p_m"]))
    assert (table["status"] == "ok").all() and (table["reason"] == "").all() and plain.n_failed == 0
    chosen = table.set_index(columns[:3]).loc[(plain.best_params["gamma"], *plain.best_params["nu"])]
    assert chosen["score"] == table["score"].min()
    assert (plain.best_row["p_f"], plain.best_row["p_m"]) == (chosen["p_f"], chosen["p_m"])
    counts = table["p_f"] * (~EVENT).sum()
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)


@pytest.mark.parametrize("kind", ["2d", "3d"])
def test_smoothed_rates_stand_beside_the_raw_ones(plain, kind):
    found = found_by(smooth=kind)
    table = found.table
    columns = ["p_f", "p_m", "p_f_smooth", "p_m_smooth", "score", "status", "reason"]
    assert list(table) == ["gamma", "nu_event", "nu_other", *columns]
    pd.testing.assert_frame_equal(table[["gamma", "nu_event", "nu_other", "p_f", "p_m"]], plain.table.iloc[:, :5])
    for raw in ("p_f", "p_m"):
        cube = table[raw].to_numpy().reshape(3, 4, 4)
        np.testing.assert_allclose(table[f"{raw}_smooth"], smooth(cube, kind).ravel(), rtol=TOL_ROUNDING)
    np.testing.assert_array_equal(table["score"], table[["p_f_smooth", "p_m_smooth"]].max(axis=1))
    row = found.best_row
    assert max(row["p_f_smooth"], row["p_m_smooth"]) == pytest.approx(table["score"].min(), rel=TOL_ROUNDING)
    assert (found.plan.smooth, found.plan.kind) == (kind, "grid")


def test_a_best_point_whose_hulls_meet_is_told():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.integers(0, 6, 400), "b": rng.integers(0, 6, 400)})
    data["y"] = rng.random(400) < 0.2 + 0.06 * data["a"]
    found = tune("y ~ a + b", data, nu=[0.2, 0.4], gamma=[0.5], criterion=minimax(), rng=1)
    assert found.best.rho == 0.0 and len(set(found.predict(data))) == 1
    assert "the reduced hulls of the best point meet (rho = 0)" in str(found)


def test_neyman_pearson_keeps_the_constraint_where_it_can():
    found = found_by(criterion=neyman_pearson(0.15))
    table, row = found.table, found.best_row
    kept = table[table["p_f"] <= 0.15 + TOL_ROUNDING]
    assert 0 < len(kept) < len(table)
    assert row["p_f"] <= 0.15 + TOL_ROUNDING and row["p_m"] == kept["p_m"].min()
    assert found.rule is None and (found.n_threshold, found.order) == (None, None)


@pytest.mark.parametrize("smoothing", [None, "2d", "3d"])
@pytest.mark.parametrize("search", ["coordinate", "coordinate_2d"])
def test_a_descent_looks_at_fewer_points_and_finds_the_same_numbers(search, smoothing):
    nu, gamma = [k / 10 for k in range(3, 11)], [0.05, 0.1, 0.2, 0.4, 0.8]
    grid = found_by(nu=nu, gamma=gamma, smooth=smoothing)
    found = found_by(nu=nu, gamma=gamma, smooth=smoothing, search=search)
    names = ["gamma", "nu_event", "nu_other"]
    both = found.table.merge(grid.table, on=names, suffixes=("", "_grid"))
    assert len(both) == len(found.table) < len(grid.table)
    np.testing.assert_array_equal(both["p_f"], both["p_f_grid"])
    np.testing.assert_array_equal(both["p_m"], both["p_m_grid"])
    at = found.best_row
    chosen = grid.table.query("gamma == @found.best_params['gamma'] and nu_event == @at['nu_event']")
    chosen = chosen[chosen["nu_other"] == at["nu_other"]].iloc[0]
    assert chosen["score"] == pytest.approx(at["score"], rel=TOL_ROUNDING)
    assert chosen["score"] >= grid.table["score"].min() - TOL_ROUNDING


def test_nu_for_both_or_for_each(plain):
    turned = found_by(nu=np.array([1.0, 0.4, 0.8, 0.6, 0.4]))
    pd.testing.assert_frame_equal(turned.table, plain.table)
    two = found_by(nu=([1.0, 0.5], np.array([0.7])))
    assert set(two.table["nu_event"]) == {0.5, 1.0} and set(two.table["nu_other"]) == {0.7}
    pair = found_by(nu=[0.5, 1])
    assert len(pair.table) == 3 * 2 * 2  # two numbers are values, not one for each level
    whole, line = (found_by(nu=None, gamma=0.3, search=search).table for search in ("grid", "balanced"))
    default = [k / 25 for k in range(1, 26)]
    assert len(whole) == 25 * 25
    assert sorted(set(whole["nu_event"])) == sorted(set(whole["nu_other"])) == list(line["nu_other"]) == default


POLY = {"gamma": [0.1, 0.4], "degree": [1, 2], "coef0": 1.0}


@pytest.mark.parametrize(("kernel", "given"), [("linear", {}), ("spline", {}), ("poly", POLY)])
def test_kernels(kernel, given):
    found = found_by(kernel=kernel, gamma=given.get("gamma"), **{k: v for k, v in given.items() if k != "gamma"})
    names = ["gamma", "degree", "coef0"] if kernel == "poly" else []
    assert list(found.table)[: len(names) + 1] == [*names, "nu_event"]
    assert len(found.table) == 16 * (4 if kernel == "poly" else 1)
    same = svm("y ~ a + b", DATA, kernel=kernel, **found.best_params)
    np.testing.assert_array_equal(found.best.decision_values, same.decision_values)
    assert kernel != "linear" or len(found_by(kernel="linear", gamma=None, smooth="3d").table) == 16


def gauss(X, Z):
    return np.exp(-0.3 * ((X[:, None] - Z) ** 2).sum(axis=2))


def standardized(data):
    """The columns as `svm` scales them."""
    columns = data[["a", "b"]]
    return data.assign(**((columns - columns.mean()) / columns.std()))


def test_a_function_as_the_kernel():
    options = {"criterion": minimax(), "nu": NU, "rng": 4}
    table = tune("y ~ a + b", DATA, gamma=0.3, **options).table.drop(columns="gamma")
    called = tune("y ~ a + b", DATA, kernel=gauss, **options)
    pd.testing.assert_frame_equal(called.table, table, rtol=TOL_ROUNDING)
    assert called.best_params.keys() == {"nu"}


def test_a_gram_matrix():
    """Its groups of equal rows are in another order than those of the columns, so that the folds are others."""
    scaled = standardized(DATA)
    X = scaled[["a", "b"]].to_numpy()
    data = pd.DataFrame(gauss(X, X), index=DATA.index, columns=[f"k{i}" for i in range(90)]).assign(y=DATA["y"])
    found = tune("y ~ .", data, kernel="precomputed", criterion=minimax(), nu=[[0.5], [0.7]], rng=4)
    assert found.best_params == {"nu": (0.5, 0.7)}
    assert (found.best_row["p_f"], found.best_row["p_m"]) == pytest.approx(held_out_rates(found.fold, scaled, 0.5, 0.7))


# -- workers, weights, rows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES)
def test_workers_do_not_matter(search):
    options = {"search": search, "smooth": "3d", "criterion": neyman_pearson(0.2)}
    one, two = found_by(n_jobs=1, **options), found_by(n_jobs=2, **options)
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    assert one.best_params == two.best_params


def test_processes_do_not_matter(plain):
    with joblib.parallel_config("loky", n_jobs=2):
        other = found_by()
    pd.testing.assert_frame_equal(plain.table, other.table, check_exact=True)


@pytest.mark.parametrize("search", ["grid", "bias"])
def test_a_weight_of_two_is_the_row_twice(search):
    w = np.resize([1, 2, 1, 0], len(DATA))
    weighted = found_by(DATA.assign(w=w), weights="w", search=search)
    repeated = found_by(DATA.loc[DATA.index.repeat(w)].reset_index(drop=True), search=search)
    pd.testing.assert_frame_equal(weighted.table, repeated.table, rtol=TOL_SAME)
    assert weighted.best_params["nu"] == pytest.approx(repeated.best_params["nu"])
    assert (weighted.fold[w == 0] == -1).all() and set(weighted.fold[w > 0]) == set(range(5))


def test_copies_share_a_fold():
    found = found_by(pd.concat([DATA, DATA.head(20)], ignore_index=True))
    np.testing.assert_array_equal(found.fold[:20], found.fold[90:])


def test_the_order_of_rows_does_not_matter(plain):
    other = found_by(DATA.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(plain.table, other.table, rtol=TOL_SAME)
    assert plain.best_params == other.best_params


def test_subset_and_missing_values():
    data = DATA.copy()
    data.loc["r3", "a"], data.loc["r8", "y"] = np.nan, None
    found = found_by(data, subset="a < 2")
    used = data.dropna().query("a < 2")
    pd.testing.assert_frame_equal(found.table, found_by(used).table, rtol=TOL_ROUNDING)
    assert found.fold.index.equals(used.index)
    with pytest.raises(DataError, match="missing"):
        found_by(data, na_action="raise")


@pytest.mark.parametrize("smoothing", [None, "2d"])
def test_the_other_level_as_the_event(smoothing):
    """P_F and P_M change places, and so do both ν; the folds are by level, so that they stay."""
    nu = [[0.4, 0.7, 1.0], [0.5, 0.9]]
    yes, no = (found_by(nu=each, event=e, smooth=smoothing) for each, e in ((nu, "yes"), (nu[::-1], "no")))
    pd.testing.assert_series_equal(yes.fold, no.fold)
    names = {"nu_event": "nu_other", "nu_other": "nu_event", "p_f": "p_m", "p_m": "p_f"}
    names |= {"p_f_smooth": "p_m_smooth", "p_m_smooth": "p_f_smooth"}
    turned = no.table.rename(columns=names).sort_values(["gamma", "nu_other", "nu_event"], ignore_index=True)
    pd.testing.assert_frame_equal(turned[list(yes.table)], yes.table, rtol=TOL_ROUNDING)
    assert not np.allclose(yes.table["p_f"], yes.table["p_m"])
    assert yes.best_params["nu"] == no.best_params["nu"][::-1] and yes.best_params["gamma"] == no.best_params["gamma"]


# -- points that are not resolved --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def partly():
    """Classes so far apart that small ν leave nearly no distance between the hulls."""
    return found_by(nu=[k / 10 for k in range(1, 11)], gamma=[0.001, 0.01, 0.1])


def test_points_without_digits_are_told_and_never_chosen(partly):
    table = partly.table
    failed = table["status"] == "failed"
    assert 0 < failed.sum() < len(table) and partly.n_failed == failed.sum()
    assert table.loc[failed, ["p_f", "p_m", "score"]].isna().all(axis=None)
    assert table.loc[~failed, ["p_f", "p_m", "score"]].notna().all(axis=None)
    assert table.loc[failed, "reason"].str.fullmatch(r"rho is too small to be resolved in [1-5] folds?").all()
    assert (table.loc[~failed, "reason"] == "").all()
    chosen = table.query("gamma == @partly.best_params['gamma'] and nu_event == @partly.best_params['nu'][0]")
    assert (chosen[chosen["nu_other"] == partly.best_params["nu"][1]]["status"] == "ok").all()
    assert f"{partly.n_failed} points without an estimate" in str(partly)
    for draw in (partly.plot, partly.plot_roc):
        draw().figure.canvas.draw()


@pytest.mark.parametrize(
    ("gamma", "told"), [([0.1, 0.3, 1.0], None), ([0.3, 1.0], "smallest"), ([0.1, 0.3], "largest"), (0.3, None)]
)
def test_the_end_of_the_grid_is_told(gamma, told):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = found_by(sample(seed=4), gamma=gamma)
    assert found.best_params["gamma"] == 0.3
    wanted = [f"the best gamma = 0.3 is the {told} of its grid: a wider one may hold a better"] if told else []
    assert [str(each.message) for each in caught] == wanted
    assert {each.category for each in caught} <= {GridWarning}


def test_no_point_at_all():
    with pytest.raises(
        DataError, match=r"no point that was looked at could be estimated: .* larger nu or another gamma"
    ):
        found_by(nu=[0.02], gamma=[0.0001])


# -- refusals ----------------------------------------------------------------------------------------------------------

NP = neyman_pearson(0.1)
BESIDE = "is not allowed: it must be left out with criterion=minimax: nu takes its place."
SEQUENCE = "it must be a sequence of numbers in (0, 1], or two sequences, for the event and for the other level."

REFUSED = [
    ({"C": 1}, f"C=1 {BESIDE}"),
    ({"C": [1, 2]}, f"C=[1, 2] {BESIDE}"),
    ({"class_weight": "balanced"}, f"class_weight='balanced' {BESIDE}"),
    ({"costs": {"fp": 2}}, f"costs={{'fp': 2}} {BESIDE}"),
    (
        {"priors": {"yes": 0.5, "no": 0.5}, "criterion": NP},
        "it must be left out with criterion=Neyman-Pearson",
    ),
    ({"loss": "p0"}, "loss='p0' is not allowed: it must be 'hinge' with criterion=minimax: the 2nu-SVM has one margin"),
    ({"loss": "huber"}, "loss='huber' is not allowed: it must be 'hinge'"),
    ({"score": "error"}, "score='error' is not allowed: it must be left out with criterion=minimax"),
    ({"further": ["gacv"]}, "further=['gacv'] is not allowed: it must be left out with"),
    ({"truth": np.full(90, 0.5)}, "truth is used for GCKL only"),
    ({"nu": [0.5, 0]}, "nu[1]=0 is not allowed: it must be a number in (0, 1]."),
    ({"nu": [1.01]}, "nu[0]=1.01 is not allowed"),
    ({"nu": [0.5, np.nan]}, "nu[1]=nan is not allowed"),
    ({"nu": [-0.1]}, "nu[0]=-0.1 is not allowed"),
    ({"nu": [True]}, "nu[0]=True is not allowed"),
    ({"nu": ["0.5"]}, "nu[0]='0.5' is not allowed"),
    ({"nu": [[0.5], [0.5, 2]]}, "nu[1][1]=2 is not allowed"),
    ({"nu": []}, f"nu=[] is not allowed: {SEQUENCE}"),
    ({"nu": 0.5}, f"nu=0.5 is not allowed: {SEQUENCE}"),
    ({"nu": "0.5"}, f"nu='0.5' is not allowed: {SEQUENCE}"),
    ({"nu": np.array(0.5)}, "is not allowed: it must be"),
    ({"nu": [[0.5, 0.6], []]}, "is not allowed: it must be"),
    ({"nu": np.array([[0.3, 0.4, 0.5]])}, "is not allowed: it must be"),
    ({"nu": [np.array([0.3, 0.4]), np.array([])]}, "is not allowed: it must be"),
    ({"nu": [[0.1], [0.2], [0.3]]}, f"nu=[[0.1], [0.2], [0.3]] is not allowed: {SEQUENCE}"),
    ({"nu": [[0.1], []]}, f"nu=[[0.1], []] is not allowed: {SEQUENCE}"),
    ({"nu": ((0.1, 0.2), 0.3)}, f"nu=((0.1, 0.2), 0.3) is not allowed: {SEQUENCE}"),
    ({"smooth": "1d"}, "smooth='1d' is not allowed: it must be one of '2d', '3d'"),
    ({"smooth": False}, "smooth=False is not allowed: it must be one of '2d', '3d', or None"),
    ({"smooth": True}, "smooth=True is not allowed: it must be one of '2d', '3d'"),
    ({"search": "coordinat"}, "did you mean 'coordinate'"),
    (
        {"search": None},
        "search=None is not allowed: it must be one of 'grid', 'coordinate', ",
    ),
    ({"folds": 1}, "folds=1 is not allowed: it must be an integer >= 2"),
    ({"kernel": "linear"}, "kernel='linear' has no gamma"),
    ({"kernel": "poly", "smooth": "3d"}, "smooth='3d' is not allowed: it must be '2d' for a kernel with several param"),
    ({"criterion": minimax}, "criterion=<function minimax"),
    ({"criterion": "minimax"}, "criterion='minimax' is not allowed"),
    ({"criterion": "loo"}, "is not allowed: it must be left out with criterion='loo': it is for minimax() and neyman"),
    ({"criterion": "kfold", "nu": None, "smooth": "2d"}, "smooth='2d' is not allowed: it must be left out with"),
    ({"criterion": "kfold", "nu": None, "search": "coordinate"}, "search='coordinate' is not allowed: it must be one"),
    ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
    ({"rng": -1}, "rng=-1 is not allowed"),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(
    ("arguments", "message"), REFUSED, ids=[str(case[0])[:40].partition(" at 0x")[0] for case in REFUSED]
)
def test_arguments_that_are_refused_before_anything_is_solved(arguments, message):
    with pytest.raises(ArgumentError) as caught:
        found_by(**arguments)
    assert message in str(caught.value)


def test_three_levels_are_refused():
    data = DATA.assign(y=np.resize(["no", "yes", "perhaps"], 90))
    with pytest.raises(ArgumentError) as caught:
        found_by(data)
    text = str(caught.value)
    assert "minimax and Neyman-Pearson being defined for two levels only: the response 'y' has 3" in text


def test_more_folds_than_rows_of_a_class():
    with pytest.raises(DataError, match=r"folds=50 needs 50 different rows of each level: the level 'yes' has \d+\."):
        found_by(folds=50)


# -- the guarantee -----------------------------------------------------------------------------------------------------

MANY = sample(160, seed=6)
SURE = {"criterion": neyman_pearson(0.2, 0.15), "nu": [0.4, 0.7, 1.0]}


def held_rows(found, data):
    """The labels of the rows that set the threshold."""
    return data.index.difference(found.fold.index, sort=False)


@pytest.fixture(scope="module")
def sure():
    return found_by(MANY, **SURE)


def test_the_threshold_is_the_order_statistic_of_rows_held_out(sure):
    held = held_rows(sure, MANY)
    others = int((MANY["y"] == "no").sum())
    assert (MANY.loc[held, "y"] == "no").all() and len(held) == sure.n_threshold == others // 2
    assert sure.order == order_of_threshold(others // 2, 0.2, 0.15)
    scores = np.sort(sure.best.decision_function(MANY.loc[held]))
    assert -sure.rule.shift == scores[sure.order - 1]
    assert sure.error_rates(MANY.loc[held])["p_f"] == pytest.approx(1.0 - sure.order / len(held))
    f = sure.best.decision_function(MANY)
    np.testing.assert_array_equal(sure.predict(MANY), np.where(f > scores[sure.order - 1], "yes", "no"))


def test_the_search_is_that_of_the_other_rows(sure):
    kept = MANY.drop(index=held_rows(sure, MANY))
    same = found_by(kept, **{**SURE, "criterion": neyman_pearson(0.2)})
    pd.testing.assert_frame_equal(sure.table, same.table, check_exact=True)
    assert sure.best_params == same.best_params
    np.testing.assert_array_equal(sure.best.decision_values, same.best.decision_values)
    assert sure.best.decision_values.index.equals(kept.index)


@pytest.mark.parametrize("gamma", [[0.1, 0.3], "scale", ["median"], None])
def test_held_out_rows_move_nothing_but_the_threshold(gamma):
    """Not the scaling, not what "scale" and "median" stand for, not the folds."""
    one = found_by(MANY, **SURE, gamma=gamma)
    held, moved = held_rows(one, MANY), MANY.copy()
    moved.loc[held, ["a", "b"]] = 3.0 * moved.loc[held, ["a", "b"]] + 2.0
    two = found_by(moved, **SURE, gamma=gamma)
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    pd.testing.assert_series_equal(one.fold, two.fold)
    assert (one.best_params, one.order, one.n_threshold) == (two.best_params, two.order, two.n_threshold)
    np.testing.assert_array_equal(one.best.decision_values, two.best.decision_values)
    assert one.rule.shift != two.rule.shift


def test_which_rows_are_held_out_is_decided_by_rng(sure):
    held = held_rows(sure, MANY)
    assert held.equals(held_rows(found_by(MANY, **SURE), MANY))
    assert not held.equals(held_rows(found_by(MANY, **SURE, rng=5), MANY))


@pytest.mark.parametrize("holdout", [0.25, 0.4, 0.75])
def test_the_share_that_is_held_out(holdout):
    found = found_by(MANY, **{**SURE, "criterion": neyman_pearson(0.2, 0.15, holdout=holdout)})
    assert found.n_threshold == int(holdout * (MANY["y"] == "no").sum() + 1e-9)


def test_too_few_rows_say_how_many_are_needed():
    others = int((MANY["y"] == "no").sum())
    with pytest.raises(DataError) as caught:
        found_by(MANY, **{**SURE, "criterion": neyman_pearson(0.01, 0.05, holdout=0.25)})
    assert str(caught.value) == (
        "a = 0.01 with delta = 0.05 needs at least 299 held-out rows of the other level, so that with holdout = 0.25 "
        f"the data must have 1196 of them: there are {others}."
    )


def others_of(n):
    """Data with n rows of the other level."""
    data = sample(400, seed=8)
    keep = np.concatenate([np.flatnonzero(data["y"] == "yes")[:30], np.flatnonzero(data["y"] == "no")[:n]])
    return data.iloc[np.sort(keep)]


SHARES = [(0.1, 0.1, 0.5), (0.1, 0.1, 0.25), (0.1, 0.05, 0.29), (0.2, 0.3, 0.1), (0.1, 0.05, 0.58)]


@pytest.mark.parametrize(("a", "delta", "holdout"), SHARES)
def test_as_many_rows_as_the_message_asks_for_will_do(a, delta, holdout):
    options = {"criterion": neyman_pearson(a, delta, holdout=holdout), "nu": [0.8, 1.0], "gamma": 0.1}
    with pytest.raises(DataError) as caught:
        found_by(others_of(10), **options)
    needed = int(str(caught.value).split("must have ")[1].split()[0])
    found = found_by(others_of(needed), **options)
    assert found.order == found.n_threshold  # the largest score
    with pytest.raises(DataError, match=f"must have {needed} of them: there are {needed - 1}"):
        found_by(others_of(needed - 1), **options)


def test_too_few_rows_are_left_for_the_folds():
    with pytest.raises(DataError, match=r"folds=5 needs 5 different rows of each level: the level 'no' has \d\."):
        found_by(MANY, **{**SURE, "criterion": neyman_pearson(0.2, 0.15, holdout=0.97)})


def test_weights_and_the_guarantee():
    with pytest.raises(DataError, match="case weights other than 1 are not allowed with it"):
        found_by(MANY.assign(w=np.resize([1.0, 2.0], 160)), weights="w", **SURE)
    ones = found_by(MANY.assign(w=1.0), weights="w", **SURE)
    assert ones.rule.shift == found_by(MANY, **SURE).rule.shift


def test_the_share_of_events_without_the_rows_held_out_is_told():
    found = found_by(MANY, **SURE)
    event, n = found.best.confusion.sum(axis=1)[found.best.event], found.best.nobs
    text = " ".join(str(found).split())
    assert f"The {found.n_threshold} held-out rows are in no number of .best" in text
    assert f"a share of {event / n:.4f}, in the data one of {event / (n + found.n_threshold):.4f}." in text
    assert n + found.n_threshold == len(MANY)


@pytest.mark.parametrize("subset", ["a < 1.5", (MANY["a"] < 1.5).to_numpy()], ids=["expression", "array"])
def test_the_guarantee_with_subset_and_missing_values(subset):
    data = MANY.copy()
    others = data.index[data["y"] == "no"]
    data.loc[others[3], "a"], data.loc[others[7], "b"], data.loc[others[9], "y"] = np.nan, np.nan, None
    found = found_by(data, **SURE, subset=subset)
    used = data[MANY["a"] < 1.5].dropna()
    held = held_rows(found, used)
    assert found.fold.index.isin(used.index).all() and found.best.n_rows + len(held) == len(used)
    assert (used.loc[held, "y"] == "no").all() and len(held) == (used["y"] == "no").sum() // 2
    scores = np.sort(found.best.decision_function(used.loc[held]))
    assert -found.rule.shift == scores[found.order - 1]


def test_the_guarantee_for_the_other_level():
    found = found_by(MANY, **SURE, event="no")
    held = held_rows(found, MANY)
    assert (MANY.loc[held, "y"] == "yes").all() and len(held) == (MANY["y"] == "yes").sum() // 2


def test_labels_that_are_not_unique():
    found = found_by(MANY.set_axis(np.zeros(160, int)), **SURE)
    assert found.rule.shift == found_by(MANY, **SURE).rule.shift


def test_the_guarantee_of_a_gram_matrix():
    near = MANY.assign(b=MANY["b"] / 20.0)
    X = near[["a", "b"]].to_numpy()
    data = pd.DataFrame(gauss(X, X), index=MANY.index, columns=[f"k{i}" for i in range(160)]).assign(y=MANY["y"])
    found = found_by(data, "y ~ .", kernel="precomputed", **SURE, gamma=None)
    held = held_rows(found, MANY)
    same = svm("y ~ a + b", near.drop(index=held), gamma=0.3, scale=False, **found.best_params)
    scores = np.sort(same.decision_function(near.loc[held]))
    assert -found.rule.shift == pytest.approx(scores[found.order - 1], abs=TOL_SAME)


def test_the_warnings_of_the_data_are_given_once():
    """Though the design is made twice."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found_by(MANY.assign(c=1.0), "y ~ a + b + c", **SURE)
    assert [str(each.message) for each in caught] == ["The column is constant and dropped: 'c'."]


def test_violations_of_the_guarantee():
    """Of the false alarm rate on many new rows, in samples drawn anew: not more often than δ; three standard errors."""
    new = sample(4000, seed=99)
    new = new[new["y"] == "no"]
    options = {"criterion": neyman_pearson(0.2, 0.3), "nu": [0.6], "gamma": 0.1, "folds": 2}
    times = 60
    found = [found_by(sample(60, seed=1000 + k), **options, rng=k).error_rates(new)["p_f"] for k in range(times)]
    violated = np.mean(np.array(found) > 0.2)
    assert violated <= 0.3 + 3.0 * np.sqrt(0.3 * 0.7 / times)
    assert np.mean(found) > 0.05  # nor is it that no event is predicted at all


# -- rules -------------------------------------------------------------------------------------------------------------


def rates_by_hand(f, event):
    return (f[~event] > 0).mean(), (f[event] <= 0).mean()


def test_without_a_rule_the_best_fit_predicts(plain):
    assert plain.rule is None
    assert plain.predict(DATA).equals(plain.best.predict(DATA)) and plain.predict().equals(plain.best.predict())
    assert tuple(plain.error_rates()) == rates_by_hand(plain.best.decision_values.to_numpy(), EVENT)
    assert plain.error_rates(MANY).equals(plain.best.error_rates(MANY))


def test_error_rates_of_a_fit(plain):
    fit = plain.best
    found = fit.error_rates()
    assert list(found.index) == ["p_f", "p_m"] and found.name == "error_rate"
    f, event = fit.decision_function(MANY).to_numpy(), (MANY["y"] == "yes").to_numpy()
    assert tuple(fit.error_rates(MANY)) == pytest.approx(rates_by_hand(f, event), rel=TOL_ROUNDING)
    w = np.resize([0, 1, 3], 160)
    weighted, repeated = fit.error_rates(MANY, weights=w), fit.error_rates(MANY.loc[MANY.index.repeat(w)])
    pd.testing.assert_series_equal(weighted, repeated, rtol=TOL_ROUNDING)
    share = event.mean()
    assert (1 - share) * fit.error_rates(MANY)["p_f"] + share * fit.error_rates(MANY)["p_m"] == pytest.approx(
        fit.risk(MANY, costs={"fp": 1, "fn": 1}), rel=TOL_ROUNDING
    )
    one = fit.error_rates(MANY[event])
    assert np.isnan(one["p_f"]) and one["p_m"] == rates_by_hand(f, event)[1]
    with pytest.raises(ArgumentError, match="weights are those of newdata"):
        fit.error_rates(weights=np.ones(90))
    with pytest.raises(DataError, match="newdata has no row with the response and all predictors"):
        fit.error_rates(MANY.assign(a=np.nan))


@pytest.mark.parametrize("shift", [0.0, 0.4, -1.3, 100.0, -100.0])
def test_a_shifted_rule(plain, shift):
    fit = plain.best
    rule = ShiftedRule(fit, shift)
    f = fit.decision_function(MANY) + shift
    np.testing.assert_array_equal(rule.predict(MANY), np.where(f > 0, "yes", "no"))
    assert tuple(rule.error_rates(MANY)) == rates_by_hand(f.to_numpy(), (MANY["y"] == "yes").to_numpy())
    assert tuple(rule.error_rates()) == rates_by_hand(fit.decision_values.to_numpy() + shift, EVENT)
    assert rule.intercept == fit.intercept + shift
    gaps = MANY.assign(a=MANY["a"].where(MANY["a"] > 0))
    assert rule.predict(gaps).isna().equals(gaps["a"].isna())
    assert repr(rule) == f"<ShiftedRule: f {shift:+.6g} > 0>"


def test_the_shift_of_a_validation_sample_is_such_a_rule(plain):
    tuned = plain.best.tune_bias(MANY, costs={"fp": 3, "fn": 1})
    assert isinstance(tuned, BiasTuned) and isinstance(tuned, ShiftedRule)
    same = ShiftedRule(plain.best, tuned.shift)
    assert tuned.predict(DATA).equals(same.predict(DATA)) and tuned.error_rates(MANY).equals(same.error_rates(MANY))
    share = (MANY["y"] == "yes").mean()
    rates = tuned.error_rates(MANY)
    expected = 3 * (1 - share) * rates["p_f"] + share * rates["p_m"]
    assert tuned.risk(MANY) == pytest.approx(expected, rel=TOL_ROUNDING)
    assert tuned.validation_risk == pytest.approx(expected, rel=TOL_ROUNDING)
    assert repr(tuned).startswith(f"<BiasTuned: f {tuned.shift:+.6g} > 0, validation risk ")


# -- texts -------------------------------------------------------------------------------------------------------------


def check_text(found):
    text = str(found.summary())
    assert max(map(len, text.splitlines())) <= 78
    assert text == str(found)
    assert re.fullmatch(r"<TuneResult: best .*nu=.* points.*>", repr(found)) and len(repr(found)) <= 120
    assert found._repr_html_() == found.summary().as_html()
    return text


def entry(text, label):
    """What stands behind a label."""
    return text.split(f"{label}:")[1].split()[0]


def test_summary(plain):
    text, row = check_text(plain), plain.best_row
    assert "Search with controlled errors" in text and "WARNING" not in text and "Rule" not in text
    assert "Criterion:  minimax" in text and "all grid points" in text and "smoothed" not in text
    found = [float(entry(text, label)) for label in ("nu of the event", "nu of the other level", "Best gamma")]
    assert found == [*plain.best_params["nu"], plain.best_params["gamma"]]
    rates = [float(entry(text, label)) for label in ("False alarms, P_F", "Misses, P_M")]
    assert rates == pytest.approx([row["p_f"], row["p_m"]], abs=5e-5)
    assert (entry(text, "Points looked at"), entry(text, "Folds")) == ("48", "5")
    assert "the chosen point looks better" in text


def test_summary_with_smoothing():
    found = found_by(smooth="3d", search="coordinate", criterion=neyman_pearson(0.3))
    text, row = " ".join(check_text(found).split()), found.best_row
    smoothed = [float(part.split()[0]) for part in text.split("smoothed (3d):")[1:]]
    assert smoothed == pytest.approx([row["p_f_smooth"], row["p_m_smooth"]], abs=5e-5)
    assert "coordinate descent in gamma, nu of the event and nu of the other level" in text
    assert entry(text, "Points looked at") == str(len(found.table))
    assert "Neyman-Pearson, a = 0.3" in text and "no point keeps" not in text


def test_summary_with_a_threshold(sure):
    text = check_text(sure)
    assert "Neyman-Pearson, a = 0.2, delta = 0.15" in text
    assert float(entry(text, "Threshold on f")) == pytest.approx(-sure.rule.shift, rel=1e-4)
    assert entry(text, "Held-out rows") == str(sure.n_threshold)
    assert entry(text, "Its rank among them") == str(sure.order)
    assert "not of the rule with its" in text and "looks better" not in text


def test_summary_with_a_shift():
    found = found_by(search="bias")
    text = check_text(found)
    assert "nu-SVM with a shifted decision function" in text and "Held-out rows" not in text
    assert float(entry(text, "Threshold on f")) == pytest.approx(-found.rule.shift, rel=1e-4)


def test_summary_of_a_violated_constraint():
    told = "no point keeps P_F at the level"
    found = found_by(criterion=neyman_pearson(0.001), nu=[[0.8, 1.0], [0.9, 1.0]])
    assert found.table["p_f"].min() > 0.001
    assert found.best_row["p_f"] > 0.001 and found.table["score"].min() == pytest.approx(
        (found.best_row["p_f"] - 0.001) / 0.001 + found.best_row["p_m"]
    )
    assert told in check_text(found)
    sure = found_by(MANY, criterion=neyman_pearson(0.01, 0.7), nu=[[0.8, 1.0], [0.9, 1.0]])
    assert sure.best_row["p_f"] > 0.01 and told not in check_text(sure)  # the threshold sees to it


def test_a_search_in_part_says_so_where_no_point_keeps_the_level():
    rng = np.random.default_rng(35)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 1.2 * rng.normal(size=40) > 0.2, "yes", "no")
    data = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    asked = {"criterion": neyman_pearson(0.08), "nu": [0.1, 0.3, 0.5, 0.7, 0.9], "gamma": [0.05, 0.2, 1.0, 4.0]}
    asked |= {"folds": 4, "rng": 1, "event": "yes"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        part, whole = (tune("y ~ a + b", data, search=search, **asked) for search in ("coordinate", "grid"))
    assert whole.best_row["p_f"] <= 0.08 < part.best_row["p_f"]
    told = " ".join(str(part).split())
    assert "no point that was looked at keeps P_F at the level" in told and "search='grid' looks at all." in told


def test_a_threshold_of_zero_has_no_sign():
    data = pd.DataFrame({"x": [0.0, 1.0] * 40, "y": [0, 1, 1, 0] * 20})
    rule = tune("y ~ x", data, criterion=neyman_pearson(0.3, 0.3), nu=[0.9, 1.0], kernel="linear", rng=1).rule
    assert rule.shift == 0.0 and not np.signbit(rule.shift)


@pytest.mark.parametrize("search", SEARCHES)
def test_summary_of_every_search(search):
    check_text(found_by(search=search, smooth="2d"))
    check_text(found_by(search=search, kernel="linear", gamma=None))


# -- figures -----------------------------------------------------------------------------------------------------------


def marks(ax):
    return [line.get_xydata().tolist()[0] for line in ax.lines if line.get_marker() == "o"]


@pytest.mark.parametrize("smoothing", [None, "2d"])
def test_plot_of_the_score(smoothing):
    found = found_by(smooth=smoothing)
    ax = found.plot()
    assert marks(ax) == [list(found.best_params["nu"])]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ν of the event", "ν of the other level")
    what = "max(P_F, P_M)" + (", smoothed" if smoothing else "")
    score = found.table["score"].min()
    assert ax.get_title("left") == f"{what}: {score:.4g} at gamma = {found.best_params['gamma']:.4g}"
    table = found.table[found.table["gamma"] == found.best_params["gamma"]]
    levels = ax.collections[0].levels
    assert levels[0] <= table["score"].min() and levels[-1] >= table["score"].max()
    np.testing.assert_allclose(levels, levels.round(4), atol=1e-12)  # they are round
    assert found.plot(ax) is ax


def test_plot_of_the_points_of_a_descent():
    nu = [k / 20 for k in range(6, 21)]
    found = found_by(search="coordinate", nu=nu)
    ax = found.plot()
    table = found.table[found.table["gamma"] == found.best_params["gamma"]]
    assert len(table) < 0.5 * len(nu) ** 2
    drawn = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_array_equal(drawn, table[["nu_event", "nu_other"]])
    assert marks(ax) == [list(found.best_params["nu"])]


@pytest.mark.parametrize("search", ["balanced", "bias"])
def test_plot_of_a_line(search):
    found = found_by(search=search, criterion=neyman_pearson(0.2))
    ax = found.plot()
    table = found.table[found.table["gamma"] == found.best_params["gamma"]]
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), table[["nu_event", "score"]])
    assert marks(ax)[0][0] == found.best_params["nu"][0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ν of the event", "Neyman-Pearson score at 0.2")


@pytest.mark.parametrize("nu", [[[0.5], [0.4, 0.7, 1.0]], [[0.4, 0.7, 1.0], [0.5]], [0.5], [0.5, 1.0]])
def test_plots_of_small_grids(nu):
    found = found_by(nu=nu)
    found.plot().figure.canvas.draw()
    found.plot_roc().figure.canvas.draw()


@pytest.mark.parametrize("smoothing", [None, "3d"])
def test_plot_of_attainable_rates(smoothing):
    found = found_by(criterion=neyman_pearson(0.25), smooth=smoothing)
    ax, end = found.plot_roc(), "_smooth" if smoothing else ""
    lines = {line.get_label(): line for line in ax.lines}
    np.testing.assert_array_equal(lines["grid points"].get_xydata(), found.table[[f"p_f{end}", f"p_m{end}"]])
    np.testing.assert_array_equal(lines["P_F = 0.25"].get_xdata(), [0.25, 0.25])
    row = found.best_row
    assert marks(ax) == [[row[f"p_f{end}"], row[f"p_m{end}"]]]
    assert found.plot_roc(ax) is ax
    free = {line.get_label() for line in found_by().plot_roc().lines}
    assert not any(label.startswith("P_F") for label in free)


def test_a_type_that_is_no_data():
    with pytest.raises(ArgumentTypeError):
        found_by([1, 2, 3])


@pytest.mark.parametrize("search", ["coordinate", "coordinate_2d"])
@pytest.mark.parametrize("smooth", ["2d", "3d"])
def test_smoothed_rates_of_a_search_down_coordinates_are_those_of_the_whole_grid(search, smooth):
    """Points that are looked at for their neighbours only have none."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(80, 2)), columns=["x1", "x2"])
    data["y"] = np.where(data["x1"] + rng.logistic(size=80) > 0, "b", "a")
    how = {"criterion": minimax(), "smooth": smooth, "nu": [0.2, 0.4, 0.6, 0.8], "gamma": [0.1, 0.5, 2.0], "rng": 1}
    found, whole = (tune("y ~ x1 + x2", data, search=each, **how) for each in (search, "grid"))
    table = found.table.merge(whole.table, on=["gamma", "nu_event", "nu_other"], suffixes=("", "_of_all"))
    has = table["score"].notna()
    assert 0 < has.sum() < len(table)
    np.testing.assert_allclose(table["score"][has], table["score_of_all"][has], rtol=1e-12)
    assert (table["reason"][~has & table["p_f"].notna()].str.contains("neighbours only")).all()
    assert found.best_row["score"] == found.table["score"].min()


@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
@pytest.mark.parametrize(
    ("criterion", "search"),
    [(minimax(), "coordinate"), (minimax(), "coordinate_2d"), (neyman_pearson(0.1), "coordinate")],
)
def test_the_chosen_point_of_a_smoothed_search_is_the_least_that_has_a_score(criterion, search):
    data, formula = datasets.load("mackerel").iloc[::4], "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
    nu, gamma = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0.02, 0.05, 0.1, 0.2, 0.5]
    how = {"criterion": criterion, "search": search, "smooth": "2d", "gamma": gamma, "nu": nu, "rng": 1, "folds": 3}
    found = tune(formula, data, **how)
    allowed = found.table if criterion == minimax() else found.table[found.table["p_f_smooth"] <= 0.1]
    assert found.best_row["score"] == allowed["score"].min()


def test_what_is_chosen_without_a_fold_has_its_shift():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=80)})
    data["y"] = np.where(data["x"] + rng.logistic(size=80) > 0, "b", "a")
    how = {"criterion": minimax(), "nu": [0.2, 0.5, 0.8], "gamma": [0.2, 1.0], "nested": 4, "folds": 3, "rng": 0}
    assert "shift" in tune("y ~ x", data, search="bias", **how).nested.choices.columns
    assert "shift" not in tune("y ~ x", data, search="balanced", **how).nested.choices.columns


def test_the_ends_of_nu_are_told_but_not_where_there_is_nothing_beyond():
    told = "is the largest of its grid: a wider one may hold a better."
    narrow = found_by(criterion=minimax(), nu=[0.2, 0.3])
    row, text = narrow.best_row, " ".join(check_text(narrow).split())
    assert row["nu_event"] == row["nu_other"] == 0.3
    assert f"The best nu of the event = 0.3 {told}" in text and f"The best nu of the other level = 0.3 {told}" in text
    whole = found_by(criterion=minimax(), nu=[[0.2, 1.0], [0.9, 1.0]])
    assert whole.best_row["nu_other"] == 1.0 and "nu of the other level = 1 is" not in " ".join(
        check_text(whole).split()
    )
    plain = found_by(criterion=minimax(), search="balanced")
    assert "nu of the event =" not in " ".join(check_text(plain).split())


def test_of_smoothed_rates_it_is_these_that_no_point_keeps_at_the_level():
    asked = {"criterion": neyman_pearson(0.001), "nu": [[0.8, 1.0], [0.9, 1.0]]}
    told = " ".join(check_text(found_by(smooth="2d", **asked)).split())
    assert "no point keeps the smoothed P_F at the level" in told
