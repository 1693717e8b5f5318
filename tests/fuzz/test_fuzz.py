"""A few hundred problems of the fuzz; `python -m benchmarks fuzz` has thousands more, and replays one."""

from itertools import islice

import pytest

from benchmarks.fuzz.command import report_of, seeds
from benchmarks.fuzz.draw import KINDS

OF_EACH_KIND = 16


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found(kind):
    reports = [report_of(seed) for seed in islice(seeds(0, kind), OF_EACH_KIND)]
    found = [f"seed {report.seed}: {each.check}: {each.detail}" for report in reports for each in report.findings]
    assert not found, "\n".join(found)
    solved = sum(not report.outcome.startswith("refused") for report in reports)
    assert solved >= (1 if kind == "beyond" else OF_EACH_KIND // 2)
