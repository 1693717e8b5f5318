"""The design matrix: coding, names, scaling, what is dropped."""

import re
import warnings

import numpy as np
import pandas as pd
import patsy
import pytest

from svmstat import datasets, svm
from svmstat.errors import ArgumentError, DataError, DesignWarning
from svmstat.formula import build_design
from svmstat.formula.columns import Table


def design(formula, data, **options):
    return build_design(f"y ~ {formula}", data, **options)


@pytest.mark.parametrize(
    ("right", "names"),
    [
        ("x", ["x"]),
        ("x - 1", ["x"]),
        ("0 + x", ["x"]),
        ("a", ["a[u]", "a[v]", "a[w]"]),
        ("a - 1", ["a[u]", "a[v]", "a[w]"]),
        ("b", ["b[False]", "b[True]"]),
        ("g", ["g[q]", "g[p]"]),
        ("x > 0", ["x > 0[False]", "x > 0[True]"]),
        ("C(z % 2)", ["C(z % 2)[0]", "C(z % 2)[1]"]),
        ("C(a, levels=['w', 'v', 'u'])", [f"C(a, levels=['w', 'v', 'u'])[{k}]" for k in "wvu"]),
        ("a:x", ["a[u]:x", "a[v]:x", "a[w]:x"]),
        ("x:a", ["x:a[u]", "x:a[v]", "x:a[w]"]),
        ("b:g", ["b[False]:g[q]", "b[True]:g[q]", "b[False]:g[p]", "b[True]:g[p]"]),
        ("b*x", ["b[False]", "b[True]", "x", "b[False]:x", "b[True]:x"]),
        ("x:z", ["x:z"]),
        ("b:x:z", ["b[False]:x:z", "b[True]:x:z"]),
        ("bs(x, df=4)", [f"bs(x, df=4)[{k}]" for k in range(4)]),
        ("b:bs(x, df=3)", [f"b[{b}]:bs(x, df=3)[{k}]" for k in range(3) for b in (False, True)]),
        ("Q('mean depth')", ["Q('mean depth')"]),
        ("np.column_stack([x, z])", ["np.column_stack([x, z])[0]", "np.column_stack([x, z])[1]"]),
    ],
)
def test_names(right, names, table):
    assert design(right, table).design.column_names == tuple(names)


@pytest.mark.parametrize(
    "right",
    [
        "x",
        "x + z",
        "a",
        "b",
        "bs(x, df=4)",
        "cr(x, df=3)",
        "center(x) + standardize(z)",
        "x:z",
        "a:x",
        "np.exp(x) + z",
        "Q('mean depth')",
        "C(a)",
        "I(x**2) + x",
        "te(cr(x, df=3), cr(z, df=3))",
    ],
)
def test_agrees_with_patsy(right, table):
    expected = patsy.dmatrix(f"{right} - 1", table)
    frame = design(right, table, scale=False)
    kept = [k for k, name in enumerate(expected.design_info.column_names) if np.ptp(expected[:, k]) > 0]
    assert len(kept) == frame.X.shape[1]
    np.testing.assert_allclose(frame.X, np.asarray(expected)[:, kept], rtol=1e-13, atol=1e-13)
    if "C(" not in right:
        assert frame.design.column_names == tuple(np.array(expected.design_info.column_names)[kept])


def test_products_of_factors(table):
    frame = design("a*b", table.assign(b=table.z.isin([2, 5, 11])), subset="a != 'w'")
    rows = table.assign(b=table.z.isin([2, 5, 11])).iloc[frame.rows]
    cells = {name: frame.X[:, k] for k, name in enumerate(frame.design.column_names)}
    assert len(cells) == 2 + 2 + 4
    for a in "uv":
        np.testing.assert_array_equal(cells[f"a[{a}]"], rows.a == a)
        for b in (False, True):
            np.testing.assert_array_equal(cells[f"b[{b}]"], rows.b == b)
            both = cells[f"a[{a}]"] * cells[f"b[{b}]"]
            np.testing.assert_array_equal(cells[f"a[{a}]:b[{b}]"], both)


def test_arrays(table):
    frame = design("x + a", table)
    assert frame.X.dtype == frame.y.dtype == frame.weights.dtype == np.dtype(float)
    assert frame.X.flags["C_CONTIGUOUS"]
    assert frame.X.shape == (8, 4)
    assert set(frame.y) == {-1.0, 1.0}
    assert frame.weights.tolist() == [1.0] * 8
    assert frame.index.equals(table.index)
    assert (frame.n_missing, frame.n_subset_dropped, frame.weights_given) == (0, 0, False)
    assert frame.design.predictors == ("x", "a")
    assert frame.design.formula == "y ~ x + a"


def test_dot_is_written_out(table):
    frame = design(". - hole", table)
    assert frame.design.formula == 'y ~ x + z + a + b + g + Q("mean depth")'
    assert frame.design.predictors == ("x", "z", "a", "b", "g", "mean depth")


def test_dot_leaves_out_the_weights_but_not_the_subset(table):
    data = table[["y", "x", "z"]]
    assert design(".", data, weights="z").design.column_names == ("x",)
    assert design(". + z", data, weights="z").design.column_names == ("x", "z")
    assert design(".", data, subset="z > 2").design.column_names == ("x", "z")


def test_constant_columns_may_stay(table):
    frame = design("c + x", table.assign(c=1.0), scale=False, drop_constant=False)
    assert frame.design.column_names == ("c", "x")
    assert frame.design.dropped == ()
    assert frame.X[:, 0].tolist() == [1.0] * 8


@pytest.mark.parametrize(("right", "scale", "scaled"), [("x", True, True), ("x", False, False), ("a", True, False)])
def test_scaled(right, scale, scaled, table):
    assert design(right, table, scale=scale).design.scaled is scaled


def test_columns_named_by_numbers_and_oddities():
    names = [
        0,
        1,
        "a.1",
        "center",
        "id",
        "max",
        "inf",
        "None",
        'it\'s "q"',
        "é",
        "ﬁ",
        "new\nline",
        "#c",
        "back\\",
    ]
    numbers = np.random.default_rng(0).normal(size=(10, len(names)))
    data = pd.DataFrame(numbers, columns=names).assign(y=[0, 1] * 5)
    frame = design(".", data)
    assert frame.design.predictors == tuple(names)
    again = build_design(frame.design.formula, data)  # the formula as used can be used
    np.testing.assert_array_equal(again.X, frame.X)


def test_scaling(table):
    frame = design("x + a + b + z", table)
    d = frame.design
    numbers = [0, 6]
    assert d.is_indicator.tolist() == [False, True, True, True, True, True, False]
    np.testing.assert_allclose(d.center[numbers], [table.x.mean(), table.z.mean()], rtol=1e-14)
    np.testing.assert_allclose(d.scale_[numbers], [table.x.std(), table.z.std()], rtol=1e-14)
    assert d.center[d.is_indicator].tolist() == [0.0] * 5
    assert d.scale_[d.is_indicator].tolist() == [1.0] * 5
    np.testing.assert_allclose(frame.X[:, 0], (table.x - table.x.mean()) / table.x.std(), atol=1e-14)


def test_numbers_0_and_1_are_indicators(table):
    frame = design("dummy + x:b", table.assign(dummy=[0.0, 1, 1, 0, 1, 1, 0, 0]))
    assert frame.design.is_indicator.tolist() == [True, False, False]


def test_without_scaling(table):
    frame = design("x + z", table, scale=False)
    np.testing.assert_array_equal(frame.X, table[["x", "z"]])
    assert frame.design.center.tolist() == [0.0, 0.0]
    assert frame.design.scale_.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-160, 1e155, 1e170, 1e300, 1e307])
def test_scaling_of_extreme_numbers(size, table):
    expected = design("x", table).X
    np.testing.assert_allclose(design("x", table.assign(x=table.x * size)).X, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("x", [[-1.7e308, 1.7e308, 1.7e308], [0.0, 5e-324, 0.0], [1e-310, 2e-310, 3e-310]])
def test_numbers_without_a_standard_deviation_among_doubles(x):
    data = pd.DataFrame({"y": [0, 1, 1], "x": x})
    with pytest.raises(DataError, match="'x' has numbers too large or too small"):
        design("x", data)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize(
    ("constant", "name"),
    [
        ("c", "c"),
        ("I(0 * x)", "I(0 * x)"),
        ("I((x + 1e6) / 3 * 3 - x)", "I((x + 1e6) / 3 * 3 - x)"),
        ("label", "label[same]"),
        ("true", "true[True]"),
    ],
)
def test_constant_columns_are_dropped(scale, constant, name, table):
    data = table.assign(c=0.1, label="same", true=True)
    with pytest.warns(DesignWarning, match="The column is constant and dropped") as caught:
        frame = design(f"x + {constant}", data, scale=scale)
    assert repr(name) in str(caught[0].message)
    assert frame.design.column_names == ("x",)
    assert frame.design.dropped == (name,)
    assert frame.X.shape == (8, 1)


def test_constant_columns_are_told_once():
    forest = datasets.load("forest")
    with pytest.warns(DesignWarning, match="15 columns are constant and dropped: ") as caught:
        frame = build_design("cover_type ~ .", forest)
    assert len(caught) == 1
    assert frame.X.shape == (2724, 39)
    assert frame.response.levels == (1, 7)


def test_empty_cells_are_told(table):
    with pytest.warns(DesignWarning, match=r"'a\[w\]:b\[True\]'"):
        design("a:b", table.assign(b=[True, False, False, True, True, False, True, False]))


def test_small_variation_is_not_constant(table):
    assert design("shifted", table.assign(shifted=1.7e9 + table.x)).X.std() > 0.9


@pytest.mark.parametrize("right", ["c", "c + d", "c:d"])
def test_nothing_but_constants(right, table):
    with pytest.raises(DataError, match="Every column of the design is constant: 'c"):
        design(right, table.assign(c=1.0, d=2.0))


def test_a_column_that_varies_as_rounding_does_is_told_apart_from_a_constant(table):
    late = table.assign(late=1e12 + np.arange(len(table)) / len(table), c=3.0)
    with pytest.raises(DataError, match=r"is constant: 'late'\. Up to 1e-12 of values counts as rounding: subtract an"):
        design("late", late)
    with pytest.raises(DataError, match=r"is constant: 'c'\.$"):
        design("c", late)


def test_unused_categories_are_left_out_silently(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert design("g + x", table).design.column_names == ("g[q]", "g[p]", "x")


@pytest.mark.parametrize(
    "term",
    [
        "I(x - x.mean())",
        "pd.cut(x, 3)",
        "x.rank()",
        "x.cumsum()",
        "I(x / x.abs().max())",
        "C(pd.qcut(x, 2))",
        "a.astype('category').cat.codes",
        "pd.Categorical(a).codes",
        "np.unique(a, return_inverse=True)[1]",
        "pd.factorize(a, sort=True)[0]",
        "g.rank(method='dense')",
        "x.index",
    ],
)
def test_terms_that_look_at_other_rows_are_told(term, table):
    with pytest.warns(DesignWarning, match="depends in each row on the other rows"):
        design(term, table)


@pytest.mark.parametrize(
    "term",
    [
        "center(x)",
        "I(x - 3)",
        "np.log(z)",
        "C(a)",
        "bs(x, df=4)",
        "hole.fillna(0)",
        "I(x > z / 9)",
        "a.str.upper()",
    ],
)
def test_terms_that_look_at_their_row_only(term, table):
    design(term, table)


def test_mackerel():
    data = datasets.load("mackerel")
    frame = build_design("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", data)
    assert frame.X.shape == (634, 5)
    assert (frame.y == 1).sum() == 369
    assert frame.response.event is True
    np.testing.assert_allclose(frame.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(frame.X.std(axis=0, ddof=1), 1, rtol=1e-12)
    with pytest.warns(DesignWarning, match=r"304 of 634 rows have missing values, in column 'salinity' \(304\)"):
        assert build_design("egg_count > 0 ~ lon + salinity", data).n_missing == 304


@pytest.mark.parametrize(
    ("right", "slices"),
    [
        ("x", {"x": (0, 1)}),
        ("x + a + z", {"x": (0, 1), "a": (1, 4), "z": (4, 5)}),
        ("b*x", {"b": (0, 2), "x": (2, 3), "b:x": (3, 5)}),
        ("x + x:a + b:g", {"x": (0, 1), "x:a": (1, 4), "b:g": (4, 8)}),
        ("bs(x, df=4) + Q('mean depth')", {"bs(x, df=4)": (0, 4), "Q('mean depth')": (4, 5)}),
        ("C(a) + b:x:z", {"C(a)": (0, 3), "b:x:z": (3, 5)}),
    ],
)
def test_columns_of_a_term(right, slices, table):
    design = build_design(f"y ~ {right}", table).design
    assert {name: (each.start, each.stop) for name, each in design.term_slices.items()} == slices
    names = [name for each in design.term_slices.values() for name in design.column_names[each]]
    assert names == list(design.column_names)
    for k, name in enumerate(design.column_names):
        assert name in slices or design.named_slices[name] == slice(k, k + 1)
    assert design.named_slices.items() >= design.term_slices.items()


def test_columns_of_terms_of_which_some_are_constant(table):
    with pytest.warns(DesignWarning, match="constant and dropped"):
        design = build_design("y ~ one + x + x:a", table.assign(one=1.0), subset="a != 'w'").design
    slices = {name: (each.start, each.stop) for name, each in design.term_slices.items()}
    assert slices == {"one": (0, 0), "x": (0, 1), "x:a": (1, 3)}
    assert "one" not in design.column_names


# Without some terms


def test_a_design_without_terms_is_that_of_the_formula_without_them():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"y": np.arange(12) % 2, "x": rng.normal(size=12), "z": rng.normal(size=12), "one": 1.0})
    data["g"] = np.resize(["u", "v", "w"], 12)
    with pytest.warns(DesignWarning, match="constant"):
        whole = build_design("y ~ x + one + g + bs(z, df=4) + x:g", data).design
    for gone, formula in (
        (["x", "x:g", "one"], "y ~ g + bs(z, df=4)"),
        (["one", "g", "x:g", "bs(z, df=4)"], "y ~ x"),
    ):
        less, expected = whole.without(gone), build_design(formula, data).design
        assert less.formula == expected.formula and less.column_names == expected.column_names
        assert less.predictors == expected.predictors and less.term_slices == expected.term_slices
        np.testing.assert_array_equal(less.transform(data).X, expected.transform(data).X)
        np.testing.assert_array_equal(less.is_indicator, expected.is_indicator)
    assert whole.without(["x"]).dropped == ("one",) and whole.without(["one"]).dropped == ()
    assert whole.without(list(whole.term_slices)).formula == "y ~ 1"


def test_what_contains_a_term_and_what_terms_read():
    data = pd.DataFrame({"y": [0, 1, 0, 1], "x": [1.0, 2.0, 3.0, 5.0], "z": [2.0, 1.0, 3.0, 1.0]})
    design = build_design("y ~ x + z + x:z + np.log(x):z + np.log(x)", data).design
    assert design.containing("x") == ("x", "x:z") and design.containing("x:z") == ("x:z",)
    assert design.containing("z") == ("z", "x:z", "np.log(x):z")
    assert (
        design.read_by(["np.log(x)"]) == {"x"} and design.read_by(["x:z"]) == {"x", "z"} and design.read_by([]) == set()
    )


def test_a_response_that_depends_on_other_rows_is_told(table):
    with pytest.warns(DesignWarning, match=r"'x > x.mean\(\)' depends in each row on the other rows"):
        build_design("x > x.mean() ~ z", table)


@pytest.mark.parametrize("seed", range(6))
def test_splines_of_standardised_columns_reach_their_own_rows(seed):
    data = pd.DataFrame(np.random.default_rng(seed).normal(size=(50, 2)), columns=["u", "v"])
    data["y"] = data["u"] + data["v"] > 0
    built = build_design("y ~ bs(scale(u), df=4) + bs(standardize(v), df=4)", data)
    assert np.isfinite(built.X).all() and built.X.shape == (50, 8)


def test_whole_numbers_beyond_doubles_are_infinite(table):
    data = table.assign(x=pd.Series([10**400, *range(len(table) - 1)], table.index, dtype=object))
    with pytest.raises(DataError, match=r"data column 'x' is infinite"):
        build_design("y ~ x", data)
    with pytest.raises(ArgumentError, match=r"hold inf in row"):
        build_design("y ~ z", data, weights="x")


def test_the_value_that_is_no_number_is_named(table):
    built = build_design("y ~ x", table.dropna())
    with pytest.raises(DataError, match="holds text such as 'abc'; at the fit it held number"):
        built.design.transform(pd.DataFrame({"x": ["1", "2.5", "abc"]}))


def test_levels_of_a_categorical_with_another_that_no_row_has():
    """Named in another order, on either side, without the one that no row has."""
    values = pd.Categorical(["lo", "mid", "hi"] * 4, ["lo", "mid", "hi", "never"])
    data = pd.DataFrame({"a": values, "x": np.arange(12.0), "y": np.arange(12) % 2})
    fit = svm('C(a, levels=["hi", "mid", "lo"]) ~ x', data)
    assert fit.classes == ("hi", "mid", "lo")
    names = svm('y ~ C(a, levels=["hi", "mid", "lo"])', data).frame.design.column_names
    assert [name.rpartition("[")[2] for name in names] == ["hi]", "mid]", "lo]"]


@pytest.mark.parametrize("formula", ["y ~ g", "g ~ y"])
@pytest.mark.parametrize(
    ("levels", "words"),
    [
        (["yes", "yes ", "no"], "has levels that differ by blanks alone, 'yes' and 'yes ': printouts show them alike"),
        (["a b", "a  b", "a"], "'a  b' and 'a b'"),
        (["yes", "Yes", "no"], "has levels that differ by case alone, 'Yes' and 'yes': if they are one, .str.lower()"),
        ([" ", "b", "c"], "has a level that is blank, ' ': if it stands for a missing value, make it None"),
    ],
)
def test_levels_that_look_the_same_or_like_nothing_are_told(formula, levels, words):
    data = pd.DataFrame({"g": levels * 4, "y": [0, 1] * 6})
    with pytest.warns(DesignWarning, match=re.escape(words)):
        build_design(formula, data)


def test_what_a_term_takes_of_other_rows_is_looked_for_in_its_own_columns(monkeypatch):
    """For each of many terms: with all columns it would take a time that grows with the square of their number."""
    taken = []
    take = Table.take
    monkeypatch.setattr(Table, "take", lambda self, rows: taken.append(list(self.columns)) or take(self, rows))
    data = pd.DataFrame(np.random.default_rng(0).uniform(size=(20, 4)), columns=list("abcd")).assign(
        y=np.arange(20) % 2
    )
    build_design("y ~ np.log1p(a) + np.log1p(b) + c + np.sqrt(c * d)", data)
    assert [sorted(each) for each in taken if len(each) < 5] == [["a"]] * 4 + [["b"]] * 4 + [["c", "d"]] * 4
