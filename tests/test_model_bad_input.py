"""Every misuse gives one clear error before anything is solved, every warning points at the caller's line."""

import dataclasses
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import svmstat.results.calibrated
import svmstat.results.two_levels
from svmstat import SVMResults, svm, tune
from svmstat.errors import (
    ArgumentError,
    ArgumentTypeError,
    CalibrationWarning,
    CertificateWarning,
    DataError,
    DesignWarning,
    FormulaError,
    SvmstatError,
)

N = 20


def sample():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "depth": rng.normal(size=N),
            "temperature": rng.normal(size=N),
            "site": np.resize(["a", "b", "c"], N),
            "w": np.resize([1, 2, 0, 3], N),
            "y": np.resize(["no", "no", "yes"], N),
        }
    )


DATA = sample()
PRODUCTS = DATA[["depth", "temperature"]].to_numpy() @ DATA[["depth", "temperature"]].to_numpy().T


def gram(matrix):
    return pd.DataFrame(matrix).add_prefix("k").assign(y=np.resize(["no", "yes"], len(matrix)))


def changed(i, j, value):
    matrix = PRODUCTS.copy()
    matrix[i, j] = value
    return matrix


# What is given, the class of the error, and what its message must say.
ARGUMENTS = [
    ({"C": 0}, ArgumentError, "C=0 is not allowed: it must be a finite number > 0."),
    ({"C": -1.5}, ArgumentError, "C=-1.5 is not allowed: it must be a finite number > 0."),
    ({"C": np.nan}, ArgumentError, "C=nan is not allowed: it must be a finite number > 0."),
    ({"C": np.inf}, ArgumentError, "C=inf is not allowed"),
    ({"C": 10**400}, ArgumentError, "is not allowed: it must be a finite number > 0."),
    ({"C": "1"}, ArgumentError, "C='1' is not allowed"),
    ({"C": True}, ArgumentError, "C=True is not allowed"),
    ({"C": None}, ArgumentError, "C=None is not allowed"),
    ({"C": [1.0]}, ArgumentError, "C=[1.0] is not allowed"),
    ({"kernel": "rfb"}, ArgumentError, "a kernel such as RBF() or a function K(X, Z); did you mean 'rbf'?"),
    ({"kernel": PRODUCTS}, ArgumentError, "is not allowed: it must be one of 'linear'"),
    ({"kernel": lambda X, Z: X @ [[1, 2], [0, 1]] @ Z.T}, ArgumentError, "is not symmetric on rows of the data"),
    (
        {"loss": "hing"},
        ArgumentError,
        "loss='hing' is not allowed: it must be one of 'hinge', 'p0'; did you mean 'hinge'?",
    ),
    ({"loss": None}, ArgumentError, "loss=None is not allowed"),
    ({"gamma": "auto"}, ArgumentError, "gamma='auto' is not allowed: it must be 'scale', 'median' or a"),
    ({"gamma": "auto", "kernel": "linear"}, ArgumentError, "gamma='auto' is not allowed"),
    ({"degree": 2.5}, ArgumentError, "degree=2.5 is not allowed: it must be an integer >= 1."),
    ({"coef0": np.inf}, ArgumentError, "coef0=inf is not allowed: it must be a finite number."),
    ({"scale": 1}, ArgumentError, "scale=1 is not allowed"),
    ({"scale": None, "kernel": "precomputed"}, ArgumentError, "scale=None is not allowed"),
    ({"event": 1}, ArgumentError, "event=1 is not allowed"),
    ({"weights": "weight"}, ArgumentError, "weights='weight' is not allowed: it must be the name of a column"),
    ({"weights": -DATA["w"]}, ArgumentError, "weights hold -1.0 in row 0: they must be finite numbers >= 0."),
    ({"weights": DATA["y"] == "yes"}, DataError, "The response 'y' has one class only in the"),
    ({"subset": "depth > 100"}, DataError, f"subset='depth > 100' keeps none of the {N} rows."),
    (
        {"subset": "dept > 0"},
        FormulaError,
        "The data have no column 'dept'; did you mean 'depth'?\n    dept > 0\n    ^^^^",
    ),
    ({"C": 1e308}, ArgumentError, "C=1e+308 is not allowed: an upper bound C · w · L would be 1e+308, 1e+208 times"),
    ({"C": 1e-308}, ArgumentError, "C=1e-308 is not allowed: an upper bound C · w · L would be 1e-308"),
    ({"weights": [1e150] * N}, ArgumentError, "w = 1e+150, from weights, is not allowed: an upper bound"),
    ({"weights": [1e308] * N}, ArgumentError, "weights add up to more than doubles can carry"),
    ({"costs": {"fp": 1e308, "fn": 1e-308}}, ArgumentError, "L = 0, from costs, is not allowed: an upper bound"),
    ({"costs": {"fn": 1e200}, "loss": "p0"}, ArgumentError, "from costs, is not allowed: an upper bound"),
    ({"class_weight": {"no": 1e200}}, ArgumentError, "L = 1e+200, from class_weight, is not allowed: an upper"),
    ({"subset": "y == 'yes'"}, DataError, "The response 'y' has one class only in the"),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(
    ("options", "error", "message"), ARGUMENTS, ids=lambda value: str(value)[:40].partition(" at 0x")[0]
)
def test_arguments(options, error, message):
    with pytest.raises(error, match=re.escape(message)) as caught:
        svm("y ~ depth + temperature", DATA, **options)
    assert isinstance(caught.value, SvmstatError)
    assert isinstance(caught.value, TypeError if error is ArgumentTypeError else ValueError)


FISH = ["cod", "eel", "hake", "ide", "pike", "ruff"]


def fishes(n_levels, n=24):
    """The data with a response of so many levels."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["depth", "temperature"])
    return data.assign(
        site=np.resize([*"abcba"], n), w=np.resize([1.0, 2.0, 0.0, 3.0], n), y=np.resize(FISH[:n_levels], n)
    )


def about_levels(n_levels):
    """What is given, and what the message must say of so many levels."""
    named, equal = ", ".join(map(repr, FISH[:n_levels])), dict.fromkeys(FISH[:n_levels], 1 / n_levels)
    levels = f"it must be a mapping of levels, which are {named}."
    of_all = f"it must be a mapping of all levels, which are {named}"
    couplings = "it must be one of 'wu-lin-weng', 'hastie-tibshirani'"
    cases = [
        ({"coupling": "hastie-tibshiranni"}, f"coupling='hastie-tibshiranni' is not allowed: {couplings}; "
         "did you mean 'hastie-tibshirani'?"),
        ({"coupling": "wu-lin"}, "did you mean 'wu-lin-weng'?"),
        ({"coupling": None}, f"coupling=None is not allowed: {couplings}."),
        ({"coupling": 1}, "coupling=1 is not allowed"),
        ({"coupling": ["wu-lin-weng"]}, "coupling=['wu-lin-weng'] is not allowed"),
        ({"class_weight": {"code": 2.0}}, f"class_weight={{'code': 2.0}} is not allowed: {levels}"),
        ({"class_weight": {"cod": 2.0, "ell": 1.0}}, levels),
        ({"class_weight": {1: 2.0}}, levels),
        ({"class_weight": {"eel": 0}}, "class_weight['eel']=0 is not allowed: it must be a finite number > 0."),
        ({"class_weight": {"eel": -2.0}}, "class_weight['eel']=-2.0 is not allowed"),
        ({"class_weight": {"eel": np.inf}}, "class_weight['eel']=inf is not allowed"),
        ({"class_weight": {"eel": "2"}}, "class_weight['eel']='2' is not allowed"),
        ({"class_weight": "balance"}, "class_weight='balance' is not allowed: it must be 'balanced' or a mapping"),
        ({"class_weight": 2.0}, "class_weight=2.0 is not allowed"),
        ({"class_weight": [1.0, 2.0, 3.0]}, "class_weight=[1.0, 2.0, 3.0] is not allowed"),
        ({"costs": {"fn": 5}, "class_weight": "balanced"}, "class_weight and costs are two ways to say the same"),
        ({"priors": equal, "class_weight": "balanced"}, "class_weight and priors are two ways to say the same"),
        ({"priors": {"cod": 1.0}}, of_all),
        ({"priors": {"cod": 0.5, "eel": 0.3, "shark": 0.2}}, of_all),
        ({"priors": {**equal, "shark": 0.1}}, of_all),
        ({"priors": {**equal, "eel": 1 / n_levels + 0.1}}, "it must be shares that sum to 1, not to 1.1."),
        ({"priors": {**dict.fromkeys(equal, 0.0), "cod": 1.0}}, "priors['cod']=1.0 is not allowed: it must be a numb"),
        ({"priors": {**equal, "eel": -0.2}}, "priors['eel']=-0.2 is not allowed"),
        ({"priors": "equal"}, f"priors='equal' is not allowed: it must be a mapping of the levels {named} to their sh"),
        ({"loss": "logistic"}, "loss='logistic' is not allowed"),
        ({"calibration": "fold"}, "calibration='fold' is not allowed: it must be one of 'auto', 'loo', 'kfold', "),
    ]  # fmt: skip
    if n_levels == 2:
        return [*cases, ({"event": "shark"}, f"event='shark' is not allowed: it must be a level of the response 'y': "
                f"{named}.")]  # fmt: skip
    return [
        *cases,
        ({"costs": {"fp": 1, "fn": 5}}, "costs={'fp': 1, 'fn': 5} is not allowed: false positives and false negatives "
         f"are those of two classes, and the response 'y' has {n_levels} levels; class_weight and priors weigh these."),
        ({"costs": {"fn": 5}, "priors": equal}, "false positives and false negatives are those of two classes"),
        ({"event": "cod"}, f"event='cod' is not allowed: the response 'y' has {n_levels} levels, {named}, and an event "
         "is one of two. For it against the others compare, as in \"y == 'cod' ~ ...\"."),
        ({"event": "shark"}, f"event='shark' is not allowed: the response 'y' has {n_levels} levels"),
    ]  # fmt: skip


ABOUT_LEVELS = [(n_levels, *case) for n_levels in (2, 3, 6) for case in about_levels(n_levels)]
both = pytest.mark.parametrize("call", [svm, tune], ids=["svm", "tune"])


@both
@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(
    ("n_levels", "options", "message"), ABOUT_LEVELS, ids=[f"{n} {str(given)[:40]}" for n, given, _ in ABOUT_LEVELS]
)
def test_arguments_about_the_levels(call, n_levels, options, message):
    with pytest.raises(ArgumentError) as caught:
        call("y ~ depth + temperature", fishes(n_levels), **options)
    assert message in str(caught.value)


RESPONSES = [
    (fishes(2).assign(y=np.arange(24), w=1.0), "is a number of 24 distinct values"),
    (fishes(2).assign(y=np.resize([0.5, 1.5, 2.5], 24)), "is a number of 3 distinct values, 0.5, 1.5, 2.5"),
    (
        fishes(2).assign(y="cod"),
        "has one class only in the 18 rows that count: 'cod'. Two are needed.",
    ),
    *((fishes(n).assign(w=lambda d: (d["y"] == "eel") * 1.0), "has one class only in the") for n in (2, 3, 6)),
]


@both
@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(("data", "message"), RESPONSES, ids=range(6))
def test_responses(call, data, message):
    with pytest.raises(DataError, match=re.escape(message)):
        call("y ~ depth + temperature", data, weights="w")


def test_the_fixture_sees_what_is_solved(nothing_is_solved):
    """Else the tests here would say nothing."""
    for call in (svm, tune, lambda *given: tune(*given, criterion="kfold", rng=1, folds=2)):
        with pytest.raises(AssertionError, match="something was solved"):
            call("y ~ depth", fishes(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": [1.0, 1e300]}, "C=1e+300 is not allowed: an upper bound"),
        ({"C": [1e-300, 1.0]}, "C=1e-300 is not allowed: an upper bound"),
        ({"weights": np.linspace(1.0, 1e200, N)}, "from weights, is not allowed: an upper bound"),
    ],
)
def test_bounds_are_checked_for_a_grid_and_a_path_too(options, message, monkeypatch):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        tune("y ~ depth + temperature", DATA, **options)
    if "C" in options:
        fit = svm("y ~ depth + temperature", DATA)
        monkeypatch.setattr(svmstat.results.two_levels, "follow_costs", None)
        with pytest.raises(ArgumentError, match=re.escape(message)):
            fit.path(options["C"])


def test_weights_of_very_different_sizes_are_tried():
    weights = np.geomspace(1e-12, 1e12, N)
    assert np.isfinite(svm("y ~ depth + temperature", DATA, weights=weights).decision_values).all()


@pytest.mark.parametrize("factor", [1e-320, 1e-300, 1e300])
def test_costs_are_a_ratio_whatever_their_size(factor):
    """Also where their products with shares of the classes would be below the smallest double."""
    one, other = (svm("y ~ depth", DATA, costs={"fp": f, "fn": 4 * f}) for f in (1.0, 2.0 ** np.log2(factor).round()))
    assert one.class_weight == other.class_weight
    pd.testing.assert_series_equal(one.decision_values, other.decision_values)


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize("keyword", ["Gamma", "cost", "random_state", "sample_weight", "shrinking"])
def test_an_unknown_keyword(keyword):
    with pytest.raises(ArgumentTypeError, match=rf"svm\(\) has no argument '{keyword}'"):
        svm("y ~ depth", DATA, **{keyword: 1})


def test_options_are_keywords():
    with pytest.raises(TypeError, match="takes 2 positional arguments"):
        svm("y ~ depth", DATA, "hinge")


FORMULAS = [  # the formula, what the message must say, and the text that is marked (None: no place)
    ("y ~ depht", "The data have no column 'depht'; did you mean 'depth'?", "depht"),
    ("why ~ depth", "no column 'why'", "why"),
    ("y ~ depth + (site", "The formula cannot be read: Unmatched '('", "("),
    ("depth + site", "The formula has no response", "depth + site"),
    ("", "The formula has no response", None),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(("formula", "message", "marked"), FORMULAS, ids=[f or "empty" for f, *_ in FORMULAS])
def test_formulas(formula, message, marked):
    with pytest.raises(FormulaError, match=re.escape(message)) as caught:
        svm(formula, DATA)
    if marked is not None:
        *_, shown, carets = str(caught.value).splitlines()
        assert shown == f"    {formula}"
        assert "^" * len(marked) == carets.strip()
        assert shown[carets.index("^") :].startswith(marked)


DATA_SETS = [  # data, options, error, message
    (None, {}, ArgumentTypeError, "data is of type NoneType: it must be a pandas DataFrame, one of polars, "),
    (
        DATA.assign(depth=DATA["depth"].mask(DATA.index == 3)),
        {"na_action": "raise"},
        DataError,
        "1 of 20 rows have missing values, in column 'depth' (1); na_action='raise' allows none.",
    ),
    (
        DATA.assign(depth=DATA["depth"] * 1e200, temperature=1e200),
        {"kernel": "poly", "scale": False, "gamma": 1.0},
        DataError,
        "kernel='poly' of degree=3 has values of about 1e+1202 on these data",
    ),
    (
        DATA.assign(depth=DATA["depth"] * 1e155),
        {"kernel": "linear", "scale": False},
        DataError,
        "a fit can be computed from values between 1e-150 and 1e+150: use scale=True, or scale the columns.",
    ),
    (
        DATA.assign(depth=DATA["depth"] * 1e150, temperature=1e150),
        {"kernel": "linear", "scale": False, "nu": (0.4, 0.4)},
        DataError,
        "kernel='linear' has values of about 1e+301 on these data",
    ),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.filterwarnings("ignore::svmstat.errors.DesignWarning")
@pytest.mark.parametrize(("data", "options", "error", "message"), DATA_SETS, ids=[m[:50] for *_, m in DATA_SETS])
def test_data(data, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        svm("y ~ depth + temperature", data, **options)


@pytest.mark.usefixtures("nothing_is_solved")
def test_copies_of_three_huge_rows():
    """Their kernel values overflow to infinities and their differences are no numbers at all."""
    rng = np.random.default_rng(7)
    n, p = int(rng.integers(6, 15)), int(rng.integers(1, 11))
    rows = rng.normal(size=(3, p)) * 1e150
    data = pd.DataFrame(rows[rng.integers(0, 3, n)], columns=[f"x{i}" for i in range(p)])
    data = data.assign(y=np.append([0, 1], rng.integers(0, 2, n - 2)))
    for nu in (None, (0.4, 0.4)):
        with pytest.raises(DataError, match="use scale=True, or scale the columns"):
            svm("y ~ .", data, kernel="linear", scale=False, nu=nu)


GRAMS = [
    (gram(PRODUCTS).drop(columns="k3"), "needs a square matrix: the design has 19 columns for 20 rows of data."),
    (gram(PRODUCTS)[["k0", "y"]], "needs a square matrix: the design has 1 column for 20 rows of data."),
    (gram(changed(2, 5, 9.0)), f"is not a symmetric matrix: entry (2, 5) is 9.0, but (5, 2) is {PRODUCTS[5, 2]}."),
    (gram(changed(2, 5, np.inf)), "'k5' is infinite (inf) in row 2."),
    (gram(PRODUCTS).drop(columns="k3").assign(g=DATA["site"]), "needs a square matrix"),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(("data", "message"), GRAMS, ids=[m[:40] for _, m in GRAMS])
def test_gram_matrices(data, message):
    with pytest.raises(DataError, match=re.escape(message)):
        svm("y ~ .", data, kernel="precomputed")


# Warnings


def indefinite(X, Z):
    return np.tanh(X @ Z.T - 1.0)


WARNINGS = [
    pytest.param("y ~ depth + flat", {}, DesignWarning, "The column is constant and dropped: 'flat'."),
    pytest.param("y ~ depth + flat + even", {}, DesignWarning, "columns are constant and dropped: 'flat', 'even'."),
    ("y ~ np.log(w)", {"subset": "w > 0"}, None, ""),
    pytest.param("y ~ np.log(depth) + w", {}, DesignWarning, "is not a number in"),
    ("y ~ depth + temperature", {"kernel": indefinite}, DesignWarning, "clearly negative eigenvalues"),
    ("y ~ depth", {"kernel": "poly", "degree": 2, "coef0": -3.0}, DesignWarning, "clearly negative eigenvalues"),
    ("y ~ depth", {"kernel": "poly", "degree": 2, "coef0": 3.0}, None, ""),
    ("y ~ depth + temperature", {"kernel": lambda X, Z: X @ Z.T}, None, ""),
]


@pytest.mark.parametrize(("formula", "options", "category", "message"), WARNINGS)
def test_warnings_point_at_the_call(formula, options, category, message):
    data = DATA.assign(flat=3.0, even=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        svm(formula, data, **options)
    assert [each.category for each in caught] == ([] if category is None else [category])
    for each in caught:
        assert message in str(each.message)
        assert each.filename == __file__


def test_an_indefinite_gram_matrix_is_warned_of():
    with pytest.warns(DesignWarning, match="clearly negative eigenvalues") as caught:
        svm("y ~ .", gram(-PRODUCTS), kernel="precomputed")
    assert caught[0].filename == __file__


def test_an_indefinite_kernel_is_warned_of_once(K):
    with pytest.warns(DesignWarning, match="clearly negative eigenvalues") as caught:
        svm("y ~ depth + temperature", fishes(K), kernel=indefinite)
    assert len(caught) == 1 and caught[0].filename == __file__


def test_a_fit_without_certificate_is_warned_of(monkeypatch, K):
    monkeypatch.setattr(SVMResults, "converged", False)
    with pytest.warns(CertificateWarning, match=r"KKT violation .*, duality gap ") as caught:
        fit = svm("y ~ depth", fishes(K))
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "is not certified as optimal" in str(fit.summary())


def test_a_map_that_did_not_converge_is_warned_of(monkeypatch, K):
    """The last of all pairs."""
    original = svmstat.results.calibrated.fit_maps

    def fit_maps(*given):
        maps = original(*given)
        return dataclasses.replace(maps, converged=np.arange(len(maps.converged)) < len(maps.converged) - 1)

    monkeypatch.setattr(svmstat.results.calibrated, "fit_maps", fit_maps)
    fit = svm("y ~ depth", fishes(K), calibration="insample")
    with pytest.warns(CalibrationWarning, match="did not converge") as caught:
        fit.predict_proba()
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "the Platt calibration did not converge" in " ".join(str(fit.summary()).split())
    assert re.search(r"Platt converged: +no", str(fit.summary()))


def test_a_good_fit_is_silent(K):
    options = {"weights": "w", "subset": "depth > -2.5", "class_weight": "balanced", "coupling": "hastie-tibshirani"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = svm("y ~ depth + site", fishes(K, 66), **options)
        fit.summary(), fit.loo().summary(), fit.gof(B=3, rng=1).summary()
