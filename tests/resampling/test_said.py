"""What refits say of rows that they have not seen, put in the order of the rows."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit

from svmstat import compare, svm
from svmstat.resampling.said import Said, of_lots


@pytest.mark.parametrize("with_values", [True, False])
def test_each_row_has_what_the_refit_says_that_is_asked(with_values):
    asked = []

    def without(lots):
        asked.extend(lots)
        return [
            Said(
                np.column_stack([lot, k + 0.0 * lot]),
                lot + 10 * k,
                lot % 2 == 0,
                lot[:, None] * 1.0 if with_values else None,
            )
            for k, lot in enumerate(lots)
        ]

    found = of_lots(without, [np.array([3, 1]), np.array([1, 0, 2])], np.array([1, 0, 1, 0, -1]))
    assert [lot.tolist() for lot in asked] == [[3, 1], [1, 0, 2]]
    np.testing.assert_array_equal(found.probability, [[0, 1], [1, 0], [2, 1], [3, 0], [np.nan, np.nan]])
    assert found.winner.tolist() == [10, 1, 12, 3, -1]
    assert found.failed.tolist() == [True, False, True, False, False]
    assert found.values is None or found.values[:4, 0].tolist() == [0, 1, 2, 3]
    assert (found.values is not None) == with_values


class Counted(LogisticRegression):
    """How many rows each fit has."""

    rows: ClassVar[list[int]] = []

    def fit(self, X, y, sample_weight=None):
        self.rows.append(len(X))
        return super().fit(X, y, sample_weight)


def test_rows_that_are_never_held_out_cost_no_refit():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=60)}).assign(y=lambda d: (d.x + rng.normal(size=60) > 0).astype(int))
    fold = np.full(60, -1)
    fold[:10], fold[10:20] = 0, 1
    Counted.rows.clear()
    both = compare(svm("y ~ x", data), model=(Counted(), "y ~ x", data), folds=PredefinedSplit(fold), n_jobs=1)
    assert Counted.rows == [50, 50]
    assert both.table["rows"].tolist() == [20, 20]
