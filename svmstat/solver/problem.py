"""The one problem: a quadratic objective, a box and a sum constraint."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.solver.gram import Gram, Rows


class Sums(NamedTuple):
    """The sums that are given.

    Attributes
    ----------
    group : (n,) which of them a row belongs to
    target : (lead,) what they are: 0 for Σβ, or 1 and −1 for those of the classes
    """

    group: NDArray[np.int64]
    target: Floats


@dataclass(frozen=True, slots=True)
class BoxQP:
    """The dual of the support vector machine, explained in docs/solver.md.

        min_α  ½ Σ_ij α_i α_j y_i y_j K_ij − Σ_i m_i α_i    s.t.  0 ≤ α_i ≤ u_i,  Σ_i y_i α_i = 0

    The solver works with β_i = y_i α_i, in which the signs leave the kernel:

        min_β  ½ β'Kβ − s'β    s.t.  lo ≤ β ≤ hi,  Σβ = 0        with s_i = y_i m_i

    With a ``total`` the sum of each class is given [004: D_2ν]; Σα ≥ ν = 2·total is an equality at the optimum:

        min_α  ½ Σ_ij α_i α_j y_i y_j K_ij    s.t.  0 ≤ α_i ≤ u_i,  Σ_{y=+1} α_i = Σ_{y=−1} α_i = total

    The solver then works with β_i = y_i α_i / total, the weights of a point of either reduced convex hull, whose
    difference is to be as short as possible: Σβ = 1 over the events, −1 over the others, and s = 0.

    Parameters
    ----------
    gram : the kernel matrix K, n × n
    signs : (n,) labels y, −1 or +1
    margin : (n,) margins m; one with a total
    upper : (n,) upper bounds u ≥ 0
    total : the sum of α over each class, > 0; None if only the sums of the two are to agree
    point : (n,) a number for each row, the same for rows whose kernel values are; None if no two rows are such
    """

    gram: Gram
    signs: Floats
    margin: Floats
    upper: Floats
    total: float | None = None
    point: Rows | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.gram.n

    @property
    def linear(self) -> Floats:
        """(n,) the linear term s."""
        return self.signs * self.margin if self.total is None else np.zeros(self.n)

    @property
    def sums(self) -> Sums:
        """The sums of β that are given: that of all rows, or that of the events and that of the others."""
        if self.total is None:
            return Sums(np.zeros(self.n, np.int64), np.zeros(1))
        return Sums(np.where(self.signs > 0, 0, 1), np.array([1.0, -1.0]))

    def box(self, upper: Floats) -> tuple[Floats, Floats]:
        """The bounds (lo, hi) of β for upper bounds of any shape (..., n)."""
        return self.sides(upper if self.total is None else upper / self.total)

    def sides(self, caps: Floats) -> tuple[Floats, Floats]:
        """The same for bounds of |β|, of any shape (..., n)."""
        return np.where(self.signs > 0, 0.0, -caps), np.where(self.signs > 0, caps, 0.0)
