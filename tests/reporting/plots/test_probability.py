"""Probabilities against decision values: the band, the maps, the lines of the rule, the rows."""

import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.calibration import POINTWISE, pointwise, probability_interval
from svmstat.reporting.plots import probability_plot

GRID = np.linspace(-2.0, 2.0, 41)
LOW, HIGH = np.clip(GRID / 4 + 0.4, 0, 1), np.clip(GRID / 4 + 0.6, 0, 1)
MAPS = {"Platt": GRID / 4 + 0.5, "sollich": GRID / 5 + 0.5}
F, EVENT = np.array([-1.5, -0.2, 0.3, 1.8]), np.array([False, True, False, True])


def band(ax):
    """Lower and upper edge of the band at the points of the grid."""
    vertices = ax.collections[0].get_paths()[0].vertices
    at = np.unique(vertices[:, 0])
    sides = [vertices[vertices[:, 0] == x, 1] for x in at]
    return at, np.array([side.min() for side in sides]), np.array([side.max() for side in sides])


def curves(ax):
    return {line.get_label(): line.get_ydata() for line in ax.lines if not line.get_label().startswith("_")}


def ticks(ax):
    """Decision values of the rows that are marked above and below."""
    marked = [line for line in ax.lines if line.get_marker() == "|"]
    return {float(line.get_ydata()[0]) > 0.5: line.get_xdata() for line in marked if len(line.get_xdata())}


def test_the_band_and_the_maps():
    ax = probability_plot(GRID, LOW, HIGH, MAPS, F, EVENT, 0.3)
    at, low, high = band(ax)
    np.testing.assert_allclose(at, GRID)
    np.testing.assert_allclose(low, LOW)
    np.testing.assert_allclose(high, HIGH)
    assert list(curves(ax)) == list(MAPS)
    for label, values in MAPS.items():
        np.testing.assert_array_equal(curves(ax)[label], values)
    named = "loss-implied interval\n(no confidence interval)"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [named, *MAPS]
    assert len({line.get_linestyle() for line in ax.lines[:2]}) == 2


def test_rows_by_class():
    marked = ticks(probability_plot(GRID, LOW, HIGH, MAPS, F, EVENT, 0.3))
    np.testing.assert_array_equal(marked[True], F[EVENT])
    np.testing.assert_array_equal(marked[False], F[~EVENT])


def test_the_lines_of_the_rule_and_the_labels():
    ax = probability_plot(GRID, LOW, HIGH, MAPS, F, EVENT, 0.3)
    straight = [(list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines]
    assert ([0.0, 0.0], [0, 1]) in straight and ([0, 1], [0.3, 0.3]) in straight
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("decision value f", "P(event)")
    assert "P0 = 0.3" in ax.get_title("left")
    assert ax.get_xlim() == (-2.0, 2.0)


# -- of a fit ----------------------------------------------------------------------------------------------------------


def sample(n=60):
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, n))
    y = np.where(x + z**2 + rng.normal(size=n) > 1.5, "sick", "well")
    return pd.DataFrame({"x": x, "z": z, "y": y})


@pytest.mark.parametrize("options", [{}, {"costs": {"fn": 8}}, {"loss": "p0", "costs": {"fp": 8}}], ids=str)
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_of_a_fit(options, C):
    fit = svm("y ~ x + z", sample(), event="sick", C=C, **options)
    ax, loss = fit.plot_probability(), fit.machine.pairs[0].loss
    grid, low, high = band(ax)
    assert grid[0] <= -loss.margin_other and grid[-1] >= loss.margin_event  # the whole band is seen
    assert np.mean((fit.decision_values >= grid[0]) & (fit.decision_values <= grid[-1])) >= 0.95
    expected = probability_interval(grid, loss)
    np.testing.assert_allclose(low, expected[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(high, expected[1], rtol=0, atol=1e-12)
    drawn = curves(ax)
    assert list(drawn) == ["Platt", *POINTWISE]
    np.testing.assert_allclose(drawn["Platt"], fit.calibration.probability(grid), rtol=1e-12)
    for kind in POINTWISE:
        np.testing.assert_allclose(drawn[kind], pointwise(grid, loss, kind), rtol=1e-12)
    assert f"P0 = {fit.threshold:.3g}" in ax.get_title("left")


def test_the_rows_of_a_fit():
    fit = svm("y ~ x + z", sample(), event="sick")
    ax = fit.plot_probability()
    f, marked = fit.decision_values, ticks(ax)
    shown = f.abs() <= ax.get_xlim()[1]
    np.testing.assert_array_equal(marked[True], f[shown & (sample()["y"] == "sick")])
    np.testing.assert_array_equal(marked[False], f[shown & (sample()["y"] == "well")])
    assert fit.plot_probability(ax) is ax


def test_rows_of_weight_zero_are_not_there_and_those_further_out_are_counted():
    data = sample()
    data["y"] = np.where(data["x"] + data["z"] > 0.0, "sick", "well")
    data["w"] = np.where(np.arange(60) % 7, 1.0, 0.0)
    data.loc[data.index % 7 == 0, "x"] *= 50.0
    data.loc[1, "x"] *= 50.0  # of weight one, and far out
    options = {"event": "sick", "kernel": "linear", "scale": False}
    weighted = svm("y ~ x + z", data, weights="w", **options).plot_probability()
    plain = svm("y ~ x + z", data[data["w"] > 0], **options).plot_probability()
    assert weighted.get_xlim() == pytest.approx(plain.get_xlim(), rel=1e-6)
    for side, f in ticks(plain).items():
        np.testing.assert_allclose(ticks(weighted)[side], f, rtol=1e-6)
    assert sum(map(len, ticks(plain).values())) == 50
    assert plain.get_title("left").endswith("below;\n1 row further out")


def test_a_constant_function():
    data = pd.DataFrame({"y": [0, 1, 0, 1, 0, 1, 0, 1], "x": np.repeat(range(4), 2)})
    svm("y ~ x", data).plot_probability().figure.canvas.draw()


@pytest.mark.parametrize(("n", "is_image"), [(2000, False), (2001, True)])
def test_the_marks_of_many_rows_are_an_image(n, is_image):
    """As lines of their own they made a file of three megabytes of 20 000 rows."""
    f = np.random.default_rng(0).normal(size=n)
    ax = probability_plot(GRID, LOW, HIGH, MAPS, f, f > 0.0, 0.5)
    assert {bool(line.get_rasterized()) for line in ax.lines if line.get_marker() == "|"} == {is_image}
    assert not any(line.get_rasterized() for line in ax.lines if line.get_marker() != "|")
