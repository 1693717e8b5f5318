"""The promise of the certificate at the extremes: the right number or one clear warning, the same by every road."""

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from levels import votes

from svmstat import svm, tune
from svmstat.errors import CertificateWarning, GridWarning
from svmstat.solver import Status

# Scores by different roads: Platt's map amplifies what 1e-8 leaves open.
TOL_ROADS = 1e-6


def noisy_line(scale=1.0):
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    y = (x + 0.5 * rng.normal(size=30) > 0).astype(int)
    return pd.DataFrame({"x": x * scale, "y": y})


def exactly(fit):
    """Σ α y K + b in rational arithmetic, of the linear kernel on one column."""
    (pair,) = fit.machine.pairs
    x = [Fraction(value) for value in fit.machine.X[fit.machine.groups.first, 0].tolist()]
    beta = [Fraction(value) for value in (pair.solution.coefficients * pair.problem.signs).tolist()]
    w = sum(b * each for b, each in zip(beta, x, strict=True))
    return np.array([float(w * each + Fraction(fit.intercept)) for each in x])[fit.machine.groups.of_row]


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5, 1e6, 1e7, 1e8])
def test_large_predictors_are_right_or_warned_of(scale):
    """The same machine as C = scale² on x itself, which tends to the one of C = ∞."""
    data = noisy_line(scale)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = svm("y ~ x", data, kernel="linear", scale=False)
    assert fit.converged == (not any(each.category is CertificateWarning for each in caught))
    assert fit.apparent_error == (fit.predict(data) != data["y"]).mean() == pytest.approx(5 / 30)
    assert np.ptp(fit.decision_values) > 1.0
    np.testing.assert_array_equal(fit.decision_values, fit.decision_function(data))
    limit = fit.rounding if fit.converged else 1e-3 * np.ptp(fit.decision_values)
    np.testing.assert_allclose(fit.decision_values, exactly(fit), rtol=0, atol=max(limit, 1e-14))
    if fit.converged:
        assert fit.rounding <= 1e-6 * np.ptp(fit.decision_values)
    else:
        assert fit.status is Status.IMPRECISE
        assert "smaller C or scaled predictors help" in str(caught[0].message)
        assert "do not rely on the numbers below" in " ".join(str(fit.summary()).split())


@pytest.mark.parametrize("C", [1e-9, 1e-6, 1.0, 1e6, 1e10, 1e14])
def test_costs_of_any_size(C):
    """f is that of its own α, to the rounding that is stated; or there is a warning."""
    data = noisy_line()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = svm("y ~ x", data, kernel="linear", C=C)
    assert fit.converged == (not any(each.category is CertificateWarning for each in caught))
    if fit.converged:
        np.testing.assert_allclose(fit.decision_values, exactly(fit), rtol=0, atol=fit.rounding)
    assert fit.apparent_error == (fit.predict(data) != data["y"]).mean()
    if C >= 1.0:
        assert fit.apparent_error == pytest.approx(5 / 30)


def contradictory(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.integers(0, 4, (80, 2)), columns=list("ab"))
    return data.assign(y=rng.random(80) < 0.5)


def score_by_refits(formula, data, **options):
    """The CV score with in-sample maps from a fit without each row, the kernel and the scaling being held."""
    total = 0.0
    for k in range(len(data)):
        weights = np.where(np.arange(len(data)) == k, 0.0, 1.0)
        fit = svm(formula, data, weights=weights, **options)
        p = fit.predict_proba(data.iloc[[k]])[data["y"].iloc[k]].iloc[0]
        total += np.log(p)
    return -2.0 * total


@pytest.mark.parametrize("seed", [130, 7, 21])
def test_a_score_does_not_depend_on_the_road(seed):
    """Contradictory rows with costs: f is constant in the fit and in many deletions, and nearly so in others."""
    data, costs = contradictory(seed), {"fp": 1, "fn": 2.5}
    standard = data.assign(**{name: (data[name] - data[name].mean()) / data[name].std() for name in "ab"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        table = tune("y ~ .", standard, C=[0.1, 1, 10], gamma=[0.1, 1], costs=costs, scale=False).table
    for row in table.itertuples():
        options = {"C": row.C, "gamma": row.gamma, "scale": False}
        one = svm("y ~ .", standard, costs=costs, **options).loo()
        assert row.score == pytest.approx(one.score, rel=TOL_ROADS)
    # Costs make the class weights from the shares of the sample, which a refit without a row would change.
    chosen = svm("y ~ .", standard, costs=costs, C=1.0, gamma=0.1, scale=False)
    refitted = score_by_refits("y ~ .", standard, C=1.0, gamma=0.1, scale=False, class_weight=chosen.class_weight)
    assert chosen.loo().score == pytest.approx(refitted, rel=TOL_ROADS)
    one_cost = table[table["gamma"] == 0.1]["score"].to_numpy()
    if seed == 130:  # where f is constant the cost does not matter
        assert all(a == pytest.approx(b, rel=TOL_ROADS) for a, b in pairwise(one_cost))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", [0, 1, 2, 12, 20, 26])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_rows_with_equal_predictors_are_one_point(classes, seed, kernel):
    """One f, bit for bit, in the fit, for the data given again, for one row alone, and in a shuffled fit."""
    rng = np.random.default_rng(seed)
    n = 24
    data = pd.DataFrame({"x": rng.integers(0, 3, n).astype(float), "z": rng.integers(0, 2, n).astype(float)})
    data["y"] = rng.permutation(np.resize(list("abc")[:classes], n))
    fit = svm("y ~ x + z", data, kernel=kernel)
    f = pd.DataFrame(fit.decision_values)
    groups = f.groupby([data["x"], data["z"]])
    assert (groups.max() == groups.min()).all(axis=None)
    again = pd.DataFrame(fit.decision_function(data))
    np.testing.assert_array_equal(f, again)
    assert fit.predict().equals(fit.predict(data))
    alone = pd.concat([pd.DataFrame(fit.decision_function(data.iloc[[k]])) for k in range(n)])
    np.testing.assert_array_equal(f, alone)
    other = svm("y ~ x + z", data.sample(frac=1.0, random_state=seed), kernel=kernel)
    assert fit.predict().equals(other.predict()[data.index])
    if (classes, kernel) == (3, "rbf"):
        assert votes(f, fit.pairs, fit.classes)[1].all() == (seed < 12)  # the last three seeds have votes that tie


# A decision function that hardly varies


@pytest.mark.parametrize(
    ("seed", "column", "C", "score"), [(301, "age", 0.1, None), (1520, "income", 0.1, 77.3163), (1688, "x", 10.0, None)]
)
def test_held_out_numbers_of_a_flat_fit_do_not_hang_on_the_end_of_a_descent(seed, column, C, score):
    """Few events on one noisy predictor: f is -1 to 1e-5 or less, and more digits than the tolerance has decide.

    The score is that of the class frequencies, or of left-out values that an active set in 60 digits gives.
    """
    rng = np.random.default_rng(seed)
    n, events = int(rng.integers(60, 300)), int(rng.integers(3, 8))
    columns = {"age": rng.integers(20, 80, n), "income": np.round(rng.lognormal(3, 1, n), 1)}
    columns["x"] = rng.normal(size=n).round(2)
    found = []
    for sign in (1.0, -1.0):
        fit = svm("y ~ x", pd.DataFrame({"x": sign * columns[column], "y": np.arange(n) < events}), C=C)
        assert fit.converged and fit.loo().n_failed == 0
        found.append(fit.loo().score)
        if score is None:
            assert fit.loo().score == pytest.approx(fit.loo().null_score, rel=1e-9) and fit.loo().rsquared <= 1e-9
        else:
            assert fit.loo().score == pytest.approx(score, rel=1e-4)
    assert found[0] == pytest.approx(found[1], rel=1e-4)


@pytest.mark.parametrize(
    ("seed", "column"),
    [
        (1, "income"),
        (39, "income"),
        (54, "income"),
        (3, "rounded"),
        (10, "rounded"),
        (2, "normal"),
        (24, "normal"),
        (16, "age"),
    ],
)
def test_fits_that_hardly_vary_are_solved(seed, column):
    """Of one predictor a kernel matrix has few eigenvalues that are no rounding, and free rows depend on each other."""
    rng = np.random.default_rng(seed)
    n, events = int(rng.integers(60, 300)), int(rng.integers(3, 8))
    columns = {"age": rng.integers(20, 80, n), "income": np.round(rng.lognormal(3, 1, n), 1)}
    columns |= {"rounded": rng.normal(size=n).round(2), "normal": rng.normal(size=n)}
    fit = svm("y ~ x", pd.DataFrame({"x": columns[column], "y": np.arange(n) < events}))
    assert fit.converged and fit.loo().n_failed == 0


def test_descents_that_meet_their_tolerance_are_not_given_up():
    """Five of them took three times the steps that one may take, and the fit was left at a violation of 8e-5."""
    rng, n = np.random.default_rng(104), 4500
    X = rng.normal(size=(n, 3))
    s = X[:, 0] + X[:, 1] ** 2 - 1.0 + rng.normal(size=n)
    data = pd.DataFrame(X, columns=list("abc")).assign(y=(s > np.quantile(s, 0.95)).astype(int))
    data.iloc[:800] = data.iloc[800:1600].to_numpy()
    data.loc[:200, "y"] = 1 - data.loc[:200, "y"]
    data["w"] = rng.integers(0, 3, n)
    assert svm("y ~ a + b + c", data.astype({"y": int}), weights="w", C=100.0, gamma=0.5).converged


@pytest.mark.parametrize("seed", range(4))
def test_isotonic_probabilities_of_new_rows_do_not_hang_on_the_last_bit(seed):
    """The f of a new row is often that of a left-out one in exact arithmetic: of factors, of a term without a part."""
    rng, n = np.random.default_rng(seed), 50
    data = pd.DataFrame({name: rng.choice(list("abc"), n) for name in "ghi"}).assign(x=rng.integers(0, 4, n))
    data["y"] = (data.g == "a") * 1.0 + (data.h == "b") - (data.i == "c") + rng.logistic(size=n) > 0
    new = pd.DataFrame([(g, h, x) for g in "abc" for h in "abc" for x in range(4)], columns=["g", "h", "x"])
    frames = data, data.iloc[rng.permutation(n)]
    one, other = (svm("y ~ s(x) + g + h", frame, calibration="venn-abers").predict_proba(new) for frame in frames)
    np.testing.assert_allclose(one, other, atol=1e-9)
    fit = svm("y ~ s(x) + s(z)", data.assign(z=rng.normal(size=n)), calibration="venn-abers", theta={"s(z)": 0.0})
    moved = (fit.predict_proba(new.assign(z=z)) for z in (0.0, 0.3))
    np.testing.assert_allclose(*moved, atol=1e-9)


@pytest.mark.parametrize("C", [1e-14, 1e-20, 1e-100])
def test_an_h_that_is_all_of_f_is_not_dropped_in_silence(C):
    """Classes of one weight at a tiny C: α = C, b = 0 beside the margins, and f = h has signs that doubles can show."""
    rng = np.random.default_rng(7)
    y = np.repeat([1.0, -1.0], 10)
    x = rng.normal(size=(20, 2)) + (y > 0)[:, None]
    data = pd.DataFrame(x, columns=["a", "b"]).assign(y=y)
    with pytest.warns(CertificateWarning, match="a larger C where it is tiny"):
        fit = svm("y ~ a + b", data, C=C, gamma=0.5, scale=False)
    assert fit.status is Status.IMPRECISE
    assert svm("y ~ a + b", data.iloc[1:], C=C, gamma=0.5, scale=False).status is Status.CERTIFIED  # f = −1 + h
    same = pd.concat([data.assign(y=1), data.assign(y=0)])
    assert svm("y ~ a + b", same, C=C, gamma=0.5, scale=False).status is Status.CERTIFIED  # h = 0 indeed


def rare(seed, n=200, share=0.08):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=n)})
    data["y"] = rng.random(n) < share
    return data


HARDLY = {
    "laplace": {"kernel": "laplace", "gamma": 0.01, "C": 0.1},
    "laplace, less": {"kernel": "laplace", "gamma": 0.002, "C": 0.02},
    "rbf": {"kernel": "rbf", "gamma": 0.05, "C": 0.02},
    "rbf, to rounding": {"kernel": "rbf", "gamma": 0.005, "C": 0.0015},
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", HARDLY.values(), ids=HARDLY)
def test_a_map_is_of_the_values_that_are_shown(options, seed):
    """Also where f hardly varies, and all numbers of the fit are of the same values."""
    data = rare(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)
        fit = svm("y ~ x", data, calibration="insample", **options)
        influence = fit.get_influence().summary_frame()
        drawn = fit.gof(method="pairs", B=39, rng=1)
    own = fit.machine.own_values[:, 0]
    np.testing.assert_array_equal(own, fit.decision_values)
    A, B, y = fit.insample_maps.slope[0], fit.insample_maps.intercept[0], np.where(data["y"], 1.0, -1.0)
    assert fit.deviance == pytest.approx(2.0 * np.logaddexp(0.0, y * (A * own + B)).sum(), rel=1e-9)
    assert fit.deviance <= fit.null_deviance + 1.0  # but for Platt's targets
    still = influence["rms_change"] == 0.0
    assert (np.abs(influence["others"][still]) < 0.05 * fit.null_deviance).all()
    assert np.nanmin(drawn.replicates) <= 3.0 * drawn.statistic + 10.0


def test_rows_put_at_their_bound_hide_nothing_of_a_small_f():
    """23 rows that are free by rounding: their sum, not their size, is what f has to be seen beside."""
    fit = svm("y ~ x", rare(2), **HARDLY["laplace"])
    (pair,) = fit.machine.pairs
    found = pair.solution
    assert found.violation <= 1e-12 and found.resolution <= 1e-6 * np.ptp(found.field)
    assert len(np.unique(fit.decision_values)) > 10 and fit.apparent.auc > 0.99


def test_pairs_say_the_same_of_their_rows_in_every_array():
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=120).round(1), "z": rng.normal(size=120).round(1)})
    data["y"] = np.array(list("abc"))[(rng.random(120) < 0.2).astype(int) + (rng.random(120) < 0.15)]
    for C in (1e-3, 1.0):
        machine = svm("y ~ x + z", data, kernel="laplace", gamma=0.01, C=C).machine
        own, every = machine.own_values, machine.decision_values
        known = ~np.isnan(own)
        assert known.any(axis=1).all() and (~known).any()
        np.testing.assert_array_equal(own[known], every[known])


@pytest.mark.parametrize("C", [1e4, 1e6])
def test_maps_of_replicates_are_not_of_rounding(C):
    """Four rows left out at one value of f have the probability of their class frequency."""
    data = pd.DataFrame({"x": np.repeat([0.0, 1.0, 2.0], 5), "z": np.tile([0.0, 2.0, 1.0, 1.0, 0.0], 3)})
    data["y"] = [0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1]
    drawn = svm("y ~ x + z", data, kernel="linear", C=C).bootstrap(B=199, rng=1)
    slopes = drawn.replicates.maps.slope[:, 0, 0]
    assert np.nanmax(np.abs(slopes)) < 1e6
    np.testing.assert_allclose(drawn.predict_proba()[26], 0.5)


@pytest.mark.parametrize(("C", "shown"), [(1.0, True), (1e-3, True), (1e-5, False), (1e-6, False)])
def test_a_summary_tells_where_f_shows_no_three_digits(C, shown):
    """All events are at their bound: f + 1 is in proportion to C, and no number of the fit depends on it."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=120), "z": rng.normal(size=120)})
    data["y"] = rng.random(120) < 0.08
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)
        fit = svm("y ~ x + z", data, C=C, gamma=0.05, calibration="insample")
        assert ("of the spread of f over the rows" not in " ".join(str(fit.summary()).split())) == shown
        if shown:
            assert fit.deviance == pytest.approx(44.9209, abs=1e-3)
            assert fit.loo().score == pytest.approx(67.95, abs=1e-2)


@pytest.mark.parametrize("C", [3e7, 1e8, 3e8, 1e9])
@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_f_does_not_vanish_where_the_tolerance_is_out_of_reach(C, loss):
    """Eight points and kernel values up to 1e5: a worse solution, whose f the next would leave, was shown as f = 0."""
    points = np.random.default_rng(2).normal(size=(8, 5)).round(2)
    often, events = np.array([4, 2, 4, 5, 2, 3, 4, 1]), np.array([2, 0, 4, 0, 2, 3, 4, 1])
    y = np.concatenate([np.arange(n) >= n - k for n, k in zip(often, events, strict=True)]).astype(int)
    data = pd.DataFrame(np.repeat(points, often, axis=0), columns=list("abcde")).assign(y=y)
    machine = {"kernel": "poly", "gamma": 5.5, "degree": 3, "coef0": 0.1, "scale": False, "loss": loss}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)
        known, fit = (svm("y ~ .", data, C=cost, priors={0: 0.99, 1: 0.01}, **machine) for cost in (1e5, C))
    assert known.converged
    np.testing.assert_allclose(fit.decision_values, known.decision_values, atol=1e-2)


@pytest.mark.parametrize("C", [1e6, 1e7])
def test_rounding_makes_no_margin_negative(C):
    """Of a polynomial kernel, which is positive semidefinite, with bounds from C/1000 to 1000 C."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=50), "z": rng.normal(size=50)})
    score = data["x"] + rng.normal(size=50)
    weights = np.logspace(-3, 3, 50)
    machine = {"kernel": "poly", "coef0": 1.0, "degree": 2, "weights": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)
        known, fit = (svm("y ~ x + z", data.assign(y=score > np.median(score)), C=cost, **machine) for cost in (1e4, C))
    assert 0.0 < fit.margin < 1.1 * known.margin
    said = "of the margin; f has its digits" if fit.converged else "WARNING: the solution is not certified"
    assert said in " ".join(str(fit.summary()).split())
