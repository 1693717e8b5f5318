"""The first minute of a new installation: processes whose numba cache is empty, and then the same again with it filled.

Seconds of the clock are those of a quiet machine only; the CPU seconds that numba's compile events take are a measure
that other work disturbs less.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_CACHE = {
    "import svmstat": ["-c", "import svmstat"],
    "svmstat --help": ["-c", "import sys; from svmstat.cli import main; sys.exit(main(['--help']))"],
}
REPORT = [
    "-c", "import sys; from svmstat.cli import command; sys.exit(command())", "report",
    "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", "mackerel", "--kernel", "rbf", "--C", "16",
    "--gamma", "0.25", "--seed", "1",
]  # fmt: skip


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks first-call", description=__doc__.partition(":")[0])
    parser.add_argument("--dearest", type=int, default=15, help="how many functions are listed")
    parser.add_argument("--tree", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--types", action="store_true", help="list every compilation, with the types of its arguments")
    parser.add_argument("--python", default=sys.executable, help="that of a new installation")
    given = parser.parse_args(arguments)
    run = partial(process, tree=given.tree, python=given.python)
    for what, command in WITHOUT_CACHE.items():
        print(f"{what}: {min(run(command)[0] for _ in range(5)):.2f} s, the least of 5 processes")
    with tempfile.TemporaryDirectory() as folder:
        page = [*REPORT, "--out", str(Path(folder) / "report.html")]
        first, again = (run(page, cache=folder)[0] for _ in range(2))
        print(
            f"svmstat report, the first command of README: {first:.1f} s, {again:.1f} s with what is compiled on disk"
        )
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (json.loads(run([str(STEPS)], cache=folder)[1]) for _ in range(2))
    report(cold, warm)
    dearest(cold, given.dearest)
    if given.types:
        for function, types, seconds in (one for step in cold for one in step["compiled"]):
            print(f"{seconds:8.2f}  {function}{types}")


STEPS = Path(__file__).with_name("first_call_steps.py")


def process(command, tree, cache=None, python=sys.executable):
    """Seconds and output of a process that has the package of a checkout, and a folder for what numba compiles."""
    environment = {**os.environ, "PYTHONPATH": str(tree.resolve())}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    start = time.perf_counter()
    done = subprocess.run([python, *command], env=environment, cwd=tree, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, done.stdout


def report(cold, warm):
    """A line for each step, with sums from the first on."""
    print(f"\n{'seconds':16}{'empty cache':>22}{'compiling':>34}{'cache filled':>16}")
    print(f"{'':16}{'clock':>8}{'sum':>7}{'CPU':>7}{'CPU':>10}{'sum':>7}{'here':>8}{'in numba':>9}{'clock':>16}")
    clock, compiling = 0.0, 0.0
    for step, again in zip(cold, warm, strict=True):
        seconds = sum(seconds for _, _, seconds in step["compiled"])
        clock, compiling = clock + step["wall"], compiling + seconds
        numba = sum(function.startswith("numba.") for function, _, _ in step["compiled"])
        print(
            f"{step['step']:16}{step['wall']:8.2f}{clock:7.1f}{step['cpu']:7.1f}{seconds:10.2f}{compiling:7.1f}"
            f"{len(step['compiled']) - numba:8}{numba:9}{again['wall']:16.2f}"
        )


def dearest(cold, number):
    """The functions that took longest to compile, over all steps, and how often they were compiled."""
    seconds, times = defaultdict(float), defaultdict(int)
    for step in cold:
        for function, _, spent in step["compiled"]:
            seconds[function] += spent
            times[function] += 1
    print(f"\n{sum(times.values())} compilations of {len(times)} functions; the dearest, CPU seconds of their own:")
    for function in sorted(seconds, key=seconds.get, reverse=True)[:number]:
        print(f"{seconds[function]:8.2f} {times[function]:4} ×  {function}")
