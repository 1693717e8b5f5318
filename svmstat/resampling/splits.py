"""Which rows are held out together: stratified folds, a splitter of scikit-learn, or blocks of time and space."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.checks import at_least, refuse
from svmstat._tools.repeats import beside_largest, squares
from svmstat.errors import ArgumentError, DataError
from svmstat.machine import Machine, Posed
from svmstat.objective.units import Units, are_groups
from svmstat.resampling.folds import (
    assign_folds,
    dealt,
    fold_units,
    folds_of_units,
    held_out_as,
    is_table,
    rows_of_weight,
)
from svmstat.solver import Gram

_SEED = 0
"""The folds of a fit are the same whenever they are asked for."""

LEAST = 2


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """k fits, and the rows that each holds out.

    Attributes
    ----------
    fold : (n,) the fit that predicts each row, or most of it; −1 where none does, or the row has weight zero
    out : (k, n) the rows that each fit does not see: those that it predicts, and of some splitters others too
    how : what they are called
    given : whether they are the user's
    part : (k, n) how much of the weight of each row a fit does not see, where that may be a part; None where it is all
    """

    fold: Codes
    out: NDArray[np.bool_]
    how: str
    given: bool = False
    part: Floats | None = None

    @property
    def count(self) -> int:
        """k."""
        return len(self.out)

    @property
    def lots(self) -> list[Codes]:
        """The rows that each fit does not see."""
        return [np.flatnonzero(out) for out in self.out]

    def never(self, weights: Floats) -> NDArray[np.bool_]:
        """(n,) rows of positive weight that no fit predicts."""
        return np.asarray((self.fold < 0) & (weights > 0))

    def told(self, weights: Floats) -> str:
        """What they are called, and how many rows of positive weight no fit predicts."""
        never = int(np.count_nonzero(self.never(weights)))
        return f"{self.how}, {never} rows never" if never else self.how

    def seen(self, codes: Codes, weights: Floats, n_classes: int) -> Floats:
        """(n, K) the weights of the classes (n,) among the rows that the fit of each row has seen; of none, of all."""
        of_class = (codes[:, None] == np.arange(n_classes)).astype(float)
        found = np.tile(weights @ of_class, (len(codes), 1))
        found[self.fold >= 0] = 0.0
        for (rows, share), away in zip(self.shares, self.away(weights), strict=True):
            found[rows] += share[:, None] * ((weights - away) @ of_class)
        return found

    @property
    def shares(self) -> Iterator[tuple[Codes, Floats]]:
        """The rows of which each fit predicts something, and which share of each: all, unless rows are divided."""
        if self.part is None:
            every = (np.flatnonzero(self.fold == which) for which in range(self.count))
            yield from ((rows, np.ones(len(rows))) for rows in every)
            return
        total = self.part.sum(axis=0)
        for part in self.part:
            rows = np.flatnonzero(part)
            yield rows, part[rows] / total[rows]

    def away(self, weights: Floats) -> Iterator[Floats]:
        """(n,) how much of the weight of each row a fit does not see, fit by fit."""
        yield from (np.where(out, weights, 0.0) for out in self.out) if self.part is None else self.part

    def left_out(self, machine: Posed) -> Iterator[Floats]:
        """(G,) of the weight of each group of equal rows what a fit does not see, fit by fit."""
        used = np.flatnonzero(machine.groups.of_row >= 0)
        for away in self.away(machine.weights):
            of_groups = np.bincount(machine.groups.of_row[used], away[used], len(machine.group_codes))
            yield of_groups.astype(float)


def stratified(machine: Posed, k: int) -> Splits:
    """k stratified folds, whole groups or what `fold_units` keeps together in one.

    Always the same ones, whatever the order of the rows and of the columns, the sign of each and the names of the
    levels. Rows that count cases are divided (`held_out_as`).
    """
    rng, units, weights = np.random.default_rng(_SEED), machine.units, machine.weights
    if are_groups(units):
        of_row = machine.groups.of_row
        units = units.in_order_of(np.where(of_row >= 0, _ranks(machine)[of_row], -1), weights)
        fold = folds_of_units(units, machine.codes, weights, machine.n_classes, k, rng)
        return Splits(fold, fold == np.arange(k)[:, None], f"{k} folds of groups")
    times = _times(machine)
    if times.max(initial=1) > 1:
        return _divided(machine, times, k, rng)
    unit, group = fold_units(machine.groups, machine.group_codes, weights, units is None)
    of_unit, used = np.full(len(group), -1), np.flatnonzero(machine.groups.weights[group] > 0)
    used = used[_order(machine, group[used])]
    k = min(k, len(used))
    of_unit[used] = assign_folds(_from_largest(machine.group_codes[group[used]]).astype(float), k, rng)
    fold = np.where(unit >= 0, of_unit[unit], -1)
    return Splits(fold, fold == np.arange(k)[:, None], f"{k} folds")


def _divided(machine: Posed, times: Codes, k: int, rng: np.random.Generator) -> Splits:
    """The same where each row is so many cases (n,), which are held out one by one."""
    weights, rows = machine.weights, rows_of_weight(machine.groups, machine.weights)
    rows = rows[np.lexsort((weights[rows], _ranks(machine)[machine.groups.of_row[rows]]))]
    k = min(k, int(times[rows].sum()))
    part = np.zeros((k, len(weights)))
    codes = _from_largest(machine.codes[rows], times[rows])
    part[:, rows] = (dealt(codes, times[rows], k, rng) * (weights / times)[rows, None]).T
    return Splits(np.where(part.any(axis=0), part.argmax(axis=0), -1), part > 0.0, f"{k} folds", part=part)


def _from_largest(codes: Codes, times: Codes | None = None) -> Codes:
    """Classes (n,) that are dealt from that of most rows on, each so many ``times``, as the first come if it is a tie.

    Examples
    --------
    >>> _from_largest(np.array([2, 0, 0, 2, 1, 1, 1]))
    array([1, 0, 0, 1, 2, 2, 2])
    """
    known, first, of_row = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(known), np.intp)
    rank[np.lexsort((-first, np.bincount(of_row.ravel(), times)))] = np.arange(len(known))
    return rank[of_row.ravel()]


def cases_of(machine: Posed) -> int:
    """How many rows of positive weight there are to be held out, or cases that they count."""
    return int(_times(machine)[machine.weights > 0.0].sum())


def most_folds(machine: Posed) -> int:
    """Into how many folds rows can be divided at most, each with one of every class, or whole groups."""
    if are_groups(machine.units):
        return machine.units.count
    times, used = _times(machine), machine.weights > 0.0
    if times.max(initial=1) > 1:
        return int(np.bincount(machine.codes[used], times[used]).min())
    _, group = fold_units(machine.groups, machine.group_codes, machine.weights, machine.units is None)
    return int(np.bincount(machine.group_codes[group]).min())


def _times(machine: Posed) -> Codes:
    return held_out_as(machine.groups, machine.group_codes, machine.weights, machine.units is None)


def _ranks(machine: Posed) -> Codes:
    """(G,) where the groups of equal rows that have weight stand in that order."""
    there = np.flatnonzero(machine.groups.weights > 0.0)
    ranks = np.zeros(len(machine.group_codes), np.intp)
    ranks[there[_order(machine, there, machine.groups.weights[there])]] = np.arange(len(there))
    return ranks


def _order(machine: Posed, groups: Codes, weights: Floats | None = None) -> Codes:
    """The order of groups (m,) of equal rows, of one weight if none is given, by what no order, sign or level changes.

    That is the distance from the mean of their class, and then from that of all; then from these means by weight, as in
    a table of all combinations of values the others are in the middle; and the weight. The rest as their values are.
    """
    codes = machine.group_codes[groups]
    if machine.kernel.of_rows:
        from_means = partial(_from_means, machine.X[machine.groups.first[groups]], codes)
    else:
        from_means = partial(_from_means_in_kernel, machine.gram, groups, codes)
    keys = from_means(np.ones(len(groups)))
    return np.lexsort(keys if weights is None else (weights, *from_means(weights), *keys))


def _from_means_in_kernel(gram: Gram, groups: Codes, codes: Codes, weights: Floats) -> tuple[Floats, Floats]:
    """The same by the kernel values of groups (m,), for a kernel that knows no columns: ‖φ − Σ v φ‖² with Σv = 1."""

    def apart(some: NDArray[np.bool_]) -> Floats:
        v, products = weights[some] / weights[some].sum(), np.zeros(gram.n)
        gram.add(groups[some], v, products)
        return np.asarray(gram.diagonal - 2.0 * products + v @ products[groups[some]])[groups]

    own = np.empty(len(groups))
    for k in np.unique(codes):
        own[codes == k] = apart(codes == k)[codes == k]
    return beside_largest(apart(np.ones(len(groups), bool))), beside_largest(own)


def _from_means(X: Floats, codes: Codes, weights: Floats) -> tuple[Floats, Floats]:
    """How far each of the rows X (m, p) is from the mean of all, and from that of its class: (m,) squares."""
    own = np.empty_like(X)
    for k in np.unique(codes):
        own[codes == k] = np.average(X[codes == k], axis=0, weights=weights[codes == k])
    return squares(X - np.average(X, axis=0, weights=weights)), squares(X - own)


def refuse_tables(machine: Machine, given: str) -> None:
    """Refuse to draw folds, as is ``given``, of a table of counts, a row of which is all of a level at its point.

    Raises
    ------
    DataError
    """
    if machine.units is None and is_table(machine.groups, machine.group_codes, machine.weights):
        raise DataError(
            f"{given} holds out rows whole, and of these data many stand for several with the same predictors as "
            "others of another level: fits would have seen only the other level there. Give the rows one by one, as "
            "data.loc[data.index.repeat(weights)], or do with leave-one-out."
        )


def check_folds(
    folds: Any, n_groups: int | None, name: str = "folds", n_rows: int | None = None, of: str = "rows"
) -> int:
    """The number of folds, no more than there are groups, or rows, or cases ``of`` a table of counts.

    Raises
    ------
    ArgumentError, ArgumentTypeError
    """
    k = at_least(name, folds, LEAST)
    if n_groups is not None and k > n_groups:
        raise refuse(name, folds, f"at most the number of groups, {n_groups}: folds keep them together")
    if n_rows is not None and k > n_rows:
        raise refuse(name, folds, f"at most the number of {of}, {n_rows}, those of weight zero apart")
    return k


def given_splits(
    folds: Any, labels: Codes | None, X: Floats, codes: Codes, used: NDArray[np.bool_], units: Units | None,
    groups: NDArray[Any] | None = None,
) -> Splits:  # fmt: skip
    """The splits of n rows that the user gives.

    Parameters
    ----------
    folds : a splitter of scikit-learn, if there are no labels
    labels : (n,) codes of fold labels
    X, codes : (n, p) and (n,) what the splitter is given, with the groups of the rows; those ``used`` (n,) alone
    units : what belongs together
    groups : (n,) the labels of the groups, which may be times

    Raises
    ------
    ArgumentError
        If a row is held out more than once, a fit sees a part of a group that it predicts, or is left without rows.
    """
    rows, n = np.flatnonzero(used), len(used)
    if labels is not None:
        known = np.unique(labels[rows])
        if len(known) < LEAST:
            raise ArgumentError(f"folds has {len(known)} different label: at least {LEAST} are needed.")
        fold = np.where(used, np.searchsorted(known, labels), -1)
        found = Splits(fold, fold == np.arange(len(known))[:, None], f"{len(known)} folds that were given", True)
    else:
        found = _by_splitter(folds, X[rows], codes[rows], None if groups is None else groups[rows], rows, n)
    if are_groups(units):
        _keep_together(found, units)
    return found


def _by_splitter(
    folds: Any, X: Floats, codes: Codes, groups: NDArray[Any] | None, rows: Codes, n: int
) -> Splits:  # fmt: skip
    """What a splitter makes of the rows (m,) among n."""
    name = type(folds).__name__
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # some say that they ignore groups: what they do is looked at
            pairs: Iterable[Any] = list(folds.split(X, codes, groups))
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"folds={name} cannot split the {len(rows)} rows: {error}") from error
    _refuse_positions(folds, name, pairs, len(rows))
    fold, out = np.full(n, -1), []
    for which, (train, test) in enumerate(pairs):
        if (fold[rows[test]] >= 0).any():
            raise ArgumentError(
                f"folds={name} holds some rows out more than once: each must be predicted once. Take a splitter "
                "without repeats, such as KFold, GroupKFold, LeaveOneGroupOut or TimeSeriesSplit."
            )
        fold[rows[test]] = which
        seen = np.zeros(n, bool)
        seen[rows[train]] = True
        if seen[rows[test]].any():
            raise ArgumentError(f"folds={name} fits rows that it also holds out, in fold {which + 1}.")
        hidden = np.zeros(n, bool)
        hidden[rows] = ~seen[rows]
        out.append(hidden)
    if len(out) < LEAST:
        raise ArgumentError(f"folds={name} gives {len(out)} fold: at least {LEAST} are needed.")
    return Splits(fold, np.array(out), f"{len(out)} folds of {name}", True)


def _refuse_positions(folds: Any, name: str, pairs: Iterable[Any], m: int) -> None:
    """Refuse a splitter that goes by positions in data of other rows than the m of the fit, such as PredefinedSplit."""
    last = max((int(np.max(each)) for pair in pairs for each in pair if len(each)), default=-1)
    n_rows = len(getattr(folds, "test_fold", range(max(m, last + 1))))
    if n_rows != m:
        raise ArgumentError(
            f"folds={name} is for {n_rows} rows, and the fit has {m}: rows with "
            "missing values, of weight zero or outside subset are not split. Give the fold label of each row of the "
            "data instead, as a column name or an array."
        )


def _keep_together(splits: Splits, units: Units) -> None:
    """Refuse a fit that sees a part of a group of which it predicts another."""
    for which, out in enumerate(splits.out):
        seen = np.unique(units.of_row[(units.of_row >= 0) & ~out])
        if np.isin(units.of_row[splits.fold == which], seen).any():
            raise ArgumentError(
                f"folds puts rows of one group on both sides of fold {which + 1}: with groups= rows of a group must be "
                "held out together. Give folds that keep them together (GroupKFold), or refit without groups."
            )


def is_number(folds: Any) -> bool:
    """Whether folds are given by how many there are, and have to be drawn."""
    return isinstance(folds, int | float | np.number)


def is_splitter(folds: Any) -> bool:
    """Whether it splits rows as those of scikit-learn do."""
    return callable(getattr(folds, "split", None)) and not isinstance(folds, str | type)
