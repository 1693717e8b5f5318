"""The libraries that can be built on this machine, and why the others cannot."""

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

from llvmlite.binding import get_host_cpu_features

HERE = Path(__file__).parent
LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")
LIMITED = "0x030B0000"
"""The oldest stable interface of Python that has buffers, and so Cython's memoryviews: that of 3.11."""

_GCC = ["-O3", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-std=c++17", "-fno-trapping-math"]
_LINKED = ["-shared", "-s"]
_DIGITS, _FUSED = "-ffp-contract=off", "-ffp-contract=fast"
_CYTHON = ["-ffinite-math-only", "-fno-signed-zeros"]
"""Without these GCC makes no vector loop of a maximum; C++ has `omp simd` instead."""

_CLONES = '__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))'
_RUST = ["--edition", "2024", "--crate-type", "cdylib", *(
    part for option in ("opt-level=3", "codegen-units=1", "panic=abort", "strip=symbols") for part in ("-C", option)
)]  # fmt: skip


class Library(NamedTuple):
    """What has been built.

    Attributes
    ----------
    language, instructions : what the table calls it
    names : of its files, without their ending; several where each has instructions of its own
    seconds : CPU seconds of the compilers
    size : bytes of all files
    """

    language: str
    instructions: str
    names: tuple[str, ...]
    seconds: float
    size: int


def build_all(folder):
    """The libraries that this processor can run, built in a folder, and a line for each that is not there."""
    made, missing = [], []
    for language, programs, packages, build in WANTED:
        lacks = [name for name in programs if not shutil.which(name)]
        lacks += [f"package {name}" for name in packages if not importlib.util.find_spec(name)]
        if platform.machine() != "x86_64" or sys.platform != "linux":
            lacks.append("x86-64 processor under Linux")
        if lacks:
            missing.append(f"{language}: not built, there is no {' and no '.join(lacks)} here")
            continue
        try:
            for each in build(Path(folder)):
                if runs(each.instructions):
                    made.append(each._replace(language=language))
                else:
                    missing.append(f"{language}, {each.instructions}: built, but this processor lacks the instructions")
        except subprocess.CalledProcessError as failed:
            said = [line for line in failed.stderr.splitlines() if "error" in line] or [f"exit {failed.returncode}"]
            missing.append(f"{language}: not built further, {Path(failed.cmd[0]).name} says {said[0]}")
    return made, missing


def runs(instructions):
    """Whether this processor has them; what dispatches runs anywhere."""
    has = get_host_cpu_features()
    needed = {"v3": ("avx2", "fma", "bmi2"), "v4": ("avx512f", "avx512vl", "avx512dq")}
    return all(has.get(name) for level, names in needed.items() if level in instructions for name in names)


def versions():
    """What compiles, each with a comma behind it."""
    found = []
    for name in filter(shutil.which, ("g++", "rustc")):
        said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
        found.append(f"{name} {re.findall(r'[0-9]+[.][0-9.]+', said)[0]}")
    packages = filter(importlib.util.find_spec, ("nanobind", "Cython"))
    found += [f"{name} {importlib.metadata.version(name)}" for name in packages]
    return "".join(f"{each}, " for each in found)


def _build_cpp(folder):
    """nanobind's own code is compiled once; its seconds are part of each library's, as they would be of one alone."""
    root = Path(importlib.util.find_spec("nanobind").origin).parent
    include = [f"-I{path}" for path in (root / "include", root / "ext/robin_map/include", _python())]
    bound, source = str(folder / "nanobind.o"), str(root / "src/nb_combined.cpp")
    shared = _seconds(["g++", *_GCC, "-O2", "-fno-strict-aliasing", *include, "-c", source, "-o", bound])
    options = {level: [f"-march={level}", _DIGITS] for level in LEVELS}
    options |= {"dispatch": [_DIGITS, f"-DCLONES={_CLONES}"], "v3, fused": ["-march=x86-64-v3", _FUSED]}
    for instructions, given in options.items():
        name = _name("cpp", instructions)
        given += [*_LINKED, "-fopenmp-simd", f"-DMODULE={name}", *include, str(HERE / "cpp/module.cpp"), bound]
        made = _made(folder, instructions, name, [["g++", *_GCC, *given]])
        yield made._replace(seconds=made.seconds + shared)


def _build_cython(folder):
    """A module for each level: Cython has no dispatch within one."""
    options = {level: [f"-march={level}"] for level in LEVELS}
    options["v3, limited API"] = ["-march=x86-64-v3", f"-DPy_LIMITED_API={LIMITED}"]
    made = []
    for instructions, given in options.items():
        name = _name("cython", instructions)
        source = str(folder / f"{name}.cpp")
        translate = [sys.executable, "-m", "cython", "--cplus", "--module-name", name, str(HERE / "cython/kernels.pyx"),
                     "-o", source]  # fmt: skip
        command = ["g++", *_GCC, *_LINKED, *_CYTHON, _DIGITS, *given, f"-I{_python()}", source]
        made.append(_made(folder, instructions, name, [translate, command]))
    yield from made
    levels = made[: len(LEVELS)]
    names = tuple(each.names[0] for each in levels)
    yield Library("", "dispatch", names, sum(each.seconds for each in levels), sum(each.size for each in levels))


def _build_rust(folder):
    """A library for each level, and one with two versions of each kernel."""
    options = {level: ["-C", f"target-cpu={level}"] for level in LEVELS} | {"dispatch": ["--cfg", "dispatch"]}
    for instructions, given in options.items():
        command = ["rustc", *_RUST, "--check-cfg", "cfg(dispatch)", *given, str(HERE / "rust/lib.rs")]
        yield _made(folder, instructions, _name("rust", instructions), [command])


def _made(folder, instructions, name, commands):
    path = folder / f"{name}.so"
    seconds = sum(map(_seconds, [*commands[:-1], [*commands[-1], "-o", str(path)]]))
    return Library("", instructions, (name,), seconds, path.stat().st_size)


def _seconds(command):
    """CPU seconds of a command."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _python():
    return sysconfig.get_paths()["include"]


def _name(language, instructions):
    return "".join(c if c.isalnum() else "_" for c in f"{language}_{instructions}")


WANTED = [
    ("C++, nanobind", ("g++",), ("nanobind",), _build_cpp),
    ("Cython", ("g++",), ("Cython",), _build_cython),
    ("Rust, ctypes", ("rustc",), (), _build_rust),
]
"""Each language with the programs and packages that it needs, and how it is built."""
