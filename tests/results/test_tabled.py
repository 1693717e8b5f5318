"""The plug-in format of maketables: what it asks of a model, without it being there."""

import numpy as np
import pandas as pd
import pytest
from levels import sample

from svmstat import svm


@pytest.mark.parametrize("K", [2, 3])
def test_coefficients(K):
    fit = svm("y ~ x + site", sample(K), kernel="linear", weights="w")
    table = fit.__maketables_coef_table__
    assert table.columns.tolist() == ["b", "se", "t", "p"]
    np.testing.assert_array_equal(table["b"], np.ravel(fit.params.to_numpy(), order="F"))
    assert table[["se", "t", "p"]].isna().all(axis=None)  # a penalised coefficient has no p-value
    assert table.index.is_unique and table.index.name == "Coefficient"
    assert table.index[1] == ("x" if K == 2 else "a vs b, x")
    assert fit.__maketables_depvar__ == "y"


def test_other_kernels_have_none():
    assert not hasattr(svm("y ~ x", sample(2)), "__maketables_coef_table__")


@pytest.mark.parametrize("K", [2, 3])
def test_numbers(K):
    fit = svm("y ~ x + site", sample(K), kernel="linear", weights="w")
    numbers = {key: fit.__maketables_stat__(key) for key in fit.__maketables_default_stat_keys__}
    glance = fit.glance().iloc[0]
    assert numbers["N"] == sample(K)["w"].sum()
    assert numbers["cv_score"] == fit.loo().score == glance["cv_score"]
    assert numbers["kernel"] == "linear"
    assert numbers.keys() == fit.__maketables_stat_labels__.keys()
    assert fit.__maketables_stat__("aic") is None


def test_what_was_not_held_out_is_not_there(monkeypatch):
    fit = svm("y ~ x", sample(2), kernel="linear")
    monkeypatch.setattr(type(fit), "is_cheap_to_leave_out", False)
    assert [fit.__maketables_stat__(key) for key in ("cv_score", "r_squared", "error_rate")] == [None] * 3
    assert fit.__maketables_stat__("N") == 60
    assert pd.isna(fit.glance()["held_out"]).all()
