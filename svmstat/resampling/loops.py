"""Loops over independent pieces of work, by joblib."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

Result = TypeVar("Result")

WORTH_WORKERS = 8
"""With fewer short tasks than this the first would be done before a second worker has started."""


class _Counted(joblib.Parallel):
    """A loop whose bar advances whenever a task is done, with any backend."""

    bar: tqdm

    def print_progress(self) -> None:
        """Called by joblib in the calling process."""
        self.bar.update(self.n_completed_tasks - self.bar.n)


def run_pieces(
    function: Callable[..., Result],
    pieces: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None,
    progress: bool,
    what: str,
) -> list[Result]:
    """``[function(*piece) for piece in pieces]``, in that order.

    Threads are preferred, because the kernels release the interpreter's lock; ``joblib.parallel_config`` chooses any
    other backend. What a piece gives must not depend on the others: then neither does it on the number of workers.

    Parameters
    ----------
    n_jobs : number of workers, as in `joblib.Parallel`
    progress : whether to show a bar on stderr
    what : its label
    """
    loop = _Counted(n_jobs=n_jobs, prefer="threads", batch_size=1)  # a piece is a batch already
    with one_blas_thread(), tqdm(total=len(pieces), desc=what, disable=not progress) as loop.bar:
        return list(loop(joblib.delayed(_alone)(function, piece, os.getpid()) for piece in pieces))


def one_blas_thread() -> AbstractContextManager[object]:
    """Hold linear algebra to one thread.

    Several callers of a threaded BLAS wait for each other, its threads go on spinning for tens of milliseconds after a
    call, and the last bits depend on their number.
    """
    return _blas().limit(limits=1, user_api="blas")


def _alone(function: Callable[..., Result], piece: tuple[Any, ...], caller: int) -> Result:
    """A piece in a worker, which may be another process than the caller's, with a BLAS of its own."""
    if os.getpid() == caller:
        return function(*piece)
    with one_blas_thread():
        return function(*piece)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
