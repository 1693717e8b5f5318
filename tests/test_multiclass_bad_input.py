"""What is refused for more than two levels, before anything is solved; and warnings that point at the caller's line."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import svmstat.model
from svmstat import SVMResults, cli, svm, tune
from svmstat.errors import (
    ArgumentError,
    ArgumentTypeError,
    CalibrationWarning,
    CertificateWarning,
    DataError,
    DesignWarning,
    FormulaError,
    UnavailableError,
)

N = 24


def sample():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "depth": rng.normal(size=N),
            "temperature": rng.normal(size=N),
            "site": np.resize(["a", "b", "c", "b", "a"], N),
            "w": np.resize([1.0, 2.0, 0.0, 3.0], N),
            "y": np.resize(["cod", "eel", "hake"], N),
        }
    )


DATA = sample()
FIT = svm("y ~ depth + temperature", DATA)


def test_the_fixture_sees_what_is_solved(nothing_is_solved):
    """Else the tests below would say nothing."""
    for call in (svm, tune, lambda *given: tune(*given, criterion="kfold", rng=1, folds=2)):
        with pytest.raises(AssertionError, match="something was solved"):
            call("y ~ depth", DATA)


NAMED = "'cod', 'eel', 'hake'"
THIRDS = dict.fromkeys(["cod", "eel", "hake"], 1 / 3)

BOTH = [
    (
        {"coupling": "hastie-tibshiranni"},
        "coupling='hastie-tibshiranni' is not allowed: it must be one of 'wu-lin-weng', 'hastie-tibshirani'; "
        "did you mean 'hastie-tibshirani'?",
    ),
    ({"coupling": "wu-lin"}, "did you mean 'wu-lin-weng'?"),
    ({"coupling": None}, "coupling=None is not allowed: it must be one of 'wu-lin-weng', 'hastie-tibshirani'."),
    ({"coupling": 1}, "coupling=1 is not allowed"),
    ({"coupling": ["wu-lin-weng"]}, "coupling=['wu-lin-weng'] is not allowed"),
    ({"class_weight": {"code": 2.0}}, f"class_weight={{'code': 2.0}} is not allowed: it must be a mapping of levels, "
     f"which are {NAMED}."),
    ({"class_weight": {"cod": 2.0, "ell": 1.0}}, f"it must be a mapping of levels, which are {NAMED}."),
    ({"class_weight": {1: 2.0}}, f"it must be a mapping of levels, which are {NAMED}."),
    ({"class_weight": {"eel": 0.0}}, "class_weight['eel']=0.0 is not allowed: it must be a finite number > 0."),
    ({"class_weight": {"eel": np.inf}}, "class_weight['eel']=inf is not allowed"),
    ({"class_weight": {"eel": "2"}}, "class_weight['eel']='2' is not allowed"),
    ({"class_weight": "balance"}, "class_weight='balance' is not allowed: it must be 'balanced' or a mapping"),
    ({"class_weight": [1.0, 2.0, 3.0]}, "class_weight=[1.0, 2.0, 3.0] is not allowed"),
    (
        {"costs": {"fp": 1, "fn": 5}},
        "costs={'fp': 1, 'fn': 5} is not allowed: false positives and false negatives are those of two classes, and "
        "the response 'y' has 3 levels; class_weight and priors weigh these.",
    ),
    ({"costs": {"fn": 5}, "priors": THIRDS}, "false positives and false negatives are those of two classes"),
    ({"costs": {"fn": 5}, "class_weight": "balanced"}, "class_weight and costs are two ways to say the same"),
    ({"priors": THIRDS, "class_weight": "balanced"}, "class_weight and priors are two ways to say the same"),
    (
        {"event": "cod"},
        f"event='cod' is not allowed: the response 'y' has 3 levels, {NAMED}, and an event is one of two. For it "
        "against the others compare, as in \"y == 'cod' ~ ...\".",
    ),
    ({"event": "shark"}, "event='shark' is not allowed: the response 'y' has 3 levels"),
    ({"priors": {"cod": 0.5, "eel": 0.5}}, f"it must be a mapping of all levels, which are {NAMED}, to their shares."),
    ({"priors": {"cod": 0.5, "eel": 0.3, "shark": 0.2}}, f"it must be a mapping of all levels, which are {NAMED}"),
    ({"priors": {**THIRDS, "shark": 0.1}}, "it must be a mapping of all levels"),
    ({"priors": {"cod": 0.5, "eel": 0.3, "hake": 0.3}}, "it must be shares that sum to 1, not to 1.1."),
    ({"priors": {"cod": 1.0, "eel": 0.0, "hake": 0.0}}, "priors['cod']=1.0 is not allowed: it must be a number betw"),
    ({"priors": {"cod": 0.5, "eel": 0.7, "hake": -0.2}}, "priors['hake']=-0.2 is not allowed"),
    ({"priors": "equal"}, f"priors='equal' is not allowed: it must be a mapping of the levels {NAMED} to their sha"),
    ({"loss": "logistic"}, "loss='logistic' is not allowed"),
    ({"calibration": "kfold"}, "calibration='kfold' is not allowed: it must be one of 'insample', 'loo'."),
]  # fmt: skip


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize("call", [svm, tune], ids=["svm", "tune"])
@pytest.mark.parametrize(("options", "message"), BOTH, ids=[str(options)[:40] for options, _ in BOTH])
def test_arguments_of_both(call, options, message):
    with pytest.raises(ArgumentError) as caught:
        call("y ~ depth + temperature", DATA, **options)
    assert message in str(caught.value)


ONLY = "for two levels only: the response 'y' has 3"
TUNING = [
    (
        {"criterion": "gacv"},
        ArgumentError,
        f"criterion='gacv' is not allowed: it must be 'loo' or 'kfold', GACV being defined {ONLY}.",
    ),
    (
        {"criterion": "gckl", "truth": np.full(N, 0.5)},
        ArgumentError,
        f"criterion='gckl' is not allowed: it must be 'loo' or 'kfold', GCKL being defined {ONLY}.",
    ),
    ({"score": "loss"}, ArgumentError, f"score='loss' is not allowed: it must be another measure, the mean loss being "
     f"defined {ONLY}."),
    ({"score": "loss", "criterion": "kfold"}, ArgumentError, "score='loss' is not allowed"),
    ({"further": ["gacv"]}, ArgumentError, f"further=('gacv',) is not allowed: it must be left out, these criteria "
     f"being defined {ONLY}."),
    ({"further": ["loo_loss"]}, ArgumentError, ONLY),
    ({"further": ["gckl"], "truth": np.full(N, 0.5)}, ArgumentError, ONLY),
    ({"criterion": "kfold", "folds": 9}, DataError, "folds=9 needs 9 different rows of each level: the level 'cod' "
     "has 8."),
    ({"criterion": "kfold", "weights": np.where(DATA["y"] == "eel", [1.0, 0.0] * 12, 1.0)}, DataError,
     "folds=5 needs 5 different rows of each level: the level 'eel' has 4."),
    ({"criterion": "kfold", "folds": 3, "subset": "(y != 'hake') | (w == 0)"}, DataError, "the level 'hake' has"),
    ({"score": "deviances"}, ArgumentError, "did you mean 'deviance'?"),
]  # fmt: skip


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(("options", "error", "message"), TUNING, ids=[str(case[0])[:40] for case in TUNING])
def test_arguments_of_tune(options, error, message):
    with pytest.raises(error) as caught:
        tune("y ~ depth + temperature", DATA, **options)
    assert message in str(caught.value)


def test_copies_of_a_row_do_not_fill_the_folds(nothing_is_solved):
    data = pd.concat([DATA[DATA["y"] != "eel"], *[DATA[DATA["y"] == "eel"].head(2)] * 5], ignore_index=True)
    with pytest.raises(DataError, match="folds=3 needs 3 different rows of each level: the level 'eel' has 2"):
        tune("y ~ depth", data, criterion="kfold", folds=3)


def test_a_level_of_one_row_cannot_be_scored_by_leave_one_out():
    data = DATA.assign(y=["shark", *DATA["y"][1:]])
    with pytest.raises(DataError) as caught:
        tune("y ~ depth", data, C=[1.0, 2.0], gamma=0.5)
    assert "no point of the grid could be scored; the first: 1 of 24 deletions left without a class." in str(
        caught.value
    )


MANY = [
    (DATA.assign(y=np.arange(N), w=1.0), "is a number of 24 distinct values"),
    (DATA.assign(y=np.resize([0.5, 1.5, 2.5], N)), "is a number of 3 distinct values, 0.5, 1.5, 2.5"),
    (DATA.assign(y="cod"), "has one class only in the 18 rows that count: 'cod'. Two are needed."),
    (DATA.assign(w=(DATA["y"] == "eel") * 1.0), "has one class only in the 8 rows that count: 'eel'."),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize("call", [svm, tune], ids=["svm", "tune"])
@pytest.mark.parametrize(("data", "message"), MANY, ids=[m[:30] for _, m in MANY])
def test_responses(call, data, message):
    with pytest.raises(DataError, match=re.escape(message)):
        call("y ~ depth + temperature", data, weights="w")


@pytest.mark.usefixtures("nothing_is_solved")
def test_a_gram_matrix_that_is_none():
    data = pd.DataFrame(np.arange(9.0).reshape(3, 3)).add_prefix("k").assign(y=["a", "b", "c"])
    with pytest.raises(DataError, match="is not a symmetric matrix"):
        svm("y ~ .", data, kernel="precomputed")
    with pytest.raises(DataError, match="needs a square matrix: the design has 2 columns for 3 rows"):
        svm("y ~ k0 + k1", data, kernel="precomputed")


@pytest.mark.usefixtures("nothing_is_solved")
def test_a_formula_that_cannot_be_read():
    with pytest.raises(FormulaError):
        svm("y ~ depth +", DATA)


# Methods of a fit


@pytest.mark.parametrize("value", ["hastie-tibshirany", "wu-lin-wen"])
def test_an_unknown_coupling_of_probabilities(value):
    known = {"hastie-tibshirany": "hastie-tibshirani", "wu-lin-wen": "wu-lin-weng"}[value]
    for newdata in (None, DATA):
        with pytest.raises(ArgumentError) as caught:
            FIT.predict_proba(newdata, coupling=value)
        allowed = "it must be one of 'wu-lin-weng', 'hastie-tibshirani'"
        message = f"coupling='{value}' is not allowed: {allowed}; did you mean '{known}'?"
        assert message in str(caught.value)
    with pytest.raises(ArgumentError, match="coupling=7 is not allowed"):
        FIT.predict_proba(coupling=7)
    with pytest.raises(TypeError):
        FIT.predict_proba(DATA, "wu-lin-weng")  # by its name only


NEWDATA = [
    (DATA[["depth"]], DataError, "newdata has no column 'temperature'"),
    (DATA.assign(depth=np.inf), DataError, "newdata column 'depth' is infinite (inf) in row 0."),
    (DATA.assign(depth="deep"), DataError, "newdata column 'depth' holds text such as 'deep'"),
    ({"depth": [1.0], "temperature": [1.0]}, ArgumentTypeError, "newdata is of type dict: it must be a pandas Dat"),
    (DATA.to_numpy(), ArgumentTypeError, "newdata is of type ndarray"),
]


@pytest.mark.parametrize(("newdata", "error", "message"), NEWDATA, ids=[m[:40] for *_, m in NEWDATA])
@pytest.mark.parametrize("method", ["decision_function", "predict_proba", "predicted_codes", "error"])
def test_new_data(method, newdata, error, message):
    with pytest.raises(error, match=re.escape(message)):
        getattr(FIT, method)(newdata)


@pytest.mark.parametrize(
    ("newdata", "error", "message"),
    NEWDATA,
    ids=[m[:40] for *_, m in NEWDATA],
)
def test_new_data_of_predict(newdata, error, message):
    with pytest.raises(error, match=re.escape(message)):
        FIT.predict(newdata)


@pytest.mark.parametrize(
    ("newdata", "weights", "error", "message"),
    [
        (DATA.drop(columns="y"), None, DataError, "newdata has no column 'y'"),
        (DATA.assign(y="shark"), None, DataError, f"newdata has a new level of the response 'y' in row 0: not {NAMED}"),
        (DATA.assign(y=1), None, DataError, "newdata column 'y' holds number such as 1"),
        (DATA, np.zeros(N), ArgumentError, "weights are all zero"),
        (DATA, -np.ones(N), ArgumentError, "they must be finite numbers >= 0"),
        (DATA, "weight", ArgumentError, "weights='weight' is not allowed"),
        (DATA, np.ones(3), ArgumentError, "weights has 3 values for 24 rows"),
    ],
)
def test_errors_of_new_rows(newdata, weights, error, message):
    with pytest.raises(error, match=re.escape(message)):
        FIT.error(newdata, weights=weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"B": 0}, "B=0 is not allowed: it must be an integer >= 1"),
        ({"level": 1.0}, "level=1.0 is not allowed"),
        ({"method": "pair"}, "method='pair' is not allowed.*did you mean 'pairs'"),
        ({"rng": -1}, "rng=-1 is not allowed"),
    ],
)
def test_arguments_of_gof(options, message):
    with pytest.raises(ArgumentError, match=message):
        FIT.gof(**options)


def test_labels_are_drawn_for_whole_weights_only():
    fit = svm("y ~ depth", DATA, weights=np.linspace(0.5, 2.0, N))
    with pytest.raises(DataError, match="method='parametric' draws a label for every copy of a row: the weights must"):
        fit.gof(B=5, method="parametric")
    assert fit.gof(B=5, rng=1).n_failed == 0


TWO_ONLY = ["threshold", "costs", "objective", "intercept_is_unique", "rho", "rho_interval", "nu_bounds"]
TWO_ONLY_METHODS = ["risk", "error_rates", "gacv", "path", "plot_probability"]


@pytest.mark.parametrize("name", [*TWO_ONLY, *TWO_ONLY_METHODS, "tune_bias", "predict_proba(interval=True)"])
def test_what_only_two_levels_have(name):
    """It says so, and what there is instead."""
    calls = {
        "tune_bias": lambda: FIT.tune_bias(DATA),
        "predict_proba(interval=True)": lambda: FIT.predict_proba(interval=True),
    }
    calls |= {each: getattr(FIT, each) for each in TWO_ONLY_METHODS}
    message = f"{name} exists for two levels only; the response 'y' has 3: use "
    with pytest.raises(UnavailableError, match=re.escape(message)):
        calls[name]() if name in calls else getattr(FIT, name)
    if name in TWO_ONLY:
        assert not hasattr(FIT, name)


@pytest.mark.parametrize("name", ["error", "coupling"])
def test_what_only_more_levels_have(name):
    fit = svm("y ~ depth", DATA[DATA["y"] != DATA["y"].iloc[0]])
    message = f"{name} exists for more than two levels only; the response 'y' has 2: use "
    with pytest.raises(UnavailableError, match=re.escape(message)):
        fit.error() if name == "error" else fit.coupling
    with pytest.raises(UnavailableError, match="the response 'y' has 2: use method"):
        fit.predict_proba(coupling="wu-lin-weng")


def test_the_mean_loss_of_left_out_rows_is_for_two_levels():
    with pytest.raises(UnavailableError, match=r"mean_loss exists for two levels only.* has 3: use score"):
        _ = FIT.loo().mean_loss


# The command


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


# Warnings


def test_a_good_fit_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = svm("y ~ depth + site", DATA, weights="w", class_weight="balanced", coupling="hastie-tibshirani")
        fit.summary(), fit.loo().summary(), fit.gof(B=3, rng=1).summary()


def test_an_indefinite_kernel_is_warned_of_once():
    with pytest.warns(DesignWarning, match="clearly negative eigenvalues") as caught:
        svm("y ~ depth + temperature", DATA, kernel=lambda X, Z: np.tanh(X @ Z.T - 1.0))
    assert len(caught) == 1 and caught[0].filename == __file__


def test_a_fit_without_certificate_is_warned_of(monkeypatch):
    monkeypatch.setattr(SVMResults, "converged", False)
    with pytest.warns(CertificateWarning, match=r"KKT violation .*, duality gap ") as caught:
        fit = svm("y ~ depth", DATA)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "is not certified as optimal" in str(fit.summary())


def test_a_map_that_did_not_converge_is_warned_of(monkeypatch):
    """One of three."""
    original = svmstat.model.fit_maps

    def fit_maps(*given):
        return replace(original(*given), converged=np.array([True, False, True]))

    monkeypatch.setattr(svmstat.model, "fit_maps", fit_maps)
    with pytest.warns(CalibrationWarning, match="did not converge") as caught:
        fit = svm("y ~ depth", DATA)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "the Platt calibration did not converge" in " ".join(str(fit.summary()).split())
    assert re.search(r"Platt converged: +no", str(fit.summary()))
