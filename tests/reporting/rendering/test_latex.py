"""LaTeX: every name is escaped, numbers are in mathematics."""

import re

import pytest

from svmstat.reporting.rendering.latex import escape, render
from svmstat.reporting.rendering.parts import Block, Entry, Table


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("50%_a", r"50\%\_a"),
        ("a & b # c $ d", r"a \& b \# c \$ d"),
        ("{x}", r"\{x\}"),
        ("\\", r"\textbackslash{}"),
        ("x^2~y", r"x\textasciicircum{}2\textasciitilde{}y"),
        ("<a>|b|", r"\textless{}a\textgreater{}\textbar{}b\textbar{}"),
        ("a--b", "a-{}-{}b"),
        ("[1]*", "{[}1]{*}"),
        ("γ ≤ σ²", r"\ensuremath{\gamma} \ensuremath{\leq} \ensuremath{\sigma}\textsuperscript{2}"),
        ("é", "é"),
    ],
)
def test_escape(text, latex):
    assert escape(text) == latex


@pytest.mark.parametrize(
    ("value", "style", "latex"),
    [
        (-0.5, "estimate", "$-0.50000$"),
        (3.14e-10, "residual", r"$3.1 \times 10^{-10}$"),
        (2e12, "estimate", r"$2.0000 \times 10^{12}$"),
        (float("nan"), "estimate", "nan"),
        (float("-inf"), "estimate", "-{}inf"),
        (None, "estimate", "-{}"),
        ((-1, 0.25), "setting", "{[}$-1$, $0.25$]"),
        ((float("-inf"), 1e-9), "setting", r"{[}-{}inf, $1 \times 10^{-9}$]"),
        ("-1", "estimate", "-{}1"),
    ],
)
def test_entries(value, style, latex):
    text = render("T", [Block(left=(Entry("  b_1", value, style),))], [], [])
    assert rf"\quad b\_1 & {latex} &  &  \\" in text.splitlines()


def test_tables():
    table = Table(("n", "a_b"), ("no",), ((2.5, "x"),), ("setting", "setting"), "T_1")
    assert render("T", [table], ["a note"], ["careful"]).splitlines() == [
        r"% needs \usepackage{booktabs,longtable}",
        r"\begingroup\setlength{\parindent}{0pt}\setlength{\LTleft}{0pt}\small",
        r"\textbf{T}",
        r"\par\medskip\textbf{Warning: careful}",
        r"\par\medskip",
        r"\textit{T\_1}\par\nobreak\smallskip",
        r"\begin{tabular}{@{}lr" + r"l@{}}",
        r"\toprule & n & a\_b \\ \midrule",
        r"no & $2.5$ & x \\",
        r"\bottomrule \end{tabular}",
        r"\par\medskip a note",
        r"\par\endgroup",
    ]


def test_what_is_wider_than_a_page_is_broken_as_in_the_text():
    names = [f"boreal forest, felled in {1990 + k}" for k in range(8)]
    table = Table(tuple(names), ("a row with a very long name " * 4, "b"), ((0.25,) * 8,) * 2, ("share",) * 8)
    text = render("T", [table], [], [])
    assert text.count(r"\begin{tabular}{@{}p{0.31\linewidth}") == text.count(r"\end{tabular}") > 1
    assert text.count(r"\shortstack[r]{boreal forest,\\felled in ") == 8
    assert len(re.findall(r"^b (?:& \$0\.2500\$ )+", text, re.MULTILINE)) == text.count(r"\toprule")


@pytest.mark.parametrize(("rows", "environment"), [(35, "tabular"), (36, "longtable")])
def test_a_long_table_breaks_across_pages(rows, environment):
    table = Table(("x",), tuple(f"r{i}" for i in range(rows)), tuple((i,) for i in range(rows)), ("count",))
    text = render("T", [table], [], [])
    assert re.findall(r"\\(?:begin|end)\{(\w+)\}", text) == [environment] * 2
    assert (r"\endhead" in text) == (environment == "longtable")


def test_indented_rows_of_a_table():
    table = Table(("x",), ("all", "  some"), ((2,), (1,)), ("count",))
    text = render("t", (table,), (), ())
    assert "\nall & " in text and r"\quad some & " in text
