"""What is said of weights that are numbers of copies."""

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.objective.units import Units
from svmstat.reporting.rendering.values import show

_COPIES = (
    "Weights are {taken}numbers of copies: {n} rows count as {total} independent ones, in standard errors and p-values "
    "too. Where a weight says how much a row stands for, as in a survey: weight_type='probability'."
)


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
