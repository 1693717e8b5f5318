"""``python -m benchmarks ahead-of-time``: two of numba's kernels in three languages, built in a temporary directory.

Nothing is fetched. What cannot be built here, for want of a compiler or of a package, is named with the reason.
"""

import argparse
import ast
import inspect
import json
import os
import platform
import re
import tempfile
import time
import tomllib
from collections import defaultdict
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path

import numba
import numpy as np

from benchmarks.ahead_of_time import first_use
from benchmarks.ahead_of_time.build import HERE, build_all, versions
from benchmarks.ahead_of_time.cases import OTHERS, TIMED, less_convex, made, with_two_sums
from benchmarks.ahead_of_time.given import Descent, Walks, same
from benchmarks.ahead_of_time.loading import load
from benchmarks.ahead_of_time.numba_walks import walk_all
from benchmarks.first_call import ROOT, STEPS, process
from benchmarks.timing import alternate
from svmstat.solver.rough.smo import smo

KERNELS = {
    "smo": {
        "svmstat.solver.rough.smo": "smo _move_h _promises _place _curvature",
        "svmstat.solver.rough.extremes": "_larger _smaller _choice",
    },
    "walk": {
        "svmstat.solver.exact.tableau": "walk _factor _extend _refactor _solve _rates _change_side _drop",
        "svmstat.solver.exact.events": "outward_sign may_open _time_for _least _first_free_event _first_bound_event",
        "svmstat.solver.exact.basis": "slide to_bound",
        "svmstat.solver.exact.path": "advance bound_rate compensator",
        "svmstat.solver.gram": "combine combine_first",
        "svmstat._tools.compiled": "clear",
    },
}
"""Each with what it calls."""

LINES = {
    "C++, nanobind": ("cpp/smo.hpp", "cpp/walk.hpp", "cpp/module.cpp"),
    "Cython": ("cython/smo.pxi", "cython/walk.pxi", "cython/kernels.pyx"),
    "Rust, ctypes": ("rust/smo.rs", "rust/walk.rs", "rust/lib.rs", "by_ctypes.py"),
}
COMMENTS = {".py": r'^\s*""".*?"""$|^\s*#[^\n]*'} | dict.fromkeys((".pxi", ".pyx"), r"^ *# [^\n]*")
COMMENTS |= dict.fromkeys((".hpp", ".cpp", ".rs"), r"^\s*//[^\n]*")
"""By the endings of files."""

PLATFORMS = ("Linux x86-64", "Linux arm64", "macOS arm64", "macOS x86-64", "Windows x86-64")
CALLS, STEPS_OF_HARD_CASES = 2000, 20_000
FIRST = {"svm": "svm()", "loo": "… + summary(), loo()", "gof": "… + gof()", "four classes": "all steps"}


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks ahead-of-time", description=__doc__.partition("\n")[2])
    parser.add_argument("--rounds", type=int, default=40, help="of which the least time counts (40)")
    given = parser.parse_args(arguments)
    os.environ["SVMSTAT_COMPILE_AHEAD"] = "0"  # what is compiled is counted in one process
    with tempfile.TemporaryDirectory() as folder:
        libraries, missing = build_all(folder)
        print(f"numba {numba.__version__}, {versions()}Python {platform.python_version()}\n{processor()}\n")
        kernels = {None: (smo, walk_all)}
        for each in libraries:
            module = load(folder, each.names)
            kernels[each] = module.smo, module.walk_all
        speed(kernels, given.rounds)
        if libraries:
            agreement(kernels)
        sizes(kernels, folder)
    lines_of_code()
    first_calls()
    installation()
    for line in missing:
        print(line)


def processor():
    """The name of this processor, as Linux has it."""
    info = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", info.read_text(encoding="utf-8")) if info.exists() else []
    return names[0] if names else platform.machine()


def label(library):
    """The beginning of a line."""
    return f"{'numba':15}{'this processor':16}" if library is None else f"{library[0]:15}{library[1]:16}"


def least(jobs, rounds):
    """CPU seconds of each job, the least of some rounds in which they take turns."""
    return alternate(jobs, rounds, time.process_time, min)


def speed(kernels, rounds):
    """A line for each library: milliseconds of smo, microseconds of a walk, how many times as fast as numba."""
    columns, answers = [], []
    for name, case in TIMED.items():
        descent, walks = made(*case)
        steps, events = descent.by(smo)[2], int(walks.by(walk_all)[-1].sum())
        print(
            f"{name}, {case[1]!r}, C = {case[2]:g}: smo, {len(descent.h)} rows, {steps} steps; {len(walks.b)} walks, "
            f"{len(walks.side)} rows, {events} events"
        )
        for which, given, scale in ((0, descent, 1e3), (1, walks, 1e6 / len(walks.b))):
            jobs = [lambda given=given, kernel=kernel[which]: given.by(kernel) for kernel in kernels.values()]
            answers.append([job() for job in jobs])
            columns.append([scale * seconds for seconds in least(jobs, rounds)])
    agree = [all(same(one[k], one[0]) for one in answers) for k in range(len(kernels))]
    print(f"\nCPU time, the least of {rounds} rounds in which all take turns; how many times as fast as numba")
    print(" " * 31 + "".join(f"{name:>16}".ljust(30) for name in TIMED).rstrip())
    units = f"{'smo ms':>9}{'walk µs':>15}{'':6}"
    print(f"{'':31}{units * len(TIMED)}  digits")
    for k, library in enumerate(kernels):
        cells = "".join(f"{column[k]:9.2f}{column[0] / column[k]:6.2f}" for column in columns)
        print(f"{label(library)}{cells}{'' if library is None else '  same' if agree[k] else '  others'}")


def agreement(kernels):
    """In how many calls on other problems, degenerate ones among them, the answers are numba's."""
    agreed, calls = dict.fromkeys(kernels, 0), 0
    for case in OTHERS.values():
        descent, walks = made(*case)
        for which, given, options in (
            (0, descent, {"max_steps": STEPS_OF_HARD_CASES}),
            (0, with_two_sums(descent), {"max_steps": STEPS_OF_HARD_CASES}),
            (1, walks, {}),
            (1, less_convex(walks), {}),
        ):
            calls += 1
            right = given.by(smo if which == 0 else walk_all, **options)
            for library, functions in kernels.items():
                agreed[library] += same(given.by(functions[which], **options), right)
    print(f"\nOf {calls} sets of calls on other problems ({', '.join(OTHERS)})")
    libraries = {each: number for each, number in agreed.items() if each}
    print(f"{sum(n == calls for n in libraries.values())} of {len(libraries)} libraries gave numba's digits in all")
    for library, number in libraries.items():
        if number < calls:
            print(f"{library.language}, {library.instructions}: in {number}")


def sizes(kernels, folder):
    """What a call costs, how long the first takes with the import, and what it took to build."""
    descent, walks = made(*TIMED["mackerel"])
    case = str(Path(folder) / "case.npz")
    first = walks._replace(**{name: getattr(walks, name)[:1] for name in Walks._fields[4:]})
    np.savez(case, **descent._asdict(), **{f"walk_{name}": each for name, each in first._asdict().items()})
    few = Descent(np.eye(2), 2, np.array([0.0, -1.0]), np.array([1.0, 0.0]), np.zeros(2), np.array([1.0, -1.0]))
    arguments = few.gram, few.p, few.lo, few.hi, few.beta, few.h, 1e9, 0

    def calls(function):
        for _ in range(CALLS):
            function(*arguments)

    calling = least([lambda function=function: calls(function) for function, _ in kernels.values()], 10)
    cache = str(Path(folder) / "cache")
    used = [first_used(cache, case)]
    print(f"\n{'':31}{'first use s':>13}{'a call µs':>13}{'KiB':>10}{'build CPU s':>14}")
    print(f"{'numba':15}{'empty cache':16}{used[0]:13.3f}")
    for k, library in enumerate(kernels):
        names = () if library is None else (folder, *library.names)
        seconds = min(first_used(cache, case, *names) for _ in range(5))
        built = "" if library is None else f"{library.size / 1024:10.0f}{library.seconds:14.1f}"
        name = f"{'numba':15}{'cache filled':16}" if library is None else label(library)
        print(f"{name}{seconds:13.3f}{1e6 * calling[k] / CALLS:13.2f}{built}")
    print("first use: CPU s, beyond the import of numpy and scipy, until each kernel has been called once")


def first_used(cache, *arguments):
    """CPU seconds of first_use.py in a process of its own."""
    return float(process([first_use.__file__, *arguments], ROOT, cache)[1])


def lines_of_code():
    """Lines without blank ones, comments and docstrings."""
    python = {kernel: sum(len(code(source(name))) for name in names_of(kernel)) for kernel in KERNELS}
    print(f"\n{'lines of code':31}{'smo':>13}{'walk':>13}{'to Python':>14}{'as a multiple':>16}")
    print(f"{'Python, numba':31}{python['smo']:13}{python['walk']:13}{0:14}{1.0:16.2f}")
    for language, files in LINES.items():
        counted = [len(code((HERE / file).read_text(encoding="utf-8"), COMMENTS[Path(file).suffix])) for file in files]
        multiple = sum(counted) / sum(python.values())
        print(f"{language:31}{counted[0]:13}{counted[1]:13}{sum(counted[2:]):14}{multiple:16.2f}")
    functions = [each for path in sorted((ROOT / "svmstat").rglob("*.py")) for each in compiled_functions(path)]
    print(f"all {len(functions)} functions of svmstat that numba compiles: {sum(map(len, map(code, functions)))} lines")


def names_of(kernel):
    """Dotted names of a kernel and of what it calls."""
    return [f"{module}.{name}" for module, names in KERNELS[kernel].items() for name in names.split()]


def source(name):
    """The source of a function, compiled by numba or used by it."""
    module, _, function = name.rpartition(".")
    found = getattr(import_module(module), function)
    return inspect.getsource(getattr(found, "py_func", found))


def compiled_functions(path):
    """The sources of the functions of a file that are decorated with `compiled`."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and any("compiled(" in ast.unparse(d) for d in node.decorator_list):
            yield "\n".join(text.splitlines()[node.lineno - 1 - len(node.decorator_list) : node.end_lineno])


def code(text, comment=COMMENTS[".py"]):
    """The lines of a source that are no part of what is a comment by a regular expression, nor blank."""
    return [line for line in re.sub(comment, "", text, flags=re.DOTALL | re.MULTILINE).splitlines() if line.strip()]


def first_calls():
    """What numba's compiling takes of the first calls, and what these would take without; steps of first_call.py."""
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (json.loads(process([str(STEPS)], ROOT, cache)[1]) for _ in range(2))
    spent = defaultdict(float)
    for name, _, seconds in (one for step in cold for one in step["compiled"]):
        spent[name] += seconds
    total = sum(spent.values())
    imported = min(float(process(["-c", IMPORT], ROOT)[1]) for _ in range(5))
    print(f"\nThe first calls, CPU s, in one process: {len(spent)} functions of svmstat and numba are compiled")
    for kernel in KERNELS:
        names = [name for name in names_of(kernel) if name in spent]
        seconds = sum(spent[name] for name in names)
        print(f"{kernel} with what it calls, {len(names)} of them: {seconds:.2f} s, {seconds / total:.0%} of compiling")
    print(f"{'from the first step on':31}{'empty cache':>13}{'compiling':>13}{'cache filled':>14}{'ahead of time':>16}")
    sums = np.zeros(3)
    for step, again in zip(cold, warm, strict=True):
        sums += step["cpu"], sum(seconds for _, _, seconds in step["compiled"]), again["cpu"]
        if step["step"] in FIRST:
            cells = "".join(f"{each:{width}.1f}" for each, width in zip(sums, (13, 13, 14), strict=True))
            print(f"{FIRST[step['step']]:31}{cells}{sums[2] - imported:16.1f}")
    print(f"ahead of time: an ESTIMATE, were all: cache filled, less the import of numba ({imported:.2f} s)")


IMPORT = "import time, numpy; t = time.process_time(); import numba; print(time.process_time() - t)"


def installation():
    """Wheels for the Pythons that pyproject.toml names, on the platforms for which there are wheels of numpy."""
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    pythons = [name for name in (each.rpartition(" ")[2] for each in classifiers) if re.fullmatch(r"3\.\d+", name)]
    old = [name for name in pythons if int(name[2:]) < 12]
    print(f"\nwheels of a release for {', '.join(PLATFORMS)},\neach with Python {', '.join(pythons)}")
    for what, number in (
        ("numba, as today: pure Python", 1),
        ("C++, nanobind: one for each Python", len(PLATFORMS) * len(pythons)),
        ("C++, nanobind, stable ABI, which it links from 3.12 on", len(PLATFORMS) * (len(old) + 1)),
        ("C++, nanobind, stable ABI, its backend a package (not tried)", len(PLATFORMS)),
        ("Cython: one for each Python", len(PLATFORMS) * len(pythons)),
        ("Cython, limited API, which has what it needs from 3.11 on", len(PLATFORMS)),
        ("Rust, ctypes: no Python in it", len(PLATFORMS)),
    ):
        print(f"{number:4}  {what}")
    print(f"numba and llvmlite take {installed('numba', 'llvmlite') / 2**20:.0f} MiB where they are installed")


def installed(*packages):
    """Bytes of the files of packages."""
    files = (path for name in packages for path in distribution(name).files)
    return sum(path.locate().stat().st_size for path in files if path.locate().is_file())
