"""Which points are searched: values that are given, or a grid that makes sense without being named."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmstat._tools.checks import positive, refuse
from svmstat.errors import ArgumentError
from svmstat.kernels import ARGUMENTS, CustomKernel, Kernel, Nystrom, called, declared, is_rule, make_kernel
from svmstat.prepared import Prepared

COSTS = tuple(2.0**k for k in range(-2, 8))


@dataclass(frozen=True, slots=True)
class Candidates:
    """The costs and kernel parameters to search, as they were given and before the data are known.

    Attributes
    ----------
    costs : rising values of C
    kernels : the kernel, or several that are compared as they are
    given : the same as the caller gave them
    compared : whether they were given as a list
    values : of the parameters of the one kernel, those that were given
    """

    costs: tuple[float, ...]
    kernels: tuple[Kernel, ...]
    given: tuple[Any, ...]
    compared: bool
    values: dict[str, list[Any]]

    @property
    def of_rows(self) -> bool:
        """Whether the data are rows of a design, and not a gram matrix."""
        return self.kernels[0].of_rows


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid that is searched: every cost with every kernel.

    Attributes
    ----------
    costs : rising values of C
    kernels : the kernels, the work of the last being the greatest as a rule
    parameters : of each kernel, what tells it from the others in a table
    arguments : of each kernel, what makes it as arguments of `svm`, its name being known
    """

    costs: tuple[float, ...]
    kernels: tuple[Kernel, ...]
    parameters: tuple[dict[str, Any], ...]
    arguments: tuple[dict[str, Any], ...]

    @property
    def names(self) -> list[str]:
        """C and what tells the kernels from each other."""
        return ["C", *self.parameters[0]]

    def only(self, which: int) -> "Grid":
        """The same costs with one of the kernels."""
        return Grid(self.costs, (self.kernels[which],), (self.parameters[which],), (self.arguments[which],))

    @property
    def ordered(self) -> bool:
        """Whether the kernels are in the order of one number."""
        return not any(len(each) > 1 or "kernel" in each for each in self.parameters)


def check_values(kernel: object, C: object, given: Mapping[str, object]) -> Candidates:
    """Look at what is to be searched; ``given`` are values of the `ARGUMENTS`, None where there are none.

    Raises
    ------
    ArgumentError
        For an empty list, a value that is not allowed, a parameter that the kernel does not have or has set itself, or
        parameters beside several kernels.
    """
    costs = COSTS if C is None else tuple(sorted(set(_listed("C", C, positive))))
    values = {name: value for name, value in given.items() if value is not None}
    if isinstance(kernel, list | tuple):
        if values:
            name, value = next(iter(values.items()))
            raise refuse(name, value, "left out beside a list of kernels, which are compared as they are")
        given_kernels = _different(kernel)
        return Candidates(costs, tuple(make_kernel(each, {}) for each in given_kernels), given_kernels, True, {})
    base = make_kernel(kernel, {})
    checked = {name: _checked(kernel, base, name, value) for name, value in values.items()}
    return Candidates(costs, (base,), (kernel,), False, checked)


def _different(kernels: list[Any] | tuple[Any, ...]) -> tuple[Any, ...]:
    """The values without those that equal an earlier one."""
    if not kernels:
        raise refuse("kernel", kernels, "one kernel or several, not an empty list")
    made = [make_kernel(each, {}) for each in kernels]
    for k, each in enumerate(made):
        if not each.of_rows and len(made) > 1:
            raise refuse(
                f"kernel[{k}]", kernels[k], "alone: its data are a gram matrix, and not rows as for the others"
            )
    return tuple(kernels[k] for k, each in enumerate(made) if not any(_same(each, other) for other in made[:k]))


def _same(one: Kernel, other: Kernel) -> bool:
    """Whether kernels are equal; those of one's own may have arrays for parameters, which are not compared."""
    try:
        return bool(one == other)
    except ValueError:
        return one is other


def _checked(kernel: object, base: Kernel, name: str, value: object) -> list[Any]:
    """The values of a parameter, which the kernel must have and have left open."""
    inner = _inner(base)
    parameters = declared(inner)
    if name not in parameters:
        shown = "a function" if isinstance(inner, CustomKernel) else repr(kernel)
        raise refuse(name, value, f"left out: kernel={shown} has no {name}")
    if getattr(inner, name) != parameters[name].default:
        raise ArgumentError(
            f"{name}={value!r} and kernel={kernel!r} are not allowed together: the kernel has a {name} of its own."
        )
    return _listed(name, value, parameters[name].check)


def make_grid(wanted: Candidates, prepared: Prepared) -> Grid:
    """The grid on the data.

    C has the values 2^-2 … 2^7 if it is not given. A parameter of the kernel that is neither given nor set has the
    values that the kernel declares: gamma of "rbf" those of "scale" times 2^-4 … 2^3. Several kernels are taken as
    they are. In an additive formula these are the kernels of the smooth terms, each of which learns its own width: a
    gamma that is not given is not searched.
    """
    if wanted.compared:
        parameters = [{"kernel": label} for label in _labels(wanted.given)]
        kernels = tuple(map(prepared.resolve, wanted.kernels))
        arguments = [{"kernel": each} for each in wanted.given]
        return Grid(wanted.costs, kernels, tuple(parameters), tuple(arguments))
    base = wanted.kernels[0]
    if prepared.frame.design.additive:
        return _of_terms(wanted, prepared)
    values = {name: _searched(wanted, name, prepared) for name in _searchable(_inner(base))}
    parameters = [dict(zip(values, point, strict=True)) for point in itertools.product(*values.values())]
    kernels = tuple(prepared.resolve(_with(base, each)) for each in parameters)
    as_object = isinstance(wanted.given[0], Kernel)
    arguments = [{"kernel": each} for each in kernels] if as_object else parameters
    return Grid(wanted.costs, kernels, tuple(parameters), tuple(arguments))


def _of_terms(wanted: Candidates, prepared: Prepared) -> Grid:
    """The grid of an additive formula: the parameters that are given, for all terms that do not set theirs."""
    for name, values in wanted.values.items():
        if len(values) > 1 and any(map(is_rule, values)):
            raise refuse(name, values, "one rule or several numbers in an additive formula, each term having its width")
    rising = {name: each if len(each) == 1 else sorted(set(each)) for name, each in wanted.values.items()}
    points = [dict(zip(rising, each, strict=True)) for each in itertools.product(*rising.values())]
    kernels = tuple(prepared.resolve(replace(wanted.kernels[0], **each)) for each in points)
    varied = [name for name, values in rising.items() if len(values) > 1]
    parameters = tuple({name: each[name] for name in varied} for each in points)
    arguments = [{"kernel": replace(wanted.kernels[0], **each)} for each in points]
    return Grid(wanted.costs, kernels, parameters, tuple(points if isinstance(wanted.given[0], str) else arguments))


def _inner(kernel: Kernel) -> Kernel:
    """The kernel whose parameters are searched: that which is approximated."""
    return _inner(kernel.kernel) if isinstance(kernel, Nystrom) else kernel


def _with(kernel: Kernel, values: Mapping[str, Any]) -> Kernel:
    """The kernel with values of the parameters that are searched."""
    if isinstance(kernel, Nystrom):
        return kernel.with_parts(lambda part: _with(part, values))
    return replace(kernel, **values)


def _searchable(kernel: Kernel) -> list[str]:
    """The parameters of a kernel that a table has, in the order of the arguments of `tune`."""
    shown = [name for name, each in declared(kernel).items() if each.shown]
    return sorted(shown, key=lambda name: ARGUMENTS.index(name) if name in ARGUMENTS else len(ARGUMENTS))


def _searched(wanted: Candidates, name: str, prepared: Prepared) -> list[Any]:
    """The rising values of a parameter of the one kernel."""
    inner = _inner(wanted.kernels[0])
    each, own = declared(inner)[name], getattr(inner, name)

    def number(value: Any) -> Any:
        return each.learn(value, prepared.X, prepared.frame.weights) if each.learn and is_rule(value) else value

    if name in wanted.values:
        return sorted({number(value) for value in wanted.values[name]})
    return sorted(set(each.grid(number(own)))) if own == each.default else [number(own)]


def _labels(kernels: tuple[Any, ...]) -> list[str]:
    """How a table calls the kernels: as they were written; functions with one name are numbered."""
    plain = [
        repr(each) if isinstance(each, Kernel) else each if isinstance(each, str) else called(each) for each in kernels
    ]
    return [each if plain.count(each) == 1 else f"{each} {plain[: k + 1].count(each)}" for k, each in enumerate(plain)]


def _listed(name: str, value: object, check: Callable[[str, object], Any]) -> list[Any]:
    """A value, or each of several, checked."""
    single = isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)
    if single or (isinstance(value, np.ndarray) and value.ndim == 0):
        return [check(name, value)]
    values = list(value)  # type: ignore[call-overload]
    if not values:
        raise refuse(name, value, "one value or several, not an empty list")
    return [check(f"{name}[{i}]", each) for i, each in enumerate(values)]
