"""ns() and poly(): R's columns, orthogonality, straight lines beyond the knots, weights as repeats."""

import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmstat import datasets
from svmstat.errors import ArgumentError, DataError, FormulaError
from svmstat.formula import build_design

TOL = 1e-12  # of columns of size one; R prints 15 digits
REFERENCE = pd.read_csv(Path(__file__).parents[1] / "r" / "bases.csv")


@pytest.fixture
def data():
    """Every ninth row of the mackerel data, as tests/r/bases.R has them."""
    return datasets.load("mackerel").iloc[::9].assign(y=lambda each: each["egg_count"] > 0)


def columns(term, data, **options):
    return build_design(f"y ~ {term}", data, scale=False, **options)


@pytest.mark.parametrize("term", REFERENCE["term"].unique())
def test_columns_of_r(term, data):
    frame = columns(term, data)
    new = frame.design.transform(pd.DataFrame({"lon": [-16, -12.5, -8, -4.25, -1]})).X
    for name, found in (("fit", frame.X[::7]), ("new", new)):
        rows = REFERENCE[(REFERENCE["term"] == term) & (REFERENCE["set"] == name)]
        expected = rows["value"].to_numpy().reshape(found.T.shape).T
        np.testing.assert_allclose(found, expected, rtol=TOL, atol=TOL * max(1.0, np.abs(expected).max()))


def test_polynomials_are_orthonormal(data):
    X = columns("poly(b_depth, 5)", data).X
    np.testing.assert_allclose(X.T @ X, np.eye(5), rtol=0, atol=TOL)
    np.testing.assert_allclose(X.sum(axis=0), 0.0, rtol=0, atol=TOL)
    powers = columns("poly(lat, 3, raw=True)", data).X
    np.testing.assert_array_equal(powers, data[["lat"]].to_numpy() ** [1, 2, 3])


def test_splines_are_straight_beyond_the_knots(data):
    """And straight lines are among them."""
    frame = columns("ns(lat, df=4)", data)
    ends = data["lat"].min(), data["lat"].max()
    for start, step in ((ends[0], -1.0), (ends[1], 1.0)):
        X = frame.design.transform(pd.DataFrame({"lat": start + step * np.array([0.0, 1.0, 2.0, 3.0])})).X
        np.testing.assert_allclose(np.diff(X, 2, axis=0), 0.0, rtol=0, atol=1e-11)
    line = np.column_stack([np.ones(len(frame.X)), frame.X])
    fitted = line @ np.linalg.lstsq(line, data["lat"], rcond=None)[0]
    np.testing.assert_allclose(fitted, data["lat"], rtol=1e-10)


@pytest.mark.parametrize("term", ["poly(lon, 3)", "ns(lon, df=3)"])
def test_rows_of_the_fit_again(term, data):
    """New rows have the very numbers of the fit, also after pickling; missing ones are missing."""
    holes = data.assign(lon=data["lon"].where(np.arange(len(data)) != 3))
    frame = columns(term, holes)
    again = pickle.loads(pickle.dumps(frame.design)).transform(holes)
    np.testing.assert_array_equal(again.X[~again.missing], frame.X)
    assert again.missing.tolist() == [k == 3 for k in range(len(data))]


@pytest.mark.parametrize("term", ["poly(lon, 3)", "ns(lon, df=3)"])
def test_weights_are_repeats(term, data):
    weights = np.arange(len(data)) % 4
    frame = columns(term, data, weights=weights)
    repeats = columns(term, data.loc[data.index.repeat(weights)].reset_index(drop=True))
    np.testing.assert_allclose(
        frame.X[weights > 0].repeat(weights[weights > 0], axis=0), repeats.X, rtol=1e-10, atol=1e-10
    )


def test_the_callers_own_functions_come_first(data):
    found = columns("poly(lon)", data, env={"poly": np.exp}).X
    np.testing.assert_array_equal(found[:, 0], np.exp(data["lon"]))


@pytest.mark.parametrize(
    ("term", "error", "message"),
    [
        ("poly(lon, 0)", ArgumentError, "poly(...): degree=0 is not allowed: it must be an integer >= 1"),
        ("poly(lon, 2, raw=1)", ArgumentError, "poly(...): raw=1 is not allowed"),
        ("poly(few, 3)", DataError, "poly(..., degree=3) needs 4 distinct values, and there are 3"),
        ("ns(lon)", ArgumentError, "ns(...) takes either df, the number of its columns, or knots"),
        ("ns(lon, 3, [-9])", ArgumentError, "ns(...) takes either df, the number of its columns, or knots"),
        ("ns(lon, df=0)", ArgumentError, "ns(...): df=0 is not allowed"),
        ("ns(lon, knots=['a'])", ArgumentError, "ns(...): knots=['a'] is not allowed: it must be a list of numbers"),
        ("ns(lon, knots=[-99])", DataError, "ns(...) has the knots -14.35, -99, -1.35, which must be increasing"),
        ("ns(few, df=6)", DataError, "a column of few distinct values needs a smaller df"),
        ("ns(lon, df=3, lower_bound='a')", ArgumentError, "ns(...): lower_bound='a' is not allowed"),
        (
            "poly(vessel, 2)",
            FormulaError,
            "The term 'poly(vessel, 2)' cannot be evaluated: ValueError: could not convert string",
        ),
        ("poly(np.column_stack([lon, lat]), 2)", DataError, "poly() takes one column, not 2"),
    ],
)
def test_bad_input(term, error, message, data):
    with pytest.raises(error, match=re.escape(message)):
        columns(term, data.assign(few=np.arange(len(data)) % 3))
