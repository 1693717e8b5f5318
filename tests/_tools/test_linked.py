import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

MODULE = """
import numpy as np
from svmstat._tools.compiled import compiled


@compiled(inside=True)
def doubled(x):
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = 2.0 * x[i]
    return out


@compiled(inside=True)
def summed(x):
    total = 0.0
    for each in doubled(x):
        total += each
    return total


@compiled()
def twice_the_sum(x):
    return summed(x)


@compiled()
def half_the_sum(x):
    return summed(x) / 4.0
"""

CALL = (
    "import numpy as np, linked_functions as f; print(f.{}(np.arange(4.0)), sum(f.summed.stats.cache_misses.values()))"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "linked_functions.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def called(folder):
    """What a new process prints that calls one of the functions above; what is compiled stays on disk."""

    def call(name):
        done = subprocess.run(
            [sys.executable, "-c", CALL.format(name)], capture_output=True, text=True, check=True, cwd=folder,
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")},
        )  # fmt: skip
        return done.stdout.split()

    return call


def symbols(function):
    """Those of the object file, less the variables that keep constants."""
    library = function.overloads[function.signatures[0]].library
    assert isinstance(library, JITCodeLibrary)
    names = library._get_compiled_object().split(b"\0")
    return b"\n".join(each for each in names if b"NumbaEnv" not in each)


def test_what_is_inside_has_no_machine_code_but_what_calls_it_has(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    functions = import_module("linked_functions")
    assert functions.twice_the_sum(np.arange(4.0)) == 12.0
    assert b"summed" not in symbols(functions.summed)
    assert b"twice_the_sum" in symbols(functions.twice_the_sum)


def test_another_process_links_what_is_on_disk(called):
    """Into what has been compiled, and into what has not."""
    assert called("twice_the_sum") == ["12.0", "1"]
    assert called("twice_the_sum") == ["12.0", "0"]
    assert called("half_the_sum") == ["3.0", "0"]
