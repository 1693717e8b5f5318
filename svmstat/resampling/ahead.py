"""What a fit and its summary will need, compiled by a second process while the first begins with the fit.

The first process compiles as it comes; this one takes what comes late there. Who needs what the other is at waits.
At last a summary is computed of rows at which the solution is known, so that no descent of a fit is compiled here.
"""

from typing import Any

import numpy as np
from numba import typeof

from svmstat._tools.second import join
from svmstat.calibration import fit_maps
from svmstat.calibration.platt import fit_falling_map, fit_map, fit_maps_without
from svmstat.kernels import Linear
from svmstat.machine import Machine, contrasts, machine_with, pose
from svmstat.resampling.leave_one_out import _diagnose, leave_one_out
from svmstat.resampling.unseen import held_out_maps, unseen
from svmstat.solver import solution_at
from svmstat.solver.exact.basis import Free, Point, enter, exclude_where, newton_correction
from svmstat.solver.exact.path import Change, _direction, _next_event
from svmstat.solver.exact.tableau import Tableau
from svmstat.solver.problem import Sums
from svmstat.solver.roads.deletions import correct_all
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
    (_diagnose, (_M, _V, _V, _V, _ROWS, _ROWS, _V, 0.0, 0.0, _M, _SOME)),
    (settle_all, (_M, _WANTED, _PATHS)),
    (correct_all, (_M, _TABLEAU, _WANTED, _PATHS)),
    (certify_all, (_M, _POINT, _V, _WANTED, _PATHS)),
]
"""Functions in the order in which they are compiled, each with arguments of the types that it is called with.

At first what a path calls, then the last of the fit, then what a summary needs, the last of it first: the first process
comes from the other side.
"""


def types_of(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types for which a function is compiled.

    Examples
    --------
    >>> types_of((np.empty(0), 0))
    (Array(float64, 1, 'C', False, aligned=True), int64)
    """
    return tuple(typeof(each) for each in arguments)  # type: ignore[no-untyped-call]


def known_machine() -> Machine:
    """Rows at −3 … −1 and 1 … 3, of which the linear machine f(x) = x has the inner two as its support.

    Examples
    --------
    >>> machine = known_machine()
    >>> machine.decision_values.ravel(), machine.pairs[0].solution.status.name
    (array([-3., -2., -1.,  1.,  2.,  3.]), 'CERTIFIED')
    """
    x = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
    codes = (x > 0.0).astype(np.intp)
    posed = pose(Linear(), x[:, None], codes, np.ones(6), contrasts([(1, 0)], "hinge"), C=1.0)
    return machine_with(posed, (solution_at(posed.pairs[0].problem, np.where(np.abs(x) == 1.0, 0.5, 0.0)),))


def compile_summary() -> None:
    """Compute what a summary is made of, once."""
    machine = known_machine()
    insample = fit_maps(machine)
    left = leave_one_out(machine, insample, n_jobs=1)
    fitted = held_out_maps(machine, insample, "loo", lambda: left)
    unseen(machine, left, fitted.maps, fitted.by)


if __name__ == "__main__":
    join()
    for function, arguments in AHEAD:
        function.compile(types_of(arguments))
    compile_summary()
