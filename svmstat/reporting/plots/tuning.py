"""A tuning criterion over its grid: contours for two parameters, lines for one."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmstat._tools.arrays import Floats
from svmstat.reporting.plots.style import ACCENT, GREY, INK, LINES, SMALL, Axes, drawing, pyplot

_LEVELS = 12
_RING: dict[str, Any] = {
    "marker": "o", "linestyle": "", "markersize": 7, "markerfacecolor": "none", "markeredgecolor": ACCENT,
    "clip_on": False, "label": "within one paired\nse of the best",
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
            shaded(ax, x, y, z, levels)
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
        ax.set_title(f"{what}: {score:.5g} at C = {best[0]:.4g}, gamma = {best[1]:.4g}")
        if ringed.any() or not known.all():
            ax.legend(loc="lower left", bbox_to_anchor=(1.0, 0.0))
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
            ax.plot(x[order], y, LINES[i % len(LINES)], marker=".", color=colour, label=label or "_nolegend_")
        if len(near):
            ax.plot(np.log2(near[:, 0]) if logarithmic else near[:, 0], near[:, 1], **_RING)
        at = float(np.log2(best[0])) if logarithmic else best[0]
        ax.plot(at, best[1], "o", color=ACCENT, markersize=8, markeredgecolor="white", zorder=5)
        ax.set(xlabel=f"log2 {name}" if logarithmic else name, ylabel=what)
        ax.set_title(f"{what}: {best[1]:.5g} at {name} = {best[0]:.4g}")
        if len(near) or len(lines) > 1:
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return ax


def rising(scores: Floats, power: float) -> Floats:
    """Levels from the least to the greatest score, their distances growing; empty if the scores agree."""
    if len(scores) == 0 or np.ptp(scores) <= 1e-9 * np.abs(scores).max():
        return np.empty(0)
    return np.asarray(scores.min() + np.ptp(scores) * np.linspace(0.0, 1.0, _LEVELS) ** power)


def shaded(ax: Axes, x: Floats, y: Floats, scores: Floats, levels: Floats) -> None:
    """Contours between and along levels, some of them labelled, blank where there is no score."""
    shades = pyplot().get_cmap("Blues_r")(np.linspace(0.45, 1.0, len(levels) - 1))
    masked = np.ma.masked_invalid(scores)
    ax.contourf(x, y, masked, levels=levels, colors=shades)
    lines = ax.contour(x, y, masked, levels=levels, colors=GREY, linewidths=0.7)
    ax.clabel(lines, levels=levels[1:-1:2], fmt="%.4g", fontsize=SMALL - 1, colors=INK)
