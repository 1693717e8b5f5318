"""How sure a linear fit is of its coefficients."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from svmstat._tools.checks import at_least, refuse
from svmstat.diagnostics import Coefficients
from svmstat.results.bootstrap import Bootstrap, checked_level, count_of, made_of
from svmstat.results.uncertainty import Uncertain


@dataclass(frozen=True, repr=False, eq=False)
class Estimated(Uncertain):
    """Standard errors and intervals of coefficients, by refits to drawn rows."""

    def confint(
        self,
        level: float = 0.95,
        B: int | Bootstrap = 199,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> Coefficients:
        """Intercept and coefficients with standard errors and percentiles over pairs replicates; linear kernel only.

        They are on the scale of `params`. The interval says where the estimate would lie with other samples of this
        size, C and scaling being kept; it is none for the coefficients of another model, such as a logistic regression,
        and no p-value comes with it: a penalised estimate is too small in its mean by an amount that refits to drawn
        rows do not show. The intercept of a replicate without a free support vector is the middle of its interval.

        Parameters
        ----------
        level : float
            Between 0 and 1: the share of the replicates between ``lower`` and ``upper``.
        B : int or Bootstrap
            Number of replicates, at least 2/(1 − level) − 1, which is 39 for 0.95; or those that `bootstrap` has made.
        rng, n_jobs, progress
            As in `bootstrap`, whose result has `confint` and `vcov` too.

        Returns
        -------
        Coefficients
            Its ``summary_frame()`` has the columns estimate, se, lower, upper.

        Raises
        ------
        ArgumentError
            For an argument outside what is allowed.
        UnavailableError
            For another kernel.
        DataError
            For weights that add up to more than 9e15.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth", datasets.load("mackerel"), kernel="linear")
        >>> fit.confint(rng=1).summary_frame().loc[["lon", "lat"]].round(2)
              estimate    se  lower  upper
        term
        lon      -0.49  0.05  -0.62  -0.42
        lat      -0.08  0.03  -0.16  -0.03
        """
        self.require_linear("confint()")
        level = checked_level(level, count_of(self, B))
        return made_of(self, B, rng, n_jobs, progress).confint(level)

    def vcov(
        self,
        B: int | Bootstrap = 199,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> pd.DataFrame:
        """Covariances of intercept and coefficients over pairs replicates; linear kernel only.

        Parameters
        ----------
        B : int or Bootstrap
            Number of replicates, at least 2; or those that `bootstrap` has made.
        rng, n_jobs, progress
            As in `bootstrap`.

        Returns
        -------
        DataFrame (1 + p, 1 + p)
            Of more than two levels (P (1 + p), P (1 + p)), in the order of ``params.unstack()``. It is of the
            replicates in which no pair failed; its diagonal are the squares of the standard errors of `confint`.

        Raises
        ------
        ArgumentError, UnavailableError, DataError
            As `confint`.
        """
        self.require_linear("vcov()")
        at_least("B", count_of(self, B), 2)
        return made_of(self, B, rng, n_jobs, progress).vcov()

    def spread_by(self, bootstrap: Bootstrap, level: float = 0.95) -> Coefficients:
        """The coefficients with their spread over replicates that `bootstrap` made of this fit.

        Raises
        ------
        ArgumentError
            For replicates of another fit, or too few for the level.
        UnavailableError
            For another kernel than the linear one.
        """
        if not isinstance(bootstrap, Bootstrap) or bootstrap.fit is not self:
            raise refuse("bootstrap", bootstrap, "what the method bootstrap() of this very fit gave")
        return bootstrap.confint(level)
