"""What several keep in memory together, as a kernel matrix and its parts."""

from threading import Lock
from typing import Protocol
from weakref import ref

_SMALL = 2**16
"""Bytes below which a part does not count: resampling makes and drops thousands of them."""


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
        return self._taken + size <= self._budget

    def grown(self, part: Part, size: int) -> None:
        """A part has so many bytes now; others forget theirs until all are within the budget, if that is possible."""
        if size < _SMALL:
            return
        with self._lock:
            own = ref(part, self._gone)
            self._sizes.pop(own, None)
            self._sizes[own] = size
            excess = self._taken - self._budget
            for each in tuple(self._sizes):
                if excess <= 0 or each == own:
                    return
                excess -= self._sizes.pop(each, 0)
                if (other := each()) is not None:
                    other.forget()

    def _gone(self, part: "ref[Part]") -> None:
        """Called at any time, also by the thread that has the lock: it takes none."""
        self._sizes.pop(part, None)

    @property
    def _taken(self) -> int:
        return self.whole + sum(tuple(self._sizes.values()))
