"""What functions say of an argument that they do not have; names of the caller are found all the same."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from levels import sample

import svmstat
from svmstat import SVMResults, etable, minimax, neyman_pearson, svm, tune
from svmstat._tools.keywords import helpful, no_argument
from svmstat.errors import ArgumentTypeError

WRONG = [
    (svm, "cost", "svm() has no argument 'cost': it is called 'C' here."),
    (svm, "lambda_", "svm() has no argument 'lambda_': it is called 'C' here, which is 1/(2 lambda n)."),
    (svm, "kernal", "svm() has no argument 'kernal'; did you mean 'kernel'?"),
    (svm, "sample_weight", "svm() has no argument 'sample_weight': it is called 'weights' here."),
    (svm, "probability", "svm() has no argument 'probability': every fit has predict_proba()."),
    (svm, "seed", "svm() has no argument 'seed': nothing in it is random."),
    (svm, "stepwise", "svm() has no argument 'stepwise': there are formula, data, loss, kernel, C,"),
    (tune, "random_state", "tune() has no argument 'random_state': it is called 'rng' here."),
    (tune, "cv", "tune() has no argument 'cv': it is called 'folds' here."),
]
METHODS = [
    ("bootstrap", "seed", "bootstrap() has no argument 'seed': it is called 'rng' here."),
    ("gof", "n_boot", "gof() has no argument 'n_boot': it is called 'B' here."),
    ("confint", "alpha", "confint() has no argument 'alpha': it is called 'level' here, which is 1 - alpha."),
    ("predict", "newdat", "predict() has no argument 'newdat'; did you mean 'newdata'?"),
    ("predict_proba", "X", "predict_proba() has no argument 'X': it is called 'newdata' here."),
    ("gacv", "level", "gacv() has no argument 'level': it has none."),
    ("update", "cost", "update() has no argument 'cost': it is called 'C' here."),
]


@pytest.mark.parametrize(("function", "name", "message"), WRONG)
def test_functions(function, name, message, nothing_is_solved):
    with pytest.raises(ArgumentTypeError, match=re.escape(message)):
        function("y ~ x", sample(2, 20), **{name: 1})


@pytest.mark.parametrize(("method", "name", "message"), METHODS)
def test_methods_of_a_fit(method, name, message):
    fit = svm("y ~ x", sample(2, 20))
    with pytest.raises(ArgumentTypeError, match=re.escape(message)):
        getattr(fit, method)(**{name: 1})


def test_criteria():
    with pytest.raises(ArgumentTypeError, match=r"neyman_pearson\(\) has no argument 'alpha': there are a, delta"):
        neyman_pearson(alpha=0.1)
    with pytest.raises(ArgumentTypeError, match=r"minimax\(\) has no argument 'nu': it has none"):
        minimax(nu=0.5)


def test_groups_are_those_of_the_fit():
    for known in (["B"], ["B", "groups2"]):
        assert "svm(..., groups=...) says which rows belong together" in str(no_argument("loo", "groups", known))
    assert "called 'groups' here" in str(no_argument("svm", "cluster", ["C", "groups"]))
    with pytest.raises(ArgumentTypeError, match=r"etable\(\) has no argument 'names'"):
        etable([], names=[])


@pytest.mark.parametrize("function", [svm, tune, etable, SVMResults.bootstrap, SVMResults.loo, SVMResults.summary])
def test_signature_and_words_stay(function):
    bare = inspect.unwrap(function)
    assert bare is not function
    assert inspect.signature(function) == inspect.signature(bare) and function.__doc__ == bare.__doc__
    assert (function.__name__, function.__module__) == (bare.__name__, bare.__module__)


def test_arguments_of_any_name():
    def free(**given):
        return given

    assert helpful(free) is free


def test_who_asks_for_the_caller_asks_here():
    """A frame counted by hand would be that of the wrapper."""
    counting = [
        path for path in Path(svmstat.__file__).parent.rglob("*.py") if "_getframe" in path.read_text(encoding="utf-8")
    ]
    assert {path.parent.name for path in counting} == {"_tools"}


def test_names_of_the_caller():
    def halved(x):
        return x / 2.0

    data = sample(2, 20)
    plain = svm("y ~ x", data, scale=False).fittedvalues
    np.testing.assert_array_equal(svm("y ~ halved(x * 2)", data, scale=False).fittedvalues, plain)
    found = tune("y ~ halved(x * 2)", data, C=[1.0], gamma=[0.5], scale=False)
    np.testing.assert_array_equal(found.best.update("y ~ halved(2 * x)").fittedvalues, found.best.fittedvalues)
