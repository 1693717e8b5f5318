"""What a fit, its summary and its test of fit need, compiled by a second process while the first begins with a fit."""

from typing import Any

import numpy as np

from svmstat._tools.ahead import types_of
from svmstat.calibration.coupling import pairwise
from svmstat.calibration.isotonic import isotonic
from svmstat.calibration.platt import fit_falling_map, maps_by_series
from svmstat.kernels.gamma import _count
from svmstat.resampling.leave_one_out import _diagnose
from svmstat.solver import OF_MANY_SOLUTIONS, OF_ONE_SOLUTION

__all__ = ["AHEAD", "types_of"]

_V, _M, _ROWS, _SOME = np.empty(0), np.empty((0, 0)), np.empty(0, np.int64), np.empty(0, np.bool_)

AHEAD: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    *OF_ONE_SOLUTION,
    (maps_by_series, (_V, _V, _V, _ROWS, _ROWS, _V, 0.0, 0.0, _M, _SOME)),
    (fit_falling_map, (_V, _V, _V, 0.0, 0.0)),
    (pairwise, (_M, 0)),
    (_diagnose, (_M, _V, _V, _V, _SOME, _ROWS, _ROWS, _V, 0.0, 0.0, _M, _SOME)),
    *OF_MANY_SOLUTIONS,
    (isotonic, (_V, _V)),
    (_count, (_M, _M, _V, 0, 0, 0, _ROWS, 0, _M, _V, _ROWS)),
)
"""Functions in the order in which they are compiled, each with arguments of the types that it is called with.

What the first process needs next comes first, while that compiles the descent; then what a summary needs, with the last
of it first: the first process comes from the other side. The paths of leave-one-out, with which a summary begins, are
for the first process, unless nobody has asked for a summary yet.
"""
