"""From a rough solution to an exact one by a few Newton steps, where many free rows make the inverse R dear.

With the right partition the free rows need d with K_MM d + b1 = h_M and 1'd = −Σβ, h = s − Kβ: a Cholesky factor, a
third of the work of R. Free rows that leave their box are put on its bound, bound rows whose gradient then has the
wrong sign set free, and the step is made again. From a rough solution that is not quite rough this ends at once.

Reference: Hintermüller, Ito & Kunisch (2002), The primal-dual active set strategy as a semismooth Newton method.
"""

from enum import Enum

import numpy as np
from scipy.linalg import lapack

from svmstat.solver.case import Case
from svmstat.solver.gram import Floats, Room
from svmstat.solver.solution import TOLERANCE, certify

MANY = 200
"""From so many free rows on the attempt is worth its price."""

_ROUNDS, _SHARE = 6, 0.1
"""Attempts to put the partition right, each by at most so many of the free rows."""


class Outcome(Enum):
    """How Newton steps ended."""

    EXACT = "the certificate holds"
    BLOCKED = "the partition was wrong in more than a few rows"
    SINGULAR = "K_MM has no Cholesky factor"


def newton(case: Case, beta: Floats, h: Floats, room: Room) -> Outcome:
    """Make (β, h), both (n,), exact in place if the outcome is EXACT; otherwise they stay as they are.

    ``room`` is memory for the blocks of the kernel matrix.
    """
    gram, lo, hi = case.gram, case.lo, case.hi
    trial, trial_h = beta.copy(), h.copy()
    free = case.free(beta)
    most_changes = _SHARE * np.count_nonzero(free)
    for _ in range(_ROUNDS):
        rows = np.flatnonzero(free)
        d = _step(gram.block(rows, room), trial_h[rows], -float(trial.sum()))
        if d is None:
            return Outcome.SINGULAR
        moved = np.clip(trial[rows] + d, lo[rows], hi[rows])
        gram.add(rows, trial[rows] - moved, trial_h)
        trial[rows] = moved
        wrong = (free & (trial <= lo)) | (free & (trial >= hi))
        if not wrong.any():
            if certify(trial_h, trial, lo, hi)[2] <= TOLERANCE:
                beta[:], h[:] = trial, trial_h
                return Outcome.EXACT
            b = trial_h[rows].mean()
            wrong = ~free & (((trial < hi) & (trial_h > b)) | ((trial > lo) & (trial_h < b)))
        if not 0 < np.count_nonzero(wrong) <= most_changes:
            return Outcome.BLOCKED
        free ^= wrong
    return Outcome.BLOCKED


def _step(K: Floats, target: Floats, total: float) -> Floats | None:
    """d (m,) with Kd + b1 = target for some b and 1'd = total; K (m, m) is overwritten."""
    K += float(K.diagonal().mean())  # with c·11' added K is regular as soon as the bordered matrix is
    factor, singular = lapack.dpotrf(K.T, lower=0, overwrite_a=1)
    if singular:
        return None
    both, _ = lapack.dpotrs(factor, np.column_stack([target, np.ones(len(K))]), lower=0)
    u, v = both.T
    return np.asarray(u - v * ((u.sum() - total) / v.sum()))
