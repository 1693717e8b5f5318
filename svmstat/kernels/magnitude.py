"""Kernel values that double precision can compute with: found before the matrix is, so that nothing has to overflow."""

import numpy as np

from svmstat.errors import DataError
from svmstat.kernels.pairs import FloatArray

LARGEST = 150.0
"""log10 |K| at most, and at least its negative, since a solution is made of sums of products of two kernel values."""


def check_magnitude(exponent: float, what: str, remedy: str) -> None:
    """Refuse a kernel by log10 of its largest absolute value; minus infinity, for a kernel that is zero, is allowed.

    Raises
    ------
    DataError
        When products of two such values overflow or vanish.

    Examples
    --------
    >>> check_magnitude(310.2, "kernel='linear'", "use scale=True")
    Traceback (most recent call last):
    svmstat.errors.DataError: kernel='linear' has values of about 1e+310 on these data, and a fit can be computed from
    values between 1e-150 and 1e+150: use scale=True.
    """
    if exponent == -np.inf or -LARGEST <= exponent <= LARGEST:
        return
    size = f"values of about 1e{exponent:+.0f}" if np.isfinite(exponent) else "values that are infinite"
    raise DataError(
        f"{what} has {size} on these data, and a fit can be computed from values between "
        f"1e-{LARGEST:.0f} and 1e+{LARGEST:.0f}: {remedy}."
    )


def log10_largest(values: FloatArray) -> float:
    """log10 of the largest absolute value of an array of any shape, −∞ if all are zero or there are none.

    Examples
    --------
    >>> log10_largest(np.array([[0.01, -100.0]]))
    2.0
    """
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    return float(np.log10(largest)) if largest > 0.0 else -np.inf


def log10_squared_norm(X: FloatArray) -> float:
    """log10 of the largest x'x over the rows of X (n, p), although x'x itself may overflow or vanish.

    Examples
    --------
    >>> round(log10_squared_norm(np.array([[3e200, 4e200], [0.0, 1.0]])), 4)
    401.3979
    """
    exponent = log10_largest(X)
    if not np.isfinite(exponent):
        return exponent
    largest = np.abs(X).max()
    return float(2.0 * exponent + np.log10(((X / largest) ** 2).sum(axis=1).max()))
