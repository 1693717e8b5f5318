"""From decision values to probabilities."""

from svmstat.calibration.platt import Platt, deviance, fit_map, fit_platt

__all__ = ["Platt", "deviance", "fit_map", "fit_platt"]
