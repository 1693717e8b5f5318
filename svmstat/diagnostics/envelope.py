"""How large influence gets in some row where the probabilities of the fit are true."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from svmstat._tools.checks import between, one_of
from svmstat.objective.replicated import failures, upper_point
from svmstat.resampling.replicates import least_replicates

SHORT = {"delta": "delta_deviance", "influence": "rms_change"}
"""Names of measures that figures take too."""

LEAST = 99
"""Fewer replicates have no 95 % point of their maxima worth drawing."""

NOTE = (
    "If the probabilities of this fit were true, no row at all would lie above an envelope in {level} of samples: it "
    "is one for all rows together, but each measure has its own. {raised}In simulated samples (python -m benchmarks "
    "validity envelopes envelopes-uneven envelopes-weighed) some row was above one of 95 % in 0.00 to 0.08, se up to "
    "0.03, where one row in four to six was an event in 0.00 to 0.11, se up to 0.04, and where costs of 1 : 5 or "
    "priors of 1 : 4 weigh the levels in 0.00 to 0.28 by fit, se up to 0.05, mostly of own and rms change. A row above "
    "one deserves a look, not deletion."
)


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """How large each measure of influence gets in some row if the probabilities of the fit are true.

    Refits to drawn labels are flatter than the fit that the labels were drawn from, and so are their largest values
    smaller. How much they are is seen once more in refits to labels that are drawn from refits, and by that ratio the
    envelopes are raised: one step of the iterated bootstrap (Hall & Martin 1988).

    Attributes
    ----------
    maxima : DataFrame (B, 5)
        The maximum over rows of each measure in every replicate; NaN where one failed.
    second : DataFrame (R, 5)
        The same in a replicate of each of the first R, which are 49, or a quarter of all if that is more.
    """

    maxima: pd.DataFrame
    second: pd.DataFrame

    @property
    def B(self) -> int:
        """The number of replicates."""
        return len(self.maxima)

    @property
    def n_failed(self) -> int:
        """How many replicates failed."""
        return failures(self.maxima.to_numpy()[:, 0])

    @property
    def raised(self) -> pd.Series:
        """How many times as high each envelope is as the point of its maxima (5,).

        The median maximum of the replicates by that of their own replicates; 1 where that is less, or the medians are
        not positive.
        """
        first, second = self.maxima.median(), self.second.median()
        return (first / second).where((first > second) & (second > 0.0), 1.0)

    @property
    def how_raised(self) -> str:
        """That, in words; empty where none is raised."""
        most, R = float(self.raised.max()), len(self.second) - failures(self.second.to_numpy()[:, 0])
        if R == 0:
            return "No refit of a refit could be had, by which envelopes are raised where refits are flat. "
        if most == 1.0:
            return ""
        return (
            "Refits tend to be flatter than what their labels are drawn from: an envelope is raised where the median "
            f"of these largest values is above that in {R} refits of refits, here up to {most:.2f} times, a ratio that "
            "is rough. "
        )

    def lacks(self, level: float) -> str:
        """Why there is no envelope of a level, in words; nothing if there is one."""
        if np.isfinite([self.critical_value(str(name), level) for name in self.maxima]).all():
            return ""
        needed, good = least_replicates(level, sides=1), self.B - self.n_failed
        return f"it takes {needed} replicates that do not fail, and there {'is' if good == 1 else 'are'} {good}"

    def critical_value(self, what: str, level: float = 0.95) -> float:
        """What no row exceeds in a share ``level`` of samples from the probabilities of the fit.

        Parameters
        ----------
        what : {"delta_deviance", "own", "others", "outlyingness", "rms_change"}
            Or, as `InfluenceResult.plot_index` has them, "delta" and "influence".
        level : float
            Between 0 and 1.
        """
        between("level", level, 0.0, 1.0)
        what = SHORT.get(one_of("what", what, (*self.maxima.columns, *SHORT)), what)
        return upper_point(self.maxima[what].to_numpy(), level) * float(self.raised[what])

    def __repr__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        return f"<Envelope: maxima over rows in {self.B} replicates{failed}>"
