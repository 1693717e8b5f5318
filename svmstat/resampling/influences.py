"""What each row does to the fit and how badly it is predicted; the largest of each in refits to drawn labels."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat.machine import Machine
from svmstat.objective.units import Units
from svmstat.resampling.predicted import How, Predicted, predicted
from svmstat.resampling.relabelled import Refit, redrawn


@dataclass(frozen=True, slots=True)
class Influences:
    """Measures of n rows; what of them is the deletion of a copy is that of min(w, 1) copies.

    Attributes
    ----------
    delta_deviance : (n,) ΔD_k = D − D_(k)
    own : (n,) the row's own part of it, −2 log p_{y_k}(x_k) by the in-sample map
    others : (n,) the rest, what the other rows gain without it
    outlyingness : (n,) −2 log π_k[y_k], held out
    rms_change : (n,) root mean square change of f over the other rows, and pairs
    """

    delta_deviance: Floats
    own: Floats
    others: Floats
    outlyingness: Floats
    rms_change: Floats

    def taken(self, order: Codes) -> "Influences":
        """Those of some of the rows or groups, in an order."""
        return Influences(*(getattr(self, name)[order] for name in MEASURES))


MEASURES = tuple(field.name for field in fields(Influences))


def influences(
    weights: Floats, deviance: float, deviance_deleted: Floats, insample: Floats, unseen: Floats, rms_change: Floats,
    units: Units | None = None,
) -> Influences:  # fmt: skip
    """The measures of n rows; of a unit that is a group those of the G groups, of which out and own are sums.

    Parameters
    ----------
    weights : (n,) case weights; a row of weight zero has no influence
    deviance, deviance_deleted : D and (n,) D_(k)
    insample, unseen : (n,) log-likelihoods by the in-sample map, and held out
    rms_change : (n,)
    units : what is left out
    """
    taken = np.minimum(weights, 1.0) if units is None else weights
    own = np.where(weights > 0, -2.0 * taken * insample, 0.0)
    outlyingness = -2.0 * unseen
    if units is not None and units.grouped:
        first = np.array([rows[0] for rows in units])
        deviance_deleted, rms_change = deviance_deleted[first], rms_change[first]
        own, outlyingness = units.sums(own), units.sums(np.where(weights > 0, weights * outlyingness, 0.0))
    delta = deviance - deviance_deleted
    return Influences(delta, own, delta - own, outlyingness, rms_change)


class Largest(NamedTuple):
    """Maxima over rows of each of ``MEASURES``, NaN where a replicate failed.

    Attributes
    ----------
    first : (B, 5) in refits to labels from the probabilities of the fit
    second : (R, 5) in refits to labels from the probabilities of the first R of these
    """

    first: Floats
    second: Floats


_LEAST_SECOND = 49
"""So many tell how much flatter a refit is."""


def seconds_of(B: int) -> int:
    """R: of how many of B refits there is a refit."""
    return max(_LEAST_SECOND, B // 4)


def maxima(found: Sequence[Floats | None]) -> Floats:
    """(B, 5) those of each replicate."""
    return np.array([np.full(len(MEASURES), np.nan) if each is None else each for each in found])


def largest_influences(how: How, machine: Machine, point: Codes, rng: np.random.Generator) -> Floats | None:
    """The maxima of a refit; None where a row cannot be held out."""
    del point, rng  # the maximum does not care where rows are
    found = predicted(machine, how, influence=True)
    return None if found is None else largest_of(found)


def largest_of_second(
    how: How, refit: Refit | None, machine: Machine, point: Codes, rng: np.random.Generator
) -> Floats | None:
    """The maxima of a refit to labels from the probabilities of a refit."""
    del point
    found = predicted(machine, how)
    drawn = None if found is None else redrawn(machine, found.probability, refit, rng)
    return None if drawn is None else largest_influences(how, *drawn, rng)


def largest_of(found: Predicted) -> Floats | None:
    """The maxima of a fit; None where nothing is known of the influence of its rows."""
    if found.left is None:
        return None
    machine, changes = found.machine, found.left.changes
    each = influences(
        machine.weights, found.deviance, changes.deviance_deleted,
        found.insample.log_likelihoods(machine.decision_values, machine.codes), found.unseen.log_likelihood,
        changes.rms_change,
    )  # fmt: skip
    return np.array([getattr(each, name).max() for name in MEASURES])
