"""What a road ends with: (β, h) made as good as rounding allows, and the solution with its certificate."""

from dataclasses import replace

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.doubles import EPS
from svmstat.solver.case import Case, fresh, judge
from svmstat.solver.exact.factored import finish, unsettled
from svmstat.solver.exact.polish import no_basis, polish_further
from svmstat.solver.exact.sharpen import correct, hides, sharpen
from svmstat.solver.flat import is_all_of_f, is_noise, may_be_flat, squared_norm
from svmstat.solver.gram import Gram
from svmstat.solver.hulls import Divided, class_ends, divided, hulls_gap
from svmstat.solver.pivoted import MOST_COLUMNS
from svmstat.solver.problem import BoxQP
from svmstat.solver.solution import (
    CONDITION,
    NO_NOISE,
    PRECISION,
    TOLERANCE,
    Basis,
    Nearest,
    Road,
    Solution,
    Status,
    as_good_as_rounding,
    blur_of,
    certify,
    doubtful,
    is_hazy,
    is_rough,
    is_seen,
    judgement,
    middle,
    off_the_sum,
    reach_of,
    rounding_of,
    sizes_beside,
)

_NEARLY = 100.0
"""A violation of so many tolerances is worth being polished further where h hardly varies."""

_ROUNDED = 1e-14
"""Of Σ|β| this is left of the sum by rounding."""

_SHARE_LEFT = 1e-14
"""Of the largest |β| on the way this is left by rounding."""


def concluded(
    problem: BoxQP, case: Case, upper: Floats, beta: Floats, h: Floats, basis: Basis | None, road: Road, steps: int,
    events: int,
) -> Solution:  # fmt: skip
    """As `certified`, rows of (β, h) that are free by rounding alone put at their bound first."""
    return certified(problem, case, upper, beta, h, settled_basis(case, beta, h, basis), road, steps, events)


def certified(
    problem: BoxQP, case: Case, upper: Floats, beta: Floats, h: Floats, basis: Basis | None, road: Road, steps: int,
    events: int, left: float = 0.0,
) -> Solution:  # fmt: skip
    """The solution β with h = s − Kβ, both (n,) and h to within ``left``, and its certificate, which may not hold.

    Where rounding might hide too much of it (β, h) are sharpened in place.
    """
    if case.lead > 1:
        if hides(case, judge(case, beta, h)):
            correct(case, beta, h, basis)
            case = replace(case, rounding=float(EPS * np.abs(h).max()))
        return _of_hulls(problem, case, beta, h, basis, road, steps, events)
    linear, lo, hi, share = case.linear, case.lo, case.hi, problem.gram.ordinary.share
    rounding = limit = float(rounding_of(beta, problem.gram.sizes)) + left + case.handed_down
    ends, field, spread = _ends(case, beta, h)
    if is_rough(ends[2], rounding, spread) and _may_be_flat(problem, beta, h, ends[3], rounding):
        correct(case, beta, h, basis)
        ends, field, spread = _ends(case, beta, h)
    elif share * limit > PRECISION * spread and not _may_be_flat(problem, beta, h, ends[3], rounding):
        rounding = sharpen(case, beta, h, limit, basis)
        rounding = max(rounding, blur_of(beta, problem.gram.diagonal, problem.gram.blur))
        ends, field, spread = _ends(case, beta, h)
    flat, lost, size = False, False, max(float(field.max()), -float(field.min()))
    reach, beside = reach_of(ends[3], problem.gram.sizes), sizes_beside(middle(*ends[:2]), linear)
    blurred = _unsettled(case, beta, h, reach, spread, limit)
    noise = is_noise(size, ends[2], rounding)
    if size <= PRECISION:
        noise |= not is_seen(ends[2], share * rounding, beside, spread) or size <= CONDITION * blurred
    if noise and _may_be_flat(problem, beta, h, ends[3], rounding):
        without = certify(linear, beta, lo, hi)
        flat = bool(without[2] <= TOLERANCE)
        if flat:
            lost = is_all_of_f(problem, beta, ends[0] - ends[1], middle(*without[:2]))
            field, ends, rounding = np.zeros(problem.n), without, rounding + size
            spread, share = 1.0, 1.0
            reach, beside = reach_of(ends[3], problem.gram.sizes), sizes_beside(middle(*ends[:2]), linear)
    b_low, b_high, violation, gap = ends
    norm_squared = 0.0 if flat else squared_norm(problem.gram, beta, field, limit)
    energy = float(beta @ field) if np.isnan(norm_squared) else norm_squared
    judged = judgement(violation, rounding, limit, beside, spread, reach, share)
    alpha = problem.signs * beta
    objective = 0.5 * energy - float(problem.margin @ alpha)
    status = Status(int(judged.status))
    if status is Status.CERTIFIED and lost:
        status = Status.IMPRECISE
    elif status is Status.IMPRECISE and violation > TOLERANCE and gap > -objective:
        status = Status.UNCERTIFIED  # a constant f would be as good
    return Solution(
        alpha=alpha,
        upper=upper,
        field=field,
        intercept_interval=(float(b_low), float(b_high)),
        violation=float(violation),
        gap=float(gap),
        rounding=float(judged.rounding),
        resolution=max(float(judged.resolution), CONDITION * blurred),
        delicate=bool(share * limit > PRECISION * spread),
        flat=flat,
        norm_squared=norm_squared,
        objective=objective,
        status=status,
        road=road,
        steps=steps,
        events=events,
        basis=basis,
    )


def _ends(case: Case, beta: Floats, h: Floats) -> tuple[tuple[float, float, float, float], Floats, float]:
    """What `certify` finds, Kβ (n,), and its spread over ordinary rows."""
    field = case.linear - h
    return certify(h, beta, case.lo, case.hi), field, float(case.gram.ordinary.spread(field))


def _of_hulls(
    problem: BoxQP, case: Case, beta: Floats, h: Floats, basis: Basis | None, road: Road, steps: int, events: int
) -> Solution:
    """The same for the nearest points β of two hulls: divided by ρ."""
    total, lo, hi, group = float(problem.total or 0.0), case.lo, case.hi, case.sums.group
    verdict = judge(case, beta, h)
    ends = np.empty((2, 2))
    low, high = ends
    unbalanced = class_ends(h, beta, lo, hi, group, low, high)
    norm_squared = max(-float(beta @ h), 0.0)
    meet = norm_squared <= case.nothing or verdict.scale == 0.0
    rho = 0.0 if meet else verdict.scale
    if meet:
        found = _meeting(problem, beta, norm_squared, unbalanced)
    else:
        gap = float(hulls_gap(h, beta, lo, hi, group, verdict.b))
        found = divided(problem, beta, h, ends, gap, unbalanced, case.rounding)
    caps = np.maximum(hi, -lo)
    nearest = Nearest(beta, caps, h, total * rho, (0.0, 0.0), verdict.certified)
    spread = (float(0.5 * total * (low[1] - high[0])), float(0.5 * total * (high[1] - low[0])))
    return Solution(
        alpha=found.alpha,
        upper=caps * total if meet else caps / rho,
        field=found.field,
        intercept_interval=(float(found.interval[0]), float(found.interval[1])),
        violation=float(found.violation),
        gap=float(found.gap),
        rounding=float(found.judged.rounding),
        resolution=float(found.judged.resolution),
        delicate=bool(problem.gram.ordinary.share * found.rounding > PRECISION * found.extent),
        flat=meet,
        norm_squared=0.0 if meet else norm_squared / rho / rho,
        objective=0.0 if meet else 0.5 * norm_squared / rho / rho - float(found.alpha.sum()),
        status=Status(int(found.judged.status)) if verdict.certified else Status.UNCERTIFIED,
        road=road,
        steps=steps,
        events=events,
        basis=basis,
        nearest=nearest if meet else replace(nearest, rho_interval=(max(spread[0], 0.0), spread[1])),
    )


def _meeting(problem: BoxQP, beta: Floats, norm_squared: float, unbalanced: float) -> Divided:
    """What is reported of hulls that meet: f = 0, and the α of the 2ν form itself."""
    rounding, total = rounding_of(beta, problem.gram.sizes), float(problem.total or 0.0)
    violation, gap = np.asarray(unbalanced), np.asarray(norm_squared)
    judged = judgement(violation, rounding, rounding, 0.0, 1.0, share=problem.gram.ordinary.share)
    return Divided(
        problem.signs * beta * total, np.zeros(problem.n), np.zeros(2), violation, gap, rounding, np.ones(()),
        np.zeros(()), judged,
    )  # fmt: skip


def _unsettled(case: Case, beta: Floats, h: Floats, reach: Floats, spread: float, rounding: float) -> float:
    """By how much f would be another if values of K were off in their last digits, where the gap does not tell."""
    if not is_hazy(case.gram.ordinary.share * reach, spread):
        return 0.0
    G = case.gram.short_factor()
    if G is None or np.abs(case.linear - G @ (G.T @ beta) - h).max() > as_good_as_rounding(rounding):
        return 0.0  # no factor, or one of a K that is not positive semidefinite
    return unsettled(case, G, beta, h)


def _may_be_flat(problem: BoxQP, beta: Floats, h: Floats, gap: float, rounding: float) -> bool:
    return bool(may_be_flat(problem.linear - h, beta, gap, rounding, problem.gram.diagonal))


def settled_basis(case: Case, beta: Floats, h: Floats, basis: Basis | None, largest: float = 0.0) -> Basis | None:
    """Put doubtful rows of (β, h) at their bound, in place, if the certificate then holds; the basis without them.

    A row that rounding keeps from its bound would otherwise count as free and pin the intercept to it. It is as near to
    the bound as rounding of the ``largest`` |β| on the way is large, or what a path has lost of the sum of β. Where h
    hardly varies the violation must not come to hide it, which the other free rows may have to see to.
    """
    noise = min(_SHARE_LEFT * largest, NO_NOISE * float(np.abs(beta).max()))
    if case.lead == 1:
        noise = max(noise, float(off_the_sum(beta)))
    rows, distance = doubtful(beta, case.lo, case.hi, noise)
    if len(rows) == 0:
        return basis
    part = beta.copy()
    part[rows] -= distance
    part_h = fresh(case, part)
    if _unbalances(case, part, beta) or _hides_more(case, (part, part_h), (beta, h)):
        if not case.free(part).any():
            return basis
        correct(case, part, part_h, None)
        if _unbalances(case, part, beta) or is_hidden(case, part, part_h):
            return basis
    if not judge(case, part, part_h).certified:
        return basis
    beta[:], h[:] = part, part_h
    return None


def _unbalances(case: Case, found: Floats, before: Floats) -> bool:
    """Whether the sum of one β is further from zero than that of another, and not by rounding."""
    if case.lead > 1:
        return False
    off, was = abs(float(found.sum())), abs(float(before.sum()))
    return off > was + _ROUNDED * float(np.abs(found).sum())


def _hides_more(case: Case, found: tuple[Floats, Floats], before: tuple[Floats, Floats]) -> bool:
    """Whether the violation of one (β, h) hides too much of h, and that of another does not."""
    return case.lead == 1 and is_hidden(case, *found) and not is_hidden(case, *before)


def is_hidden(case: Case, beta: Floats, h: Floats) -> bool:
    """Whether the violation of (β, h) hides too much of h, and it is not of rounding."""
    rounding, spread = rounding_of(beta, case.gram.sizes), case.gram.ordinary.spread(case.linear - h)
    return bool(is_rough(judge(case, beta, h).violation, rounding, spread))


def made_finer(case: Case, beta: Floats, h: Floats, basis: Basis | None) -> tuple[Basis | None, int]:
    """Make (β, h) exact to rounding, in place, where the violation hides too much of h, as for a tiny C.

    The basis that then belongs to it, if it is known, and how many events that took. With a total the violation is a
    share of ρ, which is small where h is.
    """
    if case.lead > 1:
        return basis, 0
    _, _, violation, gap = certify(h, beta, case.lo, case.hi)
    ordinary = case.gram.ordinary
    rounding, spread = float(rounding_of(beta, case.gram.sizes)), float(ordinary.spread(case.linear - h))
    rough = is_rough(max(violation, 0.0), rounding, spread)
    hazy = is_hazy(ordinary.share * reach_of(gap, case.gram.sizes), spread)
    if violation > _NEARLY * TOLERANCE or not (rough or hazy):
        return basis, 0
    if (events := by_short_factor(case, beta, h)) is not None:
        return None, events
    if not rough:
        return basis, 0
    return None, polish_further(case, beta, h, float(as_good_as_rounding(rounding)))


def by_short_factor(case: Case, beta: Floats, h: Floats, *, last: bool = False) -> int | None:
    """Make (β, h) exact by a factor of K, in place; how many events that took, None where it does not do.

    It does not where sums of kernel values hide a millionth of the margin: G has lost those digits as well. Hulls whose
    distance has no digits are left to the path, unless this is the ``last`` that is tried.
    """
    G = case.gram.short_factor() if case.lead == 1 else _short_factor_of_hulls(case.gram)
    if G is None:
        return None
    trial, trial_h = beta.copy(), np.empty(len(h))
    events = finish(case, G, trial, trial_h)
    trial_h = fresh(case, trial)
    verdict = judge(case, trial, trial_h)
    if hidden := hides(case, verdict) and not verdict.meet:
        correct(case, trial, trial_h, None)
        verdict = judge(case, trial, trial_h)
    lost = rounding_of(trial, case.gram.sizes) > PRECISION * verdict.scale and not (verdict.meet or hidden)
    if (lost or not verdict.certified) and not (last and hidden):
        return None
    beta[:], h[:] = trial, trial_h
    return events


def _short_factor_of_hulls(gram: Gram) -> Floats | None:
    """The explicit map of the kernel, if it is short: with one sum there is a road for it that is shorter still."""
    A = gram.vectors
    if A is None:
        return gram.short_factor()
    return np.ascontiguousarray(A) if A.shape[1] <= MOST_COLUMNS else None


def arrived(solution: Solution) -> bool:
    """Whether the tolerance is met, for the nearest points of two hulls as far as the digits of h go."""
    return bool(solution.violation <= TOLERANCE) if solution.nearest is None else solution.nearest.exact


def unsolved(problem: BoxQP, upper: Floats, status: Status) -> Solution:
    """What stands for the solution where there is none."""
    nothing = np.full(problem.n, np.nan)
    nearest = None if problem.total is None else Nearest(nothing, nothing, nothing, np.nan, (np.nan, np.nan), False)
    return Solution(
        nothing, upper, nothing, (np.nan, np.nan), np.nan, np.nan, np.nan, np.nan, False, False, np.nan, np.nan, status,
        Road.COLD, 0, 0, no_basis(1 if problem.total is None else 2), nearest,
    )  # fmt: skip
