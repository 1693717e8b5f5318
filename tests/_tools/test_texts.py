import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat._tools.texts import written


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True))
def test_different_numbers_have_different_texts(values):
    texts = written(values)
    assert len(set(texts)) == len(set(values))
    assert all(math.isclose(float(text), value, rel_tol=1e-5) for text, value in zip(texts, values, strict=True))


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.0, -0.0], ["1", "0"]),
        ([1234561.0, 1234562.0, 1e20], ["1234561", "1234562", "1e+20"]),
        ([0.25, True, "a", 3], ["0.25", "True", "a", "3"]),
        ([float("nan"), float("inf")], ["nan", "inf"]),
    ],
)
def test_texts(values, texts):
    assert written(values) == texts
