"""A fit as its user meets it: kernels, responses, weights and subsets in every form, names of the caller."""

import copy
import pickle
import subprocess
import sys
from functools import partial

import levels
import numpy as np
import pandas as pd
import pytest
from levels import assert_same_fit

from svmstat import datasets, svm
from svmstat.errors import DataError
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
    f, g = np.asarray(f), np.asarray(g)
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


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_kernel_functions_give_what_the_named_kernels_give(kernel, K):
    data = levelled(K)
    named = svm("y ~ x1 + x2", data, kernel=kernel, C=2.0, coef0=1.0, degree=2)
    own = svm("y ~ x1 + x2", data, kernel=lambda X, Z: np.asarray(named.kernel(X, Z)), C=2.0)
    assert_same_fit(own, named, data, 1e-7, without=("kernel", "params", "standardized", "n_support"))


# Precomputed gram matrices


def levelled(K):
    """Rows of K levels with the columns of DATA."""
    return levels.sample(K, seed=5).rename(columns={"x": "x1", "z": "x2", "side": "g"}).eval("x2 = x2 / 10")


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
        {"subset": np.sin(np.arange(60)) > -0.5},
        {"subset": np.arange(60) % 4 > 0, "class_weight": "balanced"},
        {"C": 30.0},
    ],
    ids=", ".join,
)
def test_a_precomputed_kernel_is_the_kernel(options, K):
    """Also with rows that are dropped, their columns with them."""
    data = levelled(K)
    data.loc[[3, 17], "y"] = None
    given, named = precomputed_and_rbf(data, **options)
    assert given.n_missing > 0
    close(given.decision_values, named.decision_values, 1e-7)
    new = gram_frame(data).drop(columns="y")
    close(given.decision_function(new), named.decision_function(data), 1e-7)
    close(given.decision_function(new.iloc[[3, 0]]), named.decision_function(data.iloc[[3, 0]]), 1e-7)
    assert given.frame.index.equals(named.frame.index)
    assert given.deviance == pytest.approx(named.deviance)
    assert given.loo().score == pytest.approx(named.loo().score, rel=1e-5)
    pd.testing.assert_series_equal(given.predict(new), named.predict(data))


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
    assert svm("y ~ x1", DATA, subset="x2 > shift - 58").n_outside_subset == (DATA["x2"] <= 2).sum()
    assert local(0.0) > 0


def test_names_from_a_method_and_from_a_module():
    class User:
        def fit(self, data):
            power = 3  # noqa: F841
            return svm("y ~ I(x1 ** power) + I(SCALE_OF_MODULE * x2)", data)

    wanted = svm("y ~ I(x1 ** 3) + x2", DATA)
    close(User().fit(DATA).decision_values, wanted.decision_values, 1e-7)


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
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
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


# Copies


@pytest.mark.parametrize("formula", ["y ~ shifted_log(x2)", "x2 > 3 ~ standardize(x1)"])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda fit: pickle.loads(pickle.dumps(fit))])
def test_copies(formula, duplicate):
    fit = svm(formula, DATA, weights="w", kernel="linear")
    other = duplicate(fit)
    assert str(other.summary()) == str(fit.summary())
    assert other.predict_proba(DATA).equals(fit.predict_proba(DATA))
    assert other.predict(DATA.head(2)).equals(fit.predict(DATA.head(2)))
    assert other.params.equals(fit.params)
    assert repr(other) == repr(fit)


def test_the_environment_is_not_that_of_the_package():
    with pytest.raises(ValueError, match="no function 'resolve_gamma'"):
        svm("y ~ resolve_gamma(x1)", DATA)
    assert build_design("y ~ x1", DATA).X.shape == (60, 1)


@pytest.mark.parametrize("K", [2, 3])
def test_rows_where_a_kernel_overflows_are_refused(K):
    """They had been NaN, which stands for a missing predictor, and left out of rates of errors."""
    x = np.random.default_rng(0).normal(size=40)
    data = pd.DataFrame({"x": x, "y": np.array(list("abc"))[np.digitize(x, [0.0, 0.7][: K - 1])]})
    fit = svm("y ~ x", data, kernel="poly", degree=3)
    far = data.head(4).assign(x=[1.0, np.nan, -1e110, 1e110]).set_axis(list("abcd"))
    for call in (fit.decision_function, fit.predict, fit.predict_proba, fit.augment, partial(fit.get_prediction, B=39)):
        with pytest.raises(DataError, match=r"newdata is so far .* in row 'c' that its decision value is not finite"):
            call(far)
    assert np.isnan(fit.decision_function(far.head(2)).loc["b"]).all()
