"""Rows with predictors at other values: what goes by levels, and that columns keep their type."""

import numpy as np
import pandas as pd
import pytest

from svmstat.errors import ArgumentError, DataError
from svmstat.formula import AlteredRows, build_design, check_inside

N = 24
TYPES = {
    "text": np.resize(["b", "a", "c"], N),
    "category": pd.Categorical(np.resize(["b", "a", "c"], N), categories=["c", "z", "b", "a"]),
    "whole": pd.Categorical(np.resize([3, 1, 2], N)),
    "string": pd.array(np.resize(["b", "a", "c"], N), dtype="string"),
    "flag": np.resize([True, False], N),
    "nullable": pd.array(np.resize([True, False], N), dtype="boolean"),
    "int64": pd.array(np.arange(N) % 5, dtype="Int64"),
    "float32": np.linspace(0, 1, N, dtype="float32"),
}
LEVELS = {
    "text": ("a", "b", "c"), "category": ("c", "b", "a"), "whole": (1, 2, 3), "string": ("a", "b", "c"),
    "flag": (False, True), "nullable": (False, True), "int64": None, "float32": None,
}  # fmt: skip


def rows_of(formula, **columns):
    data = pd.DataFrame({"y": np.resize([0, 1, 1], N), **columns})
    return AlteredRows.of(build_design(formula, data)), data


@pytest.mark.parametrize("name", TYPES)
def test_columns_of_every_type(name):
    rows, data = rows_of("y ~ v + x", v=TYPES[name], x=np.arange(float(N)))
    variable = rows.variable("x", "v")
    assert variable.levels == LEVELS[name]
    everywhere = np.arange(N)
    np.testing.assert_array_equal(rows.at(everywhere, {"v": (variable, variable.values)}), rows.frame.X)
    other = variable.values[::-1]
    by_hand = rows.frame.design.transform(data.assign(v=data["v"].array[::-1])).X
    np.testing.assert_array_equal(rows.at(everywhere, {"v": (variable, other)}), by_hand)
    if variable.levels is None:  # between the values too
        assert np.isfinite(rows.at(everywhere[:1], {"v": (variable, np.array([0.25]))})).all()


@pytest.mark.parametrize(
    ("formula", "levels"),
    [
        ("y ~ C(v)", True),
        ("y ~ v", False),
        ("y ~ v + C(v)", True),
        ("y ~ v + I(v > 2)", False),
        ("y ~ C(v > 2)", False),
    ],
)
def test_numbers_go_by_levels_where_a_term_has_one_for_each(formula, levels):
    rows, _ = rows_of(formula, v=np.arange(N) % 5)
    assert (rows.variable("x", "v").levels is not None) == levels


def test_rows_of_weight_zero_are_absent():
    data = pd.DataFrame({"y": [0, 1, 1, 0], "v": ["a", "b", "a", "a"], "x": [1.0, 2.0, 3.0, 9.0]})
    rows = AlteredRows.of(build_design("y ~ v + x", data, weights=[1.0, 2.0, 1.0, 0.0]))
    assert rows.variable("x", "x").values.tolist() == [1.0, 2.0, 3.0] and rows.weights.tolist() == [1.0, 2.0, 1.0]


def test_what_is_refused():
    rows, data = rows_of("y ~ np.log(x) + v", v=TYPES["text"], x=np.arange(1.0, N + 1))
    with pytest.raises(ArgumentError, match=r"column='xx' .*\('x', 'v'\); did you mean 'x'\?"):
        rows.variable("column", "xx")
    with pytest.raises(ArgumentError, match=r"the term 'np.log\(x\)' reads 'x'"):
        rows.variable("column", "np.log(x)")
    with pytest.raises(ArgumentError, match="column=\\['x'\\] is not allowed"):
        rows.variable("column", ["x"])
    with pytest.raises(ArgumentError, match=r"grid=99\.0 is not allowed: it must be between 1 and 24, where 'x'"):
        check_inside("grid", rows.variable("x", "x"), [2.0, 99.0])
    with pytest.raises(ArgumentError, match="between 1 and 24"):
        check_inside("grid", rows.variable("x", "x"), [np.nan])
    with pytest.raises(DataError, match="data has no column 'v'"):
        AlteredRows.of(rows.frame, data.drop(columns="v"))


def test_columns_called_true_and_false_are_no_mask():
    data = pd.DataFrame({"y": [0, 1, 1, 0], True: [1.0, 2.0, 3.0, 9.0], False: [4.0, 2.0, 1.0, 3.0]})
    rows = AlteredRows.of(build_design("y ~ .", data))
    assert rows.data.columns.tolist() == [True, False]
    assert rows.changed(np.arange(4), {}, [False])[False].tolist() == data[False].tolist()
    assert rows.frame.read.columns.tolist() == ["y", True, False]
