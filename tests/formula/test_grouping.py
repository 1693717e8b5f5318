"""Labels of groups and folds as they may be given, and weights whose scale does not matter."""

import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError
from svmstat.formula.build import build_design
from svmstat.formula.grouping import fold_labels, mean_one

DATA = pd.DataFrame(
    {"y": list("abab") * 3, "x": np.arange(12.0), "g": np.repeat(["u", "v", "w"], 4), "when": np.repeat([3, 1, 2], 4)},
    index=np.arange(100, 112),
)


@pytest.mark.parametrize(
    "groups",
    ["g", DATA["g"], DATA["g"].to_numpy(), DATA["g"].tolist(), pd.Categorical(DATA["g"]), DATA["when"],
     pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(DATA["when"], "D"))],
    ids=["column", "series", "array", "list", "categories", "numbers", "dates"],
)  # fmt: skip
def test_labels_of_any_kind(groups):
    grouping = build_design("y ~ x", DATA, groups=groups).grouping
    assert grouping.codes.tolist() == np.repeat([0, 1, 2], 4).tolist()
    assert len(grouping.labels) == 3


def test_labels_travel_with_rows():
    data = DATA.assign(x=DATA["x"].where(DATA.index != 101))
    frame = build_design("y ~ x", data, groups="g", subset=DATA["x"] > 0)
    assert frame.grouping.of_rows.tolist() == DATA["g"].iloc[2:].tolist()


@pytest.mark.parametrize("factor", [2.0, 10.0, 1.0 / 3.0, 1e-200, 1e200])
def test_weights_have_no_scale(factor):
    w = np.random.default_rng(0).uniform(0.1, 5.0, 1000)
    np.testing.assert_array_equal(mean_one(w), mean_one(factor * w))
    assert mean_one(w).mean() == pytest.approx(1.0, rel=1e-11)


@pytest.mark.parametrize("unit", [1.0, 0.1, 1.0 / 3.0, 7e-5, 1e250])
@pytest.mark.parametrize("whole", [[1, 2, 3, 6], [37, 63], [105, 140, 840], [13245, 8712, 999999]], ids=str)
def test_whole_weights_in_any_unit_keep_their_sums(unit, whole):
    """With weights that are rounded one by one the rows of two levels that weigh the same do not."""
    w = np.array([*whole, sum(whole), 0], float)
    scaled = mean_one(unit * w)
    np.testing.assert_array_equal(scaled, mean_one(w))
    assert scaled[:-2].sum() == pytest.approx(scaled[-2], rel=1e-15, abs=0.0)
    np.testing.assert_allclose(scaled, w / w[:-1].mean(), rtol=1e-15)


def test_weights_that_are_no_whole_numbers():
    w = np.array([1.0, np.sqrt(2.0), np.pi])
    np.testing.assert_allclose(mean_one(w), w / w.mean(), rtol=1e-12)


@pytest.mark.parametrize("levels", ["whole", "raked"])
@pytest.mark.parametrize("seed", range(4))
def test_levels_that_weigh_the_same_have_the_middle_of_an_interval(levels, seed):
    """All rows are at their bounds; weights that differ in a twelfth digit had put b at one end of it."""
    rng = np.random.default_rng(seed)
    w = rng.choice([1.0, 2.0, 3.0, 5.0, 7.0], 60) if levels == "whole" else rng.uniform(0.5, 2.0, 60)
    y = np.repeat([1, 0], 30)
    w[-1] += max(w[y == 1].sum() - w[y == 0].sum(), 0.0)
    w[0] += w[y == 0].sum() - w[y == 1].sum()
    data = pd.DataFrame({"y": y, "x": rng.normal(size=60) + 0.4 * y})
    survey = svm("y ~ x", data, C=1e-3, weights=w, weight_type="probability")
    low, high = survey.intercept_interval
    assert high - low > 1.0 and survey.intercept == pytest.approx(0.5 * (low + high))
    assert survey.intercept == pytest.approx(svm("y ~ x", data, C=1e-3, weights=w / w.mean()).intercept, abs=1e-9)


def test_equal_weights_are_one():
    np.testing.assert_array_equal(mean_one(np.array([0.1, 0.0, 0.1])), [1.0, 0.0, 1.0])


def test_folds_must_have_labels_where_rows_are_used():
    labels = DATA["g"].where(DATA.index != 105)
    assert fold_labels(labels, DATA, np.arange(5)).tolist() == [0, 0, 0, 0, 1]
    with pytest.raises(ArgumentError, match="folds has no label in row 105"):
        fold_labels(labels, DATA, np.arange(8))


KINDS_OF_NUMBERS = {
    "float": pd.Series,
    "nullable": lambda values: pd.Series(pd.arrays.FloatingArray(values.copy(), np.zeros(len(values), bool))),
    "pyarrow": lambda values: pd.Series(pd.arrays.ArrowExtensionArray(pytest.importorskip("pyarrow").array(values))),
    "masked": lambda values: np.ma.masked_array(np.nan_to_num(values), mask=np.isnan(values)),
}


@pytest.mark.parametrize("kind", KINDS_OF_NUMBERS)
def test_nan_is_no_group_of_any_kind_of_numbers(kind):
    """Where nullable numbers hold NaN, as after reading parquet into pyarrow's, it is a value for pandas."""
    site = KINDS_OF_NUMBERS[kind](np.repeat([np.nan, 1.0, 2.0, 3.0], 3))
    data = DATA.reset_index(drop=True)
    frame = build_design("y ~ x", data, groups=site)
    assert frame.n_missing == 3
    assert frame.grouping.codes.tolist() == np.repeat([0, 1, 2], 3).tolist()
    with pytest.raises(DataError, match="is missing in row 0; na_action='raise' allows none"):
        build_design("y ~ x", data, groups=site, na_action="raise")
    with pytest.raises(ArgumentError, match="folds has no label in row 0"):
        fold_labels(site, data, np.arange(12))


def test_an_index_of_several_levels_is_no_label():
    data = DATA.set_index(pd.MultiIndex.from_product([list("uvw"), range(4)], names=["site", "day"]))
    with pytest.raises(ArgumentTypeError, match=r"groups is an index of several levels: .*get_level_values"):
        build_design("y ~ x", data, groups=data.index)
    assert len(build_design("y ~ x", data, groups=data.index.get_level_values("site")).grouping.labels) == 3


@pytest.mark.parametrize("kind", [">i8", ">f8", ">i4"])
def test_labels_in_another_order_of_bytes(kind):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=60), "y": rng.integers(0, 2, 60)})
    labels = np.repeat(np.arange(12), 5)
    fit = svm("y ~ x", data, groups=labels.astype(kind))
    assert fit.n_groups == 12
    assert str(fit.kfold(labels.astype(kind))) == str(svm("y ~ x", data, groups=labels).kfold(labels))
