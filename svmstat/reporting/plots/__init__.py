"""Figures: plain arrays in, axes out; matplotlib is loaded when the first one is drawn."""

from svmstat.reporting.plots.calibration import (
    calibration_plot,
    class_calibration_plot,
    class_reliability_plot,
    reliability_plot,
)
from svmstat.reporting.plots.differences import differences_plot
from svmstat.reporting.plots.effects import comparisons_plot
from svmstat.reporting.plots.histogram import replicates_plot
from svmstat.reporting.plots.index import index_plot
from svmstat.reporting.plots.outlying import outlying_plot
from svmstat.reporting.plots.path import criteria_plot, path_plot
from svmstat.reporting.plots.probability import probability_plot
from svmstat.reporting.plots.stability import stability_plot
from svmstat.reporting.plots.style import panels_size, sized_svg, svg
from svmstat.reporting.plots.surface import region_plot, surface_plot
from svmstat.reporting.plots.terms import terms_plot
from svmstat.reporting.plots.weights import profiles_plot, selection_plot
