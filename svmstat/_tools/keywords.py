"""Arguments by name that a function does not have: an error that says which one was meant."""

import inspect
import sys
from collections.abc import Callable, Collection
from functools import wraps
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from svmstat._tools.checks import nearest
from svmstat.errors import ArgumentTypeError

Given = ParamSpec("Given")
Found = TypeVar("Found")
Class = TypeVar("Class", bound=type)

_HERE: dict[str, tuple[str, str]] = {
    "cost": ("C", ""),
    "lambda_": ("C", ", which is 1/(2 lambda n)"),
    "lam": ("C", ", which is 1/(2 lambda n)"),
    "reg_param": ("C", ", which is 1/(2 lambda n)"),
    "sigma": ("gamma", ", the width that kernlab calls sigma"),
    "r": ("coef0", ""),
    "seed": ("rng", ""),
    "random_state": ("rng", ""),
    "R": ("B", ""),
    "nboot": ("B", ""),
    "n_boot": ("B", ""),
    "n_permutations": ("B", ""),
    "conf_level": ("level", ""),
    "alpha": ("level", ", which is 1 - alpha"),
    "sample_weight": ("weights", ""),
    "group": ("groups", ""),
    "cluster": ("groups", ""),
    "clusters": ("groups", ""),
    "class_weights": ("class_weight", ""),
    "positive": ("event", ""),
    "pos_label": ("event", ""),
    "standardize": ("scale", ""),
    "na": ("na_action", ""),
    "missing": ("na_action", ""),
    "cv": ("folds", ""),
    "k": ("folds", ""),
    "scoring": ("score", ""),
    "X": ("newdata", ""),
    "new_data": ("newdata", ""),
    "data": ("newdata", ""),
    "type": ("kind", ""),
    "cores": ("n_jobs", ""),
    "workers": ("n_jobs", ""),
    "verbose": ("progress", ""),
}
"""What an argument of other packages is called here, if the function has it, and a remark."""

_NOWHERE = {
    "groups": "svm(..., groups=...) says which rows belong together, and fits know it",
    "seed": "nothing in it is random",
    "random_state": "nothing in it is random",
    "shrinking": "every solution is exact, to a KKT violation of 1e-8",
    "probability": "every fit has predict_proba()",
    "tol": "every solution is exact, to a KKT violation of 1e-8",
    "max_iter": "every solution is exact, to a KKT violation of 1e-8",
    "offset": "a support vector machine has none: write the column as a predictor",
    "cross": "fit.loo() and fit.kfold() are held out",
}
"""Arguments of other packages that have no place here, and why."""


def no_argument(function: str, name: str, known: Collection[str]) -> ArgumentTypeError:
    """The error for an argument that a function does not have, ready to be raised.

    Examples
    --------
    >>> no_argument("svm", "cost", ["formula", "data", "C"])
    ArgumentTypeError("svm() has no argument 'cost': it is called 'C' here.")
    >>> no_argument("svm", "kernal", ["formula", "data", "kernel"])
    ArgumentTypeError("svm() has no argument 'kernal'; did you mean 'kernel'?")
    """
    start = f"{function}() has no argument {name!r}"
    here, remark = _HERE.get(name, ("", ""))
    if here in known:
        return ArgumentTypeError(f"{start}: it is called {here!r} here{remark}.")
    if name in _NOWHERE:
        return ArgumentTypeError(f"{start}: {_NOWHERE[name]}.")
    there_are = f": there are {', '.join(known)}." if known else ": it has none."
    return ArgumentTypeError(start + (nearest(name, known) or there_are))


def helpful(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """The function, which tells what was meant by an argument that it does not have.

    One that takes arguments of any name is left as it is.
    """
    parameters = inspect.signature(function).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return function
    known = frozenset(parameters)

    @wraps(function)
    def asked(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        if not known.issuperset(kwargs):
            unknown = next(name for name in kwargs if name not in known)
            raise no_argument(function.__name__, unknown, [name for name in parameters if name != "self"])
        return function(*args, **kwargs)

    return asked


def helpful_methods(cls: Class) -> Class:
    """The class with all its public methods `helpful`, those of its bases among them."""
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        if not name.startswith("_") and inspect.isfunction(method):
            setattr(cls, name, helpful(method))
    return cls


def calling_frame() -> FrameType:
    """The frame that called the function that asks, be that `helpful` or not."""
    frame: Any = sys._getframe(2)
    while frame.f_globals is globals():
        frame = frame.f_back
    found: FrameType = frame
    return found
