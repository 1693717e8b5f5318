"""What is computed when it is first asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Value = TypeVar("Value")


@dataclass(slots=True)
class Once:
    """What is computed when it is first asked for, and kept.

    Examples
    --------
    >>> once = Once()
    >>> once.get(lambda: [1]) is once.get(lambda: [2])
    True
    """

    value: Any = None

    def get(self, compute: Callable[[], Value]) -> Value:
        """The value, which is not None."""
        if self.value is None:
            self.value = compute()
        found: Value = self.value
        return found
