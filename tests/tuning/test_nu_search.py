"""Searches of (γ, ν₋, ν₊): error rates as counted by hand, descents that stay on their lines, order and copies."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat import svm
from svmstat.errors import ArgumentError, CertificateWarning, DataError
from svmstat.kernels import RBF, Linear
from svmstat.tuning import minimax, neyman_pearson
from svmstat.tuning.error_control import best_cell
from svmstat.tuning.nu_grid import nu_grid_errors
from svmstat.tuning.nu_search import (
    ErrorRates,
    coordinate_descent,
    coordinate_descent_by_kernel,
    search_grid,
)
from svmstat.tuning.sample import Distinct, Effort
from svmstat.tuning.smoothing import SMOOTHINGS, smooth

TOL_ROUNDING = 1e-12  # sums of weights in another order
CLEAR = 1e-6  # decision values of certified fits have eight digits: nearer to zero than this a sign is not compared

GAMMAS = (0.2, 1.5)
NU_EVENT = np.array([0.3, 0.55, 0.8, 1.0])
NU_OTHER = np.array([0.35, 0.6, 1.0])
FOLDS = 4
CRITERIA = [minimax(), neyman_pearson(0.2)]
SEARCHES = [search_grid, coordinate_descent, coordinate_descent_by_kernel]


def sample(n=48, seed=7, weighted=False):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 5 < 2, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.8 * (y > 0)[:, None]
    w = rng.choice([0.5, 1.0, 2.0, 3.0], n) if weighted else np.ones(n)
    return Distinct(X, y, w, np.arange(n) // 5 % FOLDS)


def rates_of(given, gammas=GAMMAS, nu_event=NU_EVENT, nu_other=NU_OTHER, n_jobs=None):
    return ErrorRates(given, [RBF(gamma) for gamma in gammas], nu_event, nu_other, Effort(n_jobs))


def whole(rates):
    rates.estimate(tuple(range(size) for size in rates.shape))
    return rates.surface


def frame_of(given):
    return pd.DataFrame({"a": given.X[:, 0], "b": given.X[:, 1], "y": given.y, "w": given.weights})


def by_hand(given, nu_event=NU_EVENT, nu_other=NU_OTHER, **kernel):
    """P_F and P_M (J, I) by a fit of `svm` for each fold and each pair; NaN where one is not certified."""
    data = frame_of(given)
    event = given.y > 0
    p_f, p_m = np.full((2, len(nu_other), len(nu_event)), np.nan)
    for j, i in np.ndindex(p_f.shape):
        f = np.full(len(data), np.nan)
        for k in np.unique(given.fold):
            out = given.fold == k
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CertificateWarning)
                nu = (nu_event[i], nu_other[j])
                fit = svm("y ~ a + b", data[~out], weights="w", nu=nu, scale=False, **kernel)
            if not fit.converged:
                break
            f[out] = fit.decision_function(data[out]) if fit.rho > 0 else 0.0
            assert fit.rho == 0 or np.abs(f[out]).min() > CLEAR  # otherwise the example is no good
        if not np.isnan(f).any():
            p_f[j, i] = given.weights[~event & (f > 0)].sum() / given.weights[~event].sum()
            p_m[j, i] = given.weights[event & (f <= 0)].sum() / given.weights[event].sum()
    return p_f, p_m


# -- the rates ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "weighted"])
def counted(request):
    """A sample, and its rates by hand (S, J, I)."""
    given = sample(weighted=request.param)
    p_f, p_m = zip(*(by_hand(given, gamma=gamma) for gamma in GAMMAS), strict=True)
    return given, np.array(p_f), np.array(p_m)


def test_rates_as_counted_by_hand(counted):
    given, p_f, p_m = counted
    rates = whole(rates_of(given))
    assert np.isfinite(p_f).all() and 0.05 < p_f.mean() < 0.6 and np.ptp(p_f) > 0.2 < np.ptp(p_m)
    np.testing.assert_allclose(rates.p_f, p_f, rtol=TOL_ROUNDING)
    np.testing.assert_allclose(rates.p_m, p_m, rtol=TOL_ROUNDING)
    assert rates.known.all() and not rates.unresolved.any()


@pytest.mark.parametrize("kind", [None, "2d", "3d"])
@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_the_grid_is_an_exhaustive_loop(counted, criterion, kind):
    given, p_f, p_m = counted
    chosen = search_grid(rates_of(given), criterion, kind)
    smooth_f, smooth_m = smooth(p_f, kind), smooth(p_m, kind)
    keys = {}
    for s, j, i in np.ndindex(*p_f.shape):
        f, m = float(smooth_f[s, j, i]), float(smooth_m[s, j, i])
        score = max(f, m) if criterion == minimax() else max(f - 0.2, 0.0) / 0.2 + m
        violated = criterion != minimax() and f > 0.2 + TOL_ROUNDING
        keys[s, j, i] = (violated, round(score, 12), round(f + m, 12), s, -j, -i)
    assert chosen == min(keys, key=keys.get)


def test_hulls_that_meet_predict_no_event():
    """Where f = 0 everywhere all events are missed and there are no false alarms."""
    given = sample()
    given = Distinct(given.X, np.random.default_rng(1).permutation(given.y), given.weights, given.fold)
    rates = whole(ErrorRates(given, [Linear()], NU_EVENT, NU_OTHER, Effort()))
    p_f, p_m = by_hand(given, kernel="linear")
    met = rates.constant[0] == FOLDS
    assert met.any() and not met.all()
    assert (rates.p_f[0][met] == 0.0).all() and (rates.p_m[0][met] == 1.0).all()
    agree = ~np.isnan(rates.p_f[0]) & ~np.isnan(p_f)
    assert agree[met].all() and agree.sum() > met.sum()
    np.testing.assert_allclose(rates.p_f[0][agree], p_f[agree], rtol=TOL_ROUNDING)
    np.testing.assert_allclose(rates.p_m[0][agree], p_m[agree], rtol=TOL_ROUNDING)


def test_a_weight_of_two_is_the_row_twice():
    given = sample()
    w = np.resize([1, 2, 1, 3], len(given.y))
    weighted = Distinct(given.X, given.y, w.astype(float), given.fold)
    at = np.repeat(np.arange(len(w)), w)
    repeated = Distinct(given.X[at], given.y[at], np.ones(len(at)), given.fold[at])
    one, two = whole(rates_of(weighted)), whole(rates_of(repeated))
    resolved = ~np.isnan(one.p_f + two.p_f)
    assert resolved.mean() > 0.9
    np.testing.assert_allclose(one.p_f[resolved], two.p_f[resolved], rtol=TOL_ROUNDING)
    np.testing.assert_allclose(one.p_m[resolved], two.p_m[resolved], rtol=TOL_ROUNDING)


def test_the_scale_of_the_weights_does_not_matter():
    given = sample(weighted=True)
    one = whole(rates_of(given))
    two = whole(rates_of(Distinct(given.X, given.y, 8.0 * given.weights, given.fold)))
    np.testing.assert_allclose(one.p_f, two.p_f, rtol=TOL_ROUNDING)
    np.testing.assert_allclose(one.p_m, two.p_m, rtol=TOL_ROUNDING)


def test_the_order_of_rows_and_of_values_does_not_matter():
    given = sample(weighted=True)
    one = whole(rates_of(given))
    at = np.random.default_rng(2).permutation(len(given.y))
    two = whole(rates_of(Distinct(given.X[at], given.y[at], given.weights[at], given.fold[at])))
    np.testing.assert_allclose(one.p_f, two.p_f, rtol=TOL_ROUNDING)
    order = [2, 0, 3, 1, 1]
    three = whole(rates_of(given, nu_event=NU_EVENT[order]))
    np.testing.assert_array_equal(three.p_f, one.p_f[:, :, order])
    np.testing.assert_array_equal(three.p_m, one.p_m[:, :, order])


def test_classes_that_change_places():
    """With the other level as the event, ν₊ and ν₋ as well as P_F and P_M change places."""
    given = sample(weighted=True)
    one = whole(rates_of(given))
    two = whole(rates_of(Distinct(given.X, -given.y, given.weights, given.fold), nu_event=NU_OTHER, nu_other=NU_EVENT))
    np.testing.assert_allclose(two.p_f.transpose(0, 2, 1), one.p_m, rtol=TOL_ROUNDING)
    np.testing.assert_allclose(two.p_m.transpose(0, 2, 1), one.p_f, rtol=TOL_ROUNDING)


# -- blocks ------------------------------------------------------------------------------------------------------------

FINE = np.arange(1, 11) / 10.0
SMALL_GAMMAS = (0.01, 0.05, 0.6)
"""At the first two the small values of ν are not resolved."""


def compared(one, two):
    for name in ("p_f", "p_m", "unresolved", "constant", "known"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def mixed(weighted=False):
    """A sample whose classes a plane does not tell apart, so that hulls of the linear kernel meet."""
    given = sample(40, weighted=weighted)
    y = np.where(np.arange(40) % 7 == 0, -given.y, given.y)
    return Distinct(given.X, y, given.weights, np.arange(40) // 7 % FOLDS)


def fine(given, kernels):
    return ErrorRates(given, kernels, FINE, FINE, Effort())


KERNELS = [*(RBF(gamma) for gamma in SMALL_GAMMAS), Linear()]


def test_the_examples_below_have_points_of_every_kind():
    rates = whole(fine(mixed(), KERNELS))
    some = (rates.unresolved > 0) & (rates.unresolved < FOLDS)
    assert some.any() and (rates.unresolved == 0).any() and (rates.constant > 0).any()
    np.testing.assert_array_equal(np.isnan(rates.p_f), rates.unresolved > 0)
    np.testing.assert_array_equal(np.isnan(rates.p_m), rates.unresolved > 0)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_point_alone_is_the_point_in_the_grid(kernel, weighted):
    given = mixed(weighted)
    grid, alone = whole(fine(given, [kernel])), fine(given, [kernel])
    for j, i in np.ndindex(10, 10):
        alone.estimate((range(1), range(j, j + 1), range(i, i + 1)))
    compared(alone.surface, grid)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_blocks_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    grid, parts = whole(fine(mixed(), KERNELS)), fine(mixed(), KERNELS)
    blocks = [(range(s, s + 1), range(j, j + 5), range(i, i + 2)) for s in range(4) for j in (0, 5) for i in range(9)]
    for k in rng.permutation(len(blocks)):
        parts.estimate(blocks[k])
    compared(parts.surface, grid)


def test_smaller_nu_are_not_resolved_where_larger_ones_are_not():
    rates = whole(fine(mixed(), KERNELS))
    lost = rates.unresolved
    assert (np.diff(lost, axis=1) <= 0).all() and (np.diff(lost, axis=2) <= 0).all()


@pytest.mark.parametrize("search", SEARCHES)
def test_points_that_are_not_resolved_are_never_chosen(search):
    for criterion in CRITERIA:
        for kind in (None, "2d", "3d"):
            rates = fine(mixed(), KERNELS)
            at = search(rates, criterion, kind)
            found = rates.surface
            assert found.unresolved[at] == 0 and np.isfinite(found.p_f[at] + found.p_m[at])


def test_a_block_makes_its_points_known_and_no_others():
    rates = rates_of(sample())
    block = (range(1, 2), range(1, 3), range(0, 2))
    rates.estimate(block)
    expected = np.zeros(rates.shape, bool)
    expected[np.ix_(*block)] = True
    np.testing.assert_array_equal(rates.surface.known, expected)
    np.testing.assert_array_equal(~np.isnan(rates.surface.p_f), expected)


def test_what_is_known_is_not_estimated_again(monkeypatch):
    rates = rates_of(sample())
    whole(rates)
    monkeypatch.setattr("svmstat.tuning.nu_search.nu_grid_errors", None)  # a call of it would fail
    rates.estimate((range(2), range(1, 2), range(4)))
    assert search_grid(rates, minimax(), "3d") is not None


def test_workers_do_not_matter():
    compared(whole(rates_of(sample(), n_jobs=1)), whole(rates_of(sample(), n_jobs=2)))


# -- descents ----------------------------------------------------------------------------------------------------------


class Given(ErrorRates):
    """Error rates that are given (S, J, I), and the blocks that were asked for."""

    def __init__(self, p_f, p_m):
        S, J, I = p_f.shape  # noqa: E741
        super().__init__(None, [None] * S, np.arange(1, I + 1) / I, np.arange(1, J + 1) / J, Effort())
        self.given, self.blocks = (p_f, p_m), []

    def estimate(self, block):
        self.blocks.append(block)
        at = np.ix_(*block)
        self.surface.p_f[at], self.surface.p_m[at] = self.given[0][at], self.given[1][at]
        self.surface.known[at] = True


def drawn(shape, seed, missing=0.0):
    rng = np.random.default_rng(seed)
    p_f, p_m = rng.integers(0, 20, (2, *shape)) / 20.0
    lost = rng.random(shape) < missing
    return np.where(lost, np.nan, p_f), np.where(lost, np.nan, p_m)


def lines(shape, at, axes=(0, 1, 2)):
    """The points on the lines through a point."""
    found = set()
    for axis in axes:
        for value in range(shape[axis]):
            found.add(tuple(value if each == axis else at[each] for each in range(3)))
    return found


shapes = st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(1, 6))
kinds = st.sampled_from([None, "2d", "3d"])
criteria = st.sampled_from(CRITERIA)


@given(shape=shapes, seed=st.integers(0, 2**32 - 1), kind=kinds, criterion=criteria, missing=st.sampled_from([0, 0.3]))
def test_a_descent_ends_at_the_best_point_of_its_lines(shape, seed, kind, criterion, missing):
    p_f, p_m = drawn(shape, seed, missing)
    end = coordinate_descent(Given(p_f, p_m), criterion, kind)
    if end is None:
        return
    full = whole(Given(p_f, p_m))
    assert full.best(criterion, kind, lines(shape, end)) == end


@given(shape=shapes, seed=st.integers(0, 2**32 - 1), kind=kinds, criterion=criteria)
def test_only_lines_and_their_tubes_are_visited(shape, seed, kind, criterion):
    rates = Given(*drawn(shape, seed))
    coordinate_descent(rates, criterion, kind)
    start = ((shape[0] - 1) // 2, *(int(np.abs(values - 0.5).argmin()) for values in (rates.nu_other, rates.nu_event)))
    assert all(start[axis] in rates.blocks[0][axis] for axis in range(3))
    known = np.zeros(shape, bool)
    for number, block in enumerate(rates.blocks):
        along = number % 3
        for axis, reach in enumerate(block):
            if axis == along:
                assert reach == range(shape[axis])
            else:
                assert len(reach) <= (3 if axis in SMOOTHINGS[kind] else 1)
        known[np.ix_(*block)] = True
    np.testing.assert_array_equal(rates.surface.known, known)


@given(shape=shapes, seed=st.integers(0, 2**32 - 1), kind=kinds, criterion=criteria)
def test_descents_by_kernel(shape, seed, kind, criterion):
    """The best of the ends of a descent for each kernel, all of whose points have the same kernel."""
    p_f, p_m = drawn(shape, seed)
    rates = Given(p_f, p_m)
    end = coordinate_descent_by_kernel(rates, criterion, kind)
    full = whole(Given(p_f, p_m))
    assert full.best(criterion, kind, lines(shape, end, (1, 2))) == end
    if kind == "3d":
        return  # what a kernel alone would see is smoothed otherwise
    ends = [coordinate_descent(Given(p_f[[s]], p_m[[s]]), criterion, kind) for s in range(shape[0])]
    expected = full.best(criterion, kind, [(s, *cell[1:]) for s, cell in enumerate(ends)])
    assert end == expected
    if kind is None:
        assert all(len(block[0]) == 1 for block in rates.blocks)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("kind", [None, "2d", "3d"])
@pytest.mark.parametrize("lowest", [(0, 0, 0), (3, 2, 6), (4, 7, 1), (2, 7, 7)])
def test_a_bowl_has_one_lowest_point(search, kind, lowest):
    """P_M a sum of convex functions of each coordinate, no false alarms: every search ends where it is least."""
    steps = np.indices((5, 8, 8)) - np.array(lowest)[:, None, None, None]
    p_m = (steps**2).sum(axis=0) / 200.0
    for criterion in CRITERIA:
        assert search(Given(np.zeros(p_m.shape), p_m), criterion, kind) == lowest


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_of_equal_points_the_smoothest_fit(search, criterion):
    """The earlier kernel, the larger ν₋, the larger ν₊."""
    flat = np.full((3, 4, 5), 0.25)
    assert search(Given(0.5 * flat, flat), criterion, None)[1:] == (3, 4)
    assert search(Given(0.5 * flat, flat), criterion, None)[0] == 0


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("kind", [None, "2d", "3d"])
def test_nothing_known_is_nothing_found(search, kind):
    nothing = np.full((2, 3, 3), np.nan)
    assert search(Given(nothing, nothing), minimax(), kind) is None


@pytest.mark.parametrize("kind", [None, "2d", "3d"])
def test_a_descent_on_real_rates(kind):
    """Its end is the best of the full grid's estimates on its lines, and its estimates are those of the grid."""
    nu = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    given = sample()
    for criterion in CRITERIA:
        rates = rates_of(given, (0.1, 0.5, 1.5), nu, nu)
        end = coordinate_descent(rates, criterion, kind)
        grid = whole(rates_of(given, (0.1, 0.5, 1.5), nu, nu))
        assert grid.best(criterion, kind, lines(grid.shape, end)) == end
        known = rates.surface.known
        np.testing.assert_array_equal(rates.surface.p_f[known], grid.p_f[known])
        assert known.sum() < grid.known.sum() or kind == "3d"


@given(shape=shapes, seed=st.integers(0, 2**32 - 1), kind=kinds, criterion=criteria)
def test_the_best_of_some_points(shape, seed, kind, criterion):
    rates = whole(Given(*drawn(shape, seed, 0.2)))
    rng = np.random.default_rng(seed)
    cells = [cell for cell in np.ndindex(*shape) if rng.random() < 0.5] or [(0, 0, 0)]
    found = rates.best(criterion, kind, cells)
    smooth_f, smooth_m = rates.smoothed(kind)
    ordered = sorted(cells, key=lambda cell: (cell[0], -cell[1], -cell[2]))
    at = best_cell(criterion, np.array([smooth_f[c] for c in ordered]), np.array([smooth_m[c] for c in ordered]))
    assert found == (None if at < 0 else ordered[at])
    assert rates.best(criterion, kind, cells[::-1] + cells) == found


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[], [0.0], [0.5, 1.1], [-0.5], [np.nan], [[0.5]]])
@pytest.mark.parametrize("name", ["nu_event", "nu_other"])
def test_values_outside_the_square(name, values):
    given = sample()
    both = {"nu_event": NU_EVENT, "nu_other": NU_OTHER, name: np.array(values)}
    with pytest.raises(ArgumentError, match=rf"{name}=.* is not allowed: it must be a sequence of numbers in \(0, 1\]"):
        nu_grid_errors([RBF(1.0)], given.X, given.y, given.weights, given.fold, **both)


def test_a_fold_with_all_rows_of_a_class():
    given = sample()
    fold = np.where(given.y > 0, 0, 1 + np.arange(48) % 3)
    with pytest.raises(DataError, match="fold 0 holds all rows of a class"):
        nu_grid_errors([RBF(1.0)], given.X, given.y, given.weights, fold, NU_EVENT, NU_OTHER)
