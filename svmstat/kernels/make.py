"""From the arguments of ``svm()`` to a kernel, and back."""

from collections.abc import Mapping
from typing import Any

from svmstat._tools.checks import nearest, refuse
from svmstat.errors import ArgumentError
from svmstat.kernels.base import Kernel
from svmstat.kernels.given import CustomKernel
from svmstat.kernels.names import KERNELS
from svmstat.kernels.parameters import declared

ARGUMENTS = ("gamma", "degree", "coef0")
"""Parameters of kernels that ``svm`` and ``tune`` have as arguments, for kernels that are given by their name."""


def make_kernel(kernel: object, given: Mapping[str, object]) -> Kernel:
    """The kernel that the arguments of ``svm()`` describe, before it has seen data.

    Parameters
    ----------
    kernel : str, Kernel or callable
        The name of a kernel, a kernel, or a function K(X, Z) that returns the cross-gram matrix.
    given : mapping
        Values of `ARGUMENTS`: of those that the caller has given.

    Returns
    -------
    Kernel
        Its method ``resolve`` finds what is to be learnt on the training rows.

    Raises
    ------
    ArgumentError
        For an unknown kernel, a parameter outside what is allowed (also one that the kernel does not use), or a
        parameter beside a kernel that has its own.

    Examples
    --------
    >>> make_kernel("rbf", {"gamma": 2}), make_kernel("poly", {})
    (RBF(gamma=2.0), Polynomial(gamma='scale', coef0=0.0, degree=3))
    """
    if isinstance(kernel, Kernel):
        if given:
            beside = " and ".join(f"{name}={value!r}" for name, value in given.items())
            raise ArgumentError(
                f"{beside} and kernel={kernel!r} are not allowed together: a kernel that is passed as an object has "
                "its own parameters."
            )
        return kernel
    known = {name: each for one in KERNELS.values() for name, each in declared(one).items()}
    for name, value in given.items():
        known[name].check(name, value)
    if isinstance(kernel, str) and kernel in KERNELS:
        chosen = KERNELS[kernel]
        return chosen(**{name: value for name, value in given.items() if name in declared(chosen)})
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise ArgumentError(f"kernel={kernel.__name__} is a class of kernels: pass a kernel, {kernel.__name__}(…).")
    if not callable(kernel):
        hint = nearest(kernel, KERNELS) if isinstance(kernel, str) else ""
        names = ", ".join(map(repr, KERNELS))
        raise refuse("kernel", kernel, f"one of {names}, a kernel such as RBF() or a function K(X, Z){hint}")
    return CustomKernel(kernel)


def arguments_of(kernel: Kernel) -> dict[str, Any]:
    """What makes this kernel as arguments of ``svm()``: its name and numbers where these say it all, else itself.

    Examples
    --------
    >>> from svmstat.kernels import RBF, Linear
    >>> arguments_of(RBF(gamma=0.5)), arguments_of(2 * Linear())
    ({'kernel': 'rbf', 'gamma': 0.5}, {'kernel': 2.0 * Linear()})
    """
    parameters = kernel.parameters
    if KERNELS.get(kernel.title) is type(kernel) and parameters.keys() <= set(ARGUMENTS):
        return {"kernel": kernel.title, **parameters}
    return {"kernel": kernel}
