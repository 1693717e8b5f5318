"""How a report was made: the call, seeds, versions."""

import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from typing import Any

import numpy as np

from svmstat.diagnostics import GofResult
from svmstat.kernels import Additive, arguments_of
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.rendering.values import literal, one_line
from svmstat.reporting.summary import Summary
from svmstat.results import SVMResults

_PACKAGES = ("svmstat", "numpy", "scipy", "pandas", "numba", "matplotlib")


def provenance(fit: SVMResults, gof: GofResult, seed: str, call: str | None) -> Iterator[str]:
    """The call, the test, seeds and versions."""
    yield f"<pre>{escape(call if call is not None else call_text(fit))}</pre>"
    chosen = () if fit.optimism is None else (Entry("Not in that call", "cost and kernel were chosen by tune()"),)
    made = Block(
        wide=(
            *chosen,
            Entry("Test of the fit", f"B = {gof.B}, method {gof.method}, level {gof.level:g}"),
            Entry("Seed", seed),
            Entry("Date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
            Entry("Versions", ", ".join([*(f"{name} {version(name)}" for name in _PACKAGES), _python()])),
        )
    )
    yield Summary("How this was made", (made,)).as_html()


def call_text(fit: SVMResults) -> str:
    """The call of `svm`, with an ellipsis for arguments of which the fit knows only that they were given."""
    made = _of_terms(fit) if isinstance(fit.kernel, Additive) else arguments_of(fit.kernel)
    arguments: dict[str, Any] = {
        "loss": fit.loss,
        "kernel": made.get("kernel"),
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
    if fit.weight_type != "frequency":
        arguments["weight_type"] = fit.weight_type
    if fit.groups is not None:
        arguments["groups"] = ...
    if getattr(getattr(fit, "call", None), "given", {}).get("subset") is not None:
        arguments["subset"] = ...
    listed = (f"{name}={literal(value)}" for name, value in arguments.items() if value is not None)
    return f"svm({fit.formula!r}, data, {', '.join(listed)})"


def _of_terms(fit: SVMResults) -> dict[str, Any]:
    """What was said of the kernels of an additive fit, whose terms the formula has."""
    given = getattr(getattr(fit, "call", None), "given", {})
    return {name: given[name] for name in ("kernel", "gamma", "degree", "coef0", "theta") if name in given}


def seed_text(rng: Any) -> str:
    """A seed, or what kind of generator was given."""
    if isinstance(rng, np.random.Generator):
        return f"a generator that was given ({type(rng.bit_generator).__name__})"
    return one_line(rng)


def _python() -> str:
    return f"Python {platform.python_version()}"
