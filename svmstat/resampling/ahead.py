"""What a summary will need, compiled by a second process while the first compiles what its fit needs.

It leaves every row of a machine out whose solution is known, so that no descent and no path of a fit is compiled twice.
"""

import numpy as np

from svmstat.calibration import fit_maps
from svmstat.kernels import Linear
from svmstat.machine import Machine, contrasts
from svmstat.machine.fit import assembled, pose
from svmstat.machine.pairs import Pair
from svmstat.resampling.leave_one_out import leave_one_out
from svmstat.resampling.unseen import held_out_maps, unseen
from svmstat.solver.case import case_of, fresh
from svmstat.solver.roads.single import certified
from svmstat.solver.solution import Basis, Road


def known_machine() -> Machine:
    """Rows at −3 … −1 and 1 … 3, of which the linear machine f(x) = x has the inner two as its support.

    Examples
    --------
    >>> machine = known_machine()
    >>> machine.decision_values.ravel(), machine.pairs[0].solution.status.name
    (array([-3., -2., -1.,  1.,  2.,  3.]), 'CERTIFIED')
    """
    x = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
    codes = (x > 0.0).astype(np.intp)
    posed = pose(Linear(), x[:, None], codes, np.ones(6), contrasts([(1, 0)], "hinge"), C=1.0)
    (asked,) = posed.pairs
    problem, upper = asked.problem, asked.problem.upper
    case, beta = case_of(problem, upper), np.where(np.abs(x) == 1.0, 0.5 * x, 0.0)
    basis = Basis(
        np.flatnonzero(beta), np.asarray(np.linalg.inv([[0.0, 1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, 1.0]]), float)
    )
    solution = certified(problem, case, upper, beta, fresh(case, beta), basis, Road.COLD, 0, 0)
    pair = Pair(
        asked.first, asked.second, asked.loss, asked.nu, C=asked.C, rows=asked.rows, problem=problem, solution=solution
    )
    return assembled(posed, (pair,))


def compile_summary() -> None:
    """Compute what a summary is made of, once."""
    machine = known_machine()
    insample = fit_maps(machine)
    left = leave_one_out(machine, insample, n_jobs=1)
    fitted = held_out_maps(machine, insample, "loo", lambda: left)
    unseen(machine, left, fitted.maps, fitted.by)


if __name__ == "__main__":
    compile_summary()
