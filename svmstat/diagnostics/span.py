"""The span of the support vectors: leave-one-out values of f from the fit alone.

Let row k lose its α_k while no vector that is free becomes bounded or none, and no other becomes free. Then

    y_k f^{[−k]}(x_k) = y_k f(x_k) − α_k S_k²        [Vapnik & Chapelle 2000]

where S_k is the distance of φ(x_k) from {Σ_i λ_i φ(x_i): Σ_i λ_i = 1} over the free vectors but k, which with
R = [[0, 1'], [1, K_MM]]⁻¹ over all free vectors M is

    S_k² = 1 / R_kk                 for a free vector
    S_k² = K_kk − v'Rv              for a bounded vector, v = (1, K_Mk)

A vector on the margin is free here whatever its α: where another solution has the same f, it may be free in that.
A row of weight w > 1 loses one copy: its bound falls, and its α by no more than what is above the new bound.

Where no vector but k is free the intercept first goes to the end of its interval, where one becomes free; S_k is the
distance from that one.
"""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.machine import Machine
from svmstat.solver import BoxQP, Solution, basis_of, resolved

_PART = 1e-6
"""A dependent free vector can stand for those that have a larger part in it than rounding leaves."""


def span_values(problem: BoxQP, solution: Solution, weights: Floats) -> Floats:
    """The f^{[−k]}(x_k) that a solution without a total implies, k losing one copy.

    Parameters
    ----------
    problem, solution : of m rows
    weights : (m,) their case weights, > 0

    Returns
    -------
    (m,) array
        NaN for a row without which a class has no weight.

    Examples
    --------
    Two rows of each class, where the inner ones are on the margin and the outer ones are no support vectors:

    >>> from svmstat.kernels import Linear
    >>> from svmstat.machine import contrasts, fit_machine
    >>> X, codes = np.array([[-3.0], [-1.0], [1.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> pair = fit_machine(Linear(), X, codes, np.ones(4), contrasts([(1, 0)], "hinge"), C=9.0).pairs[0]
    >>> span_values(pair.problem, pair.solution, np.ones(4)).round(6)  # 1 − ½ · 2²
    array([-3.,  1., -1.,  3.])
    """
    y, f, taken = problem.signs, solution.decision.copy(), _taken(solution, weights)
    on_margin = _on_margin(problem, solution)
    if np.count_nonzero(on_margin) > 1:
        moved = np.flatnonzero(taken > 0)
        f[moved] -= y[moved] * taken[moved] * _squared_spans(problem, solution, on_margin)[moved]
    else:
        lone = taken > 0 if solution.free.any() else np.ones(problem.n, bool)
        f[lone] = _without_free(problem, solution, taken)[lone]
    for sign in (1.0, -1.0):
        of_class = y == sign
        f[of_class & (weights[of_class].sum() - np.minimum(weights, 1.0) <= 0.0)] = np.nan
    return resolved(f, solution.resolution)


def machine_span(machine: Machine) -> Floats:
    """(n, P) the values of all pairs; rows of other classes, and of weight zero, have those of the fit."""
    of_group, of_row = machine.group_values.copy(), machine.groups.of_row
    for p, pair in enumerate(machine.pairs):
        weights = machine.groups.weights[pair.rows]
        of_group[pair.rows, p] = span_values(pair.problem, pair.solution, weights)
    return np.where((of_row >= 0)[:, None], of_group[of_row], machine.decision_values)


def _on_margin(problem: BoxQP, solution: Solution) -> NDArray[np.bool_]:
    """(m,) the free vectors, and those that would be free in another solution with the same f.

    These lie on the margin too, as far as can be told, with an α that happens to be at its bound.
    """
    within = np.abs(problem.signs * solution.decision - problem.margin) <= solution.resolution
    return np.asarray(solution.free | (within & (solution.upper > 0)))


def _taken(solution: Solution, weights: Floats) -> Floats:
    """(m,) by how much α_k has to fall for one copy of row k to be gone."""
    left = solution.upper * (1.0 - np.minimum(weights, 1.0) / weights)
    return np.maximum(solution.alpha - left, 0.0)


def _squared_spans(problem: BoxQP, solution: Solution, free: NDArray[np.bool_]) -> Floats:
    """(m,) S_k² of the support vectors and the ``free`` (m,), two or more; zero for other rows.

    A vector that depends on the free ones has S_k = 0, and so has one that it can stand for.
    """
    basis, squared = basis_of(problem, solution, free), np.zeros(problem.n)
    own = basis.inverse.diagonal()[1:]
    squared[basis.rows] = np.divide(1.0, own, out=np.zeros(len(own)), where=own > 0)
    rest = np.setdiff1d(np.flatnonzero((solution.alpha > 0) | free), basis.rows)
    v = np.vstack([np.ones(len(rest)), problem.gram.cross(basis.rows, rest)])
    parts = basis.inverse @ v
    squared[rest] = np.maximum(problem.gram.diagonal[rest] - (v * parts).sum(axis=0), 0.0)
    dependent = free[rest]
    squared[rest[dependent]] = 0.0
    squared[basis.rows[(np.abs(parts[1:, dependent]) > _PART).any(axis=1)]] = 0.0
    return squared


def _without_free(problem: BoxQP, solution: Solution, taken: Floats) -> Floats:
    """(m,) f^{[−k]}(x_k) where no row but k is free.

    Row i is on its margin at b_i = y_i m_i − h_i. Rows whose β = αy can rise bound b from below, rows whose β can fall
    bound it from above; where β_k falls to zero another has to rise, and where it rises another has to fall.
    """
    y, alpha, h = problem.signs, solution.alpha, solution.field
    below, above = alpha < solution.upper, alpha > 0
    b, K = y * problem.margin - h, problem.gram
    low, at_low = _largest_of_others(np.where(np.where(y > 0, below, above), b, -np.inf))
    high, at_high = _largest_of_others(np.where(np.where(y > 0, above, below), -b, -np.inf))
    end, partner = np.where(y > 0, low, -high), np.where(y > 0, at_low, at_high)
    both = np.isfinite(low) & np.isfinite(high)
    middle = np.where(both, 0.5 * (low - np.where(both, high, 0.0)), np.where(np.isfinite(low), low, -high))
    partners, which = np.unique(partner, return_inverse=True)
    shared = np.take_along_axis(K.cross(np.arange(problem.n), partners), which.reshape(-1, 1), axis=1)[:, 0]
    squared = np.maximum(K.diagonal + K.diagonal[partner] - 2.0 * shared, 0.0)
    return np.where(taken > 0, h + end - y * taken * squared, h + middle)


def _largest_of_others(values: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """For each of m ≥ 2 rows the largest value of the others, and whose it is."""
    second, first = np.argsort(values, kind="stable")[-2:]
    place = np.full(len(values), first)
    place[first] = second
    return values[place], place
