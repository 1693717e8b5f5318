"""The command: its table, and what becomes of problems that bring their process down or never end."""

import os
import time

import pytest

from benchmarks.fuzz import command
from benchmarks.fuzz.draw import KINDS, kind_of
from benchmarks.fuzz.judge import Finding
from benchmarks.fuzz.models import Counter, Report


def test_the_result_does_not_depend_on_the_processes():
    chosen = [seed for seed in range(3 * len(KINDS)) if kind_of(seed) in ("ordinary", "nu", "box")]
    one, two = (command.examined(chosen, n_jobs) for n_jobs in (1, 2))
    assert [(r.seed, r.outcome, r.findings, r.counted) for r in one] == [
        (r.seed, r.outcome, r.findings, r.counted) for r in two
    ]
    assert list(command.table(one)) == list(command.table(two))


def test_a_process_that_dies_is_a_finding():
    def task(seed):  # is taken to the processes by value
        if seed == 3:
            os._exit(1)
        return Report(seed, "ordinary", "certified")

    reports = command.examined(list(range(6)), 2, task)
    assert [report.seed for report in reports] == list(range(6))
    assert {report.seed: report.outcome for report in reports if report.findings} == {3: "crashed"}


def test_a_process_that_hangs_is_a_finding(monkeypatch):
    monkeypatch.setattr(command, "_PATIENCE_ALONE", 1.0)
    report = command.alone(5, lambda seed: time.sleep(60))
    assert (report.seed, report.outcome, report.findings[0].check) == (5, "hung", "hang")


def test_the_table():
    reports = [
        Report(0, "ordinary", "certified", (), Counter({"clarabel": 1})),
        Report(21, "ordinary", "refused DataError"),
        Report(1, "equal rows", "uncertified", (Finding("kkt", "x"), Finding("kkt", "y")), Counter({"clarabel": 2})),
    ]
    lines = [line.split() for line in "\n".join(command.table(reports)).splitlines()]
    assert lines[0] == ["problems", "certified", "DataError", "uncertified", "findings"]
    assert ["ordinary", "2", "1", "1", "0", "0"] in lines
    assert ["equal", "rows", "1", "0", "0", "1", "1"] in lines
    assert ["all", "together", "3", "1", "1", "1", "1"] in lines
    assert ["clarabel", "3"] in lines
    assert ["kkt", "1"] in lines and ["seeds", "1"] in lines


def test_the_seeds_of_a_kind():
    kind = list(KINDS)[2]
    found = [seed for seed, _ in zip(command.seeds(5, kind), range(3), strict=False)]
    assert found == [len(KINDS) + 2, 2 * len(KINDS) + 2, 3 * len(KINDS) + 2]


def test_one_problem_is_described(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["--replay", "21"])
    shown = capsys.readouterr().out
    assert "seed 21, ordinary" in shown and "svm('y ~" in shown
    assert ended.value.code == int(bool(command.report_of(21).findings))


def test_a_whole_run(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["--problems", "2", "--seed", "4", "--n-jobs", "1", "--only", "box"])
    assert ended.value.code == 0
    assert "2 problems, seeds" in capsys.readouterr().out
