"""Models of the same rows side by side: machines, regressions of statsmodels, classifiers of scikit-learn."""

from svmstat.comparison.compare import compare

__all__ = ["compare"]
