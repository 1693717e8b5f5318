"""A tuning criterion over its grid: contours for two parameters, lines for one."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmstat._tools.arrays import Floats
from svmstat.reporting.plots.style import (
    ACCENT,
    GREY,
    INK,
    LINES,
    SMALL,
    Axes,
    along_axis,
    drawing,
    fitted,
    label_of,
    legend_below,
    pyplot,
    settle,
)

_LEVELS = 12
_CLEAR = 6.0
"""Points between the best point and the nearest label."""

_WIDEST = 60
"""Letters of a line of the legend."""

_PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.6, "pad": 0.4}
_RING: dict[str, Any] = {
    "marker": "o", "linestyle": "", "markersize": 7, "markerfacecolor": "none", "markeredgecolor": ACCENT,
    "clip_on": False, "label": "within one paired se of the best",
}  # fmt: skip


def contour_plot(
    C: ArrayLike,
    gamma: ArrayLike,
    scores: ArrayLike,
    best: tuple[float, float],
    near: ArrayLike,
    *,
    what: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Contours over log2 C and log2 gamma, closer together near the minimum.

    Parameters
    ----------
    C, gamma : array_like (J,), (L,)
        Rising values, two or more of each.
    scores : array_like (L, J)
        The criterion; grid points where it is NaN are crossed out.
    best : tuple of float
        C and gamma of the point that is marked.
    near : array_like of bool (L, J)
        Other points that are as good as far as can be told, which are ringed.
    what : str
        The name of the criterion, for the title.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes
    """
    x, y, z = np.log2(np.asarray(C, float)), np.log2(np.asarray(gamma, float)), np.asarray(scores, float)
    at = (float(np.log2(best[0])), float(np.log2(best[1])))
    known = np.isfinite(z)
    with drawing(ax) as ax:
        levels = rising(z[known], 2.0)
        if len(levels) > 1 and known.sum() > 3:
            shaded(ax, x, y, z, levels, at)
        columns, rows = np.meshgrid(x, y)
        ax.plot(columns[known], rows[known], ".", color=GREY, markersize=3, clip_on=False)
        if not known.all():
            ax.plot(columns[~known], rows[~known], "x", color=INK, markersize=5, clip_on=False, label="no score")
        ringed = np.asarray(near, bool)
        if ringed.any():
            ax.plot(columns[ringed], rows[ringed], **_RING)
        score = z[np.argmin(np.abs(y - at[1])), np.argmin(np.abs(x - at[0]))]
        ax.plot(*at, "o", color=ACCENT, markersize=8, markeredgecolor="white", clip_on=False, zorder=5)
        ax.set(xlabel="log2 C", ylabel="log2 gamma")
        ax.set_title(fitted(ax, f"{what}: {score:.5g} at C = {best[0]:.4g}, gamma = {best[1]:.4g}"))
        if ringed.any() or not known.all():
            legend_below(ax)
        return ax


def line_plot(
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]],
    best: tuple[float, float],
    near: Floats,
    *,
    name: str,
    logarithmic: bool = True,
    what: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """The criterion over one parameter, a line for each value of a second.

    Parameters
    ----------
    lines : mapping of label to (values, scores)
        Lines break where a score is NaN.
    best : tuple of float
        Value and score of the point that is marked.
    near : (k, 2) array
        Others of the points, that are as good as far as can be told, which are ringed.
    name : str
        The parameter on the axis.
    logarithmic : bool
        Whether the axis is log2.
    what : str
        The name of the criterion, for the title.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes
    """
    with drawing(ax) as ax:
        for i, (label, (values, scores)) in enumerate(lines.items()):
            x = np.asarray(values, float)
            x = np.log2(x) if logarithmic else x
            order = np.argsort(x)
            y = np.asarray(scores, float)[order]
            colour = GREY if i >= len(LINES) else INK
            ax.plot(
                x[order],
                y,
                LINES[i % len(LINES)],
                marker=".",
                color=colour,
                label=label_of(label, _WIDEST) if label else "_nolegend_",
            )
        if len(near):
            ax.plot(np.log2(near[:, 0]) if logarithmic else near[:, 0], near[:, 1], **_RING)
        at = float(np.log2(best[0])) if logarithmic else best[0]
        ax.plot(at, best[1], "o", color=ACCENT, markersize=8, markeredgecolor="white", zorder=5)
        ax.set(xlabel=f"log2 {name}" if logarithmic else name, ylabel=along_axis(what))
        ax.set_title(fitted(ax, f"{what}: {best[1]:.5g} at {name} = {best[0]:.4g}"))
        if len(near) or len(lines) > 1:
            legend_below(ax)
        return ax


def rising(scores: Floats, power: float) -> Floats:
    """Round levels around the scores, their distances growing from the least on; empty if the scores agree.

    Each is a multiple of 1, 2 or 5 times a power of ten, not larger than its distance from the next.

    Examples
    --------
    >>> rising(np.array([478.7, 560.0]), 2.0).tolist()
    [478.5, 479.5, 482.0, 484.0, 490.0, 495.0, 505.0, 510.0, 520.0, 530.0, 550.0, 560.0]
    """
    if len(scores) == 0 or np.ptp(scores) <= 1e-9 * np.abs(scores).max():
        return np.empty(0)
    wanted = scores.min() + np.ptp(scores) * np.linspace(0.0, 1.0, _LEVELS) ** power
    gaps = np.diff(wanted)
    steps = np.array([_round_below(gap) for gap in [gaps[0], *gaps]])
    multiples = np.round(wanted / steps)
    multiples[0], multiples[-1] = np.floor(wanted[0] / steps[0]), np.ceil(wanted[-1] / steps[-1])
    return np.unique(np.round(multiples * steps, 12))


def _round_below(value: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(each for each in (1.0, 2.0, 5.0) if each * power <= value * (1.0 + 1e-9)))


def shaded(ax: Axes, x: Floats, y: Floats, scores: Floats, levels: Floats, best: tuple[float, float]) -> None:
    """Contours between and along levels, blank where there is no score; labelled inside, but not at the best point."""
    shades = pyplot().get_cmap("Blues_r")(np.linspace(0.45, 1.0, len(levels) - 1))
    masked = np.ma.masked_invalid(scores)
    ax.contourf(x, y, masked, levels=levels, colors=shades)
    lines = ax.contour(x, y, masked, levels=levels, colors=GREY, linewidths=0.7)
    labels = ax.clabel(lines, levels=levels[1:-1:2], inline=False, fmt="%g", fontsize=SMALL - 1, colors=INK)
    settle(ax)
    frame, mark = ax.get_window_extent(), ax.transData.transform(best)
    taken: list[Any] = []
    for label in labels:
        box = label.get_window_extent().padded(1.0)
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        near = box.padded(_CLEAR * ax.figure.dpi / 72.0).contains(*mark)
        if not inside or near or any(box.overlaps(other) for other in taken):
            label.remove()
            continue
        label.set_bbox(_PAPER)
        taken.append(box)
