"""Leave-one-out and influence against loops of fits, for any number of levels; what they say where rows fail."""

import pickle
import re
from importlib import import_module

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import COUPLINGS, KERNELS, matrix, platt, repeated, sample, standardised
from scipy.stats import chi2

from svmstat import datasets, svm
from svmstat.errors import ArgumentError, CalibrationWarning, UnavailableError

# Known values are given with this many digits.
TOL_KNOWN = 6e-3
# A reduced fit from the full one and a fit from nothing: f absolutely, and what Platt's map makes of it relatively.
TOL_LOOP, TOL_LOOP_RELATIVE = 1e-6, 1e-5
# Newton's method and a general minimiser on the same cross-entropy.
TOL_PLATT = 1e-4

couplings = pytest.mark.parametrize("coupling", COUPLINGS)


def test_known_values_of_mackerel(mackerel):
    loo, influence = mackerel.loo(), mackerel.get_influence()
    assert mackerel.deviance == pytest.approx(418.10, abs=TOL_KNOWN)
    assert loo.score == pytest.approx(488.24, abs=TOL_KNOWN)
    assert loo.apparent_error == pytest.approx(0.1341, abs=5e-5)
    assert loo.error_rate == pytest.approx(0.1625, abs=5e-5)
    assert loo.n_failed == 0
    delta = influence.delta_deviance
    assert (delta.nlargest(3).index + 1).tolist() == [265, 399, 601]
    assert delta.nlargest(3).tolist() == pytest.approx([8.50, 7.17, 6.87], abs=TOL_KNOWN)


@couplings
@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.5, 0.0, 0.4]], ids=["ones", "weights"])
def test_a_loop_of_fits(weights, coupling, K):
    """Each row loses one copy, the scaling held."""
    data = standardised(sample(K, 45, seed=8))
    w, observed = np.resize(weights, 45), data["y"]
    options = {"gamma": 0.7, "C": 3.0, "scale": False, "coupling": coupling, "class_weight": {"c": 2.0}}
    options["calibration"] = "insample"
    fit = svm("y ~ x + z", data, weights=w, **options)
    loo, frame, influence = fit.loo(), fit.loo().summary_frame(), fit.get_influence().summary_frame()
    used, own, wrong, labels = w > 0, np.zeros(45), np.zeros(45), []
    for k in range(45):
        reduced = w.copy()
        reduced[k] -= min(w[k], 1.0)
        other = svm("y ~ x + z", data, weights=reduced, **options)
        np.testing.assert_allclose(loo.arrays.decision_values[k], other.machine.decision_values[k], atol=TOL_LOOP)
        np.testing.assert_allclose(matrix(loo.decision_values)[k], matrix(other.decision_values)[k], atol=TOL_LOOP)
        np.testing.assert_allclose(matrix(loo.prob)[k], matrix(other.fittedvalues)[k], rtol=TOL_LOOP_RELATIVE)
        assert loo.deviance_deleted[k] == pytest.approx(other.deviance, rel=TOL_LOOP_RELATIVE)
        delta = pytest.approx(fit.deviance - other.deviance, abs=TOL_LOOP_RELATIVE * fit.deviance)
        assert fit.get_influence().delta_deviance[k] == influence["delta_deviance"][k] == delta
        change = matrix(other.decision_values - fit.decision_values)[used]
        assert influence["max_change"][k] == pytest.approx(np.abs(change).max(), abs=TOL_LOOP)
        rms = np.sqrt(reduced[used] @ (change**2).mean(axis=1) / reduced.sum())
        assert influence["rms_change"][k] == pytest.approx(rms, abs=TOL_LOOP)
        own[k] = np.log(other.predict_proba().loc[k, observed[k]])
        labels.append(other.predict()[k])
        wrong[k] = labels[k] != observed[k]
    np.testing.assert_allclose(loo.log_likelihood, own, rtol=TOL_LOOP_RELATIVE, atol=TOL_LOOP_RELATIVE)
    assert loo.error.tolist() == frame["error"].tolist() == wrong.tolist()
    assert loo.score == pytest.approx(-2 * w @ own, rel=TOL_LOOP_RELATIVE)
    mean = w @ own / w.sum()
    variance = w @ (own - mean) ** 2 / (w.sum() - 1)
    assert loo.score_se == pytest.approx(2 * np.sqrt(w.sum() * variance), rel=TOL_LOOP_RELATIVE)
    assert loo.error_rate == pytest.approx(w @ wrong / w.sum())
    assert loo.apparent_error == fit.apparent_error and loo.excess_error == loo.error_rate - loo.apparent_error
    distinct = {(k % 39, min(w[k], 1.0)) for k in np.flatnonzero(used)}  # the last six rows are copies
    assert loo.n_refits == (K - 1) * len(distinct) and loo.n_failed == 0
    assert (frame["kkt_violation"] <= 1e-8).all() and frame.index.equals(data.index)
    p = loo.prob if K == 2 else np.exp(own)
    np.testing.assert_allclose(frame["probability"], p, rtol=TOL_LOOP_RELATIVE)
    if K == 2:
        pd.testing.assert_series_equal(frame["decision_value"], loo.decision_values)
    else:
        assert frame["predicted"].tolist() == labels
    assert f"{loo.score:.5g}" in str(loo)


@couplings
@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_are_repeats_in_every_statistic(kernel, coupling, K):
    data = sample(K, 70, seed=4)
    options = {"kernel": kernel, "C": 2.0, "coupling": coupling, "class_weight": "balanced"}
    weighted = svm("y ~ x + z + site", data, weights="w", **options)
    copied = svm("y ~ x + z + site", repeated(data), **options)
    one, two = weighted.loo(), copied.loo()
    for name in ("score", "score_se", "error_rate", "apparent_error", "excess_error"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-7), name
    which = data.index.repeat(data["w"])
    for name in ("log_likelihood", "error", "deviance_deleted", "max_change", "rms_change"):
        np.testing.assert_allclose(getattr(one, name)[which], getattr(two, name), rtol=1e-6, atol=1e-7, err_msg=name)
    replicates = [each.gof(B=9, method="pairs", rng=3).replicates for each in (weighted, copied)]
    np.testing.assert_allclose(*replicates, rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_of_weight_zero_and_rows_that_support_nothing_change_nothing(kernel, K):
    data = sample(K, 70, seed=5, apart=3.0)
    absent = data["w"] == 0
    fit = svm("y ~ x + z", data, weights="w", kernel=kernel)
    loo, changes = fit.loo(), fit.get_influence().summary_frame()
    without = svm("y ~ x + z", data[~absent], weights="w", kernel=kernel).loo()
    assert loo.score == pytest.approx(without.score, rel=1e-7)
    assert (changes.loc[absent, ["max_change", "delta_deviance"]].abs() < 1e-9).all(axis=None)
    has_free = np.array([pair.solution.free.any() for pair in fit.machine.pairs])  # else b is the middle of an interval
    idle = (matrix(fit.alpha) == 0) & has_free  # in a pair
    assert idle[~absent].any()
    np.testing.assert_allclose(matrix(loo.decision_values)[idle], matrix(fit.decision_values)[idle], atol=1e-7)
    if has_free.all():
        assert (changes.loc[~data.index.isin(fit.support), "max_change"] < 1e-7).all()


def test_influence_refers_to_one_degree_of_freedom(mackerel):
    influence = mackerel.get_influence()
    assert influence.critical_value() == pytest.approx(3.841459, abs=1e-6)
    frame = influence.summary_frame()
    positive = frame["delta_deviance"] > 0
    np.testing.assert_allclose(frame["pvalue_chi2"][positive], chi2.sf(frame["delta_deviance"][positive], 1))
    assert (frame["pvalue_chi2"][~positive] == 1).all()
    with pytest.raises(ArgumentError, match=r"level=1\.0 is not allowed"):
        influence.critical_value(1.0)


def test_probabilities_of_left_out_rows_sum_to_one():
    liver = datasets.load("liver")
    for coupling in COUPLINGS:
        fit = svm("disease ~ np.log(ast) + np.log(alt)", liver, C=100, gamma=2.0, coupling=coupling)
        p = fit.loo().prob
        assert np.abs(p.sum(axis=1) - 1).max() < 1e-12 and ((p >= 0) & (p <= 1)).all(axis=None)
        assert p.columns.tolist() == list(fit.classes)


# A level of one row


def test_a_level_of_one_row(lonely):
    fit = svm("y ~ x + z", lonely)
    assert fit.classes[-1] == "only" and fit.confusion.loc["only"].sum() == 1
    loo = fit.loo()
    assert loo.n_failed == 1 and repr(loo).endswith(", 1 row failed>")
    with_it = np.array(["only" in pair for pair in fit.pairs])
    f = matrix(loo.decision_values)
    assert np.isnan(f[7, with_it]).all() and np.isnan(f).sum() == with_it.sum()
    assert np.flatnonzero(np.isnan(matrix(loo.prob)).all(axis=1)).tolist() == [7]
    assert np.isnan(loo.error["r7"]) and loo.error.drop(index="r7").notna().all()
    for value in (loo.score, loo.score_se, loo.error_rate, loo.excess_error):
        assert np.isnan(value)
    text = str(loo)
    assert "1 row could not be left out: a class lost" in " ".join(text.split())
    assert re.search(r"-2 log-likelihood +- ", text)
    assert "Without a prediction of every row there is no AUC, and no calibration." in " ".join(text.split())
    assert "biased downwards" not in text and "or separate" not in text
    frame = fit.get_influence().summary_frame()
    assert frame.loc["r7"].drop("own").isna().all() and frame.drop(index="r7").notna().all(axis=None)


def test_calibration_by_leave_one_out_with_a_level_of_one_row(lonely, K):
    """A pair whose class has no row that can be left out keeps the map of its own values."""
    fit = svm("y ~ x + z", lonely, calibration="loo")
    if K == 2:
        with pytest.warns(CalibrationWarning, match="no row of a class can be held out"):
            fit.predict_proba()
    assert np.abs(fit.predict_proba().sum(axis=1) - 1).max() < 1e-12
    with_it = np.array(["only" in pair for pair in fit.pairs])
    np.testing.assert_array_equal(fit.maps.slope[with_it], fit.insample_maps.slope[with_it])
    assert (fit.maps.slope != fit.insample_maps.slope)[~with_it].all()
    assert "where a level has no row that can be held out" in " ".join(str(fit.summary()).split())


@pytest.mark.parametrize("kind", ["integers", "categories"])
@pytest.mark.parametrize("K", [3, 6], ids=["three", "six"])
def test_left_out_labels_of_the_type_of_the_response(lonely, kind, K):
    levels = sorted(lonely["y"].unique())
    data = lonely.assign(y=lonely["y"].map({level: 3 * k for k, level in enumerate(levels)}))
    if kind == "categories":
        data["y"] = data["y"].astype("category")
    predicted = svm("y ~ x + z", data).loo().summary_frame()["predicted"]
    assert pd.isna(predicted["r7"])
    assert predicted.dtype == (data["y"].dtype if kind == "categories" else "Int64")


# Calibration


def test_calibration_by_leave_one_out(K):
    data = sample(K, 90, seed=6)
    options = {"C": 20.0, "gamma": 1.0}
    plain, calibrated = (svm("y ~ x + z", data, calibration=kind, **options) for kind in ("insample", "loo"))
    assert (plain.calibration.kind, calibrated.calibration.kind) == ("insample", "loo")
    for fit, f in ((plain, plain.machine.decision_values), (calibrated, plain.loo().arrays.decision_values)):
        for p, (first, second) in enumerate(fit.pairs):
            rows = data["y"].isin([first, second]).to_numpy()
            A, B = platt(f[rows, p], np.where(data["y"][rows] == first, 1.0, -1.0), np.ones(rows.sum()))
            assert np.ravel(fit.calibration.slope)[p] == pytest.approx(A, rel=TOL_PLATT)
            assert np.ravel(fit.calibration.intercept)[p] == pytest.approx(B, rel=TOL_PLATT, abs=TOL_PLATT)
    assert np.abs(calibrated.calibration.slope).sum() < np.abs(plain.calibration.slope).sum()
    assert np.abs(calibrated.fittedvalues - plain.fittedvalues).max(axis=None) > 0.05
    assert calibrated.deviance == plain.deviance
    assert calibrated.loo().score < plain.loo().score
    np.testing.assert_array_equal(
        calibrated.gof(B=5, method="pairs", rng=1).replicates, plain.gof(B=5, method="pairs", rng=1).replicates
    )
    assert "leave-one-out decision values" in str(calibrated.summary())


# Computed once, by any workers


@pytest.fixture
def passes(monkeypatch):
    """Whether each pass over the rows was also about the other rows."""
    module = import_module("svmstat.resampling.leave_one_out")
    found, leave_out = [], module.leave_one_out

    def counted(*arguments, influence, **options):
        found.append(influence)
        return leave_out(*arguments, influence=influence, **options)

    monkeypatch.setattr(module, "leave_one_out", counted)
    monkeypatch.setattr("svmstat.results.calibrated.leave_one_out", counted)
    return found


def test_leave_one_out_is_computed_once_and_the_other_rows_when_they_are_asked_for(passes, K):
    """Of two levels both cost one pass."""
    at_first = [True] if K == 2 else [False]
    fit, other = (svm("y ~ x + z", sample(K, seed=8)) for _ in range(2))
    loo = fit.loo()
    assert loo.n_failed == 0 and passes == at_first
    for _ in range(2):
        later = fit.get_influence().summary_frame()
        assert passes == (at_first if K == 2 else [False, True])
    assert fit.loo().arrays is loo.arrays
    assert later["delta_deviance"].equals(fit.deviance - loo.deviance_deleted)
    at_once = other.get_influence().summary_frame()
    assert passes[-1] is True and len(passes) == (2 if K == 2 else 3)
    pd.testing.assert_frame_equal(at_once, later, rtol=1e-9)


@pytest.mark.parametrize(("backend", "n_jobs"), [("threading", 2), ("threading", 3), ("loky", 2)])
def test_every_backend_gives_the_same_bits(backend, n_jobs, K):
    """Enough rows, pairs and chunks of replicates for several workers."""
    alone, other = (svm("y ~ x + z", sample(K, 300 if K == 2 else 150, seed=9), C=5.0) for _ in range(2))
    loo = alone.loo(n_jobs=1)
    deleted = loo.deviance_deleted
    with joblib.parallel_config(backend):
        again = other.loo(n_jobs=n_jobs)
        for method in ("pairs", "parametric"):
            replicates = alone.gof(B=40, method=method, rng=1, n_jobs=1).replicates
            np.testing.assert_array_equal(other.gof(B=40, method=method, rng=1, n_jobs=n_jobs).replicates, replicates)
        np.testing.assert_array_equal(again.deviance_deleted, deleted)
    for name in ("decision_values", "slope", "probability", "log_likelihood", "winner", "violation"):
        np.testing.assert_array_equal(getattr(again.arrays, name), getattr(loo.arrays, name))


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1, np.int64(2)])
def test_numbers_of_workers(n_jobs, K):
    one, other = (svm("y ~ x + z", sample(K, 40)) for _ in range(2))
    assert one.loo(n_jobs=n_jobs).score == other.loo().score


def test_an_interrupted_loop_leaves_the_fit_as_it_was(monkeypatch, K):
    fit, fresh = (svm("y ~ x + z", sample(K, seed=8)) for _ in range(2))
    before = fit.gof(B=20, method="pairs", rng=5).replicates

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(import_module("svmstat.resampling.bootstrap"), "_replicates", interrupted)
        patch.setattr(import_module("svmstat.resampling.leave_one_out"), "_without", interrupted)
        for loop in (lambda: fit.gof(B=20, method="pairs", rng=5), fit.loo, fit.get_influence):
            with pytest.raises(KeyboardInterrupt):
                loop()
    score = fit.loo().score
    np.testing.assert_array_equal(fit.gof(B=20, method="pairs", rng=5).replicates, before)
    assert np.isfinite(score) and fit.loo().score == score
    fresh = fresh.get_influence().summary_frame()
    pd.testing.assert_frame_equal(fit.get_influence().summary_frame(), fresh, check_exact=True)


def test_progress_goes_to_stderr(capsys, K):
    fit = svm("y ~ x + z", sample(K, 40))
    fit.get_influence(progress=True).summary_frame()
    fit.gof(B=20, method="pairs", rng=1, progress=True)
    captured = capsys.readouterr()
    assert "leave-one-out" in captured.err and "bootstrap" in captured.err
    assert captured.out == ""


# What they look like


def test_what_is_for_two_levels_only(K):
    loo = svm("y ~ x + z", sample(K, 40)).loo()
    if K == 2:
        assert loo.mean_loss > 0
        return
    with pytest.raises(UnavailableError, match=rf"mean_loss exists for two levels only.* has {K}: use score"):
        _ = loo.mean_loss


def test_a_repr_is_one_line_and_a_print_the_summary(mackerel, K):
    loo = mackerel.loo()
    shown = f"n = 634, CV score {loo.score:.6g}, leave-one-out error 0.1625, apparent error 0.1341"
    assert repr(loo) == f"<LooResult: {shown}>"
    delta = mackerel.get_influence().delta_deviance
    most = f"largest {delta.max():.4g} in row {delta.idxmax()}"
    said = f"<InfluenceResult: deletion deviances of 634 rows, deviance 418.096, {most}>"
    assert repr(mackerel.get_influence()) == said
    fit = svm("y ~ x + z", sample(K, 40))
    loo = fit.loo()
    assert re.fullmatch(r"<LooResult: n = 40, CV score \S+, leave-one-out error \S+, apparent error \S+>", repr(loo))
    assert repr(fit.get_influence()).startswith("<InfluenceResult: deletion deviances of 40 rows, deviance ")
    assert str(loo) == str(loo.summary()) and "\n" not in repr(fit) + repr(loo)


def test_plots(K):
    fit = svm("y ~ x + z", sample(K, seed=8))
    calibration, index = fit.loo().plot_calibration(), fit.get_influence().plot_index(reference="chi2")
    assert np.size(calibration) == (1 if K == 2 else K) and index.get_ylabel()
    plt.close("all")


def test_a_pickled_leave_one_out_does_not_carry_the_fit(K):
    fit = svm("y ~ x + z", sample(K, seed=8))
    packed = pickle.dumps(fit.loo())
    assert len(packed) < 60_000 and b"Machine" not in packed and b"Design" not in packed
    again = pickle.loads(packed)
    pd.testing.assert_frame_equal(again.summary_frame(), fit.loo().summary_frame(), check_exact=True)
    assert again.score == fit.loo().score


def test_the_correlation_with_own_misfit_counts_copies():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"]).assign(w=rng.integers(1, 4, size=50))
    data["y"] = data.a + rng.normal(size=50) > 0
    weighted = svm("y ~ a + b", data, weights="w").get_influence()
    repeated = svm("y ~ a + b", data.loc[data.index.repeat(data["w"])].reset_index(drop=True)).get_influence()
    (own, other) = (re.search(r"Correlation with own: +(\S+)", str(each)).group(1) for each in (weighted, repeated))
    assert own == other


@pytest.mark.filterwarnings("ignore::svmstat.errors.SvmstatWarning")
def test_rows_without_a_certificate_have_predictions_and_an_auc():
    """They fail, and nothing is said to be missing that is printed."""
    rng = np.random.default_rng(13)
    n = 600
    data = pd.DataFrame({
        "elev": rng.uniform(100, 2000, n).round(0), "canopy": rng.uniform(0, 100, n).round(1),
        "wet": rng.normal(0, 1, n).round(3),
    })  # fmt: skip
    score = 2.2 * data["wet"] - 0.002 * (data["elev"] - 1000) + 0.02 * (data["canopy"] - 50) + rng.logistic(size=n)
    data["present"] = (score.rank() > n - 20).astype(int)
    loo = svm("present ~ elev + canopy", data, C=32, gamma=0.0208681).loo()
    assert loo.n_failed > 0 and not loo.prob.isna().any() and 0.0 < loo.auc < 1.0
    text = " ".join(str(loo).split())
    assert "Without a prediction of every row" not in text and "AUC" in text
