"""A kernel by its values at some of the rows, the landmarks: an approximation with an explicit map of few columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from svmstat._tools.checks import at_least
from svmstat._tools.repeats import distinct_rows, squares
from svmstat.errors import ArgumentError
from svmstat.kernels.base import Kernel, Wrapped, check_part
from svmstat.kernels.gram_checks import INDEFINITE
from svmstat.kernels.pairs import FloatArray, plain, products
from svmstat.kernels.points import PointKernel

_RANK = 1e-10
"""Smaller eigenvalues of the landmarks' matrix, as parts of the largest one, are rounding."""

_CHUNK = 2**22
"""Kernel values that are computed at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """Where the map comes from, equal to another where all numbers are.

    Attributes
    ----------
    rows : (m, p) the landmarks
    map : (m, r) φ(x) = map' K_1(landmarks, x): eigenvectors of K_1 at the landmarks over the roots of their values
    """

    rows: FloatArray
    map: FloatArray

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Landmarks) and self._numbers() == other._numbers()

    def __hash__(self) -> int:
        return hash(self._numbers())

    def _numbers(self) -> tuple[object, ...]:
        return self.rows.shape, self.rows.tobytes(), self.map.tobytes()


@dataclass(frozen=True, slots=True, repr=False)
class Nystrom(Wrapped, PointKernel):
    """K(x, z) = k(x)' M⁻¹ k(z), k(x) the values K_1(x, l) at m landmarks l and M those among them.

    It is K_1 itself where x or z is a landmark, and what K_1 has beyond is zero elsewhere: an approximation of K_1, the
    better the larger the part of its trace that it captures, which a summary prints. With r ≤ m columns of a map the
    fits of many rows take n r numbers and not n²: for large n the road of the linear kernel.

    Parameters
    ----------
    kernel : Kernel
        K_1.
    landmarks : int
        m, drawn from the different training rows; all of them if there are no more.
    seed : int
        On which alone the draw depends; it is from the rows by their distance from the mean, which is the same whatever
        the order of terms and the sign of a predictor, and among rows as far by their values.
    at : Landmarks, optional
        The landmarks, which `resolve` finds.

    References
    ----------
    Williams & Seeger (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from svmstat.kernels import RBF
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> kernel = Nystrom(RBF(gamma=0.5), landmarks=2).resolve(X)
    >>> kernel(X, X).diagonal().round(4)
    array([1.    , 0.3844, 1.    ])
    """

    kernel: Kernel
    landmarks: int = 1000
    seed: int = 0
    at: Landmarks | None = None
    name: ClassVar[str] = "nystrom"
    is_product: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_part("kernel", self.kernel)
        if self.kernel.parts:
            raise ArgumentError(f"kernel={self.kernel!r} is not allowed: landmarks are of a kernel that has no parts.")
        at_least("landmarks", self.landmarks, 2)
        at_least("seed", self.seed, 0)

    def written(self, text: Callable[[Any], str]) -> str:
        """Nystrom(K_1, landmarks=m)."""
        seed = f", seed={self.seed}" if self.seed else ""
        return f"Nystrom({text(self.kernel)}, landmarks={self.landmarks}{seed})"

    @property
    def parameters(self) -> dict[str, Any]:
        """How many landmarks there are."""
        return {"landmarks": self.landmarks if self.at is None else len(self.at.rows)}

    @property
    def unresolved(self) -> tuple[str, ...]:
        """The names of the parameters that have no number yet, the landmarks among them."""
        return (*(() if self.at is not None else ("landmarks",)), *self.kernel.unresolved)

    def resolve(
        self, X: FloatArray, weights: FloatArray | None = None, columns: Mapping[str, slice] | None = None
    ) -> Kernel:
        """The kernel resolved on these rows, with landmarks among them unless it has some."""
        kernel = self.kernel.resolve(X, weights, columns)
        if self.at is not None:
            return replace(self, kernel=kernel)
        X = np.asarray(X, dtype=float)
        w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
        X, w = X[w > 0], w[w > 0]
        different = X[distinct_rows(X, w).first]
        if len(different) > self.landmarks:
            drawn = np.random.default_rng(self.seed).choice(len(different), self.landmarks, replace=False)
            from_mean = np.argsort(squares(different - different.mean(axis=0)), kind="stable")
            different = different[np.sort(from_mean[drawn])]
        return replace(self, kernel=kernel, at=landmarks_of(kernel, different))

    def prepare(self, X: FloatArray) -> FloatArray:
        """φ (n, r)."""
        return self.features(X)

    def fill(self, points: FloatArray, columns: FloatArray, out: FloatArray) -> None:
        """Write φ_i'φ_j into ``out`` (m, n)."""
        products(points, columns, out)

    def features(self, X: FloatArray) -> FloatArray:
        """φ(x_i) (n, r)."""
        self.require_resolved()
        assert self.at is not None
        X, out = np.asarray(X, dtype=float), np.empty((len(X), self.at.map.shape[1]))
        height = max(1, _CHUNK // len(self.at.rows))
        for start in range(0, len(X), height):
            np.matmul(
                self.kernel(X[start : start + height], self.at.rows), self.at.map, out=out[start : start + height]
            )
        return out

    def without_constant(self) -> Kernel:
        """The kernel itself: what K_1 has of a constant is not apart in it."""
        return self


def landmarks_of(kernel: Kernel, rows: FloatArray) -> Landmarks:
    """The map of a resolved kernel from some rows (m, p)."""
    values, vectors = np.linalg.eigh(kernel.bind(plain(rows)).gram())
    if values[0] < -INDEFINITE * np.abs(values).max():
        raise ArgumentError(
            f"kernel=Nystrom({kernel}) is not allowed: {kernel} has clearly negative eigenvalues on these rows, and no "
            "map stands for them; kernel= takes it as it is."
        )
    kept = values > _RANK * values[-1]
    whole = np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))  # as a file has it: last bits hang on that
    return Landmarks(np.ascontiguousarray(rows), whole)
