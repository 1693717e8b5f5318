"""Support vector machines as statistical models, from the command line.

Some examples:
  svmstat datasets
  svmstat fit "egg_count > 0 ~ lon + lat + b_depth" mackerel --C 16 --gamma 0.25
  svmstat fit "egg_count > 0 ~ lon + lat" mackerel --save eggs.svmstat
  svmstat predict eggs.svmstat stations.csv --output predicted.csv
  svmstat report "egg_count > 0 ~ lon + lat + b_depth" mackerel --C 16 --gamma 0.25 --out report.html
  svmstat compare mackerel --formula "egg_count > 0 ~ lon" --formula "egg_count > 0 ~ lon + lat"
  svmstat tune mackerel --formula "egg_count > 0 ~ lon + lat" --C 4,16,64 --gamma 0.25,0.5,1
  svmstat fit "relapse ~ ." patients.csv --kernel linear --event yes --subset "age >= 18"

"svmstat fit --help" describes the options of a fit, "svmstat report --help" those of a report.
"""

import argparse
import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import svmstat
from svmstat._tools.garbage import seldom_collected

_COMMANDS = {
    "fit": "fit a support vector machine and print its summary",
    "compare": "fit several formulas or kernels, and compare how they predict rows not seen",
    "tune": "choose cost and kernel parameters by the prediction of rows that are left out",
    "predict": "predict the rows of a file by a fit that was saved",
    "report": "write an HTML page with the resampling statistics of a fit",
    "datasets": "list the bundled data sets",
}

_SOLVING = {"fit", "compare", "tune", "report"}
"""Those that need the solver compiled, but for their help."""

_HELP = {"-h", "--help"}

_INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""


class _Once(argparse.Action):
    """Store a value, which an option that is given again would silently replace."""

    def __call__(self, _parser: Any, namespace: Any, values: Any, _option: str | None = None) -> None:
        if hasattr(namespace, self.dest):
            raise argparse.ArgumentError(self, f"it is given twice: {getattr(namespace, self.dest)!r} and {values!r}")
        setattr(namespace, self.dest, values)


class _Version(argparse.Action):
    """Print the version, which is looked up only then, and leave."""

    def __call__(self, parser: Any, _namespace: Any, _values: Any, _option: str | None = None) -> None:
        print(f"svmstat {svmstat.__version__}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """A parser whose errors look like all others, also in a subcommand; defaults are those of svm() and report()."""

    def __init__(self, **options: Any) -> None:
        style = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=style, allow_abbrev=False, argument_default=argparse.SUPPRESS, **options)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        if sys.stderr is not None:
            self.print_usage(sys.stderr)
        self.exit(2, f"svmstat: error: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    What a command needs, a second of imports, is imported only if one is named: not for the help, nor for an error.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit status: 0, 2 after an error (its message is on stderr), 1 when nobody reads the output; of the
        command itself 130 after an interrupt.

    Examples
    --------
    >>> main(["datasets"])
    mackerel  634 stations of the 1992 mackerel egg survey; response egg_count > 0
    liver     218 patients, four liver diseases, three serum enzymes; response disease
    forest    2724 forest patches, cover types 1 and 7, 54 predictors; response cover_type
    0
    """
    given = list(sys.argv[1:] if argv is None else argv)
    parser = _Parser(prog="svmstat", description=__doc__)
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    commands = {name: subparsers.add_parser(name, help=what) for name, what in _COMMANDS.items()}
    if _COMMANDS.keys().isdisjoint(given):
        parser.parse_args(given)  # the help, the version or an error: it does not return
    if _SOLVING & set(given) and not _HELP & set(given):
        import_module("svmstat.solver").have_helped()
    return int(import_module("svmstat.commands").run(parser, commands, given))


def command() -> int:
    """What is installed as ``svmstat``: `main` in a process that ends with it, whose garbage is left where it lies."""
    with seldom_collected():
        try:
            status = main()
        except KeyboardInterrupt:
            if sys.stderr is not None:
                print("svmstat: interrupted", file=sys.stderr)
            status = _INTERRUPTED
        gc.freeze()
    return status


if __name__ == "__main__":
    sys.exit(command())
