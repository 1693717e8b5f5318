"""Pairs replicates of a fit: the rows drawn again with replacement, every refit kept as what its f is made of.

What needs refits to drawn rows takes them from here, so that two statistics of one seed are of the same replicates.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.texts import counted
from svmstat.calibration import Maps, fit_map
from svmstat.errors import DataError
from svmstat.machine import Machine, cancelled, tied
from svmstat.machine.fit import sums_at
from svmstat.machine.pairs import products_by
from svmstat.objective import bounds
from svmstat.resampling.bootstrap import drawn_rows, outlook_of_replicates, replicate_generator, tasks_of
from svmstat.resampling.loops import Outlook, run_pieces
from svmstat.solver import Anchor, Batch, Status, solve

KIND = "out-of-bag"
"""Where the decision values come from to which the map of a replicate is fitted."""

_MOST_COPIES = 2.0**53
"""Larger whole numbers are no longer all doubles."""

_ROOM = 2**22
"""Numbers of all replicates and classes that a task of predictions holds at a time."""


@dataclass(frozen=True, slots=True)
class PairsReplicates:
    """B refits to rows that were drawn with replacement, the map of each fitted to the rows that it left out.

    In replicate r, f(x) = Σ_s coefficients[p][r, s] K(x, x_s) + intercept[r, p] over the groups ``rows[p]``. Each α is
    zero in a third of the rows at least, those not drawn, but hardly any row is a support vector of no replicate. So
    coefficients are kept dense for the rows that are in one: 8 B S bytes for each pair, 1 MB for B = 199 and 634 rows,
    and predictions are one product of matrices.

    Attributes
    ----------
    machine : the fit
    counts : (B, G) how often each group of equal rows was drawn; with units the weight of what was
    rows : for each of the P pairs, the groups (S,) that are a support vector in some replicate
    coefficients : for each of the P pairs, α y (B, S); zero where the pair failed
    intercept : (B, P); NaN where the pair has lost a class or is not certified
    maps : Platt's maps of the rows that each replicate left out, slope and intercept (B, 1, P), NaN where there is
        none, converged (B, P), totals (B, 1, K)
    seed : replicate r depends on it and on r alone
    """

    machine: Machine
    counts: Floats
    rows: tuple[Codes, ...]
    coefficients: tuple[Floats, ...]
    intercept: Floats
    maps: Maps
    seed: np.random.SeedSequence

    @property
    def lost(self) -> NDArray[np.bool_]:
        """(B,) whether no row of some class was drawn."""
        codes = self.machine.group_codes
        drawn = np.column_stack([self.counts[:, codes == k].any(axis=1) for k in range(self.machine.n_classes)])
        return np.asarray(~drawn.all(axis=1))

    @property
    def failed(self) -> NDArray[np.bool_]:
        """(B,) whether there is no f: a class lost, or a solution that is not certified."""
        return np.asarray(np.isnan(self.intercept).any(axis=1))

    @property
    def unmapped(self) -> NDArray[np.bool_]:
        """(B,) whether there are no probabilities: no f, no row of a class left out, or no converged map."""
        return np.asarray(self.failed | ~self.maps.converged.all(axis=1))

    @property
    def directions(self) -> Floats:
        """(B, p, P) the normal vectors Σ_s α_s y_s x_s, h for the linear kernel; NaN where the pair failed."""
        X, first = self.machine.X, self.machine.groups.first
        h = [cancelled(beta, X[first[rows]]) for rows, beta in zip(self.rows, self.coefficients, strict=True)]
        return np.where(np.isnan(self.intercept)[:, None], np.nan, np.stack(h, axis=-1))

    def decision_function(self, X: Floats) -> Floats:
        """(B, m, P) decision values for rows (m, p), as in `Machine`; NaN where the pair failed."""
        machine = self.machine
        f = np.empty((len(self.counts), len(X), len(machine.pairs)))
        sums = sums_at(machine.kernel, machine.X, machine.groups, machine.gram, X)
        for p, (pair, rows, beta) in enumerate(zip(machine.pairs, self.rows, self.coefficients, strict=True)):
            h = sums(rows, beta.T, partial(products_by, pair.solution))
            f[:, :, p] = h.T + self.intercept[:, p, None]
        return f

    def probabilities(self, X: Floats) -> Floats:
        """(B, m, K) class probabilities for rows (m, p); NaN for the replicates without them."""
        p = np.full((len(self.counts), len(X), self.machine.n_classes), np.nan)
        good = ~self.unmapped
        maps = replace(
            self.maps,
            slope=self.maps.slope[good],
            intercept=self.maps.intercept[good],
            totals=self.maps.totals[good],
        )
        p[good] = maps.probabilities(self.decision_function(X)[good])
        return p


@dataclass(frozen=True, slots=True)
class Spread:
    """How probabilities of m rows and K classes vary over replicates; all NaN where too few have any.

    Attributes
    ----------
    se : (m, K) standard deviations
    lower, upper : (m, K) percentiles
    """

    se: Floats
    lower: Floats
    upper: Floats


def pairs_replicates(
    machine: Machine, maps: Maps, *, B: int, seed: np.random.SeedSequence, n_jobs: int | None = None,
    progress: bool = False,
) -> PairsReplicates:  # fmt: skip
    """Draw B samples of the rows and fit each.

    Rows are drawn as `drawn_rows` does. The kernel matrix is that of the fit, as are scaling and kernel width. What was
    left out of a replicate makes its map.

    Parameters
    ----------
    machine : the fit
    maps : its maps, from which those of the replicates set off
    B : number of replicates, ≥ 1
    seed : replicate r depends on it and on r alone, and has the rows of replicate r of the bootstrapped deviance
    n_jobs, progress : as in `leave_one_out`

    Returns
    -------
    PairsReplicates
    """
    trial = partial(_refits, machine, maps, seed, np.zeros(1, np.intp))
    parts = run_pieces(
        _refits, [(machine, maps, seed, which) for which in tasks_of(B, machine.gram)], n_jobs=n_jobs,
        progress=progress, what="bootstrap", outlook=outlook_of_replicates(machine.gram, trial, B),
    )  # fmt: skip
    rows, coefficients = [], []
    for p, pair in enumerate(machine.pairs):
        support = np.flatnonzero(np.any([part.coefficients[p].any(axis=0) for part in parts], axis=0))
        rows.append(pair.rows[support])
        coefficients.append(np.concatenate([part.coefficients[p][:, support] for part in parts]))
    names = ("counts", "left_out", "intercept", "slope", "shift")
    counts, left_out, intercept, slope, shift = (
        np.concatenate([getattr(part, name) for part in parts]) for name in names
    )
    members = np.eye(machine.n_classes)[machine.group_codes]
    own = replace(
        maps, slope=slope[:, None], intercept=shift[:, None], converged=~np.isnan(slope), kind=KIND,
        totals=(left_out @ members)[:, None],
    )  # fmt: skip
    return PairsReplicates(machine, counts, tuple(rows), tuple(coefficients), intercept, own, seed)


@dataclass(frozen=True, slots=True)
class _Part:
    """R replicates: what was drawn and left out (R, G), α y (R, m) of every pair, intercepts, A and B (R, P)."""

    counts: Floats
    left_out: Floats
    coefficients: list[Floats]
    intercept: Floats
    slope: Floats
    shift: Floats


def _refits(machine: Machine, maps: Maps, seed: np.random.SeedSequence, which: Codes) -> _Part:
    """The replicates ``which`` (R,)."""
    weights = machine.groups.weights
    drawn = [drawn_rows(machine, replicate_generator(seed, int(r))) for r in which]
    counts, left_out = (np.array(each) for each in zip(*drawn, strict=True))
    shape = len(which), len(machine.pairs)
    intercept, slope, shift = (np.full(shape, np.nan) for _ in range(3))
    coefficients = []
    for p, pair in enumerate(machine.pairs):
        uppers = bounds.counts(pair.problem.upper, weights[pair.rows], counts[:, pair.rows])
        batch = solve(pair.problem, uppers, start=Anchor(pair.solution, None))
        good = batch.status == Status.CERTIFIED
        intercept[good, p] = batch.intercept[good]
        curved = good & batch.field.any(axis=1)  # where h = 0 is all that can be told, α is that of rounding
        coefficients.append(np.where(curved[:, None], batch.alpha * pair.problem.signs, 0.0))
        start, out = (maps.slope[p], maps.intercept[p]), left_out[:, pair.rows]
        for q, a, b in _maps_of(batch, good, pair.problem.signs, out, start):
            slope[q, p], shift[q, p] = a, b
    return _Part(counts, left_out, coefficients, intercept, slope, shift)


def _maps_of(
    batch: Batch, good: NDArray[np.bool_], y: Floats, left_out: Floats, start: tuple[float, float]
) -> Iterator[tuple[int, float, float]]:
    """A and B of the solutions that are ``good`` (R,), from rows with the weights ``left_out`` (R, m); y (m,)."""
    for q in np.flatnonzero(good).tolist():
        out = np.flatnonzero(left_out[q])
        if len(np.unique(y[out])) == 2:
            f = tied((batch.field[q, out] + batch.intercept[q])[:, None], batch.resolution[[q]])[:, 0]
            a, b, converged = fit_map(f, y[out], left_out[q, out], *start)
            if converged:
                yield q, a, b


def spread(
    replicates: PairsReplicates, X: Floats, level: float, n_jobs: int | None = None, progress: bool = False
) -> Spread:
    """Standard deviations and percentiles of the probabilities of rows (m, p), a part of the rows at a time.

    Parameters
    ----------
    replicates : of which those without probabilities do not count
    X : (m, p) rows
    level : of the interval between the percentiles, of which (1 − level)/2 are on either side
    n_jobs, progress : as in `leave_one_out`
    """
    K, B = replicates.machine.n_classes, len(replicates.counts)
    size = max(1, _ROOM // (B * K * K))
    pieces = [(replicates, X[start : start + size], level) for start in range(0, max(len(X), 1), size)]
    reason = f"{B} replicates predict {counted(len(X), 'row')}"
    found = run_pieces(
        _spread, pieces, n_jobs=n_jobs, progress=progress, what="predictions of replicates",
        outlook=Outlook([(partial(_spread, *pieces[0]), float(len(pieces)))], reason=reason),
    )  # fmt: skip
    return Spread(*(np.concatenate([getattr(part, name) for part in found]) for name in ("se", "lower", "upper")))


def _spread(replicates: PairsReplicates, X: Floats, level: float) -> Spread:
    good = ~replicates.unmapped
    nothing = np.full((len(X), replicates.machine.n_classes), np.nan)
    if good.sum() < least_replicates(level) or not len(X):
        return Spread(nothing, nothing, nothing)
    p = replicates.probabilities(X)[good]
    return Spread(p.std(axis=0, ddof=1), *percentiles(p, level))


def percentiles(values: Floats, level: float) -> tuple[Floats, Floats]:
    """The ends of the middle ``level`` of values (B, …) over the replicates; NaN where they are too few for it."""
    if len(values) < least_replicates(level):
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing
    tail = (1.0 - level) / 2.0
    lower, upper = np.quantile(values, [tail, 1.0 - tail], axis=0, method="weibull")
    return lower, upper


def least_replicates(level: float, sides: int = 2) -> int:
    """The smallest B with a replicate, of B in their order, on each side: (B + 1)(1 − level)/sides ≥ 1.

    With one side that is a p-value of 1 − level.

    Examples
    --------
    >>> least_replicates(0.95), least_replicates(0.9), least_replicates(0.95, sides=1)
    (39, 19, 19)
    """
    return int(np.ceil(sides / (1.0 - level) - 1.0 - 1e-9))


def check_copies(weights: Floats) -> None:
    """Refuse weights (n,) that add up to more copies of rows than can be counted.

    Raises
    ------
    DataError
    """
    if weights.sum() > _MOST_COPIES:
        raise DataError(
            f"the weights add up to {weights.sum():.3g}, and a replicate draws that many copies of the rows: it can "
            f"count {_MOST_COPIES:.3g} of them. Divide the weights, which count as repeats of rows."
        )
