"""Decision surfaces: which columns, what is held, which points."""

import numpy as np
import pandas as pd
import pytest

from svmstat import datasets, svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError
from svmstat.reporting.plots import surface_plot

MACKEREL = datasets.load("mackerel")
FIT = svm("egg_count > 0 ~ lon + lat + b_depth", MACKEREL, C=16, gamma=0.25)
RNG = np.random.default_rng(5)
MIXED = pd.DataFrame(
    {
        "y": RNG.choice(["no", "yes"], 60),
        "x": RNG.normal(size=60),
        "site": RNG.choice(["a", "b", "b"], 60),
        "wet": RNG.choice([True, False], 60),
        "kind": pd.Categorical(RNG.choice(["u", "v"], 60)),
        "z": RNG.integers(1, 9, 60),
        "w": RNG.integers(0, 3, 60).astype(float),
    },
    index=[f"r{k}" for k in range(60)],
)


def drawn(ax):
    """The points (m, 2) by label."""
    return {
        each.get_label(): np.asarray(each.get_offsets()) for each in ax.collections if each.get_label() in legend(ax)
    }


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_points_by_class_and_support():
    ax = surface_plot(FIT, MACKEREL, grid=20)
    points = drawn(ax)
    support = FIT.alpha.to_numpy() > 0
    assert len(points["True, support vector"]) == FIT.n_support.loc[True, "total"]
    assert len(points["False, support vector"]) == FIT.n_support.loc[False, "total"]
    assert sum(map(len, points.values())) == 634
    chosen = support & (FIT.frame.y > 0)
    np.testing.assert_array_equal(points["True, support vector"], MACKEREL.loc[chosen, ["lon", "lat"]])


def test_labels_and_what_is_held():
    ax = surface_plot(FIT, MACKEREL, grid=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("lon", "lat")
    assert ax.get_title("left") == "at b_depth = 171"
    assert ax.get_legend().get_title().get_text() == "egg_count > 0:"
    assert legend(ax)[-2:] == ["f = 0", "f = ±1"]


def test_columns_that_are_chosen_and_values_that_are_given():
    ax = surface_plot(FIT, MACKEREL, "b_depth", at={"lat": 50.0}, grid=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("b_depth", "lon")
    assert ax.get_title("left") == "at lat = 50"


def test_nothing_is_held_with_two_predictors():
    fit = svm("egg_count > 0 ~ lon + lat", MACKEREL)
    ax = surface_plot(fit, MACKEREL, grid=20)
    assert ax.get_title("left") == ""


def test_the_zero_line_is_where_f_is_zero():
    fit = svm("egg_count > 0 ~ lon + lat", MACKEREL, C=4)
    ax = surface_plot(fit, MACKEREL, grid=200)
    zero = next(
        each for each in ax.collections if getattr(each, "levels", None) is not None and list(each.levels) == [0.0]
    )
    at = np.vstack([path.vertices for path in zero.get_paths()])
    f = fit.decision_function(pd.DataFrame(at, columns=["lon", "lat"]))
    assert f.abs().max() < 0.02


def test_predictors_of_every_kind():
    fit = svm("y ~ x + site + wet + kind + np.log(z)", MIXED, weights="w")
    ax = surface_plot(fit, MIXED, grid=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "z")
    most = {name: MIXED.groupby(MIXED[name].astype(object))["w"].sum().idxmax() for name in ("site", "wet", "kind")}
    assert ax.get_title("left") == f"at site = {most['site']}, wet = {most['wet']}, kind = {most['kind']}"
    surface_plot(fit, MIXED, at={"site": "a", "wet": False, "kind": "v"}, grid=20)


def test_the_weighted_median_is_held():
    fit = svm("y ~ x + w + z", MIXED, weights="w")
    expected = MIXED["z"].repeat(MIXED["w"].astype(int)).quantile(0.5, interpolation="lower")
    assert surface_plot(fit, MIXED, grid=20).get_title("left") == f"at z = {expected}"


def test_rows_that_the_fit_left_out_are_not_drawn():
    gappy = MIXED.copy()
    gappy.loc["r3", "x"] = np.nan
    fit = svm("y ~ x + z", gappy, subset="site == 'b'")
    assert sum(map(len, drawn(surface_plot(fit, gappy, grid=20)).values())) == fit.n_rows


def test_a_constant_surface():
    data = pd.DataFrame({"y": [0, 1] * 4, "x": np.repeat(range(4), 2), "z": np.repeat([1, 3, 2, 5], 2)})
    surface_plot(svm("y ~ x + z", data), data, grid=5)


@pytest.mark.parametrize(
    ("arguments", "options", "part"),
    [
        (
            ["depth"],
            {},
            "x='depth' is not allowed: it must be a numeric predictor that varies ('lon', 'lat', 'b_depth')",
        ),
        (["lon", "temp_20m"], {}, "y='temp_20m' is not allowed"),
        (["lon", "lon"], {}, "different"),
        ([], {"at": {"lon": 1.0}}, "'lon' is not among the predictors held ('b_depth')"),
        ([], {"grid": 1}, "grid=1 is not allowed"),
    ],
)
def test_arguments_that_are_refused(arguments, options, part):
    with pytest.raises(ArgumentError) as error:
        surface_plot(FIT, MACKEREL, *arguments, **options)
    assert part in str(error.value)


def test_one_numeric_predictor_is_not_enough():
    with pytest.raises(ArgumentError, match="the fit has 1"):
        surface_plot(svm("y ~ x + site", MIXED), MIXED)


def test_other_data_than_those_of_the_fit():
    with pytest.raises(DataError, match="does not have the rows of the fit"):
        surface_plot(FIT, MACKEREL.head(100))
    with pytest.raises(DataError, match="does not have the rows of the fit"):
        surface_plot(FIT, MACKEREL.set_axis([f"s{k}" for k in range(634)]))
    with pytest.raises(DataError, match="no column 'lon'"):
        surface_plot(FIT, MACKEREL.drop(columns="lon"))
    with pytest.raises(ArgumentTypeError, match="DataFrame"):
        surface_plot(FIT, MACKEREL.to_dict())


def test_names_that_matplotlib_would_read_in_its_own_way():
    data = pd.DataFrame({"y": ["_a", "$b$"] * 4, "x$1$": np.arange(8.0), "$z": [1.0, 3, 2, 5, 4, 7, 6, 0]})
    ax = surface_plot(svm("y ~ Q('x$1$') + Q('$z')", data), data, grid=5)
    ax.figure.canvas.draw()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x$1$", "$z")
    assert [text.strip() for text in legend(ax)[:3:2]] in (["_a", "$b$"], ["$b$", "_a"])
