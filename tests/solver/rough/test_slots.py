"""Kernel rows in slots: whatever was replaced or left out, what stands there is the row."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from problems import Counting, seeds

from svmstat.kernels import RBF
from svmstat.solver import Gram
from svmstat.solver.rough import slots as module
from svmstat.solver.rough.slots import Slots

N = 60
X = np.random.default_rng(7).normal(size=(N, 3))
K = RBF(0.4).bind(X).gram().astype(np.float32)


def slots_of(rows, number):
    """Slots for so many of the rows, and the source that counts what they ask for."""
    source = Counting(RBF(0.4).bind(X))
    return Slots(Gram(source, budget=0), rows, np.empty(number * len(rows), np.float32)), source


def assert_rows(slots):
    """Every row that has a slot stands in it, no two in the same."""
    held = np.flatnonzero(slots.slot_of >= 0)
    np.testing.assert_array_equal(slots.values[slots.slot_of[held]], K[np.ix_(slots.rows[held], slots.rows)])
    assert len(np.unique(slots.slot_of[held])) == len(held)
    return held


def test_the_row_asked_for_longest_ago_makes_place():
    slots, source = slots_of(np.arange(0, N, 2), 3)
    for clock, place in enumerate((4, 9, 20)):
        slots.fetch(place, clock)
    slots.used[slots.slot_of[4]] = 3
    slots.fetch(11, 4)
    np.testing.assert_array_equal(assert_rows(slots), [4, 11, 20])
    assert source.asked == 4 * N


def test_two_slots_at_least():
    slots, _ = slots_of(np.arange(N), 0)
    assert slots.values.shape == (2, N)
    for clock, place in enumerate((3, 5, 7)):
        slots.fetch(place, clock)
    np.testing.assert_array_equal(assert_rows(slots), [5, 7])


def test_the_more_rows_are_asked_for_the_more_slots_are_used(monkeypatch):
    monkeypatch.setattr(module, "_AT_FIRST", 2 * N)
    slots, _ = slots_of(np.arange(N), 4)
    used = []
    for clock, place in enumerate(range(20, 40)):
        slots.fetch(place, clock)
        used.append(len(assert_rows(slots)))
    assert used == [1, 2, 2, 3, 3, 3, 3, *[4] * 13]
    np.testing.assert_array_equal(assert_rows(slots), [36, 37, 38, 39])


@given(seed=seeds, number=st.integers(2, 12), at_first=st.integers(1, 8 * N))
def test_rows_that_are_left_out_take_nothing_along(seed, number, at_first):
    with patch.object(module, "_AT_FIRST", at_first):
        leave_out(seed, number)


def leave_out(seed, number):
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(N) < 0.7)
    slots, source = slots_of(rows, number)
    clock = 0
    while len(slots.rows) > 2:
        for place in rng.integers(0, len(slots.rows), 8):
            clock += 1
            if slots.slot_of[place] < 0:
                slots.fetch(int(place), clock)
        held = assert_rows(slots)
        keep = np.flatnonzero(rng.random(len(slots.rows)) < 0.6)
        stay, asked, used = np.isin(keep, held), source.asked, slots.used[slots.slot_of[keep]]
        slots.narrow(keep)
        np.testing.assert_array_equal(assert_rows(slots), np.flatnonzero(stay))
        np.testing.assert_array_equal(slots.used[slots.slot_of[stay]], used[stay])
        assert source.asked == asked
