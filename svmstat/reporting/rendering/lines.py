"""One line for a result, as a terminal shows it."""

from collections.abc import Sequence
from itertools import accumulate

LINE = 120
"""The most characters that it has."""

_FORMULA = 1200
"""Characters of a formula that a printout shows."""


def line(before: str, text: str, after: str) -> str:
    """Three pieces in a line, the middle one, a formula say, `cut` so that it fits.

    Examples
    --------
    >>> len(line("<svm: ", "y ~ " + " + ".join("abcdefghij" * 9), " | hinge>")) <= LINE
    True
    """
    return f"{before}{cut(text, max(10, LINE - len(before) - len(after)))}{after}"


def cut(text: str, most: int) -> str:
    """A text of at most ``most`` characters: of a longer sum the first terms, of another text its beginning.

    Examples
    --------
    >>> cut("y ~ x1 + x2 + x3 + x4", 16), cut("y ~ np.log(x)", 8)
    ('y ~ x1 + x2 + …', 'y ~ np.…')
    """
    if len(text) <= most:
        return text
    terms = text[: most - 1].rpartition(" + ")[0]
    return f"{terms} + …" if terms else f"{text[: most - 1]}…"


def abridged(formula: str, most: int = _FORMULA) -> str:
    """The formula, its middle terms left out if it has more characters than ``most``.

    Examples
    --------
    >>> abridged("y ~ x1 + x2 + x3 + x4 + x5", 20)
    'y ~ x1 + x2 + ... + x5'
    """
    if len(formula) <= most:
        return formula
    head, last = formula[:most].rpartition(" + ")[0], formula.rpartition(" + ")[2]
    return f"{head} + ... + {last}" if head else formula


def listed(before: str, items: Sequence[str], after: str) -> str:
    """Three pieces in a line, the middle one items, of which the last are counted if there are too many.

    Examples
    --------
    >>> listed("<Effects: of ", ["lon", "lat"], ">")
    '<Effects: of lon, lat>'
    >>> listed("<Effects: of ", [f"temperature_{k}" for k in range(40)], ">")[-40:]
    'temperature_4, temperature_5, … (of 40)>'
    """
    whole, room = ", ".join(items), LINE - len(before) - len(after)
    if len(whole) > room:
        last = f"… (of {len(items)})"
        ends = accumulate(len(item) + len(", ") for item in items)
        kept = sum(end + len(last) <= room for end in ends)
        whole = ", ".join([*items[:kept], last])
    return f"{before}{whole}{after}"
