"""Conformal p-values by counting, and what they promise of exchangeable rows."""

import numpy as np
import pytest

from svmstat.calibration.conformal import pvalues, pvalues_of_left_out, sets, shared_within, strangeness
from svmstat.objective.units import Units


def counted(scores, left_out, codes):
    """The definition, a number at a time; NaN among the rows left out counts as the strangest."""
    p = np.full(scores.shape, np.nan)
    for i, row in enumerate(scores):
        for level, s in enumerate(row):
            known = left_out[codes == level, level]
            if not np.isnan(s):
                p[i, level] = (1 + sum(not s_k < s for s_k in known)) / (len(known) + 1)
    return p


def drawn(K, n=40, m=30, seed=0, decimals=1):
    """Scores with many ties."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.resize(np.arange(K), n))
    return rng.normal(size=(m, K)).round(decimals), rng.normal(size=(n, K)).round(decimals), codes


def test_by_the_definition(K):
    scores, left_out, codes = drawn(K)
    scores[3, 0], left_out[5] = np.nan, np.nan
    np.testing.assert_allclose(pvalues(scores, left_out, codes, np.ones(40)), counted(scores, left_out, codes))


def test_rows_of_the_fit_do_not_count_themselves(K):
    """Each as a new row where it is not among the others."""
    _, left_out, codes = drawn(K, n=25, seed=1)
    found = pvalues_of_left_out(left_out, codes, np.ones(25))
    for k in range(25):
        others = np.arange(25) != k
        np.testing.assert_allclose(found[k], counted(left_out[[k]], left_out[others], codes[others])[0])
        own = left_out[codes == codes[k], codes[k]]
        rank = (own >= left_out[k, codes[k]]).sum()
        np.testing.assert_allclose(found[k, codes[k]], rank / len(own))


def test_weights_are_repeats(K):
    scores, left_out, codes = drawn(K, seed=2)
    weights = np.random.default_rng(3).integers(0, 4, 40)
    codes[np.flatnonzero(weights == 0)[0]] = -1
    many = np.repeat(np.arange(40), weights)
    known = weights > 0
    np.testing.assert_allclose(
        pvalues(scores, left_out, codes, 1.0 * weights),
        pvalues(scores, left_out[many], codes[many], np.ones(len(many))),
    )
    own = pvalues_of_left_out(left_out, codes, 1.0 * weights)
    repeated = pvalues_of_left_out(left_out[many], codes[many], np.ones(len(many)))
    np.testing.assert_allclose(own[many], repeated)
    absent = pvalues(left_out[~known], left_out, codes, 1.0 * weights)
    np.testing.assert_allclose(own[~known], absent)  # a row that is not there has nothing to leave out


def test_rounding_makes_no_difference(K):
    scores, left_out, codes = drawn(K, seed=4)
    noise = np.random.default_rng(5).normal(scale=1e-13, size=(40, K))
    expected = pvalues(scores, left_out, codes, np.ones(40))
    np.testing.assert_array_equal(pvalues(scores, left_out + noise, codes, np.ones(40)), expected)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("n", [5, 9, 19, 40])
def test_exchangeable_scores_are_covered_exactly(level, n):
    """Over all ranks that a new row may have among n + 1 different scores: the least share that is not below level."""
    left_out, codes = np.zeros((n, 1)), np.zeros(n, int)
    inside = []
    for rank in range(n + 1):
        every = np.arange(n + 1.0)
        left_out[:, 0] = np.delete(every, rank)
        inside.append(sets(pvalues(every[[rank], None], left_out, codes, np.ones(n)), level)[0, 0])
    assert np.sum(inside) == n + 1 - int((1 - level) * (n + 1) + 1e-9)
    assert all(inside) == (n < round(1 / (1 - level), 9) - 1)


def test_strangeness():
    f, p = np.array([[1.5], [-0.5]]), np.array([[0.2, 0.8], [0.6, 0.4]])
    np.testing.assert_array_equal(strangeness(f, p, np.array([[1, 0]])), np.column_stack([f, -f]))
    np.testing.assert_array_equal(strangeness(f, p, np.array([[0, 1]])), np.column_stack([-f, f]))
    many, pairs = np.array([[0.0, 0.25, 0.75], [np.nan] * 3]), np.array([[0, 1], [0, 2], [1, 2]])
    found = strangeness(np.zeros((2, 3)), many, pairs)
    np.testing.assert_allclose(found[0, 1:], -np.log([0.25, 0.75]))
    assert found[0, 0] > 700 and np.isnan(found[1]).all()


def test_weights_of_the_rows_of_a_level_in_a_group_add_up_to_one():
    units = Units(np.array([0, 0, 0, -1, 1]), 2, True)
    found = shared_within(np.array([3.0, 1.0, 2.0, 0.0, 5.0]), np.array([0, 0, 1, 0, 0]), units)
    np.testing.assert_array_equal(found, [0.75, 0.25, 1.0, 0.0, 1.0])
