"""The exact path in C against as many separate fits as take the same time."""

from functools import partial

import numpy as np

from benchmarks.problems import banana, interaction, mackerel, two_class_machine
from benchmarks.timing import alternate
from svmstat import datasets, svm
from svmstat.kernels import RBF
from svmstat.machine import along_costs

FORMULA = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
COSTS = 16.0 * np.geomspace(1 / 64, 64, 200)
CASES = [
    ("mackerel", mackerel(), 0.25),
    ("banana 2000", banana(2000), 5.0),
    ("interaction 1000 × 10", interaction(1000, 10), 0.1),
]


def main():
    print("The path of 200 values of C = 1/4 ... 1024 by kernel machines; fits at 20 of these values, one by one, cold")
    print(f"{'data':24}{'path s':>8}{'20 fits s':>11}{'path/fit':>10}{'largest |f - f cold|':>22}")
    for name, (X, y), gamma in CASES:
        one = partial(two_class_machine, RBF(gamma), X, y)
        path, cold = partial(followed, one(C=16.0)), partial(separate, one)
        seconds, apart = alternate([path, cold], 5)
        pairs = zip(path()[::10], cold(), strict=True)
        difference = max(np.abs(a.decision_values - b.decision_values).max() for a, b in pairs)
        print(f"{name:24}{seconds:8.3f}{apart:11.3f}{20 * seconds / apart:10.1f}{difference:22.1e}")

    call = partial(svm, FORMULA, datasets.load("mackerel"), gamma=0.25)
    seconds, apart = alternate([partial(call(C=16.0).path, COSTS), partial(separate, call)], 5)
    print(f"\nmackerel: fit.path() with deviance, GACV and errors {seconds:.3f} s; 20 calls of svm() {apart:.3f} s,")
    print(f"so that the path costs {20 * seconds / apart:.1f} of them")


def followed(machine):
    return list(along_costs(machine, COSTS))


def separate(fit):
    return [fit(C=float(cost)) for cost in COSTS[::10]]
