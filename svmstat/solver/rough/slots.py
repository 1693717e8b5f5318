"""Rows of a kernel matrix too large to keep: computed when a descent asks for them, kept in single precision.

The rows stand in slots, one after another in memory that is taken once. When all that may be used are, the row that was
asked for longest ago makes place; the more rows are asked for, the more slots may be used. Which rows are kept decides
how often one is computed, never what comes out.
"""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.compiled import compiled
from svmstat.solver.gram import Gram, Rows

Singles = NDArray[np.float32]

_LEAST = 2
"""A step needs both of its rows."""

_AT_FIRST = 2**24
"""Numbers in the slots that are used before any row makes place. To touch memory for the first time may cost as much as
to compute what is to stand there: with all slots from the beginning banana 20 000, C = 16 took 0.8 to 1.2 s instead of
0.6 to 0.8 in a new process, and interaction 20 000, C = 16 3.8 to 4.0 instead of 3.9 to 4.3."""

_ASKED_PER_SLOT = 4
"""Rows that are asked for, for each further slot."""


class Slots:
    """Kernel rows over some columns of a gram matrix.

    Attributes
    ----------
    rows : (m,) the rows of the matrix that take part; columns and places count within them
    values : (S, m) the slots
    slot_of : (m,) the slot of each row, −1 if it has none
    used : (S,) when a row was last asked for, by the clock of the descent; −1 in an empty slot
    """

    __slots__ = ("_asked", "_columns", "_filled", "_gram", "_memory", "_row_in", "rows", "slot_of", "used", "values")

    def __init__(self, gram: Gram, rows: Rows, memory: Singles) -> None:
        self._gram, self._memory, self._asked = gram, memory, 0
        self._lay_out(rows)

    def _lay_out(self, rows: Rows) -> None:
        m = len(rows)
        size = max(min(len(self._memory) // max(m, 1), m), _LEAST)
        if len(self._memory) < size * m:
            self._memory = np.empty(size * m, np.float32)
        self.rows, self._columns, self._filled = rows, rows.astype(np.uint64), 0
        self.values = self._memory[: size * m].reshape(size, m)
        self.slot_of, self._row_in = np.full(m, -1), np.full(size, -1)
        self.used = np.full(size, -1)

    @property
    def _usable(self) -> int:
        """How many slots may be used by now."""
        return min(max(_AT_FIRST // max(len(self.rows), 1), _LEAST) + self._asked // _ASKED_PER_SLOT, len(self.used))

    def fetch(self, place: int, clock: int) -> None:
        """Compute the row at a place, (m,), and put it into a slot."""
        self._asked += 1
        if self._filled < self._usable:
            slot = self._filled
            self._filled += 1
        else:
            slot = int(self.used[: self._filled].argmin())
            self.slot_of[self._row_in[slot]] = -1
        _store(self._gram.row(int(self.rows[place])), self._columns, self.values[slot])
        self.slot_of[place], self._row_in[slot], self.used[slot] = slot, place, clock

    def narrow(self, keep: Rows) -> None:
        """Go on with the places ``keep`` (k,), in ascending order; their rows stay in memory."""
        old, kept = self.values.shape[1], np.flatnonzero(self.slot_of[keep] >= 0)
        slots = self.slot_of[keep][kept]
        order = np.argsort(slots)
        kept, slots, used = kept[order], slots[order], self.used
        _move(self._memory, old, slots, keep)
        self._lay_out(self.rows[keep])
        self._filled = len(slots)
        self.slot_of[kept], self._row_in[: len(slots)] = np.arange(len(slots)), kept
        self.used[: len(slots)] = used[slots]


@compiled()
def _store(row, columns, slot):
    """slot[c] = row[columns[c]], in single precision; columns (k,) unsigned: no index from the end, a faster loop."""
    for c in range(np.uint64(columns.shape[0])):
        slot[c] = np.float32(row[columns[c]])


@compiled()
def _move(memory, width, slots, columns):
    """Bring slots (s,) of some width, in ascending order, to the front, each with the given columns (k,) only.

    No value is overwritten before it is read: columns ascend, and their number is at most ``width``.
    """
    out = 0
    for slot in slots:
        start = slot * width
        for c in columns:
            memory[out] = memory[start + c]
            out += 1
