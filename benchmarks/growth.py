"""How the time of a fit and of its leave-one-out grows with n, the less of two; draws benchmarks/results/growth.png."""

from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt

from benchmarks.loo_engine import seconds
from benchmarks.problems import banana, interaction, two_class_machine
from svmstat.calibration import fit_maps
from svmstat.kernels import RBF
from svmstat.resampling import leave_one_out

SIZES = (500, 1000, 2000, 4000, 8000)
FIGURE = Path(__file__).parent / "results" / "growth.png"


def timed(draw, n, gamma, C):
    """Seconds of a fit and of its leave-one-out, and the fit."""
    X, y = draw(n)
    fit, machine = seconds(partial(two_class_machine, RBF(gamma), X, y, C))
    loo, _ = seconds(partial(leave_one_out, machine, fit_maps(machine), n_jobs=2))
    return fit, loo, machine


def main():
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    print(f"{'data':18}{'n':>6}{'fit s':>9}{'loo s':>9}  free vectors")
    for name, draw, gamma, C, style in (
        ("banana", banana, 5.0, 1.0, "o-"),
        ("interaction, p = 5", lambda n: interaction(n, 5), 0.2, 1.0, "s--"),
    ):
        times = []
        for n in SIZES:
            (fit, loo, machine), (again, loo_again, _) = timed(draw, n, gamma, C), timed(draw, n, gamma, C)
            fit, loo = min(fit, again), min(loo, loo_again)
            times.append((fit, loo))
            print(f"{name:18}{n:6d}{fit:9.3f}{loo:9.2f}  {machine.pairs[0].solution.free.sum()}", flush=True)
        for column, what in enumerate(("fit", "leave-one-out")):
            colour = ("#888888", "#1f5a94")[column]
            ax.loglog(SIZES, [t[column] for t in times], style, color=colour, label=f"{what}, {name}")
    ax.set_xlabel("rows n")
    ax.set_ylabel("seconds, two cores")
    ax.set_xticks(SIZES, labels=[str(n) for n in SIZES])
    ax.minorticks_off()
    ax.legend(frameon=False)
    figure.savefig(FIGURE, dpi=120)
    print(f"drawn: {FIGURE.name}")
