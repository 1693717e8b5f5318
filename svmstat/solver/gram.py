"""The kernel matrix as the solver sees it: blocks, combinations of rows, and no more memory than allowed."""

from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

DEFAULT_BUDGET = 2 * 2**30
"""Bytes that a gram matrix may take before its rows are computed on demand (2 GiB)."""

_CHUNK_BYTES = 2**26


class RowSource(Protocol):
    """Where kernel values come from: a kernel bound to the rows of a design."""

    @property
    def diagonal(self) -> Floats:
        """(n,) values K_ii."""

    def into(self, rows: Rows, out: Floats) -> None:
        """Write K[rows, :] into ``out``, (len(rows), n)."""

    def block(self, rows: Rows, columns: Rows) -> Floats:
        """K[rows][:, columns]."""

    def gram(self) -> Floats:
        """The full (n, n) matrix."""


@njit(cache=True, nogil=True)
def _gather(stored, rows, columns, out):
    for a in range(rows.shape[0]):
        source, target = stored[rows[a]], out[a]
        for c in range(columns.shape[0]):
            target[c] = source[columns[c]]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def combine(stored, rows, coefficients, out):
    """out += Σ_a coefficients[a] · stored[rows[a]], four rows at a time; (m,), (m,), (n,)."""
    n, m = out.shape[0], rows.shape[0]
    a = 0
    while a + 4 <= m:
        r0, r1, r2, r3 = stored[rows[a]], stored[rows[a + 1]], stored[rows[a + 2]], stored[rows[a + 3]]
        c0, c1, c2, c3 = coefficients[a], coefficients[a + 1], coefficients[a + 2], coefficients[a + 3]
        for i in range(n):
            out[i] += c0 * r0[i] + c1 * r1[i] + c2 * r2[i] + c3 * r3[i]
        a += 4
    while a < m:
        row, c = stored[rows[a]], coefficients[a]
        for i in range(n):
            out[i] += c * row[i]
        a += 1


class Gram:
    """A symmetric kernel matrix, whole in memory or computed as it is asked for.

    Rows are kept once computed if the whole matrix fits the budget; beyond it none is kept, and every use computes
    the part that it needs in blocks.

    Parameters
    ----------
    source : where the kernel values come from
    budget : bytes that the matrix may take
    """

    __slots__ = ("_known", "_source", "_stored", "diagonal", "fits", "n")

    def __init__(self, source: RowSource, *, budget: int = DEFAULT_BUDGET) -> None:
        self._source = source
        self.diagonal = source.diagonal
        self.n = len(self.diagonal)
        self.fits = 8 * self.n**2 <= budget
        self._stored = np.empty((self.n, self.n) if self.fits else (0, 0))
        self._known = np.zeros(self.n, bool)
        if self.n <= _AT_ONCE:
            self.complete()

    def complete(self) -> Floats:
        """The whole (n, n) matrix; MemoryError if it exceeds the budget."""
        if not self.fits:
            raise MemoryError(f"a gram matrix of {self.n} rows exceeds the memory budget")
        if not self._known.any():
            self._source.gram(self._stored)
            self._known[:] = True
        self._know(np.flatnonzero(~self._known))
        return self._stored

    def block(self, rows: Rows) -> Floats:
        """K[rows][:, rows], (m, m)."""
        out = np.empty((len(rows), len(rows)))
        known = self._known[rows]
        if known.any():
            here = np.flatnonzero(known)
            gather(self._stored, rows, here, out)
        if not known.all():
            missing = np.flatnonzero(~known)
            in_chunks(
                lambda part: out.__setitem__(part, self._source.block(rows[part], rows)),
                missing, _CHUNK_BYTES // (8 * len(rows)) + 1,
            )
        return out

    def add(self, rows: Rows, coefficients: Floats, out: Floats) -> None:
        """Add Σ_a coefficients[a] · K[rows[a], :] to ``out``, (n,)."""
        if self.fits:
            self._know(rows[~self._known[rows]])
            combine(self._stored, rows, coefficients, out)
        else:
            def accumulate(part: Rows) -> None:
                out[part] += self._source.block(part, rows) @ coefficients
            in_chunks(accumulate, np.arange(self.n), _CHUNK_BYTES // (8 * len(rows) + 8) + 1)

    def _know(self, rows: Rows) -> None:
        """Compute and keep rows."""
        everything = np.arange(self.n)
        def keep(part: Rows) -> None:
            self._stored[part] = self._source.block(part, everything)
        in_chunks(keep, rows, _CHUNK_BYTES // (8 * self.n) + 1)
        self._known[rows] = True


def in_chunks(task: Callable[[Rows], None], rows: Rows, size: int) -> None:
    """Run ``task`` on pieces of ``rows`` in threads, one for each core."""
    pieces = [rows[a : a + size] for a in range(0, len(rows), size)]
    if len(pieces) == 1:
        task(pieces[0])
    elif pieces:
        with ThreadPoolExecutor(cores()) as pool:
            list(pool.map(task, pieces))
