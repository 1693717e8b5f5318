"""What a summary consists of: labelled values and tables of typed cells, before any rendering."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import pandas as pd

from svmstat.reporting.rendering.values import is_number, lacking, one_line, show


@dataclass(frozen=True, slots=True)
class Entry:
    """A labelled value; ``style``, one of ``values.STYLES``, says how a number is shown.

    A label that begins with a blank is indented: it belongs to the one above it.
    """

    label: str
    value: object
    style: str = "estimate"

    @property
    def numeric(self) -> bool:
        """Whether the value is a number."""
        return is_number(self.value)

    @property
    def interval(self) -> bool:
        """Whether the value is a tuple, shown in brackets."""
        return isinstance(self.value, tuple)

    def __str__(self) -> str:
        return show(self.value, self.style)


@dataclass(frozen=True, slots=True)
class Block:
    """Labelled values: some over the full width, the others in two columns."""

    title: str = ""
    wide: tuple[Entry, ...] = ()
    left: tuple[Entry, ...] = ()
    right: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, ready to be set.

    Attributes
    ----------
    header : str
    flush_right : bool
        As numbers are.
    texts, lacks : list of str, length r
        The cells, and what each lacks on its right for the decimal points to agree.
    numeric : list of bool, length r
        Which cells are set as numbers.
    """

    header: str
    flush_right: bool
    texts: list[str]
    lacks: list[str]
    numeric: list[bool]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of typed cells.

    Attributes
    ----------
    headers : tuple of str, length k
    index : tuple of str, length r
        The row labels.
    cells : tuple of tuple, r × k
        Numbers, strings, booleans or None.
    styles : tuple of str, length k
        How the numbers of each column are shown, see ``values.STYLES``.
    title : str
    row_styles : tuple of str, length r
        How the numbers of each row are shown instead, if it is given.
    mixed : bool
        Whether a column of numbers may have words in it: these stand flush right too.
    ruled : tuple of int
        The rows above which there is a rule.
    """

    headers: tuple[str, ...]
    index: tuple[str, ...]
    cells: tuple[tuple[object, ...], ...]
    styles: tuple[str, ...]
    title: str = ""
    row_styles: tuple[str, ...] = ()
    mixed: bool = False
    ruled: tuple[int, ...] = ()

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, styles: str | Sequence[str] = "estimate", title: str = "") -> Self:
        """The rows and columns of a DataFrame, with one style for all columns or one for each.

        Examples
        --------
        >>> frame = pd.DataFrame({"n": [265, 369], "share": [0.418, 0.582]}, index=["no", "yes"])
        >>> Table.from_frame(frame, ["count", "share"]).cells
        ((265, 0.418), (369, 0.582))
        """
        return cls(
            headers=tuple(map(one_line, frame.columns)),
            index=tuple(map(one_line, frame.index)),
            cells=tuple(frame.itertuples(index=False, name=None)),
            styles=(styles,) * frame.shape[1] if isinstance(styles, str) else tuple(styles),
            title=title,
        )

    def to_frame(self) -> pd.DataFrame:
        """The cells, not rounded, as a DataFrame."""
        return pd.DataFrame(list(self.cells), index=list(self.index), columns=list(self.headers))

    def columns(self) -> Iterator[Column]:
        """The columns, from left to right."""
        for j, (header, style) in enumerate(zip(self.headers, self.styles, strict=True)):
            cells = [row[j] for row in self.cells]
            flush_right = self.mixed or all(map(is_number, cells))
            numeric = [flush_right and is_number(cell) for cell in cells]
            texts = list(map(show, cells, self.row_styles or (style,) * len(cells)))
            known = iter(lacking([text for text, number in zip(texts, numeric, strict=True) if number]))
            yield Column(header, flush_right, texts, [next(known) if number else "" for number in numeric], numeric)


Part = Block | Table
