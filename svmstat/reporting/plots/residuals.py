"""Residuals in bins, decision values by class, and the page of four figures that checks a fit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.texts import counted
from svmstat.calibration import Corp
from svmstat.objective.residuals import Binned
from svmstat.reporting.plots.effects import level_ticks
from svmstat.reporting.plots.style import (
    ACCENT,
    GREY,
    INK,
    SMALL,
    Axes,
    across,
    class_look,
    drawing,
    in_legend,
    in_lines,
    legend_of_classes,
    legend_of_panels,
    panels,
    pyplot,
    told_apart,
)

WITHIN = 2.0
"""Standard errors to either side, as in Gelman & Hill (2007)."""

TITLE = "lines: ± 2 standard errors if the probabilities were right and rows independent; filled: beyond"

_MOST_BINS, _ROWS_A_BIN = 20, 15
_SHORT = 12
"""Letters of the name of a level beside the shares of its pairs."""
_NARROW = 9
"""Letters of the names of pairs, and of their number, beside which there is no room for a long line."""
_MOST_PAIRS = 15
"""Pairs whose shares can be told apart in a panel, those of six levels."""
_FEW, _SMALLER = 9, 7.2
"""Panels of a page, and the size of the names of more."""

_PAGE = (7.2, 6.6)


def count_of_bins(n: float) -> int:
    """How many bins n rows are put into.

    Examples
    --------
    >>> count_of_bins(40), count_of_bins(634)
    (4, 20)
    """
    return int(np.clip(round(n / _ROWS_A_BIN), 4, _MOST_BINS))


def residuals_plot(
    found: Sequence[Binned], names: Sequence[str], *, xlabel: str, levels: Sequence[Any] | None = None,
    title: str = TITLE, ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Mean residuals of each of several classes in bins, over what the bins are along, or over levels.

    Parameters
    ----------
    found : sequence of Binned
        By class; of one class dots beyond two standard errors are filled.
    names : sequence of str
    levels : sequence, optional
        What the bins are of, 0 … k − 1.
    xlabel, title : str
    ax : Axes, optional
        Drawn into; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> one = Binned(np.array([0.2, 0.8]), np.array([0.01, -0.3]), np.array([0.05, 0.1]), np.array([20.0, 20.0]))
    >>> ax = residuals_plot([one], ["P(y = 1)"], xlabel="predicted")
    >>> ax.get_xlabel()
    'predicted'
    >>> plt.close(ax.figure)
    """
    q = len(found)
    with drawing(ax) as ax:
        ax.axhline(0.0, color=GREY, linewidth=0.8)
        for k, (each, name) in enumerate(zip(found, in_legend(names), strict=True)):
            colour = ACCENT if q == 1 else class_look(k).colour
            x = each.x if levels is None or q == 1 else each.x + 0.5 * (k / (q - 1) - 0.5)
            beyond = np.abs(each.mean) > WITHIN * each.se
            low, high = each.mean - WITHIN * each.se, each.mean + WITHIN * each.se
            ax.vlines(x, low, high, color=colour, linewidth=1.0, alpha=0.7)
            marker = "o" if q == 1 else class_look(k).marker
            for which, fill in ((~beyond, "white"), (beyond, colour)):
                ax.plot(x[which], each.mean[which], marker, color=colour, markersize=4, markerfacecolor=fill)
            ax.plot([], [], marker, color=colour, markersize=4, label=name)
        if levels is not None:
            level_ticks(ax, levels)
            ax.set_xlim(-0.5, len(levels) - 0.5)
        ax.set_xlabel(xlabel)
        ax.set_ylabel("observed − predicted")
        ax.set_title(title, fontsize=SMALL)
    return ax


def residuals_page(
    draw: Sequence[Callable[[Axes], Any]], names: Sequence[str], *, without: int = 0, of: int = 0,
    ax: Axes | None = None,
) -> Any:  # fmt: skip
    """Small multiples of `residuals_plot`, one for each predictor, on one vertical scale. Returns an array of Axes.

    Where these are some ``of`` many, they are said to be those that are furthest from zero.
    """
    with panels(ax, len(draw), share=False) as (figure, axes):
        for each, panel in zip(draw, axes, strict=True):
            each(panel)
            panel.set(ylabel="", title="")
        size = SMALL if len(draw) <= _FEW else _SMALLER
        for panel, name in zip(axes, told_apart([each.get_xlabel() for each in axes]), strict=True):
            panel.set_xlabel(in_lines(name, panel), fontsize=size)
        ends = max(abs(end) for panel in axes for end in panel.get_ylim())
        for panel in axes:
            panel.set_ylim(-ends, ends)
        size = pyplot().rcParams["axes.labelsize"]
        low = axes[-1].get_subplotspec().is_first_row()  # one row of panels
        between = "\n" if low else " "
        figure.supylabel(f"observed −{between}predicted", fontsize=size, color=INK, multialignment="center")
        lost = f"; {counted(without, 'row')} without a prediction" if without else ""
        some = f";\n{len(draw)} of {of} predictors, those furthest from zero, some of them by chance"
        some = some if len(draw) < of else ""
        title = f"means of held-out residuals{lost}{some};\n{TITLE}"
        figure.suptitle(across(figure, title), fontsize=SMALL, color=INK, x=0.02, ha="left")
        if len(names) > 1:
            legend_of_panels(figure, axes)
    return axes


def curves_of_reliability(curves: Sequence[Corp], names: Sequence[str], ax: Axes) -> None:
    """The isotonic recalibration of the probabilities of every class in one square."""
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
    for k, (curve, name) in enumerate(zip(curves, in_legend(names), strict=True)):
        look = class_look(k)
        ax.plot(curve.predicted, curve.recalibrated, look.line, color=look.colour, label=name)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set_xlabel("predicted (held out)")
    ax.set_ylabel("recalibrated (isotonic)")
    ax.set_title("each class against the rest", fontsize=SMALL)


def values_plot(
    f: Floats, codes: Codes, weights: Floats, pairs: Sequence[tuple[int, int]], levels: Sequence[Any], ax: Axes
) -> None:
    """Histograms of decision values (n, P) of the rows of either class of each pair, one pair above the other.

    Heights are shares of the class, f > 0 standing for the first class of a pair; NaN are left out. Of many pairs those
    are drawn whose classes are told apart worst.
    """
    shown = _hardest(f, codes, weights, pairs)
    known = np.abs(f[np.isfinite(f)])
    reach = max(1.5, float(np.quantile(known, 0.995)))
    bins = np.linspace(-reach, reach, 2 * int(np.clip(round(np.sqrt(len(f))), 5, 20)) + 1)
    shares: dict[tuple[int, int], Floats] = {}
    for p in shown:
        for k in pairs[p]:
            own = (codes == k) & np.isfinite(f[:, p])
            counts, _ = np.histogram(np.clip(f[own, p], -reach, reach), bins, weights=weights[own])
            shares[p, k] = counts / weights[own].sum() if own.any() else counts
    highest = max(float(each.max()) for each in shares.values())
    two = len(pairs) == 1
    colours = {k: class_look(k).colour for k in sorted({k for pair in pairs for k in pair})}
    if two:
        colours = dict(zip(pairs[0], (ACCENT, INK), strict=True))
    alike = len(set(colours.values())) < len(colours)
    lines = {k: class_look(k).line if alike else "-" for k in colours}
    for (p, k), each in shares.items():
        base = float(len(shown) - 1 - shown.index(p))
        for look in ({"fill": True, "alpha": 0.3, "linewidth": 0}, {"linewidth": 1.0, "linestyle": lines[k]}):
            ax.stairs(base + 0.9 * each / highest, bins, baseline=base, color=colours[k], **look)
    legend = told_apart(levels)
    for k, colour in colours.items():
        ax.plot([], [], color=colour, linewidth=4, alpha=0.6, label=legend[k])
    for at, style in ((0.0, "-"), (-1.0, ":"), (1.0, ":")):
        ax.axvline(at, color=GREY, linewidth=0.9, linestyle=style, zorder=1)
    ax.set_ylim(0.0, len(shown) * (1.3 if two else 1.0))
    called = told_apart(levels, _SHORT)
    names = [f"{called[i]} : {called[j]}" for i, j in (pairs[p] for p in reversed(shown))]
    ax.set_yticks([] if two else np.arange(len(shown)) + 0.4, [] if two else names, fontsize=SMALL - 1.5)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("f (held out)")
    taken = max(map(len, names)) + len(str(len(pairs)))
    between = "\n" if taken > _NARROW else " "  # they leave the panel less room
    which = (
        ""
        if len(shown) == len(pairs)
        else f";\nof {len(pairs)} pairs the {len(shown)} with{between}the largest shares of errors"
    )
    ax.set_title(f"shares of each class{which}", fontsize=SMALL)


def _hardest(f: Floats, codes: Codes, weights: Floats, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The pairs to draw, in their order: all, or those with the largest shares of rows on the wrong side."""
    if len(pairs) <= _MOST_PAIRS:
        return list(range(len(pairs)))
    wrong = []
    for values, (first, second) in zip(f.T, pairs, strict=True):
        known = np.isfinite(values) & ((codes == first) | (codes == second))
        errs = (values[known] > 0) != (codes[known] == first)
        wrong.append(float(weights[known] @ errs) / float(weights[known].sum() or 1.0))
    return sorted(np.argsort(-np.array(wrong), kind="stable")[:_MOST_PAIRS].tolist())


def overview_plot(draw: Sequence[Callable[[Axes], Any]], title: str, classes: bool, ax: Axes | None = None) -> Any:
    """Four figures on a page. Returns an array of Axes (4,).

    Parameters
    ----------
    draw : four functions that draw into axes
    title : str
    classes : bool
        Whether there are more than two classes, whose legend stands below.
    ax : Axes, optional
        Its place is divided, and it is taken out of its figure; by default they have a new one.
    """
    with panels(ax, 4, share=False) as (figure, axes):
        if ax is None:
            figure.set_size_inches(*_PAGE)
        for each, panel in zip(draw, axes, strict=True):
            each(panel)
        axes[2].locator_params(axis="x", nbins=5)  # small numbers are long
        figure.suptitle(across(figure, title), fontsize=SMALL, color=INK, x=0.02, ha="left")
        if classes:
            legend_of_classes(figure, axes[3].get_legend_handles_labels()[1], most=6)
        else:
            axes[3].legend(loc="upper left", handlelength=1.0)
    return axes
