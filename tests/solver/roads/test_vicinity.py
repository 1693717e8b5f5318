"""The path of the rows near their margin, with a kernel of a short map, against cold fits and the kernel road."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import AWKWARD, awkward, noisy, posed

from svmstat.objective.losses import make_loss
from svmstat.solver import BoxQP, LowRank, Road, Status, solve
from svmstat.solver.roads import vicinity
from svmstat.solver.roads.low_rank import overrun_solved
from svmstat.solver.roads.vicinity import solve_near, vicinity_of

COSTS = np.geomspace(0.01, 10.0, 6)


def with_bounds(problem, upper):
    return replace(problem, upper=np.broadcast_to(upper, problem.upper.shape).astype(float))


def near(problem, upper):
    """By the path from the problem's own solution; None if it does not lead there."""
    return solve_near(problem, upper, vicinity_of(problem, problem.gram, solve(problem)))


def is_optimal(found):
    assert found.status is Status.CERTIFIED and found.road in (Road.LOW_RANK, Road.PATH)
    assert found.violation <= 1e-8 and found.gap <= 1e-9 * abs(found.objective)


def agrees(found, cold, C=1.0):
    is_optimal(found)
    assert found.objective == pytest.approx(cold.objective, rel=1e-10)
    np.testing.assert_allclose(found.field, cold.field, atol=1e-9 * (1.0 + np.abs(cold.field).max()))
    np.testing.assert_allclose(found.intercept_interval, cold.intercept_interval, atol=1e-8)
    np.testing.assert_allclose(found.alpha, cold.alpha, atol=1e-7 * C)


@pytest.mark.parametrize("costs", [COSTS, COSTS[::-1]], ids=["up", "down"])
@pytest.mark.parametrize(("n", "p"), [(1500, 2), (1500, 20)])
def test_costs_are_cold_fits_by_kernel_values(n, p, costs):
    low, full = posed(*noisy(n, p), upper=costs[0])
    uppers = np.outer(costs, np.ones(n))
    for C, found in zip(costs, solve(low, uppers, in_turn=True), strict=True):
        agrees(found, solve(with_bounds(full, C)), C)
        assert found.free.sum() <= p + 1


@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_weights_losses_and_rows_that_are_absent(loss):
    X, y = noisy(1500, 4)
    rng, loss = np.random.default_rng(2), make_loss(loss, 1.6, 0.7)
    weights = rng.integers(0, 4, 1500) * loss.class_weight(y)
    low, full = posed(X, y, weights, margin=loss.margin(y))
    for C, found in zip(COSTS, solve(low, np.outer(COSTS, weights), in_turn=True), strict=True):
        agrees(found, solve(with_bounds(full, C * weights)), C)
        assert not found.alpha[weights == 0.0].any()


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_designs(case):
    low, full = posed(*awkward(case, 900))
    for C, found in zip(COSTS, solve(low, np.outer(COSTS, np.ones(900)), in_turn=True), strict=True):
        cold = solve(with_bounds(full, C))
        is_optimal(found)
        assert found.objective == pytest.approx(cold.objective, rel=1e-10)
        np.testing.assert_allclose(found.field, cold.field, atol=1e-9 * (1.0 + np.abs(cold.field).max()))


@pytest.mark.parametrize("C", [1e-7, 1e5])
def test_tiny_and_huge_costs(C):
    low, full = posed(*noisy(900, 3), upper=C)
    for cost, found in zip([C, 2.0 * C], solve(low, np.outer([C, 2.0 * C], np.ones(900)), in_turn=True), strict=True):
        cold = solve(with_bounds(full, cost))
        assert found.status is Status.CERTIFIED and found.violation <= 1e-8
        assert found.objective == pytest.approx(cold.objective, rel=1e-9)
        np.testing.assert_allclose(found.field, cold.field, atol=1e-8 * np.abs(cold.field).max())


@pytest.mark.parametrize("change", ["larger", "smaller", "a fold", "counts", "rows that come in", "one class"])
def test_any_bounds_are_cold_fits(change):
    n, rng = 4000, np.random.default_rng(3)
    problem, _ = posed(*noisy(n, 3))
    if change == "rows that come in":
        problem = with_bounds(problem, rng.random(n) < 0.9)
    upper = {
        "larger": np.full(n, 1.7),
        "smaller": np.full(n, 0.5),
        "a fold": (rng.random(n) < 0.9).astype(float),
        "counts": 1.0 + (rng.random(n) < 0.1),
        "rows that come in": np.ones(n),
        "one class": np.where(problem.signs > 0, 1.1, 1.0),
    }[change]
    found = near(problem, upper)
    agrees(found, solve(with_bounds(problem, upper)))
    assert found.steps == 0 and found.events > 0


def test_a_longer_way_is_left_to_the_primal(monkeypatch):
    """Where f moves by more than the margin, all rows are near."""
    problem, _ = posed(*noisy(5000, 4))
    monkeypatch.setattr(vicinity, "move", None)  # so far it does not get
    assert near(problem, np.full(5000, 1e-4)) is None
    (found,) = solve(problem, np.full((1, 5000), 1e-4), in_turn=True)
    agrees(found, solve(with_bounds(problem, 1e-4)), 1e-4)


def test_what_the_path_overruns_is_solved_afterwards(monkeypatch):
    problem, _ = posed(*noisy(6000, 10))
    for name, value in [("_LEAST_ROWS", 120), ("_PER_FREE", 1), ("_REACH", 0.0)]:
        monkeypatch.setattr(vicinity, name, value)
    overrun = []

    def watched(case, gram, beta, h, basis):
        overrun.append(overrun_solved(case, gram, beta, h, basis))
        return overrun[-1]

    monkeypatch.setattr(vicinity, "overrun_solved", watched)
    upper = np.full(6000, 0.1)
    agrees(near(problem, upper), solve(with_bounds(problem, upper)))
    assert overrun[0].events > 0
    assert near(problem, np.full(6000, 0.05)) is None and not overrun[1].exact  # of many it is not tried


def test_how_far_f_will_move_is_known_before(monkeypatch):
    """Within a factor of two: it decides which rows take part, and the certificate whether they were enough."""
    problem, _ = posed(*noisy(20_000, 5), upper=0.02)
    moves, movement = [], vicinity._movement
    monkeypatch.setattr(vicinity, "_movement", lambda *given: moves.append(movement(*given)) or moves[-1])
    start = solve(problem)
    around = vicinity_of(problem, problem.gram, start)
    for factor in (1.2, 2.0):
        found = solve_near(problem, factor * problem.upper, around)
        actual = (found.decision - start.decision)[around.rows]
        assert 0.5 < moves[-1] / np.sqrt(np.mean(actual**2)) < 2.0
    assert movement(around, problem.upper, np.zeros(5), 0.0) == 0.0


def test_a_batch_is_each_for_itself():
    """To the last bit, whatever else is asked for: tasks may be divided among processes in any way."""
    problem, _ = posed(*noisy(2000, 4))
    problem.gram.fits = False  # as with more rows, whose kernel matrix would not fit
    start, rng = solve(problem), np.random.default_rng(4)
    uppers = np.vstack([rng.random((6, 2000)) < 0.95, rng.multinomial(2000, np.full(2000, 5e-4), 2)]).astype(float)
    batch = solve(problem, uppers, start=start)
    assert (batch.status == Status.CERTIFIED).all() and (batch.road == Road.LOW_RANK).all()
    for upper, alpha, field in zip(uppers, batch.alpha, batch.field, strict=True):
        alone = solve(problem, upper[None], start=start)
        np.testing.assert_array_equal(alone.alpha[0], alpha)
        np.testing.assert_array_equal(alone.field[0], field)
        np.testing.assert_allclose(field, solve(with_bounds(problem, upper)).field, atol=1e-9)


def test_with_sums_of_the_classes_the_roads_are_those_of_other_kernels():
    X, y = noisy(300, 3)
    problem = BoxQP(LowRank(X), y, np.ones(300), np.full(300, 1.0 / 300), 0.35)
    upper = np.full(300, 1.0 / 290)
    found = solve(problem, upper[None], start=solve(problem))
    cold = solve(replace(problem, upper=upper))
    assert found.status[0] == Status.CERTIFIED and found.road[0] != Road.LOW_RANK
    np.testing.assert_allclose(found.field[0], cold.field, atol=1e-8)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), factor=st.floats(0.05, 20.0))
def test_any_problem(draw_problem, seed, factor):
    drawn = draw_problem(seed, kernel="linear")
    qp = drawn.qp
    low = BoxQP(LowRank(np.ascontiguousarray(drawn.X)), qp.signs, qp.margin, qp.upper)
    start, upper = solve(low), factor * qp.upper
    cold = solve(replace(qp, upper=upper))
    found = solve(replace(low, upper=upper), start=start)
    assert (found.status is Status.ONE_CLASS) == (cold.status is Status.ONE_CLASS)
    if cold.status is Status.CERTIFIED:
        assert found.violation <= 1e-8
        assert found.objective == pytest.approx(cold.objective, rel=1e-8, abs=1e-10 * upper.sum())
