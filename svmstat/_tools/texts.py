"""Numbers and names as text."""

import math
import re
from collections.abc import Sequence

_FEW, _ALL = 6, 17
"""Digits of a number, and those that tell any two apart."""

_WHOLE = 1e15
"""Whole numbers below it are written out."""

_CODE = 2
"""Letters of which the case may tell levels apart."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def how_alike(one: object, other: object) -> str:
    """By what alone two texts differ, "blanks" or "case"; ``""`` if by more, or nothing.

    Of one letter or two the case may be the code, as of genotypes.

    Examples
    --------
    >>> how_alike("yes", "yes "), how_alike("yes", "Yes"), how_alike("Aa", "AA"), how_alike("yes", "no")
    ('blanks', 'case', '', '')
    """
    if not (isinstance(one, str) and isinstance(other, str)) or one == other:
        return ""
    if one.split() == other.split():
        return "blanks"
    return "case" if len(one.strip()) > _CODE and as_read(one) == as_read(other) else ""


def as_read(text: str) -> str:
    """Text but for its case and blanks.

    Examples
    --------
    >>> as_read(" Not  sure")
    'not sure'
    """
    return " ".join(text.split()).casefold()


def counted(count: int, noun: str) -> str:
    """So many of them.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def without_controls(text: str) -> str:
    r"""Text in which neither XML nor HTML finds a character that it may not hold: control characters are replaced.

    Examples
    --------
    >>> without_controls("a\x0bb") == "a\ufffdb"
    True
    """
    return _CONTROLS.sub("\ufffd", text)


def probability_of(response: object, level: object) -> str:
    """What a table or a figure calls the probability of a level.

    Examples
    --------
    >>> probability_of("low", "yes")
    'P(low = yes)'
    """
    return f"P({response} = {level})"


def written(values: Sequence[object]) -> list[str]:
    """Values as text: whole numbers without decimals, others with six digits, or one more than tells them apart.

    Examples
    --------
    >>> written([20240131.0, 20240229.0]), written([0.1 + 0.2, 1 / 3]), written([2001.0, 2001.0005, "none"])
    (['20240131', '20240229'], ['0.3', '0.333333'], ['2001', '2001.0005', 'none'])
    """
    floats = {value for value in values if isinstance(value, float) and math.isfinite(value)}
    digits = next((d for d in range(_FEW, _ALL) if len({f"{x:.{d}g}" for x in floats}) == len(floats)), _ALL)
    digits = min(digits + (digits > _FEW), _ALL)
    return [_written(value, digits) if isinstance(value, float) else str(value) for value in values]


def _written(value: float, digits: int) -> str:
    return f"{value + 0.0:.0f}" if value.is_integer() and abs(value) < _WHOLE else f"{value:.{digits}g}"
