"""Plain text: 78 columns, points under points."""

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svmstat.reporting.rendering.panels import width, wrap
from svmstat.reporting.rendering.parts import Block, Entry, Table
from svmstat.reporting.rendering.text import WIDTH, render


def lines(*parts, notes=(), warnings=()):
    return render("Title", parts, notes, warnings).splitlines()


def test_blocks():
    block = Block(
        title="Section",
        wide=(Entry("Formula", "y ~ x"),),
        left=(Entry("n", 634, "count"), Entry("b", 0.5)),
        right=(Entry("KKT", 1e-9, "residual"),),
    )
    assert lines(block)[2:-1] == [
        "Section",
        "Formula:  y ~ x",
        "n:                                634    KKT:                            1e-09",
        "b:                            0.50000",
    ]


def test_tables():
    table = Table(("n", "share"), ("no", "yes"), ((265, 0.418), (1369, None)), ("count", "share"), "T")
    assert lines(table)[2:-1] == [
        "T",
        "            n     share",
        "no        265    0.4180",
        "yes      1369    -",
    ]


def test_columns_that_do_not_fit_follow_below():
    frame = pd.DataFrame([[i * 1.5 for i in range(12)]], index=["row"], columns=[f"c{i}" for i in range(12)])
    text = lines(Table.from_frame(frame))
    heads = [line for line in text if " c" in line]
    assert len(heads) == 2
    assert [word for head in heads for word in head.split()] == list(frame.columns)
    assert sum(line.startswith("row") for line in text) == 2


def test_sections_are_ruled_off_and_continuations_are_not():
    entry = (Entry("a", 1),)
    text = lines(Block(left=entry), Block(left=entry), Block(title="S", left=entry))
    assert [line[:1] for line in text] == [" ", "=", "a", "", "a", "-", "S", "a", "="]


def test_warnings_and_notes():
    text = lines(warnings=["first\nwarning", "second"], notes=["a note"])
    assert text[2:6] == ["WARNING: first warning", "-" * WIDTH, "WARNING: second", "-" * WIDTH]
    assert text[-1] == "a note"


words = st.text(st.characters(exclude_categories=("C", "Z")), max_size=100)
names = st.lists(words, min_size=1, max_size=4).map(" ".join)
numbers = st.none() | st.booleans() | st.floats() | st.integers(-(10**9), 10**9) | names
entries = st.builds(Entry, st.sampled_from(["A label", "  indented"]), numbers).map(lambda entry: (entry,))


@st.composite
def tables(draw):
    headers = tuple(draw(st.lists(names, min_size=1, max_size=5)))
    index = tuple(draw(st.lists(names, max_size=4)))
    cells = tuple(tuple(draw(st.none() | st.floats()) for _ in headers) for _ in index)
    return Table(headers, index, cells, ("estimate",) * len(headers), draw(names))


blocks = st.builds(Block, names, entries, entries, entries)


@given(names, st.lists(tables() | blocks, max_size=3), st.lists(names, max_size=2))
@example("T", [Table(("",), ("",), ((None,),), ("estimate",))], [])
def test_no_line_is_wider_than_the_page(title, parts, notes):
    assert max(map(len, render(title, parts, notes, notes).splitlines())) <= WIDTH


@given(names, st.lists(tables() | blocks, max_size=3), st.lists(names, max_size=2))
@example("T", [Table(("水深" * 5, "b"), ("温度摄氏度" * 9, "ｘ"), ((0.1, 0.2),) * 2, ("estimate",) * 2)], ["水" * 99])
def test_nor_in_columns_of_a_terminal(title, parts, notes):
    assert max(map(width, render(title, parts, notes, notes).splitlines())) <= WIDTH


def test_wide_letters_and_accents_leave_numbers_below_each_other():
    index = ("depth", "水深", "cafe\N{COMBINING ACUTE ACCENT}", "温度 (°C)")
    rows = lines(Table(("estimate",), index, ((1.5,), (2.5,), (3.5,), (4.5,)), ("estimate",)))[3:-1]
    assert [width(row) for row in rows] == [width(rows[0])] * 4 and rows[2].startswith(
        "caf\N{LATIN SMALL LETTER E WITH ACUTE} "
    )


def test_a_formula_without_blanks_is_broken_after_an_operator():
    names = [f"mean_smoothness_{k}" for k in range(9)]
    shown = lines(Block(wide=(Entry("Formula", "y ~ " + "+".join(names)),)))[2:-1]
    assert len(shown) > 1 and all(line.endswith("+") for line in shown[:-1]) and max(map(len, shown)) <= WIDTH
    assert "".join(line.removeprefix("Formula:").strip() for line in shown) == "y ~ " + "+".join(names)


@pytest.mark.parametrize("operator", ["+", "*", ":", "~"])
def test_what_is_longer_than_a_line_is_broken_after_any_operator_and_nothing_else(operator):
    long, short = operator.join(f"mean_smoothness_{k}" for k in range(9)), f"mean{operator}worst"
    shown = wrap(long, WIDTH)
    assert len(shown) > 1 and all(line.endswith(operator) for line in shown[:-1]) and "".join(shown) == long
    assert wrap(f"{'x' * (WIDTH - 8)} {short}", WIDTH)[1] == short
