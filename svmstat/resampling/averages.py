"""Means of predictions at altered rows, by a fit and by all its replicates at once.

Every effect is made of such means: their differences are average comparisons, their sums accumulated local effects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from svmstat._tools.arrays import Codes, Floats
from svmstat.calibration import VENN_ABERS, Calibration, Maps
from svmstat.formula import AlteredDesign
from svmstat.machine import Machine
from svmstat.resampling.loops import Outlook, run_pieces
from svmstat.resampling.replicates import PairsReplicates

_ROOM = 2**22
"""Numbers of all columns, replicates and classes that a task holds at a time."""


def other_maps(maps: Calibration) -> str:
    """The kind of the maps of a fit, if replicates have no such maps; otherwise nothing."""
    return maps.kind if maps.kind in ("insample", VENN_ABERS) else ""


def is_flat(maps: Calibration) -> bool:
    """Whether the maps give all rows the same probabilities, whatever their f."""
    return isinstance(maps, Maps) and not maps.slope.any()


@dataclass(frozen=True, slots=True)
class SignedMeans:
    """What is to be averaged: the prediction at row r counts ``share[r]`` in the value ``place[r]``.

    Attributes
    ----------
    X : (m, p) altered rows as the machine takes them, of which slices are taken
    place : (m,) which of the values each belongs to
    share : (m,) of its weight, negative where it is subtracted
    size : how many values there are
    """

    X: AlteredDesign
    place: Codes
    share: Floats
    size: int


@dataclass(frozen=True, slots=True)
class Predictor:
    """Probabilities or decision values, by the fit and after it by each of its replicates.

    Attributes
    ----------
    machine : the fit
    maps : its maps
    replicates : refits to drawn rows; None for the fit alone
    on : "prob" or "decision"
    """

    machine: Machine
    maps: Calibration
    replicates: PairsReplicates | None
    on: str

    @property
    def count(self) -> int:
        """1 + B."""
        return 1 + (0 if self.replicates is None else len(self.replicates.counts))

    @property
    def other_maps(self) -> str:
        """The kind of its maps where those of the replicates, Platt's of rows that they left out, are of another."""
        return other_maps(self.maps) if self.on == "prob" else ""

    def drawn(self, place: Codes, size: int) -> Floats:
        """(B, size) the weights of the rows that were drawn, by their place (n,), −1 for none."""
        groups = self.machine.groups
        used = np.flatnonzero((place >= 0) & (groups.of_row >= 0))
        shares = groups.share[used], (groups.of_row[used], place[used])
        counts = np.empty((0, len(groups.first))) if self.replicates is None else self.replicates.counts
        return np.asarray(counts @ csr_array(shares, shape=(counts.shape[1], size)))

    def __call__(self, X: Floats) -> Floats:
        """(1 + B, m, Q): Q classes, or pairs; NaN by replicates that failed."""
        f = self.machine.decision_function(X)
        own = self.maps.probabilities(f) if self.on == "prob" else f
        if self.replicates is None:
            return own[None]
        how = self.replicates.probabilities if self.on == "prob" else self.replicates.decision_function
        return np.concatenate([own[None], how(X)])


def means(
    predict: Predictor, wanted: Sequence[SignedMeans], n_jobs: int | None = None, progress: bool = False, *,
    what: str = "effects",
) -> list[Floats]:  # fmt: skip
    """The means (1 + B, size, Q) of each, all in one loop over parts of the rows.

    Parameters
    ----------
    predict : what is averaged
    wanted : over what
    n_jobs, progress : as in `leave_one_out`
    what : they are of, where it takes long
    """
    numbers = predict.count * predict.machine.n_classes**2 + predict.machine.X.shape[1]
    size = max(1, _ROOM // numbers)
    pieces = [
        (predict, each, slice(start, start + size)) for each in wanted for start in range(0, len(each.X), size)
    ]  # fmt: skip
    trial = partial(_part, *max(pieces, key=lambda piece: len(piece[1].X[piece[2]])))
    found = run_pieces(
        _part, pieces, n_jobs=n_jobs, progress=progress, what=what,
        outlook=Outlook([(trial, float(len(pieces)))], reason="predictions are averaged over all rows"),
    )  # fmt: skip
    sums: dict[int, Floats] = {}
    for (_, each, _), part in zip(pieces, found, strict=True):
        sums[id(each)] = sums[id(each)] + part if id(each) in sums else part
    return [sums[id(each)] for each in wanted]


def _part(predict: Predictor, wanted: SignedMeans, rows: slice) -> Floats:
    values = predict(wanted.X[rows])
    R, m, Q = values.shape
    sums = csr_array((wanted.share[rows], (wanted.place[rows], np.arange(m))), shape=(wanted.size, m))
    flat = sums @ values.transpose(1, 0, 2).reshape(m, R * Q)
    return np.asarray(flat.reshape(wanted.size, R, Q).transpose(1, 0, 2))
