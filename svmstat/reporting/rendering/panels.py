"""Which columns of a table stand beside each other on a page of 78 letters: what does not fit follows below."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from svmstat.reporting.rendering.parts import Column, Table

WIDTH = 78
AFTER_OPERATOR = re.compile(r"(?<=[+*:~])")
"""Where a formula without blanks may be broken."""
GAP = " " * 3
"""Before a column."""

_NARROW = 7  # the least width of a column
_HEADER = 16  # a longer column header is broken into lines
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


class _Wrapper(textwrap.TextWrapper):
    """What is longer than a line, as a formula without blanks, is broken where an operator ends."""

    def _split(self, text: str) -> list[str]:
        chunks = super()._split(text)
        return [
            piece for each in chunks for piece in (AFTER_OPERATOR.split(each) if len(each) > self.width else [each])
        ]


def wrap(text: str, width: int, hanging: str = "") -> list[str]:
    """A text in lines, of which there is one at least."""
    return _Wrapper(width, subsequent_indent=hanging, break_on_hyphens=False).wrap(text) or [""]


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
    widths = [len(GAP) + len(each[0]) for each in lines]
    stub = min(max(map(len, table.index), default=0), max(_STUB, WIDTH - sum(widths)))
    return stub, _panels(columns, lines, widths, stub)


def _lines(column: Column) -> list[str]:
    cells = [text + " " * len(lack) for text, lack in zip(column.texts, column.lacks, strict=True)]
    lines = [*wrap(column.header, _HEADER), *cells]
    width = max(_NARROW, *map(len, lines))
    return [f"{line:{'>' if column.flush_right else '<'}{width}}" for line in lines]


def _panels(columns: list[Column], lines: list[list[str]], widths: list[int], stub: int) -> Iterator[Panel]:
    start = 0
    while start < len(columns):
        stop = start + 1
        while stop < len(columns) and stub + sum(widths[start : stop + 1]) <= WIDTH:
            stop += 1
        yield Panel(columns[start:stop], lines[start:stop])
        start = stop
