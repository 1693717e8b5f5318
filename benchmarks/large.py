"""Large rbf fits beside scikit-learn's SVC (tol=1e-3), and its accelerated one where it is installed.

Every fit has a process of its own, so that its peak memory is its own; the programs take turns and the least time
counts. The KKT violations are computed from α in double precision, the same way for all.
"""

import importlib
import multiprocessing
import os
import time
from importlib.util import find_spec

import numpy as np
from sklearn.svm import SVC

from benchmarks.problems import banana, interaction, two_class_machine
from benchmarks.timing import peak
from svmstat.kernels import RBF
from svmstat.solver import Gram
from svmstat.solver.solution import certify

ROUNDS = {6_000: 3, 10_000: 2, 20_000: 1, 50_000: 1}
DATA = {"banana": (banana, 5.0), "interaction": (lambda n: interaction(n, 10), 0.1)}
THREADS = os.environ.get("OPENBLAS_NUM_THREADS", "not set")
FROM_SMALL = 5_200
"""Rows of the fit that loads the compiled code, before any is timed."""


def svmstat(X, y, gamma, C):
    return two_class_machine(RBF(gamma), X, y, C)


def svc(X, y, gamma, C):
    return SVC(C=C, gamma=gamma).fit(X, y)


def sklearnex(X, y, gamma, C):
    return importlib.import_module("sklearnex.svm").SVC(C=C, gamma=gamma).fit(X, y)


PROGRAMS = [svmstat, svc] + [sklearnex] * bool(find_spec("sklearnex"))


def violation(fit, X, y, gamma, C):
    """By how much α violates optimality, on the scale of f."""
    beta = np.zeros(len(y))
    if hasattr(fit, "pairs"):
        beta[:] = y * fit.alpha[:, 0]
    else:
        beta[fit.support_] = fit.dual_coef_[0]
    h, rows = y.copy(), np.flatnonzero(beta)
    Gram(RBF(gamma).bind(X), budget=0).add(rows, -beta[rows], h)
    return certify(h, beta, np.minimum(C * y, 0.0), np.maximum(C * y, 0.0))[2]


def one(program, name, n, C):
    """Fit once: seconds, those of the processors, peak memory in GiB, KKT violation and support vectors."""
    draw, gamma = DATA[name]
    X, y = draw(n)
    start, busy = time.perf_counter(), time.process_time()
    fit = program(X, y, gamma, C)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    most = peak()
    count = np.count_nonzero(fit.alpha) if hasattr(fit, "pairs") else fit.n_support_.sum()
    return seconds, busy, most, violation(fit, X, y, gamma, C), int(count)


def in_own_process(function, *arguments):
    """What a function returns in a process of its own."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=lambda: results.put(function(*arguments)))
    process.start()
    found = results.get()
    process.join()
    return found


def main():
    names = [program.__name__ for program in PROGRAMS]
    print("Large fits, rbf kernel: svmstat (KKT <= 1e-8) beside SVC (tol=1e-3), the least of some rounds in turns:")
    print("seconds by the clock and of the processors, peak memory of a process with one fit in GiB, KKT violation.")
    print(f"{os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}, OPENBLAS_NUM_THREADS={THREADS}")
    print(f"{'data':12}{'n':>6}{'C':>4}" + "".join(f"{each + ' s':>12}{'cpu s':>8}" for each in names), end="")
    print(f"{'SVC/svmstat':>13}{'cpu':>6}   memory      violation     support vectors")
    for name, (draw, gamma) in DATA.items():
        svmstat(*draw(FROM_SMALL), gamma, 1.0)
        for n, rounds in ROUNDS.items():
            for C in (1.0, 16.0):
                runs = [[in_own_process(one, program, name, n, C) for program in PROGRAMS] for _ in range(rounds)]
                best = [[min(values) for values in zip(*each, strict=True)] for each in zip(*runs, strict=True)]
                print(f"{name:12}{n:6d}{C:4.0f}" + "".join(f"{each[0]:12.2f}{each[1]:8.2f}" for each in best), end="")
                print(f"{best[1][0] / best[0][0]:13.2f}{best[1][1] / best[0][1]:6.2f}", end="   ")
                print(" ".join(f"{each[2]:.2f}" for each in best), end="   ")
                print(" ".join(f"{each[3]:.0e}" for each in best), " ", *(each[4] for each in best), flush=True)
    print(f"load after {os.getloadavg()[0]:.1f}")
