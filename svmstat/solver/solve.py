"""The one entry to the solver: one or many bound vectors on one kernel matrix, every solution with its certificate."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.solver.case import Neighbour
from svmstat.solver.exact.path import ARRIVED
from svmstat.solver.exact.tableau import Tableau, make_tableau
from svmstat.solver.flat import is_noise, left_over, may_be_flat, may_be_outweighed, outweighed
from svmstat.solver.hulls import feasible
from svmstat.solver.low_rank import LowRank
from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.chain import chain, hulls_stay, moved_on, set_off_from, unmoved
from svmstat.solver.roads.climb import climb
from svmstat.solver.roads.compact import LARGEST, are_distant, solve_compactly
from svmstat.solver.roads.conclude import arrived
from svmstat.solver.roads.deletions import follow, stay
from svmstat.solver.roads.hull_deletions import follow_hulls
from svmstat.solver.roads.paths import NOT_TRIED, Paths, Wanted, origin_of, put_certificate, settle_all
from svmstat.solver.roads.single import basis_of, solve_single
from svmstat.solver.roads.vicinity import Vicinity, solve_near, vicinity_of
from svmstat.solver.solution import (
    PRECISION,
    TOLERANCE,
    Batch,
    Judgement,
    Road,
    Solution,
    Status,
    certify,
    is_hazy,
    is_rough,
    judgement,
    middles,
    reach_of,
    rounding_of,
    sizes_beside,
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A solution made ready to set off from many times."""

    solution: Solution
    tableau: Tableau | None


def anchor_at(problem: BoxQP, solution: Solution, share: float = 1.0) -> Anchor:
    """Prepare a solution of the problem, for any bounds, as the start of many batches.

    Where others are kept beside it this may take a ``share`` of the memory, but for a tableau of many support vectors;
    by a short map there is a way without any.
    """
    if not arrived(solution):
        return Anchor(solution, None)
    if isinstance(problem.gram, LowRank) and 8 * problem.n**2 > share * problem.gram.budget:
        return Anchor(solution, None)
    basis = basis_of(problem, solution)
    tableau = None
    if solution.rho > 0.0:
        scale = solution.rho / (problem.total or 1.0)
        close = 0.0 if solution.flat else share  # where f is flat all rows are at the margin, and stay there mostly
        tableau = make_tableau(problem, origin_of(problem, solution), basis, scale, close)
    return Anchor(replace(solution, basis=basis), tableau)


@overload
def solve(problem: BoxQP, uppers: None = None, *, start: Solution | None = None) -> Solution: ...
@overload
def solve(problem: BoxQP, uppers: Floats, *, start: Solution | Anchor | None = None) -> Batch: ...
@overload
def solve(
    problem: BoxQP, uppers: Floats, *, start: Solution | None = None, in_turn: Literal[True]
) -> Iterator[Solution]: ...
def solve(
    problem: BoxQP, uppers: Floats | None = None, *, start: Solution | Anchor | None = None, in_turn: bool = False
) -> Solution | Batch | Iterator[Solution]:
    """Solve a problem for its own upper bounds, or for many others.

    Parameters
    ----------
    problem : the kernel matrix, signs, margins and upper bounds
    uppers : (B, n) upper bounds u ≥ 0; without them those of the problem
    start : a solution of the same problem, for its own or other bounds, to set off from. With ``uppers`` the
        solution for the problem's own bounds is computed if it is not given, and the `Anchor` of a solution saves its
        preparation when there are several batches.
    in_turn : whether each of the ``uppers`` is solved from the solution before it: for a fine line of bounds

    Returns
    -------
    Solution, or for ``uppers`` a Batch, or one Solution after another if they are solved in turn
        A bound vector that leaves one class only, or whose sum over a class is less than the total, is a status and
        NaN, not an exception.
    """
    origin = start.solution if isinstance(start, Anchor) else start
    if uppers is None:
        if origin is None or origin.status is Status.ONE_CLASS:
            return _from_nothing(problem)
        if problem.total is not None or isinstance(problem.gram, LowRank):
            return moved_on(problem, problem.upper, origin)
        same = unmoved(problem, problem.upper, origin)
        return set_off_from(problem, problem.upper, origin) if same is None else same
    uppers = np.ascontiguousarray(uppers, dtype=float)
    origin = solve(problem) if origin is None else origin
    if in_turn:
        return chain(problem, uppers, origin)
    if problem.total is not None:
        return _many_hulls(problem, uppers, origin, start.tableau if isinstance(start, Anchor) else None)
    return _many(problem, uppers, start if isinstance(start, Anchor) else anchor_at(problem, origin))


def _from_nothing(problem: BoxQP) -> Solution:
    """The solution for the bounds of the problem, by smaller ones where a descent does not end at it."""
    found = solve_single(problem, problem.upper, None, Road.COLD)
    if found.status is not Status.UNCERTIFIED or problem.total is not None:
        return found
    if problem.n > LARGEST or isinstance(problem.gram, LowRank) or not problem.gram.fits:
        return found
    return climb(problem) or found


def _many_hulls(problem: BoxQP, uppers: Floats, origin: Solution, tableau: Tableau | None) -> Batch:
    """By the tableau, if there is one, where not all stays as it is; where that leads to no end each for itself."""
    batch, stay = Batch.empty(*uppers.shape), hulls_stay(problem, uppers, origin)
    batch.put(stay, replace(origin, road=Road.PATH, steps=0, events=0))
    left = ~stay
    if tableau is not None:
        left[follow_hulls(problem, origin, tableau, uppers, left, batch)] = False
    for q in np.flatnonzero(left).tolist():
        batch.put(q, moved_on(problem, uppers[q], origin))
    return batch


def _many(problem: BoxQP, uppers: Floats, anchor: Anchor) -> Batch:
    B, n = uppers.shape
    origin = anchor.solution
    both = (uppers @ (problem.signs > 0) > 0.0) & (uppers @ (problem.signs < 0) > 0.0)
    paths = Paths.empty(B, n)
    steps, road = np.zeros(B, np.int64), np.full(B, Road.PATH, np.int8)
    distant = are_distant(uppers, origin.upper)
    far = bool(distant.all()) or anchor.tableau is None
    by_factor = isinstance(problem.gram, LowRank) and far  # each beside the origin, without a matrix
    if arrived(origin) and problem.gram.fits and not by_factor:
        road[distant], road[~distant] = Road.COMPACT, Road.TABLEAU
        if not distant.all():
            follow(problem, origin, anchor.tableau, uppers, ~distant, paths, road)
        if distant.any() and n <= LARGEST:  # of more rows a descent of its own is shorter than the path
            solve_compactly(problem, origin, uppers, both & distant, paths, steps, road)
        settle_all(problem.gram.complete(), Wanted(problem.signs, uppers), paths)
    elif arrived(origin):
        stay(problem, origin, uppers, paths)
    paths.h[paths.code != ARRIVED], paths.beta[paths.code == NOT_TRIED] = problem.linear, 0.0
    left = _cancel(problem, uppers, both, paths)
    judged, delicate = _judged(problem, uppers, origin, left, paths)
    status, rounding, resolution = judged.status, judged.rounding, judged.resolution
    pending = np.flatnonzero(both & ((paths.code != ARRIVED) | delicate)).tolist()
    vicinity, neighbour = _beside(problem, origin) if pending else (None, None)
    for q in pending:
        tried = paths.code[q] != NOT_TRIED
        from_path = tried and np.isfinite(paths.beta[q]).all()
        beta, upper = (paths.beta[q], uppers[q]) if from_path else (problem.signs * origin.alpha, origin.upper)
        single = None if vicinity is None else solve_near(problem, uppers[q], vicinity)
        if single is None:
            start = feasible(beta, upper, *problem.box(uppers[q]), one_by_one=True)
            way = Road.RESCUE if tried or not arrived(origin) else Road.WARM
            single = solve_single(problem, uppers[q], start, way, neighbour=neighbour)
        paths.put(q, problem.signs * single.alpha, problem.linear - single.field, single)
        rounding[q], resolution[q], status[q] = single.rounding, single.resolution, single.status
        road[q] = Road.LOW_RANK if single.road is Road.LOW_RANK else Road.RESCUE
        steps[q] += single.steps
    status[~both] = Status.ONE_CLASS
    for array in (paths.beta, paths.h, paths.interval, paths.violation, paths.gap, rounding, resolution):
        array[~both] = np.nan
    alpha = np.multiply(paths.beta, problem.signs, out=paths.beta)
    field = np.subtract(problem.linear, paths.h, out=paths.h)
    rho = np.where(both, 1.0, np.nan)
    return Batch(
        alpha, field, paths.interval, paths.violation, paths.gap, rounding, resolution, status, road, steps,
        paths.events, rho,
    )  # fmt: skip


def _judged(
    problem: BoxQP, uppers: Floats, origin: Solution, left: Floats, paths: Paths
) -> tuple[Judgement, NDArray[np.bool_]]:
    """What the paths come to, and which of them (B,) end where more is hidden than has to be; h = 0 where it is noise.

    Where β is that of the origin what is known of that holds.
    """
    diagonal, stays = problem.gram.diagonal, _stays(problem, origin, paths)
    limit = rounding_of(paths.beta, problem.gram.sizes) + (origin.rounding if arrived(origin) else 0.0) + left
    field = problem.linear - paths.h
    highest, lowest, ordinary = field.max(axis=1), field.min(axis=1), problem.gram.ordinary
    spread, dropped = ordinary.spread(field), np.maximum(highest, -lowest)
    rough = is_rough(paths.violation, limit, spread)
    noise = is_noise(dropped, paths.violation, limit) & ~rough
    maybe = np.flatnonzero(noise)
    noise[maybe] = may_be_flat(field[maybe], paths.beta[maybe], paths.gap[maybe], limit[maybe], diagonal)
    noise[stays] = origin.flat
    flat = _flatten(problem, uppers, noise, paths)
    limit, spread = limit + np.where(flat, dropped, 0.0), np.where(flat, 1.0, spread)
    beside = sizes_beside(middles(paths.interval), problem.linear)
    reach = reach_of(paths.gap, problem.gram.sizes)
    share = np.where(flat, 1.0, ordinary.share)
    judged = judgement(paths.violation, limit, limit, beside, spread, reach, share)
    judged.status[stays], judged.rounding[stays], judged.resolution[stays] = (
        origin.status, origin.rounding, origin.resolution,
    )  # fmt: skip
    hidden = share * limit > PRECISION * spread
    hazy = ~stays & ~flat & ~hidden & is_hazy(share * reach, spread)
    if hazy.any() and problem.gram.short_factor() is None:
        hazy[:] = False
    return judged, ~stays & (rough | hazy | (~flat & hidden))


def _stays(problem: BoxQP, origin: Solution, paths: Paths) -> NDArray[np.bool_]:
    """Where β (B, n) is that of the origin, which is certified, and optimal."""
    if origin.status is not Status.CERTIFIED:
        return np.zeros(len(paths.beta), bool)
    return np.asarray((paths.beta == problem.signs * origin.alpha).all(axis=1) & (paths.violation <= TOLERANCE))


def _beside(problem: BoxQP, origin: Solution) -> tuple[Vicinity | None, Neighbour | None]:
    """What leads to solutions near the origin where kernel values are not kept: of a short map, or of any kernel."""
    gram = problem.gram
    if not arrived(origin):
        return None, None
    if isinstance(gram, LowRank):
        return vicinity_of(problem, gram, origin), None
    if gram.fits or origin.flat:
        return None, None
    beta, h = problem.signs * origin.alpha, problem.linear - origin.field
    return None, Neighbour(beta, h, origin.rounding)


def _cancel(problem: BoxQP, uppers: Floats, both: NDArray[np.bool_], paths: "Paths") -> Floats:
    """Put the solution that needs no solving where one class outweighs the other at every point.

    How far from it (B,) the h of its β may be.
    """
    left = np.zeros(len(uppers))
    for q in np.flatnonzero(both & may_be_outweighed(problem, uppers)):
        alpha = outweighed(problem, uppers[q])
        if alpha is not None:
            paths.beta[q], paths.h[q] = problem.signs * alpha, problem.linear
            put_certificate(*problem.box(uppers[q]), q, paths)
            left[q] = left_over(problem, paths.beta[q])
    return left


def _flatten(problem: BoxQP, uppers: Floats, noise: NDArray[np.bool_], paths: "Paths") -> NDArray[np.bool_]:
    """Make h exactly s where Kβ is noise (B,) and the certificate holds for f = b, and tell where.

    A map of such a field would take what rounding left of it for a signal.
    """
    flat = noise.copy()
    for q in np.flatnonzero(noise):
        ends = certify(problem.linear, paths.beta[q], *problem.box(uppers[q]))
        flat[q] = ends[2] <= TOLERANCE
        if flat[q]:
            paths.h[q] = problem.linear
            paths.interval[q], paths.violation[q], paths.gap[q] = ends[:2], ends[2], ends[3]
    return flat
