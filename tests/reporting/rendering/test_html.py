"""HTML: well formed whatever the names are, and minus signs that are minus signs."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from svmstat.reporting.rendering.html import NAME, document, render
from svmstat.reporting.rendering.parts import Block, Entry, Table
from svmstat.reporting.rendering.text import render as render_text

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


def test_wide_tables_are_set_as_in_the_text():
    names = tuple(f"column {k}" for k in range(11))
    table = Table(names, ("a", "b"), ((0.25,) * 11, (0.5,) * 11), ("share",) * 11)
    element, lines = tree(table), render_text("", [table], [], []).splitlines()
    found = [[head.text for head in each.iter("th") if head.get("scope") == "col"] for each in element.iter("table")]
    assert [name for each in found for name in each] == list(names)
    assert len(found) > 1
    assert [len(each) for each in found] == [line.count("column") for line in lines if "column" in line]


@pytest.mark.parametrize("text", ["-2.711e+12 to 2.118e+12", "-1.649e-12 to 1.225e-12", "-2 to -1.5"])
def test_ranges_have_signs_of_minus_and_are_not_broken(text):
    table = Table(("over",), ("x",), ((text,),), ("estimate",))
    (cell,) = texts(tree(table), "td")
    assert cell == re.sub(r"(?<!e)-", "\N{MINUS SIGN}", text).replace(" ", "\N{NO-BREAK SPACE}")


def test_a_warning_is_an_alert():
    element = tree(warnings=["w"])
    assert [item.get("role") for item in element.iter("p")] == [None, "alert"]


def test_a_document():
    page = document("a < b", "<p>x</p>")
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>a &lt; b</title>" in page
    assert "<p>x</p>" in unescape(page)


def rules():
    """Selector and declarations of every rule of the style."""
    (style,) = texts(tree(), "style")
    flat = re.sub(r"@media[^{]*{(.*)}\s*$", r"\1", style, flags=re.DOTALL)
    for selectors, declared in re.findall(r"([^{}]+){([^{}]*)}", flat):
        yield from ((each.strip(), declared) for each in selectors.split(","))


def test_the_style_outweighs_that_of_jupyter_and_touches_nothing_else():
    """Jupyter's rules for tables name up to three classes."""
    assert all(selector.startswith(NAME) and NAME.count(".") > 4 for selector, _ in rules())
    of_cells = next(declared for selector, declared in rules() if selector == f"{NAME} td")
    set_by_jupyter = "text-align padding white-space font-size vertical-align background line-height max-width border"
    assert all(f"{name}:" in of_cells for name in set_by_jupyter.split())


def test_colours_are_those_of_the_page():
    """Light or dark: what is added is translucent."""
    found = re.findall(
        r"(?:color|background|border[-a-z]*):([^;}]*)", " ".join(declared + ";" for _, declared in rules())
    )
    colours = [word for value in found for word in value.split() if not re.fullmatch(r"[\d.]+(px|em)?|solid", word)]
    allowed = r"inherit|none|collapse|#8888|#d333331a|#d33"
    assert {"inherit", "#8888"} <= set(colours) and all(re.fullmatch(allowed, each) for each in colours)
    assert 'name="color-scheme" content="light dark"' in document("T", "")


def test_a_formula_without_blanks_may_be_broken_after_an_operator():
    long, short = "+".join(f"mean_smoothness_{k}" for k in range(9)), "y~a+b"
    html = render("T", [Block(wide=(Entry("Formula", long), Entry("Other", short)))], (), ())
    assert long.replace("+", "+<wbr/>") in html and short in html
    assert texts(ElementTree.fromstring(html), "td") == [long, short]
