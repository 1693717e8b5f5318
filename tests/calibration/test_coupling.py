"""Both couplings against constrained minimisers, exact arithmetic and the identities of their minima."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, softmax, xlogy

from svmstat.calibration.coupling import METHODS, couple, coupled_by_squares
from svmstat.calibration.coupling import pairwise as of_decisions
from svmstat.errors import ArgumentError

TOL_SQUARES = 1e-10  # excess of the sum of squares over its minimum
TOL_DIVERGENCE = 1e-9  # excess of the divergence over its infimum, which an r below 1e-30 moves by some 1e-28
TOL_SYSTEM = 1e-12  # residual of a linear system of 21 rows with elements of at most 20
TOL_WINS = 1e-12  # expected minus given wins of a class in at most 19 pairs
TOL_SAME = 1e-12  # the same sums in another order
TOL_DIGITS = 1e-9  # of each probability, however small: at 1e-20, rounding of r leaves some 1e-12

SIZES = (3, 4, 5, 7, 10, 14, 20)
KINDS = ("mild", "inconsistent", "nearly consistent", "near 0 or 1", "some 0 or 1", "all 0 or 1", "layers")
REPEATS = 6

wu_lin_weng, hastie_tibshirani = METHODS
seeds = st.integers(0, 2**32 - 1)
both = pytest.mark.parametrize("method", METHODS)


def pairwise(kind, k, rng):
    """Pairwise probabilities (k, k) of one row."""
    spread, noise = {"inconsistent": (0, 6), "nearly consistent": (3, 0.1), "near 0 or 1": (25, 5)}.get(kind, (1, 1))
    scores, off = spread * rng.normal(size=k), noise * rng.normal(size=(k, k))
    r = expit(scores[:, None] - scores + off - off.T)
    if kind == "layers":
        layer = rng.integers(0, 3, k)
        return np.where(layer[:, None] == layer, r, layer[:, None] > layer)
    if kind.endswith("0 or 1") and kind != "near 0 or 1":
        sure = np.triu(rng.random((k, k)) < (1.0 if kind.startswith("all") else 0.4), 1)
        winner = rng.integers(0, 2, (k, k)) * 1.0
        r = np.where(sure, winner, np.where(sure.T, 1 - winner.T, r))
    return r


def consistent(p):
    return p[:, None] / (p[:, None] + p)


def squares(p, r):
    """½ Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)²."""
    difference = r.T * p[:, None] - r * p
    np.fill_diagonal(difference, 0.0)
    return 0.5 * (difference**2).sum()


def quadratic_form(r):
    q = -r * r.T
    np.fill_diagonal(q, (r**2).sum(axis=0) - np.diag(r) ** 2)
    return q


def divergence(beta, r, weights):
    """Σ_{i<j} n_ij [r_ij log(r_ij / μ_ij) + r_ji log(r_ji / μ_ji)] at β = log p, and its gradient in β."""
    odds = beta[:, None] - beta
    above = np.triu(weights, 1)
    value = (above * (xlogy(r, r) + xlogy(r.T, r.T) + r * np.logaddexp(0, -odds) + r.T * np.logaddexp(0, odds))).sum()
    n = above + above.T
    return value, (n * (r.T * expit(odds) - r * expit(-odds))).sum(axis=1)


def pair_counts(k, rng):
    sizes = rng.integers(3, 60, k)
    return np.add.outer(sizes, sizes) * 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", SIZES)
def test_squares_against_a_constrained_minimiser(kind, k):
    rng = np.random.default_rng(k)
    for r in [pairwise(kind, k, rng) for _ in range(REPEATS)]:
        p = couple(r[None])[0]
        q = quadratic_form(r)
        best = minimize(
            squares,
            np.full(k, 1 / k),
            (r,),
            jac=lambda p, r, q=q: 2 * q @ p,
            method="SLSQP",
            bounds=[(0, 1)] * k,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert best.success
        assert squares(p, r) <= squares(best.x / best.x.sum(), r) + TOL_SQUARES
        np.testing.assert_allclose(p, best.x, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", SIZES)
def test_the_linear_system(kind, k):
    """[[Q, e], [e', 0]] [p, −λ] = [0, 1], and λ = p'Qp."""
    rng = np.random.default_rng(k)
    for r in [pairwise(kind, k, rng) for _ in range(REPEATS)]:
        p = couple(r[None])[0]
        q, ones = quadratic_form(r), np.ones((k, 1))
        bordered = np.block([[q, ones], [ones.T, np.zeros((1, 1))]])
        np.testing.assert_allclose(q @ p, p @ q @ p, rtol=0, atol=TOL_SYSTEM)
        np.testing.assert_allclose(p, np.linalg.solve(bordered, np.eye(k + 1)[-1])[:-1], rtol=0, atol=TOL_SYSTEM)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_divergence_against_a_general_minimiser(kind, k, weighted):
    rng = np.random.default_rng(k + 100)
    weights = pair_counts(k, rng) / 60 if weighted else np.ones((k, k))
    for r in [pairwise(kind, k, rng) for _ in range(REPEATS)]:
        p = couple(r[None], hastie_tibshirani, weights)[0]
        best = minimize(divergence, np.zeros(k), (r, weights), jac=True, method="BFGS", options={"gtol": 1e-10})
        value, gradient = divergence(np.log(p), r, weights)
        assert value <= best.fun + TOL_DIVERGENCE
        np.testing.assert_allclose(gradient, 0.0, atol=TOL_WINS)
        assert abs(gradient @ np.log(p)) <= TOL_DIVERGENCE  # the gap to the dual, the entropy of μ with the same wins


@given(seed=seeds, k=st.integers(3, 20), kind=st.sampled_from(KINDS))
def test_a_fixed_point_of_the_authors_iteration(seed, k, kind):
    rng = np.random.default_rng(seed)
    r, weights = pairwise(kind, k, rng), pair_counts(k, rng)
    pairs = ~np.eye(k, dtype=bool)
    won = np.maximum(weights / weights[pairs].max() * r, 1e-30) * pairs
    p = couple(r[None], hastie_tibshirani, weights)[0]
    following = p * won.sum(axis=1) / ((won + won.T) * consistent(p)).sum(axis=1)
    np.testing.assert_allclose(following, p, rtol=TOL_DIGITS)


@both
@given(seed=seeds, k=st.integers(3, 20), spread=st.sampled_from([0.0, 0.1, 1.0, 4.0]))
def test_consistent_probabilities_are_recovered(method, seed, k, spread):
    rng = np.random.default_rng(seed)
    p = softmax(spread * rng.normal(size=k))
    np.testing.assert_allclose(couple(consistent(p)[None], method, pair_counts(k, rng))[0], p, rtol=TOL_DIGITS)


@both
def test_small_probabilities_keep_their_digits(method):
    p = np.array([1e-20, 1.0, 3e-20, 1e-13, 1e-7])
    np.testing.assert_allclose(couple(consistent(p)[None], method)[0], p / p.sum(), rtol=TOL_DIGITS)


@given(seed=seeds, k=st.integers(3, 6), kind=st.sampled_from(KINDS))
def test_linear_system_in_exact_arithmetic(seed, k, kind):
    r = pairwise(kind, k, np.random.default_rng(seed))
    got = couple(r[None])[0]
    np.testing.assert_allclose(got, exact_minimiser(r), rtol=TOL_DIGITS, atol=1e-28)
    assert (got >= 0).all()


def exact_minimiser(r):
    """The solution of [[Q, e], [e', 0]] in fractions, by Gauss–Jordan elimination."""
    k = len(r)
    exact = [[Fraction(x) for x in row] for row in r]
    table = [[-exact[i][j] * exact[j][i] for j in range(k)] + [Fraction(1), Fraction(0)] for i in range(k)]
    for i in range(k):
        table[i][i] = sum(exact[j][i] ** 2 for j in range(k) if j != i)
    table.append([Fraction(1)] * k + [Fraction(0), Fraction(1)])
    for c in range(k + 1):
        pivot = next(row for row in range(c, k + 1) if table[row][c] != 0)
        table[c], table[pivot] = table[pivot], table[c]
        table[c] = [x / table[c][c] for x in table[c]]
        for row in range(k + 1):
            if row != c and table[row][c] != 0:
                table[row] = [x - table[row][c] * y for x, y in zip(table[row], table[c], strict=True)]
    return [float(table[i][-1]) for i in range(k)]


@both
@given(seed=seeds, k=st.integers(3, 20), kind=st.sampled_from(KINDS))
def test_classes_in_another_order(method, seed, k, kind):
    rng = np.random.default_rng(seed)
    r, weights, order = pairwise(kind, k, rng), pair_counts(k, rng), rng.permutation(k)
    p = couple(r[None], method, weights)[0]
    permuted = couple(r[order][:, order][None], method, weights[order][:, order])[0]
    np.testing.assert_allclose(permuted, p[order], rtol=0, atol=TOL_SAME)


@both
@given(upper=st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_two_classes(method, upper):
    r = np.full((len(upper), 2, 2), np.nan)
    r[:, 0, 1], r[:, 1, 0] = upper, 1 - np.array(upper)
    p = couple(r, method)
    np.testing.assert_array_equal(p[:, 0], upper)
    np.testing.assert_array_equal(p[:, 1], 1 - np.array(upper))


ends = st.sampled_from([0.0, 1.0, 0.5, 5e-324, 1e-300, 1e-160, 1e-30, 1e-17, 1 - 2**-53])


@both
@given(data=st.data(), k=st.integers(3, 7))
def test_always_probabilities(method, data, k):
    pairs = np.triu_indices(k, 1)
    above = data.draw(st.lists(st.floats(0, 1) | ends, min_size=len(pairs[0]), max_size=len(pairs[0])))
    r = np.zeros((k, k))
    r[pairs] = above
    r.T[pairs] = 1 - r[pairs]
    p = couple(r[None], method)[0]
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1, abs=1e-12)


@both
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [3, 20])
def test_rows_sum_to_one_and_do_not_meet(method, kind, k):
    rng = np.random.default_rng(5)
    r = np.stack([pairwise(kind, k, rng) for _ in range(20)])
    p = couple(r, method)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=TOL_SAME)
    np.testing.assert_array_equal(p[7:9], couple(r[7:9], method))
    np.testing.assert_array_equal(p, couple(np.asfortranarray(r), method))


@both
@pytest.mark.parametrize("k", [3, 8, 20])
def test_a_strict_ranking(method, k):
    """Each class beats all later ones for certain: all weight on the first."""
    p = couple(np.triu(np.ones((k, k)), 1)[None], method)[0]
    np.testing.assert_allclose(p, np.eye(k)[0], rtol=0, atol=1e-27)


@both
@pytest.mark.parametrize("k", [3, 5, 20])
def test_a_circle(method, k):
    """Each class beats the next for certain and the others half of the time: nothing tells them apart."""
    r = np.full((k, k), 0.5)
    for i in range(k):
        r[i, (i + 1) % k], r[(i + 1) % k, i] = 1.0, 0.0
    np.testing.assert_allclose(couple(r[None], method)[0], 1 / k, rtol=TOL_SAME)


def test_the_limit_of_the_divergence():
    """Two classes that beat the others for certain share p as they do alone; the others get none."""
    r = np.array([[0.5, 0.3, 1, 1], [0.7, 0.5, 1, 1], [0, 0, 0.5, 0.9], [0, 0, 0.1, 0.5]])
    p = couple(r[None], hastie_tibshirani)[0]
    np.testing.assert_allclose(p, [0.3, 0.7, 0, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(p[2] / p[3], 9, rtol=TOL_DIGITS)


@given(seed=seeds, k=st.integers(3, 10))
def test_the_unit_of_the_weights_does_not_matter(seed, k):
    rng = np.random.default_rng(seed)
    r, weights = pairwise("mild", k, rng), pair_counts(k, rng)
    one = couple(r[None], hastie_tibshirani, weights)
    np.testing.assert_allclose(couple(r[None], hastie_tibshirani, 1e6 * weights), one, rtol=TOL_SAME)
    equal = couple(r[None], hastie_tibshirani, np.full((k, k), 7.0))
    np.testing.assert_allclose(equal, couple(r[None], hastie_tibshirani), rtol=TOL_SAME)


def test_weights_move_one_coupling_only():
    rng = np.random.default_rng(2)
    r, weights = pairwise("mild", 4, rng)[None], pair_counts(4, rng)
    np.testing.assert_array_equal(couple(r, wu_lin_weng, weights), couple(r))
    assert np.abs(couple(r, hastie_tibshirani, weights) - couple(r, hastie_tibshirani)).max() > 1e-4


def test_a_pair_of_weight_zero_is_absent():
    rng = np.random.default_rng(4)
    r, weights = pairwise("mild", 5, rng), pair_counts(5, rng)
    weights[1, 3] = weights[3, 1] = 0.0
    other = r.copy()
    other[1, 3], other[3, 1] = 0.999, 0.001
    p = couple(np.stack([r, other]), hastie_tibshirani, weights)
    np.testing.assert_allclose(p[0], p[1], rtol=TOL_SAME)
    np.testing.assert_allclose(divergence(np.log(p[0]), r, weights)[1] / weights.max(), 0.0, atol=TOL_WINS)


def test_a_class_without_pairs():
    """Its weight is not determined, that of the others among themselves is."""
    r = pairwise("near 0 or 1", 5, np.random.default_rng(4))
    weights = np.ones((5, 5))
    weights[0, :] = weights[:, 0] = 0.0
    p = couple(r[None], hastie_tibshirani, weights)[0]
    alone = couple(r[None, 1:, 1:], hastie_tibshirani)[0]
    assert p.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(p[1:] / p[1:].sum(), alone, rtol=TOL_DIGITS)


@both
@pytest.mark.parametrize("k", [2, 3, 10])
def test_rows_with_nan(method, k):
    rng = np.random.default_rng(0)
    r = np.stack([pairwise("mild", k, rng) for _ in range(5)])
    holed = r.copy()
    holed[1, 0, 1] = holed[3, 1, 0] = np.nan
    p = couple(holed, method)
    assert np.isnan(p[[1, 3]]).all()
    np.testing.assert_array_equal(p[[0, 2, 4]], couple(r[[0, 2, 4]], method))


@both
@pytest.mark.parametrize("diagonal", [np.nan, np.inf, 0.0, 17.0])
def test_the_diagonal_is_ignored(method, diagonal):
    r = pairwise("mild", 6, np.random.default_rng(0))
    other = np.where(np.eye(6, dtype=bool), diagonal, r)
    counts = np.where(np.eye(6, dtype=bool), diagonal, 2.0)
    np.testing.assert_array_equal(couple(other[None], method, counts), couple(r[None], method))


@both
@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_rows(method, k):
    assert couple(np.empty((0, k, k)), method).shape == (0, k)
    assert np.isnan(couple(np.full((2, k, k), np.nan), method)).all()


def test_unknown_method():
    with pytest.raises(ArgumentError, match="did you mean 'wu-lin-weng'"):
        couple(np.full((1, 3, 3), 0.5), "wu-lin")


def test_small_probabilities_of_consistent_pairs_keep_their_digits():
    rng = np.random.default_rng(1)
    for K in (4, 6, 10):
        for _ in range(200):
            log_p = -120.0 * rng.random(K)
            z = [log_p[j] - log_p[i] for i in range(K) for j in range(i + 1, K)]
            p = couple(of_decisions(np.array([z]), K))[0]
            np.testing.assert_allclose(np.log(p), np.log(softmax(log_p)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("z", [-90.0, -90.0 * (1.0 + 2.3e-16), -90.0 * (1.0 - 4.6e-16)])
def test_where_two_classes_agree_rounding_is_no_probability(z):
    """By exact elimination p_1 = 4.097e-40; what is left of a difference of 0 would make it 3e-34."""
    assert couple(of_decisions(np.array([[z, -2.0, 90.0]]), 3))[0, 1] == pytest.approx(4.0970063e-40, rel=1e-5, abs=0.0)


@pytest.mark.parametrize("k", [3, 4, 7])
@pytest.mark.parametrize("spread", [0.0, 1e-8, 1.0, 100.0])
def test_squares_without_an_array_of_all_pairs(k, spread):
    z = spread * np.random.default_rng(k).normal(size=(50, k * (k - 1) // 2))
    z[3, 1], z[5, 0], z[6, 2] = np.nan, np.inf, -800.0
    found = coupled_by_squares(z, k)
    assert np.isnan(found[3]).all() and np.isfinite(np.delete(found, 3, axis=0)).all()
    assert np.array_equal(found, couple(of_decisions(z, k)), equal_nan=True)
