"""The summary of a fit: what was fitted, the solution with its certificates, what it is worth."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat.calibration import VENN_ABERS
from svmstat.diagnostics import Coefficients, Evidence
from svmstat.diagnostics.coefficients import coefficient_notes
from svmstat.diagnostics.copies import copies_note
from svmstat.diagnostics.copies_seen import copies_left
from svmstat.diagnostics.worth import chosen_notes, evidence_tables, held_out_notes
from svmstat.kernels import NOT_CONVEX, Additive
from svmstat.machine import Pair
from svmstat.reporting.rendering.lines import abridged, listed
from svmstat.reporting.rendering.parts import Block, Entry, Part, Table
from svmstat.reporting.rendering.values import or_none, percent, show
from svmstat.reporting.summary import Summary
from svmstat.results.flags import caution, means_meet, trouble
from svmstat.results.resampled import Resampled
from svmstat.results.term_table import term_table
from svmstat.solver import norm_rounding

_CALIBRATIONS = {
    "insample": "in-sample decision values",
    "loo": "leave-one-out decision values",
    VENN_ABERS: "leave-one-out decision values",
    "kfold": "decision values by five folds",
}

_LONG = 24
"""A kernel whose name is longer stands over the full width."""

MOST_COEFFICIENTS = 6
"""Pairs whose coefficients stand side by side."""

_LANDMARKS = (
    "The kernel{part} is approximated by its values at landmarks{how}. The solution is exact for the approximate "
    "kernel, and every number here is of that machine."
)

_MOST_PAIRS = 45
"""Pairs, those of ten levels, that have a line each; of more the least and the largest are shown."""

_NOISE = 1e-10
"""What is smaller, relative to the values beside it, has no digit that the certificate vouches for."""


def summarize(
    fit: Resampled, held_out: Evidence | None, coefficients: Coefficients | None = None, told: tuple[str, ...] = (),
    dropped: Summary | None = None,
) -> Summary:  # fmt: skip
    """The summary of a fit, with the evidence of held-out rows and the spread of its coefficients if they are given.

    ``told`` are warnings beside those that are found here, as of `hidden_digits`; ``dropped`` is what single term
    deletions have to say.
    """
    two = len(fit.classes) == 2
    parts: list[Part] = [_model(fit, two), _solution(fit) if two else _certificates(fit), _support(fit, two)]
    of_terms: tuple[str, ...] = ()
    if isinstance(fit.kernel, Additive):
        table, note = term_table(fit.machine)
        parts.insert(2, table)
        of_terms = (note,)
    if dropped is not None:
        parts[-1:-1] = dropped.parts[1:]  # but for the block that says of which fit they are
    if fit.nu is not None:
        parts.append(
            Table.from_frame(
                fit.nu_bounds.rename(columns={"margin_errors": "margin errors"}),
                title="Shares of the class: margin errors <= nu <= support vectors",
            )
        )
    judged = fit.apparent if held_out is None else held_out
    by_row = fit.by_rows.held_out(True) if held_out is not None and fit.grouped else None
    parts += evidence_tables(fit.apparent, held_out, by_row)
    probabilities = _probabilities(fit, two)
    parts += [] if probabilities is None else [probabilities, *([] if two else [_functions(fit)])]
    parts.append(_confusion(judged, fit.weights_given))
    if fit.has_params and (two or len(fit.pairs) <= MOST_COEFFICIENTS):
        parts += _coefficients(fit, two) if coefficients is None else _spread_of(fit, coefficients)
    title = f"{'' if two else 'Multiclass '}Support Vector Machine Results"
    shown = coefficients if two or len(fit.pairs) <= MOST_COEFFICIENTS else None
    of_spread = ((), ()) if shown is None else (coefficient_notes(fit.shape.strength), shown.warnings())
    own = [*_of_landmarks(fit), *_notes(fit, two)]
    of_dropped = ((), ()) if dropped is None else (dropped.notes, dropped.warnings)
    evidence = dict.fromkeys((*of_dropped[0], *_of_evidence(fit, held_out)))  # copies of rows have one note for both
    notes = (*own, *of_terms, *evidence, *of_spread[0], *caution(fit, held_out, by_row))
    warnings = (*unreliable(fit), *told, *of_dropped[1], *of_spread[1], *trouble(fit, held_out))
    return Summary(title, tuple(parts), notes, warnings)


def _of_landmarks(fit: Resampled) -> list[str]:
    """That the kernel is approximate, or what it is made of."""
    if not fit.is_approximate:
        return []
    if _tells_how_well(fit):
        return [_LANDMARKS.format(part="", how=": the captured part of its trace says how well")]
    return [_LANDMARKS.format(part=", or a part of it,", how="")]


def _tells_how_well(fit: Resampled) -> bool:
    """Whether an approximation by landmarks has a captured part of the trace."""
    return fit.is_approximate and not np.isnan(fit.captured_trace)


def _model(fit: Resampled, two: bool) -> Block:
    """What was fitted: the formula, the response, what is at stake, rows and settings."""
    kernel = [Entry("Kernel", fit.kernel_name)]
    long = len(fit.kernel_name) > _LONG
    repeats = fit.weight_type == "frequency"
    wide = [
        Entry("Formula", abridged(fit.formula)),
        Entry("Response", _response(fit, two)),
        *(kernel if long else []),
        *([] if fit.groups is None else [Entry("Groups", _groups(fit))]),
        *([] if repeats or not fit.weights_given else [Entry("Weights", "probability weights, their mean made one")]),
        *(_stakes(fit) if two else _class_weights(fit)),
    ]
    total = "sum w" if fit.weights_given and repeats else "n"
    left = [
        ("Rows used", fit.n_rows, True),
        ("  with weight zero", fit.n_zero_weight, fit.weights_given),
        ("Sum of weights", fit.nobs, fit.weights_given and repeats),
        ("Dropped, missing values", fit.n_missing, True),
        ("Dropped, outside subset", fit.n_outside_subset, fit.n_outside_subset > 0),
        ("Columns of the design", fit.n_columns, True),
        ("Dropped, constant", fit.n_constant, fit.n_constant > 0),
    ]
    return Block(
        wide=tuple(wide),
        left=(
            *(Entry(label, value, "count") for label, value, shown in left if shown),
            *([] if repeats or not fit.weights_given else [Entry("Effective sample size", fit.effective_sample_size)]),
            Entry("Scaling", "standardised" if fit.scaled else "none"),
        ),
        right=(
            Entry("Loss", fit.loss),
            *([] if long else kernel),
            *(Entry(f"  {name}", value, "setting") for name, value in fit.kernel_parameters.items()),
            *([Entry("  captured trace", fit.captured_trace, "share")] if _tells_how_well(fit) else []),
            *_cost(fit, total),
        ),
    )


def _groups(fit: Resampled) -> str:
    """What they are called, how many there are and how large."""
    assert fit.groups is not None
    sizes = fit.groups[fit.frame.weights > 0].value_counts()
    each = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
    return f"{fit.groups.name}: {len(sizes)} groups of {each} row{'s'[: int(sizes.max() != 1)]}"


def _response(fit: Resampled, two: bool) -> str:
    """Its name, its levels and how often they were observed."""
    sums = fit.confusion.sum(axis=1)
    if two:
        events = show(sums.iloc[list(fit.classes).index(fit.event)], "count")
        return f"{fit.response_name}, event: {fit.event} ({events} of {show(fit.nobs, 'count')})"
    levels = ", ".join(f"{level} ({show(sums[level], 'count')})" for level in fit.classes)
    return f"{fit.response_name}, {len(fit.classes)} levels: {levels}"


def _cost(fit: Resampled, total: str) -> list[Entry]:
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


def _stakes(fit: Resampled) -> list[Entry]:
    """Costs, priors and class weights, and the probability above which they call for the event."""
    entries = []
    if fit.costs is not None:
        fp, fn = (show(fit.costs[kind], "setting") for kind in ("fp", "fn"))
        entries.append(Entry("Costs", f"{fp} for a false positive, {fn} for a false negative"))
    entries += _class_weights(fit)
    if fit.class_weight is not None or fit.loss == "p0" or fit.nu is not None:
        entries.append(Entry("Bayes threshold P0", f"{fit.threshold:.4g}: f > 0 stands for P(event) > P0"))
    return entries


def _class_weights(fit: Resampled) -> list[Entry]:
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


def _solution(fit: Resampled) -> Block:
    b, *ends = _without_noise([fit.intercept, *fit.intercept_interval], least=1.0)  # f is measured in margins
    intercept = (
        [Entry("Intercept", b)]
        if fit.intercept_is_unique
        else [
            Entry("Intercept (midpoint)" if np.isfinite(ends).all() else "Intercept", b),
            Entry("  interval", tuple(ends)),
        ]
    )
    margin = or_none(fit.margin) if fit.kernel.may_be_indefinite else fit.margin
    return Block(
        title="Solution",
        left=(Entry("Margin, 2/||h||", margin), Entry("Objective", fit.objective), *intercept),
        right=(
            Entry("KKT violation", fit.kkt_violation, "residual"),
            Entry("Duality gap", fit.duality_gap, "residual"),
            _certified(fit),
        ),
    )


def _certified(fit: Resampled) -> Entry:
    """Whether the certificate holds, and of what it is one."""
    return Entry(f"Certified {'stationary' if _not_convex(fit) else 'optimal'}", bool(fit.converged))


def _not_convex(fit: Resampled) -> bool:
    """Whether a stationary point need not be the best one."""
    return fit.kernel.may_be_indefinite and not fit.is_convex


def _certificates(fit: Resampled) -> Block:
    return Block(
        title="Solution: one machine for each pair of levels",
        left=(Entry("Pairs", len(fit.pairs), "count"), _certified(fit)),
        right=(
            Entry("Largest KKT violation", fit.kkt_violation, "residual"),
            Entry("Largest duality gap", fit.duality_gap, "residual"),
        ),
    )


def _support(fit: Resampled, two: bool) -> Table:
    """By level, with the sums of all; or by pair."""
    names = ["rows", "free", "bounded", "total"]
    counts = fit.n_support[names].to_numpy(dtype=float)
    index = tuple(map(str, fit.n_support.index)) if two else _pair_names(fit)
    if two:
        counts, index = np.vstack([counts, counts.sum(axis=0)]), (*index, "all")
    title = f"Support vectors{'' if two else ' by pair'}{' (sums of weights)' if fit.weights_given else ''}"
    table = Table(
        headers=("n", *names[1:]),
        index=index,
        cells=tuple(map(tuple, counts.tolist())),
        styles=("count",) * 4,
        title=title,
    )
    return table if two else _of_many(table, title, ".n_support")


def _of_many(table: Table, what: str, where: str) -> Table:
    """A table of pairs, or what it has least, most and in the middle, if they are many, and ``where`` the rest is."""
    if len(table.index) <= _MOST_PAIRS:
        return table
    values = pd.DataFrame(list(table.cells)).astype(float)
    extremes = values.quantile([0.0, 0.5, 1.0]).to_numpy().tolist()
    title = f"{what}: over {len(table.index)} pairs, each in {where}"
    cells = tuple(tuple(map(or_none, row)) for row in extremes)
    return replace(table, index=("least", "median", "greatest"), cells=cells, title=title)


def _pair_names(fit: Resampled) -> tuple[str, ...]:
    """The pairs as 'a : b'."""
    return tuple(f"{first} : {second}" for first, second in fit.pairs)


def _probabilities(fit: Resampled, two: bool) -> Block | None:
    """The map, if it has been made."""
    if not fit.has_maps:
        return None
    kind = "own decision values" if fit.fitted_maps().own.all() else _CALIBRATIONS[fit.calibration.kind]
    if fit.grouped:
        kind = kind.replace("leave-one-out", "leave-one-group-out").replace("five folds", "folds of groups")
    isotonic = fit.calibration.kind == VENN_ABERS
    title = f"{'' if two else 'Coupled '}{'Venn-Abers' if isotonic else 'Platt'} probabilities (map of {kind})"
    converged = () if isotonic else (Entry("Platt converged", bool(np.all(fit.calibration.converged))),)
    if two and isotonic:
        w = fit.frame.weights
        ends = fit.calibration.bounds(fit.machine.decision_values[w > 0, 0])
        left = [Entry("p1 - p0, mean width", float(np.average(ends.p1 - ends.p0, weights=w[w > 0])), "share")]
    elif two:
        B = _without_noise([fit.calibration.intercept], least=1.0)[0]
        left = [Entry("Platt A, slope", fit.calibration.slope), Entry("Platt B, intercept", B)]
    else:
        left = [Entry("Coupling", fit.coupling)]
    return Block(title=title, left=tuple(left), right=(*converged, _disagreement(fit, two)))


def _disagreement(fit: Resampled, two: bool) -> Entry:
    """How often the rule and the probabilities say different things."""
    label = "votes, largest p disagree" if fit.class_weight is None else "votes, largest L p disagree"
    if two:
        label = f"sign(f) and p > {'1/2' if fit.threshold == 0.5 else 'P0'} disagree"
    return Entry(label, fit.disagreement, "share")


def _functions(fit: Resampled) -> Table:
    intercepts = _without_noise(fit.intercept.to_numpy(), least=1.0)
    columns = [fit.margin, intercepts]
    if fit.calibration.kind != VENN_ABERS:
        columns += [np.atleast_1d(fit.calibration.slope), _without_noise(fit.calibration.intercept, least=1.0)]
    table = Table(
        headers=("margin", "intercept", "Platt A", "Platt B")[: len(columns)],
        index=_pair_names(fit),
        cells=tuple(zip(*(map(or_none, column) for column in columns), strict=True)),
        styles=("estimate",) * len(columns),
    )
    return _of_many(table, "Functions by pair", ".margin, .intercept and .calibration")


def _confusion(evidence: Evidence, weighted: bool) -> Table:
    """Sums of weights by observed and predicted class, with the error of each class."""
    table = evidence.confusion
    counts = table.to_numpy(dtype=float)
    levels = tuple(map(str, table.index))
    cells = []
    for right, row in zip(counts.diagonal(), counts, strict=True):
        total = row.sum()
        cells.append((*row, total, (total - right) / total if total > 0 else None))
    unit = ", sums of weights" if weighted else ""
    return Table(
        headers=(*levels, "total", "error"),
        index=levels,
        cells=tuple(cells),
        styles=("count",) * (len(levels) + 1) + ("share",),
        title=f"Confusion table, {evidence.how} (observed in rows, predicted in columns{unit})",
    )


def _coefficients(fit: Resampled, two: bool) -> list[Part]:
    return [_of_one(fit) if two else _pair_coefficients(fit)]


def _spread_of(fit: Resampled, coefficients: Coefficients) -> list[Part]:
    """With standard errors and intervals; below one another for several pairs."""
    standardized = fit.params_standardized.to_numpy().reshape(coefficients.estimate.shape)
    where = f" ({percent(coefficients.level)} percentiles of {coefficients.B} replicates)"
    return [*coefficients.tables(standardized if fit.scaled else None, where)]


def _of_one(fit: Resampled) -> Table:
    standardised = _without_noise(fit.params_standardized)
    original = fit.params.where(standardised != 0, 0.0)
    original["Intercept"] = fit.params["Intercept"]
    columns = {"coefficient": standardised}
    if fit.scaled:
        columns = {"standardised": standardised, "original scale": original}
    return Table.from_frame(pd.DataFrame(columns), title=f"Coefficients of f, positive towards {fit.event}")


def _pair_coefficients(fit: Resampled) -> Table:
    values = fit.params_standardized.apply(_without_noise)
    values.columns = list(_pair_names(fit))
    what = "of the standardised columns" if fit.scaled else "of the columns"
    return Table.from_frame(values, title=f"Coefficients {what}, positive towards the first level")


def _without_noise(values: Any, least: float = 0.0) -> pd.Series:
    """The values (m,), those that are nothing but rounding beside the largest of them, or ``least``, made zero.

    Examples
    --------
    >>> _without_noise([1.5, -2e-17, -np.inf]).tolist()
    [1.5, 0.0, -inf]
    """
    numbers = pd.Series(values)
    size = numbers.abs()
    return numbers.where(size > _NOISE * max(least, size[np.isfinite(size)].max()), 0.0)


def _notes(fit: Resampled, two: bool) -> tuple[str, ...]:
    """What numbers of the machine need to be read."""
    notes = []
    if not two:
        notes.append("Pair 'a : b' has f > 0 for a. The level with most votes of the pairs is predicted.")
        if fit.has_params and len(fit.pairs) > MOST_COEFFICIENTS:
            notes.append(
                f"The coefficients of the {len(fit.pairs)} pairs are in .params, their intervals in .confint()."
            )
    low, high = np.asarray(fit.intercept_interval, float).reshape(-1, 2).T
    margin = np.asarray(fit.margin, float).ravel()
    of = partial(_of_pairs, fit, two)
    if (low != high).any() and fit.nu is not None:
        notes.append(
            "A level has no free support vector: intercept and rho can move together, the sign of f with them, and all "
            "in the interval is optimal. The midpoint is used, or the end that is finite."
        )
    elif (low != high).any():
        where = "the interval" if two else ".intercept_interval"
        notes.append(
            f"No support vector{of(low != high)} is free: every intercept in {where} is optimal, and its midpoint is "
            "used."
        )
    if np.isnan(margin).any():
        notes.append(f"No margin{of(np.isnan(margin))}: ||h||^2 is negative, as it may be of an indefinite kernel.")
    if np.isinf(margin).any():
        several = "their decision functions are" if np.isinf(margin).sum() > 1 else "the decision function is"
        notes.append(f"h = 0{of(np.isinf(margin))}: {several} constant.")
        if fit.nu is not None and means_meet(fit):
            notes.append("To this kernel the means of the levels are the same: h = 0 whatever nu is.")
        elif fit.nu is not None:
            notes.append(
                "The reduced convex hulls of the classes meet, or are nearer to each other than rounding tells: only a "
                "larger nu keeps them apart."
            )
    return tuple(notes)


def _of_pairs(fit: Resampled, two: bool, which: NDArray[np.bool_]) -> str:
    """Which of the pairs of more than two levels, empty of two.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> _of_pairs(SimpleNamespace(pairs=[("a", "b"), ("a", "c"), ("b", "c")]), False, np.array([True, False, True]))
    ' of a : b, b : c'
    """
    if two:
        return ""
    return listed(" of ", [name for name, is_one in zip(_pair_names(fit), which, strict=True) if is_one], "")


def _of_evidence(fit: Resampled, held_out: Evidence | None) -> tuple[str, ...]:
    """What the columns of the evidence are, and where the missing one is."""
    own = (
        "In-sample numbers are of the rows that the fit was made to suit, by the map of their own decision values [003]"
    )
    if held_out is not None:
        copies = copies_note(fit.frame.weights, fit.machine.units) if fit.weights_given else ()
        return (f"{own}.", *copies, *copies_left(held_out), *held_out_notes(held_out), *chosen_notes([fit.optimism]))
    how = " take a while: fit.loo()" if fit.usual_folds is None else ": fit.kfold()"
    return (f"{own}: they say little of other rows. Those of held-out rows{how}, or summary(loo=True).",)


_MOST_HIDDEN = 1e-3
"""Of the spread of f, for three of its digits to be seen."""


def hidden_digits(fit: Resampled) -> tuple[str, ...]:
    """That rounding hides digits of f or of the margin, of the pair of which it hides most."""
    if not fit.converged:
        return ()
    hidden = max(map(_hidden_of_spread, fit.machine.pairs))
    found = []
    if hidden > _MOST_HIDDEN:
        found.append(
            f"rounding hides {hidden:.2g} of the spread of f over the rows, which is small beside the margin: "
            "ranks, probabilities and held-out numbers hang on it, and so on the order of rows. A larger C or gamma "
            "shows more of f."
        )
    if (share := max(map(_hidden_of_margin, fit.machine.pairs))) > _MOST_HIDDEN:
        found.append(
            f"the last digits of the kernel values may hide {min(share, 1.0):.2g} of the margin; f has its digits. "
            "A smaller C shows more of the margin."
        )
    return tuple(found)


def _hidden_of_spread(pair: Pair) -> float:
    """What rounding may be of differences of f, as a share of the largest of them."""
    solution = pair.solution
    spread = float(pair.problem.gram.ordinary.spread(solution.field))
    return solution.resolution / spread if spread > 0.0 and not solution.flat else 0.0


def _hidden_of_margin(pair: Pair) -> float:
    """What rounding of kernel values may be of 2/‖h‖, as a share of it: half of what it is of ‖h‖²."""
    squared = pair.solution.norm_squared
    lost = norm_rounding(pair.problem.gram, pair.problem.signs * pair.solution.alpha)
    return 0.5 * lost / squared if squared > 0.0 else 0.0  # NaN has a note of its own


def unreliable(fit: Resampled) -> tuple[str, ...]:
    """What makes the numbers of a fit unreliable."""
    warnings = [NOT_CONVEX] if _not_convex(fit) else []
    if not fit.converged:
        warnings.append(
            f"the solution is not certified as optimal (KKT violation {show(fit.kkt_violation, 'residual')}, "
            f"duality gap {show(fit.duality_gap, 'residual')}); do not rely on the numbers below: {fit.advice}."
        )
    if fit.has_maps and not np.all(fit.calibration.converged):
        warnings.append("the Platt calibration did not converge; do not rely on the probabilities.")
    return tuple(warnings)
