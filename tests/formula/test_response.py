"""The response: its levels, its event, its labels."""

import pickle

import numpy as np
import pandas as pd
import pytest

from svmstat.errors import ArgumentError, DataError, DesignWarning
from svmstat.formula import build_design

NO_YES = ["no", "yes", "yes", "no", "yes", "no"]


def fitted(y, **options):
    data = pd.DataFrame({"y": y, "x": np.arange(len(y), dtype=float)})
    return build_design("y ~ x", data, **options)


@pytest.mark.filterwarnings("ignore:.* rows have missing values:svmstat.errors.DesignWarning")
@pytest.mark.parametrize(
    ("y", "levels", "event"),
    [
        ([0, 1, 1, 0], (0, 1), 1),
        ([-1, 1, 1, -1], (-1, 1), 1),
        ([1, 7, 7, 1], (1, 7), 7),
        ([0.25, 0.5, 0.5, 0.25], (0.25, 0.5), 0.5),
        ([0.0, 1.0, None, 0.0], (0.0, 1.0), 1.0),
        ([True, False, True, False], (False, True), True),
        (["b", "a", "b", None], ("a", "b"), "b"),
        (pd.Categorical(["b", "a", "b", "a"]), ("a", "b"), "b"),
        (pd.Categorical(["b", "a", "b", "a"], categories=["b", "a"]), ("b", "a"), "a"),
        (pd.Categorical(["b", "a", "b", "a"], categories=["c", "b", "a", "d"]), ("b", "a"), "a"),
        (pd.Categorical([3, 1, 3, 1], ordered=True), (1, 3), 3),
        (pd.array([1, 0, None, 1], dtype="Int64"), (0, 1), 1),
        (pd.array([True, False, None, True], dtype="boolean"), (False, True), True),
    ],
)
def test_levels_and_default_event(y, levels, event):
    frame = fitted(y)
    assert frame.response.levels == levels
    assert [type(level) for level in frame.response.levels] == [type(level) for level in levels]
    assert frame.response.event == event
    given = pd.Series(y)[frame.rows].tolist()
    assert frame.y.tolist() == [1.0 if each == event else -1.0 for each in given]


@pytest.mark.parametrize(
    ("y", "given", "event"),
    [
        ([0, 1, 1], 0, 0),
        ([0, 1, 1], 0.0, 0),
        ([0, 1, 1], np.float32(1), 1),
        ([0, 1, 1], True, 1),
        ([0, 1, 1], np.bool_(False), 0),
        ([0.0, 1.0, 1.0], 1, 1.0),
        ([True, False, True], False, False),
        ([True, False, True], 1, True),
        ([True, False, True], np.True_, True),
        (NO_YES, "no", "no"),
        (NO_YES, np.str_("no"), "no"),
        (pd.Categorical(NO_YES), "no", "no"),
        (pd.Categorical([3, 1, 3]), np.int64(1), 1),
    ],
)
def test_event(y, given, event):
    frame = fitted(y, event=given)
    assert frame.response.event == event
    assert type(frame.response.event) is type(event)
    assert frame.y.tolist() == [1.0 if each == event else -1.0 for each in y]
    assert frame.response.levels[frame.response.event_code] == event


def test_find():
    response = fitted([0, 1, 1]).response
    assert [response.find(value) for value in (0, 1.0, True, "1", 2, None, [1])] == [
        0,
        1,
        1,
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("y", "event"),
    [
        ([0, 1, 1], 2),
        ([0, 1, 1], "1"),
        ([0, 1, 1], [1]),
        ([0, 1, 1], np.array([0, 1])),
        ([0, 1, 1], pd.NA),
        ([0, 1, 1], np.nan),
        ([True, False, True], "True"),
        (NO_YES, "Yes"),
        (pd.Categorical(NO_YES, categories=["no", "maybe", "yes"]), "maybe"),
    ],
)
def test_event_that_is_no_level(y, event):
    with pytest.raises(ArgumentError, match=r"event=.* is not allowed: it must be a level of the response 'y': "):
        fitted(y, event=event)


@pytest.mark.parametrize(
    ("y", "with_missing"),
    [
        (pd.Series([0, 1] * 3), "Int64"),
        (pd.Series([0, 1] * 3, dtype="int8"), "Int8"),
        (pd.Series([0, 1] * 3, dtype="uint16"), "UInt16"),
        (pd.Series([0.0, 1.0] * 3), "float64"),
        (pd.Series([0.1, 0.7] * 3, dtype="float32"), "float32"),
        (pd.Series([0, 1] * 3, dtype="Int64"), "Int64"),
        (pd.Series([False, True] * 3), "boolean"),
        (pd.Series([False, True] * 3, dtype="boolean"), "boolean"),
        (pd.Series(["a", "b"] * 3, dtype=object), "object"),
        (pd.Series(["a", "b"] * 3, dtype="string"), "string"),
        (pd.Series(["a", "b"] * 3, dtype=pd.CategoricalDtype(["c", "a", "b"], ordered=True)), None),
        (pd.Series(pd.cut(range(6), 2)), None),
    ],
)
def test_labels_are_of_the_responses_type(y, with_missing):
    response = pickle.loads(pickle.dumps(fitted(y).response))
    index = pd.Index(["p", "q", "r"])
    labels = response.labels([1, 0, 1], index)
    assert labels.dtype == y.dtype
    assert labels.tolist() == [response.levels[1], response.levels[0], response.levels[1]]
    assert labels.index.equals(index)
    assert labels.name == "y"
    holes = response.labels(np.array([1, -1, 0]), index)
    assert holes.dtype == (with_missing or y.dtype)
    assert holes.isna().tolist() == [False, True, False]
    assert holes.dropna().tolist() == [response.levels[1], response.levels[0]]
    assert response.labels([]).dtype == y.dtype


@pytest.mark.filterwarnings("ignore:.* rows have missing values:svmstat.errors.DesignWarning")
@pytest.mark.parametrize(
    ("formula", "levels"),
    [
        ("z > 5 ~ x", (False, True)),
        ("a == 'u' ~ x", (False, True)),
        ("np.where(z > 5, 'deep', 'flat') ~ x", ("deep", "flat")),
        ("C(y) ~ x", (0, 1)),
        ("C(y, levels=[1, 0]) ~ x", (1, 0)),
        ("I(1 - y) ~ x", (0, 1)),
        ("hole > 3 ~ x", (False, True)),
    ],
)
def test_expressions(formula, levels, table):
    response = build_design(formula, table).response
    assert response.levels == levels
    assert response.event == levels[-1]
    assert response.name == formula.split(" ~")[0]


def test_missing_response_is_dropped(table):
    with pytest.warns(DesignWarning, match=r"2 of 8 rows have missing values, in column 'hole' \(2\), and are dropped"):
        assert build_design("hole > 3 ~ x", table).n_missing == 2


@pytest.mark.parametrize("formula", ["a ~ x", "C(z % 3) ~ x", "I(z % 3) ~ x"])
def test_more_than_two_levels(formula, table):
    frame = build_design(formula, table)
    assert len(frame.response.levels) == 3
    assert frame.response.labels(frame.codes).tolist() == [frame.response.levels[code] for code in frame.codes]


def test_an_event_is_one_of_two_levels(table):
    with pytest.raises(ArgumentError, match=r"event='w' is not allowed: the response 'a' has 3 levels, .*") as caught:
        build_design("a ~ x", table, event="w")
    assert "\"a == 'w' ~ ...\"" in str(caught.value)  # which works:
    assert build_design("a == 'w' ~ x", table).response.levels == (False, True)
    with pytest.raises(ArgumentError, match=r"\(z % 3\) == 1 ~|C\(z % 3\) == 1 ~"):
        build_design("C(z % 3) ~ x", table, event=1)


@pytest.mark.parametrize("y", [np.linspace(0, 1, 5), np.arange(30)])
def test_measurements_are_no_classes(y):
    with pytest.raises(DataError, match=rf"number of {len(y)} distinct values.*by a comparison, as in \"y > "):
        fitted(y)


@pytest.mark.filterwarnings("ignore:.* rows have missing values:svmstat.errors.DesignWarning")
@pytest.mark.parametrize(
    ("y", "only"),
    [([1, 1, None], "1.0"), (["a", "a", "a"], "'a'"), ([True] * 3, "True"), (["a", "a", None], "'a'")],
)
def test_one_class(y, only):
    with pytest.raises(DataError, match=rf"'y' has one class only in the \d rows that count: {only}"):
        fitted(y)


@pytest.mark.filterwarnings("ignore:.* rows have missing values:svmstat.errors.DesignWarning")
def test_one_class_beside_missing_values_says_how_many_rows_are_gone():
    with pytest.raises(DataError, match=r"'a'\. Two are needed\. Rows left out for missing values: 2\.$"):
        fitted(["a", "a", None, None])


@pytest.mark.parametrize("y", [[1, "a", 1], [1 + 2j, 0j, 1j], pd.date_range("2020", periods=3)])
def test_types_of_no_use(y):
    with pytest.raises(DataError, match="y holds"):
        fitted(y)


def test_infinite_response():
    with pytest.raises(DataError, match=r"'y' is infinite \(inf\) in row 1"):
        fitted([0.0, np.inf, 0.0])


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", object])
def test_whole_numbers_that_share_a_double_are_no_classes(dtype):
    y = pd.Series([2**53, 2**53 + 1, 2**53, 5]).astype(dtype)
    with pytest.raises(DataError, match=r"whole numbers of 9007199254740992 or more.*C\(y\)"):
        fitted(y)
    assert len(build_design("C(y) ~ x", pd.DataFrame({"y": y, "x": [1.0, 2.0, 3.0, 5.0]})).response.levels) == 3


def test_two_columns():
    data = pd.DataFrame({"y": [0.0, 1.0, 1.0], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match="has 2 columns"):
        build_design("np.column_stack([y, y]) ~ x", data)


def test_rows_of_weight_zero_do_not_make_a_level(table):
    weights = (table.a != "w").astype(float)
    frame = build_design("a ~ x", table, weights=weights)
    assert frame.response.levels == ("u", "v")
    assert frame.y[weights == 0].tolist() == [-1.0, -1.0]
    with pytest.raises(ArgumentError, match="'u', 'v'"):
        build_design("a ~ x", table, weights=weights, event="w")
    with pytest.raises(DataError, match="one class only in the 3 rows"):
        build_design("a ~ x", table, weights=(table.a == "u").astype(float))


@pytest.mark.parametrize(("y", "kind"), [(np.resize([True, False], 6), bool), (np.resize([0, 1], 6), "int64")])
def test_a_sparse_response_has_missing_labels(y, kind):
    """With -1 for a row that cannot be predicted, a sparse array would take a level for it, or refuse."""
    response = fitted(pd.Series(y, dtype=pd.SparseDtype(kind))).response
    assert response.labels([1, -1, 0]).isna().tolist() == [False, True, False]
    assert response.labels([1, 0]).tolist() == list(response.levels[::-1])
