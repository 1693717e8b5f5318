"""The quadratic problem and its solver: arrays only, nothing about losses, labels or resampling."""

from svmstat.solver.batch import Anchor, anchor_at, solve
from svmstat.solver.gram import DEFAULT_BUDGET, Gram
from svmstat.solver.nu_grid import NuGrid, Sample, sweep_grid, sweep_line
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import TOLERANCE, Batch, Nearest, Road, Solution, Status, resolved

__all__ = [
    "DEFAULT_BUDGET",
    "TOLERANCE",
    "Anchor",
    "Batch",
    "BoxQP",
    "Gram",
    "Nearest",
    "NuGrid",
    "Road",
    "Sample",
    "Solution",
    "Status",
    "anchor_at",
    "resolved",
    "solve",
    "sweep_grid",
    "sweep_line",
]
