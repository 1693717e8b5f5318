"""What the influence of rows shows where there is hardly any."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from svmstat import svm
from svmstat.errors import ArgumentError


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


def test_rows_of_weight_zero_are_not_beyond_an_envelope():
    """They are predicted, badly here, but count nowhere."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x", "z"])
    wrong = data["x"].nlargest(6).index
    data["y"] = (rng.random(120) < 1.0 / (1.0 + np.exp(-3.0 * data["x"]))).where(~data.index.isin(wrong), False)
    weights = np.where(data.index.isin(wrong), 0.0, 1.0)
    found = svm("y ~ x + z", data, weights=weights, kernel="linear", C=1).get_influence()
    envelope = found.envelope(rng=1)
    assert (found.outlyingness[wrong] > envelope.critical_value("outlyingness")).any()
    assert not found.beyond().loc[wrong].any(axis=None)
    drawn = found.plot(), found.plot_index(what="outlyingness")
    for ax in drawn:
        assert not {text.get_text() for text in ax.texts} & set(map(str, wrong))
        assert "without a value" not in ax.get_title()
    stems = [segment for each in drawn[1].collections for segment in getattr(each, "get_segments", list)()]
    assert sorted(x for (x, _), _ in stems) == [k + 1 for k in range(120) if weights[k]]


@pytest.mark.parametrize("level", [2, 0, -1, np.nan, "a", True])
def test_levels_that_are_none(level):
    data = pd.DataFrame({"x": np.arange(40.0), "y": np.arange(40) % 3 > 0})
    found = svm("y ~ x", data).get_influence()
    envelope = found.envelope(rng=1)
    for call in (found.summary, found.beyond, partial(envelope.critical_value, "own")):
        with pytest.raises(ArgumentError, match=r"^level="):
            call(level)
    with pytest.raises(ArgumentError, match=r"^what='deltas' is not allowed.* did you mean 'delta'"):
        envelope.critical_value("deltas")
    assert envelope.critical_value("delta") == envelope.critical_value("delta_deviance")
