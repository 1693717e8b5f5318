"""Code that means something else to Python than to who writes a formula or a condition."""

import ast
from collections.abc import Hashable, Iterable, Iterator

import numpy as np
import pandas as pd

from svmstat._tools.texts import as_read, how_alike
from svmstat._tools.warn import warn
from svmstat.errors import DesignWarning
from svmstat.formula.columns import Table, reads_as_number
from svmstat.formula.expression import Expression
from svmstat.formula.names import NO_NAME, called_name, quoted_by

_JOINS = ast.BitAnd | ast.BitOr
_ORDERS = ast.Lt | ast.LtE | ast.Gt | ast.GtE
_ASKS = frozenset({
    "isin", "between", "eq", "ne", "lt", "le", "gt", "ge", "greater", "greater_equal", "less", "less_equal", "equal",
    "not_equal", "isclose", "logical_and", "logical_or", "logical_xor", "logical_not", "startswith", "endswith",
    "contains", "match", "fullmatch", "isna", "isnull", "notna", "notnull", "isnan", "isfinite", "isinf",
})  # fmt: skip
"""Calls that answer by True or False in each row."""

_HOLDS = {"text": "text", "number": "numbers", "boolean": "True and False"}
"""What a message says that a column of a kind has."""


def has_power_of_r(code: str) -> bool:
    """Whether something is raised to a number with ``^``, which are exclusive bits in Python: with 1 they may be meant.

    Examples
    --------
    >>> has_power_of_r("I(age^2)"), has_power_of_r("age**2"), has_power_of_r("I(flag ^ True)"), has_power_of_r("k ^ 1")
    (True, False, False, False)
    """
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.BitXor)
        and isinstance(node.right, ast.Constant)
        and isinstance(node.right.value, int | float)
        and node.right.value not in (0, 1)
        for node in _nodes(code)
    )


def bits_compared(code: str) -> str | None:
    """What ``&``, ``|`` or ``~`` makes in one line before it is compared, where no brackets say that this is meant.

    Examples
    --------
    >>> bits_compared("age > 20 & smoke"), bits_compared("(age > 20) & smoke == 1")
    ('20 & smoke', '(age > 20) & smoke')
    >>> bits_compared("~age < 30")
    '~age'
    >>> bits_compared("(age > 20) & (smoke == 1)") is None, bits_compared("(flags & 4) > 0") is None
    (True, True)
    """
    text = code.encode()
    for comparison in _comparisons(code):
        for side in (comparison.left, *comparison.comparators):
            if isinstance(side, ast.BinOp | ast.UnaryOp) and isinstance(side.op, _JOINS | ast.Invert):
                before, after = text[: side.col_offset], text[side.end_col_offset :]
                if not (before.rstrip().endswith(b"(") and after.lstrip().startswith(b")")):
                    return text[side.col_offset : side.end_col_offset].decode()
    return None


def choice_of_constants(code: str) -> str | None:
    """What something is compared with that is meant as one of several values, and is a single one to Python.

    Examples
    --------
    >>> choice_of_constants("k == (1 or 2)"), choice_of_constants("k == ('a' | 'b')")
    ('1 or 2', "'a' | 'b'")
    >>> choice_of_constants("(k == 1) | (k == 2)") is None
    True
    """
    for comparison in _comparisons(code):
        for side in comparison.comparators:
            joined = isinstance(side, ast.BoolOp) or (isinstance(side, ast.BinOp) and isinstance(side.op, _JOINS))
            if joined and not any(isinstance(each, ast.Name) for each in ast.walk(side)):
                return ast.unparse(side)
    return None


def refuse_misread(expression: Expression, table: Table) -> None:
    """Refuse what columns of these kinds make of an expression, where its writer means something else.

    Parameters
    ----------
    expression : Expression
        A piece of a formula, or a condition.
    table : Table
        The data that it is first computed of.

    Raises
    ------
    FormulaError
        If conditions are added, which numpy joins by "or"; if a number is joined to a condition, which compares
        bits; or if numbers are compared with text, which differ in every row and have no order.
    """
    if expression.column is not None:
        return
    reader = _Reader(table)
    for node in _nodes(expression.code):
        readings = (reader.sum_of_conditions, reader.bits_of_numbers, reader.text_beside_numbers, reader.text_in_order)
        for find in readings:
            if told := find(node):
                raise expression.source.error(f"The term {expression.code!r} cannot be used: {told}.")


def warn_near_text(expressions: Iterable[Expression], table: Table) -> None:
    """Tell of text that is none of what its column is compared with in any of these, but for its case or blanks.

    Warns
    -----
    DesignWarning
    """
    reader = _Reader(table)
    compared: dict[Hashable, dict[str, str]] = {}
    for expression in expressions:
        for node in _nodes(expression.code) if expression.column is None else ():
            for column, text in reader.compared_text(node):
                compared.setdefault(column, {}).setdefault(text, expression.code)
    for column, codes in compared.items():
        near = next(_near(table.columns[column], list(codes)), None)
        if near is not None:
            held, asked, how = near
            warn(
                f"{codes[asked]!r} takes {held!r} for another value than {asked!r}, from which it differs by {how} "
                "alone.",
                DesignWarning,
            )


def _near(column: pd.Series, asked: list[str]) -> Iterator[tuple[str, str, str]]:
    """Text of a column that is none of what is asked, what of that it nearly is, and by what alone the two differ."""
    known = {as_read(each): each for each in asked}
    for held in column.dropna().unique().tolist():
        near = known.get(as_read(held)) if isinstance(held, str) else None
        if near is not None and held not in asked and (how := how_alike(held, near)):
            yield held, near, how


class _Reader:
    """What nodes mean where the names are the columns of a table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def _column(self, node: ast.AST) -> Hashable | None:
        name = quoted_by(node) if isinstance(node, ast.Call) else node.id if isinstance(node, ast.Name) else NO_NAME
        return name if name is not NO_NAME and name in self._table.kinds else None

    def _kind(self, node: ast.AST) -> str:
        column = self._column(node)
        return "" if column is None else self._table.kinds[column].expected

    def _is_condition(self, node: ast.AST) -> bool:
        match node:
            case ast.Compare():
                return True
            case ast.BinOp(op=ast.Add() | ast.Mult() | ast.BitAnd() | ast.BitOr() | ast.BitXor()):
                return self._is_condition(node.left) and self._is_condition(node.right)
            case ast.UnaryOp(op=ast.Invert()):
                return self._is_condition(node.operand)
            case ast.Call() if called_name(node) in _ASKS:
                return True
        return self._kind(node) == "boolean"

    def sum_of_conditions(self, node: ast.AST) -> str:
        """What is wrong about a sum of conditions."""
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and self._is_condition(node)):
            return ""
        left, right = ast.unparse(node.left), ast.unparse(node.right)
        return f"{left!r} + {right!r} is True where one of them is: 1 * (x > 0) + 1 * (z > 0) counts, | means or"

    def bits_of_numbers(self, node: ast.AST) -> str:
        """What is wrong about a number that is joined to a condition."""
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, _JOINS)):
            return ""
        for side, other in ((node.left, node.right), (node.right, node.left)):
            inverted = isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.Invert)
            number = side.operand if isinstance(side, ast.UnaryOp) and inverted else side
            if self._kind(number) == "number" and self._is_condition(other) and (inverted or self._counts(number)):
                name = ast.unparse(number)
                asks = f"({name} == 0)" if inverted else f"({name} > 0)"
                return f"& and | take the bits of the numbers {name!r}: write {asks}, or what is meant by it"
        return ""

    def _counts(self, node: ast.AST) -> bool:
        """Whether the numbers of a column are others than 0 and 1."""
        values = self._table.columns[self._column(node)].to_numpy(float)
        return not np.isin(values[~np.isnan(values)], (0, 1)).all()

    def text_beside_numbers(self, node: ast.AST) -> str:
        """What is wrong about a column and a value of another kind, which are never equal."""
        for column, constants in _equated(node):
            kind = self._kind(column)
            other: tuple[type, ...] = {"text": (int, float), "number": (str,), "boolean": (str,)}.get(kind, ())
            if other and constants and all(isinstance(each, other) for each in constants):
                held = self._table.columns[self._column(column)].dropna().head(1).tolist()
                such = f" such as {held[0]!r}" if held and kind != "boolean" else ""
                name, never = ast.unparse(column), repr(constants[0])
                return f"{name!r} holds {_HOLDS[kind]}{such}, which {never} is no value of"
        return ""

    def compared_text(self, node: ast.AST) -> Iterator[tuple[Hashable, str]]:
        """Columns of text, and each text that they are compared with for being equal."""
        for column, constants in _equated(node):
            if self._kind(column) == "text":
                yield from ((self._column(column), each) for each in constants if isinstance(each, str))

    def text_in_order(self, node: ast.AST) -> str:
        """What is wrong about text that is to be larger or smaller than a number, or a number than text."""
        if not (isinstance(node, ast.Compare) and any(isinstance(each, _ORDERS) for each in node.ops)):
            return ""
        operands = [node.left, *node.comparators]
        for column in operands:
            kind = self._kind(column)
            other: tuple[type, ...] = {"text": (int, float), "number": (str,)}.get(kind, ())
            beside = [each for each in operands if isinstance(each, ast.Constant) and isinstance(each.value, other)]
            if other and beside:
                values = self._table.columns[self._column(column)].dropna().tolist()
                held = [each for each in values if kind == "number" or not reads_as_number(each)] or values
                such = f" such as {held[0]!r}" if held else ""
                name, constant = ast.unparse(column), ast.unparse(beside[0])
                return f"{name!r} holds {_HOLDS[kind]}{such}, which is neither above nor below {constant}"
        return ""


def _equated(node: ast.AST) -> Iterator[tuple[ast.AST, list[object]]]:
    """What is compared with constants for being equal, or one of them."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            for one, other in ((left, right), (right, left)):
                if isinstance(other, ast.Constant):
                    yield one, [other.value]
        case ast.Call(func=ast.Attribute(value=owner, attr="isin"), args=[values]):
            yield owner, _constants(values)
        case ast.Call(args=[asked, values]) if called_name(node) == "isin":
            yield asked, _constants(values)


def _constants(node: ast.AST) -> list[object]:
    """The constants in brackets."""
    values = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else []
    return [each.value for each in values if isinstance(each, ast.Constant)]


def _nodes(code: str) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(code, mode="eval"))


def _comparisons(code: str) -> list[ast.Compare]:
    return [node for node in _nodes(code) if isinstance(node, ast.Compare)]
