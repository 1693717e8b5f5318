"""Choosing the cost and the parameters of the kernel."""

from svmstat.tuning.error_control import minimax, neyman_pearson
from svmstat.tuning.plan import TuneResult
from svmstat.tuning.tune import tune

__all__ = ["TuneResult", "minimax", "neyman_pearson", "tune"]
