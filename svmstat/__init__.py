"""Support vector machines as statistical models: formulas, summaries, certificates, resampling diagnostics."""

from importlib.metadata import version as _version

from svmstat import datasets
from svmstat.comparison import compare
from svmstat.model import svm
from svmstat.results import SVMResults
from svmstat.tuning import TuneResult, minimax, neyman_pearson, tune

__all__ = [
    "SVMResults",
    "TuneResult",
    "compare",
    "datasets",
    "minimax",
    "neyman_pearson",
    "svm",
    "tune",
]


def __getattr__(name: str) -> str:
    """The version, looked up in the installed package when it is asked for and not by every import."""
    if name == "__version__":
        return _version("svmstat")
    raise AttributeError(f"module 'svmstat' has no attribute {name!r}")
