"""The fit, with its figures and its summary."""

from dataclasses import dataclass

from svmstat._tools.checks import flag
from svmstat._tools.keywords import helpful_methods
from svmstat.diagnostics import TermTests
from svmstat.diagnostics.worth import on_one_row
from svmstat.reporting.rendering.lines import cut, line
from svmstat.reporting.rendering.values import is_number
from svmstat.reporting.summary import Summary
from svmstat.results.as_estimator import AsEstimator
from svmstat.results.bootstrap import Bootstrap
from svmstat.results.pictured import Pictured
from svmstat.results.saved import Saved
from svmstat.results.summary import hidden_digits, summarize
from svmstat.results.tabled import Tabled
from svmstat.results.terms import Termed
from svmstat.results.termwise import Termwise


@helpful_methods
@dataclass(frozen=True, repr=False, eq=False)
class SVMResults(Pictured, Tabled, Termwise, Termed, Saved, AsEstimator):
    """A fitted support vector machine; made by `svm`.

    n is the number of rows that are used, on the index of the data; p the number of columns of the design. Of two
    levels one is the event, which f > 0 predicts. Of K > 2 levels there is a machine for each of the P = K(K − 1)/2
    pairs (i, j), i before j in the order of `classes`, whose decision value is positive where it predicts i; what is a
    number or a column for two levels is then a Series or a DataFrame with an entry for each pair, or each level.

    Attributes
    ----------
    frame : ModelFrame
        The arrays that the formula gave, and how to do the same to new data.
    machine : Machine
        The kernel machine on these arrays, with the solution and certificate of each pair.
    decision : Decision
        Costs, priors and class weights.
    untuned : tuple of str
        Which of C and gamma were left at their defaults.
    coupled_by : str
        What ``coupling`` was in the call of `svm`.
    asked : str
        What ``calibration`` was in the call of `svm`.
    """

    def __repr__(self) -> str:
        weight = f" of weight {self.nobs:g}" if self.weights_given else ""
        known = f"loo score {self.loo().score:.5g}" if self._loo.value is not None else "loo not run"
        certified = "" if self.converged else "NOT certified, "
        of_rows = f"n={self.n_rows}{weight}, {len(self.classes)} levels, {len(self.support)} support vectors"
        return line("<svm: ", self.formula, f" | {self._settings_in_short} | {of_rows}, {certified}{known}>")

    @property
    def _settings_in_short(self) -> str:
        """Loss, kernel and cost."""
        parameters = self.kernel_parameters.items()
        made = ", ".join(f"{name}={value:.3g}" if is_number(value) else f"{value}" for name, value in parameters)
        kernel = cut(f"{self.kernel_name}({made})" if made else self.kernel_name, 28)
        cost = f"C={self.C:g}" if self.nu is None else "nu=({:g}, {:g})".format(*self.nu)
        return f"{self.loss}, {kernel}, {cost}"

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    def summary(
        self, loo: bool | None = None, bootstrap: Bootstrap | None = None, terms: TermTests | None = None
    ) -> Summary:
        """The fit at a glance: prints as text, shows as HTML in a notebook, converts by as_latex() and as_markdown().

        Parameters
        ----------
        loo : bool, optional
            Whether numbers of held-out rows are computed for it, if they have not been: by leave-one-out, of more than
            5000 rows by ten folds, or as many as there are groups, unless the map needs each row left out. By default
            they are where that takes a second or less. The map of the probabilities is shown, and looked at, where
            there is one by then, as after `predict_proba`.
        bootstrap : Bootstrap, optional
            Refits of this fit, by `bootstrap`: the coefficients of a linear kernel have standard errors and 95 %
            percentiles then.
        terms : TermTests, optional
            The terms of this fit dropped one by one, by `drop1`: what the CV score loses without each, and whether the
            response depends on it.

        Raises
        ------
        ArgumentError
            For replicates or terms of another fit, and for too few replicates.
        UnavailableError
            For replicates of another kernel than the linear one.
        """
        of_terms = None if terms is None else self._deletions(terms)
        coefficients = None if bootstrap is None else self.spread_by(bootstrap)
        held_out = self.held_out(None if loo is None else flag("loo", loo))
        of_one = None if held_out is None else on_one_row(held_out)
        told = hidden_digits(self) if of_one is None else (*hidden_digits(self), f"of the held-out score {of_one}.")
        return summarize(self, held_out, coefficients, told, of_terms)
