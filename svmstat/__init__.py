"""Support vector machines as statistical models: formulas, summaries, certificates."""

from svmstat import datasets
from svmstat.model import SVMResults, svm

__all__ = ["SVMResults", "datasets", "svm"]
