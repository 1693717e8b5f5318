"""A second process that compiles what the first will need next, where nothing has been compiled."""

import atexit
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

_SWITCH = "SVMSTAT_COMPILE_AHEAD"
"""Environment variable: "0" for one process only."""

_MODULE = "svmstat.resampling.ahead"


def may_start() -> bool:
    """Whether there is a core for it, and a Python to be started: workers start none, nor programs that embed one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    python = Path(sys.executable or "").stem.lower().startswith("python") and not hasattr(sys, "frozen")
    alone = multiprocessing.parent_process() is None
    return os.environ.get(_SWITCH, "1") != "0" and cores > 1 and python and alone


def start() -> "subprocess.Popen[bytes]":
    """Start it, silent and with the same paths; what it has compiled is on disk. It ends with this process at last."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    process = subprocess.Popen(
        [sys.executable, "-m", _MODULE],
        env={**os.environ, "PYTHONPATH": paths, _SWITCH: "0"},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )  # fmt: skip
    atexit.register(end, process)
    return process


def end(process: "subprocess.Popen[bytes]") -> None:
    """Stop it, if it is still at work: numba's files are whole or not there."""
    if process.poll() is None:
        process.terminate()
    process.wait()
