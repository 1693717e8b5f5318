"""The study of Davenport, Baraniuk & Scott (2010), section 5: smoothing, coordinate descent and simpler methods.

``python -m benchmarks davenport`` runs a smaller form of it (20 kernels, 30 × 30 values of nu, 20 permutations),
``python -m benchmarks davenport --full`` that of the paper (50 kernels, 50 × 50, 100 and 20 permutations).
"""

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from benchmarks.problems import two_class_machine
from svmstat import minimax, neyman_pearson
from svmstat.formula import build_design
from svmstat.kernels import RBF
from svmstat.machine import group_rows
from svmstat.objective.nu import nu_of_sample
from svmstat.resampling.folds import assign_folds
from svmstat.tuning.error_control import best_cell
from svmstat.tuning.nu_baselines import along_lines
from svmstat.tuning.nu_search import (
    ErrorRates,
    coordinate_descent,
    coordinate_descent_by_kernel,
    search_grid,
)
from svmstat.tuning.sample import Distinct, Effort
from svmstat.tuning.smoothing import smooth

FOLDER = Path(__file__).parent / "data"
TRAINING = {
    "banana": 400, "breast": 200, "diabetes": 468, "flare": 666, "heart": 170, "ringnorm": 400, "thyroid": 140,
    "twonorm": 400, "waveform": 400, "image": 1300, "splice": 1000,
}  # fmt: skip
LARGE = ("image", "splice")
CRITERIA = {"minimax": minimax(), "NP(0.1)": neyman_pearson(0.1)}
SMOOTHING = {"none": None, "2-D": "2d", "3-D": "3d"}
DESCENTS = {
    "none, 2-D": (coordinate_descent_by_kernel, None),
    "none, 3-D": (coordinate_descent, None),
    "2-D, 2-D": (coordinate_descent_by_kernel, "2d"),
    "3-D, 2-D": (coordinate_descent_by_kernel, "3d"),
    "3-D, 3-D": (coordinate_descent, "3d"),
}
METHODS = ("3D-SGS", "2D-CD", "3D-CD", "nu-SVM", "balanced")
PAPER = {
    ("smoothing", "minimax"): ((2.91, 1.73, 1.36), (2.91, 1.64, 1.45)),
    ("smoothing", "NP(0.1)"): ((2.73, 2.09, 1.18), (2.64, 2.00, 1.36)),
    ("descent", "minimax"): ((4.18, 3.91, 2.73, 2.00, 2.18), (None, 4.00, 2.82, 2.00, 2.00)),
    ("descent", "NP(0.1)"): ((3.82, 3.55, 2.64, 1.91, 3.09), (4.36, 3.64, 3.36, 1.91, 1.73)),
    ("methods", "minimax"): ((2.73, 2.64, 2.73, 3.64, 3.27), (None, 2.64, 2.00, 4.09, 4.27)),
    ("methods", "NP(0.1)"): ((2.36, 2.18, 2.73, 4.91, 2.82), (3.18, 2.09, 1.64, 4.18, 3.91)),
}
"""The average ranks of the paper's tables 1–3, balanced and unbalanced; None where the text at hand has lost them."""


@dataclass(frozen=True)
class Size:
    kernels: int
    nu: int
    permutations: int
    permutations_large: int
    most: int  # rows of a training set
    sigma: tuple[float, float]


DEFAULT = Size(20, 30, 20, 20, 400, (0.03, 300.0))
FULL = Size(50, 50, 100, 20, 2000, (1e-4, 1e4))


def ringnorm(n, rng):
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    x = rng.normal(size=(n, 20))
    return np.where(y[:, None] > 0, 2.0 * x, x + 2.0 / np.sqrt(20.0)), y


def waveform(n, rng):
    t = np.arange(1, 22)
    waves = np.array([np.maximum(6.0 - np.abs(t - centre), 0.0) for centre in (11, 15, 7)])
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    kind = rng.integers(3, size=n)
    u = rng.random((n, 1))
    first, second = pairs[kind].T
    return u * waves[first] + (1.0 - u) * waves[second] + rng.normal(size=(n, 21)), np.where(kind == 0, 1.0, -1.0)


def draw(name, rng, size, unbalanced):
    """Training X and y, test X and y: columns scaled by the training set."""
    if name in ("ringnorm", "waveform"):
        X, y = {"ringnorm": ringnorm, "waveform": waveform}[name](TRAINING[name] + 4600, rng)
        data = pd.DataFrame(X, columns=[f"x{k}" for k in range(1, X.shape[1] + 1)]).assign(y=y)
    else:
        data = pd.read_csv(FOLDER / f"{name}.csv.gz")
    order = rng.permutation(len(data))
    n = min(TRAINING[name], size.most)
    training, test = order[:n], order[n:][:5000]
    if unbalanced:
        y = data["y"].to_numpy()[training]
        others = np.flatnonzero(y < 0)
        kept = rng.permutation(others)[: max(5, round(0.1 * len(others)))]
        training = training[np.sort(np.concatenate([np.flatnonzero(y > 0), kept]))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns
        frame = build_design("y ~ .", data.iloc[training])
    later = data.iloc[test]
    rows = frame.design.transform(known_levels(later, data.iloc[training]))
    usable = ~rows.missing
    return frame.X, frame.y, rows.X[usable], later["y"].to_numpy()[usable]


def known_levels(later, training):
    """Text that the training set does not have is missing."""
    later = later.copy()
    for name in later.columns:
        if not pd.api.types.is_numeric_dtype(later[name]):
            later[name] = later[name].where(later[name].isin(training[name]))
    return later


def sample_of(X, y, rng):
    groups = group_rows(X, y, np.ones(len(y)))
    labels = y[groups.first]
    return Distinct(X[groups.first], labels, groups.weights, assign_folds(labels, 5, rng))


def kernels_of(size):
    sigma = np.geomspace(*size.sigma, size.kernels)[::-1]  # gamma rises
    return [RBF(1.0 / (2.0 * s * s)) for s in sigma]


def one_permutation(name, permutation, unbalanced, size):
    """Rows (criterion, family, method, test score) and (criterion, smoothing, estimate, test minimax error)."""
    rng = np.random.default_rng([permutation, unbalanced, sorted(TRAINING).index(name)])
    X, y, X_test, y_test = draw(name, rng, size, unbalanced)
    sample = sample_of(X, y, rng)
    kernels, effort = kernels_of(size), Effort(1, False)
    nu = np.arange(1, size.nu + 1) / size.nu
    rates = ErrorRates(sample, kernels, nu, nu, effort)
    scores, estimates = [], []

    def tested(criterion, kernel, pair, shift=0.0):
        machine = two_class_machine(kernel, X, y, 1.0, nu_of_sample(pair, y, np.ones(len(y))))
        f = machine.decision_function(X_test)[:, 0] + shift
        p_f, p_m = np.mean(f[y_test < 0] > 0), np.mean(f[y_test > 0] <= 0)
        return float(criterion.score(p_f, p_m))

    for label, criterion in CRITERIA.items():
        found = {}

        def at(cell, criterion=criterion, found=found):
            if cell not in found:
                s, j, i = cell
                found[cell] = tested(criterion, kernels[s], (nu[i], nu[j]))
            return found[cell]

        for name_, kind in SMOOTHING.items():
            cell = search_grid(rates, criterion, kind)
            scores.append((label, "smoothing", name_, at(cell)))
            p_f, p_m = (float(each[cell]) for each in rates.surface.smoothed(kind))
            estimates.append((label, name_, float(criterion.score(p_f, p_m)), at(cell)))
        grid = at(search_grid(rates, criterion, "3d"))
        for name_, (search, kind) in DESCENTS.items():
            scores.append((label, "descent", name_, at(search(rates, criterion, kind))))
        scores.append((label, "methods", "3D-SGS", grid))
        scores.append((label, "methods", "2D-CD", at(coordinate_descent_by_kernel(rates, criterion, "3d"))))
        scores.append((label, "methods", "3D-CD", at(coordinate_descent(rates, criterion, "3d"))))
        scores.append((label, "methods", "nu-SVM", shifted(sample, y, kernels, nu, criterion, effort, tested)))
        scores.append((label, "methods", "balanced", balanced(rates, kernels, nu, criterion, tested)))
    return scores, estimates


def shifted(sample, y, kernels, nu, criterion, effort, tested):
    """The test score of the ordinary nu-SVM with a shifted bias, smoothed over nu and sigma.

    In each fold with the pair of nu that all rows have; the shares of the classes are theirs there but for rounding.
    """
    event, other = np.sum(y > 0), np.sum(y < 0)
    single = nu[nu <= 2.0 * min(event, other) / len(y)]
    if len(single) == 0:
        single = np.array([2.0 * min(event, other) / len(y)])
    n_event, n_other = np.minimum(single * len(y) / (2 * event), 1.0), np.minimum(single * len(y) / (2 * other), 1.0)
    lines = along_lines(sample, kernels, n_event, n_other, criterion, effort)
    s, d = best_of_line(lines.p_f[:, 0], lines.p_m[:, 0], criterion)
    return tested(criterion, kernels[s], (float(n_event[d]), float(n_other[d])), float(lines.shift[s, 0, d]))


def balanced(rates, kernels, nu, criterion, tested):
    """The test score of nu_event = nu_other, smoothed over nu and sigma."""
    k = np.arange(len(nu))
    s, d = best_of_line(rates.surface.p_f[:, k, k], rates.surface.p_m[:, k, k], criterion)
    return tested(criterion, kernels[s], (float(nu[d]), float(nu[d])))


def best_of_line(p_f, p_m, criterion):
    smooth_f, smooth_m = smooth(p_f[:, None], "3d")[:, 0, ::-1], smooth(p_m[:, None], "3d")[:, 0, ::-1]
    s, d = np.unravel_index(best_cell(criterion, smooth_f.ravel(), smooth_m.ravel()), smooth_f.shape)
    return int(s), p_f.shape[1] - 1 - int(d)


def timed(name, size):
    """Seconds of each method for one training set, one core."""
    rng = np.random.default_rng([0, 0, sorted(TRAINING).index(name)])
    X, y, *_ = draw(name, rng, size, False)
    sample, kernels, effort = sample_of(X, y, rng), kernels_of(size), Effort(1, False)
    nu = np.arange(1, size.nu + 1) / size.nu
    criterion = CRITERIA["minimax"]
    event, other = np.sum(y > 0), np.sum(y < 0)
    single = nu[nu <= 2.0 * min(event, other) / len(y)]
    halves = single * len(y) / (2 * event), single * len(y) / (2 * other)
    tasks = {
        "3D-SGS": lambda: search_grid(ErrorRates(sample, kernels, nu, nu, effort), criterion, "3d"),
        "2D-CD": lambda: coordinate_descent_by_kernel(ErrorRates(sample, kernels, nu, nu, effort), criterion, "3d"),
        "3D-CD": lambda: coordinate_descent(ErrorRates(sample, kernels, nu, nu, effort), criterion, "3d"),
        "nu-SVM": lambda: along_lines(sample, kernels, *np.minimum(halves, 1.0), criterion, effort),
        "balanced": lambda: along_lines(sample, kernels, nu, nu, None, effort),
    }
    seconds = []
    for task in tasks.values():
        start = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - start)
    return seconds


def ranks(means):
    """Average ranks of the columns over the rows, ties shared, and Friedman's p-value."""
    table = np.array([rankdata(np.round(row, 12)) for row in means])
    return table.mean(axis=0), friedmanchisquare(*means.T).pvalue


def critical_difference(k, n):
    return studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2.0) * np.sqrt(k * (k + 1) / (6.0 * n))


def report_ranks(scores):
    for family, names in (("smoothing", SMOOTHING), ("descent", DESCENTS), ("methods", METHODS)):
        titles = {
            "smoothing": "Table 1: smoothing, full grid",
            "descent": "Table 2: (smoothing, coordinate descent)",
            "methods": "Table 3: methods",
        }
        print(f"\n{titles[family]}; average ranks over {scores['set'].nunique()} sets, the paper's in brackets")
        print(f"{'':22}" + "".join(f"{name:>18}" for name in names) + "   Friedman p")
        for label in CRITERIA:
            for unbalanced in (False, True):
                part = scores[
                    (scores["family"] == family) & (scores["criterion"] == label) & (scores["unbalanced"] == unbalanced)
                ]
                means = part.pivot_table("score", "set", "method")[list(names)].to_numpy()
                mean_ranks, p = ranks(means)
                paper = PAPER[family, label][int(unbalanced)] or [None] * len(names)
                cells = "".join(
                    f"{rank:9.2f} ({'  ? ' if theirs is None else f'{theirs:.2f}'})  "
                    for rank, theirs in zip(mean_ranks, paper, strict=True)
                )
                print(f"{label:9}{'unbalanced' if unbalanced else 'balanced':13}{cells}   {p:.3g}")
        print(f"Nemenyi critical difference at 0.05: {critical_difference(len(names), scores['set'].nunique()):.2f}")


def report_estimates(estimates):
    print("\nFigure 2: smoothed / raw, of the error of the estimate at the selected point, minimax")
    print(
        f"{'set':12}{'bias none':>10}{'2-D':>9}{'3-D':>9}{'bias 2-D':>11}{'3-D':>7}{'variance 2-D':>15}{'3-D':>7}",
        end="",
    )
    print(f"{'MSE 2-D':>10}{'3-D':>7}   (balanced; last column: MSE 3-D, unbalanced)")
    better = []
    for name in estimates["set"].unique():
        errors = {}
        for unbalanced in (False, True):
            part = estimates[
                (estimates["set"] == name)
                & (estimates["criterion"] == "minimax")
                & (estimates["unbalanced"] == unbalanced)
            ]
            for kind in SMOOTHING:
                rows = part[part["smoothing"] == kind]
                errors[kind, unbalanced] = (rows["estimate"] - rows["test"]).to_numpy()
        bias = {kind: errors[kind, False].mean() for kind in SMOOTHING}
        variance = {kind: errors[kind, False].var() for kind in SMOOTHING}
        mse = {key: np.mean(values**2) for key, values in errors.items()}
        ratios = [abs(bias[k] / bias["none"]) for k in ("2-D", "3-D")]
        ratios += [variance[k] / variance["none"] for k in ("2-D", "3-D")]
        ratios += [mse[k, False] / mse["none", False] for k in ("2-D", "3-D")]
        ratios.append(mse["3-D", True] / mse["none", True])
        better.append(ratios)
        print(
            f"{name:12}{bias['none']:10.3f}{bias['2-D']:9.3f}{bias['3-D']:9.3f}"
            + "".join(f"{r:{w}.2f}" for r, w in zip(ratios, (11, 7, 15, 7, 10, 7, 10), strict=True))
        )
    counts = (np.array(better) < 1.0).sum(axis=0)
    print(f"sets with a ratio below one: bias {counts[:2]}, variance {counts[2:4]}, MSE {counts[4:]} of {len(better)}")


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m benchmarks davenport")
    parser.add_argument("--full", action="store_true", help="the size of the paper")
    parser.add_argument("--permutations", type=int, help="training sets drawn from each set")
    parser.add_argument("--sets", nargs="*", default=list(TRAINING), choices=list(TRAINING))
    given = parser.parse_args(list(arguments))
    size = FULL if given.full else DEFAULT
    start = time.perf_counter()
    tasks = []
    for name in given.sets:
        count = given.permutations or (size.permutations_large if name in LARGE else size.permutations)
        tasks += [(name, k, unbalanced) for unbalanced in (False, True) for k in range(count)]
    done = joblib.Parallel(n_jobs=-1)(
        joblib.delayed(one_permutation)(name, k, unbalanced, size) for name, k, unbalanced in tasks
    )
    scores = pd.DataFrame(
        [
            (name, unbalanced, *row)
            for (name, _, unbalanced), (rows, _) in zip(tasks, done, strict=True)
            for row in rows
        ],
        columns=["set", "unbalanced", "criterion", "family", "method", "score"],
    )
    estimates = pd.DataFrame(
        [
            (name, unbalanced, *row)
            for (name, _, unbalanced), (_, rows) in zip(tasks, done, strict=True)
            for row in rows
        ],
        columns=["set", "unbalanced", "criterion", "smoothing", "estimate", "test"],
    )
    print(f"{size}; {len(tasks)} training sets; {time.perf_counter() - start:.0f} s on {joblib.cpu_count()} cores")
    report_ranks(scores)
    report_estimates(estimates)
    print("\nTable 4: how many times faster than the smoothed grid search, one training set, one core")
    print(f"{'set':12}{'3D-SGS s':>10}" + "".join(f"{name:>10}" for name in METHODS[1:]))
    for name in given.sets:
        seconds = timed(name, size)
        print(f"{name:12}{seconds[0]:10.2f}" + "".join(f"{seconds[0] / each:10.1f}" for each in seconds[1:]))
