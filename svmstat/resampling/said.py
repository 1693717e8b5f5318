"""What refits say of rows that they have not seen."""

from collections.abc import Sequence
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
