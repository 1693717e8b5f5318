"""Fits on altered data: rows left out."""

from svmstat.resampling.leave_one_out import LeftOut, leave_one_out

__all__ = ["LeftOut", "leave_one_out"]
