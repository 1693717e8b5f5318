"""Labelled values and tables before they are rendered."""

import pandas as pd
import pytest

from svmstat.reporting.rendering.parts import Entry, Table


def test_entries():
    assert str(Entry("n", 634.0, "count")) == "634"
    assert Entry("n", 634.0).numeric
    assert not Entry("n", 634.0).interval
    assert Entry("b", (-1.0, 1.0)).interval
    assert not Entry("yes", True).numeric


def test_from_frame_and_back():
    frame = pd.DataFrame({"n": [265, 369], "level": ["a\nb", "c"]}, index=["no", "yes"])
    table = Table.from_frame(frame, ["count", "estimate"], title="T")
    number, text = table.columns()
    assert (number.header, number.flush_right, number.texts) == ("n", True, ["265", "369"])
    assert (text.flush_right, text.texts, text.lacks) == (False, ["a b", "c"], ["", ""])
    pd.testing.assert_frame_equal(table.to_frame(), frame)


def test_one_style_for_all_columns():
    table = Table.from_frame(pd.DataFrame({"a": [0.5], "b": [0.25]}), "share")
    assert [column.texts for column in table.columns()] == [["0.5000"], ["0.2500"]]


def test_as_many_styles_as_columns():
    table = Table.from_frame(pd.DataFrame({"a": [0.5], "b": [0.25]}), ["share"])
    with pytest.raises(ValueError, match="shorter"):
        list(table.columns())


def test_a_column_with_a_missing_number():
    (column,) = Table.from_frame(pd.DataFrame({"a": [1.5, None]}, dtype=object)).columns()
    assert column.flush_right
    assert column.texts == ["1.5000", "-"]
    assert column.lacks == ["", ".0000"]


def test_numbers_and_words_in_one_column():
    """As in a table of fits: words stand flush right, and only numbers have points to align."""
    table = Table(("fit",), ("kernel", "score", "se"), (("a.b.c",), (48.5,), (3.25,)), ("estimate",), mixed=True)
    (column,) = table.columns()
    assert column.flush_right
    assert column.numeric == [False, True, True]
    assert column.lacks == ["", "0", ""]
