"""What a search is: a criterion over a space of parameters, with what it refuses, finds, tabulates and draws."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat.formula import Response
from svmstat.model import Prepared
from svmstat.objective.nu import Nu
from svmstat.reporting.plots.style import Axes
from svmstat.reporting.summary import Summary
from svmstat.tuning.grid import Grid
from svmstat.tuning.sample import Effort, Sample

if TYPE_CHECKING:
    from svmstat.tuning.result import TuneResult


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of `tune` that are not for every criterion, as the caller gave them."""

    C: object
    nu: object
    search: object
    smooth: object
    score: object
    folds: object
    truth: object
    further: object
    loss: str
    weighing: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found.

    Attributes
    ----------
    table : one row for each point
    chosen : which of them is the best
    kernel : which kernel of the grid it has
    params : its parameters as arguments of `svm`
    C, nu : its cost, or its ν in the place of one
    """

    table: pd.DataFrame
    chosen: int
    kernel: int
    params: dict[str, Any]
    C: float = 1.0
    nu: Nu | None = None


class Plan(ABC):
    """A search as the arguments of `tune` describe it.

    Attributes
    ----------
    space : the names of what is searched beside the kernels
    """

    __slots__ = ()
    space: tuple[str, ...]

    @property
    @abstractmethod
    def folds(self) -> int | None:
        """Into how many folds the rows are divided."""

    @property
    @abstractmethod
    def score_name(self) -> str:
        """What tables and figures call the score, the number that is made as small as possible."""

    @abstractmethod
    def refuse_levels(self, response: Response) -> None:
        """Refuse a response of more than two levels where that has no meaning."""

    def refuse_grid(self, grid: Grid) -> None:
        """Refuse kernels for which there is no such search."""

    def held_out(
        self, prepared: Prepared, n_data: int, keep_outside: bool, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]] | None:
        """Positions in the data of rows that take no part in the search, and the mask of the others, if there are such.

        ``keep_outside`` says whether rows that were not used stay in the mask.
        """
        return None

    @abstractmethod
    def search(self, sample: Sample, grid: Grid, effort: Effort) -> Found:
        """Search the grid; `DataError` if no point could be scored."""

    def finished(self, result: "TuneResult", held: pd.DataFrame | None) -> "TuneResult":
        """The result with what follows from the best fit and the rows that were held out."""
        return result

    @abstractmethod
    def figure(self, result: "TuneResult", ax: Axes | None) -> Axes:
        """The score over what was searched."""

    @abstractmethod
    def summary(self, result: "TuneResult") -> Summary:
        """The best point and how it was found."""
