"""The report of a fit: one HTML page with its resampling statistics, that needs nothing but itself."""

from typing import Any

import numpy as np

from svmstat.diagnostics.envelope import LEAST
from svmstat.kernels import Additive
from svmstat.report.evidence import calibration, goodness, prediction
from svmstat.report.influence import influential
from svmstat.report.model import beside_logistic, effects, functions, replicates_for, terms
from svmstat.report.page import Section, page
from svmstat.report.provenance import provenance, seed_text
from svmstat.reporting.rendering.lines import abridged
from svmstat.results import SVMResults

__all__ = ["report"]


def report(
    fit: SVMResults,
    *,
    B: int = 199,
    method: str | None = None,
    level: float = 0.95,
    rng: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
    call: str | None = None,
) -> str:
    """A fit with all that can be said of it, as a web page.

    Summary, prediction error by leave-one-out, a logistic model beside it, goodness of fit, terms, effects, influential
    rows and calibration.

    Parameters
    ----------
    fit : SVMResults
    B : int
        Replicates of the goodness of fit, and of the envelopes of influence, at least 99 of these.
    method : {"residual", "pairs", "parametric"}, optional
        The test of the fit, as in `SVMResults.gof`; by default "residual", which needs labels for the copies of the
        rows and predictions of all of them without their row, or group; where there are none of either, "pairs".
    level : float
        Of the percentile of the test and of the lines in the influence plots.
    rng : int or numpy.random.Generator, optional
        By default a seed is drawn, and printed.
    n_jobs : int, optional
        Of joblib.
    progress : bool
        Whether to show progress bars.
    call : str, optional
        The call to print; by default that of `svm`, as far as the fit knows it.

    Returns
    -------
    str
        HTML, without references to anything outside.

    Raises
    ------
    ArgumentError
        If B, method, level or rng cannot be used.

    Examples
    --------
    >>> from svmstat import datasets, svm
    >>> fit = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel").iloc[::4])
    >>> page = report(fit, B=19, rng=1)
    >>> page.count("<img"), "http" in page
    (7, False)
    """
    seed = int(np.random.default_rng().integers(2**32)) if rng is None else rng
    shown_seed, how = seed_text(seed), (n_jobs, progress)  # a Generator has moved on afterwards
    influence = fit.get_influence(*how)
    if method is None:
        copies = fit.weight_type == "probability" or not influence.no_copies
        method = "residual" if copies and not influence.loo.n_failed else "pairs"
    together = influence if method == "residual" and B >= LEAST and influence.has_lines else None
    gof = fit.gof(B, method, level, seed, n_jobs=n_jobs, progress=progress, envelope_of=together)
    loo = fit.loo()
    if influence.has_lines and together is None:
        influence.envelope(max(B, LEAST), _another(seed, 1), n_jobs, progress)
    parts = {
        "Summary": [fit.summary().as_html()],
        f"Prediction error by {loo.how}": prediction(loo),
        "Beside a logistic model": beside_logistic(fit, *how),
        "Goodness of fit": goodness(gof),
    }
    if fit.kernel.of_rows:
        replicates = replicates_for(fit, B, _another(seed, 2), *how)
        if isinstance(fit.kernel, Additive):
            parts["Functions of the terms"] = functions(fit, replicates)
        parts["Terms"] = terms(fit, *how)
        parts["Effects"] = effects(fit, replicates, *how)
    parts |= {
        "Influential groups" if influence.grouped else "Influential rows": influential(fit, influence, level),
        "Calibration": calibration(fit, loo),
        "How this was made": provenance(fit, gof, shown_seed, call),
    }
    sections = [Section(title, tuple(elements)) for title, elements in parts.items()]
    return page(f"Support vector machine: {fit.response_name}", abridged(fit.formula), sections)


def _another(seed: Any, which: int) -> Any:
    """Where the envelopes and the bands come from: other random numbers than those of the test."""
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng([seed, which])
