"""What is refused at the door."""

import os
import re
import unittest
from functools import wraps
from importlib import import_module
from tokenize import TokenError

import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, DesignWarning, FormulaError
from svmstat.formula import build_design


@pytest.mark.parametrize("data", [None, {"y": [0, 1], "x": [1, 2]}, np.ones((2, 2)), pd.Series([1.0])])
def test_data_is_a_data_frame(data):
    with pytest.raises(ArgumentTypeError, match=r"data is of type .*: it must be a pandas DataFrame"):
        build_design("y ~ x", data)


def test_columns_in_levels():
    data = pd.DataFrame(np.ones((2, 2)), columns=pd.MultiIndex.from_product([["a"], ["x", "y"]]))
    with pytest.raises(ArgumentTypeError, match="several levels"):
        build_design("y ~ x", data)


def test_no_rows(table):
    with pytest.raises(DataError, match="data has no rows"):
        build_design("y ~ x", table.iloc[:0])


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        (
            {"na_action": "omit"},
            ArgumentError,
            "na_action='omit' is not allowed: it must be one of 'drop', 'raise'",
        ),
        ({"na_action": None}, ArgumentError, "na_action=None"),
        ({"scale": "yes"}, ArgumentError, "scale='yes' is not allowed: it must be True or False"),
        ({"scale": None}, ArgumentError, "scale=None"),
        ({"env": [1]}, ArgumentTypeError, "env is of type list"),
        ({"evnt": 1}, TypeError, "evnt"),
    ],
)
def test_options(option, error, message, table):
    with pytest.raises(error, match=message):
        build_design("y ~ x", table, **option)


@pytest.mark.parametrize(
    ("formula", "message", "marked"),
    [
        ("y ~ x + xx", "no column 'xx'; did you mean 'x'", "xx"),
        ("yy ~ x", "no column 'yy'; did you mean 'y'", "yy"),
        ("y ~ x + foo(x)", "no function 'foo'", "foo(x)"),
        ("y ~ x + lgo(x)", "no function 'lgo'; did you mean 'log' or", "lgo(x)"),
        ("y ~ x + log(s(z))", "no function 's': a smooth term stands by itself", "log(s(z))"),
        ("y ~ x + I(ti(x, z))", "no function 'ti': a smooth term stands by itself", "I(ti(x, z))"),
        ("y ~ x + offset(z)", "no function 'offset': a support vector machine has none", "offset(z)"),
        ("y ~ x + polym(x, z)", "no function 'polym': poly(x, 2) + poly(z, 2) + x:z", "polym(x, z)"),
        ("y ~ x + relevel(z, 2)", "no function 'relevel': C(x, levels=[...]) has the levels", "relevel(z, 2)"),
        ("y ~ x + rcs(z, 4)", "no function 'rcs': cr(x, df=4) is a natural cubic spline", "rcs(z, 4)"),
        ("y ~ x + lo(z)", "no function 'lo': s(x) is a smooth function", "lo(z)"),
        ("y ~ x + cut(z, 3)", "no function 'cut': pd.cut(x, [0, 10, 20]) makes levels", "cut(z, 3)"),
        ("y ~ x + I(2 * te(log(z), x))", "te() of single columns cannot stand here", "I(2 * te(log(z), x))"),
        ("y ~ x + Q(z)", "Q() takes the name of one column, in quotes.", "Q(z)"),
        ("y ~ y", "The response 'y' is also a predictor", "y"),
        ("y ~ x + x:y", "The response 'y' is also a predictor", "y"),
        ("y ~ x + Q('y')", "The response 'y' is also a predictor", "Q('y')"),
        ("x>0 ~ z + (x > 0)", "The response 'x > 0' is also a predictor", None),
    ],
)
def test_formula_errors_mark_the_place(formula, message, marked, table):
    with pytest.raises(FormulaError, match="\\^") as caught:
        build_design(formula, table)
    text, shown, marks = str(caught.value).split("\n")
    assert message in text
    if marked is not None:
        assert shown[marks.index("^") : marks.rindex("^") + 1] == marked


@pytest.mark.parametrize("name", ["oss", "pandaz", "nump", "tests"])
def test_near_names_are_those_of_functions_that_a_formula_has(name, table):
    """Modules and classes that the caller imported are none, and functions that he imported are not his own."""
    mine = {"os": os, "pandas": pd, "nump": np, "test": unittest.TestCase, "test_s": wraps, "__name__": __name__}
    with pytest.raises(FormulaError) as caught:
        build_design(f"y ~ {name}(x)", table, env=mine)
    offered = re.findall(r"'(\w+)'", str(caught.value).splitlines()[0])[1:]
    assert not set(offered) & {"os", "pandas", "numpy", "nump", "np", "pd", "test", "test_s"}


def test_the_near_names_of_the_callers_own_functions(table):
    with pytest.raises(FormulaError, match=r"There is no function 'my_curv'; did you mean 'my_curve'\?\n"):
        build_design("y ~ my_curv(x)", table, env={"my_curve": my_curve, "__name__": __name__})


def my_curve(x):
    return x**2


@pytest.mark.parametrize("name", [np.nan, pd.Timestamp("2020-01-01"), pd.NA, pd.NaT, frozenset({1}), np.inf])
def test_a_dot_and_a_column_whose_name_no_formula_can_write(name, table):
    data = table[["y", "x", "z"]].set_axis(pd.Index(["y", "x", name], dtype=object), axis=1)
    expected = f"'.' stands for the column {name!r}, whose name (of type {type(name).__name__}) no formula can write"
    with pytest.raises(FormulaError, match=re.escape(expected)):
        build_design("y ~ .", data)
    assert build_design("y ~ x", data).design.column_names == ("x",)
    assert build_design("y ~ .", data.rename(columns=str)).X.shape == (8, 2)


@pytest.mark.parametrize("name", [None, ("a", 1), -1, np.int64(3), 0.5, True, b"x", ""])
def test_a_dot_and_a_column_whose_name_is_no_usual_one(name, table):
    data = table[["y", "x", "z"]].set_axis(pd.Index(["y", "x", name], dtype=object), axis=1)
    frame = build_design("y ~ .", data)
    np.testing.assert_array_equal(frame.X, build_design("y ~ x + z", table).X)
    np.testing.assert_array_equal(build_design(frame.design.formula, data).X, frame.X)
    np.testing.assert_array_equal(frame.design.transform(data).X, frame.X)


@pytest.mark.parametrize(
    ("formula", "column", "terms"),
    [
        ("x > 0 ~ x", "x", "'x'"),
        ("x > 0 ~ z + np.log(x + 9) + a:x", "x", "'np.log(x + 9)' and 'x'"),
        ("x > 0 ~ z + Q('x')", "x", "\"Q('x')\""),
        ("I(x + z > 9) ~ a + z", "z", "'z'"),
        ("C(x > 0) ~ bs(x, df=4)", "x", "'bs(x, df=4)'"),
        ("y ~ x + I(2 * y)", "y", "'I(2 * y)'"),
    ],
)
def test_a_response_that_is_computed_from_a_predictor(formula, column, terms, table):
    response = re.escape(formula.split(" ~ ")[0])
    message = (
        rf"'{column}' stands on both sides of the formula, in the response '{response}' and in {re.escape(terms)}:"
    )
    with pytest.warns(DesignWarning, match=message) as caught:
        build_design(formula, table)
    assert len(caught) == 1


@pytest.mark.parametrize("formula", ["x > 0 ~ . - hole", "x > 0 ~ z", "I(x + z > 9) ~ a + b"])
def test_other_columns_on_the_right_are_no_cause_for_a_warning(formula, table):
    build_design(formula, table)


def test_a_function_named_like_a_column(table):
    with pytest.raises(FormulaError, match=r"write the column Q\('x'\)"):
        build_design("y ~ x(x)", table, env={"x": abs})


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.date_range("2020", periods=8), "holds datetime64.*turn it into|holds datetime64"),
        ([1, "a"] * 4, "x holds mixed types such as 1"),
        ([[1], [2]] * 4, "x holds mixed types"),
        (np.arange(8) * 1j, "x holds complex"),
    ],
)
def test_columns_of_no_use(column, message, table):
    with pytest.raises(DataError, match=message):
        build_design("y ~ x", table.assign(x=column))


@pytest.mark.parametrize(
    ("formula", "value", "message"),
    [
        ("y ~ x", np.inf, r"data column 'x' is infinite \(inf\) in row 'r3'"),
        ("y ~ x", -np.inf, r"data column 'x' is infinite \(-inf\) in row 'r3'"),
        ("y ~ I(x > 0)", np.inf, "data column 'x' is infinite"),
        ("y ~ I(1 / (x - 99))", np.inf, "data column 'x' is infinite"),
        ("y ~ I(1 / (x - 77))", 77, r"data term 'I\(1 / \(x - 77\)\)' is infinite"),
        ("y ~ bs(x, df=4)", np.inf, r"data term 'bs\(x, df=4\)' is infinite"),
        ("y ~ center(x)", np.inf, r"data term 'center\(x\)' is infinite"),
        ("y ~ standardize(0 * x)", 3, r"term 'standardize\(0 \* x\)' is not a number in row 'r0'"),
    ],
)
def test_infinite_values(formula, value, message, table):
    with pytest.raises(DataError, match=message):
        build_design(formula, table.assign(x=np.where(table.z == 7, value, table.x)))


@pytest.mark.filterwarnings("ignore:.* rows have missing values:svmstat.errors.DesignWarning")
def test_infinite_values_elsewhere_do_no_harm(table):
    data = table.assign(x=np.where(table.z == 7, np.inf, table.x), other=np.inf)
    assert len(build_design("y ~ x", data, subset="z != 7").y) == 7
    assert len(build_design("x > 1 ~ z", data).y) == 8
    data = data.assign(hole=np.where(table.z == 7, np.nan, 1.0 + table.z))
    assert len(build_design("y ~ x + hole", data).y) == 7


def test_twice_the_same_column(table):
    data = pd.concat([table, table[["x"]]], axis=1)
    with pytest.raises(DataError, match="data has 2 columns named 'x'"):
        build_design("y ~ x", data)
    assert build_design("y ~ z", data).design.column_names == ("z",)


def test_a_column_whose_name_is_no_text_is_told():
    data = pd.DataFrame({0: [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    message = r"no column '0': the name of that column is no text; data.rename\(columns=str\) makes it '0'"
    with pytest.raises(FormulaError, match=message):
        build_design("y ~ Q('0')", data)
    assert build_design("y ~ Q('0')", data.rename(columns=str)).X.shape == (3, 1)


def test_a_column_whose_letters_python_reads_as_others_is_told():
    data = pd.DataFrame({"\u00b5g": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    with pytest.raises(FormulaError, match=r"no column '\u03bcg', but one .* as these: write Q\('\u00b5g'\)"):
        build_design("y ~ \u00b5g", data)
    assert build_design("y ~ Q('\u00b5g')", data).X.shape == (3, 1)


@pytest.mark.parametrize("values", [[1, 2, 3], [1.0, 2.0, 3.0]])
def test_a_power_as_r_writes_it_is_told_inside_functions_too(values):
    """Of whole numbers Python makes exclusive bits of it: 55 becomes 53."""
    data = pd.DataFrame({"age": values, "y": [0, 1, 0]})
    with pytest.raises(FormulaError, match=r"'\^' is no power here: write .* I\(x\*\*2\) for a square"):
        build_design("y ~ I(age^2)", data)
    assert build_design("y ~ I((age > 1) ^ (age > 2))", data).X.shape == (3, 2)


@pytest.mark.parametrize("text", ["y ~ I(flag ^ True)", "y ~ I(k ^ 1)", "I(y ^ 1) ~ k"])
def test_exclusive_bits_are_no_power(text):
    data = pd.DataFrame({"flag": [True, False, True], "k": [0, 1, 2], "y": [0, 1, 0]})
    assert len(build_design(text, data, subset="k ^ 2 < 9").X) == 3


def test_a_response_that_names_rows_is_refused():
    data = pd.DataFrame({"name": [f"patient {k}" for k in range(40)], "x": np.arange(40.0)})
    with pytest.raises(DataError, match=r"The response 'name' has another level in each of the 40 rows .*'patient 0'"):
        build_design("name ~ x", data)
    assert build_design("name ~ x", data.assign(name=data["name"].str[:9])).X.shape == (40, 1)


@pytest.mark.parametrize("text", ["(x > 0) & (z > 0) ~ w", "x > 0 & z > 0 ~ w", "y ~ w + (x > 0) | z"])
def test_how_comparisons_are_joined_is_told(text):
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("xzw")).assign(y=[0, 1] * 10)
    with pytest.raises(FormulaError, match=r"omparisons that .* as in I\(\(x > 0\) & \(z > 0\)\)"):
        build_design(text, data)


@pytest.mark.parametrize(
    ("condition", "first"),
    [
        ("age > 20 & smoke", "20 & smoke"),
        ("age > 20 & (smoke == 1)", "20 & (smoke == 1)"),
        ("(age > 20) & smoke != 1", "(age > 20) & smoke"),
        ("g == 'a' | age > 20", "'a' | age"),
        ("np.isin(smoke == age & 1, [True])", "age & 1"),
        ("~age < 30", "~age"),
        ("(age > 20) | (~smoke == 1)", "~smoke"),
    ],
)
def test_what_python_joins_before_it_compares_is_refused(condition, first):
    """R compares first; 'age > 20 & smoke' would be age > 0 or age > 1, of all rows."""
    data = pd.DataFrame({"age": range(10, 30), "smoke": [0, 1] * 10, "g": ["a", "b"] * 10, "y": [0, 0, 1, 1] * 5})
    predictor, response = f"y ~ age + I({condition})", f"I({condition}) ~ age"
    for formula, subset in (("y ~ age", condition), (predictor, None), (response, None)):
        with pytest.raises(FormulaError, match=rf"{re.escape(repr(first))} is what Python computes first.*in brackets"):
            build_design(formula, data, subset=subset)


@pytest.mark.parametrize("choice", ["1 or 2", "1 | 2"])
def test_one_of_several_constants_is_told(choice):
    """'k == (1 or 2)' is k == 1 to Python, and 'k == (1 | 2)' k == 3."""
    data = pd.DataFrame({"k": [0, 1, 2, 3] * 5, "x": np.arange(20.0), "y": [0, 1, 1, 0] * 5})
    for formula, subset in (("y ~ x", f"k == ({choice})"), (f"y ~ x + I(k == ({choice}))", None)):
        with pytest.raises(FormulaError, match=r"is one value to Python; np\.isin\(x, \[1, 2\]\) asks row by row"):
            build_design(formula, data, subset=subset)


@pytest.mark.parametrize("condition", ["(smoke & 1) > 0", "age == ( smoke | 16 )", "(age > 20) & (smoke == 1)"])
def test_bits_in_brackets_may_be_compared(condition):
    data = pd.DataFrame({"age": range(10, 30), "smoke": [0, 1] * 10, "y": [0, 1, 1, 0] * 5})
    kept = build_design("y ~ age", data, subset=condition, scale=False).X.ravel()
    np.testing.assert_array_equal(kept, data.loc[eval(condition, dict(data.items())), "age"])


def test_backticks_of_r_are_told():
    data = pd.DataFrame({"body mass": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    with pytest.raises(FormulaError, match=r"the names that R puts between backticks are written Q\('\.\.\.'\) here"):
        build_design("y ~ `body mass`", data)
    with pytest.raises(FormulaError, match=r"a column of that name is written Q\('body mass'\)"):
        build_design("y ~ body mass", data)
    with pytest.raises(FormulaError, match=r"as\.factor\(\) of R is C\(\) here"):
        build_design("y ~ as.factor(y)", data)


def test_a_name_with_dots_is_told():
    data = pd.DataFrame({"malic.acid": [1.0, 2.0, 3.0], "malic.acid.b": [3.0, 1.0, 2.0], "y": [0, 1, 0]})
    with pytest.raises(FormulaError, match="no column 'malic'; did you mean"):
        build_design("y ~ malic.acidity", data)
    for name in ("malic.acid", "malic.acid.b"):
        with pytest.raises(FormulaError, match=rf"no column 'malic': a name with dots, .* Q\('{name}'\)"):
            build_design(f"y ~ {name}", data)
        assert build_design(f"y ~ Q('{name}')", data).X.shape == (3, 1)


def test_numbers_that_are_text_are_told():
    n = 40
    data = pd.DataFrame({"y": np.arange(n) % 2, "a": np.arange(n) / 7.0, "code": [f"{k % 12}" for k in range(n)]})
    with pytest.warns(DesignWarning, match="a is text that reads as numbers, 40 different ones in 40 rows"):
        build_design("y ~ a", data.assign(a=data["a"].astype(str)))
    with pytest.warns(DesignWarning, match=r"39 different ones in 40 rows but for '\.', which may stand for missing"):
        build_design("y ~ a", data.assign(a=[".", *data["a"].astype(str).tolist()[1:]]))
    with pytest.warns(
        DesignWarning, match=r"40 different ones in 40 rows, .* as read_csv\(decimal=','\) does, or with"
    ):
        build_design("y ~ a", data.assign(a=data["a"].map(lambda a: f"{a:.3f}".replace(".", ","))))
    for quiet in (data, data.assign(a=[f"station {k}" for k in range(n)])):
        build_design("y ~ a + code", quiet)


def test_names_of_rows_are_told():
    n = 120
    data = pd.DataFrame({"y": np.arange(n) % 2, "x": np.arange(n) / 7.0, "day": [f"2020-{k:03d}" for k in range(n)]})
    with pytest.warns(DesignWarning, match="day has 120 different levels in 120 rows, and a column for each"):
        fit = svm("y ~ x + day", data)
    with pytest.raises(DataError, match=r"'2020-011' and 108 more\.$"):
        fit.predict(data.assign(day="2021-001"))
    build_design("y ~ x + day", data.assign(day=[f"week {k // 3}" for k in range(n)]))


def test_the_row_of_a_missing_weight_is_named_as_python_writes_it():
    data = pd.DataFrame(
        {"y": [0, 1, 0, 1], "x": [1.0, 2.0, 3.0, 5.0], "w": [1.0, np.nan, 1.0, 1.0]}, index=[4, 3, 2, 1]
    )
    with pytest.raises(ArgumentError, match=r"hold nan in row 3: they must"):
        build_design("y ~ x", data, weights="w")


@pytest.mark.parametrize("error", [AssertionError(), TokenError("unexpected character", (1, 5))])
def test_what_the_tokenizer_of_a_newer_python_says_is_put_into_words(monkeypatch, error):
    """Patsy takes an error that it does not know for a mistake of its own."""

    def parse_formula(text):
        raise error

    parse_module = import_module("svmstat.formula.parse")
    monkeypatch.setattr(parse_module, "parse_formula", parse_formula)
    with pytest.raises(FormulaError, match=r"The formula cannot be read: something in it is no expression of Python"):
        parse_module.parse("y ~ x + 0x", ["x", "y"])


@pytest.mark.parametrize("text", ["Q('x\udcf6')", "s(Q('x\udcf6'))", "x\udcf6"])
def test_what_is_no_character_is_told(text):
    """As bytes in another encoding arrive from a command line."""
    data = pd.DataFrame({"x": np.arange(20.0), "y": [0, 1] * 10})
    for formula, subset in ((f"y ~ x + {text}", None), (f"{text} ~ x", None), ("y ~ x", f"{text} > 0")):
        with pytest.raises(FormulaError, match=r"The formula cannot be read: '\\udcf6' is no character in UTF-8"):
            build_design(formula, data, subset=subset)
    with pytest.raises(FormulaError, match="is no character in UTF-8"):
        svm("y ~ x", data).update(f"~ . + {text}")
