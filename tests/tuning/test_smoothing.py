"""Smoothed error rates: the window by brute force, at edges and beside NaN; what it leaves alone."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat.tuning.smoothing import smooth

TOL_ROUNDING = 1e-14  # sums of at most 27 numbers in [0, 1]

SHAPES = [(3, 4, 5), (1, 1, 1), (1, 6, 1), (2, 1, 4), (4, 3, 3), (1, 2, 2)]
KINDS = ["2d", "3d"]


def by_hand(values, kind):
    """Σ w v / Σ w over the neighbours that are there, w = φ(distance in steps), point by point."""
    out = np.full(values.shape, np.nan)
    for at in np.ndindex(*values.shape):
        if np.isnan(values[at]):
            continue
        total = mass = 0.0
        for other in np.ndindex(*values.shape):
            steps = np.subtract(other, at)
            inside = np.abs(steps).max() <= 1 and (kind == "3d" or steps[0] == 0)
            if inside and not np.isnan(values[other]):
                weight = np.exp(-0.5 * (steps**2).sum()) / np.sqrt(2.0 * np.pi)
                total += weight * values[other]
                mass += weight
        out[at] = total / mass
    return out


def drawn(shape, seed, missing=0.0):
    rng = np.random.default_rng(seed)
    values = rng.random(shape)
    return np.where(rng.random(shape) < missing, np.nan, values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
def test_window_by_hand(shape, missing, kind):
    values = drawn(shape, 1, missing)
    np.testing.assert_allclose(smooth(values, kind), by_hand(values, kind), rtol=TOL_ROUNDING)


def test_one_peak_by_hand():
    """Inside, the share of the middle is 1/(1 + 2q)² with q = exp(−½), and 1/(1 + 2q)³ in three directions."""
    values, q = np.zeros((3, 3, 3)), np.exp(-0.5)
    values[1, 1, 1] = 1.0
    whole = 1.0 + 2.0 * q
    flat, deep = smooth(values, "2d"), smooth(values, "3d")
    np.testing.assert_allclose([flat[1, 1, 1], deep[1, 1, 1]], [whole**-2, whole**-3], rtol=TOL_ROUNDING)
    corner = q**2 / (1.0 + q) ** 2  # a corner has only half of the window in each direction
    np.testing.assert_allclose([flat[1, 0, 0], deep[0, 0, 0]], [corner, q**3 / (1.0 + q) ** 3], rtol=TOL_ROUNDING)
    assert flat[0].max() == flat[2].max() == 0.0


def test_2d_does_not_mix_kernels():
    values = drawn((3, 4, 4), 2, 0.2)
    alone = np.concatenate([smooth(values[[s]], "2d") for s in range(3)])
    np.testing.assert_array_equal(smooth(values, "2d"), alone)
    assert np.nanmax(np.abs(smooth(values, "3d") - alone)) > 0.01


def test_one_kernel_is_the_same_in_2d_and_3d():
    values = drawn((1, 5, 4), 3, 0.2)
    np.testing.assert_allclose(smooth(values, "2d"), smooth(values, "3d"), rtol=TOL_ROUNDING)


def test_none_is_the_identity():
    values = drawn((2, 3, 4), 4, 0.3)
    np.testing.assert_array_equal(smooth(values, None), values)


@pytest.mark.parametrize("kind", KINDS)
def test_constants_stay_constant(kind):
    values = np.where(drawn((3, 5, 4), 5) < 0.3, np.nan, 0.1)
    np.testing.assert_allclose(smooth(values, kind), values, rtol=TOL_ROUNDING)


@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(SHAPES), kind=st.sampled_from(KINDS))
def test_means_lie_between_the_ends_and_follow_linear_maps(seed, shape, kind):
    values = drawn(shape, seed, 0.3)
    found = smooth(values, kind)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(values))
    if np.isnan(values).all():
        return
    assert np.nanmin(values) - TOL_ROUNDING <= np.nanmin(found) <= np.nanmax(found) <= np.nanmax(values) + TOL_ROUNDING
    np.testing.assert_allclose(smooth(2.0 * values - 1.0, kind), 2.0 * found - 1.0, atol=1e-14)
    for axis in (1, 2):
        np.testing.assert_allclose(smooth(np.flip(values, axis), kind), np.flip(found, axis), rtol=TOL_ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_two_steps_away_does_not_matter(kind):
    values = drawn((3, 5, 5), 6)
    other = values.copy()
    for at in itertools.product(range(3), range(5), range(5)):
        if max(abs(at[1] - 2), abs(at[2] - 2)) == 2 or (kind == "2d" and at[0] != 1):
            other[at] = np.nan
    np.testing.assert_allclose(smooth(other, kind)[1, 2, 2], smooth(values, kind)[1, 2, 2], rtol=TOL_ROUNDING)


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_inputs_are_not_changed(kind):
    values = drawn((2, 3, 3), 7, 0.3)
    before = values.copy()
    smooth(values, kind)
    np.testing.assert_array_equal(values, before)
