"""The text of a formula: what its terms are, how '.' is written out, where an error is marked."""

import numpy as np
import pandas as pd
import pytest

from svmstat.errors import ArgumentTypeError, FormulaError
from svmstat.formula.parse import parse, quoted

COLUMNS = ["y", "a", "b", "mean depth", "class", 7]


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("y ~ a", ["a"]),
        ("y ~ a + b", ["a", "b"]),
        ("y ~ 0 + a", ["a"]),
        ("y ~ a - 1", ["a"]),
        ("y ~ a*b", ["a", "b", "a:b"]),
        ("y ~ a + b - a", ["b"]),
        ("y ~ a + a", ["a"]),
        ("y ~ b:a", ["b:a"]),
        ("y ~ a/b", ["a", "a:b"]),
        ("y ~ (a + b)**2", ["a", "b", "a:b"]),
        ("y ~ np.log( a )+I(a>1)", ["np.log(a)", "I(a > 1)"]),
        ("y ~ a +\n b", ["a", "b"]),
        ("y ~ .", ["a", "b", 'Q("mean depth")', 'Q("class")', "Q(7)"]),
        ("y ~ . - b", ["a", 'Q("mean depth")', 'Q("class")', "Q(7)"]),
        ("I(a * y > 0) ~ .", ["b", 'Q("mean depth")', 'Q("class")', "Q(7)"]),
    ],
)
def test_terms(formula, terms):
    parsed = parse(formula, COLUMNS)
    assert [":".join(factor.code for factor in term) for term in parsed.terms] == terms


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("x", "x"),
        ("a b", 'Q("a b")'),
        ("if", 'Q("if")'),
        ("inf", 'Q("inf")'),
        ('"', r'Q("\"")'),
        (3, "Q(3)"),
        (-1, "Q(-1)"),
        (np.int64(3), "Q(3)"),
        (None, "Q(None)"),
        (("a", 1), "Q(('a', 1))"),
        (np.nan, None),
        (pd.Timestamp("2020-01-01"), None),
        (("a", np.inf), None),
        (frozenset({1}), None),
        (pd.Interval(0, 1), None),
    ],
)
def test_quoted(name, code):
    assert quoted(name) == code


def test_dot_is_written_out():
    assert parse("y ~ .", ["y", "a", "b c"]).text == 'y ~ a + Q("b c")'
    assert parse(" y ~ a + b ", COLUMNS).text == "y ~ a + b"


def test_places():
    formula = "y ~ a + np.log(b)"
    (_, (factor,)) = parse(formula, COLUMNS).terms
    assert formula[factor.start : factor.end] == "np.log(b)"


@pytest.mark.parametrize(
    ("formula", "message", "marked"),
    [
        ("y ~ a +", "expected a noun", 6),
        ("y ~ (a", "Unmatched", 4),
        ("y ~ a b", "'a b' is not an expression", 4),
        ("y ~ log(.)", "must stand by itself", 4),
        ("y ~ 2*a", "numbers besides", 4),
        ("y ~ b + a^2", "'^' is no power here", 8),
        ("y ~ (a + b)^2", "'^' is no power here", 11),
        ("y ~ a + (1|b)", "'|' makes no random effects here: groups=", 8),
        ("y ~ 1", "no predictors", 0),
        ("y ~ a - a", "no predictors", 0),
        ("~ a", "no response", 0),
        ("a", "no response", 0),
        ("1 ~ a", "no response", 0),
        ("y ~ a ~ b", "~ can only be used once", 0),
        ("y + b ~ a", "2 terms on its left side", 0),
        ("y:b ~ a", "a product of columns on its left side", 0),
        ("y ~ .^2", "'^' is no power here: write (a + b)**2", 4),
        ("y - b ~ a", "'-' on its left side would make terms and compute nothing; arithmetic and logic go inside I", 0),
        ("y*y ~ a", "'*' on its left side", 0),
        ("y**2 ~ a", "'**' on its left side", 0),
        ("y - 1 ~ a", "'-' on its left side", 0),
        ("y ~ a**-1", "'**' requires a positive integer", 7),
        ("y ~ (a + b)**(1 + 1)", "'**' requires a positive integer", 13),
    ],
)
def test_errors_mark_the_place(formula, message, marked):
    with pytest.raises(FormulaError, match="formula") as caught:
        parse(formula, COLUMNS)
    text, shown, marks = str(caught.value).split("\n")
    assert message in text
    assert shown == f"    {formula}"
    assert marks.index("^") - 4 == marked


@pytest.mark.parametrize(
    ("right", "text"),
    [
        (". - y + Q('mean depth'):a", 'a + b + Q("mean depth") + Q("mean depth"):a'),
        ("a + Q('a')", "a + Q('a')"),
        ("Q('a') + a:b", "Q('a') + a:b"),
    ],
)
def test_a_column_is_one_however_it_is_quoted(right, text):
    found, plain = parse(f"y ~ {right}", [*COLUMNS[:3], "mean depth"]), [part.split(":") for part in text.split(" + ")]
    first = {"a": "Q('a')"} if right.startswith("Q('a')") else {"Q('a')": "a"}
    expected = list(dict.fromkeys(tuple(first.get(code, code) for code in term) for term in plain))
    assert [tuple(factor.code for factor in term) for term in found.terms] == expected


@pytest.mark.parametrize("formula", [None, 3, ["y ~ a"], b"y ~ a"])
def test_formula_is_text(formula):
    with pytest.raises(ArgumentTypeError, match=r"formula=.* is not allowed: it must be text such as"):
        parse(formula, COLUMNS)


@pytest.mark.parametrize(("formula", "message"), [("", "The formula has no response"), ("y ~", "cannot be read")])
def test_empty_formula(formula, message):
    with pytest.raises(FormulaError, match=message):
        parse(formula, COLUMNS)
