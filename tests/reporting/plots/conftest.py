"""Figures are drawn without a window, and none is open before or after a test."""

import matplotlib
import matplotlib.pyplot as plt
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    plt.close("all")  # those of pages and of tests elsewhere, which this worker has run before
    yield
    plt.close("all")
