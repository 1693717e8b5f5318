"""Decision surfaces: which columns, what is held, which points."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection

from svmstat import datasets, svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError
from svmstat.reporting.plots import region_plot, surface_plot
from svmstat.reporting.plots.plane import planes

MACKEREL = datasets.load("mackerel")
FIT = svm("egg_count > 0 ~ lon + lat + b_depth", MACKEREL, C=16, gamma=0.25)
RNG = np.random.default_rng(5)
MIXED = pd.DataFrame(
    {
        "two": RNG.choice(["no", "yes"], 60),
        "three": np.resize(["cod", "eel", "hake"], 60),
        "x": RNG.normal(size=60),
        "site": RNG.choice(["a", "b", "b"], 60),
        "wet": RNG.choice([True, False], 60),
        "kind": pd.Categorical(RNG.choice(["u", "v"], 60)),
        "z": RNG.integers(1, 9, 60),
        "w": RNG.integers(0, 3, 60).astype(float),
    },
    index=[f"r{k}" for k in range(60)],
)


each_response = pytest.mark.parametrize("response", ["two", "three"])


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
    np.testing.assert_allclose(points["True, support vector"], MACKEREL.loc[chosen, ["lon", "lat"]], atol=0.2)
    once = ~MACKEREL.duplicated(["lon", "lat"], keep=False)
    at = MACKEREL.loc[chosen & once, ["lon", "lat"]].to_numpy()
    assert {tuple(row) for row in at} <= {tuple(row) for row in points["True, support vector"]}


@pytest.mark.parametrize("response", ["two", "three"])
def test_of_many_rows_some_are_drawn_and_it_says_so(response):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(2400, 2)), columns=["x", "z"])
    data["site"] = np.repeat(["a", "b"], [600, 1800])
    data.loc[:20, ["x", "z"]] = 0.5
    data["two"], data["three"] = data["x"] > 0.3, pd.cut(data["z"], [-9, -1, 1, 9], labels=["l", "m", "h"])
    fit = svm(f"{response} ~ x + z + site", data, calibration="insample")

    def rows_in(ax):
        return np.concatenate([each.get_offsets() for each in ax.collections if isinstance(each, PathCollection)])

    whole, panels = fit.plot_surface(data, at={"site": "a"}), fit.plot_surface(data, by="site")
    assert len(rows_in(whole)) == 2000
    known = set(map(tuple, data[["x", "z"]].to_numpy()))
    assert len(set(map(tuple, rows_in(whole))) - known) < 21
    assert [len(rows_in(ax)) for ax in panels] == [600, 1000]
    title, of_panels = whole.get_title(loc="left"), panels[0].figure._suptitle.get_text()
    spread = "rows at one point are spread around it"
    assert title.replace("\n", " ") == f"at site = a; 2000 of 2400 rows are drawn; {spread}"
    assert set(of_panels.replace("\n", " ").split("; ")) == {spread, "of more rows in a panel 1000 are drawn"}
    again = fit.plot_surface(data, at={"site": "a"})
    assert (rows_in(again) == rows_in(whole)).all()


def test_labels_and_what_is_held():
    ax = surface_plot(FIT, MACKEREL, grid=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("lon", "lat")
    assert ax.get_title("left") == "at b_depth = 171; rows at one point are spread around it"
    assert ax.get_legend().get_title().get_text() == "egg_count > 0:"
    assert legend(ax)[-2:] == ["f = 0", "f = ±1"]


@each_response
def test_columns_that_are_chosen_and_values_that_are_given(response):
    fit = svm(f"{response} ~ x + w + z", MIXED, weights="w")
    ax = fit.plot_surface(MIXED, "z", at={"w": 1.5})
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("z", "x")
    assert ax.get_title("left") == "at w = 1.5"
    median = MIXED["z"].repeat(MIXED["w"].astype(int)).quantile(0.5, interpolation="lower")
    title = fit.plot_surface(MIXED, "x", "w").get_title("left")
    assert title == f"at z = {median}; rows are spread over the width of their level"  # the weighted median
    assert svm(f"{response} ~ x + z", MIXED).plot_surface(MIXED).get_title("left") == ""


def test_the_zero_line_is_where_f_is_zero():
    fit = svm("egg_count > 0 ~ lon + lat", MACKEREL, C=4)
    ax = surface_plot(fit, MACKEREL, grid=200)
    zero = next(
        each for each in ax.collections if getattr(each, "levels", None) is not None and list(each.levels) == [0.0]
    )
    at = np.vstack([path.vertices for path in zero.get_paths()])
    f = fit.decision_function(pd.DataFrame(at, columns=["lon", "lat"]))
    assert f.abs().max() < 0.02


@each_response
def test_predictors_of_every_kind(response):
    fit = svm(f"{response} ~ x + site + wet + kind + np.log(z)", MIXED, weights="w")
    ax = fit.plot_surface(MIXED)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "z")
    most = {name: MIXED.groupby(MIXED[name].astype(object))["w"].sum().idxmax() for name in ("site", "wet", "kind")}
    assert ax.get_title("left") == f"at site = {most['site']}, wet = {most['wet']}, kind = {most['kind']}"
    fit.plot_surface(MIXED, at={"site": "a", "wet": False, "kind": "v"}).figure.canvas.draw()


@each_response
def test_rows_that_the_fit_left_out_are_not_drawn(response):
    gappy = MIXED.copy()
    gappy.loc["r3", "x"] = np.nan
    fit = svm(f"{response} ~ x + z", gappy, subset="site == 'b'")
    points = [each for each in fit.plot_surface(gappy).collections if isinstance(each, PathCollection)]
    assert sum(len(each.get_offsets()) for each in points) == fit.n_rows


def test_a_constant_surface():
    data = pd.DataFrame({"y": [0, 1] * 4, "x": np.repeat(range(4), 2), "z": np.repeat([1, 3, 2, 5], 2)})
    surface_plot(svm("y ~ x + z", data), data, grid=5)


@pytest.mark.parametrize(
    ("arguments", "options", "part"),
    [
        (["zz"], {}, "x='zz' is not allowed: it must be a predictor that varies ('x', 'z', 'w')"),
        (["x", "site"], {}, "y='site' is not allowed"),
        ([], {"by": "x"}, "by='x' is not allowed: it must be a predictor that goes by levels (there is none)"),
        ([], {"too_far": 0.0}, "too_far=0.0 is not allowed: it must be a number > 0"),
        (["x", "x"], {}, "x and y are both 'x': they must be different predictors."),
        ([], {"at": {"x": 1.0}}, "'x' is not among the predictors held ('w')"),
        ([], {"grid": 1}, "grid=1 is not allowed: it must be an integer >= 2"),
    ],
)
@pytest.mark.parametrize(("response", "plot"), [("two", surface_plot), ("three", region_plot)])
def test_arguments_that_are_refused(response, plot, arguments, options, part):
    with pytest.raises(ArgumentError) as error:
        plot(svm(f"{response} ~ x + z + w", MIXED), MIXED, *arguments, **options)
    assert part in str(error.value)
    assert plt.get_fignums() == []


@each_response
def test_data_that_are_refused(response):
    with pytest.raises(ArgumentError, match="a surface needs two predictors that vary; the fit has 1"):
        svm(f"{response} ~ x", MIXED).plot_surface(MIXED)
    fit = svm(f"{response} ~ x + z", MIXED)
    for other in (MIXED.head(30), MIXED.set_axis([f"s{k}" for k in range(60)])):
        with pytest.raises(DataError, match="does not have the rows of the fit"):
            fit.plot_surface(other)
    with pytest.raises(DataError, match="no column 'x'"):
        fit.plot_surface(MIXED.drop(columns="x"))
    with pytest.raises(ArgumentTypeError, match="DataFrame"):
        fit.plot_surface(MIXED.to_dict())


def test_names_that_matplotlib_would_read_in_its_own_way():
    data = pd.DataFrame({"y": ["_a", "$b$"] * 4, "x$1$": np.arange(8.0), "$z": [1.0, 3, 2, 5, 4, 7, 6, 0]})
    ax = surface_plot(svm("y ~ Q('x$1$') + Q('$z')", data), data, grid=5)
    ax.figure.canvas.draw()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x$1$", "$z")
    assert [text.strip() for text in legend(ax)[:3:2]] in (["_a", "$b$"], ["$b$", "_a"])


def test_it_is_blank_where_no_rows_are_near():
    fit = svm("egg_count > 0 ~ lon + lat", MACKEREL, C=4)
    ax = surface_plot(fit, grid=40)
    plane = planes(fit.frame, None, None, None, None, None, 0.1, 40)[0]
    scaled = [MACKEREL[name].to_numpy() / np.ptp(MACKEREL[name]) for name in ("lon", "lat")]
    x, y = np.meshgrid(plane.xs / np.ptp(MACKEREL["lon"]), plane.ys / np.ptp(MACKEREL["lat"]))
    away = np.hypot(x[..., None] - scaled[0], y[..., None] - scaled[1]).min(axis=-1)
    np.testing.assert_array_equal(plane.blank, away > 0.1)
    assert 0.1 < plane.blank.mean() < 0.9
    area = next(c for c in ax.collections if len(getattr(c, "levels", ())) > 3)
    points = np.column_stack([each.ravel() for each in np.meshgrid(plane.xs, plane.ys)])
    painted = np.any([path.contains_points(points) for path in area.get_paths()], axis=0)
    assert not painted[plane.blank.ravel()].any() and painted.mean() > 0.2


def test_rows_at_one_point_are_spread_and_stay_near():
    data = pd.DataFrame({"y": [0, 1] * 30, "x": np.resize([1, 2, 3], 60), "z": np.repeat([1.0, 5.0, 9.0], 20)})
    fit = svm("y ~ x + z", data)
    plane = planes(fit.frame, None, None, None, None, None, 0.1, 5)[0]
    assert (
        plane.note == "rows at one point are spread around it" and len(np.unique(plane.places.round(12), axis=0)) == 60
    )
    moved = (plane.places - data[["x", "z"]].to_numpy()) / [2.0, 8.0]
    assert np.hypot(*moved.T).max() < 0.35 * 0.5  # of the way to the next point
    np.testing.assert_array_equal(plane.places, planes(fit.frame, data, None, None, None, None, 0.1, 5)[0].places)


@each_response
def test_levels_on_an_axis_and_in_panels(response):
    fit = svm(f"{response} ~ x + site + wet + z", MIXED, weights="w")
    ax = fit.plot_surface(x="x", y="site")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]
    ax = fit.plot_surface(x="wet", y="site")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["False", "True"]
    axes = fit.plot_surface(by="site")
    assert [each.get_title("left") for each in axes] == ["site = a", "site = b"]
    used = MIXED["w"] > 0
    for each, level in zip(axes, "ab", strict=True):
        drawn = [c for c in each.collections if isinstance(c, PathCollection)]
        assert sum(len(c.get_offsets()) for c in drawn) == (used & (MIXED["site"] == level)).sum()
    with pytest.raises(ArgumentError, match="by='x' is not allowed"):
        fit.plot_surface(by="x")


@pytest.mark.parametrize("rare", ["yes", "no"])
def test_probabilities_of_rare_events_have_steps_of_their_own(rare):
    """All are in the first tenth, or the last, which would be one colour."""
    rng = np.random.default_rng(10)
    data = pd.DataFrame(rng.normal(size=(600, 2)), columns=["x", "z"])
    hit = rng.random(600) < 0.02 * np.exp(data["x"] - 0.5)
    data["y"] = np.where(hit == (rare == "yes"), "yes", "no")
    fit = svm("y ~ x + z", data, event="yes", class_weight="balanced", gamma=0.05)
    p = fit.predict_proba(data)["yes"]
    assert (p.max() < 0.1) if rare == "yes" else (p.min() > 0.9)
    areas = next(c for c in fit.plot_surface(on="prob", too_far=0.05).collections if len(getattr(c, "levels", ())) > 3)
    assert len(areas.levels) >= 5 and areas.levels.min() >= 0.0 and areas.levels.max() <= 1.0
    assert np.ptp(areas.levels) < 3.0 * np.ptp(p) < 0.3


@each_response
def test_probabilities(response):
    fit = svm(f"{response} ~ x + z", MIXED)
    axes = np.ravel(fit.plot_surface(on="prob", too_far=np.inf))
    axes[0].figure.canvas.draw()
    assert len(axes) == (1 if response == "two" else 3)
    areas = next(c for c in axes[0].collections if len(getattr(c, "levels", ())) > 3)
    np.testing.assert_allclose(areas.levels, np.linspace(0, 1, 11))
    if response == "three":
        assert [ax.get_title("left") for ax in axes] == [f"P(three = {level})" for level in fit.classes]
        with pytest.raises(ArgumentError, match="a panel each"):
            svm("three ~ x + z + site", MIXED).plot_surface(by="site", on="prob")
    with pytest.raises(ArgumentError, match="on='odds' is not allowed"):
        fit.plot_surface(on="odds")


def test_only_lines_that_are_drawn_are_in_the_legend():
    sure = svm("two ~ x + z", MIXED, C=1e-3, weights=np.where(MIXED["two"] == "yes", 9.0, 1.0))
    assert sure.decision_values.min() > 0
    assert "f = 0" not in legend(surface_plot(sure)) and "f = 0" in legend(surface_plot(FIT, grid=20))


def test_lines_that_are_drawn_in_one_panel_are_in_the_legend_of_all():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=90), "z": rng.normal(size=90), "g": np.repeat(list("abc"), 30)})
    sure = data["g"] == "a"
    fit = svm("y ~ x + z + g", data.assign(y=sure | (data["x"] > 0)), C=10)
    axes = fit.plot_surface(x="x", y="z", by="g")
    panels = [ax.get_legend_handles_labels()[1] for ax in axes]
    assert "f = 0" not in panels[0] and "f = 0" in panels[1]
    (shown,) = axes[0].figure.legends
    names = [text.get_text() for text in shown.get_texts()]
    assert sorted(names) == sorted(set().union(*panels))


@pytest.mark.parametrize("value", [None, np.nan, pd.NaT])
def test_what_is_held_has_a_value(value):
    with pytest.raises(ArgumentError, match="'z' must be held at a value"):
        svm("y ~ x + w + z", MIXED.assign(y=np.arange(len(MIXED)) % 2)).plot_surface(x="x", y="w", at={"z": value})


def test_the_legend_is_below_long_names_of_levels():
    rng = np.random.default_rng(0)
    names = ["less than primary school", "primary school", "secondary school, lower", "university, master degree"]
    data = pd.DataFrame({"age": rng.normal(size=80), "school": rng.choice(names, 80), "y": np.arange(80) % 2})
    ax = svm("y ~ age + school", data).plot_surface(x="school", y="age")
    ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert not any(label.get_window_extent().overlaps(legend) for label in ax.get_xticklabels())
    plt.close(ax.figure)


@pytest.mark.parametrize("K", [2, 3])
def test_of_many_rows_no_class_is_drawn_over_all_others(K):
    """They are drawn in turn, a part of each at a time; all rows are there, and each name once."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(1500, 2)), columns=["x", "z"]).assign(y=np.sort(np.arange(1500) % K))
    ax = svm("y ~ x + z", data.sample(frac=1.0, random_state=0)).plot_surface()
    drawn = [each for each in ax.collections if isinstance(each, PathCollection)]
    assert sum(len(each.get_offsets()) for each in drawn) == 1500
    assert max(len(each.get_offsets()) for each in drawn) < 1500 / K / 10
    labels = ax.get_legend_handles_labels()[1]
    assert len(labels) == len(set(labels))
    plt.close(ax.figure)


@pytest.mark.parametrize(("value", "message"), [("q", "has new level"), ("a", None)])
def test_levels_that_the_others_cannot_be_held_at(value, message):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=40), "z": rng.normal(size=40), "k": rng.choice(list("ab"), 40)})
    data["y"] = data["x"] > 0.3
    fit = svm("y ~ x + z + k", data)
    if message is None:
        fit.plot_surface(at={"k": value})
        return
    with pytest.raises(ArgumentError, match=rf"at=\{{'k': 'q'\}} is not allowed: column 'k' {message}"):
        fit.plot_surface(at={"k": value})
    for wrong in ("a", np.inf):
        with pytest.raises(ArgumentError, match=r"at=\{'z': .* is not allowed: column 'z'"):
            fit.plot_surface(x="x", y="k", at={"z": wrong})


def test_a_value_of_which_the_formula_makes_no_number():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=40), "z": rng.normal(size=40), "d": rng.random(40) + 1.0})
    data["y"] = data["x"] > 0.3
    fit = svm("y ~ x + z + np.log(d)", data)
    with pytest.raises(ArgumentError, match=r"at=\{'d': -1\} is not allowed: what the formula makes of it"):
        fit.plot_surface(x="x", y="z", at={"d": -1})
