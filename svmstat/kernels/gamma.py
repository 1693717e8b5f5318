"""The width γ of a kernel: a number, or a rule that reads the training rows."""

import math

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.checks import number, refuse
from svmstat._tools.compiled import compiled
from svmstat._tools.repeats import distinct_rows
from svmstat._tools.threads import in_threads
from svmstat.errors import ArgumentError, DataError
from svmstat.kernels.pairs import CHUNK, FloatArray, distances_from

RULES = ("scale", "median")
ALLOWED = "'scale', 'median' or a finite number > 0"
DIGITS = 1 << 16  # the 64 bits of a distance are read in four digits of 16 bits
STRIP = 256  # rows per task

_ROUNDING = 2.0**-48
"""Of the largest value of a column: values that are as near are equal but for rounding."""


def check_gamma(name: str, gamma: object) -> float | str:
    """One of the rules, or a finite number above zero."""
    if isinstance(gamma, str) and gamma in RULES:
        return gamma
    return number(name, gamma, lambda x: 0 < x < math.inf, ALLOWED)


def resolve_gamma(gamma: object, X: FloatArray, weights: FloatArray | None = None, *, power: int = 2) -> float:
    """The number that ``gamma`` stands for in a kernel of γ Σ_k |x_k − z_k|^power, or of γ x'z.

    Parameters
    ----------
    gamma : {"scale", "median"} or float
        "scale" is γ = 1/(p·v), v the weighted variance (divisor Σw) over all entries of X.
        "median" is γ = 1/(2m²), m the median distance ‖x_i − x_j‖ over all pairs of rows: the median
        heuristic, in the convention exp(−‖x − z‖²/(2σ²)) with σ = m.
        With ``power`` = 1 they are 1/(p·√v) and 1/m, m the median of Σ_k |x_ik − x_jk|: γ has the unit of an
        inverse distance there, and exp(−Σ_k |x_k − z_k|/m) is the convention.
    X : ndarray of shape (n, p)
        Training rows on the scale of the fit.
    weights : ndarray of shape (n,), optional
        Case weights, taken as repeats; rows of weight zero count as absent.
    power : {2, 1}
        Whether distances are squared.

    Returns
    -------
    float
        γ > 0.

    Raises
    ------
    ArgumentError
        When ``gamma`` is none of these, or the rule gives no finite γ > 0 on these rows.
    DataError
        When a rule is asked for and X has no columns or no rows.

    Notes
    -----
    Weights as repeats: a pair of rows counts w_i w_j times, and the copies of a row form w_i(w_i − 1)/2 pairs
    at distance zero (none for w_i < 1). The median is exact, the mean of the two middle distances when their
    number is even, and does not depend on the order of the rows. It takes four passes over the pairs, each
    reading 16 more bits of the middle distance, and no memory that grows with the number of pairs.

    References
    ----------
    Garreau, Jitkrittum & Kanagawa (2018), Large sample analysis of the median heuristic.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> resolve_gamma("median", X) == 1 / (2 * 2.0**2)
    True
    """
    gamma = check_gamma("gamma", gamma)
    if not isinstance(gamma, str):
        return gamma
    X = np.asarray(X, dtype=float)
    if X.ndim != 2:
        raise ArgumentError(f"X has the shape {X.shape}: it must be (n, p).")
    if power not in (1, 2):
        raise refuse("power", power, "1 or 2")
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    if w.shape != (len(X),):
        raise ArgumentError(f"weights have the shape {w.shape}: there must be one for each of the {len(X)} rows of X.")
    X, w = X[w > 0], w[w > 0]
    if X.size == 0:
        n, p = X.shape
        raise DataError(f"gamma={gamma!r} needs data: the design has {n} rows of weight > 0 and {p} columns.")
    value = _scale(X, w, power) if gamma == "scale" else _median(X, w, power)
    if not 0 < value < math.inf:
        raise ArgumentError(f"gamma={gamma!r} gives {value} on these data: give a number > 0 or scale the columns.")
    return value


def _scale(X: FloatArray, w: FloatArray, power: int) -> float:
    """γ by the rule "scale": 1/(p·v), or 1/(p·√v)."""
    if X.min() == X.max():
        raise ArgumentError(f"gamma='scale' needs entries that differ, but all are {X.flat[0]}; give a number > 0.")
    total, p = w.sum(), X.shape[1]
    # Over the distinct entries in their order: neither the order of rows and columns nor copies change a digit.
    found = distinct_rows(X.reshape(-1, 1), np.repeat(w, p))
    entries = X.reshape(-1)[found.first]
    mean = (found.weights * entries).sum() / (total * p)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        pv = (found.weights * (entries - mean) ** 2).sum() / total
        return float(np.divide(1.0, pv if power == 2 else np.sqrt(pv * p)))


def _median(X: FloatArray, w: FloatArray, power: int) -> float:
    """γ by the rule "median": 1/(2m²), or 1/m."""
    middle = middle_distances(X, w, power)
    lower, upper = np.sqrt(middle) if power == 2 else middle
    m = float(0.5 * lower + 0.5 * upper)
    if m == 0:
        raise ArgumentError(
            "gamma='median' needs rows that differ: the median distance between two rows is 0; "
            "use gamma='scale' or give a number > 0."
        )
    return 0.5 / m / m if power == 2 else 1.0 / m


def typical_distance(X: FloatArray, w: FloatArray) -> float:
    """The median of ‖x_i − x_j‖² over the pairs of rows X (n, p), w (n,) positive; twice the variance where it is 0."""
    median = float(middle_distances(X, w, 2).mean())
    if median > 0.0:
        return median
    centred = X - np.average(X, axis=0, weights=w)
    return 2.0 * float(np.average((centred**2).sum(axis=1), weights=w))


def middle_distances(X: FloatArray, w: FloatArray, power: int) -> FloatArray:
    """The two middle values (2,) of Σ_k |x_ik − x_jk|^power over the pairs of rows, equal when one is in the middle.

    X (n, p) finite, w (n,) positive; a distance of no more than rounding is 0. Doubles that are not negative are
    ordered like their bits, so the digits of the middle ones are found from the highest to the lowest.
    """
    X, w = np.array(X, order="C"), np.array(w)  # copies: numba compiles anew for read-only arrays
    columns = np.ascontiguousarray(X.T)
    copies = np.maximum(w * (w - 1) / 2, 0.0).sum()
    slack = 0.0 if np.array_equal(w, np.rint(w)) else 1e-10  # fractional weights do not sum exactly
    prefix, below, total = np.zeros(2, dtype=np.int64), np.zeros(2), 0.0

    for shift in (48, 32, 16, 0):

        def strip(start: int, prefix: NDArray[np.int64] = prefix, shift: int = shift) -> FloatArray:
            counts, distances = np.zeros((2, DIGITS)), np.empty(CHUNK)
            end, bits = min(start + STRIP, len(X)), distances.view(np.int64)
            _count(X, columns, w, start, end, power, prefix, shift, counts, distances, bits)
            return counts

        counts = np.zeros((2, DIGITS))
        for part in in_threads(strip, range(0, len(X), STRIP)):
            counts += part
        if prefix[0] == prefix[1]:
            counts[1] = counts[0]
        counts[prefix == 0, 0] += copies
        reached = below[:, None] + counts.cumsum(axis=1)
        total = total or float(reached[0, -1])
        lower = np.searchsorted(reached[0], total * (0.5 - slack), side="left")
        upper = np.searchsorted(reached[1], total * (0.5 + slack), side="right")
        last = [np.flatnonzero(row)[-1] if row.any() else 0 for row in counts]
        digit = np.minimum([lower, upper], last)  # rounding can push a fractional total past the last one
        below = reached[[0, 1], digit] - counts[[0, 1], digit]
        prefix = prefix * DIGITS + digit
    middle = prefix.view(np.float64)
    rounding = ((_ROUNDING * np.abs(X).max(axis=0)) ** power).sum()
    return np.where(middle > rounding, middle, 0.0)


@compiled()
def _count(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917  arrays of a numba loop
    points, columns, w, first, last, power, prefix, shift, counts, distances, bits
):
    """Add w_i w_j to counts[t, digit] for pairs j < i, first ≤ i < last, whose bits begin with prefix[t].

    Room for distances (CHUNK,) is given, and its bits as integers.
    """
    both = prefix[0] != prefix[1]
    for i in range(first, last):
        for start in range(0, i, CHUNK):
            size = min(CHUNK, i - start)
            distances_from(points[i], columns, start, power, distances[:size])
            for j in range(size):
                head = bits[j] >> shift
                high, digit = head >> 16, head & (DIGITS - 1)
                if high == prefix[0]:
                    counts[0, digit] += w[i] * w[start + j]
                elif both and high == prefix[1]:
                    counts[1, digit] += w[i] * w[start + j]
