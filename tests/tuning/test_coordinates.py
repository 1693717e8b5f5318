"""Descent along coordinates."""

import numpy as np
import pytest

from svmstat.tuning.coordinates import LINES, REACH, descend


def counted(function):
    asked = []

    def scores(points):
        asked.extend(tuple(each) for each in points)
        return [function(np.log2(each)) for each in points]

    return scores, asked


def test_the_least_of_a_bowl_is_found_and_no_point_scored_twice():
    scores, asked = counted(lambda at: 1.0 + float(((at - [2.5, -7.0, 0.0]) ** 2).sum()))
    np.testing.assert_allclose(np.log2(descend(scores, np.ones(3))), [2.5, -7.0, 0.0], atol=1e-12)
    assert len(asked) == len(set(asked))


def test_points_without_a_score_are_passed_over():
    scores, _ = counted(lambda at: np.nan if at[0] < 3.0 else float(at[0]))
    assert np.log2(descend(scores, np.array([16.0])))[0] == pytest.approx(3.0)


def test_no_number_leaves_its_reach():
    scores, asked = counted(lambda at: 1e6 - 1e4 * float(at.sum()))
    np.testing.assert_array_equal(np.log2(descend(scores, np.ones(2))), [REACH, REACH])
    assert np.log2(np.array(asked)).max() == REACH


def test_what_is_hardly_better_is_no_better():
    scores, _ = counted(lambda at: 1.0 + 1e-6 * float(abs(at[0] - 3.0)))
    assert descend(scores, np.ones(1)).tolist() == [1.0]


def test_the_reach_is_counted_from_the_start():
    """A cost of 2^15 is moved like any other."""
    scores, asked = counted(lambda at: 1.0 + float(abs(at[0] - 17.0)))
    assert np.log2(descend(scores, np.array([2.0**15])))[0] == pytest.approx(17.0)
    assert min(np.log2(np.array(asked)).ravel()) >= 11.0


def test_where_a_little_has_led_somewhere_large_moves_are_tried_again():
    """Past half a power of the first number the second has a better place, four powers away, and only there."""

    def score(at):
        far = at[0] >= 0.5 and abs(at[1]) >= 4.0
        return 10.0 + abs(at[0] - 0.5) - 5.0 * far + (abs(at[1]) > 0.0) * (not far)

    scores, asked = counted(score)
    end = np.log2(descend(scores, np.ones(2)))
    assert score(end) == 5.0
    assert all(score(end + by * np.eye(2)[k]) >= 5.0 for line in LINES for by in line for k in range(2))
    assert len(asked) == len(set(asked))
