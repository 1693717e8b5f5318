"""Figures: plain arrays in, axes out; matplotlib is loaded when the first one is drawn."""

from svmstat.plots.calibration import calibration_plot, class_calibration_plot
from svmstat.plots.histogram import replicates_plot
from svmstat.plots.index import index_plot
from svmstat.plots.path import criteria_plot, path_plot
from svmstat.plots.probability import probability_plot
from svmstat.plots.style import svg
from svmstat.plots.surface import region_plot, surface_plot

__all__ = [
    "calibration_plot",
    "class_calibration_plot",
    "criteria_plot",
    "index_plot",
    "path_plot",
    "probability_plot",
    "region_plot",
    "replicates_plot",
    "surface_plot",
    "svg",
]
