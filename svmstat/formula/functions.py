"""The functions a formula can call without importing them: patsy's own, and a few of numpy's."""

import builtins
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from patsy import builtins as patsy_builtins

from svmstat.errors import DataError
from svmstat.formula.columns import plain

_NUMPY_NAMES = (
    "log log2 log10 log1p exp expm1 sqrt abs sin cos tan arcsin arccos arctan floor ceil sign minimum maximum where"
)


def C(data: Any, contrast: object = None, levels: Any = None) -> pd.Series:
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
    return pd.Series(pd.Categorical(values, categories=levels), index=values.index)


PATSY = {name: getattr(patsy_builtins, name) for name in patsy_builtins.__all__ if name != "Q"} | {"C": C}
FALLBACK: dict[str, Any] = {name: getattr(np, name) for name in _NUMPY_NAMES.split()}
FALLBACK |= {"np": np, "numpy": np, "pd": pd, "pandas": pd}


def fits(names: Mapping[str, Any], name: Any, called: bool) -> bool:
    """Whether the name is there, and can be called if it is called; R looks for functions this way."""
    return name in names and (callable(names[name]) or not called)


def is_known(name: Any, env: Mapping[str, Any], called: bool) -> bool:
    """Whether the name means something without being a column."""
    return any(fits(names, name, called) for names in (PATSY, env, FALLBACK, vars(builtins)))


def is_stateful(value: object) -> bool:
    """Whether a function learns from the data, as ``center`` and ``bs`` do."""
    return hasattr(value, "__patsy_stateful_transform__")
