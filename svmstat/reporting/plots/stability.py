"""Predicted probabilities in their order, with how they vary from sample to sample."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from svmstat.reporting.plots.style import ACCENT, SMALL, Axes, class_look, drawing, in_legend, label_of, legend_below
from svmstat.reporting.rendering.values import percent


def stability_plot(
    prob: ArrayLike, lower: ArrayLike, upper: ArrayLike, names: Sequence[str], *, level: float, ax: Axes | None = None
) -> Axes:
    """Curves of probabilities with their bands, the rows of each curve in the order of its probability.

    Parameters
    ----------
    prob, lower, upper : array_like (m, k)
        One column a curve; rows with NaN are left out.
    names : sequence of str, length k
        What the columns are probabilities of.
    level : float
        Of the band.
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = stability_plot([[0.7], [0.2]], [[0.5], [0.1]], [[0.9], [0.4]], ["P(event)"], level=0.95)
    >>> ax.lines[0].get_ydata().tolist(), ax.get_ylabel()
    ([0.2, 0.7], 'P(event)')
    >>> plt.close(ax.figure)
    """
    p, low, high = (np.asarray(each, float) for each in (prob, lower, upper))
    with drawing(ax) as ax:
        for k, name in enumerate(in_legend(names)):
            shown = np.flatnonzero(~np.isnan(p[:, k]))
            order = shown[np.argsort(p[shown, k], kind="stable")]
            look, rank = class_look(k), np.arange(1, len(order) + 1)
            colour = ACCENT if len(names) == 1 else look.colour
            ax.fill_between(rank, low[order, k], high[order, k], color=colour, alpha=0.2, linewidth=0)
            line = "-" if len(names) == 1 else look.line
            ax.plot(rank, p[order, k], line, color=colour, label=name)
        ax.set_ylim(-0.02, 1.02)
        ax.set_xlabel(
            "rows in the order of the probability" if len(names) == 1 else "rows, for each level in its order"
        )
        ax.set_ylabel(label_of(names[0]) if len(names) == 1 else "probability")
        told = (
            f"band: {percent(level)} of replicates, the stability of the estimate;\n"
            "no confidence interval for the true probability"
        )
        if not np.isfinite(p).any():
            told = "no row has a probability"
        elif not np.isfinite(low).any():
            told = "no band: too few replicates have probabilities"
        ax.set_title(told, fontsize=SMALL)
        if len(names) > 1:
            legend_below(ax)
        return ax
