"""The way of a sweep through a grid of (ν₊, ν₋): down one ν along a spine, and from each of its places down the other.

The steps go along the ν with more values, ν₊ if both have as many. The pairs where that is one have a chain of their
own: with a whole class at its bounds, such a solution is far from the next one in its partition, however near it is in
its decision values.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.repeats import first_copies
from svmstat.solver.case import case_of, judge
from svmstat.solver.gram import Gram, Rows
from svmstat.solver.hulls import digits
from svmstat.solver.problem import BoxQP
from svmstat.solver.roads.single import basis_of, solve_single
from svmstat.solver.roads.sweep import (
    FAILED,
    MET,
    SOLVED,
    UNRESOLVED,
    Cells,
    Ground,
    Place,
    all_bounded,
    bounded_sums,
    step,
    sweep_row,
)
from svmstat.solver.solution import FREE, TOLERANCE, Road, partition

_STATION = 0.1
_STATIONS = np.arange(9, 0, -1) * _STATION
"""Values of ν that a sweep passes on its way to the largest that is asked for."""

_CLEARLY = 4.0
"""A cell that fails although its neighbour's ρ is so many times what can be resolved is worth a descent."""


_ROUNDED = 1e-12
"""Of weights that sum to one."""


@dataclass(frozen=True, slots=True)
class NuGrid:
    """Errors on held-out rows for J × I pairs (ν₋, ν₊).

    Attributes
    ----------
    wrong : (J, 2, I) weight of the held-out events with f ≤ 0, then of the others with f > 0; NaN if not resolved
    rho : (J, I) ρ on the scale of the hulls: 0 where they meet, NaN where it is not resolved
    violation : (J, I) the certificate, NaN where there is none
    code : (J, I) SOLVED, MET, UNRESOLVED or FAILED
    f : (J, I, n) decision values on the scale of the margins, or (0, 0, 0) if they are not kept
    events, rescued : (1,) path events in all; cells that were reached by a descent
    """

    wrong: Floats
    rho: Floats
    violation: Floats
    code: NDArray[np.int8]
    f: Floats
    events: NDArray[np.int64]
    rescued: NDArray[np.int64]

    @classmethod
    def blank(cls, J: int, width: int, n: int) -> "NuGrid":
        """A grid without results yet; n = 0 if decision values are not kept."""
        return cls(
            np.full((J, 2, width), np.nan), np.full((J, width), np.nan), np.full((J, width), np.nan),
            np.full((J, width), -1, np.int8), np.full((J, width, n) if n else (0, 0, 0), np.nan),
            np.zeros(1, np.int64), np.zeros(1, np.int64),
        )  # fmt: skip

    def without(self, rows: int, columns: int) -> "NuGrid":
        """The grid without its first rows and columns."""
        return NuGrid(
            self.wrong[rows:, :, columns:], self.rho[rows:, columns:], self.violation[rows:, columns:],
            self.code[rows:, columns:], self.f[rows:, columns:], self.events, self.rescued,
        )  # fmt: skip

    def transposed(self) -> "NuGrid":
        """The grid with rows and columns exchanged."""
        return NuGrid(
            self.wrong.transpose(2, 1, 0), self.rho.T, self.violation.T, self.code.T, self.f.transpose(1, 0, 2),
            self.events, self.rescued,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows of one sweep.

    Attributes
    ----------
    K : (m, n) kernel values of the m rows that take part, with themselves and then with the n − m held-out rows
    group : (m,) 0 for an event, 1 for another row; both occur
    weights : (m,) > 0
    held_group, held_weights : (n − m,) of the held-out rows
    """

    K: Floats
    group: Rows
    weights: Floats
    held_group: Rows
    held_weights: Floats


def sweep_grid(sample: Sample, nu_event: Floats, nu_other: Floats, *, keep: bool = False) -> NuGrid:
    """The errors for all pairs of ``nu_event`` (I,) and ``nu_other`` (J,) in (0, 1], both falling.

    The fractions are of the rows of the sample. f counts as positive where it exceeds what the certificate can tell
    from zero; where h = 0 it is zero.

    Parameters
    ----------
    sample : the rows that take part and those that are held out
    nu_event, nu_other : ν₊ and ν₋
    keep : whether to return the decision values
    """
    if len(nu_other) > len(nu_event):
        return _sweep(sample, 1, nu_other, nu_event, keep).transposed()
    return _sweep(sample, 0, nu_event, nu_other, keep)


def _sweep(sample: Sample, inner: int, nu_inner: Floats, nu_outer: Floats, keep: bool) -> NuGrid:
    """The grid with the values of class ``inner`` in its columns, along which the steps go."""
    before_inner, before_outer = _waypoints(nu_inner), _waypoints(nu_outer)
    skipped = len(before_outer)
    nu_inner, nu_outer = np.concatenate([before_inner, nu_inner]), np.concatenate([before_outer, nu_outer])
    J, width = len(nu_outer), len(nu_inner)
    sizes = np.bincount(sample.group, sample.weights, 2)
    results = NuGrid.blank(J, width, sample.K.shape[1] if keep else 0)
    caps = 1.0 / (nu_inner * sizes[inner]), 1.0 / (nu_outer * sizes[1 - inner])
    way = _Way(sample, _ground(sample), inner, *caps, results)
    column, spine, row = places = [_start(way) for _ in range(3)]
    first = 1 if nu_inner[0] == 1.0 and width > 1 else 0
    stop = width
    for j in range(J):
        if first and _along(way, column, j, 0, 1) == 0:
            break
        if stop > first:
            if j == 0 and first:
                column.copy_to(spine)
            if _along(way, spine, j, first, first + 1) == first:
                stop = first
                continue
            if j < skipped:
                continue
            spine.copy_to(row)
            stop = _along(way, row, j, first + 1, stop)
        elif not first:
            break
    _fill_smaller(way, places)
    return results.without(skipped, len(before_inner))


def sweep_line(sample: Sample, nu_event: Floats, nu_other: Floats) -> NuGrid:
    """The errors and decision values for the pairs (nu_event[d], nu_other[d]), both (D,) and not rising; as (D, 1)."""
    stations = _waypoints(np.maximum(nu_event[:1], nu_other[:1]))
    skipped = len(stations)
    nu_event = np.concatenate([np.maximum(stations, nu_event[0]), nu_event])
    nu_other = np.concatenate([np.maximum(stations, nu_other[0]), nu_other])
    D, sizes = len(nu_event), np.bincount(sample.group, sample.weights, 2)
    results = NuGrid.blank(D, 1, sample.K.shape[1])
    way = _Way(sample, _ground(sample), 0, np.empty(1), 1.0 / (nu_other * sizes[1]), results)
    place = _start(way)
    for d in range(D):
        way.inner_caps[0] = 1.0 / (nu_event[d] * sizes[0])
        if _along(way, place, d, 0, 1) == 0:
            break
    _fill_smaller(way, [place])
    return results.without(skipped, 0)


def _waypoints(nu: Floats) -> Floats:
    """Falling values above those that are asked for.

    A long way is hard where ρ is small at its end; and where the hulls meet before, it need not be gone.
    """
    return _STATIONS[nu[0] + 0.5 * _STATION < _STATIONS]


@dataclass(frozen=True, slots=True)
class _Way:
    """What is the same all along: the rows, the caps of both classes, and where results go."""

    sample: Sample
    ground: Ground
    inner: int
    inner_caps: Floats
    outer_caps: Floats
    results: NuGrid


@dataclass(frozen=True, slots=True)
class _Given:
    """The rows of a matrix in memory, as a `Gram` asks for them."""

    K: Floats
    vectors: ClassVar[None] = None
    blur: ClassVar[float] = 0.0

    @property
    def diagonal(self) -> Floats:
        return self.K.diagonal().copy()

    def block(self, rows: Rows, columns: Rows | slice) -> Floats:
        return np.ascontiguousarray(self.K[rows][:, columns])

    def gram(self) -> Floats:
        return self.K


def _problem(sample: Sample, upper: Floats) -> BoxQP:
    m = len(sample.group)
    square = np.ascontiguousarray(sample.K[:, :m])
    return BoxQP(Gram(_Given(square)), np.where(sample.group == 0, 1.0, -1.0), np.ones(m), upper, 1.0)


def _ground(sample: Sample) -> Ground:
    problem = _problem(sample, sample.weights)
    return Ground(sample.K, problem.sums, sample.weights, *digits(problem.gram))


def _start(way: _Way) -> Place:
    """The place for ν₊ = ν₋ = 1."""
    s = way.sample
    place = all_bounded(way.ground)
    step(way.ground, 1.0 / np.bincount(s.group, s.weights, 2), place)
    return place


def _along(way: _Way, place: Place, j: int, start: int, stop: int) -> int:
    """From pair to pair of row j, ``start`` to ``stop``; returns the first that is not SOLVED, or ``stop``."""
    s, r = way.sample, way.results
    keep = len(r.f) > 0
    cells = Cells(
        way.inner, way.inner_caps, way.outer_caps[j], s.held_group, s.held_weights, r.wrong[j], r.rho[j],
        r.violation[j], r.code[j],
    )  # fmt: skip
    i = start
    while i < stop:
        until = i + 1 if keep else stop
        rho_before = place.numbers[0]
        reached = int(sweep_row(way.ground, place, cells, i, until))
        if keep and reached == until:
            r.f[j, i] = place.f
        if reached < until:
            rho_before = r.rho[j, reached - 1] if reached > i else rho_before
            if r.code[j, reached] == FAILED:
                worth = rho_before > _CLEARLY * way.ground.rounding / TOLERANCE
                r.code[j, reached] = _descend_to(way, place, j, reached) if worth else UNRESOLVED
                r.rescued[0] += worth
            if r.code[j, reached] != SOLVED:
                return reached
            until = reached
        i = until
    return stop


def _descend_to(way: _Way, place: Place, j: int, i: int) -> int:
    """Put a place where a pair's solution is, found without a path; returns how that ended."""
    s = way.sample
    caps = np.empty(2)
    caps[way.inner], caps[1 - way.inner] = way.inner_caps[i], way.outer_caps[j]
    upper = caps[s.group] * s.weights
    problem = _problem(s, upper)
    solution = solve_single(problem, upper, None, Road.RESCUE)
    if solution.nearest is None or not solution.nearest.exact:
        return FAILED
    if solution.rho == 0.0:
        return MET
    case, basis, point, free = case_of(problem, upper), basis_of(problem, solution), place.point, place.free
    k = len(basis.rows)
    point.beta[:], point.lo[:], point.hi[:] = solution.nearest.beta, case.lo, case.hi
    point.status[:] = partition(point.beta, case.lo, case.hi)
    free.members[:k], free.inverse[: k + 2, : k + 2], free.size[0] = basis.rows, basis.inverse, k
    point.b[:] = judge(case, point.beta, solution.nearest.h).b
    point.g[:] = np.where(point.status == FREE, 0.0, case.shifts(point.b) - solution.nearest.h)
    bounded_sums(way.ground, place)
    return int(step(way.ground, caps, place))


def _share_points(way: _Way) -> NDArray[np.bool_]:
    """Pairs (J, I) at which the hulls meet since both classes can put all of their weight on the same points.

    With a strictly positive definite kernel there are no others. ρ is small just above them, so that a sweep, which
    stops where it cannot resolve ρ, does not come to them.
    """
    s = way.sample
    point = first_copies(s.K, s.K[:0])
    inner, outer = (np.bincount(point, s.weights * (s.group == g)) for g in (way.inner, 1 - way.inner))
    both = np.zeros((len(way.outer_caps), len(way.inner_caps)))
    for a in np.flatnonzero((inner > 0.0) & (outer > 0.0)):
        both += np.minimum.outer(outer[a] * way.outer_caps, inner[a] * way.inner_caps)
    return np.asarray(both >= 1.0 - _ROUNDED)


def _fill_smaller(way: _Way, places: list[Place]) -> None:
    """What follows for the pairs below one that was not SOLVED: unresolved below an unresolved one, else f = 0."""
    results, code = way.results, way.results.code
    if (code != SOLVED).any():
        code[(code != SOLVED) & _share_points(way)] = MET
    held = np.bincount(way.sample.held_group, way.sample.held_weights, 2).astype(float)
    results.events[0] = sum(int(place.numbers[2]) for place in places)
    unresolved, met = code >= UNRESOLVED, code == MET
    for axis in (0, 1):
        unresolved, met = np.logical_or.accumulate(unresolved, axis), np.logical_or.accumulate(met, axis)
    code[(code == -1) & unresolved] = UNRESOLVED
    code[code == -1] = MET
    out = code >= UNRESOLVED
    for array in (results.rho, results.violation):
        array[code == MET], array[out] = 0.0, np.nan
    wrong = results.wrong.transpose(1, 0, 2)
    wrong[0][code == MET], wrong[1][code == MET] = held[0], 0.0
    wrong[:, out] = np.nan
    if len(results.f):
        results.f[code == MET], results.f[out] = 0.0, np.nan
