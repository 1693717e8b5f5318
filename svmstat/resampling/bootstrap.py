"""The bootstrapped deviance [003: section 2.3]: replicates are bound vectors for every pair, on the kernel matrix."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.compiled import compiled
from svmstat.calibration import Maps, coupled, deviance, fit_map
from svmstat.calibration.maps import LEAST
from svmstat.machine import Machine, elsewhere, gram_of, others_of, tied_where_coarse
from svmstat.objective.bounds import counts
from svmstat.resampling.loops import Outlook, matrix_bytes, matrix_reason, run_pieces
from svmstat.solver import Anchor, BoxQP, Gram, LowRank, Status, solve

_CHUNK = 16
"""Replicates per task, whatever the number of workers, so that their results do not depend on it; one where the kernel
matrix is not in memory."""

_LARGEST_BLOCK = 6000
"""Rows of the kernel values that a task holds at a time."""

_ARRAYS = 12
"""Arrays (replicates, rows) that a task holds at a time."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """Bootstrapped deviances.

    Attributes
    ----------
    deviance : (B,) NaN where a replicate failed: a class lost, no certificate, or no converged Platt map
    """

    deviance: Floats


@dataclass(frozen=True, slots=True)
class _Start:
    """Where the replicates of a pair set off.

    Attributes
    ----------
    problem : the pair on the m rows that can belong to it
    anchor : the fit
    rows, codes : (m,) their groups, and their classes
    """

    problem: BoxQP
    anchor: Anchor
    rows: Codes
    codes: Codes


def bootstrap_deviance(
    machine: Machine, maps: Maps, *, B: int, method: str, seed: np.random.SeedSequence,
    n_jobs: int | None = None, progress: bool = False,
) -> Replicates:  # fmt: skip
    """Deviances of B replicates of the fit.

    Parameters
    ----------
    machine : the fit
    maps : its Platt maps
    B : number of replicates, ≥ 1
    method : "pairs" draws rows as `drawn_rows` does; "parametric" keeps the rows and draws
        the class of each of their w copies from its probabilities; its w must be whole numbers
    seed : replicate r depends on it and on r alone
    n_jobs, progress : as in `leave_one_out`

    Returns
    -------
    Replicates
    """
    if method == "pairs":
        chances, starts = None, _observed(machine)
    else:
        chances, starts = maps.probabilities(machine.group_values), _every_label(machine)
    gram = machine.gram if method == "pairs" else starts[0].problem.gram
    together = tasks_of(B, gram, whole=len(starts) > 1)  # products of matrices: the last bit depends on their size
    tasks = [(machine, maps, starts, chances, seed, which) for which in together]
    trial = partial(_replicates, machine, maps, starts, chances, seed, np.zeros(1, np.intp))
    parts = run_pieces(
        _replicates, tasks, n_jobs=n_jobs, progress=progress, what="bootstrap",
        outlook=outlook_of_replicates(gram, trial, B),
    )  # fmt: skip
    return Replicates(np.concatenate(parts)[:B])


def tasks_of(B: int, gram: Gram, *, whole: bool = False) -> list[NDArray[np.intp]]:
    """The replicates of each task; where all tasks are ``whole`` the last may have some beyond B."""
    chunk = _CHUNK if gram.fits else 1
    return [np.arange(start, start + chunk if whole else min(start + chunk, B)) for start in range(0, B, chunk)]


def outlook_of_replicates(gram: Gram, trial: Callable[[], Any], B: int) -> Outlook:
    """What B replicates will cost, by one; a worker holds a block of kernel values of the rows that it has drawn.

    Of a factor neither is needed.
    """
    each = 8.0 * _ARRAYS * _CHUNK * gram.n
    block = 0.0 if isinstance(gram, LowRank) else 8.0 * min(gram.n, _LARGEST_BLOCK) ** 2
    return Outlook([(trial, float(B))], matrix_bytes(gram), each + block, matrix_reason(gram))


def _observed(machine: Machine) -> list[_Start]:
    """The pairs as they were fitted."""
    return [
        _Start(pair.problem, Anchor(pair.solution, None), pair.rows, machine.group_codes[pair.rows])
        for pair in machine.pairs
    ]


def _every_label(machine: Machine) -> list[_Start]:
    """The pairs with all groups, first as the one class and then as the other, on one matrix."""
    G, groups = len(machine.group_codes), machine.groups
    twice, y = np.tile(np.arange(G), 2), np.repeat([1.0, -1.0], G)
    gram = gram_of(machine.kernel, machine.X, groups.first[twice])
    starts = []
    for pair in machine.pairs:
        codes = np.where(y > 0, pair.first, pair.second)
        problem = pair.pose(gram, y, groups.weights[twice], groups.point[twice], pair.C)
        seen = np.where(machine.group_codes[twice] == codes, problem.upper, 0.0)
        starts.append(_Start(problem, Anchor(solve(replace(problem, upper=seen)), None), twice, codes))
    return starts


def _replicates(
    machine: Machine, maps: Maps, starts: list[_Start], chances: Floats | None, seed: np.random.SeedSequence,
    which: Codes,
) -> Floats:  # fmt: skip
    """Deviances (R,) of the replicates ``which`` (R,), NaN where one failed; without chances of drawn rows."""
    draw = partial(_pairs, machine) if chances is None else partial(drawn_labels, machine, chances)
    copies = np.array([draw(replicate_generator(seed, int(r))) for r in which])
    R, G, _ = copies.shape
    f, good = np.empty((R, G, len(starts))), np.ones(R, bool)
    slope, intercept = np.empty((R, 1, len(starts))), np.empty((R, 1, len(starts)))
    for p, start in enumerate(starts):
        y, weights = start.problem.signs, copies[:, start.rows, start.codes]
        bounds = counts(start.problem.upper, machine.groups.weights[start.rows], weights)
        batch = solve(start.problem, bounds, start=start.anchor)
        good &= batch.status == Status.CERTIFIED
        found = np.add(batch.field, batch.intercept[:, None], out=batch.field)
        decision = tied_where_coarse(found, batch.resolution)
        numbers = np.empty((3, R))
        _fit_maps(decision, y, weights, maps.slope[p], maps.intercept[p], good, numbers)
        if len(starts) == 1:
            return np.where(good, numbers[2], np.nan)
        slope[:, 0, p], intercept[:, 0, p] = numbers[:2]
        f[:, start.rows, p] = decision
        others = others_of(np.unique(start.rows), G)
        f[:, others, p] = elsewhere(machine.gram, start.rows, others, batch.alpha * y) + batch.intercept[:, None]
    probability = coupled(f, slope, intercept, copies.sum(axis=1)[:, None], maps.coupling)
    values = -2.0 * (copies * np.log(np.maximum(probability, LEAST))).sum(axis=(1, 2))
    return np.where(good, values, np.nan)


def replicate_generator(seed: np.random.SeedSequence, replicate: int) -> np.random.Generator:
    """The random numbers of one replicate."""
    child = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, replicate))
    return np.random.Generator(np.random.PCG64(child))


class Drawn(NamedTuple):
    """A sample with replacement: of each group of equal rows what was drawn, and of what was not the weight, (G,)."""

    copies: Floats
    left_out: Floats


def drawn_rows(machine: Machine, rng: np.random.Generator) -> Drawn:
    """Draw round(Σw) copies of the rows with chances w/Σw; or of G units G with equal chances, whole.

    What is left out are copies that were not drawn: of w of them w (1 − 1/w)^c are expected after c draws, and less
    than half of one is none. Of units those that were not drawn are left out.
    """
    weights, units = machine.groups.weights, machine.units
    if units is None:
        copies = rng.multinomial(round(weights.sum()), weights / weights.sum()).astype(float)
        return Drawn(copies, _undrawn(copies, weights))
    times = rng.multinomial(units.count, np.full(units.count, 1.0 / units.count))
    used = np.flatnonzero(units.of_row >= 0)
    of_row, place, w = times[units.of_row[used]], machine.groups.of_row[used], machine.weights[used]
    return Drawn(*(np.bincount(place, w * often, len(weights)).astype(float) for often in (of_row, of_row == 0)))


def _undrawn(copies: Floats, weights: Floats) -> Floats:
    """What is left out of groups (G,) of these weights by so many draws.

    Examples
    --------
    >>> _undrawn(np.array([0.0, 1.0, 2.0, 0.0, 1.0]), np.array([2.0, 2.0, 2.0, 0.5, 0.5]))
    array([2. , 1. , 0.5, 0.5, 0. ])
    """
    several = np.maximum(weights, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # of one copy, log 0
        share = np.where(copies > 0.0, np.exp(copies * np.log1p(-1.0 / several)), 1.0)
    return np.where(weights * share >= 0.5 * np.minimum(weights, 1.0), weights * share, 0.0)


def _pairs(machine: Machine, rng: np.random.Generator) -> Floats:
    """How often each group is drawn with each label (G, K), the label being its own."""
    copies = np.zeros((len(machine.group_codes), machine.n_classes))
    copies[np.arange(len(copies)), machine.group_codes] = drawn_rows(machine, rng).copies
    return copies


def drawn_labels(machine: Machine, chances: Floats, rng: np.random.Generator) -> Floats:
    """How many copies of each group have each label (G, K), drawn by their chances (G, K), the event's first."""
    return labels_of(machine, machine.groups.weights, chances, rng)


def labels_of(machine: Machine, weights: Floats, chances: Floats, rng: np.random.Generator) -> Floats:
    """The same of any parts of the rows (m,), whose weights (m,) are whole numbers."""
    order = list(dict.fromkeys(machine.classes.ravel().tolist()))
    copies = np.empty(chances.shape)
    copies[:, order] = rng.multinomial(weights.astype(np.int64), chances[:, order])
    return copies


@compiled()
def _fit_maps(f, y, copies, slope, intercept, good, numbers):
    """Fill ``numbers`` (3, R): A, B and the deviance of a pair over its own rows; and ``good`` (R,), if A and B are.

    f, copies (R, m), y (m,). Replicates that are not good are left out.
    """
    for q in range(f.shape[0]):
        numbers[:, q] = np.nan
        if good[q]:
            rows = np.flatnonzero(copies[q])
            part, labels, weights = f[q][rows], y[rows], copies[q][rows]
            a, b, good[q] = fit_map(part, labels, weights, slope, intercept)
            numbers[0, q], numbers[1, q] = a, b
            numbers[2, q] = deviance(part, labels, weights, a, b)
