"""Room for the panels of a figure beside their labels and legends."""

import warnings
from collections.abc import Callable
from typing import Any

LEAST = 1.0
"""Inches that a panel is high, at the least."""

_TRIES = 8
LACKING = "Glyph .* missing from"
"""What matplotlib says of letters that become boxes."""

_COLLAPSED = "layout not applied"
"""What it says where labels and legends leave nothing for the panels."""


def give_room(figure: Any, least: float = LEAST, draw: Callable[[], object] | None = None) -> None:
    """Draw a figure, and make it higher until all its panels, squares apart, are at least so many inches high.

    What that gave it too much is taken back. Of letters that become boxes matplotlib tells where it is drawn again.
    """
    with warnings.catch_warnings():
        if draw is None:
            warnings.filterwarnings("ignore", LACKING, UserWarning)
        draw = draw or figure.draw_without_rendering
        for tried in range(_TRIES):
            lacking = _drawn(figure, draw, least)
            if lacking <= 0.0 and (tried == 0 or lacking > -least):
                return
            width, height = figure.get_size_inches()
            figure.set_size_inches(width, height + lacking)
        draw()


def _drawn(figure: Any, draw: Callable[[], object], least: float) -> float:
    """By how many inches a figure turned out to be too low: where it collapsed, by as much as it has."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", f".*{_COLLAPSED}", UserWarning)
        try:
            draw()
        except UserWarning as warning:
            if _COLLAPSED not in str(warning):
                raise
            return float(figure.get_size_inches()[1])
    places = [(ax, ax.get_subplotspec()) for ax in figure.axes if ax.get_aspect() == "auto"]
    panels = [(ax.bbox.height / figure.dpi, place.get_gridspec().nrows) for ax, place in places if place is not None]
    if not panels:
        return 0.0
    return float(max(rows for _, rows in panels) * (least - min(height for height, _ in panels)))
