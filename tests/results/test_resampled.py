"""Folds of a fit are what the estimator fitted to the other rows says, whatever stands for the cost."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from levels import quiet
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit

from svmstat import load, minimax, svm, tune
from svmstat.errors import ArgumentError, UnavailableError
from svmstat.solver import Status


def sample(n=90, seed=4):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"]).assign(w=rng.integers(1, 4, n) * 1.0)
    return data.assign(y=np.where(data.x + rng.logistic(size=n) > 0.4, "yes", "no"))


def balanced(n=90):
    """As many of one class as of the other, and folds that have more of one."""
    data = sample(n).assign(y=np.repeat(["yes", "no"], n // 2))
    return data, np.concatenate([np.repeat([0, 1, 2], [9, 15, 21]), np.repeat([0, 1, 2], [21, 15, 9])])


@pytest.mark.parametrize("nu", [0.5, 0.6, (0.4, 0.4), (0.3, 0.7), (1.0, 1.0)])
@pytest.mark.parametrize(("data", "fold", "weights"), [
    (sample(), np.arange(90) % 3, None), (sample(), np.arange(90) % 3, "w"), (*balanced(), None),
])  # fmt: skip
def test_nu_of_a_fold_is_of_the_rows_that_it_keeps(data, fold, weights, nu):
    options = {"nu": nu, "gamma": 0.5, "scale": False, "event": "yes", "weights": weights}
    held, f = svm("y ~ x + z", data, **options).kfold(fold), np.empty(90)
    for k in range(3):
        f[fold == k] = svm("y ~ x + z", data[fold != k], **options).decision_function(data[fold == k])
    np.testing.assert_allclose(held.decision_values, f, atol=1e-6)


def test_a_loaded_fit_knows_whether_nu_is_one_number(tmp_path):
    data, fold = balanced()
    for nu in (0.5, (0.5, 0.5)):
        fit = svm("y ~ x + z", data, nu=nu, gamma=0.5)
        fit.save(tmp_path / "fit.svm")
        held, again = fit.kfold(fold), load(tmp_path / "fit.svm").kfold(fold)
        np.testing.assert_array_equal(held.decision_values, again.decision_values)


def test_the_folds_of_a_search_are_those_of_the_fit():
    data, fold = sample(), np.arange(90) % 2
    found = tune("y ~ x + z", data, criterion=minimax(), nu=([0.55], [0.55]), gamma=0.5, folds=fold, event="yes")
    held = svm("y ~ x + z", data, nu=(0.55, 0.55), gamma=0.5, event="yes").kfold(fold)
    assert held.n_failed == 0
    assert found.best_row["p_f"] == pytest.approx(1.0 - held.specificity)
    assert found.best_row["p_m"] == pytest.approx(1.0 - held.sensitivity)


def test_rows_that_no_fold_predicts_keep_their_weights_and_others_too():
    data = sample(60)
    held = svm("y ~ x + z", data, weights="w").kfold(TimeSeriesSplit(4))
    known = np.isfinite(held.log_likelihoods)
    np.testing.assert_array_equal(held.weights[known], data["w"][known])
    assert held.score == pytest.approx(-2.0 * data["w"][known] @ held.log_likelihoods[known])
    found = quiet("y ~ x + z", data, C=[1.0, 4.0], gamma=0.5, criterion="kfold", folds=TimeSeriesSplit(4))
    assert f"{np.count_nonzero(~known)} rows that no fold holds out do not count." in " ".join(str(found).split())


def test_a_row_that_is_predicted_twice_is_refused():
    with pytest.raises(ArgumentError, match="more than once"):
        svm("y ~ x + z", sample()).kfold(ShuffleSplit(3, test_size=0.4, random_state=0))


def test_how_many_rows_a_level_has():
    data = sample()
    of_yes = data["y"] == "yes"
    copies = svm("y ~ x + z", data, weights="w").loo()
    assert copies.rows_of_levels["yes"] == data["w"][of_yes].sum()
    shares = svm("y ~ x + z", data, weights="w", weight_type="probability").loo()
    assert shares.rows_of_levels["yes"] == of_yes.sum()


@pytest.mark.parametrize("K", [2, 3])
def test_nothing_of_a_fit_is_changed_by_what_is_written_into_its_results(K):
    data = sample(60).assign(y=lambda d: pd.cut(d["x"] + d["z"] ** 2, [-9.0, 0.5, 1.5, 99.0], labels=list("uvw")))
    data = data.assign(y=data["y"].astype(str) if K == 3 else data["y"].astype(str) == "u")
    fit = svm("y ~ x + z", data)
    score, error, folds = fit.loo().score, fit.loo().error_rate, fit.kfold(5).score
    for found in (fit.loo(), fit.kfold(5), fit.apparent):
        for name in ("codes", "winner", "failed", "weights", "values", "probability", "log_likelihoods"):
            getattr(found, name)[:] = 0
    assert (fit.loo().score, fit.loo().error_rate, fit.kfold(5).score) == (score, error, folds)
    assert str(fit.summary()) == str(svm("y ~ x + z", data).summary())


@pytest.mark.parametrize("calibration", ["auto", "venn-abers"])
@pytest.mark.parametrize("K", [2, 3])
def test_maps_units_and_winners_of_results_are_theirs(K, calibration):
    data = sample(60).assign(y=lambda d: pd.cut(d["x"] + d["z"] ** 2, [-9.0, 0.5, 1.5, 99.0], labels=list("uvw")))
    data = data.assign(y=data["y"].astype(str) if K == 3 else data["y"].astype(str) == "u", g=np.arange(60) // 2)
    fit, fresh = (svm("y ~ x + z", data, groups="g", calibration=calibration) for _ in range(2))
    maps = fit.loo().maps, fit.kfold(5).maps, fit.calibration, fit.insample
    for each in [*maps, *getattr(fit.calibration, "each", ()), *getattr(fit.loo().maps, "each", ())]:
        for name in {"slope", "intercept", "values", "event", "other", "totals"} & set(dir(each)):
            if isinstance(getattr(each, name), np.ndarray):
                getattr(each, name)[:] = -9
    for found in (fit.loo(), fit.kfold(5), fit.apparent):
        found.units.of_row[:] = 0
    fit.loo().full_winner[:] = 0
    sets = fit.label_sets()
    sets.codes[:], sets.weights[:] = 0, 2
    assert str(fit.summary(loo=True)) == str(fresh.summary(loo=True))
    assert str(fit.kfold(5)) == str(fresh.kfold(5)) and str(fit.label_sets()) == str(fresh.label_sets())
    assert fit.predict().equals(fresh.predict()) and fit.predict_proba().equals(fresh.predict_proba())
    assert fit.deviance == fresh.deviance


def test_leave_one_out_is_no_matter_of_a_second_where_every_deletion_is_solved_anew():
    fit = svm("y ~ x + z", sample(300))
    pairs = tuple(replace(p, solution=replace(p.solution, status=Status.IMPRECISE)) for p in fit.machine.pairs)
    doubtful = replace(fit, machine=replace(fit.machine, pairs=pairs))
    assert fit.is_cheap_to_leave_out and not doubtful.is_cheap_to_leave_out
    apart, meeting = (svm("y ~ x + z", sample(n), nu=nu) for n, nu in ((1100, 0.8), (300, 0.1)))
    assert apart.machine.pairs[0].solution.rho > 0.0 and not apart.is_cheap_to_leave_out
    assert svm("y ~ x + z", sample(1100)).is_cheap_to_leave_out
    assert meeting.machine.pairs[0].solution.rho == 0.0 and not meeting.is_cheap_to_leave_out
    text = " ".join(str(doubtful.summary()).split())
    assert "Those of held-out rows take a while: fit.loo(), or summary(loo=True)" in text
    assert "leave-one-out" not in text


@pytest.mark.parametrize("n_levels", [2, 3])
@pytest.mark.parametrize("weights", [None, "w"])
def test_folds_hang_on_no_names_of_levels(weights, n_levels):
    data = sample().assign(y=np.random.default_rng(2).integers(n_levels, size=90))
    data.loc[data.x > 0.9, "y"] = 1
    scores = [
        svm("y ~ x + z", data.assign(y=data.y.map(dict(enumerate(names)))), weights=weights).kfold(5).score
        for names in ("abc", "zyx", "bca")
    ]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-9)


def test_refits_of_folds_have_the_map_that_is_usual_for_the_fit(monkeypatch):
    """Of 5200 rows a fold leaves so few that "auto" alone would have each of them left out."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(5200, 2)), columns=["x", "z"])
    data["y"] = data.x + rng.logistic(size=5200) > 0.0
    fold = np.arange(5200) % 4
    by_folds = svm("y ~ x + z", data, kernel="linear", calibration="kfold").kfold(fold)
    monkeypatch.setattr("svmstat.results.calibrated.leave_one_out", lambda *_, **__: pytest.fail("rows are left out"))
    usual = svm("y ~ x + z", data, kernel="linear")
    np.testing.assert_array_equal(usual.kfold(fold).log_likelihoods, by_folds.log_likelihoods)
    words = " ".join(str(usual.summary(loo=False)).split())
    assert "Those of held-out rows: fit.kfold(), or summary(loo=True)." in words


@pytest.mark.parametrize("n_levels", [2, 3])
def test_held_out_numbers_name_the_method_that_has_their_reliability(n_levels):
    data = sample(150).assign(y=lambda data: np.digitize(data.x, [0.0, 0.7][: n_levels - 1]))
    fit = svm("y ~ x + z", data)
    said = [
        " ".join(str(found.summary()).split()) for found in (fit.loo(), fit.kfold(5), fit.kfold(np.arange(150) % 4))
    ]
    for how, words in zip(("loo()", "kfold(5)", "kfold(...)"), said, strict=True):
        assert f"{how}.reliability() tells more" in words


@pytest.mark.parametrize("options", [{}, {"groups": "g"}, {"calibration": "insample"}, {"calibration": "venn-abers"}])
def test_nothing_is_written_into_a_leave_one_out_that_the_fit_keeps(options):
    data = sample(60).assign(g=np.arange(60) // 3)
    fit, fresh = (svm("y ~ x + z", data, **options) for _ in range(2))
    influence = fit.get_influence()
    influence.measures.rms_change[:] = 0.0
    for loo in (fit.loo(), influence.loo):
        for each in (loo.arrays, loo.arrays.changes):
            for name in each.__slots__:
                if isinstance(values := getattr(each, name), np.ndarray):
                    with pytest.raises(ValueError, match="read-only"):
                        values[:] = 1
        for series in (loo.deviance_deleted, loo.rms_change, influence.rms_change):
            series.iloc[:] = 0.0
    assert str(fit.summary()) == str(fresh.summary()) and str(fit.loo()) == str(fresh.loo())
    assert str(fit.get_influence()) == str(fresh.get_influence())
    assert str(fit.label_sets()) == str(fresh.label_sets())


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_of_a_kernel_matrix_hang_on_its_values_and_not_on_the_order_of_its_rows(weighted):
    """They are those of the same kernel by its name."""
    rng = np.random.default_rng(0)
    X, order = rng.normal(size=(60, 2)), rng.permutation(60)
    data = pd.DataFrame(X, columns=["a", "b"]).assign(
        y=np.where(X[:, 0] + rng.normal(size=60) > 0, "a", "b"), w=rng.integers(1, 4, 60) * 1.0
    )
    given = {"weights": "w"} if weighted else {}
    by_name = svm("y ~ a + b", data, kernel="linear", scale=False, **given).kfold(5)
    for rows in (np.arange(60), order):
        some = data.iloc[rows]
        K = (
            pd.DataFrame(some[["a", "b"]].to_numpy() @ some[["a", "b"]].to_numpy().T)
            .rename(columns=str)
            .add_prefix("k")
        )
        columns = " + ".join(K.columns)
        matrix = K.assign(y=some["y"].to_numpy(), w=some["w"].to_numpy())
        found = svm(f"y ~ {columns}", matrix, kernel="precomputed", **given).kfold(5)
        assert found.score == pytest.approx(by_name.score, rel=1e-6)


def test_folds_lose_no_digits_of_a_probability_that_underflows():
    """A row so far out that its probability is 0 counts as in tune(), which has the same folds and maps."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=40)
    y = np.where(x + rng.normal(size=40) > 0, "b", "a")
    x[0], y[0] = 1e6, "a"
    data, fold = pd.DataFrame({"x": x, "y": y}), np.arange(40) % 4
    given = {"kernel": "linear", "scale": False, "calibration": "insample"}
    score = svm("y ~ x", data, C=1.0, **given).kfold(fold).score
    searched = tune("y ~ x", data, C=[1.0], criterion="kfold", folds=fold, **given).table["score"]
    assert score == pytest.approx(searched[0], rel=1e-6) and score > 1e5


def test_a_fit_without_its_groups_cannot_be_taken_for_the_call_that_has_them(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=40), "g": np.repeat(np.arange(10), 4), "y": rng.random(40) < 0.5})
    alone = svm("y ~ x", data, groups="g").by_rows
    assert alone.n_groups is None
    for again in (lambda: alone.update(C=3), lambda: alone.refit(data), lambda: alone.save(tmp_path / "f.svmstat")):
        with pytest.raises(UnavailableError, match="this fit has none"):
            again()
    assert "Groups" not in str(alone.summary())
