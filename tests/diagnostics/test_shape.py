"""How numbers of pairs and classes are shown."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from svmstat.diagnostics.shape import Shape

INDEX = pd.Index(["r", "s"])


def shape(levels, pairs, event_code=None):
    return Shape(SimpleNamespace(levels=levels, pairs=pairs, event_code=event_code, name="y"))


@pytest.fixture(params=[0, 1])
def two(request):
    event = request.param
    return shape(["a", "b"], [(event, 1 - event)], event)


@pytest.fixture
def three():
    return shape(["a", "b", "c"], [(0, 1), (0, 2), (1, 2)])


def test_numbers_of_classes(two, three):
    event, p = two.response.event_code, np.array([[0.1, 0.9], [0.3, 0.7]])
    assert two.shown == [event] and three.shown == [0, 1, 2]
    assert two.of_classes(p, INDEX, "p").to_dict() == {"r": p[0, event], "s": p[1, event]}
    q = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    of_levels = {"a": {"r": 0.1, "s": 0.3}, "b": {"r": 0.2, "s": 0.3}, "c": {"r": 0.7, "s": 0.4}}
    assert three.of_classes(q, INDEX, "p").to_dict() == of_levels


def test_what_belongs_to_pairs(two, three):
    assert three.pairs.names == ["positive", "negative"]
    assert three.pairs.tolist() == [("a", "b"), ("a", "c"), ("b", "c")]
    terms = pd.Index(["x", "z"])
    assert two.of_each_pair(terms).tolist() == ["x", "z"]
    each = three.of_each_pair(terms)
    assert each.names == ["positive", "negative", "term"]
    assert each.tolist()[:3] == [("a", "b", "x"), ("a", "b", "z"), ("a", "c", "x")]
    assert two.numbers([2.0], "margin") == 2.0 and three.numbers([1.0, 2.0, 3.0], "margin")["b", "c"] == 3.0
    assert two.intervals([(1.0, 2.0)]) == (1.0, 2.0)
    ends = three.intervals([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)])
    assert ends.loc[("a", "c")].to_dict() == {"low": 3.0, "high": 4.0}


def test_counts_of_either_class(two, three):
    """Of two levels in the order of the levels, whichever of them is the first of the pair."""
    found = two.counts(np.array([[[5.0, 1.0], [7.0, 2.0]]]), ["rows", "free"])
    first = "ab"[two.response.event_code]
    assert found.loc[first].tolist() == [5.0, 1.0] and found.index.tolist() == ["a", "b"]
    counts = np.arange(12.0).reshape(3, 2, 2)
    assert three.counts(counts, ["rows", "free"]).loc[("a", "c")].tolist() == [4.0 + 6.0, 5.0 + 7.0]


def test_later_changes_of_values_do_not_change_what_is_shown(two, three):
    values = np.zeros((2, 3))
    shown = [show(values, INDEX, "n") for each in (two, three) for show in (each.of_pairs, each.of_classes)]
    values[:] = 1.0
    assert not any(each.to_numpy().any() for each in shown)
