"""The class frequencies as a model: what is said of rows where there are no predictors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat.objective.units import Units
from svmstat.resampling.said import Said


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Weighted shares of the classes of n rows.

    Attributes
    ----------
    codes : (n,) the classes, −1 where there is none
    weights : (n,) zero where there is none
    units : what is left out together; None for one copy of a row
    """

    codes: Codes
    weights: Floats
    units: Units | None = None

    def one_by_one(self) -> Said:
        """Of the rows without each one, or without a copy of it, or its unit.

        Examples
        --------
        >>> Frequencies(np.array([0, 0, 1]), np.ones(3)).one_by_one().probability
        array([[0.5, 0.5],
               [0.5, 0.5],
               [1. , 0. ]])
        """
        if self.units is not None:
            return self._said(np.maximum(self.units.others(self._members * self.weights[:, None]), 0.0))
        return self._said(self._members.T @ self.weights - self._members * np.minimum(self.weights, 1.0)[:, None])

    def without(self, lots: Sequence[Codes]) -> list[Said]:
        """Of the rows without each lot."""
        totals = self._members.T @ self.weights
        left = (totals - self._members[lot].T @ self.weights[lot] for lot in lots)
        return [self._said(np.tile(each, (len(lot), 1))) for each, lot in zip(left, lots, strict=True)]

    @property
    def _members(self) -> Floats:
        return np.asarray(self.codes[:, None] == np.arange(self.codes.max() + 1), float)

    @staticmethod
    def _said(left: Floats) -> Said:
        """By what is left (m, K) of the classes."""
        return Said(left / left.sum(axis=1, keepdims=True), left.argmax(axis=1), np.zeros(len(left), bool))
