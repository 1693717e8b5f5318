"""Goodness of fit: replicates are fits to drawn rows or labels, for any number of levels; which of them count."""

from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from levels import COUPLINGS, sample, standardised
from sklearn.datasets import load_iris

from svmstat import svm
from svmstat.diagnostics.gof import METHODS, GofResult
from svmstat.errors import ArgumentError, DataError
from svmstat.objective.replicated import upper_point
from svmstat.resampling import leave_one_out

# Deviances by two certified fits to one sample.
TOL_REPLICATE = 1e-5

methods = pytest.mark.parametrize("method", ["pairs", "parametric"])


def generator(seed, r):
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(r,))))


@methods
@pytest.mark.parametrize("coupling", COUPLINGS)
def test_replicates_are_fits_to_drawn_data(method, coupling, K):
    """The very copies that were drawn, fitted one by one."""
    data = standardised(sample(K, 66, seed=7))
    options = {"C": 2.0, "gamma": 0.4, "scale": False, "coupling": coupling, "calibration": "insample"}
    fit = svm("y ~ x + z", data, **options)
    gof = fit.gof(B=8, method=method, rng=11)
    groups = fit.machine.groups
    assert len(groups.first) == 60  # of 66 rows six are copies
    rows = data.iloc[groups.first].reset_index(drop=True)
    order = list(fit.pairs[0] if K == 2 else fit.classes)
    chances = fit.predict_proba()[order].to_numpy()[groups.first]
    for r in range(8):
        if method == "pairs":
            drawn = rows.assign(w=generator(11, r).multinomial(66, groups.weights / 66))
        else:
            copies = generator(11, r).multinomial(groups.weights.astype(int), chances)
            parts = [rows.assign(y=level, w=copies[:, k]) for k, level in enumerate(order)]
            drawn = pd.concat(parts, ignore_index=True)
        refit = svm("y ~ x + z", drawn[drawn["w"] > 0], weights="w", **options)
        assert gof.replicates[r] == pytest.approx(refit.deviance, rel=TOL_REPLICATE)
    assert gof.statistic == fit.deviance and gof.n_failed == 0
    assert gof.pvalue == (1 + (gof.replicates >= fit.deviance).sum()) / 9


def test_decision_of_the_test_of_fit(K):
    fit = svm("y ~ x + z", sample(K, 80, seed=8))
    gof = fit.gof(B=99, method="pairs", rng=3)
    assert gof.statistic == fit.deviance
    good = gof.replicates[~np.isnan(gof.replicates)]
    assert gof.n_failed == 99 - len(good) < 5
    assert gof.critical_value == np.quantile(good, 0.95)
    assert gof.pvalue == (1 + (good >= gof.statistic).sum()) / (1 + len(good))
    assert gof.reject == (gof.statistic > gof.critical_value)
    assert "pairs" in str(gof) and str(gof) == str(gof.summary())


def unmoved(gof):
    """T* as it is, without what the noise of the replicate has to do with it."""
    return gof.replicates - gof.slope * (gof.noise - gof.noise_replicates)


def irises():
    """Labels drawn from the probabilities of a fit to Fisher's irises: refits report more noise than they have."""
    known = load_iris()
    data = pd.DataFrame(known.data, columns=["sl", "sw", "pl", "pw"]).assign(y=known.target)
    p = svm("y ~ .", data).fittedvalues.to_numpy()
    draws = np.random.default_rng([5, 3]).random(len(p))[:, None]
    return data.assign(y=(draws > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1))


def test_replicates_of_more_noise_are_raised():
    """Along the least-squares line of T on V, found by another road, with the ranks of its residuals."""
    gof = svm("y ~ .", irises()).gof(B=60, rng=5)
    T, V = np.append(gof.statistic, unmoved(gof)), np.append(gof.noise, gof.noise_replicates)
    line = np.polynomial.Polynomial.fit(V, T, 1)
    left = T - line(V)
    assert gof.slope == pytest.approx(line.deriv()(0.0), rel=1e-6) and gof.slope < 0.0
    words = " ".join(str(gof).split())
    assert f"{gof.noise_replicates.mean():.4g} in the mean against {gof.noise:.4g}" in words
    assert gof.pvalue == (1 + (left[1:] >= left[0]).sum()) / 61 == (1 + (gof.replicates >= gof.statistic).sum()) / 61
    assert gof.pvalue > (1 + (unmoved(gof) >= gof.statistic).sum()) / 61


def test_replicates_are_never_lowered(K):
    """A line that rises is the chance of labels, and one that would lower T* is not followed."""
    for C in (0.05, 1.0, 100.0):
        gof = svm("y ~ x + z", sample(K, 90, seed=8), C=C).gof(B=40, rng=5)
        assert gof.slope <= 0.0 and gof.replicates.mean() >= unmoved(gof).mean() - 1e-12
        assert gof.slope < 0.0 or "more noise than the fit" not in str(gof)


@pytest.mark.parametrize("method", METHODS)
def test_replicates_depend_on_the_seed_alone(method, K):
    fit = svm("y ~ x + z", sample(K, 60, seed=8))
    all_of_them = fit.gof(B=40, method=method, rng=5)
    first = all_of_them.replicates
    np.testing.assert_array_equal(fit.gof(B=40, method=method, rng=5, n_jobs=2).replicates, first)
    for B in (25, 26, 39):  # the last ones are together with fewer others
        fewer = fit.gof(B=B, method=method, rng=5)
        if method == "residual":
            np.testing.assert_allclose(unmoved(fewer), unmoved(all_of_them)[:B], rtol=1e-9)
            np.testing.assert_array_equal(fewer.noise_replicates, all_of_them.noise_replicates[:B])
        else:
            np.testing.assert_array_equal(fewer.replicates, first[:B])
    assert (fit.gof(B=40, method=method, rng=6).replicates != first).any()
    drawn = np.random.default_rng(1)
    assert (fit.gof(B=5, rng=drawn).replicates != fit.gof(B=5, rng=drawn).replicates).any()


def test_dask_gives_the_same_bits(mackerel, another_mackerel):
    other = another_mackerel
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        again = other.gof(B=20, rng=1, n_jobs=2, method="pairs").replicates
        loo = leave_one_out(other.machine, other.insample_maps, n_jobs=2)
    np.testing.assert_array_equal(again, mackerel.gof(B=20, rng=1, method="pairs").replicates)
    np.testing.assert_array_equal(loo.changes.deviance_deleted, mackerel.loo().deviance_deleted)


@methods
def test_replicates_without_a_level_are_counted(lonely, method):
    fit = svm("y ~ x + z", lonely)
    gof = fit.gof(B=40, method=method, rng=1)
    assert 0 < gof.n_failed < 40 and repr(gof).endswith(f", {gof.n_failed} failed>")
    good = gof.replicates[~np.isnan(gof.replicates)]
    assert len(good) == 40 - gof.n_failed
    assert gof.pvalue == (1 + (good >= fit.deviance).sum()) / (1 + len(good))
    assert gof.critical_value == np.quantile(good, 0.95)
    if method == "pairs":  # the row is not drawn
        groups = fit.machine.groups
        drawn = [generator(1, r).multinomial(40, groups.weights / 40) for r in range(40)]
        lost = [counts[list(groups.first).index(7)] == 0 for counts in drawn]
        assert np.isnan(gof.replicates)[lost].all()
        assert np.isnan(gof.replicates).tolist() == lost


def test_a_repr_is_one_line(mackerel):
    gof = mackerel.gof(B=19, method="pairs", rng=1)
    assert repr(gof) == (
        f"<GofResult: deviance 418.096, critical value {gof.critical_value:.6g} at level 0.95, "
        f"p-value {gof.pvalue:.4g}; pairs, 19 replicates>"
    )


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"B": 0}, "B=0 is not allowed: it must be an integer >= 1"),
        ({"B": 9.5}, "B=9.5 is not allowed"),
        ({"level": 0.0}, "level=0.0 is not allowed"),
        ({"level": 1.0}, "level=1.0 is not allowed"),
        ({"level": float("nan")}, "level=nan is not allowed"),
        ({"method": "pair"}, "method='pair' is not allowed.*did you mean 'pairs'"),
        ({"rng": -1}, "rng=-1 is not allowed"),
        ({"rng": "seed"}, "rng='seed' is not allowed"),
    ],
)
def test_bad_arguments(options, message, K):
    fit = svm("y ~ x + z", sample(K, 30))
    with pytest.raises(ArgumentError, match=message):
        fit.gof(**options)


def test_labels_are_drawn_for_whole_weights_only(K):
    fit = svm("y ~ x + z", sample(K, 60), weights=np.linspace(0.5, 2, 60))
    with pytest.raises(DataError, match="method='parametric' draws a label for every copy of a row: the weights must"):
        fit.gof(B=5, method="parametric")
    assert fit.gof(B=5, method="pairs", rng=1).n_failed == 0


@methods
def test_more_copies_than_can_be_counted(method, K):
    fit = svm("y ~ x + z", sample(K, 30), weights=np.full(30, 1e20), C=1e-20)
    with pytest.raises(DataError, match=r"the weights add up to 3e\+21, and a replicate draws .* count 9\.01e\+15"):
        fit.gof(B=5, method=method)


@pytest.mark.parametrize(
    ("method", "drawn"), [("pairs", "rows drawn"), ("parametric", "labels drawn from the in-sample")]
)
def test_what_the_deviance_of_a_flexible_machine_is(mackerel, method, drawn):
    text = " ".join(str(mackerel.gof(B=19, method=method, rng=1)).split())
    assert f"Replicates are of {drawn}" in text and "Of a flexible machine D may lie above all of them" in text


def test_a_rank_that_is_whole_but_for_rounding():
    assert 0.55 * 100 > 55.0
    assert upper_point(np.arange(1.0, 100.0), 0.55) == 55.0


@pytest.mark.parametrize(("T", "p", "reject"), [(94.5, 0.06, False), (95.5, 0.05, True)])
def test_the_fit_is_rejected_where_the_pvalue_is_no_more_than_one_minus_the_level(T, p, reject):
    """The 95 % quantile of 1 … 99 is 94.1: above it, p may be 0.06."""
    replicates = np.arange(1.0, 100.0)
    found = GofResult(
        statistic=T, replicates=replicates, deviance=1.0, deviance_replicates=replicates, method="residual", level=0.95
    )
    assert found.pvalue == pytest.approx(p) and found.reject == reject == (p <= 0.05)
    assert found.critical_value == 95.0


@pytest.mark.parametrize(("D", "told"), [(94.5, True), (93.5, False), (95.5, False)])
def test_a_deviance_between_two_replicates_is_above_their_point_and_not_rejected_by_its_pvalue(D, told):
    """[003] has the quantile, which lies between two replicates: 94.1 of 1 … 99, above which p may be 0.06."""
    replicates = np.arange(1.0, 100.0)
    found = GofResult(
        statistic=D, replicates=replicates, deviance=D, deviance_replicates=replicates, method="pairs", level=0.95
    )
    assert (found.reject and found.pvalue > 0.05) == told
    assert (
        "point of its replicates, between two of which that lies: the p-value is above 0.05" in found.verdict
    ) == told
    assert ("between two of which" in " ".join(str(found).split())) == told


def test_without_a_replicate_there_is_no_pvalue():
    nothing = np.full(9, np.nan)
    found = GofResult(
        statistic=1.0, replicates=nothing, deviance=1.0, deviance_replicates=nothing, method="residual", level=0.95
    )
    assert np.isnan(found.pvalue) and not found.is_decided
    text = " ".join(str(found).split())
    assert text.count("p-value: -") == 2 and "No replicate could be fitted" in text


def test_noise_that_is_the_same_as_printed_is_not_told():
    gof = svm("y ~ .", irises()).gof(B=40, rng=5)
    assert gof.slope < 0.0 and "more noise than the fit" in " ".join(str(gof).split())
    alike = replace(gof, noise_replicates=np.full(40, gof.noise * (1.0 + 1e-6)))
    assert "more noise" not in str(alike)


def test_the_note_on_the_deviance_is_of_two_levels_where_it_says_binary(K):
    fit = svm("y ~ x + z", sample(K, 90, seed=8))
    for method in ("residual", "parametric"):
        words = " ".join(str(fit.gof(B=20, method=method, rng=5)).split())
        assert ("single binary responses" in words) == (K == 2) and ("single responses" in words) == (K > 2)
