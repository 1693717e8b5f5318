"""What refits say of rows that they have not seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats


@dataclass(frozen=True, slots=True)
class Said:
    """What refits say of m rows that they have not seen.

    Attributes
    ----------
    probability : (m, K) of the classes; NaN where a refit has lost a class
    winner : (m,) the class that is predicted; −1 where a refit has lost a class
    failed : (m,) whether a refit has lost a class, or has not reached its optimum
    values : (m, P) decision values of the pairs of classes, by which rows are ranked; None for the log odds
    """

    probability: Floats
    winner: Codes
    failed: NDArray[np.bool_]
    values: Floats | None = None


def keeps_all(codes: Codes, weights: Floats, kept: Floats) -> bool:
    """Whether every class that has weight keeps some."""
    used = weights > 0
    return set(codes[used & (kept > 0)].tolist()) == set(codes[used].tolist())


def nothing(m: int, n_classes: int) -> Said:
    """What is known of m rows by a refit that has lost a class."""
    return Said(np.full((m, n_classes), np.nan), np.full(m, -1), np.ones(m, bool))


def joined(parts: Sequence[Said]) -> Said:
    """Of the rows of all parts, one after the other."""
    values = [part.values for part in parts if part.values is not None]
    return Said(
        np.concatenate([part.probability for part in parts]),
        np.concatenate([part.winner for part in parts]),
        np.concatenate([part.failed for part in parts]),
        np.concatenate(values) if len(values) == len(parts) else None,
    )


def of_lots(without: Callable[[list[Codes]], list[Said]], lots: list[Codes], of_row: Codes) -> Said:
    """What refits without some lots of rows say of n rows: each row is asked about by one of them.

    Parameters
    ----------
    without : what refits without lots of rows say of these
    lots : the rows that each refit does not see
    of_row : (n,) the lot whose refit is asked about a row; −1 for the refit without all such rows
    """
    rest = np.flatnonzero(of_row < 0)
    of = [*range(len(lots)), *([-1] if len(rest) else [])]
    parts = without([*lots, *([rest] if len(rest) else [])])
    found, all_rows = joined(parts), np.concatenate([*lots, rest])
    asked = np.repeat(of, [len(part.winner) for part in parts]) == of_row[all_rows]
    place = np.full(len(of_row), -1)
    place[all_rows[asked]] = np.flatnonzero(asked)
    values = None if found.values is None else found.values[place]
    return Said(found.probability[place], found.winner[place], found.failed[place], values)
