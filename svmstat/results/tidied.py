"""A fit as data frames, with the columns of R's broom in the spelling of Python [Robinson 2014]."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.checks import between, flag
from svmstat._tools.frames import alike, read_frame
from svmstat.diagnostics import Evidence
from svmstat.errors import DataError
from svmstat.objective.residuals import of_levels
from svmstat.results.bootstrap import Bootstrap
from svmstat.results.estimated import Estimated

_HELD_OUT = {"score": "cv_score", "rsquared": "r_squared", "brier": "brier", "error_rate": "error_rate"}
"""Numbers of `Evidence` of all levels, and their columns."""

_SPREAD = {"se": "std_error", "lower": "conf_low", "upper": "conf_high"}


@dataclass(frozen=True, repr=False, eq=False)
class Tidied(Estimated):
    """Coefficients, numbers of the whole fit, and rows, each as a DataFrame."""

    def tidy(self, bootstrap: Bootstrap | None = None, level: float = 0.95) -> pd.DataFrame:
        """The coefficients, one a row; linear kernel only.

        Columns have broom's names with underscores for dots. There is no statistic and no p-value: a penalised
        coefficient has no honest one, and whether a term matters is what ``drop1()`` tests. A fit with another kernel
        has no number for a term that would stand in these columns, so that it is refused rather than given rows of
        missing values; `glance` and `augment` are for every kernel.

        Parameters
        ----------
        bootstrap : Bootstrap, optional
            Refits of this fit, by `bootstrap`, for ``std_error``, ``conf_low`` and ``conf_high``.
        level : float
            The share of the replicates between these two.

        Returns
        -------
        DataFrame
            ``term`` and ``estimate``, as in `params`; of more than two levels ``positive`` and ``negative``, the pair,
            before them.

        Raises
        ------
        UnavailableError
            For another kernel.
        ArgumentError
            For replicates of another fit, or too few for the level.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth", datasets.load("mackerel"), kernel="linear")
        >>> fit.tidy(fit.bootstrap(rng=1)).round(2)
                term  estimate  std_error  conf_low  conf_high
        0  Intercept  ...
        """
        self.require_linear("tidy()")
        between("level", level, 0.0, 1.0)
        if bootstrap is None:
            return pd.DataFrame({"estimate": np.ravel(self.params, "F")}, self.param_labels).reset_index()
        return self.spread_by(bootstrap, level).summary_frame().rename(columns=_SPREAD).reset_index()

    def glance(self, loo: bool | None = None) -> pd.DataFrame:
        """The numbers of the whole fit, in one row.

        Parameters
        ----------
        loo : bool, optional
            Whether numbers of held-out rows are computed, as in `summary`. Where they are not, they are missing, and
            so is ``held_out``.

        Returns
        -------
        DataFrame (1, …)
            The settings: ``kernel``, ``C``, ``gamma``, missing where the kernel has none. As broom has it, but in
            lower case: ``null_deviance``, ``log_lik``, ``deviance``, ``nobs``, the sum of the weights, and
            ``n_support``, that of the support vectors.
            ``held_out``, how the rows of the following numbers were: ``cv_score``, ``r_squared``, ``brier``,
            ``error_rate``, ``auc``, ``calibration_slope``, each followed by its standard error, ``cv_score_se``; of
            more than two levels the last two are by level, against the rest, as in ``auc_AVH``, ``auc_AVH_se``.
            ``kkt_violation`` and ``converged``. There are no degrees of freedom, and so no AIC.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel"))
        >>> fit.glance()[["nobs", "deviance", "cv_score", "r_squared"]].round(2)
            nobs  deviance  cv_score  r_squared
        0  634.0    ...
        """
        held_out = self.held_out(None if loo is None else flag("loo", loo))
        numbers = {
            "kernel": self.kernel_name,
            "C": self.C,
            "gamma": self.kernel_parameters.get("gamma", np.nan),
            "null_deviance": self.null_deviance,
            "log_lik": self.llf,
            "deviance": self.deviance,
            "nobs": self.nobs,
            "n_support": float(self.frame.weights[(self.machine.alpha > 0).any(axis=1)].sum()),
            "held_out": None if held_out is None else held_out.how,
            **dict(_numbers(self.apparent if held_out is None else held_out, held_out is not None)),
            "kkt_violation": self.kkt_violation,
            "converged": self.converged,
        }
        return pd.DataFrame([numbers])

    def augment(self, newdata: pd.DataFrame | None = None) -> Any:
        """The data, with what the fit says of each row; the added columns begin with a point, as broom's do.

        Parameters
        ----------
        newdata : DataFrame (m, …), optional
            New rows; by default the `model_frame`, the n rows of the fit and the columns that the formula reads.

        Returns
        -------
        DataFrame
            The columns of the data, then ``.fitted``, P(event), ``.class``, the predicted level, and ``.decision``, f.
            Without ``newdata`` also, of fits without the row, of many rows by ten folds: ``.held_out``, P(event);
            ``.resid``, the deviance residual of that; and ``.outlyingness``, −2 log P(what was observed), beside which
            `get_influence` has the influence. With ``newdata`` that has the response ``.resid`` is of ``.fitted``. Of
            more than two levels there is a column for each level, as ``.fitted_AVH``, and ``.decision_AVH_PCH`` of each
            pair.

        Raises
        ------
        DataError
            As `decision_function`; and where the data have a column of such a name.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> fit = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel"))
        >>> fit.augment().columns.tolist()
        ['egg_count', 'lon', 'lat', '.fitted', '.class', '.decision', '.held_out', '.resid', '.outlyingness']
        """
        if newdata is None:
            return alike(pd.concat([self.frame.read, self._said(None)], axis=1), self.kind)
        found = read_frame("newdata", newdata)
        return found.beside(self._said(found.data))

    def _said(self, newdata: pd.DataFrame | None) -> pd.DataFrame:
        """The columns that `augment` adds."""
        index, f = self.decision_at(newdata)
        p, shape = self.maps.probabilities(f), self.shape
        said = {
            ".fitted": shape.of_classes(p, index, "probability"),
            ".class": self.response.labels(self.predicted_codes(newdata), index),
            ".decision": shape.of_pairs(f, index, "decision_value"),
        }
        if newdata is None:
            held_out = self.held_out(loo=True)
            assert held_out is not None
            said[".held_out"], said[".resid"] = held_out.prob, held_out.residuals()
            said[".outlyingness"] = -2.0 * held_out.log_likelihood
        elif all(name in newdata for name in self.frame.outcome_names):
            said[".resid"] = shape.of_classes(of_levels("deviance", self.frame.observed(newdata), p), index, "residual")
        data = self.frame.read if newdata is None else newdata
        added = pd.concat([_named(name, each) for name, each in said.items()], axis=1)
        taken = [name for name in added if name in data]
        if taken:
            raise DataError(f"the data have a column {taken[0]!r} already, which is what augment() adds: rename it.")
        return added


def _named(name: str, values: Any) -> pd.DataFrame:
    """A Series by its name, or the columns of a DataFrame by theirs behind it."""
    if isinstance(values, pd.Series):
        return values.to_frame(name)
    each = [key if isinstance(key, tuple) else (key,) for key in values.columns]
    called = ["_".join(map(str, key)) for key in each]
    if len(set(called)) < len(called):  # a_b and c beside a and b_c
        called = ["_".join(map(repr, key)) for key in each]
    return pd.DataFrame(values.set_axis([f"{name}_{text}" for text in called], axis=1))


def _numbers(evidence: Evidence, known: bool) -> Iterator[tuple[str, float]]:
    """The columns of `glance` that are of held-out rows; missing where these are not ``known``."""
    found = evidence.estimates()
    columns = {name: found[key] for key, name in _HELD_OUT.items()}
    for level, numbers in evidence.by_level():
        of = "" if evidence.shape.two else f"_{level}"
        columns |= {f"{name}{of}": numbers[name] for name in ("auc", "calibration_slope")}
    for name, each in columns.items():
        yield name, each.value if known else np.nan
        yield f"{name}_se", each.se if known else np.nan
