"""Fits of svmstat among the models of a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from svmstat._tools.arrays import Codes
from svmstat.calibration import fit_maps
from svmstat.comparison.member import Said, keeps_all, nothing
from svmstat.comparison.observed import Observed
from svmstat.machine import reweighted, vote
from svmstat.resampling.loops import Outlook, matrix_bytes, matrix_reason, run_pieces
from svmstat.results import SVMResults


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
        return Observed(self.name, frame.index, frame.response.levels, frame.codes, frame.weights, event)

    def one_by_one(self, n_jobs: int | None, progress: bool) -> Said:
        """Leave-one-out, as `SVMResults.loo` has it."""
        loo = self.fit.loo(n_jobs, progress)
        return Said(loo.probability, loo.winner, loo.failed, loo.values)

    def without(self, lots: Sequence[Codes], n_jobs: int | None, progress: bool) -> list[Said]:
        """Each lot by a bound u = 0, and by the map that such a fit would have, of held-out values if it has those."""
        gram = self.fit.machine.gram
        if gram.fits:
            gram.complete()  # workers may not add rows to the same matrix
        pieces = [(self.fit, lot) for lot in lots]
        reason = matrix_reason(gram) or f"the machine, and the map of its probabilities, are fitted {len(lots)} times"
        outlook = Outlook([(partial(_without, *pieces[0]), len(lots))], matrix_bytes(gram), reason=reason)
        return run_pieces(_without, pieces, n_jobs=n_jobs, progress=progress, what=self.name, outlook=outlook)


def _without(fit: SVMResults, lot: Codes) -> Said:
    kept = fit.frame.weights.copy()
    kept[lot] = 0.0
    if not keeps_all(fit.frame.codes, fit.frame.weights, kept):
        return nothing(len(lot), len(fit.classes))
    machine = reweighted(fit.machine, kept)
    insample = fit_maps(machine, fit.insample_maps.coupling)
    other = replace(fit, machine=machine, frame=replace(fit.frame, weights=kept), insample_maps=insample)
    f = machine.decision_values[lot]
    failed = not other.converged or not other.maps.converged.all()
    return Said(other.maps.probabilities(f), vote(f, machine.classes), np.full(len(lot), failed), f)
