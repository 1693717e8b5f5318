"""The one problem: a quadratic objective, a box and a sum constraint."""

from dataclasses import dataclass

import numpy as np

from svmstat.solver.gram import Floats, Gram


@dataclass(frozen=True, slots=True)
class BoxQP:
    """The dual of the support vector machine (spec, section 1).

        min_α  ½ Σ_ij α_i α_j y_i y_j K_ij − Σ_i m_i α_i    s.t.  0 ≤ α_i ≤ u_i,  Σ_i y_i α_i = 0

    The solver works with β_i = y_i α_i, in which the signs leave the kernel:

        min_β  ½ β'Kβ − s'β    s.t.  lo ≤ β ≤ hi,  Σβ = 0        with s_i = y_i m_i

    Parameters
    ----------
    gram : the kernel matrix K, n × n
    signs : (n,) labels y, −1 or +1
    margin : (n,) margins m
    upper : (n,) upper bounds u ≥ 0
    """

    gram: Gram
    signs: Floats
    margin: Floats
    upper: Floats

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.gram.n

    @property
    def linear(self) -> Floats:
        """(n,) the linear term s."""
        return self.signs * self.margin

    def box(self, upper: Floats) -> tuple[Floats, Floats]:
        """The bounds (lo, hi) of β for upper bounds of any shape (..., n)."""
        return np.where(self.signs > 0, 0.0, -upper), np.where(self.signs > 0, upper, 0.0)
