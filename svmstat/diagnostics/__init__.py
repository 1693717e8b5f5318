"""Resampling results with their labels: leave-one-out, influence, goodness of fit [003]."""

from svmstat.diagnostics.evidence import Evidence
from svmstat.diagnostics.gof import GofResult
from svmstat.diagnostics.influence import InfluenceResult
from svmstat.diagnostics.loo import LooResult
from svmstat.diagnostics.permutation import PermutationResult

__all__ = ["Evidence", "GofResult", "InfluenceResult", "LooResult", "PermutationResult"]
