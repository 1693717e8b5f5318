"""Where there are data."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats

TOO_FAR = 0.1
"""Of the range of each axis, as in the figures of mgcv [Wood 2017]."""

BUT_FOR_ROUNDING = 1.0 + 1e-9
"""Up to so many times a distance is that distance."""


def tree_of(points: Floats) -> Any:
    """Scipy's k-d tree of points (n, q), which takes a twentieth of a second to import: not every fit looks for them.

    Examples
    --------
    >>> tree_of(np.array([[0.0], [3.0]])).query([[1.0]])
    (array([1.]), array([0]))
    """
    return import_module("scipy.spatial").cKDTree(points)


def too_far(points: Floats, data: Floats, reach: Floats, distance: float = TOO_FAR) -> NDArray[np.bool_]:
    """Whether points (m, q) have none of the data (n, q) within a distance, each column in units of its reach (q,).

    Those that are at this distance but for rounding have.

    Examples
    --------
    >>> too_far(np.array([[0.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 0.0], [1.0, 1.0]]), np.ones(2))
    array([False,  True])
    """
    origin = data.min(axis=0)
    away, _ = tree_of((data - origin) / reach).query((points - origin) / reach)
    return np.asarray(away > distance * BUT_FOR_ROUNDING)
