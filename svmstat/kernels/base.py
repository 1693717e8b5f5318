"""What a kernel is: a value that one passes to ``svm``, adds to others, scales, and puts on some of the columns."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from svmstat._tools.checks import entries, finite, is_real, nearest, number, refuse
from svmstat.errors import ArgumentError, ArgumentTypeError
from svmstat.kernels.pairs import FloatArray
from svmstat.kernels.parameters import declared, is_rule
from svmstat.kernels.rows import Indices, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Kernel(ABC):
    """A symmetric function K(x, z) of two rows, and a value: frozen, equal where its parameters are equal.

    ``K1 + K2`` is a `Sum`, ``0.5 * K`` a `Scaled` kernel and ``K.on("x", "z")`` the kernel on these columns alone.
    `resolve` puts numbers in the place of what is to be learnt from the training rows, as the width of
    ``RBF(gamma="median")``. ``repr`` shows what one writes to make the kernel.

    Notes
    -----
    A kernel of one's own with a formula is a frozen dataclass that extends `PointKernel`. Each of its parameters is a
    field made by `svmstat.kernels.parameter`, which says its default, what is allowed, how a rule becomes a number and
    which values ``tune`` searches. `named` above the class makes the name known everywhere.
    """

    name: ClassVar[str]
    of_rows: ClassVar[bool] = True
    """Whether the data are rows of a design, and not a gram matrix."""

    __array_ufunc__ = None  # a number of numpy leaves the multiplication to the kernel

    def __post_init__(self) -> None:
        for name, each in declared(self).items():
            object.__setattr__(self, name, each.check(name, getattr(self, name)))

    def __init_subclass__(cls, **given: Any) -> None:
        """Let no dataclass with slots put its fields alone in the place of all that a kernel has."""
        super(Kernel, cls).__init_subclass__(**given)
        for name in ("__getstate__", "__setstate__"):
            if name not in cls.__dict__:
                setattr(cls, name, getattr(Kernel, name))

    def __getstate__(self) -> Any:
        """All that the kernel has, and not its fields alone: what ``__post_init__`` derived from them goes along."""
        return object.__getstate__(self)

    def __setstate__(self, state: Any) -> None:
        for part in state if isinstance(state, tuple) else (state,):
            for name, value in (part or {}).items():
                object.__setattr__(self, name, value)

    @abstractmethod
    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The cross-gram matrix K(x_i, z_j) (n, m), float64 and C-contiguous."""

    @abstractmethod
    def bind(self, X: FloatArray) -> Rows:
        """What does not change from row to row of the gram matrix of ``X``, computed once."""

    def diagonal(self, X: FloatArray) -> FloatArray:
        """K(x_i, x_i) (n,)."""
        return self.bind(X).diagonal

    def rows(self, X: FloatArray, indices: Indices) -> FloatArray:
        """The rows K[indices, :] (len(indices), n) of the gram matrix of ``X``."""
        return self.bind(X).block(indices, slice(None))

    def features(self, X: FloatArray) -> FloatArray | None:  # noqa: ARG002  most kernels have no short map
        """φ(x_i) (n, r) with K(x, z) = φ(x)'φ(z), C-contiguous, not to be written to; None without a short φ."""
        return None

    # What it is

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, for the summary."""
        return {name: getattr(self, name) for name, each in declared(self).items() if each.shown}

    @property
    def parts(self) -> tuple["Kernel", ...]:
        """The kernels that it is made of."""
        return ()

    def with_parts(self, change: Callable[["Kernel"], "Kernel"]) -> "Kernel":  # noqa: ARG002  here are no parts
        """The kernel made of its changed parts."""
        return self

    @property
    def title(self) -> str:
        """What a summary calls it: its name, or what it is made of."""
        return str(self) if self.parts else getattr(self, "name", type(self).__name__)

    @property
    def may_be_indefinite(self) -> bool:
        """Whether its gram matrices can have negative eigenvalues."""
        return any(part.may_be_indefinite for part in self.parts)

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={short(each)}' for name, each in self.parameters.items())})"

    # What it learns from the training rows

    @property
    def unresolved(self) -> tuple[str, ...]:
        """The names of the parameters that have no number yet, also of its parts."""
        own = (name for name in declared(self) if is_rule(getattr(self, name)))
        return (*own, *(name for part in self.parts for name in part.unresolved))

    def resolve(
        self, X: FloatArray, weights: FloatArray | None = None, columns: Mapping[str, slice] | None = None
    ) -> "Kernel":
        """The kernel with numbers for all that is to be learnt, and a look at whether it can be used on these rows.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Training rows on the scale of the fit.
        weights : ndarray of shape (n,), optional
            Case weights; rows of weight zero count as absent.
        columns : mapping of str to slice, optional
            What the names in `On` mean: names of terms and columns, and where they stand in X.

        Returns
        -------
        Kernel
            Of the same kind, and equal to this one if there was nothing to learn.

        Raises
        ------
        ArgumentError, DataError
            If a rule gives no number on these rows, or the kernel no finite values.

        Examples
        --------
        >>> import numpy as np
        >>> from svmstat.kernels import RBF, Linear
        >>> (Linear() + 0.5 * RBF(gamma="scale")).resolve(np.array([[1.0], [3.0]]))
        Linear() + 0.5 * RBF(gamma=1.0)
        """
        X = np.asarray(X, dtype=float)
        rules = {name: each for name, each in declared(self).items() if is_rule(getattr(self, name))}
        learnt = {name: each.learn(getattr(self, name), X, weights) for name, each in rules.items() if each.learn}
        kernel = replace(self, **learnt) if learnt else self
        kernel.check_rows(X if weights is None else X[np.asarray(weights) > 0])
        return kernel.with_parts(lambda part: part.resolve(X, weights, columns))

    def check_rows(self, X: FloatArray) -> None:  # noqa: B027 (most kernels take any rows)
        """Refuse training rows (n, p) on which the kernel, its parameters being numbers, cannot be used."""

    def require_resolved(self) -> None:
        """Refuse to compute values while a parameter waits for training rows."""
        if self.unresolved:
            raise ArgumentError(
                f"the kernel {self!r} has not learnt its {' and '.join(dict.fromkeys(self.unresolved))} yet: "
                "kernel.resolve(X) does so on the training rows."
            )

    def without_constant(self) -> "Kernel":
        """A kernel that differs from this one by a constant, and has the digits that the constant would take."""
        return self.with_parts(lambda part: part.without_constant())

    # What is made of it

    def __add__(self, other: object) -> "Kernel":
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: object) -> "Kernel":
        return self if isinstance(other, int) and other == 0 else NotImplemented  # where sum() begins

    def __mul__(self, other: object) -> "Kernel":
        if isinstance(other, Kernel):
            raise ArgumentTypeError(
                f"unsupported operands for *: {self!r} and {other!r}. Products of kernels are te() and ti() of a "
                "formula, and Product((K1, K2), ((0,), (1,))) of columns by their positions."
            )
        return Scaled(other, self) if is_real(other) else NotImplemented  # type: ignore[arg-type]

    __rmul__ = __mul__

    def on(self, *columns: str | int) -> "Kernel":
        """The kernel on some columns of the design: names of terms or of columns, or positions."""
        return On(self, columns)


def short(value: object) -> str:
    """A parameter or a part as a summary shows it: six digits of a number."""
    return f"{value:.6g}" if isinstance(value, float) else str(value) if isinstance(value, Kernel) else repr(value)


def family(kernel: Kernel) -> Iterator[Kernel]:
    """A kernel and everything that it is made of: itself, its parts, their parts."""
    yield kernel
    for part in kernel.parts:
        yield from family(part)


def check_part(name: str, kernel: object) -> None:
    """Refuse what cannot be a part of another kernel."""
    if not isinstance(kernel, Kernel):
        raise refuse(name, kernel, "a kernel such as RBF() or CustomKernel(function)")
    if not kernel.of_rows:
        raise ArgumentError(
            f"{kernel!r} cannot be a part of another kernel, for its data are a gram matrix: add, scale or centre the "
            "matrix itself."
        )


@dataclass(frozen=True, slots=True)
class Combined(Kernel):
    """A kernel that is made of others."""

    @abstractmethod
    def written(self, text: Callable[[Any], str]) -> str:
        """The Python expression that makes this kernel; ``text`` writes its numbers and parts."""

    def __repr__(self) -> str:
        return self.written(repr)

    def __str__(self) -> str:
        return self.written(short)


def _bracketed(kernel: Kernel, text: Callable[[Any], str], kinds: tuple[type[Kernel], ...]) -> str:
    """The text of a part, in parentheses if it is one of these kinds."""
    return f"({text(kernel)})" if isinstance(kernel, kinds) else text(kernel)


class Several(Combined):
    """A kernel that is made of any number of others."""

    __slots__ = ()
    kernels: tuple[Kernel, ...]

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that it is made of."""
        return self.kernels

    def with_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        """The same made of the changed kernels."""
        return replace(self, kernels=tuple(map(change, self.kernels)))  # type: ignore[call-arg]


@dataclass(frozen=True, slots=True, repr=False)
class Sum(Several):
    """K(x, z) = K_1(x, z) + K_2(x, z) + …, added from left to right; a sum in a sum is one sum.

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import RBF, Linear
    >>> kernel = Linear() + 0.5 * RBF(gamma=0.1)
    >>> kernel, kernel(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]]))
    (Linear() + 0.5 * RBF(gamma=0.1), array([[5.5]]))
    """

    kernels: tuple[Kernel, ...]
    name: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        given = None if isinstance(self.kernels, Kernel) else entries(self.kernels)
        if given is None:
            raise refuse("kernels", self.kernels, "a sequence of kernels")
        if not given:
            raise refuse("kernels", given, "one kernel or several")
        for k, each in enumerate(given):
            check_part(f"kernels[{k}]", each)
        flat = (part for each in given for part in (each.kernels if isinstance(each, Sum) else (each,)))
        object.__setattr__(self, "kernels", tuple(flat))

    def written(self, text: Callable[[Any], str]) -> str:
        """K_1 + K_2 + …."""
        return " + ".join(map(text, self.kernels))

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The sum of the cross-gram matrices (n, m)."""
        return reduce(np.add, (each(X, Z) for each in self.kernels))

    def bind(self, X: FloatArray) -> "SumRows":
        """Each kernel on the rows of X."""
        bound = tuple(each.bind(X) for each in self.kernels)
        return SumRows(bound, reduce(np.add, (each.diagonal for each in bound)))

    def features(self, X: FloatArray) -> FloatArray | None:
        """The maps of the kernels side by side."""
        maps = [each.features(X) for each in self.kernels]
        known = [each for each in maps if each is not None]
        return np.hstack(known) if len(known) == len(maps) else None


@dataclass(frozen=True, slots=True)
class SumRows(Rows):
    """Rows of a sum, added in the order of the kernels."""

    bound: tuple[Rows, ...]
    diagonal: FloatArray

    @property
    def blur(self) -> float:
        """That of the values that are added."""
        return max(each.blur for each in self.bound)

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns]."""
        return reduce(np.add, (each.block(rows, columns) for each in self.bound))


class Wrapped(Combined):
    """A kernel that is made of one other."""

    __slots__ = ()
    kernel: Kernel

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernel that it is made of."""
        return (self.kernel,)

    def with_parts(self, change: Callable[[Kernel], Kernel]) -> Kernel:
        """The same made of the changed kernel."""
        return replace(self, kernel=change(self.kernel))  # type: ignore[call-arg]


@dataclass(frozen=True, slots=True, repr=False)
class Scaled(Wrapped):
    """K(x, z) = θ K_1(x, z) with a number θ ≥ 0; what is scaled twice has one factor.

    Examples
    --------
    >>> from svmstat.kernels import Linear
    >>> 2 * (0.25 * Linear())
    0.5 * Linear()
    """

    factor: float
    kernel: Kernel
    name: ClassVar[str] = "scaled"

    def __post_init__(self) -> None:
        check_part("kernel", self.kernel)
        factor = number("factor", self.factor, lambda x: 0 <= x < np.inf, "a finite number >= 0")
        inner = self.kernel
        if isinstance(inner, Scaled):
            factor, inner = finite("factor", factor * inner.factor), inner.kernel
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "kernel", inner)

    def written(self, text: Callable[[Any], str]) -> str:
        """θ * K_1."""
        return f"{text(self.factor)} * {_bracketed(self.kernel, text, (Sum,))}"

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """θ times the cross-gram matrix (n, m)."""
        return self.factor * self.kernel(X, Z)

    def bind(self, X: FloatArray) -> "ScaledRows":
        """The kernel on the rows of X."""
        bound = self.kernel.bind(X)
        return ScaledRows(self.factor, bound, self.factor * bound.diagonal)

    def features(self, X: FloatArray) -> FloatArray | None:
        """√θ times the map of the kernel."""
        inner = self.kernel.features(X)
        return None if inner is None else np.sqrt(self.factor) * inner


@dataclass(frozen=True, slots=True)
class ScaledRows(Rows):
    """Rows times a factor."""

    factor: float
    bound: Rows
    diagonal: FloatArray

    @property
    def blur(self) -> float:
        """That of the values that are scaled."""
        return self.bound.blur

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns]."""
        return self.factor * self.bound.block(rows, columns)


@dataclass(frozen=True, slots=True, repr=False)
class On(Wrapped):
    """K(x, z) = K_1(x_A, z_A), a kernel on the columns A of the design alone.

    Parameters
    ----------
    kernel : Kernel
    columns : str, int or a sequence of these
        Terms of the formula (``"lon"``, ``"C(site)"``, ``"x:g"``), columns of the design (``"C(site)[north]"``), or
        positions 0 … p − 1.
    at : tuple of int, optional
        Their positions in the design, which `resolve` finds.

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import RBF, Linear
    >>> kernel = RBF(gamma=1.0).on("x") + Linear().on("z")
    >>> X = np.array([[1.0, 2.0], [1.0, 5.0]])
    >>> kernel.resolve(X, columns={"x": slice(0, 1), "z": slice(1, 2)})(X, X)
    array([[ 5., 11.],
           [11., 26.]])
    """

    kernel: Kernel
    columns: tuple[str | int, ...]
    at: tuple[int, ...] | None = None
    name: ClassVar[str] = "on"

    def __post_init__(self) -> None:
        check_part("kernel", self.kernel)
        if any(isinstance(each, On) for each in family(self.kernel)):
            raise ArgumentError(f"{self.kernel!r} is a kernel on some columns, and cannot be put on others.")
        given = entries(self.columns)
        columns = (self.columns,) if given is None else given
        for each in columns:
            position = isinstance(each, int | np.integer) and not isinstance(each, bool) and each >= 0
            if not position and not isinstance(each, str):
                raise refuse("columns", each, "names of terms or columns of the design, or positions from 0 on")
        if not columns:
            raise refuse("columns", columns, "one name or several")
        plain = tuple(str(each) if isinstance(each, str) else int(each) for each in columns)
        object.__setattr__(self, "columns", plain)
        if self.at is None and not any(isinstance(each, str) for each in plain):
            object.__setattr__(self, "at", tuple(sorted(set(plain))))

    def written(self, text: Callable[[Any], str]) -> str:
        """K_1.on(…)."""
        return f"{_bracketed(self.kernel, text, (Sum, Scaled))}.on({', '.join(map(repr, self.columns))})"

    @property
    def unresolved(self) -> tuple[str, ...]:
        """The names of what has no number yet, the columns among it."""
        return (*(() if self.at is not None else ("columns",)), *self.kernel.unresolved)

    def resolve(
        self, X: FloatArray, weights: FloatArray | None = None, columns: Mapping[str, slice] | None = None
    ) -> Kernel:
        """The kernel resolved on its columns of these rows, which are found by their names."""
        X, at = np.asarray(X, dtype=float), self.at
        if at is None or columns is not None:
            at = self._positions(columns or {})
        if at[-1] >= (p := X.shape[1]):
            raise refuse("columns", at[-1], f"a position from 0 to {p - 1}")
        return On(self.kernel.resolve(X[:, list(at)], weights), self.columns, at)

    def _positions(self, columns: Mapping[str, slice]) -> tuple[int, ...]:
        """Where the columns stand in the design, rising."""
        found: set[int] = set()
        for each in self.columns:
            if isinstance(each, int):
                found.add(each)
            elif each in columns:
                found.update(range(columns[each].start, columns[each].stop))
            else:
                known = f"one of {', '.join(map(repr, columns))}" if columns else "a position: columns have no names"
                raise refuse("columns", each, known + nearest(each, columns))
        if not found:
            raise ArgumentError(f"{self!r} has no columns: those of {', '.join(map(repr, self.columns))} are constant.")
        return tuple(sorted(found))

    def _part_of(self, X: FloatArray) -> FloatArray:
        """The columns (n, q) of the rows X."""
        self.require_resolved()
        return np.asarray(X, dtype=float)[:, list(self.at or ())]

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The cross-gram matrix (n, m) of the columns."""
        return self.kernel(self._part_of(X), self._part_of(Z))

    def bind(self, X: FloatArray) -> Rows:
        """The kernel on the columns of the rows of X."""
        return self.kernel.bind(self._part_of(X))

    def features(self, X: FloatArray) -> FloatArray | None:
        """The map of the kernel on the columns."""
        return self.kernel.features(self._part_of(X))


def gram(kernel: Kernel, X: FloatArray) -> FloatArray:
    """The gram matrix of all pairs of rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, p)
        The rows; for `Precomputed` the gram matrix itself, which is returned uncopied.

    Returns
    -------
    ndarray of shape (n, n)
        Exactly symmetric, C-contiguous. For a kernel with a formula its rows are, bit for bit, those of
        ``kernel.rows``, and the memory beyond the result is a few small blocks.

    Raises
    ------
    DataError
        When a custom kernel is not symmetric on ``X``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import Linear
    >>> gram(Linear(), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([[1., 1.],
           [1., 2.]])
    """
    return kernel.bind(X).gram()
