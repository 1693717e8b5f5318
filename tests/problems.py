"""Problems of the solver that several files of tests pose, and what is asked of them."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from svmstat.kernels import RBF, Linear, Precomputed
from svmstat.solver import BoxQP, Gram, LowRank
from svmstat.solver.case import case_of
from svmstat.solver.gram import Room
from svmstat.solver.rough.descent import descend

seeds = st.integers(0, 2**32 - 1)


def size(values):
    return max(1.0, float(np.abs(values).max(initial=0.0)))


def clouds(n, p=2, seed=0, apart=1.0):
    """Rows (n, p) and labels, + and − in turn, that far apart in each column."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, p)) + 0.5 * apart * y[:, None], y


def problem(X, y, upper, kernel=None, **options):
    gram = Gram((kernel or RBF(0.5)).bind(X), **options)
    return BoxQP(gram, y, np.ones(len(y)), np.broadcast_to(upper, y.shape).astype(float))


def with_upper(qp, upper):
    return replace(qp, upper=upper)


def part(qp, rows):
    """The problem of some rows only, any of them possibly several times."""
    K = np.ascontiguousarray(qp.gram.complete()[np.ix_(rows, rows)])
    gram = Gram(Precomputed().bind(K))
    return replace(qp, gram=gram, signs=qp.signs[rows], margin=qp.margin[rows], upper=qp.upper[rows])


def two_classes(qp, upper=None):
    upper = qp.upper if upper is None else upper
    return bool((upper[qp.signs > 0] > 0).any() and (upper[qp.signs < 0] > 0).any())


def rough(qp, tolerance):
    """The bounds, and β and h of a descent to a violation."""
    lo, hi = qp.box(qp.upper)
    beta, h = np.zeros(qp.n), qp.linear.copy()
    descend(case_of(qp, qp.upper), beta, h, tolerance, 1_000_000, Room())
    return lo, hi, beta, h


class Counting:
    """A source of kernel values that counts them."""

    def __init__(self, source):
        self.source, self.diagonal, self.asked, self.whole = source, source.diagonal, 0, 0

    def block(self, rows, columns):
        out = self.source.block(rows, columns)
        self.asked += out.size
        return out

    def gram(self):
        self.whole += 1
        return self.source.gram()


def posed(X, y, upper=1.0, margin=1.0):
    """The linear kernel's problem, by the factor and by kernel values."""
    X, y = np.ascontiguousarray(X, float), np.asarray(y, float)
    given = (y, np.broadcast_to(margin, y.shape).astype(float), np.broadcast_to(upper, y.shape).astype(float))
    return BoxQP(LowRank(X), *given), BoxQP(Gram(Linear().bind(X)), *given)


def noisy(n, p, seed=1, shift=0.0):
    """Rows (n, p) in general position and labels by a linear score with noise, fewer + for a larger shift."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X.sum(axis=1) / np.sqrt(p) + 0.5 * rng.normal(size=n) > shift, 1.0, -1.0)


AWKWARD = "separable", "rare", "column of zeros", "columns alike", "few values", "one column"
"""Designs of `awkward`."""


def awkward(case, n):
    """Rows (n, 5), of one column (n, 1), and labels, of a design that linear kernels may stumble over."""
    X, y = noisy(n, 5, shift=2.5 if case == "rare" else 0.0)
    if case == "separable":
        y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
    if case == "column of zeros":
        X[:, 2] = 0.0
    if case == "columns alike":
        X[:, 3] = X[:, 1]
    if case == "few values":
        X = np.round(X)
    if case == "one column":
        X = X[:, :1]
    return X, y
