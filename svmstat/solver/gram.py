"""The kernel matrix as the solver sees it: blocks, combinations of rows, and no more memory than allowed."""

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled
from svmstat._tools.shelf import Shelf
from svmstat._tools.threads import in_threads
from svmstat.solver.normal import normal_vector, residual_by_factor
from svmstat.solver.pivoted import MOST_COLUMNS, short_factor
from svmstat.solver.twofold import add_twofold, subtract_twofold

Rows = NDArray[np.intp]

DEFAULT_BUDGET = 2 * 2**30
"""Bytes that a gram matrix may take before its rows are computed on demand (2 GiB)."""

AT_ONCE = 2500
"""Up to so many rows the whole matrix costs less than finding out which rows are needed."""

PART_AT_ONCE = 400
"""The same for a part of a matrix that is whole, whose values are only copied."""

_CHUNK_BYTES = 2**25

_WORTH_THREADS = 2**17
"""Values that take longer to compute than it takes to start threads."""

_TILE = 128, 512
"""Rows and columns of the kernel values of a sum that are computed at a time and forgotten: they stay in the cache. In
pieces of 10 MB a value costs 7 to 30 ns, in these 1.6 with 2 columns and 2.5 with 10 (n = 10 000, rbf)."""

_TWOFOLD_AT_ONCE = 2**20

_TIMES = 16.0
"""How many times the median of the positive K_ii those of ordinary rows are at most."""


class RowSource(Protocol):
    """Where kernel values come from: a kernel bound to the rows of a design."""

    @property
    def diagonal(self) -> Floats:
        """(n,) values K_ii."""

    @property
    def vectors(self) -> Floats | None:
        """A (n, r), if the kernel values are the products AA'; None if they are something else."""

    @property
    def blur(self) -> float:
        """How far values K_ij may be off, in units in the last place of √(K_ii K_jj)."""

    def block(self, rows: Rows, columns: Rows | slice) -> Floats:
        """K[rows][:, columns]."""

    def gram(self) -> Floats:
        """The full (n, n) matrix."""


@compiled()
def gather(stored, rows, columns, places, out):
    """out[a] = stored[rows[a], columns] for each a of ``places``."""
    unsigned = columns.astype(np.uint64)  # no index from the end: the loop is a third faster
    for a in places:
        source, target = stored[rows[a]], out[a]
        for c in range(unsigned.shape[0]):
            target[c] = source[unsigned[c]]


@compiled(borrowing=True)
def combine(stored, rows, coefficients, out):
    """out += Σ_a coefficients[a] · stored[rows[a], :n], four rows at a time; rows, coefficients (m,), out (n,).

    No sum is reassociated, here and in every loop whose digits reach a result: the last bit must not depend on which
    process compiled the loop.
    """
    combine_first(stored, rows, coefficients, rows.shape[0], out)


@compiled(inside=True, borrowing=True)
def combine_first(stored, rows, coefficients, m, out):
    """`combine` for the first m of rows and coefficients: a slice would cost more than a short sum."""
    n = out.shape[0]
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


class Room:
    """Memory for one matrix after another: fresh memory costs more than filling it."""

    __slots__ = ("_flat",)

    def __init__(self) -> None:
        self._flat = np.empty(0)

    def square(self, m: int) -> Floats:
        """An (m, m) matrix, in the place of the one before."""
        if len(self._flat) < m * m:
            self._flat = np.empty(m * m)
        return self._flat[: m * m].reshape(m, m)


class _Kept(NamedTuple):
    """The rows that are known, (S, n), and where each of the n stands among them, −1 if it does not.

    Nothing that a place points to changes any more: what one thread reads, another may extend.
    """

    values: Floats
    place: Rows


class Ordinary(NamedTuple):
    """The rows that are not far from all others, by which it is judged what rounding hides of f.

    |h(x)| and its rounding grow with √K(x, x). A row far away, under a polynomial kernel of skewed predictors, has
    values many orders of magnitude larger than others: by its rounding nothing would be left of f at these, and by its
    own f the spread is what nothing hides.

    Attributes
    ----------
    rows : which they are; all, or some of them (m,)
    share : the root of the largest K_ii of them, as a share of that of all rows
    """

    rows: slice | NDArray[np.intp]
    share: float

    def spread(self, field: Floats) -> Floats:
        """Over them, of values (..., n), or what that over all rows comes to at them, if they hardly differ."""
        whole = np.ptp(field, axis=-1)
        if self.share == 1.0:
            return np.asarray(whole)
        return np.maximum(np.ptp(field[..., self.rows], axis=-1), self.share * whole)


def ordinary_rows(diagonal: Floats) -> Ordinary:
    """Those of a diagonal K_ii (n,), at least half of the rows.

    Examples
    --------
    >>> ordinary_rows(np.array([1.0, 2.0, 1.0, 4.0])).share
    1.0
    >>> ordinary_rows(np.array([1.0, 2.0, 1.0, 4e6, 3.0])).share
    0.000866...
    """
    size = np.abs(diagonal)
    largest = float(size.max(initial=0.0))
    if largest <= _TIMES * float(size.min(initial=largest)):  # as of most kernels, where the median takes a while
        return Ordinary(slice(None), 1.0)
    most = _TIMES * float(np.median(size[size > 0.0]))
    if largest <= most:
        return Ordinary(slice(None), 1.0)
    rows = np.flatnonzero(size <= most)
    return Ordinary(rows, float(np.sqrt(size[rows].max() / largest)))


class Sizes(NamedTuple):
    """How large kernel values may be, by |K_ij| ≤ √(K_ii K_jj).

    Attributes
    ----------
    root : (n,) √|K_ii|
    largest_root, largest : the largest √|K_ii| and |K_ii|
    """

    root: Floats
    largest_root: float
    largest: float


def sizes_of(diagonal: Floats) -> Sizes:
    """Those of a matrix with the diagonal K_ii (n,)."""
    size = np.abs(diagonal)
    root = np.sqrt(size)
    return Sizes(root, float(root.max(initial=0.0)), float(size.max(initial=0.0)))


class Gram:
    """A symmetric kernel matrix, whole in memory or computed as it is asked for.

    Rows are kept once computed if the whole matrix fits the budget, one below the other in the order in which they are
    asked for: memory that is touched for the first time costs as much as the values. Beyond the budget none is kept,
    and every use computes the part that it needs in blocks. With its parts it keeps no more than the budget, but for
    the part that grew last: those that grew first forget their rows. Threads may ask at the same time. A pickle holds
    the source and whether all rows are known: computing the same values again, once they are asked for, is quicker than
    moving them.

    Parameters
    ----------
    source : where the kernel values come from
    budget : bytes that the matrix may take
    was_complete : whether all rows were known where this one comes from: they are computed together then
    constant : what has been added to all values of a kernel

    Attributes
    ----------
    fits : whether the whole matrix is within the budget
    keeps : whether rows are kept
    at_once : whether it is so small that all rows are computed at the beginning
    shelf : where its values are, and those of its parts
    """

    __slots__ = (
        "__weakref__",
        "_budget",
        "_extends",
        "_kept",
        "_ordinary",
        "_short",
        "_sizes",
        "_source",
        "_was_complete",
        "at_once",
        "constant",
        "diagonal",
        "fits",
        "keeps",
        "n",
        "shelf",
    )
    _is_kept: ClassVar[bool] = True

    def __init__(
        self, source: RowSource, *, budget: int = DEFAULT_BUDGET, was_complete: bool = False, constant: float = 0.0
    ) -> None:
        self._source, self._budget, self._extends, self.constant = source, budget, Lock(), constant
        self.diagonal = source.diagonal
        self.n = len(self.diagonal)
        self.fits = 8 * self.n**2 <= budget
        self.keeps = self._is_kept and self.fits
        self.at_once = self.keeps and self.n <= (PART_AT_ONCE if isinstance(source, _Part) else AT_ONCE)
        self.shelf = source.shelf if isinstance(source, _Part) else Shelf(budget)
        self.forget()
        self._was_complete = was_complete
        self._short: Floats | Literal["unknown"] | None = "unknown"
        self._ordinary: Ordinary | None = None
        self._sizes: Sizes | None = None
        if self.at_once:
            self.complete()

    def __reduce__(self) -> tuple[Any, ...]:
        whole = self._was_complete or len(self._kept.values) == self.n
        return partial(Gram, budget=self._budget, was_complete=whole, constant=self.constant), (self._source,)

    @property
    def budget(self) -> int:
        """Bytes that kernel values may take."""
        return self._budget

    def passing(self) -> "Gram":
        """The same matrix, of which nothing is kept."""
        return Gram(self._source, budget=0)

    @property
    def ordinary(self) -> Ordinary:
        """The rows by which it is judged what rounding hides."""
        if self._ordinary is None:
            self._ordinary = ordinary_rows(self.diagonal)
        return self._ordinary

    @property
    def sizes(self) -> Sizes:
        """How large its values may be."""
        if self._sizes is None:
            self._sizes = sizes_of(self.diagonal)
        return self._sizes

    @property
    def is_complete(self) -> bool:
        """Whether every row is known by now."""
        return len(self._known.values) == self.n

    def complete(self) -> Floats:
        """The whole (n, n) matrix.

        Raises
        ------
        MemoryError
            If it exceeds the budget.
        """
        if not self.fits:
            raise MemoryError(f"a gram matrix of {self.n} rows exceeds the memory budget")
        known = self._known
        if len(known.values) < self.n:
            with self._extends:
                known = self._complete()
        return known.values

    def keep_all(self) -> None:
        """Compute all rows where rows are kept and a large fit looks at what is known: before workers share them."""
        if self.keeps and self.n > AT_ONCE and self.shelf.has_room(8 * self.n**2):
            self.complete()

    def forget(self) -> None:
        """Keep no row; who has asked for values goes on with them."""
        self._kept = _Kept(np.empty((0, self.n)), np.full(self.n, -1))

    def block(self, rows: Rows, room: Room | None = None) -> Floats:
        """K[rows][:, rows], (m, m); in ``room``, if given, until that is used again."""
        out = np.empty((len(rows), len(rows))) if room is None else room.square(len(rows))
        values, place = self._known
        if len(values) == self.n:
            gather(values, rows, rows, np.arange(len(rows)), out)
            return out
        place = place[rows]
        known = place >= 0
        if known.any():
            gather(values, place, rows, np.flatnonzero(known), out)
        if not known.all():
            self._fill(out, np.flatnonzero(~known), rows, rows)
        return out

    def part(self, rows: Rows) -> "Gram":
        """The gram matrix of some of the rows (m,), with the values that are known here."""
        return Gram(_Part(self, rows), budget=self._budget)

    def cross(self, rows: Rows, columns: Rows) -> Floats:
        """K[rows][:, columns], (m, k)."""
        values = self._known.values
        if len(values) == self.n:
            out = np.empty((len(rows), len(columns)))
            gather(values, rows, columns, np.arange(len(rows)), out)
            return out
        return self._source.block(rows, columns)

    def across(self, places: Rows, rows: Rows, coefficients: Floats, delicate: bool) -> tuple[Floats, Floats]:
        """Two arrays whose product is Σ_a coefficients[a] · K[places, rows[a]], (k,) or (k, P).

        Values that are products are left out where their digits do not do, ``delicate``, or where none is kept.
        """
        if (delicate or not self._is_kept) and self.vectors is not None:
            return self.vectors[places], self.normal(rows, coefficients)
        return self.cross(places, rows), coefficients

    def columns(self, rows: Rows) -> Floats:
        """K[rows, :], (m, n)."""
        if self.fits:
            values, place = self._with(rows)
            return values[place[rows]]
        out = np.empty((len(rows), self.n))
        self._fill(out, np.arange(len(rows)), rows, np.arange(self.n))
        return out

    def row(self, row: int) -> Floats:
        """K[row, :], (n,), computed and not kept, unless it is known."""
        values, place = self._known
        if place[row] >= 0:
            return values[place[row]]
        return self._source.block(np.array([row]), slice(None))[0]

    def add(self, rows: Rows, coefficients: Floats, out: Floats) -> None:
        """Add Σ_a coefficients[a] · K[rows[a], :] to ``out``, (n,)."""
        if self.fits:
            values, place = self._with(rows)
            combine(values, place[rows], coefficients, out)
            return

        tall, wide = _TILE
        pieces = [slice(start, start + tall) for start in range(0, len(rows), tall)]

        def accumulate(start: int) -> None:
            across = slice(start, start + wide)
            total = out[across]
            for piece in pieces:
                total += coefficients[piece] @ self._source.block(rows[piece], across)

        for _ in in_threads(accumulate, range(0, self.n, wide)):
            pass

    @property
    def vectors(self) -> Floats | None:
        """A (n, r), if the kernel values are the products AA'."""
        return self._source.vectors

    @property
    def blur(self) -> float:
        """How far values K_ij may be off where no products take their place, as in `RowSource`."""
        return 0.0 if self.vectors is not None else self._source.blur

    def short_factor(self) -> Floats | None:
        """G (n, r) with GG' = K to rounding, where values are no products and G is short: see `pivoted`."""
        if isinstance(self._short, str):
            whole = self.vectors is None and 8 * self.n * MOST_COLUMNS <= DEFAULT_BUDGET // 8
            self._short = short_factor(self.row, self.diagonal) if whole else None
        return self._short

    def normal(self, rows: Rows, coefficients: Floats) -> Floats:
        """Σ_a coefficients[a] · A[rows[a]], (r,) or (r, P), for coefficients (m,) or (m, P), where there is an A."""
        assert self.vectors is not None
        each = [normal_vector(self.vectors, rows, np.ascontiguousarray(c))[0] for c in np.atleast_2d(coefficients.T)]
        return each[0] if coefficients.ndim == 1 else np.column_stack(each)

    def residual(self, beta: Floats, linear: Floats) -> Floats:
        """s − Kβ (n,) for s and β (n,), as if in twice the working precision and rounded once.

        Where kernel values are products it is by these, and not by the digits that values have kept.
        """
        if self.vectors is not None:
            return residual_by_factor(self.vectors, beta, linear)
        support, h = np.flatnonzero(beta), np.empty(self.n)
        if self.fits:
            values, place = self._with(support)
            high, low = linear.copy(), np.zeros(self.n)
            add_twofold(values, place[support], -beta[support], high, low)
            return np.asarray(high + low)
        step = max(1, _TWOFOLD_AT_ONCE // (len(support) + 1))
        for start in range(0, self.n, step):
            rows = np.arange(start, min(start + step, self.n))
            subtract_twofold(self.cross(rows, support), beta[support], linear[rows], h[start : start + step])
        return h

    @property
    def _known(self) -> _Kept:
        """What is kept by now."""
        if self._was_complete:
            with self._extends:
                self._was_complete = False
                return self._complete()
        return self._kept

    def _with(self, rows: Rows) -> _Kept:
        """What is kept, after those of the rows (m,) that were not have been computed; if they are many, all have."""
        known = self._known
        if len(known.values) < self.n and (known.place[rows] < 0).any():
            with self._extends:
                return self._extend(rows)
        return known

    def _extend(self, rows: Rows) -> _Kept:
        values, place = self._kept
        missing = rows[place[rows] < 0]
        stored = int(np.count_nonzero(place >= 0))
        needed = stored + len(missing)
        if needed > self.n // 3:
            return self._complete()
        if needed > len(values):
            larger = np.empty((min(stored + needed, self.n // 3), self.n))
            larger[:stored] = values[:stored]
            values = larger
        self._fill(values[stored:needed], np.arange(len(missing)), missing, slice(None))
        place = place.copy()
        place[missing] = np.arange(stored, needed)
        return self._keep(_Kept(values, place))

    def _complete(self) -> _Kept:
        known = self._kept
        return known if len(known.values) == self.n else self._keep(_Kept(self._source.gram(), np.arange(self.n)))

    def _keep(self, known: _Kept) -> _Kept:
        self._kept = known
        if isinstance(self._source, _Part):
            self.shelf.grown(self, known.values.nbytes)
        else:
            self.shelf.whole = known.values.nbytes
        return known

    def _fill(self, out: Floats, places: Rows, rows: Rows, columns: Rows | slice) -> None:
        """Compute K[rows][:, columns] at some of its rows, in pieces."""

        def compute(part: Rows) -> None:
            out[part] = self._source.block(rows[part], columns)

        _in_chunks(compute, places, out.shape[1])


class _Part:
    """Some rows (m,) of a whole as a source of kernel values; the whole is pickled once for all its parts."""

    __slots__ = ("_rows", "_whole", "diagonal")

    def __init__(self, whole: Gram, rows: Rows) -> None:
        self._whole, self._rows = whole, rows
        self.diagonal = whole.diagonal[rows]

    def __reduce__(self) -> tuple[Any, ...]:
        return _Part, (self._whole, self._rows)

    @property
    def shelf(self) -> Shelf:
        """Where the values of the whole are."""
        return self._whole.shelf

    @property
    def vectors(self) -> Floats | None:
        whole = self._whole.vectors
        return None if whole is None else whole[self._rows]

    @property
    def blur(self) -> float:
        return self._whole.blur

    def block(self, rows: Rows, columns: Rows | slice) -> Floats:
        return self._whole.cross(self._rows[rows], self._rows[columns])

    def gram(self) -> Floats:
        return self._whole.block(self._rows)


def _in_chunks(task: Callable[[Rows], None], rows: Rows, width: int) -> None:
    """Run ``task`` on pieces of ``rows`` of some 32 MiB, ``width`` values a row, in threads, one for each core."""
    if len(rows) * width < _WORTH_THREADS:
        task(rows)
        return
    size = max(1, min(_CHUNK_BYTES // (8 * width + 8), -(-len(rows) // 8)))
    pieces = [rows[start : start + size] for start in range(0, len(rows), size)]
    for _ in in_threads(task, pieces):
        pass
