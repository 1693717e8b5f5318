"""Resampling against brute force: every altered sample fitted by itself, from nothing, to rows with other weights.

The kernel with its width and the scaling stay those of the fit, as they do in resampling.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.fuzz.draw import Case
from benchmarks.fuzz.judge import EPS, Finding, Floats
from svmstat import svm, tune
from svmstat._tools.randomness import seed_sequence
from svmstat.calibration import fit_maps
from svmstat.errors import DataError
from svmstat.machine import Contrast, fit_machine
from svmstat.resampling.bootstrap import replicate_generator
from svmstat.resampling.folds import held_out_as
from svmstat.solver import TOLERANCE, Status

SCORES = 1e-6
"""Largest relative difference of two scores, and of decision values relative to the largest: what a KKT violation of
1e-8 leaves open where the problem is not ill-conditioned."""

_REPLICATES = 6
_FOLDS = 3
_COSTS = (0.25, 1.0, 8.0)
_PARAMETERS = ("gamma", "degree", "coef0")


@dataclass(frozen=True, slots=True)
class Refit:
    """A fit to rows with other weights.

    Attributes
    ----------
    values : (n, P) decision values of all rows, also those of weight zero
    log_likelihood : (n,) log p of each row's label by the map fitted to the weighted rows
    good : whether the fits are certified and the maps converged
    """

    values: Floats
    log_likelihood: Floats
    good: bool


def refit(fit: Any, weights: Floats, rows: Any = slice(None)) -> Refit:
    """The machine of a fit on (some of) its rows with weights (n,), from nothing."""
    machine = fit.machine
    X = machine.X[rows] if fit.kernel_name != "precomputed" else machine.X[rows][:, rows]
    codes, C = machine.codes[rows], 1.0 if fit.nu is not None else machine.C
    asked = [Contrast(pair.first, pair.second, pair.loss, pair.nu) for pair in machine.pairs]
    again = fit_machine(machine.kernel, X, codes, weights, asked, C=C)
    if np.isnan(again.decision_values).any():
        return Refit(again.decision_values, np.full(len(codes), np.nan), False)
    maps = fit_maps(again, fit.insample_maps.coupling)
    certified = all(pair.solution.status is Status.CERTIFIED for pair in again.pairs)
    each = maps.log_likelihoods(again.decision_values, codes)
    return Refit(again.decision_values, each, bool(certified and maps.converged.all()))


def compare(case: Case, fit: Any, counted: Counter[str]) -> list[Finding]:
    """The resampling that the case asks for; what was compared is counted."""
    if not np.all(fit.insample.converged):
        return []
    if case.resample == "tune" and fit.nu is not None:
        return _leave_one_out(fit, counted)
    match case.resample:
        case "loo":
            return _leave_one_out(fit, counted)
        case "folds" if fit.nu is None:
            return _folds(case, fit, counted)
        case "tune":
            return _grid(case, fit, counted)
    return _bootstrap(case, fit, counted)


def _shown(fit: Any) -> float:
    """How much of the digits of h the sum f = h + b loses, as a share of the spread of h: much where C is tiny."""
    f = np.asarray(fit.decision_values, float).reshape(len(fit.frame.index), -1)
    spread = np.ptp(f, axis=0)
    lost = EPS * np.abs(f).max(axis=0)[spread > 0] / spread[spread > 0]
    return float(lost.max(initial=0.0))


def _agree(what: str, one: Floats, other: Floats, size: float, fit: Any) -> list[Finding]:
    """Whether two sets of numbers are the same to `SCORES` of their size, and to the digits that f shows of h."""
    off = np.abs(np.asarray(one) - np.asarray(other))
    if (off > (SCORES + 100.0 * _shown(fit)) * size).any():
        worst = np.unravel_index(np.argmax(off), off.shape)
        one, other = np.asarray(one)[worst], np.asarray(other)[worst]
        return [Finding(what, f"{one:.9g}, by brute force {other:.9g}, of {size:.3g}")]
    return []


def _leave_one_out(fit: Any, counted: Counter[str]) -> list[Finding]:
    left, weights = fit.loo(), fit.frame.weights
    values = np.asarray(left.arrays.decision_values)
    mine, each, good = np.empty_like(values), np.empty(len(weights)), np.zeros(len(weights), bool)
    for k in range(len(weights)):
        fewer = weights.copy()
        fewer[k] -= min(fewer[k], 1.0)
        again = refit(fit, fewer)
        mine[k], each[k], good[k] = again.values[k], again.log_likelihood[k], again.good
    known, mine_known = (~np.isnan(v).reshape(len(weights), -1).any(axis=1) for v in (values, mine))
    if (known != mine_known).any():
        return [Finding("loo", f"row {np.flatnonzero(known != mine_known)[0]} is NaN on one road only")]
    good &= known & (np.asarray(left.arrays.violation) <= TOLERANCE) & np.asarray(left.arrays.calibrated)
    counted["loo, rows"] += int(good.sum())
    counted["loo, rows not compared"] += int((~good).sum())
    if not good.any():
        return []
    found = _agree("loo", values[good], mine[good], max(1.0, float(np.abs(mine[good]).max())), fit)
    if good.all():
        counted["loo, scores"] += 1
        score = float(-2.0 * weights @ each)
        mapped = float(-2.0 * weights @ left.arrays.log_likelihood)
        found += _agree("loo, score", mapped, score, abs(score), fit)
    return found


def _divides(fit: Any) -> bool:
    """Whether folds divide rows, so that no fold is that of a row."""
    machine = fit.machine
    times = held_out_as(machine.groups, machine.group_codes, machine.weights, machine.units is None)
    return bool(times.max() > 1)


def _folds(case: Case, fit: Any, counted: Counter[str]) -> list[Finding]:
    weights, codes = fit.frame.weights, fit.frame.codes
    different = [np.unique(fit.machine.X[(weights > 0) & (codes == code)], axis=0) for code in range(len(fit.classes))]
    if min(map(len, different)) < _FOLDS or _divides(fit):
        return []
    tuned = _tuned(
        case,
        fit,
        counted,
        {"C": fit.C, "criterion": "kfold", "folds": _FOLDS, "rng": case.seed, "calibration": "insample"},
    )
    if tuned is None:
        return []
    row = tuned.table.iloc[0]
    score, good = 0.0, row["status"] == "ok"
    for which in range(_FOLDS):
        out = tuned.fold.to_numpy() == which
        again = refit(fit, np.where(out, 0.0, weights))
        score -= 2.0 * float(weights[out] @ again.log_likelihood[out])
        good = good and again.good
    counted["folds" if good else "folds, not compared"] += 1
    return _agree("folds, score", row["score"], score, abs(score), fit) if good else []


def _grid(case: Case, fit: Any, counted: Counter[str]) -> list[Finding]:
    """The scores of a search beside those of the fits at its points."""
    tuned = _tuned(case, fit, counted, {"C": [fit.C * factor for factor in _COSTS]})
    found = []
    for _, row in () if tuned is None else tuned.table.iterrows():
        point = svm(case.formula, case.data, **(case.options | {"C": row["C"]}))
        left = point.loo()
        if row["status"] != "ok" or left.n_failed or not point.converged:
            counted["tune, scores not compared"] += 1
            continue
        counted["tune, scores"] += 1
        found += _agree("tune, score", row["score"], left.score, abs(left.score), point)
    return found


def _tuned(case: Case, fit: Any, counted: Counter[str], how: dict[str, Any]) -> Any:
    """The search, on the parameters of the fit's kernel; None where it has nothing to score."""
    options = {name: value for name, value in case.options.items() if name not in _PARAMETERS}
    options |= {name: value for name, value in fit.kernel_parameters.items() if name in _PARAMETERS}
    try:
        return tune(case.formula, case.data, **(options | how))
    except DataError as error:
        if "could be scored" not in str(error):
            raise
        counted["tune, nothing to score"] += 1
        return None


def _bootstrap(case: Case, fit: Any, counted: Counter[str]) -> list[Finding]:
    """Replicates of drawn rows, by the numbers of copies that their seeds stand for."""
    groups, seed = fit.machine.groups, seed_sequence("rng", case.seed)
    replicates = fit.gof(B=_REPLICATES, method="pairs", rng=case.seed).replicates
    w, found = groups.weights, []
    for r, value in enumerate(replicates):
        copies = replicate_generator(seed, r).multinomial(round(w.sum()), w / w.sum()).astype(float)
        codes = fit.frame.codes[groups.first]
        if len(np.unique(codes[copies > 0])) < len(fit.classes):
            if not np.isnan(value):
                found.append(Finding("gof", f"replicate {r} has lost a class and is {value}"))
            continue
        again = refit(fit, copies, groups.first)
        good = again.good and not np.isnan(value)
        counted["gof, replicates" if good else "gof, replicates not compared"] += 1
        if good:
            deviance = float(-2.0 * copies @ again.log_likelihood)
            found += _agree("gof", value, deviance, abs(deviance), fit)
    return found
