"""The kernel of an additive machine: a sum Σ_t θ_t K_t with a centred kernel of size one for each term of a formula.

After smoothing-spline ANOVA [Wahba 1990], for support vector machines with selection of terms [Zhang 2006].
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np

from svmstat._tools.checks import nearest, number, refuse
from svmstat._tools.texts import counted
from svmstat.errors import ArgumentError
from svmstat.kernels.base import Kernel, On, Several
from svmstat.kernels.centred import Centred
from svmstat.kernels.formulas import RBF, Linear, Spline
from svmstat.kernels.pairs import FloatArray
from svmstat.kernels.product import Normed, Product
from svmstat.kernels.rows import Indices, Rows


class Inherited(dict[str, float]):
    """θ of another formula: those of terms that are no longer there do not matter."""


class _Term(Protocol):
    """A term of a formula, by the columns of the design that it has: see `svmstat.formula.smooth.TermColumns`."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def parts(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def by(self) -> tuple[int, ...] | None: ...
    @property
    def kernel(self) -> str | None: ...
    @property
    def gamma(self) -> float | str | None: ...


@dataclass(frozen=True, slots=True, repr=False)
class Additive(Several):
    """K(x, z) = Σ_t θ_t K_t(x, z), each K_t centred over the training rows and of size one there.

    Attributes
    ----------
    names : tuple of T str
        The terms.
    theta : tuple of T float
        θ_t ≥ 0; a term with zero takes no part.
    kernels : tuple of T Kernel
        K_t.
    """

    names: tuple[str, ...]
    theta: tuple[float, ...]
    kernels: tuple[Kernel, ...]
    name: ClassVar[str] = "additive"

    def written(self, text: Callable[[Any], str]) -> str:
        """Each term with its θ."""
        return f"Additive({', '.join(f'{text(t)} * {name}' for t, name in zip(self.theta, self.names, strict=True))})"

    @property
    def title(self) -> str:
        """What a summary calls it; the terms have a table of their own."""
        return f"additive, {counted(len(self.names), 'term')}"

    def with_theta(self, theta: Iterable[float]) -> "Additive":
        """The same kernels with other θ (T,)."""
        return replace(self, theta=tuple(map(float, theta)))

    def moved(self, by: int) -> "Additive":
        """The same kernels on columns that stand elsewhere in the design, all by as much."""
        each = (On(part.kernel, tuple(k + by for k in part.at or ())) for part in self.kernels if isinstance(part, On))
        return replace(self, kernels=tuple(each))

    def only(self, terms: Sequence[int], kernels: Sequence[Kernel]) -> "Additive | None":
        """Some of the terms, with these kernels; None where none of them takes part."""
        theta = tuple(self.theta[t] for t in terms)
        return Additive(tuple(self.names[t] for t in terms), theta, tuple(kernels)) if any(theta) else None

    def without_constant(self) -> Kernel:
        """The kernel itself, which has none."""
        return self

    @property
    def active(self) -> tuple[tuple[float, Kernel], ...]:
        """θ_t and K_t of the terms that take part."""
        return tuple(each for each in zip(self.theta, self.kernels, strict=True) if each[0] > 0.0)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The weighted sum of the cross-gram matrices (n, m)."""
        out = np.zeros((len(X), len(Z)))
        for theta, kernel in self.active:
            out += theta * kernel(X, Z)
        return out

    def bind(self, X: FloatArray) -> "AdditiveRows":
        """The kernel of each term on the rows of X."""
        bound = tuple((theta, kernel.bind(X)) for theta, kernel in self.active)
        diagonal = np.zeros(len(X))
        for theta, rows in bound:
            diagonal += theta * rows.diagonal
        return AdditiveRows(bound, diagonal)


@dataclass(frozen=True, slots=True)
class AdditiveRows(Rows):
    """Rows of a weighted sum, added in the order of the terms."""

    bound: tuple[tuple[float, Rows], ...]
    diagonal: FloatArray

    @property
    def blur(self) -> float:
        """That of the values that are added."""
        return max(each.blur for _, each in self.bound)

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns]."""
        first, *others = self.bound
        out = first[0] * first[1].block(rows, columns)
        for theta, each in others:
            out += theta * each.block(rows, columns)
        return out


def additive_kernel(terms: Sequence[_Term], base: Kernel, theta: Mapping[str, float] | None = None) -> Additive:
    """The kernel of the terms of a formula, before it has seen data.

    A linear term x, C(g) or x:g has the linear kernel of its columns; s(x, z) that of the smooth on them; te(x, z) the
    product (1 + K_x)(1 + K_z) and ti(x, z) the product K_x K_z of the centred kernels of its arguments; with ``by`` it
    is multiplied by the linear kernel of that number, or of the indicators of the levels. Terms without a column that
    varies are left out.

    Parameters
    ----------
    terms : sequence of TermColumns
    base : Kernel
        `RBF` or `Spline`: what a smooth has that does not name its own.
    theta : mapping, optional
        θ of some terms, as they are named or with other spaces; those of the others are 1.

    Raises
    ------
    ArgumentError
        For another base, and for θ that are not allowed.
    """
    if not isinstance(base, RBF | Spline):
        raise refuse(
            "kernel", base.title, "'rbf' or 'spline' with a formula that has s(), te() or ti(): it is that of the "
            "smooth terms which do not name their own, and plain terms are linear; joint kernels are for formulas "
            "without these",
        )  # fmt: skip
    made = {each.name: kernel for each in terms if (kernel := _kernel_of(each, base)) is not None}
    given = theta_of([each.name for each in terms], theta)
    values = tuple(given.get(name, 1.0) for name in made)
    if not any(values):
        raise refuse("theta", theta, "above zero for one term at least")
    return Additive(tuple(made), values, tuple(made.values()))


def theta_of(names: Sequence[str], theta: Mapping[str, float] | None) -> dict[str, float]:
    """The θ that are given, by the names of the terms.

    Raises
    ------
    ArgumentError
        For a name of no term, or a value that is not a finite number ≥ 0.

    Examples
    --------
    >>> theta_of(["s(lon, lat)", "g"], {"s(lon,lat)": 2})
    {'s(lon, lat)': 2.0}
    """
    if theta is None:
        return {}
    if not isinstance(theta, Mapping):
        raise refuse("theta", theta, "a mapping of terms to numbers, such as {'s(x)': 2}")
    found = {}
    for name, value in theta.items():
        if (label := term_called(names, str(name))) is None:
            if isinstance(theta, Inherited):
                continue
            terms = ", ".join(map(repr, names))
            raise ArgumentError(f"theta has no term {name!r}: the formula has {terms}{nearest(str(name), names)}")
        found[label] = number(f"theta[{label!r}]", value, lambda x: 0 <= x < np.inf, "a finite number >= 0")
    return found


def term_called(names: Sequence[str], name: str) -> str | None:
    """Which of the terms a text names, blanks and kinds of quotes aside unless it is exact; None if none.

    Examples
    --------
    >>> term_called(["s(lon, lat)", "g"], "s(lon,lat)")
    's(lon, lat)'
    """
    return name if name in names else {_plain(each): each for each in names}.get(_plain(name))


def _plain(name: str) -> str:
    return "".join(name.split()).replace('"', "'")


def _kernel_of(term: _Term, base: Kernel) -> Kernel | None:
    """The centred kernel of size one of a term, on its columns; None if none of them varies."""
    parts = [part for part in term.parts if part]
    if not (parts or term.by) or (term.kind == "ti" and len(parts) < len(term.parts)):
        return None
    factors: list[Kernel] = []
    smooth = Linear() if term.kind == "linear" or not parts else _smooth(term, base)
    if term.kind in ("linear", "s"):
        factors, parts = [smooth] * bool(parts), [tuple(k for part in parts for k in part)] * bool(parts)
    else:
        margins = (Normed(Centred(smooth)),) * len(parts)
        inner = _places(parts)
        factors, parts = [Product(margins, inner, 1.0 if term.kind == "te" else 0.0)], [tuple(np.concatenate(parts))]
    if term.by:
        factors, parts = [*factors, Linear()], [*parts, term.by]
    whole = factors[0] if len(factors) == 1 else Product(tuple(factors), _places(parts))
    return On(Normed(Centred(whole)), tuple(int(k) for part in parts for k in part))


def _places(parts: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Where the columns of each part stand among those of all parts side by side."""
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    return tuple(tuple(range(*each)) for each in pairwise(ends))


def _smooth(term: _Term, base: Kernel) -> Kernel:
    """The kernel that a smooth asks for, or the base."""
    if term.gamma is not None:
        return RBF(term.gamma)
    chosen = base if term.kernel in (None, base.name) else RBF() if term.kernel == "rbf" else Spline()
    if isinstance(chosen, Spline) and term.kind == "s" and len(term.parts) > 1:
        raise refuse("kernel", base.name, f"left to the terms: {term.name} has several columns, and a spline is of one")
    return chosen
