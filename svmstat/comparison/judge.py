"""What models say of rows that they have not seen, beside what was observed; and by nested folds."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import log_of_own
from svmstat.comparison.machines import Machines
from svmstat.comparison.member import Member
from svmstat.comparison.observed import Observed
from svmstat.diagnostics import HeldOut
from svmstat.diagnostics.shape import Shape
from svmstat.objective.units import Units
from svmstat.resampling.copies import Copies
from svmstat.resampling.said import Said, of_lots
from svmstat.resampling.splits import Splits


def held_out(member: Member, splits: Splits | None, units: Units | None, n_jobs: int | None, progress: bool) -> Said:
    """What a model says of each row by a refit without it, its unit or its fold.

    A fit by `svm` knows the ``units`` itself.
    """
    if splits is None and (units is None or member.observed.units is not None):
        return member.one_by_one(n_jobs, progress)
    if splits is not None and isinstance(member, Machines):
        return member.by_folds(splits, n_jobs, progress)
    without = partial(member.without, n_jobs=n_jobs, progress=progress)
    if splits is not None:
        return of_lots(without, splits.lots, splits.fold)
    assert units is not None
    return of_lots(without, list(units), units.of_row)


def turned(said: Said, observed: Observed, reference: Observed, order: Codes) -> Said:
    """With decision values of the pairs of the reference, if there are any for them."""
    if said.values is None or (len(order) > 2 and (order != np.arange(len(order))).any()):
        return replace(said, values=None, maps=None)
    if len(order) == 2 and order[reference.event] != observed.event:
        return replace(said, values=-said.values, maps=None)
    return said


def evidence(
    how: str, shape: Shape, observed: Observed, said: Said, order: Codes, splits: Splits | None,
    optimism: float | None, points: Codes | None, copies: Copies | None,
) -> HeldOut:  # fmt: skip
    """What was said, beside what was observed, with the classes in the order of the reference."""
    p, n = said.probability[:, order], len(observed.codes)
    index = pd.RangeIndex(n) if observed.index is None else observed.index
    values = said.values
    if values is None:
        with np.errstate(divide="ignore"):
            logs = np.log(p)
        values = np.column_stack([_log_odds(logs[:, i], logs[:, j]) for i, j in shape.response.pairs])
    winner = np.where(said.winner >= 0, np.argsort(order)[said.winner], -1)
    return HeldOut(
        how=how, index=index, shape=shape, codes=observed.codes, weights=observed.weights, values=values,
        probability=p, log_likelihoods=log_of_own(p, observed.codes), winner=winner, failed=said.failed,
        units=observed.units, optimism=optimism, points=points, groups=observed.groups, maps=said.maps,
        copies=copies,
        seen=None if splits is None else splits.seen(observed.codes, observed.weights, len(order)),
    )  # fmt: skip


def _log_odds(one: Floats, other: Floats) -> Floats:
    """log p − log q, zero where both are impossible."""
    return np.subtract(one, other, out=np.zeros(len(one)), where=~(np.isneginf(one) & np.isneginf(other)))
