"""The table of the terms of an additive fit."""

import numpy as np
import pandas as pd

from svmstat.kernels import RBF, Additive, Kernel, Linear, Spline
from svmstat.kernels.base import family
from svmstat.machine import Machine, term_sizes
from svmstat.reporting.rendering.parts import Table
from svmstat.reporting.rendering.values import or_none

NOTE = (
    "Terms: f = b + sum of their h, each of mean zero over the rows. theta weighs the kernels, which are of one size; "
    "||h|| is in the space of theta K, and the squares add up to ||h||^2 of the fit; sd is that of h over the rows. "
    "None of these is a test, which fit.drop1() has, and summary(terms=fit.drop1()) with it; fit.plot_terms() shows "
    "how stable the functions are."
)
_OF_PAIRS = " Of several pairs of levels ||h|| and sd are root mean squares."


def term_frame(machine: Machine) -> pd.DataFrame:
    """A row for each term: ``kernel``, ``gamma`` (NaN without one), ``theta``, ``norm``, ``sd``.

    The last two are ‖h_t‖ and the weighted standard deviation of h_t(x_i), root mean squares over several pairs. What
    a test of the terms finds joins them by its index, the names of the terms.
    """
    kernel, sizes = machine.kernel, term_sizes(machine)
    assert isinstance(kernel, Additive)
    columns = {
        "kernel": [_described(each) for each in kernel.kernels],
        "gamma": [_width(each) for each in kernel.kernels],
        "theta": list(kernel.theta),
        "norm": np.sqrt((sizes.norm**2).mean(axis=0)),
        "sd": np.sqrt((sizes.sd**2).mean(axis=0)),
    }
    return pd.DataFrame(columns, index=pd.Index(kernel.names, name="term"))


def term_table(machine: Machine) -> tuple[Table, str]:
    """The table as a summary has it, and what it means."""
    frame = term_frame(machine)
    cells = tuple(
        (kernel, or_none(gamma), theta, norm, sd)
        for kernel, gamma, theta, norm, sd in frame.itertuples(index=False, name=None)
    )
    table = Table(
        headers=("kernel", "gamma", "theta", "||h||", "sd of h"),
        index=tuple(map(str, frame.index)),
        cells=cells,
        styles=("estimate", "setting", "setting", "share", "share"),
        title="Terms",
    )
    return table, NOTE + _OF_PAIRS * (len(machine.pairs) > 1)


def _leaves(kernel: Kernel) -> list[Kernel]:
    return [each for each in family(kernel) if isinstance(each, RBF | Spline | Linear)]


def _described(kernel: Kernel) -> str:
    """The kernels that a term is made of, as ``rbf x rbf``."""
    return " x ".join(each.name for each in _leaves(kernel))


def _width(kernel: Kernel) -> float:
    """γ of the rbf kernels of a term; NaN where there is none, or several that differ."""
    widths = {float(f"{each.gamma:.12g}") for each in _leaves(kernel) if isinstance(each, RBF)}
    return widths.pop() if len(widths) == 1 else float("nan")
