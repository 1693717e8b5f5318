"""Resampling results with their labels: leave-one-out, influence, goodness of fit [003]."""

from svmstat.diagnostics.gof import GofResult
from svmstat.diagnostics.influence import InfluenceResult
from svmstat.diagnostics.left_out import LeftOut
from svmstat.diagnostics.loo import LooResult
from svmstat.diagnostics.multiclass_loo import MulticlassLooResult

__all__ = ["GofResult", "InfluenceResult", "LeftOut", "LooResult", "MulticlassLooResult"]
