"""The functions a formula can call without importing them: patsy's own, R's poly and ns, and a few of numpy's."""

import ast
import builtins
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
from patsy import builtins as patsy_builtins
from patsy import stateful_transform
from patsy.state import Standardize

from svmstat._tools.checks import nearest
from svmstat._tools.texts import counted
from svmstat.errors import DataError
from svmstat.formula.bases import ns, poly
from svmstat.formula.columns import plain
from svmstat.formula.names import called_name

_NUMPY_NAMES = (
    "log log2 log10 log1p exp expm1 sqrt abs sin cos tan arcsin arccos arctan floor ceil sign minimum maximum where "
    "round"
)


def C(data: Any, contrast: object = None, levels: Any = None) -> pd.Series:  # noqa: ARG001  patsy's C has it
    """Mark values as levels of a factor.

    Every factor is coded by all its levels, so a contrast is accepted and has no effect.

    Parameters
    ----------
    data : array_like (n,)
        Numbers, booleans, text or categories.
    contrast : object
        Not used.
    levels : sequence, optional
        The levels in their order; by default those of a categorical, or else the sorted values.

    Returns
    -------
    Series (n,)
        A categorical.

    Raises
    ------
    DataError
        If a value is none of the levels.

    Examples
    --------
    >>> list(C([2, 1, 2]).cat.categories)
    [1, 2]
    """
    _, values = plain(pd.Series(data))
    if levels is None:
        return values.astype("category") if values.dtype != "category" else values
    levels = list(levels)
    unknown = values[values.notna() & ~values.isin(levels)]
    if len(unknown):
        first = unknown.tolist()[0]
        raise DataError(f"C(..., levels={levels!r}) met {first!r}, which is none of the levels.")
    return pd.Series(pd.Categorical(values.astype(object), categories=levels), index=values.index)


class _Standardize(Standardize):  # type: ignore[misc]  # patsy has no types
    """patsy's, in doubles: in its wider numbers the extreme rows may lie beyond knots that are doubles."""

    def transform(self, *arguments: Any, **named: Any) -> Any:
        return super().transform(*arguments, **named).astype(float)


standardize = stateful_transform(_Standardize)
PATSY = {name: getattr(patsy_builtins, name) for name in patsy_builtins.__all__ if name != "Q"}
PATSY |= {"C": C, "standardize": standardize, "scale": standardize}
FALLBACK: dict[str, Any] = {name: getattr(np, name) for name in _NUMPY_NAMES.split()}
# Functions of other packages' formulas, with what to write here.
_ALONE = "a smooth term stands by itself among the predictors, not inside another function, nor on the left"
COUNTS = (
    "counts of successes and failures are two rows each, of which these are the weights: "
    "pd.concat([data.assign(event=True, w=data.successes), data.assign(event=False, w=data.failures)]) with "
    "'event ~ x' and weights='w'; groups= of the original rows keeps both together"
)
ADVICE = {
    "cbind": COUNTS,
    "s": f"{_ALONE}, as in y ~ s(x) + s(np.log(z))",
    "ti": f"{_ALONE}, as in y ~ s(x) + s(z) + ti(x, z)",
    "offset": "a support vector machine has none, since its f is on a scale of its own, on which no part of it is "
    "known beforehand; write the column as a predictor, and known shares of the levels as priors=",
    "polym": "poly(x, 2) + poly(z, 2) + x:z has the polynomials of two columns",
    "factor": "C(x) makes levels of a column",
    "relevel": "C(x, levels=[...]) has the levels of a column in an order, the reference level first",
    "cut": "pd.cut(x, [0, 10, 20]) makes levels of a number, by breaks that stay what they are",
    **dict.fromkeys(("lo", "loess", "pspline"), "s(x) is a smooth function of a column"),
    "rcs": "cr(x, df=4) is a natural cubic spline, and s(x) a smooth function without knots",
    "interaction": "f:g has a level for each pair of theirs",
    "ordered": "C(x, levels=[...]) has levels in an order",
    "ifelse": "where(condition, a, b) chooses row by row",
    "max": "maximum(a, b) is the larger of two, row by row",
    "min": "minimum(a, b) is the smaller of two, row by row",
}
FALLBACK |= {"np": np, "numpy": np, "pd": pd, "pandas": pd}


def fits(names: Mapping[str, Any], name: Any, called: bool) -> bool:
    """Whether the name is there, and can be called if it is called; R looks for functions this way."""
    return name in names and (callable(names[name]) or not called)


def written_into(code: str, known: Mapping[str, Any]) -> str:
    """Why a call of one of numpy's functions of single values has too many arguments, or nothing if none has.

    What is beyond their inputs is where they write what they compute: ``log(x, base)`` would overwrite the base.

    Examples
    --------
    >>> written_into("log(x, base)", FALLBACK)
    'log() takes 1 argument, and writes into a further one; log(x, base) of R is log(x) / log(base)'
    >>> written_into("log(x) + np.maximum(x, z)", FALLBACK)
    ''
    """
    for call in ast.walk(ast.parse(code.strip(), mode="eval")):
        if not isinstance(call, ast.Call):
            continue
        function, outputs = _called(call.func, known), [word for word in call.keywords if word.arg == "out"]
        if isinstance(function, np.ufunc) and (outputs or len(call.args) > function.nin):
            advice = "; log(x, base) of R is log(x) / log(base)" if function is np.log else ""
            takes = counted(function.nin, "argument")
            return f"{ast.unparse(call.func)}() takes {takes}, and writes into a further one{advice}"
    return ""


def _called(function: ast.expr, known: Mapping[str, Any]) -> Any:
    """What is called, where it is a name or one of a module."""
    match function:
        case ast.Name(name):
            return known.get(name)
        case ast.Attribute(ast.Name(module), name):
            return getattr(known.get(module), name, None)
    return None


def is_shared(name: str, value: object) -> bool:
    """Whether a caller's name stands for what it stands for in any formula, as ``np`` mostly does."""
    return name in FALLBACK and FALLBACK[name] is value


def is_known(name: Any, env: Mapping[str, Any], called: bool) -> bool:
    """Whether the name means something without being a column."""
    return any(fits(names, name, called) for names in (PATSY, env, FALLBACK, vars(builtins)))


SMOOTHS = ("s", "te", "ti")
"""The functions that are smooth terms: ``te`` unless its arguments are patsy's splines."""

# Functions of one column that give one: te() of nothing else is a smooth term.
_SINGLE = frozenset({*FALLBACK, "I", "Q", "C", "center", "scale", "standardize"})
INSIDE = f"te() of single columns cannot stand here: {_ALONE}. te(cr(x, df=4), cr(z, df=4)) is patsy's."


def calls_smooth(code: str) -> bool:
    """Whether code is nothing but the call of a smooth term.

    Examples
    --------
    >>> calls_smooth("s(x)"), calls_smooth("te(lon, np.log(lat))"), calls_smooth("te(bs(lon, df=4), lat)")
    (True, True, False)
    """
    call = ast.parse(code, mode="eval").body
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)) or call.func.id not in SMOOTHS:
        return False
    return call.func.id != "te" or _of_columns(call)


def has_smooth_inside(code: str) -> bool:
    """Whether code calls ``te`` of single columns somewhere."""
    calls = [node for node in ast.walk(ast.parse(code, mode="eval")) if isinstance(node, ast.Call)]
    return any(called_name(call) == "te" and _of_columns(call) for call in calls)


def _of_columns(call: ast.Call) -> bool:
    return all(map(_is_single, call.args))


def _is_single(argument: ast.expr) -> bool:
    functions = [node.func for node in ast.walk(argument) if isinstance(node, ast.Call)]
    return all(not isinstance(func, ast.Name) or func.id in _SINGLE for func in functions)


def no_function(name: str, env: Mapping[str, Any]) -> str:
    """The message for a function that is not there, with what to write instead where that is known.

    Offered are what a formula has, and the functions that the caller's module defines.
    """
    if name == "Q":
        return "Q() takes the name of one column, in quotes."
    if name in ADVICE:
        return f"There is no function {name!r}: {ADVICE[name]}."
    own = [each for each, value in env.items() if isinstance(value, FunctionType) and _is_local(value, env)]
    known = [each for each, value in {**PATSY, **FALLBACK}.items() if callable(value)]
    return f"There is no function {name!r}{nearest(name, [*known, *own])}"


def _is_local(function: FunctionType, env: Mapping[str, Any]) -> bool:
    return function.__module__ == env.get("__name__")


FALLBACK |= {"ns": ns, "poly": poly}  # of one column too, but they give several


def is_stateful(value: object) -> bool:
    """Whether a function learns from the data, as ``center`` and ``bs`` do."""
    return hasattr(value, "__patsy_stateful_transform__")
