"""The summary of a fit with more than two levels."""

from typing import Any

import numpy as np

from svmstat.rendering.parts import Block, Entry, Part, Table
from svmstat.rendering.values import show
from svmstat.summary import (
    Summary,
    calibration_kind,
    class_weights,
    confusion_table,
    fit_warnings,
    model_block,
    without_noise,
)

_MOST_COEFFICIENTS = 6
"""Pairs whose coefficients stand side by side."""


def summarize_multiclass(fit: Any) -> Summary:
    """The summary of a fit with more than two levels.

    Parameters
    ----------
    fit : MulticlassSVMResults
        Or any object with its public attributes; nothing is computed but ratios of them.

    Returns
    -------
    Summary
    """
    sums = fit.confusion.sum(axis=1)
    levels = ", ".join(f"{level} ({show(sums[level], 'count')})" for level in fit.classes)
    response = f"{fit.response_name}, {len(fit.classes)} levels: {levels}"
    parts: list[Part] = [model_block(fit, response, class_weights(fit)), _certificate(fit), _support(fit)]
    parts += [_probabilities(fit), _functions(fit), confusion_table(fit), _errors(fit)]
    notes = ["Pair 'a : b' has f > 0 for a. The level with most votes of the pairs is predicted."]
    if fit.has_params and len(fit.pairs) <= _MOST_COEFFICIENTS:
        parts.append(_coefficients(fit))
    elif fit.has_params:
        notes.append(f"The coefficients of the {len(fit.pairs)} pairs are in .params.")
    return Summary("Multiclass Support Vector Machine Results", tuple(parts), tuple(notes), fit_warnings(fit))


def pair_names(fit: Any) -> tuple[str, ...]:
    """The pairs as 'a : b'."""
    return tuple(f"{first} : {second}" for first, second in fit.pairs)


def _certificate(fit: Any) -> Block:
    return Block(
        title="Solution: one machine for each pair of levels",
        left=(Entry("Pairs", len(fit.pairs), "count"), Entry("Certified optimal", bool(fit.converged))),
        right=(
            Entry("Largest KKT violation", fit.kkt_violation, "residual"),
            Entry("Largest duality gap", fit.duality_gap, "residual"),
        ),
    )


def _support(fit: Any) -> Table:
    counts = fit.n_support[["rows", "free", "bounded", "total"]].to_numpy(dtype=float)
    return Table(
        headers=("n", "free", "bounded", "total"),
        index=pair_names(fit),
        cells=tuple(map(tuple, counts.tolist())),
        styles=("count",) * 4,
        title=f"Support vectors by pair{' (sums of weights)' if fit.weights_given else ''}",
    )


def _probabilities(fit: Any) -> Block:
    return Block(
        title=f"Deviance and coupled Platt probabilities ({calibration_kind(fit)})",
        left=(
            Entry("Deviance", fit.deviance),
            Entry("Null deviance", fit.null_deviance),
            Entry("McFadden R-squared", fit.pseudo_rsquared, "share"),
        ),
        right=(
            Entry("Log-likelihood", fit.llf),
            Entry("Coupling", fit.coupling),
            Entry("Platt converged", bool(np.all(fit.calibration.converged))),
        ),
    )


def _functions(fit: Any) -> Table:
    intercepts = without_noise(fit.intercept.to_numpy(), least=1.0)
    platt = without_noise(fit.calibration.intercept, least=1.0)
    columns = (fit.margin, intercepts, fit.calibration.slope, platt)
    return Table(
        headers=("margin", "intercept", "Platt A", "Platt B"),
        index=pair_names(fit),
        cells=tuple(zip(*(map(float, column) for column in columns), strict=True)),
        styles=("estimate",) * 4,
    )


def _errors(fit: Any) -> Block:
    likeliest = "votes, largest p disagree" if fit.class_weight is None else "votes, largest L p disagree"
    return Block(
        left=(Entry("Apparent error", fit.apparent_error, "share"),),
        right=(Entry(likeliest, fit.disagreement, "share"),),
    )


def _coefficients(fit: Any) -> Table:
    values = fit.params_standardized.apply(without_noise)
    values.columns = list(pair_names(fit))
    what = "of the standardised columns" if fit.scaled else "of the columns"
    return Table.from_frame(values, title=f"Coefficients {what}, positive towards the first level")
