"""Many quite different bound vectors on a matrix in memory: each solved on the rows that its bounds leave open.

A bootstrap replicate changes a third of the bounds, so that no path from the full fit is short. Its open rows are
gathered into a block of their own; descent and path on the block are those of a single problem without its care for
ill-conditioned bases: where that is needed the problem is handed back.

On a matrix of low rank with a large cost a descent takes steps without end, and a path is short of free rows: so a
problem is handed back as well once the path from the full fit would have been the shorter way.
"""

import numpy as np
from numba import njit

from svmstat.solver.basis import complete_basis, exclude
from svmstat.solver.bordered import bordered_block
from svmstat.solver.follow import OVERRUN, open_box
from svmstat.solver.gram import combine, gather
from svmstat.solver.path import ARRIVED, UNSTABLE, move
from svmstat.solver.smo import smo
from svmstat.solver.solution import AT_LOWER, AT_UPPER, FREE, certify, middle, settle

TOO_LONG = 7
"""The descent has taken more steps than the path from the neighbouring solution would be worth."""

_HANDOVERS = np.array([3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-6])


@njit(cache=True, nogil=True)
def _start(beta0, upper0, upper, lo, hi, rows, beta):
    """β (m,) of the open rows, that of a neighbouring solution scaled with the bounds, Σβ = 0 restored by shrinking."""
    positive, negative = 0.0, 0.0
    for a in range(rows.shape[0]):
        i = rows[a]
        scaled = beta0[i] * (upper[i] / upper0[i]) if upper0[i] > 0.0 else 0.0
        beta[a] = min(max(scaled, lo[a]), hi[a])
        positive += max(beta[a], 0.0)
        negative -= min(beta[a], 0.0)
    if positive == 0.0 or negative == 0.0:
        beta[:] = 0.0
        return
    for a in range(rows.shape[0]):
        beta[a] *= min(1.0, negative / positive) if beta[a] > 0.0 else min(1.0, positive / negative)


@njit(cache=True, nogil=True)
def _exact(K, s, lo, hi, beta, h, max_events):
    """One round of the polish on every row of K (m, m); (β, h) in place. Returns (code, events)."""
    m = beta.shape[0]
    settle(beta, lo, hi)
    b_low, b_high, violation, _ = certify(h, beta, lo, hi)
    b = middle(b_low, b_high)
    status, g = np.empty(m, np.int8), b - h
    free = np.empty(m, np.int64)
    n_free = 0
    for i in range(m):
        status[i] = AT_LOWER if beta[i] <= lo[i] else AT_UPPER if beta[i] >= hi[i] else FREE
        if status[i] == FREE:
            free[n_free] = i
            n_free += 1
    room = n_free + 64
    members, inverse = np.empty(room, np.int64), np.empty((room + 1, room + 1))
    members[:n_free] = free[:n_free]
    size = bordered_block(K, members[:n_free], inverse)
    scalars = np.array([b])
    if size < n_free:  # dependent free rows slide to a bound, along which no gradient changes
        size = complete_basis(K, None, beta, lo, hi, status, members, size, inverse, scalars)
    target = np.empty(m)
    for i in range(m):
        target[i] = 0.0 if status[i] == FREE else g[i]
        if status[i] == AT_LOWER and g[i] < 0.0:
            target[i] = violation
        elif status[i] == AT_UPPER and g[i] > 0.0:
            target[i] = -violation
    nothing = np.zeros(m)
    code, size, events = move(
        K,
        None,
        beta,
        target,
        lo.copy(),
        hi.copy(),
        nothing,
        nothing,
        target - g,
        status,
        members,
        size,
        inverse,
        scalars,
        max_events,
    )
    settle(beta, lo, hi)
    for position in range(size - 1, -1, -1):
        if not lo[members[position]] < beta[members[position]] < hi[members[position]]:
            size = exclude(None, members, size, inverse, position)
    _fresh(K, s, beta, h)
    _refine(K, members[:size], inverse, scalars[0], lo, hi, beta, h)
    return code, events


@njit(cache=True, nogil=True)
def _fresh(K, s, beta, h):
    """h = s − Kβ."""
    h[:] = s
    support = np.flatnonzero(beta)
    combine(K, support, -beta[support], h)


@njit(cache=True, nogil=True)
def _refine(K, rows, inverse, b, lo, hi, beta, h):
    """One Newton correction of the free rows, if no bound is met."""
    size = rows.shape[0]
    if size == 0:
        return
    x = np.zeros(size + 1)
    for c in range(size + 1):
        residual = beta.sum() if c == 0 else b - h[rows[c - 1]]
        for a in range(size + 1):
            x[a] -= inverse[a, c] * residual
    for a in range(size):
        if not lo[rows[a]] < beta[rows[a]] + x[a + 1] < hi[rows[a]]:
            return
    for a in range(size):
        beta[rows[a]] += x[a + 1]
    combine(K, rows, -x[1:], h)


@njit(cache=True, nogil=True)
def _expected_events(h, beta, lo, hi):
    """Bound rows whose |g| is smaller than the violation, times free rows: the price of the path in descent steps."""
    b_low, b_high, violation, _ = certify(h, beta, lo, hi)
    b = middle(b_low, b_high)
    near, free = 0, 0
    for i in range(h.shape[0]):
        if lo[i] < beta[i] < hi[i]:
            free += 1
        elif abs(b - h[i]) < violation:
            near += 1
    return near * free


@njit(cache=True, nogil=True)
def compact_all(
    stored,
    signs,
    linear,
    beta0,
    upper0,
    uppers,
    wanted,
    patience,
    tolerance,
    beta,
    h,
    interval,
    violation,
    gap,
    code,
    steps,
    events,
):
    """Solve for the rows of ``uppers`` (B, n) that are ``wanted`` (B,); results as in `certify_all`.

    After ``patience`` steps the code is TOO_LONG, and there is no result.
    """
    n = signs.shape[0]
    full_lo, full_hi = np.empty(n), np.empty(n)
    room = np.empty(0)
    for q in range(uppers.shape[0]):
        if not wanted[q]:
            continue
        rows = np.flatnonzero(uppers[q] > 0.0)
        m = rows.shape[0]
        if room.shape[0] < m * m:
            room = np.empty(m * m)
        K = room[: m * m].reshape(m, m)
        gather(stored, rows, rows, np.arange(m), K)
        open_box(signs, uppers[q], full_lo, full_hi)
        lo, hi, s = full_lo[rows], full_hi[rows], linear[rows]
        part, part_h = np.empty(m), np.empty(m)
        _start(beta0, upper0, uppers[q], lo, hi, rows, part)
        _fresh(K, s, part, part_h)
        code[q] = OVERRUN
        for k in range(_HANDOVERS.shape[0]):
            done, _ = smo(K, lo, hi, part, part_h, _HANDOVERS[k], min(100 * m + 20000, patience - steps[q]))
            steps[q] += done
            if steps[q] >= patience:
                code[q] = TOO_LONG
                break
            last = k + 1 == _HANDOVERS.shape[0]
            if not last and _expected_events(part_h, part, lo, hi) > 0.7 * steps[q]:
                continue
            result, spent = _exact(K, s, lo, hi, part, part_h, 100 + 4 * m if last else 100 + m // 4)
            events[q] += spent
            if certify(part_h, part, lo, hi)[2] <= tolerance:
                code[q] = ARRIVED
                break
            if result == UNSTABLE:
                break
        if code[q] == TOO_LONG:
            continue
        beta[q] = 0.0
        beta[q][rows] = part
        h[q] = linear
        support = np.flatnonzero(beta[q])
        combine(stored, support, -beta[q][support], h[q])
        interval[q, 0], interval[q, 1], violation[q], gap[q] = certify(h[q], beta[q], full_lo, full_hi)
        if violation[q] > tolerance:
            code[q] = OVERRUN
