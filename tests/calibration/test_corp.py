"""The decomposition by numbers made elsewhere, the band by its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from svmstat.calibration import consistency_band, recalibrate, tail

TOL = 1e-12  # sums of some hundred numbers in another order

seeds = st.integers(0, 2**32 - 1)


def sample(seed, n=80, whole=False):
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 40, n) / 40
    w = rng.integers(0, 4, n).astype(float) if whole else rng.uniform(0.1, 3, n)
    w[:2] = 1.0
    event = rng.random(n) < p
    event[:2] = True, False
    return p, event, w


def test_points_do_not_hang_on_the_last_bit():
    p, event, _ = sample(1)
    near = p * (1.0 + 1e-15 * np.random.default_rng(1).integers(-3, 4, len(p)))
    w = np.ones(len(p))
    one, other = recalibrate(p, event, w), recalibrate(near, event, w)
    assert len(np.unique(near)) > len(one.predicted) == len(other.predicted)
    np.testing.assert_array_equal(one.recalibrated, other.recalibrated)
    apart = recalibrate(np.array([1e-14, 3e-14, 0.5]), np.array([False, True, True]), np.ones(3))
    np.testing.assert_array_equal(apart.predicted, [1e-14, 3e-14, 0.5])


@given(seed=seeds)
def test_the_parts_are_scikit_learns_scores(seed):
    p, event, w = sample(seed)
    found = recalibrate(p, event, w)
    best = IsotonicRegression().fit_transform(p, event.astype(float), sample_weight=w)
    share = np.full(len(p), np.average(event, weights=w))
    np.testing.assert_allclose(found.recalibrated[np.unique(p, return_inverse=True)[1]], best, atol=TOL)
    np.testing.assert_allclose(found.totals.sum(), w.sum())
    for parts, score in ((found.brier, brier_score_loss), (found.log, log_loss)):
        given_p, at_best, at_share = (score(event, q, sample_weight=w) for q in (p, best, share))
        expected = [given_p, given_p - at_best, at_share - at_best, at_share]
        mine = [parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty]
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9)
        assert parts.score == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty, abs=TOL)
        assert parts.miscalibration >= -TOL and parts.discrimination >= -TOL


@given(seed=seeds)
def test_whole_weights_are_repeats(seed):
    p, event, w = sample(seed, whole=True)
    count = w.astype(int)
    one, other = recalibrate(p, event, w), recalibrate(*(np.repeat(a, count) for a in (p, event)), np.ones(count.sum()))
    for name in ("predicted", "recalibrated", "events", "others"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.brier, one.log) == (other.brier, other.log)
    bands = [consistency_band(each, B=19, level=0.9, seed=np.random.SeedSequence(seed)) for each in (one, other)]
    np.testing.assert_array_equal(bands[0].lower, bands[1].lower)


def test_what_was_impossible_and_happened():
    """Only the log score is infinite, and miscalibration has all of it."""
    found = recalibrate(np.array([0.0, 1.0, 0.5]), np.array([True, False, True]), np.ones(3))
    assert found.log.score == found.log.miscalibration == np.inf
    assert np.isfinite([found.log.discrimination, found.log.uncertainty, found.brier.score]).all()


@pytest.mark.parametrize("event", [True, False])
def test_one_kind_of_row(event):
    found = recalibrate(np.array([0.2, 0.7]), np.full(2, event), np.ones(2))
    np.testing.assert_array_equal(found.recalibrated, float(event))
    assert found.brier.uncertainty == found.brier.discrimination == found.log.uncertainty == 0.0


def test_the_band_is_made_of_order_statistics():
    """The 10th least and the 10th largest of 199 curves, each drawn and fitted here once more."""
    p, event, w = sample(5, whole=True)
    curve = recalibrate(p, event, w)
    band = consistency_band(curve, B=199, level=0.9, seed=np.random.SeedSequence(3))
    rng, fits, gains = np.random.default_rng(np.random.SeedSequence(3)), [], []
    for _ in range(199):
        events = rng.binomial(curve.totals.astype(int), curve.predicted)
        share = events / curve.totals
        fit = IsotonicRegression().fit_transform(curve.predicted, share, sample_weight=curve.totals)
        each = [(q - 1) ** 2 @ events + q**2 @ (curve.totals - events) for q in (curve.predicted, fit)]
        fits.append(fit)
        gains.append((each[0] - each[1]) / curve.totals.sum())
    ordered = np.sort(fits, axis=0)
    np.testing.assert_allclose(band.lower, ordered[9], atol=TOL)
    np.testing.assert_allclose(band.upper, ordered[189], atol=TOL)
    np.testing.assert_allclose(band.miscalibration, gains, atol=TOL)


@pytest.mark.parametrize(
    ("B", "level", "k"), [(199, 0.9, 10), (19, 0.9, 1), (18, 0.9, 0), (39, 0.95, 1), (999, 0.99, 5)]
)
def test_how_many_are_left_out_at_either_end(B, level, k):
    assert tail(B, level) == k


def test_certain_probabilities_have_a_band_of_no_width():
    p = np.repeat([0.0, 1.0], 5)
    band = consistency_band(recalibrate(p, p > 0, np.ones(10)), B=19, level=0.9, seed=np.random.SeedSequence(1))
    np.testing.assert_array_equal(band.lower, [0.0, 1.0])
    np.testing.assert_array_equal(band.upper, [0.0, 1.0])
