"""Solutions of which rounding hides too much: h = s − Kβ computed anew in twice the precision, and β corrected by it.

With x in the millions, C in the billions or hulls that all but touch the terms of Kβ are large and cancel, so that what
is computed of h, and the violation with it, is rounding. What then remains of the violation is due to β, whose digits
are those of a double.
"""

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.doubles import EPS
from svmstat.solver.case import Case, Verdict, judge
from svmstat.solver.exact.basis import MOVED, newton_correction
from svmstat.solver.exact.bordered import fresh_basis
from svmstat.solver.solution import PRECISION, TOLERANCE, Basis

_CORRECTIONS = 8

_NOISE = 1e3
"""Violations up to so many roundings of h may be rounding alone."""


def hides(case: Case, verdict: Verdict) -> bool:
    """Whether rounding of the h of hulls may hide a violation of the tolerance, or pass for one."""
    return TOLERANCE * verdict.scale < case.rounding and verdict.violation <= _NOISE * case.rounding


def sharpen(case: Case, beta: Floats, h: Floats, limit: float, basis: Basis | None) -> float:
    """Where rounding hides more than a millionth of the spread of h, correct (β, h) in place; what is left of it.

    There h gets its value in twice the precision, and the free β follow; ``limit`` is the rounding of plain sums.
    """
    exact = case.gram.residual(beta, case.linear)
    rounding, ordinary = float(np.abs(exact - h).max() + EPS * np.abs(h).max()), case.gram.ordinary
    if ordinary.share * rounding <= PRECISION * ordinary.spread(exact - case.linear):
        return rounding
    correct(case, beta, h, basis)
    return float(EPS * (np.abs(h).max() + len(beta) ** 2 * limit))


def correct(case: Case, beta: Floats, h: Floats, basis: Basis | None) -> None:
    """Compute h = s − Kβ in twice the precision and correct the free rows by it, (β, h) in place.

    Newton's corrections go on while the violation falls, and beyond while the tolerance is not met: near the end the
    last digits of β decide, which are as good as drawn at random. The best is kept. No bound may be met.
    """
    h[:] = case.gram.residual(beta, case.linear)
    basis = fresh_basis(case.gram, case.free(beta), case.sums) if basis is None else basis
    best = verdict = judge(case, beta, h)
    trial, trial_h, x = beta.copy(), h, np.empty(len(basis.inverse))
    for _ in range(_CORRECTIONS):
        if corrected(case, trial, trial_h, verdict.b.copy(), basis, 0.0, x) != MOVED:
            return
        trial_h = case.gram.residual(trial, case.linear)
        verdict = judge(case, trial, trial_h)
        if verdict.violation < best.violation:
            beta[:], h[:], best = trial, trial_h, verdict
        elif best.certified:
            return


def corrected(case: Case, beta: Floats, h: Floats, b: Floats, basis: Basis, least: float, x: Floats) -> int:
    """`newton_correction` of (β, b) in place by h, which is left to the caller, as x (lead + m,) is."""
    return int(newton_correction(case.sums, case.lo, case.hi, beta, h, b, basis.rows, basis.inverse, least, x))
