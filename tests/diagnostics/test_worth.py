"""What is said of held-out numbers: which hang on the intercept, on one row or group, or on uneven weights."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from svmstat import compare, svm
from svmstat.diagnostics.worth import (
    _of_line,
    chosen_notes,
    few_groups,
    few_rows,
    hang_on_the_intercept,
    held_out_remarks,
    on_one_row,
    ranks_a_level_the_wrong_way,
    uneven_note,
)
from svmstat.objective.units import Units


def said(rsquared, auc, auc_se, rsquared_se=0.03, levels_move=True):
    return SimpleNamespace(rsquared=rsquared, rsquared_se=rsquared_se, levels_move=levels_move, auc=auc, auc_se=auc_se)


@pytest.mark.parametrize(
    ("rsquared", "auc", "auc_se", "hangs"),
    [
        (0.05, 0.45, 0.05, True),
        (0.07, 0.45, 0.05, False),  # more than two standard errors
        (0.05, 0.55, 0.01, False),
        (-0.01, 0.55, 0.04, True),
        (-0.01, 0.60, 0.04, False),  # it ranks
    ],
)
def test_a_weak_signal_that_ranks_the_wrong_way_or_none_that_is_seen(rsquared, auc, auc_se, hangs):
    assert hang_on_the_intercept(said(rsquared, auc, auc_se)) == hangs
    assert not hang_on_the_intercept(said(rsquared, auc, auc_se, levels_move=False))


def test_one_level_that_is_ranked_the_wrong_way_is_enough():
    se = np.full(3, 0.04)
    assert hang_on_the_intercept(said(0.05, np.array([0.45, 0.7, 0.8]), se))
    assert hang_on_the_intercept(said(-0.01, np.array([0.55, 0.7, 0.8]), se))
    assert not hang_on_the_intercept(said(-0.01, np.array([0.6, 0.7, 0.8]), se))


@pytest.mark.parametrize("rare", [0.46, 0.78, np.nan])
def test_a_level_of_a_few_rows_tells_nothing_beside_others(rare):
    """Its AUC is not known, and one row of it is enough for an R² below 0."""
    auc, se = np.array([rare, 0.97, 0.98]), np.array([0.17, 0.01, 0.01])
    assert not hang_on_the_intercept(said(-2.6, auc, se, rsquared_se=3.0))
    assert hang_on_the_intercept(said(-0.01, np.array([rare, 0.45, 0.55]), np.array([0.17, 0.04, 0.04])))
    assert hang_on_the_intercept(said(-0.01, np.array([0.46, 0.55, 0.6]), np.full(3, 0.17)))
    noise = np.array([0.59, 0.36, 0.41]), np.array([0.08, 0.13, 0.15])
    assert hang_on_the_intercept(said(0.003, *noise, rsquared_se=0.04))


def test_one_group_that_has_most_of_the_score():
    def of(weights, logs):
        return replace(held, weights=weights, log_likelihoods=logs, units=Units(groups, 25, True))

    data = pd.DataFrame(np.random.default_rng(1).normal(size=(100, 1)), columns=["x"])
    held = svm("y ~ x", data.assign(y=np.resize([0, 1, 1], 100))).loo()
    groups, ones, even = np.arange(100) // 4, np.ones(100), np.full(100, -0.1)
    one_row, heavy, bad = even.copy(), ones.copy(), even.copy()
    one_row[7] = -40.0
    assert on_one_row(of(ones, one_row)).startswith("one group has 80.6 of 99.8")
    heavy[4:8], bad[4:8] = 50.0, -2.0
    assert on_one_row(of(heavy, bad)) is None  # what it says of a row is not next to nothing
    bad[4:8] = -5.0
    assert on_one_row(of(heavy, bad)).startswith("one group has 2000 of")


@pytest.mark.parametrize(("sigma", "told"), [(0.3, False), (1.5, True)])
def test_uneven_probability_weights_are_told_with_every_standard_error(sigma, told):
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x", "z"])
    data["y"], data["w"] = rng.random(120) < 1.0 / (1.0 + np.exp(-2.0 * data.x)), np.exp(sigma * rng.normal(size=120))
    fit, other = (
        svm("y ~ x + z", data, weights="w", weight_type="probability", kernel=kernel) for kernel in ("rbf", "linear")
    )
    for printed in (fit.loo(), compare(fit, other), fit.label_sets()):
        assert ("The weights are uneven: 120 rows count as about" in " ".join(str(printed).split())) == told
    assert "The weights are uneven" not in str(svm("y ~ x + z", data, weights="w").loo())


@pytest.mark.parametrize(
    ("machine", "told"),
    [
        ({}, False),
        ({"costs": {"fp": 1, "fn": 4}}, True),
        ({"priors": {True: 0.2, False: 0.8}}, True),
        ({"costs": {"fp": 1, "fn": 1.2}}, False),
        ({"costs": {"fp": 2, "fn": 2}}, False),
    ],
    ids=str,
)
def test_levels_that_are_weighed_unevenly_are_told(machine, told):
    """They are for the machine what uneven levels are."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x", "z"])
    data["y"] = data["x"] - data["z"] + 0.5 * rng.normal(size=120) > 0
    fit = svm("y ~ x + z", data, **machine)
    found = compare(fit, other=svm("y ~ x", data))
    for text in (str(fit.loo()), str(fit.summary())):
        assert ("evidence-weighed" in text) == told
    assert ("comparison-weighed" in " ".join(str(found).split())) == bool(found.thresholds[0])


def test_weights_that_even_out_rare_levels_are_not_told():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "z"])
    data["y"] = data["x"] + 0.5 * rng.normal(size=200) > 1.0
    assert "evidence-weighed" not in str(svm("y ~ x + z", data, class_weight="balanced").loo())


@pytest.mark.parametrize(
    ("auc", "wrong"), [([0.4, 0.7, 0.8], True), ([0.45, 0.7, 0.8], False), ([0.6, 0.7, 0.8], False)]
)
def test_a_level_that_is_ranked_the_wrong_way_while_others_are_told_apart(auc, wrong):
    found = said(0.3, np.array(auc), np.full(3, 0.04))
    found.shape = SimpleNamespace(two=False)
    assert ranks_a_level_the_wrong_way(found) == wrong
    found.levels_move = False
    assert not ranks_a_level_the_wrong_way(found)


@pytest.mark.parametrize(("C", "told"), [(0.003, True), (1.0, False)])
def test_what_is_covered_where_nearly_all_rows_are_support_vectors(C, told):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    data["y"] = rng.random(200) < 1.0 / (1.0 + np.exp(-1.5 * data["a"] + data["b"]))
    fit = svm("y ~ a + b", data, kernel="linear", C=C)
    assert fit.support_share == np.mean(fit.alpha > 0) and (fit.support_share >= 0.75) == told
    for found in (fit.summary(), fit.loo(), fit.kfold(5)):
        text = " ".join(str(found).split())
        assert ("three in four rows or more were support vectors" in text) == told
        assert ("with C = 1 in 0.80 to 0.96" in text) == (not told)


@pytest.mark.parametrize(
    ("C", "events", "told"),
    [(1.0, 0.5, "with C = 1"), (0.02, 0.5, "With C = 0.003"), (1.0, 0.1, "one event in eleven rows by up to")],
)
def test_of_auc_that_is_told_which_is_of_such_a_fit(C, events, told):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    data["y"] = (data["a"] + 0.4 * rng.normal(size=300)).rank(pct=True) > 1.0 - events
    text = " ".join(str(svm("y ~ a + b", data, C=C).loo()).split())
    text = text[text.index("AUC of pooled held-out values") : text.index("Calibrated probabilities")]
    for each in ("with C = 1", "With C = 0.003", "one event in eleven rows by up to"):
        assert (each in text) == (each == told)


@pytest.fixture(scope="module")
def loo():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "z"])
    data["y"] = data["x"] + rng.normal(size=60) > 0
    return svm("y ~ x + z", data).loo()


def test_rows_that_were_never_held_out_have_no_part_in_the_optimism(loo):
    never = np.arange(60) < 15
    assert replace(loo, optimism=4.0).without(never).optimism == pytest.approx(3.0)


def test_half_of_what_one_row_makes_moves_the_levels(loo):
    """Of n rows, without a row its level has (Σ_k n_k²/n² − 1)/(n − 1) less of the others than of all, in the mean."""
    totals = np.bincount(loo.codes, minlength=2).astype(float)
    for part, moves in ((0.2, False), (0.45, False), (0.55, True), (0.9, True)):
        seen = np.tile(totals, (60, 1))
        seen[np.arange(60), loo.codes] -= part
        assert replace(loo, seen=seen).levels_move == moves


def of_shares(loo, first, total=60, rsquared=0.5):
    """Evidence of so many rows of the first level of two, which its own fit said nothing else of."""
    held = replace(loo, codes=(np.arange(60) >= first).astype(int))
    return " ".join(held_out_remarks(held))


def test_from_how_few_events_on_rare_and_uneven_levels_are_told(loo):
    """0.15 of the rows or fewer are rare; 0.3 or fewer uneven; R² below 0.1 a weak signal."""
    strong = replace(loo, log_likelihoods=np.full(60, -0.05))
    for events, rare, uneven in ((8, True, False), (9, False, True), (17, False, True), (18, False, False)):
        told = of_shares(strong, events)
        assert ("one row in eleven" in told) == rare and ("evidence-weak)" in told.split("AUC of pooled")[0]) == uneven


@pytest.mark.parametrize(("apart", "told"), [(20.0, True), (0.0, False)])
def test_a_level_that_is_told_from_the_rest_has_no_calibration_line(apart, told):
    rng = np.random.default_rng(4)
    level = np.repeat(["a", "b", "c"], 30)
    x = rng.normal(size=90) + np.where(level == "a", apart, 0.0) + (level == "b")
    held_out = svm("y ~ x + z", pd.DataFrame({"x": x, "z": rng.normal(size=90), "y": level})).loo()
    assert list(np.isnan(held_out.calibration_slope)) == [told, False, False]
    assert ("There are none for a level" in " ".join(str(held_out.summary()).split())) == told


@pytest.mark.parametrize(
    ("slope", "told"),
    [
        (0.75, "near that by construction"),
        (1.25, "near that by construction"),
        (0.74, "bring them near that where there is much to be seen, and not with few events"),
        (1.26, "bring them near that where there is much to be seen, and not with few events"),
        (np.nan, "there are none where the probabilities are all the same"),
    ],
)
def test_which_slopes_are_near_one(slope, told):
    assert told in _of_line(SimpleNamespace(shape=SimpleNamespace(two=True), calibration_slope=slope))


@pytest.mark.parametrize(("rsquared", "weak"), [(0.09, True), (0.11, False)])
def test_up_to_which_rsquared_a_signal_is_weak(loo, rsquared, weak):
    held = replace(loo, log_likelihoods=np.full(60, -(1.0 - rsquared) * loo.null_score / 120.0))
    assert held.rsquared == pytest.approx(rsquared) and 18 <= loo.codes.sum() <= 42
    assert ("evidence-weak)" in held_out_remarks(held)[0]) == weak


@pytest.mark.parametrize(
    ("n", "alike", "told"), [(200, 99, True), (200, 100, False), (120, 89, True), (120, 90, False), (40, 30, False)]
)
def test_as_how_few_rows_uneven_weights_count_that_are_told(n, alike, told):
    """Fewer than 100, and than three in four of them."""
    weights = np.where(np.arange(n) < alike, 1.0, 1e-9)
    note = uneven_note(weights, Units(np.arange(n), n, False), "this")
    assert note == () if not told else f"{n} rows count as about {alike} of one weight" in note[0]
    assert uneven_note(weights, Units(np.arange(n), n, True), "this") == ()


def test_how_few_groups_are_told():
    def of(weights):
        return few_groups(Units(np.arange(len(weights)), len(weights), True), np.asarray(weights))

    assert of(np.ones(30)) == ""
    assert of(np.ones(29)).startswith(" With fewer than 30 groups")
    assert of(np.r_[np.ones(29), 1e-9]).startswith(" Their sizes differ, and they count as about 29 of one size")


def test_how_few_rows_of_a_level_are_told():
    assert few_rows("y", pd.Series([30.0, 50.0], index=["a", "b"])) == ""
    assert few_rows("y", pd.Series([50.0, 29.0], index=["a", "b"])).startswith("Only 29 rows have y = b: with fewer")
    assert few_rows("y", pd.Series([1.0, 50.0], index=["a", "b"])).startswith("Only 1 row has y = a:")


@pytest.mark.parametrize(("support", "told"), [(0.75, True), (0.74, False)])
def test_from_which_share_of_support_vectors_on_it_is_told(loo, support, told):
    text = " ".join(held_out_remarks(replace(loo, support=support)))
    assert ("three in four rows or more were support vectors" in text) == told


@pytest.mark.parametrize(("share", "told"), [(0.26, True), (0.24, False)])
def test_a_fourth_of_the_score_is_much_for_one_row(loo, share, told):
    losses = np.full(60, 20.0 * (1.0 - share) / share / 59.0)
    losses[17] = 20.0
    found = on_one_row(replace(loo, log_likelihoods=-losses / 2.0))
    assert (found is not None) == told
    if told:
        assert found.startswith(f"one row, 17, has 20 of {losses.sum():.4g}")


def test_of_two_rows_with_as_much_none_has_it_alone(loo):
    losses = np.full(60, 0.05)
    losses[[17, 20]] = 8.7
    assert on_one_row(replace(loo, log_likelihoods=-losses / 2.0)) is None
    losses[20] = 0.05
    assert on_one_row(replace(loo, log_likelihoods=-losses / 2.0)).startswith("one row, 17,")


def test_of_several_fits_one_that_is_corrected_is_enough_to_say_how():
    assert chosen_notes([None, None]) == ()
    assert "by how much is not known here" in chosen_notes([None, np.nan])[0]
    assert "R-squared corrected for tuning is of rows that had no part in" in chosen_notes([np.nan, 2.0])[0]
