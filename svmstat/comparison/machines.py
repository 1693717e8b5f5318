"""Fits of svmstat among the models of a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from svmstat._tools.arrays import Codes
from svmstat.comparison.observed import Observed
from svmstat.resampling.folds import points_of_few
from svmstat.resampling.said import Said
from svmstat.resampling.splits import Splits
from svmstat.results import SVMResults
from svmstat.results.resampled import by_refits


@dataclass(frozen=True, slots=True)
class Machines:
    """A fit by `svm`.

    Attributes
    ----------
    name : what it is called
    fit : the fit
    """

    name: str
    fit: SVMResults

    @property
    def observed(self) -> Observed:
        """Its rows."""
        frame = self.fit.frame
        event = frame.response.event_code if self.fit.shape.two else -1
        machine = self.fit.machine
        return Observed(
            self.name, frame.index, frame.response.levels, frame.codes, frame.weights, event, machine.units,
            points_of_few(machine.groups, machine.group_codes), self.fit.groups,
        )  # fmt: skip

    def one_by_one(self, n_jobs: int | None, progress: bool) -> Said:
        """Leave-one-out, or by group, as `SVMResults.loo` has it."""
        loo = self.fit.loo(n_jobs, progress)
        return Said(loo.probability, loo.winner, loo.failed, loo.values, maps=loo.maps)

    def without(self, lots: Sequence[Codes], n_jobs: int | None, progress: bool) -> list[Said]:
        """Each lot by a bound u = 0, as `SVMResults.said_without` has it."""
        return self.fit.said_without(lots, n_jobs, progress)

    def by_folds(self, splits: Splits, n_jobs: int | None, progress: bool) -> Said:
        """What refits say, as `SVMResults.kfold` has it of folds that are given."""
        found = by_refits(self.fit, splits, n_jobs, progress)
        return Said(found.probability, found.winner, found.failed, found.decision_values, maps=self.fit.insample_maps)
