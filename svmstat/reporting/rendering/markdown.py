"""Parts of a summary as Markdown: what GitHub, Quarto and pandoc read alike, tables with pipes."""

import itertools
import re
from collections.abc import Iterator, Sequence

from svmstat.reporting.rendering.panels import flush_left, flush_right, width
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table

_INDENT = "&emsp;"  # before a label that belongs to the one above it
_MARKUP = re.compile(r"[\\`*<\[\]|$~^&]|(?<![^\W_])_|_(?![^\W_])")  # an underscore within a word is none
_STARTS = re.compile(r"^(?:>|(?:[#+-]|\d+[.)])(?=\s|$))")  # of a quotation, a heading or the item of a list


def render(title: str, parts: Sequence[Part], notes: Sequence[str], warnings: Sequence[str]) -> str:
    """The summary as paragraphs and tables."""
    paragraphs = [
        f"**{escape(title)}**",
        *(f"> **Warning:** {escape(warning)}" for warning in warnings),
        *itertools.chain.from_iterable(map(_paragraphs, parts)),
        *(_paragraph(note) for note in notes),
    ]
    return "\n\n".join(paragraphs)


def escape(text: str) -> str:
    r"""Any text, on one line, so that nothing in it is markup.

    Examples
    --------
    >>> print(escape("P(y | x) of egg_count * _x_"))
    P(y \| x) of egg_count \* \_x\_
    """
    return _MARKUP.sub(lambda found: "\\" + found[0], " ".join(text.split()))


def _paragraph(text: str) -> str:
    escaped = escape(text)
    start = _STARTS.match(escaped)
    return escaped if start is None else f"{start[0][:-1]}\\{escaped[start.end() - 1 :]}"


def _label(text: str) -> str:
    """The head of a row, which spaces at its start put under the one above."""
    return (_INDENT if text.startswith(" ") else "") + escape(text)


def _paragraphs(part: Part) -> Iterator[str]:
    if part.title:
        yield f"*{escape(part.title)}*"
    yield from _block(part) if isinstance(part, Block) else [_table(part)]


def _block(block: Block) -> Iterator[str]:
    if block.wide:
        yield _grid(["", ""], "ll", [[_label(entry.label), escape(str(entry))] for entry in block.wide])
    if block.left or block.right:
        halves = itertools.zip_longest(block.left, block.right)
        rows = [[cell for entry in pair for cell in _cells(entry)] for pair in halves]
        yield _grid([""] * 4, "lrlr", rows)


def _cells(entry: Entry | None) -> tuple[str, str]:
    return ("", "") if entry is None else (_label(entry.label), escape(str(entry)))


def _table(table: Table) -> str:
    columns = list(table.columns())
    kinds = "l" + "".join("r" if column.flush_right else "l" for column in columns)
    texts = zip(map(_label, table.index), *(map(escape, column.texts) for column in columns), strict=True)
    rows = [list(row) for row in texts]
    for place in sorted(table.ruled, reverse=True):
        rows.insert(place, [""] * len(kinds))
    return _grid(["", *(escape(column.header) for column in columns)], kinds, rows)


def _grid(heads: list[str], kinds: str, rows: list[list[str]]) -> str:
    """A table: its heads, l or r for each column, and its rows; the columns stand below each other as they are."""
    widths = [max(3, *map(width, column)) for column in zip(heads, *rows, strict=True)]
    rules = ["-" * (wide - 1) + ("-" if kind == "l" else ":") for wide, kind in zip(widths, kinds, strict=True)]
    return "\n".join(_line(cells, widths, kinds) for cells in (heads, rules, *rows))


def _line(cells: Sequence[str], widths: Sequence[int], kinds: str) -> str:
    set_wide = (
        flush_left(cell, wide) if kind == "l" else flush_right(cell, wide)
        for cell, wide, kind in zip(cells, widths, kinds, strict=True)
    )
    return f"| {' | '.join(set_wide)} |"
