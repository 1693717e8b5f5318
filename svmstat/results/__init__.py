"""What a fit knows: the data and settings, the solution, predictions, what is for two levels only, tables of fits."""

from svmstat.results.calibrated import CALIBRATIONS
from svmstat.results.etable import FitTable, etable
from svmstat.results.fit import SVMResults

__all__ = ["CALIBRATIONS", "FitTable", "SVMResults", "etable"]
