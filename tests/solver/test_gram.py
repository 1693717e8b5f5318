"""The kernel matrix whole, by rows and beyond the budget: always the same matrix."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from levels import laplace
from problems import Counting

from svmstat.kernels import RBF, CustomKernel, Linear, Polynomial, Precomputed, Spline
from svmstat.kernels import gram as plain_gram
from svmstat.solver import Gram
from svmstat.solver import gram as module
from svmstat.solver.gram import combine, ordinary_rows

TOL_SUM = 1e-12  # sums of at most n products in another order, relative to Σ|terms|

N = 211
X = np.random.default_rng(8).normal(size=(N, 4))
KERNELS = {
    "linear": Linear(),
    "rbf": RBF(0.3),
    "poly": Polynomial(0.5, 1.0, 3),
    "spline": Spline(X.min(axis=0), X.max(axis=0)),
    "custom": CustomKernel(laplace),
    "precomputed": Precomputed(),
}
LAYOUTS = ("complete", "lazy", "beyond budget")

ROWS = {
    "some": np.array([3, 200, 17, 90]),
    "one": np.array([5]),
    "none": np.array([], dtype=np.intp),
    "repeated": np.array([4, 4, 9]),
    "most": np.arange(N)[::-1][:150],
    "all": np.arange(N),
}


def data(name):
    return plain_gram(KERNELS["rbf"], X) if name == "precomputed" else X


@pytest.fixture(params=LAYOUTS)
def layout(request, monkeypatch):
    """How many rows are computed at once, and the budget, for each layout."""
    if request.param == "lazy":
        monkeypatch.setattr(module, "AT_ONCE", 10)
    if request.param == "beyond budget":
        return 8 * N**2 - 1
    return 8 * N**2


@pytest.fixture(params=list(KERNELS))
def pair(request, layout):
    """A gram of some layout and the plain matrix."""
    kernel = KERNELS[request.param]
    K = plain_gram(kernel, data(request.param))
    return Gram(kernel.bind(data(request.param)), budget=layout), K


@pytest.mark.parametrize("which", list(ROWS))
def test_block_and_columns(pair, which):
    gram, K = pair
    rows = ROWS[which]
    tolerance = TOL_SUM * np.abs(K).max()
    np.testing.assert_allclose(gram.block(rows), K[np.ix_(rows, rows)], rtol=0, atol=tolerance)
    np.testing.assert_allclose(gram.columns(rows), K[rows], rtol=0, atol=tolerance)
    np.testing.assert_allclose(gram.block(rows), K[np.ix_(rows, rows)], rtol=0, atol=tolerance)
    np.testing.assert_allclose(gram.diagonal, K.diagonal(), rtol=0, atol=tolerance)
    assert gram.n == N


@pytest.mark.parametrize("which", [key for key in ROWS if key != "repeated"])
def test_add(pair, which):
    gram, K = pair
    rows = ROWS[which]
    rng = np.random.default_rng(1)
    coefficients, out = rng.normal(size=len(rows)), rng.normal(size=N)
    expected = out + coefficients @ K[rows]
    gram.add(rows, coefficients, out)
    np.testing.assert_allclose(out, expected, rtol=0, atol=TOL_SUM * max(1.0, np.abs(K).sum(axis=0).max()))


def test_any_order_of_requests(layout):
    kernel, K = KERNELS["rbf"], plain_gram(KERNELS["rbf"], X)
    gram = Gram(kernel.bind(X), budget=layout)
    rng = np.random.default_rng(2)
    for _ in range(12):
        rows = rng.choice(N, rng.integers(1, 40), replace=False)
        np.testing.assert_array_equal(gram.block(rows), K[np.ix_(rows, rows)])
        np.testing.assert_array_equal(gram.columns(rows), K[rows])


def test_what_is_complete(layout):
    gram = Gram(KERNELS["rbf"].bind(X), budget=layout)
    K = plain_gram(KERNELS["rbf"], X)
    if gram.fits:
        assert gram.is_complete == (module.AT_ONCE >= N)
        np.testing.assert_array_equal(gram.complete(), K)
        assert gram.is_complete
        assert gram.complete() is gram.complete()
        return
    with pytest.raises(MemoryError, match=f"{N} rows"):
        gram.complete()
    assert not gram.is_complete


def test_lazy_rows_are_computed_once(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 10)
    source = Counting(KERNELS["rbf"].bind(X))
    gram = Gram(source)
    assert source.asked == 0
    gram.columns(np.array([1, 2, 3]))
    assert source.asked == 3 * N
    gram.add(np.array([3, 1]), np.ones(2), np.zeros(N))
    gram.block(np.array([1, 2]))
    assert (source.asked, source.whole) == (3 * N, 0)
    gram.columns(np.arange(100))  # more than a third: all at once
    assert source.whole == 1
    assert gram.is_complete


def test_beyond_the_budget_nothing_is_kept():
    source = Counting(KERNELS["rbf"].bind(X))
    gram = Gram(source, budget=1000)
    gram.columns(np.arange(N))
    gram.add(np.arange(N), np.ones(N), np.zeros(N))
    assert source.whole == 0
    assert source.asked == 2 * N**2
    assert not gram.keeps and not gram.is_complete


@pytest.mark.parametrize("m", range(10))
def test_combine_any_number_of_rows(m):
    """Rows are added four at a time."""
    K = plain_gram(KERNELS["rbf"], X)
    rows, coefficients = np.arange(m) * 7, np.linspace(-1.0, 2.0, m)
    out = np.ones(N)
    combine(K, rows, coefficients, out)
    np.testing.assert_allclose(out, 1.0 + coefficients @ K[rows], rtol=0, atol=TOL_SUM * 10)


def test_pieces_of_one_row(monkeypatch):
    """With the smallest pieces, computed in threads, nothing is lost or doubled."""
    monkeypatch.setattr(module, "_CHUNK_BYTES", 1)
    big = np.random.default_rng(3).normal(size=(600, 2))
    K = plain_gram(RBF(1.0), big)
    gram = Gram(RBF(1.0).bind(big), budget=0)
    rows = np.arange(0, 600, 3)
    np.testing.assert_array_equal(gram.columns(rows), K[rows])
    out = np.zeros(600)
    gram.add(rows, np.ones(200), out)
    np.testing.assert_allclose(out, K[rows].sum(axis=0), rtol=TOL_SUM)


def test_a_passing_matrix_has_the_same_rows_and_keeps_none(pair):
    gram, K = pair
    passing, tolerance = gram.passing(), TOL_SUM * np.abs(K).max()
    for each in (gram, passing):
        np.testing.assert_allclose(each.row(17), K[17], rtol=0, atol=tolerance)
    out = np.zeros(N)
    passing.add(ROWS["most"], np.ones(150), out)
    np.testing.assert_allclose(out, K[ROWS["most"]].sum(axis=0), rtol=0, atol=N * tolerance)
    assert not passing.fits and not passing.is_complete


@pytest.mark.parametrize("ask", ["columns", "add", "block"])
def test_threads_ask_at_the_same_time(monkeypatch, ask):
    """Each finds its own rows, while others have rows computed that move what is known."""
    monkeypatch.setattr(module, "AT_ONCE", 10)
    K = plain_gram(KERNELS["rbf"], X)
    rng = np.random.default_rng(5)

    def look(gram, rows):
        if ask == "columns":
            return np.array_equal(gram.columns(rows), K[rows])
        if ask == "block":
            gram.columns(rows[:1])
            return np.array_equal(gram.block(rows), K[np.ix_(rows, rows)])
        out, expected = np.zeros(N), np.zeros(N)
        gram.add(rows, np.ones(len(rows)), out)
        combine(K, rows, np.ones(len(rows)), expected)
        return np.array_equal(out, expected)

    for _ in range(60):
        gram = Gram(KERNELS["rbf"].bind(X))
        asked = [rng.choice(N, rng.integers(1, 9), replace=False) for _ in range(30)]
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(look, repeat(gram), asked))


@pytest.mark.parametrize("complete", [True, False])
def test_a_pickle_knows_what_was_known(monkeypatch, complete):
    """The values are computed where they are asked for."""
    monkeypatch.setattr(module, "AT_ONCE", 10)
    gram = Gram(Counting(KERNELS["rbf"].bind(X)))
    gram.columns(np.array([3]))
    if complete:
        gram.keep_all()
    once = pickle.loads(pickle.dumps(gram))
    for again in (once, pickle.loads(pickle.dumps(once))):
        before = again._source.whole
        assert again.is_complete == complete
        assert again._source.whole - before == complete
        np.testing.assert_array_equal(again.complete(), gram.complete())


@given(st.lists(st.floats(1e-8, 1e8), min_size=1, max_size=30))
def test_half_of_the_rows_are_ordinary(diagonal):
    diagonal = np.array(diagonal)
    found = ordinary_rows(diagonal)
    some = diagonal[found.rows]
    assert 2 * len(some) >= len(diagonal)
    assert found.share == pytest.approx(np.sqrt(some.max() / diagonal.max()), rel=1e-12)
    assert found.spread(diagonal) == max(np.ptp(some), found.share * np.ptp(diagonal))


def test_where_rows_are_alike_all_are():
    X = np.random.default_rng(1).normal(size=(300, 3))
    for kernel in (RBF(0.3), Linear()):
        assert Gram(kernel.bind(X)).ordinary == (slice(None), 1.0)
    for diagonal in (np.zeros(4), np.array([0.0, 0.0, 3.0])):
        assert ordinary_rows(diagonal) == (slice(None), 1.0)
