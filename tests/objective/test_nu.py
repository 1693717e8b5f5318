"""nu=…: the 2ν-SVM against its equivalent cost, scikit-learn and its own bounds, and every statistic of it."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import NuSVC

from svmstat import svm
from svmstat.errors import ArgumentError, CalibrationWarning, UnavailableError
from svmstat.objective.nu import Nu, check_nu, nu_of_sample

TOL_FIT = 1e-6  # two accurate solutions of one problem, relative to max(1, |f|)
TOL_SKLEARN = 1e-4  # libsvm keeps its kernel values in single precision
TOL_DEVIANCE = 1e-6  # deviances of two accurate fits, relative

N = 80
fractions = st.floats(0.02, 1.0)


def sample(n=N, seed=1):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    y = np.where(x + z**2 + 0.7 * rng.normal(size=n) > 1.2, "sick", "well")
    return pd.DataFrame({"x": x, "z": z, "y": y, "w": np.resize([1.0, 2.0, 0.25, 0.0, 1.5, 1.0, 3.0], n)})


DATA = sample()
OPTIONS = {"formula": "y ~ x + z", "data": DATA, "event": "sick", "scale": False, "gamma": 0.5}
PAIRS = [(0.5, 0.5), (0.3, 0.8), (0.9, 0.2), (1.0, 0.6), (0.7, 1.0)]


def fit(nu, **changes):
    return svm(**{**OPTIONS, **changes}, nu=nu)


def assert_same(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=TOL_FIT * max(1.0, np.abs(b).max()))


# -- the parameters ----------------------------------------------------------------------------------------------------


@given(fractions, fractions, st.floats(0.5, 1e4), st.floats(0.5, 1e4))
def test_the_formulas_of_the_paper(event, other, n_event, n_other):
    nu = Nu(event, other, n_event, n_other)
    n = n_event + n_other
    whole = 2 * event * other * n_event * n_other / ((event * n_event + other * n_other) * n)
    assert 2 * nu.total == pytest.approx(whole)
    assert event == pytest.approx(whole * n / (2 * nu.gamma * n_event))
    assert other == pytest.approx(whole * n / (2 * (1 - nu.gamma) * n_other))
    assert nu.cost(0.25) == pytest.approx(4 / n) and nu.cost(0.0) == np.inf


@given(st.floats(0.01, 0.6))
def test_a_single_number_weighs_the_classes_alike(value):
    y = np.repeat([1.0, -1.0], [30, 70])
    nu = nu_of_sample(value, y, np.ones(100))
    assert nu.gamma == pytest.approx(0.5)
    assert 2 * nu.total == pytest.approx(value / 2)  # half of it, as the bounds are halves of w / n


def test_the_default_cost_is_one():
    assert inspect.signature(svm).parameters["C"].default == 1.0
    assert svm(**OPTIONS).C == 1.0
    assert svm(**OPTIONS).nu is None


def test_what_is_accepted():
    assert check_nu(1) == 1.0
    assert check_nu(np.array([0.25, 1.0])) == (0.25, 1.0)
    assert check_nu((np.float32(0.5), 1)) == (0.5, 1.0)
    assert fit([0.5, 0.5]).nu == (0.5, 0.5)


@pytest.mark.parametrize(
    ("nu", "message"),
    [
        (0.0, "nu=0.0 is not allowed: it must be a number in (0, 1]."),
        (1.5, "nu=1.5 is not allowed: it must be a number in (0, 1]."),
        (float("nan"), "nu=nan is not allowed"),
        ((0.5, 0.0), "nu[1]=0.0 is not allowed: it must be a number in (0, 1]."),
        ((1.0001, 0.5), "nu[0]=1.0001 is not allowed"),
        ((0.5, 1e-200), "nu[1]=1e-200 is not allowed: it must be at least 1e-100"),
        (1e-300, "nu=1e-300 is not allowed: it must be at least 1e-100"),
        ((0.5,), "it must be a number in (0, 1], or two of them, for the event and for the other level."),
        (np.array(0.3), "is not allowed: it must be a number in (0, 1], or two of them"),
        ((0.5, 0.5, 0.5), "or two of them"),
        ("0.5", "nu='0.5' is not allowed"),
        (True, "nu=True is not allowed"),
        ({"sick": 0.5, "well": 0.5}, "is not allowed"),
        (("a", 0.5), "is not allowed"),
    ],
)
def test_what_is_refused(nu, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        fit(nu)


def test_a_single_nu_that_has_no_solution():
    share = 2 * min((DATA["y"] == "sick").mean(), (DATA["y"] == "well").mean())
    with pytest.raises(ArgumentError, match=f"at most twice the share of the smaller class, here {share:.6g}"):
        fit(share + 0.01)
    assert 1.0 in fit(share).nu


@pytest.mark.parametrize(
    "given_",
    [
        {"C": 1.0},
        {"C": 2.0},
        {"class_weight": "balanced"},
        {"costs": {"fp": 2}},
        {"priors": {"sick": 0.5, "well": 0.5}},
        {"loss": "p0"},
    ],
    ids=str,
)
def test_what_nu_determines_cannot_be_given(given_):
    (name,) = given_
    with pytest.raises(ArgumentError, match=f"nu=0.3 and {name}.* are not allowed together"):
        fit(0.3, **given_)


# -- the fit -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("nu", PAIRS)
def test_the_equivalent_cost(nu, kernel, weights):
    """[004: Theorem 2]"""
    ours = fit(nu, kernel=kernel, weights=weights)
    assert ours.converged
    if ours.rho == 0.0:
        assert kernel != "rbf" and not ours.decision_values.any()
        return
    gamma = 1.0 - ours.threshold
    other = svm(**OPTIONS, kernel=kernel, weights=weights, C=ours.C, class_weight={"sick": gamma, "well": 1 - gamma})
    n = N if weights is None else DATA["w"].sum()
    assert ours.nobs == pytest.approx(n)
    assert pytest.approx(1 / (ours.rho * n)) == ours.C
    assert_same(ours.decision_values - ours.intercept, other.decision_values - other.intercept)
    assert_same(ours.decision_function(DATA), ours.decision_values)
    assert ours.objective == pytest.approx(other.objective, rel=1e-6)
    assert ours.gacv() == pytest.approx(other.gacv(), rel=1e-3) or not ours.intercept_is_unique
    if ours.rho_interval[1] - ours.rho_interval[0] < 1e-9 * ours.rho:
        assert_same(ours.decision_values, other.decision_values)
        assert ours.deviance == pytest.approx(other.deviance, rel=TOL_DEVIANCE)


@pytest.mark.parametrize("nu", [0.1, 0.35, 0.5])
def test_scikit_learn(nu):
    ours = fit(nu)
    X, event = DATA[["x", "z"]].to_numpy(), DATA["y"] == "sick"
    other = NuSVC(nu=nu, gamma=0.5, tol=1e-9).fit(X, event)
    values = other.decision_function(X)
    np.testing.assert_allclose(ours.decision_values, values, rtol=0, atol=TOL_SKLEARN * np.abs(values).max())


@given(fractions, fractions, st.sampled_from([None, "w"]), st.sampled_from(["rbf", "linear"]))
@settings(max_examples=40, deadline=None)
def test_margin_errors_and_support_vectors(event, other, weights, kernel):
    """[004: Proposition 1]"""
    ours = fit((event, other), weights=weights, kernel=kernel)
    if ours.rho == 0.0:
        assert not ours.nu_bounds["margin_errors"].any()
        return
    bounds = ours.nu_bounds
    assert list(bounds.index) == ["sick", "well"]
    assert bounds.loc["sick", "nu"] == event and bounds.loc["well", "nu"] == other
    assert (bounds["margin_errors"] <= bounds["nu"] + 1e-9).all()
    assert (bounds["nu"] <= bounds["support"] + 1e-9).all()


@pytest.mark.parametrize("nu", PAIRS)
def test_the_other_event(nu):
    ours, swapped = fit(nu), fit(nu[::-1], event="well")
    assert_same(-swapped.decision_values, ours.decision_values)
    assert swapped.rho == pytest.approx(ours.rho)


@pytest.mark.parametrize("nu", [0.4, (0.3, 0.6)])
def test_a_weight_of_two_is_a_row_twice(nu):
    copies = np.resize([1, 2, 1, 3, 0], N)
    weighted = fit(nu, data=DATA.assign(w=copies), weights="w")
    repeated = fit(nu, data=DATA.loc[DATA.index.repeat(copies)].reset_index(drop=True))
    assert weighted.rho == pytest.approx(repeated.rho)
    assert_same(weighted.decision_function(DATA), repeated.decision_function(DATA))
    assert weighted.deviance == pytest.approx(repeated.deviance, rel=TOL_DEVIANCE)
    np.testing.assert_allclose(weighted.nu_bounds, repeated.nu_bounds, rtol=0, atol=1e-12)


def test_the_path_goes_through_the_equivalent_cost():
    ours = fit((0.4, 0.3))
    path = ours.path([0.5 * ours.C, ours.C, 2 * ours.C])
    assert_same(path.decision_values.loc[ours.C], ours.decision_values)


# -- resampling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [(0.4, 0.3), (0.8, 0.9), 0.5])
def test_leaving_rows_out(nu):
    """n, ν and γ stay: the fit without a row has ν n / (n − 1) of what is left of its class."""
    ours = fit(nu)
    loo, event = ours.loo(), (DATA["y"] == "sick").to_numpy()
    assert loo.n_failed == 0
    sizes = event.sum(), (~event).sum()
    for k in range(0, N, 5):
        share = list(ours.nu)
        share[int(not event[k])] *= sizes[int(not event[k])] / (sizes[int(not event[k])] - 1)
        without = fit(share, data=DATA.assign(w=np.arange(N) != k), weights="w")
        np.testing.assert_allclose(loo.decision_values.iloc[k], without.decision_values.iloc[k], rtol=0, atol=TOL_FIT)
        assert loo.deviance_deleted.iloc[k] == pytest.approx(without.deviance, rel=TOL_DEVIANCE)
    delta = ours.get_influence().delta_deviance
    np.testing.assert_allclose(delta, ours.deviance - loo.deviance_deleted, rtol=0, atol=1e-9)


def test_leaving_out_what_nu_needs():
    """With ν₊ = 1 all events are needed: no exception, but NaN and a sentence."""
    ours = fit((1.0, 0.5))
    loo, event = ours.loo(), DATA["y"] == "sick"
    np.testing.assert_array_equal(loo.decision_values.isna(), event)
    assert loo.n_failed == event.sum()
    assert "nu" in str(loo.summary())


def test_calibration_by_leaving_out():
    ours = fit(0.4, calibration="loo")
    assert ours.calibration.kind == "loo" and ours.calibration.converged
    for nu in [(1.0, 0.5), (1.0, 1.0), (0.5, 1.0)]:
        with pytest.warns(CalibrationWarning, match="calibration='loo' is not possible, .* or a smaller nu"):
            assert fit(nu, calibration="loo").predict_proba().notna().all(axis=None)


@pytest.mark.parametrize("method", ["pairs", "parametric"])
def test_goodness_of_fit(method):
    ours = fit((0.5, 0.4))
    gof = ours.gof(B=12, method=method, rng=3)
    assert gof.n_failed == 0 and 0 < gof.pvalue <= 1
    assert gof.pvalue == ours.gof(B=12, method=method, rng=3, n_jobs=2).pvalue
    full = fit((1.0, 1.0)).gof(B=12, method=method, rng=3)
    assert 0 < full.n_failed <= 12


# -- the ends of the scale ---------------------------------------------------------------------------------------------


def test_hulls_that_meet():
    """A tiny ν for classes that overlap: h = 0, f = 0, and nothing breaks."""
    ours = fit(0.01, kernel="linear")
    assert ours.converged and ours.rho == 0.0 and np.isinf(ours.C)
    assert not ours.decision_values.any() and not ours.decision_function(DATA).any() and not ours.params.any()
    assert (ours.predict() == "well").all()
    text = str(ours.summary())
    assert "h = 0: the decision function is constant." in text
    assert "only a larger nu keeps them apart" in " ".join(text.split())
    with pytest.raises(UnavailableError, match="rho = 0"):
        ours.path()
    assert ours.loo().n_failed == 0


def test_every_row_at_its_bound():
    ours = fit((1.0, 1.0))
    assert ours.n_support["bounded"].sum() == N
    assert ours.rho_interval == (pytest.approx(ours.rho), np.inf)
    assert "rho (not unique)" in str(ours.summary())


@pytest.mark.parametrize("nu", [(0.1, 1.0), (1.0, 0.5), (0.5, 0.5), (0.3, 0.4)])
def test_the_intercepts_that_are_optimal_by_nu(nu):
    """½‖h‖² − νρ + Σ u_i [ρ − y_i (h_i + b)]₊ is the same along the interval, b moving with ρ, and larger beyond it."""
    ours = fit(nu, gamma=0.2)
    low, high = ours.intercept_interval
    assert low <= ours.intercept <= high
    assert ours.intercept_is_unique == (low == high) == (ours.n_support["free"] > 0).all()
    assert ours.intercept_is_unique or "intercept and rho can move together" in " ".join(str(ours.summary()).split())
    pair = ours.machine.pairs[0]
    nearest, total, y = pair.solution.nearest, pair.problem.total, pair.problem.signs
    h, u = -total * nearest.h, total * nearest.caps

    def lost(b):
        """The least over ρ, which is at a margin of a row, of what varies."""
        margins = y * (h + b)
        return min((u @ np.maximum(rho - margins, 0.0)) - 2.0 * total * rho for rho in margins)

    scale = ours.rho
    least = lost(ours.intercept * scale)
    for end in (low, high):
        side = 1.0 if end == high else -1.0
        inside = end if np.isfinite(end) else ours.intercept + 100.0 * side
        assert lost(inside * scale) == pytest.approx(least, abs=1e-12)
        if np.isfinite(end):
            assert lost((end + 0.01 * side) * scale) > least + 1e-9


@pytest.mark.parametrize("nu", [(0.7, 1.0), (1.0, 0.6)])
@pytest.mark.parametrize("share", [1e-12, 1e-11, 1e-10, 1e-9, 1e-7, 1e-5, 1e5, 1e9, 1e12])
def test_weights_of_every_size(share, nu):
    """1 − γ may be far below the rounding of one, and the bounds of a class must reach its sum all the same."""
    spread = 10 ** np.random.default_rng(1).uniform(-3, 3, N)
    data = DATA.assign(w=np.where(DATA["y"] == "sick", share, 1.0) * spread)
    one = fit(nu, data=data, weights="w")
    assert one.converged and np.isfinite(one.decision_values).all()
    event, other = (data["w"][data["y"] == level].sum() for level in ("sick", "well"))
    found = one.machine.pairs[0].nu
    assert found.gamma / found.gamma_other == pytest.approx(nu[1] * other / (nu[0] * event))


def test_ten_rows_and_a_rare_event():
    few = fit((0.5, 0.5), data=DATA.iloc[:10])
    assert few.converged and few.loo().n_failed == 0
    rows = np.concatenate([np.flatnonzero(DATA["y"] == "sick")[:1], np.flatnonzero(DATA["y"] == "well")])
    rare = fit((1.0, 0.1), data=DATA.iloc[rows])
    assert rare.converged and rare.rho > 0
    assert rare.loo().decision_values.isna().sum() == 1


def test_what_a_cost_fit_does_not_have():
    plain = svm(**OPTIONS)
    for name in ("rho", "rho_interval", "nu_bounds"):
        with pytest.raises(UnavailableError, match=f"{name} exists for fits with nu only"):
            getattr(plain, name)


def test_the_summary():
    ours = fit((0.4, 0.3))
    text = str(ours.summary())
    for part in ("nu of the event:", "nu of the other level:", "rho:", "Equivalent C = 1/(rho n):", "gamma"):
        assert part in text
    assert "margin errors <= nu <= support vectors" in text
    assert "lambda" not in text
    assert "nu=(0.4, 0.3)" in repr(ours)
    assert "Equivalent" in ours.summary().as_html() and "Equivalent" in ours.summary().as_latex()
