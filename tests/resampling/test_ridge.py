"""Kernel ridge regression without a row: the refit without it, for whole and fractional weights; landmarks."""

import numpy as np
import pytest

from svmstat.kernels import RBF
from svmstat.kernels.gamma import typical_distance
from svmstat.objective.units import Units
from svmstat.resampling import ridge
from svmstat.resampling.covariance import orthonormal
from svmstat.resampling.ridge import canonical_residuals, left_out_residuals

# Systems of equations of condition up to 1e8.
TOL = 1e-6


def drawn(n=40, p=2, q=2, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, p))
    return points, np.sin(points[:, :1]) + 0.3 * rng.normal(size=(n, q)), np.ones(n)


def predicted(K, across, y, w, penalty):
    """m + h(x) of the minimum of Σ w (y − f)² + λ‖h‖², by its normal equations."""
    n = len(K)
    system = np.block([[w[:, None] * K + penalty * np.eye(n), w[:, None]], [(w @ K)[None], np.array([[w.sum()]])]])
    solution = np.linalg.solve(system, np.vstack([w[:, None] * y, w[None] @ y]))
    return across @ solution[:-1] + solution[-1]


def kernels(points, w):
    """Of all columns; of each; linear; by loops over rows."""
    z = (points - np.average(points, axis=0, weights=w)) / np.sqrt(np.cov(points.T, aweights=w, ddof=0).diagonal())
    joint = RBF(1.0 / typical_distance(points, w))(points, points)
    return joint, np.array([[np.exp(-((a - b) ** 2)).sum() for b in z] for a in z]), z @ z.T


def refitted(K, targets, w):
    """The residuals of refits in which a row has lost min(w, 1), for each penalty."""
    centre = np.eye(len(w)) - w / w.sum()
    largest = np.linalg.eigvalsh(np.sqrt(w)[:, None] * (centre @ K @ centre.T) * np.sqrt(w))[-1]
    for penalty in largest * ridge._PENALTIES:
        e = np.empty_like(targets)
        for k in range(len(w)):
            left = w.copy()
            left[k] -= min(w[k], 1.0)
            kept = left > 0
            found = predicted(K[np.ix_(kept, kept)], K[[k]][:, kept], targets[kept], left[kept], penalty)
            e[k] = targets[k] - found[0]
        yield e


def least(residuals, w):
    """Those with the least Σ w e²."""
    return min(residuals, key=lambda e: (w @ e**2).sum())


@pytest.mark.parametrize("weights", [np.ones(40), np.resize([1.0, 2.0, 3.0], 40), np.resize([0.4, 1.0, 2.5], 40)])
def test_residuals_are_those_of_refits(weights):
    points, targets, _ = drawn()
    expected = least(refitted(kernels(points, weights)[0], targets, weights), weights)
    np.testing.assert_allclose(left_out_residuals(points, targets, weights), expected, atol=TOL)


@pytest.mark.parametrize("weights", [np.ones(60), np.resize([0.4, 1.0, 3.0], 60)])
def test_canonical_directions_have_a_kernel_and_a_penalty_each(weights):
    """A sine, a line and noise: each direction, as a target of its own, has the least residuals that it can have."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(60, 2))
    targets = np.column_stack([np.sin(2.0 * points[:, 0]), points[:, 1], np.zeros(60)]) + 0.3 * rng.normal(size=(60, 3))
    own = orthonormal(targets, weights)
    every = [e for K in kernels(points, weights) for e in refitted(K, own, weights)]
    best = least(every, weights)
    _, directions = np.linalg.eigh((weights * best.T) @ best)
    found = canonical_residuals(points, own, weights)
    for of in directions.T:
        np.testing.assert_allclose(found @ of, least([e @ of for e in every], weights), atol=TOL)
    assert weights @ (found**2).sum(axis=1) < weights @ (best**2).sum(axis=1)


@pytest.mark.parametrize(
    ("of", "p"),
    [
        (lambda Z: np.sin(4.0 * Z[:, :1]), 2),
        (lambda Z: np.sin(2.0 * Z[:, :1]), 5),
        (lambda Z: Z.sum(axis=1, keepdims=True), 20),
        (lambda Z: Z[:, :1] * Z[:, 1:2], 2),
    ],
)
def test_curves_planes_and_products_are_followed(of, p):
    """By one of the three kernels each: what is missed is little more than the noise."""
    rng = np.random.default_rng(2)
    Z, w = rng.normal(size=(200, p)), np.ones(200)
    noise = 0.3 * rng.normal(size=(200, 1))
    missed = canonical_residuals(Z, of(Z) + noise, w)
    assert np.mean(noise**2) < np.mean(missed**2) < 1.5 * np.mean(noise**2)


@pytest.mark.parametrize("unit", [None, Units(np.arange(60) // 4, 15, True)])
def test_canonical_residuals_turn_with_their_targets(unit):
    rng = np.random.default_rng(3)
    points, w = rng.normal(size=(60, 2)), rng.uniform(0.5, 2.0, 60)
    own = orthonormal(np.column_stack([np.sin(2.0 * points[:, 0]), rng.normal(size=(60, 2))]), w)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    found = canonical_residuals(points, own, w, unit)
    np.testing.assert_allclose(canonical_residuals(points, own @ turn, w, unit), found @ turn, atol=TOL)


@pytest.mark.parametrize("p", [0, 2])
def test_one_target_has_one_direction(p):
    points, targets, w = drawn()
    found = canonical_residuals(points[:, :p], targets[:, :1], w)
    np.testing.assert_allclose(found, left_out_residuals(points[:, :p], targets[:, :1], w), atol=1e-12)


@pytest.mark.parametrize("n", [20, 300])
def test_each_column_thrice_is_each_once(n):
    """Also where they are more than the rows."""
    points, targets, w = drawn(n, 10)
    once, thrice = (canonical_residuals(Z, targets, w) for Z in (points, np.hstack([points] * 3)))
    np.testing.assert_allclose(thrice, once, atol=TOL)


def test_weights_are_repeats():
    points, targets, _ = drawn()
    w = np.resize([1.0, 2.0, 3.0], 40)
    times = np.repeat(np.arange(40), w.astype(int))
    copies = left_out_residuals(points[times], targets[times], np.ones(len(times)))
    np.testing.assert_allclose(left_out_residuals(points, targets, w)[times], copies, atol=TOL)


def test_without_columns_the_mean_of_the_others():
    _, targets, w = drawn()
    others = (targets.sum(axis=0) - targets) / 39.0
    np.testing.assert_allclose(left_out_residuals(np.empty((40, 0)), targets, w), targets - others, atol=1e-12)


def test_points_that_are_all_the_same_say_nothing():
    _, targets, w = drawn()
    others = (targets.sum(axis=0) - targets) / 39.0
    np.testing.assert_allclose(left_out_residuals(np.ones((40, 3)), targets, w), targets - others, atol=1e-10)


def test_all_rows_as_landmarks_are_the_whole_kernel(monkeypatch):
    points, targets, w = drawn(60)
    whole = left_out_residuals(points, targets, w)
    monkeypatch.setattr(ridge, "MOST_ROWS", 10)
    monkeypatch.setattr(ridge, "LANDMARKS", 60)
    np.testing.assert_allclose(left_out_residuals(points, targets, w), whole, atol=1e-4)


def test_some_rows_as_landmarks_come_near(monkeypatch):
    points, targets, w = drawn(400)
    whole = left_out_residuals(points, targets, w)
    monkeypatch.setattr(ridge, "MOST_ROWS", 100)
    monkeypatch.setattr(ridge, "LANDMARKS", 80)
    found = left_out_residuals(points, targets, w)
    assert (found - whole).std() < 0.05 * whole.std()
    np.testing.assert_array_equal(left_out_residuals(points, targets, w), found)


def test_units_are_left_out_as_by_refits(monkeypatch):
    points, y, _ = drawn()
    w = np.random.default_rng(4).uniform(0.5, 2.0, len(y))
    units = Units(np.random.default_rng(5).permutation(np.repeat(np.arange(8), 5)), 8, True)
    monkeypatch.setattr(ridge, "_PENALTIES", np.array([0.1]))
    K = RBF(1.0 / typical_distance(points, w))(points, points)
    root, inside = np.sqrt(w)[:, None], np.eye(len(w)) - np.outer(np.ones(len(w)), w / w.sum())
    penalty = 0.1 * np.linalg.eigvalsh(root * (inside @ K @ inside.T) * root.T).max()
    found = left_out_residuals(points, y, w, units)
    for rows in units:
        kept = np.setdiff1d(np.arange(len(w)), rows)
        expected = y[rows] - predicted(K[np.ix_(kept, kept)], K[np.ix_(rows, kept)], y[kept], w[kept], penalty)
        np.testing.assert_allclose(found[rows], expected, rtol=TOL, atol=TOL)
