import numpy as np
import pandas as pd
import pytest

from svmstat import compare, svm
from svmstat.report.model import _logistic, beside_logistic

LEVELS = {
    "texts in another order": [["a", "b"], ["b", "a"]],
    "numbers": [[0, 1], [1, 0], ["1", "0"], [True, False], [False, True]],
    "three": [[0, 1, 2], [2, 1, 0], ["1", "2", "0"], [3, 2, 1], ["u", "v", "w"]],
}


@pytest.mark.parametrize("ways", LEVELS.values(), ids=LEVELS)
def test_the_logistic_model_is_the_same_whatever_the_levels_are_called(ways):
    """And whatever their order: compare() finds its probability of each."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(100, 2)), columns=["x", "z"])
    k = np.digitize(data["x"] + rng.normal(size=100), [0.0, 0.8][: len(ways[0]) - 1])
    scores = []
    for levels in ways:
        names = sorted(levels, key=str)
        response = pd.Categorical([names[each] for each in k], categories=levels)
        fit = svm("y ~ x + z", data.assign(y=response))
        scores.append(compare(fit, logistic=_logistic(fit)).table["score"])
    for each in scores[1:]:
        np.testing.assert_allclose(each, scores[0], rtol=1e-6)


def test_columns_that_are_as_many_as_rows_are_no_logistic_model():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(30, 40))).add_prefix("x").assign(y=[0, 1] * 15)
    (told,) = beside_logistic(svm("y ~ .", data, kernel="linear"), None, False)
    assert "no logistic model of these columns to compare with: there are as many independent ones as rows" in told
    assert len(list(beside_logistic(svm("y ~ x0 + x1", data), None, False))) == 2
