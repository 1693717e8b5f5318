"""What a search works on: the rows, which of them are held out together, and how much of the machine it may use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import Maps
from svmstat.errors import DataError
from svmstat.kernels import Additive, Kernel
from svmstat.kernels.columns import alone, first_column
from svmstat.machine import Contrast, Groups, Machine, Posed, fit_machine, group_rows, nu_contrast, pose
from svmstat.objective.nu import Nu
from svmstat.objective.units import Units, are_groups, units_of
from svmstat.resampling.folds import assign_folds, dealt, fold_units, folds_of_units, held_out_as
from svmstat.resampling.leave_one_out import LeaveOneOut
from svmstat.resampling.splits import Splits, check_folds
from svmstat.resampling.unseen import Fitted, held_out_maps
from svmstat.tuning.stored import StoredTerms

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Folds:
    """Rows that are held out together; those that are the same observation share a fold.

    Attributes
    ----------
    groups : the rows that are the same observation
    of_group : (G,) the fold 0 … k − 1 of each of these, −1 where none predicts it
    out : (k, G) which of these the fit of each fold does not see; None if it is its fold and no other
    """

    groups: Groups
    of_group: Codes
    out: NDArray[np.bool_] | None = None

    @property
    def count(self) -> int:
        """k."""
        return int(self.of_group.max()) + 1 if self.out is None else len(self.out)

    def away(self, which: int) -> NDArray[np.bool_]:
        """(G,) what the fit of a fold does not see."""
        return np.asarray(self.of_group == which) if self.out is None else self.out[which]

    def places(self) -> list[tuple[Codes, Codes]]:
        """What each fit predicts, and where that is among what it does not see."""
        found = [np.flatnonzero(self.of_group == which) for which in range(self.count)]
        return [(own, np.searchsorted(np.flatnonzero(self.away(which)), own)) for which, own in enumerate(found)]

    @property
    def partition(self) -> bool:
        """Whether each fit sees all that it does not predict, and all is predicted."""
        return self.out is None

    @property
    def of_row(self) -> Codes:
        """(n,) the fold of each row, −1 for rows of weight zero."""
        return self.groups.to_rows(self.of_group)


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows that are fitted at every point of a search.

    Attributes
    ----------
    X : (n, p) rows of the design; for a precomputed kernel its gram matrix (n, n)
    codes : (n,) classes 0 … K − 1
    weights : (n,) case weights ≥ 0
    contrasts : the pairs of classes, each with its loss
    class_weight : (K,) L of each class
    levels : (K,) what the classes are called
    coupling : how the probabilities of pairs are coupled
    calibration : which decision values the maps are fitted to: "loo", "kfold", "insample" or "venn-abers"
    folds : what is held out together; None where nothing is held out by folds
    truth : (n,) P(event | x) where it is known
    stored : the gram matrices of the terms of an additive kernel on these rows, of which those of all θ are sums
    units : what is left out together; None for one copy of a row
    given : the folds that the user gives
    of_rows : whether X has rows of a design, and not of a gram matrix
    part_of : (n,) of which row of the sample that was divided each is a part; None where none was
    blocks : where the columns of each of several formulas begin and end in X
    """

    X: Floats
    codes: Codes
    weights: Floats
    contrasts: tuple[Contrast, ...]
    class_weight: Floats
    levels: tuple[Any, ...]
    coupling: str
    calibration: str
    folds: Folds | None = None
    truth: Floats | None = None
    stored: StoredTerms | None = None
    units: Units | None = None
    given: Splits | None = None
    of_rows: bool = True
    part_of: Codes | None = None
    blocks: tuple[tuple[int, int], ...] = ()

    def fit(self, kernel: Kernel, C: float, near: Machine | None = None) -> Machine:
        """The machine on all rows, of several formulas on the columns of its own; ``near`` as in `fit_machine`.

        Rows that differ in columns of other formulas alone are the same observation.
        """
        if self.blocks:
            start, stop = next(block for block in self.blocks if first_column(kernel) < block[1])
            own = replace(self, X=np.ascontiguousarray(self.X[:, start:stop]), stored=None, blocks=())
            return own.fit(alone(kernel, start), C, near)
        known = self.stored.known(kernel) if near is None and self.stored is not None else None
        machine = fit_machine(kernel, self.X, self.codes, self.weights, self.contrasts, C=C, near=near, known=known)
        return machine if self.units is None else replace(machine, units=self.units)

    def fit_nu(self, kernel: Kernel, nu: Nu) -> Machine:
        """The machine of two classes with these ν."""
        contrasts = [nu_contrast(pair.first, pair.second, nu) for pair in self.contrasts]
        machine = fit_machine(kernel, self.X, self.codes, self.weights, contrasts, C=1.0)
        return machine if self.units is None else replace(machine, units=self.units)

    def held_out_maps(self, machine: Machine, insample: Maps, left: Callable[[], LeaveOneOut]) -> Fitted:
        """The maps that a fit to these rows reports."""
        return held_out_maps(machine, insample, self.calibration, left)

    def in_folds(self, k: int, rng: np.random.Generator, name: str = "folds") -> "Sample":
        """The same rows in k stratified folds, groups or what `fold_units` keeps together in one; or as given.

        Rows that count cases (`held_out_as`) are divided: its rows are their parts then.

        Raises
        ------
        DataError
            Naming the argument ``name``, if not every fold finds a row of each class.
        """
        if self.given is not None:
            return replace(self, folds=self.told_apart(self.given.fold, self.given.out))
        if are_groups(self.units):
            check_folds(k, self.units.count, name)
            fold = folds_of_units(self.units, self.codes, self.weights, len(self.levels), k, rng)
            return replace(self, folds=self.told_apart(fold))
        groups = group_rows(self.X, self.codes.astype(float), self.weights)
        group_codes = self.codes[groups.first]
        times = held_out_as(groups, group_codes, self.weights, self.units is None)
        if times.max(initial=1) > 1:
            used = groups.of_row >= 0
            self._refuse_few(np.bincount(self.codes[used], times[used], len(self.levels)), k, name)
            return self._divided(groups, times, k, rng)
        unit, group = fold_units(groups, group_codes, self.weights, self.units is None)
        codes = group_codes[group]
        self._refuse_few(np.bincount(codes, minlength=len(self.levels)), k, name)
        of_unit = assign_folds(codes.astype(float), k, rng)
        if self.units is None and np.array_equal(unit, groups.of_row):
            return replace(self, folds=Folds(groups, of_unit))
        return replace(self, folds=self.told_apart(np.where(unit >= 0, of_unit[unit], -1)))

    def _refuse_few(self, counts: NDArray[Any], k: int, name: str) -> None:
        """Refuse k folds where a level has fewer of these counts (K,)."""
        for level, n in zip(self.levels, counts, strict=True):
            if n < k:
                raise DataError(f"{name}={k} needs {k} different rows of each level: the level {level!r} has {n:.0f}.")

    def _divided(self, groups: Groups, times: Codes, k: int, rng: np.random.Generator) -> "Sample":
        """The parts of rows that are so many cases (n,), which k folds hold out one by one; all parts of a row add up.

        A row of weight zero is one part.
        """
        n, used = len(times), np.flatnonzero(groups.of_row >= 0)
        used = used[np.lexsort((self.weights[used], groups.of_row[used]))]
        counts = np.zeros((n, k + 1), np.intp)
        counts[used, :k] = dealt(self.codes[used], times[used], k, rng)
        counts[groups.of_row < 0, k] = 1
        row, fold = np.nonzero(counts)
        X = self.X[row] if self.of_rows else self.X[np.ix_(row, row)]
        truth = None if self.truth is None else self.truth[row]
        weights = (self.weights / times)[row] * counts[row, fold]
        parts = replace(self, X=X, codes=self.codes[row], weights=weights, truth=truth, part_of=row)
        return replace(parts, folds=parts.told_apart(np.where(fold < k, fold, -1)))

    @property
    def fold_of_rows(self) -> Codes:
        """The fold of each row, of one that is divided where most of it is; −1 for rows of weight zero."""
        fold = self.folded.of_row
        if self.part_of is None:
            return fold
        most = np.lexsort((-self.weights, self.part_of))
        return np.asarray(fold[most[np.searchsorted(self.part_of[most], np.arange(self.part_of.max() + 1))]])

    def told_apart(self, fold: Codes, out: NDArray[np.bool_] | None = None) -> Folds:
        """Folds (n,) of rows of which equal ones may be in several, or in several units: these are told apart.

        So are those that fits do not see alike, where (k, n) is ``out`` of the fit of each fold.
        """
        apart = fold + 1 if self.units is None else self.units.of_row + 1
        if out is not None:
            apart = np.unique(np.vstack([apart, fold, out]), axis=1, return_inverse=True)[1].ravel()
        groups = group_rows(self.X, self.codes * (apart.max() + 1.0) + apart, self.weights)
        of_group = fold[groups.first]
        if out is not None:
            of_groups = out[:, groups.first]
            alone = of_groups == (of_group == np.arange(len(out))[:, None])
            out = None if alone.all() and (of_group >= 0).all() else of_groups
        return Folds(groups, of_group, out)

    def without(self, out: NDArray[np.bool_]) -> "Sample":
        """The rows (n,) that are ``out`` have weight zero: they take no part, and are predicted."""
        weights = np.where(out, 0.0, self.weights)
        units = None if self.units is None else self.units.kept(weights)
        return replace(self, weights=weights, folds=None, stored=None, units=units, part_of=None)

    @property
    def folded(self) -> Folds:
        """The folds of a search that has some."""
        assert self.folds is not None
        return self.folds

    def pose(self, kernel: Kernel) -> Posed:
        """Its problems for C = 1, on the groups that the folds are made of."""
        groups = self.folded.groups
        known = None if self.stored is None else self.stored.known(kernel)
        return pose(kernel, self.X, self.codes, self.weights, self.contrasts, C=1.0, groups=groups, known=known)

    def storing(self, kernel: Additive) -> "Sample":
        """The same rows with the gram matrices of the terms of a kernel at hand."""
        groups = self.folds.groups if self.folds is not None else self._groups()
        return replace(self, stored=StoredTerms(kernel, self.X, groups))

    def with_units(self, labels: Codes | None, repeats: bool) -> "Sample":
        """The same rows with what is left out together, as in `units_of`."""
        if labels is None and repeats:
            return self
        return replace(self, units=units_of(labels, self.weights, repeats, self._groups().of_row))

    def _groups(self) -> Groups:
        labels = self.contrasts[0].signs(self.codes) if len(self.contrasts) == 1 else self.codes
        return group_rows(self.X, labels, self.weights)

    @property
    def group_codes(self) -> Codes:
        """(G,) the classes of these groups."""
        return self.codes[self.folded.groups.first]

    @property
    def labelled_groups(self) -> "LabelledGroups":
        """The classes and weights of these groups, with the pairs of classes."""
        units = self.group_units
        if self.given is not None:  # the map of a fold that was given has seen none of it
            units = Units(self.folded.of_group, self.folded.count, True)
        return LabelledGroups(self.group_codes, self.folded.groups.weights, self.contrasts, units)

    @property
    def group_units(self) -> Units | None:
        """Which of these groups of equal rows are left out together."""
        return None if self.units is None else self.units.among(self.folded.groups.first)

    @property
    def group_signs(self) -> Floats:
        """(G,) +1 for groups of the event and −1 for the others, of two classes."""
        return self.contrasts[0].signs(self.group_codes)

    def distinct(self, of_rows: bool) -> "Distinct":
        """The groups of two classes as rows; ``of_rows`` tells rows of a design from a gram matrix."""
        groups = self.folded.groups
        X = self.X[groups.first] if of_rows else np.ascontiguousarray(self.X[np.ix_(groups.first, groups.first)])
        return Distinct(X, self.group_signs, groups.weights, self.folded.of_group)


@dataclass(frozen=True, slots=True)
class LabelledGroups:
    """What maps from decision values to probabilities are fitted to, besides these values.

    Attributes
    ----------
    codes : (G,) classes 0 … K − 1
    weights : (G,) sums of the case weights
    pairs : the P pairs of classes
    units : which of the groups are left out together
    """

    codes: Codes
    weights: Floats
    pairs: tuple[Contrast, ...]
    units: Units | None = None

    @property
    def classes(self) -> Codes:
        """(P, 2) the classes of the pairs."""
        return np.array([(pair.first, pair.second) for pair in self.pairs])

    @property
    def totals(self) -> Floats:
        """(K,) sums of the weights of the classes."""
        return np.bincount(self.codes, self.weights).astype(float)


@dataclass(frozen=True, slots=True)
class Distinct:
    """The distinct rows of two classes.

    Attributes
    ----------
    X : (n, p) rows of the design; for a precomputed kernel its gram matrix (n, n)
    y : (n,) labels, −1 or +1
    weights : (n,) sums of the case weights
    fold : (n,) the fold of each row
    """

    X: Floats
    y: Floats
    weights: Floats
    fold: Codes


@dataclass(frozen=True, slots=True)
class Effort:
    """Workers, as in `joblib.Parallel`, and whether there is a progress bar."""

    n_jobs: int | None = None
    progress: bool = False


def middle(values: Sequence[Value]) -> Value:
    """The value in the middle of a grid, whose point is taken for all of them where time is estimated."""
    return values[len(values) // 2]
