"""From decision values to probabilities."""

from svmstat.calibration.corp import ConsistencyBand, Corp, Decomposition, consistency_band, recalibrate, tail
from svmstat.calibration.coupling import METHODS as COUPLINGS
from svmstat.calibration.coupling import couple, pairwise
from svmstat.calibration.interval import POINTWISE, pointwise, probability_interval, tightest, touch
from svmstat.calibration.maps import Maps, coupled, fit_maps, fit_maps_of, log_of_own, maps_without
from svmstat.calibration.platt import Platt, deviance, deviance_risen, fit_map, fit_platt, map_without, series_at
from svmstat.calibration.protocol import Calibration, Labelled
from svmstat.calibration.venn_abers import KIND as VENN_ABERS
from svmstat.calibration.venn_abers import Bounds, VennAbers, fit_venn_abers
from svmstat.calibration.venn_abers_maps import (
    HeldOutProbabilities,
    VennAbersMaps,
    fit_calibration,
    fit_venn_abers_maps,
    held_out_venn_abers,
)

__all__ = [
    "COUPLINGS",
    "POINTWISE",
    "VENN_ABERS",
    "Bounds",
    "Calibration",
    "ConsistencyBand",
    "Corp",
    "Decomposition",
    "HeldOutProbabilities",
    "Labelled",
    "Maps",
    "Platt",
    "VennAbers",
    "VennAbersMaps",
    "consistency_band",
    "couple",
    "coupled",
    "deviance",
    "deviance_risen",
    "fit_calibration",
    "fit_map",
    "fit_maps",
    "fit_maps_of",
    "fit_platt",
    "fit_venn_abers",
    "fit_venn_abers_maps",
    "held_out_venn_abers",
    "log_of_own",
    "map_without",
    "maps_without",
    "pairwise",
    "pointwise",
    "probability_interval",
    "recalibrate",
    "series_at",
    "tail",
    "tightest",
    "touch",
]
