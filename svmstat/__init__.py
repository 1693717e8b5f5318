"""Support vector machines as statistical models: formulas, summaries, certificates, resampling diagnostics."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svmstat import datasets
    from svmstat.comparison import compare
    from svmstat.loading import load
    from svmstat.model import svm
    from svmstat.results import SVMResults, etable
    from svmstat.tuning import TuneResult, minimax, neyman_pearson, tune

__all__ = [
    "SVMResults",
    "TuneResult",
    "compare",
    "datasets",
    "etable",
    "load",
    "minimax",
    "neyman_pearson",
    "svm",
    "tune",
]

_HOMES = {
    "SVMResults": "results",
    "TuneResult": "tuning",
    "compare": "comparison",
    "etable": "results",
    "load": "loading",
    "minimax": "tuning",
    "neyman_pearson": "tuning",
    "svm": "model",
    "tune": "tuning",
}


def __getattr__(name: str) -> Any:
    """A name of `__all__`, a module or the version, imported when it is asked for first.

    The help of the command, and whoever wants one module only, need not wait for all that the package imports.
    """
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    if name in _HOMES:
        found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = found
        return found
    if not name.startswith("__") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
