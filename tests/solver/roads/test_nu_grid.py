"""Sweeps over a grid of (ν₊, ν₋): every pair against a fit of its own, and independence of the way."""

import subprocess
import sys
from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import seeds, size

from svmstat.kernels import RBF, Linear, Polynomial, Precomputed, centred_gram
from svmstat.solver import TOLERANCE, BoxQP, Gram, NuGrid, Sample, Status, solve, sweep_grid
from svmstat.solver.roads import nu_grid
from svmstat.solver.roads.sweep import FAILED, MET, SOLVED, UNRESOLVED

# Decision values by the sweep and by a fit, on the scale of the margins, relative to max(1, |f|).
TOL_FIELD = 1e-6
# The same between two sweeps.
TOL_WAY = 1e-6

NUS = np.arange(20, 0, -1) / 20


def bananas(n, rng, kernel=None, weights="one", share=0.5):
    """A sample with a fifth of its rows held out, and its kernel matrix."""
    y = np.where(np.arange(n) < share * n, 1.0, -1.0)
    t = rng.uniform(0, np.pi, n)
    X = np.column_stack([np.cos(t) + (y < 0), np.sin(t) * y + 0.5 * (y < 0)]) + 0.3 * rng.normal(size=(n, 2))
    order = rng.permutation(n)
    X, y = X[order], y[order]
    w = {"one": np.ones(n), "fractions": rng.uniform(0.1, 3.0, n), "counts": rng.integers(1, 4, n).astype(float)}[
        weights
    ]
    K = centred_gram(RBF(1.0) if kernel is None else kernel, X)
    held = np.arange(n) % 5 == 0
    held[[np.flatnonzero(y > 0)[0], np.flatnonzero(y < 0)[0]]] = False
    return part(K, y, w, held)


def part(K, y, w, held):
    kept, out, group = np.flatnonzero(~held), np.flatnonzero(held), np.where(y > 0, 0, 1)
    block = np.ascontiguousarray(K[np.ix_(kept, np.concatenate([kept, out]))])
    return SimpleNamespace(
        sample=Sample(block, group[kept], w[kept], group[out], w[out]), K=K, y=y, w=w, kept=kept, out=out, held=held
    )


def fit(case, nu_event, nu_other):
    """One pair by the solver; f of the kept rows and then of those held out, as the sweep orders them."""
    kept, y, w = case.kept, case.y[case.kept], case.w[case.kept]
    sizes = w[y > 0].sum(), w[y < 0].sum()
    upper = np.where(y > 0, w / (nu_event * sizes[0]), w / (nu_other * sizes[1]))
    square = np.ascontiguousarray(case.K[np.ix_(kept, kept)])
    solution = solve(BoxQP(Gram(Precomputed().bind(square)), y, np.ones(len(y)), upper, 1.0))
    f = (y * solution.alpha) @ case.K[np.ix_(kept, np.concatenate([kept, case.out]))] + solution.intercept
    return solution, f


def assert_like_fits(case, grid, nu_event, nu_other, every=1):
    checked = 0
    for j in range(0, len(nu_other), every):
        for i in range(0, len(nu_event), every):
            solution, f = fit(case, nu_event[i], nu_other[j])
            code = grid.code[j, i]
            if code == SOLVED:
                assert solution.status is Status.CERTIFIED
                np.testing.assert_allclose(grid.f[j, i], f, rtol=0, atol=TOL_FIELD * size(f))
                assert grid.rho[j, i] == pytest.approx(solution.rho, rel=1e-6)
                checked += 1
            elif code == MET:
                assert solution.rho <= 1e-6 and not grid.f[j, i].any()
            else:
                assert code in (UNRESOLVED, FAILED) and solution.rho < 1e-6
    assert checked > 0


# -- every pair ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF(1e-6), RBF(0.05), RBF(1.0), RBF(30.0), RBF(1e7), Linear(), Polynomial(1, 1, 2)])
def test_every_pair_is_a_fit(kernel):
    case = bananas(60, np.random.default_rng(1), kernel)
    grid = sweep_grid(case.sample, NUS, NUS, keep=True)
    assert not (grid.code == FAILED).any()
    assert np.nanmax(grid.violation) <= TOLERANCE
    assert_like_fits(case, grid, NUS, NUS, every=3)


@given(seed=seeds, weights=st.sampled_from(["one", "fractions", "counts"]), share=st.sampled_from([0.5, 0.2, 0.06]))
@settings(max_examples=50, deadline=None)
def test_any_sample(seed, weights, share):
    rng = np.random.default_rng(seed)
    kernel = RBF(float(10 ** rng.uniform(-3, 3)))
    case = bananas(int(rng.integers(10, 70)), rng, kernel, weights, share)
    nu_event, nu_other = (np.sort(rng.uniform(0.02, 1.0, 4))[::-1] for _ in range(2))
    nu_event[0] = 1.0
    grid = sweep_grid(case.sample, nu_event, nu_other, keep=True)
    assert_like_fits(case, grid, nu_event, nu_other)


def test_errors_are_those_of_the_held_out_rows():
    case = bananas(120, np.random.default_rng(2), weights="counts")
    grid = sweep_grid(case.sample, NUS, NUS, keep=True)
    y, w, m = case.y[case.out], case.w[case.out], len(case.kept)
    solved = grid.code == SOLVED
    assert solved.any()
    for j, i in zip(*np.nonzero(solved), strict=True):
        f = grid.f[j, i, m:]
        assert (np.abs(f) > 1e-7).all()
        np.testing.assert_array_equal(grid.wrong[j, :, i], [w[(y > 0) & (f <= 0)].sum(), w[(y < 0) & (f > 0)].sum()])
    plain = sweep_grid(case.sample, NUS, NUS)
    np.testing.assert_array_equal(plain.wrong, grid.wrong)
    np.testing.assert_array_equal(plain.rho, grid.rho)
    assert plain.f.size == 0


# -- the way does not matter -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.05, 1.0, 30.0])
def test_a_part_of_the_grid_and_the_labels_swapped(gamma):
    """Other neighbours, other paths: every third pair, and rows for columns by swapping the labels."""
    case = bananas(100, np.random.default_rng(3), RBF(gamma))
    grid = sweep_grid(case.sample, NUS, NUS, keep=True)
    few = sweep_grid(case.sample, NUS[2::3], NUS[1::3], keep=True)
    swapped = sweep_grid(part(case.K, -case.y, case.w, case.held).sample, NUS, NUS, keep=True)
    assert_same(few, cut(grid, np.s_[1::3], np.s_[2::3]))
    turned = NuGrid(
        swapped.wrong[:, ::-1].transpose(2, 1, 0), swapped.rho.T, swapped.violation.T, swapped.code.T,
        -swapped.f.transpose(1, 0, 2), swapped.events, swapped.rescued,
    )  # fmt: skip
    assert_same(turned, grid)


def cut(grid, rows, columns):
    return NuGrid(
        grid.wrong[rows][:, :, columns], grid.rho[rows, columns], grid.violation[rows, columns],
        grid.code[rows, columns], grid.f[rows, columns], grid.events, grid.rescued,
    )  # fmt: skip


def assert_same(a, b):
    same = (a.code == SOLVED) & (b.code == SOLVED)
    assert same.mean() >= 0.98 * max((a.code == SOLVED).mean(), (b.code == SOLVED).mean())
    scale = np.abs(b.f[same]).max(axis=1, initial=1.0)[:, None]
    assert np.abs((a.f[same] - b.f[same]) / scale).max() <= TOL_WAY
    np.testing.assert_array_equal(a.wrong.transpose(0, 2, 1)[same], b.wrong.transpose(0, 2, 1)[same])


def test_the_order_of_the_rows():
    rng = np.random.default_rng(4)
    case = bananas(80, rng)
    order = rng.permutation(80)
    other = part(np.ascontiguousarray(case.K[np.ix_(order, order)]), case.y[order], case.w[order], case.held[order])
    a, b = sweep_grid(case.sample, NUS, NUS), sweep_grid(other.sample, NUS, NUS)
    np.testing.assert_array_equal(a.code, b.code)
    np.testing.assert_array_equal(a.wrong, b.wrong)


def test_a_weight_of_two_is_a_row_twice():
    case = bananas(60, np.random.default_rng(5), weights="counts")
    rows = np.repeat(np.arange(60), case.w.astype(int))
    twice = part(np.ascontiguousarray(case.K[np.ix_(rows, rows)]), case.y[rows], np.ones(len(rows)), case.held[rows])
    a, b = sweep_grid(case.sample, NUS, NUS), sweep_grid(twice.sample, NUS, NUS)
    both = (a.code == SOLVED) & (b.code == SOLVED)
    assert both.mean() >= 0.98 * (a.code == SOLVED).mean()
    np.testing.assert_allclose(a.rho[both], b.rho[both], rtol=1e-6)
    np.testing.assert_array_equal(a.wrong.transpose(0, 2, 1)[both], b.wrong.transpose(0, 2, 1)[both])


# -- where there is little to solve ----------------------------------------------------------------------------------


def test_identical_points():
    """The hulls meet at every pair: f = 0, every event a miss and no false alarm."""
    y = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    grid = sweep_grid(part(np.zeros((20, 20)), y, np.ones(20), np.arange(20) % 5 == 0).sample, NUS, NUS, keep=True)
    assert (grid.code == MET).all()
    assert not grid.f.any() and not grid.rho.any()
    assert (grid.wrong[:, 0] == 2.0).all() and (grid.wrong[:, 1] == 0.0).all()


def test_classes_that_share_their_points_meet_whatever_else_is_in_the_grid():
    """On the way to them ρ becomes too small to be resolved, and a sweep stops there."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.integers(0, 12, 200)) / 6.0
    y = np.where(rng.random(200) < 0.3 + 0.1 * x, 1.0, -1.0)
    case = part(centred_gram(RBF(0.01), x[:, None]), y, np.ones(200), np.arange(200) % 5 == 0)
    group, points = case.sample.group, x[case.kept]
    events, others = (np.array([np.mean(points[group == g] == x) for x in np.unique(x)]) for g in (0, 1))
    nus = np.array([1.0, 0.98, 0.95, 0.9, 0.7, 0.5, 0.3, 0.1])
    meet = np.array([[np.minimum(events / a, others / b).sum() >= 1.0 for a in nus] for b in nus])
    grid = sweep_grid(case.sample, nus, nus)
    assert 0 < meet.sum() < 64 and (grid.code[meet] == MET).all()
    assert (grid.code[~meet] == UNRESOLVED).any()
    for which in ([4, 5, 6], [7], [0, 5, 7]):
        few = sweep_grid(case.sample, nus[which], nus[which])
        asked = meet[np.ix_(which, which)]
        assert asked.any() and (few.code[asked] == MET).all() and (few.rho[asked] == 0.0).all()


def test_what_is_not_solved_is_a_lower_corner():
    case = bananas(100, np.random.default_rng(6), Linear())
    grid = sweep_grid(case.sample, NUS, NUS, keep=True)
    solved = grid.code == SOLVED
    assert 0 < solved.mean() < 1
    assert (np.diff(solved.astype(int), axis=0) <= 0).all() and (np.diff(solved.astype(int), axis=1) <= 0).all()
    assert np.isnan(grid.wrong.transpose(0, 2, 1)[grid.code == UNRESOLVED]).all()
    assert np.isfinite(grid.wrong.transpose(0, 2, 1)[solved]).all()


@pytest.mark.parametrize("nus", [[1.0], [0.3], [1.0, 0.5], [0.9, 0.1]])
def test_short_grids(nus):
    case = bananas(40, np.random.default_rng(7))
    nus = np.array(nus)
    for nu_event, nu_other in ((nus, nus), (nus, NUS), (NUS, nus)):
        grid = sweep_grid(case.sample, nu_event, nu_other, keep=True)
        assert_like_fits(case, grid, nu_event, nu_other)


def test_two_rows():
    K = np.array([[0.5, -0.5], [-0.5, 0.5]])
    grid = sweep_grid(part(K, np.array([1.0, -1.0]), np.ones(2), np.zeros(2, bool)).sample, NUS, NUS, keep=True)
    assert (grid.code == SOLVED).all()
    np.testing.assert_allclose(grid.f, np.broadcast_to([1.0, -1.0], grid.f.shape), rtol=0, atol=1e-12)


def test_a_descent_after_a_sweep_from_the_cache():
    """In a process whose compiled functions all come from the cache, called from compiled ones first.

    They are those of the package that is installed, not of the sources around the tests.
    """
    program = """
        import numpy as np
        from svmstat.solver import Sample, sweep_grid
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], 30)
        X = rng.normal(size=(60, 3)) - 0.6 * y[:, None]
        X = X - X.mean(axis=0)
        nu = np.arange(20, 0, -1) / 20
        grid = sweep_grid(Sample(X @ X.T, y, np.ones(60), y[:0], np.ones(0)), nu, nu)
        print(int(grid.rescued[0]))
    """
    done = subprocess.run([sys.executable, "-P", "-c", dedent(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


def test_on_which_shares_of_their_weight_classes_can_meet():
    """Ten points of one class, five of them the other's too, of twice the weight; tenths add up to nearly one."""
    at, group = np.r_[np.arange(10), np.arange(5)], np.repeat([0, 1], [10, 5])
    caps = np.array([0.1, 0.2])
    for inner in (0, 1):
        sample = SimpleNamespace(K=np.eye(10)[at][:, at], weights=np.where(group == 1, 2.0, 1.0), group=group)
        way = SimpleNamespace(sample=sample, inner=inner, inner_caps=caps, outer_caps=caps)
        meet = np.array([[False, False], [True, True]])  # by the caps of the first class
        np.testing.assert_array_equal(nu_grid._share_points(way), meet if inner == 1 else meet.T)
    tenths = SimpleNamespace(K=np.tile(np.eye(10), (2, 2)), weights=np.ones(20), group=np.repeat([0, 1], 10))
    way = SimpleNamespace(sample=tenths, inner=0, inner_caps=caps[:1], outer_caps=caps[:1])
    assert sum([0.1] * 10) < 1.0 and nu_grid._share_points(way).all()
