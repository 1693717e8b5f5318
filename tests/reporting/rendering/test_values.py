"""Numbers as text."""

import numpy as np
import pytest

from svmstat.reporting.rendering.values import STYLES, is_number, lacking, one_line, or_none, show


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        # five significant digits, also where rounding adds one in front
        (418.1, "estimate", "418.10"),
        (99999.6, "estimate", "100000"),
        (9.999996, "estimate", "10.000"),
        (123456789, "estimate", "123456789"),
        (1234567891, "estimate", "1.2346e+09"),
        (0.0001, "estimate", "0.00010000"),
        (0.00001, "estimate", "1.0000e-05"),
        (-0.0, "estimate", "0"),
        (np.float32(0.5), "estimate", "0.50000"),
        (-0.62301, "rough", "-0.623"),
        (1378.133, "rough", "1378"),
        (6.9364e-05, "rough", "6.94e-05"),
        (0.0, "rough", "0.00"),
        # sums of weights
        (369.0, "count", "369"),
        (np.int64(5), "count", "5"),
        (0.1 + 0.2 + 0.7, "count", "1"),
        (12.5, "count", "12.5"),
        (0.000123456, "count", "0.0001235"),
        (1e15, "count", "1000000000000000"),
        (2.4e-9, "count", "2.4e-09"),
        (0.0, "count", "0"),
        # arguments
        (16.0, "setting", "16"),
        (0.1, "setting", "0.1"),
        (1e-7, "setting", "1e-07"),
        # residuals
        (3.14e-10, "residual", "3.1e-10"),
        (0.0, "residual", "0"),
        (-0.0, "residual", "0"),
        # proportions
        (0.13406, "share", "0.1341"),
        (1, "share", "1.0000"),
        # standard errors below what they are of
        (28.491, "se", "(28.5)"),
        (0.0329, "share_se", "(0.0329)"),
        # what is not a number
        (np.nan, "count", "nan"),
        (-np.inf, "share", "-inf"),
        (0.04321, "pvalue", "0.0432"),
        (4.9e-5, "pvalue", "<0.0001"),
        (5.1e-5, "pvalue", "0.0001"),
        (0.0, "pvalue", "<0.0001"),
        (None, "estimate", "-"),
        (True, "count", "yes"),
        (np.False_, "count", "no"),
        ((1, None), "setting", "[1, -]"),
        ("two\n  lines", "estimate", "two lines"),
    ],
)
def test_show(value, style, text):
    assert show(value, style) == text


@pytest.mark.parametrize("style", sorted(set(STYLES) - {"pvalue"}))
@pytest.mark.parametrize("exponent", range(-320, 309, 37))
@pytest.mark.parametrize("sign", [-1, 1])
def test_every_size_is_shown(style, exponent, sign):
    value = sign * 10.0**exponent
    error = abs(float(show(value, style).strip("()")) - value)
    assert error <= (0.5e-4 if style.startswith("share") else 0.05 * abs(value) + (1e-8 if style == "count" else 0))


def test_what_is_a_number():
    assert all(map(is_number, [1, 2.5, np.float64(3), np.int8(4), None, np.nan]))
    assert not any(map(is_number, [True, "1", (1, 2)]))


def test_lacking_makes_the_points_agree():
    texts = ["1", "2.50", "1.2346e-09", "nan"]
    filled = [text + lack for text, lack in zip(texts, lacking(texts), strict=True)]
    tails = [len(text) - text.index(".") for text in filled]
    assert len(set(tails)) == 1
    assert lacking(["1", "200"]) == ["", ""]
    assert lacking([]) == []


def test_one_line():
    assert one_line(" a\tb\n\nc ") == "a b c"
    assert one_line(3) == "3"


def test_what_there_is_none_of():
    assert or_none(np.float64("nan")) is None
    assert or_none(np.float64(0.5)) == 0.5 and type(or_none(np.float64(0.5))) is float
