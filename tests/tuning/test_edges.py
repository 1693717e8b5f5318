import pandas as pd
import pytest

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
