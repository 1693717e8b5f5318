"""Formulas: from ``y ~ x`` and a data frame to the arrays of a fit, and the same again for new data."""

from svmstat.formula.build import ModelFrame, build_design
from svmstat.formula.design import Design, NewRows
from svmstat.formula.response import Response

__all__ = ["Design", "ModelFrame", "NewRows", "Response", "build_design"]
