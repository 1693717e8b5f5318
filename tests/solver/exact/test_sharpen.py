"""Where the digits of kernel values do not do: products are taken instead, or the certificate says so."""

from fractions import Fraction

import numpy as np
import pytest

from svmstat.kernels import RBF, Linear, Polynomial, Precomputed, Scaled, Sum
from svmstat.solver import BoxQP, Gram, Status, solve

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 2.0], [3.0, 1.0]])
SIGNS = np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])


def posed(kernel, X, y, C):
    return BoxQP(Gram(kernel.bind(X)), y, np.ones(len(y)), np.full(len(y), C))


@pytest.mark.parametrize(("offset", "C"), [(1e3, 0.1), (1e3, 1.0), (1e6, 0.1), (1e6, 1.0), (2.0**27, 0.1)])
def test_a_linear_machine_is_the_same_far_from_the_origin(offset, C):
    """Σβ = 0, so that f does not depend on the offset, which doubles add without an error."""
    near, far = (solve(posed(Linear(), POINTS + shift, SIGNS, C)) for shift in (0.0, offset))
    np.testing.assert_allclose(far.decision, near.decision, rtol=0, atol=2.0 * far.rounding + 1e-9)
    assert far.status is Status.CERTIFIED
    assert np.sign(far.decision).tolist() == SIGNS.tolist()


@pytest.mark.parametrize("offset", [1e9, 1e11, 1e13])
def test_what_cannot_be_told_is_not_certified(offset):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)).round(1) + offset, np.where(rng.random(30) < 0.5, 1.0, -1.0)
    found, true = (solve(posed(Linear(), points, y, 10.0)) for points in (X, X - offset))
    spread = np.ptp(true.decision)
    wrong = np.abs((found.decision - found.decision.mean()) - (true.decision - true.decision.mean())).max()
    assert found.status is not Status.CERTIFIED or wrong < 1e-5 * spread


def exact_violation(X, y, C, beta, power, constant):
    """The KKT violation of β in rational arithmetic."""
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    weights = [Fraction(value) for value in beta.tolist()]
    h = []
    for row, sign in zip(rows, y.tolist(), strict=True):
        values = ((sum(a * b for a, b in zip(row, other, strict=True)) + constant) ** power for other in rows)
        h.append(Fraction(sign) - sum(w * value for w, value in zip(weights, values, strict=True)))
    low = max(v for v, b, s in zip(h, beta, y, strict=True) if b < (C if s > 0 else 0.0))
    high = min(v for v, b, s in zip(h, beta, y, strict=True) if b > (0.0 if s > 0 else -C))
    return float(low - high)


@pytest.mark.parametrize("constant", [0, 1, 100, 10_000, 1_000_000])
def test_the_rounding_of_kernel_values_counts(constant):
    """Cubes of 10 000 + x'z are large and differ little: of f only few digits are left, and α is optimal to no more."""
    rng = np.random.default_rng(59)
    X = rng.normal(size=(20, 2))
    y = np.where(X[:, 0] + rng.normal(size=20) > 0, 1.0, -1.0)
    found = solve(posed(Polynomial(1.0, float(constant), 3), X, y, 1.0))
    off = exact_violation(X, y, 1.0, y * found.alpha, 3, constant)
    assert off <= max(found.violation, 1e-8) + 2.0 * found.rounding
    assert found.status is not Status.CERTIFIED or off <= 1e-5 * np.ptp(found.decision)


@pytest.mark.parametrize(
    ("kernel", "units"),
    [
        (Linear(), 0.0), (RBF(1.0), 1.0), (Polynomial(1.0, 1.0, 3), 6.0), (Scaled(2.0, Polynomial(1.0, 1.0, 3)), 6.0),
        (Sum((RBF(1.0), Polynomial(1.0, 1.0, 2))), 4.0),
    ],
)  # fmt: skip
def test_how_far_values_may_be_off_where_no_products_take_their_place(kernel, units):
    assert Gram(kernel.bind(POINTS)).blur == units
    assert Gram(kernel.bind(POINTS)).part(np.array([0, 2])).blur == units


def test_given_values_are_what_they_are_and_products_are_kept():
    assert Gram(Precomputed().bind(POINTS @ POINTS.T)).blur == 0.0
    assert Gram(Linear().bind(POINTS)).part(np.array([0, 2])).vectors.tolist() == POINTS[[0, 2]].tolist()
    assert Gram(RBF(1.0).bind(POINTS)).vectors is None
