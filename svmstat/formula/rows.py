"""Which rows a fit is asked to use, and how much each counts: ``subset`` and ``weights``."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.checks import nearest
from svmstat._tools.frames import label_at
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError
from svmstat.formula.columns import computable, plain, read_table
from svmstat.formula.expression import bind
from svmstat.formula.meaning import refuse_misread, warn_near_text
from svmstat.formula.parse import whole
from svmstat.formula.source import Untrusted


def named_column(name: str, values: object, data: pd.DataFrame, what: str = "number") -> Hashable | None:
    """The column that the argument ``name`` names, None if it names none; ``what`` it might hold instead.

    Raises
    ------
    ArgumentError
        If it is a name, but of no column.
    """
    if not isinstance(values, str | int) or isinstance(values, bool):
        return None
    if values not in data.columns:
        hint = nearest(str(values), map(str, data.columns))
        allowed = f"the name of a column, or one {what} for each row{hint or '.'}"
        raise ArgumentError(f"{name}={values!r} is not allowed: it must be {allowed}")
    return values


def case_weights(weights: object, data: pd.DataFrame, inside: np.ndarray) -> np.ndarray:
    """The weight of each row: (n,) float, 1 without weights.

    Parameters
    ----------
    weights : Hashable or array_like (n,) or None
        The name of a column, or numbers for the rows of `data`; a Series must have its index.
    data : DataFrame (n, …)
        The data before any row is dropped.
    inside : ndarray (n,) of bool
        The rows of the subset; the others may hold anything.

    Raises
    ------
    ArgumentError
        If a weight is missing, negative or infinite, if all are zero, or if they are not n numbers.
    """
    if weights is None:
        return np.ones(len(data))
    result, shown = _row_numbers("weights", weights, data, "finite numbers >= 0")
    bad = np.flatnonzero(inside & ~(np.isfinite(result) & (result >= 0)))
    if len(bad):
        row = label_at(data.index, bad[0])
        raise ArgumentError(f"{shown} hold {result[bad[0]].item()!r} in row {row!r}: they must be finite numbers >= 0.")
    with np.errstate(over="ignore"):
        total = result[inside].sum()
    if not np.isfinite(total):
        raise ArgumentError(f"{shown} add up to more than doubles can carry: multiply them all by a smaller number.")
    if not total > 0:
        which = " in the rows that have the response and all predictors" if (result > 0).any() else ""
        raise ArgumentError(f"{shown} are all zero{which}: at least one row must count.")
    return result


def counted_rows(weights: object, data: pd.DataFrame, inside: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Which rows (n,) are ``inside`` and ``observed``, both (n,), and have a positive weight; see `case_weights`."""
    rows = inside & observed
    return np.asarray(rows & (case_weights(weights, data, rows) > 0) if rows.any() else rows)


def true_probabilities(truth: object, data: pd.DataFrame, rows: np.ndarray) -> np.ndarray:
    """P(event | x) of the chosen rows, where it is known: (m,) float.

    Parameters
    ----------
    truth : Hashable or array_like (n,)
        The name of a column, or numbers for the rows of `data`; a Series must have its index.
    data : DataFrame (n, …)
        The data before any row is dropped.
    rows : ndarray (m,) of int
        The rows that are used; the others may hold anything.

    Raises
    ------
    ArgumentError
        If a value is missing or outside [0, 1], or if they are not n numbers.
    """
    numbers, shown = _row_numbers("truth", truth, data, "probabilities")
    result = np.asarray(numbers[rows])
    bad = np.flatnonzero(~((result >= 0) & (result <= 1)))
    if len(bad):
        row = data.index[rows[bad[0]]]
        raise ArgumentError(
            f"{shown} holds {result[bad[0]].item()!r} in row {row!r}: it must be a probability in [0, 1]."
        )
    return result


def _row_numbers(name: str, given: object, data: pd.DataFrame, allowed: str) -> tuple[np.ndarray, str]:
    """The numbers (n,) that an argument gives, NaN where missing, and how to call it in a message."""
    column = named_column(name, given, data)
    values = data[column] if column is not None else aligned(name, given, data.index)
    kind, numbers = plain(values) if isinstance(values, pd.Series) else ("several columns", pd.Series())
    shown = name if column is None else f"{name} (column {column!r})"
    if kind not in ("number", "boolean", "missing") or isinstance(numbers.dtype, pd.CategoricalDtype):
        raise ArgumentError(f"{shown} hold {kind}: they must be {allowed}.")
    return np.ascontiguousarray(numbers.to_numpy(dtype=float, na_value=np.nan)), shown


def subset_rows(subset: object, data: pd.DataFrame, env: Mapping[str, Any]) -> np.ndarray:
    """The rows that ``subset`` keeps: (n,) bool; a row where something is missing that it reads is none.

    Parameters
    ----------
    subset : str or array_like (n,) of bool or None
        A boolean expression such as ``"depth > 100"``, read like a term of a formula, or booleans for
        the rows of `data`; a Series must have its index.
    data : DataFrame (n, …)
        The data.
    env : mapping
        The caller's names.

    Raises
    ------
    FormulaError
        If the expression cannot be read or evaluated.
    ArgumentError
        If it gives no booleans.
    DataError
        If it keeps no row.
    """
    if subset is None:
        return np.ones(len(data), dtype=bool)
    inside = _condition(subset, data, env) if isinstance(subset, str) else _booleans(subset, data.index)
    if not inside.any():
        shown = f"subset={subset!r}" if isinstance(subset, str) else "subset"
        raise DataError(f"{shown} keeps none of the {len(data)} rows.")
    return inside


def _condition(subset: str, data: pd.DataFrame, env: Mapping[str, Any]) -> np.ndarray:
    expression = bind(whole(subset), computable(data), env)
    table = read_table("data", data, dict.fromkeys(expression.columns))
    known = np.flatnonzero(~expression.missing_inputs(table))
    if not len(known):
        return np.zeros(len(data), dtype=bool)
    refuse_misread(expression, table)
    warn_near_text([expression], table)
    expression.memorize(table.take(known))
    value = expression.evaluate(table)
    if value.single:
        raise _no_condition(subset, "one value for all rows")
    if value.kind != "boolean" and not value.missing.all():
        raise _no_condition(subset, "numbers" if value.kind == "number" else value.kind)
    return np.zeros(len(data), dtype=bool) if value.missing.all() else value.data == 1


def _no_condition(subset: str, gives: str) -> ArgumentError:
    return ArgumentError(f"subset={subset!r} is not allowed: it must be a condition; it gives {gives}.")


def read_by_condition(subset: str, data: pd.DataFrame) -> tuple[Hashable, ...]:
    """The columns that a condition reads, which is taken as a text from outside Python.

    Raises
    ------
    FormulaError
        If it cannot be read, or says what such a text must not.
    """
    return bind(whole(Untrusted(subset)), computable(data), {}).columns


def _booleans(subset: object, index: pd.Index) -> np.ndarray:
    values = aligned("subset", subset, index)
    kind, booleans = plain(values)
    if kind not in ("boolean", "missing") or isinstance(booleans.dtype, pd.CategoricalDtype):
        allowed = "a condition as text, or True or False for each row"
        raise ArgumentError(f"subset holds {kind}: it must be {allowed}.")
    return booleans.to_numpy(dtype=bool, na_value=False)


def _array(name: str, values: Any) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ArgumentError(f"{name} has entries of several lengths: it must be one value for each row.") from error
    return np.where(values.mask, np.nan, array.astype(object)) if np.ma.is_masked(values) else array


def aligned(name: str, values: Any, index: pd.Index) -> pd.Series:
    """One value for each row of the data, as a series."""
    if isinstance(values, pd.DataFrame | Mapping | set | frozenset) or not hasattr(values, "__len__"):
        given = type(values).__name__
        raise ArgumentTypeError(f"{name} is of type {given}: it must be one value for each row.")
    if isinstance(values, pd.Series):
        if len(values) == len(index) and not values.index.equals(index):
            raise ArgumentError(
                f"{name} is a Series on another index than data: give it data's index in the same order, "
                "or pass its values as an array."
            )
        series = values
    elif isinstance(values, pd.MultiIndex):
        raise ArgumentTypeError(
            f"{name} is an index of several levels: it must be one value for each row, such as the "
            ".get_level_values(...) of one of them."
        )
    else:
        typed = isinstance(values, pd.api.extensions.ExtensionArray | pd.Index)
        array = values if typed else _array(name, values)
        if array.ndim != 1:
            raise ArgumentError(f"{name} has the shape {array.shape}: it must be one value for each row.")
        if getattr(array.dtype, "kind", "") == "V":
            raise ArgumentTypeError(f"{name} holds records of type {array.dtype}: it must be one value for each row.")
        series = pd.Series(array)
    if len(series) != len(index):
        values_of = "1 value" if len(series) == 1 else f"{len(series)} values"
        raise ArgumentError(f"{name} has {values_of} for {len(index)} rows of data.")
    return series
