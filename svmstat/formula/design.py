"""The right side of a formula as it was fitted, ready to be applied to new data."""

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pandas as pd

from svmstat.errors import DataError
from svmstat.formula.columns import Column, check_frame, read_table
from svmstat.formula.evaluation import check_finite, check_finite_columns, evaluate_new
from svmstat.formula.factor import Term
from svmstat.formula.scaling import Scaling
from svmstat.formula.sides import two_sides
from svmstat.formula.smooth import Smooth, TermColumns
from svmstat.formula.values import Value


@dataclass(frozen=True, slots=True, eq=False)
class NewRows:
    """A design matrix for new data.

    Attributes
    ----------
    X : ndarray (n, p)
        One row for each row of the new data, in their order, scaled as at the fit; NaN where missing.
    missing : ndarray (n,) of bool
        The rows in which a predictor is missing.
    index : Index (n,)
        The row labels of the new data.
    """

    X: np.ndarray
    missing: np.ndarray
    index: pd.Index


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The design of a fit: how columns of numbers come from a data frame.

    Attributes
    ----------
    formula : str
        The formula, with ``.`` written out.
    column_names : tuple of p str
        The names of the design's columns: ``x``, ``a[north]``, ``a[north]:x``, ``bs(x, df=4)[0]``.
    dropped : tuple of str
        The names of the columns that were constant.
    is_indicator : ndarray (p,) of bool
        Whether a column held nothing but 0 and 1; such a column is not standardised.
    center, scale_ : ndarray (p,)
        What is subtracted from a column, and what it is divided by; 0 and 1 where nothing is done.
    predictors : tuple
        The data columns that the right side reads.
    """

    formula: str
    column_names: tuple[str, ...]
    dropped: tuple[str, ...]
    is_indicator: np.ndarray
    center: np.ndarray
    scale_: np.ndarray
    predictors: tuple[Hashable, ...]
    _terms: tuple[Term | Smooth, ...] = field(repr=False)
    _columns: dict[Hashable, Column] = field(repr=False)
    _scaling: Scaling = field(repr=False)

    @property
    def kinds(self) -> Mapping[Hashable, Column]:
        """The kinds of the data columns that it reads."""
        return self._columns

    @property
    def scaled(self) -> bool:
        """Whether any column was standardised."""
        return bool((self.center != 0).any() or (self.scale_ != 1).any())

    @property
    def own_names(self) -> dict[str, Any]:
        """What the names that are no columns stood for where the formula was read."""
        return {name: value for term in self._terms for f in term.factors for name, value in f.expression.own.items()}

    @property
    def columns_of(self) -> dict[str, tuple[Hashable, ...]]:
        """The data columns that each term reads."""
        return {
            term.name: tuple(dict.fromkeys(name for f in term.factors for name in f.expression.columns))
            for term in self._terms
        }

    def levels_of(self, column: Hashable, values: Collection[object]) -> tuple[object, ...] | None:
        """The levels of the first term, such as ``C(x)``, that has one for each of these values of a data column."""
        factors = [f for term in self._terms for f in term.factors if column in f.expression.columns]
        return next((f.levels for f in factors if f.levels and set(f.levels).issuperset(values)), None)

    @property
    def term_slices(self) -> dict[str, slice]:
        """Where the columns of each term stand in the design; an empty slice if all of them were constant.

        Examples
        --------
        >>> import pandas as pd
        >>> from svmstat.formula import build_design
        >>> data = pd.DataFrame({"y": [0, 1, 1], "x": [1.0, 2.0, 3.0], "g": ["a", "b", "b"]})
        >>> build_design("y ~ x + g + x:g", data).design.term_slices
        {'x': slice(0, 1, None), 'g': slice(1, 3, None), 'x:g': slice(3, 5, None)}
        """
        widths = [len(term.column_names) for term in self._terms]
        ends = np.concatenate([[0], np.cumsum(self._scaling.keep)])[np.cumsum([0, *widths])].tolist()
        return {term.name: slice(*both) for term, both in zip(self._terms, pairwise(ends), strict=True)}

    @property
    def additive(self) -> bool:
        """Whether the formula has a smooth term: the kernel is then a sum of one for each term."""
        return any(isinstance(term, Smooth) for term in self._terms)

    @property
    def is_plain(self) -> bool:
        """Whether the terms are the data columns `predictors` as they are, all of them numbers."""
        plain = (
            isinstance(term, Term) and len(term.factors) == 1 and term.factors[0].is_column for term in self._terms
        )
        return all(plain) and all(column.kind == "number" for column in self._columns.values())

    @property
    def terms(self) -> tuple[TermColumns, ...]:
        """The terms, each with its columns."""
        at, found = iter(np.cumsum(self._scaling.keep) - 1), []
        kept = iter(self._scaling.keep)
        for term in self._terms:
            widths = [factor.width for factor in term.factors]
            if isinstance(term, Term):
                widths = [int(np.prod(widths))]
            places = [zip(_next(at, width), _next(kept, width), strict=True) for width in widths]
            found.append(_columns_of(term, tuple(tuple(int(k) for k, keep in each if keep) for each in places)))
        return tuple(found)

    @property
    def named_slices(self) -> dict[str, slice]:
        """Where the columns of each name stand: those of the terms, and each column by its own name."""
        return {name: slice(k, k + 1) for k, name in enumerate(self.column_names)} | self.term_slices

    def without(self, gone: Collection[str]) -> "Design":
        """The design of the other terms, which have the numbers that they have here; there may be none.

        Examples
        --------
        >>> import pandas as pd
        >>> from svmstat.formula import build_design
        >>> data = pd.DataFrame({"y": [0, 1, 1], "x": [1.0, 2.0, 4.0], "z": [3.0, 2.0, 4.0]})
        >>> build_design("y ~ x + z + x:z", data).design.without(["x", "x:z"]).formula
        'y ~ z'
        """
        stays = np.array([term.name not in gone for term in self._terms])
        terms = tuple(term for term, stay in zip(self._terms, stays, strict=True) if stay)
        of_column = np.repeat(stays, [len(term.column_names) for term in self._terms])
        kept = of_column[self._scaling.keep]
        read = self.read_by([term.name for term in terms])
        scaling = self._scaling.of(of_column)
        return Design(
            formula=f"{two_sides(self.formula)[0]} ~ {' + '.join(term.name for term in terms) or '1'}",
            column_names=tuple(name for name, stay in zip(self.column_names, kept, strict=True) if stay),
            dropped=tuple(name for term in terms for name in term.column_names if name in self.dropped),
            is_indicator=scaling.is_indicator,
            center=scaling.center,
            scale_=scaling.scale,
            predictors=tuple(column for column in self.predictors if column in read),
            _terms=terms,
            _columns={column: kind for column, kind in self._columns.items() if column in read},
            _scaling=scaling,
        )

    def containing(self, name: str) -> tuple[str, ...]:
        """A term and those that contain it, as x:g contains x: what is dropped when it is."""
        own = next(term.codes for term in self._terms if term.name == name)
        return tuple(term.name for term in self._terms if term.name == name or own < term.codes)

    def read_by(self, names: Collection[str]) -> set[Hashable]:
        """The data columns that some terms read."""
        return {column for name, columns in self.columns_of.items() if name in names for column in columns}

    def transform(self, newdata: pd.DataFrame) -> NewRows:
        """Compute the design matrix of new data.

        Parameters
        ----------
        newdata : DataFrame (n, …)
            It must have the columns `predictors`; others are ignored.

        Returns
        -------
        NewRows
            n rows. Those of the fit give the very numbers of the fit.

        Raises
        ------
        ArgumentTypeError
            If it is not a DataFrame.
        DataError
            If a column is missing or of another type, or a value is infinite, a new level, or one that
            a term cannot take.

        Examples
        --------
        >>> import pandas as pd
        >>> from svmstat.formula import build_design
        >>> data = pd.DataFrame({"y": [0, 1, 1], "x": [1.0, 2.0, 3.0]})
        >>> design = build_design("y ~ x", data).design
        >>> design.transform(pd.DataFrame({"x": [4.0, None]})).X
        array([[ 2.],
               [nan]])
        """
        table = read_table("newdata", check_frame("newdata", newdata), self._columns)
        if not len(table):
            return NewRows(np.empty((0, len(self.column_names))), np.zeros(0, dtype=bool), table.index)
        check_finite_columns("newdata", table, self.predictors)
        expressions = {f.expression.code: f.expression for term in self._terms for f in term.factors}
        values = {code: evaluate_new(each, table) for code, each in expressions.items()}
        columns = term_columns("newdata", self._terms, values, table.index)
        missing = np.isnan(columns).any(axis=1)
        X = self._scaling.apply(columns)
        for place in np.flatnonzero(np.isinf(X).any(axis=0)):
            check_finite(f"newdata column {self.column_names[place]!r}, standardised,", X[:, place], table.index)
        X[missing] = np.nan
        return NewRows(X, missing, table.index)

    def of_numbers(self, numbers: np.ndarray) -> np.ndarray:
        """The design (m, p) of finite numbers (m, q) that are the columns `predictors`, where it `is_plain`.

        Raises
        ------
        DataError
            If a number is too large to be standardised.

        Examples
        --------
        >>> import pandas as pd
        >>> from svmstat.formula import build_design
        >>> data = pd.DataFrame({"y": [0, 1, 1], "x": [1.0, 2.0, 3.0]})
        >>> build_design("y ~ x", data).design.of_numbers(np.array([[4.0]]))
        array([[2.]])
        """
        X = self._scaling.apply(numbers)
        if not np.isfinite(X).all():
            row, column = np.argwhere(~np.isfinite(X))[0]
            name = self.column_names[column]
            raise DataError(f"newdata column {name!r}, standardised, is infinite in row {row.item()}.")
        return X


def _next(values: Iterator[Any], n: int) -> list[Any]:
    return list(islice(values, n))


def _columns_of(term: Term | Smooth, parts: tuple[tuple[int, ...], ...]) -> TermColumns:
    """A term with what its factors have of the design."""
    labels = tuple(factor.expression.code for factor in term.factors)
    if isinstance(term, Term):
        is_factor = len(term.factors) == 1 and bool(term.factors[0].levels)
        return TermColumns(term.name, "linear", parts, None, None, None, (term.name,), is_factor)
    asked = term.smoothing
    by = None if asked.by is None else parts[-1]
    arguments = parts if by is None else parts[:-1]
    is_factor = by is not None and bool(term.factors[-1].levels)
    return TermColumns(term.name, asked.kind, arguments, by, asked.kernel, asked.gamma, labels, is_factor)


def term_columns(
    where: str, terms: tuple[Term | Smooth, ...], values: Mapping[str, Value], index: pd.Index
) -> np.ndarray:
    """The columns (n, q) of all terms before scaling, given the value of each expression by its code.

    Raises
    ------
    DataError
        If a level is new or a number infinite.
    """
    factors = {factor.expression.code: factor for term in terms for factor in term.factors}
    blocks = {code: factor.columns(where, values[code]) for code, factor in factors.items()}
    for code, block in blocks.items():
        check_finite(f"{where} {factors[code].expression.label}", block, index)
    with np.errstate(over="ignore", invalid="ignore"):
        columns = np.hstack([term.columns(blocks) for term in terms])
    check_finite(f"{where}: a product of terms", columns, index)
    return columns
