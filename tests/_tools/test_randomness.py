"""What a loop over draws may be asked for is checked before it, and a generator does not move for that."""

import numpy as np
import pytest

from svmstat._tools.randomness import check_draws, seed_sequence
from svmstat.errors import ArgumentError


@pytest.mark.parametrize(
    ("rng", "n_jobs", "progress", "named"),
    [
        ("x", None, False, "rng='x'"),
        (-1, None, False, "rng=-1"),
        (True, None, False, "rng=True"),
        (1.0, None, False, "rng=1.0"),
        (1, 0, False, "n_jobs=0"),
        (1, 10**30, False, "n_jobs=1000"),
        (1, True, False, "n_jobs=True"),
        (1, None, 1, "progress=1"),
    ],
)
def test_what_is_refused(rng, n_jobs, progress, named):
    with pytest.raises(ArgumentError, match=f"^{named}"):
        check_draws(rng, n_jobs, progress)


def test_a_check_draws_nothing():
    rng = np.random.default_rng(1)
    check_draws(rng, -1, np.True_)
    assert seed_sequence("rng", rng).entropy == seed_sequence("rng", np.random.default_rng(1)).entropy
