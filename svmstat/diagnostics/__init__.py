"""Resampling results with their labels: evidence, coefficients, comparisons, influence, tests, sets, stability."""

from svmstat.diagnostics.coefficients import Coefficients
from svmstat.diagnostics.comparison import Comparison
from svmstat.diagnostics.evidence import Evidence
from svmstat.diagnostics.gof import GofResult
from svmstat.diagnostics.held_out import HeldOut
from svmstat.diagnostics.influence import InfluenceResult
from svmstat.diagnostics.label_sets import LabelSets
from svmstat.diagnostics.loo import LooResult
from svmstat.diagnostics.permutation import PermutationResult
from svmstat.diagnostics.reliability import Reliability, reliability
from svmstat.diagnostics.stability import PredictionResult
from svmstat.diagnostics.term_tests import TermTest, TermTests

__all__ = [
    "Coefficients",
    "Comparison",
    "Evidence",
    "GofResult",
    "HeldOut",
    "InfluenceResult",
    "LabelSets",
    "LooResult",
    "PermutationResult",
    "PredictionResult",
    "Reliability",
    "TermTest",
    "TermTests",
    "reliability",
]
