"""A problem for one bound vector, and how good a β for it is."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled
from svmstat.solver.gram import Gram, Rows
from svmstat.solver.hulls import class_ends, digits
from svmstat.solver.problem import BoxQP, Sums
from svmstat.solver.solution import PRECISION, TOLERANCE, certify, middle, rounding_of

_FEW = 0.5
"""Up to this share of the rows of a β it is quicker to add what has changed in them to a known h."""


_FOLLOWED, _UNSEEN = 8.0, 1e-3 * PRECISION
"""How many times the rounding of an h that is computed anew that of one which is followed from solution to solution may
be, and which share of its spread: of ten costs, each twice the one before, one or two are computed anew then."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A solution for other bounds: its β and h = s − Kβ, both (n,), and the rounding of h."""

    beta: Floats
    h: Floats
    rounding: float


@dataclass(frozen=True, slots=True)
class Case:
    """All that stays as it is while (β, h = s − Kβ) moves to the solution.

    Attributes
    ----------
    gram : the kernel matrix K
    linear : (n,) s
    lo, hi : (n,) the box
    sums : the sums that are given, with a target each
    nothing : squared distance below which hulls meet; negative where Σβ alone is given
    rounding : how exactly the h of hulls can be known
    neighbour : where kernel values are not kept, what h may be computed from
    """

    gram: Gram
    linear: Floats
    lo: Floats
    hi: Floats
    sums: Sums
    nothing: float
    rounding: float
    neighbour: Neighbour | None = None

    @property
    def lead(self) -> int:
        """The number of sums: one, or two for hulls."""
        return len(self.sums.target)

    @property
    def handed_down(self) -> float:
        """How far the h of `fresh` may be off for what it was computed from."""
        return 0.0 if self.neighbour is None else self.neighbour.rounding

    def free(self, beta: Floats) -> np.ndarray:
        """(n,) whether β is between its bounds."""
        return (beta > self.lo) & (beta < self.hi)

    def shifts(self, b: Floats, rows: Rows | slice = slice(None)) -> Floats:
        """The b of each row."""
        return b[self.sums.group[rows]]


class Verdict(NamedTuple):
    """How good a (β, h) is.

    Attributes
    ----------
    b : (lead,) the intercept, or the multipliers of the classes
    violation : by how much the ends cross, on the scale of h; never negative
    scale : what it is measured against: 1, or ρ
    certified : whether the tolerance is met, as far as the digits of h go
    meet : whether hulls meet, so that f = 0 whatever the violation
    """

    b: Floats
    violation: float
    scale: float
    certified: bool
    meet: bool = False


def case_of(problem: BoxQP, upper: Floats, neighbour: Neighbour | None = None) -> Case:
    """The case for upper bounds (n,)."""
    nothing, rounding = (-1.0, 0.0) if problem.total is None else digits(problem.gram)
    return Case(problem.gram, problem.linear, *problem.box(upper), problem.sums, nothing, rounding, neighbour)


def judge(case: Case, beta: Floats, h: Floats) -> Verdict:
    """The certificate of (β, h), both (n,)."""
    if case.lead == 1:
        b_low, b_high, violation, _ = certify(h, beta, case.lo, case.hi)
        b = np.array([middle(b_low, b_high)])
        return Verdict(b, max(float(violation), 0.0), 1.0, bool(violation <= TOLERANCE))
    low, high = np.empty(2), np.empty(2)
    unbalanced = class_ends(h, beta, case.lo, case.hi, case.sums.group, low, high)
    b = np.array([middle(low[0], high[0]), middle(low[1], high[1])])
    violation, rho = max(0.0, float((low - high).max())), float(0.5 * (b[1] - b[0]))
    squared = float(-beta @ h)
    if not np.isfinite(violation + squared):
        return Verdict(b, np.inf, 0.0, False)
    meet, holds = squared <= case.nothing, violation <= TOLERANCE * rho
    return Verdict(b, violation, max(rho, 0.0), bool((meet or holds) and unbalanced <= TOLERANCE), meet)


def fresh(case: Case, beta: Floats) -> Floats:
    """h = s − Kβ (n,) computed anew: in what steps add up to, their rounding has gathered.

    From that of the neighbour, once for all rows that are not its, where these are few.
    """
    near = case.neighbour
    if near is not None and np.count_nonzero(beta != near.beta) <= _FEW * np.count_nonzero(beta):
        return followed(case, beta, near.beta, near.h)
    return followed(case, beta, np.zeros(len(beta)), case.linear)


def by_itself(case: Case, beta: Floats, h: Floats) -> Case:
    """The case without its neighbour, where an h = s − Kβ (n,) like this one is better computed anew."""
    near = case.neighbour
    if near is None:
        return case
    anew, spread = float(rounding_of(beta, case.gram.sizes)), float(case.gram.ordinary.spread(case.linear - h))
    follows = near.rounding <= min(_FOLLOWED * anew, _UNSEEN * spread)
    return case if follows else replace(case, neighbour=None)


def followed(case: Case, beta: Floats, was: Floats, h: Floats) -> Floats:
    """h = s − Kβ (n,) of a β that ``was`` another, with this h, by the rows that differ: the many at a bound do not."""
    moved, change = difference(was, beta)
    h = h.copy()
    case.gram.add(moved, change, h)
    return h


def difference(was: Floats, beta: Floats) -> tuple[Rows, Floats]:
    """The rows (m,) whose β differ, both (n,), and what they were less what they are (m,)."""
    rows, change = np.empty(len(beta), np.int64), np.empty(len(beta))
    m = _put_difference(was, beta, rows, change)
    return rows[:m], change[:m]


@compiled(borrowing=True)
def _put_difference(was, beta, rows, change):
    """The same into memory (n,) for both; m."""
    m = 0
    for i in range(beta.shape[0]):
        rows[m], change[m] = i, was[i] - beta[i]
        m += was[i] != beta[i]
    return m
