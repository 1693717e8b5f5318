"""The optimum by an interior-point method (Clarabel) that knows nothing of support vectors."""

from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp

from benchmarks.fuzz.judge import Answer, Finding, Long, field_of
from svmstat.solver import BoxQP

LARGEST = 120
"""Rows of a problem that is compared: the method is of the order n³ in every step."""

AGREE = 1e-6
"""Largest difference of the two optima, relative to their size, beyond the duality gap that the solution states, which
is checked elsewhere. Clarabel's own gap is at most 1e-7 of the optimum, or there is no comparison."""

_OWN_GAP = 1e-7


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of a comparison: nothing where Clarabel did not find the optimum itself."""

    compared: bool
    findings: list[Finding]


def compare(problem: BoxQP, answer: Answer) -> Comparison:
    """The dual value of a certified answer beside Clarabel's."""
    rows = np.flatnonzero(problem.upper > 0)
    if not answer.certified or answer.rho == 0.0 or len(rows) > LARGEST or not definite(problem):
        return Comparison(False, [])
    with np.errstate(all="ignore"):
        return _compare(problem, answer, rows)


def _compare(problem: BoxQP, answer: Answer, rows: np.ndarray) -> Comparison:
    K = gram_of(problem)[np.ix_(rows, rows)]
    largest = float(np.abs(K).max())
    beta = problem.signs * answer.alpha
    norm = beta.astype(Long) @ field_of(problem, beta, 0.0)
    if problem.total is None:
        least = _box(problem, K / largest, rows, largest) if largest > 0.0 else None
        ours, gap = float(norm / 2 - problem.margin.astype(Long) @ answer.alpha), answer.gap
    else:
        least = _hulls(problem, K / largest, rows) if largest > 0.0 else None
        unit = (Long(answer.rho) / Long(problem.total)) ** 2 / largest  # from the scale of f to that of the hulls
        ours, gap = float(norm * unit / 2), float(answer.gap * unit)
    if least is None:
        return Comparison(False, [])
    if abs(ours - least) <= AGREE * max(abs(ours), abs(least)) + gap:
        return Comparison(True, [])
    return Comparison(
        True, [Finding("clarabel", f"the dual value is {ours:.9g} ± {gap:.1g}, Clarabel has {least:.9g}")]
    )


def gram_of(problem: BoxQP) -> np.ndarray:
    """K (n, n); of kernel values that are products about their mean, which changes no solution."""
    A = problem.gram.vectors
    if A is None:
        return problem.gram.complete()
    about = A - A.mean(axis=0)
    return about @ about.T


def definite(problem: BoxQP) -> bool:
    """Whether the problem is convex and its minimum one: no eigenvalue is below zero by more than rounding."""
    K = gram_of(problem)
    largest = np.abs(K).max()
    if not 0.0 < largest < np.inf:
        return bool(largest == 0.0)
    return bool(np.linalg.eigvalsh(K / largest).min() >= -1e-14 * problem.n)


def _box(problem: BoxQP, K: np.ndarray, rows: np.ndarray, largest: float) -> float | None:
    """The least ½β'Kβ − s'β in the box with Σβ = 0, K being given as a share of its largest value.

    In γ = β/t with t the smaller of the largest bound and 1/max|K|, so that the solution is of the size of one.
    """
    u, m = problem.upper[rows], len(rows)
    t = min(float(u.max()), 1.0 / largest)
    lo, hi = np.where(problem.signs[rows] > 0, 0.0, -u) / t, np.where(problem.signs[rows] > 0, u, 0.0) / t
    least = _solve(
        K * (t * largest), -problem.linear[rows], np.vstack([np.ones((1, m)), np.eye(m), -np.eye(m)]),
        np.concatenate([[0.0], hi, -lo]), 1,
    )  # fmt: skip
    return None if least is None else least * t


def _hulls(problem: BoxQP, K: np.ndarray, rows: np.ndarray) -> float | None:
    """Half the squared distance of the reduced hulls, K being given as a share of its largest value."""
    y, m = problem.signs[rows], len(rows)
    caps = problem.upper[rows] / (problem.total or 1.0)
    return _solve(
        K * y[:, None] * y, np.zeros(m), np.vstack([(y > 0) * 1.0, (y < 0) * 1.0, np.eye(m), -np.eye(m)]),
        np.concatenate([[1.0, 1.0], caps, np.zeros(m)]), 2,
    )  # fmt: skip


def _solve(P: np.ndarray, q: np.ndarray, A: np.ndarray, b: np.ndarray, equalities: int) -> float | None:
    """The least ½x'Px + q'x with Ax ≤ b, the first rows being equalities; None where it was not found exactly."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(equalities), clarabel.NonnegativeConeT(len(b) - equalities)]
    found = clarabel.DefaultSolver(sp.csc_matrix(np.triu(P)), q, sp.csc_matrix(A), b, cones, settings).solve()
    if str(found.status) != "Solved":
        return None
    x, z = np.array(found.x), np.array(found.z)
    outside = A @ x - b
    outside[equalities:] = np.maximum(outside[equalities:], 0.0)
    # what the optimum may be off by: the gap, and what the constraints and the stationarity are amiss
    amiss = (
        abs(found.obj_val - found.obj_val_dual) + np.abs(outside) @ np.abs(z) + np.abs(P @ x + q + A.T @ z) @ np.abs(x)
    )
    return float(found.obj_val) if amiss <= _OWN_GAP * abs(found.obj_val) else None
