"""Which terms ``tune(theta="cosso")`` finds, beside the columns of an L1 logistic regression and of a random forest.

x is uniform on [0, 1]^10, logit P(y = 1) = 4 sin 2πx₁ + 24 (x₂ − ½)² − 2 + 5 (x₃ − ½) + 3 cos 4πx₄: four true terms,
six of noise. COSSO has a spline term for each column. The logistic regression has the columns themselves, its penalty
by five folds; the forest is said to find the columns whose importance is above the mean. Neither knows of the shape of
a term, and the one cannot see x₂ and x₄.
"""

import warnings

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegressionCV

from benchmarks.known import row
from svmstat import tune

SIZES, SAMPLES, TRUE, COLUMNS = (100, 200, 400), 100, 4, 10
FORMULA = "y ~ " + " + ".join(f"s(x{k})" for k in range(1, COLUMNS + 1))


def rows(quick=False):
    """All true terms found, and the number of false ones, by each method; ``quick`` with four samples of each size."""
    found = []
    with joblib.parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for n in SIZES:
            tasks = range(4 if quick else SAMPLES)
            results = joblib.Parallel()(joblib.delayed(selected)(n, seed) for seed in tasks)
            for name in results[0]:
                chosen = np.array([each[name] for each in results])
                where = f"ten columns, {name}", n
                all_true = chosen[:, :TRUE].all(axis=1)
                found.append(row("selection", *where, "all true terms found", None, all_true.astype(float)))
                found.append(row("selection", *where, "true terms found", None, chosen[:, :TRUE].sum(axis=1)))
                found.append(row("selection", *where, "false terms found", None, chosen[:, TRUE:].sum(axis=1)))
    return found


def drawn(n, seed):
    """A sample (n, 10) with its response."""
    rng = np.random.default_rng([23, n, seed])
    x = rng.uniform(size=(n, COLUMNS))
    logit = 4.0 * np.sin(2.0 * np.pi * x[:, 0]) + 24.0 * (x[:, 1] - 0.5) ** 2 - 2.0
    logit += 5.0 * (x[:, 2] - 0.5) + 3.0 * np.cos(4.0 * np.pi * x[:, 3])
    data = pd.DataFrame(x, columns=[f"x{k}" for k in range(1, COLUMNS + 1)])
    return data.assign(y=(rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-logit))).astype(int))


def selected(n, seed):
    """Which columns (10,) each method finds in one sample."""
    data = drawn(n, seed)
    X, y = data.drop(columns="y").to_numpy(), data["y"].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cosso = tune(FORMULA, data, theta="cosso", kernel="spline", calibration="insample", rng=seed)
        logistic = LogisticRegressionCV(penalty="l1", solver="liblinear", cv=5, random_state=seed).fit(X, y)
    forest = RandomForestClassifier(200, random_state=seed).fit(X, y)
    return {
        "cosso": np.array(list(cosso.best_params["theta"].values())) > 0.0,
        "L1 logistic": logistic.coef_[0] != 0.0,
        "forest": forest.feature_importances_ > 1.0 / COLUMNS,
    }
