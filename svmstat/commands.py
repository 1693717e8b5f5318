"""What the commands do, and their options: what the help says of one is the docstring of its function."""

import argparse
import errno
import os
import shlex
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import getdoc
from pathlib import Path
from typing import Any

import pandas as pd

from svmstat import datasets
from svmstat._tools.checks import ended, nearest, workers
from svmstat._tools.files import write_whole
from svmstat.errors import ArgumentError, SvmstatError, SvmstatWarning
from svmstat.formula import Untrusted
from svmstat.kernels import KERNELS, declared
from svmstat.model import svm
from svmstat.results.report import report

_SETTINGS = ("B", "method", "level", "rng", "n_jobs", "progress", "call")
"""The arguments of a report; all others are those of a fit."""

_NAMED_NUMBERS = {
    "class_weight": ("--class-weight", "LEVEL=WEIGHT", "factor of the cost for a level of the response"),
    "costs": ("--cost", "KIND=NUMBER", "cost of a false positive, fp=NUMBER, or of a false negative, fn=NUMBER"),
    "priors": ("--prior", "LEVEL=SHARE", "share of a level in the population that the rule is for"),
}
"""Arguments of a fit that are mappings, and the options that give them entry by entry."""


def run(parser: argparse.ArgumentParser, commands: Mapping[str, argparse.ArgumentParser], given: Sequence[str]) -> int:
    """Run the command that is among the arguments ``given``, and return the exit status.

    ``commands`` are the parsers of each, which get their options here.
    """
    for name, (function, add_arguments) in _FUNCTIONS.items():
        commands[name].description = getdoc(function)
        commands[name].set_defaults(run=function)
        if add_arguments is not None:
            _fit_arguments(commands[name])
            add_arguments(commands[name])
    arguments = vars(parser.parse_args(given))
    function, output = arguments.pop("run"), arguments.pop("output", None)
    if function is _report:
        arguments["page"], output = output, None
        arguments["call"] = " ".join(map(_quoted, ["svmstat", *given]))
    try:
        _check_folder(arguments.get("page", output))
        _write(function(**arguments) + "\n", output)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the flush at exit fails again
        return 1
    except SvmstatError as error:
        print(f"svmstat: error: {error}", file=sys.stderr)
        return 2
    return 0


def _quoted(argument: str) -> str:
    """An argument as one would type it into a shell: in double quotes where these change nothing else."""
    quoted = shlex.quote(argument)
    return f'"{argument}"' if quoted != argument and not set(argument) & set('"$`\\!') else quoted


def _check_folder(output: str | None) -> None:
    """Refuse what cannot be written for want of a name or a folder, before anything is computed."""
    if output is None:
        return
    if not output.strip():
        raise SvmstatError(f"{output!r} cannot be written: it is no name of a file.")
    if Path(output).is_dir() or not Path(output).parent.is_dir():
        missing = errno.EISDIR if Path(output).is_dir() else errno.ENOENT
        raise SvmstatError(f"{output!r} cannot be written: {os.strerror(missing)}.")


def _write(text: str, output: str | None) -> None:
    """Write to a file or to stdout; there, a letter that its encoding lacks must not lose the result."""
    if output is None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
        return
    try:
        write_whole(output, text)
    except OSError as error:
        raise SvmstatError(f"{output!r} cannot be written: {error.strerror}.") from error


def _fit_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("formula", type=Untrusted, metavar="FORMULA", help='such as "y ~ x1 + x2"; "y ~ ." takes all other columns')
    add("data", metavar="DATA", help="a file (.csv, .tsv, .csv.gz, .parquet) or a bundled data set")

    add = parser.add_argument_group("model").add_argument
    add("--kernel", metavar="NAME", help=f"{_listed(KERNELS, 'or')}; the default is rbf")
    add("--C", type=float, metavar="NUMBER", help="cost of a margin violation (default 1)")
    add("--nu", type=_one_or_two, metavar="NU[,NU]", help="in the place of C: nu, or nu of event and other level")
    width = f"width of {_users('gamma')}: scale (default), median or a number"
    add("--gamma", type=_number_or_word, metavar="WIDTH", help=width)
    add("--degree", type=int, metavar="INTEGER", help=f"degree of {_users('degree')} (default 3)")
    add("--coef0", type=float, metavar="NUMBER", help=f"constant of {_users('coef0')} (default 0)")
    add("--event", metavar="LEVEL", help="level of the response that counts as positive (default: the last)")
    add("--loss", metavar="NAME", help="hinge (default) or p0")
    for dest, (option, metavar, what) in _NAMED_NUMBERS.items():
        add(option, type=_level_and_number, action="append", dest=dest, metavar=metavar, help=f"{what}; once for each")
    add("--coupling", metavar="NAME", help="for more than two levels: wu-lin-weng (default) or hastie-tibshirani")

    add = parser.add_argument_group("rows and columns").add_argument
    add("--weights", metavar="COLUMN", help="case weights; a weight of 2 is the row twice")
    add("--subset", type=Untrusted, metavar="EXPRESSION", help='rows to use, such as "age >= 18"')
    add("--na-action", choices=("drop", "raise"), help="for rows with missing values (default: drop)")
    add("--no-scale", action="store_false", dest="scale", help="do not standardise the columns")


def _users(parameter: str) -> str:
    """The kernels that have a parameter."""
    return _listed([name for name, kernel in KERNELS.items() if parameter in declared(kernel)], "and")


def _listed(names: Iterable[str], last: str) -> str:
    *most, end = names
    return f"{', '.join(most)} {last} {end}" if most else end


def _summary_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("output").add_argument
    add("--format", choices=("text", "html", "latex", "markdown"), help="of the summary (default: text)")
    add("--output", metavar="FILE", help="write the summary to a file")


def _report_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("report").add_argument
    add("--out", dest="output", required=True, metavar="FILE", help="the page to write, such as report.html")
    add("-B", "--B", type=int, dest="B", metavar="INTEGER", help="replicates of the goodness of fit (default 199)")
    add("--method", metavar="NAME", help="test of the fit: residual (default), pairs or parametric")
    add("--level", type=float, metavar="NUMBER", help="of the test and of the influence lines (default 0.95)")
    add("--seed", type=int, dest="rng", metavar="INTEGER", help="of the replicates (default: a new one, on the page)")
    add("--jobs", type=int, dest="n_jobs", metavar="INTEGER", help="parallel jobs; -1 for one on each core")
    add("--progress", action="store_true", help="show progress bars on stderr")


def _one_or_two(text: str) -> float | tuple[float, ...]:
    """A number, or several with commas between them."""
    try:
        numbers = tuple(map(float, text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number, nor two such as 0.3,0.4") from None
    return numbers[0] if len(numbers) == 1 else numbers


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _level_and_number(text: str) -> tuple[str, float]:
    level, _, number = text.rpartition("=")
    try:
        if level.strip():
            return level.strip(), float(number)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=NUMBER")


def _list() -> str:
    """List the bundled data sets."""
    return "\n".join(f"{name:<8}  {datasets.describe(name)}" for name in datasets.names())


def _fit(formula: str, data: str, format: str = "text", **options: Any) -> str:
    """Fit a support vector machine and print its summary. An option that is not given has the default of
    svmstat.svm() in Python, where all of them are described.

    FORMULA and EXPRESSION compute columns from columns and nothing else: they may have columns, numbers, text,
    operators, numpy's functions of single values such as np.log(x), and C, I, Q, bs, cc, cr, ns, poly, te, center,
    scale and standardize. Functions of your own, methods and everything else that Python can do are for svmstat.svm()
    in Python; here they are refused before anything is evaluated.

    Some examples:
      svmstat fit "egg_count > 0 ~ lon + lat + np.log(b_depth)" mackerel --C 16 --gamma median
      svmstat fit "cover_type ~ ." forest --kernel linear --event 7 --class-weight 7=2 --class-weight 1=0.5
      svmstat fit "sick ~ age + C(ward)" survey.csv.gz --weights copies --format html --output fit.html

    A level that begins with a minus sign is joined to its option: --class-weight=-1=2.
    """
    summary = _fitted(formula, data, options).summary()
    if format == "html":
        return str(summary.as_html(document=True))
    return str({"text": summary.as_text, "latex": summary.as_latex, "markdown": summary.as_markdown}[format]())


def _report(formula: str, data: str, page: str, **options: Any) -> str:
    """Fit a support vector machine and write a report: its summary, prediction error by leave-one-out, goodness of
    fit by bootstrap, influential rows and calibration, as one HTML page that needs nothing but itself. Summary
    and prediction error are also printed. The fit has the options of "svmstat fit".

    Some examples:
      svmstat report "egg_count > 0 ~ lon + lat + b_depth" mackerel --C 16 --gamma 0.25 --seed 1 --out report.html
      svmstat report "sick ~ age + C(ward)" survey.csv.gz --method parametric -B 1999 --jobs 4 --out sick.html
    """
    settings = {name: options.pop(name) for name in _SETTINGS if name in options}
    workers("--jobs", settings.get("n_jobs"))
    fit = _fitted(formula, data, options)
    with _warnings_on_stderr():
        _write(report(fit, **settings) + "\n", page)
        return f"{fit.summary()}\n{fit.loo().summary()}\nWritten: {page}"


def _fitted(formula: str, data: str, options: dict[str, Any]) -> Any:
    for name, (option, *_) in _NAMED_NUMBERS.items():
        keys = [key for key, _ in options.get(name, [])]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise ArgumentError(f"{option} is given twice for {twice[0]!r}.")
    with _warnings_on_stderr():
        frame = _read(data)
    return _fit_with_levels(formula, frame, options)


@contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    """Each warning as one line on stderr, once; none after an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SvmstatWarning)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print(f"svmstat: warning: {message}", file=sys.stderr)


def _fit_with_levels(formula: str, frame: pd.DataFrame, options: dict[str, Any]) -> Any:
    """The fit, with levels of the response read as text or else as the first other type they agree with."""
    refused: ArgumentError | None = None
    for read in (str, int, float, _truth):
        try:
            converted = _convert_levels(options, read)
        except (ValueError, KeyError):
            continue
        try:
            with _warnings_on_stderr():
                return svm(formula, frame, **converted)
        except ArgumentError as error:
            if not str(error).startswith(("event=", "class_weight=", "priors=")):
                raise
            refused = refused or error
    raise refused or AssertionError("text is always tried")


def _convert_levels(options: dict[str, Any], read: Callable[[str], object]) -> dict[str, Any]:
    converted = dict(options)
    if "event" in options:
        converted["event"] = read(options["event"])
    for name in _NAMED_NUMBERS.keys() & options.keys():
        read_key = str if name == "costs" else read
        converted[name] = {read_key(key): number for key, number in options[name]}
    return converted


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _read(name: str) -> pd.DataFrame:
    """A file if the name has a directory or a suffix, else a bundled data set or a file."""
    if not name.strip():
        raise SvmstatError(f"DATA={name!r} is not allowed: it must be a file or a bundled data set.")
    path = Path(name)
    if path.name == name and not path.suffix:
        if name in datasets.names():
            return datasets.load(name)
        if not path.exists():
            hint = nearest(name, datasets.names())
            raise SvmstatError(ended(f"there is no file and no bundled data set {name!r}{hint}"))
    if not path.exists():
        raise SvmstatError(f"there is no file {name!r}.")
    kinds = path.suffixes
    try:
        if kinds and kinds[-1] in (".parquet", ".pq"):
            return pd.read_parquet(path)
        return pd.read_csv(path, sep="\t" if ".tsv" in kinds[-2:] else ",")
    except ImportError as error:
        raise SvmstatError(f"to read {name!r}, install pyarrow: pip install 'svmstat[parquet]'.") from error
    except (OSError, ValueError, EOFError, zlib.error) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise SvmstatError(f"{name!r} cannot be read: {reason}") from error


_FUNCTIONS: dict[str, tuple[Callable[..., str], Callable[[argparse.ArgumentParser], None] | None]] = {
    "fit": (_fit, _summary_arguments),
    "report": (_report, _report_arguments),
    "datasets": (_list, None),
}
"""What runs each command, and what adds its options to those of a fit."""
