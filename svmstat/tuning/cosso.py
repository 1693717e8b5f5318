"""Terms selected by COSSO: the machine for given θ and the θ for its functions, in turn [Zhang 2006].

The penalty Σ_t ‖h_t‖ of COSSO [Lin & Zhang 2006] is that of ½ Σ_t ‖h_t‖²/θ_t under Σ_t θ_t ≤ M. Given θ it is the
support vector machine with the kernel Σ_t θ_t K_t. Given its α, h_t = θ_t g_t with g_t = Σ_i α_i y_i K_t(·, x_i) and
‖h_t‖²/θ_t = θ_t ‖g_t‖², so that θ and b solve a linear programme, at whose corners θ are zero:

    min  ½ Σ_t θ_t ‖g_t‖² + Σ_i u_i ξ_i    s.t.  y_i (b + Σ_t θ_t g_t(x_i)) + ξ_i ≥ m_i,  Σ_t θ_t ≤ M,  θ, ξ ≥ 0

Pairs of more than two classes have a b and ξ each, and one θ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, eye_array, hstack, vstack

from svmstat._tools.arrays import Codes, Floats
from svmstat.kernels import Additive
from svmstat.machine import Contrast, PosedPair, decided_elsewhere, others_of
from svmstat.solver import Solution, Status, solve
from svmstat.tuning.sample import Sample

ALTERNATIONS = 2
"""Linear programmes for each M; the machine is fitted before each, and after the last."""

LEAST = 0.02
"""A term with a smaller share of Σθ is left out: the linear programme leaves columns of noise a few thousandths."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A machine with θ under Σθ ≤ M, as far as a search asks.

    Attributes
    ----------
    theta : (T,) θ_t ≥ 0
    decision_values : (G, P) f of all groups
    n_support : sum of the weights of the support vectors
    reason : why it cannot be relied on, else empty
    """

    theta: Floats
    decision_values: Floats
    n_support: float
    reason: str


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A machine: P problems with their bounds u, 0 in rows that are left out, and solutions; `Selected` of it."""

    pairs: tuple[PosedPair, ...]
    uppers: list[Floats]
    solutions: list[Solution]
    selected: Selected


def equal_weights(sample: Sample, kernel: Additive, C: float, out: NDArray[np.bool_] | None) -> Selected:
    """The machine with equal θ, without some groups (G,) if they are ``out``."""
    return _fit(sample, kernel, np.ones(len(kernel.names)), C, out).selected


def select(
    sample: Sample, kernel: Additive, C: float, bounds: Sequence[float], out: NDArray[np.bool_] | None
) -> list[Selected]:
    """The machines with θ under Σθ ≤ M for each of the ``bounds`` M, all from equal θ on.

    Parameters
    ----------
    sample : rows in folds, with the gram matrices of the terms
    kernel : whose θ are sought
    C : cost
    bounds : values of M > 0
    out : (G,) groups that are left out
    """
    first = _fit(sample, kernel, np.ones(len(kernel.names)), C, out)
    return [_alternated(sample, kernel, C, M, out, first) for M in bounds]


def _alternated(
    sample: Sample, kernel: Additive, C: float, M: float, out: NDArray[np.bool_] | None, fitted: _Fitted
) -> Selected:
    """θ and machine in turn, from a machine on."""
    for _ in range(ALTERNATIONS):
        if fitted.selected.reason:
            return fitted.selected
        theta = _weights(sample, fitted, M)
        if theta is None or not theta.any():
            reason = "the linear programme was not solved" if theta is None else "no term is left"
            return replace(fitted.selected, theta=np.zeros(len(kernel.names)), reason=reason)
        fitted = _fit(sample, kernel, theta, C, out)
    return fitted.selected


def _fit(sample: Sample, kernel: Additive, theta: Floats, C: float, out: NDArray[np.bool_] | None) -> _Fitted:
    """The machine with these θ, and its f of all groups."""
    posed = sample.pose(kernel.with_theta(theta))
    f, is_support = np.empty((posed.gram.n, len(posed.pairs))), np.zeros(posed.gram.n, bool)
    uppers, solutions = [], []
    for p, pair in enumerate(posed.pairs):
        upper = C / pair.C * pair.problem.upper
        upper = upper if out is None else np.where(out[pair.rows], 0.0, upper)
        solution = solve(replace(pair.problem, upper=upper))
        f[pair.rows, p] = solution.decision
        others = others_of(pair.rows, posed.gram.n)
        f[others, p] = decided_elsewhere(posed.gram, pair.rows, others, solution, pair.problem.signs)
        is_support[pair.rows] |= solution.alpha > 0
        uppers.append(upper)
        solutions.append(solution)
    n_support = float(posed.groups.weights[is_support].sum())
    return _Fitted(posed.pairs, uppers, solutions, Selected(theta, f, n_support, _trouble(solutions)))


def _trouble(solutions: Sequence[Solution]) -> str:
    for solution in solutions:
        if solution.status is Status.ONE_CLASS:
            return "left without a class"
        if solution.status is not Status.CERTIFIED:
            return "not certified"
    return ""


def _weights(sample: Sample, fitted: _Fitted, M: float) -> Floats | None:
    """The θ (T,) that the linear programme finds for the functions of a machine; None if it fails."""
    stored, T = sample.stored, len(fitted.selected.theta)
    assert stored is not None
    penalty, functions, signs, margins, bounds = np.zeros(T), [], [], [], []
    for pair, upper, solution in zip(fitted.pairs, fitted.uppers, fitted.solutions, strict=True):
        y, kept = pair.problem.signs, upper > 0.0
        g = stored.functions(pair.rows, y * solution.coefficients)
        penalty += (y * solution.coefficients) @ g
        functions.append(y[kept, None] * g[kept])
        signs.append(y[kept])
        margins.append(pair.problem.margin[kept])
        bounds.append(upper[kept])
    u, m = np.concatenate(bounds), np.concatenate(margins)
    P, n = len(signs), len(u)
    margin = hstack([csr_array(np.vstack(functions)), block_diag([csr_array(y[:, None]) for y in signs]), eye_array(n)])
    total = csr_array(np.concatenate([np.ones(T), np.zeros(P + n)])[None])
    found = linprog(
        np.concatenate([0.5 * penalty, np.zeros(P), u]) / u.max(),
        A_ub=vstack([-margin, total], format="csr"),
        b_ub=np.append(-m, M),
        bounds=[(0.0, None)] * T + [(None, None)] * P + [(0.0, None)] * n,
        method="highs",
    )
    if not found.success:
        return None
    theta = np.asarray(found.x[:T])
    return np.where(theta >= LEAST * theta.sum(), theta, 0.0)


def held_out_loss(contrasts: Sequence[Contrast], codes: Codes, f: Floats) -> Floats:
    """(m,) L(y) [m − y f]₊ for classes (m,) and decision values (m, P), the mean over the pairs that hold the class."""
    losses, counts = np.zeros(len(codes)), np.zeros(len(codes))
    for p, pair in enumerate(contrasts):
        rows = np.flatnonzero(pair.holds(codes))
        losses[rows] += pair.loss.values(f[rows, p], pair.signs(codes[rows]))
        counts[rows] += 1.0
    return losses / counts


def folds_of(sample: Sample) -> list[NDArray[np.bool_]]:
    """The groups (G,) that are left out together, fold by fold."""
    fold: Codes = sample.folded.of_group
    return [fold == which for which in range(int(fold.max()) + 1)]
