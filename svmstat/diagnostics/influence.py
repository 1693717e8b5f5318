"""Influence: what each row does to the others, and how badly it is predicted itself [003]."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import at_least, between, flag, one_of, refuse, workers
from svmstat._tools.frames import shown_labels
from svmstat._tools.once import Once
from svmstat._tools.randomness import check_draws, seed_sequence
from svmstat._tools.texts import counted
from svmstat.diagnostics.envelope import LEAST, NOTE, SHORT, Envelope
from svmstat.diagnostics.loo import LooResult
from svmstat.errors import ArgumentError, UnavailableError
from svmstat.objective.replicated import above
from svmstat.objective.units import are_whole
from svmstat.reporting.plots import index_plot, outlying_plot
from svmstat.reporting.plots.style import checked_axes
from svmstat.reporting.rendering.lines import cut
from svmstat.reporting.rendering.parts import Block, Entry, Table
from svmstat.reporting.rendering.values import or_none, percent
from svmstat.reporting.summary import Printed, Summary
from svmstat.resampling.influences import MEASURES, Influences, Largest

_CALLED = {
    "delta_deviance": "deletion deviance ΔD",
    "own": "own misfit, −2 log p",
    "others": "what the others gain",
    "outlyingness": "outlyingness, −2 log π",
    "rms_change": "influence, rms change of f",
}
REFERENCES = ("envelope", "chi2")
_PRINTED = {
    "delta_deviance": "delta D",
    "own": "own",
    "others": "others",
    "outlyingness": "-2 log pi",
    "rms_change": "rms change",
}
_NOTES = (
    "delta D = own misfit, -2 log p, + what the others gain without it. {made_of} pi is the held-out probability "
    "of what was observed.",
    "Labels do not expose single outliers where their probabilities are moderate: there either outcome was to be "
    "expected, and only many such rows together would show.",
)
_LIKE_OWN = 0.8
"""Correlation with own misfit from which a deletion deviance is little else."""
_LITTLE = 0.5
"""The share of own misfit up to which what the others gain or lose is little beside it, in the rows that are shown."""
_NEARLY_ALL = 0.25
"""The same up to which it is nearly all own misfit, and beyond which it is mostly that."""
_OWN = (
    "It is {share} own misfit{but}: a large one says that it was badly predicted, not that it moves the fit, "
    "of which the rms change of f at the others tells."
)
_BUT = " (not in {what} {rows}, where the others gain more)"
_OTHERS = (
    "It is more than own misfit here: a large one may be what the others gain, by the map of their decision values "
    "too; own and others tell which, and the rms change how far f moves at them."
)
_LESS = (
    "It is less than own misfit here: the others lose without these rows, by the map of their decision values too; "
    "the rms change tells how far f moves at them."
)
_NONE = "There is no envelope, for which labels are drawn for every copy of a row: "
_WITHIN_GROUPS = (
    "Labels are drawn independently of each other, also within groups: where rows of one group share what the "
    "predictors do not have, rows may lie above an envelope for that."
)
_TO_COME = "Which values some row reaches by chance alone: .envelope()."
_TOP = 10
_DIGITS = 9
"""Of a delta D beside the largest: further ones may hang on the order in which sums are made."""

_LABELLED = 5
"""Of groups the largest of either measure, in the figure."""

GROUP_NOTE = (
    "All of a group is left out: own is the sum over its rows, -2 log pi too, so that large groups have large values. "
    "There is no envelope, which would take the rows of a group for independent. By row: get_influence(by='row')."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InfluenceResult(Printed):
    """How the fit changes when a row is left out, and how the row is predicted then.

    Attributes
    ----------
    loo : LooResult
    measures : Influences
        The measures of the n rows.
    resample : callable
        B, a seed, workers and whether to show progress → maxima of the measures in refits to drawn labels.
    of_groups : Index (G,) or None
        The groups, where they are what was left out: all that is said of n rows is of them then.
    no_copies : str
        Why there is no envelope, for which labels are drawn for every copy of a row; empty where there is one.
    despite_groups : bool
        Whether single rows were left out of groups, as if these were independent.
    """

    loo: LooResult
    measures: Influences
    resample: Callable[[int, np.random.SeedSequence, int | None, bool], Largest]
    of_groups: pd.Index | None = None
    no_copies: str = ""
    despite_groups: bool = False
    _kept: Once = field(default_factory=Once, init=False)

    @property
    def grouped(self) -> bool:
        """Whether it is of groups that were left out."""
        return self.of_groups is not None

    @property
    def has_lines(self) -> bool:
        """Whether there are envelopes to be had: of single rows that are so many copies."""
        return not self.grouped and not self.no_copies

    @property
    def index(self) -> pd.Index:
        """What was left out: the rows (n,), or the G groups."""
        return self.loo.index if self.of_groups is None else self.of_groups

    @property
    def _labels(self) -> list[str]:
        return shown_labels(self.index)

    @property
    def _what(self) -> str:
        return "groups" if self.grouped else "rows"

    def __repr__(self) -> str:
        delta = self.delta_deviance
        largest = delta.idxmax() if delta.notna().any() else None
        place = "" if largest is None else cut(repr(getattr(largest, "item", lambda: largest)()), 20)
        most = f", largest {delta.max():.4g} in {self._what[:-1]} {place}" if place else ""
        deleted = f"deletion deviances of {len(delta)} {self._what}"
        return f"<InfluenceResult: {deleted}, deviance {self.loo.deviance:.6g}{most}>"

    def _by_row(self, name: str) -> pd.Series:
        return pd.Series(getattr(self.measures, name), index=self.index, name=name)

    @property
    def delta_deviance(self) -> pd.Series:
        """ΔD_k = D − D_(k) (n,)."""
        return self._by_row("delta_deviance")

    @property
    def own(self) -> pd.Series:
        """The row's own part of ΔD (n,): −2 log p_{y_k}(x_k) in the full fit; of min(w, 1) copies, as ΔD."""
        return self._by_row("own")

    @property
    def others(self) -> pd.Series:
        """The rest of ΔD (n,): by how much the deviance of the other rows falls without this one."""
        return self._by_row("others")

    @property
    def outlyingness(self) -> pd.Series:
        """−2 log π_k[y_k] (n,), held out."""
        return self._by_row("outlyingness")

    @property
    def rms_change(self) -> pd.Series:
        """The root mean square change of f over the other rows, and pairs (n,): the influence on them."""
        return self._by_row("rms_change")

    def critical_value(self, level: float = 0.95) -> float:
        """The ``level`` quantile of χ²(1), to which [003] refers ΔD_k. ΔD does not have that distribution."""
        return float(chdtri(1, 1.0 - between("level", level, 0.0, 1.0)))

    def envelope(
        self, B: int = 99, rng: int | np.random.Generator | None = None, n_jobs: int | None = None,
        progress: bool = False,
    ) -> Envelope:  # fmt: skip
        """How large the measures get in some row of samples from the probabilities of the fit.

        The last one is kept, and the figures draw it.

        Parameters
        ----------
        B : int
            Number of refits to drawn labels, at least 99.
        rng : int or Generator, optional
            On which alone they depend.
        n_jobs, progress
            As in `SVMResults.loo`.

        Raises
        ------
        DataError
            For weights that are no numbers of copies, as fractional ones: every copy of a row draws a label.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel").head(120))
        >>> fit.get_influence().envelope(rng=1)
        <Envelope: maxima over rows in 99 replicates>
        """
        self.check_replicates(B)
        n_jobs, progress = workers("n_jobs", n_jobs), flag("progress", progress)
        return self.keep_envelope(self.resample(B, seed_sequence("rng", rng), n_jobs, progress))

    def check_replicates(self, B: int) -> None:
        """Refuse an envelope of groups, or of too few replicates."""
        if self.grouped:
            raise UnavailableError("an envelope exists for single rows: get_influence(by='row').envelope().")
        at_least("B", B, LEAST)

    def keep_envelope(self, largest: Largest) -> Envelope:
        """The envelope of maxima over rows, which is kept."""
        self._kept.value = Envelope(*(pd.DataFrame(each, columns=list(MEASURES)) for each in largest))
        return self._known

    @property
    def has_envelope(self) -> bool:
        """Whether an envelope has been computed."""
        return self._kept.value is not None

    def envelope_lacks(self, level: float = 0.95) -> str:
        """Why there is no envelope of this level; nothing if there is one."""
        return self._known.lacks(level) if self.has_envelope else "none has been computed, by .envelope()"

    @property
    def _known(self) -> Envelope:
        found: Envelope = self._kept.value
        return found

    @staticmethod
    def _check_figure(level: object, ax: object, rng: object, n_jobs: object, progress: object) -> None:
        """Before the envelope, which may take long."""
        between("level", level, 0.0, 1.0)
        checked_axes(ax)
        check_draws(rng, n_jobs, progress)

    def _envelope(
        self, B: int | None, rng: int | np.random.Generator | None, n_jobs: int | None, progress: bool
    ) -> Envelope:
        """The one that is kept, unless another is asked for."""
        if not self.has_envelope or B is not None or rng is not None:
            self.envelope(LEAST if B is None else B, rng, n_jobs, progress)
        return self._known

    def summary_frame(self) -> pd.DataFrame:
        """One row for each row of the fit, or group: ΔD and its parts, outlyingness, largest and rms change of f.

        ``max_change`` is over all rows, those that are left out among them, ``rms_change`` over the others.
        Of rows also ``pvalue_chi2``, P(χ²(1) ≥ ΔD) as [003] has it, a distribution that ΔD does not have.
        """
        return pd.DataFrame(
            {
                **{name: getattr(self.measures, name) for name in MEASURES[:-1]},
                "max_change": self._first(self.loo.max_change),
                "rms_change": self.measures.rms_change,
                **({} if self.grouped else {"pvalue_chi2": chdtrc(1, np.maximum(self.measures.delta_deviance, 0.0))}),
            },
            index=self.index,
        )

    def _first(self, values: pd.Series) -> Any:
        """What the rows have, or the groups, of which all rows have the same."""
        if self.loo.groups is None or not self.grouped:
            return values.to_numpy()
        used = self.loo.weights > 0
        return values[used].groupby(self.loo.groups.to_numpy()[used]).first().reindex(self.index).to_numpy()

    def plot_index(
        self, level: float = 0.95, reference: str = "envelope", what: str = "delta", ax: Any = None,
        B: int | None = None, rng: int | np.random.Generator | None = None, n_jobs: int | None = None,
        progress: bool = False,
    ) -> Any:  # fmt: skip
        """A measure by row with a line; rows above it are labelled.

        Parameters
        ----------
        level : float
            Of the line.
        reference : {"envelope", "chi2"}
            "envelope": no row exceeds the line in a share ``level`` of samples from the probabilities of the fit;
            "chi2" is the quantile of χ²(1), to which [003] refers ΔD, and which some row of every sample exceeds.
            Groups have no line: they differ in size, and their rows are not independent. Nor have weights that are no
            numbers of copies an envelope.
        what : {"delta", "own", "others", "outlyingness", "influence"}
            ΔD, its parts, −2 log π of the row, or the rms change of f.
        ax : Axes, optional
        B, rng
            Of the envelope: as in `envelope`, if none is kept or if they are given.
        n_jobs, progress
            As in `envelope`.

        Returns
        -------
        Axes
        """
        self._check_figure(level, ax, rng, n_jobs, progress)
        one_of("reference", reference, REFERENCES)
        name = SHORT.get(one_of("what", what, ("delta", "own", "others", "outlyingness", "influence")), what)
        at = np.flatnonzero(self._counts)
        values, labels = getattr(self.measures, name)[at], shown_labels(self.index[at])
        if self.grouped or (self.no_copies and reference == "envelope"):
            return index_plot(
                values, labels, np.inf, label="", ylabel=_CALLED[name], what=self._what[:-1], extreme=_LABELLED,
                places=at + 1, ax=ax,
            )  # fmt: skip
        if reference == "chi2":
            if name != "delta_deviance":
                raise refuse("what", what, "'delta' with reference='chi2', which [003] has for ΔD only")
            critical, label = self.critical_value(level), f"{percent(level)} point\nof χ²(1)"
        else:
            critical = self._envelope(B, rng, n_jobs, progress).critical_value(name, level)
            label = f"{percent(level)} envelope\nof all rows"
        return index_plot(values, labels, critical, label=label, ylabel=_CALLED[name], places=at + 1, ax=ax)

    def plot(
        self, level: float = 0.95, ax: Any = None, B: int | None = None, rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None, progress: bool = False,
    ) -> Any:  # fmt: skip
        """Outlyingness against influence with both envelopes; rows beyond either are labelled. Returns the Axes.

        Where there is no envelope, as for groups, the largest values are labelled.

        Parameters
        ----------
        level : float
            Of each envelope.
        ax : Axes, optional
        B, rng, n_jobs, progress
            As in `plot_index`.
        """
        self._check_figure(level, ax, rng, n_jobs, progress)
        envelope = self._envelope(B, rng, n_jobs, progress) if self.has_lines else None
        return self.drawn(envelope, level, 0 if self.has_lines else _LABELLED, ax)

    def drawn(self, envelope: Envelope | None, level: float, extreme: int, ax: Any) -> Any:
        """The figure of `plot`, with the lines of an envelope, or so many ``extreme`` values labelled without one."""
        lines = (np.inf, np.inf)
        if envelope is not None:
            lines = envelope.critical_value("rms_change", level), envelope.critical_value("outlyingness", level)
        ylabel = "outlyingness, −2 Σ log π" if self.grouped else _CALLED["outlyingness"]
        at = np.flatnonzero(self._counts)
        return outlying_plot(
            self.measures.rms_change[at], self.measures.outlyingness[at], shown_labels(self.index[at]), lines,
            level=level, extreme=extreme, xlabel=_CALLED["rms_change"], ylabel=ylabel, what=self._what[:-1], ax=ax,
        )  # fmt: skip

    def beyond(self, level: float = 0.95) -> pd.DataFrame:
        """Which rows exceed the envelope that was computed last, by measure: booleans (n, 5); none of weight zero.

        Raises
        ------
        ArgumentError
            If none has been computed.
        """
        if not self.has_envelope:
            raise ArgumentError("beyond() needs an envelope, computed before by .envelope(): envelope=None so far.")
        found = {
            name: above(getattr(self.measures, name), self._known.critical_value(name, level)) & self._counts
            for name in MEASURES
        }
        return pd.DataFrame(found, index=self.index)

    def summary(self, level: float = 0.95) -> Summary:
        """How much of ΔD is own misfit, the rows of largest ΔD, and the envelope of a level if it has been computed."""
        between("level", level, 0.0, 1.0)
        m, index = self.measures, self.index
        known, lost, order = self._shown, self.loo.what_failed(), self._largest
        block = Block(
            left=(Entry(f"{self._what.capitalize()} left out", int(known.sum()), "count"),),
            right=(Entry("Correlation with own", or_none(self._like_own()), "share"),),
        )
        largest = Table(
            headers=tuple(_PRINTED.values()),
            index=tuple(shown_labels(index[order])),
            cells=tuple(tuple(or_none(float(getattr(m, name)[k])) for name in MEASURES) for k in order),
            styles=("share",) * len(MEASURES),
            title=f"{self._what.capitalize()} of largest delta D",
        )
        if self.grouped:
            return Summary("Influence of whole groups", (block, largest), (*self.notes, GROUP_NOTE), lost)
        title = "Influence of single rows"
        if self.has_envelope:
            note = NOTE.format(level=percent(level), raised=self._known.how_raised)
            if lacking := self.envelope_lacks(level):
                note = f"There is no envelope of {percent(level)}: {lacking}."
            notes = (*self.notes, note, *filter(None, [_WITHIN_GROUPS * self.despite_groups]))
            return Summary(title, (block, largest, self._beside_envelope(level)), notes, lost)
        last = f"{_NONE}{self.no_copies}" if self.no_copies else _TO_COME
        return Summary(title, (block, largest), (*self.notes, last), lost)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the measures say, and what they do not."""
        own, others = self.measures.own[self._largest], self.measures.others[self._largest]
        of_others = _OTHERS if others.sum() > 0.0 else _LESS
        beside = np.abs(others).sum()
        like_own = self._like_own() >= _LIKE_OWN and beside <= _LITTLE * own.sum()
        share = "nearly all" if beside <= _NEARLY_ALL * own.sum() else "mostly"
        made_of = _OWN.format(share=share, but=self._but) if like_own else of_others
        return (*(note.format(made_of=made_of) for note in _NOTES), *self._tied, *self._elsewhere, *self._of_weights)

    @property
    def _but(self) -> str:
        """In which of the largest ΔD own misfit is the smaller part."""
        m = self.measures
        rows = shown_labels(self.index[[k for k in self._largest if m.others[k] > m.own[k]]])
        what = self._what if len(rows) > 1 else self._what[:-1]
        return _BUT.format(what=what, rows=", ".join(rows)) if rows else ""

    @property
    def _largest(self) -> NDArray[np.intp]:
        """Where the largest ΔD are; of equal ones those that come first."""
        return np.argsort(-self._rounded, kind="stable")[: min(_TOP, int(self._shown.sum()))]

    @property
    def _rounded(self) -> Floats:
        """(n,) ΔD beside the largest |ΔD|, in digits that rounding does not reach; −∞ where it is not known."""
        return self._in_digits("delta_deviance")

    def _in_digits(self, name: str) -> Floats:
        """(n,) the same of any measure."""
        values = getattr(self.measures, name)
        known = np.where(self._shown & np.isfinite(values), values, 0.0)
        largest = float(np.abs(known).max(initial=0.0)) or 1.0
        return np.where(self._shown & ~np.isnan(values), np.round(values / largest, _DIGITS), -np.inf)

    @property
    def _tied(self) -> tuple[str, ...]:
        """How many have the ΔD of the last one of the table, and are not in it."""
        listed, rounded = self._largest, self._rounded
        more = int(np.isin(rounded, rounded[listed[-1:]]).sum() - np.isin(rounded[listed], rounded[listed[-1:]]).sum())
        if more == 0:
            return ()
        has = "has" if more == 1 else "have"
        return (f"{counted(more, f'more {self._what[:-1]}')} {has} the delta D of the last one.",)

    @property
    def _shown(self) -> NDArray[np.bool_]:
        """(n,) what has been left out and counts."""
        return np.asarray(~np.isnan(self.measures.delta_deviance) & self._counts)

    @property
    def _counts(self) -> NDArray[np.bool_]:
        """(n,) the groups, or the rows whose weight is not zero."""
        return np.full(len(self.index), True) if self.grouped else np.asarray(self.loo.weights > 0)

    def _most(self, name: str) -> list[int]:
        """Where a measure is largest, but for rounding; nowhere if nothing is known of it."""
        rounded = self._in_digits(name)
        return np.flatnonzero((rounded > -np.inf) & (rounded == rounded.max())).tolist()

    @property
    def _elsewhere(self) -> tuple[str, ...]:
        """The largest outlyingness and influence, where no table names them."""
        listed, told = set(self._largest.tolist()), []
        for name in () if self.has_envelope else ("outlyingness", "rms_change"):
            places = self._most(name)
            if not places or not listed.isdisjoint(places):
                continue
            value, where = float(getattr(self.measures, name)[places[0]]), self._labels[places[0]]
            if value > 0.0:
                told.append(f"the largest {_PRINTED[name]}, {value:.4g}, in {self._what[:-1]} {where}")
        return (f"Not among those of largest delta D: {' and '.join(told)}.",) if told else ()

    @property
    def _of_weights(self) -> tuple[str, ...]:
        """What a row with a weight counts as in the measures."""
        weights = self.loo.weights[self.loo.weights > 0]
        if self.grouped or are_whole(weights):
            return ()
        of = "min(w, 1) copies of it" if self.loo.units is None else "the row times its weight"
        return (f"Of a row of weight w, delta D and own misfit are of {of}, -2 log pi is of one.",)

    def _like_own(self) -> float:
        """The correlation of ΔD with own misfit."""
        m, shown = self.measures, self._shown
        copies = np.ones(int(shown.sum())) if self.loo.units is not None else self.loo.weights[shown]
        return _correlation(m.delta_deviance[shown], m.own[shown], copies)

    def _beside_envelope(self, level: float) -> Table:
        """The largest value of each measure beside its envelope, and how many rows are above."""
        beyond, labels = self.beyond(level), self._labels
        rows = []
        for name in MEASURES:
            values, places = getattr(self.measures, name), self._most(name)
            most = float(values[places[0]]) if places else None
            largest = most, labels[places[0]] if most else "-"
            critical = self._known.critical_value(name, level)
            found = (critical, int(beyond[name].sum())) if np.isfinite(critical) else (None, None)
            rows.append((*largest, *found))
        failed = f", {self._known.n_failed} failed" if self._known.n_failed else ""
        return Table(
            headers=("largest", "in row", f"{percent(level)} envelope", "rows above"),
            index=tuple(_PRINTED.values()),
            cells=tuple(rows),
            styles=("share", "text", "share", "count"),
            title=f"Beside the largest of all rows in {self._known.B} replicates{failed}",
        )


def _correlation(first: Floats, second: Floats, weights: Floats) -> float:
    """That of two measures of so many copies each, NaN if either is constant."""
    if len(first) < 2 or np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return float("nan")
    covariances = np.cov(first, second, ddof=0, aweights=weights)
    return float(covariances[0, 1] / np.sqrt(covariances[0, 0] * covariances[1, 1]))
