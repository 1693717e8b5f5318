"""What is said of weights that are numbers of copies."""

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.objective.units import Units
from svmstat.reporting.rendering.values import show

_COPIES = (
    "Weights are {taken}numbers of copies: {n} rows count as {total} independent ones, in standard errors and p-values "
    "too. Where a weight says how much a row stands for, as in a survey: weight_type='probability'."
)

_OTHERS_SEEN = (
    "Leave-one-out leaves out one copy of a row, and fits without it have seen its others: unless these are different "
    "cases, a flexible machine looks better than it is on new rows. {kfold} holds copies out together."
)


def other_copies_note(weights: Floats, units: Units | None = None, kfold: str = "fit.kfold()") -> tuple[str, ...]:
    """That rows of weights (n,) that are repeats are left out copy by copy; nothing where each is one.

    Examples
    --------
    >>> other_copies_note(np.ones(3)), len(other_copies_note(np.array([1.0, 2.0])))
    ((), 1)
    """
    return (_OTHERS_SEEN.format(kfold=kfold),) if units is None and weights.max(initial=0.0) > 1.0 else ()


def copies_note(weights: Floats, units: Units | None = None) -> tuple[str, ...]:
    """As how many rows those count whose weights (n,) are repeats; nothing where each is one, or is in a unit.

    Examples
    --------
    >>> copies_note(np.array([2.0, 0.0, 3.0]))[0][:64]
    'Weights are numbers of copies: 2 rows count as 5 independent one'
    """
    used = weights[weights > 0]
    if units is not None or bool(np.all(used == 1.0)):
        return ()
    taken = "" if bool(np.all(used == np.round(used))) else "taken as "
    return (_COPIES.format(taken=taken, n=len(used), total=show(float(used.sum()), "count")),)
