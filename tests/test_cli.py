"""The command: what it passes on, what it prints, and how it fails."""

import dataclasses
import errno
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from svmstat import cli, commands, compare, datasets, load, minimax, neyman_pearson, solver, svm, tune
from svmstat.errors import ArgumentError, CertificateWarning, LongRunWarning
from svmstat.formula import Untrusted
from svmstat.reporting.summary import Summary

DATA = pd.DataFrame({"y": [0, 1, 1, 0], "x": [0.5, 1.5, 2.5, 3.5], "g": ["a", "b", "a", "b"]})
MACKEREL = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"


@pytest.fixture
def calls(monkeypatch):
    """The calls of svm(), which is replaced by a function that accepts everything."""
    calls = []

    def svm(formula, data, **options):
        calls.append(SimpleNamespace(formula=formula, data=data, options=options))
        left_out = SimpleNamespace(summary=lambda: Summary("Left out", ()))
        return SimpleNamespace(summary=lambda: Summary("A fit of π²", ()), loo=lambda: left_out)

    monkeypatch.setattr(commands, "svm", svm)
    return calls


def replace(monkeypatch, levels, **attributes):
    """Replace svm() by a function that refuses an event or class weights for other than these levels."""

    def svm(formula, data, *, event=None, class_weight=None, **options):
        for level in [] if event is None else [event]:
            if not any(level == known and type(level) is type(known) for known in levels):
                raise ArgumentError(f"event={event!r} is not allowed: it must be one of {levels}.")
        for level in class_weight or {}:
            if not any(level == known and type(level) is type(known) for known in levels):
                raise ArgumentError(f"class_weight={class_weight!r} is not allowed: {levels}.")
        result = Summary(f"event: {event!r}, class weights: {class_weight!r}", ())
        return SimpleNamespace(summary=lambda: result)

    monkeypatch.setattr(commands, "svm", svm)


# What is passed on


def test_only_what_is_given_is_passed_on(calls, capsys):
    assert cli.main(["fit", "y ~ x", "mackerel"]) == 0
    assert calls[0].formula == "y ~ x"
    pd.testing.assert_frame_equal(calls[0].data, datasets.load("mackerel"))
    assert calls[0].options == {}
    assert capsys.readouterr().out.split("\n")[0].strip() == "A fit of π²"


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--kernel", "poly", "--degree", "2"], {"kernel": "poly", "degree": 2}),
        (["--coef0", "-0.5"], {"coef0": -0.5}),
        (["--C", "16"], {"C": 16.0}),
        (["--nu", "0.5"], {"nu": 0.5}),
        (["--nu", "0.25,0.5"], {"nu": (0.25, 0.5)}),
        (["--coupling", "hastie-tibshirani"], {"coupling": "hastie-tibshirani"}),
        (["--calibration", "venn-abers"], {"calibration": "venn-abers"}),
        (["--gamma", "0.25"], {"gamma": 0.25}),
        (["--gamma", "median"], {"gamma": "median"}),
        (["--event", "b"], {"event": "b"}),
        (["--event", "-1"], {"event": "-1"}),
        (["--weights", "x"], {"weights": "x"}),
        (["--subset", "x > 1"], {"subset": "x > 1"}),
        (["--class-weight", "a=2", "--class-weight", "b=0.5"], {"class_weight": {"a": 2.0, "b": 0.5}}),
        (["--class-weight", "a=b=3"], {"class_weight": {"a=b": 3.0}}),
        (["--class-weight=-1=2"], {"class_weight": {"-1": 2.0}}),
        (["--class-weight", "balanced"], {"class_weight": "balanced"}),
        (["--class-weight", "balanced=2"], {"class_weight": {"balanced": 2.0}}),
        (["--na-action", "raise", "--no-scale"], {"na_action": "raise", "scale": False}),
    ],
)
def test_options(calls, arguments, options):
    assert cli.main(["fit", "y ~ x", "liver", *arguments]) == 0
    assert calls[0].options == options


@pytest.mark.parametrize(
    ("levels", "text", "event"),
    [
        (["a", "b"], "b", "b"),
        (["0", "1"], "1", "1"),
        ([0, 1], "1", 1),
        ([-1, 1], "-1", -1),
        ([0.5, 1.5], "1.5", 1.5),
        ([1.0, 2.0], "2", 2.0),
        ([False, True], "True", True),
        ([False, True], "false", False),
    ],
)
def test_levels_that_are_not_text(monkeypatch, capsys, levels, text, event):
    replace(monkeypatch, levels)
    assert cli.main(["fit", "y ~ x", "liver", "--event", text, f"--class-weight={text}=2"]) == 0
    expected = f"event: {event!r}, class weights: {{{event!r}: 2.0}}"
    assert capsys.readouterr().out.split("\n")[0].strip() == expected


@pytest.mark.parametrize("arguments", [["--event", "3"], ["--class-weight", "3=1"]])
def test_a_level_that_does_not_exist(monkeypatch, capsys, arguments):
    replace(monkeypatch, [1, 2])
    assert cli.main(["fit", "y ~ x", "liver", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(("svmstat: error: event='3' is not", "svmstat: error: class_weight={'3'"))


@pytest.mark.parametrize("weights", [("balanced", "a=2"), ("a=2", "balanced"), ("balanced", "balanced")])
def test_balanced_weights_are_those_of_all_levels(calls, capsys, weights):
    options = [word for weight in weights for word in ("--class-weight", weight)]
    with pytest.raises(SystemExit):
        cli.main(["fit", "y ~ x", "liver", *options])
    assert "--class-weight: balanced is for all levels: it is given alone" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--cost", "--prior"])
def test_only_class_weights_are_balanced(calls, capsys, option):
    with pytest.raises(SystemExit):
        cli.main(["fit", "y ~ x", "liver", option, "balanced"])
    assert f"{option}: 'balanced' is not of the form NAME=NUMBER" in capsys.readouterr().err


def test_another_error_is_not_taken_for_a_wrong_level(monkeypatch, capsys):
    tried = []

    def svm(formula, data, **options):
        tried.append(options)
        raise ArgumentError("C=-1.0 is not allowed.")

    monkeypatch.setattr(commands, "svm", svm)
    assert cli.main(["fit", "y ~ x", "liver", "--event", "1", "--C", "-1"]) == 2
    assert capsys.readouterr().err == "svmstat: error: C=-1.0 is not allowed.\n"
    assert len(tried) == 1


# Where the data come from


@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.tsv", "d.tsv.gz", "d.tsv.xz", "d.txt", "plain"])
def test_files_of_text(calls, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    DATA.to_csv(name, index=False, sep="\t" if "tsv" in name else ",")
    assert cli.main(["fit", "y ~ x", name]) == 0
    pd.testing.assert_frame_equal(calls[0].data, DATA)


def test_parquet(calls, tmp_path):
    DATA.to_parquet(tmp_path / "d.parquet")
    assert cli.main(["fit", "y ~ x", str(tmp_path / "d.parquet")]) == 0
    pd.testing.assert_frame_equal(calls[0].data, DATA)


def test_a_name_alone_is_a_data_set_and_a_path_is_a_file(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    DATA.to_csv("liver", index=False)
    for name in ("liver", "./liver", str(tmp_path / "liver")):
        assert cli.main(["fit", "y ~ x", name]) == 0
    assert [len(call.data) for call in calls] == [218, 4, 4]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("mackrel", None, "there is no file and no bundled data set 'mackrel'; did you mean 'mackerel'?\n"),
        ("zzz", None, "there is no file and no bundled data set 'zzz'.\n"),
        ("none.csv", None, "there is no file 'none.csv'."),
        ("mackerel.csv", None, "there is no file 'mackerel.csv'."),
        ("empty.csv", b"", "'empty.csv' cannot be read: No columns to parse from file"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3,4\n", "'ragged.csv' cannot be read: Error tokenizing data."),
        ("binary.csv", b"\xff\xfe\x00a,\x81\n", "'binary.csv' cannot be read: 'utf-8' codec can't decode"),
        ("text.csv.gz", b"a,b\n1,2\n", "'text.csv.gz' cannot be read: Not a gzipped file"),
        ("cut.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", "'cut.csv.gz' cannot be read: "),
        ("text.parquet", b"a,b\n1,2\n", "'text.parquet' cannot be read: "),
        (".", None, "'.' cannot be read: Is a directory"),
        ("semi.csv", b"a;b\n1;2\n", "the fields of 'semi.csv' seem to "),
        ("bars.csv", b"a|b\n1|2\n", "the fields of 'bars.csv' seem to be separated by '|': commas are read"),
        ("tabs.csv", b"a\tb\n1\t2\n", "the fields of 'tabs.csv' seem to be separated by '\\t': commas are read"),
        ("", None, "DATA='' is not allowed: it must be a file or a bundled data set."),
    ],
)
def test_files_that_cannot_be_read(calls, tmp_path, monkeypatch, capsys, name, content, message):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert cli.main(["fit", "y ~ x", name]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"svmstat: error: {message}")
    assert error.count("\n") == 1
    assert not calls


def test_letters_in_another_encoding(calls, tmp_path, capsys):
    (tmp_path / "d.csv").write_bytes("y,x\nja,ä\n".encode("latin-1"))
    assert cli.main(["fit", "y ~ x", str(tmp_path / "d.csv")]) == 2
    assert capsys.readouterr().err.endswith("; it must be in UTF-8\n")
    assert not calls


def test_parquet_without_pyarrow(calls, tmp_path, monkeypatch, capsys):
    def read_parquet(path):
        raise ImportError("Unable to find a usable engine")

    monkeypatch.setattr(pd, "read_parquet", read_parquet)
    (tmp_path / "d.parquet").touch()
    assert cli.main(["fit", "y ~ x", str(tmp_path / "d.parquet")]) == 2
    assert "install pyarrow: pip install 'svmstat[parquet]'." in capsys.readouterr().err


# What is printed


@pytest.mark.parametrize(
    ("format", "start"),
    [("text", " "), ("html", "<!DOCTYPE html>"), ("latex", r"% needs \usepackage{"), ("markdown", "**A fit of")],
)
def test_formats(calls, tmp_path, capsys, format, start):
    command = ["fit", "y ~ x", "liver", "--format", format]
    assert cli.main(command) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(start)
    assert printed.endswith("\n")
    assert cli.main([*command, "--output", str(tmp_path / "summary")]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "summary").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("none/s.txt", "'none/s.txt' cannot be written: No such file or directory."),
        (".", "'.' cannot be written: Is a directory."),
        ("", "'' cannot be written: it is no name of a file."),
        ("s.parquet", "'s.parquet' cannot be written: the output is text. pandas makes a parquet file of a .csv."),
    ],
)
def test_an_output_that_cannot_be_written(calls, tmp_path, monkeypatch, capsys, output, message):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["fit", "y ~ x", "liver", "--output", output]) == 2
    assert capsys.readouterr().err == f"svmstat: error: {message}\n"
    assert not calls


def test_a_write_that_fails_leaves_the_old_report(calls, reports, tmp_path, monkeypatch, capsys):
    out = tmp_path / "r.html"
    out.write_text("the old report", encoding="utf-8")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert cli.main(["report", "y ~ x", "mackerel", "--out", str(out)]) == 2
    assert capsys.readouterr().err.endswith("r.html' cannot be written: No space left on device.\n")
    assert out.read_text(encoding="utf-8") == "the old report"
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_warnings_of_the_fit_on_stderr(monkeypatch, capsys):
    def svm(formula, data, **options):
        if options["event"] == "1":
            warnings.warn("of an attempt that failed", CertificateWarning, stacklevel=2)
            raise ArgumentError("event='1' is not allowed")
        for _ in range(2):
            warnings.warn("the gap is wide", CertificateWarning, stacklevel=2)
        return SimpleNamespace(summary=lambda: Summary("A fit", ()))

    monkeypatch.setattr(commands, "svm", svm)
    assert cli.main(["fit", "y ~ x", "liver", "--event", "1"]) == 0
    assert capsys.readouterr().err == "svmstat: warning: the gap is wide\n"


def test_list_of_data_sets(capsys):
    assert cli.main(["datasets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(datasets.names())


# Arguments that argparse refuses


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["fit"], "the following arguments are required: FORMULA, DATA"),
        (["fit", "y ~ x"], "the following arguments are required: DATA"),
        (["fits", "y ~ x", "liver"], "invalid choice: 'fits'"),
        (["fit", "y ~ x", "liver", "--C", "much"], "argument --C: invalid float value: 'much'"),
        (["fit", "y ~ x", "liver", "--degree", "2.5"], "argument --degree: invalid int value: '2.5'"),
        (["fit", "y ~ x", "liver", "--kern", "rbf"], "unrecognized arguments: --kern"),
        (["fit", "y ~ x", "liver", "--class-weight", "2"], "'2' is not of the form NAME=NUMBER"),
        (["fit", "y ~ x", "liver", "--class-weight", "a=b"], "'a=b' is not of the form NAME=NUMBER"),
        (["fit", "y ~ x", "liver", "--na-action", "omit"], "argument --na-action: invalid choice: 'omit'"),
        (["fit", "y ~ x", "liver", "--format", "pdf"], "argument --format: invalid choice: 'pdf'"),
        (["fit", "y ~ x", "liver", "--event", "a", "--event", "b"], "argument --event: it is given twice: 'a' and 'b'"),
        (["fit", "y ~ x", "liver", "--C", "1", "--C", "2"], "argument --C: it is given twice: 1.0 and 2.0"),
        (["fit", "y ~ x", "liver", "--format", "html", "--format", "html"], "argument --format: it is given twice"),
        (["compare", "liver"], "the following arguments are required: --formula"),
        (["tune", "liver", "--formula", "y ~ x", "--C", "1,a"], "argument --C: '1,a' are no numbers with commas"),
        (["tune", "liver", "--formula", "y ~ x", "--degree", "2.5"], "argument --degree: '2.5' are no integers with"),
        (["tune", "liver", "--formula", "y ~ x", "--criterion", "neyman-pearson"], "as neyman-pearson=0.1 has"),
        (["tune", "liver", "--formula", "y ~ x", "--seed", "-1"], "--seed: '-1' is not allowed: it must be an integer"),
        (["tune", "liver", "--formula", "y ~ x", "--seed", "x"], "--seed: 'x' is not allowed: it must be an integer"),
        (["tune", "liver", "--formula", "y ~ x", "--criterion", "neyman-pearson=2"], "a=2.0 is not allowed"),
        (["report", "y ~ x", "liver"], "the following arguments are required: --out"),
        (["report", "y ~ x", "liver", "--out", "a", "--out", "b"], "argument --out: it is given twice: 'a' and 'b'"),
    ],
)
def test_usage_errors(capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("svmstat: error: ")
    assert message in last


def test_a_class_weight_given_twice(calls, capsys):
    command = ["fit", "y ~ x", "liver", "--class-weight", "a=1", "--class-weight", "a=2"]
    assert cli.main(command) == 2
    assert capsys.readouterr().err == "svmstat: error: --class-weight is given twice for 'a'.\n"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--help"], ["fit ", "datasets ", "examples:", "svmstat fit --help"]),
        (["fit", "--help"], ["FORMULA", "--class-weight LEVEL=WEIGHT", "--no-scale", "examples:", "own, methods and"]),
        (["fit", "--help"], ["linear, rbf, poly, spline, precomputed or laplace; the default is rbf"]),
        (["fit", "--help"], ["factor of the cost for a level of the response, or balanced; once for each"]),
        (["fit", "--help"], ["width of rbf, poly and laplace: scale", "degree of poly (default 3)"]),
        (["--version"], ["svmstat 0."]),
    ],
)
def test_help(capsys, arguments, parts):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert all(part in text for part in parts)


# In a process of its own


def run(*arguments, **options):
    command = [sys.executable, "-P", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100, **options)


def test_importing_the_command_does_not_import_matplotlib():
    result = run("-c", "import svmstat.cli, sys; sys.exit('matplotlib' in sys.modules)")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_the_help_waits_for_no_library(argument):
    code = f"""
import sys
from svmstat import cli
try:
    cli.main([{argument!r}])
except SystemExit as end:
    sys.exit(end.code or sorted({{"numpy", "pandas", "numba", "scipy"}} & set(sys.modules)) or 0)
"""
    result = run("-c", code)
    assert (result.returncode, result.stderr) == (0, "") and "svmstat" in result.stdout


@pytest.mark.skipif(os.name != "posix", reason="pipes are closed in another way")
def test_a_reader_that_stops():
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [sys.executable, "-P", "-m", "svmstat.cli", "datasets"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, b"")


def test_the_process_of_the_command_ends_without_looking_for_garbage():
    code = """
import gc, sys
from svmstat.cli import command
sys.argv = ["svmstat", "datasets"]
status = command()
sys.exit(status if gc.get_freeze_count() > 10_000 else "garbage would be looked for")
"""
    result = run("-c", code)
    assert (result.returncode, result.stderr) == (0, "") and "mackerel" in result.stdout


@pytest.mark.parametrize(
    ("given", "helped"),
    [(["fit"], True), (["datasets"], False), (["fit", "--help"], False), (["-h", "report"], False)],
)
def test_commands_that_solve_are_helped_from_their_beginning(monkeypatch, capsys, given, helped):
    asked = []
    monkeypatch.setattr(solver, "have_helped", lambda: asked.append(True))
    monkeypatch.setattr(commands, "run", lambda *_: 0)
    assert cli.main(given) == 0
    assert asked == [True] * helped


def test_letters_that_the_terminal_lacks():
    code = "from svmstat import commands; commands._write('\\u03c0 ~ x', None)"
    assert run("-c", code, env=os.environ | {"PYTHONIOENCODING": "ascii"}).stdout == r"\u03c0 ~ x"


# With the real svm()


def test_mackerel(capsys):
    assert cli.main(["fit", MACKEREL, "mackerel", "--C", "16", "--gamma", "0.25"]) == 0
    text = capsys.readouterr().out
    assert all(number in text for number in ("418.10", "0.1341", "634", "369"))


@pytest.mark.usefixtures("few_envelopes")
def test_the_laplace_kernel(capsys, tmp_path):
    """A class in svmstat.kernels is all that made it: the command knows its name, and which options are its own."""
    command = ["egg_count > 0 ~ lon + lat", "mackerel", "--kernel", "laplace", "--gamma", "0.5"]
    assert cli.main(["fit", *command]) == 0
    fit = svm("egg_count > 0 ~ lon + lat", datasets.load("mackerel"), kernel="laplace", gamma=0.5)
    assert capsys.readouterr().out == f"{fit.summary()}\n"
    assert "laplace" in str(fit.summary())
    out = tmp_path / "r.html"
    assert cli.main(["report", *command, "-B", "9", "--seed", "1", "--out", str(out)]) == 0
    assert "--kernel laplace --gamma 0.5" in out.read_text(encoding="utf-8")


def test_linear_kernel_with_weights_and_a_subset(tmp_path, capsys):
    data = datasets.load("liver").assign(copies=1)
    data.loc[:9, "copies"] = 2
    data.to_csv(tmp_path / "liver.csv", index=False)
    command = ["fit", "disease ~ ast + alt", str(tmp_path / "liver.csv"), "--kernel", "linear"]
    command += ["--subset", "np.isin(disease, ['PNC', 'AVH'])", "--weights", "copies"]
    assert cli.main([*command, "--event", "PNC", "--class-weight", "PNC=2", "--class-weight", "AVH=1"]) == 0
    assert "ast" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("formula", "name", "event", "shown"),
    [
        ("cover_type ~ elevation + slope", "forest", "1", "event: 1 ("),
        ("egg_count > 0 ~ lon + lat", "mackerel", "False", "event: False (265 of 634)"),
    ],
)
def test_a_level_that_is_no_text(capsys, formula, name, event, shown):
    assert cli.main(["fit", formula, name, "--event", event, "--class-weight", f"{event}=2"]) == 0
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["egg_count > 0 ~ lonn", "mackerel"], "lonn"),
        (["egg_count > 0 ~ lon +", "mackerel"], "lon +"),
        (["egg_count > 0 ~ lon", "mackerel", "--kernel", "rfb"], "kernel='rfb' is not allowed"),
        (["egg_count > 0 ~ lon", "mackerel", "--C", "0"], "C=0.0 is not allowed"),
        (["egg_count > 0 ~ lon", "mackerel", "--gamma", "wide"], "gamma='wide' is not allowed"),
        (["egg_count > 0 ~ lon", "mackerel", "--nu", "0.5,2"], "nu[1]=2.0 is not allowed"),
        (["egg_count > 0 ~ lon", "mackerel", "--event", "many"], "event='many'"),
        (["egg_count > 0 ~ lon", "mackerel", "--weights", "copies"], "copies"),
        (["egg_count > 0 ~ salinity", "mackerel", "--na-action", "raise"], "salinity"),
    ],
)
def test_mistakes(capsys, arguments, part):
    assert cli.main(["fit", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("svmstat: error: ")
    assert part in captured.err
    assert "Traceback" not in captured.err


# Comparisons and searches

TWO = ["--formula", "egg_count > 0 ~ lon", "--formula", "egg_count > 0 ~ lon + lat"]
ONE = TWO[2:]


def of_mackerel(capsys, *arguments):
    """What is printed, of some stations."""
    assert cli.main([arguments[0], "mackerel", *arguments[1:], "--subset", "vessel_haul > 500"]) == 0
    return capsys.readouterr().out


@pytest.fixture
def fits():
    """Fits to the same stations."""
    return lambda formula, **how: svm(formula, datasets.load("mackerel"), subset="vessel_haul > 500", **how)


@pytest.mark.parametrize("extra", [[], ["--folds", "5", "--seed", "3"], ["--nested", "--repeats", "1", "--seed", "2"]])
def test_formulas_are_compared(capsys, fits, extra):
    printed = of_mackerel(capsys, "compare", *TWO, "--C", "4", *extra)
    one, two = (fits(formula, C=4) for formula in (TWO[1], TWO[3]))
    options = {"--folds": {"folds": 5, "rng": 3}, "--nested": {"nested": True, "repeats": 1, "rng": 2}}
    found = compare(one, two, **options.get(extra[0] if extra else "", {}))
    assert printed == f"{replace_names(found, 'lon', 'lon + lat').summary()}\n"


def replace_names(found, *names):
    return dataclasses.replace(found, names=names)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ([*ONE, "--kernel", "linear", "--kernel", "rbf"], ["linear", "rbf"]),
        ([*TWO, "--kernel", "linear"], ["lon", "lon + lat"]),
        ([*TWO, "--kernel", "linear", "--kernel", "rbf"], ["linear: lon", "rbf: lon", "linear: lon + lat"]),
    ],
)
def test_what_models_are_called(capsys, arguments, names):
    printed = of_mackerel(capsys, "compare", *arguments)
    assert [line.split("  ")[0] for line in printed.splitlines()[3:]][: len(names)] == names


def test_a_search(capsys):
    printed = of_mackerel(
        capsys, "tune", *ONE, "--C", "1,4", "--gamma", "scale,0.5", "--criterion", "kfold", "--seed", "1"
    )
    options = {"C": [1, 4], "gamma": ["scale", 0.5], "criterion": "kfold", "rng": 1}
    data = datasets.load("mackerel")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tune(ONE[1], data, subset="vessel_haul > 500", **options)
    assert printed == f"{found.summary()}\n"


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (["--C", "1, 2,4"], {"C": [1.0, 2.0, 4.0]}),
        (["--kernel", "poly", "--degree", "2,3", "--coef0", "1"], {"kernel": "poly", "degree": [2, 3], "coef0": [1.0]}),
        (["--kernel", "linear", "--kernel", "rbf"], {"kernel": ["linear", "rbf"]}),
        (["--criterion", "span", "--score", "error"], {"criterion": "span", "score": "error"}),
        (["--criterion", "minimax", "--nu", "0.2,0.4"], {"criterion": minimax(), "nu": [0.2, 0.4]}),
        (["--criterion", "neyman-pearson=0.1"], {"criterion": neyman_pearson(0.1)}),
        (["--search", "coordinate", "--folds", "4", "--nested"], {"search": "coordinate", "folds": 4, "nested": True}),
        (["--seed", "2", "--jobs", "2", "--progress"], {"rng": 2, "n_jobs": 2, "progress": True}),
        (["--event", "True"], {"event": True}),
        (["--class-weight", "True=2"], {"class_weight": {True: 2.0}}),
        (["--no-scale", "--weights", "copies"], {"scale": False, "weights": "copies"}),
        ([*ONE], {}),
    ],
)
def test_options_of_a_search(monkeypatch, arguments, passed):
    """Formulas are one text or a list, and each is marked as somebody else's."""
    asked = []

    def tune(formula, data, *, event=None, class_weight=None, **options):
        for level in [*([] if event is None else [event]), *(class_weight or {})]:
            if not isinstance(level, bool):
                raise ArgumentError(f"event={level!r} is not allowed")
        given = {"event": event, "class_weight": class_weight}
        asked.append((formula, options | {name: value for name, value in given.items() if value is not None}))
        return SimpleNamespace(summary=lambda: Summary("A search", ()))

    monkeypatch.setattr(commands, "tune", tune)
    assert cli.main(["tune", "mackerel", *TWO[:2], *arguments]) == 0
    formula, options = asked[0]
    assert options == {"n_jobs": -1} | passed
    formulas = [formula] if isinstance(formula, str) else formula
    assert formulas == [TWO[1], *([ONE[1]] if arguments == ONE else [])]
    assert all(isinstance(each, Untrusted) for each in formulas)


@pytest.mark.parametrize("command", ["compare", "tune"])
def test_forms_of_a_comparison_and_of_a_search(monkeypatch, tmp_path, capsys, command):
    found = SimpleNamespace(summary=lambda: Summary("A result", ()))
    monkeypatch.setattr(commands, "tune", lambda *_, **__: found)
    monkeypatch.setattr(commands, "compare", lambda *_, **__: found)
    monkeypatch.setattr(commands, "replace", lambda result, **_: result)
    for form, start in (("text", "   "), ("html", "<!DOCTYPE"), ("latex", "% needs"), ("markdown", "**A result**")):
        assert cli.main([command, "mackerel", *TWO, "--format", form]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith(start)
        assert cli.main([command, "mackerel", *TWO, "--format", form, "--output", str(tmp_path / "s")]) == 0
        assert (tmp_path / "s").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["compare", *ONE], "one model is given: compare takes several, by several --formula or several --kernel."),
        (["compare", *ONE, *ONE], "a model is given twice"),
        (["compare", *TWO, "--C", "0"], "C=0.0 is not allowed"),
        (["compare", *TWO, "--jobs", "0"], "--jobs=0 is not allowed"),
        (
            ["compare", *TWO[:2], "--formula", "egg_count > 0 ~ salinity"],
            "fit all models to the rows that",
        ),
        (
            ["compare", *TWO[:2], "--formula", "egg_count > 0 ~ lat.values"],
            "'.values' is not allowed in a formula",
        ),
        (["tune", *ONE, "--jobs", "0"], "--jobs=0 is not allowed"),
        (["tune", *ONE, "--criterion", "aic"], "criterion='aic' is not allowed"),
        (["tune", *ONE, "--C=-1,1"], "-1.0"),
        (["tune", *ONE, "--event", "many"], "event='many'"),
        (["tune", "--formula", "egg_count > 0 ~ open(lon)"], "The function 'open'"),
    ],
)
def test_mistakes_in_a_comparison_or_a_search(capsys, arguments, part):
    assert cli.main([arguments[0], "mackerel", *arguments[1:]]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "svmstat: error: " in captured.err and part in captured.err


# The report


@pytest.mark.parametrize("argument", ["a", "y ~ x", "it's", "a == 'b'", 'a == "b"', "$x", "`x`", "a\\b", "!", "", "-1"])
def test_the_shell_reads_the_call_that_is_printed(argument):
    assert shlex.split(commands._quoted(argument)) == [argument]


@pytest.fixture
def reports(calls, monkeypatch):
    """The settings of the calls of report(), which is replaced as svm() is."""
    reports = []

    def report(fit, **settings):
        reports.append(settings)
        return "<p>π</p>"

    monkeypatch.setattr(commands, "report", report)
    return reports


def test_a_report_is_written(calls, reports, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # whose name may have a blank, and be quoted then
    out = "r.html"
    assert cli.main(["report", "y ~ x", "mackerel", "--C", "16", "--event", "b", "--out", out]) == 0
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == "<p>π</p>\n"
    assert calls[0].options == {"C": 16.0, "event": "b"}
    assert reports == [{"call": f'svmstat report "y ~ x" mackerel --C 16 --event b --out {out}', "n_jobs": -1}]
    printed, errors = capsys.readouterr()
    assert printed == f"{Summary('A fit of π²', ())}\n{Summary('Left out', ())}\nWritten: {out}\n"
    assert errors == ""


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["-B", "99", "--method", "parametric"], {"B": 99, "method": "parametric"}),
        (["--level", "0.9", "--seed", "7"], {"level": 0.9, "rng": 7}),
        (["--jobs", "2", "--progress"], {"n_jobs": 2, "progress": True}),
    ],
)
def test_settings_of_a_report(calls, reports, tmp_path, arguments, settings):
    command = ["report", "y ~ x", "liver", *arguments, "--no-scale", "--out", str(tmp_path / "r.html")]
    assert cli.main(command) == 0
    assert calls[0].options == {"scale": False}
    del reports[0]["call"]
    assert reports == [{"n_jobs": -1} | settings]


def test_a_report_has_the_options_of_a_fit(capsys):
    fit, page = (options_of(command, capsys) for command in ("fit", "report"))
    assert fit - page == {"--format", "--output", "--save"}
    assert page - fit == {"--out", "-B", "--method", "--level", "--seed", "--jobs", "--progress"}


def test_the_options_of_a_comparison_and_of_a_search(capsys):
    fit, other, search = (options_of(command, capsys) - {"--save"} for command in ("fit", "compare", "tune"))
    work = {"--formula", "--folds", "--nested", "--seed", "--jobs", "--progress"}
    assert fit <= other and other - fit == work | {"--repeats"}
    assert fit <= search and search - fit == work | {"--criterion", "--score", "--search"}


def options_of(command, capsys):
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    return set(re.findall(r"(?m)^  (--?[\w-]+)", capsys.readouterr().out))


def test_the_number_of_jobs_is_checked_before_the_fit(calls, reports, tmp_path, capsys):
    assert cli.main(["report", "y ~ x", "liver", "--jobs", "0", "--out", str(tmp_path / "r.html")]) == 2
    assert "--jobs=0 is not allowed: it must be a number of workers" in capsys.readouterr().err
    assert calls == reports == []


def test_a_folder_that_does_not_exist_is_told_before_the_work(calls, reports, tmp_path, capsys):
    assert cli.main(["report", "y ~ x", "liver", "--out", str(tmp_path / "none" / "r.html")]) == 2
    assert "r.html' cannot be written: No such file or directory." in capsys.readouterr().err
    assert calls == reports == []


def test_warnings_of_a_report_are_lines(calls, tmp_path, monkeypatch, capsys):
    def report(fit, **settings):
        warnings.warn("something", CertificateWarning, stacklevel=2)
        return ""

    monkeypatch.setattr(commands, "report", report)
    assert cli.main(["report", "y ~ x", "liver", "--out", str(tmp_path / "r.html")]) == 0
    assert capsys.readouterr().err == "svmstat: warning: something\n"


def test_what_will_take_long_is_told_before_it_does(calls, monkeypatch, capsys):
    """And stays when the user has waited long enough; other warnings would be beside the point then."""
    said = []

    def svm(formula, data, **options):
        warnings.warn("the gap is wide", CertificateWarning, stacklevel=2)
        for _ in range(2):
            warnings.warn("loo will take about 2 hours; progress=True shows a bar.", LongRunWarning, stacklevel=2)
        said.append(capsys.readouterr().err)
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "svm", svm)
    with pytest.raises(KeyboardInterrupt):
        commands._fitted("y ~ x", "liver", {})
    assert said == ["svmstat: warning: loo will take about 2 hours; --progress shows a bar.\n"]
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("few_envelopes")
def test_a_report_on_mackerel(tmp_path):
    out = tmp_path / "r.html"
    command = ["report", MACKEREL, "mackerel", "--C", "16", "--gamma", "0.25", "-B", "19", "--seed", "1"]
    assert cli.main([*command, "--out", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    assert all(number in page for number in ("418.10", "0.1625", "0.1341", "8.50", "-B 19 --seed 1"))


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["-B", "0"], "B=0 is not allowed"),
        (["--method", "rows"], "method='rows'"),
        (["--level", "2"], "level=2.0"),
    ],
)
def test_mistakes_in_a_report(tmp_path, capsys, arguments, part):
    out = tmp_path / "r.html"
    assert cli.main(["report", "egg_count > 0 ~ lon + lat", "mackerel", *arguments, "--out", str(out)]) == 2
    assert part in capsys.readouterr().err
    assert not out.exists()


def test_more_than_two_levels(capsys):
    options = ["--coupling", "hastie-tibshirani"]
    assert cli.main(["fit", "disease ~ ast + alt + gldh", "liver", *options]) == 0
    captured = capsys.readouterr()
    expected = svm("disease ~ ast + alt + gldh", datasets.load("liver"), coupling="hastie-tibshirani").summary()
    assert captured.out.strip("\n") == str(expected).strip("\n")
    assert captured.err == ""
    assert re.search(r"Coupling: +hastie-tibshirani", captured.out)
    weights = ["--class-weight", "ACH=2", "--C", "4"]
    assert cli.main(["fit", "disease ~ ast + alt + gldh", "liver", *weights]) == 0
    assert "ACH: 2, AVH: 1, PCH: 1, PNC: 1" in capsys.readouterr().out


@pytest.mark.usefixtures("few_envelopes")
def test_a_report_of_more_than_two_levels(tmp_path, capsys):
    page = tmp_path / "liver.html"
    arguments = ["disease ~ ast + alt + gldh", "liver", "-B", "9", "--seed", "1", "--out", str(page)]
    assert cli.main(["report", *arguments]) == 0
    assert "every level of disease" in " ".join(page.read_text(encoding="utf-8").split())
    assert "CV score" in capsys.readouterr().out


# Fits that are saved


def test_a_fit_is_saved_and_predicts(tmp_path, capsys):
    path, data = tmp_path / "fit", tmp_path / "data.csv"
    DATA.to_csv(data, index=False)
    assert cli.main(["fit", "y ~ x", str(data), "--save", str(path)]) == 0
    capsys.readouterr()
    assert cli.main(["predict", str(path), str(data), "--output", str(tmp_path / "out.csv")]) == 0
    found, expected = pd.read_csv(tmp_path / "out.csv"), svm("y ~ x", DATA).augment(DATA)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert capsys.readouterr().out == ""


def test_predictions_stand_beside_the_fields_as_they_are_written(tmp_path, capsys):
    path, data = tmp_path / "fit", tmp_path / "data.csv"
    table = DATA.assign(id=[f"{k:04d}" for k in range(len(DATA))], note="NA", code="1e5")
    table.to_csv(data, index=False)
    assert cli.main(["fit", "y ~ x", str(data), "--save", str(path)]) == 0
    capsys.readouterr()
    assert cli.main(["predict", str(path), str(data)]) == 0
    given, found = data.read_text(encoding="utf-8").splitlines(), capsys.readouterr().out.splitlines()
    assert len(found) == len(given)
    assert all(line.startswith(f"{row},") for row, line in zip(given, found, strict=True))


def test_the_text_none_is_a_level(tmp_path, capsys):
    data = tmp_path / "data.csv"
    arm = np.resize(["None", "drug", "NA"], len(DATA))
    DATA.assign(arm=arm).to_csv(data, index=False)
    assert cli.main(["fit", "y ~ x + arm", str(data), "--save", str(tmp_path / "fit")]) == 0
    assert f"{(arm == 'NA').sum()} of {len(DATA)} rows have missing values" in capsys.readouterr().err
    assert load(tmp_path / "fit").frame.design.column_names == ("x", "arm[None]", "arm[drug]")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "none", "mackerel"], "'none' cannot be read: No such file or directory."),
        (["predict", __file__, "mackerel"], "is no model that can be loaded: it is no zip"),
        (["fit", "y ~ x", "mackerel", "--save", "no/folder/fit"], "'no/folder/fit' cannot be written"),
    ],
)
def test_models_that_cannot_be_read_or_written(arguments, message, capsys):
    assert cli.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and message in captured.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,z\n1,2,3\n2,3,4\n", "has rows with more of them than the header has names: name every column."),
        ("x,x,z\n1,2,3\n2,3,4\n", "has several columns 'x': names must be different."),
    ],
)
def test_columns_without_a_name_of_their_own_are_not_passed_over(text, message, tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    assert cli.main(["fit", "z ~ x", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_no_file_that_is_read_is_written_over(tmp_path, capsys):
    model, data = tmp_path / "fit", tmp_path / "data.csv"
    DATA.to_csv(data, index=False)
    assert cli.main(["fit", "y ~ x", str(data), "--save", str(model)]) == 0
    before = model.read_bytes(), data.read_bytes()
    predict, fit = ["predict", str(model), str(data), "--output"], ["fit", "y ~ x", str(data)]
    for arguments in ([*predict, str(model)], [*predict, str(data)], [*fit, "--save", str(data)]):
        assert cli.main(arguments) == 2
        assert "cannot be written: it is a file that is read." in capsys.readouterr().err
    assert cli.main(["report", "y ~ x", str(data), "--out", str(data)]) == 2
    assert (model.read_bytes(), data.read_bytes()) == before


def test_two_results_in_one_file(tmp_path, capsys):
    both = str(tmp_path / "both")
    assert cli.main(["fit", "egg_count > 0 ~ lon", "mackerel", "--save", both, "--output", both]) == 2
    assert "cannot be written twice" in capsys.readouterr().err and not (tmp_path / "both").exists()


def test_the_error_of_levels_is_that_of_the_type_that_fits(tmp_path, capsys):
    data = tmp_path / "data.csv"
    data.write_text("y,x\n" + "\n".join(f"{k % 2},{k}" for k in range(20)), encoding="utf-8")
    assert cli.main(["fit", "y ~ x", str(data), "--prior", "1=0.2", "--prior", "0=0.7"]) == 2
    assert "must be shares that sum to 1, not to 0.9" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_an_error():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-P", "-m", "svmstat.cli", "datasets"]
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert found.returncode == 2
    assert found.stderr.decode().strip() == "svmstat: error: the output cannot be written: No space left on device."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_refused(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.csv")
    assert cli.main(["fit", "y ~ x", str(tmp_path / "pipe.csv")]) == 2
    assert "it is no file, such as a pipe" in capsys.readouterr().err


def test_an_interrupt_ends_the_command(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    monkeypatch.setattr(cli.gc, "freeze", lambda: None)
    assert cli.command() == 130
    assert capsys.readouterr().err == "svmstat: interrupted\n"


def test_text_that_looks_like_numbers_is_read_as_the_fit_had_it(tmp_path, capsys):
    """Rows of the very file of the fit can be predicted, whatever the others hold."""
    rng, model = np.random.default_rng(0), str(tmp_path / "fit")
    data = DATA.assign(site=rng.choice(["07", "8", "A1"], len(DATA)), y=np.where(DATA["y"] == DATA["y"][0], "1", "no"))
    data.to_csv(tmp_path / "data.csv", index=False)
    some = data[(data["site"] != "A1") & (data["y"] == "1")]
    some.to_csv(tmp_path / "some.csv", index=False)
    assert cli.main(["fit", "y ~ x + site", str(tmp_path / "data.csv"), "--save", model]) == 0
    capsys.readouterr()
    assert cli.main(["predict", model, str(tmp_path / "some.csv")]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), dtype={"y": str, "site": str, ".class": str})
    expected = svm("y ~ x + site", data).augment(some)
    pd.testing.assert_frame_equal(found, expected.reset_index(drop=True), check_dtype=False)


@pytest.mark.parametrize(
    ("output", "message"), [("p.csv.gz", "text that is not compressed"), ("p.tsv", "commas are between the fields")]
)
def test_suffixes_of_fields_that_promise_something_else(output, message, tmp_path, capsys):
    assert cli.main(["predict", "none", "mackerel", "--output", str(tmp_path / output)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "y ~ x", "data", "--out", "r.pdf"], "'r.pdf' cannot be written: the output is a page of HTML"),
        (["report", "y ~ x", "data", "--out", "r.csv"], "a page of HTML"),
        (["predict", "model", "data", "--output", "p.xlsx"], "fields with commas between them, as in a .csv"),
        (["fit", "y ~ x", "data", "--output", "s.html"], "the output is text, as in a .txt"),
        (["fit", "y ~ x", "data", "--output", "s.docx", "--format", "html"], "a page of HTML"),
        (["tune", "data", "--formula", "y ~ x", "--format", "html", "--output", "s.tex"], "a page of HTML"),
        (["fit", "y ~ x", "data", "--format", "markdown", "--output", "s.tex"], "Markdown, as in a .md"),
        (["fit", "y ~ x", "data", "--save", "f.csv"], "'f.csv' cannot be written: a fit is saved in a form of its own"),
        (["fit", "y ~ x", "data", "--save", "f.csv.gz"], "a fit is saved in a form of its own"),
        (["report", "y ~ x", "data", "--out", "r.md"], "a page of HTML"),
        (["predict", "model", "data", "--output", "p.json"], "fields with commas between them"),
    ],
)
def test_suffixes_that_promise_something_else(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_column_of_the_folds_has_other_tasks_too(tmp_path, capsys):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"block": np.arange(60) % 5 + 1, "x": rng.normal(size=60), "z": rng.normal(size=60)})
    data["y"] = np.where(data["x"] + rng.normal(size=60) > 0, "yes", "no")
    data.to_csv(tmp_path / "data.csv", index=False)
    data[data["block"] != 3].to_csv(tmp_path / "part.csv", index=False)

    def score(file, *more):
        formulas = ["--formula", "y ~ x", "--formula", "y ~ ."]
        assert cli.main(["compare", str(tmp_path / file), *formulas, "--folds", "block", *more]) == 0
        return re.search(r"^\. +(\S+)", capsys.readouterr().out, re.M)[1]

    assert score("data.csv", "--subset", "block != 3") == score("part.csv") != score("data.csv")
    assert score("data.csv", "--weights", "block") != score("data.csv")
    assert score("data.csv", "--groups", "block")


def test_models_that_cannot_be_compared_are_called_as_in_the_table(tmp_path, capsys):
    pd.DataFrame({"y": list("ab") * 20, "z": list("abc") * 13 + ["a"], "x": np.arange(40) % 7}).to_csv(
        tmp_path / "data.csv", index=False
    )
    assert cli.main(["compare", str(tmp_path / "data.csv"), "--formula", "y ~ x", "--formula", "z ~ x"]) == 2
    assert "their levels differ: 'y ~ x' has 'a', 'b', 'z ~ x' has 'a', 'b', 'c'." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "y ~ x", "--weights", "q"], "it must be the name of a column."),
        (["fit", "y ~ x | z"], "--groups says which rows belong together"),
        (["fit", "y ~ x", "--kernel", "RBF"], "'laplace'."),
        (["tune", "--formula", "y ~ x", "--nu", "0.1"], "it is for --criterion minimax and neyman-pearson=LEVEL."),
        (["fit", "y ~ x", "--jobs", "0", "--out", "r.html"], "it must be a number of workers, or -1 for all cores."),
    ],
)
def test_messages_have_the_words_of_the_command_line(arguments, words, tmp_path, capsys):
    path = tmp_path / "data.csv"
    pd.DataFrame({"y": list("ab") * 20, "x": np.arange(40) % 7, "z": np.arange(40) % 5}).to_csv(path, index=False)
    place = 1 if arguments[0] == "tune" else 2
    command = ["report" if "--jobs" in arguments else arguments[0], *arguments[1:]]
    assert cli.main([*command[:place], str(path), *command[place:]]) == 2
    assert words in capsys.readouterr().err


def test_numbers_as_text_are_told_with_what_to_do_about_the_file(tmp_path, capsys):
    path = tmp_path / "data.csv"
    pd.DataFrame({"y": list("ab") * 20, "x": [f"{k / 7:.2f}%" for k in range(40)]}).to_csv(path, index=False)
    assert cli.main(["fit", "y ~ x", str(path)]) == 0
    told = capsys.readouterr().err
    assert "reads as numbers with '%', 40 different ones in 40 rows" in told
    assert "if numbers are meant, write them without the '%'." in told


def test_levels_with_blanks_have_weights(tmp_path, capsys):
    data = tmp_path / "data.csv"
    for level, given in ((" a", " a=2"), ("a", "a = 2"), ("a", " a=2")):
        DATA.assign(y=np.where(DATA["y"] == DATA["y"][0], level, "b")).to_csv(data, index=False)
        assert cli.main(["fit", "y ~ x", str(data), "--class-weight", given]) == 0
        assert "a: 2, b: 1" in capsys.readouterr().out
    assert cli.main(["fit", "y ~ x", str(data), "--class-weight", " a=2", "--class-weight", "a=3"]) == 2


def test_models_are_told_apart_by_both_sides(tmp_path, capsys):
    DATA.assign(z=DATA["y"]).to_csv(tmp_path / "data.csv", index=False)
    data = str(tmp_path / "data.csv")
    assert cli.main(["compare", data, "--formula", "y ~ x", "--formula", "y~  x "]) == 2
    assert "a model is given twice" in capsys.readouterr().err
    assert cli.main(["compare", data, "--formula", "y ~ x", "--formula", "z ~ x"]) == 0
    assert "y ~ x" in (text := capsys.readouterr().out) and "z ~ x" in text
    assert cli.main(["compare", data, "--formula", "I(~(z == 1)) ~ x", "--formula", "I(~(z == 1)) ~ x**2"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[3:5]] == ["x", "x**2"]
    assert cli.main(["tune", data, "--formula", "y ~ x", "--kernel", "linear", "--kernel", "linear"]) == 2
    assert "a kernel is given twice" in capsys.readouterr().err


def test_parquet_has_the_columns_that_were_an_index(calls, tmp_path):
    DATA.assign(site=np.arange(len(DATA))).set_index("site").to_parquet(tmp_path / "d.parquet")
    assert cli.main(["fit", "y ~ x", str(tmp_path / "d.parquet")]) == 0
    assert sorted(calls[0].data.columns) == sorted([*DATA.columns, "site"])
    DATA.iloc[::2].to_parquet(tmp_path / "e.parquet")
    assert cli.main(["fit", "y ~ x", str(tmp_path / "e.parquet")]) == 0
    assert list(calls[1].data.columns) == list(DATA.columns)


def test_models_of_other_rows_are_named_as_they_were_given(tmp_path, capsys):
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["x", "z"])
    data.assign(y=[0, 1] * 20, z=data["z"].where(data.index > 2)).to_csv(tmp_path / "d.csv", index=False)
    given = ["compare", str(tmp_path / "d.csv"), "--formula", "y ~ x", "--formula", "y ~ x + z"]
    assert cli.main(given) == 2
    assert "'x' and 'x + z' have other rows, 3 rows of the data in one of them only" in capsys.readouterr().err
    assert cli.main([*given, "--subset", "z == z"]) == 0


@pytest.mark.parametrize("criterion", ["gckl", "minimax()", "minimax=", "foo"])
def test_a_criterion_is_refused_in_the_words_of_the_command(criterion, capsys):
    assert cli.main(["tune", "liver", "--formula", "disease ~ ast", "--criterion", criterion]) == 2
    told = f"criterion={criterion!r} is not allowed: --criterion is one of loo, kfold, span, gacv, minimax, neyman-"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_whole_numbers_beside_a_missing_one_are_called_as_they_stand_there(tmp_path, capsys, suffix):
    rows = {"y": [0, 1, None, 1, 0] * 6, "site": [10115, 20095, 20095, None, 10115] * 6, "x": np.arange(30.0)}
    data = pd.DataFrame(rows).astype({"y": "Int64", "site": "Int64"})
    path = tmp_path / f"d.{suffix}"
    data.to_csv(path, index=False) if suffix == "csv" else data.to_parquet(path)
    model = str(tmp_path / "m.svmstat")
    assert cli.main(["fit", "y ~ site + x", str(path), "--kernel", "linear", "--save", model]) == 0
    assert "event: 1 (" in capsys.readouterr().out
    assert cli.main(["predict", model, str(path), "--output", str(tmp_path / "p.csv")]) == 0
    found = pd.read_csv(tmp_path / "p.csv", dtype=str)
    assert found["y"].dropna().isin(["0", "1"]).all() and found[".class"].dropna().isin(["0", "1"]).all()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_large_whole_numbers_beside_missing_ones_stay_so(calls, tmp_path, suffix):
    ids = pd.array([2**60 + k for k in range(len(DATA))], dtype="Int64")
    ids[0] = pd.NA
    data, path = DATA.assign(id=ids), tmp_path / f"d.{suffix}"
    data.to_csv(path, index=False) if suffix == "csv" else data.to_parquet(path)
    assert cli.main(["fit", "y ~ x", str(path)]) == 0
    pd.testing.assert_series_equal(calls[0].data["id"], data["id"])


def test_files_of_other_kinds_are_refused(tmp_path, capsys):
    (tmp_path / "d.feather").touch()
    assert cli.main(["fit", "y ~ x", str(tmp_path / "d.feather")]) == 2
    assert (
        "files of text with commas or, .tsv, with tabs are, compressed or not, and .parquet." in capsys.readouterr().err
    )


# Without stderr, as in a process that has no terminal


@pytest.mark.parametrize(
    ("command", "status", "begins"),
    [
        (["fit", "disease ~ ast + I(0 * alt)", "liver", "--format", "html"], 0, "<!DOCTYPE html>"),
        (["fit", "disease ~ nosuch", "liver"], 2, ""),
        (["fit", "disease ~ ast", "liver", "--nosuch", "1"], 2, ""),
        (["tune", "liver", "--formula", "disease ~ ast", "--C", "1,2", "--progress"], 0, "Grid search"),
    ],
)
def test_nothing_for_stderr_is_in_the_output(monkeypatch, capsys, command, status, begins):
    monkeypatch.setattr(sys, "stderr", None)
    try:
        found = cli.main(command)
    except SystemExit as ended:
        found = ended.code
    out = capsys.readouterr().out
    assert found == status and out.lstrip().startswith(begins) and bool(out) == bool(begins)


def rows_with_names(tmp_path):
    """The same rows without and with a first column of names that has none itself, as R and pandas write them."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"y": np.repeat(["no", "yes"], 20), "x": rng.normal(size=40), "z": rng.normal(size=40)})
    data.index = [f"station {k}" for k in range(40)]
    plain, named = tmp_path / "plain.csv", tmp_path / "named.csv"
    data.to_csv(plain, index=False)
    data.to_csv(named)
    return plain, named


def test_names_of_rows_are_no_predictor(tmp_path, capsys):
    plain, named = rows_with_names(tmp_path)
    printed = []
    for path in (plain, named):
        assert cli.main(["fit", "y ~ .", str(path), "--save", str(path) + ".svmstat"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and "y ~ x + z" in printed[0]
    for path in (plain, named):
        assert cli.main(["predict", str(plain) + ".svmstat", str(path)]) == 0
        printed.append(capsys.readouterr().out.splitlines())
    assert printed[3][0] == "," + printed[2][0] and printed[3][1] == "station 0," + printed[2][1]
    assert named.read_text(encoding="utf-8").splitlines()[1] in printed[3][1]


def test_no_other_column_is_without_a_name(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text("y,,x\na,1,2\nb,2,3\n", encoding="utf-8")
    assert cli.main(["fit", "y ~ x", str(path)]) == 2
    assert "column 2 of 3 of" in capsys.readouterr().err


def test_the_column_of_the_folds_is_no_predictor_of_a_comparison(tmp_path, capsys):
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"block": np.arange(60) // 10, "x": rng.normal(size=60), "z": rng.normal(size=60)})
    data["y"] = np.where(data["x"] + data["block"] + rng.normal(size=60) > 2, "yes", "no")
    path = tmp_path / "data.csv"
    data.to_csv(path, index=False)
    scores = {}
    for formula in ("y ~ .", "y ~ x + z", "y ~ x + z + block"):
        assert cli.main(["compare", str(path), "--formula", formula, "--formula", "y ~ x", "--folds", "block"]) == 0
        printed = capsys.readouterr().out
        scores[formula] = re.search(r"^(?:\.|x \+ z|x \+ z \+ block) +(\S+)", printed, re.M)[1]
        assert "6 folds that were given" in printed
    assert scores["y ~ ."] == scores["y ~ x + z"] != scores["y ~ x + z + block"]


@pytest.mark.parametrize("texts", [("1.1", "1.10"), ("5e1", "50"), ("0105", "105")])
def test_labels_are_what_stands_in_the_file(tmp_path, capsys, texts):
    rng = np.random.default_rng(2)
    labels = [*texts, "7", "8", "9"] * 12
    data = pd.DataFrame({"site": labels, "x": rng.normal(size=60), "y": rng.integers(0, 2, 60)})
    path = tmp_path / "data.csv"
    data.to_csv(path, index=False)
    assert cli.main(["fit", "y ~ x", str(path), "--groups", "site"]) == 0
    assert "5 groups" in capsys.readouterr().out
    assert (
        cli.main(["compare", str(path), "--formula", "y ~ x", "--formula", "y ~ x + I(x**2)", "--folds", "site"]) == 0
    )
    assert "5 folds that were given" in capsys.readouterr().out
    assert cli.main(["fit", "site ~ x", str(path)]) == 2
    assert f"the levels {texts[0]!r} and {texts[1]!r} of 'site' in" in capsys.readouterr().err
    data.assign(site=np.tile(np.arange(5), 12)).to_csv(path, index=False)
    assert cli.main(["fit", "site ~ x", str(path)]) == 0


def test_fields_that_stdout_cannot_show_are_told(tmp_path, monkeypatch, capsys):
    data, model, out = tmp_path / "data.csv", tmp_path / "fit", io.TextIOWrapper(io.BytesIO(), "ascii")
    south = "s\u00fcd"
    rows = [f"{k % 2},{('nord', south)[k % 3 > 0]},{k}" for k in range(24)]
    data.write_text("\n".join(["y,g,x", *rows]), encoding="utf-8")
    assert cli.main(["fit", "y ~ g + x", str(data), "--save", str(model)]) == 0
    monkeypatch.setattr(sys, "stdout", out)
    assert cli.main(["predict", str(model), str(data)]) == 0
    assert "letters that ascii lacks are written as their codes: --output" in capsys.readouterr().err
    assert b"s\\xfcd" in out.buffer.getvalue()
    assert cli.main(["predict", str(model), str(data), "--output", str(tmp_path / "out.csv")]) == 0
    assert capsys.readouterr().err == "" and south in (tmp_path / "out.csv").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def of_x(tmp_path_factory):
    """The saved fit to one number."""
    folder = tmp_path_factory.mktemp("of_x")
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=60)}).assign(y=lambda d: np.where(d["x"] > 0.3, "b", "a"))
    data.to_csv(folder / "data.csv", index=False)
    assert cli.main(["fit", "y ~ x", str(folder / "data.csv"), "--save", str(folder / "fit.svmstat")]) == 0
    return folder


@pytest.mark.parametrize(
    "names", [["1", "2", "3"], ["10", "20", "30"], ["11", "14", "12"], ["007", "008", "1e3"], ["a", "NA", ""]]
)
def test_names_of_rows_are_written_as_they_are(of_x, names, capsys):
    given = of_x / "new.csv"
    given.write_text('"","x"\n' + "".join(f'"{name}",{k}.5\n' for k, name in enumerate(names)), encoding="utf-8")
    capsys.readouterr()
    assert cli.main(["predict", str(of_x / "fit.svmstat"), str(given)]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header == ",x,.fitted,.class,.decision"
    assert [row.split(",")[:2] for row in rows] == [[name, f"{k}.5"] for k, name in enumerate(names)]


def test_a_missing_value_of_a_file_of_one_column_is_a_row(of_x, capsys):
    given = of_x / "one.csv"
    given.write_text("x\n0.5\n\n1.5\n", encoding="utf-8")
    capsys.readouterr()
    assert cli.main(["predict", str(of_x / "fit.svmstat"), str(given)]) == 0
    _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split(",")[0] for row in rows] == ["0.5", "", "1.5"] and rows[1] == ",,,"
    given.write_text("x,z\n0.5,1\n\n1.5,2\n", encoding="utf-8")  # of several a blank line is none
    assert cli.main(["predict", str(of_x / "fit.svmstat"), str(given)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("z\n1\n", "the file has no column 'x'"),
        ("x,y\n1,c\n", "the file has a new level of the response 'y'"),
        ("x,.fitted\n1,2\n", "which is what predict adds"),
    ],
)
def test_what_is_wrong_with_new_rows_has_no_words_of_python(of_x, text, message, capsys):
    given = of_x / "odd.csv"
    given.write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert cli.main(["predict", str(of_x / "fit.svmstat"), str(given)]) == 2
    told = capsys.readouterr().err
    assert message in told and "newdata" not in told and "augment" not in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "mackerel", "--formula", "egg_count > 0 ~ lon", "--kernel", "rbf", "--kernel", "linear",
          "--repeats", "3"], "--repeats is of the splits for --nested"),
        (["fit", "egg_count > 0 ~ lon", "mackerel", "--weight-type", "probability"], "--weight-type says what"),
    ],
)  # fmt: skip
def test_options_of_others_that_are_not_given(arguments, message, capsys):
    assert cli.main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["compare", *TWO, "--C", "4", "--seed", "3"], "--seed has no effect without --folds or --nested."),
        (["compare", *TWO, "--C", "4", "--seed", "3", "--folds", "5"], None),
        (["tune", *ONE, "--C", "4", "--gamma", "1", "--folds", "5"], "--folds has no effect with --criterion loo."),
        (["tune", *ONE, "--C", "4", "--gamma", "1", "--folds", "5", "--criterion", "kfold"], None),
        (["tune", *ONE, "--C", "4", "--gamma", "1"], None),
    ],
)
def test_options_without_effect_are_told(capsys, command, told):
    assert cli.main([command[0], "mackerel", *command[1:]]) == 0
    warned = capsys.readouterr().err
    assert (told in warned) if told else "has no effect" not in warned
