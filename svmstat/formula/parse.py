"""The text of a formula, read into a response and terms that remember their place in it."""

import ast
import json
import keyword
import re
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from tokenize import TokenError
from typing import Any

import numpy as np
from patsy import PatsyError
from patsy.desc import INTERCEPT, EvalFactor, IntermediateExpr, Term
from patsy.infix_parser import ParseNode
from patsy.parse_formula import parse_formula

from svmstat._tools.checks import ended
from svmstat.errors import ArgumentTypeError, FormulaError
from svmstat.formula.functions import COUNTS
from svmstat.formula.meaning import bits_compared, choice_of_constants, has_power_of_r
from svmstat.formula.names import NO_NAME, column_named, read_names
from svmstat.formula.source import Source, marked, one_line
from svmstat.formula.terms import NO_POWER, DotReader, TermReader, nodes

_NUMBERS = {"inf", "infinity", "nan"}  # names that patsy reads as numbers

_IN, _DOT_POWER = re.compile(r"%\s*in\s*%"), re.compile(r"\.\s*\^")
_R_NAMES = "the names that R puts between backticks are written Q('...') here"

_UNREAD = "something in it is no expression of Python, or its brackets are nested too deeply"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A formula taken apart into its response and its terms.

    Attributes
    ----------
    text : str
        The formula with ``.`` written out.
    response : Source
        The left side.
    terms : tuple of tuple of Source
        The right side without its intercept: each term is the tuple of its factors.
    """

    text: str
    response: Source
    terms: tuple[tuple[Source, ...], ...]


def parse(formula: str, columns: Sequence[Hashable], others: Iterable[Hashable] = ()) -> Parsed:
    """Take a formula apart into its response and its terms.

    Parameters
    ----------
    formula : str
        A patsy formula; ``.`` stands for all columns that the left side does not use.
    columns : sequence
        The columns that ``.`` chooses from.
    others : iterable
        Columns that it does not, which may be taken away all the same, as those of the left side may.

    Returns
    -------
    Parsed
        Response and terms.

    Raises
    ------
    ArgumentTypeError
        If the formula is not text.
    FormulaError
        If it cannot be read, or has no left side, several responses or no predictors.

    Examples
    --------
    >>> parse("y > 0 ~ . - b", ["y", "a", "b", "mean depth"]).text
    'y > 0 ~ a + Q("mean depth")'
    """
    if not isinstance(formula, str):
        raise ArgumentTypeError(f"formula={formula!r} is not allowed: it must be text such as 'y ~ x1 + x2'.")
    text = one_line(formula)
    try:
        tree = parse_formula(text)
        if len(tree.args) != 2:
            raise _all_of(text).error("The formula has no response: write 'response ~ predictors'.")
        response = _response(TermReader().eval(tree.args[0]), tree.args[0], text)
        used = frozenset(_names(response).values)
        free = [name for name in columns if name not in used]
        right = DotReader(lambda dot: _all_columns(free, dot), used.union(others)).eval(tree.args[1])
    except PatsyError as error:
        raise syntax_error(error, text) from error
    except (AssertionError, TokenError) as error:  # what patsy makes of an error that it does not know, of Python 3.12
        raise _all_of(text).error(f"The formula cannot be read: {_R_NAMES if '`' in text else _UNREAD}.") from error
    terms = tuple(tuple(_source(f, text) for f in term.factors) for term in right.terms if term != INTERCEPT)
    if not terms:
        raise _all_of(text).error("The formula has no predictors.")
    if any(node.type == "PYTHON_EXPR" and node.token.extra == "." for node in nodes(tree)):
        text = f"{response.code} ~ " + " + ".join(":".join(factor.code for factor in term) for term in terms)
    return Parsed(text, response, terms)


def _all_columns(columns: Sequence[Hashable], dot: Any) -> list[Term]:
    """The term of each column that ``.`` stands for."""
    codes = [quoted(name) for name in columns]
    for name, code in zip(columns, codes, strict=True):
        if code is None:
            named = f"'.' stands for the column {name!r}, whose name (of type {type(name).__name__})"
            raise PatsyError(f"{named} no formula can write: rename it, as data.rename(columns=str) does", dot)
    return [Term([EvalFactor(code, dot.origin)]) for code in codes if code is not None]


def quoted(name: Hashable) -> str | None:
    """A column's name as code: itself if Python can read it, else in ``Q("...")``; None if that cannot say it."""
    if isinstance(name, str):
        plain = name.isidentifier() and not keyword.iskeyword(name) and name.lower() not in _NUMBERS
        if plain and unicodedata.normalize("NFKC", name) == name:
            return name
        return f"Q({json.dumps(name, ensure_ascii=False)})"  # a JSON string is a Python string
    if isinstance(name, np.generic):
        name = name.item()
    try:
        known = column_named(ast.parse(repr(name), mode="eval").body) is not NO_NAME
    except SyntaxError:
        known = False
    return f"Q({name!r})" if known else None


def _response(left: IntermediateExpr, tree: ParseNode, text: str) -> Source:
    factors = [factor for term in left.terms for factor in term.factors]
    if not factors:
        raise _all_of(text).error("The formula has no response: write 'response ~ predictors'.")
    if len(factors) > 1:
        sources = [_source(factor, text) for factor in factors]
        whole = Source("", text, min(s.start for s in sources), max(s.end for s in sources))
        has = f"{len(factors)} terms" if len(left.terms) > 1 else "a product of columns"
        raise whole.error(
            f"The formula has {has} on its left side where one is allowed; "
            f"arithmetic and logic go inside I(...). If they are counts: {COUNTS}."
        )
    if tree.type != "PYTHON_EXPR":
        whole = Source("", text, tree.origin.start, tree.origin.end)
        raise whole.error(
            f"The formula cannot be read: {tree.type!r} on its left side would make terms and compute nothing; "
            "arithmetic and logic go inside I(...)."
        )
    return _source(factors[0], text)


def _source(factor: EvalFactor, text: str) -> Source:
    """The code of a factor, which must be one Python expression."""
    source = Source(factor.code, text, factor.origin.start, factor.origin.end)
    _names(source)
    return source


def _names(source: Source, what: str = "formula") -> Any:
    try:
        if what == "formula" and has_power_of_r(source.code):
            raise source.error(f"The {what} cannot be used: {NO_POWER}.")
        if joined := bits_compared(source.code):
            raise source.error(
                f"The {what} cannot be used: {joined!r} is what Python computes first, and then compares. Comparisons "
                "that & and | join stand in brackets, as in I((x > 0) & (z > 0)), so does one after ~, and so do bits "
                "that are compared."
            )
        if several := choice_of_constants(source.code):
            raise source.error(
                f"The {what} cannot be used: {several!r} is one value to Python; np.isin(x, [1, 2]) asks row by row."
            )
        return read_names(source.code)
    except SyntaxError as error:
        unread = f"The {what} cannot be read: {source.code!r} is not an expression{_instead_of(source.code)}."
        raise source.error(unread) from error
    except (RecursionError, MemoryError) as error:
        raise source.nested() from error


def _instead_of(code: str) -> str:
    """What to write for code that Python cannot read."""
    if code.startswith("`"):
        return f": {_R_NAMES}"
    if _DOT_POWER.match(code):
        return f": {NO_POWER}; .**2 is of all columns, and in it '.' must stand by itself"
    if _IN.search(code):
        return ": a %in% b of R is a:b here, and np.isin(x, [...]) asks row by row"
    if code.startswith("as.factor("):
        return ": as.factor() of R is C() here"
    if code and all(word.isidentifier() for word in code.split()):
        return f": a column of that name is written Q({code!r})"
    return " ('.' must stand by itself, outside any function)" if "." in code else ""


def whole(text: str) -> Source:
    """A text as one piece of code.

    Raises
    ------
    FormulaError
        If it is not one Python expression.
    """
    source = _all_of(one_line(text))
    _names(source, "condition")
    return source


def _all_of(text: str) -> Source:
    return Source(text, text, 0, max(len(text), 1))


def syntax_error(error: PatsyError, text: str) -> FormulaError:
    """What patsy found wrong, at its place in the text."""
    place = error.origin
    shown = marked(place.code, place.start, place.end) if place is not None else f"    {text}"
    message = NO_POWER if "'^" in error.message else error.message
    if message.startswith("expected an operator") and message.partition("not '")[2][:1] in ("&", "|"):
        message += "; comparisons that are joined stand inside I(...), as in I((x > 0) & (z > 0))"
    if "tokenizing" in error.message and "`" in text:
        message = _R_NAMES
    return FormulaError(f"{ended(f'The formula cannot be read: {message}')}\n{shown}")
