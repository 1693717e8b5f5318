"""The bootstrapped deviance with many classes [003: section 2.3]: replicates are bound vectors for every pair."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from svmstat.bounds import counts, weighted
from svmstat.calibration import fit_maps
from svmstat.machine import source
from svmstat.multiclass.pairs import PairsMachine, elsewhere
from svmstat.multiclass.probabilities import LEAST, PairMaps, coupled
from svmstat.resampling import Replicates
from svmstat.resampling.bootstrap import outlook_of_replicates, replicate_generator, tasks_of
from svmstat.resampling.loops import run_pieces
from svmstat.solver import Anchor, BoxQP, Gram, Status, solve

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


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
    machine: PairsMachine, maps: PairMaps, *, B: int, method: str, seed: np.random.SeedSequence,
    n_jobs: int | None = None, progress: bool = False,
) -> Replicates:  # fmt: skip
    """Deviances of B replicates of the fit; the arguments are those of `svmstat.resampling.bootstrap_deviance`."""
    chances = machine.groups.weights / machine.groups.weights.sum()
    starts = _observed(machine)
    if method == "parametric":
        chances, starts = maps.probabilities(machine.group_values), _every_label(machine)
    gram = starts[0].problem.gram
    tasks = [(machine, maps, starts, method, chances, seed, which) for which in tasks_of(B, gram)]
    trial = partial(_replicates, machine, maps, starts, method, chances, seed, np.zeros(1, np.intp))
    parts = run_pieces(
        _replicates, tasks, n_jobs=n_jobs, progress=progress, what="bootstrap",
        outlook=outlook_of_replicates(gram, trial, B),
    )  # fmt: skip
    return Replicates(np.concatenate(parts))


def _observed(machine: PairsMachine) -> list[_Start]:
    """The pairs as they were fitted."""
    return [
        _Start(pair.problem, Anchor(pair.solution, None), pair.rows, machine.group_codes[pair.rows])
        for pair in machine.pairs
    ]


def _every_label(machine: PairsMachine) -> list[_Start]:
    """The pairs with all groups, first as the one class and then as the other, on one matrix."""
    G, groups = len(machine.group_codes), machine.groups
    twice = np.tile(np.arange(G), 2)
    gram = Gram(source(machine.kernel, machine.X, groups.first[twice]))
    y = np.repeat([1.0, -1.0], G)
    starts = []
    for pair in machine.pairs:
        codes = np.where(y > 0, pair.first, pair.second)
        upper = weighted(machine.C, groups.weights[twice], pair.loss.class_weight(y))
        problem = BoxQP(gram, y, pair.loss.margin(y), upper, point=groups.point[twice])
        seen = np.where(machine.group_codes[twice] == codes, upper, 0.0)
        starts.append(_Start(problem, Anchor(solve(replace(problem, upper=seen)), None), twice, codes))
    return starts


def _replicates(
    machine: PairsMachine, maps: PairMaps, starts: list[_Start], method: str, chances: Floats,
    seed: np.random.SeedSequence, which: Codes,
) -> Floats:  # fmt: skip
    """Deviances (R,) of the replicates ``which`` (R,), NaN where one failed."""
    draw = _groups if method == "pairs" else _labels
    copies = np.array([draw(machine, chances, replicate_generator(seed, int(r))) for r in which])
    R, G, _ = copies.shape
    good = (copies.sum(axis=1) > 0).all(axis=1)
    f = np.empty((R, G, len(starts)))
    slope, intercept = np.empty((R, 1, len(starts))), np.empty((R, 1, len(starts)))
    for p, start in enumerate(starts):
        weights = copies[:, start.rows, start.codes]
        bounds = counts(start.problem.upper, machine.groups.weights[start.rows], weights)
        batch = solve(start.problem, bounds, start=start.anchor)
        y = start.problem.signs
        slope[:, 0, p], intercept[:, 0, p], converged = fit_maps(
            batch.decision, y, weights, maps.slope[p], maps.intercept[p]
        )
        good &= converged & (batch.status == Status.CERTIFIED)
        f[:, start.rows, p] = batch.decision
        others = np.setdiff1d(np.arange(G), start.rows)
        f[:, others, p] = batch.decided(elsewhere(machine.gram, start.rows, others, batch.alpha * y))
    probability = coupled(f, slope, intercept, copies.sum(axis=1)[:, None], maps.coupling)
    values = -2.0 * (copies * np.log(np.maximum(probability, LEAST))).sum(axis=(1, 2))
    return np.where(good, values, np.nan)


def _groups(machine: PairsMachine, chances: Floats, rng: np.random.Generator) -> Floats:
    """How often each group is drawn with each label (G, K), the label being its own; chances (G,)."""
    copies = np.zeros((len(chances), machine.n_classes))
    drawn = rng.multinomial(round(machine.groups.weights.sum()), chances)
    copies[np.arange(len(chances)), machine.group_codes] = drawn
    return copies


def _labels(machine: PairsMachine, chances: Floats, rng: np.random.Generator) -> Floats:
    """How many copies of each group have each label (G, K), drawn by their chances (G, K)."""
    return rng.multinomial(machine.groups.weights.astype(np.int64), chances).astype(float)
