"""How sure a fit is of what it says: the stability of probabilities, sets of labels."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from svmstat._tools.checks import at_least, between, flag, workers
from svmstat._tools.frames import in_kind, of_any_kind
from svmstat._tools.randomness import seed_sequence
from svmstat.calibration.conformal import pvalues, pvalues_of_left_out, shared_within, strangeness
from svmstat.diagnostics import LabelSets, PredictionResult
from svmstat.diagnostics.copies import copies_note
from svmstat.diagnostics.label_sets import OF_UNEVEN
from svmstat.diagnostics.worth import uneven_note
from svmstat.machine import tied_to
from svmstat.objective.units import are_groups
from svmstat.resampling.replicates import check_copies, pairs_replicates
from svmstat.resampling.splits import stratified
from svmstat.resampling.unseen import Unseen, unseen, unseen_by_folds
from svmstat.results.bootstrap import Bootstrap, checked_level, count_of, made_of
from svmstat.results.resampled import Resampled


@dataclass(frozen=True, repr=False, eq=False)
class Uncertain(Resampled):
    """How much of what a fit says may be chance."""

    def bootstrap(
        self,
        B: int = 199,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> Bootstrap:
        """Fit rows that are drawn with replacement, B times; all that needs such refits can draw from the result.

        round(Σw) copies of the rows are drawn with probabilities w/Σw; with groups, or probability weights, as many
        groups or rows as there are, with equal chances and all that belongs to them. Scaling, kernel width and factor
        coding are those of this fit.

        Parameters
        ----------
        B : int
            Number of replicates, at least 1.
        rng : int or Generator, optional
            On which alone the replicates depend, with kernel="precomputed" also on the order of the rows; the draws of
            one seed are the same for every B.
        n_jobs, progress
            As in `loo`.

        Returns
        -------
        Bootstrap

        Raises
        ------
        ArgumentError
            For an argument outside what is allowed.
        DataError
            For weights that add up to more than 9e15.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> mackerel = datasets.load("mackerel")
        >>> replicates = svm("egg_count > 0 ~ lon + lat", mackerel).bootstrap(B=19, rng=1)
        >>> replicates.decision_function(mackerel.head(3)).shape, replicates.n_failed
        ((19, 3, 1), 0)
        """
        at_least("B", B, 1)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        seed = seed_sequence("rng", rng)
        check_copies(self.frame.weights)
        return Bootstrap(
            self, pairs_replicates(self.machine, self.insample_maps, B=B, seed=seed, n_jobs=n_jobs, progress=progress)
        )

    def get_prediction(
        self,
        newdata: pd.DataFrame | None = None,
        level: float = 0.95,
        B: int | Bootstrap = 199,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> PredictionResult:
        """Probabilities with the stability of the estimate: standard error and percentiles over pairs replicates.

        Each replicate has Platt's map of the rows that it left out. The interval says where the estimate would lie with
        other samples of this size. It is no confidence interval for the true probability, which a penalised fit misses
        in its mean: it covers that in fewer rows than ``level`` says, and the mean of the estimate in about as many. A
        replicate has fewer different rows, and its map a third of them: its probabilities are less extreme than those
        of the fit, which may lie outside the interval where they are near 0 or 1.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.
        level : float
            Between 0 and 1: the share of the replicates between ``lower`` and ``upper``.
        B : int or Bootstrap
            Number of replicates, at least 2/(1 − level) − 1, which is 39 for 0.95; or those that `bootstrap` has made.
        rng, n_jobs, progress
            As in `bootstrap`, whose result has a `get_prediction` too.

        Returns
        -------
        PredictionResult
            Its ``summary_frame()`` has the columns prob, se, lower, upper.

        Raises
        ------
        ArgumentError
            For an argument outside what is allowed.
        DataError
            As `decision_function`, and for weights that add up to more than 9e15.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> mackerel = datasets.load("mackerel")
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth", mackerel)
        >>> fit.get_prediction(mackerel.head(2), rng=1).summary_frame().round(2)
           prob    se  lower  upper
        0  ...
        """
        level = checked_level(level, count_of(self, B))
        self.rows_at(newdata)  # what cannot be predicted is refused before anything is solved
        return made_of(self, B, rng, n_jobs, progress).get_prediction(newdata, level, n_jobs, progress)

    @of_any_kind
    def label_sets(self, newdata: pd.DataFrame | None = None, level: float = 0.9) -> LabelSets:
        """Conformal sets of labels, with their p-values and what they are worth on the rows of the fit.

        A label is in the set of a row unless fewer than a share 1 − level of the rows of that label, each by the fit
        without it, are as strange as the row; strange is −f for the event and f for the other level, and of more than
        two levels −log P(label), by the maps of in-sample decision values. Rows are held out as in `loo`, those of more
        than 5000 by ten folds unless `loo` was called; a weight w is w rows. The rows of the fit have the sets that new
        rows with their held-out scores would have if they were not there themselves. With groups these
        are held out, and count: all rows of a label in a group are one together, and the share is of such groups.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit.
        level : float
            Between 0 and 1: the share of the rows of each level that is to have it in their set.

        Returns
        -------
        LabelSets

        Raises
        ------
        ArgumentError
            For a level outside what is allowed.
        DataError
            As `decision_function`.

        Notes
        -----
        For new rows that are exchangeable with those of the fit, the share of the rows of a level whose set holds it is
        ``level`` or more in the mean over samples [Vovk, Gammerman & Shafer 2005], but for the one row by which the
        fits without a row differ from the fit, which is little if that hardly moves f [Barber, Candès, Ramdas &
        Tibshirani 2021]. After one sample with n rows of the level it is less or more by some √(q(1 − q)/n), q being
        ``level``. It is a share of the rows of a level, not a chance at each x. Scores that tie count as strange as
        the row: where the fit cannot rank rows, its sets hold more labels.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("disease ~ np.log(ast) + np.log(alt) + np.log(gldh)", datasets.load("liver"), C=4)
        >>> fit.label_sets().mean_size.round(1).to_dict()
        {'ACH': 1.6, 'AVH': 1.2, 'PCH': 1.3, 'PNC': 2.0}
        """
        between("level", level, 0.0, 1.0)
        index, f = self.decision_at(newdata)
        held, maps = self._held_out_by_insample_maps(), self.insample_maps
        pairs, frame = self.machine.classes, self.frame
        left_out = strangeness(held.decision_values, held.probability, pairs)
        units, weights = self.machine.units, frame.weights
        if are_groups(units):
            weights = shared_within(weights, frame.codes, units)
        own = pvalues_of_left_out(left_out, frame.codes, weights, units)
        found = own
        if newdata is not None:
            f = tied_to(f, held.decision_values, self.machine.resolution)
            found = pvalues(strangeness(f, maps.probabilities(f), pairs), left_out, frame.codes, weights)
        how = self._how_one_by_one if held.folds is None else held.folds
        return LabelSets(
            index, self.shape, float(level), found, own, frame.codes.copy(), weights.copy(), how, self.grouped,
            copies_note(frame.weights, units) + uneven_note(frame.weights, units, OF_UNEVEN),
        )  # fmt: skip

    def _held_out_by_insample_maps(self) -> Unseen:
        """What fits without a row, each with the map of its own rows, say of it: of `loo`, of many rows ten folds.

        A map of leave-one-out values will not do: each value leans away from its row's class, and of a fit with hardly
        any signal the map makes up for that, so that the rows of the fit look likely by it and new rows do not.
        """
        if self.left_out_folds is None:
            return unseen(self.machine, self.left_out(self.shape.two), self.insample_maps, None)
        return unseen_by_folds(self.machine, self.insample_maps, None, stratified(self.machine, self.default_folds))

    @in_kind
    def predict_set(self, newdata: pd.DataFrame | None = None, level: float = 0.9) -> pd.DataFrame:
        """The labels that a row may well have: sets that hold the right one at ``level``, level by level.

        No label in a set: the row is unlike the rows of every level. Two or more: the fit cannot tell them apart at
        this level. A level with fewer than 1/(1 − level) − 1 rows is in every set. `label_sets` has the p-values, and
        prints coverage and size of the sets, and how rows were held out: of more than 5000 by ten folds, unless `loo`
        has been called.

        Parameters
        ----------
        newdata, level
            As in `label_sets`.

        Returns
        -------
        DataFrame (m, K) of bool
            A column for each level, on the index of ``newdata``. Where a predictor is missing, or a row of the fit
            could not be left out, the row is missing, and the type ``boolean``.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> mackerel = datasets.load("mackerel")
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", mackerel, C=16, gamma=0.25)
        >>> fit.predict_set(mackerel.iloc[[0, 6]])
           False  True
        0   True  False
        6   True   True
        """
        return self.label_sets(newdata, level).frame
