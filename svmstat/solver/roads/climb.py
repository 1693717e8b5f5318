"""From smaller bounds: where no descent ends at a solution, one may be reached along the bounds."""

import numpy as np

from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.chain import chain
from svmstat.solver.roads.single import solve_single
from svmstat.solver.solution import Road, Solution, Status

_STRIDE, _FARTHEST = 4, 24
"""By which powers of two the bounds are made smaller, until a descent ends at a solution."""


def climb(problem: BoxQP) -> Solution | None:
    """The solution by way of bounds that are doubled again and again; None where one on the way is not certified.

    With a spline of 1025 rows, of which some hundred are free, and C from 2^14 to 2^21 descents end with a violation of
    1e-5 to 4e-3, while each solution leads to that for twice the cost.
    """
    for power in range(_STRIDE, _FARTHEST + 1, _STRIDE):
        low = solve_single(problem, problem.upper * 2.0**-power, None, Road.COLD)
        if low.status is Status.CERTIFIED:
            return _doubled(problem, low, power)
    return None


def _doubled(problem: BoxQP, low: Solution, power: int) -> Solution | None:
    """From the solution for bounds that are 2^-power of those of the problem, each step twice the one before."""
    last = low
    for last in chain(problem, problem.upper * 2.0 ** np.arange(1.0 - power, 1.0)[:, None], low):
        if last.status is not Status.CERTIFIED:
            return None
    return last
