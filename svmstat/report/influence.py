"""Rows that do much to a fit, or that it predicts badly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.texts import counted
from svmstat.diagnostics import InfluenceResult
from svmstat.report.evidence import WIDE
from svmstat.report.page import figure, paragraph
from svmstat.reporting.rendering.parts import Table
from svmstat.reporting.rendering.values import percent
from svmstat.reporting.summary import Summary
from svmstat.results import SVMResults

MOST_ROWS = 40
"""The longest table of influential rows."""

_HEADERS = {
    "delta_deviance": "ΔD",
    "own": "own",
    "others": "others",
    "outlyingness": "−2 log π",
    "rms_change": "rms Δf",
}


def influential(fit: SVMResults, influence: InfluenceResult, level: float) -> Iterator[str]:
    """Outlyingness and influence, with the rows above a line."""
    if influence.grouped:
        yield from _of_groups(influence)
        return
    by_chance = influence.has_envelope
    if by_chance:
        above = influence.beyond(level).any(axis=1).to_numpy()
        lacking = influence.envelope_lacks(level)
        none = f", since there is none: {lacking}" if lacking else ""
        yield paragraph(f"{_lying(above, influence)} above an envelope of {percent(level)}{none}.")
        yield influence.summary(level).as_html()
        yield figure(
            lambda ax: influence.plot(level=level, ax=ax),
            WIDE,
            "Outlyingness against influence",
            "How badly each row is predicted without it, against what it does to the fit"
            + ("." if lacking else "; labelled by the index of the data beyond an envelope."),
        )
    else:
        above = (influence.delta_deviance > influence.critical_value(level)).to_numpy() & (influence.loo.weights > 0)
        these = "The weights are" if fit.weight_type == "probability" else "Weights that are not whole are"
        yield paragraph(
            f"{these} no numbers of copies, so that no envelope can be drawn: {_lying(above, influence)} above "
            f"the {percent(level)} point of χ²(1) [003], which is no reference for the largest of all rows."
        )
        yield influence.summary(level).as_html()
    yield figure(
        lambda ax: influence.plot_index(level=level, reference="envelope" if by_chance else "chi2", ax=ax),
        WIDE,
        "Index plot of the deletion deviances",
        "Deletion deviances of all rows, labelled by the index of the data where they lie above the line.",
    )
    if above.any():
        yield from _rows_above(fit, influence, np.flatnonzero(above))


def _lying(above: Any, influence: InfluenceResult) -> str:
    """How many of the rows that count lie somewhere (n,), in words."""
    count = int(above.sum())
    return f"{counted(count, 'row')} of {np.count_nonzero(influence.loo.weights > 0)} {'lies' if count == 1 else 'lie'}"


def _of_groups(influence: InfluenceResult) -> Iterator[str]:
    """Groups that are left out whole, for which there is no line."""
    yield influence.summary().as_html()
    yield figure(
        lambda ax: influence.plot(ax=ax),
        WIDE,
        "Outlyingness against influence",
        "How badly each group is predicted without it, against what it does to the fit.",
    )
    yield figure(
        lambda ax: influence.plot_index(ax=ax),
        WIDE,
        "Index plot of the deletion deviances",
        "Deletion deviances of all groups.",
    )


def _rows_above(fit: SVMResults, influence: InfluenceResult, above: Any) -> Iterator[str]:
    """A table of rows, those of largest ΔD first."""
    table = influence.summary_frame()
    above = above[np.argsort(-table["delta_deviance"].to_numpy()[above], kind="stable")]
    shown = above[:MOST_ROWS]
    cells = pd.DataFrame({_HEADERS[name]: table[name].to_numpy()[shown] for name in _HEADERS})
    cells.insert(0, "observed", [str(label) for label in _observed(fit)[shown]])
    cells.index = pd.Index([str(label) for label in fit.frame.index[shown]])
    styles = ["share"] * cells.shape[1]  # four decimals, for the table to fit a narrow window
    rest = len(above) - len(shown)
    notes = ["π: the held-out probability of what was observed. Δf: the change of f at the others without this row."]
    if rest:
        notes.append(f"{counted(rest, 'row')} more above a line.")
    part = Table.from_frame(cells, styles, "Rows above a line")
    yield Summary("Rows above a line", (part,), tuple(notes)).as_html()


def _observed(fit: SVMResults) -> Any:
    """The observed level of each row (n,), empty in a row of weight zero whose level no other row has."""
    return np.array([*map(str, fit.classes), ""])[fit.frame.codes]
