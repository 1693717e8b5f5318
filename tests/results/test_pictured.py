"""Four figures that check a fit, and residuals by predictor: what is drawn is what the held-out rows say."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import repeated, sample

from svmstat import etable, svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, UnavailableError
from svmstat.objective.residuals import binned
from svmstat.resampling.accumulated import pooled

TOL = 1e-10  # the same sums in another order


@pytest.fixture(params=[2, 3], ids=["two", "three"])
def fit(request):
    return svm("y ~ np.exp(x / 5) + z + site", sample(request.param, 90, seed=1), weights="w")


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


def dots(ax):
    """Where means are drawn (k, 2), of all classes."""
    return np.vstack([np.column_stack(line.get_data()) for line in ax.lines if line.get_marker() not in ("", "None")])


def test_bins_by_hand():
    x, p = np.array([1.0, 2.0, 3.0, 9.0]), np.array([0.2, 0.5, 0.5, 0.9])
    seen, w = np.array([True, False, True, True]), np.array([2.0, 1.0, 1.0, 3.0])
    found = binned(x, seen, p, w, np.array([0, 0, 2, 2]))
    np.testing.assert_allclose(found.x, [4 / 3, 7.5])
    np.testing.assert_allclose(found.mean, [(2 * 0.8 - 0.5) / 3, (0.5 + 3 * 0.1) / 4])
    np.testing.assert_allclose(found.se, [np.sqrt(2 * 0.16 + 0.25) / 3, np.sqrt(0.25 + 3 * 0.09) / 4])
    np.testing.assert_array_equal(found.total, [3.0, 4.0])


def test_weights_that_are_no_copies_count_twice_in_a_variance():
    p, w = np.array([0.2, 0.5]), np.array([2.0, 1.0])
    found = binned(p, np.array([True, False]), p, w, np.zeros(2, int), copies=False)
    np.testing.assert_allclose(found.se, [np.sqrt(4 * 0.16 + 0.25) / 3])


@pytest.mark.parametrize("how", [{"groups": "site"}, {"weights": "w", "weight_type": "probability"}])
def test_lines_are_those_of_right_probabilities_also_where_rows_belong_together(how):
    """Squares of sums had no events in a bin, or one group, for a line."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=300), "site": rng.integers(30, size=300), "w": 1.0})
    data["w"] += 1e-6 * rng.choice([-1, 1], size=300)
    data["y"] = rng.random(300) < 1 / (1 + np.exp(2.5 - 0.5 * data.x))
    fit = svm("y ~ x", data, C=0.1, **how)
    p, w = fit.loo().probability[:, 1], fit.frame.weights
    (panel,) = fit.plot_residuals()
    half = np.array([np.ptp(path.vertices[:, 1]) / 2 for each in panel.collections for path in each.get_paths()])
    which = pooled(data.x.to_numpy(), w, len(half))
    by_hand = [2 * np.sqrt((w * p * (1 - p))[which == k].sum()) / w[which == k].sum() for k in range(len(half))]
    np.testing.assert_allclose(half, by_hand, rtol=1e-5)


def test_each_of_few_values_has_a_bin():
    """Misfit at the two least values goes opposite ways, and would be nothing in one bin."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 600)
    y = rng.random(600) < np.array([0.15, 0.85, 0.5, 0.5])[x]
    fit = svm("y ~ x + z", pd.DataFrame({"x": x, "z": rng.normal(size=600), "y": y}), kernel="linear")
    found = dots(fit.plot_residuals()[0])
    residuals = fit.residuals("response").to_numpy()
    by_hand = [residuals[x == value].mean() for value in range(4)]
    order = np.argsort(found[:, 0])
    np.testing.assert_allclose(found[order], np.column_stack([range(4), by_hand]), rtol=1e-9, atol=1e-12)
    assert by_hand[0] < -0.2 < 0.3 < by_hand[1]


def test_residuals_by_level_are_means_of_the_residuals(fit):
    axes = fit.plot_residuals()
    assert [ax.get_xlabel() for ax in axes] == ["x", "z", "site"]
    residuals = fit.residuals("response").to_numpy().reshape(fit.n_rows, -1)
    w = fit.frame.weights
    site = fit.model_frame["site"].to_numpy()
    by_hand = [
        np.average(residuals[own], axis=0, weights=w[own])
        for own in ((site == level) & (w > 0) for level in ("east", "north", "south"))
    ]
    np.testing.assert_allclose(np.sort(dots(axes[2])[:, 1]), np.sort(np.ravel(by_hand)), rtol=TOL, atol=TOL)
    assert [text.get_text() for text in axes[2].get_xticklabels()] == ["east", "north", "south"]
    assert len({ax.get_ylim() for ax in axes}) == 1


def test_weights_are_repeats(fit):
    data = sample(len(fit.classes), 90, seed=1)
    many = svm("y ~ np.exp(x / 5) + z + site", repeated(data), calibration="insample")
    few = svm("y ~ np.exp(x / 5) + z + site", data, weights="w", calibration="insample")
    mine, theirs = (each.plot_residuals() for each in (few, many))
    np.testing.assert_allclose(dots(mine[0])[:, 0], dots(theirs[0])[:, 0], rtol=1e-7)


def test_four_figures(fit):
    axes = fit.plot(rng=1)
    assert len(axes) == 4
    axes[0].figure.canvas.draw()
    held = fit.loo()
    used = fit.frame.weights > 0
    shown = axes[2].collections[0].get_offsets()
    assert len(shown) == used.sum() and axes[2].get_ylabel() == "outlyingness, −2 log π"
    np.testing.assert_allclose(np.sort(shown[:, 1]), np.sort(-2 * held.log_likelihoods[used]), rtol=TOL)
    largest = fit.frame.index[used][np.argmax(-held.log_likelihoods[used])]
    assert str(largest) in [text.get_text() for text in axes[2].texts]
    assert f"held out: leave-one-out, {used.sum()} rows" in axes[0].figure._suptitle.get_text()
    heights = [each.get_data() for each in axes[3].patches if hasattr(each, "get_data")]
    assert len(heights) == 4 * len(fit.response.pairs)  # of either class of a pair its area and its outline
    for each in heights:
        assert (each.values >= each.baseline).all()


def test_they_go_where_they_are_put(fit):
    figure, places = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
    fit.plot(ax=places[0])
    fit.plot_residuals(ax=places[1])
    figure.canvas.draw()
    assert len(figure.subfigs) == 2 and tuple(figure.get_size_inches()) == (12, 6)


def test_of_many_predictors_those_are_drawn_that_have_most_to_show(monkeypatch):
    for module in ("svmstat.diagnostics.effects", "svmstat.results.pictured"):
        monkeypatch.setattr(f"{module}.MOST_PANELS", 2)
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    data["y"] = 2.0 * data["b"] - 3.0 * data["d"] + rng.normal(size=60) > 0
    fit = svm("y ~ a + b + c + d", data, kernel="linear")
    effects = fit.effects()
    ranges = {effect.name: effect.spread.max() for effect in effects}
    axes = effects.plot()
    assert [ax.get_title(loc="left") for ax in axes] == sorted(sorted(ranges, key=ranges.get)[-2:]) == ["b", "d"]
    assert "the 2 of 4 predictors with the largest ranges" in axes[0].figure.get_suptitle()
    axes = fit.plot_residuals()
    held, furthest = fit.loo(), {}
    for name in "abcd":
        bins = pd.qcut(data[name], 4, labels=False)  # 15 rows each
        p = pd.Series(held.probability[:, 1])
        mean = (data["y"] - p).groupby(bins).mean()
        furthest[name] = (mean.abs() / np.sqrt((p * (1 - p)).groupby(bins).sum()) * 15).max()
    assert [ax.get_xlabel() for ax in axes] == sorted(sorted(furthest, key=furthest.get)[-2:])
    assert "2 of 4 predictors, those furthest from zero" in axes[0].figure.get_suptitle().replace("\n", " ")


def test_the_envelope():
    fit = svm("y ~ x + z", sample(2, 40, seed=3))
    with pytest.raises(ArgumentError, match="B=98 is not allowed: it must be 0, or at least 99"):
        fit.plot(B=98)
    texts = [text.get_text() for text in fit.plot(B=99, rng=1)[2].texts]
    assert texts[:2] == ["95 % envelope", "95 % envelope"]


def test_rows_that_cannot_be_held_out_are_counted():
    data = pd.DataFrame({"y": [0] * 9 + [1], "x": np.arange(10.0) ** 2, "g": list("aabbaabbab")})
    fit = svm("y ~ x + g", data, calibration="insample")
    assert "1 row without a prediction" in fit.plot_residuals()[0].figure._suptitle.get_text()
    assert "9 rows, 1 without a prediction" in fit.plot(rng=1)[0].figure._suptitle.get_text()
    with pytest.raises(DataError, match="no row can be held out"):
        svm("y ~ x", pd.DataFrame({"y": [0, 1], "x": [1.0, 2.0]}), calibration="insample").plot()


def test_a_gram_matrix_has_no_columns_to_look_along():
    x = np.random.default_rng(0).normal(size=(30, 2))
    gram = pd.DataFrame(x @ x.T).add_prefix("k").assign(y=[0, 1] * 15)
    fit = svm("y ~ .", gram, kernel="precomputed")
    with pytest.raises(UnavailableError, match="the surface needs kernel values of altered rows"):
        fit.plot_surface()
    with pytest.raises(UnavailableError, match="residuals over predictors need their columns"):
        fit.plot_residuals()


@pytest.mark.parametrize("draw", ["plot", "plot_residuals", "plot_surface"])
@pytest.mark.parametrize("ax", [3, np.empty(2), "figure"])
def test_axes_are_one_of_matplotlib(draw, ax):
    given = plt.figure() if isinstance(ax, str) else ax
    with pytest.raises(ArgumentTypeError, match=f"ax is of type {type(given).__name__}: it must be one Axes"):
        getattr(svm("y ~ x + z", sample(2, 60, seed=1)), draw)(ax=given)


@pytest.mark.parametrize("wrong", [{"ax": "x"}, {"rng": "x"}])
def test_nothing_is_computed_for_a_figure_that_will_be_refused(wrong):
    fit = svm("y ~ x + z", sample(2, 60, seed=1))
    influence = fit.get_influence()
    with pytest.raises((ArgumentError, ArgumentTypeError), match=next(iter(wrong))):
        svm("y ~ x + z", sample(2, 60, seed=1)).plot(**wrong)
    if "ax" in wrong:
        fresh = svm("y ~ x + z", sample(2, 60, seed=1))
        with pytest.raises(ArgumentTypeError, match="ax"):
            fresh.plot_residuals(**wrong)
        assert fresh._loo.value is None
    for draw in (influence.plot, influence.plot_index):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=next(iter(wrong))):
            draw(**wrong)
    assert not influence.has_envelope


@pytest.mark.parametrize("wrong", [{"rng": "x"}, {"n_jobs": 0}, {"progress": "x"}], ids=str)
def test_arguments_of_replicates_are_checked_where_these_are_given_or_not_wanted(wrong):
    fit = svm("y ~ x + z", sample(2, 60, seed=1), kernel="linear")
    boot = fit.bootstrap(39, rng=1)
    name = next(iter(wrong))
    asked = [
        lambda: fit.confint(B=boot, **wrong),
        lambda: fit.get_prediction(B=boot, **wrong),
        lambda: fit.effects(B=0, **wrong),
        lambda: etable([fit], **wrong),
    ]
    for call in asked:
        with pytest.raises(ArgumentError, match=f"^{name}="):
            call()


def test_an_envelope_that_cannot_be_drawn_leaves_no_figure():
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=60), "w": rng.lognormal(size=60)}).assign(y=lambda d: d["x"] > 0.2)
    fit, before = svm("y ~ x", data, weights="w", weight_type="probability"), plt.get_fignums()
    with pytest.raises(DataError, match="probability weights"):
        fit.plot(B=99)
    assert plt.get_fignums() == before


def test_the_background_is_white_under_a_dark_style():
    data = pd.DataFrame({"x": np.random.default_rng(2).normal(size=60)}).assign(y=lambda d: d["x"] > 0.2)
    with plt.style.context("dark_background"):
        ax = svm("y ~ x", data).loo().plot_calibration()
    assert ax.get_facecolor() == ax.figure.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
