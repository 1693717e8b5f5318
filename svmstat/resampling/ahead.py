"""What a fit, its summary and its test of fit need, compiled by a second process while the first begins with the fit.

The first process compiles as it comes; this one takes what comes late there. Who needs what the other is at waits.
"""

from typing import Any

import numpy as np
from numba import typeof

from svmstat._tools.second import join
from svmstat.calibration.coupling import pairwise
from svmstat.calibration.isotonic import isotonic
from svmstat.calibration.platt import fit_falling_map, fit_map, fit_maps_without
from svmstat.resampling.leave_one_out import _diagnose
from svmstat.solver.exact.basis import Free, Point, enter, exclude_where, newton_correction
from svmstat.solver.exact.path import Change, _direction, _next_event
from svmstat.solver.exact.tableau import Tableau
from svmstat.solver.problem import Sums
from svmstat.solver.roads.compact import compact_all
from svmstat.solver.roads.deletions import correct_all, follow_tableau
from svmstat.solver.roads.paths import Paths, Wanted, certify_all, settle_all

_V, _M = np.empty(0), np.empty((0, 0))
_ROWS, _CODES, _SOME = np.empty(0, np.int64), np.empty(0, np.int8), np.empty(0, np.bool_)
_SUMS, _POINT, _FREE = Sums(_ROWS, _V), Point(_V, _V, _V, _V, _CODES, _V), Free(_ROWS, _M, _ROWS)
_CHANGE = Change(_V, _V, _V)
_TABLEAU, _WANTED, _PATHS = Tableau(_ROWS, _M, _V, _V, _V), Wanted(_V, _M), Paths.empty(0, 0)

AHEAD: list[tuple[Any, tuple[Any, ...]]] = [
    (enter, (_M, _SUMS, _POINT, _FREE, 0, 0.0, _V, _V)),
    (_direction, (_M, _SUMS, _FREE, _V, _V, _V, _V)),
    (_next_event, (_POINT, _CHANGE, _FREE, _V, _V, 0.0, 0.0)),
    (fit_map, (_V, _V, _V, 0.0, 0.0)),
    (newton_correction, (_SUMS, _V, _V, _V, _V, _V, _ROWS, _M, 0.0, _V)),
    (exclude_where, (_SUMS, _FREE, _SOME)),
    (fit_maps_without, (_V, _V, _V, _ROWS, _ROWS, _V, 0.0, 0.0, _M, _SOME)),
    (fit_falling_map, (_V, _V, _V, 0.0, 0.0)),
    (pairwise, (_M, 0)),
    (_diagnose, (_M, _V, _V, _V, _ROWS, _ROWS, _V, 0.0, 0.0, _M, _SOME)),
    (settle_all, (_M, _WANTED, _PATHS)),
    (correct_all, (_M, _TABLEAU, _WANTED, _PATHS)),
    (certify_all, (_M, _POINT, _V, _WANTED, _PATHS)),
    (compact_all, (_M, _V, _V, _V, _WANTED, _SOME, 0, _PATHS, _ROWS)),
    (isotonic, (_V, _V)),
    (follow_tableau, (_TABLEAU, _POINT, _WANTED, _SOME, 0, _PATHS)),
]
"""Functions in the order in which they are compiled, each with arguments of the types that it is called with.

At first what a path calls, then the last of the fit; then what a summary needs, the last of it first, since the first
process comes from the other side; then the test of fit. The paths of leave-one-out, with which a summary begins, are
for the first process, if it asks for a summary before all else is done.
"""


def types_of(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types for which a function is compiled.

    Examples
    --------
    >>> types_of((np.empty(0), 0))
    (Array(float64, 1, 'C', False, aligned=True), int64)
    """
    return tuple(typeof(each) for each in arguments)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    join()
    for function, arguments in AHEAD:
        function.compile(types_of(arguments))
