"""A threshold with a guarantee on the false alarms, by an order statistic of held-out scores.

Of m held-out rows of the other level let t be the k-th smallest decision value. The rule f > t has P_F > a with
probability at most Σ_{j ≥ k} C(m, j) (1 − a)^j a^{m−j}, with equality where f has no ties, whatever the distribution.
The smallest k for which that is at most δ gives the fewest misses.

With holdout="loo" the scores are the leave-one-out values of all rows of the other level: nearly those of new rows for
the fit to all of them, and more of them. They depend on each other, so that there is no such theorem; in simulations
(``python -m benchmarks validity neyman-pearson``, a = δ = 0.1) P_F exceeds a in 0.03 to 0.15 of the samples. A row
whose predictors another row has is not left out, its copy being still there: its value is that of a row that was seen.

Reference: Tong, Feng & Li (2018), Neyman–Pearson classification algorithms and NP receiver operating characteristics,
Science Advances 4, proposition 1.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from svmstat._tools.arrays import Floats
from svmstat.calibration import fit_maps
from svmstat.errors import DataError
from svmstat.machine import Machine
from svmstat.resampling import leave_one_out
from svmstat.solver import TOLERANCE

MOST_TIES = 0.1
"""The share of rows with the predictors of another row, from which on holdout="loo" is refused."""


def exceeds(k: NDArray[np.intp] | int, m: int, a: float) -> Floats:
    """The largest probability that P_F > a for the k-th smallest of m scores as threshold.

    Examples
    --------
    >>> round(float(exceeds(59, 59, 0.05)), 4)  # 0.95 ** 59
    0.0485
    """
    return np.asarray(bdtrc(np.asarray(k) - 1, m, 1.0 - a))


def rows_needed(a: float, delta: float) -> int:
    """The least number m of held-out rows for which (1 − a)^m ≤ δ: with fewer no order statistic will do.

    Examples
    --------
    >>> rows_needed(0.05, 0.05), rows_needed(0.1, 0.1)
    (59, 22)
    """
    return int(np.ceil(np.log(delta) / np.log1p(-a) - 1e-9))


def order_of_threshold(m: int, a: float, delta: float) -> int:
    """The smallest k with `exceeds` (k, m, a) ≤ δ.

    Raises
    ------
    DataError
        If there is none, m being too small.

    Examples
    --------
    >>> order_of_threshold(59, 0.05, 0.05), order_of_threshold(200, 0.05, 0.05)
    (59, 196)
    """
    allowed = np.flatnonzero(exceeds(np.arange(1, m + 1), m, a) <= delta * (1.0 + 1e-9))
    if len(allowed) == 0:
        raise DataError(
            f"a = {a:g} with delta = {delta:g} needs at least {rows_needed(a, delta)} held-out rows of the other "
            f"level; there are {m}."
        )
    return int(allowed[0]) + 1


def threshold(scores: Floats, a: float, delta: float) -> float:
    """The k-th smallest of the scores (m,), k being that of `order_of_threshold`."""
    return float(np.sort(scores)[order_of_threshold(len(scores), a, delta) - 1])


def left_out_values(machine: Machine) -> Floats:
    """The leave-one-out values (m,) of the rows of the other level that have weight one, of a machine of two classes.

    Raises
    ------
    DataError
        If one of them is not known.
    """
    left = leave_one_out(machine, fit_maps(machine), influence=False)
    others = (machine.signs[:, 0] < 0) & (machine.weights > 0)
    f = left.decision_values[others, 0]
    lost = np.isnan(f) | (left.violation[others] > TOLERANCE)
    if lost.any():
        raise DataError(
            f"holdout='loo' needs the leave-one-out values of all rows of the other level: {np.count_nonzero(lost)} of "
            f"{len(f)} could not be computed; a holdout between 0 and 1 needs none."
        )
    return np.asarray(f)


def refuse_ties(X: Floats, other: NDArray[np.bool_]) -> None:
    """Refuse rows X (n, p) where many of the ``other`` level (n,) have the predictors of another row.

    Raises
    ------
    DataError
        If more than the share `MOST_TIES` of them do.
    """
    _, of_row, count = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    tied = count[of_row.ravel()][other] > 1
    if tied.mean() > MOST_TIES:
        raise DataError(
            f"holdout='loo' allows {100 * MOST_TIES:g} % of the rows of the other level to have the predictors of "
            f"another row, which stays when one of them is left out: {np.count_nonzero(tied)} of {len(tied)} have. A "
            "holdout between 0 and 1 has no such condition."
        )
