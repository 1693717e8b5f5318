"""Predictions of rows by fits that have not seen them, other than one by one."""

from dataclasses import dataclass

import numpy as np

from svmstat._tools.texts import counted
from svmstat.diagnostics.evidence import Evidence
from svmstat.diagnostics.worth import held_out_tables, notes_of_held_out_alone, warnings_of_held_out
from svmstat.reporting.rendering.parts import Block, Entry
from svmstat.reporting.summary import Printed, Summary


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class HeldOut(Printed, Evidence):
    """`Evidence` of rows that were held out, in folds or by another model; it prints its numbers.

    Examples
    --------
    >>> from svmstat import datasets, svm
    >>> folds = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel")).kfold(5)
    >>> folds.summary_frame().columns.tolist()
    ['decision_value', 'probability', 'log_likelihood', 'error']
    """

    def summary(self) -> Summary:
        """Score, errors, ranking and calibration with standard errors, and what they do not say."""
        rows = int(np.count_nonzero(self.weights > 0))
        block = Block(left=(Entry("Rows held out", rows - self.n_failed, "count"),))
        failed = f"{counted(self.n_failed, 'row')} could not be held out, or not exactly."
        warnings = (*([failed] if self.n_failed else []), *warnings_of_held_out(self))
        title = f"Held out: {self.how}"
        return Summary(title, (*held_out_tables(self), block), notes_of_held_out_alone(self), warnings)
