"""From a formula and a data frame to the arrays of a fit."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools import checks
from svmstat._tools.frames import as_pandas, columns_called, label_at
from svmstat._tools.warn import warn
from svmstat.errors import ArgumentTypeError, DataError, DesignWarning, FormulaError
from svmstat.formula.columns import Column, check_frame, computable, read_table
from svmstat.formula.design import Design, term_columns
from svmstat.formula.evaluation import (
    check_finite_columns,
    evaluate_complete,
    evaluate_new,
    refuse_rows_of_caller,
    warn_whole_column,
)
from svmstat.formula.expression import Expression, bind
from svmstat.formula.factor import Factor, Term, learn_factor, warn_alike
from svmstat.formula.grouping import WEIGHT_TYPES, Grouping, check_labels, group_labels, grouping_of, mean_one
from svmstat.formula.identifiers import tell_identifiers
from svmstat.formula.meaning import refuse_misread, warn_near_text
from svmstat.formula.parse import Parsed, parse
from svmstat.formula.response import (
    Response,
    label_type,
    learn_response,
    response_codes,
)
from svmstat.formula.rows import case_weights, named_column, subset_rows
from svmstat.formula.scaling import CONSTANT, learn_scaling
from svmstat.formula.smooth import Smooth, fit_smooth, read_smooth, refuse_product
from svmstat.formula.source import Source
from svmstat.formula.terms import MOST_TERMS
from svmstat.formula.values import Value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelFrame:
    """The n rows of a fit as arrays: what a formula makes of a data frame.

    Attributes
    ----------
    design : Design
        The right side of the formula.
    response : Response
        The left side.
    X : ndarray (n, p)
        Float, C-contiguous, scaled.
    codes : ndarray (n,) of int
        The position of each row's level; −1 in rows of weight zero whose level no other row has.
    weights : ndarray (n,)
        Non-negative; rows of weight zero are here, but nothing was learnt from them.
    index : Index (n,)
        The row labels.
    rows : ndarray (n,) of int
        The positions of the rows in the data.
    n_missing : int
        The number of rows dropped because a value was missing.
    n_subset_dropped : int
        The number of rows outside the subset.
    weights_given : bool
        Whether there were weights.
    data : DataFrame
        What it was made of, not copied.
    weight_type : str
        "frequency", or "probability" for weights that were divided by their mean.
    grouping : Grouping or None
        Which rows belong together.
    """

    design: Design
    response: Response
    X: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    index: pd.Index
    rows: np.ndarray
    n_missing: int
    n_subset_dropped: int
    weights_given: bool
    data: pd.DataFrame
    _outcome: Expression
    _outcome_columns: dict[Hashable, Column]
    weight_type: str = "frequency"
    grouping: Grouping | None = None

    def __repr__(self) -> str:
        return f"<ModelFrame: {len(self.codes)} rows of {len(self.data)}, {len(self.design.column_names)} columns>"

    @property
    def own_names(self) -> dict[str, Any]:
        """What the names that are no columns stood for where the formula was read."""
        return {**self.design.own_names, **self._outcome.own}

    @property
    def y(self) -> np.ndarray:
        """(n,) +1 for the event, −1 otherwise; for a response of two levels."""
        return np.where(self.codes == self.response.event_code, 1.0, -1.0)

    @property
    def text_columns(self) -> tuple[Hashable, ...]:
        """The data columns that the formula reads as text."""
        kinds = {**self.design.kinds, **self._outcome_columns}
        return tuple(name for name, column in kinds.items() if column.expected == "text")

    @property
    def outcome_names(self) -> tuple[Hashable, ...]:
        """The data columns that the left side reads."""
        return tuple(self._outcome_columns)

    @property
    def read(self) -> pd.DataFrame:
        """The data columns that the formula reads, those of the response first, of the n rows."""
        columns = dict.fromkeys([*self.outcome_names, *self.design.predictors])
        return columns_called(self.data.iloc[self.rows], columns)

    def rows_of(self, data: pd.DataFrame) -> pd.DataFrame:
        """The n rows of the data of the fit that it used.

        Raises
        ------
        ArgumentTypeError, DataError
            If it is no DataFrame, or has other rows than that of the fit.
        """
        data = as_pandas("data", data)
        n = len(self.rows) + self.n_missing + self.n_subset_dropped
        if len(data) != n or not data.index[self.rows].equals(self.index):
            raise DataError("data does not have the rows of the fit: give the DataFrame that the fit was made from.")
        return data.iloc[self.rows]

    def observed(self, newdata: pd.DataFrame, counts: Callable[[Any], Any] | None = None) -> np.ndarray:
        """The position (m,) of the level of new rows, −1 where the response is missing.

        Of rows that do not count a new level is none: ``counts`` tells which do (m,) of those with a response (m,).

        Raises
        ------
        DataError
            If a column of the response is missing or of another type, or a level is new.
        """
        table = read_table("newdata", check_frame("newdata", newdata), self._outcome_columns)
        value = evaluate_new(self._outcome, table)
        if value.missing.all():
            return np.full(len(table), -1)
        codes = response_codes(self.response, value)
        unseen = (codes < 0) & ~value.missing
        if counts is not None and unseen.any():
            unseen &= counts(~value.missing)
        unknown = np.flatnonzero(unseen)
        if len(unknown):
            known = ", ".join(map(repr, self.response.levels))
            new = value.levels[value.data[unknown[0]]] if value.levels else value.data[unknown[0], 0].item()
            row = label_at(table.index, unknown[0])
            raise DataError(
                f"newdata has a new level of the response {self.response.name!r} in row {row!r}: not {known}, "
                f"but {new!r}."
            )
        return np.where(value.missing, -1, codes)


def build_design(  # noqa: PLR0913  the arguments of svm() that are about data
    formula: str,
    data: pd.DataFrame,
    *,
    weights: Any = None,
    weight_type: str = "frequency",
    groups: Any = None,
    subset: Any = None,
    event: object = None,
    na_action: str = "drop",
    scale: bool = True,
    drop_constant: bool = True,
    env: Mapping[str, Any] | None = None,
    ignored: Collection[Hashable] = (),
) -> ModelFrame:
    """Read a formula, and make the arrays of a fit from the data frame.

    The subset is taken first; then rows in which the response or a predictor is missing are dropped.

    Parameters
    ----------
    formula : str
        A patsy formula with two sides. It has no intercept: ``+ 0`` and ``- 1`` change nothing. Text,
        booleans, categories and ``C(...)`` are coded by all their levels. ``.`` stands for all columns that
        neither the response nor `weights` names.
    data : DataFrame
        One row for each observation.
    weights : Hashable or array_like, optional
        A column or one number >= 0 for each row of `data`; a Series must have the index of `data`. A row of
        weight 2 counts as two rows. A row of weight 0 stays but has no influence.
    weight_type : {"frequency", "probability"}
        Whether weights are repeats, or are divided by their mean over the rows that are used.
    groups : Hashable or array_like, optional
        A column or one label for each row of `data`: which rows belong together.
    subset : str or array_like of bool, optional
        The rows to use: a condition such as ``"depth > 100"``, or one boolean for each row of `data`. Where
        it is missing the row is not used.
    event : optional
        The positive level of the response; by default the last one, True, or the larger number.
    na_action : {"drop", "raise"}
        What to do about rows with missing values.
    scale : bool
        Whether to standardise columns other than 0/1 indicators, with weighted mean and standard deviation
        (divisor Σw − 1).
    drop_constant : bool
        Whether constant columns are dropped; False where the columns are those of a gram matrix.
    env : mapping, optional
        The caller's names, for functions and constants in the formula.
    ignored : collection of column names
        Further columns that ``.`` does not stand for.

    Returns
    -------
    ModelFrame
        X (n, p), codes (n,), weights (n,), and what is needed to do the same to new data.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument is not allowed.
    FormulaError
        If the formula or a condition cannot be read or evaluated; the message marks the place.
    DataError
        If the data do not fit: a missing column, an infinite value, one class, no row left.

    Warns
    -----
    DesignWarning
        If a column is constant, and dropped; a term is not a number where its columns are present; a column stands
        on both sides; ten levels or more read as numbers, measured or beside a mark of missing values; more than every
        second row has a level of its own, of text that reads as numbers or dates, or of 100 levels or more, as names
        of rows have; levels, or text that a column is compared with, differ by case or blanks alone; or more than a
        tenth of the weight is dropped for missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"y": ["no", "yes", "yes"], "x": [1.0, 2.0, 3.0], "side": ["l", "r", "l"]})
    >>> frame = build_design("y ~ x + side", data)
    >>> frame.design.column_names
    ('x', 'side[l]', 'side[r]')
    >>> frame.X
    array([[-1.,  1.,  0.],
           [ 0.,  0.,  1.],
           [ 1.,  1.,  0.]])
    >>> frame.y, frame.codes, frame.response.event
    (array([-1.,  1.,  1.]), array([0, 1, 1]), 'yes')
    """
    data = check_frame("data", data)
    names = _checked(data, na_action, scale, env)
    checks.one_of("weight_type", weight_type, WEIGHT_TYPES)
    given = group_labels(groups, data)
    own = (named_column("weights", weights, data), named_column("groups", groups, data, "label"))
    no_predictors = {*(name for name in own if name is not None), *ignored}
    parsed = parse(formula, [name for name in data.columns if name not in no_predictors], no_predictors)
    left, right = _bound(parsed, data, names)
    _tell_both_sides(left, right.values())
    used = dict.fromkeys(name for each in (left, *right.values()) for name in each.columns)
    predictors = tuple(dict.fromkeys(name for each in right.values() for name in each.columns))
    table = read_table("data", data, used)
    for each in (left, *right.values()):
        refuse_misread(each, table)
    warn_near_text((left, *right.values()), table)
    for each in right.values():
        refuse_rows_of_caller(each, table)

    inside = subset_rows(subset, data, names)
    chosen = np.flatnonzero(inside)
    w = case_weights(weights, data, inside)[chosen]
    n_inside, known = len(chosen), check_labels(given, data, chosen, na_action)
    chosen, w = chosen[known], w[known]
    if len(chosen) < len(table):
        table = table.take(chosen)
    distinct = {left.code: left, **right}
    probability = weight_type == "probability"
    shares = w / (w.max(initial=0.0) or 1.0)
    complete = evaluate_complete(list(distinct.values()), table, shares if probability else w, na_action)
    n_incomplete = len(table) - len(complete.rows)
    if n_incomplete:
        table = table.take(complete.rows)
    check_finite_columns("data", table, predictors)
    w = mean_one(w[complete.rows]) if probability else w[complete.rows]
    counted = w > 0

    outcome = complete.values[left.code]
    response = learn_response(left, outcome, label_type(left, outcome, data), counted, event, n_incomplete)

    factors = {code: learn_factor(each, complete.values[code], counted) for code, each in right.items()}
    for each in (left, *right.values()):
        warn_whole_column(each, complete.values[each.code], table)
    for expression, levels in ((left, response.levels), *((each.expression, each.levels) for each in factors.values())):
        warn_alike(expression, levels)
    tell_identifiers(factors.values(), int(np.count_nonzero(counted)))
    terms = tuple(_fitted(term, factors, complete.values) for term in parsed.terms)
    _refuse_width(parsed, terms)
    columns = term_columns("data", terms, complete.values, table.index)
    column_names = tuple(name for term in terms for name in term.column_names)
    scaling = learn_scaling(column_names, columns[counted], w[counted], bool(scale), drop_constant)
    dropped = tuple(name for name, keep in zip(column_names, scaling.keep, strict=True) if not keep)
    varies = bool(np.ptp(columns[counted][:, ~scaling.keep], axis=0).any())
    _tell_constant(dropped, len(column_names), varies)
    design = Design(
        formula=parsed.text,
        column_names=tuple(name for name, keep in zip(column_names, scaling.keep, strict=True) if keep),
        dropped=dropped,
        is_indicator=scaling.is_indicator,
        center=scaling.center,
        scale_=scaling.scale,
        predictors=predictors,
        _terms=terms,
        _columns={name: table.kinds[name] for name in predictors},
        _scaling=scaling,
    )
    return ModelFrame(
        design=design,
        response=response,
        X=scaling.apply(columns),
        codes=response_codes(response, outcome),
        weights=w,
        index=table.index,
        rows=chosen[complete.rows],
        n_missing=n_inside - len(complete.rows),
        n_subset_dropped=len(data) - n_inside,
        weights_given=weights is not None,
        data=data,
        _outcome=left,
        _outcome_columns={name: table.kinds[name] for name in left.columns},
        weight_type=weight_type,
        grouping=grouping_of(given, chosen[complete.rows], counted),
    )


def _checked(data: pd.DataFrame, na_action: object, scale: object, env: object) -> Mapping[str, Any]:
    """Check the arguments that need no data; the caller's names."""
    if not len(data):
        raise DataError("data has no rows.")
    checks.one_of("na_action", na_action, ("drop", "raise"))
    checks.flag("scale", scale)
    if env is not None and not isinstance(env, Mapping):
        raise ArgumentTypeError(f"env is of type {type(env).__name__}: it must be a mapping of names.")
    return {} if env is None else env


def _bound(parsed: Parsed, data: pd.DataFrame, names: Mapping[str, Any]) -> tuple[Expression, dict[str, Expression]]:
    """What the formula computes from the data: the response, and the factors of the right side by their code."""
    columns = computable(data)
    left = bind(parsed.response, columns, names)
    right: dict[str, Expression] = {}
    for source in (source for term in parsed.terms for source in _sources(term)):
        if source.code not in right:
            right[source.code] = bind(source, columns, names)
        same = left.column is not None and right[source.code].column == left.column
        if same or source.code == left.code:
            raise source.error(f"The response {left.code!r} is also a predictor.")
    return left, right


def _sources(term: tuple[Source, ...]) -> tuple[Source, ...]:
    """What a term is computed from: its factors, or the arguments of a smooth."""
    refuse_product(term)
    smoothing = read_smooth(term[0])
    return term if smoothing is None else smoothing.sources


def _fitted(term: tuple[Source, ...], factors: Mapping[str, Factor], values: Mapping[str, Value]) -> Term | Smooth:
    """A term of the formula with its factors."""
    smoothing = read_smooth(term[0])
    if smoothing is not None:
        return fit_smooth(smoothing, factors, values)
    return Term(tuple(factors[source.code] for source in term))


def _refuse_width(parsed: Parsed, terms: Iterable[Term | Smooth]) -> None:
    """Refuse a text from outside that asks for more columns than any fit could use, before they are made."""
    widths = (math.prod(factor.width for factor in term.factors) for term in terms if isinstance(term, Term))
    if not parsed.response.trusted and sum(widths) > MOST_TERMS:
        raise FormulaError(f"The formula asks for more than {MOST_TERMS} columns: {parsed.text}")


def _tell_both_sides(left: Expression, right: Iterable[Expression]) -> None:
    """Warn of columns from which both the response and a predictor are computed."""
    for column in left.columns:
        codes = [each.code for each in right if column in each.columns]
        if codes:
            warn(
                f"The column {column!r} stands on both sides of the formula, in the response {left.code!r} and in "
                f"{' and '.join(map(repr, codes))}: what the response is computed from predicts it without telling "
                "anything about it.",
                DesignWarning,
            )


def _tell_constant(dropped: tuple[str, ...], count: int, varies: bool) -> None:
    """Warn of constant columns, or refuse when there are no others."""
    listed = ", ".join(map(repr, dropped))
    but = f" Up to {CONSTANT:g} of values counts as rounding: subtract an offset if it is more." if varies else ""
    if len(dropped) == count:
        raise DataError(f"Every column of the design is constant: {listed}.{but}")
    if dropped:
        what = "The column is" if len(dropped) == 1 else f"{len(dropped)} columns are"
        warn(f"{what} constant and dropped: {listed}.{but}", DesignWarning)
