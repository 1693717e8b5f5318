"""The options of the commands, and how their values are read; an option that is not given is not passed on."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from svmstat.errors import ArgumentError
from svmstat.formula import Untrusted
from svmstat.kernels import KERNELS, declared
from svmstat.results import CALIBRATIONS
from svmstat.tuning import minimax, neyman_pearson

NAMED_NUMBERS = {
    "class_weight": ("--class-weight", "LEVEL=WEIGHT", "factor of the cost for a level of the response, or balanced"),
    "costs": ("--cost", "KIND=NUMBER", "cost of a false positive, fp=NUMBER, or of a false negative, fn=NUMBER"),
    "priors": ("--prior", "LEVEL=SHARE", "share of a level in the population that the rule is for"),
}
"""Arguments of a fit that are mappings, and the options that give them entry by entry."""

CRITERIA = "loo", "kfold", "span", "gacv"
"""Criteria of a search that have no more than a name."""

BALANCED = "balanced"
"""Class weights that are no mapping."""

_FORMATS = ("text", "html", "latex", "markdown")


def fit_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of a fit: one formula, one kernel."""
    _one_formula(parser)
    _model(parser)
    add = _summary(parser)
    add("--save", metavar="FILE", help='write the fit to a file, for "svmstat predict"')


def predict_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of predictions by a fit that was saved."""
    add = parser.add_argument
    add("model", metavar="MODEL", help='a file that "svmstat fit --save" or SVMResults.save() has written')
    _data(add)
    add("--output", metavar="FILE", help="write the table to a file")


def report_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of a fit, and of what the page says of it."""
    _one_formula(parser)
    _model(parser)
    add = parser.add_argument_group("report").add_argument
    add("--out", dest="output", required=True, metavar="FILE", help="the page to write, such as report.html")
    add("-B", "--B", type=int, dest="B", metavar="INTEGER", help="replicates of the goodness of fit (default 199)")
    add(
        "--method",
        metavar="NAME",
        help="test of the fit: residual (default; pairs with fractional weights), pairs or parametric",
    )
    add("--level", type=float, metavar="NUMBER", help="of the test and of the influence lines (default 0.95)")
    _work(add, "of the replicates (default: a new one, on the page)")


def compare_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of fits of several formulas or kernels, and of their comparison."""
    _several_formulas(parser)
    _model(parser, several=True)
    add = parser.add_argument_group("comparison").add_argument
    add("--folds", type=_folds, metavar="FOLDS", help="leave out so many folds in turn, or those that a column names")
    add("--nested", action="store_true", help="nested standard errors of the differences too, by 55 refits a repeat")
    add("--repeats", type=int, metavar="INTEGER", help="splits for --nested (default 5)")
    _work(add, "of the folds")
    _summary(parser)


def tune_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of a fit, several values for what is searched, and how it is searched."""
    _several_formulas(parser)
    _model(parser, several=True, searched=True)
    add = parser.add_argument_group("search").add_argument
    criteria = "loo (default), kfold, span, gacv, minimax or neyman-pearson=LEVEL"
    add("--criterion", type=_criterion, metavar="NAME", help=criteria)
    add("--score", metavar="NAME", help="deviance (default), error, weighted_error or loss")
    add("--search", metavar="NAME", help="grid (default); for both nu also coordinate, coordinate_2d, balanced, bias")
    add("--folds", type=_folds, metavar="FOLDS", help="for kfold, minimax, neyman-pearson: a number (5) or a column")
    add("--nested", action="store_true", help="the whole search without each of ten folds, whose rows it predicts")
    _work(add, "of the folds")
    _summary(parser)


def _one_formula(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("formula", type=Untrusted, metavar="FORMULA", help='such as "y ~ x1 + x2"; "y ~ ." takes all other columns')
    _data(add)


def _several_formulas(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _data(add)
    what = 'such as "y ~ x1 + x2"; once for each of several'
    add("--formula", type=Untrusted, required=True, action="append", dest="formulas", metavar="FORMULA", help=what)


def _data(add: Callable[..., Any]) -> None:
    add("data", metavar="DATA", help="a file (.csv, .tsv, .csv.gz, .parquet) or a bundled data set")


def _model(parser: argparse.ArgumentParser, several: bool = False, searched: bool = False) -> None:
    """Options of svm(), with ``several`` kernels, and several values of what is ``searched``."""
    add = parser.add_argument_group("model").add_argument
    kernels = f"{_listed(KERNELS, 'or')}; the default is rbf"
    if several:
        add("--kernel", action="append", dest="kernels", metavar="NAME", help=f"{kernels}; once for each of several")
    else:
        add("--kernel", metavar="NAME", help=kernels)
    many = "[,...]" if searched else ""
    number: Callable[[str], Any] = _each(float) if searched else float
    integer: Callable[[str], Any] = _each(int) if searched else int
    width: Callable[[str], Any] = _each(_number_or_word) if searched else _number_or_word
    default = "default 2^-2 to 2^7" if searched else "default 1"
    add("--C", type=number, metavar=f"NUMBER{many}", help=f"cost of a margin violation ({default})")
    nu = "for minimax and neyman-pearson" if searched else "in the place of C: nu, or nu of event and other level"
    add("--nu", type=_each(float) if searched else _one_or_two, metavar=f"NU{many or '[,NU]'}", help=nu)
    words = "scale, median or numbers" if searched else "scale (default), median or a number"
    add("--gamma", type=width, metavar=f"WIDTH{many}", help=f"width of {_users('gamma')}: {words}")
    add("--degree", type=integer, metavar=f"INTEGER{many}", help=f"degree of {_users('degree')} (default 3)")
    add("--coef0", type=number, metavar=f"NUMBER{many}", help=f"constant of {_users('coef0')} (default 0)")
    add("--event", metavar="LEVEL", help="level of the response that counts as positive (default: the last)")
    add("--loss", metavar="NAME", help="hinge (default) or p0")
    for dest, (option, metavar, what) in NAMED_NUMBERS.items():
        read = _class_weight if dest == "class_weight" else _level_and_number
        add(option, type=read, action=_Each, dest=dest, metavar=metavar, help=f"{what}; once for each")
    kinds = f"{_listed(CALIBRATIONS, 'or')}; the default is auto"
    add("--calibration", metavar="NAME", help=f"which decision values make the map to probabilities: {kinds}")
    add("--coupling", metavar="NAME", help="for more than two levels: wu-lin-weng (default) or hastie-tibshirani")

    add = parser.add_argument_group("rows and columns").add_argument
    add("--weights", metavar="COLUMN", help="case weights; a weight of 2 is the row twice")
    add("--weight-type", metavar="NAME", help="frequency (default), or probability for survey or importance weights")
    add("--groups", metavar="COLUMN", help="which rows belong together: what is left out, drawn and kept in folds")
    add("--subset", type=Untrusted, metavar="EXPRESSION", help='rows to use, such as "age >= 18"')
    add("--na-action", choices=("drop", "raise"), help="for rows with missing values (default: drop)")
    add("--no-scale", action="store_false", dest="scale", help="do not standardise the columns")


def _summary(parser: argparse.ArgumentParser) -> Callable[..., Any]:
    add = parser.add_argument_group("output").add_argument
    add("--format", choices=_FORMATS, help="of the summary (default: text)")
    add("--output", metavar="FILE", help="write the summary to a file")
    return add


def _work(add: Callable[..., Any], seeded: str) -> None:
    add("--seed", type=_seed, dest="rng", metavar="INTEGER", help=seeded)
    add("--jobs", type=int, dest="n_jobs", metavar="INTEGER", help="parallel jobs (default: one on each core)")
    add("--progress", action="store_true", help="show progress bars on stderr")


def _users(parameter: str) -> str:
    """The kernels that have a parameter."""
    return _listed([name for name, kernel in KERNELS.items() if parameter in declared(kernel)], "and")


def _listed(names: Iterable[str], last: str) -> str:
    *most, end = names
    return f"{', '.join(most)} {last} {end}" if most else end


# How values are read


def _one_or_two(text: str) -> float | tuple[float, ...]:
    """A number, or several with commas between them."""
    try:
        numbers = tuple(map(float, text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number, nor two such as 0.3,0.4") from None
    return numbers[0] if len(numbers) == 1 else numbers


def _each(read: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Reads what stands between commas."""

    def several(text: str) -> list[Any]:
        try:
            return [read(part.strip()) for part in text.split(",")]
        except ValueError:
            what = "integers" if read is int else "numbers"
            raise argparse.ArgumentTypeError(f"{text!r} are no {what} with commas between them") from None

    return several


def _seed(text: str) -> int:
    """A whole number; another is refused here, where the option has its name."""
    if not text.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed: it must be an integer >= 0")
    return int(text)


def _folds(text: str) -> int | str:
    """Their number, or the column that has their labels."""
    try:
        return int(text)
    except ValueError:
        return text


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _criterion(text: str) -> Any:
    """The name of a criterion, or the criterion of both error rates that it means."""
    name, _, level = text.partition("=")
    if text == "minimax":
        return minimax()
    if name != "neyman-pearson":
        return text
    try:
        return neyman_pearson(float(level))
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} has no level of false alarms, as neyman-pearson=0.1 has") from None


class _Each(argparse.Action):
    """Collect what is given for each level, or store the one word for all levels."""

    def __call__(self, _parser: Any, namespace: Any, values: Any, _option: str | None = None) -> None:
        before = getattr(namespace, self.dest, None)
        if before is not None and BALANCED in (before, values):
            raise argparse.ArgumentError(self, f"{BALANCED} is for all levels: it is given alone")
        setattr(namespace, self.dest, values if values == BALANCED else [*(before or []), values])


def _class_weight(text: str) -> str | tuple[str, float]:
    return text if text == BALANCED else _level_and_number(text)


def _level_and_number(text: str) -> tuple[str, float]:
    level, _, number = text.rpartition("=")
    try:
        value = float(number) if level.strip() else None
    except ValueError:
        value = None
    if value is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=NUMBER")
    return level, value
