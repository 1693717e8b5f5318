"""The different deletions of rows or units, in tasks of a size that suits the machine, and what these will take."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.repeats import distinct_rows
from svmstat.machine import Groups, Pair, elsewhere
from svmstat.objective.units import Units
from svmstat.resampling.loops import matrix_bytes
from svmstat.solver import Batch, Gram

_CHUNK = 128
"""Deletions per task, whatever the number of workers, so that their results do not depend on it."""

_AT_ONCE = 2**19
"""Of every row, numbers of the deletions in a task that nobody waits for or shares."""

_CHUNK_ON_DEMAND = 4
"""The same where the kernel matrix is not in memory, and each deletion of a support vector takes a second or so."""

_TRIAL = 500
"""One deletion of so many is timed before they start; where the kernel matrix is not in memory a task of them."""

_ARRAYS = 9
"""Arrays (deletions, rows) that a task holds at a time."""


@dataclass(frozen=True, slots=True)
class Deletions:
    """The D different deletions of n rows: one copy of a row, or all rows of a unit.

    Attributes
    ----------
    row : (E,) the rows that are deleted, deletion by deletion
    group : (E,) the group of equal rows of each
    copies : (E,) how much of its weight is taken away
    start : (D + 1,) where the rows of each deletion begin
    used : the rows of positive weight
    of_used : which deletion is that of each of them
    place_of_used : where each of them, or a row equal to it, stands in ``row``
    """

    row: Codes
    group: Codes
    copies: Floats
    start: Codes
    used: Codes
    of_used: Codes
    place_of_used: Codes

    @property
    def size(self) -> int:
        """D."""
        return len(self.start) - 1

    @property
    def of(self) -> Codes:
        """(E,) the deletion that each row is a part of."""
        return np.repeat(np.arange(self.size), np.diff(self.start))

    def some(self, which: Codes) -> "Deletions":
        """Some of the deletions (d,), without the rows that they are those of."""
        sizes = self.start[which + 1] - self.start[which]
        start = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(self.start[which] - start[:-1], sizes) + np.arange(start[-1])
        none = np.empty(0, np.intp)
        return Deletions(self.row[places], self.group[places], self.copies[places], start, none, none, none)

    def taken(self, codes: Codes, n_classes: int) -> Floats:
        """(D, K) how much of the weight of each class they take away; codes (G,) of the groups."""
        place = self.of * n_classes + codes[self.group]
        taken = np.bincount(place, self.copies, self.size * n_classes).astype(float)
        return taken.reshape(self.size, n_classes)

    def given_out(self, values: NDArray[Any], full: Any, n: int, own: bool = False) -> NDArray[Any]:
        """What the deletions have (D, …), or their ``own`` rows (E, …), for the n rows.

        Those of weight zero have what the ``full`` fit has.
        """
        rows = np.empty((n, *values.shape[1:]), values.dtype)
        rows[:] = full
        rows[self.used] = values[self.place_of_used if own else self.of_used]
        return rows


def different_deletions(
    groups: Groups, weights: Floats, units: Units | None = None, values: Floats | None = None
) -> Deletions:
    """What it is to leave out each row in turn, min(w, 1) of its group, or each unit; weights (n,) of the rows.

    Equal rows are told apart by their ``values`` (n, P), if they have some.
    """
    used = np.flatnonzero(weights > 0)
    if units is None:
        copies = np.minimum(weights[used], 1.0)
        also = np.empty((len(used), 0)) if values is None else np.nan_to_num(values[used], nan=np.inf)
        found = distinct_rows(np.column_stack([groups.of_row[used], copies, also]), copies)
        row, start = used[found.first], np.arange(len(found.first) + 1)
        return Deletions(row, groups.of_row[row], copies[found.first], start, used, found.of_row, found.of_row)
    row, start = units.rows()
    place = np.empty(len(weights), np.intp)
    place[row] = np.arange(len(row))
    return Deletions(row, groups.of_row[row], weights[row], start, used, units.of_row[used], place[used])


def of_other_classes(
    gram: Gram, pair: Pair, batch: Batch, moved: Codes, left: Deletions, holds: NDArray[np.bool_], own: Floats
) -> Floats:
    """The own values (E,), those of rows of other classes than the pair's by the ``moved`` solutions of the batch."""
    found, others = own.copy(), np.flatnonzero(~holds)
    of = left.of[others]
    for q in np.flatnonzero(np.isin(moved, of)):
        rows = others[of == moved[q]]
        groups, where = np.unique(left.group[rows], return_inverse=True)
        h = elsewhere(gram, pair.rows, groups, batch.alpha[q : q + 1] * pair.problem.signs)[0]
        found[rows] = (h + batch.intercept[q])[where]
    return found


def deletions_per_task(gram: Gram, at_once: bool = False) -> int:
    """How many deletions are a task: the bar of a long run should move from its beginning.

    Where a worker does those of many fits they are as many ``at_once`` as is quickest.
    """
    if not gram.fits:
        return _CHUNK_ON_DEMAND
    return max(_CHUNK, _AT_ONCE // gram.n) if at_once else _CHUNK


_DENSEST = 20
"""Of so many deletions one is tried at most."""

_WORTH_TRIALS = 2**17
"""Deletions times rows."""


def trials(moved: NDArray[np.bool_], gram: Gram, pairs: int = 1) -> list[tuple[Codes, float]]:
    """A few of D deletions, how many times as many there are: some whose β is ``moved`` (D,), and others.

    None of few deletions of few rows, which take no time worth telling. Each pair of classes solves its own together:
    of many pairs a few deletions are mostly alone, and take longer than they do among others.
    """
    found: list[tuple[Codes, float]] = []
    if len(moved) * gram.n < _WORTH_TRIALS:
        return found
    for alike in (np.flatnonzero(moved), np.flatnonzero(~moved)):
        if len(alike):
            stride = max(_TRIAL // pairs, _DENSEST) if gram.fits else -(-len(alike) // _CHUNK_ON_DEMAND)
            few = alike[::stride]
            found.append((few, len(alike) / len(few)))
    return found


def numbers_of_deletions(gram: Gram) -> float:
    """Bytes that a worker's deletions hold of every row, without kernel values."""
    return 8.0 * _ARRAYS * deletions_per_task(gram) * gram.n


def memory_of_deletions(gram: Gram, n_support: int, kept: float) -> tuple[float, float]:
    """Bytes that deletions take once, ``kept`` among them, and for every worker.

    A worker holds its numbers of every row and, where no tableau is kept, the kernel values of the rows near an event
    twice, once with room for more.
    """
    near = min(gram.n, 3 * n_support + _CHUNK) if gram.keeps and kept == 0.0 else 0
    return matrix_bytes(gram) + kept, numbers_of_deletions(gram) + 16.0 * near**2
