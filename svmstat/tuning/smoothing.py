"""Smoothed cross-validation: error rates averaged over neighbouring grid points before they are compared [004: 3.1]."""

from itertools import product

import numpy as np

from svmstat._tools.arrays import Floats

SMOOTHINGS = {None: (), "2d": (1, 2), "3d": (0, 1, 2)}
"""Over which axes of (kernel, ν₋, ν₊) each kind averages."""


def smooth(values: Floats, kind: str | None) -> Floats:
    """Averages over a window of three points in each direction, with Gaussian weights of sd one step.

    At an edge, and beside a point that is NaN, the weights of the points that are there are scaled to sum to one. A
    point that is NaN stays so.

    Parameters
    ----------
    values : (S, J, I) error rates over kernels, ν₋ and ν₊
    kind : None, "2d" (each kernel for itself) or "3d"

    Returns
    -------
    (S, J, I) array

    Examples
    --------
    >>> smooth(np.array([[[0.0, 1.0, 0.0]]]), "2d").round(4)
    array([[[0.3775, 0.4519, 0.3775]]])
    """
    if kind is None:
        return values
    known = ~np.isnan(values)
    filled = np.pad(np.where(known, values, 0.0), 1)
    present = np.pad(known.astype(float), 1)
    total, mass = np.zeros(values.shape), np.zeros(values.shape)
    for shift in product(*((-1, 0, 1) if axis in SMOOTHINGS[kind] else (0,) for axis in range(3))):
        weight = float(np.exp(-0.5 * np.dot(shift, shift)))
        window = tuple(slice(1 + d, 1 + d + size) for d, size in zip(shift, values.shape, strict=True))
        total += weight * filled[window]
        mass += weight * present[window]
    return np.asarray(np.divide(total, mass, out=np.full(values.shape, np.nan), where=known))
