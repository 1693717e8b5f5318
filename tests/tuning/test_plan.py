"""What every result of a search says, whatever was searched."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from svmstat.errors import ArgumentError
from svmstat.tuning.plan import Plan, TuneResult, note_of_groups


def result(**given):
    table = pd.DataFrame({"C": [1.0, 2.0, 4.0], "score": [3.0, 2.0, np.nan], "status": ["ok", "ok", "failed"]})
    best = SimpleNamespace(grouped=False, predict=lambda _: "best", error_rates=lambda _, weights: ("best", weights))
    plan = SimpleNamespace(score_name="leave-one-out deviance", first_found="score")
    plain = {"best": best, "best_params": {"C": 1.0}, "table": table, "chosen": 0, "plan": plan, "fold": None}
    return TuneResult(**plain | given)


def test_a_rule_predicts_in_the_place_of_the_best_fit():
    rule = SimpleNamespace(predict=lambda _: "rule", error_rates=lambda _, weights: ("rule", weights))
    for found, name in ((result(), "best"), (result(rule=rule), "rule")):
        assert found.predict() == name and found.error_rates(weights="w") == (name, "w")


def test_what_is_chosen_need_not_have_the_least_score():
    found = result()
    assert found.best_row["C"] == 1.0 and found.searched == {"C": 1.0}
    assert repr(found) == "<TuneResult: best C=1 | leave-one-out deviance: 3 | 3 points, 1 failed>"


def test_groups_are_named_with_their_number():
    best = SimpleNamespace(grouped=True, n_groups=12, n_rows=90)
    assert result(best=best).score_name == "leave-one-group-out deviance"
    assert note_of_groups(best)[0].endswith("standard errors are over 12 groups.")
    assert note_of_groups(SimpleNamespace(grouped=False)) == ()


def test_folds_that_are_no_partition_are_refused_by_name():
    plan = SimpleNamespace(score_name="minimax score")
    assert Plan.refuse_folds(plan, SimpleNamespace(partition=True)) is None
    with pytest.raises(ArgumentError, match="the minimax score needs folds that hold out every row once"):
        Plan.refuse_folds(plan, SimpleNamespace(partition=False))
