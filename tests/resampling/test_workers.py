"""Workers share the kernel matrices of pairs of classes, of which rows are computed on demand."""

import joblib
import numpy as np
import pandas as pd
import pytest
from levels import quiet

from svmstat import svm
from svmstat.solver.gram import PART_AT_ONCE


@pytest.fixture(scope="module")
def large():
    """Three levels, each pair of which has more rows than are computed at once."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    chosen = (X @ rng.normal(size=(3, 3)) + rng.gumbel(size=(900, 3))).argmax(axis=1)
    data = pd.DataFrame(X, columns=list("xuv")).assign(y=np.array(list("abc"))[chosen])
    assert np.bincount(chosen).min() * 2 > PART_AT_ONCE
    return data


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_do_not_matter_where_rows_are_computed_on_demand(large, backend):
    def everything(n_jobs):
        searched = quiet("y ~ x + u + v", large, criterion="kfold", folds=5, C=[0.5, 4], gamma=1, rng=1, n_jobs=n_jobs)
        fit = svm("y ~ x + u + v", large, C=2)
        again = [fit.gof(B=3, rng=1, n_jobs=n_jobs).replicates, [fit.loo(n_jobs=n_jobs).score]]
        return np.concatenate([searched.table[["score", "score_se"]].to_numpy().ravel(), *again])

    with joblib.parallel_config(backend):
        np.testing.assert_array_equal(everything(1), everything(2 if backend == "loky" else 4))
