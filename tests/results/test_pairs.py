"""The machines of the pairs of levels: those of scikit-learn, each a two-class fit, coupled as the papers say."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from levels import COUPLINGS, matrix, sample, votes
from scipy.special import expit
from sklearn.datasets import load_iris, load_wine
from sklearn.svm import SVC

from svmstat import SVMResults, datasets, svm
from svmstat.errors import ArgumentError

# scikit-learn's SVC at tol=1e-10. libsvm keeps kernel values in 32 bits: at C = 1 with the rbf kernel that is seen in
# the seventh digit of f. With other kernels it is seen in the sixth: there K holds numbers that 32 bits hold exactly.
TOL_SVC = 1e-6
# Two certified solutions of one problem (KKT violation ≤ 1e-8 each): another order of rows, fewer rows of other levels.
TOL_SAME = 1e-7
# What Platt's map makes of two certified solutions.
TOL_LOOP = 1e-6

ENZYMES = "disease ~ np.log(ast) + np.log(alt) + np.log(gldh)"
KERNELS = {
    "rbf": {"gamma": 0.4},
    "linear": {},
    "poly": {"degree": 2, "coef0": 1.0, "gamma": 0.3},
    "spline": {},
}

LIVER = datasets.load("liver")
_log = np.log(LIVER[["ast", "alt", "gldh"]])
STANDARDISED = ((_log - _log.mean()) / _log.std()).assign(y=LIVER["disease"])
PLAIN = "y ~ ast + alt + gldh"  # on STANDARDISED with scale=False: ENZYMES on LIVER, the scaling held


def load(name):
    """Formula and data."""
    if name == "liver":
        return ENZYMES, LIVER
    bunch = {"iris": load_iris, "wine": load_wine}[name]()
    return "y ~ .", pd.DataFrame(bunch.data).add_prefix("v").assign(y=bunch.target)


# Other solvers


def by_svc(fit, K, weights=None, **options):
    """SVC on a gram matrix (n, n), its decision values and predictions for kernel values (m, n)."""
    machine = SVC(C=fit.C, kernel="precomputed", tol=1e-10, decision_function_shape="ovo", max_iter=10**7, **options)
    machine.fit(K, fit.frame.codes, sample_weight=weights)
    assert machine.fit_status_ == 0
    return machine


def assert_is_svc(fit, machine, K, newdata=None):
    """Of two levels scikit-learn has f > 0 for the second, which is the event of these fits."""
    f, g = fit.decision_function(newdata), machine.decision_function(K)
    np.testing.assert_allclose(f, g, rtol=0, atol=TOL_SVC * max(1.0, np.abs(g).max()))
    winners, alone = votes(g, fit.pairs, fit.classes)
    clear = alone & (np.abs(matrix(g)) > 10 * TOL_SVC).all(axis=1)
    assert clear.mean() > 0.9
    predicted = np.array(fit.classes)[machine.predict(K)]
    assert (fit.predict(newdata)[clear] == predicted[clear]).all()
    assert (fit.predict(newdata)[clear] == winners[clear]).all()


@pytest.mark.parametrize(("name", "n_levels"), [("liver", 2), ("liver", 3), ("liver", 4), ("iris", 3), ("wine", 3)])
def test_decision_values_are_those_of_scikit_learn(name, n_levels):
    formula, data = load(name)
    response = formula.partition(" ~")[0]
    levels = sorted(data[response].unique())[:n_levels]
    data = data[data[response].isin(levels)]
    fit = svm(formula, data, C=1)
    X = fit.frame.X
    machine = SVC(C=1, gamma=fit.kernel.gamma, tol=1e-10, decision_function_shape="ovo").fit(X, fit.frame.codes)
    assert isinstance(fit, SVMResults) and fit.pairs.names == ["positive", "negative"]
    assert fit.pairs.tolist() == (list(combinations(levels, 2)) if n_levels > 2 else [(levels[1], levels[0])])
    assert_is_svc(fit, machine, X)
    new = data.drop(columns=response).sample(40, random_state=1)
    new += 0.1 * new.std()
    assert_is_svc(fit, machine, fit.frame.design.transform(new).X, new)


def test_new_rows_of_liver_are_predicted_as_scikit_learn_does():
    """Half of the rows fitted, the other half predicted, weights and class weights given."""
    seen, unseen = LIVER[::2], LIVER[1::2]
    w = np.resize([1.0, 2.5, 0.5], len(seen))
    fit = svm(ENZYMES, seen, C=1, weights=w, class_weight={"ACH": 3.0, "PNC": 0.5})
    machine = SVC(C=1, gamma=fit.kernel.gamma, tol=1e-10, decision_function_shape="ovo", class_weight={0: 3.0, 3: 0.5})
    machine.fit(fit.frame.X, fit.frame.codes, sample_weight=w)
    assert_is_svc(fit, machine, fit.frame.X)
    assert_is_svc(fit, machine, fit.frame.design.transform(unseen).X, unseen)


def rounded(kernel):
    """A gram matrix of liver in numbers of single precision, positive definite, with the response."""
    fit = svm(PLAIN, STANDARDISED, kernel=kernel, scale=False, **KERNELS[kernel])
    K = np.asarray(fit.kernel(fit.frame.X, fit.frame.X))
    K = (K + 1e-3 * np.diag(K).mean() * np.eye(len(K))).astype(np.float32).astype(float)
    return np.tril(K) + np.tril(K, -1).T


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "options", [{}, {"class_weight": {"AVH": 4.0}}, {"class_weight": "balanced"}, {"weights": "w"}]
)
def test_a_given_gram_matrix_of_any_kernel(kernel, options):
    K = rounded(kernel)
    data = pd.DataFrame(K).add_prefix("k").assign(y=LIVER["disease"], w=np.resize([1.0, 2.0, 0.25], len(K)))
    formula = "y ~ . - w"
    fit = svm(formula, data, kernel="precomputed", C=1, **options)
    class_weight = {1: 4.0} if isinstance(options.get("class_weight"), dict) else options.get("class_weight")
    machine = by_svc(fit, K, data["w"] if "weights" in options else None, class_weight=class_weight)
    assert_is_svc(fit, machine, K)
    few = data.iloc[[5, 200, 71]]
    assert_is_svc(fit, machine, K[[5, 200, 71]], few)


def test_a_precomputed_kernel_with_dropped_rows():
    data = pd.DataFrame(rounded("rbf")).add_prefix("k").assign(y=LIVER["disease"])
    data.loc[[3, 100], "y"] = None
    fit = svm("y ~ .", data, kernel="precomputed", subset=np.arange(218) % 5 > 0)
    kept = fit.frame.rows
    assert len(kept) == fit.n_rows == 174 - 1 and fit.n_missing == 1
    machine = by_svc(fit, rounded("rbf")[np.ix_(kept, kept)])
    np.testing.assert_allclose(
        fit.decision_function(data), machine.decision_function(rounded("rbf")[:, kept]), rtol=0, atol=TOL_SVC * 10
    )


# Each pair is a two-class fit


def pair_fit(first, second, data=STANDARDISED, formula=PLAIN, **options):
    """The two-class fit on the rows of two levels."""
    both = data[data["y"].isin([first, second])]
    named = options.pop("class_weight", None)
    if named is not None:
        options["class_weight"] = {first: named[first], second: named[second]}
    return svm(formula, both, event=first, scale=False, **options)


STAKES = [{}, {"class_weight": {"ACH": 2.0, "AVH": 1.0, "PCH": 0.5, "PNC": 1.0}, "weights": "w"}]


@pytest.mark.parametrize("stakes", STAKES, ids=["plain", "class and case weights"])
@pytest.mark.parametrize("loss", ["hinge", "p0"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_pair_is_a_two_class_fit(kernel, loss, stakes):
    data = STANDARDISED.assign(w=np.resize([1.0, 2.0, 0.5, 1.0], 218))
    if kernel == "spline":  # its knots are the range of the rows: the extreme ones are in no pair of all
        kernel, named = _spline_of_all_rows(), {}
    else:
        named = KERNELS[kernel]
    options = {"kernel": kernel, "loss": loss, "C": 2.0, **named, **stakes}
    fit = svm(PLAIN, data, scale=False, **options)
    for p, (first, second) in enumerate(fit.pairs):
        two, key = pair_fit(first, second, data, **options), (first, second)
        rows, size = two.frame.index, max(1.0, two.decision_values.abs().max())
        f = fit.decision_values[key]
        np.testing.assert_allclose(f[rows], two.decision_values, rtol=0, atol=TOL_SAME * size)
        np.testing.assert_allclose(f, two.decision_function(data), rtol=0, atol=10 * TOL_SAME * size)
        assert fit.intercept[key] == pytest.approx(two.intercept, abs=TOL_SAME * size)
        assert fit.intercept_interval.loc[key].tolist() == pytest.approx(two.intercept_interval, abs=TOL_SAME * size)
        assert fit.margin[key] == pytest.approx(two.margin, rel=TOL_SAME)
        assert fit.calibration.slope[p] == pytest.approx(two.calibration.slope, rel=TOL_LOOP)
        assert fit.calibration.intercept[p] == pytest.approx(two.calibration.intercept, abs=TOL_LOOP)
        if kernel == "rbf":  # K is regular: α is unique
            alpha = fit.alpha[key]
            np.testing.assert_allclose(alpha[rows], two.alpha, rtol=0, atol=TOL_LOOP)
            assert (alpha.drop(rows) == 0).all()
            assert fit.n_support.loc[key].tolist() == two.n_support.sum().tolist()
    assert fit.converged and 0 <= fit.kkt_violation <= 1e-8


def _spline_of_all_rows():
    kernel = svm(PLAIN, STANDARDISED, kernel="spline", scale=False).kernel
    return lambda X, Z: np.asarray(kernel(X, Z))


PRIORS = {"ACH": 0.4, "AVH": 0.3, "PCH": 0.2, "PNC": 0.1}


@pytest.mark.parametrize("loss", ["hinge", "p0"])
def test_the_threshold_of_a_pair_is_that_of_the_target_population(loss):
    """P0 of pair (i, j) is L_j / (L_i + L_j): odds p_i/p_j above it are odds above one where the shares are π_t."""
    fit = svm(PLAIN, STANDARDISED, loss=loss, priors=PRIORS, scale=False, gamma=0.4)
    shares = LIVER["disease"].value_counts(normalize=True)
    for first, second in fit.pairs:
        two = pair_fit(first, second, loss=loss, class_weight=fit.class_weight, gamma=0.4)
        odds = two.threshold / (1 - two.threshold)  # in the sample
        assert odds * (PRIORS[first] / shares[first]) / (PRIORS[second] / shares[second]) == pytest.approx(1.0)
        f = fit.decision_values.loc[two.frame.index, (first, second)]
        np.testing.assert_allclose(f, two.decision_values, rtol=0, atol=TOL_SAME * max(1.0, f.abs().max()))


# Coupled probabilities


def pairwise(fit, f):
    """r (m, K, K) by the maps of a fit."""
    K = len(fit.classes)
    r = np.full((len(f), K, K), np.nan)
    for p, (i, j) in enumerate(combinations(range(K), 2)):
        r[:, i, j] = expit(-(fit.calibration.slope[p] * f[:, p] + fit.calibration.intercept[p]))
        r[:, j, i] = 1 - r[:, i, j]
    return r


@pytest.mark.parametrize("name", ["liver", "iris"])
def test_probabilities_are_those_that_the_couplings_define(name):
    formula, data = load(name)
    fit = svm(formula, data, C=2.0, weights=np.resize([1.0, 2.0], len(data)))
    r, K = pairwise(fit, fit.decision_values.to_numpy()), len(fit.classes)
    for row, p in zip(r, fit.predict_proba(coupling="wu-lin-weng").to_numpy(), strict=True):
        Q = -row * row.T
        np.fill_diagonal(Q, np.nansum(row**2, axis=0))
        system = np.block([[Q, -np.ones((K, 1))], [np.ones((1, K)), np.zeros((1, 1))]])
        np.testing.assert_allclose(p, np.linalg.solve(system, np.append(np.zeros(K), 1.0))[:K], rtol=0, atol=1e-9)
    n = fit.calibration.totals[:, None] + fit.calibration.totals
    assert fit.calibration.totals.tolist() == fit.confusion.sum(axis=1).tolist()
    p = fit.predict_proba(coupling="hastie-tibshirani").to_numpy()
    mu = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    off = ~np.eye(K, dtype=bool)
    won, expected = (np.where(off, n * each, 0.0).sum(axis=2) for each in (r, mu))
    np.testing.assert_allclose(expected, won, rtol=0, atol=1e-6 * n.max())  # where the divergence is least


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("calibration", ["insample", "loo"])
def test_probabilities_sum_to_one(coupling, calibration):
    new = LIVER.assign(ast=LIVER["ast"] * 50.0)
    fit = svm(ENZYMES, LIVER, C=100, gamma=2.0, coupling=coupling, calibration=calibration)
    for p in (fit.fittedvalues, fit.predict_proba(new)):
        assert np.abs(p.sum(axis=1) - 1).max() < 1e-12
        assert ((p >= 0) & (p <= 1)).all(axis=None)
        assert p.columns.tolist() == list(fit.classes)


def test_the_coupling_of_a_fit_and_of_a_prediction():
    one, other = (svm(ENZYMES, LIVER, coupling=coupling) for coupling in COUPLINGS)
    assert (one.coupling, other.coupling) == COUPLINGS
    pd.testing.assert_frame_equal(one.predict_proba(coupling=COUPLINGS[1]), other.fittedvalues, rtol=1e-12)
    pd.testing.assert_frame_equal(one.predict_proba(LIVER, coupling=COUPLINGS[1]), other.predict_proba(LIVER))
    pd.testing.assert_frame_equal(other.predict_proba(coupling=COUPLINGS[0]), one.fittedvalues, rtol=1e-12)
    assert np.abs(one.fittedvalues - other.fittedvalues).max(axis=None) > 1e-3
    assert one.deviance != other.deviance and one.loo().score != other.loo().score
    pd.testing.assert_frame_equal(one.decision_values, other.decision_values, check_exact=True)
    assert one.predict().equals(other.predict())


# Votes


def test_of_a_tie_the_largest_sum_is_taken():
    """A three-way tie of votes, which libsvm gives to the first level."""
    data = sample(3, 200, seed=3, apart=0.3)
    fit = svm("y ~ x + z", data, gamma=3.0, C=20.0)
    rng = np.random.default_rng(1)
    new = pd.DataFrame({"x": rng.normal(size=4000), "z": 30.0 + 10.0 * rng.normal(size=4000)})
    winners, alone = votes(fit.decision_function(new), fit.pairs, fit.classes)
    assert (~alone).sum() > 20
    assert (winners[~alone] != fit.classes[0]).any()
    assert fit.predict(new).tolist() == winners.tolist()


def test_weights_of_no_rows_are_refused():
    fit = svm("y ~ x + z", sample(3, 60, seed=2))
    with pytest.raises(ArgumentError, match="weights are those of newdata: without it the rows of the fit keep"):
        fit.error(weights=np.ones(60))


def test_of_many_pairs_the_summary_shows_the_least_and_the_most():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=200), "y": [f"species {k}" for k in rng.integers(12, size=200)]})
    fit = svm("y ~ x", data)
    text = str(fit.summary())
    assert "over 66 pairs, each in .n_support" in text and "species 0 : species 1" not in text
    totals = fit.n_support["total"]
    least, greatest = (next(line for line in text.splitlines() if line.startswith(word)) for word in ("least", "great"))
    assert least.split()[-1] == str(totals.min()) and greatest.split()[-1] == str(totals.max())
