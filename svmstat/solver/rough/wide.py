"""Rough solutions of large problems: descent over all rows at once, on kernel rows that are computed on demand.

A block of rows is used for few steps when it is one of many; a row that a step asks for will be asked for again. So the
steps are taken over all rows, in single precision (`single_precision`), and rows that have settled at a bound are left
out as it goes on. After each round h = s − Kβ is brought up to date in double precision, so that the rounding of one
round is put right by the next. Where that does not help the descent by blocks goes on.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.solver.case import Case, judge
from svmstat.solver.gram import Gram, Room
from svmstat.solver.low_rank import LowRank
from svmstat.solver.rough.descent import descend
from svmstat.solver.rough.single_precision import FAR, WANTING, walk
from svmstat.solver.rough.slots import Singles, Slots

Descent = Callable[[Case, Floats, Floats, float, int, Room], int]
"""`descend`, or what does the same."""

FROM = 5000
"""Rows from which on this is quicker than the descent by blocks. Blocks / on demand, processor seconds of the best of
four fits in turns on a busy machine, banana C = 1, 16, 100 and interaction × 10 C = 1, 16, 100:
n = 2600  1.1 1.1 1.2 0.6 1.4 2.2
n = 3500  1.3 1.3 2.4 0.7 0.9 1.7
n = 5000  1.5 2.0 1.7 1.1 0.9 1.8
n = 6000  1.8 1.4 1.8 1.0 1.7 1.5"""

_MEMORY = 2**28
"""Bytes of the slots at most. With 32, 64, 256, 1024 MiB banana 20 000, C = 16 takes 6839, 6020, 5229, 5229 rows and
1.03, 1.04, 1.04, 1.01 s; banana 50 000, C = 1 with 64, 256, 1024 MiB 12 319, 11 690, 10 725 rows and 7.0, 6.8, 8.3 s:
memory that is touched for the first time costs more than the rows that it saves."""

_SHARE = 0.9
"""A round aims at this share of the tolerance: h is a little different in double precision."""

_DIGITS = 100.0 * float(np.finfo(np.float32).eps)
"""The smallest tolerance for which single precision will do, as a share of the largest |h|."""

_RANGE = 1e12
"""Kernel values and margins up to this, and from its inverse, are of a size that single precision has room for."""

_NARROWER = 0.6
"""Rows are left out when so many, as a share, remain at most."""

_LEG = 1000
"""Steps after which is looked how many would remain."""

_STEPS_PER_ROW = 20
"""Steps of one round, for each row."""


def suits(case: Case) -> bool:
    """Whether a case is large enough, its kernel values not known yet, and their size one for single precision.

    Where K has a factor, sums over rows cost less than rows do.
    """
    gram = case.gram
    if case.lead > 1 or gram.n < FROM or gram.is_complete or isinstance(gram, LowRank):
        return False
    sizes = np.array([np.abs(gram.diagonal).max(), np.abs(case.linear).max()])
    return bool(((sizes <= _RANGE) & (sizes >= 1.0 / _RANGE)).all())


def way_down(case: Case) -> tuple[Case, Descent]:
    """How to descend, and the case to do it on: where rows are computed on demand no other kernel values are kept."""
    if suits(case):
        return replace(case, gram=case.gram.passing()), WideDescent(case.gram)
    return case, descend


class WideDescent:
    """`descend` on rows of a gram matrix that are computed on demand; memory for them is taken once."""

    __slots__ = ("_gram", "_memory")

    def __init__(self, gram: Gram) -> None:
        self._gram = gram
        self._memory: Singles = np.empty(min(gram.budget, _MEMORY) // 4, np.float32)

    def __call__(self, case: Case, beta: Floats, h: Floats, tolerance: float, max_steps: int, room: Room) -> int:
        """Improve a feasible (β, h = s − Kβ), both (n,), in place; returns the number of SMO steps: see `descend`."""
        steps, before, violation = 0, np.inf, judge(case, beta, h).violation
        while max(tolerance, _DIGITS * float(np.abs(h).max())) < violation <= 0.5 * before and steps < max_steps:
            steps += self._round(case, beta, h, tolerance, min(max_steps - steps, _STEPS_PER_ROW * case.gram.n))
            before, violation = violation, judge(case, beta, h).violation
        return steps + descend(case, beta, h, tolerance, max_steps - steps, room)

    def _round(self, case: Case, beta: Floats, h: Floats, tolerance: float, max_steps: int) -> int:
        """Descend, and bring h up to date; all stays as it was if the objective −½β'(s + h) is not lower."""
        trial, trial_h = beta.copy(), h.copy()
        steps = _improve(case, self._gram, trial, h, _SHARE * tolerance, max_steps, self._memory)
        moved = np.flatnonzero(trial != beta)
        case.gram.add(moved, beta[moved] - trial[moved], trial_h)
        if trial @ (case.linear + trial_h) > beta @ (case.linear + h):
            beta[:], h[:] = trial, trial_h
        return steps


def _improve(
    case: Case, gram: Gram, beta: Floats, h: Floats, tolerance: float, max_steps: int, memory: Singles
) -> int:  # fmt: skip
    """Improve a feasible β (n,) in place by steps in single precision, from h (n,); returns their number."""
    rows = np.flatnonzero(case.hi > case.lo)
    slots = Slots(gram, rows, memory)
    lo, hi, part, part_h = case.lo[rows], case.hi[rows], beta[rows], h[rows].astype(np.float32)
    diagonal = gram.diagonal[rows].astype(np.float32)
    ceiling = np.where(part < hi, np.float32(0.0), -FAR)
    floor = np.where(part > lo, np.float32(0.0), FAR)
    state, leg = np.array([-1, -1, 0, 0]), _LEG
    while True:
        code, top, bottom = walk(
            slots.values, slots.slot_of, slots.used, diagonal, lo, hi, part, part_h, ceiling, floor, state, tolerance,
            min(leg, max_steps),
        )  # fmt: skip
        if code == WANTING:
            slots.fetch(int(state[1] if state[1] >= 0 else state[0]), int(state[3]))
            continue
        beta[slots.rows] = part
        if state[2] < min(leg, max_steps) or state[2] >= max_steps:
            return int(state[2])
        leg += _LEG
        settled = ((ceiling < 0.0) & (part_h > top)) | ((floor > 0.0) & (part_h < bottom))
        keep = np.flatnonzero(~settled)
        if len(keep) <= _NARROWER * len(settled):
            slots.narrow(keep)
            lo, hi, part, part_h, diagonal = lo[keep], hi[keep], part[keep], part_h[keep], diagonal[keep]
            ceiling, floor = ceiling[keep], floor[keep]
