"""What each row does to the fit and how badly it is predicted; the largest of each in refits to drawn labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat.machine import Machine
from svmstat.objective.units import Units, are_groups
from svmstat.resampling.predicted import How, Predicted, predicted
from svmstat.resampling.relabelled import Refit, copies_apart, redrawn


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
    if are_groups(units):
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


class Maxima(NamedTuple):
    """Maxima over rows of each of ``MEASURES``, (5,), None where a row cannot be held out.

    Attributes
    ----------
    first : of a refit
    second : of a refit to labels from its probabilities, where there is one
    """

    first: Floats | None
    second: Floats | None = None


OfRefit = Callable[[Predicted, np.random.Generator], Maxima]
"""The maxima of a refit, and of what else is drawn."""


def together(found: Sequence[Maxima | None], R: int) -> Largest:
    """Those of B replicates, of which the first R have a refit of the refit."""
    first, second = zip(*(each or Maxima(None) for each in found), strict=True)
    return Largest(_stacked(first), _stacked(second[:R]))


def _stacked(each: Sequence[Floats | None]) -> Floats:
    return np.array([np.full(len(MEASURES), np.nan) if one is None else one for one in each])


def largest_influences(
    how: How, maxima: OfRefit, machine: Machine, point: Codes, rng: np.random.Generator
) -> Maxima | None:
    """The maxima of a refit, or two; None where a row of the first cannot be held out."""
    del point  # the maximum does not care where rows are
    found = predicted(machine, how, influence=True)
    return None if found is None else maxima(found, rng)


def of_refit(found: Predicted, rng: np.random.Generator) -> Maxima:
    """Those of the refit alone."""
    del rng
    return Maxima(largest_of(found))


def of_both(how: How, refit: Refit | None, found: Predicted, rng: np.random.Generator) -> Maxima:
    """Those of the refit, and of one to labels from its probabilities."""
    drawn = redrawn(found.machine, found.probability, refit, rng)
    second = None
    if drawn is not None:
        again = copies_apart(drawn[0])[0] if (found.machine.weights == 1.0).all() else drawn[0]
        second = predicted(again, how, influence=True)
    return Maxima(largest_of(found), None if second is None else largest_of(second))


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
