"""Which columns of a table stand beside each other on a page of 78 letters: what does not fit follows below."""

import re
import textwrap
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from svmstat.reporting.rendering.parts import Column, Table

WIDTH = 78
AFTER_OPERATOR = re.compile(r"(?<=[+*:~])")
"""Where a formula without blanks may be broken."""
GAP = " " * 3
"""Before a column."""

HEADER = 16
"""A longer column header is broken into lines."""

_NARROW = 7  # the least width of a column
_STUB = 24  # row labels may always be this long


@dataclass(frozen=True, slots=True)
class Panel:
    """Columns of a table beside each other.

    Attributes
    ----------
    columns : list of Column
    lines : list of list of str
        Each as lines of one width, those of its header first.
    """

    columns: list[Column]
    lines: list[list[str]]


_FILLER = "\ue000"
"""Stands behind a wide letter while a text is laid out in lines by the number of its letters."""


def width(text: str) -> int:
    """How many columns of a terminal a text takes, accents in one with their letters: Chinese letters are two wide.

    Examples
    --------
    >>> width("depth"), width("水深"), width("cafe\N{COMBINING ACUTE ACCENT}")
    (5, 4, 4)
    """
    return len(text) if text.isascii() else sum(1 + _is_wide(letter) for letter in _composed(text))


def _composed(text: str) -> str:
    """The text with accents in one with their letters, where there are such letters."""
    return unicodedata.normalize("NFC", text)


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def flush_left(text: str, columns: int) -> str:
    """A text with blanks behind it, so many columns wide in all."""
    return _composed(text) + " " * (columns - width(text))


def flush_right(text: str, columns: int) -> str:
    """A text with blanks before it."""
    return " " * (columns - width(text)) + _composed(text)


class _Wrapper(textwrap.TextWrapper):
    """What is longer than a line, as a formula without blanks, is broken where an operator ends; wide letters never."""

    def _split(self, text: str) -> list[str]:
        chunks = super()._split(text)
        return [
            piece for each in chunks for piece in (AFTER_OPERATOR.split(each) if len(each) > self.width else [each])
        ]

    def _handle_long_word(self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int) -> None:
        cuts_a_letter = reversed_chunks[-1][width - cur_len :].startswith(_FILLER)
        super()._handle_long_word(reversed_chunks, cur_line, cur_len, width - cuts_a_letter)


def wrap(text: str, columns: int, hanging: str = "") -> list[str]:
    """A text in lines, of which there is one at least."""
    lines = _Wrapper(columns, subsequent_indent=hanging, break_on_hyphens=False)
    if text.isascii():
        return lines.wrap(text) or [""]
    filled = "".join(letter + _FILLER * _is_wide(letter) for letter in _composed(text))
    return [line.replace(_FILLER, "") for line in lines.wrap(filled)] or [""]


def panels(table: Table) -> tuple[int, Iterator[Panel]]:
    """The width of the row labels, and the panels from top to bottom.

    Examples
    --------
    >>> wide = Table(("a",) * 12, ("x",), ((1.0,) * 12,), ("share",) * 12)
    >>> [len(panel.columns) for panel in panels(wide)[1]]
    [7, 5]
    """
    columns = list(table.columns())
    lines = list(map(_lines, columns))
    widths = [len(GAP) + width(each[0]) for each in lines]
    stub = min(max(map(width, table.index), default=0), max(_STUB, WIDTH - sum(widths)))
    return stub, _panels(columns, lines, widths, stub)


def _lines(column: Column) -> list[str]:
    cells = [text + " " * len(lack) for text, lack in zip(column.texts, column.lacks, strict=True)]
    lines = [*wrap(column.header, HEADER), *cells]
    wide, set_flush = max(_NARROW, *map(width, lines)), flush_right if column.flush_right else flush_left
    return [set_flush(line, wide) for line in lines]


def _panels(columns: list[Column], lines: list[list[str]], widths: list[int], stub: int) -> Iterator[Panel]:
    start = 0
    while start < len(columns):
        stop = start + 1
        while stop < len(columns) and stub + sum(widths[start : stop + 1]) <= WIDTH:
            stop += 1
        yield Panel(columns[start:stop], lines[start:stop])
        start = stop
