"""A kernel where some columns of the design are gone."""

from collections.abc import Sequence
from dataclasses import replace

from svmstat.kernels.additive import Additive
from svmstat.kernels.base import Kernel, On, Sum, Wrapped
from svmstat.kernels.nystrom import Nystrom, landmarks_of


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
        places = tuple(place for place, column in enumerate(kept) if column in (kernel.at or ()))
        return On(kernel.kernel, places) if places else None
    if isinstance(kernel, Nystrom) and kernel.at is not None:
        inner = on_fewer_columns(kernel.kernel, kept)
        return None if inner is None else replace(kernel, at=landmarks_of(inner, kernel.at.rows[:, list(kept)]))
    if isinstance(kernel, Wrapped):
        part = on_fewer_columns(kernel.kernel, kept)
        return None if part is None else kernel.with_parts(lambda _: part)
    return kernel if kept else None
