"""Every misuse gives one clear error before anything is solved, every warning points at the caller's line."""

import dataclasses
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import svmstat.model
import svmstat.results.fit
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
from svmstat.results.report import report

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
K = DATA[["depth", "temperature"]].to_numpy() @ DATA[["depth", "temperature"]].to_numpy().T


def with_value(column, value, row=3):
    data = DATA.copy()
    data[column] = data[column].astype(object) if isinstance(value, str) else data[column].astype(float)
    data.loc[row, column] = value
    return data


def gram(matrix):
    return pd.DataFrame(matrix).add_prefix("k").assign(y=np.resize(["no", "yes"], len(matrix)))


def changed(i, j, value):
    matrix = K.copy()
    matrix[i, j] = value
    return matrix


@pytest.fixture
def nothing_is_solved(monkeypatch):
    def fail(*_, **__):
        raise AssertionError("something was solved")

    monkeypatch.setattr(svmstat.model, "fit_machine", fail)


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
    ({"kernel": "rfb"}, ArgumentError, "kernel='rfb' is not allowed: it must be one of 'linear', 'rbf'"),
    ({"kernel": None}, ArgumentError, "kernel=None is not allowed: it must be one of 'linear'"),
    ({"kernel": K}, ArgumentError, "is not allowed: it must be one of 'linear'"),
    ({"kernel": lambda X, Z: 1.0}, ArgumentError, "kernel=<lambda> returned an array of shape ()"),
    ({"kernel": lambda X: X}, ArgumentError, "kernel=<lambda> failed on rows of the data: TypeError"),
    ({"kernel": lambda X, Z: X @ Z.T * np.inf}, ArgumentError, "its values must be finite"),
    ({"kernel": lambda X, Z: X @ [[1, 2], [0, 1]] @ Z.T}, ArgumentError, "is not symmetric on rows of the data"),
    ({"kernel": lambda X, Z: np.full((len(X), len(Z)), "a")}, ArgumentError, "it must return real numbers"),
    (
        {"loss": "hing"},
        ArgumentError,
        "loss='hing' is not allowed: it must be one of 'hinge', 'p0'; did you mean 'hinge'?",
    ),
    ({"loss": None}, ArgumentError, "loss=None is not allowed"),
    ({"calibration": "none"}, ArgumentError, "calibration='none' is not allowed: it must be one of 'insample'"),
    ({"gamma": "auto"}, ArgumentError, "gamma='auto' is not allowed: it must be 'scale', 'median' or a"),
    ({"gamma": "0.5"}, ArgumentError, "gamma='0.5' is not allowed"),
    ({"gamma": 0}, ArgumentError, "gamma=0 is not allowed"),
    ({"gamma": np.nan}, ArgumentError, "gamma=nan is not allowed"),
    ({"gamma": 10**400}, ArgumentError, "is not allowed: it must be 'scale'"),
    ({"gamma": None}, ArgumentError, "gamma=None is not allowed"),
    ({"gamma": "auto", "kernel": "linear"}, ArgumentError, "gamma='auto' is not allowed"),
    ({"degree": 2.5}, ArgumentError, "degree=2.5 is not allowed: it must be an integer >= 1."),
    ({"degree": 0, "kernel": "poly"}, ArgumentError, "degree=0 is not allowed"),
    ({"coef0": np.inf}, ArgumentError, "coef0=inf is not allowed: it must be a finite number."),
    ({"scale": "yes"}, ArgumentError, "scale='yes' is not allowed: it must be True or False."),
    ({"scale": 1}, ArgumentError, "scale=1 is not allowed"),
    ({"scale": None, "kernel": "precomputed"}, ArgumentError, "scale=None is not allowed"),
    ({"na_action": "omit"}, ArgumentError, "na_action='omit' is not allowed: it must be one of 'drop', 'raise'."),
    (
        {"event": "maybe"},
        ArgumentError,
        "event='maybe' is not allowed: it must be a level of the response 'y': 'no', 'yes'.",
    ),
    ({"event": 1}, ArgumentError, "event=1 is not allowed"),
    ({"event": ["yes"]}, ArgumentError, "event=['yes'] is not allowed"),
    ({"event": np.nan}, ArgumentError, "event=nan is not allowed"),
    (
        {"class_weight": {"maybe": 2}},
        ArgumentError,
        "class_weight={'maybe': 2} is not allowed: it must be a mapping of levels, which are 'no', 'yes'.",
    ),
    (
        {"class_weight": {"yes": 0}},
        ArgumentError,
        "class_weight['yes']=0 is not allowed: it must be a finite number > 0.",
    ),
    ({"class_weight": {"yes": -2.0}}, ArgumentError, "class_weight['yes']=-2.0 is not allowed"),
    ({"class_weight": {"no": np.inf}}, ArgumentError, "class_weight['no']=inf is not allowed"),
    ({"class_weight": {"no": "2"}}, ArgumentError, "class_weight['no']='2' is not allowed"),
    (
        {"class_weight": "balance"},
        ArgumentError,
        "class_weight='balance' is not allowed: it must be 'balanced' or a mapping",
    ),
    ({"class_weight": 2.0}, ArgumentError, "class_weight=2.0 is not allowed"),
    ({"class_weight": [1, 2]}, ArgumentError, "class_weight=[1, 2] is not allowed"),
    ({"weights": "weight"}, ArgumentError, "weights='weight' is not allowed: it must be the name of a column"),
    ({"weights": "y"}, ArgumentError, "weights (column 'y') hold text: they must be finite numbers >= 0."),
    ({"weights": -DATA["w"]}, ArgumentError, "weights hold -1.0 in row 0: they must be finite numbers >= 0."),
    ({"weights": np.where(DATA.index == 4, np.nan, 1)}, ArgumentError, "weights hold nan in row 4"),
    ({"weights": [np.inf] * N}, ArgumentError, "weights hold inf in row 0"),
    ({"weights": np.zeros(N)}, ArgumentError, "weights are all zero: at least one row must count."),
    ({"weights": np.ones(N - 1)}, ArgumentError, f"weights has {N - 1} values for {N} rows of data."),
    ({"weights": np.ones((N, 2))}, ArgumentError, f"weights has the shape ({N}, 2)"),
    ({"weights": DATA["w"][::-1]}, ArgumentError, "weights is a Series on another index than data"),
    ({"weights": 2.5}, ArgumentTypeError, "weights is of type float: it must be one value for each row."),
    ({"weights": DATA["y"] == "yes"}, DataError, "The response 'y' has one class only in the"),
    ({"subset": "depth > 100"}, DataError, f"subset='depth > 100' keeps none of the {N} rows."),
    ({"subset": np.zeros(N, bool)}, DataError, f"subset keeps none of the {N} rows."),
    ({"subset": [True]}, ArgumentError, f"subset has 1 values for {N} rows of data."),
    ({"subset": DATA["depth"]}, ArgumentError, "subset holds number: it must be a condition"),
    ({"subset": "depth + 1"}, ArgumentError, "subset='depth + 1' is not allowed: it must be a condition"),
    (
        {"subset": "dept > 0"},
        FormulaError,
        "The data have no column 'dept'; did you mean 'depth'?\n    dept > 0\n    ^^^^",
    ),
    ({"subset": "depth >"}, FormulaError, "    depth >\n    ^"),
    ({"subset": 3}, ArgumentTypeError, "subset is of type int"),
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
        monkeypatch.setattr(svmstat.results.two_levels, "follow_costs", NoWork())
        with pytest.raises(ArgumentError, match=re.escape(message)):
            FIT.path(options["C"])


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
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{keyword}'"):
        svm("y ~ depth", DATA, **{keyword: 1})


def test_options_are_keywords():
    with pytest.raises(TypeError, match="takes 2 positional arguments"):
        svm("y ~ depth", DATA, "hinge")


FORMULAS = [  # the formula, what the message must say, and the text that is marked (None: no place)
    ("y ~ depht", "The data have no column 'depht'; did you mean 'depth'?", "depht"),
    ("y ~ depth + C(sit)", "no column 'sit'; did you mean 'site'?", "C(sit)"),
    ("why ~ depth", "no column 'why'", "why"),
    ("y ~ . + elsewhere", "no column 'elsewhere'", "elsewhere"),
    ("y ~ lag(depth)", "There is no function 'lag'", "lag(depth)"),
    ("y ~ np.logarithm(depth)", "module 'numpy' has no attribute 'logarithm'", "np.logarithm(depth)"),
    ("y ~ depth + (site", "The formula cannot be read: Unmatched '('", "("),
    ("y ~ depth site", "The formula cannot be read", "depth site"),
    ("y ~", "The formula cannot be read", None),
    ("y ~ depth ~ site", "~ can only be used once", "y ~ depth"),
    ("~ depth", "The formula has no response: write 'response ~ predictors'.", "~ depth"),
    ("depth + site", "The formula has no response", "depth + site"),
    ("", "The formula has no response", None),
    ("y ~ 1", "The formula has no predictors.", "y ~ 1"),
    ("y ~ depth - depth", "The formula has no predictors.", "y ~ depth - depth"),
    ("y ~ depth + y", "The response 'y' is also a predictor.", "y"),
    ("y + site ~ depth", "The formula has 2 terms on its left side", None),
    ("y ~ N", "The term 'N' uses no column of the data.", "N"),
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


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize("formula", [None, 3, ["y", "x"]])
def test_a_formula_that_is_not_text(formula):
    with pytest.raises(ArgumentTypeError, match=r"formula=.* is not allowed: it must be text such as"):
        svm(formula, DATA)


DATA_SETS = [  # data, options, error, message
    (None, {}, ArgumentTypeError, "data is of type NoneType: it must be a pandas DataFrame."),
    (DATA.to_dict("list"), {}, ArgumentTypeError, "data is of type dict: it must be a pandas DataFrame."),
    (DATA.to_numpy(), {}, ArgumentTypeError, "data is of type ndarray: it must be a pandas DataFrame."),
    (DATA["y"], {}, ArgumentTypeError, "data is of type Series"),
    ("mackerel", {}, ArgumentTypeError, "data is of type str"),
    (DATA.head(0), {}, DataError, "data has no rows."),
    (pd.concat([DATA, DATA[["depth"]]], axis=1), {}, DataError, "data has 2 columns named 'depth'"),
    (
        DATA.assign(y="no"),
        {},
        DataError,
        "The response 'y' has one class only in the 20 rows that count: 'no'. Two are needed.",
    ),
    (
        DATA.assign(y=DATA["site"]),
        {"event": "b"},
        ArgumentError,
        "event='b' is not allowed: the response 'y' has 3 levels, 'a', 'b', 'c', and an event is one of two.",
    ),
    (DATA.assign(y=DATA["depth"]), {}, DataError, "make it two classes by a comparison"),
    (with_value("depth", np.inf), {}, DataError, "data column 'depth' is infinite (inf) in row 3."),
    (with_value("temperature", -np.inf), {}, DataError, "data column 'temperature' is infinite (-inf) in row 3."),
    (
        DATA.assign(depth=np.nan),
        {},
        DataError,
        "No row is complete: 20 of 20 rows have missing values, in column 'depth' (20).",
    ),
    (DATA.assign(y=None), {}, DataError, "No row is complete"),
    (
        with_value("depth", np.nan),
        {"na_action": "raise"},
        DataError,
        "1 of 20 rows have missing values, in column 'depth' (1); na_action='raise' allows none.",
    ),
    (
        DATA.assign(depth=1.0, temperature=2.0),
        {},
        DataError,
        "Every column of the design is constant: 'depth', 'temperature'.",
    ),
    (DATA.assign(depth=pd.date_range("2020", periods=N)), {}, DataError, "depth holds datetime64"),
    (DATA.assign(depth=1j), {}, DataError, "depth holds complex128"),
    (with_value("depth", "deep"), {}, DataError, "depth holds mixed types"),
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
    (gram(K).drop(columns="k3"), "needs a square matrix: the design has 19 columns for 20 rows of data."),
    (gram(K)[["k0", "y"]], "needs a square matrix: the design has 1 column for 20 rows of data."),
    (gram(changed(2, 5, 9.0)), f"is not a symmetric matrix: entry (2, 5) is 9.0, but (5, 2) is {K[5, 2]}."),
    (gram(changed(2, 5, np.inf)), "'k5' is infinite (inf) in row 2."),
    (gram(K).drop(columns="k3").assign(g=DATA["site"]), "needs a square matrix"),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(("data", "message"), GRAMS, ids=[m[:40] for _, m in GRAMS])
def test_gram_matrices(data, message):
    with pytest.raises(DataError, match=re.escape(message)):
        svm("y ~ .", data, kernel="precomputed")


NEWDATA = [
    (DATA[["site"]], DataError, "newdata has no column 'depth'"),
    (DATA.rename(columns={"depth": "dept"}), DataError, "newdata has no column 'depth'; did you mean 'dept'?"),
    (DATA.assign(site="zz"), DataError, "newdata column 'site' has new level(s) 'zz'; the fit knows 'a', 'b', 'c'."),
    (with_value("depth", np.inf), DataError, "newdata column 'depth' is infinite (inf) in row 3."),
    (
        DATA.assign(depth="deep"),
        DataError,
        "newdata column 'depth' holds text such as 'deep'; at the fit it held number.",
    ),
    (DATA.assign(site=1), DataError, "newdata column 'site' holds number such as 1; at the fit it held text."),
    ({"depth": [1.0], "site": ["a"]}, ArgumentTypeError, "newdata is of type dict: it must be a pandas DataFrame."),
    (DATA["depth"], ArgumentTypeError, "newdata is of type Series"),
    (DATA.to_numpy(), ArgumentTypeError, "newdata is of type ndarray"),
]
FIT = svm("y ~ depth + site", DATA)


@pytest.mark.parametrize(("newdata", "error", "message"), NEWDATA, ids=[m[:50] for *_, m in NEWDATA])
@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_new_data(method, newdata, error, message):
    with pytest.raises(error, match=re.escape(message)):
        getattr(FIT, method)(newdata)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba", "summary"])
def test_an_unknown_keyword_of_a_method(method):
    with pytest.raises(TypeError, match="unexpected keyword argument 'new_data'"):
        getattr(FIT, method)(new_data=DATA)


class NoWork:
    """Stands in the place of everything that computes."""

    def __call__(self, *_, **__):
        raise AssertionError("something was computed")


WRONG = [("n_jobs", value, "a number of workers, -1 for all cores, or None") for value in (0, "a", 2.0, True, [2])]
WRONG_PROGRESS = [("progress", value, "True or False") for value in (1, None, "yes")]
TAKERS = [
    *((classes, method, *each) for classes in (2, 3) for method in ("loo", "get_influence", "gof") for each in WRONG),
    *((classes, method, *each) for classes in (2, 3) for method in ("loo", "gof") for each in WRONG_PROGRESS),
    *((2, "path", *each) for each in WRONG),
]


@pytest.mark.parametrize(("classes", "method", "name", "value", "allowed"), TAKERS)
def test_workers_and_progress_are_checked_before_any_work(monkeypatch, classes, method, name, value, allowed):
    """Also where the result is kept: a second call is no excuse for a wrong argument."""
    data = DATA.assign(y=np.resize(["a", "b", "c"][:classes], len(DATA)))
    fit = svm("y ~ depth + temperature", data)
    if method == "loo":
        fit.loo()
    for module in (svmstat.results.fit, svmstat.results.two_levels):
        for function in ("leave_one_out", "bootstrap_deviance", "follow_costs"):
            monkeypatch.setattr(module, function, NoWork(), raising=False)
    with pytest.raises(ArgumentError, match=re.escape(f"{name}={value!r} is not allowed: it must be {allowed}.")):
        getattr(fit, method)(**{name: value})


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1, np.int64(2)])
def test_numbers_of_workers(n_jobs):
    one, other = (svm("y ~ depth + temperature", DATA) for _ in range(2))
    assert one.loo(n_jobs=n_jobs).score == other.loo().score


@pytest.mark.parametrize(("name", "value"), [("n_jobs", 0), ("progress", "yes")])
def test_a_report_with_wrong_workers_begins_nothing(monkeypatch, name, value):
    monkeypatch.setattr(svmstat.results.fit, "bootstrap_deviance", NoWork())
    monkeypatch.setattr(svmstat.results.fit, "leave_one_out", NoWork())
    with pytest.raises(ArgumentError, match=f"{name}="):
        report(FIT, B=19, **{name: value})


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
        svm("y ~ .", gram(-K), kernel="precomputed")
    assert caught[0].filename == __file__


def test_a_fit_without_certificate_is_warned_of(monkeypatch):
    monkeypatch.setattr(SVMResults, "converged", False)
    with pytest.warns(CertificateWarning, match=r"KKT violation .*, duality gap ") as caught:
        svm("y ~ depth", DATA)
    assert caught[0].filename == __file__


def test_a_calibration_that_did_not_converge_is_warned_of(monkeypatch):
    failed = dataclasses.replace(FIT.maps, converged=np.zeros(1, bool))
    monkeypatch.setattr(svmstat.model, "fit_maps", lambda *_, **__: failed)
    with pytest.warns(CalibrationWarning, match="did not converge") as caught:
        fit = svm("y ~ depth", DATA)
    assert caught[0].filename == __file__
    assert "did not converge" in str(fit.summary())


def test_a_good_fit_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svm("y ~ depth + site", DATA, weights="w", subset="depth > -2.5", class_weight="balanced").summary()
