"""Rows that are copies of each other, told apart and ordered by their values alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Distinct:
    """The distinct rows among n, in the order of their values, whatever the order in which they were given.

    Attributes
    ----------
    first : (G,) where each of them stands first
    of_row : (n,) which of them each row is
    weights : (G,) sums of the weights of their copies
    """

    first: NDArray[np.intp]
    of_row: NDArray[np.intp]
    weights: NDArray[np.float64]


def distinct_rows(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> Distinct:
    """Find the distinct rows of ``columns`` (n, q) and add up the ``weights`` (n,) of their copies.

    Examples
    --------
    >>> found = distinct_rows(np.array([[2.0, 0.0], [1.0, 5.0], [2.0, -0.0]]), np.array([1.0, 1.0, 0.5]))
    >>> found.first, found.of_row, found.weights
    (array([1, 0]), array([1, 0, 1]), array([1. , 1.5]))
    """
    order = np.lexsort(columns.T[::-1])  # stable, and −0 equals 0
    if len(order) == 0:
        return Distinct(order, order, weights)
    ordered = columns[order]
    new = np.ones(len(order), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    of_row = np.empty(len(order), np.intp)
    of_row[order] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    return Distinct(order[starts], of_row, np.add.reduceat(weights[order], starts))
