"""Problems that are posed to the solver itself: rows that repeat are not joined, and bounds change as in resampling."""

from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.fuzz.dense import definite
from benchmarks.fuzz.draw import Case
from benchmarks.fuzz.judge import Finding, Floats, answer_of, answers_of, apart, judge
from svmstat.kernels import make_kernel
from svmstat.objective.losses import make_loss
from svmstat.solver import BoxQP, Gram, solve


def pose(case: Case) -> BoxQP:
    """The problem of a case: two classes, on the numbers among its columns; `SvmstatError` for an impossible kernel."""
    data, options = case.data, case.options
    y = np.where(pd.factorize(data["y"])[0] == 1, 1.0, -1.0)
    X = data.drop(columns="y").select_dtypes("number").to_numpy(float)
    X = np.ascontiguousarray(np.nan_to_num(X, nan=0.0))
    if X.shape[1] == 0:
        X = np.zeros((len(X), 1))
    w = np.ones(len(y)) if options.get("weights") is None else np.asarray(options["weights"], float)
    given = {name: options[name] for name in ("gamma", "degree", "coef0") if name in options}
    kernel = make_kernel(options["kernel"], given).resolve(X, w)
    gram = Gram(kernel.bind(X))
    rng = np.random.default_rng([case.seed, 1])
    if "nu" in options:
        most = min(w[y > 0].sum(), w[y < 0].sum())
        total = float(most * rng.choice([1.0, 0.9, 0.5, 0.1, 1e-3, rng.uniform(0.01, 1.0)])) if most > 0 else 1.0
        return BoxQP(gram, y, np.ones(len(y)), w, total)
    loss = make_loss(options.get("loss", "hinge"), *10.0 ** rng.uniform(-1, 1, 2))
    return BoxQP(gram, y, loss.margin(y), options["C"] * w * loss.class_weight(y))


def other_bounds(problem: BoxQP, seed: int) -> Floats:
    """Bounds (B, n) that resampling would ask for: single rows out, a fold out, repeats, another cost."""
    rng, upper = np.random.default_rng([seed, 2]), problem.upper
    gone = rng.integers(0, problem.n, 2)
    deleted = [np.where(np.arange(problem.n) == k, 0.0, upper) for k in gone]
    fold = np.where(rng.random(problem.n) < 0.2, 0.0, upper)
    repeated = upper * rng.poisson(1.0, problem.n)
    factor = 1.0 if problem.total is not None else float(10.0 ** rng.uniform(-2, 2))
    return np.array([*deleted, fold, repeated, factor * upper])


def judge_bounds(problem: BoxQP, seed: int, start: object) -> list[Finding]:
    """Other bounds by the road from a solution; each judged, and compared with the same problem solved alone."""
    uppers, found = other_bounds(problem, seed), []
    one_minimum = definite(problem)
    for q, answer in enumerate(answers_of(problem, uppers, solve(problem, uppers, start=start))):
        posed = replace(problem, upper=uppers[q])
        alone = answer_of(solve(posed))
        findings = judge(posed, answer) + (apart(posed, answer, alone) if one_minimum else [])
        found += [Finding(each.check, f"bounds {q}: {each.detail}") for each in findings]
        if not answer.certified and alone.certified:
            found.append(Finding("road", f"bounds {q}: {answer.status.name} from a solution, certified alone"))
    return found
