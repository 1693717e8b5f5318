import pandas as pd
import pytest

from svmstat import tune
from svmstat.errors import GridWarning


def test_a_grid_of_nothing_but_ties_has_no_edge():
    data = pd.DataFrame({"x": [0.0, 1.0, 2.0, 10.0, 11.0, 12.0], "y": list("aaabbb")})
    with pytest.warns(GridWarning) as caught:
        found = tune("y ~ x", data, C=[10, 100], criterion="kfold", folds=3, score="error", rng=1)
    assert found.table["score"].tolist() == [0.0] * len(found.table)
    told = f"all {len(found.table)} points of the grid have the same score, which tells none from another"
    assert [str(each.message) for each in caught] == [told]
