"""Rows that belong together, and what weights mean: against refits, and fits that must be the same."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, PredefinedSplit, RepeatedKFold, TimeSeriesSplit
from sklearn.svm import SVC

from svmstat import cli, compare, datasets, minimax, neyman_pearson, svm, tune
from svmstat.calibration import Maps, fit_platt
from svmstat.calibration.venn_abers import fit_venn_abers
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, GridWarning, UnavailableError
from svmstat.report import report

TOL_LIBSVM = 5e-6  # libsvm keeps kernel values as 32-bit floats; probabilities and deviances are sums of such values
TOL_SAME = 1e-9  # two certified fits of one problem
SAME = {"rtol": 1e-12, "atol": 1e-12}  # the same sums in another order


def rows(n=90, G=12, seed=0):
    """Rows in G groups with an effect each and a predictor that is constant in them; responses of two, three levels."""
    rng = np.random.default_rng(seed)
    group = np.r_[np.arange(G), rng.integers(0, G, n - G)]
    x, z = rng.normal(size=n), rng.normal(size=G)[group]
    eta = x + z + rng.normal(0.0, 1.2, G)[group] + rng.logistic(size=n)
    return pd.DataFrame(
        {
            "y": np.where(eta > 0, "b", "a"), "l": np.digitize(eta, [-1.0, 1.5]), "x": x, "z": z,
            "g": [f"v{k}" for k in group], "w": rng.uniform(0.2, 3.0, n), "copies": rng.integers(1, 4, n).astype(float),
        },
        index=[f"row {k}" for k in range(n)],
    )  # fmt: skip


DATA = rows()
responses = pytest.mark.parametrize("response", ["y", "l"])
WEIGHTS = {
    "none": {},
    "copies": {"weights": "copies"},
    "fractions": {"weights": "w"},
    "probability": {"weights": "w", "weight_type": "probability"},
}
weighted = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)


def fitted(response="y", data=DATA, **options):
    return svm(f"{response} ~ x + z", data, **{"C": 2, "gamma": 0.5, "groups": "g"} | options)


class Refits:
    """Fits of scikit-learn to the rows that are kept, pair by pair, and Platt's maps of these."""

    def __init__(self, fit):
        self.fit, X = fit, fit.frame.X
        self.K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
        self.w, self.codes, self.pairs = fit.frame.weights, fit.frame.codes, fit.machine.pairs

    def values(self, kept):
        """(n, P)."""
        return np.column_stack([self._of_pair(pair, kept & pair.holds(self.codes)) for pair in self.pairs])

    def _of_pair(self, pair, kept):
        y = pair.signs(self.codes)
        model = SVC(C=self.fit.C, kernel="precomputed", tol=1e-10)
        model.fit(self.K[np.ix_(kept, kept)], y[kept], sample_weight=self.w[kept])
        return model.decision_function(self.K[:, kept])

    def maps(self, f, kept, kind):
        found = []
        for p, pair in enumerate(self.pairs):
            y = pair.signs(self.codes)
            own = kept & (y != 0)
            found.append(fit_platt(f[own, p], y[own], self.w[own], kind))
        totals = np.bincount(self.codes, self.w * kept)
        slope, intercept = ([getattr(each, name) for each in found] for name in ("slope", "intercept"))
        return Maps(
            np.array(slope), np.array(intercept), np.ones(len(found), bool), self.fit.machine.classes, totals,
            self.fit.insample_maps.coupling, kind,
        )  # fmt: skip


# Against refits without the group


@weighted
@responses
@pytest.mark.parametrize("calibration", ["loo", "insample"])
def test_leaving_out_groups_is_refitting_without_them(response, weights, calibration):
    fit = fitted(response, calibration=calibration, **weights)
    loo, again, groups = fit.loo(), Refits(fit), fit.groups.to_numpy()
    n = len(groups)
    f, p, deleted = np.empty(loo.values.shape), np.empty(loo.probability.shape), np.empty(n)
    for group in np.unique(groups):
        out = groups == group
        values = again.values(~out)
        maps = again.maps(values, ~out, "insample")
        f[out], p[out] = values[out], maps.probabilities(values[out])
        deleted[out] = -2.0 * again.w[~out] @ maps.log_likelihoods(values, again.codes)[~out]
    if calibration == "loo":
        for group in np.unique(groups):
            out = groups == group
            p[out] = again.maps(f, ~out, "loo").probabilities(f[out])
    np.testing.assert_allclose(loo.values, f, rtol=0, atol=TOL_LIBSVM * np.abs(f).max())
    np.testing.assert_allclose(loo.probability, p, rtol=0, atol=TOL_LIBSVM)
    np.testing.assert_allclose(loo.deviance_deleted, deleted, rtol=TOL_LIBSVM)
    own = np.log(p[np.arange(n), again.codes])
    assert loo.score == pytest.approx(-2.0 * again.w @ own, rel=TOL_LIBSVM)
    by_group = loo.summary_frame("group")
    assert by_group["score"].sum() == pytest.approx(loo.score)
    assert (by_group["deviance_deleted"] == pd.Series(loo.deviance_deleted.to_numpy()).groupby(groups).first()).all()


def test_folds_group_by_group():
    fit = fitted()
    folds = fit.kfold(4)
    by_row, by_group = folds.summary_frame(), folds.summary_frame("group")
    groups, w = fit.groups.to_numpy(), fit.frame.weights
    for name, rows in by_row.groupby(groups):
        w_of = w[groups == name]
        assert by_group.loc[name, "score"] == pytest.approx(-2.0 * w_of @ rows["log_likelihood"], rel=1e-12)
        assert by_group.loc[name, "error_rate"] == pytest.approx(w_of @ rows["error"] / w_of.sum(), rel=1e-12)
    assert by_group["rows"].sum() == len(by_row)
    compared = compare(fit, fitted(C=4), folds=4).evidence
    for each in compared:
        assert each.summary_frame("group").index.tolist() == by_group.index.tolist()
    with pytest.raises(UnavailableError, match="by='group' needs a fit with groups"):
        fitted(groups=None).kfold(4).summary_frame("group")


def test_venn_abers_of_other_groups():
    fit = fitted(calibration="venn-abers")
    loo, groups = fit.loo(), fit.groups.to_numpy()
    f, y, event = loo.values[:, 0], np.where(DATA["y"] == "b", 1.0, -1.0), list(fit.classes).index("b")
    for group in ("v0", "v5"):
        out = groups == group
        others = fit_venn_abers(f[~out], y[~out], np.ones((~out).sum()))
        np.testing.assert_allclose(loo.probability[out, event], others.probability(f[out]), **SAME)


@responses
def test_null_score_is_of_other_groups(response):
    fit = fitted(response, weights="copies")
    groups, codes, w = fit.groups.to_numpy(), fit.frame.codes, fit.frame.weights
    null = 0.0
    for group in np.unique(groups):
        out = groups == group
        shares = np.bincount(codes[~out], w[~out])
        null -= 2.0 * w[out] @ np.log(shares / shares.sum())[codes[out]]
    assert fit.loo().null_score == pytest.approx(null)


def test_standard_errors_are_over_groups():
    fit = fitted()
    loo, groups = fit.loo(), fit.groups.to_numpy()
    each = pd.Series((loo.log_likelihood - loo.log_likelihood.mean()).to_numpy()).groupby(groups).sum()
    G, n = len(each), len(groups)
    assert loo.score_se == pytest.approx(2.0 * np.sqrt(G / (G - 1) * (n - 1) / n * n / (n - 1) * (each**2).sum()))
    assert loo.score_se != pytest.approx(fit.loo(by="row").score_se, rel=0.01)


# Fits that must be the same


@responses
def test_groups_of_one_are_rows(response):
    fit, alone = fitted(response, groups=np.arange(len(DATA))), fitted(response, groups=None)
    assert fit.loo().summary_frame().equals(alone.loo().summary_frame())
    assert fit.loo().score_se == alone.loo().score_se
    assert fit.n_groups == len(DATA)


def test_groups_of_one_are_rows_whatever_these_weigh():
    data = datasets.load("mackerel").iloc[::8].round({"lon": 0, "lat": 0})
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(data))
    formula, how = "egg_count > 0 ~ lon + lat", {"weights": weights, "weight_type": "probability"}
    alone = svm(formula, data, **how)
    grouped = svm(formula, data, **how, groups=[f"g{k}" for k in np.random.default_rng(2).permutation(len(data))])
    assert grouped.loo().how == "leave-one-out"
    assert (grouped.loo().score, grouped.kfold(5).score) == (alone.loo().score, alone.kfold(5).score)
    assert str(grouped.loo()) == str(alone.loo())
    frames = [fit.get_influence().summary_frame() for fit in (grouped, alone)]
    pd.testing.assert_frame_equal(*frames)


@responses
def test_groups_of_one_by_the_road_of_groups(response):
    """A group of two rows keeps all others from being taken for rows alone."""
    groups = np.arange(len(DATA))
    groups[1] = 0
    fit, alone = fitted(response, groups=groups), fitted(response, groups=None)
    np.testing.assert_allclose(fit.loo().values[2:], alone.loo().values[2:], rtol=0, atol=TOL_SAME)
    deleted = fit.loo().deviance_deleted[2:], alone.loo().deviance_deleted[2:]
    np.testing.assert_allclose(*deleted, rtol=TOL_SAME)


@weighted
@responses
def test_order_of_rows_and_names_of_groups(response, weights):
    other = DATA.sample(frac=1.0, random_state=1)
    other["g"] = other["g"].map(dict(zip(DATA["g"].unique(), range(100, 200), strict=False)))
    fit, again = fitted(response, **weights), fitted(response, other, **weights)
    assert again.loo().score == pytest.approx(fit.loo().score, rel=1e-9)
    assert again.loo().score_se == pytest.approx(fit.loo().score_se, rel=1e-9)
    f = again.bootstrap(B=5, rng=1).decision_function(DATA)
    np.testing.assert_allclose(f, fit.bootstrap(B=5, rng=1).decision_function(DATA), atol=1e-6)
    assert again.kfold(4).score == pytest.approx(fit.kfold(4).score, rel=1e-9)


@responses
def test_workers_do_not_matter(response):
    one, two = fitted(response), fitted(response)
    assert one.loo(n_jobs=1).summary_frame().equals(two.loo(n_jobs=2).summary_frame())
    f = one.bootstrap(B=20, rng=1).decision_function()
    assert np.array_equal(f, two.bootstrap(B=20, rng=1, n_jobs=2).decision_function())
    with joblib.parallel_config("threading", n_jobs=2):
        three = fitted(response)
        assert one.loo().summary_frame().equals(three.loo().summary_frame())
        assert np.array_equal(f, three.bootstrap(B=20, rng=1).decision_function())


def everything(fit):
    """Numbers of all that resamples."""
    replicates = fit.bootstrap(B=19, rng=1)
    return [
        fit.decision_values, fit.loo().summary_frame().select_dtypes("number").drop(columns="kkt_violation"),
        [each.se for each in fit.loo().estimates().values()], fit.kfold(4).log_likelihoods,
        replicates.decision_function(), fit.get_influence().measures.delta_deviance, fit.label_sets().p,
        fit.gof(B=4, rng=1).replicates, fit.gof(B=4, rng=1, method="pairs").replicates,
        fit.permutation_test(B=4, rng=1).replicates, fit.drop1().table, fit.residuals(),
    ]  # fmt: skip


@pytest.mark.parametrize("groups", ["g", None])
@responses
def test_probability_weights_have_no_scale(response, groups):
    options = {"weight_type": "probability", "groups": groups}
    fit = fitted(response, weights=DATA["w"], **options)
    again = fitted(response, weights=10.0 * DATA["w"], **options)
    for one, other in zip(everything(fit), everything(again), strict=True):
        assert np.array_equal(np.asarray(one, float), np.asarray(other, float), equal_nan=True)
    assert str(fit.summary()) == str(again.summary())


@pytest.mark.parametrize("groups", ["g", None])
@responses
def test_equal_probability_weights_are_none(response, groups):
    fit = fitted(response, weights=np.full(len(DATA), 0.1), weight_type="probability", groups=groups)
    for one, other in zip(everything(fit), everything(fitted(response, groups=groups)), strict=True):
        assert np.array_equal(np.asarray(one, float), np.asarray(other, float), equal_nan=True)


def test_probability_weights_leave_out_rows_whole():
    fit = fitted(groups=None, weights="w", weight_type="probability")
    again, loo = Refits(fit), fit.loo()
    assert fit.nobs == pytest.approx(len(DATA))
    assert fit.effective_sample_size == pytest.approx(DATA["w"].sum() ** 2 / (DATA["w"] ** 2).sum())
    for k in (0, 17, 40):
        kept = np.arange(len(DATA)) != k
        assert loo.values[k] == pytest.approx(again.values(kept)[k], abs=TOL_LIBSVM)
    each, w, n = loo.log_likelihood.to_numpy(), fit.frame.weights, len(DATA)
    expected = 2.0 * np.sqrt(n / (n - 1) * (w**2 * (each - np.average(each, weights=w)) ** 2).sum())
    assert loo.score_se == pytest.approx(expected)


def test_rows_of_weight_zero_are_in_no_group():
    weights = np.where(DATA["g"] == "v3", 0.0, 1.0)
    fit, without = fitted(weights=weights), fitted(data=DATA[weights > 0])
    assert fit.n_groups == without.n_groups == DATA["g"].nunique() - 1
    assert fit.loo().score == pytest.approx(without.loo().score, rel=1e-9)


def test_frequency_weights_of_grouped_rows_are_repeats():
    copied = DATA.loc[DATA.index.repeat(DATA["copies"].astype(int))].reset_index(drop=True)
    fit, again = fitted(weights="copies"), fitted(data=copied)
    assert fit.loo().score == pytest.approx(again.loo().score, rel=1e-9)
    assert fit.loo().score_se == pytest.approx(again.loo().score_se, rel=1e-9)
    f = fit.bootstrap(B=5, rng=2).decision_function(DATA), again.bootstrap(B=5, rng=2).decision_function(DATA)
    np.testing.assert_allclose(*f, atol=1e-6)


@responses
@pytest.mark.parametrize("digits", [0, 9], ids=["few values", "many values"])
def test_what_is_drawn_does_not_tell_a_row_of_weight_two_from_two_rows(response, digits):
    data = DATA.round({"x": digits, "z": digits})
    copied = data.loc[data.index.repeat(data["copies"].astype(int))].reset_index(drop=True)
    one, other = fitted(response, data, weights="copies"), fitted(response, copied)
    for call in ("gof", "permutation_test"):
        drawn = (getattr(fit, call)(B=9, rng=1).replicates for fit in (one, other))
        np.testing.assert_allclose(*drawn, rtol=1e-6, err_msg=call)
    assert one.kfold(4).score == pytest.approx(other.kfold(4).score, rel=1e-6)


# What is kept together


def together(fold, groups):
    """Whether each group is in one fold."""
    return len(set(zip(fold, groups, strict=True))) == len(set(groups))


@responses
def test_replicates_draw_whole_groups(response):
    fit = fitted(response)
    replicates, machine = fit.bootstrap(B=30, rng=3).replicates, fit.machine
    members = np.zeros((fit.n_groups, len(machine.group_codes)))
    members[machine.units.of_row, machine.groups.of_row] = 1.0
    drawn, *_ = np.linalg.lstsq(members.T, replicates.counts.T, rcond=None)
    np.testing.assert_allclose(members.T @ drawn.round(), replicates.counts.T, atol=1e-9)
    assert (drawn.round().sum(axis=0) == fit.n_groups).all()


@responses
@pytest.mark.parametrize("folds", [3, 12, GroupKFold(4), LeaveOneGroupOut(), "g"], ids=str)
def test_folds_keep_groups_together(response, folds):
    fit = fitted(response)
    splits = fit.splits(folds)
    assert together(splits.fold, fit.groups)
    evidence = fit.kfold(folds)
    again = Refits(fit)
    for which in (0, 2):
        kept = splits.fold != which
        np.testing.assert_allclose(evidence.values[~kept], again.values(kept)[~kept], rtol=0, atol=TOL_LIBSVM * 10)
    if not isinstance(folds, int):
        found = tune(f"{response} ~ x + z", DATA, groups="g", C=2, gamma=0.5, criterion="kfold", folds=folds)
        assert (pd.crosstab(found.fold, splits.fold).to_numpy() > 0).sum() == splits.count


def test_leaving_out_each_group_as_a_fold_is_leaving_out_groups():
    fit = fitted()
    np.testing.assert_allclose(fit.kfold("g").values, fit.loo().values, rtol=0, atol=TOL_SAME)
    assert fit.kfold("g").null_score == pytest.approx(fit.loo().null_score, rel=1e-12)


def test_folds_that_see_only_the_past():
    fit = fitted(groups=None)
    evidence, n = fit.kfold(TimeSeriesSplit(4)), len(DATA)
    again = Refits(fit)
    for train, test in TimeSeriesSplit(4).split(np.zeros(n)):
        np.testing.assert_allclose(
            evidence.values[test], again.values(np.isin(np.arange(n), train))[test], rtol=0, atol=TOL_LIBSVM * 10
        )
    assert evidence.how.endswith("18 rows never")
    assert evidence.weights.sum() == n - 18
    found = tune("y ~ x + z", DATA, C=2, gamma=0.5, criterion="kfold", score="error", folds=TimeSeriesSplit(4))
    assert found.best_row["score"] == pytest.approx(evidence.error_rate)


def test_replicates_of_weighted_rows_in_groups_do_not_hang_on_the_order_of_rows():
    """Equal rows of one group whose weights differ each draw a label."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.integers(0, 5, 80), "g": rng.integers(0, 30, 80), "w": rng.uniform(0.5, 3.0, 80)})
    data["y"] = rng.random(80) < 0.3 + 0.08 * data["x"]
    one, other = (
        svm("y ~ x", data.iloc[order], weights="w", weight_type="probability", groups="g", calibration="insample")
        for order in (np.arange(80), rng.permutation(80))
    )
    assert data.duplicated(["x", "g", "y"]).any()
    np.testing.assert_allclose(one.gof(B=9, rng=1).replicates, other.gof(B=9, rng=1).replicates, rtol=1e-6)
    permuted = (fit.permutation_test(B=9, rng=1).replicates for fit in (one, other))
    np.testing.assert_allclose(*permuted, rtol=1e-6)


def test_permutations_of_groups_and_within_them():
    within = fitted().permutation_test(B=9, rng=1)
    assert within.permuted == "within groups"
    data = DATA.assign(y=DATA.groupby("g")["y"].transform("first"))
    assert fitted(data=data).permutation_test(B=9, rng=1).permuted == "groups"
    assert fitted(groups=None).permutation_test(B=9, rng=1).permuted == "rows"


def test_label_sets_count_groups():
    fit = fitted()
    sets = fit.label_sets()
    score = -fit.loo().values[:, 0] * np.where(DATA["y"] == "b", 1.0, -1.0)
    row, own = 7, (DATA["y"] == DATA["y"].iloc[7]) & (DATA["g"] != DATA["g"].iloc[7])
    stranger = pd.Series(score >= score[row] - 1e-8, DATA.index)[own].groupby(DATA["g"][own]).mean()
    expected = (1.0 + stranger.sum()) / (1.0 + len(stranger))
    level = list(fit.classes).index(DATA["y"].iloc[row])
    assert sets.held_out_p[row, level] == pytest.approx(expected)


@responses
def test_influence_of_groups(response):
    fit = fitted(response, weights="copies")
    found, loo = fit.get_influence(), fit.loo()
    table = found.summary_frame()
    deleted = loo.summary_frame("group")["deviance_deleted"]
    np.testing.assert_allclose(table["delta_deviance"].sort_index(), fit.deviance - deleted, **SAME)
    np.testing.assert_allclose(table["own"] + table["others"], table["delta_deviance"], **SAME)
    assert table["own"].sum() == pytest.approx(fit.deviance)
    assert len(fit.get_influence(by="row").index) == len(DATA)
    with pytest.raises(UnavailableError, match="by='row'"):
        found.envelope()


@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
def test_tuning_by_groups_has_the_score_of_the_fit():
    found = tune("y ~ x + z", DATA, groups="g", C=[1, 2, 4], gamma=[0.2, 0.5, 1.0])
    assert found.best.grouped
    assert found.best_row["score"] == pytest.approx(found.best.loo().score)
    assert found.best_row["score_se"] == pytest.approx(found.best.loo().score_se)
    by_row = tune("y ~ x + z", DATA, C=[1, 2, 4], gamma=[0.2, 0.5, 1.0])
    assert found.best_row["score"] > by_row.best_row["score"]


@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
@pytest.mark.parametrize("criterion", [minimax(), neyman_pearson(0.3)], ids=str)
def test_both_nu_by_groups(criterion):
    found = tune("y ~ x + z", DATA, groups="g", criterion=criterion, gamma=0.5, nu=[0.4, 0.6], rng=1)
    assert together(found.fold, DATA["g"])
    given = tune("y ~ x + z", DATA, criterion=criterion, gamma=0.5, nu=[0.4, 0.6], folds="g")
    assert given.fold.nunique() == DATA["g"].nunique()


def test_comparisons_are_over_groups():
    fit, smaller = fitted(), fitted().update("y ~ x")
    table = compare(fit, smaller).table
    each = pd.Series(smaller.loo().log_likelihoods - fit.loo().log_likelihoods).groupby(DATA["g"].to_numpy())
    G, sums = DATA["g"].nunique(), each.sum() - each.sum().sum() / len(DATA) * each.size()
    assert table["delta_se"].iloc[1] == pytest.approx(2.0 * np.sqrt(G / (G - 1) * (sums**2).sum()))
    assert np.isnan(table["mcnemar"].iloc[1])
    nested = compare(fit, smaller, nested=True, repeats=1, rng=1).table
    assert nested["nested_se"].iloc[1] > 0


# What is lost


def test_a_group_that_is_a_whole_class_is_counted():
    data = DATA.assign(l=np.where(DATA["g"] == "v2", "alone", DATA["y"]))
    fit = fitted("l", data)
    loo = fit.loo()
    out = (data["g"] == "v2").to_numpy()
    assert loo.n_failed == out.sum() and (loo.failed == out).all()
    assert np.isnan(loo.score)
    assert f"{out.sum()} rows, of 1 group, could not be left out" in str(loo.summary())
    assert np.isfinite(loo.values[~out]).all()
    replicates = fit.bootstrap(B=40, rng=1)
    assert 0 < replicates.n_failed < 40


# Words and refusals


@responses
def test_summary_has_both_sides(response):
    text = str(fitted(response).summary())
    assert "g: 12 groups of" in text and "by row" in text and "leave-one-group-out" in text
    assert "standard errors are over 12 groups" in " ".join(text.split())


def test_words_where_rows_know_their_group():
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(30), 10)
    site, level = rng.normal(size=30)[group], rng.normal(0.0, 3.0, 30)[group]  # the site knows its group, and no other
    data = pd.DataFrame({"y": level + rng.logistic(size=300) > 0, "site": site, "g": group})
    fit = svm("y ~ site", data, groups="g", C=50, gamma=500.0)
    assert "rows are predicted from other rows of their own group" in " ".join(str(fit.summary()).split())


BAD = {
    "no column": ({"groups": "vessel"}, ArgumentError, "groups='vessel' is not allowed: .*one label"),
    "number": ({"groups": 2.5}, ArgumentTypeError, "groups=2.5 is not allowed"),
    "too short": ({"groups": ["a", "b"]}, ArgumentError, "groups has 2 values for 90 rows"),
    "no labels": ({"groups": [{}] * 90}, ArgumentError, "no labels"),
    "one group": ({"groups": ["a"] * 90}, DataError, "in 1 group: .*need 3 or more"),
    "weight type": ({"weight_type": "survey"}, ArgumentError, "weight_type='survey' is not allowed"),
    "missing": (
        {"groups": [None, *DATA["g"][1:]], "na_action": "raise"}, DataError, "groups .* is missing in row 'row 0'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("options", "error", "message"), BAD.values(), ids=BAD)
def test_groups_that_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        fitted(**options)


def test_rows_without_a_group_are_dropped():
    labels = DATA["g"].where(DATA.index != "row 4")
    fit, without = fitted(groups=labels), fitted(data=DATA.drop(index="row 4"))
    assert fit.n_missing == 1
    assert fit.loo().score == without.loo().score
    assert fitted(groups=labels, subset=DATA["x"] > -1).groups.index.equals(
        DATA.index[(DATA["x"] > -1) & labels.notna()]
    )


def test_the_dot_is_not_the_group():
    assert svm("y ~ .", DATA[["y", "x", "z", "g", "w"]], groups="g", weights="w").n_columns == 2


FOLDS = {
    "repeated": (RepeatedKFold(n_splits=3), "more than once"),
    "split groups": (KFold(3), "one group on both sides of fold 1"),
    "too many": (13, "at most the number of groups, 12"),
    "one": (1, "folds=1 is not allowed"),
    "no column": ("block", "folds='block' is not allowed: .*one label"),
}


@pytest.mark.parametrize(("folds", "message"), FOLDS.values(), ids=FOLDS)
def test_folds_that_are_refused(folds, message):
    with pytest.raises(ArgumentError, match=message):
        fitted().kfold(folds)
    with pytest.raises(ArgumentError, match=message):
        tune("y ~ x + z", DATA, groups="g", C=1, gamma=0.5, criterion="kfold", folds=folds)


REFUSED = {
    "gacv": (lambda: fitted().gacv(), UnavailableError, "loo"),
    "path": (lambda: fitted().path(loo=True), UnavailableError, "tune"),
    "tune gacv": (lambda: tune("y ~ x", DATA, groups="g", criterion="gacv"), ArgumentError, "GACV and groups"),
    "tune span": (lambda: tune("y ~ x", DATA, groups="g", criterion="span"), ArgumentError, "span .* and groups"),
    "tune delta": (
        lambda: tune("y ~ x", DATA, groups="g", criterion=neyman_pearson(0.3, delta=0.2)), DataError, "independently",
    ),
    "folds of loo": (lambda: tune("y ~ x", DATA, folds="g"), ArgumentError, "criterion='kfold'"),
    "past of nu": (
        lambda: tune("y ~ x", DATA, criterion=minimax(), folds=TimeSeriesSplit(3)), ArgumentError, "every row once",
    ),
    "other groups": (lambda: compare(fitted(), fitted(groups=None)), DataError, "has groups and"),
    "unequal groups": (lambda: compare(fitted(), fitted(groups=np.arange(90) // 9)), DataError, "other groups"),
    "by group": (lambda: fitted(groups=None).loo(by="group"), UnavailableError, "this fit has none"),
    "bands": (lambda: fitted().loo().reliability(B=99), UnavailableError, "B=0"),
    "parametric": (
        lambda: fitted(weights="w", weight_type="probability").gof(method="parametric"), DataError,
        "not how often it is there",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_update_keeps_groups():
    fit = fitted(weights="w", weight_type="probability")
    again = fit.update("y ~ x")
    assert again.groups.equals(fit.groups) and again.weight_type == "probability"
    assert fit.update(groups=None).groups is None
    with pytest.warns(GridWarning):
        best = tune("y ~ x + z", DATA, groups="g", C=[1, 2], gamma=0.5).best
    assert best.update(C=1).n_groups == 12


# Page and command


@pytest.mark.usefixtures("few_envelopes")
@pytest.mark.parametrize("response", ["y", "l"])
def test_report_of_groups(response):
    page = report(fitted(response), B=19, rng=1)
    for words in ("Prediction error by leave-one-group-out", "Influential groups", "by row", "over 12 groups"):
        assert words in page


def test_command_knows_groups(tmp_path, capsys):
    DATA.to_csv(tmp_path / "data.csv")
    data = str(tmp_path / "data.csv")
    assert cli.main(["fit", "y ~ x + z", data, "--groups", "g", "--C", "2", "--gamma", "0.5"]) == 0
    assert "held out by" in capsys.readouterr().out
    assert cli.main(["fit", "y ~ x + z", data, "--weights", "w", "--weight-type", "probability"]) == 0
    assert "Effective sample size" in capsys.readouterr().out
    searched = ["--formula", "y ~ x + z", "--C", "2", "--gamma", "0.5", "--criterion", "kfold", "--folds", "g"]
    assert cli.main(["tune", data, *searched, "--groups", "g"]) == 0
    assert cli.main(["compare", data, "--formula", "y ~ x", "--formula", "y ~ z", "--groups", "g", "--folds", "4"]) == 0
    assert "4 folds of groups" in capsys.readouterr().out
    assert cli.main(["fit", "y ~ x + z", data, "--groups", "gg"]) == 2
    assert "groups='gg' is not allowed" in capsys.readouterr().err


@pytest.mark.parametrize("last", [2, -1])
def test_a_splitter_by_positions_is_of_the_rows_of_the_fit(last):
    labels = np.append(np.arange(29) % 3, last)
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=30), "y": np.arange(30) % 2, "label": labels})
    whole = svm("y ~ x", data)
    if last >= 0:
        assert whole.kfold(PredefinedSplit(labels)).score == pytest.approx(whole.kfold("label").score, rel=1e-12)
    fit = svm("y ~ x", data.assign(x=data["x"].where(data.index != 4)))
    with pytest.raises(ArgumentError, match="folds=PredefinedSplit is for 30 rows, and the fit has 29: rows with"):
        fit.kfold(PredefinedSplit(labels))
    assert fit.kfold("label").how == f"{4 if last < 0 else 3} folds that were given"


@pytest.mark.parametrize("weighted", [False, True])
def test_more_folds_than_rows_are_refused(weighted):
    data = pd.DataFrame({"x": np.arange(12.0), "z": np.arange(12.0) ** 2 % 7, "w": [0.0, 0.0] + [2.0] * 10})
    data["y"] = np.arange(12) % 3 == 0
    more = {"weights": "w"} if weighted else {}
    first, second = svm("y ~ x", data, **more), svm("y ~ z", data, **more)
    n = 10 if weighted else 12
    assert first.kfold(n).how == f"{n} folds"
    for call in (first.kfold, lambda folds: compare(first, second, folds=folds, rng=1)):
        with pytest.raises(
            ArgumentError, match=f"folds={n + 1} is not allowed: it must be at most the number of rows, {n}, "
        ):
            call(n + 1)


def test_groups_stand_in_their_order_whatever_the_columns_are():
    data = pd.DataFrame({"x": np.random.default_rng(3).normal(size=90), "g": np.repeat(np.arange(18)[::-1], 5)})
    data["y"] = data["x"] + np.random.default_rng(4).normal(size=90) > 0
    frames = [
        svm("y ~ x", each, groups="g").get_influence().summary_frame() for each in (data, data.assign(x=-data["x"]))
    ]
    assert frames[0].index.tolist() == sorted(data["g"].unique())
    pd.testing.assert_frame_equal(*frames, rtol=1e-6, atol=1e-9)
    by_group = svm("y ~ x", data, groups="g").loo().summary_frame("group")
    np.testing.assert_allclose(frames[0]["outlyingness"], by_group["score"], rtol=1e-9)


class Forward:
    """Each group by those before it."""

    def split(self, X, y=None, groups=None):
        for label in np.unique(groups)[4:]:
            yield np.flatnonzero(groups < label), np.flatnonzero(groups == label)


def test_splitters_are_given_the_labels_of_groups():
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"x": rng.normal(size=120), "year": np.repeat(np.arange(2010, 2020), 12)})
    data["y"] = data["x"] + rng.logistic(size=120) > 0
    fit = svm("y ~ x", data, groups="year", C=2, gamma=0.5, scale=False)
    found = fit.kfold(Forward())
    later = data["year"].to_numpy() >= 2014
    assert found.prob.isna().to_numpy().tolist() == (~later).tolist()
    for year in (2014, 2019):
        now = data[data["year"] == year]
        before = svm("y ~ x", data[data["year"] < year], groups="year", C=2, gamma=0.5, scale=False)
        np.testing.assert_allclose(found.prob[now.index], before.predict_proba(now)[True], rtol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        tuned = tune("y ~ x", data, C=[0.5, 2], gamma=[0.5], criterion="kfold", folds=Forward(), groups="year")
    assert tuned.fold[~later].eq(-1).all() and tuned.fold[later].nunique() == 6
    both = compare(fit, svm("y ~ x", data, groups="year", kernel="linear"), folds=Forward())
    assert both["svm rbf"].weights[later].all() and not both["svm rbf"].weights[~later].any()
    assert both["svm rbf"].prob.isna().to_numpy().tolist() == (~later).tolist()


def test_the_order_of_categories_is_that_of_splitters():
    rng = np.random.default_rng(8)
    data = pd.DataFrame({"x": rng.normal(size=96), "number": np.repeat(np.arange(8), 12)})
    data["y"] = data["x"] + rng.logistic(size=96) > 0
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug"]
    data["month"] = pd.Categorical.from_codes(data["number"], months, ordered=True)
    data["pair"] = [("a", number) for number in data["number"]]
    found = [svm("y ~ x", data, groups=name).kfold(Forward()).score for name in ("number", "month")]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    one, other = (svm("y ~ x", data, groups=name).kfold(LeaveOneGroupOut()).score for name in ("number", "pair"))
    assert one == pytest.approx(other, rel=1e-9)


def test_rows_that_are_never_held_out_have_no_prediction():
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=60)})
    data["y"] = data["x"] + rng.logistic(size=60) > 0
    found = svm("y ~ x", data).kfold(TimeSeriesSplit(4))
    frame = found.summary_frame()
    assert frame.iloc[:12].isna().all(axis=None) and frame.iloc[12:].notna().all(axis=None)
    assert -2.0 * frame["log_likelihood"].sum() == pytest.approx(found.score)
    assert found.residuals().iloc[:12].isna().all()


def test_a_search_by_blocks_has_no_corrected_score():
    """Its least score is of other rows than those of leave-one-out, and no search is nested in folds that are given."""
    rng = np.random.default_rng(6)
    data = pd.DataFrame({"x": rng.normal(size=90), "block": np.arange(90) // 10})
    data["y"] = data["x"] + rng.logistic(size=90) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tune("y ~ x", data, C=[0.5, 2, 8], gamma=[0.1, 0.5], criterion="kfold", folds="block")
    assert np.isnan(found.best.optimism) and not found.best.loo().is_corrected
    words = " ".join(str(found.best.summary()).split())
    assert "fit.kfold() of these blocks says more" in words and "R-squared corrected" not in words
    said = " ".join(str(found).split())
    assert "nested=True" not in said and "rows that had no part in the search tell" in said
    with pytest.raises(ArgumentError, match="nested=True are not allowed together"):
        compare(found.best, svm("y ~ x", data), folds="block", nested=True)


@pytest.mark.usefixtures("few_envelopes")
def test_a_report_where_a_level_cannot_be_left_out():
    rng = np.random.default_rng(7)
    data = pd.DataFrame({"x": rng.normal(size=60), "g": np.arange(60) // 6})
    data["y"] = (data["g"] == 3).astype(int)
    fit = svm("y ~ x", data, groups="g")
    with pytest.raises(UnavailableError, match="Each level needs two groups at least"):
        fit.gof(B=19)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "method pairs" in report(fit, B=19, rng=1)


def test_groups_of_unequal_size_count_as_fewer():
    """Standard errors and tests over groups are of their sums, most of which may be in a few."""
    rng = np.random.default_rng(2)

    def told(sizes):
        g = np.repeat(np.arange(len(sizes)), sizes)
        x, z = rng.normal(size=(2, len(g)))
        data = pd.DataFrame({"x": x, "z": z, "g": g, "y": x + rng.logistic(size=len(g)) > 0})
        fit = svm("y ~ x + z", data, groups="g")
        return [" ".join(str(each).split()) for each in (fit.loo().summary(), fit.drop1(["z"]))]

    even, tests = told([5] * 32)
    assert "fewer than 30 groups" not in even and "of one size" not in tests
    uneven, tests = told([2] * 28 + [40] * 4)
    alike = (2 * 28 + 40 * 4) ** 2 / (4 * 28 + 1600 * 4)
    assert f"they count as about {alike:.2g} of one size [Kish 1965]. With fewer than 30 groups" in uneven
    assert f"the 32 groups count as about {alike:.2g} of one size [Kish 1965]." in tests
    few, tests = told([5] * 21)
    assert "With fewer than 30 groups" in few and "of one size" not in few and "of one size" not in tests


def test_folds_of_groups_do_not_hang_on_the_order_of_terms_signs_and_reference_levels():
    """Groups were dealt in the order of the values of their rows, column by column."""
    data = rows(n=120, G=20, seed=4)
    data["x"] += np.random.default_rng(0).normal(size=120)  # no ties
    data["f"] = np.random.default_rng(1).choice(["a", "b", "c"], size=120)
    options = {"groups": "g", "calibration": "kfold"}
    fit = svm("y ~ x + z + f", data, **options)
    others = [
        svm("y ~ f + z + x", data, **options),
        svm("y ~ x + z + f", data.assign(x=-data.x), **options),
        svm("y ~ x + z + f", data.sample(frac=1, random_state=2), **options),
        svm("y ~ x + z + f", data.assign(f=data.f.map({"a": "z", "b": "k", "c": "h"})), **options),
    ]
    for other in others:
        assert other.kfold(5).score == pytest.approx(fit.kfold(5).score, rel=1e-9)
        np.testing.assert_allclose(other.fittedvalues.reindex(fit.frame.index), fit.fittedvalues, atol=1e-9)
