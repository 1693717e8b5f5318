"""Which rows are used and how much they count: missing values, subset, weights."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, DesignWarning, FormulaError
from svmstat.formula import build_design


def test_rows_with_missing_values_are_dropped_and_counted(table):
    with pytest.warns(DesignWarning, match=r"2 of 7 rows have missing values, in column 'hole' \(2\), and are dropped"):
        frame = build_design("y ~ x + hole", table, weights=np.arange(8.0), subset="z > 2")
    assert frame.index.tolist() == ["r2", "r3", "r5", "r6", "r7"]
    assert frame.rows.tolist() == [2, 3, 5, 6, 7]
    assert frame.weights.tolist() == [2.0, 3.0, 5.0, 6.0, 7.0]
    assert (frame.n_subset_dropped, frame.n_missing) == (1, 2)
    assert frame.y.tolist() == [1.0, -1.0, -1.0, 1.0, -1.0]


def test_the_fit_is_that_of_the_complete_rows(table):
    right = "standardize(hole) + bs(x, df=4) + C(z)"
    with pytest.warns(DesignWarning, match="2 of 8 rows have missing values"):
        with_holes = build_design(f"y ~ {right}", table)
    without = build_design(f"y ~ {right}", table.dropna())
    assert with_holes.design.column_names == without.design.column_names
    np.testing.assert_array_equal(with_holes.X, without.X)


@pytest.mark.parametrize(
    "values", [[1.5, 2.0, 0.5, 3.0], [1, 2, 5, 3], [True, False, False, True], list("abba")], ids=str
)
def test_no_time_is_a_missing_number_or_text(values):
    """NaT in a column of objects, as a join leaves it."""
    held = pd.DataFrame({"x": pd.Series([*values, pd.NaT], dtype=object), "y": [0, 1, 1, 0, 1]})
    with pytest.warns(DesignWarning, match=r"1 of 5 rows have missing values, in column 'x' \(1\)"):
        frame = build_design("y ~ x", held)
    plain = build_design("y ~ x", pd.DataFrame({"x": values, "y": [0, 1, 1, 0]}))
    assert frame.design.column_names == plain.design.column_names
    np.testing.assert_array_equal(frame.X, plain.X)
    new = pd.DataFrame({"x": pd.Series([pd.NaT, *values[::-1]], dtype=object)})
    np.testing.assert_array_equal(plain.design.transform(new).X[-1], plain.X[0])


def test_missing_text_and_categories(table):
    data = table.assign(
        a=["u", None, "v", "u", "v", "u", "v", "u"],
        g=pd.Categorical([None, *"qpqpqp", "q"], categories=["q", "p"]),
    )
    with pytest.warns(DesignWarning, match=r"2 of 8 .* in column 'a' \(1\), column 'g' \(1\), and are dropped"):
        frame = build_design("y ~ a + g", data)
    assert frame.index.tolist() == ["r2", "r3", "r4", "r5", "r6", "r7"]
    assert frame.design.column_names == ("a[u]", "a[v]", "g[q]", "g[p]")


@pytest.mark.parametrize(("lost", "warned"), [(10, False), (11, True), (50, True)])
def test_a_column_for_which_many_rows_go_is_named(lost, warned):
    """More than a tenth of the rows."""
    x = np.where(np.arange(100) < lost, np.nan, np.arange(100.0))
    data = pd.DataFrame({"y": np.resize([0, 1], 100), "x": x, "z": np.arange(100.0)})
    message = rf"{lost} of 100 rows have missing values, in column 'x' \({lost}\), and are dropped"
    with pytest.warns(DesignWarning, match=message) if warned else nullcontext():
        assert build_design("y ~ x + z", data).n_missing == lost
    assert build_design("y ~ z", data).n_missing == 0
    assert build_design("y ~ x + z", data, subset="z >= 50").n_missing == 0


def test_rows_that_go_are_counted_by_their_weights():
    """A row of weight two is the row twice, one of weight zero none."""
    x, y = np.array([np.nan, *range(19)]), np.resize([0, 1], 20)
    data = pd.DataFrame({"x": x, "y": y, "once": 1.0, "often": [9.0, *[1.0] * 19], "never": [0.0, *[1.0] * 19]})
    for weights in ("once", "never"):
        assert build_design("y ~ x", data, weights=weights).n_missing == 1
    with pytest.warns(DesignWarning, match="1 of 20 rows have missing values"):
        build_design("y ~ x", data, weights="often")


def test_missing_values_that_the_formula_answers_for_are_no_loss(table):
    assert build_design("y ~ hole.fillna(0) + x", table).n_missing == 0


def test_na_action_raise(table):
    data = table.assign(x=table.x.where(table.z > 3))
    with pytest.raises(DataError, match=r"3 of 8 rows have missing values, in column 'x' \(2\), column 'hole' \(2\)"):
        build_design("y ~ x + hole", data, na_action="raise")
    with pytest.raises(DataError, match=r"2 of 8 rows have missing values, in column 'hole' \(2\)"):
        build_design("y ~ center(hole)", data, na_action="raise")
    with pytest.raises(DataError, match=r"in column 'hole' \(2\)"):
        build_design("hole > 3 ~ z", data, na_action="raise")
    assert build_design("y ~ z", data, na_action="raise").n_missing == 0


def test_no_complete_row(table):
    with pytest.raises(DataError, match=r"No row is complete: 8 of 8 .* 'x' \(8\)"):
        build_design("y ~ x", table.assign(x=np.nan))
    with pytest.raises(DataError, match="No row with positive weight is complete"):
        build_design("y ~ hole", table, weights=table.hole.isna().astype(float))


def test_values_that_are_no_numbers_are_told(table):
    with pytest.warns(DesignWarning, match=r"term 'np.log\(x\)' is not a number in 2 row\(s\)"):
        frame = build_design("y ~ np.log(x)", table.assign(x=table.z - 4.5))
    assert frame.n_missing == 2
    with (
        pytest.warns(DesignWarning, match="not a number"),
        pytest.raises(DataError, match=r"term 'np.log\(x\)' \(2\)"),
    ):
        build_design("y ~ np.log(x)", table, na_action="raise")


@pytest.mark.parametrize(
    ("subset", "rows"),
    [
        ("z > 7", [4, 5, 6, 7]),
        ("hole > 3", [3, 5, 6, 7]),
        ("a == 'u'", [0, 3, 6]),
        ("b", [0, 3, 4, 6]),
        ("~b & (z > limit)", [1, 2, 5, 7]),
        ("Q('mean depth') <\n 4", [6, 7]),
        ("a.isin(['u', 'v']) & (hole.fillna(9) > 4)", [1, 4, 6, 7]),
        ([True, False] * 4, [0, 2, 4, 6]),
        (np.array([True, False] * 4), [0, 2, 4, 6]),
        (pd.array([True, False, None, True] * 2, dtype="boolean"), [0, 3, 4, 7]),
        ([True, False, None, True] * 2, [0, 3, 4, 7]),
    ],
)
def test_subset(subset, rows, table):
    frame = build_design("y ~ x", table, subset=subset, env={"limit": 2})
    assert frame.rows.tolist() == rows
    assert frame.n_subset_dropped == 8 - len(rows)
    assert frame.n_missing == 0


def test_subset_as_series(table):
    frame = build_design("y ~ x", table, subset=table.hole > 3)
    assert frame.index.tolist() == ["r3", "r5", "r6", "r7"]


@pytest.mark.parametrize("subset", ["center(hole) > 0", "~(center(hole) > 0)", "abs(standardize(hole)) < 1"])
def test_a_subset_learns_from_the_rows_that_have_values(subset, table):
    found = build_design("y ~ x", table, subset=subset).index
    assert found.equals(build_design("y ~ x", table.dropna(), subset=subset).index)
    with pytest.raises(DataError, match="keeps none of the 8 rows"):
        build_design("y ~ x", table.assign(hole=np.nan), subset=subset)


def test_learning_is_within_the_subset(table):
    inside = build_design("y ~ a + standardize(x)", table, subset="a != 'w'")
    alone = build_design("y ~ a + standardize(x)", table[table.a != "w"])
    np.testing.assert_array_equal(inside.X, alone.X)
    assert inside.design.column_names == alone.design.column_names


@pytest.mark.parametrize(
    ("subset", "error", "message"),
    [
        ("z > 99", DataError, "subset='z > 99' keeps none of the 8 rows"),
        ([False] * 8, DataError, "subset keeps none of the 8 rows"),
        ([None] * 8, DataError, "subset keeps none"),
        ("z >", FormulaError, "The condition cannot be read"),
        ("zz > 1", FormulaError, "no column 'zz'; did you mean 'z'"),
        ("z + 1", ArgumentError, "must be a condition; it gives numbers"),
        ("a", ArgumentError, "must be a condition; it gives text"),
        ("z > 1 and x > 0", FormulaError, "join conditions by &"),
        ([0, 1] * 4, ArgumentError, "subset holds number"),
        ([True, False], ArgumentError, "subset has 2 values for 8 rows"),
        (np.ones((8, 1), dtype=bool), ArgumentError, r"subset has the shape \(8, 1\)"),
        (pd.Series([True] * 8), ArgumentError, "on another index"),
        (3, ArgumentTypeError, "subset is of type int"),
        ({"r1": True}, ArgumentTypeError, "subset is of type dict"),
    ],
)
def test_bad_subset(subset, error, message, table):
    with pytest.raises(error, match=message):
        build_design("y ~ x", table, subset=subset)


@pytest.mark.parametrize(
    "weights",
    [
        "z",
        [2, 3, 5, 7, 11, 13, 17, 19],
        (2, 3, 5, 7, 11, 13, 17, 19),
        np.array([2, 3, 5, 7, 11, 13, 17, 19], dtype="uint8"),
        pd.array([2, 3, 5, 7, 11, 13, 17, 19], dtype="Int32"),
        pd.Index([2, 3, 5, 7, 11, 13, 17, 19]),
    ],
)
def test_weights(weights, table):
    frame = build_design("y ~ x", table, weights=weights)
    assert frame.weights.tolist() == table.z.tolist()
    assert frame.weights_given


def test_weights_as_series(table):
    assert build_design("y ~ x", table, weights=table.z).weights.tolist() == table.z.tolist()
    assert build_design("y ~ x", table, weights=table.b).weights.tolist() == [1.0, 0, 0, 1, 1, 0, 1, 0]
    with pytest.raises(ArgumentError, match="on another index than data"):
        build_design("y ~ x", table, weights=table.z.iloc[::-1])


def test_weights_by_a_column_that_is_no_text(table):
    frame = build_design("y ~ x", table.rename(columns={"z": 5}), weights=5)
    assert frame.weights.tolist() == table.z.tolist()


@pytest.mark.filterwarnings("ignore:.* rows have missing values:svmstat.errors.DesignWarning")
def test_duplicate_labels_are_fine(table):
    data = table.set_axis(["same"] * 8)
    frame = build_design("y ~ x + hole", data, weights=data.z, subset=data.z > 2)
    assert frame.weights.tolist() == [5.0, 7.0, 13.0, 17.0, 19.0]
    assert frame.index.tolist() == ["same"] * 5


def test_weights_outside_the_subset_may_be_anything(table):
    frame = build_design("y ~ x", table, weights=np.where(table.z > 2, 1, np.nan), subset="z > 2")
    assert frame.weights.tolist() == [1.0] * 7


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ("zz", ArgumentError, "weights='zz' is not allowed: .*; did you mean 'z'"),
        (
            3,
            ArgumentError,
            "weights=3 is not allowed: it must be the name of a column, or one number for each row",
        ),
        (2.5, ArgumentTypeError, "weights is of type float"),
        ("a", ArgumentError, r"weights \(column 'a'\) hold text"),
        ("x", ArgumentError, r"weights \(column 'x'\) hold -1.0 in row 'r1'"),
        ("hole", ArgumentError, r"weights \(column 'hole'\) hold nan in row 'r1'"),
        ([1] * 7 + [np.inf], ArgumentError, "weights hold inf in row 'r7'"),
        ([1] * 7, ArgumentError, "weights has 7 values for 8 rows"),
        (np.zeros(8), ArgumentError, "weights are all zero"),
        ([np.nan] * 8, ArgumentError, "weights hold nan in row 'r0'"),
        (["1"] * 8, ArgumentError, "weights hold text"),
        (np.ones((8, 2)), ArgumentError, r"weights has the shape \(8, 2\)"),
        (np.ones(8, [("w", float)]), ArgumentTypeError, r"weights holds records of type \[\('w', '<f8'\)\]"),
        (np.full(8, 0.125), ArgumentError, "weights add up to 1: .* or use scale=False"),
        (np.full(8, 0.125 + 1e-16), ArgumentError, "weights add up to 1: .* weight_type='probability'"),
        ("g", ArgumentError, r"weights \(column 'g'\) hold category"),
    ],
)
def test_bad_weights(weights, error, message, table):
    with pytest.raises(error, match=message):
        build_design("y ~ x", table, weights=weights)


def test_small_weights_without_scaling(table):
    frame = build_design("y ~ x + a", table, weights=np.full(8, 0.125), scale=False)
    np.testing.assert_array_equal(frame.X[:, 0], table.x)


def test_fractional_weights(table):
    w = np.arange(8) / 4
    frame = build_design("y ~ x", table, weights=w)
    mean = (w @ table.x) / w.sum()
    np.testing.assert_allclose(frame.design.center, mean, rtol=1e-14)
    np.testing.assert_allclose(frame.design.scale_, np.sqrt(w @ (table.x - mean) ** 2 / (w.sum() - 1)), rtol=1e-14)


@pytest.mark.parametrize(
    ("w", "tol"),
    [
        ([0, 0.5, 1.5, 1, 2, 1, 1, 0.25], 1e-14),
        ([1, 0.1 * 3 * 10, 1, 1, 1, 1, 1, 1], 1e-14),  # 3.0000000000000004
        (np.exp(np.arange(8)), 1e-5),
        (np.array([1e-12, 1, 1, 1, 1, 1, 1, 1e12]), 1e-4),
    ],
)
@pytest.mark.parametrize("weight_type", ["frequency", "probability"])
def test_transforms_learn_by_the_proportions_of_weights(table, w, tol, weight_type):
    weighted = build_design("y ~ center(x)", table, weights=np.array(w), scale=False, weight_type=weight_type)
    np.testing.assert_allclose(weighted.X[:, 0], table.x - np.average(table.x, weights=w), atol=tol)


def test_transforms_learn_from_shares_of_probability_weights(table):
    w = np.array([1, 2, 3, 1, 2, 3, 1, 2])
    frames = [build_design("y ~ bs(x, df=4)", table, weights=k * w, weight_type="probability") for k in (1, 10, 0.3)]
    for frame in frames[1:]:
        np.testing.assert_allclose(frame.X, frames[0].X, atol=1e-12)


def test_huge_whole_weights(table):
    frame = build_design("y ~ center(x) + z", table, weights=np.full(8, 1e12))
    np.testing.assert_allclose(frame.design.center[1], table.z.mean())


def test_zero_weight_rows_that_cannot_be_computed(table):
    w = np.array([1, 1, 1, 1, 1, 1, 1, 0])
    outside = r"data, in a row of weight zero, term 'bs\(x, df=3\)' cannot be computed in row 'r7', where x=4.0"
    with pytest.raises(DataError, match=outside):
        build_design("y ~ bs(x, df=3)", table, weights=w)
    with pytest.raises(DataError, match=r"data column 'a', in rows of weight zero, has new level.* 'w'; the fit knows"):
        build_design("y ~ a", table, weights=(table.a != "w").astype(float))


def test_what_a_mask_hides_is_missing(table):
    """As in a frame of the masked array: what is under the mask says nothing."""
    mask = np.arange(8) < 2
    with pytest.raises(ArgumentError, match="weights hold nan in row 'r0'"):
        build_design("y ~ x", table, weights=np.ma.masked_array(np.full(8, 2.0), mask))
    kept = build_design("y ~ x", table, subset=np.ma.masked_array(np.ones(8, bool), mask))
    assert kept.rows.tolist() == [2, 3, 4, 5, 6, 7]
    shown = build_design("y ~ x", table, weights=np.ma.masked_array(np.full(8, 2.0)))
    assert shown.weights.tolist() == [2.0] * 8
