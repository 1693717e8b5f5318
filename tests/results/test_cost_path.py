"""The path in C: every point is the fit at its cost, its criteria are those of the fit, rows and truth are aligned."""

import re
from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import svmstat.results.two_levels
from svmstat import datasets, svm
from svmstat.diagnostics.gacv import gckl
from svmstat.errors import ArgumentError, ArgumentTypeError, CertificateWarning, DataError

mpl.use("Agg")

TOL = 1e-6  # two certified solutions of one problem, relative to max(1, size): the issue's own figure
VIOLATION = 1e-8  # what a certificate allows

COSTS = [100.0, 1e-6, 1.0, 1.0, 3.0, 0.2, 1e4, 1e-3, 20.0, 0.7]  # not in order, one of them twice


def sample(kind="normal", n=60, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 2)).astype(float) if kind == "ties" else rng.normal(size=(n, 2))
    if kind == "copies":
        X = np.vstack([X[: n // 2], X[: n // 2]])
    noise = rng.normal(size=n)
    if kind == "separable":
        X[:, 0] += np.sign(X[:, 0])
        noise = 10 * X[:, 0] + X[:, 1] ** 2
    y = np.where(X[:, 0] - X[:, 1] ** 2 + noise > -0.4, "yes", "no")
    weights = np.resize([1.0, 0.3, 2.5, 0.0, 1.0], n)
    return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "y": y, "w": weights, "p": rng.random(n)})


def assert_same(a, b, size=1.0):
    np.testing.assert_allclose(a, b, rtol=0, atol=TOL * max(1.0, size, np.abs(b).max()))


# -- the path and cold fits --------------------------------------------------------------------------------------------

KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.7},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 1.0},
    "spline": {"kernel": "spline"},
}
STAKES = [
    {},
    {"weights": "w"},
    {"costs": {"fp": 1, "fn": 3}},
    {"loss": "p0", "costs": {"fp": 5, "fn": 1}},
    {"loss": "p0", "priors": {"no": 0.7, "yes": 0.3}, "weights": "w"},
]


@pytest.mark.parametrize("stakes", STAKES, ids=str)
@pytest.mark.parametrize("kind", ["normal", "ties", "copies", "separable"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_point_is_a_cold_fit(kernel, kind, stakes):
    data = sample(kind)
    options = KERNELS[kernel] | stakes
    path = svm("y ~ x + z", data, **options).path(COSTS)
    np.testing.assert_array_equal(path.C, COSTS)
    assert (path.table["kkt_violation"] <= VIOLATION).all()
    for b, C in enumerate(COSTS):
        cold, row = svm("y ~ x + z", data, C=C, **options), path.table.iloc[b]
        f = cold.decision_values.to_numpy()
        assert_same(path.decision_values.iloc[b], f)
        assert_same(row["intercept"], cold.intercept, np.abs(f).max())
        assert row["mean_loss"] == pytest.approx(mean_loss(cold), abs=TOL * max(1.0, np.abs(f).max()))
        if kernel == "rbf":  # elsewhere α is not determined
            np.testing.assert_allclose(path.alpha.iloc[b], cold.alpha, rtol=0, atol=TOL * C)


def mean_loss(fit):
    w, f = fit.frame.weights, fit.decision_values.to_numpy()
    return w @ fit.machine.pairs[0].loss.values(f, fit.frame.y) / w.sum()


@given(seed=st.integers(0, 10_000), exponents=st.lists(st.floats(-5, 4), min_size=1, max_size=5))
def test_any_costs_from_any_fit(seed, exponents):
    rng = np.random.default_rng(seed)
    data = sample(str(rng.choice(["normal", "ties", "separable"])), n=int(rng.integers(8, 40)), seed=seed)
    if data["y"].nunique() < 2:
        return
    options = {"kernel": str(rng.choice(["rbf", "linear"])), "loss": str(rng.choice(["hinge", "p0"]))}
    path = svm("y ~ x + z", data, C=10 ** rng.uniform(-2, 2), **options).path(10.0 ** np.array(exponents))
    for C, f, b in zip(path.C, path.decision_values.to_numpy(), path.table["intercept"], strict=True):
        cold = svm("y ~ x + z", data, C=C, **options)
        assert_same(f, cold.decision_values)
        assert_same(b, cold.intercept, cold.decision_values.abs().max())


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("seed", range(3))
def test_as_many_rows_of_either_class(kernel, seed):
    """At small costs no support vector is free, and the intercept is the midpoint of its interval."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=40), "z": rng.normal(size=40), "y": [0, 1] * 20})
    path = svm("y ~ x + z", data, kernel=kernel).path(np.geomspace(1e-4, 1.0, 30))
    for C, b, n_free in zip(path.C, path.table["intercept"], path.table["n_free"], strict=True):
        cold = svm("y ~ x + z", data, kernel=kernel, C=C)
        assert b == pytest.approx(cold.intercept, abs=TOL)
        assert (n_free == 0) == (not cold.intercept_is_unique)


@pytest.mark.parametrize("seed", [12, 13, 19])
def test_a_row_that_a_path_leaves_beside_its_bound_does_not_pin_the_intercept(seed):
    """Noise with as many rows of either level: every row is at its bound for small costs, and b is an interval."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"a": rng.normal(size=200)}).assign(y=rng.permutation(200) % 2)
    fit = svm("y ~ a", data)
    path = fit.path(np.geomspace(1e-3, 1e3, 13))
    for j, C in enumerate(path.C):
        one = fit.update(C=float(C))
        if one.converged and path.certified[j]:
            assert path.decision_values.iloc[j].to_numpy() == pytest.approx(one.decision_values.to_numpy(), abs=TOL)
            assert path.table.intercept.iloc[j] == pytest.approx(np.mean(one.intercept_interval), abs=TOL)
    assert path.certified[:4].any()


def test_a_fold_without_a_copy_of_a_point_has_the_midpoint_too():
    """The α of the point is at the bound of the copies that are left, but for its last digit."""
    rng = np.random.default_rng(28)
    m = int(rng.choice([8, 12, 20]))
    X, w, y = np.exp(rng.normal(size=(m, 2))), rng.integers(1, 4, m), rng.permutation(m) % 2
    data = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).loc[np.repeat(np.arange(m), w)].reset_index(drop=True)
    options = {"kernel": "linear", "C": 1e-5, "scale": False}
    held = svm("y ~ a + b", data, **options).kfold(np.arange(len(data)))
    without = svm("y ~ a + b", data.drop(index=4), **options)
    assert held.decision_values[4] == pytest.approx(without.decision_function(data.iloc[[4]]).iloc[0], abs=TOL)


def test_the_cost_of_the_fit_itself():
    data = sample()
    fit = svm("y ~ x + z", data, C=2.5)
    path = fit.path([2.5])
    assert_same(path.decision_values.iloc[0], fit.decision_values)
    assert path.table["deviance"].iloc[0] == pytest.approx(fit.deviance, rel=TOL)
    assert path.C_fit == 2.5 and path.index.equals(fit.alpha.index)
    assert len(path.alpha.columns) == 60


@pytest.mark.parametrize("given", [(2.0, 0.5), np.array([2.0, 0.5]), pd.Series([2.0, 0.5]), [2, 0.5]], ids=type)
def test_costs_in_any_sequence(given):
    path = svm("y ~ x + z", sample()).path(given)
    assert path.table.index.tolist() == [2.0, 0.5] and path.table.index.name == "C"


def test_default_costs():
    path = svm("y ~ x + z", sample(n=30), C=3.0).path()
    np.testing.assert_allclose(path.C, 3.0 * np.geomspace(1 / 64, 64, 200), rtol=1e-12)
    assert repr(path) == "<PathResult: 200 fits, C = 0.04688 … 192, n = 30>"


def test_the_path_does_not_change_the_fit():
    fit = svm("y ~ x + z", sample())
    before = fit.alpha.copy(), fit.decision_values.copy(), fit.intercept
    fit.path([0.1, 10.0])
    assert fit.alpha.equals(before[0]) and fit.decision_values.equals(before[1]) and fit.intercept == before[2]


def test_mackerel():
    """200 points of the data of the acceptance, a tenth of them by cold fits."""
    formula, data = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", datasets.load("mackerel")
    path = svm(formula, data, gamma=0.25).path()
    assert (path.table["kkt_violation"] <= VIOLATION).all()
    for b in range(0, 200, 20):
        cold = svm(formula, data, gamma=0.25, C=path.C[b])
        assert_same(path.decision_values.iloc[b], cold.decision_values)
        np.testing.assert_allclose(path.alpha.iloc[b], cold.alpha, rtol=0, atol=TOL * path.C[b])
        assert path.table["gacv"].iloc[b] == pytest.approx(cold.gacv(), rel=TOL)


def survey(seed, n):
    """Answers of few values, and who agreed."""
    rng = np.random.default_rng(seed)
    rng.choice(3)  # the walks of these seeds go astray with the draws that follow one
    s, h, race = rng.integers(0, 2, n), (rng.random(n) < 0.2).astype(int), rng.choice(["w", "b", "o"], n)
    v = rng.integers(0, 4, n)
    agreed = rng.random(n) < 1 / (1 + np.exp(0.8 - 0.7 * s - 0.9 * h + 0.2 * v))
    return pd.DataFrame({"s": s, "h": h, "race": race, "y": agreed.astype(int)})


@pytest.mark.parametrize(
    ("seed", "n", "C", "settings"),
    [
        (641, 200, [1.0, 0.5, 0.2, 0.12, 0.08316154096601458, 0.05], {"kernel": "spline"}),
        (642, 40, 100 * 2.0 ** np.arange(-6, 7), {"kernel": "linear", "costs": {"fp": 1, "fn": 3}, "C": 100.0}),
    ],
)
def test_a_walk_that_goes_astray_is_no_constant_f(seed, n, C, settings):
    """What it ended at was taken for noise, and f = -1 or 1 for the solution, with a certificate."""
    data = survey(seed, n)
    fit = svm("y ~ s + h + race", data, **settings)
    for path in (fit.path(C), fit.path()):
        some = path.C if len(path.C) < 20 else path.C[::10]
        for cost in some:
            again = svm("y ~ s + h + race", data, **{**settings, "C": float(cost)})
            assert_same(path.decision_values.loc[cost], again.decision_values)
        assert path.certified.all()


def test_points_without_a_certificate_are_told():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(45, 3)) + 1e8, columns=list("abc")).assign(y=rng.integers(0, 2, 45))
    fit = svm("y ~ a + b + c", data, kernel="linear", scale=False, C=1e-3)
    with pytest.warns(CertificateWarning, match=r"\d of 4 fits of the path, at C = 1\S* to 1e\+06, ") as told:
        path = fit.path([1e-3, 1.0, 1e3, 1e6])
    assert str(told[0].message).startswith(str(np.count_nonzero(~path.certified)))
    assert path.certified[0] and not path.certified[-1]
    centred = data.assign(**{name: data[name] - 1e8 for name in "abc"})  # of which f is the same
    for C in path.C[path.certified]:
        again = svm("y ~ a + b + c", centred, kernel="linear", scale=False, C=C)
        assert_same(path.decision_values.loc[C], again.decision_values)


# -- the table ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stakes", STAKES, ids=str)
def test_columns_are_those_of_the_fits(stakes):
    data, costs = sample(), [5.0, 0.05, 0.5]
    path = svm("y ~ x + z", data, gamma=0.7, **stakes).path(costs, loo=True, truth="p", data=data)
    hinge = stakes.get("loss", "hinge") == "hinge"
    named = ["intercept", "norm", "n_support", "n_free", "apparent_error", "deviance", "mean_loss"]
    named += ["gacv"] * hinge + ["loo_loss", "gckl", "kkt_violation"]
    assert list(path.table) == named
    for C in costs:
        fit, row = svm("y ~ x + z", data, gamma=0.7, C=C, **stakes), path.table.loc[C]
        expected = {
            "norm": 2 / fit.margin,
            "n_support": fit.n_support["total"].sum(),
            "n_free": fit.n_support["free"].sum(),
            "apparent_error": fit.apparent_error,
            "deviance": fit.deviance,
            "loo_loss": fit.loo().mean_loss,
            "gckl": gckl(
                fit.decision_values.to_numpy(), data["p"].to_numpy(), fit.frame.weights, fit.machine.pairs[0].loss
            ),
        }
        expected |= {"gacv": fit.gacv()} if hinge else {}
        assert row[list(expected)].to_dict() == pytest.approx(expected, rel=TOL)


def test_the_leave_one_out_loss_is_computed_on_demand():
    fit = svm("y ~ x + z", sample())
    assert "loo_loss" not in fit.path([1.0]).table
    one, two = (fit.path([1.0, 4.0], loo=True, n_jobs=n_jobs).table["loo_loss"] for n_jobs in (None, 2))
    pd.testing.assert_series_equal(one, two, check_exact=True)
    assert one[1.0] == pytest.approx(fit.loo().mean_loss, rel=TOL)


def test_a_row_that_takes_its_class_along_leaves_no_loss():
    data = sample(n=30).assign(y=["yes"] + ["no"] * 29)
    path = svm("y ~ x + z", data).path([1.0, 2.0], loo=True)
    assert path.table["loo_loss"].isna().all()
    assert path.table["gacv"].notna().all()
    with pytest.raises(ArgumentError, match="it must be one that could be computed somewhere on the path"):
        path.best("loo_loss")


def test_the_best_cost():
    path = svm("y ~ x + z", sample(seed=3)).path([8.0, 1.0, 0.25, 0.03, 64.0], loo=True)
    for criterion in ("gacv", "loo_loss", "deviance", "mean_loss", "apparent_error"):
        assert path.best(criterion) == path.table[criterion].sort_index().idxmin()
    assert path.best() == path.best("gacv")


def test_what_is_done_to_its_table_changes_nothing():
    path = svm("y ~ x + z", sample(seed=3)).path([8.0, 1.0, 0.25])
    best, rows = path.best("mean_loss"), path.alpha
    table = path.table
    table.loc[:, "mean_loss"] = [1.0, 2.0, 3.0]
    table.index = [1.0, 0.25, 8.0]
    assert path.best("mean_loss") == best
    pd.testing.assert_frame_equal(path.alpha, rows)


def test_of_costs_that_tie_the_smallest_is_the_best():
    """Separable: from some cost on the fit stays as it is."""
    path = svm("y ~ x + z", sample("separable"), kernel="linear").path([1e5, 1e3, 1e4])
    assert path.table["mean_loss"].max() < 1e-6
    assert path.best("apparent_error") == 1e3


# -- truth -------------------------------------------------------------------------------------------------------------


def gappy():
    """Rows that are dropped, and rows outside a subset, with a truth that is not even a probability there."""
    data = sample(n=60).set_axis([f"r{k}" for k in range(60)])
    data.loc["r5", "x"] = np.nan
    data.loc["r9", "y"] = None
    data.loc[["r5", "r9"], "p"] = [np.nan, 7.0]
    data.loc[data["z"] > 0.5, "p"] = -1.0
    return data


GAPPY = gappy()
OF_GAPPY = svm("y ~ x + z", GAPPY, subset="z <= 0.5", costs={"fn": 3})
KEPT = GAPPY.loc[OF_GAPPY.frame.index]


@pytest.mark.parametrize(
    "truth", ["p", GAPPY["p"], GAPPY["p"].to_numpy(), list(GAPPY["p"])], ids=["column", "series", "array", "list"]
)
def test_a_truth_for_every_row_of_the_data(truth):
    path = OF_GAPPY.path([0.5, 2.0], truth=truth, data=GAPPY)
    for C, f in zip(path.C, path.decision_values.to_numpy(), strict=True):
        expected = gckl(f, KEPT["p"].to_numpy(), np.ones(len(KEPT)), OF_GAPPY.machine.pairs[0].loss)
        assert path.table["gckl"][C] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("truth", [KEPT["p"], KEPT["p"].to_numpy()], ids=["series", "array"])
def test_a_truth_for_every_row_of_the_fit(truth):
    assert len(KEPT) < 50
    one, two = OF_GAPPY.path([0.5], truth=truth), OF_GAPPY.path([0.5], truth="p", data=GAPPY)
    assert one.table["gckl"].tolist() == two.table["gckl"].tolist()


@pytest.mark.parametrize(
    "data",
    [KEPT, GAPPY.head(20), GAPPY[::-1], pd.concat([GAPPY, GAPPY]), GAPPY.set_axis(range(60))],
    ids=["fewer", "few", "other order", "more", "other index"],
)
def test_other_data_than_those_of_the_fit(data):
    """Their truth belongs to other rows."""
    with pytest.raises((ArgumentError, DataError)):
        OF_GAPPY.path([0.5], truth="p", data=data.assign(p=0.5))


# -- figures -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def path():
    yield svm("y ~ x + z", sample(), weights="w", C=2.0).path([4.0, 0.5, 1.0], loo=True, truth="p", data=sample())
    plt.close("all")


def test_figure_of_the_criteria(path):
    ax = path.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["GACV", "leave-one-out loss V0", "GCKL"]
    expected = path.table["gacv"].sort_index()
    np.testing.assert_allclose(ax.lines[0].get_xydata(), np.column_stack([[-1, 0, 2], expected]))
    assert ax.get_title("left").splitlines() == [
        "criteria of 3 exact fits along C", "dots: the least of each; dashed: the fit, C = 2"
    ]  # fmt: skip
    assert path.plot("criteria", ax) is ax


def test_figure_of_a_path_without_criteria():
    path = svm("y ~ x + z", sample(), loss="p0").path([1.0, 2.0])
    ax = path.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mean loss"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), path.table["mean_loss"])
    plt.close(ax.figure)


def test_figure_of_alpha_as_a_share_of_its_bound(path):
    """Rows of weight zero have no bound and no line."""
    used = sample()["w"].to_numpy() > 0
    ax = path.plot("alpha")
    lines = np.array([line.get_ydata() for line in ax.lines[:-1]])
    share = (path.alpha / path.C[:, None] / path.upper).loc[[0.5, 1.0, 4.0]].to_numpy()[:, used]
    np.testing.assert_allclose(lines, share.T, rtol=1e-12)
    assert lines.min() >= 0 and lines.max() <= 1 + 1e-12
    assert ax.get_ylabel() == "α as a share of its bound" and ax.get_xlabel() == "log2 C"
    assert ax.get_title("left") == f"α of each of {used.sum()} rows along C; dashed: C = 2"
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), 1.0)  # log2 of the cost of the fit


def test_figure_of_decision_values(path):
    ax = path.plot("decision_values")
    lines = np.array([line.get_ydata() for line in ax.lines[:-1]])
    np.testing.assert_array_equal(lines, path.decision_values.loc[[0.5, 1.0, 4.0]].to_numpy().T)


# -- bad input ---------------------------------------------------------------------------------------------------------

SEQUENCE = "it must be a sequence of numbers > 0."
BAD = [
    ({"C": 3.0}, ArgumentError, f"C=3.0 is not allowed: {SEQUENCE}"),
    ({"C": "1"}, ArgumentError, f"C='1' is not allowed: {SEQUENCE}"),
    ({"C": []}, ArgumentError, "C=[] is not allowed: it must be one number or several, not an empty list."),
    ({"C": {1.0: 2}}, ArgumentError, SEQUENCE),
    ({"C": np.ones((2, 2))}, ArgumentError, SEQUENCE),
    ({"C": [[1.0, 2.0], [3.0]]}, ArgumentError, "is not allowed"),
    ({"C": [1.0, 0.0]}, ArgumentError, "C[1]=0.0 is not allowed: it must be a finite number > 0."),
    ({"C": [-1]}, ArgumentError, "C[0]=-1 is not allowed"),
    ({"C": [1, 2, np.nan]}, ArgumentError, "C[2]=nan is not allowed"),
    ({"C": [np.inf]}, ArgumentError, "C[0]=inf is not allowed"),
    ({"C": ["a"]}, ArgumentError, "C[0]='a' is not allowed"),
    ({"C": [True]}, ArgumentError, "C[0]=True is not allowed"),
    ({"loo": 1}, ArgumentError, "loo=1 is not allowed: it must be True or False."),
    ({"truth": "p"}, ArgumentError, "truth='p' is not allowed: it must be the name of a column"),
    ({"truth": np.full(59, 0.5)}, ArgumentError, "truth has 59 values for 60 rows of data."),
    ({"truth": np.full((60, 2), 0.5)}, ArgumentError, "truth has the shape (60, 2)"),
    ({"truth": np.full(60, 1.5)}, ArgumentError, "truth holds 1.5 in row 0: it must be a probability in [0, 1]."),
    ({"truth": np.full(60, -0.1)}, ArgumentError, "truth holds -0.1 in row 0"),
    ({"truth": np.full(60, np.nan)}, ArgumentError, "truth holds nan in row 0"),
    ({"truth": ["a"] * 60}, ArgumentError, "truth hold text: they must be probabilities."),
    ({"truth": 0.5}, ArgumentTypeError, "truth is of type float: it must be one value for each row."),
    ({"truth": pd.Series(0.5, index=range(1, 61))}, ArgumentError, "truth is a Series on another index than data"),
    ({"truth": "q", "data": sample()}, ArgumentError, "truth='q' is not allowed"),
    ({"truth": "x", "data": sample()}, ArgumentError, "truth (column 'x') holds"),
    ({"truth": "y", "data": sample()}, ArgumentError, "truth (column 'y') hold text: they must be probabilities."),
    ({"truth": "p", "data": {"p": [0.5] * 60}}, ArgumentTypeError, "data is of type dict"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD, ids=[f"{k} {c[2][:40]}" for k, c in enumerate(BAD)])
def test_arguments_that_are_refused_before_anything_is_solved(monkeypatch, options, error, message):
    def fail(*_, **__):
        raise AssertionError("something was solved")

    monkeypatch.setattr(svmstat.results.two_levels, "follow_costs", fail)
    with pytest.raises(error, match=re.escape(message)):
        FIT.path(**options)


FIT = svm("y ~ x + z", sample())


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        ("plot", "alphas", "what='alphas' is not allowed: it must be one of 'criteria', 'alpha', 'decision_values'"),
        ("plot", None, "what=None is not allowed"),
        ("best", "gckl", "criterion='gckl' is not allowed: it must be one of 'gacv', 'deviance', 'apparent_error'"),
        ("best", "kkt_violation", "criterion='kkt_violation' is not allowed"),
    ],
)
def test_names_that_are_refused(method, given, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        getattr(FIT.path([1.0]), method)(given)


def test_no_gacv_column_to_choose_by_for_the_p0_loss():
    path = svm("y ~ x + z", sample(), loss="p0").path([1.0])
    with pytest.raises(ArgumentError, match="criterion='gacv' is not allowed"):
        path.best()


@pytest.mark.parametrize("options", [{"groups": "g"}, {"weights": "w", "weight_type": "probability"}])
def test_rows_that_are_no_independent_copies_have_no_gacv(options):
    data = pd.DataFrame({"x": np.arange(60.0) % 7, "g": np.arange(60) // 5, "w": 1.0 + np.arange(60) % 3})
    path = svm("y ~ x", data.assign(y=np.arange(60) % 2), **options).path([0.5, 1.0])
    assert "gacv" not in path.table
    with pytest.raises(ArgumentError, match="criterion='gacv' is not allowed"):
        path.best()


def test_data_without_truth_are_refused():
    data = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20) % 2})
    with pytest.raises(ArgumentError, match="data are for truth, a column of them"):
        svm("y ~ x", data).path([1.0], data=data)


def test_costs_whose_criterion_differs_by_rounding_tie():
    path = svm("y ~ x + z", sample()).path([4.0, 0.5, 2.0])
    for least, apart, best in ((0.3, 1e-12, 0.5), (0.3, 1e-6, 4.0), (-0.3, 1e-12, 0.5)):
        assert replace(path, table=path.table.assign(gacv=[least, least + apart, 0.4])).best() == best


def test_bounds_are_those_of_a_cost_of_one():
    data = sample()
    path = svm("y ~ x + z", data, weights="w", costs={"fp": 1, "fn": 3}, C=2.5).path([0.5])
    fit = svm("y ~ x + z", data, weights="w", costs={"fp": 1, "fn": 3}, C=1.0)
    weights = np.array([fit.class_weight[level] for level in data["y"]])
    np.testing.assert_allclose(path.upper, data["w"] * weights)
