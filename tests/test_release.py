"""The version is in one place, the tag; what else tells of it agrees."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_changelog_citation_and_fallback_agree():
    newest, unreleased = re.search(
        r"^## (\S+)( \(unreleased\))?", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    ).groups()
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited[1] == newest
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    if unreleased:
        assert project["tool"]["hatch"]["version"]["fallback-version"] == f"{newest}.dev0"
