import warnings

import pandas as pd
import pytest
from levels import sample

from svmstat import tune
from svmstat.errors import GridWarning


def test_of_nothing_but_ties_no_wider_grid_is_recommended():
    data = pd.DataFrame({"x": [0.0, 1.0, 2.0, 10.0, 11.0, 12.0], "y": list("aaabbb")})
    with pytest.warns(GridWarning) as caught:
        found = tune("y ~ x", data, C=[10, 100], criterion="kfold", folds=3, score="error", rng=1)
    assert found.table["score"].tolist() == [0.0] * len(found.table)
    told = [str(each.message) for each in caught]
    assert [text.split(" is the ")[1] for text in told] == 2 * [
        "smallest of its grid, whose points all have the same score"
    ]


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
