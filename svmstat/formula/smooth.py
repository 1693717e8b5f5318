"""Smooth terms of a formula, s(x), te(x, z) and ti(x, z): what is written, and what they give at the fit."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from svmstat._tools.checks import ended, is_real, nearest
from svmstat.formula.factor import Factor
from svmstat.formula.functions import calls_smooth
from svmstat.formula.names import called_name
from svmstat.formula.source import Source
from svmstat.formula.values import Value

KERNELS = ("rbf", "spline")
"""What ``kernel=`` of a smooth term may be."""

RULES = ("scale", "median")
_OPTIONS = ("by", "kernel", "gamma")


SMOOTH = "s()"
"""Beside the expressions of a term: that its functions of them are smooth."""


@dataclass(frozen=True, slots=True)
class Smoothing:
    """A smooth term as it is written.

    Attributes
    ----------
    source : Source
        Its code, and its place in the formula.
    kind : str
        "s", "te" or "ti".
    arguments : tuple of Source
        What it is a function of.
    by : Source or None
        What the function is multiplied by: a number, or the levels of a factor.
    kernel : str or None
        One of `KERNELS`; None if nothing is said.
    gamma : float, str or None
        The width of an rbf kernel, or a rule for it.
    """

    source: Source
    kind: str
    arguments: tuple[Source, ...]
    by: Source | None
    kernel: str | None
    gamma: float | str | None

    @property
    def sources(self) -> tuple[Source, ...]:
        """Everything that it is computed from, ``by`` last."""
        return (*self.arguments, *(() if self.by is None else (self.by,)))


@dataclass(frozen=True, slots=True)
class Smooth:
    """A smooth term as it was fitted: its columns are those of its arguments, side by side, then those of ``by``.

    Attributes
    ----------
    smoothing : Smoothing
    factors : tuple of Factor
        Of its arguments, and of ``by`` last if there is one.
    """

    smoothing: Smoothing
    factors: tuple[Factor, ...]

    @property
    def name(self) -> str:
        """The term as a formula has it."""
        return self.smoothing.source.code

    @property
    def codes(self) -> frozenset[str]:
        """What it multiplies, and in what it is smooth: s(x, z) and s(x, by=g) contain s(x), which contains x."""
        codes = [factor.expression.code for factor in self.factors]
        smooth = codes if self.smoothing.by is None else codes[:-1]
        return frozenset({*codes, *(f"{SMOOTH} {code}" for code in smooth)})

    @property
    def column_names(self) -> tuple[str, ...]:
        """``s(x)`` for a single column, or else ``s(x, z)[x]``, ``s(x, by=g)[g[north]]``."""
        parts = [name for factor in self.factors for name in factor.column_names]
        return (self.name,) if len(parts) == 1 else tuple(f"{self.name}[{part}]" for part in parts)

    def columns(self, blocks: Mapping[str, np.ndarray]) -> np.ndarray:
        """The columns (n, k), given those of each factor by its code."""
        return np.hstack([blocks[factor.expression.code] for factor in self.factors])


@dataclass(frozen=True, slots=True)
class TermColumns:
    """A term of an additive formula, by the columns of the design that it has: what a kernel is made of.

    Attributes
    ----------
    name : str
        The term as the formula has it.
    kind : str
        "linear", "s", "te" or "ti".
    parts : tuple of tuple of int
        Where the columns of each argument stand in the design; those that are constant are not there.
    by : tuple of int or None
        The same of ``by``.
    kernel, gamma : str, float or None
        What the term says of its kernel.
    labels : tuple of str
        What the arguments are called, and ``by`` last.
    is_factor : bool
        Whether the columns of a linear term, or those of ``by``, are the levels of one factor.
    """

    name: str
    kind: str
    parts: tuple[tuple[int, ...], ...]
    by: tuple[int, ...] | None
    kernel: str | None
    gamma: float | str | None
    labels: tuple[str, ...]
    is_factor: bool

    @property
    def columns(self) -> tuple[int, ...]:
        """Where all its columns stand."""
        return tuple(k for part in (*self.parts, self.by or ()) for k in part)


def read_smooth(source: Source) -> Smoothing | None:
    """The smooth term that a piece of a formula is; None if it is none.

    Raises
    ------
    FormulaError
        If it smooths nothing, or has an option that is not allowed; it marks the place.

    Examples
    --------
    >>> read_smooth(Source("s(lon, lat, gamma=2)", "", 0, 0)).gamma
    2.0
    >>> read_smooth(Source("te(cr(x, df=4), cr(z, df=4))", "", 0, 0)) is None  # patsy's
    True
    """
    if not calls_smooth(source.code):
        return None
    call = ast.parse(source.code, mode="eval").body
    assert isinstance(call, ast.Call)
    kind = called_name(call)
    options = {}
    for option in call.keywords:
        if option.arg not in _OPTIONS:
            allowed = f"{', '.join(_OPTIONS[:-1])} and {_OPTIONS[-1]} are{nearest(str(option.arg), _OPTIONS)}"
            raise source.error(ended(f"{kind}() has no argument {option.arg!r}: {allowed}"))
        options[option.arg] = option.value
    arguments = _arguments(source, kind, call)
    kernel, gamma = (_constant(source, kind, name, options.get(name)) for name in ("kernel", "gamma"))
    if kernel is not None and kernel not in KERNELS:
        raise source.error(f"kernel={kernel!r} of {kind}() is not allowed: it must be 'rbf' or 'spline'.")
    if gamma is not None and gamma not in RULES and not (is_real(gamma) and 0 < float(gamma) < np.inf):
        rules = "'scale', 'median' or a finite number > 0"
        raise source.error(f"gamma={gamma!r} of {kind}() is not allowed: it must be {rules}.")
    if kernel == "spline" and gamma is not None:
        raise source.error(f"gamma={gamma!r} of {kind}() must be left out with kernel='spline', which has no width.")
    if kind == "s" and kernel == "spline" and len(arguments) > 1:
        raise source.error(
            f"kernel='spline' of {source.code!r} is not allowed: a spline is a function of one column; te() of the "
            "same columns is a surface made of splines."
        )
    by = options.get("by")
    return Smoothing(source, kind, arguments, None if by is None else _part(source, by), kernel, gamma)


def refuse_product(sources: tuple[Source, ...]) -> None:
    """Refuse a product of factors of which one is a smooth term."""
    for source in sources:
        if len(sources) > 1 and calls_smooth(source.code):
            others = ":".join(each.code for each in sources if each is not source)
            raise source.error(
                f"{source.code!r} cannot be multiplied by {others!r}: s(x, by=g) is a smooth for each level of g, or "
                "one times the number g; te(x, z) and ti(x, z) are smooths of two columns."
            )


def fit_smooth(smoothing: Smoothing, factors: Mapping[str, Factor], values: Mapping[str, Value]) -> Smooth:
    """The term with its factors, each known by its code.

    Raises
    ------
    FormulaError
        If it smooths a factor, or its ``by`` has several columns of numbers.
    """
    kind = smoothing.kind
    for source in smoothing.arguments:
        found = factors[source.code]
        if found.levels:
            levels = f"{', '.join(map(repr, found.levels[:4]))}{', …' * (len(found.levels) > 4)}"
            raise smoothing.source.error(
                f"{kind}() of {source.code!r} is not allowed: it is a factor with the levels {levels}, and a smooth is "
                f"of numbers. Write {source.code} itself, or s(x, by={source.code}) for a smooth of x at each level."
            )
    by = smoothing.by
    if by is not None and not factors[by.code].levels and factors[by.code].width > 1:
        raise smoothing.source.error(
            f"by={by.code} of {kind}() is not allowed: it must be one column of numbers or a factor, and has "
            f"{values[by.code].data.shape[1]} columns."
        )
    return Smooth(smoothing, tuple(factors[source.code] for source in smoothing.sources))


def _arguments(source: Source, kind: str, call: ast.Call) -> tuple[Source, ...]:
    """What a smooth term is smooth in."""
    least, example = (1, "s(x) or s(x, z)") if kind == "s" else (2, f"{kind}(x, z)")
    if len(call.args) < least or any(isinstance(each, ast.Starred) for each in call.args):
        of = "is a smooth of one column or of several" if kind == "s" else "is a smooth of two columns or more"
        raise source.error(f"{source.code!r} is not allowed: {kind}() {of}, as {example}.")
    arguments = tuple(_part(source, each) for each in call.args)
    codes = [each.code for each in arguments]
    twice = next((code for k, code in enumerate(codes) if code in codes[:k]), None)
    if twice is not None:
        raise source.error(f"{source.code!r} is not allowed: it is a smooth of {twice!r} more than once.")
    return arguments


def _constant(source: Source, kind: str, name: str, node: ast.expr | None) -> str | float | None:
    """The value of an option, which nothing needs to be evaluated for."""
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except ValueError as error:
        shown = ast.unparse(node)
        raise source.error(f"{name}={shown} of {kind}() is not allowed: it must be written out.") from error
    if value is not None and not isinstance(value, str) and not is_real(value):
        raise source.error(f"{name}={value!r} of {kind}() is not allowed: it must be a text or a number.")
    return value if value is None or isinstance(value, str) else float(value)


def _part(source: Source, node: ast.expr) -> Source:
    """An argument as a piece of code of its own."""
    code = ast.get_source_segment(source.code, node) or ast.unparse(node)
    return Source(code, source.formula, source.start, source.end)
