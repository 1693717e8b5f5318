"""Rough solutions where K = AA' with a factor A (n, r) of few columns: Newton on the primal, its hinge made smooth.

With f = Aw + b and t = y(s − f), what a row falls short of its margin, the primal is ½‖w‖² + Σ u max(t, 0). In the zone
0 < t < h the hinge is replaced by t²/2h, beyond it by t − h/2. A minimum has w = A'β with β = y u clip(t/h, 0, 1) and
Σβ = 0: it is feasible, and optimal as h goes to zero. Only rows in the zone have a second derivative, and only rows near
it can come into it: h falls step by step, and each step works on these rows alone.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from svmstat.solver.case import Case
from svmstat.solver.gram import Floats

_WIDEST = 3.0
"""The first h, in units of the largest margin."""

_NARROWER = 4.0
_BAND, _FIRST_BAND = 4.0, 16.0
"""Rows within so many of the last h of the zone take part."""

_ALMOST_ALL = 0.5
_WRONG = 0.1
_LEAST = 1e-12
_STEPS = 30
_HALVINGS = 40
_SAMPLE = 10_000
_SAMPLED_TO = 0.05
_WARM = 0.02
_RETURNS = 5
_CLOSE = 1e-3
_SETTLED = 1e-4
_NOISE = float(np.finfo(float).eps) ** 2


@dataclass(slots=True)
class Normal:
    """A function f = Aw + b: w (r,) and b."""

    w: Floats
    b: float


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the primal: A (m, r), labels y, linear terms s and bounds u (m,); what rows beyond them add to Σ β(x, 1)."""

    A: Floats
    y: Floats
    s: Floats
    u: Floats
    fixed: Floats
    fixed_sum: float

    def some(self, chosen: NDArray[np.bool_], beyond: NDArray[np.bool_]) -> "Rows":
        """The chosen rows; those beyond the zone are at their bounds."""
        beta = self.y * self.u * beyond
        fixed, total = self.fixed + beta @ self.A, self.fixed_sum + float(beta.sum())
        return Rows(self.A[chosen], self.y[chosen], self.s[chosen], self.u[chosen], fixed, total)

    def short(self, at: Normal) -> Floats:
        """t (m,)."""
        return np.asarray(self.y * (self.s - self.A @ at.w - at.b))


def smooth(case: Case, factor: Floats, start: Normal | None, enough: int) -> tuple[Floats, Normal]:
    """α (n,) at the end, which may miss Σβ = 0 by rounding, and the function; ``enough`` rows in the zone end it."""
    y, u = np.where(case.hi > 0.0, 1.0, -1.0), case.hi - case.lo
    every = Rows(factor, y, case.linear, u, np.zeros(factor.shape[1]), 0.0)
    h = _WIDEST * float(np.abs(case.linear).max())
    least, at = _LEAST * h, Normal(np.zeros(factor.shape[1]), 0.0) if start is None else start
    if start is None and len(y) > 3 * _SAMPLE:
        h = _on_sample(every, at, h)
    elif start is not None:
        h *= _WARM
    for _ in range(_RETURNS):
        h = _narrow(every, at, h, least, enough)
        t = every.short(at)
        alpha = u * np.clip(t / h, 0.0, 1.0)
        if np.linalg.norm(at.w - (y * alpha) @ factor) <= _CLOSE * np.linalg.norm(at.w):
            break
        h *= _NARROWER**2
    return alpha, at


def _on_sample(every: Rows, at: Normal, h: float) -> float:
    """The first steps, whose errors are larger than those of a sample, on a sample; the h that comes next."""
    n = len(every.y)
    picked = np.random.default_rng(20061126).choice(n, _SAMPLE, replace=False)
    sample = Rows(every.A[picked], every.y[picked], every.s[picked], n / _SAMPLE * every.u[picked], every.fixed, 0.0)
    last = _SAMPLED_TO * h
    while h > last:
        minimise(sample, at, h, _SETTLED)
        h /= _NARROWER
    return h


def _narrow(rows: Rows, at: Normal, h: float, least: float, enough: int) -> float:
    """Move ``at`` to the minimum for smaller and smaller h, each on the rows near the zone of the last; the last h."""
    t, band = rows.short(at), _FIRST_BAND * h
    while True:
        beyond = t >= h + band
        near = (t > -band) & ~beyond
        whole = np.count_nonzero(near) > _ALMOST_ALL * len(near)
        part, before = rows if whole else rows.some(near, beyond), replace(at)
        inside = minimise(part, at, h, _SETTLED)
        t_new = rows.short(at)
        if not whole and np.count_nonzero(~near & np.where(beyond, t_new < h, t_new > 0.0)) > _WRONG * inside:
            at.w, at.b, band = before.w, before.b, 4.0 * band
            continue
        if inside <= enough or h <= least:
            minimise(part, at, h, 0.0)
            return h
        rows, t, h = part, t_new[near] if not whole else t_new, h / _NARROWER
        band = _BAND * h


def minimise(rows: Rows, at: Normal, h: float, settled: float) -> int:
    """Move ``at`` to the minimum for this h; how many rows are in the zone there."""
    r = len(at.w)
    t = rows.short(at)
    for _ in range(_STEPS):
        inside = (t > 0.0) & (t < h)
        beta = rows.y * rows.u * np.clip(t / h, 0.0, 1.0)
        gradient = np.append(at.w - rows.fixed - beta @ rows.A, -rows.fixed_sum - beta.sum())
        d = rows.u[inside] / h
        Z = rows.A[inside]
        H = np.empty((r + 1, r + 1))
        H[:r, :r] = (Z.T * d) @ Z
        H.flat[: r * (r + 2) : r + 2] += 1.0
        H[r, :r] = H[:r, r] = d @ Z
        H[r, r] = d.sum()
        scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), np.finfo(float).tiny))
        try:
            step = -scale * cho_solve(cho_factor(H * scale * scale[:, None]), scale * gradient)
        except LinAlgError:
            break
        decrement = -float(gradient @ step)
        if decrement <= settled * h * float(rows.u[inside].sum()) + _NOISE * float(at.w @ at.w):
            break
        slope = rows.y * (rows.A @ step[:r] + step[r])  # t falls by it
        eta, t_new = _along(rows, at, step, t, slope, h)
        at.w = at.w + eta * step[:r]
        at.b = at.b + eta * step[r]
        same = eta == 1.0 and np.array_equal((t_new > 0.0) & (t_new < h), inside) and np.array_equal(t_new >= h, t >= h)
        t = t_new
        if same:
            break
    return int(np.count_nonzero((t > 0.0) & (t < h)))


def _along(rows: Rows, at: Normal, step: Floats, t: Floats, slope: Floats, h: float) -> tuple[float, Floats]:
    """How far to go along the step: its end if the objective still falls there or hardly rises, else where it is least."""
    r = len(at.w)
    ww, wd = float(step[:r] @ step[:r]), float(at.w @ step[:r])
    weight = rows.u * slope
    fixed = -float(rows.fixed @ step[:r]) - rows.fixed_sum * float(step[r])

    def derivative(eta: float, t_there: Floats) -> float:
        return wd + eta * ww + fixed - float(weight @ np.clip(t_there / h, 0.0, 1.0))

    first = derivative(0.0, t)
    low, high, eta, value = 0.0, 1.0, 1.0, 0.0
    low_value = first
    high_value = None
    for _ in range(_HALVINGS):
        t_there = t - eta * slope
        value = derivative(eta, t_there)
        if abs(value) <= 0.1 * abs(first) or (high_value is None and eta >= 1.0 and value < 0.0 and eta >= 8.0):
            break
        if value < 0.0:
            low, low_value = eta, value
            if high_value is None:
                eta *= 2.0
                continue
        else:
            high, high_value = eta, value
        falls = low_value - high_value
        eta = low + (high - low) * (min(max(low_value / falls, 0.1), 0.9) if falls < 0.0 else 0.5)
    return eta, t - eta * slope
