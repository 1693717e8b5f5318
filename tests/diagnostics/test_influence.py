"""What the influence of rows shows where there is hardly any."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from levels import sample
from scipy.stats import chi2

from svmstat import datasets, svm
from svmstat.errors import ArgumentError
from svmstat.resampling.influences import MEASURES, Influences, Largest


def test_changes_that_are_rounding_are_none():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 2, (200, 3)), columns=["u", "v", "w"])
    data["y"] = rng.random(200) < 0.3 + 0.4 * data["u"]
    influence = svm("y ~ u + v + w", data, kernel="linear").get_influence()
    assert (influence.rms_change == 0.0).all() and "rms change, " not in str(influence)
    drawn = influence.envelope(99, rng=1)
    assert drawn.critical_value("rms_change") == 0.0 or drawn.critical_value("rms_change") > 1e-6
    ax = influence.plot()
    assert ax.get_xlim()[1] > 1e-6


def test_what_the_tolerance_leaves_of_changes_has_no_largest_row_and_no_line():
    """Of a linear machine of one factor each refit has the same f, but for what its certificate leaves."""
    data = datasets.load("mackerel").iloc[::4].reset_index(drop=True)
    found = svm("egg_count > 0 ~ lon + lat + b_depth + country", data, kernel="linear").get_influence()
    assert (found.rms_change == 0.0).all()
    assert found.envelope(99, rng=1).critical_value("rms_change") == 0.0
    (line,) = (each.split() for each in str(found.summary()).splitlines() if each.startswith("rms change"))
    assert line[2:] == ["0.0000", "-", "0.0000", "0"]


def test_rows_of_weight_zero_are_not_beyond_an_envelope():
    """They are predicted, badly here, but count nowhere."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x", "z"])
    wrong = data["x"].nlargest(6).index
    data["y"] = (rng.random(120) < 1.0 / (1.0 + np.exp(-3.0 * data["x"]))).where(~data.index.isin(wrong), False)
    weights = np.where(data.index.isin(wrong), 0.0, 1.0)
    found = svm("y ~ x + z", data, weights=weights, kernel="linear", C=1).get_influence()
    envelope = found.envelope(rng=1)
    assert (found.outlyingness[wrong] > envelope.critical_value("outlyingness")).any()
    assert not found.beyond().loc[wrong].any(axis=None)
    drawn = found.plot(), found.plot_index(what="outlyingness")
    for ax in drawn:
        assert not {text.get_text() for text in ax.texts} & set(map(str, wrong))
        assert "without a value" not in ax.get_title()
    stems = [segment for each in drawn[1].collections for segment in getattr(each, "get_segments", list)()]
    assert sorted(x for (x, _), _ in stems) == [k + 1 for k in range(120) if weights[k]]


@pytest.mark.parametrize("level", [2, 0, -1, np.nan, "a", True])
def test_levels_that_are_none(level):
    data = pd.DataFrame({"x": np.arange(40.0), "y": np.arange(40) % 3 > 0})
    found = svm("y ~ x", data).get_influence()
    envelope = found.envelope(rng=1)
    for call in (found.summary, found.beyond, partial(envelope.critical_value, "own")):
        with pytest.raises(ArgumentError, match=r"^level="):
            call(level)
    with pytest.raises(ArgumentError, match=r"^what='deltas' is not allowed.* did you mean 'delta'"):
        envelope.critical_value("deltas")
    assert envelope.critical_value("delta") == envelope.critical_value("delta_deviance")


@pytest.fixture(scope="module")
def plain():
    return svm("y ~ x + z", sample(2, 30, seed=5)).get_influence()


def measured(influence, **given):
    """The same result with other measures: rising with the rows, of which own misfit is nearly all, unless given."""
    n = len(influence.measures.own)
    rising = np.linspace(1.0, 2.0, n)
    found = {"own": rising, "others": np.full(n, 0.1), "outlyingness": rising, "rms_change": rising} | given
    if "delta_deviance" not in found:
        found["delta_deviance"] = found["own"] + found["others"]
    return replace(influence, measures=Influences(**{name: np.asarray(found[name], float) for name in MEASURES}))


def with_maxima(influence, factors):
    """With an envelope of maxima k = 1, …, 99 times a factor by measure, which nothing raises."""
    maxima = np.outer(np.arange(1.0, 100.0), factors)
    influence.keep_envelope(Largest(maxima, maxima[:49] * 100.0))
    return influence


def test_the_reference_of_a_deletion_deviance(plain):
    delta = np.linspace(-3.0, 8.0, 30)
    found = measured(plain, delta_deviance=delta)
    np.testing.assert_allclose(found.summary_frame()["pvalue_chi2"], chi2.sf(np.maximum(delta, 0.0), 1))
    assert found.critical_value(0.9) == pytest.approx(chi2.ppf(0.9, 1))


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_level_is_that_of_all_that_is_said_of_an_envelope(plain, level):
    """Of 99 maxima the point of level q is the 100 q-th."""
    values, factors = np.arange(30) * 3.0, {name: 1.0 + k for k, name in enumerate(MEASURES)}
    found = with_maxima(measured(plain, **{name: factors[name] * values for name in MEASURES}), list(factors.values()))
    point = 100.0 * level
    for name, factor in factors.items():
        np.testing.assert_array_equal(found.beyond(level)[name], factor * values > factor * point)
    table = found.summary(level).parts[2]
    for cells, factor in zip(table.cells, factors.values(), strict=True):
        assert cells == (87.0 * factor, "29", point * factor, int((values > point).sum()))
    for ax, at in (
        (found.plot_index(level, what="own"), factors["own"] * point),
        (found.plot(level), factors["outlyingness"] * point),
    ):
        (line,) = [each for each in ax.lines if len(set(each.get_ydata())) == 1 and each.get_ydata()[0] == at]
        assert line.get_linestyle() == "--"
        plt.close(ax.figure)
    ax = found.plot(level)
    assert [set(each.get_xdata()) for each in ax.lines].count({factors["rms_change"] * point}) == 1
    plt.close(ax.figure)


@pytest.mark.parametrize("good", [0, 1, 13])
def test_where_replicates_fail_there_is_no_envelope_and_no_row_above_one(plain, good):
    found = with_maxima(measured(plain), [10.0] * 5)
    failed = np.full((99, 5), np.nan)
    failed[:good] = 1.0
    found.keep_envelope(Largest(failed, failed[:49]))
    text = " ".join(str(found).split())
    assert "nan" not in text and "inf " not in text
    are = "is 1" if good == 1 else f"are {good}"
    assert f"There is no envelope of 95 %: it takes 19 replicates that do not fail, and there {are}." in text
    assert [cells[2:] for cells in found.summary().parts[2].cells] == [(None, None)] * 5


def test_deletion_deviances_of_which_the_others_lose_are_said_to_be_less(plain):
    found = measured(plain, own=np.linspace(1.0, 2.0, 30), others=-np.linspace(0.1, 1.9, 30))
    text = " ".join(str(found).split())
    assert "It is less than own misfit here: the others lose without these rows" in text
    assert "more than own misfit" not in text


def test_where_there_are_lines_only_rows_beyond_them_are_labelled(plain):
    ax = with_maxima(measured(plain), [10.0] * 5).plot()
    assert {text.get_text() for text in ax.texts} == {"95 % envelope"}
    plt.close(ax.figure)


def test_where_there_are_no_lines_the_five_largest_are_labelled(plain):
    found = replace(measured(plain, own=np.arange(30.0), outlyingness=np.arange(30.0)), no_copies="…")
    stems = found.plot_index(what="own")
    assert {text.get_text() for text in stems.texts} == {"25", "26", "27", "28", "29"}
    drawn = [segment for each in stems.collections for segment in getattr(each, "get_segments", list)()]
    assert sorted(x for (x, _), _ in drawn) == list(range(1, 31))
    points = found.plot()
    assert {"27", "28", "29"} <= {text.get_text() for text in points.texts} <= {"25", "26", "27", "28", "29"}
    for ax in (stems, points):
        plt.close(ax.figure)


def test_the_ten_largest_are_listed_and_the_largest_is_named(plain):
    own = np.random.default_rng(0).permutation(30) + 1.0
    found = measured(plain, own=own)
    table = found.summary().parts[1]
    assert table.index == tuple(map(str, np.argsort(-own)[:10]))
    assert repr(found).endswith(f"largest {own.max() + 0.1:.4g} in row {own.argmax()}>")


def test_what_does_not_count_or_is_not_known_is_not_listed():
    data = sample(2, 30, seed=5).assign(w=np.where(np.arange(30) < 28, 1.0, 0.0))
    influence = svm("y ~ x + z", data, weights="w").get_influence()
    own = np.where(np.arange(30) == 27, np.nan, np.arange(30.0))
    block, table = measured(influence, own=own).summary().parts
    assert table.index == tuple(str(k) for k in range(26, 16, -1))
    assert block.left[0].value == 27


@pytest.mark.parametrize(("noise", "told"), [(0.6, True), (0.9, False)])
def test_from_which_correlation_on_a_deletion_deviance_is_own_misfit(plain, noise, told):
    own, others = np.arange(30.0), np.tile([1.0, -1.0], 15) * 8.0 * noise + 1e-9
    found = measured(plain, own=own, others=others)
    correlation = np.corrcoef(own, own + others)[0, 1]
    assert (correlation > 0.8) == told and 0.7 < correlation < 0.95
    text = " ".join(str(found).split())
    assert ("It is nearly all own misfit" in text) == told and f"own: {correlation:.4f}" in text
    assert ("It is more than own misfit here: a large one may be what the others gain" in text) == (not told)


def test_what_is_mostly_own_misfit_is_not_nearly_all(plain):
    own = np.arange(30.0)
    for share, told in ((0.2, "nearly all own misfit"), (0.4, "mostly own misfit")):
        text = " ".join(str(measured(plain, own=own, others=share * own + 1e-9)).split())
        assert f"It is {told}: a large one says that it was badly predicted" in text


def test_one_row_without_which_the_others_gain_does_not_decide(plain):
    own, others = np.arange(30.0), np.where(np.arange(30) == 29, 0.5, -0.7 * np.arange(30.0))
    text = " ".join(str(measured(plain, own=own, others=others)).split())
    assert "It is less than own misfit here" in text and "more than own misfit" not in text


def test_what_the_others_lose_of_each_is_not_nearly_all_own(plain):
    own = np.arange(30.0)
    text = " ".join(str(measured(plain, own=own, others=-0.7 * own + 1e-9)).split())
    assert "own: 1.0000" in text and "nearly all own misfit" not in text
    assert "It is less than own misfit here" in text


def test_rows_of_which_the_others_gain_more_are_named(plain):
    own, others = np.arange(1.0, 31.0), np.full(30, 0.1)
    others[27] = 29.0
    text = " ".join(str(measured(plain, own=own, others=others)).split())
    assert "own misfit (not in row 27, where the others gain more)" in text
    others[28] = 30.0
    text = " ".join(str(measured(plain, own=own, others=others)).split())
    assert "(not in rows 28, 27, where the others gain more)" in text


@pytest.mark.parametrize("weight_type", ["frequency", "probability"])
def test_the_correlation_with_own_misfit_is_over_copies(weight_type):
    data = sample(2, 30, seed=5).assign(w=np.resize([1.0, 2.0, 5.0], 30))
    influence = svm("y ~ x + z", data, weights="w", weight_type=weight_type).get_influence()
    rng = np.random.default_rng(1)
    found = measured(influence, own=rng.normal(size=30), others=rng.normal(size=30))
    copies = data["w"].astype(int) if weight_type == "frequency" else 1
    expected = np.corrcoef(np.repeat(found.measures.own, copies), np.repeat(found.measures.delta_deviance, copies))
    assert found.summary().parts[0].right[0].value == pytest.approx(expected[0, 1])


def test_of_groups_nothing_is_said_of_the_weight_of_a_row():
    data = sample(2, 30, seed=5).assign(w=np.linspace(0.5, 2.0, 30), g=np.arange(30) // 3)
    text = " ".join(str(svm("y ~ x + z", data, weights="w", groups="g").get_influence()).split())
    assert "Influence of whole groups" in text and "Of a row of weight w" not in text


def test_rows_of_one_delta_d_are_in_the_order_of_the_rows_and_counted():
    """Which of them the table has does not hang on the names of levels, by which sums are made."""
    rng = np.random.default_rng(9)
    data = pd.DataFrame({"a": rng.integers(0, 4, 90), "b": rng.integers(0, 3, 90), "g": rng.choice(list("uvw"), 90)})
    data["t"] = rng.random(90) < 0.4
    data["y"] = np.where(0.8 * data["a"] + data["t"] + 1.2 * rng.normal(size=90) > 1.8, "bb", "aa")
    renamed = data.replace({"g": {"u": "n", "v": "m", "w": "l"}})
    one, other = (svm("y ~ a + b + g + t", each, kernel="linear").get_influence() for each in (data, renamed))
    listed = one.summary().parts[1].index
    assert listed == other.summary().parts[1].index
    shown = one.summary_frame()["delta_deviance"].to_numpy()
    places = [int(label) for label in listed]
    equal = [(k, m) for k, m in pairwise(places) if np.isclose(shown[k], shown[m], rtol=1e-9)]
    assert equal and all(k < m for k, m in equal)
    more = np.isclose(shown, shown[places[-1]], rtol=1e-9).sum() - np.isclose(shown[places], shown[places[-1]]).sum()
    told = f"{more} more row{'s' if more > 1 else ''} {'have' if more > 1 else 'has'} the delta D of the last one."
    assert (told in " ".join(str(one).split())) == (more > 0)


@pytest.mark.parametrize("names", ["abc", "zyx"])
def test_rows_that_tie_with_one_of_the_table_are_not_named_beside_it(names):
    """Which of equal rows has the largest value by a last bit hangs on the order of rows and levels."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"f": rng.choice(list("abc"), 30), "y": rng.choice(["p", "q", "r"], 30)})
    influence = svm("y ~ f", data.assign(f=data["f"].map(dict(zip("abc", names, strict=True))))).get_influence()
    assert "-2 log pi" not in influence.notes[-1]


def test_rows_of_groups_that_are_left_out_one_by_one_say_what_the_envelope_takes_for_granted():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=60), "site": np.repeat(np.arange(15), 4)})
    data["y"] = data["x"] + rng.logistic(size=60) > 0
    told = "Labels are drawn independently of each other, also within groups"
    found = svm("y ~ x", data, groups="site").get_influence(by="row")
    assert told not in " ".join(str(found).split())
    found.envelope(B=99, rng=1)
    assert told in " ".join(str(found).split())
    plain = svm("y ~ x", data).get_influence()
    plain.envelope(B=99, rng=1)
    assert told not in " ".join(str(plain).split())
