"""Every import points to a lower floor, and none hides in a function."""

import ast
from pathlib import Path

import pytest

import svmstat

ROOT = Path(svmstat.__file__).parent
FLOORS = (
    {"errors"},
    {"_tools"},
    {"solver"},
    {"kernels", "formula"},
    {"objective"},
    {"machine"},
    {"calibration"},
    {"resampling", "storage"},
    {"datasets", "reporting"},
    {"diagnostics"},
    {"results"},
    {"prepared"},
    {"model", "comparison"},
    {"tuning", "report", "loading", "sklearn"},
    {"options"},
    {""},  # svmstat/__init__.py
    {"commands"},
    {"cli"},
)
FLOOR = {name: height for height, names in enumerate(FLOORS) for name in names}
MODULES = sorted(ROOT.rglob("*.py"))


def part(module):
    """The top-level part of the package that a dotted name belongs to."""
    names = module.split(".")
    return names[1] if len(names) > 1 else ""


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "svmstat":
            yield from (f"svmstat.{a.name}" if a.name in FLOOR else "svmstat" for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    own = path.relative_to(ROOT).with_suffix("").parts[0].replace("__init__", "")
    for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        if name.split(".")[0] == "svmstat" and part(name) != own:
            assert FLOOR[part(name)] < FLOOR[own], f"{own} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_import_inside_a_function(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            assert not any(isinstance(inner, ast.Import | ast.ImportFrom) for inner in ast.walk(node))


@pytest.mark.parametrize(
    ("library", "home"), [("patsy", "formula"), ("matplotlib", "reporting"), ("sklearn", "sklearn.py")]
)
def test_one_place_for_each_library(library, home):
    users = {
        path.relative_to(ROOT).parts[0]
        for path in MODULES
        for name in imported(ast.parse(path.read_text(encoding="utf-8")))
        if name.split(".")[0] == library
    }
    assert users <= {home}
