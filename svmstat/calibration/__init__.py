"""From decision values to probabilities."""

from svmstat.calibration.coupling import METHODS as COUPLINGS
from svmstat.calibration.coupling import couple, pairwise
from svmstat.calibration.interval import POINTWISE, pointwise, probability_interval, tightest, touch
from svmstat.calibration.maps import Maps, coupled, fit_maps, log_of_own, maps_without
from svmstat.calibration.platt import Platt, deviance, fit_map, fit_platt

__all__ = [
    "COUPLINGS",
    "POINTWISE",
    "Maps",
    "Platt",
    "couple",
    "coupled",
    "deviance",
    "fit_map",
    "fit_maps",
    "fit_platt",
    "log_of_own",
    "maps_without",
    "pairwise",
    "pointwise",
    "probability_interval",
    "tightest",
    "touch",
]
