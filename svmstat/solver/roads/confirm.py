"""Whether what is given as a solution of a problem is one: its certificate computed anew from α alone."""

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat.solver.case import case_of, fresh
from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.conclude import certified
from svmstat.solver.solution import TOLERANCE, Nearest, Solution, Status, rounding_of

_DIGITS = 100.0
"""How many times the rounding of Kβ another machine's kernel values may be off."""

_NUMBERS = ("violation", "gap", "rounding", "resolution", "norm_squared", "objective")


def misfit(problem: BoxQP, solution: Solution) -> str | None:
    """What is wrong with a solution that comes from elsewhere; None if it is that of the problem.

    h and the certificate are computed anew from α. They must be those of the solution to the tolerance of 1e-8, or as
    far as the rounding of Kβ goes where that is more. How much rounding hides is taken at its word where it is claimed
    to be less than what is found: it was known by the exact values of a basis, which the digits of α do not give.

    Parameters
    ----------
    problem : BoxQP
        For its own upper bounds.
    solution : Solution
        Of any content, but with the types of one.
    """
    if (wrong := _malformed(problem, solution)) is not None:
        return wrong
    lo, hi = problem.box(problem.upper)
    nearest = solution.nearest
    beta = problem.signs * solution.alpha if nearest is None else nearest.beta
    if (beta < lo).any() or (beta > hi).any():
        return "a dual variable is outside its bounds"
    case = case_of(problem, problem.upper)
    copy = beta.copy()
    again = certified(
        problem, case, problem.upper, copy, fresh(case, copy), solution.basis, solution.road, solution.steps,
        solution.events,
    )  # fmt: skip
    tolerance = TOLERANCE + _DIGITS * max(again.rounding, _of_plain_sums(problem, solution))
    return _differing(solution, again, tolerance) or _overstated(solution, again, tolerance)


def _of_plain_sums(problem: BoxQP, solution: Solution) -> float:
    """How far h is known by the digits of α, where these are not those of hulls."""
    return 0.0 if problem.total is not None else float(rounding_of(solution.alpha, problem.gram.sizes))


def _differing(solution: Solution, again: Solution, tolerance: float) -> str | None:
    """Which array is not that of the solution that was computed ``again``."""
    size = max(1.0, float(np.abs(again.alpha).max(initial=0.0)))
    ends = np.array(solution.intercept_interval), np.array(again.intercept_interval)
    if not _near(solution.upper, again.upper, tolerance * float(again.upper.max())):
        return "the upper bounds are not those of the problem"
    if not _near(solution.alpha, again.alpha, 1e-6 * size):
        return "the dual variables are not those of the nearest points"
    if not _near(solution.field, again.field, tolerance):
        return f"decision values are off by {np.abs(solution.field - again.field).max():.2g}"
    return None if _near(*ends, tolerance) else "the intercept is not that of the decision values"


def _overstated(solution: Solution, again: Solution, tolerance: float) -> str | None:
    """Which number of its certificate is not that of the one that was computed ``again``."""
    scale = again.upper if again.nearest is None or again.rho > 0.0 else again.nearest.caps  # on which the gap is
    bounds = float(scale.sum())
    if solution.flat is not again.flat or solution.delicate is not again.delicate:
        return "the precision that it needs is another"
    if solution.status is Status.CERTIFIED and again.violation > tolerance:
        return f"the KKT violation is {again.violation:.2g}, and not below {TOLERANCE:g}"
    for name in _NUMBERS:
        claimed, found = getattr(solution, name), getattr(again, name)
        if name == "violation":
            allowed = tolerance
        elif name in ("rounding", "resolution"):
            allowed = 9.0 * found + tolerance if claimed > found else found
        else:
            allowed = 1e-3 * max(abs(claimed), abs(found)) + tolerance * bounds
        if not (abs(claimed - found) <= allowed or np.isnan([claimed, found]).all()):
            return f"its {name} is {found:.6g}, and not {claimed:.6g}"
    return None


def _may_be(name: str, value: object) -> bool:
    """Whether a number of a certificate is one: of a kernel that is not positive semidefinite ‖h‖² may be NaN."""
    return isinstance(value, float) and bool(np.isfinite(value) or (name == "norm_squared" and np.isnan(value)))


def _malformed(problem: BoxQP, solution: Solution) -> str | None:
    """Arrays of other lengths, or numbers that are none."""
    vectors = [solution.alpha, solution.upper, solution.field]
    if (solution.nearest is None) is not (problem.total is None):
        return "it is of a problem with other sums"
    if solution.nearest is not None:
        vectors += [solution.nearest.beta, solution.nearest.caps, solution.nearest.h]
        if not _is_pair(solution.nearest.rho_interval) or not isinstance(solution.nearest.rho, float):
            return "its rho is no number"
    if not all(_is_vector(each, problem.n) for each in vectors):
        return f"its arrays are not of the {problem.n} rows of the problem, or hold what is no number"
    if not all(_may_be(name, getattr(solution, name)) for name in _NUMBERS):
        return "its certificate holds what is no number"
    if not all(isinstance(each, bool) for each in (solution.delicate, solution.flat)):
        return "its certificate holds what is neither true nor false"
    if not (isinstance(solution.steps, int) and isinstance(solution.events, int)):
        return "its steps are no whole number"
    if not _is_pair(solution.intercept_interval):
        return "its interval of the intercept is none"
    return _malformed_basis(problem, solution) or (
        None if solution.nearest is None else _other(problem, solution.nearest)
    )


def _malformed_basis(problem: BoxQP, solution: Solution) -> str | None:
    """A basis that is none. Of which rows it is and what its matrix is only decide how long a path is."""
    basis = solution.basis
    if basis is None:
        return None
    rows, inverse = basis.rows, basis.inverse
    lead = 1 if problem.total is None else 2
    if not isinstance(rows, np.ndarray) or rows.dtype != np.intp or rows.ndim != 1:
        return "the rows of its basis are no whole numbers"
    if not isinstance(inverse, np.ndarray) or inverse.dtype != float or inverse.shape != (len(rows) + lead,) * 2:
        return "its basis has not the shape of its rows"
    known = np.isin(rows, np.arange(problem.n)).all() and len(np.unique(rows)) == len(rows)
    return None if known else "its basis is not of rows of the problem"


def _other(problem: BoxQP, nearest: Nearest) -> str | None:
    """Nearest points of other hulls."""
    lo, hi = problem.box(problem.upper)
    return None if np.array_equal(nearest.caps, np.maximum(hi, -lo)) else "its nearest points are of other hulls"


def _is_vector(values: object, n: int) -> bool:
    return (
        isinstance(values, np.ndarray)
        and values.dtype == float
        and values.shape == (n,)
        and bool(np.isfinite(values).all())
    )


def _is_pair(values: object) -> bool:
    return isinstance(values, tuple) and len(values) == 2 and all(isinstance(each, float) for each in values)


def _near(one: Floats, two: Floats, tolerance: float) -> bool:
    """Whether two arrays are the same but for the tolerance; infinite entries are where they are the same."""
    with np.errstate(invalid="ignore"):
        return bool(((one == two) | (np.abs(one - two) <= tolerance)).all())
