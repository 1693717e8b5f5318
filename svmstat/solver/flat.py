"""Where h = 0, so that f is the intercept everywhere: known beforehand, or found as far as rounding lets it be told.

A map of what rounding leaves of such an h would take it for a signal, and every road to the solution would leave
another. And what rounding leaves of ‖h‖² = β'Kβ, whose terms cancel where kernel values are large beside it.
"""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.doubles import EPS, FAR
from svmstat.solver.gram import Gram, Rows
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import INVISIBLE, PRECISION, rounding_of
from svmstat.solver.twofold import products_twofold

_EQUAL = 4.0 * EPS
"""Sums of bounds that differ by this share are equal: it is rounding of the bounds and their sums."""

_HIDDEN = 1e-7
"""Rounding of more than this share of ‖h‖² is taken away."""

_NOISE = 8.0


def outweighed(problem: BoxQP, upper: Floats) -> Floats | None:
    """The α (n,) for upper bounds (n,) that makes h = 0, where one class outweighs the other at every point; or None.

    If at every point the bounds of the events add up to those of the others at least, f = m₊ everywhere is optimal: the
    others are at their bounds, and the events at each point cancel them. Nothing has to be solved for that.
    """
    point, event = problem.point, problem.signs > 0
    if point is None or not may_be_outweighed(problem, upper[None])[0]:
        return None
    events, others = (_sums(point[rows], upper[rows], point.max() + 1) for rows in (event, ~event))
    slack = _EQUAL * (events + others)
    for mine, theirs, heavier in ((events, others, event), (others, events, ~event)):
        if (mine >= theirs - slack).all():
            share = np.divide(theirs, mine, out=np.zeros(len(mine)), where=mine > 0.0)
            share[theirs >= mine - slack] = 1.0  # equal sums leave no row free
            return np.where(heavier, upper * share[point], upper)
    return None


def left_over(problem: BoxQP, beta: Floats) -> float:
    """The largest |Kβ| at any row for a β (n,) that cancels at each point as far as rounding lets it: see `outweighed`.

    |K_ij| ≤ √(K_ii K_jj).
    """
    sums = beta if problem.point is None else _sums(problem.point, beta, problem.point.max() + 1)
    return float(np.abs(sums).sum() * np.abs(problem.gram.diagonal).max())


def _sums(point: Rows, values: Floats, size: int) -> Floats:
    """(size,) sums of the values (m,) at each point (m,)."""
    return np.bincount(point, values, size).astype(float)


def may_be_outweighed(problem: BoxQP, uppers: Floats) -> NDArray[np.bool_]:
    """Whether one class of each of (B, n) bounds has no row at a point of its own: if not, neither is outweighed."""
    point, event = problem.point, problem.signs > 0
    if point is None or problem.total is not None or (point == np.arange(len(point))).all():
        return np.zeros(len(uppers), bool)
    both = np.intersect1d(point[event], point[~event])
    if len(both) == 0:
        return np.zeros(len(uppers), bool)
    alone = ~np.isin(point, both)
    return np.asarray(~((uppers[:, alone & event] > 0).any(axis=1) & (uppers[:, alone & ~event] > 0).any(axis=1)))


def may_be_flat(
    field: Floats, beta: Floats, gap: Floats | float, rounding: Floats | float, diagonal: Floats
) -> NDArray[np.bool_]:
    """Whether the (...,) gap leaves room for h = 0, where the values of h are ``field`` (..., n).

    The optimal h* is within √gap of h, by the strong convexity of ½‖h‖², and |h(x)| ≤ ‖h‖ √K(x, x). Where rounding may
    hide a millionth of a margin nothing is said to be flat.
    """
    squared = np.abs(np.einsum("...i,...i->...", beta, field))
    limit = 2.0 * np.minimum(gap, FAR) + np.minimum(rounding, 1.0) * np.abs(beta).sum(axis=-1)
    low = _largest(field) <= np.sqrt(limit) * np.sqrt(np.abs(diagonal).max()) + rounding
    invisible = _largest(field) <= INVISIBLE
    return np.asarray((((squared <= limit) & low) | invisible) & (rounding <= PRECISION))


def is_noise(largest: Floats | float, violation: Floats | float, rounding: Floats | float) -> NDArray[np.bool_]:
    """Whether an h of at most ``largest`` (...,) is of the size of the violation and rounding, or lost beside b."""
    return np.asarray(largest <= np.maximum(_NOISE * (np.maximum(violation, 0.0) + rounding), INVISIBLE))


def is_all_of_f(problem: BoxQP, beta: Floats, crossing: float, intercept: float) -> bool:
    """Whether the h of β (n,) is no noise, and f nothing else: classes of one weight at a tiny C have b = 0.

    Beside the margins, h may be lost to the last digit: it is computed alone.
    """
    if abs(intercept) > INVISIBLE or problem.total is not None:
        return False
    return lost_beside_margins(problem, beta, crossing) > abs(intercept)


def lost_beside_margins(problem: BoxQP, beta: Floats, crossing: float = 0.0) -> float:
    """The largest |h| of β (n,) where it is computed alone, if it is no noise; otherwise 0."""
    rounding = float(rounding_of(beta, problem.gram.sizes))
    largest = float(np.abs(problem.gram.residual(beta, np.zeros(problem.n))).max())
    return largest if largest > _NOISE * (max(crossing, 0.0) + rounding) else 0.0


def squared_norm(gram: Gram, beta: Floats, field: Floats, rounding: float) -> float:
    """‖h‖² from β and Kβ, both (n,), the latter known to within ``rounding``.

    Where that hides digits it is made of the normal vector A'β if kernel values are products AA', and otherwise of
    sums as if in twice the working precision; where the last digits of the kernel values leave nothing of it, it is
    what they add up to. NaN where it is negative far beyond that: such a kernel matrix is not positive semidefinite.
    """
    plain = float(beta @ field)
    if not np.abs(beta).sum() * rounding > _HIDDEN * plain:
        return plain
    rows = np.flatnonzero(beta)
    if gram.vectors is not None:
        normal = gram.normal(rows, beta[rows])
        return float(normal @ normal)
    exact = -gram.residual(beta, np.zeros(len(beta)))
    total = float(products_twofold(exact[None], beta)[0])
    lost = norm_rounding(gram, beta)
    if total >= lost or total == 0.0:
        return total
    return lost if total >= -_NOISE * lost else np.nan


def norm_rounding(gram: Gram, beta: Floats) -> float:
    """What the last digits of the kernel values may add up to in ‖h‖²; nothing where products take their place."""
    return 0.0 if gram.vectors is not None else EPS * float(beta * beta @ np.abs(gram.diagonal))


def _largest(field: Floats) -> Floats:
    return np.asarray(np.maximum(field.max(axis=-1), -field.min(axis=-1)))
