"""The formula of one model made from that of another, as ``update`` of R does it."""

from collections.abc import Collection, Hashable, Iterable
from contextlib import suppress

from patsy import PatsyError
from patsy.desc import INTERCEPT, Term
from patsy.infix_parser import ParseNode
from patsy.parse_formula import parse_formula

from svmstat.errors import ArgumentTypeError, FormulaError
from svmstat.formula.names import read_names
from svmstat.formula.parse import parse, syntax_error
from svmstat.formula.source import Untrusted, one_line
from svmstat.formula.terms import DotReader, TermReader


def update_formula(formula: str, change: str, others: Iterable[Hashable] = ()) -> str:
    """A formula in which ``.`` of the change stands for what was on the same side before.

    Parameters
    ----------
    formula : str
        That of the model, with ``.`` written out.
    change : str
        As ``". ~ . - x + z"``. A left side that is not there, or only ``.``, is the old response.
    others : iterable
        Columns that are no predictors, and may be taken away all the same, as those of the response may.

    Returns
    -------
    str
        `Untrusted` if either of the two is.

    Raises
    ------
    ArgumentTypeError
        If the change is not text.
    FormulaError
        If it cannot be read, or leaves no predictors.

    Examples
    --------
    >>> update_formula("y ~ x + z + x:z", ". ~ . - x:z + np.log(w)")
    'y ~ x + z + np.log(w)'
    >>> update_formula("y ~ x + z", "y > 0 ~ .**2")
    'y > 0 ~ x + z + x:z'
    """
    if not isinstance(change, str):
        raise ArgumentTypeError(f"formula={change!r} is not allowed: it must be text such as '. ~ . - x + z'.")
    left, right = parse_formula(one_line(formula)).args
    text = one_line(change)
    if text.lstrip()[:1] in ("+", "-") and "~" not in text:
        raise FormulaError(
            f"formula={change!r} is not allowed: without a dot it would drop all predictors; "
            f"write '. ~ . {text.strip()}' to change those of the model."
        )
    try:
        *new_left, new_right = parse_formula(text).args
        response = _side(new_left[0] if new_left else left, _side(left))
        found = _side(new_right, _side(right), {*others, *_names_of(response)})
    except PatsyError as error:
        raise syntax_error(error, text) from error
    terms = [_code(term) for term in found if term != INTERCEPT]
    if not terms:
        raise FormulaError(f"formula={change!r} is not allowed: it leaves no predictors of {formula!r}.")
    kind = Untrusted if isinstance(formula, Untrusted) or isinstance(change, Untrusted) else str
    found_text = kind(f"{' + '.join(map(_code, response))} ~ {' + '.join(terms)}")
    return kind(parse(found_text, ()).text)


def _side(tree: ParseNode, old: list[Term] | None = None, elsewhere: Collection[Hashable] = ()) -> list[Term]:
    """The terms of one side of a formula, ``.`` being the ``old`` ones; names ``elsewhere`` may be taken away too."""
    reader = TermReader() if old is None else DotReader(lambda _: old, elsewhere)
    return list(reader.eval(tree).terms)


def _names_of(terms: Iterable[Term]) -> set[Hashable]:
    """The columns that terms read, without those of code that is told to be none elsewhere."""
    found: set[Hashable] = set()
    for factor in (factor for term in terms for factor in term.factors):
        with suppress(SyntaxError):
            found.update(read_names(factor.code).values)
    return found


def _code(term: Term) -> str:
    return ":".join(factor.code for factor in term.factors)
