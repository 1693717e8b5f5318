"""Many short paths from one solution, as leave-one-out needs them: by its tableau."""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import clear, compiled, copy_into
from svmstat.solver.exact.basis import Point
from svmstat.solver.exact.path import ARRIVED, BASIS_FULL, Change
from svmstat.solver.exact.tableau import Tableau, correct, memory_for, walk
from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.chain import walk_all
from svmstat.solver.roads.paths import (
    NOT_TRIED,
    OVERRUN,
    Paths,
    Wanted,
    certify_all,
    changed_bounds,
    has_to_move,
    open_box,
    origin_of,
    put_certificate,
    set_off,
)
from svmstat.solver.solution import TOLERANCE, Solution, settle

_FEW_EVENTS, _MOST_EVENTS = 250, 5000
"""Events after which a path from the start of a batch is given up, where K is known by a factor and where not."""


@compiled()
def stay_all(origin, h0, wanted, paths):
    """Where no β has to move the solution is β⁰ still; results as in `certify_all`, on no kernel value."""
    n = h0.shape[0]
    changed = np.empty(n, np.int64)
    lo1, hi1 = np.empty(n), np.empty(n)
    for q in range(wanted.uppers.shape[0]):
        open_box(wanted.signs, wanted.uppers[q], lo1, hi1)
        moves = False
        for k in range(changed_bounds(origin, lo1, hi1, changed)):
            moves |= has_to_move(changed[k], origin, lo1, hi1)
        if not moves:
            copy_into(paths.beta[q], origin.beta)
            copy_into(paths.h[q], h0)
            put_certificate(lo1, hi1, q, paths)


@compiled()
def follow_tableau(tableau, origin, wanted, chosen, max_events, paths):
    """Move β⁰, the solution at the origin, to the ``chosen`` (B,) bounds by its tableau.

    β, code and events of ``paths`` are filled in; code is NOT_TRIED if a row outside the tableau has to move.
    A path of more than ``max_events`` events is given up.
    """
    near = tableau.rows
    n, w, lead = origin.beta.shape[0], near.shape[0], origin.b.shape[0]
    place, order = np.empty(n, np.int64), np.empty(w, np.int64)
    for i in range(n):
        place[i] = -1
    for a in range(w):
        place[near[a]], order[a] = a, a
    changed, rows, places = np.empty(n, np.int64), np.empty(w, np.int64), np.empty(w, np.int64)
    lo1, hi1 = np.empty(n), np.empty(n)
    start = Point(np.empty(w), np.empty(w), np.empty(w), np.empty(w), np.empty(w, np.int8), np.empty(lead))
    point = Point(np.empty(w), np.empty(w), np.empty(w), np.empty(w), np.empty(w, np.int8), np.empty(lead))
    change = Change(np.empty(w), np.empty(w), np.zeros(w), np.zeros(1))
    memory = memory_for(w, lead)
    set_off(near, order, origin, origin.lo, origin.hi, start, change)
    for q in range(chosen.shape[0]):
        if not chosen[q]:
            continue
        open_box(wanted.signs, wanted.uppers[q], lo1, hi1)
        copy_into(paths.beta[q], origin.beta)
        paths.events[q] = 0
        paths.code[q] = ARRIVED
        copy_into(point.beta, start.beta)
        copy_into(point.g, start.g)
        copy_into(point.lo, start.lo)
        copy_into(point.hi, start.hi)
        copy_into(point.status, start.status)
        clear(change.lo, w)
        clear(change.hi, w)
        m, moves = np.int64(0), False
        for k in range(changed_bounds(origin, lo1, hi1, changed)):
            i = changed[k]
            active = has_to_move(i, origin, lo1, hi1)
            moves |= active
            if place[i] >= 0:
                rows[m], places[m] = i, place[i]
                m += 1
            elif active:
                paths.code[q] = NOT_TRIED
        set_off(rows[:m], places[:m], origin, lo1, hi1, point, change)
        if moves and paths.code[q] == ARRIVED:
            paths.code[q], paths.events[q] = walk(tableau, point, change, max_events, memory)
            for a in range(w):
                paths.beta[q, near[a]] = point.beta[a]
            settle(paths.beta[q], lo1, hi1)


@compiled()
def correct_all(stored, tableau, wanted, paths):
    """Newton corrections where rounding on the way has left a violation above a hundredth of the tolerance."""
    lo, hi = np.empty(wanted.signs.shape[0]), np.empty(wanted.signs.shape[0])
    memory = memory_for(tableau.rows.shape[0], tableau.T_b.shape[0])
    for q in range(paths.beta.shape[0]):
        if (paths.code[q] == ARRIVED or paths.code[q] == OVERRUN) and paths.violation[q] > 0.01 * TOLERANCE:
            open_box(wanted.signs, wanted.uppers[q], lo, hi)
            if correct(stored, tableau, lo, hi, paths.beta[q], paths.h[q], memory):
                put_certificate(lo, hi, q, paths)


def stay(problem: BoxQP, origin: Solution, uppers: Floats, paths: Paths) -> None:
    """All that is done without a kernel matrix in memory: where no β has to move the solution stays."""
    start = origin_of(problem, origin)
    stay_all(start, problem.linear - origin.field, Wanted(problem.signs, uppers), paths)


def follow(
    problem: BoxQP, origin: Solution, tableau: Tableau | None, uppers: Floats, chosen: NDArray[np.bool_], paths: Paths,
    road: NDArray[np.int8],
) -> None:  # fmt: skip
    """By the tableau to those bounds that are ``chosen`` (B,); where it does not lead to the end, by the path that
    keeps R.
    """
    wanted = Wanted(problem.signs, uppers)
    start = origin_of(problem, origin)
    gram, h = problem.gram.complete(), problem.linear - origin.field
    left = chosen
    if tableau is not None:
        follow_tableau(tableau, start, wanted, chosen, _FEW_EVENTS, paths)
        left = chosen & (paths.code != ARRIVED)
    the_long_way = left.any() and problem.gram.short_factor() is None and problem.gram.vectors is None
    if tableau is not None:
        if the_long_way:
            follow_tableau(tableau, start, wanted, left & (paths.code != BASIS_FULL), _MOST_EVENTS, paths)
            left = chosen & (paths.code != ARRIVED)
        certify_all(gram, start, h, wanted, paths)
        correct_all(gram, tableau, wanted, paths)
    if the_long_way:
        walk_all(problem, origin, uppers, np.flatnonzero(left), paths, road)
