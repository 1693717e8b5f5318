"""The bootstrapped deviance [003: section 2.3]: replicates are bound vectors on the kernel matrix of the fit."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from svmstat.bounds import counts
from svmstat.calibration import Platt, deviance, fit_map
from svmstat.machine import Machine, problem_on
from svmstat.resampling.loops import Outlook, matrix_bytes, matrix_reason, run_pieces
from svmstat.solver import Anchor, BoxQP, Gram, Status, solve

Floats = NDArray[np.float64]

METHODS = ("pairs", "parametric")

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


def bootstrap_deviance(
    machine: Machine, platt: Platt, *, B: int, method: str, seed: np.random.SeedSequence,
    n_jobs: int | None = None, progress: bool = False,
) -> Replicates:  # fmt: skip
    """Deviances of B replicates of the fit.

    Parameters
    ----------
    machine : the fit
    platt : its Platt map
    B : number of replicates, ≥ 1
    method : "pairs" draws round(Σw) copies of the rows with probabilities w/Σw; "parametric" keeps the rows and draws
        the label of each of their w copies from P(event | x), the Platt probability; its w must be whole numbers
    seed : replicate r depends on it and on r alone
    n_jobs, progress : as in `leave_one_out`

    Returns
    -------
    Replicates
    """
    if method == "pairs":
        problem, anchor, weights = machine.problem, Anchor(machine.solution, None), machine.groups.weights
        chances = weights / weights.sum()
    else:
        problem, anchor, weights = _both_labels(machine)
        chances = platt.probability(machine.solution.decision)
    tasks = [(problem, anchor, weights, chances, method, seed, which, platt) for which in tasks_of(B, problem.gram)]
    trial = partial(_replicates, problem, anchor, weights, chances, method, seed, np.zeros(1, np.intp), platt)
    parts = run_pieces(
        _replicates, tasks, n_jobs=n_jobs, progress=progress, what="bootstrap",
        outlook=outlook_of_replicates(problem.gram, trial, B),
    )  # fmt: skip
    return Replicates(np.concatenate(parts))


def tasks_of(B: int, gram: Gram) -> list[NDArray[np.intp]]:
    """The replicates of each task."""
    chunk = _CHUNK if gram.fits else 1
    return [np.arange(start, min(start + chunk, B)) for start in range(0, B, chunk)]


def outlook_of_replicates(gram: Gram, trial: Callable[[], Any], B: int) -> Outlook:
    """What B replicates will cost, by one; a worker holds a block of kernel values of the rows that it has drawn."""
    each = 8.0 * (_ARRAYS * _CHUNK * gram.n + min(gram.n, _LARGEST_BLOCK) ** 2)
    return Outlook([(trial, float(B))], matrix_bytes(gram), each, matrix_reason(gram))


def _both_labels(machine: Machine) -> tuple[BoxQP, Anchor, Floats]:
    """The problem with every group of rows as an event and once more as none, (2G,), and the fit as its start."""
    groups, observed = machine.groups, machine.problem.signs
    G = len(observed)
    which, weights = np.tile(np.arange(G), 2), np.tile(groups.weights, 2)
    labels = np.repeat([1.0, -1.0], G)
    problem = problem_on(machine, which, labels, weights)
    seen = np.where(np.tile(observed, 2) == labels, problem.upper, 0.0)
    return problem, Anchor(solve(replace(problem, upper=seen)), None), weights


def _replicates(
    problem: BoxQP, anchor: Anchor, weights: Floats, chances: Floats, method: str, seed: np.random.SeedSequence,
    which: NDArray[np.intp], platt: Platt,
) -> Floats:  # fmt: skip
    """Deviances (R,) of the replicates ``which`` (R,)."""
    draw = _pairs if method == "pairs" else _labels
    copies = np.array([draw(replicate_generator(seed, int(r)), weights, chances) for r in which], dtype=float)
    bounds = counts(problem.upper, weights, copies)
    batch = solve(problem, bounds, start=anchor)
    f = np.add(batch.field, batch.intercept[:, None], out=batch.field)
    values = np.empty(len(which))
    _deviances(f, problem.signs, copies, platt.slope, platt.intercept, batch.status == Status.CERTIFIED, values)
    return values


def replicate_generator(seed: np.random.SeedSequence, replicate: int) -> np.random.Generator:
    """The random numbers of one replicate."""
    child = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, replicate))
    return np.random.Generator(np.random.PCG64(child))


def _pairs(rng: np.random.Generator, weights: Floats, chances: Floats) -> NDArray[np.int64]:
    """How often each row (n,) is drawn."""
    return rng.multinomial(round(weights.sum()), chances)


def _labels(rng: np.random.Generator, weights: Floats, chances: Floats) -> NDArray[np.int64]:
    """How many copies of each row are events, then how many are not, (2n,)."""
    n = len(chances)
    events = rng.binomial(weights[:n].astype(np.int64), chances)
    return np.concatenate([events, weights[:n].astype(np.int64) - events])


@njit(cache=True, nogil=True)
def _deviances(f, y, copies, slope, intercept, solved, values):
    """The deviance of each replicate over its own rows: f, copies (R, n), y (n,), solved and values (R,)."""
    for q in range(f.shape[0]):
        values[q] = np.nan
        if solved[q]:
            rows = np.flatnonzero(copies[q])
            part, labels, weights = f[q][rows], y[rows], copies[q][rows]
            a, b, converged = fit_map(part, labels, weights, slope, intercept)
            if converged:
                values[q] = deviance(part, labels, weights, a, b)
