"""The names that code outside this package calls: they stay, with their arguments and defaults."""

import dataclasses
import importlib.metadata
import importlib.resources
import inspect
import subprocess
import sys

import pytest

import svmstat
from svmstat import SVMResults, kernels, svm
from svmstat.errors import (
    ArgumentError,
    ArgumentTypeError,
    CalibrationWarning,
    CertificateWarning,
    DataError,
    DesignWarning,
    FormulaError,
    SvmstatError,
    SvmstatWarning,
    UnavailableError,
)

DEFAULTS = {
    "loss": "hinge",
    "kernel": "rbf",
    "C": 1.0,
    "gamma": "scale",
    "degree": 3,
    "coef0": 0.0,
    "nu": None,
    "weights": None,
    "class_weight": None,
    "costs": None,
    "priors": None,
    "event": None,
    "subset": None,
    "na_action": "drop",
    "scale": True,
    "calibration": "auto",
    "coupling": "wu-lin-weng",
}

ATTRIBUTES = """nobs classes event alpha intercept intercept_interval support n_support decision_values fittedvalues
    deviance null_deviance llf kkt_violation duality_gap converged calibration params"""

METHODS = {"summary": (), "predict": ("newdata",), "decision_function": ("newdata",), "predict_proba": ("newdata",)}


def test_top_level():
    assert set(svmstat.__all__) >= {"svm", "tune", "minimax", "neyman_pearson", "datasets", "SVMResults"}
    assert all(hasattr(svmstat, name) for name in svmstat.__all__)


def test_version():
    assert svmstat.__version__ == importlib.metadata.version("svmstat")
    with pytest.raises(AttributeError, match="has no attribute 'versoin'"):
        svmstat.versoin  # noqa: B018


def test_type_checkers_read_the_annotations():
    assert (importlib.resources.files("svmstat") / "py.typed").is_file()


def test_kernels():
    assert set(kernels.__all__) >= {"RBF", "Laplace", "Linear", "Polynomial", "Spline", "Precomputed", "CustomKernel"}
    assert set(kernels.__all__) >= {"Kernel", "PointKernel", "Sum", "Scaled", "On", "Centred", "named", "parameter"}
    assert {"linear", "rbf", "poly", "spline", "precomputed"} <= set(kernels.KERNELS)


def test_arguments_of_svm():
    formula, data, *others = inspect.signature(svm).parameters.values()
    assert (formula.name, data.name) == ("formula", "data")
    assert formula.default is data.default is inspect.Parameter.empty
    found = {each.name: each.default for each in others}
    assert found.items() >= DEFAULTS.items()
    assert {each.kind for each in others} == {inspect.Parameter.KEYWORD_ONLY}
    assert all(each.default is not inspect.Parameter.empty for each in others)


@pytest.mark.parametrize(("name", "arguments"), METHODS.items())
def test_methods_of_a_fit(name, arguments):
    found = inspect.signature(getattr(SVMResults, name)).parameters
    assert list(found)[1 : 1 + len(arguments)] == list(arguments)
    assert all(found[each].default is None for each in arguments)


def test_errors_are_also_python_s_own():
    for error in (ArgumentError, DataError, FormulaError):
        assert issubclass(error, SvmstatError)
        assert issubclass(error, ValueError)
    assert issubclass(ArgumentTypeError, SvmstatError)
    assert issubclass(ArgumentTypeError, TypeError)
    assert issubclass(UnavailableError, SvmstatError)
    assert issubclass(UnavailableError, AttributeError)
    for warning in (CalibrationWarning, CertificateWarning, DesignWarning):
        assert issubclass(warning, SvmstatWarning)
        assert issubclass(warning, UserWarning)


def public(owner):
    return [name for each in owner.__mro__ for name in vars(each) if not name.startswith("_")]


def test_attributes_of_a_fit():
    assert set(ATTRIBUTES.split()) <= set(public(SVMResults))


@pytest.mark.parametrize("name", public(SVMResults))
def test_everything_public_is_described(name):
    fields = [field.name for field in dataclasses.fields(SVMResults)]
    assert name in fields or inspect.getdoc(getattr(SVMResults, name))


@pytest.mark.parametrize("name", ["svm", "datasets.names()", "kernels.RBF", "errors.DataError", "results.SVMResults"])
def test_a_name_is_there_after_the_import_of_the_package_alone(name):
    subprocess.run([sys.executable, "-P", "-c", f"import svmstat; svmstat.{name}"], check=True)


def test_names_that_the_package_has_and_has_not():
    assert {*svmstat.__all__} <= {*dir(svmstat)}
    with pytest.raises(AttributeError, match="has no attribute 'smv'"):
        svmstat.smv  # noqa: B018 - the access is what is tested
