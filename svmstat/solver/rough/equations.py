"""The equations of a Newton step, Kd + b1 = target and 1'd = total, by a Cholesky factor of K + c·11'.

With c = the mean of the diagonal that is regular as soon as the equations are, and changes b alone.

Where K is nearly a multiple of the identity, as it is for narrow kernels, conjugate gradients in the plane of
1'd = total are there sooner: by a dozen products with K, where a factor of 1600 rows costs as much as sixty of them.

Of many rows the factor is in single precision, which takes half as long, and what d leaves of the equations, computed
in double precision, is solved for with the same factor: two or three times, and no more of it is left than rounding.
Where K is nearly singular this does not lead there, and the factor is made in double precision.

References: Higham (2002), Accuracy and Stability of Numerical Algorithms, 2nd edition, chapter 12; Nocedal & Wright
(2006), Numerical Optimization, Algorithm 16.2, with the projection as preconditioner.
"""

import numpy as np
from scipy.linalg import blas, lapack

from svmstat._tools.arrays import Floats
from svmstat._tools.doubles import EPS

WORTH = 400
"""Rows from which on a factor in single precision with all that follows is the shorter way."""

_REFINEMENTS, _GAIN = 10, 0.3
"""So many at most, while each leaves at most this share of what was left: one costs less than a tenth of a factor."""

_ROUNDINGS = 8.0
"""What may be left of an equation, in units of the rounding of its largest terms."""

_LARGE = 500
"""Rows from which on products with K come before a factor."""

_FACTOR, _PRODUCTS = 25, 60
"""Products with K that cost as much as a factor: one for so many rows (500 rows 30, 800 rows 35), and at most so many
(1600 rows 60)."""

_TRIAL = 4
"""Products after which conjugate gradients are judged by how far they have come."""

_CURVED = 1e-4
"""Along a direction with less curvature, as a share of the largest diagonal, they would not be there in so many."""

_LEAST, _MOST = 1e-30, 1e30
"""Kernel values that single precision can hold with room for what is made of them."""


def newton_step(K: Floats, target: Floats, total: float) -> Floats | None:
    """d (m,) for some b, of K (m, m), which is overwritten, and target (m,); None where there is no such factor."""
    target = target - target.mean()  # what all have in common is b's, and would outweigh a tiny d
    step = _conjugate(K, target, total) if len(K) >= _LARGE else None
    if step is None and len(K) >= WORTH:
        step = _refined(K, target, total)
    return _direct(K, target, total) if step is None else step


def _conjugate(K: Floats, target: Floats, total: float) -> Floats | None:
    """The same by conjugate gradients; None where a factor is sooner there. K stays as it is."""
    size = K.diagonal().max()
    if not _LEAST < size < _MOST:
        return None
    most = min(len(K) // _FACTOR, _PRODUCTS)
    d = np.full(len(K), total / len(K))
    left = _left(K, target, d)
    first = np.abs(left).max()
    if not first < _MOST:
        return None
    along, squares = left, left @ left
    for step in range(most):
        nothing, largest = _rounding(K, target, d), np.abs(left).max()
        if largest <= nothing:
            return d if np.abs(_left(K, target, d)).max() <= nothing else None
        if step >= _TRIAL and largest > first * (nothing / first) ** ((step - _TRIAL) / most):
            return None
        image = blas.dsymv(1.0, K.T, along, lower=1)
        image -= image.mean()
        curvature = along @ image
        if not curvature > _CURVED * size * (along @ along):
            return None
        length = squares / curvature
        d += length * along
        left = left - length * image
        squares, before = left @ left, squares
        along = left + (squares / before) * along
    return None


def _left(K: Floats, target: Floats, d: Floats) -> Floats:
    """What d leaves of the equations (m,) for the best b."""
    left = target - blas.dsymv(1.0, K.T, d, lower=1)
    left -= left.mean()
    return np.asarray(left)


def _rounding(K: Floats, target: Floats, d: Floats) -> float:
    """What may be left of an equation."""
    largest = K.diagonal().max() * np.abs(d).sum() + np.abs(target).max()
    return float(_ROUNDINGS * EPS * largest)


def _direct(K: Floats, target: Floats, total: float) -> Floats | None:
    K += K.diagonal().mean()
    factor, singular = lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)
    if singular:
        return None
    both = np.ones((2, len(K)))
    both[0] = target
    solved, _ = lapack.dpotrs(factor, both.T, lower=1, overwrite_b=1)
    u, v = solved.T
    return _summing_to(total, u, v)


def _refined(K: Floats, target: Floats, total: float) -> Floats | None:
    """The same by a factor in single precision; None where it does not lead to rounding. K stays as it is."""
    if not _LEAST < K.diagonal().max() < _MOST:
        return None
    with np.errstate(over="ignore"):
        shifted = K.astype(np.float32)
    shifted += np.float32(K.diagonal().mean())
    factor, singular = lapack.spotrf(shifted.T, lower=1, overwrite_a=1, clean=0)
    if singular:
        return None
    v = _solved(factor, np.ones(len(K)))
    d, left = np.zeros(len(K)), target
    before = np.inf
    for _ in range(1 + _REFINEMENTS):
        u = _solved(factor, left)
        d += _summing_to(total - d.sum(), u, v)
        left = _left(K, target, d)
        most = np.abs(left).max()
        if most <= _rounding(K, target, d):
            return d
        if not most < _GAIN * before:
            return None
        before = most
    return None


def _summing_to(total: float, u: Floats, v: Floats) -> Floats:
    """u + tv (m,) of this sum."""
    return np.asarray(u - v * ((u.sum() - total) / v.sum()))


def _solved(factor: Floats, right: Floats) -> Floats:
    """K⁻¹ times the right side (m,), to single precision; of any size."""
    unit = np.abs(right).max() or 1.0
    x = blas.strsv(factor, (right / unit).astype(np.float32), lower=1, overwrite_x=1)
    return unit * blas.strsv(factor, x, lower=1, trans=1, overwrite_x=1).astype(float)
