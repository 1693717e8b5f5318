"""Rows on demand, at sizes that a test can afford: the same solutions, certified alike, by another road."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from problems import Counting, clouds, problem, seeds, size
from sklearn.svm import SVC

from svmstat.kernels import RBF, Polynomial
from svmstat.solver import BoxQP, Gram, Road, Status, solve
from svmstat.solver import gram as gram_module
from svmstat.solver.case import case_of
from svmstat.solver.gram import Room
from svmstat.solver.rough import wide
from svmstat.solver.rough.wide import WideDescent, suits
from svmstat.solver.solution import certify

TOL_FIELD = 1e-6  # decision values of two certified solutions, relative to max(1, |h|)


@contextmanager
def road(taken, values=600):
    """Small problems take the road, or none does; some slots, which have to be reused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gram_module, "AT_ONCE", 0)
        patch.setattr(wide, "_LEG", 20)
        patch.setattr(wide, "FROM", 0 if taken else 10**9)
        patch.setattr(wide, "_MEMORY", 4 * values)
        yield


@pytest.fixture
def forced():
    with road(taken=True):
        yield


def both(draw):
    """The solutions of a problem by both roads; each has a gram matrix of its own."""
    with road(taken=True):
        there = solve(draw())
    with road(taken=False):
        return there, solve(draw())


@settings(max_examples=60)
@given(seed=seeds)
def test_any_problem_has_the_solution_of_the_other_road(draw_problem, seed):
    """All kernels, designs, bounds and losses of `draw_problem`: ties, rare classes, zero, tiny and huge bounds."""
    found, expected = both(lambda: draw_problem(seed).qp)
    assert found.status is expected.status
    if found.status is Status.CERTIFIED:
        np.testing.assert_allclose(found.field, expected.field, rtol=0, atol=TOL_FIELD * size(expected.field))
        np.testing.assert_allclose(
            found.intercept_interval, expected.intercept_interval, rtol=0, atol=TOL_FIELD * size(expected.field)
        )


@pytest.mark.parametrize("kernel", [RBF(2.0), Polynomial(0.5, 1.0, 2)])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_some_hundred_rows(kernel, C):
    X, y = clouds(700, seed=3)
    found, expected = both(lambda: problem(X, y, C, kernel))
    assert found.status is expected.status is Status.CERTIFIED
    assert found.violation <= 1e-10
    np.testing.assert_array_equal(found.alpha > 0, expected.alpha > 0)
    np.testing.assert_array_equal(found.bounded, expected.bounded)
    np.testing.assert_allclose(found.alpha, expected.alpha, rtol=0, atol=TOL_FIELD * C)
    np.testing.assert_allclose(found.decision, expected.decision, rtol=0, atol=TOL_FIELD)


def test_one_event_in_a_hundred_and_weights():
    rng = np.random.default_rng(5)
    y = np.where(np.arange(800) % 100 == 0, 1.0, -1.0)
    X = rng.normal(size=(800, 2)) + 1.0 * (y > 0)[:, None]
    upper = np.where(y > 0, 50.0, 0.5) * rng.choice([0.0, 0.3, 1.0, 2.0], 800)
    found, expected = both(lambda: problem(X, y, upper))
    assert found.status is expected.status is Status.CERTIFIED
    assert (found.alpha[upper == 0] == 0).all()
    np.testing.assert_allclose(found.decision, expected.decision, rtol=0, atol=TOL_FIELD)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_values_of_svc(forced, C):
    """To the digits that its kernel values have: libsvm keeps them in single precision, and solves for these."""
    X, y = clouds(400, seed=1)
    reference, solution = SVC(C=C, gamma=0.5, tol=1e-10).fit(X, y), solve(problem(X, y, C))
    digits = float(np.finfo(np.float32).eps) * solution.alpha.sum()
    np.testing.assert_allclose(solution.decision, reference.decision_function(X), rtol=0, atol=digits)


def test_the_number_of_slots_does_not_matter():
    """Which rows are kept decides how often they are computed, not what comes out."""
    X, y = clouds(500, seed=2)
    asked, alphas = [], []
    for values in (2, 5_000, 500 * 500):
        source = Counting(RBF(0.5).bind(X))
        with road(True, values):
            solution = solve(BoxQP(Gram(source), y, np.ones(500), np.full(500, 10.0)))
        asked.append(source.asked)
        alphas.append(solution.alpha)
        assert source.whole == 0
    assert asked[0] > asked[1] > asked[2]
    np.testing.assert_array_equal(alphas[0], alphas[2])
    np.testing.assert_array_equal(alphas[1], alphas[2])


def test_a_warm_start_takes_the_road_as_well(forced):
    X, y = clouds(500, seed=4)
    qp = problem(X, y, 1.0)
    start, cold = solve(qp), solve(problem(X, y, 1.5))
    warm = solve(problem(X, y, 1.5), start=start)
    assert warm.status is Status.CERTIFIED and warm.road is Road.WARM
    np.testing.assert_allclose(warm.decision, cold.decision, rtol=0, atol=TOL_FIELD)


def test_it_ends_within_the_tolerance_and_h_is_in_double_precision(forced):
    X, y = clouds(600, seed=6)
    qp = problem(X, y, 20.0)
    case, beta, h = case_of(qp, qp.upper), np.zeros(600), qp.linear.copy()
    steps = WideDescent(qp.gram)(case, beta, h, 1e-3, 10**6, Room())
    assert steps > 0 and (case.lo <= beta).all() and (beta <= case.hi).all()
    np.testing.assert_allclose(h, qp.linear - RBF(0.5).bind(X).gram() @ beta, rtol=0, atol=1e-12 * np.abs(beta).sum())
    assert certify(h, beta, case.lo, case.hi)[2] <= 1e-3


def test_a_round_that_raises_the_objective_is_undone(forced, monkeypatch):
    """As where single precision has no digits left: the descent by blocks then does it all."""
    X, y = clouds(300, seed=7)

    def astray(case, gram, beta, *_):
        beta[:] = case.lo + case.hi  # every row at its bound
        return 1

    monkeypatch.setattr(wide, "_improve", astray)
    qp = problem(X, y, 1000.0)
    case, beta, h = case_of(qp, qp.upper), np.zeros(300), qp.linear.copy()
    WideDescent(qp.gram)._round(case, beta, h, 1e-2, 100)
    assert not beta.any()
    np.testing.assert_array_equal(h, qp.linear)
    assert solve(qp).status is Status.CERTIFIED


def test_smaller_fits_and_known_matrices_never_take_it(monkeypatch):
    X, y = clouds(3000, seed=8)
    monkeypatch.setattr(wide, "WideDescent", None)
    assert solve(problem(X, y, 1.0)).status is Status.CERTIFIED
    monkeypatch.setattr(wide, "FROM", 0)
    qp = problem(X, y, 1.0)
    qp.gram.complete()
    assert solve(qp).status is Status.CERTIFIED


def test_what_it_is_for(forced):
    X, y = clouds(50)

    def asked(**changed):
        qp = BoxQP(
            **{"gram": Gram(RBF(0.5).bind(X)), "signs": y, "margin": np.ones(50), "upper": np.ones(50)} | changed
        )
        return suits(case_of(qp, qp.upper))

    assert asked()
    assert not asked(total=3.0)
    assert not asked(margin=np.full(50, 1e13))
    assert not asked(gram=Gram((1e-13 * RBF(0.5)).bind(X)))
