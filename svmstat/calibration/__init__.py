"""From decision values to probabilities."""

from svmstat.calibration.interval import POINTWISE, pointwise, probability_interval, tightest, touch
from svmstat.calibration.platt import Platt, deviance, fit_map, fit_platt

__all__ = [
    "POINTWISE",
    "Platt",
    "deviance",
    "fit_map",
    "fit_platt",
    "pointwise",
    "probability_interval",
    "tightest",
    "touch",
]
