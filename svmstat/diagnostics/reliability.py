"""Are probabilities calibrated? CORP reliability diagrams, and their numbers [Dimitriadis, Gneiting & Jordan 2021]."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.checks import at_least, between, refuse
from svmstat._tools.randomness import seed_sequence
from svmstat.calibration import ConsistencyBand, Corp, consistency_band, recalibrate
from svmstat.diagnostics.copies import copies_note
from svmstat.errors import ArgumentError, DataError
from svmstat.reporting.plots import class_reliability_plot, reliability_plot
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table
from svmstat.reporting.rendering.values import one_line, percent
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling.replicates import least_replicates

SAMPLES = 199
"""With level 0.9 the band leaves out the 10 least and the 10 largest of 199, which makes 0.9 exact: 180 of 200."""

_PARTS = ("score", "miscalibration", "discrimination", "uncertainty")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reliability(Printed):
    """Probabilities of one or more levels, each against the rest, beside their isotonic recalibration.

    Attributes
    ----------
    levels : tuple (k,)
        The event of two levels, or all K of them.
    curves : tuple of Corp (k,)
    bands : tuple of ConsistencyBand or None (k,)
        None if no samples were drawn.
    level : float
        That of the bands.
    B : int
        How many samples the bands are made of.
    n_missing : int
        Rows without a probability, which are left out.
    seed : int
        With ``rng=seed`` the bands are the same again.
    of_weights : tuple of str
        What is to be said of weights that are numbers of copies, each with an outcome of its own.
    """

    levels: tuple[Any, ...]
    curves: tuple[Corp, ...]
    bands: tuple[ConsistencyBand | None, ...]
    level: float
    B: int
    n_missing: int
    seed: int
    of_weights: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """A row for each level: score, its parts, and what calibrated probabilities would have.

        ``brier`` = ``miscalibration`` − ``discrimination`` + ``uncertainty``, and so for the columns ``log_…``. With
        bands ``miscalibration_if_calibrated``, the mean over the samples, and ``share_outside`` of the rows.
        """
        return pd.DataFrame([self._row(k) for k in range(len(self.levels))], index=pd.Index(self.levels, name="level"))

    def _row(self, k: int) -> dict[str, float]:
        curve, band = self.curves[k], self.bands[k]
        row = {"brier" if name == "score" else name: value for name, value in asdict(curve.brier).items()}
        if band is not None:
            row["miscalibration_if_calibrated"] = float(band.miscalibration.mean())
            row["share_outside"] = float(curve.totals @ _outside(curve, band) / curve.totals.sum())
        return row | {f"log_{name}": value for name, value in asdict(curve.log).items()}

    def summary_frame(self) -> pd.DataFrame:
        """The points of the curves: ``level``, ``predicted``, ``recalibrated``, ``weight``, and ``lower``, ``upper``.

        One row for each level and different probability of it.
        """
        frames = []
        for name, curve, band in zip(self.levels, self.curves, self.bands, strict=True):
            columns = {"predicted": curve.predicted, "recalibrated": curve.recalibrated, "weight": curve.totals}
            if band is not None:
                columns |= {"lower": band.lower, "upper": band.upper}
            frames.append(pd.DataFrame({"level": [name] * len(curve.predicted), **columns}))
        return pd.concat(frames, ignore_index=True)

    def plot(self, ax: Any = None) -> Any:
        """The reliability diagram. Returns the Axes; of several levels an array of them (k,), one for each.

        These panels stand in the place of ``ax``, which is taken out of its figure.
        """
        if len(self.levels) == 1:
            return reliability_plot(
                self.curves[0], self.bands[0], level=self.level, missing=self.n_missing, ax=ax,
                xlabel=f"predicted probability of {self.levels[0]}",
            )  # fmt: skip
        return class_reliability_plot(
            self.curves, self.bands, self.levels, level=self.level, missing=self.n_missing, ax=ax
        )

    def summary(self) -> Summary:
        """Miscalibration, discrimination and uncertainty, with what they and the band do not say."""
        lost = (
            f"{self.n_missing} {'row has' if self.n_missing == 1 else 'rows have'} no probability and no part in this."
        )
        warnings = (lost,) if self.n_missing else ()
        return Summary("Reliability of the probabilities (CORP)", (self._part(),), self._notes(), warnings)

    def _part(self) -> Part:
        table = self.table
        if len(self.levels) > 1:
            names = {"brier": "Brier", "miscalibration": "MCB", "discrimination": "DSC", "uncertainty": "UNC"}
            if self.B:
                names |= {"miscalibration_if_calibrated": "MCB if cal.", "share_outside": "outside"}
            return Table.from_frame(table[list(names)].rename(columns=names), "share", "Each level against the rest")
        row = table.iloc[0]
        labels = ("{} score", "  miscalibration, MCB", "  - discrimination, DSC", "  + uncertainty, UNC")
        brier, log = (
            [Entry(label.format(name), row[column + part], "share") for label, part in zip(labels, parts, strict=True)]
            for name, column, parts in (("Brier", "", ("brier", *_PARTS[1:])), ("Log", "log_", _PARTS))
        )
        if self.B:
            brier.append(Entry("MCB if calibrated, mean", row["miscalibration_if_calibrated"], "share"))
            log.append(Entry("Rows outside the band", row["share_outside"], "share"))
        return Block(wide=(Entry("Event", one_line(self.levels[0])),), left=tuple(brier), right=tuple(log))

    def _notes(self) -> tuple[str, ...]:
        meaning = (
            "Score = MCB - DSC + UNC. Miscalibration MCB: what isotonic recalibration on these same rows gains. "
            "Discrimination DSC: what the recalibrated probabilities gain over the share of events. Uncertainty UNC: "
            "the score of that share."
        )
        positive = "MCB is above zero for calibrated probabilities too"
        if not self.B:
            return meaning, f"{positive}."
        return (
            meaning,
            f"{positive}: its mean is over {self.B} samples of outcomes drawn from the probabilities.",
            "The band is about the probabilities being calibrated, and no confidence band of the curve. It holds point "
            f"by point: at one probability at least {percent(self.level)} of calibrated curves are inside, but 45 to "
            "100 % of them leave a band of 90 % somewhere (python -m benchmarks validity calibration, 100 to 634 "
            "rows).",
            "The band takes each outcome as drawn from its own probability. Held-out probabilities depend on the other "
            "outcomes, and their curves are outside a band of 90 % less often: in 2 to 9 % of the rows (leave-one-out, "
            "Platt), 0 to 4 % (Venn-Abers), in these simulations with machines near the truth.",
            *self.of_weights,
        )

    def __repr__(self) -> str:
        if len(self.levels) == 1:
            brier = self.curves[0].brier
            numbers = f"Brier score {brier.score:.4g}, miscalibration {brier.miscalibration:.4g}, "
            return f"<Reliability: {numbers}discrimination {brier.discrimination:.4g}>"
        largest = max(curve.brier.miscalibration for curve in self.curves)
        return f"<Reliability: {len(self.levels)} levels, largest miscalibration {largest:.4g}>"


def reliability(
    prob: Floats, codes: Codes, weights: Floats, levels: Sequence[Any], event_code: int | None = None, *,
    B: int = SAMPLES, level: float = 0.9, rng: Any = None,
) -> Reliability:  # fmt: skip
    """Compare probabilities with their isotonic recalibration, one level against the rest.

    Parameters
    ----------
    prob : (n, K)
        Probabilities of the levels; rows with NaN are left out and counted. Held-out ones: those of the rows that were
        fitted look better than they are.
    codes : (n,)
        The positions of the observed levels.
    weights : (n,)
        Case weights; a row of weight zero is absent.
    levels : sequence (K,)
        Their names.
    event_code : int, optional
        The one level that is compared, the event of two; by default all are.
    B : int
        Samples of outcomes for the bands, 0 for no bands; otherwise at least 2/(1 − level) − 1, and the weights must be
        whole: each copy of a row has an outcome of its own.
    level : float
        That of the bands, at each probability.
    rng : int, Generator or None
        Randomness.

    Returns
    -------
    Reliability

    Raises
    ------
    ArgumentError
        For probabilities outside 0 … 1, or a ``B`` or weights with which there is no band.
    DataError
        If no row is left.

    Examples
    --------
    >>> p = np.array([0.1, 0.4, 0.6, 0.9])
    >>> found = reliability(np.column_stack([1 - p, p]), np.array([0, 1, 0, 1]), np.ones(4), ["no", "yes"], 1, B=0)
    >>> found
    <Reliability: Brier score 0.185, miscalibration 0.06, discrimination 0.125>
    """
    B, level = at_least("B", B, 0), between("level", level, 0.0, 1.0)
    if 0 < B < least_replicates(level):
        raise refuse("B", B, f"0, or at least 2/(1 - level) - 1 = {least_replicates(level)}")
    wrong = prob[(prob < 0.0) | (prob > 1.0)]
    if len(wrong):
        raise refuse("prob", float(wrong[0]), "a number between 0 and 1, or NaN")
    whole = weights == np.round(weights)
    if B and not whole.all():
        raise ArgumentError(
            f"weights={float(weights[~whole][0])!r} and B={B} are not allowed together: the band draws an outcome for "
            "every copy of a row, so that the weights must be whole numbers; B=0 gives the curve without a band."
        )
    known = ~np.isnan(prob).any(axis=1) & (weights > 0.0)
    if not known.any():
        raise DataError("No row has a probability and a positive weight: there is nothing to compare.")
    which = range(len(levels)) if event_code is None else [event_code]
    seed = seed_sequence("rng", rng)
    curves = tuple(recalibrate(prob[known, k], codes[known] == k, weights[known]) for k in which)
    bands = tuple(
        consistency_band(curve, B=B, level=level, seed=child) if B else None
        for curve, child in zip(curves, seed.spawn(len(curves)), strict=True)
    )
    missing = int(np.count_nonzero(~known & (weights > 0.0)))
    names = tuple(levels[k] for k in which)
    of_weights = copies_note(weights) if B else ()
    return Reliability(names, curves, bands, level, B, missing, int(seed.entropy), of_weights)  # type: ignore[arg-type]


def _outside(curve: Corp, band: ConsistencyBand) -> Any:
    """(G,) whether the recalibrated probability is outside the band."""
    return (curve.recalibrated < band.lower) | (curve.recalibrated > band.upper)
