"""Votes by their rule, class probabilities by the definition of their coupling, at any decision values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from levels import COUPLINGS
from scipy.optimize import minimize
from scipy.special import expit

from svmstat.calibration import Maps, couple, coupled, log_of_own
from svmstat.kernels import RBF
from svmstat.machine import pairs_of, vote

TOL_SAME = 1e-12  # the same formula in another order
TOL_MINIMISER = 1e-5  # BFGS stops where the divergence is flat to rounding: the root of 1e-16 with some digits to spare
LEAST = np.finfo(float).tiny

both = pytest.mark.parametrize("coupling", COUPLINGS)
seeds = st.integers(0, 2**32 - 1)


def random_maps(K, rng, size=()):
    """Decision values (..., P), A, B and totals."""
    P = K * (K - 1) // 2
    f = rng.normal(size=(*size, P))
    return f, -rng.uniform(0.2, 3, P), rng.normal(size=P), rng.uniform(1, 40, K)


def pairwise(f, slope, intercept, pairs):
    """r (K, K) of one row, with r_ij the Platt probability of pair (i, j)."""
    K = pairs[-1][1] + 1
    r = np.full((K, K), 0.5)
    for p, (i, j) in enumerate(pairs):
        r[i, j] = expit(-(slope[p] * f[p] + intercept[p]))
        r[j, i] = expit(slope[p] * f[p] + intercept[p])
    return r


# -- the pairs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 4, 9])
def test_pairs_of(pairs, K):
    assert [tuple(pair) for pair in pairs_of(K).tolist()] == pairs(K)
    with pytest.raises(ValueError, match="read-only"):
        pairs_of(K)[0, 0] = 5


# -- votes -------------------------------------------------------------------------------------------------------------


def vote_by_hand(f, pairs):
    """The winner for one row (P,): most votes, then the largest sum, then the first."""
    K = pairs[-1][1] + 1
    votes, sums = [0] * K, [0.0] * K
    for value, (i, j) in zip(f.tolist(), pairs, strict=True):
        votes[i if value > 0 else j] += 1
        sums[i] += value
        sums[j] -= value
    return min(range(K), key=lambda k: (-votes[k], -sums[k], k))


@given(seed=seeds, K=st.integers(2, 7), grid=st.booleans())
def test_votes(pairs, seed, K, grid):
    """Whole numbers, too, which have ties of votes and of sums."""
    rng = np.random.default_rng(seed)
    shape = (40, K * (K - 1) // 2)
    f = rng.integers(-1, 2, shape) * 1.0 if grid else rng.normal(size=shape)
    f[0] = np.nan
    f[1, -1] = np.nan
    winner = vote(f, pairs_of(K))
    np.testing.assert_array_equal(winner[:2], -1)
    assert winner[2:].tolist() == [vote_by_hand(row, pairs(K)) for row in f[2:]]


@pytest.mark.parametrize(
    ("f", "winner"),
    [
        ([1.0, 1.0, 1.0], 0),
        ([-1.0, 1.0, 1.0], 1),
        ([1.0, -1.0, -1.0], 2),
        ([0.0, 1.0, 1.0], 1),  # zero is a vote for the second class
        ([0.0, 0.0, 0.0], 2),
        ([1.0, -1.0, 1.0], 0),  # a circle: equal sums, the first
        ([1.0, -2.0, 1.0], 2),  # a circle: class 2 has the largest sum
        ([1.0, -1.0, 3.0], 1),
    ],
)
def test_the_rule_of_ties(f, winner):
    assert vote(np.array([f]), pairs_of(3)).tolist() == [winner]


def test_sums_count_only_among_the_classes_with_most_votes():
    """Class 3 has the largest sum but one vote; classes 0 and 1 have two."""
    f = np.array([[0.1, 0.1, -50.0, 0.1, 0.1, 0.1]])
    assert vote(f, pairs_of(4)).tolist() == [1]


def test_two_classes_vote_by_the_sign():
    assert vote(np.array([[2.0], [-2.0], [0.0], [np.nan], [1e300]]), pairs_of(2)).tolist() == [0, 1, 1, -1, 0]
    assert vote(np.empty((0, 3)), pairs_of(3)).shape == (0,)


# -- coupled -----------------------------------------------------------------------------------------------------------


@given(seed=seeds, K=st.integers(3, 6))
def test_squares_solve_their_linear_system(pairs, seed, K):
    """[[Q, e], [e', 0]] [p, −λ] = [0, 1] with Q_ii = Σ r_ji² and Q_ij = −r_ij r_ji."""
    f, slope, intercept, totals = random_maps(K, np.random.default_rng(seed))
    r = pairwise(f, slope, intercept, pairs(K))
    np.fill_diagonal(r, 0.0)
    Q = np.diag((r**2).sum(axis=0)) - r * r.T
    bordered = np.block([[Q, np.ones((K, 1))], [np.ones((1, K)), np.zeros((1, 1))]])
    expected = np.linalg.solve(bordered, np.eye(K + 1)[-1])[:-1]
    p = coupled(f[None], slope, intercept, totals, "wu-lin-weng")
    np.testing.assert_allclose(p[0], expected, rtol=0, atol=TOL_SAME)


@given(seed=seeds, K=st.integers(3, 6))
def test_divergence_is_least_with_the_sizes_of_the_pairs(pairs, seed, K):
    f, slope, intercept, totals = random_maps(K, np.random.default_rng(seed))
    r = pairwise(f, slope, intercept, pairs(K))

    def divergence(beta):
        value, gradient = 0.0, np.zeros(K)
        for i, j in pairs(K):
            n, odds = (totals[i] + totals[j]) / totals.sum(), beta[i] - beta[j]
            value += n * (r[i, j] * np.logaddexp(0, -odds) + r[j, i] * np.logaddexp(0, odds))
            excess = n * (expit(odds) - r[i, j])
            gradient[i] += excess
            gradient[j] -= excess
        return value, gradient

    beta = minimize(divergence, np.zeros(K), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    expected = np.exp(beta - beta.max())
    p = coupled(f[None], slope, intercept, totals, "hastie-tibshirani")
    np.testing.assert_allclose(p[0], expected / expected.sum(), rtol=0, atol=TOL_MINIMISER)


@both
def test_two_classes_have_the_probabilities_of_their_map(coupling):
    f, slope, intercept, totals = random_maps(2, np.random.default_rng(1), (30,))
    p = coupled(f, slope, intercept, totals, coupling)
    z = slope * f + intercept
    np.testing.assert_allclose(p, np.hstack([expit(-z), expit(z)]), rtol=TOL_SAME)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_maps_of_two_classes_keep_the_digits_of_likely_ones(order):
    """log(1 − 1e-30) is not zero."""
    maps = Maps(np.array([-1.0]), np.zeros(1), np.ones(1, bool), np.array([order]), np.ones(2), COUPLINGS[0], "loo")
    f, first = np.array([[70.0], [-3.0]]), np.full(2, order[0])
    np.testing.assert_allclose(maps.log_likelihoods(f, first), -np.log1p(np.exp(-f[:, 0])), rtol=TOL_SAME)
    np.testing.assert_allclose(maps.probabilities(f)[:, order[0]], expit(f[:, 0]), rtol=TOL_SAME)
    np.testing.assert_allclose(maps.probabilities(f)[:, order[1]], expit(-f[:, 0]), rtol=TOL_SAME)
    assert np.isnan(maps.log_likelihoods(f, np.full(2, -1))).all()


@both
@pytest.mark.parametrize("K", [2, 3, 5])
def test_shapes_broadcast(coupling, K):
    """Maps and totals for all, for each fit, or for each row: what the fits one by one have."""
    rng = np.random.default_rng(K)
    P = K * (K - 1) // 2
    f = rng.normal(size=(4, 7, P))
    slope, intercept = -rng.uniform(0.5, 2, (4, 1, P)), rng.normal(size=(4, 1, P))
    totals = rng.uniform(1, 40, (4, 1, K))
    p = coupled(f, slope, intercept, totals, coupling)
    assert p.shape == (4, 7, K)
    for b in range(4):
        alone = coupled(f[b], slope[b, 0], intercept[b, 0], totals[b, 0], coupling)
        assert alone.shape == (7, K)
        np.testing.assert_array_equal(p[b], alone)
        by_row = coupled(
            f[b], np.tile(slope[b], (7, 1)), np.tile(intercept[b], (7, 1)), np.tile(totals[b], (7, 1)), coupling
        )
        np.testing.assert_array_equal(by_row, alone)
        for k in range(7):
            np.testing.assert_array_equal(
                coupled(f[b, k], slope[b, 0], intercept[b, 0], totals[b, 0], coupling), p[b, k]
            )
    shared = coupled(f, slope[0, 0], intercept[0, 0], totals[0, 0], coupling)
    np.testing.assert_array_equal(shared[0], p[0])
    assert coupled(f[:0], slope[:0], intercept[:0], totals[:0], coupling).shape == (0, 7, K)


@both
@pytest.mark.parametrize("at_once", [1, 30])
def test_rows_in_parts_have_the_probabilities_of_all(monkeypatch, coupling, at_once):
    """One row at a time, also where a single one has more pairs than that; three; totals of each row are its own."""
    rng = np.random.default_rng(0)
    f, slope, intercept, _ = random_maps(3, rng, (11,))
    totals = rng.uniform(1, 40, (11, 3))
    expected = coupled(f, slope, intercept, totals, coupling)
    monkeypatch.setattr("svmstat.calibration.maps._AT_ONCE", at_once)
    np.testing.assert_array_equal(coupled(f, slope, intercept, totals, coupling), expected)


@both
@given(seed=seeds, K=st.integers(2, 6), decade=st.sampled_from([0.0, 1.0, 3.0, 20.0, 150.0]))
def test_finite_values_have_probabilities(coupling, seed, K, decade):
    """Decision values and maps of any size: no NaN, no warning, sums of one."""
    rng = np.random.default_rng(seed)
    P = K * (K - 1) // 2
    f = rng.normal(size=(20, P)) * 10.0 ** rng.uniform(-decade, decade, (20, P))
    f[rng.random(f.shape) < 0.1] = 0.0
    slope = rng.normal(size=P) * 10.0 ** rng.uniform(-decade, decade, P)
    intercept = rng.normal(size=P) * 10.0 ** rng.uniform(0, decade, P)
    p = coupled(f, slope, intercept, rng.uniform(1e-3, 1e4, K), coupling)
    assert np.isfinite(p).all() and (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=TOL_SAME)


@both
def test_nan_stays_in_its_row(coupling):
    f, slope, intercept, totals = random_maps(4, np.random.default_rng(2), (6,))
    expected = coupled(f, slope, intercept, totals, coupling)
    f[[1, 4], [0, 5]] = np.nan
    p = coupled(f, slope, intercept, totals, coupling)
    np.testing.assert_array_equal(np.isnan(p).all(axis=1), np.isnan(p).any(axis=1))
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(p[:, 0])), [1, 4])
    np.testing.assert_array_equal(p[[0, 2, 3, 5]], expected[[0, 2, 3, 5]])
    assert np.isnan(coupled(np.full((2, 6), np.nan), slope, intercept, totals, coupling)).all()


@both
def test_a_map_that_is_not_known_is_nan_everywhere(coupling):
    f, slope, intercept, totals = random_maps(3, np.random.default_rng(3), (4,))
    slope[1] = np.nan
    assert np.isnan(coupled(f, slope, intercept, totals, coupling)).all()


@both
def test_the_maps_of_a_fit(clouds, fit, pairs, coupling):
    X, codes = clouds(60, 4, seed=4)
    weights = np.random.default_rng(5).choice([0.5, 1.0, 2.0], 60)
    machine, maps = fit(RBF(0.5), X, codes, weights, coupling=coupling)
    f = machine.decision_values
    r = np.array([pairwise(row, maps.slope, maps.intercept, pairs(4)) for row in f])
    totals = np.bincount(codes, weights)
    np.testing.assert_allclose(maps.totals, totals, rtol=TOL_SAME)
    sizes = totals[:, None] + totals
    np.testing.assert_allclose(maps.probabilities(f), couple(r, coupling, sizes), rtol=0, atol=TOL_SAME)


def test_the_same_maps_in_another_coupling():
    f, slope, intercept, totals = random_maps(4, np.random.default_rng(8), (5,))
    maps = Maps(slope, intercept, np.ones(6, bool), pairs_of(4), totals, COUPLINGS[0], "loo")
    other = maps.with_coupling(COUPLINGS[1])
    assert (maps.coupling, other.coupling, other.kind) == (*COUPLINGS, "loo")
    expected = coupled(f, slope, intercept, totals, COUPLINGS[1])
    np.testing.assert_array_equal(other.probabilities(f), expected)


def test_sizes_matter_to_the_divergence_alone():
    f, slope, intercept, totals = random_maps(4, np.random.default_rng(6), (5,))
    for coupling, same in zip(COUPLINGS, (True, False), strict=True):
        maps = Maps(slope, intercept, np.ones(6, bool), pairs_of(4), totals, coupling, "insample")
        other = Maps(slope, intercept, np.ones(6, bool), pairs_of(4), totals[::-1] ** 2, coupling, "insample")
        scaled = Maps(slope, intercept, np.ones(6, bool), pairs_of(4), 7.0 * totals, coupling, "insample")
        assert np.array_equal(maps.probabilities(f), other.probabilities(f)) == same
        np.testing.assert_allclose(scaled.probabilities(f), maps.probabilities(f), rtol=0, atol=TOL_SAME)


# -- log-likelihoods ---------------------------------------------------------------------------------------------------


def test_log_likelihoods():
    rng = np.random.default_rng(7)
    p, codes = rng.dirichlet(np.ones(4), (3, 5)), np.array([0, 3, -1, 2, 1])
    values = log_of_own(p, codes)
    assert values.shape == (3, 5)
    for k, code in enumerate(codes.tolist()):
        expected = np.log(p[:, k, code]) if code >= 0 else np.full(3, np.nan)
        np.testing.assert_array_equal(values[:, k], expected)
    np.testing.assert_array_equal(log_of_own(p[0], codes), values[0])


def test_log_likelihoods_have_a_floor():
    p = np.array([[0.0, 1.0], [5e-324, 1.0], [LEAST, 1.0], [1e-300, 1.0], [np.nan, np.nan]])
    values = log_of_own(p, np.zeros(5, np.intp))
    np.testing.assert_array_equal(values, np.log([LEAST, LEAST, LEAST, 1e-300, np.nan]))
    np.testing.assert_array_equal(log_of_own(p[:4], np.ones(4, np.intp)), 0.0)


@both
def test_a_row_that_could_not_be_wrong_has_a_finite_log_likelihood(coupling):
    f = np.array([[1e6, 1e6, 1e6]])
    p = coupled(f, np.full(3, -1e3), np.zeros(3), np.ones(3), coupling)
    for code in range(3):
        assert np.log(LEAST) <= log_of_own(p, np.array([code]))[0] <= 0.0
