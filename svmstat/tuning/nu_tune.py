"""``tune()`` for minimax and Neyman–Pearson: the best (ν₊, ν₋) and kernel, and the fit with them [004]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._checks import fraction, one_of, refuse
from svmstat.errors import DataError
from svmstat.machine import Groups
from svmstat.model import Prepared, fit
from svmstat.nu import largest_single, nu_of_sample
from svmstat.rules import ShiftedRule
from svmstat.tuning.error_control import Minimax, NeymanPearson
from svmstat.tuning.grid import Grid
from svmstat.tuning.guarantee import order_of_threshold, rows_needed, threshold
from svmstat.tuning.nu_baselines import along_lines
from svmstat.tuning.nu_result import Estimates, NuTuneResult
from svmstat.tuning.nu_search import (
    Cell,
    ErrorRates,
    NuSample,
    coordinate_descent,
    coordinate_descent_by_kernel,
    search_grid,
)
from svmstat.tuning.search import Effort
from svmstat.tuning.smoothing import SMOOTHINGS, smooth

Floats = NDArray[np.float64]

SEARCHES: dict[str, Callable[..., Cell | None]] = {
    "grid": search_grid,
    "coordinate": coordinate_descent,
    "coordinate_2d": coordinate_descent_by_kernel,
}
BASELINES = ("balanced", "bias")
NU = tuple(k / 25 for k in range(1, 26))
"""The values of ν₊ and ν₋ if they are not given."""


@dataclass(frozen=True, slots=True)
class NuPlan:
    """A search for minimax or Neyman–Pearson, as the arguments of `tune` describe it.

    Attributes
    ----------
    criterion : minimax or Neyman–Pearson
    search : one of `SEARCHES` or `BASELINES`
    smooth : None, "2d" or "3d"
    nu_event, nu_other : (I,) and (J,) rising values of ν₊ and ν₋
    """

    criterion: Minimax | NeymanPearson
    search: str
    smooth: str | None
    nu_event: Floats
    nu_other: Floats


def make_plan(criterion: Minimax | NeymanPearson, search: object, smoothing: object, nu: object) -> NuPlan:
    """Check the arguments of `tune` that are for these criteria only.

    Raises
    ------
    ArgumentError
        For a search or a smoothing that does not exist, or values of ν outside (0, 1].
    """
    kind = one_of("search", search, (*SEARCHES, *BASELINES))
    if smoothing is not None:
        one_of("smooth", smoothing, [name for name in SMOOTHINGS if name is not None])
    nu_event, nu_other = _both("nu", nu)
    if kind == "bias" and isinstance(criterion, NeymanPearson) and criterion.delta is not None:
        raise refuse("search", kind, "another with delta, which sets the threshold on f itself")
    if kind in BASELINES and not np.array_equal(nu_event, nu_other):
        raise refuse("nu", nu, f"one sequence of numbers with search={kind!r}, which has one nu for both levels")
    return NuPlan(criterion, kind, smoothing, nu_event, nu_other)  # type: ignore[arg-type]


def _both(name: str, nu: object) -> tuple[Floats, Floats]:
    """The values of ν₊ and of ν₋: a sequence for both, or two sequences."""
    allowed = "a sequence of numbers in (0, 1], or two sequences, for the event and for the other level"
    if nu is None:
        return np.array(NU), np.array(NU)
    if not _is_sequence(nu):
        raise refuse(name, nu, allowed)
    each = list(nu)  # type: ignore[call-overload]
    if len(each) == 2 and all(map(_is_sequence, each)):
        return _values(f"{name}[0]", each[0]), _values(f"{name}[1]", each[1])
    values = _values(name, each)
    return values, values


def _is_sequence(values: object) -> bool:
    """Whether it is a list, an array or the like, of one dimension and not empty."""
    if isinstance(values, np.ndarray | pd.Series):
        return values.ndim == 1 and len(values) > 0
    return isinstance(values, Sequence) and not isinstance(values, str | bytes) and len(values) > 0


def _values(name: str, values: Any) -> Floats:
    numbers = (each.item() if isinstance(each, np.generic) else each for each in values)
    return np.unique([fraction(f"{name}[{k}]", number) for k, number in enumerate(numbers)])


def tune_errors(
    prepared: Prepared, grid: Grid, plan: NuPlan, groups: Groups, fold: NDArray[np.intp], effort: Effort
) -> NuTuneResult:
    """Search, and fit with what was found.

    Parameters
    ----------
    prepared : the data
    grid : the kernels; its costs are not used
    plan : what was asked for
    groups : the rows that are the same observation
    fold : (G,) the fold of each group
    effort : workers and progress

    Raises
    ------
    DataError
        If no grid point could be estimated.
    """
    frame = prepared.frame
    X = prepared.X[groups.first]
    if not grid.kernels[0].of_rows:
        X = np.ascontiguousarray(X[:, groups.first])
    sample = NuSample(X, frame.y[groups.first], groups.weights, fold)
    folds = pd.Series(groups.to_rows(fold), index=frame.index, name="fold")
    estimates, chosen = (_searched if plan.search in SEARCHES else _baseline)(sample, grid, plan, effort)
    if chosen is None:
        raise DataError(
            "no point that was looked at could be estimated: for each of them rho is too small in some fold for the "
            "decision function to have digits; larger nu or another gamma help."
        )
    row = estimates.at(chosen)
    kernel, nu = grid.kernels[chosen[0]], (float(row["nu_event"]), float(row["nu_other"]))
    best = fit(prepared, kernel, 1.0, nu_of_sample(nu, frame.y, frame.weights))
    rule = ShiftedRule(best, float(row["shift"])) if plan.search == "bias" else None
    params = {"nu": nu, **grid.arguments[chosen[0]]}
    return NuTuneResult(best, params, estimates, chosen, plan.criterion, plan.search, plan.smooth, folds, rule)


def _searched(sample: NuSample, grid: Grid, plan: NuPlan, effort: Effort) -> tuple[Estimates, Cell | None]:
    rates = ErrorRates(sample, grid.kernels, plan.nu_event, plan.nu_other, effort)
    chosen = SEARCHES[plan.search](rates, plan.criterion, plan.smooth)
    known = rates.known
    p_f, p_m = (np.where(known, each, np.nan) for each in rates.smoothed(plan.smooth))
    event, other = np.broadcast_arrays(plan.nu_event, plan.nu_other[:, None])
    return Estimates(
        grid.parameters, event, other, rates.p_f, rates.p_m, p_f, p_m, np.zeros(known.shape), rates.unresolved, known
    ), chosen


def _baseline(sample: NuSample, grid: Grid, plan: NuPlan, effort: Effort) -> tuple[Estimates, Cell | None]:
    """The same for a grid of kernels and one ν: arrays (S, 1, D)."""
    event, other = plan.nu_event, plan.nu_event
    if plan.search == "bias":
        most = largest_single(sample.weights[sample.y > 0].sum(), sample.weights[sample.y < 0].sum())
        single = event[event <= most * (1.0 + 1e-12)].tolist()
        if not single:
            raise DataError(
                f"every nu is above twice the share of the smaller class, {most:.4g}, where the ordinary nu-SVM has "
                "no solution."
            )
        both = [nu_of_sample(nu, sample.y, sample.weights) for nu in single]
        event, other = np.array([nu.event for nu in both]), np.array([nu.other for nu in both])
    lines = along_lines(sample, grid.kernels, event, other, plan.criterion if plan.search == "bias" else None, effort)
    p_f, p_m, shift = (each[:, None] for each in (lines.p_f, lines.p_m, lines.shift))
    smooth_f, smooth_m = smooth(p_f, plan.smooth), smooth(p_m, plan.smooth)
    estimates = Estimates(
        grid.parameters, event[None], other[None], p_f, p_m, smooth_f, smooth_m, shift, lines.unresolved[:, None],
        np.ones(p_f.shape, bool),
    )  # fmt: skip
    return estimates, estimates.best(plan.criterion)


def hold_out_others(
    prepared: Prepared, criterion: NeymanPearson, n_data: int, keep_outside: bool, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Positions in the data of rows of the other level that set the threshold, and the mask (n_data,) of all others.

    Parameters
    ----------
    prepared : all data
    criterion : with δ and the share that is held out
    n_data : number of rows of the data
    keep_outside : whether rows that were not used stay in the mask
    rng : where the choice comes from

    Raises
    ------
    DataError
        If the rows do not suffice, or have weights.
    """
    frame, delta = prepared.frame, criterion.delta
    assert delta is not None
    if (frame.weights != 1.0).any():
        raise DataError(
            "neyman_pearson(a, delta) counts rows that were drawn independently: case weights other than 1 are not "
            "allowed with it."
        )
    others = frame.rows[frame.y < 0]
    m = int(criterion.holdout * len(others) + 1e-9)
    needed = rows_needed(criterion.a, delta)
    if m < needed:
        least = int(np.ceil(needed / criterion.holdout - 1e-9))
        raise DataError(
            f"a = {criterion.a:g} with delta = {delta:g} needs at least {needed} held-out rows of the other level, so "
            f"that with holdout = {criterion.holdout:g} the data must have {least} of them: there are {len(others)}."
        )
    held = np.sort(rng.permutation(others)[:m])
    mask = np.full(n_data, keep_outside)
    mask[frame.rows] = True
    mask[held] = False
    return held, mask


def guaranteed(result: NuTuneResult, criterion: NeymanPearson, held: pd.DataFrame) -> NuTuneResult:
    """The result with the rule whose threshold the held-out rows of the other level set."""
    assert criterion.delta is not None
    scores = result.best.decision_function(held).to_numpy()
    cut = threshold(scores, criterion.a, criterion.delta)
    return result.with_rule(
        ShiftedRule(result.best, -cut), len(scores), order_of_threshold(len(scores), criterion.a, criterion.delta)
    )
