"""Which points are searched: values that are given, or a grid that makes sense without being named."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svmstat._checks import at_least, finite, is_real, nearest, positive, refuse
from svmstat.kernels import Kernel, make_kernel, resolve_gamma
from svmstat.kernels.gamma import ALLOWED, RULES

Floats = NDArray[np.float64]

COSTS = tuple(2.0**k for k in range(-2, 8))
GAMMA_FACTORS = tuple(2.0**k for k in range(-4, 4))
"""Multiples of gamma="scale"."""

PARAMETERS = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "linear": (), "spline": (), "precomputed": ()}
DEFAULTS: dict[str, Any] = {"gamma": "scale", "degree": 3, "coef0": 0.0}


@dataclass(frozen=True, slots=True)
class Grid:
    """All costs with all kernels.

    Attributes
    ----------
    costs : rising values of C
    kernels : the kernels, the work of the last being the greatest as a rule
    parameters : of each kernel, those that it has
    """

    costs: tuple[float, ...]
    kernels: tuple[Kernel, ...]
    parameters: tuple[dict[str, Any], ...]

    @property
    def names(self) -> list[str]:
        """C and the parameters of the kernel."""
        return ["C", *self.parameters[0]]


def check_values(kernel: object, C: object, gamma: object, degree: object, coef0: object) -> dict[str, list[Any]]:
    """The values of each parameter that is given, as lists; gamma may contain "scale" and "median".

    Raises
    ------
    ArgumentError
        For an empty list, a value that is not allowed, or a parameter that the kernel does not have.
    """
    given = {"C": C, "gamma": gamma, "degree": degree, "coef0": coef0}
    checks: dict[str, Callable[[str, object], Any]] = {
        "C": positive,
        "gamma": _gamma,
        "degree": lambda name, value: at_least(name, value, 1),
        "coef0": finite,
    }
    found = {name: _listed(name, value, checks[name]) for name, value in given.items() if value is not None}
    if isinstance(kernel, str) and kernel not in PARAMETERS:
        known = ", ".join(map(repr, PARAMETERS))
        raise refuse("kernel", kernel, f"one of {known} or a function K(X, Z){nearest(kernel, PARAMETERS)}")
    called = repr(kernel) if isinstance(kernel, str) else "a function"
    for name in found:
        if name != "C" and name not in _parameters(kernel):
            raise refuse(name, given[name], f"left out: kernel={called} has no {name}")
    return found


def make_grid(
    kernel: str | Callable[[Floats, Floats], ArrayLike], given: Mapping[str, list[Any]], X: Floats, weights: Floats
) -> Grid:
    """The grid of values that `check_values` has seen, on the rows X (n, p) with their weights (n,).

    C has the values 2^-2 … 2^7 if it is not given, gamma of "rbf" those of "scale" times 2^-4 … 2^3, and what else is
    not given its default in ``svm``.
    """
    names = _parameters(kernel)
    values = {name: given.get(name, [DEFAULTS[name]]) for name in names}
    if "gamma" in names:
        numbers = [resolve_gamma(value, X, weights) for value in values["gamma"]]
        wide = kernel == "rbf" and "gamma" not in given
        values["gamma"] = [factor * numbers[0] for factor in GAMMA_FACTORS] if wide else numbers
    values = {name: sorted(set(each)) for name, each in values.items()}
    parameters = [dict(zip(names, point, strict=True)) for point in itertools.product(*values.values())]
    kernels = [make_kernel(kernel, **{**DEFAULTS, **each}, X=X, weights=weights) for each in parameters]
    return Grid(tuple(sorted(set(given.get("C", COSTS)))), tuple(kernels), tuple(parameters))


def _parameters(kernel: object) -> tuple[str, ...]:
    return PARAMETERS[kernel] if isinstance(kernel, str) else ()


def _gamma(name: str, value: object) -> Any:
    if isinstance(value, str) and value in RULES:
        return value
    if not is_real(value) or not 0 < value < np.inf:  # type: ignore[operator]
        raise refuse(name, value, ALLOWED)
    return float(value)  # type: ignore[arg-type]


def _listed(name: str, value: object, check: Callable[[str, object], Any]) -> list[Any]:
    """A value, or each of several, checked."""
    single = isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)
    if single or (isinstance(value, np.ndarray) and value.ndim == 0):
        return [check(name, value)]
    values = list(value)  # type: ignore[call-overload]
    if not values:
        raise refuse(name, value, "one value or several, not an empty list")
    return [check(f"{name}[{i}]", each) for i, each in enumerate(values)]
