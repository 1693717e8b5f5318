"""Folds, stratified, of two classes and more: against fits without their rows, and against another solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from levels import COUPLINGS, laplace
from sklearn.svm import SVC

from svmstat.kernels import RBF, CustomKernel, Linear, Precomputed, gram
from svmstat.machine import Contrast, contrasts, pose, vote
from svmstat.objective.losses import hinge
from svmstat.resampling.folds import assign_folds, hold_out

TOL_LIKELIHOOD = 1e-6  # log-likelihoods by two certified fits, relative and absolute
TOL_REFIT = 1e-6  # decision values of two certified fits, relative to max(1, |f|)
TOL_LIBSVM = 1e-4  # libsvm keeps its kernel matrix in single precision; decision values of order 1, C up to 30

COSTS = [0.05, 0.5, 1.0, 20.0]
both = pytest.mark.parametrize("coupling", COUPLINGS)


def k_folds(machine, k, seed=0):
    """Which groups (G,) each of k folds leaves out."""
    fold = assign_folds(machine.group_codes.astype(float), k, np.random.default_rng(seed))
    return [fold == which for which in range(k)]


def posed(machine, loss="hinge", class_weight=None, order=None):
    """The problems of a machine, not solved."""
    asked = contrasts(machine.classes, loss, class_weight)
    return pose(machine.kernel, machine.X, machine.codes, machine.weights, asked, C=machine.C)


def check(machine, out, costs, coupling, fit, **options):
    """One fold by fits to the other rows."""
    held = hold_out(posed(machine, **options), out, costs, coupling)
    first, of_row = machine.groups.first, machine.groups.of_row
    kept = (of_row >= 0) & ~out[of_row]
    weights = np.where(kept, machine.weights, 0.0)
    rows = first[out]
    codes = machine.codes[rows]
    assert held.certified.all() and held.calibrated.all()
    assert held.winner.shape == held.log_likelihood.shape == (len(costs), len(rows))
    for j, C in enumerate(costs):
        alone, maps = fit(machine.kernel, machine.X, machine.codes, weights, C=C, coupling=coupling, **options)
        f = alone.decision_values[rows]
        clear = np.abs(f).min(axis=1) > TOL_REFIT * max(1.0, np.abs(f).max())  # no vote hangs on rounding
        np.testing.assert_array_equal(held.winner[j, clear], vote(f, machine.classes)[clear])
        assert clear.sum() >= 0.9 * len(rows)
        expected = np.log(maps.probabilities(f)[np.arange(len(rows)), codes])
        np.testing.assert_allclose(held.log_likelihood[j], expected, rtol=TOL_LIKELIHOOD, atol=TOL_LIKELIHOOD)
        is_support = (alone.alpha > 0).any(axis=1)
        assert held.n_support[j] == pytest.approx(weights[is_support].sum(), rel=1e-12)
    return held


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 6), K=st.integers(2, 5))
def test_folds_are_balanced_within_each_class(seed, k, K):
    codes = np.random.default_rng(seed).integers(0, K, 50)
    fold = assign_folds(codes.astype(float), k, np.random.default_rng(seed))
    for rows in (np.ones(50, bool), *(codes == c for c in range(K))):
        assert np.ptp(np.bincount(fold[rows], minlength=k)) <= 1


@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_problems_are_those_of_the_machines(clouds, fit, loss, K):
    X, codes = clouds(60, K, seed=9)
    weights = np.random.default_rng(10).choice([0.0, 0.5, 2.0], 60)
    weights[: 4 * K] = 1.0
    options = {"loss": loss, "class_weight": {1: 3.0}}
    machine, _ = fit(RBF(0.5), X, codes, weights, C=2.0, **options)
    problems = posed(machine, **options)
    assert (problems.C, problems.n_classes) == (2.0, K)
    np.testing.assert_array_equal(problems.group_codes, machine.group_codes)
    for a, b in zip(problems.pairs, machine.pairs, strict=True):
        assert (a.first, a.second, a.loss) == (b.first, b.second, b.loss)
        np.testing.assert_array_equal(a.rows, b.rows)
        for name in ("signs", "margin", "upper"):
            np.testing.assert_array_equal(getattr(a.problem, name), getattr(b.problem, name))
        np.testing.assert_array_equal(a.problem.gram.complete(), b.problem.gram.complete())
    out = k_folds(machine, 3)[0]
    of_problems = hold_out(problems, out, COSTS, "wu-lin-weng")
    of_machine = hold_out(machine, out, COSTS, "wu-lin-weng")  # of the solutions nothing is used
    np.testing.assert_array_equal(of_problems.log_likelihood, of_machine.log_likelihood)


@both
@pytest.mark.parametrize("name", ["liver", "iris", "wine"])
def test_data_sets(data, fit, name, coupling):
    X, codes = data[name]
    machine, _ = fit(RBF(0.5), X, codes)
    for out in k_folds(machine, 4):
        check(machine, out, COSTS, coupling, fit)


@both
@pytest.mark.parametrize(
    ("kernel", "loss"), [(Linear(), "hinge"), (RBF(0.5), "p0"), (CustomKernel(laplace), "hinge"), (Precomputed(), "p0")]
)
def test_kernels_losses_and_weights(clouds, fit, kernel, loss, coupling):
    X, codes = clouds(90, 4, seed=1)
    rows = np.concatenate([np.arange(90), np.arange(20)])
    X, codes = X[rows], codes[rows]
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.0], len(rows))
    weights[:8] = 1.0
    options = {"loss": loss, "class_weight": {0: 2.0, 3: 0.5}}
    machine, _ = fit(kernel, gram(RBF(0.5), X) if isinstance(kernel, Precomputed) else X, codes, weights, **options)
    for out in k_folds(machine, 3):
        check(machine, out, COSTS, coupling, fit, **options)


@given(seed=st.integers(0, 2**32 - 1), coupling=st.sampled_from(COUPLINGS))
def test_any_groups_may_be_left_out(clouds, fit, seed, coupling):
    rng = np.random.default_rng(seed)
    machine, _ = fit(RBF(0.5), *clouds(40, 3, seed=seed))
    out = rng.random(len(machine.group_codes)) < rng.uniform(0, 0.6)
    for c in range(3):
        out[np.flatnonzero(machine.group_codes == c)[:1]] = False
    if out.any():
        check(machine, out, [0.5, 2.0], coupling, fit)


def test_each_cost_is_that_of_a_path_of_one(clouds, fit, K):
    """And the machine's own cost is of no account."""
    X, codes = clouds(70, K, seed=3)
    machine, other = fit(RBF(0.5), X, codes, C=1.0)[0], fit(RBF(0.5), X, codes, C=7.0)[0]
    out = k_folds(machine, 5)[2]
    held, again = (hold_out(posed(each), out, COSTS, "wu-lin-weng") for each in (machine, other))
    np.testing.assert_allclose(again.log_likelihood, held.log_likelihood, rtol=TOL_LIKELIHOOD, atol=TOL_LIKELIHOOD)
    for j, C in enumerate(COSTS):
        alone = hold_out(posed(machine), out, [C], "wu-lin-weng")
        np.testing.assert_array_equal(alone.winner[0], held.winner[j])
        np.testing.assert_allclose(
            alone.log_likelihood[0], held.log_likelihood[j], rtol=TOL_LIKELIHOOD, atol=TOL_LIKELIHOOD
        )
        assert alone.n_support[0] == held.n_support[j]


def test_against_libsvm(data, fit):
    """The votes of libsvm, where no two classes have equally many."""
    X, codes = data["liver"]
    machine, _ = fit(RBF(0.5), X, codes)
    first = machine.groups.first
    for out in k_folds(machine, 5):
        held = hold_out(posed(machine), out, [0.1, 1.0, 2.0], "wu-lin-weng")
        kept, rows = ~np.isin(np.arange(len(codes)), np.flatnonzero(out[machine.groups.of_row])), first[out]
        for j, C in enumerate([0.1, 1.0, 2.0]):
            other = SVC(C=C, gamma=0.5, tol=1e-10, decision_function_shape="ovo", break_ties=False)
            other.fit(X[kept], codes[kept])
            f = other.decision_function(X[rows])
            clear = np.abs(f).min(axis=1) > 1e-5
            most = np.sort(votes_of(f, 4), axis=1)
            decided = clear & (most[:, -1] > most[:, -2])
            assert decided.mean() > 0.8
            np.testing.assert_array_equal(held.winner[j, decided], other.predict(X[rows])[decided])


def votes_of(f, K):
    votes = np.zeros((len(f), K))
    p = 0
    for i in range(K):
        for j in range(i + 1, K):
            votes[:, i] += f[:, p] > 0
            votes[:, j] += f[:, p] <= 0
            p += 1
    return votes


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_classes_by_the_definition(clouds, fit, order):
    X, codes = clouds(60, 2, seed=4)
    weights = np.random.default_rng(5).choice([0.0, 0.5, 1.0, 2.0], 60)
    weights[:4] = 1.0
    how = {"class_weight": {0: 2.0}, "order": [order]}
    machine, _ = fit(RBF(0.5), X, codes, weights, **how)
    for out in k_folds(machine, 3):
        check(machine, out, COSTS, "wu-lin-weng", fit, **how)


@both
@pytest.mark.parametrize("lost", [[0], [2], [3], [0, 1], [1, 2, 3]])
def test_a_lost_class_is_told(clouds, fit, coupling, lost):
    """Of such a fold nothing is known, with one cost or several."""
    machine, _ = fit(RBF(0.5), *clouds(40, 4, seed=6))
    problems, out = posed(machine), np.isin(machine.group_codes, lost)
    out[:5] = True
    for costs in ([1.0], COSTS):
        held = hold_out(problems, out, costs, coupling)
        np.testing.assert_array_equal(held.winner, np.full((len(costs), out.sum()), -1))
        assert np.isnan(held.log_likelihood).all() and np.isnan(held.n_support).all()
        assert np.isnan(held.decision_values).any(axis=2).all()
        assert held.log_likelihood.shape == (len(costs), out.sum())
        assert not held.certified.any()


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_everything_left_out(clouds, fit, coupling):
    machine, _ = fit(RBF(0.5), *clouds(40, 4, seed=6))
    held = hold_out(posed(machine), np.ones(40, bool), [1.0, 2.0], coupling)
    np.testing.assert_array_equal(held.winner, np.full((2, 40), -1))
    assert np.isnan(held.log_likelihood).all()
    assert not held.certified.any()


def test_nothing_left_out(clouds, fit, K):
    machine, _ = fit(RBF(0.5), *clouds(40, K, seed=7))
    held = hold_out(posed(machine), np.zeros(40, bool), COSTS, "wu-lin-weng")
    assert held.winner.shape == held.log_likelihood.shape == (4, 0)
    assert held.certified.all() and held.calibrated.all()
    full = (machine.alpha > 0).any(axis=1).sum()
    assert held.n_support[COSTS.index(1.0)] == full


def test_beyond_the_memory_budget(clouds, fit, monkeypatch):
    X, codes = clouds(48, 4, seed=8)
    machine = fit(RBF(0.5), X, codes)[0]
    out = k_folds(machine, 4)[1]
    expected = hold_out(posed(machine), out, COSTS, "wu-lin-weng")
    monkeypatch.setitem(type(machine.gram).__init__.__kwdefaults__, "budget", 1000)
    problems = posed(machine)
    assert not problems.gram.fits
    held = hold_out(problems, out, COSTS, "wu-lin-weng")
    np.testing.assert_array_equal(held.winner, expected.winner)
    np.testing.assert_allclose(held.log_likelihood, expected.log_likelihood, rtol=TOL_LIKELIHOOD, atol=TOL_LIKELIHOOD)


# -- two classes, and folds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.3, 5.0])
def test_decision_values_are_those_of_independent_fits(gamma):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=90) > 0, 1.0, -1.0)
    w = rng.uniform(0.5, 2.0, size=90)
    posed = pose(RBF(gamma), X, (y > 0).astype(int), w, [Contrast(1, 0, hinge(1.0, 2.0))], C=1.0)
    first = posed.groups.first
    fold = assign_folds(y[first], 4, rng)
    costs = [0.1, 1.0, 30.0]
    for which in range(4):
        held = hold_out(posed, fold == which, costs, "wu-lin-weng")
        kept, out = first[fold != which], first[fold == which]
        assert held.certified.all() and held.calibrated.all()
        for j, C in enumerate(costs):
            other = SVC(C=C, gamma=gamma, tol=1e-10, class_weight={1.0: 1.0, -1.0: 2.0})
            other.fit(X[kept], y[kept], sample_weight=w[kept])
            np.testing.assert_allclose(held.decision_values[j, :, 0], other.decision_function(X[out]), atol=TOL_LIBSVM)
