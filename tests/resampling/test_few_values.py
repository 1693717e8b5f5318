"""Predictors of few values: rows at one point have several labels, and each copy is a case of its own."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit

from svmstat import compare, minimax, svm, tune
from svmstat.calibration import fit_platt
from svmstat.errors import ArgumentError, DataError, GridWarning
from svmstat.kernels import RBF, gram
from svmstat.machine import group_rows
from svmstat.resampling.bootstrap import drawn_rows
from svmstat.resampling.folds import are_cases, fold_units

FOLDS = StratifiedKFold(10, shuffle=True, random_state=1)


def survey(n=400, seed=0, K=2):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.integers(1, 6, n), "z": rng.integers(0, 3, n)})
    score = 0.8 * (data["x"] - 3.0) + rng.logistic(size=n)
    return data.assign(y=np.digitize(score, [0.0] if K == 2 else [-0.7, 0.7]))


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("options", [{}, {"calibration": "insample"}, {"calibration": "kfold"}], ids=str)
def test_folds_are_those_of_cases(K, options):
    """By leave-one-out, drawn folds and folds that know nothing of copies the numbers are about the same."""
    fit = svm("y ~ x + z", survey(K=K), **options)
    by_folds, by_cases = fit.kfold(), fit.kfold(FOLDS)
    assert abs(by_folds.rsquared - by_cases.rsquared) < 0.03
    assert abs(by_folds.error_rate - by_cases.error_rate) < 0.05
    assert (
        K > 2 or abs(by_folds.auc - by_cases.auc) < 0.03
    )  # of pooled values of levels against the rest it hangs on more


def test_probability_weights_are_of_cases():
    data = survey()
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(data))
    fit = svm("y ~ x + z", data, weights=w, weight_type="probability")
    assert abs(fit.kfold().auc - fit.loo().auc) < 0.03


def test_leave_one_out_of_a_table_of_counts_is_of_cases():
    data = survey()
    table = data.groupby(["x", "z", "y"]).size().reset_index(name="count")
    fit = svm("y ~ x + z", table, weights="count")
    assert fit.loo().score == pytest.approx(svm("y ~ x + z", data).loo().score, rel=1e-6)


@pytest.mark.parametrize("criterion", ["kfold", minimax()], ids=str)
def test_searches_hold_out_cases(criterion):
    data = survey()
    options = {"gamma": [0.2], "rng": 1, "scale": False}
    options |= {"C": [1.0]} if criterion == "kfold" else {"nu": [0.4, 0.6, 0.8]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune("y ~ x + z", data, criterion=criterion, folds=5, **options)
        again = tune("y ~ x + z", data, criterion=criterion, folds=StratifiedKFold(5), **options)
    assert found.best_row["score"] == pytest.approx(again.best_row["score"], rel=0.12)
    assert data.assign(fold=found.fold).drop_duplicates().groupby(["x", "z", "y"]).size().max() > 1


def test_nested_scores_are_of_cases():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune("y ~ x + z", survey(), C=[0.5, 4.0], gamma=[0.2], nested=5, rng=1)
    assert found.nested_score - found.best_row["score"] < 20.0


def test_bands_hold_their_estimates():
    fit = svm("y ~ x + z", survey())
    made = fit.bootstrap(99, rng=1)
    found = fit.comparisons("x", B=made)
    assert (found.band.lower <= found.estimate).all() and (found.estimate <= found.band.upper).all()
    assert fit.get_prediction(B=99, rng=1).outside.mean() <= 0.1


def test_what_is_left_out_of_a_replicate():
    """Of w copies those that no draw has met, on average, whatever the labels are."""
    x, y = np.array([0.0] * 7 + [1.0] * 4 + [2.0]), np.array([0] * 3 + [1] * 4 + [0] * 4 + [1])
    machine = svm("y ~ x", pd.DataFrame({"x": x, "y": y}), kernel="linear", scale=False).machine
    weights = machine.groups.weights
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = drawn_rows(machine, rng)
        for w, c, left_out in zip(weights, drawn.copies, drawn.left_out, strict=True):
            expected = w * (1.0 - 1.0 / w) ** c
            assert left_out == pytest.approx(expected if expected >= 0.5 else 0.0)


def test_left_out_copies_are_as_many_as_of_rows():
    """Draws of rows one by one leave as many copies of each group undrawn, on average."""
    rng = np.random.default_rng(1)
    x, y = np.array([0.0] * 12 + [1.0] * 8 + [2.0] * 4), np.array([0] * 5 + [1] * 7 + [0] * 8 + [1] * 4)
    machine = svm("y ~ x", pd.DataFrame({"x": x, "y": y}), kernel="linear", scale=False).machine
    found = np.mean([drawn_rows(machine, rng).left_out for _ in range(2000)], axis=0)
    of_row = machine.groups.of_row
    by_rows = np.zeros(len(found))
    for _ in range(2000):
        undrawn = np.bincount(rng.integers(24, size=24), minlength=24) == 0
        by_rows += np.bincount(of_row, undrawn) / 2000
    np.testing.assert_allclose(found, by_rows, rtol=0.08)


def repeated(n, times, seed, signal):
    """Points that are given several times, with labels of their own."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n, 2)), times, axis=0)
    y = (signal * X[:, 0] + rng.logistic(size=len(X)) > 0).astype(int)
    return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "y": y})


@pytest.mark.parametrize("signal", [0.0, 1.5])
def test_what_is_held_out_does_not_hang_on_labels(signal):
    """Where labels of a point agree by chance it is held out row by row as well."""
    found = []
    for seed in range(8):
        fit = svm("y ~ x + z", repeated(80, 2, seed, signal), gamma=5.0, C=1.0)
        by_cases = StratifiedKFold(10, shuffle=True, random_state=seed)
        found.append([fit.kfold().auc, fit.loo().auc, fit.kfold(by_cases).auc])
    by_folds, alone, by_cases = np.mean(found, axis=0)
    assert abs(by_folds - alone) < 0.04 and abs(by_folds - by_cases) < 0.04


def test_maps_of_replicates_are_about_that_of_the_fit():
    fit = svm("y ~ x + z", repeated(100, 3, 0, 1.0), gamma=5.0, C=1.0)
    made = fit.bootstrap(39, rng=1)
    assert fit.get_prediction(B=39, rng=1).outside.mean() < 0.1
    assert made.replicates.maps.slope.mean() < 0.5 * fit.calibration.slope < 0


def test_some_rows_of_weight_two_do_not_hold_whole_points_out():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"a": rng.choice(list("abcde"), 500), "w": 1.0})
    data["y"] = (rng.random(500) < data["a"].map(dict(zip("abcde", [0.1, 0.3, 0.4, 0.6, 0.8], strict=True)))).astype(
        int
    )
    data.loc[::50, "w"] = 2.0
    fit = svm("y ~ a", data, weights="w")
    assert abs(fit.kfold().auc - fit.loo().auc) < 0.05


def test_a_table_names_the_folds_that_it_has():
    table = pd.DataFrame({"a": list("aabbcc"), "y": [0, 1] * 3, "w": [30, 10, 12, 28, 5, 40]})
    splits = svm("y ~ a", table, weights="w").splits(8)
    assert splits.how == "8 folds" and len(splits.out) == 8
    np.testing.assert_allclose(splits.part.sum(axis=0), table["w"], rtol=1e-12)
    assert np.ptp(splits.part.sum(axis=1)) <= 2.0


@pytest.mark.parametrize("weight_type", ["frequency", "probability"])
def test_folds_of_weighted_rows_do_not_hang_on_their_order(weight_type):
    data = survey(200).assign(w=np.random.default_rng(7).uniform(0.2, 3.0, 200))
    scores = [
        svm("y ~ x + z", data.sample(frac=1, random_state=seed), weights="w", weight_type=weight_type).kfold().score
        for seed in range(3)
    ]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-9)


def test_a_search_that_is_repeated_has_the_folds_of_the_first():
    data = survey(300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune("y ~ x + z", data, C=[0.01, 0.1, 1.0, 10.0], gamma=[0.1, 0.5], criterion="kfold", folds=5, rng=1)
    again = found.best.retuned
    assert again(again.sample.X, again.sample.codes, again.sample.weights).C == found.best.C
    order = np.lexsort((data["y"], data["z"], data["x"]))  # as copies of points, which replicates are
    groups = group_rows(again.sample.X[order], again.sample.codes[order].astype(float), np.ones(300))
    first = order[groups.first]
    assert again(again.sample.X[first], again.sample.codes[first], groups.weights).C in (0.1, 1.0, 10.0)


def quietly_tuned(formula, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        return tune(formula, data, criterion="kfold", folds=5, rng=1, **options).best


def test_replicates_hold_out_as_the_fit_does():
    """Refits have copies of a label at a point as one row; as points that are held out whole they were no measure."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.choice(list("abcde"), 600)})
    data["y"] = (rng.random(600) < data["a"].map(dict(zip("abcde", [0.2, 0.3, 0.4, 0.5, 0.6], strict=True)))).astype(
        int
    )
    by_folds, alone = (svm("y ~ a", data, calibration=each).gof(B=19, rng=1) for each in ("kfold", "loo"))
    assert abs(by_folds.noise_replicates.mean() - alone.noise_replicates.mean()) < 0.05 * alone.noise
    assert abs(by_folds.replicates.mean() - alone.replicates.mean()) < 1.0


def test_a_row_of_weight_two_does_not_spoil_a_search_that_is_repeated():
    data = survey(240).assign(w=1.0)
    data.loc[7, "w"] = 2.0
    best = quietly_tuned("y ~ x", data, C=[0.1, 1.0], gamma=[0.5], weights="w")
    assert best.gof(B=5, retune=True, rng=1).n_failed == 0
    assert best.permutation_test(B=5, retune=True, rng=1).n_failed == 0


def test_a_search_of_a_given_matrix_is_repeated():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))[rng.integers(0, 40, 60)]
    data = pd.DataFrame(gram(RBF(0.5), X)).add_prefix("k").assign(y=(X[:, 0] + rng.logistic(size=60) > 0).astype(int))
    best = quietly_tuned("y ~ .", data, C=[0.5, 2.0], kernel="precomputed")
    assert best.gof(B=3, retune=True, rng=1).n_failed == 0


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_what_is_repeated_does_not_hang_on_the_event(kernel):
    """Refits of a search have their rows in an order of their own."""
    data = survey(120).assign(y=lambda each: np.where(each["y"] == 1, "b", "a"))
    formula, options = "y ~ x + z", {"gamma": [0.5]}
    if kernel == "precomputed":
        K = gram(RBF(0.5), data[["x", "z"]].to_numpy(float))
        data, formula, options = pd.DataFrame(K).add_prefix("k").assign(y=data["y"]), "y ~ .", {"kernel": kernel}
    found = []
    for event in "ab":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GridWarning)
            best = tune(formula, data, C=[0.5, 2.0], calibration="kfold", event=event, rng=3, **options).best
        found.append(best.permutation_test(B=9, rng=1, retune=True))
    means = [each.replicates.mean() for each in found]
    assert means[0] == pytest.approx(means[1], rel=0.03) and means[0] > 0.95 * found[0].null_score


def test_maps_without_a_row_are_without_its_own_value():
    """Equal rows of several folds have values of their own, of which each is left out for itself."""
    data = survey(90, seed=3)
    fit = svm("y ~ x + z", data, calibration="kfold")
    values, y = fit.fitted_maps()[1][:, 0], np.where(data["y"] == 1, 1.0, -1.0)
    found = fit.loo()
    for k in range(0, 90, 7):
        others = np.arange(90) != k
        platt = fit_platt(values[others], y[others], np.ones(89))
        expected = 1.0 / (1.0 + np.exp(platt.slope * found.decision_values.iloc[k] + platt.intercept))
        assert found.prob.iloc[k] == pytest.approx(expected, abs=1e-6)
    weighted = data.assign(w=np.random.default_rng(1).choice([1.0, 5.0], 90))
    scores = [
        svm("y ~ x + z", each, weights="w", calibration="kfold").loo().score for each in (weighted, weighted[::-1])
    ]
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)


def test_folds_of_tables_do_not_hang_on_the_event():
    table = survey(100).groupby(["x", "z", "y"]).size().reset_index(name="w")
    scores = [svm("y ~ x + z", table, weights="w", event=event).kfold(5).score for event in (0, 1)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)


def test_weights_that_say_what_rows_stand_for_do_not_make_copies():
    rng = np.random.default_rng(6)
    x = np.r_[np.repeat(np.arange(4.0), 2), np.repeat(np.arange(4.0, 14.0), 2), np.arange(14.0, 96.0)]
    y = np.r_[np.tile([0, 1], 4), np.repeat(rng.integers(0, 2, 10), 2), rng.integers(0, 2, 82)]
    w = np.where(np.arange(len(x)) < 8, 0.5, rng.choice([0.5, 1.5], len(x)))
    data = pd.DataFrame({"x": x, "y": y, "w": w})
    machine = svm("y ~ x", data, weights="w", weight_type="probability").machine
    assert are_cases(machine.groups, machine.group_codes, machine.weights, False)


def test_one_row_of_another_label_does_not_part_copies():
    """They are copies, and not cases, where labels nearly always agree."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(80, 2)), columns=["x", "z"]).assign(y=rng.integers(0, 2, 80))
    data = data.loc[data.index.repeat(3)].reset_index(drop=True)
    other = pd.concat([data, data.iloc[[0]].assign(y=1 - data["y"][0])], ignore_index=True)
    for each in (data, other):
        splits = svm("y ~ x + z", each, gamma=2.0).splits(10)
        folds_of_points = each.assign(fold=splits.fold).groupby(["x", "z", "y"])["fold"]
        assert (folds_of_points.min() == folds_of_points.max()).all()


def test_nested_folds_of_tables_are_refused():
    table = survey(300).groupby(["x", "z", "y"]).size().reset_index(name="count")
    fit = svm("y ~ x + z", table, weights="count")
    with pytest.raises(DataError, match="nested=True holds out rows whole"):
        fit.drop1(nested=True)
    assert fit.drop1().table["delta_score"]["x"] > 0.0


def test_without_other_labels_copies_stay_together():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    at = np.repeat(np.arange(30), rng.integers(1, 4, 30))
    groups = group_rows(X[at], y[at].astype(float), np.ones(len(at)))
    unit, group = fold_units(groups, y[at][groups.first], np.ones(len(at)), True)
    np.testing.assert_array_equal(unit, groups.of_row)
    np.testing.assert_array_equal(group, np.arange(30))


def counted(data):
    """The same cases as a table of counts."""
    return data.groupby(list(data.columns)).size().reset_index(name="w")


def one_by_one(table, part):
    """The cases of a table, and the fold of each, by how many of each row (k, n) are in each fold."""
    row = np.repeat(np.arange(len(table)), np.rint(part.sum(axis=0)).astype(int))
    fold = np.concatenate([np.repeat(np.arange(len(part)), np.rint(of_row).astype(int)) for of_row in part.T])
    return table.iloc[row].drop(columns="w").reset_index(drop=True), fold


@pytest.mark.parametrize("calibration", ["loo", "insample", "venn-abers"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("K", [2, 3])
def test_folds_of_counts_are_those_of_cases(calibration, kernel, K):
    options = {"kernel": kernel, "calibration": calibration, "C": 0.5}
    data = counted(survey(300, K=K))
    table = svm("y ~ x + z", data, weights="w", **options)
    cases, fold = one_by_one(data, table.splits(5).part)
    one, other = svm("y ~ x + z", cases, **options).kfold(fold), table.kfold(5)
    assert len(other.index) == len(data) and other.how == "5 folds"
    assert other.score == pytest.approx(one.score, rel=1e-9)
    assert other.null_score == pytest.approx(one.null_score, rel=1e-3)
    if K == 2:
        assert other.auc == pytest.approx(one.auc, abs=0.04)
        assert other.brier == pytest.approx(one.brier, abs=0.005)
    np.testing.assert_allclose(other.probability.sum(axis=1), 1.0, rtol=1e-12)


def test_maps_of_counts_by_folds_are_about_those_of_cases():
    """These are fitted to means over the cases of a row."""
    data = survey(300)
    one = svm("y ~ x + z", data, calibration="kfold").kfold()
    other = svm("y ~ x + z", counted(data), weights="w", calibration="kfold").kfold()
    assert other.score == pytest.approx(one.score, rel=0.03)


@pytest.mark.parametrize("score", ["deviance", "error"])
@pytest.mark.parametrize("K", [2, 3])
def test_searches_of_counts_are_those_of_cases(K, score):
    data = counted(survey(240, K=K))
    options = {"C": [0.1, 1.0], "gamma": [0.2], "scale": False, "criterion": "kfold", "score": score}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        table = tune("y ~ x + z", data, folds=5, weights="w", rng=1, **options)
        sample = table.best.retuned.sample.in_folds(5, np.random.default_rng(table.best.retuned.seed))
        part = np.zeros((5, len(data)))
        np.add.at(part, (sample.folded.of_row, sample.part_of), sample.weights)
        cases, fold = one_by_one(data, part)
        one = tune("y ~ x + z", cases, folds=fold, **options)
    assert len(table.fold) == len(data) and set(table.fold) <= set(range(5))
    if score == "error":
        np.testing.assert_allclose(table.table["score"], one.table["score"], rtol=1e-9)
    else:  # maps of folds that were given have seen none of them
        np.testing.assert_allclose(table.table["score"], one.table["score"], rtol=0.03)


@pytest.mark.parametrize("criterion", ["kfold", "loo", minimax()], ids=str)
def test_nested_searches_of_counts_are_about_those_of_cases(criterion):
    data = survey(240)
    options = {"gamma": [0.2], "rng": 1, "scale": False, "nested": 3, "kernel": "rbf"}
    options |= {"nu": [0.4, 0.6, 0.8]} if not isinstance(criterion, str) else {"C": [0.1, 1.0]}
    found = []
    for each, weights in ((data, None), (counted(data), "w")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GridWarning)
            found.append(tune("y ~ x + z", each, criterion=criterion, folds=5, weights=weights, **options))
    cases, table = found
    assert table.best_row["score"] == pytest.approx(cases.best_row["score"], rel=0.15)
    assert table.nested_score == pytest.approx(cases.nested_score, rel=0.15)
    assert len(table.nested.fold) == len(counted(data))
    if criterion == "loo":
        np.testing.assert_allclose(table.table["score"], cases.table["score"], rtol=1e-9)


@pytest.mark.parametrize("count", [1e6, 3e7])
def test_any_counts_are_divided(count):
    """Of very many cases several are held out together; a search keeps the table, and no more."""
    table = counted(survey(200))
    table["w"] = count * table["w"] + 0.25
    fit = svm("y ~ x + z", table, weights="w", C=1e-6)
    splits = fit.splits(5)
    np.testing.assert_allclose(splits.part.sum(axis=0), table["w"], rtol=1e-12)
    np.testing.assert_allclose(splits.part.sum(axis=1), table["w"].sum() / 5, rtol=0.02)
    assert fit.kfold(5).auc == pytest.approx(fit.loo().auc, abs=0.01)
    best = quietly_tuned("y ~ x + z", table, C=[1e-7, 1e-6], gamma=[0.2], weights="w")
    assert len(best.retuned.sample.codes) == len(table)


@pytest.mark.parametrize("seed", range(6))
def test_folds_of_all_combinations_of_values_do_not_hang_on_the_order_of_terms(seed):
    """Distances from means without the weights tie there, in all cells."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"g": rng.choice(list("abc"), 150), "k": rng.choice(list("uvw"), 150)})
    data["w"] = rng.integers(1, 4, 150)
    data["y"] = np.where(rng.random(150) < 0.3 + 0.3 * (data["g"] == "a"), "yes", "no")
    one, other = (svm(formula, data, weights="w", calibration="kfold") for formula in ("y ~ g + k", "y ~ k + g"))
    np.testing.assert_allclose(one.predict_proba(), other.predict_proba(), rtol=0, atol=1e-6)
    assert one.kfold(5).score == pytest.approx(other.kfold(5).score, rel=1e-6)


def test_rounding_of_weights_does_not_change_how_rows_are_divided():
    table = counted(survey(200))
    rounded = table.assign(w=table["w"] * 0.29 / 0.01 / 29)
    assert (rounded["w"] != table["w"]).any()
    scores = [svm("y ~ x + z", each, weights="w").kfold(5).score for each in (table, rounded)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)


def test_cases_of_parts_add_up():
    """Rows count 2.5 cases, or none; what no fold predicts has what the fit says."""
    table = counted(survey(200))
    table["w"] = table["w"] * 1.25 + 0.5
    table.loc[3, "w"] = 0.0
    fit = svm("y ~ x + z", table, weights="w")
    splits, found = fit.splits(5), fit.kfold(5)
    np.testing.assert_allclose(splits.part.sum(axis=0), table["w"], rtol=1e-12)
    assert splits.fold[3] == -1 and not splits.never(table["w"].to_numpy()).any()
    assert not found.failed.any() and np.isfinite(found.score)
    assert found.prob.iloc[3] == pytest.approx(fit.predict_proba()[fit.event].iloc[3], abs=1e-12)


def test_what_a_fit_has_seen_is_without_its_part():
    table = counted(survey(200))
    fit = svm("y ~ x + z", table, weights="w")
    splits, w = fit.splits(4), table["w"].to_numpy(float)
    seen = splits.seen(fit.frame.codes, w, 2)
    of_fits = np.array([[(w - part)[fit.frame.codes == k].sum() for k in (0, 1)] for part in splits.part])
    expected = (splits.part / w).T @ of_fits
    np.testing.assert_allclose(seen, expected, rtol=1e-12)


@pytest.mark.parametrize("score", ["deviance", "error"])
def test_equal_rows_with_probability_weights_are_units_of_their_own(score):
    """Equal rows of one fold are as many as if their weights differed by next to nothing."""
    data = survey()
    nearly = 1.0 + 1e-9 * np.random.default_rng(1).normal(size=len(data))
    options = {"C": [1.0], "gamma": [0.1], "criterion": "kfold", "score": score, "rng": 1, "scale": False}
    first, second = (
        tune("y ~ x + z", data, weights=w, weight_type="probability", **options).table
        for w in (np.ones(len(data)), nearly)
    )
    assert first[["score", "score_se"]].to_numpy() == pytest.approx(second[["score", "score_se"]].to_numpy(), rel=1e-6)
    if score == "error":
        error = float(first["score"].iloc[0])
        assert float(first["score_se"].iloc[0]) == pytest.approx(np.sqrt(error * (1 - error) / len(data)), rel=0.01)


@pytest.mark.parametrize("hidden", [{"gap": 15}, {"max_train_size": 50}], ids=str)
@pytest.mark.parametrize("score", ["deviance", "error", "loss"])
def test_searches_hide_what_a_splitter_hides(hidden, score):
    """Also where it hides one of two equal rows and not the other."""
    data, splitter = survey(200), TimeSeriesSplit(4, **hidden)
    options = {"calibration": "insample", "scale": False}
    found = tune(
        "y ~ x + z", data, C=[1.0], gamma=[0.5], criterion="kfold", folds=splitter, score=score, **options
    ).table["score"]
    fit = svm("y ~ x + z", data, C=1.0, gamma=0.5, **options)
    held_out = fit.kfold(splitter)
    if score == "error":
        expected = held_out.error_rate
    elif score == "deviance":
        expected = held_out.score
    else:
        y = np.where(data["y"] == fit.event, 1.0, -1.0)
        f = np.asarray(held_out.values)[:, 0]
        expected = np.nanmean(np.maximum(1.0 - y * f, 0.0))
    assert float(found.iloc[0]) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("calibration", ["insample", "loo", "kfold", "venn-abers"])
def test_rows_of_given_folds_are_as_if_they_were_not_there(calibration):
    """The labels of rows that are held out decide nothing, not even in which folds others make the map."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        data = survey(60, seed).assign(block=rng.integers(0, 3, 60), w=rng.choice([1.0, 2.0, 3.0], 60))
        options = {"C": 4.0, "gamma": 0.5, "scale": False, "calibration": calibration}
        held_out = svm("y ~ x + z", data, weights="w", **options).kfold("block")
        for block in range(3):
            own = (data["block"] == block).to_numpy()
            without = svm("y ~ x + z", data.assign(w=data["w"].where(~own, 0.0)), weights="w", **options)
            np.testing.assert_allclose(
                np.asarray(held_out.prob)[own], without.predict_proba(data).to_numpy()[own, 1], atol=1e-9
            )


def test_compared_by_given_folds_values_that_only_rounding_parts_are_equal():
    for seed in range(5):
        data = survey(200, seed)
        data["block"] = np.random.default_rng(seed).integers(0, 4, 200)
        one, other = svm("y ~ x + z", data), svm("y ~ x + z", data, kernel="linear")
        both = compare(one, other, folds="block")
        for fit, evidence in zip((one, other), both.evidence, strict=True):
            assert evidence.auc == pytest.approx(fit.kfold("block").auc, abs=1e-12)


def test_a_table_has_as_many_folds_as_cases_allow():
    rows = [(a, b, y, w) for a in (0, 1) for b in (0, 1) for y, w in ((0, 20 + 5 * a), (1, 18 + 7 * b))]
    fit = svm("y ~ a + b", pd.DataFrame(rows, columns=["a", "b", "y", "w"]), weights="w", C=1, gamma=0.5)
    assert fit.kfold().how == "10 folds"
    with pytest.raises(ArgumentError, match=r"at most the number of cases, 1\d\d"):
        fit.kfold(500)


def test_a_row_without_weight_needs_no_fold():
    data = survey(80).assign(w=1.0, block=pd.Series(np.arange(80) % 3, dtype=float))
    data.loc[5, ["w", "block"]] = 0.0, np.nan
    fit = svm("y ~ x + z", data, weights="w")
    assert fit.kfold("block").score == pytest.approx(
        svm("y ~ x + z", data.drop(index=5)).kfold("block").score, rel=1e-9
    )
    with pytest.raises(ArgumentError, match="no label in row 6"):
        svm("y ~ x + z", data.assign(block=data["block"].where(data.index != 6)), weights="w").kfold("block")
