"""Products of kernels, and kernels of size one: what the terms of an additive machine are made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from operator import index
from typing import Any, ClassVar

import numpy as np

from svmstat._tools.checks import entries, number, positive, refuse
from svmstat.errors import DataError
from svmstat.kernels.base import Kernel, Several, Wrapped, check_part
from svmstat.kernels.pairs import FloatArray
from svmstat.kernels.rows import Indices, Rows

NOISE = 1e-13
"""A centred kernel that is smaller than this beside the kernel itself is rounding."""


@dataclass(frozen=True, slots=True, repr=False)
class Product(Several):
    """K(x, z) = (a + K_1(x_A, z_A)) · (a + K_2(x_B, z_B)) · …, each kernel on columns of its own, a = ``plus`` ≥ 0.

    Its functions are products of those of the spaces; with a = 1 also those of each space alone.

    Parameters
    ----------
    kernels : tuple of Kernel
    columns : tuple of tuple of int
        The positions of the columns of each; of no columns a kernel is a constant.
    plus : float

    Raises
    ------
    ArgumentError
        If there is no kernel, ``columns`` has not a tuple of positions for each, or ``plus`` is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import Linear
    >>> kernel = Product((Linear(), Linear()), ((0,), (1,)), plus=1.0)
    >>> kernel(np.array([[2.0, 3.0]]), np.array([[1.0, 1.0]]))
    array([[12.]])
    """

    kernels: tuple[Kernel, ...]
    columns: tuple[tuple[int, ...], ...]
    plus: float = 0.0
    name: ClassVar[str] = "product"

    def __post_init__(self) -> None:
        given = entries(self.kernels)
        if not given:
            raise refuse("kernels", self.kernels, "one kernel or several")
        for k, each in enumerate(given):
            check_part(f"kernels[{k}]", each)
        object.__setattr__(self, "kernels", given)
        object.__setattr__(self, "columns", _positions(self.columns, len(self.kernels)))
        number("plus", self.plus, lambda x: 0 <= x < np.inf, "a finite number >= 0")

    def written(self, text: Callable[[Any], str]) -> str:
        """Product((K_1, K_2, …), …)."""
        plus = f", plus={text(self.plus)}" if self.plus else ""
        return f"Product(({', '.join(map(text, self.kernels))},), {self.columns}{plus})"

    def without_constant(self) -> Kernel:
        """The kernel itself: a constant of a factor is none of the product."""
        return self

    def resolve(
        self, X: FloatArray, weights: FloatArray | None = None, columns: Mapping[str, slice] | None = None
    ) -> Kernel:
        """Each kernel resolved on its columns of these rows."""
        del columns  # they have positions, and no names
        if (last := max(chain([-1], *self.columns))) >= (p := np.shape(X)[1]):
            raise refuse("columns", last, f"a position from 0 to {p - 1}")
        resolved = (each.resolve(part, weights) for each, part in zip(self.kernels, self._split(X), strict=True))
        return replace(self, kernels=tuple(resolved))

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The product of the cross-gram matrices (n, m)."""
        pairs = zip(self.kernels, self._split(X), self._split(Z), strict=True)
        return reduce(np.multiply, (self.plus + each(x, z) for each, x, z in pairs))

    def bind(self, X: FloatArray) -> "ProductRows":
        """Each kernel on its columns of the rows of X."""
        bound = tuple(each.bind(part) for each, part in zip(self.kernels, self._split(X), strict=True))
        return ProductRows(bound, self.plus, reduce(np.multiply, (self.plus + each.diagonal for each in bound)))

    def _split(self, X: FloatArray) -> list[FloatArray]:
        """The columns of each kernel."""
        X = np.asarray(X, dtype=float)
        return [np.ascontiguousarray(X[:, list(each)]) for each in self.columns]


def _positions(given: object, K: int) -> tuple[tuple[int, ...], ...]:
    """The columns of each of K kernels."""
    try:
        found = tuple(tuple(map(index, each)) for each in given)  # type: ignore[attr-defined]
    except TypeError:
        found = ()
    if len(found) != K or any(place < 0 for each in found for place in each):
        raise refuse("columns", given, f"for each of the {K} kernels a tuple of positions from 0 on, such as (0,)")
    return found


@dataclass(frozen=True, slots=True)
class ProductRows(Rows):
    """Rows of a product, multiplied in the order of the kernels."""

    bound: tuple[Rows, ...]
    plus: float
    diagonal: FloatArray

    @property
    def blur(self) -> float:
        """That of all factors."""
        return sum(each.blur for each in self.bound)

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns]."""
        return reduce(np.multiply, (self.plus + each.block(rows, columns) for each in self.bound))


@dataclass(frozen=True, slots=True, repr=False)
class Normed(Wrapped):
    """K(x, z) = K_1(x, z) / d, d the weighted mean of K_1(x_i, x_i) over the training rows.

    Kernels of columns with whatever widths and units have the same size then, and one number says how much each counts.

    Parameters
    ----------
    kernel : Kernel
        K_1.
    size : float, optional
        d, which `resolve` finds.

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import Centred, Linear
    >>> X = np.array([[1.0], [3.0], [8.0]])
    >>> round(float(Normed(Centred(Linear())).resolve(X).diagonal(X).mean()), 12)
    1.0
    """

    kernel: Kernel
    size: float | None = None
    name: ClassVar[str] = "normed"

    def __post_init__(self) -> None:
        check_part("kernel", self.kernel)
        if self.size is not None:
            object.__setattr__(self, "size", positive("size", self.size))

    def written(self, text: Callable[[Any], str]) -> str:
        """Normed(K_1)."""
        return f"Normed({text(self.kernel)})"

    @property
    def unresolved(self) -> tuple[str, ...]:
        """The names of what has no number yet, the size among it."""
        return (*(() if self.size is not None else ("size",)), *self.kernel.unresolved)

    def resolve(
        self, X: FloatArray, weights: FloatArray | None = None, columns: Mapping[str, slice] | None = None
    ) -> Kernel:
        """The kernel resolved on these rows, its size that on them unless it has one.

        Raises
        ------
        DataError
            If the kernel is the same in all rows, up to rounding.
        """
        kernel = self.kernel.resolve(X, weights, columns)
        if self.size is not None:
            return Normed(kernel, self.size)
        w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
        X, w = np.asarray(X, dtype=float)[w > 0], w[w > 0]
        raw = kernel.parts[0].without_constant().diagonal(X) if kernel.parts else np.zeros(len(X))
        size = float(w @ kernel.diagonal(X) / w.sum())
        if not (0.0 < size < np.inf) or size <= NOISE * float(w @ abs(raw) / w.sum()):
            raise DataError(f"the kernel {self.kernel!r} is the same in all rows of the data, up to rounding.")
        return Normed(kernel, size)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The cross-gram matrix (n, m)."""
        self.require_resolved()
        assert self.size is not None
        return self.kernel(X, Z) / self.size

    def bind(self, X: FloatArray) -> "NormedRows":
        """The kernel on the rows of X."""
        self.require_resolved()
        assert self.size is not None
        bound = self.kernel.bind(X)
        return NormedRows(bound, self.size, bound.diagonal / self.size)


@dataclass(frozen=True, slots=True)
class NormedRows(Rows):
    """Rows divided by a number."""

    bound: Rows
    size: float
    diagonal: FloatArray

    @property
    def blur(self) -> float:
        """That of the values that are divided."""
        return self.bound.blur

    def block(self, rows: Indices, columns: Indices) -> FloatArray:
        """K[rows][:, columns]."""
        return self.bound.block(rows, columns) / self.size
