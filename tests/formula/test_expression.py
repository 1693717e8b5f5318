"""One expression: what its names mean, what is missing, what transforms remember."""

import pickle

import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.errors import DataError, FormulaError
from svmstat.formula.columns import read_table
from svmstat.formula.expression import bind
from svmstat.formula.names import read_names, without_calls
from svmstat.formula.parse import whole


def expression(code, data, env=None):
    return bind(whole(code), dict.fromkeys(data.columns), env or {})


def evaluated(code, data, env=None):
    found = expression(code, data, env)
    table = read_table("data", data, dict.fromkeys(found.columns))
    found.memorize(table.take(np.flatnonzero(~found.missing_inputs(table))))
    return found.evaluate(table)


def shift(x):
    return x + 100


@pytest.mark.parametrize(
    ("code", "values", "functions"),
    [
        ("x", ("x",), ()),
        ("np.log(x) + z", ("np", "x", "z"), ()),
        ("bs(x, df=4)", ("x",), ("bs",)),
        ("Q('a b') * x", ("a b", "x"), ()),
        ("f(g(x))", ("x",), ("f", "g")),
    ],
)
def test_names(code, values, functions):
    names = read_names(code)
    assert names.values == values
    assert names.functions == functions


def test_without_calls():
    assert without_calls("te(cr(x, df=3), cr(z, df=3))", frozenset({"te", "cr"})) == "x"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x", lambda d: d.x),
        ("Q('mean depth')", lambda d: d["mean depth"]),
        ("x**2 + z", lambda d: d.x**2 + d.z),
        ("np.exp(x)", lambda d: np.exp(d.x)),
        ("exp(x)", lambda d: np.exp(d.x)),
        ("I(x - z)", lambda d: d.x - d.z),
        ("center(x)", lambda d: d.x - d.x.mean()),
        ("standardize(x)", lambda d: (d.x - d.x.mean()) / d.x.std(ddof=0)),
        ("shift(x)", lambda d: d.x + 100),
        ("x * factor", lambda d: d.x * 3),
        ("a.map({'u': 1, 'v': 2, 'w': 5})", lambda d: d.a.map({"u": 1, "v": 2, "w": 5})),
        ("hole", lambda d: d.hole),
        ("hole.fillna(0)", lambda d: d.hole.fillna(0)),
        ("center(hole)", lambda d: d.hole - d.hole.mean()),
    ],
)
def test_numbers(code, expected, table):
    value = evaluated(code, table, {"shift": shift, "factor": 3})
    np.testing.assert_allclose(value.data[:, 0], expected(table), rtol=1e-14)
    assert list(value.missing) == list(expected(table).isna())


@pytest.mark.parametrize(
    ("code", "kind", "levels"),
    [
        ("a", "text", ("u", "v", "w")),
        ("b", "boolean", (False, True)),
        ("g", "category", ("q", "p", "r")),
        ("x > 0", "boolean", (False, True)),
        ("C(z % 3)", "category", (0, 1, 2)),
        ("C(a, levels=['w', 'v', 'u'])", "category", ("w", "v", "u")),
        ("C(a, Treatment)", "category", ("u", "v", "w")),
        ("a + 'x'", "text", ("ux", "vx", "wx")),
    ],
)
def test_levels(code, kind, levels, table):
    value = evaluated(code, table)
    assert (value.kind, value.levels) == (kind, levels)
    assert not value.missing.any()


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("hole > 2", True),
        ("hole.isin([1])", True),
        ("hole.isna()", False),
        ("np.where(hole.isna(), 'no', 'yes')", False),
        ("np.where(hole > 2, 1, 0)", True),
        ("hole.fillna(0) > 2", False),
        ("C(hole)", True),
        ("I(np.greater(hole, 2) * 1)", True),
        ("np.signbit(hole) * 1", True),
        ("np.digitize(hole, [2, 5])", True),
        ("np.searchsorted([2, 5], hole)", True),
        ("hole.astype(bool) * 1", True),
        ("hole.fillna(0).astype(int)", False),
        ("hole.isna().astype(int)", False),
        ("np.fmax(hole, 0)", False),
        ("pd.factorize(hole)[0]", True),
        ("np.unique(hole, return_inverse=True)[1]", True),
        ("hole.astype('category').cat.codes", True),
        ("hole.fillna(0).astype('category').cat.codes", False),
    ],
)
def test_missing_follows_r(code, missing, table):
    expected = table.hole.isna() if missing else np.zeros(8, dtype=bool)
    assert list(evaluated(code, table).missing) == list(expected)


@pytest.mark.parametrize(
    "code", ["text.str.startswith('u') * 1", "np.where(text.str.contains('u'), 1, 0)", "pd.Categorical(text).codes"]
)
def test_missing_text_is_missing_in_what_asks_for_its_parts(code, table):
    text = table.assign(text=table.a.where(table.a != "w", None))
    assert list(evaluated(code, text).missing) == list(table.a == "w")


def test_columns_stand_before_callers_names(table):
    assert evaluated("x", table, {"x": 5}).data[0, 0] == 0.5


def test_patsys_names_stand_before_callers(table):
    assert evaluated("C(z)", table, {"C": shift}).kind == "category"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("Q('mean dept')", "no column 'mean dept'; did you mean 'mean depth'"),
        ("centre(x)", "no function 'centre'; did you mean 'center'"),
        ("np.pi", "uses no column"),
        ("x()", "no function 'x'"),
        ("log(x, y, z, x)", "cannot be evaluated"),
        ("x.foo", "cannot be evaluated: AttributeError"),
        ("x.map(lambda v: v + 1)", "Lambda, list/dict/set comprehension"),
        ("np.array([v + 1 for v in x])", "Lambda, list/dict/set comprehension"),
        ("bs(x, df=1)", "df=1 is too small"),
        ("x + a", "cannot be evaluated"),
        ("(x > 0) and b", "join conditions by &"),
        ("max(x, 0)", "Python compares columns as a whole there; maximum(a, b) is the larger of two, row by row"),
    ],
)
def test_errors_mark_the_expression(code, message, table):
    with pytest.raises(FormulaError) as caught:
        evaluated(code, table)
    assert message in str(caught.value)
    assert str(caught.value).endswith("^" * len(code))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("C(a, levels=['u'])", "met 'v', which is none of the levels"),
        ("x.head(2)", "shape \\(2,\\) for 8 rows"),
        ("pd.Timestamp('2020-01-01') + pd.to_timedelta(x, unit='D')", "datetime64.*as in date.dt.month"),
        ("x + 1j", "complex"),
        ("x.sort_values()", "rows in another order"),
        ("x[::-1]", "rows in another order"),
        ("C(x.sort_values())", "rows in another order"),
        ("[x]", "shape"),
    ],
)
def test_values_of_no_use(code, message, table):
    with pytest.raises(DataError, match=message):
        evaluated(code, table)


@pytest.mark.parametrize(
    "code",
    ["center(x)", "bs(x, df=4)", "cr(x, df=3)", "center(np.log(z)) * x", "shift(x)", "np.exp(x)", "C(a)"],
)
def test_pickle_keeps_what_was_learnt(code, table):
    found = expression(code, table, {"shift": shift})
    read = read_table("data", table, dict.fromkeys(found.columns))
    found.memorize(read)
    again = pickle.loads(pickle.dumps(found))
    two = read.take(np.array([2, 5]))
    np.testing.assert_array_equal(again.evaluate(two).data, found.evaluate(two).data)


def test_pickle_names_what_it_cannot_keep(table):
    found = expression("f(x)", table, {"f": lambda x: x})
    with pytest.raises(pickle.PicklingError, match=r"'f\(x\)' uses 'f'"):
        pickle.dumps(found)


@pytest.mark.parametrize("code", ["np.log(Q('log'))", "log(Q('log'))", "log(Q('log')) + log(x**2 + 1) - log(1 + x**2)"])
def test_a_column_called_as_a_function_that_it_is_given_to(code, table):
    found = evaluated(code, table.assign(log=table.z))
    np.testing.assert_allclose(found.data[:, 0], np.log(table.z))


@pytest.mark.parametrize(
    ("code", "of_doubles"),
    [
        ("I(many**3)", lambda many: many**3),
        ("many * many * many", lambda many: many**3),
        ("np.log(many**3)", lambda many: 3 * np.log(many)),
        ("center(many**3)", lambda many: many**3 - (many**3).mean()),
        ("np.where(many**3 > 1e20, 1, 0)", lambda many: many > 1e20 ** (1 / 3)),
        ("np.power(z, 40)", lambda many: np.array([2, 3, 5, 7, 11, 13, 17, 19.0]) ** 40),
    ],
)
def test_whole_numbers_do_not_run_over(code, of_doubles, table):
    many = table.assign(many=np.arange(1, 9) * 1_000_000)
    np.testing.assert_allclose(evaluated(code, many).data[:, 0], of_doubles(many.many.to_numpy(float)))


@pytest.mark.parametrize("code", ["many & 1", "many * 2654435761 % 2**32", "np.arange(9.0)[many % 9]", "many // 7 % 3"])
def test_what_is_for_whole_numbers_is_of_whole_numbers(code, table):
    many = np.arange(1, 9) * 12_345_677
    np.testing.assert_array_equal(evaluated(code, table.assign(many=many), {"np": np}).data[:, 0], eval(code))


@pytest.mark.parametrize(
    ("code", "columns"),
    [
        ("np.asarray(bs(root, df=4))[:, 0]", [0]),
        ("bs(df=4, x=root).iloc[:, 0]", [0]),
        ("bs(root, df=4) @ np.eye(4)", [0, 1, 2, 3]),
        ("poly(root, 2)[:, 1]", None),
    ],
)
def test_columns_of_a_spline_miss_what_the_spline_misses(code, columns, table):
    """x has no spline of its own with columns, and its root is missing where it is negative."""
    code, whole = (each.replace("root", "np.sqrt(x)") for each in (code, "bs(root, df=4)"))
    found, spline = evaluated(code, table), evaluated(whole, table)
    np.testing.assert_array_equal(found.missing, table.x < 0)
    if columns:
        np.testing.assert_array_equal(found.data, spline.data[:, columns])


def test_transforms_do_not_learn_twice(table):
    found = expression("center(x)", table)
    read = read_table("data", table, dict.fromkeys(found.columns))
    found.memorize(read)
    shifted = read_table("data", table.assign(x=table.x + 1), dict.fromkeys(found.columns))
    np.testing.assert_allclose(found.evaluate(shifted).data, found.evaluate(read).data + 1)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.Series([1, 2], dtype="int8"), "number"),
        (pd.Series([1, None], dtype="Int64"), "number"),
        (pd.Series([1, 2], dtype=object), "number"),
        (pd.Series([1, 2.5, None], dtype=object), "number"),
        (pd.Series([2**64, 1], dtype=object), "number"),
        (pd.Series([1.5, 2], dtype="float32"), "number"),
        (pd.Series([1, 2], dtype="int64[pyarrow]"), "number"),
        (pd.Series([True, None], dtype="boolean"), "boolean"),
        (pd.Series([True, None, False], dtype=object), "boolean"),
        (pd.Series(["a", None], dtype=object), "text"),
        (pd.Series(["a", None], dtype="string"), "text"),
        (pd.Series(["a", None], dtype="category"), "category"),
        (pd.Series([None, None], dtype=object), "missing"),
        (pd.Series([1, "a"], dtype=object), "mixed types"),
    ],
)
def test_kinds_of_columns(values, kind):
    data = pd.DataFrame({"x": values})
    table = read_table("data", data, {"x": None})
    assert table.kinds["x"].kind == kind
    assert list(table.missing(["x"])) == list(values.isna())


root = np.sqrt


def overwrites(x):
    x[x < 0.0] = 0.0
    return x


def halves_all(x):
    values = np.asarray(x)
    values /= 2.0
    return values


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("log(p, a)", "log(x, base) of R is log(x) / log(base)"),
        ("log(p, 10)", "log(x, base) of R is log(x) / log(base)"),
        ("np.log(p, out=a)", "np.log() takes 1 argument, and writes into a further one"),
        ("maximum(p, a, a)", "maximum() takes 2 arguments"),
        ("log(p + sqrt(p, a))", "sqrt() takes 1 argument, and writes into a further one."),
        ("log(Q('p'), Q('a'))", "log(x, base) of R"),
        ("root(p, a)", "root() takes 1 argument, and writes into a further one."),
        ("overwrites(a)", "x = x.copy()"),
        ("overwrites(Q('a'))", "x = x.copy()"),
        ("halves_all(a)", "x = x.copy()"),
    ],
)
@pytest.mark.parametrize("index", [None, np.arange(30) + 5])
def test_code_cannot_change_the_data(code, words, index):
    """What R writes as log(x, base) would write the logarithm into the base."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"p": rng.gamma(2.0, size=30), "a": rng.normal(size=30)}, index=index).assign(
        y=rng.random(30) > 0.5
    )
    before = data.copy(deep=True)
    for formula in (f"y ~ p + {code}", f"{code} > 0 ~ p"):
        with pytest.raises(FormulaError) as caught:
            svm(formula, data)
        assert words in str(caught.value)
        pd.testing.assert_frame_equal(data, before)
    with pytest.raises(FormulaError):
        svm("y ~ p", data, subset=f"{code} > 0")
    pd.testing.assert_frame_equal(data, before)


@pytest.mark.parametrize("dtype", ["object", "category", "string"])
def test_a_function_that_writes_has_a_copy_of_what_is_no_plain_number(dtype):
    data = pd.DataFrame({"g": pd.Series(["u", "v"] * 10, dtype=dtype), "x": np.arange(20.0), "y": [0, 1, 1, 0] * 5})
    before = data.copy(deep=True)

    def first(g):
        g[:] = "u"
        return np.where(g == "u", 1.0, 0.0) + np.arange(20.0) ** 2

    svm("y ~ first(g) + g + x", data)
    pd.testing.assert_frame_equal(data, before)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("scale(a, scale=False)", "TypeError: it got an unexpected keyword argument 'scale'"),
        ("bs(a, df=5, intercept=True)", "TypeError: it got an unexpected keyword argument 'intercept'"),
        ("bs(a, df=5, include_intercept=TRUE)", "no column 'TRUE': Python has True."),
        ("bs(a, df=5, include_intercept=FALSE)", "no column 'FALSE': Python has False."),
        ("interaction(g, h)", "f:g has a level for each pair"),
        ("ordered(g)", "C(x, levels=[...])"),
        ("a + g %in% h", "a %in% b of R is a:b here"),
        ("ifelse(a > 0, a, 0)", "where(condition, a, b)"),
    ],
)
def test_what_r_has_and_python_has_otherwise(code, words):
    data = pd.DataFrame({"a": np.arange(20.0), "g": ["u", "v"] * 10, "h": ["s", "t", "t", "s"] * 5, "y": [0, 1] * 10})
    with pytest.raises(FormulaError) as caught:
        svm(f"y ~ {code}", data)
    assert words in str(caught.value) and "memorize_chunk" not in str(caught.value)
