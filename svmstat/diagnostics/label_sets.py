"""Sets of labels that hold the right one at a given level, class by class, from leave-one-out scores."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.texts import counted
from svmstat.calibration.conformal import sets
from svmstat.diagnostics.shape import Shape
from svmstat.objective.units import are_whole
from svmstat.reporting.rendering.parts import Table
from svmstat.reporting.rendering.values import or_none, percent
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling.replicates import least_replicates

_NOTES = (
    "Of new rows of each level, exchangeable with those of the fit, about {level} have it in their set, in the mean "
    "over samples and but for the {out} by which the fits without {it} differ from the fit: little where that hardly "
    "moves f, and elsewhere nothing is guaranteed. After one sample with n rows of the level they are fewer or more by "
    "some sqrt(q (1 - q) / n), q = {level}, and up to all where scores tie, as of factors. In simulations of 90 % sets "
    "(python -m benchmarks validity sets) it is 0.89 to 0.94 of levels of equal size, and 0.91 to 0.98 of one of ten "
    "to twenty rows, so few having few ranks, or where f hardly varies.",
    "That holds of the rows of a level together, not at each x. A set without a label is a row that is stranger than "
    "{level} of the left-out rows of every level; with two or more the fit cannot tell these levels apart at this one.",
    "The coverage of the rows of the fit shows no more than the count: each is ranked among the others of its level. "
    "What the fit achieves is small sets.",
)

OF_UNEVEN = "sets of 90 % held the level of 0.86 to 0.91 of new rows, and of one sample often fewer or more"
"""What was found of probability weights."""

_OF_GROUPS = (
    "Of new groups, exchangeable with those of the fit, a row drawn at random from those of a level in a group has the "
    "level in its set in about {level} of the groups, in the mean over samples and but for the {out} by which the "
    "fits without {it} differ from the fit [Lee, Barber & Willett 2023]. Of the rows of one group it may be many more "
    "or fewer.",
    *_NOTES[1:],
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelSets(Printed):
    """Conformal sets of labels for m rows, from n rows that were held out.

    Attributes
    ----------
    index : Index (m,)
    shape : Shape
        The K levels.
    level : float
        The share of the rows of each level that is to have it in their set.
    p : ndarray (m, K)
        Conformal p-values of the labels; NaN where a predictor is missing, or a row of the fit could not be left out.
    held_out_p : ndarray (n, K)
        Those of the rows of the fit.
    codes : ndarray (n,) of int
        The positions of their levels.
    weights : ndarray (n,)
        Their case weights.
    how : str
        How they were held out, "leave-one-out" or "10 folds".
    grouped : bool
        Whether groups are what is exchangeable: the weights of the rows of a level in one group add up to one then.
    of_weights : tuple of str
        What is to be said of weights that are numbers of copies, or uneven.
    """

    index: pd.Index
    shape: Shape
    level: float
    p: Floats
    held_out_p: Floats
    codes: Codes
    weights: Floats
    how: str
    grouped: bool = False
    of_weights: tuple[str, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """Whether the set of a row holds a label (m, K); missing without p-values, the type is ``boolean`` then."""
        frame = pd.DataFrame(sets(self.p, self.level), index=self.index, columns=self.shape.levels)
        missing = np.isnan(self.p)
        return frame.astype("boolean").mask(missing) if missing.any() else frame

    @property
    def pvalues(self) -> pd.DataFrame:
        """The conformal p-values (m, K): a set at any level has the labels whose p exceeds 1 − level."""
        return pd.DataFrame(self.p, index=self.index, columns=self.shape.levels, copy=True)

    @property
    def size(self) -> pd.Series:
        """How many labels the set of each row holds (m,); NaN without p-values."""
        return pd.Series(_sizes(self.p, self.level), index=self.index, name="size")

    @property
    def coverage(self) -> pd.Series:
        """By level, the share of its held-out rows that have it in their set; near the level, by construction."""
        inside = sets(self.held_out_p, self.level)
        values = [_mean(inside[rows, k], self.weights[rows]) for k, rows in enumerate(self._rows_by_level())]
        return pd.Series(values, index=self.shape.levels, name="coverage")

    @property
    def mean_size(self) -> pd.Series:
        """By level, the mean number of labels in the sets of its held-out rows."""
        sizes = _sizes(self.held_out_p, self.level)
        values = [_mean(sizes[rows], self.weights[rows]) for rows in self._rows_by_level()]
        return pd.Series(values, index=self.shape.levels, name="mean_size")

    def _rows_by_level(self) -> list[NDArray[np.bool_]]:
        """Of each level the rows that count."""
        known = (self.weights > 0) & ~self._without_fit
        return [known & (self.codes == k) for k in range(len(self.shape.levels))]

    @property
    def _without_fit(self) -> NDArray[np.bool_]:
        """(n,) which rows of the fit could not be left out."""
        return np.asarray(np.isnan(self.held_out_p).any(axis=1))

    @property
    def _totals(self) -> Floats:
        """(K,) sums of weights of the levels."""
        return np.array([self.weights[self.codes == k].sum() for k in range(len(self.shape.levels))])

    @property
    def _counted(self) -> str:
        """Of what there are so many of each level."""
        if self.grouped:
            return "groups"
        return "n" if are_whole(self.weights) else "weight"

    def summary(self) -> Summary:
        """Coverage and size of the sets of held-out rows, the sizes of those that were asked for, what they mean."""
        names = tuple(map(str, self.shape.levels))
        totals, sizes = self._totals, self.size
        cells = zip(totals.tolist(), self.coverage.tolist(), self.mean_size.tolist(), strict=True)
        by_level = Table(
            headers=(self._counted, "coverage", "mean size"),
            index=names,
            cells=tuple((n, or_none(covered), or_none(size)) for n, covered, size in cells),
            styles=("count", "share", "share"),
            title=f"Rows of the fit, held out: {self.how}",
        )
        found = [int((sizes == count).sum()) for count in range(len(names) + 1)]
        labels = ["no label", "one label", *(f"{count} labels" for count in range(2, len(names) + 1))]
        known = max(sum(found), 1)
        once = "" if self.grouped or (self.weights == 1.0).all() else ", each once"
        of_rows = Table(
            headers=("rows", "share"),
            index=tuple(labels),
            cells=tuple((count, count / known) for count in found),
            styles=("count", "share"),
            title=f"Sets of {counted(sum(found), 'row')}{once}",
        )
        one = "group" if self.grouped else "row"
        out, it = (f"one {one}", f"a {one}") if self.how.startswith("leave-one") else (f"{one}s of a fold", "them")
        of_it = {"level": percent(self.level), "out": out, "it": it}
        notes = [note.format(**of_it) for note in (_OF_GROUPS if self.grouped else _NOTES)]
        notes += self.of_weights
        least = least_replicates(self.level, sides=1)
        few = [f"{name} ({total:.4g})" for name, total in zip(names, totals.tolist(), strict=True) if total < least]
        if few:
            what = "groups that have it" if self.grouped else "rows"
            notes.append(f"With fewer than {least:g} {what} a level is in every set: {', '.join(few)}.")
        if away := int(np.count_nonzero((self.weights > 0) & self._without_fit)):
            notes.append(
                f"{counted(away, 'row')} of the fit could not be left out, and count{'s'[: int(away == 1)]} as the "
                "strangest of the level: sets are larger for it."
            )
        if lost := int(sizes.isna().sum()):
            rows = "row" if lost == 1 else "rows"
            notes.append(f"{lost} {rows} without a set: a predictor is missing, or there is no fit without the row.")
        return Summary(f"Conformal label sets at {percent(self.level)}, by level", (by_level, of_rows), tuple(notes))

    def __repr__(self) -> str:
        rows = counted(int(self.size.notna().sum()), "row")
        return (
            f"<LabelSets: {rows} at {percent(self.level)} in each of {len(self.shape.levels)} levels, "
            f"mean size {self.size.mean():.3g}>"
        )


def _sizes(p: Floats, level: float) -> Floats:
    """(m,) numbers of labels, NaN without p-values (m, K)."""
    return np.where(np.isnan(p).any(axis=1), np.nan, sets(p, level).sum(axis=1))


def _mean(values: Floats | NDArray[np.bool_], weights: Floats) -> float:
    return float(np.average(values, weights=weights)) if len(values) else float("nan")
