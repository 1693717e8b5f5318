"""What a formula from outside Python may say: a white list over its syntax tree.

A formula that is written in Python may call whatever its writer can call. One that comes from a command line or a file
is someone else's text, and must not be able to do anything but compute columns from columns. It may have

- columns of the data, also as ``Q("name")``; numbers, text, True, False and None;
- arithmetic, comparisons, and ``&``, ``|``, ``~``; text can be compared, but not computed with;
- numpy's functions of single values, as ``np.log(x)`` or those that need no ``np.`` in any formula, with as many
  arguments as they have inputs, and the numbers np.pi, np.e, np.nan and np.inf;
- patsy's functions and contrasts, ns and poly, and the smooths s, te and ti, with constants as the arguments that have
  names.

Whatever is not on this list is refused before anything is evaluated: attributes, methods, subscripts, other functions,
constants that no 64-bit number holds, such as 9**9**9, and splines of very many columns.
"""

import ast
import builtins
import math
import operator
from collections.abc import Hashable, Mapping
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from svmstat._tools.checks import nearest
from svmstat.formula.functions import ADVICE, FALLBACK, PATSY
from svmstat.formula.names import NO_NAME, called_name, column_named
from svmstat.formula.source import Source

_UFUNCS = """
    add subtract multiply divide true_divide floor_divide mod remainder fmod power float_power reciprocal
    negative positive absolute abs fabs sign square sqrt cbrt hypot heaviside copysign
    exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2
    sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh degrees radians deg2rad rad2deg
    floor ceil trunc rint maximum minimum fmax fmin
    equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not logical_xor
    isnan isfinite isinf signbit
"""
# numpy's functions of single values, with the least and the largest number of their arguments: no `out` among them.
NUMPY = {name: (getattr(np, name).nin,) * 2 for name in _UFUNCS.split()}
NUMPY |= {"where": (3, 3), "clip": (3, 3), "round": (1, 2), "isin": (2, 2), "nan_to_num": (1, 1), "sinc": (1, 1)}
NUMBERS = ("pi", "e", "nan", "inf")

SPLINES = ("bs", "cc", "cr", "ns", "poly")
TRANSFORMS = ("C", "I", "te", "center", "scale", "standardize", *SPLINES)
CONTRASTS = ("Treatment", "Poly", "Sum", "Helmert", "Diff")
_KEYWORDS = """
    df degree knots include_intercept lower_bound upper_bound constraints
    contrast levels reference scores omit center rescale ddof raw
"""
KEYWORDS = frozenset(_KEYWORDS.split())
# Splines of more columns than this, or of a higher degree, cost more memory than they could be worth.
MOST_COLUMNS = 100

_MODULES = ("np", "numpy")
_BARE = {name: function for name, function in FALLBACK.items() if name in NUMPY}
_NUMPY = SimpleNamespace(**{name: getattr(np, name) for name in (*NUMPY, *NUMBERS)})
# All that an evaluation sees beside the columns.
NAMES: dict[str, Any] = {name: (FALLBACK | PATSY)[name] for name in (*TRANSFORMS, *CONTRASTS)}
NAMES |= _BARE | dict.fromkeys(_MODULES, _NUMPY)

_ARITHMETIC: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
LOGIC = "join conditions by & and |, negate by ~, each in its own parentheses, in a formula all of it inside I(...)"
_FOUND = {
    ast.Lambda: "'lambda'",
    ast.IfExp: "'if ... else' (np.where(condition, a, b) chooses row by row)",
    ast.BoolOp: f"'and' or 'or' ({LOGIC})",
    ast.Not: f"'not' ({LOGIC})",
    ast.In: "'in' (np.isin(x, [...]) asks row by row)",
    ast.NotIn: "'not in' (~np.isin(x, [...]) asks row by row)",
    ast.Is: "'is'",
    ast.IsNot: "'is not'",
    ast.NamedExpr: "':='",
    ast.JoinedStr: "An f-string",
    ast.ListComp: "A comprehension",
    ast.SetComp: "A comprehension",
    ast.DictComp: "A comprehension",
    ast.GeneratorExp: "A comprehension",
    ast.Subscript: "A subscript [...]",
    ast.Starred: "'*' before an argument",
    ast.List: "A list where a column or a number is needed",
    ast.Tuple: "A tuple where a column or a number is needed",
    ast.Dict: "A dictionary",
    ast.Set: "A set",
    ast.LShift: "'<<'",
    ast.RShift: "'>>'",
    ast.MatMult: "'@'",
}

# What a visit returns for all that is no constant: columns, and what numpy and patsy make of anything.
_ARRAY = object()


class Sealed(dict[str, Any]):
    """The outermost namespace of an evaluation: nothing is beyond it, Python's own functions included."""

    def __missing__(self, name: str) -> NoReturn:
        raise NameError(f"name {name!r} is not defined")


def check(source: Source, columns: Mapping[Hashable, bool]) -> None:
    """Refuse an expression that is not on the white list; nothing is evaluated.

    Parameters
    ----------
    source : Source
        One Python expression: a factor, a response or a condition.
    columns : mapping
        The columns of the data, each with whether it can be computed with, holding numbers or booleans.

    Raises
    ------
    FormulaError
        It names what was found, and marks the place.

    Examples
    --------
    >>> check(Source("np.log(x + 1)", "y ~ np.log(x + 1)", 4, 17), {"x": True})
    >>> check(Source("x.values", "y ~ x.values", 4, 12), {"x": True})
    Traceback (most recent call last):
        ...
    svmstat.errors.FormulaError: The attribute '.values' is not allowed in a formula from outside Python: ...
    """
    try:
        _Reader(source, columns).visit(ast.parse(source.code, mode="eval").body)
    except RecursionError as error:
        raise source.nested() from error


class _Reader(ast.NodeVisitor):
    """A walk that refuses what it does not know; a visit returns the value of a constant, or else _ARRAY."""

    def __init__(self, source: Source, columns: Mapping[Hashable, bool]) -> None:
        self._source = source
        self._columns = columns
        self._computing = False

    def generic_visit(self, node: ast.AST) -> NoReturn:
        self._refuse(_FOUND.get(type(node), type(node).__name__))

    def visit_Constant(self, node: ast.Constant) -> object:
        match node.value:
            case bool() | int() | float():
                return self._sized(node.value, node)
            case None | str():
                if self._computing:
                    self._refuse_text(repr(node.value))
                return node.value
        return self._refuse(f"The constant {node.value!r}")

    def visit_Name(self, node: ast.Name) -> object:
        if node.id in self._columns:
            return self._column(node.id)
        if node.id in PATSY or node.id in FALLBACK or hasattr(builtins, node.id):
            self._refuse(f"{node.id!r}, which is no column of the data,")
        return _ARRAY  # a name of nothing: whoever binds it says so

    def visit_Attribute(self, node: ast.Attribute) -> object:
        if self._is_numpy(node.value) and node.attr in NUMBERS:
            return getattr(np, node.attr)
        return self._refuse_attribute(node, "The attribute", "")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> object:
        if type(node.op) not in _ARITHMETIC:
            self.generic_visit(node.op)
        return self._calculated(node, self._visit(node.operand, computing=True))

    def visit_BinOp(self, node: ast.BinOp) -> object:
        if type(node.op) not in _ARITHMETIC:
            self.generic_visit(node.op)
        return self._calculated(node, *(self._visit(side, computing=True) for side in (node.left, node.right)))

    def visit_Compare(self, node: ast.Compare) -> object:
        for each in node.ops:
            if not isinstance(each, _COMPARISONS):
                self.generic_visit(each)
        sides = [self._visit(side, computing=False) for side in (node.left, *node.comparators)]
        if _ARRAY not in sides:
            self._refuse("A comparison of constants")
        return _ARRAY

    def visit_Call(self, node: ast.Call) -> object:
        name = called_name(node)
        for keyword in node.keywords:
            if keyword.arg not in KEYWORDS:
                self._refuse(f"The argument {keyword.arg!r} of {name!r}" if keyword.arg else "'**' before an argument")
        match node.func:
            case ast.Attribute(value=value) if self._is_numpy(value) and name in NUMPY:
                self._check_numpy(node, f"np.{name}", name)
            case ast.Attribute():
                self._refuse_attribute(node.func, "The method", "()")
            case ast.Name(id="Q"):
                self._check_column(node)
            case ast.Name(id="I") if len(node.args) == 1 and not node.keywords:
                return self.visit(node.args[0])
            case ast.Name() if name in TRANSFORMS:
                self._check_transform(node, name)
            case ast.Name() if name in _BARE:
                self._check_numpy(node, name, name)
            case ast.Name():
                near = "" if hasattr(builtins, name) else nearest(name, [*TRANSFORMS, *_BARE]).removeprefix("; ")
                advice = ADVICE.get(name, near)
                self._refuse(f"The function {name!r}" + f" ({advice})" * bool(advice))
            case _:
                self._refuse("The call of what an expression gives")
        return _ARRAY

    # The parts of a call

    def _check_column(self, node: ast.Call) -> None:
        name = column_named(node.args[0]) if len(node.args) == 1 and not node.keywords else NO_NAME
        if name is NO_NAME:
            self._refuse("Q() of anything but one name in quotes")
        if name in self._columns:
            self._column(name)

    def _check_numpy(self, node: ast.Call, shown: str, name: str) -> None:
        least, most = NUMPY[name]
        if node.keywords or not least <= len(node.args) <= most:
            number = f"{least}" if least == most else f"{least} or {most}"
            self._refuse(f"{shown!r} with other arguments than its {number} input{'s'[: most > 1]}")
        for argument in node.args:
            if name == "isin" and isinstance(argument, ast.List | ast.Tuple):
                self._check_constant(argument)
            else:
                self._visit(argument, computing={"isin": False, "where": self._computing}.get(name, True))

    def _check_transform(self, node: ast.Call, name: str) -> None:
        if name in SPLINES and len(node.args) > 2:
            self._refuse(f"{name!r} with more than two arguments that have no name")
        sizes = [*node.args[1:], *(each.value for each in node.keywords if each.arg in ("df", "degree"))]
        for size in sizes if name in SPLINES else ():
            number = self._visit(size, computing=False)
            if number is not None and not (isinstance(number, int | float) and number <= MOST_COLUMNS):
                self._refuse(f"{name!r} with a df or degree that is no number up to {MOST_COLUMNS}")
        if name in SPLINES and any(len(each) > MOST_COLUMNS for each in _lists(node)):
            self._refuse(f"{name!r} with more than {MOST_COLUMNS} knots")
        if name == "te" and math.prod(map(_most_columns, node.args)) > MOST_COLUMNS**2:
            self._refuse(f"te() of splines with more than {MOST_COLUMNS**2} columns in all")
        for position, argument in enumerate(node.args):
            if name == "C" and position:
                self._check_constant(argument)
            else:
                self._visit(argument, computing=self._computing or name not in ("C", "I", "te"))
        for keyword in node.keywords:
            self._check_constant(keyword.value)

    def _check_constant(self, node: ast.expr) -> None:
        """A constant, a list of constants, or a contrast."""
        match node:
            case ast.List() | ast.Tuple():
                parts = node.elts
            case ast.Name() if node.id in CONTRASTS:
                parts = []
            case ast.Call(func=ast.Name(id=name)) if name in CONTRASTS:
                parts = [*node.args, *(keyword.value for keyword in node.keywords)]
            case _:
                parts = []
                if self._visit(node, computing=False) is _ARRAY:
                    self._refuse("A computed value where a constant is needed")
        for part in parts:
            self._check_constant(part)

    # Columns and numbers

    def _is_numpy(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in _MODULES and node.id not in self._columns

    def _column(self, name: Hashable) -> object:
        if self._computing and not self._columns[name]:
            self._refuse_text(f"the column {name!r}")
        return _ARRAY

    def _visit(self, node: ast.expr, *, computing: bool) -> Any:
        """Visit an operand, of arithmetic or not."""
        before, self._computing = self._computing, computing
        value = self.visit(node)
        self._computing = before
        return value

    def _calculated(self, node: ast.UnaryOp | ast.BinOp, *numbers: Any) -> object:
        """What an operation on numbers gives, without the work of one that is too large."""
        if _ARRAY in numbers:
            return _ARRAY
        power = isinstance(node.op, ast.Pow) and all(isinstance(number, int) for number in numbers)
        if power and abs(numbers[0]) > 1 and numbers[1] * math.log2(abs(numbers[0])) > 64:
            self._refuse_size(node)
        try:
            return self._sized(_ARITHMETIC[type(node.op)](*numbers), node)
        except (ArithmeticError, TypeError):
            self._refuse_size(node)

    def _sized(self, number: Any, node: ast.expr) -> object:
        fits = abs(number) < 2**63 if isinstance(number, int) else isinstance(number, float) and math.isfinite(number)
        if not fits:
            self._refuse_size(node)
        return number

    # What is refused

    def _refuse(self, found: str) -> NoReturn:
        raise self._source.error(
            f"{found} is not allowed in a formula from outside Python: columns, numbers, text, operators, np.log and "
            f"other functions of single values, Q and {', '.join(TRANSFORMS)} are. Functions of your own can be used "
            "from Python, in svmstat.svm()."
        )

    def _refuse_attribute(self, node: ast.Attribute, what: str, end: str) -> NoReturn:
        if (name := ast.unparse(node)) in self._columns:
            dotted = f"{name!r} is a name with dots, as R has them: a column of that name is written Q({name!r})."
            raise self._source.error(dotted)
        match node.value:
            case ast.Name(id=name) if name not in self._columns:
                self._refuse(f"'{name}.{node.attr}'")
            case ast.Name(id=name) if name in _MODULES:
                self._refuse(f"'{name}.{node.attr}', where {name!r} is a column of the data,")
            case ast.Name():
                pass
            case _:
                self.visit(node.value)
        advice = " (np.isin(x, [...]) does the same)" if node.attr == "isin" else ""
        self._refuse(f"{what} '.{node.attr}{end}'{advice}")

    def _refuse_text(self, what: str) -> NoReturn:
        self._refuse(f"Arithmetic with {what}, which is no number,")

    def _refuse_size(self, node: ast.expr) -> NoReturn:
        self._refuse(f"The constant {_shown(node)}, which no 64-bit number holds,")


def _most_columns(node: ast.expr) -> int:
    """What no spline has more columns than: the sum of its numbers and of the lengths of its lists."""
    if not isinstance(node, ast.Call):
        return 1
    given = [*node.args[1:], *(each.value for each in node.keywords)]
    numbers = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, int | float)]
    return 8 + int(min(sum(map(abs, numbers)), MOST_COLUMNS**2)) + sum(map(len, _lists(node)))


def _lists(call: ast.Call) -> list[list[ast.expr]]:
    """The entries of the lists among the arguments of a call."""
    given = [*call.args, *(each.value for each in call.keywords)]
    return [each.elts for each in given if isinstance(each, ast.List | ast.Tuple)]


def _shown(node: ast.expr) -> str:
    try:
        code = ast.unparse(node)
    except ValueError:  # Python writes no number of so many digits
        return "of thousands of digits"
    return code if len(code) <= 40 else f"{code[:30]}…"
