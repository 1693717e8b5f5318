"""Loops over independent pieces of work, by joblib; those that will be long say so before they start."""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from time import get_clock_info, perf_counter, process_time
from typing import Any, TypeVar

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from threadpoolctl import OpenBLASController, ThreadpoolController
from tqdm import tqdm

from svmstat._tools.compiled import compiling
from svmstat._tools.threads import cores, in_threads, one_core
from svmstat._tools.warn import Line, asked_at, users_line, warn
from svmstat.errors import LongRunWarning
from svmstat.solver import DEFAULT_BUDGET, Gram, LowRank

Result = TypeVar("Result")
Step = TypeVar("Step")

LONG = 20.0
"""Seconds from which on a loop is announced."""

_LOADING = 1.0
"""Seconds that the first step may take to load what was compiled."""

_TICK = get_clock_info("process_time").resolution

_WORTH_TRIAL = 20
"""A trial of a larger part of the loop costs too much to be done for its time only."""

WORTH_WORKERS = 8
"""With fewer short tasks than this the first would be done before a second worker has started."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a loop will cost.

    Attributes
    ----------
    trials : what does a small part of the work, and how many times as much there is in the loop: it is timed
    shared, each : bytes that the loop takes once, and for every worker
    reason : why it may be long, a sentence
    """

    trials: Sequence[tuple[Callable[[], Any], float]] = ()
    shared: float = 0.0
    each: float = 0.0
    reason: str = ""

    @property
    def timed(self) -> list[tuple[Callable[[], Any], float]]:
        """The trials that cost little beside the loop."""
        return [(work, often) for work, often in self.trials if often >= _WORTH_TRIAL]

    def memory(self, workers: int) -> float:
        """Bytes that the loop takes with so many workers."""
        return self.shared + workers * self.each


def matrix_bytes(gram: Gram) -> float:
    """What a gram matrix takes in memory."""
    return 8.0 * gram.n**2 if gram.keeps else 0.0


def matrix_reason(gram: Gram) -> str:
    """Why solutions on a gram matrix take long: it is not in memory; nothing if it is."""
    if gram.fits or isinstance(gram, LowRank):
        return ""
    return (
        f"the kernel matrix of {gram.n} rows would take {8e-9 * gram.n**2:.1f} GB, beyond the "
        f"{DEFAULT_BUDGET / 1e9:.1f} GB that it may, and its values are computed anew for every solution"
    )


class _Inside(threading.local):
    """Whether this thread works on a piece of a loop with an outlook: loops within it are part of that.

    Or on a trial of one, which a loop within ends when it knows that it will be long itself.
    """

    value = False
    trial = False


class _LongTrialError(Exception):
    """A trial would have gone on for so many seconds, or more."""

    @property
    def seconds(self) -> float:
        return float(self.args[0])


_inside = _Inside()


@dataclass(frozen=True, slots=True)
class _Loop:
    """How many workers it has, whether it is a trial or within one, and who started it."""

    workers: int
    trial: bool
    process: int = field(default_factory=os.getpid)
    line: Line = field(default_factory=users_line)


class _Counted(joblib.Parallel):
    """A loop whose bar advances whenever a task is done, with any backend."""

    bar: tqdm
    before: int = 0

    def print_progress(self) -> None:
        """Called by joblib in the calling process."""
        self.bar.update(self.before + self.n_completed_tasks - self.bar.n)


def workers_for(pieces: int, n_jobs: int | None) -> int:
    """How many workers `run_pieces` will have: threads, unless ``joblib.parallel_config`` chooses others."""
    backend, of_context = get_active_backend(prefer="threads")
    return max(1, min(int(backend.effective_n_jobs(of_context if n_jobs is None else n_jobs)), pieces))


def progress_bar(progress: bool, **options: Any) -> tqdm:
    """A bar on stderr; none is shown where there is no stderr, as in a process without a terminal."""
    return tqdm(disable=not progress or sys.stderr is None, **options)


def run_pieces(
    function: Callable[..., Result],
    pieces: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None,
    progress: bool,
    what: str,
    outlook: Outlook | None = None,
) -> list[Result]:
    """``[function(*piece) for piece in pieces]``, in that order.

    Threads are preferred, because the kernels release the interpreter's lock; ``joblib.parallel_config`` chooses any
    other backend. What a piece gives must not depend on the others: then neither does it on the number of workers.
    An interrupt ends the loop when its workers have done the pieces that they are at.

    Parameters
    ----------
    n_jobs : number of workers, as in `joblib.Parallel`
    progress : whether to show a bar on stderr
    what : its label
    outlook : what the loop will cost, which is announced if it is much; by default the loops within announce themselves

    Warns
    -----
    LongRunWarning
        Before a loop that will take more than `LONG` seconds, or more memory than a gram matrix may; where trials would
        cost too much beside it, when every worker has done a piece or two.
    """
    workers = workers_for(len(pieces), n_jobs)
    known, watched, this = _inside.value, False, _Loop(workers, trial=_inside.trial)
    if outlook is not None and not known:
        _announce(what, _expected_seconds(outlook, workers), outlook, workers)
        watched = not outlook.timed and workers < len(pieces)
        known = watched or bool(outlook.timed)
    loop = _Counted(n_jobs=n_jobs, prefer="threads", batch_size=1)  # a piece is a batch already

    def done(some: Sequence[tuple[Any, ...]]) -> list[Result]:
        one_tells = outlook is not None  # of pieces that nothing is known of, one for each worker
        return list(
            loop(
                joblib.delayed(_alone)(function, piece, known or (one_tells and place > 0), this)
                for place, piece in enumerate(some)
            )
        )

    found: list[Result] = []
    with one_blas_thread(), progress_bar(progress, total=len(pieces), desc=what) as loop.bar:
        try:
            while watched and len(found) + workers < len(pieces):
                again = len(found) > 0  # at first workers of other processes may have waited for the compiler
                start, compiled = perf_counter(), compiling.seconds
                found += done(pieces[len(found) : len(found) + workers])
                loop.before = len(found)
                seconds = (perf_counter() - start - (compiling.seconds - compiled)) * len(pieces) / workers
                watched = seconds > LONG and not again
                if seconds > LONG and (again or len(found) + workers >= len(pieces)):
                    _announce(what, seconds, replace(outlook or Outlook(), shared=0.0, each=0.0), workers)
            return found + done(pieces[len(found) :])
        except SystemError as error:
            if isinstance(error.__cause__, KeyboardInterrupt):  # a compiled function was just being called
                raise error.__cause__ from None
            raise


def watched_steps(what: str, steps: Sequence[Step], progress: bool = False) -> Iterator[Step]:
    """Steps one after the other, with a bar if asked for: where they take long it is said after the first that show it.

    For what is no loop over pieces, or a piece that is alone in one, which no other can tell of. Nothing is said within
    a loop that is announced.

    Warns
    -----
    LongRunWarning
        Once, when the steps that are done take more than their share of `LONG` seconds.
    """
    start, compiled, told = perf_counter(), compiling.seconds, _inside.value
    first = 0.0
    with progress_bar(progress, total=len(steps), desc=what) as bar:
        for done, step in enumerate(steps, start=1):
            yield step
            bar.update()
            passed = perf_counter() - start - (compiling.seconds - compiled)
            first = first if done > 1 else passed
            each = passed if done == 1 else (passed - first) / (done - 1)
            seconds = first + each * (len(steps) - 1)
            tells = done > 1 or first > min(_LOADING, LONG)
            if not told and tells and seconds > LONG and done < len(steps):
                _announce(what, seconds, Outlook(), 1)
                told = True


def _announce(what: str, seconds: float, outlook: Outlook, workers: int) -> None:
    if _inside.trial:
        if seconds > LONG:
            raise _LongTrialError(seconds)
        return
    if note := announcement(what, seconds, outlook, workers):
        warn(note, LongRunWarning)


def announcement(what: str, seconds: float, outlook: Outlook, workers: int) -> str:
    """What to say of a loop that is expected to take so many seconds; nothing if that and its memory are ordinary.

    Examples
    --------
    >>> announcement("leave-one-out", 5400.0, Outlook(shared=3e8, reason="the matrix is computed anew"), 2)
    'leave-one-out will take about 1.5 hours and 0.3 GB with 2 workers, because the matrix is computed anew;
    progress=True shows a bar, and Ctrl-C stops it.'
    >>> announcement("leave-one-out", 2.0, Outlook(), 1)
    ''
    """
    memory = outlook.memory(workers)
    if seconds <= LONG and memory <= DEFAULT_BUDGET:
        return ""
    cost = " and ".join(
        part for part in (_duration(seconds), f"{memory / 1e9:.1f} GB" if memory >= 5e7 else "") if part
    )
    crew = f" with {workers} workers" if workers > 1 else ""
    reason = f", because {outlook.reason}" if outlook.reason else ""
    return f"{what} will take about {cost}{crew}{reason}; progress=True shows a bar, and Ctrl-C stops it."


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.0f} seconds" if seconds >= 1.0 else ""


def _expected_seconds(outlook: Outlook, workers: int) -> float:
    """By the trials; if that is long they are timed once more, since at first they may wait for the compiler.

    However long that was: the second time is a twentieth of the loop at most.
    """
    trials = outlook.timed
    seconds, often = np.zeros(len(trials)), np.array([often for _, often in trials]) / workers
    with one_blas_thread():
        for attempt in range(2):
            timed = np.array([_seconds(work, workers) for work, _ in trials])
            seconds = timed if attempt == 0 else np.minimum(seconds, timed)
            if seconds @ often <= LONG:
                break
    return float(seconds @ often)


def _seconds(work: Callable[[], Any], workers: int) -> float:
    """By the clock, or of the processor where that is less: other processes may have had it meanwhile.

    Of the workers as many do it at once as there are cores, because they wait for each other. Where a loop within knows
    that it will be long, it is not waited for.
    """
    piece = partial(_alone, work, (), known=False, of=_Loop(workers, trial=True))
    start, used, left = perf_counter(), process_time(), 0.0
    try:
        for _ in in_threads(lambda _: piece(), range(min(workers, cores()))):
            pass
    except _LongTrialError as long:
        left = long.seconds
    return min(perf_counter() - start, process_time() - used + _TICK) + left


def one_blas_thread() -> AbstractContextManager[object]:
    """Hold linear algebra to one thread.

    Several callers of a threaded BLAS wait for each other, its threads go on spinning for tens of milliseconds after a
    call, and the last bits depend on their number.
    """
    return _one_thread.held()


def _alone(function: Callable[..., Result], piece: tuple[Any, ...], known: bool, of: _Loop) -> Result:
    """A piece in one of the workers, which may be another process than the caller's, with a BLAS of its own."""
    was, (_inside.value, _inside.trial) = (_inside.value, _inside.trial), (known, of.trial)
    in_caller = os.getpid() == of.process
    try:
        with asked_at(of.line), one_core(of.workers > 1), nullcontext() if in_caller else one_blas_thread():
            return function(*piece)
    finally:
        _inside.value, _inside.trial = was


class _OneThread:
    """Linear algebra at one thread, from the first of the loops that run at a time until the last of them is done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loops = 0
        self._limit: Any = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """For the time of one loop."""
        with self._lock:
            if self._loops == 0:
                self._limit = _blas().limit(limits=1, user_api="blas")
            self._loops += 1
        try:
            yield
        finally:
            with self._lock:
                self._loops -= 1
                if self._loops == 0:
                    self._release()

    def _release(self) -> None:
        """As it was before, whichever thread it is that held it and this one."""
        _let_any_thread_set()
        self._limit.restore_original_limits()
        _let_any_thread_set()


def _let_any_thread_set() -> None:
    """From threadpoolctl 3.8 on a thread that has set the number is the only one that can."""
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


_one_thread = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _OneThread.__init__(_one_thread))  # whose loops are those of the parent


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
