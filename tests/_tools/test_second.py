import multiprocessing
import sys
from types import SimpleNamespace

import pytest

from svmstat._tools import second
from svmstat._tools.compiled import _Notice
from svmstat.solver.rough.smo import smo

SMO = SimpleNamespace(data={"dispatcher": smo})


@pytest.fixture
def willing(monkeypatch):
    """A Python of its own on two cores, whatever runs the tests."""
    monkeypatch.setenv("SVMSTAT_COMPILE_AHEAD", "1")
    monkeypatch.setattr(second.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3.11")
    assert second.may_start()
    return monkeypatch


@pytest.mark.parametrize(
    "spoil",
    [
        lambda patch: patch.setenv("SVMSTAT_COMPILE_AHEAD", "0"),
        lambda patch: patch.setattr(second.os, "sched_getaffinity", lambda _: {0}),
        lambda patch: patch.setattr(multiprocessing, "parent_process", lambda: "a worker's"),
        lambda patch: patch.setattr(sys, "executable", "/opt/blender/blender"),
        lambda patch: patch.setattr(sys, "executable", None),
        lambda patch: patch.setattr(sys, "frozen", True, raising=False),
    ],
    ids=["switched off", "one core", "worker", "embedded", "no executable", "frozen"],
)
def test_where_none_is_started(willing, spoil):
    spoil(willing)
    assert not second.may_start()


def test_the_first_compilation_starts_one(willing):
    started = []
    willing.setattr(second, "start", lambda: started.append(True))
    notice = _Notice()
    for _ in range(2):
        notice.on_start(SMO)
    assert started == [True]


def test_it_ends_with_the_process(monkeypatch):
    monkeypatch.setattr(second, "_MODULE", "svmstat")  # has no __main__: it ends at once, with an error that none sees
    process = second.start()
    second.end(process)
    assert process.returncode is not None
    second.end(process)
