"""Smooth terms in formulas: what they are made of, what is refused, new data, missing values."""

import pickle

import numpy as np
import pandas as pd
import pytest

from svmstat.errors import DesignWarning, FormulaError
from svmstat.formula import Untrusted, build_design, update_formula


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    columns = {name: rng.normal(size=12) for name in "xzw"}
    return pd.DataFrame({"y": np.tile([0, 1], 6), **columns, "g": np.tile(["a", "b", "c"], 4)})


@pytest.mark.parametrize(
    ("term", "kind", "parts", "by", "columns"),
    [
        ("s(x)", "s", ((0,),), None, ("s(x)",)),
        ("s(x,z)", "s", ((0,), (1,)), None, ("s(x, z)[x]", "s(x, z)[z]")),
        ("s(np.exp(x))", "s", ((0,),), None, ("s(np.exp(x))",)),
        ("te(x, z)", "te", ((0,), (1,)), None, ("te(x, z)[x]", "te(x, z)[z]")),
        ("ti(x, z, w)", "ti", ((0,), (1,), (2,)), None, ("ti(x, z, w)[x]", "ti(x, z, w)[z]", "ti(x, z, w)[w]")),
        ("s(x, by=z)", "s", ((0,),), (1,), ("s(x, by=z)[x]", "s(x, by=z)[z]")),
        ("s(x, by=g)", "s", ((0,),), (1, 2, 3), tuple(f"s(x, by=g)[{c}]" for c in ("x", "g[a]", "g[b]", "g[c]"))),
    ],
)
def test_the_columns_of_a_smooth_term(term, kind, parts, by, columns, data):
    design = build_design(f"y ~ {term}", data, env={"np": np}).design
    (found,) = design.terms
    assert (found.kind, found.parts, found.by) == (kind, parts, by)
    assert design.column_names == columns
    assert design.additive


def test_plain_terms_are_linear_ones(data):
    design = build_design("y ~ s(x) + g + x:z", data).design
    assert [each.kind for each in design.terms] == ["s", "linear", "linear"]
    assert [each.is_factor for each in design.terms] == [False, True, False]
    assert not build_design("y ~ g + x:z", data).design.additive


@pytest.mark.parametrize("term", ["te(cr(x, df=4), cr(z, df=4))", "te(bs(x, df=4), z)"])
def test_te_of_splines_is_that_of_patsy(term, data):
    assert not build_design(f"y ~ {term}", data).design.additive


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ s()", "s() is a smooth of one column or of several"),
        ("y ~ te(x)", "te() is a smooth of two columns or more"),
        ("y ~ te(x, x)", "'te(x, x)' is not allowed: it is a smooth of 'x' more than once"),
        ("y ~ z + s(w, z, w, gamma=2)", "'s(w, z, w, gamma=2)' is not allowed: it is a smooth of 'w' more than once"),
        ("y ~ s(g)", "s() of 'g' is not allowed: it is a factor with the levels 'a', 'b', 'c'"),
        ("y ~ te(x, g)", "te() of 'g' is not allowed"),
        ("y ~ s(x, kernel='laplace')", "kernel='laplace' of s() is not allowed: it must be 'rbf' or 'spline'"),
        ("y ~ s(x, gamma=0)", "gamma=0.0 of s() is not allowed: it must be 'scale', 'median' or a finite number > 0"),
        ("y ~ s(x, gamma=-1)", "gamma=-1.0 of s() is not allowed"),
        ("y ~ s(x, gamma='wide')", "gamma='wide' of s() is not allowed"),
        ("y ~ s(x, gamma=z)", "gamma=z of s() is not allowed: it must be written out"),
        ("y ~ s(x, kernel='spline', gamma=1)", "gamma=1.0 of s() must be left out with kernel='spline'"),
        ("y ~ s(x, z, kernel='spline')", "a spline is a function of one column; te() of the same columns"),
        ("y ~ s(x, k=10)", "s() has no argument 'k': by, kernel and gamma are"),
        ("y ~ s(x, bs='cr')", "s() has no argument 'bs': by, kernel and gamma are; did you mean 'by'?\n"),
        ("y ~ s(x, by=cr(z, df=4))", "it must be one column of numbers or a factor, and has 4 columns"),
        ("y ~ s(x):g", "'s(x)' cannot be multiplied by 'g': s(x, by=g)"),
        ("y ~ s(x):s(z)", "te(x, z) and ti(x, z) are smooths of two columns"),
        ("y ~ s(x, by='g')", "uses no column of the data"),
        ("y ~ s(v)", "no column 'v'"),
        ("s(y) ~ x", "a smooth term stands by itself"),
    ],
)
def test_what_is_refused_marks_the_place(formula, message, data):
    with pytest.raises(FormulaError, match=r"\^") as caught:
        build_design(formula, data)
    assert message in str(caught.value)


def test_smooth_terms_from_outside_python_see_no_more_than_others(data):
    formula = Untrusted("y ~ s(np.log(x + 9)) + te(x, z) + s(w, by=g, gamma=2)")
    assert build_design(formula, data, env={"np": np}).design.additive
    with pytest.raises(FormulaError, match="The attribute"):
        build_design(Untrusted("y ~ s(x.values)"), data)


def test_new_data_and_missing_values_row_by_row(data):
    holes = data.assign(x=data["x"].where(data.index != 3), g=data["g"].where(data.index != 5))
    with pytest.warns(DesignWarning, match="2 of 12 rows have missing values"):
        frame = build_design("y ~ s(x, by=g) + ti(x, z)", holes)
    assert frame.n_missing == 2
    again = pickle.loads(pickle.dumps(frame.design)).transform(holes)
    assert np.flatnonzero(again.missing).tolist() == [3, 5]
    np.testing.assert_array_equal(again.X[~again.missing], frame.X)


def test_columns_without_range_are_no_part_of_a_term(data):
    with pytest.warns(DesignWarning, match="constant and dropped"):
        design = build_design("y ~ s(x) + s(w) + te(x, w)", data.assign(w=1.0)).design
    assert [each.parts for each in design.terms] == [((0,),), ((),), ((1,), ())]


def test_smooth_terms_are_taken_out_and_put_in_by_their_text():
    assert update_formula("y ~ s(x) + s(z, by=g)", ". ~ . - s( x ) + te(x,z)") == "y ~ s(z, by=g) + te(x, z)"
