"""``python -m benchmarks fuzz``: thousands of problems, a table of what became of them, the seed of each failure."""

import argparse
import contextlib
import multiprocessing
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from benchmarks.fuzz.draw import KINDS, draw, kind_of
from benchmarks.fuzz.judge import Finding
from benchmarks.fuzz.models import Report, examine

Task = Callable[[int], Report]

_BLOCK = 400
_PATIENCE, _PATIENCE_ALONE = 600.0, 150.0
"""Seconds that a problem may take; if one takes longer, those of its block are looked at again one by one."""


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks fuzz", description=__doc__)
    parser.add_argument("--problems", type=int, default=10_000, help="how many (10000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first; the others follow it (0)")
    parser.add_argument("--n-jobs", type=int, default=2, help="processes; the result does not depend on them (2)")
    parser.add_argument("--only", choices=list(KINDS), help="one kind of problem")
    parser.add_argument("--replay", type=int, metavar="SEED", help="one problem, described")
    given = parser.parse_args(list(arguments))
    if given.replay is not None:
        sys.exit(describe(given.replay))
    start = time.perf_counter()
    reports = []
    chosen = list(islice(seeds(given.seed, given.only), given.problems))
    for block in range(0, len(chosen), _BLOCK):
        reports += examined(chosen[block : block + _BLOCK], given.n_jobs)
        failed = sum(bool(report.findings) for report in reports)
        print(f"{len(reports)} problems, {failed} with findings, {time.perf_counter() - start:.0f} s", file=sys.stderr)
    for line in table(reports):
        print(line)
    slowest = max(reports, key=lambda report: report.seconds)
    print(f"the slowest problem: seed {slowest.seed}, {slowest.seconds:.1f} s", file=sys.stderr)
    print(f"\n{len(reports)} problems, seeds {chosen[0]} to {chosen[-1]}, {time.perf_counter() - start:.0f} s on "
          f"{given.n_jobs} processes")  # fmt: skip
    sys.exit(any(report.findings for report in reports))


def seeds(first: int, kind: str | None) -> Iterator[int]:
    """Seeds from the first on, of one kind of problem or of all."""
    seed = first
    while True:
        if kind is None or kind_of(seed) == kind:
            yield seed
        seed += 1


def report_of(seed: int) -> Report:
    """Draw a problem and examine it."""
    start = time.perf_counter()
    report = examine(draw(seed))
    return replace(report, seconds=time.perf_counter() - start)


def examined(chosen: list[int], n_jobs: int, task: Task = report_of) -> list[Report]:
    """The reports of some problems, whatever becomes of the processes that look at them."""
    if n_jobs == 1:
        return [task(seed) for seed in chosen]
    with contextlib.suppress(TerminatedWorkerError, multiprocessing.TimeoutError):
        return joblib.Parallel(n_jobs, timeout=_PATIENCE, batch_size=4)(joblib.delayed(task)(s) for s in chosen)
    return [alone(seed, task) for seed in chosen]


def alone(seed: int, task: Task) -> Report:
    """The report of one problem in a process of its own, which it may bring down."""
    try:
        (report,) = joblib.Parallel(2, timeout=_PATIENCE_ALONE)([joblib.delayed(task)(seed)])
    except TerminatedWorkerError:
        return Report(seed, kind_of(seed), "crashed", (Finding("crash", "the process died"),))
    except multiprocessing.TimeoutError:
        return Report(seed, kind_of(seed), "hung", (Finding("hang", f"no answer in {_PATIENCE_ALONE:.0f} s"),))
    return report


def describe(seed: int) -> int:
    """Print a problem and what was found; the exit status."""
    case = draw(seed)
    print(f"seed {seed}, {case.kind}: {case.picked}")
    print(f"svm({case.formula!r}, data, " + ", ".join(f"{k}={v!r}" for k, v in case.options.items()) + ")")
    print(case.data.describe(include="all").T.to_string(max_rows=12))
    report = report_of(seed)
    print(f"{report.outcome}, {dict(report.counted)}, {report.seconds:.2f} s")
    for finding in report.findings:
        print(f"{finding.check}: {finding.detail}")
    return int(bool(report.findings))


def table(reports: list[Report]) -> Iterator[str]:
    """Kinds by outcomes, comparisons, findings by check, and each failure."""
    outcomes = sorted({report.outcome for report in reports}, key=lambda name: (name != "certified", name))
    heads = [name.replace("refused ", "") for name in outcomes]
    width = [max(len(head), 6) + 2 for head in heads]
    yield (
        f"{'':28}{'problems':>9}" + "".join(f"{head:>{w}}" for head, w in zip(heads, width, strict=True)) + "  findings"
    )
    for kind in [*KINDS, "all together"]:
        some = [report for report in reports if kind in (report.kind, "all together")]
        if not some:
            continue
        counts = Counter(report.outcome for report in some)
        cells = "".join(f"{counts[name]:>{w}}" for name, w in zip(outcomes, width, strict=True))
        yield f"{kind:28}{len(some):9}{cells}{sum(bool(report.findings) for report in some):10}"
    yield "\nCompared"
    for name, count in sorted(sum((report.counted for report in reports), Counter()).items()):
        yield f"{name:40}{count:9}"
    checks = Counter(check for report in reports for check in {finding.check for finding in report.findings})
    yield "\nProblems with a finding, by check" if checks else "\nNo findings"
    for name, count in checks.most_common():
        yield f"{name:28}{count:9}"
        yield from listed(report for report in reports if name in {finding.check for finding in report.findings})
    doubtful = [report for report in reports if report.outcome in ("uncertified", "imprecise")]
    if doubtful:
        yield "\nNot certified, with a warning where svm() was called"
        yield from listed(doubtful)


def listed(reports: Iterable[Report]) -> list[str]:
    """Their seeds, in lines."""
    text = "seeds " + " ".join(str(report.seed) for report in reports)
    return textwrap.wrap(text, 110, initial_indent="    ", subsequent_indent="    ")
