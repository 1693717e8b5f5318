"""Rows that are copies of others: which fits have seen one of what they predict, and whether that may be chance.

Copies have the same predictors and the same class. Where equal rows are different cases (`are_cases`) there are none.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.machine import Posed
from svmstat.objective.bounds import ROUNDING
from svmstat.objective.units import are_groups
from svmstat.resampling.folds import are_cases, rows_of_weight
from svmstat.resampling.splits import Splits

_MANY = 0.1
"""The share of rows from which on copies are worth a word."""

_LEAST = 1.0
"""So many pairs of equal rows that are expected are no surprise."""


def copies_among(machine: Posed, splits: Splits | None = None) -> dict[str, Any]:
    """What `Evidence` has of the copies that fits without a row have seen, ``splits`` being None for leave-one-out."""
    seen = weight_of_copies_seen(machine, splits)
    return {"copies_seen": seen, "copies_suspicious": are_suspicious(machine, seen)}


def weight_of_copies_seen(machine: Posed, splits: Splits | None = None) -> float:
    """Σw of the rows of which the fits without them have seen copies.

    Groups decide for themselves what is left out.
    """
    groups, weights, units = machine.groups, machine.weights, machine.units
    if are_groups(units) or are_cases(groups, machine.group_codes, weights, units is None):
        return 0.0
    rows = rows_of_weight(groups, weights)
    group, away = groups.of_row[rows], weights[rows]
    if splits is not None:
        known = splits.fold[rows] >= 0
        rows, group = rows[known], group[known]
        away = np.array(list(splits.left_out(machine)))[splits.fold[rows], group]
    seen = groups.weights[group] - away > ROUNDING * groups.weights[group]
    return float(weights[rows[seen]].sum())


def are_suspicious(machine: Posed, seen: float) -> bool:
    """Whether so much weight is of copies ``seen`` as no chance makes of such predictors: repeats of one observation.

    The columns of the design are taken for independent of each other.
    """
    if seen <= _MANY * machine.weights.sum():
        return False
    groups = machine.groups
    used = groups.weights > 0.0
    points = np.unique(groups.point[used])
    return pairs_by_chance(machine.X[groups.first[points]]) < _LEAST


def pairs_by_chance(X: Floats) -> float:
    """How many pairs of different rows X (m, p) would be equal, if the columns had their values independently.

    Examples
    --------
    >>> pairs_by_chance(np.array([[1.0, 5.0], [1.0, 6.0], [2.0, 6.0], [2.0, 7.0]])).__round__(3)
    0.333
    >>> pairs_by_chance(np.array([[1.0], [2.0], [3.0]]))
    0.0
    """
    pairs = 0.5 * len(X) * (len(X) - 1.0)
    equal = [float((0.5 * count * (count - 1.0)).sum()) for count in map(_counts, X.T)]
    return pairs * float(np.prod(np.array(equal) / pairs)) if pairs else 0.0


def _counts(values: Floats) -> NDArray[np.intp]:
    """How often there is each value."""
    return np.unique(values, return_counts=True)[1]
