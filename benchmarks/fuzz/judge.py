"""What must hold of a solution, computed from the problem alone and in more digits than the solver has.

``numpy.longdouble`` has 64 bits of mantissa on the processors of Intel and AMD, so that a sum is right to 1e-19 of its
terms. Elsewhere it may be a double. Where that does not do, sums of products are computed exactly.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat.solver import TOLERANCE, BoxQP, Status

Floats = NDArray[np.float64]
Long = np.longdouble
EPS = float(np.finfo(float).eps)

DIGITS = 1e-6
"""A certified f is that of its α to this share of the largest |f|: the promise of a certificate. Where f is next to
nothing beside the margins, the digits of these are enough."""

UNSURE = 0.01
"""The share of the stated rounding to which the sums are known that it is compared with."""

MEETING = 1e-11
"""Squared distance of hulls that are reported to meet, relative to the largest |K|; the solver's own limit is 1e-12."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that should not be: which check says so, and what it saw."""

    check: str
    detail: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A solution of a problem with upper bounds (n,), as `Solution` and each row of a `Batch` have it.

    Attributes
    ----------
    alpha, upper, field : (n,)
    intercept, violation, gap, rounding : numbers
    rho : what α and f were divided by; 1 without a total, 0 where hulls meet
    """

    status: Status
    alpha: Floats
    upper: Floats
    field: Floats
    intercept: float
    violation: float
    gap: float
    rounding: float
    rho: float

    @property
    def solved(self) -> bool:
        """Whether there is something to judge."""
        return self.status not in (Status.ONE_CLASS, Status.INFEASIBLE)

    @property
    def certified(self) -> bool:
        return self.status is Status.CERTIFIED


def answer_of(solution: Any) -> Answer:
    """A `Solution`."""
    return Answer(
        solution.status, solution.alpha, solution.upper, solution.field,
        solution.intercept, solution.violation, solution.gap, rounding_of(solution),
        solution.rho,
    )  # fmt: skip


def answers_of(problem: BoxQP, uppers: Floats, batch: Any) -> list[Answer]:
    """The rows of a `Batch` for the bounds (B, n)."""
    found = []
    for q, upper in enumerate(uppers):
        rho = float(batch.rho[q])
        scaled = upper if problem.total is None or not rho > 0.0 else upper / rho
        rounding = rounding_of(batch, q)
        certificate = (float(each[q]) for each in (batch.intercept, batch.violation, batch.gap))
        status = Status(int(batch.status[q]))
        found.append(Answer(status, batch.alpha[q], scaled, batch.field[q], *certificate, rounding, rho))
    return found


def rounding_of(solution: Any, q: int | None = None) -> float:
    """The bound on the rounding of f that a solution states, or row q of a batch."""
    return float(solution.rounding if q is None else solution.rounding[q])


def judge(problem: BoxQP, answer: Answer) -> list[Finding]:
    """All that is wrong with an answer, as far as the definitions tell."""
    if not answer.solved:
        return _unsolved(problem, answer)
    numbers = np.array([*answer.alpha, *answer.field, answer.intercept])
    if not np.isfinite(numbers).all():
        return [Finding("nan", f"a certified solution with {numbers[~np.isfinite(numbers)][0]}")] * answer.certified
    found = []
    if answer.certified and not answer.violation <= TOLERANCE:
        found.append(Finding("certificate", f"certified with a KKT violation of {answer.violation:.2g}"))
    outside = max(float((-answer.alpha).max()), float((answer.alpha - answer.upper).max()))
    if outside > (4.0 * EPS * answer.upper.max() if problem.total is not None else 0.0):
        found.append(Finding("box", f"an alpha is {outside:.2g} outside its bounds"))
    with np.errstate(all="ignore"):
        found += _meeting(problem, answer) if answer.rho == 0.0 else _conditions(problem, answer)
    return found


def _unsolved(problem: BoxQP, answer: Answer) -> list[Finding]:
    """Whether there really is no solution."""
    sums = [float(answer.upper[problem.signs == sign].sum()) for sign in (1.0, -1.0)]
    if answer.status is Status.ONE_CLASS and min(sums) > 0.0:
        return [Finding("status", f"called one class, but the bounds of the two sum to {sums}")]
    if answer.status is Status.INFEASIBLE and min(sums) > (problem.total or 0.0) * (1.0 + 1e-9):
        return [Finding("status", f"called infeasible, but the bounds sum to {sums}, the total being {problem.total}")]
    return []


def _meeting(problem: BoxQP, answer: Answer) -> list[Finding]:
    """f = 0, because the hulls of the classes have a point in common."""
    found = []
    if answer.field.any() or answer.intercept != 0.0:
        found.append(Finding("field", "the hulls meet, but f is not zero"))
    beta = problem.signs.astype(Long) * answer.alpha / Long(problem.total or 1.0)
    squared, largest = beta @ field_of(problem, beta.astype(float), 0.0), np.abs(problem.gram.diagonal).max()
    if answer.certified and squared > MEETING * largest:
        found.append(Finding("kkt", f"the hulls do not meet: their squared distance is {squared:.2g} of {largest:.2g}"))
    return found


def _conditions(problem: BoxQP, answer: Answer) -> list[Finding]:
    """Balance, the field, the KKT conditions, the gap and the digits."""
    found = []
    y, alpha = problem.signs.astype(Long), answer.alpha.astype(Long)
    margin, upper = problem.margin.astype(Long), answer.upper.astype(Long)
    beta, b = y * alpha, Long(answer.intercept)
    h = field_of(problem, problem.signs * answer.alpha, answer.rounding)
    f = h + b
    rounding = (1.0 + UNSURE) * answer.rounding + 2.0 * EPS * float(max(np.abs(f).max(), abs(b)))  # of b and of h + b
    violation = max(answer.violation, 0.0)

    size = np.abs(beta).sum()
    if answer.certified and abs(beta.sum()) > (TOLERANCE + 4.0 * EPS * len(y)) * size:
        found.append(Finding("balance", f"the sum of y alpha is {float(beta.sum()):.2g}, that of alpha {size:.2g}"))
    off = float(np.abs(answer.field - h).max())
    if not off <= rounding:
        found.append(Finding("field", f"f is {off:.2g} from that of alpha, its rounding at most {rounding:.2g}"))
    if answer.certified and off > known_to(f, problem.margin.max(), answer.rounding * (np.ptp(answer.field) == 0.0)):
        found.append(Finding("digits", f"certified, but f is {off:.2g} from that of alpha, of {np.abs(f).max():.2g}"))
    slack = margin - y * f
    full = answer.upper * (1.0 - 4.0 * EPS * (problem.total is not None))  # bounds of hulls are divided by rho
    inside = slack[answer.alpha < full].max(initial=Long(0))
    outside = (-slack[answer.alpha > 0]).max(initial=Long(0))
    worst = float(max(inside, outside))
    if worst > violation + 2.0 * rounding:
        found.append(
            Finding("kkt", f"{answer.status.name}: violation {worst:.2g}, said to be {violation:.2g} ± {rounding:.2g}")
        )
    norm = beta @ h
    primal, dual = norm / 2 + upper @ np.maximum(slack, 0), margin @ alpha - norm / 2
    gap = float(primal - dual)
    unsure = 2.0 * rounding * float(upper.sum()) + 1e-13 * float(abs(primal) + abs(dual))
    if problem.total is not None:  # sums that the bounds reach to 1e-12 are reached
        unsure += 4e-12 * float(size * (1.0 + abs(b)))
    if gap > answer.gap + unsure:
        found.append(Finding("gap", f"the duality gap is {gap:.3g}, said to be {answer.gap:.3g} ± {unsure:.1g}"))
    return found


def field_of(problem: BoxQP, beta: Floats, digits: float) -> np.ndarray:
    """Kβ (n,) in long doubles, of kernel values that are products by these; ``digits`` as in `sums`."""
    A = problem.gram.vectors
    if A is None:
        return sums(problem.gram.complete(), beta, digits)
    return A.astype(Long) @ np.array([exact_sum(column, beta) for column in A.T])


def sums(K: Floats, beta: Floats, digits: float) -> np.ndarray:
    """Kβ (n,) in long doubles for K (n, m) and β (m,), to the share `UNSURE` of ``digits``."""
    used = np.flatnonzero(beta)
    K, beta = K[:, used], beta[used]
    if len(used) == 0:
        return np.zeros(len(K), Long)
    found = K.astype(Long) @ beta.astype(Long)
    unsure = float(np.finfo(Long).eps) * len(used) * (np.abs(K) @ np.abs(beta))
    rows = np.flatnonzero(unsure > UNSURE * digits)
    for i in rows if np.isfinite(unsure).all() else ():
        found[i] = exact_sum(K[i], beta)
    return found


def exact_sum(x: Floats, z: Floats) -> np.longdouble:
    """Σ x z (m,) from the halves of the digits, whose products are exact, as two doubles added up."""
    (x_scale, x_halves), (z_scale, z_halves) = _halves(x), _halves(z)
    terms = np.concatenate([one * other for one in x_halves for other in z_halves]).tolist()
    high = math.fsum(terms)
    low = math.fsum([*terms, -high])
    return np.ldexp(Long(high) + Long(low), x_scale + z_scale)


def _halves(x: Floats) -> tuple[int, tuple[Floats, Floats]]:
    """x (m,) as 2^scale times a sum of two, each of 26 binary digits; digits below 1e-300 of the largest are lost."""
    scale = int(np.frexp(np.abs(x).max())[1])
    x = np.ldexp(x, -scale)
    high = 134217729.0 * x
    high = high - (high - x)
    return scale, (high, x - high)


def known_to(f: np.ndarray, margin: float, left_out: float = 0.0) -> float:
    """How exactly a certified f must be known: to `DIGITS` of its largest value, or to the digits of the margin.

    Where f is said to be flat, what rounding leaves of it may be ``left_out``, so long as it is nothing to the margin.
    """
    return float(max(DIGITS * np.abs(f).max(), 16.0 * EPS * margin, min(left_out, DIGITS * margin)))


def apart(problem: BoxQP, one: Answer, other: Answer) -> list[Finding]:
    """Whether two certified answers to one problem, by different roads, are the same f.

    ½‖h − h*‖² is at most the duality gap, so that values may differ by √(2 gap K(x, x)) and what is rounded.
    """
    if not (one.certified and other.certified):
        return []
    if problem.total is not None and one.upper[one.upper > 0].min() < 1e-12 * one.upper.max():
        return []  # whether such a row takes part is beyond the digits of the sum of its class
    scale = max(1.0, float(np.abs(other.field).max()))
    unsure = float(np.sqrt(2.0 * np.abs(problem.gram.diagonal).max()))
    unsure *= float(np.sqrt(max(one.gap, 0.0)) + np.sqrt(max(other.gap, 0.0)))
    allowed = DIGITS * scale + unsure + one.rounding + other.rounding
    off = float(np.abs(one.field - other.field).max())
    if off > allowed:
        return [Finding("road", f"two certified solutions differ by {off:.2g}, allowed is {allowed:.2g}")]
    return []
