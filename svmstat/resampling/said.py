"""What refits say of rows that they have not seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import Calibration


@dataclass(frozen=True, slots=True)
class Said:
    """What refits say of m rows that they have not seen.

    Attributes
    ----------
    probability : (m, K) of the classes; NaN where a refit has lost a class
    winner : (m,) the class that is predicted; −1 where a refit has lost a class
    failed : (m,) whether a refit has lost a class, or has not reached its optimum
    values : (m, P) decision values of the pairs of classes, by which rows are ranked; None for the log odds
    own : (m,) logarithms of the probabilities of their own classes, also of those that underflow
    maps : from values to probabilities, the same for all rows, by which these are ranked; None where there are none
    """

    probability: Floats
    winner: Codes
    failed: NDArray[np.bool_]
    values: Floats | None = None
    own: Floats | None = None
    maps: Calibration | None = None


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
    of_row : (n,) the lot whose refit is asked about a row; −1 for rows about which none is, and nothing is known
    """
    said, rows = joined(without(lots)), np.concatenate(lots)
    asked = np.flatnonzero(of_row[rows] == np.repeat(np.arange(len(lots)), [len(lot) for lot in lots]))
    n, place = len(of_row), rows[asked]
    found = replace(nothing(n, said.probability.shape[1]), failed=np.zeros(n, bool))
    for name in ("probability", "winner", "failed"):
        getattr(found, name)[place] = getattr(said, name)[asked]
    if said.values is None:
        return found
    values = np.full((n, said.values.shape[1]), np.nan)
    values[place] = said.values[asked]
    return replace(found, values=values)
