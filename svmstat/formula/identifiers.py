"""Text of many levels: what it was probably meant to be, before it gets a column for each."""

import re
from collections import Counter
from collections.abc import Iterable

from svmstat._tools.texts import counted
from svmstat._tools.warn import warn
from svmstat.errors import DesignWarning
from svmstat.formula.columns import reads_as_number
from svmstat.formula.factor import Factor

_MANY_LEVELS = 10
"""Fewer different texts may be codes, whatever they read as."""

_NAMES = 100
"""Levels that name rows, of at most twice as many, if they are no numbers."""

_SHOWN, _OTHERS = 3, 0.2
"""So many levels beside numbers are named as what may stand for missing values; of all levels they are no more."""

_MARKS = {"na", "n/a", "n.a.", "nan", "nd", "n.d.", "null", "nil", "none", "missing", "unknown"}
"""What stands for a missing value beside numbers, in small letters; so does what has neither letters nor digits."""

_MEASURED = 0.5
"""The share of levels with digits after the point from which on numbers were measured, and are no codes."""

_WITH_UNIT = re.compile(r"([^\w\s.,+-]?)\s*([+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?)\s*([^\d.,+-]{0,6})")
"""A number with a sign of a currency before it, or with a unit after it."""

_FRACTION = re.compile(r"\d[.,]\d*[1-9]")
"""Digits after a point; codes that were numbers once end in .0."""

_MINUS = "\N{MINUS SIGN}"

_DATE = re.compile(r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})(?:[ T]\d{1,2}:.*)?")


def tell_identifiers(factors: Iterable[Factor], n: int) -> None:
    """Warn of numbers and dates that are text, and of names of rows.

    Unless hardly two of n rows have the same, whole numbers without a mark of missing values may be codes, and dates
    too; so is what stands in C().
    """
    for factor in factors:
        code, levels = factor.expression.code, factor.levels
        if len(levels) < _MANY_LEVELS:
            continue
        own = 2 * len(levels) > n
        if not own and code.startswith("C("):
            continue
        told = _of_numbers(code, levels, n, are_codes=not own) or (_of_rows(code, levels, n) if own else "")
        if told:
            warn(told, DesignWarning)


def _of_numbers(code: str, levels: tuple[object, ...], n: int, *, are_codes: bool) -> str:
    """What is said of numbers that are text; nothing where there are none, or whole ones that may be codes."""
    units = [unit_of(level) for level in levels]
    unit = next((each for each, _ in Counter(units).most_common(2) if each is not None), "")
    others = [level for level, own in zip(levels, units, strict=True) if own not in (unit, "")]
    texts = [level for level in levels if isinstance(level, str)]
    if len(others) > max(_SHOWN, _OTHERS * len(levels)) or not all(isinstance(level, str) for level in others):
        return ""
    if are_codes and not (others and all(map(_is_mark, others))):
        fractions = sum(_FRACTION.search(text) is not None for text in texts)
        if fractions < _MEASURED * len(levels):
            return ""
    return (
        f"{code} is text that reads as numbers{f' with {unit!r}' if unit else ''}, {len(levels) - len(others)} "
        f"different ones in {n} rows{_beside(others)}, and has a column for each: if numbers are meant, convert "
        f"it, {_how(texts, unit, marked=bool(others))}."
    )


def _is_mark(level: object) -> bool:
    """Whether a level stands for a missing value beside numbers."""
    text = str(level).strip().lower()
    return text in _MARKS or not any(letter.isalnum() for letter in text)


def _of_rows(code: str, levels: tuple[object, ...], n: int) -> str:
    """What is said of levels of which hardly two rows have the same."""
    texts = [level for level in levels if isinstance(level, str)]
    if sum(_DATE.fullmatch(text.strip()) is not None for text in texts) >= (1.0 - _OTHERS) * len(levels):
        return (
            f"{code} is text that reads as dates, {len(levels)} different ones in {n} rows, and has a column for each: "
            "make numbers of them, such as days since the first."
        )
    if len(levels) < _NAMES:
        return ""
    return (
        f"{code} has {len(levels)} different levels in {n} rows, and a column for each: of a level that one row has "
        "nothing can be learnt, and new ones are refused. Names of rows are no predictors; of dates make numbers."
    )


def unit_of(value: object) -> str | None:
    """What text has beside a number, ``""`` if it is one by itself, None if there is no number, or it is no text.

    Examples
    --------
    >>> [unit_of(text) for text in ("1,5", "12.5%", "$ 3", "-2 mg", "n.d.", "station 7", "2020-01-31")]
    ['', '%', '$', 'mg', None, None, None]
    """
    if not isinstance(value, str):
        return None
    text = value.strip().replace(_MINUS, "-")
    if reads_as_number(text):
        return ""
    found = _WITH_UNIT.fullmatch(text)
    if found is None or not reads_as_number(found[2]) or bool(found[1]) == bool(found[3].strip()):
        return None
    return found[1] or found[3].strip()


def _beside(others: list[object]) -> str:
    if not others:
        return ""
    more = f" and {counted(len(others) - _SHOWN, 'other')}" if len(others) > _SHOWN else ""
    return f" but for {', '.join(map(repr, others[:_SHOWN]))}{more}, which may stand for missing values"


def _how(texts: list[str], unit: str, *, marked: bool) -> str:
    """How numbers are made of the texts of levels."""
    commas = any("," in text for text in texts)
    odd = [f"without the {unit!r}"] if unit else []
    odd += [f"with '-' for {_MINUS!r}"] if any(_MINUS in text for text in texts) else []
    if odd:
        odd += ["with points for decimal commas"] if commas else []
        return " and ".join(odd)
    if commas:
        return "as read_csv(decimal=',') does, or with thousands=',' if that is what the commas are"
    return "as pd.to_numeric(errors='coerce') does" if marked else "as astype(float) does"
