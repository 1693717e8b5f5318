"""Numba's calls of `walk` one by one."""

import numpy as np

from svmstat._tools.compiled import compiled
from svmstat.solver.exact.basis import Point
from svmstat.solver.exact.path import Change
from svmstat.solver.exact.tableau import Tableau, memory_for, walk


@compiled()
def walk_all(T, T_b, side, diagonal, beta, g, lo, hi, status, b, dlo, dhi, max_events, code, events):  # noqa: PLR0913, PLR0917 - the call that all languages have
    """Each walk (k,) from its start, as `follow_tableau` calls them: the ends in place, code and events (k,)."""
    tableau = Tableau(np.empty(0, np.int64), T, T_b.reshape(1, -1), np.zeros(len(side), np.int64), side, diagonal)
    still, memory = np.zeros(1), memory_for(len(side), 1)
    for q in range(b.shape[0]):
        point = Point(beta[q], g[q], lo[q], hi[q], status[q], b[q : q + 1])
        code[q], events[q] = walk(tableau, point, Change(dlo[q], dhi[q], dlo[q], still), max_events, memory)
