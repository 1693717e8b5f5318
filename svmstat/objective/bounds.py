"""The vocabulary of resampling: what is left out or repeated, as upper bounds of the one problem.

A row of upper bounds u_i = C · w_i · L(y_i) describes a fit on altered data with the kernel matrix unchanged: u_k = 0
leaves row k out.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.errors import ArgumentError

LEAST, MOST = 1e-100, 1e100
"""The upper bounds for which a problem is posed. α reaches them, and the objective is a sum of α_i α_j K_ij: between
these limits a product of two leaves the kernel, and the number of rows, a factor of 1e108 in either direction before a
double overflows or vanishes. How far apart the bounds are is no ground for refusing them: the certificate judges that.
"""

ROUNDING = 1e-12
"""Of a weight what is less than this part of it is rounding."""


def check_range(factors: Mapping[str, Floats | float]) -> None:
    """Refuse upper bounds u_i = C · w_i · L(y_i) that are too large or too small for the arithmetic of doubles.

    Parameters
    ----------
    factors : what u is the product of, numbers or (n,), each by its argument; rows of weight 0 are left out

    Raises
    ------
    ArgumentError
        If a bound is not between 1e-100 and 1e100; it names the argument that is farthest out, and says by how much.

    Examples
    --------
    >>> check_range({"C": 16.0, "weights": np.array([1e-12, 1e12])})
    >>> check_range({"C": 1e120, "weights": np.array([2.0, 1.0])})
    Traceback (most recent call last):
        ...
    svmstat.errors.ArgumentError: C=1e+120 is not allowed: an upper bound C · w · L would be 2e+120, 2e+20 times ...
    """
    values = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in factors.values()))
    with np.errstate(divide="ignore"):
        sizes = np.array([np.log10(value).ravel() for value in values])
    total = sizes.sum(axis=0)
    for place, sign, limit in ((total.argmax(), 1.0, MOST), (total.argmin(), -1.0, LEAST)):
        excess = sign * (total[place] - np.log10(limit))
        if excess > 0:
            worst = int((sign * sizes[:, place]).argmax())
            name, value = list(factors)[worst], values[worst].ravel()[place]
            given = f"C={value:g}" if name == "C" else f"{'w' if name == 'weights' else 'L'} = {value:g}, from {name},"
            much = f"{_power(excess)} times too {'large' if sign > 0 else 'small'}"
            raise ArgumentError(
                f"{given} is not allowed: an upper bound C · w · L would be {_power(total[place])}, "
                f"{much if np.isfinite(excess) else 'which is no cost at all'}. Bounds must be between {LEAST:g} and "
                f"{MOST:g}, for their products with each other and with kernel values to stay what doubles can carry."
            )


def _power(exponent: float) -> str:
    """10 to a power that no double may hold.

    Examples
    --------
    >>> _power(320.30103), _power(-1.0), _power(-np.inf)
    ('2e+320', '0.1', '0')
    """
    if abs(exponent) < 308 or not np.isfinite(exponent):
        return f"{10.0**exponent:.3g}"
    whole = int(np.floor(exponent))
    return f"{10.0 ** (exponent - whole):.3g}e{whole:+03d}"


def weighted(C: float, weights: Floats, class_weight: Floats) -> Floats:
    """u_i = C · w_i · L(y_i), (n,).

    Parameters
    ----------
    C : cost, > 0
    weights : (n,) case weights w ≥ 0
    class_weight : (n,) L(y_i) > 0 of each row's class

    Examples
    --------
    >>> weighted(2.0, np.array([1.0, 3.0]), np.array([1.0, 0.5]))
    array([2., 3.])
    """
    return C * weights * class_weight


def deletions(
    upper: Floats, weights: Floats, rows: NDArray[np.intp], copies: Floats, of: NDArray[np.intp] | None = None
) -> Floats:
    """Parts of some rows left out: u_k falls by the share copies_k / w_k.

    Parameters
    ----------
    upper : (n,) bounds of the full fit
    weights : (n,) case weights behind them
    rows : (E,) which rows, each with w_k > 0
    copies : (E,) how much of the weight to take away, of each row no more than w_k in all
    of : (E,) which of B deletions each is a part of, rising from 0 to B − 1; by default each is one for itself

    Returns
    -------
    (B, n) upper bounds

    Examples
    --------
    >>> deletions(np.array([2.0, 6.0]), np.array([1.0, 3.0]), np.array([0, 1]), np.ones(2))
    array([[0., 6.],
           [2., 4.]])
    >>> deletions(np.array([2.0, 6.0]), np.array([1.0, 3.0]), np.array([0, 1]), np.ones(2), np.zeros(2, int))
    array([[0., 4.]])
    """
    of = np.arange(len(rows)) if of is None else of
    uppers = np.tile(upper, (of[-1] + 1 if len(of) else 0, 1))
    taken = np.zeros(uppers.shape) if len(of) > len(uppers) else None
    if taken is None:
        left = weights[rows] - copies
    else:
        np.add.at(taken, (of, rows), copies)
        left = weights[rows] - taken[of, rows]
        left[left < ROUNDING * weights[rows]] = 0.0  # of several copies of a row that add up to all of it
    uppers[of, rows] = upper[rows] * (left / weights[rows])
    return uppers


def counts(upper: Floats, weights: Floats, copies: Floats) -> Floats:
    """Every row as often as ``copies`` says: u_i rises or falls by the share copies_i / w_i.

    Parameters
    ----------
    upper : (n,) bounds of the full fit
    weights : (n,) case weights w > 0 behind them
    copies : (B, n) weights of the rows in each replicate, ≥ 0

    Returns
    -------
    (B, n) upper bounds

    Examples
    --------
    >>> counts(np.array([2.0, 6.0]), np.array([1.0, 3.0]), np.array([[0.0, 4.0]]))
    array([[0., 8.]])
    """
    return copies * (upper / weights)
