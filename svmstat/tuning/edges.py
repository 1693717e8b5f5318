"""What a search has to say of its grid when it is done: where it ends, and which points have no score."""

from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd

from svmstat._tools.warn import warn
from svmstat.errors import GridWarning
from svmstat.tuning.plan import TuneResult

_ROUNDING = 1e-9
"""Scores that differ by no more than this share of their size are the same."""


def warn_of_edges(found: TuneResult, names: Collection[str] | None = None) -> None:
    """Tell which of the best values is at an end of its grid."""
    for text in at_edges(found, names):
        warn(text, GridWarning)


def notes_of_edges(found: TuneResult, names: Collection[str] | None = None) -> list[str]:
    """The same in a summary, as sentences."""
    return [f"{text[0].upper()}{text[1:]}." for text in at_edges(found, names)]


def at_edges(found: TuneResult, names: Collection[str] | None) -> Iterator[str]:
    """Which of the best values of what was searched, or of ``names``, is the first or the last of several."""
    best, table = found.searched, found.table
    advice = ", whose points all have the same score" if is_tied(table) else ": a wider one may hold a better"
    own = table[table["formula"] == best["formula"]] if "formula" in best else table
    for name, value in best.items():
        if name in ("formula", "kernel") or (names is not None and name not in names):  # the first are in no order
            continue
        values = own[name]
        low, high = values.min(), values.max()
        if low < high and value in (low, high) and not (name == "degree" and value == 1):
            end = "smallest" if value == low else "largest"
            yield f"the best {name} = {value:.6g} is the {end} of its grid{advice}"


def is_tied(table: pd.DataFrame) -> bool:
    """Whether all points that have a score have the same."""
    scores = table["score"].dropna()
    return len(scores) > 0 and bool(np.ptp(scores) <= _ROUNDING * scores.abs().max())


def warn_of_failed(found: TuneResult) -> None:
    """Tell how many points have no score."""
    if found.n_failed:
        warn(f"{found.n_failed} of {len(found.table)} points could not be scored: see .table", GridWarning)
