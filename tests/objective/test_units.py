"""What belongs together: sums over units, parts of them, and an order that depends on nothing but what they hold."""

import numpy as np
import pytest

from svmstat.objective.predictive import auc, brier, calibration_line, proportion, score, spread
from svmstat.objective.units import Units, units_of

UNITS = Units(np.array([1, -1, 0, 1, 2]), 3, True)
VALUES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def test_sums_and_what_the_others_have():
    np.testing.assert_array_equal(UNITS.sums(VALUES), [4.0, 9.0, 16.0])
    np.testing.assert_array_equal(UNITS.others(VALUES), [20.0, 29.0, 25.0, 20.0, 13.0])
    np.testing.assert_array_equal(UNITS.sums(np.column_stack([VALUES, -VALUES]))[:, 1], [-4.0, -9.0, -16.0])
    assert [rows.tolist() for rows in UNITS] == [[2], [0, 3], [4]]


def test_parts_have_units_of_their_own():
    some = UNITS.among(np.array([True, False, False, True, True]))
    assert some.of_row.tolist() == [0, 0, 1] and some.count == 2
    kept = UNITS.kept(np.array([0.0, 1.0, 1.0, 1.0, 0.0]))
    assert kept.of_row.tolist() == [-1, -1, 0, 1, -1] and kept.count == 2


def test_order_is_that_of_what_they_hold():
    rng = np.random.default_rng(1)
    labels, place, w = rng.integers(0, 9, 60), rng.integers(0, 30, 60), rng.integers(1, 3, 60).astype(float)
    found, order = units_of(labels, w, True, place), rng.permutation(60)
    again = units_of((7 * labels % 10)[order], w[order], True, place[order])
    np.testing.assert_array_equal(found.of_row[order], again.of_row)


def test_a_row_of_weight_two_stands_where_two_rows_do():
    rng = np.random.default_rng(2)
    labels, place, times = rng.integers(0, 9, 60), rng.integers(0, 6, 60), rng.integers(1, 4, 60)
    weighted = units_of(labels, times.astype(float), True, place)
    repeated = units_of(np.repeat(labels, times), np.ones(times.sum()), True, np.repeat(place, times))
    np.testing.assert_array_equal(np.repeat(weighted.of_row, times), repeated.of_row)


def test_copies_need_no_units():
    place = np.arange(4)
    assert units_of(None, np.array([2.0, 1.0, 0.5, 0.0]), True, place) is None
    assert units_of(place, np.array([1.0, 1.0, 1.0, 0.0]), True, place) is None
    assert units_of(None, np.ones(4), False, place) is None
    assert units_of(place, np.array([2.0, 1.0, 1.0, 1.0]), True, place).count == 4
    assert not units_of(None, np.array([2.0, 1.0, 1.0, 0.0]), False, place).grouped


@pytest.mark.parametrize("estimate", [score, brier, proportion, auc], ids=lambda each: each.__name__)
def test_units_of_one_row_have_the_standard_errors_of_rows(estimate):
    rng = np.random.default_rng(2)
    p, event, w = rng.uniform(size=50), rng.random(50) < 0.4, np.ones(50)
    given = {
        score: (np.log(p),), brier: (np.column_stack([1 - p, p]), event.astype(int)), proportion: (event,),
        auc: (p, event),
    }[estimate]  # fmt: skip
    found = estimate(*given, w, Units(rng.permutation(50), 50, True))
    np.testing.assert_allclose(found, estimate(*given, w), rtol=1e-12)


def test_copies_of_a_row_in_one_unit_say_no_more_than_the_row():
    rng = np.random.default_rng(3)
    p, event = rng.uniform(0.1, 0.9, 80), rng.random(80) < 0.4
    five, units = np.repeat(np.arange(80), 5), Units(np.repeat(np.arange(80), 5), 80, True)
    once, many = np.ones(80), np.ones(400)
    alone = Units(np.arange(80), 80, True)
    assert auc(p[five], event[five], many, units).se == pytest.approx(auc(p, event, once, alone).se, rel=0.02)
    lines = calibration_line(p[five], event[five], many, units), calibration_line(p, event, once, alone)
    assert lines[0].slope.se == pytest.approx(lines[1].slope.se, rel=1e-6)
    assert proportion(event[five], many, units).se == pytest.approx(proportion(event, once).se, rel=0.01)


def test_one_unit_has_no_spread():
    assert np.isnan(spread(np.array([1.0, -1.0]), np.ones(2), Units(np.zeros(2, int), 1, True)))


@pytest.mark.parametrize("holding", [3, 9])
def test_the_area_under_the_curve_of_groups_is_that_of_obuchowski(holding):
    """Clustered ROC data, her equations 4 to 6: few of 30 groups hold an event."""
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(30), 4)
    event = (group < holding) & (rng.random(120) < 0.7)
    values = (rng.normal(size=120) + event + rng.normal(size=30)[group]).round(1)
    one, other = values[event], values[~event]
    wins = (one[:, None] > other) + 0.5 * (one[:, None] == other)
    area, each = wins.mean(), np.arange(30)
    x = np.array([(wins.mean(axis=1) - area)[group[event] == g].sum() for g in each])
    y = np.array([(wins.mean(axis=0) - area)[group[~event] == g].sum() for g in each])
    ones, others = len(set(group[event])), len(set(group[~event]))
    s10, s01 = ones / (ones - 1) * x @ x / len(one), others / (others - 1) * y @ y / len(other)
    s11 = 30 / 29 * x @ y
    expected = np.sqrt(s10 / len(one) + s01 / len(other) + 2 * s11 / (len(one) * len(other)))
    found = auc(values, event, np.ones(120), Units(group, 30, True))
    assert found.value == pytest.approx(area)
    assert found.se == pytest.approx(expected)
    alone = auc(values, event, np.ones(120), Units(np.arange(120), 120, True))
    assert alone.se == pytest.approx(auc(values, event, np.ones(120)).se)
