"""The four forms in which a summary is shown, read without their markup."""

import re
from html import unescape

import pytest

WIDTH = 78

in_each_form = pytest.mark.parametrize("form", ["text", "html", "latex", "markdown"])


def plain(summary, form):
    """The summary as text without markup, one blank between the words."""
    match form:
        case "text":
            text = str(summary)
        case "html":
            text = unescape(re.sub("<[^>]*>", " ", summary.as_html().partition("</style>")[2]))
            text = text.translate({0x2212: "-", 0x2007: None, 0x2008: None})
        case "latex":
            text = re.sub(r"\\phantom\{[^}]*\}", "", summary.as_latex())
            text = re.sub(r" \\times 10\^\{(-?)(\d)\}", r"e\g<1>0\2", text)
            text = re.sub(r" \\times 10\^\{(-?\d+)\}", r"e\1", text)
            text = text.replace("$", "").replace("{}", "").replace("\\_", "_").replace(r"\textgreater", ">")
        case "markdown":
            text = re.sub(r"^\|(?: :?-+:? \|)+$", "", summary.as_markdown(), flags=re.MULTILINE)
            text = re.sub(r"(?<!\\)[|*]|^> |&emsp;", " ", text, flags=re.MULTILINE)
            text = re.sub(r"\\(?=[^\w\s])", "", text)
    return " ".join(text.split())


def assert_narrow(summary):
    lines = str(summary).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert all(line == line.rstrip() for line in lines)


def assert_names_are_harmless(summary, name):
    """A name that is shown is neither markup of a page nor a command or comment of LaTeX."""
    assert re.sub(r"\s", "", name) in re.sub(r"\s", "", str(summary))
    html = summary.as_html().partition("</style>")[2]
    assert "<script" not in html and " ".join(name.split()) in unescape(html)
    latex = summary.as_latex()
    assert balanced(latex)
    body = "\n".join(line for line in latex.splitlines() if not line.startswith("% needs"))
    assert not re.search(r"(?<!\\)[%#]", body)  # a comment would swallow the rest of its line
    assert not re.search(r"(?<![\\\w])_", body)


def balanced(latex):
    """Whether braces and environments close in the order in which they opened."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", latex.replace(r"\\", "")):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    environments = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", latex):
        if kind == "begin":
            environments.append(name)
        elif not environments or environments.pop() != name:
            return False
    return depth == 0 and not environments


def assert_forms_agree(shown):
    """A summary as an object."""
    assert str(shown) == repr(shown) == shown.as_text()
    assert shown._repr_html_() == shown.as_html()
    assert shown.as_html(document=True).startswith("<!DOCTYPE html>")
    assert shown.as_html() in shown.as_html(document=True)
    assert shown._repr_latex_() == shown.as_latex()
    assert balanced(shown.as_latex())
