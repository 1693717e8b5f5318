"""Many quite different bound vectors on a matrix in memory: each solved on the rows that its bounds leave open.

A bootstrap replicate changes a third of the bounds, so that no path from the full fit is short. Its open rows are
gathered into a block of their own; descent and Newton steps on the block are those of a single problem. Where these do
not lead to the solution the problem is handed back.

On a matrix of low rank with a large cost a descent takes steps without end, and a path is short of free rows: so a
problem is handed back as well once the path from the full fit would have been the shorter way.
"""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import clear, compiled, copy_into, number_from_zero, sum_of
from svmstat.solver.exact.path import ARRIVED
from svmstat.solver.gram import combine, gather
from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.chain import walk_all
from svmstat.solver.roads.paths import OVERRUN, Paths, Wanted, open_box, put_certificate
from svmstat.solver.rough.inside import inside
from svmstat.solver.rough.newton import MANY, MOST_CHANGES
from svmstat.solver.rough.smo import smo
from svmstat.solver.solution import TOLERANCE, Road, Solution, certify, middle

TOO_LONG = 7
"""The descent has taken more steps than the path from the neighbouring solution would be worth."""

FEW = 20
"""Bounds that may change before a path from the start is given up for a new descent; above 400 rows 5 %."""

LARGEST = 4000
"""Rows of the largest problem whose open rows are gathered for each bound vector (128 MB)."""

_SETTING_OFF, _EVENTS, _EVENT = 200, 0.3, 5
"""What the path from the start to distant bounds costs, in descent steps: to set off, and so many events for each
support vector, each as many steps as there are free rows, and some more."""

_START = 3
"""Where the start's own descent took more steps than so many times that price, the path is taken at once.

Measured on bootstrap replicates of mackerel and simulated rows, linear, quadratic and rbf kernels, C from 0.1 to 100:
the descent from the start, scaled, takes a half to a third of the start's own steps. Linear kernel, C = 16 and 100:
1.08 instead of 1.28 and 0.86 instead of 1.42 ms a replicate; the rbf kernel never comes near it. A start by the primal,
which takes no steps, is of that kind: 1.0 instead of 3.5 s for 40 replicates of 4000 x 20, C = 10.
"""


_ROUNDS = 6
"""Attempts to put the partition right before the descent goes on."""

_HANDOVERS = np.array([3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-6])


@compiled(inside=True)
def _start(beta0, upper0, upper, lo, hi, rows, beta):
    """β (m,) of the open rows, that of a neighbouring solution scaled with the bounds, Σβ = 0 restored by shrinking."""
    positive, negative = 0.0, 0.0
    for a in range(rows.shape[0]):
        i = rows[a]
        share = upper[i] / upper0[i] if upper0[i] > 0.0 else 0.0
        beta[a] = min(max(beta0[i] * share, lo[a]), hi[a])
        positive += max(beta[a], 0.0)
        negative -= min(beta[a], 0.0)
    if positive == 0.0 or negative == 0.0:
        clear(beta, beta.shape[0])
        return
    shrunk_positive, shrunk_negative = min(1.0, negative / positive), min(1.0, positive / negative)
    for a in range(rows.shape[0]):
        beta[a] *= shrunk_positive if beta[a] > 0.0 else shrunk_negative


@compiled(inside=True)
def _exact(K, s, lo, hi, beta, h):
    """Make (β, h) of all rows of K (m, m) exact in place, as `newton` does for few free rows; whether that was done.

    Where it was not, β is as good as before or better.
    """
    n = beta.shape[0]
    free, rows, certified, places = np.empty(n, np.bool_), np.empty(n, np.int64), False, np.empty(n, np.int64)
    number_from_zero(places)
    for i in range(n):
        free[i] = lo[i] < beta[i] < hi[i]
    m = _numbers(free, rows)
    most = max(MOST_CHANGES, m // 10)
    for _ in range(_ROUNDS):
        if m == 0:
            return False
        block, x, target = np.empty((m, m)), np.empty(m), np.empty(m)
        low, high, step = np.empty(m), np.empty(m), np.empty(m)
        gather(K, rows[:m], rows[:m], places[:m], block)
        for a in range(m):
            i = rows[a]
            x[a], target[a], low[a], high[a] = beta[i], h[i], lo[i], hi[i]
        if not inside(block, x, target, sum_of(beta), low, high, step):
            return False
        for a in range(m):
            beta[rows[a]], step[a] = x[a], -step[a]
        if certified:
            combine(K, rows[:m], step, h)
        else:
            _fresh(K, s, beta, h)
        before, certified = certified, certify(h, beta, lo, hi)[2] <= TOLERANCE
        if certified and (before or m >= MANY):
            return True
        if not certified and _set_free(h, beta, lo, hi, free) > most:
            return False
        m = _numbers(free, rows)
    return False


@compiled(inside=True)
def _numbers(free, rows):
    """Write the numbers of the rows that are ``free`` (n,) into ``rows`` (n,); how many they are."""
    m = 0
    for i in range(free.shape[0]):
        if free[i]:
            rows[m] = i
            m += 1
    return m


@compiled(inside=True)
def _set_free(h, beta, lo, hi, free):
    """Rows at their bound are ``free`` (n,) no more, unless their gradient has the wrong sign; how many of these."""
    b, m, freed = 0.0, 0, 0
    for i in range(free.shape[0]):
        free[i] = free[i] and lo[i] < beta[i] < hi[i]
        if free[i]:
            b += h[i]
            m += 1
    if m == 0:
        return freed
    b /= m
    for i in range(free.shape[0]):
        if not free[i] and ((beta[i] < hi[i] and h[i] > b) or (beta[i] > lo[i] and h[i] < b)):
            free[i] = True
            freed += 1
    return freed


@compiled(inside=True)
def _fresh(K, s, beta, h):
    """h = s − Kβ."""
    copy_into(h, s)
    support, coefficients, m = np.empty(beta.shape[0], np.int64), np.empty(beta.shape[0]), 0
    for i in range(beta.shape[0]):
        if beta[i] != 0.0:
            support[m], coefficients[m] = i, -beta[i]
            m += 1
    combine(K, support[:m], coefficients[:m], h)


@compiled(inside=True)
def _expected_events(h, beta, lo, hi):
    """Bound rows whose |g| is smaller than the violation, times free rows: the price of the path in descent steps."""
    b_low, b_high, violation, _ = certify(h, beta, lo, hi)
    b, near, free = middle(b_low, b_high), 0, 0
    for i in range(beta.shape[0]):
        if lo[i] < beta[i] < hi[i]:
            free += 1
        elif abs(b - h[i]) < violation:
            near += 1
    return near * free


@compiled()
def compact_all(stored, linear, beta0, upper0, wanted, chosen, patience, paths, steps):
    """Solve for the bounds that are ``chosen`` (B,) among those ``wanted``; results as in `certify_all`.

    After ``patience`` steps the code is TOO_LONG, and there is no result.
    """
    signs, uppers, code = wanted.signs, wanted.uppers, paths.code
    n = signs.shape[0]
    full_lo, full_hi = np.empty(n), np.empty(n)
    opened, places, room = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(0)
    number_from_zero(places)
    for q in range(uppers.shape[0]):
        if not chosen[q]:
            continue
        m = np.int64(0)  # a 0 of its own type would have smo compiled once more
        for i in range(n):
            if uppers[q, i] > 0.0:
                opened[m] = i
                m += 1
        rows = opened[:m]
        if room.shape[0] < m * m:
            room = np.empty(m * m)
        K = room[: m * m].reshape(m, m)
        gather(stored, rows, rows, places[:m], K)
        open_box(signs, uppers[q], full_lo, full_hi)
        lo, hi, s, part, part_h = np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m)
        for a in range(m):
            lo[a], hi[a], s[a] = full_lo[rows[a]], full_hi[rows[a]], linear[rows[a]]
        _start(beta0, upper0, uppers[q], lo, hi, rows, part)
        _fresh(K, s, part, part_h)
        code[q] = OVERRUN
        for k in range(_HANDOVERS.shape[0]):
            done, _ = smo(K, m, lo, hi, part, part_h, _HANDOVERS[k], min(100 * m + 20000, patience - steps[q]))
            steps[q] += done
            if steps[q] >= patience:
                code[q] = TOO_LONG
                break
            last = k + 1 == _HANDOVERS.shape[0]
            if not last and _expected_events(part_h, part, lo, hi) > 0.7 * steps[q]:
                continue
            if _exact(K, s, lo, hi, part, part_h):
                code[q] = ARRIVED
                break
        if code[q] == TOO_LONG:
            continue
        beta = paths.beta[q]
        clear(beta, n)
        for a in range(m):
            beta[rows[a]] = part[a]
        _fresh(stored, linear, beta, paths.h[q])
        put_certificate(full_lo, full_hi, q, paths)


def are_distant(uppers: Floats, upper: Floats) -> NDArray[np.bool_]:
    """Where so many bounds (B, n) differ from the start's that the path from there would be long."""
    return np.asarray(np.count_nonzero(uppers != upper, axis=1) > max(FEW, 0.05 * len(upper)))


def solve_compactly(
    problem: BoxQP, origin: Solution, uppers: Floats, chosen: NDArray[np.bool_], paths: Paths,
    steps: NDArray[np.int64], road: NDArray[np.int8],
) -> None:  # fmt: skip
    """By a descent on the open rows; where that is long, by the path from the start with all rows taking part."""
    beta = problem.signs * origin.alpha
    events = _EVENTS * np.count_nonzero(beta)
    patience = _SETTING_OFF + int(events * (_EVENT + np.count_nonzero(origin.free)))
    if origin.steps > _START * patience or origin.road is Road.LOW_RANK:
        long = np.flatnonzero(chosen)
    else:
        gram, wanted = problem.gram.complete(), Wanted(problem.signs, uppers)
        compact_all(gram, problem.linear, beta, origin.upper, wanted, chosen, patience, paths, steps)
        long = np.flatnonzero(paths.code == TOO_LONG)
    walk_all(problem, origin, uppers, long, paths, road)
