"""The report of a fit: one HTML page with its resampling statistics, that needs nothing but itself."""

from functools import partial
from typing import Any

import numpy as np

from svmstat._tools.checks import at_least, between, one_of
from svmstat._tools.randomness import check_draws
from svmstat.diagnostics.envelope import LEAST
from svmstat.diagnostics.gof import METHODS
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
    rows and calibration; of a precomputed kernel without the model, the terms and the effects.

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
        If B, method, level, rng, n_jobs or progress cannot be used.
    DataError, UnavailableError
        If the method that is asked for cannot, as in `SVMResults.gof`.

    Examples
    --------
    >>> from svmstat import datasets, svm
    >>> fit = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel").iloc[::4])
    >>> page = report(fit, B=19, rng=1)
    >>> page.count("<img"), "http" in page
    (7, False)
    """
    at_least("B", B, 1)
    between("level", level, 0.0, 1.0)
    check_draws(rng, n_jobs, progress)
    if method is not None:
        one_of("method", method, METHODS)
    seed = int(np.random.default_rng().integers(2**32)) if rng is None else rng
    shown_seed, how = seed_text(seed), (n_jobs, progress)  # a Generator has moved on afterwards
    influence = fit.get_influence(*how)
    copies = fit.weight_type == "probability" or not influence.no_copies
    used = method or ("residual" if copies and not influence.loo.n_failed else "pairs")
    together = influence if used == "residual" and B >= LEAST and influence.has_lines else None
    test = partial(fit.gof, B, used, level, seed, n_jobs=n_jobs, progress=progress, envelope_of=together)
    gof = None if method is None else test()  # what is asked for may be refused, and then at once
    loo, of_rows = fit.loo(), fit.kernel.of_rows
    summary, predicted = fit.summary().as_html(), tuple(prediction(loo))
    beside, tested = tuple(beside_logistic(fit, *how)), tuple(terms(fit, *how)) if of_rows else ()
    calibrated = tuple(calibration(fit, loo))
    gof = test() if gof is None else gof  # which a second process compiles for meanwhile, in a new installation
    if influence.has_lines and together is None:
        influence.envelope(max(B, LEAST), _another(seed, 1), n_jobs, progress)
    parts = {
        "Summary": (summary,),
        f"Prediction error by {loo.how}": predicted,
        "Beside a logistic model": beside,
        "Goodness of fit": goodness(gof),
    }
    if of_rows:
        replicates = replicates_for(fit, B, _another(seed, 2), *how)
        if isinstance(fit.kernel, Additive):
            parts["Functions of the terms"] = functions(fit, replicates)
        parts["Terms"] = tested
        parts["Effects"] = effects(fit, replicates, *how)
    parts |= {
        "Influential groups" if influence.grouped else "Influential rows": influential(fit, influence, level),
        "Calibration": calibrated,
        "How this was made": provenance(fit, gof, shown_seed, call),
    }
    sections = [Section(title, tuple(elements)) for title, elements in parts.items()]
    return page(f"Support vector machine: {fit.response_name}", abridged(fit.formula), sections)


def _another(seed: Any, which: int) -> Any:
    """Where the envelopes and the bands come from: other random numbers than those of the test."""
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng([seed, which])
