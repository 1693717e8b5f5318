"""Figures of searches that control the errors: the score over (ν₊, ν₋), and the attainable error rates [004]."""

import numpy as np
from numpy.typing import ArrayLike

from svmstat._tools.arrays import Floats
from svmstat.reporting.plots.style import ACCENT, GREY, INK, PALE, Axes, drawing
from svmstat.reporting.plots.tuning import rising, shaded


def share_surface_plot(
    nu_event: Floats, nu_other: Floats, score: Floats, chosen: tuple[int, int], *, what: str, held: str = "",
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """The score over ν₊ and ν₋, or along a line if there is one row or column.

    Parameters
    ----------
    nu_event, nu_other, score : array_like (J, I)
        Points without a score are left blank.
    chosen : tuple of int
        The row and column of the point that is marked.
    what, held : str
        The name of the score, and at which other parameters.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes
    """
    at = f" at {held}" if held else ""
    title = f"{what}: {score[chosen]:.4g}{at}"
    with drawing(ax, (5.4, 4.4)) as ax:
        if min(score.shape) == 1:
            along, name = (nu_event, "ν of the event") if len(score) == 1 else (nu_other, "ν of the other level")
            ax.plot(along.ravel(), score.ravel(), ".-", color=GREY, markerfacecolor=INK, markeredgecolor=INK)
            ax.plot(along[chosen], score[chosen], "o", color=ACCENT, markersize=8, markeredgecolor="white", zorder=5)
            ax.set(xlabel=name, ylabel=what, title=title)
            return ax
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal", title=title)
        ax.set(xlabel="ν of the event", ylabel="ν of the other level")
        known = np.isfinite(score)
        levels = rising(score[known], 1.5)
        if known.mean() > 0.5 and len(levels) > 1:
            shaded(ax, nu_event, nu_other, score, levels, (nu_event[chosen], nu_other[chosen]))
        else:
            points = ax.scatter(nu_event[known], nu_other[known], c=score[known], cmap="Blues_r", s=14)
            ax.figure.colorbar(points, ax=ax, label=what, shrink=0.8)
        ax.plot(nu_event[chosen], nu_other[chosen], "o", color=ACCENT, markersize=8, markeredgecolor="white", zorder=5)
    return ax


def roc_plot(
    p_f: ArrayLike, p_m: ArrayLike, chosen: tuple[float, float], *, level: float | None = None, ax: Axes | None = None
) -> Axes:
    """Attainable pairs of error rates, the best of them joined, and the pair that was chosen.

    Parameters
    ----------
    p_f, p_m : array_like (m,)
        False alarm and miss rates.
    chosen : tuple of float
        The pair that is marked.
    level : float, optional
        Of a constraint on P_F.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes
    """
    x, y = np.asarray(p_f, float), np.asarray(p_m, float)
    order = np.lexsort([y, x])
    least = np.minimum.accumulate(y[order])
    first = np.concatenate([[True], least[1:] < least[:-1]]) if len(x) else np.zeros(0, bool)
    with drawing(ax, (4.6, 4.6)) as ax:
        ax.plot([0, 1], [1, 0], color=GREY, linewidth=0.8, linestyle=(0, (5, 3)), label="chance")
        ax.plot(x, y, ".", color=PALE, markersize=3, zorder=1, rasterized=True, label="grid points")
        ax.step(x[order][first], y[order][first], where="post", color=INK, linewidth=1.1, label="best attainable")
        if level is not None:
            ax.axvline(level, color=ACCENT, linewidth=0.9, linestyle="--", label=f"P_F = {level:g}")
        ax.plot(*chosen, "o", color=ACCENT, markersize=8, markeredgecolor="white", zorder=5, label="chosen")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        ax.set(xlabel="false alarms, P_F", ylabel="misses, P_M")
        ax.legend(loc="upper right")
    return ax
