"""Gram matrices of terms that are kept: the same sums as those of the kernel."""

import numpy as np
import pytest

from svmstat.formula.smooth import TermColumns
from svmstat.kernels import RBF, additive_kernel, gram
from svmstat.machine import contrasts, fit_machine, group_rows
from svmstat.tuning.stored import StoredTerms


@pytest.mark.parametrize("budget", [2**31, 0], ids=["kept", "in blocks"])
def test_sums_and_functions_of_stored_terms(budget):
    rng = np.random.default_rng(1)
    X, codes, w = rng.normal(size=(30, 2)).round(1), np.tile([0, 1], 15), np.resize([1.0, 2.0, 0.0], 30)
    terms = [TermColumns(f"s({k})", "s", ((k,),), None, None, None, (), False) for k in range(2)]
    kernel = additive_kernel(terms, RBF()).resolve(X, w).with_theta((0.5, 3.0))
    pairs = contrasts([(1, 0)], "hinge")
    stored = StoredTerms(kernel, X, group_rows(X, pairs[0].signs(codes), w), budget=budget)
    assert (stored.matrices is None) == (budget == 0)
    known = stored.known(kernel)
    points = X[known.groups.first]
    np.testing.assert_allclose(known.gram.complete(), gram(kernel, points), atol=1e-13)
    one, other = (fit_machine(kernel, X, codes, w, pairs, C=2.0, known=each) for each in (known, None))
    np.testing.assert_allclose(one.decision_values, other.decision_values, atol=1e-9)
    rows, beta = np.arange(4), np.array([1.0, 0.0, -2.0, 0.5])
    expected = np.column_stack([each(points[:4], points[:4]) @ beta for each in kernel.kernels])
    np.testing.assert_allclose(stored.functions(rows, beta), expected, atol=1e-13)
    some = np.array([3, 1])
    np.testing.assert_allclose(
        stored.known(kernel).gram.cross(some, rows), kernel(points[some], points[:4]), atol=1e-13
    )
