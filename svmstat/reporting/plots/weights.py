"""The weights θ of the terms of an additive fit, as a search found them."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from svmstat.reporting.plots.style import ACCENT, GREY, INK, SMALL, Axes, class_look, drawing, legend_below, told_apart


def selection_plot(
    bounds: ArrayLike, theta: Mapping[str, ArrayLike], scores: ArrayLike, chosen: int, *, what: str,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """θ of each term over the bound M on their sum, the chosen M marked.

    Parameters
    ----------
    bounds : array_like (m,)
        Rising values of M.
    theta : mapping of names to array_like (m,)
    scores : array_like (m,)
        NaN where there is none.
    chosen : int
        Which M was taken.
    what : str
        What the score is.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes
    """
    M, score = np.asarray(bounds, float), np.asarray(scores, float)
    with drawing(ax, (6.0, 4.2)) as ax:
        ax.axvline(M[chosen], color=GREY, linewidth=0.8, linestyle=":")
        k = 0
        for name, values in zip(told_apart(list(theta)), theta.values(), strict=True):
            y = np.asarray(values, float)
            if not y[chosen] > 0.0:
                ax.plot(M, y, color=GREY, linewidth=0.8, zorder=1)
                continue
            look = class_look(k)
            k += 1
            ax.plot(M, y, look.line, color=look.colour, marker=look.marker, markersize=4, label=name)
        ax.set_xlabel("M, the bound on the sum of theta")
        ax.set_ylabel("theta")
        left_out = "; thin grey: terms left out there" if k < len(theta) else ""
        ax.set_title(f"dotted: M = {M[chosen]:.3g}, {what} {score[chosen]:.4g}{left_out}", fontsize=SMALL)
        legend_below(ax)
        return ax


def profiles_plot(lines: Mapping[str, tuple[ArrayLike, ArrayLike]], *, what: str, ax: Axes | None = None) -> Axes:
    """The score over the logarithm of each of several numbers, the others held at their best values.

    Parameters
    ----------
    lines : mapping of names to (log2 of the number over its best value, scores)
        Of one or more points, in any order.
    what : str
        What the score is.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes
    """
    with drawing(ax, (6.0, 4.2)) as ax:
        ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
        for k, (name, (values, scores)) in enumerate(zip(told_apart(list(lines)), lines.values(), strict=True)):
            x, y = np.asarray(values, float), np.asarray(scores, float)
            order, look = np.argsort(x), class_look(k)
            ax.plot(x[order], y[order], look.line, color=look.colour, marker=look.marker, markersize=4,
                    label=name)  # fmt: skip
        ax.plot(0.0, min(float(np.nanmin(y)) for _, y in lines.values()), "o", color=ACCENT, markersize=7,
                markeredgecolor="white", zorder=5)  # fmt: skip
        ax.set_xlabel("log2 of the number over its best value")
        ax.set_ylabel(what)
        ax.set_title("C and theta of each term, the others at their best", color=INK)
        legend_below(ax)
        return ax
