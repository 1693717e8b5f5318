"""A few hundred problems of the fuzz; `python -m benchmarks fuzz` has thousands more, and replays one."""

from itertools import islice

import pytest

from benchmarks.fuzz.command import report_of, seeds
from benchmarks.fuzz.draw import KINDS

OF_EACH_KIND = 16

ONCE_WRONG = {
    1114: "the stated rounding was too small for rows that are equal",
    1930: "a bound vector was imprecise from a solution and certified alone",
    3127: "what rounding left of a flat h was imprecise from a solution, and certified alone",
    4129: "weights of 1e12 were called equal and were not",
    6809: "the score hung on where Newton's method for the map set off",
    9133: "a bound vector was imprecise from a solution and certified alone",
    9637: "a correction larger than what it corrected left its rounding in h, certified",
    50335: "a flat h was told from rounding by one road and not by the other",
    51448: "the sums that the stated rounding was compared with were not exact to its last digits",
}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found(kind):
    reports = [report_of(seed) for seed in islice(seeds(0, kind), OF_EACH_KIND)]
    found = [f"seed {report.seed}: {each.check}: {each.detail}" for report in reports for each in report.findings]
    assert not found, "\n".join(found)
    solved = sum(not report.outcome.startswith("refused") for report in reports)
    assert solved >= (1 if kind == "beyond" else OF_EACH_KIND // 2)


@pytest.mark.parametrize("seed", ONCE_WRONG)
def test_what_was_wrong_is_right(seed):
    assert not report_of(seed).findings, ONCE_WRONG[seed]
