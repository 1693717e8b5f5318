"""A quadratic programme over a box by an interior-point method, and the matrix of its conditions of optimality."""

from types import SimpleNamespace

import clarabel
import numpy as np
import scipy.sparse as sp


def box_program(K, linear, lo, hi, sums=None, totals=(0.0,), tolerance=1e-13):
    """The β (n,) that minimises ½β'Kβ − s'β for lo ≤ β ≤ hi and sums · β = totals (k,), by default Σβ = 0."""
    n = len(linear)
    sums = np.ones((1, n)) if sums is None else sums
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    found = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(K)), -linear, sp.csc_matrix(np.vstack([sums, np.eye(n), -np.eye(n)])),
        np.concatenate([totals, hi, -lo]), [clarabel.ZeroConeT(len(sums)), clarabel.NonnegativeConeT(2 * n)], settings,
    ).solve()  # fmt: skip
    return SimpleNamespace(values=np.array(found.x), accurate=str(found.status) == "Solved")


def bordered(K):
    """[[0, 1'], [1, K]], (m + 1, m + 1)."""
    return np.block([[np.zeros((1, 1)), np.ones((1, len(K)))], [np.ones((len(K), 1)), K]])
