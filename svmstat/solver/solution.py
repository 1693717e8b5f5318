"""Solutions with their certificate of optimality."""

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled
from svmstat._tools.doubles import EPS, FAR
from svmstat.solver.gram import Rows, Sizes
from svmstat.solver.twofold import lost_in, products_twofold

TOLERANCE = 1e-8
"""The largest KKT violation of a certified solution."""


AT_LOWER, AT_UPPER, FREE, FIXED = 0, 1, 2, 3
"""Partition codes of a row: β at its lower bound, at its upper bound, between them, or lower = upper."""


PRECISION = 5e-7
"""What rounding may hide of f before a solution is called imprecise: a millionth of half its spread over the rows."""

_VISIBLE = 1e-3
"""The same for the violation and the rounding of h + b, which are large beside h for a tiny C: f shows three digits."""

INVISIBLE = EPS / _VISIBLE
"""An h of which f = h + b, in margins, would not show three digits."""

_ROUGH = 64.0

_HAZE = 0.1

CONDITION = 8.0
"""How many times its violation and rounding f may be off where free rows nearly depend on each other, as a rule; and
how many times what one change of the last digits of K does to it."""


class Status(IntEnum):
    """Whether a solution can be relied on, and if not, why."""

    CERTIFIED = 0
    UNCERTIFIED = 1
    ONE_CLASS = 2
    INFEASIBLE = 3
    IMPRECISE = 4

    @property
    def advice(self) -> str:
        """What to tell the user."""
        return {
            Status.CERTIFIED: "optimal to within the tolerance",
            Status.UNCERTIFIED: "the KKT violation exceeds the tolerance: a smaller C or scaled predictors help",
            Status.ONE_CLASS: "only one class has a positive weight: there is nothing to separate",
            Status.INFEASIBLE: "the bounds of a class sum to less than its total: a smaller nu of that class helps",
            Status.IMPRECISE: "rounding hides more than a millionth of the spread of f: a smaller C or scaled "
            "predictors help, or a larger C where it is tiny",
        }[self]


class Road(IntEnum):
    """How a solution was reached: from zero or another solution, or anew because that did not lead to it.

    ``LOW_RANK`` is the primal of a kernel with a short explicit map, from zero or from another solution.
    """

    COLD = 0
    PATH = 1
    RESCUE = 2
    TABLEAU = 3
    COMPACT = 4
    WARM = 5
    LOW_RANK = 6


NO_NOISE = 1e-6
"""A share of the largest |β| that neither rounding nor a path has left."""


@compiled()
def settled(beta, lo, hi, margin):
    """β, or the bound that is at most ``margin`` away from it."""
    if beta - lo <= margin:
        return lo
    if hi - beta <= margin:
        return hi
    return beta


@compiled()
def settle(beta, lo, hi):
    """Take rounding from β (n,), in place: rows at a bound to 1e-12 of their box, and to 1e-9 of the largest |β|."""
    largest = 0.0
    for i in range(beta.shape[0]):
        largest = max(largest, abs(beta[i]))
    for i in range(beta.shape[0]):
        beta[i] = settled(beta[i], lo[i], hi[i], min(1e-12 * (hi[i] - lo[i]), 1e-9 * largest))


@compiled()
def doubtful(beta, lo, hi, noise):
    """The rows (m,) that are free by less than 1e-10 of their box or by ``noise``, and how far (m,) above the bound."""
    rows, distance = np.empty(beta.shape[0], np.int64), np.empty(beta.shape[0])
    m = 0
    for i in range(beta.shape[0]):
        if lo[i] < beta[i] < hi[i]:
            box = hi[i] - lo[i]
            change = beta[i] - settled(beta[i], lo[i], hi[i], min(max(1e-10 * box, noise), 0.5 * box))
            if change != 0.0:
                rows[m], distance[m] = i, change
                m += 1
    return rows[:m], distance[:m]


@compiled()
def off_the_sum(beta):
    """|Σβ| of β (n,), where it should be zero, in twice the working precision: what a path has lost on its way.

    A row that is no further from its bound is free for nothing else. What is more than `NO_NOISE` was not lost.
    """
    total, lost, largest = 0.0, 0.0, 0.0
    for i in range(beta.shape[0]):
        grown = total + beta[i]
        lost += lost_in(total, beta[i], grown)
        total = grown
        largest = max(largest, abs(beta[i]))
    return min(1.001 * abs(total + lost), NO_NOISE * largest)  # its distance is rounded


@compiled()
def partition(beta, lo, hi):
    """(n,) int8 partition codes."""
    status = np.empty(beta.shape[0], np.int8)
    for i in range(beta.shape[0]):
        if hi[i] <= lo[i]:
            status[i] = FIXED
        elif beta[i] <= lo[i]:
            status[i] = AT_LOWER
        else:
            status[i] = AT_UPPER if beta[i] >= hi[i] else FREE
    return status


@compiled(inside=True, fastmath={"nnan", "nsz", "reassoc"})
def _ends(h, beta, lo, hi):
    """max{h_i: β_i < hi_i} and min{h_i: β_i > lo_i}, infinite where there is no such row."""
    b_low, b_high = -FAR, FAR
    for i in range(h.shape[0]):
        b_low = max(b_low, h[i] if beta[i] < hi[i] else -FAR)
        b_high = min(b_high, h[i] if beta[i] > lo[i] else FAR)
    return -np.inf if b_low == -FAR else b_low, np.inf if b_high == FAR else b_high


@compiled()
def certify(h, beta, lo, hi):
    """The interval of b, the KKT violation and the duality gap.

    h = s − Kβ, β, lo, hi: (n,). Optimality is max{h_i: β_i < hi_i} ≤ b ≤ min{h_i: β_i > lo_i}; the violation is the
    amount by which the two ends cross, or |Σβ| / Σ|β| if that is larger. With g = Kβ + b − s the gap is a sum of terms
    ≥ 0: (β − lo)·g where g ≥ 0 and (hi − β)·|g| where g < 0, which loses no digits, and |b Σβ|.
    """
    b_low, b_high = _ends(h, beta, lo, hi)
    b = middle(b_low, b_high)
    balance, size, gap = 0.0, 0.0, 0.0
    for i in range(h.shape[0]):
        g = b - h[i]
        balance += beta[i]
        size += abs(beta[i])
        gap += (beta[i] - lo[i]) * max(g, 0.0) + (hi[i] - beta[i]) * max(-g, 0.0)
    gap += abs(b * balance)
    unbalanced = abs(balance) / size if size > 0.0 else 0.0
    if not np.isfinite(gap + size):
        return np.nan, np.nan, np.inf, np.inf
    return b_low, b_high, max(b_low - b_high, unbalanced), gap


@compiled()
def middle(b_low, b_high):
    """The midpoint of the intercept's interval, its finite end where it has only one."""
    if np.isinf(b_low):
        return b_high
    if np.isinf(b_high):
        return b_low
    return 0.5 * (b_low + b_high)


def middles(interval: Floats) -> Floats:
    """`middle` of each of (..., 2) intervals."""
    low, high = interval[..., 0], interval[..., 1]
    return np.where(np.isinf(low), high, np.where(np.isinf(high), low, 0.5 * (low + high)))


def rounding_of(beta: Floats, sizes: Sizes) -> Floats:
    """A bound (...,) on the rounding of Kβ at any row, for β (..., n) and the sizes of the values of K.

    |K_ij| ≤ √(K_ii K_jj), and the errors of m products and sums, each of at most half a unit in the last place, hardly
    ever add up to more than √m of these [Higham & Mary 2019].
    """
    count = np.count_nonzero(beta) if beta.ndim == 1 else (beta != 0.0).sum(axis=-1)  # one is found in half the time
    units = 2.0 + 0.5 * np.sqrt(count)
    with np.errstate(over="ignore", invalid="ignore"):  # a path that broke off may have left anything
        return np.asarray(units * EPS * (np.abs(beta) @ sizes.root) * sizes.largest_root)


def blur_of(beta: Floats, diagonal: Floats, units: float) -> float:
    """How far rounding of the kernel values takes Kβ at any row, for β (n,) and ``units`` as in `Gram.blur`.

    The errors of m values, each of at most so many units in the last place of √(K_ii K_jj), hardly ever all have the
    same sign.
    """
    size = np.abs(diagonal)
    with np.errstate(over="ignore", invalid="ignore"):
        return float(units * EPS * np.sqrt((beta * beta) @ size) * np.sqrt(size.max()))


def is_rough(violation: Floats | float, rounding: Floats | float, spread: Floats | float) -> NDArray[np.bool_]:
    """Whether the violation hides a millionth of the ``spread`` of h, and a better solution might not."""
    return np.asarray((violation > PRECISION * spread) & (violation > as_good_as_rounding(rounding)))


def as_good_as_rounding(rounding: Floats | float) -> Floats | float:
    """The largest violation that may be rounding alone."""
    return _ROUGH * (rounding + EPS)


def is_seen(
    violation: Floats | float, rounding: Floats | float, beside: Floats | float, spread: Floats | float
) -> NDArray[np.bool_]:
    """Whether rounding and violation leave as much of the ``spread`` of f as is asked for; as in `judgement`."""
    hidden = np.maximum(violation, 0.0) + EPS * beside
    return np.asarray((rounding <= PRECISION * spread) & (hidden <= _VISIBLE * spread))


def reach_of(gap: Floats | float, sizes: Sizes) -> NDArray[np.float64]:
    """How far f may be from that of the optimum by the duality gap, (...,).

    The primal objective grows by ½‖h − h*‖² at least, so that |h(x) − h*(x)| ≤ √(2 gap K(x, x)), and b follows h.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of what is no solution the gap is infinite
        return np.asarray(2.0 * np.sqrt(2.0 * np.maximum(gap, 0.0) * sizes.largest))


def is_hazy(reach: Floats | float, spread: Floats | float) -> NDArray[np.bool_]:
    """Whether the duality gap, by its `reach_of`, leaves room for an f that differs by a tenth of the ``spread`` of h.

    Where classes nearly cancel h is a millionth of the margins: a violation far below the tolerance may be all of it.
    """
    return np.asarray(reach > _HAZE * spread)


def sizes_beside(intercept: Floats | float, linear: Floats) -> Floats:
    """What h = Kβ is added to, (...,): b, and as s − Kβ the margins s (n,), once for each term."""
    return np.asarray(np.abs(intercept) + (4.0 + np.sqrt(len(linear))) * np.abs(linear).max())


@dataclass(frozen=True, slots=True)
class Judgement:
    """What certificates come to; all of the shape (...,) of the solutions.

    Attributes
    ----------
    status : codes of `Status`
    rounding : bounds on the rounding of f
    resolution : differences of f up to this mean nothing, but for rows that are far from all others
    """

    status: NDArray[np.int8]
    rounding: Floats
    resolution: Floats


def judgement(
    violation: Floats | float, rounding: Floats | float, limit: Floats | float, beside: Floats | float,
    spread: Floats | float, reach: Floats | float = 0.0, share: Floats | float = 1.0,
) -> Judgement:  # fmt: skip
    """Whether solutions can be relied on; all arguments of the shape (...,) of the solutions.

    Parameters
    ----------
    violation : KKT violations
    rounding : of h
    limit : the rounding of plain sums Kβ: what the digits of β can be blamed for
    beside : see `sizes_beside`
    spread : that of f over the ordinary rows, or one, the margin, where f is flat
    reach : see `reach_of`; it counts where the tolerance is met and hides some of f, which hardly varies then
    share : that of the ordinary rows in rounding and reach, see `Ordinary`
    """
    excess, added = np.maximum(violation, 0.0), EPS * beside
    good = (violation <= TOLERANCE) & is_seen(violation, share * rounding, beside, spread)
    blamed = np.where(violation <= TOLERANCE + limit, Status.IMPRECISE, Status.UNCERTIFIED)
    status = np.where(good, Status.CERTIFIED, blamed).astype(np.int8)
    hidden = np.minimum(CONDITION * (share * rounding + excess), PRECISION * spread)
    coarse = (violation <= TOLERANCE) & is_rough(violation, rounding, spread)
    hidden = np.where(coarse, np.maximum(hidden, np.minimum(share * reach, spread)), hidden)
    return Judgement(status, np.asarray(rounding + added), np.asarray(hidden + added))


def resolved(f: Floats, resolution: Floats | float) -> Floats:
    """Decision values of any shape, overwritten: exactly zero where their sign is rounding."""
    unresolved = np.abs(f) <= resolution
    if unresolved.any():
        f[unresolved] = 0.0
    return f


@dataclass(frozen=True, slots=True)
class Basis:
    """The free rows of a solution and R, the inverse of [[0, 1'], [1, K_MM]].

    Attributes
    ----------
    rows : (m,) the free rows
    inverse : (m + 1, m + 1), in the order (b, rows)
    """

    rows: Rows
    inverse: Floats


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest points of the reduced hulls, where the sum of each class is given (see `hulls`).

    Attributes
    ----------
    beta : (n,) their weights, Σβ = 1 over the events and −1 over the others
    caps : (n,) upper bounds of |β|
    h : (n,) −Kβ
    rho : ρ of the 2ν form, 0 where the hulls meet
    rho_interval : all optimal ρ, a point, to rounding, when each class has a free row
    exact : whether the tolerance is met as far as the digits of h go, so that a path can set off from here
    """

    beta: Floats
    caps: Floats
    h: Floats
    rho: float
    rho_interval: tuple[float, float]
    exact: bool


@dataclass(frozen=True, slots=True)
class Solution:
    """One solution of a `BoxQP`.

    Attributes
    ----------
    alpha : (n,) dual variables; with a total those of the equivalent problem without, α/ρ, and so is all that follows
    upper : (n,) their upper bounds
    field : (n,) h(x_i) = Σ_j α_j y_j K_ij, the decision values without the intercept
    intercept_interval : (b_low, b_high); a single point, to rounding, when a support vector is free
    violation : maximal KKT violation
    gap : duality gap
    rounding : a bound on how far rounding may have taken ``field`` from the h of α, that of the kernel values included
    resolution : differences of f up to this mean nothing: some roundings and violations, at most a millionth of its
        spread; at rows that are far from all others (see `Ordinary`) rounding reaches further
    delicate : whether rounding of plain sums might hide too much of h, also at other rows
    flat : whether h = 0 as far as can be told, and so f = b everywhere, whatever rounding leaves of Σ_j α_j y_j K_ij
    norm_squared : ‖h‖²; NaN where it is negative
    objective : value of the dual objective ½‖h‖² − m'α (minimised)
    status, road : see `Status`, `Road`
    steps, events : SMO steps and path events that were spent
    basis : where a path sets off from here; None where it was not needed: `single.basis_of` computes it
    nearest : with a total, the solution on the scale of the hulls; None otherwise. Where the hulls meet, ρ = 0 and
        f = 0 everywhere, and α and its bounds are those of the 2ν form itself
    """

    alpha: Floats
    upper: Floats
    field: Floats
    intercept_interval: tuple[float, float]
    violation: float
    gap: float
    rounding: float
    resolution: float
    delicate: bool
    flat: bool
    norm_squared: float
    objective: float
    status: Status
    road: Road
    steps: int
    events: int
    basis: Basis | None
    nearest: Nearest | None = None

    @property
    def rho(self) -> float:
        """ρ of the 2ν form, by which α, its bounds and f are divided; 1 without a total."""
        return 1.0 if self.nearest is None else self.nearest.rho

    @property
    def coefficients(self) -> Floats:
        """(n,) what f(x) = Σ_i c_i y_i K(x_i, x) + b is made of: α, or zero where f is flat."""
        return np.zeros(len(self.alpha)) if self.flat else self.alpha

    @property
    def intercept(self) -> float:
        """The intercept b, the midpoint of its interval."""
        return float(middle(*self.intercept_interval))

    @property
    def decision(self) -> Floats:
        """(n,) decision values f(x_i), as `decided`."""
        return self.decided(self.field)

    def products(self, K: Floats, beta: Floats) -> Floats:
        """Kβ for kernel values (r, m) of other rows and β (m,) in the precision that the solution needs."""
        return products_twofold(K, beta) if self.delicate else np.asarray(K @ beta)

    def decided(self, h: Floats) -> Floats:
        """f = h + b for values of h, of any shape, exactly zero where their sign is rounding."""
        return resolved(h + self.intercept, self.resolution)

    @property
    def free(self) -> NDArray[np.bool_]:
        """(n,) whether 0 < α_i < u_i."""
        return (self.alpha > 0) & (self.alpha < self.upper)

    @property
    def bounded(self) -> NDArray[np.bool_]:
        """(n,) whether α_i = u_i > 0."""
        return (self.alpha > 0) & (self.alpha >= self.upper)


@dataclass(frozen=True, slots=True)
class Batch:
    """Solutions for several bound vectors on one gram matrix, problem by problem.

    Attributes
    ----------
    alpha : (B, n) dual variables
    field : (B, n) decision values without the intercept
    intercept_interval : (B, 2)
    violation, gap, rounding, resolution : (B,) the certificates
    status, road : (B,) codes of `Status` and `Road`
    steps, events : (B,) SMO steps and path events
    rho : (B,) as in `Solution`
    """

    alpha: Floats
    field: Floats
    intercept_interval: Floats
    violation: Floats
    gap: Floats
    rounding: Floats
    resolution: Floats
    status: NDArray[np.int8]
    road: NDArray[np.int8]
    steps: NDArray[np.int64]
    events: NDArray[np.int64]
    rho: Floats

    @classmethod
    def empty(cls, B: int, n: int) -> "Batch":
        """Nothing yet."""
        whole = {"status": np.int8, "road": np.int8, "steps": np.int64, "events": np.int64}
        wide = {"alpha": (B, n), "field": (B, n), "intercept_interval": (B, 2)}
        names = [each.name for each in fields(cls)]
        return cls(**{name: np.zeros(wide.get(name, B), whole.get(name, float)) for name in names})

    def put(self, q: int | NDArray[np.bool_], solution: Solution) -> None:
        """The result of one that was solved for itself, or of all that have the same."""
        for each in fields(self):
            getattr(self, each.name)[q] = getattr(solution, each.name)

    @property
    def intercept(self) -> Floats:
        """(B,) intercepts."""
        return middles(self.intercept_interval)

    @property
    def decision(self) -> Floats:
        """(B, n) decision values, as `decided`; NaN where a class was lost."""
        return self.decided(self.field)

    def decided(self, h: Floats) -> Floats:
        """f = h + b for values (B, m) of h, exactly zero where their sign is rounding."""
        return resolved(h + self.intercept[:, None], self.resolution[:, None])
