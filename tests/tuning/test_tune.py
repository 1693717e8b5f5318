"""``tune()``: identities with single fits, independence of order and workers, trouble told, nothing else chosen."""

import warnings

import joblib
import matplotlib
import numpy as np
import pandas as pd
import pytest

from svmstat import datasets, svm
from svmstat.diagnostics.gacv import gckl
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, GridWarning, UnavailableError
from svmstat.tuning import minimax, tune
from svmstat.tuning.criteria import LeaveOneOut
from svmstat.tuning.scores import failed

matplotlib.use("Agg")

FORMULA = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
TOL_SAME = 1e-6  # two certified fits of the same problem, relative


def sample(n=80, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    y = np.where(X[:, 0] * X[:, 1] + 0.6 * rng.normal(size=n) > 0, "yes", "no")
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


DATA = sample()
GRID = {"C": [0.5, 2.0, 8.0], "gamma": [0.1, 0.5, 2.0]}
TRUTH = 1 / (1 + np.exp(-2.5 * DATA["a"].to_numpy() * DATA["b"].to_numpy()))


def quiet(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        return tune(*args, **kwargs)


def test_mackerel_by_leave_one_out():
    found = tune(FORMULA, datasets.load("mackerel"), C=[16, 32, 64], gamma=[0.125, 0.25, 0.5])
    assert found.best_params == {"C": 32.0, "gamma": 0.25}
    assert found.best_row["score"] == pytest.approx(474.4, abs=0.05)
    known = found.table.query("C == 16 and gamma == 0.25").iloc[0]
    assert known["score"] == pytest.approx(488.24, abs=0.01)
    assert known["error"] == pytest.approx(0.1625, abs=5e-5)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "spline"])
def test_one_point_is_the_leave_one_out_of_the_fit(kernel):
    given = {"rbf": {"gamma": 0.7}, "poly": {"gamma": 0.3, "degree": 2, "coef0": 1.0}}.get(kernel, {})
    found = tune("y ~ a + b", DATA, kernel=kernel, C=2, **given)
    loo = svm("y ~ a + b", DATA, kernel=kernel, **found.best_params).loo()
    row = found.best_row
    assert len(found.table) == 1 and found.best_params == {"C": 2.0, **given}
    got = (row["score"], row["score_se"], row["error"])
    np.testing.assert_allclose(got, (loo.score, loo.score_se, loo.error_rate), rtol=TOL_SAME)


def test_the_best_is_the_fit_of_svm_digit_by_digit():
    found = quiet("y ~ a + b", DATA, class_weight="balanced", event="no", **GRID)
    same = svm("y ~ a + b", DATA, class_weight="balanced", event="no", **found.best_params)
    np.testing.assert_array_equal(found.best.decision_values, same.decision_values)
    assert found.best.event == "no"
    assert found.best_row["score"] == found.table["score"].min()


@pytest.mark.parametrize("criterion", ["loo", "kfold"])
def test_order_of_the_grid_and_of_the_rows_does_not_matter(criterion):
    one = quiet("y ~ a + b", DATA, criterion=criterion, rng=1, **GRID)
    turned = {name: values[::-1] + values[:1] for name, values in GRID.items()}
    two = quiet("y ~ a + b", DATA, criterion=criterion, rng=1, **turned)
    pd.testing.assert_frame_equal(one.table, two.table)
    other = quiet("y ~ a + b", DATA.sample(frac=1, random_state=1), criterion=criterion, rng=1, **GRID)
    pd.testing.assert_frame_equal(one.table, other.table, rtol=TOL_SAME)


@pytest.mark.parametrize("criterion", ["loo", "kfold"])
def test_workers_do_not_matter(criterion):
    one = quiet("y ~ a + b", DATA, criterion=criterion, rng=1, n_jobs=1, **GRID)
    two = quiet("y ~ a + b", DATA, criterion=criterion, rng=1, n_jobs=2, **GRID)
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    with joblib.parallel_config("loky", n_jobs=2):
        three = quiet("y ~ a + b", DATA, criterion=criterion, rng=1, **GRID)
    pd.testing.assert_frame_equal(one.table, three.table, check_exact=True)


def test_a_weight_of_two_is_the_row_twice():
    w = np.resize([1, 2, 1, 0], len(DATA))
    weighted = quiet("y ~ a + b", DATA.assign(w=w), weights="w", **GRID)
    repeated = quiet("y ~ a + b", DATA.loc[np.repeat(np.arange(len(DATA)), w)].reset_index(drop=True), **GRID)
    pd.testing.assert_frame_equal(weighted.table, repeated.table, rtol=TOL_SAME)


def test_copies_share_a_fold_and_rows_of_weight_zero_have_none():
    data = pd.concat([DATA, DATA.head(20)], ignore_index=True).assign(w=1.0)
    data.loc[30, "w"] = 0.0
    fold = quiet("y ~ a + b", data, weights="w", criterion="kfold", rng=2, C=[1], gamma=[1]).fold
    np.testing.assert_array_equal(fold[:20], fold[80:])
    assert fold[30] == -1 and set(fold.drop(30)) == set(range(5))


@pytest.mark.parametrize("score", ["error", "weighted_error"])
def test_errors_by_hand(score):
    found = quiet("y ~ a + b", DATA, criterion="kfold", rng=4, score=score, class_weight={"yes": 3}, C=2, gamma=0.5)
    wrong, weight = np.zeros(len(DATA), bool), np.where(DATA["y"] == "yes", 3.0, 1.0)
    centred = DATA[["a", "b"]]
    scaled = DATA.assign(**((centred - centred.mean()) / centred.std()))
    for k in range(5):
        out = (found.fold == k).to_numpy()
        fit = svm("y ~ a + b", scaled[~out], class_weight={"yes": 3}, C=2, gamma=0.5, scale=False)
        wrong[out] = fit.predict(scaled[out]) != scaled["y"][out]
    assert found.best_row["error"] == pytest.approx(wrong.mean())
    expected = wrong.mean() if score == "error" else weight @ wrong / weight.sum()
    assert found.best_row["score"] == pytest.approx(expected)


def test_rng_alone_decides_the_folds():
    folds = [quiet("y ~ a + b", DATA, criterion="kfold", rng=rng, C=1, gamma=1).fold for rng in (1, 1, 2)]
    pd.testing.assert_series_equal(folds[0], folds[1])
    assert not folds[0].equals(folds[2])


def test_default_grids():
    found = quiet("y ~ a + b", DATA, criterion="kfold", rng=1)
    assert (found.table["C"].nunique(), found.table["gamma"].nunique()) == (10, 8)
    scale = svm("y ~ a + b", DATA).kernel_parameters["gamma"]
    assert np.isclose(found.table["gamma"], scale).any()
    assert list(quiet("y ~ a + b", DATA, criterion="kfold", rng=1, kernel="linear").table)[:2] == ["C", "score"]


def test_names_in_a_grid_of_gamma():
    found = quiet("y ~ a + b", DATA, criterion="kfold", rng=1, C=1, gamma=["scale", "median", 3])
    for gamma in ("scale", "median", 3):
        assert svm("y ~ a + b", DATA, gamma=gamma).kernel_parameters["gamma"] in set(found.table["gamma"])


def test_the_edge_is_told():
    with pytest.warns(GridWarning, match=r"the best C = \S+ is the (smallest|largest) of its grid") as caught:
        tune("y ~ a + b", DATA, C=[0.001, 1000.0], gamma=0.001, criterion="kfold", rng=0)
    assert len(caught) == 1  # gamma has a single value
    assert caught[0].filename == __file__


def test_points_without_a_score_are_told_and_never_the_best(monkeypatch):
    def fails_at_two(criterion, machine, sample, n_jobs):
        return failed("as ordered", 1.0) if machine.C == 2.0 else original(criterion, machine, sample, n_jobs)

    original = LeaveOneOut.score
    monkeypatch.setattr(LeaveOneOut, "score", fails_at_two)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = tune("y ~ a + b", DATA, C=[1.0, 2.0, 4.0], gamma=0.5)
    assert "1 of 3 grid points could not be scored" in str(caught[-1].message)
    row = found.table.set_index("C").loc[2.0]
    assert np.isnan(row["score"]) and (row["status"], row["reason"]) == ("failed", "as ordered")
    assert found.best_params["C"] != 2.0 and found.n_failed == 1
    assert "1 grid points could not be scored" in str(found)


def test_a_lost_class_everywhere_is_an_error():
    data = DATA.assign(y=["yes", *["no"] * (len(DATA) - 1)])
    with pytest.raises(DataError, match=r"no point of the grid could be scored; .* left without a class"):
        tune("y ~ a + b", data, **GRID)


# -- criteria of the fit to all rows -----------------------------------------------------------------------------------

STAKES = [
    {},
    {"costs": {"fp": 1, "fn": 4}},
    {"weights": np.resize([1.0, 0.5, 2.0, 0.0], 80), "priors": {"no": 0.7, "yes": 0.3}},
]


def criteria(fit, truth=TRUTH):
    """What a fit itself says, by name."""
    f, w = fit.decision_values.to_numpy(), fit.frame.weights
    found = {"loo_loss": fit.loo().mean_loss, "gckl": gckl(f, truth, w, fit.machine.pairs[0].loss)}
    return found | ({"gacv": fit.gacv()} if fit.loss == "hinge" else {})


@pytest.mark.parametrize("stakes", STAKES, ids=", ".join)
@pytest.mark.parametrize(
    ("criterion", "further"), [("gacv", ["loo_loss", "gckl"]), ("gckl", ("gacv",)), ("loo", ["gckl", "gacv", "gckl"])]
)
def test_criteria_of_every_point_are_those_of_the_fit(criterion, further, stakes):
    found = quiet("y ~ a + b", DATA, criterion=criterion, score="loss", further=further, truth=TRUTH, **stakes, **GRID)
    named = tuple(dict.fromkeys(further))
    assert found.plan.further == named
    columns = ["C", "gamma", "score", "score_se", "error", "n_support", *named, "status", "reason"]
    assert list(found.table) == columns and len(found.table) == 9
    for row in found.table.itertuples():
        fit = svm("y ~ a + b", DATA, C=row.C, gamma=row.gamma, **stakes)
        expected = criteria(fit)
        assert row.score == pytest.approx(expected["loo_loss" if criterion == "loo" else criterion], rel=TOL_SAME)
        for name in named:
            assert getattr(row, name) == pytest.approx(expected[name], rel=TOL_SAME)
        if criterion != "loo":
            assert np.isnan(row.score_se) and row.error == pytest.approx(fit.apparent_error)
        assert row.n_support == pytest.approx(fit.n_support["total"].sum()) and row.status == "ok"
    least = found.table.loc[found.table["score"].idxmin()]
    assert found.best_params == {"C": least["C"], "gamma": least["gamma"]}
    assert found.best_row["score"] == least["score"]


@pytest.mark.parametrize("criterion", ["loo", "gckl"])
def test_the_p0_loss_has_all_criteria_but_gacv(criterion):
    options = {"loss": "p0", "costs": {"fp": 3, "fn": 1}, "C": [0.5, 2.0, 8.0], "gamma": 0.5}
    found = quiet("y ~ a + b", DATA, criterion=criterion, further=["loo_loss", "gckl"], truth=TRUTH, **options)
    for row in found.table.itertuples():
        expected = criteria(svm("y ~ a + b", DATA, **options | {"C": row.C}))
        assert (row.loo_loss, row.gckl) == pytest.approx((expected["loo_loss"], expected["gckl"]), rel=TOL_SAME)


def test_further_criteria_do_not_change_the_choice():
    plain = quiet("y ~ a + b", DATA, **GRID)
    more = quiet("y ~ a + b", DATA, further=["gacv", "loo_loss", "gckl"], truth=TRUTH, **GRID)
    pd.testing.assert_frame_equal(more.table[list(plain.table)], plain.table, check_exact=True)
    assert more.best_params == plain.best_params


@pytest.mark.parametrize("criterion", ["gacv", "gckl"])
def test_order_workers_and_weights_do_not_matter_either(criterion):
    w = np.resize([1, 2, 1, 0], 80)
    options = {"criterion": criterion, "truth": "p" if criterion == "gckl" else None, **GRID}
    data = DATA.assign(p=TRUTH, w=w)
    one = quiet("y ~ a + b", data, weights="w", **options)
    two = quiet("y ~ a + b", data, weights="w", n_jobs=2, **options)
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    turned = quiet("y ~ a + b", data[::-1], weights="w", **options | {"C": [8.0, 2.0, 0.5]})
    pd.testing.assert_frame_equal(one.table, turned.table, rtol=TOL_SAME)
    repeated = quiet("y ~ a + b", data.loc[data.index.repeat(w)].reset_index(drop=True), **options)
    pd.testing.assert_frame_equal(one.table, repeated.table, rtol=TOL_SAME)


def gappy():
    """Rows that are dropped and rows outside a subset, with a truth there that is no probability."""
    data = DATA.assign(p=TRUTH).set_axis([f"r{k}" for k in range(80)])
    data.loc["r5", "a"] = np.nan
    data.loc["r5", "p"] = np.nan
    data.loc[data["b"] > 0.8, "p"] = -1.0
    return data


@pytest.mark.parametrize(
    "truth", ["p", gappy()["p"], gappy()["p"].to_numpy(), list(gappy()["p"])], ids=["column", "series", "array", "list"]
)
def test_the_truth_of_the_rows_that_are_used(truth):
    data = gappy()
    found = quiet("y ~ a + b", data, criterion="gckl", truth=truth, subset="b <= 0.8", C=[1.0, 2.0], gamma=0.5)
    used = data[data["b"] <= 0.8].dropna()
    assert len(used) < 70
    for row in found.table.itertuples():
        expected = criteria(svm("y ~ a + b", used, C=row.C, gamma=0.5), used["p"].to_numpy())
        assert row.score == pytest.approx(expected["gckl"], rel=TOL_SAME)


def test_the_column_of_the_truth_is_no_predictor():
    found = quiet("y ~ .", DATA.assign(p=TRUTH), criterion="gckl", truth="p", C=[1.0], gamma=0.5)
    assert found.best.formula == "y ~ a + b"


def test_a_point_that_cannot_be_certified_has_no_criterion(monkeypatch):
    statuses = type("Status", (), {"CERTIFIED": None})
    monkeypatch.setattr("svmstat.tuning.criteria.Status", statuses)
    with pytest.raises(DataError, match="no point of the grid could be scored; the first: the fit is not certified"):
        tune("y ~ a + b", DATA, criterion="gacv", C=[1.0, 2.0], gamma=0.5)


def test_a_row_that_takes_its_class_along():
    """GACV needs no row left out, V₀ does: NaN in its column."""
    data = DATA.assign(y=["yes", *["no"] * 79])
    found = quiet("y ~ a + b", data, criterion="gacv", further=["loo_loss"], C=[1.0, 2.0], gamma=0.5)
    assert found.table["score"].notna().all() and found.table["loo_loss"].isna().all()
    ax = found.plot_criteria()
    ax.figure.canvas.draw()
    matplotlib.pyplot.close(ax.figure)


@pytest.mark.parametrize(("criterion", "name"), [("gacv", "GACV"), ("gckl", "GCKL")])
def test_what_a_criterion_of_the_whole_fit_says_of_itself(criterion, name):
    truth = TRUTH if criterion == "gckl" else None
    found = quiet("y ~ a + b", DATA, criterion=criterion, truth=truth, **GRID)
    assert found.score_name == name
    text = str(found)
    assert f"The score is the {name}." in text
    assert "Apparent error" in text and "standard error" not in text and "held-out" not in text
    assert quiet("y ~ a + b", DATA, score="loss", C=1, gamma=1).score_name == "leave-one-out loss"


@pytest.mark.parametrize("along", ["C", "gamma"])
def test_plot_of_criteria(along):
    further = ["loo_loss", "gckl"]
    found = quiet("y ~ a + b", DATA, criterion="gacv", further=further, truth=TRUTH, **GRID)
    ax = found.plot_criteria(along)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["GACV", "leave-one-out loss V0", "GCKL"]
    held = "gamma" if along == "C" else "C"
    line = found.table[found.table[held] == found.best_params[held]]
    curves = [each for each in ax.lines if each.get_marker() != "o"]
    for curve, name in zip(curves, ["score", *further], strict=True):
        np.testing.assert_allclose(curve.get_xydata(), np.column_stack([np.log2(line[along]), line[name]]))
    dots = [each.get_xydata()[0] for each in ax.lines if each.get_marker() == "o"]
    np.testing.assert_allclose(dots[0], [np.log2(found.best_params[along]), found.best_row["score"]])
    assert ax.get_xlabel() == f"log2 {along}"
    assert f"{held} = {found.best_params[held]:.4g}" in ax.get_title("left")
    assert found.plot_criteria(along, ax) is ax
    matplotlib.pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("grid", "along", "message"),
    [
        (GRID, "degree", "along='degree' is not allowed: it must be one of 'C', 'gamma'"),
        (GRID, None, "along=None is not allowed: it must be one of 'C', 'gamma'"),
        ({"C": [1, 2], "gamma": 1}, "gamma", "along='gamma' is not allowed: it must be one of 'C'."),
        ({"C": 1, "gamma": [1, 2]}, "C", "along='C' is not allowed: it must be one of 'gamma'."),
    ],
)
def test_criteria_along_a_parameter_that_does_not_vary(grid, along, message):
    found = quiet("y ~ a + b", DATA, criterion="gacv", **grid)
    with pytest.raises(ArgumentError) as caught:
        found.plot_criteria(along)
    assert message in str(caught.value)


def test_criteria_where_nothing_varies():
    """The message says what is allowed, not an empty list."""
    found = quiet("y ~ a + b", DATA, criterion="gacv", C=1, gamma=1)
    with pytest.raises(ArgumentError) as caught:
        found.plot_criteria()
    assert "one of ." not in str(caught.value)


# -- bad input ---------------------------------------------------------------------------------------------------------

BAD = [
    ({"C": []}, ArgumentError, "C=[] is not allowed: it must be one value or several"),
    ({"C": [1, 0]}, ArgumentError, "C[1]=0 is not allowed: it must be a finite number > 0."),
    ({"C": [1, np.nan]}, ArgumentError, "C[1]=nan is not allowed"),
    ({"C": -1}, ArgumentError, "C=-1 is not allowed"),
    ({"C": {"a": 1}}, ArgumentError, "C={'a': 1} is not allowed"),
    ({"C": [[1, 2]]}, ArgumentError, "C[0]=[1, 2] is not allowed"),
    ({"gamma": [0.1, "scales"]}, ArgumentError, "gamma[1]='scales' is not allowed"),
    ({"gamma": [np.inf]}, ArgumentError, "gamma[0]=inf is not allowed"),
    ({"kernel": "poly", "degree": [2, 2.5]}, ArgumentError, "degree[1]=2.5 is not allowed"),
    ({"kernel": "poly", "coef0": [np.nan]}, ArgumentError, "coef0[0]=nan is not allowed"),
    ({"degree": [2, 3]}, ArgumentError, "degree=[2, 3] is not allowed: it must be left out: kernel='rbf' has no"),
    ({"kernel": "linear", "gamma": 1}, ArgumentError, "kernel='linear' has no gamma"),
    ({"kernel": lambda X, Z: X @ Z.T, "gamma": 1}, ArgumentError, "kernel=a function has no gamma"),
    ({"kernel": "rfb"}, ArgumentError, "did you mean 'rbf'?"),
    ({"criterion": "aic"}, ArgumentError, "criterion='aic' is not allowed: it must be one of 'loo', 'kfold'"),
    ({"search": "random"}, ArgumentError, "search='random' is not allowed"),
    ({"score": "auc"}, ArgumentError, "score='auc' is not allowed"),
    ({"folds": 1}, ArgumentError, "folds=1 is not allowed: it must be an integer >= 2"),
    ({"criterion": "kfold", "folds": 60}, DataError, "folds=60 needs 60 different rows of each level"),
    ({"rng": "x"}, ArgumentError, "rng='x' is not allowed"),
    ({"n_jobs": 0}, ArgumentError, "n_jobs=0 is not allowed"),
    ({"progress": 1}, ArgumentError, "progress=1 is not allowed"),
    ({"loss": "huber"}, ArgumentError, "loss='huber' is not allowed"),
    ({"subset": 3}, ArgumentTypeError, "subset"),
    ({"criterion": "gcv"}, ArgumentError, "criterion='gcv' is not allowed: it must be one of 'loo', 'kfold', 'gacv'"),
    ({"criterion": "gckl"}, ArgumentError, "truth=None is not allowed: it must be the true probabilities"),
    ({"further": ["gckl"]}, ArgumentError, "truth=None is not allowed: it must be the true probabilities"),
    ({"truth": TRUTH}, ArgumentError, "truth is used for GCKL only: give criterion='gckl' or further=['gckl']"),
    ({"truth": TRUTH, "criterion": "gacv"}, ArgumentError, "truth is used for GCKL only"),
    ({"criterion": "gckl", "truth": "q"}, ArgumentError, "truth='q' is not allowed: it must be the name of a column"),
    ({"criterion": "gckl", "truth": "y"}, ArgumentError, "truth (column 'y') hold text: they must be probabilities."),
    ({"criterion": "gckl", "truth": "a"}, ArgumentError, "it must be a probability in [0, 1]."),
    ({"criterion": "gckl", "truth": TRUTH[:79]}, ArgumentError, "truth has 79 values for 80 rows of data."),
    ({"criterion": "gckl", "truth": TRUTH + 1}, ArgumentError, "in row 0: it must be a probability in [0, 1]."),
    ({"criterion": "gckl", "truth": -TRUTH}, ArgumentError, "in row 0: it must be a probability in [0, 1]."),
    ({"criterion": "gckl", "truth": TRUTH * np.nan}, ArgumentError, "truth holds nan in row 0"),
    ({"criterion": "gckl", "truth": 0.5}, ArgumentTypeError, "truth is of type float: it must be one value for each"),
    ({"criterion": "gacv", "loss": "p0"}, ArgumentError, "loss='p0' is not allowed: it must be 'hinge' where GACV"),
    ({"further": ["gacv"], "loss": "p0"}, ArgumentError, "loss='p0' is not allowed: it must be 'hinge' where GACV"),
    ({"further": "gacv"}, ArgumentError, "further='gacv' is not allowed: it must be a sequence of 'gacv', 'loo_loss'"),
    (
        {"further": ["gavc"]},
        ArgumentError,
        "further='gavc' is not allowed: it must be one of 'gacv', 'loo_loss', 'gckl'",
    ),
    ({"further": [1]}, ArgumentError, "further=1 is not allowed"),
    ({"further": None}, ArgumentError, "further=None is not allowed"),
    ({"further": ["gacv"], "criterion": "kfold"}, ArgumentError, "it must be left out with criterion='kfold'"),
    ({"score": "hinge"}, ArgumentError, "score='hinge' is not allowed: it must be one of 'deviance', 'error', 'weigh"),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(
    ("arguments", "error", "message"), BAD, ids=[str(case[0])[:40].partition(" at 0x")[0] for case in BAD]
)
def test_bad_input_is_one_error_before_anything_is_solved(arguments, error, message):
    with pytest.raises(error) as caught:
        tune("y ~ a + b", DATA, **arguments)
    assert message in str(caught.value)


def test_an_unknown_keyword():
    with pytest.raises(TypeError, match="cost"):
        tune("y ~ a + b", DATA, cost=1)


def test_plot_of_two_parameters():
    found = quiet("y ~ a + b", DATA, criterion="kfold", rng=1, **GRID)
    ax = found.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("log2 C", "log2 gamma")
    marked = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "o"]
    assert marked == [[[np.log2(found.best_params["C"]), np.log2(found.best_params["gamma"])]]]
    assert f"{found.best_row['score']:.5g}" in ax.get_title(loc="left")
    assert found.plot(ax) is ax
    matplotlib.pyplot.close(ax.figure)


def test_plot_of_lines():
    one = quiet("y ~ a + b", DATA, criterion="kfold", rng=1, kernel="linear", C=[1, 2, 4])
    ax = one.plot()
    np.testing.assert_allclose(ax.lines[0].get_xydata(), np.column_stack([[0, 1, 2], one.table["score"]]))
    matplotlib.pyplot.close(ax.figure)
    two = quiet("y ~ a + b", DATA, criterion="kfold", rng=1, kernel="poly", C=[1, 2], degree=[1, 2, 3])
    ax = two.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["degree = 1", "degree = 2", "degree = 3"]
    matplotlib.pyplot.close(ax.figure)


def test_figures_of_the_other_kind_of_search_are_refused_by_name():
    costs = quiet("y ~ a + b", DATA, C=[1.0], gamma=0.5)
    errors = quiet("y ~ a + b", DATA, nu=[0.5, 0.9], gamma=0.5, criterion=minimax(), folds=3, rng=1)
    with pytest.raises(UnavailableError, match=r"plot_roc\(\) is for minimax\(\) and neyman_pearson\(a\)"):
        costs.plot_roc()
    with pytest.raises(UnavailableError, match=r"plot_criteria\(\) is for searches over C"):
        errors.plot_criteria()


def test_without_a_rule_the_best_fit_predicts():
    found = quiet("y ~ a + b", DATA, C=[1.0], gamma=0.5)
    pd.testing.assert_series_equal(found.predict(DATA), found.best.predict(DATA))
    pd.testing.assert_series_equal(found.error_rates(), found.best.error_rates())
