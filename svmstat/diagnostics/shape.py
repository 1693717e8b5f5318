"""How numbers of pairs and classes are shown: of two levels one column is a Series and one number a number.

Of more levels a column for each pair, or level, makes a DataFrame. Nothing else in the package knows of this.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Floats
from svmstat.calibration import Calibration, Platt, VennAbers
from svmstat.errors import UnavailableError
from svmstat.formula import Response


@dataclass(frozen=True, slots=True)
class Shape:
    """The labels of K levels and of their P pairs.

    Attributes
    ----------
    response : Response
    by_nu : bool
        Whether ν takes the place of a cost.
    """

    response: Response
    by_nu: bool = False

    @property
    def strength(self) -> str:
        """What says how much an error costs."""
        return "nu" if self.by_nu else "C"

    @property
    def two(self) -> bool:
        """Whether there are two levels, and so one pair, (event, other)."""
        return len(self.response.levels) == 2

    @property
    def levels(self) -> pd.Index:
        """The K levels, in their order."""
        return pd.Index(self.response.levels)

    @property
    def shown(self) -> list[int]:
        """The positions of the levels that numbers are of: the event of two, or all."""
        return [self.response.event_code] if self.two else list(range(len(self.response.levels)))

    @property
    def pairs(self) -> pd.MultiIndex:
        """The P pairs of levels; a decision value > 0 stands for the first."""
        levels = [[self.response.levels[code] for code in column] for column in zip(*self.response.pairs, strict=True)]
        return pd.MultiIndex.from_arrays(levels, names=["positive", "negative"])

    def of_pairs(self, values: Floats, index: pd.Index, name: str) -> Any:
        """Values (n, P) of rows by pair: a Series with the name, or a DataFrame with the pairs as columns."""
        if self.two:
            return pd.Series(values[:, 0], index=index, name=name, copy=True)
        return pd.DataFrame(values, index=index, columns=self.pairs, copy=True)

    def of_each_pair(self, terms: pd.Index) -> pd.Index:
        """What m terms of each of the P pairs are called: (pair, term), pair by pair; of two levels just the terms."""
        if self.two:
            return terms.rename("term")
        each = [(*pair, term) for pair in self.pairs for term in terms]
        return pd.MultiIndex.from_tuples(each, names=[*self.pairs.names, "term"])

    def of_classes(self, values: Floats, index: pd.Index, name: str) -> Any:
        """Values (n, K) of rows by class: a Series of the event with the name, or a DataFrame of all levels."""
        if self.two:
            return pd.Series(values[:, self.response.event_code], index=index, name=name, copy=True)
        return pd.DataFrame(values, index=index, columns=self.levels, copy=True)

    def numbers(self, values: Any, name: str) -> Any:
        """A number for each of the P pairs: itself, or a Series on the pairs."""
        return np.asarray(values)[0].item() if self.two else pd.Series(values, index=self.pairs, name=name)

    def intervals(self, ends: list[tuple[float, float]]) -> Any:
        """An interval for each of the P pairs: itself, or a DataFrame with the columns ``low`` and ``high``."""
        return ends[0] if self.two else pd.DataFrame(ends, index=self.pairs, columns=["low", "high"])

    def counts(self, counts: Floats, columns: list[str]) -> pd.DataFrame:
        """Counts (P, 2, q) of either class of each pair: by level, or by pair."""
        if self.two:
            first, second = self.response.pairs[0]
            return pd.DataFrame(counts[0, np.argsort([first, second])], index=self.levels, columns=columns)
        return pd.DataFrame(counts.sum(axis=1), index=self.pairs, columns=columns)

    def calibration(self, maps: Calibration) -> Platt | VennAbers | Calibration:
        """The map of the one pair, or the maps of all."""
        return deepcopy(maps.alone if self.two else maps)  # what is written into its arrays is not of the fit

    def require_many(self, name: str, instead: str) -> None:
        """Refuse what is defined for more than two levels only.

        Raises
        ------
        UnavailableError
            For two; it says what there is ``instead``.
        """
        if self.two:
            raise UnavailableError(
                f"{name} exists for more than two levels only; the response {self.response.name!r} has 2: "
                f"use {instead}."
            )

    def require_two(self, name: str, instead: str) -> None:
        """Refuse what is defined for two levels only.

        Raises
        ------
        UnavailableError
            For more; it says what there is ``instead``.
        """
        if not self.two:
            raise UnavailableError(
                f"{name} exists for two levels only; the response {self.response.name!r} has "
                f"{len(self.response.levels)}: use {instead}."
            )
