"""Everything that fits can do, on additive fits: what holds of one kernel holds of a sum."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from levels import sample

from svmstat import compare, minimax, svm, tune
from svmstat.cli import main
from svmstat.errors import ArgumentError, CertificateWarning, GridWarning
from svmstat.kernels import CustomKernel
from svmstat.machine import fit_machine
from svmstat.report import report

SAME = 1e-7  # two solutions, each within the solver's tolerance of 1e-8 of the optimum
FORMULA = "y ~ s(x) + ti(x, z) + s(z, by=site) + side"


@pytest.fixture(params=[2, 3], ids=["two", "three"])
def fit(request):
    return svm(FORMULA, sample(request.param), weights="w", theta={"side": 0.5})


def with_one_kernel(fit):
    """The same fit, its kernel a function that knows nothing of terms."""
    kernel, old = CustomKernel(fit.kernel), fit.machine
    return replace(fit, machine=fit_machine(kernel, old.X, old.codes, old.weights, old.pairs, C=fit.C))


def test_all_resampling_is_that_of_one_kernel(fit):
    other = with_one_kernel(fit)
    np.testing.assert_allclose(np.asarray(fit.decision_values), np.asarray(other.decision_values), atol=SAME)
    assert fit.loo().score == pytest.approx(other.loo().score, abs=1e-4)
    assert fit.kfold(3).score == pytest.approx(other.kfold(3).score, abs=1e-4)
    one, two = fit.get_influence().summary_frame(), other.get_influence().summary_frame()
    np.testing.assert_allclose(one.select_dtypes(float), two.select_dtypes(float), atol=1e-4)
    for name in ("gof", "permutation_test"):
        numbers = [getattr(each, name)(B=9, rng=1).replicates for each in (fit, other)]
        np.testing.assert_allclose(*numbers, atol=1e-4)


def test_replicates_and_sets(fit):
    data = sample(len(fit.classes))
    replicates = fit.bootstrap(B=9, rng=1)
    assert np.isfinite(replicates.decision_function(data)).any()
    assert fit.get_prediction(data.head(3), B=39, rng=1).summary_frame().shape[0] in (3, 9)
    assert fit.predict_set(data.head(3)).shape == (3, len(fit.classes))
    assert fit.predict_proba(data.head(3)).notna().all().all()


def test_beside_other_models(fit):
    table = compare(fit, fit.update("y ~ x + z")).table
    assert table["score"].iloc[0] == pytest.approx(fit.loo().score)


@pytest.mark.usefixtures("few_envelopes")
def test_report_and_pickle(fit):
    assert "Terms" in report(fit, B=9, rng=1)
    again = pickle.loads(pickle.dumps(fit))
    data = sample(len(fit.classes), seed=5)
    np.testing.assert_array_equal(fit.predict_terms(data), again.predict_terms(data))


def test_update_keeps_the_settings(fit):
    again = fit.update()
    np.testing.assert_array_equal(np.asarray(again.decision_values), np.asarray(fit.decision_values))
    assert fit.update(". ~ . - s(x) + s(x, gamma=3)").theta.to_dict() == {
        "ti(x, z)": 1.0, "s(z, by=site)": 1.0, "side": 0.5, "s(x, gamma=3)": 1.0,
    }  # fmt: skip
    assert fit.update(". ~ . - side").update(". ~ . + side").theta["side"] == 0.5
    assert fit.update("y ~ x + z").kernel_name == "rbf"
    with pytest.raises(ArgumentError, match="theta has no term 'side'"):
        fit.update(". ~ . - side", theta={"side": 1.0})


def test_a_dropped_term_is_the_formula_without_it(fit):
    smaller = fit.without_terms(["ti(x, z)"])
    again = fit.update(". ~ . - ti(x, z)")
    np.testing.assert_allclose(np.asarray(smaller.decision_values), np.asarray(again.decision_values), atol=SAME)
    assert smaller.theta.equals(again.theta)
    table = fit.drop1().table
    assert table.index.tolist() == fit.theta.index.tolist()
    assert table["delta_score"]["ti(x, z)"] == pytest.approx(again.loo().score - fit.loo().score, abs=1e-4)


def test_additive_and_joint_formulas_in_one_search():
    data, formulas = sample(2), ["y ~ x + z", "y ~ s(x) + te(x, z)", "y ~ s(z)"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune(formulas, data, C=[0.5, 4.0])
        alone = [tune(each, data, C=[0.5, 4.0]).best_row["score"] for each in formulas]
    least = found.table.groupby("formula")["score"].min()
    assert [least[each] for each in formulas] == pytest.approx(alone, abs=1e-4)
    f = np.asarray(found.best.update().decision_values)
    np.testing.assert_allclose(f, np.asarray(found.best.decision_values), atol=SAME)
    with pytest.raises(ArgumentError, match="theta='cosso' is for one formula"):
        tune(formulas, data, theta="cosso")


@pytest.mark.parametrize(
    "option",
    [
        {"loss": "p0", "class_weight": {"b": 2}},
        {"costs": {"fp": 1, "fn": 3}},
        {"nu": 0.3},
        {"nu": (0.2, 0.4)},
        {"calibration": "kfold"},
        {"calibration": "venn-abers"},
        {"scale": False},
    ],
    ids=str,
)
def test_settings_of_two_levels(option):
    data = sample(2)
    fit = svm(FORMULA, data, **option)
    assert fit.converged
    h = fit.predict_terms()
    np.testing.assert_allclose(h.sum(axis=1) + fit.intercept, fit.decision_values, atol=1e-9)
    assert np.isfinite(fit.loo().score)


def test_the_path_of_costs_and_searches_over_nu():
    data = sample(2)
    fit = svm(FORMULA, data)
    assert len(fit.path([0.5, 1.0, 2.0]).table) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        found = tune(FORMULA, data, criterion=minimax(), nu=[0.2, 0.4], folds=3, rng=1)
    assert found.best.kernel_name == "additive, 4 terms"


@pytest.mark.parametrize("C", [1e-6, 1e8])
def test_certificates_at_the_extremes(C):
    with warnings.catch_warnings():
        warnings.simplefilter("error", CertificateWarning)
        fit = svm("y ~ s(x) + s(z)", sample(2), C=C)
    assert fit.converged


def test_a_formula_on_the_command_line(capsys):
    assert main(["fit", "egg_count > 0 ~ s(lon, lat) + b_depth", "mackerel"]) in (0, None)
    assert "additive, 2 terms" in capsys.readouterr().out
