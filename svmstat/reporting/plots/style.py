"""The common style of all figures, and the one place where matplotlib is loaded."""

import importlib
import io
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from svmstat._tools.texts import without_controls
from svmstat._tools.warn import warn
from svmstat.errors import ArgumentError, ArgumentTypeError, DesignWarning
from svmstat.reporting.plots.room import LACKING, LEAST, give_room

Axes = Any
"""A `matplotlib.axes.Axes`; its class is not there before the first figure."""

INK = "#1a1a1a"
GREY = "#8c8c8c"
PALE = "#d4d4d4"
ACCENT = "#1f5a91"  # as dark in grey as it is in colour
SMALL = 8.5
"""The size in points of labels inside a figure."""

SIZE = (6.0, 3.8)
"""Width and height in inches of a figure."""

MANY_MARKS = 2000
"""Beyond so many marks are an image in a figure of lines and text, whose file would grow with them."""

_DARK = 0.5
"""A brightness below which ink cannot be read."""

STYLE: dict[str, Any] = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "auto",
    "font.size": 9.5,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.grid": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "legend.handlelength": 3.0,  # for a dash and a dot to be seen
    "lines.linewidth": 1.2,
    "axes.formatter.use_mathtext": False,
    "text.parse_math": False,  # names of rows and columns are shown as they are
    "svg.hashsalt": "svmstat",  # the same figure is the same file
}


_COLOURS = (
    "#1f5a91", "#c8781e", "#3f8f5b", "#8c3b6e", "#6b6b6b", "#b59b1d", "#4f9fc4", "#a4452c", "#7a6bb8", "#98b84c",
    "#d98fb0", "#3d4a2a",
)  # fmt: skip
_MARKERS = "os^Dv<>p"
LINES = ("-", "--", "-.", ":")
_LONGEST = 36
_LETTERS = 12
"""Letters of an inch of a legend."""

_BESIDE = 6
"""Letters of numbers on the left of axes."""

_OF_PANEL, _NARROW = 18, 8
"""Letters of a line above a panel, and of one above the narrowest."""

_FLAT = 1e-9
"""Beside 1, or values that are larger, a range that is of rounding."""

_UPRIGHT = 90.0
"""Degrees by which the label beside all panels is turned."""

_BELOW = 32.0
"""Points from the axis down to the legend, past a label of one line."""
_APART = 8.0
"""Points between the labels of the axis and the legend, where they go further down."""

_FEW, _INCHES = 3, 0.2
"""Lines of a legend that a figure has room for, and the height of each further one."""

_LINE = 12.0
"""Points of each further line."""

_MANY = 25
"""Panels, of which more stand in five columns, however many rows that makes."""

MOST_PANELS = 50
"""Panels of a page with one for each predictor: nobody looks through hundreds, and they take long to draw."""

_WIDE = 3
"""Columns of panels that have room for all ticks."""

_TINY = 6.5
"""The size of numbers in others."""

_TITLED = 1.2
"""Inches of a figure above and below its panels."""

_UP = 38
"""Letters of a line along a vertical axis."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one of several classes is drawn: told apart by colour, and without colour by marker and line."""

    colour: str
    marker: str
    line: str


def class_look(k: int) -> Look:
    """The look of class k = 0, 1, …: colours repeat after 12 classes, and then lines differ, after 48 markers alone."""
    return Look(_COLOURS[k % 12], _MARKERS[(k + k // 12) % 8], LINES[(k + k // 12) % 4])


def label_of(level: object, longest: int = _LONGEST) -> str:
    """The name of a level in a legend, its middle left out if it is long.

    matplotlib leaves out what begins with an underscore.
    """
    name = str(level)
    if len(name) > longest:
        tail = longest // 4
        name = f"{name[: longest - tail - 3]} … {name[-tail:]}"
    return f"{' ' * name.startswith('_')}{name}"


def told_apart(levels: Sequence[object], longest: int = _LONGEST) -> list[str]:
    """The names of levels, of which long ones lack the words with which all begin, but for ``x =``, and end.

    Examples
    --------
    >>> told_apart(["drug = level 1 of it", "drug = level 2 of it"], 16)
    ['drug = … 1 …', 'drug = … 2 …']
    >>> told_apart(["level 1 of the treatment", "level 2 of the treatment"], 12)
    ['… 1 …', '… 2 …']
    >>> told_apart(["a", "b"])
    ['a', 'b']
    >>> told_apart(["no school", "university, bachelor degree", "university, master degree"], 16)
    ['no school', '… bachelor …', '… master …']
    """
    names = list(map(str, levels))
    if len(names) > 1 and max(map(len, names)) > longest:
        start = _head(names)
        words = [name[len(start) :].split(" ") for name in names]
        most = min(map(len, words)) - 1
        first = _alike([each[:most] for each in words])
        last = _alike([each[::-1][: most - first] for each in words])
        kept = [f"{'… ' * bool(first)}{' '.join(each[first : len(each) - last])}{' …' * bool(last)}" for each in words]
        names = [f"{start * (len(start) + max(map(len, kept)) <= longest)}{name}" for name in kept]
    return _unlike(list(map(str, levels)), [label_of(name, longest) for name in names], longest)


def in_legend(names: Sequence[str]) -> list[str]:
    """The names in a legend, cut if they are long, or told apart where that makes some the same.

    Of long ``P(y = level)`` the levels are enough, beside the axis that says what they are.
    """
    levels = [str(name).partition(" = ")[2].removesuffix(")") for name in names]
    if len(names) > 1 and all(levels) and any(label_of(name) != name for name in names):
        return told_apart(levels)
    short = [label_of(name) for name in names]
    return short if len(set(short)) == len(set(names)) else told_apart(names)


def _unlike(names: Sequence[str], short: list[str], longest: int) -> list[str]:
    """Short names, those of different names that are alike by the words in which these differ, or numbered."""
    for name in dict.fromkeys(short):
        alike = [k for k, each in enumerate(short) if each == name]
        if len({names[k] for k in alike}) > 1:
            some = [names[k] for k in alike]
            numbered = [f"{label_of(each, longest - 4)} ({k})" for k, each in enumerate(some, 1)]
            apart = told_apart(some, longest) if len(some) < len(names) else numbered
            for k, each in zip(alike, apart, strict=True):
                short[k] = each
    if len(set(short)) < len(set(names)):
        return [each if short.count(each) == 1 else f"{label_of(names[k], longest - 5)} ({k + 1})"
                for k, each in enumerate(short)]  # fmt: skip
    return short


def _head(names: Sequence[str]) -> str:
    """``x = ``, if all names begin with it."""
    name, equals, _ = names[0].partition(" = ")
    start = f"{name}{equals}"
    return start if equals and all(each.startswith(start) for each in names) else ""


def _alike(words: Sequence[Sequence[str]]) -> int:
    """How many of the first words agree in all."""
    different = (k for k, each in enumerate(zip(*words, strict=False)) if len(set(each)) > 1)
    return next(different, min(map(len, words)))


class _Lines(textwrap.TextWrapper):
    """Lines that end after blanks, colons and the like, and underscores, before a word is broken anywhere else."""

    wordsep_re = re.compile(r"(\s+|(?<=[_:])(?=\w)|(?<=[.-])(?=[^\W\d]))")


def in_lines(name: object, panel: Axes | None = None) -> str:
    r"""The name of a level or a predictor, in lines that fit above or below a panel.

    Examples
    --------
    >>> in_lines("predictor_number_10: ALE")
    'predictor_number_\n10: ALE'
    """
    most = _OF_PANEL if panel is None else min(_OF_PANEL, max(_NARROW, _letters(panel) - _BESIDE))
    return _Lines(most).fill(label_of(name))


def along_axis(label: str, up: int = _UP) -> str:
    """A label of a vertical axis in lines that fit, of so many letters."""
    return textwrap.fill(label_of(label, 3 * up), up)


def along_figure(figure: Any, label: str) -> str:
    """The same beside all panels of a figure, below its title."""
    inches = figure.bbox.height / figure.dpi - _TITLED
    return along_axis(label, max(_OF_PANEL, min(_UP, int(_LETTERS * inches))))


def fitted(ax: Axes, text: str, names: Sequence[str] = ()) -> str:
    """A text in lines that fit above or below axes which have these names on their left."""
    return _in_width(text, _letters(ax) - max(map(len, names), default=_BESIDE))


def across(figure: Any, text: str) -> str:
    """A text in lines that fit into a figure."""
    return _in_width(text, _letters_across(figure) - 1)


def _letters(ax: Axes) -> int:
    """How many letters stand in the width of axes with what is on their left."""
    place = ax.get_subplotspec()
    return _letters_across(ax.figure, 1 if place is None else place.get_gridspec().ncols)


def _letters_across(figure: Any, parts: int = 1) -> int:
    return int(_LETTERS * figure.bbox.width / figure.dpi / parts)


def _in_width(text: str, letters: int) -> str:
    return "\n".join(textwrap.fill(line, max(_OF_PANEL, letters)) for line in text.split("\n"))


def columns_of(figure: Any, labels: Sequence[str], most: int, beside: int = 0) -> int:
    """How many columns of a legend fit beside each other over the width of a figure, at most so many.

    So many letters ``beside`` it have their place there too.
    """
    return _columns(figure.bbox.width / figure.dpi - beside / _LETTERS, labels, most)


def _columns(width: float, labels: Sequence[str], most: int) -> int:
    return max(1, min(most, int(_LETTERS * width // (max(map(len, labels), default=0) + 4))))


def with_room_below(size: tuple[float, float], labels: Sequence[str]) -> tuple[float, float]:
    """The size of a figure in inches, higher where the legend below has many lines.

    Examples
    --------
    >>> with_room_below((6.0, 3.8), list("abc")), with_room_below((6.0, 3.8), ["x" * 30] * 10)
    ((6.0, 3.8), (6.0, 4.2))
    """
    lines = math.ceil(len(labels) / _columns(size[0], labels, 3))
    return size[0], round(size[1] + _INCHES * max(0, lines - _FEW), 1)


def legend_of_panels(figure: Any, axes: Sequence[Axes], most: int = 3, **options: Any) -> None:
    """One legend below panels, of all that has a label in one of them."""
    found: dict[str, Any] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        legend_of_figure(figure, list(found.values()), list(found), most, **options)


def legend_of_classes(figure: Any, names: Sequence[str], most: int = 3, **options: Any) -> None:
    """One legend below panels in which classes are lines or markers, in looks of their own."""
    looks = [class_look(k) for k in range(len(names))]
    line = pyplot().matplotlib.lines.Line2D
    handles = [line([], [], color=each.colour, linestyle=each.line, marker=each.marker, markersize=4) for each in looks]
    legend_of_figure(figure, handles, names, most, **options)


def legend_of_figure(figure: Any, handles: Sequence[Any], names: Sequence[str], most: int = 3, **options: Any) -> None:
    """A legend below all panels, in as many columns as fit, at most so many."""
    columns = columns_of(figure, names, most)
    figure.legend(
        handles, names, loc="outside lower left", ncols=columns, title_fontsize=SMALL, alignment="left", **options
    )


def legend_below(ax: Axes, title: str = "", columns: int | None = None, beside: int = 0) -> None:
    """A legend of all that has a label, below that of the horizontal axis, in as many columns as fit in the figure.

    Labels of the vertical axis with so many letters are ``beside`` it.
    """
    _, labels = ax.get_legend_handles_labels()
    points = max(_BELOW + _LINE * ax.get_xlabel().count("\n"), _depth(ax) + _APART)
    below = pyplot().matplotlib.transforms.ScaledTranslation(0.0, -points / 72.0, ax.figure.dpi_scale_trans)
    ax.legend(
        title=title or None,
        title_fontsize=SMALL,
        alignment="left",
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + below,
        borderaxespad=0.0,
        ncols=columns_of(ax.figure, labels, 3, beside) if columns is None else columns,
        columnspacing=1.2,
        handletextpad=0.5,
    )


def _depth(ax: Axes) -> float:
    """How far the labels of the horizontal axis go below it, in points: those that are turned may be long."""
    box = ax.xaxis.get_tightbbox()
    return 0.0 if box is None else float(72.0 * (ax.bbox.y0 - box.y0) / ax.figure.dpi)


def pyplot() -> Any:
    """The module matplotlib.pyplot, imported at the first call."""
    return importlib.import_module("matplotlib.pyplot")


@contextmanager
def _styled() -> Iterator[None]:
    """The common style for a while.

    Only its own settings are put back: the first figure in a notebook makes matplotlib interactive, which
    ``rc_context`` would undo, and no later figure would be shown.
    """
    settings = pyplot().rcParams
    before = {name: settings[name] for name in STYLE}
    settings.update(STYLE)
    try:
        yield
    finally:
        settings.update(before)


@contextmanager
def drawing(ax: Axes | None, size: tuple[float, float] = SIZE, least: float = LEAST) -> Iterator[Axes]:
    """The axes to draw into, in the common style: those that are given, else those of a new figure.

    Parameters
    ----------
    ax : Axes or None
    size : tuple of float
        Width and height in inches of a new figure, which is higher where a legend would leave the axes no room.
    least : float
        How many inches these have at the least.

    Yields
    ------
    Axes
    """
    plt, ax = pyplot(), checked_axes(ax)
    with _styled():
        if ax is not None:
            _lighten(ax)
            for axis in (ax.xaxis, ax.yaxis):
                if hasattr(numbers := axis.get_major_formatter(), "set_useMathText"):
                    numbers.set_useMathText(False)  # which no text parses here
            yield ax
            return
        ax = plt.figure(figsize=size, layout="constrained").add_subplot()
        yield ax
        if ax.get_legend() is not None:
            give_room(ax.figure, least)


def _lighten(ax: Axes) -> None:
    """Make a dark ground white, as of ``plt.style.use("dark_background")``: ink and greys are for one that is light.

    With it the figure, if it has no other axes, and what is written around them.
    """
    if not _is_dark(ax.get_facecolor()):
        return
    ax.set_facecolor("white")
    if ax.figure.axes == [ax] and _is_dark(ax.figure.get_facecolor()):
        ax.figure.set_facecolor("white")
        ax.tick_params(color=GREY, labelcolor=INK)
        ax.spines[:].set_color(GREY)
        for text in (*ax.findobj(pyplot().matplotlib.text.Text, include_self=False), ax.xaxis.label, ax.yaxis.label):
            text.set_color(INK)


def _is_dark(colour: Any) -> bool:
    red, green, blue, opacity = pyplot().matplotlib.colors.to_rgba(colour)
    return bool(opacity > 0 and 0.3 * red + 0.6 * green + 0.1 * blue < _DARK)


def checked_axes(ax: Any) -> Any:
    """The axes that are given, or None.

    Raises
    ------
    ArgumentTypeError
        For anything else.
    """
    if ax is not None and not isinstance(ax, importlib.import_module("matplotlib.axes").Axes):
        raise ArgumentTypeError(f"ax is of type {type(ax).__name__}: it must be one Axes of matplotlib, or None.")
    if ax is not None and ax.figure is None:
        raise ArgumentError("ax is not allowed: it is in no figure any more, its place having been divided for panels.")
    return ax


def panels_size(n: int) -> tuple[float, float]:
    """Width and height in inches of a figure with n square panels, which is not wider than a page.

    Examples
    --------
    >>> panels_size(4), panels_size(10)
    ((4.8, 6.1), (7.0, 6.8))
    """
    rows, columns = grid_of_panels(n)
    width = min(2.4 * columns, 7.0)
    return width, round(rows * (width / columns + 0.25) + 0.8, 1)


@contextmanager
def panels(ax: Axes | None, n: int, share: bool = True) -> Iterator[tuple[Any, Any]]:
    """Small multiples in the common style: n axes, in a new figure or in the place of one axes.

    Parameters
    ----------
    ax : Axes or None
        It is taken out of its figure, and its place divided.
    n : int
    share : bool
        Whether they have one scale.

    Yields
    ------
    figure : Figure or SubFigure
        What titles and labels of all the panels belong to.
    axes : ndarray (n,) of Axes
        By rows.
    """
    rows, columns = grid_of_panels(n)
    with _styled():
        figure = pyplot().figure(figsize=panels_size(n), layout="constrained") if ax is None else _place_of(ax)
        axes = figure.subplots(rows, columns, sharex=share, sharey=share, squeeze=False).ravel()
        for unused in axes[n:]:
            unused.remove()
        for narrow in () if share or columns == 1 else axes[:n]:
            if columns > _WIDE:
                narrow.locator_params(axis="x", nbins=2)
                narrow.tick_params(axis="x", labelsize=_TINY)
            else:
                narrow.locator_params(axis="x", steps=[1, 2, 5, 10])
        for lowest in axes[max(n - columns, 0) : n]:
            lowest.tick_params(labelbottom=True)
        yield figure, axes[:n]
        if ax is None:
            give_room(figure)
            _centre_labels(figure, axes[:n])


def _centre_labels(figure: Any, axes: Sequence[Axes]) -> None:
    """Move what stands beside all panels to their middle: that of the figure may be beside the legend."""
    ends = [end for panel in axes for end in panel.get_position().intervaly]
    for text in figure.texts:
        if text.get_rotation() == _UPRIGHT:
            text.set_y((min(ends) + max(ends)) / 2.0)


@contextmanager
def drawing_panels(
    n: int, rows: int, columns: int, size: tuple[float, float], ax: Axes | None = None
) -> Iterator[tuple[Any, Any]]:
    """n panels in the common style, each with scales of its own: a new figure, or in the place of one axes.

    Yields
    ------
    figure : Figure
    axes : list of n Axes
        By rows.
    """
    with _styled():
        figure = pyplot().figure(figsize=size, layout="constrained") if ax is None else _place_of(ax)
        axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
        for unused in axes[n:]:
            unused.remove()
        yield figure, axes[:n]
        if ax is None:
            give_room(figure)


def _place_of(ax: Axes) -> Any:
    """A figure in the place of axes, which are taken out of theirs."""
    if checked_axes(ax).get_subplotspec() is None:
        raise ArgumentError("ax is not allowed: its place is divided for panels, and it must be one of a grid of axes.")
    figure = ax.figure.add_subfigure(ax.get_subplotspec())
    if _is_dark(ax.figure.get_facecolor()):
        figure.set_facecolor("white")
    ax.remove()
    return figure


def grid_of_panels(n: int) -> tuple[int, int]:
    """Rows and columns of n panels."""
    columns = n if n <= 3 else math.ceil(math.sqrt(min(n, _MANY)))
    return math.ceil(n / columns), columns


def svg(draw: Callable[[Axes], object], size: tuple[float, float] = SIZE) -> str:
    """What a function draws into axes, as the text of an SVG file.

    pyplot does not know of the figure: no window opens, and nothing has to be closed.

    Parameters
    ----------
    draw : callable
        It is given the axes.
    size : tuple of float
        Width and height in inches; it is higher where labels and legends would leave panels no room.

    Returns
    -------
    str
    """
    return sized_svg(draw, size)[0]


def sized_svg(draw: Callable[[Axes], object], size: tuple[float, float]) -> tuple[str, tuple[float, float]]:
    """The same, and its width and height in inches."""
    figures, backend = map(importlib.import_module, ("matplotlib.figure", "matplotlib.backends.backend_svg"))
    file = io.StringIO()
    with _styled(), _told_of_boxes():
        figure = figures.Figure(figsize=size, layout="constrained")
        canvas = backend.FigureCanvasSVG(figure)
        draw(figure.add_subplot())

        def save() -> None:
            file.seek(0)
            file.truncate()
            canvas.print_svg(file, metadata={"Date": None})  # savefig() would draw it twice

        give_room(figure, draw=save)
    width, height = figure.get_size_inches()
    return without_controls(file.getvalue()), (float(width), float(height))


@contextmanager
def _told_of_boxes() -> Iterator[None]:
    """Say that letters are boxes in a figure which nobody draws again, in the place of matplotlib."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", LACKING, UserWarning)
        yield
    lacking = [each for each in caught if re.match(LACKING, str(each.message))]
    for each in caught:
        if each not in lacking:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if lacking:
        warn(
            "letters of names are boxes in the figures, since the font has none for them: "
            "matplotlib.rcParams['font.family'] takes the name of one that has.",
            DesignWarning,
        )


def widen(ax: Axes, axis: str = "y") -> None:
    """Limits of the vertical or horizontal axis that do not blow rounding up to a curve."""
    low, high = getattr(ax, f"get_{axis}lim")()
    linear = getattr(ax, f"get_{axis}scale")() == "linear"
    if linear and abs(high - low) < _FLAT * max(1.0, abs(low), abs(high)):
        margin = math.copysign(0.01, high - low)
        getattr(ax, f"set_{axis}lim")(low - margin, high + margin)


def settle(ax: Axes) -> None:
    """Lay the figure out, for positions on the screen to be those of the final drawing."""
    ax.figure.canvas.figure.draw_without_rendering()  # of the whole figure, if the axes are in a part of it
