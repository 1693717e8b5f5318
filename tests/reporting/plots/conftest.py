"""Figures are drawn without a window and closed after each test."""

import matplotlib
import matplotlib.pyplot as plt
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")
