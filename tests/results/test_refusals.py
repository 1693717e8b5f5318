"""What the methods of a fit refuse, for any number of levels, and what only two or only more of them have."""

import re
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from levels import sample

from svmstat import cli, svm
from svmstat.errors import ArgumentError, ArgumentTypeError, DataError, UnavailableError
from svmstat.report import report

N = 24


def rows(K):
    return sample(K, N)


@pytest.fixture
def fit(K):
    return svm("y ~ x + site", rows(K))


# New rows

NEWDATA = {
    "newdata has no column 'x'": (DataError, lambda data: data[["site"]]),
    "newdata has no column 'x'; did you mean 'xx'?": (DataError, lambda data: data.rename(columns={"x": "xx"})),
    "newdata column 'site' has new level(s) 'zz'; the fit knows 'east', 'north', 'south'.": (
        DataError,
        lambda data: data.assign(site="zz"),
    ),
    "newdata column 'x' is infinite (inf) in row 3.": (
        DataError,
        lambda data: data.assign(x=np.where(data.index == 3, np.inf, 0)),
    ),
    "newdata column 'x' holds text such as 'deep'; at the fit it held number.": (
        DataError,
        lambda data: data.assign(x="deep"),
    ),
    "newdata column 'site' holds number such as 1; at the fit it held text.": (
        DataError,
        lambda data: data.assign(site=1),
    ),
    " is of type dict: it must be a pandas DataFrame, one of polars, ": (
        ArgumentTypeError,
        lambda data: data.to_dict("list"),
    ),
    "newdata is of type Series": (ArgumentTypeError, lambda data: data["x"]),
    "newdata is of type ndarray": (ArgumentTypeError, lambda data: data.to_numpy()),
}
METHODS = ["predict", "decision_function", "predict_proba", "predicted_codes"]


@pytest.mark.parametrize("message", NEWDATA)
def test_new_data(fit, message, K):
    error, change = NEWDATA[message]
    for method in [*METHODS, "error" if K > 2 else "error_rates"]:
        with pytest.raises(error, match=re.escape(message)):
            getattr(fit, method)(change(rows(K)))


@pytest.mark.parametrize("method", [*METHODS[:3], "summary"])
def test_an_unknown_keyword_of_a_method(fit, method, K):
    with pytest.raises(ArgumentTypeError, match="no argument 'new_data'"):
        getattr(fit, method)(new_data=rows(K))


@pytest.mark.parametrize(
    ("change", "weights", "error", "message"),
    [
        (lambda data: data.drop(columns="y"), None, DataError, "newdata has no column 'y'"),
        (lambda data: data.assign(y="shark"), None, DataError, "newdata has a new level of the response 'y' in row 0: n"
         "ot 'a', 'b', 'c'"),
        (lambda data: data.assign(y=1), None, DataError, "newdata column 'y' holds number such as 1"),
        (pd.DataFrame.copy, np.zeros(N), ArgumentError, "weights are all zero"),
        (pd.DataFrame.copy, -np.ones(N), ArgumentError, "they must be finite numbers >= 0"),
        (pd.DataFrame.copy, "weight", ArgumentError, "weights='weight' is not allowed"),
        (pd.DataFrame.copy, np.ones(3), ArgumentError, "weights has 3 values for 24 rows"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("K", [3, 6], ids=["three", "six"])
def test_errors_of_new_rows(fit, change, weights, error, message, K):
    with pytest.raises(error, match=re.escape(message)):
        fit.error(change(rows(K)), weights=weights)


# Arguments


@pytest.mark.parametrize("K", [3, 6], ids=["three", "six"])
def test_an_unknown_coupling_of_probabilities(fit, K):
    allowed = "it must be one of 'wu-lin-weng', 'hastie-tibshirani'"
    for value, known in (("hastie-tibshirany", "hastie-tibshirani"), ("wu-lin-wen", "wu-lin-weng")):
        message = f"coupling='{value}' is not allowed: {allowed}; did you mean '{known}'?"
        for newdata in (None, rows(K)):
            with pytest.raises(ArgumentError, match=re.escape(message)):
                fit.predict_proba(newdata, coupling=value)
    with pytest.raises(ArgumentError, match="coupling=7 is not allowed"):
        fit.predict_proba(coupling=7)
    with pytest.raises(TypeError):
        fit.predict_proba(rows(K), "wu-lin-weng")  # by its name only


class NoWork:
    """Stands in the place of everything that computes."""

    def __call__(self, *_, **__):
        raise AssertionError("something was computed")


@pytest.fixture
def nothing_is_computed(fit, monkeypatch):
    for module in ("svmstat.results.fit", "svmstat.results.two_levels"):
        for function in ("leave_one_out", "bootstrap_deviance", "follow_costs"):
            monkeypatch.setattr(import_module(module), function, NoWork(), raising=False)


WRONG = [
    *(("n_jobs", value, "a number of workers, -1 for all cores, or None") for value in (0, "a", 2.0, True, [2])),
    *(("progress", value, "True or False") for value in (1, None, "yes")),
]


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(("name", "value", "allowed"), WRONG)
def test_workers_and_progress_are_checked_before_any_work(fit, kept, name, value, allowed, request, K):
    """Also where the result is kept: a second call is no excuse for a wrong argument."""
    if kept:
        fit.loo()
    request.getfixturevalue("nothing_is_computed")
    for method in (
        "loo",
        "get_influence",
        "gof",
        "permutation_test",
        *(["path"] if (K, name) == (2, "n_jobs") else []),
    ):
        with pytest.raises(ArgumentError, match=re.escape(f"{name}={value!r} is not allowed: it must be {allowed}.")):
            getattr(fit, method)(**{name: value})


@pytest.mark.parametrize(("name", "value"), [("n_jobs", 0), ("progress", "yes")])
def test_a_report_with_wrong_workers_begins_nothing(fit, nothing_is_computed, name, value):
    with pytest.raises(ArgumentError, match=f"{name}="):
        report(fit, B=19, **{name: value})


def test_a_tightness_is_of_an_interval(fit):
    with pytest.raises(
        ArgumentError, match=r"tightness=0\.5 is not allowed: it must be left out without interval=True"
    ):
        fit.predict_proba(tightness=0.5)


# What only two levels have, or only more

TWO_ONLY = ["threshold", "costs", "objective", "intercept_is_unique", "rho", "rho_interval", "nu_bounds"]
CALLS = {
    **{name: lambda fit, name=name: getattr(fit, name)() for name in ("risk", "error_rates", "gacv", "path")},
    "plot_probability": lambda fit: fit.plot_probability(),
    "tune_bias": lambda fit: fit.tune_bias(rows(3)),
    "predict_proba(interval=True)": lambda fit: fit.predict_proba(interval=True),
}


@pytest.mark.parametrize("name", [*TWO_ONLY, *CALLS])
@pytest.mark.parametrize("K", [3, 6], ids=["three", "six"])
def test_what_only_two_levels_have(fit, name, K):
    """It says so, and what there is instead."""
    message = f"{name} exists for two levels only; the response 'y' has {K}: use "
    with pytest.raises(UnavailableError, match=re.escape(message)):
        CALLS[name](fit) if name in CALLS else getattr(fit, name)
    if name in TWO_ONLY:
        assert not hasattr(fit, name)


@pytest.mark.parametrize("name", ["error", "coupling"])
def test_what_only_more_levels_have(name):
    fit = svm("y ~ x", rows(2))
    message = f"{name} exists for more than two levels only; the response 'y' has 2: use "
    with pytest.raises(UnavailableError, match=re.escape(message)):
        fit.error() if name == "error" else fit.coupling
    with pytest.raises(UnavailableError, match="the response 'y' has 2: use method"):
        fit.predict_proba(coupling="wu-lin-weng")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--coupling", "hastie"], "coupling='hastie' is not allowed"),
        (["--event", "AVH"], "the response 'disease' has 4 levels, 'ACH', 'AVH', 'PCH', 'PNC'"),
        (["--cost", "fp=2"], "false positives and false negatives are those of two classes"),
        (["--prior", "ACH=0.5", "--prior", "AVH=0.5"], "it must be a mapping of all levels"),
        (["--class-weight", "AHC=2"], "it must be a mapping of levels, which are 'ACH', 'AVH', 'PCH', 'PNC'."),
    ],
)
def test_the_command_says_it_in_one_line(arguments, message, capsys):
    assert cli.main(["fit", "disease ~ ast + alt", "liver", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.strip().splitlines()) == 1
    assert captured.err.startswith("svmstat: error: ") and message in captured.err
