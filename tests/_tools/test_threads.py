"""Work in threads, or in one only."""

import os
import threading

import pytest

from svmstat._tools.threads import in_threads, one_core

TASKS = range(40)


@pytest.fixture
def two_cores(monkeypatch):
    """Whatever the machine has."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)


def threads_of(tasks):
    """Who does them: two can only go on together."""
    both = threading.Barrier(2)

    def task(number):
        both.wait(timeout=60.0)
        return threading.get_ident()

    return set(in_threads(task, tasks))


def test_results_are_in_the_order_of_the_tasks(two_cores):
    assert list(in_threads(lambda task: task**2, TASKS)) == [task**2 for task in TASKS]


def test_all_cores_take_part(two_cores):
    assert len(threads_of(TASKS)) == 2


def test_inside_of_one_core_nobody_else_does(two_cores):
    def alone():
        return set(in_threads(lambda task: threading.get_ident(), TASKS)) == {threading.get_ident()}

    with one_core():
        assert alone()
        with one_core(False):  # who is not asked changes nothing
            assert alone()
        assert alone()
        elsewhere = []
        other = threading.Thread(target=lambda: elsewhere.append(len(threads_of(TASKS))))
        other.start()
        other.join()
    assert elsewhere == [2] and len(threads_of(TASKS)) == 2
    with one_core(False):
        assert len(threads_of(TASKS)) == 2


def test_an_error_is_passed_on_and_does_not_stay(two_cores):
    def fails(task):
        raise ValueError(task)

    with pytest.raises(ValueError, match="0"), one_core():
        list(in_threads(fails, TASKS))
    assert len(threads_of(TASKS)) == 2
