"""The report of a fit: one HTML page with its resampling statistics, that needs nothing but itself."""

import base64
import platform
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from svmstat.diagnostics import GofResult, InfluenceResult, LooResult
from svmstat.diagnostics.influence import ENVELOPE_NOTE, LEAST
from svmstat.diagnostics.influence import NOTES as INFLUENCE_NOTES
from svmstat.diagnostics.reliability import SAMPLES
from svmstat.kernels import arguments_of
from svmstat.reporting.plots import panels_size, svg
from svmstat.reporting.plots.style import Axes, percent
from svmstat.reporting.rendering.parts import Block, Entry, Table
from svmstat.reporting.rendering.values import one_line
from svmstat.reporting.summary import Summary
from svmstat.results.fit import SVMResults

MOST_ROWS = 40
"""The longest table of influential rows."""

_WIDE, _SQUARE = (5.2, 3.3), (4.3, 4.7)
_SEED = 0  # of the bands of the reliability diagram
_PIXELS = 115  # per inch, for letters as large as those of the page

_METHODS = {
    "residual": "responses drawn from the probabilities that the fit reports",
    "pairs": "rows drawn with replacement",
    "parametric": "responses drawn from the in-sample probabilities",
}
_PACKAGES = ("svmstat", "numpy", "scipy", "pandas", "numba", "matplotlib")
_HEADERS = {
    "delta_deviance": "ΔD",
    "own": "own",
    "others": "others",
    "outlyingness": "−2 log π",
    "rms_change": "rms Δf",
}

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{color-scheme: light}}
body {{font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
 max-width: 46em; margin: 0 auto; padding: 1.5em 1em 3em; overflow-wrap: break-word}}
h1 {{font-size: 1.5em; line-height: 1.25; margin: 0 0 .4em}}
h2 {{font-size: 1.15em; margin: 2.2em 0 .5em}}
p {{margin: .5em 0}}
code, pre {{font: .9em/1.45 ui-monospace, monospace}}
pre {{background: #f4f4f4; padding: .6em .8em; margin: .5em 0; white-space: pre-wrap; overflow-wrap: anywhere}}
figure {{margin: 1em 0; break-inside: avoid}}
figure img {{display: block; max-width: 100%; height: auto}}
figcaption {{font-size: .9em; color: #444; margin-top: .3em}}
.svmstat p.title {{display: none}}
.svmstat .cells th {{overflow-wrap: normal; white-space: nowrap}}
@media (max-width: 36em) {{
 body {{font-size: 15px}}
 .influence .svmstat .cells {{font-size: .85em}}
 .influence .svmstat .cells td, .influence .svmstat thead th + th {{padding-left: .7em}}
}}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def report(
    fit: SVMResults,
    *,
    B: int = 199,
    method: str = "residual",
    level: float = 0.95,
    rng: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
    call: str | None = None,
) -> str:
    """A fit with its leave-one-out statistics, goodness of fit, influential rows and calibration, as a web page.

    Parameters
    ----------
    fit : SVMResults
    B : int
        Replicates of the goodness of fit, and of the envelopes of influence, at least 99 of these.
    method : {"residual", "pairs", "parametric"}
        The test of the fit, as in `SVMResults.gof`.
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
    >>> fit = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel"))
    >>> page = report(fit, B=19, rng=1)
    >>> page.count("<img"), "http" in page
    (5, False)
    """
    seed = int(np.random.default_rng().integers(2**32)) if rng is None else rng
    shown_seed = _seed(seed)  # a Generator has moved on afterwards
    gof = fit.gof(B=B, method=method, level=level, rng=seed, n_jobs=n_jobs, progress=progress)
    loo = fit.loo(n_jobs=n_jobs, progress=progress)
    influence = fit.get_influence()
    if _draws_labels(fit):
        influence.envelope(max(B, LEAST), _another(seed), n_jobs, progress)
    title = f"Support vector machine: {fit.response_name}"
    sections = [
        f"<h1>{escape(title)}</h1>",
        f"<pre>{escape(fit.formula)}</pre>",
        _section("Summary", fit.summary().as_html()),
        _section("Prediction error by leave-one-out", *_prediction(loo)),
        _section("Goodness of fit", *_goodness(gof)),
        _section("Influential rows", *_influence(fit, influence, level)),
        _section("Calibration", *_calibration(fit, loo)),
        _section("How this was made", *_provenance(fit, gof, shown_seed, call)),
    ]
    return _PAGE.format(title=escape(title), body="\n".join(sections))


def _section(title: str, *elements: str) -> str:
    return "\n".join([f"<section>\n<h2>{escape(title)}</h2>", *elements, "</section>"])


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _figure(draw: Callable[[Axes], object], size: tuple[float, float], name: str, caption: str) -> str:
    """An image with its data: two SVG files in one page would share their ids."""
    data = base64.b64encode(svg(draw, size).encode()).decode()
    width, height = (round(_PIXELS * inches) for inches in size)
    image = f'<img width="{width}" height="{height}" alt="{escape(name)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def _prediction(loo: LooResult) -> Iterator[str]:
    yield _paragraph(
        "Each row is predicted by the fit, and by the map from decision values to probabilities, without this row. The "
        "excess error is the leave-one-out error minus the apparent error."
    )
    yield loo.summary().as_html()


def _goodness(gof: GofResult) -> Iterator[str]:
    failed = f" {gof.n_failed} of {gof.B} replicates failed and do not count." if gof.n_failed else ""
    yield _paragraph(gof.verdict + failed)
    yield gof.summary().as_html()
    what = "Statistics T" if gof.by_residuals else "Deviances"
    yield _figure(
        lambda ax: gof.plot(ax=ax),
        _WIDE,
        "Histogram of the replicates of the statistic, with that of the fit",
        f"{what} of {gof.B} replicates ({_METHODS[gof.method]}).",
    )


def _influence(fit: SVMResults, influence: InfluenceResult, level: float) -> Iterator[str]:
    yield _paragraph(INFLUENCE_NOTES[0])
    by_chance = influence.has_envelope
    if by_chance:
        beyond = influence.beyond(level)
        above = beyond[["delta_deviance", "outlyingness", "rms_change"]].any(axis=1).to_numpy()
        yield _paragraph(
            f"{_rows(int(above.sum()))} of {fit.n_rows} {'lies' if above.sum() == 1 else 'lie'} above an envelope. "
            f"{ENVELOPE_NOTE}"
        )
        yield _figure(
            lambda ax: influence.plot(level=level, ax=ax),
            _WIDE,
            "Outlyingness against influence",
            "How badly each row is predicted without it, against what it does to the fit; labelled by the index of the "
            "data beyond an envelope.",
        )
    else:
        above = (influence.delta_deviance > influence.critical_value(level)).to_numpy()
        yield _paragraph(
            f"The weights are no whole numbers, so that no envelope can be drawn: {_rows(int(above.sum()))} of "
            f"{fit.n_rows} {'lies' if above.sum() == 1 else 'lie'} above the {percent(level)} point of χ²(1) [003], "
            "which is no reference for the largest of all rows."
        )
    yield _figure(
        lambda ax: influence.plot_index(level=level, reference="envelope" if by_chance else "chi2", ax=ax),
        _WIDE,
        "Index plot of the deletion deviances",
        "Deletion deviances of all rows, labelled by the index of the data where they lie above the line.",
    )
    yield _paragraph(INFLUENCE_NOTES[1])
    if by_chance:
        yield f'<div class="influence">{influence.summary().as_html()}</div>'
    if above.any():
        yield from _rows_above(fit, influence, np.flatnonzero(above))


def _rows_above(fit: SVMResults, influence: InfluenceResult, above: Any) -> Iterator[str]:
    """A table of rows, those of largest ΔD first."""
    table = influence.summary_frame()
    above = above[np.argsort(-table["delta_deviance"].to_numpy()[above], kind="stable")]
    shown = above[:MOST_ROWS]
    cells = pd.DataFrame({_HEADERS[name]: table[name].to_numpy()[shown] for name in _HEADERS})
    cells.insert(0, "observed", [str(label) for label in _observed(fit)[shown]])
    cells.index = pd.Index([str(label) for label in fit.frame.index[shown]])
    styles = ["share"] * cells.shape[1]  # four decimals, for the table to fit a narrow window
    rest = len(above) - len(shown)
    notes = ["π: the held-out probability of what was observed. Δf: the change of f at all rows without this one."]
    if rest:
        notes.append(f"{_rows(rest)} more above a line.")
    part = Table.from_frame(cells, styles, "Rows above a line")
    yield f'<div class="influence">{Summary("Rows above a line", (part,), tuple(notes)).as_html()}</div>'


def _draws_labels(fit: SVMResults) -> bool:
    """Whether every copy of a row can draw a label."""
    return bool((fit.frame.weights == np.round(fit.frame.weights)).all())


def _another(seed: Any) -> Any:
    """Where the envelopes come from: other random numbers than those of the test."""
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng([seed, 1])


def _observed(fit: SVMResults) -> Any:
    """The observed level of each row (n,), empty in a row of weight zero whose level no other row has."""
    return np.array([*map(str, fit.classes), ""])[fit.frame.codes]


def _calibration(fit: SVMResults, loo: LooResult) -> Iterator[str]:
    size = _SQUARE if fit.event is not None else panels_size(len(fit.classes))
    reliability = loo.reliability(B=SAMPLES if _draws_labels(fit) else 0, rng=_SEED)
    yield reliability.summary().as_html()
    yield _figure(
        lambda ax: reliability.plot(ax=ax),
        size,
        "Reliability diagram of the leave-one-out probabilities",
        f"Leave-one-out probabilities of {_predicted(fit)} against their isotonic recalibration.",
    )
    yield _figure(
        lambda ax: loo.plot_calibration(ax=ax),
        size,
        "Calibration plot of the leave-one-out probabilities",
        f"Leave-one-out probabilities of {_predicted(fit)} against how often it was observed. "
        "Calibrated probabilities lie on the diagonal.",
    )


def _predicted(fit: SVMResults) -> str:
    return f"every level of {fit.response_name}" if fit.event is None else f"{fit.response_name} = {fit.event}"


def _provenance(fit: SVMResults, gof: GofResult, seed: str, call: str | None) -> Iterator[str]:
    yield f"<pre>{escape(call if call is not None else _call(fit))}</pre>"
    made = Block(
        wide=(
            Entry("Test of the fit", f"B = {gof.B}, method {gof.method}, level {gof.level:g}"),
            Entry("Seed", seed),
            Entry("Date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
            Entry("Versions", ", ".join([*(f"{name} {version(name)}" for name in _PACKAGES), _python()])),
        )
    )
    yield Summary("How this was made", (made,)).as_html()


def _call(fit: SVMResults) -> str:
    """The call of `svm`, with an ellipsis for arguments of which the fit knows only that they were given."""
    made = arguments_of(fit.kernel)
    arguments: dict[str, Any] = {
        "loss": fit.loss,
        "kernel": made["kernel"],
        "C": fit.C if fit.nu is None else None,
        "nu": fit.nu,
        **made,
        "class_weight": fit.class_weight if fit.decision.costs is None and fit.priors is None else None,
        "costs": fit.decision.costs,
        "priors": fit.priors,
        "event": fit.event,
        "scale": fit.scaled,
        "calibration": fit.asked,
        "coupling": getattr(fit, "coupling", None),
    }
    if fit.weights_given:
        arguments["weights"] = ...
    if fit.n_outside_subset:
        arguments["subset"] = ...
    listed = (f"{name}={_literal(value)}" for name, value in arguments.items() if value is not None)
    return f"svm({fit.formula!r}, data, {', '.join(listed)})"


def _literal(value: Any) -> str:
    """The value as Python writes it: numpy's numbers without their type."""
    if value is ...:
        return "…"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(each)}" for key, each in value.items()) + "}"
    return repr(value.item() if isinstance(value, np.generic) else value)


def _seed(rng: Any) -> str:
    if isinstance(rng, np.random.Generator):
        return f"a generator that was given ({type(rng.bit_generator).__name__})"
    return one_line(rng)


def _python() -> str:
    return f"Python {platform.python_version()}"


def _rows(count: int) -> str:
    return f"{count} {'row' if count == 1 else 'rows'}"
