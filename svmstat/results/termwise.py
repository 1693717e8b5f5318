"""What an additive fit says term by term."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.checks import at_least, between, entries, nearest, refuse
from svmstat._tools.frames import in_kind
from svmstat.diagnostics.terms import term_effects
from svmstat.errors import ArgumentError, UnavailableError
from svmstat.kernels import Additive
from svmstat.kernels.additive import term_called
from svmstat.machine import term_values
from svmstat.reporting.plots import terms_plot
from svmstat.reporting.plots.style import checked_axes
from svmstat.resampling.replicates import least_replicates
from svmstat.results.bootstrap import Bootstrap, replicates_of
from svmstat.results.term_table import term_frame
from svmstat.results.uncertainty import Uncertain


@dataclass(frozen=True, repr=False, eq=False)
class Termwise(Uncertain):
    """The functions of an additive fit; its other numbers are those of any fit."""

    @property
    def theta(self) -> pd.Series:
        """θ of each term.

        Raises
        ------
        UnavailableError
            For a formula without s(), te() or ti(), here and below.
        """
        kernel = self._additive("theta")
        return pd.Series(kernel.theta, pd.Index(kernel.names, name="term"), name="theta")

    @property
    def terms(self) -> pd.DataFrame:
        """A row for each term: ``kernel``, ``gamma``, ``theta``, ``norm`` ‖h_t‖, ``sd`` of h_t over the rows.

        Without a single width ``gamma`` is missing.

        ‖h_t‖ is the norm in the space of θ_t K_t, and the squares add up to ‖h‖². Of more than two levels both are root
        mean squares over the pairs.
        """
        self._additive("terms")
        return term_frame(self.machine)

    @in_kind
    def predict_terms(self, newdata: pd.DataFrame | None = None) -> pd.DataFrame:
        """h_t(x) of each term, which add up to f − intercept.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the n rows of the fit, over which each column has the weighted mean zero.

        Returns
        -------
        DataFrame (m, T)
            A column for each term; of more than two levels (m, P · T), by pair and term. NaN where a predictor is
            missing.

        Raises
        ------
        UnavailableError
            For a formula without s(), te() or ti().
        DataError
            As `decision_function`.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ s(lon, lat) + s(temp_20m)", datasets.load("mackerel"))
        >>> h = fit.predict_terms()
        >>> bool(abs(h.sum(axis=1) + fit.intercept - fit.decision_values).max() < 1e-9)
        True
        """
        names = self._additive("predict_terms()").names
        index, complete, X = self.rows_at(newdata)
        h = np.full((len(index), len(self.machine.pairs), len(names)), np.nan)
        h[complete] = term_values(self.machine, X)
        if self.shape.two:
            return pd.DataFrame(h[:, 0], index, pd.Index(names, name="term"))
        labels = [(*pair, name) for pair in self.pairs for name in names]
        columns = pd.MultiIndex.from_tuples(labels, names=[*self.pairs.names, "term"])
        return pd.DataFrame(h.reshape(len(index), len(labels)), index, columns)

    def plot_terms(
        self,
        terms: str | Sequence[str] | None = None,
        *,
        B: int | Bootstrap = 199,
        level: float = 0.95,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
        columns: int = 2,
        ax: Any = None,
    ) -> Any:
        """The function of each term: a curve with its band, a map of two columns, the levels of a factor.

        The bands are percentiles of h_t over refits to rows drawn with replacement, see `bootstrap`. They say where the
        estimate would lie with other samples of this size. They are no confidence bands for a true function, which a
        penalised fit misses in its mean, most where it is curved. θ, C and the widths are those of this fit in every
        replicate: what choosing them adds is not in the bands.

        Parameters
        ----------
        terms : str or sequence of str, optional
            Names of terms; by default those with θ > 0.
        B : int or Bootstrap
            Number of replicates, at least 2/(1 − level) − 1, or those that `bootstrap` has made; 0 for no bands.
        level : float
            Between 0 and 1: the share of the replicates inside a band.
        rng, n_jobs, progress
            As in `bootstrap`.
        columns : int
            Panels side by side; 1 for a narrow page.
        ax : Axes, optional
            Whose place the panels take; by default a new figure.

        Returns
        -------
        ndarray of Axes
            One for each term; of more than two levels a map has one for each pair.

        Raises
        ------
        UnavailableError
            For a formula without s(), te() or ti().
        ArgumentError
            For an argument outside what is allowed.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ s(lon, lat) + s(temp_20m)", datasets.load("mackerel"))
        >>> axes = fit.plot_terms(B=39, rng=1)
        >>> [ax.get_title(loc="left") for ax in axes]
        ['s(lon, lat)', 's(temp_20m)']
        >>> plt.close(axes[0].figure)
        """
        kernel = self._additive("plot_terms()")
        chosen = _chosen(kernel, terms)
        columns = at_least("columns", columns, 1)
        level = between("level", level, 0.0, 1.0)
        checked_axes(ax)
        replicates = replicates_of(self, B, level, rng, n_jobs, progress)
        effects = term_effects(self.machine, self.frame.design, chosen, replicates, level)
        pairs = [f"{first} : {second}" for first, second in self.pairs]
        banded = replicates is not None and int((~replicates.failed).sum()) >= least_replicates(level)
        return terms_plot(effects, pairs, level=level, banded=banded, columns=columns, ax=ax)

    def _additive(self, what: str) -> Additive:
        kernel = self.kernel
        if not isinstance(kernel, Additive):
            raise UnavailableError(
                f"{what} is for additive fits, whose formula has s(), te() or ti(): this one has the joint kernel "
                f"{self.kernel_name!r}."
            )
        return kernel


def _chosen(kernel: Additive, terms: object) -> list[str]:
    """The names of the terms that are asked for."""
    if terms is None:
        return [name for name, theta in zip(kernel.names, kernel.theta, strict=True) if theta > 0.0]
    asked = (terms,) if isinstance(terms, str) else entries(terms)
    if not asked:
        raise refuse("terms", terms, "the name of a term, or several")
    found = []
    for name in asked:
        label = term_called(kernel.names, str(name))
        if label is None:
            listed, close = ", ".join(map(repr, kernel.names)), nearest(str(name), kernel.names)
            raise ArgumentError(f"terms={name!r} is no term of the fit: it has {listed}{close}")
        found.append(label)
    return found
