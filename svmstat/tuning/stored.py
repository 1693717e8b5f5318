"""The gram matrices of the terms of an additive kernel, kept for as long as a search moves their weights θ."""

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat.kernels import Additive, Kernel, Rows
from svmstat.kernels.rows import Indices
from svmstat.machine import Groups, Known
from svmstat.solver import DEFAULT_BUDGET, Gram


class StoredTerms:
    """K_t (G, G) for the rows that differ: every Σ_t θ_t K_t is a sum of these, and none is computed twice.

    They are kept if all of them fit the budget of a gram matrix, 2 GiB; beyond it they are computed in blocks as they
    are asked for.

    Parameters
    ----------
    kernel : Additive
        Its θ do not matter.
    X : (n, p) rows of the design
    groups : the rows that are the same observation
    budget : bytes that all matrices may take
    """

    __slots__ = ("groups", "kernel", "matrices", "rows")

    def __init__(self, kernel: Additive, X: Floats, groups: Groups, *, budget: int = DEFAULT_BUDGET) -> None:
        self.kernel, self.groups, self.rows = kernel, groups, X[groups.first]
        fits = 8 * len(self.rows) ** 2 * len(kernel.names) <= budget
        self.matrices = [each.bind(self.rows).gram() for each in kernel.kernels] if fits else None

    def known(self, kernel: Kernel) -> Known:
        """The gram matrix of the kernel with its own θ."""
        assert isinstance(kernel, Additive)
        if self.matrices is None:
            return Known(self.groups, Gram(kernel.bind(self.rows)))
        active = [(theta, K) for theta, K in zip(kernel.theta, self.matrices, strict=True) if theta > 0.0]
        return Known(self.groups, Gram(WeightedSum(active, len(self.rows))))

    def functions(self, rows: Codes, beta: Floats) -> Floats:
        """K_t β (m, T) for β (m,) on some of the rows, and at these."""
        support = np.flatnonzero(beta)
        at = rows[support]
        if self.matrices is not None:
            return np.column_stack([K[np.ix_(rows, at)] @ beta[support] for K in self.matrices])
        points = self.rows[rows], self.rows[at]
        return np.column_stack([each(*points) @ beta[support] for each in self.kernel.kernels])


class WeightedSum(Rows):
    """Σ θ K (n, n) of matrices that are at hand, added in their order."""

    __slots__ = ("diagonal", "terms")

    def __init__(self, terms: list[tuple[float, Floats]], n: int) -> None:
        self.terms = terms
        self.diagonal = np.zeros(n)
        for theta, K in terms:
            self.diagonal += theta * K.diagonal()

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """K[rows][:, columns]."""
        parts = (theta * K[rows][:, columns] for theta, K in self.terms)
        out = np.ascontiguousarray(next(parts))
        for part in parts:
            out += part
        return out

    def gram(self) -> Floats:
        """The whole matrix."""
        (theta, K), *others = self.terms
        out, scratch = theta * K, np.empty_like(K)
        for theta, K in others:
            out += np.multiply(K, theta, out=scratch)
        return out
