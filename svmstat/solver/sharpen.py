"""Solutions of which rounding hides too much: h = s − Kβ computed anew in twice the precision, and β corrected by it.

With x in the millions, C in the billions or hulls that all but touch the terms of Kβ are large and cancel, so that what
is computed of h, and the violation with it, is rounding. What then remains of the violation is due to β, whose digits
are those of a double.
"""

import math

import numpy as np

from svmstat.solver.bordered import fresh_basis
from svmstat.solver.gram import Floats, Gram
from svmstat.solver.hulls import Hulls, Verdict, judge, missing, shifts
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import PRECISION, TOLERANCE, Basis
from svmstat.solver.twofold import residual_twofold

_CORRECTIONS = 4

_NOISE = 1e3
"""Violations up to so many roundings of h may be rounding alone."""


def hides(verdict: Verdict, hulls: Hulls) -> bool:
    """Whether rounding of h may hide a violation of the tolerance, or pass for one, and twice its digits would not."""
    return TOLERANCE * verdict.scale < hulls.rounding and verdict.violation <= _NOISE * hulls.rounding


def sharpen(
    problem: BoxQP, lo: Floats, hi: Floats, beta: Floats, h: Floats, limit: float, basis: Basis | None
) -> float:
    """Where rounding hides more than a millionth of the spread of h, correct (β, h) in place; what is left of it.

    There h gets its value in twice the precision, and the free β follow; ``limit`` is the rounding of plain sums.
    """
    exact = residual_twofold(problem.gram, beta, problem.linear)
    rounding = float(np.abs(exact - h).max() + np.finfo(float).eps * np.abs(h).max())
    if rounding <= PRECISION * np.ptp(exact - problem.linear):
        return rounding
    correct(problem.gram, problem.linear, lo, hi, beta, h, None, basis)
    return float(np.finfo(float).eps * (np.abs(h).max() + len(beta) ** 2 * limit))


def correct(
    gram: Gram, linear: Floats, lo: Floats, hi: Floats, beta: Floats, h: Floats, hulls: Hulls | None,
    basis: Basis | None,
) -> None:  # fmt: skip
    """Compute h = s − Kβ in twice the precision and correct the free rows by it, (β, h) in place.

    Newton's corrections go on while the violation falls and no bound is met.
    """
    group = None if hulls is None else hulls.group
    h[:] = residual_twofold(gram, beta, linear)
    basis = fresh_basis(gram, (beta > lo) & (beta < hi), group) if basis is None else basis
    rows, R = basis.rows, basis.inverse
    if len(rows) == 0 or not np.isfinite(R).all():
        return
    verdict = judge(h, beta, lo, hi, hulls)
    for _ in range(_CORRECTIONS):
        g = shifts(verdict.b, None if group is None else group[rows]) - h[rows]
        excess = np.array([math.fsum(beta)]) if group is None else missing(beta, group)
        trial = beta.copy()
        trial[rows] -= (R @ np.concatenate([excess, g]))[len(excess) :]
        if not ((trial[rows] > lo[rows]) & (trial[rows] < hi[rows])).all():
            return
        trial_h = residual_twofold(gram, trial, linear)
        better = judge(trial_h, trial, lo, hi, hulls)
        if not better.violation < verdict.violation:
            return
        beta[:], h[:], verdict = trial, trial_h, better
