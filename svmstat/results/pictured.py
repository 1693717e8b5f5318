"""Figures of a fit: four that check it, residuals by predictor, the surface over two predictors."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.checks import at_least, one_of, refuse
from svmstat._tools.near import TOO_FAR
from svmstat._tools.randomness import check_rng
from svmstat._tools.texts import probability_of
from svmstat.diagnostics import Evidence
from svmstat.diagnostics.envelope import LEAST
from svmstat.errors import DataError, UnavailableError
from svmstat.formula import AlteredRows, Variable
from svmstat.kernels import Precomputed
from svmstat.objective.residuals import Binned, binned
from svmstat.reporting.plots import region_plot, reliability_plot, residuals, surface_plot
from svmstat.reporting.plots.style import MOST_PANELS, SMALL, checked_axes
from svmstat.reporting.rendering.values import percent
from svmstat.resampling.accumulated import pooled
from svmstat.results.explained import Explained
from svmstat.results.tested import Tested

_LABELLED = 3
"""Rows that are labelled on either axis without an envelope."""


@dataclass(frozen=True, repr=False, eq=False)
class Pictured(Tested, Explained):
    """A fit in figures."""

    def plot(self, B: int = 0, rng: int | np.random.Generator | None = None, ax: Any = None) -> Any:
        """Four figures of what the fit says of rows that it has not seen, as ``plot(lm)`` of R has them for its models.

        Reliability: probabilities against their isotonic recalibration. Mean residuals of rows with like predictions.
        Outlyingness against influence of single rows, or of groups. Decision values by class.

        Parameters
        ----------
        B : int
            With 99 or more, which takes so many refits, rows beyond the envelope of samples from the fit's
            probabilities are labelled; by default the three largest on either axis.
        rng : int or Generator, optional
            On which alone these and the band of the first figure depend.
        ax : Axes, optional
            Its place is divided, and it is taken out of its figure; by default they have a new one.

        Returns
        -------
        ndarray (4,) of Axes

        Raises
        ------
        ArgumentError
            For a B between 1 and 98.
        DataError
            If no row can be held out.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from svmstat import datasets, svm
        >>> axes = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel")).plot(rng=1)
        >>> axes[1].get_ylabel()
        'observed − predicted'
        >>> plt.close(axes[0].figure)
        """
        if at_least("B", B, 0) and B < LEAST:
            raise refuse("B", B, f"0, or at least {LEAST}")
        check_rng("rng", rng)
        checked_axes(ax)
        held, used = self._known()
        draw: list[Callable[[Any], Any]] = [
            partial(self._reliability, held, rng),
            partial(self._by_prediction, held, used),
            self._outlying(B, rng),
            partial(
                residuals.values_plot, held.values[used], held.codes[used], held.weights[used], self.response.pairs,
                self.classes,
            ),
        ]  # fmt: skip
        title = f"held out: {held.how}, {self._rows_of(held, used)}"
        return residuals.overview_plot(draw, title, not self.shape.two, ax)

    def plot_residuals(self, ax: Any = None) -> Any:
        """Mean held-out residuals over each predictor, in bins of about equally many rows or by level.

        Single residuals of two outcomes show nothing; where the probabilities miss a structure along a predictor, means
        of rows that are alike in it leave zero. Predictors are columns of the data, as in `effects`. Of more than 50
        those are shown whose bins are furthest from zero in standard errors.

        Parameters
        ----------
        ax : Axes, optional
            Its place is divided, and it is taken out of its figure; by default they have a new one.

        Returns
        -------
        ndarray of Axes
            One for each predictor that varies, of which there are 50 at most.

        Raises
        ------
        DataError
            If no row can be held out.
        UnavailableError
            For a precomputed kernel.
        """
        if isinstance(self.kernel, Precomputed):
            raise UnavailableError("residuals over predictors need their columns; a precomputed kernel has none.")
        checked_axes(ax)
        held, used = self._known()
        rows = AlteredRows.of(self.frame)
        known = used[self.frame.weights > 0]
        over = [(each, self._by_variable(held, used, known, each)) for each in rows.variables() if each.varies]
        furthest = [-max(each.furthest for each in found) for _, found in over]
        shown = np.sort(np.argsort(furthest, kind="stable")[:MOST_PANELS])
        draw = [partial(self._over, *over[k]) for k in shown]
        without = int((~known).sum())
        return residuals.residuals_page(draw, self._names, without=without, of=len(over), ax=ax)

    def plot_surface(
        self,
        data: pd.DataFrame | None = None,
        x: Any = None,
        y: Any = None,
        *,
        at: dict[Any, Any] | None = None,
        by: Any = None,
        on: str | None = None,
        too_far: float = TOO_FAR,
        ax: Any = None,
    ) -> Any:
        """The decision surface, or the predicted one of several levels, over two predictors; with the rows of the fit.

        It is blank where no rows are near. Rows at one point are spread around it. Of more than 2000 rows 2000 are
        drawn, at random, the same in every figure; of several panels each has an equal part of that at most.

        Parameters
        ----------
        data : DataFrame, optional
            The data of the fit, where it does not have them any more.
        x, y : column names, optional
            Of the data; numbers, or what goes by levels. By default the first two numbers.
        at : dict, optional
            Values at which the other predictors are held; by default their median or most frequent level.
        by : column name, optional
            A predictor that goes by levels, with a panel for each and its own rows in it.
        on : {"decision", "prob", "class"}, optional
            What is shown: for two levels f, which is the default, or P(event); for more the predicted level, or the
            probability of each in a panel.
        too_far : float
            How far the surface goes from the nearest row, in units of the range of each axis.
        ax : Axes, optional
            Drawn into, or divided for panels.

        Returns
        -------
        Axes, or an array of them

        Raises
        ------
        ArgumentError
            For another column or value.
        DataError
            If the data do not have the rows of the fit.
        UnavailableError
            For a precomputed kernel.
        """
        self._refuse_given_kernel("the surface needs")
        plain, draw = ("decision", surface_plot) if self.shape.two else ("class", region_plot)
        on = plain if on is None else one_of("on", on, (plain, "prob"))
        if by is not None and on == "prob" and not self.shape.two:
            raise refuse("by", by, "None with on='prob' of more than two levels, which have a panel each")
        return draw(self, data, x, y, at=at, by=by, on=on, too_far=too_far, ax=ax)

    def _known(self) -> tuple[Evidence, NDArray[np.bool_]]:
        """The held-out predictions, and which rows (n,) count and have one."""
        held = self.held_out(loo=True)
        assert held is not None
        used = (held.weights > 0) & ~np.isnan(held.probability).any(axis=1)
        if not used.any():
            few = "" if self.nu is None else ", or too few rows are left for nu"
            raise DataError(f"no row can be held out: a class or the certificate is lost without it{few}.")
        return held, used

    def _rows_of(self, held: Evidence, used: NDArray[np.bool_]) -> str:
        lost = int(np.count_nonzero((held.weights > 0) & ~used))
        return f"{int(used.sum())} rows" + (f", {lost} without a prediction" if lost else "")

    @property
    def _names(self) -> list[str]:
        return [probability_of(self.response_name, self.classes[k]) for k in self.shape.shown]

    def _binned(
        self, held: Evidence, used: NDArray[np.bool_], along: Callable[[int], tuple[Floats, Codes]]
    ) -> list[Binned]:
        """By class, the rows in the bins that ``along`` has for it."""
        found = []
        for k in self.shape.shown:
            p, w = held.probability[used, k], held.weights[used]
            x, which = along(k)
            found.append(binned(x, held.codes[used] == k, p, w, which, copies=self.weight_type == "frequency"))
        return found

    def _count_of_bins(self, weights: Floats) -> int:
        """Fewer where several classes share a panel."""
        return residuals.count_of_bins(weights.sum() / (1 if self.shape.two else 2))

    def _by_prediction(self, held: Evidence, used: NDArray[np.bool_], ax: Any) -> Any:
        count = self._count_of_bins(held.weights[used])
        p, w = held.probability[used], held.weights[used]
        along = held.along_all[used]
        found = self._binned(held, used, lambda k: (p[:, k], pooled(along[:, k], w, count)))
        names = [str(self.classes[k]) for k in self.shape.shown]
        return residuals.residuals_plot(
            found, names, xlabel="predicted (held out)", title="mean residuals, ± 2 se", ax=ax
        )

    def _by_variable(
        self, held: Evidence, used: NDArray[np.bool_], known: NDArray[np.bool_], variable: Variable
    ) -> list[Binned]:
        x, which = variable.values[known], variable.values[known]
        if variable.levels is None:
            which = pooled(x, held.weights[used], self._count_of_bins(held.weights[used]))
        return self._binned(held, used, lambda _: (x, which))

    def _over(self, variable: Variable, found: list[Binned], ax: Any) -> Any:
        return residuals.residuals_plot(found, self._names, levels=variable.levels, xlabel=str(variable.name), ax=ax)

    def _outlying(self, B: int, rng: Any) -> Callable[[Any], Any]:
        influence = self.get_influence()
        envelope = influence.envelope(B, rng) if B and not influence.grouped else None
        return partial(influence.drawn, envelope, 0.95, _LABELLED)

    def _reliability(self, held: Evidence, rng: Any, ax: Any) -> None:
        found = held.reliability(B=199 if held.draws_labels and self.shape.two else 0, rng=rng)
        if self.shape.two:
            curve, band = found.curves[0], found.bands[0]
            reliability_plot(curve, band, level=found.level, xlabel="predicted (held out)", ticks=3, ax=ax)
            parts = f"MCB {curve.brier.miscalibration:.3f}, DSC {curve.brier.discrimination:.3f}"
            shaded = "" if band is None else f"\nshaded: {percent(found.level)} if calibrated"
            ax.set_ylabel("recalibrated (isotonic)")
            ax.set_title(f"{parts}{shaded}", fontsize=SMALL)
        else:
            residuals.curves_of_reliability(found.curves, list(map(str, found.levels)), ax)
