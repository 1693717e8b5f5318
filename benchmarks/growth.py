"""How the time of a fit and of its leave-one-out grows with n; draws benchmarks/results/growth.png."""

from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.loo_engine import seconds
from benchmarks.problems import banana, interaction
from svmstat import losses
from svmstat.calibration import fit_platt
from svmstat.kernels import RBF
from svmstat.machine import fit_machine
from svmstat.resampling import leave_one_out

SIZES = (500, 1000, 2000, 4000, 8000)
FIGURE = Path(__file__).parent / "results" / "growth.png"


def main():
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    print(f"{'data':18}{'n':>6}{'fit s':>9}{'loo s':>9}  free vectors")
    for name, draw, gamma, C, style in (
        ("banana", banana, 5.0, 1.0, "o-"),
        ("interaction, p = 5", lambda n: interaction(n, 5), 0.2, 1.0, "s--"),
    ):
        times = []
        for n in SIZES:
            X, y = draw(n)
            ones = np.ones(len(y))
            fit, machine = seconds(partial(fit_machine, RBF(gamma), X, y, ones, C=C, loss=losses.hinge()))
            platt = fit_platt(machine.decision_values, y, machine.weights)
            loo, _ = seconds(partial(leave_one_out, machine, platt, n_jobs=2))
            times.append((fit, loo))
            print(f"{name:18}{n:6d}{fit:9.3f}{loo:9.2f}  {machine.solution.free.sum()}", flush=True)
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
