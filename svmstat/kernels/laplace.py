"""The Laplace kernel."""

from dataclasses import dataclass
from functools import partial

from svmstat.kernels.formulas import Radial, widths
from svmstat.kernels.gamma import check_gamma, resolve_gamma
from svmstat.kernels.names import named
from svmstat.kernels.pairs import FloatArray, distances
from svmstat.kernels.parameters import parameter


@named("laplace")
@dataclass(frozen=True, slots=True)
class Laplace(Radial):
    """K(x, z) = exp(−γ Σ_k |x_k − z_k|), γ > 0: functions with kinks, not as smooth as those of the rbf kernel.

    Parameters
    ----------
    gamma : float, "scale" or "median"
        "scale" is 1/(p·s), s the standard deviation of all entries of the design; "median" is 1/m, m the median
        distance Σ_k |x_ik − x_jk| of two rows. See `svmstat.kernels.resolve_gamma`.

    Notes
    -----
    It is a product of one kernel for each column, scikit-learn's ``laplacian_kernel``; ``laplacedot`` of R's kernlab
    has the Euclidean distance in the place of the sum.

    Examples
    --------
    >>> import numpy as np
    >>> Laplace(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, -1.0]])).round(4)
    array([[0.3679]])
    """

    gamma: float | str = parameter("scale", check_gamma, learn=partial(resolve_gamma, power=1), grid=widths)

    def exponents(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write −γ Σ_k |x_ik − z_jk| into ``out`` (m, n)."""
        distances(points, columns, 1, -float(self.gamma), out)
