"""Any small problem: every answer is what its status says, judged in more digits and by an interior-point method."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.fuzz.boxes import judge_bounds
from benchmarks.fuzz.dense import compare
from benchmarks.fuzz.judge import answer_of, judge
from svmstat import svm
from svmstat.kernels import RBF, Linear, Polynomial, Spline
from svmstat.objective.losses import p0
from svmstat.solver import BoxQP, Gram, Status, solve

BOUNDS = (0.0, 1e-12, 1e-8, 0.1, 0.3, 0.5, 1.0, 1.0, 1.0, 3.0, 7.0, 1e4, 1e8, 1e12)


@st.composite
def tables(draw):
    """Rows (n, p) of small whole numbers on some scale, so that many of them tie, and labels of both classes."""
    p = draw(st.integers(1, 3))
    row = st.tuples(*[st.integers(-2, 2)] * p)
    rows = draw(st.lists(st.tuples(row, st.booleans()), min_size=0, max_size=16))
    rows += [(draw(row), True), (draw(row), False)]
    X = np.array([x for x, _ in rows], float) * draw(st.sampled_from([1e-7, 1e-3, 0.3, 1.0, 1e3, 1e7]))
    return X, np.where([label for _, label in rows], 1.0, -1.0)


@st.composite
def problems(draw):
    """Problems with all kernels, and bounds of all sizes side by side."""
    X, y = draw(tables())
    n = len(y)
    size = np.abs(X).max(initial=0.0) or 1.0
    kernel = draw(
        st.sampled_from(
            [
                Linear(), RBF(0.5), RBF(1.0 / size**2), RBF(1e-9 / size**2), RBF(1e6 / size**2),
                Polynomial(1.0 / size**2, 1.0, 2), Polynomial(1.0, 0.0, 3), Spline(X.min(axis=0), X.max(axis=0)),
            ]
        )
    )  # fmt: skip
    upper = np.array(draw(st.lists(st.sampled_from(BOUNDS), min_size=n, max_size=n)))
    if draw(st.booleans()):
        upper[:] = draw(st.sampled_from(BOUNDS[1:]))
    loss = p0(*draw(st.sampled_from([(1.0, 1.0), (0.5, 1.5), (1.9, 0.1)])))
    margin = loss.margin(y) if draw(st.booleans()) else np.ones(n)
    return BoxQP(Gram(kernel.bind(X)), y, margin, upper)


@st.composite
def hulls(draw):
    """Problems with a sum for each class: a share of what the bounds allow."""
    problem = draw(problems())
    most = min(problem.upper[problem.signs == sign].sum() for sign in (1.0, -1.0))
    share = draw(st.sampled_from([1.0, 0.9, 0.5, 0.2, 1e-3]))
    total = share * float(most) if most > 0.0 else 1.0
    return BoxQP(problem.gram, problem.signs, np.ones(problem.n), problem.upper, total)


def described(findings):
    return "\n".join(f"{finding.check}: {finding.detail}" for finding in findings)


@settings(max_examples=150)
@given(problem=problems() | hulls())
def test_an_answer_is_what_its_status_says(problem):
    answer = answer_of(solve(problem))
    findings = judge(problem, answer) + compare(problem, answer).findings
    assert not findings, described(findings)


@settings(max_examples=60)
@given(problem=problems() | hulls(), seed=st.integers(0, 2**16))
def test_so_are_those_for_other_bounds(problem, seed):
    findings = judge_bounds(problem, seed, solve(problem))
    assert not findings, described(findings)


@given(table=tables())
def test_ordinary_problems_are_certified(table):
    """Whatever ties there are: bounds of one size and a kernel whose values are of that size."""
    X, y = table
    X = X / (np.abs(X).max(initial=0.0) or 1.0)
    for kernel in (Linear(), RBF(1.0)):
        for C in (0.1, 1.0, 10.0):
            solution = solve(BoxQP(Gram(kernel.bind(X)), y, np.ones(len(y)), np.full(len(y), C)))
            assert solution.status is Status.CERTIFIED


def with_a_far_row(far, n=60):
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, n))
    data = pd.DataFrame({"x": x, "z": z, "y": x + z**2 + 0.3 * rng.normal(size=n) > 0.8})
    data.loc[0, ["x", "z"]] = far
    data.loc[0, "y"] = True
    return data


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("far", [3e3, 3e4, 1e6])
@pytest.mark.parametrize("cost", [{"C": 10.0}, {"nu": (0.4, 0.4)}], ids=["C", "nu"])
def test_f_is_that_of_a_fit_without_a_far_row(far, degree, cost):
    """It is no support vector. A bound on the rounding of its own f had been that of all: theirs were 0."""
    how = {"kernel": "poly", "degree": degree, "coef0": 1.0, "gamma": 1.0, "scale": False, **cost}
    data = with_a_far_row(far)
    fit = svm("y ~ x + z", data, **how)
    assert fit.converged and fit.alpha[0] == 0.0
    others = data.iloc[1:]
    if "C" in how:
        alone = svm("y ~ x + z", others, **how)
        np.testing.assert_allclose(fit.decision_values[1:], alone.decision_values, rtol=0, atol=1e-8)
        np.testing.assert_allclose(fit.loo().decision_values[1:], alone.loo().decision_values, rtol=0, atol=1e-7)
        assert fit.predict(others).equals(alone.predict(others))
        assert "rounding hides" not in str(fit.summary(loo=True))
    assert fit.decision_values.nunique() > 45
    assert (fit.decision_values != 0.0).all()


def test_weights_of_a_million_beside_a_far_row():
    rng = np.random.default_rng(3)
    data = with_a_far_row(1e7)
    weights = 10.0 ** rng.uniform(-6, 6, len(data))
    how = {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 100.0, "scale": True, "gamma": 0.01}
    fit = svm("y ~ x + z", data, weights=weights, **how)
    K = (0.01 * fit.frame.X @ fit.frame.X.T + 1.0) ** 2
    own = K.astype(np.longdouble) @ (fit.alpha.to_numpy() * fit.frame.y) + fit.intercept
    assert fit.converged
    np.testing.assert_allclose(fit.decision_values[1:], own[1:].astype(float), rtol=0, atol=1e-6)


@pytest.mark.filterwarnings("ignore::svmstat.errors.CertificateWarning")
@pytest.mark.parametrize("seed", [33, 79, 147])
def test_last_digits_of_far_rows_do_not_unsettle_the_others(seed):
    """Three of 40 rows lie far away, under a cubic kernel with a large C: f had been 0 at all others, and is ±1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    X[:3] *= 1e7
    data = pd.DataFrame(X, columns=["a", "b"]).assign(y=rng.random(40) < 0.3 + 0.4 * (X[:, 0] > 0))
    fit = svm("y ~ a + b", data, kernel="poly", gamma=0.5, degree=3, coef0=1.0, C=1e5)
    assert (fit.decision_values.abs() > 0.9).all()


@pytest.mark.parametrize("far", [1e3, 1e5, 1e7])
def test_hulls_that_meet_beside_a_far_row_are_certified(far):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 2))
    y = X[:, 0] + 0.8 * rng.normal(size=50) > 0
    X[0] *= far
    data = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    fit = svm("y ~ a + b", data, kernel="poly", degree=2, gamma=0.3, coef0=1.0, nu=(0.3, 0.4), scale=False)
    assert fit.converged and (fit.decision_values == 0.0).all()
    assert "the reduced hulls of the levels meet (rho = 0)" in " ".join(str(fit.summary(loo=False)).split())


@pytest.mark.parametrize("far", [1e5, 1e6, 1e7])
@pytest.mark.parametrize("seed", range(4))
def test_hulls_far_apart_do_not_meet_beside_a_cluster_of_another_scale(far, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    X[:6] *= far
    data = pd.DataFrame(X, columns=["a", "b"]).assign(y=X.sum(axis=1) > 0)
    fit = svm("y ~ a + b", data, kernel="linear", nu=(0.3, 0.4), scale=False)
    assert fit.converged and fit.rho > 0.0 and (fit.decision_values != 0.0).all()


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_a_rare_level_of_the_only_predictor_is_no_far_row(kernel, C):
    """All other rows are at one point: what f differs by is seen at the rare level alone."""
    rng = np.random.default_rng(1)
    x = rng.random(200) < 0.03
    data = pd.DataFrame({"x": x * 1.0, "y": rng.random(200) < 0.3 + 0.5 * x})
    fit = svm("y ~ x", data, kernel=kernel, C=C)
    assert fit.converged and fit.decision_values.nunique() == 2
