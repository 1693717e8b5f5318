"""What a fit knows: the data and settings, the solution, predictions, and what exists for two levels only."""

from svmstat.results.calibrated import CALIBRATIONS
from svmstat.results.fit import SVMResults

__all__ = ["CALIBRATIONS", "SVMResults"]
