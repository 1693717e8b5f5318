"""Rows that are copies of each other, told apart and ordered by their values alone."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HALF = np.uint64(32)

_FINE = 2.0**30
"""Parts of the largest value of a column, in which values that are equal but for rounding are one as a rule."""


_DIGITS = 10
"""Of a sum of squares beside the largest: further ones hang on the order of the sum."""


def squares(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) sums of squares of differences (m, p) beside the largest, whatever the order and the signs of the columns.

    Examples
    --------
    >>> squares(np.array([[1.0, -1.0], [2.0, 0.0]]))
    array([0.5, 1. ])
    """
    return beside_largest((differences**2).sum(axis=1))


def beside_largest(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) sums that are not negative beside the largest, in digits that do not hang on the order of what is added."""
    rounded: NDArray[np.float64] = np.round(sums / max(float(sums.max()), np.finfo(float).tiny), _DIGITS)
    return rounded


@dataclass(frozen=True, slots=True)
class Distinct:
    """The distinct rows among n, in the order of their values, whatever the order in which they were given.

    What differs by rounding, as that of one processor does from that of another, does not decide this order where there
    is anything else: values are compared in parts of the largest of their column, and only if these are equal in all
    columns by all of their digits.

    Attributes
    ----------
    first : (G,) where each of them stands first
    of_row : (n,) which of them each row is
    weights : (G,) sums of the weights of their copies
    """

    first: NDArray[np.intp]
    of_row: NDArray[np.intp]
    weights: NDArray[np.float64]


def distinct_rows(
    columns: NDArray[np.float64], weights: NDArray[np.float64], labels: NDArray[Any] | None = None
) -> Distinct:
    """Find the distinct rows of ``columns`` (n, q) and add up the ``weights`` (n,) of their copies.

    With ``labels`` (n,), numbers, copies have the same one; rows that differ in it alone follow each other.

    Examples
    --------
    >>> found = distinct_rows(np.array([[2.0, 0.0], [1.0, 5.0], [2.0, -0.0]]), np.array([1.0, 1.0, 0.5]))
    >>> found.first, found.of_row, found.weights
    (array([1, 0]), array([1, 0, 1]), array([1. , 1.5]))
    """
    order, new = _in_order(columns, np.zeros(len(columns)) if labels is None else labels)
    if len(order) == 0:
        return Distinct(order, order, weights)
    of_row = np.empty(len(order), np.intp)
    of_row[order] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    return Distinct(order[starts], of_row, np.add.reduceat(weights[order], starts))


def _in_order(columns: NDArray[np.float64], labels: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The order of the rows (n, q) by their values, copies as they were given, and whether each differs from the last.

    Most rows differ in the first column already: the others are looked at where it is tied. −0 equals 0.
    """
    n, q = columns.shape
    first = _coarse(columns[:, :1])[:, 0] if q > 0 else np.zeros(n)
    order = np.argsort(first, kind="stable")
    first = first[order]
    new = np.ones(n, bool)
    new[1:] = first[1:] > first[:-1]
    tied = ~new
    tied[:-1] |= ~new[1:]
    places = np.flatnonzero(tied)
    if len(places) > 0:
        some = order[places]
        coarse = np.column_stack([first[places], _coarse(columns[some, 1:])])
        turned = np.lexsort((labels[some], *coarse.T[::-1]))
        if (changes(columns[some[turned]]) & ~changes(coarse[turned])).any():
            turned = np.lexsort((labels[some], *columns[some].T[::-1], *coarse.T[::-1]))
        some = order[places] = some[turned]
        new[places[1:]] = changes(columns[some]) | changes(labels[some, None])
    return order, new


def changes(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each of the rows (n, q) but the first differs from the one before."""
    return np.asarray((rows[1:] != rows[:-1]).any(axis=1))


def _coarse(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns (n, q) in whole parts of the largest finite value of each."""
    largest = np.abs(columns).max(axis=0, initial=0.0, where=np.isfinite(columns))
    return np.rint(columns / np.where(largest > 0.0, largest, 1.0) * _FINE)


def first_copies(rows: NDArray[np.float64], known: NDArray[np.float64]) -> NDArray[np.intp]:
    """For each of ``rows`` (m, q) the place (m,) of the first equal one among ``known`` (n, q) and then ``rows``.

    Examples
    --------
    >>> first_copies(np.array([[5.0], [7.0], [5.0], [7.0]]), known=np.array([[3.0], [5.0]]))
    array([1, 3, 1, 3])
    """
    both = np.vstack([known, rows]) + 0.0  # −0 equals 0
    place = _first(import_module("pandas").factorize(_hashes(both))[0])
    if not (both[place] == both).all():  # two different rows of one hash
        place = _first(distinct_rows(both, np.ones(len(both))).of_row)
    return place[len(known) :]


def _hashes(rows: NDArray[np.float64]) -> NDArray[np.uint64]:
    """(n,) numbers that are equal for equal rows (n, q) and hardly ever for others."""
    bits = rows.view(np.uint64)
    factors = np.random.default_rng(0).integers(2**64, size=rows.shape[1], dtype=np.uint64) | np.uint64(1)
    return np.asarray(((bits ^ (bits >> _HALF)) * factors >> _HALF) @ factors)


def _first(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where each of the codes (n,) stands first (n,)."""
    first = np.empty(codes.max(initial=-1) + 1, np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first[codes]
