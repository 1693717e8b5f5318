"""Parts of a summary as plain text."""

import itertools
import textwrap
from collections.abc import Iterator, Sequence

from svmstat.reporting.rendering.parts import Block, Entry, Part, Table
from svmstat.reporting.rendering.values import one_line

WIDTH = 78
_GAP = " " * 3  # before a column of a table
_NARROW = 7  # the least width of such a column
_HEADER = 16  # a longer column header is broken into lines
_STUB = 24  # row labels may always be this long


def render(title: str, parts: Sequence[Part], notes: Sequence[str], warnings: Sequence[str]) -> str:
    """The summary as text, at most 78 columns wide."""
    lines = [*(line.center(WIDTH).rstrip() for line in _wrap(title, WIDTH)), "=" * WIDTH]
    for warning in warnings:
        lines += [*_wrap(f"WARNING: {one_line(warning)}", WIDTH, hanging=" " * 9), "-" * WIDTH]
    for position, part in enumerate(parts):
        if position:
            lines.append("-" * WIDTH if part.title else "")
        lines += [*(_wrap(part.title, WIDTH) if part.title else []), *_lines(part)]
    lines.append("=" * WIDTH)
    for note in notes:
        lines += _wrap(one_line(note), WIDTH)
    return "\n".join(lines)


def _lines(part: Part) -> Iterator[str]:
    return _block(part) if isinstance(part, Block) else _table(part)


def _wrap(text: str, width: int, hanging: str = "") -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=hanging, break_on_hyphens=False) or [""]


def _block(block: Block) -> Iterator[str]:
    indent = max((len(entry.label) for entry in block.wide), default=0) + 3
    for entry in block.wide:
        first, *rest = _wrap(str(entry), WIDTH - indent)
        yield f"{entry.label + ':':<{indent}}{first}"
        yield from (" " * indent + line for line in rest)
    half = (WIDTH - 4) // 2
    for left, right in itertools.zip_longest(_side(block.left, half), _side(block.right, half), fillvalue=""):
        yield f"{left:<{WIDTH - half}}{right}".rstrip()


def _side(entries: tuple[Entry, ...], width: int) -> Iterator[str]:
    """Labels flush left, values flush right; a value too long for its line goes on below."""
    for entry in entries:
        label = f"{entry.label}: "
        room = width - len(label)
        first, *rest = _wrap(str(entry), room)
        yield f"{label}{first:>{room}}"
        yield from (f"{line:>{width}}" for line in rest)


def _table(table: Table) -> Iterator[str]:
    """Columns that do not fit beside each other follow below."""
    columns = []
    for column in table.columns():
        cells = [text + " " * len(lack) for text, lack in zip(column.texts, column.lacks, strict=True)]
        lines = [*_wrap(column.header, _HEADER), *cells]
        width = max(_NARROW, *map(len, lines))
        columns.append([f"{line:{'>' if column.flush_right else '<'}{width}}" for line in lines])
    widths = [len(_GAP) + len(column[0]) for column in columns]
    stub = min(max(map(len, table.index), default=0), max(_STUB, WIDTH - sum(widths)))
    start = 0
    while start < len(columns):
        stop = start + 1
        while stop < len(columns) and stub + sum(widths[start : stop + 1]) <= WIDTH:
            stop += 1
        yield from [""] if start else []
        yield from _panel(table, columns[start:stop], stub)
        start = stop


def _panel(table: Table, columns: list[list[str]], stub: int) -> Iterator[str]:
    index = table.index
    height = max(map(len, columns))
    filled = [[" " * len(column[0])] * (height - len(column)) + column for column in columns]
    lines = [_GAP + _GAP.join(cells) for cells in zip(*filled, strict=True)]
    heads, body = lines[: height - len(index)], lines[height - len(index) :]
    yield from (" " * stub + line.rstrip() for line in heads)
    for row, (label, line) in enumerate(zip(index, body, strict=True)):
        if row in table.ruled:
            yield "-" * WIDTH
        first, *rest = _wrap(label, max(1, stub), hanging="  ")
        yield f"{first:<{stub}}{line}".rstrip()
        yield from rest
