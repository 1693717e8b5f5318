"""Stratified k-fold: each fold left out of every pair as a bound u = 0 on the one kernel matrix, along a path of costs.

Scaling, kernel width and factor coding are those of the fit to all rows. Rows that are copies of each other are in one
fold, otherwise a fit would be tested on rows that it has seen; unless there are groups, which decide, or labels differ
at more than a tenth of what has others with the same predictors. Rows that are equal are different cases then, by
predictors of few values, and each is for itself, also where labels agree: what is held out together must not hang on
labels. Without all of one label at a point a fit has seen the other label there alone, and a point that is held out
because its labels agree has no fit that would know them. A row that stands for several, as in a table of counts, is so
many rows then.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import Maps, Platt, fit_platt
from svmstat.machine import Groups, Posed, decided_elsewhere, for_weights, others_of, vote
from svmstat.objective.bounds import ROUNDING
from svmstat.objective.units import Units
from svmstat.solver import Solution, Status, solve

_SEVERAL = 2.0
"""A row of this weight and more stands for several, of which it can be most."""

_OF_A_TABLE = 0.1
"""Rows that stand for several with more of the weight make a table of counts."""

_MOST_CASES = 1000
"""So many cases at the most a row is divided into, each of them several if it counts more."""

_MOST = 0.5
"""With a larger share of the rows at points of several classes predictors have few values."""

_CONTESTED = 0.1
"""Labels that differ at more of what shares its predictors are not those of copies."""


@dataclass(frozen=True, slots=True)
class FoldFits:
    """What J fits, one for each cost, say about the m groups that they have not seen.

    Attributes
    ----------
    decision_values : (J, m, P) f(x_i); NaN where a fit has lost a class
    resolution : (J, P) differences up to this mean nothing
    winner : (J, m) the class that is predicted; −1 where a fit has lost a class
    log_likelihood : (J, m) log p_{y_i}(x_i) by the Platt maps of the groups that were kept
    n_support : (J,) sum of the weights of the groups that are support vectors of a pair
    certified : (J,) whether all certificates of optimality hold
    calibrated : (J,) whether all Platt maps converged
    maps : the maps of the groups that were kept, of shape (J, 1, P)
    """

    decision_values: Floats
    resolution: Floats
    winner: Codes
    log_likelihood: Floats
    n_support: Floats
    certified: NDArray[np.bool_]
    calibrated: NDArray[np.bool_]
    maps: Maps


def assign_folds(y: Floats, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A fold 0 … k − 1 for each row (n,): sizes differ by at most one, and so they do within each class.

    Parameters
    ----------
    y : (n,) classes, as numbers
    k : number of folds
    rng : where the order of the rows of a class comes from

    Examples
    --------
    >>> fold = assign_folds(np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0]), 3, np.random.default_rng(1))
    >>> np.bincount(fold).tolist()
    [2, 2, 2]
    """
    order = np.concatenate([rng.permutation(np.flatnonzero(y == value)) for value in np.unique(y)[::-1]])
    fold = np.empty(len(y), np.intp)
    fold[order] = np.arange(len(y)) % k
    return fold


def fold_units(groups: Groups, codes: Codes, weights: Floats, repeats: bool) -> tuple[Codes, Codes]:
    """What goes into a fold as one.

    Those are the groups of equal rows, or where points have several classes (`are_cases`) all rows, each for itself.

    Parameters
    ----------
    groups : of equal rows
    codes : (G,) the class of each
    weights : (n,) of the rows
    repeats : whether weights are repeats of rows

    Returns
    -------
    (n,) the unit of each row, −1 for a row of weight zero; (U,) the group of each unit

    Examples
    --------
    >>> from svmstat.machine import group_rows
    >>> x, y = np.array([[1.0], [1.0], [1.0], [2.0], [2.0]]), np.array([0, 0, 1, 1, 1])
    >>> groups = group_rows(x, y, np.ones(5))
    >>> fold_units(groups, y[groups.first], np.ones(5), True)[0]
    array([0, 1, 2, 3, 4])
    >>> y[2] = 0
    >>> groups = group_rows(x, y, np.ones(5))
    >>> fold_units(groups, y[groups.first], np.ones(5), True)[0]
    array([0, 0, 0, 1, 1])
    """
    rows = rows_of_weight(groups, weights)
    group, w = groups.of_row[rows], weights[rows]
    if are_cases(groups, codes, weights, repeats):
        rank = np.empty(len(rows), np.intp)
        rank[np.lexsort((w, group))] = np.arange(len(rows))  # of equal rows by weight, whatever their order is
        keys = np.column_stack([group, rank])
    else:
        keys = group[:, None]
    units, of_row = np.unique(keys, axis=0, return_inverse=True)
    unit = np.full(len(groups.of_row), -1)
    unit[rows] = of_row.ravel()
    return unit, units[:, 0]


def held_out_as(groups: Groups, codes: Codes, weights: Floats, repeats: bool) -> Codes:
    """(n,) how many rows each is where folds are drawn: of cases that are counted, so many as it stands for.

    Examples
    --------
    >>> from svmstat.machine import group_rows
    >>> x, y, w = np.array([[1.0], [1.0], [2.0], [2.0]]), np.array([0, 1, 0, 1]), np.array([3.0, 1.0, 2.0, 2.0])
    >>> groups = group_rows(x, y, w)
    >>> held_out_as(groups, y[groups.first], w, True)
    array([3, 1, 2, 2])
    """
    if not repeats or weights.max(initial=0.0) < _SEVERAL or not are_cases(groups, codes, weights, repeats):
        return np.ones(len(weights), np.intp)
    return np.clip(np.floor(weights * (1.0 + ROUNDING)), 1.0, _MOST_CASES).astype(np.intp)


def dealt(codes: Codes, times: Codes, k: int, rng: np.random.Generator) -> Codes:
    """(n, k) how many of the cases of each row go into each of k folds, level by level, as `assign_folds` deals them.

    Parameters
    ----------
    codes : (n,) classes
    times : (n,) how many cases each row is
    k : number of folds
    rng : what they are drawn by

    Examples
    --------
    >>> found = dealt(np.array([0, 1, 1]), np.array([5, 2, 4]), 3, np.random.default_rng(1))
    >>> found.sum(axis=1), found.sum(axis=0)
    (array([5, 2, 4]), array([4, 4, 3]))
    """
    found, start = np.zeros((len(codes), k), np.intp), 0
    for code in np.unique(codes)[::-1]:
        rows = np.flatnonzero(codes == code)
        each, more = divmod(int(times[rows].sum()), k)
        left = np.roll(each + (np.arange(k) < more), start)
        start += more
        for row in rows:
            found[row] = rng.multivariate_hypergeometric(left, times[row])
            left = left - found[row]
    return found


def rows_of_weight(groups: Groups, weights: Floats) -> Codes:
    """Which of the rows (n,) are in a group and have weight."""
    return np.flatnonzero((groups.of_row >= 0) & (weights > 0))


def are_cases(groups: Groups, codes: Codes, weights: Floats, repeats: bool) -> bool:
    """Whether equal rows are different cases: those at points of several classes have a tenth of what shares points."""
    rows = rows_of_weight(groups, weights)
    often = weights[rows] if repeats else np.ones(len(rows))
    at_point = np.bincount(groups.point[groups.of_row[rows]], np.maximum(often, 1.0), len(codes))[groups.point]
    both = contested(groups, codes)
    shared = both | (at_point > 1.0)
    return bool(groups.weights[both].sum() > _CONTESTED * groups.weights[shared].sum())


def points_of_few(groups: Groups, codes: Codes) -> Codes | None:
    """(n,) which rows have the same predictors, −1 for one of weight zero; None unless these have few values.

    They have where most of the weight is at points of several classes, ``codes`` (G,) being those of the groups.
    """
    few = groups.weights[contested(groups, codes)].sum() > _MOST * groups.weights.sum()
    return groups.to_rows(groups.point) if few else None


def is_table(groups: Groups, codes: Codes, weights: Floats) -> bool:
    """Whether rows count the cases at points of several classes, with more than a tenth of the weight."""
    return bool(weights[several_alone(groups, codes, weights)].sum() > _OF_A_TABLE * weights.sum())


def several_alone(groups: Groups, codes: Codes, weights: Floats) -> NDArray[np.bool_]:
    """(n,) rows that stand for several, and for most rows of their class at a point which has other classes too."""
    of_row = groups.to_rows(np.arange(len(codes)))
    found = (of_row >= 0) & (weights >= _SEVERAL)
    group = of_row[found]
    found[found] = (weights[found] > 0.5 * groups.weights[group]) & contested(groups, codes)[group]
    return found


def contested(groups: Groups, codes: Codes) -> NDArray[np.bool_]:
    """(G,) whether rows with the same predictors as those of a group of class ``codes`` (G,) have another class.

    Groups of weight zero do not count.
    """
    there = np.flatnonzero(groups.weights > 0.0)
    point, of, found = groups.point[there], codes[there], np.zeros(len(codes), bool)
    found[point[1:][(point[1:] == point[:-1]) & (of[1:] != of[:-1])]] = True  # they are in the order of predictors
    return found[groups.point]


def assign_units(totals: Floats, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A fold 0 … k − 1 for each of G units, so that folds have about as much of every class.

    The units come in the order of their size, those of one size in a random order, and each goes where there is least
    of its classes.

    Parameters
    ----------
    totals : (G, K) weights of the classes in each unit
    k : number of folds, ≤ G
    rng : where the order of units of one size comes from

    Examples
    --------
    >>> totals = np.array([[3.0, 1.0], [1.0, 3.0], [3.0, 1.0], [1.0, 3.0]])
    >>> fold = assign_units(totals, 2, np.random.default_rng(1))
    >>> np.array([totals[fold == which].sum(axis=0) for which in range(2)])
    array([[4., 4.],
           [4., 4.]])
    """
    shares = totals / totals.sum(axis=0)
    order = rng.permutation(len(totals))
    order = order[np.argsort(-shares.max(axis=1)[order], kind="stable")]
    fold, held = np.empty(len(totals), np.intp), np.zeros((k, totals.shape[1]))
    size = np.zeros(k)
    for place, unit in enumerate(order):
        free = np.flatnonzero(size == 0) if k - np.count_nonzero(size) >= len(order) - place else np.arange(k)
        cost = (held @ shares[unit])[free]
        least = free[np.flatnonzero(cost <= cost.min() + 1e-12)]
        chosen = least[np.argmin(held.sum(axis=1)[least])]
        fold[unit] = chosen
        held[chosen] += shares[unit]
        size[chosen] += 1
    return fold


def folds_of_units(
    units: Units, codes: Codes, weights: Floats, n_classes: int, k: int, rng: np.random.Generator
) -> Codes:  # fmt: skip
    """The fold (n,) of each row by that of its unit, as `assign_units` deals these; −1 for a row of none."""
    members = np.eye(n_classes)[codes] * weights[:, None]
    return np.where(units.of_row >= 0, assign_units(units.sums(members), k, rng)[units.of_row], -1)


def hold_out(
    posed: Posed, away: Floats | NDArray[np.bool_], costs: Sequence[float], coupling: str, with_maps: bool = True
) -> FoldFits:
    """Fit for each cost without some of the groups of equal rows, or a part of these, and predict them.

    Parameters
    ----------
    posed : the problems of the pairs, for any cost
    away : (G,) how much of the weight of each group is left out, of m of them some; or whether all of it is
    costs : (J,) values of C, rising: each solution is where the next sets off
    coupling : how the probabilities of the pairs are coupled
    with_maps : whether Platt maps are fitted; without them there are no log-likelihoods

    Returns
    -------
    FoldFits
    """
    totals = posed.groups.weights
    away = np.where(away, totals, 0.0) if away.dtype == bool else away
    out = away > 0.0
    kept = np.where(totals - away > ROUNDING * totals, totals - away, 0.0)
    J, m, P = len(costs), int(np.count_nonzero(out)), len(posed.pairs)
    f, slope, intercept = np.full((J, m, P), np.nan), *np.full((2, J, 1, P), np.nan)
    resolution = np.zeros((J, P))
    certified, calibrated = np.ones(J, bool), np.full(J, with_maps)
    is_support, n_support = np.zeros((J, len(out)), bool), np.zeros(J)
    place = np.cumsum(out) - 1
    for p, pair in enumerate(posed.pairs):
        solution: Solution | None = None
        platt: Platt | None = None
        left, weights = out[pair.rows], kept[pair.rows]
        y, seen = pair.problem.signs, weights > 0.0
        share = np.divide(weights, totals[pair.rows], out=np.zeros(len(weights)), where=seen)
        mine, others = np.flatnonzero(left), others_of(pair.rows, len(out))
        rows = pair.rows if len(others) else slice(None)
        others = others[out[others]]
        of_mine, of_others = place[pair.rows[mine]], place[others]
        for j, cost in enumerate(costs):
            upper = cost / pair.C * pair.problem.upper * share
            solution = solve(for_weights(pair, weights, upper).problem, start=solution)
            if solution.status is Status.ONE_CLASS:
                certified[:], calibrated[:], n_support[:] = False, False, np.nan
                break
            decision, resolution[j, p] = solution.decision, solution.resolution
            f[j, of_mine, p] = decision[mine]
            f[j, of_others, p] = decided_elsewhere(posed.gram, pair.rows, others, solution, y)
            is_support[j, rows] |= solution.alpha > 0
            certified[j] &= solution.status is Status.CERTIFIED
            if with_maps:
                platt = fit_platt(decision[seen], y[seen], weights[seen], near=platt)
                slope[j, 0, p], intercept[j, 0, p] = platt.slope, platt.intercept
                calibrated[j] &= platt.converged
    left_of_classes = np.bincount(posed.group_codes, kept, posed.n_classes).astype(float)
    maps = Maps(slope, intercept, calibrated, posed.classes, left_of_classes, coupling, "insample")
    winner = vote(f.reshape(-1, P), posed.classes).reshape(J, m)
    log_likelihood = maps.log_likelihoods(f, posed.group_codes[out])
    n_support += is_support @ posed.groups.weights
    return FoldFits(f, resolution, winner, log_likelihood, n_support, certified, calibrated, maps)
