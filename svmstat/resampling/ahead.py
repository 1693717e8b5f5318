"""What a summary will need, compiled by a second process while the first compiles what its fit needs.

It leaves every row of a machine out whose solution is known, so that no descent and no path of a fit is compiled twice.
"""

import numpy as np

from svmstat.calibration import fit_maps
from svmstat.kernels import Linear
from svmstat.machine import Machine, contrasts, machine_with, pose
from svmstat.resampling.leave_one_out import leave_one_out
from svmstat.resampling.unseen import held_out_maps, unseen
from svmstat.solver import solution_at


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
    return machine_with(posed, (solution_at(posed.pairs[0].problem, np.where(np.abs(x) == 1.0, 0.5, 0.0)),))


def compile_summary() -> None:
    """Compute what a summary is made of, once."""
    machine = known_machine()
    insample = fit_maps(machine)
    left = leave_one_out(machine, insample, n_jobs=1)
    fitted = held_out_maps(machine, insample, "loo", lambda: left)
    unseen(machine, left, fitted.maps, fitted.by)


if __name__ == "__main__":
    compile_summary()
