"""A kernel where some columns of the design are gone, or where it is to be that of another design."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from svmstat.errors import UnavailableError
from svmstat.kernels.additive import Additive
from svmstat.kernels.base import Kernel, On, Sum, Wrapped
from svmstat.kernels.centred import Centred
from svmstat.kernels.formulas import Spline
from svmstat.kernels.nystrom import Nystrom, landmarks_of
from svmstat.kernels.pairs import FloatArray
from svmstat.kernels.product import Normed, Product

_NOTHING = np.empty((1, 0))
"""A row without columns."""


def on_fewer_columns(kernel: Kernel, kept: Sequence[int]) -> Kernel | None:
    """The kernel with the numbers that it has, on the columns that are left; None where nothing of it is.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    kept : sequence of int
        The positions of the columns that are left, rising.

    Examples
    --------
    >>> from svmstat.kernels import RBF, Linear
    >>> kernel = RBF(gamma=0.5).on(0) + 2 * RBF(gamma=1.0).on(1, 2)
    >>> on_fewer_columns(kernel, [1]), on_fewer_columns(Linear(), [])
    (2.0 * RBF(gamma=1.0).on(0), None)
    """
    if isinstance(kernel, Additive):
        found = {t: on_fewer_columns(each, kept) for t, each in enumerate(kernel.kernels)}
        stay = {t: each for t, each in found.items() if each is not None}
        return kernel.only(tuple(stay), tuple(stay.values()))
    if isinstance(kernel, Sum):
        parts = [on_fewer_columns(each, kept) for each in kernel.kernels]
        left = tuple(part for part in parts if part is not None)
        return left[0] if len(left) == 1 else Sum(left) if left else None
    if isinstance(kernel, On):
        return _on_its_own(kernel, kept)
    if isinstance(kernel, Product):
        return _of_fewer_factors(kernel, kept)
    if isinstance(kernel, Spline) and kept:
        lower, upper = (tuple(ends[k] for k in kept) for ends in (kernel.lower or (), kernel.upper or ()))
        return replace(kernel, lower=lower, upper=upper)
    if isinstance(kernel, Wrapped):
        part = on_fewer_columns(kernel.kernel, kept)
        return None if part is None else _around(kernel, part, list(kept))
    return kernel if kept else None


def _on_its_own(kernel: On, kept: Sequence[int]) -> Kernel | None:
    """The same of a kernel that has columns of its own."""
    own = kernel.at or ()
    places = tuple(place for place, column in enumerate(kept) if column in own)
    if len(places) == len(own):
        return On(kernel.kernel, places)
    inner = on_fewer_columns(kernel.kernel, [place for place, column in enumerate(own) if column in kept])
    return None if inner is None else On(inner, places)


def _of_fewer_factors(kernel: Product, kept: Sequence[int]) -> Kernel | None:
    """The same of a product; a factor of which no column is left is the constant that its kernel is without columns."""
    if not set(kept).intersection(chain(*kernel.columns)):
        return None
    kernels, columns = [], []
    for factor, own in zip(kernel.kernels, kernel.columns, strict=True):
        part = on_fewer_columns(factor, [place for place, column in enumerate(own) if column in kept])
        if part is None and factor.parts:
            raise UnavailableError(f"{kernel!r} cannot do without all columns of {factor!r}, which needs them.")
        if part is None and kernel.plus + float(factor(_NOTHING, _NOTHING)[0, 0]) == 0.0:
            return None
        kernels.append(factor if part is None else part)
        columns.append(tuple(kept.index(column) for column in own if column in kept))
    return replace(kernel, kernels=tuple(kernels), columns=tuple(columns))


def _around(kernel: Wrapped, part: Kernel, kept: list[int]) -> Kernel:
    """What is made of the part as the kernel is of its own, by the rows that it has learnt, on the columns left."""
    if isinstance(kernel, Nystrom) and kernel.at is not None:
        return replace(kernel, kernel=part, at=landmarks_of(part, kernel.at.rows[:, kept]))
    if isinstance(kernel, Centred) and kernel.centre is not None:
        return Centred(part).resolve(kernel.centre.rows[:, kept], kernel.centre.weights)
    return kernel.with_parts(lambda _: part)


def on_other_columns(kernel: Kernel, X: FloatArray, weights: FloatArray) -> Kernel:
    """The kernel with its numbers, but for what it has of each column, which it is to learn anew from another design.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X, weights : ndarray of shape (n, p) and (n,)
        The rows of its fit: the range of a spline that is theirs is one that was learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import RBF, Spline
    >>> X, weights = np.array([[1.0], [3.0]]), np.ones(2)
    >>> [on_other_columns(each.resolve(X), X, weights) for each in (Spline(), Spline([0.0], [9.0]), RBF())]
    [Spline(lower=None, upper=None), Spline(lower=(0.0,), upper=(9.0,)), RBF(gamma=1.0)]
    """
    if isinstance(kernel, Additive):  # that of a formula, which makes it anew
        return kernel
    if isinstance(kernel, On):
        return On(on_other_columns(kernel.kernel, X[:, list(kernel.at or ())], weights), kernel.columns)
    if isinstance(kernel, Spline):
        return Spline() if Spline().resolve(X, weights) == kernel else kernel
    anew = kernel.with_parts(lambda part: on_other_columns(part, X, weights))
    if isinstance(anew, Nystrom):
        return replace(anew, at=None)
    if isinstance(anew, Centred):
        return replace(anew, centre=None)
    return replace(anew, size=None) if isinstance(anew, Normed) else anew


def beside_others(kernel: Kernel, start: int, stop: int) -> Kernel:
    """The kernel where columns of others stand beside its own.

    Examples
    --------
    >>> from svmstat.kernels import RBF
    >>> moved = beside_others(RBF(gamma=0.5), 2, 4)
    >>> moved, first_column(moved), alone(moved, 2)
    (RBF(gamma=0.5).on(2, 3), 2, RBF(gamma=0.5))
    """
    return kernel.moved(start) if isinstance(kernel, Additive) else On(kernel, tuple(range(start, stop)))


def alone(kernel: Kernel, start: int) -> Kernel:
    """What `beside_others` was given, from whose columns on it stands."""
    if isinstance(kernel, Additive):
        return kernel.moved(-start)
    assert isinstance(kernel, On)
    return kernel.kernel


def first_column(kernel: Kernel) -> int:
    """The first column that a kernel `beside_others` reads."""
    parts = kernel.kernels if isinstance(kernel, Additive) else (kernel,)
    return min(part.at[0] for part in parts if isinstance(part, On) and part.at)
