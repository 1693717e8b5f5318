"""A fit written to a file, which `svmstat.load` reads: what it was asked, its data, its solutions and its maps."""

import inspect
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.checks import flag
from svmstat._tools.frames import as_pandas, nan_is_missing
from svmstat.errors import ArgumentTypeError, DesignWarning, ModelFileError, SvmstatError, UnavailableError
from svmstat.formula import ModelFrame, Untrusted, build_design, is_shared, read_by_condition
from svmstat.results.resampled import Resampled
from svmstat.solver import misfit
from svmstat.storage import FORMAT, Writing, encoded, own_version, write_archive
from svmstat.storage.tables import encode_frame

_NAMES_OF_COLUMNS = ("weights", "groups")
"""Arguments that may name a column of the data."""


@dataclass(frozen=True, repr=False, eq=False)
class Saved(Resampled):
    """What can be written to a file."""

    def save(self, path: str | Path) -> None:
        """Write the fit to a file, from which `svmstat.load` makes the same fit without solving anything.

        The file is a zip of one JSON text and raw arrays. There is no code in it, and reading it runs none. It holds
        the call, the columns of the data that the fit reads, of all rows, the dual variables and decision values with
        their certificate, and the map of the probabilities, which is made now if it has not been. Its size is about
        8 (columns + 3 (K − 1) + P) bytes for each row, with K levels and P pairs of them, and more for some pairs: see
        docs/save.md.

        Parameters
        ----------
        path : str or Path
            The file, such as ``"model.svmstat"``; one that is there is replaced.

        Raises
        ------
        ModelFileError
            If the fit cannot be stored, for what its formula or kernel calls or what its columns hold, or if the data
            have been changed since; or if the file cannot be written.
        UnavailableError
            For a fit that no call of `svm` or `tune` made.

        Examples
        --------
        >>> import tempfile, os
        >>> import svmstat
        >>> fit = svmstat.svm("egg_count > 0 ~ lon + lat", svmstat.datasets.load("mackerel"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fit.save(os.path.join(folder, "eggs.svmstat"))
        ...     again = svmstat.load(os.path.join(folder, "eggs.svmstat"))
        >>> bool((again.fittedvalues == fit.fittedvalues).all())
        True
        """
        if not isinstance(path, str | Path):
            raise ArgumentTypeError(f"path={path!r} is not allowed: it must be the name of a file.")
        given = getattr(self.call, "given", None)
        if given is None:
            raise UnavailableError("save() stores the call of svm() or tune() that made a fit: this fit has none.")
        _refuse_own_names(self.frame)
        settings = {name: value for name, value in given.items() if name not in ("formula", "data")}
        try:
            data = _stored_columns(self.frame, settings)
            again = _read_again(self.frame, settings, data, of_rows=self.kernel.of_rows)
        except SvmstatError as error:
            condition = isinstance(settings.get("subset"), str)
            read = "formula and its subset= are each" if condition else "formula is"
            raise ModelFileError(
                f"the fit cannot be stored, since a file holds no code, and its {read} read as a text of somebody "
                f"else's. What such a text must not say can be computed as a column beforehand. {error}"
            ) from error
        now = getattr(self.call, "now", None)
        _refuse_changed(self.frame, again, data, None if now is None else as_pandas("data", now))
        for pair in self.machine.pairs:
            if (wrong := misfit(pair.problem, pair.solution)) is not None:
                raise ModelFileError(
                    f"the fit cannot be stored, since its solution could not be told from others: {wrong}."
                )
        fitted, writing = self.fitted_maps(), Writing()
        model = {
            "format": FORMAT,
            "svmstat": own_version(),
            "formula": str(self.formula),
            "call": {name: encoded(writing, value, f"{name}=") for name, value in settings.items()},
            "of_others": {
                name: encoded(writing, value, f"{name}=") for name, value in getattr(self.call, "of_others", {}).items()
            },
            "data": encode_frame(writing, data),
            "kernel": encoded(writing, self.kernel, "the kernel"),
            "solutions": [encoded(writing, pair.solution, "a solution") for pair in self.machine.pairs],
            "held_out": encoded(writing, (fitted.by, fitted.own), "the map of the probabilities"),
            "untuned": list(self.untuned),
            "kind": self.kind,
            "optimism": encoded(writing, self.optimism, "optimism"),
        }  # fmt: skip
        write_archive(path, writing.members(model))


def _refuse_own_names(frame: ModelFrame) -> None:
    """Refuse a formula that calls or reads what is neither a column nor a part of svmstat."""
    for name, value in frame.own_names.items():
        if not is_shared(name, value):
            what = "a function" if callable(value) else "a value"
            raise ModelFileError(
                f"the formula {frame.design.formula!r} uses {name!r}, {what} of your own, which a file cannot hold: "
                "compute a column of it beforehand; pickle stores it with its module."
            )


def _stored_columns(frame: ModelFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """The columns that the fit reads, in the order of the data."""
    read: set[Hashable] = {*frame.outcome_names, *frame.design.predictors}
    read |= {settings[name] for name in _NAMES_OF_COLUMNS if isinstance(settings.get(name), str | int)}
    if isinstance(settings.get("subset"), str):
        read |= set(read_by_condition(settings["subset"], frame.data))
    return frame.data[[name for name in frame.data.columns if name in read]]


def _read_again(frame: ModelFrame, settings: Mapping[str, Any], data: pd.DataFrame, of_rows: bool) -> ModelFrame:
    """What `svmstat.load` will make of the stored columns."""
    known = inspect.signature(build_design).parameters
    given: dict[str, Any] = {name: value for name, value in settings.items() if name in known}
    if isinstance(given.get("subset"), str):
        given["subset"] = Untrusted(given["subset"])
    given |= {"scale": flag("scale", settings.get("scale", True)) and of_rows, "drop_constant": of_rows}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DesignWarning)  # they were given with the fit
        return build_design(Untrusted(frame.design.formula), data, **given)


def _equal(one: pd.Series, other: pd.Series) -> bool:
    return bool(nan_is_missing(one).equals(nan_is_missing(other)))


def _refuse_changed(frame: ModelFrame, again: ModelFrame, data: pd.DataFrame, now: pd.DataFrame | None) -> None:
    """Refuse a fit whose arrays do not follow from what is stored, or whose data are no longer what the frame holds."""
    same = all(np.array_equal(getattr(again, name), getattr(frame, name)) for name in ("X", "codes", "weights", "rows"))
    same &= now is None or all(name in now.columns and _equal(now[name], data[name]) for name in data.columns)
    if not same or again.response != frame.response or not again.index.equals(frame.index):
        raise ModelFileError("the data of the fit have been changed since: fit.update() fits them as they are now.")
