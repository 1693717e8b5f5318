"""``tune()`` on more than two levels: each point is what ``svm()`` says of it, whatever the grid and the workers."""

import warnings
from dataclasses import replace
from functools import cache
from importlib import import_module

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from svmstat import datasets, svm
from svmstat.errors import DataError, GridWarning
from svmstat.tuning import tune

TOL_SAME = 1e-6  # two certified fits of the same problem, relative

LIVER = datasets.load("liver")
ENZYMES = "disease ~ np.log(ast) + np.log(alt) + np.log(gldh)"
COUPLINGS = ("wu-lin-weng", "hastie-tibshirani")


def sample(n=72, seed=1):
    rng = np.random.default_rng(seed)
    codes = np.resize([0, 1, 2, 1], n)
    X = (rng.normal(size=(n, 2)) + np.array([[0.0, 1.5], [1.2, 0.0], [-1.2, -0.4]])[codes]).round(3)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.array(["low", "mid", "high"])[codes]})


DATA = sample()
SCALED = DATA.assign(**((DATA[["a", "b"]] - DATA[["a", "b"]].mean()) / DATA[["a", "b"]].std()))
GRID = {"C": [0.5, 2.0, 8.0], "gamma": [0.1, 0.5, 2.0]}


def quiet(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        return tune(*args, **kwargs)


# Leave-one-out


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("stakes", [{}, {"weights": np.resize([1.0, 0.5, 2.0, 0.0], 72), "class_weight": {"mid": 3.0}}])
@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_every_point_is_the_leave_one_out_of_its_fit(loss, stakes, coupling):
    options = {"loss": loss, "coupling": coupling, **stakes}
    found = quiet("y ~ a + b", DATA, **GRID, **options)
    columns = ["C", "gamma", "score", "score_se", "error", "n_support", "status", "reason"]
    assert list(found.table) == columns and len(found.table) == 9
    assert found.table[["C", "gamma"]].to_numpy().tolist() == [[C, g] for C in GRID["C"] for g in GRID["gamma"]]
    for row in found.table.itertuples():
        fit = svm("y ~ a + b", DATA, C=row.C, gamma=row.gamma, **options)
        loo = fit.loo()
        np.testing.assert_allclose(
            (row.score, row.score_se, row.error), (loo.score, loo.score_se, loo.error_rate), rtol=TOL_SAME
        )
        assert row.n_support == fit.frame.weights[fit.support].sum()
        assert (row.status, row.reason) == ("ok", "")
    least = found.table.loc[found.table["score"].idxmin()]
    assert found.best_params == {"C": least["C"], "gamma": least["gamma"]}
    assert found.best_row.equals(least) and found.score_name == "leave-one-out deviance"
    assert found.fold is None and found.n_failed == 0


@pytest.mark.parametrize("kernel", ["linear", "poly", "spline"])
def test_points_of_other_kernels(kernel):
    given = {"poly": {"gamma": 0.3, "degree": [1, 2], "coef0": 1.0}}.get(kernel, {})
    found = quiet("y ~ a + b", DATA, kernel=kernel, C=[1, 4], **given)
    assert len(found.table) == (4 if kernel == "poly" else 2)
    for row in found.table.to_dict("records"):
        named = {name: row[name] for name in found.best_params}
        named |= {"degree": int(row["degree"])} if kernel == "poly" else {}
        loo = svm("y ~ a + b", DATA, kernel=kernel, **named).loo()
        np.testing.assert_allclose((row["score"], row["error"]), (loo.score, loo.error_rate), rtol=TOL_SAME)
    same = svm("y ~ a + b", DATA, kernel=kernel, **found.best_params)
    np.testing.assert_array_equal(found.best.decision_values, same.decision_values)


def test_points_of_a_gram_matrix():
    K = np.exp(-0.5 * ((SCALED[["a", "b"]].to_numpy()[:, None] - SCALED[["a", "b"]].to_numpy()) ** 2).sum(axis=2))
    found = quiet("y ~ .", pd.DataFrame(K).add_prefix("k").assign(y=DATA["y"]), kernel="precomputed", C=[1, 4])
    named = quiet("y ~ a + b", DATA, C=[1, 4], gamma=0.5)
    columns = ["C", "score", "score_se", "error", "n_support"]
    pd.testing.assert_frame_equal(found.table[columns], named.table[columns], rtol=TOL_SAME)


def test_liver():
    found = quiet(ENZYMES, LIVER, C=[1, 4, 16], gamma=[0.1, 0.3])
    known = svm(ENZYMES, LIVER, C=4, gamma=0.1).loo()
    row = found.table.query("C == 4 and gamma == 0.1").iloc[0]
    np.testing.assert_allclose((row["score"], row["error"]), (known.score, known.error_rate), rtol=TOL_SAME)
    assert len(found.best.pairs) == 6
    assert found.best.loo().score == pytest.approx(found.best_row["score"], rel=TOL_SAME)
    assert found.best_row["score"] == found.table["score"].min()


@pytest.mark.parametrize("score", ["error", "weighted_error"])
def test_errors_of_left_out_rows(score):
    w = np.resize([1.0, 2.0, 0.0], 72)
    found = quiet("y ~ a + b", DATA, score=score, weights=w, class_weight={"high": 4.0}, **GRID)
    L = np.where(DATA["y"] == "high", 4.0, 1.0)
    for row in found.table.itertuples():
        fit = svm("y ~ a + b", DATA, weights=w, class_weight={"high": 4.0}, C=row.C, gamma=row.gamma)
        wrong = fit.loo().error
        expected = w @ wrong / w.sum() if score == "error" else (w * L) @ wrong / (w @ L)
        assert row.score == pytest.approx(expected) and row.error == pytest.approx(w @ wrong / w.sum())
    assert found.score_name == f"leave-one-out {score.replace('_', ' ')}"


def test_of_equal_scores_the_smallest_parameters_are_taken():
    """Levels far apart: no error anywhere but at a width that sees nothing."""
    data = DATA.assign(a=DATA["y"].map({"low": 0.0, "mid": 10.0, "high": 20.0}) + 0.1 * DATA["a"])
    found = quiet("y ~ a", data, score="error", C=[8.0, 2.0, 4.0], gamma=[2.0, 0.5, 1.0])
    assert (found.table["score"] == 0).all()
    assert found.best_params == {"C": 2.0, "gamma": 0.5}
    assert found.best_row.name == 0


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_the_best_is_the_fit_of_svm_digit_by_digit(coupling):
    options = {"class_weight": "balanced", "coupling": coupling, "calibration": "loo"}
    found = quiet("y ~ a + b", DATA, **GRID, **options)
    same = svm("y ~ a + b", DATA, **options, **found.best_params)
    for name in ("decision_values", "fittedvalues", "alpha"):
        pd.testing.assert_frame_equal(getattr(found.best, name), getattr(same, name), check_exact=True)
    assert (found.best.coupling, found.best.calibration.kind) == (coupling, "loo")
    assert found.best.class_weight == same.class_weight
    plain = quiet("y ~ a + b", DATA, **GRID, **options | {"calibration": "insample"})
    pd.testing.assert_frame_equal(found.table, plain.table, check_exact=True)  # scores use the in-sample maps


def test_priors_weigh_the_fits():
    priors = {"low": 0.6, "mid": 0.2, "high": 0.2}
    found = quiet("y ~ a + b", DATA, priors=priors, C=[1, 4], gamma=0.5)
    assert found.best.priors == pytest.approx(priors)
    for row in found.table.itertuples():
        loo = svm("y ~ a + b", DATA, priors=priors, C=row.C, gamma=0.5).loo()
        assert row.score == pytest.approx(loo.score, rel=TOL_SAME)


# k-fold


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("score", ["deviance", "error", "weighted_error"])
def test_k_fold_by_hand(score, coupling):
    stakes = {"class_weight": {"high": 3.0}, "coupling": coupling}
    found = quiet("y ~ a + b", DATA, criterion="kfold", folds=4, rng=4, score=score, **stakes, **GRID)
    L = np.where(DATA["y"] == "high", 3.0, 1.0)
    for row in found.table.itertuples():
        own, wrong, n_support = np.zeros(72), np.zeros(72, bool), []
        for k in range(4):
            out = (found.fold == k).to_numpy()
            fit = svm("y ~ a + b", SCALED[~out], C=row.C, gamma=row.gamma, scale=False, **stakes)
            p = fit.predict_proba(SCALED[out])
            own[out] = [p.loc[i, level] for i, level in DATA["y"][out].items()]
            wrong[out] = fit.predict(SCALED[out]) != DATA["y"][out]
            n_support.append(len(fit.support))
        mean = {"error": wrong.mean(), "weighted_error": L @ wrong / L.sum(), "deviance": -2 * np.log(own).sum()}
        assert row.score == pytest.approx(mean[score], rel=1e-5)
        assert row.error == pytest.approx(wrong.mean())
        assert row.n_support == pytest.approx(np.mean(n_support))
        se = {
            "error": np.sqrt(wrong.var(ddof=1) / 72),
            "weighted_error": np.sqrt(72 / 71 * ((L * (wrong - mean["weighted_error"])) ** 2).sum()) / L.sum(),
            "deviance": 2 * np.sqrt(72 * np.log(own).var(ddof=1)),
        }
        assert row.score_se == pytest.approx(se[score], rel=1e-5)
    assert found.score_name == f"k-fold {score.replace('_', ' ')}"


def test_folds_hold_the_same_share_of_each_level():
    found = quiet("y ~ a + b", DATA, criterion="kfold", folds=4, rng=1, C=1, gamma=1)
    counts = pd.crosstab(found.fold, DATA["y"])
    assert counts.shape == (4, 3)
    assert (counts.max() - counts.min() <= 1).all()
    assert found.fold.index.equals(DATA.index) and found.fold.name == "fold"


def test_k_fold_with_weights():
    """A row of weight two is that row twice: the copies share a fold, so the folds are given to both."""
    w = np.resize([1, 2, 1, 0, 3], 72)
    weighted = quiet("y ~ a + b", DATA.assign(w=w), weights="w", criterion="kfold", rng=2, **GRID)
    repeated = DATA.loc[np.repeat(np.arange(72), w)].reset_index(drop=True)
    copied = quiet("y ~ a + b", repeated, criterion="kfold", rng=2, **GRID)
    pd.testing.assert_frame_equal(weighted.table, copied.table, rtol=TOL_SAME)
    assert (weighted.fold[w == 0] == -1).all()
    np.testing.assert_array_equal(np.repeat(weighted.fold[w > 0], w[w > 0]), copied.fold)


def test_rng_alone_decides_the_folds():
    data = pd.concat([DATA[DATA["y"] == level].head(8) for level in ("low", "mid", "high")], ignore_index=True)
    folds = quiet("y ~ a + b", data, criterion="kfold", folds=8, rng=1, **GRID)
    assert np.bincount(folds.fold).tolist() == [3] * 8
    assert (folds.table["score"] > 0).all()
    other = quiet("y ~ a + b", data, criterion="kfold", folds=8, rng=2, **GRID)
    assert not folds.fold.equals(other.fold)
    assert not np.allclose(folds.table["score"], other.table["score"])
    same = quiet("y ~ a + b", data, criterion="kfold", folds=8, rng=1, **GRID)
    pd.testing.assert_frame_equal(same.table, folds.table, check_exact=True)


# What does not matter


@cache
def reference(criterion):
    return quiet("y ~ a + b", DATA, criterion=criterion, rng=1, n_jobs=1, **GRID)


@pytest.mark.parametrize("criterion", ["loo", "kfold"])
@pytest.mark.parametrize("how", [{"n_jobs": 2}, {"n_jobs": 3}, {"backend": "loky"}, {"gamma": 0.5}])
def test_workers_do_not_matter(criterion, how):
    one = reference(criterion).table
    grid = {**GRID, "gamma": how.get("gamma", GRID["gamma"])}
    with joblib.parallel_config(how.get("backend", "threading"), n_jobs=2):
        two = quiet("y ~ a + b", DATA, criterion=criterion, rng=1, n_jobs=how.get("n_jobs"), **grid).table
    if "gamma" in how:  # a single kernel, whose points are computed in another way
        one = one[one["gamma"] == 0.5].reset_index(drop=True)
    pd.testing.assert_frame_equal(one, two, check_exact=True)


@pytest.mark.parametrize("criterion", ["loo", "kfold"])
def test_order_of_the_grid_and_of_the_rows_does_not_matter(criterion):
    one = reference(criterion)
    turned = {name: values[::-1] + values[:1] for name, values in GRID.items()}
    two = quiet("y ~ a + b", DATA, criterion=criterion, rng=1, **turned)
    pd.testing.assert_frame_equal(one.table, two.table, check_exact=True)
    other = quiet("y ~ a + b", DATA.sample(frac=1, random_state=1), criterion=criterion, rng=1, **GRID)
    pd.testing.assert_frame_equal(one.table, other.table, rtol=TOL_SAME)


def test_a_point_does_not_depend_on_its_neighbours():
    """On a path each cost sets off where the last one ended."""
    alone = quiet("y ~ a + b", DATA, C=8.0, gamma=0.5).table
    row = reference("loo").table.query("C == 8 and gamma == 0.5").reset_index(drop=True)
    pd.testing.assert_frame_equal(row, alone, rtol=TOL_SAME)


def test_a_weight_of_two_is_the_row_twice():
    w = np.resize([1, 2, 1, 0], 72)
    weighted = quiet("y ~ a + b", DATA.assign(w=w), weights="w", **GRID)
    repeated = quiet("y ~ a + b", DATA.loc[np.repeat(np.arange(72), w)].reset_index(drop=True), **GRID)
    pd.testing.assert_frame_equal(weighted.table, repeated.table, rtol=TOL_SAME)


def test_the_default_grid():
    found = quiet("y ~ a + b", DATA, criterion="kfold", folds=2, rng=1)
    assert (found.table["C"].nunique(), found.table["gamma"].nunique(), len(found.table)) == (10, 8, 80)


# What is told


def test_the_edge_is_told():
    with pytest.warns(GridWarning, match=r"the best C = \S+ is the (smallest|largest) of its grid") as caught:
        tune("y ~ a + b", DATA, C=[0.001, 1000.0], gamma=0.001)
    assert len(caught) == 1 and caught[0].filename == __file__


def test_points_without_a_score_are_told_and_never_the_best(monkeypatch):
    module = import_module("svmstat.tuning.criteria")
    original = module.leave_one_out

    def fails_at_two(machine, maps, **how):
        found = original(machine, maps, **how)
        lost = np.where(np.arange(72) < 2, -1, found.winner)
        return replace(found, winner=lost) if machine.C == 2.0 else found

    monkeypatch.setattr(module, "leave_one_out", fails_at_two)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = tune("y ~ a + b", DATA, C=[1.0, 2.0, 4.0], gamma=0.5)
    assert "1 of 3 grid points could not be scored" in str(caught[-1].message)
    row = found.table.set_index("C").loc[2.0]
    assert np.isnan(row["score"]) and np.isnan(row["error"]) and row["status"] == "failed"
    assert row["reason"] == "2 of 72 deletions left without a class"
    assert found.best_params["C"] != 2.0 and found.n_failed == 1


@pytest.mark.parametrize("score", ["deviance", "error"])
def test_a_map_that_does_not_converge_matters_for_the_deviance_only(monkeypatch, score):
    module = import_module("svmstat.tuning.criteria")
    original = module.leave_one_out

    def uncalibrated(machine, maps, **how):
        found = original(machine, maps, **how)
        return replace(found, calibrated=found.calibrated & (np.arange(72) != 5))

    monkeypatch.setattr(module, "leave_one_out", uncalibrated)
    if score == "deviance":
        with pytest.raises(DataError, match="the first: 1 of 72 deletions without a converged Platt map"):
            tune("y ~ a + b", DATA, C=[1.0, 2.0], gamma=0.5, score=score)
    else:
        assert quiet("y ~ a + b", DATA, C=[1.0, 2.0], gamma=0.5, score=score).n_failed == 0


@pytest.mark.parametrize("criterion", ["loo", "kfold"])
def test_a_point_that_is_not_certified_has_no_score(monkeypatch, criterion):
    if criterion == "loo":
        monkeypatch.setattr("svmstat.tuning.criteria.Status", type("Status", (), {"CERTIFIED": None}))
        message = "the fit is not certified, its KKT violation is"
    else:
        module = import_module("svmstat.tuning.cost_search")
        original = module.hold_out
        monkeypatch.setattr(module, "hold_out", lambda *g: replace(original(*g), certified=np.zeros(2, bool)))
        message = "fold 1: not certified; fold 2: not certified"
    with pytest.raises(DataError, match=f"no point of the grid could be scored; the first: {message}"):
        tune("y ~ a + b", DATA, C=[1.0, 2.0], gamma=0.5, criterion=criterion, folds=2, rng=1)


def test_summary_and_figure():
    found = reference("loo")
    text = str(found)
    for word in ("Grid search", "Best C", "Best gamma", "Error of held-out rows", "leave-one-out deviance"):
        assert word in text
    assert f"{found.best_row['score']:.5g}" in text and max(map(len, text.splitlines())) <= 78
    ax = found.plot()
    marked = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "o"]
    assert marked == [[[np.log2(found.best_params["C"]), np.log2(found.best_params["gamma"])]]]
    plt.close(ax.figure)


def test_progress_goes_to_stderr(capsys):
    quiet("y ~ a + b", DATA, C=[1, 2], gamma=[0.5, 1], progress=True)
    captured = capsys.readouterr()
    assert "tune" in captured.err and captured.out == ""
