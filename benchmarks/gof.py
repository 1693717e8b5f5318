"""Bootstrapped deviances against the same work by scikit-learn and joblib, with equal cores; the default test."""

import joblib
import numpy as np
from sklearn.calibration import _SigmoidCalibration
from sklearn.svm import SVC

from benchmarks.problems import MACKEREL
from benchmarks.timing import seconds
from svmstat import datasets, svm

B = 999


def replicate(X, y, C, gamma, seed):
    rows = np.random.default_rng(seed).integers(0, len(y), len(y))
    X, y = X[rows], y[rows]
    f = SVC(C=C, gamma=gamma).fit(X, y).decision_function(X)
    p = _SigmoidCalibration().fit(f, y).predict(f)
    return -2.0 * np.log(np.where(y > 0, p, 1.0 - p)).sum()


def main():
    print(f"Bootstrapped deviance of mackerel, {B} pairs replicates; scikit-learn: fit, decision function, Platt map")
    print(f"{'C':>4}{'gamma':>7}{'cores':>6}{'svmstat s':>11}{'sklearn s':>11}{'ratio':>7}  median D*")
    data, by_default = datasets.load("mackerel"), []
    for C, gamma in ((1.0, 0.25), (16.0, 0.25), (100.0, 1.0)):
        fit = svm(MACKEREL, data, C=C, gamma=gamma)
        for method in ("pairs", "residual"):
            fit.gof(B=16, rng=0, method=method)
        for cores in (1, 2):
            ours, gof = seconds(lambda fit=fit, cores=cores: fit.gof(B=B, rng=1, n_jobs=cores, method="pairs"))
            by_default.append((C, gamma, cores, *seconds(lambda fit=fit, cores=cores: fit.gof(rng=1, n_jobs=cores))))
            work = [joblib.delayed(replicate)(fit.frame.X, fit.frame.y, C, gamma, seed) for seed in range(B)]
            other, theirs = seconds(lambda work=work, cores=cores: joblib.Parallel(n_jobs=cores)(work))
            print(
                f"{C:4.0f}{gamma:7.2f}{cores:6d}{ours:11.2f}{other:11.2f}{other / ours:7.1f}"
                f"  {np.median(gof.replicates):.1f} and {np.median(theirs):.1f}"
            )
    print("\ngof() as it is by default: the residual test, each replicate with leave-one-out of its own")
    print(f"{'C':>4}{'gamma':>7}{'cores':>6}{'B':>6}{'seconds':>9}  p-value")
    for C, gamma, cores, taken, gof in by_default:
        print(f"{C:4.0f}{gamma:7.2f}{cores:6d}{gof.B:6d}{taken:9.2f}  {gof.pvalue:.3f}")
