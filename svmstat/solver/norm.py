"""‖h‖² = β'Kβ, whose terms cancel where kernel values are large beside it."""

import numpy as np

from svmstat.solver.gram import Floats, Gram
from svmstat.solver.twofold import products_twofold

_HIDDEN = 1e-10
"""Rounding of more than this share of ‖h‖² is taken away."""

_SEEN = 1e-3
"""And up to this share what rounding of kernel values, of half a unit in the last place, may add up to is let pass."""

_EPS = float(np.finfo(float).eps)


def squared_norm(gram: Gram, beta: Floats, field: Floats, rounding: float) -> float:
    """‖h‖² from β and Kβ, both (n,), the latter known to within ``rounding``.

    Where that hides digits it is made of the normal vector A'β if kernel values are products AA', and otherwise of
    sums as if in twice the working precision; NaN where the last digits of the kernel values hide it even then, and
    where it is negative, as it may be of a kernel matrix that is not positive semidefinite.
    """
    plain = float(beta @ field)
    if not np.abs(beta).sum() * rounding > _HIDDEN * plain:
        return plain
    rows = np.flatnonzero(beta)
    if gram.vectors is not None:
        normal = gram.normal(rows, beta[rows])
        return float(normal @ normal)
    exact = -gram.residual(beta, np.zeros(len(beta)))
    total, lost = float(products_twofold(exact[None], beta)[0]), _EPS * float(beta * beta @ np.abs(gram.diagonal))
    return total if total > lost / _SEEN else np.nan
