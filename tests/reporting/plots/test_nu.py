"""Figures of searches that control the errors: what is drawn where, what is marked, what is left blank."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex

from svmstat.reporting.plots.nu import roc_plot, share_surface_plot
from svmstat.reporting.plots.style import ACCENT
from svmstat.tuning.smoothing import smooth

NU = np.array([0.25, 0.5, 0.75, 1.0])
EVENT, OTHER = np.meshgrid(NU, NU[1:])
SCORE = (EVENT - 0.5) ** 2 + (OTHER - 0.75) ** 2
LOWEST = (1, 1)


def marks(ax):
    return [line.get_xydata().tolist()[0] for line in ax.lines if line.get_marker() == "o"]


# -- the surface -------------------------------------------------------------------------------------------------------


def test_surface_with_the_point_that_was_chosen():
    ax = share_surface_plot(EVENT, OTHER, SCORE, LOWEST, what="max(P_F, P_M)", held="gamma = 2")
    assert marks(ax) == [[0.5, 0.75]]
    assert to_hex(ax.lines[-1].get_color()) == ACCENT
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ν of the event", "ν of the other level")
    assert ax.get_title("left") == "max(P_F, P_M): 0 at gamma = 2"
    assert (ax.get_xlim(), ax.get_ylim()) == ((0.0, 1.0), (0.0, 1.0))
    filled, outlined = ax.collections
    assert filled.filled and not outlined.filled
    assert filled.levels[0] <= SCORE.min() and filled.levels[-1] >= SCORE.max()
    np.testing.assert_array_equal(filled.levels, outlined.levels)
    ax.figure.canvas.draw()


def test_without_other_parameters_there_is_no_at():
    ax = share_surface_plot(EVENT, OTHER, SCORE + 0.125, LOWEST, what="score")
    assert ax.get_title("left") == "score: 0.125"


def test_points_without_a_score_are_left_blank():
    """The filled area does not reach where ν of the event is 0.25."""
    score = np.where(EVENT == 0.25, np.nan, SCORE)
    ax = share_surface_plot(EVENT, OTHER, score, LOWEST, what="score")
    filled = ax.collections[0]
    points = np.concatenate([path.vertices for path in filled.get_paths() if len(path.vertices)])
    assert points[:, 0].min() == pytest.approx(0.5)
    ax.figure.canvas.draw()


def test_few_points_are_drawn_as_points():
    score = np.full(SCORE.shape, np.nan)
    score[1], score[0, 1] = SCORE[1], SCORE[0, 1]
    ax = share_surface_plot(EVENT, OTHER, score, LOWEST, what="score")
    (points,) = (each for each in ax.collections if isinstance(each, PathCollection))
    known = np.isfinite(score)
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([EVENT[known], OTHER[known]]))
    np.testing.assert_array_equal(points.get_array(), score[known])
    assert ax.figure.axes[1].get_ylabel() == "score"
    assert marks(ax) == [[0.5, 0.75]]
    ax.figure.canvas.draw()


LOWERED = [0.1 - shift * np.outer([0, 0, 1], [0, 0, 0, 1]) for shift in (0.0, 1e-17, 2e-17, 1e-16, 1e-15)]


@pytest.mark.parametrize("score", [*LOWERED, smooth(np.full((1, 3, 4), 0.1), "2d")[0]])
def test_a_surface_that_is_flat_but_for_rounding(score):
    ax = share_surface_plot(EVENT, OTHER, score, (2, 3), what="score")
    assert marks(ax) == [[1.0, 1.0]]
    ax.figure.canvas.draw()


def test_one_row_is_a_line():
    ax = share_surface_plot(EVENT[:1], OTHER[:1], SCORE[:1], (0, 2), what="score", held="gamma = 2")
    curve, mark = ax.lines
    np.testing.assert_array_equal(curve.get_xydata(), np.column_stack([NU, SCORE[0]]))
    np.testing.assert_array_equal(mark.get_xydata(), [[0.75, SCORE[0, 2]]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ν of the event", "score")
    assert ax.get_title("left") == f"score: {SCORE[0, 2]:.4g} at gamma = 2"
    ax.figure.canvas.draw()


def test_a_line_breaks_where_there_is_no_score():
    score = np.array([[0.5, np.nan, 0.3, 0.4]])
    ax = share_surface_plot(EVENT[:1], OTHER[:1], score, (0, 2), what="score")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), score[0])


@pytest.mark.parametrize(("rows", "columns"), [(3, 1), (1, 1), (2, 1), (2, 2)])
def test_small_grids(rows, columns):
    at = np.s_[:rows, :columns]
    ax = share_surface_plot(EVENT[at], OTHER[at], SCORE[at], (rows - 1, 0), what="score")
    assert len(marks(ax)) == 1
    ax.figure.canvas.draw()


# -- the attainable rates ----------------------------------------------------------------------------------------------

P_F = np.array([0.3, 0.1, 0.1, 0.5, 0.2, 0.5, 0.9])
P_M = np.array([0.2, 0.6, 0.7, 0.2, 0.3, 0.1, 0.1])


def line_of(ax, label):
    (found,) = (line for line in ax.lines if line.get_label() == label)
    return found


def test_the_best_attainable_are_joined():
    ax = roc_plot(P_F, P_M, (0.2, 0.3))
    np.testing.assert_array_equal(line_of(ax, "grid points").get_xydata(), np.column_stack([P_F, P_M]))
    stairs = line_of(ax, "best attainable")
    np.testing.assert_array_equal(stairs.get_xydata(), [[0.1, 0.6], [0.2, 0.3], [0.3, 0.2], [0.5, 0.1]])
    assert stairs.get_drawstyle() == "steps-post"  # between two points the misses of the left one can be had
    np.testing.assert_array_equal(line_of(ax, "chance").get_xydata(), [[0, 1], [1, 0]])
    assert marks(ax) == [[0.2, 0.3]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false alarms, P_F", "misses, P_M")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["chance", "grid points", "best attainable", "chosen"]
    ax.figure.canvas.draw()


def test_no_joined_point_is_beaten():
    rng = np.random.default_rng(1)
    p_f, p_m = rng.integers(0, 12, (2, 60)) / 11.0
    joined = line_of(roc_plot(p_f, p_m, (0.5, 0.5)), "best attainable").get_xydata()
    beaten = [((p_f <= f) & (p_m <= m) & ((p_f < f) | (p_m < m))).any() for f, m in zip(p_f, p_m, strict=True)]
    best = np.unique(np.column_stack([p_f, p_m])[~np.array(beaten)], axis=0)
    np.testing.assert_array_equal(joined, best)


def test_the_level_of_a_constraint():
    ax = roc_plot(P_F, P_M, (0.2, 0.3), level=0.25)
    level = line_of(ax, "P_F = 0.25")
    np.testing.assert_array_equal(level.get_xdata(), [0.25, 0.25])
    assert level.get_linestyle() == "--"


def test_one_point_and_none():
    ax = roc_plot([0.2], [0.3], (0.2, 0.3))
    np.testing.assert_array_equal(line_of(ax, "best attainable").get_xydata(), [[0.2, 0.3]])
    ax.figure.canvas.draw()
    nothing = roc_plot([], [], (0.2, 0.3))
    assert len(line_of(nothing, "best attainable").get_xdata()) == 0
    nothing.figure.canvas.draw()


# -- both --------------------------------------------------------------------------------------------------------------


def test_inputs_are_not_changed():
    score, p_f, p_m = SCORE.copy(), P_F.copy(), P_M.copy()
    share_surface_plot(EVENT, OTHER, score, LOWEST, what="score")
    roc_plot(p_f, p_m, (0.2, 0.3))
    for array, before in ((score, SCORE), (p_f, P_F), (p_m, P_M)):
        np.testing.assert_array_equal(array, before)
