"""From decision values to probabilities: the map, made of held-out values when a probability is first asked for."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.once import Once
from svmstat._tools.warn import warn
from svmstat.calibration import Maps, Platt, fit_maps
from svmstat.errors import CalibrationWarning, UnavailableError
from svmstat.resampling import LeaveOneOut, leave_one_out
from svmstat.resampling.unseen import fold_values
from svmstat.results.settings import Settings

CALIBRATIONS = ("auto", "loo", "kfold", "insample")

MOST_LEFT_OUT = 5000
"""With more rows "auto" is by folds."""

FOLDS = 5
"""Those of calibration="kfold"."""


class Fitted(NamedTuple):
    """Maps, and the held-out decision values (n, P) that they were fitted to; None for those of the fit."""

    maps: Maps
    by: Floats | None


@dataclass(frozen=True, repr=False, eq=False)
class Calibrated(Settings):
    """A fit with its maps.

    Attributes
    ----------
    insample_maps : Maps
        The maps fitted to the in-sample decision values, which deviance, influence and goodness of fit use [003].
    asked : str
        What the map of the probabilities is to be fitted to, one of ``CALIBRATIONS``.
    """

    insample_maps: Maps
    asked: str
    _left: Once = field(default_factory=Once, init=False)
    _fitted: Once = field(default_factory=Once, init=False)

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

    def fitted_maps(self, n_jobs: int | None = None, progress: bool = False) -> Fitted:
        """The maps from which probabilities are made, computed once."""
        return self._fitted.get(lambda: self._fit_maps(n_jobs, progress))

    @property
    def has_maps(self) -> bool:
        """Whether the maps have been made."""
        return self._fitted.value is not None

    @property
    def maps(self) -> Maps:
        """The Platt maps of the pairs, from which probabilities are made."""
        return self.fitted_maps().maps

    def _fit_maps(self, n_jobs: int | None, progress: bool) -> Fitted:
        kind = self.asked
        if kind == "auto":
            kind = "loo" if self.n_used <= MOST_LEFT_OUT else "kfold"
        if kind == "insample":
            return Fitted(self.insample_maps, None)
        if kind == "loo":
            by = self.left_out(self.shape.two, n_jobs, progress).decision_values
        else:
            by = fold_values(self.machine, FOLDS)
        if not self._maps_any(by):
            return self._unheld(kind)
        maps = fit_maps(self.machine, self.insample_maps.coupling, by, kind)
        if not maps.converged.all():
            warn("the Platt calibration did not converge", CalibrationWarning)
        return Fitted(maps, by)

    def _maps_any(self, f: Floats) -> bool:
        """Whether both classes of every pair have held-out values among f (n, P)."""
        there = ~np.isnan(f) & (self.frame.weights > 0)[:, None]
        signs = np.where(there, self.machine.signs, 0.0)
        return bool(((signs > 0).any(axis=0) & (signs < 0).any(axis=0)).all())

    def _unheld(self, kind: str) -> Fitted:
        """In-sample maps where no row of a class can be held out, if the choice was left to the fit."""
        lost = "no row of a class can be left out" if kind == "loo" else f"a class is lost with one of {FOLDS} folds"
        if self.asked != "auto":
            raise UnavailableError(
                f"calibration={self.asked!r} is not possible, since {lost}: use calibration='insample', more rows, or "
                "a smaller nu where nu was given."
            )
        warn(f"probabilities are by the map of the fit's own decision values, since {lost}", CalibrationWarning)
        return Fitted(self.insample_maps, None)

    @property
    def calibration(self) -> Platt | Maps:
        """The map from decision values to probabilities: ``slope`` A, ``intercept`` B, ``converged``, ``kind``.

        With more than two levels arrays (P,) of the maps of all pairs, and their ``coupling``.
        """
        return self.shape.calibration(self.maps)

    @property
    def insample(self) -> Platt | Maps:
        """The map fitted to the in-sample decision values, which deviance, leave-one-out and goodness of fit use."""
        return self.shape.calibration(self.insample_maps)

    @property
    def coupling(self) -> str:
        """How class probabilities are made from those of the pairs of more than two levels."""
        self.shape.require_many("coupling", "calibration, the map of the one pair")
        return self.insample_maps.coupling
