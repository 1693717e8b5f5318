"""One machine for each pair of classes, on one gram matrix [003: section 3].

Pair (i, j), i < j, has the rows of both classes; f > 0 stands for class i.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat.bounds import weighted
from svmstat.calibration import fit_platt
from svmstat.kernels import Kernel
from svmstat.losses import Loss, make_loss
from svmstat.machine import Groups, carried, expansion, group_rows, point_by_point, source
from svmstat.multiclass.probabilities import PairMaps, pairs_of
from svmstat.solver import BoxQP, Gram, Solution, solve

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class PosedPair:
    """The problem of two classes.

    Attributes
    ----------
    first, second : the classes; f > 0 stands for the first
    rows : (m,) which of the G groups belong to either
    loss : margins and class weights, the first class being the event
    problem : the quadratic problem on these rows
    """

    first: int
    second: int
    rows: Codes
    loss: Loss
    problem: BoxQP


@dataclass(frozen=True, slots=True)
class Pair(PosedPair):
    """The machine of two classes: a `PosedPair` with its solution."""

    solution: Solution


@dataclass(frozen=True, slots=True)
class PosedPairs:
    """The problems of all pairs of K classes.

    Attributes
    ----------
    C : cost
    groups : the rows that are the same observation
    group_codes : (G,) their classes
    gram : the gram matrix of the groups
    pairs : the problems, in the order of `pairs_of`
    """

    C: float
    groups: Groups
    group_codes: Codes
    gram: Gram
    pairs: tuple[PosedPair, ...]

    @property
    def n_classes(self) -> int:
        """K."""
        return self.pairs[-1].second + 1


@dataclass(frozen=True, slots=True)
class PairsMachine:
    """Machines for all P = K(K − 1)/2 pairs of K classes.

    Attributes
    ----------
    kernel : the kernel
    X : (n, p) rows of the design on the scale of the fit; for a precomputed kernel its gram matrix (n, n)
    codes : (n,) classes 0 … K − 1; −1 in rows of weight zero whose class no other row has
    weights : (n,) case weights
    C : cost
    groups : the rows that are the same observation
    group_codes : (G,) their classes
    gram : the gram matrix of the groups
    pairs : the machines, in the order of `pairs_of`
    group_values : (G, P) decision values of the groups
    decision_values : (n, P) decision values of the rows
    """

    kernel: Kernel
    X: Floats
    codes: Codes
    weights: Floats
    C: float
    groups: Groups
    group_codes: Codes
    gram: Gram
    pairs: tuple[Pair, ...]
    group_values: Floats
    decision_values: Floats

    @property
    def n_classes(self) -> int:
        """K."""
        return self.pairs[-1].second + 1

    @property
    def totals(self) -> Floats:
        """(K,) sums of the case weights of the classes."""
        return np.bincount(self.group_codes, self.groups.weights, self.n_classes).astype(float)

    @property
    def intercept(self) -> Floats:
        """(P,) the intercepts."""
        return np.array([pair.solution.intercept for pair in self.pairs])

    @property
    def alpha(self) -> Floats:
        """(n, P) dual variables, zero in rows of other classes; a group's share in proportion to the weights."""
        of_group = np.zeros((len(self.group_codes), len(self.pairs)))
        for p, pair in enumerate(self.pairs):
            of_group[pair.rows, p] = pair.solution.alpha
        used = self.groups.of_row >= 0
        of_row = self.groups.of_row[used]
        alpha = np.zeros((len(self.codes), len(self.pairs)))
        alpha[used] = of_group[of_row] * (self.weights[used] / self.groups.weights[of_row])[:, None]
        return alpha

    def decision_function(self, X: Floats) -> Floats:
        """(m, P) decision values for rows (m, p), or kernel values (m, n) for a precomputed kernel."""
        return point_by_point(X, self.X, self.decision_values, self._decision_at)

    def _products(self, K: Floats, coefficients: Floats) -> Floats:
        """K (r, m) times the coefficients (m, P), in the precision that each pair needs."""
        if not any(pair.solution.delicate for pair in self.pairs):
            return np.asarray(K @ coefficients)
        columns = (pair.solution.products(K, coefficients[:, p]) for p, pair in enumerate(self.pairs))
        return np.column_stack(list(columns))

    def _decision_at(self, X: Floats) -> Floats:
        rows, coefficients = _coefficients(self.pairs, len(self.group_codes))
        h = expansion(self.kernel, X, self.X, self.groups.first[rows], coefficients, self._products)
        return np.column_stack([pair.solution.decided(h[:, p]) for p, pair in enumerate(self.pairs)])


def fit_pairs(
    kernel: Kernel, X: Floats, codes: Codes, weights: Floats, *, C: float, loss: str,
    class_weight: Mapping[int, float] | None = None, near: PairsMachine | None = None,
) -> PairsMachine:  # fmt: skip
    """Fit a machine for each pair of classes.

    Parameters
    ----------
    kernel : the kernel
    X : (n, p) rows of the design; for a precomputed kernel its gram matrix (n, n)
    codes : (n,) classes 0 … K − 1, each with positive weight; −1 in rows of weight zero without a class
    weights : (n,) case weights ≥ 0
    C : cost, > 0
    loss : the name of the loss
    class_weight : L of each class, by default 1
    near : machines with the same kernel on the same rows, whose gram matrix is shared and whose solutions are where the
        solver sets off

    Returns
    -------
    PairsMachine

    Examples
    --------
    >>> from svmstat.kernels import Linear
    >>> X, codes = np.array([[0.0], [1.0], [3.0]]), np.arange(3)
    >>> fit_pairs(Linear(), X, codes, np.ones(3), C=9.0, loss="hinge").decision_values.round(6)
    array([[ 1.      ,  1.      ,  2.      ],
           [-1.      ,  0.333333,  1.      ],
           [-5.      , -1.      , -1.      ]])
    """
    posed = pose_pairs(kernel, X, codes, weights, C=C, loss=loss, class_weight=class_weight, near=near)
    pairs = []
    for p, each in enumerate(posed.pairs):
        start = None if near is None else carried(near.pairs[p].solution, each.problem.upper)
        solution = solve(each.problem, start=start)
        pairs.append(Pair(each.first, each.second, each.rows, each.loss, each.problem, solution))
    groups = posed.groups
    group_values = _group_values(posed.gram, tuple(pairs))[groups.point]
    values = np.empty((len(codes), len(pairs)))
    used = groups.of_row >= 0
    values[used] = group_values[groups.of_row[used]]
    machine = PairsMachine(
        kernel, X, codes, weights, C, groups, posed.group_codes, posed.gram, tuple(pairs), group_values, values
    )
    if not used.all():
        values[~used] = point_by_point(X[~used], X[used], values[used], machine._decision_at)
    return machine


def pose_pairs(
    kernel: Kernel, X: Floats, codes: Codes, weights: Floats, *, C: float, loss: str,
    class_weight: Mapping[int, float] | None = None, near: PairsMachine | None = None,
) -> PosedPairs:  # fmt: skip
    """The problems of all pairs of classes; arguments as in `fit_pairs`."""
    L = np.ones(codes.max() + 1)
    for code, value in (class_weight or {}).items():
        L[code] = value
    groups = group_rows(X, codes.astype(float), weights) if near is None else near.groups
    group_codes = codes[groups.first]
    gram = Gram(source(kernel, X, groups.first)) if near is None else near.gram
    pairs = []
    for p, (first, second) in enumerate(pairs_of(len(L)).tolist()):
        pair_loss = make_loss(loss, float(L[first]), float(L[second]))
        rows = np.flatnonzero((group_codes == first) | (group_codes == second)) if near is None else near.pairs[p].rows
        part = gram.part(rows) if near is None else near.pairs[p].problem.gram
        y = np.where(group_codes[rows] == first, 1.0, -1.0)
        upper = weighted(C, groups.weights[rows], pair_loss.class_weight(y))
        problem = BoxQP(part, y, pair_loss.margin(y), upper, point=groups.point[rows])
        pairs.append(PosedPair(first, second, rows, pair_loss, problem))
    return PosedPairs(C, groups, group_codes, gram, tuple(pairs))


def _coefficients(pairs: tuple[Pair, ...], n_groups: int) -> tuple[Codes, Floats]:
    """The groups (s,) that are support vectors of a pair, and α y (s, P)."""
    coefficients = np.zeros((n_groups, len(pairs)))
    for p, pair in enumerate(pairs):
        coefficients[pair.rows, p] = pair.solution.coefficients * pair.problem.signs
    rows = np.flatnonzero(coefficients.any(axis=1))
    return rows, coefficients[rows]


def _group_values(gram: Gram, pairs: tuple[Pair, ...]) -> Floats:
    """(G, P) decision values of all groups by all pairs."""
    values = np.empty((gram.n, len(pairs)))
    for p, pair in enumerate(pairs):
        values[pair.rows, p] = pair.solution.decision
        others = others_of(pair.rows, gram.n)
        support = np.flatnonzero(pair.solution.coefficients)
        beta = (pair.problem.signs * pair.solution.coefficients)[support]
        h = pair.solution.products(gram.cross(others, pair.rows[support]), beta)
        values[others, p] = pair.solution.decided(h)
    return values


def others_of(rows: Codes, n_groups: int) -> Codes:
    """The groups that are not among the rows."""
    return np.setdiff1d(np.arange(n_groups), rows, assume_unique=True)


def elsewhere(gram: Gram, rows: Codes, others: Codes, beta: Floats) -> Floats:
    """Σ_a β_a K(x, x_a) over the rows (m,) for other groups (k,): (B, k) for β = α y (B, m)."""
    support = np.flatnonzero(beta.any(axis=0))
    return np.asarray(beta[:, support] @ gram.cross(rows[support], others))


def fit_pair_maps(machine: PairsMachine, coupling: str, f: Floats | None = None) -> PairMaps:
    """Platt's map of each pair, fitted to its own rows.

    Parameters
    ----------
    machine : the machines
    coupling : how their probabilities are to be coupled
    f : (n, P) leave-one-out decision values, NaN where there are none; by default those of the fit
    """
    values = machine.decision_values if f is None else f
    kind = "insample" if f is None else "loo"
    found = []
    for p, pair in enumerate(machine.pairs):
        rows = (machine.codes == pair.first) | (machine.codes == pair.second)
        rows &= ~np.isnan(values[:, p])
        y = np.where(machine.codes[rows] == pair.first, 1.0, -1.0)
        found.append(fit_platt(values[rows, p], y, machine.weights[rows], kind))
    slope, intercept, converged = zip(*((map_.slope, map_.intercept, map_.converged) for map_ in found), strict=True)
    return PairMaps(np.array(slope), np.array(intercept), np.array(converged), machine.totals, coupling, kind)
