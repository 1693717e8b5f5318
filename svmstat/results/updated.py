"""The call of a fit, repeated with changes."""

from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Self

import pandas as pd

from svmstat._tools.frames import has_rows_of
from svmstat._tools.keywords import calling_frame
from svmstat.errors import DataError, UnavailableError
from svmstat.formula import speaks_of, update_formula
from svmstat.results.settings import Settings


@dataclass(frozen=True, repr=False, eq=False)
class Updated(Settings):
    """A fit that can be made again.

    Attributes
    ----------
    call : callable
        What repeats the call of `svm` or `tune` that made it with changes.
    """

    call: Callable[..., Any] | None = field(default=None, kw_only=True)

    def update(self, formula: str | None = None, data: pd.DataFrame | None = None, **changes: Any) -> Self:
        """The fit of another formula, to other data, or with other settings; what is not named stays as it was.

        It is what `svm` gives for the arguments of this fit's call and these. Names in the formula that are no columns
        stand for what they stood for then; new ones are looked up where ``update`` is called. With another kernel the
        parameters of the old one are dropped; a ν takes the place of C, costs, priors and class weights, and C that of
        a ν. Of the best fit of `tune` C and the parameters of the kernel are those that were found; its held-out
        numbers are corrected, or said not to be, as long as it is the same machine of the same rows.

        Parameters
        ----------
        formula : str, optional
            As ``". ~ . - x + z"``: ``.`` is what was on the same side before, without a left side the response stays.
        data : DataFrame, optional
            By default the DataFrame of this fit, which is not copied: changes in it count.
        **changes
            Arguments of `svm`.

        Returns
        -------
        SVMResults

        Raises
        ------
        ArgumentTypeError
            For an argument that `svm` does not have.
        UnavailableError
            For a fit that no call of `svm` or `tune` made.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth", datasets.load("mackerel"), C=16)
        >>> smaller = fit.update(". ~ . - b_depth", gamma=0.5)
        >>> smaller.formula, smaller.C, smaller.kernel_parameters
        ('egg_count > 0 ~ lon + lat', 16.0, {'gamma': 0.5})
        """
        return self._again(formula, data, changes, calling_frame())

    def refit(self, data: pd.DataFrame) -> Self:
        """The same formula and settings on other data: ``update(data=data)``."""
        return self.update(data=data)

    def _no_predictors(self) -> tuple[Hashable, ...]:
        """The columns that the call names for something else."""
        given = getattr(self.call, "given", {})
        return tuple(given[name] for name in ("weights", "groups") if isinstance(given.get(name), str | int))

    def _again(
        self, formula: str | None, data: pd.DataFrame | None, changes: Mapping[str, Any], caller: FrameType
    ) -> Self:
        """The fit with changes; names that are new in the formula are those of the caller."""
        if self.call is None:
            raise UnavailableError("update() repeats the call of svm() or tune() that made a fit: this fit has none.")
        names = ChainMap(self.frame.own_names, caller.f_locals, caller.f_globals)
        text = None if formula is None else update_formula(self.formula, formula, self._no_predictors())
        repeated: Self = self.call(text, data, changes, names)
        return repeated


def data_since(fit: Updated, asked: object) -> pd.DataFrame:
    """The data of a fit as they were, with the columns of which ``asked`` speaks that the frame has been given since.

    Raises
    ------
    DataError
        If its rows are no longer those of the fit.
    """
    kept, now = fit.frame.data, getattr(fit.call, "now", None)
    if now is None or not isinstance(asked, str | int):
        return kept
    added = [column for column in now.columns if column not in kept.columns and speaks_of(column, str(asked))]
    if added and not has_rows_of(now, kept):
        raise DataError(
            f"the column {added[0]!r} has been added to data whose rows are no longer those of the fit in their order: "
            "fit.update() fits them as they are now."
        )
    return pd.concat([kept, now[added]], axis=1) if added else kept


def data_of_folds(fit: Updated, folds: object) -> pd.DataFrame:
    """The data of a fit, with the column that names the folds as it has become: it is no part of the fit.

    Raises
    ------
    DataError
        If its rows are no longer those of the fit.
    """
    data, now = data_since(fit, folds), getattr(fit.call, "now", None)
    if now is None or not isinstance(folds, str) or folds not in data.columns or folds not in now.columns:
        return data
    return data.assign(**{folds: now[folds]}) if has_rows_of(now, data) else data
