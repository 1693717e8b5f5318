"""Solutions of which rounding hides too much: h = s − Kβ computed anew in twice the precision, and β corrected by it.

With x in the millions or C in the billions the terms of Kβ are large and cancel, so that what is computed of h, and
the violation with it, is rounding. What then remains of the violation is due to β, whose digits are those of a double.
"""

import math

import numpy as np

from svmstat.solver.bordered import bordered_inverse
from svmstat.solver.gram import Floats
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import PRECISION, certify, middle
from svmstat.solver.twofold import residual_twofold

_CORRECTIONS = 4


def sharpen(problem: BoxQP, lo: Floats, hi: Floats, beta: Floats, h: Floats, limit: float) -> float:
    """Where rounding hides more than a millionth of the spread of h, correct (β, h) in place; what is left of it.

    There h gets its value in twice the precision, and the free β follow; ``limit`` is the rounding of plain sums.
    """
    exact = residual_twofold(problem.gram, beta, problem.linear)
    rounding = float(np.abs(exact - h).max())
    if rounding <= PRECISION * np.ptp(exact - problem.linear):
        return rounding
    h[:] = exact
    correct(problem, lo, hi, beta, h)
    return float(np.finfo(float).eps * (np.abs(h).max() + len(beta) ** 2 * limit))


def correct(problem: BoxQP, lo: Floats, hi: Floats, beta: Floats, h: Floats) -> None:
    """Newton corrections of the free β with h in twice the precision, in place.

    They go on as long as the violation falls and no bound is met.
    """
    free = np.flatnonzero((beta > lo) & (beta < hi))
    independent, inverse = bordered_inverse(problem.gram.block(free), None)
    rows = free[independent]
    if len(rows) == 0 or not np.isfinite(inverse).all():
        return
    b_low, b_high, violation, _ = certify(h, beta, lo, hi)
    for _ in range(_CORRECTIONS):
        residual = np.concatenate([[math.fsum(beta)], middle(b_low, b_high) - h[rows]])
        trial = beta.copy()
        trial[rows] -= (inverse @ residual)[1:]
        if not ((trial[rows] > lo[rows]) & (trial[rows] < hi[rows])).all():
            return
        trial_h = residual_twofold(problem.gram, trial, problem.linear)
        b_low, b_high, better, _ = certify(trial_h, trial, lo, hi)
        if not better < violation:
            return
        beta[:], h[:], violation = trial, trial_h, better
