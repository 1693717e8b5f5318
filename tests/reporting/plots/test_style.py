"""Where figures come from: the given axes or new ones."""

import matplotlib.pyplot as plt
import pytest

from svmstat.reporting.plots import calibration_plot, index_plot, replicates_plot, svg
from svmstat.reporting.plots.style import drawing

DRAW = {
    "index": lambda ax: index_plot([0.1, 5.0, 0.3], "abc", 3.84, level=0.95, ax=ax),
    "histogram": lambda ax: replicates_plot([1.0, 2.0, 3.0], 2.5, 2.9, level=0.95, ax=ax),
    "calibration": lambda ax: calibration_plot([0.1, 0.4, 0.8], [False, True, True], [1, 1, 1], ax=ax),
}


@pytest.mark.parametrize("name", DRAW)
def test_draws_into_the_given_axes(name):
    figure, (left, right) = plt.subplots(1, 2)
    assert DRAW[name](right) is right
    assert not left.has_data() and right.has_data()
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("name", DRAW)
def test_makes_a_figure(name):
    ax = DRAW[name](None)
    assert plt.get_fignums() == [ax.figure.number]
    assert ax.get_xlabel() and ax.get_ylabel()


@pytest.mark.parametrize("name", DRAW)
def test_svg_leaves_no_figure_and_is_the_same_each_time(name):
    first, second = svg(DRAW[name]), svg(DRAW[name])
    assert first == second
    assert first.rstrip().endswith("</svg>")
    assert plt.get_fignums() == []


def test_the_style_of_the_user_is_untouched():
    before = dict(plt.rcParams)
    with drawing(None) as ax:
        assert not ax.spines["top"].get_visible()
    assert dict(plt.rcParams) == before


def test_what_the_first_figure_switches_on_stays_on():
    """In a notebook it makes matplotlib interactive; undone, no later figure would be shown."""
    assert not plt.isinteractive()
    before = plt.rcParams["font.size"]
    with drawing(None):
        plt.ion()
    assert plt.isinteractive() and plt.rcParams["font.size"] == before
    plt.ioff()
