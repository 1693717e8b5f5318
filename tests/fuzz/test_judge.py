"""The checks of the fuzz: silent about right answers, and each says what is wrong with a wrong one."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from benchmarks.fuzz import dense, models, resampled
from benchmarks.fuzz.draw import USUAL, Case
from benchmarks.fuzz.judge import EPS, Answer, Long, answer_of, answers_of, apart, judge, known_to, sums
from svmstat import svm
from svmstat.kernels import RBF, Linear, Polynomial, Precomputed, Spline
from svmstat.solver import BoxQP, Gram, Status, solve

# What a long double says of a double, a few roundings of terms of the size of one.
TOL_KERNEL = 8 * EPS


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    return BoxQP(Gram(RBF(0.5).bind(X)), y, np.ones(40), np.full(40, 2.0))


@pytest.fixture(scope="module")
def answer(problem):
    return answer_of(solve(problem))


@pytest.fixture(scope="module")
def hulls(problem):
    most = min((problem.signs > 0).sum(), (problem.signs < 0).sum())
    return replace(problem, upper=np.ones(40), total=0.9 * float(most))


def checks(findings):
    return {finding.check for finding in findings}


def test_a_right_answer(problem, answer, hulls):
    assert answer.certified
    assert judge(problem, answer) == []
    assert judge(hulls, answer_of(solve(hulls))) == []


def test_batches_are_read_as_solutions_are(problem, hulls):
    for posed in (problem, hulls):
        uppers = np.array([posed.upper, np.where(np.arange(40) == 3, 0.0, posed.upper)])
        for upper, one in zip(uppers, answers_of(posed, uppers, solve(posed, uppers)), strict=True):
            alone = replace(posed, upper=upper)
            cold = answer_of(solve(alone))
            assert judge(alone, one) == [] and apart(alone, one, cold) == []
            np.testing.assert_allclose(one.upper, cold.upper, rtol=1e-6)
            assert one.rho == pytest.approx(cold.rho, rel=1e-6)


def wrong(answer: Answer, **changes) -> Answer:
    return replace(answer, **changes)


def spoilt(values, row, by):
    values = values.copy()
    values[row] += by
    return values


def test_each_wrong_answer_is_found(problem, answer):
    inside = int(np.flatnonzero((answer.alpha > 0) & (answer.alpha < answer.upper))[0])
    other = int(np.flatnonzero((answer.alpha > 0) & (problem.signs != problem.signs[inside]))[0])
    moved = spoilt(spoilt(answer.alpha, inside, -1e-3), other, -1e-3)
    field = problem.gram.complete() @ (problem.signs * moved)
    expected = [
        ("nan", wrong(answer, field=spoilt(answer.field, 0, np.nan))),
        ("certificate", wrong(answer, violation=1.1e-8)),
        ("certificate", wrong(answer, violation=np.nan)),
        ("box", wrong(answer, alpha=answer.alpha + 1e-15 * (answer.alpha == 2.0))),
        ("box", wrong(answer, alpha=np.where(answer.alpha == 0.0, -1e-300, answer.alpha))),
        ("balance", wrong(answer, alpha=spoilt(answer.alpha, inside, -1e-3))),
        ("field", wrong(answer, field=spoilt(answer.field, 5, 1e-11))),
        ("field", wrong(answer, field=np.zeros(40))),
        ("digits", wrong(answer, field=answer.field * (1 + 1e-4), rounding=1.0)),
        ("kkt", wrong(answer, intercept=answer.intercept + 1e-7)),
        ("kkt", wrong(answer, alpha=moved, field=field)),
        ("gap", wrong(answer, alpha=moved, field=field)),
        ("gap", wrong(answer, gap=-1e-3)),
        ("status", wrong(answer, status=Status.ONE_CLASS)),
        ("status", wrong(answer, status=Status.INFEASIBLE)),
    ]
    for check, each in expected:
        assert check in checks(judge(problem, each)), check
    assert judge(problem, wrong(answer, status=Status.UNCERTIFIED, violation=1.0)) == []
    assert checks(apart(problem, answer, wrong(answer, field=answer.field + 1e-2))) == {"road"}


def test_a_flat_field_may_leave_out_what_rounding_hides_and_no_more():
    f = np.full(3, 2e-14)
    assert known_to(f, 1.0) == 16 * EPS
    assert known_to(f, 1.0, left_out=3e-14) == 3e-14
    assert known_to(f, 1.0, left_out=1.0) == 1e-6


def test_hulls_that_are_said_to_meet(hulls):
    answer = answer_of(solve(hulls))
    beta = answer.alpha * answer.rho
    assert checks(judge(hulls, wrong(answer, rho=0.0, alpha=beta))) == {"kkt", "field"}
    zero = wrong(answer, rho=0.0, alpha=beta, field=np.zeros(40), intercept=0.0)
    assert checks(judge(hulls, zero)) == {"kkt"}


def test_clarabel_is_compared(problem, hulls):
    for posed in (problem, hulls):
        answer = answer_of(solve(posed))
        comparison = dense.compare(posed, answer)
        assert comparison.compared and not comparison.findings
        smaller = wrong(answer, alpha=0.999 * answer.alpha, gap=0.0)
        assert checks(dense.compare(posed, smaller).findings) == {"clarabel"}


def test_clarabel_is_not_asked_where_it_cannot_tell(problem, answer):
    assert not dense.compare(problem, wrong(answer, status=Status.UNCERTIFIED)).compared
    indefinite = BoxQP(Gram(Precomputed().bind(-problem.gram.complete())), problem.signs, problem.margin, problem.upper)
    assert not dense.definite(indefinite)
    assert not dense.compare(indefinite, answer).compared


@pytest.mark.parametrize(
    "kernel",
    [Linear(), RBF(0.3), Polynomial(0.4, 1.0, 5), Spline(np.array([-1.0, -2.0, 0.0]), np.array([1.0, 1.0, 0.0]))],
    ids=lambda kernel: kernel.name,
)
def test_the_formulas_are_those_of_the_kernels(kernel):
    X = np.random.default_rng(2).normal(size=(12, 3))
    exact = models.exact_kernel(kernel, X, np.arange(12), np.arange(3, 7))
    allowed = TOL_KERNEL * np.maximum(np.abs(exact), 1.0)
    assert (np.abs(kernel(X, X[3:7]) - exact) <= allowed).all()
    assert (np.abs(kernel(X, X[3:7]) - exact) <= models.kernel_rounding(kernel, X)).all()


def test_sums_are_exact():
    """Terms of 1e16 that cancel: nothing is left of their sum in doubles, and little in long doubles."""
    rng = np.random.default_rng(4)
    for size in (1e-140, 1.0, 1e140):
        K, beta = rng.normal(size=(5, 30)) * 10.0 ** rng.uniform(0, 16, 30) * size, rng.normal(size=30)
        beta[-1] = -(K[0, :-1] @ beta[:-1]) / K[0, -1]
        true = [sum(Fraction(k) * Fraction(b) for k, b in zip(row, beta, strict=True)) for row in K.tolist()]
        found = sums(K, beta, digits=0.0)
        assert abs(true[0]) < 1e-15 * np.abs(K[0] * beta).sum()
        for each, row in zip(found, true, strict=True):
            error = Fraction(float(each)) + Fraction(float(each - Long(float(each)))) - row
            assert abs(error) <= 2 * Fraction(float(np.finfo(Long).eps)) * abs(row)


def case(data, resample=None, **options):
    return Case(0, "by hand", {part: allowed[0] for part, allowed in USUAL.items()}, "y ~ .", data, options, resample)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(30, 2))
    return pd.DataFrame(x, columns=["x", "z"]).assign(y=x[:, 0] + rng.normal(size=30) > 0)


def test_what_is_raised_and_warned_is_found(data):
    def failing(X, Z):
        if len(X) > 20:
            raise ZeroDivisionError("no")
        return X @ Z.T

    report = models.examine(case(data, kernel=failing))
    assert report.outcome == "raised" and "ZeroDivisionError: no" in report.findings[0].detail

    def warning(X, Z):
        return X @ Z.T + 0.0 * np.log(np.zeros(1) + (len(X) < 20))

    with np.errstate(invalid="warn", divide="warn"):
        assert "warning" in checks(models.examine(case(data, kernel=warning)).findings)


def test_refusals_are_counted_and_must_name_something(data):
    report = models.examine(case(data, C=-1.0))
    assert report.outcome == "refused ArgumentError" and not report.findings
    assert not models._names_something("that does not work", case(data))


@pytest.mark.parametrize("resample", ["loo", "folds", "gof", "tune"])
def test_resampling_is_compared(data, resample):
    report = models.examine(case(data, resample, C=2.0, gamma=0.5))
    assert {"loo": "loo, scores", "folds": "folds", "gof": "gof, replicates", "tune": "tune, scores"}[
        resample
    ] in report.counted
    assert not checks(report.findings) & {"loo", "loo, score", "folds, score", "gof", "tune, score"}


@pytest.mark.parametrize("resample", ["loo", "folds", "gof"])
def test_wrong_resampling_is_found(data, resample, monkeypatch):
    """Brute force on other weights is another fit: the comparison must see it."""
    right = resampled.refit
    monkeypatch.setattr(resampled, "refit", lambda fit, w, *rows: right(fit, w * np.linspace(1, 2, len(w)), *rows))
    fit = svm("y ~ .", data, C=2.0, gamma=0.5)
    found = resampled.compare(case(data, resample, C=2.0, gamma=0.5), fit, models.Counter())
    assert checks(found) & {"loo", "loo, score", "folds, score", "gof"}
