"""Markdown: nothing that is shown is markup, and every row of a table has as many cells as its head."""

import re

import pytest

from svmstat.reporting.rendering.markdown import escape, render
from svmstat.reporting.rendering.parts import Block, Entry, Table


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("egg_count > 0", "egg_count > 0"),
        ("_x_ and *y*", r"\_x\_ and \*y\*"),
        ("P(y|x)", r"P(y\|x)"),
        ("<b>&amp;", r"\<b>\&amp;"),
        ("[003] `a` $b$ ~c~ d^2", r"\[003\] \`a\` \$b\$ \~c\~ d\^2"),
        ("a\n\nb", "a b"),
        ("\\", r"\\"),
    ],
)
def test_escape(text, markdown):
    assert escape(text) == markdown


@pytest.mark.parametrize("start", ["# a", "+ a", "- a", "> a", "1. a", "12) a", "-"])
def test_no_paragraph_starts_as_a_list_or_a_heading(start):
    last = render("T", [], [start], []).rpartition("\n\n")[2]
    assert re.match(r"(?:\d*\\)", last)
    assert last.replace("\\", "") == start


@pytest.mark.parametrize("start", ["-2 log p", "+-1.96 of it", "1.5 times"])
def test_numbers_at_the_start_of_a_paragraph_stay(start):
    assert render("T", [], [start], []).endswith(f"\n\n{start}")


def test_tables():
    table = Table(("n", "a|b"), ("no", "  yes"), ((2.5, "x"), (10, "y")), ("setting", "setting"), "T*")
    assert render("T", [table], ["a note"], ["careful"]).splitlines()[2:] == [
        "> **Warning:** careful",
        "",
        r"*T\**",
        "",
        "|           |   n | a\\|b |",
        "| --------- | --: | ---- |",
        "| no        | 2.5 | x    |",
        "| &emsp;yes |  10 | y    |",
        "",
        "a note",
    ]


def test_blocks():
    block = Block("", (Entry("Formula", "y ~ x"),), (Entry("n", 634, "count"), Entry("b", (-1, 1))), (Entry("h", 0.5),))
    wide, halves = render("T", [block], [], []).split("\n\n")[1:]
    assert wide.splitlines()[2:] == [r"| Formula | y \~ x |"]
    assert [re.split(r" *\| *", line)[1:-1] for line in halves.splitlines()[2:]] == [
        ["n", "634", "h", "0.50000"],
        ["b", r"\[-1.0000, 1.0000\]", "", ""],
    ]
