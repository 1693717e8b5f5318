"""The different deletions of the rows of a fit, in tasks of a size that suits the machine, and what these will take."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.repeats import distinct_rows
from svmstat.machine import Groups
from svmstat.resampling.loops import matrix_bytes
from svmstat.solver import Gram

_CHUNK = 128
"""Deletions per task, whatever the number of workers, so that their results do not depend on it."""

_CHUNK_ON_DEMAND = 4
"""The same where the kernel matrix is not in memory, and each deletion of a support vector takes a second or so."""

_TRIAL = 500
"""One deletion of so many is timed before they start."""

_ARRAYS = 9
"""Arrays (deletions, rows) that a task holds at a time."""


@dataclass(frozen=True, slots=True)
class Deletions:
    """The D different deletions of n rows.

    Attributes
    ----------
    group : (D,) a group of equal rows
    copies : (D,) how much of its weight is taken away
    used : the rows of positive weight
    of_used : which deletion is that of each of them
    """

    group: Codes
    copies: Floats
    used: Codes
    of_used: Codes

    @property
    def row(self) -> Codes:
        """(D,) a row of which each is the deletion."""
        rows = np.empty(len(self.group), np.intp)
        rows[self.of_used] = self.used
        return rows

    def given_out(self, values: NDArray[Any], full: Any, n: int) -> NDArray[Any]:
        """What the deletions have (D, …), for the n rows; those of weight zero have what the ``full`` fit has."""
        rows = np.empty((n, *values.shape[1:]), values.dtype)
        rows[:] = full
        rows[self.used] = values[self.of_used]
        return rows


def different_deletions(groups: Groups, weights: Floats) -> Deletions:
    """What it is to leave out each row in turn: min(w, 1) of its group; weights (n,) of the rows."""
    used = np.flatnonzero(weights > 0)
    copies = np.minimum(weights[used], 1.0)
    found = distinct_rows(np.column_stack([groups.of_row[used], copies]), copies)
    return Deletions(groups.of_row[used[found.first]], copies[found.first], used, found.of_row)


def deletions_per_task(gram: Gram) -> int:
    """How many deletions are a task: the bar of a long run should move from its beginning."""
    return _CHUNK if gram.fits else _CHUNK_ON_DEMAND


def trials(moved: NDArray[np.bool_], gram: Gram) -> list[tuple[Codes, float]]:
    """A few of D deletions, how many times as many there are: some whose β is ``moved`` (D,), and others."""
    found = []
    for alike in (np.flatnonzero(moved), np.flatnonzero(~moved)):
        if len(alike):
            few = alike[:: _TRIAL if gram.fits else len(alike)]
            found.append((few, len(alike) / len(few)))
    return found


def memory_of_deletions(gram: Gram, n_support: int, kept: float) -> tuple[float, float]:
    """Bytes that deletions take once, ``kept`` among them, and for every worker.

    A worker holds its numbers of every row and, where no tableau is kept, the kernel values of the rows near an event
    twice, once with room for more.
    """
    numbers = 8.0 * _ARRAYS * deletions_per_task(gram) * gram.n
    near = min(gram.n, 3 * n_support + _CHUNK) if gram.fits and kept == 0.0 else 0
    return matrix_bytes(gram) + kept, numbers + 16.0 * near**2
