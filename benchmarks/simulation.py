"""Does the test of fit keep its level, and what are excess error and calibration worth? Samples from a known p(x)."""

import numpy as np
import pandas as pd
from scipy.special import expit

from svmstat import svm

N, SAMPLES, B, FRESH = 200, 200, 99, 4000
SETTINGS = [(0.1, 0.2), (1.0, 0.2), (10.0, 1.0)]


def truth(X):
    return expit(2.0 * X[:, 0] - X[:, 1] ** 2 + 1.0)


def draw(rng, n):
    X = rng.normal(size=(n, 2))
    return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "y": rng.random(n) < truth(X)})


def log_loss(fit, data):
    p = fit.predict_proba(data)[True].to_numpy()
    return -np.mean(np.log(np.where(data["y"], p, 1.0 - p)))


def main():
    print(f"{SAMPLES} samples of n = {N} from p(x, z) = logistic(2x - z^2 + 1); rbf; B = {B}; nominal level 0.05")
    fresh = draw(np.random.default_rng(0), FRESH)
    p = truth(fresh[["x", "z"]].to_numpy())
    bayes_error, bayes_loss = np.minimum(p, 1 - p).mean(), -np.mean(p * np.log(p) + (1 - p) * np.log(1 - p))
    print(f"Bayes error {bayes_error:.4f}, entropy {bayes_loss:.4f}\n")
    print(f"{'':12}{'rejected at 5 %':>22}{'error rates':>40}{'log-loss on fresh data':>30}")
    print(f"{'C':>5}{'gamma':>7}{'pairs':>12}{'parametric':>11}", end="")
    print(f"{'apparent':>12}{'leave-one-out':>15}{'fresh data':>12}{'insample map':>16}{'loo map':>10}")
    for C, gamma in SETTINGS:
        rows = []
        for seed in range(SAMPLES):
            data = draw(np.random.default_rng(1000 + seed), N)
            fit = svm("y ~ x + z", data, C=C, gamma=gamma)
            calibrated = svm("y ~ x + z", data, C=C, gamma=gamma, calibration="loo")
            loo = fit.loo()
            rejected = [fit.gof(B=B, method=method, rng=seed).reject for method in ("pairs", "parametric")]
            error = np.mean(fit.predict(fresh).to_numpy() != fresh["y"].to_numpy())
            rows.append(
                [
                    *rejected,
                    loo.apparent_error,
                    loo.error_rate,
                    error,
                    log_loss(fit, fresh),
                    log_loss(calibrated, fresh),
                ]
            )
        pairs, parametric, apparent, left_out, error, insample, by_loo = np.mean(rows, axis=0)
        print(f"{C:5.1f}{gamma:7.2f}{pairs:12.3f}{parametric:11.3f}", end="")
        print(f"{apparent:12.4f}{left_out:15.4f}{error:12.4f}{insample:16.4f}{by_loo:10.4f}", flush=True)
    se = np.sqrt(0.05 * 0.95 / SAMPLES)
    print(f"\nStandard error of a rejection rate of 0.05: {se:.3f}")
