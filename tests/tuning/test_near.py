"""Which points are as good as the best, as far as their rows can tell; what is printed and drawn of it."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from levels import quiet, repeated, sample

from svmstat import svm, tune
from svmstat.calibration import fit_maps_of
from svmstat.diagnostics.span import machine_span
from svmstat.errors import DataError
from svmstat.machine import vote
from svmstat.tuning.scores import within_se

matplotlib.use("Agg")

TOL = 1e-6  # certified fits of the same problem, relative
GRID = {"C": [0.5, 2.0, 8.0], "gamma": [0.1, 0.5, 2.0]}


@pytest.fixture(params=[2, 3], ids=["two", "three"])
def K(request):
    """Six levels have nothing here that three have not, and take their time."""
    return request.param


@pytest.fixture
def data(K):
    return sample(K, 72, seed=1)


def of_own_level(p, y):
    """The probability of the level of each row; a Series is that of the last level."""
    if p.ndim == 1:
        return np.where(y == y.max(), p, 1 - p)
    return np.array([p.loc[i, level] for i, level in y.items()])


def by_definition(data, score, row, best, **options):
    """The standard error of the difference of two scores, from leave-one-out by two fits."""
    w = data[options["weights"]].to_numpy(float) if "weights" in options else np.ones(len(data))
    one, two = (svm("y ~ x + z", data, C=point["C"], gamma=point["gamma"], **options).loo() for point in (row, best))
    n = w.sum()
    if score == "deviance":
        own = [of_own_level(each.prob, data["y"]) for each in (one, two)]
        difference, scale = np.log(own[0]) - np.log(own[1]), 2.0 * np.sqrt(n)
    else:
        difference, scale = one.error.astype(float) - two.error, 1.0 / np.sqrt(n)
    centred = difference - np.average(difference, weights=w)
    return scale * np.sqrt(w @ centred**2 / (n - 1))


@pytest.mark.parametrize(("score", "options"), [("deviance", {}), ("error", {}), ("deviance", {"weights": "w"})])
def test_the_paired_standard_error(data, score, options):
    table = quiet("y ~ x + z", data, score=score, **GRID, **options)
    best, table = table.best_row, table.table
    for _, row in table.iloc[::4].iterrows():
        expected = by_definition(data, score, row, best, **options)
        assert row["delta_se"] == pytest.approx(expected, rel=TOL, abs=1e-9)
    np.testing.assert_array_equal(table["within_se"], table["score"] <= best["score"] + (1 + 1e-7) * table["delta_se"])
    assert table.loc[best.name, "delta_se"] == 0 and table.loc[best.name, "within_se"]
    assert table["within_se"].dtype == bool


@pytest.mark.parametrize("criterion", ["loo", "kfold", "span"])
def test_a_weight_of_two_is_the_row_twice(data, criterion):
    weighted = quiet("y ~ x + z", data, weights="w", criterion=criterion, rng=1, **GRID).table
    copied = quiet("y ~ x + z", repeated(data), criterion=criterion, rng=1, **GRID).table
    pd.testing.assert_frame_equal(weighted, copied, rtol=1e-5)


def test_points_that_lose_their_rows(data, monkeypatch):
    """Where the parts of the rows may not be kept, nothing but the comparison is unknown."""
    known = quiet("y ~ x + z", data, **GRID)
    monkeypatch.setattr("svmstat.tuning.cost_search.KEPT", 8 * 72 * 9 - 1)
    for criterion in ("loo", "kfold"):
        found = quiet("y ~ x + z", data, criterion=criterion, rng=1, **GRID)
        assert found.table["delta_se"].isna().all() and not found.table["within_se"].any()
        assert "not known: the parts of the rows in all scores take" in " ".join(str(found).split())
    same = quiet("y ~ x + z", data, **GRID)
    unpaired = [name for name in known.table if name not in ("delta_se", "within_se")]
    pd.testing.assert_frame_equal(known.table[unpaired], same.table[unpaired], check_exact=True)


def ringed(found):
    """The points that a figure rings."""
    ax = found.plot()
    matplotlib.pyplot.close(ax.figure)
    assert ax.get_legend().get_texts()[-1].get_text().startswith("within one paired")
    return next(line.get_xydata() for line in ax.lines if line.get_label().startswith("within"))


@pytest.mark.parametrize("K", [2, 3], ids=["two", "three"])
def test_what_is_printed_and_drawn(data):
    found = quiet("y ~ x + z", data, calibration="insample", **GRID)
    near = found.table[found.table["within_se"]]
    text = " ".join(str(found).split())
    assert f"Points within one paired se: {len(near)}" in text
    assert f"Simplest C: {near['C'].iloc[0]:g}" in text and near["C"].iloc[0] == near["C"].min()
    assert "The least of many scores is too low" in text and "nested=True tunes anew" in text
    assert "Simulated (python -m benchmarks validity tuning), the least is up to 0.08 a row of deviance too low" in text
    of_errors = str(quiet("y ~ x + z", data, score="error", **GRID))
    assert "The least of many scores is too low" in of_errors and "of deviance" not in of_errors
    others = near.drop(index=found.chosen).sort_values(["gamma", "C"])
    np.testing.assert_allclose(ringed(found), np.log2(others[["C", "gamma"]]))
    line = quiet("y ~ x + z", data, C=GRID["C"], gamma=0.1, calibration="insample")
    others = line.table[line.table["within_se"]].drop(index=line.chosen)
    np.testing.assert_allclose(ringed(line), np.column_stack([np.log2(others["C"]), others["score"]]))
    alone = quiet("y ~ x + z", data, C=1.0, gamma=0.5)
    assert "too low" not in str(alone) and "Simplest" not in str(alone)


# -- the span as a criterion -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"weights": "w", "loss": "p0"}], ids=str)
def test_scores_by_the_span(data, options):
    """The deviance by Platt's maps of the span's values, as with calibration="loo"; errors by their votes."""
    w = data["w"].to_numpy(float) if options else np.ones(72)
    scores = ("deviance", "error")
    found = {score: quiet("y ~ x + z", data, criterion="span", score=score, **GRID, **options) for score in scores}
    for k in (0, 4, 8):
        row = found["deviance"].table.iloc[k]
        machine = svm("y ~ x + z", data, C=row["C"], gamma=row["gamma"], **options).machine
        f = machine_span(machine)
        own = fit_maps_of(machine, f, "wu-lin-weng", "loo").log_likelihoods(f, machine.codes)
        assert row["score"] == pytest.approx(-2 * w @ own, rel=TOL)
        error = w @ (vote(f, machine.classes) != machine.codes) / w.sum()
        assert found["error"].table.iloc[k]["score"] == row["error"] == pytest.approx(error)
    assert found["deviance"].score_name == "span estimate of the leave-one-out deviance"


def test_the_loss_by_the_span_along_other_criteria():
    data = sample(2, 72, seed=1)
    found = quiet("y ~ x + z", data, score="loss", further=["span_loss", "gacv"], **GRID).table
    alone = quiet("y ~ x + z", data, score="loss", criterion="span", **GRID).table
    np.testing.assert_array_equal(found["span_loss"], alone["score"])
    for row in found.itertuples():
        machine = svm("y ~ x + z", data, C=row.C, gamma=row.gamma).machine
        losses = machine.pairs[0].loss.values(machine_span(machine)[:, 0], machine.signs[:, 0])
        assert row.span_loss == pytest.approx(losses.mean(), rel=TOL)


@pytest.mark.parametrize("K", [2, 3], ids=["two", "three"])
def test_a_level_of_one_row_cannot_be_scored_by_the_span(data):
    lonely = data.assign(y=["shark", *data["y"][1:]])
    with pytest.raises(DataError, match="the first: 1 of 72 rows leave a class without any"):
        tune("y ~ x + z", lonely, criterion="span", C=[1.0], gamma=[0.5, 1.0])


def test_points_that_tie_with_the_best_are_near_it():
    """By the rule of the choice, also where a tiny difference is that of every row; none is without its rows."""
    scores, delta_se = np.array([0.4, 0.4 + 2e-9, 0.5, 0.5]), np.array([0.0, 1e-12, 0.2, 0.05])
    assert within_se(scores, 0.4, delta_se).tolist() == [True, True, True, False]
    assert not within_se(scores, 0.4, np.full(4, np.nan)).any()
