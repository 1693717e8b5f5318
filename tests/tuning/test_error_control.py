"""The criteria without costs: scores by hand, the constraint before the score, ties, NaN, arguments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import svmstat
from svmstat.errors import ArgumentError
from svmstat.tuning import minimax, neyman_pearson
from svmstat.tuning.error_control import Minimax, NeymanPearson, best_cell

TOL_ROUNDING = 1e-14  # one or two operations on numbers below ten
TIED = 1e-12  # what the rules count as equal

NAN = np.nan


# -- scores ------------------------------------------------------------------------------------------------------------


def test_minimax_by_hand():
    p_f, p_m = np.array([[0.1, 0.3], [0.0, NAN]]), np.array([[0.2, 0.25], [0.0, 0.1]])
    np.testing.assert_array_equal(minimax().score(p_f, p_m), [[0.2, 0.3], [0.0, NAN]])
    np.testing.assert_array_equal(minimax().violated(p_f), np.zeros((2, 2), bool))


def test_neyman_pearson_by_hand():
    p_f, p_m = np.array([0.0, 0.1, 0.2, 0.35, NAN]), np.array([0.5, 0.4, 0.1, 0.0, 0.3])
    criterion = neyman_pearson(0.1)
    np.testing.assert_allclose(criterion.score(p_f, p_m), [0.5, 0.4, 1.1, 2.5, NAN], rtol=TOL_ROUNDING)
    np.testing.assert_array_equal(criterion.violated(p_f), [False, False, True, True, False])


@given(a=st.floats(0.01, 0.99), p_f=st.floats(0, 1), p_m=st.floats(0, 1))
def test_the_score_is_the_miss_rate_if_and_only_if_the_constraint_holds(a, p_f, p_m):
    criterion = neyman_pearson(a)
    score = float(criterion.score(np.array(p_f), np.array(p_m)))
    if p_f <= a:
        assert score == p_m and not criterion.violated(np.array(p_f))
    elif p_f > a + 1e-9:
        assert score > p_m and criterion.violated(np.array(p_f))
        assert score == pytest.approx((p_f - a) / a + p_m, rel=1e-12)


def test_a_rate_that_is_the_level_but_for_rounding_keeps_the_constraint():
    assert 0.1 + 0.2 > 0.3
    assert not neyman_pearson(0.3).violated(np.array(0.1 + 0.2))
    assert neyman_pearson(0.3).violated(np.array(0.3 + 1e-9))


def test_what_they_are_called():
    assert (str(minimax()), minimax().name) == ("minimax", "max(P_F, P_M)")
    assert str(neyman_pearson(0.1)) == "Neyman-Pearson, a = 0.1"
    assert str(neyman_pearson(0.05, 0.2, holdout=0.3)) == "Neyman-Pearson, a = 0.05, delta = 0.2"
    assert str(neyman_pearson(0.1, 0.2, holdout="loo")) == "Neyman-Pearson, a = 0.1, delta = 0.2 (approximate)"
    assert neyman_pearson(0.05).name == "Neyman-Pearson score at 0.05"
    assert (svmstat.minimax, svmstat.neyman_pearson) == (minimax, neyman_pearson)


# -- the best cell -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "p_f", "p_m", "best"),
    [
        (minimax(), [0.4, 0.2, 0.3], [0.1, 0.3, 0.2], 1),  # 0.4, 0.3, 0.3: the sum is the same, the first of them
        (minimax(), [0.4, 0.3, 0.3], [0.1, 0.3, 0.2], 2),  # of equal scores the smaller sum
        (minimax(), [0.2, 0.2, 0.2], [0.1, 0.1, 0.1], 0),
        (minimax(), [NAN, 0.9, 0.1], [0.0, 0.9, NAN], 1),  # NaN in either is no candidate
        (minimax(), [NAN, NAN], [0.0, NAN], -1),
        (minimax(), [], [], -1),
        (neyman_pearson(0.1), [0.0, 0.1, 0.2], [0.5, 0.4, 0.1], 1),
        (neyman_pearson(0.5), [0.501, 0.5], [0.0, 1.0], 1),  # the constraint first, though the score is 0.002 and 1
        (neyman_pearson(0.1), [0.3, 0.2, 0.9], [0.1, 0.2, 0.0], 1),  # none keeps it: the least score, 2.1, 1.2, 8
        (neyman_pearson(0.1), [0.1, 0.05, 0.05], [0.3, 0.3, 0.3], 1),  # of equal scores the smaller sum
        (neyman_pearson(0.1), [NAN, 0.7], [0.0, 0.7], 1),
    ],
)
def test_choices_by_hand(criterion, p_f, p_m, best):
    assert best_cell(criterion, np.array(p_f, float), np.array(p_m, float)) == best


def test_differences_of_rounding_decide_nothing():
    p_f = np.array([0.3, 0.1 + 0.2, 0.3])
    p_m = np.array([0.1 + 0.2, 0.3, 0.3])
    assert best_cell(minimax(), p_f, p_m) == 0
    assert best_cell(minimax(), p_f[::-1], p_m[::-1]) == 0
    assert best_cell(neyman_pearson(0.3), np.array([0.1 + 0.2, 0.3]), np.array([0.5, 0.5])) == 0
    assert best_cell(minimax(), np.array([0.3, 0.3 - 1e-9]), np.array([0.3, 0.3 - 1e-9])) == 1


def by_hand(criterion, p_f, p_m):
    """The first of the cells to which none is preferred; rates are multiples of 1/8, so that equal is equal."""
    keys = [
        (bool(criterion.violated(np.array(f))), scored(criterion, f, m), f + m, k)
        for k, (f, m) in enumerate(zip(p_f, p_m, strict=True))
        if not np.isnan(f + m)
    ]
    return min(keys)[-1] if keys else -1


def scored(criterion, f, m):
    if isinstance(criterion, Minimax):
        return max(f, m)
    return m if f <= criterion.a else (f - criterion.a) / criterion.a + m


rates = st.sampled_from([*(k / 8 for k in range(9)), NAN])


@given(st.data())
def test_the_choice_is_the_least_key(data):
    n = data.draw(st.integers(1, 12))
    p_f, p_m = (np.array(data.draw(st.lists(rates, min_size=n, max_size=n))) for _ in range(2))
    criterion = data.draw(st.sampled_from([minimax(), neyman_pearson(0.25), neyman_pearson(0.5)]))
    assert best_cell(criterion, p_f, p_m) == by_hand(criterion, p_f, p_m)


def test_inputs_are_not_changed():
    p_f, p_m = np.array([0.3, NAN, 0.1]), np.array([0.1, 0.2, 0.4])
    before = p_f.copy(), p_m.copy()
    best_cell(neyman_pearson(0.2), p_f, p_m)
    np.testing.assert_array_equal((p_f, p_m), before)


# -- arguments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, -0.1, 1.5, "0.1", True, False, NAN, np.inf, None, [0.1], 1j])
@pytest.mark.parametrize("name", ["a", "delta", "holdout"])
def test_arguments_that_are_refused(name, value):
    if name == "delta" and value is None:
        assert neyman_pearson(0.1, None).delta is None
        return
    with pytest.raises(ArgumentError) as caught:
        neyman_pearson(**{"a": 0.1, name: value})
    more = ", or 'loo'" if name == "holdout" and isinstance(value, str) else ""
    expected = f"{name}={value!r} is not allowed: it must be a number between 0 and 1, both excluded{more}."
    assert str(caught.value) == expected


def test_leave_one_out_is_for_a_threshold():
    with pytest.raises(ArgumentError, match="holdout='loo' is not allowed: it must be left out without delta"):
        neyman_pearson(0.1, holdout="loo")
    with pytest.raises(ArgumentError, match=r"holdout=0\.3 is not allowed: it must be left out without delta"):
        neyman_pearson(0.1, holdout=0.3)


def test_arguments_are_kept_as_floats():
    found = neyman_pearson(np.float32(0.5), np.float64(0.25), holdout=0.125)
    assert found == NeymanPearson(0.5, 0.25, 0.125)
    assert all(type(each) is float for each in (found.a, found.delta, found.holdout))
    assert (neyman_pearson(0.1).delta, neyman_pearson(0.1).holdout) == (None, 0.5)


def test_the_holdout_has_a_name():
    with pytest.raises(TypeError):
        neyman_pearson(0.1, 0.1, 0.3)
