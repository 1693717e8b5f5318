"""A fit as its user meets it: kernels, responses, names of the caller, new data, copies, the index of the data."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from svmstat import SVMResults, datasets, svm
from svmstat.formula import build_design

# Predictions of the rows of the fit repeat its sums in another order.
TOL = 1e-10

SCALE_OF_MODULE = 2.0


def shifted_log(x):
    return np.log(x + 60.0)


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "x1": rng.normal(size=n),
            "x2": rng.normal(3.0, 5.0, size=n),
            "g": rng.choice(list("abc"), n),
            "k": rng.integers(0, 2, n),
            "w": rng.integers(0, 3, n),
        }
    )
    yes = data["x1"] + 0.3 * data["x2"] + rng.normal(size=n) > 1
    return data.assign(y=np.where(yes, "yes", "no"), truth=yes)


DATA = sample()


def close(f, g, tolerance=TOL):
    np.testing.assert_allclose(f, g, rtol=0, atol=tolerance * max(1.0, np.abs(g).max()))


# Known numbers


def test_mackerel():
    data = datasets.load("mackerel")
    fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", data, C=16, gamma=0.25)
    assert fit.deviance == pytest.approx(418.10, abs=0.005)
    assert fit.apparent_error == pytest.approx(0.1341, abs=0.00005)
    assert fit.llf == pytest.approx(-fit.deviance / 2)
    assert fit.null_deviance == pytest.approx(-2 * (369 * np.log(369 / 634) + 265 * np.log(265 / 634)), rel=1e-12)
    assert fit.nobs == fit.n_rows == 634
    assert fit.lambda_ == pytest.approx(1 / (2 * 16 * 634))
    assert fit.converged
    assert fit.kkt_violation <= 1e-8


# Kernels


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
def test_a_fit_satisfies_its_own_conditions(options, scale):
    fit = svm("y ~ x1 * g + I(x2 / 10)", DATA, scale=scale, C=2.0, **options)
    assert isinstance(fit, SVMResults)
    assert fit.converged
    X, y, alpha = fit.frame.X, fit.frame.y, fit.alpha.to_numpy()
    K = np.asarray(fit.kernel(X, X))
    h = K @ (alpha * y)
    close(fit.decision_values, h + fit.intercept)
    assert abs(alpha @ y) < 1e-9
    assert (alpha >= 0).all()
    assert (alpha <= 2.0 + 1e-12).all()
    norm_squared = (alpha * y) @ h
    loss = 2.0 * np.maximum(1 - y * fit.decision_values, 0).sum()
    assert fit.objective == pytest.approx(0.5 * norm_squared + loss, rel=1e-9)
    assert fit.margin == pytest.approx(2 / np.sqrt(norm_squared))
    assert 0 <= fit.duality_gap <= 1e-6
    assert fit.support.tolist() == fit.alpha.index[alpha > 0].tolist()
    assert fit.n_support["total"].sum() == (alpha > 0).sum()


def test_kernel_functions_give_what_the_named_kernels_give():
    named = svm("y ~ x1 + x2", DATA, kernel="linear")
    own = svm("y ~ x1 + x2", DATA, kernel=lambda X, Z: X @ Z.T)
    close(own.decision_values, named.decision_values, 1e-7)
    close(own.decision_function(DATA), named.decision_function(DATA), 1e-7)


def test_linear_coefficients_are_the_decision_function():
    fit = svm("y ~ x1 + x2 + g", DATA, kernel="linear", weights="w")
    X = np.column_stack([DATA[["x1", "x2"]], pd.get_dummies(DATA["g"])]).astype(float)
    assert fit.params.index.tolist() == ["Intercept", "x1", "x2", "g[a]", "g[b]", "g[c]"]
    close(fit.params["Intercept"] + X @ fit.params.iloc[1:], fit.decision_values)
    close(fit.params_standardized.iloc[0] + fit.frame.X @ fit.params_standardized.iloc[1:], fit.decision_values)
    assert fit.params_standardized["Intercept"] == fit.intercept


def test_coefficients_exist_for_the_linear_kernel_only():
    fit = svm("y ~ x1", DATA)
    with pytest.raises(AttributeError, match=r"params exists for kernel='linear' only.*'rbf'"):
        fit.params  # noqa: B018
    assert not hasattr(fit, "params_standardized")


# Precomputed gram matrices


def gram_frame(data=DATA, response="y"):
    X = data[["x1", "x2"]].to_numpy()
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    frame = pd.DataFrame(np.exp(-0.3 * squared), index=data.index)
    frame.columns = [f"k{i}" for i in range(len(data))]
    return frame.assign(**{response: data[response]})


def precomputed_and_rbf(data, **options):
    return (
        svm("y ~ .", gram_frame(data).assign(w=data["w"]), kernel="precomputed", **{"weights": "w", **options}),
        svm("y ~ x1 + x2", data, kernel="rbf", gamma=0.3, scale=False, **{"weights": "w", **options}),
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"subset": DATA["x1"] > -0.5},
        {"subset": np.arange(60) % 3 > 0, "class_weight": "balanced"},
        {"event": "no", "C": 30.0},
    ],
)
def test_a_precomputed_kernel_is_the_kernel(options):
    given, named = precomputed_and_rbf(DATA, **options)
    close(given.decision_values, named.decision_values, 1e-7)
    close(given.decision_function(gram_frame()), named.decision_function(DATA), 1e-7)
    assert given.frame.index.equals(named.frame.index)
    assert given.deviance == pytest.approx(named.deviance)
    pd.testing.assert_series_equal(given.predict(gram_frame()), named.predict(DATA))


def test_a_precomputed_kernel_with_missing_responses():
    data = DATA.copy()
    data.loc[[3, 17], "y"] = None
    given, named = precomputed_and_rbf(data)
    assert given.n_missing == 2
    close(given.decision_values, named.decision_values, 1e-7)
    new = gram_frame(data).drop(columns="y").iloc[[3, 0]]
    close(given.decision_function(new), named.decision_function(data.iloc[[3, 0]]), 1e-7)


def test_new_rows_of_a_precomputed_kernel():
    given, named = precomputed_and_rbf(DATA)
    new = pd.DataFrame({"x1": [0.1, -1.0], "x2": [2.0, 9.0]}, index=["p", "q"])
    squared = ((new.to_numpy()[:, None] - DATA[["x1", "x2"]].to_numpy()) ** 2).sum(axis=2)
    rows = pd.DataFrame(np.exp(-0.3 * squared), index=new.index, columns=[f"k{i}" for i in range(60)])
    rows.iloc[1, 5] = np.nan
    f = given.decision_function(rows)
    assert f["p"] == pytest.approx(named.decision_function(new)["p"])
    assert np.isnan(f["q"])


def test_a_constant_column_of_a_gram_matrix_stays():
    frame = pd.DataFrame(np.eye(6) * 0 + np.diag([1, 1, 1, 1, 1, 0]), columns=list("abcdef")).astype(float)
    fit = svm("y ~ .", frame.assign(y=[0, 1, 0, 1, 0, 1]), kernel="precomputed")
    assert fit.n_columns == 6
    assert fit.n_constant == 0
    assert not fit.scaled


# Responses and events


RESPONSES = {  # name: (values for no and yes, the event by default)
    "text": (("no", "yes"), "yes"),
    "boolean": ((False, True), True),
    "nullable boolean": (pd.array([False, True], dtype="boolean"), True),
    "0/1": ((0, 1), 1),
    "small integers": (np.array([0, 1], dtype=np.int8), 1),
    "nullable integers": (pd.array([0, 1], dtype="Int64"), 1),
    "signs": ((-1, 1), 1),
    "floats": ((-1.0, 1.0), 1.0),
    "1 and 2": ((2, 1), 2),
    "categorical": (pd.Categorical(["no", "yes"], categories=["yes", "no"]), "no"),
    "ordered": (pd.Categorical(["no", "yes"], categories=["no", "yes"], ordered=True), "yes"),
    "unused level": (pd.Categorical(["no", "yes"], categories=["no", "yes", "zzz"]), "yes"),
}


@pytest.mark.parametrize(("values", "event"), RESPONSES.values(), ids=RESPONSES)
def test_every_type_of_response(values, event):
    labels = pd.Series(values).take(DATA["truth"].astype(int)).set_axis(DATA.index)
    data = DATA.assign(y=labels)
    fit = svm("y ~ x1 + x2", data)
    assert fit.event == event
    predicted = fit.predict()
    assert predicted.dtype == data["y"].dtype
    assert predicted.name == "y"
    assert fit.classes[fit.classes.index(event)] == event
    assert list(fit.predict_proba().columns) == list(fit.classes)
    for level in fit.classes:
        other = svm("y ~ x1 + x2", data, event=level)
        assert other.event == level
        assert ((other.predict() == level) == (other.decision_values > 0)).all()
        assert (other.fittedvalues == other.predict_proba()[level]).all()
        assert other.class_weight is None
        weighted = svm("y ~ x1 + x2", data, event=level, class_weight={level: 2})
        assert weighted.class_weight == {each: 1.0 + (each == level) for each in fit.classes}
    agree = (predicted == data["y"]).mean()
    assert fit.apparent_error == pytest.approx(1 - agree)


@pytest.mark.parametrize("event", [1, 1.0, True, np.int64(1), np.float32(1.0), np.True_])
def test_an_event_is_found_by_its_value(event):
    assert svm("truth ~ x1", DATA, event=event).event is True
    assert svm("k ~ x1", DATA, event=event).event == 1


def test_a_response_by_comparison():
    fit = svm("x2 > 3 ~ x1 + g", DATA)
    assert (fit.response_name, fit.event, fit.classes) == ("x2 > 3", True, (False, True))
    assert fit.predict().dtype == bool


@pytest.mark.parametrize("class_weight", ["balanced", {"no": 3}, {"yes": np.float32(0.5), "no": 2.0}, {}])
def test_class_weights_are_bounds(class_weight):
    fit = svm("y ~ x1 + x2", DATA, C=2.0, class_weight=class_weight, weights="w", kernel="linear")
    weights = fit.class_weight
    if class_weight == "balanced":
        totals = DATA.groupby("y")["w"].sum()
        assert weights == pytest.approx({level: totals.sum() / (2 * totals[level]) for level in totals.index})
    else:
        assert weights == {"no": class_weight.get("no", 1.0), "yes": class_weight.get("yes", 1.0)}
    upper = 2.0 * DATA["w"] * DATA["y"].map(weights)
    assert (fit.alpha <= upper * (1 + 1e-12)).all()
    np.testing.assert_allclose(fit.machine.upper[:, 0], upper)


# Weights and subsets in every form


def test_weights_in_every_form():
    w = DATA["w"]
    by_column = svm("y ~ x1 + g", DATA, weights="w")
    forms = [w, w.to_numpy(), w.tolist(), tuple(w), w.astype("Int64"), w.astype(float), pd.array(w), pd.Index(w)]
    for weights in forms:
        fit = svm("y ~ x1 + g", DATA, weights=weights)
        assert fit.decision_values.equals(by_column.decision_values)
        assert str(fit.summary()) == str(by_column.summary())


def test_weights_travel_with_the_rows():
    data = DATA.copy()
    data.loc[[4, 8], "x1"] = np.nan
    data.loc[50, "w"] = 1e9
    subset = np.arange(60) < 50
    fit = svm("y ~ x1 + g", data, weights=data["w"].to_numpy(), subset=subset)
    kept = data[subset].dropna()
    other = svm("y ~ x1 + g", kept, weights="w")
    assert fit.decision_values.equals(other.decision_values)
    assert (fit.n_missing, fit.n_outside_subset, fit.n_rows) == (2, 10, 48)


def test_subsets_in_every_form():
    inside = (DATA["x2"] > 2) & (DATA["g"] != "a")
    wanted = svm("y ~ x1 + g", DATA[inside])
    limit = 2
    forms = ['(x2 > 2) & (g != "a")', '(x2 > limit) & (g != "a")', inside, inside.to_numpy(), inside.tolist(),
             inside.astype("boolean")]  # fmt: skip
    for subset in forms:
        fit = svm("y ~ x1 + g", DATA, subset=subset)
        assert fit.decision_values.equals(wanted.decision_values)
        assert fit.n_outside_subset == 60 - inside.sum()
    assert limit == 2


def test_the_dot_takes_all_other_columns():
    one = svm("y ~ .", DATA.drop(columns="truth"), weights="w")
    other = svm("y ~ x1 + x2 + g + k", DATA, weights="w")
    assert one.decision_values.equals(other.decision_values)
    assert one.formula == "y ~ x1 + x2 + g + k"


# Names of the caller


def test_names_of_the_caller():
    shift = 60.0

    def local(x):
        return np.log(x + shift)

    wanted = svm("y ~ np.log(x2 + 60.0)", DATA)
    for formula in ("y ~ np.log(x2 + shift)", "y ~ local(x2)", "y ~ shifted_log(x2)"):
        fit = svm(formula, DATA)
        close(fit.decision_values, wanted.decision_values)
        close(fit.decision_function(DATA.head(1)), wanted.decision_function(DATA.head(1)))
    assert local(0.0) > 0


def test_names_from_a_method_and_from_a_module():
    class User:
        def fit(self, data):
            power = 3  # noqa: F841
            return svm("y ~ I(x1 ** power) + I(SCALE_OF_MODULE * x2)", data)

    wanted = svm("y ~ I(x1 ** 3) + x2", DATA)
    close(User().fit(DATA).decision_values, wanted.decision_values, 1e-7)


def test_a_column_hides_a_name_of_the_caller():
    x1 = "not used"
    assert svm("y ~ x1", DATA).n_columns == 1
    assert x1 == "not used"


def test_a_later_change_of_a_name_does_not_change_the_fit():
    shift = 60.0
    fit = svm("y ~ np.log(x2 + shift)", DATA)
    before = fit.decision_function(DATA)
    shift = 1000.0
    assert shift == 1000.0
    assert fit.decision_function(DATA).equals(before)


def test_names_at_the_top_of_a_script():
    script = (
        "import numpy as np, pandas as pd\nfrom svmstat import svm\nshift = 2.0\n"
        "data = pd.DataFrame({'x': np.arange(8.0), 'y': [0, 0, 1, 0, 1, 1, 1, 0]})\n"
        "print(svm('y ~ np.log(x + shift)', data).n_rows)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "8\n"


# Nothing else is touched


def test_the_data_are_not_changed():
    data = DATA.assign(g=DATA["g"].astype("category"))
    data.loc[3, "x1"] = np.nan
    before, weights = data.copy(deep=True), DATA["w"].to_numpy().copy()
    inside = np.ones(60, dtype=bool)
    fit = svm("y ~ x1 + g", data, weights=weights, subset=inside, scale=True)
    fit.predict_proba(data)
    fit.summary()
    pd.testing.assert_frame_equal(data, before)
    np.testing.assert_array_equal(weights, DATA["w"])
    assert inside.all()


@pytest.mark.parametrize("scale", [True, False])
def test_later_changes_of_data_and_results_do_not_change_the_fit(scale):
    data, weights = DATA[["x1", "x2", "y"]].copy(), DATA["w"].to_numpy(float)
    fit = svm("y ~ x1 + x2", data, weights=weights, scale=scale)
    f, deviance = fit.decision_function(DATA), svm("y ~ x1 + x2", data, weights=weights, scale=scale).deviance
    data.loc[:, ["x1", "x2"]] = 0.0
    weights[:] = 5.0
    for handed_out in (fit.decision_values, fit.alpha, fit.fittedvalues, fit.confusion):
        handed_out.iloc[:] = 0
    assert fit.deviance == deviance and (fit.decision_values != 0).any() and fit.confusion.to_numpy().sum() > 0
    assert fit.decision_function(DATA).equals(f)


def test_a_gram_matrix_is_not_changed():
    frame = gram_frame()
    before = frame.copy(deep=True)
    svm("y ~ .", frame, kernel="precomputed").predict(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_read_only_and_noncontiguous_arrays():
    data = pd.DataFrame(np.asfortranarray(DATA[["x1", "x2"]].to_numpy()), columns=["x1", "x2"])
    data["y"] = DATA["y"]
    weights = np.repeat(DATA["w"].to_numpy(), 2)[::2]
    weights.setflags(write=False)
    fit = svm("y ~ x1 + x2", data, weights=weights)
    assert fit.decision_values.equals(svm("y ~ x1 + x2", DATA, weights="w").decision_values)


INDEXES = {
    "text": pd.Index([f"r{i}" for i in range(60)], name="row"),
    "duplicates": pd.Index([1, 2, 3] * 20),
    "levels": pd.MultiIndex.from_product([range(6), range(10)], names=["a", "b"]),
    "dates": pd.date_range("2020-01-01", periods=60),
    "backwards": pd.RangeIndex(59, -1, -1),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_results_are_on_the_index_of_the_data(index):
    data = DATA.set_axis(index)
    fit = svm("y ~ x1 + g", data, weights=data["w"], subset=data["x2"] > 0)
    plain = svm("y ~ x1 + g", DATA, weights="w", subset="x2 > 0")
    kept = index[(DATA["x2"] > 0).to_numpy()]
    for result in (fit.alpha, fit.decision_values, fit.fittedvalues, fit.predict(), fit.predict_proba()):
        assert result.index.equals(kept)
        assert result.index.names == index.names
    assert fit.predict_proba(data).index.equals(index)
    assert fit.support.equals(kept[(plain.alpha > 0).to_numpy()])
    np.testing.assert_array_equal(fit.decision_values, plain.decision_values)


# New data


FITS = {
    kernel: svm("truth ~ x1 + g + np.log(x2 + 20) + C(k):x1", DATA, kernel=kernel, weights="w")
    for kernel in ("rbf", "linear", "poly", "spline")
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_rows_of_the_fit_as_new_data(fit):
    close(fit.decision_function(DATA), fit.decision_values)
    np.testing.assert_allclose(fit.predict_proba(DATA), fit.predict_proba(), atol=TOL)
    pd.testing.assert_series_equal(fit.predict(DATA), fit.predict())


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_rows_are_predicted_one_by_one(fit):
    f = fit.decision_function(DATA)
    for row in (0, 7, 59):
        close(fit.decision_function(DATA.iloc[[row]]), f.iloc[[row]])
    shuffled = DATA.sample(frac=1.0, random_state=2)[["g", "x2", "k", "x1"]].assign(extra="new")
    close(fit.decision_function(shuffled)[DATA.index], f)
    assert fit.predict(shuffled).index.equals(shuffled.index)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_no_new_rows(fit):
    empty = DATA.head(0)
    assert fit.decision_function(empty).shape == (0,)
    assert fit.predict(empty).dtype == bool
    assert fit.predict_proba(empty).shape == (0, 2)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_missing_predictors_give_missing_predictions(fit):
    data = DATA.copy().drop(columns=["y", "truth", "w"])
    data.loc[3, "x1"], data.loc[5, "g"] = np.nan, None
    f, p, labels = fit.decision_function(data), fit.predict_proba(data), fit.predict(data)
    missing = data.index.isin([3, 5])
    assert f.isna().tolist() == p.isna().all(axis=1).tolist() == labels.isna().tolist() == missing.tolist()
    close(f[~missing], fit.decision_values[~missing])
    assert labels.dtype == "boolean"
    nothing = fit.predict_proba(data.iloc[[3]])
    assert nothing.shape == (1, 2)
    assert nothing.isna().all(axis=None)


@pytest.mark.parametrize("response", ["y", "truth", "k", "c"])
def test_labels_can_be_missing_in_every_type(response):
    data = DATA.assign(c=DATA["y"].astype("category"))
    fit = svm(f"{response} ~ x1", data)
    labels = fit.predict(pd.DataFrame({"x1": [0.0, np.nan]}))
    assert labels.isna().tolist() == [False, True]
    assert labels.iloc[0] in fit.classes


def test_categories_in_another_order():
    data = DATA.assign(g=pd.Categorical(DATA["g"], categories=list("abc")))
    fit = svm("y ~ x1 + g", data)
    new = DATA.assign(g=pd.Categorical(DATA["g"], categories=list("xcba")))
    close(fit.decision_function(new), fit.decision_values)
    close(fit.decision_function(DATA), fit.decision_values)  # as text
    close(fit.decision_function(data[data["g"] == "b"]), fit.decision_values[data["g"] == "b"])


def test_probabilities():
    fit = FITS["rbf"]
    p = fit.predict_proba(DATA)
    close(p.sum(axis=1), np.ones(60))
    expected = 1 / (1 + np.exp(fit.calibration.slope * fit.decision_values + fit.calibration.intercept))
    close(p[True], expected)
    close(fit.fittedvalues, expected)
    used = DATA["w"] > 0
    each = np.where(DATA["truth"], np.log(p[True]), np.log(p[False]))
    assert fit.llf == pytest.approx(DATA["w"][used] @ each[used])
    assert fit.disagreement == pytest.approx(
        DATA["w"][(fit.decision_values > 0) != (expected > 0.5)].sum() / DATA["w"].sum()
    )


# Copies


@pytest.mark.parametrize(
    "formula", ["y ~ x1 + g", "y ~ bs(x1, df=4) + C(k)", "y ~ shifted_log(x2)", "x2 > 3 ~ standardize(x1)"]
)
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda fit: pickle.loads(pickle.dumps(fit))])
def test_copies(formula, duplicate):
    fit = svm(formula, DATA, weights="w", kernel="linear")
    other = duplicate(fit)
    assert str(other.summary()) == str(fit.summary())
    assert other.predict_proba(DATA).equals(fit.predict_proba(DATA))
    assert other.predict(DATA.head(2)).equals(fit.predict(DATA.head(2)))
    assert other.params.equals(fit.params)
    assert repr(other) == repr(fit)


def test_a_fit_cannot_be_changed():
    fit = FITS["rbf"]
    with pytest.raises(AttributeError):
        fit.C = 3.0
    with pytest.raises(AttributeError):
        fit.alpha = fit.alpha


def test_the_same_call_gives_the_same_digits():
    one, other = (svm("y ~ x1 * x2", DATA, gamma="median") for _ in range(2))
    assert one.decision_values.equals(other.decision_values)
    assert one.deviance == other.deviance


# What it looks like


def test_repr():
    assert repr(svm("y ~ x1", DATA, C=0.25)).startswith("<SVMResults: y ~ x1; kernel rbf, C = 0.25, n = 60, ")
    wide = repr(svm("y ~ .", gram_frame(), kernel="precomputed"))
    assert len(wide) < 200
    assert "k0 + k1" in wide
    assert "... + k59;" in wide


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_summary_in_all_forms(fit):
    text = str(fit.summary())
    assert max(map(len, text.splitlines())) <= 78
    for words in (fit.formula.split(" + ")[0], "Objective:", "KKT violation:", f"Kernel: {fit.kernel_name}"):
        assert words in " ".join(text.split())
    assert fit._repr_html_() == fit.summary().as_html()
    assert "<table" in fit._repr_html_()
    assert r"\begin{" in fit.summary().as_latex()


def test_frame_results():
    fit = svm("y ~ x1 + x2", DATA, weights="w")
    totals = DATA.groupby("y")["w"].sum()
    assert fit.confusion.sum(axis=1).tolist() == totals.tolist()
    assert fit.confusion.index.name == "observed"
    assert fit.n_support["rows"].tolist() == totals.tolist()
    assert fit.n_support.columns.tolist() == ["rows", "free", "bounded", "total"]
    assert (fit.n_support["free"] + fit.n_support["bounded"] == fit.n_support["total"]).all()
    wrong = fit.predict() != DATA["y"]
    assert fit.apparent_error == pytest.approx(DATA["w"][wrong].sum() / totals.sum())


def test_the_environment_is_not_that_of_the_package():
    with pytest.raises(ValueError, match="no function 'resolve_gamma'"):
        svm("y ~ resolve_gamma(x1)", DATA)
    assert build_design("y ~ x1", DATA).X.shape == (60, 1)
