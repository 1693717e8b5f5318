"""The quadratic problem and its solver: arrays only, nothing about losses, labels or resampling."""

from svmstat.solver.ahead import OF_MANY_SOLUTIONS, OF_ONE_SOLUTION, have_helped
from svmstat.solver.flat import lost_beside_margins, norm_rounding
from svmstat.solver.gram import DEFAULT_BUDGET, Gram
from svmstat.solver.hulls import intercepts_by_nu
from svmstat.solver.low_rank import LowRank
from svmstat.solver.normal import normal_vector
from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.confirm import misfit
from svmstat.solver.roads.nu_grid import NuGrid, Sample, sweep_grid, sweep_line
from svmstat.solver.roads.single import basis_of
from svmstat.solver.solution import TOLERANCE, Basis, Batch, Nearest, Road, Solution, Status, resolved
from svmstat.solver.solve import Anchor, anchor_at, solve
