"""Percentiles over replicates, and what they are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.reporting.rendering.parts import Entry
from svmstat.reporting.rendering.values import percent
from svmstat.resampling.replicates import least_replicates, percentiles

WHAT = "stability of the estimate"

NOTE = (
    "lower and upper are percentiles over refits to rows, or groups if the fit has them, drawn with replacement"
    "{mapped}, averaged over the rows of the estimate: where the estimate would lie "
    "with other samples of this size. They are no confidence interval for a true effect, which a penalised fit misses"
    " in its mean; and refits have fewer different rows, so that the estimate may lie outside. In simulations (python "
    "-m benchmarks validity effects) 95 % bands held the mean of the estimate in 0.86 to 1.00 of samples, at the "
    "value where they did so least, and the true effect in 0.58 to 1.00; where levels were nearly separated, in 0.53 "
    "to 0.84 and 0.44 to 0.81. Of columns with heavy tails, whose scaling refits keep, intervals of average "
    "comparisons held the mean in 0.85 to 0.89 (tails)."
)
_MAPPED = ", each with a map of the rows that it left out"
OTHER_MAPS = {
    "": "",
    "insample": "The map of this fit is of its own rows, calibration='insample', and those of the replicates are of "
    "rows that they left out: the intervals are of other probabilities, which are less extreme. In simulations (python "
    "-m benchmarks validity bands-insample) 95 % intervals of probabilities held the mean of the estimate in 0.76 to "
    "1.00 of samples, least often where the fit is flexible.",
    "venn-abers": "The map of this fit has steps, calibration='venn-abers', and the replicates have Platt's of rows "
    "that they left out: the intervals are of other probabilities, and may lie beside these wherever the two maps "
    "differ.",
}
"""What is to be said of intervals, by the kind of map that the fit has and the replicates have not."""

NO_BAND = (
    "Without replicates (B = 0) nothing is said of how the estimate varies from sample to sample: B=199 does that."
)


_MANY_OUTSIDE = 2.0
"""Times 1 − level: the share of estimates outside their intervals from which these are not where the estimate lies."""

_ROUNDING = 1e-9


def told_outside(outside: NDArray[np.bool_], level: float, what: str, other_maps: str = "") -> tuple[str, ...]:
    """What it means that many of some estimates (m,) lie outside their own intervals; nothing where few do."""
    if not outside.any() or outside.mean() <= _MANY_OUTSIDE * (1.0 - level) * (1.0 + _ROUNDING):
        return ()
    why = (
        f"they are of other maps than that of the fit, calibration={other_maps!r}"
        if other_maps
        else "replicates have fewer different rows, and maps of fewer still, so that their probabilities are less "
        "extreme, most so where levels are well separated"
    )
    return (
        f"the estimate lies outside its interval in {int(outside.sum())} of {len(outside)} {what}: {why}. There the "
        "interval covers neither the estimate nor its mean",
    )


def why_lost(by_nu: bool) -> str:
    """Why a replicate of drawn rows has no predictions; with ν a class may also have fewer rows than it takes."""
    few = ", or too few of its rows for nu" if by_nu else ""
    return f"a class was not drawn{few}, or no row of it was left out"


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """How an estimate varies over replicates.

    Attributes
    ----------
    lower, upper : ndarray
        Percentiles, of the shape of the estimate; NaN where too few replicates are left.
    level : float
        The share of the replicates between them.
    B, n_failed : int
        The number of replicates, and how many of them have no predictions.
    other_maps : str
        The calibration of the estimate where the replicates have maps of another kind; otherwise empty.
    by_nu : bool
        Whether the fit has ν, of which a replicate may have too few rows.
    """

    lower: Floats
    upper: Floats
    level: float
    B: int
    n_failed: int
    other_maps: str = ""
    by_nu: bool = False

    @classmethod
    def of(cls, values: Floats, level: float, other_maps: str = "", by_nu: bool = False) -> "Band":
        """That of values (B, …), NaN in all of a replicate that failed."""
        failed = np.isnan(values).reshape(len(values), -1).any(axis=1)
        return cls(*percentiles(values[~failed], level), level, len(values), int(failed.sum()), other_maps, by_nu)

    def note(self, on: str) -> str:
        """What it is, of effects on "prob" or "decision"; nothing where it is not known."""
        if not self.is_known:
            return ""
        return NOTE.format(mapped=_MAPPED * (on == "prob")) + f" {OTHER_MAPS[self.other_maps]}".rstrip()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What a summary says of it."""
        return (
            Entry("Interval", f"percentiles, {percent(self.level)}"),
            Entry("Replicates", self.B, "count"),
            Entry("  failed", self.n_failed, "count"),
        )

    @property
    def is_known(self) -> bool:
        """Whether enough replicates are left."""
        return self.B - self.n_failed >= least_replicates(self.level)

    @property
    def warnings(self) -> tuple[str, ...]:
        """That too few replicates are left."""
        if self.is_known:
            return ()
        have = "has" if self.n_failed == 1 else "have"
        lost = f"{self.n_failed} of {self.B} replicates {have} no predictions: {why_lost(self.by_nu)}"
        return (f"{lost}; too few are left for an interval.",)

    def told_of(self, estimate: Floats) -> tuple[str, ...]:
        """That too few replicates are left, or that many estimates lie outside."""
        if not self.is_known:
            return self.warnings
        outside = self.outside(estimate)[~np.isnan(estimate)]
        return tuple(f"{each}." for each in told_outside(outside, self.level, "estimates", self.other_maps))

    def beside(self, estimate: Floats) -> tuple[Entry, ...]:
        """What a summary says of it, and how many estimates lie outside."""
        if not self.is_known:
            return self.entries
        return (*self.entries, Entry("  estimates outside", int(self.outside(estimate).sum()), "count"))

    def outside(self, estimate: Floats) -> NDArray[np.bool_]:
        """Which estimates lie outside; none where it is not known."""
        return np.asarray((estimate < self.lower) | (estimate > self.upper))

    @property
    def title(self) -> str:
        """What a figure says of it."""
        good = self.B - self.n_failed
        if not self.is_known:
            return f"none: {good} replicates are too few for {percent(self.level)}"
        of = f"{percent(self.level)} of {good} replicates"
        return f"{of},\n{WHAT};\nno confidence interval for a true effect"
