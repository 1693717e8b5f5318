"""From decision values to probabilities."""

from svmstat.calibration.platt import Platt, fit_platt

__all__ = ["Platt", "fit_platt"]
