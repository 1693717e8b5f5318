"""Where random numbers come from."""

import numbers

import numpy as np

from svmstat._tools.checks import refuse


def seed_sequence(name: str, rng: object) -> np.random.SeedSequence:
    """The seed that an argument ``rng`` stands for: an integer ≥ 0, a Generator, which moves on, or None for a new one.

    Examples
    --------
    >>> seed_sequence("rng", 7).entropy
    7
    """
    if rng is None:
        return np.random.SeedSequence()
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(int(rng.integers(2**63)))
    if isinstance(rng, numbers.Integral) and not isinstance(rng, bool) and int(rng) >= 0:
        return np.random.SeedSequence(int(rng))
    raise refuse(name, rng, "an integer >= 0, a numpy Generator or None")
