"""Resampling results with their labels: leave-one-out, influence, goodness of fit [003], label sets, stability."""

from svmstat.diagnostics.evidence import Evidence
from svmstat.diagnostics.gof import GofResult
from svmstat.diagnostics.influence import InfluenceResult
from svmstat.diagnostics.label_sets import LabelSets
from svmstat.diagnostics.loo import LooResult
from svmstat.diagnostics.reliability import Reliability, reliability
from svmstat.diagnostics.stability import PredictionResult

__all__ = [
    "Evidence",
    "GofResult",
    "InfluenceResult",
    "LabelSets",
    "LooResult",
    "PredictionResult",
    "Reliability",
    "reliability",
]
