"""Attributes of frozen results that are read as copies: whoever changes a table changes nothing that is said of it."""

from collections.abc import Callable, Mapping
from types import MemberDescriptorType
from typing import Any, TypeVar

from svmstat._tools.frames import unshared

Class = TypeVar("Class", bound=type)


class _Copied:
    """What stands in a slot, of which everyone who reads it has a copy of his own."""

    def __init__(self, slot: MemberDescriptorType) -> None:
        self._slot = slot

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else _copy(self._slot.__get__(instance, owner))

    def __set__(self, instance: Any, value: Any) -> None:
        self._slot.__set__(instance, value)


def read_as_copies(*names: str) -> Callable[[Class], Class]:
    """Make attributes of a dataclass with slots, frames or mappings, ones that are read as copies.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @read_as_copies("costs")
    ... @dataclass(frozen=True, slots=True)
    ... class Result:
    ...     costs: dict
    >>> result = Result({"C": 2.0})
    >>> result.costs["C"] = 9.0
    >>> result.costs
    {'C': 2.0}
    """

    def changed(kind: Class) -> Class:
        for name in names:
            setattr(kind, name, _Copied(getattr(kind, name)))
        return kind

    return changed


def _copy(value: Any) -> Any:
    """A copy of a frame, and of a mapping with what can be changed in it."""
    found = unshared(value)
    if isinstance(value, Mapping):
        found.update({name: unshared(each) for name, each in value.items()})
    return found
