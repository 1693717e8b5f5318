"""Fits on altered data: rows left out, rows drawn again, labels drawn again."""

from svmstat.resampling.bootstrap import Replicates, bootstrap_deviance
from svmstat.resampling.leave_one_out import LeaveOneOut, leave_one_out

__all__ = ["LeaveOneOut", "Replicates", "bootstrap_deviance", "leave_one_out"]
