"""Code that means something else to Python than to its writer; what learns inside of other functions."""

import re

import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.errors import ArgumentError, DesignWarning, FormulaError
from svmstat.formula import build_design

N = 60


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    a, x = rng.normal(size=(2, N))
    return pd.DataFrame({
        "y": x + rng.normal(size=N) > 0,
        "x": x,
        "a": a,
        "k": rng.poisson(2, N),
        "smoke": rng.integers(0, 2, N),
        "sex": rng.choice(["1", "2"], N),
        "flag": a > 0.5,
        "level": pd.Categorical(rng.choice([1, 2, 3], N)),
        "date": pd.date_range("2020-01-01", periods=N),
    })  # fmt: skip


def refused(data, code, words):
    for formula, subset in (("y ~ x", code), (f"y ~ x + I({code})", None), (f"I({code}) ~ y", None)):
        with pytest.raises(FormulaError, match=re.escape(words)):
            build_design(formula, data, subset=subset)


@pytest.mark.parametrize("code", ["(a > 0) + (x > 0)", "flag + (x > 0)", "a.gt(0) + ~flag", "1 * (flag + flag)"])
def test_a_sum_of_conditions_is_no_count(data, code):
    """numpy makes "or" of it, where R counts."""
    refused(data, code, "is True where one of them is: 1 * (x > 0) + 1 * (z > 0) counts, | means or")


def test_conditions_are_counted_as_numbers(data):
    counted = build_design("y ~ I(1 * (a > 0) + 1 * (x > 0)) + I(1 + flag)", data, scale=False).X
    expected = (data.a > 0).astype(int) + (data.x > 0)
    np.testing.assert_array_equal(np.ptp(counted - np.c_[expected, data.flag], axis=0), 0.0)


@pytest.mark.parametrize(
    ("code", "instead"),
    [
        ("k & (a > 0)", "(k > 0)"),
        ("(a > 0) | k", "(k > 0)"),
        ("~smoke | (a > 0)", "(smoke == 0)"),
        ("flag & Q('k')", "(Q('k') > 0)"),
    ],
)
def test_a_number_is_no_condition(data, code, instead):
    refused(data, code, f"write {instead}, or what is meant by it")


def test_zeros_and_ones_are_conditions(data):
    both = build_design("y ~ x", data, subset="smoke & (a > 0)").rows
    np.testing.assert_array_equal(both, np.flatnonzero((data.smoke == 1) & (data.a > 0)))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sex != 1", "'sex' holds text such as "),
        ("1 != sex", "which 1 is no value of"),
        ("~sex.isin([1, 3])", "which 1 is no value of"),
        ("~np.isin(k, ['1'])", "'k' holds numbers such as "),
        ("level != '1'", "which '1' is no value of"),
        ("flag != 'True'", "'flag' holds True and False, which 'True' is no value of"),
        ("Q('sex') != 2", "holds text"),
    ],
)
def test_text_is_no_number(data, code, words):
    """The rows would all differ, without a word."""
    refused(data, code, words)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("answer > 2", "'answer' holds text such as 'n.d.', which is neither above nor below 2"),
        ("1 < answer", "'answer' holds text such as 'n.d.', which is neither above nor below 1"),
        ("0 <= x < '1'", "'x' holds numbers such as "),
        ("Q('sex') >= 1", "which is neither above nor below 1"),
    ],
)
def test_text_and_numbers_have_no_order(data, code, words):
    """One cell that is no number makes text of a column."""
    refused(data.assign(answer=["2.5", "n.d.", *["3"] * (N - 2)]), code, words)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("answer == 'yes'", "takes 'Yes' for another value than 'yes', from which it differs by case alone"),
        ("answer != 'no'", "takes 'no ' for another value than 'no', from which it differs by blanks alone"),
        ("np.isin(answer, ['yes', 'Yes', 'no'])", "takes 'no ' for another value than 'no'"),
    ],
)
def test_near_misses_of_text_are_told(data, code, told):
    data = data.assign(answer=["yes", "Yes", "no", "no "] * (N // 4))
    for formula, subset in (("y ~ x", code), (f"I({code}) ~ x", None)):
        with pytest.warns(DesignWarning, match=re.escape(told)):
            build_design(formula, data, subset=subset)


def test_all_that_is_near_may_be_named(data):
    data = data.assign(answer=["yes", "Yes", "not", "NOT"] * (N // 4), grade=["Aa", "AA"] * (N // 2))
    build_design("np.isin(answer, ['yes', 'Yes']) ~ x", data, subset="(grade == 'Aa') | (x > 0)")
    build_design("y ~ I(answer == 'yes') + I(answer == 'Yes') + I(answer == 'not') + I(answer == 'NOT') + grade", data)


@pytest.mark.parametrize(
    "code", ["sex != '1'", "level != 1", "flag != 1", "date != '2020-01-05'", "sex.isin([1, '1'])", "~sex.isin([])"]
)
def test_equal_kinds_are_compared(data, code):
    kept = eval(code, {}, dict(data.items()))
    np.testing.assert_array_equal(build_design("y ~ x", data, subset=code).rows, np.flatnonzero(kept))


@pytest.mark.parametrize("condition", ["len(a) > 1", "any(a > 0)", "3 in k.values"])
def test_a_condition_asks_each_row(data, condition):
    with pytest.raises(ArgumentError, match="it must be a condition; it gives one value for all rows"):
        build_design("y ~ x", data, subset=condition)


@pytest.mark.parametrize("kind", [np.asarray, pd.Series, list, pd.Index])
@pytest.mark.parametrize("code", ["I(a + beside)", "bs(a + beside, df=4)", "I(a > beside)"])
def test_values_of_the_caller_beside_the_rows_are_refused(data, kind, code):
    """Predictions of the same rows in another order would differ without a word."""
    env = {"np": np, "beside": kind(np.linspace(-1, 1, N))}
    if kind is list and "+" in code:
        code = code.replace("beside", "np.array(beside)")
    for subset in (None, "x > 0"):
        with pytest.raises(FormulaError, match=r"takes 'beside' row by row.*data\.assign\(beside=\.\.\.\)"):
            build_design(f"y ~ x + {code}", data, subset=subset, env=env)


def test_as_many_values_as_rows_may_be_a_list(data):
    known = [*range(3, N), 3, 3, 3]
    assert len(known) == len(data)
    frame = build_design("y ~ x + I(1 * np.isin(k, known))", data, env={"known": known, "np": np})
    np.testing.assert_array_equal(frame.X[:, 1] > frame.X[:, 1].min(), data.k >= 3)


def test_levels_that_differ_by_type_look_the_same(data):
    data["mixed"] = [str(k) if i % 2 else k for i, k in enumerate(data.smoke)]
    with pytest.warns(DesignWarning, match=r"levels that differ by type alone, .*\.astype\(str\) of the column"):
        build_design("y ~ x + C(mixed)", data)


@pytest.mark.parametrize("codes", ["pd.cut(a, [-1, 0, 1]).cat.codes", "I(2 * pd.cut(a, [-1, 0, 1]).cat.codes)"])
def test_the_code_of_no_level_is_missing(data, codes):
    """pandas gives −1, a number as any other."""
    inside = data.a.between(-1, 1, inclusive="right")
    with pytest.warns(DesignWarning, match="is not a number in"):
        fit = svm(f"y ~ x + {codes}", data)
    np.testing.assert_array_equal(fit.frame.rows, np.flatnonzero(inside))
    with pytest.warns(DesignWarning):
        assert np.isnan(fit.decision_function(data.head(2).assign(a=7.0))).all()


@pytest.mark.parametrize(
    ("code", "by_hand"),
    [
        ("np.sqrt(center(far) + 5)", lambda d: np.sqrt(d.far - d.far.mean() + 5)),
        ("pd.cut(center(far), [-9, 0, 9]).cat.codes", lambda d: 1.0 * (d.far > d.far.mean())),
        ("log(standardize(far) + 5)", lambda d: np.log((d.far - d.far.mean()) / d.far.std(ddof=0) + 5)),
        ("I(center(far) ** 2 + np.log(positive))", lambda d: (d.far - d.far.mean()) ** 2 + np.log(d.positive)),
    ],
)
def test_what_is_learnt_may_be_computed_with(data, code, by_hand):
    """Where it cannot be is asked of what has been learnt, not of what it was learnt from."""
    data = data.assign(far=data.a - 7.0, positive=data.x - data.x.min() + 0.1)
    frame = build_design(f"y ~ {code}", data, scale=False)
    assert len(frame.rows) == N
    expected = by_hand(data)
    np.testing.assert_allclose(frame.X[:, 0] - frame.X[0, 0], expected - expected[0], atol=1e-12)


def test_it_is_learnt_from_the_rows_where_all_can_be_computed(data):
    data = data.assign(positive=np.where(data.x > 0, data.x, -1.0))
    with pytest.warns(DesignWarning, match="is not a number in"):
        frame = build_design("y ~ I(center(a) ** 2 + np.log(positive))", data, scale=False)
    used = data[data.positive > 0]
    expected = (used.a - used.a.mean()) ** 2 + np.log(used.positive)
    np.testing.assert_allclose(frame.X[:, 0] - frame.X[0, 0], expected - expected.iloc[0], atol=1e-12)
