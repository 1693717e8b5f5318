"""The generalised covariance measure from its definition; what it does not depend on; where there is none."""

import numpy as np
import pytest
from patsy import dmatrix
from scipy.stats import chi2
from statsmodels.stats.multitest import multipletests

from svmstat.objective.units import Units
from svmstat.resampling.covariance import generalised_covariance, holm, orthonormal
from svmstat.resampling.ridge import canonical_residuals

# T is a quotient of sums of n terms.
TOL = 1e-7


def drawn(n=150, K=2, seed=0):
    """Residuals of a response of K levels, two other predictors, and an x that depends on them."""
    rng = np.random.default_rng(seed)
    others = rng.normal(size=(n, 2))
    x = others[:, :1] ** 2 + rng.normal(size=(n, 1))
    p = rng.dirichlet(np.ones(K), n)
    codes = np.array([rng.choice(K, p=each) for each in p])
    return np.eye(K)[codes] - p, x, others, np.ones(n)


def by_definition(r, targets, others, w):
    """T = n w̄' Ŝ⁻¹ w̄ as in Shah & Peters (2020), a row for each of Σw copies."""
    e = np.repeat(canonical_residuals(others, targets, w), w.astype(int), axis=0)
    r = np.repeat(r, w.astype(int), axis=0)
    products = np.einsum("ij,ik->ijk", r[:, 1:], e).reshape(len(r), -1)
    S = np.cov(products.T, bias=True).reshape(products.shape[1], -1)
    mean = products.mean(axis=0)
    return len(r) * mean @ np.linalg.inv(S) @ mean


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 3.0]])
def test_it_is_the_definition(K, weights):
    r, x, others, w = drawn(K=K)
    w = np.resize(weights, len(w))
    found = generalised_covariance(r, x, others, w)
    pair = orthonormal(np.hstack([x, x**2]), w)
    assert found.statistic == pytest.approx(by_definition(r, pair, others, w), rel=TOL)
    assert found.df == 2 * (K - 1)
    assert found.pvalue == pytest.approx(chi2.sf(found.statistic, found.df))


@pytest.mark.parametrize("K", [2, 3])
def test_units_and_reference_levels_do_not_matter(K):
    r, x, others, w = drawn(K=K)
    levels = np.digitize(x[:, 0], [0.0, 1.0, 2.0])
    every = np.eye(4)[levels]
    same = generalised_covariance(r, every, others, w)
    assert same.df == 3 * (K - 1)
    for columns in (every[:, 1:], every[:, [3, 0, 2]], every @ np.diag([1.0, 5.0, 0.1, 7.0])):
        assert generalised_covariance(r, columns, others, w).statistic == pytest.approx(same.statistic, rel=1e-6)
    plain = generalised_covariance(r, x, others, w)
    assert generalised_covariance(r, 3.0 - 40.0 * x, others, w).statistic == pytest.approx(plain.statistic, rel=1e-5)


@pytest.mark.parametrize("K", [2, 3])
def test_the_basis_of_splines_does_not_matter(K):
    """Only the space that columns span: of one λ for all, or of one for each column, it would."""
    r, x, others, w = drawn(K=K)
    splines = np.asarray(dmatrix("bs(x, df=4) - 1", {"x": x[:, 0]}))
    mixed = splines @ np.random.default_rng(2).normal(size=(4, 4))
    found = generalised_covariance(r, splines, others, w)
    assert generalised_covariance(r, mixed, others, w).statistic == pytest.approx(found.statistic, rel=1e-5)


@pytest.mark.parametrize("columns", [lambda x: x, lambda x: np.asarray(dmatrix("bs(x, df=4) - 1", {"x": x[:, 0]}))])
def test_what_both_follow_is_no_dependence(columns):
    """A sine that the fit without x has missed: with one λ, that of the noisiest column, so has the regression of x."""
    rng = np.random.default_rng(6)
    rejected = 0
    for _ in range(100):
        z, v, noise = rng.normal(size=(3, 60, 1))
        x = np.sin(2.0 * z) + 0.5 * noise
        event = rng.random((60, 1)) < 1.0 / (1.0 + np.exp(v - 2.0 * np.sin(2.0 * z)))
        missed = event - 1.0 / (1.0 + np.exp(v))
        found = generalised_covariance(np.hstack([-missed, missed]), columns(x), np.hstack([z, v]), np.ones(60))
        rejected += found.pvalue < 0.05
    assert rejected <= 11  # 5, and three standard errors of 100 samples


def test_levels_of_the_response_do_not_matter():
    r, x, others, w = drawn(K=3)
    found = [generalised_covariance(r[:, order], x, others, w).statistic for order in ([0, 1, 2], [2, 0, 1])]
    assert found[0] == pytest.approx(found[1], rel=TOL)


def test_copies_are_weights():
    r, x, others, w = drawn()
    w = np.resize([1.0, 2.0, 3.0], len(w))
    times = np.repeat(np.arange(len(w)), w.astype(int))
    copied = generalised_covariance(r[times], x[times], others[times], np.ones(len(times)))
    assert generalised_covariance(r, x, others, w).statistic == pytest.approx(copied.statistic, rel=1e-6)


def test_a_column_of_two_values_has_no_square():
    r, x, others, w = drawn()
    assert generalised_covariance(r, (x > 0).astype(float), others, w).df == 1


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (lambda x, z: z[:, :1], "functions of the other predictors"),
        (lambda x, z: z[:, :1] * z[:, 1:], "functions of the other predictors"),
        (lambda x, z: np.ones_like(x), "constant"),
        (lambda x, z: np.eye(90)[np.arange(len(x)) % 90], "800 rows are fewer than 10 for each of 89"),
    ],
)
def test_where_there_is_none_it_says_why(columns, why):
    r, x, _, w = drawn(800)
    others = np.random.default_rng(1).uniform(size=(800, 2))
    found = generalised_covariance(r, columns(x, others), others, w)
    assert np.isnan(found.statistic) and np.isnan(found.pvalue) and why in found.why_not


@pytest.mark.parametrize("K", [2, 3])
def test_what_is_a_sum_of_the_others_does_not_count(K):
    """Sites within regions: the contrasts between regions are no part of what the sites tell beyond them."""
    r, x, others, w = drawn(200, K)
    region = np.digitize(x[:, 0], [1.0])
    site = 2 * region + (others[:, 0] > 0)
    both = np.column_stack([others, np.eye(2)[region]])
    within = np.column_stack([np.where(region == k, np.where(site % 2, 1.0, 0.0), 0.0) for k in (0, 1)])
    for k in (0, 1):
        within[region == k, k] -= within[region == k, k].mean()
    found, alone = (generalised_covariance(r, columns, both, w) for columns in (np.eye(4)[site], within))
    assert found.df == alone.df == 2 * (K - 1)
    assert found.statistic == pytest.approx(alone.statistic, rel=1e-6)
    assert found.concurvity == pytest.approx(1.0 - 2.0 / 3.0 * (1.0 - alone.concurvity), rel=1e-6)
    nothing = generalised_covariance(r, np.eye(2)[region], np.column_stack([others, np.eye(4)[site]]), w)
    assert nothing.df == 0 and nothing.concurvity == 1.0 and "functions of the other predictors" in nothing.why_not


def test_concurvity_is_the_part_that_the_others_explain():
    rng = np.random.default_rng(1)
    r, _, others, w = drawn(800)
    for share in (0.0, 0.5, 0.9):
        x = np.sqrt(share) * others[:, :1] + np.sqrt(1.0 - share) * rng.normal(size=(800, 1))
        pair = generalised_covariance(r, (x > 0).astype(float), others, w).concurvity
        alone = generalised_covariance(r, x, others, w).concurvity
        assert -0.02 < pair < share + 0.1 and abs(alone - (share + share**2) / 2.0) < 0.1  # of x, and of x squared


def test_it_finds_what_there_is():
    _, x, others, w = drawn(400)
    rng = np.random.default_rng(3)
    event = rng.uniform(size=400) < 1.0 / (1.0 + np.exp(-(x[:, 0] - 1.0)))
    blind = np.column_stack([event, ~event]) - 0.5
    assert generalised_covariance(blind, x, others, w).pvalue < 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_that_of_statsmodels(seed):
    p = np.random.default_rng(seed).uniform(size=7) ** 3
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-12)
    with_gaps = np.insert(p, [0, 4], np.nan)
    np.testing.assert_array_equal(holm(with_gaps)[~np.isnan(with_gaps)], holm(p))


@pytest.mark.parametrize("K", [2, 3])
def test_units_of_one_row_are_rows(K):
    r, x, others, w = drawn(K=K)
    alone = generalised_covariance(r, x, others, w, Units(np.random.default_rng(1).permutation(150), 150, False))
    assert alone.statistic == pytest.approx(generalised_covariance(r, x, others, w).statistic, rel=TOL)


def test_repeated_rows_of_one_unit_tell_nothing_new():
    """Ten copies of each row: as rows T grows, as groups it is what it was but for the ridge's own penalty."""
    r, x, others, w = drawn(60)
    group = np.tile(np.arange(60), 10)
    many = [np.tile(each, (10, 1)) for each in (r, x, others)]
    by_group = generalised_covariance(*many, np.ones(600), Units(group, 60, True)).statistic
    by_row = generalised_covariance(*many, np.ones(600)).statistic
    assert by_group == pytest.approx(generalised_covariance(r, x, others, w).statistic, rel=0.2)
    assert by_row > 2.0 * by_group
    few = generalised_covariance(*many, np.ones(600), Units(group % 15, 15, True))
    assert few.why_not.startswith("15 groups are fewer than 10")


@pytest.mark.parametrize(("offset", "unit"), [(2.0**30, 1.0), (0.0, 2.0**-600), (0.0, 2.0**500)])
def test_neither_origin_nor_unit_of_a_single_column_matters(offset, unit):
    """Its square is that of the centred column: far from zero, or of another size, it has no digits of its own."""
    r, x, others, w = drawn()
    x = np.round(x * 2**20) / 2**20  # adding a power of two is exact
    near, far = (generalised_covariance(r, each, others, w) for each in (x, (x + offset) * unit))
    assert far.statistic == pytest.approx(near.statistic, rel=1e-9) and far.df == near.df == 2


@pytest.mark.parametrize("unit", [1e-200, 1e-150, 1e150])
def test_the_unit_of_the_others_does_not_matter(unit):
    r, x, others, w = drawn()
    near, far = (generalised_covariance(r, x, each, w) for each in (others, others * unit))
    assert far.statistic == pytest.approx(near.statistic, rel=1e-9)


def test_products_that_do_not_vary_in_a_direction_are_not_tested():
    """T would be a quotient of roundings: 1e16, or less than zero."""
    group = np.repeat([0, 0, 1, 2], [25, 25, 30, 30])
    level = np.repeat([0, 1, 1, 2], [25, 25, 30, 30])
    residuals = np.eye(3)[level] - np.eye(3)[level].mean(axis=0)
    found = generalised_covariance(residuals, np.eye(3)[group][:, 1:], np.empty((110, 0)), np.ones(110))
    assert np.isnan(found.statistic) and "does not vary in all directions" in found.why_not


@pytest.mark.parametrize("scale", [1.0, -3.0])
def test_a_copy_of_another_column_is_not_tested_by_its_square(scale):
    rng = np.random.default_rng(4)
    others, y = rng.exponential(size=(200, 2)), rng.random(200) < 0.4
    found = generalised_covariance((y - 0.4)[:, None] * [-1.0, 1.0], scale * others[:, :1] + 1.0, others, np.ones(200))
    assert found.df == 0 and "functions of the other predictors" in found.why_not


@pytest.mark.parametrize("p", [45, 58, 59, 60, 90])
def test_a_column_is_no_function_of_others_that_are_as_many_as_rows(p):
    rng = np.random.default_rng(p)
    X, y = rng.normal(size=(60, p)), rng.random((60, 1)) < 0.5
    found = generalised_covariance(np.hstack([y, ~y]) - 0.5, X[:, :1], X[:, 1:], np.ones(60))
    assert found.df == 2 and found.why_not == ""
    assert abs(found.concurvity) < 0.3 and found.pvalue > 1e-4


def test_rows_that_count_as_few_have_no_test():
    """One row with half of all the weight: the variance about a mean that is that row is next to nothing."""
    rng = np.random.default_rng(0)
    x, z, y, w = rng.normal(size=60), rng.normal(size=60), rng.integers(0, 2, 60), np.ones(60)
    w[0] = 60.0
    residuals = np.eye(2)[y] - 0.5
    units = Units(np.arange(60), 60, False)
    lone = generalised_covariance(residuals, x[:, None], z[:, None], w / w.mean(), units)
    assert np.isnan(lone.pvalue)
    assert lone.why_not.startswith(
        "by their weights the rows count as about 3.87 [Kish 1965], fewer than 10 for each of 2"
    )
    even = generalised_covariance(residuals, x[:, None], z[:, None], np.where(w > 1.0, 2.0, 1.0), units)
    assert 0.0 < even.pvalue <= 1.0
