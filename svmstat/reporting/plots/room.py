"""Room for the panels of a figure beside their labels and legends."""

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

LEAST = 1.0
"""Inches that a panel is high, at the least."""

_TRIES = 8
_SAME = 1e-3
"""Of a figure, by which a layout that stays may move."""

LACKING = "Glyph .* missing from"
"""What matplotlib says of letters that become boxes."""

_FUTILE = 100.0
"""Inches: a figure that has collapsed at such a height has no room to the sides."""

_COLLAPSED = "layout not applied"
"""What it says where labels and legends leave nothing for the panels."""


def give_room(figure: Any, least: float = LEAST, draw: Callable[[], object] | None = None) -> None:
    """Draw a figure, and make it higher until all its panels, squares apart, are at least so many inches high.

    What that gave it too much is taken back, and all of it where no height is enough, since there is no room to the
    sides. Of letters that become boxes matplotlib tells where it is drawn again.
    """
    with warnings.catch_warnings():
        if draw is None:
            warnings.filterwarnings("ignore", LACKING, UserWarning)
        elif any(ax.get_aspect() != "auto" for ax in figure.axes):
            _settle(figure)
        draw = draw or figure.draw_without_rendering
        asked = figure.get_size_inches()
        for tried in range(_TRIES):
            lacking = _drawn(figure, draw, least)
            if lacking <= 0.0 and (tried == 0 or lacking > -least):
                return
            width, height = figure.get_size_inches()
            if lacking == math.inf and height > _FUTILE:
                break
            figure.set_size_inches(width, height + (height if lacking == math.inf else lacking))
        if _drawn(figure, draw, least) == math.inf:
            figure.set_size_inches(*asked)
            draw()


def _settle(figure: Any) -> None:
    """Lay a figure out until its layout stays: that of squares follows from the one before."""
    places: list[float] = []
    lay_out = partial(figure.get_layout_engine().execute, figure)
    for _ in range(_TRIES):
        _drawn(figure, lay_out, 0.0)
        before, places = places, [end for ax in figure.axes for end in ax.get_position().bounds]
        if before and max(abs(one - other) for one, other in zip(before, places, strict=True)) < _SAME:
            return


def _drawn(figure: Any, draw: Callable[[], object], least: float) -> float:
    """By how many inches a figure turned out to be too low, infinite where it collapsed."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", f".*{_COLLAPSED}", UserWarning)
        try:
            draw()
        except UserWarning as warning:
            if _COLLAPSED not in str(warning):
                raise
            return math.inf
    places = [(ax, ax.get_subplotspec()) for ax in figure.axes if ax.get_aspect() == "auto"]
    panels = [(ax.bbox.height / figure.dpi, place.get_gridspec().nrows) for ax, place in places if place is not None]
    if not panels:
        return 0.0
    return float(max(rows for _, rows in panels) * (least - min(height for height, _ in panels)))
