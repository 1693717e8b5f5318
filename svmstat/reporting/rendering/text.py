"""Parts of a summary as plain text."""

import itertools
from collections.abc import Iterator, Sequence

from svmstat.reporting.rendering.panels import GAP, WIDTH, flush_left, flush_right, panels, width, wrap
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table
from svmstat.reporting.rendering.values import one_line


def render(title: str, parts: Sequence[Part], notes: Sequence[str], warnings: Sequence[str]) -> str:
    """The summary as text, at most 78 columns wide."""
    lines = [*(" " * ((WIDTH - width(line)) // 2) + line for line in wrap(title, WIDTH)), "=" * WIDTH]
    for warning in warnings:
        lines += [*wrap(f"WARNING: {one_line(warning)}", WIDTH, hanging=" " * 9), "-" * WIDTH]
    for position, part in enumerate(parts):
        if position:
            lines.append("-" * WIDTH if part.title else "")
        lines += [*(wrap(part.title, WIDTH) if part.title else []), *_lines(part)]
    lines.append("=" * WIDTH)
    for note in notes:
        lines += wrap(one_line(note), WIDTH)
    return "\n".join(lines)


def _lines(part: Part) -> Iterator[str]:
    return _block(part) if isinstance(part, Block) else _table(part)


def _block(block: Block) -> Iterator[str]:
    indent = max((width(entry.label) for entry in block.wide), default=0) + 3
    for entry in block.wide:
        first, *rest = wrap(str(entry), WIDTH - indent)
        yield f"{flush_left(f'{entry.label}:', indent)}{first}"
        yield from (" " * indent + line for line in rest)
    half = (WIDTH - 4) // 2
    for left, right in itertools.zip_longest(_side(block.left, half), _side(block.right, half), fillvalue=""):
        yield f"{flush_left(left, WIDTH - half)}{right}".rstrip()


def _side(entries: tuple[Entry, ...], columns: int) -> Iterator[str]:
    """Labels flush left, values flush right; a value too long for its line goes on below."""
    for entry in entries:
        label = f"{entry.label}: "
        room = columns - width(label)
        first, *rest = wrap(str(entry), room)
        yield f"{label}{flush_right(first, room)}"
        yield from (flush_right(line, columns) for line in rest)


def _table(table: Table) -> Iterator[str]:
    """Columns that do not fit beside each other follow below."""
    stub, below = panels(table)
    for position, panel in enumerate(below):
        yield from [""] if position else []
        yield from _panel(table, panel.lines, stub)


def _panel(table: Table, columns: list[list[str]], stub: int) -> Iterator[str]:
    index = table.index
    height = max(map(len, columns))
    filled = [[" " * width(column[0])] * (height - len(column)) + column for column in columns]
    lines = [GAP + GAP.join(cells) for cells in zip(*filled, strict=True)]
    heads, body = lines[: height - len(index)], lines[height - len(index) :]
    yield from (" " * stub + line.rstrip() for line in heads)
    for row, (label, line) in enumerate(zip(index, body, strict=True)):
        if row in table.ruled:
            yield "-" * WIDTH
        first, *rest = wrap(label, max(1, stub), hanging="  ")
        yield f"{flush_left(first, stub)}{line}".rstrip()
        yield from rest
