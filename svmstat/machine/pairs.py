"""Two of the classes against each other: what is asked, the problem that it poses, its solution, the votes.

f > 0 stands for the first class of a pair. Of two classes there is one pair, (event, other); of K > 2 classes there are
K(K − 1)/2, in the order of `pairs_of` [003: section 3].
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.machine.ties import tied
from svmstat.objective.bounds import weighted
from svmstat.objective.losses import Loss, hinge, make_loss
from svmstat.objective.nu import Nu
from svmstat.solver import TOLERANCE, BoxQP, Gram, LowRank, Solution, resolved, solve

_AT_ONCE = 2048
"""Rows whose decision values stand in the cache together."""

Products = Callable[[Floats, Floats], Floats]
"""What multiplies kernel values (r, m) by coefficients (m, B), and gives (r, B)."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two classes against each other.

    Attributes
    ----------
    first, second : the classes; f > 0 stands for the first, whose margin and weight are those of the event
    loss : margins and class weights
    nu : the 2ν parameters, which take the place of a cost; None if there is one
    """

    first: int
    second: int
    loss: Loss
    nu: Nu | None = None

    def holds(self, codes: Codes) -> NDArray[np.bool_]:
        """Whether classes (m,) are one of the two."""
        return np.asarray((codes == self.first) | (codes == self.second))

    def signs(self, codes: Codes) -> Floats:
        """+1 for the first class, −1 for the second and 0 for others, (m,)."""
        return np.asarray((codes == self.first).astype(float) - (codes == self.second))

    def pose(self, gram: Gram, y: Floats, weights: Floats, point: Codes | None, C: float) -> BoxQP:
        """The problem for labels y (m,) of rows with these kernel values, weights (m,) and points (m,)."""
        cost, total = (C, None) if self.nu is None else (1.0 / self.nu.n, self.nu.total)
        upper = weighted(cost, weights, self.loss.class_weight(y))
        return BoxQP(gram, y, self.loss.margin(y), upper, total, point)


@dataclass(frozen=True, slots=True, kw_only=True)
class PosedPair(Contrast):
    """The problem of two classes.

    Attributes
    ----------
    C : cost; immaterial with ν
    rows : (m,) which of the G groups belong to either class
    problem : the quadratic problem on these rows
    """

    C: float
    rows: Codes
    problem: BoxQP


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(PosedPair):
    """The machine of two classes: a `PosedPair` with its solution; C with ν is that of the equivalent problem."""

    solution: Solution

    @property
    def coefficients(self) -> Floats:
        """(m,) c y, of which f(x) = Σ_i c_i y_i K(x_i, x) + b is made."""
        return self.solution.coefficients * self.problem.signs

    @property
    def decision(self) -> Floats:
        """(m,) the decision values of its rows, `tied`."""
        return tied(self.solution.decision[:, None], np.array([self.solution.resolution]))[:, 0]


@cache
def pairs_of(n_classes: int) -> Codes:
    """(P, 2) the pairs i < j of classes, in their order.

    Examples
    --------
    >>> pairs_of(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    pairs = np.array(list(combinations(range(n_classes), 2)), dtype=np.intp)
    pairs.setflags(write=False)
    return pairs


def contrasts(
    pairs: Codes | Sequence[tuple[int, int]], loss: str, class_weight: Mapping[int, float] | None = None
) -> tuple[Contrast, ...]:
    """What is asked of each pair (P, 2) of classes: ``loss`` by its name, ``class_weight`` L of each, by default 1.

    Examples
    --------
    >>> contrasts([(1, 0)], "hinge", {1: 2.0})
    (Contrast(first=1, second=0, loss=Loss(name='hinge', ..., weight_event=2.0, weight_other=1.0), nu=None),)
    """
    L = class_weight or {}
    return tuple(Contrast(int(i), int(j), make_loss(loss, L.get(int(i), 1.0), L.get(int(j), 1.0))) for i, j in pairs)


def nu_contrast(first: int, second: int, nu: Nu) -> Contrast:
    """The contrast of the 2ν-SVM, whose equivalent problem has the class weights γ and 1 − γ."""
    return Contrast(first, second, hinge(nu.gamma, nu.gamma_other), nu)


def for_weights(pair: PosedPair, weights: Floats, upper: Floats, *, keeps_nu: bool = False) -> PosedPair:
    """A problem for other weights (m,) of its rows, as if it were posed for these alone: ν is of them.

    Parameters
    ----------
    pair : the problem, or a machine
    weights : (m,) which may be zero
    upper : (m,) the bounds if there is no ν, or it stays
    keeps_nu : whether n and ν stay what they are
    """
    problem, y = pair.problem, pair.problem.signs
    asked: Contrast = pair
    sums = (0.0, 0.0) if keeps_nu or pair.nu is None else (float(weights[y > 0].sum()), float(weights[y < 0].sum()))
    if pair.nu is None or min(sums) == 0.0:
        problem = replace(problem, upper=upper)
    else:
        asked = nu_contrast(pair.first, pair.second, pair.nu.of(*sums))
        problem = asked.pose(problem.gram, y, weights, problem.point, pair.C)
    return PosedPair(asked.first, asked.second, asked.loss, asked.nu, C=pair.C, rows=pair.rows, problem=problem)


def solved(posed: PosedPair, near: Pair | None) -> Pair:
    """A pair with its solution, which sets off from that of a ``near`` one on the same rows."""
    start = None
    if near is not None and (posed.nu is None or near.nu is not None):
        start = near.solution
    return with_solution(posed, solve(posed.problem, start=start))


def with_solution(posed: PosedPair, solution: Solution) -> Pair:
    """A pair with a solution that is at hand."""
    C = posed.C if posed.nu is None else posed.nu.cost(solution.rho)
    return Pair(
        posed.first, posed.second, posed.loss, posed.nu, C=C, rows=posed.rows, problem=posed.problem, solution=solution
    )


def pair_along(pair: Pair, costs: Floats) -> Iterator[Pair]:
    """The pair for other costs (B,), one after the other along the exact path; with ν from its equivalent cost."""
    origin, start = pair.problem, pair.solution
    if origin.total is not None:
        origin = replace(origin, upper=start.upper, total=None)
        start = solve(origin)
    uppers = np.outer(costs, origin.upper / pair.C)
    for cost, upper, solution in zip(
        costs.tolist(), uppers, solve(origin, uppers, start=start, in_turn=True), strict=True
    ):
        yield replace(pair, nu=None, C=cost, problem=replace(origin, upper=upper), solution=solution)


def expanded(pairs: Sequence[Pair], n_groups: int) -> tuple[Codes, Floats, Products]:
    """The groups (S,) that any pair needs, their coefficients (S, P), and how these are multiplied."""
    coefficients = np.zeros((n_groups, len(pairs)))
    for p, pair in enumerate(pairs):
        coefficients[pair.rows, p] = pair.coefficients
    support = np.flatnonzero(coefficients.any(axis=1))
    return support, coefficients[support], partial(products_of, [pair.solution for pair in pairs])


def products_of(solutions: Sequence[Solution], K: Floats, coefficients: Floats) -> Floats:
    """K (r, m) times the coefficients (m, P), in the precision that each solution needs."""
    if not any(solution.delicate for solution in solutions):
        return np.asarray(K @ coefficients)
    columns = (solution.products(K, coefficients[:, p]) for p, solution in enumerate(solutions))
    return np.column_stack(list(columns))


def decided(pairs: Sequence[Pair], h: Floats) -> Floats:
    """f = h + b of each pair for values h (m, P), overwritten; exactly zero where its sign is rounding."""
    intercept = np.array([pair.solution.intercept for pair in pairs])
    resolution = np.array([pair.solution.resolution for pair in pairs])
    for start in range(0, len(h), _AT_ONCE):
        f = h[start : start + _AT_ONCE]
        f += intercept
        resolved(f, resolution)
    return h


def products_by(solution: Solution, K: Floats, coefficients: Floats) -> Floats:
    """K (r, m) times coefficients (m, B), in the precision that the one solution needs."""
    return products_of([solution] * coefficients.shape[1], K, coefficients)


def others_of(rows: Codes, n_groups: int) -> Codes:
    """The groups that are not among the rows."""
    other = np.ones(n_groups, bool)
    other[rows] = False
    return np.flatnonzero(other)


def decided_elsewhere(gram: Gram, rows: Codes, others: Codes, solution: Solution, signs: Floats) -> Floats:
    """f of other groups (k,) by a solution for the rows (m,) with these signs, in the precision that it needs."""
    if len(others) == 0:
        return np.empty(0)
    support = np.flatnonzero(solution.coefficients)
    beta = (signs * solution.coefficients)[support]
    return solution.decided(solution.products(*gram.across(others, rows[support], beta, solution.delicate)))


def elsewhere(gram: Gram, rows: Codes, others: Codes, beta: Floats) -> Floats:
    """Σ_a β_a K(x, x_a) over the rows (m,) for other groups (k,): (B, k) for β = α y (B, m)."""
    if len(others) == 0:
        return np.empty((len(beta), 0))
    support = np.flatnonzero(beta.any(axis=0))
    if isinstance(gram, LowRank):
        return np.asarray(gram.normal(rows[support], beta[:, support].T).T @ gram.factor[others].T)
    return np.asarray(beta[:, support] @ gram.cross(rows[support], others))


def vote(f: Floats, pairs: Codes) -> Codes:
    """The class for which most of the pairs (P, 2) vote, (m,) for decision values (m, P); −1 where one is NaN.

    Pair (i, j) votes for i where f > 0, else for j. Of classes with equally many votes the one with the largest sum
    of decision values (of f for i, −f for j) is taken, then the first; sums that differ by no more than the tolerance
    to which f is certified are equal.

    Examples
    --------
    A wins over B, B over C, and C over A most clearly:

    >>> vote(np.array([[0.1, -3.0, 0.2]]), pairs_of(3)).tolist()
    [2]
    """
    votes, sums = _tally(f, pairs)
    sums[votes < votes.max(axis=1, keepdims=True)] = -np.inf
    winner = (sums >= sums.max(axis=1, keepdims=True) - TOLERANCE).argmax(axis=1)
    winner[np.isnan(f).any(axis=1)] = -1
    return np.asarray(winner)


def by_class(f: Floats, pairs: Codes) -> Floats:
    """(m, K) a number for each class, the largest being that of the class for which the pairs `vote`.

    Its votes, and s / (3 (|s| + 1)) for the sum s of its decision values, which lies between −1/3 and 1/3: what
    scikit-learn makes of pairs.

    Examples
    --------
    >>> by_class(np.array([[0.1, -3.0, 0.2]]), pairs_of(3)).round(2)
    array([[0.75, 1.03, 1.25]])
    """
    votes, sums = _tally(f, pairs)
    found = votes + sums / (3.0 * (np.abs(sums) + 1.0))
    rows = np.arange(len(f))
    found[rows, vote(f, pairs)] = found.max(axis=1)  # of sums that are equal but for rounding, the first
    return found


def _tally(f: Floats, pairs: Codes) -> tuple[Floats, Floats]:
    """(m, K) how many pairs vote for each class, and the sums of their decision values."""
    shape = (pairs.max() + 1, len(f))
    votes, sums = np.zeros(shape), np.zeros(shape)
    for start in range(0, len(f), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        for (i, j), value in zip(pairs, np.ascontiguousarray(f[rows].T), strict=True):
            won = value > 0
            votes[i, rows] += won
            votes[j, rows] += ~won
            sums[i, rows] += value
            sums[j, rows] -= value
    return votes.T, sums.T
