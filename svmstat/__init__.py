"""Support vector machines as statistical models: formulas, summaries, certificates, resampling diagnostics."""

from svmstat import datasets
from svmstat.model import svm
from svmstat.results import SVMResults
from svmstat.tuning import NuTuneResult, TuneResult, minimax, neyman_pearson, tune

__all__ = [
    "NuTuneResult",
    "SVMResults",
    "TuneResult",
    "datasets",
    "minimax",
    "neyman_pearson",
    "svm",
    "tune",
]
