import subprocess
import sys
from types import SimpleNamespace

import numpy as np
from numba import types

from svmstat._tools import ahead


def test_each_list_is_compiled_for_the_types_of_its_arguments_in_its_turn(monkeypatch):
    asked = []

    def function(name):
        return SimpleNamespace(compile=lambda given: asked.append((name, given)))

    monkeypatch.setitem(
        sys.modules, "one", SimpleNamespace(LIST=((function("a"), (0.5,)), (function("b"), (np.int64(1), 2))))
    )
    monkeypatch.setitem(sys.modules, "two", SimpleNamespace(MORE=((function("c"), ()),)))
    monkeypatch.setattr(ahead, "LISTS", (("one", "LIST"), ("two", "MORE")))
    ahead.compile_all()
    assert asked == [("a", (types.float64,)), ("b", (types.int64, types.int64)), ("c", ())]


def test_the_first_list_comes_without_what_only_the_others_need():
    """A process that begins with pandas begins a quarter of a second later."""
    module, name = ahead.LISTS[0]
    look = f"import sys, {module}; print(len({module}.{name}) > 0, 'pandas' in sys.modules)"
    seen = subprocess.run([sys.executable, "-c", look], check=True, capture_output=True, text=True).stdout
    assert seen.split() == ["True", "False"]
