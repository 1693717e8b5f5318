r"""Parts of a summary as LaTeX, for documents with ``\usepackage{booktabs,longtable}``."""

import itertools
import re
from collections.abc import Iterator, Sequence

from svmstat.reporting.rendering.panels import HEADER, WIDTH, panels, width, wrap
from svmstat.reporting.rendering.parts import Block, Column, Entry, Part, Table

_LONG = 35  # a table with more rows may break across pages

_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi . pi rho . sigma tau"
_ESCAPES = str.maketrans(
    {letter: "\\" + letter for letter in "_%&#${}"}
    | {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "-": "-{}",  # two hyphens are not a dash
        "[": "{[}",  # at the start of a row it would open an optional argument,
        "*": "{*}",  # and this would be read as a part of the line break
        "\N{MINUS SIGN}": r"\ensuremath{-}",
        "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
        "\N{SUPERSCRIPT TWO}": r"\textsuperscript{2}",
        "\N{INFINITY}": r"\ensuremath{\infty}",
        "\N{LESS-THAN OR EQUAL TO}": r"\ensuremath{\leq}",
        "\N{GREATER-THAN OR EQUAL TO}": r"\ensuremath{\geq}",
    }
    | {chr(0x3B1 + i): rf"\ensuremath{{\{name}}}" for i, name in enumerate(_GREEK.split()) if name != "."}
)


def render(title: str, parts: Sequence[Part], notes: Sequence[str], warnings: Sequence[str]) -> str:
    """The summary as a sequence of tables, to be read in by a document."""
    lines = [
        r"% needs \usepackage{booktabs,longtable}",
        r"\begingroup\setlength{\parindent}{0pt}\setlength{\LTleft}{0pt}\small",
        rf"\textbf{{{escape(title)}}}",
        *(rf"\par\medskip\textbf{{Warning: {escape(warning)}}}" for warning in warnings),
        *itertools.chain.from_iterable(map(_lines, parts)),
        *(rf"\par\medskip {escape(note)}" for note in notes),
        r"\par\endgroup",
    ]
    return "\n".join(lines)


def escape(text: str) -> str:
    """Any text as LaTeX; letters that only some engines and fonts know are left as they are."""
    return text.translate(_ESCAPES)


def _number(text: str) -> str:
    if not re.match(r"-?\d", text):  # nan, inf or none
        return escape(text)
    mantissa, _, exponent = text.partition("e")
    power = rf" \times 10^{{{int(exponent)}}}" if exponent else ""
    return f"${mantissa}{power}$"


def _label(text: str) -> str:
    """The head of a row, which spaces at its start put under the one above."""
    return (r"\quad " if text.startswith(" ") else "") + escape(text.strip())


def _entry(entry: Entry) -> str:
    if entry.interval:
        return re.sub(r"[^\[\], ]+", lambda number: _number(number[0]), str(entry)).replace("[", "{[}")
    return _number(str(entry)) if entry.numeric else escape(str(entry))


def _lines(part: Part) -> Iterator[str]:
    yield r"\par\medskip"
    if part.title:
        yield rf"\textit{{{escape(part.title)}}}\par\nobreak\smallskip"
    yield from _block(part) if isinstance(part, Block) else _table(part)


def _block(block: Block) -> Iterator[str]:
    if block.wide:
        yield r"\begin{tabular}{@{}lp{0.78\linewidth}@{}}"
        for entry in block.wide:
            yield rf"{_label(entry.label)} & \raggedright {_entry(entry)} \tabularnewline"
        yield r"\end{tabular}"
    if block.wide and (block.left or block.right):
        yield r"\par\smallskip"
    if block.left or block.right:
        yield r"\begin{tabular}{@{}lr@{\hspace{2em}}lr@{}}"
        for pair in itertools.zip_longest(block.left, block.right):
            cells = [f"{_label(entry.label)} & {_entry(entry)}" if entry else " & " for entry in pair]
            yield rf"{' & '.join(cells)} \\"
        yield r"\end{tabular}"


def _table(table: Table) -> Iterator[str]:
    """Columns that do not fit beside each other follow below, as in the text."""
    stub, below = panels(table)
    broken = max(map(width, table.index), default=0) > stub
    labels = rf"p{{{stub / WIDTH:.2f}\linewidth}}" if broken else "l"
    for position, panel in enumerate(below):
        yield from [r"\par\smallskip"] if position else []
        yield from _panel(table, panel.columns, labels)


def _panel(table: Table, columns: Sequence[Column], labels: str) -> Iterator[str]:
    head = ""
    body = [_label(label) for label in table.index]
    alignment = labels
    for column in columns:
        side = "r" if column.flush_right else "l"
        head += f" & {_header(column.header, side)}"
        alignment += side
        for i, (text, lack, numeric) in enumerate(zip(column.texts, column.lacks, column.numeric, strict=True)):
            phantom = rf"\phantom{{{lack}}}" if lack else ""
            body[i] += f" & {_number(text) if numeric else escape(text)}{phantom}"
    environment = "longtable" if len(body) > _LONG else "tabular"
    yield rf"\begin{{{environment}}}{{@{{}}{alignment}@{{}}}}"
    yield rf"\toprule{head} \\ \midrule" + (r" \endhead" if environment == "longtable" else "")
    for i, row in enumerate(body):
        yield (r"\midrule " if i in table.ruled else "") + rf"{row} \\"
    yield rf"\bottomrule \end{{{environment}}}"


def _header(text: str, side: str) -> str:
    """The head of a column, in the lines that it has in the text."""
    lines = list(map(escape, wrap(text, HEADER)))
    broken = r"\\".join(lines)
    return rf"\shortstack[{side}]{{{broken}}}" if len(lines) > 1 else escape(text)
