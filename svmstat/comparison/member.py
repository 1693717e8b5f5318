"""What a comparison asks of a model: its rows, and what its refits say of rows that they have not seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.comparison.observed import Observed


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


class Member(Protocol):
    """A model that can be fitted again without some of its rows, everything else as it was."""

    @property
    def observed(self) -> Observed:
        """Its rows; the classes of what is said are in the order of their levels."""

    def one_by_one(self, n_jobs: int | None, progress: bool) -> Said:
        """Each row left out on its own; one of weight w loses min(w, 1), and one of weight zero nothing."""

    def without(self, lots: Sequence[Codes], n_jobs: int | None, progress: bool) -> list[Said]:
        """The rows of each lot left out together, and predicted."""


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
