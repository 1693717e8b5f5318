"""What several keep in memory together, as a kernel matrix and its parts."""

from threading import Lock
from typing import Protocol
from weakref import ref


class Part(Protocol):
    """What keeps values that can be computed again."""

    def forget(self) -> None:
        """Keep none."""


class Shelf:
    """Where a matrix and its parts, those of all pairs of classes say, keep their values.

    Beyond a budget the parts that grew first forget theirs. A part that is gone takes nothing. Threads may let parts
    grow at the same time.

    Parameters
    ----------
    budget : bytes
    """

    __slots__ = ("_budget", "_lock", "_sizes", "whole")

    def __init__(self, budget: int) -> None:
        self._budget, self._lock = budget, Lock()
        self._sizes: dict[ref[Part], int] = {}
        self.whole = 0

    def has_room(self, size: int) -> bool:
        """Whether so many bytes more are within the budget."""
        with self._lock:
            return self._taken() + size <= self._budget

    def grown(self, part: Part, size: int) -> None:
        """A part has so many bytes now; others forget theirs until all are within the budget, if that is possible."""
        with self._lock:
            own = ref(part)
            self._sizes.pop(own, None)
            self._sizes[own] = size
            excess = self._taken() - self._budget
            for each in list(self._sizes):
                if excess <= 0 or each == own:
                    return
                excess -= self._sizes.pop(each)
                if (other := each()) is not None:
                    other.forget()

    def _taken(self) -> int:
        """The bytes of all; those that are gone are found out where it would matter."""
        if self.whole + sum(self._sizes.values()) > self._budget:
            self._sizes = {each: size for each, size in self._sizes.items() if each() is not None}
        return self.whole + sum(self._sizes.values())
