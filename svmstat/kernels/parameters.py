"""What a kernel class declares of its parameters, in the fields that hold them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from svmstat.kernels.pairs import FloatArray

Learn = Callable[[Any, FloatArray, FloatArray | None], Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """How one parameter of a kernel is checked, learnt from the training rows, and searched.

    Its value is a number, or a rule, which is a word or None: what ``learn`` makes a number of on the training rows.

    Attributes
    ----------
    default : the value if none is given
    check : from the name and a value to the value as it is kept, or an `ArgumentError`
    learn : from a rule, rows (n, p) and weights (n,) or None to the number that it stands for
    grid : from the number for the default to the values that `tune` searches if none are given
    shown : whether it is listed in a summary; what is learnt and long is not
    """

    default: Any
    check: Callable[[str, object], Any]
    learn: Learn | None
    grid: Callable[[Any], Iterable[Any]]
    shown: bool


def parameter(
    default: Any,
    check: Callable[[str, object], Any],
    *,
    learn: Learn | None = None,
    grid: Callable[[Any], Iterable[Any]] = lambda value: (value,),
    shown: bool = True,
) -> Any:
    """A field of a kernel class, which declares a `Parameter`: see there for the arguments.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from svmstat._tools.checks import positive
    >>> from svmstat.kernels import PointKernel
    >>> @dataclass(frozen=True, slots=True)
    ... class Cauchy(PointKernel):
    ...     scale: float = parameter(1.0, positive)
    ...
    ...     def fill(self, points, columns, out):
    ...         squares = ((points[:, :, None] - columns[None]) ** 2).sum(axis=1)
    ...         np.divide(1.0, 1.0 + squares / self.scale**2, out=out)
    >>> Cauchy(scale=2)(np.array([[0.0]]), np.array([[2.0], [4.0]]))
    array([[0.5, 0.2]])
    """
    return field(default=default, metadata={"parameter": Parameter(default, check, learn, grid, shown)})


def declared(kernel: Any) -> dict[str, Parameter]:
    """The parameters of a kernel, or of a class of kernels, by their names."""
    return {each.name: each.metadata["parameter"] for each in fields(kernel) if "parameter" in each.metadata}


def is_rule(value: object) -> bool:
    """Whether the value of a parameter waits for training rows."""
    return value is None or isinstance(value, str)
