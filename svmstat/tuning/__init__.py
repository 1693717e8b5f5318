"""Choosing the cost and the parameters of the kernel."""

from svmstat.tuning.error_control import minimax, neyman_pearson
from svmstat.tuning.grid_search import tune
from svmstat.tuning.nu_result import NuTuneResult
from svmstat.tuning.result import TuneResult

__all__ = ["NuTuneResult", "TuneResult", "minimax", "neyman_pearson", "tune"]
