"""What the two kernels are given, and what they make of it, in the same way for every language."""

from typing import NamedTuple

import numpy as np

TOLERANCE, MAX_STEPS, MAX_EVENTS = 1e-6, 1_000_000, 5000


class Descent(NamedTuple):
    """A call of `smo`: gram (n, n), lo, hi, beta and h (n,); the first p rows are a class with a sum of its own."""

    gram: np.ndarray
    p: int
    lo: np.ndarray
    hi: np.ndarray
    beta: np.ndarray
    h: np.ndarray

    def by(self, function, max_steps=MAX_STEPS):
        """What a function that is called as `smo` finds: β, h, steps and violation."""
        beta, h = self.beta.copy(), self.h.copy()
        return beta, h, *function(self.gram, self.p, self.lo, self.hi, beta, h, TOLERANCE, max_steps)


class Walks(NamedTuple):
    """Calls of `walk`: T (w, w), T_b, side and diagonal (w,) of the tableau, b (k,), and the other arrays (k, w)."""

    T: np.ndarray
    T_b: np.ndarray
    side: np.ndarray
    diagonal: np.ndarray
    beta: np.ndarray
    g: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    status: np.ndarray
    b: np.ndarray
    dlo: np.ndarray
    dhi: np.ndarray

    def by(self, function):
        """What a function that is called as `walk_all` finds: where each walk ends, its code and its events.

        b, which the package does not follow, is left out.
        """
        ends = [each.copy() for each in self[4:10]]
        code, events = np.empty(len(self.b), np.int8), np.empty(len(self.b), np.int64)
        function(*self[:4], *ends, self.dlo, self.dhi, MAX_EVENTS, code, events)
        return *ends[:-1], code, events


def same(first, second):
    """Whether two answers agree in every bit, but for the signs of zeros, which numba is told not to keep."""
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))
