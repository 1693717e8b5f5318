"""Numbers as a statistician prints them."""

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_SMALL = 1e-4
"""Sums of weights below this are written with an exponent."""


def _estimate(value: float) -> str:
    if value == 0:
        return "0"
    exponent = int(f"{value:.4e}".partition("e")[2])
    return f"{value:.4e}" if not -5 < exponent < 9 else f"{value:.{max(0, 4 - exponent)}f}"


def _rough(value: float) -> str:
    exponent = int(f"{value:.2e}".partition("e")[2])
    return f"{value:.2e}" if value and not -5 < exponent < 6 else f"{value:.{max(0, 2 - exponent)}f}"


def _count(value: float) -> str:
    if value == 0.0 or (abs(value) > 0.5 and abs(value - round(value)) <= 1e-9 * abs(value)):
        return str(round(value))
    if abs(value) < _SMALL:
        return f"{value:.3g}"
    decimals = max(2, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".")


def _share(value: float) -> str:
    return f"{round(value, 4) + 0.0:.4f}"  # -0 becomes 0


def _pvalue(value: float) -> str:
    return "<0.0001" if value < 5e-5 else _share(value)


STYLES: dict[str, Callable[[float], str]] = {
    "estimate": _estimate,  # five significant digits
    "rough": _rough,  # three, of what is only known so far
    "count": _count,  # an integer, or a sum of fractional weights
    "setting": "{:.6g}".format,  # what somebody typed in
    "residual": lambda value: f"{value + 0.0:.2g}",  # a small number of which the size matters; -0 becomes 0
    "share": _share,  # a proportion
    "pvalue": _pvalue,  # never zero
    "se": lambda value: f"({_rough(value)})",  # a standard error below its estimate,
    "share_se": lambda value: f"({_share(value)})",  # and below a proportion
}


_BRIEF, _MOST = 4, 12
"""Digits of a brief number, and of those that must be told apart: beyond it is rounding."""


def show(value: object, style: str = "estimate") -> str:
    """A value on one line: numbers in one of the ``STYLES``, tuples as intervals, booleans as yes or no.

    Examples
    --------
    >>> show(418.1), show(-0.000225841), show((-1, 0.25))
    ('418.10', '-0.00022584', '[-1.0000, 0.25000]')
    >>> show(369.0, "count"), show(12.5, "count"), show(3.14e-10, "residual"), show(True), show(None)
    ('369', '12.5', '3.1e-10', 'yes', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return f"[{', '.join(show(item, style) for item in value)}]"
    if isinstance(value, numbers.Real):
        return STYLES[style](float(value)) if math.isfinite(value) else str(float(value))
    return one_line(value)


def or_none(value: float) -> float | None:
    """A number, None where it is NaN: then a table or an entry shows that there is none."""
    return None if math.isnan(value) else float(value)


def brief(value: object) -> str:
    """A value in the title of a figure: four digits of a number, a word as it is.

    Examples
    --------
    >>> brief(0.123456), brief("rbf")
    ('0.1235', 'rbf')
    """
    return f"{value:.{_BRIEF}g}" if isinstance(value, numbers.Real) else one_line(value)


def briefs(values: Sequence[object]) -> list[str]:
    """Values as `brief` has them, but with as many digits as tell different numbers apart.

    Examples
    --------
    >>> briefs([0.123456, 0.5]), briefs([101325.0, 101300.5, 99000]), briefs(["rbf", True])
    (['0.1235', '0.5'], ['101325', '101300', '99000'], ['rbf', 'True'])
    >>> briefs([0.1, 0.8 - 0.7, float("nan")])
    ['0.1', '0.1', 'nan']
    """
    floats = {
        float(f"{value:.{_MOST}g}") for value in values if isinstance(value, numbers.Real) and not math.isnan(value)
    }
    digits = next((d for d in range(_BRIEF, _MOST) if len({f"{x:.{d}g}" for x in floats}) == len(floats)), _MOST)
    if digits > _BRIEF:  # whole numbers of some size are written out
        digits = max(digits, *(min(_MOST, len(f"{abs(x):.0f}")) for x in floats))
    return [one_line(value) if isinstance(value, bool) or not isinstance(value, numbers.Real)
            else f"{value:.{digits}g}" for value in values]  # fmt: skip


def one_line(value: object) -> str:
    """Any object as text without line breaks or runs of blanks."""
    return " ".join(str(value).split())


def is_number(value: object) -> bool:
    """Whether the value stands in a column of numbers; None is a missing number."""
    return value is None or (isinstance(value, numbers.Real) and not isinstance(value, bool))


def lacking(texts: Sequence[str]) -> list[str]:
    """What each number lacks on its right for the decimal points of a flush-right column to agree.

    Examples
    --------
    >>> lacking(["9.95", "-0.784", "634"])
    ['0', '', '.000']
    """
    tails = [text[text.index(".") :] if "." in text else "" for text in texts]
    longest = max(map(len, tails), default=0)
    return [("" if tail or not longest else ".").ljust(longest - len(tail), "0") for tail in tails]


def literal(value: Any) -> str:
    """The value as Python writes it: numpy's numbers without their type."""
    if value is ...:
        return "…"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(each)}" for key, each in value.items()) + "}"
    return repr(value.item() if isinstance(value, np.generic) else value)


def percent(level: float) -> str:
    """A share in per cent, with the decimals that it needs.

    Examples
    --------
    >>> percent(0.95), percent(0.975)
    ('95 %', '97.5 %')
    """
    return f"{100 * level:.6g} %"
