"""Where f is the intercept everywhere: by construction, by the gap, and never where there is a signal."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import seeds

from svmstat.kernels import RBF
from svmstat.solver import BoxQP, Gram, Status, solve
from svmstat.solver.flat import outweighed


def contradictory(rng, points=6, lightest=1.0, C=1.0, known=True):
    """Every point as an event and as another row; the bounds of the events are at least those of the others."""
    where = rng.normal(size=(points, 2))
    others = rng.integers(1, 4, points).astype(float)
    events = others * rng.uniform(lightest, 3.0, points)
    point = np.tile(np.arange(points), 2)
    y = np.repeat([1.0, -1.0], points)
    gram = Gram(RBF(0.3).bind(where[point]))
    upper = C * np.concatenate([events, others])
    return BoxQP(gram, y, np.ones(2 * points), upper, point=point if known else None)


@given(seed=seeds, C=st.sampled_from([1e-6, 1.0, 1e4]), turned=st.booleans())
def test_the_class_that_outweighs_the_other_everywhere_wins_everywhere(seed, C, turned):
    qp = contradictory(np.random.default_rng(seed), C=C)
    sign = -1.0 if turned else 1.0
    qp = replace(qp, signs=sign * qp.signs)
    solution = solve(qp)
    assert solution.status is Status.CERTIFIED
    assert solution.flat
    assert (solution.field == 0.0).all()
    assert (solution.decision == solution.intercept).all()
    assert solution.intercept_interval[0] <= sign <= solution.intercept_interval[1]
    assert (solution.coefficients == 0.0).all()


@given(seed=seeds)
def test_it_is_the_solution_that_is_found_without_knowing(seed):
    """The dual value is −Σ of the lighter class's bounds on both sides, whether the points are known or not."""
    rng = np.random.default_rng(seed)
    qp = contradictory(rng)
    found = solve(replace(qp, point=None))
    assert found.objective == pytest.approx(solve(qp).objective, rel=1e-7)
    np.testing.assert_allclose(found.decision, solve(qp).decision, atol=1e-6)


@given(seed=seeds)
def test_every_road_says_the_same(seed):
    """Cold, in a batch, in turn along the cost, and from another solution."""
    rng = np.random.default_rng(seed)
    qp = contradictory(rng, lightest=0.9)
    uppers = np.array([qp.upper, 2.0 * qp.upper, qp.upper * (np.arange(qp.n) != 1), qp.upper * (np.arange(qp.n) != 8)])
    start = solve(replace(qp, upper=qp.upper * rng.uniform(0.5, 1.0, qp.n)))
    batch, chain = solve(qp, uppers, start=start), list(solve(qp, uppers, start=start, in_turn=True))
    for q, upper in enumerate(uppers):
        cold = solve(replace(qp, upper=upper))
        for decision in (batch.decision[q], chain[q].decision, solve(replace(qp, upper=upper), start=start).decision):
            if cold.flat:
                np.testing.assert_array_equal(decision, cold.decision)
            else:
                np.testing.assert_allclose(
                    decision, cold.decision, rtol=0, atol=1e-8 * max(1.0, np.abs(decision).max())
                )


def test_one_point_where_the_other_class_is_heavier_is_enough():
    rng = np.random.default_rng(0)
    qp = contradictory(rng)
    upper = qp.upper.copy()
    upper[0] = 0.5 * upper[6]  # at the first point the others outweigh the events
    assert outweighed(qp, qp.upper) is not None
    assert outweighed(qp, upper) is None
    assert not solve(replace(qp, upper=upper)).flat


def test_a_point_of_one_class_alone():
    """Events alone do not disturb f = 1 where the events are the heavier class; others alone do."""
    qp = contradictory(np.random.default_rng(1))
    alone = np.arange(qp.n)
    assert outweighed(qp, qp.upper * (alone != 6)) is not None
    assert outweighed(qp, qp.upper * (alone != 0)) is None


@pytest.mark.parametrize(
    "bounds", [([0.1, 0.2], [0.3]), ([1 / 3] * 3, [1.0]), ([0.7] * 3, [0.3] * 7), ([0.1] * 10, [1.0])]
)
@pytest.mark.parametrize("turned", [False, True])
def test_sums_that_are_equal_leave_no_row_free(bounds, turned):
    """In floating-point numbers 0.1 + 0.2 is more than 0.3: b had been at an end of its interval."""
    events, others = bounds[::-1] if turned else bounds
    upper = np.array([*events, *others] * 2)
    y = np.repeat([1.0, -1.0], [len(events), len(others)])
    point = np.repeat([0, 1], len(y))
    gram = Gram(RBF(0.3).bind(np.array([[0.0], [1.0]])[point]))
    solution = solve(BoxQP(gram, np.tile(y, 2), np.ones(len(upper)), upper, point=point))
    assert solution.flat and solution.status is Status.CERTIFIED
    assert solution.intercept == 0.0 and solution.intercept_interval == (-1.0, 1.0)
    assert not solution.free.any()


def test_nearly_equal_sums_of_huge_bounds_are_not_equal():
    """A trillionth of a bound of 1e13 is a signal of ten margins."""
    qp = contradictory(np.random.default_rng(4), C=1e13)
    upper = qp.upper.copy()
    upper[:6] = upper[6:] * np.array([1.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    assert outweighed(qp, upper) is not None
    upper[0] *= 1.0 - 1e-12
    assert outweighed(qp, upper) is None


@pytest.mark.parametrize("in_batch", [False, True])
def test_what_rounding_leaves_of_sums_of_bounds_is_stated(in_batch):
    """Bounds 0.1 + 0.2 against 0.3: h = 0 but for the rounding of the sums, and no less than that is promised."""
    where = np.zeros((3, 1))
    y, upper = np.array([1.0, 1.0, -1.0]), 1e9 * np.array([0.1, 0.2, 0.3])
    qp = BoxQP(Gram(RBF(1.0).bind(where)), y, np.ones(3), upper, point=np.zeros(3, int))
    solution = solve(qp)
    rounding = solve(qp, upper[None], start=solution).rounding[0] if in_batch else solution.rounding
    assert solution.flat
    assert abs(sum(map(Fraction, (y * solution.alpha).tolist()))) <= rounding


def test_without_contradictions_nothing_is_outweighed():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(12, 2)), np.resize([1.0, -1.0], 12)
    qp = BoxQP(Gram(RBF(0.5).bind(X)), y, np.ones(12), np.ones(12), point=np.arange(12))
    assert outweighed(qp, qp.upper) is None


@pytest.mark.parametrize("C", [1e-9, 1e-6, 1e-3])
def test_a_small_signal_is_kept(C):
    """However small the cost is, h ∝ C as long as every α is at its bound."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 2)), np.resize([1.0, -1.0], 20)
    qp = BoxQP(Gram(RBF(0.5).bind(X)), y, np.ones(20), np.full(20, C))
    solution = solve(qp)
    assert not solution.flat
    np.testing.assert_allclose(solution.field / C, qp.gram.complete() @ y, rtol=1e-5)
