"""One bound vector where K = AA' with a factor A (n, r): nothing here takes more than n·r numbers.

At most r + 1 rows need be free. The smoothed primal finds the bounds of nearly all others; the rows that are left in
doubt are a problem of their own, which is solved exactly, and then all rows are asked again.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat.solver.case import Case, fresh, judge
from svmstat.solver.exact.factored import finish
from svmstat.solver.exact.polish import polish
from svmstat.solver.gram import Floats, Gram, Room, Rows
from svmstat.solver.hulls import feasible
from svmstat.solver.low_rank import Factor, LowRank
from svmstat.solver.normal import normal_vector
from svmstat.solver.problem import Sums
from svmstat.solver.rough.descent import descend
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

_TOLERANCES, _MOST_STEPS, _MOST_EVENTS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8), 200_000, 5000
"""KKT violations of a working set at which the path is tried, the steps down to each, and the events of each path."""


@dataclass(frozen=True, slots=True)
class Approached:
    """How far (β, h) came: whether the tolerance is met, the steps and events it took, and the basis."""

    exact: bool
    steps: int
    events: int
    basis: Basis | None


def approach(case: Case, gram: LowRank, beta: Floats, h: Floats) -> Approached:
    """Bring a feasible β (n,), zero or near the solution, to the solution in place, and h (n,) to s − Kβ."""
    alpha = smoothed(case, gram.factor, _start(case, gram, beta), 2 * (gram.factor.shape[1] + 1) + 32)
    upper = case.hi - case.lo
    beta[:] = feasible(np.where(case.hi > 0.0, alpha, -alpha), upper, case.lo, case.hi)
    h[:] = fresh(case, beta)
    events = _at_the_margin(case, gram, beta, h)
    if events is not None:
        return Approached(True, 0, events, None)
    return _improved(case, gram, beta, h, _ROUNDS, max(_LEAST_ROWS, 8 * (gram.factor.shape[1] + 1)))


def _at_the_margin(case: Case, gram: LowRank, beta: Floats, h: Floats) -> int | None:
    """The solution from a (β, h) with many free rows, in place, and the events it took; None where it is none.

    Where a flat f is best most rows are at the margin, and all but r + 1 of them depend on the others.
    """
    if np.count_nonzero(case.free(beta)) <= max(_LEAST_ROWS, _MANY_FREE * (gram.factor.shape[1] + 1)):
        return None
    trial, trial_h = beta.copy(), np.empty(len(h))
    events = finish(case, gram.factor, trial, trial_h)
    trial_h = fresh(case, trial)
    if not judge(case, trial, trial_h).certified:
        return None
    beta[:], h[:] = trial, trial_h
    return events


def overrun_solved(case: Case, gram: LowRank, beta: Floats, h: Floats, basis: Basis) -> Approached:
    """Solve (β, h) that a path has led to again, in place, with the rows that it has overrun, unless these are many."""
    verdict, size = judge(case, beta, h), max(_LEAST_ROWS, 8 * len(basis.rows))
    if verdict.certified:
        return Approached(True, 0, 0, _complete(case, beta, basis))
    if np.count_nonzero(_wrong(case, beta, verdict.b[0] - h)) > size:
        return Approached(False, 0, 0, None)
    return _improved(case, gram, beta, h, _FEW_ROUNDS, size)


def _improved(case: Case, gram: LowRank, beta: Floats, h: Floats, rounds: int, size: int) -> Approached:
    """Solve the rows in doubt again and again, in place; ``size`` of them beside those that are free or wrong."""
    steps = events = 0
    basis: Basis | None = None
    for _ in range(rounds):
        verdict = judge(case, beta, h)
        if verdict.certified and basis is not None:
            return Approached(True, steps, events, _complete(case, beta, basis))
        rows = _in_doubt(case, verdict.b[0] - h, beta, size)
        done = _solve_part(case, gram, rows, beta, h)
        steps, events, basis = steps + done.steps, events + done.events, done.basis
    return Approached(judge(case, beta, h).certified, steps, events, basis)


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


def _solve_part(case: Case, gram: LowRank, rows: Rows, beta: Floats, h: Floats) -> Approached:
    """The best β of some rows (m,) while the others stay, in place, and h: a problem in what is added to it."""
    old = beta[rows]
    lo, hi = case.lo[rows] - old, case.hi[rows] - old
    part = Case(
        Gram(Factor(gram.factor[rows])), h[rows], lo, hi, Sums(np.zeros(len(rows), np.int64), np.zeros(1)), -1.0, 0.0
    )
    change, left, room = np.zeros(len(rows)), h[rows], Room()
    steps = events = 0
    for tolerance in _TOLERANCES:
        steps += descend(part, change, left, tolerance, _MOST_STEPS, room)
        polished = polish(part, change, left, _MOST_EVENTS, dependent=True)
        events += polished.events
        if polished.exact:
            break
    moved = np.where(change >= hi, case.hi[rows], np.where(change <= lo, case.lo[rows], old + change))
    beta[rows] = moved
    h[:] = fresh(case, beta)
    return Approached(polished.exact, steps, events, Basis(rows[polished.basis.rows], polished.basis.inverse))
