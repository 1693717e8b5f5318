"""What a fit is worth: rows that are left out, the test of the fit, calibration."""

from collections.abc import Iterator

import numpy as np

from svmstat.diagnostics import GofResult, LooResult
from svmstat.diagnostics.reliability import SAMPLES
from svmstat.objective.units import are_groups
from svmstat.report.page import figure, paragraph
from svmstat.reporting.plots import panels_size
from svmstat.results import SVMResults

WIDE, _SQUARE = (5.2, 3.3), (4.3, 4.7)
_SEED = 0  # of the bands of the reliability diagram

_METHODS = {
    "residual": "responses drawn from the probabilities that the fit reports",
    "parametric": "responses drawn from the in-sample probabilities",
}


def prediction(loo: LooResult) -> Iterator[str]:
    """Numbers of rows that are left out."""
    what = "row's whole group" if are_groups(loo.units) else "row"
    yield paragraph(
        f"Each row is predicted by the fit, and by the map from decision values to probabilities, without this {what}. "
        f"The excess error is the {loo.how} error minus the apparent error."
    )
    yield loo.summary().as_html()


def goodness(gof: GofResult) -> Iterator[str]:
    """The test of the fit, with its replicates."""
    failed = f" {gof.n_failed} of {gof.B} replicates failed and do not count." if gof.n_failed else ""
    yield paragraph(gof.verdict + failed)
    yield gof.summary().as_html()
    good = gof.B - gof.n_failed
    if not good:
        return
    what = "Statistics T" if gof.by_residuals else "Deviances"
    drawn = gof.drawn if gof.method == "pairs" else _METHODS[gof.method]
    yield figure(
        lambda ax: gof.plot(ax=ax),
        WIDE,
        "Histogram of the replicates of the statistic, with that of the fit",
        f"{what} of {good} replicates ({drawn}).",
    )


def calibration(fit: SVMResults, loo: LooResult) -> Iterator[str]:
    """Held-out probabilities against what was observed."""
    if np.isnan(loo.probability[loo.weights > 0]).any(axis=1).all():
        yield paragraph("No row has a held-out probability, and nothing says whether those of the fit are calibrated.")
        return
    size = _SQUARE if fit.event is not None else panels_size(len(fit.classes))
    reliability = loo.reliability(B=SAMPLES if loo.draws_labels else 0, rng=_SEED)
    yield reliability.summary().as_html()
    yield figure(
        lambda ax: reliability.plot(ax=ax),
        size,
        f"Reliability diagram of the {loo.how} probabilities",
        f"{loo.how.capitalize()} probabilities of {_predicted(fit)} against their isotonic recalibration.",
    )
    yield figure(
        lambda ax: loo.plot_calibration(ax=ax),
        size,
        f"Calibration plot of the {loo.how} probabilities",
        f"{loo.how.capitalize()} probabilities of {_predicted(fit)} against how often it was observed. "
        "Calibrated probabilities lie on the diagonal.",
    )


def _predicted(fit: SVMResults) -> str:
    return f"every level of {fit.response_name}" if fit.event is None else f"{fit.response_name} = {fit.event}"
