"""Fits that are saved and loaded: the same fit, of every kind, or a refusal that says why."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from levels import sample

from svmstat import load, minimax, neyman_pearson, svm, tune
from svmstat.errors import DesignWarning, GridWarning, ModelFileError, UnavailableError
from svmstat.kernels import RBF, Laplace, Linear, Nystrom, PointKernel, Polynomial

TWO, THREE = sample(2), sample(3)


def gram(K):
    data = sample(K, n=30)
    X = data[["x", "z"]].to_numpy()
    return pd.DataFrame(RBF(0.01)(X, X)).assign(y=data["y"])


def typed(K):
    """Columns of every type that a formula reads, on an index with names."""
    data = sample(K)
    return pd.DataFrame(
        {
            "y": pd.Categorical(data["y"], categories=list("fedcba"), ordered=True),
            "text": data["site"].astype("string"),
            "objects": data["side"].astype(object).where(np.arange(len(data)) != 3, None),
            "nullable": (data["z"].round().astype("Int64")).where(np.arange(len(data)) != 5),
            "small": data["x"].astype("float32"),
            "flag": pd.array(data["x"] > 0, dtype="boolean"),
            "interval": pd.cut(data["x"], [-9.5, 0.5, 9.5]),
            ("two", 1): data["z"],
            "day": pd.date_range("2020-01-01", periods=len(data), freq="D", tz="Europe/Berlin"),
            "unread": object(),
        }
    ).set_axis(pd.MultiIndex.from_product([["a", "b"], range(len(data) // 2)], names=["ship", None]))


FITS = {
    "two": lambda: svm("y ~ x + z + site", TWO),
    "three": lambda: svm("y ~ x + z + side", THREE, C=4),
    "dot": lambda: svm("y ~ .", TWO, weights="w"),
    "weights, event": lambda: svm("y ~ x + z", TWO, weights=TWO["w"] * 0.5, event="b", gamma="median"),
    "costs": lambda: svm("y ~ x", TWO, loss="p0", costs={"fp": 1, "fn": 3}, priors={"b": 0.2, "c": 0.8}),
    "class_weight": lambda: svm("y ~ x", THREE, class_weight={"a": np.float64(2.0)}, coupling="hastie-tibshirani"),
    "balanced": lambda: svm("y ~ x", TWO, class_weight="balanced", calibration="venn-abers"),
    "insample": lambda: svm("y ~ x", THREE, calibration="insample"),
    "kfold": lambda: svm("y ~ x", TWO, calibration="kfold"),
    "nu": lambda: svm("y ~ x + z", TWO, nu=0.4),
    "two nu": lambda: svm("y ~ x + z", TWO, nu=(0.3, 0.6), kernel="linear"),
    "hulls that meet": lambda: svm("y ~ x", TWO, nu=(1.0, 1.0), kernel="linear"),
    "subset": lambda: svm("y ~ x + z", TWO, subset="(z > 20) & (side == 'l')"),
    "rows": lambda: svm("y ~ x + z", THREE, subset=(THREE["x"] < 1).to_numpy(), weights=THREE["w"].to_list()),
    "spline basis": lambda: svm("y ~ bs(x, df=4) + np.log(z + 100) + C(site):x", TWO, kernel="linear", weights="w"),
    "polynomial": lambda: svm("y ~ poly(x, 2) + scale(z)", THREE, kernel="poly", degree=2, coef0=1.0),
    "no scale": lambda: svm("y ~ x", TWO, scale=False, kernel="spline"),
    "sum": lambda: svm("y ~ x + z", TWO, kernel=Linear().on("x") + 0.5 * Laplace(gamma="median").on("z")),
    "landmarks": lambda: svm("y ~ x + z", THREE, kernel=Nystrom(RBF("scale"), landmarks=9, seed=2)),
    "precomputed": lambda: svm("y ~ .", gram(2), kernel="precomputed"),
    "three precomputed": lambda: svm("y ~ .", gram(3), kernel="precomputed", subset=[True] * 25 + [False] * 5),
    "additive": lambda: svm("y ~ s(x) + s(z, kernel='spline') + site", TWO, theta={"s(x)": 2, "site": 0}),
    "surface": lambda: svm("y ~ te(x, z) + s(x, by=side)", THREE),
    "types": lambda: svm("y ~ text + objects + nullable + small + flag + interval + Q(('two', 1))", typed(2)),
    "three types": lambda: svm("y ~ text + nullable + small", typed(3), subset="day > '2020-01-09'"),
    "numbers": lambda: svm("x > 0 ~ z", TWO),
    "large C": lambda: svm("y ~ x + z", TWO, C=1e7),
    "tiny C": lambda: svm("y ~ x + z", TWO, C=1e-12),
    "tuned": lambda: tune("y ~ x + z", TWO, C=[0.1, 1, 10], gamma=[0.1, 1, 10], rng=1).best,
    "tuned theta": lambda: tune("y ~ s(x) + s(z)", TWO, C=[1, 4, 16], theta="coordinate", gamma=None, rng=1).best,
    "several kernels": lambda: tune("y ~ x + z", THREE, C=[1, 4, 16], kernel=["linear", Polynomial(degree=2)]).best,
    "minimax": lambda: tune("y ~ x + z", TWO, criterion=minimax(), nu=[0.3, 0.5, 0.7], gamma=[0.5], rng=1).best,
    "guarantee": lambda: tune("y ~ x", TWO, criterion=neyman_pearson(0.3), nu=[0.3, 0.6], gamma=[0.5], rng=1).best,
}  # fmt: skip


@pytest.fixture(scope="module", params=FITS)
def pair(request, tmp_path_factory):
    """A fit, what was loaded of it, and whether that was without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = FITS[request.param]()
    path = tmp_path_factory.mktemp("fits") / "fit.svmstat"
    fit.save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error" if fit.converged else "ignore")
        return fit, load(path)


def test_predictions_are_the_same_to_the_last_bit(pair):
    fit, again = pair
    new = fit.frame.data.iloc[::-1]
    numbers, beside = new.select_dtypes("float").columns, new.copy()
    beside[numbers] = 0.9 * new[numbers] + 0.01  # not at landmarks, or support vectors
    for data in (None, new, new.head(0), new.head(1), beside):
        for method in ("predict", "decision_function", "predict_proba"):
            same(getattr(fit, method)(data), getattr(again, method)(data))
        if fit.shape.two:
            same(fit.predict_proba(data, interval=True), again.predict_proba(data, interval=True))
            same(fit.predict_proba(data, method="sollich"), again.predict_proba(data, method="sollich"))
        if fit.asked == "venn-abers":
            same(fit.calibration_bounds(data), again.calibration_bounds(data))


def test_everything_else_is_the_same(pair):
    fit, again = pair
    assert str(again.summary()) == str(fit.summary())
    assert repr(again) == repr(fit)
    assert again.kernel == fit.kernel
    assert again.response == fit.response
    assert (again.untuned, again.asked) == (fit.untuned, fit.asked)
    assert again.optimism == fit.optimism or np.isnan([again.optimism, fit.optimism]).all()
    same(fit.model_frame, again.model_frame)
    same(fit.model_matrix, again.model_matrix)
    same(fit.alpha, again.alpha)
    same(fit.loo().summary_frame(), again.loo().summary_frame())


def same(one, two):
    assert type(one) is type(two)
    check = pd.testing.assert_series_equal if isinstance(one, pd.Series) else pd.testing.assert_frame_equal
    check(one, two, check_exact=True)


@pytest.mark.parametrize("name", ["two", "three", "additive", "types"])
def test_methods_that_fit_again(name, tmp_path):
    fit = FITS[name]()
    fit.save(tmp_path / "fit")
    again = load(tmp_path / "fit")
    same(fit.update(C=2).alpha, again.update(C=2).alpha)
    same(fit.drop1().table, again.drop1().table)
    assert again.gof(B=19, rng=1).pvalue == fit.gof(B=19, rng=1).pvalue
    same(fit.get_prediction(B=39, rng=1).summary_frame(), again.get_prediction(B=39, rng=1).summary_frame())
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "fit").read_bytes()


def test_pickle_keeps_working(tmp_path):
    fit = FITS["three"]()
    same(pickle.loads(pickle.dumps(fit)).predict_proba(THREE), fit.predict_proba(THREE))
    fit.save(tmp_path / "fit")
    same(pickle.loads(pickle.dumps(load(tmp_path / "fit"))).predict_proba(THREE), fit.predict_proba(THREE))


def test_only_the_columns_that_are_read_are_stored(tmp_path):
    svm("y ~ x", THREE, weights="w", subset="z > 0").save(tmp_path / "fit")
    assert load(tmp_path / "fit").frame.data.columns.tolist() == ["x", "z", "y", "w"]
    assert load(tmp_path / "fit").frame.data.equals(THREE[["x", "z", "y", "w"]])


def own(x):
    return x**2


class Cosine(PointKernel):
    def fill(self, points, columns, out):
        np.matmul(points, columns, out=out)


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda: svm("y ~ own(x)", TWO), "uses 'own', a function of your own"),
        (lambda: svm("y ~ x + I(z + half)", TWO.assign(q=1)), "uses 'half', a value of your own"),
        (lambda: svm("y ~ x.clip(0, 1)", TWO), r"'\.clip\(\)' is not allowed"),
        (lambda: svm("y ~ x", TWO, subset="z.notna()"), r"its subset= are each read .* '\.notna\(\)' is not allowed"),
        (lambda: svm("y ~ x", TWO, kernel=lambda X, Z: X @ Z.T), "'<lambda>', which is code"),
        (lambda: svm("y ~ x", TWO, kernel=Linear() + Cosine()), "'Cosine', which is code"),
        (lambda: svm("y ~ x", TWO.assign(x=pd.array(TWO["x"], dtype=pd.SparseDtype(float)))), "Sparse"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_by_name(fit, message, tmp_path):
    half = 0.5  # noqa: F841  the formula reads it
    with pytest.raises(ModelFileError, match=message):
        fit().save(tmp_path / "fit")
    assert not list(tmp_path.iterdir())


half = 0.5


def test_data_that_were_changed_are_refused(tmp_path):
    data = sample(2)
    fit = svm("y ~ x", data)
    data.loc[0, "x"] = 100.0
    with pytest.raises(ModelFileError, match="changed since"):
        fit.save(tmp_path / "fit")


@pytest.mark.parametrize("order", ["<", ">"])
def test_numbers_may_have_their_bytes_in_any_order(order, tmp_path):
    data = TWO.assign(x=TWO["x"].to_numpy().astype(f"{order}f8"))
    fit = svm("y ~ x", data)
    fit.save(tmp_path / "fit")
    np.testing.assert_array_equal(load(tmp_path / "fit").fittedvalues, fit.fittedvalues)
    data["x"] = data["x"].to_numpy() + 1.0
    with pytest.raises(ModelFileError, match="changed since"):
        fit.save(tmp_path / "fit")


def test_a_fit_without_a_call(tmp_path):
    fit = replace(svm("y ~ x + z", TWO), call=None)
    with pytest.raises(UnavailableError, match="this fit has none"):
        fit.save(tmp_path / "fit")


@pytest.mark.parametrize("subset", [None, "(x > -1.5) | (z > 0)"])
def test_a_chosen_fit_asks_of_other_data_for_no_rows_that_the_search_chose(subset, tmp_path):
    data = sample(2)
    data.iloc[:3, data.columns.get_loc("z")] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        fit = tune(["y ~ x", "y ~ z"], data, C=[0.5, 4.0], gamma=[0.1], subset=subset).best
    fit.save(tmp_path / "fit")
    again, other = load(tmp_path / "fit"), sample(2, seed=8)
    assert again.n_used < len(data)
    assert again.refit(other).fittedvalues.equals(fit.refit(other).fittedvalues)


def test_the_search_is_not_stored(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        best = tune("y ~ x", TWO, C=[1, 4]).best
    best.save(tmp_path / "fit")
    with pytest.raises(UnavailableError, match=r"retune=True .* comes from a file, which does not hold the search"):
        load(tmp_path / "fit").gof(B=19, retune=True)


@pytest.mark.parametrize("function", [load, svm("y ~ x", TWO).save])
@pytest.mark.parametrize("path", [3, None, b"fit"])
def test_a_path_is_a_text(function, path):
    with pytest.raises(TypeError, match="path="):
        function(path)


def test_terms_without_a_column_that_varies_are_no_other_terms(tmp_path):
    data = sample(2, n=30).assign(same=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = svm("y ~ s(x) + same", data)
    fit.save(tmp_path / "fit.svmstat")
    assert load(tmp_path / "fit.svmstat").kernel.names == fit.kernel.names == ("s(x)",)


def test_nan_of_pyarrow_is_as_it_was(tmp_path):
    """There NaN is a value, and unlike itself: nothing has been changed."""
    pa = pytest.importorskip("pyarrow")
    data = sample(2)
    data["x"] = pd.arrays.ArrowExtensionArray(pa.array(np.where(np.arange(len(data)) % 5, data["x"], np.nan)))
    with pytest.warns(DesignWarning, match="have missing values"):
        fit = svm("y ~ x + z", data)
    fit.save(tmp_path / "fit")
    np.testing.assert_array_equal(load(tmp_path / "fit").fittedvalues, fit.fittedvalues)
