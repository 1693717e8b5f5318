"""What the commands do: what the help says of one is the docstring of its function."""

import argparse
import errno
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from inspect import getdoc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from svmstat import datasets
from svmstat._tools.checks import workers
from svmstat._tools.files import write_whole
from svmstat._tools.texts import counted
from svmstat.commands.files import COMPRESSED, as_written, is_parquet, one_number, read_data, texts_of
from svmstat.commands.words import at_the_shell
from svmstat.comparison import compare
from svmstat.errors import ArgumentError, LongRunWarning, SvmstatError, SvmstatWarning
from svmstat.formula import speaks_of, subset_rows, two_sides
from svmstat.loading import load
from svmstat.model import svm
from svmstat.options import (
    BALANCED,
    CRITERIA,
    NAMED_NUMBERS,
    compare_arguments,
    fit_arguments,
    predict_arguments,
    report_arguments,
    tune_arguments,
)
from svmstat.report import report
from svmstat.reporting.summary import Summary
from svmstat.results import SVMResults
from svmstat.tuning import tune

_IS = {
    "html": "a page of HTML", "fields": "fields with commas between them, as in a .csv", "text": "text, as in a .txt",
    "latex": "LaTeX, as in a .tex", "markdown": "Markdown, as in a .md",
}  # fmt: skip
"""What a kind of output is."""

_PROMISED = {
    ".html": "html", ".htm": "html", ".csv": "fields", ".tsv": "fields", ".tex": "latex", ".md": "markdown",
}  # fmt: skip
"""The kind that a suffix promises."""

_OTHERS = (".pdf", ".doc", ".docx", ".odt", ".rtf", ".xls", ".xlsx", ".ods", ".png", ".jpg", ".svg", ".json")
"""Suffixes of other programs, whose files nothing is written into."""

_OF_COMPARE = {"folds", "nested", "repeats", "rng", "n_jobs", "progress"}
"""What `compare` is asked for beside the models: no names of these."""

_ALL_CORES = {"n_jobs": -1}
"""Of a command, unless it says otherwise: nothing else waits for them, and the numbers are the same."""


def run(parser: argparse.ArgumentParser, commands: Mapping[str, argparse.ArgumentParser], given: Sequence[str]) -> int:
    """Run the command that is among the arguments ``given``, and return the exit status.

    ``commands`` are the parsers of each, which get their options here.
    """
    for name, (function, add_arguments) in _FUNCTIONS.items():
        commands[name].description = getdoc(function)
        commands[name].set_defaults(run=function)
        if add_arguments is not None:
            add_arguments(commands[name])
    arguments = vars(parser.parse_args(given))
    function, output = arguments.pop("run"), arguments.pop("output", None)
    if function is _report:
        arguments["page"], output = output, None
        arguments["call"] = " ".join(map(_quoted, ["svmstat", *given]))
    try:
        for written in (arguments.get("page", output), arguments.get("save")):
            _check_folder(written)
            _keep_input(written, arguments.get("model"), arguments.get("data"))
        _check_different(arguments.get("page", output), arguments.get("save"))
        _check_promise(arguments.get("page", output), _kind_of(function, arguments))
        _check_promise(arguments.get("save"), "saved")
        _write(function(**arguments) + "\n", output, fields=function is _predict)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the flush at exit fails again
        return 1
    except SvmstatError as error:
        _say(f"error: {error}")
        return 2
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _say(f"error: the output cannot be written: {error.strerror}.")
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
    if is_parquet(Path(output)):
        raise SvmstatError(f"{output!r} cannot be written: the output is text. pandas makes a parquet file of a .csv.")
    if Path(output).is_dir() or not Path(output).parent.is_dir():
        missing = errno.EISDIR if Path(output).is_dir() else errno.ENOENT
        raise SvmstatError(f"{output!r} cannot be written: {os.strerror(missing)}.")


def _kind_of(function: Callable[..., str], arguments: Mapping[str, Any]) -> str:
    """What a command writes: fields, or text in one of the forms of a summary."""
    if function is _report:
        return "html"
    return "fields" if function is _predict else str(arguments.get("format", "text"))


def _check_promise(output: str | None, kind: str) -> None:
    """Refuse a name whose suffix promises what the output will not be."""
    suffix = Path(output or "").suffix.lower()
    told = ""
    if kind == "saved":
        others = (*_PROMISED, *_OTHERS, *COMPRESSED)
        told = "a fit is saved in a form of its own, as a .svmstat" if suffix in others else ""
    elif suffix in COMPRESSED:
        told = "the output is text that is not compressed"
    elif kind == "fields" and suffix == ".tsv":
        told = "commas are between the fields, as in a .csv"
    elif suffix in _OTHERS or _PROMISED.get(suffix, kind) != kind:
        told = f"the output is {_IS[kind]}"
    if told:
        raise SvmstatError(f"{output!r} cannot be written: {told}.")


def _check_different(output: str | None, saved: str | None) -> None:
    """Refuse to write two things to one file."""
    if output and saved and Path(output).resolve() == Path(saved).resolve():
        raise SvmstatError(f"{output!r} cannot be written twice: --save and --output are of different files.")


def _keep_input(output: str | None, *read: str | None) -> None:
    """Refuse to write over a file that is read."""
    for name in read:
        if output and name and Path(output).exists() and Path(name).exists() and Path(output).samefile(name):
            raise SvmstatError(f"{output!r} cannot be written: it is a file that is read.")


def _write(text: str, output: str | None, fields: bool = False) -> None:
    """Write to a file or to stdout; there, a letter that its encoding lacks must not lose the result.

    Of ``fields``, which are read again, it is told.
    """
    if output is None:
        if sys.stdout is None:
            raise SvmstatError("there is no stdout to write to: --out names a file.")
        encoding = sys.stdout.encoding or "utf-8"
        written = text.encode(encoding, "backslashreplace").decode(encoding)
        sys.stdout.write(written)
        sys.stdout.flush()
        if fields and written != text:
            _warn(f"letters that {encoding} lacks are written as their codes: --output writes them as they are.")
        return
    try:
        write_whole(output, text)
    except OSError as error:
        raise SvmstatError(f"{output!r} cannot be written: {error.strerror}.") from error


def _list() -> str:
    """List the bundled data sets."""
    return "\n".join(f"{name:<8}  {datasets.describe(name)}" for name in datasets.names())


def _fit(formula: str, data: str, format: str = "text", save: str | None = None, **options: Any) -> str:
    """Fit a support vector machine and print its summary. An option that is not given has the default of
    svmstat.svm() in Python, where all of them are described.

    FORMULA and EXPRESSION compute columns from columns and nothing else: they may have columns, numbers, text,
    operators, numpy's functions of single values such as np.log(x), and C with its contrasts, I, Q, bs, cc, cr, ns,
    poly, s, te, ti, center, scale and standardize. Functions of your own, methods and all else that Python can do are
    for svmstat.svm() in Python; here they are refused before anything is evaluated. A first column without a name, as R
    and pandas write it, has the names of the rows.

    Some examples:
      svmstat fit "egg_count > 0 ~ lon + lat + np.log(b_depth)" mackerel --C 16 --gamma median
      svmstat fit "cover_type ~ ." forest --kernel linear --event 7 --class-weight 7=2 --class-weight 1=0.5
      svmstat fit "sick ~ age + C(ward)" survey.csv.gz --weights copies --format html --output fit.html
      svmstat fit "egg_count > 0 ~ lon + lat" mackerel --save eggs.svmstat

    A level that begins with a minus sign is joined to its option: --class-weight=-1=2.
    """
    fit = _fitted(formula, data, options)
    if save is not None:
        with _warnings_on_stderr():
            fit.save(save)
    return _shown(fit.summary(), format)


def _predict(model: str, data: str) -> str:
    """Predict the rows of a file by a fit that was saved with "svmstat fit --save" or SVMResults.save(), and print them
    as comma-separated values: the columns of the file as they are, then .fitted, the probability of the event, .class,
    the level that is predicted, .decision, the decision value, and if the file has the response .resid, the deviance
    residual; of more than two levels .fitted and .resid for each level and .decision for each pair. A row in which a
    predictor is missing has none of them. Nothing that the file of the fit says is executed.

    Some examples:
      svmstat predict eggs.svmstat stations.csv
      svmstat predict eggs.svmstat stations.parquet --output predicted.csv
    """
    with _warnings_on_stderr():
        fit = load(model)
        given = read_data(data, fit.frame.text_columns)
        table = fit.augment(given)
    written = as_written(data, given)
    table = table.set_axis(written.index)
    table[given.columns] = written
    return str(table.to_csv(index=not isinstance(written.index, pd.RangeIndex))).removesuffix("\n")


def _compare(
    data: str, formulas: Sequence[str], kernels: Sequence[str] = (), format: str = "text", **options: Any
) -> str:
    """Fit a support vector machine for each formula, and each kernel, and compare what they say of rows that they have
    not seen: the scores, their differences from the first with standard errors, errors and calibration. All must have
    the same rows, and have the other options of "svmstat fit"; --subset "NAME == NAME" takes the rows that have a
    NAME.

    Some examples:
      svmstat compare mackerel --formula "egg_count > 0 ~ lon + lat" --formula "egg_count > 0 ~ lon + lat + b_depth"
      svmstat compare mackerel --formula "egg_count > 0 ~ lon + lat" --kernel linear --kernel rbf --nested --seed 1
    """
    settings = _settings(options, *_OF_COMPARE)
    if "repeats" in settings and not settings.get("nested"):
        raise SvmstatError("--repeats is of the splits for --nested, and nothing else is repeated.")
    each = [(formula, kernel) for formula in formulas for kernel in kernels or (None,)]
    if len(each) < 2:
        raise SvmstatError("one model is given: compare takes several, by several --formula or several --kernel.")
    if len({(_sides(formula), kernel) for formula, kernel in each}) < len(each):
        raise SvmstatError("a model is given twice: formulas and kernels must be different.")
    folds = settings.get("folds")
    if "rng" in settings and folds is None and not settings.get("nested"):
        _warn("--seed has no effect without --folds or --nested.")
    frame = _frame(data, options, formulas, folds)
    if folds in frame.columns:
        with _warnings_on_stderr():
            frame = frame[subset_rows(options.pop("subset", None), frame, {})]
        settings["folds"] = frame[folds]
    elsewhere = {options.get("weights"), options.get("groups")}
    fits = [
        _with_levels(
            partial(svm, formula, frame if folds in elsewhere else _without_folds(frame, folds, formula)),
            options | ({} if kernel is None else {"kernel": kernel}),
        )
        for formula, kernel in each
    ]
    names = tuple(_name(*one, formulas, kernels) for one in each)
    _check_same_rows(fits, names)
    named = dict(zip(names, fits, strict=True))
    with _warnings_on_stderr():
        found = compare(*fits, **settings) if _OF_COMPARE & named.keys() else compare(**named, **settings)
        return _shown(replace(found, names=names).summary(), format)


def _without_folds(frame: pd.DataFrame, folds: object, formula: str) -> pd.DataFrame:
    """The data without the column that names the folds, for which a dot does not stand, unless the formula names it."""
    return frame.drop(columns=[folds] if folds in frame.columns and not speaks_of(folds, formula) else [])


def _check_same_rows(fits: Sequence[SVMResults], names: Sequence[str]) -> None:
    """Refuse models of which some have rows that others have not, by the names that the table would have."""
    first = fits[0].frame
    for fit, name in zip(fits, names, strict=True):
        lost = np.setxor1d(first.rows, fit.frame.rows)
        if len(lost):
            raise SvmstatError(
                f"{names[0]!r} and {name!r} have other rows, {counted(len(lost), 'row')} of the data in one of them "
                "only, since columns are missing there: fit all models to the rows that are complete in all, as "
                '--subset "NAME == NAME" takes those with a value of the column NAME.'
            )


def _name(formula: str, kernel: str | None, formulas: Sequence[str], kernels: Sequence[str]) -> str:
    """What tells a model from the others."""
    if len(formulas) == 1:
        return str(kernel)
    left = {_sides(each)[0] for each in formulas}
    shown = _sides(formula)[1] if len(left) == 1 else " ~ ".join(_sides(formula))
    return shown if len(kernels) < 2 else f"{kernel}: {shown}"


def _sides(formula: str) -> tuple[str, str]:
    """What stands left and right of the tilde, whatever the blanks."""
    left, right = two_sides(formula)
    return " ".join((left or "").split()), " ".join(right.split())


def _tune(data: str, formulas: Sequence[str], kernels: Sequence[str] = (), format: str = "text", **options: Any) -> str:
    """Choose cost, kernel and its parameters by the prediction of rows that are left out, and print the best point and
    how it was found. What is searched are numbers with commas between them, and kernels one after the other; an option
    that is not given has the default of svmstat.tune() in Python, where all of them are described.

    Some examples:
      svmstat tune mackerel --formula "egg_count > 0 ~ lon + lat" --C 4,16,64 --gamma 0.25,0.5,1
      svmstat tune forest --formula "cover_type ~ ." --kernel linear --criterion kfold --folds 10 --seed 1
      svmstat tune mackerel --formula "egg_count > 0 ~ lon + lat" --criterion neyman-pearson=0.1 --seed 1 --jobs -1
    """
    if len(set(kernels)) < len(kernels):
        raise SvmstatError("a kernel is given twice.")
    criterion = options.get("criterion")
    if isinstance(criterion, str) and criterion not in CRITERIA:
        allowed = ", ".join((*CRITERIA, "minimax", "neyman-pearson=LEVEL"))
        raise SvmstatError(f"criterion={criterion!r} is not allowed: --criterion is one of {allowed}.")
    if isinstance(options.get("folds"), int) and (criterion or "loo") in set(CRITERIA) - {"kfold"}:
        _warn(f"--folds has no effect with --criterion {criterion or 'loo'}.")
    if kernels:
        options["kernel"] = kernels[0] if len(kernels) == 1 else list(kernels)
    options = _ALL_CORES | options
    workers("--jobs", options["n_jobs"])
    formula: Any = formulas[0] if len(formulas) == 1 else list(formulas)
    found = _with_levels(partial(tune, formula, _frame(data, options, formulas, options.get("folds"))), options)
    return _shown(found.summary(), format)


def _shown(summary: Summary, format: str) -> str:
    """The summary in one of the forms that a summary has."""
    if format == "html":
        return summary.as_html(document=True)
    return {"text": summary.as_text, "latex": summary.as_latex, "markdown": summary.as_markdown}[format]()


def _report(formula: str, data: str, page: str, **options: Any) -> str:
    """Fit a support vector machine and write a report: its summary, prediction error by leave-one-out, goodness of
    fit by bootstrap, influential rows and calibration, as one HTML page that needs nothing but itself. Summary
    and prediction error are also printed. The fit has the options of "svmstat fit".

    Some examples:
      svmstat report "egg_count > 0 ~ lon + lat + b_depth" mackerel --C 16 --gamma 0.25 --seed 1 --out report.html
      svmstat report "sick ~ age + C(ward)" survey.csv.gz --method parametric -B 1999 --jobs 4 --out sick.html
    """
    settings = _settings(options, "B", "method", "level", "rng", "n_jobs", "progress", "call")
    fit = _fitted(formula, data, options)
    with _warnings_on_stderr():
        _write(report(fit, **settings) + "\n", page)
        return f"{fit.summary()}\n{fit.loo().summary()}\nWritten: {page}"


def _settings(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """What is asked for beside the fit, taken out of the options, which are those of the fit then."""
    settings = _ALL_CORES | {name: options.pop(name) for name in names if name in options}
    workers("--jobs", settings["n_jobs"])
    return settings


def _fitted(formula: str, data: str, options: dict[str, Any]) -> Any:
    return _with_levels(partial(svm, formula, _frame(data, options, [formula])), options)


def _frame(data: str, options: Mapping[str, Any], formulas: Sequence[str], folds: object = None) -> pd.DataFrame:
    """The data, if the options say nothing twice; what are labels stays apart where it is not the same text."""
    for name, (option, *_) in NAMED_NUMBERS.items():
        given = options.get(name, [])
        keys = [] if given == BALANCED else [key for key, _ in given]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise ArgumentError(f"{option} is given twice for {twice[0]!r}.")
    if "weight_type" in options and "weights" not in options:
        raise SvmstatError("--weight-type says what --weights are, and there are none.")
    with _warnings_on_stderr():
        found = read_data(data)
    for label in (options.get("groups"), folds):
        if one_number(data, found, label):
            found[label] = texts_of(data, [label]).set_axis(found.index)[label].where(found[label].notna())
    for response in {_sides(formula)[0] for formula in formulas}:
        if texts := one_number(data, found, response):
            raise SvmstatError(
                f"the levels {texts[0]!r} and {texts[1]!r} of {response!r} in {data!r} are one number: write levels "
                "that are told apart, such as words."
            )
    return found


@contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    """Each warning as one line on stderr, once: what takes long before it does, others at the end if that is good."""
    at_once: set[str] = set()
    later: dict[str, None] = {}

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = str(message)
        if not issubclass(category, LongRunWarning):
            later[text] = None
        elif text not in at_once:
            at_once.add(text)
            _warn(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always", SvmstatWarning)
        warnings.showwarning = show
        yield
    for text in later:
        _warn(text)


def _warn(text: str) -> None:
    _say(f"warning: {text}")


def _say(text: str) -> None:
    """A line on stderr, where there is one: print() would write it into the output."""
    if sys.stderr is not None:
        print(f"svmstat: {at_the_shell(text)}", file=sys.stderr, flush=True)


def _with_levels(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """What a function gives, levels of the response being text, or else the first other type that they agree with."""
    refused: list[ArgumentError] = []
    for read in (str, str.strip, int, float, _truth):
        try:
            converted = _convert_levels(options, read)
        except (ValueError, KeyError):
            continue
        try:
            with _warnings_on_stderr():
                return function(**converted)
        except ArgumentError as error:
            if not str(error).startswith(("event=", "class_weight=", "priors=")):
                raise
            refused.append(error)
    raise next((error for error in refused if ", which are " not in str(error)), refused[0])  # others name all levels


def _convert_levels(options: dict[str, Any], read: Callable[[str], object]) -> dict[str, Any]:
    converted = dict(options)
    if "event" in options:
        converted["event"] = read(options["event"])
    for name in NAMED_NUMBERS.keys() & options.keys():
        if options[name] == BALANCED:
            continue
        read_key = str.strip if name == "costs" else read
        converted[name] = {read_key(key): number for key, number in options[name]}
        if len(converted[name]) < len(options[name]):
            raise ValueError("two texts stand for one level")
    return converted


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.strip().lower()]


_FUNCTIONS: dict[str, tuple[Callable[..., str], Callable[[argparse.ArgumentParser], None] | None]] = {
    "fit": (_fit, fit_arguments),
    "predict": (_predict, predict_arguments),
    "compare": (_compare, compare_arguments),
    "tune": (_tune, tune_arguments),
    "report": (_report, report_arguments),
    "datasets": (_list, None),
}
"""What runs each command, and what adds its options."""
