"""Labels of groups and folds as they may be given, and weights whose scale does not matter."""

import numpy as np
import pandas as pd
import pytest

from svmstat.errors import ArgumentError
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


def test_equal_weights_are_one():
    np.testing.assert_array_equal(mean_one(np.array([0.1, 0.0, 0.1])), [1.0, 0.0, 1.0])


def test_folds_must_have_labels_where_rows_are_used():
    labels = DATA["g"].where(DATA.index != 105)
    assert fold_labels(labels, DATA, np.arange(5)).tolist() == [0, 0, 0, 0, 1]
    with pytest.raises(ArgumentError, match="folds has no label in row 105"):
        fold_labels(labels, DATA, np.arange(8))
