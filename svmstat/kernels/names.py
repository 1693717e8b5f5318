"""The kernels that are known by a name."""

from collections.abc import Callable
from typing import TypeVar

from svmstat.errors import ArgumentError
from svmstat.kernels.base import Kernel

KERNELS: dict[str, type[Kernel]] = {}
"""The kernels that ``svm``, ``tune`` and the command line know by a name; filled by `named`."""

AnyKernel = TypeVar("AnyKernel", bound=Kernel)


def named(name: str) -> Callable[[type[AnyKernel]], type[AnyKernel]]:
    """Make a class of kernels known by a name: to ``svm``, ``tune`` and the command line.

    Parameters
    ----------
    name : str
        What ``kernel=`` is to be. All parameters of the class must have defaults.

    Returns
    -------
    callable
        The decorator of the class.

    Raises
    ------
    ArgumentError
        If another class has the name.
    """

    def remember(kernel: type[AnyKernel]) -> type[AnyKernel]:
        other = KERNELS.get(name, kernel)
        if (other.__module__, other.__qualname__) != (kernel.__module__, kernel.__qualname__):
            raise ArgumentError(f"{name!r} is the name of the kernel {other.__module__}.{other.__qualname__} already.")
        kernel.name = name
        KERNELS[name] = kernel
        return kernel

    return remember
