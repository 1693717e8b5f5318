"""One bound vector where K = AA' with a factor A (n, r): nothing here takes more than n·r numbers.

At most r + 1 rows need be free. The smoothed primal finds the bounds of nearly all others; the rows that are left in
doubt are a problem of their own, which is solved exactly, and then all rows are asked again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.solver.case import Case, fresh, judge
from svmstat.solver.exact.factored import finish
from svmstat.solver.exact.polish import polish
from svmstat.solver.gram import Gram, Rows
from svmstat.solver.hulls import feasible
from svmstat.solver.low_rank import Factor, LowRank
from svmstat.solver.normal import normal_vector
from svmstat.solver.problem import Sums
from svmstat.solver.rough.smoothed import SAMPLED_FROM, Normal, smoothed
from svmstat.solver.solution import Basis

_ROUNDS = 30
"""Working sets after which the descent on all rows takes over."""

_FEW_ROUNDS = 4
"""The same after a path from a neighbouring solution."""

_MANY_FREE = 16
"""Free rows, for each column and the intercept, that are more than a rough solution leaves unless they depend on each
other."""

_LEAST_ROWS, _MOST_ROWS = 256, 4000
"""Rows of a working set."""

_MOST_EVENTS = 500
"""Of the path at the end of a working set."""

_GAIN, _FUTILE = 0.5, 4
"""After so many attempts that do not bring the violation down to this share further ones would not either."""


Way = Callable[[Case, Floats, Floats, Floats], int]
"""What moves a (β, h) to the solution, as far as it goes, given the case and its factor; the events it took."""


@dataclass(frozen=True, slots=True)
class Approached:
    """How far (β, h) came: whether the tolerance is met, the events it took, and the basis, if it is known."""

    exact: bool
    events: int
    basis: Basis | None


def set_off(case: Case, gram: LowRank, beta: Floats, h: Floats) -> bool:
    """Bring a feasible β (n,), zero or near the solution, near it by the primal, in place, and h (n,) to s − Kβ.

    Returns whether more rows are left in the zone than the primal should end with, as where many tie at the margin.
    """
    enough = 2 * (gram.factor.shape[1] + 1) + 32
    alpha = smoothed(case, gram.factor, _start(case, gram, beta), enough)
    upper = case.hi - case.lo
    beta[:] = feasible(np.where(case.hi > 0.0, alpha, -alpha), upper, case.lo, case.hi)
    h[:] = fresh(case, beta)
    return bool(np.count_nonzero(case.free(beta)) > enough)


def approach(case: Case, gram: LowRank, beta: Floats, h: Floats) -> int:
    """From there to the solution, in place, or as near as it goes; the events it took."""
    events = _at_the_margin(case, gram, beta, h)
    if events and judge(case, beta, h).certified:
        return events
    return _improved(case, gram, beta, h, _ROUNDS, max(_LEAST_ROWS, 8 * (gram.factor.shape[1] + 1))).events


def _at_the_margin(case: Case, gram: LowRank, beta: Floats, h: Floats) -> int:
    """Lead a (β, h) with many free rows on, in place, unless it is better than where that ends; the events it took.

    Where a flat f is best most rows are at the margin, and all but r + 1 of them depend on the others.
    """
    if np.count_nonzero(case.free(beta)) <= max(_LEAST_ROWS, _MANY_FREE * (gram.factor.shape[1] + 1)):
        return 0
    trial, trial_h = beta.copy(), np.empty(len(h))
    events = finish(case, gram.factor, trial, trial_h)
    trial_h = fresh(case, trial)
    if judge(case, trial, trial_h).violation < judge(case, beta, h).violation:
        beta[:], h[:] = trial, trial_h
    return events


def overrun_solved(case: Case, gram: LowRank, beta: Floats, h: Floats, basis: Basis) -> Approached:
    """Solve (β, h) that a path has led to again, in place, with the rows that it has overrun, unless these are many."""
    verdict, size = judge(case, beta, h), max(_LEAST_ROWS, 8 * len(basis.rows))
    if verdict.certified:
        return Approached(True, 0, _complete(case, beta, basis))
    if np.count_nonzero(_wrong(case, beta, verdict.b[0] - h)) > size:
        return Approached(False, 0, None)
    return _improved(case, gram, beta, h, _FEW_ROUNDS, size)


def _improved(case: Case, gram: LowRank, beta: Floats, h: Floats, rounds: int, size: int) -> Approached:
    """Solve the rows in doubt again and again, in place; ``size`` of them beside those that are free or wrong.

    By the factor, and where its digits do not do by kernel values. Where neither leads further the best is kept.
    """
    events, futile, best = 0, 0, judge(case, beta, h)
    for _ in range(rounds):
        for way in (finish, _along_path):
            was = beta.copy(), h.copy()
            events += _solve_part(case, gram, _in_doubt(case, best.b[0] - h, beta, size), beta, h, way)
            verdict = judge(case, beta, h)
            if verdict.certified:
                return Approached(True, events, None)
            futile = 0 if verdict.violation < _GAIN * best.violation else futile + 1
            if verdict.violation < best.violation:
                best = verdict
            else:
                beta[:], h[:] = was
        if futile >= _FUTILE:
            break
    return Approached(False, events, None)


def _wrong(case: Case, beta: Floats, g: Floats) -> NDArray[np.bool_]:
    """(n,) whether the sign of the gradient is wrong for where β is."""
    return ((beta < case.hi) & (g < 0.0)) | ((beta > case.lo) & (g > 0.0))


def _complete(case: Case, beta: Floats, basis: Basis) -> Basis | None:
    """The basis, if it knows all free rows."""
    return basis if np.count_nonzero(case.free(beta)) == len(basis.rows) else None


def _start(case: Case, gram: LowRank, beta: Floats) -> Normal | None:
    """The function that suits β best; None from zero, and with so many rows that a sample tells it.

    β may be a solution whose bounds moved in proportion, and w with them: κAw + b = s on the rows that are free gives
    back the function before.
    """
    if len(beta) > SAMPLED_FROM or not beta.any():
        return None
    h = fresh(case, beta)
    w, free = normal_vector(gram.factor, np.flatnonzero(beta), beta[beta != 0.0])[0], case.free(beta)
    field = case.linear[free] - h[free]
    if len(field) < 2 or np.ptp(field) == 0.0:
        return Normal(w, float(judge(case, beta, h).b[0]))
    scale, b = np.linalg.lstsq(np.column_stack([field, np.ones(len(field))]), case.linear[free], rcond=None)[0]
    return Normal(float(scale) * w, float(b))


def _in_doubt(case: Case, g: Floats, beta: Floats, size: int) -> Rows:
    """The free rows, those on the wrong side of b and then those near it, ``size`` beside the first two; sorted."""
    free, wrong = case.free(beta), _wrong(case, beta, g)
    first = np.where(free, np.inf, np.where(wrong, np.abs(g), -np.abs(g)))
    first[case.hi <= case.lo] = -np.inf
    size = min(size + int(np.count_nonzero(free | wrong)), _MOST_ROWS)
    rows = np.arange(len(g)) if size >= len(g) else np.argpartition(-first, size)[:size]
    return np.sort(rows[first[rows] > -np.inf])


def _solve_part(case: Case, gram: LowRank, rows: Rows, beta: Floats, h: Floats, way: Way) -> int:
    """The best β of some rows (m,) while the others stay, in place, and h: a problem in what is added to it.

    Returns the events it took.
    """
    lo, hi, factor = case.lo[rows] - beta[rows], case.hi[rows] - beta[rows], gram.factor[rows]
    sums = Sums(np.zeros(len(rows), np.int64), np.zeros(1))
    change, left = np.zeros(len(rows)), h[rows]
    events = way(Case(Gram(Factor(factor)), h[rows], lo, hi, sums, -1.0, 0.0), factor, change, left)
    moved = np.where(change <= lo, case.lo[rows], beta[rows] + change)
    beta[rows] = np.where(change >= hi, case.hi[rows], moved)
    h[:] = fresh(case, beta)
    return events


def _along_path(part: Case, _: Floats, change: Floats, left: Floats) -> int:
    return polish(part, change, left, _MOST_EVENTS, dependent=True).events
