"""What the two kernels are given: real problems, and numba's own answers to them."""

from typing import NamedTuple

import numpy as np

from benchmarks.problems import banana, mackerel, two_class_machine
from svmstat._tools.compiled import compiled
from svmstat.kernels import RBF
from svmstat.solver import anchor_at
from svmstat.solver.case import case_of
from svmstat.solver.exact.basis import Point
from svmstat.solver.exact.path import Change
from svmstat.solver.exact.tableau import Tableau, walk
from svmstat.solver.roads.paths import blank, open_box, origin_of, set_off

CASES = {"mackerel": (mackerel, 0.25, 16.0), "banana 2000": (lambda: banana(2000), 5.0, 1.0)}
"""Data, γ and C."""

TOLERANCE, MAX_STEPS, MAX_EVENTS = 1e-6, 1_000_000, 5000


class Descent(NamedTuple):
    """A call of `smo`, from zero: gram (n, n) and the others (n,)."""

    gram: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    beta: np.ndarray
    h: np.ndarray

    def by(self, function):
        """What a function that is called as `smo` finds: β, h, steps and violation."""
        beta, h = self.beta.copy(), self.h.copy()
        return beta, h, *function(self.gram, len(h), self.lo, self.hi, beta, h, TOLERANCE, MAX_STEPS)


class Walks(NamedTuple):
    """Calls of `walk`, each without one support vector: T (w, w), T_b, side and diagonal (w,), the others (k, w)."""

    T: np.ndarray
    T_b: np.ndarray
    side: np.ndarray
    diagonal: np.ndarray
    beta: np.ndarray
    g: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    status: np.ndarray
    b: np.ndarray
    dlo: np.ndarray
    dhi: np.ndarray

    def by(self, function):
        """What a function that is called as `walk_all` finds: where each walk ends, its code and its events."""
        ends = [each.copy() for each in self[4:10]]
        code, events = np.empty(len(self.b), np.int8), np.empty(len(self.b), np.int64)
        function(*self[:4], *ends, self.dlo, self.dhi, MAX_EVENTS, code, events)
        return *ends, code, events


def made(name):
    """The `Descent` and the `Walks` of a case."""
    data, gamma, C = CASES[name]
    pair = two_class_machine(RBF(gamma), *data(), C).pairs[0]
    problem, solution = pair.problem, pair.solution
    lo, hi = problem.box(solution.upper)
    descent = Descent(problem.gram.complete(), lo, hi, np.zeros(problem.n), problem.linear.copy())
    tableau = anchor_at(problem, solution).tableau
    origin = origin_of(problem, case_of(problem, solution.upper), solution)
    starts = [_start(problem, tableau, origin, upper) for upper in _deletions(solution)]
    return descent, Walks(*tableau[1:], *(np.array(each) for each in zip(*starts, strict=True)))


def _deletions(solution):
    """The upper bounds without one support vector after the other."""
    for i in np.flatnonzero(solution.alpha):
        upper = solution.upper.copy()
        upper[i] = 0.0
        yield upper


def _start(problem, tableau, origin, upper):
    """Where the walk to these bounds sets off, and what moves."""
    lo, hi, point, change = np.empty(problem.n), np.empty(problem.n), *blank(len(tableau.rows), 1)
    open_box(problem.signs, upper, lo, hi)
    set_off(tableau.rows, origin, lo, hi, point, change)
    return *point[:5], point.b[0], change.lo, change.hi


@compiled()
def walk_all(T, T_b, side, diagonal, beta, g, lo, hi, status, b, dlo, dhi, max_events, code, events):
    """Each walk (k,) from its start, as `follow_tableau` calls them: the ends in place, code and events (k,)."""
    tableau = Tableau(np.empty(0, np.int64), T, T_b, side, diagonal)
    for q in range(b.shape[0]):
        point = Point(beta[q], g[q], lo[q], hi[q], status[q], b[q : q + 1])
        code[q], events[q] = walk(tableau, point, Change(dlo[q], dhi[q], dlo[q]), max_events)
