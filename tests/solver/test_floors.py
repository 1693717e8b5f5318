"""Inside the solver too every import points down: arithmetic, problem, rough, exact, roads, the one entry."""

import ast
from pathlib import Path

import pytest

import svmstat.solver

ROOT = Path(svmstat.solver.__file__).parent
FLOORS = (
    {"twofold"},
    {"active", "normal", "pivoted"},
    {"gram", "low_rank"},
    {"solution"},
    {"problem"},
    {"hulls", "flat", "case"},
    {"rough"},
    {"exact"},
    {"roads"},
    {"solve", "ahead"},
    {"__init__"},
)
HEIGHT = {name: height for height, names in enumerate(FLOORS) for name in names}
MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    own = path.relative_to(ROOT).with_suffix("").parts[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("svmstat.solver."):
            other = node.module.split(".")[2]
            assert other == own or HEIGHT[other] <= HEIGHT[own], f"{own} imports {other}"


def test_nothing_outside_knows_its_modules():
    for path in ROOT.parent.rglob("*.py"):
        if ROOT not in path.parents:
            assert "svmstat.solver." not in path.read_text(encoding="utf-8"), path.name
