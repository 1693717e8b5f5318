"""Decision values that only rounding tells apart are equal.

Where predictors are factors, or all rows lie on their margins, many rows have the same decision value, and what
rounding leaves of that orders them at random: an area under the curve, an isotonic map or a rank would count it.
"""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats

_COARSE = 1e-6
"""A resolution that is a larger share of the spread is not that of rounding alone."""


def tied(f: Floats, resolution: Floats) -> Floats:
    """Decision values (n, P), those of a pair the same where they differ by no more than means something.

    None is moved further than that, if all are sure to the same, nor across zero.

    Parameters
    ----------
    f : (n, P) decision values, NaN where there is none
    resolution : (P,) or (n, P) differences up to this mean nothing; of two values the mean of theirs

    Examples
    --------
    >>> f = np.array([[1.0 + 2e-15], [-1.0], [1.0], [0.5]])
    >>> tied(f, np.array([1e-14])).ravel().tolist()
    [1.0, -1.0, 1.0, 0.5]
    """
    found, half = f.copy(), np.broadcast_to(0.5 * resolution, f.shape)
    for p in range(f.shape[1]):
        order = np.argsort(f[:, p])
        found[order, p] = _tied_in_order(f[order, p], half[order, p])
    return found


def _tied_in_order(f: Floats, half: Floats) -> Floats:
    """The same for rising values (n,): those that the least of them may be take the value that is nearest to zero."""
    low, high = f - half, f + half
    near = low[1:] <= high[:-1]
    if not (near & (f[1:] != f[:-1])).any():
        return f
    first, out_of_reach = np.append(True, ~near), np.searchsorted(np.maximum.accumulate(low), high, side="right")
    starts, ends = _parts(first)
    chains = ends - starts > 1
    for place, end in zip(starts[chains].tolist(), ends[chains].tolist(), strict=True):
        while (place := int(out_of_reach[place])) < end:
            first[place] = True
    starts, ends = _parts(first)
    return np.repeat(np.clip(0.0, f[starts], f[ends - 1]), ends - starts)


def _parts(first: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    """Where parts begin and end of which each begins with the ``first`` (n,)."""
    starts = np.flatnonzero(first)
    return starts, np.append(starts[1:], len(first))


def tied_to(f: Floats, known: Floats, resolution: Floats) -> Floats:
    """Decision values (m, P), each that of the nearest of the ``known`` (n, P) where it differs by no more than means.

    Examples
    --------
    >>> tied_to(np.array([[1.0 + 2e-15], [0.5]]), np.array([[-1.0], [1.0]]), np.array([1e-14])).ravel().tolist()
    [1.0, 0.5]
    """
    found = f.copy()
    for p, values in enumerate(known.T):
        among = np.sort(values[~np.isnan(values)])
        if len(among):
            place = np.searchsorted(among, f[:, p]).clip(max=len(among) - 1)
            below, above = among[np.maximum(place - 1, 0)], among[place]
            nearest = np.where(np.abs(above - f[:, p]) < np.abs(below - f[:, p]), above, below)
            found[:, p] = np.where(np.abs(nearest - f[:, p]) <= resolution[p], nearest, f[:, p])
    return found


def tied_where_coarse(f: Floats, resolution: Floats, known: Floats | None = None, within: float = 0.0) -> Floats:
    """Decision values (B, m) of B fits of a pair, in place: `tied` in fits of whose spread more than rounding is lost.

    Also to the ``known`` values (m,) of another fit, where they differ by no more than ``within``. In fits like these,
    of which f hardly varies, a map and the values that it is of must be the same; elsewhere digits do not matter.
    """
    for b in np.flatnonzero(resolution > _COARSE * np.ptp(f, axis=1)):
        found = tied(f[b][:, None], resolution[[b]])
        f[b] = found[:, 0] if known is None else tied_to(found, known[:, None], np.array([within]))[:, 0]
    return f
