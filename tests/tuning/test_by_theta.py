"""Searches over the weights of terms."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import repeated, sample

from svmstat import datasets, minimax, svm, tune
from svmstat.errors import ArgumentError, DataError, GridWarning, LongRunWarning
from svmstat.kernels import Spline
from svmstat.machine import contrasts
from svmstat.tuning import cosso
from svmstat.tuning.by_theta import SHARES, CoordinatePlan, CossoPlan

FORMULA = "y ~ s(x) + s(z) + s(noise)"


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    plt.close("all")


def noisy(K, n=60, seed=0):
    """A sample with a column of noise."""
    return sample(K, n, seed).assign(noise=np.random.default_rng(seed).normal(size=n))


def found(data, theta, formula=FORMULA, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        return tune(formula, data, theta=theta, **{"C": [0.5, 2.0], "rng": 1, "folds": 3} | options)


@pytest.fixture(params=["coordinate", "cosso"])
def theta(request):
    return request.param


@pytest.mark.parametrize("K", [2, 3])
def test_the_best_fit_is_that_of_its_parameters(theta, K):
    data = noisy(K)
    result = found(data, theta)
    assert sum(result.best_params["theta"].values()) == pytest.approx(3.0)
    fit = svm(FORMULA, data, **result.best_params)
    np.testing.assert_allclose(np.asarray(fit.decision_values), np.asarray(result.best.decision_values), atol=1e-7)
    again = result.best.update()
    np.testing.assert_allclose(np.asarray(fit.decision_values), np.asarray(again.decision_values), atol=1e-7)
    assert result.best.converged


def test_the_search_is_reproducible(theta):
    data = noisy(2)
    one, two = found(data, theta), found(data, theta, n_jobs=2)
    pd.testing.assert_frame_equal(one.table, two.table)


def test_weights_are_repeats(theta):
    """Coordinates by leave-one-out of one copy of a row, selection by folds of the rows that differ."""
    data = noisy(2)
    result = found(data, theta, weights="w", calibration="insample")
    again = found(repeated(data), theta, calibration="insample")
    np.testing.assert_allclose(
        list(result.best_params["theta"].values()), list(again.best_params["theta"].values()), rtol=1e-6
    )
    assert result.best_params["C"] == pytest.approx(again.best_params["C"])


def test_units_and_the_order_of_terms_change_nothing(theta):
    data = noisy(2)
    one = found(data, theta, calibration="insample").best_params["theta"]
    other = found(data.assign(x=1e3 * data["x"]), theta, calibration="insample").best_params["theta"]
    assert one == pytest.approx(other, rel=1e-6)


def test_coordinates_are_at_least_as_good_as_equal_weights():
    data = noisy(2)
    equal = tune(FORMULA, data, C=[0.5, 2.0, 8.0])
    result = found(data, "coordinate", C=[0.5, 2.0, 8.0])
    assert result.best_row["score"] <= equal.best_row["score"]
    assert result.best.loo().score == pytest.approx(result.best_row["score"], abs=1e-4)


@pytest.mark.parametrize("options", [{"criterion": "kfold"}, {"criterion": "span"}, {"score": "error"}], ids=str)
def test_coordinates_by_other_criteria(options):
    result = found(noisy(2), "coordinate", **options)
    assert (result.table["status"] == "ok").all()
    assert result.best_row["score"] <= result.table["score"].min() * (1 + 1e-3) + 1e-3


def test_selection_takes_the_smallest_bound_within_one_standard_error():
    result = found(noisy(2, 120), "cosso")
    table = result.table
    np.testing.assert_allclose(table["M"], 3 * np.array(SHARES))
    least = table["score"].idxmin()
    near = table["score"] <= table["score"][least] + table["score_se"][least]
    assert result.chosen == near.idxmax()
    weights = table[["s(x)", "s(z)", "s(noise)"]].to_numpy()
    assert (weights.sum(axis=1) <= table["M"] * (1 + 1e-9)).all()
    assert (table["terms"] == (weights > 0).sum(axis=1)).all()


@pytest.mark.parametrize(
    ("costs", "end"),
    [
        ((0.5,), None),
        ((0.001, 0.5, 1e6), None),
        ((2.0, 1e6), "2, is the smallest"),
        ((0.001, 2.0), "2, is the largest"),
        ((2.0, 0.001), "2, is the largest"),
    ],
)
def test_selection_says_where_its_cost_is_at_an_end(costs, end):
    """C is not searched again after θ has been selected, as it is by coordinates."""
    warned = found(noisy(2), "cosso", C=costs).summary().warnings
    told = (f"the best C with equal theta, {end} of its grid: a wider one may hold a better.",)
    assert warned == (told if end else ())


def test_selection_finds_the_terms_that_there_are():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.uniform(size=(300, 5)), columns=list("abcde"))
    logit = 4 * np.sin(2 * np.pi * data["a"]) + 24 * (data["b"] - 0.5) ** 2 - 2
    data["y"] = rng.uniform(size=300) < 1 / (1 + np.exp(-logit))
    result = tune("y ~ s(a) + s(b) + s(c) + s(d) + s(e)", data, theta="cosso", kernel=Spline(), rng=1, C=[2, 8, 32])
    assert [name for name, value in result.best_params["theta"].items() if value > 0] == ["s(a)", "s(b)"]


def test_a_search_repeated_without_each_fold(theta):
    result = found(noisy(2), theta, nested=3)
    assert len(result.nested.choices) == 3
    assert result.nested.choices[["s(x)", "s(z)", "s(noise)"]].sum(axis=1).tolist() == pytest.approx([3.0] * 3)
    assert np.isfinite(result.nested_score)


def test_a_retuned_test_of_fit(theta):
    result = found(noisy(2), theta)
    assert 0 < result.best.gof(B=3, retune=True, rng=1).pvalue <= 1


def test_the_bar_of_moves_counts_the_points(capsys):
    result = found(noisy(2), "coordinate", progress=True)
    assert f"tune, theta: {len(result.table)} points" in capsys.readouterr().err


def test_a_long_search_by_coordinates_is_announced(monkeypatch):
    monkeypatch.setattr("svmstat.resampling.loops.LONG", 1e-6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tune(FORMULA, noisy(2, 30), theta="coordinate", C=1.0)
    assert any("tune" in str(each.message) for each in caught if each.category is LongRunWarning)


def test_widths_are_searched_where_they_are_given():
    data = noisy(2)
    result = found(data, "coordinate", gamma=[0.5, 2.0])
    assert result.best_params["gamma"] in (0.5, 2.0)
    plain = found(data, None, gamma=[0.5, 2.0])
    assert plain.table["gamma"].tolist() == [0.5, 2.0] * 2
    assert found(data, None).table.columns[:2].tolist() == ["C", "score"]
    given = found(data, {"s(noise)": 0})
    assert given.best.theta["s(noise)"] == 0
    assert found(data, {"s(noise)": 0}, kernel=["rbf", "spline"]).best_params["kernel"] in ("rbf", "spline")


WIDTHS = [0.3, 1.0]


@pytest.mark.parametrize("K", [2, 3])
def test_each_width_has_a_search_of_its_own(theta, K):
    """The table is that of the widths one by one; the best is the best of theirs, and not of equal theta."""
    data = noisy(K)
    result, alone = found(data, theta, gamma=WIDTHS[::-1]), [found(data, theta, gamma=width) for width in WIDTHS]
    assert result.table["gamma"].unique().tolist() == WIDTHS
    beside = ["delta_se", "within_se"]  # the best
    for width, each in zip(WIDTHS, alone, strict=True):
        own = result.table[result.table["gamma"] == width].drop(columns=["gamma", *beside]).reset_index(drop=True)
        pd.testing.assert_frame_equal(own, each.table.drop(columns=beside), check_exact=True)
    best = alone[np.argmin([each.best_row["score"] for each in alone])]
    assert result.best_params == best.best_params and result.best_row["score"] == best.best_row["score"]
    np.testing.assert_array_equal(np.asarray(result.best.decision_values), np.asarray(best.best.decision_values))
    shown = [np.asarray(line.get_xydata()) for line in result.plot().get_lines()]
    for line, other in zip(shown, best.plot().get_lines(), strict=True):
        np.testing.assert_array_equal(line, np.asarray(other.get_xydata()))
    text = " ".join(str(result).split())
    assert "so for each gamma of the grid" in text and "so for each" not in str(best)


def test_a_width_at_the_end_of_its_list_is_told(theta):
    data = noisy(2)
    with pytest.warns(GridWarning, match=r"the best gamma = \S+ is the (smallest|largest) of its grid"):
        tune(FORMULA, data, theta=theta, C=1, gamma=[0.3, 1.0], rng=1)


def test_kernels_are_compared_each_at_the_best_of_its_theta(theta):
    result = found(noisy(2), theta, kernel=["rbf", "spline"])
    least = result.table.groupby("kernel")["score"].min()
    assert set(least.index) == {"rbf", "spline"} and result.best_row["kernel"] == result.best_params["kernel"]
    assert f"kernel = {result.best_params['kernel']}" in result.plot().get_ylabel() + result.plot().get_title("left")


def test_a_width_without_a_score_is_told_and_another_taken(theta, monkeypatch):
    """A search that fails for one kernel is a point without a score, which the warning and the table tell."""
    searched = {"coordinate": CoordinatePlan, "cosso": CossoPlan}[theta]
    whole = searched.search_with

    def without_one(plan, sample, grid, effort):
        if grid.arguments[0]["gamma"] == 1.0:
            raise DataError("there is nothing to see.")
        return whole(plan, sample, grid, effort)

    monkeypatch.setattr(searched, "search_with", without_one)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = tune(FORMULA, noisy(2), theta=theta, C=1, gamma=WIDTHS, rng=1)
    assert any("1 of" in str(each.message) and "could not be scored" in str(each.message) for each in caught)
    lost = result.table[result.table["status"] == "failed"]
    assert lost["gamma"].tolist() == [1.0] and lost["reason"].tolist() == ["there is nothing to see."]
    assert result.best_params["gamma"] != 1.0


@pytest.mark.parametrize("K", [2, 3])
def test_summary_and_figure(theta, K):
    result = found(noisy(K), theta)
    text = str(result)
    assert "s(noise)" in text
    assert "no p-value of such a fit" in " ".join(text.split())
    assert result.plot().get_title(loc="left")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theta": "best"}, "theta='best' is not allowed: it must be one of 'coordinate', 'cosso'"),
        ({"theta": 3}, "theta=3 is not allowed"),
        (
            {"theta": "cosso", "formula": "y ~ x"},
            "theta='cosso' is not allowed: it must be left out: the formula has no",
        ),
        ({"theta": "cosso", "criterion": "span"}, "whose score is the loss of held-out folds"),
        ({"theta": "cosso", "score": "error"}, "whose score is the loss of held-out folds"),
        ({"theta": "coordinate", "criterion": minimax()}, "left out, or values, with minimax"),
        ({"theta": "coordinate", "further": ["gacv"]}, "left out with theta='coordinate'"),
        ({"theta": None, "gamma": [1.0, "scale"]}, "one rule or several numbers in an additive formula"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ArgumentError) as caught:
        tune(**{"formula": FORMULA, "data": noisy(2)} | options)
    assert message in str(caught.value)


def test_folds_without_a_class_are_refused():
    with pytest.raises(DataError, match="folds=30 needs 30 different rows"):
        found(noisy(2), "cosso", folds=30)


def test_coordinates_on_mackerel():
    """A prototype in numpy had 490.4 for the CV score of [003], beside 493.2 with equal weights of five terms."""
    terms = " + ".join(f"s({name})" for name in ("lon", "lat", "b_depth", "c_dist", "temp_20m", "lon, lat"))
    options = {"C": 1.0, "gamma": 1.0, "calibration": "insample", "theta": "coordinate", "n_jobs": 2}
    assert tune(f"egg_count > 0 ~ {terms}", datasets.load("mackerel"), **options).best_row["score"] < 491.0


@pytest.mark.parametrize("K", [2, 3])
def test_the_score_of_a_search_has_no_correction_but_a_nested_one(theta, K):
    """Points that the score led to are no grid that was there before: what corrects that would be too low."""
    data = noisy(K)
    result = found(data, theta, nested=2)
    assert result.corrected_score is None and np.isnan(result.best.optimism)
    text = " ".join(str(result).split())
    assert f"Nested score: {result.nested_score:.5g}" in text and "corrected:" not in text
    assert "is too low for that" in text and "see the optimism" in text
    assert "by how much is not known here" in " ".join(str(result.best.summary()).split())
    assert "nested=True tunes anew" in " ".join(str(found(data, theta)).split())


@pytest.mark.parametrize("search", ["coordinate", "cosso"])
def test_a_term_called_as_what_tells_the_kernels_apart(search):
    data = noisy(2).rename(columns={"z": "gamma"})
    one, other = (
        found(each, search, formula=f"y ~ s(x) + {name} + noise", gamma=[0.3, 1.0])
        for name, each in (("gamma", data), ("z", data.rename(columns={"gamma": "z"})))
    )
    pd.testing.assert_frame_equal(one.table.rename(columns={"theta(gamma)": "z"}), other.table)
    assert one.plot().get_ylabel() == other.plot().get_ylabel()


@pytest.mark.parametrize("search", ["coordinate", "cosso"])
def test_terms_with_the_name_of_another_column(search):
    """Their columns of the table are their own, and C, M and score are what they are."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(80, 4)), columns=["age", "score", "C", "M"])
    data["y"] = data["age"] ** 2 + data["score"] + rng.normal(size=80) > 0.8
    odd = data.rename(columns={"score": "s1", "C": "c1", "M": "m1"})
    formulas = {"y ~ s(age) + score + C + M": data, "y ~ s(age) + s1 + c1 + m1": odd}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found, plain = (tune(text, each, theta=search, C=[1, 4], rng=1) for text, each in formulas.items())
    mine = {"theta(score)": "s1", "theta(C)": "c1", "theta(M)": "m1"}
    pd.testing.assert_frame_equal(found.table.rename(columns=mine), plain.table)
    assert found.best_params["C"] == plain.best_params["C"] == pytest.approx(found.best.C)
    lines = [np.asarray(line.get_ydata(), float) for line in found.plot().get_lines()]
    for line, other in zip(lines, plain.plot().get_lines(), strict=True):
        np.testing.assert_array_equal(line, np.asarray(other.get_ydata(), float))


@pytest.mark.parametrize("share", [0.3, 50.0])
def test_no_other_theta_has_a_lower_objective(monkeypatch, share):
    """½ Σ θ ‖g‖² + Σ u [m − y (b + Σ θ g)]₊ under Σθ ≤ M; with a large M the penalty alone keeps θ finite."""
    seen = []
    weights = cosso._weights
    monkeypatch.setattr(cosso, "_weights", lambda *given: seen.append(given) or weights(*given))
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    data["y"] = np.where(data["a"] + data["b"] ** 2 - 1 + 0.5 * rng.normal(size=60) > 0, "p", "q")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        tune("y ~ s(a) + s(b) + s(c)", data, theta="cosso", C=[0.1], rng=1, folds=3)
    sample, fitted, _ = seen[-1]
    M = 3.0 * share
    monkeypatch.setattr(cosso, "LEAST", 0.0)
    theta = weights(sample, fitted, M)
    pair, upper, solution = fitted.pairs[0], fitted.uppers[0], fitted.solutions[0]
    y, beta = pair.problem.signs, solution.alpha * pair.problem.signs
    g = np.column_stack([K[np.ix_(pair.rows, pair.rows)] @ beta for K in sample.stored.matrices])

    def objective(theta):
        h = g @ theta
        slack = pair.problem.margin - y * (h + (y * pair.problem.margin - h)[:, None])  # by b where a row meets it
        return 0.5 * theta @ (beta @ g) + (np.maximum(slack, 0.0) @ upper).min()

    assert theta.sum() <= M * (1 + 1e-9)
    least = objective(theta)
    for _ in range(300):
        other = np.maximum(theta * rng.uniform(0.5, 1.5) + rng.choice([0.0, 0.1]) * rng.normal(size=3), 0.0)
        other *= min(1.0, M / max(other.sum(), 1e-300))
        assert objective(other) >= least * (1 - 1e-9)


def test_held_out_loss_is_a_mean_over_the_pairs_of_a_level():
    pairs = contrasts([(0, 1), (0, 2), (1, 2)], "hinge")
    f = np.array([[0.5, -1.0, 9.0], [0.5, 9.0, 3.0]])
    np.testing.assert_allclose(cosso.held_out_loss(pairs, np.array([0, 1]), f), [(0.5 + 2.0) / 2, (1.5 + 0.0) / 2])


@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
def test_a_criterion_of_the_full_fit_has_no_held_out_numbers_and_no_advice_that_is_refused():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=40), "z": rng.normal(size=40)})
    data["y"] = np.where(data["x"] + rng.normal(size=40) > 0, "a", "b")
    text = str(tune("y ~ s(x) + s(z)", data, C=[0.1, 1, 10], criterion="gacv", theta="coordinate"))
    assert "standard error" not in text and "held-out rows" not in text and "nested=True" not in text
    assert "Apparent error" in text
