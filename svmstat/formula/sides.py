"""The two sides of a formula, of which the left may be left out where the response comes by itself."""

import re
from collections.abc import Collection, Hashable

from patsy import PatsyError
from patsy.parse_formula import parse_formula

from svmstat.errors import ArgumentTypeError, DataError, FormulaError
from svmstat.formula.names import read_names
from svmstat.formula.parse import quoted, syntax_error
from svmstat.formula.source import Untrusted, one_line


def right_side(formula: str) -> str:
    """The right side as a formula without a left one.

    Examples
    --------
    >>> right_side("egg_count > 0 ~ lon + lat")
    '~ lon + lat'
    """
    return _as(formula, f"~ {two_sides(formula)[1]}")


def with_response(formula: str, name: str, columns: Collection[Hashable]) -> tuple[str, str]:
    """A formula of two sides for a response that is no column of the data, and what the response is called.

    Parameters
    ----------
    formula : str
        The right side, ``"x + z"`` or ``"~ x + z"``; or both, the left being a name.
    name : str
        What the response is called where the formula does not say it; with an underscore if a column is called so, or
        the formula speaks of something of this name, which the response is not.
    columns : collection
        The columns of the data.

    Raises
    ------
    ArgumentTypeError, FormulaError
        If it is no text, cannot be read, or has a left side that is no name.
    DataError
        If its left side is a column.

    Examples
    --------
    >>> with_response("x + z", "mean depth", ["x", "z"])
    ('Q("mean depth") ~ x + z', 'mean depth')
    >>> with_response("y ~ .", "egg", ["x", "z"])
    ('y ~ .', 'y')
    """
    left, right = two_sides(formula)
    if left is None:
        while name in columns or speaks_of(name, right):
            name += "_"
        return _as(formula, f"{quoted(name)} ~ {right}"), name
    given = _name_of(left)
    if given is None:
        raise FormulaError(
            f"formula={formula!r} is not allowed: its left side can be a name for y, and y is given by itself; "
            f"compute {left!r} beforehand."
        )
    if given in columns:
        raise DataError(f"X has the column {given!r}, which the formula has as the response: drop it, y is given.")
    return formula, given


def speaks_of(column: object, asked: str) -> bool:
    """Whether the name of a column stands in a text, and not in the middle of another name."""
    return re.search(rf"(?<!\w){re.escape(str(column))}(?!\w)", asked) is not None


def two_sides(formula: str) -> tuple[str | None, str]:
    """What stands left (None if nothing does) and right of the tilde.

    Raises
    ------
    ArgumentTypeError, FormulaError
        If it is no text or cannot be read.

    Examples
    --------
    >>> two_sides("I(~event) ~ lon + lat")
    ('I(~event)', 'lon + lat')
    """
    if not isinstance(formula, str):
        raise ArgumentTypeError(f"formula={formula!r} is not allowed: it must be text such as 'x1 + x2'.")
    text = one_line(formula)
    try:
        tree = parse_formula(text)
    except PatsyError as error:
        raise syntax_error(error, text) from error
    if tree.token is None:
        return None, text
    place = tree.token.origin.start
    left = text[:place].strip()
    return (left or None), text[place + 1 :].strip()


def _name_of(code: str) -> str | None:
    """The column that the code is, if it is nothing but a name; None otherwise."""
    try:
        names = read_names(code)
    except SyntaxError:
        return None
    return str(names.values[0]) if names.alone and names.values else None


def _as(formula: str, text: str) -> str:
    """The text, of somebody else's if the formula is."""
    return Untrusted(text) if isinstance(formula, Untrusted) else text
