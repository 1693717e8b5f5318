"""Stratified k-fold with many classes: each fold left out of every pair as a bound u = 0, along a path of costs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svmstat.calibration import fit_platt
from svmstat.machine import carried
from svmstat.multiclass.pairs import PosedPairs, elsewhere
from svmstat.multiclass.probabilities import coupled, log_likelihoods, vote
from svmstat.solver import Solution, Status, solve

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class PairsHeldOut:
    """What J fits, one for each cost, say about the m groups that they have not seen.

    Attributes
    ----------
    winner : (J, m) the class with most votes; −1 where a fit has lost a class
    log_likelihood : (J, m) log p_{y_i}(x_i) by the Platt maps of the groups that were kept
    n_support : (J,) sum of the weights of the groups that are support vectors of a pair
    certified : (J,) whether all certificates of optimality hold
    calibrated : (J,) whether all Platt maps converged
    """

    winner: Codes
    log_likelihood: Floats
    n_support: Floats
    certified: NDArray[np.bool_]
    calibrated: NDArray[np.bool_]


def hold_out(posed: PosedPairs, out: NDArray[np.bool_], costs: Sequence[float], coupling: str) -> PairsHeldOut:
    """Fit for each cost without some of the groups, and predict these.

    Parameters
    ----------
    posed : the problems of the pairs, for any cost
    out : (G,) the m groups that are left out
    costs : (J,) values of C, rising: each solution is where the next sets off
    coupling : how the probabilities of the pairs are coupled

    Returns
    -------
    PairsHeldOut
    """
    m, n_pairs = int(np.count_nonzero(out)), len(posed.pairs)
    f, slope, intercept = np.full((len(costs), m, n_pairs), np.nan), *np.full((2, len(costs), 1, n_pairs), np.nan)
    certified, calibrated = np.ones(len(costs), bool), np.ones(len(costs), bool)
    is_support, n_support = np.zeros((len(costs), len(out)), bool), np.zeros(len(costs))
    for p, pair in enumerate(posed.pairs):
        solution: Solution | None = None
        left = out[pair.rows]
        others = np.flatnonzero(out & ~np.isin(np.arange(len(out)), pair.rows))
        place = np.cumsum(out) - 1
        y, weights = pair.problem.signs, posed.groups.weights[pair.rows]
        for j, cost in enumerate(costs):
            upper = np.where(left, 0.0, cost / posed.C * pair.problem.upper)
            start = None if solution is None else carried(solution, upper)
            solution = solve(replace(pair.problem, upper=upper), start=start)
            if solution.status is Status.ONE_CLASS:
                certified[:], calibrated[:], n_support[:] = False, False, np.nan
                break
            decision = solution.decision
            f[j, place[pair.rows[left]], p] = decision[left]
            beta = y * solution.coefficients
            f[j, place[others], p] = solution.decided(elsewhere(posed.gram, pair.rows, others, beta[None])[0])
            is_support[j, pair.rows] |= solution.alpha > 0
            certified[j] &= solution.status is Status.CERTIFIED
            platt = fit_platt(decision[~left], y[~left], weights[~left])
            slope[j, 0, p], intercept[j, 0, p] = platt.slope, platt.intercept
            calibrated[j] &= platt.converged
    kept = np.where(out, 0.0, posed.groups.weights)
    totals = np.bincount(posed.group_codes, kept, posed.n_classes).astype(float)
    probability = coupled(f, slope, intercept, totals, coupling)
    return PairsHeldOut(
        np.array([vote(each, posed.n_classes) for each in f]),
        log_likelihoods(probability, posed.group_codes[out]),
        n_support + is_support @ posed.groups.weights,
        certified,
        calibrated,
    )
