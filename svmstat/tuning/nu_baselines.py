"""Two simpler ways to control the errors, to compare with [004: 4.3].

"balanced" is the 2ν-SVM with ν₊ = ν₋. "bias" is the ordinary ν-SVM, also of the rows that a fold leaves, whose decision
function is shifted by what is best for its held-out rows. Both have a grid of kernels and of one ν.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat.kernels import Kernel, centred_gram
from svmstat.machine import tied
from svmstat.objective.nu import Nu, largest_single
from svmstat.resampling.loops import run_pieces, watched_steps
from svmstat.solver import TOLERANCE, resolved, sweep_line
from svmstat.tuning.error_control import Minimax, NeymanPearson, best_cell
from svmstat.tuning.nu_grid import outlook_of_sweeps, sample_without
from svmstat.tuning.sample import Distinct, Effort
from svmstat.tuning.surface import ErrorSurface


def along_lines(
    sample: Distinct, kernels: Sequence[Kernel], nu_event: Floats, nu_other: Floats,
    shifted_for: Minimax | NeymanPearson | None, effort: Effort, single: bool = False,
) -> ErrorSurface:  # fmt: skip
    """Estimate the errors of each kernel for the pairs (nu_event[d], nu_other[d]), which rise together, both (D,).

    Parameters
    ----------
    sample : the rows
    kernels : S kernels
    nu_event, nu_other : (D,) ν₊ and ν₋
    shifted_for : the criterion for which f is shifted, None for no shift
    effort : workers and progress
    single : whether each pair is that of a single ν, which is another pair for the rows that a fold leaves

    Returns
    -------
    ErrorSurface
        (S, 1, D); the shifts are zero without bias-shifting.
    """
    pieces = [(sample, kernel, nu_event, nu_other, shifted_for, single) for kernel in kernels]
    outlook = outlook_of_sweeps(len(sample.y))
    parts = run_pieces(
        _of_kernel, pieces, n_jobs=effort.n_jobs, progress=effort.progress, what="nu line", outlook=outlook
    )
    rates, unresolved, constant = (np.array(each) for each in zip(*parts, strict=True))
    p_f, p_m, shift = (rates[:, k, None] for k in range(3))
    known = np.ones(p_f.shape, bool)
    counts = unresolved[:, None], constant[:, None]
    return ErrorSurface(nu_event[None], nu_other[None], p_f, p_m, shift, *counts, known, compared=known)


def most_in_folds(sample: Distinct) -> float:
    """The largest ν for which the ordinary ν-SVM has a solution, for all rows and for those without each fold."""
    kept = [np.ones(len(sample.y), bool), *(sample.fold != k for k in np.unique(sample.fold))]
    return min(largest_single(*_sums_of_levels(sample, rows)) for rows in kept)


def _sums_of_levels(sample: Distinct, rows: NDArray[np.bool_]) -> tuple[float, float]:
    """n₊ and n₋ of some rows (n,)."""
    event = sample.y > 0
    return float(sample.weights[rows & event].sum()), float(sample.weights[rows & ~event].sum())


def _without(sample: Distinct, out: NDArray[np.bool_], nu_event: Floats, nu_other: Floats) -> tuple[Floats, Floats]:
    """ν₊ and ν₋ (D,) of single ν for the rows that are not ``out``."""
    of_all, kept = _sums_of_levels(sample, np.ones(len(out), bool)), _sums_of_levels(sample, ~out)
    each = [
        Nu(*both, *of_all, single=True).of(*kept) for both in zip(nu_event.tolist(), nu_other.tolist(), strict=True)
    ]
    return np.minimum([nu.event for nu in each], 1.0), np.minimum([nu.other for nu in each], 1.0)


def _of_kernel(
    sample: Distinct, kernel: Kernel, nu_event: Floats, nu_other: Floats, shifted_for: Minimax | NeymanPearson | None,
    single: bool,
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """P_F, P_M and shift (3, D), and both flags (D,)."""
    K, D = centred_gram(kernel, sample.X), len(nu_event)
    falling = np.argsort(-nu_event, kind="stable")
    f, flags = np.full((D, len(sample.y)), np.nan), np.empty((int(sample.fold.max()) + 1, D), np.int64)
    for k in watched_steps("nu line", range(len(flags))):
        out = sample.fold == k
        event, other = _without(sample, out, nu_event, nu_other) if single else (nu_event, nu_other)
        line = sweep_line(sample_without(K, sample.y, sample.weights, out), event[falling], other[falling])
        f[np.ix_(falling, out)] = line.f[:, 0, np.count_nonzero(~out) :]
        flags[k, falling] = line.code[:, 0]
    told = tied(resolved(f, TOLERANCE).T, np.full(D, TOLERANCE)).T  # as the certificates of the sweep tell them apart
    rates = np.array([_rates(row, sample, shifted_for) for row in told]).T
    rates[:, (flags > 1).any(axis=0)] = np.nan
    return rates, (flags > 1).sum(axis=0), (flags == 1).sum(axis=0)


def _rates(f: Floats, sample: Distinct, shifted_for: Minimax | NeymanPearson | None) -> tuple[float, float, float]:
    """P_F, P_M and the shift for held-out decision values (n,)."""
    if shifted_for is None:
        return _unshifted(f, sample)
    p_f, p_m, shifts = error_curve(f, sample.y, sample.weights)
    at = best_cell(shifted_for, p_f, p_m)
    return float(p_f[at]), float(p_m[at]), float(shifts[at])


def _unshifted(f: Floats, sample: Distinct) -> tuple[float, float, float]:
    event = sample.y > 0
    false_alarms = sample.weights[~event & (f > 0)].sum() / sample.weights[~event].sum()
    misses = sample.weights[event & ~(f > 0)].sum() / sample.weights[event].sum()
    return float(false_alarms), float(misses), 0.0


def error_curve(f: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """P_F and P_M of the rules f + shift > 0 for every shift that makes a difference.

    Parameters
    ----------
    f : (n,) decision values
    y : (n,) labels, −1 or +1
    weights : (n,) case weights

    Returns
    -------
    p_f, p_m, shifts : (m,) arrays
        The shifts rise, in the middle between neighbouring values of −f, and beyond both ends.

    Examples
    --------
    >>> p_f, p_m, shifts = error_curve(np.array([-1.0, 2.0, 3.0]), np.array([-1.0, 1.0, -1.0]), np.ones(3))
    >>> shifts, p_f, p_m
    (array([-4. , -2.5, -0.5,  2. ]), array([0. , 0.5, 0.5, 1. ]), array([1., 1., 0., 0.]))
    """
    order = np.argsort(-f, kind="stable")
    values, event, w = f[order], y[order] > 0, weights[order]
    alarms = np.concatenate([[0.0], np.cumsum(np.where(event, 0.0, w))]) / w[~event].sum()
    found = np.concatenate([[0.0], np.cumsum(np.where(event, w, 0.0))]) / w[event].sum()
    apart = np.concatenate([[True], values[:-1] > values[1:], [True]])
    middle = 0.5 * (values[:-1] + values[1:])
    middle = np.where(middle < values[:-1], middle, values[1:])  # of neighbouring numbers it may be the upper one
    cuts = np.concatenate([[values[0] + 1.0], middle, [values[-1] - 1.0]])
    return alarms[apart], 1.0 - found[apart], -cuts[apart]
