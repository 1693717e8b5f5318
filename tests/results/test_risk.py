"""What decisions cost, in the sample and on new rows, and the shift of f that costs least on a validation sample."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmstat import svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError
from svmstat.objective.measures import best_shift, mean_cost

TOL_ROUNDING = 1e-12  # weighted means of the same numbers in another order

COSTS = {"fp": 1.0, "fn": 4.0}


def sample(n, seed, flip=1.0):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    y = np.where(x + z**2 + flip * rng.normal(size=n) > 1.5, "sick", "well")
    return pd.DataFrame({"x": x, "z": z, "y": y, "w": rng.choice([0.0, 0.5, 1.0, 3.0], n)})


TRAIN, NEW = sample(80, 1), sample(50, 2).set_axis([f"v{k}" for k in range(50)])
FIT = svm("y ~ x + z", TRAIN, event="sick", costs=COSTS)
PLAIN = svm("y ~ x + z", TRAIN, event="sick")


def by_hand(f, sick, weights, costs=COSTS):
    """(N_fn c_fn + N_fp c_fp) / n, row by row."""
    total = 0.0
    for value, is_sick, weight in zip(f, sick, weights, strict=True):
        if is_sick and not value > 0:
            total += weight * costs["fn"]
        if value > 0 and not is_sick:
            total += weight * costs["fp"]
    return total / sum(weights)


# -- risk --------------------------------------------------------------------------------------------------------------


def test_of_the_rows_of_the_fit():
    sick = TRAIN["y"] == "sick"
    assert FIT.risk() == pytest.approx(by_hand(FIT.decision_values, sick, np.ones(80)), rel=TOL_ROUNDING)
    assert FIT.risk(TRAIN) == pytest.approx(FIT.risk(), rel=TOL_ROUNDING)
    weighted = svm("y ~ x + z", TRAIN, event="sick", costs=COSTS, weights="w")
    expected = by_hand(weighted.decision_values, sick, TRAIN["w"])
    assert weighted.risk() == pytest.approx(expected, rel=TOL_ROUNDING)
    assert weighted.risk(TRAIN, weights="w") == pytest.approx(expected, rel=TOL_ROUNDING)


def test_of_new_rows():
    f, sick = FIT.decision_function(NEW), NEW["y"] == "sick"
    assert FIT.risk(NEW) == pytest.approx(by_hand(f, sick, np.ones(50)), rel=TOL_ROUNDING)
    expected = by_hand(f, sick, NEW["w"])
    for weights in ("w", NEW["w"], NEW["w"].to_numpy(), list(NEW["w"])):
        assert FIT.risk(NEW, weights=weights) == pytest.approx(expected, rel=TOL_ROUNDING)


def test_weights_are_repeats():
    counts = np.resize([0, 1, 2, 3], 50)
    assert FIT.risk(NEW, weights=counts) == pytest.approx(FIT.risk(NEW.loc[NEW.index.repeat(counts)]), rel=1e-12)


def test_without_costs_it_is_the_error_rate():
    assert PLAIN.risk() == pytest.approx(PLAIN.apparent_error, rel=TOL_ROUNDING)
    assert PLAIN.risk(NEW) == pytest.approx((PLAIN.predict(NEW) != NEW["y"]).mean(), rel=TOL_ROUNDING)
    priors = svm("y ~ x + z", TRAIN, event="sick", priors={"sick": 0.1, "well": 0.9})
    assert priors.risk(NEW) == pytest.approx((priors.predict(NEW) != NEW["y"]).mean(), rel=TOL_ROUNDING)


def test_a_cost_that_is_not_named_is_one():
    one = svm("y ~ x + z", TRAIN, event="sick", costs={"fn": 4})
    assert one.risk(NEW) == FIT.risk(NEW)


def test_the_other_level_as_the_event():
    swapped = svm("y ~ x + z", TRAIN, event="well", costs={"fp": COSTS["fn"], "fn": COSTS["fp"]})
    assert swapped.risk(NEW) == pytest.approx(FIT.risk(NEW), rel=TOL_ROUNDING)


def test_rows_with_a_missing_response_or_predictor_do_not_count():
    gaps = NEW.copy()
    gaps.loc["v3", "x"] = np.nan
    gaps.loc["v7", "y"] = None
    gaps.loc["v9", ["z", "y"]] = [np.nan, None]
    gaps.loc["v7", "w"] = np.nan  # the weight of a row that does not count may be anything
    kept = NEW.drop(index=["v3", "v7", "v9"])
    assert FIT.risk(gaps) == FIT.risk(kept)
    assert FIT.risk(gaps, weights="w") == FIT.risk(kept, weights="w")
    one, two = FIT.tune_bias(gaps), FIT.tune_bias(kept)
    assert (one.shift, one.validation_risk) == (two.shift, two.validation_risk)


@pytest.mark.parametrize(
    ("response", "new"),
    [
        ("hurt > 0", lambda y: np.where(y == "sick", 2.5, 0.0)),
        ("hurt", lambda y: y == "sick"),
        ("hurt", lambda y: pd.Series(y == "sick", dtype="boolean")),
        ("hurt", lambda y: np.where(y == "sick", 1, -1)),
        ("hurt", lambda y: np.where(y == "sick", 1.0, -1.0)),
        ("hurt", lambda y: pd.Categorical(np.where(y == "sick", "yes", "no"))),
        ("hurt == 'yes'", lambda y: np.where(y == "sick", "yes", "no")),
    ],
)
def test_responses_of_every_kind(response, new):
    train, other = (data.reset_index(drop=True).drop(columns="y") for data in (TRAIN, NEW))
    train["hurt"], other["hurt"] = new(TRAIN["y"].to_numpy()), new(NEW["y"].to_numpy())
    fit = svm(f"{response} ~ x + z", train, costs=COSTS)
    assert fit.risk(other) == pytest.approx(FIT.risk(NEW), rel=TOL_ROUNDING)


def test_a_response_of_one_level_only():
    well = NEW[NEW["y"] == "well"]
    assert FIT.risk(well) == pytest.approx((FIT.predict(well) == "sick").mean(), rel=TOL_ROUNDING)


REFUSED = [
    (NEW.replace({"y": {"sick": "ill"}}), {}, DataError, "newdata has a new level of the response 'y' in row"),
    (NEW.assign(y=None), {}, DataError, "newdata has no row with the response and all predictors."),
    (NEW.assign(y=np.nan), {}, DataError, "newdata has no row with the response and all predictors."),
    (NEW.assign(x=np.nan), {}, DataError, "newdata has no row with the response and all predictors."),
    (NEW.drop(columns="y"), {}, DataError, "newdata has no column 'y'"),
    (NEW.drop(columns="z"), {}, DataError, "newdata has no column 'z'"),
    (NEW.assign(y=1.0), {}, DataError, "newdata column 'y' holds number"),
    (NEW.to_dict(), {}, ArgumentTypeError, " is of type dict: it must be a pandas DataFrame, one of polars, "),
    (NEW, {"weights": "v"}, ArgumentError, "weights='v' is not allowed: it must be the name of a column"),
    (NEW, {"weights": np.ones(3)}, ArgumentError, "weights has 3 values for 50 rows of data."),
    (NEW, {"weights": -NEW["x"].abs()}, ArgumentError, "they must be finite numbers >= 0."),
    (NEW, {"weights": np.zeros(50)}, ArgumentError, "weights are all zero"),
]


@pytest.mark.parametrize("method", ["risk", "tune_bias"])
@pytest.mark.parametrize(("new", "options", "error", "message"), REFUSED, ids=[str(case[3])[:40] for case in REFUSED])
def test_new_rows_that_are_refused(method, new, options, error, message):
    with pytest.raises(error) as caught:
        getattr(FIT, method)(new, **options)
    assert message in str(caught.value)


def test_a_shift_needs_both_levels():
    for new, weights in ((NEW[NEW["y"] == "sick"], None), (NEW, (NEW["y"] == "well").astype(float))):
        with pytest.raises(DataError, match="validation must have rows of both levels"):
            FIT.tune_bias(new, weights=weights)


def test_a_third_level_that_the_subset_left_out_is_new():
    data = TRAIN.assign(y=np.where(TRAIN["x"] > 1.5, "dead", TRAIN["y"]))
    fit = svm("y ~ x + z", data, subset="y != 'dead'", costs=COSTS)
    with pytest.raises(DataError, match="new level of the response 'y'"):
        fit.risk(data)


def test_weights_without_new_rows_are_not_swallowed():
    """Either they count or they are refused."""
    try:
        found = FIT.risk(weights=TRAIN["w"])
    except (ArgumentError, ArgumentTypeError):
        return
    assert found == pytest.approx(by_hand(FIT.decision_values, TRAIN["y"] == "sick", TRAIN["w"]), rel=TOL_ROUNDING)


@given(st.data())
def test_mean_cost_by_hand(data):
    n = data.draw(st.integers(1, 12))
    predicted, observed = (np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))) for _ in range(2))
    weights = np.array(data.draw(st.lists(st.floats(0.01, 10), min_size=n, max_size=n)))
    fp, fn = data.draw(st.floats(0.01, 100)), data.draw(st.floats(0.01, 100))
    expected = by_hand(np.where(predicted, 1.0, -1.0), observed, weights, {"fp": fp, "fn": fn})
    assert mean_cost(predicted, observed, weights, fp, fn) == pytest.approx(expected, rel=TOL_ROUNDING)


# -- the shift ---------------------------------------------------------------------------------------------------------


def every_rule(f, sick, weights, costs):
    """The interval of shifts of every rule f + shift > 0, and what it costs: from all events to none."""
    values = np.unique(f)
    ends = np.concatenate([[-np.inf], values, [np.inf]])  # the rule f > t, t in [ends[k], ends[k + 1])
    cost = [by_hand(f - t, sick, weights, costs) for t in (values[0] - 1.0, *values)]
    return -ends[1:], -ends[:-1], np.array(cost)


def check_shift(f, sick, weights, costs):
    """The shift is in the interval of a best rule, in the one of zero if that is among them, else in its middle."""
    shift, risk = best_shift(f, sick, weights, costs["fp"], costs["fn"])
    low, high, cost = every_rule(f, sick, weights, costs)
    best = cost <= cost.min() + 1e-9 * (costs["fp"] + costs["fn"])
    assert risk == pytest.approx(cost.min(), abs=1e-9)
    assert mean_cost(f + shift > 0, sick, weights, costs["fp"], costs["fn"]) == pytest.approx(risk, abs=1e-9)
    if (best & (low < 0) & (high >= 0)).any():
        assert shift == 0.0
        return
    middle = np.where(np.isinf(high), low + 1.0, np.where(np.isinf(low), high - 1.0, 0.5 * (low + high)))
    assert abs(shift) == pytest.approx(np.abs(middle[best]).min(), rel=1e-9)
    assert np.isclose(middle[best], shift, rtol=1e-9, atol=0).any()


costs_drawn = st.fixed_dictionaries({"fp": st.floats(0.01, 100), "fn": st.floats(0.01, 100)})


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 14), costs=costs_drawn, weighted=st.booleans())
def test_the_best_of_all_cuts(seed, n, costs, weighted):
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 0.5, 1.0, 4.0], n) if weighted else np.ones(n)
    weights[0] = 1.0
    check_shift(rng.normal(size=n), rng.random(n) < 0.5, weights, costs)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 14), equal=st.booleans())
def test_the_best_of_all_cuts_among_ties(seed, n, equal):
    """Few values of f, zero among them, and costs with which many rules cost the same."""
    rng = np.random.default_rng(seed)
    f = rng.integers(-2, 3, n) / 2.0
    check_shift(f, rng.random(n) < 0.5, np.ones(n), {"fp": 1.0, "fn": 1.0 if equal else 2.0})


@pytest.mark.parametrize(
    ("f", "sick", "shift", "risk"),
    [
        ([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1], 0.0, 0.0),  # nothing to gain
        ([-2.0, 1.0, 2.0, 3.0], [0, 0, 1, 1], -1.5, 0.0),
        ([-3.0, -2.0, -1.0], [0, 1, 1], 2.5, 0.0),
        ([1.0, 2.0], [0, 0], -3.0, 0.0),  # no event: above all of them
        ([-1.0, -2.0], [1, 1], 3.0, 0.0),
        ([1.0, 2.0], [1, 1], 0.0, 0.0),
        ([-1.0, -2.0], [0, 0], 0.0, 0.0),
        ([0.0, 1.0], [0, 1], 0.0, 0.0),  # f = 0 is no event
        ([0.0, -1.0], [1, 0], 0.5, 0.0),
        ([1.0, 1.0, 1.0], [0, 1, 1], 0.0, 1 / 3),
    ],
)
def test_shifts_by_hand(f, sick, shift, risk):
    found = best_shift(np.array(f), np.array(sick, bool), np.ones(len(f)), 1.0, 1.0)
    assert found == pytest.approx((shift, risk), rel=TOL_ROUNDING)


@pytest.mark.parametrize("low", [1.0, 1.0 + 2**-52, 3.0 - 2**-51, -1.0 - 2**-51, 0.5 + 3 * 2**-53])
def test_a_cut_between_neighbouring_numbers(low):
    """As rounding makes them of the free support vectors, where all |f| are 1: there is no number in the middle."""
    f, sick = np.array([low, np.nextafter(low, np.inf)]), np.array([False, True])
    shift, risk = best_shift(f, sick, np.ones(2), 1.0, 1.0)
    assert mean_cost(f + shift > 0, sick, np.ones(2), 1.0, 1.0) == risk == 0.0


def test_inputs_are_not_changed():
    f, sick, weights = np.array([2.0, -1.0, 0.5]), np.array([False, True, True]), np.array([1.0, 2.0, 3.0])
    before = f.copy(), sick.copy(), weights.copy()
    best_shift(f, sick, weights, 1.0, 3.0)
    for a, b in zip(before, (f, sick, weights), strict=True):
        np.testing.assert_array_equal(a, b)


# -- the tuned rule ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("costs", [COSTS, {"fp": 1, "fn": 1}, {"fp": 20, "fn": 1}])
@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_no_cut_of_the_validation_sample_is_better(loss, costs, weights):
    fit = svm("y ~ x + z", TRAIN, event="sick", costs=costs, loss=loss)
    tuned = fit.tune_bias(NEW, weights=weights)
    w = np.ones(50) if weights is None else NEW[weights].to_numpy()
    _, _, cost = every_rule(fit.decision_function(NEW).to_numpy(), NEW["y"] == "sick", w, costs)
    assert tuned.validation_risk == pytest.approx(cost.min(), rel=TOL_ROUNDING)
    assert tuned.risk(NEW, weights=weights) == pytest.approx(tuned.validation_risk, rel=TOL_ROUNDING)
    assert tuned.validation_risk <= fit.risk(NEW, weights=weights) + TOL_ROUNDING
    assert tuned.intercept == fit.intercept + tuned.shift


def test_predictions_of_the_tuned_rule():
    tuned = PLAIN.tune_bias(NEW)
    gaps = NEW.copy()
    gaps.loc["v3", "x"] = np.nan
    found, f = tuned.predict(gaps), PLAIN.decision_function(gaps)
    expected = (f + tuned.shift > 0).map({True: "sick", False: "well"})
    pd.testing.assert_series_equal(found.drop("v3"), expected.drop("v3"), check_names=False, check_dtype=False)
    assert pd.isna(found["v3"]) and found.name == "y"
    assert tuned.predict().equals(PLAIN.response.labels((PLAIN.decision_values + tuned.shift <= 0).astype(int)))
    sick = NEW["y"] == "sick"
    expected_risk = by_hand(f.drop("v3") + tuned.shift, sick.drop("v3"), np.ones(49), {"fp": 1, "fn": 1})
    assert tuned.risk(gaps) == pytest.approx(expected_risk, rel=TOL_ROUNDING)
    train = by_hand(PLAIN.decision_values + tuned.shift, TRAIN["y"] == "sick", np.ones(80), {"fp": 1, "fn": 1})
    assert tuned.risk() == pytest.approx(train, rel=TOL_ROUNDING)


def test_a_shift_of_zero_is_the_fit():
    """Where the rule is right already; also in what it prints."""
    easy = NEW.assign(y=PLAIN.predict(NEW))
    tuned = PLAIN.tune_bias(easy)
    assert (tuned.shift, tuned.validation_risk) == (0.0, 0.0)
    assert tuned.predict(NEW).equals(PLAIN.predict(NEW))
    assert repr(tuned) == "<BiasTuned: f +0 > 0, validation risk 0>"


def test_a_shift_is_not_chosen_without_a_validation_sample():
    with pytest.raises((ArgumentError, ArgumentTypeError, DataError)):
        FIT.tune_bias(None)


def test_a_level_of_rows_that_do_not_count_is_not_new():
    """Weight zero, or a predictor that is missing, is the row absent."""
    rare = NEW.assign(v=1.0)
    rare.loc[["v3", "v7"], "y"] = "dead"
    absent, gap = (
        rare.assign(v=np.where(rare["y"] == "dead", 0.0, 1.0)),
        rare.assign(x=rare["x"].where(rare["y"] != "dead")),
    )
    kept = rare[rare["y"] != "dead"]
    for method in ("risk", "error_rates"):
        told = np.asarray(getattr(FIT, method)(kept))
        np.testing.assert_array_equal(getattr(FIT, method)(absent, weights="v"), told)
        np.testing.assert_array_equal(getattr(FIT, method)(gap), told)
    assert FIT.tune_bias(absent, weights="v").shift == FIT.tune_bias(kept).shift
    with pytest.raises(DataError, match="new level of the response 'y' in row 'v3'"):
        FIT.risk(rare, weights="v")
    three = svm("y ~ x + z", TRAIN.assign(y=np.where(TRAIN["x"] > 0.5, "far", TRAIN["y"])))
    assert three.error(absent, weights="v") == three.error(kept)


def test_weights_that_are_zero_where_rows_count_are_told_as_such():
    new = NEW.head(3).assign(y=[NEW["y"].iloc[0], None, NEW["y"].iloc[2]])
    with pytest.raises(ArgumentError, match="weights are all zero in the rows that have the response and all predict"):
        FIT.risk(new, weights=[0, 1, 0])
