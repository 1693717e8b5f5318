"""Several formulas in one search: each point is that of its formula alone, on the rows that all of them have."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import assert_same_fit, quiet, sample

from svmstat import svm, tune
from svmstat.errors import ArgumentError, DataError, FormulaError, GridWarning, UnavailableError
from svmstat.kernels import RBF, Linear
from svmstat.tuning import minimax

FORMULAS = ["y ~ x", "y ~ x + site", "y ~ np.log(z + 60) + x:side"]
GRID = {"C": [0.5, 4.0], "gamma": [0.2, 1.0]}
# Two certified solutions.
TOL = 1e-6


@pytest.fixture
def data(K):
    return sample(K, 72, seed=4)


@pytest.mark.parametrize("options", [{}, {"criterion": "kfold", "folds": 3, "rng": 1}, {"score": "error"}])
def test_each_point_is_that_of_its_formula_alone(data, options):
    every = quiet(FORMULAS, data, weights="w", **GRID, **options).table
    for text in FORMULAS:
        alone = quiet(text, data, weights="w", **GRID, **options).table
        own = every[every["formula"] == text]
        np.testing.assert_array_equal(own[["C", "gamma"]], alone[["C", "gamma"]])
        if "folds" not in options or text.startswith("y ~ x"):  # folds are drawn over the rows by their first columns
            np.testing.assert_allclose(own["score"], alone["score"], rtol=TOL)


ADDITIVE = ["y ~ s(x)", "y ~ s(z) + s(x)"]
OF_ROWS = [{}, {"weights": "w"}, {"groups": "block"}]


@pytest.mark.parametrize(
    ("K", "formulas", "options"),
    [(6, FORMULAS, {}), *((K, each, of) for K in (2, 3) for each in (FORMULAS, ADDITIVE) for of in OF_ROWS)],
    ids=str,
)
def test_maps_by_folds_are_those_of_the_formula_alone(data, formulas, options):
    """Folds are dealt along the columns, of which those of the other formulas are none of a formula's own."""
    data = data.assign(block=np.arange(len(data)) // 3)
    options = {"calibration": "kfold", **options}
    found = quiet(formulas, data, C=[0.5, 4.0], gamma=[0.5], **options)
    for _, row in found.table.iterrows():
        loo = svm(row["formula"], data, C=row["C"], gamma=0.5, **options).loo()
        assert row["score"] == pytest.approx(loo.score, rel=TOL)
    beside = quiet([*formulas, "y ~ side"], data, C=[0.5, 4.0], gamma=[0.5], **options).table
    same = beside[beside["formula"].isin(formulas)]
    np.testing.assert_allclose(same["score"], found.table["score"], rtol=TOL)


@pytest.mark.parametrize("criterion", ["span", "loo"])
def test_rows_that_differ_in_columns_of_other_formulas_are_one_observation(criterion):
    """Apart they would be copies of each other, and the span of a copy beside its like is zero."""
    rng = np.random.default_rng(5)
    levels = {"age": rng.integers(0, 4, 140), "learner": rng.integers(0, 2, 140), "sex": rng.integers(0, 2, 140)}
    data = pd.DataFrame({name: pd.Categorical(codes) for name, codes in levels.items()})
    data["y"] = (rng.random(140) < 0.3 + 0.12 * levels["age"] - 0.1 * levels["sex"]).astype(int)
    options = {
        "C": [1.0, 10.0],
        "gamma": 0.5,
        "criterion": criterion,
        "score": "loss",
        "further": ["gacv", "span_loss"],
    }
    formulas = ["y ~ age + learner", "y ~ sex"]
    every = quiet(formulas, data, **options).table
    for text in formulas:
        alone = quiet(text, data, **options).table
        own = every[every["formula"] == text]
        for column in ("score", "n_support", "gacv", "span_loss"):
            np.testing.assert_allclose(own[column], alone[column], rtol=TOL, err_msg=column)
    exact = svm(formulas[0], data, C=10.0, gamma=0.5).loo().mean_loss
    found = every[(every["formula"] == formulas[0]) & (every["C"] == 10.0)]["span_loss"].item()
    assert found == pytest.approx(exact, rel=0.05)


def test_values_of_rules_are_those_of_each_formula(data):
    table = quiet(FORMULAS, data, C=1.0).table
    for text in FORMULAS:
        own = set(table.loc[table["formula"] == text, "gamma"])
        assert own == set(quiet(text, data, C=1.0).table["gamma"])


def test_the_best_is_the_fit_with_its_parameters(data):
    found = quiet(FORMULAS, data, weights="w", **GRID)
    assert set(found.best_params) == {"C", "gamma", "formula"}
    again = svm(data=data, weights="w", **found.best_params)
    assert_same_fit(found.best, again, data, TOL)
    assert found.best.formula == found.best_params["formula"] == found.best_row["formula"]
    assert found.best_row["score"] == pytest.approx(again.loo().score, rel=TOL)
    larger = found.best.update(C=9.0)
    assert larger.formula == found.best.formula and larger.C == 9.0


def test_one_formula_in_a_list_is_that_formula(data):
    one, plain = quiet(FORMULAS[:1], data, **GRID), quiet(FORMULAS[0], data, **GRID)
    assert one.table.equals(plain.table) and one.best_params == plain.best_params


def test_rows_are_those_that_all_formulas_have(data):
    data.loc[[3, 10], "z"] = np.nan
    data.loc[[5], "x"] = np.nan
    found = quiet(FORMULAS, data, subset="x < 2", **GRID)
    complete = data.dropna(subset=["x", "z"]).query("x < 2")
    assert found.best.frame.index.equals(complete.index)
    expected = quiet(FORMULAS, complete, **GRID)
    np.testing.assert_allclose(found.table["score"], expected.table["score"], rtol=TOL)
    assert found.best.update().frame.index.equals(complete.index)


def test_kernels_in_a_list_are_tried_with_every_formula(data):
    kernels = ["linear", Linear() + RBF(gamma=0.3)]
    table = quiet(FORMULAS, data, C=[1.0], kernel=kernels).table
    assert len(table) == 6
    one = table[(table["formula"] == FORMULAS[1]) & (table["kernel"] == "linear")]["score"].iloc[0]
    assert one == pytest.approx(svm(FORMULAS[1], data, kernel="linear", C=1.0).loo().score, rel=TOL)


def test_the_choice_of_the_formula_is_judged_too(data):
    found = quiet(FORMULAS, data, nested=3, rng=1, **GRID)
    assert "formula" in found.nested.choices and np.isfinite(found.nested_score)
    assert found.corrected_score > found.best_row["score"]
    assert "corrected for tuning" in str(found.best.summary(loo=True))
    with pytest.raises(UnavailableError, match="retune=True"):
        found.best.permutation_test(B=1, retune=True)


def test_only_the_grid_of_the_best_formula_is_told_of(data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GridWarning)
        found = tune(FORMULAS, data, C=[1.0])
    values = found.table.loc[found.table["formula"] == found.best.formula, "gamma"]
    told = any("the best gamma" in str(each.message) for each in caught)
    assert told == (found.best_params["gamma"] in (values.min(), values.max()))


def test_the_printout_and_the_figure(data):
    found = quiet(FORMULAS, data, **GRID)
    assert f"Best formula:  {found.best.formula}" in str(found)
    ax = found.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[:3] == ["x", "x + site", "np.log(z + 60) + x:side"]
    least = found.table.groupby(["formula", "C"])["score"].min()
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), least[FORMULAS[0]])
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("formulas", "options", "error", "message"),
    [
        ([], {}, ArgumentError, r"formula=\[\] is not allowed"),
        (["y ~ x", "y ~ x"], {}, ArgumentError, r"formula\[1\]='y ~ x' is not allowed"),
        (["y ~ x", "side ~ z"], {}, DataError, "the formulas must have one response: 'side ~ z'"),
        (["y ~ x", "y ~ nothing"], {}, FormulaError, "nothing"),
        (["y ~ x", "y ~ z"], {"criterion": minimax(), "C": None}, ArgumentError, r"not for minimax\(\)"),
        (["y ~ x", "y ~ z"], {"kernel": "precomputed"}, ArgumentError, "not for kernel='precomputed'"),
        (["y ~ x", "y ~ x + z"], {"kernel": RBF(gamma=1.0).on("x")}, ArgumentError, "cannot be put on others"),
    ],
)
def test_what_cannot_be_compared_is_refused(formulas, options, error, message):
    with pytest.raises(error, match=message):
        tune(formulas, sample(2, 40, seed=4), **{"C": [1.0], **options})


def test_formulas_without_a_common_row_are_refused():
    data = sample(2, 40, seed=4)
    data.loc[:19, "x"] = np.nan
    data.loc[20:, "z"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(DataError, match="no row of the data has values for all formulas"):
            tune(["y ~ x", "y ~ z"], data, C=[1.0])


def test_the_best_of_several_can_be_fitted_to_other_rows():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    data["y"] = data["a"] + rng.normal(size=60) > 0.0
    best = quiet(["y ~ a", "y ~ a + b"], data, C=[1.0, 2.0], gamma=0.5).best
    assert best.refit(data.head(40)).n_rows == 40
    gaps = data.assign(b=data["b"].where(np.arange(60) > 4))
    assert quiet(["y ~ a", "y ~ a + b"], gaps, C=[1.0, 2.0], gamma=0.5).best.update().n_rows == 55


@pytest.mark.parametrize("options", [{"criterion": "kfold", "folds": "g"}, {"criterion": "gckl", "truth": "p"}])
def test_a_dot_stands_for_the_same_columns_when_the_best_is_repeated(options):
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"a": rng.normal(size=60), "g": np.arange(60) % 4})
    data["p"] = 1.0 / (1.0 + np.exp(-data["a"]))
    data["y"] = rng.uniform(size=60) < data["p"]
    best = quiet("y ~ .", data, C=[1.0, 2.0], gamma=0.5, **options).best
    assert best.update().formula == best.formula == ("y ~ a + p" if "folds" in options else "y ~ a + g")
    assert best.update().deviance == best.deviance


def test_a_formula_without_a_width_that_is_best_has_no_gamma():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.uniform(-2.0, 2.0, (160, 3)), columns=["x", "z", "u"])
    data["y"] = rng.random(160) < 1.0 / (1.0 + np.exp(-3.0 * np.sin(2.0 * data["x"]) - 2.0 * data["z"] ** 2 + 2.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune(["y ~ x + z + u", "y ~ s(x) + s(z)"], data, C=[0.5, 1, 2])
    assert found.searched == {"C": found.best.C, "formula": "y ~ s(x) + s(z)"}
    assert "nan" not in str(found)
    assert len(found.plot_criteria().get_lines()[0].get_xdata()) == 3


def test_rows_that_lack_a_value_of_another_formula_are_missing_and_not_outside(data):
    data = data.copy()
    data.iloc[[1, 2], data.columns.get_loc("x")] = np.nan
    data.iloc[[3], data.columns.get_loc("z")] = np.nan
    data["k"] = np.arange(len(data))
    for subset, outside in ((None, 0), ("(k != 3) & (k > 1)", 3)):
        best = quiet(["y ~ x", "y ~ z"], data, C=[0.5, 4.0], gamma=[0.5], subset=subset).best
        assert (best.n_outside_subset, best.n_missing) == (outside, 3 if subset is None else 1)
        assert best.n_rows == len(data) - best.n_missing - outside
        assert ("Dropped, outside subset" in str(best.summary())) == (outside > 0)
