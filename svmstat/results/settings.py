"""What a fit knows of its data and settings."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from svmstat._tools.frames import PANDAS
from svmstat.diagnostics.shape import Shape
from svmstat.errors import UnavailableError
from svmstat.formula import ModelFrame, Response
from svmstat.kernels import Kernel, Linear, Nystrom, On, Scaled, clearly_indefinite, family
from svmstat.machine import Machine
from svmstat.objective.decision import Decision
from svmstat.objective.units import are_groups, effective_count


@dataclass(frozen=True, repr=False, eq=False)
class Settings:
    """The data and the settings of a fit.

    Attributes
    ----------
    frame : ModelFrame
        The arrays that the formula gave, and how to do the same to new data.
    machine : Machine
        The kernel machine on these arrays: a pair of two levels, or all pairs of more, each with its solution.
    decision : Decision
        Costs, priors and class weights.
    untuned : tuple of str
        Which of C and gamma were left at their defaults.
    kind : str
        The library of the data, in which answers for the rows of the fit are.
    """

    frame: ModelFrame
    machine: Machine
    decision: Decision
    untuned: tuple[str, ...]
    kind: str = field(default=PANDAS, kw_only=True)

    def __getstate__(self) -> dict[str, Any]:
        """What pickle and copy take, which is all that is known now: other threads may be finding out more."""
        return self.__dict__.copy()

    @cached_property
    def shape(self) -> Shape:
        """How what is known of pairs is shown."""
        return Shape(self.response, self.nu is not None)

    @property
    def formula(self) -> str:
        """The formula, with ``.`` written out."""
        return self.frame.design.formula

    @property
    def response(self) -> Response:
        """The response: its name, levels and event."""
        return self.frame.response

    @property
    def response_name(self) -> str:
        """The left side of the formula."""
        return self.response.name

    @property
    def classes(self) -> tuple[Any, ...]:
        """The levels of the response, in their order."""
        return self.response.levels

    @property
    def event(self) -> Any:
        """The level that f > 0 predicts; None with more than two levels."""
        return self.response.event if self.shape.two else None

    @property
    def nobs(self) -> float:
        """The number of observations, Σw; of probability weights, whose mean is one, how many rows count."""
        weights = self.frame.weights
        return float(weights.sum() if self.weight_type == "frequency" else np.count_nonzero(weights))

    @property
    def n_rows(self) -> int:
        """The number n of rows that are used, those of weight zero among them."""
        return len(self.frame.codes)

    @property
    def n_missing(self) -> int:
        """The number of rows dropped because of missing values."""
        return self.frame.n_missing

    @property
    def n_outside_subset(self) -> int:
        """The number of rows outside the subset."""
        return self.frame.n_subset_dropped

    @property
    def n_zero_weight(self) -> int:
        """The number of rows of weight zero."""
        return int((self.frame.weights == 0).sum())

    @property
    def weights_given(self) -> bool:
        """Whether there were case weights."""
        return self.frame.weights_given

    @property
    def weight_type(self) -> str:
        """What a weight means, "frequency" or "probability"; the latter were divided by their mean."""
        return self.frame.weight_type

    @property
    def effective_sample_size(self) -> float:
        """(Σw)²/Σw², the number of equally weighted rows that would be worth as much [Kish 1965]; of repeats Σw."""
        weights = self.frame.weights
        return float(weights.sum()) if self.weight_type == "frequency" else effective_count(weights)

    @property
    def groups(self) -> pd.Series | None:
        """The group of each row (n,) on the index of the data; None without groups."""
        grouping = self.frame.grouping
        return None if grouping is None else grouping.of_rows.set_axis(self.frame.index)

    @property
    def n_groups(self) -> int | None:
        """The number of groups with a row of positive weight; None without groups."""
        grouping = self.frame.grouping
        return None if grouping is None else len(np.unique(grouping.codes[self.frame.weights > 0]))

    @property
    def grouped(self) -> bool:
        """Whether groups are what is left out and drawn: there are some, and not each a row for itself."""
        return are_groups(self.machine.units)

    def require_copies(self, name: str, instead: str) -> None:
        """Refuse what takes each copy of a row for independent of all others.

        Raises
        ------
        UnavailableError
            For a fit with groups, or with probability weights.
        """
        if self.machine.units is not None:
            what = "groups" if self.machine.units.grouped else "weight_type='probability'"
            raise UnavailableError(f"{name} takes all copies of rows for independent; this fit has {what}: {instead}.")

    @property
    def class_weight(self) -> dict[Any, float] | None:
        """L for each level; None if there were neither class weights nor costs nor priors."""
        return dict(self.decision.class_weight) if self.decision.given else None

    @property
    def costs(self) -> dict[str, float] | None:
        """The costs of a false positive "fp" and of a false negative "fn", None if not given; for two levels."""
        self.shape.require_two("costs", "class_weight")
        return None if self.decision.costs is None else dict(self.decision.costs)

    @property
    def priors(self) -> dict[Any, float] | None:
        """The shares of the levels in the target population, None if they were not given."""
        return None if self.decision.priors is None else dict(self.decision.priors)

    @property
    def loss(self) -> str:
        """The name of the loss."""
        return self.machine.pairs[0].loss.name

    @property
    def C(self) -> float:
        """The cost; with nu that of the equivalent fit, 1/(ρn)."""
        return self.machine.C

    @property
    def nu(self) -> tuple[float, float] | None:
        """ν₊ of the event and ν₋ of the other level; None if C was given."""
        nu = self.machine.pairs[0].nu
        return None if nu is None else (nu.event, nu.other)

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self.machine.kernel

    @property
    def kernel_name(self) -> str:
        """The name of the kernel; of one that is made of others, what it is made of."""
        return self.kernel.title

    @property
    def kernel_parameters(self) -> dict[str, Any]:
        """The parameters of the kernel, by name."""
        return self.kernel.parameters

    @property
    def is_approximate(self) -> bool:
        """Whether the kernel, or one that it is made of, is by its values at landmarks."""
        return any(isinstance(each, Nystrom) for each in family(self.kernel))

    @cached_property
    def is_convex(self) -> bool:
        """Whether the certificate is one of the best solution: False where eigenvalues of K are clearly negative.

        An own function or a precomputed matrix may have such. Its values are looked at where they fit into memory, of
        more than 1000 rows by 100 steps of Lanczos, which may miss a small one. Other kernels have none. Those of K
        about its means count, for Σβ = 0: K = −‖x − z‖ is as good as a kernel without negative ones.
        """
        gram = self.machine.gram
        return not (self.kernel.may_be_indefinite and gram.fits and clearly_indefinite(gram.complete(), sum_given=True))

    @property
    def captured_trace(self) -> float:
        """The part of the trace of a kernel that its approximation by landmarks has; 1 where there is none.

        Factors and the choice of columns are those of both. NaN where the approximation is a part of a sum or a
        product, or centred or normed, and where the kernel is zero.
        """
        if not self.is_approximate:
            return 1.0
        approximated = _approximated(self.kernel)
        if approximated is None:
            return float("nan")
        groups = self.machine.groups
        whole = approximated.diagonal(self.machine.X[groups.first]) @ groups.weights
        return float(self.machine.gram.diagonal @ groups.weights / whole) if whole > 0.0 else float("nan")

    @property
    def lambda_(self) -> float:
        """λ = 1/(2 C Σw) of the penalised form."""
        return 1.0 / (2.0 * self.C * self.nobs)

    @property
    def scaled(self) -> bool:
        """Whether columns were standardised."""
        return self.frame.design.scaled

    @property
    def n_columns(self) -> int:
        """The number p of columns of the design."""
        return len(self.frame.design.column_names)

    @property
    def n_constant(self) -> int:
        """The number of columns dropped from the design because they were constant."""
        return len(self.frame.design.dropped)

    @property
    def has_params(self) -> bool:
        """Whether f is a linear function of the columns of the design."""
        return isinstance(self.kernel, Linear)


def _approximated(kernel: Kernel) -> Kernel | None:
    """What a kernel by landmarks would be by all rows; None for one that is combined with others."""
    if isinstance(kernel, Nystrom):
        return kernel.kernel
    if not isinstance(kernel, Scaled | On):
        return None
    inner = _approximated(kernel.kernel)
    return None if inner is None else replace(kernel, kernel=inner)
