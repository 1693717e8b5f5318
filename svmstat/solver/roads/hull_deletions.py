"""Many short paths from the nearest points of two hulls, by their tableau: each class has a sum of its own."""

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.compiled import compiled, copy_into
from svmstat.solver.case import Case, case_of
from svmstat.solver.exact.path import ARRIVED
from svmstat.solver.exact.tableau import Tableau, correct, memory_for
from svmstat.solver.gram import combine
from svmstat.solver.hulls import class_ends, divided, hulls_gap
from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.compact import are_distant
from svmstat.solver.roads.deletions import follow_tableau
from svmstat.solver.roads.paths import OVERRUN, Paths, Wanted, follow_h, open_box, origin_of
from svmstat.solver.solution import TOLERANCE, Batch, Road, Solution, doubtful, middle

_MOST_EVENTS = 300
"""Events after which a path is given up."""

_CORRECTIONS = 4
"""Where free rows nearly depend on each other each leaves a share of what was amiss."""


@compiled(inside=True)
def _crossed(h, beta, lo, hi, group, b, low, high):
    """Write the ends and the multipliers b, all (2,); by how much the ends of a class cross, and a sum is amiss."""
    unbalanced = class_ends(h, beta, lo, hi, group, low, high)
    for g in range(2):
        b[g] = middle(low[g], high[g])
    return max(0.0, low[0] - high[0], low[1] - high[1]), unbalanced


@compiled()
def certify_hulls(stored, tableau, wanted, group, paths, low, high, unbalanced):
    """The certificates of all nearest points that arrived, on the scale of h; low, high: (B, 2), unbalanced: (B,).

    Newton corrections while a hundredth of the tolerance is left of what rounding did on the way, and doubtful rows put
    at their bound: what `correct_all` and `settle_all` do for one sum.
    """
    n = wanted.signs.shape[0]
    lo, hi, b, b_low, b_high = np.empty(n), np.empty(n), np.empty(2), np.empty(2), np.empty(2)
    memory = memory_for(tableau.rows.shape[0], 2)
    for q in range(paths.beta.shape[0]):
        if paths.code[q] != ARRIVED:
            continue
        beta, h = paths.beta[q], paths.h[q]
        open_box(wanted.signs, wanted.uppers[q], lo, hi)
        crossed, amiss = _crossed(h, beta, lo, hi, group, b, b_low, b_high)
        tolerance = 0.5 * TOLERANCE * (b[1] - b[0])
        for _ in range(_CORRECTIONS):
            if crossed <= 0.01 * tolerance or not correct(stored, tableau, lo, hi, beta, h, memory):
                break
            crossed, amiss = _crossed(h, beta, lo, hi, group, b, b_low, b_high)
        rows, distance = doubtful(beta, lo, hi, 0.0)
        if rows.shape[0] > 0:
            part, part_h = beta.copy(), h.copy()
            for a in range(rows.shape[0]):
                part[rows[a]] -= distance[a]
            combine(stored, rows, distance, part_h)
            crossed, amiss = _crossed(part_h, part, lo, hi, group, b, b_low, b_high)
            if crossed <= tolerance and amiss <= TOLERANCE:
                copy_into(beta, part)
                copy_into(h, part_h)
            else:
                crossed, amiss = _crossed(h, beta, lo, hi, group, b, b_low, b_high)
        copy_into(low[q], b_low)
        copy_into(high[q], b_high)
        paths.violation[q], paths.gap[q], unbalanced[q] = crossed, hulls_gap(h, beta, lo, hi, group, b), amiss
        if not (b[1] > b[0] and crossed <= 0.5 * TOLERANCE * (b[1] - b[0])):
            paths.code[q] = OVERRUN


def follow_hulls(
    problem: BoxQP, origin: Solution, tableau: Tableau, uppers: Floats, chosen: NDArray[np.bool_], batch: Batch
) -> NDArray[np.intp]:
    """Put solutions for those bounds (B, n) that are ``chosen`` (B,) into the batch; which the tableau has led to.

    Not those that are not certified, nor those of which h has too few digits beside ρ (see `hulls`).
    """
    assert problem.total is not None and origin.nearest is not None
    wanted, gram = Wanted(problem.signs, uppers / problem.total), problem.gram.complete()
    start, paths = origin_of(problem, origin), Paths.empty(*uppers.shape)
    ends, unbalanced = np.zeros((2, len(uppers), 2)), np.zeros(len(uppers))
    near = ~are_distant(wanted.uppers, origin.nearest.caps)
    follow_tableau(tableau, start, wanted, chosen & near, _MOST_EVENTS, paths)
    follow_h(gram, start, origin.nearest.h, paths)
    certify_hulls(gram, tableau, wanted, problem.sums.group, paths, *ends, unbalanced)
    return _put(problem, case_of(problem, origin.upper), paths, ends, unbalanced, batch)


def _put(problem: BoxQP, case: Case, paths: Paths, ends: Floats, unbalanced: Floats, batch: Batch) -> NDArray[np.intp]:
    """Put those into the batch that are apart and, as far as the digits of h go, certified; which they are."""
    assert problem.total is not None
    some = np.flatnonzero(paths.code == ARRIVED)
    beta, h = paths.beta[some], paths.h[some]
    part = divided(problem, beta, h, ends[:, some], paths.gap[some], unbalanced[some], case.rounding)
    apart = -(beta * h).sum(axis=1) > case.nothing
    good = apart & (part.violation <= TOLERANCE)
    found = some[good]
    values: dict[str, NDArray[np.generic]] = {
        "alpha": part.alpha,
        "field": part.field,
        "intercept_interval": part.interval,
        "violation": part.violation,
        "gap": part.gap,
        "rounding": part.judged.rounding,
        "resolution": part.judged.resolution,
        "status": part.judged.status,
        "rho": problem.total * part.rho,
        "events": paths.events[some],
    }
    for name, value in values.items():
        getattr(batch, name)[found] = value[good]
    batch.road[found] = Road.TABLEAU
    return found
