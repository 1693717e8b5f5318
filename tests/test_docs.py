"""What the documentation says of files and figures; its examples run as doctests."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page):
    """A module of the solver is named without its folder."""
    named = re.findall(r"`([\w./-]+\.(?:py|md|txt|toml|yaml|cff))`", page.read_text())
    homes = (ROOT, ROOT / "svmstat" / "solver")
    assert [name for name in named if not any((home / name).is_file() for home in homes)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_quoted_figures_are_what_a_benchmark_wrote(page):
    """Each line of a block ```text is a line of the result that the text before it names."""
    blocks = re.findall(r"`benchmarks/results/([\w-]+\.txt)`\):\n\n```text\n(.*?)```", page.read_text(), re.DOTALL)
    assert page.read_text().count("```text") == len(blocks)
    for name, block in blocks:
        written = (ROOT / "benchmarks" / "results" / name).read_text().splitlines()
        assert [line for line in block.splitlines() if line not in written] == []
