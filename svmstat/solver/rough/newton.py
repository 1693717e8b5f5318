"""From a rough solution to an exact one by a few Newton steps, where that is less work than the path.

With the right partition the free rows need d with K_MM d + b1 = h_M and 1'd = −Σβ, h = s − Kβ: a Cholesky factor, a
third of the work of the inverse R of the path. Of many free rows those that leave their box are put on its bound all
at once; of few the step ends where the first of them meets its bound, and is made anew without it. Bound rows whose
gradient then has the wrong sign are set free, and so on. From a rough solution that is not quite rough this ends soon.

References: Hintermüller, Ito & Kunisch (2002), The primal-dual active set strategy as a semismooth Newton method;
Nocedal & Wright (2006), Numerical Optimization, Algorithm 16.3.
"""

from enum import Enum

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.solver.case import Case, followed, fresh, judge
from svmstat.solver.gram import Room
from svmstat.solver.rough.equations import newton_step
from svmstat.solver.rough.inside import inside

MANY = 200
"""From so many free rows on a factor is too dear to be made anew for every row that meets its bound."""

_ROUNDS, _SHARE, MOST_CHANGES = 6, 0.1, 8
"""Attempts to put the partition right, each by at most so large a share of the free rows, or so many."""


class Outcome(Enum):
    """How Newton steps ended."""

    EXACT = "the certificate holds"
    BLOCKED = "the partition was wrong in more than a few rows"
    SINGULAR = "K_MM has no Cholesky factor"


def newton(case: Case, beta: Floats, h: Floats, room: Room) -> Outcome:
    """Make (β, h), both (n,), exact in place if the outcome is EXACT; otherwise they stay as they are.

    ``room`` is memory for the blocks of the kernel matrix. Of few free rows the last step is made once more from the h
    that is computed anew: what is left of their gradients then is rounding.
    """
    gram, lo, hi = case.gram, case.lo, case.hi
    trial, trial_h = beta.copy(), h.copy()
    free = case.free(beta)
    many, certified = np.count_nonzero(free) >= MANY, False
    most_changes = max(MOST_CHANGES, _SHARE * np.count_nonzero(free))
    for _ in range(_ROUNDS):
        rows = np.flatnonzero(free)
        if len(rows) == 0:
            break
        move, was = _clipped if many else _inside, trial.copy()
        x = trial[rows]
        step = move(gram.block(rows, room), x, trial_h[rows], float(trial.sum()), lo[rows], hi[rows])
        if step is None:
            return Outcome.SINGULAR
        trial[rows] = x
        if certified:
            gram.add(rows, -step, trial_h)
        else:
            trial_h = followed(case, trial, was, trial_h)
        wrong = free & ((trial <= lo) | (trial >= hi))
        if not (many and wrong.any()):
            again, certified = certified, judge(case, trial, trial_h).certified
            if certified and not again:
                trial_h = fresh(case, trial)
                certified = judge(case, trial, trial_h).certified
            if certified and (many or again):
                beta[:], h[:] = trial, trial_h
                return Outcome.EXACT
            free &= ~wrong
            wrong[:] = False
            if not certified and free.any():
                b = trial_h[free].mean()
                wrong = ~free & (((trial < hi) & (trial_h > b)) | ((trial > lo) & (trial_h < b)))
        if np.count_nonzero(wrong) > most_changes:
            break
        free ^= wrong
    return Outcome.BLOCKED


def _clipped(K: Floats, x: Floats, target: Floats, total: float, lo: Floats, hi: Floats) -> Floats | None:
    """The step to the equations of all rows; x (m,) moves by it in place, what leaves its box put on the bound.

    K (m, m) is overwritten.
    """
    d = newton_step(K, target, -total)
    if d is not None:
        np.clip(x + d, lo, hi, out=x)
    return d


def _inside(K: Floats, x: Floats, target: Floats, total: float, lo: Floats, hi: Floats) -> Floats | None:
    """The step of x (m,), in place, to the equations of all rows that have not met their bound on the way.

    K (m, m) and the target (m,) are overwritten.
    """
    step = np.empty(len(x))
    return step if inside(K, x, target, total, lo, hi, step) else None
