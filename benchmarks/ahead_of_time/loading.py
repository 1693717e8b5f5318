"""A built library as an object with ``smo`` and ``walk_all``; imports nothing of svmstat, whose import is not timed."""

import sys
from importlib import import_module
from pathlib import Path

from benchmarks.ahead_of_time import by_ctypes

LEVELS = {1: 0, 3: 1, 4: 2}
"""Which of three modules is for the level that a processor has."""


def load(folder, names):
    """The library of that name in a folder; of several the one for this processor, by what the first says of it."""
    if names[0].startswith("rust"):
        return by_ctypes.functions(Path(folder) / f"{names[0]}.so")
    sys.path.insert(0, str(folder))
    module = import_module(names[0])
    return module if len(names) == 1 else import_module(names[LEVELS[module.level()]])
