"""Coefficients of a linear fit, and how they vary from sample to sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.texts import counted
from svmstat.diagnostics.shape import Shape
from svmstat.reporting.rendering.parts import Block, Entry, Table
from svmstat.reporting.rendering.values import percent
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling.replicates import least_replicates, percentiles

_HEADERS = {"estimate": "coefficient", "se": "std. error", "lower": "lower", "upper": "upper"}

_ROUNDING = 1e-12
"""Of the largest of all replicates, up to which a coefficient is 0 but for rounding."""

_NAMED = 5
"""Pairs, or terms, that are named."""

_OFTEN = 0.2
"""The share of replicates in which a slope is 0 from which on that is told."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coefficients(Printed):
    """Intercept and coefficients of f, on the scale of the columns, with their spread over refits to drawn rows.

    Attributes
    ----------
    shape : Shape
        The levels and their P pairs.
    terms : Index (1 + p,)
        "Intercept", and the columns of the design.
    estimate : ndarray (1 + p, P)
        Of the fit, as its `params`.
    replicates : ndarray (B, 1 + p, P)
        Of the refits, scaled as the fit is; NaN in those that failed.
    level : float
        The share of the replicates between ``lower`` and ``upper``.
    """

    shape: Shape
    terms: pd.Index
    estimate: Floats
    replicates: Floats
    level: float

    @property
    def B(self) -> int:
        """Number of replicates."""
        return len(self.replicates)

    @property
    def _good(self) -> Floats:
        """Those that have coefficients; what rounding has left of one that is 0 is 0."""
        found: Floats = self.replicates[~np.isnan(self.replicates).any(axis=(1, 2))]
        size = np.abs(found)
        return np.where(size <= _ROUNDING * size.max(axis=0, initial=0.0), 0.0, found)

    @property
    def n_failed(self) -> int:
        """How many of them have no coefficients: a class was not drawn, or the solution is not certified."""
        return self.B - len(self._good)

    def summary_frame(self) -> pd.DataFrame:
        """``estimate``, ``se``, ``lower`` and ``upper`` of each term.

        Of more than two levels those of each pair, below one another. NaN where too few replicates are left.
        """
        good, se = self._good, np.full(self.estimate.shape, np.nan)
        lower, upper = percentiles(good, self.level)
        if len(good) >= least_replicates(self.level):
            se = good.std(axis=0, ddof=1)
        labels = self.shape.of_each_pair(self.terms)
        columns = {"estimate": self.estimate, "se": se, "lower": lower, "upper": upper}
        return pd.DataFrame({name: values.T.ravel() for name, values in columns.items()}, index=labels)

    def tables(self, standardized: Floats | None = None, where: str = "") -> list[Table]:
        """A table, or one for each pair; beside the coefficients of the columns as they were ``standardized``.

        The titles end with ``where`` the intervals come from.
        """
        frame, m = self.summary_frame(), len(self.terms)
        found = []
        for p, (positive, negative) in enumerate(self.shape.pairs):
            part = frame.iloc[p * m : (p + 1) * m].set_axis(self.terms).rename(columns=_HEADERS).astype(object)
            if standardized is not None:
                part = part.rename(columns={"coefficient": "original scale"})
                part.insert(0, "standardised", standardized[:, p])
            towards = f"{positive}{'' if self.shape.two else f', not {negative}'}"
            found.append(
                Table.from_frame(
                    part.where(part.notna(), None),
                    ["estimate"] * (part.shape[1] - 3) + ["rough"] * 3,
                    f"Coefficients of f, positive towards {towards}{where}",
                )
            )
        return found

    def summary(self) -> Summary:
        """The table, how it was made, and what the intervals are not."""
        block = Block(
            left=(Entry("Interval", f"percentiles, {percent(self.level)}"),),
            right=(Entry("Replicates", self.B, "count"), Entry("  failed", self.n_failed, "count")),
        )
        notes = coefficient_notes(self.shape.strength)
        return Summary("Coefficients of a linear machine", (block, *self.tables()), notes, self.warnings())

    @property
    def _constant(self) -> Codes:
        """(P,) in how many replicates f is constant, all of its slopes being 0."""
        return np.asarray(np.count_nonzero((self._good[:, 1:] == 0.0).all(axis=1), axis=0))

    @property
    def n_constant(self) -> int:
        """In how many replicates f is constant, all of its slopes being 0; of the pair where it is so most often."""
        return int(self._constant.max(initial=0))

    @property
    def n_outside(self) -> int:
        """How many slopes lie outside their own interval."""
        lower, upper = percentiles(self._good, self.level)
        return int(np.count_nonzero(((self.estimate < lower) | (self.estimate > upper))[1:]))

    def warnings(self) -> tuple[str, ...]:
        """Whether too few replicates are left, f is constant in most of them, or they are of another kind."""
        if len(self._good) >= least_replicates(self.level):
            return self._of_constant() + self._of_vanishing() + self._of_outside()
        return (
            f"{self.n_failed} of {self.B} replicates have no coefficients, a class being lost or the solution not "
            "certified: too few are left for an interval.",
        )

    def _of_outside(self) -> tuple[str, ...]:
        outside, slopes = self.n_outside, self.estimate[1:].size
        if not outside:
            return ()
        return (
            f"{outside} of {counted(slopes, 'slope')} lie outside their own interval. Replicates have "
            "fewer different rows, and where columns are many beside these their slopes are others. Where so many "
            "columns parted the levels, 80 to 300 of 120 to 400 rows, the 95 % interval of slopes that tell something "
            "covered the mean of the estimate in 0.18 to 0.51 of samples, and standard errors were 0.42 to 0.60 of "
            "their sd (python -m benchmarks validity coefficients-many): these tell little.",
        )

    def _of_vanishing(self) -> tuple[str, ...]:
        zero = self._good[:, 1:] == 0.0
        shares = (zero & ~zero.all(axis=1, keepdims=True)).mean(axis=0)
        terms = self.terms[1:][(shares >= _OFTEN).any(axis=1)]
        if not len(terms):
            return ()
        named = f"{_first(terms)} {'is' if len(terms) == 1 else 'are'}"
        return (
            f"{named} 0 in a fifth or more of the replicates, as where a level has few rows, none of them "
            "inside the margins. The 95 % interval of such slopes covered the mean of the estimate in 0.54 to 0.81 of "
            "samples, that of all levels of such factors in 0.36 to 1.00 (python -m benchmarks validity "
            "coefficients-rare): these tell little.",
        )

    def _of_constant(self) -> tuple[str, ...]:
        most = [pair for pair, n in zip(self.shape.pairs, self._constant, strict=True) if n > 0.5 * len(self._good)]
        if not most:
            return ()
        listed = "" if self.shape.two else f" of {_first([' : '.join(map(str, pair)) for pair in most])}"
        up_to = "" if len(most) == 1 else "up to "
        return (
            f"f{listed} is constant in {up_to}{self.n_constant} of {len(self._good)} replicates. Where it was in "
            "most samples the 95 % interval covered the mean of the estimate in 0.42 to 0.84 of them, and standard "
            "errors were too large by up to 2.8 (python -m benchmarks validity coefficients-weak): these tell "
            "little.",
        )

    def __repr__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        pairs = "" if self.shape.two else f" for each of {len(self.shape.pairs)} pairs"
        return f"<Coefficients: {len(self.terms)} terms{pairs}, {percent(self.level)} of {self.B} replicates{failed}>"


def _first(names: Sequence[object]) -> str:
    """The first of the names, and that there are others."""
    return f"{', '.join(map(str, names[:_NAMED]))}{' and others' * (len(names) > _NAMED)}"


def coefficient_notes(strength: str = "C") -> tuple[str, ...]:
    """What the standard errors and intervals are, and what they are not; ``strength`` is C or nu."""
    return tuple(note.format(strength=strength) for note in _NOTES)


_NOTES = (
    "Standard errors and percentiles are of refits to rows, or groups if the fit has them, drawn with replacement, "
    "{strength} and scaling as they are: where the estimate would lie with other samples of this size. In simulations "
    "(python -m benchmarks validity coefficients) the 95 % interval covers the mean of the estimate over samples in "
    "0.94 to 0.99 of samples of 100 to 400 rows, and as often the machine of the whole population with this lambda; "
    "with 80 columns and more of 120 to 400 rows slopes that tell something in 0.18 to 0.51 (coefficients-many); "
    "standard errors are too large by up to 0.28, by more than half with eight columns of noise and C = 10. Of "
    "predictors of few values the intercept, which hangs on the points at a margin, was covered in 0.59 "
    "(coefficients-weak). Columns with heavy tails have another scale in each sample, but not in the refits: of t "
    "with 1.5 degrees of freedom, and log-normal ones with sigma = 1.5, slopes were covered in 0.79 to 0.81, standard "
    "errors 0.57 to 0.66 of their sd (tails).",
    "They are no intervals of a logistic regression: f is on a scale of its own, and shrunk by its penalty. That one "
    "leaves out 0 is no test of the term, which drop1() has.",
)
