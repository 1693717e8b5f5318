"""Results of statsmodels among the models of a comparison: Logit, MNLogit, binomial GLM and GLMGam."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.arrays import Codes, Floats
from svmstat.comparison.observed import Observed, points_at
from svmstat.errors import ArgumentError, DataError
from svmstat.resampling.loops import Outlook, run_pieces
from svmstat.resampling.regressions import (
    Inverse,
    Link,
    Logits,
    Regression,
    left_out,
    refit,
    refits_per_task,
    well_posed,
)
from svmstat.resampling.said import Said, joined

_NEAR = 1e-4
"""The linear predictors of the results are this near to those at the maximum, relative to 1 + the largest."""

KINDS = "Logit, MNLogit, and GLM and GLMGam with the family Binomial"


@dataclass(frozen=True, slots=True)
class Regressions:
    """A regression of classes, refitted by Newton's method from its own coefficients.

    Attributes
    ----------
    observed : its rows
    model : its arrays
    """

    observed: Observed
    model: Regression

    def one_by_one(self, n_jobs: int | None, progress: bool) -> Said:
        """Each row without one copy of it."""
        weights = self.model.weights
        rows = [np.array([row]) for row in range(len(weights))]
        return joined(self._left_out(rows, [np.minimum(weights[row], 1.0) for row in rows], n_jobs, progress))

    def without(self, lots: Sequence[Codes], n_jobs: int | None, progress: bool) -> list[Said]:
        """Each lot with all of its weight."""
        return self._left_out(lots, [self.model.weights[lot] for lot in lots], n_jobs, progress)

    def _left_out(
        self, lots: Sequence[Codes], copies: Sequence[Floats], n_jobs: int | None, progress: bool
    ) -> list[Said]:
        size = refits_per_task(self.model)
        pieces = [(self.model, lots[at : at + size], copies[at : at + size]) for at in range(0, len(lots), size)]
        outlook = Outlook([(partial(left_out, *pieces[0]), len(pieces))], reason=f"there are {len(lots)} refits")
        parts = run_pieces(left_out, pieces, n_jobs=n_jobs, progress=progress, what=self.observed.name, outlook=outlook)
        return [
            Said(p, np.where(np.isnan(p[:, 0]), -1, p.argmax(axis=1)), np.full(len(p), not converged))
            for probabilities, reached in parts
            for p, converged in zip(probabilities, reached.tolist(), strict=True)
        ]


def is_of_statsmodels(results: object) -> bool:
    """Whether these are results, or wrapped results, of statsmodels."""
    return type(results).__module__.startswith("statsmodels.")


def default_name(results: Any) -> str:
    """What the model is called if it has no other name."""
    return type(results.model).__name__.lower()


def read_results(name: str, results: Any) -> Regressions:
    """The arrays of a fitted model of statsmodels.

    Raises
    ------
    ArgumentError
        For another kind of model, and where the coefficients are not at the maximum of the likelihood.
    DataError
        For counts of successes, and for weights that are no repeats of rows.
    """
    model: Any = getattr(results, "model", None)
    kind = type(results if model is None else model).__name__
    if kind not in ("Logit", "MNLogit", "GLM", "GLMGam") or (
        kind in ("GLM", "GLMGam") and type(model.family).__name__ != "Binomial"
    ):
        family = f" with the family {type(model.family).__name__}" if hasattr(model, "family") else ""
        raise ArgumentError(
            f"{name}: results of {kind}{family} are not allowed. Of statsmodels these can be compared: results "
            f"of {KINDS}."
        )
    if model.endog is None or model.exog is None:
        raise DataError(f"{name}: its data have been removed (remove_data), and it is refitted to them: fit it again.")
    levels, codes = _outcome(name, model, kind)
    n = len(codes)
    weights, link = np.ones(n), _link(model, kind)
    if kind in ("GLM", "GLMGam"):
        weights = np.asarray(model.freq_weights, np.float64)
        if (np.asarray(model.var_weights) != 1.0).any():
            raise DataError(f"{name}: var_weights are not allowed; what counts repeats of rows are freq_weights.")
    X = np.asarray(model.exog, np.float64)
    params = np.asarray(results.params, np.float64).reshape(X.shape[1], -1)
    penalty = np.zeros((X.shape[1], X.shape[1]))
    if kind == "GLMGam":
        penalty = 2.0 * np.asarray(model.penal.penalty_matrix(), np.float64)
    found = Regression(X, codes, weights, _offset(model, n), penalty, link, params)
    labels = model.data.row_labels
    index = None if labels is None else pd.Index(labels)
    observed = Observed(name, index, levels, codes, weights, points=points_at(X, codes, weights))
    return Regressions(observed, _at_maximum(name, found))


def _outcome(name: str, model: Any, kind: str) -> tuple[tuple[Any, ...], Codes]:
    """Levels and codes; the second of two levels is the one whose probability is modelled."""
    if kind == "MNLogit":
        names = model._ynames_map  # noqa: SLF001  the one place where it has them
        return tuple(names[j] for j in range(int(model.J))), np.asarray(model.endog, np.intp)
    y = np.asarray(model.endog, float)
    counts = np.asarray(getattr(model, "n_trials", 1.0))
    if not np.isin(y, (0.0, 1.0)).all() or (counts != 1.0).any():
        raise DataError(
            f"{name}: the response must be 0 or 1 in every row. Counts of successes and failures are two rows each, "
            "with freq_weights."
        )
    levels: tuple[Any, ...] = (0, 1)
    if not isinstance(model.endog_names, str) and len(model.endog_names) == 2:  # a factor: the first column succeeds
        texts = [re.sub(r"^.*\[(?:T\.)?(.*)\]$", r"\1", str(text)) for text in model.endog_names]
        levels = (texts[1], texts[0])
    return levels, y.astype(np.intp)


def _link(model: Any, kind: str) -> Link:
    if kind in ("Logit", "MNLogit") or type(model.family.link).__name__ == "Logit":
        return Logits()
    return Inverse(model.family.link)


def _offset(model: Any, n: int) -> Floats:
    given = getattr(model, "_offset_exposure", None)
    if given is None:
        given = getattr(model, "offset", None)
    return np.zeros(n) + (0.0 if given is None else np.asarray(given, float))


def _from_nothing(model: Regression) -> Regression:
    """The model of which refits set off from zero, where its link has probabilities there.

    Without a maximum to go to a refit would keep what the coefficients know of the rows that it leaves out.
    """
    start = np.zeros_like(model.params)
    log_likelihood = model.link.judge(model.eta(start[None]), model.codes)[0]
    return replace(model, params=start) if np.isfinite(log_likelihood).all() else model


def _at_maximum(name: str, model: Regression) -> Regression:
    """The model at the maximum of its likelihood, if it has one; from there the refits set off."""
    posed = well_posed(model)
    if posed.X.shape[1] < model.X.shape[1] and model.penalty.any():
        raise DataError(f"{name}: the columns of its design depend on each other, with a penalty on them.")
    full = refit(posed, posed.weights[None])
    if not full.converged[0]:  # separated classes: it is counted in every refit
        return _from_nothing(posed)
    here, there = model.eta(model.params[None]), posed.eta(full.params)
    away = float(np.abs(here - there).max() / (1.0 + np.abs(there).max()))
    if away > _NEAR:
        raise ArgumentError(
            f"{name}: its coefficients are not at the maximum of its likelihood; linear predictors differ by "
            f"{away:.2g} of their size. Models with constraints or a penalty on the coefficients, fits that have not "
            "converged, and freq_weights of a GLMGam, which its fit ignores, cannot be compared."
        )
    return replace(posed, params=full.params[0])
