"""Data frames as arrays of numbers, and back: every type that is stored, on every kind of index."""

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from svmstat.errors import ModelFileError
from svmstat.storage import Reading, Writing
from svmstat.storage.tables import decode_frame, encode_frame

TIMES = pd.to_datetime(["2020-01-01", None, "2021-07-01T12:00:00.123456", "1900-02-28"], format="ISO8601")
PIECES = [pa.array(["x", None]).dictionary_encode(), pa.array(["y", "x"]).dictionary_encode()]
COLUMNS = {
    **{kind: np.array([1, 0, 1, 1], kind) for kind in ["?", "i1", "i2", "i8", "u1", "u8", "f2", "f4", "c8", "c16"]},
    "numbers": np.array([0.1, np.nan, -0.0, np.inf]),
    "backwards": np.arange(8.0)[::-2],
    "texts": np.array(["a", None, "\ud800\0é", np.nan], object),
    "flags": np.array([True, None, False, pd.NA], object),
    "any": np.array([2**70, 2.5, Decimal("1.10"), dt.date(2020, 1, 2)], object),
    "moments": np.array([dt.datetime(2020, 1, 2, 3), pd.NaT, "", -1], object),
    "text": pd.array(["a", None, "b", ""], dtype="string[python]"),
    "arrow text": pd.array(["a", None, "b", ""], dtype="string[pyarrow]"),
    "Int64": pd.array([1, None, 2**62 + 1, 4], dtype="Int64"),
    "UInt8": pd.array([1, None, 255, 4], dtype="UInt8"),
    "Float32": pd.array([1, None, 2.5, 4], dtype="Float32"),
    "boolean": pd.array([True, None, False, True], dtype="boolean"),
    "levels": pd.Categorical(["x", "y", None, "x"], categories=["y", "z", "x"], ordered=True),
    "numbered levels": pd.Categorical([3, 1, None, 3]),
    "ranges": pd.cut([1, 2, 3, 4], 2),
    "times": TIMES.array,
    "zoned": TIMES.tz_localize("Europe/Berlin").array,
    "offset": TIMES.tz_localize("UTC").array,
    "lengths": pd.to_timedelta([1, 2, None, 4], unit="s").array,
    "months": pd.period_range("2020-01", periods=4, freq="M").array,
    "intervals": pd.arrays.IntervalArray.from_breaks([0.0, 1.0, 2.0, 3.0, 9.0], closed="left"),
    **{
        f"arrow {kind}": pd.arrays.ArrowExtensionArray(pa.array(values * 2, type=pa.type_for_alias(kind)))
        for kind, values in {
            "int64": [2**62 + 1, None], "uint8": [1, None], "double": [0.1, None], "bool": [True, None],
            "string": ["é", None], "large_string": ["é", None], "date32": [dt.date(1900, 1, 1), None],
            "timestamp[us]": [dt.datetime(2020, 1, 1), None], "duration[ns]": [5, None],
        }.items()
    },
    "arrow dictionary": pd.arrays.ArrowExtensionArray(pa.chunked_array(PIECES)),
}  # fmt: skip
INDEXES = {
    "range": pd.RangeIndex(3, 11, 2, name="r"),
    "texts": pd.Index(list("abca"), name="k"),
    "numbers": pd.Index([1.5, np.nan, 3, 4]),
    "objects": pd.Index([1, "a", None, 2.5], dtype=object),
    "days": pd.date_range("2020", periods=4, freq="D", tz="UTC"),
    "steps": pd.timedelta_range("1h", periods=4, freq="h"),
    "months": pd.period_range("2020-01", periods=4, freq="M"),
    "levels": pd.CategoricalIndex(list("abca"), name=("a", 1)),
    "intervals": pd.interval_range(0, 4),
    "several": pd.MultiIndex.from_product([[1, 2], ["a", "b"]], names=["u", None]),
}


def again(data):
    """The frame, by way of a file."""
    writing = Writing()
    members = writing.members({"format": 1, "data": encode_frame(writing, data)})
    reading = Reading("file", members)
    found = decode_frame(reading, reading.model["data"])
    reading.finish()
    return found


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name):
    data = pd.DataFrame({name: pd.Series(COLUMNS[name], dtype=COLUMNS[name].dtype), 3: 1.0, ("a", -1): 2})
    found = again(data)
    pd.testing.assert_frame_equal(found, data, check_exact=True)
    assert found.dtypes.tolist() == data.dtypes.tolist()
    assert [type(each) for each in found[name]] == [type(each) for each in data[name]]


@pytest.mark.parametrize("name", INDEXES)
def test_indexes(name):
    data = pd.DataFrame({"x": [1, 2, 3, 4]}, index=INDEXES[name])
    pd.testing.assert_frame_equal(again(data), data, check_freq=True)
    assert again(data).index.equals(data.index)


def test_names():
    data = pd.DataFrame([[1, 2, 3, 4]], columns=pd.Index(["é", 1, ("a", 2.5), None], dtype=object, name="names"))
    pd.testing.assert_frame_equal(again(data), data)
    assert [*map(type, again(data).columns)] == [*map(type, data.columns)]


def test_no_rows_and_no_columns():
    for data in (pd.DataFrame({"x": [1.0], "g": ["a"]}).head(0), pd.DataFrame(index=[1, 2])):
        pd.testing.assert_frame_equal(again(data), data, check_column_type=False)


@pytest.mark.parametrize(
    "values",
    [
        pd.arrays.SparseArray([0.0, 1.0]),
        np.array([object(), None]),
        np.array([[1], [2, 3]], dtype=object),
        pd.arrays.ArrowExtensionArray(pa.array([[1], None])),
        pd.arrays.ArrowExtensionArray(pa.array([Decimal("0.1"), None])),
    ],
)
def test_what_cannot_be_stored_is_refused_by_its_column(values):
    with pytest.raises(ModelFileError, match=r"column 'x' .*, which a file cannot hold"):
        again(pd.DataFrame({"x": pd.Series(values, dtype=values.dtype)}))


def test_the_text_is_plain_json():
    writing = Writing()
    said = encode_frame(writing, pd.DataFrame({"x": [0.1, np.nan], "g": ["a", None]}))
    assert json.loads(writing.members({"format": 1, "data": said})["model.json"])["data"] == said
