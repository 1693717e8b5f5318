import os
import sys
from importlib import import_module, invalidate_caches
from pkgutil import walk_packages

import pytest
from numba.core.dispatcher import Dispatcher

import svmstat
from svmstat._tools.compiled import compiled
from svmstat._tools.stamps import stamp
from svmstat.solver.rough.extremes import larger

UNKNOWN = {"a": 1}

OTHER = """
import numpy as np
from typing import NamedTuple
from svmstat._tools.compiled import compiled

FACTOR = 2.0
TABLE = np.array([1.0, 2.0])


class Pair(NamedTuple):
    first: float
    second: float


@compiled(inside=True)
def moved(x):
    return x + TABLE[0]
"""

MODULE = """
from other_for_stamps import FACTOR, Pair, moved
from svmstat._tools.compiled import compiled

@compiled({})
def changed(x):
    return FACTOR * moved(Pair(x, 0.0).first)
"""


@pytest.fixture
def changed(tmp_path, monkeypatch):
    """The function of two files that are written and imported anew, both at the same time of 1970 and later."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python itself would take files as old for the same
    names = ("other_for_stamps", "module_for_stamps")

    def imported(old="", new="", options="", at=1):
        for name, text in zip(names, (OTHER, MODULE.format(options)), strict=True):
            monkeypatch.delitem(sys.modules, name, raising=False)
            assert not old or old in OTHER + MODULE
            path = tmp_path / f"{name}.py"
            path.write_text(text.replace(old, new) if old else text, encoding="utf-8")
            os.utime(path, (at, at))
        invalidate_caches()
        return import_module(names[1]).changed

    return imported


def test_every_compiled_function_has_a_stamp_of_its_own():
    modules = [import_module(each.name) for each in walk_packages(svmstat.__path__, "svmstat.")]
    found = {id(each): each for module in modules for each in vars(module).values() if isinstance(each, Dispatcher)}
    assert len(found) > 100
    assert len({stamp(each) for each in found.values()}) == len(found)


def test_files_that_are_written_again_are_not_compiled_again(changed):
    first = changed()
    assert first(1.0) == 4.0 and sum(first.stats.cache_hits.values()) == 0
    again = changed(at=1000)
    assert again(1.0) == 4.0 and sum(again.stats.cache_misses.values()) == 0


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("FACTOR = 2.0", "FACTOR = 3.0", 6.0),
        ("x + TABLE[0]", "x + TABLE[1]", 6.0),
        ("[1.0, 2.0]", "[5.0, 2.0]", 12.0),
        ("Pair(x, 0.0)", "Pair(x, 9.0)", 4.0),
    ],
)
def test_what_has_changed_is_compiled_again(changed, old, new, expected):
    """Also where the file of the function is as old as it was."""
    assert changed()(1.0) == 4.0
    other = changed(old, new)
    assert other(1.0) == expected and sum(other.stats.cache_hits.values()) == 0


def test_options_and_fields_count(changed):
    stamps = {
        stamp(changed()),
        stamp(changed(options="fastmath={'nnan', 'nsz'}")),
        stamp(changed(options="fastmath={'nsz'}")),
        stamp(changed("first: float", "first: float\n    middle: float")),
    }
    assert len(stamps) == 4
    assert stamp(changed(options="fastmath={'nsz', 'nnan'}")) in stamps


def test_a_function_may_call_itself_and_intrinsics():
    @compiled()
    def halvings(x):
        return 0 if larger(x, 1.0) == 1.0 else 1 + halvings(x / 2.0)

    assert len(stamp(halvings)) == 64


def test_what_might_change_without_notice_is_refused():
    @compiled()
    def looked_up(x):
        return x + len(UNKNOWN)

    with pytest.raises(TypeError, match=r"refers to \{'a': 1\}, whose changes would go unnoticed"):
        stamp(looked_up)
