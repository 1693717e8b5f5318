"""The algebra of terms: what patsy reads, for formulas of any length."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patsy import PatsyError
from patsy.desc import Evaluator
from patsy.parse_formula import parse_formula

from svmstat.errors import FormulaError
from svmstat.formula import build_design
from svmstat.formula.parse import parse
from svmstat.formula.terms import MOST_TERMS, TermReader

atoms = st.sampled_from(["a", "b", "c", "f(a)", "0", "1"])
formulas = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", " - ", " * ", " / ", ":"]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"({text})**2"),
        inner.map(lambda text: f"+{text}"),
    ),
    max_leaves=12,
)


def read(reader, formula):
    """Terms, whether there is an intercept and its place; None where the formula is refused."""
    try:
        found = reader.eval(parse_formula(formula).args[-1])
    except PatsyError:
        return None
    place = found.intercept_origin  # for "- 0" patsy names the node, which has a place
    return found.terms, found.intercept, getattr(place, "origin", place)


@given(formulas)
def test_the_terms_are_those_of_patsy(formula):
    assert read(TermReader(), formula) == read(Evaluator(), formula)


def wide(n):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(6, n))).add_prefix("x").assign(y=[0, 1] * 3)


@pytest.mark.parametrize("n", [500, 2000])
def test_a_sum_may_be_long(n):
    data = wide(n)
    names = [f"x{k}" for k in range(n)]
    assert build_design(f"y ~ {' + '.join(names)}", data).design.column_names == tuple(names)
    assert build_design(f"y ~ . - {' - '.join(names[1:])}", data).design.column_names == ("x0",)


def test_brackets_may_be_deep():
    formula = f"y ~ {'(x1 + ' * 900}x0{')' * 900}"
    assert build_design(formula, wide(3)).design.column_names == ("x1", "x0")


@pytest.mark.parametrize(
    "right",
    [
        "*".join(f"x{k}" for k in range(30)),
        f"({' + '.join(f'x{k}' for k in range(30))})**20",
        "(" + "):(".join([" + ".join(f"x{k}" for k in range(30))] * 4) + ")",
    ],
)
def test_a_product_of_too_many_terms_is_refused_before_it_is_made(right):
    with pytest.raises(FormulaError, match=f"it has more than {MOST_TERMS} terms"):
        build_design(f"y ~ {right}", wide(30))


def test_a_power_beyond_the_number_of_terms_is_no_more():
    assert build_design("y ~ (x0 + x1)**999999999", wide(2)).design.column_names == ("x0", "x1", "x0:x1")


@pytest.mark.parametrize(
    "term", [f"I({' + '.join(['x0'] * 3000)})", f"I({'-' * 5000}x0)", f"C({'(' * 500}x0{')' * 500})"]
)
def test_an_expression_that_python_cannot_read(term):
    with pytest.raises(FormulaError, match=r"nested too deeply|is not an expression"):
        build_design(f"y ~ {term}", wide(2))
    with pytest.raises(FormulaError, match=r"nested too deeply|is not an expression"):
        build_design("y ~ x0", wide(2), subset=f"{term} > 0")


@pytest.mark.parametrize("gone", ["b", "Q('b')", 'Q("b")', "(b + b)", "b - y", "b - Q('y')"])
def test_a_column_is_taken_away_however_it_is_quoted(gone):
    assert parse(f"y ~ . - {gone}", ["y", "a", "b", "c"]).text == "y ~ a + c"


@pytest.mark.parametrize(("gone", "named"), [("bb", "bb"), ("a:b", "a:b"), ("log(b)", "log(b)"), ("b - b", "b")])
def test_what_is_taken_away_must_be_there(gone, named):
    with pytest.raises(FormulaError, match=re.escape(f"{named!r} is taken away, and is no term before that")):
        parse(f"y ~ . - {gone}", ["y", "a", "b", "c"])
