"""What a fit is worth on rows that it has not seen: leave-one-out and folds."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from svmstat._tools.arrays import Codes
from svmstat._tools.checks import at_least, flag, workers
from svmstat._tools.once import Once
from svmstat.calibration import fit_maps
from svmstat.diagnostics import Evidence, LooResult
from svmstat.machine import reweighted, vote
from svmstat.resampling import LeaveOneOut
from svmstat.resampling.loops import Outlook, matrix_bytes, matrix_reason, run_pieces
from svmstat.resampling.said import Said, keeps_all, nothing
from svmstat.resampling.unseen import FOLDS, MOST_LEFT_OUT, Unseen, unseen, unseen_by_folds
from svmstat.results.prediction import Predicting

_CHEAP, _MAPPED = 6e6, 0.15
"""Operations that take about a second: rows that a support vector moves, and rows of a map, in units of the former."""


@dataclass(frozen=True, repr=False, eq=False)
class Resampled(Predicting):
    """Fits to altered data.

    Attributes
    ----------
    optimism : float or None
        Of the best fit of `tune`: by how much the held-out deviance by which it was chosen is too low for that.
    """

    optimism: float | None = field(default=None, kw_only=True)
    _loo: Once = field(default_factory=Once, init=False)

    def loo(self, n_jobs: int | None = None, progress: bool = False) -> LooResult:
        """Leave every row out in turn; computed once and kept.

        Only the pairs that hold the row's level are refitted. Scaling, kernel width and factor coding are those of
        this fit. A row of weight w loses min(w, 1), one copy.

        Parameters
        ----------
        n_jobs : int, optional
            Number of workers, as in `joblib.Parallel`; ``joblib.parallel_config`` chooses the backend. The numbers do
            not depend on it.
        progress : bool
            Whether to show a progress bar.

        Returns
        -------
        LooResult

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> formula = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
        >>> loo = svm(formula, datasets.load("mackerel"), C=16, gamma=0.25).loo()
        >>> round(loo.score, 1), round(loo.error_rate, 4), round(loo.excess_error, 4)
        (486.6, 0.1625, 0.0284)
        >>> liver = datasets.load("liver")
        >>> loo = svm("disease ~ np.log(ast) + np.log(alt) + np.log(gldh)", liver, C=4).loo()
        >>> loo.n_refits == 3 * len(liver), loo.n_failed
        (True, 0)
        """
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        arrays = self.left_out(self.shape.two, n_jobs, progress)
        found = self._loo.get(lambda: self._unseen(arrays, n_jobs, progress))
        losses = tuple(pair.loss for pair in self.machine.pairs)
        return LooResult(
            **self._evidence("leave-one-out", found), arrays=arrays, full_winner=self._winner, deviance=self.deviance,
            losses=losses,
        )  # fmt: skip

    def kfold(self, folds: int = FOLDS, n_jobs: int | None = None, progress: bool = False) -> Evidence:
        """Leave out each of some stratified folds in turn, the same ones whenever they are asked for.

        Parameters
        ----------
        folds : int
            At least 2.
        n_jobs, progress
            As in `loo`.

        Returns
        -------
        Evidence

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", datasets.load("mackerel"))
        >>> fit.kfold().how
        '10 folds'
        """
        at_least("folds", folds, 2)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        maps, by, _ = self.fitted_maps(n_jobs, progress)
        found = unseen_by_folds(self.machine, maps, by, folds, n_jobs, progress)
        return Evidence(**self._evidence(f"{folds} folds", found))

    def residuals(self, kind: str = "deviance", rng: int | np.random.Generator | None = None) -> Any:
        """Residuals from the held-out probabilities, of many rows by ten folds; see `Evidence.residuals`.

        Parameters
        ----------
        kind : {"deviance", "pearson", "response", "quantile"}
        rng : int or Generator, optional
            For "quantile".

        Returns
        -------
        Series or DataFrame
            (n,), or (n, K) of every level against the rest if there are more than two.
        """
        held_out = self.held_out(loo=True)
        assert held_out is not None
        return held_out.residuals(kind, rng)

    @property
    def apparent(self) -> Evidence:
        """How well the fit does on its own rows, which says little of a flexible one."""
        f, codes = self.machine.decision_values, self.frame.codes
        maps = self.insample_maps
        own = Unseen(f, maps.probabilities(f), maps.log_likelihoods(f, codes), self._winner, np.zeros(len(f), bool))
        return Evidence(**self._evidence("in-sample", own))

    def said_without(self, lots: Sequence[Codes], n_jobs: int | None = None, progress: bool = False) -> list[Said]:
        """What fits without some lots of rows say of these: a bound u = 0, and the map that such a fit would have."""
        gram = self.machine.gram
        if gram.fits:
            gram.complete()  # workers may not add rows to the same matrix
        pieces = [(self, lot) for lot in lots]
        reason = matrix_reason(gram) or f"the machine, and the map of its probabilities, are fitted {len(lots)} times"
        outlook = Outlook([(partial(_without, *pieces[0]), len(lots))], matrix_bytes(gram), reason=reason)
        return run_pieces(_without, pieces, n_jobs=n_jobs, progress=progress, what="refits", outlook=outlook)

    def held_out(self, loo: bool | None) -> Evidence | None:
        """Leave-one-out, of many rows folds, if that is asked for or cheap; what is known already in any case."""
        known = self._loo.value is not None
        if not known and (loo is False or not (loo or self.is_cheap_to_leave_out)):
            return None
        return self.judged(self.left_out_folds)

    @property
    def left_out_folds(self) -> int | None:
        """In how many folds rows are held out; None where each is left out on its own, being few or it being known."""
        return None if self._loo.value is not None or self.n_used <= MOST_LEFT_OUT else FOLDS

    def judged(self, folds: int | None, n_jobs: int | None = None, progress: bool = False) -> Evidence:
        """Leave-one-out, or by folds."""
        return self.loo(n_jobs, progress) if folds is None else self.kfold(folds, n_jobs, progress)

    def corrected_rsquared(self, held_out: Evidence) -> float:
        """R² of held-out rows without the choice of cost and kernel by `tune`; as it is where there was none."""
        return held_out.rsquared - (self.optimism or 0.0) / held_out.null_score

    @property
    def is_cheap_to_leave_out(self) -> bool:
        """Whether the leave-one-out takes about a second or less, by its number of operations."""
        pairs = self.machine.pairs
        moved = sum(int(np.count_nonzero(pair.solution.alpha)) * len(pair.rows) for pair in pairs)
        mapped = sum(len(pair.rows) ** 2 for pair in pairs)
        return self.machine.gram.fits and moved + _MAPPED * mapped <= _CHEAP

    def _unseen(self, arrays: LeaveOneOut, n_jobs: int | None, progress: bool) -> Unseen:
        maps, by, _ = self.fitted_maps(n_jobs, progress)
        return unseen(self.machine, arrays, maps, by)

    def _evidence(self, how: str, found: Unseen) -> dict[str, Any]:
        frame = self.frame
        return {
            "how": how, "index": frame.index, "shape": self.shape, "codes": frame.codes, "weights": frame.weights,
            "values": found.decision_values, "probability": found.probability,
            "log_likelihoods": found.log_likelihood, "winner": found.winner, "failed": found.failed,
        }  # fmt: skip


def _without(fit: Resampled, lot: Codes) -> Said:
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
