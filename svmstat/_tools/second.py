"""A second process that compiles what the first will need next, where nothing has been compiled.

The two claim each function before they compile it. One that needs what the other is at waits for it.
"""

import atexit
import contextlib
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from svmstat._tools.threads import cores

_SWITCH = "SVMSTAT_COMPILE_AHEAD"
"""Environment variable: "0" for one process only."""

_CLAIMS = "SVMSTAT_COMPILE_CLAIMS"
"""Environment variable of the second process: the folder of the claims."""

_MODULE = "svmstat._tools.ahead"

_PATIENCE = 60.0
"""Seconds after which what the other has not compiled is compiled here: no function takes a tenth of that."""

_LOOK = 0.02


@dataclass(frozen=True, slots=True)
class Claims:
    """Which process compiles what: files in a folder that both can see.

    Attributes
    ----------
    folder : has one file for what is claimed and one for what is done
    other_lives : whether the other process is still there
    """

    folder: Path
    other_lives: Callable[[], bool]

    def claim(self, name: str) -> bool:
        """Whether it is up to this process to compile what has this name, because the other has not begun."""
        try:
            (self.folder / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        except OSError:  # the folder is gone, and with it the other process
            return True
        return True

    def done(self, name: str) -> None:
        """What has this name is on disk now."""
        with contextlib.suppress(FileNotFoundError):  # the folder goes with the process that ends first
            (self.folder / f"{name}.done").touch()

    def wait(self, name: str) -> None:
        """Until the other process is done with what has this name, or gives up."""
        last = monotonic() + _PATIENCE
        while not (self.folder / f"{name}.done").exists() and self.other_lives() and monotonic() < last:
            sleep(_LOOK)


class _Together:
    """The claims, while two processes are at work."""

    claims: Claims | None = None


together = _Together()


def may_start() -> bool:
    """Whether there is a core for it, and a Python to be started: workers start none, nor programs that embed one."""
    python = Path(sys.executable or "").stem.lower().startswith("python") and not hasattr(sys, "frozen")
    alone = multiprocessing.parent_process() is None
    return os.environ.get(_SWITCH, "1") != "0" and cores() > 1 and python and alone


def start() -> "subprocess.Popen[bytes]":
    """Start it, silent and with the same paths; what it has compiled is on disk. It ends with this process at last.

    No module is looked for in the working directory, unless this process does so too (-P).
    """
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    folder = tempfile.mkdtemp(prefix="svmstat-")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", _MODULE],
        env={**os.environ, "PYTHONPATH": paths, _SWITCH: "0", _CLAIMS: folder},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )  # fmt: skip
    together.claims = Claims(Path(folder), lambda: process.poll() is None)
    atexit.register(end, process, folder)
    return process


def start_once() -> None:
    """Start it, if it may and has not been; without a folder for its messages, or a process, all is compiled here."""
    if may_start() and together.claims is None:
        with contextlib.suppress(OSError):
            start()


def join() -> None:
    """Called by the second process: from now on it claims what it compiles."""
    first = os.getppid()
    if _CLAIMS in os.environ:
        together.claims = Claims(Path(os.environ[_CLAIMS]), lambda: os.getppid() == first)


def leave() -> None:
    """Called by the second process at its end: the first may be killed, and the folder would stay."""
    if together.claims is not None:
        shutil.rmtree(together.claims.folder, ignore_errors=True)


def end(process: "subprocess.Popen[bytes]", folder: str) -> None:
    """Stop it, if it is still at work: numba's files are whole or not there."""
    together.claims = None
    if process.poll() is None:
        process.terminate()
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)
