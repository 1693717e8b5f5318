"""Names that are alike but for a few letters in the middle are told apart in every figure."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from svmstat import svm, tune
from svmstat.reporting.plots import selection_plot

ONE, TWO = (f"precipitation_at_the_station_0{k}_mean_of_year" for k in (1, 2))
LEVELS = [f"Picea abies (Norway spruce) of the {side} slope, old" for side in ("northern", "eastern", "southern")]


@cache
def trees(levels):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=[ONE, TWO])
    data["stand"] = np.array(LEVELS)[rng.integers(3, size=60)]
    kind = np.digitize(data[ONE] + data[TWO] + rng.normal(size=60), [-0.5, 0.5][: levels - 1])
    return data.assign(kind=np.array(LEVELS)[kind])


def fitted(right=f"{ONE} + {TWO}", levels=2, **options):
    return svm(f"kind ~ {right}", trees(levels), **options)


def additive():
    return fitted(f"s({ONE}) + s({TWO})")


def legend(ax):
    return [text.get_text() for text in (ax.get_legend() or ax.figure.legends[0]).get_texts()]


def ticks(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def titles(axes):
    return [ax.get_title("left") for ax in np.ravel(axes)]


def reliability():
    return fitted(levels=3).loo().reliability(B=19, rng=1)


def searched():
    return tune(f"kind ~ s({ONE}) + s({TWO})", trees(2), C=[1.0, 2.0], theta="coordinate", rng=1).plot()


SHOWN = {
    "terms taken out": lambda: ticks(fitted().drop1().plot()),
    "titles of terms": lambda: titles(additive().plot_terms(B=0)),
    "axes of terms": lambda: [ax.get_xlabel() for ax in additive().plot_terms(B=0)],
    "lines of a term": lambda: legend(fitted(f"s({ONE}, by=stand)").plot_terms(B=0)[0]),
    "weights of terms": lambda: legend(selection_plot([1.0], {ONE: [0.4], TWO: [0.6]}, [2.0], 0, what="score")),
    "profiles": lambda: legend(searched()),
    "residuals by predictor": lambda: [ax.get_xlabel() for ax in fitted().plot_residuals()],
    "residuals by level": lambda: legend(fitted(levels=3).plot_residuals()[0]),
    "effects": lambda: titles(fitted().effects(B=0).plot()),
    "a page": lambda: legend(fitted(levels=3).plot(rng=1)[0]),
    "a surface": lambda: [each.removesuffix(", support vector") for each in legend(fitted().plot_surface())][:4:2],
    "regions": lambda: legend(fitted(levels=3).plot_surface())[:3],
    "panels of surfaces": lambda: titles(fitted(f"{ONE} + {TWO} + stand").plot_surface(by="stand")),
    "levels up an axis": lambda: ticks(fitted(f"{ONE} + stand").plot_surface(x=ONE, y="stand")),
    "predictions": lambda: legend(fitted(levels=3).get_prediction(B=39, rng=1).plot()),
    "calibration": lambda: titles(fitted(levels=3).loo().plot_calibration()),
    "reliability": lambda: [each.partition("\nMCB")[0] for each in titles(reliability().plot())],
}


@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
@pytest.mark.parametrize("name", SHOWN)
def test_names_are_told_apart(name):
    shown = SHOWN[name]()
    assert len(shown) >= 2 and all(shown)
    assert len(set(shown)) == len(shown)
