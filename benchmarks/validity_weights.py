"""Uneven probability weights: what the standard errors of held-out numbers cover, and sets of labels hold.

Weights are exp(σ N(0, 1)), independent of all else, or exp(1.5 x), as if large x had been drawn less often than it is
met; n rows of them count as (Σw)² / Σw² of one weight [Kish 1965], given in the mean over samples. The logit is
1.5 x + z, and fits are of the default machine. Targets are weighted means over fresh rows: what fits to such samples
are worth, in the mean ("coverage"), and what the fit itself is worth ("own fit"); the difference of scores is that of
the default machine from a linear one, and sets of labels are to hold nine in ten.
"""

import warnings

import joblib
import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.known import row
from benchmarks.validity_evidence import covered
from svmstat import compare, svm
from svmstat.errors import SvmstatWarning
from svmstat.objective import predictive
from svmstat.objective.units import effective_count

FRESH, SAMPLES, LEVEL = 4000, 200, 0.9
DESIGNS = {
    "weights exp(2 N)": (200, 0.0, 2.0),
    "weights exp(1.5 N)": (200, 0.0, 1.5),
    "weights exp(1.5 N), 600 rows": (600, 0.0, 1.5),
    "weights exp(1.5 x)": (200, 1.5, 0.0),
}
"""Rows, and what log weights have of x and of a normal number that nothing depends on."""


def rows(quick=False):
    """All designs; ``quick`` with a tenth of the samples."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for name, (n, *_) in DESIGNS.items():
            samples = range(SAMPLES // 10 if quick else SAMPLES)
            table = pd.DataFrame(joblib.Parallel()(joblib.delayed(of_sample)(name, seed) for seed in samples))
            kish, sets = table.pop(("kish", "")), [table.pop(("set", level)) for level in (0, 1)]
            found += covered(name, n, table)
            found.append(row("weights", name, n, "rows of one weight that they count as", None, kish))
            found += [
                row("weights", name, n, f"set of level {level} holds it", LEVEL, each)
                for level, each in enumerate(sets)
            ]
            for quantity in dict.fromkeys(quantity for quantity, _ in table.columns):
                spread = table[quantity, "value"].std(ddof=1)
                ratio = (table[quantity, "se"] / spread).dropna()
                found.append(row("weights", name, n, f"standard error of {quantity} over its sd", 1.0, ratio))
    return found


def of_sample(name, seed):
    """Held-out numbers of one sample, their standard errors, and the numbers on fresh rows; scores are means."""
    n, *slopes = DESIGNS[name]
    rng = np.random.default_rng([59, n, seed])
    data, new = (sample(rng, m, *slopes) for m in (n, FRESH))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SvmstatWarning)
        given = {"weights": "w", "weight_type": "probability"}
        fit, linear = (svm("y ~ x + z", data, kernel=kernel, **given) for kernel in ("rbf", "linear"))
        loo, both = fit.loo(n_jobs=1), compare(fit, linear).table.iloc[1]
        held = loo.estimates() | next(loo.by_level())[1]
        shares = np.bincount(data["y"], data["w"]) / n
        truth, truth_linear = worth(fit, new, shares), worth(linear, new, shares)
        holds = fit.predict_set(new, level=LEVEL)
    held["score"] = predictive.Estimate(held["score"].value / n, held["score"].se / n)
    held["difference"] = predictive.Estimate(both["delta"] / n, both["delta_se"] / n)
    truth["difference"] = truth_linear["score"] - truth["score"]
    found = {
        (quantity, part): number
        for quantity, fresh in truth.items()
        for part, number in (("value", held[quantity].value), ("se", held[quantity].se), ("fresh", fresh))
    }
    found["kish", ""] = effective_count(data["w"].to_numpy())
    for level in (0, 1):
        own = (new["y"] == level).to_numpy()
        found["set", level] = np.average(np.asarray(holds)[own, level], weights=new["w"].to_numpy()[own])
    return found


def worth(fit, new, shares):
    """The numbers on fresh rows, weighted, with the shares (2,) of the levels in the sample."""
    p, f = fit.predict_proba(new).to_numpy()[:, 1], fit.decision_function(new).to_numpy()
    event, w = new["y"].to_numpy() == 1, new["w"].to_numpy()
    own = np.where(event, p, 1.0 - p)
    score, null = (np.average(-2.0 * np.log(each), weights=w) for each in (own, shares[event.astype(int)]))
    line = predictive.calibration_line(p, event, w)
    return {
        "score": score,
        "ratio": 1.0 - score / null,
        "brier": predictive.brier(np.column_stack([1.0 - p, p]), event.astype(int), w).value,
        "error_rate": np.average((f > 0) != event, weights=w),
        "auc": predictive.auc(f, event, w).value,
        "sensitivity": np.average(f[event] > 0, weights=w[event]),
        "specificity": np.average(f[~event] <= 0, weights=w[~event]),
        "calibration_slope": line.slope.value,
        "calibration_intercept": line.intercept.value,
    }


def sample(rng, n, of_x, of_other):
    """n rows, with weights of mean one."""
    x, z, other = rng.normal(size=(3, n))
    w = np.exp(of_x * x + of_other * other)
    return pd.DataFrame({"x": x, "z": z, "y": (rng.random(n) < expit(1.5 * x + z)).astype(int), "w": w / w.mean()})
