"""Formulas: from ``y ~ x`` and a data frame to the arrays of a fit, and the same again for new data."""

from svmstat.formula.altered import AlteredDesign, AlteredRows, Variable, check_inside, check_varies, within
from svmstat.formula.build import ModelFrame, build_design
from svmstat.formula.design import Design, NewRows
from svmstat.formula.functions import is_shared
from svmstat.formula.grouping import Grouping, fold_labels
from svmstat.formula.response import Response
from svmstat.formula.rows import (
    case_weights,
    counted_rows,
    named_column,
    read_by_condition,
    subset_rows,
    true_probabilities,
)
from svmstat.formula.sides import right_side, speaks_of, two_sides, with_response
from svmstat.formula.source import Untrusted
from svmstat.formula.update import update_formula

__all__ = [
    "AlteredDesign",
    "AlteredRows",
    "Design",
    "Grouping",
    "ModelFrame",
    "NewRows",
    "Response",
    "Untrusted",
    "Variable",
    "build_design",
    "case_weights",
    "check_inside",
    "check_varies",
    "counted_rows",
    "fold_labels",
    "is_shared",
    "named_column",
    "read_by_condition",
    "right_side",
    "speaks_of",
    "subset_rows",
    "true_probabilities",
    "two_sides",
    "update_formula",
    "with_response",
    "within",
]
