"""What must hold for any table: order of terms, levels and rows; weights as repeats; new data."""

import pickle
import warnings

import hypothesis.strategies as st
import numpy as np
import pandas as pd
from hypothesis import assume, given, settings

from svmstat.errors import DesignWarning
from svmstat.formula import build_design

# Sums of a few dozen terms of size 1 in another order, divided by standard deviations of about 1.
CLOSE = {"rtol": 1e-12, "atol": 1e-12}

few = settings(deadline=None, max_examples=25)

TERMS = [
    "x",
    "z",
    "a",
    "b",
    "C(g)",
    "a:b",
    "x:z",
    "a:x",
    "b:C(g)",
    "center(x)",
    "standardize(z)",
    "bs(x, df=4)",
    "cr(z, df=3)",
    "np.exp(x)",
]


def built(right, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DesignWarning)  # empty cells of interactions
        return build_design(f"y ~ {right}", data, **options)


@st.composite
def tables(draw):
    """Rows of numbers, text, booleans and codes, on labels that may repeat."""
    n = draw(st.integers(8, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    data = pd.DataFrame(
        {
            "y": rng.permutation(np.arange(n) % 2),
            "x": rng.normal(size=n).round(draw(st.integers(1, 5))),
            "z": rng.uniform(-3, 5, size=n),
            "a": rng.choice(["u", "v", "w"], size=n),
            "b": rng.random(n) < 0.5,
            "g": rng.integers(1, 4, size=n),
        },
        index=rng.integers(0, n, size=n),
    )
    assume(varied(data))
    return data


def varied(data):
    return all(len(set(data[name])) > 1 for name in data)


def sides(size=4):
    return st.lists(st.sampled_from(TERMS), min_size=1, max_size=size, unique=True)


def by_name(frame):
    """The columns by name; a product has the same name whatever the order of its factors."""
    names = [":".join(sorted(name.split(":"))) for name in frame.design.column_names]
    return pd.DataFrame(frame.X, columns=names)


@few
@given(tables(), sides(), st.randoms())
def test_order_of_terms_permutes_columns(data, terms, random):
    shuffled = random.sample(terms, len(terms))
    shuffled = [":".join(reversed(term.split(":"))) if random.random() < 0.5 else term for term in shuffled]
    one, other = by_name(built("+".join(terms), data)), by_name(built("+".join(shuffled), data))
    assert sorted(one) == sorted(other)
    np.testing.assert_array_equal(one, other[one.columns])


@few
@given(tables(), st.permutations(["u", "v", "w"]), st.sampled_from(["a", "a*b", "a:x + z", "C(a) + x"]))
def test_order_of_levels_permutes_columns(data, levels, right):
    one = by_name(built(right, data))
    other = by_name(built(right, data.assign(a=pd.Categorical(data.a, categories=levels))))
    assert sorted(one) == sorted(other)
    np.testing.assert_array_equal(one, other[one.columns])


@few
@given(tables(), sides(), st.randoms())
def test_order_of_rows_permutes_rows(data, terms, random):
    order = random.sample(range(len(data)), len(data))
    one, other = built("+".join(terms), data), built("+".join(terms), data.iloc[order])
    assert one.design.column_names == other.design.column_names
    np.testing.assert_allclose(other.X, one.X[order], **CLOSE)
    np.testing.assert_array_equal(other.y, one.y[order])
    assert other.index.equals(one.index[order])


@few
@given(tables(), sides(), st.data())
def test_whole_weights_are_repeated_rows(data, terms, draw):
    n = len(data)
    weights = np.array(draw.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    rows = np.repeat(np.arange(n), weights)
    one, other = built("+".join(terms), data, weights=weights), built("+".join(terms), data.iloc[rows])
    assert one.design.column_names == other.design.column_names
    np.testing.assert_array_equal(one.design.is_indicator, other.design.is_indicator)
    np.testing.assert_allclose(one.design.center, other.design.center, **CLOSE)
    np.testing.assert_allclose(one.design.scale_, other.design.scale_, **CLOSE)
    np.testing.assert_allclose(one.X[rows], other.X, **CLOSE)


@few
@given(tables(), sides(), st.data())
def test_weight_zero_is_absence(data, terms, draw):
    n = len(data)
    weights = np.array(draw.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    weights *= draw.draw(st.sampled_from([1.0, 0.75]))
    kept = data[weights > 0]
    assume(len(kept) > 5 and kept.y.nunique() == 2 and weights.sum() > 2)
    assume(all(set(kept[name]) == set(data[name]) for name in ("a", "b", "g")))
    assume(kept.x.min() == data.x.min() and kept.x.max() == data.x.max())  # bs is not defined outside
    one = built("+".join(terms), data, weights=weights)
    other = built("+".join(terms), kept, weights=weights[weights > 0])
    assert len(one.y) == n
    assert one.design.column_names == other.design.column_names
    np.testing.assert_allclose(one.design.center, other.design.center, **CLOSE)
    np.testing.assert_allclose(one.design.scale_, other.design.scale_, **CLOSE)
    np.testing.assert_allclose(one.X[weights > 0], other.X, **CLOSE)
    assert one.response == other.response


@few
@given(tables(), sides())
def test_rows_of_the_fit_as_new_data(data, terms):
    frame = built("+".join(terms), data)
    np.testing.assert_array_equal(frame.design.transform(data).X, frame.X)
    again = pickle.loads(pickle.dumps(frame.design))
    np.testing.assert_array_equal(again.transform(data).X, frame.X)


@few
@given(tables(), st.data())
def test_missing_values_are_absence(data, draw):
    n = len(data)
    holes = np.array(draw.draw(st.lists(st.sampled_from(["", "", "", "x", "a"]), min_size=n, max_size=n)))
    holed = data.assign(x=data.x.where(holes != "x"), a=data.a.where(holes != "a", None))
    kept = data[holes == ""]
    assume(len(kept) > 5 and varied(kept))
    right = "a*x + center(x) + standardize(z) + bs(z, df=3)"
    one, other = built(right, holed), built(right, kept)
    assert one.n_missing == n - len(kept)
    assert one.design.column_names == other.design.column_names
    np.testing.assert_allclose(one.X, other.X, **CLOSE)
    assert one.index.equals(kept.index)


@few
@given(tables())
def test_every_level_has_a_column(data):
    frame = built("a + b + C(g)", data, scale=False)
    X = pd.DataFrame(frame.X, columns=frame.design.column_names)
    for code, values in (("a", data.a), ("b", data.b), ("C(g)", data.g)):
        for level in values.unique():
            np.testing.assert_array_equal(X[f"{code}[{level}]"], values == level)
