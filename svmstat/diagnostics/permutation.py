"""Is there any association between response and predictors: the CV score against those of permuted responses."""

import math
from dataclasses import dataclass
from typing import Any

from svmstat._tools.arrays import Floats
from svmstat._tools.texts import counted
from svmstat.diagnostics.failed import failed_warning
from svmstat.objective.replicated import failures, pvalue
from svmstat.reporting.plots import replicates_plot
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.rendering.values import or_none
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling.replicates import least_replicates

_NOTES = (
    "H0: the response has nothing to do with the predictors. The p-value counts the permutations of the response with "
    "a score as low as that of the fit; under H0 it is exact for any kernel and {strength}, which are {chosen}.",
    "A small p-value says that there is some association, and nothing about how good the fit is: for that see "
    "R-squared and the errors of held-out rows.",
)

_NONE_FOUND = " A large one says that this fit found none."

_FEW = "No p-value can be less than {least:.4g} here, whatever the association: 1 / (1 + {B}). Take 99 permutations."

_NOWHERE = (
    "So the response can be arranged in only {ways:.0f} {noun}: no p-value can be much below {least:.2g}, whatever the "
    "association."
)

_MANY_WAYS = 20.0 * 20.0
"""With so many the least p-value is far below 0.05."""

_HELD = "held at those of the fit; if they were chosen by this response, use tune() and retune=True"
_HELD_FOR_GOOD = (
    "held at those of the fit: had they been chosen by this response the p-value would be too small, and a search with "
    "groups or probability weights cannot be repeated"
)

_CHOSEN = (
    "C and kernel were chosen by this response, and are held at what was best for it: the p-value is too small{how}."
)

_SIZES = (
    "In simulations of noise the p-value was 0.05 or less in {share} of samples (python -m benchmarks validity "
    "permutations)."
)

_WITH_WEIGHTS = (
    "Each label was permuted with the weight of its row: under H0 both have nothing to do with the predictors. "
    + _SIZES.format(share="0.03 to 0.04")
)

_OF_GROUPS = {
    "groups": (
        "The response does not vary within groups, and was permuted among them, whole, with their weight. This is "
        "exact where the numbers of their rows have nothing to do with it either. "
        + _SIZES.format(share="0.02 to 0.03"),
    ),
    "within groups": (
        "The response was permuted within groups, whose shares of it stay: the test is of what predictors say within "
        "groups, and of those that do not vary there it says nothing. " + _SIZES.format(share="0.03 to 0.05"),
    ),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class PermutationResult(Printed):
    """The CV score of the fit against those of fits to the permuted response [Ojala & Garriga 2010].

    Attributes
    ----------
    statistic : float
        The CV score of the fit, −2 Σ w log π of held-out rows.
    replicates : ndarray (B,)
        The CV scores of fits to permuted responses; NaN where one failed.
    null_score : float
        The CV score of the class frequencies.
    retuned : bool
        Whether cost and kernel were chosen anew for every permutation.
    repeatable : bool
        Whether a search for them could be repeated.
    permuted : str
        What the response was permuted among: "rows", whole "groups", or rows "within groups".
    arrangements : float
        How many responses that can make, at most.
    of_weights : tuple of str
        As how many rows those with weights, and copies, count, for the printout; empty where each is one.
    strength : str
        What the fit is given beside its kernel, "cost" or "nu".
    chosen : bool
        Whether these are known to be of a search with this response.
    """

    statistic: float
    replicates: Floats
    null_score: float
    retuned: bool
    permuted: str = "rows"
    arrangements: float = float("inf")
    repeatable: bool = True
    of_weights: tuple[str, ...] = ()
    strength: str = "cost"
    chosen: bool = False

    @property
    def B(self) -> int:
        """The number of permutations."""
        return len(self.replicates)

    @property
    def n_failed(self) -> int:
        """How many failed: a class lost, no certificate, no converged Platt map, a row that could not be held out."""
        return failures(self.replicates)

    @property
    def pvalue(self) -> float:
        """(1 + #{score* ≤ score}) / (1 + B) over those that did not fail; NaN if all did."""
        return pvalue(self.replicates, self.statistic, small=True) if self.n_failed < self.B else math.nan

    def plot(self, ax: Any = None) -> Any:
        """Histogram of the scores of permuted responses, with that of the fit. Returns the Axes."""
        return replicates_plot(
            self.replicates, self.statistic, float("nan"), level=0.95, ax=ax, letter="CV score",
            xlabel="CV score of permuted responses",
        )  # fmt: skip

    def summary(self) -> Summary:
        """Score, p-value, and what they do not say."""
        good = self.replicates[self.replicates == self.replicates]
        block = Block(
            left=(
                Entry("CV score", self.statistic),
                Entry("  least of permutations", float(good.min()) if len(good) else None),
                Entry("  of class frequencies", self.null_score),
                Entry("p-value", or_none(self.pvalue), "share"),
            ),
            right=(
                Entry("Permutations", self.B, "count"),
                Entry("  failed", self.n_failed, "count"),
                Entry("Tuned in each", self.retuned),
            ),
        )
        held = _HELD if self.repeatable else _HELD_FOR_GOOD
        searched = self.chosen and not self.retuned
        chosen = "chosen anew for each" if self.retuned else "held at those of the fit" if searched else held
        few = (
            (_FEW.format(B=len(good), least=1.0 / (1 + len(good))),)
            if len(good) < least_replicates(0.95, sides=1)
            else ()
        )
        ways = round(self.arrangements) if self.arrangements < _MANY_WAYS else 0
        nowhere = (_NOWHERE.format(ways=ways, noun="way" if ways == 1 else "ways", least=1.0 / ways),) if ways else ()
        worth = _NOTES[1] + ("" if nowhere else _NONE_FOUND)
        moved = _OF_GROUPS.get(self.permuted, () if self.repeatable else (_WITH_WEIGHTS,))
        null = _NOTES[0].format(chosen=chosen, strength=self.strength)
        notes = (null, *self.of_weights, *moved, *nowhere, *few, worth)
        again = "; retune=True repeats the search for each permutation" if self.repeatable else ""
        warnings = (_CHOSEN.format(how=again),) if searched else ()
        return Summary("Permutation test", (block,), notes, (*failed_warning(self.n_failed, self.B), *warnings))

    def __repr__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        return (
            f"<PermutationResult: CV score {self.statistic:.6g}, {counted(self.B, 'permutation')}{failed}, "
            f"p-value {self.pvalue:.4g}>"
        )
