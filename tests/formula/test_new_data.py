"""A design applied to new data: the same numbers for the same rows, missing rows, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.errors import ArgumentTypeError, DataError, DesignWarning
from svmstat.formula import build_design

RIGHT_SIDES = [
    "x",
    "x + a*b + g",
    "bs(x, df=4) + center(z)",
    "b:standardize(x) + C(z > 5)",
    "np.log(z) + Q('mean depth') + I(x**2)",
    "a:bs(x, df=3)",
    "hole + x",
]


@pytest.fixture(params=RIGHT_SIDES)
def frame(request, table):
    with np.errstate(all="raise"):
        try:
            return build_design(f"y ~ {request.param}", table)
        except DesignWarning:
            with pytest.warns(DesignWarning, match=r"constant|rows have missing values"):
                return build_design(f"y ~ {request.param}", table)


def test_rows_of_the_fit_give_the_numbers_of_the_fit(frame, table):
    before = table.copy(deep=True)
    new = frame.design.transform(table)
    pd.testing.assert_frame_equal(table, before)
    np.testing.assert_array_equal(new.X[frame.rows], frame.X)
    assert new.X.flags["C_CONTIGUOUS"]
    assert new.index.equals(table.index)
    assert new.missing.sum() == frame.n_missing
    assert np.isnan(new.X[new.missing]).all()
    assert not np.isnan(new.X[~new.missing]).any()


def test_one_row_at_a_time_in_any_order(frame, table):
    whole = frame.design.transform(table).X
    for k in (6, 0, 3):
        np.testing.assert_allclose(frame.design.transform(table.iloc[[k]]).X[0], whole[k], rtol=1e-14, atol=1e-14)


def test_only_the_predictors_are_needed(frame, table):
    new = table[list(frame.design.predictors)].assign(extra="?")[::-1]
    np.testing.assert_array_equal(frame.design.transform(new).X, frame.design.transform(table).X[::-1])


def test_a_number_too_far_away_to_be_standardised(table):
    built = build_design("y ~ x + z", table.assign(z=table.z * 1e-3))
    assert np.isfinite(built.design.transform(table.assign(z=1e300)).X).all()
    with pytest.raises(DataError, match=r"newdata column 'z', standardised, is infinite \(inf\) in row 'r5'"):
        built.design.transform(table.assign(z=np.where(table.z == 13, 1e307, 1.0)))


def test_no_rows(frame, table):
    new = frame.design.transform(table.iloc[:0])
    assert new.X.shape == (0, len(frame.design.column_names))
    assert new.missing.shape == (0,)


def test_all_missing(frame, table):
    new = table.copy()
    for name in frame.design.predictors:
        new[name] = None
    new = frame.design.transform(new)
    # a comparison of missing numbers is missing, too
    assert new.missing.all()
    assert np.isnan(new.X).all()


def test_each_missing_predictor_gives_a_missing_row(frame, table):
    for name in frame.design.predictors:
        new = table.dropna().astype({name: object})
        new.loc["r3", name] = None
        assert frame.design.transform(new).missing.tolist() == [label == "r3" for label in new.index]


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        ("a", "category"),
        ("a", object),
        ("a", "string"),
        ("g", object),
        ("g", pd.CategoricalDtype(["p", "zz", "q"])),
        ("b", "boolean"),
        ("b", object),
        ("x", "Float64"),
        ("x", object),
    ],
)
def test_types_that_say_the_same(column, dtype, table):
    design = build_design("y ~ x + a + g + b", table).design
    new = design.transform(table.astype({column: dtype}))
    np.testing.assert_array_equal(new.X, design.transform(table).X)


@pytest.mark.parametrize(
    ("right", "change", "message"),
    [
        ("x + z", {"x": None}, "newdata has no column 'x'"),
        (
            "Q('mean depth')",
            {"mean depth": None, "mean_depth": 1.0},
            "no column 'mean depth'; did you mean 'mean_depth'",
        ),
        ("a", {"a": "q"}, r"newdata column 'a' has new level\(s\) 'q'; the fit knows 'u', 'v', 'w'"),
        ("a", {"a": ["u", "v", "q", "w", "s", "u", "v", "q"]}, r"new level\(s\) 'q', 's'"),
        ("a", {"a": 1.5}, "newdata column 'a' holds number such as 1.5; at the fit it held text"),
        ("g", {"g": "r"}, "newdata column 'g' has new level.* 'r'; the fit knows 'q', 'p'"),
        ("g", {"g": "zz"}, "newdata column 'g' has new level.* 'zz'"),
        ("C(z)", {"z": 4}, r"newdata term 'C\(z\)' has new level.* 4; the fit knows 2, 3, 5, 7"),
        ("b", {"b": 1}, "newdata column 'b' holds number such as 1; at the fit it held boolean"),
        ("b", {"b": "True"}, "newdata column 'b' holds text such as 'True'"),
        ("x", {"x": "4"}, "newdata column 'x' holds text such as '4'; at the fit it held number"),
        ("x", {"x": True}, "newdata column 'x' holds boolean such as True"),
        ("x", {"x": pd.Timestamp("2020-01-01")}, "newdata column 'x' holds datetime64"),
        (
            "x",
            {"x": [1.0, 2, -np.inf, 3, 4, 5, 6, np.inf]},
            r"newdata column 'x' is infinite \(-inf\) in row 'r2'",
        ),
        ("I(1 / (x - 99))", {"x": np.inf}, "newdata column 'x' is infinite"),
        (
            "np.log(z)",
            {"z": [1, 2, 0, 3, 4, 5, 6, 7]},
            r"newdata term 'np.log\(z\)' is infinite \(-inf\) in row 'r2'",
        ),
        ("x:z", {"x": 1e200, "z": 10**10}, None),
        ("x:x2", {"x": 1e200, "x2": 1e200}, "a product of terms is infinite"),
        (
            "bs(x, df=4)",
            {"x": [1, 2, 2, 1, 9.5, 1, 9, 2]},
            r"term 'bs\(x, df=4\)' cannot be computed in row 'r4', where x=9.5",
        ),
        ("x", {"y": None, "z": "ignored"}, None),
    ],
)
def test_refusals(right, change, message, table):
    table = table.assign(x2=table.x)
    design = build_design(f"y ~ {right}", table).design
    gone = [name for name, value in change.items() if value is None]
    new = table.drop(columns=gone).assign(**{k: v for k, v in change.items() if v is not None})
    if message is None:
        assert not design.transform(new).missing.any()
    else:
        with pytest.raises(DataError, match=message):
            design.transform(new)


def test_twice_the_same_column(table):
    design = build_design("y ~ x", table).design
    with pytest.raises(DataError, match="newdata has 2 columns named 'x'"):
        design.transform(pd.concat([table, table], axis=1))


def test_the_advice_about_knots_works(table):
    new = table.assign(x=9.5)
    with pytest.raises(DataError, match="lower_bound= and upper_bound="):
        build_design("y ~ bs(x, df=4)", table).design.transform(new)
    design = build_design("y ~ bs(x, df=4, lower_bound=-10, upper_bound=10)", table).design
    assert not design.transform(new).missing.any()


@pytest.mark.parametrize("newdata", [None, {"x": [1.0]}, [[1.0]], pd.Series([1.0], name="x")])
def test_newdata_is_a_data_frame(newdata, table):
    with pytest.raises(ArgumentTypeError, match="newdata is of type"):
        build_design("y ~ x", table).design.transform(newdata)


def test_values_that_are_no_numbers_are_told(table):
    design = build_design("y ~ np.log(z)", table).design
    with pytest.warns(DesignWarning, match=r"newdata term 'np.log\(z\)' is not a number in 1 row"):
        new = design.transform(table.assign(z=[1, 2, -1, 3, 4, 5, 6, 7]))
    assert new.missing.tolist() == [False, False, True] + [False] * 5


def test_a_level_dropped_for_lack_of_weight_is_new(table):
    data = table[table.a != "w"].assign(a=lambda d: d.a.astype(pd.CategoricalDtype(["u", "v", "w"])))
    design = build_design("y ~ a", data).design
    with pytest.raises(DataError, match="new level"):
        design.transform(table)


def test_callers_names_travel_with_the_design(table):
    design = build_design("y ~ I(x * factor) + shift(z)", table, env={"factor": 2.0, "shift": shift}).design
    again = pickle.loads(pickle.dumps(design))
    np.testing.assert_array_equal(again.transform(table).X, design.transform(table).X)


def shift(x):
    return x + 100


def test_units_of_times_and_ends_of_intervals_do_not_matter():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=60), "b": rng.uniform(0, 9, 60)})
    data["day"] = (pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 60), unit="D")).astype("M8[us]")
    data["span"] = pd.to_timedelta(rng.integers(0, 900, 60), unit="s").astype("m8[us]")
    data["month"] = data["day"].dt.to_period("Q").dt.start_time.astype("category")
    data["cut"] = pd.cut(data["b"], [-1, 2, 9])
    data["y"] = data["a"] + rng.normal(size=60) > 0
    fit = svm("y ~ a + day.dt.month + span.dt.total_seconds() + month + cut", data)
    other = data.assign(
        day=data["day"].astype("M8[s]"), span=data["span"].astype("m8[ns]"), cut=pd.cut(data["b"], [-1.0, 2.0, 9.0]),
        month=data["month"].astype("M8[ns]").astype("category"),
    )  # fmt: skip
    np.testing.assert_array_equal(fit.decision_function(other), fit.decision_function(data))
    arrow = data.assign(day=data["day"].astype("timestamp[ns][pyarrow]"))
    np.testing.assert_array_equal(fit.decision_function(arrow), fit.decision_function(data))
    with pytest.raises(DataError, match="holds datetime64"):
        fit.predict(data.assign(day=data["day"].dt.tz_localize("UTC")))


@pytest.mark.parametrize("term", ["k", "C(o)"])
def test_levels_of_several_types_are_known_row_by_row(term):
    rng = np.random.default_rng(0)
    values = rng.choice(np.array([True, False, "unknown", 2.5], object), 60)
    data = pd.DataFrame({"a": rng.normal(size=60), "o": values})
    data["k"] = pd.Categorical(values, categories=[True, False, "unknown", 2.5])
    fit = svm(f"y ~ a + {term}", data.assign(y=data["a"] + rng.normal(size=60) > 0))
    one_by_one = [fit.decision_function(data.iloc[[i]]).iloc[0] for i in range(60)]
    np.testing.assert_allclose(one_by_one, fit.decision_function(data), atol=1e-12)
    assert len(fit.effects(term.strip("C()"), B=0).estimate) == 4
    with pytest.raises(DataError, match="new level"):
        fit.predict(data.assign(o="other", k="other"))
    if term == "k":
        with pytest.raises(DataError, match="new level"):
            fit.predict(data.assign(k=1))


def test_whole_numbers_that_doubles_cannot_tell_apart_are_refused_beside_missing_ones():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=60), "id": 2**60 + rng.integers(0, 3, 60)})
    data["y"] = data["a"] + 2.0 * (data["id"] == 2**60 + 1) + rng.normal(size=60) > 0.5
    holes = data.astype({"id": "Int64"})
    holes.loc[0, "id"] = pd.NA
    fit = svm("y ~ a + C(id)", data)
    for call in (
        lambda: fit.predict(holes),
        lambda: svm("y ~ a + C(id)", holes),
        lambda: svm("y ~ a", holes, subset=f"id == {2**60 + 1}"),
        lambda: svm("y ~ a + C(id)", data.assign(id=data["id"].astype("uint64") + np.uint64(2**63))),
    ):
        with pytest.raises(DataError, match="which do not tell them apart: give it as text"):
            call()
    text = svm("y ~ a + C(id)", holes.astype({"id": "string"}))
    assert text.n_used == 59 and text.n_columns == 4
    assert svm("y ~ a + id", holes.assign(id=holes["id"] - 2**60)).n_used == 59


def test_a_new_level_of_the_response_is_named():
    data = pd.DataFrame({"a": np.arange(20.0), "y": ["no", "yes"] * 10, "n": [3, 7] * 10})
    with pytest.raises(DataError, match="new level of the response 'y' in row 4: not 'no', 'yes', but 'maybe'"):
        svm("y ~ a", data).error_rates(data.assign(y=data["y"].where(data.index != 4, "maybe")))
    with pytest.raises(DataError, match="not 3, 7, but 5"):
        svm("n ~ a", data).error_rates(data.assign(n=data["n"].where(data.index != 4, 5)))


HELD = {
    "intervals": pd.cut(pd.Series(np.arange(12.0)), [-1.0, 4.0, 8.0, 12.0]),
    "times": pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(np.resize([0, 1, 2], 12), "D")),
    "zones": pd.Series(pd.to_datetime("2020-01-01", utc=True) + pd.to_timedelta(np.resize([0, 1, 2], 12), "D")),
    "durations": pd.Series(pd.to_timedelta(np.resize([0, 1, 2], 12), "D")),
    "periods": pd.Series(pd.period_range("2020-01", periods=3, freq="M").take(np.resize([0, 1, 2], 12))),
}


@pytest.mark.parametrize("of", HELD)
@pytest.mark.parametrize("at_the_fit", [True, False], ids=["objects later", "objects at the fit"])
def test_objects_are_what_pandas_holds_them_by(of, at_the_fit):
    """A row as a frame, ``data.iloc[3].to_frame().T``, holds objects."""
    held = pd.DataFrame({"y": np.resize([0, 1, 1, 0, 1], 12), "h": HELD[of]})
    objects = held.assign(h=held["h"].astype(object))
    fitted, other = (held, objects) if at_the_fit else (objects, held)
    frame = build_design("y ~ C(h)", fitted)
    np.testing.assert_array_equal(frame.design.transform(other).X, frame.design.transform(fitted).X)


def test_what_is_no_number_among_numbers_is_shown():
    frame = build_design("y ~ x", pd.DataFrame({"y": [0, 1, 1, 0], "x": [1.0, 2.0, 3.0, 4.0]}))
    with pytest.raises(DataError, match=r"'x' holds mixed types such as 'n/a'; at the fit it held number"):
        frame.design.transform(pd.DataFrame({"x": pd.Series([1.5, "n/a"], dtype=object)}))


@pytest.mark.parametrize(
    "kind", ["datetime64[ns]", "datetime64[s]", "datetime64[ms]", "timestamp[ns][pyarrow]", "timestamp[us][pyarrow]"]
)
@pytest.mark.parametrize("at_fit", ["datetime64[us]", "datetime64[ns]", "timestamp[us][pyarrow]"])
def test_times_are_read_in_the_unit_of_the_fit(at_fit, kind):
    """Terms may compute numbers of them, which are a thousand times as large in another."""
    days = pd.date_range("2024-01-01", periods=40)
    data = pd.DataFrame({"y": np.arange(40) % 2, "x": np.arange(40.0) ** 2})
    fit = svm("y ~ x + t.astype('int64')", data.assign(t=days.astype(at_fit)))
    f = fit.decision_function(data.assign(t=days.astype(kind)))
    np.testing.assert_allclose(f, fit.decision_values, atol=1e-9)


def test_spans_of_time_are_read_in_the_unit_of_the_fit():
    spans = pd.to_timedelta(np.arange(40), unit="D")
    data = pd.DataFrame({"y": np.arange(40) % 2, "x": np.arange(40.0) ** 2})
    fit = svm("y ~ x + t.astype('int64')", data.assign(t=spans.astype("timedelta64[us]")))
    for kind in ("timedelta64[s]", "timedelta64[ns]", "duration[ns][pyarrow]"):
        f = fit.decision_function(data.assign(t=spans.astype(kind)))
        np.testing.assert_allclose(f, fit.decision_values, atol=1e-9)


def test_times_that_the_unit_of_the_fit_cannot_hold_are_refused():
    days = pd.date_range("2024-01-01", periods=40)
    data = pd.DataFrame({"y": np.arange(40) % 2, "t": days.astype("datetime64[s]")})
    fit = svm("y ~ t.dt.day_of_year", data)
    later = pd.DataFrame({"t": days.astype("datetime64[ns]") + pd.Timedelta("1ns")})
    with pytest.raises(
        DataError, match=r"holds datetime64\[ns\]; at the fit it held datetime64\[s\], in which not all"
    ):
        fit.predict(later)
    np.testing.assert_array_equal(fit.predict(later.apply(lambda t: t.dt.floor("s"))), fit.predict(data))
