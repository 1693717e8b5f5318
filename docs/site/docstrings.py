"""Docstrings as the reference shows them: types as they are written, defaults as they are, links to the pages."""

import inspect
import re
from importlib import import_module
from typing import Any

import griffe


class AsWritten(griffe.Extension):
    """What griffe would make of a docstring of numpydoc, but for what it would take for expressions of Python."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Give a default that has a private name its value."""
        hidden = [each for each in func.parameters if str(each.default).startswith("_")]
        if hidden and func.parent.is_module:
            actual = inspect.signature(getattr(import_module(func.parent.path), func.name)).parameters
            for each in hidden:
                each.default = repr(actual[each.name].default)

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Parse the docstring, and put the types of its lists back as they stand in it."""
        if obj.docstring is None:
            return
        obj.docstring.value = re.sub(r"\bdocs/(\w+)\.md\b", r"[docs/\1.md](../\1.html)", obj.docstring.value)
        sections = obj.docstring.parse("numpy", warnings=False)
        written = dict(re.findall(r"^(\w[\w, *]*?) : (.+)$", obj.docstring.value, re.MULTILINE))
        types = {name.strip(" *"): kind for names, kind in written.items() for name in names.split(",")}
        listed = {griffe.DocstringSectionKind.parameters, griffe.DocstringSectionKind.attributes}
        for section in sections:
            for item in section.value if section.kind in listed else []:
                item.annotation = types.get(item.name.strip("*"), item.annotation)
                item.value = None  # the signature has the defaults
        obj.docstring.parsed = sections
