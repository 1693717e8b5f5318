import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest

import svmstat
from svmstat._tools import compiled as compiled_module
from svmstat._tools import second
from svmstat._tools.compiled import _Notice, clear, compiled, copy_into, nothing_on_disk
from svmstat.calibration.platt import deviance
from svmstat.solver import ahead, have_helped
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


def decorator(definition):
    """The call of `compiled` above a function; None for others."""
    return next(
        (each for each in getattr(definition, "decorator_list", ()) if ast.unparse(each).startswith("compiled(")), None
    )


def names_in(node):
    each = list(ast.walk(node))
    attributes = [n for n in each if isinstance(n, ast.Attribute) and ast.unparse(n.value) != "ast"]
    return {n.id for n in each if isinstance(n, ast.Name)} | {n.attr for n in attributes}


def by_python(tree, place, modules):
    """(module, name) of what is named outside of imports and compiled functions; "" for where nobody knows."""
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module in modules]
    known = {each.name: node.module for node in imports for each in node.names}
    known |= {node.name: place for node in tree.body if isinstance(node, ast.FunctionDef)}
    others = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom) and not decorator(node)]
    names = set().union(*map(names_in, others))
    return {(known.get(name, where), name) for name in names for where in (place, "")}


def test_what_python_calls_has_a_wrapper_for_it():
    """And what only compiled functions call has none: it takes a tenth of the time of a first call."""
    package, tests = Path(svmstat.__file__).parent, Path(__file__).parents[1]
    own = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"))
        for path in package.rglob("*.py")
    }
    others = [
        ast.parse(path.read_text(encoding="utf-8"))
        for path in (*tests.rglob("*.py"), *tests.with_name("benchmarks").rglob("*.py"))
    ]
    inside, outside = set(), set()
    for place, tree in own.items():
        for node in filter(decorator, tree.body):
            (inside if "inside=True" in ast.unparse(decorator(node)) else outside).add((place, node.name))
    named = set().union(*(by_python(tree, place, own) for place, tree in own.items()))
    named |= set().union(*(by_python(tree, "", own) for tree in others))

    def called_by_python(function):
        _, name = function
        return function in named or (not name.startswith("_") and ("", name) in named)

    assert len(inside) > 20 and len(outside) > 20
    assert sorted(filter(called_by_python, inside)) == []
    assert sorted(each for each in outside if not called_by_python(each)) == []


def test_division_is_that_of_numpy():
    @compiled()
    def ratio(a, b):
        return a / b

    assert np.isinf(ratio(1.0, 0.0)) and np.isnan(ratio(0.0, 0.0))


def test_what_has_been_compiled_is_on_disk(tmp_path, monkeypatch):
    text = "from svmstat._tools.compiled import compiled\n\n@compiled()\ndef more(x):\n    return x + 1.0\n"
    (tmp_path / "compiled_once.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    more = import_module("compiled_once").more
    assert nothing_on_disk(more)
    assert more(1.0) == 2.0
    assert not nothing_on_disk(more)


def test_where_no_folder_can_be_written_each_process_compiles(monkeypatch, capsys):
    def refused(function):
        raise RuntimeError(f"cannot cache function {function.__name__!r}: no locator available")

    with monkeypatch.context() as patch:
        patch.setattr(compiled_module, "_Shared", refused)

        @compiled_module.compiled()
        def twice(x):
            return 2.0 * x

    assert twice(3.0) == 6.0
    assert not nothing_on_disk(twice) and not compiled_module.is_kept(twice)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(compiled_module, "is_kept", lambda _: False)
    _Notice().on_start(compiling(smo))
    assert "in every process anew" in capsys.readouterr().err


@pytest.mark.parametrize(("empty", "others", "expected"), [(True, None, 1), (True, "claims", 0), (False, None, 0)])
def test_help_is_had_once_and_where_nothing_has_been_compiled(monkeypatch, empty, others, expected):
    started = []
    monkeypatch.setattr(ahead, "nothing_on_disk", lambda _: empty)
    monkeypatch.setattr(second, "may_start", lambda: True)
    monkeypatch.setattr(second, "start", lambda: started.append(True))
    monkeypatch.setattr(second.together, "claims", others)
    have_helped()
    assert len(started) == expected


def test_everything_is_plain_python_where_numba_is_switched_off():
    program = """
        import numpy as np, pandas as pd
        from svmstat import svm
        from svmstat._tools.compiled import OFF
        x = np.sin(np.arange(24.0) ** 2)
        fit = svm("y ~ x", pd.DataFrame({"x": x, "y": np.arange(24) % 3 > 0}))
        print(OFF, fit.converged, round(fit.loo().score, 6))
    """
    said = [
        subprocess.run(
            [sys.executable, "-P", "-c", dedent(program)], capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
        ).stdout.split()
        for off in ("1", "0")
    ]  # fmt: skip
    assert said[0][0] == "True" and said[1][0] == "False" and said[0][1:] == said[1][1:]


def test_what_borrows_leaves_arrays_to_their_owners():
    @compiled(inside=True, borrowing=True)
    def summed(row):
        total = 0.0
        for each in row:
            total += each
        return total

    @compiled(borrowing=True)
    def sums_of(matrix, out):
        for i in range(matrix.shape[0]):
            out[i] = summed(matrix[i])

    @compiled()
    def doubled(matrix):
        out = np.empty(matrix.shape[0])
        sums_of(matrix, out)
        for i in range(out.shape[0]):
            out[i] *= 2.0
        return out

    matrix, out = np.arange(6.0).reshape(2, 3), np.empty(2)
    held = sys.getrefcount(matrix), sys.getrefcount(out)
    for _ in range(3):
        sums_of(matrix, out)
    assert (sys.getrefcount(matrix), sys.getrefcount(out)) == held
    np.testing.assert_array_equal(out, [3.0, 12.0])
    np.testing.assert_array_equal(doubled(matrix), [6.0, 24.0])
    assert sys.getrefcount(matrix) == held[0]
