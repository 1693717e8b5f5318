"""What the influence of rows shows where there is hardly any."""

import numpy as np
import pandas as pd

from svmstat import svm


def test_changes_that_are_rounding_are_none():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 2, (200, 3)), columns=["u", "v", "w"])
    data["y"] = rng.random(200) < 0.3 + 0.4 * data["u"]
    influence = svm("y ~ u + v + w", data, kernel="linear").get_influence()
    assert (influence.rms_change == 0.0).all() and "rms change, " not in str(influence)
    drawn = influence.envelope(99, rng=1)
    assert drawn.critical_value("rms_change") == 0.0 or drawn.critical_value("rms_change") > 1e-6
    ax = influence.plot()
    assert ax.get_xlim()[1] > 1e-6
