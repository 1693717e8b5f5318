"""Leave-one-out, influence and goodness of fit against loops of independent fits by scikit-learn."""

import pickle
from importlib import import_module

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import chi2
from sklearn.svm import SVC

from svmstat import datasets, svm
from svmstat.errors import ArgumentError, DataError
from svmstat.resampling import leave_one_out

# Deviances by two solvers and two minimisers of the Platt likelihood, relative (the issue's own figure).
TOL_DEVIANCE = 1e-4
# Known values are given with this many digits.
TOL_KNOWN = 6e-3

MACKEREL = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    return pd.DataFrame({"x": x, "z": z, "y": np.where(x + z**2 + rng.normal(size=n) > 0.7, "sick", "well")})


def platt(f, y, weights):
    """A, B by a general minimiser of the weighted cross-entropy."""
    n_event, n_other = weights[y > 0].sum(), weights[y < 0].sum()
    t = np.where(y > 0, (n_event + 1) / (n_event + 2), 1 / (n_other + 2))

    def loss(ab):
        z = ab[0] * f + ab[1]
        residual = weights * (t - expit(-z))
        return weights @ (t * z + np.logaddexp(0, -z)), np.array([residual @ f, residual.sum()])

    start = [0.0, np.log((n_other + 1) / (n_event + 1))]
    return minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9}).x


def by_sklearn(fit, weights):
    """f on all rows and A, B, D over the weighted rows, from SVC at a tight tolerance."""
    X, y, used = fit.frame.X, fit.frame.y, weights > 0
    machine = SVC(C=fit.C, gamma=fit.kernel.gamma, tol=1e-8, cache_size=1000)
    machine.fit(X[used], y[used], sample_weight=weights[used])
    f = machine.decision_function(X)
    A, B = platt(f[used], y[used], weights[used])
    return f, A, B, 2 * weights[used] @ np.logaddexp(0, y[used] * (A * f[used] + B))


@pytest.fixture(scope="module")
def mackerel():
    return svm(MACKEREL, datasets.load("mackerel"), C=16, gamma=0.25)


def test_known_values_of_mackerel(mackerel):
    loo, influence = mackerel.loo(), mackerel.get_influence()
    assert mackerel.deviance == pytest.approx(418.10, abs=TOL_KNOWN)
    assert loo.score == pytest.approx(488.24, abs=TOL_KNOWN)
    assert loo.apparent_error == pytest.approx(0.1341, abs=5e-5)
    assert loo.error_rate == pytest.approx(0.1625, abs=5e-5)
    assert loo.excess_error == loo.error_rate - loo.apparent_error
    assert loo.n_failed == 0
    delta = influence.delta_deviance
    assert (delta.nlargest(3).index + 1).tolist() == [265, 399, 601]
    assert delta.nlargest(3).tolist() == pytest.approx([8.50, 7.17, 6.87], abs=TOL_KNOWN)


@pytest.mark.parametrize(("C", "gamma", "weighted"), [(0.5, 0.3, False), (20.0, 1.0, False), (3.0, 0.5, True)])
def test_leave_one_out_is_a_loop_of_fits(C, gamma, weighted):
    data = sample()
    weights = np.random.default_rng(1).integers(0, 3, len(data)).astype(float) if weighted else np.ones(len(data))
    fit = svm("y ~ x + z", data, C=C, gamma=gamma, weights=weights)
    loo, influence = fit.loo(), fit.get_influence()
    for k in range(0, len(data), 3):
        reduced = weights.copy()
        reduced[k] -= min(1.0, weights[k])
        f, A, B, deviance = by_sklearn(fit, reduced)
        p = expit(-(A * f[k] + B))
        assert loo.decision_values[k] == pytest.approx(f[k], abs=1e-5)
        assert loo.prob[k] == pytest.approx(p, rel=TOL_DEVIANCE)
        assert loo.deviance_deleted[k] == pytest.approx(deviance, rel=TOL_DEVIANCE)
        assert influence.delta_deviance[k] == pytest.approx(fit.deviance - deviance, abs=TOL_DEVIANCE * deviance)
        if weights[k] > 0:
            change = np.abs(f - fit.decision_values)[weights > 0]
            frame = influence.summary_frame()
            assert frame["max_change"][k] == pytest.approx(change.max(), abs=1e-4)
            rms = np.sqrt(weights[weights > 0] @ change**2 / weights.sum())
            assert frame["rms_change"][k] == pytest.approx(rms, abs=1e-4)


def test_scores_are_sums_over_the_frame():
    data = sample(50, seed=4)
    fit = svm("y ~ x + z", data, C=2.0)
    loo = fit.loo()
    p = np.where(data["y"] == "well", loo.prob, 1 - loo.prob)
    assert loo.score == pytest.approx(-2 * np.log(p).sum(), rel=1e-12)
    assert loo.score_se == pytest.approx(2 * np.sqrt(50 * np.log(p).var(ddof=1)), rel=1e-12)
    assert loo.error_rate == np.mean((loo.decision_values > 0) != (data["y"] == "well"))
    frame = loo.summary_frame()
    assert frame["error"].mean() == loo.error_rate
    assert frame.index.equals(data.index)
    assert f"{loo.score:.5g}" in str(loo)


def test_weights_are_repeats_in_every_statistic():
    data = sample(40, seed=2).assign(w=np.random.default_rng(3).integers(0, 4, 40))
    weighted = svm("y ~ x + z", data, weights="w", C=2.0).loo()
    repeated = svm("y ~ x + z", data.loc[data.index.repeat(data["w"])], C=2.0).loo()
    for name in ("score", "score_se", "error_rate", "apparent_error"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-8)


def test_influence_refers_to_one_degree_of_freedom(mackerel):
    influence = mackerel.get_influence()
    assert influence.critical_value() == pytest.approx(3.841459, abs=1e-6)
    frame = influence.summary_frame()
    positive = frame["delta_deviance"] > 0
    np.testing.assert_allclose(frame["pvalue"][positive], chi2.sf(frame["delta_deviance"][positive], 1))
    assert (frame["pvalue"][~positive] == 1).all()
    with pytest.raises(ArgumentError, match=r"level=1\.0 is not allowed"):
        influence.critical_value(1.0)


def test_a_class_that_vanishes_is_counted():
    data = sample(30, seed=5).assign(y=["sick"] + ["well"] * 29)
    loo = svm("y ~ x + z", data).loo()
    assert loo.n_failed == 1
    assert np.isnan(loo.decision_values[0])
    assert np.isnan(loo.score)
    assert "1 row could not be left out" in str(loo)
    fit = svm("y ~ x + z", data)
    gof = fit.gof(B=40, rng=1)
    assert 0 < gof.n_failed < 40
    assert gof.pvalue == (1 + (gof.replicates >= gof.statistic).sum()) / (1 + 40 - gof.n_failed)


def test_calibration_by_leave_one_out():
    data = sample(80, seed=6)
    plain, calibrated = (svm("y ~ x + z", data, C=10.0, gamma=1.0, calibration=kind) for kind in ("insample", "loo"))
    A, B = platt(plain.loo().decision_values.to_numpy(), plain.frame.y, np.ones(80))
    assert calibrated.calibration.slope == pytest.approx(A, rel=TOL_DEVIANCE)
    assert calibrated.calibration.intercept == pytest.approx(B, abs=TOL_DEVIANCE)
    assert calibrated.deviance == plain.deviance
    assert calibrated.loo().score == plain.loo().score
    assert abs(calibrated.calibration.slope) < abs(plain.calibration.slope)


@pytest.mark.parametrize("method", ["pairs", "parametric"])
def test_replicates_are_fits_to_drawn_data(method, monkeypatch):
    """The very counts that were drawn, fitted one by one."""
    data = sample(50, seed=7)
    fit = svm("y ~ x + z", data, C=4.0, gamma=0.7)
    gof = fit.gof(B=5, method=method, rng=11)
    G = len(fit.machine.groups.first)
    probabilities = fit.calibration.probability(fit.machine.pairs[0].solution.decision)
    X, signs = fit.frame.X[fit.machine.groups.first], fit.machine.pairs[0].problem.signs
    for r in range(5):
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(11, spawn_key=(r,))))
        if method == "pairs":
            rows, labels = np.repeat(np.arange(G), rng.multinomial(50, np.full(G, 1 / G))), signs
            y = labels[rows]
        else:
            rows, y = np.arange(G), np.where(rng.binomial(1, probabilities) == 1, 1.0, -1.0)
        machine = SVC(C=4.0, gamma=0.7, tol=1e-8).fit(X[rows], y)
        f = machine.decision_function(X[rows])
        A, B = platt(f, y, np.ones(len(y)))
        assert gof.replicates[r] == pytest.approx(2 * np.logaddexp(0, y * (A * f + B)).sum(), rel=TOL_DEVIANCE)


def test_decision_of_the_test_of_fit():
    fit = svm("y ~ x + z", sample(60, seed=8))
    gof = fit.gof(B=99, rng=3)
    assert gof.statistic == fit.deviance
    assert gof.critical_value == np.quantile(gof.replicates, 0.95)
    assert gof.pvalue == (1 + (gof.replicates >= gof.statistic).sum()) / 100
    assert gof.reject == (gof.statistic > gof.critical_value)
    assert gof.n_failed == 0
    assert "pairs" in str(gof)


def test_replicates_depend_on_the_seed_alone():
    fit = svm("y ~ x + z", sample(60, seed=8))
    first = fit.gof(B=40, rng=5).replicates
    np.testing.assert_array_equal(fit.gof(B=40, rng=5, n_jobs=2).replicates, first)
    np.testing.assert_array_equal(fit.gof(B=25, rng=5).replicates, first[:25])
    assert (fit.gof(B=40, rng=6).replicates != first).any()
    generator = np.random.default_rng(1)
    assert (fit.gof(B=5, rng=generator).replicates != fit.gof(B=5, rng=generator).replicates).any()


@pytest.mark.parametrize(("backend", "n_jobs"), [("threading", 2), ("threading", 3), ("loky", 2), ("loky", 3)])
def test_every_backend_gives_the_same_bits(backend, n_jobs):
    fit = svm("y ~ x + z", sample(300, seed=9), C=5.0)
    alone = fit.loo(n_jobs=1)
    for method in ("pairs", "parametric"):
        replicates = fit.gof(B=40, method=method, rng=1, n_jobs=1).replicates
        other = svm("y ~ x + z", sample(300, seed=9), C=5.0)
        with joblib.parallel_config(backend):
            loo, again = other.loo(n_jobs=n_jobs), other.gof(B=40, method=method, rng=1, n_jobs=n_jobs).replicates
        np.testing.assert_array_equal(again, replicates)
        for name in ("decision_values", "slope", "log_likelihood"):
            np.testing.assert_array_equal(getattr(loo.arrays, name), getattr(alone.arrays, name))
        np.testing.assert_array_equal(loo.deviance_deleted, alone.deviance_deleted)


def test_dask_gives_the_same_bits(mackerel):
    other = svm(MACKEREL, datasets.load("mackerel"), C=16, gamma=0.25)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        again = other.gof(B=20, rng=1, n_jobs=2).replicates
        loo = leave_one_out(other.machine, other.insample_maps, n_jobs=2)
    np.testing.assert_array_equal(again, mackerel.gof(B=20, rng=1).replicates)
    np.testing.assert_array_equal(loo.changes.deviance_deleted, mackerel.loo().deviance_deleted)


def test_an_interrupted_loop_leaves_the_fit_as_it_was(monkeypatch):
    fit = svm("y ~ x + z", sample(60, seed=8))
    before = fit.gof(B=20, rng=5).replicates

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(import_module("svmstat.resampling.bootstrap"), "_replicates", interrupted)
        patch.setattr(import_module("svmstat.resampling.leave_one_out"), "_without", interrupted)
        for loop in (lambda: fit.gof(B=20, rng=5), fit.loo, fit.get_influence):
            with pytest.raises(KeyboardInterrupt):
                loop()
    np.testing.assert_array_equal(fit.gof(B=20, rng=5).replicates, before)
    assert np.isfinite(fit.loo().score)


def test_calibration_plot_of_a_leave_one_out():
    axes = svm("y ~ x + z", sample(60, seed=8)).loo().plot_calibration()
    assert "observed" in axes.get_ylabel().lower()
    plt.close(axes.figure)


def test_progress_goes_to_stderr(capsys):
    svm("y ~ x + z", sample(40, seed=1)).gof(B=20, rng=1, progress=True)
    captured = capsys.readouterr()
    assert "bootstrap" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"B": 0}, "B=0 is not allowed: it must be an integer >= 1"),
        ({"B": 9.5}, "B=9.5 is not allowed"),
        ({"level": 0.0}, "level=0.0 is not allowed"),
        ({"level": float("nan")}, "level=nan is not allowed"),
        ({"method": "pair"}, "method='pair' is not allowed.*did you mean 'pairs'"),
        ({"rng": -1}, "rng=-1 is not allowed"),
        ({"rng": "seed"}, "rng='seed' is not allowed"),
    ],
)
def test_bad_arguments(options, message):
    fit = svm("y ~ x + z", sample(30, seed=1))
    with pytest.raises(ArgumentError, match=message):
        fit.gof(**options)


def test_labels_are_drawn_for_whole_weights_only():
    data = sample(30, seed=1)
    fit = svm("y ~ x + z", data, weights=np.linspace(0.5, 2, 30))
    with pytest.raises(DataError, match="parametric"):
        fit.gof(B=5, method="parametric")
    assert fit.gof(B=5, rng=1).n_failed == 0


# What they look like


def test_a_repr_is_one_line_and_a_print_the_summary(mackerel):
    loo, gof = mackerel.loo(), mackerel.gof(B=19, rng=1)
    shown = f"n = 634, CV score {loo.score:.6g}, leave-one-out error 0.1625, apparent error 0.1341"
    assert repr(loo) == f"<LooResult: {shown}>"
    assert repr(mackerel.get_influence()) == "<InfluenceResult: deletion deviances of 634 rows, deviance 418.096>"
    assert repr(gof) == (
        f"<GofResult: deviance 418.096, pairs bootstrap of 19 replicates, critical value {gof.critical_value:.6g} "
        f"at level 0.95, p-value {gof.pvalue:.4g}>"
    )
    assert (str(loo), str(gof)) == (str(loo.summary()), str(gof.summary()))


def test_a_repr_tells_what_failed():
    data = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "b", "b"]})
    fit = svm("y ~ x", data, kernel="linear")
    assert repr(fit.loo()).endswith(", 1 row failed>")
    assert f", {fit.gof(B=30, rng=0).n_failed} failed, critical" in repr(fit.gof(B=30, rng=0))


def test_the_repr_of_many_classes_is_one_line():
    fit = svm("disease ~ ast + alt", datasets.load("liver"))
    loo = fit.loo()
    assert repr(loo).startswith("<LooResult: n = 218, CV score ")
    assert repr(fit.get_influence()).startswith("<InfluenceResult: deletion deviances of 218 rows, deviance ")
    assert "\n" not in repr(fit) + repr(loo)


@pytest.mark.parametrize("method", ["pairs", "parametric"])
def test_more_copies_than_can_be_counted(method):
    fit = svm("y ~ x + z", sample(30, seed=1), weights=np.full(30, 1e20), C=1e-20)
    with pytest.raises(DataError, match=r"the weights add up to 3e\+21, and a replicate draws .* count 9\.01e\+15"):
        fit.gof(B=5, method=method)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_pickled_leave_one_out_does_not_carry_the_fit(classes):
    data = sample(60, seed=8)
    fit = svm("y ~ x + z", data.assign(y=np.resize(["a", "b", "c"][:classes], 60)))
    packed = pickle.dumps(fit.loo())
    assert len(packed) < 40_000 and b"Machine" not in packed and b"Design" not in packed
    again = pickle.loads(packed)
    pd.testing.assert_frame_equal(again.summary_frame(), fit.loo().summary_frame(), check_exact=True)
    assert again.score == fit.loo().score


def test_the_other_rows_of_many_classes_wait_until_they_are_asked_for(monkeypatch):
    module = import_module("svmstat.resampling.leave_one_out")
    passes, leave_out = [], module.leave_one_out

    def counted(*arguments, influence, **options):
        passes.append(influence)
        return leave_out(*arguments, influence=influence, **options)

    monkeypatch.setattr(module, "leave_one_out", counted)
    monkeypatch.setattr("svmstat.results.fit.leave_one_out", counted)
    data = sample(60, seed=8).assign(y=np.resize(["a", "b", "c"], 60))
    fit, other = svm("y ~ x + z", data), svm("y ~ x + z", data)
    assert fit.loo().n_failed == 0
    assert passes == [False]
    for _ in range(2):
        later = fit.get_influence().summary_frame()
        assert passes == [False, True]
    at_once = other.get_influence().summary_frame()
    assert passes == [False, True, True]
    pd.testing.assert_frame_equal(at_once, later, rtol=1e-9)
    two = svm("y ~ x + z", sample(60, seed=8))
    two.loo(), two.get_influence().summary_frame()
    assert passes == [False, True, True, True]
