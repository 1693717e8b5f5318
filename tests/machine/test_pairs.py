"""The machines of all pairs against libsvm, a dense program and machines of their rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from levels import laplace
from machines import KERNELS, TOL_FIT, TOL_LIBSVM, assert_same, fit
from programs import bordered, box_program
from sklearn.svm import SVC

from svmstat.calibration import fit_maps
from svmstat.kernels import RBF, CustomKernel, Linear, Precomputed, gram
from svmstat.machine import Contrast, fit_machine, pairs_of, vote
from svmstat.machine.pairs import by_class, decided
from svmstat.objective.losses import make_loss
from svmstat.solver import Status

# -- other solvers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 2.0])
@pytest.mark.parametrize(("kernel", "options"), [(Linear(), {"kernel": "linear"}), (RBF(0.5), {"gamma": 0.5})])
@pytest.mark.parametrize("name", ["liver", "iris", "wine"])
@pytest.mark.parametrize("weighting", ["none", "case", "class", "both"])
def test_against_libsvm(data, name, kernel, options, C, weighting):
    """All n rows by all pairs, the rows of weight zero included."""
    X, codes = data[name]
    K = codes.max() + 1
    weights, L = np.ones(len(codes)), dict.fromkeys(range(K), 1.0)
    if weighting in ("case", "both"):
        weights = np.random.default_rng(3).choice([0.0, 0.25, 1.0, 1.5, 2.0], len(codes))
    if weighting in ("class", "both"):
        L = dict(enumerate(np.linspace(0.5, 2.0, K).tolist()))
    machine = fit(kernel, X, codes, weights, C, class_weight=L)
    other = SVC(C=C, tol=1e-10, decision_function_shape="ovo", class_weight=L, **options)
    expected = other.fit(X, codes, sample_weight=weights).decision_function(X)
    assert all(pair.solution.status is Status.CERTIFIED for pair in machine.pairs)
    assert machine.decision_values.shape == (len(codes), K * (K - 1) // 2)
    assert_same(machine.decision_values, expected, TOL_LIBSVM)


@pytest.mark.parametrize("kernel", [Precomputed(), CustomKernel(laplace)])
def test_given_kernels_against_libsvm(clouds, kernel):
    X, codes = clouds(120, 4, seed=1)
    weights = np.random.default_rng(2).choice([0.0, 1.0, 1.5], 120)
    weights[:8] = 1.0
    new = clouds(15, seed=3)[0]
    K, K_new = laplace(X, X), laplace(new, X)
    named = isinstance(kernel, Precomputed)
    machine = fit(kernel, K if named else X, codes, weights)
    used = weights > 0  # with a precomputed kernel scikit-learn loses count of rows of weight zero
    other = SVC(C=1.0, kernel="precomputed", tol=1e-10, decision_function_shape="ovo")
    other.fit(K[np.ix_(used, used)], codes[used], weights[used])
    assert_same(machine.decision_values, other.decision_function(K[:, used]), TOL_LIBSVM)
    new_values = machine.decision_function(K_new if named else new)
    assert_same(new_values, other.decision_function(K_new[:, used]), TOL_LIBSVM)


def dense(K, y, margin, upper):
    """f (m,) by an interior-point method, whose free rows then are solved for exactly."""
    lo, hi, s = np.where(y > 0, 0.0, -upper), np.where(y > 0, upper, 0.0), y * margin
    beta, near = box_program(K, s, lo, hi, tolerance=1e-12).values, 1e-6 * upper
    free = (beta > lo + near) & (beta < hi - near)
    fixed = np.where(free, 0.0, np.where(beta - lo < hi - beta, lo, hi))
    assert free.any()
    right = np.concatenate([[-fixed.sum()], s[free] - K[free] @ fixed])
    solved = np.linalg.solve(bordered(K[np.ix_(free, free)]), right)
    fixed[free] = solved[1:]
    assert (fixed >= lo).all() and (fixed <= hi).all()
    return K @ fixed + solved[0]


@pytest.mark.parametrize("loss", ["hinge", "p0"])
@pytest.mark.parametrize("C", [0.5, 100.0, 1e4])
def test_against_a_dense_program(clouds, pairs, C, loss):
    X, codes = clouds(60, 3, seed=4)
    weights = np.random.default_rng(5).uniform(0.5, 2.0, 60)
    L = {0: 1.5, 1: 0.5, 2: 1.0}
    machine = fit(RBF(0.8), X, codes, weights, C, loss, class_weight=L)
    K = gram(RBF(0.8), X)
    for p, (i, j) in enumerate(pairs(3)):
        rows = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[rows] == i, 1.0, -1.0)
        margin, share = np.ones(len(rows)), L[j] / (L[i] + L[j])
        if loss == "p0":
            margin = np.where(y > 0, -np.log(share) / (1 - share), -np.log(1 - share) / share)
        upper = C * weights[rows] * np.array([L[code] for code in codes[rows].tolist()])
        assert_same(machine.decision_values[rows, p], dense(K[np.ix_(rows, rows)], y, margin, upper))


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_each_pair_is_the_machine_of_its_rows(clouds, pairs, name, C, loss):
    X, codes = clouds(90, 4, seed=6)
    kernel = KERNELS[name]
    weights = np.random.default_rng(7).choice([0.3, 1.0, 2.0], 90)
    L = {0: 0.5, 2: 2.0}
    machine = fit(kernel, X, codes, weights, C, loss, class_weight=L)
    for p, (i, j) in enumerate(pairs(4)):
        pair = machine.pairs[p]
        own = make_loss(loss, L.get(i, 1.0), L.get(j, 1.0))
        rows = (codes == i) | (codes == j)
        alone = fit_machine(kernel, X[rows], codes[rows], weights[rows], [Contrast(i, j, own)], C=C)
        assert (pair.first, pair.second, pair.loss) == (i, j, own)
        assert_same(machine.decision_values[:, p], alone.decision_function(X)[:, 0])
        assert machine.intercept[p] == pytest.approx(alone.pairs[0].solution.intercept, abs=TOL_FIT * max(1, C))
        assert pair.solution.objective == pytest.approx(alone.pairs[0].solution.objective, rel=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "p0"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_event_of_two_classes_gives_the_sign(clouds, name, loss):
    """One pair on the gram matrix itself, in either order."""
    X, codes = clouds(70, 2, seed=8)
    kernel, weights = KERNELS[name], np.random.default_rng(9).choice([0.0, 0.5, 1.0, 3.0], 70)
    weights[:4] = 1.0
    machine, other = (
        fit(kernel, X, codes, weights, 2.0, loss, class_weight={0: 1.5, 1: 0.5}, order=[order])
        for order in ((0, 1), (1, 0))
    )
    assert machine.pairs[0].problem.gram is machine.gram
    assert_same(machine.decision_values, -other.decision_values)
    assert_same(machine.decision_function(X), -other.decision_function(X))
    assert_same(machine.alpha, other.alpha)
    maps, other_maps = fit_maps(machine), fit_maps(other)
    assert maps.slope[0] == pytest.approx(other_maps.slope[0], rel=TOL_FIT)
    assert maps.intercept[0] == pytest.approx(-other_maps.intercept[0], abs=TOL_FIT)
    p = maps.alone.probability(machine.decision_values[:, 0])
    assert_same(maps.probabilities(machine.decision_values), np.column_stack([p, 1 - p]))
    assert_same(other_maps.probabilities(other.decision_values), np.column_stack([p, 1 - p]))


# -- new rows, some at a time ------------------------------------------------------------------------------------------


@pytest.fixture(params=[4, 5, 11])
def few_rows_at_once(request, monkeypatch):
    monkeypatch.setattr("svmstat.machine.pairs._AT_ONCE", request.param)


@pytest.mark.usefixtures("few_rows_at_once")
def test_values_of_each_pair_are_zero_where_their_own_rounding_is_larger():
    h = np.random.default_rng(0).normal(size=(11, 2))
    intercept, resolution = np.array([0.5, -0.25]), np.array([0.2, 0.8])
    pairs = [
        SimpleNamespace(solution=SimpleNamespace(intercept=b, resolution=least))
        for b, least in zip(intercept, resolution, strict=True)
    ]
    f = h + intercept
    expected = np.where(np.abs(f) <= resolution, 0.0, f)
    np.testing.assert_array_equal(decided(pairs, h.copy()), expected)
    assert (expected == 0.0).any(axis=0).all() and ((expected[:, 0] != 0.0) & (np.abs(f[:, 0]) < 0.8)).any()


@pytest.mark.usefixtures("few_rows_at_once")
def test_votes_of_many_rows_are_those_of_each():
    f = np.random.default_rng(0).normal(size=(11, 6))
    assert vote(f, pairs_of(4)).tolist() == [vote(row[None], pairs_of(4)).item() for row in f]
    np.testing.assert_array_equal(by_class(f, pairs_of(4)), [by_class(row[None], pairs_of(4))[0] for row in f])
