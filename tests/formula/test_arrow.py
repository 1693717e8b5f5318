"""Columns of pyarrow: the same numbers, levels and labels as those of pandas' own types."""

import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.errors import DataError, DesignWarning
from svmstat.formula import build_design

pa = pytest.importorskip("pyarrow")

N = 24
K = 2**53 + np.arange(N)  # beyond what a float tells apart
DATA = pd.DataFrame(
    {
        "y": np.resize(["no", "yes", "yes"], N),
        "g": np.resize(list("bca"), N),
        "k": np.arange(N),
        "b": np.arange(N) % 2 == 0,
        "x": np.random.default_rng(0).normal(size=N),
    }
)


def arrow(values, kind):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(list(values), type=kind)))


def dictionary(values, categories, ordered=False):
    codes = pa.array([None if value is None else categories.index(value) for value in values], type=pa.int8())
    array = pa.DictionaryArray.from_arrays(codes, pa.array(categories), ordered=ordered)
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


def with_hole(values):
    return [None, *list(values)[1:]]


SAME = {  # the column, as pyarrow and as pandas has it
    "strings": ("g", arrow(DATA.g, pa.string()), DATA.g),
    "large strings": ("g", arrow(DATA.g, pa.large_string()), DATA.g),
    "strings with a hole": ("g", arrow(with_hole(DATA.g), pa.string()), pd.Series(with_hole(DATA.g))),
    "integers": ("k", arrow(DATA.k.tolist(), pa.int16()), DATA.k),
    "unsigned integers": ("k", arrow(DATA.k.tolist(), pa.uint64()), DATA.k),
    "integers with a hole": ("k", arrow(with_hole(DATA.k.tolist()), pa.int64()), pd.Series(with_hole(DATA.k))),
    "booleans": ("b", arrow(DATA.b.tolist(), pa.bool_()), DATA.b),
    "booleans with a hole": ("b", arrow(with_hole(DATA.b.tolist()), pa.bool_()), pd.Series(with_hole(DATA.b))),
    "decimals": ("k", arrow(DATA.k.tolist(), pa.decimal128(12, 2)), DATA.k),
    "a dictionary": ("g", dictionary(DATA.g, list("abc")), DATA.g.astype("category")),
    "a dictionary in another order, with a category that no row has": (
        "g",
        dictionary(DATA.g, list("czba")),
        pd.Series(pd.Categorical(DATA.g, categories=list("czba"))),
    ),
    "an ordered dictionary": (
        "g",
        dictionary(DATA.g, list("cab"), ordered=True),
        pd.Series(pd.Categorical(DATA.g, categories=list("cab"), ordered=True)),
    ),
    "a dictionary with a hole": (
        "g",
        dictionary(with_hole(DATA.g), list("abc")),
        pd.Series(pd.Categorical(with_hole(DATA.g), categories=list("abc"))),
    ),
    "a dictionary of numbers": (
        "k",
        dictionary((DATA.k % 3).tolist(), [2, 1, 0]),
        pd.Series(pd.Categorical(DATA.k % 3, categories=[2, 1, 0])),
    ),
    "a dictionary as the response": (
        "y",
        dictionary(DATA.y, ["yes", "maybe", "no"]),
        pd.Series(pd.Categorical(DATA.y, categories=["yes", "maybe", "no"])),
    ),
}


@pytest.mark.parametrize(("column", "ours", "theirs"), SAME.values(), ids=SAME)
def test_the_design_is_that_of_pandas_own_types(column, ours, theirs):
    ours, theirs = (DATA.assign(**{column: values}) for values in (ours, theirs))
    one, two = (build_design("y ~ g + k + b + x", data) for data in (ours, theirs))
    assert one.design.column_names == two.design.column_names
    assert one.response.levels == two.response.levels
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.codes, two.codes)
    new = [one.design.transform(data) for data in (ours, theirs)]  # either kind may be predicted
    np.testing.assert_array_equal(new[0].X, new[1].X)
    np.testing.assert_array_equal(new[0].X[~new[0].missing], one.X)


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_large_integers_are_exact(kind):
    frame = build_design("I(k % 2 == 0) ~ x", DATA.assign(k=arrow(K.tolist(), kind)))
    assert frame.response.labels(frame.codes).tolist() == (K % 2 == 0).tolist()


@pytest.mark.parametrize("make", [lambda v: arrow(v, pa.uint64()), np.uint64, lambda v: pd.array(v, dtype="UInt64")])
def test_integers_beyond_the_largest_signed_one_do_not_turn_negative(make):
    values = [2**63 + 2**40 * k for k in range(N)]
    frame = build_design("y ~ k", DATA.assign(k=make(values)), scale=False)
    np.testing.assert_array_equal(frame.X[:, 0], np.array(values, dtype=float))


def test_labels_of_a_dictionary_are_those_of_its_categories():
    data = DATA.assign(y=dictionary(DATA.y, ["yes", "maybe", "no"]))
    labels = svm("y ~ g + x", data).predict(data)
    assert labels.cat.categories.tolist() == ["yes", "maybe", "no"]
    expected = svm("y ~ g + x", DATA.assign(y=pd.Categorical(DATA.y, categories=["yes", "maybe", "no"]))).predict(DATA)
    pd.testing.assert_series_equal(labels, expected)


def test_chunks_with_dictionaries_of_their_own():
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1] * (N // 4)), pa.array(["u", "v"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1] * (N // 4)), pa.array(["v", "w"])),
    ]
    data = DATA.assign(g=pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array(chunks))))
    text = DATA.assign(g=["u", "v"] * (N // 4) + ["v", "w"] * (N // 4))
    np.testing.assert_array_equal(build_design("y ~ g", data).X, build_design("y ~ g", text).X)


def test_types_that_pandas_does_not_know():
    data = DATA.assign(other=arrow(["a"] * N, pa.string_view()))
    assert build_design("y ~ x", data).X.shape == (N, 1)
    with pytest.raises(DataError, match=r"other holds string_view.* such as 'a': it must be numbers"):
        build_design("y ~ other", data)


def test_dates():
    data = DATA.assign(x=arrow(pd.date_range("2020", periods=N), pa.timestamp("ns")))
    with pytest.raises(DataError, match=r"as in date\.dt\.month"):
        build_design("y ~ x", data)


def test_a_dictionary_with_a_null_among_its_values():
    """The row is missing, and null no level, as where the code is missing."""
    values = pa.array(np.resize(["u", "v", None, "u"], N).tolist())
    plain, held = (
        DATA.assign(g=pd.Series(pd.arrays.ArrowExtensionArray(values.dictionary_encode(null_encoding=how))))
        for how in ("mask", "encode")
    )
    with pytest.warns(DesignWarning, match="6 of 24 rows"):
        expected = build_design("y ~ g", plain)
    with pytest.warns(DesignWarning, match="6 of 24 rows"):
        found = build_design("y ~ g", held)
    assert found.design.column_names == expected.design.column_names
    np.testing.assert_array_equal(found.X, expected.X)
