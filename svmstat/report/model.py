"""A fit beside a logistic model, its terms and its effects."""

import importlib
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from svmstat._tools.arrays import Floats
from svmstat.comparison import compare
from svmstat.formula.scaling import learn_scaling
from svmstat.report.evidence import WIDE
from svmstat.report.page import figure, paragraph
from svmstat.reporting.plots.style import MOST_PANELS, grid_of_panels
from svmstat.resampling.replicates import least_replicates
from svmstat.results import SVMResults
from svmstat.results.bootstrap import Bootstrap

_DEPENDENT = 1e-9
"""A column of which no larger part is left beside those before it adds nothing to a linear model."""

_CLOSE = 1e-13
"""Where the deviance changes by no larger part, the coefficients are at the maximum of the likelihood."""

_NOT_FOUND = "statsmodels finds no maximum of its likelihood, which has none where classes are separated"

_OF_KERNEL_VALUES = (
    "There is no logistic model of these columns to compare with: they are kernel values, a column for each row. So "
    "there are no terms and no effects of predictors either."
)

_OF_GLM = "statsmodels.genmod.generalized_linear_model", "statsmodels.genmod.families"

_LEVEL = 0.95
_WIDTH = 6.2


def beside_logistic(fit: SVMResults, n_jobs: int | None, progress: bool) -> Iterator[str]:
    """The comparison with a logistic regression on the columns of the design."""
    if not fit.kernel.of_rows:
        yield paragraph(_OF_KERNEL_VALUES)
        return
    of_statsmodels = importlib.import_module("statsmodels.tools.sm_exceptions")
    trouble = of_statsmodels.ModelWarning, RuntimeWarning
    try:
        with warnings.catch_warnings():
            for kind in trouble:
                warnings.simplefilter("error", kind)
            logistic = _logistic(fit)
        found = compare(fit, folds=fit.usual_folds, n_jobs=n_jobs, progress=progress, logistic=logistic)
    except (np.linalg.LinAlgError, ValueError, *trouble) as error:
        lost = isinstance(error, RuntimeWarning | of_statsmodels.ConvergenceWarning)
        why = _NOT_FOUND if lost else str(error).partition(". ")[0].rstrip(".")
        yield paragraph(f"There is no logistic model of these columns to compare with: {why}.")
        return
    yield paragraph(
        "Does the machine predict better than a logistic regression that is linear in the same columns? Both are "
        "judged by rows that they have not seen."
    )
    yield found.summary().as_html()


def terms(fit: SVMResults, n_jobs: int | None, progress: bool) -> Iterator[str]:
    """What each term is worth."""
    found = fit.drop1(n_jobs=n_jobs, progress=progress)
    yield found.summary().as_html()
    yield figure(
        lambda ax: found.plot(ax=ax),
        (WIDE[0], 1.3 + 0.42 * len(found.tests)),
        "Changes of the score without each term",
        "Change of the CV score without each term, with its paired standard error.",
    )


def replicates_for(fit: SVMResults, B: int, rng: Any, n_jobs: int | None, progress: bool) -> Bootstrap:
    """The refits that all bands of a report are of, at least as many as these need."""
    return fit.bootstrap(max(B, least_replicates(_LEVEL)), rng, n_jobs, progress)


def functions(fit: SVMResults, replicates: Bootstrap) -> Iterator[str]:
    """The functions of an additive fit."""
    yield figure(
        lambda ax: fit.plot_terms(B=replicates, level=_LEVEL, ax=ax),
        (_WIDTH, 0.8 + 2.2 * -(-len(fit.terms) // 2)),
        "The functions of the terms",
        "Decision values are the intercept and the sum of these functions.",
    )


def effects(fit: SVMResults, replicates: Bootstrap, n_jobs: int | None, progress: bool) -> Iterator[str]:
    """What the prediction does over each predictor."""
    found = fit.effects(B=replicates, level=_LEVEL, n_jobs=n_jobs, progress=progress)
    shown = min(len(found), MOST_PANELS)
    which = "all" if shown == len(found) else f"{shown} of {len(found)}"
    yield figure(
        lambda ax: found.plot(ax=ax),
        (_WIDTH, 0.8 + 2.2 * grid_of_panels(shown)[0]),
        f"Effects of {which} predictors",
        f"Accumulated local effects, or average predictions by level, of {which} predictors.",
    )
    yield found.beside_figure().as_html()


def _logistic(fit: SVMResults) -> Any:
    """Logistic regression, multinomial for more than two levels, on the columns that are linearly independent.

    They are standardised, for in units of their own some regressions get lost.
    Statsmodels takes half a second to import, the whole of it a second: what is needed here, for this part only.
    """
    frame, w = fit.frame, fit.frame.weights
    ones = np.ones(len(frame.X))
    scaling = learn_scaling(frame.design.column_names, frame.X, ones, standardise=True)
    X = _independent(np.column_stack([ones, scaling.apply(frame.X)]))
    if X.shape[1] >= len(X):
        raise ValueError("there are as many independent ones as rows, which any labels can be fitted with")
    numbers = _as_numbers(frame.response.levels)  # which compare() matches by value
    if fit.shape.two:
        y = frame.codes == frame.response.event_code if numbers is None else numbers[frame.codes]
        linear, families = map(importlib.import_module, _OF_GLM)
        model = linear.GLM(y.astype(float), X, family=families.Binomial(), freq_weights=w)
        with np.errstate(over="ignore"):  # 1 / (1 + exp(-x)) is zero where exp(-x) is infinite
            return model.fit(atol=0.0, rtol=_CLOSE)
    if (w != 1.0).any():
        raise ValueError("a multinomial regression of statsmodels has no weights")
    discrete = importlib.import_module("statsmodels.discrete.discrete_model")
    multinomial = discrete.MNLogit(frame.codes if numbers is None else numbers[frame.codes], X)
    with np.errstate(over="ignore", invalid="ignore"):  # where it gets lost, compare() finds the maximum by itself
        return multinomial.fit(disp=False)


def _as_numbers(levels: Sequence[Any]) -> NDArray[np.intp] | None:
    """The levels (K,) if they are 0 … K − 1 in some order, or texts of these; otherwise None.

    Examples
    --------
    >>> _as_numbers(["1", "0"]), _as_numbers([False, True]), _as_numbers([1, 2])
    (array([1, 0]), array([0, 1]), None)
    """
    places = range(len(levels))
    found = [k for level in levels for k in places if level == k or str(level) == str(k)]
    return np.array(found) if sorted(found) == list(places) else None


def _independent(X: Floats) -> Floats:
    """The columns of X (n, p) without those that are a combination of others."""
    _, R, order = qr(X / np.sqrt((X**2).sum(axis=0)), mode="economic", pivoting=True)
    size = np.abs(R.diagonal())
    return np.asarray(X[:, np.sort(order[: np.count_nonzero(size > _DEPENDENT * size[0])])])
