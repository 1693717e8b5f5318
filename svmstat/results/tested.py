"""A fit against what it would be if its probabilities were true, or the response had nothing to do with the rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.checks import at_least, between, flag, one_of, refuse, workers
from svmstat._tools.frames import label_at
from svmstat._tools.randomness import seed_sequence
from svmstat.diagnostics import Evidence, GofResult, InfluenceResult, PermutationResult
from svmstat.diagnostics.copies import copies_note
from svmstat.diagnostics.gof import METHODS
from svmstat.errors import DataError, UnavailableError
from svmstat.objective.units import are_groups, fewest_units
from svmstat.resampling import bootstrap_deviance
from svmstat.resampling.folds import is_table
from svmstat.resampling.influences import (
    Largest,
    OfRefit,
    influences,
    largest_influences,
    of_both,
    of_refit,
    seconds_of,
    together,
)
from svmstat.resampling.predicted import How, held_out_score
from svmstat.resampling.relabelled import (
    Look,
    Refit,
    Result,
    arrangements,
    first_of_points,
    of_copies,
    points_of,
    refits,
)
from svmstat.resampling.replicates import check_copies
from svmstat.resampling.structure import look_at_residuals, noises, residuals, slope_in_noise, statistics
from svmstat.results.resampled import Resampled, copies_of

_ROUNDING = 1e-9
_MOST_PERMUTED = 10**7
"""Copies of rows whose labels are permuted one by one."""

_COPIES = (
    "{seen:.6g} of {total:.6g} rows have copies, of the same predictors and level, more than chance makes of such "
    "predictors. Replicates take them for independent rows: where they are repeats of one observation p is too small."
)

_NO_ENVELOPE = "the envelope draws a label for every copy of a row (plot_index(reference='chi2') needs none)"


@dataclass(frozen=True, repr=False, eq=False)
class Tested(Resampled):
    """Refits to other responses of the same rows.

    Attributes
    ----------
    retuned : callable or None
        How the search of `tune` makes a machine of other labels, where the fit is the best of one.
    """

    retuned: Refit | None = field(default=None, kw_only=True)

    def gof(
        self,
        B: int = 199,
        method: str = "residual",
        level: float = 0.95,
        rng: int | np.random.Generator | None = None,
        retune: bool = False,
        n_jobs: int | None = None,
        progress: bool = False,
        envelope_of: InfluenceResult | None = None,
    ) -> GofResult:
        """Goodness of fit: is P(event | x) the probability that this fit reports?

        Scaling, kernel width and factor coding are those of this fit.

        Parameters
        ----------
        B : int
            Number of replicates, at least 1.
        method : {"residual", "pairs", "parametric"}
            "residual" tests whether the held-out residuals of rows that are near each other agree, as they do where the
            probabilities miss a structure: labels are drawn from the probabilities of the fit, each replicate is
            refitted, every row of it is left out in turn, and the statistic computed anew. The others compare the
            deviance with its bootstrap distribution [003: section 2.3]: "pairs" draws rows with replacement,
            "parametric" labels from the in-sample probabilities.
        level : float
            Between 0 and 1: the percentile of the replicates that the statistic is compared with.
        rng : int or Generator, optional
            On which alone the replicates depend; with kernel="precomputed" on the order of the rows too.
        retune : bool
            For the best fit of `tune` without groups and probability weights, and "residual": whether cost and kernel
            are chosen anew in every replicate, by the same search. That takes B searches.
        n_jobs, progress
            As in `loo`.
        envelope_of : InfluenceResult, optional
            What `get_influence` of this fit gave, for "residual" and B of at least 99: its envelope is made of the same
            replicates and kept. That takes three quarters of the time of both apart.

        Returns
        -------
        GofResult

        Raises
        ------
        ArgumentError
            For an argument outside what is allowed.
        DataError
            For weights that are no numbers of copies, unless method="pairs", or they are probability weights and
            method="residual"; and for weights that add up to more than 9e15.
        UnavailableError
            For "residual" where a row cannot be held out; with retune=True for a fit that is of no search, or has
            groups or probability weights; and for what another method does not have, retune and envelope_of.

        Notes
        -----
        T = r'R r / Σ π(1 − π) with r_k = 1{y_k = event} − π_k, π_k being held out, R_kl = exp(−‖x_k − x_l‖² / m) for
        k ≠ l and m the median of ‖x − x'‖² on the scaled design, for a precomputed kernel K_kk + K_ll − 2 K_kl; a row
        of weight w is w rows, and of more than two levels T is the sum over them. It is of the kind of le Cessie & van
        Houwelingen (1991). Beyond 5000 rows, unless calibration="loo", rows are held out by ten folds.

        T falls with the noise V = Σ π(1 − π), and fits to drawn labels may report more of it than the probabilities
        that these come from. Then T is compared with T* + b (V − V*) of the replicates, b ≤ 0 being the slope of the
        least-squares line of T on V through the fit and all of them; where they report less, or the line rises, it is
        compared with T*.

        Replicates of a fit with groups draw the labels of all rows independently of each other, given the predictors,
        also within groups, and hold out groups as the fit does; "pairs" draws groups. Where rows of a group share what
        the predictors do not have, residuals near each other agree, and H0 is rejected for that.

        A rejection is no verdict on the decision rule: a machine whose probabilities are too smooth, as a linear one of
        a weak signal, is rejected also where the truth is smooth. ``python -m benchmarks validity`` has the rates.

        The pairs test of [003] is no exact test: in a simulation under a true model (``python -m benchmarks
        simulation``) it never rejected smooth fits and, at a level of 0.05, a quarter of flexible ones, the parametric
        test none and 0.075. A replicate of drawn rows repeats some of them, and a flexible kernel fits these closely.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", datasets.load("mackerel"))
        >>> gof = fit.gof(B=19, rng=1)
        >>> gof.B, gof.n_failed, gof.reject
        (19, 0, True)
        >>> fit.gof(B=19, method="parametric", rng=1).n_failed
        0
        """
        at_least("B", B, 1)
        one_of("method", method, METHODS)
        level = between("level", level, 0.0, 1.0)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        refit = self._refit(flag("retune", retune))
        if envelope_of is not None:
            self._check_envelope(envelope_of, method, B)
        if method == "parametric" or (method == "residual" and self.weight_type == "frequency"):
            self._refuse_fractions(f"method={method!r} draws a label for every copy of a row")
        check_copies(self.frame.weights)
        seed = seed_sequence("rng", rng)
        if method != "residual":
            if refit is not None:
                raise UnavailableError(f"retune=True is for method='residual': method={method!r} keeps C and kernel.")
            found = bootstrap_deviance(
                self.machine, self.insample_maps, B=B, method=method, seed=seed, n_jobs=n_jobs, progress=progress
            ).deviance
            return GofResult(
                statistic=self.deviance, replicates=found, deviance=self.deviance, deviance_replicates=found,
                method=method, level=level, n_levels=len(self.classes),
                n_groups=self.n_groups if self.grouped else None, of_weights=self._of_weights,
            )  # fmt: skip
        machine, S = self.machine, len(first_of_points(self.machine))
        probability = self._all_held_out(n_jobs, progress).probability
        own = residuals(machine, probability, self.deviance, points_of(machine), S)
        look, what = partial(look_at_residuals, self._how, S), "goodness of fit"
        if envelope_of is None:
            drawn = self._relabelled(partial(look, None), B, seed, refit, n_jobs, progress, what)
        else:
            drawn = self._twice_relabelled(look, B, seed, refit, n_jobs, progress, what)
            maxima = [None if each is None else each.maxima for each in drawn]
            envelope_of.keep_envelope(together(maxima, seconds_of(B)))
        found_in = [None if each is None else each.residuals for each in drawn]
        T, V = statistics(machine, [own, *found_in]), noises([own, *found_in])
        slope = slope_in_noise(T, V)
        return GofResult(
            statistic=float(T[0]), replicates=T[1:] + slope * (V[0] - V[1:]), noise=float(V[0]),
            noise_replicates=V[1:], slope=slope, deviance=self.deviance,
            deviance_replicates=np.array([np.nan if each is None else each.deviance for each in found_in]),
            method=method, level=level, retuned=retune, n_levels=len(self.classes),
            n_groups=self.n_groups if self.grouped else None, of_weights=self._of_weights,
        )  # fmt: skip

    def permutation_test(
        self,
        B: int = 99,
        rng: int | np.random.Generator | None = None,
        retune: bool = False,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> PermutationResult:
        """Is there any association at all between the response and the predictors?

        The CV score against those of fits to the permuted response [Ojala & Garriga 2010]; a row of weight w is w rows.
        It says nothing about how good the fit is. With groups the response is permuted among whole groups where it does
        not vary within any, and within groups otherwise: then it says nothing of predictors that do not vary there.

        Parameters
        ----------
        B : int
            Number of permutations, at least 1.
        rng : int or Generator, optional
            On which alone they depend; with kernel="precomputed" on the order of the rows too.
        retune : bool
            For the best fit of `tune` without groups and probability weights: whether cost and kernel are chosen anew
            for every permutation, by the same search, without which a tuned score is compared with untuned ones.
        n_jobs, progress
            As in `loo`.

        Returns
        -------
        PermutationResult

        Raises
        ------
        ArgumentError
            For an argument outside what is allowed.
        DataError
            For fractional weights that are repeats, and for weights that add up to more than ten million.
        UnavailableError
            Where a row cannot be held out, and with retune=True for a fit that is of no search, or has groups or
            probability weights.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth", datasets.load("mackerel").iloc[::4])
        >>> fit.permutation_test(B=19, rng=1).pvalue
        0.05
        """
        at_least("B", B, 1)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        refit, seed = self._refit(flag("retune", retune)), seed_sequence("rng", rng)
        units = self.machine.units
        constant = units is not None and units.are_pure(self.frame.codes)
        if not constant and self.weight_type == "frequency":
            self._refuse_fractions("the labels of all copies of the rows are permuted")
        if self.nobs > _MOST_PERMUTED:
            raise DataError(
                f"the weights add up to {self.nobs:.3g}, and the labels of {_MOST_PERMUTED:.3g} copies of rows can be "
                "permuted. Divide the weights, which count as repeats of rows."
            )
        held_out = self._all_held_out(n_jobs, progress)
        look: Look[float] = partial(held_out_score, self._how)
        found = refits(
            self.machine, self._of_cases(look), chances=None, B=B, seed=seed, refit=refit, n_jobs=n_jobs,
            progress=progress, what="permutations",
        )  # fmt: skip
        replicates = np.array([np.nan if each is None else each for each in found])
        return PermutationResult(
            statistic=held_out.score, replicates=replicates, null_score=held_out.null_score, retuned=retune,
            permuted=("groups" if constant else "within groups") if self.grouped else "rows",
            arrangements=arrangements(self.machine), repeatable=self.machine.units is None,
            of_weights=self._of_weights, strength="cost" if self.nu is None else "nu",
            chosen=self.optimism is not None or self.retuned is not None,
        )  # fmt: skip

    def get_influence(
        self, n_jobs: int | None = None, progress: bool = False, by: str | None = None
    ) -> InfluenceResult:
        """What each row, or each group, does to the fit, and how badly it is predicted without it.

        The deletion deviances ΔD_k = D − D_(k) [003], of which most is the row's own misfit, this and the rest apart;
        the held-out probability of what was observed; and the change of f. All from the leave-one-out.

        Parameters
        ----------
        n_jobs, progress
            As in `loo`, if that has not been computed yet.
        by : {"group", "row"}, optional
            With groups, by default "group"; "row" leaves out single rows, as if these were independent.

        Returns
        -------
        InfluenceResult

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> formula = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
        >>> influence = svm(formula, datasets.load("mackerel"), C=16, gamma=0.25).get_influence()
        >>> influence.delta_deviance.nlargest(3).round(2).tolist()
        [8.5, 7.17, 6.87]
        """
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        if self.one_by_one(by) is not self:
            return replace(self.by_rows.get_influence(n_jobs, progress), despite_groups=True)
        changes = self.left_out(True, n_jobs, progress).changes
        loo = self.loo(n_jobs, progress)
        insample = self.insample_maps.log_likelihoods(self.machine.decision_values, self.frame.codes)
        measures = influences(
            self.frame.weights, self.deviance, changes.deviance_deleted, insample, loo.log_likelihoods,
            changes.rms_change.copy(), self.machine.units,
        )  # fmt: skip
        labels = self._group_labels
        if labels is not None:
            order = np.argsort(pd.factorize(labels, sort=True)[0], kind="stable")
            measures, labels = measures.taken(order), labels[order]
        return InfluenceResult(loo, measures, self._largest_influences, labels, self._no_copies)

    @property
    def _group_labels(self) -> pd.Index | None:
        """The labels of the units (G,), where they are groups."""
        units, groups = self.machine.units, self.groups
        if not are_groups(units) or groups is None:
            return None
        return pd.Index(groups.to_numpy()[[rows[0] for rows in units]], name=groups.name)

    def _largest_influences(self, B: int, seed: np.random.SeedSequence, n_jobs: int | None, progress: bool) -> Largest:
        """Maxima over rows of the measures of influence, in B refits to labels from the fit's probabilities."""
        self._refuse_fractions(_NO_ENVELOPE)
        look = partial(largest_influences, self._how)
        found = self._twice_relabelled(look, B, seed, None, n_jobs, progress, "envelope")
        return together(found, seconds_of(B))

    def _twice_relabelled(
        self, look: Callable[..., Result | None], B: int, seed: np.random.SeedSequence, refit: Refit | None,
        n_jobs: int | None, progress: bool, what: str,
    ) -> list[Result | None]:  # fmt: skip
        """The same with the maxima of the refits, given to the look first; the first of B have a refit of their own."""
        R = seconds_of(B)
        both: OfRefit = partial(of_both, self._how, refit)
        return [
            *self._relabelled(partial(look, both), R, seed, refit, n_jobs, progress, f"{what}, with refits of refits"),
            *self._relabelled(partial(look, of_refit), B - R, seed, refit, n_jobs, progress, what, R),
        ]

    def _relabelled(
        self, look: Look[Result], B: int, seed: np.random.SeedSequence, refit: Refit | None, n_jobs: int | None,
        progress: bool, what: str, first: int = 0,
    ) -> list[Result | None]:  # fmt: skip
        """What there is to see in B refits to labels from the fit's probabilities."""
        chances = self.maps.probabilities(self.machine.group_values)
        return refits(
            self.machine, self._of_cases(look), chances=chances, B=B, seed=seed, first=first, refit=refit,
            n_jobs=n_jobs, progress=progress, what=what,
        )  # fmt: skip

    def _check_envelope(self, influence: InfluenceResult, method: str, B: int) -> None:
        """Refuse an envelope that these replicates cannot give."""
        if not isinstance(influence, InfluenceResult) or influence.resample != self._largest_influences:
            raise refuse("envelope_of", influence, "what get_influence() of this very fit gave")
        if method != "residual":
            raise UnavailableError(f"envelope_of is for method='residual': method={method!r} leaves no row out.")
        influence.check_replicates(B)
        self._refuse_fractions(_NO_ENVELOPE)

    @property
    def _how(self) -> How:
        """How its probabilities are made and its rows held out, for replicates to be treated alike."""
        return How(self.maps.coupling, self.maps.kind, self.usual_folds)

    def _all_held_out(self, n_jobs: int | None, progress: bool) -> Evidence:
        """The held-out predictions, of every row."""
        folds = self._how.folds
        found = self.loo(n_jobs, progress) if folds is None else self.kfold(folds, n_jobs, progress)
        if found.n_failed:
            few = self._nu_is_too_large(found.failed)
            lost = "too few being left for nu" if few else "a class or the certificate being lost"
            helps = "A smaller nu leaves enough." if few else self._to_hold_out_all
            raise UnavailableError(
                f"{found.n_failed} of {np.count_nonzero(self.frame.weights)} rows cannot be held out, {lost} without "
                f"them, and the statistic is of all rows. {helps}"
            )
        return found

    def _nu_is_too_large(self, out: NDArray[np.bool_]) -> bool:
        """Whether without one of some rows (n,) its level has less weight than its ν takes."""
        if self.nu is None:
            return False
        pair, units = self.machine.pairs[0], self.machine.units
        for code, nu in zip((pair.first, pair.second), self.nu, strict=True):
            own = np.where(self.frame.codes == code, self.frame.weights, 0.0)
            gone = np.minimum(own, 1.0) if units is None else units.sums(own)[units.of_row]
            if (gone[out] > (1.0 - nu) * own.sum() * (1.0 + _ROUNDING)).any():
                return True
        return False

    @property
    def _to_hold_out_all(self) -> str:
        """What helps where some rows cannot be held out."""
        if self._fewest_units >= 2:
            smaller = "smaller C" if self.nu is None else "larger nu"
            return f"It is the certificate: a {smaller} or scaled predictors help."
        what = "group" if self.grouped else "row"
        if self.shape.two:
            return f"Each level needs two {what}s at least."
        return f"A level of one {what} may be left out by subset."

    @property
    def _fewest_units(self) -> float:
        """The copies of rows, or what is left out together, of the level that has the fewest."""
        return fewest_units(self.frame.codes, self.frame.weights, self.machine.units)[1]

    def _refit(self, retune: bool) -> Refit | None:
        """The search for cost and kernel if it is to be repeated."""
        if retune:
            self.require_copies("retune=True", "its search is not repeated; retune=False keeps C and kernel")
        if retune and self.retuned is None:
            raise UnavailableError(
                "retune=True repeats the search that found C and the kernel: this fit is not the best of a tune() over "
                "costs with all rows, one formula and folds that are drawn, or comes from a file, which does not hold "
                "the search. Use tune(...).best of such a search, or "
                "retune=False."
            )
        return self.retuned if retune else None

    def _of_cases(self, look: Look[Result]) -> Look[Result]:
        """The look at refits where folds hold out the copies of a row one by one: refits have equal ones as a row."""
        machine, how = self.machine, self._how
        by_folds = how.folds is not None or how.kind == "kfold"
        if not by_folds or machine.units is not None:
            return look
        return look if is_table(machine.groups, machine.group_codes, machine.weights) else partial(of_copies, look)

    @property
    def _of_weights(self) -> tuple[str, ...]:
        """As how many rows weights count, and that equal rows do not count as one."""
        copies = copies_of(self)
        told = (_COPIES.format(seen=copies.seen, total=self.nobs),) if copies.suspicious else ()
        return copies_note(self.frame.weights, self.machine.units) + told

    @property
    def _no_copies(self) -> str:
        """Why rows are not so many copies of themselves; empty where they are."""
        w = self.frame.weights
        broken = np.flatnonzero(w != np.round(w))
        if not len(broken):
            return ""
        if self.weight_type == "probability":
            return "probability weights say how much a row stands for, and not how often it is there."
        return (
            f"the weights must be whole numbers, and row {label_at(self.frame.index, broken[0])!r} has "
            f"{w[broken[0]]:g}. Weights that are no repeats of rows: svm(..., weight_type='probability')."
        )

    def _refuse_fractions(self, why: str) -> None:
        if self._no_copies:
            raise DataError(f"{why}: {self._no_copies}")
