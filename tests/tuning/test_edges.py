import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from levels import sample

from svmstat import minimax, tune
from svmstat.errors import GridWarning
from svmstat.tuning.edges import warn_of_edges


def test_of_nothing_but_ties_no_wider_grid_is_recommended():
    data = pd.DataFrame({"x": [0.0, 1.0, 2.0, 10.0, 11.0, 12.0], "y": list("aaabbb")})
    with pytest.warns(GridWarning) as caught:
        found = tune("y ~ x", data, C=[10, 100], criterion="kfold", folds=3, score="error", rng=1)
    assert found.table["score"].tolist() == [0.0] * len(found.table)
    told = [str(each.message) for each in caught]
    assert [text.split(" is the ")[1] for text in told] == 2 * [
        "smallest of its grid, whose points all have the same score"
    ]


@pytest.mark.parametrize(("columns", "said"), [(60, True), (3, False)])
def test_more_columns_than_rows_need_a_far_smaller_cost(columns, said):
    rng = np.random.default_rng(7)
    data = pd.DataFrame(rng.normal(size=(30, columns))).add_prefix("x").assign(y=[0, 1] * 15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune("y ~ .", data, kernel="linear", C=[1.0, 4.0])
        low = tune("y ~ .", data, kernel="linear", C=[1e-4, 1e-2]).best
    assert (
        "a larger C gives the same, and only a far smaller one gives another" in str(found).replace("\n", " ")
    ) == said
    f = found.best.decision_values
    assert np.allclose(found.best.update(C=1e6).decision_values, f, rtol=0, atol=1e-9) == said
    assert np.abs(low.decision_values - f).max() > 0.1


def test_a_search_that_is_repeated_in_threads_leaves_warnings_as_they_were():
    data = sample(2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        best = tune("y ~ x + z", data, C=[0.5, 1.0], gamma=[0.1, 0.2]).best
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        best.permutation_test(B=19, retune=True, rng=1, n_jobs=2)
        assert warnings.filters == filters
    assert not [each for each in caught if issubclass(each.category, GridWarning)]


def told_of_edges(searched, names=None, **columns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GridWarning)
        warn_of_edges(SimpleNamespace(searched=searched, table=pd.DataFrame(columns)), names)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("scores", "tied"),
    [([1e6, 1e6 + 1e-4, 1e6], True), ([1e6, 1e6 + 1e-2, 1e6], False), ([-1e6, 1e-4 - 1e6, -1e6], True)],
)
def test_scores_that_differ_by_rounding_are_the_same_at_any_size(scores, tied):
    (text,) = told_of_edges({"C": 4.0}, C=[1.0, 2.0, 4.0], score=scores)
    assert text.startswith("the best C = 4 is the largest of its grid")
    assert ("whose points all have the same score" in text) == tied == ("a wider one may hold a better" not in text)


def test_a_value_is_at_the_end_of_the_grid_of_its_own_formula():
    columns = {"formula": ["y ~ a"] * 3 + ["y ~ b"] * 3, "gamma": [0.1, 0.2, 0.4, 0.05, 0.1, 0.2], "score": range(6)}
    (text,) = told_of_edges({"formula": "y ~ b", "gamma": 0.2}, **columns)
    assert "the best gamma = 0.2 is the largest of its grid" in text
    assert told_of_edges({"formula": "y ~ a", "gamma": 0.2}, **columns) == []


def test_below_a_degree_of_one_there_is_none():
    columns = {"C": [1.0, 1.0, 1.0], "degree": [1, 2, 3], "score": [1.0, 2.0, 3.0]}
    assert told_of_edges({"C": 1.0, "degree": 1}, **columns) == []
    assert "largest" in told_of_edges({"C": 1.0, "degree": 3}, **columns)[0]
    assert "smallest" in told_of_edges({"degree": 2}, degree=[2, 3], score=[1.0, 2.0])[0]


def test_only_the_names_that_are_given_are_told_of():
    columns = {"C": [1.0, 2.0], "gamma": [0.1, 0.2], "score": [1.0, 2.0]}
    (text,) = told_of_edges({"C": 1.0, "gamma": 0.1}, ["gamma"], **columns)
    assert "gamma" in text


@pytest.mark.parametrize(
    ("formula", "options"),
    [
        ("y ~ x + z", {"C": [0.5, 1.0]}),
        ("y ~ x + z", {"criterion": minimax(), "nu": [0.2, 0.4]}),
        ("y ~ s(x) + s(z)", {"C": [0.5, 1.0], "theta": "coordinate"}),
    ],
)
def test_what_is_warned_of_is_in_the_printout(formula, options):
    with pytest.warns(GridWarning) as caught:
        found = tune(formula, sample(2, 60), gamma=[0.1, 50.0], rng=1, **options)
    told = [str(each.message) for each in caught if " of its grid" in str(each.message)]
    shown = " ".join(str(found).split())
    assert told
    assert all(f"{text[0].upper()}{text[1:]}." in shown for text in told)
