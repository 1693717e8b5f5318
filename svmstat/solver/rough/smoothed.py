"""Rough solutions where K = AA' with a factor A (n, r) of few columns: Newton on the primal, its hinge made smooth.

With f = Aw + b and t = y(s − f), what a row falls short of its margin, the primal is ½‖w‖² + Σ u max(t, 0). In the zone
0 < t < h the hinge is replaced by t²/2h, beyond it by t − h/2. At the minimum w = A'β with β = y u clip(t/h, 0, 1) and
Σβ = 0: β is feasible, and optimal as h goes to zero. Only rows in the zone have a second derivative, and only rows
near it can come into it: h falls step by step, and each step works on the rows that the last one left near.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from svmstat._tools.arrays import Floats
from svmstat._tools.doubles import EPS
from svmstat.solver.case import Case

_WIDEST, _NARROWER, _LEAST = 3.0, 4.0, 1e-12
"""The first h, its fall from step to step, and the last h, in units of the largest margin."""

_WARM = 0.02
"""The first h from a neighbouring solution."""

_SAMPLE, _SAMPLED_TO = 10_000, 0.05
"""Rows of a sample, and the h down to which its errors do not count."""

SAMPLED_FROM = 3 * _SAMPLE
"""With more rows a sample pays, and leads to the minimum sooner than a neighbouring solution."""

_BAND, _FIRST_BAND = 4.0, 16.0
"""So many h on either side of the zone rows are near it; more where the function has only been guessed."""

_ALMOST_ALL = 0.5
"""With a larger share of the rows near it all are worked on, in place."""

_WRONG = 0.1
"""If more rows, as a share of those in the zone, come into it from far away, the band was too narrow."""

_SETTLED = 1e-4
"""Newton ends when a step gains less than this share of what smoothing takes from the objective."""

_NOISE = EPS**2
_STEPS = 30

_CLOSE, _RETURNS = 1e-3, 5
"""How near w must be to A'β, relatively, and how often a wider h is gone back to where it is not."""

_SEARCH, _FLAT, _FARTHEST = 40, 0.1, 8.0
"""The line search: most trials, the share of the first slope that may be left, and the longest step."""


@dataclass(slots=True)
class Normal:
    """A function f = Aw + b: w (r,) and b."""

    w: Floats
    b: float


@dataclass(frozen=True, slots=True)
class Primal:
    """Rows of the primal, and what those that are left out add to it.

    Attributes
    ----------
    A : (m, r) their factor
    y, s, u : (m,) labels, linear terms, bounds
    fixed, total : (r,) Σβx and Σβ of the rows that are left out
    """

    A: Floats
    y: Floats
    s: Floats
    u: Floats
    fixed: Floats
    total: float

    def narrowed(self, chosen: NDArray[np.bool_], beyond: NDArray[np.bool_]) -> "Primal":
        """The chosen rows; of the others those beyond the zone are at their bounds."""
        beta = self.y * self.u * beyond
        fixed, total = self.fixed + beta @ self.A, self.total + float(beta.sum())
        return Primal(self.A[chosen], self.y[chosen], self.s[chosen], self.u[chosen], fixed, total)

    def short(self, at: Normal) -> Floats:
        """t (m,)."""
        return np.asarray(self.y * (self.s - self.A @ at.w - at.b))


def smoothed(case: Case, factor: Floats, start: Normal | None, enough: int) -> Floats:
    """α (n,) from a start or from zero, of which Σβ = 0 holds to rounding, at an h with ``enough`` rows in the zone."""
    y, u = np.where(case.hi > 0.0, 1.0, -1.0), case.hi - case.lo
    every = Primal(factor, y, case.linear, u, np.zeros(factor.shape[1]), 0.0)
    h = _WIDEST * float(np.abs(case.linear).max())
    least, at = _LEAST * h, Normal(np.zeros(factor.shape[1]), 0.0) if start is None else start
    if start is not None:
        h *= _WARM
    elif len(y) > SAMPLED_FROM:
        h = _sampled(every, at, h)
    for _ in range(_RETURNS):
        h = _narrow(every, at, h, least, enough)
        alpha = np.asarray(u * np.clip(every.short(at) / h, 0.0, 1.0))
        if np.linalg.norm(at.w - (y * alpha) @ factor) <= _CLOSE * np.linalg.norm(at.w):
            break
        h *= _NARROWER**2
    return alpha


def _sampled(every: Primal, at: Normal, h: float) -> float:
    """Move ``at`` to where a sample has its minimum, while h is wide; the h that comes next."""
    n, last = len(every.y), _SAMPLED_TO * h
    rows = np.random.default_rng(20061126).choice(n, _SAMPLE, replace=False)
    sample = replace(every, A=every.A[rows], y=every.y[rows], s=every.s[rows], u=n / _SAMPLE * every.u[rows])
    while h > last:
        _minimise(sample, at, h, _SETTLED)
        h /= _NARROWER
    return h


def _narrow(rows: Primal, at: Normal, h: float, least: float, enough: int) -> float:
    """Move ``at`` to the minimum for smaller and smaller h; the last h."""
    t, band = rows.short(at), _FIRST_BAND * h
    while True:
        beyond = t >= h + band
        near = (t > -band) & ~beyond
        whole = np.count_nonzero(near) > _ALMOST_ALL * len(near)
        part, before = rows if whole else rows.narrowed(near, beyond), replace(at)
        inside = _minimise(part, at, h, _SETTLED)
        t_new = rows.short(at)
        if not whole and np.count_nonzero(~near & np.where(beyond, t_new < h, t_new > 0.0)) > _WRONG * inside:
            at.w, at.b, band = before.w, before.b, _NARROWER * band
            continue
        if inside <= enough or h <= least:
            _minimise(part, at, h, 0.0)
            return h
        rows, t, h = part, t_new if whole else t_new[near], h / _NARROWER
        band = _BAND * h


def _minimise(rows: Primal, at: Normal, h: float, settled: float) -> int:
    """Move ``at`` to the minimum for this h; how many rows are in the zone there."""
    r, t = len(at.w), rows.short(at)
    inside = (t > 0.0) & (t < h)
    for _ in range(_STEPS):
        beta = rows.y * rows.u * np.clip(t / h, 0.0, 1.0)
        gradient = np.append(at.w - rows.fixed - beta @ rows.A, -rows.total - beta.sum())
        try:
            step = _newton_step(rows.A[inside], rows.u[inside] / h, gradient)
        except LinAlgError:  # no row is in the zone: nothing tells where b is best
            break
        gain = -float(gradient @ step)
        if gain <= settled * h * float(rows.u[inside].sum()) + _NOISE * float(at.w @ at.w):
            break
        slope = rows.y * (rows.A @ step[:r] + step[r])  # t falls by it
        eta = _length(rows, at, step, t, slope, h)
        at.w, at.b = at.w + eta * step[:r], float(at.b + eta * step[r])
        beyond, t_before = t >= h, inside
        t = t - eta * slope
        inside = (t > 0.0) & (t < h)
        if eta == 1.0 and np.array_equal(inside, t_before) and np.array_equal(t >= h, beyond):
            break  # the objective was quadratic all the way
    return int(np.count_nonzero(inside))


def _newton_step(Z: Floats, d: Floats, gradient: Floats) -> Floats:
    """−H⁻¹ times the gradient (r + 1,); H is the identity over w plus Σ d_i (z_i, 1)(z_i, 1)' over rows Z (m, r)."""
    r = Z.shape[1]
    H = np.empty((r + 1, r + 1))
    H[:r, :r] = (Z.T * d) @ Z + np.eye(r)
    H[r, :r] = H[:r, r] = d @ Z
    H[r, r] = d.sum()
    scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), np.finfo(float).tiny))
    return np.asarray(-scale * cho_solve(cho_factor(H * scale * scale[:, None]), scale * gradient))


def _length(rows: Primal, at: Normal, step: Floats, t: Floats, slope: Floats, h: float) -> float:
    """How far to go along the step: to where the objective hardly falls or rises, by regula falsi on its derivative."""
    w, b = step[:-1], float(step[-1])
    constant = float(at.w @ w) - float(rows.fixed @ w) - rows.total * b
    squared, weight = float(w @ w), rows.u * slope

    def derivative(eta: float) -> float:
        return constant + eta * squared - float(weight @ np.clip((t - eta * slope) / h, 0.0, 1.0))

    low, high, eta = 0.0, np.inf, 1.0
    first = at_low = derivative(0.0)
    at_high = np.inf
    for _ in range(_SEARCH):
        value = derivative(eta)
        if abs(value) <= _FLAT * abs(first) or (value < 0.0 and np.isinf(high) and eta >= _FARTHEST):
            break
        if value < 0.0:
            low, at_low = eta, value
        else:
            high, at_high = eta, value
        if np.isinf(high):
            eta *= 2.0
        else:
            share = at_low / (at_low - at_high) if at_low < at_high else 0.5
            eta = low + (high - low) * min(max(share, 0.1), 0.9)
    return eta
