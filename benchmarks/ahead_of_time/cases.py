"""The problems: two that are timed, others that lead to the rarer branches."""

import numpy as np

from benchmarks.ahead_of_time.given import Descent, Walks
from benchmarks.problems import banana, interaction, mackerel, two_class_machine
from svmstat.kernels import RBF, Linear
from svmstat.solver import anchor_at
from svmstat.solver.roads.paths import blank, origin_of, set_off


def rounded(X, y):
    return X.round(), y


TIMED = {
    "mackerel": (mackerel(), RBF(0.25), 16.0, 1),
    "banana 2000": (banana(2000), RBF(5.0), 1.0, 1),
}
"""Data, kernel, C, and how many support vectors are left out together."""

OTHERS = {
    "no row free": (banana(200), RBF(5.0), 1e-3, 1),
    "dependent rows": (rounded(*interaction(300, 2)), Linear(), 16.0, 1),
    "on a grid": (rounded(*interaction(300, 4)), RBF(0.05), 1e6, 3),
    "many together": (interaction(400, 5), RBF(0.2), 4.0, 60),
}


def made(data, kernel, C, together):
    """The `Descent` from zero and the `Walks` from the solution of a case."""
    pair = two_class_machine(kernel, *data, C).pairs[0]
    problem, solution = pair.problem, pair.solution
    lo, hi = problem.box(solution.upper)
    descent = Descent(problem.gram.complete(), problem.n, lo, hi, np.zeros(problem.n), problem.linear.copy())
    tableau = anchor_at(problem, solution).tableau
    origin = origin_of(problem, solution)
    starts = [_start(problem, tableau, origin, upper) for upper in _deletions(solution, together)]
    of_one_sum = tableau.T, tableau.T_b[0], tableau.side, tableau.diagonal
    return descent, Walks(*of_one_sum, *(np.array(each) for each in zip(*starts, strict=True)))


def with_two_sums(descent):
    """The same rows by class, the weights of each adding up to half of what its bounds allow."""
    rows = np.argsort(descent.lo, kind="stable")
    gram, lo, hi = descent.gram[np.ix_(rows, rows)].copy(), descent.lo[rows], descent.hi[rows]
    beta = 0.5 * (lo + hi)
    return Descent(gram, int(np.count_nonzero(lo < 0.0)), lo, hi, beta, -(gram @ beta))


def less_convex(walks):
    """The same starts as if K had negative eigenvalues: rows that enter then depend on the free ones, which slide."""
    return walks._replace(T=walks.T - np.diag(np.where(walks.side > 0.0, 0.5 * walks.diagonal, 0.0)))


def _deletions(solution, together):
    """The upper bounds without some support vectors, and then without the next."""
    vectors = np.flatnonzero(solution.alpha)
    for start in range(0, len(vectors), together):
        upper = solution.upper.copy()
        upper[vectors[start : start + together]] = 0.0
        yield upper


def _start(problem, tableau, origin, upper):
    """Where the walk to these bounds sets off, and what moves."""
    point, change = blank(len(tableau.rows), 1)
    set_off(tableau.rows, np.arange(len(tableau.rows)), origin, *problem.box(upper), point, change)
    return *point[:5], point.b[0], change.lo, change.hi
