"""What consistency bands cover, and which map from decision values to probabilities is the best on fresh rows.

Each row of the table has the part, the design, n, the quantity with its nominal value (None if there is none), the mean
over the samples and its standard error.
"""

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import entr, expit

from benchmarks.known import TRUTHS, row
from svmstat import svm
from svmstat.calibration import fit_platt, fit_venn_abers
from svmstat.calibration.venn_abers import held_out
from svmstat.diagnostics import reliability

LEVEL = 0.9
FRESH = 2000
EVENTS = {"balanced": 0.5, "1:10": 1 / 11}

SHAPES = {
    "uniform": lambda rng, n: rng.uniform(size=n),
    "near one half": lambda rng, n: rng.beta(8, 8, n),
    "1:10": lambda rng, n: rng.beta(0.5, 5, n),
    "ten values": lambda rng, n: (rng.integers(0, 10, n) + 0.5) / 10,
}


def rows(quick=False):
    """Both parts; ``quick`` with a tenth of the samples."""
    return [*bands(20 if quick else 200), *maps(10 if quick else 100)]


def bands(samples):
    """Consistency bands of probabilities that are calibrated: outcomes are drawn from them."""
    found = []
    for shape, draw in SHAPES.items():
        for n in (100, 200, 634):
            inside, somewhere = [], []
            for seed in range(samples):
                rng = np.random.default_rng([7, n, seed])
                p = draw(rng, n)
                outside = share_outside(p, rng.random(n) < p, seed)
                inside.append(1.0 - outside)
                somewhere.append(outside > 0.0)
            design = f"calibrated, {shape}"
            found.append(row("calibration: band", design, n, "rows inside the 90 % band", LEVEL, inside))
            found.append(row("calibration: band", design, n, "curves outside it somewhere", None, somewhere))
    return found


def maps(samples):
    """Log loss and Brier score on fresh rows above those of the true probabilities; bands of held-out probabilities."""
    found = []
    for truth, (logit, settings) in TRUTHS.items():
        for balance, share in EVENTS.items():
            for n in (100, 200):
                scores = [compared(logit, share, settings, n, seed) for seed in range(samples)]
                design = f"{truth}, {balance}"
                found += [
                    row(
                        "calibration: maps",
                        design,
                        n,
                        quantity,
                        LEVEL if "inside" in quantity else None,
                        [s[quantity] for s in scores],
                    )
                    for quantity in scores[0]
                ]
    return found


def compared(logit, share, settings, n, seed):
    """The numbers of one sample, which has two rows of either class at least."""
    rng = np.random.default_rng([11, n, seed])
    X = rng.normal(size=(FRESH, 2))
    shift = brentq(lambda c: expit(logit(X) + c).mean() - share, -30.0, 30.0)
    p = expit(logit(X) + shift)
    data, event = sample(rng, n, lambda x: expit(logit(x) + shift))
    fit = svm("y ~ x + z", data, event=True, calibration="insample", scale=False, **settings)
    y, ones = np.where(event, 1.0, -1.0), np.ones(n)
    left_out = fit.loo().decision_values.to_numpy()
    fresh = np.asarray(fit.decision_function(pd.DataFrame(X, columns=["x", "z"])))
    by_loo, by_venn_abers = fit_platt(left_out, y, ones), fit_venn_abers(left_out, y, ones)
    calibrated = {"Platt, in-sample": fit.insample, "Platt, leave-one-out": by_loo, "Venn-Abers": by_venn_abers}
    numbers = {}
    for name, each in calibrated.items():
        of_event, of_other = (each.log_likelihoods(fresh, np.full(FRESH, label)) for label in (1.0, -1.0))
        excess = -p * of_event - (1.0 - p) * of_other - entr(p) - entr(1.0 - p)
        numbers[f"log loss above the truth's, {name}"] = excess.mean()
        numbers[f"Brier score above the truth's, {name}"] = np.mean((p - each.probability(fresh)) ** 2)
    for name in ("Platt, in-sample", "Venn-Abers"):
        numbers[f"log loss, {name} minus Platt, leave-one-out"] = (
            numbers[f"log loss above the truth's, {name}"] - numbers["log loss above the truth's, Platt, leave-one-out"]
        )
    others = ~np.eye(n, dtype=bool)
    platt = np.array([fit_platt(left_out[o], y[o], ones[1:]).probability(left_out[k]) for k, o in enumerate(others)])
    numbers["rows inside the 90 % band, Platt, leave-one-out"] = 1.0 - share_outside(platt, event, seed)
    held = held_out(left_out, y, ones).probability
    numbers["rows inside the 90 % band, Venn-Abers"] = 1.0 - share_outside(held, event, seed)
    return numbers


def sample(rng, n, probability):
    """Rows with two events and two others at least."""
    while True:
        X = rng.normal(size=(n, 2))
        event = rng.random(n) < probability(X)
        if 2 <= event.sum() <= n - 2:
            return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "y": event}), event


def share_outside(p, event, seed):
    """Of the rows whose recalibrated probability is outside the band."""
    prob, codes = np.column_stack([1.0 - p, p]), event.astype(np.intp)
    found = reliability(prob, codes, np.ones(len(p)), (False, True), 1, level=LEVEL, rng=seed)
    return found.table["share_outside"].iloc[0]
