"""Files of data that are named on the command line, and what stands in them."""

import warnings
import zlib
from collections.abc import Collection, Hashable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from svmstat import datasets
from svmstat._tools.checks import ended, nearest
from svmstat.errors import SvmstatError
from svmstat.formula.columns import TOLD_APART


def read_data(name: str, text: Collection[Hashable] = ()) -> pd.DataFrame:
    """A file if the name has a directory or a suffix, else a bundled data set or a file.

    The fields of some columns are ``text``, whatever they look like.
    """
    if not name.strip():
        raise SvmstatError(f"DATA={name!r} is not allowed: it must be a file or a bundled data set.")
    path = Path(name)
    if name in datasets.names():
        return datasets.load(name)
    if path.name == name and not path.suffix and not path.exists():
        hint = nearest(name, datasets.names())
        raise SvmstatError(ended(f"there is no file and no bundled data set {name!r}{hint}"))
    if not path.exists():
        raise SvmstatError(f"there is no file {name!r}.")
    if not (path.is_file() or path.is_dir()):
        raise SvmstatError(f"{name!r} cannot be read: it is no file, such as a pipe, which is read more than once.")
    if path.suffix.lower() in _OTHERS:
        raise SvmstatError(
            f"{name!r} cannot be read: files of text with commas or, .tsv, with tabs are, compressed or not, and "
            ".parquet."
        )
    try:
        return _read_parquet(path) if is_parquet(path) else _read_text(path, text)
    except ImportError as error:
        raise SvmstatError(f"to read {name!r}, install pyarrow: pip install 'svmstat[parquet]'.") from error
    except (OSError, ValueError, EOFError, zlib.error) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        hint = "; it must be in UTF-8" if isinstance(error, UnicodeDecodeError) else ""
        raise SvmstatError(f"{name!r} cannot be read: {reason}{hint}") from error


_OTHERS = (".feather", ".arrow", ".ipc", ".json", ".jsonl", ".xls", ".xlsx", ".ods", ".dta", ".sav", ".sas7bdat")
"""Suffixes of files that are not read."""


def _read_parquet(path: Path) -> pd.DataFrame:
    """All columns of the file, those that were the index of a frame too; whole numbers stay so beside missing ones."""
    found = pd.read_parquet(path)
    if any(name is not None for name in found.index.names):
        found = found.reset_index()
    large = [name for name in found.columns if _is_whole(found[name], large=True)]
    if large:
        found = found.assign(**pd.read_parquet(path, columns=large, dtype_backend="numpy_nullable")[large])
    return _as_whole(found)


def is_parquet(path: Path) -> bool:
    """Whether its suffix says so."""
    return path.suffix.lower() in (".parquet", ".pq")


def _separator(path: Path) -> str:
    """What is between the fields of a file of text."""
    return "\t" if ".tsv" in map(str.lower, path.suffixes[-2:]) else ","


def as_written(name: str, given: pd.DataFrame) -> pd.DataFrame:
    """The fields of a file of text and its names of rows, if it has some, as they stand there; else what was given."""
    if not _is_text(name):
        return given
    path = Path(name)
    rows = _texts(path, [0]).iloc[:, 0].to_numpy() if _header(path).iloc[0] == "" else given.index
    return texts_of(name, given.columns).set_axis(rows)


def _header(path: Path) -> pd.Series:
    """The names of the columns of a file of text."""
    return pd.read_csv(path, sep=_separator(path), header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0]


def _is_text(name: str) -> bool:
    return name not in datasets.names() and not is_parquet(Path(name))


def texts_of(name: str, columns: Iterable[Any]) -> pd.DataFrame:
    """The fields of some columns of a file of text."""
    return _texts(Path(name), list(columns))


def _texts(path: Path, columns: list[Any]) -> pd.DataFrame:
    """The same by names or places."""
    return pd.read_csv(
        path, sep=_separator(path), index_col=False, usecols=columns, dtype=str, keep_default_na=False,
        skip_blank_lines=len(_header(path)) > 1,
    )  # fmt: skip


COMPRESSED = (".gz", ".bz2", ".xz", ".zip", ".zst", ".tar")
"""Suffixes of what pandas reads by what they say."""

_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL")
"""What stands for a missing value; pandas would also take the text None for one, which may be a level."""


def _read_text(path: Path, text: Collection[Hashable] = ()) -> pd.DataFrame:
    """Columns with a name each, but for the first if it has those of the rows; none is passed over, or there twice."""
    sep = _separator(path)
    header = _header(path)
    other = next((mark for mark in (";", "\t", "|") if mark != sep and mark in header.iloc[0]), None)
    if len(header) == 1 and other is not None:
        raise SvmstatError(
            f"the fields of {str(path)!r} seem to be separated by {other!r}: commas are read, and tabs in .tsv."
        )
    blank = np.flatnonzero(header == "")
    blank = blank[(blank > 0) | (len(header) == 1)]
    if len(blank):
        raise SvmstatError(
            f"column {blank[0] + 1} of {len(header)} of {str(path)!r} has no name, which only the first may lack, as "
            "the names of rows do: name every column."
        )
    twice = sorted(set(header[header.duplicated()]))
    if twice:
        raise SvmstatError(f"{str(path)!r} has several columns {', '.join(map(repr, twice))}: names must be different.")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            read = partial(_fields, path, row_names=header.iloc[0] == "", blank=len(header) > 1)
            found = read(dict.fromkeys(text, str))
            large = {name: "Int64" for name in found.columns if _is_whole(found[name], large=True)}
            return _as_whole(found.assign(**read(large)[list(large)]) if large else found)
        except pd.errors.ParserWarning as error:
            raise SvmstatError(
                f"{str(path)!r}, whose fields are separated by {sep!r}, has rows with more of them than the header has "
                "names: name every column."
            ) from error


def _fields(path: Path, types: Mapping[Any, Any], row_names: bool, blank: bool) -> pd.DataFrame:
    """The columns of a file of text, some of these types; the first may have the names of the rows.

    Lines that are ``blank`` are no rows; in a file of one column they are those of missing values.
    """
    return pd.read_csv(
        path, sep=_separator(path), index_col=0 if row_names else False, dtype=dict(types), keep_default_na=False,
        na_values=_MISSING, skip_blank_lines=blank,
    )  # fmt: skip


def _as_whole(data: pd.DataFrame) -> pd.DataFrame:
    """Whole numbers that were read as doubles, for a missing one, as what they are."""
    return data.astype({name: "Int64" for name in data.columns if _is_whole(data[name])})


def _is_whole(values: pd.Series, large: bool = False) -> bool:
    """Whether whole numbers were read as doubles, for a missing one; ``large``, which doubles do not tell apart."""
    if values.dtype != np.dtype(float) or not values.hasnans:
        return False
    numbers = values.dropna().to_numpy()
    size = np.abs(numbers)
    least = TOLD_APART if large else 0.0
    return bool(size.max(initial=-1.0) >= least and (size < 2.0**63).all() and (numbers == np.round(numbers)).all())


def one_number(data: str, found: pd.DataFrame, name: object) -> list[str]:
    """Texts in a column of numbers of a file, two at least, that are one number; none where each is another."""
    if not _is_text(data) or name not in found.columns or not pd.api.types.is_numeric_dtype(found[name].dtype):
        return []
    pairs = pd.DataFrame({"number": found[name].array, "text": texts_of(data, [name])[name].array})
    pairs = pairs.dropna().drop_duplicates().sort_values("number", kind="stable")
    return [str(text) for text in pairs["text"][pairs["number"].duplicated(keep=False)]]
