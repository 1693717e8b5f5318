"""Parts of a gram matrix: the values of the whole, which are not computed again, however much of it is in memory."""

import pickle

import numpy as np
import pytest
from levels import laplace
from problems import Counting

from svmstat._tools.threads import in_threads
from svmstat.kernels import RBF, CustomKernel, Precomputed, gram
from svmstat.solver import Gram
from svmstat.solver import gram as gram_module

TOL_SUM = 1e-13  # a few numbers added in another order


KERNELS = {"rbf": RBF(0.5), "custom": CustomKernel(laplace), "precomputed": Precomputed()}

N = 151
POINTS = np.random.default_rng(25).normal(size=(N, 3))
LAYOUTS = ("complete", "lazy", "beyond budget", "part beyond budget")
PARTS = {"some": np.array([150, 3, 77, 20, 21]), "none": np.array([], np.intp), "most": np.arange(N)[::-1][:120]}


@pytest.fixture(params=LAYOUTS)
def layout(request, monkeypatch):
    """The budget for each layout."""
    if request.param == "lazy":
        monkeypatch.setattr(gram_module, "AT_ONCE", 10)
    return {"beyond budget": 8 * N**2 - 1, "part beyond budget": 100}.get(request.param, 8 * N**2)


@pytest.fixture(params=KERNELS)
def whole(request, layout):
    """A gram matrix of some layout and the plain one."""
    kernel = KERNELS[request.param]
    points = laplace(POINTS, POINTS) if request.param == "precomputed" else POINTS
    return Gram(kernel.bind(points), budget=layout), gram(kernel, points)


@pytest.mark.parametrize("which", list(PARTS))
def test_a_part_has_the_values_of_the_whole(whole, which):
    matrix, K = whole
    rows = PARTS[which]
    part, expected = matrix.part(rows), K[np.ix_(rows, rows)]
    assert part.n == len(rows)
    np.testing.assert_array_equal(part.diagonal, expected.diagonal())
    np.testing.assert_allclose(part.columns(np.arange(len(rows))), expected, rtol=TOL_SUM)
    inner = np.arange(len(rows))[::-2]
    np.testing.assert_allclose(part.block(inner), expected[np.ix_(inner, inner)], rtol=TOL_SUM)
    coefficients, out = np.linspace(-1, 1, len(inner)), np.ones(len(rows))
    part.add(inner, coefficients, out)
    np.testing.assert_allclose(out, 1.0 + coefficients @ expected[inner], rtol=0, atol=1e-12)
    if part.fits:
        np.testing.assert_allclose(part.complete(), expected, rtol=TOL_SUM)
    else:
        with pytest.raises(MemoryError):
            part.complete()


def test_a_part_of_a_part(whole):
    matrix, K = whole
    outer, inner = PARTS["most"], np.array([5, 100, 1])
    part = matrix.part(outer).part(inner)
    np.testing.assert_allclose(part.block(np.arange(3)), K[np.ix_(outer[inner], outer[inner])], rtol=TOL_SUM)


@pytest.mark.parametrize("which", list(PARTS))
def test_cross(whole, which):
    matrix, K = whole
    columns = np.array([4, 4, 150, 0])
    for _ in range(2):  # the second time with some rows known
        cross = matrix.cross(PARTS[which], columns)
        np.testing.assert_allclose(cross, K[np.ix_(PARTS[which], columns)], rtol=TOL_SUM)
        assert cross.shape == (len(PARTS[which]), 4)
        matrix.columns(np.array([3, 20]))
    assert matrix.cross(columns, np.array([], np.intp)).shape == (4, 0)


def test_known_values_are_not_computed_again():
    source = Counting(RBF(0.5).bind(POINTS))
    matrix = Gram(source)
    part = matrix.part(PARTS["most"])
    part.complete()
    part.part(np.arange(50)).complete()
    matrix.cross(PARTS["some"], PARTS["most"])
    assert (source.whole, source.asked) == (1, 0)


def test_pickles_of_parts(whole):
    """Parts that are pickled together share their whole, whose values stay behind."""
    matrix, K = whole
    rows = [np.arange(100), np.arange(50, 150)]
    packed = pickle.dumps([matrix.part(some) for some in rows])
    parts = pickle.loads(packed)
    for part, some in zip(parts, rows, strict=True):
        everything = np.arange(100)
        np.testing.assert_allclose(part.columns(everything), K[np.ix_(some, some)], rtol=TOL_SUM)
    assert parts[0]._source._whole is parts[1]._source._whole
    alone = len(pickle.dumps(matrix))
    assert len(packed) < alone + 4000  # the row numbers and what names the classes


@pytest.fixture
def all_parts_count(monkeypatch):
    monkeypatch.setattr("svmstat._tools.shelf._SMALL", 0)


@pytest.mark.usefixtures("all_parts_count")
def test_parts_keep_no_more_than_the_budget_together():
    matrix = Gram(RBF(0.5).bind(POINTS), budget=8 * (60**2 + 50**2) + 1)  # of three parts the last two
    sizes = (60, 50, 60)
    parts = [matrix.part(np.arange(k, k + size)) for k, size in enumerate(sizes)]
    assert not matrix.fits
    assert [part.is_complete for part in parts] == [False, True, True]
    K = gram(RBF(0.5), POINTS)
    for k, kept in enumerate([{0}, {0, 1}, {1, 2}]):
        some = np.arange(k, k + sizes[k])
        np.testing.assert_allclose(parts[k].complete(), K[np.ix_(some, some)], rtol=TOL_SUM)
        assert {place for place, part in enumerate(parts) if part.is_complete} == kept


@pytest.mark.usefixtures("all_parts_count")
def test_parts_that_are_gone_keep_nothing():
    matrix = Gram(RBF(0.5).bind(POINTS), budget=8 * 60**2)
    first = matrix.part(np.arange(40))
    for _ in range(3):
        matrix.part(np.arange(44))
    assert 40**2 + 44**2 <= 60**2
    assert first.is_complete
    assert len(matrix.shelf._sizes) == 1


def test_small_parts_do_not_count():
    matrix = Gram(RBF(0.5).bind(POINTS), budget=8 * N**2)
    parts = [matrix.part(np.arange(k, k + 90)) for k in range(10)]  # 65 kB each
    assert all(part.is_complete for part in parts)
    assert len(matrix.shelf._sizes) == 0


@pytest.mark.usefixtures("all_parts_count")
def test_the_whole_is_not_forgotten_for_its_parts():
    matrix = Gram(RBF(0.5).bind(POINTS), budget=8 * N**2)
    parts = [matrix.part(np.arange(k)) for k in (30, 40)]
    assert matrix.is_complete
    assert [part.is_complete for part in parts] == [False, True]
    assert parts[0].block(np.array([0, 5])).shape == (2, 2)


@pytest.mark.usefixtures("all_parts_count")
def test_threads_that_make_each_other_forget_have_all_values():
    matrix, K = Gram(RBF(0.5).bind(POINTS), budget=8 * 50**2), gram(RBF(0.5), POINTS)
    parts = {k: matrix.part(np.arange(k, k + 45)) for k in range(8)}

    def added(k):
        out = np.zeros(45)
        for _ in range(200):
            parts[k % 8].add(np.arange(45), np.ones(45), out)
        return out / 200.0

    for k, found in enumerate(in_threads(added, range(16))):
        some = np.arange(k % 8, k % 8 + 45)
        np.testing.assert_allclose(found, K[np.ix_(some, some)].sum(axis=0), rtol=1e-12)
