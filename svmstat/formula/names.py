"""The names in a piece of Python code, and what each one is used for."""

import ast
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

# What `column_named` returns for code that is no name.
NO_NAME = object()
# Calls that give an answer for a missing value; below them a missing value is no longer missing.
ANSWERS_MISSING = frozenset({"isna", "isnull", "notna", "notnull", "isnan", "isfinite", "fillna", "nan_to_num"})
# Calls that make False, or a place in a list, of a missing value, as a comparison does.
COMPARES = frozenset({
    "isin", "between", "eq", "ne", "lt", "le", "gt", "ge", "greater", "greater_equal", "less", "less_equal",
    "equal", "not_equal", "isclose", "logical_and", "logical_or", "logical_xor", "logical_not", "signbit",
    "astype", "digitize", "searchsorted", "startswith", "endswith", "contains", "match", "fullmatch", "isalnum",
    "isalpha", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle", "isupper", "factorize", "unique",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a piece of code mentions, each in order of first appearance.

    Attributes
    ----------
    values : tuple
        Names read as values, among them the arguments of ``Q("...")``.
    quoted : tuple
        Those of ``values`` that stand in ``Q("...")``: they can only be columns.
    functions : tuple of str
        Names that are called.
    exposed : tuple
        Values whose missing entries nothing in the code answers for, as ``x.fillna(0)`` would.
    compared : tuple
        Exposed values inside a comparison, where pandas turns a missing entry into False.
    placed : tuple of str
        Code of levels whose ``.codes`` are taken, which are −1 for what is none of them.
    call : str
        The name of the function of which the code is a call and nothing else, empty if it is none.
    alone : bool
        Whether the code is one name read as a value, or one ``Q("...")``, and nothing else.
    """

    values: tuple[Hashable, ...]
    quoted: tuple[Hashable, ...]
    functions: tuple[str, ...]
    exposed: tuple[Hashable, ...]
    compared: tuple[Hashable, ...]
    placed: tuple[str, ...]
    call: str
    alone: bool


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.values: dict[Hashable, None] = {}
        self.quoted: dict[Hashable, None] = {}
        self.functions: dict[str, None] = {}
        self.exposed: dict[Hashable, None] = {}
        self.compared: dict[Hashable, None] = {}
        self.placed: dict[str, None] = {}
        self.bound: set[str] = set()
        self._answered = 0
        self._comparing = 0

    def _see(self, name: Hashable) -> None:
        self.values[name] = None
        if not self._answered:
            self.exposed[name] = None
            if self._comparing:
                self.compared[name] = None

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._see(node.id)
        else:
            self.bound.add(node.id)

    def visit_arg(self, node: ast.arg) -> None:
        self.bound.add(node.arg)

    def free(self, names: dict[Any, None]) -> tuple[Any, ...]:
        """These names without those that a lambda or a comprehension binds."""
        return tuple(name for name in names if name not in self.bound)

    def visit_Compare(self, node: ast.Compare) -> None:
        self._comparing += 1
        self.generic_visit(node)
        self._comparing -= 1

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr == "codes":
            owner = node.value
            if isinstance(owner, ast.Attribute) and owner.attr == "cat":
                owner = owner.value
            self.placed[ast.unparse(owner)] = None
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called, name = called_name(node), quoted_by(node)
        if name is not NO_NAME:
            self.quoted[name] = None
            self._see(name)
            return
        answers, compares = called in ANSWERS_MISSING, called in COMPARES
        self._answered += answers
        self._comparing += compares
        if isinstance(node.func, ast.Name):
            self.functions[node.func.id] = None
        else:
            self.visit(node.func)
        for child in [*node.args, *node.keywords]:
            self.visit(child)
        self._answered -= answers
        self._comparing -= compares


def column_named(node: ast.expr) -> Any:
    """What ``Q(...)`` quotes: a text, or a number, None or a tuple of these; `NO_NAME` for what must be evaluated.

    Examples
    --------
    >>> column_named(ast.parse("('depth', -1)", mode="eval").body)
    ('depth', -1)
    >>> column_named(ast.parse("depth", mode="eval").body) is NO_NAME
    True
    """
    try:
        name = ast.literal_eval(node)
        hash(name), repr(name)  # a column's name can be looked up and shown; a number of many thousand digits cannot
    except (ValueError, TypeError):
        return NO_NAME
    return name


def quoted_by(node: ast.Call) -> Any:
    """The column that a call of ``Q`` names; `NO_NAME` for any other call."""
    return column_named(node.args[0]) if called_name(node) == "Q" and len(node.args) == 1 else NO_NAME


def called_name(node: ast.Call) -> str:
    """The last name of what is called: ``isna`` for ``isna(x)``, ``pd.isna(x)`` and ``x.isna()``."""
    func = node.func
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def read_names(code: str) -> Names:
    """Read the names in a Python expression.

    Parameters
    ----------
    code : str
        One Python expression.

    Raises
    ------
    SyntaxError
        If the code is not an expression.

    Examples
    --------
    >>> read_names("np.log(x) * (z > 0)").compared
    ('z',)
    """
    reader = _Reader()
    tree = ast.parse(code, mode="eval")
    reader.visit(tree)
    body = tree.body
    quotes = isinstance(body, ast.Call) and called_name(body) == "Q" and not reader.functions
    return Names(
        values=reader.free(reader.values),
        quoted=tuple(reader.quoted),
        functions=reader.free(reader.functions),
        exposed=reader.free(reader.exposed),
        compared=reader.free(reader.compared),
        placed=tuple(reader.placed),
        call=body.func.id if isinstance(body, ast.Call) and isinstance(body.func, ast.Name) else "",
        alone=isinstance(body, ast.Name) or quotes,
    )


class _Without(ast.NodeTransformer):
    def __init__(self, functions: frozenset[str]) -> None:
        self.functions = functions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        given = _given(node)
        return given[0] if given and _calls(node, self.functions) else node


def _calls(node: ast.AST, functions: frozenset[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions


def _given(node: ast.Call) -> list[ast.expr]:
    """The arguments of a call, before them what a transform transforms: the first by place, or that called ``x``."""
    named = sorted(node.keywords, key=lambda keyword: keyword.arg != "x")
    return [*node.args, *(keyword.value for keyword in named)]


def without_calls(code: str, functions: frozenset[str]) -> str:
    """The code with each call of these functions replaced by its first argument.

    Examples
    --------
    >>> without_calls("bs(np.log(x), df=4) * z", frozenset({"bs"}))
    'np.log(x) * z'
    """
    return ast.unparse(_Without(functions).visit(ast.parse(code, mode="eval")))


def given_to(code: str, functions: frozenset[str]) -> tuple[str, ...]:
    """What each call of these functions is given first, without further such calls.

    Examples
    --------
    >>> given_to("te(bs(x, df=4), bs(df=4, x=np.log(z)))", frozenset({"te", "bs"}))
    ('x', 'x', 'np.log(z)')
    """
    calls = [node for node in ast.walk(ast.parse(code, mode="eval")) if _calls(node, functions)]
    first = [_given(node)[0] for node in calls if isinstance(node, ast.Call) and _given(node)]
    return tuple(without_calls(ast.unparse(each), functions) for each in first)
