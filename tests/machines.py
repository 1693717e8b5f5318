"""Machines for tests: kernels of every kind, and the fit of the pairs of classes."""

import numpy as np
from levels import laplace

from svmstat.kernels import RBF, CustomKernel, Linear, Polynomial, Spline
from svmstat.machine import contrasts, fit_machine, pairs_of

TOL_LIBSVM = 2e-6  # libsvm keeps kernel values as 32-bit floats (6e-8), some tens of which add up; relative to max |f|
TOL_FIT = 1e-6  # two certified fits of one problem, relative to max(1, |f|)

KERNELS = {
    "linear": Linear(),
    "rbf": RBF(0.5),
    "poly": Polynomial(0.5, 1.0, 2),
    "spline": Spline(np.full(2, -9.0), np.full(2, 9.0)),
    "custom": CustomKernel(laplace),
}


def fit(kernel, X, codes, weights=None, C=1.0, loss="hinge", class_weight=None, order=None, **options):
    """The machines of all pairs, i < j unless ``order`` says which."""
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, float)
    asked = contrasts(pairs_of(codes.max() + 1) if order is None else order, loss, class_weight)
    return fit_machine(kernel, X, codes, weights, asked, C=C, **options)


def assert_same(a, b, tolerance=TOL_FIT):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.abs(b).max()))
