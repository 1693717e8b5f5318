"""What a search for minimax or Neyman–Pearson has found: the fit, the estimated error rates, figures of both."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat.plots.nu import roc_plot, share_surface_plot
from svmstat.plots.style import Axes
from svmstat.rendering.parts import Block, Entry
from svmstat.rendering.values import brief
from svmstat.results import SVMResults
from svmstat.rules import ShiftedRule
from svmstat.summary import Summary
from svmstat.tuning.error_control import Minimax, NeymanPearson, best_cell

Floats = NDArray[np.float64]
Cell = tuple[int, int, int]

_SEARCHES = {
    "grid": "all grid points",
    "coordinate": "coordinate descent in gamma, nu of the event and nu of the other level",
    "coordinate_2d": "coordinate descents in both nu, one for each kernel",
    "balanced": "equal nu of both levels",
    "bias": "nu-SVM with a shifted decision function",
}


@dataclass(frozen=True, slots=True)
class Estimates:
    """Cross-validated error rates of S kernels and a grid (J, I) of ν₋ and ν₊.

    Attributes
    ----------
    parameters : those of the kernels, S dicts
    nu_event, nu_other : (J, I)
    p_f, p_m : (S, J, I) estimates of P_F and P_M; NaN where there are none
    smooth_f, smooth_m : (S, J, I) the same after smoothing
    shift : (S, J, I) what is added to f
    unresolved : (S, J, I) of how many folds ρ is too small to be resolved
    known : (S, J, I) whether the point was looked at
    """

    parameters: tuple[dict[str, Any], ...]
    nu_event: Floats
    nu_other: Floats
    p_f: Floats
    p_m: Floats
    smooth_f: Floats
    smooth_m: Floats
    shift: Floats
    unresolved: NDArray[np.int64]
    known: NDArray[np.bool_]

    def best(self, criterion: Minimax | NeymanPearson) -> Cell | None:
        """The best point by the smoothed rates, for the smoother fit among equals; None without any."""
        flipped = np.s_[:, ::-1, ::-1]
        at = best_cell(criterion, self.smooth_f[flipped].ravel(), self.smooth_m[flipped].ravel())
        if at < 0:
            return None
        s, j, i = (int(each) for each in np.unravel_index(at, self.p_f.shape))
        return s, self.p_f.shape[1] - 1 - j, self.p_f.shape[2] - 1 - i

    def at(self, cell: Cell) -> dict[str, float]:
        """The estimates at one grid point, as a row of the table has them."""
        s, j, i = cell
        return {
            "nu_event": self.nu_event[j, i], "nu_other": self.nu_other[j, i], "p_f": self.p_f[s, j, i],
            "p_m": self.p_m[s, j, i], "smooth_f": self.smooth_f[s, j, i], "smooth_m": self.smooth_m[s, j, i],
            "shift": self.shift[s, j, i],
        }  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class NuTuneResult:
    """The result of `tune` for minimax or Neyman–Pearson.

    Attributes
    ----------
    best : SVMResults
        The fit with the best parameters, as ``svm`` gives it.
    best_params : dict
        ``nu`` and the parameters of the kernel, or the kernel if that was passed as an object or in a list:
        ``svm(..., **best_params)``.
    estimates : Estimates
        The estimated error rates as arrays over the grid.
    chosen : tuple of int
        The place of the best point in them.
    criterion : Minimax or NeymanPearson
    search, smooth : str, str or None
        How it was looked for.
    fold : Series
        The fold 0 … k − 1 of each row, −1 for rows of weight zero.
    rule : ShiftedRule or None
        The rule f + shift > 0 that replaces f > 0: with search="bias", and with a guarantee on P_F.
    n_threshold, order : int or None
        With a guarantee: how many rows of the other level set the threshold, and which of their scores it is.
    """

    best: SVMResults
    best_params: dict[str, Any]
    estimates: Estimates
    chosen: Cell
    criterion: Minimax | NeymanPearson
    search: str
    smooth: str | None
    fold: pd.Series
    rule: ShiftedRule | None
    n_threshold: int | None = None
    order: int | None = None

    def with_rule(self, rule: ShiftedRule, n_threshold: int, order: int) -> "NuTuneResult":
        """The same with another rule, its threshold the ``order``-th smallest of ``n_threshold`` scores."""
        return replace(self, rule=rule, n_threshold=n_threshold, order=order)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each grid point that was looked at.

        The parameters of the kernel, ``nu_event``, ``nu_other``, the estimates ``p_f`` and ``p_m``, with smoothing
        ``p_f_smooth`` and ``p_m_smooth``, with search="bias" the ``shift``; the ``score`` of the (smoothed) rates, the
        smaller the better; ``status`` ("ok" or "failed") and ``reason``.
        """
        e = self.estimates
        s, j, i = np.nonzero(e.known)
        parameters = pd.DataFrame(list(e.parameters)).iloc[s].reset_index(drop=True)
        columns = {"nu_event": e.nu_event[j, i], "nu_other": e.nu_other[j, i], "p_f": e.p_f[s, j, i]}
        columns["p_m"] = e.p_m[s, j, i]
        if self.smooth is not None:
            columns |= {"p_f_smooth": e.smooth_f[s, j, i], "p_m_smooth": e.smooth_m[s, j, i]}
        if self.search == "bias":
            columns["shift"] = e.shift[s, j, i]
        columns["score"] = self.criterion.score(e.smooth_f[s, j, i], e.smooth_m[s, j, i])
        lost = e.unresolved[s, j, i]
        status = np.where(lost > 0, "failed", "ok")
        reason = [f"rho is too small to be resolved in {_counted(count, 'fold')}" if count else "" for count in lost]
        return pd.concat([parameters, pd.DataFrame({**columns, "status": status, "reason": reason})], axis=1)

    @property
    def best_row(self) -> dict[str, float]:
        """The estimates at the best point: both ν, raw and smoothed error rates."""
        return self.estimates.at(self.chosen)

    @property
    def n_failed(self) -> int:
        """The number of points that could not be estimated."""
        return int((self.estimates.unresolved[self.estimates.known] > 0).sum())

    def predict(self, newdata: pd.DataFrame | None = None) -> pd.Series:
        """The predicted level by the `rule`, or by the best fit where there is none."""
        return (self.rule or self.best).predict(newdata)

    def error_rates(self, newdata: pd.DataFrame | None = None, *, weights: Any = None) -> pd.Series:
        """P_F and P_M by the `rule`, or by the best fit where there is none."""
        return (self.rule or self.best).error_rates(newdata, weights=weights)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The score over (ν₊, ν₋) for the best kernel with the chosen point [004: figure 1].

        With one ν only, the score against it.

        Parameters
        ----------
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes
        """
        e, (s, j, i) = self.estimates, self.chosen
        score = np.where(e.known[s], self.criterion.score(e.smooth_f[s], e.smooth_m[s]), np.nan)
        held = ", ".join(f"{name} = {brief(value)}" for name, value in e.parameters[s].items())
        what = self.criterion.name + ("" if self.smooth is None else ", smoothed")
        return share_surface_plot(e.nu_event, e.nu_other, score, (j, i), what=what, held=held, ax=ax)

    def plot_roc(self, ax: Axes | None = None) -> Axes:
        """The estimated (P_F, P_M) of all points that were looked at, with the chosen one.

        Parameters
        ----------
        ax : Axes, optional
            Drawn into; by default a new figure.

        Returns
        -------
        Axes
        """
        e = self.estimates
        level = self.criterion.a if isinstance(self.criterion, NeymanPearson) else None
        shown = e.known & ~np.isnan(e.smooth_f)
        at = self.best_row
        return roc_plot(e.smooth_f[shown], e.smooth_m[shown], (at["smooth_f"], at["smooth_m"]), level=level, ax=ax)

    def summary(self) -> Summary:
        """The best point and how it was found: prints as text, shows as HTML in a notebook."""
        at, e = self.best_row, self.estimates
        kernel = [Entry(f"Best {name}", value, "setting") for name, value in e.parameters[self.chosen[0]].items()]

        def rates(label: str, raw: float, smoothed: float) -> list[Entry]:
            beside = [] if self.smooth is None else [Entry(f"  smoothed ({self.smooth})", smoothed, "share")]
            return [Entry(label, raw, "share"), *beside]

        block = Block(
            wide=(Entry("Criterion", str(self.criterion)), Entry("Search", _SEARCHES[self.search])),
            left=(
                Entry("nu of the event", at["nu_event"], "setting"),
                Entry("nu of the other level", at["nu_other"], "setting"),
                *kernel,
                Entry("Points looked at", int(e.known.sum()), "count"),
            ),
            right=(
                *rates("False alarms, P_F", at["p_f"], at["smooth_f"]),
                *rates("Misses, P_M", at["p_m"], at["smooth_m"]),
                Entry("Folds", int(self.fold.max()) + 1, "count"),
            ),
        )
        parts = [block]
        if self.rule is not None:
            parts.append(self._rule_block(self.rule))
        notes = ["P_F and P_M are estimated by cross-validation: the chosen point looks better than it is."]
        if self.order is not None:
            notes = ["P_F and P_M are those of f > 0 by cross-validation, not of the rule with its threshold."]
        lost = f"{_counted(self.n_failed, 'point')} without an estimate: see the column reason of .table."
        warnings = [lost] if self.n_failed else []
        if self.order is None and bool(self.criterion.violated(np.array(at["smooth_f"]))):
            warnings.append("no point keeps P_F at the level: the one with the least Neyman-Pearson score was taken.")
        return Summary("Search with controlled errors", tuple(parts), tuple(notes), tuple(warnings))

    def _rule_block(self, rule: ShiftedRule) -> Block:
        entries = [Entry("Threshold on f", -rule.shift)]
        if self.order is not None and isinstance(self.criterion, NeymanPearson):
            entries += [
                Entry("Held-out rows", self.n_threshold, "count"),
                Entry("Its rank among them", self.order, "count"),
            ]
        return Block(title="Rule", left=tuple(entries))

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
