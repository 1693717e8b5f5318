"""What models say of rows that they have not seen, beside what was observed; and by nested folds."""

from dataclasses import replace

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import log_of_own
from svmstat.comparison.member import Member
from svmstat.comparison.observed import Observed
from svmstat.diagnostics import Evidence
from svmstat.diagnostics.shape import Shape
from svmstat.resampling.said import Said, joined


def held_out(member: Member, fold: Codes | None, n_jobs: int | None, progress: bool) -> Said:
    """What a model says of each row by a refit without it, or without its fold; rows of weight zero have none."""
    if fold is None:
        return member.one_by_one(n_jobs, progress)
    rows = [np.flatnonzero(fold == k) for k in range(-1, fold.max() + 1)]
    rows = [each for each in rows if len(each)]
    found = joined(member.without(rows, n_jobs, progress))
    place = np.argsort(np.concatenate(rows))
    values = None if found.values is None else found.values[place]
    return Said(found.probability[place], found.winner[place], found.failed[place], values)


def turned(said: Said, observed: Observed, reference: Observed, order: Codes) -> Said:
    """With decision values of the pairs of the reference, if there are any for them."""
    if said.values is None or (len(order) > 2 and (order != np.arange(len(order))).any()):
        return replace(said, values=None)
    return replace(said, values=-said.values) if len(order) == 2 and order[reference.event] != observed.event else said


def evidence(how: str, shape: Shape, observed: Observed, said: Said, order: Codes) -> Evidence:
    """What was said, beside what was observed, with the classes in the order of the reference."""
    p, n = said.probability[:, order], len(observed.codes)
    index = pd.RangeIndex(n) if observed.index is None else observed.index
    values = said.values
    if values is None:
        with np.errstate(divide="ignore"):
            logs = np.log(p)
        values = np.column_stack([_log_odds(logs[:, i], logs[:, j]) for i, j in shape.response.pairs])
    winner = np.where(said.winner >= 0, np.argsort(order)[said.winner], -1)
    return Evidence(
        how=how, index=index, shape=shape, codes=observed.codes, weights=observed.weights, values=values,
        probability=p, log_likelihoods=log_of_own(p, observed.codes), winner=winner, failed=said.failed,
    )  # fmt: skip


def _log_odds(one: Floats, other: Floats) -> Floats:
    """log p − log q, zero where both are impossible."""
    return np.subtract(one, other, out=np.zeros(len(one)), where=~(np.isneginf(one) & np.isneginf(other)))
