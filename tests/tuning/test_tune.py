"""``tune()``: each point is what ``svm()`` says of it, for any number of levels; trouble told, nothing else chosen."""

import re
import warnings
from dataclasses import replace
from functools import cache
from importlib import import_module

import joblib
import matplotlib
import numpy as np
import pandas as pd
import pytest
from levels import COUPLINGS, matrix, quiet, repeated, sample, standardised

from svmstat import datasets, svm
from svmstat.calibration import fit_platt
from svmstat.diagnostics.gacv import gckl
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, GridWarning, UnavailableError
from svmstat.machine import Contrast
from svmstat.objective.losses import hinge
from svmstat.resampling.unseen import mapped_log_likelihoods
from svmstat.tuning import by_cost, minimax, tune
from svmstat.tuning.sample import LabelledGroups

matplotlib.use("Agg")

FORMULA = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
TOL_SAME = 1e-6  # two certified fits of the same problem, relative

OF_ROWS = ["delta_se", "within_se"]  # where rows are predicted: how each point compares with the best
GRID = {"C": [0.5, 2.0, 8.0], "gamma": [0.1, 0.5, 2.0]}
criteria_of_held_out_rows = pytest.mark.parametrize("criterion", ["loo", "kfold"])


@pytest.fixture
def data(K):
    """72 rows, six of them copies, with weights."""
    return frame(K)


@cache
def frame(K):
    found = sample(K, 72, seed=1).rename(columns={"x": "a", "z": "b"})
    return found.assign(b=found["b"] / 10).round(3)


def test_mackerel_by_leave_one_out():
    grid = {"C": [16, 32, 64], "gamma": [0.125, 0.25, 0.5], "calibration": "insample"}  # as in [003]
    found = tune(FORMULA, datasets.load("mackerel"), **grid)
    assert found.best_params == {"C": 32.0, "gamma": 0.25}
    assert found.best_row["score"] == pytest.approx(474.4, abs=0.05)
    known = found.table.query("C == 16 and gamma == 0.25").iloc[0]
    assert known["score"] == pytest.approx(488.24, abs=0.01)
    assert known["error"] == pytest.approx(0.1625, abs=5e-5)


# -- leave-one-out -----------------------------------------------------------------------------------------------------

WEIGHED = {"weights": np.resize([1.0, 0.5, 2.0, 0.0], 72), "class_weight": {"c": 3.0}}


@pytest.mark.parametrize(
    ("loss", "coupling", "stakes"),
    [("hinge", 0, {}), ("p0", 1, {}), ("hinge", 1, WEIGHED), ("p0", 0, WEIGHED), ("hinge", 0, "priors")],
)
def test_every_point_is_the_leave_one_out_of_its_fit(data, loss, coupling, stakes, K):
    if stakes == "priors":
        levels = sorted(data["y"].unique())
        stakes = {"priors": dict(zip(levels, [0.5, *[0.5 / (K - 1)] * (K - 1)], strict=True))}
    options = {"loss": loss, "coupling": COUPLINGS[coupling], **stakes}
    found = quiet("y ~ a + b", data, **GRID, **options)
    columns = ["C", "gamma", "score", "score_se", *OF_ROWS, "error", "n_support", "status", "reason"]
    assert list(found.table) == columns and len(found.table) == 9
    assert found.table[["C", "gamma"]].to_numpy().tolist() == [[C, g] for C in GRID["C"] for g in GRID["gamma"]]
    for row in found.table.itertuples():
        fit = svm("y ~ a + b", data, C=row.C, gamma=row.gamma, **options)
        loo = fit.loo()
        got = (row.score, row.score_se, row.error)
        np.testing.assert_allclose(got, (loo.score, loo.score_se, loo.error_rate), rtol=TOL_SAME)
        assert row.n_support == fit.frame.weights[fit.support].sum()
        assert (row.status, row.reason) == ("ok", "")
    least = found.table.loc[found.table["score"].idxmin()]
    assert found.best_params == {"C": least["C"], "gamma": least["gamma"]}
    assert found.best_row.equals(least) and found.score_name == "leave-one-out deviance"
    assert found.fold is None and found.n_failed == 0
    if "priors" in stakes:
        assert found.best.priors == pytest.approx(stakes["priors"])


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "spline"])
def test_points_of_other_kernels(data, kernel):
    given = {"rbf": {"gamma": 0.7}, "poly": {"gamma": 0.3, "degree": [1, 2], "coef0": 1.0}}.get(kernel, {})
    found = quiet("y ~ a + b", data, kernel=kernel, C=[1, 4], **given)
    assert len(found.table) == (4 if kernel == "poly" else 2)
    assert set(found.best_params) == {"C", *given}
    for row in found.table.to_dict("records"):
        named = {name: row[name] for name in found.best_params}
        named |= {"degree": int(row["degree"])} if kernel == "poly" else {}
        loo = svm("y ~ a + b", data, kernel=kernel, **named).loo()
        got = (row["score"], row["score_se"], row["error"])
        np.testing.assert_allclose(got, (loo.score, loo.score_se, loo.error_rate), rtol=TOL_SAME)
    same = svm("y ~ a + b", data, kernel=kernel, **found.best_params)
    np.testing.assert_array_equal(found.best.decision_values, same.decision_values)


def test_points_of_a_gram_matrix(data):
    X = standardised(data, ("a", "b"))[["a", "b"]].to_numpy()
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    found = quiet("y ~ .", pd.DataFrame(K).add_prefix("k").assign(y=data["y"]), kernel="precomputed", C=[1, 4])
    named = quiet("y ~ a + b", data, C=[1, 4], gamma=0.5)
    columns = ["C", "score", "score_se", "error", "n_support"]
    pd.testing.assert_frame_equal(found.table[columns], named.table[columns], rtol=TOL_SAME)


@pytest.mark.parametrize("score", ["error", "weighted_error"])
def test_errors_of_left_out_rows(data, score):
    w = np.resize([1.0, 2.0, 0.0, 1.0], 72)
    found = quiet("y ~ a + b", data, score=score, weights=w, class_weight={"b": 4.0}, **GRID)
    L = np.where(data["y"] == "b", 4.0, 1.0)
    for row in found.table.itertuples():
        fit = svm("y ~ a + b", data, weights=w, class_weight={"b": 4.0}, C=row.C, gamma=row.gamma)
        wrong = fit.loo().error
        expected = w @ wrong / w.sum() if score == "error" else (w * L) @ wrong / (w @ L)
        assert row.score == pytest.approx(expected) and row.error == pytest.approx(w @ wrong / w.sum())
    assert found.score_name == f"leave-one-out {score.replace('_', ' ')}"


def test_what_is_done_to_its_answers_changes_nothing(data):
    found = quiet("y ~ a + b", data, **GRID)
    said, row = str(found), found.best_row
    table, params = found.table, found.best_params
    table["score"] = 0.0
    params["C"] = 77.0
    assert str(found) == said and found.best_params["C"] != 77.0
    pd.testing.assert_series_equal(found.best_row, row)


def test_of_equal_scores_the_smallest_parameters_are_taken(data):
    """Levels far apart: no error anywhere."""
    far = data.assign(a=10.0 * data["y"].map("abcdef".index) + 0.1 * data["a"])
    found = quiet("y ~ a", far, score="error", C=[8.0, 2.0, 4.0], gamma=[20.0, 5.0, 10.0])
    assert (found.table["score"] == 0).all()
    assert found.best_params == {"C": 2.0, "gamma": 5.0}
    assert found.best_row.name == 0


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_the_best_is_the_fit_of_svm_digit_by_digit(data, coupling, K):
    options = {"class_weight": "balanced", "coupling": coupling, "calibration": "loo"}
    options |= {"event": "b"} if K == 2 else {}
    found = quiet("y ~ a + b", data, **GRID, **options)
    same = svm("y ~ a + b", data, **options, **found.best_params)
    for name in ("decision_values", "fittedvalues", "alpha"):
        assert getattr(found.best, name).equals(getattr(same, name))
    assert found.best.calibration.kind == "loo" and found.best.class_weight == same.class_weight
    assert found.best.event == ("b" if K == 2 else None)
    assert K == 2 or found.best.coupling == coupling
    plain = quiet("y ~ a + b", data, **GRID, **options | {"calibration": "insample"})
    assert (found.table["score"] != plain.table["score"]).all()
    pd.testing.assert_series_equal(found.table["error"], plain.table["error"], check_exact=True)
    assert found.best_row["score"] == pytest.approx(found.best.loo().score, rel=1e-6)


@pytest.mark.parametrize("calibration", ["auto", "venn-abers"])
def test_k_fold_deviance_by_the_map_of_the_other_rows(data, calibration, K):
    """Each row by the map of the held-out values of the others; of two levels one by one."""
    found = quiet("y ~ a + b", data, criterion="kfold", folds=4, rng=4, C=[1.0], gamma=[0.5], calibration=calibration)
    fold, scaled = found.fold, standardised(data, ("a", "b"))
    fits = [svm("y ~ a + b", scaled[fold != which], C=1.0, gamma=0.5, scale=False) for which in range(4)]
    f = np.concatenate([matrix(fit.decision_function(scaled[fold == which])) for which, fit in enumerate(fits)])
    rows = np.concatenate([np.flatnonzero(fold == which) for which in range(4)])
    codes, pairs = pd.factorize(data["y"], sort=True)[0][rows], fits[0].machine.classes
    contrasts = tuple(Contrast(i, j, hinge()) for i, j in pairs)
    labelled = LabelledGroups(codes, np.ones(len(rows)), contrasts)
    kind = "loo" if calibration == "auto" else calibration
    each = mapped_log_likelihoods(labelled, f, "wu-lin-weng", kind)
    assert found.best_row["score"] == pytest.approx(-2 * each.sum(), rel=1e-5)
    if K > 2 or kind == "venn-abers":
        return
    y = np.where(codes == pairs[0, 0], 1.0, -1.0)
    for k in range(0, len(y), 9):
        other = np.arange(len(y)) != k
        platt = fit_platt(f[other, 0], y[other], np.ones(len(y) - 1), "loo")
        assert each[k] == pytest.approx(platt.log_likelihoods(f[k], y[k])[0], rel=1e-7)


# -- k-fold ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_k_fold_by_hand(data, coupling):
    stakes, grid = {"class_weight": {"b": 3.0}, "coupling": coupling}, {"C": [0.5, 2.0], "gamma": [0.1, 2.0]}
    stakes["calibration"] = "insample"
    scores = ("deviance", "error", "weighted_error")
    by_score = {
        score: quiet("y ~ a + b", data, criterion="kfold", folds=4, rng=4, score=score, **stakes, **grid)
        for score in scores
    }
    L, fold, scaled = np.where(data["y"] == "b", 3.0, 1.0), by_score["error"].fold, standardised(data, ("a", "b"))
    for k, (C, gamma) in enumerate((C, gamma) for C in grid["C"] for gamma in grid["gamma"]):
        own, wrong, n_support = np.zeros(72), np.zeros(72, bool), []
        for which in range(4):
            out = (fold == which).to_numpy()
            fit = svm("y ~ a + b", scaled[~out], C=C, gamma=gamma, scale=False, **stakes)
            p = fit.predict_proba(scaled[out])
            own[out] = [p.loc[i, level] for i, level in data["y"][out].items()]
            wrong[out] = fit.predict(scaled[out]) != data["y"][out]
            n_support.append(len(fit.support))
        mean = {"error": wrong.mean(), "weighted_error": L @ wrong / L.sum(), "deviance": -2 * np.log(own).sum()}
        se = {
            "error": np.sqrt(wrong.var(ddof=1) / 72),
            "weighted_error": np.sqrt(72 / 71 * ((L * (wrong - mean["weighted_error"])) ** 2).sum()) / L.sum(),
            "deviance": 2 * np.sqrt(72 * np.log(own).var(ddof=1)),
        }
        for score in scores:
            row = by_score[score].table.iloc[k]
            assert (row["C"], row["gamma"]) == (C, gamma)
            assert row["score"] == pytest.approx(mean[score], rel=1e-5)
            assert row["error"] == pytest.approx(wrong.mean())
            assert row["n_support"] == pytest.approx(np.mean(n_support))
            assert row["score_se"] == pytest.approx(se[score], rel=1e-5)
            assert by_score[score].score_name == f"k-fold {score.replace('_', ' ')}"


def test_folds_hold_the_same_share_of_each_level(data, K):
    data = data[:66]  # without the copies
    found = quiet("y ~ a + b", data, criterion="kfold", folds=4, rng=1, C=1, gamma=1)
    counts = pd.crosstab(found.fold, data["y"])
    assert counts.shape == (4, K)
    assert (counts.max() - counts.min() <= 1).all()
    assert found.fold.index.equals(data.index) and found.fold.name == "fold"


def test_k_fold_with_weights(data):
    """A row of weight two is that row twice: the copies share a fold, so the folds are given to both."""
    w = data["w"].to_numpy()
    weighted = quiet("y ~ a + b", data, weights="w", criterion="kfold", folds=4, rng=2, **GRID)
    copied = quiet("y ~ a + b", repeated(data), criterion="kfold", folds=4, rng=2, **GRID)
    pd.testing.assert_frame_equal(weighted.table, copied.table, rtol=TOL_SAME)
    assert (weighted.fold[w == 0] == -1).all() and set(weighted.fold[w > 0]) == set(range(4))
    both = (w[:6] > 0) & (w[-6:] > 0)
    np.testing.assert_array_equal(weighted.fold[:6][both], weighted.fold[-6:][both])
    np.testing.assert_array_equal(np.repeat(weighted.fold[w > 0], w[w > 0]), copied.fold)


def test_rng_alone_decides_the_folds(data, K):
    seven = data[:66].groupby("y").head(7)
    one, same, other = (quiet("y ~ a + b", seven, criterion="kfold", folds=7, rng=rng, **GRID) for rng in (1, 1, 2))
    assert np.bincount(one.fold).tolist() == [K] * 7
    assert (one.table["score"] > 0).all()
    assert not one.fold.equals(other.fold)
    assert not np.allclose(one.table["score"], other.table["score"])
    pd.testing.assert_series_equal(one.fold, same.fold)
    pd.testing.assert_frame_equal(same.table, one.table, check_exact=True)


# -- what does not matter ----------------------------------------------------------------------------------------------


@cache
def reference(K, criterion):
    return quiet("y ~ a + b", frame(K), criterion=criterion, rng=1, n_jobs=1, **GRID)


@criteria_of_held_out_rows
@pytest.mark.parametrize("how", [{"n_jobs": 2}, {"n_jobs": 3}, {"backend": "loky"}, {"gamma": 0.5}], ids=str)
def test_workers_do_not_matter(data, criterion, how, K):
    one = reference(K, criterion).table
    grid = {**GRID, "gamma": how.get("gamma", GRID["gamma"])}
    with joblib.parallel_config(how.get("backend", "threading"), n_jobs=2):
        two = quiet("y ~ a + b", data, criterion=criterion, rng=1, n_jobs=how.get("n_jobs"), **grid).table
    if "gamma" in how:  # a single kernel, whose points are computed in another way
        one = one[one["gamma"] == 0.5].reset_index(drop=True)
        one, two = (table.drop(columns=OF_ROWS) for table in (one, two))  # another best point
    pd.testing.assert_frame_equal(one, two, check_exact=True)


@criteria_of_held_out_rows
def test_order_of_the_grid_and_of_the_rows_does_not_matter(data, criterion, K):
    one = reference(K, criterion)
    turned = {name: values[::-1] + values[:1] for name, values in GRID.items()}
    two = quiet("y ~ a + b", data, criterion=criterion, rng=1, **turned)
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    other = quiet("y ~ a + b", data.sample(frac=1, random_state=1), criterion=criterion, rng=1, **GRID)
    pd.testing.assert_frame_equal(one.table, other.table, rtol=TOL_SAME)


def test_a_point_does_not_depend_on_its_neighbours(data, K):
    """On a path each cost sets off where the last one ended."""
    alone = quiet("y ~ a + b", data, C=8.0, gamma=0.5).table
    row = reference(K, "loo").table.query("C == 8 and gamma == 0.5").reset_index(drop=True)
    pd.testing.assert_frame_equal(row.drop(columns=OF_ROWS), alone.drop(columns=OF_ROWS), rtol=TOL_SAME)


def test_a_weight_of_two_is_the_row_twice(data):
    weighted = quiet("y ~ a + b", data, weights="w", **GRID)
    copied = quiet("y ~ a + b", repeated(data), **GRID)
    pd.testing.assert_frame_equal(weighted.table, copied.table, rtol=TOL_SAME)


@pytest.mark.parametrize("K", [2, 3], ids=["two", "three"])
def test_default_grids(data, K):
    found = quiet("y ~ a + b", data, criterion="kfold", folds=2, rng=1)
    assert (found.table["C"].nunique(), found.table["gamma"].nunique(), len(found.table)) == (10, 8, 80)
    assert np.isclose(found.table["gamma"], svm("y ~ a + b", data).kernel_parameters["gamma"]).any()
    linear = quiet("y ~ a + b", data, criterion="kfold", folds=2, rng=1, kernel="linear")
    assert list(linear.table)[:2] == ["C", "score"]


def test_names_in_a_grid_of_gamma(data):
    found = quiet("y ~ a + b", data, criterion="kfold", folds=2, rng=1, C=1, gamma=["scale", "median", 3])
    for gamma in ("scale", "median", 3):
        assert svm("y ~ a + b", data, gamma=gamma).kernel_parameters["gamma"] in set(found.table["gamma"])


# -- what is told ------------------------------------------------------------------------------------------------------


@criteria_of_held_out_rows
def test_the_edge_is_told(data, criterion):
    with pytest.warns(GridWarning, match=r"the best C = \S+ is the (smallest|largest) of its grid") as caught:
        tune("y ~ a + b", data, C=[0.001, 1000.0], gamma=0.001, criterion=criterion, rng=0)
    assert len(caught) == 1  # gamma has a single value
    assert caught[0].filename == __file__


def left_out_as(monkeypatch, change):
    """What leaving rows out tells of a machine is changed."""
    module = import_module("svmstat.tuning.criteria")
    original = module.leave_one_out

    def changed(machine, maps, **how):
        return change(machine, original(machine, maps, **how))

    monkeypatch.setattr(module, "leave_one_out", changed)


def test_points_without_a_score_are_told_and_never_the_best(data, monkeypatch):
    lost = np.arange(72) < 2
    left_out_as(
        monkeypatch,
        lambda machine, found: replace(found, winner=np.where(lost, -1, found.winner)) if machine.C == 2.0 else found,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = tune("y ~ a + b", data, C=[1.0, 2.0, 4.0], gamma=0.5)
    assert "1 of 3 points could not be scored" in str(caught[-1].message)
    row = found.table.set_index("C").loc[2.0]
    assert np.isnan(row["score"]) and np.isnan(row["error"]) and row["status"] == "failed"
    assert row["reason"] == "2 of 72 deletions left without a class"
    assert found.best_params["C"] != 2.0 and found.n_failed == 1
    assert "1 grid point could not be scored" in str(found)


@pytest.mark.parametrize("score", ["deviance", "error"])
def test_a_map_that_does_not_converge_matters_for_the_deviance_only(data, monkeypatch, score):
    left_out_as(monkeypatch, lambda _, found: replace(found, calibrated=found.calibrated & (np.arange(72) != 5)))
    if score == "deviance":
        with pytest.raises(DataError, match="the first: 1 of 72 deletions without a converged Platt map"):
            tune("y ~ a + b", data, C=[1.0, 2.0], gamma=0.5, score=score)
    else:
        assert quiet("y ~ a + b", data, C=[1.0, 2.0], gamma=0.5, score=score).n_failed == 0


@pytest.mark.parametrize(
    ("criterion", "n_levels"), [(each, n) for each in ("loo", "kfold") for n in (2, 3, 6)] + [("gacv", 2)]
)
def test_a_point_that_is_not_certified_has_no_score(monkeypatch, criterion, n_levels):
    if criterion != "kfold":
        monkeypatch.setattr("svmstat.tuning.criteria.Status", type("Status", (), {"CERTIFIED": None}))
        message = "the fit is not certified, rounding hides too much of f"  # since the violation meets the tolerance
    else:
        module = import_module("svmstat.tuning.cost_search")
        original = module.hold_out
        monkeypatch.setattr(module, "hold_out", lambda *g: replace(original(*g), certified=np.zeros(2, bool)))
        message = "fold 1: not certified; fold 2: not certified"
    with pytest.raises(DataError, match=f"no point of the grid could be scored; the first: {message}"):
        tune("y ~ a + b", frame(n_levels), C=[1.0, 2.0], gamma=0.5, criterion=criterion, folds=2, rng=1)


def test_a_fit_beyond_the_tolerance_tells_its_violation(monkeypatch):
    monkeypatch.setattr("svmstat.tuning.criteria.Status", type("Status", (), {"CERTIFIED": None}))
    monkeypatch.setattr("svmstat.tuning.criteria.TOLERANCE", -1.0)
    with pytest.raises(DataError, match="scored; the first: the fit is not certified, its KKT violation is"):
        tune("y ~ a + b", frame(2), C=[1.0, 2.0], gamma=0.5)


def test_a_level_of_one_row_cannot_be_scored_by_leave_one_out(data):
    lonely = data.assign(y=["shark", *data["y"][1:]])
    message = "no point of the grid could be scored; the first: 1 of 72 deletions left without a class."
    with pytest.raises(DataError, match=message):
        tune("y ~ a + b", lonely, C=[1.0, 2.0], gamma=0.5)


def test_summary_and_figure(K):
    found = reference(K, "loo")
    text = str(found)
    for word in ("Grid search", "Best C", "Best gamma", "Error of held-out rows", "leave-one-out deviance"):
        assert word in text
    assert f"{found.best_row['score']:.5g}" in text and max(map(len, text.splitlines())) <= 78
    ax = found.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("log2 C", "log2 gamma")
    marked = [line.get_xydata().tolist() for line in ax.lines if line.get_markersize() == 8]
    assert marked == [[[np.log2(found.best_params["C"]), np.log2(found.best_params["gamma"])]]]
    assert f"{found.best_row['score']:.5g}" in ax.get_title(loc="left")
    assert found.plot(ax) is ax
    matplotlib.pyplot.close(ax.figure)


def test_progress_goes_to_stderr(data, capsys):
    quiet("y ~ a + b", data, C=[1, 2], gamma=[0.5, 1], progress=True)
    captured = capsys.readouterr()
    assert "tune" in captured.err and captured.out == ""


# -- two levels: criteria of the fit to all rows -----------------------------------------------------------------------


def two_levels(n=80, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    y = np.where(X[:, 0] * X[:, 1] + 0.6 * rng.normal(size=n) > 0, "yes", "no")
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


DATA = two_levels()
TRUTH = 1 / (1 + np.exp(-2.5 * DATA["a"].to_numpy() * DATA["b"].to_numpy()))
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
    of_rows = OF_ROWS if criterion == "loo" else []
    columns = ["C", "gamma", "score", "score_se", *of_rows, "error", "n_support", *named, "status", "reason"]
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
    ({"score": "deviances"}, ArgumentError, "did you mean 'deviance'?"),
    ({"folds": 1}, ArgumentError, "folds=1 is not allowed: it must be an integer >= 2"),
    ({"rng": "x"}, ArgumentError, "rng='x' is not allowed"),
    ({"n_jobs": 0}, ArgumentError, "n_jobs=0 is not allowed"),
    ({"progress": 1}, ArgumentError, "progress=1 is not allowed"),
    ({"loss": "huber"}, ArgumentError, "loss='huber' is not allowed"),
    ({"subset": 3}, ArgumentTypeError, "subset"),
    ({"criterion": "gcv"}, ArgumentError, "criterion='gcv' is not allowed: it must be one of 'loo', 'kfold', 'span'"),
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
        "further='gavc' is not allowed: it must be one of 'gacv', 'loo_loss', 'span_loss'",
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


ONLY = "being defined for two levels only: the response 'y' has {K}"
MORE = [
    ({"criterion": "gacv"}, "criterion='gacv' is not allowed: it must be 'loo', 'kfold' or 'span', GACV " + ONLY),
    (
        {"criterion": "gckl", "truth": np.full(72, 0.5)},
        "criterion='gckl' is not allowed: it must be 'loo', 'kfold' or 'span', GCKL " + ONLY,
    ),
    ({"score": "loss"}, "score='loss' is not allowed: it must be another measure, the mean loss " + ONLY),
    ({"score": "loss", "criterion": "kfold"}, "score='loss' is not allowed"),
    ({"further": ["gacv"]}, "further=('gacv',) is not allowed: it must be left out, these criteria " + ONLY),
    ({"further": ["loo_loss"]}, ONLY),
    ({"further": ["gckl"], "truth": np.full(72, 0.5)}, ONLY),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(("arguments", "message"), MORE, ids=[str(case[0])[:40] for case in MORE])
@pytest.mark.parametrize("K", [3, 6], ids=["three", "six"])
def test_criteria_of_two_levels_are_refused_for_more(data, arguments, message, K):
    with pytest.raises(ArgumentError) as caught:
        tune("y ~ a + b", data, **arguments)
    assert message.format(K=K) in str(caught.value)


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize("how", ["folds", "subset", "weights", "copies"])
def test_folds_need_as_many_different_rows_of_each_level(data, how):
    is_b = data["y"] == "b"
    few = is_b & (is_b.cumsum() <= 2)
    data = data.assign(few=few, w=np.where(is_b & ~few, 0.0, 1.0))
    options = {"subset": {"subset": "(y != 'b') | few"}, "weights": {"weights": "w"}}.get(how, {})
    folds, message = (60, "the level '[a-f]' has") if how == "folds" else (3, "the level 'b' has 2")
    if how == "copies":
        data = pd.concat([data[~is_b], *[data[few]] * 5], ignore_index=True)
    with pytest.raises(DataError, match=f"folds={folds} needs {folds} different rows of each level: {message}"):
        tune("y ~ a + b", data, criterion="kfold", folds=folds, **options)


def test_an_unknown_keyword():
    with pytest.raises(TypeError, match="cost"):
        tune("y ~ a + b", DATA, cost=1)


def test_plot_of_lines():
    one = quiet("y ~ a + b", DATA, criterion="kfold", rng=1, kernel="linear", C=[1, 2, 4])
    ax = one.plot()
    np.testing.assert_allclose(ax.lines[0].get_xydata(), np.column_stack([[0, 1, 2], one.table["score"]]))
    matplotlib.pyplot.close(ax.figure)
    two = quiet("y ~ a + b", DATA, criterion="kfold", rng=1, kernel="poly", C=[1, 2], degree=[1, 2, 3])
    ax = two.plot()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:3] == ["degree = 1", "degree = 2", "degree = 3"]
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


def _by_frequencies(found):
    told = re.search(r"class frequencies: +([\d.]+)", str(found))
    return None if told is None else float(told[1])


@pytest.mark.parametrize(
    "options", [{}, {"weights": "w"}, {"weights": "w", "weight_type": "probability"}, {"groups": "g"}]
)
@pytest.mark.parametrize("criterion", ["loo", "kfold", "span"])
def test_the_deviance_of_the_class_frequencies_is_beside_the_score(K, criterion, options):
    if criterion == "span" and (options.keys() & {"groups", "weight_type"}):
        criterion = "loo"
    data = sample(K, 72, seed=4).assign(g=np.arange(72) // 3)
    found = quiet("y ~ x + z", data, C=[1.0, 4.0], gamma=0.5, criterion=criterion, rng=1, **options)
    fit = found.best
    known = fit.loo() if found.fold is None else fit.kfold(found.fold.reindex(data.index, fill_value=-1).to_numpy())
    assert _by_frequencies(found) == pytest.approx(known.null_score, rel=1e-4)
    for other in ({"score": "error"}, {"criterion": "gacv"} if K == 2 and not options else {"score": "error"}):
        assert _by_frequencies(quiet("y ~ x + z", data, C=[1.0, 4.0], gamma=0.5, **options, **other)) is None


def test_a_search_that_finds_nothing_says_so():
    rng = np.random.default_rng(2)
    noise = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc")).assign(y=rng.random(80) < 0.5)
    found = quiet("y ~ a + b + c", noise, C=[1.0, 16.0], gamma=[0.5, 2.0])
    assert found.best_row["score"] >= found.best.loo().null_score * (1 - 1e-9)
    assert "WARNING: no point of the grid predicts better than the class frequencies." in str(found)
    at = by_cost._no_better
    (told,) = at(99.0, 101.0, 100.0)
    assert told == "corrected for the choice, the best point predicts no better than the class frequencies."
    assert at(99.0, None, 100.0) == at(98.0, 99.0, 100.0) == []
