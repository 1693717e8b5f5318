"""``etable()``: several fits side by side, as tables of regressions are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.checks import at_least, flag
from svmstat._tools.keywords import helpful
from svmstat._tools.randomness import check_draws
from svmstat._tools.texts import counted
from svmstat.diagnostics import Evidence
from svmstat.diagnostics.coefficients import coefficient_notes
from svmstat.diagnostics.copies import copies_note
from svmstat.diagnostics.worth import LABELS, chosen_notes, held_out_remarks, numbers_of, on_one_row
from svmstat.errors import ArgumentError, ArgumentTypeError
from svmstat.objective.predictive import Estimate
from svmstat.reporting.rendering.lines import abridged, listed
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table
from svmstat.reporting.rendering.values import one_line
from svmstat.reporting.summary import Printed, Summary
from svmstat.results.calibrated import kind_of
from svmstat.results.estimated import Estimated
from svmstat.results.fit import SVMResults
from svmstat.results.flags import trouble
from svmstat.results.summary import MOST_COEFFICIENTS, hidden_digits, unreliable

_BROAD = 16
"""A kernel whose name is longer stands above the table."""

Cells = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: its label, how its numbers are shown, and a cell for each fit; None is what there is not."""

    label: str
    style: str
    cells: Cells

    @property
    def shown(self) -> Cells:
        """The cells, blank where there is no standard error."""
        return tuple("" if cell is None and not self.label.strip() else cell for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one kind: their name, and the title under which they stand."""

    name: str
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FitTable(Printed):
    """F fits side by side.

    Attributes
    ----------
    names : tuple of str, length F
    above : tuple of Entry
        What is too long for a column: formulas and kernels.
    sections : tuple of Section
        Settings, numbers of held-out rows, coefficients.
    notes, warnings : tuple of str
    """

    names: tuple[str, ...]
    above: tuple[Entry, ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """All cells, not rounded, a column for each fit; rows by section and label, standard errors as in "AUC se"."""
        found = {}
        for section in self.sections:
            for before, row in zip((None, *section.rows), section.rows, strict=False):
                of = "" if before is None else before.label.strip()
                found[section.name, row.label.strip() or f"{of} se"] = row.cells
        index = pd.MultiIndex.from_tuples(found, names=["section", "row"])
        return pd.DataFrame(list(found.values()), index, list(self.names), dtype=object)

    def summary(self) -> Summary:
        """The table, with what its standard errors are of; it converts to HTML, LaTeX and Markdown."""
        blank = ("",) * len(self.names)
        rows: list[Row] = []
        starts = []
        for section in self.sections:
            starts.append(len(rows))
            rows += [*([Row(section.title, "estimate", blank)] if section.title else []), *section.rows]
        table = Table(
            self.names,
            tuple(row.label for row in rows),
            tuple(row.shown for row in rows),
            ("estimate",) * len(self.names),
            row_styles=tuple(row.style for row in rows),
            mixed=True,
            ruled=tuple(starts[1:]),
        )
        parts: tuple[Part, ...] = (Block(wide=self.above), table)
        return Summary("Support vector machines side by side", parts, self.notes, self.warnings)

    def __repr__(self) -> str:
        return listed(f"<FitTable: {counted(len(self.names), 'fit')}, ", self.names, ">")


@helpful
def etable(
    fits: Sequence[SVMResults] | Mapping[str, SVMResults],
    *,
    loo: bool | None = None,
    B: int | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> FitTable:
    """A table of several fits side by side: settings, what they are worth on held-out rows, coefficients if linear.

    Standard errors stand in parentheses below. ``print(etable(…))`` is text, ``etable(…).summary()`` has as_html(),
    as_latex() and as_markdown(); whether two of the fits differ by more than chance is for `svmstat.compare`.

    Parameters
    ----------
    fits : sequence of SVMResults, or mapping of names to them
        One or more; without names they are called (1), (2), ….
    loo : bool, optional
        Whether numbers of held-out rows are computed, as in `SVMResults.summary`.
    B : int, optional
        Replicates for the standard errors of linear coefficients, at least 2; by default there are none of these.
    rng, n_jobs, progress
        As in `SVMResults.bootstrap`, of each fit.

    Returns
    -------
    FitTable

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For no fit, something else than fits, and for B where no coefficients would be shown.

    Examples
    --------
    >>> from svmstat import datasets, etable, svm
    >>> mackerel = datasets.load("mackerel")
    >>> fit = svm("egg_count > 0 ~ lon + lat", mackerel, kernel="linear", C=4)
    >>> table = etable({"linear": fit, "rbf": fit.update(kernel="rbf", gamma=0.5)})
    >>> table.table.loc["settings"].head(3)
            linear  rbf
    row
    Kernel  linear  rbf
    gamma     None  0.5
    C          4.0  4.0
    """
    named = _named(fits)
    asked = None if loo is None else flag("loo", loo)
    if B is not None:
        at_least("B", B, 2)
    check_draws(rng, n_jobs, progress)
    every = list(named.values())
    shown = [fit if fit.has_params and len(fit.pairs) <= MOST_COEFFICIENTS else None for fit in every]
    if B is not None and all(fit is None for fit in shown):
        raise ArgumentError(f"B={B} is for standard errors of coefficients: none of these fits has any to be shown.")
    held_out = [fit.held_out(asked) for fit in every]
    sections = [_settings(every), *([] if all(each is None for each in held_out) else [_worth(held_out)])]
    spreads = [None if fit is None or B is None else _errors(fit, B, rng, n_jobs, progress) for fit in shown]
    sections += _coefficients(shown, spreads)
    return FitTable(
        tuple(named),
        tuple(_above(named)),
        tuple(sections),
        tuple(_notes(named, held_out, any(fit is not None for fit in shown), B)),
        tuple(_warnings(named, held_out)),
    )


def _named(fits: object) -> dict[str, SVMResults]:
    """The fits by name."""
    if isinstance(fits, SVMResults):
        fits = [fits]
    if not isinstance(fits, Mapping):
        if not isinstance(fits, Sequence) or isinstance(fits, str):
            raise ArgumentTypeError(
                f"fits is of type {type(fits).__name__}: etable() takes a list of fits, or a mapping of names to them."
            )
        fits = {f"({k})": fit for k, fit in enumerate(fits, 1)}
    if not fits:
        raise ArgumentError("fits is empty: etable() takes one fit or more.")
    for name, fit in fits.items():
        if not isinstance(fit, SVMResults):
            raise ArgumentTypeError(
                f"fits has {name} of type {type(fit).__name__}: it must be a fit of svm(), or .best of tune(); models "
                "of other packages are for compare()."
            )
    named = {str(name): fit for name, fit in fits.items()}
    if len(named) < len(fits):
        raise ArgumentError(f"fits has several of one name: {', '.join(map(repr, fits))}.")
    return named


def _above(named: Mapping[str, SVMResults]) -> Iterator[Entry]:
    """Formulas, once if they are the same, and kernels that no column could hold."""
    formulas = {one_line(name): fit.formula for name, fit in named.items()}
    if len(set(formulas.values())) == 1:
        formulas = {"Formula": next(iter(formulas.values()))}
    yield from (Entry(name, abridged(formula)) for name, formula in formulas.items())
    for name, fit in named.items():
        if len(fit.kernel_name) > _BROAD:
            yield Entry(f"Kernel of {one_line(name)}", fit.kernel_name)


def _settings(fits: Sequence[SVMResults]) -> Section:
    kernels = ["above" if len(fit.kernel_name) > _BROAD else fit.kernel_name for fit in fits]
    of_kernels = dict.fromkeys(name for fit in fits for name in fit.kernel_parameters)
    rows = [
        Row("Loss", "estimate", tuple(fit.loss for fit in fits)),
        Row("Kernel", "estimate", tuple(kernels)),
        *(Row(f"  {name}", "setting", tuple(fit.kernel_parameters.get(name) for fit in fits)) for name in of_kernels),
        Row("C", "setting", tuple(fit.C for fit in fits)),
    ]
    if any(fit.nu is not None for fit in fits):
        nus = [(None, None) if fit.nu is None else fit.nu for fit in fits]
        for k, of in enumerate(("event", "other level")):
            rows.append(Row(f"  nu of the {of}", "setting", tuple(each[k] for each in nus)))
    rows += _where_they_differ(fits)
    events = [fit.event for fit in fits if fit.shape.two]
    if len(set(events)) > 1:
        rows.append(Row("Event", "estimate", tuple(str(fit.event) if fit.shape.two else None for fit in fits)))
    rows.append(Row("Rows used", "count", tuple(fit.n_rows for fit in fits)))
    if any(fit.weights_given for fit in fits):
        rows.append(Row("Sum of weights", "count", tuple(fit.nobs for fit in fits)))
    if any(fit.groups is not None for fit in fits):
        rows.append(Row("Groups", "count", tuple(fit.n_groups for fit in fits)))
    sums = " (sums of weights)" if any(fit.weights_given for fit in fits) else ""
    rows += [
        Row("Columns of the design", "count", tuple(fit.n_columns for fit in fits)),
        Row(f"Support vectors{sums}", "count", tuple(fit.machine.n_support for fit in fits)),
    ]
    return Section("settings", "", tuple(rows if len({fit.loss for fit in fits}) > 1 else rows[1:]))


def _where_they_differ(fits: Sequence[SVMResults]) -> Iterator[Row]:
    """Settings by which fits may differ and which are not shown where they do not."""
    settings: dict[str, list[str | None]] = {
        "Class weights": [_weights_of_levels(fit) for fit in fits],
        "Scaled": ["yes" if fit.scaled else "no" for fit in fits],
        "Weights are": [fit.weight_type if fit.weights_given else None for fit in fits],
        "Calibration": [kind_of(fit.asked, fit.n_used) for fit in fits],
    }
    return (Row(name, "estimate", tuple(each)) for name, each in settings.items() if len(set(each)) > 1)


def _weights_of_levels(fit: SVMResults) -> str | None:
    """What errors of the levels cost, with the least as one; None where nothing is said of that."""
    given = fit.class_weight
    if given is None:
        return None
    least = min(given.values())
    return ", ".join(f"{level}: {weight / least:.4g}" for level, weight in given.items())


def _worth(held_out: Sequence[Evidence | None]) -> Section:
    """Numbers of held-out rows, with standard errors below."""
    how = [None if each is None else each.how for each in held_out]
    rows = [] if len(set(how)) == 1 else [Row("How", "estimate", tuple(how))]
    known = [{} if each is None else {label: (style, x) for label, style, x in numbers_of(each)} for each in held_out]
    styles = {label: style for each in known for label, (style, _) in each.items()}
    for label in (label for label in LABELS if label in styles):
        found = [each[label][1] if label in each else None for each in known]
        rows += _with_errors(label, styles[label], found)
    title = f"Held out ({how[0]})" if not rows or rows[0].label != "How" else "Held out"
    return Section("held_out", title, tuple(rows))


def _with_errors(label: str, style: str, found: Sequence[Estimate | None]) -> list[Row]:
    """Values, and their standard errors in a row below if there are any."""
    values, errors = (
        tuple(None if each is None or np.isnan(each[k]) else float(each[k]) for each in found) for k in (0, 1)
    )
    rows = [Row(label, style, values)]
    if any(error is not None for error in errors):
        rows.append(Row(" ", "share_se" if style == "share" else "se", errors))
    return rows


def _errors(
    fit: Estimated, B: int, rng: int | np.random.Generator | None, n_jobs: int | None, progress: bool
) -> dict[Any, float]:
    """The standard error of each coefficient by its label."""
    variances = np.diag(fit.vcov(B, rng, n_jobs, progress))
    return dict(zip(_each_once(fit.param_labels), np.sqrt(variances), strict=True))


def _each_once(labels: pd.Index) -> list[tuple[Any, int]]:
    """Labels, with how often each was there before: a column may be called Intercept."""
    return list(zip(labels, pd.Series(0, labels).groupby(level=list(range(labels.nlevels))).cumcount(), strict=True))


def _coefficients(
    fits: Sequence[SVMResults | None], spreads: Sequence[Mapping[Any, float] | None]
) -> Iterator[Section]:
    """A section of linear coefficients; of more than two levels one for each pair."""
    every = [
        {} if fit is None else dict(zip(_each_once(fit.param_labels), np.ravel(fit.params, "F"), strict=True))
        for fit in fits
    ]
    by_pair: dict[str, list[Row]] = {}
    for label in dict.fromkeys(label for each in every for label in each):
        *pair, term = label[0] if isinstance(label[0], tuple) else label[:1]
        found = [
            None if label not in each else Estimate(each[label], np.nan if spread is None else spread[label])
            for each, spread in zip(every, spreads, strict=True)
        ]
        of = " ".join(["coefficients", *([f"{pair[0]} : {pair[1]}"] if pair else [])])
        by_pair.setdefault(of, []).extend(_with_errors(f"  {term}", "estimate", found))
    for of, rows in by_pair.items():
        yield Section(of, of.replace("coefficients", "Coefficients of f,", 1).removesuffix(","), tuple(rows))


def _remarks(known: Mapping[str, Evidence]) -> Iterator[str]:
    """What is to be known of held-out numbers, each remark once, with the names of the fits unless it is of all."""
    of: dict[str, list[str]] = {}
    for name, each in known.items():
        for remark in (*copies_note(each.weights, each.units), *held_out_remarks(each, by_level=False)):
            of.setdefault(remark, []).append(name)
    for remark, names in of.items():
        yield remark if len(names) == len(known) else f"{', '.join(names)}: {remark}"


def _notes(
    named: Mapping[str, SVMResults], held_out: Sequence[Evidence | None], linear: bool, B: int | None
) -> Iterator[str]:
    """What the numbers are, and what they are not."""
    fits = list(named.values())
    known = {name: each for name, each in zip(named, held_out, strict=True) if each is not None}
    if known:
        yield from _remarks(known)
        if len(fits) > 1:
            yield "Whether one of these fits is better than another: compare(), with standard errors of the difference."
    if any(each is None for each in held_out):
        yield "Numbers of held-out rows that are missing take a while: etable(..., loo=True)."
    chosen = [name for name, fit in named.items() if fit.optimism is not None]
    which = "" if len(chosen) == len(fits) else f"{', '.join(chosen)}: "
    yield from (which + note for note in chosen_notes([fit.optimism for fit in fits]))
    if any(not fit.shape.two for fit in fits):
        yield "Of more than two levels AUC and calibration are by level: fit.glance()."
    if linear:
        yield "Coefficients are of the columns on their own scale; fits of another C or loss have f on another scale."
    if linear and B is not None:
        yield from (f"Standard errors of coefficients: of {B} replicates.", *coefficient_notes())
    if any(fit.has_params and len(fit.pairs) > MOST_COEFFICIENTS for fit in fits):
        yield f"The coefficients of more than {MOST_COEFFICIENTS} pairs are in .params."


def _warnings(named: Mapping[str, SVMResults], held_out: Sequence[Evidence | None]) -> Iterator[str]:
    """What makes the numbers of a fit, or all comparisons, unreliable."""
    first, *others = named.values()
    if not all(_same_rows(first, other) for other in others):
        yield "the fits are not of the same rows, response, weights and groups: their numbers cannot be compared."
    for (name, fit), each in zip(named.items(), held_out, strict=True):
        yield from (f"{name}: {text}" for text in (*unreliable(fit), *hidden_digits(fit), *trouble(fit, each)))
        if each is not None and (of_one := on_one_row(each)) is not None:
            yield f"{name}: of the score {of_one}."


def _same_rows(first: SVMResults, other: SVMResults) -> bool:
    one, two = first.frame, other.frame
    return (
        first.classes == other.classes
        and one.index.equals(two.index)
        and np.array_equal(one.codes, two.codes)
        and np.array_equal(one.weights, two.weights)
        and (first.groups is None) == (other.groups is None)
        and (first.groups is None or other.groups is None or first.groups.equals(other.groups))
    )
