"""Refits to other labels of the same rows, drawn from probabilities or permuted, each looked at as the fit itself was.

The rows stay where they are, and so does every kernel value: a refit has other signs on the same matrix, and a row of
weight w is w copies, each with a label of its own.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from svmstat._tools.arrays import Codes, Floats
from svmstat.machine import Machine, fit_again, in_units, rows_of
from svmstat.objective.units import Units, are_whole
from svmstat.resampling.bootstrap import drawn_labels, labels_of, replicate_generator
from svmstat.resampling.deletions import numbers_of_deletions
from svmstat.resampling.loops import Outlook, matrix_bytes, matrix_reason, run_pieces

Result = TypeVar("Result")

Refit = Callable[[Floats, Codes, Floats], Machine | None]
"""The machine that a procedure, such as a search for cost and kernel, makes of X (n, p), classes and weights (n,); None
where it finds none."""

Look = Callable[[Machine, Codes, np.random.Generator], Result | None]
"""What is computed of a refit, of the points (n,) of its rows, and of what else is drawn; None where that fails."""

_GRAIN = 2.0**-20
"""Of which weights that were whole are multiples."""

_MATRICES = 3
"""Matrices that a worker holds at a time, a tableau and what deletions say of every row."""


def refits(
    machine: Machine, look: Look[Result], *, chances: Floats | None, B: int, seed: np.random.SeedSequence,
    first: int = 0, refit: Refit | None = None, n_jobs: int | None = None, progress: bool = False, what: str,
) -> list[Result | None]:  # fmt: skip
    """What there is to see in B refits to other labels.

    Parameters
    ----------
    machine : the fit; its weights are whole numbers
    look : what is computed of each refit
    chances : (G, K) from which the labels of the copies of each group are drawn; None permutes the labels of all copies
    B : number of replicates
    seed : replicate r depends on it and on r alone
    first : the number of the first of them
    refit : how a machine is made of the labels; by default with the cost and the kernel of the fit, on its matrix
    n_jobs, progress, what : as in `run_pieces`

    Returns
    -------
    list of B results
        None for a replicate that has lost a class, whose refit is not certified, or where the look fails.
    """
    machine.keep_all_rows()
    gram = machine.gram
    trial = partial(_look_at, machine, look, chances, seed, refit, first)
    each = 8.0 * _MATRICES * gram.n**2 if gram.keeps else numbers_of_deletions(gram)
    return run_pieces(
        _look_at,
        [(machine, look, chances, seed, refit, r) for r in range(first, first + B)],
        n_jobs=n_jobs,
        progress=progress,
        what=what,
        outlook=Outlook([(trial, float(B))], matrix_bytes(gram), each, matrix_reason(gram)),
    )


def _look_at(
    machine: Machine, look: Look[Result], chances: Floats | None, seed: np.random.SeedSequence, refit: Refit | None,
    replicate: int,
) -> Result | None:  # fmt: skip
    """One replicate."""
    rng = replicate_generator(seed, replicate)
    drawn = redrawn(machine, chances, refit, rng)
    return None if drawn is None else look(*drawn, rng)


def of_copies(look: Look[Result], machine: Machine, point: Codes, rng: np.random.Generator) -> Result | None:
    """What is seen where each copy of a row is a row."""
    apart, place = copies_apart(machine)
    return look(apart, point[place], rng)


def copies_apart(machine: Machine) -> tuple[Machine, Codes]:
    """The same machine with each copy of a row as a row, and which row it was (Σw,)."""
    place = np.repeat(np.arange(len(machine.weights)), machine.weights.astype(np.intp))
    if len(place) == len(machine.weights):
        return machine, place
    return in_units(machine, place, np.ones(len(place)), None), place


def redrawn(
    machine: Machine, chances: Floats | None, refit: Refit | None, rng: np.random.Generator
) -> tuple[Machine, Codes] | None:
    """A refit to other labels, as in `refits`, and the points (n,) of its rows; None where there is none."""
    if machine.units is not None:
        return _redrawn_in_units(machine, machine.units, chances, rng)
    copies = permuted_labels(machine, rng) if chances is None else drawn_labels(machine, chances, rng)
    first = first_of_points(machine)
    at_point = np.add.reduceat(copies, first)
    if not at_point.any(axis=0).all():
        return None
    point, codes = np.nonzero(at_point)
    rows, weights = first[point], at_point[point, codes]
    again = fit_again(machine, rows, codes, weights) if refit is None else refit(rows_of(machine, rows), codes, weights)
    return None if again is None or not again.certified.all() else (again, point)


def _redrawn_in_units(
    machine: Machine, units: Units, chances: Floats | None, rng: np.random.Generator
) -> tuple[Machine, Codes] | None:
    """A refit of rows that belong to units, to which their copies with other labels still belong."""
    rows = np.flatnonzero(units.of_row >= 0)
    keys = machine.weights[rows], units.of_row[rows], machine.groups.of_row[rows]
    rows = rows[np.lexsort(keys)]  # whatever their order is
    if chances is None:
        copies = permuted_in_units(machine, units, rows, rng)
    else:
        rows, w = _without_repeats(machine, units, rows)
        of_row = machine.groups.of_row[rows]
        if are_whole(w):
            copies = labels_of(machine, w, chances[of_row], rng)
        else:  # no repeats: a row has one label, with all of its weight
            copies = w[:, None] * labels_of(machine, np.ones(len(w)), chances[of_row], rng)
    first, at = first_of_points(machine), points_of(machine)[rows]
    at_point = np.zeros((len(first), machine.n_classes))
    np.add.at(at_point, at, copies)
    if not at_point.any(axis=0).all():
        return None
    point, codes = np.nonzero(at_point)
    again = fit_again(machine, first[point], codes, at_point[point, codes])
    if not again.certified.all():
        return None
    number = np.full(at_point.shape, -1)
    number[point, codes] = np.arange(len(point))
    part, label = np.nonzero(copies)
    place = number[at[part], label]
    again = in_units(again, place, copies[part, label], units.among(rows[part]))
    return again, point[place]


def _without_repeats(machine: Machine, units: Units, rows: Codes) -> tuple[Codes, Floats]:
    """One of the rows (m,) that are equal and in one unit, in their order, and what these weigh together.

    All rows where weights are no repeats.
    """
    w = machine.weights[rows]
    if not are_whole(w):
        return rows, w
    kinds = np.column_stack([machine.groups.of_row[rows], units.of_row[rows]])
    _, first, kind = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    return rows[first], np.bincount(kind.ravel(), w).astype(float)


def permuted_in_units(machine: Machine, units: Units, rows: Codes, rng: np.random.Generator) -> Floats:
    """How much of the weight of each of the rows (m,) has each label (m, K).

    Where no unit has two labels the labels of units are permuted, whole; otherwise those of rows within their unit, of
    rows of whole weight those of all copies. A label takes the weight of its unit, or of its row, with it: labels go
    with weights in a sample of cases and controls, and shares of classes that change would move the score.
    """
    codes, of_row, w = machine.codes[rows], units.of_row[rows], machine.weights[rows]
    if units.are_pure(machine.codes):
        order, totals = rng.permutation(units.count), np.bincount(of_row, w, units.count).astype(float)
        own = np.empty(units.count, np.intp)
        own[of_row] = codes
        labels, place = own[order][of_row], np.arange(len(rows))
        times = _shared_out(w, of_row, totals, totals[order])
    else:
        whole = are_whole(w)
        place = np.repeat(np.arange(len(rows)), w.astype(np.intp) if whole else 1)
        order = np.argsort(of_row[place], kind="stable")
        shuffled = np.lexsort((rng.random(len(place)), of_row[place]))
        labels = np.empty(len(place), np.intp)
        labels[order] = codes[place[shuffled]]
        times = np.ones(len(place))
        if not whole:
            times[order] = w[shuffled]
    copies = np.zeros((len(rows), machine.n_classes))
    np.add.at(copies, (place, labels), times)
    return copies


def _shared_out(w: Floats, of_row: Codes, totals: Floats, wanted: Floats) -> Floats:
    """Weights (m,) in proportion to w that add up to what is wanted of each unit (U,), where w does to the totals.

    Of whole numbers they are multiples of a small one, so that sums stay exact, and one row of a unit has the rest.
    """
    ratio = np.divide(wanted, totals, out=np.ones(len(totals)), where=totals > 0.0)
    times = w * ratio[of_row]
    if are_whole(w):
        times = np.floor(times / _GRAIN) * _GRAIN
        units, first = np.unique(of_row, return_index=True)
        times[first] += (wanted - np.bincount(of_row, times, len(totals)))[units]
    return times


def arrangements(machine: Machine) -> float:
    """How many responses the permuted labels can make at most; infinite where doubles have no such number."""
    units, w, rows = machine.units, machine.weights, np.eye(machine.n_classes)[machine.codes]
    if units is None:
        counts = machine.totals[None]
    else:
        counts = units.sums(rows * (w if are_whole(w) else np.ones(len(w)))[:, None])
        if units.are_pure(machine.codes):
            counts = (counts > 0).sum(axis=0)[None]
        else:
            counts[_at_one_point(machine, units)] = 0.0  # whatever label each row has, the data are the same
    with np.errstate(over="ignore"):
        return float(np.exp((gammaln(counts.sum(axis=1) + 1.0) - gammaln(counts + 1.0).sum(axis=1)).sum()))


def _at_one_point(machine: Machine, units: Units) -> NDArray[np.bool_]:
    """(U,) whether all rows of a unit have the same predictors."""
    used = units.of_row >= 0
    of_row, point = units.of_row[used], points_of(machine)[used]
    first = np.empty(units.count, np.intp)
    first[of_row] = point
    return np.asarray(np.bincount(of_row, point != first[of_row], units.count) == 0.0)


def first_of_points(machine: Machine) -> Codes:
    """(S,) the first group of each point."""
    return np.unique(machine.groups.point)


def points_of(machine: Machine) -> Codes:
    """(n,) which of the S points each row is at, −1 for a row of weight zero."""
    return machine.groups.to_rows(np.searchsorted(first_of_points(machine), machine.groups.point))


def permuted_labels(machine: Machine, rng: np.random.Generator) -> Floats:
    """How many copies of each group have each label (G, K), the labels of all copies being permuted."""
    times, K = machine.groups.weights.astype(np.intp), machine.n_classes
    codes = rng.permutation(np.repeat(machine.group_codes, times))
    place = np.repeat(np.arange(len(times)), times)
    return np.bincount(place * K + codes, minlength=len(times) * K).reshape(-1, K).astype(float)
