"""What a fit says of itself and predicts, by hand, for any number of levels; it stays what it is."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from levels import KERNELS, assert_same_fit, matrix, sample, votes

from svmstat import compare, datasets, etable, svm, tune
from svmstat.errors import DataError, UnavailableError
from svmstat.results import SVMResults
from svmstat.solver import Status

# Predictions of the rows of the fit repeat its sums in another order.
TOL = 1e-10
# Two certified solutions of one problem, relative to the largest |f|.
TOL_SAME = 1e-7

ALL = pytest.mark.parametrize("kernel", KERNELS)
FORMULA = "y ~ x + site + np.log(z + 60) + side:x"


def close(f, g, tolerance=TOL):
    f, g = matrix(f), matrix(g)
    np.testing.assert_allclose(f, g, rtol=0, atol=tolerance * max(1.0, np.abs(g).max()))


def stakes(data):
    """A weight for a level, and the levels' shares of another population."""
    levels = sorted(data["y"].unique())
    return {"class_weight": {levels[0]: 2.0}}, {"priors": dict.fromkeys(levels, 1 / len(levels))}


# The solution


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "linear"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": "median"},
        {"kernel": "rbf", "gamma": 0.3},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
        {"kernel": "spline"},
        {"kernel": lambda X, Z: X @ Z.T + 1.0},
    ],
    ids=lambda options: f"{getattr(options['kernel'], '__name__', options['kernel'])}-{options.get('gamma')}",
)
@pytest.mark.parametrize("scale", [True, False])
def test_a_fit_satisfies_its_own_conditions(options, scale, K):
    data = sample(K, seed=1)
    data["z"] /= 10.0
    w = np.resize([1.0, 2.5, 0.0, 1.0], 60) if scale else np.ones(60)
    fit = svm("y ~ x * site + I(z / 10)", data, scale=scale, C=2.0, weights=w, class_weight={"c": 1.5}, **options)
    assert fit.converged and fit.nobs == w.sum() and fit.lambda_ == pytest.approx(1 / (2 * 2.0 * w.sum()))
    upper, y, alpha = 2.0 * w * np.where(data["y"] == "c", 1.5, 1.0), data["y"].to_numpy(), matrix(fit.alpha)
    gram = np.asarray(fit.kernel(fit.frame.X, fit.frame.X))
    assert (alpha >= 0).all() and (alpha <= upper[:, None] * (1 + 1e-12)).all()
    rows = {level: [0.0, 0.0, 0.0] for level in fit.classes}
    for p, (first, second) in enumerate(fit.pairs):
        signs = np.where(y == first, 1.0, np.where(y == second, -1.0, 0.0))
        h = gram @ (alpha[:, p] * signs)
        close(fit.machine.decision_values[:, p], h + np.ravel(fit.intercept)[p])
        assert abs(alpha[:, p] @ signs) < 1e-9
        assert (alpha[signs == 0, p] == 0).all()
        norm_squared = (alpha[:, p] * signs) @ h
        assert np.ravel(fit.margin)[p] == pytest.approx(2 / np.sqrt(norm_squared))
        if K == 2:
            loss = (upper * np.maximum(1 - signs * fit.decision_values, 0)).sum()
            assert fit.objective == pytest.approx(0.5 * norm_squared + loss, rel=1e-9)
        bounded = (alpha[:, p] > 0) & (alpha[:, p] >= upper - 1e-12)
        free = (alpha[:, p] > 0) & ~bounded
        for level in (first, second):
            rows[level] = [w[(y == level) & each].sum() for each in (signs != 0, free, bounded)]
        if K > 2:
            counts = np.add(rows[first], rows[second])
            np.testing.assert_allclose(fit.n_support.loc[first, second], [*counts, counts[1:].sum()])
    if K == 2:
        expected = [[*rows[level], sum(rows[level][1:])] for level in fit.classes]
        np.testing.assert_allclose(fit.n_support, expected)
    assert fit.n_support.columns.tolist() == ["rows", "free", "bounded", "total"]
    assert {dtype.kind for dtype in fit.n_support.dtypes} == {"f" if scale else "i"}
    assert 0 <= fit.duality_gap <= 1e-6 and 0 <= fit.kkt_violation <= 1e-8
    assert fit.support.tolist() == data.index[(alpha > 0).any(axis=1)].tolist()


def test_the_intercept_where_a_vector_is_free(K):
    fit = svm("y ~ x + z", sample(K, seed=2), C=1.0)
    ends = np.array(fit.intercept_interval).reshape(-1, 2)
    assert (fit.n_support["free"] > 0).all()
    assert (ends == np.reshape(fit.intercept, (-1, 1))).all()


@pytest.mark.parametrize("scale", [True, False])
def test_coefficients_are_the_decision_functions(scale, K):
    fit = svm("y ~ x + z + site + np.exp(x)", sample(K, 90), kernel="linear", C=0.7, scale=scale, weights="w")
    design = fit.frame.design
    assert list(fit.params.index) == ["Intercept", *design.column_names] == list(fit.params_standardized.index)
    assert [name for name in design.column_names if "site" in name] == ["site[east]", "site[north]", "site[south]"]
    slopes, standardized = matrix(fit.params), matrix(fit.params_standardized)
    close((fit.frame.X * design.scale_ + design.center) @ slopes[1:] + slopes[0], fit.decision_values, 1e-9)
    close(fit.frame.X @ standardized[1:] + standardized[0], fit.decision_values, 1e-9)
    np.testing.assert_array_equal(standardized[0], np.ravel(fit.intercept))
    np.testing.assert_allclose(np.ravel(fit.margin), 2 / np.sqrt((standardized[1:] ** 2).sum(axis=0)), rtol=TOL_SAME)
    assert fit.params_standardized.equals(fit.params) == (not scale)
    assert K == 2 or fit.params.columns.equals(fit.pairs)


@pytest.mark.parametrize("name", ["params", "params_standardized"])
def test_coefficients_exist_for_the_linear_kernel_only(name, K):
    fit = svm("y ~ x + z", sample(K, 30))
    with pytest.raises(UnavailableError, match=rf"{name} exists for kernel='linear' only.*'rbf'"):
        getattr(fit, name)
    assert not hasattr(fit, name)


def test_the_p0_loss_without_class_weights_is_the_hinge_loss_on_another_scale(K):
    """Margins 2 log 2 for a slope of one."""
    data = sample(K)
    p0, hinge = svm("y ~ x + z", data, loss="p0", C=3.0), svm("y ~ x + z", data, C=3.0 / (2 * np.log(2)))
    np.testing.assert_allclose(p0.decision_values, 2 * np.log(2) * hinge.decision_values, rtol=0, atol=TOL_SAME)
    np.testing.assert_allclose(p0.fittedvalues, hinge.fittedvalues, rtol=0, atol=TOL_SAME)


def test_predictors_that_say_nothing(K):
    """Equal rows of all levels: h = 0, so that all margins are infinite and nothing is explained."""
    data = pd.DataFrame({"x": np.repeat([0.0, 1.0], 2 * K), "y": list("abcdef"[:K]) * 4})
    fit = svm("y ~ x", data)
    assert np.isinf(fit.margin).all()
    np.testing.assert_allclose(fit.decision_values, 0.0, atol=1e-12)
    np.testing.assert_allclose(fit.predict_proba(), 1 / K, rtol=1e-6)
    assert fit.deviance == pytest.approx(fit.null_deviance, rel=1e-6)
    assert "inf" in str(fit.summary())


# Class weights and priors


@pytest.mark.parametrize("w", [np.ones(60), np.resize([1.0, 3.0, 0.0, 2.0], 60)], ids=["ones", "weights"])
def test_balanced_class_weights(w, K):
    data = sample(K)
    totals = pd.Series(w).groupby(data["y"]).sum()
    fit = svm("y ~ x + z", data, class_weight="balanced", weights=w)
    assert fit.class_weight == pytest.approx({level: w.sum() / (K * totals[level]) for level in totals.index})
    np.testing.assert_allclose(fit.machine.upper.max(axis=1), w * data["y"].map(fit.class_weight))


def test_priors_are_class_weights_in_proportion_to_the_ratio_of_shares(K):
    data, w = sample(K), np.resize([1.0, 3.0, 0.5], 60)
    levels = sorted(data["y"].unique())
    priors = dict(zip(levels, np.arange(1.0, K + 1) / np.arange(1, K + 1).sum(), strict=True))
    fit = svm("y ~ x + z", data, priors=priors, weights=w)
    shares = pd.Series(w).groupby(data["y"]).sum() / w.sum()
    ratio = pd.Series(priors) / shares
    assert fit.class_weight == pytest.approx((ratio / ratio.mean()).to_dict(), rel=1e-12)
    assert fit.priors == pytest.approx(priors)
    same = svm("y ~ x + z", data, class_weight=fit.class_weight, weights=w)
    assert_same_fit(fit, same, data, 1e-12)
    own = svm("y ~ x + z", data, priors=shares.to_dict(), weights=w)
    assert own.class_weight == pytest.approx(dict.fromkeys(levels, 1.0), rel=1e-12)


# Measures of fit


@pytest.mark.parametrize("which", [0, 1], ids=["class weights", "priors"])
def test_measures_of_fit_by_hand(which, K):
    data = sample(K, 90, apart=0.8)
    w = np.resize([1.0, 2.5, 0.0, 1.0], 90)
    fit = svm("y ~ x + z", data, weights=w, calibration="insample", **stakes(data)[which])
    observed, p = data["y"], fit.predict_proba()
    own = np.array([p.loc[k, level] for k, level in observed.items()])
    assert fit.llf == pytest.approx(w @ np.log(own), rel=1e-12)
    assert fit.deviance == -2 * fit.llf
    share = observed.map(pd.Series(w).groupby(observed).sum() / w.sum())
    assert fit.null_deviance == pytest.approx(-2 * w @ np.log(share), rel=1e-12)
    assert fit.pseudo_rsquared == pytest.approx(1 - fit.deviance / fit.null_deviance, rel=1e-12)
    predicted, levels = fit.predict(), list(fit.classes)
    by_hand = [[w[(observed == a) & (predicted == b)].sum() for b in levels] for a in levels]
    np.testing.assert_allclose(fit.confusion, by_hand)
    assert (fit.confusion.index.name, fit.confusion.columns.name) == ("observed", "predicted")
    assert fit.apparent_error == pytest.approx(w @ (observed != predicted) / w.sum())
    likeliest = (p * pd.Series(fit.class_weight)).idxmax(axis=1)
    assert fit.disagreement == pytest.approx(w @ (likeliest != predicted) / w.sum())
    plain = w @ (p.idxmax(axis=1) != predicted) / w.sum()
    assert which == 1 or fit.disagreement != pytest.approx(plain)
    assert fit.maps.totals.tolist() == fit.confusion.sum(axis=1).tolist()


def test_probabilities_of_two_levels_are_those_of_their_map():
    fit = svm("y ~ x + z", sample(2), weights="w")
    p, event = fit.predict_proba(), fit.event
    expected = 1 / (1 + np.exp(fit.calibration.slope * fit.decision_values + fit.calibration.intercept))
    close(p[event], expected)
    close(fit.fittedvalues, expected)
    close(p.sum(axis=1), np.ones(60))


def test_the_error_of_new_rows():
    data = sample(6, 120, apart=0.7)
    fit = svm("y ~ x + z", data[:80])
    assert fit.error() == fit.apparent_error
    new = data[60:].assign(v=np.resize([1.0, 3.0, 0.0], 60))
    wrong = fit.predict(new) != new["y"]
    assert 0 < fit.error(new) == pytest.approx(wrong.mean())
    assert fit.error(new, weights="v") == pytest.approx(new["v"] @ wrong / new["v"].sum())
    new.iloc[:10, new.columns.get_loc("y")] = None
    new.iloc[20:40, 0] = np.nan
    known = np.ones(60, bool)
    known[:10] = known[20:40] = False
    assert fit.error(new) == pytest.approx(wrong[known].mean())
    with pytest.raises(DataError, match="newdata has no row with the response and all predictors"):
        fit.error(new[~known])
    with pytest.raises(DataError, match="newdata has a new level of the response 'y' in row 60"):
        fit.error(data[60:].assign(y="new"))


# Labels


def labels_of(kind, K):
    """The K levels as a column, in an order that is not theirs, and in their order."""
    text, whole = list("bcafed")[:K], [7, -2, 3, 40, 11, 5][:K]
    match kind:
        case "text" | "objects":
            return pd.Series(text, dtype=None if kind == "text" else object), sorted(text)
        case "integers" | "small integers" | "nullable integers" | "whole floats":
            names = {"small integers": "int8", "nullable integers": "Int64", "whole floats": float}
            return pd.Series(whole, dtype=names.get(kind, int)), sorted(whole)
        case "categories":
            order = ["empty", *text[::-1]]
            return pd.Series(pd.Categorical(text, categories=order)), text[::-1]
        case "ordered":
            return pd.Series(pd.Categorical(text, categories=text, ordered=True)), text
        case "number categories":
            return pd.Series(pd.Categorical(whole, categories=whole[::-1])), whole[::-1]
        case "boolean" | "nullable boolean":
            return pd.Series([True, False], dtype="bool" if kind == "boolean" else "boolean"), [False, True]


KINDS = ["text", "objects", "integers", "small integers", "nullable integers", "whole floats", "categories", "ordered",
         "number categories", "boolean", "nullable boolean"]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_the_type_of_the_response(kind, K):
    if "boolean" in kind and K > 2:
        return
    values, levels = labels_of(kind, K)
    data = sample(K).set_axis([f"r{k}" for k in range(60)])
    data["y"] = values.take(np.resize([*range(K), *range((K + 1) // 2)], 60)).array
    fit = svm("y ~ x + z", data)
    assert fit.classes == tuple(levels) and fit.event == (levels[1] if K == 2 else None)
    assert fit.predict_proba().columns.tolist() == fit.confusion.index.tolist() == levels
    predicted = fit.predict()
    assert predicted.dtype == data["y"].dtype and predicted.name == "y" and predicted.index.equals(data.index)
    assert predicted.tolist() == votes(fit.machine.decision_values, fit.pairs, fit.classes)[0].tolist()
    assert fit.apparent_error == pytest.approx((predicted != data["y"]).mean())
    new = data.drop(columns="y").assign(x=data["x"].where(data["z"] < 30))
    lost, labels = new["x"].isna(), fit.predict(new)
    assert 0 < lost.sum() < 60
    assert (labels.isna() == lost).all()
    assert labels[~lost].tolist() == predicted[~lost].tolist()
    if isinstance(data["y"].dtype, pd.CategoricalDtype):
        assert labels.dtype == data["y"].dtype
    if kind in ("integers", "boolean"):
        assert str(labels.dtype) == {"integers": "Int64", "boolean": "boolean"}[kind]


# New rows


@ALL
def test_rows_of_the_fit_as_new_data(kernel, K):
    """All at once, one by one, in another order beside columns of no use, and none at all."""
    data = sample(K)
    fit = svm(FORMULA, data, kernel=kernel, weights="w")
    f = fit.decision_function(data)
    close(f, fit.decision_values)
    close(fit.predict_proba(data), fit.predict_proba())
    pd.testing.assert_series_equal(fit.predict(data), fit.predict())
    for row in (0, 7, 59):
        close(fit.decision_function(data.iloc[[row]]), f.iloc[[row]])
    shuffled = data.sample(frac=1.0, random_state=2)[["side", "site", "z", "x"]].assign(extra="new")
    close(fit.decision_function(shuffled).loc[data.index], f)
    assert fit.predict(shuffled).index.equals(shuffled.index)
    empty = data.head(0)
    assert fit.decision_function(empty).shape == ((0,) if K == 2 else (0, len(fit.pairs)))
    assert fit.predict(empty).dtype == data["y"].dtype
    assert fit.predict_proba(empty).shape == (0, K)


@ALL
def test_missing_predictors_give_missing_predictions(kernel, K):
    data = sample(K)
    fit = svm(FORMULA, data, kernel=kernel, weights="w")
    new = data.drop(columns=["y", "w"]).set_axis(data.index + 1000)
    new.loc[1003, "x"], new.loc[1005, "site"] = np.nan, None
    lost = new.index.isin([1003, 1005])
    couplings = [None] if K == 2 else [None, "hastie-tibshirani"]
    pairs = [(fit.predict_proba(new, coupling=each), fit.predict_proba(coupling=each)) for each in couplings]
    for values, full in ((fit.decision_function(new), fit.decision_values), *pairs):
        assert values.index.equals(new.index)
        assert values.ndim == 1 or values.columns.equals(full.columns)
        assert np.isnan(matrix(values)[lost]).all()
        close(matrix(values)[~lost], matrix(full)[~lost])
    assert (fit.predicted_codes(new) == -1).tolist() == fit.predict(new).isna().tolist() == lost.tolist()
    assert fit.predict(new)[~lost].tolist() == fit.predict()[~lost].tolist()
    nothing = fit.predict_proba(new[lost])
    assert nothing.shape == (2, K) and nothing.isna().all(axis=None)


# It stays what it is


@pytest.mark.parametrize("formula", ["y ~ x + site", "y ~ bs(x, df=4) + C(side)", "y ~ standardize(z)"])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda fit: pickle.loads(pickle.dumps(fit))])
def test_copies(formula, duplicate, K):
    data = sample(K)
    fit = svm(formula, data, weights=1 + data["w"], kernel="linear")
    other = duplicate(fit)
    assert str(other.summary()) == str(fit.summary())
    assert other.predict_proba(data).equals(fit.predict_proba(data))
    assert other.predict(data.head(2)).equals(fit.predict(data.head(2)))
    assert other.params.equals(fit.params)
    assert repr(other) == repr(fit)


class Meanwhile:
    """What another thread does while a fit is copied: it finds out more of it."""

    def __init__(self, fit):
        self.fit = fit

    def __reduce__(self):
        self.fit.__dict__["found since"] = True
        return Meanwhile, (None,)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda fit: pickle.loads(pickle.dumps(fit))])
def test_a_fit_is_copied_as_it_is_while_more_is_found_out(duplicate, K):
    fit = svm("y ~ x", sample(K, 30))
    fit.__dict__["meanwhile"] = Meanwhile(fit)
    assert "found since" not in duplicate(fit).__dict__


def test_a_fit_cannot_be_changed(K):
    fit = svm("y ~ x", sample(K, 30))
    with pytest.raises(AttributeError):
        fit.C = 3.0
    with pytest.raises(AttributeError):
        fit.alpha = fit.alpha


def test_the_same_call_gives_the_same_digits(K):
    one, other = (svm("y ~ x * z", sample(K), gamma="median") for _ in range(2))
    for name in ("decision_values", "alpha", "fittedvalues"):
        assert getattr(one, name).equals(getattr(other, name))
    assert one.deviance == other.deviance


@pytest.mark.parametrize("scale", [True, False])
def test_later_changes_of_data_do_not_change_the_fit(scale, K):
    data, weights = sample(K)[["x", "z", "y"]], np.resize([1.0, 2.0], 60)
    fit = svm("y ~ x + z", data, weights=weights, scale=scale)
    f, same = fit.decision_function(sample(K)), svm("y ~ x + z", data, weights=weights, scale=scale)
    deviance, score = same.deviance, same.loo().score
    data.loc[:, ["x", "z"]] = 0.0
    weights[:] = 5.0
    left = fit.loo().decision_values
    left.iloc[:] = 0.0
    assert (fit.loo().decision_values != 0).all(axis=None)
    assert fit.decision_function(sample(K)).equals(f)
    assert fit.deviance == deviance and fit.loo().score == score


KEPT = ["predict_proba", "decision_function", "decision_values", "fittedvalues", "alpha", "confusion", "n_support"]


@pytest.mark.parametrize("name", KEPT)
def test_later_changes_of_results_do_not_change_the_fit(name, K):
    """A column more, as one adds to look at the rows, is none of the fit's."""
    data = sample(K)
    fit = svm("y ~ x + z", data)
    before = fit.decision_function(data), fit.predict_proba(data), fit.alpha
    values = getattr(fit, name)() if callable(getattr(fit, name)) else getattr(fit, name)
    values.iloc[:] = 0
    if values.ndim == 2:
        values.insert(0, "more" if values.columns.nlevels == 1 else ("more", ""), 1.0)
    for found, expected in zip((fit.decision_function(data), fit.predict_proba(data), fit.alpha), before, strict=True):
        assert found.equals(expected)
    assert str(fit.summary()) == str(svm("y ~ x + z", data).summary())
    assert (fit.n_support["total"] > 0).all() and fit.confusion.to_numpy().sum() == 60


INDEXES = {
    "text": pd.Index([f"r{i}" for i in range(60)], name="row"),
    "duplicates": pd.Index([1, 2, 3] * 20),
    "levels": pd.MultiIndex.from_product([range(6), range(10)], names=["a", "b"]),
    "dates": pd.date_range("2020-01-01", periods=60),
    "backwards": pd.RangeIndex(59, -1, -1),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_results_are_on_the_index_of_the_data(index, K):
    data, inside = sample(K).set_axis(index), (sample(K)["x"] > -0.5).to_numpy()
    fit = svm("y ~ z + site", data, weights=data["w"], subset=data["x"] > -0.5)
    plain = svm("y ~ z + site", sample(K), weights="w", subset="x > -0.5")
    kept = index[inside]
    for result in (fit.alpha, fit.decision_values, fit.fittedvalues, fit.predict(), fit.predict_proba()):
        assert result.index.equals(kept)
        assert result.index.names == index.names
    assert fit.predict_proba(data).index.equals(index)
    assert fit.support.equals(kept[(matrix(plain.alpha) > 0).any(axis=1)])
    np.testing.assert_array_equal(fit.decision_values, plain.decision_values)


# What it looks like


def test_repr():
    two, more = svm("y ~ x", sample(2), C=0.25, gamma=0.5), svm("y ~ x", sample(6), weights="w", kernel="linear")
    vectors = f"{len(two.support)} support vectors"
    assert repr(two) == f"<svm: y ~ x | hinge, rbf(gamma=0.5), C=0.25 | n=60, 2 levels, {vectors}, loo not run>"
    score = two.loo().score
    assert repr(two).endswith(f"{vectors}, loo score {score:.5g}>")
    assert f"linear, C=1 | n=60 of weight {more.nobs:g}, 6 levels, " in repr(more)
    mackerel = datasets.load("mackerel")
    gram = pd.DataFrame(np.eye(60)).add_prefix("k").assign(y=mackerel["egg_count"][:60] > 0)
    wide = repr(svm("y ~ .", gram, kernel="precomputed"))
    assert len(wide) <= 120 and wide.startswith("<svm: y ~ k0 + k1 + ") and " + … | hinge, precomputed, C=1" in wide


def test_a_repr_says_what_is_not_certified(monkeypatch):
    fit = svm("y ~ x", sample(2))
    monkeypatch.setattr(type(fit), "converged", False)
    assert "support vectors, NOT certified, loo not run>" in repr(fit)


LONG = {"x": "the_temperature_of_the_water_at_twenty_metres", "z": "the_depth_of_the_sea_floor_below_the_vessel"}
RESULTS = {
    "fit": lambda fit: fit,
    "loo": lambda fit: fit.loo(),
    "kfold": lambda fit: fit.kfold(3),
    "apparent": lambda fit: fit.apparent,
    "reliability": lambda fit: fit.loo().reliability(),
    "influence": lambda fit: fit.get_influence(),
    "gof": lambda fit: fit.gof(B=39, rng=1),
    "bootstrap": lambda fit: fit.bootstrap(9, rng=1),
    "drop1": lambda fit: fit.drop1(),
    "effect": lambda fit: fit.effects(LONG["x"], B=39, rng=1),
    "effects": lambda fit: fit.effects(),
    "comparisons": lambda fit: fit.comparisons(),
    "permutation": lambda fit: fit.permutation_test(B=19, rng=1),
    "prediction": lambda fit: fit.get_prediction(B=39, rng=1),
    "compare": lambda fit: compare(fit, fit.update(C=4), fit.update(C=0.1)),
    "etable": lambda fit: etable([fit] * 40),
    "map": lambda fit: fit.calibration,
    "maps": lambda fit: fit.maps,
    "venn-abers": lambda fit: fit.update(calibration="venn-abers").calibration,
    "frame": lambda fit: fit.frame,
    "machine": lambda fit: fit.machine,
    "call": lambda fit: fit.call,
    "tune": lambda fit: tune(fit.formula, fit.frame.data, C=[fit.C], gamma=[1.0]),
}


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("result", RESULTS)
def test_every_result_is_one_line(result, K):
    data = sample(K).rename(columns={**LONG, "y": "whether_mackerel_spawned_there_in_that_year"})
    formula = f"whether_mackerel_spawned_there_in_that_year ~ {' * '.join(LONG.values())} + site + side"
    found = repr(RESULTS[result](svm(formula, data)))
    assert "\n" not in found and 20 < len(found) <= 120
    assert " object at 0x" not in found


@ALL
def test_summary_in_all_forms(kernel, K):
    fit = svm(FORMULA, sample(K), kernel=kernel, weights="w")
    text = str(fit.summary())
    assert max(map(len, text.splitlines())) <= 78
    violation = "KKT violation:" if K == 2 else "Largest KKT violation:"
    for words in (fit.formula.split(" + ")[0], violation, f"Kernel: {fit.kernel_name}"):
        assert words in " ".join(text.split())
    assert ("Objective:" in text) == (K == 2)
    assert re.search(r"<table", fit._repr_html_()) and fit._repr_html_() == fit.summary().as_html()
    assert r"\begin{" in fit.summary().as_latex()


# What it was made of


@pytest.mark.parametrize("K", [2, 3, 6])
def test_frame_and_matrix_are_those_of_the_rows_that_are_used(K):
    data = sample(K)
    data.loc[3, "z"] = np.nan
    fit = svm("y ~ np.log(z + 60) + site", data, subset="x < 1")
    used = data[(data["x"] < 1) & data["z"].notna()]
    pd.testing.assert_frame_equal(fit.model_frame, used[["y", "z", "site"]])
    assert list(fit.model_matrix) == list(fit.frame.design.column_names)
    assert fit.model_matrix.index.equals(used.index)
    close(fit.decision_function(fit.model_frame), fit.decision_values)
    close(fit.machine.decision_function(fit.model_matrix.to_numpy()), fit.machine.decision_values)


@pytest.mark.parametrize(("options", "remedy"), [({"nu": 0.4}, "a larger nu or"), ({"C": 2.0}, "a smaller C or")])
def test_what_helps_a_fit_that_is_not_certified(options, remedy, monkeypatch):
    fit = svm("y ~ x + z", sample(2, 40, seed=1), **options)
    monkeypatch.setattr(SVMResults, "status", Status.UNCERTIFIED)
    monkeypatch.setattr(SVMResults, "converged", False)
    assert remedy in fit.advice and remedy in " ".join(str(fit.summary()).split())


def test_the_kind_of_a_map_is_what_it_was_fitted_to():
    """All events are of one group: no held-out value of one is there for a map."""
    data = pd.DataFrame({"x": np.random.default_rng(0).normal(size=40), "g": np.arange(40) // 4})
    fit = svm("g == 2 ~ x", data, groups="g")
    assert fit.calibration.kind == "insample" and fit.calibration == fit.insample
    assert svm("x > 0 ~ g", data).calibration.kind == "loo"


@pytest.mark.parametrize("K", [2, 3])
def test_probabilities_that_are_all_the_same_disagree_with_no_prediction(K):
    """Of noise in as many rows of each level the map is flat: each level has 1/K, and none is called for."""
    flat = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        data = pd.DataFrame(rng.normal(size=(30 * K, 2)), columns=["x", "z"]).assign(y=np.tile(list("abc"[:K]), 30))
        fit = svm("y ~ x + z", data)
        if np.ptp(np.asarray(fit.predict_proba())) < 1e-9:
            flat += 1
            assert fit.disagreement == 0.0
    assert flat > 0
