"""HTML: well formed whatever the names are, and minus signs that are minus signs."""

from html import unescape
from xml.etree import ElementTree

import pytest

from svmstat.reporting.rendering.html import document, render
from svmstat.reporting.rendering.parts import Block, Entry, Table

ODD = ["<b>", "a & b", "'\"", "50%_a", "</style><script>alert(1)</script>", "]]>"]


def tree(*parts, title="T", notes=(), warnings=()):
    return ElementTree.fromstring(render(title, parts, notes, warnings))


def texts(element, kind):
    return ["".join(item.itertext()) for item in element.iter(kind)]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_stay_text(name):
    block = Block(title=name, wide=(Entry(name, name),), left=(Entry("n", 1, "count"),))
    table = Table((name,), (name,), ((name,),), ("estimate",), name)
    element = tree(block, table, title=name, notes=[name], warnings=[name])
    assert texts(element, "th") == [name, "n", "", name, name]
    assert texts(element, "td") == [name, "1", name]
    assert texts(element, "p") == [name, f"Warning: {name}", name, name, name]
    assert not list(element.iter("script"))


def test_numbers_have_minus_signs_and_names_have_hyphens():
    left = (Entry("b", -0.5), Entry("interval", (-1, 2e-12)))
    right = (Entry("level", "-1"), Entry("C", 1e-9, "setting"))
    assert texts(tree(Block(left=left, right=right)), "td") == [
        "−0.50000",
        "[−1.0000, 2.0000e-12]",
        "-1",
        "1e-09",
    ]


def test_points_agree_by_blanks_as_wide_as_digits():
    table = Table(("x",), ("a", "b"), ((1,), (2.5,)), ("setting",))
    assert texts(tree(table), "td") == ["1\u2008\u2007", "2.5"]


def test_indented_labels():
    assert texts(tree(Block(right=(Entry("  gamma", 1, "count"),))), "th") == ["\u2003gamma"]
    assert texts(tree(Table(("x",), ("all", "  some"), ((2,), (1,)), ("count",))), "th")[2:] == ["all", "\u2003some"]


def test_a_warning_is_an_alert():
    element = tree(warnings=["w"])
    assert [item.get("role") for item in element.iter("p")] == [None, "alert"]


def test_a_document():
    page = document("a < b", "<p>x</p>")
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>a &lt; b</title>" in page
    assert "<p>x</p>" in unescape(page)
