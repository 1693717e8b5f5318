"""Effects and comparisons against scikit-learn, against their definitions by hand, and what they refuse."""

import re
import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import repeated, sample
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.inspection import partial_dependence

from svmstat import datasets, svm
from svmstat.diagnostics.band import Band
from svmstat.errors import ArgumentError, DataError, DesignWarning, UnavailableError

TOL = 1e-10  # means of the same predictions, added up in another order
FORMULA = "y ~ np.exp(x / 5) * site + z + x:z + C(side)"


@pytest.fixture(params=[2, 3], ids=["two", "three"])
def fit(request):
    return svm(FORMULA, sample(request.param, 60, seed=1), weights="w", C=2.0)


@pytest.fixture(scope="module")
def two():
    return svm("y ~ x + z + site", sample(2, 40, seed=1))


class Wrapped(ClassifierMixin, BaseEstimator):
    """A fit as scikit-learn sees it."""

    def __init__(self, fit=None):
        self.fit_of = fit
        self.classes_ = np.array(fit.classes)

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return self.fit_of.predict_proba(X).to_numpy()


def own_rows(fit):
    used = fit.frame.weights > 0
    return fit.model_frame[used].reset_index(drop=True), fit.frame.weights[used]


def shown(fit, p):
    """Of two levels the event only."""
    return p[..., [fit.classes.index(fit.event)]] if len(fit.classes) == 2 else p


def estimates(result, fit):
    q = 1 if len(fit.classes) == 2 else len(fit.classes)
    return result.summary_frame()["estimate"].to_numpy().reshape(-1, q)


@pytest.mark.parametrize("column", ["x", "z"])
def test_partial_dependence_is_that_of_scikit_learn(fit, column):
    rows, weights = own_rows(fit)
    arguments = {"method": "brute", "response_method": "predict_proba", "grid_resolution": 7}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = partial_dependence(Wrapped(fit), rows, [column], kind="individual", **arguments)
        mean = partial_dependence(Wrapped(fit), rows, [column], sample_weight=weights, **arguments)
    grid = theirs["grid_values"][0]
    pdp, ice = (fit.effects(column, kind=kind, grid=grid) for kind in ("pdp", "ice"))
    np.testing.assert_allclose(estimates(pdp, fit), mean["average"].T, rtol=TOL)
    np.testing.assert_allclose(estimates(ice, fit), mean["average"].T, rtol=TOL)
    curves = ice.curves.to_numpy().reshape(len(rows), -1, len(grid)).transpose(1, 0, 2)
    np.testing.assert_allclose(curves, theirs["individual"], rtol=TOL)
    assert list(ice.curves.index) == list(fit.frame.index[fit.frame.weights > 0])
    np.testing.assert_array_equal(pdp.summary_frame()[column].unique(), grid)


def test_a_map_is_that_of_scikit_learn(fit):
    rows, weights = own_rows(fit)
    effect = fit.effects(["x", "z"], kind="pdp", grid=4)
    grid = {name: np.unique(effect.summary_frame()[name]) for name in ("x", "z")}
    theirs = partial_dependence(
        Wrapped(fit), rows, ["x", "z"], sample_weight=weights, method="brute", custom_values=grid
    )["average"]
    mine = estimates(effect, fit)
    blank = np.isnan(mine[:, 0])
    assert 0 < blank.sum() < len(blank)
    np.testing.assert_allclose(mine[~blank], theirs.reshape(len(theirs), -1).T[~blank], rtol=TOL)


@pytest.mark.parametrize("on", ["prob", "decision"])
def test_accumulated_local_effects_by_the_definition(fit, on):
    """Bins (e_k, e_k+1] between observed quantiles; mean differences in a bin, summed, the mean of the middles zero."""
    rows, w = own_rows(fit)
    many = np.repeat(rows["x"].to_numpy(), w.astype(int))
    edges = np.unique([many.min(), *np.quantile(many, np.linspace(0, 1, 9), method="inverted_cdf")])
    which = pd.cut(rows["x"], edges, include_lowest=True, labels=False).to_numpy()

    def predicted(x):
        data = rows.assign(x=x)
        p = fit.predict_proba(data) if on == "prob" else fit.decision_function(data)
        values = p.to_numpy().reshape(len(p), -1)
        return shown(fit, values) if on == "prob" else values

    delta = predicted(edges[which + 1]) - predicted(edges[which])
    steps = [np.average(delta[which == k], axis=0, weights=w[which == k]) for k in range(len(edges) - 1)]
    effect = np.vstack([np.zeros(delta.shape[1]), np.cumsum(steps, axis=0)])
    effect -= np.average((effect[which] + effect[which + 1]) / 2, axis=0, weights=w)
    frame = fit.effects("x", on=on, grid=8).summary_frame()
    np.testing.assert_allclose(frame["estimate"].to_numpy().reshape(len(edges), -1), effect, rtol=1e-8, atol=TOL)
    np.testing.assert_array_equal(frame["x"].unique(), edges)
    assert frame[["lower", "upper"]].isna().all(axis=None)


def test_of_an_additive_f_the_effect_is_its_term():
    data = sample(2, 60, seed=2)
    fit = svm("y ~ np.exp(x / 5) + z", data, kernel="linear")
    frame = fit.effects("x", on="decision", grid=5).summary_frame()
    slope = fit.params["np.exp(x / 5)"]
    rises = np.diff(frame["estimate"])
    np.testing.assert_allclose(rises, slope * np.diff(np.exp(frame["x"] / 5)), rtol=1e-9, atol=TOL)
    pair = fit.effects(("x", "z"), on="decision").summary_frame()["estimate"]
    np.testing.assert_allclose(pair.dropna(), 0.0, atol=TOL)


def test_average_predictions_by_level_and_their_differences(fit):
    rows, w = own_rows(fit)
    by_hand = [
        np.average(shown(fit, fit.predict_proba(rows.assign(site=level)).to_numpy()), axis=0, weights=w)
        for level in ("east", "north", "south")
    ]
    effect = fit.effects("site")
    assert effect.kind == "average" and effect.summary_frame()["site"].unique().tolist() == ["east", "north", "south"]
    np.testing.assert_allclose(estimates(effect, fit), by_hand, rtol=TOL)
    for compared in (effect.differences, fit.comparisons("site")):
        assert list(dict.fromkeys(compared.summary_frame()["contrast"])) == ["north - east", "south - east"]
        np.testing.assert_allclose(estimates(compared, fit), np.array(by_hand[1:]) - by_hand[0], rtol=1e-8, atol=TOL)
    one = fit.comparisons("site", step=("south", "north"))
    np.testing.assert_allclose(estimates(one, fit)[0], by_hand[1] - by_hand[2], rtol=1e-8, atol=TOL)


@pytest.mark.parametrize("step", [1, -0.5, "sd", (-0.5, 0.75)])
def test_comparisons_by_hand(fit, step):
    rows, w = own_rows(fit)
    x = rows["x"]
    low, high = (x, x + step) if np.isscalar(step) and step != "sd" else step if step != "sd" else (None, None)
    if step == "sd":
        many = np.repeat(x.to_numpy(), w.astype(int))
        low, high = many.mean() - many.std(ddof=1) / 2, many.mean() + many.std(ddof=1) / 2
    p = [shown(fit, fit.predict_proba(rows.assign(x=value)).to_numpy()) for value in (high, low)]
    found = fit.comparisons("x", step=step)
    np.testing.assert_allclose(
        estimates(found, fit)[0], np.average(p[0] - p[1], axis=0, weights=w), rtol=1e-8, atol=TOL
    )
    if step == 1:
        assert found.beyond == (int((x + 1 > x.max()).sum()),)
        assert f"x +1: {found.beyond[0]}" in str(found)


def test_small_changes_keep_their_digits_and_signs():
    data = sample(2, 80, seed=3)
    data["x"] *= 10_000.0
    found = svm("y ~ x + z", data).comparisons(B=39, rng=1)
    row = found.summary_frame().iloc[0]
    assert 0.0 < abs(row["estimate"]) < 1e-3
    printed = next(line for line in str(found).splitlines() if line.startswith("x: +1")).split()[2:]
    np.testing.assert_allclose(
        [float(each) for each in printed], row[["estimate", "lower", "upper"]].astype(float), rtol=0.01
    )


def test_weights_are_repeats():
    data = sample(3, 40, seed=4)
    many = svm(FORMULA, repeated(data), C=2.0)
    fit = svm(FORMULA, data, weights="w", C=2.0)
    for draw in (lambda each: each.effects(), lambda each: each.comparisons(), lambda each: each.effects(("x", "z"))):
        mine, theirs = (draw(each).summary_frame() for each in (fit, many))
        pd.testing.assert_frame_equal(mine, theirs, rtol=1e-6, atol=1e-8)  # two certified fits of one sample


@pytest.mark.parametrize("kind", ["ale", "pdp"])
def test_a_band_is_percentiles_of_the_effects_of_replicates(fit, kind):
    drawn = fit.bootstrap(B=39, rng=3)
    frame = fit.effects("x", kind=kind, B=drawn, grid=3, on="decision").summary_frame()
    rows, w = own_rows(fit)
    values = frame["x"].unique()
    f = np.stack([drawn.decision_function(rows.assign(x=value)) for value in values])  # (v, B, n, P)
    if kind == "pdp":
        each = np.average(f, axis=2, weights=w)
    else:
        which = np.maximum(np.searchsorted(values, rows["x"]) - 1, 0)
        bins = [which == k for k in range(len(values) - 1)]
        steps = [np.average((f[k + 1] - f[k])[:, own], axis=1, weights=w[own]) for k, own in enumerate(bins)]
        each = np.concatenate([np.zeros((1, *steps[0].shape)), np.cumsum(steps, axis=0)])
        groups, used = fit.machine.groups, fit.frame.weights > 0
        copies = drawn.replicates.counts[:, groups.of_row[used]] * groups.share[used]  # over which a curve is centred
        in_bins = np.array([copies[:, own].sum(axis=1) for own in bins]) / copies.sum(axis=1)
        each = each - np.sum((each[:-1] + each[1:]) / 2 * in_bins[:, :, None], axis=0)
    P = f.shape[-1]
    for name, place in (("lower", 0), ("upper", -1)):  # of 39, at 0.95 the least and the greatest
        by_hand = np.sort(each, axis=1)[:, place]
        np.testing.assert_allclose(frame[name].to_numpy().reshape(-1, P), by_hand, rtol=1e-8, atol=1e-10)


def test_replicates_are_the_same_for_all(fit):
    drawn = fit.bootstrap(B=39, rng=3)
    every = fit.effects(B=39, rng=3)
    alone = fit.effects("x", B=drawn, n_jobs=2)
    pd.testing.assert_frame_equal(every["x"].summary_frame(), alone.summary_frame(), check_exact=True)
    assert [each.name for each in every] == ["x", "site", "z", "side"] and len(every) == 4
    together = fit.comparisons(B=drawn, n_jobs=2).summary_frame()
    again = fit.comparisons(B=39, rng=3).summary_frame()
    pd.testing.assert_frame_equal(together, again, check_exact=True)
    site = every["site"].differences.summary_frame()
    pd.testing.assert_frame_equal(site, again[again["term"] == "site"].reset_index(drop=True), rtol=1e-9)


def test_failed_replicates_are_counted():
    data = pd.DataFrame({"y": [0] * 14 + [1], "x": np.arange(15.0)})
    fit = svm("y ~ x", data, calibration="insample")
    found = fit.effects("x", B=39, rng=1)
    assert found.band.n_failed > 0 and found.band.B == 39
    text = " ".join(str(found).split())
    assert f"failed: {found.band.n_failed}" in text and "too few are left for an interval" in text
    assert np.isnan(found.band.lower).all()


@pytest.mark.parametrize("calibration", ["auto", "venn-abers", "insample"])
def test_ten_rows(calibration):
    data = pd.DataFrame({"y": [0, 1] * 5, "x": np.arange(10.0), "s": list("ab") * 5, "c": 1.0})
    with pytest.warns(match="constant"):
        fit = svm("y ~ x + s + c", data, calibration=calibration)
    found = fit.effects(B=39, rng=1)
    assert found.constant == ("c",) and "having one value only: c" in str(found)
    assert np.isfinite(found["x"].estimate).all() and len(found["x"].grid[0]) == 10
    with pytest.raises(ArgumentError, match="x='c' has one value in all rows"):
        fit.effects("c")
    with pytest.raises(ArgumentError, match="has one value"):
        fit.comparisons("c")


def test_what_goes_by_levels():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"y": rng.integers(0, 2, 60), "many": rng.integers(0, 12, 60), "two": np.resize([2.5, 7], 60)})
    data["flag"], data["kind"] = data["two"] > 3, pd.Categorical(np.resize(list("qpr"), 60), categories=list("zrqp"))
    data["number"] = rng.normal(size=60)
    fit = svm("y ~ C(many) + two + flag + kind + I(number > 0) + number", data)
    found = {each.name: each for each in fit.effects()}
    assert {name for name, each in found.items() if each.kind == "average"} == {"many", "two", "flag", "kind"}
    assert list(found["kind"].summary_frame()["kind"]) == ["r", "q", "p"]
    assert list(found["flag"].summary_frame()["flag"]) == [False, True]
    assert len(found["many"].differences.labels) == 11
    assert found["two"].differences.labels == ("7 - 2.5",)


def test_levels_have_the_order_of_the_formula():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"g": rng.choice(list("abc"), 60), "k": rng.integers(0, 3, 60), "two": np.resize([0, 1], 60)})
    data["y"] = rng.integers(0, 2, 60)
    plain = svm("y ~ g + C(k) + C(two)", data)
    fit = svm("y ~ C(g, levels=['c', 'a', 'b']) + C(k, levels=[2, 0, 1]) + C(two, levels=[1, 0])", data)
    assert fit.comparisons("g").labels == ("a - c", "b - c") and plain.comparisons("g").labels == ("b - a", "c - a")
    assert fit.comparisons("k").labels == ("0 - 2", "1 - 2") and fit.comparisons("two").labels == ("0 - 1",)
    for name in ("g", "k", "two"):
        own, sorted_ = (each.effects(name).summary_frame().set_index(name)["estimate"] for each in (fit, plain))
        np.testing.assert_allclose(own[sorted_.index], sorted_, atol=1e-9)
        assert list(own.index) == list(fit.effects(name).variables[0].levels)


WRONG = [
    ("effects", {"x": "sit"}, "x='sit' is not allowed: it must be a column of the data that the formula reads ('x', "),
    ("effects", {"x": "sit"}, "did you mean 'site'?"),
    ("effects", {"x": ("x", "x")}, "is not allowed: it must be a column, two different ones"),
    ("effects", {"x": ("x", "z"), "kind": "ice"}, "kind='ice' is not allowed: it must be 'ale' or 'pdp' for two"),
    ("effects", {"x": "x", "kind": "pd"}, "kind='pd' is not allowed: it must be one of 'ale', 'pdp', 'ice'"),
    ("effects", {"x": "x", "on": "odds"}, "on='odds' is not allowed"),
    ("effects", {"x": "x", "B": 38}, "with level=0.95, B=38 is not allowed: it must be an integer >= 39"),
    ("effects", {"x": "x", "level": 1.0}, "level=1.0 is not allowed"),
    ("effects", {"x": "x", "grid": 0}, "grid=0 is not allowed"),
    ("effects", {"x": "x", "kind": "pdp", "grid": [99.0]}, "grid=99.0 is not allowed: it must be between"),
    ("effects", {"x": "x", "grid": [0.0]}, "is not allowed: it must be an integer, except for 'pdp'"),
    ("effects", {"x": "x", "kind": "ice", "B": 39}, "it must be 0 with kind='ice'"),
    ("comparisons", {"x": "x", "step": 99}, "step=99 is not allowed"),
    ("comparisons", {"x": "x", "step": (0.5, 0.5)}, "step=(0.5, 0.5) is not allowed: it must be a pair of two values"),
    ("comparisons", {"x": "site", "step": ("east", "east")}, "must be a pair of two values"),
    ("comparisons", {"x": "x", "step": 0}, "step=0 is not allowed"),
    ("comparisons", {"x": "x", "step": np.array([0.0, 1.0])}, "must be a number, 'sd' or a pair"),
    ("comparisons", {"x": "x", "step": pd.NA}, "must be a finite number, 'sd' or a pair"),
    ("comparisons", {"x": "x", "step": "2sd"}, "step='2sd' is not allowed: it must be a finite number, 'sd' or a pair"),
    ("comparisons", {"x": "x", "step": (0.0, 99.0)}, "step=99.0 is not allowed: it must be between"),
    (
        "comparisons",
        {"x": "site", "step": ("east", "west")},
        "step='west' is not allowed: it must be a level of",
    ),
    ("comparisons", {"x": "site", "step": 2}, "step=2 is not allowed: it must be a pair of levels"),
    ("comparisons", {"step": (0.0, 1.0)}, "where x names no column"),
    ("comparisons", {"x": ("x", "z")}, "it must be one column"),
]


@pytest.mark.parametrize(("method", "arguments", "message"), WRONG)
def test_arguments(two, monkeypatch, method, arguments, message):
    def fail(*_, **__):
        raise AssertionError("something was solved")

    monkeypatch.setattr("svmstat.results.uncertainty.pairs_replicates", fail)
    monkeypatch.setattr("svmstat.results.explained.means", fail)
    with pytest.raises(ArgumentError, match=re.escape(message)):
        getattr(two, method)(**arguments)


def test_what_there_is_not(two):
    with pytest.raises(ArgumentError, match="another fit"):
        two.effects("x", B=two.update(C=3).bootstrap(39))
    data = sample(2, 20)
    given = svm("y ~ .", pd.DataFrame(np.eye(20)).assign(y=data["y"]), kernel="precomputed")
    with pytest.raises(UnavailableError, match="precomputed kernel"):
        given.effects()
    logs = svm("y ~ np.log(x - z) + z", data.assign(x=np.arange(20.0), z=np.arange(20.0) - 1.0 - data["x"] ** 2))
    with pytest.warns(DesignWarning), pytest.raises(DataError, match=r"with x = 0.0 .* has no value in \d+ of 20 rows"):
        logs.effects("x", kind="pdp")
    with pytest.raises(ArgumentError, match=re.escape("the term 'np.log(x - z)' reads 'x', 'z'")):
        logs.effects("np.log(x - z)")


@pytest.mark.parametrize("asked", ["x", "site", ("x", "z"), ("site", "x"), ("site", "side"), None])
@pytest.mark.parametrize("B", [0, 39])
def test_every_effect_is_drawn_and_printed(fit, asked, B):
    found = fit.effects(asked, B=B, rng=1, grid=4)
    axes = np.ravel(found.plot())
    axes[0].figure.canvas.draw()
    text = " ".join(str(found).split())
    assert ("They are no confidence interval for a true effect" in text) == (B > 0)
    assert ("benchmarks validity effects" in text) == (B > 0)
    assert "no causal effect" in text
    assert repr(found).startswith("<Effect")
    plt.close("all")
    compared = fit.comparisons(B=B, rng=1)
    compared.plot().figure.canvas.draw()
    plt.close("all")
    assert ("no confidence interval" in " ".join(str(compared).split())) == (B > 0)


def test_levels_that_are_numbers_are_written_out():
    rng = np.random.default_rng(0)
    codes, parts = np.array([10115, 20095, 50667])[np.arange(60) % 3], np.array([250.135, 401.923])[np.arange(60) % 2]
    data = pd.DataFrame({"post": codes, "part": parts, "x": rng.normal(size=60), "z": rng.normal(size=60)})
    data["y"] = data["x"] + rng.normal(size=60) > 0
    fit = svm("y ~ C(post) + C(part) + x + z", data)
    for name, shown in (("post", ["post = 10115", "post = 50667"]), ("part", ["part = 250.135", "part = 401.923"])):
        assert all(each in str(fit.effects(name)) for each in shown)
    title = fit.plot_surface(x="x", y="z", at={"post": 20095}).get_title("left")
    assert "post = 20095" in title and ("part = 250.135" in title or "part = 401.923" in title)
    plt.close("all")


def test_a_column_with_a_name_of_the_table():
    data = sample(3, 40).rename(columns={"x": "level", "z": "estimate"})
    fit = svm("y ~ level + estimate", data)
    assert list(fit.effects("level").summary_frame()) == ["level_value", "level", "estimate", "lower", "upper"]
    assert list(fit.effects("estimate").summary_frame()) == ["estimate_value", "level", "estimate", "lower", "upper"]


def test_the_axis_is_that_of_the_data():
    fit = svm("disease ~ np.log(ast) + np.log(alt) + np.log(gldh)", datasets.load("liver"), C=4)
    frame = fit.effects("ast").summary_frame()
    assert frame["ast"].min() == 20 and frame["ast"].max() == 2298
    assert frame["level"].unique().tolist() == list(fit.classes)
    sums = frame.groupby("ast")["estimate"].sum()
    np.testing.assert_allclose(sums, 0.0, atol=TOL)  # probabilities add up to one


def test_comparisons_say_where_their_steps_lead(two):
    down, sd = str(two.comparisons("x", step=-0.5)), " ".join(str(two.comparisons("x", step="sd")).split())
    beyond = int((two.frame.data["x"] - 0.5 < two.frame.data["x"].min()).sum())
    assert f"whose step ends beyond the values observed: x -0.5: {beyond}." in " ".join(down.split()) and beyond
    assert "sd is from half a standard deviation below the mean of the column" in sd and "sd is from" not in down
    assert "A step of a number goes from x to x + step." in " ".join(down.split()) and "A step of a number" not in sd
    pair = " ".join(str(two.comparisons("x", step=(0.0, 1.0))).split())
    assert "A label b - a is from a to b." in pair and "A step of a number" not in pair


def test_a_step_that_a_term_does_not_allow_names_the_column():
    data = sample(2, 60, seed=4)
    fit = svm("y ~ bs(x, df=4) + side", data)
    with pytest.raises(DataError, match=r"with 'x' altered, newdata term 'bs\(x, df=4\)' cannot be.*, 'sd' or a pair"):
        fit.comparisons()
    assert list(fit.comparisons("x", step="sd").labels) == ["sd"]


def test_columns_of_less_than_a_step_go_by_their_standard_deviation():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"small": rng.random(60), "x": rng.normal(size=60)}).assign(y=np.arange(60) % 2)
    fit = svm("y ~ small + x", data)
    found = fit.comparisons()
    assert found.labels == ("sd", "+1")
    assert found.estimate[0] == fit.comparisons("small", step="sd").estimate[0]
    with pytest.raises(ArgumentError, match="step=1 is not allowed"):
        fit.comparisons("small")


def with_gaps():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=90), "f": rng.choice(["u", "v", None], 90)})
    data["x"] = np.where(np.arange(90) % 5 == 0, np.nan, rng.normal(size=90))
    return data.assign(y=data["a"] + 2.0 * (data["f"] == "v") + rng.normal(size=90) > 0.5)


def test_what_is_missing_and_filled_by_a_term_is_a_level():
    data = with_gaps()
    fit = svm("y ~ a + f.fillna('none')", data, kernel="linear")
    by_hand = [fit.predict_proba(data.assign(f=level))[True].mean() for level in ("u", "v", None)]
    found = fit.effects("f").summary_frame()
    np.testing.assert_allclose(found["estimate"], by_hand, rtol=TOL)
    assert found["f"].tolist()[:2] == ["u", "v"] and pd.isna(found["f"].iloc[2])
    contrasts = fit.comparisons("f").summary_frame()["estimate"]
    np.testing.assert_allclose(contrasts, [by_hand[1] - by_hand[0], by_hand[2] - by_hand[0]], rtol=TOL)
    fit.plot_residuals()


def test_along_numbers_that_are_missing_there_is_nothing_to_show():
    fit = svm("y ~ a + np.nan_to_num(x) + f.fillna('none')", with_gaps())
    for asked in ("x", None):
        with pytest.raises(DataError, match="the column 'x' is missing in 18 of 90 rows, for which a term has a value"):
            fit.effects(asked)
    assert fit.effects("a").name == "a"
    fit.plot_surface()


def test_values_that_differ_are_printed_so():
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"pressure": 101325 + 300 * rng.normal(size=60), "y": rng.random(60) < 0.5})
    fit = svm("y ~ pressure", data)
    names = re.findall(r"pressure = (\S+)", str(fit.effects("pressure").summary()))
    assert len(set(names)) == len(names) > 8 and all(len(name) == 6 for name in names)
    data["pressure"] += 1e9 - 101325
    low, high = re.search(r"(\S+) to (\S+)", str(svm("y ~ pressure", data).effects().summary())).groups()
    assert float(low) < float(high)


def test_a_small_change_is_not_printed_as_none_for_want_of_an_interval(two):
    found = two.comparisons("x", B=39, rng=1)
    nothing = np.full_like(found.estimate, np.nan)
    small = replace(found, estimate=np.full_like(found.estimate, 1.77e-11))
    small = replace(small, band=replace(found.band, lower=nothing, upper=nothing))
    assert "1.77e-11" in str(small.summary())


def test_a_standard_deviation_that_would_leave_the_data_starts_at_their_end():
    """Most of the column is 0: half a standard deviation below its mean there is nothing."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"age": rng.normal(50.0, 10.0, 100)})
    data["share"] = np.where(rng.random(100) < 0.9, 0.0, rng.uniform(0.3, 0.9, 100))
    data["y"] = data["age"] / 10.0 + 3.0 * data["share"] + rng.normal(size=100) > 5.2
    fit = svm("y ~ age + share", data)
    found, sd = fit.comparisons().summary_frame().set_index("term"), data["share"].std()
    by_hand = fit.comparisons("share", step=(0.0, sd)).summary_frame()["estimate"].item()
    assert found.loc["share", "contrast"] == "sd"
    assert found.loc["share", "estimate"] == pytest.approx(by_hand, abs=TOL)
    assert "where that would leave the data, from their end" in " ".join(str(fit.comparisons("share", "sd")).split())


def test_labels_tell_values_apart():
    """Codes and dates that are numbers with a missing value."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=90), "day": rng.choice([1234561.0, 1234562.0, 1234563.0], 90)})
    data.loc[0, "day"] = np.nan
    data["y"] = data["x"] + rng.normal(size=90) > 0
    fit = svm("y ~ x + C(day)", data)
    wanted = ["1234562 - 1234561", "1234563 - 1234561"]
    assert fit.comparisons("day").summary_frame()["contrast"].tolist() == wanted
    effect = fit.effects("day")
    assert all(label in str(effect) for label in wanted)
    assert [text.get_text() for text in effect.plot().get_xticklabels()] == ["1234561", "1234562", "1234563"]
    pair = fit.comparisons("x", step=(0.0001234, 0.00012341)).summary_frame()["contrast"].item()
    assert pair == "0.00012341 - 0.0001234"


def test_an_impossible_row_is_named_by_its_label():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"age": [np.nan, np.nan, *rng.integers(20, 60, 57), 80.0], "z": rng.normal(size=60)})
    data.index = [f"P{k}" for k in range(60)]
    data["y"] = data["z"] + rng.normal(size=60) > 0
    for B in (0, 39):
        with pytest.raises(DataError, match=r"cannot be computed in row 'P59', where age=81\.0"):
            svm("y ~ bs(age, df=4) + z", data).comparisons("age", B=B)


@pytest.mark.parametrize("values", [None, ["u", "v"]])
def test_a_level_of_the_response_may_have_the_name_of_the_predictor(values):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["water", "lon"])
    data["y"] = np.where(data["water"] > 0.5, "water", np.where(data["lon"] > 0, "grass", "tree"))
    if values:
        data["water"] = rng.choice(values, 90)
    odd = svm("y ~ water + lon", data).effects("water")
    plain = svm("y ~ depth + lon", data.rename(columns={"water": "depth"})).effects("depth")
    assert str(odd).replace("water = ", "depth = ").count("depth = ") == str(plain).count("depth = ")
    numbers = [[line.split()[3:] for line in str(each).splitlines() if " = " in line[:9]] for each in (odd, plain)]
    assert numbers[0] == numbers[1] and numbers[0]


def test_every_level_has_a_table_of_its_own():
    found = svm("y ~ x + z", sample(3, 60, seed=1)).comparisons(B=39, rng=1)
    frame, tables = found.summary_frame(), found.tables()
    for level, table in zip("abc", tables, strict=True):
        assert table.title == f"P(y = {level})"
        np.testing.assert_allclose(table.cells, frame.loc[frame["level"] == level, ["estimate", "lower", "upper"]])


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        ((0.00412, 0.00123, 0.00876), ["0.00412", "0.00123", "0.00876"]),
        ((0.00412, -0.00123, 0.0212), ["0.0041", "-0.0012", "0.0212"]),
    ],
)
def test_only_changes_that_are_all_small_have_three_digits(two, numbers, shown):
    found = two.comparisons("x", B=39, rng=1)
    estimate, lower, upper = (np.full_like(found.estimate, each) for each in numbers)
    found = replace(found, estimate=estimate, band=replace(found.band, lower=lower, upper=upper))
    assert next(line for line in str(found).splitlines() if line.startswith("x: +1")).split()[2:] == shown


def test_comparisons_outside_their_intervals_are_told(two):
    found = two.comparisons("x", B=39, rng=1)
    above = replace(found.band, lower=found.estimate + 0.1, upper=found.estimate + 0.2)
    inside = replace(found.band, lower=found.estimate - 0.1, upper=found.estimate + 0.2)
    for band, count in ((above, 1), (inside, 0)):
        text = " ".join(str(replace(found, band=band)).split())
        assert f"estimates outside: {count}" in text
        assert ("WARNING: the estimate lies outside its interval in 1 of 1 estimates" in text) == bool(count)


def test_the_figure_of_one_column_names_it_once(two):
    ax = two.comparisons("site").plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["north - east", "south - east"]
    assert "site" in ax.get_title("left")
    plt.close(ax.figure)


def test_a_curve_is_drawn_at_quantiles_and_a_map_at_even_steps(fit):
    rows, w = own_rows(fit)
    many = np.repeat(rows["x"].to_numpy(), w.astype(int))
    quantiles = np.unique(np.quantile(many, np.linspace(0, 1, 5), method="inverted_cdf"))
    for kind in ("pdp", "ice"):
        np.testing.assert_array_equal(fit.effects("x", kind=kind, grid=4).summary_frame()["x"].unique(), quantiles)
    frame = fit.effects(["x", "z"], kind="pdp", grid=4).summary_frame()
    for name in ("x", "z"):
        np.testing.assert_allclose(frame[name].unique(), np.linspace(rows[name].min(), rows[name].max(), 5))


def test_a_curve_has_each_value_once_and_no_gaps():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": np.r_[np.zeros(40), rng.uniform(0.0, 1.0, 10), rng.uniform(9.0, 10.0, 10)]})
    fit = svm("y ~ x", data.assign(y=np.arange(60) % 3 == 0))
    frame = fit.effects("x", kind="pdp", grid=8).summary_frame()
    assert frame["x"].is_unique and frame["x"].iloc[0] == 0.0
    assert fit.effects("x", kind="pdp", grid=[0.0, 5.0, 9.5]).summary_frame()["estimate"].notna().all()


def test_what_two_columns_do_together_has_no_part_of_either(fit):
    """Over the weights of the cells the surface has mean zero, and rises in neither direction."""
    rows, w = own_rows(fit)
    found = fit.effects(("x", "z"), on="decision", grid=3)
    cells = [np.maximum(np.searchsorted(each, rows[name]) - 1, 0) for each, name in zip(found.grid, "xz", strict=True)]
    totals = np.zeros([len(each) - 1 for each in found.grid])
    np.add.at(totals, tuple(cells), w)
    for surface in np.moveaxis(found.estimate, -1, 0):
        assert np.ptp(surface) > 0.01
        for turned, weights in ((surface, totals), (surface.T, totals.T)):
            rises = np.diff(turned, axis=0)
            mean = np.average((rises[:, 1:] + rises[:, :-1]) / 2, axis=1, weights=weights)
            np.testing.assert_allclose(mean, 0.0, atol=TOL)
        corners = surface[1:, 1:] + surface[1:, :-1] + surface[:-1, 1:] + surface[:-1, :-1]
        assert np.average(corners / 4, weights=totals) == pytest.approx(0.0, abs=TOL)


@pytest.mark.parametrize("pair", [("x", "site"), ("x", "z")])
def test_a_frame_says_of_which_values_and_level_a_mean_is(fit, pair):
    rows, w = own_rows(fit)
    frame = fit.effects(pair, kind="pdp", grid=3).summary_frame().dropna(subset=["estimate"]).iloc[::4]
    levels = frame["level"] if "level" in frame else [fit.event] * len(frame)
    for first, second, level, estimate in zip(frame[pair[0]], frame[pair[1]], levels, frame["estimate"], strict=True):
        p = fit.predict_proba(rows.assign(**dict(zip(pair, (first, second), strict=True))))[level]
        assert estimate == pytest.approx(np.average(p, weights=w), rel=TOL)


def test_what_is_printed_of_a_map_are_values_of_its_frame(fit):
    found = fit.effects(("x", "z"), kind="pdp", grid=7)
    frame = found.summary_frame()
    known, q = frame.dropna(subset=["estimate"]), found.estimate.shape[-1]
    picked = np.unique(np.linspace(0, len(known) // q - 1, 12).round().astype(int))
    table = found.summary().parts[1]
    np.testing.assert_allclose(table.cells, known["estimate"].to_numpy().reshape(-1, q)[picked])
    places = [[float(each) for each in re.findall(r"= (\S+?)(?:,|$)", name)] for name in table.index]
    np.testing.assert_allclose(places, known[["x", "z"]].iloc[::q].iloc[picked], rtol=0.01, atol=0.01)
    blank = int(frame["estimate"].isna().sum()) // q
    assert 0 < blank < 52 and f"Values without data near: {blank}" in " ".join(str(found).split())
    assert f"(at 12 of {64 - blank} values)" in " ".join(str(found).split())


def test_the_range_of_an_effect_is_over_what_its_frame_shows(fit):
    page = fit.effects(grid=4)
    for cells, each in zip(page.summary().parts[1].cells, page, strict=True):
        np.testing.assert_allclose(cells[2:], np.ptp(estimates(each, fit), axis=0))
    pair = fit.effects(("x", "z"), kind="pdp", grid=4)
    shown = estimates(pair, fit)
    np.testing.assert_allclose(pair.spread, np.nanmax(shown, axis=0) - np.nanmin(shown, axis=0))
    everywhere = np.ptp(pair.estimate.reshape(len(shown), -1), axis=0)
    assert (pair.spread < everywhere).any()


def test_what_is_blank_on_a_map_is_not_outside_its_band(fit):
    found = fit.effects(("x", "z"), kind="pdp", grid=4)
    blank, estimate = ~found.near[..., None], found.estimate
    assert blank.mean() > 0.1
    shown = replace(found, band=Band(estimate + np.where(blank, 1.0, -1.0), estimate + 2.0, 0.95, 99, 0))
    text = " ".join(str(shown).split())
    assert "estimates outside: 0" in text and "WARNING" not in text


@pytest.mark.parametrize(("kind", "meaning"), [("pdp", "Partial dependence: the"), ("ale", "Second-order accumulated")])
def test_a_map_says_what_it_is_of(two, kind, meaning):
    assert meaning in " ".join(str(two.effects(("x", "z"), kind=kind, grid=3)).split())


def test_means_over_two_altered_columns_say_so(fit):
    text = " ".join(str(fit.effects(("x", "z"), kind="pdp", grid=3)).split())
    assert "the mean prediction with both columns at these values in every row" in text
    mean = " ".join(str(fit.effects(("x", "site"), grid=3)).split())
    assert "Average prediction: the mean with both columns at these values in every row" in mean


@pytest.mark.parametrize("formula", ["y ~ x", "y ~ x + z", "y ~ x + z + site"])
def test_curves_of_each_predictor_however_many_there_are(formula):
    effects = svm(formula, sample(2)).effects(kind="ice", grid=3)
    assert [each.kind for each in effects if each.name != "site"] == ["ice"] * min(2, formula.count("+") + 1)


def test_few_values_are_printed_all(fit):
    found = fit.effects("x", kind="pdp", grid=4)
    table = found.summary().parts[1]
    assert len(table.index) == len(found.grid[0]) and "(at" not in table.title


def test_lines_by_level_end_where_rows_do_in_either_order():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.uniform(0.0, 10.0, 90), "site": np.resize(["a", "b", "c"], 90)})
    data["x"] = data["x"].where(data["site"] != "b", data["x"] / 3.0)
    fit = svm("y ~ x + site", data.assign(y=rng.random(90) < 0.5))
    drawn = []
    for pair in (("x", "site"), ("site", "x")):
        ax = fit.effects(pair, kind="pdp").plot()
        drawn.append([line.get_xydata()[np.isfinite(line.get_ydata())] for line in ax.lines])
        plt.close(ax.figure)
    assert len({len(each) for each in drawn[0]}) > 1
    for one, other in zip(*drawn, strict=True):
        np.testing.assert_allclose(one, other)


def test_a_frame_that_allows_no_label_twice_has_effects_too():
    """Rows are repeated in effects, which is no matter of the labels of the data."""
    data = sample(2, 40)
    fits = [svm("y ~ x + site", each) for each in (data, data.set_flags(allows_duplicate_labels=False))]
    assert len({str(fit.effects("x")) for fit in fits}) == 1
    assert len({str(fit.comparisons("site")) for fit in fits}) == 1


@pytest.mark.parametrize("grid", ["12", ["0", "1"], [True, False], {0.0: 1.0}])
def test_a_grid_is_of_numbers(grid):
    fit = svm("y ~ x + z", sample(2, 40))
    with pytest.raises(ArgumentError, match=r"grid=.* is not allowed"):
        fit.effects("x", kind="pdp", grid=grid)


def tenths(n=120):
    """A column of tenths, whose sums pass them by rounding: 0.2 + 0.1 > 0.3."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.choice([0.1, 0.2, 0.3], n), "level": rng.normal(size=n)})
    score = 8.0 * data["x"] + data["level"] + rng.logistic(size=n)
    return data.assign(y=score > 1.6, grade=pd.cut(score, 3, labels=list("abc")).astype(str))


def test_an_end_that_is_passed_by_rounding_is_the_end():
    data = tenths()
    fit, count = svm("y ~ x + level", data, C=2.0), data["x"].value_counts()
    for step, beyond in ((0.1, count[0.3]), (-0.1, count[0.1]), (0.2, count[0.2] + count[0.3])):
        assert fit.comparisons("x", step=step).beyond == (beyond,)
    assert fit.comparisons("x", step=(0.1, 0.1 + 0.2)).beyond == (0,)
    for kind in ("pdp", "ice"):
        grid = fit.effects("x", kind=kind, grid=np.arange(0.1, 0.31, 0.1)).summary_frame()["x"]
        assert grid.max() == 0.3
    with pytest.raises(ArgumentError, match=r"step=0\.3 is not allowed: .* of a size up to 0\.2, the range of 'x'"):
        fit.comparisons("x", step=0.3)


def test_weights_that_repeat_rows_are_added_up_in_the_printouts():
    data = tenths().assign(w=np.resize([1, 2, 3], 120), share=np.resize([0.5, 1.0, 1.5], 120))
    once, often = svm("y ~ x + level", data), svm("y ~ x + level", data, weights="w")
    shares = svm("y ~ x + level", data, weights="share", weight_type="probability")
    for fit, weighted, told in ((once, "", False), (often, ", weighted", True), (shares, ", weighted", False)):
        for found in (fit.effects("x"), fit.effects(), fit.comparisons("level")):
            assert re.search(f"Rows averaged over{weighted}: +120", str(found))
            assert bool(re.search(r"Sum of weights: +240", str(found))) == told


def test_a_predictor_called_level_has_curves():
    curves = svm("grade ~ x + level", tenths()).effects("level", kind="ice", grid=3).curves
    assert curves.columns.names == ["level", "level_value"]
    assert curves.columns.nlevels == 2 and len(curves.columns) == 12


def test_a_band_that_there_is_not_is_not_explained(two):
    effect = two.effects("x", B=39, rng=1)
    assert "percentiles" in str(effect)
    lost = replace(effect.band, n_failed=39)
    assert lost.note("prob") == "" != effect.band.note("prob")
    assert "held the mean" not in str(replace(effect, band=lost))


def test_a_grid_has_no_minus_zero_whatever_the_order_of_rows():
    data = pd.DataFrame({"b": [-1.0, -0.0, 0.0, 1, 2, 3, -2, 0.5] * 4, "y": [0, 1, 0, 1, 1, 0, 0, 1] * 4})
    for rows in (data, data.iloc[::-1]):
        values = svm("y ~ b", rows).effects().summary_frame().iloc[:, 1].to_numpy(float)
        assert 0.0 in values and not np.signbit(values[values == 0.0]).any()
