"""The functions of the solver that take longest to compile, with arguments of the types that they are called with."""

from typing import Any

import numpy as np

from svmstat.solver.exact.basis import Free, Point, enter, exclude_where, newton_correction
from svmstat.solver.exact.bordered import bordered_block
from svmstat.solver.exact.path import Change, _direction, _next_event
from svmstat.solver.exact.tableau import Tableau
from svmstat.solver.problem import Sums
from svmstat.solver.roads.compact import compact_all
from svmstat.solver.roads.deletions import correct_all, follow_tableau
from svmstat.solver.roads.paths import Paths, Wanted, certify_all, settle_all
from svmstat.solver.rough.inside import inside

Calls = tuple[tuple[Any, tuple[Any, ...]], ...]

_V, _M = np.empty(0), np.empty((0, 0))
_ROWS, _CODES, _SOME = np.empty(0, np.int64), np.empty(0, np.int8), np.empty(0, np.bool_)
_SUMS, _POINT, _FREE = Sums(_ROWS, _V), Point(_V, _V, _V, _V, _CODES, _V), Free(_ROWS, _M, _ROWS)
_CHANGE = Change(_V, _V, _V, _V)
_TABLEAU, _WANTED, _PATHS = Tableau(_ROWS, _M, _V, _V, _V), Wanted(_V, _M), Paths.empty(0, 0)

OF_ONE_SOLUTION: Calls = (
    (inside, (_M, _V, _V, 0.0, _V, _V, _V)),
    (bordered_block, (_M, _ROWS, _ROWS, 0.0, _M, 0)),
)
"""What a solution ends with, and what the first step from it to others begins with."""

OF_MANY_SOLUTIONS: Calls = (
    (settle_all, (_M, _WANTED, _PATHS)),
    (correct_all, (_M, _TABLEAU, _WANTED, _PATHS)),
    (certify_all, (_M, _POINT, _V, _WANTED, _PATHS)),
    (compact_all, (_M, _V, _V, _V, _WANTED, _SOME, 0, _PATHS, _ROWS)),
    (follow_tableau, (_TABLEAU, _POINT, _WANTED, _SOME, 0, _PATHS)),
)
"""Deletions and replicates, what they begin with at last."""

OF_A_PATH: Calls = (
    (enter, (_M, _SUMS, _POINT, _FREE, 0, 0.0, _V, _V)),
    (_direction, (_M, _SUMS, _FREE, _V, _V, _V, _V)),
    (_next_event, (_POINT, _CHANGE, _FREE, _V, _V, 0.0, 0.0)),
    (newton_correction, (_SUMS, _V, _V, _V, _V, _V, _ROWS, _M, 0.0, _V)),
    (exclude_where, (_SUMS, _FREE, _SOME)),
)
"""What the path of one solution calls, which few fits need, and all with nu."""
