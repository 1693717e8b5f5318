"""Summaries: of a fit, and of every other result through the same class."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat.reporting.rendering import html, latex, text
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table
from svmstat.reporting.rendering.values import show

_CALIBRATIONS = {"insample": "in-sample decision values", "loo": "leave-one-out decision values"}

_LONG = 24
"""A kernel whose name is longer stands over the full width."""

_MOST_COEFFICIENTS = 6
"""Pairs whose coefficients stand side by side."""

_NOISE = 1e-10
"""What is smaller, relative to the values beside it, has no digit that the certificate vouches for."""


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """A titled sequence of blocks and tables, with warnings above them and notes below.

    It prints as text, shows itself as HTML in a notebook and converts to LaTeX.

    Attributes
    ----------
    title : str
    parts : tuple of Block or Table
        A part with a title opens a section, a part without one continues it.
    notes, warnings : tuple of str

    Examples
    --------
    >>> from svmstat.reporting.rendering.parts import Block, Entry
    >>> block = Block(left=(Entry("Deviance", 418.1),), right=(Entry("Rows", 634, "count"),))
    >>> print(Summary("A result", (block,), notes=("Nothing was fitted.",)))
                                       A result
    ==============================================================================
    Deviance:                      418.10     Rows:                            634
    ==============================================================================
    Nothing was fitted.
    """

    title: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def as_text(self) -> str:
        """As plain text, at most 78 columns wide."""
        return text.render(self.title, self.parts, self.notes, self.warnings)

    def as_html(self, document: bool = False) -> str:
        """As an HTML element that carries its own style, or as a whole HTML document."""
        element = html.render(self.title, self.parts, self.notes, self.warnings)
        return html.document(self.title, element) if document else element

    def as_latex(self) -> str:
        r"""As LaTeX for a document with ``\usepackage{booktabs,longtable}``."""
        return latex.render(self.title, self.parts, self.notes, self.warnings)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()

    def _repr_latex_(self) -> str:
        return self.as_latex()


def summarize(fit: Any) -> Summary:
    """The summary of a fit.

    Parameters
    ----------
    fit : SVMResults
        Or any object with its public attributes; nothing is computed but ratios of them.

    Returns
    -------
    Summary
    """
    two = len(fit.classes) == 2
    parts: list[Part] = [_model(fit, two), _solution(fit) if two else _certificates(fit), _support(fit, two)]
    if fit.nu is not None:
        parts.append(
            Table.from_frame(fit.nu_bounds, title="Shares of the class: margin errors <= nu <= support vectors")
        )
    parts += [_probabilities(fit, two), *([] if two else [_functions(fit)]), _confusion(fit), _errors(fit, two)]
    if fit.has_params and (two or len(fit.pairs) <= _MOST_COEFFICIENTS):
        parts.append(_coefficients(fit) if two else _pair_coefficients(fit))
    title = f"{'' if two else 'Multiclass '}Support Vector Machine Results"
    return Summary(title, tuple(parts), _notes(fit) if two else _pair_notes(fit), _warnings(fit))


def summarize_loo(loo: Any) -> Summary:
    """The summary of a `LooResult`."""
    block = Block(
        left=(
            Entry("CV score", loo.score),
            Entry("  standard error", loo.score_se),
            Entry("Rows left out", int((loo.weights > 0).sum()), "count"),
        ),
        right=(
            Entry("Leave-one-out error", loo.error_rate, "share"),
            Entry("Apparent error", loo.apparent_error, "share"),
            Entry("Excess error", loo.excess_error, "share"),
        ),
    )
    rows = "row" if loo.n_failed == 1 else "rows"
    lost = (
        f"{rows} could not be left out: a class lost, too few rows for nu, no certificate, or no converged Platt map."
    )
    warnings = (f"{loo.n_failed} {lost}",) if loo.n_failed else ()
    notes = ("The CV score is -2 times the log-likelihood of the rows by the fits without them.",)
    return Summary("Leave-one-out", (block,), notes, warnings)


def summarize_gof(gof: Any) -> Summary:
    """The summary of a `GofResult`."""
    block = Block(
        left=(
            Entry("Deviance", gof.statistic),
            Entry(f"{100 * gof.level:g} % of replicates below", gof.critical_value),
            Entry("p-value", gof.pvalue, "share"),
            Entry("Reject the fit", gof.reject),
        ),
        right=(
            Entry("Method", gof.method),
            Entry("Replicates", gof.B, "count"),
            Entry("  failed", gof.n_failed, "count"),
        ),
    )
    return Summary("Goodness of fit by the bootstrapped deviance", (block,))


def abridged(formula: str, most: int) -> str:
    """The formula, its middle terms left out if it has more characters than ``most``.

    Examples
    --------
    >>> abridged("y ~ x1 + x2 + x3 + x4 + x5", 20)
    'y ~ x1 + x2 + ... + x5'
    """
    if len(formula) <= most:
        return formula
    head, last = formula[:most].rpartition(" + ")[0], formula.rpartition(" + ")[2]
    return f"{head} + ... + {last}" if head else formula


def _model(fit: Any, two: bool) -> Block:
    """What was fitted: the formula, the response, what is at stake, rows and settings."""
    kernel = [Entry("Kernel", fit.kernel_name)]
    long = len(fit.kernel_name) > _LONG
    wide = [
        Entry("Formula", abridged(fit.formula, 1200)),
        Entry("Response", _response(fit, two)),
        *(kernel if long else []),
        *(_stakes(fit) if two else _class_weights(fit)),
    ]
    total = "sum w" if fit.weights_given else "n"
    left = [
        ("Rows used", fit.n_rows, True),
        ("  with weight zero", fit.n_zero_weight, fit.weights_given),
        ("Sum of weights", fit.nobs, fit.weights_given),
        ("Dropped, missing values", fit.n_missing, True),
        ("Dropped, outside subset", fit.n_outside_subset, fit.n_outside_subset > 0),
        ("Columns of the design", fit.n_columns, True),
        ("Dropped, constant", fit.n_constant, fit.n_constant > 0),
    ]
    return Block(
        wide=tuple(wide),
        left=(
            *(Entry(label, value, "count") for label, value, shown in left if shown),
            Entry("Scaling", "standardised" if fit.scaled else "none"),
        ),
        right=(
            Entry("Loss", fit.loss),
            *([] if long else kernel),
            *(Entry(f"  {name}", value, "setting") for name, value in fit.kernel_parameters.items()),
            *_cost(fit, total),
        ),
    )


def _response(fit: Any, two: bool) -> str:
    """Its name, its levels and how often they were observed."""
    sums = fit.confusion.sum(axis=1)
    if two:
        events = show(sums.iloc[list(fit.classes).index(fit.event)], "count")
        return f"{fit.response_name}, event: {fit.event} ({events} of {show(fit.nobs, 'count')})"
    levels = ", ".join(f"{level} ({show(sums[level], 'count')})" for level in fit.classes)
    return f"{fit.response_name}, {len(fit.classes)} levels: {levels}"


def _cost(fit: Any, total: str) -> list[Entry]:
    """What balances the norm of h against the losses."""
    if fit.nu is None:
        return [Entry("C", fit.C, "setting"), Entry(f"lambda = 1/(2 C {total})", fit.lambda_, "setting")]
    unique = fit.rho_interval[1] - fit.rho_interval[0] <= _NOISE * max(fit.rho, _NOISE)
    return [
        Entry("nu of the event", fit.nu[0], "setting"),
        Entry("nu of the other level", fit.nu[1], "setting"),
        Entry("rho" if unique else "rho (not unique)", fit.rho, "setting"),
        Entry(f"Equivalent C = 1/(rho {total})", fit.C, "setting"),
        Entry("  weight of an event, gamma", 1.0 - fit.threshold, "share"),
    ]


def _stakes(fit: Any) -> list[Entry]:
    """Costs, priors and class weights, and the probability above which they call for the event."""
    entries = []
    if fit.costs is not None:
        fp, fn = (show(fit.costs[kind], "setting") for kind in ("fp", "fn"))
        entries.append(Entry("Costs", f"{fp} for a false positive, {fn} for a false negative"))
    entries += _class_weights(fit)
    if fit.class_weight is not None or fit.loss == "p0" or fit.nu is not None:
        entries.append(Entry("Bayes threshold P0", f"{fit.threshold:.4g}: f > 0 stands for P(event) > P0"))
    return entries


def _class_weights(fit: Any) -> list[Entry]:
    """Priors and class weights, if there are any."""
    entries = []
    if fit.priors is not None:
        shares = fit.confusion.sum(axis=1) / fit.nobs
        both = (f"{level}: {show(prior, 'setting')} ({shares[level]:.4f})" for level, prior in fit.priors.items())
        entries.append(Entry("Priors (share in the sample)", ", ".join(both)))
    if fit.class_weight is not None:
        weights = (f"{level}: {show(weight, 'setting')}" for level, weight in fit.class_weight.items())
        entries.append(Entry("Class weights", ", ".join(weights)))
    return entries


def _solution(fit: Any) -> Block:
    b, *ends = _without_noise([fit.intercept, *fit.intercept_interval], least=1.0)  # f is measured in margins
    intercept = (
        [Entry("Intercept", b)]
        if fit.intercept_is_unique
        else [Entry("Intercept (midpoint)", b), Entry("  interval", tuple(ends))]
    )
    return Block(
        title="Solution",
        left=(Entry("Margin, 2/||h||", fit.margin), Entry("Objective", fit.objective), *intercept),
        right=(
            Entry("KKT violation", fit.kkt_violation, "residual"),
            Entry("Duality gap", fit.duality_gap, "residual"),
            Entry("Certified optimal", bool(fit.converged)),
        ),
    )


def _certificates(fit: Any) -> Block:
    return Block(
        title="Solution: one machine for each pair of levels",
        left=(Entry("Pairs", len(fit.pairs), "count"), Entry("Certified optimal", bool(fit.converged))),
        right=(
            Entry("Largest KKT violation", fit.kkt_violation, "residual"),
            Entry("Largest duality gap", fit.duality_gap, "residual"),
        ),
    )


def _support(fit: Any, two: bool) -> Table:
    """By level, with the sums of all; or by pair."""
    names = ["rows", "free", "bounded", "total"]
    counts = fit.n_support[names].to_numpy(dtype=float)
    index = tuple(map(str, fit.n_support.index)) if two else _pair_names(fit)
    if two:
        counts, index = np.vstack([counts, counts.sum(axis=0)]), (*index, "all")
    return Table(
        headers=("n", *names[1:]),
        index=index,
        cells=tuple(map(tuple, counts.tolist())),
        styles=("count",) * 4,
        title=f"Support vectors{'' if two else ' by pair'}{' (sums of weights)' if fit.weights_given else ''}",
    )


def _pair_names(fit: Any) -> tuple[str, ...]:
    """The pairs as 'a : b'."""
    return tuple(f"{first} : {second}" for first, second in fit.pairs)


def _probabilities(fit: Any, two: bool) -> Block:
    kind = _CALIBRATIONS.get(fit.calibration.kind, fit.calibration.kind)
    if two:
        slope, intercept = fit.calibration.slope, fit.calibration.intercept
        maps = [Entry("Platt A, slope", slope), Entry("Platt B, intercept", intercept)]
    else:
        maps = [Entry("Coupling", fit.coupling)]
    return Block(
        title=f"Deviance and {'' if two else 'coupled '}Platt probabilities ({kind})",
        left=(
            Entry("Deviance", fit.deviance),
            Entry("Null deviance", fit.null_deviance),
            Entry("McFadden R-squared", fit.pseudo_rsquared, "share"),
        ),
        right=(
            Entry("Log-likelihood", fit.llf),
            *maps,
            Entry("Platt converged", bool(np.all(fit.calibration.converged))),
        ),
    )


def _functions(fit: Any) -> Table:
    intercepts = _without_noise(fit.intercept.to_numpy(), least=1.0)
    platt = _without_noise(fit.calibration.intercept, least=1.0)
    columns = (fit.margin, intercepts, fit.calibration.slope, platt)
    return Table(
        headers=("margin", "intercept", "Platt A", "Platt B"),
        index=_pair_names(fit),
        cells=tuple(zip(*(map(float, column) for column in columns), strict=True)),
        styles=("estimate",) * 4,
    )


def _confusion(fit: Any) -> Table:
    """Sums of weights by observed and predicted class, with the error of each class."""
    counts = fit.confusion.to_numpy(dtype=float)
    levels = tuple(map(str, fit.confusion.index))
    cells = []
    for right, row in zip(counts.diagonal(), counts, strict=True):
        total = row.sum()
        cells.append((*row, total, (total - right) / total if total > 0 else None))
    unit = ", sums of weights" if fit.weights_given else ""
    return Table(
        headers=(*levels, "total", "error"),
        index=levels,
        cells=tuple(cells),
        styles=("count",) * (len(levels) + 1) + ("share",),
        title=f"Confusion table (observed in rows, predicted in columns{unit})",
    )


def _errors(fit: Any, two: bool) -> Block:
    disagree = "votes, largest p disagree" if fit.class_weight is None else "votes, largest L p disagree"
    if two:
        disagree = f"sign(f) and p > {'1/2' if fit.threshold == 0.5 else 'P0'} disagree"
    return Block(
        left=(Entry("Apparent error", fit.apparent_error, "share"),),
        right=(Entry(disagree, fit.disagreement, "share"),),
    )


def _coefficients(fit: Any) -> Table:
    standardised = _without_noise(fit.params_standardized)
    original = fit.params.where(standardised != 0, 0.0)
    original["Intercept"] = fit.params["Intercept"]
    columns = {"coefficient": standardised}
    if fit.scaled:
        columns = {"standardised": standardised, "original scale": original}
    return Table.from_frame(pd.DataFrame(columns), title=f"Coefficients of f, positive towards {fit.event}")


def _pair_coefficients(fit: Any) -> Table:
    values = fit.params_standardized.apply(_without_noise)
    values.columns = list(_pair_names(fit))
    what = "of the standardised columns" if fit.scaled else "of the columns"
    return Table.from_frame(values, title=f"Coefficients {what}, positive towards the first level")


def _without_noise(values: Any, least: float = 0.0) -> pd.Series:
    """The values (m,), those that are nothing but rounding beside the largest of them, or ``least``, made zero.

    Examples
    --------
    >>> _without_noise([1.5, -2e-17]).tolist()
    [1.5, 0.0]
    """
    numbers = pd.Series(values)
    return numbers.where(numbers.abs() > _NOISE * max(least, numbers.abs().max()), 0.0)


def _notes(fit: Any) -> tuple[str, ...]:
    notes = []
    if not fit.intercept_is_unique:
        notes.append("No support vector is free: every intercept in the interval is optimal, and its midpoint is used.")
    if math.isinf(fit.margin):
        notes.append("h = 0: the decision function is constant.")
        if fit.nu is not None:
            notes.append("The reduced convex hulls of the classes meet: only a larger nu keeps them apart.")
    return tuple(notes)


def _pair_notes(fit: Any) -> tuple[str, ...]:
    notes = ["Pair 'a : b' has f > 0 for a. The level with most votes of the pairs is predicted."]
    if fit.has_params and len(fit.pairs) > _MOST_COEFFICIENTS:
        notes.append(f"The coefficients of the {len(fit.pairs)} pairs are in .params.")
    return tuple(notes)


def _warnings(fit: Any) -> tuple[str, ...]:
    """What makes the numbers of a fit unreliable."""
    warnings = []
    if not fit.converged:
        warnings.append(
            f"the solution is not certified as optimal (KKT violation {show(fit.kkt_violation, 'residual')}, "
            f"duality gap {show(fit.duality_gap, 'residual')}); do not rely on the numbers below: {fit.status.advice}."
        )
    if not np.all(fit.calibration.converged):
        warnings.append("the Platt calibration did not converge; do not rely on the probabilities or the deviance.")
    return tuple(warnings)
