import numpy as np
import pytest

from svmstat import datasets, svm
from svmstat.calibration import fit_maps
from svmstat.kernels import Linear
from svmstat.machine import contrasts, fit_machine
from svmstat.resampling import leave_one_out
from svmstat.resampling.ahead import AHEAD, compile_summary, known_machine, types_of


def test_the_solution_that_is_known_is_the_one_that_is_found():
    known = known_machine()
    found = fit_machine(Linear(), known.X, known.codes, known.weights, contrasts([(1, 0)], "hinge"), C=1.0)
    for one, other in zip(known.pairs, found.pairs, strict=True):
        np.testing.assert_allclose(one.solution.alpha, other.solution.alpha, rtol=0.0, atol=1e-12)
        assert one.solution.violation == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(known.decision_values, found.decision_values, rtol=0.0, atol=1e-12)


def test_no_row_is_left_out_by_a_descent():
    machine = known_machine()
    left = leave_one_out(machine, fit_maps(machine), n_jobs=1)
    assert left.n_refits == 6 and left.n_rescued == 0 and not np.isnan(left.decision_values).any()
    compile_summary()


@pytest.mark.parametrize(("function", "arguments"), AHEAD, ids=lambda each: getattr(each, "__name__", ""))
def test_what_is_compiled_ahead_is_what_a_summary_calls(function, arguments, mackerel_summary):
    assert function._cache.load_overload(types_of(arguments), function.targetctx) is not None


@pytest.fixture(scope="module")
def mackerel_summary():
    """What the first process would compile for it is on disk."""
    fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", datasets.load("mackerel"), C=16, gamma=0.25)
    return str(fit.summary())
