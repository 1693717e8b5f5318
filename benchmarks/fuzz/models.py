"""Calls of ``svm()``: what a fit must be besides optimal, or how a problem must be refused."""

import re
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import svmstat
from benchmarks.fuzz import boxes, resampled
from benchmarks.fuzz.dense import compare, definite
from benchmarks.fuzz.draw import Case
from benchmarks.fuzz.judge import EPS, Answer, Finding, Floats, Long, answer_of, judge, known_to, rounding_of, sums
from svmstat import svm
from svmstat.errors import CertificateWarning, SvmstatError, SvmstatWarning
from svmstat.kernels import RBF, CustomKernel, Kernel, Linear, Polynomial, Precomputed, Spline
from svmstat.resampling.loops import one_blas_thread
from svmstat.solver import BoxQP, Status, solve

ARGUMENTS = ("formula", "data", "kernel", "C", "gamma", "degree", "coef0", "nu", "weights", "class_weight", "costs",
             "priors", "loss", "scale", "calibration", "subset", "event", "response", "column", "columns")  # fmt: skip
"""What an error may name, besides the columns themselves."""

_MOST_ROWS = 100

HOME = Path(svmstat.__file__).parent


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a problem.

    Attributes
    ----------
    outcome : "certified", the name of another status, or "refused" with the name of the error
    findings : what is wrong
    counted : how many comparisons of each kind there were
    """

    seed: int
    kind: str
    outcome: str
    findings: tuple[Finding, ...] = ()
    counted: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


class _Watch:
    """Collects findings and counts; what is raised is a finding too."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.counted: Counter[str] = Counter()

    def look(self, check: Callable[..., list[Finding]], *arguments: Any) -> None:
        try:
            self.findings += check(*arguments)
        except Exception as error:  # whatever it is, it is not to be raised there
            self.findings.append(Finding("exception", raised(error)))


def raised(error: BaseException) -> str:
    """An exception in one line, with the innermost place in the package."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(HOME)]
    frames = frames or traceback.extract_tb(error.__traceback__)[-1:]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].name}"
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]} ({place})"


def examine(case: Case) -> Report:
    """Solve a case and look at the answer from all sides."""
    watch = _Watch()
    with one_blas_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = _box(case, watch) if case.picked["level"] == "box" else _model(case, watch, caught)
    for each in caught:
        if not issubclass(each.category, SvmstatWarning):
            place = f"{Path(each.filename).name}:{each.lineno}"
            watch.findings.append(Finding("warning", f"{each.category.__name__}: {each.message} ({place})"))
    return Report(case.seed, case.kind, outcome, tuple(dict.fromkeys(watch.findings)), watch.counted)


def _box(case: Case, watch: _Watch) -> str:
    try:
        problem = boxes.pose(case)
    except SvmstatError as error:
        return f"refused {type(error).__name__}"
    except Exception as error:
        watch.findings.append(Finding("exception", raised(error)))
        return "raised"
    return _solved(problem, case.seed, watch)


def _solved(problem: BoxQP, seed: int, watch: _Watch) -> str:
    try:
        solution = solve(problem)
    except Exception as error:
        watch.findings.append(Finding("exception", raised(error)))
        return "raised"
    answer = answer_of(solution)
    watch.look(judge, problem, answer)
    _beside_clarabel(problem, answer, watch)
    watch.look(boxes.judge_bounds, problem, seed, solution)
    watch.counted["bounds"] += 1
    return answer.status.name.lower()


def _beside_clarabel(problem: BoxQP, answer: Answer, watch: _Watch) -> None:
    comparison = compare(problem, answer)
    watch.findings += comparison.findings
    watch.counted["clarabel" if comparison.compared else "clarabel, not compared"] += 1


def _model(case: Case, watch: _Watch, caught: list[warnings.WarningMessage]) -> str:
    try:
        fit = svm(case.formula, case.data, **case.options)
    except SvmstatError as error:
        if not _names_something(str(error), case):
            watch.findings.append(Finding("unnamed", f"{type(error).__name__}: {str(error)[:160]}"))
        return f"refused {type(error).__name__}"
    except Exception as error:
        watch.findings.append(Finding("exception", raised(error)))
        return "raised"
    worst = max(_pairs(fit), key=lambda pair: pair[1].status)[1].status
    warned = any(issubclass(each.category, CertificateWarning) for each in caught)
    if worst is not Status.CERTIFIED and not warned:
        watch.findings.append(Finding("silent", f"{worst.name}, and no CertificateWarning"))
    if fit.converged and fit.kkt_violation > 1e-8:
        watch.findings.append(Finding("certificate", f"converged, with a KKT violation of {fit.kkt_violation:.2g}"))
    for problem, solution in _pairs(fit):
        answer = answer_of(solution)
        watch.look(judge, problem, answer)
        _beside_clarabel(problem, answer, watch)
    if np.isfinite(fit.machine.decision_values).all() and np.isfinite(fit.machine.alpha).all():
        watch.look(_own_field, fit)
        watch.look(_equal_rows, fit)
        watch.look(_prediction, fit, case)
    watch.look(_numbers, fit)
    if case.resample is not None and worst is Status.CERTIFIED and all(definite(problem) for problem, _ in _pairs(fit)):
        watch.look(resampled.compare, case, fit, watch.counted)
    return worst.name.lower()


def _names_something(message: str, case: Case) -> bool:
    """Whether an error names an argument or a column."""
    words = set(re.findall(r"\w+", message))
    return bool(words & {*ARGUMENTS, *map(str, case.data.columns)})


def _pairs(fit: Any) -> list[tuple[BoxQP, Any]]:
    """Problems and solutions of the machines of a fit."""
    return [(pair.problem, pair.solution) for pair in fit.machine.pairs]


def _numbers(fit: Any) -> list[Finding]:
    """Nothing is NaN without a reason, probabilities are probabilities, and the summary prints."""
    found = []
    mapped = fit.converged or fit.is_cheap_to_leave_out  # of others probabilities take minutes
    mapped = mapped and bool(np.all(fit.calibration.converged) and np.all(fit.insample.converged))
    numbers = {"decision values": fit.decision_values, "alpha": fit.alpha}
    if mapped:
        numbers |= {"probabilities": fit.fittedvalues, "deviance": fit.deviance}
    for name, values in numbers.items():
        if not np.isfinite(np.asarray(values, float)).all():
            found.append(Finding("nan", f"{name} of a fit that is {'' if fit.converged else 'not '}certified"))
    if found or not mapped:
        return found
    p = fit.predict_proba().to_numpy()
    if p.min() < 0.0 or p.max() > 1.0 or np.abs(p.sum(axis=1) - 1.0).max() > 1e-9:
        found.append(Finding("probabilities", f"between {p.min()} and {p.max()}, sums to {p.sum(axis=1).min()}"))
    if fit.deviance < 0.0 or not 0.0 <= fit.apparent_error <= 1.0:
        found.append(Finding("probabilities", f"deviance {fit.deviance}, apparent error {fit.apparent_error}"))
    text = str(fit.summary())
    if fit.converged and re.search(r"\bnan\b", text):
        found.append(Finding("nan", "in the summary"))
    return found


def _own_field(fit: Any) -> list[Finding]:
    """f from α and the kernel's formula in more digits, weight zero and other classes included, of up to 100 rows."""
    found = []
    machine, first = fit.machine, fit.machine.groups.first
    rows = np.unique(np.linspace(0, len(machine.X) - 1, _MOST_ROWS).astype(int))
    values = np.asarray(fit.decision_values, float).reshape(len(machine.X), -1)[rows]
    K = exact_kernel(fit.kernel, machine.X, rows, first)
    given = isinstance(fit.kernel, Precomputed | CustomKernel)  # these values are exact, others known to many digits
    for k, (problem, solution) in enumerate(_pairs(fit)):
        own = K[:, machine.pairs[k].rows]
        beta = solution.coefficients * problem.signs
        of_values = float(np.abs(beta).sum()) * kernel_rounding(fit.kernel, machine.X)  # the problem is that of doubles
        allowed = rounding_of(solution) + of_values
        h = sums(own, beta, allowed) if given else own @ beta.astype(Long)
        f = h + Long(solution.intercept)
        largest = float(np.abs(f).max())
        allowed += 4.0 * EPS * largest
        if not fit.converged:  # sums elsewhere than in the certificate are in double precision
            allowed += 16.0 * EPS * float((np.abs(own) @ np.abs(beta)).max())
        away = np.abs(values[:, k] - f)
        off, beyond = float(away.max()), away - solution.resolution * _shared(fit, k)[rows]
        if not float(beyond.max()) <= allowed:
            found.append(Finding("own f", f"f is {off:.2g} from that of alpha, its rounding at most {allowed:.2g}"))
        left_out = allowed * (np.ptp(solution.field) == 0.0)
        if fit.converged and off > known_to(f, problem.margin.max(), left_out) + of_values:
            found.append(Finding("digits", f"certified, but f is {off:.2g} from that of alpha, of {largest:.2g}"))
    return found


def _shared(fit: Any, k: int) -> np.ndarray:
    """(n,) whether rows have the f of a pair that another point has too: those that rounding told apart are equal."""
    values = np.asarray(fit.decision_values, float).reshape(len(fit.machine.X), -1)[:, k]
    points = np.unique(np.column_stack([fit.machine.X, values]), axis=0)[:, -1]
    each, count = np.unique(points, return_counts=True)
    return np.isin(values, each[count > 1])


def exact_kernel(kernel: Kernel, X: Floats, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """K(x_i, x_j) for two choices of rows of X (n, p), in long doubles where there is a formula."""
    if isinstance(kernel, Precomputed):
        return X[np.ix_(left, right)]
    A, B = X[left].astype(Long), X[right].astype(Long)
    match kernel:
        case Linear():
            return A @ B.T
        case RBF():
            squared = sum((A[:, k, None] - B[None, :, k]) ** 2 for k in range(A.shape[1]))
            return np.exp(-Long(kernel.gamma) * squared)
        case Polynomial():
            base = Long(kernel.gamma) * (A @ B.T) + Long(kernel.coef0)
            return np.prod([base] * kernel.degree, axis=0)  # a power of long doubles is a hundred times slower
        case Spline():
            return _splines(kernel, A, B)
    return kernel(X[left], X[right])


def _splines(kernel: Spline, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    lower, upper = np.array(kernel.lower, Long), np.array(kernel.upper, Long)
    width = np.where(upper > lower, upper - lower, 1)
    A, B = np.clip((A - lower) / width, 0, 1), np.clip((B - lower) / width, 0, 1)
    total = np.zeros((len(A), len(B)), Long)
    for k in range(A.shape[1]):
        s, t = A[:, k, None], B[None, :, k]
        k1 = [each - Long(1) / 2 for each in (s, t)]
        k2 = [(each * each - Long(1) / 12) / 2 for each in k1]
        squared = (np.abs(s - t) - Long(1) / 2) ** 2
        total += 1 + k1[0] * k1[1] + k2[0] * k2[1] - (squared * squared - squared / 2 + Long(7) / 240) / 24
    return total


def kernel_rounding(kernel: Kernel, X: Floats) -> float:
    """A bound on the rounding of a kernel value (n, p): that of its formula in doubles."""
    p = X.shape[1]
    with np.errstate(over="ignore"):
        largest = float((X * X).sum(axis=1).max()) if isinstance(kernel, Linear | Polynomial) else 1.0
        match kernel:
            case Linear():
                return (p + 1) * EPS * largest
            case RBF():
                return (p + 6) * EPS
            case Polynomial():
                reach = kernel.gamma * largest + abs(kernel.coef0)
                return (p + 6) * kernel.degree * EPS * reach**kernel.degree
            case Spline():
                return 20 * p * EPS
    return 0.0


def _equal_rows(fit: Any) -> list[Finding]:
    """Rows with equal predictors are one point: one f, bit for bit, and one prediction."""
    _, of_row = np.unique(fit.machine.X + 0.0, axis=0, return_inverse=True)
    values = np.asarray(fit.decision_values, float).reshape(len(of_row), -1)
    order = np.argsort(of_row.ravel(), kind="stable")
    same = np.diff(of_row.ravel()[order]) == 0
    differ = (np.diff(values[order], axis=0) != 0).any(axis=1) & same
    found = []
    if differ.any():
        off = np.abs(np.diff(values[order], axis=0))[differ].max()
        found.append(Finding("equal rows", f"f of rows with equal predictors differs by {off:.2g}"))
    codes = fit.predict().astype(str).to_numpy()[order]
    if ((codes[1:] != codes[:-1]) & same).any():
        found.append(Finding("equal rows, labels", "rows with equal predictors are predicted differently"))
    return found


def _prediction(fit: Any, case: Case) -> list[Finding]:
    """The same f and labels with and without new data, and row by row."""
    used = case.data.iloc[fit.frame.rows]
    values, again = (np.asarray(fit.decision_function(data), float) for data in (None, used))
    found = []
    off, margin = float(np.abs(again - values).max()), max(problem.margin.max() for problem, _ in _pairs(fit))
    if fit.converged and off > known_to(values, margin):
        found.append(
            Finding("predict", f"f of the data given again differs by {off:.2g}, of {np.abs(values).max():.2g}")
        )
    if (again != values).any():
        found.append(Finding("predict, bits", f"f of the data given again differs by {off:.2g}"))
    if not (fit.predict(used).astype(str).to_numpy() == fit.predict().astype(str).to_numpy()).all():
        found.append(Finding("predict, labels", "the data given again are predicted differently"))
    alone = np.asarray(fit.decision_function(used.iloc[[-1]]), float)[0]
    if (alone != again[-1]).any():
        found.append(Finding("predict, bits", f"a row alone differs by {np.abs(alone - again[-1]).max():.2g}"))
    return found
