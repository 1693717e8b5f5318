"""What a fit is worth on rows that it has not seen: leave-one-out and folds."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import FrameType
from typing import Any, Self

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.checks import flag, one_of, workers
from svmstat._tools.once import Once
from svmstat.calibration import Calibration, log_of_own
from svmstat.calibration.maps import LEAST
from svmstat.diagnostics import Evidence, HeldOut, LooResult
from svmstat.errors import UnavailableError
from svmstat.formula import fold_labels
from svmstat.machine import Pair, reweighted, vote
from svmstat.objective.bounds import ROUNDING
from svmstat.objective.units import units_of
from svmstat.resampling import LeaveOneOut
from svmstat.resampling.copies import Copies, are_together, copies_among
from svmstat.resampling.folds import points_of_few
from svmstat.resampling.loops import Outlook, matrix_bytes, matrix_reason, run_pieces
from svmstat.resampling.said import Said, keeps_all, nothing
from svmstat.resampling.splits import (
    Splits,
    cases_of,
    check_folds,
    given_splits,
    is_number,
    is_splitter,
    stratified,
)
from svmstat.resampling.unseen import FOLDS, MOST_LEFT_OUT, Part, Unseen, averaged, unseen, unseen_by_folds
from svmstat.results.calibrated import kind_of
from svmstat.results.prediction import Predicting
from svmstat.results.updated import Updated, data_of_folds
from svmstat.solver import Status

_CHEAP, _MAPPED = 6e6, 0.15
"""Operations that take about a second: rows that a support vector moves, and rows of a map, in units of the former."""

_SAME = 1e-6
"""Decision values of the same machine differ by no more, where one was found on a path, and the other by itself."""

_ANEW, _OF_HULLS = 1000.0, 8.0
"""How much longer a deletion takes that cannot start from the solution, and is solved anew; and one with ν."""


@dataclass(frozen=True, repr=False, eq=False)
class Resampled(Predicting, Updated):
    """Fits to altered data.

    Attributes
    ----------
    optimism : float or None
        Of the best fit of `tune`: by how much the held-out deviance by which it was chosen is too low for that; NaN
        where it was chosen by something else, or is held out or mapped otherwise than then. What `update` makes of the
        best fit is a fit that was chosen as long as it is the same machine.
    """

    optimism: float | None = field(default=None, kw_only=True)
    _loo: Once = field(default_factory=Once, init=False)

    def _again(
        self, formula: str | None, data: pd.DataFrame | None, changes: Mapping[str, Any], caller: FrameType
    ) -> Self:
        """The fit with changes, which was chosen as this one was if it is the same machine of the same rows."""
        found = super()._again(formula, data, changes, caller)
        if self.optimism is None or not _same_machine(self, found):
            return found
        same = (found.asked, found.coupled_by) == (self.asked, self.coupled_by) and _same_groups(self, found)
        return replace(found, optimism=self.optimism if same else np.nan)

    def loo(self, n_jobs: int | None = None, progress: bool = False, by: str | None = None) -> LooResult:
        """Leave every row out in turn, or every group where there are groups; computed once and kept.

        Only the pairs that hold a level of what is left out are refitted. Scaling, kernel width and factor coding are
        those of this fit. A row of weight w loses min(w, 1), one copy; of probability weights, and of a group, all is
        left out.

        Parameters
        ----------
        n_jobs : int, optional
            Number of workers, as in `joblib.Parallel`; ``joblib.parallel_config`` chooses the backend. The numbers do
            not depend on it.
        progress : bool
            Whether to show a progress bar.
        by : {"group", "row"}, optional
            With groups, by default "group"; "row" leaves out row after row for contrast, as if these were independent.

        Returns
        -------
        LooResult

        Raises
        ------
        UnavailableError
            With by="group" for a fit without groups.

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
        if self.one_by_one(by) is not self:
            return self.by_rows.loo(n_jobs, progress)
        arrays = self.left_out(self.shape.two, n_jobs, progress)
        found = self._loo.get(lambda: self._unseen(arrays, n_jobs, progress))
        losses = tuple(pair.loss for pair in self.machine.pairs)
        return LooResult(
            **self._evidence(self._how_one_by_one, found), maps=deepcopy(self.maps), optimism=self.optimism,
            copies=copies_of(self),
            arrays=arrays, full_winner=self._winner.copy(), deviance=self.deviance, losses=losses,
        )  # fmt: skip

    def one_by_one(self, by: str | None) -> Self:
        """The fit itself, or where rows are to be left out ``by`` "row" that without its groups.

        Raises
        ------
        ArgumentError, UnavailableError
            For something else, and for "group" without groups.
        """
        if by is not None:
            one_of("by", by, ("group", "row"))
        if by == "group" and self.groups is None:
            raise UnavailableError("by='group' needs groups, and this fit has none: give svm(..., groups=...).")
        return self.by_rows if by == "row" and self.grouped else self

    @cached_property
    def by_rows(self) -> Self:
        """The same fit without its groups, as if rows were independent; it has no call that makes it again."""
        machine, frame = self.machine, replace(self.frame, grouping=None)
        units = units_of(None, frame.weights, frame.weight_type == "frequency", machine.groups.of_row)
        return replace(self, machine=replace(machine, units=units), frame=frame, call=None)

    def kfold(self, folds: Any = None, n_jobs: int | None = None, progress: bool = False) -> HeldOut:
        """Leave out each of some folds in turn.

        Parameters
        ----------
        folds : int, splitter, column name or array_like of shape (N,), optional
            A number of stratified folds, at least 2, which are the same whenever they are asked for, and keep groups
            together, or copies of rows unless labels differ at a tenth of what has the same predictors: rows are cases
            then, and one that counts several is divided. By default 10, or as many as there are rows or groups if these
            are fewer. Or a splitter of scikit-learn, or the fold label of each of the N rows of the data, as for blocks
            of time or space: a row must be held out no more than once, those that never are do not count, and have no
            prediction, and a group is held out whole.
        n_jobs, progress
            As in `loo`.

        Returns
        -------
        HeldOut

        Notes
        -----
        Scaling, kernel width and factor coding are those of this fit, as in `loo`. The map of the probabilities is made
        anew for each fold, of the rows that the fit of the fold has seen and as this fit has it: "auto" stands for what
        it does for all rows. But with calibration="kfold", and "auto" beyond 5000 rows, and a number of folds it is
        that of the values of the other rows by five folds. What is said of a row that is divided is the mean over its
        cases. A fit by ν has that of the rows which a fold of several leaves; leave-one-out keeps n, ν and γ.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", datasets.load("mackerel"))
        >>> fit.kfold().how
        '10 folds'
        """
        splits = self.splits(folds)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        if splits.given or self.needs_leave_one_out:
            found = by_refits(self, splits, n_jobs, progress)
            maps: Calibration = self.insample_maps
        else:
            maps, by, _ = self.fitted_maps(n_jobs, progress)
            found = unseen_by_folds(self.machine, maps, by, splits, n_jobs, progress)
        frame = self.frame
        seen = splits.seen(frame.codes, frame.weights, len(self.classes))
        held_out = HeldOut(
            **self._evidence(splits.told(frame.weights), found), maps=deepcopy(maps), optimism=self.optimism, seen=seen,
            copies=None if are_together(self.machine) and not splits.given else copies_of(self, splits),
        )  # fmt: skip
        return held_out.without(splits.never(frame.weights))

    def splits(self, folds: Any) -> Splits:
        """What folds hold out: a number of them, a splitter of scikit-learn, or fold labels of the rows.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For what does not split the rows of the fit.
        """
        units, frame = self.machine.units, self.frame
        if folds is None:
            return stratified(self.machine, self.default_folds)
        if is_number(folds):
            n_groups, cases = self.n_groups if self.grouped else None, cases_of(self.machine)
            of = "cases" if cases > self.n_used else "rows"
            return stratified(self.machine, check_folds(folds, n_groups, n_rows=cases, of=of))
        labels = None
        if not is_splitter(folds):
            labels = fold_labels(folds, data_of_folds(self, folds), frame.rows, frame.weights > 0)
        groups = None if frame.grouping is None else frame.grouping.ordered
        return given_splits(folds, labels, frame.X, frame.codes, frame.weights > 0, units, groups)

    def residuals(self, kind: str = "deviance", rng: int | np.random.Generator | None = None) -> Any:
        """Residuals from the held-out probabilities, of more than 5000 rows by ten folds unless `loo` was called.

        See `Evidence.residuals`; `loo` and `kfold` have them too.

        Parameters
        ----------
        kind : {"deviance", "pearson", "response", "quantile"}
        rng : int or Generator, optional
            For "quantile", on which and on the order of the rows the draws depend.

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
        return _refitted(self, [(lot, None) for lot in lots], n_jobs, progress)

    def held_out(self, loo: bool | None) -> Evidence | None:
        """Leave-one-out, of many rows folds, if that is asked for or cheap; what is known already in any case."""
        known = self._loo.value is not None
        if not known and (loo is False or not (loo or self.is_cheap_to_leave_out)):
            return None
        return self.judged(self.left_out_folds)

    @property
    def left_out_folds(self) -> int | None:
        """In how many folds rows are held out; None where each is left out on its own, as usual or being known."""
        return None if self._loo.value is not None else self.usual_folds

    @property
    def usual_folds(self) -> int | None:
        """In how many folds rows are held out; None where each is left out: they are few, or the map needs it."""
        return None if self.n_used <= MOST_LEFT_OUT or self.needs_leave_one_out else self.default_folds

    @property
    def _how_one_by_one(self) -> str:
        return "leave-one-group-out" if self.grouped else "leave-one-out"

    @property
    def default_folds(self) -> int:
        """In how many folds rows are held out by default."""
        most = self.n_groups if self.grouped and self.n_groups is not None else cases_of(self.machine)
        return min(FOLDS, most)

    def judged(self, folds: int | None, n_jobs: int | None = None, progress: bool = False) -> Evidence:
        """Leave-one-out, or by folds."""
        return self.loo(n_jobs, progress) if folds is None else self.kfold(folds, n_jobs, progress)

    @property
    def is_cheap_to_leave_out(self) -> bool:
        """Whether the leave-one-out takes about a second or less, by its number of operations.

        From a solution without a certificate, or of hulls that meet, no deletion can start: each is solved anew.
        """
        pairs = self.machine.pairs
        moved = sum(_dearer(pair) * np.count_nonzero(pair.solution.alpha) * len(pair.rows) for pair in pairs)
        mapped = sum(len(pair.rows) ** 2 for pair in pairs)
        return bool(self.machine.gram.fits and moved + _MAPPED * mapped <= _CHEAP)

    def _unseen(self, arrays: LeaveOneOut, n_jobs: int | None, progress: bool) -> Unseen:
        maps, by, _ = self.fitted_maps(n_jobs, progress)
        return unseen(self.machine, arrays, maps, by)

    def _evidence(self, how: str, found: Unseen) -> dict[str, Any]:
        frame = self.frame
        arrays = {
            "codes": frame.codes, "weights": frame.weights, "values": found.decision_values,
            "probability": found.probability, "log_likelihoods": found.log_likelihood, "winner": found.winner,
            "failed": found.failed,
        }  # fmt: skip
        own = {name: values.copy() for name, values in arrays.items()}  # what is written into them is not of the fit
        return own | {
            "how": how, "index": frame.index, "shape": self.shape, "units": deepcopy(self.machine.units),
            "points": points_of_few(self.machine.groups, self.machine.group_codes),
            "level_weights": None if self.class_weight is None else self.decision.factors(self.classes),
            "support": self.support_share, "groups": self.groups,
        }  # fmt: skip


def copies_of(fit: Resampled, splits: Splits | None = None) -> Copies:
    """Rows of which fits without them have seen copies, ``splits`` being None for leave-one-out."""
    return copies_among(fit.machine, lambda: _predictors(fit), splits)


def _predictors(fit: Resampled) -> pd.DataFrame:
    """(n, q) the columns of the data that the formula reads, or those of the design where it reads none."""
    frame = fit.frame
    names = list(frame.design.predictors)
    return frame.data[names].iloc[frame.rows] if names else pd.DataFrame(frame.X)


def _dearer(pair: Pair) -> float:
    """How many times as long as usual a deletion takes."""
    with_nu, solution = pair.problem.total is not None, pair.solution
    if solution.status is not Status.CERTIFIED or (with_nu and solution.flat):
        return _ANEW
    return _OF_HULLS if with_nu else 1.0


def _same_machine(one: Resampled, other: Resampled) -> bool:
    """Whether two fits are to the same labels and weights, and their decision values are the same but for rounding."""
    a, b = one.frame, other.frame
    if not (np.array_equal(a.codes, b.codes) and np.array_equal(a.weights, b.weights)):
        return False
    f, h = np.abs(one.machine.decision_values), np.abs(other.machine.decision_values)  # another event turns the sign
    return bool((np.abs(f - h) <= _SAME * max(1.0, f.max())).all())


def _same_groups(one: Resampled, other: Resampled) -> bool:
    """Whether two fits to the same rows hold the same out together."""
    a, b = one.machine.units, other.machine.units
    return (a is None and b is None) or (a is not None and b is not None and np.array_equal(a.of_row, b.of_row))


def by_refits(fit: Resampled, splits: Splits, n_jobs: int | None, progress: bool) -> Unseen:
    """What is said of rows that were held out by the refit of each fold, with the map that such a fit would have."""
    machine, lots = fit.machine, [rows for rows, _ in splits.shares]
    said = _refitted(fit, list(zip(lots, splits.away(machine.weights), strict=True)), n_jobs, progress)
    parts = []
    for rows, each in zip(lots, said, strict=True):
        assert each.values is not None
        logs = log_of_own(each.probability, fit.frame.codes[rows])
        if each.own is not None:  # a probability may have underflown
            logs = np.where(logs <= np.log(LEAST), each.own, logs)
        parts.append(Part(each.values, each.probability, logs, each.failed))
    return averaged(machine, splits, parts, machine.resolution, lambda: fit.maps)


def _refitted(
    fit: Resampled, lots: Sequence[tuple[Codes, Floats | None]], n_jobs: int | None, progress: bool
) -> list[Said]:
    """What `_without` finds of each lot of rows."""
    gram, pieces = fit.machine.gram, [(fit, *each) for each in lots]
    fit.machine.keep_all_rows()
    reason = matrix_reason(gram) or f"the machine, and the map of its probabilities, are fitted {len(pieces)} times"
    outlook = Outlook([(partial(_without, *pieces[0]), len(pieces))], matrix_bytes(gram), reason=reason)
    return run_pieces(_without, pieces, n_jobs=n_jobs, progress=progress, what="refits", outlook=outlook)


def _without(fit: Resampled, lot: Codes, away: Floats | None) -> Said:
    """What a fit without a lot of rows, or without as much of the weight of rows as is ``away`` (n,), says of it."""
    weights = fit.frame.weights
    if away is None:
        away = np.zeros(len(weights))
        away[lot] = weights[lot]
    kept = np.where(weights - away > ROUNDING * weights, weights - away, 0.0)
    if not keeps_all(fit.frame.codes, fit.frame.weights, kept):
        lost = nothing(len(lot), len(fit.classes))
        return replace(lost, values=np.full((len(lot), len(fit.machine.pairs)), np.nan))
    machine = reweighted(fit.machine, kept, keeps_nu=len(lot) == 1)
    other = replace(fit, machine=machine, frame=replace(fit.frame, weights=kept))
    maps = other.fitted_maps(by=kind_of(fit.asked, fit.n_used)).maps
    f = machine.decision_values[lot]
    failed = not other.converged or not maps.converged.all()
    own = maps.log_likelihoods(f, fit.frame.codes[lot])
    return Said(maps.probabilities(f), vote(f, machine.classes), np.full(len(lot), failed), f, own)
