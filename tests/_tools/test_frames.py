"""Columns of other libraries: exactly what they are in pandas, and back."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from svmstat._tools.frames import alike, as_pandas, label_at, read_frame
from svmstat.errors import ArgumentTypeError, DataError

BIG = 2**62 + 1  # no double holds it
NOON = dt.datetime(2020, 7, 1, 12, 0, 0, 123)
COLUMNS = {  # values, type of polars, type of pandas
    "whole": ([1, -2, BIG], pl.Int64, "int64"),
    "missing": ([1, None, BIG], pl.Int64, "Int64"),
    "small": ([1, 2, 3], pl.Int8, "int8"),
    "small missing": ([1, None, 3], pl.Int8, "Int8"),
    "unsigned": ([1, 2, 2**64 - 1], pl.UInt64, "uint64"),
    "number": ([1.5, None, -0.1], pl.Float64, "float64"),
    "single": ([1.5, 2.5, None], pl.Float32, "float32"),
    "flag": ([True, False, True], pl.Boolean, "bool"),
    "flag missing": ([True, None, False], pl.Boolean, "boolean"),
    "text": (["b", None, ""], pl.String, "string"),
    "levels": (["b", None, "a"], pl.Categorical, "category"),
    "ordered": (["b", None, "a"], pl.Enum(["c", "b", "a"]), "category"),
    "day": ([dt.date(2020, 1, 31), None, dt.date(1900, 2, 28)], pl.Date, "datetime64[s]"),
    "time": ([NOON, None, NOON], pl.Datetime("us"), "datetime64[us]"),
    "fine time": ([NOON, None, NOON], pl.Datetime("ns"), "datetime64[ns]"),
    "zoned": ([NOON.replace(tzinfo=dt.UTC), None, None], pl.Datetime("us", "Asia/Tokyo"), "datetime64[us, Asia/Tokyo]"),
    "length": ([dt.timedelta(days=3), None, dt.timedelta(microseconds=1)], pl.Duration("us"), "timedelta64[us]"),
    "decimal": ([Decimal("0.1"), None, Decimal("2.5")], pl.Decimal(38, 1), "object"),
    "lists": ([[1], None, [2, 3]], pl.List(pl.Int64), "object"),
    "nothing": ([None, None, None], pl.Null, "object"),
    "hours": ([dt.time(1), None, dt.time(2)], pl.Time, "object"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_polars(name):
    values, kind, expected = COLUMNS[name]
    frame = pl.DataFrame({"x": pl.Series(values, dtype=kind)})
    found = read_frame("data", frame)
    assert found.kind == "polars"
    assert str(found.data["x"].dtype) == expected
    assert found.data.index.equals(pd.RangeIndex(3))
    assert alike(found.data, "polars").equals(frame)
    assert alike(found.data, "polars").schema["x"] == kind


@pytest.mark.parametrize("name", [name for name in COLUMNS if name != "ordered"])
def test_columns_of_pyarrow(name):
    values, kind, expected = COLUMNS[name]
    table = pl.DataFrame({"x": pl.Series(values, dtype=kind)}).to_arrow()
    found = read_frame("data", table)
    assert found.kind == "pyarrow"
    assert str(found.data["x"].dtype) == expected
    assert alike(found.data, "pyarrow")["x"].to_pylist() == values or name == "zoned"


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("levels", [["z", "y", "x"], [30, 20, 10]])
def test_dictionaries_keep_their_levels_and_their_order(levels, ordered):
    codes = pa.array([2, None, 0])
    table = pa.table({"x": pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=ordered)})
    found = as_pandas("data", table)["x"]
    assert found.cat.categories.tolist() == levels
    assert found.cat.ordered == ordered
    again = alike(found, "pyarrow")
    assert again.to_pylist() == [levels[2], None, levels[0]]
    assert again.type.ordered == ordered


def test_pieces_with_dictionaries_of_their_own():
    pieces = [pa.array(["b", None]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()]
    found = as_pandas("data", pa.table({"x": pa.chunked_array(pieces)}))["x"]
    assert found.tolist()[2:] == ["a", "b"]
    assert found.cat.categories.tolist() == ["b", "a"]


def test_a_pandas_frame_is_itself():
    frame = pd.DataFrame({"x": [1]}, index=["row"])
    assert read_frame("data", frame).data is frame
    assert alike(frame, "pandas") is frame


def test_numbers_in_the_other_order_of_bytes():
    """As files of other machines have them, and pandas cannot sort."""
    values = np.array([2.0, 1.0])
    frame = pd.DataFrame({"x": values.astype(values.dtype.newbyteorder("S")), "z": ["a", "b"]}, index=["row", "other"])
    found = read_frame("data", frame).data
    assert found["x"].dtype.isnative
    pd.testing.assert_frame_equal(found, frame.assign(x=values))


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_answers_have_null_where_pandas_has_nan(kind):
    answer = pd.DataFrame({("a", "b"): [0.5, np.nan], ("c", 1): pd.array([True, None], dtype="boolean")})
    found = as_pandas("answer", alike(answer, kind))
    assert found.columns.tolist() == ["a_b", "c_1"]
    assert found.isna().to_numpy().tolist() == [[False, False], [True, True]]


def test_columns_beside_those_of_the_frame():
    frame = pl.DataFrame({"x": [[1], [2]]})
    found = read_frame("data", frame).beside(pd.DataFrame({"p": [0.5, np.nan]}))
    assert found.equals(pl.DataFrame({"x": [[1], [2]], "p": [0.5, None]}))


@pytest.mark.parametrize("data", [5, None, "x", {"x": [1]}, [1], np.ones((2, 2)), pd.Series([1]), pl.Series([1])])
def test_what_is_no_frame(data):
    with pytest.raises(ArgumentTypeError, match=f"newdata is of type {type(data).__name__}: it must be a pandas"):
        read_frame("newdata", data)


def test_frames_whose_rows_are_not_at_hand():
    with pytest.raises(ArgumentTypeError, match=r"data is of type LazyFrame, .* collect\(\) or compute\(\) it first"):
        read_frame("data", pl.DataFrame({"x": [1]}).lazy())


def test_names_that_are_there_twice():
    with pytest.raises(DataError, match="data has several columns of one name"):
        read_frame("data", pa.table([[1], [2]], names=["x", "x"]))
    with pytest.raises(DataError, match="two columns of the answer would have one name"):
        alike(pd.DataFrame({("a", "b_c"): [1], ("a_b", "c"): [2]}), "polars")


def test_rows_of_times_are_named_as_in_tables():
    """Not as Python writes them: Timestamp('2021-02-17 00:00:00')."""
    days, hours = (pd.date_range("2021-02-17", periods=3, freq=freq) for freq in ("D", "h"))
    periods = pd.period_range("2021-02", periods=2, freq="M")
    named = [f"{label_at(index, 0)!r}" for index in (days, hours, periods, pd.Index(["a"]), pd.Index([3]))]
    assert named == ["2021-02-17", "2021-02-17 00:00:00", "2021-02", "'a'", "3"]
