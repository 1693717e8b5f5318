"""A kernel, a loss and weights on the rows of a design: the fitted machine and its decision values.

Rows that agree in predictors and label are one row of the problem, their weights added; so a weight of two and a row
given twice are the same fit, digit by digit, and no two rows of the problem are copies of each other. Rows of weight
zero take no part and are predicted. Rows that agree in predictors are one point: its f is computed once, and new rows
at the same point have it too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from svmstat._repeats import distinct_rows, first_copies
from svmstat.bounds import weighted
from svmstat.kernels import Kernel, Precomputed, Rows
from svmstat.losses import Loss, hinge
from svmstat.nu import Nu
from svmstat.solver import BoxQP, Gram, Solution, solve

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_CHUNK = 2**22
"""Kernel values that are computed at a time for a prediction."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Which rows are the same observation.

    Attributes
    ----------
    first : (G,) a row of each group; the groups are in the order of their values
    of_row : (n,) the group of each row, −1 for a row of weight zero
    weights : (G,) sums of the case weights
    point : (G,) the first group with the same predictors
    """

    first: Indices
    of_row: Indices
    weights: Floats
    point: Indices

    def to_rows(self, values: Indices) -> Indices:
        """What the groups (G,) have, for the rows (n,); −1 for a row of weight zero."""
        return np.where(self.of_row >= 0, values[self.of_row], -1)


@dataclass(frozen=True, slots=True)
class Machine:
    """A fitted machine.

    Attributes
    ----------
    kernel : the kernel K
    X : (n, p) rows of the design on the scale of the fit; for a precomputed kernel its gram matrix (n, n)
    y : (n,) labels, −1 or +1
    weights : (n,) case weights
    C, loss : cost, margins and class weights; with ``nu`` those of the equivalent problem, C = 1/(ρn), γ and 1 − γ
    groups : the rows that are the same observation
    problem : the quadratic problem over the G groups
    solution : its solution
    alpha : (n,) dual variables, a group's share in proportion to the weights
    upper : (n,) their upper bounds
    decision_values : (n,) f(x_i)
    nu : the 2ν parameters, None if the cost was given
    """

    kernel: Kernel
    X: Floats
    y: Floats
    weights: Floats
    C: float
    loss: Loss
    groups: Groups
    problem: BoxQP
    solution: Solution
    alpha: Floats
    upper: Floats
    decision_values: Floats
    nu: Nu | None = None

    @property
    def gram(self) -> Gram:
        """The gram matrix of the groups."""
        return self.problem.gram

    def decision_function(self, X: Floats) -> Floats:
        """f(x) = Σ_i α_i y_i K(x, x_i) + b for rows (m, p), or kernel values (m, n) for a precomputed kernel."""
        beta = self.solution.coefficients * self.problem.signs
        at = partial(_decision_at, self.kernel, self.X, self.groups, self.solution, beta)
        return point_by_point(X, self.X, self.decision_values, at)

    def direction(self) -> Floats:
        """(p,) the normal vector Σ_i α_i y_i x_i, which is h for the linear kernel."""
        return np.zeros(self.X.shape[1]) if self.solution.flat else (self.alpha * self.y) @ self.X


def fit_machine(
    kernel: Kernel, X: Floats, y: Floats, weights: Floats, *, C: float, loss: Loss, near: Machine | None = None,
    nu: Nu | None = None,
) -> Machine:  # fmt: skip
    """Fit a machine.

    Parameters
    ----------
    kernel : the kernel K
    X : (n, p) rows of the design; for a precomputed kernel its gram matrix (n, n)
    y : (n,) labels, −1 or +1, both with positive weight
    weights : (n,) case weights ≥ 0
    C : cost, > 0
    loss : margins and class weights
    near : a machine with the same kernel on the same rows, whose gram matrix is shared and whose solution is where the
        solver sets off
    nu : 2ν parameters, which take the place of C and loss

    Returns
    -------
    Machine
    """
    groups = group_rows(X, y, weights) if near is None else near.groups
    gram = None if near is None else near.problem.gram
    if nu is not None:
        loss = hinge(nu.gamma, nu.gamma_other)
        problem = replace(pose(kernel, X, y, groups, C=1.0 / nu.n, loss=loss, gram=gram), total=nu.total)
        solution = solve(problem, start=None if near is None or near.nu is None else near.solution)
        return replace(
            _machine(kernel, X, y, weights, nu.cost(solution.rho), loss, groups, problem, solution), nu=nu
        )  # fmt: skip
    problem = pose(kernel, X, y, groups, C=C, loss=loss, gram=gram)
    solution = solve(problem, start=None if near is None else carried(near.solution, problem.upper))
    return _machine(kernel, X, y, weights, C, loss, groups, problem, solution)


def along_costs(machine: Machine, costs: Floats) -> Iterator[Machine]:
    """The machines for other costs (B,), one after the other along the exact path; near costs in a row are fast.

    A machine with 2ν parameters is on the path of its equivalent cost.
    """
    origin, start = machine.problem, machine.solution
    if origin.total is not None:
        origin = replace(origin, upper=start.upper, total=None)
        start = solve(origin)
    uppers = np.outer(costs, origin.upper / machine.C)
    solutions = solve(origin, uppers, start=start, in_turn=True)
    for cost, upper, solution in zip(costs.tolist(), uppers, solutions, strict=True):
        problem = replace(origin, upper=upper)
        yield _machine(
            machine.kernel, machine.X, machine.y, machine.weights, cost, machine.loss, machine.groups, problem, solution
        )


def _machine(
    kernel: Kernel, X: Floats, y: Floats, weights: Floats, C: float, loss: Loss, groups: Groups, problem: BoxQP,
    solution: Solution,
) -> Machine:  # fmt: skip
    """The machine whose groups have this solution: what it says of every row."""
    used = groups.of_row >= 0
    of_row = groups.of_row[used]
    share = weights[used] / groups.weights[of_row]
    alpha, upper, values = np.zeros(len(y)), np.zeros(len(y)), np.empty(len(y))
    alpha[used] = solution.alpha[of_row] * share
    upper[used] = solution.upper[of_row] * share
    values[used] = solution.decision[groups.point[of_row]]
    if not used.all():
        at = partial(_decision_at, kernel, X, groups, solution, solution.coefficients * problem.signs)
        values[~used] = point_by_point(X[~used], X[used], values[used], at)
    return Machine(kernel, X, y, weights, C, loss, groups, problem, solution, alpha, upper, values)


def _decision_at(kernel: Kernel, points: Floats, groups: Groups, solution: Solution, beta: Floats, X: Floats) -> Floats:
    """f(x) (m,) for rows X (m, p); β (G,) belongs to the groups of the ``points``."""
    support = np.flatnonzero(beta)
    return solution.decided(expansion(kernel, X, points, groups.first[support], beta[support], solution.products))


def point_by_point(X: Floats, known: Floats, values: Floats, compute: Callable[[Floats], Floats]) -> Floats:
    """Values (m,) or (m, P) for rows X (m, p): those of equal ``known`` rows (n, p), the others once for each point.

    The last bit of a sum may depend on where its row stands in a block; what is equal must not come out different.
    """
    place, n = first_copies(X, known), len(known)
    new = np.flatnonzero(place == n + np.arange(len(X)))
    computed = np.empty((n + len(X), *values.shape[1:]))
    computed[:n] = values
    computed[n + new] = compute(X[new])
    return computed[place]


def pose(
    kernel: Kernel, X: Floats, y: Floats, groups: Groups, *, C: float, loss: Loss, gram: Gram | None = None
) -> BoxQP:
    """The quadratic problem over the G groups; X (n, p), y (n,) and the rest as in `fit_machine`."""
    labels = y[groups.first]
    upper = weighted(C, groups.weights, loss.class_weight(labels))
    gram = Gram(source(kernel, X, groups.first)) if gram is None else gram
    return BoxQP(gram, labels, loss.margin(labels), upper, point=groups.point)


def carried(solution: Solution, upper: Floats) -> Solution:
    """Where to set off for other upper bounds (n,): every α is the same share of its bound.

    That is nearer than the same α where all bounds move together, as they do with the cost.
    """
    share = np.divide(upper, solution.upper, out=np.zeros(len(upper)), where=solution.upper > 0)
    return replace(solution, alpha=solution.alpha * share, upper=solution.upper * share)


def group_rows(X: Floats, y: Floats, weights: Floats) -> Groups:
    """Find the rows of positive weight that agree in X (n, p) and y (n,).

    Examples
    --------
    >>> groups = group_rows(np.array([[2.0], [1.0], [2.0]]), np.array([1.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.5]))
    >>> groups.first, groups.weights, groups.point
    (array([1, 0]), array([1. , 1.5]), array([0, 1]))
    """
    used = np.flatnonzero(weights > 0)
    found = distinct_rows(np.column_stack([X[used], y[used]]), weights[used])
    of_row = np.full(len(y), -1)
    of_row[used] = found.of_row
    first = used[found.first]
    new = np.ones(len(first), bool)
    new[1:] = (X[first[1:]] != X[first[:-1]]).any(axis=1)  # the groups are in the order of their predictors
    point = np.maximum.accumulate(np.where(new, np.arange(len(first)), 0))
    return Groups(first, of_row, found.weights, point)


def problem_on(machine: Machine, which: Indices, labels: Floats, weights: Floats) -> BoxQP:
    """The machine's problem on chosen groups, each with a label and a weight: which, labels, weights (m,)."""
    loss, nu, groups = machine.loss, machine.nu, machine.groups
    cost, total = (machine.C, None) if nu is None else (1.0 / nu.n, nu.total)
    upper = weighted(cost, weights, loss.class_weight(labels))
    gram = Gram(source(machine.kernel, machine.X, groups.first[which]))
    return BoxQP(gram, labels, loss.margin(labels), upper, total, groups.point[which])


def source(kernel: Kernel, X: Floats, first: Indices) -> Rows:
    """The kernel on the rows ``first`` of X."""
    if isinstance(kernel, Precomputed):
        return kernel.bind(X[np.ix_(first, first)])
    return kernel.bind(X[first])


def expansion(
    kernel: Kernel, X: Floats, points: Floats, rows: Indices, coefficients: Floats,
    products: Callable[[Floats, Floats], Floats],
) -> Floats:  # fmt: skip
    """Σ_a coefficients[a] · K(x, points[rows[a]]) for each row of X; coefficients (m,) or (m, P), one sum a column.

    ``products`` multiplies kernel values (k, m) by the coefficients.
    """
    values = np.zeros((len(X), *coefficients.shape[1:]))
    if len(rows) == 0:
        return values
    if isinstance(kernel, Precomputed):
        return products(kernel(X, points)[:, rows], coefficients)
    support = points[rows]
    size = max(1, _CHUNK // len(rows))
    for start in range(0, len(X), size):
        values[start : start + size] = products(kernel(X[start : start + size], support), coefficients)
    return values
