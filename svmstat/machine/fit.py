"""A kernel, rows of a design and pairs of classes: the fitted machine and its decision values."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.doubles import EPS
from svmstat._tools.once import Once
from svmstat._tools.texts import counted
from svmstat.kernels import Kernel, Precomputed
from svmstat.machine.groups import Groups, Indices, expansion, gram_of, group_rows, point_by_point
from svmstat.machine.pairs import (
    Contrast,
    Pair,
    PosedPair,
    decided,
    decided_elsewhere,
    expanded,
    for_weights,
    others_of,
    pair_along,
    solved,
    with_solution,
)
from svmstat.machine.ties import tied, tied_to
from svmstat.objective.bounds import counts
from svmstat.objective.units import Units
from svmstat.solver import Gram, Solution, Status, normal_vector

_ROUNDING = 64.0 * EPS
"""Sums of terms that cancel to this share of their sizes are zero."""


@dataclass(frozen=True, slots=True)
class Posed:
    """The problems of P pairs of K classes on one gram matrix.

    Attributes
    ----------
    kernel : the kernel
    X : (n, p) rows of the design on the scale of the fit; for a precomputed kernel its gram matrix (n, n)
    codes : (n,) classes 0 … K − 1; −1 in rows of weight zero whose class no other row has
    weights : (n,) case weights
    groups : the rows that are the same observation
    group_codes : (G,) their classes
    gram : the gram matrix of the groups
    pairs : the problems
    units : what is left out and drawn together; None for one copy of a row
    """

    kernel: Kernel
    X: Floats
    codes: Codes
    weights: Floats
    groups: Groups
    group_codes: Codes
    gram: Gram
    pairs: tuple[PosedPair, ...]
    units: Units | None = field(default=None, kw_only=True)

    def keep_all_rows(self) -> None:
        """Compute the kernel rows that are kept, before workers share them."""
        for gram in (self.gram, *(pair.problem.gram for pair in self.pairs)):
            gram.keep_all()

    @property
    def C(self) -> float:
        """The cost; with ν that of the equivalent problem."""
        return self.pairs[0].C

    @property
    def classes(self) -> Codes:
        """(P, 2) the classes of the pairs."""
        return np.array([(pair.first, pair.second) for pair in self.pairs])

    @property
    def n_classes(self) -> int:
        """K."""
        return 1 + max(max(pair.first, pair.second) for pair in self.pairs)

    @property
    def totals(self) -> Floats:
        """(K,) sums of the case weights of the classes."""
        return np.bincount(self.group_codes, self.groups.weights, self.n_classes).astype(float)


@dataclass(frozen=True, slots=True, repr=False)
class Machine(Posed):
    """Machines for P pairs of K classes: one for two classes, K(K − 1)/2 for more.

    Attributes
    ----------
    pairs : the machines
    """

    pairs: tuple[Pair, ...]
    _of_groups: Once = field(default_factory=Once, kw_only=True)
    _of_rows: Once = field(default_factory=Once, kw_only=True)

    def __repr__(self) -> str:
        pairs = f"{counted(len(self.pairs), 'pair')} of classes"
        return f"<Machine: {pairs}, {len(self.X)} rows, {self.gram.n} of them different>"

    @property
    def group_values(self) -> Floats:
        """(G, P) decision values of the groups."""
        return self._of_groups.get(partial(_group_values, self))

    @property
    def decision_values(self) -> Floats:
        """(n, P) decision values f(x_i) of the rows."""
        return self._of_rows.get(partial(_row_values, self))

    @property
    def resolution(self) -> Floats:
        """(P,) differences of decision values up to this mean nothing."""
        return np.array([pair.solution.resolution for pair in self.pairs])

    @property
    def certified(self) -> NDArray[np.bool_]:
        """(P,) whether the certificates of the solutions hold."""
        return np.array([pair.solution.status is Status.CERTIFIED for pair in self.pairs])

    def tied(self, f: Floats, resolution: Floats) -> Floats:
        """Decision values (m, P) of other fits, `tied` among each other and to those of this one."""
        return tied_to(tied(f, resolution), self.group_values, self.resolution)

    @property
    def own_values(self) -> Floats:
        """(n, P) decision values of the rows that each pair was fitted to, NaN elsewhere; no kernel value is needed."""
        of_group = np.full((1 + self.gram.n, len(self.pairs)), np.nan)
        for p, pair in enumerate(self.pairs):
            of_group[pair.rows, p] = pair.decision
        return of_group[self.groups.of_row]

    @property
    def intercept(self) -> Floats:
        """(P,) the intercepts."""
        return np.array([pair.solution.intercept for pair in self.pairs])

    @property
    def alpha(self) -> Floats:
        """(n, P) dual variables, zero in rows of other classes; a group's share in proportion to the weights."""
        return self._by_row([pair.solution.alpha for pair in self.pairs])

    @property
    def upper(self) -> Floats:
        """(n, P) their upper bounds."""
        return self._by_row([pair.solution.upper for pair in self.pairs])

    @property
    def diagonal(self) -> Floats:
        """(n,) K(x_i, x_i), zero in rows of weight zero.

        Where K has negative eigenvalues these are no squares: those of K about its means, which makes the same machine.
        """
        of_row, diagonal = self.groups.of_row, self.gram.diagonal
        if self.gram.constant:
            share = self.groups.weights / self.groups.weights.sum()
            means = self.gram.complete() @ share
            diagonal = diagonal - 2.0 * means + means @ share
        return np.where(of_row >= 0, diagonal[of_row], 0.0)

    @property
    def is_support(self) -> NDArray[np.bool_]:
        """(G,) whether a group is a support vector of any pair."""
        found = np.zeros(self.gram.n, bool)
        for pair in self.pairs:
            found[pair.rows[pair.solution.alpha > 0]] = True
        return found

    @property
    def n_support(self) -> float:
        """The sum of the case weights of the support vectors."""
        return float(self.groups.weights[self.is_support].sum())

    @property
    def signs(self) -> Floats:
        """(n, P) +1 for the first class of a pair, −1 for the second and 0 for others."""
        return np.column_stack([pair.signs(self.codes) for pair in self.pairs])

    @property
    def directions(self) -> Floats:
        """(p, P) the normal vectors Σ_i α_i y_i x_i, which are h for the linear kernel."""
        beta = np.zeros((len(self.pairs), len(self.groups.first)))
        for own, pair in zip(beta, self.pairs, strict=True):
            own[pair.rows] = pair.coefficients
        return cancelled(beta, self.X[self.groups.first]).T

    def decision_function(self, X: Floats) -> Floats:
        """(m, P) f(x) = Σ_i α_i y_i K(x, x_i) + b for rows (m, p), or kernel values (m, n) for a precomputed kernel."""
        at = partial(_decision_at, self.kernel, self.X, self.groups, self.gram, self.pairs)
        return point_by_point(X, self.X, self.decision_values, at)

    def _by_row(self, values: Sequence[Floats]) -> Floats:
        """(n, P) what each pair has for its own groups (m,)."""
        of_group = np.zeros((len(self.group_codes), len(self.pairs)))
        for p, (pair, each) in enumerate(zip(self.pairs, values, strict=True)):
            of_group[pair.rows, p] = each
        return self.groups.shared(of_group)


@dataclass(frozen=True, slots=True)
class Known:
    """The rows that are the same observation, and their gram matrix."""

    groups: Groups
    gram: Gram


def fit_machine(
    kernel: Kernel, X: Floats, codes: Codes, weights: Floats, contrasts: Sequence[Contrast], *, C: float,
    near: Machine | None = None, known: Known | None = None,
) -> Machine:  # fmt: skip
    """Fit a machine for each pair of classes.

    Parameters
    ----------
    kernel : the kernel
    X : (n, p) rows of the design; for a precomputed kernel its gram matrix (n, n)
    codes : (n,) classes 0 … K − 1, each with positive weight; −1 in rows of weight zero without a class
    weights : (n,) case weights ≥ 0
    contrasts : the P pairs of classes, each with its loss
    C : cost, > 0; immaterial for a pair with ν
    near : machines of the same pairs with the same kernel on the same rows, whose gram matrix is shared and whose
        solutions are where the solver sets off
    known : the gram matrix of the kernel on these rows, if it has been made

    Returns
    -------
    Machine

    Examples
    --------
    >>> from svmstat.kernels import Linear
    >>> from svmstat.machine.pairs import contrasts, pairs_of
    >>> X, codes = np.array([[0.0], [1.0], [3.0]]), np.arange(3)
    >>> fit_machine(Linear(), X, codes, np.ones(3), contrasts(pairs_of(3), "hinge"), C=9.0).decision_values.round(6)
    array([[ 1.      ,  1.      ,  2.      ],
           [-1.      ,  0.333333,  1.      ],
           [-5.      , -1.      , -1.      ]])
    """
    posed = pose(kernel, X, codes, weights, contrasts, C=C, near=near, known=known)
    nears: Sequence[Pair | None] = [None] * len(posed.pairs) if near is None else near.pairs
    return _machine(posed, tuple(map(solved, posed.pairs, nears)))


def machine_with(posed: Posed, solutions: Sequence[Solution]) -> Machine:
    """The machine whose pairs have solutions that are at hand; nothing is solved."""
    return _machine(posed, tuple(with_solution(*each) for each in zip(posed.pairs, solutions, strict=True)))


def reweighted(machine: Machine, weights: Floats, *, keeps_nu: bool = False) -> Machine:
    """The machine for other case weights (n,) ≥ 0 of the same rows, on the same gram matrix.

    Parameters
    ----------
    machine : the machine that it sets off from
    weights : (n,) zero where the machine has zero; every class needs some
    keeps_nu : whether n and ν stay what they are, as without a single row [004]; otherwise ν is one of these weights

    Examples
    --------
    Without its last row:

    >>> from svmstat.kernels import Linear
    >>> from svmstat.machine.pairs import contrasts
    >>> X, codes = np.array([[0.0], [3.0], [1.0]]), np.array([0, 1, 1])
    >>> machine = fit_machine(Linear(), X, codes, np.ones(3), contrasts([(1, 0)], "hinge"), C=9.0)
    >>> reweighted(machine, np.array([1.0, 1.0, 0.0])).decision_values.round(6).ravel()
    array([-1.      ,  1.      , -0.333333])
    """
    groups, pairs = machine.groups.reweighted(weights), []
    for pair in machine.pairs:
        upper = counts(pair.problem.upper, machine.groups.weights[pair.rows], groups.weights[None, pair.rows])[0]
        pairs.append(for_weights(pair, groups.weights[pair.rows], upper, keeps_nu=keeps_nu))
    posed = Posed(
        machine.kernel, machine.X, machine.codes, weights, groups, machine.group_codes, machine.gram, tuple(pairs),
        units=None if machine.units is None else machine.units.kept(weights),
    )  # fmt: skip
    nears = (pair if keeps_nu or pair.nu is None else None for pair in machine.pairs)  # another ν has another total
    return _machine(posed, tuple(map(solved, posed.pairs, nears)))


def fit_again(machine: Machine, rows: Codes, codes: Codes, weights: Floats) -> Machine:
    """The same machines fitted to other classes and weights of what was fitted before.

    No kernel value is computed anew; cost, losses and ν stay.

    Parameters
    ----------
    machine : the machines
    rows : (m,) which of the G groups, one of each point; a point with several classes is there once for each, in a row
    codes : (m,) the classes, each of the K with positive weight
    weights : (m,) case weights > 0

    Returns
    -------
    Machine
        Its n rows and its G groups are the m rows.
    """
    X = rows_of(machine, rows)
    every = np.arange(len(rows))
    new = np.concatenate([[True], rows[1:] != rows[:-1]])
    groups = Groups(every, every, weights, np.ones(len(rows)), np.maximum.accumulate(np.where(new, every, 0)))
    gram = machine.gram if np.array_equal(rows, np.arange(machine.gram.n)) else machine.gram.part(rows)
    posed = _pose(machine.kernel, X, codes, weights, machine.pairs, machine.C, groups, gram)
    return _machine(posed, tuple(solved(pair, None) for pair in posed.pairs))


def in_units(machine: Machine, place: Codes, weights: Floats, units: Units | None) -> Machine:
    """The same machine, the weight of its rows divided among units, or copies.

    Parameters
    ----------
    machine : no two of whose rows are a group
    place : (m,) a row of the machine
    weights : (m,) a part of its weight; all parts of a row add up to it
    units : of the m parts; None for copies

    Returns
    -------
    Machine
        Its n rows are the m parts.
    """
    own = machine.groups
    first, of_row = np.zeros(len(own.first), np.intp), own.of_row[place]
    first[of_row[::-1]] = np.arange(len(place))[::-1]
    groups = Groups(first, of_row, own.weights, weights / own.weights[of_row], own.point)
    X = machine.X[np.ix_(place, place)] if isinstance(machine.kernel, Precomputed) else machine.X[place]
    return replace(
        machine, X=X, codes=machine.codes[place], weights=weights, groups=groups, units=units, _of_rows=Once()
    )


def rows_of(machine: Machine, groups: Codes) -> Floats:
    """(m, p) rows of the design of some groups (m,); for a precomputed kernel their gram matrix (m, m)."""
    first = machine.groups.first[groups]
    return machine.X[np.ix_(first, first)] if isinstance(machine.kernel, Precomputed) else machine.X[first]


def along_costs(machine: Machine, costs: Floats) -> Iterator[Machine]:
    """The machines for other costs (B,), one after the other along the exact path; near costs in a row are fast.

    A machine with 2ν parameters is on the path of its equivalent cost.
    """
    for pairs in zip(*(pair_along(pair, costs) for pair in machine.pairs), strict=True):
        yield _machine(machine, pairs)


def pose(
    kernel: Kernel, X: Floats, codes: Codes, weights: Floats, contrasts: Sequence[Contrast], *, C: float,
    groups: Groups | None = None, near: Machine | None = None, known: Known | None = None,
) -> Posed:  # fmt: skip
    """The problems of all pairs; arguments as in `fit_machine`, and ``groups`` if they are known."""
    if near is not None:
        groups = near.groups
    elif known is not None:
        return _pose(kernel, X, codes, weights, contrasts, C, known.groups, known.gram)
    elif groups is None:  # of two classes the event comes last: what is drawn must not depend on the order of levels
        groups = group_rows(X, contrasts[0].signs(codes) if len(contrasts) == 1 else codes, weights)
    gram = gram_of(kernel, X, groups.first) if near is None else near.gram
    return _pose(kernel, X, codes, weights, contrasts, C, groups, gram, near)


def _pose(
    kernel: Kernel, X: Floats, codes: Codes, weights: Floats, contrasts: Sequence[Contrast], C: float,
    groups: Groups, gram: Gram, near: Machine | None = None,
) -> Posed:  # fmt: skip
    """The problems of all pairs on the gram matrix of the groups."""
    group_codes = codes[groups.first]
    pairs = []
    for p, each in enumerate(contrasts):
        if near is None:
            rows = np.flatnonzero(each.holds(group_codes))
            part = gram if len(rows) == gram.n else gram.part(rows)
        else:
            rows, part = near.pairs[p].rows, near.pairs[p].problem.gram
        y = each.signs(group_codes[rows])
        problem = each.pose(part, y, groups.weights[rows], groups.point[rows], C)
        pairs.append(PosedPair(each.first, each.second, each.loss, each.nu, C=C, rows=rows, problem=problem))
    return Posed(kernel, X, codes, weights, groups, group_codes, gram, tuple(pairs))


def _machine(posed: Posed, pairs: tuple[Pair, ...]) -> Machine:
    """The machine whose pairs have these solutions."""
    return Machine(
        posed.kernel, posed.X, posed.codes, posed.weights, posed.groups, posed.group_codes, posed.gram, pairs,
        units=posed.units,
    )  # fmt: skip


def _group_values(machine: Machine) -> Floats:
    """(G, P) what the pairs say of every group."""
    gram, values = machine.gram, np.empty((machine.gram.n, len(machine.pairs)))
    for p, pair in enumerate(machine.pairs):
        values[pair.rows, p] = own = pair.decision
        others = others_of(pair.rows, gram.n)
        if len(others):
            found = decided_elsewhere(gram, pair.rows, others, pair.solution, pair.problem.signs)
            resolution = machine.resolution[[p]]
            values[others, p] = tied_to(tied(found[:, None], resolution), own[:, None], resolution)[:, 0]
    return values[machine.groups.point]


def _row_values(machine: Machine) -> Floats:
    """(n, P) what the pairs say of every row."""
    X, groups = machine.X, machine.groups
    used = groups.of_row >= 0
    values = machine.group_values[groups.of_row]
    if not used.all():
        at = partial(_decision_at, machine.kernel, X, groups, machine.gram, machine.pairs)
        values[~used] = point_by_point(X[~used], X[used], values[used], at)
    return values


def cancelled(beta: Floats, X: Floats) -> Floats:
    """βX (q, p) for β (q, n) of the sum zero and X (n, p), zero where rounding alone keeps its terms from cancelling.

    Summed in twice the working precision, as f is. Far from the origin the terms are large and their rounding is not:
    what counts is how far the columns are from their means.

    Examples
    --------
    >>> cancelled(np.array([[0.1, 0.2, -0.3]]), np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 2.0]]))
    array([[ 0. , -0.3]])
    """
    if len(X) == 0:
        return np.zeros((len(beta), X.shape[1]))
    X = np.ascontiguousarray(X)
    sums = np.array([normal_vector(X, np.flatnonzero(each), each[each != 0.0])[0] for each in beta])
    means = X.mean(axis=0)
    rounding = _ROUNDING * (np.abs(beta) @ np.abs(X - means)) + np.abs(np.outer(beta.sum(axis=1), means))
    return np.asarray(np.where(np.abs(sums) <= rounding, 0.0, sums))


def _decision_at(
    kernel: Kernel, points: Floats, groups: Groups, gram: Gram, pairs: tuple[Pair, ...], X: Floats
) -> Floats:
    """f(x) (m, P) for rows X (m, p); the groups are those of the ``points`` (n, p)."""
    return decided(pairs, sums_at(kernel, points, groups, gram, X)(*expanded(pairs, len(groups.first))))


def sums_at(kernel: Kernel, points: Floats, groups: Groups, gram: Gram, X: Floats) -> Callable[..., Floats]:
    """Σ_a coefficients[a] · K(x, groups[a]) at rows X, a function of groups (m,), coefficients (m, P) and a product.

    By the map of the kernel where that is short, and through kernel values otherwise: see `expansion`.
    """
    features = kernel.features(X) if gram.vectors is not None else None

    def sums(support: Indices, coefficients: Floats, products: Callable[[Floats, Floats], Floats]) -> Floats:
        if features is not None:
            return products(features, gram.normal(support, coefficients))
        return expansion(kernel, X, points, groups.first[support], coefficients, products)

    return sums
