"""Fits to data frames of other libraries: the same fit, and answers in the kind of frame that was given."""

import subprocess
import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from levels import sample

from svmstat import cli, compare, load, neyman_pearson, svm, tune
from svmstat._tools.frames import as_pandas
from svmstat.errors import DataError, UnavailableError

FORMULA = "y ~ x + z + site"


def to_polars(data):
    """A frame whose categories keep their order, which a Categorical of polars has not."""
    ordered = {name: pl.Enum(data[name].cat.categories.tolist()) for name in data if data[name].dtype == "category"}
    return pl.from_pandas(data, schema_overrides=ordered)


LIBRARIES = {
    "polars": (to_polars, pl.DataFrame, pl.Series),
    "pyarrow": (pa.Table.from_pandas, pa.Table, pa.ChunkedArray),
}
METHODS = ("decision_function", "predict", "predict_proba", "predict_set")


@pytest.fixture(scope="module", params=[2, 3], ids=["two", "three"])
def data(request):
    """With a missing value in a predictor, and levels in another order than that of the alphabet."""
    found = sample(request.param)
    found.loc[4, "x"] = np.nan
    return found.assign(site=pd.Categorical(found["site"], categories=["west", "south", "north", "east"]))


@pytest.fixture(scope="module", params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]


@pytest.fixture(scope="module")
def fits(data, library):
    """The fits to the pandas frame and to the other one."""
    return svm(FORMULA, data, weights="w"), svm(FORMULA, library[0](data), weights="w")


def same(answer, expected):
    """The numbers of the answer, null being NaN and (a, b) a_b."""
    if isinstance(expected, pd.Series):
        values = answer.to_pylist() if isinstance(answer, pa.ChunkedArray) else answer.to_list()
        assert values == [None if pd.isna(value) else value for value in expected]
        return
    found = as_pandas("answer", answer)
    assert found.columns.tolist() == ["_".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in expected]
    for k, name in enumerate(found):
        column = expected.iloc[:, k]
        assert found[name].isna().tolist() == column.isna().tolist()
        assert found[name].dropna().tolist() == column.dropna().tolist()


def test_it_is_the_same_fit(fits):
    ours, other = fits
    assert str(other.summary()) == str(ours.summary())
    assert other.classes == ours.classes
    assert other.frame.design.column_names == ours.frame.design.column_names
    np.testing.assert_array_equal(other.machine.decision_values, ours.machine.decision_values)


@pytest.mark.parametrize("method", METHODS)
def test_answers_are_of_the_kind_of_the_rows(fits, data, library, method):
    ours, other = fits
    make, *kinds = library
    new = data.head(6)
    for fit in fits:
        answer = getattr(fit, method)(make(new))
        assert isinstance(answer, tuple(kinds))
        same(answer, getattr(ours, method)(new))
    same(getattr(other, method)(), getattr(ours, method)())
    assert type(getattr(other, method)(new)) is type(getattr(ours, method)(new))


@pytest.mark.parametrize("name", ["decision_values", "fittedvalues", "alpha", "model_frame", "model_matrix"])
def test_numbers_of_the_rows_of_the_fit(fits, library, name):
    ours, other = fits
    assert isinstance(getattr(other, name), library[1:])
    same(getattr(other, name), getattr(ours, name))


def test_augment(fits, data, library):
    ours, other = fits
    new = library[0](data.assign(other=[[k] for k in range(len(data))]))
    found = other.augment(new)
    assert isinstance(found, library[1])
    same(found.select(new.columns if isinstance(new, pl.DataFrame) else new.column_names), as_pandas("new", new))
    same(other.augment(), ours.augment())
    same(found.drop("other") if isinstance(found, pl.DataFrame) else found.drop_columns("other"), ours.augment(data))


def test_predictions_with_their_stability(fits, data, library):
    ours, other = fits
    new = data.head(3)
    same(
        other.get_prediction(library[0](new), B=39, rng=1).summary_frame(),
        ours.get_prediction(new, B=39, rng=1).summary_frame(),
    )
    assert str(other.get_prediction(B=39, rng=1)) == str(ours.get_prediction(B=39, rng=1))


def test_tables_stay_in_pandas_by_the_place_of_the_row(fits):
    other = fits[1]
    assert isinstance(other.drop1().table, pd.DataFrame)
    assert other.loo().summary_frame().index.tolist() == other.frame.rows.tolist()
    assert 4 not in other.support


def test_levels_keep_their_type():
    data = pl.DataFrame({"y": ["b", "c", "b", "c"], "x": [1.0, 2.0, 1.5, 2.5]})
    for kind in (pl.Enum(["c", "b"]), pl.Categorical, pl.String):
        fit = svm("y ~ x", data.with_columns(pl.col("y").cast(kind)))
        assert fit.event == ("b" if kind == pl.Enum(["c", "b"]) else "c")
        assert fit.predict().dtype == kind
        assert fit.predict(pl.DataFrame({"x": [None, 2.5]})).to_list() == [None, "c"]
    whole = svm("y ~ x", data.with_columns(y=pl.Series([10, 20] * 2)))
    assert whole.predict().dtype == pl.Int64
    flags = svm("y ~ x", data.with_columns(y=pl.col("y") == "b"))
    assert flags.predict(pl.DataFrame({"x": [None, 2.5]})).to_list() == [None, False]


def test_null_is_missing(data):
    frame = pl.from_pandas(data).with_columns(pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise("w").alias("w"))
    assert svm("y ~ x", frame).n_missing == 1
    with pytest.raises(DataError, match="column 'x'"):
        svm("y ~ x", frame, na_action="raise")


def test_columns_beside_the_data(data, library):
    """Weights, rows and the truth may be of the library too."""
    make = library[0]
    frame = make(data)
    of = frame.get_column if isinstance(frame, pl.DataFrame) else frame.column
    ours = svm("y ~ z", data, weights=data["w"], subset=data["z"] > 20)
    other = svm("y ~ z", frame, weights=of("w"), subset=make(pd.DataFrame({"s": data["z"] > 20}))["s"])
    np.testing.assert_array_equal(other.machine.alpha, ours.machine.alpha)


def test_update_and_refit(fits, data, library):
    ours, other = fits
    assert isinstance(other.update(C=2).predict(), library[1:])
    same(other.update(". ~ . - z").decision_values, ours.update(". ~ . - z").decision_values)
    assert isinstance(ours.refit(library[0](data)).predict(), library[1:])
    assert isinstance(other.refit(data).predict(), pd.Series)


def test_tune_and_its_rules(library):
    data = sample(2)
    make, *kinds = library
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, other = (tune("y ~ x + z", each, C=[1, 4], gamma=[0.5]) for each in (data, make(data)))
        rule = tune("y ~ x", make(data), criterion=neyman_pearson(0.3), nu=[0.5], gamma=[0.5], search="bias", rng=1)
    pd.testing.assert_frame_equal(ours.table, other.table)
    assert isinstance(other.predict(), tuple(kinds))
    assert isinstance(other.best.update(C=8).predict(), tuple(kinds))
    for found in (rule.predict(), rule.predict(make(data)), other.predict(make(data))):
        assert isinstance(found, tuple(kinds))
    assert rule.error_rates(make(data)).equals(rule.error_rates(data))
    fit = other.best
    assert fit.risk(make(data), weights="w") == fit.risk(data, weights="w")
    assert fit.tune_bias(make(data)).shift == fit.tune_bias(data).shift
    assert isinstance(fit.tune_bias(data).predict(make(data)), tuple(kinds))


def test_more_than_two_levels(library):
    data = sample(3)
    fit = svm("y ~ s(x) + s(z)", library[0](data))
    assert fit.error(library[0](data), weights="w") == fit.error(data, weights="w")
    same(fit.predict_terms(library[0](data)), fit.predict_terms(data))
    with pytest.raises(UnavailableError):
        fit.calibration_bounds(data)


def test_everything_else_takes_such_fits(fits):
    ours, other = fits
    assert compare(ours, other.update(C=2)).table.shape[0] == 2
    for fit in fits:
        fit.effects("x", B=0)
        plt.close(fit.plot_surface().figure)
        fit.get_influence().summary_frame()


def test_save_and_load(fits, data, library, tmp_path):
    ours, other = fits
    other.save(tmp_path / "fit")
    again = load(tmp_path / "fit")
    assert isinstance(again.predict(), library[1:])
    same(again.fittedvalues, ours.fittedvalues)
    same(again.augment(), ours.augment())
    same(again.update(C=3).decision_values, ours.update(C=3).decision_values)


def test_a_parquet_file_on_the_command_line(data, tmp_path, capsys):
    pl.from_pandas(data).write_parquet(tmp_path / "data.parquet")
    assert cli.main(["fit", FORMULA, str(tmp_path / "data.parquet"), "--save", str(tmp_path / "fit")]) == 0
    assert capsys.readouterr().out.strip() == str(svm(FORMULA, data).summary()).strip()
    assert cli.main(["predict", str(tmp_path / "fit"), str(tmp_path / "data.parquet")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("x,z,site,side,y,w,.fitted") and len(lines) == len(data) + 1


def test_other_libraries_are_imported_when_they_are_met():
    code = "import sys, svmstat.model; assert not {'narwhals', 'polars', 'pyarrow.parquet'} & {*sys.modules}"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


@pytest.mark.parametrize("library", LIBRARIES)
def test_booleans_of_which_all_are_missing_are_booleans(library):
    to, _, _ = LIBRARIES[library]
    data = pd.DataFrame({"x": np.arange(20.0), "y": np.resize([True, False, True], 20)})
    fit = svm("y ~ x", to(data))
    nothing = to(pd.DataFrame({"x": [np.nan, np.nan]}))
    predicted, sets = fit.predict(nothing), fit.predict_set(nothing)
    types = [predicted.dtype, *sets.dtypes] if library == "polars" else [predicted.type, *sets.schema.types]
    assert {str(each).lower() for each in types} <= {"boolean", "bool"}
