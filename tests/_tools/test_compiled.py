import sys
from types import SimpleNamespace

import numpy as np

from svmstat._tools.compiled import _Notice, clear, copy_into
from svmstat.calibration.platt import deviance
from svmstat.solver.rough.smo import smo


def compiling(function):
    return SimpleNamespace(data={"dispatcher": function})


def test_the_notice_is_given_once(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    notice = _Notice()
    notice.on_start(compiling(deviance))  # not the solver: something rare, of a fraction of a second
    assert capsys.readouterr().err == ""
    for _ in range(2):
        notice.on_start(compiling(smo))
    assert capsys.readouterr().err == "svmstat: compiling the solver, once\n"


def test_no_notice_for_a_pipe(capsys):
    _Notice().on_start(compiling(smo))
    assert capsys.readouterr().err == ""


def test_clear():
    target = np.ones(3)
    clear(target, 2)
    np.testing.assert_array_equal(target, [0.0, 0.0, 1.0])


def test_copy_into():
    target = np.zeros((2, 3))
    copy_into(target[1], np.arange(3.0))
    np.testing.assert_array_equal(target, [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]])
