"""Every source that the code or the documentation cites is in docs/references.md, and nothing else is."""

import ast
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REFERENCES = ROOT / "docs" / "references.md"
CITING = sorted((ROOT / "svmstat").rglob("*.py")) + sorted(set((ROOT / "docs").rglob("*.md")) - {REFERENCES})

NAME = r"(?:(?:le|van)\s+)?[A-Z]\w+(?:-[A-Z]\w+)*"
AUTHORS = rf"{NAME}(?:,\s+{NAME})*(?:\s+&\s+{NAME})?"
PLACE = r"(?::[^\]]*)?"
KEYS = (
    rf"\[(0\d\d){PLACE}\]",  # [000: 12]
    rf"\[({AUTHORS}\s+[12]\d\d\d){PLACE}\]",  # [Platt 1999]
    rf"({AUTHORS}\s+\([12]\d\d\d\))",  # Platt (1999)
)


def keys(text):
    """The keys that a text cites, each in the form in which docs/references.md has it."""
    found = (match for pattern in KEYS for match in re.findall(pattern, text))
    return {re.sub(r"\s+", " ", match).translate({ord("("): None, ord(")"): None}) for match in found}


def prose(path):
    """The text of a page; of a module its docstrings and comments."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    strings = (
        node.value.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    with path.open("rb") as file:
        comments = [token.string for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT]
    return "\n".join([*strings, *comments])


def entries():
    return re.findall(r"^- \*\*\[(.+?)\]\*\*", REFERENCES.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the path [003], and [000: 13–18]", {"003", "000"}),
        ("as in [004: Theorem 2] and [002: 8, 9]", {"004", "002"}),
        ("[Higham & Mary 2019]", {"Higham & Mary 2019"}),
        ("Reference: Fan, Chen & Lin (2005), Working set selection", {"Fan, Chen & Lin 2005"}),
        ("Platt (1999); Wu, Lin & Weng\n    (2004)", {"Platt 1999", "Wu, Lin & Weng 2004"}),
        ("x[100], K[:400], since 2005 (of 2019)", set()),
    ],
)
def test_what_is_a_citation(text, expected):
    assert keys(text) == expected


def test_every_citation_has_an_entry():
    known = set(entries())
    missing = {(str(path.relative_to(ROOT)), key) for path in CITING for key in keys(prose(path)) - known}
    assert missing == set()


def test_every_entry_is_cited_and_there_is_one_for_each_source():
    cited = set().union(*(keys(prose(path)) for path in CITING))
    assert sorted(entries()) == sorted(cited)
