"""Many short paths from one exact solution, by its tableau.

At the start the free set is M and R is the inverse of its bordered matrix. Let N be the other rows near an event. The
tableau T says how everything answers a change, to first order and exactly:

    for k in N, β_k moves:  β̇_M = −Z_k,   ġ_N = K_Nk − K̃_NM Z_k        Z = R K̃_MN,  K̃ = [E'; K]
    for k in M, g_k moves:  β̇_M = R_Mk,   ġ_N = Z_k'

so T = [[R_MM, −Z], [Z', S]] and T_ik = ±T_ki. Along a path the free set differs from M by a few rows E, which have
changed sides: the answers for the new free set follow from T and the small matrix T_EE (a principal pivot). An event
costs |E| rows of T instead of a row of K for each free row. The columns of E are the indicators of the sums that are
given: ones for Σβ, or one column for each class.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import clear, compiled
from svmstat.solver.exact.basis import DEPENDENT, Point, slide, to_bound
from svmstat.solver.exact.bordered import bordered_inverse
from svmstat.solver.exact.events import may_open, next_event, outward_sign
from svmstat.solver.exact.path import (
    ARRIVED,
    BASIS_FULL,
    NO_COMPENSATION,
    TOO_MANY_EVENTS,
    UNSTABLE,
    advance,
    bound_rate,
    compensator,
)
from svmstat.solver.gram import Rows, combine_first
from svmstat.solver.problem import BoxQP, Sums
from svmstat.solver.solution import FREE, Basis

_SHARE = 0.5
"""Of the memory that a kernel matrix may take, what a tableau may."""

_ALL = 1000
"""Up to so many rows all take part."""

_NEAR, _FARTHEST, _STRONG = 0.5, 2.0, 32.0
"""Beyond, rows that are no support vectors take part if their |g| is smaller, the nearest of them if they are many. The
larger α_i K_ii is, the more do others move without row i: from a half of ``_STRONG`` on the reach grows with it."""

_CLOSE = 0.05
"""Rows whose |g| is no larger take part, however many they are, if there is room. Where f is nearly flat, as with rare
events, most rows are that close: with the nearest of them alone many paths pass others unseen, and each of these is
solved anew."""

_SLICE = 256
"""Rows whose answers are found at a time: what that takes is memory beside the tableau, and to touch fresh memory takes
longer than the sums."""

_MOST_CHANGES = 160
"""Rows that may have changed sides before the path is begun anew with all rows, an event of which costs m rows of K."""

_LEAST_PIVOT = 1e-3
"""Of what a pivot is the difference of, as a share, with which factors go on from those of one row less."""

SIDES = _MOST_CHANGES + 2
"""Rows that have room among those that have changed sides."""

_FAST = {"nnan", "nsz"}


class Tableau(NamedTuple):
    """The tableau of a solution.

    Attributes
    ----------
    rows : (w,) the rows that take part, every support vector among them
    T : (w, w)
    T_b : (lead, w) the answers of the multiplier of each sum
    group : (w,) which sum a row belongs to
    side : (w,) −1 for the rows that are free at the start, +1 for the others
    diagonal : (w,) K_ii
    """

    rows: Rows
    T: Floats
    T_b: Floats
    group: Rows
    side: Floats
    diagonal: Floats


def make_tableau(
    problem: BoxQP, start: Point, basis: Basis, scale: float = 1.0, share: float = 1.0
) -> Tableau | None:  # fmt: skip
    """The tableau of a solution and its basis, None where it would take too much memory.

    Where no row that belongs to a sum is free that of its first support vector is made, as if it were. The ``scale`` is
    that of the gradients: 1, or ρ of hulls. Many rows that are close have room in a ``share`` of the memory.
    """
    if not problem.gram.fits:
        return None
    sums, diagonal = problem.sums, problem.gram.diagonal
    lead, free = len(sums.target), _one_for_each_sum(start.beta, basis.rows, sums)
    room = most_rows(share * problem.gram.budget)
    near = near_rows(start.beta / scale, start.g / scale, diagonal, start.hi > start.lo, room)
    if len(near) > most_rows(problem.gram.budget):
        return None
    is_free = np.zeros(problem.n, bool)
    is_free[free] = True
    rows = np.concatenate([free, near[~is_free[near]]])
    m, w, group = len(free), len(rows), sums.group[rows]
    T = problem.gram.block(rows)  # K, in whose place the tableau is made
    R = _fresh_inverse(T[:m, :m], group[:m], lead, basis.inverse)
    if len(R) != m + lead:
        return None
    T_b, of_sum = np.empty((lead, w)), (group == np.arange(lead)[:, None]).astype(float)
    border = np.vstack([of_sum[:, m:], T[:m, m:]])
    for some in (slice(k, k + _SLICE) for k in range(0, w - m, _SLICE)):
        Z = _solved(R, T[:m, :m], of_sum[:, :m], border[:, some])
        T_b[:, m:][:, some] = -Z[:lead]
        T[:m, m:][:, some] = -Z[lead:]
        T[m:, :m][some] = Z[lead:].T
        T[m:, m:][:, some] -= border.T @ Z
    T_b[:, :m], T[:m, :m] = R[:lead, lead:], R[lead:, lead:]
    side = np.where(np.arange(w) < m, -1.0, 1.0)
    return Tableau(rows, T, T_b, group, side, diagonal[rows])


def _solved(R: Floats, K: Floats, of_sum: Floats, sides: Floats) -> Floats:
    """K̃⁻¹ of right-hand sides (lead + m, c), R being the inverse and K̃ = [[0, E'], [E, K]] with E' the ``of_sum``.

    An inverse leaves residuals that grow with the condition of K̃; after one step of refinement they are of the size of
    rounding. The gradients of the free rows, which paths keep at zero, are these residuals.
    """
    lead = len(of_sum)
    Z = R @ sides
    rest = sides.copy()
    rest[:lead] -= of_sum @ Z[lead:]
    rest[lead:] -= of_sum.T @ Z[:lead] + K @ Z[lead:]
    Z += R @ rest
    return Z


def _one_for_each_sum(beta: Floats, free: Rows, sums: Sums) -> Rows:
    """The free rows, and the first support vector of each sum to which none of them belongs."""
    lacking = [g for g in range(len(sums.target)) if not (sums.group[free] == g).any()]
    first = [np.flatnonzero((beta != 0.0) & (sums.group == g))[:1] for g in lacking]
    return np.concatenate([free, *first])


def most_rows(budget: float) -> int:
    """Rows of the largest tableau where a kernel matrix may take so many bytes.

    Examples
    --------
    >>> most_rows(2 * 2**30)
    11585
    """
    return int(np.sqrt(_SHARE * budget / 8.0))


def near_rows(beta: Floats, g: Floats, diagonal: Floats, opened: NDArray[np.bool_], room: int) -> Rows:
    """The support vectors and the ``opened`` rows (n,) near an event.

    These are at most twice as many as there are vectors, unless more are close and there is ``room``.
    """
    support, reach = beta != 0.0, np.abs(g)
    if len(beta) <= _ALL:
        return np.flatnonzero(support | opened)
    farthest = np.clip(np.abs(beta * diagonal).max() / _STRONG, _NEAR, _FARTHEST)
    candidates = np.flatnonzero(~support & opened & (reach <= farthest))
    n_support, close = int(np.count_nonzero(support)), int(np.count_nonzero(reach[candidates] <= _CLOSE))
    most = max(2 * n_support, _ALL, min(close, room - n_support))
    if len(candidates) > most:
        candidates = candidates[np.argpartition(reach[candidates], most)[:most]]
    return np.sort(np.concatenate([np.flatnonzero(support), candidates]))


def _fresh_inverse(K: Floats, group: Rows, lead: int, known: Floats) -> Floats:
    """The inverse of [[0, E'], [E, K]], computed anew where K is well conditioned."""
    independent, inverse = bordered_inverse(K, group, lead)
    if len(independent) < len(K):
        return known
    order = np.concatenate([np.arange(lead), lead + np.argsort(independent)])
    return inverse[np.ix_(order, order)]


class Memory(NamedTuple):
    """What walks along a tableau of w rows write on, each anew; k = ``SIDES``, and w ≥ lead: each sum has a row in it.

    Attributes
    ----------
    free, moving, where : (w,) lists of rows, and the place of each row in E
    changed, pivots : (k,) E, and those of its factors
    n_free_of : (lead,) how many free rows each sum has
    rate, answer, outward, lo_end, hi_end, speed, times : (w,)
    v : (k,) how the rows of E answer
    rows, coefficients : (w + k,) what answers are summed by
    block, factors : (k, k) T_EE and its factors
    factored : (1,) how many rows of E, from the first, these are of
    """

    free: Rows
    moving: Rows
    where: Rows
    changed: Rows
    pivots: Rows
    n_free_of: Rows
    rate: Floats
    answer: Floats
    outward: Floats
    lo_end: Floats
    hi_end: Floats
    speed: Floats
    times: Floats
    v: Floats
    rows: Rows
    coefficients: Floats
    block: Floats
    factors: Floats
    factored: Rows


@compiled(inside=True)
def memory_for(w, lead):
    """Memory for walks along a tableau of w rows."""
    k = SIDES
    return Memory(
        np.empty(w, np.int64), np.empty(w, np.int64), np.empty(w, np.int64), np.empty(k, np.int64),
        np.empty(k, np.int64), np.empty(lead, np.int64), np.empty(w), np.empty(w), np.empty(w), np.empty(w),
        np.empty(w), np.empty(w), np.empty(w), np.empty(k), np.empty(w + k, np.int64), np.empty(w + k),
        np.empty((k, k)), np.empty((k, k)), np.zeros(1, np.int64),
    )  # fmt: skip


@compiled(inside=True, borrowing=True)
def _factor(matrix, e, pivots):
    """LU factors with partial pivoting of the leading (e, e) block, in place; returns whether it is regular.

    On the diagonal are the reciprocals of the pivots: a division takes as long as ten multiplications.
    """
    for c in range(e):
        p = c
        for a in range(c + 1, e):
            if abs(matrix[a, c]) > abs(matrix[p, c]):
                p = a
        pivots[c] = p
        if matrix[p, c] == 0.0:
            return False
        if p != c:
            for k in range(e):
                matrix[c, k], matrix[p, k] = matrix[p, k], matrix[c, k]
        top = matrix[c]
        top[c] = 1.0 / top[c]
        for a in range(c + 1, e):
            row = matrix[a]
            factor = row[c] * top[c]
            row[c] = factor
            for k in range(np.uint64(c + 1), np.uint64(e)):  # no index from the end: a faster loop
                row[k] -= factor * top[k]
    return True


@compiled(inside=True, borrowing=True)
def _extend(matrix, block, e, pivots):
    """The factors of a block with one row and column more than (e, e); whether its last pivot will do.

    The new row is not searched for a pivot.
    """
    row = matrix[e]
    for c in range(e):
        row[c], matrix[c, e] = block[e, c], block[c, e]
    for c in range(e):
        p = pivots[c]
        matrix[c, e], matrix[p, e] = matrix[p, e], matrix[c, e]
    pivot = block[e, e]
    size = abs(pivot)
    for c in range(e):
        top, above = matrix[c], matrix[c, e]
        for a in range(np.uint64(c + 1), np.uint64(e)):
            matrix[a, e] -= matrix[a, c] * above
        factor = row[c] * top[c]
        row[c] = factor
        for k in range(np.uint64(c + 1), np.uint64(e)):
            row[k] -= factor * top[k]
        pivot -= factor * above
        size += abs(factor * above)
    row[e] = 1.0 / pivot
    pivots[e] = e
    return abs(pivot) > _LEAST_PIVOT * size


@compiled(inside=True, borrowing=True)
def _refactor(matrix, block, e, pivots, factored):
    """Factors of the leading (e, e) ``block``, by those of fewer rows if there are some; whether it is regular."""
    done = factored[0]
    factored[0] = e
    while 0 < done < e and _extend(matrix, block, done, pivots):
        done += 1
    if done == e:
        return True
    for a in range(e):
        for c in range(e):
            matrix[a, c] = block[a, c]
    return _factor(matrix, e, pivots)


@compiled(inside=True, borrowing=True)
def _solve(matrix, e, pivots, x):
    """Solve with the factors of `_factor`, in place."""
    for c in range(e):
        p = pivots[c]
        x[c], x[p] = x[p], x[c]
    for c in range(e):
        for a in range(np.uint64(c + 1), np.uint64(e)):
            x[a] -= matrix[a, c] * x[c]
    for c in range(e - 1, -1, -1):
        x[c] *= matrix[c, c]
        for a in range(np.uint64(c)):
            x[a] -= matrix[a, c] * x[c]


@compiled(inside=True, borrowing=True, fastmath=_FAST)
def _rates(T, T_b, side, changed, e, v, rows, coefficients, size, out):
    """How all rows answer the first ``size`` of ``rows`` and the E rows ``changed`` by v, put behind them.

    Returns how fast the multipliers answer, their sizes added. The coefficients are not kept: they are left with the
    signs of T.
    """
    for a in range(e):
        rows[size + a], coefficients[size + a] = changed[a], v[a]
    size += e
    b_speed = 0.0
    for g in range(T_b.shape[0]):
        rate = 0.0
        for a in range(size):
            rate += coefficients[a] * T_b[g, rows[a]]
        b_speed += abs(rate)
    for a in range(size):
        coefficients[a] *= side[rows[a]]
    clear(out, out.shape[0])
    combine_first(T, rows, coefficients, size, out)  # by the rows of T
    for i in range(out.shape[0]):
        out[i] *= side[i]
    for a in range(e):
        out[changed[a]] = v[a]
    return b_speed


@compiled(inside=True, borrowing=True)
def _change_side(i, T, side, changed, e, where, block, factored):
    """Row i enters or leaves E; ``block`` keeps T_EE. Returns the new size of E."""
    if where[i] < 0:
        for a in range(e):
            block[e, a] = T[i, changed[a]]
            block[a, e] = side[i] * side[changed[a]] * T[i, changed[a]]
        block[e, e] = T[i, i]
        changed[e] = i
        where[i] = e
        return e + 1
    factored[0] = 0
    a, last = where[i], e - 1
    for c in range(e):
        block[a, c] = block[last, c]
    for c in range(e):
        block[c, a] = block[c, last]
    changed[a] = changed[last]
    where[changed[a]] = a
    where[i] = -1
    return last


@compiled(inside=True, borrowing=True)
def _drop(i, free, n_free):
    """Take row i from the list of free rows; returns their new number."""
    for a in range(n_free):
        if free[a] == i:
            free[a] = free[n_free - 1]
            break
    return n_free - 1


@compiled(inside=True, borrowing=True, fastmath=_FAST)
def walk(tableau, point, change, max_events, memory):
    """Follow the solution while the bounds move; ``point``, arrays (w,), is changed in place. Returns (code, events).

    The multipliers are not followed: the certificate at the end tells what they are. ``memory`` is what `memory_for`
    makes, whatever it holds.

    What the tableau cannot do, because too many rows change sides, is a code other than ARRIVED.
    """
    T, T_b, group, side, diagonal = tableau.T, tableau.T_b, tableau.group, tableau.side, tableau.diagonal
    beta, g, lo, hi, status = point.beta, point.g, point.lo, point.hi, point.status
    dlo, dhi = change.lo, change.hi
    w, lead = beta.shape[0], T_b.shape[0]
    free, moving, where, changed, pivots = memory.free, memory.moving, memory.where, memory.changed, memory.pivots
    rate, answer, outward, lo_end, hi_end = memory.rate, memory.answer, memory.outward, memory.lo_end, memory.hi_end
    n_free_of, speed, times, v = memory.n_free_of, memory.speed, memory.times, memory.v
    rows, coefficients, block, small = memory.rows, memory.coefficients, memory.block, memory.factors
    factored = memory.factored
    factored[0] = 0
    e, n_free, n_moving = np.int64(0), np.int64(0), np.int64(0)
    clear(n_free_of, lead)
    for i in range(w):
        where[i] = -1
        if dlo[i] != 0.0 or dhi[i] != 0.0:
            lo_end[i], hi_end[i] = lo[i] + dlo[i], hi[i] + dhi[i]
            moving[n_moving] = i
            n_moving += 1
        if status[i] == FREE:
            free[n_free] = i
            n_free += 1
            n_free_of[group[i]] += 1
        elif side[i] < 0.0:
            if e == _MOST_CHANGES:
                return BASIS_FULL, 0
            e = _change_side(i, T, side, changed, e, where, block, factored)
        outward[i] = outward_sign(status[i], may_open(lo[i], hi[i], dlo[i], dhi[i]))

    remaining = 1.0
    events = 0
    while True:
        lacking = np.int64(-1)
        for k in range(lead):
            if n_free_of[k] == 0:
                lacking = np.int64(k)
        if lacking >= 0:  # its multiplier moves to the row that can make up for what the bounds take
            total = 0.0
            for c in range(n_moving):
                if group[moving[c]] == lacking:
                    total += bound_rate(moving[c], status, dlo, dhi)
            row = compensator(group, lacking, g, lo, hi, status, total)
            if row < 0:
                return NO_COMPENSATION, events
            if e >= _MOST_CHANGES:
                return BASIS_FULL, events
            shift = g[row]
            for i in range(w):
                if group[i] == lacking:
                    g[i] -= shift
            status[row], outward[row] = FREE, 0.0
            free[n_free] = row
            n_free += 1
            n_free_of[lacking] += 1
            e = _change_side(row, T, side, changed, e, where, block, factored)
            events += 1
            continue
        if not _refactor(small, block, e, pivots, factored):
            return UNSTABLE, events

        clear(v, e)
        size = np.int64(0)
        for c in range(n_moving):
            i = moving[c]
            pace = bound_rate(i, status, dlo, dhi)
            if pace == 0.0:
                continue
            if where[i] >= 0:
                v[where[i]] += pace
            else:
                rows[size], coefficients[size] = i, pace
                size += 1
                for a in range(e):
                    v[a] -= pace * side[i] * side[changed[a]] * T[i, changed[a]]
        _solve(small, e, pivots, v)
        scale = _rates(T, T_b, side, changed, e, v, rows, coefficients, size, rate)
        for a in range(n_free):
            speed[a] = rate[free[a]]
            rate[free[a]] = 0.0
            scale += abs(speed[a]) * diagonal[free[a]]

        when, place, row = next_event(
            point, change, free, n_free, speed, g, rate, outward, 1e-13 * scale, remaining, times
        )

        for i in range(w):
            g[i] += when * rate[i]
        for a in range(n_free):
            beta[free[a]] += when * speed[a]
        remaining -= when
        left = remaining if row >= 0 else 0.0
        advance(beta, status, lo, hi, dlo, dhi, moving, n_moving, lo_end, hi_end, left)
        if row < 0:
            return ARRIVED, events
        events += 1
        if events > max_events:
            return TOO_MANY_EVENTS, events
        if e >= _MOST_CHANGES:
            return BASIS_FULL, events

        if place >= 0:
            up = speed[place] - dhi[row] > 0.0 and abs(hi[row] - beta[row]) <= abs(beta[row] - lo[row])
            to_bound(point, row, up)
            outward[row] = -1.0 if up else 1.0
            g[row] = 0.0
            n_free = _drop(row, free, n_free)
            n_free_of[group[row]] -= 1
            e = _change_side(row, T, side, changed, e, where, block, factored)
            continue

        if status[row] == FREE:  # only if something is not a number; ``free`` must not hold a row twice
            return UNSTABLE, events
        g[row] = 0.0
        inward = outward[row]
        size, scale = np.int64(0), diagonal[row]
        if where[row] >= 0:
            clear(v, e)
            v[where[row]] = 1.0
            _solve(small, e, pivots, v)
            sigma = v[where[row]]
        else:
            for a in range(e):
                v[a] = -side[row] * side[changed[a]] * T[row, changed[a]]
            _solve(small, e, pivots, v)
            sigma = T[row, row]
            for a in range(e):
                sigma += T[row, changed[a]] * v[a]
                scale += abs(T[row, changed[a]] * v[a])
            rows[0], coefficients[0] = row, 1.0
            size += 1
        if sigma <= DEPENDENT * scale:
            # The row depends on the free ones: β slides where no gradient changes, until a row stops it.
            _rates(T, T_b, side, changed, e, v, rows, coefficients, size, answer)
            for a in range(n_free):
                speed[a] = inward * answer[free[a]]
            room, place = slide(point, row, inward, free[:n_free], speed)
            if place < 0:
                to_bound(point, row, inward > 0)
                outward[row] = -inward
                continue
            beta[row] += inward * room
            blocking, up = free[place], speed[place] > 0
            to_bound(point, blocking, up)
            outward[blocking] = -1.0 if up else 1.0
            g[blocking] = 0.0
            n_free = _drop(blocking, free, n_free)
            n_free_of[group[blocking]] -= 1
            e = _change_side(blocking, T, side, changed, e, where, block, factored)
        status[row] = FREE
        outward[row] = 0.0
        free[n_free] = row
        n_free += 1
        n_free_of[group[row]] += 1
        e = _change_side(row, T, side, changed, e, where, block, factored)


@compiled(inside=True, borrowing=True)
def correct(stored, tableau, lo, hi, beta, h, memory):
    """A Newton correction of (β, h) in place: the g of the free rows becomes zero to rounding. lo, hi, beta, h: (n,).

    Nothing is done if a free row would leave its bounds or too many rows have changed sides.
    """
    near, T, group, side = tableau.rows, tableau.T, tableau.group, tableau.side
    w, lead = near.shape[0], tableau.T_b.shape[0]
    moved, where, changed, pivots, block = memory.free, memory.where, memory.changed, memory.pivots, memory.block
    factored = memory.factored
    members, total, rows, v, x = memory.n_free_of, memory.times, memory.rows, memory.coefficients, memory.v
    d, answer, step = memory.rate, memory.answer, memory.speed
    size, e, m = np.int64(0), np.int64(0), np.int64(0)
    clear(members, lead)
    clear(total, lead)
    for a in range(w):
        i = near[a]
        if lo[i] < beta[i] < hi[i]:
            moved[m] = i
            m += 1
            total[group[a]] += h[i]
            members[group[a]] += 1
    for k in range(lead):
        if members[k] == 0:
            return False
    for a in range(w):
        i = near[a]
        is_free = lo[i] < beta[i] < hi[i]
        d[a] = h[i] - total[group[a]] / members[group[a]] if is_free else 0.0
        where[a] = -1
        if is_free != (side[a] < 0.0):
            if e == _MOST_CHANGES:
                return False
            e = _change_side(a, T, side, changed, e, where, block, factored)
        elif is_free:
            rows[size], v[size] = a, d[a]
            size += 1
    for a in range(e):
        x[a] = d[changed[a]]
        for c in range(size):
            x[a] -= T[changed[a], rows[c]] * v[c]
    if not _factor(block, e, pivots):
        return False
    _solve(block, e, pivots, x)
    _rates(T, tableau.T_b, side, changed, e, x, rows, v, size, answer)
    m = np.int64(0)
    for a in range(w):
        i = near[a]
        if lo[i] < beta[i] < hi[i]:
            step[m] = -answer[a]
            if not lo[i] < beta[i] - step[m] < hi[i]:
                return False
            m += 1
    for a in range(m):
        beta[moved[a]] -= step[a]
    combine_first(stored, moved, step, m, h)
    return True
