"""What every calibration can do: class probabilities from the decision values of all pairs."""

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration.platt import Platt
from svmstat.calibration.venn_abers import VennAbers
from svmstat.machine import Contrast
from svmstat.objective.units import Units


class Labelled(Protocol):
    """Rows with their classes and weights, and the pairs of classes: a `Machine`, or groups that folds are made of."""

    @property
    def codes(self) -> Codes:
        """(n,) classes 0 … K − 1; −1 in rows of weight zero without a class."""

    @property
    def weights(self) -> Floats:
        """(n,) case weights."""

    @property
    def units(self) -> Units | None:
        """What is left out together; None for one copy of a row."""

    @property
    def pairs(self) -> Sequence[Contrast]:
        """The P pairs of classes."""

    @property
    def classes(self) -> Codes:
        """(P, 2) their classes."""

    @property
    def totals(self) -> Floats:
        """(K,) sums of the case weights of the classes."""


class Calibration(Protocol):
    """From the decision values of the P pairs to the probabilities of the K classes.

    `Maps` are Platt's and have A and B besides, `VennAbersMaps` have the bounds p₀ and p₁.
    """

    @property
    def converged(self) -> NDArray[np.bool_]:
        """(P,) whether the map of the pair was found."""

    @property
    def pairs(self) -> Codes:
        """(P, 2) the classes; the maps give the probability of the first."""

    @property
    def totals(self) -> Floats:
        """(K,) sums of the case weights of the classes."""

    @property
    def coupling(self) -> str:
        """How the probabilities of more than one pair are coupled, one of COUPLINGS."""

    @property
    def kind(self) -> str:
        """The decision values that Platt's maps were fitted to, "insample", "loo" or "kfold"; or "venn-abers"."""

    @property
    def alone(self) -> Platt | VennAbers:
        """The map of two classes."""

    def with_coupling(self, coupling: str) -> Self:
        """The same maps, coupled in another way."""

    def probabilities(self, f: Floats) -> Floats:
        """(..., K) class probabilities for decision values (..., P); NaN where one of these is."""

    def log_likelihoods(self, f: Floats, codes: Codes) -> Floats:
        """(..., m) log p_{y_i} for decision values (..., m, P) and classes (m,); NaN for the class −1."""
