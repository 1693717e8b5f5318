"""Where warnings point."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import pytest

from svmstat._tools.warn import asked_at, users_line, warn
from svmstat.errors import GridWarning, LongRunWarning
from svmstat.resampling.loops import run_pieces


def told(i):
    warn(f"piece {i}", GridWarning)
    return i


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("backend", ["sequential", "threading"])
def test_a_piece_warns_at_the_line_that_asked_for_the_loop(n_jobs, backend):
    """Between the two are joblib's frames, in a thread of its own or not."""
    with joblib.parallel_config(backend), warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        line = users_line()
        run_pieces(told, [(i,) for i in range(4)], n_jobs=n_jobs, progress=False, what="test")
    assert sorted(str(each.message) for each in record) == [f"piece {i}" for i in range(4)]
    assert {(each.filename, each.lineno) for each in record} == {(__file__, line.number + 1)}


def test_a_line_says_the_same_once():
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("default")
        for _ in range(3):
            warn("once", GridWarning)
        warn("once", LongRunWarning)
    assert len(record) == 2


def test_a_thread_has_the_line_for_which_it_works():
    line = users_line()
    with asked_at(line):
        assert users_line() is line
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(users_line).result() != line
    assert users_line() != line
