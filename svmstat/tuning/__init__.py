"""Choosing the cost and the parameters of the kernel."""

from svmstat.tuning.grid_search import tune
from svmstat.tuning.result import TuneResult

__all__ = ["TuneResult", "tune"]
