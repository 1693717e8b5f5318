"""Factors and terms as they were fitted: which columns they give, and their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from svmstat._tools.texts import how_alike
from svmstat._tools.warn import warn
from svmstat.errors import DataError, DesignWarning
from svmstat.formula.columns import new_levels
from svmstat.formula.expression import Expression
from svmstat.formula.values import Level, Value


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of a term: numbers in ``width`` columns, or one 0/1 column for each of its levels.

    Attributes
    ----------
    expression : Expression
        What it is computed from.
    levels : tuple
        The levels present in the rows of the fit, in their order; empty for numbers.
    width : int
        The number of columns.
    """

    expression: Expression
    levels: tuple[Level, ...]
    width: int

    @property
    def is_column(self) -> bool:
        """Whether it is a column of the data as it is."""
        return not self.levels and self.expression.column is not None

    @property
    def column_names(self) -> tuple[str, ...]:
        """One name for each column, in patsy's manner: ``x``, ``a[north]``, ``bs(x, df=4)[0]``."""
        code = self.expression.code
        if not self.levels and self.width == 1:
            return (code,)
        return tuple(f"{code}[{item}]" for item in self.levels or range(self.width))

    def columns(self, where: str, value: Value) -> np.ndarray:
        """The columns (n, width) that the factor gives for a value of its expression.

        Parameters
        ----------
        where : str
            What the messages call the data, such as ``newdata``.
        value : Value
            The expression on n rows.

        Returns
        -------
        ndarray (n, width)
            NaN where the value is missing.

        Raises
        ------
        DataError
            If there is a level that the fit has not seen, or another kind of value.
        """
        if value.missing.all():
            return np.full((len(value.missing), self.width), np.nan)
        what = f"{where} {self.expression.label}"
        if not self.levels:
            if value.kind != "number" or value.data.shape[1] != self.width:
                got = f"{value.data.shape[1]} columns" if value.kind == "number" else value.kind
                raise DataError(f"{what} gives {got}; at the fit it gave numbers in {self.width} column(s).")
            return value.data
        if value.kind == "number":
            raise DataError(f"{what} gives numbers; at the fit it gave the levels {_listed(self.levels)}.")
        codes = positions(value, self.levels)
        unseen = (codes < 0) & ~value.missing
        if unseen.any():
            present = np.unique(value.data[unseen])
            raise new_levels(what, [value.levels[code] for code in present], self.levels)
        columns = (codes[:, None] == np.arange(self.width)).astype(float)
        columns[value.missing] = np.nan
        return np.asarray(columns)


@dataclass(frozen=True, slots=True)
class Term:
    """A product of factors: every column of the one times every column of the other.

    The columns of the first factor vary fastest.
    """

    factors: tuple[Factor, ...]

    @property
    def name(self) -> str:
        """The term as a formula has it, such as ``a:x``."""
        return ":".join(factor.expression.code for factor in self.factors)

    @property
    def codes(self) -> frozenset[str]:
        """What it multiplies."""
        return frozenset(factor.expression.code for factor in self.factors)

    @property
    def column_names(self) -> tuple[str, ...]:
        """One name for each column, such as ``a[north]:x``."""
        names: tuple[str, ...] = self.factors[0].column_names
        for factor in self.factors[1:]:
            names = tuple(f"{left}:{right}" for right in factor.column_names for left in names)
        return names

    def columns(self, blocks: Mapping[str, np.ndarray]) -> np.ndarray:
        """The columns (n, k), given those of each factor by its code."""
        result = blocks[self.factors[0].expression.code]
        for factor in self.factors[1:]:
            right = blocks[factor.expression.code]
            result = (right[:, :, None] * result[:, None, :]).reshape(len(result), -1)
        return result


def learn_factor(expression: Expression, value: Value, counted: np.ndarray) -> Factor:
    """Make a factor of an expression: its levels are those that its value has at the fit.

    Parameters
    ----------
    expression : Expression
        What it is computed from.
    value : Value
        Its value on n rows, none missing.
    counted : ndarray (n,) of bool
        The rows of positive weight; levels that only the others have are unknown.

    Raises
    ------
    DataError
        If a row of weight zero has such a level.
    """
    if value.kind == "number":
        return Factor(expression, (), value.data.shape[1])
    codes = np.unique(value.data[counted])
    present = tuple(value.levels[code] for code in codes)
    unseen = np.setdiff1d(value.data[~counted], codes)
    if len(unseen):
        what = f"data {expression.label}, in rows of weight zero,"
        raise new_levels(what, [value.levels[code] for code in unseen], present)
    return Factor(expression, present, len(present))


def warn_alike(expression: Expression, levels: Sequence[Level]) -> None:
    """Tell of levels that look the same in any printout, as 1 and "1" do, or differ by case alone, or are blank.

    Warns
    -----
    DesignWarning
    """
    seen: dict[str, list[Level]] = {}
    for level in levels:
        seen.setdefault(" ".join(str(level).split()), []).append(level)
    blank, alike = seen.get("", []), next((each for each in seen.values() if len(each) > 1), [])
    if alike:
        named, texts = " and ".join(map(repr, alike[:2])), all(isinstance(level, str) for level in alike)
        how, remedy = ("blanks", ".str.strip()") if texts else ("type", ".astype(str)")
        advice = f"printouts show them alike, and {remedy} of the column makes them one."
        warn(f"data {expression.label} has levels that differ by {how} alone, {named}: {advice}", DesignWarning)
    elif differ := differ_by_case(levels):
        advice = "if they are one, .str.lower() of the column makes them so."
        warn(f"data {expression.label} has levels that differ by case alone, {differ}: {advice}", DesignWarning)
    elif blank:
        told = f"data {expression.label} has a level that is blank, {blank[0]!r}"
        warn(f"{told}: if it stands for a missing value, make it None.", DesignWarning)


def differ_by_case(levels: Sequence[Level]) -> str:
    """The first two levels that do so alone, ``""`` if none do."""
    for one, other in pairwise(sorted((each for each in levels if isinstance(each, str)), key=str.casefold)):
        if how_alike(one, other) == "case":
            return f"{one!r} and {other!r}"
    return ""


def positions(value: Value, levels: tuple[Level, ...]) -> np.ndarray:
    """The position of each row among these levels: (n,) int, −1 where missing or none of them."""
    known = {level: code for code, level in enumerate(levels)}
    table = np.array([*(known.get(level, -1) for level in value.levels), -1], dtype=np.intp)
    return np.asarray(table[value.data])


def _listed(levels: tuple[Level, ...]) -> str:
    return ", ".join(map(repr, levels))
