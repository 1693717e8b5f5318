"""Parts of a summary as HTML."""

import re
from collections.abc import Iterator, Sequence
from html import escape

from svmstat.reporting.rendering.panels import AFTER_OPERATOR, panels
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table

_BLANKS = str.maketrans({".": "\u2008", "0": "\u2007"})  # blanks as wide as a point and as a digit
_RULED = ' class="ruled"'
_INDENT = "\u2003"  # before a label that belongs to the one above it

# Jupyter sets every table flush right, striped and in small letters, by selectors of up to three classes; the name of
# the element, said often enough, outweighs them. Colours are those of the page, light or dark, whoever chose it: the
# reader's system, JupyterLab's or VS Code's theme. What is added to them is translucent.
NAME = ".svmstat" * 5
_STYLE = """
& {max-width: 46em; line-height: 1.4; font-variant-numeric: tabular-nums; color: inherit; text-align: left}
& p {margin: .3em 0; color: inherit; font-size: inherit}
& p.title {font-weight: 600; font-size: 1.1em}
& p.warning {border-left: .25em solid #d33; background: #d333331a; padding: .2em .6em}
& p.note {font-size: .9em}
& .part {border-top: 1px solid #8888; padding: .3em 0; overflow-x: auto;
 display: flex; flex-wrap: wrap; column-gap: 2.5em}
& .part > p {flex: 1 0 100%; font-weight: 600}
& table {display: table; table-layout: auto; width: auto; max-width: none; margin: 0; border: 0;
 border-collapse: collapse; border-spacing: 0; background: none; color: inherit; font-size: inherit;
 align-self: flex-start}
& thead, & tbody, & tr, & tr:nth-child(n), & tr:hover {border: 0; background: none; color: inherit}
& th, & td {border: 0; padding: .1em 0; text-align: left; vertical-align: baseline; background: none;
 color: inherit; font-size: inherit; font-weight: normal; line-height: inherit; max-width: none;
 white-space: normal; overflow-wrap: anywhere}
& table.wide {flex: 1 0 100%}
& table.half {flex: 1 1 16em}
& .wide th {width: 7em; padding-right: 1em; white-space: nowrap}
& .half th {padding-right: 1em}
& .half td, & .number {text-align: right}
& thead th {border-bottom: 1px solid #8888}
& .ruled > * {border-top: 1px solid #8888}
& .cells tbody th {min-width: 7em}
& .cells td, & thead th + th {padding-left: 1.5em; overflow-wrap: normal}
& .cells + .cells {margin-top: .6em}
@media (max-width: 36em) {
& .cells {font-size: .78em}
& .cells tbody th {min-width: 5.5em}
& .cells td, & thead th + th {padding-left: .5em}
}
@media print {
& .part {overflow: visible; break-inside: avoid}
& tr {break-inside: avoid}
}
""".replace("&", NAME)

_DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>{}</title></head>
<body style="font-family: sans-serif">
{}
</body>
</html>"""


def render(title: str, parts: Sequence[Part], notes: Sequence[str], warnings: Sequence[str]) -> str:
    """The summary as one element that carries its own style."""
    alert = '<p class="warning" role="alert"><strong>Warning:</strong> {}</p>'.format
    lines = [
        f'<div class="svmstat"><style>{_STYLE}</style>',
        f'<p class="title">{escape(title)}</p>',
        *(alert(escape(warning)) for warning in warnings),
        *(f'<div class="part">{"".join(_elements(part))}</div>' for part in parts),
        *(f'<p class="note">{escape(note)}</p>' for note in notes),
        "</div>",
    ]
    return "\n".join(lines)


def document(title: str, element: str) -> str:
    """A whole document around one element."""
    return _DOCUMENT.format(escape(title), element)


def _elements(part: Part) -> Iterator[str]:
    if part.title:
        yield f"<p>{escape(part.title)}</p>"
    yield from _block(part) if isinstance(part, Block) else _table(part)


_LONG = re.compile(r"\S{40,}")
"""A word that no line may have room for, as a formula without blanks."""

_RANGE = re.compile(r"-?[\d.]+(?:e[+-]?\d+)? to -?[\d.]+(?:e[+-]?\d+)?")


def _value(text: str, numeric: bool) -> str:
    """A cell or a value; a range of numbers is not broken."""
    if _RANGE.fullmatch(text):
        text, numeric = text.replace(" ", "\N{NO-BREAK SPACE}"), True
    return escape(re.sub(r"(?<!\w)-(?=\d)", "\N{MINUS SIGN}", text) if numeric else text)


def _row(entry: Entry) -> str:
    value = _value(str(entry), entry.numeric or entry.interval)
    return f"<tr>{_label(entry.label)}<td>{_LONG.sub(_breakable, value)}</td></tr>"


def _breakable(long: re.Match[str]) -> str:
    return AFTER_OPERATOR.sub("<wbr/>", long[0])


def _label(text: str) -> str:
    """The head of a row, which spaces at its start put under the one above."""
    return f'<th scope="row">{_INDENT if text.startswith(" ") else ""}{escape(text.strip())}</th>'


def _block(block: Block) -> Iterator[str]:
    for kind, entries in (("wide", block.wide), ("half", block.left), ("half", block.right)):
        if entries:
            yield f'<table class="{kind}"><tbody>{"".join(map(_row, entries))}</tbody></table>'


def _table(table: Table) -> Iterator[str]:
    """Columns that do not fit beside each other follow below."""
    for panel in panels(table)[1]:
        head = "<th></th>"
        body = [_label(label) for label in table.index]
        for column in panel.columns:
            kind = ' class="number"' if column.flush_right else ""
            head += f'<th scope="col"{kind}>{escape(column.header)}</th>'
            for i, (text, lack, numeric) in enumerate(zip(column.texts, column.lacks, column.numeric, strict=True)):
                body[i] += f"<td{kind}>{_value(text, numeric)}{lack.translate(_BLANKS)}</td>"
        rows = "".join(f"<tr{_RULED * (i in table.ruled)}>{cells}</tr>" for i, cells in enumerate(body))
        yield f'<table class="cells"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
