"""Problems from seeds: the same every time, and everything that is awkward among them."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.fuzz.draw import EVERYTHING, KINDS, USUAL, draw, kind_of

MANY = range(30 * len(KINDS))


@pytest.fixture(scope="module")
def cases():
    return [draw(seed) for seed in MANY]


def test_a_seed_is_a_problem(cases):
    for seed in (0, 7, 123):
        again = draw(seed)
        pd.testing.assert_frame_equal(again.data, cases[seed].data)
        assert (again.formula, again.kind, again.resample) == (cases[seed].formula, kind_of(seed), cases[seed].resample)
        assert repr(again.options) == repr(cases[seed].options)


def test_every_part_is_drawn(cases):
    for part, values in (USUAL | EVERYTHING).items():
        named = {value for allowed in KINDS.values() if allowed.get(part) != "all" for value in allowed.get(part, ())}
        assert {case.picked[part] for case in cases} == {*values, *USUAL[part], *named}, part


def test_the_extremes_that_are_promised(cases):
    costs = [case.options["C"] for case in cases if "C" in case.options]
    assert min(costs) < 1e-7 and max(costs) > 1e7
    weights = np.concatenate([np.ravel(case.options["weights"]) for case in cases if "weights" in case.options])
    assert weights.min() == 0.0 and (weights == 1e12).any() and (weights == 1e-12).any()
    sizes = [len(case.data) for case in cases]
    assert min(sizes) <= 5 and max(sizes) > 250
    tables = [case.data.drop(columns="y").select_dtypes("number") for case in cases]
    numbers = [table.abs().max(axis=None) for table in tables if table.shape[1]]
    assert np.nanmax(numbers) > 1e140 and np.nanmin([each for each in numbers if each > 0]) < 1e-140
    wide = [case for case in cases if case.data.shape[1] > len(case.data) and case.options["kernel"] != "precomputed"]
    assert len(wide) > 10
    assert {type(case.options["nu"]) for case in cases if "nu" in case.options} == {float, tuple}
