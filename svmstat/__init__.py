"""Support vector machines as statistical models: formulas, summaries, certificates, resampling diagnostics."""

from svmstat import datasets
from svmstat.model import svm
from svmstat.multiclass_results import MulticlassSVMResults
from svmstat.results import SVMResults
from svmstat.tuning import TuneResult, tune

__all__ = ["MulticlassSVMResults", "SVMResults", "TuneResult", "datasets", "svm", "tune"]
