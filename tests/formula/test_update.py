"""Formulas made from formulas: what R's update.formula gives, and what is refused."""

import re

import pytest

from svmstat.errors import ArgumentTypeError, FormulaError
from svmstat.formula import Untrusted, update_formula


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (". ~ .", "y ~ a + b + a:b"),
        (". ~ . - b", "y ~ a + a:b"),
        ("~ . + c", "y ~ a + b + a:b + c"),
        ("~ . * c", "y ~ a + b + c + a:b + a:c + b:c + a:b:c"),
        ("~ . - a:b", "y ~ a + b"),
        ("y > 0 ~ .", "y > 0 ~ a + b + a:b"),
        ("z ~ c", "z ~ c"),
        (". ~ . + np.log(c) - 1", "y ~ a + b + a:b + np.log(c)"),
        (". ~ .:c", "y ~ a:c + b:c + a:b:c"),
        (". ~ . - Q('b')", "y ~ a + a:b"),
        (". ~ . - Q('b'):a - y", "y ~ a + b"),
    ],
)
def test_a_dot_is_what_was_there(change, result):
    found = update_formula("y ~ a + b + a:b", change)
    assert set(found.split(" ~ ")[1].split(" + ")) == set(result.split(" ~ ")[1].split(" + "))
    assert found.split(" ~ ")[0] == result.split(" ~ ")[0]


def test_quoted_names_and_attributes_are_left_alone():
    assert update_formula('y ~ Q("a b") + np.log(x)', ". ~ . - np.log(x)") == 'y ~ Q("a b")'
    assert update_formula("y ~ x", ". ~ . + I(x * 0.5)") == "y ~ x + I(x * 0.5)"


@pytest.mark.parametrize("gone", ["y", "w", "Q('w')"])
def test_columns_that_are_no_predictors_may_be_taken_away(gone):
    assert update_formula("np.log(y) > 0 ~ a + b", f". ~ . - {gone}", ["w"]) == "np.log(y) > 0 ~ a + b"
    with pytest.raises(FormulaError, match="'v' is taken away"):
        update_formula("np.log(y) > 0 ~ a + b", ". ~ . - v", ["w"])


def test_what_is_refused():
    with pytest.raises(ArgumentTypeError, match=r"formula=3 is not allowed: it must be text such as"):
        update_formula("y ~ x", 3)
    with pytest.raises(FormulaError, match=r"'\. ~ \. - x'.* leaves no predictors of 'y ~ x'"):
        update_formula("y ~ x", ". ~ . - x")
    with pytest.raises(FormulaError, match=r"'xs' is taken away, and is no term before that; did you mean 'x'\?\n"):
        update_formula("y ~ x + z", ". ~ . - xs")
    with pytest.raises(FormulaError, match=r"\+ \+|cannot be read"):
        update_formula("y ~ x", ". ~ . + (")
    with pytest.raises(FormulaError, match=r"'\.' must stand by itself"):
        update_formula("y ~ x", ". ~ .^2")


def test_untrusted_text_stays_untrusted():
    assert isinstance(update_formula(Untrusted("y ~ x"), ". ~ . + z"), Untrusted)
    assert isinstance(update_formula("y ~ x", Untrusted(". ~ . + z")), Untrusted)


@pytest.mark.parametrize("change", ["+ w", "- x", " +w"])
def test_a_change_without_a_dot_is_refused(change):
    with pytest.raises(FormulaError, match=rf"write '\. ~ \. {re.escape(change.strip())}'"):
        update_formula("y ~ x + z", change)
