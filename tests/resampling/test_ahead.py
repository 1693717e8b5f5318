import pytest

from svmstat import datasets, svm
from svmstat.resampling.ahead import AHEAD, types_of


@pytest.fixture(scope="module")
def compiled_for_mackerel():
    """What the first process would compile is on disk."""
    eggs, mackerel = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", datasets.load("mackerel")
    fit = svm(eggs, mackerel, C=16, gamma=0.25)
    fit.summary(), fit.gof(B=19, rng=1), fit.loo().reliability(), fit.bootstrap(B=9, rng=1)
    svm(eggs, mackerel, nu=(0.3, 0.3))


@pytest.mark.parametrize(("function", "arguments"), AHEAD, ids=[each.__name__ for each, _ in AHEAD])
def test_what_is_compiled_ahead_is_what_is_called(function, arguments, compiled_for_mackerel):
    assert function._cache.load_overload(types_of(arguments), function.targetctx) is not None
