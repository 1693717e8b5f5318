"""Stratified k-fold: each fold left out as a bound u = 0 on the one kernel matrix, along a path of costs.

Scaling, kernel width and factor coding are those of the fit to all rows. Rows that are copies of each other are in one
fold: otherwise a fit would be tested on rows that it has seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svmstat.calibration import fit_platt
from svmstat.machine import carried
from svmstat.solver import BoxQP, Solution, Status, solve

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What J fits, one for each cost, say about the m rows that they have not seen.

    Attributes
    ----------
    decision_values : (J, m) f(x_i); NaN where the fit has lost a class
    log_likelihood : (J, m) log p_{y_i}(x_i) by the Platt map of the rows that were kept
    n_support : (J,) sum of the weights of the support vectors
    certified : (J,) whether the certificate of optimality holds
    calibrated : (J,) whether the Platt map converged
    """

    decision_values: Floats
    log_likelihood: Floats
    n_support: Floats
    certified: NDArray[np.bool_]
    calibrated: NDArray[np.bool_]


def assign_folds(y: Floats, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A fold 0 … k − 1 for each row (n,): sizes differ by at most one, and so they do within each class.

    Parameters
    ----------
    y : (n,) classes, as numbers
    k : number of folds
    rng : where the order of the rows of a class comes from

    Examples
    --------
    >>> fold = assign_folds(np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0]), 3, np.random.default_rng(1))
    >>> np.bincount(fold).tolist()
    [2, 2, 2]
    """
    order = np.concatenate([rng.permutation(np.flatnonzero(y == value)) for value in np.unique(y)[::-1]])
    fold = np.empty(len(y), np.intp)
    fold[order] = np.arange(len(y)) % k
    return fold


def hold_out(problem: BoxQP, upper: Floats, weights: Floats, costs: Sequence[float], with_map: bool = True) -> HeldOut:
    """Fit for each cost without the rows that have no bound, and predict these.

    Parameters
    ----------
    problem : kernel matrix, signs and margins
    upper : (n,) bounds for C = 1; zero for the m rows that are left out
    weights : (n,) case weights
    costs : (J,) values of C, rising: each solution is where the next sets off
    with_map : whether Platt maps are fitted; without them there are no log-likelihoods

    Returns
    -------
    HeldOut
    """
    out = upper == 0
    kept, y = ~out, problem.signs
    shape = (len(costs), int(np.count_nonzero(out)))
    f, log_likelihood, n_support = np.full(shape, np.nan), np.full(shape, np.nan), np.full(len(costs), np.nan)
    certified, calibrated = np.zeros(len(costs), bool), np.zeros(len(costs), bool)
    solution: Solution | None = None
    for j, cost in enumerate(costs):
        scaled = cost * upper
        start = None if solution is None else carried(solution, scaled)
        solution = solve(replace(problem, upper=scaled), start=start)
        if solution.status is Status.ONE_CLASS:
            break
        decision = solution.decision
        f[j] = decision[out]
        n_support[j] = weights[solution.alpha > 0].sum()
        certified[j] = solution.status is Status.CERTIFIED
        if with_map:
            platt = fit_platt(decision[kept], y[kept], weights[kept])
            log_likelihood[j], calibrated[j] = platt.log_likelihoods(f[j], y[out]), platt.converged
    return HeldOut(f, log_likelihood, n_support, certified, calibrated)
