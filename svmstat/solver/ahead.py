"""The functions of the solver that take longest to compile, with arguments of the types that they are called with."""

from typing import Any

import numpy as np

from svmstat._tools.compiled import nothing_on_disk
from svmstat._tools.second import start_once
from svmstat.solver.exact.basis import Point
from svmstat.solver.exact.bordered import bordered_block
from svmstat.solver.exact.tableau import Tableau
from svmstat.solver.roads.compact import compact_all
from svmstat.solver.roads.deletions import correct_all, follow_tableau
from svmstat.solver.roads.paths import Paths, Wanted, certify_all, settle_all
from svmstat.solver.rough.inside import inside
from svmstat.solver.rough.smo import smo

Calls = tuple[tuple[Any, tuple[Any, ...]], ...]

_V, _M = np.empty(0), np.empty((0, 0))
_ROWS, _CODES, _SOME = np.empty(0, np.int64), np.empty(0, np.int8), np.empty(0, np.bool_)
_POINT = Point(_V, _V, _V, _V, _CODES, _V)
_TABLEAU, _WANTED, _PATHS = Tableau(_ROWS, _M, _M, _ROWS, _V, _V), Wanted(_V, _M), Paths.empty(0, 0)

OF_ONE_SOLUTION: Calls = (
    (inside, (_M, _V, _V, 0.0, _V, _V, _V)),
    (bordered_block, (_M, _ROWS, _ROWS, 0.0, _M, 0)),
)
"""What a solution ends with, and what the first step from it to others begins with."""

OF_MANY_SOLUTIONS: Calls = (
    (certify_all, (_M, _POINT, _V, _WANTED, _PATHS)),
    (correct_all, (_M, _TABLEAU, _WANTED, _PATHS)),
    (settle_all, (_M, _WANTED, _PATHS)),
    (compact_all, (_M, _V, _V, _V, _WANTED, _SOME, 0, _PATHS, _ROWS)),
    (follow_tableau, (_TABLEAU, _POINT, _WANTED, _SOME, 0, _PATHS)),
)
"""Deletions and replicates, what they begin with at last."""


def have_helped() -> None:
    """Start the second process before a fit has come to its first function, if nothing has been compiled yet."""
    if nothing_on_disk(smo):
        start_once()
