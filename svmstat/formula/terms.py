"""The algebra of a formula's terms: patsy's operators, evaluated in a loop and not by recursion.

Recursion would go as deep as a sum has terms, and Python refuses beyond a few hundred.
"""

import ast
from collections.abc import Callable, Collection, Hashable, Iterator
from functools import cache
from math import comb

from patsy import PatsyError
from patsy.desc import EvalFactor, Evaluator, IntermediateExpr, Term
from patsy.infix_parser import ParseNode

from svmstat._tools.checks import nearest
from svmstat.formula.names import read_names

# (a + b + …)**k and a*b*c*… multiply: beyond this many terms no design could be made of them.
MOST_TERMS = 100_000

NO_POWER = "'^' is no power here: write (a + b)**2 for interactions, I(x**2) for a square"
_NO_BAR = (
    "'|' makes no random effects here: groups=... of svm() says which rows belong together, and I(a | b) is a or b"
)
_OF_R = {ast.BitXor: NO_POWER, ast.BitOr: _NO_BAR}


class TermReader(Evaluator):
    """patsy's evaluator for one side of a formula of any length."""

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[int, IntermediateExpr] = {}
        self.add_op("+", 2, _sum)
        self.add_op("-", 2, _sum)

    def eval(self, tree: ParseNode, require_evalexpr: bool = True) -> IntermediateExpr:
        """The terms of a parse tree, those of its parts first."""
        waiting = [] if id(tree) in self._found else [tree]
        while waiting:
            node = waiting[-1]
            parts = [part for part in _parts(node) if id(part) not in self._found]
            waiting.extend(reversed(parts))
            if not parts:
                self._check_number(node)
                self._found[id(waiting.pop())] = super().eval(node, require_evalexpr)
        return self._found[id(tree)]

    def take_away(self, term: Term, terms: dict[Term, None], part: ParseNode) -> None:  # noqa: ARG002  for others
        """Take a term of the ``part`` behind a minus away from those before it, if it is there."""
        terms.pop(term, None)

    def _check_number(self, node: ParseNode) -> None:
        counts = [len(self._found[id(part)].terms) for part in _parts(node)]
        match node.type, counts:
            case "*", [left, right]:
                count = left + right + left * right
            case ":", [left, right]:
                count = left * right
            case "**", [left] if power := _power(node):
                count = sum(comb(left, k) for k in range(1, min(left, power) + 1))
            case _:
                return
        if count > MOST_TERMS:
            raise PatsyError(f"it has more than {MOST_TERMS} terms", node)


class DotReader(TermReader):
    """In which a lone ``.`` stands for some terms, made from its node, and what is taken away must be there.

    ``Q("x")`` and ``Q('x')`` are ``x`` there, written as what came first; names that are ``elsewhere``, in the
    response, need not be there.
    """

    def __init__(self, dot: Callable[[ParseNode], list[Term]], elsewhere: Collection[Hashable] = ()) -> None:
        super().__init__()
        self._elsewhere = elsewhere
        first: dict[tuple[bool, Hashable], str] = {}

        def spelled(term: Term) -> Term:
            factors = ((first.setdefault(_column_or_code(each.code), each.code), each) for each in term.factors)
            return Term([EvalFactor(code, each.origin) for code, each in factors])

        def python_expression(_: TermReader, node: ParseNode) -> IntermediateExpr:
            code = node.token.extra
            if instead := _instead_of(code):
                raise PatsyError(instead, node)
            terms = dot(node) if code == "." else [Term([EvalFactor(code, node.origin)])]
            return IntermediateExpr(False, None, False, list(map(spelled, terms)))

        self.add_op("PYTHON_EXPR", 0, python_expression)

    def take_away(self, term: Term, terms: dict[Term, None], part: ParseNode) -> None:
        """The same, refused if the term is not there."""
        if term in terms:
            del terms[term]
            return
        meant, codes = _meaning(term), [":".join(factor.code for factor in each.factors) for each in terms]
        same = [each for each in terms if _meaning(each) == meant]
        if not same and not meant <= {(True, name) for name in self._elsewhere}:
            code = ":".join(factor.code for factor in term.factors)
            raise PatsyError(f"{code!r} is taken away, and is no term before that{nearest(code, codes)}", part)
        for each in same:
            del terms[each]


def _meaning(term: Term) -> frozenset[tuple[bool, Hashable]]:
    """Of each factor whether it is nothing but the name of a column, and that name or else the code."""
    return frozenset(_column_or_code(factor.code) for factor in term.factors)


@cache
def _column_or_code(code: str) -> tuple[bool, Hashable]:
    try:
        names = read_names(code)
    except (SyntaxError, RecursionError, MemoryError):  # told where the names are read
        return False, code
    return (True, names.values[0]) if names.alone else (False, code)


def _instead_of(code: str) -> str | None:
    """What to write for ``a ^ b`` or ``a | b``, which are a power and a grouping in R and bits in Python."""
    try:
        body = ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):  # told where the names are read
        return None
    return _OF_R.get(type(body.op)) if isinstance(body, ast.BinOp) else None


def nodes(tree: ParseNode) -> Iterator[ParseNode]:
    """All nodes of a parse tree."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.args)


def _parts(node: ParseNode) -> list[ParseNode]:
    """What must be evaluated before a node: all operands of a sum, but not the exponent of a power."""
    if node.type == "**":
        return list(node.args[:1])
    return [part for _, part in _operands(node)] if _is_sum(node) else list(node.args)


def _power(node: ParseNode) -> int:
    """To what a sum is raised; 0 if that is no whole number, which patsy refuses."""
    token = node.args[1].token
    text = "" if token is None else token.extra or ""
    return int(text) if text.isdecimal() else 0


def _is_sum(node: ParseNode) -> bool:
    return node.type in ("+", "-") and len(node.args) == 2


def _operands(tree: ParseNode) -> list[tuple[str, ParseNode]]:
    """The operands of a sum from left to right, each with its sign."""
    found = []
    while _is_sum(tree):
        found.append((tree.type, tree.args[1]))
        tree = tree.args[0]
    return [("+", tree), *reversed(found)]


def _sum(reader: TermReader, tree: ParseNode) -> IntermediateExpr:
    """a + b − c … as patsy reads it, pair by pair from the left."""
    terms, intercept = dict[Term, None](), None
    for sign, part in _operands(tree):
        value = reader.eval(part)
        for term in value.terms:
            if sign == "+":
                terms.setdefault(term)
            else:
                reader.take_away(term, terms, part)
        if part.type == "ZERO":
            intercept = part.origin if sign == "-" else None
        elif value.intercept:
            intercept = value.intercept_origin if sign == "+" else None
    return IntermediateExpr(intercept is not None, intercept, False, terms)
