"""What is left out, drawn and kept together: a copy of a row, a row with its weight, or a group of rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats


@dataclass(frozen=True, slots=True)
class Units:
    """G sets of rows, whole. Where there are none of these a unit is one copy of a row: weights are repeats.

    Attributes
    ----------
    of_row : (n,) the unit of each row, −1 for a row of weight zero
    count : G
    grouped : whether they are groups that were given; if not every row of positive weight is a unit
    """

    of_row: Codes
    count: int
    grouped: bool

    def sums(self, values: Floats) -> Floats:
        """(G, …) sums of what the rows (n, …) have.

        Examples
        --------
        >>> Units(np.array([1, -1, 0, 1]), 2, True).sums(np.array([1.0, 2.0, 3.0, 4.0]))
        array([3., 5.])
        """
        found = np.zeros((self.count, *values.shape[1:]))
        used = self.of_row >= 0
        np.add.at(found, self.of_row[used], values[used])
        return found

    def alike(self, weights: Floats) -> float:
        """As how many units of one size they count, by the weights (n,) of their rows: (Σw)²/Σw² [Kish 1965].

        Examples
        --------
        >>> Units(np.array([0, 0, 0, 1]), 2, True).alike(np.ones(4))
        1.6
        """
        return effective_count(self.sums(weights))

    def are_pure(self, codes: Codes) -> bool:
        """Whether no unit has rows of two classes (n,).

        Examples
        --------
        >>> units = Units(np.array([1, -1, 0, 1]), 2, True)
        >>> units.are_pure(np.array([0, 0, 1, 0])), units.are_pure(np.array([0, 0, 1, 1]))
        (True, False)
        """
        used = self.of_row >= 0
        pairs = np.unique(np.column_stack([self.of_row[used], codes[used]]), axis=0)
        return len(pairs) == self.count

    def in_order_of(self, place: Codes, weights: Floats) -> "Units":
        """The same, numbered in the order of the places (n,) of their rows, and of what these weigh there, of (n,).

        A row of weight 2 stands where two rows would; only units that hold the same are told apart by their rows.

        Examples
        --------
        >>> Units(np.array([0, 1, 1]), 2, True).in_order_of(np.array([2, 1, 0]), np.ones(3)).of_row
        array([1, 0, 0])
        >>> Units(np.array([0, 0, 1]), 2, True).in_order_of(np.zeros(3, int), np.array([1.0, 1.0, 1.5])).of_row
        array([1, 1, 0])
        """
        used = np.flatnonzero(self.of_row >= 0)
        code = self.of_row[used]
        order = np.lexsort((weights[used], place[used], code))
        bounds = np.flatnonzero(np.diff(code[order])) + 1
        held = []
        for rows in np.split(used[order], bounds):
            at, which = np.unique(place[rows], return_inverse=True)
            totals = np.bincount(which.ravel(), weights[rows])
            held.append((list(zip(at.tolist(), totals.tolist(), strict=True)), weights[rows].tolist()))
        rank = np.empty(self.count, np.intp)
        rank[sorted(range(self.count), key=held.__getitem__)] = np.arange(self.count)
        of_row = self.of_row.copy()
        of_row[used] = rank[code]
        return Units(of_row, self.count, self.grouped)

    def others(self, values: Floats) -> Floats:
        """(n, …) sums over the rows of all other units; over all rows for a row of none."""
        sums = self.sums(values)
        own = np.where((self.of_row >= 0).reshape(-1, *(1,) * (values.ndim - 1)), sums[self.of_row], 0.0)
        return np.asarray(sums.sum(axis=0) - own)

    def rows(self) -> tuple[Codes, Codes]:
        """The rows of all units, unit by unit, and where those of each begin (G + 1,).

        Examples
        --------
        >>> Units(np.array([1, -1, 0, 1]), 2, True).rows()
        (array([2, 0, 3]), array([0, 1, 3]))
        """
        order = np.argsort(self.of_row, kind="stable")
        order = order[self.of_row[order] >= 0]
        sizes = np.bincount(self.of_row[order], minlength=self.count)
        return order, np.concatenate([[0], np.cumsum(sizes)])

    def __iter__(self) -> Iterator[Codes]:
        """The rows of each unit."""
        rows, start = self.rows()
        return iter(np.split(rows, start[1:-1]))

    def kept(self, weights: Floats) -> "Units":
        """The same for other weights (n,): a row of weight zero is in none."""
        of_row = np.where(weights > 0, self.of_row, -1)
        known = np.unique(of_row[of_row >= 0])
        return Units(np.where(of_row >= 0, np.searchsorted(known, of_row), -1), len(known), self.grouped)

    def among(self, rows: Codes | NDArray[np.bool_]) -> "Units":
        """The same for some of the rows (m,); units without any of these are none."""
        of_row = self.of_row[rows]
        return Units(of_row, self.count, self.grouped).kept(np.ones(len(of_row)))


def are_groups(units: Units | None) -> TypeGuard[Units]:
    """Whether these are groups that were given, which are left out and drawn whole."""
    return units is not None and units.grouped


def fewest_units(codes: Codes, weights: Floats, units: Units | None) -> tuple[int, float]:
    """Which class of rows (n,) has the fewest units, or copies of rows, and how many; classes without a row are none.

    A row is one copy at least.

    Examples
    --------
    >>> fewest_units(np.array([0, 0, 2, 3, 3, 3]), np.array([1.0, 2.0, 2.0, 0.5, 0.5, 0.5]), None)
    (2, 2.0)
    """
    used = weights > 0
    known = np.unique(codes[used])
    if units is None:
        counts = np.maximum(np.bincount(codes[used], weights[used]), np.bincount(codes[used]))[known]
    else:
        counts = np.array([len(np.unique(units.of_row[used & (codes == code)])) for code in known], float)
    return int(known[counts.argmin()]), float(counts.min())


def are_whole(weights: Floats) -> bool:
    """Whether weights (n,) can be numbers of copies.

    Examples
    --------
    >>> are_whole(np.array([2.0, 0.0])), are_whole(np.array([0.5]))
    (True, False)
    """
    return bool((weights == np.round(weights)).all())


def effective_count(weights: Floats) -> float:
    """(Σw)²/Σw² of weights (n,), the number of equally weighted ones that would be worth as much [Kish 1965]."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def units_of(labels: Codes | None, weights: Floats, repeats: bool, place: Codes) -> Units | None:
    """The units of n rows, in the order of what they hold, whatever the order of the rows and the names of the groups.

    Parameters
    ----------
    labels : (n,) codes of groups; None where each row is for itself
    weights : (n,) case weights
    repeats : whether these are repeats of rows
    place : (n,) where the row stands among the different rows of the problem, −1 for a row of weight zero

    Returns
    -------
    Units or None
        None where a unit is a copy of a row: without groups if weights are repeats, and if each row is a unit of
        weight one. Groups of one row each are rows, unless weights are repeats: a row of weight two is two of them.

    Examples
    --------
    >>> units_of(np.array([7, 5, 5]), np.ones(3), True, np.array([0, 1, 2])).of_row
    array([0, 1, 1])
    >>> units_of(np.array([7, 5, 6]), np.ones(3), True, np.array([0, 1, 2])) is None
    True
    >>> units_of(np.array([7, 5, 6]), np.array([0.5, 2.0, 1.0]), False, np.array([0, 1, 2])).grouped
    False
    """
    if labels is None and repeats:
        return None
    used = np.flatnonzero(weights > 0)
    own = np.arange(len(weights)) if labels is None else labels
    unique, code = np.unique(own[used], return_inverse=True)
    if len(unique) == len(used) and bool((weights[used] == 1.0).all()):
        return None
    of_row = np.full(len(weights), -1)
    of_row[used] = code
    grouped = labels is not None and (repeats or len(unique) < len(used))
    return Units(of_row, len(unique), grouped).in_order_of(place, weights)
