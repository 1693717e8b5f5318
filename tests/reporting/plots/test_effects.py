"""What stands below the axes of effects."""

from itertools import pairwise

import pytest
from matplotlib import pyplot as plt

from svmstat.reporting.plots.effects import level_ticks


@pytest.mark.parametrize(("width", "turned"), [(6.4, False), (2.4, True)])
def test_names_of_levels_do_not_run_into_each_other(width, turned):
    fig, ax = plt.subplots(figsize=(width, 3.0))
    ax.set_xlim(-0.5, 2.5)
    level_ticks(ax, ["ex-smoker", "never", "smoker"])
    fig.canvas.draw()
    labels = ax.get_xticklabels()
    assert [label.get_rotation() == 90 for label in labels] == [turned] * 3
    boxes = [label.get_window_extent() for label in labels]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    plt.close(fig)
