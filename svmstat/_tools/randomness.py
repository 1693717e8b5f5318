"""Where random numbers come from."""

import numbers

import numpy as np

from svmstat._tools.checks import flag, refuse, workers


def seed_sequence(name: str, rng: object) -> np.random.SeedSequence:
    """The seed that an argument ``rng`` stands for: an integer ≥ 0, a Generator, which moves on, or None for a new one.

    Examples
    --------
    >>> seed_sequence("rng", 7).entropy
    7
    """
    check_rng(name, rng)
    if rng is None:
        return np.random.SeedSequence()
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(int(rng.integers(2**63)))
    return np.random.SeedSequence(int(rng))  # type: ignore[call-overload]


def check_rng(name: str, rng: object) -> None:
    """Refuse what stands for no seed; a Generator does not move."""
    whole = isinstance(rng, numbers.Integral) and not isinstance(rng, bool) and int(rng) >= 0
    if not (rng is None or whole or isinstance(rng, np.random.Generator)):
        raise refuse(name, rng, "an integer >= 0, a numpy Generator or None")


def check_draws(rng: object, n_jobs: object, progress: object) -> None:
    """Refuse what a loop over draws cannot be asked for, also where there may be no such loop."""
    check_rng("rng", rng)
    workers("n_jobs", n_jobs)
    flag("progress", progress)
