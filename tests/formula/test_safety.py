"""Formulas from outside Python: what they may say, and that nothing else is evaluated."""

import ast
import builtins
import os
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest

from svmstat import cli
from svmstat.errors import FormulaError
from svmstat.formula import Untrusted, build_design, safety
from svmstat.formula.source import Source

N = 24
RNG = np.random.default_rng(0)
DATA = pd.DataFrame(
    {
        "y": [0, 1] * (N // 2),
        "x": RNG.uniform(1, 2, N),
        "z": RNG.uniform(1, 5, N),
        "k": np.arange(N),
        "b": RNG.uniform(size=N) < 0.5,
        "g": list("abc") * (N // 3),
        "c": pd.Categorical(list("qqpp") * (N // 4)),
        "hole": np.where(np.arange(N) < 1, np.nan, RNG.normal(size=N)),
        "mean depth": RNG.normal(size=N),
        "café": RNG.normal(size=N),
    }
)

GOOD = [
    "y ~ .",
    "y ~ x + z + g + c + b",
    "y ~ x*g + C(k > 3):z - x",
    "y ~ (x + z + g)**2",
    "y ~ 0 + x",
    "g == 'a' ~ x",
    "I(x * 2 - z / 3 > 2) ~ z",
    "y ~ Q('mean depth') + Q(\"x\") + café",
    "y ~ I(x**2) + I(x**-0.5) + I(2**x) + I(x % 1) + I(x // 0.5) + I(-x) + I(+x)",
    "y ~ I((x > 1.5) & ~b | (z < 3)) + I((x > 1.5) ^ b)",
    "y ~ np.log(x) + numpy.sqrt(z) + np.sin(2 * np.pi * k / 12) + np.arctan2(x, z)",
    "y ~ log(x) + sqrt(z) + exp(-x) + abs(x - 1.5) + round(x, 1) + np.round(x) + maximum(x, 1.5)",
    "y ~ np.where(x > 1.5, x, 0) + np.clip(z, 2, 3) + where(g == 'a', 'u', 'v')",
    "y ~ np.where(k == 3, np.nan, k) + np.nan_to_num(hole) + np.isnan(hole)",
    "y ~ np.isin(g, ['a', 'b']) + I(x * np.isin(k, (1, 2, -3)))",
    "y ~ bs(x, df=5) + bs(z, knots=[2, 3.5], degree=2, lower_bound=0, upper_bound=10 / 2)",
    "y ~ bs(np.log(x), 4) + cr(z, df=4) + cc(z, df=3, constraints='center')",
    "y ~ te(cr(x, df=3), cr(z, df=3)) + te(bs(x, df=4, include_intercept=True), z)",
    "y ~ ns(x, df=3) + ns(z, knots=[2, 3.5], lower_bound=0) + poly(np.log(x), 3) + poly(z, degree=2, raw=True)",
    "y ~ center(x) + scale(z) + standardize(x * z, ddof=1, center=False)",
    "y ~ C(k % 3, levels=[2, 1, 0]) + C(g, Treatment) + C(g, Treatment('b'))",
    "y ~ C(g, contrast=Sum) + C(k % 2, Poly(scores=[1, 2]))",
    "y ~ I(10**6 * x) + I(x * (2**10 - 1) / 3.5) + I(x + 1e300) + I(x * True)",
]


@pytest.mark.parametrize("formula", GOOD)
@pytest.mark.filterwarnings("ignore::svmstat.errors.DesignWarning")
def test_a_good_formula_is_what_it_is_in_python(formula):
    ours, theirs = build_design(Untrusted(formula), DATA), build_design(formula, DATA)
    assert ours.design.column_names == theirs.design.column_names
    np.testing.assert_array_equal(ours.X, theirs.X)
    np.testing.assert_array_equal(ours.codes, theirs.codes)
    again = pickle.loads(pickle.dumps(ours.design))
    np.testing.assert_array_equal(again.transform(DATA.iloc[ours.rows]).X, ours.X)


@pytest.mark.parametrize(
    "subset",
    [
        "x > 1.2",
        "(x > 1.2) & (g == 'a') | ~b",
        "np.isin(g, ['a', 'c'])",
        "Q('mean depth') < 0.5",
        "np.log(z) >= 0.1 * k % 3",
        "b",
        "c != 'q'",
    ],
)
def test_a_good_subset_is_what_it_is_in_python(subset):
    ours, theirs = (build_design("y ~ x + z", DATA, subset=each) for each in (Untrusted(subset), subset))
    np.testing.assert_array_equal(ours.rows, theirs.rows)


# The code, and what the message must say was found.
HOSTILE = [
    # What does something
    ("__import__('os').system('touch pwned')", "The function '__import__'"),
    ("open('pwned', 'w')", "The function 'open'"),
    ("eval('x')", "The function 'eval'"),
    ("exec('x')", "The function 'exec'"),
    ("getattr(x, 'values')", "The function 'getattr'"),
    ("globals()", "The function 'globals'"),
    ("breakpoint()", "The function 'breakpoint'"),
    ("print(x)", "The function 'print'"),
    ("np.save('pwned', x)", "'np.save'"),
    ("np.load('pwned')", "'np.load'"),
    ("np.fromfile(x)", "'np.fromfile'"),
    ("numpy.savetxt('pwned', x)", "'numpy.savetxt'"),
    ("np.lib.npyio.save('pwned', x)", "'np.lib'"),
    ("np.ctypeslib.load_library('a', 'b')", "'np.ctypeslib'"),
    ("np.vectorize(x)", "'np.vectorize'"),
    ("pd.read_pickle('pwned')", "'pd.read_pickle'"),
    ("pandas.eval('x')", "'pandas.eval'"),
    ("x.to_csv('pwned')", "The method '.to_csv()'"),
    ("Q('x').to_pickle('pwned')", "The method '.to_pickle()'"),
    ("x.values", "The attribute '.values'"),
    ("x.__class__.__base__", "The attribute '.__class__'"),
    ("np.log.__class__", "'np.log'"),
    ("np.pi.real", "The attribute '.real'"),
    ("x.isin([1])", "The method '.isin()' (np.isin(x, [...]) does the same)"),
    ("C(x)(1)", "The call of what an expression gives"),
    # More columns than any fit could use
    ("bs(x, knots=[" + "0.5, " * 101 + "])", "'bs' with more than 100 knots"),
    ("te(bs(x, df=99), bs(z, df=99), bs(x, df=9))", "te() of splines with more than 10000 columns in all"),
    ("te(bs(x, df=1e300), bs(z, df=99))", "te() of splines with more than 10000 columns in all"),
    ("te(cr(x, knots=[" + "0.5, " * 90 + "]), cr(z, 99))", "te() of splines with more than 10000 columns in all"),
    # Names that are no columns
    ("x > open", "'open', which is no column of the data,"),
    ("C(x, print)", "'print', which is no column of the data,"),
    ("np", "'np', which is no column of the data,"),
    ("x * pd", "'pd', which is no column of the data,"),
    ("Treatment", "'Treatment', which is no column of the data,"),
    ("C(x, ContrastMatrix)", "'ContrastMatrix', which is no column of the data,"),
    ("Q(x)", "Q() of anything but one name in quotes"),
    ("Q('mean ' + 'depth')", "Q() of anything but one name in quotes"),
    ("Q(open('pwned', 'w'))", "Q() of anything but one name in quotes"),
    # Functions of many values, and other arguments than inputs
    ("max(x)", "The function 'max' (maximum(a, b) is the larger of two, row by row)"),
    ("sum(x)", "The function 'sum'"),
    ("np.sum(x)", "'np.sum'"),
    ("np.cumsum(x)", "'np.cumsum'"),
    ("lgo(x)", "The function 'lgo' (did you mean 'log' or"),
    ("log(s(x))", "The function 's' (a smooth term stands by itself"),
    ("np.log(x, z)", "'np.log' with other arguments than its 1 input"),
    ("np.add(x, z, z)", "'np.add' with other arguments than its 2 inputs"),
    ("np.log(x, out=z)", "The argument 'out' of 'log'"),
    ("np.round(x, 2, z)", "'np.round' with other arguments than its 1 or 2 inputs"),
    ("log(*x)", "'*' before an argument"),
    ("C(**x)", "'**' before an argument"),
    ("C(x, levels=z)", "A computed value where a constant is needed"),
    ("cr(x, knots=x)", "A computed value where a constant is needed"),
    # Other syntax
    ("I(lambda: x)", "'lambda'"),
    ("x if b else z", "'if ... else'"),
    ("[v for v in x]", "A comprehension"),
    ("C({v for v in x})", "A comprehension"),
    ("C((x := z))", "':='"),
    ("f'{x}'", "An f-string"),
    ("x[0]", "A subscript"),
    ("x and b", "'and' or 'or' (join conditions by & and |"),
    ("not b", "'not' (join conditions by & and |"),
    ("x in [1, 2]", "'in' (np.isin(x, [...]) asks row by row)"),
    ("x is None", "'is'"),
    ("x @ z", "'@'"),
    ("I([x, z])", "A list where a column or a number is needed"),
    ("x > b'a'", "The constant b'a'"),
    ("x > 3j", "The constant 3j"),
    # What would take all memory or time
    ("I(x + 9**9**9**9)", "The constant 9 ** 9"),
    ("I(x + 10**100)", "The constant 10 ** 100, which no 64-bit number holds,"),
    ("I(x + 2.0**10**5)", "The constant 2.0 ** 10 ** 5, which no 64-bit number holds,"),
    ("I(x + 1 / 0)", "The constant 1 / 0"),
    ("I(x + 1e400)", "The constant 1e309, which no 64-bit number holds,"),
    ("I(x + 99999999999999999999)", "The constant 99999999999999999999, which no 64-bit number holds,"),
    (f"I(x + 0x{'f' * 9999})", "The constant of thousands of digits, which no 64-bit number holds,"),
    (f"x > Q(0x{'f' * 9999})", "Q() of anything but one name in quotes"),
    ("I(I(9)**I(99999999999) * x)", "The constant I(9) ** I(99999999999)"),
    ("np.power(10**100, 10**10)", "The constant 10 ** 100"),
    ("I(((9 > 3) + (9 > 3))**99 * x)", "A comparison of constants"),
    ("x << 3", "'<<'"),
    ("1 << 10**10", "'<<'"),
    ("I('a' * 10**10)", "Arithmetic with 'a', which is no number,"),
    ("I([1] * 10**9)", "A list where a column or a number is needed"),
    ("'%1000000000d' % k", "Arithmetic with '%1000000000d', which is no number,"),
    ("I(g * 10**10)", "Arithmetic with the column 'g', which is no number,"),
    ("I(I(g) * 10**10)", "Arithmetic with the column 'g', which is no number,"),
    ("np.multiply(g, 10**10)", "Arithmetic with the column 'g', which is no number,"),
    ("I(np.where(b, g, 'u') * 10**10)", "Arithmetic with the column 'g', which is no number,"),
    ("bs(x, df=10**8)", "'bs' with a df or degree that is no number up to 100"),
    ("bs(x, 10**8)", "'bs' with a df or degree that is no number up to 100"),
    ("bs(x, df=4, degree=10**8)", "'bs' with a df or degree that is no number up to 100"),
    ("poly(x, 10**8)", "'poly' with a df or degree that is no number up to 100"),
    ("ns(x, df=10**8)", "'ns' with a df or degree that is no number up to 100"),
    ("cr(x, df=k)", "'cr' with a df or degree that is no number up to 100"),
]


@pytest.fixture
def nothing_is_done(monkeypatch, tmp_path):
    """Whatever would be evaluated fails, and must not have left a file."""

    def fail(*_, **__):
        raise AssertionError("something was evaluated")

    for module, name in ((os, "system"), (subprocess, "Popen"), (np, "save"), (np, "load"), (builtins, "eval")):
        monkeypatch.setattr(module, name, fail)
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_is_done")
@pytest.mark.parametrize(("code", "found"), HOSTILE, ids=[code[:40] for code, _ in HOSTILE])
@pytest.mark.parametrize("place", ["term", "response", "subset"])
def test_what_is_refused_before_anything_is_evaluated(code, found, place):
    wrapped = code if place == "subset" else f"I({code})"
    formula = {"term": f"y ~ x + {wrapped}", "response": f"{wrapped} ~ x", "subset": "y ~ x"}[place]
    with pytest.raises(FormulaError) as caught:
        build_design(Untrusted(formula), DATA, subset=Untrusted(code) if place == "subset" else None)
    message, shown, marks = str(caught.value).split("\n")
    assert message.startswith(found)
    assert " is not allowed in a formula from outside Python: " in message
    assert message.endswith("Functions of your own can be used from Python, in svmstat.svm().")
    assert shown[marks.index("^") : marks.rindex("^") + 1] == wrapped


UNREADABLE = [
    "x; import os",
    "import os",
    "(x := 3)",
    "lambda: x",
    "yield x",
    "x + (",
    "'abc",
    "*x",
    "x ~ z",
    "x\0",
    "",
]


@pytest.mark.usefixtures("nothing_is_done")
@pytest.mark.parametrize("code", UNREADABLE)
def test_what_is_no_expression(code):
    with pytest.raises(FormulaError):
        build_design(Untrusted(f"y ~ x + {code}"), DATA)
    with pytest.raises(FormulaError):
        build_design("y ~ x", DATA, subset=Untrusted(code if code != "(x := 3)" else "x := 3"))


@pytest.mark.parametrize(
    "name",
    [
        "np",
        "numpy",
        "pd",
        "C",
        "I",
        "bs",
        "open",
        "eval",
        "log",
        "Treatment",
        "__import__",
        "__builtins__",
        "__class__",
    ],
)
def test_a_column_may_have_any_name_and_lends_it_to_no_function(name):
    """The column is what the name stands for as a value, and never what is called."""
    data = DATA[["y", "x", "z"]].assign(**{name: RNG.uniform(1, 2, N)})
    expected = build_design("y ~ x + w", data.rename(columns={name: "w"})).X
    np.testing.assert_array_equal(build_design(Untrusted(f"y ~ x + {name}"), data).X, expected)
    np.testing.assert_array_equal(build_design(Untrusted(f"y ~ x + Q('{name}')"), data).X, expected)
    for code in (f"{name}('os')", f"{name}.log(x)", f"{name}.system(x)", f"{name}(x)({name})"):
        with pytest.raises(FormulaError):
            build_design(Untrusted(f"y ~ x + I({name} + {code})"), data)


@pytest.mark.parametrize("mark", [str, Untrusted])
def test_a_column_named_like_the_memory_of_a_transform(mark):
    """patsy writes _patsy_stobj0__bs__.transform(…) for bs(…), and a Series has a method of that name."""
    data = DATA.assign(_patsy_stobj0__bs__=DATA["x"])
    with pytest.raises(FormulaError, match="names that begin with _patsy_stobj are patsy's own"):
        build_design(mark("y ~ I(bs(x, df=4) + _patsy_stobj0__bs__)"), data)
    assert build_design(mark("y ~ _patsy_stobj0__bs__ + bs(x, df=4)"), data).X.shape == (N, 5)


def test_the_names_of_the_caller_are_not_seen():
    mine = {"double": lambda x: 2 * x, "half": 0.5, "np": os, "C": os.system, "log": lambda x: 1 / 0}
    with pytest.raises(FormulaError, match="The function 'double' is not allowed"):
        build_design(Untrusted("y ~ double(x)"), DATA, env=mine)
    with pytest.raises(FormulaError, match="The data have no column 'half'"):
        build_design(Untrusted("y ~ I(half * x)"), DATA, env=mine)
    formula = "y ~ np.log(x) + log(z) + C(k > 3)"
    ours, theirs = build_design(Untrusted(formula), DATA, env=mine), build_design(formula, DATA)
    np.testing.assert_array_equal(ours.X, theirs.X)
    assert build_design("y ~ double(x) + I(half * z)", DATA, env=mine).X.shape == (N, 2)


def test_the_evaluation_sees_nothing_but_the_white_list():
    """Were an expression to pass that should not, it would find neither Python's functions nor the rest of numpy."""
    frame = build_design(Untrusted("y ~ np.log(x) + I(round(x) > 1)"), DATA)
    for term in frame.design._terms:
        environment = term.factors[0].expression._state["eval_env"]
        for name in ("open", "__import__", "eval", "os", "pd", "getattr"):
            with pytest.raises(NameError):
                environment.eval(name)
    environment = frame.design._terms[0].factors[0].expression._state["eval_env"]
    assert environment.eval("np.log(1)") == 0
    with pytest.raises(AttributeError):
        environment.eval("np.save")


@pytest.mark.parametrize("name", sorted(safety.NUMPY))
def test_the_functions_of_numpy_are_of_single_values(name):
    """The value in a row depends on no other row, and what comes out has as many rows as what went in."""
    numbers, least = np.linspace(0.1, 0.9, 7), safety.NUMPY[name][0]
    function = getattr(np, name)
    with np.errstate(invalid="ignore"):
        whole = function(*[numbers] * least)
        one_by_one = [function(*[np.array([number])] * least)[0] for number in numbers]
    assert whole.shape == numbers.shape
    np.testing.assert_array_equal(whole, one_by_one)


def test_one_function_serves_whoever_reads_formulas_from_a_file():
    text = "np.log(x) + k"
    safety.check(Source(text, text, 0, len(text)), {"x": True, "k": True})
    with pytest.raises(FormulaError, match=r"'np\.save' is not allowed"):
        safety.check(Source("np.save(x)", "np.save(x)", 0, 10), {"x": True})


def test_every_kind_of_expression_is_known_or_refused():
    """A syntax that Python may learn is refused as long as nobody has thought about it."""
    known = {name.removeprefix("visit_") for name in vars(safety._Reader) if name.startswith("visit_")}
    assert known == {"Constant", "Name", "Attribute", "UnaryOp", "BinOp", "Compare", "Call"}
    assert known <= {kind.__name__ for kind in ast.expr.__subclasses__()}


# The command


@pytest.mark.usefixtures("nothing_is_done")
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["egg_count > 0 ~ lon + I(lon + __import__('os').system('touch pwned'))"], "The function '__import__'"),
        (["egg_count > 0 ~ lon + np.save('pwned', lon)"], "'np.save'"),
        (["egg_count > 0 ~ lon", "--subset", "lon.to_csv('pwned') is None"], "'is'"),
        (["egg_count > 0 ~ lon", "--subset", "lon > report"], "The data have no column 'report'"),
        (["egg_count > 0 ~ svm(lon)"], "The function 'svm'"),
    ],
)
def test_the_command_runs_no_code(capsys, arguments, found):
    formula, *options = arguments
    assert cli.main(["fit", formula, "mackerel", *options]) == 2
    printed, errors = capsys.readouterr()
    assert printed == ""
    assert errors.startswith(f"svmstat: error: {found}")


def test_products_of_factors_with_more_columns_than_any_fit_could_use():
    data = DATA.assign(**{f"f{k}": np.arange(len(DATA)) for k in range(6)})
    product = ":".join(f"C(f{k})" for k in range(6))
    with pytest.raises(FormulaError, match="more than 100000 columns"):
        build_design(Untrusted(f"y ~ {product}"), data)


@pytest.mark.parametrize("name", ["malic.acid", "malic.acid.b", "x.y"])
def test_a_name_with_dots_is_told(name):
    """As where Python is the caller; x is another column."""
    data = DATA.assign(**{name: DATA["z"]})
    with pytest.raises(FormulaError, match=rf"a name with dots, as R has them: .* is written Q\('{name}'\)"):
        build_design(Untrusted(f"y ~ k + {name}"), data)
    assert build_design(Untrusted(f"y ~ Q('{name}')"), data).X.shape == (len(data), 1)
