"""What a search has to say of its grid when it is done: where it ends, and which points have no score."""

from collections.abc import Iterator

import numpy as np

from svmstat._tools.warn import warn
from svmstat.errors import GridWarning
from svmstat.tuning.plan import TuneResult

_ROUNDING = 1e-9
"""Scores that differ by no more than this share of their size are the same."""


def warn_of_edges(found: TuneResult) -> None:
    """Tell which of the best values of what was searched is the first or the last of several.

    Or, where all points have one score, that there is none to be preferred.
    """
    ends, scores = list(_ends(found)), found.table["score"].dropna()
    if ends and np.ptp(scores) <= _ROUNDING * scores.abs().max():
        ends = [f"all {len(scores)} points of the grid have the same score, which tells none from another"]
    for told in ends:
        warn(told, GridWarning)


def _ends(found: TuneResult) -> Iterator[str]:
    best, table = found.searched, found.table
    own = table[table["formula"] == best["formula"]] if "formula" in best else table
    for name, value in best.items():
        if name in ("formula", "kernel"):  # these are in no order
            continue
        values = own[name]
        low, high = values.min(), values.max()
        if low < high and value in (low, high) and not (name == "degree" and value == 1):
            end = "smallest" if value == low else "largest"
            yield f"the best {name} = {value:.6g} is the {end} of its grid: a wider one may hold a better"


def warn_of_failed(found: TuneResult) -> None:
    """Tell how many points have no score."""
    if found.n_failed:
        warn(f"{found.n_failed} of {len(found.table)} points could not be scored: see .table", GridWarning)
