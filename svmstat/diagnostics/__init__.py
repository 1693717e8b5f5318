"""Resampling results with their labels: leave-one-out, comparisons, influence, goodness of fit [003]."""

from svmstat.diagnostics.comparison import Comparison
from svmstat.diagnostics.evidence import Evidence
from svmstat.diagnostics.gof import GofResult
from svmstat.diagnostics.influence import InfluenceResult
from svmstat.diagnostics.loo import LooResult

__all__ = ["Comparison", "Evidence", "GofResult", "InfluenceResult", "LooResult"]
