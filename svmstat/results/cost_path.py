"""The exact path of a fit in its cost C: every fit on the way, its criteria, its figures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.checks import one_of, positive, refuse
from svmstat._tools.copied import read_as_copies
from svmstat._tools.warn import warn
from svmstat.calibration import Maps, fit_maps
from svmstat.diagnostics.gacv import gacv, gckl, observed_loss
from svmstat.errors import CertificateWarning
from svmstat.machine import Machine, along_costs
from svmstat.objective import measures
from svmstat.reporting.plots import criteria_plot, path_plot
from svmstat.reporting.plots.style import Axes
from svmstat.resampling import leave_one_out
from svmstat.resampling.loops import watched_steps

_POINTS = 200
_REACH = 64.0
"""By default the path goes from C / 64 to 64 C."""

_SHOWN = {"alpha": "α as a share of its bound", "decision_values": "decision value f"}
_LETTERS = {"alpha": "α", "decision_values": "f"}
CRITERIA = {"gacv": "GACV", "loo_loss": "leave-one-out loss V0", "gckl": "GCKL"}


@read_as_copies("table")
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PathResult:
    """Fits for B values of C on the same rows (n,), in the order in which the values were given.

    Attributes
    ----------
    C : ndarray (B,)
    C_fit : float
        The cost of the fit that the path was made from.
    index : Index (n,)
    table : DataFrame (B, …)
        Read as a copy.
        Indexed by C: ``intercept``, ``norm`` ‖h‖, ``n_support`` and ``n_free`` (sums of weights), ``apparent_error``,
        ``deviance`` (−2 log-likelihood of the fit's own Platt map), ``mean_loss`` (1/Σw) Σ w L [m − y f]₊, ``gacv`` for
        the hinge loss where rows are independent, without groups and probability weights, ``gckl`` if the truth was
        given, ``loo_loss`` (V₀) if it was asked for, ``kkt_violation``.
    alpha : DataFrame (B, n)
        Dual variables, a row for each C.
    decision_values : DataFrame (B, n)
        f(x_i), a row for each C.
    upper : ndarray (n,)
        The upper bounds of α for C = 1.
    certified : ndarray (B,)
        Whether the certificate of each fit holds; where one does not, a `CertificateWarning` says so.
    """

    C: Floats
    C_fit: float
    index: pd.Index
    table: pd.DataFrame
    upper: Floats
    certified: NDArray[np.bool_]
    _alpha: Floats
    _decision_values: Floats

    @property
    def alpha(self) -> pd.DataFrame:
        """Dual variables (B, n)."""
        return pd.DataFrame(self._alpha.copy(), index=self.table.index, columns=self.index)

    @property
    def decision_values(self) -> pd.DataFrame:
        """Decision values (B, n)."""
        return pd.DataFrame(self._decision_values.copy(), index=self.table.index, columns=self.index)

    def best(self, criterion: str = "gacv") -> float:
        """The C with the least value of a column of `table`; the smallest of those that tie.

        Parameters
        ----------
        criterion : {"gacv", "gckl", "loo_loss", "deviance", "apparent_error", "mean_loss"}
            Of these what the path has: no "gacv" of another loss than the hinge loss, groups and probability weights.
        """
        known = [name for name in (*CRITERIA, "deviance", "apparent_error", "mean_loss") if name in self.table]
        column = self.table[one_of("criterion", criterion, known)].to_numpy()
        if np.isnan(column).all():
            raise refuse("criterion", criterion, "one that could be computed somewhere on the path")
        least = np.nanmin(column)
        return float(self.C[np.flatnonzero(column <= least + 1e-9 * abs(least))].min())

    def plot(self, what: str = "criteria", ax: Axes | None = None) -> Axes:
        """A figure over log2 C.

        Parameters
        ----------
        what : {"criteria", "alpha", "decision_values"}
            The criteria that were computed, each row's α as a share of its bound, or each row's f.
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes
        """
        one_of("what", what, ("criteria", *_SHOWN))
        if what == "criteria":
            found = {label: self.table[name].to_numpy() for name, label in CRITERIA.items() if name in self.table}
            marks = f"dots: the least of each; dashed: the fit, C = {self.C_fit:.4g}"
            title = f"criteria of {len(self.C)} exact fits along C\n{marks}"
            found = found or {"mean loss": self.table["mean_loss"].to_numpy()}
            return criteria_plot(self.C, found, name="C", title=title, at=self.C_fit, ax=ax)
        lines = self._decision_values
        if what == "alpha":
            used = self.upper > 0
            lines = self._alpha[:, used] / np.outer(self.C, self.upper[used])
        title = f"{_LETTERS[what]} of each of {lines.shape[1]} rows along C"
        return path_plot(self.C, lines, self.C_fit, name="C", what=_SHOWN[what], title=title, ax=ax)

    def __repr__(self) -> str:
        least, most = self.C.min(), self.C.max()
        fits = "1 fit" if len(self.C) == 1 else f"{len(self.C)} fits"
        return f"<PathResult: {fits}, C = {least:.4g} … {most:.4g}, n = {len(self.index)}>"


def follow_costs(
    machine: Machine, index: pd.Index, costs: Floats, truth: Floats | None, loo: bool, n_jobs: int | None,
    progress: bool = False,
) -> PathResult:  # fmt: skip
    """The path of a machine of two classes; costs (B,) > 0, truth (n,) or None."""
    n = len(machine.codes)
    alpha, values, certified = np.empty((len(costs), n)), np.empty((len(costs), n)), np.empty(len(costs), bool)
    rows: list[dict[str, float]] = [{}] * len(costs)
    y = machine.signs[:, 0]
    maps: Maps | None = None
    sides = [side.tolist() for side in _outward(costs, machine.C)]
    fits = chain.from_iterable(along_costs(machine, costs[side]) for side in sides)
    for place in watched_steps("path", [*chain(*sides)], progress):
        each = next(fits)
        alpha[place], values[place] = each.alpha[:, 0], each.decision_values[:, 0]
        certified[place] = each.certified.all()
        maps = fit_maps(each, near=None if place in sides[1][:1] else maps)
        rows[place] = _numbers(each, maps, y, alpha[place], truth, loo, n_jobs)
    table = pd.DataFrame(rows, index=pd.Index(costs, name="C"))
    _tell_of_certificates(costs, certified, table["kkt_violation"].to_numpy())
    return PathResult(costs, machine.C, index, table, machine.upper[:, 0] / machine.C, certified, alpha, values)


def _tell_of_certificates(costs: Floats, certified: NDArray[np.bool_], violation: Floats) -> None:
    """Warn if the optimality of fits on the path could not be certified."""
    lost = np.flatnonzero(~certified)
    if len(lost):
        least, most = costs[lost].min(), costs[lost].max()
        where = f"C = {least:.4g}" if least == most else f"C = {least:.4g} to {most:.4g}"
        warn(
            f"{len(lost)} of {len(costs)} fits of the path, at {where}, are not certified, see path.certified: "
            f"their KKT violation is up to {violation[lost].max():.2g}, and what the table says of them may be wrong. "
            "svm() at such a C says why.",
            CertificateWarning,
        )


def _outward(costs: Floats, middle: float) -> tuple[Codes, Codes]:
    """The places of the costs (B,) from the middle on upwards, and from there downwards: each has its neighbour."""
    order = np.argsort(costs, kind="stable")
    below = costs[order] < middle
    return order[~below], order[below][::-1]


def check_costs_along(C: object, middle: float) -> Floats:
    """The costs of a path as an array (B,), by default 200 around ``middle``."""
    if C is None:
        return middle * np.geomspace(1.0 / _REACH, _REACH, _POINTS)
    if isinstance(C, str | bytes | Mapping) or not isinstance(C, Iterable) or np.array(C, dtype=object).ndim != 1:
        raise refuse("C", C, "a sequence of numbers > 0")
    values = [positive(f"C[{place}]", each) for place, each in enumerate(C)]
    if not values:
        raise refuse("C", C, "one number or several, not an empty list")
    return np.array(values)


def _numbers(
    machine: Machine, maps: Maps, y: Floats, alpha: Floats, truth: Floats | None, loo: bool, n_jobs: int | None
) -> dict[str, float]:
    """The row of the table for a machine with its maps and alpha (n,); all machines have the labels y (n,)."""
    solution, loss, groups = machine.pairs[0].solution, machine.pairs[0].loss, machine.groups
    f, w = machine.decision_values[:, 0], machine.weights
    found: dict[str, Any] = {
        "intercept": solution.intercept,
        "norm": np.sqrt(solution.norm_squared),
        "n_support": groups.weights[solution.alpha > 0].sum(),
        "n_free": groups.weights[solution.free].sum(),
        "apparent_error": measures.share((f > 0) != (y > 0), w),
        "deviance": -2.0 * measures.log_likelihood(maps.log_likelihoods(machine.decision_values, machine.codes), w),
        "mean_loss": observed_loss(f, y, w, loss),
    }
    if loss.name == "hinge" and machine.units is None:
        found["gacv"] = gacv(f, y, w, alpha, machine.diagonal, loss)
    if loo:
        left = leave_one_out(machine, maps, influence=False, n_jobs=n_jobs)
        found["loo_loss"] = observed_loss(left.decision_values[:, 0], y, w, loss)
    if truth is not None:
        found["gckl"] = gckl(f, truth, w, loss)
    found["kkt_violation"] = solution.violation
    return found
