"""From decision values to probabilities: the map, made of held-out values when a probability is first asked for."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from svmstat._tools.once import Once
from svmstat._tools.warn import warn
from svmstat.calibration import VENN_ABERS, Calibration, Maps, fit_maps
from svmstat.errors import CalibrationWarning
from svmstat.resampling import LeaveOneOut, leave_one_out
from svmstat.resampling.unseen import BY_LEAVING_OUT, MOST_LEFT_OUT, Fitted, held_out_maps
from svmstat.results.settings import Settings

CALIBRATIONS = ("auto", "loo", "kfold", "insample", VENN_ABERS)


def kind_of(asked: str, n: int) -> str:
    """Which calibration "auto" stands for with n rows of positive weight."""
    if asked == "auto":
        return "loo" if n <= MOST_LEFT_OUT else "kfold"
    return asked


@dataclass(frozen=True, repr=False, eq=False)
class Calibrated(Settings):
    """A fit with its maps.

    Attributes
    ----------
    coupled_by : str
        How class probabilities are made from those of the pairs of more than two levels.
    asked : str
        What the map of the probabilities is to be fitted to, one of ``CALIBRATIONS``.
    """

    coupled_by: str
    asked: str
    _insample: Once = field(default_factory=Once, init=False)
    _left: Once = field(default_factory=Once, init=False)
    _fitted: Once = field(default_factory=Once, init=False)

    @property
    def insample_maps(self) -> Maps:
        """Platt's maps of the in-sample decision values, which deviance, influence and goodness of fit use [003]."""
        return self._insample.get(self._fit_insample)

    def _fit_insample(self) -> Maps:
        maps = fit_maps(self.machine, self.coupled_by)
        if not maps.converged.all():
            warn("the Platt calibration did not converge", CalibrationWarning)
        return maps

    @property
    def n_used(self) -> int:
        """The number of rows of positive weight."""
        return int(np.count_nonzero(self.frame.weights > 0))

    def left_out(self, influence: bool, n_jobs: int | None = None, progress: bool = False) -> LeaveOneOut:
        """The leave-one-out, computed once; with ``influence`` what it says of the other rows in the same pass."""
        return self._left.get(
            lambda: leave_one_out(
                self.machine, self.insample_maps, influence=influence, n_jobs=n_jobs, progress=progress
            )
        )

    def fitted_maps(self, n_jobs: int | None = None, progress: bool = False, by: str | None = None) -> Fitted:
        """The maps from which probabilities are made, computed once; ``by`` another calibration than is usual here."""
        return self._fitted.get(lambda: self._fit_maps(n_jobs, progress, by or kind_of(self.asked, self.n_used)))

    @property
    def needs_leave_one_out(self) -> bool:
        """Whether the maps are fitted to leave-one-out values."""
        return kind_of(self.asked, self.n_used) in BY_LEAVING_OUT

    @property
    def has_maps(self) -> bool:
        """Whether the maps have been made."""
        return self._fitted.value is not None

    @property
    def maps(self) -> Calibration:
        """The maps of the pairs, from which probabilities are made: Platt's, or those of Venn and Abers."""
        return self.fitted_maps().maps

    def _fit_maps(self, n_jobs: int | None, progress: bool, by: str) -> Fitted:
        left = partial(self.left_out, self.shape.two, n_jobs, progress)
        found = held_out_maps(self.machine, self.insample_maps, by, left)
        if found.own.all() and self.asked != "auto":
            warn(
                f"calibration={self.asked!r} is not possible, since no row of a class can be held out: probabilities "
                "are by the map of the fit's own decision values; more rows, or a smaller nu where nu was given, help",
                CalibrationWarning,
            )
        if found.by is not None and not found.maps.converged.all():
            warn("the Platt calibration did not converge", CalibrationWarning)
        return found

    def adopt_maps(self, fitted: Fitted) -> None:
        """Take maps that were fitted before, unless there are some: no row is held out for them again."""
        self._fitted.get(lambda: fitted)

    @property
    def calibration(self) -> Any:
        """The map from decision values to probabilities, its ``kind``, Platt's ``slope`` A and ``intercept`` B.

        With more than two levels arrays (P,) of the maps of all pairs, and their ``coupling``. Where no row of a class
        could be held out for it, it is "insample" whatever was asked for.
        """
        maps = self.maps
        if isinstance(maps, Maps) and self.fitted_maps().own.all():
            maps = replace(maps, kind="insample")
        return self.shape.calibration(maps)

    @property
    def insample(self) -> Any:
        """The map fitted to the in-sample decision values, which deviance, leave-one-out and goodness of fit use."""
        return self.shape.calibration(self.insample_maps)

    @property
    def coupling(self) -> str:
        """How class probabilities are made from those of the pairs of more than two levels."""
        self.shape.require_many("coupling", "calibration, the map of the one pair")
        return self.coupled_by
