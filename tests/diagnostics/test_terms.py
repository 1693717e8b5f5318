"""Where the functions of an additive fit are drawn: the same numbers as predict_terms has there."""

import numpy as np
import pandas as pd
import pytest
from levels import sample

from svmstat import svm
from svmstat.diagnostics.terms import CURVE, MAP, term_effects
from svmstat.machine import reweighted, term_values

TOLERANCE = 1e-6  # two certified fits of one sample


def effects(fit, names, replicates=None, level=0.9):
    return term_effects(fit.machine, fit.frame.design, names, replicates, level)


def at(fit, name, **columns):
    """h of a term (P, m) in new rows, the first row of the data but for these columns."""
    m = len(next(iter(columns.values())))
    new = pd.DataFrame({key: np.repeat(value, m) for key, value in sample(len(fit.classes)).iloc[0].items()})
    new = new.astype({"x": float, "z": float}).assign(**columns)
    h = fit.predict_terms(new)
    return h[[name]].to_numpy().T if len(fit.classes) == 2 else h.xs(name, axis=1, level="term").to_numpy().T


@pytest.mark.parametrize("K", [2, 3])
def test_each_kind_of_term_has_the_values_of_predict_terms(K):
    data = sample(K)
    fit = svm("y ~ s(x) + te(x, z) + s(x, by=site) + s(x, by=z) + side + x:side + ti(x, z, by=side)", data, weights="w")
    names = fit.theta.index.tolist()
    curve, surface, levels, number, points, product, rest = effects(fit, names)
    kinds = [each.kind for each in (curve, surface, levels, number, points, product, rest)]
    assert kinds == ["curve", "map", "curve", "curve", "points", "rows", "rows"]

    np.testing.assert_allclose(curve.estimate[:, 0], at(fit, "s(x)", x=curve.x[0]), atol=1e-12)
    assert curve.x.shape == (1, CURVE)
    x, z = surface.x
    rows = data.loc[data["w"] > 0, ["x", "z"]].to_numpy()
    far = [(np.hypot(*((point - rows) / np.ptp(rows, axis=0)).T) > 0.1).all() for point in surface.x.T]
    assert 0.0 < np.mean(far) < 1.0
    expected = np.where(far, np.nan, at(fit, "te(x, z)", x=x, z=z))
    np.testing.assert_allclose(surface.estimate[:, 0], expected, atol=1e-12)
    assert surface.x.shape == (2, MAP**2)
    assert levels.lines == ("east", "north", "south")
    for j, site in enumerate(levels.lines):
        expected = at(fit, "s(x, by=site)", x=levels.x[j], site=[site] * CURVE)
        np.testing.assert_allclose(levels.estimate[:, j], expected, atol=1e-12)
        own = data.loc[(data["site"] == site) & (data["w"] > 0), "x"]
        np.testing.assert_allclose(levels.x[j, [0, -1]], [own.min(), own.max()])
    mean = np.average(data["z"], weights=data["w"])
    expected = at(fit, "s(x, by=z)", x=number.x[1], z=np.repeat(mean, CURVE))
    np.testing.assert_allclose(number.estimate[:, 1], expected, atol=1e-12)
    assert number.lines[1] == f"z = {mean:.3g}"
    assert points.lines == ("l", "r")
    np.testing.assert_allclose(points.estimate[:, :, 0], at(fit, "side", side=["l", "r"]), atol=1e-12)
    for each in (product, rest):
        values = (
            fit.predict_terms().to_numpy().reshape(len(data), -1, len(names))[data["w"] > 0, :, names.index(each.name)]
        )
        np.testing.assert_allclose(each.estimate[:, 0], np.sort(values.T, axis=1), atol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_bands_are_percentiles_of_refits(K):
    data = sample(K)
    fit = svm("y ~ s(x) + side", data)
    replicates = fit.bootstrap(B=19, rng=1).replicates
    (curve,) = effects(fit, ["s(x)"], replicates)
    refits = [reweighted(fit.machine, fit.machine.groups.shared(counts.astype(float))) for counts in replicates.counts]
    rows = np.repeat(fit.machine.X[:1], CURVE, axis=0)
    rows[:, 0] = (curve.x[0] - fit.frame.design.center[0]) / fit.frame.design.scale_[0]
    h = np.array([term_values(each, rows)[:, :, 0].T for each in refits])
    lower, upper = np.quantile(h, [0.05, 0.95], axis=0, method="weibull")
    np.testing.assert_allclose(curve.lower[:, 0], lower, atol=TOLERANCE)
    np.testing.assert_allclose(curve.upper[:, 0], upper, atol=TOLERANCE)


def test_without_enough_replicates_there_are_no_bands():
    fit = svm("y ~ s(x) + side", sample(2))
    for replicates in (None, fit.bootstrap(B=9, rng=1).replicates):
        (curve,) = effects(fit, ["s(x)"], replicates)
        assert np.isnan(curve.lower).all()
        assert np.isnan(curve.upper).all()


def test_uneven_probability_weights_are_told():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "x", "e"])
    data["y"] = data["a"] + rng.normal(size=90) > 0
    fit = svm("y ~ a + x", data, weights=np.exp(1.5 * data["e"]), weight_type="probability")
    alike = fit.machine.weights.sum() ** 2 / (fit.machine.weights**2).sum()
    assert f"the rows count as about {int(alike)} of one weight [Kish 1965]" in " ".join(str(fit.drop1(["x"])).split())
    even = svm("y ~ a + x", data, weights=np.ones(90), weight_type="probability")
    assert "Kish" not in str(even.drop1(["x"]))
