"""Loops that say beforehand what they will cost, and that end when they are told to."""

import _thread
import multiprocessing
import os
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from levels import sample
from threadpoolctl import threadpool_info, threadpool_limits

from svmstat import minimax, svm, tune
from svmstat._tools.threads import in_threads
from svmstat.errors import LongRunWarning
from svmstat.kernels import RBF
from svmstat.resampling import deletions, loops
from svmstat.resampling.bootstrap import outlook_of_replicates, tasks_of
from svmstat.resampling.deletions import deletions_per_task, memory_of_deletions, numbers_of_deletions, trials
from svmstat.resampling.loops import Outlook, announcement, matrix_bytes, matrix_reason, run_pieces
from svmstat.solver import DEFAULT_BUDGET, Gram, LowRank

RNG = np.random.default_rng(3)
DATA = pd.DataFrame(RNG.normal(size=(60, 2)), columns=["a", "b"])
DATA["y"] = DATA["a"] + RNG.normal(size=60) > 0
DATA["level"] = pd.cut(DATA["a"] + RNG.normal(size=60), 3, labels=["low", "mid", "high"]).astype(str)


def run(function, n, **options):
    return run_pieces(function, [(i,) for i in range(n)], **{"n_jobs": 1, "progress": False, "what": "test", **options})


@pytest.fixture
def everything_is_long(monkeypatch):
    monkeypatch.setattr(loops, "LONG", 0.0)


# -- what is said ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "memory", "said"),
    [(19.0, 0.0, ""), (21.0, 0.0, "about 21 seconds"), (95.0, 1e9, "about 1.6 minutes and 1.0 GB"),
     (1.8e4, 1e6, "about 5 hours"), (4e5, 0.0, "about 4.6 days"), (1.0, 3e9, "about 1 seconds and 3.0 GB"),
     (0.1, 3e9, "about 3.0 GB")],
)  # fmt: skip
def test_what_is_announced(seconds, memory, said):
    text = announcement("leave-one-out", seconds, Outlook(shared=memory), 1)
    if not said:
        assert text == ""
        return
    assert text == f"leave-one-out will take {said}; progress=True shows a bar, and Ctrl-C stops it."


def test_workers_and_reason():
    outlook = Outlook(shared=1e9, each=1e9, reason="it is so")
    assert "and 5.0 GB with 4 workers, because it is so; progress=True" in announcement("x", 30.0, outlook, 4)
    assert outlook.memory(1) == 2e9 < DEFAULT_BUDGET < outlook.memory(4)


def test_the_estimate_grows_with_the_work(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    for name in ("perf_counter", "process_time"):
        monkeypatch.setattr(loops, name, lambda: clock.now)

    def work():
        clock.now += 0.5

    def at_once(function, tasks):
        yield function(next(iter(tasks)))

    monkeypatch.setattr(loops, "in_threads", at_once)
    expected = [
        loops._expected_seconds(Outlook([(work, often)] * parts), workers)
        for often, parts, workers in ((20, 1, 1), (40, 1, 1), (40, 1, 2), (40, 3, 1), (1e4, 3, 1))
    ]
    assert expected == [10.0, 20.0, 10.0, 60.0, 15_000.0]


def test_a_first_trial_that_waits_for_the_compiler(monkeypatch):
    clock, took = SimpleNamespace(now=0.0), iter([90.0, 0.1, 40.0, 41.0])
    for name in ("perf_counter", "process_time"):
        monkeypatch.setattr(loops, name, lambda: clock.now)

    def work():
        clock.now += next(took)

    assert loops._expected_seconds(Outlook([(work, 100.0)]), 1) == pytest.approx(10.0)
    assert loops._expected_seconds(Outlook([(work, 100.0)]), 1) == pytest.approx(4000.0)


def test_what_other_processes_take_does_not_count(monkeypatch):
    clock, processor = iter([0.0, 90.0]), iter([0.0, 0.1])
    monkeypatch.setattr(loops, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(loops, "process_time", lambda: next(processor))
    assert loops._expected_seconds(Outlook([(lambda: None, 100.0)]), 1) == pytest.approx(10.0, rel=1e-3)


@pytest.mark.parametrize("backend", ["threading", "sequential"])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_trial_is_not_waited_for_when_a_loop_within_is_long(depth, backend, monkeypatch):
    """Nothing would be said until the whole piece is done, which may take minutes."""
    monkeypatch.setattr(loops, "LONG", 0.2)
    done, told = [], []
    monkeypatch.setattr(loops, "warn", lambda text, _: told.append((text, len(done))))

    def busy():
        end = time.process_time() + 0.01
        while time.process_time() < end:
            pass

    def piece(i=0, level=0):
        outlook = Outlook([(busy, 100.0)]) if level == depth else None
        if level <= depth:
            run(lambda k: piece(k, level + 1), 3, outlook=outlook)
        done.append(level)
        return i

    with joblib.parallel_config(backend):
        assert run(piece, 3, outlook=Outlook([(piece, 100.0)])) == [0, 1, 2]
    assert [count for _, count in told] == [0]
    assert told[0][0].startswith("test will take about ") and " minutes; " in told[0][0]
    assert done.count(0) == 3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_worker_has_one_core_and_so_has_the_trial(n_jobs, monkeypatch):
    """Threads of its own only where it has all cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    seen = []

    def piece(i=0):
        seen.append(list(in_threads(lambda task: threading.get_ident(), range(8))) == [threading.get_ident()] * 8)

    run(piece, 6, n_jobs=n_jobs, outlook=Outlook([(piece, 100.0)]))
    assert seen == [n_jobs == 2] * (6 + n_jobs)  # one trial for each


# -- when it is said ---------------------------------------------------------------------------------------------------


def test_before_anything_is_done(everything_is_long):
    done = []
    outlook = Outlook([(lambda: None, 100.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(LongRunWarning, match="test will take about"):
            run(done.append, 3, outlook=outlook)
    assert done == []
    with pytest.warns(LongRunWarning) as record:
        run(done.append, 3, outlook=outlook)
    assert record[0].filename == __file__ and done == [0, 1, 2]


def test_ordinary_loops_say_nothing():
    tried = []
    assert run(lambda i: 2 * i, 3, outlook=Outlook([(lambda: tried.append(1), 19.0)])) == [0, 2, 4]
    assert tried == []  # a trial would be a large part of the loop
    assert run(lambda i: 2 * i, 3, outlook=Outlook([(lambda: tried.append(1), 20.0)])) == [0, 2, 4]
    assert tried == [1]


def test_loops_within_a_loop_are_part_of_it(everything_is_long):
    outlook = Outlook([(lambda: None, 100.0)])

    def inner(i):
        return sum(run(lambda k: k, 3, outlook=outlook)) + i

    for backend in ("threading", "sequential"):
        with joblib.parallel_config(backend), pytest.warns(LongRunWarning) as record:
            assert run(inner, 4, outlook=outlook, n_jobs=2) == [3, 4, 5, 6]
        assert len(record) == 1
    with pytest.warns(LongRunWarning) as record:
        run(inner, 2)  # of which nothing is known
    assert len(record) == 2


@pytest.mark.parametrize(
    ("call", "what"),
    [(lambda fit: fit.loo(), "leave-one-out"), (lambda fit: fit.gof(B=40, rng=1, method="pairs"), "bootstrap"),
     (lambda fit: fit.gof(B=5, rng=1), "goodness of fit"),
     (lambda fit: fit.permutation_test(B=5, rng=1), "permutations"),
     (lambda fit: fit.gof(B=40, rng=1, method="parametric"), "bootstrap"),
     (lambda fit: fit.get_prediction(DATA, B=40, rng=1), "predictions of replicates")],
    ids=["loo", "pairs", "residual", "permutation", "parametric", "stability"],
)  # fmt: skip
@pytest.mark.parametrize("response", ["y", "level"])
def test_statistics_that_are_long(response, call, what, monkeypatch):
    fit = svm(f"{response} ~ a + b", DATA)
    if what != "leave-one-out":
        fit.loo()
    monkeypatch.setattr(loops, "LONG", 0.0)
    monkeypatch.setattr(loops, "_WORTH_TRIAL", 1)
    monkeypatch.setattr(deletions, "_WORTH_TRIALS", 0)
    with pytest.warns(
        LongRunWarning, match=f"^{what} will take about .*progress=True shows a bar, and Ctrl-C"
    ) as record:
        call(fit)
    assert record[0].filename == __file__


@pytest.mark.parametrize("criterion", ["loo", "kfold"])
@pytest.mark.parametrize("response", ["y", "level"])
@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
def test_grids_that_are_long(response, criterion, everything_is_long):
    grid = {"C": [0.5, 1.0, 2.0, 4.0], "gamma": [0.1, 0.3, 0.5, 0.7, 1.0]}
    with pytest.warns(LongRunWarning, match="^tune will take about"):
        tune(f"{response} ~ a + b", DATA, criterion=criterion, rng=1, **grid)


@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
def test_a_search_of_theta_is_announced_as_all_of_its_folds(monkeypatch):
    """The trial is one bound of one fit: seven are fitted to all rows, and without each of five folds."""
    announced = []
    monkeypatch.setattr(loops, "_announce", lambda what, seconds, outlook, workers: announced.append(outlook.trials))
    tune("y ~ s(a) + s(b)", DATA, theta="cosso", C=[1.0], rng=1)
    assert [[often for _, often in trials] for trials in announced] == [[5.0], [42.0]]


@pytest.mark.parametrize(("criterion", "what"), [("loo", "tune"), (minimax(), "nu grid")], ids=["loo", "minimax"])
@pytest.mark.filterwarnings("ignore::svmstat.errors.GridWarning")
def test_a_grid_of_one_kernel_is_announced_when_its_first_steps_are_done(criterion, what, everything_is_long):
    """A trial would be a tenth of it, and there is no second piece from whose time that of all could be told."""
    grid = {"C": [0.5, 1.0, 2.0]} if what == "tune" else {"nu": [0.3, 0.6]}
    with pytest.warns(LongRunWarning, match=f"^{what} will take about") as record:
        tune("y ~ a + b", DATA, criterion=criterion, gamma=0.5, rng=1, **grid)
    assert sum(str(each.message).startswith(what) for each in record) == 1


def test_steps_are_told_once_and_not_within_a_loop_that_is_known(monkeypatch):
    announced = []
    monkeypatch.setattr(loops, "perf_counter", iter(range(0, 300, 30)).__next__)
    monkeypatch.setattr(loops, "_announce", lambda what, seconds, *_: announced.append((what, seconds)))
    assert list(loops.watched_steps("steps", [1, 2, 3])) == [1, 2, 3]
    assert announced == [("steps", 90.0)]
    monkeypatch.setattr(loops, "perf_counter", time.perf_counter)
    monkeypatch.setattr(loops, "LONG", 0.0)
    run(lambda _: list(loops.watched_steps("steps", [1, 2])), 1, what="loop", outlook=Outlook([(int, 1e6)]))
    assert [what for what, _ in announced] == ["steps", "loop"]


def test_where_each_worker_has_one_piece_the_first_tells(everything_is_long):
    with pytest.warns(LongRunWarning) as record:
        run(lambda _: list(loops.watched_steps("steps", [1, 2])), 3, n_jobs=3, outlook=Outlook())
    assert [str(each.message).partition(" will")[0] for each in record] == ["steps"]


@pytest.mark.parametrize("loo", [False, True])
def test_a_path_is_announced_after_its_first_cost_and_shows_a_bar(loo, everything_is_long, capsys):
    fit = svm("y ~ a + b", DATA)
    with pytest.warns(LongRunWarning, match="^path will take about") as record:
        path = fit.path([0.5, 1.0, 2.0], loo=loo, progress=True)
    assert sum(str(each.message).startswith("path") for each in record) == 1
    assert record[-1].filename == __file__
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "path: 100%" in shown.err
    assert "3/3" in shown.err
    with pytest.warns(LongRunWarning):
        again = fit.path([0.5, 1.0, 2.0], loo=loo)
    assert capsys.readouterr().err == ""
    pd.testing.assert_frame_equal(path.table, again.table)


# -- pieces ------------------------------------------------------------------------------------------------------------


def gram(n, fits=True):
    X = np.zeros((n, 1))
    return Gram(RBF(1.0).bind(X), budget=DEFAULT_BUDGET if fits else 1)


def test_a_bar_moves_from_the_beginning():
    """Where the matrix is not in memory a deletion takes a second, and a replicate ten."""
    assert deletions_per_task(gram(30)) == 128 and deletions_per_task(gram(30, fits=False)) <= 4
    assert [len(which) for which in tasks_of(40, gram(30))] == [16, 16, 8]
    assert [len(which) for which in tasks_of(40, gram(30), whole=True)] == [16, 16, 16]
    assert [which.tolist() for which in tasks_of(3, gram(30, fits=False))] == [[0], [1], [2]]


def test_trials_stand_for_all_deletions():
    moved = np.arange(3000) % 3 == 0
    found = trials(moved, gram(60))
    assert [len(few) * often for few, often in found] == pytest.approx([1000, 2000])
    assert all(len(few) <= 0.003 * 3000 for few, _ in found)
    assert [moved[few].all() for few, _ in found] == [True, False]
    assert [len(few) for few, _ in trials(moved, gram(60, fits=False))] == [4, 4]
    assert trials(np.zeros(0, bool), gram(60)) == []
    for pairs, stride in ((3, 166), (45, 20), (435, 20)):  # each pair needs several
        few, often = trials(moved, gram(60), pairs)[0]
        assert len(few) == -(-1000 // stride) and often == 1000 / len(few)


def test_memory():
    sizes = [sum(memory_of_deletions(gram(n), n // 2, 0.0)) for n in (10, 100, 400)]
    assert sizes == sorted(sizes)
    assert memory_of_deletions(gram(400), 10, 1e6)[0] == matrix_bytes(gram(400)) + 1e6 == 8 * 400**2 + 1e6
    assert matrix_bytes(gram(400, fits=False)) == 0.0
    assert matrix_reason(gram(400)) == ""
    by_factor = LowRank(np.zeros((400, 2)))
    assert matrix_bytes(by_factor) == 0.0
    assert memory_of_deletions(by_factor, 300, 0.0) == (0.0, numbers_of_deletions(gram(400)))
    assert "kernel matrix of 400 rows would take 0.0 GB, beyond the 2.1 GB" in matrix_reason(gram(400, fits=False))


def test_replicates_hold_the_block_that_they_have_drawn_and_by_a_factor_none():
    kept, by_factor, on_demand = (
        outlook_of_replicates(each, print, 500)
        for each in (gram(400), LowRank(np.ones((400, 2))), gram(400, fits=False))
    )
    assert kept.shared == matrix_bytes(gram(400)) and by_factor.shared == on_demand.shared == 0.0
    assert kept.each == on_demand.each == by_factor.each + 8.0 * 400**2
    assert kept.reason == by_factor.reason == "" and "kernel matrix of 400 rows" in on_demand.reason
    assert kept.trials == by_factor.trials == [(print, 500.0)]


@pytest.fixture
def interruptible():
    """What Ctrl-C does in a terminal; a process that a shell started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_the_loop(n_jobs):
    """As Ctrl-C does, while a worker is at its piece: no thread goes on, and no further piece is begun."""
    run(lambda i: i, 1)  # the first bar of a process starts a thread that watches all bars
    before, begun = set(threading.enumerate()), []

    def piece(i):
        begun.append(i)
        if i == 3:
            _thread.interrupt_main()
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        run(piece, 500, n_jobs=n_jobs)
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=60.0)
        assert not thread.is_alive()
    assert 4 <= len(begun) < 100
    assert run(lambda i: i, 3, n_jobs=n_jobs) == [0, 1, 2]


def _interrupted_in_compiled_code():
    raise SystemError("a compiled function returned a result with an exception set") from KeyboardInterrupt()


def _broken():
    raise SystemError("something else")


def test_an_interrupt_that_a_compiled_function_met_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt):
        run_pieces(_interrupted_in_compiled_code, [()], n_jobs=1, progress=False, what="")
    with pytest.raises(SystemError, match="something else"):
        run_pieces(_broken, [()], n_jobs=1, progress=False, what="")


@pytest.mark.parametrize(
    ("seconds", "n_jobs", "after"),
    [
        ([3.0] * 10, 1, 2),
        ([3.0, 0.1, *[3.0] * 8], 1, None),
        ([30.0, 0.1, 0.1], 1, None),
        ([8.0] * 3, 2, 2),
        ([9.0], 1, None),
    ],
    ids=["all long", "the first waits for the compiler, the second is short", "few", "one batch", "nothing is left"],
)
def test_few_pieces_are_announced_when_some_are_done(seconds, n_jobs, after, monkeypatch):
    """A trial would cost too much beside them; what is known of the loops within does not change."""
    clock, told = [0.0], []
    monkeypatch.setattr(loops, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(loops, "warn", lambda text, _: told.append((text, len(done))))
    done = []

    def piece(k):
        clock[0] += seconds[k]
        done.append(k)
        return k

    assert run(piece, len(seconds), outlook=Outlook(), n_jobs=n_jobs) == list(range(len(seconds)))
    assert [count for _, count in told] == ([] if after is None else [after])
    assert all(text.startswith("test will take about ") for text, _ in told)
    told.clear()
    run(piece, len(seconds), n_jobs=n_jobs)
    assert told == []


def test_loops_within_one_that_is_over_with_its_first_pieces_announce_themselves(everything_is_long):
    """Nothing could be said of the loop itself while it lasts."""

    def inner(i):
        return sum(run(lambda k: k, 3, outlook=Outlook([(lambda: None, 100.0)]))) + i

    with pytest.warns(LongRunWarning) as record:
        assert run(inner, 1, outlook=Outlook()) == [3]
    assert len(record) == 1


def test_what_is_compiled_is_no_part_of_the_estimate(monkeypatch):
    """Two pieces, of which the first waits for the compiler."""
    clock, told = [0.0], []
    monkeypatch.setattr(loops, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(loops, "warn", lambda text, _: told.append(text))

    def piece(k):
        clock[0] += 40.0 if k < 2 else 0.1
        loops.compiling.seconds += 39.9 if k < 2 else 0.0
        return k

    assert run(piece, 3, outlook=Outlook(), n_jobs=2) == [0, 1, 2]
    assert told == []


def test_loops_of_two_threads_let_go_of_linear_algebra_when_both_are_done(monkeypatch):
    """The second finds it held already: what it found is not what it leaves behind."""
    threads = [4]

    class Limit:
        def __init__(self, limits, user_api):
            self.before, threads[0] = threads[0], limits

        def restore_original_limits(self):
            threads[0] = self.before

    monkeypatch.setattr(loops, "_blas", lambda: SimpleNamespace(limit=Limit))
    first, second = loops.one_blas_thread(), loops.one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads == [1]
    second.__exit__(None, None, None)
    assert threads == [4]
    with loops.one_blas_thread():
        assert threads == [1]
    assert threads == [4]


def test_threads_with_loops_leave_linear_algebra_as_it_was():
    data = sample(2, 90)
    with threadpool_limits(2, user_api="blas"):
        before = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda C: svm("y ~ x + z", data, C=C).loo().score, [0.1, 1.0, 10.0, 100.0]))
        assert [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"] == before


def workers_in_a_process(queue):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        queue.put((loops.workers_for(9, 2), loops.workers_for(9, None), loops.workers_for(9, 1)))


def test_threads_are_counted_as_threads_in_a_worker_of_multiprocessing_too():
    """joblib's own count is of its default, processes, which such a worker cannot have."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    worker = context.Process(target=workers_in_a_process, args=(queue,), daemon=True)
    worker.start()
    assert queue.get(timeout=300) == (2, 1, 1)
    worker.join()
    with joblib.parallel_config("threading", n_jobs=3):
        assert loops.workers_for(9, None) == 3


@pytest.mark.parametrize(("first", "each", "told"), [(0.5, 0.001, None), (0.5, 0.2, 40.3), (1.5, 0.2, 300.0)])
def test_a_first_step_that_loads_what_was_compiled_does_not_tell_of_the_others(monkeypatch, first, each, told):
    times, announced = [0.0, *(first + each * np.arange(200))], []
    monkeypatch.setattr(loops, "perf_counter", iter(times).__next__)
    monkeypatch.setattr(loops, "_announce", lambda what, seconds, *_: announced.append(seconds))
    assert len(list(loops.watched_steps("steps", range(200)))) == 200
    assert announced == ([] if told is None else pytest.approx([told]))
