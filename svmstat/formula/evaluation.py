"""The expressions of a formula on the rows of a data frame: missing, infinite and uncomputable values."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from svmstat._tools.frames import label_at
from svmstat._tools.warn import warn
from svmstat.errors import DataError, DesignWarning, FormulaError, SvmstatError
from svmstat.formula.columns import Table
from svmstat.formula.expression import Expression, explain
from svmstat.formula.values import Value

# Transforms learn from at most this many copies of rows, which are the weights of rows or in their proportion.
MOST_COPIES = 20_000_000
# So many copies, or ten of each row, are near enough to any proportion.
ENOUGH_COPIES = 1_000_000
# Weights are multiples of 1 over this or less, but for this share of rounding; or proportions are near.
MOST_PARTS = 1000
ROUNDING = 1e-9
# Values of the caller's that may stand beside the rows.
_ROWS = (np.ndarray, pd.Series, pd.Index, pd.api.extensions.ExtensionArray, list, tuple)
# A larger share of the rows than this is not dropped without a word.
MOST_LOST = 0.1


@dataclass(frozen=True, slots=True)
class Complete:
    """The values of a fit's expressions on those rows where none of them is missing.

    Attributes
    ----------
    rows : ndarray (m,) of int
        The positions of the rows where no expression is missing.
    values : dict of Value
        Each expression on these m rows, by its code.
    """

    rows: np.ndarray
    values: dict[str, Value]


def evaluate_complete(expressions: Sequence[Expression], table: Table, weights: np.ndarray, na_action: str) -> Complete:
    """Drop the incomplete rows, let the transforms learn from the others, and evaluate.

    Transforms such as ``bs`` learn from the rows as often as their weights say. If these are no whole numbers
    they learn from copies in that proportion: exactly if a million copies, or ten of each row, are enough
    for it, and otherwise nearly, from so many.

    Parameters
    ----------
    expressions : sequence of Expression
        The response and the factors.
    table : Table
        n rows.
    weights : ndarray (n,)
        Non-negative.
    na_action : {"drop", "raise"}
        What is done about incomplete rows.

    Returns
    -------
    Complete
        m ≤ n rows.

    Raises
    ------
    DataError
        If rows are incomplete and may not be, if none of positive weight is left, or if a number is infinite.
    FormulaError
        If an expression cannot be evaluated.

    Warns
    -----
    DesignWarning
        If the rows dropped for a missing value in a column have more than a tenth of the weight.
    """
    first = {expression.code: _inputs(expression, table) for expression in expressions}
    gone = np.zeros(len(table), dtype=bool)
    for value in first.values():
        gone |= value.missing
    if gone.any() and na_action == "raise":
        raise DataError(f"{_incomplete(expressions, first, table)}; na_action='raise' allows none.")
    rows = np.flatnonzero(~gone)
    lost = gone & table.missing(dict.fromkeys(name for each in expressions for name in each.columns))
    largely = weights[lost].sum() > MOST_LOST * weights.sum()
    weights = weights[rows]
    if not weights.any():
        weighted = "with positive weight " if len(rows) else ""
        raise DataError(f"No row {weighted}is complete: {_incomplete(expressions, first, table)}.")
    if largely:
        warn(
            f"{_incomplete(expressions, first, table)}, and are dropped: a column that is left out of the formula, or "
            "filled in beforehand, loses none.",
            DesignWarning,
        )
    kept = table.take(rows) if len(rows) < len(table) else table
    values = {code: value.take(rows) if len(rows) < len(table) else value for code, value in first.items()}
    for expression in expressions:
        check_finite(f"data {expression.label}", values[expression.code].data, kept.index)
    stateful = [expression for expression in expressions if expression.learns]
    if stateful:
        learnt = kept.take(_copies(weights))
        for expression in stateful:
            expression.memorize(learnt)
            values[expression.code] = _transformed(expression, kept, weights > 0)
    return Complete(rows, values)


def evaluate_new(expression: Expression, table: Table) -> Value:
    """The value of a fitted expression on the rows of ``newdata``, missing where its columns are.

    Raises
    ------
    DataError
        If a row cannot be computed, such as one outside the knots of a spline.
    """
    try:
        value = _evaluate(expression, table)
    except FormulaError as error:
        raise _uncomputable("newdata", expression, table, error) from error
    _warn_computed("newdata", expression, value, table)
    return value


def warn_whole_column(expression: Expression, value: Value, table: Table) -> None:
    """Tell of a term whose value in a row depends on other rows, as ``x - x.mean()`` does.

    Parameters
    ----------
    expression : Expression
        A factor.
    value : Value
        Its value on the rows of `table`, none missing.
    table : Table
        n rows.

    Warns
    -----
    DesignWarning
        If the even or the odd rows, or that of the least or the largest value, without the others, give other values.
    """
    if not {"(", "."} & set(expression.code) or len(table) < 2:
        return
    own = table.of(expression.columns)
    if not all(_alone_as_among(expression, value, own, rows) for rows in _parts(value)):
        warn(
            f"data {expression.label} depends in each row on the other rows: on new data it means something "
            "else: use center(), standardize() or bs(), which remember, or compute the column beforehand.",
            DesignWarning,
        )


def refuse_rows_of_caller(expression: Expression, table: Table) -> None:
    """Refuse values of the caller's that stand beside the rows of the data, since new rows have none.

    Parameters
    ----------
    expression : Expression
        A factor.
    table : Table
        All rows of the data.

    Raises
    ------
    FormulaError
        If it takes an array or a Series, of as many values as there are rows, row by row.
    """
    own = ((name, value) for name, value in expression.own.items() if isinstance(value, _ROWS))
    beside = [name for name, value in own if len(value) == len(table) > 1]
    if beside and not all(_takes_any_rows(each, table) for each in expression.given or (expression,)):
        raise expression.source.error(
            f"The term {expression.code!r} takes {beside[0]!r} row by row, which is no column of the data: new rows "
            f"have no value of it. Make it a column, as data.assign({beside[0]}=...) does."
        )


def _takes_any_rows(expression: Expression, table: Table) -> bool:
    """Whether some of the rows can be computed as well as all of them, or not even these."""
    try:
        value = expression.evaluate(table)
    except SvmstatError:
        return True
    return _alone_as_among(expression, value, table, np.arange(1, len(table), 2), failing=False)


def _parts(value: Value) -> tuple[np.ndarray, ...]:
    """Rows that are looked at without the others."""
    n, codes = len(value.data), value.data.reshape(len(value.data), -1)[:, 0]
    order = np.argsort(codes, kind="stable")
    return np.arange(1, n, 2), np.arange(0, n, 2), order[-1:], order[:1]


def _alone_as_among(expression: Expression, value: Value, table: Table, rows: np.ndarray, failing: bool = True) -> bool:
    """Whether rows have the same values without the others; what is said where none can be computed is ``failing``."""
    try:
        return value.take(rows).agrees(expression.evaluate(table.take(rows)))
    except SvmstatError:
        return failing


def check_finite(what: str, numbers: np.ndarray, index: pd.Index) -> None:
    """Refuse infinite numbers in (n,) or (n, k) values with these row labels."""
    if numbers.dtype.kind != "f":
        return
    infinite = np.isinf(numbers)
    if infinite.any():
        place = np.argwhere(infinite)[0]
        number = numbers[tuple(place)].item()
        raise DataError(f"{what} is infinite ({number!r}) in row {label_at(index, place[0])!r}.")


def check_finite_columns(where: str, table: Table, names: Iterable[Hashable]) -> None:
    """Refuse infinite numbers in these columns of a table."""
    for name in names:
        if table.columns[name].dtype == np.dtype(float):
            check_finite(f"{where} column {name!r}", table.columns[name].to_numpy(), table.index)


def _inputs(expression: Expression, table: Table) -> Value:
    """The value of an expression, or what its transforms are given: it tells what is missing."""
    value = _of_transforms(expression, table) if expression.learns else _evaluate(expression, table)
    _warn_computed("data", expression, value, table)
    return value


def _of_transforms(expression: Expression, table: Table) -> Value:
    """What the transforms are given; where code takes their value further, as ``log(center(x) + 5)``, what it gives."""
    missing = expression.missing_inputs(table)
    rows = np.flatnonzero(~missing)
    if expression.learns_only or not len(rows):
        given = (_evaluate(each, table) for each in expression.given)
        numbers = [np.zeros((len(table), 0)), *(value.data for value in given if value.kind == "number")]
        return Value("number", np.hstack(numbers), (), missing, np.dtype(float))
    trial, known = expression.unlearned(), table.take(rows)
    trial.memorize(known)
    return trial.evaluate(known).spread(rows, len(table))


def _evaluate(expression: Expression, table: Table) -> Value:
    """The value of an expression; one that fails on missing entries is given the other rows only."""
    try:
        if not expression.learns or not expression.missing_inputs(table).all():
            return expression.evaluate(table)
    except FormulaError:
        lost = table.missing(name for name in expression.names.exposed if name in table.columns)
        if not lost.any():
            raise
        rows = np.flatnonzero(~lost)
        if len(rows):
            return expression.evaluate(table.take(rows)).spread(rows, len(table))
    n = len(table)
    return Value("number", np.full((n, 1), np.nan), (), np.ones(n, dtype=bool), np.dtype(float))


def _transformed(expression: Expression, kept: Table, counted: np.ndarray) -> Value:
    """The value on complete rows, after its transforms have learnt from the rows that count."""
    try:
        value = expression.evaluate(kept)
    except FormulaError as error:
        if counted.all():
            raise
        expression.evaluate(kept.take(np.flatnonzero(counted)))  # an error that weights do not explain
        raise _uncomputable("data, in a row of weight zero,", expression, kept, error) from error
    if value.missing.any():
        row = label_at(kept.index, np.flatnonzero(value.missing)[0])
        what = f"data {expression.label} is not a number in row {row!r}"
        raise DataError(f"{what}, where its columns are present.")
    check_finite(f"data {expression.label}", value.data, kept.index)
    return value


def _copies(weights: np.ndarray) -> np.ndarray:
    """The positions of the rows to learn from, each as often as its weight says, or in that proportion."""
    times = weights
    if (weights != np.floor(weights)).any() or weights.sum() > MOST_COPIES:
        times = _in_proportion(weights)
    return np.repeat(np.arange(len(weights)), times.astype(int))


def _in_proportion(weights: np.ndarray) -> np.ndarray:
    """Whole numbers (n,) in the proportion of the weights; if there are no small ones, near it, and one at least."""
    values, largest = np.unique(weights[weights > 0]), max(ENOUGH_COPIES, 10 * len(weights)) / weights.sum()
    for unit in range(1, min(MOST_PARTS, int(largest)) + 1) if len(values) <= MOST_PARTS else ():
        whole = np.rint(unit * values)
        if (np.abs(unit * values - whole) <= ROUNDING * whole).all():
            return np.asarray(np.rint(unit * weights))
    near = np.rint(weights * largest)
    return np.asarray(np.where(weights > 0, np.maximum(near, 1.0), 0.0))


def _warn_computed(where: str, expression: Expression, value: Value, table: Table) -> None:
    """Tell of values missing where their columns are not, such as the log of a negative number."""
    if value.missing.any():
        count = int((value.missing & ~table.missing(expression.columns)).sum())
        if count:
            warn(
                f"{where} {expression.label} is not a number in {count} row(s) where its columns are present "
                "(they count as missing).",
                DesignWarning,
            )


def _uncomputable(where: str, expression: Expression, table: Table, error: FormulaError) -> DataError:
    """The error for new data that an expression cannot take; it names the first row that fails."""
    good, bad = 0, len(table)  # the first `good` rows can be computed, the first `bad` cannot
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            _evaluate(expression, table.take(np.arange(middle)))
            good = middle
        except FormulaError:
            bad = middle
    row = table.take(np.array([bad - 1]))
    held = ", ".join(f"{name}={row.columns[name].tolist()[0]!r}" for name in expression.columns)
    place = f"{where} {expression.label} cannot be computed in row {label_at(row.index, 0)!r}, where {held}"
    return DataError(f"{place}: {explain(error.__cause__ or error)}.")


def _incomplete(expressions: Sequence[Expression], values: dict[str, Value], table: Table) -> str:
    """How many rows are incomplete, and for which columns or terms."""
    gone, counts = np.zeros(len(table), dtype=bool), dict[str, int]()
    for expression in expressions:
        missing = values[expression.code].missing
        gone |= missing
        for column in expression.columns:
            empty = missing & table.columns[column].isna().to_numpy()
            if empty.any():
                counts[f"column {column!r}"] = int(empty.sum())
        computed = missing & ~table.missing(expression.columns)
        if computed.any():
            counts[expression.label] = int(computed.sum())
    listed = ", ".join(f"{what} ({count})" for what, count in counts.items())
    return f"{int(gone.sum())} of {len(table)} rows have missing values, in {listed}"
