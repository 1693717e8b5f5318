"""A search done again on other labels: the machine that it would have found."""

from dataclasses import dataclass, replace

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat.errors import DataError
from svmstat.machine import Machine, fit_machine, nu_contrast
from svmstat.tuning.grid import Grid
from svmstat.tuning.plan import Plan
from svmstat.tuning.sample import Effort, Sample


@dataclass(frozen=True, slots=True)
class Retuned:
    """The search of a `tune`, as what makes a machine of labels.

    Attributes
    ----------
    plan, grid, sample : the search
    seed : where its folds come from
    """

    plan: Plan
    grid: Grid
    sample: Sample
    seed: np.random.SeedSequence

    def __call__(self, X: Floats, codes: Codes, weights: Floats) -> Machine | None:
        """The machine of the best point for rows X (n, p), classes and weights (n,); None if none can be scored."""
        try:
            sample = self._sample(X, codes, weights)
            found = self.plan.search(sample, self.grid, Effort())
        except DataError:
            return None
        asked = sample.contrasts
        if found.nu is not None:
            asked = (nu_contrast(asked[0].first, asked[0].second, found.nu),)
        return fit_machine(found.kernel_of(self.grid), X, codes, weights, asked, C=found.C)

    def _sample(self, X: Floats, codes: Codes, weights: Floats) -> Sample:
        """These rows, in stratified folds if the search holds out folds."""
        sample = replace(self.sample, X=X, codes=codes, weights=weights, folds=None)
        if self.plan.folds is None:
            return sample
        return sample.in_folds(self.plan.folds, np.random.default_rng(self.seed))
